//! Private key blocks: PEM, OpenSSH, PGP, SSH2 and PuTTY; also inside of strings, and truncated.

use super::scan::Scanner;
use super::text_bytes::TextBytes as _;
use memchr::memmem;
use std::ops::{Deref, DerefMut};

pub(super) const KIND: &str = "private-key";
/// Minimum number of base64 characters of a key; shorter ones are examples.
const LETTERS_MIN: usize = 24;
/// Minimum number of base64 characters of a key without a `BEGIN` line: an Ed25519 key has 64.
const BODY_LETTERS_MIN: usize = 48;
/// Maximum number of headers in a block.
const HEADERS_MAX: usize = 8;
/// Maximum length of a label in bytes, from `BEGIN` to the dashes.
const LABEL_MAX: usize = 64;

/// Scan of key blocks.
pub(super) struct KeyScan<'s, 't>(pub(super) &'s mut Scanner<'t>);

impl<'t> Deref for KeyScan<'_, 't> {
    type Target = Scanner<'t>;

    fn deref(&self) -> &Scanner<'t> {
        self.0
    }
}

impl<'t> DerefMut for KeyScan<'_, 't> {
    fn deref_mut(&mut self) -> &mut Scanner<'t> {
        self.0
    }
}

impl KeyScan<'_, '_> {
    /// Matches `-----BEGIN … PRIVATE KEY-----`, with the anchor at `BEGIN`.
    pub(super) fn match_pem(&mut self, at: usize) {
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
        let block = KeyBlock { bytes: self.bytes };
        let body = at + close + block.run_length(at + close, b'-');
        if !self.no_block_end {
            let rest = self.bytes.get(body..).unwrap_or_default();
            match memmem::find(rest, end) {
                None => self.no_block_end = true,
                Some(n) if is_key(&rest[..n]) => {
                    let end = block.block_end(body + n + end.len());
                    return self.push(start, end, KIND);
                }
                Some(_) => return,
            }
        }
        if let Some((_, end)) = block.base64_lines(body) {
            self.push(start, end, KIND);
        }
    }

    /// Matches `-----END … PRIVATE KEY-----` whose beginning is missing, with the anchor at `-EN`.
    pub(super) fn match_pem_end(&mut self, at: usize) {
        let Some(dashes) = at.checked_sub(4) else {
            return;
        };
        let label = at + 1;
        let rest = self.bytes.get(label..).unwrap_or_default();
        let rest = rest.get(..LABEL_MAX).unwrap_or(rest);
        let is_end = self.bytes.get(dashes..label) == Some(b"-----")
            && rest.starts_with(b"END ")
            && memmem::find(rest, b"----")
                .is_some_and(|close| memmem::find(&rest[..close], b"PRIVATE KEY").is_some());
        if !is_end {
            return;
        }
        let block = KeyBlock { bytes: self.bytes };
        if let Some(start) = block.base64_lines_before(dashes) {
            let end = block.block_end(label);
            // A part of the block may be found already, by the first bytes of its key.
            while self.hits.last().is_some_and(|hit| hit.start >= start) {
                self.hits.pop();
            }
            self.push(start, end, KIND);
        }
    }

    /// Matches the base64 of a private key without a `BEGIN` line, with the anchor at its first bytes.
    pub(super) fn match_key_body(&mut self, at: usize) {
        let begins = at == 0 || !is_base64(self.bytes[at - 1]);
        let rest = self.bytes.get(at..).unwrap_or_default();
        if !begins || !is_key_start(rest) {
            return;
        }
        let block = KeyBlock { bytes: self.bytes };
        if let Some((start, end)) = block.base64_lines(at)
            && end - start >= BODY_LETTERS_MIN
            && start == at
        {
            self.push(start, end, KIND);
        }
    }

    /// Matches `Private-Lines: 14` of a PuTTY key, with the anchor at `-Lines`.
    pub(super) fn match_putty(&mut self, at: usize) {
        let Some(start) = at
            .checked_sub(7)
            .filter(|&n| self.bytes.has_text_at(n, b"private-lines:"))
        else {
            return;
        };
        let number = self.bytes.skip_blanks(start + 14);
        let digits = self.bytes[number..]
            .iter()
            .take(6)
            .take_while(|b| b.is_ascii_digit())
            .count();
        let block = KeyBlock { bytes: self.bytes };
        if let Some((start, end)) = block.base64_lines(number + digits) {
            self.push(start, end, KIND);
        }
    }
}

/// Returns true if base64 begins as the usual encodings of a private key do: an ASN.1 sequence with a version number,
/// or the magic word of OpenSSH.
fn is_key_start(rest: &[u8]) -> bool {
    const STARTS: [&[u8]; 6] = [
        b"MHcCAQEE",
        b"MHQCAQEE",
        b"MIGHAgEA",
        b"MIGkAgEB",
        b"MC4CAQAw",
        b"b3BlbnNzaC1rZXktdjE",
    ];
    let is_rsa = rest.starts_with(b"MII") && rest.get(6..9) == Some(b"IBA");
    is_rsa || STARTS.iter().any(|start| rest.starts_with(start))
}

/// Reader of the lines of a key block.
#[derive(Clone, Copy)]
struct KeyBlock<'t> {
    /// The whole text.
    bytes: &'t [u8],
}

impl KeyBlock<'_> {
    /// Returns the number of bytes from `at` on that are `byte`.
    fn run_length(self, at: usize, byte: u8) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        rest.iter().take_while(|&&b| b == byte).count()
    }

    /// Returns the end of the closing line, from the end of its `END` on.
    fn block_end(self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let rest = rest.get(..LABEL_MAX).unwrap_or(rest);
        match memmem::find(rest, b"----") {
            Some(n) => at + n + self.run_length(at + n, b'-'),
            None => at,
        }
    }

    /// Returns the range of the base64 lines from `at` on, after any headers; `None` if they are too short for a key.
    fn base64_lines(self, at: usize) -> Option<(usize, usize)> {
        let (mut here, mut first, mut end, mut letters, mut full) = (at, None, at, 0, false);
        let mut headers = 0;
        loop {
            here = self.skip_line_breaks(here);
            let run = self.bytes[here..]
                .iter()
                .take_while(|&&b| is_base64(b))
                .count();
            let after = self.bytes.byte(here + run);
            let label = self.header_name_length(here);
            if letters == 0 && label > 0 && headers < HEADERS_MAX {
                headers += 1;
                here = self.header_end(here + label);
                continue;
            }
            // The last line of a key is short.
            let last = full && run > 0 && !matches!(after, b' ' | b'-' | b'.' | b',');
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

    /// Returns the start of the base64 lines before `end`; `None` if they are too short for a key.
    fn base64_lines_before(self, end: usize) -> Option<usize> {
        let (mut here, mut start, mut letters) = (end, end, 0);
        loop {
            here = self.skip_line_breaks_back(here);
            let before = self.bytes.get(..here).unwrap_or_default();
            let run = before.iter().rev().take_while(|b| is_base64(**b)).count();
            // In a string the letter of an escape, as in `\\n`, is in front of the line.
            let escaped = run > 0
                && run < here
                && self.bytes.byte(here - run - 1) == b'\\'
                && matches!(self.bytes.byte(here - run), b'n' | b'r' | b't');
            let run = run - usize::from(escaped);
            let last = letters == 0 && run > 0;
            if run < 16 && !last {
                break;
            }
            letters += run;
            here -= run;
            start = here;
        }
        (letters >= LETTERS_MIN).then_some(start)
    }

    /// Skips line breaks, blanks, quotes and escapes in front of `at`.
    fn skip_line_breaks_back(self, mut at: usize) -> usize {
        loop {
            let before = self.bytes.get(..at).unwrap_or_default();
            match before {
                [
                    ..,
                    b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'\'' | b'>' | b'|',
                ] => at -= 1,
                [.., b'\\', b'n' | b'r' | b't'] => at -= 2,
                _ => return at,
            }
        }
    }

    /// Skips line breaks, blanks, quotes and escapes between two lines of a key.
    fn skip_line_breaks(self, mut at: usize) -> usize {
        loop {
            match self.bytes.byte(at) {
                b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'\'' | b'>' | b'|' => at += 1,
                b'\\' if matches!(self.bytes.byte(at + 1), b'n' | b'r' | b't' | b'\\' | b'\n') => {
                    at += 2
                }
                _ => return at,
            }
        }
    }

    /// Returns the length of the header name at `at`, with its colon; 0 if there is no header.
    fn header_name_length(self, at: usize) -> usize {
        let name = self.bytes[at..]
            .iter()
            .take(24)
            .take_while(|b| b.is_ascii_alphabetic() || **b == b'-')
            .count();
        let named = name > 0 && self.bytes.byte(at + name) == b':';
        if named { name + 1 } else { 0 }
    }

    /// Returns the end of a header: of its line, or the escape that ends it.
    fn header_end(self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let rest = rest.get(..200).unwrap_or(rest);
        memchr::memchr3(b'\n', b'\\', b'"', rest).map_or(at + rest.len(), |n| at + n)
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Returns true if the text between `BEGIN` and `END` is a key, and not the source of a program that looks for keys.
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
