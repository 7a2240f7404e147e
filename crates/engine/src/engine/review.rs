//! Review of stored knowledge.

use super::ended_records::EndedRecords;
use super::records::USER;
use crate::engine::Conflicts;
use heirloom_model::{Fault, Kind, Record, RecordId, limits};
use heirloom_search::recall::review::{ReviewReport, review};
use heirloom_store::{Change, Filter};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Records that a review retires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewRetirement {
    /// Exact duplicates: the same words in the same scope.
    Duplicates,
    /// Exact duplicates, and records about missing files.
    DuplicatesAndStale,
}

impl Conflicts<'_> {
    /// Finds current knowledge that needs a review; changes nothing. At most the newest
    /// [`limits::REVIEW_RECORDS_MAX`] records are compared.
    pub fn review(&self) -> Result<ReviewReport, Fault> {
        let filter = Filter::current(&[Kind::Knowledge, Kind::Note], self.engine.now());
        let mut records = self
            .engine
            .records()
            .find(&filter.limit(limits::REVIEW_RECORDS_MAX))?;
        records.reverse();
        let root = self.engine.root();
        // A path in a folder that never existed here belongs to another project.
        let is_gone = |path: &str| {
            let first = Path::new(path).components().next();
            let known = first.is_some_and(|first| root.join(first).exists());
            known && !root.join(path).exists()
        };
        let vectors = self.sentence_vectors(&records)?;
        let mut found = review(&records, &vectors, &is_gone);
        // Records that were marked as useful are not reported again.
        let useful: HashSet<RecordId> = records
            .iter()
            .filter(|record| heirloom_model::mark::useful_count(&record.attrs) > 0)
            .map(|record| record.id)
            .collect();
        found.stale.retain(|one| !useful.contains(&one.id));
        found.duplicates.retain(|one| {
            !(useful.contains(&one.keep) && one.others.iter().all(|id| useful.contains(id)))
        });
        found.unused = self.long_known(&records, &found.unused)?;
        // Records in contexts were of use, even without a mark.
        let delivered = self.engine.contexts().delivery_counts(&found.unused)?;
        found.unused.retain(|id| !delivered.contains_key(id));
        Ok(found)
    }

    /// Returns those of `ids` that the store has known for more days of use than a proposal may wait.
    fn long_known(&self, records: &[Record], ids: &[RecordId]) -> Result<Vec<RecordId>, Fault> {
        let ended = EndedRecords::new(self.engine, None)?;
        let wanted: HashSet<RecordId> = ids.iter().copied().collect();
        let mut found = Vec::new();
        for record in records.iter().filter(|record| wanted.contains(&record.id)) {
            if ended.is_long_known(record)? {
                found.push(record.id);
            }
        }
        Ok(found)
    }

    /// Reads the sentence vectors of records; empty without a transformer.
    fn sentence_vectors(&self, records: &[Record]) -> Result<HashMap<RecordId, Vec<f32>>, Fault> {
        let Some(model) = self.engine.models.sentence_transformer() else {
            return Ok(HashMap::new());
        };
        let ids: Vec<RecordId> = records.iter().map(|record| record.id).collect();
        let (store, project) = (&self.engine.store, &self.engine.project);
        Ok(store.model_vectors(project, model.model(), &ids)?)
    }

    /// Retires the safe findings of a review in one transaction; returns the retired ids, which `undo` restores.
    pub fn apply_review(&self, what: ReviewRetirement) -> Result<Vec<RecordId>, Fault> {
        let applied = self.engine.apply_decided(|| {
            let found = self.review()?;
            let exact = found.duplicates.iter().filter(|one| one.exact);
            let mut ids: Vec<RecordId> = exact.flat_map(|one| one.others.clone()).collect();
            if what == ReviewRetirement::DuplicatesAndStale {
                ids.extend(found.stale.iter().map(|one| one.id));
            }
            ids.sort_unstable();
            ids.dedup();
            let retire = |id| Change::Retire {
                id,
                at: self.engine.now(),
                by: USER.to_owned(),
            };
            Ok(ids.into_iter().map(retire).collect())
        })?;
        Ok(applied.iter().map(|one| one.id).collect())
    }
}
