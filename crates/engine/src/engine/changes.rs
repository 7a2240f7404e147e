//! What changed since somebody looked last: for whoever follows a project, whichever process writes.

use super::Engine;
use super::audit::written;
use heirloom_model::{Event, Fault, Record, RecordId, Timestamp, ToSpan, limits};
use heirloom_store::{Filter, When};
use std::collections::HashMap;

/// How far back another process may have dated what it has only written now, seconds.
const LATE_S: i64 = 10;
/// Records, and events, that are read at once.
const STEP: usize = 200;

/// What somebody has seen of a project's changes.
#[derive(Debug, Clone)]
pub struct Followed {
    from: Timestamp,
    records: HashMap<RecordId, Timestamp>,
    events: HashMap<String, Timestamp>,
}

impl Followed {
    /// Nothing: everything from this time on is new.
    pub fn from(from: Timestamp) -> Self {
        Self {
            from,
            records: HashMap::new(),
            events: HashMap::new(),
        }
    }

    fn forget_before(&mut self, border: Timestamp) {
        self.from = self.from.max(border);
        let border = earlier(border);
        self.records.retain(|_, at| *at >= border);
        self.events.retain(|_, at| *at >= border);
    }
}

fn earlier(at: Timestamp) -> Timestamp {
    at.checked_sub(LATE_S.seconds()).unwrap_or(at)
}

impl Engine {
    /// What has happened that `followed` has not seen, oldest first; afterwards it has.
    ///
    /// Each thing once. Of many thousands at a time the newest [`limits::EVENTS_MAX`].
    pub fn changes(&self, followed: &mut Followed) -> Result<Vec<Event>, Fault> {
        let now = self.now();
        let from = followed.from;
        let mut changes = Vec::new();
        for record in self.unseen_records(followed)? {
            // What is written anew under a key may have taken the place of another one.
            let chain = match record.key {
                Some(_) => self.history(record.id)?,
                None => Vec::new(),
            };
            changes.push(written(&record, &chain));
        }
        let mut step = STEP;
        loop {
            let events = self.events(None, step)?;
            let is_all = events.len() < step;
            let mut met_known = false;
            let mut new = Vec::new();
            for event in events {
                let is_late = event.at < from;
                met_known |= is_late || followed.events.contains_key(&name_of(&event));
                if !is_late && !followed.events.contains_key(&name_of(&event)) {
                    new.push(event);
                }
            }
            if is_all || met_known || step >= limits::EVENTS_MAX {
                for event in &new {
                    followed.events.insert(name_of(event), event.at);
                }
                changes.extend(new);
                break;
            }
            step = (step * 4).min(limits::EVENTS_MAX);
        }
        followed.forget_before(earlier(now));
        changes.sort_by_key(|event| (event.at, event.record));
        Ok(changes)
    }

    fn unseen_records(&self, followed: &mut Followed) -> Result<Vec<Record>, Fault> {
        let mut filter = Filter {
            when: When::Ever,
            recorded_from: Some(followed.from),
            ..Filter::current(&[], self.now())
        }
        .limit(STEP);
        let mut found = Vec::new();
        loop {
            let page = self.find(&filter)?;
            let is_last = page.len() < STEP;
            filter.after = page.last().map(|last| last.id);
            let before = found.len();
            for record in page {
                if (followed.records)
                    .insert(record.id, record.recorded_at)
                    .is_none()
                {
                    found.push(record);
                }
            }
            // A whole part that was seen: what lies behind it was too.
            if is_last || found.len() == before || found.len() >= limits::EVENTS_MAX {
                return Ok(found);
            }
        }
    }
}

/// What tells two events apart.
fn name_of(event: &Event) -> String {
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
