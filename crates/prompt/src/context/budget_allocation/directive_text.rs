//! Text that directives name: files, the end of an output, results of a query. A person asked for it by name, so it
//! precedes everything that is chosen, up to the budget.

use super::SourceAllocation;
use crate::context::measured_offer::MeasuredOffer;
use heirloom_model::context::InclusionReason;
use heirloom_model::section::{DIRECTIVES, Layout, Origin};
use heirloom_model::text;
use std::collections::HashMap;

/// Part of the budget, as a divisor, that the task and the standing text each keep if a file is long: enough for the
/// line of a task with some steps.
const RESERVED_PART: usize = 10;

/// Included part of an offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::context) enum DirectivePart {
    Whole,
    /// Its first lines with a note about the others.
    Cut(String),
}

impl DirectivePart {
    /// Returns the text of the part of `entry`.
    pub(in crate::context) fn text_of<'p>(&'p self, entry: &'p MeasuredOffer<'_>) -> &'p str {
        match self {
            Self::Whole => &entry.lines,
            Self::Cut(cut) => cut,
        }
    }

    /// Returns the reason and the text for a receipt.
    pub(in crate::context) fn receipt<'p>(
        &'p self,
        entry: &'p MeasuredOffer<'_>,
    ) -> (InclusionReason, Option<&'p str>) {
        let reason = match self {
            Self::Whole => InclusionReason::Guaranteed,
            Self::Cut(_) => InclusionReason::Cut {
                of_chars: entry.chars,
            },
        };
        (reason, Some(self.text_of(entry)))
    }
}

/// Parts that fit.
#[derive(Debug)]
pub(in crate::context) struct DirectiveText {
    parts: HashMap<(usize, usize), DirectivePart>,
    /// Characters of the parts with the frames of their sections.
    pub(in crate::context) chars: usize,
    /// True if nothing is missing.
    pub(in crate::context) is_whole: bool,
    /// Notes about what is missing, with sizes.
    pub(in crate::context) notes: Vec<String>,
}

impl DirectiveText {
    /// Returns the characters of all that directives name.
    pub(in crate::context) fn needed_chars(sources: &[SourceAllocation<'_>]) -> usize {
        let sections = sources.iter().filter(|one| one.is_directive());
        sections.map(section_chars).sum()
    }

    /// Selects what fits `space`: each section an equal part of it, and each file an equal part of that. What a short
    /// one does not need goes to the others. A larger space contains everything of a smaller one.
    pub(in crate::context) fn choose(sources: &[SourceAllocation<'_>], space: usize) -> Self {
        let mut chosen = Self {
            parts: HashMap::new(),
            chars: 0,
            is_whole: true,
            notes: Vec::new(),
        };
        let sections: Vec<(usize, &SourceAllocation<'_>)> = (sources.iter().enumerate())
            .filter(|(_, one)| one.is_directive())
            .collect();
        let needs: Vec<usize> = (sections.iter())
            .map(|(_, one)| section_chars(one))
            .collect();
        for ((at, section), space) in sections.into_iter().zip(divide(&needs, space)) {
            chosen.fill_section(at, section, space);
        }
        chosen
    }

    fn fill_section(&mut self, at: usize, section: &SourceAllocation<'_>, space: usize) {
        let entries: Vec<(usize, &MeasuredOffer<'_>)> = (section.entries.iter().enumerate())
            .filter(|(_, entry)| entry.exclusion.is_none())
            .collect();
        let frame = section.frame_chars();
        let space = space.saturating_sub(frame);
        let needs: Vec<usize> = entries.iter().map(|(_, entry)| entry.chars).collect();
        let spaces = match section.section.layout {
            // The best results first: half of a line answers nothing.
            Layout::List => whole_from_first(&needs, space),
            Layout::Blocks | Layout::BlocksReversed => divide(&needs, space),
        };
        let mut used = 0;
        for ((place, entry), space) in entries.into_iter().zip(spaces) {
            let part = match entry.chars <= space {
                true => Some(DirectivePart::Whole),
                false => entry.cut(space).map(DirectivePart::Cut),
            };
            let chars = part
                .as_ref()
                .map_or(0, |part| text::chars(part.text_of(entry)));
            if part != Some(DirectivePart::Whole) {
                self.is_whole = false;
                self.notes.push(missing_note(section, entry, chars));
            }
            used += chars;
            self.parts.extend(part.map(|part| ((at, place), part)));
        }
        if used > 0 {
            self.chars += frame + used;
        }
    }

    /// Returns the included part of an offer of a section; `None` if nothing of it fits.
    pub(in crate::context) fn part(&self, section: usize, offer: usize) -> Option<&DirectivePart> {
        self.parts.get(&(section, offer))
    }
}

/// Returns the part of a budget that text of `needed` characters gets before everything else; the reserve remains.
pub(in crate::context) fn guaranteed_chars(needed: usize, budget: usize) -> usize {
    needed.min(budget - reserved_chars(budget))
}

/// Returns the characters that the task keeps if a file is long, and the standing text as many.
pub(in crate::context) fn reserved_chars(budget: usize) -> usize {
    budget / RESERVED_PART
}

fn section_chars(section: &SourceAllocation<'_>) -> usize {
    let entries = section.entries.iter();
    let chars: usize = entries
        .filter(|entry| entry.exclusion.is_none())
        .map(|entry| entry.chars)
        .sum();
    if chars > 0 {
        chars + section.frame_chars()
    } else {
        0
    }
}

/// Divides a space into equal parts, of which none is larger than needed.
fn divide(needs: &[usize], space: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|at| needs.get(*at));
    let mut parts = vec![0; needs.len()];
    let mut left = space;
    for (done, at) in order.into_iter().enumerate() {
        let share = left / (needs.len() - done);
        if let (Some(part), Some(need)) = (parts.get_mut(at), needs.get(at)) {
            *part = share.min(*need);
            left -= *part;
        }
    }
    parts
}

/// Gives the first ones all that they need, and nothing to the first that does not fit and those after it.
fn whole_from_first(needs: &[usize], space: usize) -> Vec<usize> {
    let mut left = Some(space);
    let part = |need: &usize| {
        left = left.and_then(|left| left.checked_sub(*need));
        left.map_or(0, |_| *need)
    };
    needs.iter().map(part).collect()
}

fn missing_note(section: &SourceAllocation<'_>, entry: &MeasuredOffer<'_>, chars: usize) -> String {
    let name = &section.section.name;
    let of = match &entry.offer.origin {
        Origin::File { path, .. } => format!("{name} {path}"),
        Origin::Unspecified | Origin::Record(_) => name.clone(),
    };
    let whole = entry.chars;
    format!(
        "{DIRECTIVES}: {of}: {chars} of {whole} characters fit; a larger budget, such as `[budget:N]`, has more"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn short_part_leaves_its_rest_to_the_others() {
        assert_eq!(divide(&[10, 500, 400], 300), [10, 145, 145]);
        assert_eq!(divide(&[10, 20], 300), [10, 20]);
        assert_eq!(divide(&[], 300), [0; 0]);
        assert_eq!(whole_from_first(&[10, 500, 5], 300), [10, 0, 0]);
    }

    proptest! {
        #[test]
        fn larger_space_gives_no_part_less(
            needs in prop::collection::vec(0usize..200, 0..6),
            space in 0usize..600,
        ) {
            let (small, large) = (divide(&needs, space), divide(&needs, space + 1));
            prop_assert!(small.iter().sum::<usize>() <= space);
            prop_assert!(small.iter().zip(&large).all(|(one, other)| one <= other));
        }
    }
}
