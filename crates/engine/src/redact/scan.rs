//! One pass over a text: from anchor to anchor, and what each finds.

use super::anchors::{self, Look};
use super::formats::FORMATS;
use super::{pattern, shape};

/// What every mark begins with.
pub(super) const MARK: &str = "[redacted:";

/// A secret that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
}

/// A pass. Its work is linear in the text: what a look at one place may read is bounded, or remembered.
pub(super) struct Scan<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) hits: Vec<Hit>,
    /// The end of the last name that was looked at.
    pub(super) name_end: usize,
    /// Where the last command stands that takes secrets in options.
    pub(super) curl: Option<usize>,
    pub(super) mysql: Option<usize>,
    /// No block of a key ends behind here.
    pub(super) no_end: bool,
    /// The last line whose end was looked for, and the last bare value.
    pub(super) line: (usize, usize),
    pub(super) runs: [(usize, usize); 2],
    /// Formats that failed after a long look, and how far that reached.
    failed: Vec<(usize, usize)>,
}

/// Every secret in `text`, in no order; some may overlap.
pub(super) fn hits(text: &str) -> Vec<Hit> {
    let mut scan = Scan {
        text,
        bytes: text.as_bytes(),
        hits: Vec::new(),
        name_end: 0,
        curl: None,
        mysql: None,
        no_end: false,
        line: (0, 0),
        runs: [(0, 0); 2],
        failed: Vec::new(),
    };
    let mut at = 0;
    while let Some(place) = anchors::next(scan.bytes, at) {
        at = (place + 1).max(scan.look(place));
    }
    scan.hits
}

/// The end of the mark that begins at `at`.
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

impl Scan<'_> {
    /// Looks at an anchor; the scan goes on behind the answer at the earliest.
    fn look(&mut self, at: usize) -> usize {
        // What is inside of a secret goes with it.
        if self
            .hits
            .last()
            .is_some_and(|hit| (hit.start..hit.end).contains(&at))
        {
            return at;
        }
        let mut go_on = at;
        let bytes = self.bytes;
        anchors::at(bytes, at, |look| match look {
            Look::Format(number) => self.format(number, at),
            Look::Name => self.name(at),
            Look::Bearer => self.bearer(at),
            Look::Url => self.url(at),
            Look::Pem => self.pem(at),
            Look::PuttyLines => self.putty(at),
            Look::Mark => go_on = mark_end(bytes, at).unwrap_or(at),
            Look::UserOption => self.user_option(at),
            Look::PasswordOption => self.password_option(at),
            Look::Curl => {
                if self.word_at(at, b"curl") {
                    self.curl = Some(at);
                }
            }
            Look::Mysql => {
                if at > 0 && self.word_at(at - 1, b"mysql") {
                    self.mysql = Some(at);
                }
            }
            Look::IdentifiedBy => self.identified_by(at),
        });
        go_on
    }

    fn format(&mut self, number: usize, anchor: usize) {
        let bytes = self.bytes;
        let Some(start) = anchor.checked_sub(pattern::fixed_length(FORMATS[number].back)) else {
            return;
        };
        let inner = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
        if (start > 0 && inner(start - 1)) || !self.text.is_char_boundary(start) {
            return;
        }
        if self
            .failed
            .iter()
            .any(|&(format, until)| format == number && start < until)
        {
            return;
        }
        let mut reached = start;
        match self.end_of_format(number, start, anchor, &mut reached) {
            Some(end) => {
                let said = &self.text[start..end];
                if !shape::placeholder(said) && shape::varied(said) {
                    self.push(start, end, FORMATS[number].kind);
                }
            }
            // The same look a little further on would fail as well, and be as long.
            None if reached > anchor + 256 => {
                self.failed.retain(|&(format, _)| format != number);
                self.failed.push((number, reached));
            }
            None => {}
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
        pattern::end_of(format.back, self.bytes, start, reached)?;
        let (end, open) = pattern::end_of(format.front, self.bytes, anchor, reached)?;
        let goes_on = self.bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
        (open || !goes_on).then_some(end)
    }

    /// The kind of format that the whole of `start..end` has.
    pub(super) fn format_of(&self, start: usize, end: usize) -> Option<&'static str> {
        let mut kind = None;
        anchors::at(self.bytes, start, |look| {
            if let Look::Format(number) = look
                && FORMATS[number].back.is_empty()
                && self.end_of_format(number, start, start, &mut 0) == Some(end)
            {
                kind = Some(FORMATS[number].kind);
            }
        });
        kind
    }

    /// Notes a secret. A format tells more than a name does.
    pub(super) fn push(&mut self, start: usize, end: usize, kind: &'static str) {
        if start < end && self.text.is_char_boundary(start) && self.text.is_char_boundary(end) {
            let kind = self.format_of(start, end).unwrap_or(kind);
            self.hits.push(Hit { start, end, kind });
        }
    }

    /// Whether a word begins at `at`, in any case.
    pub(super) fn word_at(&self, at: usize, word: &[u8]) -> bool {
        let begins = at == 0 || !self.bytes[at - 1].is_ascii_alphanumeric();
        begins && self.says(at, word)
    }

    /// Whether these letters stand at `at`, in any case.
    pub(super) fn says(&self, at: usize, word: &[u8]) -> bool {
        self.bytes
            .get(at..at + word.len())
            .is_some_and(|here| here.eq_ignore_ascii_case(word))
    }

    /// The end of the line that `at` is in.
    pub(super) fn line_end(&mut self, at: usize) -> usize {
        let (from, to) = self.line;
        if (from..to).contains(&at) {
            return to;
        }
        let rest = self.bytes.get(at..).unwrap_or_default();
        let end = memchr::memchr2(b'\n', b'\r', rest).map_or(self.bytes.len(), |n| at + n);
        self.line = (at, end);
        end
    }

    /// The first byte from `at` on that is no blank.
    pub(super) fn skip_blanks(&self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let blanks = rest
            .iter()
            .take(64)
            .take_while(|b| matches!(b, b' ' | b'\t'))
            .count();
        at + blanks
    }

    pub(super) fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }
}
