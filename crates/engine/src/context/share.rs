//! Sources of a context behind Session Memory: shares of one budget, and what was written on the receipt.

use super::clean::Cleaner;
use heirloom_model::context::{Context, Reason, ReceiptItem, ReceiptSection};
use heirloom_model::section::{Offer, Section, SourceRow};
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
    /// What stands above it: an empty line, and the heading if there is one.
    opening: String,
    entries: Vec<Entry<'s>>,
    /// How many of the fit ones are in, from the first.
    count: usize,
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

/// Says what is in: each section in turn by its share, then the first that were cut by what is left at the end.
fn give(shares: &mut [Share<'_>], left: usize) {
    let mut kept: usize = shares.iter().map(Share::least).sum();
    let (mut room, mut carried) = (left, 0);
    for share in &mut *shares {
        let least = share.least();
        kept -= least;
        let percent = usize::try_from(share.row.share_percent).unwrap_or(100);
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
        let opening = match &*heading {
            "" => "\n".to_owned(),
            marked if marked.starts_with('#') => format!("\n{marked}\n"),
            bare => format!("\n## {bare}\n"),
        };
        let most = left.saturating_sub(text::chars(&opening));
        let offers = section.offers.iter().take(limits::SOURCE_OFFERS_MAX);
        let entry = |offer: &'s Offer| {
            let lines = cleaner.item(&offer.text);
            let chars = text::chars(&lines);
            let unfit = if lines.is_empty() {
                Some(Reason::Empty)
            } else {
                (chars > most).then_some(Reason::TooLarge)
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
            opening,
            entries: offers.map(entry).collect(),
            count: 0,
            used: 0,
        }
    }

    fn fit(&self) -> impl Iterator<Item = &Entry<'s>> {
        self.entries.iter().filter(|entry| entry.unfit.is_none())
    }

    /// What is kept for it: its least, if it has so much to say.
    fn least(&self) -> usize {
        let all: usize = self.fit().map(|entry| entry.chars).sum();
        let all = if all > 0 {
            all + text::chars(&self.opening)
        } else {
            0
        };
        all.min(self.row.min_chars)
    }

    /// Takes as much as fits `most`, from the first on; nothing behind what does not fit.
    fn fill(&mut self, most: usize) {
        let (mut count, mut used) = (0, text::chars(&self.opening));
        for entry in self.fit() {
            if used + entry.chars > most {
                break;
            }
            count += 1;
            used += entry.chars;
        }
        self.count = count;
        self.used = if count > 0 { used } else { 0 };
    }

    /// Writes it behind what is there, and on the receipt.
    fn write(&self, context: &mut Context) {
        let before = context.text.len();
        if self.count > 0 {
            // Nothing stands above the first line of a context.
            let opening = &self.opening[usize::from(before == 0)..];
            context.text.push_str(opening);
        }
        let mut left = self.count;
        let mut items = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            let reason = match entry.unfit {
                Some(reason) => reason,
                None if left > 0 => Reason::Included,
                None => Reason::OverShare,
            };
            if reason == Reason::Included {
                left -= 1;
                context.text.push_str(&entry.lines);
            }
            items.push(entry.receipt(reason));
        }
        items.sort_by_key(|item| !item.included());
        context.sections.push(ReceiptSection {
            name: self.row.name.clone(),
            chars: text::chars(&context.text[before..]),
            items,
        });
    }
}

impl Entry<'_> {
    fn receipt(&self, reason: Reason) -> ReceiptItem {
        let words = self.lines.trim_start_matches("- ");
        let item = ReceiptItem {
            id: None,
            file: None,
            score: self.offer.score,
            excerpt: text::excerpt(words, limits::RECEIPT_EXCERPT_CHARS_MAX),
            chars: self.chars,
            reason,
        };
        item.from(&self.offer.origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::Budget;
    use proptest::prelude::*;

    fn row(share_percent: u32, min_chars: usize) -> SourceRow {
        SourceRow {
            name: "plan".to_owned(),
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
            notes: Vec::new(),
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
        let rows = |x, y| [(row(x, 0), a.clone()), (row(y, 0), b.clone())];
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
