//! What a prompt is told, inside a budget, with a receipt.
//!
//! Pure: plain data in, text out. What may be said comes as a [`MemoryView`]; [`render`] cleans each
//! item, chooses by strict priority what fits, and writes the Markdown together with its receipt.

mod choose;
mod clean;
mod parts;
mod share;
mod write;

use clean::Cleaner;
use heirloom_model::Budget;
use heirloom_model::context::{Context, MemoryView};
use heirloom_model::section::{Section, SourceRow};

/// Session Memory for a prompt: the Markdown that fits `budget`, and the receipt of every item.
///
/// The text is made of whole lines, ends with a line break, and is empty when nothing is known or
/// nothing fits. It never exceeds the budget, in characters or in tokens. Priority is strict: the
/// current task, what is pinned, its pending steps, then unresolved errors, decisions and facts, each newest
/// first; while something of a higher rank is cut for room, nothing of a lower rank is in. What was
/// cut is said where there is room to say it.
///
/// Each item stands on one line, without control characters, and its signals are disarmed: no line
/// of the text is a signal of one of the `prefixes`, even when an agent repeats it. The same input
/// gives the same bytes.
pub fn render(view: &MemoryView, budget: Budget, prefixes: &[String]) -> Context {
    let cleaner = Cleaner::new(prefixes);
    let mut parts = parts::of(view, &cleaner, budget.chars());
    choose::choose(&mut parts, budget.chars());
    write::write(&parts, budget)
}

/// The text with the signals in its lines disarmed and its control characters made harmless; lines, blanks and
/// indentation stay, but in a line that was disarmed.
pub fn disarm(text: &str, prefixes: &[String]) -> String {
    Cleaner::new(prefixes).lines(text)
}

/// Adds what the sources have to Session Memory, inside the same budget and on the same receipt.
///
/// `sections` are in the order of priority. Session Memory stays byte for byte what it is. What it leaves is
/// divided by the rows' shares; what a section leaves goes to the next, and what is left at the end to the first that
/// was cut. An item is in whole or not at all; behind the first that does not fit nothing of its source is in. Texts are
/// cleaned as Session Memory's are, but several lines stay several, each indented below the first.
pub fn add_sources(
    memory: Context,
    sections: &[(SourceRow, Section)],
    prefixes: &[String],
) -> Context {
    share::add(memory, sections, &Cleaner::new(prefixes))
}
