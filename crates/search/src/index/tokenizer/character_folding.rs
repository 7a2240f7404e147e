//! Folding of characters into stems.

use super::{Stem, stem_cache, stop_words};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Minimum number of parts of a camel-case name that is split.
const PARTS_MIN: usize = 3;
/// Reader that folds a text into stems.
#[derive(Default)]
pub(super) struct Folder {
    found: Vec<Stem>,
    /// True if stop words are marked.
    marks_stop_words: bool,
    /// Word that is being folded.
    word: String,
    /// Words joined by hyphens and underscores so far: their text, start, end and number.
    joined: String,
    joined_at: usize,
    joined_to: usize,
    joined_words: usize,
}

/// Class of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharClass {
    /// Part of a word.
    Word,
    /// Character of a script without spaces between words.
    Alone,
    Other,
}

impl Folder {
    /// Returns the stems of a text in order; stop words are marked if `knows_stops`.
    pub(super) fn read(text: &str, marks_stop_words: bool) -> Vec<Stem> {
        let mut folder = Self {
            marks_stop_words,
            ..Self::default()
        };
        folder.fold_runs(text);
        folder.found
    }

    fn fold_runs(&mut self, text: &str) {
        let mut begun: Option<(usize, CharClass)> = None;
        for (at, char) in text.char_indices() {
            let sort = char_class(char);
            match begun {
                Some((_, kind)) if kind == sort => {}
                // A combining mark belongs to the letter before it.
                Some(_) if is_combining_mark(char) => {}
                Some((from, kind)) => {
                    self.fold_run(text, from, at, kind);
                    begun = (sort != CharClass::Other).then_some((at, sort));
                }
                None => begun = (sort != CharClass::Other).then_some((at, sort)),
            }
        }
        if let Some((from, kind)) = begun {
            self.fold_run(text, from, text.len(), kind);
        }
        self.end_joined();
    }

    fn fold_run(&mut self, text: &str, from: usize, to: usize, sort: CharClass) {
        let run = text.get(from..to).unwrap_or("");
        if sort == CharClass::Alone {
            self.end_joined();
            return self.push_pairs(run, from);
        }
        let is_ascii = run.is_ascii();
        let between = text.get(self.joined_to..from).unwrap_or("");
        let goes_on = self.joined_words > 0
            && !between.is_empty()
            && between.bytes().all(|byte| matches!(byte, b'-' | b'_'));
        if !(is_ascii && goes_on) {
            self.end_joined();
        }
        self.word.clear();
        if is_ascii {
            self.word.push_str(run);
            self.word.make_ascii_lowercase();
            if self.joined_words == 0 {
                self.joined_at = from;
            }
            self.joined.push_str(&self.word);
            self.joined_words += 1;
            self.joined_to = to;
        } else {
            let lower = run.chars().flat_map(char::to_lowercase);
            self.word
                .extend(lower.nfd().filter(|char| !is_combining_mark(*char)));
        }
        let word = std::mem::take(&mut self.word);
        self.push(&word, from, false);
        self.word = word;
        if is_ascii {
            self.push_parts(run, from);
        }
    }

    /// Pushes overlapping pairs of characters; a single character is a word.
    fn push_pairs(&mut self, run: &str, from: usize) {
        let mut before: Option<(usize, char)> = None;
        let mut pair = String::new();
        for (at, char) in run.char_indices() {
            if let Some((start, first)) = before {
                pair.clear();
                pair.extend([first, char]);
                self.push(&pair, from + start, false);
            }
            before = Some((at, char));
        }
        if run.chars().nth(1).is_none() {
            self.push(run, from, false);
        }
    }

    /// Pushes the parts of a camel-case name: `parseHTTPHeader` has `parse`, `HTTP` and `Header`.
    fn push_parts(&mut self, name: &str, from: usize) {
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
        let mut start = 0;
        for n in 1..bytes.len() {
            if begins(n) {
                self.push_part(name.get(start..n).unwrap_or(""), from + start);
                start = n;
            }
        }
        if start > 0 {
            self.push_part(name.get(start..).unwrap_or(""), from + start);
        }
    }

    fn push_part(&mut self, part: &str, at: usize) {
        if part.len() > 1 {
            self.push(&part.to_ascii_lowercase(), at, true);
        }
    }

    fn end_joined(&mut self) {
        if self.joined_words > 1 {
            let joined = std::mem::take(&mut self.joined);
            self.push(&joined, self.joined_at, true);
            self.joined = joined;
        }
        self.joined.clear();
        self.joined_words = 0;
    }

    fn push(&mut self, word: &str, at: usize, is_extra: bool) {
        if word.is_empty() {
            return;
        }
        self.found.push(Stem {
            term: stem_cache::term(word),
            at,
            is_extra,
            is_stop: self.marks_stop_words && stop_words::is_stop_word(word),
        });
    }
}

fn char_class(char: char) -> CharClass {
    if char.is_ascii() {
        return if char.is_ascii_alphanumeric() {
            CharClass::Word
        } else {
            CharClass::Other
        };
    }
    match char {
        // Kana, Han with its extensions, Thai, Lao, Khmer, Burmese.
        '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3134f}'
        | '\u{e00}'..='\u{eff}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{1000}'..='\u{109f}' => CharClass::Alone,
        _ if char.is_alphanumeric() => CharClass::Word,
        _ => CharClass::Other,
    }
}
