//! Open work at the start of a session: pending steps and blocks of tasks that are really open.

use super::SessionStart;
use super::start_text::{StartItem, StartSection};
use heirloom_agents::process::git_state;
use heirloom_engine::{LessonSource, TASK_MAIN};
use heirloom_model::kinds::{Task, TaskState};
use heirloom_model::{Fault, KindData, Record, Session, Timestamp, limits, mark, text};
use std::path::Path;

/// Tasks whose steps are read.
const TASKS_MAX: usize = 10;
const DAY_SECONDS: i64 = 86_400;

impl SessionStart<'_> {
    /// Returns the open work of the checked-out branch, the task that was touched last first. A task counts as open
    /// while a session touches it; the todo list of a session ends with the session. Work without a task has no record.
    pub(super) fn open_work_items(&self, last: &[Session]) -> Result<Vec<StartItem>, Fault> {
        let branch = self.branch();
        let mut works: Vec<(Timestamp, Vec<StartItem>)> = Vec::new();
        let tasks = self.hooks.engine.tasks().list()?;
        let open = tasks
            .iter()
            .filter(|task| is_open_on(task, branch.as_deref()));
        for task in open.take(TASKS_MAX) {
            let id = task.key.as_deref().unwrap_or(TASK_MAIN);
            works.extend(self.work_of(Some(task), id, last)?);
        }
        if !tasks
            .iter()
            .any(|task| task.key.as_deref() == Some(TASK_MAIN))
        {
            works.extend(self.work_of(None, TASK_MAIN, last)?);
        }
        works.sort_by_key(|(touched, _)| std::cmp::Reverse(*touched));
        Ok(works.into_iter().flat_map(|(_, items)| items).collect())
    }

    /// Returns the open work of a task and when it was touched last; `None` for one that was not touched for long.
    fn work_of(
        &self,
        task: Option<&Record>,
        id: &str,
        last: &[Session],
    ) -> Result<Option<(Timestamp, Vec<StartItem>)>, Fault> {
        let [done, mut pending] = self.hooks.engine.tasks().steps(id)?;
        let steps = done.iter().chain(&pending).map(|step| step.recorded_at);
        let touched = steps.chain(task.map(|task| task.recorded_at)).max();
        let Some(touched) = touched.filter(|at| self.is_recent(*at)) else {
            return Ok(None);
        };
        pending.retain(|step| {
            !mark::is_muted(&step.attrs)
                && is_left_on_purpose(step, last)
                // Work without a task never ends, so that only the age of a step shows that it is open.
                && (id != TASK_MAIN || self.is_recent(step.recorded_at))
        });
        let mut items: Vec<StartItem> = Vec::new();
        if let Some(task) = task
            && let Some(why) = task.attr_str("blocked_reason")
        {
            let line = line_of(Some(task), id, &format!("blocked: {why}"));
            items.push(self.start_item(task, StartSection::OpenWork, &line));
        }
        items.extend(pending.iter().map(|step| {
            let line = line_of(task, id, &step.text);
            self.start_item(step, StartSection::OpenWork, &line)
        }));
        Ok(Some((touched, items)))
    }

    /// Returns the branch that is checked out where the session works.
    pub(super) fn branch(&self) -> Option<String> {
        let folder = self.request.event.cwd.as_deref().map(Path::new);
        git_state::read_branch(folder.unwrap_or(self.hooks.engine.root()))
    }

    fn is_recent(&self, at: Timestamp) -> bool {
        let age = self
            .hooks
            .engine
            .now()
            .as_second()
            .saturating_sub(at.as_second());
        age <= limits::HOOK_START_WORK_DAYS * DAY_SECONDS
    }
}

/// Returns true for a task in progress that is not the work of another branch.
fn is_open_on(task: &Record, branch: Option<&str>) -> bool {
    let Ok(typed) = Task::from_record(task) else {
        return false;
    };
    let is_open = matches!(typed.state, None | Some(TaskState::Open));
    let is_here = match (&typed.branch, branch) {
        (Some(of_task), Some(checked_out)) => of_task == checked_out,
        (Some(_) | None, _) => true,
    };
    is_open && is_here && !mark::is_muted(&task.attrs)
}

/// Returns true for a step that was left for later: not an entry of a session's todo list, and no step of a
/// session that others followed.
fn is_left_on_purpose(step: &Record, last: &[Session]) -> bool {
    let is_of_last = |id: &str| last.iter().any(|session| session.id == id);
    LessonSource::of_record(step).is_none() && step.scope.session.as_deref().is_none_or(is_of_last)
}

/// Formats one thing to do, with its task if it has one.
fn line_of(task: Option<&Record>, id: &str, what: &str) -> String {
    let words = match task.filter(|_| id != TASK_MAIN) {
        None => what.to_owned(),
        Some(task) => match task.attr_str("title") {
            Some(title) => format!("{}, {}: {what}", task.text, text::excerpt(title, 60)),
            None => format!("{}: {what}", task.text),
        },
    };
    text::excerpt_at_word(&words, limits::HOOK_START_ITEM_CHARS_MAX)
}
