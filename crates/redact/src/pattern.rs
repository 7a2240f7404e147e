//! Matcher for the patterns of the format table, without backtracking.

/// Returns the end of the match of `pattern` at `at`, and true if its last class has no maximum; `None` if it does
/// not match. `reached` is raised to the last inspected offset.
pub(super) fn match_end(
    pattern: &str,
    bytes: &[u8],
    at: usize,
    reached: &mut usize,
) -> Option<(usize, bool)> {
    let pattern = pattern.as_bytes();
    let (mut p, mut here, mut open) = (0, at, false);
    while let Some(&c) = pattern.get(p) {
        if c != b'[' {
            if bytes.get(here) != Some(&c) {
                return None;
            }
            (p, here, open) = (p + 1, here + 1, false);
            continue;
        }
        let class = Class::parse(pattern, p)?;
        let count_max = class.count_max.unwrap_or(usize::MAX);
        let rest = bytes.get(here..).unwrap_or_default();
        let found = rest
            .iter()
            .take(count_max)
            .take_while(|&&byte| class.contains(byte))
            .count();
        here += found;
        *reached = (*reached).max(here);
        if found < class.count_min {
            return None;
        }
        (p, open) = (class.end, class.count_max.is_none());
    }
    Some((here, open))
}

/// Returns the length in bytes of a pattern that has only literals and classes with an exact count.
pub(super) fn fixed_length(pattern: &str) -> usize {
    let pattern = pattern.as_bytes();
    let (mut p, mut length) = (0, 0);
    while p < pattern.len() {
        match (pattern[p] == b'[')
            .then(|| Class::parse(pattern, p))
            .flatten()
        {
            Some(class) => (p, length) = (class.end, length + class.count_min),
            None => (p, length) = (p + 1, length + 1),
        }
    }
    length
}

/// A class with its repetition: `[a-z_-]{3,}`.
struct Class {
    /// One bit for each ASCII character.
    members: u128,
    count_min: usize,
    count_max: Option<usize>,
    /// Offset in the pattern after the class.
    end: usize,
}

impl Class {
    fn parse(pattern: &[u8], start: usize) -> Option<Self> {
        let close = start + pattern.get(start..)?.iter().position(|&b| b == b']')?;
        let members = pattern.get(start + 1..close)?;
        let rest = pattern.get(close + 1..)?;
        let length = rest.iter().position(|&b| b == b'}')?;
        let count = std::str::from_utf8(rest.get(1..length)?).ok()?;
        let (count_min, count_max) = match count.split_once(',') {
            None => (count.parse().ok()?, Some(count.parse().ok()?)),
            Some((count_min, "")) => (count_min.parse().ok()?, None),
            Some((count_min, count_max)) => {
                (count_min.parse().ok()?, Some(count_max.parse().ok()?))
            }
        };
        Some(Self {
            members: Self::bits(members),
            count_min,
            count_max,
            end: close + 2 + length,
        })
    }

    /// Returns the characters of a class as bits.
    fn bits(members: &[u8]) -> u128 {
        let mut bits = 0;
        let mut at = 0;
        while let Some(&low) = members.get(at) {
            let range = match (members.get(at + 1), members.get(at + 2)) {
                (Some(b'-'), Some(&high)) => low..=high,
                _ => low..=low,
            };
            at += if range.start() == range.end() { 1 } else { 3 };
            for byte in range {
                bits |= 1 << (byte & 127);
            }
        }
        bits
    }

    fn contains(&self, byte: u8) -> bool {
        byte < 128 && self.members >> byte & 1 == 1
    }
}
