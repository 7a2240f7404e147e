//! What becomes of a letter: what the tokenizer of the model makes of each, from the table.

use super::table;

/// What a letter of a text is to its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letter {
    /// Part of a word, folded.
    Plain(char),
    /// Controls, marks and accents.
    Dropped,
    /// The end of a word.
    Space,
    /// A word of its own: punctuation, Chinese characters.
    Alone,
    /// Other letters, with a space wherever a word ends.
    Mapped(&'static str),
    /// A Korean syllable, which is written with up to three letters.
    Syllable([Option<char>; 3]),
}

impl Letter {
    pub(super) fn of(letter: char) -> Self {
        match letter {
            'a'..='z' | '0'..='9' => Self::Plain(letter),
            'A'..='Z' => Self::Plain(letter.to_ascii_lowercase()),
            ' ' | '\t' | '\n' | '\r' => Self::Space,
            '\0'..='\x1F' | '\x7F' => Self::Dropped,
            '!'..='~' => Self::Alone,
            _ => Self::from_table(letter),
        }
    }

    fn from_table(letter: char) -> Self {
        match table::kind(letter) {
            1 => Self::Dropped,
            2 => Self::Space,
            3 => Self::Alone,
            4 => table::mapped(letter).map_or(Self::Plain(letter), Self::Mapped),
            5 => Self::Syllable(jamo(letter)),
            _ => Self::Plain(letter),
        }
    }
}

/// The letters of a Korean syllable, by the arithmetic of Unicode.
fn jamo(syllable: char) -> [Option<char>; 3] {
    let at = u32::from(syllable).saturating_sub(0xAC00);
    let (first, middle, last) = (at / 588, at % 588 / 28, at % 28);
    [
        char::from_u32(0x1100 + first),
        char::from_u32(0x1161 + middle),
        char::from_u32(0x11A7 + last).filter(|_| last > 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ASCII is decided without the table, as the table would.
    #[test]
    fn ascii_is_as_in_the_table() {
        for letter in '\0'..='\x7F' {
            let mut expected = Letter::from_table(letter);
            if let Letter::Mapped(letters) = expected {
                expected = Letter::Plain(letters.parse().unwrap());
            }
            assert_eq!(Letter::of(letter), expected, "{letter:?}");
        }
    }

    #[test]
    fn letters_are_what_they_are() {
        for (letter, expected) in [
            ('é', Letter::Mapped("e")),
            ('É', Letter::Mapped("e")),
            ('\u{301}', Letter::Dropped),
            ('\u{200B}', Letter::Dropped),
            ('\u{A0}', Letter::Space),
            ('。', Letter::Alone),
            ('中', Letter::Alone),
            ('\u{F900}', Letter::Mapped(" 豈 ")),
            ('≮', Letter::Mapped(" < ")),
            ('ß', Letter::Plain('ß')),
            ('가', Letter::Syllable([Some('ᄀ'), Some('ᅡ'), None])),
            ('각', Letter::Syllable([Some('ᄀ'), Some('ᅡ'), Some('ᆨ')])),
            ('\u{10FFFF}', Letter::Plain('\u{10FFFF}')),
        ] {
            assert_eq!(Letter::of(letter), expected, "{letter:?}");
        }
    }
}
