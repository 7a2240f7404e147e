//! Word pieces: tokenizer for the vocabulary of the built-in embedding table.
//!
//! Follows BERT's uncased tokenizer: text is cleaned, case-folded and stripped of accents; punctuation and Chinese
//! characters are separate words; each word is split greedily into the longest pieces of the vocabulary.

mod char_map;
pub(crate) mod embedding_table;
mod piece_df;

pub use embedding_table::PIECES;
pub use piece_df::{PieceCounts, count_in};

use char_map::CharClass;
use embedding_table::PiecePosition;

/// Piece for a word that the vocabulary cannot build.
pub const UNKNOWN: u16 = 100;

/// Maximum length of a word, characters; a longer one is unknown. BERT's limit, so that the pieces are the same.
const WORD_LETTERS: usize = 100;

/// Splits a text into at most `most` pieces, in order; the rest of the text is not read.
pub fn pieces(text: &str, most: usize) -> Vec<u16> {
    PieceSplit::of(text, most).pieces
}

/// Pieces of a text and the end of its first line.
#[derive(Debug)]
pub(crate) struct PieceSplit {
    pub(crate) pieces: Vec<u16>,
    /// Number of pieces in the first line that has any.
    pub(crate) head: usize,
}

impl PieceSplit {
    /// Splits a text into at most `most` pieces.
    pub(crate) fn of(text: &str, most: usize) -> Self {
        let mut cutter = PieceSplitter::new(text, most);
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

/// Tokenizer state: collects the characters of a word and splits it at its end.
struct PieceSplitter {
    pieces: Vec<u16>,
    /// Folded characters of the word so far.
    word: Vec<u8>,
    /// Number of these characters.
    letters: usize,
}

impl PieceSplitter {
    fn new(text: &str, most: usize) -> Self {
        Self {
            // Source code has about three bytes for each piece.
            pieces: Vec::with_capacity(most.min(text.len() / 3 + 1)),
            word: Vec::with_capacity(64),
            letters: 0,
        }
    }

    fn push(&mut self, letter: char) {
        match CharClass::of(letter) {
            CharClass::Plain(folded) => self.add(folded),
            CharClass::Space => self.end_word(),
            CharClass::Alone => {
                self.end_word();
                self.add(letter);
                self.end_word();
            }
            CharClass::Dropped => {}
            CharClass::Mapped(letters) => {
                for mapped in letters.chars() {
                    match mapped {
                        ' ' => self.end_word(),
                        _ => self.add(mapped),
                    }
                }
            }
            CharClass::Syllable(parts) => {
                parts.into_iter().flatten().for_each(|part| self.add(part))
            }
        }
    }

    fn add(&mut self, letter: char) {
        self.letters += 1;
        // The characters of a word that is too long are counted but not stored.
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
        if self.letters > WORD_LETTERS || !split_word(&self.word, &mut self.pieces) {
            self.pieces.truncate(before);
            self.pieces.push(UNKNOWN);
        }
        self.word.clear();
        self.letters = 0;
    }
}

/// Appends the pieces of a word by greedy longest match; returns false if no piece matches at some position.
fn split_word(word: &[u8], pieces: &mut Vec<u16>) -> bool {
    let mut rest = word;
    let mut place = PiecePosition::Start;
    while !rest.is_empty() {
        let Some((piece, length)) = embedding_table::longest(rest, place) else {
            return false;
        };
        pieces.push(piece);
        rest = rest.get(length..).unwrap_or_default();
        place = PiecePosition::Inside;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str) -> String {
        let found = pieces(text, usize::MAX);
        let names: Vec<String> = found.into_iter().map(embedding_table::spelling).collect();
        names.join(" ")
    }

    #[test]
    fn text_is_split_into_pieces() {
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
    fn text_after_last_piece_is_not_read() {
        let text = "unaffable words and more";
        let all = pieces(text, usize::MAX);
        for most in 0..=all.len() + 1 {
            let expected = &all[..most.min(all.len())];
            assert_eq!(pieces(text, most), expected, "{most}");
        }
    }

    #[test]
    fn head_is_first_line_with_pieces() {
        for (text, most, head, count) in [
            ("one two", 9, 2, 2),
            ("one two\nthree", 9, 2, 3),
            ("\n \none\r\ntwo\nthree", 9, 1, 3),
            ("one two three\nfour", 2, 2, 2),
            ("\n", 9, 0, 0),
            ("one\n", 9, 1, 1),
        ] {
            let cut = PieceSplit::of(text, most);
            assert_eq!((cut.head, cut.pieces.len()), (head, count), "{text:?}");
        }
    }

    #[test]
    fn word_over_length_limit_is_unknown() {
        assert!(!pieces(&"x".repeat(100), usize::MAX).contains(&UNKNOWN));
        assert_eq!(pieces(&"x".repeat(101), usize::MAX), [UNKNOWN]);
        assert_eq!(pieces(&"x".repeat(1 << 20), usize::MAX), [UNKNOWN]);
    }
}
