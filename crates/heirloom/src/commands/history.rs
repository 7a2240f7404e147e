//! `heirloom history`.

use crate::open::Session;
use crate::{output, wire};
use heirloom_model::{Event, Fault, Record, RecordId, limits, text};
use serde_json::Value;
use std::collections::HashMap;

/// Show what a record was before, what became of it and who did it; without an id the newest changes of all
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The record
    id: Option<String>,
    /// At most this many changes, where no record is named
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    let (chain, events) = match &args.id {
        Some(id) => {
            let id = engine.resolve_id(id)?;
            (engine.history(id)?, engine.audit_of(id)?)
        }
        None => (Vec::new(), engine.audit(args.limit)?),
    };
    if !chain.is_empty() && is_cut(&events) {
        let most = limits::EVENTS_MAX;
        session.out.talk(&format!(
            "of each record the newest {most} changes are told; there may be older ones"
        ));
    }
    if session.out.json {
        let mut value = wire::list("records", &chain);
        value["events"] = events.iter().map(wire::event).collect::<Value>();
        session.out.value(&value);
        return Ok(0);
    }
    if !chain.is_empty() {
        let rows: Vec<_> = chain.iter().map(row).collect();
        session.out.line(&output::table(&rows));
    }
    // What a record says of itself is in its row.
    let told = |event: &&Event| chain.is_empty() || !event.action.is_writing();
    let rows: Vec<_> = events.iter().filter(told).map(happened).collect();
    if !rows.is_empty() {
        session.out.line(&output::table(&rows));
    } else if chain.is_empty() {
        session.out.talk("nothing has happened here yet");
    }
    Ok(0)
}

/// Whether a record has as many events as one question gives: there may be more of them.
fn is_cut(events: &[Event]) -> bool {
    let mut counts: HashMap<Option<RecordId>, usize> = HashMap::new();
    for event in events.iter().filter(|event| !event.action.is_writing()) {
        *counts.entry(event.record).or_default() += 1;
    }
    counts.values().any(|count| *count >= limits::EVENTS_MAX)
}

fn row(record: &Record) -> Vec<String> {
    let state = match (record.retired_at, record.replaced_by) {
        (None, _) => "current".to_owned(),
        (Some(at), None) => format!("retired {at}"),
        (Some(_), Some(by)) => format!("replaced by {by}"),
    };
    vec![
        record.recorded_at.to_string(),
        record.id.to_string(),
        record.source.clone(),
        state,
        text::excerpt(&record.text, 80),
    ]
}

fn happened(event: &Event) -> Vec<String> {
    let mut about = event
        .record
        .or(event.batch)
        .map(|id| id.to_string())
        .unwrap_or_default();
    if let Some(other) = event.other {
        about = format!("{about} (other: {other})");
    }
    if let Some(detail) = &event.detail {
        about = format!("{about} {detail}");
    }
    vec![
        event.at.to_string(),
        event.by.clone(),
        event.action.to_string(),
        about.trim().to_owned(),
    ]
}
