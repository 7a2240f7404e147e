//! The chosen parts as Markdown, and the receipt.

use super::parts::{Entry, OPENING, Part, Shape};
use heirloom_model::context::{Context, Reason, ReceiptItem, ReceiptSection};
use heirloom_model::{Budget, limits, text};

/// Writes what was chosen of the parts, and the receipt of all of it.
pub(super) fn write(parts: &[Part], budget: Budget) -> Context {
    let mut page = Page::default();
    let mut sections: Vec<ReceiptSection> = Vec::new();
    let mut outside = Vec::new();
    for part in parts.iter().filter(|part| !part.entries.is_empty()) {
        let before = page.chars;
        page.part(part);
        if sections.last().is_none_or(|last| last.name != part.section) {
            end_section(&mut sections, &mut outside);
            sections.push(ReceiptSection {
                name: part.section.to_owned(),
                chars: 0,
                items: Vec::new(),
            });
        }
        let (inside, mut out) = receipt(part);
        if let Some(section) = sections.last_mut() {
            section.chars += page.chars - before;
            section.items.extend(inside);
        }
        if outside.is_empty() {
            outside = out;
        } else {
            outside.append(&mut out);
        }
    }
    end_section(&mut sections, &mut outside);
    Context {
        text: page.text,
        budget,
        sections,
        notes: Vec::new(),
    }
}

/// Puts what was cut of a section behind what is in.
fn end_section(sections: &mut [ReceiptSection], outside: &mut Vec<ReceiptItem>) {
    if let Some(section) = sections.last_mut() {
        section.items.append(outside);
    }
}

/// The text as it grows, and its length.
#[derive(Default)]
struct Page {
    text: String,
    chars: usize,
}

impl Page {
    fn push(&mut self, piece: &str) {
        self.text.push_str(piece);
        self.chars += text::chars(piece);
    }

    /// Writes a part; what it takes is what [`Part::cost`] foretold.
    fn part(&mut self, part: &Part) {
        let (before, opened) = (self.chars, !self.text.is_empty());
        let notice = part.notice(part.shown);
        let shown: Vec<&str> = shown(part).map(|entry| entry.text.as_ref()).collect();
        if shown.is_empty() && notice.is_empty() {
            return;
        }
        if !opened {
            self.push(OPENING);
        }
        match part.shape {
            Shape::Title => self.lines("\n", &shown),
            Shape::Line(label) => self.list(label, &shown),
            Shape::Steps(label) => {
                let notice = Some(notice.as_str()).filter(|notice| !notice.is_empty());
                self.list(label, &shown.into_iter().chain(notice).collect::<Vec<_>>());
            }
            Shape::Past(label) => {
                let notice = Some(notice.as_str()).filter(|notice| !notice.is_empty());
                let past = notice.into_iter().chain(shown.into_iter().rev());
                self.list(label, &past.collect::<Vec<_>>());
            }
            Shape::Bullets(_) | Shape::Ranked(_) => {
                if !shown.is_empty() {
                    self.push(&format!("\n### {}\n", part.section));
                } else if !opened {
                    self.push("\n");
                }
                self.lines("- ", &shown);
                self.push(&notice);
            }
        }
        debug_assert_eq!(self.chars - before, part.cost(part.shown, opened));
    }

    fn lines(&mut self, mark: &str, lines: &[&str]) {
        for line in lines {
            self.push(mark);
            self.push(line);
            self.push("\n");
        }
    }

    fn list(&mut self, label: &str, words: &[&str]) {
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

/// The entries that are in, the most important first.
fn shown<'p>(part: &'p Part) -> impl Iterator<Item = &'p Entry<'p>> {
    let fit = part.entries.iter().filter(|entry| entry.unfit.is_none());
    fit.take(part.shown.count)
}

/// What the receipt says of a part: what is in, as it stands, then what is not.
fn receipt(part: &Part) -> (Vec<ReceiptItem>, Vec<ReceiptItem>) {
    let mut left = part.shown.count;
    let mut inside = Vec::with_capacity(left);
    let mut outside = Vec::with_capacity(part.entries.len() - left);
    for entry in &part.entries {
        let reason = match entry.unfit {
            Some(reason) => reason,
            None if left > 0 => Reason::Included,
            None => Reason::OverBudget,
        };
        let list = if reason == Reason::Included {
            left -= 1;
            &mut inside
        } else {
            &mut outside
        };
        list.push(ReceiptItem {
            id: entry.id,
            file: None,
            score: None,
            excerpt: excerpt(part, entry),
            chars: entry.chars,
            reason,
        });
    }
    if matches!(part.shape, Shape::Past(_)) {
        inside.reverse();
    }
    (inside, outside)
}

/// The entry shortened; it is one clean line already.
fn excerpt(part: &Part, entry: &Entry) -> String {
    let max = limits::RECEIPT_EXCERPT_CHARS_MAX;
    let clipped = text::clip(&entry.text, max);
    let clipped = if clipped.len() == entry.text.len() {
        clipped.to_owned()
    } else {
        format!("{}…", text::clip(clipped, max - 1))
    };
    match part.shape {
        Shape::Line(label) => format!("{label}: {clipped}"),
        Shape::Title | Shape::Steps(_) | Shape::Past(_) | Shape::Bullets(_) | Shape::Ranked(_) => {
            clipped
        }
    }
}
