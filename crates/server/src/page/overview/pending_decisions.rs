//! Items that need a user's decision, most urgent first.

use crate::page::record_label;
use crate::page::view::overview::PendingItem;
use crate::page::view::{Times, number, plural};
use heirloom_engine::{Engine, Filter};
use heirloom_model::kinds::{ErrorRecord, Knowledge, Task, TaskState};
use heirloom_model::{Fault, Kind, KindData, limits, text};

/// Maximum number of tasks and of proposals that are read.
const READ: usize = 200;

pub(super) fn load(engine: &Engine, times: &Times) -> Result<Vec<PendingItem>, Fault> {
    let mut waiting = Vec::new();
    add_conflicts(engine, &mut waiting)?;
    add_blocked_tasks(engine, &mut waiting)?;
    add_open_errors(engine, times, &mut waiting)?;
    add_proposals(engine, &mut waiting)?;
    add_review(engine, &mut waiting)?;
    Ok(waiting)
}

fn add_conflicts(engine: &Engine, waiting: &mut Vec<PendingItem>) -> Result<(), Fault> {
    let open = engine.conflicts().list()?;
    if !open.is_empty() {
        let names: Vec<_> = open
            .iter()
            .take(3)
            .map(|one| record_label::name(&one.winner))
            .collect();
        waiting.push(PendingItem {
            href: "/knowledge".to_owned(),
            title: plural(open.len(), "conflict", "conflicts"),
            detail: names.join(", "),
            class: "k-knowledge",
            icon: "knowledge",
        });
    }
    Ok(())
}

fn add_blocked_tasks(engine: &Engine, waiting: &mut Vec<PendingItem>) -> Result<(), Fault> {
    let tasks = engine
        .records()
        .find(&Filter::current(&[Kind::Task], engine.now()).limit(READ))?;
    let mut blocked = Vec::new();
    for record in &tasks {
        let Ok(task) = Task::from_record(record) else {
            continue;
        };
        let is_over = matches!(task.state, Some(TaskState::Done | TaskState::Failed));
        if let Some(why) = task
            .blocked_reason
            .filter(|why| !why.is_empty() && !is_over)
        {
            blocked.push((record, why));
        }
    }
    if let Some((record, why)) = blocked.first() {
        let id = record.key.as_deref().unwrap_or_default();
        waiting.push(PendingItem {
            href: match blocked.len() {
                1 => record_label::task_href(id),
                _ => "/tasks?state=blocked".to_owned(),
            },
            title: plural(blocked.len(), "task is blocked", "tasks are blocked"),
            detail: text::excerpt(
                &format!(
                    "{}: {}",
                    record_label::task_label(id),
                    text::replace_control_chars(why)
                ),
                90,
            ),
            class: "warn",
            icon: "pause",
        });
    }
    Ok(())
}

fn add_open_errors(
    engine: &Engine,
    times: &Times,
    waiting: &mut Vec<PendingItem>,
) -> Result<(), Fault> {
    let filter = Filter::current(&[Kind::Error], engine.now()).state(ErrorRecord::OPEN);
    let oldest = engine
        .records()
        .find(&filter.clone().oldest_first().limit(1))?;
    if let Some(oldest) = oldest.first() {
        let task = oldest.scope.task.as_deref();
        let mut detail = format!("oldest: {}", times.day(oldest.recorded_at));
        if let Some(task) = task {
            detail.push_str(&format!(", {}", record_label::task_label(task)));
        }
        waiting.push(PendingItem {
            href: "/errors".to_owned(),
            title: match engine
                .records()
                .count(&filter.limit(limits::PAGE_RECORDS + 1))?
            {
                n @ ..=limits::PAGE_RECORDS => plural(n, "error is open", "errors are open"),
                _ => format!(
                    "more than {} errors are open",
                    number(limits::PAGE_RECORDS as u64)
                ),
            },
            detail,
            class: "k-error",
            icon: "error",
        });
    }
    Ok(())
}

fn add_proposals(engine: &Engine, waiting: &mut Vec<PendingItem>) -> Result<(), Fault> {
    let filter = Filter::current(&[Kind::Knowledge], engine.now()).category("preference");
    let mut found = engine.records().find(&filter.limit(READ))?;
    found.retain(|record| Knowledge::from_record(record).is_ok_and(|knowledge| knowledge.proposal));
    if let Some(first) = found.first() {
        waiting.push(PendingItem {
            href: record_label::href(first),
            title: plural(
                found.len(),
                "preference is proposed",
                "preferences are proposed",
            ),
            detail: text::excerpt(
                &format!(
                    "{}: “{}”",
                    record_label::source_label(&first.source),
                    text::replace_control_chars(&first.text)
                ),
                90,
            ),
            class: "k-note",
            icon: "note",
        });
    }
    Ok(())
}

/// Adds the records to review, if the store is small enough for an unnoticeable search.
fn add_review(engine: &Engine, waiting: &mut Vec<PendingItem>) -> Result<(), Fault> {
    let counts = engine.records().counts()?;
    let compared = counts
        .iter()
        .filter(|(kind, _)| matches!(kind, Kind::Knowledge | Kind::Note));
    let compared: u64 = compared.map(|(_, n)| n).sum();
    if compared > limits::PAGE_RECORDS as u64 {
        return Ok(());
    }
    let found = engine.conflicts().review()?;
    let parts = [
        (found.duplicates.len(), "duplicates"),
        (found.stale.len(), "stale"),
        (found.unused.len(), "never used"),
    ];
    let all: usize = parts.iter().map(|(n, _)| n).sum();
    if all > 0 {
        let summary = parts.iter().filter(|(n, _)| *n > 0);
        let summary: Vec<_> = summary.map(|(n, what)| format!("{n} {what}")).collect();
        waiting.push(PendingItem {
            href: "/review".to_owned(),
            title: plural(all, "record to review", "records to review"),
            detail: summary.join(", "),
            class: "warn",
            icon: "review",
        });
    }
    Ok(())
}
