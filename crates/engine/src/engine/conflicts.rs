//! Conflicts and their resolution.

use super::Engine;
use super::undo::UndoReport;
use heirloom_model::conflict::can_arbitrate;
use heirloom_model::kinds::Knowledge;
use heirloom_model::{
    Action, Event, Fault, Kind, KindData, Record, RecordId, limits, similarity, text,
};
use heirloom_store::{AsOf, Change, Filter};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// Unresolved conflict: different values of one key.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// The current record, whose id is the conflict's. It is in effect unless it is disputed.
    pub winner: Record,
    /// Values that lost against it, newest first; of repeated values of a source only the newest.
    pub losers: Vec<Record>,
}

impl Conflict {
    /// Returns true if neither side is in effect before a decision.
    pub fn is_disputed(&self) -> bool {
        Knowledge::from_record(&self.winner).is_ok_and(|knowledge| knowledge.disputed)
    }

    /// Returns the JSON form, the same on all surfaces.
    pub fn to_json(&self) -> Value {
        json!({
            "id": self.winner.id.to_string(),
            "category": self.winner.category(),
            "key": self.winner.key,
            "disputed": self.is_disputed(),
            "winner": side_json(&self.winner),
            "losers": self.losers.iter().map(side_json).collect::<Value>(),
        })
    }
}

fn side_json(record: &Record) -> Value {
    json!({
        "id": record.id.to_string(),
        "text": record.text,
        "confidence": record.confidence.get(),
        "source": record.source,
        "recorded_at": record.recorded_at.to_string(),
    })
}

/// Report of a resolved conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResolveReport {
    /// Record that is current from now on.
    pub kept: RecordId,
    /// Record that was current before, if it is a different one.
    pub retired: Option<RecordId>,
}

/// Conflicts between records, and the review of records that may be obsolete.
#[derive(Clone, Copy)]
pub struct Conflicts<'e> {
    pub(super) engine: &'e Engine,
}

impl Conflicts<'_> {
    /// Returns all open conflicts, newest winner first.
    pub fn list(&self) -> Result<Vec<Conflict>, Fault> {
        let filter = Filter {
            as_of: AsOf::Ever,
            open_conflict: true,
            ..Filter::current(&[], self.engine.now())
        };
        let losers = self.engine.records().find(&filter)?;
        let successors = self.successors_of(&losers)?;
        let mut chains: BTreeMap<RecordId, Vec<Record>> = BTreeMap::new();
        for loser in losers {
            let chain = chains
                .entry(last_successor(&loser, &successors))
                .or_default();
            chain.push(loser);
        }
        let mut conflicts = Vec::new();
        for (end, mut chain) in chains {
            chain.extend(successors.get(&end).cloned());
            chain.sort_by_key(|record| (record.recorded_at, record.id));
            conflicts.extend(self.conflict_in(chain));
        }
        conflicts.sort_by_key(|conflict| std::cmp::Reverse(conflict.winner.id));
        Ok(conflicts)
    }

    /// Returns all successors of these records, direct and indirect. Needs one query for each step of the longest
    /// chain, regardless of the number of chains.
    fn successors_of(&self, records: &[Record]) -> Result<HashMap<RecordId, Record>, Fault> {
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
                    as_of: AsOf::Ever,
                    ..Filter::current(&[], self.engine.now())
                };
                found.extend(
                    self.engine
                        .records()
                        .find(&filter.ids(ids.to_vec()).limit(ids.len()))?,
                );
            }
            if found.is_empty() {
                return Ok(known);
            }
            wanted = found.iter().filter_map(|r| r.replaced_by).collect();
            known.extend(found.into_iter().map(|record| (record.id, record)));
        }
    }

    /// Returns the conflict in a chain of records, if it has a current record and open losers.
    fn conflict_in(&self, chain: Vec<Record>) -> Option<Conflict> {
        let now = self.engine.now();
        let winner = chain
            .iter()
            .find(|r| r.is_current(now.max(r.recorded_at)))?;
        let mut conflict = Conflict {
            winner: winner.clone(),
            losers: Vec::new(),
        };
        let disputed = conflict.is_disputed();
        for record in chain.into_iter().rev().filter(is_open) {
            let agrees = similarity::has_same_words(&record.text, &conflict.winner.text);
            let says_again = |known: &Record| {
                known.source == record.source
                    && similarity::has_same_words(&known.text, &record.text)
            };
            // A winner with the same words is no contradiction.
            if !conflict.losers.iter().any(says_again) && (disputed || !agrees) {
                conflict.losers.push(record);
            }
        }
        (disputed || !conflict.losers.is_empty()).then_some(conflict)
    }

    /// Resolves the conflict of `id`, its winner or one of its losers, in favour of `keep`, which is either. `undo`
    /// reverts it.
    ///
    /// Errors: `Refused` for a role without authority; `NotFound` if nothing is open; `Usage` if `keep` is not a side
    /// of the conflict.
    pub fn resolve(
        &self,
        id: RecordId,
        keep: RecordId,
        role: &str,
    ) -> Result<ResolveReport, Fault> {
        self.engine.require_memory()?;
        if !can_arbitrate(role) {
            let role = text::excerpt(role, 60);
            return Err(
                Fault::refused(format!("`{role}` may not decide a conflict")).hint(
                    "only `user` and `orchestrator` may: heirloom resolve ID --keep ID --as user",
                ),
            );
        }
        let applied = self.engine.apply_decided(|| {
            self.check_path_part(id, keep)?;
            Ok(vec![self.resolution_change(keep, role)])
        })?;
        let applied = super::tasks::last(&applied)?;
        Ok(ResolveReport {
            kept: applied.id,
            retired: applied.other,
        })
    }

    fn resolution_change(&self, keep: RecordId, by: &str) -> Change {
        Change::ResolveConflict {
            keep,
            at: self.engine.now(),
            by: by.to_owned(),
        }
    }

    fn check_path_part(&self, id: RecordId, keep: RecordId) -> Result<(), Fault> {
        let chain = self.engine.records().history(id)?;
        self.engine.records().get(keep)?;
        let now = self.engine.now();
        let current = chain.iter().find(|r| r.is_current(now.max(r.recorded_at)));
        let open: Vec<_> = chain.iter().filter(|record| is_open(record)).collect();
        let nothing = || {
            Fault::not_found(format!("record {id} has no open conflict"))
                .hint("`heirloom conflicts` shows the open ones")
        };
        let current = current.ok_or_else(nothing)?;
        let disputed = Knowledge::from_record(current).is_ok_and(|knowledge| knowledge.disputed);
        if open.is_empty() && !disputed {
            return Err(nothing());
        }
        if keep == current.id || open.iter().any(|record| record.id == keep) {
            return Ok(());
        }
        let sides = std::iter::once(current)
            .chain(open)
            .take(limits::CONFLICT_SIDES_SHOWN_MAX);
        let sides: Vec<_> = sides
            .map(|r| format!("{} {}", r.id, text::excerpt(&r.text, 60)))
            .collect();
        Err(
            Fault::usage(format!("record {keep} is not a side of this conflict"))
                .hint(format!("keep one of these: {}", sides.join("; "))),
        )
    }

    /// Returns the last event of a record, without confirmations, if it is a resolution or its reversal.
    pub(super) fn last_decision(&self, id: RecordId) -> Result<Option<Event>, Fault> {
        let events =
            self.engine
                .store
                .events(&self.engine.project, Some(id), limits::EVENTS_MAX)?;
        let last = events
            .into_iter()
            .find(|event| event.action != Action::Confirmed);
        Ok(last.filter(|event| matches!(event.action, Action::Resolved | Action::Reopened)))
    }

    /// Reverts the last resolution of `record`, or repeats a reverted one; `None` if its last event is neither.
    pub(super) fn undo_decision(
        &self,
        record: &Record,
        by: &str,
    ) -> Result<Option<UndoReport>, Fault> {
        if record.kind != Kind::Knowledge {
            return Ok(None);
        }
        let decided = match (record.retired_at, record.replaced_by) {
            (None, _) => self.last_decision(record.id)?,
            // The user may name the winner or the retired loser.
            (Some(_), Some(next)) if self.engine.records().get(next)?.retired_at.is_none() => self
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
            let applied = self
                .engine
                .records()
                .apply_one(self.resolution_change(decided.other.unwrap_or(holds), by))?;
            let (id, retired) = (applied.id, applied.other);
            return Ok(Some(UndoReport::Resolved { id, retired }));
        }
        let applied = self.engine.records().apply_one(Change::ReopenConflict {
            id: holds,
            at: self.engine.now(),
            by: by.to_owned(),
        })?;
        let (id, retired) = (applied.id, applied.other);
        Ok(Some(UndoReport::Reopened { id, retired }))
    }
}

/// Returns the last successor of a record. Imported records may form a cycle.
fn last_successor(record: &Record, successors: &HashMap<RecordId, Record>) -> RecordId {
    let mut end = record;
    for _ in 0..=successors.len() {
        match end.replaced_by.and_then(|next| successors.get(&next)) {
            Some(next) => end = next,
            None => break,
        }
    }
    end.id
}

fn is_open(record: &Record) -> bool {
    record.retired_at.is_some()
        && Knowledge::from_record(record).is_ok_and(|knowledge| knowledge.is_open_conflict())
}
