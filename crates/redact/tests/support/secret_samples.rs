//! Samples of secrets, generated from expressions at run time, so that no scanner finds one in a source file.

/// Pseudo-random number generator: xorshift.
pub(crate) struct Random(u64);

impl Random {
    /// Creates a generator; equal seeds give equal samples.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `most`.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    /// Returns characters of a class, as a key generator would choose them.
    pub(crate) fn text(&mut self, class: &str, count: usize) -> String {
        let all = members(class);
        (0..count).map(|_| all[self.below(all.len())]).collect()
    }

    /// Generates a text that matches an expression of the table.
    pub(crate) fn sample(&mut self, expression: &str) -> String {
        let mut made = String::new();
        let mut rest = expression;
        while let Some(open) = rest.find('[') {
            made.push_str(&rest[..open]);
            let close = open + rest[open..].find("]{").unwrap();
            let end = close + rest[close..].find('}').unwrap();
            let (least, most) = match rest[close + 2..end].split_once(',') {
                None => (&rest[close + 2..end], &rest[close + 2..end]),
                Some((least, most)) => (least, most),
            };
            let least: usize = least.parse().unwrap();
            let most = most.parse().unwrap_or(least + 6);
            let count = least + self.below(most.min(least + 6) - least + 1);
            made.push_str(&self.text(&rest[open + 1..close], count));
            rest = &rest[end + 1..];
        }
        made + rest
    }
}

/// Returns the characters of a class.
fn members(class: &str) -> Vec<char> {
    let chars: Vec<char> = class.chars().collect();
    let mut all = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if chars.get(at + 1) == Some(&'-') && at + 2 < chars.len() {
            all.extend(chars[at]..=chars[at + 2]);
            at += 3;
        } else {
            all.push(chars[at]);
            at += 1;
        }
    }
    all
}
