//! Comparison of a receipt with the context of today, and with the previous one of its session or task.

use super::body::{ReceiptBody, ReceiptItem, ReceiptSection};
use super::difference::{self, ItemDifference};
use super::item_records::load_records;
use super::sent_text;
use super::wording::{item_kind, item_name, section_name};
use crate::page::record_label;
use crate::page::view::receipts::{DifferenceGroup, DifferenceItem, DifferenceView};
use crate::page::view::{Times, number, plural, render_text};
use crate::records_by_id::RecordsById;
use heirloom_engine::{ContextRequest, Engine, ReceiptHead, StoredReceipt};
use heirloom_model::context::Context;
use heirloom_model::{Budget, Fault, limits, text};

/// Compares a receipt with the context that the same request would get now.
pub(super) fn compare_with_now(
    engine: &Engine,
    receipt: &StoredReceipt,
    sections: &[ReceiptSection],
) -> Result<DifferenceView, Fault> {
    let body = ReceiptBody(&receipt.body);
    let now = engine.contexts().build(&context_request(body))?;
    let later = context_sections(&now, body);
    let records = all_records(engine, sections, &later)?;
    let used = match body.is_tokens() {
        true => text::tokens(&now.text),
        false => text::chars(&now.text),
    };
    let found = difference::compare(sections, &later);
    let summary = format!(
        "Built now, the same request would get {} more, lose {}, and keep {}: {} {} instead of {}.",
        plural(found.added.len(), "item", "items"),
        number(found.removed.len() as u64),
        number(found.common as u64),
        number(used as u64),
        body.unit(),
        number(body.used())
    );
    Ok(DifferenceView {
        title: "Compared with now".to_owned(),
        summary,
        other: None,
        groups: groups(
            &found,
            ["Would get in now", "Would not get in any more"],
            &records,
            body.unit(),
        ),
        text: Some(sent_text::render_text(&now.text, None)),
    })
}

/// Compares a receipt with the previous one of its session, otherwise of its task.
pub(super) fn compare_with_previous(
    engine: &Engine,
    receipt: &StoredReceipt,
    sections: &[ReceiptSection],
    times: &Times,
) -> Result<DifferenceView, Fault> {
    let title = "Compared with the previous context";
    let heads = engine.contexts().receipt_heads(limits::RECEIPTS_KEPT)?;
    let Some((head, of)) = previous(&heads, receipt) else {
        return Ok(DifferenceView {
            title: title.to_owned(),
            summary: "No earlier context of this session or task is stored.".to_owned(),
            other: None,
            groups: Vec::new(),
            text: None,
        });
    };
    let unit = ReceiptBody(&receipt.body).unit();
    let earlier_receipt = engine.contexts().receipt(&head.receipt.id.to_string())?;
    let earlier = ReceiptBody(&earlier_receipt.body).sections();
    let records = all_records(engine, &earlier, sections)?;
    let found = difference::compare(&earlier, sections);
    let summary = format!(
        "Compared with the previous context of this {of}, {} came, {} went, {} stayed.",
        plural(found.added.len(), "item", "items"),
        number(found.removed.len() as u64),
        number(found.common as u64)
    );
    Ok(DifferenceView {
        title: title.to_owned(),
        summary,
        other: Some((
            format!("Receipt of {}", times.full(head.receipt.at)),
            format!("/receipts/{}", head.receipt.id),
        )),
        groups: groups(&found, ["Came", "Went"], &records, unit),
        text: None,
    })
}

/// Returns the newest receipt before this one of the same session, otherwise of the same task, and which of both.
fn previous<'h>(
    heads: &'h [ReceiptHead],
    receipt: &StoredReceipt,
) -> Option<(&'h ReceiptHead, &'static str)> {
    // The heads are newest first.
    let earlier = heads
        .iter()
        .skip_while(|head| head.receipt.id != receipt.id)
        .skip(1);
    ["session", "task"].into_iter().find_map(|name| {
        let own = ReceiptBody(&receipt.body).raw(name)?;
        let of = |head: &&ReceiptHead| ReceiptBody(&head.receipt.body).raw(name) == Some(own);
        earlier.clone().find(of).map(|head| (head, name))
    })
}

fn all_records(
    engine: &Engine,
    one: &[ReceiptSection],
    other: &[ReceiptSection],
) -> Result<RecordsById, Fault> {
    let mut records = load_records(engine, one)?;
    records.extend(load_records(engine, other)?);
    Ok(records)
}

fn groups(
    found: &ItemDifference<'_>,
    titles: [&str; 2],
    records: &RecordsById,
    unit: &str,
) -> Vec<DifferenceGroup> {
    let of = |(section, item): &(&str, &ReceiptItem)| {
        let record = item.id.and_then(|id| records.get(&id));
        DifferenceItem {
            kind: item_kind(section, item, record),
            href: record.map_or_else(String::new, record_label::href),
            words: render_text(&item_name(item, record).words),
            section: section_name(section),
            size: format!("{} {unit}", number(item.size)),
        }
    };
    let [added, removed] = titles;
    let all = [
        (added, "ins", "+", &found.added),
        (removed, "del", "−", &found.removed),
    ];
    let filled = all.into_iter().filter(|(.., items)| !items.is_empty());
    filled
        .map(|(title, class, sign, items)| DifferenceGroup {
            title: title.to_owned(),
            class,
            sign,
            items: items.iter().map(of).collect(),
        })
        .collect()
}

/// Returns the sections of a context as those of a receipt.
fn context_sections(context: &Context, body: ReceiptBody<'_>) -> Vec<ReceiptSection> {
    let size = |chars: usize| body.in_unit(chars as u64);
    let sections = context.sections.iter().map(|section| ReceiptSection {
        name: section.name.clone(),
        chars: section.chars,
        size: size(section.chars),
        items: (section.items.iter())
            .map(|item| ReceiptItem {
                id: item.id,
                file: item.file.as_deref().map(text::replace_control_chars),
                excerpt: text::replace_control_chars(&item.excerpt),
                chars: item.chars,
                size: size(item.chars),
                relevance: item.relevance,
                is_in: item.is_included(),
                reason: item.reason.text().into_owned(),
            })
            .collect(),
        more: 0,
        more_size: 0,
        more_unfit: None,
    });
    sections.collect()
}

/// Rebuilds the context request of a receipt.
fn context_request(body: ReceiptBody<'_>) -> ContextRequest {
    let raw = |name: &str| body.raw(name).map(str::to_owned);
    let budget = usize::try_from(body.budget()).unwrap_or(usize::MAX);
    ContextRequest {
        task: raw("task"),
        phase: raw("phase"),
        agent: raw("agent"),
        plan: raw("plan"),
        group: raw("group"),
        session: raw("session"),
        query: raw("query"),
        prompt: None,
        budget: Some(match body.is_tokens() {
            true => Budget::Tokens(budget),
            false => Budget::Chars(budget),
        }),
        invocation: None,
        separate_rules: body.raw("rules").is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::{RecordId, Timestamp};
    use serde_json::{Value, json};

    fn head(n: u8, body: Value) -> ReceiptHead {
        let Value::Object(body) = body else {
            unreachable!()
        };
        ReceiptHead {
            receipt: StoredReceipt {
                id: RecordId::from_bytes([n; 16]),
                at: Timestamp::UNIX_EPOCH,
                body,
            },
            session: None,
            records: Vec::new(),
        }
    }

    #[test]
    fn previous_receipt_is_of_the_session_otherwise_of_the_task() {
        let heads = [
            head(9, json!({"session": "a", "task": "1"})),
            head(8, json!({"session": "b", "task": "1"})),
            head(7, json!({"task": "1"})),
            head(6, json!({"session": "a", "task": "2"})),
            head(5, json!({"session": "b"})),
        ];
        let found = |at: usize| {
            let (head, of) = previous(&heads, &heads[at].receipt)?;
            Some((head.receipt.id.as_bytes()[0], of))
        };
        assert_eq!(found(0), Some((6, "session")));
        assert_eq!(found(1), Some((5, "session")));
        assert_eq!(found(2), None);
        assert_eq!(found(3), None);
        let alone = head(4, json!({"session": "a", "task": "1"}));
        assert!(previous(&heads, &alone.receipt).is_none());
        let task_only = [head(3, json!({"task": "1"})), heads[2].clone()];
        let (head, of) = previous(&task_only, &task_only[0].receipt).unwrap();
        assert_eq!((head.receipt.id.as_bytes()[0], of), (7, "task"));
    }
}
