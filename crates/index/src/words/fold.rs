//! From characters to stems.

use super::{Stem, memo, stop};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Fewest parts of a name in camel case that is taken apart.
const PARTS_MIN: usize = 3;
/// Reads a text into stems.
#[derive(Default)]
pub(super) struct Folder {
    found: Vec<Stem>,
    /// Whether stop words are told apart.
    knows_stops: bool,
    /// The word that is being folded.
    word: String,
    /// What hyphens and underscores have joined so far, where it began and ended, and of how many words.
    joined: String,
    joined_at: usize,
    joined_to: usize,
    joined_words: usize,
}

/// What a character is in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// Part of a word.
    Word,
    /// Of a script that puts no spaces between words.
    Alone,
    Other,
}

impl Folder {
    /// The stems of a text in order; stop words are told apart if `knows_stops`.
    pub(super) fn read(text: &str, knows_stops: bool) -> Vec<Stem> {
        let mut folder = Self {
            knows_stops,
            ..Self::default()
        };
        folder.runs(text);
        folder.found
    }

    fn runs(&mut self, text: &str) {
        let mut begun: Option<(usize, Sort)> = None;
        for (at, char) in text.char_indices() {
            let sort = sort(char);
            match begun {
                Some((_, kind)) if kind == sort => {}
                // An accent belongs to the letter before it.
                Some(_) if is_combining_mark(char) => {}
                Some((from, kind)) => {
                    self.run(text, from, at, kind);
                    begun = (sort != Sort::Other).then_some((at, sort));
                }
                None => begun = (sort != Sort::Other).then_some((at, sort)),
            }
        }
        if let Some((from, kind)) = begun {
            self.run(text, from, text.len(), kind);
        }
        self.end_joined();
    }

    fn run(&mut self, text: &str, from: usize, to: usize, sort: Sort) {
        let run = text.get(from..to).unwrap_or("");
        if sort == Sort::Alone {
            self.end_joined();
            return self.pairs(run, from);
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
            self.parts(run, from);
        }
    }

    /// Two characters each, which overlap; one that stands alone is a word.
    fn pairs(&mut self, run: &str, from: usize) {
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

    /// The parts of a name in camel case: `parseHTTPHeader` has `parse`, `HTTP` and `Header`.
    fn parts(&mut self, name: &str, from: usize) {
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
        // `GitHub` and `JavaScript` are words; with their parts they are found by what they are not about.
        if (1..bytes.len()).filter(|n| begins(*n)).count() + 1 < PARTS_MIN {
            return;
        }
        let mut start = 0;
        for n in 1..bytes.len() {
            if begins(n) {
                self.part(name.get(start..n).unwrap_or(""), from + start);
                start = n;
            }
        }
        if start > 0 {
            self.part(name.get(start..).unwrap_or(""), from + start);
        }
    }

    fn part(&mut self, part: &str, at: usize) {
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
            term: memo::term(word),
            at,
            is_extra,
            is_stop: self.knows_stops && stop::is_stop(word),
        });
    }
}

fn sort(char: char) -> Sort {
    if char.is_ascii() {
        return if char.is_ascii_alphanumeric() {
            Sort::Word
        } else {
            Sort::Other
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
        | '\u{1000}'..='\u{109f}' => Sort::Alone,
        _ if char.is_alphanumeric() => Sort::Word,
        _ => Sort::Other,
    }
}
