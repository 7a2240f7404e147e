//! Context assembly: selects memory for a prompt within a budget and writes the receipt.
//!
//! Pure: plain data in, text out. The input is a [`MemoryView`]; [`render`] sanitizes each item, selects entries by
//! strict priority and writes the Markdown together with its receipt.

mod blocks;
mod budget_allocation;
mod line_cut;
mod markdown;
mod measured_offer;
mod priority_selection;
mod sanitize;
mod worth;
pub mod worth_selection;

use budget_allocation::SourceAllocation;
use budget_allocation::directive_text::{self, DirectiveText};
use heirloom_model::Budget;
use heirloom_model::context::{Context, MemoryView};
use heirloom_model::limits;
use heirloom_model::prompt_safety::neutralize_block;
use heirloom_model::section::{Section, SourceRow};
use sanitize::Sanitizer;
pub use worth::{NOTHING_ASKED, StandingAllowance, WorthInput, render_by_worth};

/// Renders Session Memory for a prompt: the Markdown that fits `budget`, and the receipt of every item.
///
/// The text consists of whole lines, ends with a line break, and is empty if nothing is known or nothing fits. It
/// never exceeds the budget, in characters or in tokens. Priority is strict: the current task, pinned records, the
/// task's pending steps, then unresolved errors, decisions and facts, each newest first. While an entry of a higher
/// rank is omitted for lack of space, no entry of a lower rank is included. Omissions are mentioned if there is space
/// for the notice.
///
/// Each item takes one line, has no control characters, and its signals are neutralized: no line of the text is a
/// signal of one of the `prefixes`, even if an agent repeats it. The function is deterministic.
pub fn render(view: &MemoryView, budget: Budget, prefixes: &[String]) -> Context {
    let sanitizer = Sanitizer::new(prefixes);
    let mut blocks = blocks::from_view(view, &sanitizer, budget.chars());
    priority_selection::select_entries(&mut blocks, budget.chars());
    markdown::write_context(&blocks, budget)
}

/// Renders Session Memory as [`render`] and reserves the space of `named`, what directives name, which [`add_sources`]
/// adds. Session Memory gets the rest of the budget, and at least a tenth of it.
pub fn render_with_named(
    named: &[(SourceRow, Section)],
    view: &MemoryView,
    budget: Budget,
    prefixes: &[String],
) -> Context {
    let sanitizer = Sanitizer::new(prefixes);
    let chars = budget.chars();
    let measure = |(row, section)| SourceAllocation::measure(row, section, &sanitizer, chars);
    let allocations: Vec<SourceAllocation<'_>> = (named.iter())
        .map(|(row, section)| measure((row, section)))
        .collect();
    let needed = DirectiveText::needed_chars(&allocations);
    let rest = chars - directive_text::guaranteed_chars(needed, chars);
    let rest = match budget {
        Budget::Chars(_) => Budget::Chars(rest),
        Budget::Tokens(_) => Budget::Tokens(rest / limits::CHARS_PER_TOKEN),
    };
    Context {
        budget,
        ..render(view, rest, prefixes)
    }
}

/// Neutralizes the signals and the markup of hosts in the lines of a text that is put into a block of code. Lines, blanks
/// and indentation are preserved, except in a line with a signal.
pub fn neutralize_signals(text: &str, prefixes: &[String]) -> String {
    Sanitizer::new(prefixes).sanitize_lines(text, neutralize_block)
}

/// Adds the sections of the context sources to Session Memory, within the same budget and on the same receipt.
///
/// `sections` are in the order of priority. Session Memory is preserved byte for byte. What directives name comes first,
/// as much of it as fits. The rest is divided by the shares of the rows; what a section does not use goes to the next
/// one, and what remains at the end to the first sections that were cut. An item is included whole or not at all; after
/// the first item that does not fit, no further item of its source is included. Texts are sanitized as in Session
/// Memory, but several lines remain several lines, each indented below the first.
pub fn add_sources(
    memory: Context,
    sections: &[(SourceRow, Section)],
    prefixes: &[String],
) -> Context {
    budget_allocation::add_sources(memory, sections, &Sanitizer::new(prefixes))
}
