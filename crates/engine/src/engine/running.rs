//! The loop: load, build the context, hand it over, start the agent, listen, record, save; again.

mod iteration;
mod verdict;

use super::Engine;
use super::mirrored::MirrorLoad;
use super::observe::ObservedSignal;
use super::tasks::TASK_MAIN;
use crate::adapters::Adapter;
use heirloom_model::context::Context;
use heirloom_model::limits::ITERATIONS_MAX;
use heirloom_model::signal::Diagnostic;
use heirloom_model::stream::{StreamEvent, Usage};
use heirloom_model::{AgentStatus, Fault, Outcome, Session};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRequest {
    /// The command as typed: the program and its arguments.
    pub command: Vec<String>,
    /// The adapter; chosen by the program's name if it is not said.
    pub adapter: Option<Adapter>,
    /// The task; `main` if it is not said.
    pub task: Option<String>,
    /// The type of the task.
    pub task_type: Option<String>,
    /// The phase.
    pub phase: Option<String>,
    /// How it is tried: what each of its iterations is remembered by.
    pub approach: Option<String>,
    /// Iterations of this call; the configured number if it is not said.
    pub iterations: Option<u32>,
    /// Go on until the task is complete, whatever the number of iterations.
    pub until_done: bool,
    /// Seconds that one iteration may take; the configured number if it is not said.
    pub timeout_s: Option<u64>,
    /// Where the agent's files of an iteration are written; the system's folder if it is not said.
    pub temp_dir: Option<std::path::PathBuf>,
}

/// What happens while a run goes on, for whoever shows it.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// What an existing mirror brought, before the first iteration.
    Mirror(&'a MirrorLoad),
    /// An iteration begins with this context.
    IterationStarted {
        /// Its number.
        iteration: u32,
        /// The adapter.
        adapter: Adapter,
        /// What the agent is told.
        context: &'a Context,
        /// Steps still to do.
        pending: usize,
    },
    /// The agent wrote to standard output: its bytes as they came, a JSON stream too.
    Stdout(&'a [u8]),
    /// Standard output that belongs to no JSON stream, as soon as that is known.
    Plain(&'a [u8]),
    /// The agent wrote to standard error.
    Stderr(&'a [u8]),
    /// The agent's JSON stream said something.
    Stream(&'a StreamEvent),
    /// A signal was read, and recorded.
    Signal(&'a ObservedSignal),
    /// Something could not be read or recorded.
    Diagnostic(&'a Diagnostic),
    /// Time went by.
    Tick,
    /// An iteration has ended and is recorded.
    IterationEnded(&'a IterationReport),
}

/// How one iteration went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IterationReport {
    /// Its number.
    pub iteration: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took.
    pub duration_ms: u64,
    /// Signals that were recorded.
    pub signals: usize,
    /// Steps still to do.
    pub pending: usize,
    /// Tokens, if the agent reports them.
    pub usage: Option<Usage>,
    /// Whether somebody interrupted it.
    pub interrupted: bool,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The agent said that the task is complete.
    Complete,
    /// It succeeded, and no step is pending.
    NothingPending,
    /// The number of iterations is used up.
    IterationLimit,
    /// The same failure came too many times in a row.
    Stalled,
    /// Somebody interrupted it.
    Interrupted,
}

impl EndReason {
    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::NothingPending => "nothing-pending",
            Self::IterationLimit => "iteration-limit",
            Self::Stalled => "stalled",
            Self::Interrupted => "interrupted",
        }
    }
}

/// How a run went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunReport {
    /// The session under which it is kept.
    pub session: String,
    /// The task.
    pub task: String,
    /// Its iterations.
    pub iterations: Vec<IterationReport>,
    /// Why it ended.
    pub reason: EndReason,
}

impl RunReport {
    /// Whether the last iteration succeeded.
    pub fn success(&self) -> bool {
        self.iterations
            .last()
            .is_some_and(|last| last.outcome.success)
    }
}

/// One run while it goes on.
struct Loop<'a> {
    engine: &'a Engine,
    request: &'a RunRequest,
    adapter: Adapter,
    task: String,
    session: Session,
    interrupt: Arc<AtomicBool>,
}

impl Engine {
    /// Runs `request.command` again and again, each time with what the iterations before have learned.
    ///
    /// Signals are durable as they are read; the outcome and the mirror are written after each iteration.
    /// Setting `interrupt` ends the child, saves, and ends the run. Errors: what cannot be started, a
    /// store that cannot be written. When memory is off the command runs without it.
    pub fn run(
        &self,
        request: &RunRequest,
        interrupt: Arc<AtomicBool>,
        watch: &mut dyn FnMut(&RunEvent<'_>),
    ) -> Result<RunReport, Fault> {
        Self::check_approach(request.approach.as_deref())?;
        let adapter = request
            .adapter
            .unwrap_or_else(|| Adapter::of_command(&request.command));
        let task = request.task.clone().unwrap_or_else(|| TASK_MAIN.to_owned());
        let mut first = 1;
        if self.settings.enabled {
            let loaded = self.load_mirror()?;
            if loaded != MirrorLoad::Nothing {
                watch(&RunEvent::Mirror(&loaded));
            }
            first = self.prepare_task(request, &task)?;
        }
        let mut session =
            self.new_session(Some(adapter.as_str().to_owned()), Some(task.clone()), first);
        if let Some(latest) = self.latest_session()? {
            super::sessions::follow(&mut session, &latest);
        }
        Loop {
            engine: self,
            request,
            adapter,
            task,
            session,
            interrupt,
        }
        .go(first, watch)
    }

    /// Makes the task known and says which iteration comes next.
    fn prepare_task(&self, request: &RunRequest, task: &str) -> Result<u32, Fault> {
        let said = super::TaskChange {
            task_type: request.task_type.clone(),
            phase: request.phase.clone(),
            ..super::TaskChange::default()
        };
        self.set_task(task, &said, "orchestrator")?;
        let known = self.task_record(task)?;
        Ok(known
            .and_then(|record| record.scope.iteration)
            .unwrap_or(0)
            .saturating_add(1))
    }
}

impl Loop<'_> {
    fn go(mut self, first: u32, watch: &mut dyn FnMut(&RunEvent<'_>)) -> Result<RunReport, Fault> {
        let limit = self
            .request
            .iterations
            .unwrap_or(self.engine.settings.run.iterations);
        let mut iterations: Vec<IterationReport> = Vec::new();
        let reason = loop {
            let done = u32::try_from(iterations.len()).unwrap_or(u32::MAX);
            if self.interrupt.load(Ordering::SeqCst) {
                break EndReason::Interrupted;
            }
            if is_used_up(done, limit, self.request.until_done) {
                break EndReason::IterationLimit;
            }
            let report = self.iterate(first.saturating_add(done), watch)?;
            watch(&RunEvent::IterationEnded(&report));
            iterations.push(report);
            if let Some(reason) = self.reason_to_end(&iterations) {
                break reason;
            }
        };
        if self.engine.settings.enabled && !iterations.is_empty() {
            self.session.ended_at = Some(self.engine.now());
            self.engine.put_session(&self.session)?;
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
            return (last.pending == 0).then_some(EndReason::NothingPending);
        }
        let stall = self.engine.settings.run.stall_limit as usize;
        let failure = verdict::failure_signature(&last.outcome);
        let same = iterations
            .iter()
            .rev()
            .take_while(|one| {
                !one.outcome.success && verdict::failure_signature(&one.outcome) == failure
            })
            .count();
        (same >= stall).then_some(EndReason::Stalled)
    }
}

/// Whether no further iteration may begin.
fn is_used_up(done: u32, limit: u32, until_done: bool) -> bool {
    (done >= limit && !until_done) || done >= ITERATIONS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_run_goes_on_for_ever() {
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
                is_used_up(done, limit, until_done),
                expected,
                "{done} of {limit}"
            );
        }
    }
}
