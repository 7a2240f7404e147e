//! Task list that newer versions change item by item, with `TaskCreate` and `TaskUpdate`.

use super::line_fields::TaskInput;
use crate::json_fields::{Field, as_keyword, as_nonblank_string, as_object};
use crate::transcripts::{PlanItem, item_text};
use heirloom_model::limits::{TRANSCRIPT_PLAN_ITEMS_MAX, TRANSCRIPT_TASK_CHANGES_MAX};
use std::collections::HashMap;

/// Text before the number of a new task in the tool's result.
const CREATED: &str = "Task #";

/// Tools that change the list.
const TOOLS: [&str; 2] = ["TaskCreate", "TaskUpdate"];

/// A change of the list.
#[derive(Debug)]
struct TaskChange {
    call: String,
    /// Number of the task; for a new one it is known from the result.
    task: Option<String>,
    subject: Option<String>,
    status: String,
}

/// Changes of the list in a whole conversation, so that a reader that begins in its middle knows the list.
#[derive(Debug, Default)]
pub(super) struct TaskChanges {
    changes: Vec<TaskChange>,
    /// Changes that create a task, by call.
    creating: HashMap<String, usize>,
}

impl TaskChanges {
    /// Returns true if the tool changes the list.
    pub(super) fn has_tool(tool: &str) -> bool {
        TOOLS.contains(&tool)
    }

    /// Adds a call of one of the tools.
    pub(super) fn add_call(&mut self, call: &str, tool: &str, input: Field<'_>) {
        let Some(input) = as_object::<TaskInput<'_>>(input) else {
            return;
        };
        if self.changes.len() >= TRANSCRIPT_TASK_CHANGES_MAX {
            return;
        }
        let task = as_nonblank_string(input.task_id);
        if tool == "TaskCreate" {
            self.creating.insert(call.to_owned(), self.changes.len());
        }
        self.changes.push(TaskChange {
            call: call.to_owned(),
            task: task.filter(|_| tool != "TaskCreate"),
            subject: as_nonblank_string(input.subject).map(|text| item_text(&text)),
            status: as_keyword(input.status).to_owned(),
        });
    }

    /// Returns true if a message may call one of the tools. Avoids parsing most messages.
    pub(super) fn may_call(message: &str) -> bool {
        TOOLS.iter().any(|tool| contains(message, tool))
    }

    /// Returns true if a message may have the number of a new task that is not known yet.
    pub(super) fn may_number(&self, message: &str) -> bool {
        !self.creating.is_empty() && contains(message, CREATED)
    }

    /// Adds the result of a call.
    pub(super) fn add_result(&mut self, call: &str, text: &str) {
        let Some(place) = self.creating.remove(call) else {
            return;
        };
        let number = text.split_once(CREATED).map(|(_, rest)| rest);
        let number = number.and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
        if let Some(change) = self.changes.get_mut(place) {
            change.task = number
                .filter(|number| !number.is_empty())
                .map(str::to_owned);
        }
    }

    /// Returns the list before the first change.
    pub(super) fn into_list(self) -> TaskList {
        TaskList {
            changes: self.changes.into_iter(),
            tasks: Vec::new(),
        }
    }
}

/// The list, changed as its calls are read.
#[derive(Debug, Default)]
pub(super) struct TaskList {
    changes: std::vec::IntoIter<TaskChange>,
    tasks: Vec<(String, PlanItem)>,
}

impl TaskList {
    /// Returns the list after a call, `None` for a call that changed nothing.
    pub(super) fn after_call(&mut self, call: &str) -> Option<Vec<PlanItem>> {
        // Earlier calls were read in an earlier import.
        if !self
            .changes
            .as_slice()
            .iter()
            .any(|change| change.call == call)
        {
            return None;
        }
        for change in self.changes.by_ref() {
            let is_last = change.call == call;
            apply_change(&mut self.tasks, change);
            if is_last {
                break;
            }
        }
        Some(self.tasks.iter().map(|(_, item)| item.clone()).collect())
    }
}

fn contains(message: &str, word: &str) -> bool {
    memchr::memmem::find(message.as_bytes(), word.as_bytes()).is_some()
}

fn apply_change(tasks: &mut Vec<(String, PlanItem)>, change: TaskChange) {
    // A call that failed created no task.
    let Some(number) = change.task else {
        return;
    };
    let is_done = change.status == "completed";
    let known = tasks.iter().position(|(task, _)| *task == number);
    match (known, change.subject) {
        (Some(place), _) if change.status == "deleted" => {
            tasks.remove(place);
        }
        (Some(place), subject) => {
            if let Some((_, item)) = tasks.get_mut(place) {
                item.is_done = match change.status.is_empty() {
                    true => item.is_done,
                    false => is_done,
                };
                item.text = subject.unwrap_or_else(|| std::mem::take(&mut item.text));
            }
        }
        (None, Some(text)) if tasks.len() < TRANSCRIPT_PLAN_ITEMS_MAX => {
            tasks.push((number, PlanItem { text, is_done }));
        }
        (None, _) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_changes_stop_at_maximum() {
        let mut changes = TaskChanges::default();
        let input = r#"{"taskId":"1","status":"completed"}"#.to_owned();
        let raw = serde_json::value::RawValue::from_string(input).unwrap();
        for n in 0..=TRANSCRIPT_TASK_CHANGES_MAX {
            changes.add_call(&n.to_string(), "TaskUpdate", Some(&raw));
        }
        assert_eq!(changes.changes.len(), TRANSCRIPT_TASK_CHANGES_MAX);
    }
}
