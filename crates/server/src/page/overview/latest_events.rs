//! Latest events, each with its record and an undo button.

use super::Week;
use crate::page::record_label;
use crate::page::view::overview::EventRow;
use crate::page::view::{Times, render_text};
use crate::records_by_id::find_any;
use heirloom_engine::Engine;
use heirloom_model::kinds::result_label;
use heirloom_model::{Action, Event, Fault, Kind, Record, text};
use std::collections::HashSet;

/// Maximum number of rows.
const SHOWN: usize = 12;

pub(super) fn load(engine: &Engine, week: &Week) -> Result<Vec<EventRow>, Fault> {
    let mut events: Vec<&Event> = Vec::new();
    let mut known = HashSet::new();
    for event in &week.events {
        let Some(id) = event.record else {
            continue;
        };
        // One row per record, with its latest event.
        if known.insert(id) && event.other.is_none_or(|other| known.insert(other)) {
            events.push(event);
        }
        if events.len() == SHOWN {
            break;
        }
    }
    let records = find_any(engine, events.iter().filter_map(|event| event.record))?;
    let rows = events.into_iter().filter_map(|event| {
        let record = records.get(&event.record?)?;
        Some(row(&week.times, event, record))
    });
    Ok(rows.collect())
}

/// Builds the row of an event.
pub(in crate::page) fn row(times: &Times, event: &Event, record: &Record) -> EventRow {
    let resolution = record.attr_str("resolution");
    let words = match (record.kind, resolution) {
        (Kind::Error, Some(how)) => format!("{} → {how}", text::excerpt(&record.text, 160)),
        _ => text::excerpt(&record.text, 240),
    };
    EventRow {
        id: record.id.to_string(),
        kind: record.kind.as_str(),
        what: event_label(event, record),
        by: record_label::source_label(&event.by),
        at: times.brief(event.at),
        key: text::replace_control_chars(record_label::given_key(record)),
        words: render_text(&words),
        href: record_label::href(record),
        undo: match can_undo(event, record) {
            true => record.id.to_string(),
            false => String::new(),
        },
    }
}

/// Returns the event as one word.
pub(in crate::page) fn event_label(event: &Event, record: &Record) -> String {
    let state = record.state().unwrap_or_default();
    let action = record.attr_str("action").unwrap_or_default();
    match (event.action, record.kind) {
        (Action::Created, Kind::Episode) if !action.is_empty() => {
            format!("attempt, {}", result_label(action))
        }
        (Action::Created, Kind::Task | Kind::Step | Kind::Artifact) => "added".to_owned(),
        (Action::Created, Kind::Error) => "logged".to_owned(),
        (Action::Replaced, Kind::Error | Kind::Step | Kind::Task) if !state.is_empty() => {
            format!("set to {}", text::replace_control_chars(state))
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

/// Returns true for changes that a user may undo here: knowledge, errors and notes, not attempts.
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
