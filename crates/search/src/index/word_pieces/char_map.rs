//! Character classes and mappings of the tokenizer, read from the table.

use super::embedding_table;

/// Class of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CharClass {
    /// Part of a word, folded.
    Plain(char),
    /// Control character, mark or accent, which is removed.
    Dropped,
    /// Whitespace, which ends a word.
    Space,
    /// Separate word: punctuation, Chinese characters.
    Alone,
    /// Replacement characters, with a space where a word ends.
    Mapped(&'static str),
    /// Korean syllable, decomposed into up to three letters.
    Syllable([Option<char>; 3]),
}

impl CharClass {
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
        match embedding_table::kind(letter) {
            1 => Self::Dropped,
            2 => Self::Space,
            3 => Self::Alone,
            4 => embedding_table::mapped(letter).map_or(Self::Plain(letter), Self::Mapped),
            5 => Self::Syllable(jamo(letter)),
            _ => Self::Plain(letter),
        }
    }
}

/// Decomposes a Korean syllable by Unicode arithmetic.
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

    /// The shortcut for ASCII must agree with the table.
    #[test]
    fn ascii_shortcut_matches_table() {
        for letter in '\0'..='\x7F' {
            let mut expected = CharClass::from_table(letter);
            if let CharClass::Mapped(letters) = expected {
                expected = CharClass::Plain(letters.parse().unwrap());
            }
            assert_eq!(CharClass::of(letter), expected, "{letter:?}");
        }
    }

    #[test]
    fn characters_have_expected_class() {
        for (letter, expected) in [
            ('é', CharClass::Mapped("e")),
            ('É', CharClass::Mapped("e")),
            ('\u{301}', CharClass::Dropped),
            ('\u{200B}', CharClass::Dropped),
            ('\u{A0}', CharClass::Space),
            ('。', CharClass::Alone),
            ('中', CharClass::Alone),
            ('\u{F900}', CharClass::Mapped(" 豈 ")),
            ('≮', CharClass::Mapped(" < ")),
            ('ß', CharClass::Plain('ß')),
            ('가', CharClass::Syllable([Some('ᄀ'), Some('ᅡ'), None])),
            ('각', CharClass::Syllable([Some('ᄀ'), Some('ᅡ'), Some('ᆨ')])),
            ('\u{10FFFF}', CharClass::Plain('\u{10FFFF}')),
        ] {
            assert_eq!(CharClass::of(letter), expected, "{letter:?}");
        }
    }
}
