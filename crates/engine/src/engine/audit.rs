//! Who changed what: what records say of themselves, and the events beside them, in one list.

use super::Engine;
use heirloom_model::{Action, Event, Fault, Record, RecordId, limits};
use heirloom_store::{Filter, When};
use serde_json::Value;

impl Engine {
    /// What happened to a record and to those that it replaced or that replaced it, oldest first; of each of them
    /// the newest [`limits::EVENTS_MAX`].
    pub fn audit_of(&self, id: RecordId) -> Result<Vec<Event>, Fault> {
        let mut events = Vec::new();
        let chain = self.history(id)?;
        for record in &chain {
            events.push(written(record, &chain));
            events.extend(self.events(Some(record.id), limits::EVENTS_MAX)?);
        }
        events.sort_by_key(|event| event.at);
        Ok(events)
    }

    /// The newest `limit` things that happened in the project, newest first.
    pub fn audit(&self, limit: usize) -> Result<Vec<Event>, Fault> {
        let mut events = self.events(None, limit)?;
        let filter = Filter {
            when: When::Ever,
            ..Filter::current(&[], self.now())
        };
        let records = self.find(&filter.limit(limit))?;
        events.extend(records.iter().map(|record| written(record, &records)));
        events.sort_by_key(|event| std::cmp::Reverse(event.at));
        events.truncate(limit);
        Ok(events)
    }

    pub(super) fn events(
        &self,
        record: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<Event>, Fault> {
        Ok(self.store.events(&self.project, record, limit)?)
    }
}

/// How a record came into being, as far as it and those around it tell.
pub(super) fn written(record: &Record, around: &[Record]) -> Event {
    let lost = record.attrs.get("conflict").and_then(Value::as_bool) == Some(true)
        && record.retired_at == Some(record.recorded_at);
    let before = around.iter().find(|other| {
        other.replaced_by == Some(record.id) && other.retired_at == Some(record.recorded_at)
    });
    let (action, other) = match (lost, before) {
        (true, _) => (Action::Conflict, record.replaced_by),
        (false, Some(before)) => (Action::Replaced, Some(before.id)),
        (false, None) => (Action::Created, None),
    };
    Event {
        at: record.recorded_at,
        action,
        by: record.source.clone(),
        record: Some(record.id),
        other,
        batch: None,
        detail: None,
    }
}
