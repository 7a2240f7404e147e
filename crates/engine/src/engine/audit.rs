//! Audit trail: creation events derived from records, merged with stored events.

use crate::engine::Records;
use heirloom_model::{Action, Event, Fault, Record, RecordId, limits};
use heirloom_store::{AsOf, Filter};
use serde_json::Value;

impl Records<'_> {
    /// Returns the events of a record, its predecessors and successors, oldest first; at most [`limits::EVENTS_MAX`]
    /// of each.
    pub fn record_audit(&self, id: RecordId) -> Result<Vec<Event>, Fault> {
        let mut events = Vec::new();
        let chain = self.history(id)?;
        for record in &chain {
            events.push(creation_event(record, &chain));
            events.extend(self.events(Some(record.id), limits::EVENTS_MAX)?);
        }
        events.sort_by_key(|event| event.at);
        Ok(events)
    }

    /// Returns the newest `limit` events of the project, newest first.
    pub fn audit(&self, limit: usize) -> Result<Vec<Event>, Fault> {
        let mut events = self.events(None, limit)?;
        let filter = Filter {
            as_of: AsOf::Ever,
            ..Filter::current(&[], self.engine.now())
        };
        let records = self.find(&filter.limit(limit))?;
        events.extend(
            records
                .iter()
                .map(|record| creation_event(record, &records)),
        );
        events.sort_by_key(|event| std::cmp::Reverse(event.at));
        events.truncate(limit);
        Ok(events)
    }

    pub(super) fn events(
        &self,
        record: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<Event>, Fault> {
        Ok(self
            .engine
            .store
            .events(&self.engine.project, record, limit)?)
    }
}

/// Derives the creation event of a record from it and the records of its chain.
pub(super) fn creation_event(record: &Record, around: &[Record]) -> Event {
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
