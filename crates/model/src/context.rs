//! Content and receipt of a context: items, sections, and the reasons for leaving items out.

use crate::rating::Rating;
use crate::section::Origin;
use crate::{Budget, EndReason, RecordId};
use std::borrow::Cow;

/// One candidate item of a section.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ContextItem {
    /// Record of origin, if any.
    pub id: Option<RecordId>,
    /// Text of the item as rendered in the context.
    pub text: String,
    /// Importance of the item.
    pub rating: Rating,
    /// True for a learning: the best one precedes the competition apart from the best fact.
    pub is_learning: bool,
}

/// State of the current task; each list is oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskView {
    /// Record of the task, if it exists.
    pub id: Option<RecordId>,
    /// `Issue #42`, `PR #7` or `Task ID`.
    pub title: String,
    /// Phase of the task, if known.
    pub phase: Option<String>,
    /// Branch, if known.
    pub branch: Option<String>,
    /// Number of the pull request, if any.
    pub pr_number: Option<u64>,
    /// Reason why the task is blocked.
    pub blocked_reason: Option<String>,
    /// Completed steps.
    pub completed: Vec<ContextItem>,
    /// Pending steps.
    pub pending: Vec<ContextItem>,
    /// Modified files.
    pub files: Vec<ContextItem>,
}

/// Input of the Session Memory section. Lists are oldest first; rendering decides the order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MemoryView {
    /// The current task.
    pub task: Option<TaskView>,
    /// Pinned items; they come before everything except the task.
    pub pinned: Vec<ContextItem>,
    /// Open errors.
    pub errors: Vec<ErrorItem>,
    /// Decisions.
    pub decisions: Vec<ContextItem>,
    /// True if older decisions exist than those listed.
    pub has_more_decisions: bool,
    /// Key facts, conventions and learnings.
    pub facts: Vec<ContextItem>,
    /// True if older facts exist than those listed.
    pub has_more_facts: bool,
    /// Earlier attempts at the task, in rendering order.
    pub attempts: Vec<ContextItem>,
    /// Artifacts of the task other than modified files.
    pub artifacts: Vec<ContextItem>,
}

/// An open error with its iteration and phase.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ErrorItem {
    /// Record of the error.
    pub id: Option<RecordId>,
    /// Iteration, if known.
    pub iteration: Option<u32>,
    /// Phase of the task, if known.
    pub phase: Option<String>,
    /// Text of the error.
    pub text: String,
    /// Importance of the error.
    pub rating: Rating,
}

/// Reason why an item is in a context or was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InclusionReason {
    /// The whole item is included.
    Included,
    /// Some of its whole lines are included, as many as fit.
    Cut {
        /// Size of the whole item in characters.
        of_chars: usize,
    },
    /// Items of higher priority used up the budget.
    OverBudget,
    /// The item alone is larger than the budget.
    TooLarge,
    /// Other items of the same source used up the source's share.
    OverShare,
    /// No text is left after removing control characters and signal lines.
    Empty,
    /// Included before everything else.
    Guaranteed,
    /// Included as the best item of its source.
    BestOfSource,
    /// Included by its worth.
    ByWorth,
    /// Left out because it is not relevant to the question.
    BelowFloor,
    /// Left out because items of more worth used up the budget.
    DidNotFit,
    /// Left out because another item has the same text; its record, if it has one.
    DuplicateOf(Option<RecordId>),
    /// Left out because the record has ended.
    Ended(EndReason),
}

impl InclusionReason {
    /// Returns true if the item was left out only for lack of space.
    pub fn is_lack_of_space(self) -> bool {
        matches!(
            self,
            Self::OverBudget | Self::TooLarge | Self::OverShare | Self::DidNotFit
        )
    }

    /// Returns the text for receipts.
    pub fn text(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Included => "included",
            Self::Cut { of_chars } => {
                return Cow::Owned(format!("cut from {of_chars} characters"));
            }
            Self::OverBudget => "over budget",
            Self::OverShare => "over its share",
            Self::TooLarge => "larger than the budget",
            Self::Empty => "empty",
            Self::Guaranteed => "guaranteed",
            Self::BestOfSource => "best of its source",
            Self::ByWorth => "by worth",
            Self::BelowFloor => "below the relevance floor",
            Self::DidNotFit => "did not fit",
            Self::Ended(reason) => return reason.text(),
            Self::DuplicateOf(None) => "duplicate of another item",
            Self::DuplicateOf(Some(id)) => return Cow::Owned(format!("duplicate of {id}")),
        })
    }
}

/// One item of a receipt.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceiptItem {
    /// Record of origin, if any.
    pub id: Option<RecordId>,
    /// File of origin as `path` or `path:line`, if any.
    pub file: Option<String>,
    /// Relevance score of the source, if it has one.
    pub score: Option<f64>,
    /// Calibrated relevance to the question, 0 to 1, if it was compared.
    pub relevance: Option<f64>,
    /// Worth in the selection, if it competed.
    pub worth: Option<f64>,
    /// Shortened text of the item.
    pub excerpt: String,
    /// Size in the context, or size that it would have, in characters.
    pub chars: usize,
    /// Reason for including it or leaving it out.
    pub reason: InclusionReason,
}

impl ReceiptItem {
    /// Sets the origin of the item.
    pub fn with_origin(mut self, origin: &Origin) -> Self {
        match origin {
            Origin::Unspecified => {}
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

    /// Returns true if the item, or a part of it, is in the context.
    pub fn is_included(&self) -> bool {
        matches!(
            self.reason,
            InclusionReason::Included
                | InclusionReason::Cut { .. }
                | InclusionReason::Guaranteed
                | InclusionReason::BestOfSource
                | InclusionReason::ByWorth
        )
    }
}

/// One section of a receipt.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceiptSection {
    /// Section name: `Task`, `Pinned`, `Unresolved Errors`, `Key Decisions`, `Key Facts`, `Tried Before`,
    /// `Artifacts`, then the names of the source rows.
    pub name: String,
    /// Size of the section in the context including headings and line breaks, in characters.
    pub chars: usize,
    /// Included items in context order, then those left out.
    pub items: Vec<ReceiptItem>,
}

/// A rendered context and its receipt.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// Markdown text; empty if memory is empty or no item fits.
    pub text: String,
    /// Standing instructions of people, if they were requested apart from the text; otherwise empty.
    pub rules: String,
    /// Requested budget.
    pub budget: Budget,
    /// Sections in context order. Their `chars` add up to the length of the text.
    pub sections: Vec<ReceiptSection>,
    /// Notes about sources that failed or were cut.
    pub notes: Vec<String>,
}
