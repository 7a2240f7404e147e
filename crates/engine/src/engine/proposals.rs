//! Proposals of agents: knowledge that waits for a person to accept or reject it.

use super::records::USER;
use super::revision::Revision;
use crate::engine::{Engine, Records};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Fault, Kind, KindData, Record, RecordId, text};
use heirloom_store::{AppliedChange, Change, Filter};

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
    /// Returns the pending proposals of this memory, newest first.
    pub fn pending(&self) -> Result<Vec<Record>, Fault> {
        let mut found = self
            .engine
            .records()
            .find(&Filter::current(&[Kind::Knowledge], self.engine.now()))?;
        found.retain(is_proposal);
        Ok(found)
    }

    /// Returns a pending proposal. Errors: `Usage` for any other record.
    pub fn get(&self, id: RecordId) -> Result<Record, Fault> {
        let record = self.engine.records().get(id)?;
        match is_proposal(&record) {
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

/// Returns true if a current record waits for a person's decision.
fn is_proposal(record: &Record) -> bool {
    record.retired_at.is_none()
        && Knowledge::from_record(record).is_ok_and(|knowledge| knowledge.proposal)
}
