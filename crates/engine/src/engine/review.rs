//! A second look at what is known.

use super::Engine;
use super::records::USER;
use crate::recall::review::{Review, review};
use heirloom_model::{Fault, Kind, RecordId, limits};
use heirloom_store::{Change, Filter};
use std::path::Path;

/// What a review retires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retire {
    /// What says the same as another in the same words and scope.
    Duplicates,
    /// That, and what speaks of files that are gone.
    DuplicatesAndStale,
}

impl Engine {
    /// What of the current knowledge deserves a second look; changes nothing. Of a large memory the newest
    /// [`limits::REVIEW_RECORDS_MAX`] are compared.
    pub fn review(&self) -> Result<Review, Fault> {
        let filter = Filter::current(&[Kind::Knowledge, Kind::Note], self.now());
        let mut records = self.find(&filter.limit(limits::REVIEW_RECORDS_MAX))?;
        records.reverse();
        let root = self.root();
        // A path whose folder never was here is another project's, and says nothing.
        let is_gone = |path: &str| {
            let first = Path::new(path).components().next();
            let known = first.is_some_and(|first| root.join(first).exists());
            known && !root.join(path).exists()
        };
        let mut found = review(&records, self.now(), &is_gone);
        // What somebody found useful is not asked about again.
        let kept: std::collections::HashSet<RecordId> = records
            .iter()
            .filter(|record| heirloom_model::mark::useful(&record.attrs) > 0)
            .map(|record| record.id)
            .collect();
        found.stale.retain(|one| !kept.contains(&one.id));
        found.duplicates.retain(|one| {
            !(kept.contains(&one.keep) && one.others.iter().all(|id| kept.contains(id)))
        });
        // What contexts told was of use, whether or not anybody said so.
        let told = self.uses(&found.unused)?;
        found.unused.retain(|id| !told.contains_key(id));
        Ok(found)
    }

    /// Retires what a review found to be safe, as one step; the ids of what was retired, which `undo` brings
    /// back.
    pub fn apply_review(&self, what: Retire) -> Result<Vec<RecordId>, Fault> {
        let applied = self.apply_decided(|| {
            let found = self.review()?;
            let exact = found.duplicates.iter().filter(|one| one.exact);
            let mut ids: Vec<RecordId> = exact.flat_map(|one| one.others.clone()).collect();
            if what == Retire::DuplicatesAndStale {
                ids.extend(found.stale.iter().map(|one| one.id));
            }
            ids.sort_unstable();
            ids.dedup();
            let retire = |id| Change::Retire {
                id,
                at: self.now(),
                by: USER.to_owned(),
            };
            Ok(ids.into_iter().map(retire).collect())
        })?;
        Ok(applied.iter().map(|one| one.id).collect())
    }
}
