//! Text similarity: equality up to formatting, and near-duplicates.
//!
//! Two texts are equal if they differ only in case, spacing and punctuation; [`words`] is that normal form.
//! Near-duplicates have nearly the same words. Two texts that differ in a number, an identifier, a path or a negation
//! are never near-duplicates.

mod echo;
mod word_class;

pub use echo::{EchoedQuestion, is_echo};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Minimum share of the longer text's words that near-duplicates have in common.
const NEAR_DUPLICATE_MIN: f64 = 0.75;

/// Returns true if two texts are equal up to case, spacing and punctuation.
pub fn has_same_words(a: &str, b: &str) -> bool {
    a == b || words(a) == words(b)
}

/// Returns the normal form of a text for equality.
///
/// Folds case, except of paths, of words with `_`, and of words such as `parseUrl`. Removes quotes, brackets and
/// sentence punctuation from the edges of words; keeps characters inside words and significant ones (`-1`, `--force`,
/// `.env`, `C++`, `50%`). A text of only punctuation stays as it is.
pub fn words(text: &str) -> String {
    let folded: Vec<_> = split_words(text).into_iter().map(fold_word).collect();
    if folded.is_empty() {
        let lower = text.to_lowercase();
        return lower.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    folded.join(" ")
}

/// A text prepared for comparison with many others.
///
/// All words are in one buffer: a context compares hundreds of texts, and an allocation a word would cost more than the
/// comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparableText {
    /// The words in order, without separators.
    folded: String,
    words: Vec<WordEnd>,
}

/// End of a word in the buffer; each word begins where the one before it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WordEnd {
    end: usize,
    /// True if the capitals of the word mark it as a name.
    is_name: bool,
}

impl ComparableText {
    /// Prepares a text.
    pub fn from_text(text: &str) -> Self {
        let mut folded = String::with_capacity(text.len());
        let mut words = Vec::new();
        for (at, written) in split_words(text).into_iter().enumerate() {
            let word = fold_word(written);
            if !word_class::is_stop_word(&word) {
                folded.push_str(&word);
                words.push(WordEnd {
                    end: folded.len(),
                    is_name: word_class::looks_like_name(written, at == 0),
                });
            }
        }
        Self { folded, words }
    }

    /// Returns the words in order, without stop words.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().scan(0, |start, word| {
            let found = self.folded.get(*start..word.end);
            *start = word.end;
            found
        })
    }

    /// Returns true if no word is left without stop words.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns true if the two texts are near-duplicates.
    ///
    /// All words of the shorter text must occur in the longer one in the same order; the additional words must be few
    /// and not significant: no number, identifier, path, name or negation. So a substituted or moved word always
    /// makes a difference. A text without words has no near-duplicate.
    pub fn is_near_duplicate(&self, other: &Self) -> bool {
        let (short, long) = if self.words.len() <= other.words.len() {
            (self, other)
        } else {
            (other, self)
        };
        let share = short.words.len() as f64 / long.words.len().max(1) as f64;
        if short.words.is_empty() || share < NEAR_DUPLICATE_MIN {
            return false;
        }
        let mut wanted = short.words().peekable();
        let mut more = long.words.len() - short.words.len();
        for (word, ending) in long.words().zip(&long.words) {
            if wanted.peek() == Some(&word) {
                wanted.next();
            } else if more == 0 || ending.is_name || word_class::is_significant(word) {
                return false;
            } else {
                more -= 1;
            }
        }
        wanted.peek().is_none()
    }

    /// Returns the Jaccard similarity of the word sets, from 0 to 1.
    pub fn overlap(&self, other: &Self) -> f64 {
        let (mine, theirs) = (self.word_set(), other.word_set());
        let both = mine.intersection(&theirs).count();
        both as f64 / (mine.len() + theirs.len() - both).max(1) as f64
    }

    /// Returns the share of its words that `other` contains, from 0 to 1.
    pub fn share_in(&self, other: &Self) -> f64 {
        let theirs = other.word_set();
        let both = self.words().filter(|word| theirs.contains(word));
        both.count() as f64 / self.words.len().max(1) as f64
    }

    fn word_set(&self) -> BTreeSet<&str> {
        self.words().collect()
    }
}

/// Splits a text into words without surrounding punctuation.
fn split_words(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for chunk in text.split_whitespace() {
        // Fast path: most words are plain ASCII.
        match chunk.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            true => found.push(chunk),
            false => found.extend(split_chunk(chunk).into_iter().filter_map(strip_punctuation)),
        }
    }
    let bullets = found.iter().take_while(|word| is_bullet(word)).count();
    if bullets < found.len() {
        found.drain(..bullets);
    }
    match found.iter().any(|word| is_dash(word)) {
        true => drop_dashes(&found),
        false => found,
    }
}

fn is_bullet(word: &str) -> bool {
    matches!(word, "-" | "–" | "*")
}

fn is_dash(word: &str) -> bool {
    matches!(word, "-" | "–")
}

/// Removes dashes between two words of letters, where they are punctuation.
fn drop_dashes<'t>(found: &[&'t str]) -> Vec<&'t str> {
    let letters = |word: Option<&&str>| {
        word.is_some_and(|word| word.chars().all(|c| c.is_alphabetic() || is_apostrophe(c)))
    };
    let mut retained = Vec::with_capacity(found.len());
    for (i, word) in found.iter().enumerate() {
        if !(is_dash(word) && letters(retained.last()) && letters(found.get(i + 1))) {
            retained.push(*word);
        }
    }
    retained
}

/// Splits a chunk at punctuation: `tabs,not` is two words, `1,000` and `a.b` are one.
fn split_chunk(chunk: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut before) = (0, ' ');
    let mut rest = chunk.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let after = rest.peek().map_or(' ', |(_, next)| *next);
        let splits = matches!(c, ',' | ';' | '…' | '—') || is_wide_mark(c);
        if splits && before.is_alphabetic() && after.is_alphabetic() {
            parts.push(&chunk[start..at]);
            start = at + c.len_utf8();
        }
        before = c;
    }
    parts.push(&chunk[start..]);
    parts
}

/// Strips punctuation around a word; `None` if nothing significant is left.
fn strip_punctuation(chunk: &str) -> Option<&str> {
    if !chunk.chars().any(char::is_alphanumeric) {
        return operator(chunk);
    }
    let mut word = chunk;
    loop {
        let first = word.strip_prefix(|_| is_leading_punctuation(word));
        word = first.unwrap_or(word);
        let last = word.strip_suffix(|_| is_trailing_punctuation(word));
        if first.is_none() && last.is_none() {
            return Some(word);
        }
        word = last.unwrap_or(word);
    }
}

/// Returns a chunk without letters and digits if it is an operator and not punctuation: `==`, `[]`, `..`.
fn operator(chunk: &str) -> Option<&str> {
    if chunk == ".." {
        return Some(chunk);
    }
    let rest = chunk.trim_end_matches(ends_sentence);
    let mut chars = rest.chars();
    let (first, second) = (chars.next()?, chars.next());
    let says_nothing = is_quote(first) || is_bracket(first) || matches!(first, '—' | '•' | '·');
    (second.is_some() || !says_nothing).then_some(rest)
}

/// Returns true if the first character of a word is surrounding punctuation.
fn is_leading_punctuation(word: &str) -> bool {
    let mut chars = word.chars();
    let Some(first) = chars.next() else {
        return false;
    };
    let next = chars.next().unwrap_or(' ');
    match first {
        // `.env`, `../a` and `..9` keep their dots; an ellipsis is punctuation.
        '.' => word.starts_with("..."),
        '–' => !next.is_ascii_digit(),
        ',' | ';' | '?' | '¿' | '¡' | '…' | '—' | '•' | '·' => true,
        c => is_quote(c) || is_bracket(c) || is_wide_mark(c),
    }
}

/// Returns true if the last character of a word is surrounding punctuation, and not a bracket opened in the word.
fn is_trailing_punctuation(word: &str) -> bool {
    let Some(last) = word.chars().next_back() else {
        return false;
    };
    let opened_by = match last {
        ')' => Some('('),
        ']' => Some('['),
        '}' => Some('{'),
        _ => None,
    };
    match opened_by {
        Some(open) => word.matches(last).count() > word.matches(open).count(),
        None => {
            ends_sentence(last)
                || is_quote(last)
                || is_bracket(last)
                || is_wide_mark(last)
                || matches!(last, '—' | '–')
        }
    }
}

fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '…') || is_wide_mark(c)
}

fn is_quote(c: char) -> bool {
    is_apostrophe(c) || matches!(c, '"' | '`' | '“' | '”' | '„' | '‚' | '«' | '»' | '‹' | '›')
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | '‘')
}

fn is_bracket(c: char) -> bool {
    matches!(c, '(' | ')' | '[' | ']' | '{' | '}')
        || matches!(c, '（' | '）' | '「' | '」' | '【' | '】')
}

/// Returns true for punctuation of scripts that do not separate words with blanks.
fn is_wide_mark(c: char) -> bool {
    matches!(
        c,
        '、' | '。' | '，' | '；' | '：' | '！' | '？' | '؟' | '،' | '।'
    )
}

/// Returns the comparable form of a word.
fn fold_word(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(word);
    }
    let word = unify_apostrophes(word);
    if is_case_significant(&word) {
        return word;
    }
    Cow::Owned(word.to_lowercase())
}

/// Unifies apostrophes and minus signs; drops the apostrophe of `don't` and `it's`.
fn unify_apostrophes(word: &str) -> Cow<'_, str> {
    if word.is_ascii() && !word.contains('\'') {
        return Cow::Borrowed(word);
    }
    let mut out: String = word
        .chars()
        .map(|c| if is_apostrophe(c) { '\'' } else { c })
        .collect();
    if let Some(number) = out.strip_prefix(['–', '−']) {
        out = format!("-{number}");
    }
    let end = out.get(out.len().saturating_sub(3)..).unwrap_or_default();
    if end.eq_ignore_ascii_case("n't") || end.to_ascii_lowercase().ends_with("'s") {
        let at = out.rfind('\'').unwrap_or(out.len());
        out.replace_range(at..=at, "");
    }
    Cow::Owned(out)
}

/// Returns true if case is significant: a path, a constant, a variable.
fn is_case_significant(word: &str) -> bool {
    let begins_small = word.chars().find(|c| c.is_alphabetic());
    word.contains(['/', '\\', '_'])
        || (begins_small.is_some_and(char::is_lowercase) && word.chars().any(char::is_uppercase))
}

#[cfg(test)]
mod tests;
