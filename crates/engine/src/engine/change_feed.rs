//! Change feed: new events of a project since the last call, written by any process.

use super::audit::creation_event;
use crate::engine::Records;
use heirloom_model::{Event, Fault, Record, RecordId, Timestamp, ToSpan, limits};
use heirloom_store::{AsOf, Filter};
use std::collections::HashMap;

/// Tolerance for clocks of other processes in seconds.
const CLOCK_TOLERANCE_S: i64 = 10;
/// Page size for records and events.
const PAGE_SIZE: usize = 200;

/// Cursor of a change feed: the seen records and events.
#[derive(Debug, Clone)]
pub struct ChangeCursor {
    from: Timestamp,
    records: HashMap<RecordId, Timestamp>,
    events: HashMap<String, Timestamp>,
}

impl ChangeCursor {
    /// Creates a cursor that starts at this time.
    pub fn from(from: Timestamp) -> Self {
        Self {
            from,
            records: HashMap::new(),
            events: HashMap::new(),
        }
    }

    /// Creates a cursor that starts as much before this time as the clocks of other processes may differ: a writer
    /// sets the time of a record before it waits for the lock.
    pub fn overlapping(from: Timestamp) -> Self {
        Self::from(minus_tolerance(from))
    }

    fn forget_before(&mut self, border: Timestamp) {
        self.from = self.from.max(border);
        let border = minus_tolerance(border);
        self.records.retain(|_, at| *at >= border);
        self.events.retain(|_, at| *at >= border);
    }
}

fn minus_tolerance(at: Timestamp) -> Timestamp {
    at.checked_sub(CLOCK_TOLERANCE_S.seconds()).unwrap_or(at)
}

impl Records<'_> {
    /// Returns the events that the cursor has not seen, oldest first, and advances it.
    ///
    /// Each event is returned once; of a large number only the newest [`limits::EVENTS_MAX`].
    pub fn changes(&self, cursor: &mut ChangeCursor) -> Result<Vec<Event>, Fault> {
        let now = self.engine.now();
        let from = cursor.from;
        let mut changes = Vec::new();
        for record in self.unseen_records(cursor)? {
            // A new record with a key may have replaced another one.
            let chain = match record.key {
                Some(_) => self.history(record.id)?,
                None => Vec::new(),
            };
            changes.push(creation_event(&record, &chain));
        }
        let mut step = PAGE_SIZE;
        loop {
            let events = self.events(None, step)?;
            let is_all = events.len() < step;
            let mut met_known = false;
            let mut new = Vec::new();
            for event in events {
                let is_late = event.at < from;
                met_known |= is_late || cursor.events.contains_key(&event_identity(&event));
                if !is_late && !cursor.events.contains_key(&event_identity(&event)) {
                    new.push(event);
                }
            }
            if is_all || met_known || step >= limits::EVENTS_MAX {
                for event in &new {
                    cursor.events.insert(event_identity(event), event.at);
                }
                changes.extend(new);
                break;
            }
            step = (step * 4).min(limits::EVENTS_MAX);
        }
        cursor.forget_before(minus_tolerance(now));
        changes.sort_by_key(|event| (event.at, event.record));
        Ok(changes)
    }

    fn unseen_records(&self, cursor: &mut ChangeCursor) -> Result<Vec<Record>, Fault> {
        let mut filter = Filter {
            as_of: AsOf::Ever,
            recorded_from: Some(cursor.from),
            ..Filter::current(&[], self.engine.now())
        }
        .limit(PAGE_SIZE);
        let mut found = Vec::new();
        loop {
            let page = self.find(&filter)?;
            let is_last = page.len() < PAGE_SIZE;
            filter.after = page.last().map(|last| last.id);
            let before = found.len();
            for record in page {
                if (cursor.records)
                    .insert(record.id, record.recorded_at)
                    .is_none()
                {
                    found.push(record);
                }
            }
            // A page without unseen records: later pages have none either.
            if is_last || found.len() == before || found.len() >= limits::EVENTS_MAX {
                return Ok(found);
            }
        }
    }
}

/// Returns a key that identifies an event.
fn event_identity(event: &Event) -> String {
    let id = |id: Option<RecordId>| id.map(|id| id.to_string()).unwrap_or_default();
    format!(
        "{} {} {} {} {} {}",
        event.at,
        event.action.as_str(),
        event.by,
        id(event.record),
        id(event.other),
        id(event.batch),
    )
}
