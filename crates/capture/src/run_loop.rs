//! Run loop: builds the context, starts the agent, reads its output, records the outcome; repeated for each
//! iteration.

mod iteration;
mod iteration_outcome;

use crate::{ObservedSignal, Runs};
use heirloom_agents::AgentProgram;
use heirloom_agents::process::git_state;
use heirloom_engine::Engine;
use heirloom_engine::MirrorLoadOutcome;
use heirloom_engine::TASK_MAIN;
use heirloom_model::context::Context;
use heirloom_model::event_stream::{StreamEvent, Usage};
use heirloom_model::limits::ITERATIONS_MAX;
use heirloom_model::signal::Diagnostic;
use heirloom_model::{AgentStatus, Fault, IterationOutcome, Session};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Names of branches on which work begins.
const DEFAULT_BRANCHES: [&str; 4] = ["main", "master", "trunk", "develop"];

/// Parameters of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunRequest {
    /// The command as typed: the program and its arguments.
    pub command: Vec<String>,
    /// The adapter; detected from the program's name by default.
    pub adapter: Option<AgentProgram>,
    /// The task; `main` by default.
    pub task: Option<String>,
    /// The type of the task.
    pub task_type: Option<String>,
    /// The phase.
    pub phase: Option<String>,
    /// The plan of the contexts, `PLAN` or `STAGE/PLAN`.
    pub plan: Option<String>,
    /// The group of the contexts.
    pub group: Option<String>,
    /// The session that the contexts continue.
    pub session: Option<String>,
    /// Additional query of the contexts; the person's prompt in the command by default.
    pub query: Option<String>,
    /// The agent that the contexts are for, with directives: `coder[input:a.md][tail:50]`.
    pub invocation: Option<String>,
    /// Approach that is recorded with each iteration.
    pub approach: Option<String>,
    /// Maximum iterations of this call; the configured number by default.
    pub iterations: Option<u32>,
    /// Continue until the task is complete, regardless of the number of iterations.
    pub until_done: bool,
    /// Timeout of an iteration in seconds; the configured one by default.
    pub timeout_s: Option<u64>,
    /// Folder of the agent's input files; the system's temporary folder by default.
    pub temp_dir: Option<std::path::PathBuf>,
}

/// Event of a run, for display.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// Outcome of loading an existing mirror, before the first iteration.
    Mirror(&'a MirrorLoadOutcome),
    /// An iteration begins with this context.
    IterationStarted {
        /// Its number.
        iteration: u32,
        /// The adapter.
        adapter: AgentProgram,
        /// Context of the prompt.
        context: &'a Context,
        /// Pending steps.
        pending: usize,
    },
    /// Raw bytes of standard output, including a JSON stream.
    Stdout(&'a [u8]),
    /// Standard output that is not part of a JSON stream.
    Plain(&'a [u8]),
    /// Bytes of standard error.
    Stderr(&'a [u8]),
    /// Event of the JSON stream.
    Stream(&'a StreamEvent),
    /// A signal that was read and recorded.
    Signal(&'a ObservedSignal),
    /// Something could not be read or recorded.
    Diagnostic(&'a Diagnostic),
    /// Periodic event without output.
    Tick,
    /// An iteration has ended and is recorded.
    IterationEnded(&'a IterationReport),
}

/// Report of one iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IterationReport {
    /// Its number.
    pub iteration: u32,
    /// The outcome.
    pub outcome: IterationOutcome,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// Signals that were recorded.
    pub signals: usize,
    /// Pending steps.
    pub pending: usize,
    /// Tokens, if the agent reports them.
    pub usage: Option<Usage>,
    /// True if the run was interrupted.
    pub interrupted: bool,
}

/// Reason for the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The agent reported that the task is complete.
    Complete,
    /// The maximum number of iterations was reached.
    IterationLimit,
    /// The same failure occurred too many times in a row.
    Stalled,
    /// The run was interrupted.
    Interrupted,
}

impl EndReason {
    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::IterationLimit => "iteration-limit",
            Self::Stalled => "stalled",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Report of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunReport {
    /// Session of the run.
    pub session: String,
    /// The task.
    pub task: String,
    /// Its iterations.
    pub iterations: Vec<IterationReport>,
    /// Reason for the end.
    pub reason: EndReason,
}

impl RunReport {
    /// Returns true if the last iteration succeeded.
    pub fn success(&self) -> bool {
        self.iterations
            .last()
            .is_some_and(|last| last.outcome.success)
    }
}

/// State of a run.
struct RunLoop<'a> {
    engine: &'a Engine,
    request: &'a RunRequest,
    adapter: AgentProgram,
    task: String,
    session: Session,
    interrupt: Arc<AtomicBool>,
}

impl Runs<'_> {
    /// Runs `request.command` repeatedly, each time with the memory of earlier iterations.
    ///
    /// Signals are durable when they are read; the outcome and the mirror are written after each iteration. Setting
    /// `interrupt` stops the child, saves and ends the run. Errors: a command that cannot be started, a store that
    /// cannot be written. When memory is off, the command runs without it.
    pub fn run(
        &self,
        request: &RunRequest,
        interrupt: Arc<AtomicBool>,
        watch: &mut dyn FnMut(&RunEvent<'_>),
    ) -> Result<RunReport, Fault> {
        self.engine
            .tasks()
            .check_approach(request.approach.as_deref())?;
        if let Some(invocation) = &request.invocation {
            // Directives that cannot be resolved fail before anything is written.
            self.engine.contexts().inject(invocation)?;
        }
        let adapter = request
            .adapter
            .unwrap_or_else(|| AgentProgram::from_command(&request.command));
        let task = request.task.clone().unwrap_or_else(|| TASK_MAIN.to_owned());
        let mut first = 1;
        if self.engine.settings().enabled {
            let loaded = self.engine.mirror().load()?;
            if loaded != MirrorLoadOutcome::Nothing {
                watch(&RunEvent::Mirror(&loaded));
            }
            first = self.prepare_task(request)?;
        }
        let mut session = self.engine.sessions().new_session(
            Some(adapter.as_str().to_owned()),
            Some(task.clone()),
            first,
        );
        if let Some(latest) = self.engine.sessions().latest_session()? {
            heirloom_engine::continue_from(&mut session, &latest);
        }
        RunLoop {
            engine: self.engine,
            request,
            adapter,
            task,
            session,
            interrupt,
        }
        .run_iterations(first, watch)
    }

    /// Creates the named task if it is missing; returns the number of the next iteration.
    fn prepare_task(&self, request: &RunRequest) -> Result<u32, Fault> {
        let Some(task) = &request.task else {
            let last = self.engine.sessions().last_iteration_without_task()?;
            return Ok(last.saturating_add(1));
        };
        // Work begins on the default branch, whose name is not about the task.
        let branch = git_state::current_branch(self.engine.root());
        let branch = branch.filter(|branch| !DEFAULT_BRANCHES.contains(&branch.as_str()));
        let change = heirloom_engine::TaskChange {
            task_type: request.task_type.clone(),
            phase: request.phase.clone(),
            branch,
            ..heirloom_engine::TaskChange::default()
        };
        self.engine.tasks().set(task, &change, "orchestrator")?;
        let known = self.engine.tasks().task_record(task)?;
        Ok(known
            .and_then(|record| record.scope.iteration)
            .unwrap_or(0)
            .saturating_add(1))
    }
}

impl RunLoop<'_> {
    fn run_iterations(
        mut self,
        first: u32,
        watch: &mut dyn FnMut(&RunEvent<'_>),
    ) -> Result<RunReport, Fault> {
        let limit = self
            .request
            .iterations
            .unwrap_or(self.engine.settings().run.iterations);
        let mut iterations: Vec<IterationReport> = Vec::new();
        let reason = loop {
            let done = u32::try_from(iterations.len()).unwrap_or(u32::MAX);
            if self.interrupt.load(Ordering::SeqCst) {
                break EndReason::Interrupted;
            }
            if is_limit_reached(done, limit, self.request.until_done) {
                break EndReason::IterationLimit;
            }
            let report = self.iterate(first.saturating_add(done), watch)?;
            watch(&RunEvent::IterationEnded(&report));
            iterations.push(report);
            if let Some(reason) = self.reason_to_end(&iterations) {
                break reason;
            }
        };
        if self.engine.settings().enabled && !iterations.is_empty() {
            self.session.ended_at = Some(self.engine.now());
            self.engine.sessions().put_session(&self.session)?;
        }
        Ok(RunReport {
            session: self.session.id,
            task: self.task,
            iterations,
            reason,
        })
    }

    fn reason_to_end(&self, iterations: &[IterationReport]) -> Option<EndReason> {
        let last = iterations.last()?;
        if last.interrupted {
            return Some(EndReason::Interrupted);
        }
        if last.outcome.success {
            if last.outcome.status == AgentStatus::Complete {
                return Some(EndReason::Complete);
            }
            // A partial result ends nothing, also without a list of steps.
            return None;
        }
        let stall = self.engine.settings().run.stall_limit as usize;
        let failure = iteration_outcome::failure_signature(&last.outcome);
        let same = iterations
            .iter()
            .rev()
            .take_while(|one| {
                !one.outcome.success
                    && iteration_outcome::failure_signature(&one.outcome) == failure
            })
            .count();
        (same >= stall).then_some(EndReason::Stalled)
    }
}

/// Returns true if no further iteration may begin.
fn is_limit_reached(done: u32, limit: u32, until_done: bool) -> bool {
    (done >= limit && !until_done) || done >= ITERATIONS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_end_at_limit_or_hard_maximum() {
        for (done, limit, until_done, expected) in [
            (0, 1, false, false),
            (1, 1, false, true),
            (1, 1, true, false),
            (ITERATIONS_MAX - 1, u32::MAX, false, false),
            (ITERATIONS_MAX, u32::MAX, false, true),
            (ITERATIONS_MAX - 1, 1, true, false),
            (ITERATIONS_MAX, 1, true, true),
        ] {
            assert_eq!(
                is_limit_reached(done, limit, until_done),
                expected,
                "{done} of {limit}"
            );
        }
    }
}
