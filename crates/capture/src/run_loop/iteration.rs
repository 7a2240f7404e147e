//! One iteration of a run.

mod captured_output;

use super::iteration_outcome::{self, Ending};
use super::{IterationReport, RunEvent, RunLoop};
use crate::Observation;
use captured_output::{CapturedOutput, OutputCapture};
use heirloom_agents::adapters::{self, Launch, PromptInput};
use heirloom_agents::hooks::wrap_rules_in_envelope;
use heirloom_agents::process::child_process::{self, EndStatus, LaunchSpec, PumpLimits};
use heirloom_agents::process::git_state::{self, GitState};
use heirloom_agents::signals;
use heirloom_engine::{
    ContextRequest, MirrorLoadOutcome, NewOutput, STARTED_ITERATION, TaskChange,
};
use heirloom_fs::durable;
use heirloom_fs::project_fs;
use heirloom_model::context::Context;
use heirloom_model::prompt_safety::neutralize_document;
use heirloom_model::signal::Diagnostic;
use heirloom_model::{Fault, IterationOutcome, Role, Scope, limits, text};
use heirloom_prompt::directives;
use serde_json::json;
use std::ffi::OsString;
use std::time::Duration;

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
        // The agent may have written to the mirror, which is rewritten now.
        let loaded = match engine.settings().enabled {
            true => engine.mirror().load()?,
            false => MirrorLoadOutcome::Nothing,
        };
        if loaded != MirrorLoadOutcome::Nothing {
            watch(&RunEvent::Mirror(&loaded));
        }
        self.record(&scope, &outcome, &output)?;
        self.keep_plan_output(&output, watch);
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

    /// Stores the final text as the agent's output in the plan of the run, for the next agents of the plan.
    fn keep_plan_output(&self, output: &CapturedOutput, watch: &mut dyn FnMut(&RunEvent<'_>)) {
        let words = text::strip_ansi(&output.words);
        let Some(plan) = &self.request.plan else {
            return;
        };
        if !self.engine.settings().enabled || words.trim().is_empty() {
            return;
        }
        let invocation = self.request.invocation.as_deref();
        let invocation = invocation.and_then(|text| directives::parse(text).ok());
        let agent = invocation.map(|parsed| parsed.agent);
        let stored = self.engine.outputs().put(&NewOutput {
            plan: plan.clone(),
            agent: agent.unwrap_or_else(|| self.adapter.as_str().to_owned()),
            content: words.trim().to_owned(),
            ..NewOutput::default()
        });
        if let Err(fault) = stored {
            watch(&RunEvent::Diagnostic(&Diagnostic {
                line: 0,
                message: format!("the output was not stored in the plan: {}", fault.message),
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
        let prompt = self.user_prompt();
        let question = || {
            let prompt = prompt.as_deref()?;
            Some(text::clip(prompt, limits::HOOK_QUESTION_BYTES_MAX / 4).to_owned())
        };
        ContextRequest {
            task: Some(self.task.clone()),
            phase: request.phase.clone(),
            plan: request.plan.clone(),
            group: request.group.clone(),
            session: request.session.clone(),
            query: request.query.clone().or_else(question),
            prompt: prompt.clone(),
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
            context: neutralize_document(&context.text).into_owned(),
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
    fn record_iteration_start(&mut self, iteration: Option<u32>) -> Result<(), Fault> {
        if !self.engine.settings().enabled {
            return Ok(());
        }
        if self.request.task.is_none() {
            let started = iteration.unwrap_or_default();
            (self.session.attrs).insert(STARTED_ITERATION.to_owned(), json!(started));
            return self.engine.sessions().put_session(&self.session);
        }
        let change = TaskChange {
            iteration,
            ..TaskChange::default()
        };
        self.engine
            .tasks()
            .set(&self.task, &change, "orchestrator")?;
        Ok(())
    }

    fn run_agent(
        &mut self,
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
        let mut output = OutputCapture::new(self.engine.redaction().redactor());
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
        Ok((ended, observer.into_observation(), output.end()))
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
        let words = signals::without_signals(&text::strip_ansi(&output.words), rules);
        self.engine
            .sessions()
            .append_turns(&self.session, &[(Role::Assistant, words.trim())])?;
        self.engine.mirror().write()?;
        // The texts are stored and found by words; what remains waits for the next iteration.
        let most = Duration::from_millis(limits::SENTENCE_SESSION_MS);
        drop(
            self.engine
                .maintenance()
                .embed_sentences(limits::SENTENCE_SESSION_TEXTS, most),
        );
        Ok(())
    }
}
