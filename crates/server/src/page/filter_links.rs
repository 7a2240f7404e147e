//! Filters of a list as links: each has an address of its own, and the number of rows that it leaves.

use super::record_label::percent_encode;
use super::view::filters::FilterLink;

/// Returns the address of a list with these parameters; empty ones are left out.
pub(in crate::page) fn list_address(path: &str, params: &[(&str, &str)]) -> String {
    let mut address = path.to_owned();
    for (name, value) in params.iter().filter(|(_, value)| !value.is_empty()) {
        address.push(if address.contains('?') { '&' } else { '?' });
        address.push_str(&format!("{name}={}", percent_encode(value)));
    }
    address
}

/// Returns the links that lead to rows, and the selected one; nothing if there is no choice. The first link leads to all
/// rows.
pub(in crate::page) fn keep_useful_links(mut links: Vec<FilterLink>) -> Vec<FilterLink> {
    let all = links.first().map_or(0, |link| link.count);
    let mut is_first = true;
    links.retain(|link| std::mem::take(&mut is_first) || link.count > 0 || link.is_selected);
    let is_choice = links
        .iter()
        .skip(1)
        .any(|link| link.count != all || link.is_selected);
    match is_choice {
        true => links,
        false => Vec::new(),
    }
}

/// Counts values and returns them by number, the largest first.
pub(in crate::page) fn count_values<'v>(
    values: impl Iterator<Item = &'v str>,
) -> Vec<(String, usize)> {
    let mut counts = std::collections::BTreeMap::<&str, usize>::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let mut counts: Vec<_> = counts
        .into_iter()
        .map(|(value, n)| (value.to_owned(), n))
        .collect();
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    counts
}

/// Returns true if each word of a query is in the text, ignoring case.
pub(in crate::page) fn contains_words(text: &str, query: &str) -> bool {
    let text = text.to_lowercase();
    query
        .to_lowercase()
        .split_whitespace()
        .all(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_address_encodes_values_and_leaves_out_empty_ones() {
        let params = [("q", "a b&c"), ("state", ""), ("agent", "codex")];
        assert_eq!(
            list_address("/tasks", &params),
            "/tasks?q=a%20b%26c&agent=codex"
        );
        assert_eq!(list_address("/tasks", &[]), "/tasks");
    }

    #[test]
    fn links_without_a_choice_are_left_out() {
        let link = |count, is_selected| FilterLink {
            label: String::new(),
            href: String::new(),
            count,
            is_selected,
        };
        let counts = |links: Vec<FilterLink>| {
            let counts = keep_useful_links(links).into_iter().map(|link| link.count);
            counts.collect::<Vec<_>>()
        };
        assert!(counts(vec![link(3, true), link(3, false), link(0, false)]).is_empty());
        assert_eq!(
            counts(vec![link(3, true), link(2, false), link(1, false)]),
            [3, 2, 1]
        );
        assert_eq!(
            counts(vec![link(3, false), link(0, true), link(3, false)]),
            [3, 0, 3]
        );
    }

    #[test]
    fn values_are_counted_most_frequent_first() {
        let counted = count_values(["b", "a", "b"].into_iter());
        assert_eq!(counted, [("b".to_owned(), 2), ("a".to_owned(), 1)]);
        assert!(contains_words("Webhook DELIVERS twice", "twice web"));
        assert!(!contains_words("Webhook delivers", "webhook once"));
    }
}
