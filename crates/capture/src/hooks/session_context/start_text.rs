//! List with which a session begins: its sections, and the selection of the items that fit.

use heirloom_model::context::{Context, InclusionReason, ReceiptItem, ReceiptSection};
use heirloom_model::similarity::ComparableText;
use heirloom_model::{Budget, RecordId, Timestamp, limits, text};
use std::collections::BTreeMap;

/// Section of a start, in the order of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StartSection {
    /// Pinned records and rules of people.
    Rules,
    /// Pending steps and blocked tasks.
    OpenWork,
    /// Changes since the last session.
    LastSession,
    /// Failures of commands with what helped.
    Pitfalls,
}

impl StartSection {
    const ALL: [Self; 4] = [
        Self::Rules,
        Self::OpenWork,
        Self::LastSession,
        Self::Pitfalls,
    ];

    /// Returns the name in receipts.
    fn name(self) -> &'static str {
        match self {
            Self::Rules => "Rules",
            Self::OpenWork => "Open Work",
            Self::LastSession => "Last Session",
            Self::Pitfalls => "Pitfalls",
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Rules => "Rules here:\n",
            Self::OpenWork => "Open work:\n",
            Self::LastSession => "Last time:\n",
            Self::Pitfalls => "Known pitfalls:\n",
        }
    }

    /// Returns the greatest number of items, in addition to pinned ones.
    fn items_max(self) -> usize {
        match self {
            Self::Rules => limits::HOOK_START_RULES_MAX,
            Self::OpenWork | Self::Pitfalls => limits::HOOK_START_ITEMS_MAX,
            Self::LastSession => 1,
        }
    }
}

/// Record that the start of a session may tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StartItem {
    pub(super) section: StartSection,
    pub(super) id: RecordId,
    /// The text on one line.
    pub(super) text: String,
    /// Time since which a conversation can have seen it.
    pub(super) at: Timestamp,
    /// True if the session itself taught it.
    pub(super) is_own: bool,
    /// True if a person wants it in every context.
    pub(super) is_pinned: bool,
}

impl StartItem {
    fn line(&self) -> String {
        format!("- {}\n", self.text)
    }

    fn receipt(&self, reason: InclusionReason) -> ReceiptItem {
        ReceiptItem {
            id: Some(self.id),
            file: None,
            score: None,
            relevance: None,
            worth: None,
            excerpt: text::excerpt(&self.text, limits::RECEIPT_EXCERPT_CHARS_MAX),
            chars: text::chars(&self.line()),
            reason,
        }
    }
}

/// List with which a session begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StartText {
    /// Items in the order of the text.
    items: Vec<StartItem>,
    /// Items for which there was no space.
    left_out: Vec<StartItem>,
    chars_max: usize,
}

impl StartText {
    /// Selects items, each section of which is in the order of importance: the first one of each section, then the
    /// others in the order of the sections, as far as they fit. What an earlier item states is not repeated.
    pub(super) fn select(candidates: Vec<StartItem>, chars_max: usize) -> Self {
        let items = distinct_items(candidates);
        let mut is_kept = vec![false; items.len()];
        let mut opened: Vec<StartSection> = Vec::new();
        let mut left = chars_max;
        for is_first in [true, false] {
            for (item, is_kept) in items.iter().zip(&mut is_kept) {
                let is_open = opened.contains(&item.section);
                if *is_kept || (is_first && is_open) {
                    continue;
                }
                let heading = match is_open {
                    true => 0,
                    false => text::chars(item.section.heading()),
                };
                let length = text::chars(&item.line()) + heading;
                if length <= left {
                    left -= length;
                    *is_kept = true;
                    opened.push(item.section);
                }
            }
        }
        let mut list = Self {
            items: Vec::new(),
            left_out: Vec::new(),
            chars_max,
        };
        for (item, is_kept) in items.into_iter().zip(is_kept) {
            match is_kept {
                true => list.items.push(item),
                false => list.left_out.push(item),
            }
        }
        list
    }

    /// Returns the records that are told.
    pub(super) fn told(&self) -> impl Iterator<Item = RecordId> + '_ {
        self.items.iter().map(|item| item.id)
    }

    /// Returns the Markdown text; empty without items.
    pub(super) fn text(&self) -> String {
        StartSection::ALL
            .iter()
            .map(|section| self.section_text(*section))
            .collect()
    }

    fn section_text(&self, section: StartSection) -> String {
        let of_section = self.items.iter().filter(|item| item.section == section);
        let lines: String = of_section.map(StartItem::line).collect();
        match lines.is_empty() {
            true => lines,
            false => format!("{}{lines}", section.heading()),
        }
    }

    /// Returns the receipt of the list; `rules` are the standing instructions that were told with it.
    pub(super) fn receipt(&self, rules: String) -> Context {
        let section = |section: StartSection| {
            let told = self.items.iter().map(|item| {
                let reason = match item.is_pinned {
                    true => InclusionReason::Guaranteed,
                    false => InclusionReason::Included,
                };
                (item, reason)
            });
            let left_out = self.left_out.iter();
            let left_out = left_out.map(|item| (item, InclusionReason::DidNotFit));
            let items = told.chain(left_out);
            ReceiptSection {
                name: section.name().to_owned(),
                chars: text::chars(&self.section_text(section)),
                items: items
                    .filter(|(item, _)| item.section == section)
                    .map(|(item, reason)| item.receipt(reason))
                    .collect(),
            }
        };
        let sections = StartSection::ALL.into_iter().map(section);
        Context {
            text: self.text(),
            rules,
            budget: Budget::Chars(self.chars_max),
            sections: sections.filter(|one| !one.items.is_empty()).collect(),
            notes: Vec::new(),
        }
    }
}

/// Returns the items without those that an earlier one repeats, at most as many of each section as it may have.
fn distinct_items(candidates: Vec<StartItem>) -> Vec<StartItem> {
    let mut known: Vec<ComparableText> = Vec::new();
    let mut counts: BTreeMap<StartSection, usize> = BTreeMap::new();
    let mut items: Vec<StartItem> = Vec::new();
    for item in candidates {
        let count = counts.entry(item.section).or_default();
        if !item.is_pinned && *count >= item.section.items_max() {
            continue;
        }
        let parts = comparable_parts(without_date(&item.text));
        let is_repeated =
            |whole: &ComparableText| known.iter().any(|one| one.is_near_duplicate(whole));
        if parts.first().is_some_and(is_repeated) {
            continue;
        }
        *count += usize::from(!item.is_pinned);
        known.extend(parts);
        items.push(item);
    }
    items
}

/// Returns a text and its sentences for comparisons. A word more can be a negation in any language, so a text is
/// repeated by a whole sentence of another one and not by its words.
fn comparable_parts(text: &str) -> Vec<ComparableText> {
    let sentences =
        (text.split(". ").flat_map(|part| part.split("; "))).flat_map(|part| part.split(" | "));
    let parts: Vec<&str> = std::iter::once(text).chain(sentences).collect();
    parts.into_iter().map(ComparableText::from_text).collect()
}

/// Returns a rule without the date behind it.
fn without_date(item: &str) -> &str {
    match item.rsplit_once(" (") {
        Some((before, date)) if date.len() == "2026-11-12)".len() => before,
        Some(_) | None => item,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_is_repeated_by_a_sentence_and_not_by_its_words() {
        for (told, item, is_repeated) in [
            (
                "Wir nutzen Redis nicht auf Staging",
                "Wir nutzen Redis auf Staging",
                false,
            ),
            ("Never run the tests on CI", "Run the tests on CI", false),
            (
                "Run the tests first. Then push.",
                "Please run the tests first",
                true,
            ),
            ("Run the tests first", "run the tests first", true),
        ] {
            let item_of = |text: &str| StartItem {
                section: StartSection::Rules,
                id: RecordId::from_parts(Timestamp::UNIX_EPOCH, &[text]),
                text: text.to_owned(),
                at: Timestamp::UNIX_EPOCH,
                is_own: false,
                is_pinned: false,
            };
            let items = distinct_items(vec![item_of(told), item_of(item)]);
            assert_eq!(items.len() == 1, is_repeated, "{told}: {item}");
        }
    }
}
