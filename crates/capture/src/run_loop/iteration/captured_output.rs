//! Output of an agent during an iteration: final text, errors, changed files and usage, within limits.

use crate::Observer;
use crate::run_loop::RunEvent;
use crate::run_loop::iteration_outcome::AgentReport;
use heirloom_agents::process::child_process::Chunk;
use heirloom_agents::streams::StreamPiece;
use heirloom_model::event_stream::{StreamEvent, Usage};
use heirloom_model::{Fault, limits};

/// Output of an agent, except its signals.
#[derive(Default)]
pub(super) struct CapturedOutput {
    pub(super) report: AgentReport,
    pub(super) usage: Option<Usage>,
    /// End of the model's text, or of plain output.
    pub(super) words: String,
    pub(super) files: Vec<String>,
    /// True if the stream named more files than are recorded.
    pub(super) more_files: bool,
    pub(super) fault: Option<Fault>,
}

impl CapturedOutput {
    pub(super) fn chunk(
        &mut self,
        chunk: Chunk<'_>,
        observer: &mut Observer<'_>,
        watch: &mut dyn FnMut(&RunEvent<'_>),
    ) {
        match chunk {
            Chunk::Tick => watch(&RunEvent::Tick),
            Chunk::Stderr(bytes) => {
                append_tail(
                    &mut self.report.stderr_tail,
                    &String::from_utf8_lossy(bytes),
                    limits::STDERR_TAIL_BYTES_MAX,
                );
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
        self.fault = self.fault.take().or(read.err());
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
                return self.append_text(&String::from_utf8_lossy(bytes));
            }
            StreamPiece::Event(event) => event,
        };
        watch(&RunEvent::Stream(event));
        match event {
            StreamEvent::Text { text, .. } => self.append_text(&format!("{text}\n")),
            StreamEvent::Usage(usage) => self.usage = Some(*usage),
            StreamEvent::Error(error) => self.report.stream_error = Some(error.clone()),
            StreamEvent::FileChanged(path) => self.add_file(path),
            StreamEvent::Finished { failed } => self.report.stream_failed = *failed,
            StreamEvent::SessionId(_)
            | StreamEvent::ToolCall { .. }
            | StreamEvent::ToolResult { .. }
            | StreamEvent::Unreadable { .. } => {}
        }
    }

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

    /// Truncates the texts to their limits after the end of the output.
    pub(super) fn end(&mut self) {
        truncate_start(&mut self.report.stderr_tail, limits::STDERR_TAIL_BYTES_MAX);
        truncate_start(&mut self.words, limits::FINAL_TEXT_BYTES_MAX);
    }

    fn append_text(&mut self, words: &str) {
        append_tail(&mut self.words, words, limits::FINAL_TEXT_BYTES_MAX);
    }
}

/// Appends text; truncates only at twice the limit, so that each byte is moved at most once.
fn append_tail(tail: &mut String, more: &str, bytes_max: usize) {
    tail.push_str(more);
    if tail.len() > 2 * bytes_max {
        truncate_start(tail, bytes_max);
    }
}

/// Removes the beginning so that at most `bytes_max` bytes remain.
fn truncate_start(tail: &mut String, bytes_max: usize) {
    let mut cut = tail.len().saturating_sub(bytes_max);
    while !tail.is_char_boundary(cut) {
        cut += 1;
    }
    tail.drain(..cut);
}

#[cfg(test)]
mod tests {
    use super::*;
    use limits::{FINAL_TEXT_BYTES_MAX, STDERR_TAIL_BYTES_MAX};

    fn captured(text: &str, errors: &str, piece: usize) -> CapturedOutput {
        let mut output = CapturedOutput::default();
        for words in text.as_bytes().chunks(piece) {
            output.append_text(std::str::from_utf8(words).unwrap());
        }
        for words in errors.as_bytes().chunks(piece) {
            let words = std::str::from_utf8(words).unwrap();
            append_tail(&mut output.report.stderr_tail, words, STDERR_TAIL_BYTES_MAX);
        }
        assert!(output.words.len() <= 2 * FINAL_TEXT_BYTES_MAX);
        assert!(output.report.stderr_tail.len() <= 2 * STDERR_TAIL_BYTES_MAX);
        output.end();
        output
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
            assert_eq!(whole.words, text(most));
            assert_eq!(whole.report.stderr_tail, text(most_errors));
            for over in [1, most, 5 * most] {
                let cut = captured(&text(most + over), &text(most_errors + over), piece);
                assert_eq!(cut.words.len(), most);
                assert_eq!(cut.report.stderr_tail.len(), most_errors);
                for end in [cut.words, cut.report.stderr_tail] {
                    assert!(!end.contains('<') && end.ends_with('>'));
                }
            }
        }
        // Cuts at a character boundary.
        let mut tail = "éé".to_owned();
        truncate_start(&mut tail, 3);
        assert_eq!(tail, "é");
    }
}
