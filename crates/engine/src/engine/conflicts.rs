//! Conflicts that nobody has decided, and deciding them.

use super::Engine;
use super::records::Undone;
use heirloom_model::conflict::may_arbitrate;
use heirloom_model::kinds::Knowledge;
use heirloom_model::{
    Action, Event, Fault, Kind, KindData, Record, RecordId, likeness, limits, text,
};
use heirloom_store::{Change, Filter, When};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// Different values of one key, between which nobody has decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// The current record; its id is the conflict's. It has won so far, unless it is disputed.
    pub winner: Record,
    /// What lost against it, newest first; of what a source says the same again, only the newest.
    pub losers: Vec<Record>,
}

impl Conflict {
    /// Whether neither side counts before somebody decides.
    pub fn is_disputed(&self) -> bool {
        Knowledge::of(&self.winner).is_ok_and(|knowledge| knowledge.disputed)
    }

    /// It as programs read it, whichever surface they ask.
    pub fn to_json(&self) -> Value {
        json!({
            "id": self.winner.id.to_string(),
            "category": self.winner.category(),
            "key": self.winner.key,
            "disputed": self.is_disputed(),
            "winner": side(&self.winner),
            "losers": self.losers.iter().map(side).collect::<Value>(),
        })
    }
}

fn side(record: &Record) -> Value {
    json!({
        "id": record.id.to_string(),
        "text": record.text,
        "confidence": record.confidence.get(),
        "source": record.source,
        "recorded_at": record.recorded_at.to_string(),
    })
}

/// What deciding a conflict did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    /// What holds from now on.
    pub kept: RecordId,
    /// What held before, if it is another one.
    pub retired: Option<RecordId>,
}

impl Engine {
    /// Every open conflict, newest winner first.
    pub fn conflicts(&self) -> Result<Vec<Conflict>, Fault> {
        let filter = Filter {
            when: When::Ever,
            open_conflict: true,
            ..Filter::current(&[], self.now())
        };
        let losers = self.find(&filter)?;
        let ahead = self.ahead_of(&losers)?;
        let mut chains: BTreeMap<RecordId, Vec<Record>> = BTreeMap::new();
        for loser in losers {
            let chain = chains.entry(end_of(&loser, &ahead)).or_default();
            chain.push(loser);
        }
        let mut conflicts = Vec::new();
        for (end, mut chain) in chains {
            chain.extend(ahead.get(&end).cloned());
            chain.sort_by_key(|record| (record.recorded_at, record.id));
            conflicts.extend(self.conflict_in(chain));
        }
        conflicts.sort_by_key(|conflict| std::cmp::Reverse(conflict.winner.id));
        Ok(conflicts)
    }

    /// Every record that took the place of one of these, or of one that did: as many questions as the longest chain has
    /// records, however many chains there are.
    fn ahead_of(&self, records: &[Record]) -> Result<HashMap<RecordId, Record>, Fault> {
        let mut known: HashMap<RecordId, Record> = HashMap::new();
        let mut wanted: Vec<RecordId> = records.iter().filter_map(|r| r.replaced_by).collect();
        loop {
            wanted.retain(|id| !known.contains_key(id));
            wanted.sort_unstable();
            wanted.dedup();
            if wanted.is_empty() {
                return Ok(known);
            }
            let mut found = Vec::new();
            for ids in wanted.chunks(limits::CHANGES_MAX) {
                let filter = Filter {
                    when: When::Ever,
                    ..Filter::current(&[], self.now())
                };
                found.extend(self.find(&filter.ids(ids.to_vec()).limit(ids.len()))?);
            }
            if found.is_empty() {
                return Ok(known);
            }
            wanted = found.iter().filter_map(|r| r.replaced_by).collect();
            known.extend(found.into_iter().map(|record| (record.id, record)));
        }
    }

    /// The conflict in a chain of records, if it has a current one and something open.
    fn conflict_in(&self, chain: Vec<Record>) -> Option<Conflict> {
        let now = self.now();
        let winner = chain
            .iter()
            .find(|r| r.is_current(now.max(r.recorded_at)))?;
        let mut conflict = Conflict {
            winner: winner.clone(),
            losers: Vec::new(),
        };
        let disputed = conflict.is_disputed();
        for record in chain.into_iter().rev().filter(is_open) {
            let agrees = likeness::same_words(&record.text, &conflict.winner.text);
            let says_again = |known: &Record| {
                known.source == record.source && likeness::same_words(&known.text, &record.text)
            };
            // A winner that has come to say the same has nobody against it.
            if !conflict.losers.iter().any(says_again) && (disputed || !agrees) {
                conflict.losers.push(record);
            }
        }
        (disputed || !conflict.losers.is_empty()).then_some(conflict)
    }

    /// Decides the conflict that `id` belongs to, as its winner or one of its losers, for `keep`, which is
    /// either. `undo` takes it back.
    ///
    /// Errors: `Refused` for a role that may not decide; `NotFound` if nothing is open; `Usage` if `keep` has
    /// no part in the conflict.
    pub fn resolve_conflict(
        &self,
        id: RecordId,
        keep: RecordId,
        role: &str,
    ) -> Result<Settled, Fault> {
        self.writable()?;
        if !may_arbitrate(role) {
            let role = text::excerpt(role, 60);
            return Err(
                Fault::refused(format!("`{role}` may not decide a conflict")).hint(
                    "only `user` and `orchestrator` may: heirloom resolve ID --keep ID --as user",
                ),
            );
        }
        let applied = self.apply_decided(|| {
            self.check_part(id, keep)?;
            Ok(vec![self.settle(keep, role)])
        })?;
        let applied = super::tasks::last(&applied)?;
        Ok(Settled {
            kept: applied.id,
            retired: applied.other,
        })
    }

    fn settle(&self, keep: RecordId, by: &str) -> Change {
        Change::Settle {
            keep,
            at: self.now(),
            by: by.to_owned(),
        }
    }

    fn check_part(&self, id: RecordId, keep: RecordId) -> Result<(), Fault> {
        let chain = self.history(id)?;
        self.get(keep)?;
        let now = self.now();
        let current = chain.iter().find(|r| r.is_current(now.max(r.recorded_at)));
        let open: Vec<_> = chain.iter().filter(|record| is_open(record)).collect();
        let nothing = || {
            Fault::not_found(format!("record {id} has no open conflict"))
                .hint("`heirloom conflicts` shows the open ones")
        };
        let current = current.ok_or_else(nothing)?;
        let disputed = Knowledge::of(current).is_ok_and(|knowledge| knowledge.disputed);
        if open.is_empty() && !disputed {
            return Err(nothing());
        }
        if keep == current.id || open.iter().any(|record| record.id == keep) {
            return Ok(());
        }
        let sides = std::iter::once(current)
            .chain(open)
            .take(limits::FINDINGS_SHOWN_MAX);
        let sides: Vec<_> = sides
            .map(|r| format!("{} {}", r.id, text::excerpt(&r.text, 60)))
            .collect();
        Err(
            Fault::usage(format!("record {keep} is no side of this conflict"))
                .hint(format!("keep one of these: {}", sides.join("; "))),
        )
    }

    /// The decision, or the taking back of one, that is the last thing that happened to a record,
    /// confirmations aside.
    pub(super) fn last_decision(&self, id: RecordId) -> Result<Option<Event>, Fault> {
        let events = self
            .store
            .events(&self.project, Some(id), limits::EVENTS_MAX)?;
        let last = events
            .into_iter()
            .find(|event| event.action != Action::Confirmed);
        Ok(last.filter(|event| matches!(event.action, Action::Resolved | Action::Reopened)))
    }

    /// Takes a decision about `record` back, or decides so again; `None` if none is the last thing that
    /// happened to it.
    pub(super) fn undo_decision(&self, record: &Record, by: &str) -> Result<Option<Undone>, Fault> {
        if record.kind != Kind::Knowledge {
            return Ok(None);
        }
        let decided = match (record.retired_at, record.replaced_by) {
            (None, _) => self.last_decision(record.id)?,
            // What held before may be named as well as what was decided for.
            (Some(_), Some(next)) if self.get(next)?.retired_at.is_none() => self
                .last_decision(next)?
                .filter(|event| event.other == Some(record.id)),
            (Some(_), _) => None,
        };
        let Some((decided, holds)) =
            decided.and_then(|event| event.record.map(|holds| (event, holds)))
        else {
            return Ok(None);
        };
        if decided.action == Action::Reopened {
            let applied = self.apply_one(self.settle(decided.other.unwrap_or(holds), by))?;
            let (id, retired) = (applied.id, applied.other);
            return Ok(Some(Undone::Resolved { id, retired }));
        }
        let applied = self.apply_one(Change::Unsettle {
            id: holds,
            at: self.now(),
            by: by.to_owned(),
        })?;
        let (id, retired) = (applied.id, applied.other);
        Ok(Some(Undone::Reopened { id, retired }))
    }
}

/// The last of those that took the place of a record, one after the other. Imported records may do so in a circle.
fn end_of(record: &Record, ahead: &HashMap<RecordId, Record>) -> RecordId {
    let mut end = record;
    for _ in 0..=ahead.len() {
        match end.replaced_by.and_then(|next| ahead.get(&next)) {
            Some(next) => end = next,
            None => break,
        }
    }
    end.id
}

fn is_open(record: &Record) -> bool {
    record.retired_at.is_some()
        && Knowledge::of(record).is_ok_and(|knowledge| knowledge.is_open_conflict())
}
