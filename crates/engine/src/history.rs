//! The history of a conversation: interactions, what of them fits a prompt, and what they come to.
//!
//! Pure: turns in, texts out; bytes in, values and diagnostics out.

mod file;
mod fit;
mod interactions;
mod summary;

pub use file::{FiledInteraction, HistoryFile, HistoryProblem, parse, render};
pub use fit::{Fitted, Line, fit, line_of};
pub use interactions::{Interaction, PART, PLAN, WHOLE, interactions};
pub use summary::{older, recent};
