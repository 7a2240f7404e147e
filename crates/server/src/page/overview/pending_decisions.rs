//! Summary of the items that need a person's decision, most urgent first.

use crate::page::pending_items::PendingItems;
use crate::page::record_label;
use crate::page::view::overview::PendingItem;
use crate::page::view::{Times, number, plural};
use heirloom_model::{limits, text};

/// Maximum number of characters of a detail.
const DETAIL_CHARS: usize = 90;

/// Returns one row for each kind of item that waits.
pub(super) fn rows(items: &PendingItems, times: &Times) -> Vec<PendingItem> {
    let rows = [
        conflicts(items),
        blocked(items),
        errors(items, times),
        proposals(items),
        review(items),
    ];
    rows.into_iter().flatten().collect()
}

fn conflicts(items: &PendingItems) -> Option<PendingItem> {
    let names = items.conflicts.iter().take(3);
    let names: Vec<_> = names.map(|one| record_label::name(&one.winner)).collect();
    (!names.is_empty()).then(|| PendingItem {
        href: "/inbox#conflicts",
        title: plural(items.conflicts.len(), "conflict", "conflicts"),
        detail: names.join(", "),
        class: "k-knowledge",
        icon: "knowledge",
    })
}

fn blocked(items: &PendingItems) -> Option<PendingItem> {
    let (record, why) = items.blocked.first()?;
    let task = record_label::name(record);
    let why = text::replace_control_chars(why);
    Some(PendingItem {
        href: "/inbox#blocked",
        title: plural(items.blocked.len(), "blocked task", "blocked tasks"),
        detail: text::excerpt(&format!("{task}: {why}"), DETAIL_CHARS),
        class: "warn",
        icon: "pause",
    })
}

fn errors(items: &PendingItems, times: &Times) -> Option<PendingItem> {
    let newest = items.errors.first()?;
    let mut detail = format!("newest: {}", times.full(newest.recorded_at));
    if let Some(task) = record_label::named_task(newest.scope.task.as_deref()) {
        detail.push_str(&format!(", {}", record_label::task_label(task)));
    }
    Some(PendingItem {
        href: "/inbox#errors",
        title: match items.errors_count {
            n @ ..=limits::PAGE_RECORDS => plural(n, "open error", "open errors"),
            _ => format!(
                "more than {} open errors",
                number(limits::PAGE_RECORDS as u64)
            ),
        },
        detail,
        class: "k-error",
        icon: "error",
    })
}

fn proposals(items: &PendingItems) -> Option<PendingItem> {
    let first = items.proposals.first()?;
    let detail = format!(
        "{}: “{}”",
        record_label::source_label(&first.source),
        text::replace_control_chars(&first.text)
    );
    Some(PendingItem {
        href: "/inbox#proposals",
        title: plural(items.proposals.len(), "proposal", "proposals"),
        detail: text::excerpt(&detail, DETAIL_CHARS),
        class: "k-note",
        icon: "note",
    })
}

fn review(items: &PendingItems) -> Option<PendingItem> {
    let parts = [
        (items.pairs.len(), "nearly the same"),
        (items.stale.len(), "stale"),
        (items.unused.len(), "never used"),
    ];
    let parts = parts.iter().filter(|(n, _)| *n > 0);
    let parts: Vec<_> = parts.map(|(n, what)| format!("{n} {what}")).collect();
    (!parts.is_empty()).then(|| PendingItem {
        href: "/inbox#review",
        title: plural(
            items.review_count(),
            "record to review",
            "records to review",
        ),
        detail: parts.join(", "),
        class: "warn",
        icon: "review",
    })
}
