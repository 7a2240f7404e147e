//! Filters of a query as links: those that it has, those that narrow it, and examples of queries.

use crate::page::record_label;
use crate::page::view::number;
use crate::page::view::recall::{Example, FilterLink};
use heirloom_engine::{Engine, Filter, named_task};
use heirloom_model::{Fault, Kind, Record, text};
use heirloom_search::recall::query::split_filters;
use heirloom_search::recall::{ParsedQuery, Ranked, RecallItem};
use std::collections::BTreeMap;

/// Maximum number of tasks that are offered as filters.
const TASKS_OFFERED: usize = 3;
/// Number of hits of one filter from which it narrows: all hits have a filter with this number, or none does.
const NARROWS_FROM: usize = 1;
/// Maximum number of characters of an example.
const EXAMPLE_CHARS: usize = 60;

/// Names of filters with their meanings.
pub(super) const FILTERS: [(&str, &str); 13] = [
    (
        "kind:",
        "knowledge, task, step, error, episode, artifact, output, note, summary; message for turns of conversations",
    ),
    ("task:", "records of one task"),
    ("agent:", "records of one agent"),
    ("session:", "records and turns of one session"),
    ("plan:", "records of one plan"),
    ("group:", "records of one group"),
    ("phase:", "records of one phase"),
    (
        "category:",
        "fact, decision, convention, learning, or another category of knowledge",
    ),
    ("source:", "records that this agent or person wrote"),
    ("key:", "the record with this key"),
    (
        "after:",
        "recorded at this time or later: 2026-05-01, yesterday, last-week",
    ),
    ("before:", "recorded before this time"),
    ("on:", "recorded on this day"),
];

/// Returns the address of the page for a query.
pub(super) fn query_href(question: &str) -> String {
    format!("/recall?q={}", record_label::percent_encode(question))
}

/// Returns the filters of a query; the link of each removes it.
pub(super) fn chips(question: &str) -> Vec<FilterLink> {
    let (words, filters) = split_filters(question);
    let remove = |at: usize| {
        let others = (0..).zip(&filters).filter(|(other, _)| *other != at);
        let parts = others.map(|(_, filter)| filter.as_str());
        let rest: Vec<&str> = std::iter::once(words.as_str()).chain(parts).collect();
        query_href(rest.join(" ").trim())
    };
    let chip = |(at, filter): (usize, &String)| FilterLink {
        filter: text::replace_control_chars(filter),
        count: String::new(),
        href: remove(at),
    };
    filters.iter().enumerate().map(chip).collect()
}

/// Returns the address of a query without its filters; empty if it has none, or no words.
pub(super) fn without_filters(question: &str) -> String {
    match split_filters(question) {
        (words, filters) if !words.is_empty() && !filters.is_empty() => query_href(&words),
        _ => String::new(),
    }
}

/// Returns filters that divide these hits, with the number of hits of each; the link of each adds it to the query.
pub(super) fn narrowing<'h>(
    question: &str,
    parsed: &ParsedQuery,
    hits: impl Iterator<Item = &'h Ranked>,
) -> Vec<FilterLink> {
    let filters = &parsed.filters;
    let (mut kinds, mut tasks) = (BTreeMap::new(), BTreeMap::new());
    let mut all: usize = 0;
    for hit in hits {
        all += 1;
        let kind = hit.item.kind().map_or("message", Kind::as_str);
        *kinds.entry(kind).or_insert(0_usize) += 1;
        if let RecallItem::Record(record) = &hit.item
            && let Some(task) = named_task(record.scope.task.as_deref())
        {
            *tasks.entry(task).or_insert(0_usize) += 1;
        }
    }
    let is_free = |count: usize| (NARROWS_FROM..all).contains(&count);
    let mut offers: Vec<(String, usize)> = Vec::new();
    if filters.kinds.is_empty() && !filters.turns {
        let named = kinds.into_iter().filter(|(_, count)| is_free(*count));
        offers.extend(named.map(|(kind, count)| (format!("kind:{kind}"), count)));
    }
    if filters.scope.task.is_none() {
        let mut tasks: Vec<_> = tasks.into_iter().filter(|(_, n)| is_free(*n)).collect();
        tasks.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let named = tasks.into_iter().take(TASKS_OFFERED);
        offers.extend(named.map(|(task, count)| (format!("task:{}", quoted(task)), count)));
    }
    let mut links: Vec<FilterLink> = offers
        .into_iter()
        .map(|(filter, count)| added(question, &filter, number(count as u64)))
        .collect();
    if filters.after.is_none() && filters.before.is_none() && all > 0 {
        links.push(added(question, "after:last-week", String::new()));
    }
    links
}

/// Returns the link that adds a filter to a query.
fn added(question: &str, filter: &str, count: String) -> FilterLink {
    FilterLink {
        href: query_href(&format!("{question} {filter}")),
        filter: text::replace_control_chars(filter),
        count,
    }
}

/// Returns the value of a filter, in quotes if it has a space.
fn quoted(value: &str) -> String {
    match value.contains(char::is_whitespace) {
        true => format!("\"{value}\""),
        false => value.to_owned(),
    }
}

/// Returns examples of queries with words of the newest records.
pub(super) fn examples(engine: &Engine) -> Result<Vec<Example>, Fault> {
    let newest = |kind: Kind| -> Result<Option<Record>, Fault> {
        let filter = Filter::current(&[kind], engine.now()).limit(1);
        Ok(engine.records().find(&filter)?.into_iter().next())
    };
    let beginning = |record: &Record| {
        let line = text::one_line(&text::replace_control_chars(&record.text));
        text::clip(&line, EXAMPLE_CHARS).replace(['`', '"'], "")
    };
    let mut examples = Vec::new();
    let mut add = |label, question: String| {
        let href = query_href(&question);
        examples.push(Example {
            label,
            question,
            href,
        });
    };
    if let Some(known) = newest(Kind::Knowledge)? {
        add("A question in words", beginning(&known));
        let key = record_label::given_key(&known);
        if !key.is_empty() {
            add("The key of a record", text::replace_control_chars(key));
        }
        add(
            "Only knowledge of the last days",
            "kind:knowledge after:last-week".to_owned(),
        );
    }
    if let Some(error) = newest(Kind::Error)? {
        let question = format!("{} kind:error", beginning(&error));
        add("The text of an error, among errors", question);
    }
    if let Some(attempt) = newest(Kind::Episode)? {
        if let Some(task) = named_task(attempt.scope.task.as_deref()) {
            let question = format!("task:{} kind:episode", quoted(task));
            add("What was tried for one task", question);
        }
        let question = format!("{} kind:message", beginning(&attempt));
        add("Only turns of conversations", question);
    }
    Ok(examples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_of_a_filter_removes_only_this_filter() {
        let chips = chips("why \"no port\" kind:error task:\"a b\"");
        let shown: Vec<_> = chips.iter().map(|chip| chip.filter.as_str()).collect();
        assert_eq!(shown, ["kind:error", "task:\"a b\""]);
        assert_eq!(
            chips[0].href,
            "/recall?q=why%20%22no%20port%22%20task%3A%22a%20b%22"
        );
        assert_eq!(
            chips[1].href,
            "/recall?q=why%20%22no%20port%22%20kind%3Aerror"
        );
        assert_eq!(without_filters("x kind:error"), "/recall?q=x");
        assert_eq!(without_filters("kind:error"), "");
        assert_eq!(without_filters("x"), "");
    }
}
