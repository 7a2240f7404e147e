//! One iteration of a run.

use super::iteration_outcome::{self, AgentReport, Ending};
use super::{IterationReport, RunEvent, RunLoop};
use crate::{Observation, Observer};
use heirloom_agents::adapters::{self, Launch, PromptInput};
use heirloom_agents::hooks::{neutralize_tags, wrap_rules_in_envelope};
use heirloom_agents::process::child_process::{self, Chunk, EndStatus, LaunchSpec, PumpLimits};
use heirloom_agents::process::git_state::{self, GitState};
use heirloom_agents::signals;
use heirloom_agents::streams::StreamPiece;
use heirloom_engine::{ContextRequest, TaskChange};
use heirloom_fs::durable;
use heirloom_fs::project_fs;
use heirloom_model::context::Context;
use heirloom_model::event_stream::{StreamEvent, Usage};
use heirloom_model::signal::Diagnostic;
use heirloom_model::{Fault, IterationOutcome, Role, Scope, limits, text};
use serde_json::json;
use std::ffi::OsString;
use std::time::Duration;

/// Output of an agent, except its signals.
#[derive(Default)]
struct CapturedOutput {
    report: AgentReport,
    usage: Option<Usage>,
    /// End of the model's text, or of plain output.
    words: String,
    files: Vec<String>,
    /// True if the stream named more files than are recorded.
    more_files: bool,
    fault: Option<Fault>,
}

impl RunLoop<'_> {
    /// Runs the agent once and records the outcome.
    pub(super) fn iterate(
        &mut self,
        iteration: u32,
        watch: &mut dyn FnMut(&RunEvent<'_>),
    ) -> Result<IterationReport, Fault> {
        let engine = self.engine;
        let request = self.context_request();
        let context = engine.contexts().build(&request)?;
        let injected_text = format!("{}\n{}", context.rules, context.text);
        let pending = self.pending()?;
        let input = self.prompt_input(&context, iteration);
        let launch = self.adapter.plan(&self.request.command, &input)?;
        self.begin(iteration)?;
        watch(&RunEvent::IterationStarted {
            iteration,
            adapter: self.adapter,
            context: &context,
            pending,
        });
        let before = self.git();
        let branch_before = self.git_branch();
        let scope = self.scope(iteration);
        let (ended, observation, output) =
            self.run_agent(&launch, &scope, &injected_text, watch)?;
        let pending = self.pending()?;
        let ending = match ended.status {
            EndStatus::Exit(code) => Ending::Exit(code),
            EndStatus::Signal(signal) => Ending::Signal(signal),
            EndStatus::TimedOut => Ending::TimedOut {
                after_s: self.timeout_s(),
            },
            EndStatus::Interrupted => Ending::Interrupted,
        };
        let mut outcome =
            iteration_outcome::determine_outcome(ending, &observation, &output.report, pending);
        outcome.launch = Some(iteration_outcome::launch_outcome(
            self.launch_id(),
            ending,
            &observation,
            &output.report,
        ));
        let (files, omitted) = self.files(before.as_ref(), &output);
        outcome.approach.clone_from(&self.request.approach);
        outcome.files = files;
        if let Some(omitted) = omitted {
            watch(&RunEvent::Diagnostic(&omitted));
        }
        outcome.pr_number =
            adapters::find_pr(&output.words, Some(&engine.contexts().repository_name()));
        outcome.branch = self
            .git_branch()
            .filter(|now| branch_before.as_ref() != Some(now));
        outcome.duration_ms = Some(ended.duration_ms);
        outcome.tokens_in = output
            .usage
            .map(|usage| usage.input.saturating_add(usage.cached));
        outcome.tokens_out = output.usage.map(|usage| usage.output);
        self.record(&scope, &outcome, &output)?;
        self.store_receipt(&request, &context, &scope, watch);
        if let Some(fault) = output.fault {
            return Err(fault);
        }
        Ok(IterationReport {
            iteration,
            outcome,
            duration_ms: ended.duration_ms,
            signals: observation.signals.len(),
            pending,
            usage: output.usage,
            interrupted: ending == Ending::Interrupted,
        })
    }

    /// Stores the receipt of the prompt, best effort: a failure is only a diagnostic.
    fn store_receipt(
        &self,
        request: &ContextRequest,
        context: &Context,
        scope: &Scope,
        watch: &mut dyn FnMut(&RunEvent<'_>),
    ) {
        let request = ContextRequest {
            session: scope.session.clone(),
            ..request.clone()
        };
        let stored = self
            .engine
            .contexts()
            .store_receipt(&request, context, scope.iteration);
        if let Err(fault) = stored {
            watch(&RunEvent::Diagnostic(&Diagnostic {
                line: 0,
                message: format!("the receipt was not stored: {}", fault.message),
            }));
        }
    }

    /// Returns the identity of the command, which is the same in each iteration.
    fn launch_id(&self) -> String {
        let redaction = self.engine.redaction();
        let words = self.request.command.iter();
        let words: Vec<String> = words
            .map(|word| redaction.redact_input(word).into_owned())
            .collect();
        iteration_outcome::launch_id(&words)
    }

    /// Returns the person's own prompt in the command, if the adapter knows its place.
    fn user_prompt(&self) -> Option<String> {
        self.adapter
            .user_prompt(&self.request.command, self.engine.root())
    }

    /// Returns the parameters of each iteration's context.
    fn context_request(&self) -> ContextRequest {
        let request = self.request;
        let prompt = || {
            let prompt = self.user_prompt()?;
            Some(text::clip(&prompt, limits::HOOK_QUESTION_BYTES_MAX / 4).to_owned())
        };
        ContextRequest {
            task: Some(self.task.clone()),
            phase: request.phase.clone(),
            plan: request.plan.clone(),
            group: request.group.clone(),
            session: request.session.clone(),
            query: request.query.clone().or_else(prompt),
            invocation: request.invocation.clone(),
            separate_rules: true,
            ..ContextRequest::default()
        }
    }

    fn prompt_input(&self, context: &Context, iteration: u32) -> PromptInput {
        let settings = self.engine.settings();
        let prefix = settings
            .memory_prefixes
            .first()
            .filter(|_| settings.enabled && settings.run.includes_signal_guide);
        let rules = self.engine.contexts().neutralize_text(&context.rules);
        PromptInput {
            rules: wrap_rules_in_envelope(&self.engine.display_name(), &rules, usize::MAX),
            // Recalled text must not pose as rules.
            context: neutralize_tags(&context.text).into_owned(),
            iteration,
            task: Some(self.task.clone()),
            phase: self.request.phase.clone(),
            signal_instructions: prefix.map(|prefix| adapters::signal_instructions(prefix)),
            cwd: self.engine.root().to_owned(),
            in_git: project_fs::git_root(self.engine.root()).is_some(),
        }
    }

    fn scope(&self, iteration: u32) -> Scope {
        Scope {
            task: Some(self.task.clone()),
            phase: self.request.phase.clone(),
            plan: self.request.plan.clone(),
            group: self.request.group.clone(),
            iteration: Some(iteration),
            session: self
                .engine
                .settings()
                .enabled
                .then(|| self.session.id.clone()),
            agent: Some(self.adapter.as_str().to_owned()),
        }
    }

    fn timeout_s(&self) -> u64 {
        self.request
            .timeout_s
            .unwrap_or(self.engine.settings().run.timeout_s)
    }

    fn pending(&self) -> Result<usize, Fault> {
        if !self.engine.settings().enabled {
            return Ok(0);
        }
        let [_, pending] = self.engine.tasks().steps(&self.task)?;
        Ok(pending.len())
    }

    fn git(&self) -> Option<GitState> {
        self.engine
            .settings()
            .enabled
            .then(|| GitState::read(self.engine.root()))
            .flatten()
    }

    fn git_branch(&self) -> Option<String> {
        self.engine
            .settings()
            .enabled
            .then(|| git_state::current_branch(self.engine.root()))
            .flatten()
    }

    /// Stores the session and the person's prompt. What Heirloom adds to it is left out: the next context would recall
    /// it.
    fn begin(&mut self, iteration: u32) -> Result<(), Fault> {
        if !self.engine.settings().enabled {
            return Ok(());
        }
        self.session
            .attrs
            .insert("iteration".to_owned(), json!(iteration));
        self.engine.sessions().put_session(&self.session)?;
        let prompt = self.user_prompt().unwrap_or_default();
        self.engine
            .sessions()
            .append_turns(&self.session, &[(Role::User, &prompt)])
    }

    /// Records the iteration number, so that the next run continues after a crash.
    fn record_iteration_start(&self, iteration: Option<u32>) -> Result<(), Fault> {
        if self.engine.settings().enabled {
            let change = TaskChange {
                iteration,
                ..TaskChange::default()
            };
            self.engine
                .tasks()
                .set(&self.task, &change, "orchestrator")?;
        }
        Ok(())
    }

    fn run_agent(
        &self,
        launch: &Launch,
        scope: &Scope,
        context: &str,
        watch: &mut dyn FnMut(&RunEvent<'_>),
    ) -> Result<(child_process::ChildExit, Observation, CapturedOutput), Fault> {
        let folder = durable::temporary_folder("heirloom-run-", self.request.temp_dir.as_deref())?;
        for (name, bytes) in launch.files() {
            durable::write_atomic(&folder.path().join(name), bytes)?;
        }
        let spec = LaunchSpec {
            program: OsString::from(&launch.program),
            args: launch.args_in(folder.path()),
            cwd: self.engine.root().to_owned(),
            env: launch.env_in(folder.path()),
            stdin: launch.stdin.clone(),
        };
        let dry_run = !self.engine.settings().enabled;
        let mut observer =
            crate::Runs::new(self.engine).observer(scope.clone(), launch.format, dry_run)?;
        observer.add_injected_text(context);
        let mut output = CapturedOutput::default();
        let limits = PumpLimits {
            timeout: Some(Duration::from_secs(self.timeout_s())),
            interrupt: self.interrupt.clone(),
            ..PumpLimits::default()
        };
        let agent = child_process::spawn(&spec)?;
        self.record_iteration_start(scope.iteration)?;
        let ended = agent.pump(&limits, &mut |chunk| {
            output.chunk(chunk, &mut observer, watch);
        });
        output.observe(&mut observer, None, watch);
        output.end();
        Ok((ended, observer.into_observation(), output))
    }

    /// Returns the changed files, and a diagnostic if there are more than the limit.
    fn files(
        &self,
        before: Option<&GitState>,
        output: &CapturedOutput,
    ) -> (Vec<String>, Option<Diagnostic>) {
        let root = self.engine.root();
        let mut named = output.files.clone();
        if let (Some(before), Some(after)) = (before, self.git()) {
            named.extend(git_state::changed_files_between(before, &after));
        }
        // Git also reports files outside of the project, such as through a link.
        let mut files: Vec<_> = named
            .iter()
            .filter_map(|path| project_fs::normalise_project_path(root, path).ok())
            .collect();
        files.sort();
        files.dedup();
        let most = limits::FILES_PER_OUTCOME_MAX;
        let omitted = (output.more_files || files.len() > most).then(|| Diagnostic {
            line: 0,
            message: format!("more than {most} files were changed; not all of them are recorded"),
        });
        files.truncate(most);
        (files, omitted)
    }

    /// Records the outcome, the agent's final text and the mirror.
    fn record(
        &self,
        scope: &Scope,
        outcome: &IterationOutcome,
        output: &CapturedOutput,
    ) -> Result<(), Fault> {
        if !self.engine.settings().enabled {
            return Ok(());
        }
        self.engine
            .tasks()
            .record_outcome(scope, outcome, self.adapter.as_str())?;
        let rules = self.engine.contexts().signal_rules()?;
        let words = signals::without_signals(&text::strip_ansi(&output.words), &rules);
        self.engine
            .sessions()
            .append_turns(&self.session, &[(Role::Assistant, words.trim())])?;
        self.engine.mirror().save(Some(&self.task))?;
        Ok(())
    }
}

impl CapturedOutput {
    fn chunk(
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
    fn observe(
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
    fn end(&mut self) {
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
