//! Deciding between what two sources say, and taking the decision back.

use super::apply::{Writer, answer, stale};
use super::codec::micros;
use super::failure::Failure;
use super::{events, history};
use crate::{Applied, Verdict};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Action, Event, KindData, Record, RecordId, Timestamp, clock, limits};

/// What an event says of a decision about a record that was disputed.
const WAS_DISPUTED: &str = "was disputed";

impl Writer<'_> {
    /// Decides for `keep`, which is current or lost an open conflict against what is.
    pub(super) fn settle(
        &mut self,
        keep: RecordId,
        at: Timestamp,
        by: &str,
    ) -> Result<Applied, Failure> {
        let kept = self.get(keep)?;
        let current = self.current_of(&kept, at)?;
        let open = self.open_against(&current)?;
        let is_kept = |record: &Record| record.id == keep;
        if current.id != keep && !open.iter().any(is_kept) {
            return Err(stale(keep, "has lost no conflict that is open"));
        }
        let was_disputed = is_disputed(&current);
        if open.is_empty() && !was_disputed {
            return Err(stale(keep, "has no open conflict"));
        }
        // Behind everything that it is about, also where a clock went back.
        let last = self.last_event(keep)?.map(|event| event.at);
        let ends = open.iter().filter_map(|record| record.retired_at);
        let at = whole_micros(
            ends.chain(last)
                .fold(at.max(current.recorded_at), Timestamp::max),
        );
        for mut loser in open.into_iter().filter(|loser| !is_kept(loser)) {
            self.change_knowledge(&mut loser, |k| k.arbitrated = Some(at))?;
        }
        let mut holder = current;
        self.change_knowledge(&mut holder, |k| k.disputed = false)?;
        let retired = match kept.retired_at {
            Some(_) => self.put_back(&kept, at)?,
            None => None,
        };
        let detail = was_disputed.then_some(WAS_DISPUTED);
        self.tell_with(at, Action::Resolved, by, keep, retired, detail)?;
        Ok(answer(keep, Verdict::Resolved, retired))
    }

    /// Takes back the decision for `id`, the last thing that happened to it.
    pub(super) fn unsettle(
        &mut self,
        id: RecordId,
        at: Timestamp,
        by: &str,
    ) -> Result<Applied, Failure> {
        let mut kept = self.get(id)?;
        let decided = self.last_event(id)?;
        let decided = decided.filter(|event| event.action == Action::Resolved);
        let Some(decided) = decided.filter(|_| kept.retired_at.is_none()) else {
            return Err(stale(id, "holds by no decision that could be taken back"));
        };
        for mut loser in history::history(self.connection, self.project, id)? {
            let theirs = Knowledge::of(&loser).is_ok_and(|k| k.arbitrated == Some(decided.at));
            if theirs {
                self.change_knowledge(&mut loser, |k| k.arbitrated = None)?;
            }
        }
        let at = at.max(decided.at);
        let mut holder = match decided.other {
            None => kept,
            Some(before) => {
                let before = self.get(before)?;
                if before.replaced_by != Some(id) {
                    return Err(stale(id, "has another record in its place meanwhile"));
                }
                self.change_knowledge(&mut kept, |k| k.conflict = true)?;
                self.put_back(&before, at)?;
                self.get(before.id)?
            }
        };
        if decided.detail.as_deref() == Some(WAS_DISPUTED) {
            self.change_knowledge(&mut holder, |k| k.disputed = true)?;
        }
        let retired = decided.other.map(|_| id);
        self.tell_with(at, Action::Reopened, by, holder.id, retired, None)?;
        Ok(answer(holder.id, Verdict::Reopened, retired))
    }

    /// The record of the chain of `record` that is current.
    fn current_of(&self, record: &Record, at: Timestamp) -> Result<Record, Failure> {
        let current = match record.retired_at {
            None => Some(record.clone()),
            Some(_) => self.end_of_chain(record)?,
        };
        let current = current.filter(|current| current.is_current(at.max(current.recorded_at)));
        current.ok_or_else(|| {
            stale(
                record.id,
                "lost against a record that is not current any more",
            )
        })
    }

    /// What lost against the chain of a current record, and nobody has decided yet.
    fn open_against(&self, current: &Record) -> Result<Vec<Record>, Failure> {
        let mut chain = history::history(self.connection, self.project, current.id)?;
        chain.retain(|record| {
            record.retired_at.is_some() && Knowledge::of(record).is_ok_and(|k| k.is_open_conflict())
        });
        Ok(chain)
    }

    /// The last thing that happened to a record, besides that somebody said it again.
    fn last_event(&self, id: RecordId) -> Result<Option<Event>, Failure> {
        let most = limits::EVENTS_MAX;
        let events = events::list(self.connection, self.project, Some(id), most)?;
        Ok(events
            .into_iter()
            .find(|event| event.action != Action::Confirmed))
    }

    fn change_knowledge(
        &self,
        record: &mut Record,
        change: impl FnOnce(&mut Knowledge),
    ) -> Result<(), Failure> {
        let Ok(mut knowledge) = Knowledge::of(record) else {
            return Ok(());
        };
        change(&mut knowledge);
        record.attrs = knowledge.to_attrs();
        self.confirm(record)
    }
}

fn is_disputed(record: &Record) -> bool {
    Knowledge::of(record).is_ok_and(|knowledge| knowledge.disputed)
}

/// The time as it is read back from a column.
fn whole_micros(at: Timestamp) -> Timestamp {
    clock::from_micros(micros(at))
}
