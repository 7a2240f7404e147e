//! Soft line breaks of quoted-printable mail: `=` at the end of a line that goes on.
//!
//! Most base64 ends in `=` too. So a line is joined with the next one only where the text has other signs of mail.

use memchr::memmem;

/// Minimum length of a line that goes on, in bytes; shorter ones need no break.
const LINE_MIN: usize = 4;
/// Lengths of lines as mail programs break them, with the sign.
const WRAPPED: std::ops::RangeInclusive<usize> = 70..=76;
/// Bytes on either side in which signs of mail are looked for.
const REACH: usize = 1_024;
/// Bytes before a line break in which a header of mail is looked for.
const HEADER_REACH: usize = 4_096;

/// Returns true if the `=` at `at`, with a line break of `length` bytes in all, joins two lines.
/// `mail` is true if the text is known to be mail.
pub(super) fn is_soft(bytes: &[u8], at: usize, length: usize, mail: bool) -> bool {
    let goes_on = bytes
        .get(at + length)
        .is_some_and(|b| !matches!(b, b'\n' | b'\r'));
    if mail && goes_on {
        return true;
    }
    let line = line_length(bytes, at);
    if line < LINE_MIN || !goes_on {
        return false;
    }
    let from = at.saturating_sub(REACH);
    let to = bytes.len().min(at + REACH);
    let before = &bytes[from..at];
    let after = &bytes[at + length..to];
    is_wrapped_twice(bytes, at, line, after)
        || is_chained(bytes, at, line, after)
        || has_encoded_character(before)
        || has_encoded_character(after)
        || memmem::find(
            &bytes[at.saturating_sub(HEADER_REACH)..at],
            b"quoted-printable",
        )
        .is_some()
}

/// Returns true if this line or the next one is a part between two soft breaks: a single word that ends in the sign. In
/// lists of settings each such line has a name.
fn is_chained(bytes: &[u8], at: usize, line: usize, after: &[u8]) -> bool {
    let is_part = |text: &[u8]| {
        let ends = |b: &u8| b"=: \t".contains(b);
        !text.is_empty() && text.len() <= *WRAPPED.end() && !text.iter().any(ends)
    };
    let start = at - line;
    let before = bytes.get(..start).unwrap_or_default();
    let before = before.strip_suffix(b"\n").unwrap_or_default();
    let before = before.strip_suffix(b"\r").unwrap_or(before);
    let next = after.split(|b| *b == b'\n').next().unwrap_or_default();
    let next = next.strip_suffix(b"\r").unwrap_or(next);
    (before.ends_with(b"=") && is_part(&bytes[start..at]))
        || (next.len() < after.len() && next.strip_suffix(b"=").is_some_and(is_part))
}

/// Returns true if a text has characters as only quoted-printable mail writes them.
pub(in super::super) fn is_mail(text: &[u8]) -> bool {
    has_encoded_character(text)
}

/// Returns the length of the line that ends at `at`, as far as it matters.
fn line_length(bytes: &[u8], at: usize) -> usize {
    let most = WRAPPED.end() + 1;
    let near = &bytes[at.saturating_sub(most)..at];
    let line = near.rsplit(|b| *b == b'\n').next().unwrap_or(near);
    line.len()
}

/// Returns true if this line and a neighbour have the length at which mail programs break lines.
fn is_wrapped_twice(bytes: &[u8], at: usize, line: usize, after: &[u8]) -> bool {
    if !WRAPPED.contains(&(line + 1)) {
        return false;
    }
    let start = at - line;
    let before = bytes.get(..start).unwrap_or_default().trim_ascii_end();
    let ended = before.len().checked_sub(1);
    let wrapped_before = ended.is_some_and(|end| {
        before[end] == b'=' && WRAPPED.contains(&(line_length(before, end) + 1))
    });
    let next = after.split(|b| *b == b'\n').next().unwrap_or_default();
    let next = next.trim_ascii_end();
    wrapped_before || (next.ends_with(b"=") && WRAPPED.contains(&next.len()))
}

/// Returns true if a text has characters as only this encoding writes them: `=3D`, or several bytes in a row.
fn has_encoded_character(text: &[u8]) -> bool {
    let is_hex = |b: &u8| b.is_ascii_digit() || (b'A'..=b'F').contains(b);
    memchr::memchr_iter(b'=', text).any(|at| match text.get(at + 1..at + 7) {
        Some([b'3', b'D', ..]) => true,
        Some([a, b, b'=', c, d, _]) => [a, b, c, d].into_iter().all(is_hex) && *a >= b'8',
        Some(_) | None => false,
    })
}
