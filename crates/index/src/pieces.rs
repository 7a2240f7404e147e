//! Word pieces: the vocabulary of the built-in table.
//!
//! A text is cut as BERT's uncased tokenizer cuts it: cleaned, folded, without accents, punctuation and Chinese
//! characters apart, each word by the longest pieces that the vocabulary has.

mod counts;
mod letters;
pub(crate) mod table;

pub use counts::{PieceCounts, count_in};
pub use table::PIECES;

use letters::Letter;
use table::Place;

/// What stands for a word that the vocabulary cannot build.
pub const UNKNOWN: u16 = 100;

/// Letters of a word; a longer one is unknown. BERT's number: with another one the pieces differ from its own.
const WORD_LETTERS: usize = 100;

/// The pieces of a text in its order, at most `most`; what follows them is not read.
pub fn pieces(text: &str, most: usize) -> Vec<u16> {
    Cut::of(text, most).pieces
}

/// A text in pieces, and where its first line ends.
#[derive(Debug)]
pub(crate) struct Cut {
    pub(crate) pieces: Vec<u16>,
    /// How many of the pieces are of the first line that has any.
    pub(crate) head: usize,
}

impl Cut {
    /// The pieces of a text, at most `most`.
    pub(crate) fn of(text: &str, most: usize) -> Self {
        let mut cutter = Cutter::new(text, most);
        let mut head = None;
        for letter in text.chars() {
            cutter.push(letter);
            if cutter.pieces.len() >= most {
                break;
            }
            if letter == '\n' && head.is_none() && !cutter.pieces.is_empty() {
                head = Some(cutter.pieces.len());
            }
        }
        cutter.end_word();
        let mut pieces = cutter.pieces;
        pieces.truncate(most);
        let head = head.unwrap_or(pieces.len());
        Self { pieces, head }
    }
}

/// Gathers a word's letters until it ends, and cuts it then.
struct Cutter {
    pieces: Vec<u16>,
    /// The word's letters so far, folded.
    word: Vec<u8>,
    /// How many they are.
    letters: usize,
}

impl Cutter {
    fn new(text: &str, most: usize) -> Self {
        Self {
            // Three bytes a piece is what source code comes to.
            pieces: Vec::with_capacity(most.min(text.len() / 3 + 1)),
            word: Vec::with_capacity(64),
            letters: 0,
        }
    }

    fn push(&mut self, letter: char) {
        match Letter::of(letter) {
            Letter::Plain(folded) => self.add(folded),
            Letter::Space => self.end_word(),
            Letter::Alone => {
                self.end_word();
                self.add(letter);
                self.end_word();
            }
            Letter::Dropped => {}
            Letter::Mapped(letters) => {
                for mapped in letters.chars() {
                    match mapped {
                        ' ' => self.end_word(),
                        _ => self.add(mapped),
                    }
                }
            }
            Letter::Syllable(parts) => parts.into_iter().flatten().for_each(|part| self.add(part)),
        }
    }

    fn add(&mut self, letter: char) {
        self.letters += 1;
        // A word that is too long is counted, not kept.
        if self.letters <= WORD_LETTERS {
            let mut bytes = [0; 4];
            self.word
                .extend_from_slice(letter.encode_utf8(&mut bytes).as_bytes());
        }
    }

    fn end_word(&mut self) {
        if self.letters == 0 {
            return;
        }
        let before = self.pieces.len();
        if self.letters > WORD_LETTERS || !cut_word(&self.word, &mut self.pieces) {
            self.pieces.truncate(before);
            self.pieces.push(UNKNOWN);
        }
        self.word.clear();
        self.letters = 0;
    }
}

/// Appends the pieces of a word, each the longest that fits; false if somewhere none does.
fn cut_word(word: &[u8], pieces: &mut Vec<u16>) -> bool {
    let mut rest = word;
    let mut place = Place::Start;
    while !rest.is_empty() {
        let Some((piece, length)) = table::longest(rest, place) else {
            return false;
        };
        pieces.push(piece);
        rest = rest.get(length..).unwrap_or_default();
        place = Place::Inside;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str) -> String {
        let found = pieces(text, usize::MAX);
        let names: Vec<String> = found.into_iter().map(table::spelling).collect();
        names.join(" ")
    }

    #[test]
    fn texts_are_cut() {
        for (text, expected) in [
            ("", ""),
            (" \n\t", ""),
            ("Hello, World!", "hello , world !"),
            ("unaffable", "una ##ffa ##ble"),
            ("don't", "don ' t"),
            ("snake_case", "snake _ case"),
            ("Café naïve", "cafe naive"),
            ("中文", "中 文"),
            ("🦀", "[UNK]"),
            ("a🦀b c", "[UNK] c"),
            ("[CLS]", "[ cl ##s ]"),
            ("≠", "="),
        ] {
            assert_eq!(spelled(text), expected, "{text}");
        }
    }

    #[test]
    fn what_follows_the_last_piece_is_not_read() {
        let text = "unaffable words and more";
        let all = pieces(text, usize::MAX);
        for most in 0..=all.len() + 1 {
            let expected = &all[..most.min(all.len())];
            assert_eq!(pieces(text, most), expected, "{most}");
        }
    }

    #[test]
    fn the_head_is_the_first_line_with_pieces() {
        for (text, most, head, count) in [
            ("one two", 9, 2, 2),
            ("one two\nthree", 9, 2, 3),
            ("\n \none\r\ntwo\nthree", 9, 1, 3),
            ("one two three\nfour", 2, 2, 2),
            ("\n", 9, 0, 0),
            ("one\n", 9, 1, 1),
        ] {
            let cut = Cut::of(text, most);
            assert_eq!((cut.head, cut.pieces.len()), (head, count), "{text:?}");
        }
    }

    #[test]
    fn a_word_of_a_hundred_letters_is_cut_and_a_longer_one_is_unknown() {
        assert!(!pieces(&"x".repeat(100), usize::MAX).contains(&UNKNOWN));
        assert_eq!(pieces(&"x".repeat(101), usize::MAX), [UNKNOWN]);
        assert_eq!(pieces(&"x".repeat(1 << 20), usize::MAX), [UNKNOWN]);
    }
}
