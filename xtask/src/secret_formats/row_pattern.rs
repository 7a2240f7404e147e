//! Patterns of the table of secret formats, read from regular expressions.

use regex_syntax::hir::{Class, Hir, HirKind};
use std::fmt::Write as _;

/// Maximum number of alternatives of an expression.
const ALTERNATIVES_MAX: usize = 64;
/// Minimum number of fixed characters that a format begins with.
const FIXED_MIN: usize = 3;
/// Minimum length of a format, and of its variable part.
const LENGTH_MIN: usize = 18;
const VARIABLE_MIN: usize = 12;
/// Minimum length of the variable part behind fixed letters that could be a word.
const AFTER_WORD_MIN: usize = 32;
/// Maximum length of the part in front of the fixed characters.
const BEFORE_MAX: u32 = 40;

/// PatternPart of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternPart {
    Fixed(u8),
    /// Characters of a class as bits, with the number of repetitions.
    Class(u128, u32, Option<u32>),
}

/// A pattern: fixed characters and classes, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowPattern {
    parts: Vec<PatternPart>,
    /// Index of the first fixed character that the prefilter can find.
    anchor: usize,
}

impl RowPattern {
    /// Reads the patterns of an expression; none if it has no fixed beginning or is out of the language.
    pub(super) fn read(expression: &str) -> Vec<Self> {
        let any_case = expression.contains("(?i)");
        let exact = expression.replace("(?i)", "").replace("(?-i:", "(?:");
        let Ok(hir) = regex_syntax::parse(&exact) else {
            return Vec::new();
        };
        let mut all = alternatives(&hir).unwrap_or_default();
        if any_case {
            all.iter_mut().flatten().for_each(PatternPart::ignore_case);
        }
        let mut patterns: Vec<_> = all.into_iter().filter_map(Self::new).collect();
        patterns.dedup();
        patterns
    }

    /// Creates a pattern if it is telling enough without a name.
    fn new(parts: Vec<PatternPart>) -> Option<Self> {
        let mut parts = merge(parts);
        while matches!(parts.first(), Some(PatternPart::Class(_, 0, _))) {
            parts.remove(0);
        }
        while matches!(parts.last(), Some(PatternPart::Class(_, 0, _))) {
            parts.pop();
        }
        let anchor = parts
            .windows(FIXED_MIN)
            .position(|window| window.iter().all(PatternPart::is_fixed))?;
        let before: u32 = parts[..anchor]
            .iter()
            .map(|part| match part {
                PatternPart::Fixed(_) => Some(1),
                PatternPart::Class(_, least, Some(most)) if least == most => Some(*least),
                PatternPart::Class(..) => None,
            })
            .sum::<Option<u32>>()?;
        let fixed: String = parts[anchor..]
            .iter()
            .map_while(|part| match part {
                PatternPart::Fixed(byte) => Some(char::from(*byte)),
                PatternPart::Class(..) => None,
            })
            .collect();
        let variable: u32 = parts
            .iter()
            .map(|part| part.least() * u32::from(!part.is_fixed()))
            .sum();
        let whole: u32 = parts.iter().map(PatternPart::least).sum();
        let word = fixed.chars().all(|c| c.is_ascii_lowercase())
            || fixed.chars().all(|c| c.is_ascii_digit());
        let least = if word { AFTER_WORD_MIN } else { VARIABLE_MIN };
        let writable = !fixed.contains(['[', '"', '\\', ' '])
            && !fixed.starts_with("://")
            && !fixed.starts_with("http");
        let telling = variable as usize >= least && whole as usize >= LENGTH_MIN;
        // A backslash belongs to the text around a secret, such as an escaped end of a line.
        let plain = parts.iter().all(|part| !part.has(b'\\'));
        (telling && writable && plain && before <= BEFORE_MAX).then_some(Self { parts, anchor })
    }

    /// Returns the part in front of the anchor.
    pub(super) fn before(&self) -> String {
        write(&self.parts[..self.anchor])
    }

    /// Returns the part from the anchor on.
    pub(super) fn text(&self) -> String {
        write(&self.parts[self.anchor..])
    }
}

impl PatternPart {
    fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }

    fn has(&self, byte: u8) -> bool {
        match self {
            Self::Fixed(own) => *own == byte,
            Self::Class(bits, ..) => bits & bit(byte) != 0,
        }
    }

    fn least(&self) -> u32 {
        match self {
            Self::Fixed(_) => 1,
            Self::Class(_, least, _) => *least,
        }
    }

    fn ignore_case(&mut self) {
        if let Self::Class(bits, ..) = self {
            let letters = (1u128 << 26) - 1;
            let small = *bits >> b'a' & letters;
            let large = *bits >> b'A' & letters;
            *bits |= (small | large) << b'a' | (small | large) << b'A';
        }
    }
}

/// Returns the sequences that an expression matches; `None` if it is out of the language.
fn alternatives(hir: &Hir) -> Option<Vec<Vec<PatternPart>>> {
    let all = match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => vec![Vec::new()],
        HirKind::Literal(literal) => {
            vec![
                literal
                    .0
                    .iter()
                    .map(|byte| PatternPart::Fixed(*byte))
                    .collect(),
            ]
        }
        HirKind::Class(class) => vec![vec![PatternPart::Class(bits_of(class)?, 1, Some(1))]],
        HirKind::Capture(capture) => alternatives(&capture.sub)?,
        HirKind::Concat(list) => {
            let mut all: Vec<Vec<PatternPart>> = vec![Vec::new()];
            for one in list {
                let next = alternatives(one)?;
                all = all
                    .iter()
                    .flat_map(|head| next.iter().map(|tail| [head.as_slice(), tail].concat()))
                    .take(ALTERNATIVES_MAX + 1)
                    .collect();
            }
            all
        }
        HirKind::Alternation(list) => {
            // An alternative that is out of the language, such as the end of a line, hides no other one.
            list.iter().filter_map(alternatives).flatten().collect()
        }
        HirKind::Repetition(repetition) => {
            let inner = alternatives(&repetition.sub)?;
            match inner.as_slice() {
                [one] if one.len() == 1 => match one[0] {
                    PatternPart::Class(bits, 1, Some(1)) => {
                        vec![vec![PatternPart::Class(
                            bits,
                            repetition.min,
                            repetition.max,
                        )]]
                    }
                    PatternPart::Fixed(byte) => {
                        vec![vec![PatternPart::Class(
                            bit(byte),
                            repetition.min,
                            repetition.max,
                        )]]
                    }
                    PatternPart::Class(..) => return None,
                },
                many if repetition.max == Some(1) => [many, &[Vec::new()]].concat(),
                [one] if repetition.max == Some(repetition.min) && repetition.min <= 8 => {
                    vec![one.repeat(repetition.min as usize)]
                }
                _ => return None,
            }
        }
    };
    (all.len() <= ALTERNATIVES_MAX && !all.is_empty()).then_some(all)
}

/// Returns the characters of a class as bits; `None` if they are not a few of ASCII, as those of `.` and `[^…]`.
fn bits_of(class: &Class) -> Option<u128> {
    let mut bits = 0;
    let mut add = |from: u32, to: u32| {
        for byte in from..=to.min(127) {
            bits |= 1 << byte;
        }
    };
    match class {
        // `\w` and `\d` have characters of all scripts.
        Class::Unicode(class) => class
            .iter()
            .for_each(|range| add(u32::from(range.start()), u32::from(range.end()))),
        Class::Bytes(class) => class
            .iter()
            .for_each(|range| add(u32::from(range.start()), u32::from(range.end()))),
    }
    let visible = (b'!'..=b'~').filter(|byte| bits >> byte & 1 == 1).count();
    let blank = bits >> b' ' & 1 == 1 || bits >> b'\n' & 1 == 1 || bits >> b'"' & 1 == 1;
    (visible > 0 && visible < 90 && !blank).then_some(bits)
}

fn bit(byte: u8) -> u128 {
    1u128.checked_shl(u32::from(byte)).unwrap_or(0)
}

/// Merges neighbouring classes with the same characters, and writes single characters as fixed ones.
fn merge(parts: Vec<PatternPart>) -> Vec<PatternPart> {
    let mut merged: Vec<PatternPart> = Vec::new();
    for part in parts {
        let part = match part {
            PatternPart::Class(bits, 1, Some(1)) if bits.count_ones() == 1 => {
                PatternPart::Fixed(u8::try_from(bits.trailing_zeros()).unwrap_or_default())
            }
            PatternPart::Class(..) | PatternPart::Fixed(_) => part,
        };
        match (merged.last_mut(), &part) {
            (Some(PatternPart::Class(bits, least, most)), PatternPart::Class(more, min, max))
                if bits == more =>
            {
                *least += min;
                *most = most.zip(*max).map(|(a, b)| a + b);
            }
            _ => merged.push(part),
        }
    }
    merged
}

/// Writes parts in the language of the table.
fn write(parts: &[PatternPart]) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            PatternPart::Fixed(byte) => text.push(char::from(*byte)),
            PatternPart::Class(bits, least, most) => {
                text.push('[');
                text.push_str(&members(*bits));
                text.push(']');
                let counts = match most {
                    Some(most) if most == least => format!("{{{least}}}"),
                    Some(most) => format!("{{{least},{most}}}"),
                    None => format!("{{{least},}}"),
                };
                text.push_str(&counts);
            }
        }
    }
    text
}

/// Writes the characters of a class: ranges first, a hyphen last, because it means a range elsewhere.
fn members(bits: u128) -> String {
    let has = |byte: u8| bits >> byte & 1 == 1;
    let mut text = String::new();
    let mut signs = String::new();
    let mut byte = b'!';
    while byte <= b'~' {
        let start = byte;
        while byte < b'~'
            && has(byte)
            && has(byte + 1)
            && start.is_ascii_alphanumeric()
            && (byte + 1).is_ascii_alphanumeric()
        {
            byte += 1;
        }
        if has(start) && byte >= start + 2 {
            // A range stays inside of digits, of capitals, or of small letters.
            let _unused = write!(text, "{}-{}", char::from(start), char::from(byte));
        } else {
            for one in (start..=byte).filter(|one| has(*one) && *one != b'-' && *one != b']') {
                match one.is_ascii_alphanumeric() {
                    true => text.push(char::from(one)),
                    false => signs.push(char::from(one)),
                }
            }
        }
        byte += 1;
    }
    if has(b'-') {
        signs.push('-');
    }
    text + &signs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(expression: &str) -> Vec<String> {
        let all = RowPattern::read(expression);
        all.iter()
            .map(|row| format!("{}|{}", row.before(), row.text()))
            .collect()
    }

    #[test]
    fn expression_with_fixed_beginning_is_read() {
        for (expression, row) in [
            (r"\b(fw_[a-zA-Z0-9]{24})\b", "|fw_[0-9A-Za-z]{24}"),
            (
                r"(?i)\b(dp\.pt\.[a-z0-9]{43})(?:[\x60'\x22\s;]|\\[nr]|$)",
                "|dp.pt.[0-9A-Za-z]{43}",
            ),
            (
                r"\b([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70})\b",
                "[0-9A-Za-z]{14}|.atlasv1.[0-9A-Za-z=_-]{60,70}",
            ),
        ] {
            assert_eq!(rows(expression), [row], "{expression}");
        }
        assert_eq!(rows(r"\bdd[pw]_[a-zA-Z0-9]{36}\b"), Vec::<String>::new());
        assert_eq!(rows(r"\b(?:ddp|ddw)_[a-zA-Z0-9]{36}\b").len(), 2);
    }

    #[test]
    fn expression_without_fixed_beginning_gives_no_row() {
        for expression in [
            r"\b[a-f0-9]{40}\b",
            r"key[a-z0-9]{16}",
            r"https://[a-z]{10,}\.example\.org",
            r"(?i)[\w.-]{0,50}?(?:token)=.*",
        ] {
            assert_eq!(rows(expression), Vec::<String>::new(), "{expression}");
        }
    }
}
