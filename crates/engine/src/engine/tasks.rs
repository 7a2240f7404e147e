//! Tasks and their steps.

use super::Engine;
use super::new_record::{bad_name, check_scope};
use heirloom_model::conflict::may_arbitrate;
use heirloom_model::kinds::{ARTIFACT_FILE, Artifact, Mistake, Step, StepState, Task, TaskState};
use heirloom_model::record::check_name;
use heirloom_model::{Fault, Kind, KindData, Merge, Record, Scope};
use heirloom_store::{Applied, Change, Filter};

/// The task of a run or an observation that names none.
pub(super) const TASK_MAIN: &str = "main";

/// What is said about a task; what is not said stays as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskChange {
    /// `issue`, `pr`, or any other word.
    pub task_type: Option<String>,
    /// The phase.
    pub phase: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// The pull request.
    pub pr_number: Option<u64>,
    /// Why it is blocked; an empty text says that it no longer is.
    pub blocked_reason: Option<String>,
    /// Where it stands.
    pub state: Option<TaskState>,
    /// The iteration that worked on it.
    pub iteration: Option<u32>,
}

/// A task with everything that hangs on it, each list oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskDetails {
    /// The task.
    pub task: Record,
    /// Its steps that are done.
    pub completed: Vec<Record>,
    /// Its steps that are still to do.
    pub pending: Vec<Record>,
    /// Its files.
    pub files: Vec<Record>,
    /// Its errors that nobody has resolved.
    pub open_errors: Vec<Record>,
}

/// How far a task is, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskProgress {
    /// Its steps that are done.
    pub done: usize,
    /// All of its steps.
    pub steps: usize,
    /// Its own errors that nobody has resolved.
    pub open_errors: usize,
}

impl Engine {
    /// Creates the task or lays what is said over what is known of it.
    pub fn set_task(&self, id: &str, change: &TaskChange, source: &str) -> Result<Applied, Fault> {
        let change = self.task_change(id, change, source)?;
        self.apply_one(change)
    }

    /// The change that [`Engine::set_task`] writes.
    pub(super) fn task_change(
        &self,
        id: &str,
        said: &TaskChange,
        source: &str,
    ) -> Result<Change, Fault> {
        check_name("task", id).map_err(|e| bad_name(&e))?;
        let scope = Scope {
            task: Some(id.to_owned()),
            phase: said.phase.clone().filter(|phase| !phase.trim().is_empty()),
            iteration: said.iteration,
            ..Scope::default()
        };
        check_scope(&scope)?;
        let known = self.task_record(id)?;
        let known_type = known
            .as_ref()
            .and_then(|record| record.attr_str("type").map(str::to_owned));
        let task_type = said.task_type.clone().or(known_type);
        let mut record = self.draft(
            Kind::Task,
            &Task::title(id, task_type.as_deref()),
            scope,
            source,
        );
        record.key = Some(id.to_owned());
        let typed = Task {
            task_type: said.task_type.clone(),
            branch: said
                .branch
                .clone()
                .filter(|branch| !branch.trim().is_empty()),
            pr_number: said.pr_number,
            blocked_reason: said.blocked_reason.clone(),
            state: said.state,
            ..Task::default()
        };
        record.attrs = typed.to_attrs();
        if known.is_none() && said.blocked_reason.as_deref() == Some("") {
            record.attrs.remove("blocked_reason");
        }
        Ok(Change::Put {
            record: Box::new(record),
            merge: Merge::Task,
        })
    }

    /// The current record of a task.
    pub fn task_record(&self, id: &str) -> Result<Option<Record>, Fault> {
        let filter = Filter::current(&[Kind::Task], self.now()).key(id).limit(1);
        Ok(self.find(&filter)?.pop())
    }

    /// A task with its steps, files and open errors. Errors: `NotFound`.
    pub fn task(&self, id: &str) -> Result<TaskDetails, Fault> {
        let task = self.task_record(id)?.ok_or_else(|| {
            Fault::not_found(format!("no task `{id}` in project `{}`", self.project))
                .hint("`heirloom task list` shows what there is")
        })?;
        let [completed, pending] = self.steps(id)?;
        Ok(TaskDetails {
            task,
            completed,
            pending,
            files: self.files_of(id)?,
            open_errors: self.open_errors(Some(id))?,
        })
    }

    /// How far a task is: counted, where [`Engine::task`] reads.
    pub fn task_progress(&self, id: &str) -> Result<TaskProgress, Fault> {
        let of_task = |kind: Kind| Filter::current(&[kind], self.now()).scope(Scope::of_task(id));
        let done = of_task(Kind::Step).state(StepState::Done.as_str());
        Ok(TaskProgress {
            done: self.count(&done)?,
            steps: self.count(&of_task(Kind::Step))?,
            open_errors: self.count(&of_task(Kind::Error).state(Mistake::OPEN))?,
        })
    }

    /// Every current task, newest first.
    pub fn tasks(&self) -> Result<Vec<Record>, Fault> {
        self.find(&Filter::current(&[Kind::Task], self.now()))
    }

    /// The steps of a task: those done, those pending; each oldest first.
    pub(super) fn steps(&self, task: &str) -> Result<[Vec<Record>; 2], Fault> {
        let filter = Filter::current(&[Kind::Step], self.now())
            .scope(Scope::of_task(task))
            .oldest_first();
        let (done, pending) = self
            .find(&filter)?
            .into_iter()
            .partition(|step| step.state() == Some(StepState::Done.as_str()));
        Ok([done, pending])
    }

    /// The files of a task, oldest first.
    pub(super) fn files_of(&self, task: &str) -> Result<Vec<Record>, Fault> {
        let mut files = self.artifacts_of(task)?;
        files.retain(|record| record.attr_str("type") == Some(ARTIFACT_FILE));
        Ok(files)
    }

    /// Whatever a task has left behind, oldest first.
    pub(super) fn artifacts_of(&self, task: &str) -> Result<Vec<Record>, Fault> {
        let filter = Filter::current(&[Kind::Artifact], self.now())
            .scope(Scope::of_task(task))
            .oldest_first();
        self.find(&filter)
    }

    /// Records a step of a task; done completes the pending step with the same words.
    pub fn step(
        &self,
        task: &str,
        words: &str,
        state: StepState,
        source: &str,
    ) -> Result<Applied, Fault> {
        let scope = Scope {
            agent: agent_of(source),
            ..Scope::of_task(task)
        };
        let changes = [
            self.known_task(task, source)?,
            self.step_change(words, state, scope, source)?,
        ];
        last(&self.apply(&changes)?)
    }

    /// The change that records a step.
    pub(super) fn step_change(
        &self,
        words: &str,
        state: StepState,
        scope: Scope,
        source: &str,
    ) -> Result<Change, Fault> {
        let words = words.trim();
        if words.is_empty() {
            return Err(Fault::usage("the step has no words"));
        }
        check_scope(&scope)?;
        let words = &*self.clean(words);
        let mut record = self.draft(Kind::Step, words, self.clean_scope(scope), source);
        record.key = Some(Step::key(words, record.scope.task.as_deref()));
        record.attrs = Step::in_state(state).to_attrs();
        Ok(Change::Put {
            record: Box::new(record),
            merge: Merge::Step,
        })
    }

    /// The change that records a file as modified; `path` is already normalised.
    pub(super) fn file_change(&self, path: &str, scope: Scope, source: &str) -> Change {
        let path = &*self.clean(path);
        let mut record = self.draft(Kind::Artifact, path, self.clean_scope(scope), source);
        record.key = Some(Artifact::key(path, record.scope.task.as_deref()));
        record.attrs = Artifact::file(path).to_attrs();
        Change::Put {
            record: Box::new(record),
            merge: Merge::Keep,
        }
    }

    /// The change that makes sure a task is known.
    pub(super) fn known_task(&self, id: &str, source: &str) -> Result<Change, Fault> {
        self.task_change(id, &TaskChange::default(), source)
    }
}

/// The last answer of a batch.
pub(super) fn last(applied: &[Applied]) -> Result<Applied, Fault> {
    applied
        .last()
        .copied()
        .ok_or_else(|| Fault::failed("the store did not answer a write"))
}

/// The agent that a source names: everybody but people and orchestrators.
pub(super) fn agent_of(source: &str) -> Option<String> {
    (!may_arbitrate(source)).then(|| source.to_owned())
}
