//! What needs a person, before what is nice to know.

use crate::page::told;
use crate::page::view::overview::Waiting;
use crate::page::view::{Times, number, plural};
use heirloom_engine::{Engine, Filter};
use heirloom_model::kinds::{Knowledge, Mistake, Task, TaskState};
use heirloom_model::{Fault, Kind, KindData, limits, text};

/// Tasks and proposals that are looked through.
const READ: usize = 200;

pub(super) fn load(engine: &Engine, times: &Times) -> Result<Vec<Waiting>, Fault> {
    let mut waiting = Vec::new();
    conflicts(engine, &mut waiting)?;
    blocked(engine, &mut waiting)?;
    errors(engine, times, &mut waiting)?;
    proposals(engine, &mut waiting)?;
    review(engine, &mut waiting)?;
    Ok(waiting)
}

fn conflicts(engine: &Engine, waiting: &mut Vec<Waiting>) -> Result<(), Fault> {
    let open = engine.conflicts()?;
    if !open.is_empty() {
        let names: Vec<_> = open
            .iter()
            .take(3)
            .map(|one| told::name(&one.winner))
            .collect();
        waiting.push(Waiting {
            href: "/knowledge".to_owned(),
            title: plural(open.len(), "conflict", "conflicts"),
            detail: names.join(", "),
            class: "k-knowledge",
            icon: "knowledge",
        });
    }
    Ok(())
}

fn blocked(engine: &Engine, waiting: &mut Vec<Waiting>) -> Result<(), Fault> {
    let tasks = engine.find(&Filter::current(&[Kind::Task], engine.now()).limit(READ))?;
    let mut blocked = Vec::new();
    for record in &tasks {
        let Ok(task) = Task::of(record) else { continue };
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
        waiting.push(Waiting {
            href: match blocked.len() {
                1 => told::task_href(id),
                _ => "/tasks?state=blocked".to_owned(),
            },
            title: plural(blocked.len(), "task is blocked", "tasks are blocked"),
            detail: text::excerpt(&format!("{}: {}", told::task(id), text::printable(why)), 90),
            class: "warn",
            icon: "pause",
        });
    }
    Ok(())
}

fn errors(engine: &Engine, times: &Times, waiting: &mut Vec<Waiting>) -> Result<(), Fault> {
    let filter = Filter::current(&[Kind::Error], engine.now()).state(Mistake::OPEN);
    let oldest = engine.find(&filter.clone().oldest_first().limit(1))?;
    if let Some(oldest) = oldest.first() {
        let task = oldest.scope.task.as_deref();
        let mut detail = format!("oldest: {}", times.day(oldest.recorded_at));
        if let Some(task) = task {
            detail.push_str(&format!(", {}", told::task(task)));
        }
        waiting.push(Waiting {
            href: "/errors".to_owned(),
            title: match engine.count(&filter.limit(limits::PAGE_RECORDS + 1))? {
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

fn proposals(engine: &Engine, waiting: &mut Vec<Waiting>) -> Result<(), Fault> {
    let filter = Filter::current(&[Kind::Knowledge], engine.now()).category("preference");
    let mut found = engine.find(&filter.limit(READ))?;
    found.retain(|record| Knowledge::of(record).is_ok_and(|knowledge| knowledge.proposal));
    if let Some(first) = found.first() {
        waiting.push(Waiting {
            href: told::href(first),
            title: plural(
                found.len(),
                "preference is proposed",
                "preferences are proposed",
            ),
            detail: text::excerpt(
                &format!(
                    "{}: “{}”",
                    told::who(&first.source),
                    text::printable(&first.text)
                ),
                90,
            ),
            class: "k-note",
            icon: "note",
        });
    }
    Ok(())
}

/// What to review, where looking for it takes no time that anybody notices.
fn review(engine: &Engine, waiting: &mut Vec<Waiting>) -> Result<(), Fault> {
    let counts = engine.counts()?;
    let compared = counts
        .iter()
        .filter(|(kind, _)| matches!(kind, Kind::Knowledge | Kind::Note));
    let compared: u64 = compared.map(|(_, n)| n).sum();
    if compared > limits::PAGE_RECORDS as u64 {
        return Ok(());
    }
    let found = engine.review()?;
    let parts = [
        (found.duplicates.len(), "duplicates"),
        (found.stale.len(), "stale"),
        (found.unused.len(), "never used"),
    ];
    let all: usize = parts.iter().map(|(n, _)| n).sum();
    if all > 0 {
        let said = parts.iter().filter(|(n, _)| *n > 0);
        let said: Vec<_> = said.map(|(n, what)| format!("{n} {what}")).collect();
        waiting.push(Waiting {
            href: "/review".to_owned(),
            title: plural(all, "record to review", "records to review"),
            detail: said.join(", "),
            class: "warn",
            icon: "review",
        });
    }
    Ok(())
}
