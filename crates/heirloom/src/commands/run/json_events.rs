//! Output of a run as JSON, one event per line.

use crate::terminal_output::Output;
use heirloom_capture::{IterationReport, RunEvent, RunReport};
use heirloom_engine::MirrorLoadOutcome;
use heirloom_model::event_stream::StreamEvent;
use heirloom_model::text;
use serde_json::{Value, json};

/// Prints each event as a line.
pub(super) struct JsonEventPrinter<'o> {
    out: &'o mut Output,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl<'o> JsonEventPrinter<'o> {
    /// Creates a printer that writes to `out`.
    pub(super) fn new(out: &'o mut Output) -> Self {
        Self {
            out,
            stdout: Vec::new(),
            stderr: Vec::new(),
        }
    }

    /// Prints one event.
    pub(super) fn print_event(&mut self, event: &RunEvent<'_>) {
        let value = match event {
            RunEvent::Mirror(load) => mirror_value(load),
            RunEvent::IterationStarted {
                iteration,
                adapter,
                context,
                pending,
            } => json!({
                "event": "iteration_started",
                "iteration": iteration,
                "agent": adapter.as_str(),
                "pending": pending,
                "context_chars": text::chars(&context.text),
                "context": context.text,
                "notes": context.notes,
            }),
            RunEvent::Stdout(bytes) => return self.print_lines("stdout", bytes),
            RunEvent::Stderr(bytes) => return self.print_lines("stderr", bytes),
            RunEvent::Signal(one) => json!({
                "event": "signal",
                "verb": one.signal.verb.as_str(),
                "text": one.signal.text,
                "line": one.signal.line,
                "outcome": one.outcome.as_str(),
            }),
            RunEvent::Diagnostic(one) => {
                json!({"event": "diagnostic", "line": one.line, "message": one.message})
            }
            RunEvent::Stream(StreamEvent::SessionId(id)) => {
                json!({"event": "agent_session", "id": id})
            }
            RunEvent::Plain(_) | RunEvent::Stream(_) | RunEvent::Tick => return,
            RunEvent::IterationEnded(report) => {
                self.print_rest();
                let mut value = iteration_value(report);
                value["event"] = json!("iteration_ended");
                value
            }
        };
        self.out.value(&value);
        self.out.flush();
    }

    /// Prints complete lines of output; an unfinished line is buffered.
    fn print_lines(&mut self, stream: &str, bytes: &[u8]) {
        let buffer = if stream == "stdout" {
            &mut self.stdout
        } else {
            &mut self.stderr
        };
        buffer.extend_from_slice(bytes);
        let end = match buffer.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => end + 1,
            None if buffer.len() > 1 << 20 => buffer.len(),
            None => return,
        };
        let ready: Vec<u8> = buffer.drain(..end).collect();
        self.print(stream, &ready);
    }

    fn print_rest(&mut self) {
        for (stream, bytes) in [
            ("stdout", std::mem::take(&mut self.stdout)),
            ("stderr", std::mem::take(&mut self.stderr)),
        ] {
            if !bytes.is_empty() {
                self.print(stream, &bytes);
            }
        }
    }

    fn print(&mut self, stream: &str, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        self.out
            .value(&json!({"event": "output", "stream": stream, "text": text}));
    }

    /// Prints the result of the run.
    pub(super) fn print_end(&mut self, report: &RunReport) {
        let iterations: Vec<_> = report.iterations.iter().map(iteration_value).collect();
        self.out.value(&json!({
            "event": "ended",
            "reason": report.reason.as_str(),
            "success": report.success(),
            "task": report.task,
            "session": report.session,
            "iterations": iterations,
        }));
    }
}

fn mirror_value(load: &MirrorLoadOutcome) -> Value {
    match load {
        MirrorLoadOutcome::Nothing => json!({"event": "mirror", "outcome": "nothing"}),
        MirrorLoadOutcome::Imported(report) => json!({
            "event": "mirror",
            "outcome": "imported",
            "created": report.created,
            "known": report.known,
            "diagnostics": report.diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>(),
        }),
        MirrorLoadOutcome::SetAside { path, problem } => json!({
            "event": "mirror",
            "outcome": "set-aside",
            "path": path.to_string_lossy().into_owned(),
            "problem": problem,
        }),
    }
}

fn iteration_value(report: &IterationReport) -> Value {
    let outcome = &report.outcome;
    json!({
        "iteration": report.iteration,
        "success": outcome.success,
        "status": outcome.status.as_str(),
        "message": outcome.message,
        "error": outcome.error,
        "files": outcome.files,
        "pr_number": outcome.pr_number,
        "branch": outcome.branch,
        "duration_ms": report.duration_ms,
        "signals": report.signals,
        "pending": report.pending,
        "interrupted": report.interrupted,
        "tokens": report.usage.map(|u| json!({"input": u.input, "cached": u.cached, "output": u.output})),
    })
}
