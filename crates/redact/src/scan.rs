//! Scanner: one pass over a text, from anchor to anchor.

use super::prefilter::{self, Anchor};
use super::secret_formats::FORMATS;
use super::text_bytes::TextBytes as _;
use super::{pattern, value_shape};

/// Start of every mark.
pub(super) const MARK: &str = "[redacted:";

/// A secret found by the scanner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScanHit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
}

/// State of a scan. Its work is linear in the length of the text: the reach of each check is bounded, or its result
/// is cached.
pub(super) struct Scanner<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) hits: Vec<ScanHit>,
    /// Offsets at which invisible escapes were: words may begin there.
    breaks: &'t [usize],
    /// Range of the last secrets that overlap or touch.
    pub(super) covered: std::ops::Range<usize>,
    /// End of the last noun of another language.
    pub(super) noun_end: usize,
    /// End of the last table with secrets.
    pub(super) table_end: usize,
    /// End of the last checked name.
    pub(super) name_end: usize,
    /// Offset of the last `curl`, which takes secrets in options.
    pub(super) last_curl: Option<usize>,
    pub(super) last_mysql: Option<usize>,
    /// True if no key block ends after the current offset.
    pub(super) no_block_end: bool,
    /// Last line with its end, and the last bare values.
    pub(super) line_cache: (usize, usize),
    pub(super) bare_value_cache: [(usize, usize); 2],
    /// Formats that failed after a long match attempt, and the last offset that was read.
    failed_formats: Vec<(usize, usize)>,
}

/// Finds every secret in `text`, without order; some may overlap.
pub(super) fn hits(text: &str, breaks: &[usize]) -> Vec<ScanHit> {
    let mut scan = Scanner {
        text,
        bytes: text.as_bytes(),
        hits: Vec::new(),
        breaks,
        covered: 0..0,
        noun_end: 0,
        table_end: 0,
        name_end: 0,
        last_curl: None,
        last_mysql: None,
        no_block_end: false,
        line_cache: (0, 0),
        bare_value_cache: [(0, 0); 2],
        failed_formats: Vec::new(),
    };
    scan.match_old_vault(0);
    let mut at = 0;
    while let Some(place) = prefilter::next(scan.bytes, at) {
        at = (place + 1).max(scan.inspect_anchor(place));
    }
    scan.hits
}

/// Returns the end of the mark that begins at `at`.
pub(super) fn mark_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?.strip_prefix(MARK.as_bytes())?;
    let most = heirloom_model::limits::REDACT_KIND_BYTES_MAX;
    let kind = rest
        .iter()
        .take(most + 1)
        .take_while(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || **b == b'-')
        .count();
    let whole = (1..=most).contains(&kind) && rest.get(kind) == Some(&b']');
    whole.then_some(at + MARK.len() + kind + 1)
}

impl Scanner<'_> {
    pub(super) fn match_format(&mut self, number: usize, anchor: usize) {
        let Some(start) = anchor.checked_sub(pattern::fixed_length(FORMATS[number].before)) else {
            return;
        };
        if !self.begins_word(start) || !self.text.is_char_boundary(start) {
            return;
        }
        if self
            .failed_formats
            .iter()
            .any(|&(format, until)| format == number && start < until)
        {
            return;
        }
        let mut reached = start;
        match self.end_of_format(number, start, anchor, &mut reached) {
            Some(end) => {
                let end = end - value_shape::dull_tail(&self.text[start..end]);
                let text = &self.text[start..end];
                let prefix = FORMATS[number].pattern.find('[').unwrap_or(0);
                let body = text.get(prefix..).unwrap_or(text);
                let other = value_shape::is_name_like(body) || self.names_a_file(body, end);
                let random = value_shape::has_random_part(body);
                if random && !value_shape::is_documented_key(text) && !other {
                    self.push(start, end, FORMATS[number].kind);
                } else {
                    self.note_failure(number, anchor, end);
                }
            }
            None => self.note_failure(number, anchor, reached),
        }
    }

    /// Returns true if a word may begin at `at`: after anything but a letter or digit, and after an escape.
    pub(super) fn begins_word(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else {
            return true;
        };
        !self.bytes.byte(before).is_ascii_alphanumeric()
            || (before > 0 && self.bytes.byte(before - 1) == b'\\')
            || self.breaks.binary_search(&at).is_ok()
    }

    /// Records that a format failed after a long match attempt: an attempt a little further on would also fail, and
    /// take as long.
    fn note_failure(&mut self, number: usize, anchor: usize, reached: usize) {
        if reached > anchor + 256 {
            self.failed_formats.retain(|&(format, _)| format != number);
            self.failed_formats.push((number, reached));
        }
    }

    fn end_of_format(
        &self,
        number: usize,
        start: usize,
        anchor: usize,
        reached: &mut usize,
    ) -> Option<usize> {
        let format = &FORMATS[number];
        pattern::match_end(format.before, self.bytes, start, reached)?;
        let (end, open) = pattern::match_end(format.pattern, self.bytes, anchor, reached)?;
        let goes_on = self.bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
        (open || !goes_on).then_some(end)
    }

    /// Returns the kind of the format that `start..end` matches as a whole.
    pub(super) fn format_of(&self, start: usize, end: usize) -> Option<&'static str> {
        let mut kind = None;
        prefilter::at(self.bytes, start, |look| {
            if let Anchor::Format(number) = look
                && FORMATS[number].before.is_empty()
                && self.end_of_format(number, start, start, &mut 0) == Some(end)
            {
                kind = Some(FORMATS[number].kind);
            }
        });
        kind
    }

    /// Returns true if a checksum is followed by a file extension: `icon-<checksum>.png`.
    fn names_a_file(&self, body: &str, end: usize) -> bool {
        const ENDINGS: &[&[u8]] = &[
            b".png", b".svg", b".jpg", b".jpeg", b".gif", b".ico", b".webp", b".css", b".js",
            b".map", b".woff",
        ];
        self.bytes.byte(end) == b'.'
            && ENDINGS
                .iter()
                .any(|ending| self.bytes.has_text_at(end, ending))
            && body.bytes().all(|b| b.is_ascii_hexdigit())
    }

    /// Adds a secret. The kind of a format takes precedence over that of a name.
    pub(super) fn push(&mut self, start: usize, end: usize, kind: &'static str) {
        if start < end && self.text.is_char_boundary(start) && self.text.is_char_boundary(end) {
            let kind = self.format_of(start, end).unwrap_or(kind);
            self.hits.push(ScanHit { start, end, kind });
            self.covered = match start <= self.covered.end && self.covered.start <= end {
                true => self.covered.start.min(start)..self.covered.end.max(end),
                false => start..end,
            };
        }
    }

    /// Returns the end of the line that contains `at`.
    pub(super) fn line_end(&mut self, at: usize) -> usize {
        let (from, to) = self.line_cache;
        if (from..to).contains(&at) {
            return to;
        }
        let rest = self.bytes.get(at..).unwrap_or_default();
        let end = memchr::memchr2(b'\n', b'\r', rest).map_or(self.bytes.len(), |n| at + n);
        self.line_cache = (at, end);
        end
    }
}
