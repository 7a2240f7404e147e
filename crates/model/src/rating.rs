//! Importance of the items of a context in the selection by worth.

/// Part of the selection in which an item takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Tier {
    /// Precedes everything: the task, pinned records, standing instructions.
    Guaranteed,
    /// Competes even with a relevance below the floor: open errors of the task, the last exchange.
    Exempt,
    /// Competes if it is relevant, or if there is no question.
    #[default]
    Competing,
    /// Follows everything else in the order of its list: older records that only fit a large budget.
    Tail,
}

/// Importance of an item in the selection by worth.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rating {
    /// Part of the selection.
    pub tier: Tier,
    /// Calibrated relevance to the question, 0 to 1; `None` without a question, or if the source does not compare.
    pub relevance: Option<f64>,
    /// Worth, at least 0: relevance combined with kind, age, confirmations and marks.
    pub worth: f64,
}
