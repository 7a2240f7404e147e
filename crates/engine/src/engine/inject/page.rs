//! Sections behind Session Memory, in what is left of the budget, with their receipt.

use crate::directives::block;
use heirloom_model::context::{Context, Reason, ReceiptItem, ReceiptSection};
use heirloom_model::section::{Origin, Section};
use heirloom_model::{limits, text};

/// Appends what fits of `sections`, in their order. What has no room whole is cut in whole lines, or left out; `notes`
/// tells of both.
pub(super) fn append(context: &mut Context, sections: &[Section], notes: &mut Vec<String>) {
    let mut room = context
        .budget
        .chars()
        .saturating_sub(text::chars(&context.text));
    let most = context.budget.chars();
    for section in sections {
        notes.extend(section.notes.iter().cloned());
        let blank = if context.text.is_empty() { "" } else { "\n" };
        let heading = format!("{blank}{}\n", section.heading);
        let mut opening = text::chars(&heading);
        let mut receipt = ReceiptSection {
            name: section.name.clone(),
            chars: 0,
            items: Vec::new(),
        };
        for offer in &section.offers {
            // A block stands apart from what is before it.
            let gap = if section.name == "recall" { "" } else { "\n" };
            let fits = room.checked_sub(opening + gap.len());
            let taken = fits.and_then(|room| part(&offer.text, room, &section.name));
            let chars = text::chars(taken.as_deref().unwrap_or(&offer.text)) + gap.len();
            if taken.as_ref() != Some(&offer.text) {
                let what = if taken.is_some() { "cut" } else { "left out" };
                notes.push(format!(
                    "{} is {what}: the budget",
                    named(&offer.origin, section)
                ));
            }
            let reason = match &taken {
                Some(_) => Reason::Included,
                None if chars > most => Reason::TooLarge,
                None => Reason::OverBudget,
            };
            if let Some(said) = taken {
                if opening > 0 {
                    context.text.push_str(&heading);
                    receipt.chars += opening;
                    room -= opening;
                    opening = 0;
                }
                context.text.push_str(gap);
                context.text.push_str(&said);
                receipt.chars += chars;
                room -= chars;
            }
            receipt.items.push(ReceiptItem {
                id: match offer.origin {
                    Origin::Record(id) => Some(id),
                    Origin::File { .. } | Origin::Nowhere => None,
                },
                excerpt: text::excerpt(&offer.text, limits::RECEIPT_EXCERPT_CHARS_MAX),
                chars,
                reason,
            });
        }
        context.sections.push(receipt);
    }
}

/// As much of an offer as fits; a line is whole or not there.
fn part(offer: &str, room: usize, section: &str) -> Option<String> {
    if section == "recall" {
        return (text::chars(offer) <= room).then(|| offer.to_owned());
    }
    block::cut(offer, room)
}

fn named(origin: &Origin, section: &Section) -> String {
    match origin {
        Origin::File { path, .. } => format!("`{}`", text::excerpt(path, 120)),
        Origin::Record(id) => id.to_string(),
        Origin::Nowhere => format!("a part of `{}`", section.name),
    }
}
