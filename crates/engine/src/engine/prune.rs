//! Retention: records of work that are retired by age, never deleted. What a person said or pinned has no age.

use super::maintenance::Maintenance;
use heirloom_model::permissions::Authority;
use heirloom_model::{Fault, Record, RecordId, mark};
use heirloom_store::Change;

/// Source of retirements by pruning.
const BY: &str = "prune";

/// Records to prune, or pruned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PruneReport {
    /// Episodes beyond their retention, oldest first.
    pub episodes: Vec<Record>,
    /// Artifacts beyond their retention, oldest first.
    pub artifacts: Vec<Record>,
}

impl PruneReport {
    /// Returns all records, episodes first.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.episodes.iter().chain(&self.artifacts)
    }
}

impl Maintenance<'_> {
    /// Returns the episodes and artifacts beyond their retention, except those that a person wrote, confirmed or
    /// pinned, and failures of tasks without a later success.
    pub fn prunable(&self) -> Result<PruneReport, Fault> {
        let mut report = PruneReport {
            episodes: self.engine.tasks().old_episodes()?,
            artifacts: self.engine.artifacts().old_artifacts()?,
        };
        report.episodes.retain(|record| !is_of_person(record));
        report.artifacts.retain(|record| !is_of_person(record));
        Ok(report)
    }

    /// Retires the records of [`Self::prunable`]; durable when it returns.
    pub fn prune(&self) -> Result<PruneReport, Fault> {
        let mut report = PruneReport::default();
        self.engine.apply_decided(|| {
            report = self.prunable()?;
            let at = self.engine.now();
            let retire = |id: RecordId| Change::Retire {
                id,
                at,
                by: BY.to_owned(),
            };
            Ok(report.records().map(|record| retire(record.id)).collect())
        })?;
        Ok(report)
    }
}

/// Returns true for a record that a person wrote, confirmed or pinned.
pub(super) fn is_of_person(record: &Record) -> bool {
    Authority::of_record(record) == Authority::Person || mark::is_pinned(&record.attrs)
}
