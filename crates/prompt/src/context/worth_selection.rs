//! Selection of context items by worth: one order that does not depend on the budget, and its longest prefix that fits.
//!
//! The order is a list of steps. A step adds an item in its shortest form, or extends an item to its next form. Because
//! the order is the same for every budget and the selection is always a prefix of it, a larger budget contains
//! everything of a smaller one. A selection that skips an item and continues would fill a little more and lose that
//! property: the skipped item displaces later ones as soon as it fits. Long items therefore have short forms, so that
//! the unused rest is at most one step.
//!
//! Order: guaranteed items, then the best item of each section, then all others by worth for each character. Worth is
//! reduced by similarity to what precedes (MMR). A section that is behind its share in what is selected so far
//! precedes the others, so a share is a floor and not a ceiling. Items of the tail follow at the end.

mod competition;
mod order;
mod repetition;

use heirloom_model::RecordId;
pub use heirloom_model::rating::Tier;
use heirloom_model::similarity::ComparableText;
use order::StepOrder;

/// One candidate of a context. Nothing in it may depend on the budget.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    /// Index of its section.
    pub section: usize,
    /// Tier of the candidate.
    pub tier: Tier,
    /// Characters of each of its forms, ascending, each with everything of the one before. Without a form it is never
    /// selected.
    pub forms: Vec<usize>,
    /// Calibrated relevance to the question, 0 to 1; `None` without a question, or if the source does not compare.
    pub relevance: Option<f64>,
    /// Worth, at least 0: relevance combined with kind, age, confirmations and marks.
    pub worth: f64,
    /// Words for the comparison with other candidates; `None` if it cannot repeat another one.
    pub words: Option<&'a ComparableText>,
    /// Its record, whose id tells which of two near-duplicates is newer.
    pub record: Option<RecordId>,
    /// Index of a candidate that must be selected before this one: the next newer message of a conversation.
    pub requires: Option<usize>,
}

/// One section of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionFrame {
    /// Characters of its heading and closing, added with its first item.
    pub chars: usize,
    /// Share of the section in what competes, percent; a floor. The shares of all sections together claim at most
    /// [`CONTEXT_SHARES_PERCENT_MAX`](heirloom_model::limits::CONTEXT_SHARES_PERCENT_MAX).
    pub share_percent: u32,
    /// Characters of the section that precede the competition, if it has that much.
    pub min_chars: usize,
    /// True if its best item precedes the competition.
    pub has_best: bool,
}

/// Input of a selection.
#[derive(Debug, Clone, Copy)]
pub struct SelectionInput<'a> {
    /// Sections in the order of priority for the best items.
    pub sections: &'a [SectionFrame],
    /// Candidates. Equal ones keep their order.
    pub candidates: &'a [Candidate<'a>],
    /// Relevance that the best item of a section needs to precede the competition.
    pub best_floor: f64,
    /// Relevance below which a competing candidate is left out even if it fits; at most `best_floor`.
    pub floor: f64,
    /// Characters that the opening and the notice about omissions need, reserved with the first item.
    pub reserved_chars: usize,
}

/// Reason of a selection, for the receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectionReason {
    /// It is guaranteed.
    Guaranteed,
    /// It is the best of its source.
    BestOfSource,
    /// It was selected by its worth.
    ByWorth,
    /// Its relevance is below the floor.
    BelowFloor,
    /// It did not fit.
    DidNotFit,
    /// It repeats the candidate with this index.
    DuplicateOf(usize),
    /// It has no text.
    Empty,
}

impl SelectionReason {
    /// Returns true if the candidate is in the context.
    pub fn is_selected(self) -> bool {
        match self {
            Self::Guaranteed | Self::BestOfSource | Self::ByWorth => true,
            Self::BelowFloor | Self::DidNotFit | Self::DuplicateOf(_) | Self::Empty => false,
        }
    }
}

/// Result for one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Reason for selecting it or leaving it out.
    pub reason: SelectionReason,
    /// Index of the selected form.
    pub form: Option<usize>,
}

/// Result of a selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// One verdict for each candidate, in their order.
    pub verdicts: Vec<Verdict>,
    /// Characters of the selected forms, the frames of their sections and the reserved ones; 0 if nothing is selected.
    pub chars: usize,
}

/// Selects the candidates for a budget.
///
/// The result never exceeds `budget_chars`. A larger budget selects the same candidates in the same or longer forms,
/// and perhaps more. Deterministic: equal worth keeps the order of the list.
pub fn select(input: &SelectionInput<'_>, budget_chars: usize) -> Selection {
    let mut order = StepOrder::new(input);
    let mut used: usize = 0;
    while let Some(step) = order.next_step() {
        let opening = if used == 0 { input.reserved_chars } else { 0 };
        match used.checked_add(step.chars + opening) {
            Some(next) if next <= budget_chars => used = next,
            Some(_) | None => break,
        }
        order.take(&step);
    }
    Selection {
        verdicts: order.into_verdicts(),
        chars: used,
    }
}

#[cfg(test)]
#[path = "worth_selection/tests.rs"]
mod tests;
