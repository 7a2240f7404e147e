//! Decoded views: the surroundings of escapes, decoded, with a map of offsets back to the text.
//!
//! Only the surroundings of escapes are decoded and scanned a second time, so that a text without escapes costs only
//! the search for them. Text that was encoded more than once is decoded repeatedly, up to a limit.

use super::escapes::{self, Escape};
use super::private_keys;
use std::ops::Range;

/// Maximum number of decodings: JSON in JSON in a URL, with colours, and two more.
const ROUNDS: usize = 6;
/// Bytes on either side of an escape that are read with it if lines are longer; words are always read whole.
const REACH: usize = 256;
/// Maximum number of line breaks between two escapes of one view.
const LINES: usize = 2;

/// A secret in a text, at any depth of encoding.
#[derive(Debug)]
pub(super) struct DecodedFinding<K> {
    pub(super) range: Range<usize>,
    pub(super) kind: K,
}

/// Finds secrets around the escapes of `text`. `scan` is called with each decoded view and the offsets at which
/// invisible escapes were in it, and adds its findings.
pub(super) fn find<K: AsRef<str>>(
    text: &str,
    scan: &mut impl FnMut(&str, &[usize], &mut Vec<DecodedFinding<K>>),
) -> Vec<DecodedFinding<K>> {
    let mut found = Vec::new();
    decode(text, ROUNDS, false, scan, &mut found);
    found
}

fn decode<K: AsRef<str>>(
    text: &str,
    rounds: usize,
    mail: bool,
    scan: &mut impl FnMut(&str, &[usize], &mut Vec<DecodedFinding<K>>),
    found: &mut Vec<DecodedFinding<K>>,
) {
    let mut view = View::default();
    let mut from = 0;
    while let Some(end) = view.read(text, from, mail) {
        from = end;
        let mut inside = Vec::new();
        let breaks = view.invisible_offsets();
        scan(&view.text, &breaks, &mut inside);
        if rounds > 1 {
            // What shows that a text is mail may be decoded before its line breaks are.
            let source = text.as_bytes().get(view.start..end).unwrap_or_default();
            let mail = mail || escapes::is_mail(source);
            decode(&view.text, rounds - 1, mail, scan, &mut inside);
        }
        found.extend(inside.into_iter().filter_map(|one| view.source_of(one)));
    }
}

/// An escape of a view.
#[derive(Debug, Clone, Copy)]
struct EscapeSpan {
    /// Range of the escape in the text.
    start: usize,
    end: usize,
    /// Range of its character in the view; empty if it is invisible.
    view_start: usize,
    view_end: usize,
}

/// A decoded part of a text.
#[derive(Debug, Default)]
struct View {
    text: String,
    /// Offset of the part in the text.
    start: usize,
    /// The decoded escapes, in order.
    units: Vec<EscapeSpan>,
    /// All escapes of the part, while it is read.
    escapes: Vec<(usize, Escape)>,
}

impl View {
    /// Reads the next part with escapes from `from` on; returns its end.
    fn read(&mut self, text: &str, from: usize, mail: bool) -> Option<usize> {
        let bytes = text.as_bytes();
        self.text.clear();
        self.units.clear();
        let (first, mut escape) = escapes::next(bytes, from, mail)?;
        self.start = window_start(text, from, first);
        self.escapes.clear();
        let mut at = first;
        let mut done;
        loop {
            self.escapes.push((at, escape));
            done = at + escape.length;
            match escapes::next_within(bytes, done, REACH, mail) {
                Some((next, following)) if is_near(bytes, done, next) => {
                    (at, escape) = (next, following);
                }
                _ => break,
            }
        }
        // Decode the outer escapes first, because they may split others.
        let outer = self.escapes.iter().any(|(_, escape)| escape.is_outer);
        let end = window_end(text, done);
        let mut copied = self.start;
        for (at, escape) in &self.escapes {
            if outer && !escape.is_outer {
                continue;
            }
            self.text.push_str(text.get(copied..*at).unwrap_or(""));
            let view_start = self.text.len();
            self.text.extend(escape.read_as);
            copied = at + escape.length;
            self.units.push(EscapeSpan {
                start: *at,
                end: copied,
                view_start,
                view_end: self.text.len(),
            });
        }
        self.text.push_str(text.get(copied..end).unwrap_or(""));
        Some(end)
    }

    /// Returns the offsets in the view at which invisible escapes were, sorted.
    fn invisible_offsets(&self) -> Vec<usize> {
        let invisible = self
            .units
            .iter()
            .filter(|unit| unit.view_start == unit.view_end);
        invisible.map(|unit| unit.view_start).collect()
    }

    /// Maps a secret of the view to the text. Escapes are included whole.
    fn source_of<K: AsRef<str>>(&self, one: DecodedFinding<K>) -> Option<DecodedFinding<K>> {
        let mut end = one.range.end;
        // An unescaped quote ends a string of the text; a longer finding would join two strings.
        if one.kind.as_ref() != private_keys::KIND {
            let text = self.text.as_bytes().get(one.range.clone())?;
            let own = |n: &usize| self.unit_at(one.range.start + n).is_none();
            if let Some(n) = memchr::memchr_iter(b'"', text).find(own) {
                end = one.range.start + n;
            }
        }
        let last = end.checked_sub(1).filter(|last| *last >= one.range.start)?;
        let start = self.source(one.range.start).start;
        Some(DecodedFinding {
            range: start..self.source(last).end,
            kind: one.kind,
        })
    }

    /// Returns the index of the first escape that ends after `at`.
    fn unit_after(&self, at: usize) -> usize {
        self.units.partition_point(|unit| unit.view_end <= at)
    }

    /// Returns the escape that the byte at `at` was decoded from.
    fn unit_at(&self, at: usize) -> Option<&EscapeSpan> {
        let unit = self.units.get(self.unit_after(at))?;
        (unit.view_start <= at).then_some(unit)
    }

    /// Returns the range of the text that the byte at `at` was decoded from.
    fn source(&self, at: usize) -> Range<usize> {
        if let Some(unit) = self.unit_at(at) {
            return unit.start..unit.end;
        }
        let before = self.unit_after(at).checked_sub(1);
        let start = match before.and_then(|n| self.units.get(n)) {
            Some(unit) => unit.end + (at - unit.view_end),
            None => self.start + at,
        };
        start..start + 1
    }
}

/// Returns true if two escapes belong to one view: on one line, or few lines apart.
fn is_near(bytes: &[u8], from: usize, to: usize) -> bool {
    let between = bytes.get(from..to).unwrap_or_default();
    memchr::memchr_iter(b'\n', between).nth(LINES).is_none()
}

/// Returns the start of the part around `at`, not before `from`: that of its line, or of a word some way before.
fn window_start(text: &str, from: usize, at: usize) -> usize {
    let bytes = text.as_bytes();
    let near = at.saturating_sub(REACH).max(from);
    if let Some(n) = memchr::memrchr(b'\n', &bytes[near..at]) {
        return near + n + 1;
    }
    let word = bytes[from..near].iter().rev().take_while(|b| is_inner(**b));
    near - word.count()
}

/// Returns the end of the part after `at`: that of the line, or of a word some way after.
fn window_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let near = (at + REACH).min(bytes.len());
    if let Some(n) = memchr::memchr(b'\n', &bytes[at..near]) {
        return at + n + 1;
    }
    let word = bytes[near..].iter().take_while(|b| is_inner(**b));
    near + word.count()
}

/// Returns true if a word continues with this byte; a view begins and ends between words.
fn is_inner(byte: u8) -> bool {
    !matches!(
        byte,
        b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<' | b'>' | b',' | b';'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the occurrences of `word` in the decoded text.
    fn places(text: &str, word: &str) -> Vec<String> {
        let found = find(text, &mut |view: &str, _: &[usize], found| {
            found.extend(view.match_indices(word).map(|(at, _)| DecodedFinding {
                range: at..at + word.len(),
                kind: "x",
            }));
        });
        let mut all: Vec<_> = found
            .iter()
            .map(|one| text[one.range.clone()].to_owned())
            .collect();
        all.dedup();
        all
    }

    #[test]
    fn position_in_view_maps_to_whole_escape() {
        assert_eq!(places("a\\nword b", "word"), ["word"]);
        assert_eq!(places("a\\u003dword b", "=word"), ["\\u003dword"]);
        assert_eq!(places("\x1b[31mword\x1b[0m b", "word"), ["word"]);
        assert_eq!(places("wo\x1b[31mrd b", "word"), ["wo\x1b[31mrd"]);
        assert_eq!(places("x=3Dy, and one wo=\nrd more", "word"), ["wo=\nrd"]);
        assert_eq!(places("é%77or%64é", "word"), ["%77or%64"]);
        assert_eq!(places("no escape: word", "word"), Vec::<String>::new());
    }

    #[test]
    fn text_encoded_more_than_once_is_decoded() {
        assert_eq!(places("x\\\\nword", "\nword"), ["\\\\nword"]);
        assert_eq!(places("x%255Cu0077ord", "word"), ["%255Cu0077ord"]);
        assert_eq!(places("x\\\\u001b[1mword", "word"), ["word"]);
        assert_eq!(places("&amp;#119;ord", "word"), ["&amp;#119;ord"]);
    }

    #[test]
    fn unescaped_quote_ends_finding() {
        assert_eq!(places("\\n wo\"rd", "wo\"rd"), ["wo"]);
        assert_eq!(places("\\n wo\\\"rd", "wo\"rd"), ["wo\\\"rd"]);
    }

    #[test]
    fn view_of_long_line_has_whole_words() {
        let word = "w".repeat(5_000);
        let text = format!(
            "{} {word}\\_{word} {}",
            "x ".repeat(5_000),
            "y ".repeat(5_000)
        );
        let read = format!("{word}_{word}");
        assert_eq!(places(&text, &read), [format!("{word}\\_{word}")]);
        let mut sizes = Vec::new();
        find::<&str>(&text, &mut |view: &str, _, _| sizes.push(view.len()));
        assert!(sizes.iter().all(|size| *size < 12_000), "{sizes:?}");
    }

    #[test]
    fn distant_escapes_have_separate_views() {
        let text = format!("a\\nb\n{}c\\nd\n", "a line without any\n".repeat(100));
        let mut pieces = Vec::new();
        find::<&str>(&text, &mut |view: &str, _, _| pieces.push(view.to_owned()));
        assert_eq!(pieces, ["a\nb\n", "c\nd\n"]);
    }
}
