//! Output of a run for a person: the agent's output as it comes, and a progress line.

use crate::terminal_output::Output;
use heirloom_capture::{EndReason, IterationReport, RunEvent, RunReport};
use heirloom_engine::MirrorLoadOutcome;
use heirloom_model::event_stream::{StreamEvent, Usage};
use heirloom_model::limits::PLAIN_LINE_BYTES_MAX;
use heirloom_model::section::DIRECTIVES;
use heirloom_model::text;
use heirloom_model::text::EscapedPath;
use heirloom_model::text::counted;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// Shows a run: the agent's output on standard output, everything else on standard error.
pub(in crate::commands) struct RunScreen<'o> {
    out: &'o mut Output,
    spinner: Option<ProgressBar>,
    phase: Option<String>,
    iteration: u32,
    pending: usize,
    last_signal: String,
    usage: Option<Usage>,
    line: Vec<u8>,
    /// Begun line of the agent's standard error, which arrives in pieces.
    error_line: Vec<u8>,
}

impl<'o> RunScreen<'o> {
    /// Creates a screen on `out`; the progress line is only shown on a terminal.
    pub(in crate::commands) fn new(out: &'o mut Output, phase: Option<String>) -> Self {
        let spinner = out.shows_progress().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self {
            out,
            spinner,
            phase,
            iteration: 0,
            pending: 0,
            last_signal: String::new(),
            usage: None,
            line: Vec::new(),
            error_line: Vec::new(),
        }
    }

    /// Shows one event.
    pub(in crate::commands) fn show_event(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Mirror(load) => self.show_mirror_load(load),
            RunEvent::IterationStarted {
                iteration,
                adapter,
                context,
                pending,
            } => {
                (self.iteration, self.pending, self.usage) = (*iteration, *pending, None);
                self.last_signal.clear();
                let chars = text::chars(&context.text);
                let steps = pending_steps(*pending);
                self.talk(&format!(
                    "iteration {iteration} · {} · context {chars} characters · {steps}",
                    adapter.as_str()
                ));
                // Nothing else says that a part of what a person named is missing.
                let notes = context.notes.iter();
                for note in notes.filter(|note| note.starts_with(DIRECTIVES)) {
                    self.talk(&format!("  ! {note}"));
                }
            }
            RunEvent::Plain(bytes) => self.output(bytes),
            RunEvent::Stdout(_) | RunEvent::Tick => {}
            RunEvent::Stderr(bytes) => self.show_error_output(bytes),
            RunEvent::Stream(event) => self.show_stream_event(event),
            RunEvent::Signal(one) => {
                self.last_signal = format!(
                    "{} {}",
                    one.signal.verb.as_str(),
                    text::excerpt(&one.signal.text, 60)
                );
                let line = format!("  + {} ({})", self.last_signal, one.outcome.as_str());
                self.talk(&line);
            }
            RunEvent::Diagnostic(one) => {
                self.talk(&format!("  ! line {}: {}", one.line, one.message))
            }
            RunEvent::IterationEnded(report) => self.show_iteration_end(report),
        }
        self.update_progress();
    }

    /// Shows a text of Heirloom between the agent's output.
    pub(in crate::commands) fn show_text(&mut self, words: &str) {
        if !self.out.json {
            self.output(text::replace_control_chars(words).as_bytes());
        }
    }

    fn show_mirror_load(&mut self, load: &MirrorLoadOutcome) {
        if let Some(line) = describe_mirror_load(load) {
            self.talk(&line);
        }
    }

    fn show_stream_event(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::Text { text, .. } => {
                let words = format!("{}\n", text::replace_control_chars(text).trim_end());
                self.output(words.as_bytes());
            }
            StreamEvent::ToolCall { name, input } => {
                self.talk(&format!("  > {name} {}", text::excerpt(input, 80)))
            }
            StreamEvent::Usage(usage) => self.usage = Some(*usage),
            StreamEvent::Error(error) => self.talk(&format!("  ! {error}")),
            StreamEvent::FileChanged(path) => self.talk(&format!("  ~ {path}")),
            StreamEvent::Unreadable { .. }
            | StreamEvent::SessionId(_)
            | StreamEvent::ToolResult { .. }
            | StreamEvent::Finished { .. } => {}
        }
    }

    /// Shows the complete lines of the agent's standard error.
    fn show_error_output(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.error_line.extend(part);
            if part.ends_with(b"\n") || self.error_line.len() > PLAIN_LINE_BYTES_MAX {
                self.end_error_line();
            }
        }
    }

    /// Shows the begun line of the agent's standard error.
    fn end_error_line(&mut self) {
        let line = std::mem::take(&mut self.error_line);
        if !line.is_empty() {
            let line = String::from_utf8_lossy(&line).into_owned();
            self.talk(&format!("  | {}", line.trim_end_matches(['\r', '\n'])));
        }
    }

    fn show_iteration_end(&mut self, report: &IterationReport) {
        self.end_error_line();
        let rest = std::mem::take(&mut self.line);
        if !rest.is_empty() {
            self.write(&rest);
            self.write(b"\n");
        }
        let outcome = &report.outcome;
        self.pending = report.pending;
        let seconds = Duration::from_millis(report.duration_ms).as_secs_f64();
        let tokens = report
            .usage
            .map(|u| format!(" · {} tokens", u.input + u.cached + u.output))
            .unwrap_or_default();
        let word = if report.interrupted {
            "interrupted"
        } else {
            outcome.status.as_str()
        };
        self.talk(&format!(
            "iteration {} · {word} · {seconds:.1} s · {} · {}{tokens}",
            report.iteration,
            describe_signals(report.signals),
            pending_steps(report.pending)
        ));
        if let Some(error) = &outcome.error {
            self.talk(&format!("  ! {}", text::excerpt(error, 300)));
        }
    }

    /// Shows the result of the run.
    pub(in crate::commands) fn show_end(&mut self, report: &RunReport) {
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
        }
        let n = report.iterations.len();
        self.talk(&format!(
            "ended: {} ({n} iteration{})",
            describe_reason(report.reason),
            if n == 1 { "" } else { "s" }
        ));
    }

    /// Writes complete lines only, so that the progress line never splits one.
    fn output(&mut self, bytes: &[u8]) {
        if self.spinner.is_none() {
            return self.write(bytes);
        }
        self.line.extend_from_slice(bytes);
        let end = match self.line.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => end + 1,
            None if self.line.len() > 1 << 16 => self.line.len(),
            None => return,
        };
        let ready: Vec<u8> = self.line.drain(..end).collect();
        self.write(&ready);
    }

    fn write(&mut self, bytes: &[u8]) {
        let out = &mut *self.out;
        let mut print = || {
            out.bytes(bytes);
            out.flush();
        };
        match &self.spinner {
            Some(spinner) => spinner.suspend(print),
            None => print(),
        }
    }

    fn talk(&mut self, line: &str) {
        let out = &mut *self.out;
        match &self.spinner {
            Some(spinner) => spinner.suspend(|| out.talk(line)),
            None => out.talk(line),
        }
    }

    fn update_progress(&self) {
        let Some(spinner) = &self.spinner else { return };
        let phase = self
            .phase
            .as_deref()
            .map(|phase| format!(" · {phase}"))
            .unwrap_or_default();
        let tokens = self
            .usage
            .map(|u| format!(" · {} tokens", u.input + u.cached + u.output))
            .unwrap_or_default();
        let last = if self.last_signal.is_empty() {
            String::new()
        } else {
            format!(" · {}", self.last_signal)
        };
        spinner.set_message(format!(
            "iteration {}{phase} · {} pending{tokens}{last}",
            self.iteration, self.pending
        ));
    }
}

fn describe_signals(count: usize) -> String {
    match count {
        0 => "no signal".to_owned(),
        n => counted(n, "signal", "signals"),
    }
}

fn pending_steps(count: usize) -> String {
    match count {
        0 => "no step pending".to_owned(),
        n => counted(n, "step pending", "steps pending"),
    }
}

fn describe_reason(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Complete => "the task is complete",
        EndReason::IterationLimit => {
            "the limit of iterations is reached; the same command continues"
        }
        EndReason::Stalled => "the same failure was repeated too often",
        EndReason::Interrupted => "interrupted; everything is saved, the same command continues",
    }
}

/// Describes the load of an existing mirror for a person; `None` if there was none.
pub(in crate::commands) fn describe_mirror_load(load: &MirrorLoadOutcome) -> Option<String> {
    match load {
        MirrorLoadOutcome::Nothing => None,
        MirrorLoadOutcome::Imported(report) => Some(format!(
            "imported {} of the memory file",
            counted(report.created, "entry", "entries")
        )),
        MirrorLoadOutcome::SetAside { path, problem } => Some(format!(
            "the memory file is not used ({problem}): it was moved to {}, and is rebuilt from the store",
            path.to_escaped()
        )),
    }
}
