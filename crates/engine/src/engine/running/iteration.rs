//! One iteration of a run.

use super::verdict::{self, Ending, Said};
use super::{IterationReport, Loop, RunEvent};
use crate::adapters::{self, Handover, Launch};
use crate::engine::{ContextRequest, Observation, Observer, TaskChange};
use crate::run::child::{self, Chunk, EndStatus, LaunchSpec, PumpLimits};
use crate::run::git::{self, GitState};
use crate::streams::Piece;
use crate::{places, signals};
use heirloom_model::context::Context;
use heirloom_model::signal::Diagnostic;
use heirloom_model::stream::{StreamEvent, Usage};
use heirloom_model::{Fault, Outcome, Role, Scope, limits, text};
use heirloom_store::durable;
use serde_json::json;
use std::ffi::OsString;
use std::time::Duration;

/// What was heard of an agent besides its signals.
#[derive(Default)]
struct Heard {
    said: Said,
    usage: Option<Usage>,
    /// The end of what the model said, or of plain output.
    words: String,
    files: Vec<String>,
    /// Whether its stream named more files than are kept.
    more_files: bool,
    fault: Option<Fault>,
}

impl Loop<'_> {
    /// Runs the agent once and records how it went.
    pub(super) fn iterate(
        &mut self,
        iteration: u32,
        watch: &mut dyn FnMut(&RunEvent<'_>),
    ) -> Result<IterationReport, Fault> {
        let engine = self.engine;
        let request = ContextRequest {
            task: Some(self.task.clone()),
            phase: self.request.phase.clone(),
            ..ContextRequest::default()
        };
        let context = engine.context(&request)?;
        let pending = self.pending()?;
        let launch = self.adapter.plan(
            &self.request.command,
            &self.handover(&context.text, iteration),
        )?;
        self.begin(iteration, &launch)?;
        watch(&RunEvent::IterationStarted {
            iteration,
            adapter: self.adapter,
            context: &context,
            pending,
        });
        let before = self.git();
        let branch_before = self.git_branch();
        let scope = self.scope(iteration);
        let (ended, observation, heard) = self.listen(&launch, &scope, &context.text, watch)?;
        let pending = self.pending()?;
        let ending = match ended.status {
            EndStatus::Exit(code) => Ending::Exit(code),
            EndStatus::Signal(signal) => Ending::Signal(signal),
            EndStatus::TimedOut => Ending::TimedOut {
                after_s: self.timeout_s(),
            },
            EndStatus::Interrupted => Ending::Interrupted,
        };
        let mut outcome = verdict::judge(ending, &observation, &heard.said, pending);
        let (files, untold) = self.files(before.as_ref(), &heard);
        outcome.approach.clone_from(&self.request.approach);
        outcome.files = files;
        if let Some(untold) = untold {
            watch(&RunEvent::Diagnostic(&untold));
        }
        outcome.pr_number = adapters::find_pr(&heard.words, Some(engine.project().as_str()));
        outcome.branch = self
            .git_branch()
            .filter(|now| branch_before.as_ref() != Some(now));
        outcome.duration_ms = Some(ended.duration_ms);
        outcome.tokens_in = heard
            .usage
            .map(|usage| usage.input.saturating_add(usage.cached));
        outcome.tokens_out = heard.usage.map(|usage| usage.output);
        self.record(&scope, &outcome, &heard)?;
        self.keep_receipt(&request, &context, &scope, watch);
        if let Some(fault) = heard.fault {
            return Err(fault);
        }
        Ok(IterationReport {
            iteration,
            outcome,
            duration_ms: ended.duration_ms,
            signals: observation.signals.len(),
            pending,
            usage: heard.usage,
            interrupted: ending == Ending::Interrupted,
        })
    }

    /// Keeps the receipt of the prompt. Behind the iteration, which does not fail for it.
    fn keep_receipt(
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
        let kept = self.engine.keep_receipt(&request, context, scope.iteration);
        if let Err(fault) = kept {
            watch(&RunEvent::Diagnostic(&Diagnostic {
                line: 0,
                message: format!("the receipt was not kept: {}", fault.message),
            }));
        }
    }

    fn handover(&self, context: &str, iteration: u32) -> Handover {
        let settings = self.engine.settings();
        let prefix = settings
            .memory_prefixes
            .first()
            .filter(|_| settings.enabled && settings.run.teach_signals);
        Handover {
            context: context.to_owned(),
            iteration,
            task: Some(self.task.clone()),
            phase: self.request.phase.clone(),
            teach: prefix.map(|prefix| adapters::teach_text(prefix)),
            cwd: self.engine.root().to_owned(),
            in_git: places::git_root(self.engine.root()).is_some(),
        }
    }

    fn scope(&self, iteration: u32) -> Scope {
        Scope {
            task: Some(self.task.clone()),
            phase: self.request.phase.clone(),
            iteration: Some(iteration),
            session: self
                .engine
                .settings()
                .enabled
                .then(|| self.session.id.clone()),
            agent: Some(self.adapter.as_str().to_owned()),
            ..Scope::default()
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
        let [_, pending] = self.engine.steps(&self.task)?;
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
            .then(|| git::current_branch(self.engine.root()))
            .flatten()
    }

    /// Stores the session and what the agent is told.
    fn begin(&mut self, iteration: u32, launch: &Launch) -> Result<(), Fault> {
        if !self.engine.settings().enabled {
            return Ok(());
        }
        self.session
            .attrs
            .insert("iteration".to_owned(), json!(iteration));
        self.engine.put_session(&self.session)?;
        self.engine
            .append_turns(&self.session, &[(Role::User, &launch.prompt)])
    }

    /// Notes that this iteration has begun, so that after a crash of ours the next one is told to go on.
    fn count(&self, iteration: Option<u32>) -> Result<(), Fault> {
        if self.engine.settings().enabled {
            let said = TaskChange {
                iteration,
                ..TaskChange::default()
            };
            self.engine.set_task(&self.task, &said, "orchestrator")?;
        }
        Ok(())
    }

    fn listen(
        &self,
        launch: &Launch,
        scope: &Scope,
        context: &str,
        watch: &mut dyn FnMut(&RunEvent<'_>),
    ) -> Result<(child::Ended, Observation, Heard), Fault> {
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
        let mut observer = self
            .engine
            .observer(scope.clone(), launch.format, dry_run)?;
        observer.told(context);
        let mut heard = Heard::default();
        let limits = PumpLimits {
            timeout: Some(Duration::from_secs(self.timeout_s())),
            interrupt: self.interrupt.clone(),
            ..PumpLimits::default()
        };
        let agent = child::spawn(&spec)?;
        self.count(scope.iteration)?;
        let ended = agent.pump(&limits, &mut |chunk| {
            heard.chunk(chunk, &mut observer, watch);
        });
        heard.observe(&mut observer, None, watch);
        heard.end();
        Ok((ended, observer.into_observation(), heard))
    }

    /// The files that the iteration changed, and what to say if there are more than an outcome lists.
    fn files(&self, before: Option<&GitState>, heard: &Heard) -> (Vec<String>, Option<Diagnostic>) {
        let root = self.engine.root();
        let mut named = heard.files.clone();
        if let (Some(before), Some(after)) = (before, self.git()) {
            named.extend(git::changed_between(before, &after));
        }
        // Git too names what is no file of the project: a link that leads out of it, say.
        let mut files: Vec<_> = named
            .iter()
            .filter_map(|path| places::normalise_inside(root, path).ok())
            .collect();
        files.sort();
        files.dedup();
        let most = limits::FILES_PER_OUTCOME_MAX;
        let untold = (heard.more_files || files.len() > most).then(|| Diagnostic {
            line: 0,
            message: format!("more than {most} files were changed; not all of them are recorded"),
        });
        files.truncate(most);
        (files, untold)
    }

    /// Records the outcome, the agent's last words and the mirror.
    fn record(&self, scope: &Scope, outcome: &Outcome, heard: &Heard) -> Result<(), Fault> {
        if !self.engine.settings().enabled {
            return Ok(());
        }
        self.engine
            .record_outcome(scope, outcome, self.adapter.as_str())?;
        let rules = self.engine.signal_rules()?;
        let words = signals::without_signals(&text::strip_ansi(&heard.words), &rules);
        self.engine
            .append_turns(&self.session, &[(Role::Assistant, words.trim())])?;
        self.engine.save_mirror(Some(&self.task))?;
        Ok(())
    }
}

impl Heard {
    fn chunk(
        &mut self,
        chunk: Chunk<'_>,
        observer: &mut Observer<'_>,
        watch: &mut dyn FnMut(&RunEvent<'_>),
    ) {
        match chunk {
            Chunk::Tick => watch(&RunEvent::Tick),
            Chunk::Stderr(bytes) => {
                keep_tail(
                    &mut self.said.stderr_tail,
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

    /// Reads the next bytes, or the end of the output, and tells what that brought.
    fn observe(
        &mut self,
        observer: &mut Observer<'_>,
        bytes: Option<&[u8]>,
        watch: &mut dyn FnMut(&RunEvent<'_>),
    ) {
        let before = observer.so_far();
        let (signals, diagnostics) = (before.signals.len(), before.diagnostics.len());
        let on_piece = &mut |piece: &Piece<'_>| self.piece(piece, watch);
        let read = match bytes {
            Some(bytes) => observer.push(bytes, on_piece),
            None => observer.finish(on_piece),
        };
        self.fault = self.fault.take().or(read.err());
        let now = observer.so_far();
        now.signals[signals..]
            .iter()
            .for_each(|one| watch(&RunEvent::Signal(one)));
        now.diagnostics[diagnostics..]
            .iter()
            .for_each(|one| watch(&RunEvent::Diagnostic(one)));
    }

    fn piece(&mut self, piece: &Piece<'_>, watch: &mut dyn FnMut(&RunEvent<'_>)) {
        let event = match piece {
            Piece::Raw(bytes) => {
                watch(&RunEvent::Plain(bytes));
                return self.hear(&String::from_utf8_lossy(bytes));
            }
            Piece::Event(event) => event,
        };
        watch(&RunEvent::Stream(event));
        match event {
            StreamEvent::Text { text, .. } => self.hear(&format!("{text}\n")),
            StreamEvent::Usage(usage) => self.usage = Some(*usage),
            StreamEvent::Error(error) => self.said.stream_error = Some(error.clone()),
            StreamEvent::FileChanged(path) => self.changed(path),
            StreamEvent::Finished { failed } => self.said.stream_failed = *failed,
            StreamEvent::SessionId(_)
            | StreamEvent::ToolCall { .. }
            | StreamEvent::ToolResult { .. }
            | StreamEvent::Unreadable { .. } => {}
        }
    }

    fn changed(&mut self, path: &String) {
        if self.files.contains(path) {
            return;
        }
        if self.files.len() < limits::FILES_PER_OUTCOME_MAX {
            self.files.push(path.clone());
        } else {
            self.more_files = true;
        }
    }

    /// Cuts what was kept to its caps; nothing is heard afterwards.
    fn end(&mut self) {
        cut_to(&mut self.said.stderr_tail, limits::STDERR_TAIL_BYTES_MAX);
        cut_to(&mut self.words, limits::FINAL_TEXT_BYTES_MAX);
    }

    fn hear(&mut self, words: &str) {
        keep_tail(&mut self.words, words, limits::FINAL_TEXT_BYTES_MAX);
    }
}

/// Appends, and forgets the beginning when it is twice what is wanted: each byte is moved once.
fn keep_tail(tail: &mut String, more: &str, bytes_max: usize) {
    tail.push_str(more);
    if tail.len() > 2 * bytes_max {
        cut_to(tail, bytes_max);
    }
}

/// Forgets the beginning beyond `bytes_max`.
fn cut_to(tail: &mut String, bytes_max: usize) {
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

    fn heard(output: &str, errors: &str, piece: usize) -> Heard {
        let mut heard = Heard::default();
        for words in output.as_bytes().chunks(piece) {
            heard.hear(std::str::from_utf8(words).unwrap());
        }
        for words in errors.as_bytes().chunks(piece) {
            let words = std::str::from_utf8(words).unwrap();
            keep_tail(&mut heard.said.stderr_tail, words, STDERR_TAIL_BYTES_MAX);
        }
        assert!(heard.words.len() <= 2 * FINAL_TEXT_BYTES_MAX);
        assert!(heard.said.stderr_tail.len() <= 2 * STDERR_TAIL_BYTES_MAX);
        heard.end();
        heard
    }

    #[test]
    fn so_many_files_are_kept() {
        let mut heard = Heard::default();
        for _ in 0..2 {
            for n in 0..limits::FILES_PER_OUTCOME_MAX {
                heard.changed(&format!("{n}"));
            }
        }
        assert_eq!(heard.files.len(), limits::FILES_PER_OUTCOME_MAX);
        assert!(!heard.more_files, "the same ones again");
        heard.changed(&"another".to_owned());
        assert!(heard.more_files);
    }

    #[test]
    fn the_end_of_what_is_said_is_kept() {
        let text = |bytes: usize| format!("<{}>", "x".repeat(bytes - 2));
        let (most, most_errors) = (FINAL_TEXT_BYTES_MAX, STDERR_TAIL_BYTES_MAX);
        for piece in [1_000, usize::MAX] {
            let whole = heard(&text(most), &text(most_errors), piece);
            assert_eq!(whole.words, text(most));
            assert_eq!(whole.said.stderr_tail, text(most_errors));
            for over in [1, most, 5 * most] {
                let cut = heard(&text(most + over), &text(most_errors + over), piece);
                assert_eq!(cut.words.len(), most);
                assert_eq!(cut.said.stderr_tail.len(), most_errors);
                for end in [cut.words, cut.said.stderr_tail] {
                    assert!(!end.contains('<') && end.ends_with('>'));
                }
            }
        }
        // Never in the middle of a character.
        let mut tail = "éé".to_owned();
        cut_to(&mut tail, 3);
        assert_eq!(tail, "é");
    }
}
