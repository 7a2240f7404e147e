//! Blocks that enclose a line: Markdown code fences, hunks of diffs, and injection envelopes (`<heirloom-memory …>` to
//! `</heirloom-memory>`, and the same with `heirloom-rules` and `heirloom-guide`). Text inside an envelope was injected by Heirloom; if an agent repeats it, it contains no
//! signals.

use super::code_fence::CodeFence;
use super::diff_hunk::DiffHunk;

/// Tag names in the start and end tags of injection envelopes.
pub(super) const ENVELOPE_TAGS: [&str; 3] = ["heirloom-memory", "heirloom-rules", "heirloom-guide"];

/// Tag name, start and end tag of each envelope, plain and with the entities that Gemini CLI produces.
const ENVELOPE_FORMS: [(&str, &str, &str); 6] = [
    (ENVELOPE_TAGS[0], "<heirloom-memory", "</heirloom-memory>"),
    (
        ENVELOPE_TAGS[0],
        "&lt;heirloom-memory",
        "&lt;/heirloom-memory&gt;",
    ),
    (ENVELOPE_TAGS[1], "<heirloom-rules", "</heirloom-rules>"),
    (
        ENVELOPE_TAGS[1],
        "&lt;heirloom-rules",
        "&lt;/heirloom-rules&gt;",
    ),
    (ENVELOPE_TAGS[2], "<heirloom-guide", "</heirloom-guide>"),
    (
        ENVELOPE_TAGS[2],
        "&lt;heirloom-guide",
        "&lt;/heirloom-guide&gt;",
    ),
];

/// Blocks that are open at a line: a code fence, a hunk of a diff and an injection envelope.
#[derive(Debug, Clone, Default)]
pub(super) struct EnclosingBlocks {
    pub(super) code: Option<CodeFence>,
    pub(super) hunk: Option<DiffHunk>,
    envelope: Option<OpenEnvelope>,
}

/// An open injection envelope.
#[derive(Debug, Clone)]
struct OpenEnvelope {
    tag: &'static str,
    closes: &'static str,
    /// Number of signals inside, which did not count.
    ignored_signals: u64,
}

/// A line, separated at the tags of envelopes.
#[derive(Debug, Clone, Default)]
pub(super) struct SplitLine {
    /// Text outside of envelopes.
    pub(super) outside: String,
    /// Parts inside of envelopes, with their tags.
    pub(super) inside: Vec<String>,
    /// True if the first part continues an envelope of an earlier line.
    pub(super) begins_inside: bool,
    /// True if a part inside would be a signal.
    pub(super) ignores_signal: bool,
}

impl SplitLine {
    /// Appends text outside of envelopes, separated by a blank: an envelope inside a word must not hide a prefix from
    /// [`neutralize_signals`](super::neutralize_signals).
    fn push_outside(&mut self, text: &str) {
        if !self.outside.is_empty() && !text.is_empty() {
            self.outside.push(' ');
        }
        self.outside.push_str(text);
    }

    /// Returns lines that change the open blocks exactly as this line does, without its text outside of envelopes.
    pub(super) fn blocks_without_text(self, leaves_fence: bool) -> String {
        let mut lines = String::new();
        let mut end_fence = leaves_fence;
        if !self.begins_inside && std::mem::take(&mut end_fence) {
            lines.push('\n');
        }
        for part in self.inside {
            lines.push_str(&part);
            lines.push('\n');
            // The first part that continues an envelope also ends it: otherwise no text would be outside.
            if std::mem::take(&mut end_fence) {
                lines.push('\n');
            }
        }
        lines
    }
}

impl EnclosingBlocks {
    /// Returns true if a line without any mark can end a block.
    pub(super) fn can_end_anywhere(&self) -> bool {
        self.hunk.is_some() || self.code.as_ref().is_some_and(CodeFence::is_quoted)
    }

    /// Returns the tag of an envelope that has no end yet and the number of signals in it, if there are any.
    pub(super) fn ignored_in_envelope(&self) -> Option<(&'static str, u64)> {
        let open = self.envelope.as_ref();
        open.filter(|open| open.ignored_signals > 0)
            .map(|open| (open.tag, open.ignored_signals))
    }

    /// Returns true if this line has text inside an envelope.
    pub(super) fn touches_envelope(&self, line: &str) -> bool {
        self.envelope.is_some() || ENVELOPE_TAGS.iter().any(|tag| line.contains(tag))
    }

    /// Separates a line into the text outside of envelopes and the parts inside. An envelope without an end includes
    /// the following lines.
    pub(super) fn split_envelopes(
        &mut self,
        line: &str,
        is_signal: &dyn Fn(&str) -> bool,
    ) -> SplitLine {
        let mut split = SplitLine {
            begins_inside: self.envelope.is_some(),
            ..SplitLine::default()
        };
        // Start of the present part inside, with its tag, and of the text that is searched next.
        let (mut part, mut from) = (0, 0);
        loop {
            let rest = &line[from..];
            let Some(fence) = &mut self.envelope else {
                let forms = ENVELOPE_FORMS.iter();
                let found = forms.filter_map(|form| rest.find(form.1).map(|at| (at, form)));
                let Some((at, (tag, opens, closes))) = found.min() else {
                    split.push_outside(rest);
                    return split;
                };
                split.push_outside(&rest[..at]);
                part = from + at;
                from = part + opens.len();
                self.envelope = Some(OpenEnvelope {
                    tag,
                    closes,
                    ignored_signals: 0,
                });
                continue;
            };
            let end = rest.find(fence.closes);
            if is_signal(&rest[..end.unwrap_or(rest.len())]) {
                fence.ignored_signals += 1;
                split.ignores_signal = true;
            }
            let Some(end) = end else {
                split.inside.push(line[part..].to_owned());
                return split;
            };
            from += end + fence.closes.len();
            split.inside.push(line[part..from].to_owned());
            self.envelope = None;
        }
    }
}
