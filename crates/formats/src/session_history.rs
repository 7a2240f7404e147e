//! History of a conversation: interactions, the turns that fit a prompt, and summaries.
//!
//! Pure: turns in, texts out; bytes in, values and diagnostics out.

mod budget_fit;
mod history_format;
mod interactions;
mod summary;

pub use budget_fit::{FittedHistory, HistoryLine, fit_to_budget, render_turn};
pub use history_format::{HistoryEntry, HistoryFile, HistoryProblem, parse, render};
pub use interactions::{INTERACTION_ATTR, Interaction, PART_ATTR, PLAN_PART, interactions};
pub use summary::{render_older, render_recent};
