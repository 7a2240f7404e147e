//! Word splitter: where the words of a text begin and end, by classes of characters, and the stem of each.

use super::compound_names::{JoinedName, camel_case_parts};
use super::{Stem, character_folding, character_pairs, stem_cache, stop_words};
use unicode_normalization::char::is_combining_mark;

/// Reader that splits a text into words and pushes their stems.
#[derive(Default)]
pub(super) struct WordSplitter {
    found: Vec<Stem>,
    /// True if stop words are marked.
    marks_stop_words: bool,
    /// Word that is being folded.
    word: String,
    /// Words joined by hyphens and underscores so far.
    joined: JoinedName,
}

/// Class of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharClass {
    /// Part of a word.
    Word,
    /// Character of a script without spaces between words.
    Alone,
    /// Emoji, a word by itself.
    Emoji,
    Other,
}

impl WordSplitter {
    /// Returns the stems of a text in order; stop words are marked if `marks_stop_words`.
    pub(super) fn read(text: &str, marks_stop_words: bool) -> Vec<Stem> {
        let mut splitter = Self {
            marks_stop_words,
            ..Self::default()
        };
        splitter.push_runs(text);
        splitter.found
    }

    fn push_runs(&mut self, text: &str) {
        let mut begun: Option<(usize, CharClass)> = None;
        for (at, char) in text.char_indices() {
            let sort = char_class(char);
            match begun {
                Some((_, kind)) if kind == sort => {}
                // A combining mark belongs to the letter before it.
                Some(_) if is_combining_mark(char) => {}
                Some((from, kind)) => {
                    self.push_run(text, from, at, kind);
                    begun = (sort != CharClass::Other).then_some((at, sort));
                }
                None => begun = (sort != CharClass::Other).then_some((at, sort)),
            }
        }
        if let Some((from, kind)) = begun {
            self.push_run(text, from, text.len(), kind);
        }
        self.end_joined();
    }

    fn push_run(&mut self, text: &str, from: usize, to: usize, sort: CharClass) {
        let run = text.get(from..to).unwrap_or("");
        if sort == CharClass::Alone {
            self.end_joined();
            return character_pairs::character_pairs(run, |pair, at| {
                self.push(pair, from + at, false);
            });
        }
        if sort == CharClass::Emoji {
            self.end_joined();
            for (at, emoji) in run.char_indices() {
                self.push(emoji.encode_utf8(&mut [0; 4]), from + at, false);
            }
            return;
        }
        let is_ascii = run.is_ascii();
        if !(is_ascii && self.joined.continues_at(text, from)) {
            self.end_joined();
        }
        self.word.clear();
        if is_ascii {
            self.word.push_str(run);
            self.word.make_ascii_lowercase();
            self.joined.push(&self.word, from, to);
        } else {
            character_folding::fold(run, &mut self.word);
        }
        let word = std::mem::take(&mut self.word);
        self.push(&word, from, false);
        self.word = word;
        if is_ascii {
            camel_case_parts(run, |part, at| {
                self.push(&part.to_ascii_lowercase(), from + at, true);
            });
        }
    }

    /// Pushes the joined form of the name that ends here, if it has several words.
    fn end_joined(&mut self) {
        if self.joined.is_compound() {
            let joined = std::mem::take(&mut self.joined);
            self.push(joined.text(), joined.start(), true);
            self.joined = joined;
        }
        self.joined.clear();
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
        // Pictographs and weather, no dingbats: tools put `✓` and `✗` before each line of their output.
        '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{26ff}' => CharClass::Emoji,
        _ if char.is_alphanumeric() => CharClass::Word,
        _ => CharClass::Other,
    }
}
