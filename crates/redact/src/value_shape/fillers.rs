//! Placeholders, and what is left of a value without its fillers.
//!
//! A filler alone proves nothing: random keys contain `xxxx` by chance, and people write `example` next to real ones.
//! A value is a placeholder if what is left without fillers is no secret.

use super::word_lists::{BY_FIRST_BYTE, FILLERS, FIRST_BYTES};
use super::{SAMPLE_BYTES, ValueShape, is_generated, is_wordy, sample};

/// Minimum length of a run of equal or consecutive characters.
const RUN_MIN: usize = 4;
/// Minimum length of a random part of a placeholder that makes it a secret.
const PART_MIN: usize = 8;
/// Minimum length of the random part of a token with a known prefix.
const TOKEN_PART_MIN: usize = 12;
/// Maximum lengths before and after the dots of a shortened value, as in `sk-ant-...4f2a`.
const SHORTENED_HEAD_MAX: usize = 10;
const SHORTENED_TAIL_MAX: usize = 6;

/// Returns true if a value is a placeholder and not a secret.
pub(in super::super) fn is_placeholder(value: &str) -> bool {
    let trimmed = value.trim();
    let bytes = sample(trimmed);
    let Some(&first) = bytes.first() else {
        return true;
    };
    let second = bytes.get(1).copied().unwrap_or(0);
    if first == b'$' && b"{([".contains(&second) {
        return true;
    }
    // A variable, unless its name can only be random.
    if first == b'$' && (second.is_ascii_alphabetic() || second == b'_') {
        let name = trimmed.get(1..).unwrap_or_default();
        return !is_generated(name, 3.0);
    }
    if let Some(inner) = unwrap(trimmed) {
        return !is_random(inner);
    }
    if bytes.iter().all(|byte| byte == &first) || is_documented_key(trimmed) {
        return true;
    }
    let hidden = trimmed.contains(['\u{2026}', '\u{2022}']);
    let covered = Coverage::of(bytes);
    (hidden || covered.has_filler) && !covered.parts(bytes).any(is_random)
}

/// Returns the text between the brackets of a value; `None` without brackets.
pub(in super::super) fn unwrap(value: &str) -> Option<&str> {
    let pairs = [('<', '>'), ('[', ']'), ('{', '}'), ('%', '%')];
    pairs
        .iter()
        .find_map(|(open, close)| value.strip_prefix(*open)?.strip_suffix(*close))
}

/// Returns true if the body of a token with a known prefix has a random part.
pub(in super::super) fn has_random_part(body: &str) -> bool {
    let bytes = sample(body);
    let covered = Coverage::of(bytes);
    let most = bytes.len().min(TOKEN_PART_MIN);
    let is_varied = |part: &str| {
        let mut seen = [false; 256];
        part.bytes().for_each(|byte| seen[usize::from(byte)] = true);
        seen.iter().filter(|seen| **seen).count() >= part.len().min(5)
    };
    // Without a filler, short parts between runs may add up.
    let least = if covered.has_filler {
        most
    } else {
        most.min(5)
    };
    covered
        .parts(bytes)
        .any(|part| part.len() >= least && is_varied(part))
}

/// Returns the length of a run of one separator at the end of a token: the rule of a table behind it.
pub(in super::super) fn dull_tail(token: &str) -> usize {
    let bytes = token.as_bytes();
    let Some(last) = bytes.last().filter(|last| b"_-.".contains(last)) else {
        return 0;
    };
    let run = bytes.iter().rev().take_while(|byte| *byte == last).count();
    if run >= RUN_MIN { run } else { 0 }
}

/// Returns true for the keys of documentation, which end in this word at the length of a real key.
pub(in super::super) fn is_documented_key(value: &str) -> bool {
    value.ends_with("EXAMPLEKEY") || (value.len() == 20 && value.ends_with("EXAMPLE"))
}

/// Returns true if a part of a placeholder is random.
fn is_random(part: &str) -> bool {
    let shape = ValueShape::of(part);
    part.len() >= PART_MIN
        && shape.blanks == 0
        && shape.digits > 0
        && shape.letters > 0
        && (shape.turns > 0 || shape.digits > 3 || is_generated(part, 3.0))
        && !is_wordy(part)
        && !part.contains(['(', '{', '$'])
}

/// Bytes of a value that are fillers or dull runs.
struct Coverage {
    covered: [bool; SAMPLE_BYTES],
    /// True if there is a filler, and not only a run.
    has_filler: bool,
}

impl Coverage {
    fn of(bytes: &[u8]) -> Self {
        let mut own = Self {
            covered: [false; SAMPLE_BYTES],
            has_filler: false,
        };
        let mut small = [0; SAMPLE_BYTES];
        let small = &mut small[..bytes.len()];
        small.copy_from_slice(bytes);
        small.make_ascii_lowercase();
        let small = &*small;
        for at in 0..small.len() {
            let (from, to) = FIRST_BYTES[usize::from(small[at])];
            for number in &BY_FIRST_BYTE[usize::from(from)..usize::from(to)] {
                let filler = FILLERS[usize::from(*number)];
                if small[at..].starts_with(filler.as_bytes()) && !is_text(small, at, filler) {
                    own.has_filler = true;
                    own.covered[at..at + filler.len()].fill(true);
                }
            }
        }
        own.cover_runs(small);
        own
    }

    /// Covers runs of equal characters, and of consecutive ones such as `1234`.
    fn cover_runs(&mut self, bytes: &[u8]) {
        for step in [0, 1] {
            let mut start = 0;
            for at in 1..=bytes.len() {
                let goes_on = at < bytes.len() && bytes[at] == bytes[at - 1].wrapping_add(step);
                if !goes_on {
                    if at - start >= RUN_MIN {
                        self.covered[start..at].fill(true);
                    }
                    start = at;
                }
            }
        }
    }

    /// Returns the parts of a value that are not covered.
    fn parts<'v>(&self, bytes: &'v [u8]) -> impl Iterator<Item = &'v str> {
        let covered = self.covered;
        let mut at = 0;
        std::iter::from_fn(move || {
            while at < bytes.len() && covered[at] {
                at += 1;
            }
            let start = at;
            while at < bytes.len() && !covered[at] {
                at += 1;
            }
            (start < at).then(|| std::str::from_utf8(&bytes[start..at]).unwrap_or_default())
        })
    }
}

/// Returns true if dots are part of a value that a person chose: too much is left of it to be a shortened one.
fn is_text(value: &[u8], at: usize, filler: &str) -> bool {
    let after = value.len().saturating_sub(at + filler.len());
    filler == "..." && at > SHORTENED_HEAD_MAX && after > SHORTENED_TAIL_MAX
}
