//! Correcting what a record says, by whoever has seen it as it is now.

use super::Engine;
use super::new_record::bad_name;
use heirloom_model::kinds::Knowledge;
use heirloom_model::record::check_name;
use heirloom_model::{Confidence, Fault, Kind, KindData, Record, RecordId, Timestamp, mark};
use heirloom_store::{Applied, Change, StoreError};

/// What knowledge shall say instead.
#[derive(Debug, Clone, PartialEq)]
pub struct Revision {
    /// Its text.
    pub text: String,
    /// Its category; the one that it has if it is not said.
    pub category: Option<String>,
    /// How sure whoever says so is; wholly if it is not said.
    pub confidence: Option<f64>,
    /// From when on it holds.
    pub true_from: Option<Timestamp>,
}

/// What became of a revision.
#[derive(Debug, Clone, PartialEq)]
pub enum Revised {
    /// It holds now; `undo` with this id takes it back.
    Done(Applied),
    /// It says so already, and nothing was written.
    Same,
    /// Somebody else was faster: what holds instead, if something does. Nothing was written.
    Overtaken(Option<Box<Record>>),
}

impl Engine {
    /// Puts what `source` says in the place of the knowledge `id`, which must be what holds now.
    ///
    /// Key, scope, pins and mutes stay. Errors: `NotFound`; `Usage` for an empty or over-long text, a bad category, a
    /// confidence outside 0 to 1, or a record of another kind; `Refused` when memory is off.
    pub fn revise(
        &self,
        id: RecordId,
        revision: &Revision,
        source: &str,
    ) -> Result<Revised, Fault> {
        self.writable()?;
        let known = self.get(id)?;
        if known.kind != Kind::Knowledge {
            return Err(Fault::usage(format!(
                "record {id} is a {}; only knowledge is corrected in place",
                known.kind
            )));
        }
        if known.retired_at.is_some() {
            return self.overtaken(id);
        }
        let record = self.revised(&known, revision, source)?;
        let says_so = record.text == known.text
            && record.category() == known.category()
            && record.confidence == known.confidence
            && record.true_from == known.true_from;
        if says_so {
            return Ok(Revised::Same);
        }
        let record = Box::new(record);
        match self
            .store
            .apply(&self.project, &[Change::Revise { id, record }])
        {
            Ok(applied) => Ok(Revised::Done(super::tasks::last(&applied)?)),
            Err(StoreError::Stale { .. }) => self.overtaken(id),
            Err(error) => Err(error.into()),
        }
    }

    fn revised(&self, known: &Record, said: &Revision, source: &str) -> Result<Record, Fault> {
        let text = self.clean(said.text.trim()).into_owned();
        if text.is_empty() {
            return Err(Fault::usage("there is no text").hint("retire the entry instead"));
        }
        let mut knowledge =
            Knowledge::of(known).map_err(|error| Fault::failed(error.to_string()))?;
        if let Some(category) = &said.category {
            check_name("category", category).map_err(|bad| bad_name(&bad))?;
            knowledge.category.clone_from(category);
        }
        knowledge.proposal = false;
        knowledge.conflict = false;
        knowledge.disputed = false;
        knowledge.confirmations = 0;
        knowledge.confirmed_at = None;
        let mut record = self.draft(Kind::Knowledge, &text, known.scope.clone(), source);
        record.key.clone_from(&known.key);
        record.attrs = mark::without(&knowledge.to_attrs());
        mark::carry(&known.attrs, &mut record.attrs);
        record.true_from = said.true_from;
        record.true_to = known.true_to;
        if let Some(confidence) = said.confidence {
            record.confidence = Confidence::new(confidence)
                .ok_or_else(|| Fault::usage(format!("confidence {confidence} is outside 0..1")))?;
        }
        Ok(record)
    }

    fn overtaken(&self, id: RecordId) -> Result<Revised, Fault> {
        let now = self.now();
        let chain = self.history(id)?;
        let current = chain
            .into_iter()
            .find(|record| record.is_current(now.max(record.recorded_at)));
        Ok(Revised::Overtaken(current.map(Box::new)))
    }
}
