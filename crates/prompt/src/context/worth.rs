//! Rendering of a context by worth: guaranteed parts, the best item of each source, and the rest by worth.

mod candidates;
mod line_excerpt;
mod standing_text;
mod writer;

use super::blocks::{self, OPENING};
use super::budget_allocation::SourceAllocation;
use super::budget_allocation::directive_text::{self, DirectiveText};
use super::priority_selection;
use super::sanitize::Sanitizer;
use super::worth_selection::{self, Selection, SelectionInput, SelectionReason, Verdict};
use candidates::CandidateList;
use heirloom_model::context::{Context, MemoryView};
use heirloom_model::section::{Section, SourceRow};
use heirloom_model::{Budget, limits, text};
use standing_text::StandingText;
use writer::ContextWriter;

/// Characters that are reserved for the line about omissions.
const OMISSION_CHARS_MAX: usize = 80;
/// Part of the budget that is reserved for it at most.
const OMISSION_SHARE: usize = 5;

/// Note of a context that omits items without a question.
pub const NOTHING_ASKED: &str = "newest, nothing was asked";

/// Handling of the standing text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandingAllowance {
    /// Maximum number of characters in the text.
    pub chars: usize,
    /// True if the standing text takes part of the budget; false if it is added to it.
    pub is_within_budget: bool,
    /// Maximum number of characters of the instructions of people if they are rendered apart from the text.
    pub separate_chars: Option<usize>,
}

/// Input of a context by worth.
#[derive(Debug, Clone, Copy)]
pub struct WorthInput<'a> {
    /// Session Memory; the items have ratings.
    pub view: &'a MemoryView,
    /// Sections of the sources, in the order of the text; the offers have ratings.
    pub sections: &'a [(SourceRow, Section)],
    /// The budget.
    pub budget: Budget,
    /// Handling of the standing text.
    pub standing: StandingAllowance,
    /// The question; `None` without one.
    pub question: Option<&'a str>,
    /// Relevance that the best item of a section needs to precede the competition.
    pub best_floor: f64,
    /// Relevance below which a competing item is left out even if it fits; at most `best_floor`.
    pub floor: f64,
    /// Prefixes of signals, which are neutralized.
    pub prefixes: &'a [String],
}

/// Renders a context by worth: the Markdown that fits the budget, and the receipt of every item.
///
/// A larger budget contains everything that a smaller one does. The text never exceeds the budget, to which standing
/// text is added unless the allowance is within it. Deterministic.
pub fn render_by_worth(input: &WorthInput<'_>) -> Context {
    let sanitizer = Sanitizer::new(input.prefixes);
    let mut blocks = blocks::from_view(input.view, &sanitizer, usize::MAX);
    let measure = |(row, section)| SourceAllocation::measure(row, section, &sanitizer, usize::MAX);
    let sources: Vec<SourceAllocation<'_>> = (input.sections.iter())
        .map(|(row, section)| measure((row, section)))
        .collect();
    let within = input.budget.chars();
    let needed = DirectiveText::needed_chars(&sources);
    let standing = StandingText::choose(&sources, standing_with_named(needed, input));
    let (total, room) = match input.standing.is_within_budget {
        true => (within, within.saturating_sub(standing.chars_inside)),
        false => (within.saturating_add(standing.chars_inside), within),
    };
    let reserved = directive_text::guaranteed_chars(needed, room);
    let guaranteed = priority_selection::select_guaranteed(&mut blocks, room - reserved);
    let notice = OMISSION_CHARS_MAX.min(room / OMISSION_SHARE);
    // What an incomplete task leaves is not used: with a larger budget the task would take it back.
    let space = match guaranteed.is_whole {
        true => room - guaranteed.chars,
        false => reserved,
    };
    let directives = DirectiveText::choose(&sources, space.saturating_sub(notice));
    let list = CandidateList::new(&blocks, &sources, &standing, input);
    let opening = if guaranteed.chars == 0 {
        text::chars(OPENING)
    } else {
        0
    };
    let selection = if guaranteed.is_whole && directives.is_whole {
        let candidates = list.candidates();
        let frames = list.frames(&blocks, &sources, &standing);
        let asked = SelectionInput {
            sections: &frames,
            candidates: &candidates,
            best_floor: input.best_floor,
            floor: input.floor,
            reserved_chars: notice + opening,
        };
        worth_selection::select(&asked, room - guaranteed.chars - directives.chars)
    } else {
        nothing_fits(list.items.len())
    };
    let mut writer = ContextWriter::new(&list, &selection);
    writer.write_blocks(&blocks);
    writer.write_sources(&sources, &standing, &directives);
    let omissions = omission_lines(input, &selection);
    let is_told = writer.write_omissions(&omissions, total);
    let budget = match input.budget {
        Budget::Chars(_) => Budget::Chars(total),
        Budget::Tokens(_) => Budget::Tokens(total.div_ceil(limits::CHARS_PER_TOKEN)),
    };
    let mut notes = notes(input, &standing, &sanitizer);
    notes.extend(directives.notes);
    if let (false, Some(line)) = (is_told, omissions.first()) {
        let words = line.trim_start_matches("… ").trim_end();
        notes.push(format!("the context has no space to say it: {words}"));
    }
    if input.question.is_none() && omissions.iter().any(|line| !line.is_empty()) {
        notes.push(NOTHING_ASKED.to_owned());
    }
    writer.into_context(budget, standing.rules, notes)
}

/// Returns the allowance of the standing text in addition to what directives name: within the budget it leaves space for that,
/// but for a reserve.
fn standing_with_named(needed: usize, input: &WorthInput<'_>) -> StandingAllowance {
    let within = input.budget.chars();
    let left = within
        .saturating_sub(needed)
        .max(directive_text::reserved_chars(within));
    StandingAllowance {
        chars: match input.standing.is_within_budget {
            true => input.standing.chars.min(left),
            false => input.standing.chars,
        },
        ..input.standing
    }
}

/// Returns the selection without anything.
fn nothing_fits(count: usize) -> Selection {
    let verdict = Verdict {
        reason: SelectionReason::DidNotFit,
        form: None,
    };
    Selection {
        verdicts: vec![verdict; count],
        chars: 0,
    }
}

/// Returns the line about what was left out, in full and in short; both are empty if nothing was.
fn omission_lines(input: &WorthInput<'_>, selection: &Selection) -> [String; 2] {
    let count = |reason: SelectionReason| {
        let all = selection.verdicts.iter();
        all.filter(|verdict| verdict.reason == reason).count()
    };
    let (large, weak) = (
        count(SelectionReason::DidNotFit),
        count(SelectionReason::BelowFloor),
    );
    let has_older = input.view.has_more_facts || input.view.has_more_decisions;
    let plus = if has_older { "+" } else { "" };
    let newest = match input.question {
        Some(_) => "",
        None => " (newest, nothing was asked)",
    };
    let words = match (large, weak) {
        (0, 0) if has_older && input.question.is_none() => "older ones are left out".to_owned(),
        (0, 0) => return Default::default(),
        (large, 0) => format!("{large}{plus} more did not fit{newest}"),
        (0, 1) => "1 more is not relevant".to_owned(),
        (0, weak) => format!("{weak} more are not relevant"),
        (large, 1) => format!("{large}{plus} more did not fit, 1 is not relevant"),
        (large, weak) => format!("{large}{plus} more did not fit, {weak} are not relevant"),
    };
    let all = large + weak;
    [words, format!("{all}{plus} more")].map(|words| format!("… {words}: heirloom recall\n"))
}

/// Returns the notes of the sources and of the standing text.
fn notes(
    input: &WorthInput<'_>,
    standing: &StandingText,
    sanitizer: &Sanitizer<'_>,
) -> Vec<String> {
    let mut notes = Vec::new();
    for (row, section) in input.sections {
        let name = &row.name;
        let own = section.notes.iter();
        notes.extend(own.map(|note| format!("{name}: {}", sanitizer.one_line(note))));
        let considered = limits::SOURCE_OFFERS_MAX;
        if section.offers.len() > considered {
            let more = section.offers.len() - considered;
            notes.push(format!("{name}: {more} more were not considered"));
        }
    }
    notes.extend(
        standing
            .notes
            .iter()
            .map(|note| sanitizer.one_line(note).into_owned()),
    );
    notes
}
