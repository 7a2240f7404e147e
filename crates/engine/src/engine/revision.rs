//! Revision of a record with optimistic concurrency.

use super::new_record::name_fault;
use crate::engine::Records;
use heirloom_model::kinds::Knowledge;
use heirloom_model::record::check_name;
use heirloom_model::{Confidence, Fault, Kind, KindData, Record, RecordId, Timestamp, mark};
use heirloom_store::{AppliedChange, Change, StoreError};

/// New content of a knowledge record.
#[derive(Debug, Clone, PartialEq)]
pub struct Revision {
    /// Its text.
    pub text: String,
    /// Category; unchanged by default.
    pub category: Option<String>,
    /// Confidence; 1.0 by default.
    pub confidence: Option<f64>,
    /// Start of validity.
    pub true_from: Option<Timestamp>,
}

/// Outcome of a revision.
#[derive(Debug, Clone, PartialEq)]
pub enum RevisionReport {
    /// Applied; `undo` with this id reverts it.
    Done(AppliedChange),
    /// The record has this content already; nothing was written.
    Same,
    /// The record is no longer current; with its current successor, if there is one. Nothing was written.
    Stale(Option<Box<Record>>),
}

impl Records<'_> {
    /// Replaces the content of the knowledge `id`, which must be current.
    ///
    /// Key, scope and marks stay. Errors: `NotFound`; `Usage` for an empty or too long text, an invalid category, a
    /// confidence outside 0 to 1, or a record of another kind; `Refused` when memory is off.
    pub fn revise(
        &self,
        id: RecordId,
        revision: &Revision,
        source: &str,
    ) -> Result<RevisionReport, Fault> {
        self.engine.require_memory()?;
        let known = self.get(id)?;
        if known.kind != Kind::Knowledge {
            return Err(Fault::usage(format!(
                "record {id} is a {}; only knowledge is corrected in place",
                known.kind
            )));
        }
        if known.retired_at.is_some() {
            return self.stale_report(id);
        }
        let record = self.revised_record(&known, revision, source)?;
        let is_same = record.text == known.text
            && record.category() == known.category()
            && record.confidence == known.confidence
            && record.true_from == known.true_from;
        if is_same {
            return Ok(RevisionReport::Same);
        }
        let record = Box::new(record);
        match self
            .engine
            .store
            .apply(&self.engine.project, &[Change::Revise { id, record }])
        {
            Ok(applied) => Ok(RevisionReport::Done(super::tasks::last(&applied)?)),
            Err(StoreError::Stale { .. }) => self.stale_report(id),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the knowledge `known` with new content, from `source`.
    pub(super) fn revised_record(
        &self,
        known: &Record,
        revision: &Revision,
        source: &str,
    ) -> Result<Record, Fault> {
        let text = self
            .engine
            .redaction()
            .redact_input(revision.text.trim())
            .into_owned();
        if text.is_empty() {
            return Err(Fault::usage("the text is empty").hint("retire the entry instead"));
        }
        let mut knowledge =
            Knowledge::from_record(known).map_err(|error| Fault::failed(error.to_string()))?;
        if let Some(category) = &revision.category {
            check_name("category", category).map_err(|bad| name_fault(&bad))?;
            knowledge.category.clone_from(category);
        }
        knowledge.proposal = false;
        knowledge.conflict = false;
        knowledge.disputed = false;
        knowledge.vouched_by = None;
        knowledge.confirmations = 0;
        knowledge.confirmed_at = None;
        let mut record = self.draft(Kind::Knowledge, &text, known.scope.clone(), source);
        record.key.clone_from(&known.key);
        record.attrs = mark::strip_marks(&knowledge.to_attrs());
        mark::inherit_marks(&known.attrs, &mut record.attrs);
        record.true_from = revision.true_from;
        record.true_to = known.true_to;
        if let Some(confidence) = revision.confidence {
            record.confidence = Confidence::new(confidence)
                .ok_or_else(|| Fault::usage(format!("confidence {confidence} is outside 0..1")))?;
        }
        Ok(record)
    }

    fn stale_report(&self, id: RecordId) -> Result<RevisionReport, Fault> {
        let now = self.engine.now();
        let chain = self.history(id)?;
        let current = chain
            .into_iter()
            .find(|record| record.is_current(now.max(record.recorded_at)));
        Ok(RevisionReport::Stale(current.map(Box::new)))
    }
}
