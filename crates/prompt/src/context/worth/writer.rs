//! Text and receipt of the selected items.

use super::super::blocks::{ContextBlock, OPENING};
use super::super::budget_allocation::SourceAllocation;
use super::super::markdown::{MarkdownWriter, block_receipt};
use super::super::priority_selection::is_guaranteed;
use super::super::worth_selection::{Selection, SelectionReason, Verdict};
use super::candidates::{CandidateList, Item, Place};
use super::standing_text::StandingText;
use crate::context::budget_allocation::directive_text::DirectiveText;
use heirloom_model::context::{Context, InclusionReason, ReceiptItem, ReceiptSection};
use heirloom_model::section::Layout;
use heirloom_model::{Budget, RecordId, limits, text};
use std::collections::HashMap;

/// Writer of a context by worth.
pub(super) struct ContextWriter<'a> {
    list: &'a CandidateList<'a>,
    verdicts: &'a [Verdict],
    /// Index of each item by its place.
    places: HashMap<(bool, usize, usize), usize>,
    markdown: MarkdownWriter,
    sections: Vec<ReceiptSection>,
}

impl<'a> ContextWriter<'a> {
    pub(super) fn new(list: &'a CandidateList<'a>, selection: &'a Selection) -> Self {
        let key = |item: &Item<'_>| match item.place {
            Place::Block(block, at) => (true, block, at),
            Place::Source(source, at) => (false, source, at),
        };
        let places = list
            .items
            .iter()
            .enumerate()
            .map(|(n, item)| (key(item), n));
        Self {
            list,
            verdicts: &selection.verdicts,
            places: places.collect(),
            markdown: MarkdownWriter::default(),
            sections: Vec::new(),
        }
    }

    /// Writes Session Memory: the guaranteed blocks, then the selected entries of the others.
    pub(super) fn write_blocks(&mut self, blocks: &[ContextBlock<'_>]) {
        for (at, block) in blocks.iter().enumerate() {
            if block.entries.is_empty() {
                continue;
            }
            let before = self.markdown.chars();
            let mut items = if is_guaranteed(block) {
                self.markdown.write_block(block);
                block_receipt(
                    block,
                    InclusionReason::Guaranteed,
                    InclusionReason::DidNotFit,
                )
            } else {
                self.write_entries(block, at)
            };
            let chars = self.markdown.chars() - before;
            match self
                .sections
                .last_mut()
                .filter(|last| last.name == block.section)
            {
                Some(section) => {
                    section.chars += chars;
                    section.items.append(&mut items);
                }
                None => self.sections.push(ReceiptSection {
                    name: block.section.to_owned(),
                    chars,
                    items,
                }),
            }
        }
        for section in &mut self.sections {
            section.items.sort_by_key(|item| !item.is_included());
        }
    }

    fn write_entries(&mut self, block: &ContextBlock<'_>, of: usize) -> Vec<ReceiptItem> {
        let mut items = Vec::with_capacity(block.entries.len());
        let mut is_open = false;
        for (at, entry) in block.entries.iter().enumerate() {
            let (verdict, item) = self.verdict(true, of, at);
            let form = chosen_form(verdict, item);
            if let Some(form) = form {
                if !is_open {
                    if self.markdown.chars() == 0 {
                        self.markdown.push(OPENING);
                    }
                    self.markdown.push(&format!("\n### {}\n", block.section));
                    is_open = true;
                }
                self.markdown.push("- ");
                self.markdown.push(form);
                self.markdown.push("\n");
            }
            items.push(ReceiptItem {
                id: entry.id,
                file: None,
                score: None,
                excerpt: text::excerpt(&entry.text, limits::RECEIPT_EXCERPT_CHARS_MAX),
                chars: form.map_or(entry.chars, |form| text::chars(form) + 3),
                ..self.receipt_item(verdict, item)
            });
        }
        items
    }

    /// Writes the sections of the sources with their standing text, and what directives name.
    pub(super) fn write_sources(
        &mut self,
        sources: &[SourceAllocation<'_>],
        standing: &StandingText,
        directives: &DirectiveText,
    ) {
        for (of, source) in sources.iter().enumerate() {
            if source.entries.is_empty() {
                continue;
            }
            let mut items = Vec::with_capacity(source.entries.len());
            let mut inside: Vec<&str> = Vec::new();
            for (at, entry) in source.entries.iter().enumerate() {
                let (verdict, item) = self.verdict(false, of, at);
                let is_standing = standing.is_standing(of, at);
                let part = directives.part(of, at);
                let form = match (is_standing, part) {
                    (true, _) => standing.text_of(of, at),
                    (false, Some(part)) => Some(part.text_of(entry)),
                    (false, None) => chosen_form(verdict, item),
                };
                inside.extend(form);
                let mut receipt = self.receipt_item(verdict, item);
                if let Some(part) = part {
                    receipt.reason = part.receipt(entry).0;
                }
                if is_standing {
                    let is_in = form.is_some() || standing.is_apart(of, at);
                    receipt.reason = match is_in {
                        true => InclusionReason::Guaranteed,
                        false => InclusionReason::DidNotFit,
                    };
                    receipt.relevance = None;
                    receipt.worth = None;
                }
                let words = entry.lines.trim_start_matches('\n');
                let words = words.strip_prefix("- ").unwrap_or(words);
                receipt.score = entry.offer.score;
                receipt.excerpt = text::excerpt(words, limits::RECEIPT_EXCERPT_CHARS_MAX);
                receipt.chars = form.map_or(entry.chars, text::chars);
                items.push(receipt.with_origin(&entry.offer.origin));
            }
            if source.section.layout == Layout::BlocksReversed {
                inside.reverse();
            }
            let before = self.markdown.chars();
            if !inside.is_empty() {
                // A context does not begin with an empty line.
                let opening = match before {
                    0 => source.opening.strip_prefix('\n').unwrap_or(&source.opening),
                    _ => &source.opening,
                };
                self.markdown.push(opening);
                inside.iter().for_each(|lines| self.markdown.push(lines));
                self.markdown.push(&source.closing);
            }
            items.sort_by_key(|item| !item.is_included());
            let name = match source.section.name.as_str() {
                "" => &source.row.name,
                name => name,
            };
            self.sections.push(ReceiptSection {
                name: name.to_owned(),
                chars: self.markdown.chars() - before,
                items,
            });
        }
    }

    /// Writes the first of the lines about omissions that fits. Returns false if none does.
    pub(super) fn write_omissions(&mut self, lines: &[String], total: usize) -> bool {
        let chars = self.markdown.chars();
        let fits = |line: &&String| !line.is_empty() && chars + text::chars(line) < total;
        let Some(line) = lines.iter().find(fits).filter(|_| chars > 0) else {
            return lines.iter().all(String::is_empty);
        };
        self.markdown.push("\n");
        self.markdown.push(line);
        let written = self.markdown.chars() - chars;
        if let Some(section) = self.sections.iter_mut().rev().find(|one| one.chars > 0) {
            section.chars += written;
        }
        true
    }

    pub(super) fn into_context(self, budget: Budget, rules: String, notes: Vec<String>) -> Context {
        Context {
            text: self.markdown.into_text(),
            rules,
            budget,
            sections: self.sections,
            notes,
        }
    }

    fn verdict(
        &self,
        is_block: bool,
        of: usize,
        at: usize,
    ) -> (Option<Verdict>, Option<&'a Item<'a>>) {
        let Some(place) = self.places.get(&(is_block, of, at)) else {
            return (None, None);
        };
        (
            self.verdicts.get(*place).copied(),
            self.list.items.get(*place),
        )
    }

    /// Returns a receipt item with the reason and the rating.
    fn receipt_item(&self, verdict: Option<Verdict>, item: Option<&Item<'_>>) -> ReceiptItem {
        let reason = verdict.map_or(SelectionReason::DidNotFit, |verdict| verdict.reason);
        ReceiptItem {
            id: None,
            file: None,
            score: None,
            relevance: item.and_then(|item| item.rating.relevance),
            worth: item.map(|item| item.rating.worth),
            excerpt: String::new(),
            chars: 0,
            reason: match reason {
                SelectionReason::Guaranteed => InclusionReason::Guaranteed,
                SelectionReason::BestOfSource => InclusionReason::BestOfSource,
                SelectionReason::ByWorth => InclusionReason::ByWorth,
                SelectionReason::BelowFloor => InclusionReason::BelowFloor,
                SelectionReason::DidNotFit => InclusionReason::DidNotFit,
                SelectionReason::Empty => InclusionReason::Empty,
                SelectionReason::DuplicateOf(head) => {
                    InclusionReason::DuplicateOf(self.record_of(head))
                }
            },
        }
    }

    /// Returns the record of a candidate, if it has one.
    fn record_of(&self, head: usize) -> Option<RecordId> {
        self.list.items.get(head).and_then(|item| item.record)
    }
}

/// Returns the text of the selected form.
fn chosen_form<'a>(verdict: Option<Verdict>, item: Option<&'a Item<'_>>) -> Option<&'a str> {
    let form = verdict?.form?;
    item?.forms.get(form).map(AsRef::as_ref)
}
