//! Secrets in sentences of several languages: `das Passwort lautet …`, `use … as the password`, `密码是…`.

use super::nouns::NOUNS;
use super::scan::Scanner;
use super::secret_names::SecretNameKind;
use super::text_bytes::TextBytes as _;
use super::value_rules::{self, ValueSyntax};
use super::value_shape;
use std::ops::{Deref, DerefMut, Range};

/// Maximum distance in bytes between a noun and its value.
const REACH: usize = 120;
/// Maximum number of words between a noun and its value.
const WORDS_MAX: usize = 7;
/// Maximum number of words from a connecting word to the value: `is now set to …`.
const CONNECTED_MAX: usize = 3;
/// Maximum number of words between a value and its noun: `… as the new database password`.
const WORDS_BEFORE_MAX: usize = 5;
/// Maximum length of a connecting word, in bytes.
const CONNECTOR_BYTES_MAX: usize = 12;
/// Maximum length of the ending of a noun, in bytes.
const ENDING_MAX: usize = 2;
/// Maximum length of a value in a sentence, in bytes.
const VALUE_MAX: usize = 256;

/// Classes of bytes in a sentence.
const DIGIT: u8 = 1;
const CONTROL: u8 = 2;
const CODE: u8 = 4;
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let code = b"{};=<>$[]|\\#&";
    let mut at = 0;
    while at < code.len() {
        classes[code[at] as usize] = CODE;
        at += 1;
    }
    let mut byte = 0;
    while byte < 256 {
        if (byte as u8).is_ascii_digit() {
            classes[byte] = DIGIT;
        } else if (byte as u8).is_ascii_control() {
            classes[byte] = CONTROL;
        }
        byte += 1;
    }
    classes
};

/// Words between a noun and its value.
const CONNECTORS: &[&str] = &[
    "is",
    "was",
    "are",
    "to",
    "be",
    "becomes",
    "equals",
    "now",
    "ist",
    "lautet",
    "war",
    "auf",
    "heißt",
    "lautete",
    "est",
    "était",
    "en",
    "à",
    "vaut",
    "devient",
    "es",
    "era",
    "a",
    "por",
    "será",
    "è",
    "era",
    "in",
    "diventa",
    "sarà",
    "é",
    "para",
    "fica",
    "naar",
    "det",
    "är",
    "er",
    "to",
    "na",
    "jest",
    "это",
    "на",
    "теперь",
    "будет",
    "был",
    "—",
    "–",
    "-",
    "->",
    "'s",
    "\u{2019}s",
    "=>",
    "=",
    ":",
    "→",
    "입니다",
];
/// Words between a value and its noun.
const ROLES: &[&str] = &[
    "as", "als", "comme", "como", "come", "como", "jako", "som", "как", "olarak",
];
/// Parts of a sentence of Chinese, Japanese and Korean between a value and its noun.
const ROLES_OF_CHARACTERS: &[&str] = &["作为", "作為", "当作", "當作", "用作", "を", "로"];

/// Scan of sentences.
pub(super) struct SentenceScan<'s, 't>(pub(super) &'s mut Scanner<'t>);

impl<'t> Deref for SentenceScan<'_, 't> {
    type Target = Scanner<'t>;

    fn deref(&self) -> &Scanner<'t> {
        self.0
    }
}

impl<'t> DerefMut for SentenceScan<'_, 't> {
    fn deref_mut(&mut self) -> &mut Scanner<'t> {
        self.0
    }
}

impl<'t> SentenceScan<'_, 't> {
    /// Checks the sentence around a noun, with the anchor inside of it.
    pub(super) fn match_noun(&mut self, number: usize, anchor: usize) {
        let Some(noun) = NOUNS.get(number) else {
            return;
        };
        let Some(start) = anchor.checked_sub(noun.anchor) else {
            return;
        };
        if start < self.noun_end || !self.bytes.has_text_at(start, noun.text) {
            return;
        }
        let end = start + noun.text.len();
        let letter = |at: usize| self.bytes.byte(at).is_ascii_alphabetic();
        let ascii = noun.text[0].is_ascii();
        // Compounds such as `API-Schlüssel` and `Datenbankkennwort` begin before it; plurals and articles end after it.
        let is_word = ascii && noun.text.last().is_some_and(u8::is_ascii_alphabetic);
        let ending = match is_word {
            true => (end..end + ENDING_MAX + 1)
                .take_while(|at| letter(*at))
                .count(),
            false => 0,
        };
        if ending > ENDING_MAX {
            return;
        }
        let end = end + ending;
        let name = start..end;
        self.noun_end = end;
        if let Some((syntax, value)) =
            super::assignment_syntax::AssignmentSyntax::new(self.bytes).find_value(start, end)
            && syntax != ValueSyntax::Blank
        {
            return self.check_value(noun.kind, syntax, name, value, false);
        }
        self.match_sentence(noun.kind, &name);
    }

    /// Checks the sentence around the noun `name`: the value behind it, or in front of it.
    pub(super) fn match_sentence(&mut self, kind: SecretNameKind, name: &Range<usize>) {
        if let Some(value) = self.value_in_sentence(kind, name.end) {
            return self.push(value.start, value.end, kind.kind());
        }
        if let Some(value) = self.value_with_role(kind, name.start) {
            self.push(value.start, value.end, kind.kind());
        }
    }

    /// Returns the value behind a noun, after a word that connects them.
    fn value_in_sentence(&mut self, kind: SecretNameKind, from: usize) -> Option<Range<usize>> {
        let end = self.line_end(from).min(from + REACH);
        // Most sentences about secrets have no value: this is what they cost.
        if !self.bytes.get(from..end)?.iter().any(u8::is_ascii_digit) {
            return None;
        }
        let is_foreign = from > 0 && !self.bytes[from - 1].is_ascii();
        let mut words: [Range<usize>; WORDS_MAX] = Default::default();
        let mut at = from;
        for count in 0..=WORDS_MAX {
            at = self.bytes.skip_blanks(at);
            let word = self
                .word_at(at, end.max(at))
                .filter(|word| !word.is_empty())?;
            let bytes = self.bytes.get(word.clone())?;
            let classes = bytes
                .iter()
                .fold(0, |all, b| all | CLASSES[usize::from(*b)]);
            // Code, markup and escapes are no sentence.
            if classes & CONTROL != 0 {
                return None;
            }
            if classes & DIGIT != 0 {
                let before = words.get(count.saturating_sub(CONNECTED_MAX)..count)?;
                let is_strong =
                    count == 0 && value_rules::is_strong_word(self.text.get(word.clone())?);
                let is_connected = is_strong || self.has_connector(before, is_foreign);
                if let Some(value) = self.value_of_word(&word, kind, is_connected) {
                    return Some(value);
                }
            }
            if classes & CODE != 0 && !is_sign(bytes) {
                return None;
            }
            // A sentence ends, and with it what is said about the noun.
            if bytes.last().is_some_and(|b| b".!?".contains(b)) {
                return None;
            }
            at = word.end;
            if let Some(slot) = words.get_mut(count) {
                *slot = word;
            }
        }
        None
    }

    /// Returns true if one of these words connects a noun and its value.
    fn has_connector(&self, words: &[Range<usize>], is_foreign: bool) -> bool {
        words.iter().any(|word| {
            let bytes = self.bytes.get(word.clone()).unwrap_or_default();
            let bare = bytes.strip_suffix(b",").unwrap_or(bytes);
            // Particles of other scripts are words of their own.
            let particle = is_foreign && !bytes.is_empty() && bytes.iter().all(|b| !b.is_ascii());
            particle || bytes.ends_with(b":") || bytes.ends_with("：".as_bytes()) || is_sign(bare)
        })
    }

    /// Returns the word at `at`, up to the next blank.
    fn word_at(&self, at: usize, end: usize) -> Option<Range<usize>> {
        let rest = self.bytes.get(at..end)?;
        let length = rest
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(rest.len());
        let mut stop = at + length;
        if length == rest.len() {
            // The reach ends inside of a word: it is read whole.
            let more = self.bytes.get(stop..)?;
            let more = more
                .iter()
                .take(VALUE_MAX)
                .take_while(|b| !b.is_ascii_whitespace());
            stop += more.count();
        }
        self.text.is_char_boundary(stop).then_some(at..stop)
    }

    /// Returns the value in a word, without quotes, punctuation, and characters of another script around it.
    fn value_of_word(
        &self,
        word: &Range<usize>,
        kind: SecretNameKind,
        connected: bool,
    ) -> Option<Range<usize>> {
        let bytes = self.bytes.get(word.clone())?;
        let begins = bytes.iter().position(u8::is_ascii_graphic)?;
        let length = bytes[begins..]
            .iter()
            .take_while(|b| b.is_ascii_graphic())
            .count();
        let mut start = word.start + begins;
        let mut end = start + length;
        let other_script = begins > 0 && !bytes[..begins].is_empty();
        let opened = |b: u8| matches!(b, b'"' | b'\'' | b'`' | b'(' | b'*' | b':' | b'=' | b'<');
        let closed = |b: u8| {
            matches!(
                b,
                b'"' | b'\'' | b'`' | b')' | b'*' | b'.' | b',' | b';' | b':' | b'>'
            )
        };
        let quoted = opened(self.bytes.byte(start));
        while start < end && opened(self.bytes.byte(start)) {
            start += 1;
        }
        while start < end && closed(self.bytes.byte(end - 1)) {
            end -= 1;
        }
        let text = self.text.get(start..end)?;
        let code = self.bytes.byte(start.saturating_sub(1)) == b'`';
        let long = code && text.len() >= 16 && kind != SecretNameKind::Password;
        let sure = long || value_rules::is_strong_word(text);
        let fits = value_rules::is_sentence_secret(kind, text);
        ((fits && (connected || other_script)) || (sure && quoted && fits)).then_some(start..end)
    }

    /// Returns the value in front of a noun: `use … as the password`.
    fn value_with_role(&self, kind: SecretNameKind, to: usize) -> Option<Range<usize>> {
        let mut end = to;
        for _ in 0..WORDS_BEFORE_MAX {
            let Some(word) = self.word_ending_at(end) else {
                break;
            };
            end = word.start;
            let bytes = &self.bytes[word];
            if ROLES
                .iter()
                .any(|role| role.as_bytes().eq_ignore_ascii_case(bytes))
            {
                let word = self.word_ending_at(end)?;
                return self.value_of_word(&word, kind, true);
            }
        }
        let from = to.saturating_sub(REACH);
        let before = self.bytes.get(from..to)?;
        if before.is_ascii() {
            return None;
        }
        let line = before
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |n| n + 1);
        let start = (from + line..to).find(|at| self.text.is_char_boundary(*at))?;
        let text = self.text.get(start..to)?;
        let tail = ROLES_OF_CHARACTERS
            .iter()
            .find_map(|part| text.rfind(part))?;
        let head = text.get(..tail)?.trim_end();
        let length = head.bytes().rev().take_while(u8::is_ascii_graphic).count();
        let end = start + head.len();
        self.value_of_word(&(end - length..end), kind, true)
    }

    /// Returns the last word in front of `end`, on the same line.
    fn word_ending_at(&self, end: usize) -> Option<Range<usize>> {
        let before = self.bytes.get(end.saturating_sub(REACH)..end)?;
        let blanks = before
            .iter()
            .rev()
            .take_while(|b| matches!(**b, b' ' | b'\t'))
            .count();
        let end = end - blanks;
        let rest = &before[..before.len() - blanks];
        let length = rest
            .iter()
            .rev()
            .take_while(|b| !b.is_ascii_whitespace())
            .count();
        (length > 0 && self.text.is_char_boundary(end - length)).then_some(end - length..end)
    }

    /// Matches a name and a password with a slash between them: `log in with bob / …`, with the anchor at ` / `.
    pub(super) fn match_login_pair(&mut self, at: usize) {
        const ABOUT: &[&[u8]] = &[
            b"log in",
            b"login",
            b"logged in",
            b"sign in",
            b"credentials",
            b"creds",
            b"account",
            b"username",
            b"user:",
            b"anmelde",
            b"zugang",
            b"connex",
            b"identifi",
            b"acceso",
            b"usuario",
        ];
        let from = at.saturating_sub(REACH / 2);
        let before = self.bytes.get(from..at).unwrap_or_default();
        let line = before.rsplit(|b| *b == b'\n').next().unwrap_or_default();
        let about = ABOUT
            .iter()
            .any(|word| value_shape::contains_ignoring_case(line, word));
        if !about {
            return;
        }
        let end = self.line_end(at).max(at + 3);
        if let Some(word) = self.word_at(at + 3, end)
            && let Some(value) = self.value_of_word(&word, SecretNameKind::Password, true)
        {
            self.push(value.start, value.end, SecretNameKind::Password.kind());
        }
    }
}

/// Returns true for words and signs that connect a noun and its value.
fn is_sign(word: &[u8]) -> bool {
    let is = |sign: &&str| sign.as_bytes().eq_ignore_ascii_case(word);
    (1..=CONNECTOR_BYTES_MAX).contains(&word.len()) && CONNECTORS.iter().any(is)
}
