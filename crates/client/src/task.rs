//! A task, from its start to its end.

use crate::answers::{Context, EndedTask, LoggedError, Outcome, TaskDetails};
use crate::errors::Error;
use crate::operations as op;
use crate::request_bodies::{NewStep, TaskEnd, TaskFields};
use crate::requests::{ContextQuery, NewError, NewKnowledge, StepState, TaskState};
use crate::transport::Transport;
use std::fmt;

/// Length of the text of an error in an outcome.
const OUTCOME_CHARS: usize = 1_000;

/// Outcome of a task that was left before it was done.
const LEFT: &str = "it was left before it was done";

/// Task that is not opened yet.
#[derive(Clone)]
#[must_use = "`open` or `run` opens the task"]
pub struct TaskBuilder {
    transport: Transport,
    id: String,
    fields: TaskFields,
    approach: Option<String>,
}

/// Open task. One that is dropped without [`Task::done`], [`Task::fail`] or [`Task::keep_open`] ends as failed.
///
/// The drop sends a request, with the retries of the client; an error of it is not reported.
///
/// ```no_run
/// # fn main() -> Result<(), heirloom_client::Error> {
/// # let memory = heirloom_client::Memory::new()?;
/// let task = memory.task("42").agent("coder").approach("mock the clock").open()?;
/// let prompt = task.context(&heirloom_client::ContextQuery::new().budget_tokens(2000))?.text;
/// task.step("Wrote the failing test")?;
/// task.done("all green")?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a dropped task ends as failed"]
pub struct Task {
    transport: Transport,
    id: String,
    agent: Option<String>,
    phase: Option<String>,
    approach: Option<String>,
    is_open: bool,
}

impl TaskBuilder {
    pub(crate) fn new(transport: Transport, id: String) -> Self {
        Self {
            transport,
            id,
            fields: TaskFields::default(),
            approach: None,
        }
    }

    /// Sets its type: issue, pr, or any other word.
    pub fn task_type(mut self, task_type: impl Into<String>) -> Self {
        self.fields.task_type = Some(task_type.into());
        self
    }

    /// Sets its title in a person's words.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.fields.title = Some(title.into());
        self
    }

    /// Sets its branch.
    pub fn branch(mut self, branch: impl Into<String>) -> Self {
        self.fields.branch = Some(branch.into());
        self
    }

    /// Sets its phase.
    pub fn phase(mut self, phase: impl Into<String>) -> Self {
        self.fields.phase = Some(phase.into());
        self
    }

    /// Sets the agent that works at it, which is the source of its records.
    pub fn agent(mut self, agent: impl Into<String>) -> Self {
        self.fields.source = Some(agent.into());
        self
    }

    /// Sets the approach of this attempt.
    pub fn approach(mut self, approach: impl Into<String>) -> Self {
        self.approach = Some(approach.into());
        self
    }

    /// Returns the task with its steps, files and open errors, without opening it.
    pub fn details(&self) -> Result<TaskDetails, Error> {
        self.transport.call(&op::GET_TASK, Some(&self.id), &[])
    }

    /// Opens the task, or opens it again.
    pub fn open(mut self) -> Result<Task, Error> {
        self.fields.state = Some(TaskState::Open);
        let _: Outcome = self
            .transport
            .call_with(&op::SET_TASK, Some(&self.id), &self.fields)?;
        Ok(Task {
            transport: self.transport,
            id: self.id,
            agent: self.fields.source,
            phase: self.fields.phase,
            approach: self.approach,
            is_open: true,
        })
    }

    /// Opens the task, does the work and ends the task: as done, or as failed if the work returned an error or panicked.
    ///
    /// The work may change the approach, and may end the task itself with [`Task::end_as`].
    ///
    /// ```no_run
    /// # fn main() -> Result<(), heirloom_client::Error> {
    /// # let memory = heirloom_client::Memory::new()?;
    /// let passed = memory.task("42").agent("coder").run(|task| {
    ///     task.step("Wrote the failing test")?;
    ///     Ok::<_, heirloom_client::Error>(17)
    /// })?;
    /// # let _: i32 = passed;
    /// # Ok(())
    /// # }
    /// ```
    pub fn run<T, E>(self, work: impl FnOnce(&mut Task) -> Result<T, E>) -> Result<T, E>
    where
        E: fmt::Display + From<Error>,
    {
        let mut task = self.open()?;
        match work(&mut task) {
            Ok(value) => {
                if task.is_open {
                    task.end_as(TaskState::Done, None)?;
                }
                Ok(value)
            }
            Err(error) => {
                if task.is_open {
                    let outcome: String = error.to_string().chars().take(OUTCOME_CHARS).collect();
                    // The caller gets the error of the work, not that of the end.
                    drop(task.end_as(TaskState::Failed, Some(&outcome)));
                    task.is_open = false;
                }
                Err(error)
            }
        }
    }
}

impl Task {
    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Sets the approach of this attempt, which its episode has.
    pub fn set_approach(&mut self, approach: impl Into<String>) {
        self.approach = Some(approach.into());
    }

    /// Records a completed step.
    pub fn step(&self, text: impl Into<String>) -> Result<Outcome, Error> {
        self.record_step(text.into(), StepState::Done)
    }

    /// Records a pending step; [`Task::step`] with the same text completes it.
    pub fn plan(&self, text: impl Into<String>) -> Result<Outcome, Error> {
        self.record_step(text.into(), StepState::Pending)
    }

    fn record_step(&self, text: String, state: StepState) -> Result<Outcome, Error> {
        let step = NewStep {
            text,
            state,
            agent_id: self.agent.clone(),
        };
        self.transport
            .call_with(&op::RECORD_STEP, Some(&self.id), &step)
    }

    /// Logs an error of the task.
    pub fn log_error(&self, error: impl Into<NewError>) -> Result<LoggedError, Error> {
        let mut error: NewError = error.into();
        error.task_id = Some(self.id.clone());
        error.phase = error.phase.or_else(|| self.phase.clone());
        error.agent_id = error.agent_id.or_else(|| self.agent.clone());
        self.transport.call_with(&op::LOG_ERROR, None, &error)
    }

    /// Stores knowledge with the task as its scope.
    pub fn remember(&self, knowledge: impl Into<NewKnowledge>) -> Result<Outcome, Error> {
        let mut knowledge: NewKnowledge = knowledge.into();
        knowledge.task_id = Some(self.id.clone());
        knowledge.agent_id = knowledge.agent_id.or_else(|| self.agent.clone());
        self.transport
            .call_with(&op::ADD_KNOWLEDGE, None, &knowledge)
    }

    /// Builds the context of a prompt for the task.
    pub fn context(&self, query: &ContextQuery) -> Result<Context, Error> {
        let mut query = query.clone();
        query.task_id = Some(self.id.clone());
        query.agent_id = query.agent_id.or_else(|| self.agent.clone());
        query.phase = query.phase.or_else(|| self.phase.clone());
        self.transport.call_with(&op::BUILD_CONTEXT, None, &query)
    }

    /// Returns the task with its steps, files and open errors.
    pub fn details(&self) -> Result<TaskDetails, Error> {
        self.transport.call(&op::GET_TASK, Some(&self.id), &[])
    }

    /// Ends the task as done.
    pub fn done(mut self, outcome: &str) -> Result<EndedTask, Error> {
        self.end_as(TaskState::Done, Some(outcome))
    }

    /// Ends the task as failed.
    pub fn fail(mut self, outcome: &str) -> Result<EndedTask, Error> {
        self.end_as(TaskState::Failed, Some(outcome))
    }

    /// Ends the task in this state, done or failed. Each end is an episode, which a search for its approach finds.
    pub fn end_as(&mut self, state: TaskState, outcome: Option<&str>) -> Result<EndedTask, Error> {
        let end = TaskEnd {
            state,
            approach: self.approach.clone(),
            outcome: outcome.filter(|text| !text.is_empty()).map(str::to_owned),
            agent_id: self.agent.clone(),
        };
        let ended = self
            .transport
            .call_with(&op::END_TASK, Some(&self.id), &end)?;
        self.is_open = false;
        Ok(ended)
    }

    /// Leaves the task open.
    pub fn keep_open(mut self) {
        self.is_open = false;
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if self.is_open {
            // The error that left the scope is the one to report.
            drop(self.end_as(TaskState::Failed, Some(LEFT)));
        }
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Task").field(&self.id).finish()
    }
}

impl fmt::Debug for TaskBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskBuilder").field(&self.id).finish()
    }
}
