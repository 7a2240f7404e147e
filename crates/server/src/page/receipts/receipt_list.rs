//! List of receipts: for which question each context was, what it contained, and what did not fit.

use super::ReceiptListParams;
use super::body::{ItemTotal, ReceiptBody, SectionCount, sum};
use super::wording::item_count;
use crate::page::request_context::times;
use crate::page::view::chart::share;
use crate::page::view::receipts::{FilterOption, ReceiptListView, ReceiptRow};
use crate::page::view::{Times, number, percent, plural};
use crate::page::{RequestContext, Shell, record_label};
use heirloom_engine::{Engine, ReceiptHead};
use heirloom_model::{Fault, limits};

/// Number of listed receipts; a link leads to the others.
const LISTED: usize = 50;
/// Number of sections that a row names; the items of the others are counted together.
const NAMED_SECTIONS: usize = 4;

/// Loads the list with its filters.
pub(super) fn load(
    engine: &Engine,
    context: &RequestContext,
    params: &ReceiptListParams,
) -> Result<ReceiptListView, Fault> {
    let times = times(engine);
    let all = engine.contexts().receipt_heads(limits::RECEIPTS_KEPT)?;
    let session_of = |head: &ReceiptHead| head.session.clone();
    let task_of = |head: &ReceiptHead| {
        let task = ReceiptBody(&head.receipt.body).raw("task");
        record_label::named_task(task).map(str::to_owned)
    };
    let is_wanted = |head: &&ReceiptHead| {
        let is_of =
            |given: &str, own: Option<String>| given.is_empty() || own.as_deref() == Some(given);
        is_of(&params.session, session_of(head))
            && is_of(&params.task, task_of(head))
            && (params.cut.is_none() || did_not_fit(head).count > 0)
    };
    let found: Vec<_> = all.iter().filter(is_wanted).collect();
    let with_cuts = all
        .iter()
        .filter(|head| did_not_fit(head).count > 0)
        .count();
    let listed = if params.all.is_some() {
        found.len()
    } else {
        LISTED
    };
    let rows = found.iter().take(listed);
    let is_filtered = !params.session.is_empty() || !params.task.is_empty() || params.cut.is_some();
    Ok(ReceiptListView {
        shell: Shell::load(engine, context, "receipts", "Receipts")?,
        headline: match (all.len(), all.first()) {
            (0, _) | (_, None) => "No context was given yet.".to_owned(),
            (n, Some(newest)) => format!(
                "{}, {}; the newest {}.",
                plural(n, "context", "contexts"),
                match with_cuts {
                    0 => "everything relevant fitted".to_owned(),
                    1 => "in 1 something did not fit".to_owned(),
                    cuts => format!("in {} something did not fit", number(cuts as u64)),
                },
                times.full(newest.receipt.at)
            ),
        },
        is_empty: all.is_empty(),
        is_filtered,
        found: plural(found.len(), "context", "contexts"),
        rows: rows.map(|head| receipt_row(head, &times)).collect(),
        sessions: options(&all, &session_of, &params.session, &record_label::short_id),
        tasks: options(&all, &task_of, &params.task, &record_label::task_label),
        only_cut: params.cut.is_some(),
        rest: match found.len().saturating_sub(listed) {
            0 => None,
            rest => Some((
                list_href(&params.session, &params.task, params.cut.is_some(), true),
                plural(rest, "older one", "older ones"),
            )),
        },
    })
}

/// Returns the items of a context that only lacked space.
fn did_not_fit(head: &ReceiptHead) -> ItemTotal {
    let counts = ReceiptBody(&head.receipt.body).counts();
    sum(counts.iter().map(|count| count.did_not_fit))
}

/// Returns the address of a filtered list.
fn list_href(session: &str, task: &str, only_cut: bool, has_all: bool) -> String {
    let encode = record_label::percent_encode;
    let mut query = Vec::new();
    if !session.is_empty() {
        query.push(format!("session={}", encode(session)));
    }
    if !task.is_empty() {
        query.push(format!("task={}", encode(task)));
    }
    query.extend(only_cut.then(|| "cut=1".to_owned()));
    query.extend(has_all.then(|| "all=1".to_owned()));
    format!("/receipts?{}", query.join("&"))
}

/// Returns the options of a filter in order of the newest receipt, also the chosen one without receipts.
fn options(
    heads: &[ReceiptHead],
    value_of: &dyn Fn(&ReceiptHead) -> Option<String>,
    chosen: &str,
    label: &dyn Fn(&str) -> String,
) -> Vec<FilterOption> {
    let mut options: Vec<FilterOption> = Vec::new();
    let chosen_value = Some(chosen.to_owned()).filter(|chosen| !chosen.is_empty());
    for value in heads.iter().filter_map(value_of).chain(chosen_value) {
        if options.iter().any(|option| option.value == value) {
            continue;
        }
        options.push(FilterOption {
            label: label(&value),
            is_chosen: value == chosen,
            value,
        });
    }
    options
}

fn receipt_row(head: &ReceiptHead, times: &Times) -> ReceiptRow {
    let body = ReceiptBody(&head.receipt.body);
    let counts = body.counts();
    let part = percent(body.used(), body.budget());
    let [cut, irrelevant] = left_out_words(&counts, body.unit());
    ReceiptRow {
        id: head.receipt.id.to_string(),
        title: body.title(),
        at: times.full(head.receipt.at),
        agent: body.text("agent").unwrap_or_default(),
        task: body.raw("task").map(|task| {
            let label = body.task().unwrap_or_default();
            (label, list_href("", task, false, false))
        }),
        session: head.session.as_deref().map(|session| {
            let label = format!("session {}", record_label::short_id(session));
            (label, list_href(session, "", false, false))
        }),
        contents: match counts.is_empty() {
            // Receipts of earlier versions have no counts.
            true => plural(head.records.len(), "record got in", "records got in"),
            false => contents(&counts),
        },
        cut,
        irrelevant,
        used: format!("{} of {}", number(body.used()), number(body.budget())),
        unit: body.unit(),
        bar: share(&format!("{part} % of its budget"), part, "f-accent", true),
    }
}

/// Names the items that got in, the largest groups first.
fn contents(counts: &[SectionCount]) -> String {
    let mut inside: Vec<_> = counts.iter().filter(|count| count.included > 0).collect();
    inside.sort_by_key(|count| std::cmp::Reverse(count.included));
    let (named, rest) = inside.split_at(inside.len().min(NAMED_SECTIONS));
    let mut words: Vec<String> = named
        .iter()
        .map(|count| item_count(&count.name, count.included))
        .collect();
    let rest: usize = rest.iter().map(|count| count.included).sum();
    if rest > 0 {
        words.push(format!("{} more", number(rest as u64)));
    }
    match words.is_empty() {
        true => "Nothing got in".to_owned(),
        false => words.join(", "),
    }
}

/// Returns the words for the items that did not fit, and for those that were left out for other reasons; empty without
/// such items.
fn left_out_words(counts: &[SectionCount], unit: &str) -> [String; 2] {
    let short = sum(counts.iter().map(|count| count.did_not_fit));
    let all = sum(counts.iter().map(|count| count.left_out));
    let other = all.count.saturating_sub(short.count);
    let words = |count: usize, words: String| match count {
        0 => String::new(),
        _ => words,
    };
    [
        words(
            short.count,
            format!(
                "{} did not fit: {} {unit}",
                plural(short.count, "item", "items"),
                number(short.size)
            ),
        ),
        words(
            other,
            format!("{} not relevant or repeated", number(other as u64)),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(name: &str, included: usize, left_out: usize, did_not_fit: usize) -> SectionCount {
        let of = |count: usize| ItemTotal {
            count,
            size: 10 * count as u64,
        };
        SectionCount {
            name: name.to_owned(),
            included,
            left_out: of(left_out),
            did_not_fit: of(did_not_fit),
        }
    }

    #[test]
    fn row_words_name_groups_and_distinguish_lack_of_space() {
        let counts = [
            count("Task", 1, 0, 0),
            count("Key Facts", 1_200, 5, 2),
            count("Key Decisions", 3, 0, 0),
            count("history", 2, 0, 0),
            count("workspace", 1, 0, 0),
            count("recall", 0, 1, 1),
        ];
        assert_eq!(
            contents(&counts),
            "1,200 facts, 3 decisions, 2 turns, 1 line of the task, 1 more"
        );
        assert_eq!(
            left_out_words(&counts, "tokens"),
            [
                "3 items did not fit: 30 tokens",
                "3 not relevant or repeated"
            ]
        );
        assert_eq!(left_out_words(&counts[..1], "tokens"), ["", ""]);
        assert_eq!(contents(&counts[5..]), "Nothing got in");
    }

    #[test]
    fn list_addresses_keep_filters_encoded() {
        assert_eq!(
            list_href("a&b", "", false, false),
            "/receipts?session=a%26b"
        );
        assert_eq!(
            list_href("", "7", true, true),
            "/receipts?task=7&cut=1&all=1"
        );
    }
}
