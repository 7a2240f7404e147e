//! Conflict resolution and its reversal.

use super::change_writer::{ChangeWriter, applied, stale};
use crate::relational::row_codec::micros;
use crate::relational::{audit_events, record_history};
use crate::sql::failure::Failure;
use crate::{AppliedChange, Verdict};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{
    Action, Authority, Event, KindData, Record, RecordId, Timestamp, clock, limits,
};

/// Event detail: the record was disputed before the resolution.
const WAS_DISPUTED: &str = "was disputed";
/// Event detail: the resolution came from a higher authority than that of the record, which has that authority from
/// then on.
const VOUCHED: &str = "vouched for";
const WAS_DISPUTED_VOUCHED: &str = "was disputed, vouched for";

impl ChangeWriter<'_> {
    /// Resolves a conflict in favour of `keep`, which is current or lost an open conflict against the current record.
    pub(super) fn resolve_conflict(
        &mut self,
        keep: RecordId,
        at: Timestamp,
        by: &str,
    ) -> Result<AppliedChange, Failure> {
        let winner = self.get(keep)?;
        let current = self.current_of_chain(&winner, at)?;
        let open = self.open_conflicts_of(&current)?;
        let is_winner = |record: &Record| record.id == keep;
        if current.id != keep && !open.iter().any(is_winner) {
            return Err(stale(keep, "has not lost an open conflict"));
        }
        let was_disputed = is_disputed(&current);
        if open.is_empty() && !was_disputed {
            return Err(stale(keep, "has no open conflict"));
        }
        // Later than every event concerned, even if a clock went back.
        let last = self.last_event(keep)?.map(|event| event.at);
        let ends = open.iter().filter_map(|record| record.retired_at);
        let at = rounded_to_micros(
            ends.chain(last)
                .fold(at.max(current.recorded_at), Timestamp::max),
        );
        for mut loser in open.into_iter().filter(|loser| !is_winner(loser)) {
            self.change_knowledge(&mut loser, |k| k.arbitrated = Some(at))?;
        }
        let mut holder = current;
        self.change_knowledge(&mut holder, |k| k.disputed = false)?;
        let retired = match winner.retired_at {
            Some(_) => self.restore_record(&winner, at)?,
            None => None,
        };
        let detail = match (was_disputed, self.vouch(keep, by)?) {
            (true, true) => Some(WAS_DISPUTED_VOUCHED),
            (true, false) => Some(WAS_DISPUTED),
            (false, true) => Some(VOUCHED),
            (false, false) => None,
        };
        self.add_event_with_detail(at, Action::Resolved, by, keep, retired, detail)?;
        Ok(applied(keep, Verdict::Resolved, retired))
    }

    /// Reverts the resolution in favour of `id`, which must be its last event.
    pub(super) fn reopen_conflict(
        &mut self,
        id: RecordId,
        at: Timestamp,
        by: &str,
    ) -> Result<AppliedChange, Failure> {
        let mut winner = self.get(id)?;
        let decided = self.last_event(id)?;
        let decided = decided.filter(|event| event.action == Action::Resolved);
        let Some(decided) = decided.filter(|_| winner.retired_at.is_none()) else {
            return Err(stale(id, "has no resolution that could be reverted"));
        };
        for mut loser in record_history::history(self.connection, self.project, id)? {
            let theirs =
                Knowledge::from_record(&loser).is_ok_and(|k| k.arbitrated == Some(decided.at));
            if theirs {
                self.change_knowledge(&mut loser, |k| k.arbitrated = None)?;
            }
        }
        let at = at.max(decided.at);
        let detail = decided.detail.as_deref();
        if matches!(detail, Some(VOUCHED | WAS_DISPUTED_VOUCHED)) {
            self.change_knowledge(&mut winner, |k| k.vouched_by = None)?;
        }
        let mut holder = match decided.other {
            None => winner,
            Some(before) => {
                let before = self.get(before)?;
                if before.replaced_by != Some(id) {
                    return Err(stale(id, "was replaced by another record since"));
                }
                self.change_knowledge(&mut winner, |k| k.conflict = true)?;
                self.restore_record(&before, at)?;
                self.get(before.id)?
            }
        };
        if matches!(detail, Some(WAS_DISPUTED | WAS_DISPUTED_VOUCHED)) {
            self.change_knowledge(&mut holder, |k| k.disputed = true)?;
        }
        let retired = decided.other.map(|_| id);
        self.add_event_with_detail(at, Action::Reopened, by, holder.id, retired, None)?;
        Ok(applied(holder.id, Verdict::Reopened, retired))
    }

    /// Gives the record the authority of `by`; returns false if it has that authority already.
    fn vouch(&self, id: RecordId, by: &str) -> Result<bool, Failure> {
        let mut winner = self.get(id)?;
        if Authority::of_source(by) <= Authority::of_record(&winner) {
            return Ok(false);
        }
        self.change_knowledge(&mut winner, |k| k.vouched_by = Some(by.to_owned()))?;
        Ok(true)
    }

    /// Returns the current record of the chain of `record`.
    fn current_of_chain(&self, record: &Record, at: Timestamp) -> Result<Record, Failure> {
        let current = match record.retired_at {
            None => Some(record.clone()),
            Some(_) => self.end_of_chain(record)?,
        };
        let current = current.filter(|current| current.is_current(at.max(current.recorded_at)));
        current.ok_or_else(|| stale(record.id, "lost against a record that is no longer current"))
    }

    /// Returns the records with unresolved conflicts in the chain of a current record.
    fn open_conflicts_of(&self, current: &Record) -> Result<Vec<Record>, Failure> {
        let mut chain = record_history::history(self.connection, self.project, current.id)?;
        chain.retain(|record| {
            record.retired_at.is_some()
                && Knowledge::from_record(record).is_ok_and(|k| k.is_open_conflict())
        });
        Ok(chain)
    }

    /// Returns the last event of a record, ignoring confirmations.
    fn last_event(&self, id: RecordId) -> Result<Option<Event>, Failure> {
        let most = limits::EVENTS_MAX;
        let events = audit_events::list(self.connection, self.project, Some(id), most)?;
        Ok(events
            .into_iter()
            .find(|event| event.action != Action::Confirmed))
    }

    fn change_knowledge(
        &self,
        record: &mut Record,
        change: impl FnOnce(&mut Knowledge),
    ) -> Result<(), Failure> {
        let Ok(mut knowledge) = Knowledge::from_record(record) else {
            return Ok(());
        };
        change(&mut knowledge);
        record.attrs = knowledge.to_attrs();
        self.update_attributes(record)
    }
}

fn is_disputed(record: &Record) -> bool {
    Knowledge::from_record(record).is_ok_and(|knowledge| knowledge.disputed)
}

/// Rounds the time to that of a stored column.
fn rounded_to_micros(at: Timestamp) -> Timestamp {
    clock::from_micros(micros(at))
}
