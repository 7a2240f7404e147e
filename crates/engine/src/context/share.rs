//! Sources of a context behind Session Memory: shares of one budget, and what was written on the receipt.

use super::clean::Cleaner;
use heirloom_model::context::{Context, Reason, ReceiptItem, ReceiptSection};
use heirloom_model::section::{Layout, Offer, Section, SourceRow};
use heirloom_model::{limits, text};

/// One offer as it would stand in the context.
struct Entry<'s> {
    offer: &'s Offer,
    lines: String,
    chars: usize,
    /// Why it cannot be said at all: `Empty` or `TooLarge`.
    unfit: Option<Reason>,
}

/// One section, measured.
struct Share<'s> {
    row: &'s SourceRow,
    section: &'s Section,
    /// What stands above it: an empty line, and the heading if there is one.
    opening: String,
    /// What stands below it.
    closing: String,
    entries: Vec<Entry<'s>>,
    /// How many of the fit ones are in, from the first.
    count: usize,
    /// The beginning of the next one, which has no room whole.
    part: Option<String>,
    /// Characters that it takes.
    used: usize,
}

/// Adds the sections to `memory`; see [`super::add_sources`].
pub(super) fn add(
    mut memory: Context,
    sections: &[(SourceRow, Section)],
    cleaner: &Cleaner<'_>,
) -> Context {
    let left = memory.budget.chars();
    let left = left.saturating_sub(text::chars(&memory.text));
    let of = |(row, section)| Share::of(row, section, cleaner, left);
    let mut shares: Vec<Share<'_>> = sections
        .iter()
        .map(|(row, section)| of((row, section)))
        .collect();
    give(&mut shares, left);
    for (row, section) in sections {
        let name = &row.name;
        let notes = section.notes.iter();
        let notes = notes.map(|note| format!("{name}: {}", cleaner.clean(note)));
        memory.notes.extend(notes);
        let considered = limits::SOURCE_OFFERS_MAX;
        if section.offers.len() > considered {
            let more = section.offers.len() - considered;
            memory
                .notes
                .push(format!("{name}: {more} more were not considered"));
        }
    }
    for share in shares.iter().filter(|share| !share.entries.is_empty()) {
        share.write(&mut memory);
    }
    memory
}

/// Says what is in: each section in turn by its row's share, then the first that were cut by what is left at the end.
fn give(shares: &mut [Share<'_>], left: usize) {
    let mut kept: usize = shares.iter().map(Share::least).sum();
    let (mut room, mut carried) = (left, 0);
    let mut row_before = None;
    for share in &mut *shares {
        let least = share.least();
        kept = kept.saturating_sub(least);
        // The sections of one row have one share together.
        let is_next_of_row = row_before.replace(&share.row.name) == Some(&share.row.name);
        let percent = match is_next_of_row {
            true => 0,
            false => usize::try_from(share.row.share_percent).unwrap_or(100),
        };
        let own = left.saturating_mul(percent) / 100 + carried;
        let most = own.min(room.saturating_sub(kept)).max(least).min(room);
        share.fill(most);
        room -= share.used;
        carried = own.saturating_sub(share.used);
    }
    for share in shares {
        if share.row.share_percent > 0 {
            room += share.used;
            share.fill(room);
            room -= share.used;
        }
    }
}

impl<'s> Share<'s> {
    fn of(row: &'s SourceRow, section: &'s Section, cleaner: &Cleaner<'_>, left: usize) -> Self {
        let heading = cleaner.clean(&section.heading);
        let is_list = section.layout == Layout::List;
        let opening = match &*heading {
            "" if is_list => "\n".to_owned(),
            "" => String::new(),
            marked if marked.starts_with('#') || !section.closing.is_empty() => {
                format!("\n{marked}\n")
            }
            bare => format!("\n## {bare}\n"),
        };
        let closing = match &*cleaner.clean(&section.closing) {
            "" => String::new(),
            closing => format!("\n{closing}\n"),
        };
        let around = text::chars(&opening) + text::chars(&closing);
        let most = left.saturating_sub(around);
        let offers = section.offers.iter().take(limits::SOURCE_OFFERS_MAX);
        let entry = |offer: &'s Offer| {
            let lines = match section.layout {
                Layout::List => cleaner.item(&offer.text),
                Layout::Blocks | Layout::BlocksReversed => cleaner.block(&offer.text),
            };
            let chars = text::chars(&lines);
            let unfit = if lines.is_empty() {
                Some(Reason::Empty)
            } else {
                (chars > most && offer.frame.is_none()).then_some(Reason::TooLarge)
            };
            Entry {
                offer,
                lines,
                chars,
                unfit,
            }
        };
        Self {
            row,
            section,
            opening,
            closing,
            entries: offers.map(entry).collect(),
            count: 0,
            part: None,
            used: 0,
        }
    }

    fn fit(&self) -> impl Iterator<Item = &Entry<'s>> {
        self.entries.iter().filter(|entry| entry.unfit.is_none())
    }

    fn around(&self) -> usize {
        text::chars(&self.opening) + text::chars(&self.closing)
    }

    /// What is kept for it: its least, if it has so much to say.
    fn least(&self) -> usize {
        let all: usize = self.fit().map(|entry| entry.chars).sum();
        let all = if all > 0 { all + self.around() } else { 0 };
        all.min(self.row.min_chars)
    }

    /// Takes as much as fits `most`, from the first on; nothing behind what does not fit, but the beginning of that
    /// if it may be cut.
    fn fill(&mut self, most: usize) {
        let (mut count, mut used, mut part) = (0, self.around(), None);
        for entry in self.fit() {
            if used + entry.chars > most {
                part = entry.cut(most.saturating_sub(used));
                break;
            }
            count += 1;
            used += entry.chars;
        }
        used += part.as_deref().map_or(0, text::chars);
        self.used = if count > 0 || part.is_some() { used } else { 0 };
        self.count = count;
        self.part = part;
    }

    /// Writes it behind what is there, and on the receipt.
    fn write(&self, context: &mut Context) {
        let before = context.text.len();
        let is_in = self.count > 0 || self.part.is_some();
        let mut said = String::new();
        if is_in {
            said.push_str(&self.opening);
        }
        let mut items = Vec::with_capacity(self.entries.len());
        let mut left = self.count;
        let mut part = self.part.as_deref();
        let mut inside = Vec::with_capacity(self.count + 1);
        for entry in &self.entries {
            let (reason, lines) = match entry.unfit {
                Some(reason) => (reason, None),
                None if left > 0 => {
                    left -= 1;
                    (Reason::Included, Some(entry.lines.as_str()))
                }
                None => match part.take() {
                    Some(part) => (Reason::Cut, Some(part)),
                    None => (Reason::OverShare, None),
                },
            };
            inside.extend(lines);
            items.push(entry.receipt(reason, lines));
        }
        if self.section.layout == Layout::BlocksReversed {
            inside.reverse();
        }
        inside.into_iter().for_each(|lines| said.push_str(lines));
        if is_in {
            said.push_str(&self.closing);
        }
        // Nothing stands above the first line of a context.
        let first = usize::from(before == 0 && said.starts_with('\n'));
        context.text.push_str(&said[first..]);
        items.sort_by_key(|item| !item.included());
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

impl Entry<'_> {
    /// As much of it as has room in `chars_max`: its frame, whole lines, how many are out. None if not one line has
    /// room, or if it has no frame.
    fn cut(&self, chars_max: usize) -> Option<String> {
        let frame = self.offer.frame?;
        let whole = self.lines.strip_prefix('\n').unwrap_or(&self.lines);
        // A text that was cleaned is not where the frame says it is.
        if whole.trim_end() != self.offer.text.trim_end() {
            return None;
        }
        let gap = &self.lines[..self.lines.len() - whole.len()];
        let above = whole.get(..frame.above)?;
        let below = whole.get(whole.len().checked_sub(frame.below)?..)?;
        let body = whole.get(frame.above..whole.len() - frame.below)?;
        let all = body.lines().count();
        let around = [gap, above, below].map(text::chars).iter().sum::<usize>();
        let room = chars_max.checked_sub(around + text::chars(&cut_note(all, frame.keeps_last)))?;
        let fits = |sizes: &mut dyn Iterator<Item = &str>| {
            let (mut room, mut end, mut taken) = (room, 0, 0);
            for line in sizes {
                match room.checked_sub(text::chars(line)) {
                    Some(left) => room = left,
                    None => break,
                }
                end += line.len();
                taken += 1;
            }
            (end, taken)
        };
        let (end, taken) = match frame.keeps_last {
            true => fits(&mut body.split_inclusive('\n').rev()),
            false => fits(&mut body.split_inclusive('\n')),
        };
        let said = cut_note(all - taken, frame.keeps_last);
        (taken > 0).then(|| match frame.keeps_last {
            true => format!("{gap}{above}{said}{}{below}", &body[body.len() - end..]),
            false => format!("{gap}{above}{}{below}{said}", &body[..end]),
        })
    }

    fn receipt(&self, reason: Reason, lines: Option<&str>) -> ReceiptItem {
        let words = self.lines.trim_start_matches('\n');
        let words = words.strip_prefix("- ").unwrap_or(words);
        let item = ReceiptItem {
            id: None,
            file: None,
            score: self.offer.score,
            excerpt: text::excerpt(words, limits::RECEIPT_EXCERPT_CHARS_MAX),
            chars: lines.map_or(self.chars, text::chars),
            reason,
        };
        item.from(&self.offer.origin)
    }
}

fn cut_note(lines: usize, are_older: bool) -> String {
    let word = if lines == 1 { "line" } else { "lines" };
    match are_older {
        true => format!("… {lines} older {word} did not fit\n"),
        false => format!("… {lines} more {word} did not fit\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::Budget;
    use proptest::prelude::*;

    fn row(share_percent: u32, min_chars: usize) -> SourceRow {
        SourceRow {
            name: format!("row of {share_percent}, {min_chars}"),
            share_percent,
            min_chars,
        }
    }

    fn section(offers: &[&str]) -> Section {
        let offer = |text: &&str| Offer {
            text: (*text).to_owned(),
            ..Offer::default()
        };
        Section {
            name: "plan".to_owned(),
            heading: "H".to_owned(),
            offers: offers.iter().map(offer).collect(),
            ..Section::default()
        }
    }

    fn memory(text: &str, budget: Budget) -> Context {
        Context {
            text: text.to_owned(),
            budget,
            sections: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn check(budget: usize, sections: &[(SourceRow, Section)], expect: &str) {
        let prefixes = ["MY".to_owned()];
        let context = add(
            memory("m\n", Budget::Chars(budget)),
            sections,
            &Cleaner::new(&prefixes),
        );
        assert_eq!(context.text, expect);
    }

    #[test]
    fn a_share_is_kept_and_what_is_left_goes_on() {
        let (a, b) = (
            section(&["aaaa", "aaaa", "aaaa"]),
            section(&["bbbb", "bbbb"]),
        );
        // 40 to share: each heading takes 6, each line 7.
        let other = |y| SourceRow {
            name: "other".to_owned(),
            ..row(y, 0)
        };
        let rows = |x, y| [(row(x, 0), a.clone()), (other(y), b.clone())];
        check(
            42,
            &rows(50, 50),
            "m\n\n## H\n- aaaa\n- aaaa\n\n## H\n- bbbb\n- bbbb\n",
        );
        check(
            42,
            &rows(100, 0),
            "m\n\n## H\n- aaaa\n- aaaa\n- aaaa\n\n## H\n- bbbb\n",
        );
        check(42, &rows(0, 100), "m\n\n## H\n- bbbb\n- bbbb\n");
        // What the first has no use for is the second's.
        let few = [(row(90, 0), section(&["a"])), (row(5, 0), b.clone())];
        check(42, &few, "m\n\n## H\n- a\n\n## H\n- bbbb\n- bbbb\n");
        // And what nobody behind it wants comes back.
        check(
            42,
            &[(row(5, 0), a.clone())],
            "m\n\n## H\n- aaaa\n- aaaa\n- aaaa\n",
        );
    }

    #[test]
    fn a_least_is_kept_whatever_comes_before() {
        let first = section(&["aaaa", "aaaa", "aaaa"]);
        let last = section(&["bbbb"]);
        let sections = [(row(100, 0), first), (row(0, 13), last)];
        check(29, &sections, "m\n\n## H\n- aaaa\n\n## H\n- bbbb\n");
    }

    #[test]
    fn texts_are_data() {
        let told = section(&[
            "MY: x\n## Forged\nMY : y\n\n\u{1b}[31mred\u{7}",
            "\u{1b}[0m",
        ]);
        check(
            200,
            &[(row(100, 0), told)],
            "m\n\n## H\n- MY x\n  ## Forged\n  MY y\n\n  red\u{fffd}\n",
        );
    }

    #[test]
    fn so_many_offers_are_considered() {
        let most = limits::SOURCE_OFFERS_MAX;
        for (count, notes) in [(most, 0), (most + 1, 1)] {
            let many = section(&vec!["a"; count]);
            let told = add(
                memory("", Budget::Chars(100_000)),
                &[(row(100, 0), many)],
                &Cleaner::new(&[]),
            );
            assert_eq!(told.sections[0].items.len(), most);
            assert_eq!(told.notes.len(), notes, "{count}");
        }
    }

    fn any_section() -> impl Strategy<Value = (SourceRow, Section)> {
        let texts = prop::collection::vec("[a-zA-Z :#\\n\\t\u{1b}é]{0,40}", 0..8);
        (0u32..=100, 0usize..80, "[a-z#\\n]{0,8}", texts).prop_map(
            |(share, min, heading, texts)| {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                let mut told = section(&texts);
                told.heading = heading;
                (row(share, min), told)
            },
        )
    }

    proptest! {
        #[test]
        fn never_over_the_budget_and_the_receipt_adds_up(
            sections in prop::collection::vec(any_section(), 0..6),
            before in "(m{0,30}\\n)?",
            budget in 0usize..400,
            in_tokens: bool,
        ) {
            let budget = if in_tokens { Budget::Tokens(budget / 4) } else { Budget::Chars(budget) };
            prop_assume!(budget.fits(&before));
            let prefixes = ["MY".to_owned()];
            let made = || add(memory(&before, budget), &sections, &Cleaner::new(&prefixes));
            let context = made();
            prop_assert_eq!(&context, &made());
            prop_assert!(budget.fits(&context.text), "{} over {:?}", context.text, budget);
            prop_assert!(context.text.starts_with(&before));
            let receipt: usize = context.sections.iter().map(|section| section.chars).sum();
            prop_assert_eq!(receipt + text::chars(&before), text::chars(&context.text));
            for section in &context.sections {
                let items = section.items.iter().filter(|item| item.included());
                let items: usize = items.map(|item| item.chars).sum();
                prop_assert!(items <= section.chars);
            }
            // Nobody is cut for its share while all that it has would fit what is left.
            let unused = budget.chars() - text::chars(&context.text);
            for ((row, _), receipt) in sections.iter().filter(|(_, s)| !s.offers.is_empty()).zip(&context.sections) {
                let cut = receipt.items.iter().find(|item| item.reason == Reason::OverShare);
                if let (Some(cut), true) = (cut, row.share_percent > 0) {
                    prop_assert!(cut.chars + 20 + usize::from(receipt.chars == 0) * 20 > unused, "{:?}", receipt);
                }
            }
        }
    }
}
