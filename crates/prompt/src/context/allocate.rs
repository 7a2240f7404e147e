//! Allocation of the remaining budget to the context sources, with their receipt.

use super::sanitize::Sanitizer;
use heirloom_model::context::{Context, InclusionReason, ReceiptItem, ReceiptSection};
use heirloom_model::section::{Frame, Layout, Offer, Section, SourceRow};
use heirloom_model::{limits, text};

/// An offer with its size in the context.
pub(super) struct MeasuredOffer<'s> {
    pub(super) offer: &'s Offer,
    pub(super) lines: String,
    pub(super) chars: usize,
    /// Reason for which the offer can never be included: `Empty` or `TooLarge`.
    pub(super) exclusion: Option<InclusionReason>,
}

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
    distribute(&mut allocations, left);
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
    for allocation in allocations
        .iter()
        .filter(|allocation| !allocation.entries.is_empty())
    {
        allocation.write(&mut memory);
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
    for allocation in &mut *allocations {
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
    for allocation in allocations {
        if allocation.row.share_percent > 0 {
            space += allocation.used;
            allocation.fill(space);
            space -= allocation.used;
        }
    }
}

impl<'s> SourceAllocation<'s> {
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

    /// Appends the section to the context and to the receipt.
    fn write(&self, context: &mut Context) {
        let before = context.text.len();
        let is_in = self.count > 0 || self.cut_text.is_some();
        let mut output = String::new();
        if is_in {
            output.push_str(&self.opening);
        }
        let mut items = Vec::with_capacity(self.entries.len());
        let mut left = self.count;
        let mut cut = self.cut_text.as_deref();
        let mut inside = Vec::with_capacity(self.count + 1);
        for entry in &self.entries {
            let (reason, lines) = match entry.exclusion {
                Some(reason) => (reason, None),
                None if left > 0 => {
                    left -= 1;
                    (InclusionReason::Included, Some(entry.lines.as_str()))
                }
                None => match cut.take() {
                    Some(cut) => (InclusionReason::Cut, Some(cut)),
                    None => (InclusionReason::OverShare, None),
                },
            };
            inside.extend(lines);
            items.push(entry.receipt_item(reason, lines));
        }
        if self.section.layout == Layout::BlocksReversed {
            inside.reverse();
        }
        inside.into_iter().for_each(|lines| output.push_str(lines));
        if is_in {
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

impl MeasuredOffer<'_> {
    /// Returns the part of the offer that fits `chars_max`: its frame, whole lines, and a note with the number of
    /// omitted lines. `None` if not one line fits, or if the offer has no frame.
    fn cut(&self, chars_max: usize) -> Option<String> {
        self.cut_with(self.offer.frame?, chars_max)
    }

    /// Returns the first lines of a standing text that fit `chars_max`, and the number of missing lines. A note with
    /// the name of the text follows what is cut.
    pub(super) fn first_lines(&self, chars_max: usize, name: &str) -> (Option<String>, usize) {
        if self.chars <= chars_max {
            return (Some(self.lines.clone()), 0);
        }
        let lines: Vec<&str> = self.lines.split_inclusive('\n').collect();
        let head = self.offer.frame.map_or(0, |frame| frame.head_bytes);
        let is_blank = |line: &&&str| line.trim().is_empty();
        let content = |from: usize| {
            lines
                .iter()
                .skip(from)
                .filter(|line| !is_blank(line))
                .count()
        };
        let note = |missing: usize| {
            let word = if missing == 1 { "line" } else { "lines" };
            format!("… {missing} more {word} of {name} did not fit\n")
        };
        let Some(space) = chars_max.checked_sub(text::chars(&note(lines.len()))) else {
            return (None, content(0));
        };
        let (mut used, mut bytes, mut count) = (0, 0, 0);
        for line in &lines {
            used += text::chars(line);
            if used > space {
                break;
            }
            bytes += line.len();
            count += 1;
        }
        let gap = self.lines.len() - self.lines.trim_start_matches('\n').len();
        // A title alone has no information.
        if bytes <= head + gap {
            return (None, content(0));
        }
        let missing = content(count);
        let kept = self.lines.get(..bytes).unwrap_or_default();
        (Some(format!("{kept}{}", note(missing))), missing)
    }

    /// Returns the part of the offer that fits `chars_max` with a frame, as [`Self::cut`].
    pub(super) fn cut_with(&self, frame: Frame, chars_max: usize) -> Option<String> {
        let whole = self.lines.strip_prefix('\n').unwrap_or(&self.lines);
        // Sanitizing may have moved the bytes of the frame.
        if whole.trim_end() != self.offer.text.trim_end() {
            return None;
        }
        let gap = &self.lines[..self.lines.len() - whole.len()];
        let above = whole.get(..frame.head_bytes)?;
        let below = whole.get(whole.len().checked_sub(frame.tail_bytes)?..)?;
        let body = whole.get(frame.head_bytes..whole.len() - frame.tail_bytes)?;
        let all = body.lines().count();
        let around = [gap, above, below].map(text::chars).iter().sum::<usize>();
        let space = chars_max
            .checked_sub(around + text::chars(&render_cut_note(all, frame.keeps_last_lines)))?;
        let fits = |sizes: &mut dyn Iterator<Item = &str>| {
            let (mut space, mut end, mut line_count) = (space, 0, 0);
            for line in sizes {
                match space.checked_sub(text::chars(line)) {
                    Some(left) => space = left,
                    None => break,
                }
                end += line.len();
                line_count += 1;
            }
            (end, line_count)
        };
        let (end, line_count) = match frame.keeps_last_lines {
            true => fits(&mut body.split_inclusive('\n').rev()),
            false => fits(&mut body.split_inclusive('\n')),
        };
        let note = render_cut_note(all - line_count, frame.keeps_last_lines);
        (line_count > 0).then(|| match frame.keeps_last_lines {
            true => format!("{gap}{above}{note}{}{below}", &body[body.len() - end..]),
            false => format!("{gap}{above}{}{below}{note}", &body[..end]),
        })
    }

    fn receipt_item(&self, reason: InclusionReason, lines: Option<&str>) -> ReceiptItem {
        let words = self.lines.trim_start_matches('\n');
        let words = words.strip_prefix("- ").unwrap_or(words);
        let item = ReceiptItem {
            id: None,
            file: None,
            score: self.offer.score,
            relevance: None,
            worth: None,
            excerpt: text::excerpt(words, limits::RECEIPT_EXCERPT_CHARS_MAX),
            chars: lines.map_or(self.chars, text::chars),
            reason,
        };
        item.with_origin(&self.offer.origin)
    }
}

fn render_cut_note(lines: usize, are_older: bool) -> String {
    let word = if lines == 1 { "line" } else { "lines" };
    match are_older {
        true => format!("… {lines} older {word} did not fit\n"),
        false => format!("… {lines} more {word} did not fit\n"),
    }
}

#[cfg(test)]
mod tests;
