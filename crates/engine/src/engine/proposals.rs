//! Proposals of agents: knowledge that waits for a person to accept or reject it.

use super::records::USER;
use super::revision::Revision;
use crate::engine::{Engine, Records};
use heirloom_model::{Fault, Kind, Record, RecordId, limits, text};
use heirloom_store::{AppliedChange, Change, Filter};
use std::collections::BTreeSet;

/// Proposals of agents: listed, accepted and rejected.
#[derive(Clone, Copy)]
pub struct Proposals<'e> {
    pub(super) engine: &'e Engine,
}

impl<'e> Records<'e> {
    /// Returns the service for proposals of agents.
    pub fn proposals(self) -> Proposals<'e> {
        Proposals {
            engine: self.engine,
        }
    }
}

impl Proposals<'_> {
    /// Returns the pending proposals of this memory, newest first, at most [`limits::PROPOSALS_LISTED_MAX`].
    ///
    /// A value in an open conflict waits for the decision about the conflict instead.
    pub fn pending(&self) -> Result<Vec<Record>, Fault> {
        let conflicts = self.engine.conflicts().list()?;
        let in_conflict: BTreeSet<RecordId> = conflicts.iter().map(|one| one.winner.id).collect();
        let filter = Filter {
            proposal: true,
            ..Filter::current(&[Kind::Knowledge], self.engine.now())
        };
        let waits = |record: &Record| {
            record.is_pending_proposal()
                && !record.is_bookkeeping()
                && !in_conflict.contains(&record.id)
        };
        let filter = filter.limit(limits::PROPOSALS_LISTED_MAX);
        Ok(self.engine.records().page(&filter, Some(&waits))?.records)
    }

    /// Returns a pending proposal. Errors: `Usage` for any other record.
    pub fn get(&self, id: RecordId) -> Result<Record, Fault> {
        let record = self.engine.records().get(id)?;
        match record.is_pending_proposal() {
            true => Ok(record),
            false => Err(Fault::usage(format!(
                "{} is not a proposal",
                text::excerpt(&id.to_string(), 40)
            ))
            .hint("`heirloom propose` lists pending ones, `--user` those for your own memory")),
        }
    }

    /// Accepts a proposal for a person: the record becomes the person's own statement. `undo` reverts it.
    ///
    /// Errors: `NotFound`; `Usage` for any other record; `Failed` if it was changed at the same time.
    pub fn accept(&self, id: RecordId) -> Result<AppliedChange, Fault> {
        self.engine.require_memory()?;
        let known = self.get(id)?;
        let revision = Revision {
            text: known.text.clone(),
            category: None,
            confidence: None,
            true_from: known.true_from,
        };
        let record = Box::new(
            self.engine
                .records()
                .revised_record(&known, &revision, USER)?,
        );
        self.engine
            .records()
            .apply_one(Change::Revise { id, record })
    }

    /// Rejects a proposal: the record is retired, and its history stays. `undo` reverts it.
    pub fn reject(&self, id: RecordId, by: &str) -> Result<RecordId, Fault> {
        let record = self.get(id)?;
        self.engine.records().forget_as(record.id, by)
    }
}
