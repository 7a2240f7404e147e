//! Difference between the items of two contexts.

use super::body::{ReceiptItem, ReceiptSection};
use std::collections::HashSet;

/// Items that only one of two contexts has.
pub(super) struct ItemDifference<'a> {
    /// Items that only the later context has, with the stored names of their sections.
    pub(super) added: Vec<(&'a str, &'a ReceiptItem)>,
    /// Items that only the earlier context has.
    pub(super) removed: Vec<(&'a str, &'a ReceiptItem)>,
    /// Number of items in both.
    pub(super) common: usize,
}

/// Compares the included items of two contexts by record, file or text. An item that moved to another section is in
/// both.
pub(super) fn compare<'a>(
    earlier: &'a [ReceiptSection],
    later: &'a [ReceiptSection],
) -> ItemDifference<'a> {
    let only = |one: &'a [ReceiptSection], other: &HashSet<String>| -> Vec<_> {
        let items = included(one).filter(|(_, item)| !other.contains(&item_key(item)));
        items.collect()
    };
    let (of_earlier, of_later) = (keys(earlier), keys(later));
    let removed = only(earlier, &of_later);
    ItemDifference {
        added: only(later, &of_earlier),
        common: included(earlier).count() - removed.len(),
        removed,
    }
}

fn included(sections: &[ReceiptSection]) -> impl Iterator<Item = (&str, &ReceiptItem)> {
    sections.iter().flat_map(|section| {
        let items = section.items.iter().filter(|item| item.is_in);
        items.map(|item| (section.name.as_str(), item))
    })
}

fn keys(sections: &[ReceiptSection]) -> HashSet<String> {
    included(sections).map(|(_, item)| item_key(item)).collect()
}

fn item_key(item: &ReceiptItem) -> String {
    match (item.id, &item.file) {
        (Some(id), _) => id.to_string(),
        (None, Some(file)) => format!("{file} {}", item.excerpt),
        (None, None) => item.excerpt.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(name: &str, items: &[(&str, bool)]) -> ReceiptSection {
        let item = |(words, is_in): &(&str, bool)| ReceiptItem {
            id: None,
            file: None,
            excerpt: (*words).to_owned(),
            chars: 8,
            size: 2,
            relevance: None,
            is_in: *is_in,
            reason: String::new(),
        };
        ReceiptSection {
            name: name.to_owned(),
            chars: 0,
            size: 0,
            items: items.iter().map(item).collect(),
            more: 0,
            more_size: 0,
            more_unfit: None,
        }
    }

    #[test]
    fn difference_ignores_omitted_items_and_moves_between_sections() {
        let earlier = [section("a", &[("x", true), ("y", true), ("z", false)])];
        let later = [
            section("a", &[("x", true), ("y", false)]),
            section("b", &[("y", true), ("z", true)]),
        ];
        let found = compare(&earlier, &later);
        let words = |items: &[(&str, &ReceiptItem)]| -> Vec<String> {
            let item =
                |(section, item): &(&str, &ReceiptItem)| format!("{section} {}", item.excerpt);
            items.iter().map(item).collect()
        };
        assert_eq!(words(&found.added), ["b z"]);
        assert!(found.removed.is_empty());
        assert_eq!(found.common, 2);
        let back = compare(&later, &earlier);
        assert_eq!(words(&back.removed), ["b z"]);
        assert_eq!(back.common, 2);
    }
}
