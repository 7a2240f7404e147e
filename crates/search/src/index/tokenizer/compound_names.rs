//! Compound names: the joined form of `--keep-emptied`, and the parts of `parseHTTPHeader`.

/// Minimum number of parts of a camel-case name that is split.
const PARTS_MIN: usize = 3;

/// Words joined by hyphens and underscores.
#[derive(Default)]
pub(super) struct JoinedName {
    text: String,
    start: usize,
    end: usize,
    words: usize,
}

impl JoinedName {
    /// Returns true if only hyphens and underscores are between the name and a word that begins at `from`.
    pub(super) fn continues_at(&self, text: &str, from: usize) -> bool {
        let between = text.get(self.end..from).unwrap_or("");
        self.words > 0
            && !between.is_empty()
            && between.bytes().all(|byte| matches!(byte, b'-' | b'_'))
    }

    /// Appends a word.
    pub(super) fn push(&mut self, word: &str, from: usize, to: usize) {
        if self.words == 0 {
            self.start = from;
        }
        self.text.push_str(word);
        self.words += 1;
        self.end = to;
    }

    /// Returns true if it has several words.
    pub(super) fn is_compound(&self) -> bool {
        self.words > 1
    }

    /// Returns the words without what joined them.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the byte offset of the first word.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// Removes all words.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.words = 0;
    }
}

/// Passes the parts of a camel-case name with their offsets to `push`: `parseHTTPHeader` has `parse`, `HTTP` and
/// `Header`. Parts of one letter are omitted.
pub(super) fn camel_case_parts(name: &str, mut push: impl FnMut(&str, usize)) {
    let bytes = name.as_bytes();
    let begins = |n: usize| {
        let (Some(before), Some(here)) = (bytes.get(n - 1), bytes.get(n)) else {
            return false;
        };
        let is_hump = before.is_ascii_lowercase() && here.is_ascii_uppercase();
        let ends_capitals = before.is_ascii_uppercase()
            && here.is_ascii_uppercase()
            && bytes.get(n + 1).is_some_and(u8::is_ascii_lowercase);
        is_hump || ends_capitals
    };
    // `GitHub` and `JavaScript` are words: their parts would match unrelated queries.
    if (1..bytes.len()).filter(|n| begins(*n)).count() + 1 < PARTS_MIN {
        return;
    }
    let mut push_part = |part: &str, at: usize| {
        if part.len() > 1 {
            push(part, at);
        }
    };
    let mut start = 0;
    for n in 1..bytes.len() {
        if begins(n) {
            push_part(name.get(start..n).unwrap_or(""), start);
            start = n;
        }
    }
    if start > 0 {
        push_part(name.get(start..).unwrap_or(""), start);
    }
}
