//! Allocation of the remaining budget to the context sources, with their receipt.

pub(super) mod directive_text;

use super::measured_offer::MeasuredOffer;
use super::sanitize::Sanitizer;
use directive_text::{DirectivePart, DirectiveText};
use heirloom_model::context::{Context, InclusionReason, ReceiptSection};
use heirloom_model::section::{DIRECTIVES, Layout, Offer, Section, SourceRow};
use heirloom_model::{limits, text};

/// A section with its allocated part of the budget.
pub(super) struct SourceAllocation<'s> {
    pub(super) row: &'s SourceRow,
    pub(super) section: &'s Section,
    /// Text before the entries: an empty line, and the heading if there is one.
    pub(super) opening: String,
    /// Text after the entries.
    pub(super) closing: String,
    pub(super) entries: Vec<MeasuredOffer<'s>>,
    /// Number of included eligible entries, from the first.
    count: usize,
    /// Beginning of the next entry, if it does not fit whole.
    cut_text: Option<String>,
    /// Characters that the section uses.
    used: usize,
}

/// Adds the sections to `memory`; see [`super::add_sources`].
pub(super) fn add_sources(
    mut memory: Context,
    sections: &[(SourceRow, Section)],
    sanitizer: &Sanitizer<'_>,
) -> Context {
    let left = memory.budget.chars();
    let left = left.saturating_sub(text::chars(&memory.text));
    let of = |(row, section)| SourceAllocation::measure(row, section, sanitizer, left);
    let mut allocations: Vec<SourceAllocation<'_>> = sections
        .iter()
        .map(|(row, section)| of((row, section)))
        .collect();
    let directives = DirectiveText::choose(&allocations, left);
    distribute(&mut allocations, left - directives.chars);
    for (row, section) in sections {
        let name = &row.name;
        let notes = section.notes.iter();
        let notes = notes.map(|note| format!("{name}: {}", sanitizer.one_line(note)));
        memory.notes.extend(notes);
        let considered = limits::SOURCE_OFFERS_MAX;
        if section.offers.len() > considered {
            let more = section.offers.len() - considered;
            memory
                .notes
                .push(format!("{name}: {more} more were not considered"));
        }
    }
    memory.notes.extend_from_slice(&directives.notes);
    for (at, allocation) in allocations.iter().enumerate() {
        if !allocation.entries.is_empty() {
            allocation.write(|offer| directives.part(at, offer), &mut memory);
        }
    }
    memory
}

/// Selects entries: each section in turn by the share of its row, then the first that were cut with the remaining
/// budget.
fn distribute(allocations: &mut [SourceAllocation<'_>], left: usize) {
    let mut reserved: usize = allocations
        .iter()
        .map(SourceAllocation::reserved_chars)
        .sum();
    let (mut space, mut carried) = (left, 0);
    let mut row_before = None;
    for allocation in sources(allocations) {
        let least = allocation.reserved_chars();
        reserved = reserved.saturating_sub(least);
        // The sections of one row have one common share.
        let is_next_of_row = row_before.replace(&allocation.row.name) == Some(&allocation.row.name);
        let percent = match is_next_of_row {
            true => 0,
            false => usize::try_from(allocation.row.share_percent).unwrap_or(100),
        };
        let own = left.saturating_mul(percent) / 100 + carried;
        let most = own
            .min(space.saturating_sub(reserved))
            .max(least)
            .min(space);
        allocation.fill(most);
        space -= allocation.used;
        carried = own.saturating_sub(allocation.used);
    }
    for allocation in sources(allocations) {
        if allocation.row.share_percent > 0 {
            space += allocation.used;
            allocation.fill(space);
            space -= allocation.used;
        }
    }
}

/// Returns the sources that share the budget: all but what directives name.
fn sources<'a, 's>(
    allocations: &'a mut [SourceAllocation<'s>],
) -> impl Iterator<Item = &'a mut SourceAllocation<'s>> {
    allocations.iter_mut().filter(|one| !one.is_directive())
}

impl<'s> SourceAllocation<'s> {
    /// Returns true for what a directive names.
    pub(super) fn is_directive(&self) -> bool {
        self.row.name == DIRECTIVES
    }

    pub(super) fn measure(
        row: &'s SourceRow,
        section: &'s Section,
        sanitizer: &Sanitizer<'_>,
        left: usize,
    ) -> Self {
        let heading = sanitizer.one_line(&section.heading);
        let is_list = section.layout == Layout::List;
        let opening = match &*heading {
            "" if is_list => "\n".to_owned(),
            "" => String::new(),
            marked if marked.starts_with('#') || !section.closing.is_empty() => {
                format!("\n{marked}\n")
            }
            bare => format!("\n## {bare}\n"),
        };
        let closing = match &*sanitizer.one_line(&section.closing) {
            "" => String::new(),
            closing => format!("\n{closing}\n"),
        };
        let around = text::chars(&opening) + text::chars(&closing);
        let most = left.saturating_sub(around);
        let offers = section.offers.iter().take(limits::SOURCE_OFFERS_MAX);
        let entry = |offer: &'s Offer| {
            let lines = match section.layout {
                Layout::List => sanitizer.render_item(&offer.text),
                Layout::Blocks | Layout::BlocksReversed => sanitizer.render_block(&offer.text),
            };
            let chars = text::chars(&lines);
            let exclusion = if lines.is_empty() {
                Some(InclusionReason::Empty)
            } else {
                (chars > most && offer.frame.is_none()).then_some(InclusionReason::TooLarge)
            };
            MeasuredOffer {
                offer,
                lines,
                chars,
                exclusion,
            }
        };
        Self {
            row,
            section,
            opening,
            closing,
            entries: offers.map(entry).collect(),
            count: 0,
            cut_text: None,
            used: 0,
        }
    }

    fn eligible(&self) -> impl Iterator<Item = &MeasuredOffer<'s>> {
        self.entries
            .iter()
            .filter(|entry| entry.exclusion.is_none())
    }

    pub(super) fn frame_chars(&self) -> usize {
        text::chars(&self.opening) + text::chars(&self.closing)
    }

    /// Returns the reserved characters: the minimum of its row, or the size of the section if that is smaller.
    fn reserved_chars(&self) -> usize {
        let all: usize = self.eligible().map(|entry| entry.chars).sum();
        let all = if all > 0 { all + self.frame_chars() } else { 0 };
        all.min(self.row.min_chars)
    }

    /// Selects the entries that fit `most` characters, from the first. After the first that does not fit nothing is
    /// selected, except the beginning of that one if it may be cut.
    fn fill(&mut self, most: usize) {
        let (mut count, mut used, mut cut) = (0, self.frame_chars(), None);
        for entry in self.eligible() {
            if used + entry.chars > most {
                cut = entry.cut(most.saturating_sub(used));
                break;
            }
            count += 1;
            used += entry.chars;
        }
        used += cut.as_deref().map_or(0, text::chars);
        self.used = if count > 0 || cut.is_some() { used } else { 0 };
        self.count = count;
        self.cut_text = cut;
    }

    /// Appends the section to the context and to the receipt. `directive` returns the included part of an entry that a
    /// directive names.
    fn write<'d>(
        &'d self,
        directive: impl Fn(usize) -> Option<&'d DirectivePart>,
        context: &mut Context,
    ) {
        let before = context.text.len();
        let mut output = String::new();
        let mut items = Vec::with_capacity(self.entries.len());
        let mut left = self.count;
        let mut cut = self.cut_text.as_deref();
        let mut inside = Vec::with_capacity(self.count + 1);
        for (at, entry) in self.entries.iter().enumerate() {
            let (reason, lines) = match entry.exclusion {
                Some(reason) => (reason, None),
                None if self.is_directive() => match directive(at) {
                    Some(part) => part.receipt(entry),
                    None => (InclusionReason::DidNotFit, None),
                },
                None if left > 0 => {
                    left -= 1;
                    (InclusionReason::Included, Some(entry.lines.as_str()))
                }
                None => match cut.take() {
                    Some(cut) => {
                        let of_chars = entry.chars;
                        (InclusionReason::Cut { of_chars }, Some(cut))
                    }
                    None => (InclusionReason::OverShare, None),
                },
            };
            inside.extend(lines);
            items.push(entry.receipt_item(reason, lines));
        }
        if self.section.layout == Layout::BlocksReversed {
            inside.reverse();
        }
        if !inside.is_empty() {
            output.push_str(&self.opening);
            inside.into_iter().for_each(|lines| output.push_str(lines));
            output.push_str(&self.closing);
        }
        // A context does not begin with an empty line.
        let first = usize::from(before == 0 && output.starts_with('\n'));
        context.text.push_str(&output[first..]);
        items.sort_by_key(|item| !item.is_included());
        let name = match self.section.name.as_str() {
            "" => &self.row.name,
            name => name,
        };
        context.sections.push(ReceiptSection {
            name: name.to_owned(),
            chars: text::chars(&context.text[before..]),
            items,
        });
    }
}

#[cfg(test)]
mod tests;
