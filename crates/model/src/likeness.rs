//! When two texts say the same, when they are alike, and when they must never be taken for the same.
//!
//! Said again up to case, spacing and punctuation is the same; [`words`] is what is left then. Near-duplicates
//! say it in nearly the same words. Two texts that differ in a number, an identifier, a path or a negation are
//! never either, however alike they look.

mod substance;

use crate::limits::NEAR_DUPLICATE_MIN;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Whether the two say the same, up to case, spacing and punctuation.
pub fn same_words(a: &str, b: &str) -> bool {
    a == b || words(a) == words(b)
}

/// The words of a text in the form in which two texts are the same.
///
/// Case is folded, but not of paths, of words with `_`, and of words such as `parseUrl`. Quotes, brackets and
/// the punctuation of sentences go from the edges of words; what is inside of a word, or changes what it
/// means (`-1`, `--force`, `.env`, `C++`, `50%`), stays. A text of nothing but punctuation stays as it is.
pub fn words(text: &str) -> String {
    let folded: Vec<_> = split(text).into_iter().map(folded).collect();
    if folded.is_empty() {
        let lower = text.to_lowercase();
        return lower.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    folded.join(" ")
}

/// A text made ready to be compared with many others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Likeness {
    words: Vec<String>,
    /// Of each word, whether it is written as a name.
    is_name: Vec<bool>,
}

impl Likeness {
    /// The text, made ready.
    pub fn of(text: &str) -> Self {
        let (mut words, mut is_name) = (Vec::new(), Vec::new());
        for (at, written) in split(text).into_iter().enumerate() {
            let word = folded(written);
            if !substance::is_empty(&word) {
                is_name.push(substance::looks_like_a_name(written, at == 0));
                words.push(word);
            }
        }
        Self { words, is_name }
    }

    /// Its words in order, without those that say nothing by themselves.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether the two say the same in nearly the same words.
    ///
    /// Every word of the one stands in the other, in the same order, and what the other has more is little
    /// and carries no substance: no number, identifier, path, name or negation. So a word in the place of
    /// another always makes a difference, and so does their order. A text without words is like no other.
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
        let mut wanted = short.words.iter().peekable();
        let mut more = long.words.len() - short.words.len();
        for (word, is_name) in long.words.iter().zip(&long.is_name) {
            if wanted.peek() == Some(&word) {
                wanted.next();
            } else if more == 0 || *is_name || substance::has_substance(word) {
                return false;
            } else {
                more -= 1;
            }
        }
        wanted.peek().is_none()
    }

    /// The share of the words of both that both have, from 0 to 1, wherever they stand.
    pub fn overlap(&self, other: &Self) -> f64 {
        let (mine, theirs) = (self.set(), other.set());
        let both = mine.intersection(&theirs).count();
        both as f64 / (mine.len() + theirs.len() - both).max(1) as f64
    }

    /// The share of its own words that `other` has, from 0 to 1.
    pub fn share_in(&self, other: &Self) -> f64 {
        let theirs = other.set();
        let both = self.words.iter().filter(|word| theirs.contains(word));
        both.count() as f64 / self.words.len().max(1) as f64
    }

    fn set(&self) -> BTreeSet<&String> {
        self.words.iter().collect()
    }
}

/// The words of a text as they are written, without the punctuation around them.
fn split(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for chunk in text.split_whitespace() {
        // Most words are plain, and nothing is around them.
        match chunk.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            true => found.push(chunk),
            false => found.extend(apart(chunk).into_iter().filter_map(bare)),
        }
    }
    let bullets = found.iter().take_while(|word| is_bullet(word)).count();
    if bullets < found.len() {
        found.drain(..bullets);
    }
    without_dashes(&found)
}

fn is_bullet(word: &str) -> bool {
    matches!(word, "-" | "–" | "*")
}

/// The words without a dash between two that are made of letters: there it is punctuation.
fn without_dashes<'t>(found: &[&'t str]) -> Vec<&'t str> {
    let letters = |word: Option<&&str>| {
        word.is_some_and(|word| word.chars().all(|c| c.is_alphabetic() || is_apostrophe(c)))
    };
    let mut kept = Vec::with_capacity(found.len());
    for (i, word) in found.iter().enumerate() {
        let is_dash = matches!(*word, "-" | "–");
        if !(is_dash && letters(kept.last()) && letters(found.get(i + 1))) {
            kept.push(*word);
        }
    }
    kept
}

/// The parts of a chunk between blanks: `tabs,not` is two words, `1,000` and `a.b` are one.
fn apart(chunk: &str) -> Vec<&str> {
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

/// The word without what stands around it; none if nothing is left that says something.
fn bare(chunk: &str) -> Option<&str> {
    if !chunk.chars().any(char::is_alphanumeric) {
        return sign(chunk);
    }
    let mut word = chunk;
    loop {
        let first = word.strip_prefix(|_| goes_in_front(word));
        word = first.unwrap_or(word);
        let last = word.strip_suffix(|_| goes_behind(word));
        if first.is_none() && last.is_none() {
            return Some(word);
        }
        word = last.unwrap_or(word);
    }
}

/// A chunk without letters and digits, if it is more than punctuation: `==`, `[]`, `..`.
fn sign(chunk: &str) -> Option<&str> {
    if chunk == ".." {
        return Some(chunk);
    }
    let rest = chunk.trim_end_matches(ends_sentence);
    let mut chars = rest.chars();
    let (first, second) = (chars.next()?, chars.next());
    let says_nothing = is_quote(first) || is_bracket(first) || matches!(first, '—' | '•' | '·');
    (second.is_some() || !says_nothing).then_some(rest)
}

/// Whether the first character of a word is punctuation around it.
fn goes_in_front(word: &str) -> bool {
    let mut chars = word.chars();
    let Some(first) = chars.next() else {
        return false;
    };
    let next = chars.next().unwrap_or(' ');
    match first {
        // `.env`, `../a` and `..9` begin so; an ellipsis does not.
        '.' => word.starts_with("..."),
        '–' => !next.is_ascii_digit(),
        ',' | ';' | '?' | '¿' | '¡' | '…' | '—' | '•' | '·' => true,
        c => is_quote(c) || is_bracket(c) || is_wide_mark(c),
    }
}

/// Whether the last character of a word is punctuation around it; not a bracket that the word has opened.
fn goes_behind(word: &str) -> bool {
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

/// Punctuation of scripts that put no blanks around it.
fn is_wide_mark(c: char) -> bool {
    matches!(
        c,
        '、' | '。' | '，' | '；' | '：' | '！' | '？' | '؟' | '،' | '।'
    )
}

/// A word in the form in which it is compared.
fn folded(word: &str) -> String {
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let word = unified(word);
    if keeps_case(&word) {
        return word.into_owned();
    }
    word.to_lowercase()
}

/// The word with one sort of apostrophe and minus; without the apostrophe of `don't` and `it's`.
fn unified(word: &str) -> Cow<'_, str> {
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

/// Whether a word that differs in case only is another one: a path, a constant, a variable.
fn keeps_case(word: &str) -> bool {
    let begins_small = word.chars().find(|c| c.is_alphabetic());
    word.contains(['/', '\\', '_'])
        || (begins_small.is_some_and(char::is_lowercase) && word.chars().any(char::is_uppercase))
}

#[cfg(test)]
mod tests;
