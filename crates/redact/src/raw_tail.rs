//! End of an output that is not redacted yet.

use super::Redactor;

/// Multiple of the limit at which the beginning is dropped.
const FACTOR_MAX: usize = 4;
/// Multiple of the limit that remains: the cut may split a secret, and its rest is before the end that is used.
const FACTOR_KEPT: usize = 3;

/// The last bytes of an output, in pieces as they arrive.
///
/// The text can be read only after redaction: half of a secret, or a key without its first line, has no form any more
/// by which it would be found.
#[derive(Clone)]
pub struct RawTail {
    bytes: Vec<u8>,
    bytes_max: usize,
    is_cut: bool,
}

impl std::fmt::Debug for RawTail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RawTail")
            .field("len", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

impl RawTail {
    /// Creates an empty tail, which has at most `bytes_max` bytes after redaction.
    pub fn new(bytes_max: usize) -> Self {
        Self {
            bytes: Vec::new(),
            bytes_max,
            is_cut: false,
        }
    }

    /// Appends output, and drops the beginning of a long one.
    pub fn append(&mut self, bytes: &[u8]) {
        let most = FACTOR_MAX * self.bytes_max;
        let more = match bytes.len().checked_sub(most) {
            Some(over) => {
                self.is_cut |= over > 0 || !self.bytes.is_empty();
                self.bytes.clear();
                &bytes[over..]
            }
            None => bytes,
        };
        if self.bytes.len() + more.len() > most {
            let kept = (FACTOR_KEPT * self.bytes_max).saturating_sub(more.len());
            self.bytes.drain(..self.bytes.len().saturating_sub(kept));
            self.is_cut = true;
        }
        self.bytes.extend_from_slice(more);
    }

    /// Redacts the text, and then cuts it to the limit.
    pub fn redact(self, redactor: &Redactor) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let mut clean = redactor.redact(&text).into_owned();
        let mut from = clean.len().saturating_sub(self.bytes_max);
        if self.is_cut && from == 0 {
            // Secrets were long: what is left begins in the middle of a line, perhaps in that of a secret.
            from = clean.find('\n').map_or(clean.len(), |end| end + 1);
        }
        while !clean.is_char_boundary(from) {
            from += 1;
        }
        clean.drain(..from);
        clean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the redacted end of a text that arrives in pieces.
    fn tail(text: &str, bytes_max: usize, piece: usize) -> String {
        let mut tail = RawTail::new(bytes_max);
        for bytes in text.as_bytes().chunks(piece) {
            tail.append(bytes);
            assert!(tail.bytes.len() <= FACTOR_MAX * bytes_max);
        }
        tail.redact(&Redactor::default())
    }

    #[test]
    fn tail_has_at_most_its_limit() {
        for piece in [1, 7, 100, 1_000] {
            assert_eq!(tail("short", 10, piece), "short");
            assert_eq!(tail(&"x".repeat(10), 10, piece).len(), 10);
            let long = format!("{}end", "x".repeat(200));
            assert_eq!(tail(&long, 10, piece), "xxxxxxxend");
            assert_eq!(tail(&"é".repeat(100), 9, piece), "é".repeat(4));
        }
    }

    #[test]
    fn tail_is_redacted_before_it_is_cut() {
        let line = |n: usize| format!("line {n} of the output\n");
        let body: String = (0..400).map(line).collect();
        let secret = ["DB_PASS", "WORD=q7Hn2kLm9XvB4cRt8WzY1pQs5dFg\n"].concat();
        // The cut would fall into the password.
        let text = format!("{body}{secret}{}", "y".repeat(90));
        for piece in [10, 64, 4_096, usize::MAX] {
            let clean = tail(&text, 100, piece);
            assert!(clean.len() <= 100);
            assert!(!clean.contains("5dFg"), "{clean}");
        }
    }
}
