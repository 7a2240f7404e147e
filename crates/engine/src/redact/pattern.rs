//! Matching the expressions of the table, at one place and in one pass.

/// The end of `pattern` in `bytes` from `at` on, and whether its last class takes any length; `None` if it
/// does not match there. `reached` is how far it looked.
pub(super) fn end_of(
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
        let class = Class::at(pattern, p)?;
        let most = class.most.unwrap_or(usize::MAX);
        let rest = bytes.get(here..).unwrap_or_default();
        let found = rest
            .iter()
            .take(most)
            .take_while(|&&byte| class.has(byte))
            .count();
        here += found;
        *reached = (*reached).max(here);
        if found < class.least {
            return None;
        }
        (p, open) = (class.end, class.most.is_none());
    }
    Some((here, open))
}

/// How many bytes a pattern takes that has only literals and classes with an exact number.
pub(super) fn fixed_length(pattern: &str) -> usize {
    let pattern = pattern.as_bytes();
    let (mut p, mut length) = (0, 0);
    while p < pattern.len() {
        match (pattern[p] == b'[')
            .then(|| Class::at(pattern, p))
            .flatten()
        {
            Some(class) => (p, length) = (class.end, length + class.least),
            None => (p, length) = (p + 1, length + 1),
        }
    }
    length
}

/// A class with its repetition: `[a-z_-]{3,}`.
struct Class<'p> {
    members: &'p [u8],
    least: usize,
    most: Option<usize>,
    /// Where the pattern goes on.
    end: usize,
}

impl<'p> Class<'p> {
    fn at(pattern: &'p [u8], start: usize) -> Option<Self> {
        let close = start + pattern.get(start..)?.iter().position(|&b| b == b']')?;
        let members = pattern.get(start + 1..close)?;
        let rest = pattern.get(close + 1..)?;
        let length = rest.iter().position(|&b| b == b'}')?;
        let count = std::str::from_utf8(rest.get(1..length)?).ok()?;
        let (least, most) = match count.split_once(',') {
            None => (count.parse().ok()?, Some(count.parse().ok()?)),
            Some((least, "")) => (least.parse().ok()?, None),
            Some((least, most)) => (least.parse().ok()?, Some(most.parse().ok()?)),
        };
        Some(Self {
            members,
            least,
            most,
            end: close + 2 + length,
        })
    }

    fn has(&self, byte: u8) -> bool {
        let mut at = 0;
        while let Some(&low) = self.members.get(at) {
            match (self.members.get(at + 1), self.members.get(at + 2)) {
                (Some(b'-'), Some(&high)) => {
                    if (low..=high).contains(&byte) {
                        return true;
                    }
                    at += 3;
                }
                _ => {
                    if low == byte {
                        return true;
                    }
                    at += 1;
                }
            }
        }
        false
    }
}
