//! What happened last, each with its record and the way back.

use super::Week;
use crate::page::told;
use crate::page::view::overview::Happened;
use crate::page::view::said;
use heirloom_engine::{Engine, Filter, When};
use heirloom_model::{Action, Event, Fault, Kind, Record, RecordId, text};
use std::collections::{HashMap, HashSet};

/// Rows that are shown.
const SHOWN: usize = 12;

pub(super) fn load(engine: &Engine, week: &Week) -> Result<Vec<Happened>, Fault> {
    let mut events: Vec<&Event> = Vec::new();
    let mut known = HashSet::new();
    for event in &week.events {
        let Some(id) = event.record else {
            continue;
        };
        // One row a record: the last thing that happened to it.
        if known.insert(id) && event.other.is_none_or(|other| known.insert(other)) {
            events.push(event);
        }
        if events.len() == SHOWN {
            break;
        }
    }
    let ids: Vec<RecordId> = events.iter().filter_map(|event| event.record).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let filter = Filter {
        when: When::Ever,
        ..Filter::current(&[], engine.now())
    };
    let limit = ids.len();
    let found = engine.find(&filter.ids(ids).limit(limit))?;
    let records: HashMap<RecordId, Record> = found
        .into_iter()
        .map(|record| (record.id, record))
        .collect();
    let rows = events.into_iter().filter_map(|event| {
        let record = records.get(&event.record?)?;
        Some(row(week, event, record))
    });
    Ok(rows.collect())
}

fn row(week: &Week, event: &Event, record: &Record) -> Happened {
    let resolution = record.attr_str("resolution");
    let words = match (record.kind, resolution) {
        (Kind::Error, Some(how)) => format!("{} → {how}", text::excerpt(&record.text, 160)),
        _ => text::excerpt(&record.text, 240),
    };
    Happened {
        id: record.id.to_string(),
        kind: record.kind.as_str(),
        what: what(event, record),
        by: told::who(&event.by),
        at: week.times.brief(event.at),
        key: text::printable(told::key(record)),
        words: said(&words),
        href: told::href(record),
        undo: match can_undo(event, record) {
            true => record.id.to_string(),
            false => String::new(),
        },
    }
}

/// What happened, in a word.
fn what(event: &Event, record: &Record) -> String {
    let state = record.state().unwrap_or_default();
    let action = record.attr_str("action").unwrap_or_default();
    match (event.action, record.kind) {
        (Action::Created, Kind::Episode) if !action.is_empty() => text::printable(action),
        (Action::Created | Action::Replaced, Kind::Error | Kind::Step | Kind::Task)
            if !state.is_empty() =>
        {
            text::printable(state)
        }
        (Action::Created, _) => "learned".to_owned(),
        (Action::Replaced, _) => "corrected".to_owned(),
        (Action::Marked, _) => event.detail.clone().unwrap_or_else(|| "marked".to_owned()),
        (
            Action::Conflict
            | Action::Confirmed
            | Action::Retired
            | Action::Restored
            | Action::Resolved
            | Action::Reopened
            | Action::Imported
            | Action::Reversed
            | Action::Purged,
            _,
        ) => event.action.as_str().to_owned(),
    }
}

/// Whether undoing makes sense to a person here: what was said and marked, not what was tried.
fn can_undo(event: &Event, record: &Record) -> bool {
    let is_kind = matches!(record.kind, Kind::Knowledge | Kind::Error | Kind::Note);
    let is_change = matches!(
        event.action,
        Action::Created
            | Action::Replaced
            | Action::Retired
            | Action::Restored
            | Action::Resolved
            | Action::Reopened
            | Action::Marked
    );
    is_kind && is_change
}
