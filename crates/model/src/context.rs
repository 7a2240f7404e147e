//! What a context contains, what was cut, and why: sections, items and the receipt.

use crate::section::Origin;
use crate::{Budget, RecordId};

/// One thing that a section may say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The record that it comes from, if it comes from one.
    pub id: Option<RecordId>,
    /// The line or words as they would stand in the context.
    pub text: String,
}

/// What is known of the current task, each list oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskView {
    /// The record of the task, if there is one yet.
    pub id: Option<RecordId>,
    /// `Issue #42`, `PR #7` or `Task ID`.
    pub title: String,
    /// The phase, if it is known.
    pub phase: Option<String>,
    /// The branch, if it is known.
    pub branch: Option<String>,
    /// The pull request, if there is one.
    pub pr_number: Option<u64>,
    /// Why it cannot go on.
    pub blocked_reason: Option<String>,
    /// Steps that are done.
    pub completed: Vec<Item>,
    /// Steps that are still to do.
    pub pending: Vec<Item>,
    /// Files modified.
    pub files: Vec<Item>,
}

/// Everything that Session Memory may say. Lists are oldest first; rendering decides the order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryView {
    /// The current task.
    pub task: Option<TaskView>,
    /// What somebody pinned: it is said before everything but what the task is.
    pub pinned: Vec<Item>,
    /// Errors that nobody has resolved.
    pub errors: Vec<ErrorItem>,
    /// Decisions.
    pub decisions: Vec<Item>,
    /// There are older decisions than those.
    pub decisions_go_on: bool,
    /// Key facts, conventions and learnings.
    pub facts: Vec<Item>,
    /// There are older facts than those.
    pub facts_go_on: bool,
    /// What was tried for the task, in the order in which it is said.
    pub tried: Vec<Item>,
    /// What the task has left behind besides its modified files.
    pub artifacts: Vec<Item>,
}

/// An unresolved error with where it happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorItem {
    /// Its record.
    pub id: Option<RecordId>,
    /// The iteration, if it is known.
    pub iteration: Option<u32>,
    /// The phase, if it is known.
    pub phase: Option<String>,
    /// The error.
    pub text: String,
}

/// Why an item is in a context or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// It is in.
    Included,
    /// A part of it is in: whole lines, as many as had room.
    Cut,
    /// The budget was used up by what stands before it in the order of priority.
    OverBudget,
    /// It alone is larger than the budget.
    TooLarge,
    /// What its source may take was used up by what that source wants more.
    OverShare,
    /// Nothing is left of it once control characters and signal lines are taken out.
    Empty,
}

impl Reason {
    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Included => "included",
            Self::Cut => "cut to its first lines",
            Self::OverBudget => "over budget",
            Self::OverShare => "over its share",
            Self::TooLarge => "larger than the budget",
            Self::Empty => "empty",
        }
    }
}

/// One line of a receipt.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceiptItem {
    /// The record, if it comes from one.
    pub id: Option<RecordId>,
    /// The file, `path` or `path:line`, if it comes from one.
    pub file: Option<String>,
    /// How much its source wanted it, if the source can tell.
    pub score: Option<f64>,
    /// The item's text, shortened.
    pub excerpt: String,
    /// Its size in characters, as it stands or would stand in the context.
    pub chars: usize,
    /// In, or out and why.
    pub reason: Reason,
}

impl ReceiptItem {
    /// Names where the item is from.
    pub fn from(mut self, origin: &Origin) -> Self {
        match origin {
            Origin::Nowhere => {}
            Origin::Record(id) => self.id = Some(*id),
            Origin::File { path, line } => {
                self.file = Some(match line {
                    Some(line) => format!("{path}:{line}"),
                    None => path.clone(),
                });
            }
        }
        self
    }

    /// Whether it is in the context.
    pub fn included(&self) -> bool {
        matches!(self.reason, Reason::Included | Reason::Cut)
    }
}

/// One section of a receipt.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceiptSection {
    /// Its name: `Task`, `Pinned`, `Unresolved Errors`, `Key Decisions`, `Key Facts`, `Tried Before`, `Artifacts`;
    /// behind these the sources by the names of their rows.
    pub name: String,
    /// Characters that the section takes in the context, headings and line breaks included.
    pub chars: usize,
    /// Its items, in the order of the context, then those that were cut.
    pub items: Vec<ReceiptItem>,
}

/// A rendered context and its receipt.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// The Markdown; empty when nothing is known or nothing fits.
    pub text: String,
    /// What was asked for.
    pub budget: Budget,
    /// Section by section, in the order of the context. Their `chars` add up to the text's.
    pub sections: Vec<ReceiptSection>,
    /// What should be known of the sources: what failed, what was cut.
    pub notes: Vec<String>,
}
