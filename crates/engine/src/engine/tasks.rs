//! Tasks and their steps, files and errors.

use super::Engine;
use super::new_record::{check_scope, name_fault};
use super::redaction::Redacted;
use heirloom_model::conflict::can_arbitrate;
use heirloom_model::kinds::{
    ARTIFACT_FILE, Artifact, ErrorRecord, Step, StepState, Task, TaskState,
};
use heirloom_model::record::check_name;
use heirloom_model::{Fault, Kind, KindData, MergeRule, Record, Scope};
use heirloom_store::{AppliedChange, Change, Filter};

/// Scope of the steps, files and attempts of work without a task. It is not a task: a record of it exists only after
/// a user set the task of this name, or an agent reported a block.
pub const TASK_MAIN: &str = "main";

/// Returns the task of a scope if a caller named it; `None` for work without a task.
pub fn named_task(task: Option<&str>) -> Option<&str> {
    task.filter(|task| *task != TASK_MAIN)
}

/// Changes of a task; fields that are `None` stay unchanged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskChange {
    /// `issue`, `pr`, or any other word.
    pub task_type: Option<String>,
    /// Title in a person's words; an empty text removes it.
    pub title: Option<String>,
    /// The phase.
    pub phase: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// The pull request.
    pub pr_number: Option<u64>,
    /// Reason of a block; an empty text removes it.
    pub blocked_reason: Option<String>,
    /// State.
    pub state: Option<TaskState>,
    /// Last iteration.
    pub iteration: Option<u32>,
}

/// Task with its records, each list oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskDetails {
    /// The task.
    pub task: Record,
    /// Completed steps.
    pub completed: Vec<Record>,
    /// Pending steps.
    pub pending: Vec<Record>,
    /// Files.
    pub files: Vec<Record>,
    /// Open errors.
    pub open_errors: Vec<Record>,
}

/// Progress of a task in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskProgress {
    /// Number of completed steps.
    pub done: usize,
    /// Number of all steps.
    pub steps: usize,
    /// Number of its open errors.
    pub open_errors: usize,
}

/// Tasks with their steps, iterations, outcomes and episodes.
#[derive(Clone, Copy)]
pub struct Tasks<'e> {
    pub(super) engine: &'e Engine,
}

impl Tasks<'_> {
    /// Creates a task or merges changes into it.
    pub fn set(&self, id: &str, change: &TaskChange, source: &str) -> Result<AppliedChange, Fault> {
        let change = self.task_change(id, change, source)?;
        self.engine.records().apply_one(change)
    }

    /// Returns the change of [`Self::set`].
    pub fn task_change(
        &self,
        id: &str,
        change: &TaskChange,
        source: &str,
    ) -> Result<Change, Fault> {
        check_name("task", id).map_err(|e| name_fault(&e))?;
        let scope = Scope {
            task: Some(id.to_owned()),
            phase: change
                .phase
                .clone()
                .filter(|phase| !phase.trim().is_empty()),
            iteration: change.iteration,
            ..Scope::default()
        };
        check_scope(&scope)?;
        let known = self.task_record(id)?;
        let known_type = known
            .as_ref()
            .and_then(|record| record.attr_str("type").map(str::to_owned));
        let task_type = change.task_type.clone().or(known_type);
        let mut record = self.engine.records().draft(
            Kind::Task,
            &Task::title(id, task_type.as_deref()),
            scope,
            source,
        );
        record.key = Some(id.to_owned());
        let typed = Task {
            task_type: change.task_type.clone(),
            title: change.title.as_deref().map(one_line_title),
            branch: change
                .branch
                .clone()
                .filter(|branch| !branch.trim().is_empty()),
            pr_number: change.pr_number,
            blocked_reason: change.blocked_reason.clone(),
            state: change.state,
            ..Task::default()
        };
        record.attrs = typed.to_attrs();
        if known.is_none() {
            for (name, value) in [
                ("blocked_reason", &change.blocked_reason),
                ("title", &change.title),
            ] {
                if value.as_deref().is_some_and(|text| text.trim().is_empty()) {
                    record.attrs.remove(name);
                }
            }
        }
        Ok(Change::Put {
            record: Box::new(record),
            merge: MergeRule::Task,
        })
    }

    /// Returns the current record of a task.
    pub fn task_record(&self, id: &str) -> Result<Option<Record>, Fault> {
        let filter = Filter::current(&[Kind::Task], self.engine.now())
            .key(id)
            .limit(1);
        Ok(self.engine.records().find(&filter)?.pop())
    }

    /// Returns a task with its steps, files and open errors. Errors: `NotFound`.
    pub fn get(&self, id: &str) -> Result<TaskDetails, Fault> {
        let task = self.task_record(id)?.ok_or_else(|| {
            Fault::not_found(format!(
                "no task `{id}` in project `{}`",
                self.engine.display_name()
            ))
            .hint("`heirloom task list` lists the tasks")
        })?;
        let [completed, pending] = self.steps(id)?;
        Ok(TaskDetails {
            task,
            completed,
            pending,
            files: self.files_of(id)?,
            open_errors: self.engine.errors().open(Some(id))?,
        })
    }

    /// Returns the progress of a task by counting, without reading the records.
    pub fn progress(&self, id: &str) -> Result<TaskProgress, Fault> {
        let of_task =
            |kind: Kind| Filter::current(&[kind], self.engine.now()).scope(Scope::of_task(id));
        let done = of_task(Kind::Step).state(StepState::Done.as_str());
        Ok(TaskProgress {
            done: self.engine.records().count(&done)?,
            steps: self.engine.records().count(&of_task(Kind::Step))?,
            open_errors: self
                .engine
                .records()
                .count(&of_task(Kind::Error).state(ErrorRecord::OPEN))?,
        })
    }

    /// Returns all current tasks, newest first.
    pub fn list(&self) -> Result<Vec<Record>, Fault> {
        self.engine
            .records()
            .find(&Filter::current(&[Kind::Task], self.engine.now()))
    }

    /// Returns the completed and the pending steps of a task, each oldest first.
    pub fn steps(&self, task: &str) -> Result<[Vec<Record>; 2], Fault> {
        let filter = Filter::current(&[Kind::Step], self.engine.now())
            .scope(Scope::of_task(task))
            .oldest_first();
        let (done, pending) = self
            .engine
            .records()
            .find(&filter)?
            .into_iter()
            .partition(|step| step.state() == Some(StepState::Done.as_str()));
        Ok([done, pending])
    }

    /// Returns the files of a task, oldest first.
    pub(super) fn files_of(&self, task: &str) -> Result<Vec<Record>, Fault> {
        let mut files = self.artifacts_of(task)?;
        files.retain(|record| record.attr_str("type") == Some(ARTIFACT_FILE));
        Ok(files)
    }

    /// Returns all artifacts of a task, oldest first.
    pub(super) fn artifacts_of(&self, task: &str) -> Result<Vec<Record>, Fault> {
        let filter = Filter::current(&[Kind::Artifact], self.engine.now())
            .scope(Scope::of_task(task))
            .oldest_first();
        self.engine.records().find(&filter)
    }

    /// Records a step of a task; `Done` completes a pending step with the same words.
    pub fn step(
        &self,
        task: &str,
        words: &str,
        state: StepState,
        source: &str,
    ) -> Result<AppliedChange, Fault> {
        let scope = Scope {
            agent: agent_of_file_name(source),
            ..Scope::of_task(task)
        };
        let step = self.step_change(
            self.engine.redaction().redact_text(words.trim()).as_text(),
            state,
            self.engine.redaction().redact_scope(scope),
            source,
        )?;
        let known = self.known_task(task, source)?;
        let changes: Vec<Change> = known.into_iter().chain([step]).collect();
        last(&self.engine.apply(&changes)?)
    }

    /// Returns the change that records a step.
    pub fn step_change(
        &self,
        words: Redacted<&str>,
        state: StepState,
        scope: Redacted<Scope>,
        source: &str,
    ) -> Result<Change, Fault> {
        let words = words.trim();
        if words.is_empty() {
            return Err(Fault::usage("the step has no words"));
        }
        check_scope(&scope)?;
        let mut record = self
            .engine
            .records()
            .draft(Kind::Step, words, scope.into_inner(), source);
        record.key = Some(Step::key(words, record.scope.task.as_deref()));
        record.attrs = Step::with_state(state).to_attrs();
        Ok(Change::Put {
            record: Box::new(record),
            merge: MergeRule::Step,
        })
    }

    /// Returns the change that records a file as modified; `path` must be normalised.
    pub fn file_change(
        &self,
        path: Redacted<&str>,
        scope: Redacted<Scope>,
        source: &str,
    ) -> Change {
        let mut record =
            self.engine
                .records()
                .draft(Kind::Artifact, &path, scope.into_inner(), source);
        record.key = Some(Artifact::key(&path, record.scope.task.as_deref()));
        record.attrs = Artifact::file(&path).to_attrs();
        Change::Put {
            record: Box::new(record),
            merge: MergeRule::Keep,
        }
    }

    /// Returns the change that creates a missing task; `None` for work without a task.
    pub(super) fn known_task(&self, id: &str, source: &str) -> Result<Option<Change>, Fault> {
        let named = named_task(Some(id));
        named
            .map(|id| self.task_change(id, &TaskChange::default(), source))
            .transpose()
    }
}

/// Puts a title on one line.
fn one_line_title(title: &str) -> String {
    title.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the last answer of a transaction.
pub(super) fn last(applied: &[AppliedChange]) -> Result<AppliedChange, Fault> {
    applied
        .last()
        .copied()
        .ok_or_else(|| Fault::failed("the store did not answer a write"))
}

/// Returns the agent of a source; `None` for users and orchestrators.
pub(super) fn agent_of_file_name(source: &str) -> Option<String> {
    (!can_arbitrate(source)).then(|| source.to_owned())
}
