//! Output of an agent during an iteration: final text, errors, changed files and usage, within limits.

use crate::Observer;
use crate::run_loop::RunEvent;
use crate::run_loop::iteration_outcome::AgentReport;
use heirloom_agents::process::child_process::Chunk;
use heirloom_agents::streams::StreamPiece;
use heirloom_engine::Redacted;
use heirloom_model::event_stream::{StreamEvent, Usage};
use heirloom_model::{Fault, limits};
use heirloom_redact::{RawTail, Redactor};

/// Output of an agent while it arrives, except its signals.
pub(super) struct OutputCapture<'r> {
    redactor: &'r Redactor,
    errors: RawTail,
    words: RawTail,
    captured: CapturedOutput,
}

/// Output of an agent, except its signals; its texts are redacted.
#[derive(Default)]
pub(super) struct CapturedOutput {
    pub(super) report: AgentReport,
    pub(super) usage: Option<Usage>,
    /// End of the model's text, or of plain output.
    pub(super) words: Redacted<String>,
    pub(super) files: Vec<String>,
    /// True if the stream named more files than are recorded.
    pub(super) more_files: bool,
    pub(super) fault: Option<Fault>,
}

impl<'r> OutputCapture<'r> {
    pub(super) fn new(redactor: &'r Redactor) -> Self {
        Self {
            redactor,
            errors: RawTail::new(limits::STDERR_TAIL_BYTES_MAX),
            words: RawTail::new(limits::FINAL_TEXT_BYTES_MAX),
            captured: CapturedOutput::default(),
        }
    }

    pub(super) fn chunk(
        &mut self,
        chunk: Chunk<'_>,
        observer: &mut Observer<'_>,
        watch: &mut dyn FnMut(&RunEvent<'_>),
    ) {
        match chunk {
            Chunk::Tick => watch(&RunEvent::Tick),
            Chunk::Stderr(bytes) => {
                self.errors.append(bytes);
                watch(&RunEvent::Stderr(bytes));
            }
            Chunk::Stdout(bytes) => {
                watch(&RunEvent::Stdout(bytes));
                self.observe(observer, Some(bytes), watch);
            }
        }
    }

    /// Passes bytes, or the end of the output, to the observer and reports new signals and diagnostics.
    pub(super) fn observe(
        &mut self,
        observer: &mut Observer<'_>,
        bytes: Option<&[u8]>,
        watch: &mut dyn FnMut(&RunEvent<'_>),
    ) {
        let before = observer.observed_so_far();
        let (signals, diagnostics) = (before.signals.len(), before.diagnostics.len());
        let on_piece = &mut |piece: &StreamPiece<'_>| self.piece(piece, watch);
        let read = match bytes {
            Some(bytes) => observer.push(bytes, on_piece),
            None => observer.finish(on_piece),
        };
        self.captured.fault = self.captured.fault.take().or(read.err());
        let now = observer.observed_so_far();
        now.signals[signals..]
            .iter()
            .for_each(|one| watch(&RunEvent::Signal(one)));
        now.diagnostics[diagnostics..]
            .iter()
            .for_each(|one| watch(&RunEvent::Diagnostic(one)));
    }

    fn piece(&mut self, piece: &StreamPiece<'_>, watch: &mut dyn FnMut(&RunEvent<'_>)) {
        let event = match piece {
            StreamPiece::Raw(bytes) => {
                watch(&RunEvent::Plain(bytes));
                return self.words.append(bytes);
            }
            StreamPiece::Event(event) => event,
        };
        watch(&RunEvent::Stream(event));
        let report = &mut self.captured.report;
        match event {
            StreamEvent::Text { text, .. } => {
                self.words.append(text.as_bytes());
                self.words.append(b"\n");
            }
            StreamEvent::Usage(usage) => self.captured.usage = Some(*usage),
            StreamEvent::Error(error) => {
                report.stream_error = Some(Redacted::new(error, self.redactor));
            }
            StreamEvent::FileChanged(path) => self.captured.add_file(path),
            StreamEvent::Finished { failed } => report.stream_failed = *failed,
            StreamEvent::SessionId(_)
            | StreamEvent::ToolCall { .. }
            | StreamEvent::ToolResult { .. }
            | StreamEvent::Unreadable { .. } => {}
        }
    }

    /// Redacts the texts after the end of the output, and cuts them to their limits.
    pub(super) fn end(self) -> CapturedOutput {
        let mut captured = self.captured;
        captured.report.stderr_tail = Redacted::from_tail(self.errors, self.redactor);
        captured.words = Redacted::from_tail(self.words, self.redactor);
        captured
    }
}

impl CapturedOutput {
    fn add_file(&mut self, path: &String) {
        if self.files.contains(path) {
            return;
        }
        if self.files.len() < limits::FILES_PER_OUTCOME_MAX {
            self.files.push(path.clone());
        } else {
            self.more_files = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use limits::{FINAL_TEXT_BYTES_MAX, STDERR_TAIL_BYTES_MAX};

    fn captured(text: &str, errors: &str, piece: usize) -> CapturedOutput {
        let redactor = Redactor::default();
        let mut output = OutputCapture::new(&redactor);
        for bytes in text.as_bytes().chunks(piece) {
            output.words.append(bytes);
        }
        for bytes in errors.as_bytes().chunks(piece) {
            output.errors.append(bytes);
        }
        output.end()
    }

    #[test]
    fn changed_files_are_capped() {
        let mut output = CapturedOutput::default();
        for _ in 0..2 {
            for n in 0..limits::FILES_PER_OUTCOME_MAX {
                output.add_file(&format!("{n}"));
            }
        }
        assert_eq!(output.files.len(), limits::FILES_PER_OUTCOME_MAX);
        assert!(!output.more_files, "duplicates do not count");
        output.add_file(&"another".to_owned());
        assert!(output.more_files);
    }

    #[test]
    fn output_tails_are_cut_to_limits() {
        let text = |bytes: usize| format!("<{}>", "x".repeat(bytes - 2));
        let (most, most_errors) = (FINAL_TEXT_BYTES_MAX, STDERR_TAIL_BYTES_MAX);
        for piece in [1_000, usize::MAX] {
            let whole = captured(&text(most), &text(most_errors), piece);
            assert_eq!(*whole.words, text(most));
            assert_eq!(*whole.report.stderr_tail, text(most_errors));
            for over in [1, most, 5 * most] {
                let cut = captured(&text(most + over), &text(most_errors + over), piece);
                assert_eq!(cut.words.len(), most);
                assert_eq!(cut.report.stderr_tail.len(), most_errors);
                for end in [cut.words, cut.report.stderr_tail] {
                    assert!(!end.contains('<') && end.ends_with('>'));
                }
            }
        }
    }
}
