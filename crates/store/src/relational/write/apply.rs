//! Application of changes to the database, inside one transaction.

use super::change_writer::{ChangeWriter, applied, stale};
use super::key_case::holder_in_other_case;
use super::known_rows::KnownRows;
use crate::relational::audit_events::{self, NewEvent};
use crate::sql::Connection;
use crate::sql::failure::Failure;
use crate::{AppliedChange, Change, StoreError, Verdict};
use heirloom_model::merge::{self, MergeDecision, MergeRule};
use heirloom_model::{Action, Mark, ProjectName, Record, RecordId, Timestamp, clock};
use std::borrow::Cow;
use std::cell::RefCell;

/// Applies `changes` in order; the caller commits, or rolls back on an error.
pub(crate) fn apply(
    connection: Connection<'_>,
    project: &ProjectName,
    changes: &[Change],
) -> Result<Vec<AppliedChange>, Failure> {
    apply_known(connection, project, changes, &RefCell::default())
}

/// Applies `changes` as [`apply`] does, with rows that were read in advance.
pub(crate) fn apply_known(
    connection: Connection<'_>,
    project: &ProjectName,
    changes: &[Change],
    known: &RefCell<KnownRows>,
) -> Result<Vec<AppliedChange>, Failure> {
    let mut writer = ChangeWriter::new(connection, project, known)?;
    changes.iter().map(|change| writer.change(change)).collect()
}

impl ChangeWriter<'_> {
    fn change(&mut self, change: &Change) -> Result<AppliedChange, Failure> {
        match change {
            Change::Put { record, merge } => self.put(record, *merge),
            Change::Revise { id, record } => self.revise(*id, record),
            Change::Retire { id, at, by } => self.retire(*id, *at, by),
            Change::Restore { id, at, by } => self.restore(*id, *at, by),
            Change::ResolveConflict { keep, at, by } => self.resolve_conflict(*keep, *at, by),
            Change::ReopenConflict { id, at, by } => self.reopen_conflict(*id, *at, by),
            Change::Mark { id, mark, at, by } => self.mark(*id, *mark, *at, by),
            Change::BeginBatch(batch) => {
                self.batch = Some(batch.clone());
                Ok(applied(batch.id, Verdict::Unchanged, None))
            }
            Change::ImportSession(session) => self.import_session(session),
            Change::ImportMessage { session, message } => self.import_message(session, message),
            Change::ImportValidityGap { id, gap } => self.import_validity_gap(*id, *gap),
            Change::StoreReceipt(receipt) => self.store_receipt(receipt),
            Change::ToggleBatch { batch, at, by } => self.toggle_batch(*batch, *at, by),
        }
    }

    fn put(&mut self, incoming: &Record, rule: MergeRule) -> Result<AppliedChange, Failure> {
        if rule == MergeRule::Keep
            && let Some(applied) = self.existing_record(incoming)?
        {
            return Ok(applied);
        }
        let holder = if incoming.retired_at.is_none() {
            self.current_with_identity(incoming)?
        } else {
            None
        };
        let holder = match holder {
            None if matches!(rule, MergeRule::Knowledge(_)) && incoming.retired_at.is_none() => {
                holder_in_other_case(self, incoming)?
            }
            holder => holder,
        };
        let Some(current) = holder else {
            self.insert(incoming)?;
            return Ok(applied(incoming.id, Verdict::Created, None));
        };
        let mut incoming = recorded_after(incoming, &current);
        if incoming.key != current.key {
            incoming.to_mut().key.clone_from(&current.key);
        }
        let incoming = &*incoming;
        if !current.is_current(incoming.recorded_at) {
            self.replace_record(&current, incoming)?;
            return Ok(applied(incoming.id, Verdict::Created, None));
        }
        match merge::decide(rule, &current, incoming.clone()) {
            MergeDecision::Keep => Ok(applied(current.id, Verdict::Unchanged, None)),
            MergeDecision::Confirm(confirmed) => {
                self.update_attributes(&confirmed)?;
                self.add_event(
                    incoming.recorded_at,
                    Action::Confirmed,
                    &incoming.source,
                    current.id,
                    None,
                )?;
                Ok(applied(current.id, Verdict::Confirmed, None))
            }
            MergeDecision::Replace { winner, loser } => {
                self.replace_record(&loser, &winner)?;
                Ok(applied(winner.id, Verdict::Replaced, Some(loser.id)))
            }
            MergeDecision::StoreRetired(loser) => self.insert_loser(*loser, current.id),
            MergeDecision::Dispute { holder, loser } => {
                self.update_attributes(&holder)?;
                self.insert_loser(*loser, holder.id)
            }
        }
    }

    /// Stores a new record as retired, because it lost against `winner`.
    fn insert_loser(
        &mut self,
        mut loser: Record,
        winner: RecordId,
    ) -> Result<AppliedChange, Failure> {
        loser.retired_at = Some(loser.recorded_at);
        loser.replaced_by = Some(winner);
        self.insert(&loser)?;
        Ok(applied(loser.id, Verdict::Conflict, Some(winner)))
    }

    fn revise(&mut self, id: RecordId, record: &Record) -> Result<AppliedChange, Failure> {
        let current = self.get(id)?;
        let record = &*recorded_after(record, &current);
        if !current.is_current(record.recorded_at) {
            return Err(stale(id, "is not current any more"));
        }
        if current.kind != record.kind {
            let (old, new) = (current.kind, record.kind);
            let problem = format!("a {new} cannot take the place of record {id}, which is a {old}");
            return Err(StoreError::Invalid(problem).into());
        }
        if let Some(holder) = self
            .current_with_identity(record)?
            .filter(|holder| holder.id != id)
        {
            if holder.is_current(record.recorded_at) {
                let conflict = format!("cannot take a key that record {} holds", holder.id);
                return Err(stale(id, &conflict));
            }
            let at = record.recorded_at.max(holder.recorded_at);
            self.mark_retired(&holder, at, Some(record.id))?;
        }
        self.replace_record(&current, record)?;
        Ok(applied(record.id, Verdict::Replaced, Some(id)))
    }

    fn retire(&mut self, id: RecordId, at: Timestamp, by: &str) -> Result<AppliedChange, Failure> {
        let record = self.get(id)?;
        if record.retired_at.is_some() {
            return Err(stale(id, "is already retired"));
        }
        let at = at.max(record.recorded_at);
        self.mark_retired(&record, at, None)?;
        self.add_event(at, Action::Retired, by, id, None)?;
        Ok(applied(id, Verdict::Retired, None))
    }

    fn restore(&mut self, id: RecordId, at: Timestamp, by: &str) -> Result<AppliedChange, Failure> {
        let record = self.get(id)?;
        let retired = self.restore_record(&record, at)?;
        let at = at.max(record.retired_at.unwrap_or(at));
        self.add_event(at, Action::Restored, by, id, retired)?;
        Ok(applied(id, Verdict::Restored, retired))
    }

    fn mark(
        &mut self,
        id: RecordId,
        mark: Mark,
        at: Timestamp,
        by: &str,
    ) -> Result<AppliedChange, Failure> {
        let mut record = self.get(id)?;
        if !record.is_current(at) {
            return Err(stale(id, "is not current any more"));
        }
        let attrs = mark.apply_to(&record.attrs);
        if attrs == record.attrs {
            return Ok(applied(id, Verdict::Unchanged, None));
        }
        record.attrs = attrs;
        self.update_attributes(&record)?;
        let event = NewEvent {
            record: Some(id),
            detail: Some(mark.as_str()),
            ..NewEvent::of(at.max(record.recorded_at), Action::Marked, by)
        };
        audit_events::insert(self.connection, self.number, &event)?;
        Ok(applied(id, Verdict::Marked, None))
    }
}

/// Returns the new record with a time after that of the current one. If a clock went back, the new record would
/// otherwise start before its predecessor, which would be retired before it was recorded.
fn recorded_after<'r>(incoming: &'r Record, current: &Record) -> Cow<'r, Record> {
    if incoming.recorded_at >= current.recorded_at {
        return Cow::Borrowed(incoming);
    }
    let next = clock::from_micros(current.recorded_at.as_microsecond().saturating_add(1));
    Cow::Owned(Record {
        recorded_at: next,
        ..incoming.clone()
    })
}
