//! `heirloom history`.

use crate::json_output;
use crate::store_access::CliSession;
use crate::terminal_output::Output;
use heirloom_model::{Event, Fault, Record, RecordId, limits, text};
use serde_json::Value;
use std::collections::HashMap;

/// Show earlier versions of a record, its changes and who made them; without an id the newest changes of all
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The record
    id: Option<String>,
    /// At most this many changes, if no record is named
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    let (chain, events) = match &args.id {
        Some(id) => {
            let id = engine.records().resolve_id(id)?;
            (
                engine.records().history(id)?,
                engine.records().record_audit(id)?,
            )
        }
        None => (Vec::new(), engine.records().audit(args.limit)?),
    };
    if !chain.is_empty() && may_be_truncated(&events) {
        let most = limits::EVENTS_MAX;
        session.out.talk(&format!(
            "only the newest {most} changes of each record are shown; there may be older ones"
        ));
    }
    if session.out.json {
        let mut value = json_output::list("records", &chain);
        value["events"] = events.iter().map(json_output::event).collect::<Value>();
        session.out.value(&value);
        return Ok(0);
    }
    if !chain.is_empty() {
        let rows: Vec<_> = chain.iter().map(|one| row(one, &session.out)).collect();
        session.out.table(&rows, &[1]);
    }
    // A record's own creation is shown in its row.
    let is_shown = |event: &&Event| chain.is_empty() || !event.action.is_record_write();
    let events = events.iter().filter(is_shown);
    let rows: Vec<_> = events.map(|event| event_row(event, &session.out)).collect();
    if !rows.is_empty() {
        session.out.table(&rows, &[3]);
    } else if chain.is_empty() {
        session.out.talk("no changes yet");
    }
    Ok(0)
}

/// Returns true if a record has as many events as one query returns: there may be more of them.
fn may_be_truncated(events: &[Event]) -> bool {
    let mut counts: HashMap<Option<RecordId>, usize> = HashMap::new();
    for event in events
        .iter()
        .filter(|event| !event.action.is_record_write())
    {
        *counts.entry(event.record).or_default() += 1;
    }
    counts.values().any(|count| *count >= limits::EVENTS_MAX)
}

fn row(record: &Record, out: &Output) -> Vec<String> {
    let state = match (record.retired_at, record.replaced_by) {
        (None, _) => "current".to_owned(),
        (Some(at), None) => format!("retired {at}"),
        (Some(_), Some(by)) => format!("replaced by {}", out.plain_id(by)),
    };
    vec![
        record.recorded_at.to_string(),
        record.id.to_string(),
        record.source.clone(),
        state,
        text::excerpt(&record.text, 80),
    ]
}

fn event_row(event: &Event, out: &Output) -> Vec<String> {
    let id = event.record.or(event.batch);
    let other = event
        .other
        .map(|id| format!("(other: {})", out.plain_id(id)));
    let detail = other.into_iter().chain(event.detail.clone());
    vec![
        event.at.to_string(),
        event.by.clone(),
        event.action.to_string(),
        id.map(|id| id.to_string()).unwrap_or_default(),
        detail.collect::<Vec<_>>().join(" "),
    ]
}
