//! Markdown of the selected blocks, and the receipt.

use super::blocks::{BlockEntry, BlockLayout, ContextBlock, OPENING};
use heirloom_model::context::{Context, InclusionReason, ReceiptItem, ReceiptSection};
use heirloom_model::{Budget, limits, text};

/// Writes the selected entries, and the receipt of all entries.
pub(super) fn write_context(blocks: &[ContextBlock], budget: Budget) -> Context {
    let mut writer = MarkdownWriter::default();
    let mut sections: Vec<ReceiptSection> = Vec::new();
    let mut omitted = Vec::new();
    for block in blocks.iter().filter(|block| !block.entries.is_empty()) {
        let before = writer.chars;
        writer.write_block(block);
        if sections
            .last()
            .is_none_or(|last| last.name != block.section)
        {
            append_omitted(&mut sections, &mut omitted);
            sections.push(ReceiptSection {
                name: block.section.to_owned(),
                chars: 0,
                items: Vec::new(),
            });
        }
        let (included, mut out) = receipt(
            block,
            InclusionReason::Included,
            InclusionReason::OverBudget,
        );
        if let Some(section) = sections.last_mut() {
            section.chars += writer.chars - before;
            section.items.extend(included);
        }
        if omitted.is_empty() {
            omitted = out;
        } else {
            omitted.append(&mut out);
        }
    }
    append_omitted(&mut sections, &mut omitted);
    Context {
        text: writer.text,
        rules: String::new(),
        budget,
        sections,
        notes: Vec::new(),
    }
}

/// Appends the omitted items of a section after the included ones.
fn append_omitted(sections: &mut [ReceiptSection], omitted: &mut Vec<ReceiptItem>) {
    if let Some(section) = sections.last_mut() {
        section.items.append(omitted);
    }
}

/// The Markdown text and its length in characters.
#[derive(Default)]
pub(super) struct MarkdownWriter {
    text: String,
    chars: usize,
}

impl MarkdownWriter {
    /// Returns the length of the text.
    pub(super) fn chars(&self) -> usize {
        self.chars
    }

    /// Returns the text.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn push(&mut self, piece: &str) {
        self.text.push_str(piece);
        self.chars += text::chars(piece);
    }

    /// Writes a block. Its size is that of [`ContextBlock::cost`].
    pub(super) fn write_block(&mut self, block: &ContextBlock) {
        let (before, opened) = (self.chars, !self.text.is_empty());
        let notice = block.notice(block.shown);
        let shown: Vec<&str> = shown_entries(block)
            .map(|entry| entry.text.as_ref())
            .collect();
        if shown.is_empty() && notice.is_empty() {
            return;
        }
        if !opened {
            self.push(OPENING);
        }
        match block.layout {
            BlockLayout::Title => self.push_lines("\n", &shown),
            BlockLayout::Line(label) => self.push_list(label, &shown),
            BlockLayout::Steps(label) => {
                let notice = Some(notice.as_str()).filter(|notice| !notice.is_empty());
                self.push_list(label, &shown.into_iter().chain(notice).collect::<Vec<_>>());
            }
            BlockLayout::Past(label) => {
                let notice = Some(notice.as_str()).filter(|notice| !notice.is_empty());
                let past = notice.into_iter().chain(shown.into_iter().rev());
                self.push_list(label, &past.collect::<Vec<_>>());
            }
            BlockLayout::Bullets(_) | BlockLayout::Ranked(_) => {
                if !shown.is_empty() {
                    self.push(&format!("\n### {}\n", block.section));
                } else if !opened {
                    self.push("\n");
                }
                self.push_lines("- ", &shown);
                self.push(&notice);
            }
        }
        debug_assert_eq!(self.chars - before, block.cost(block.shown, opened));
    }

    fn push_lines(&mut self, mark: &str, lines: &[&str]) {
        for line in lines {
            self.push(mark);
            self.push(line);
            self.push("\n");
        }
    }

    fn push_list(&mut self, label: &str, words: &[&str]) {
        self.push(label);
        let mut separator = ": ";
        for word in words {
            self.push(separator);
            self.push(word);
            separator = ", ";
        }
        self.push("\n");
    }
}

/// Returns the included entries, the most important first.
fn shown_entries<'p>(block: &'p ContextBlock) -> impl Iterator<Item = &'p BlockEntry<'p>> {
    let fit = block
        .entries
        .iter()
        .filter(|entry| entry.exclusion.is_none());
    fit.take(block.shown.count)
}

/// Returns the receipt items of a block with the given reasons: the included ones, then the omitted ones.
pub(super) fn block_receipt(
    block: &ContextBlock,
    inside: InclusionReason,
    outside: InclusionReason,
) -> Vec<ReceiptItem> {
    let (mut included, omitted) = receipt(block, inside, outside);
    included.extend(omitted);
    included
}

/// Returns the receipt items of a block: the included ones in the order of the text, and the omitted ones.
fn receipt(
    block: &ContextBlock,
    inside: InclusionReason,
    outside: InclusionReason,
) -> (Vec<ReceiptItem>, Vec<ReceiptItem>) {
    let mut left = block.shown.count;
    let mut included = Vec::with_capacity(left);
    let mut omitted = Vec::with_capacity(block.entries.len() - left);
    for entry in &block.entries {
        let reason = match entry.exclusion {
            Some(reason) => reason,
            None if left > 0 => inside,
            None => outside,
        };
        let list = if reason == inside {
            left -= 1;
            &mut included
        } else {
            &mut omitted
        };
        list.push(ReceiptItem {
            id: entry.id,
            file: None,
            score: None,
            relevance: None,
            worth: None,
            excerpt: excerpt(block, entry),
            chars: entry.chars,
            reason,
        });
    }
    if matches!(block.layout, BlockLayout::Past(_)) {
        included.reverse();
    }
    (included, omitted)
}

/// Returns the shortened text of an entry, which is one sanitized line already.
fn excerpt(block: &ContextBlock, entry: &BlockEntry) -> String {
    let max = limits::RECEIPT_EXCERPT_CHARS_MAX;
    let clipped = text::clip(&entry.text, max);
    let clipped = if clipped.len() == entry.text.len() {
        clipped.to_owned()
    } else {
        format!("{}…", text::clip(clipped, max - 1))
    };
    match block.layout {
        BlockLayout::Line(label) => format!("{label}: {clipped}"),
        BlockLayout::Title
        | BlockLayout::Steps(_)
        | BlockLayout::Past(_)
        | BlockLayout::Bullets(_)
        | BlockLayout::Ranked(_) => clipped,
    }
}
