//! Blocks of private keys: PEM, OpenSSH, PGP, SSH2 and PuTTY; also inside of strings, and cut off.

use super::scan::Scan;
use memchr::memmem;

pub(super) const KIND: &str = "private-key";
/// Letters of base64 that make a key: what is shorter is an example.
const LETTERS_MIN: usize = 24;
/// Most headers of a block.
const HEADERS_MAX: usize = 8;
/// Longest label: `BEGIN` to the dashes.
const LABEL_MAX: usize = 64;

impl Scan<'_> {
    /// `-----BEGIN … PRIVATE KEY-----`, with the anchor at `BEGIN`.
    pub(super) fn pem(&mut self, at: usize) {
        let before = self.bytes.get(..at).unwrap_or_default();
        let (dashes, end) = if before.ends_with(b"-----") {
            (5, &b"-----END"[..])
        } else if before.ends_with(b"---- ") {
            (5, &b"---- END"[..])
        } else {
            return;
        };
        let rest = self.bytes.get(at..).unwrap_or_default();
        let rest = rest.get(..LABEL_MAX).unwrap_or(rest);
        let Some(close) = memmem::find(rest, b"----") else {
            return;
        };
        let label = &rest[..close];
        if !label.starts_with(b"BEGIN ") || memmem::find(label, b"PRIVATE KEY").is_none() {
            return;
        }
        let start = at - dashes;
        let body = at + close + self.run_of(at + close, b'-');
        if !self.no_end {
            let rest = self.bytes.get(body..).unwrap_or_default();
            match memmem::find(rest, end) {
                None => self.no_end = true,
                Some(n) if is_key(&rest[..n]) => {
                    let end = self.block_end(body + n + end.len());
                    return self.push(start, end, KIND);
                }
                Some(_) => return,
            }
        }
        if let Some((_, end)) = self.key_lines(body) {
            self.push(start, end, KIND);
        }
    }

    /// `Private-Lines: 14` of a PuTTY key, with the anchor at `-Lines`.
    pub(super) fn putty(&mut self, at: usize) {
        let Some(start) = at
            .checked_sub(7)
            .filter(|&n| self.says(n, b"private-lines:"))
        else {
            return;
        };
        let number = self.skip_blanks(start + 14);
        let digits = self.bytes[number..]
            .iter()
            .take(6)
            .take_while(|b| b.is_ascii_digit())
            .count();
        if let Some((start, end)) = self.key_lines(number + digits) {
            self.push(start, end, KIND);
        }
    }

    fn run_of(&self, at: usize, byte: u8) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        rest.iter().take_while(|&&b| b == byte).count()
    }

    /// The end of the closing line, from behind its `END` on.
    fn block_end(&self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let rest = rest.get(..LABEL_MAX).unwrap_or(rest);
        match memmem::find(rest, b"----") {
            Some(n) => at + n + self.run_of(at + n, b'-'),
            None => at,
        }
    }

    /// The lines of base64 from `at` on, with the headers before them: from where to where, if they make a key.
    fn key_lines(&self, at: usize) -> Option<(usize, usize)> {
        let (mut here, mut first, mut end, mut letters, mut full) = (at, None, at, 0, false);
        let mut headers = 0;
        loop {
            here = self.between_lines(here);
            let run = self.bytes[here..]
                .iter()
                .take_while(|&&b| is_base64(b))
                .count();
            let behind = self.byte(here + run);
            let label = self.label(here);
            if letters == 0 && label > 0 && headers < HEADERS_MAX {
                headers += 1;
                here = self.header_end(here + label);
                continue;
            }
            // The last line of a key is short.
            let last = full && run > 0 && !matches!(behind, b' ' | b'-' | b'.' | b',');
            if run < 16 && !last {
                break;
            }
            first = first.or(Some(here));
            (letters, full) = (letters + run, run >= 40);
            here += run;
            end = here;
        }
        (letters >= LETTERS_MIN).then(|| (first.unwrap_or(at), end))
    }

    /// Behind the breaks, blanks, quotes and escapes between two lines of a key.
    fn between_lines(&self, mut at: usize) -> usize {
        loop {
            match self.byte(at) {
                b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'\'' | b'>' | b'|' => at += 1,
                b'\\' if matches!(self.byte(at + 1), b'n' | b'r' | b't' | b'\\' | b'\n') => at += 2,
                _ => return at,
            }
        }
    }

    /// The length of a header's name that stands at `at`, its colon included; 0 if none does.
    fn label(&self, at: usize) -> usize {
        let name = self.bytes[at..]
            .iter()
            .take(24)
            .take_while(|b| b.is_ascii_alphabetic() || **b == b'-')
            .count();
        let named = name > 0 && self.byte(at + name) == b':';
        if named { name + 1 } else { 0 }
    }

    /// The end of a header: of its line, or the escape that ends it.
    fn header_end(&self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let rest = rest.get(..200).unwrap_or(rest);
        memchr::memchr3(b'\n', b'\\', b'"', rest).map_or(at + rest.len(), |n| at + n)
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Whether what stands between `BEGIN` and `END` is a key and no program that looks for one.
fn is_key(body: &[u8]) -> bool {
    let (mut letters, mut longest, mut run) = (0, 0, 0);
    for &byte in body {
        if is_base64(byte) {
            letters += 1;
            run += 1;
            longest = longest.max(run);
        } else {
            run = 0;
        }
    }
    letters >= LETTERS_MIN && longest >= 16 && letters * 3 >= body.len() * 2
}
