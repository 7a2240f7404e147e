//! Retention: records of work that are retired by age, never deleted. What a person said or pinned has no age.

use super::maintenance::Maintenance;
use heirloom_model::permissions::Authority;
use heirloom_model::{Action, Fault, Record, RecordId, limits, mark};
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
    /// Returns the oldest `most` episodes and artifacts beyond their retention, except those that a person wrote,
    /// confirmed or pinned, those that were restored after they had been retired, and failures of tasks without a
    /// later success.
    pub fn prunable(&self, most: usize) -> Result<PruneReport, Fault> {
        let episodes = self.oldest(self.engine.tasks().old_episodes()?, most)?;
        let left = most.saturating_sub(episodes.len());
        let artifacts = self.oldest(self.engine.artifacts().old_artifacts()?, left)?;
        Ok(PruneReport {
            episodes,
            artifacts,
        })
    }

    /// Returns the first `most` of these records that retention may retire.
    fn oldest(&self, found: Vec<Record>, most: usize) -> Result<Vec<Record>, Fault> {
        let mut oldest = Vec::new();
        for record in found {
            if oldest.len() == most {
                break;
            }
            if !is_of_person(&record) && !self.was_restored(record.id)? {
                oldest.push(record);
            }
        }
        Ok(oldest)
    }

    /// Returns true for a record that was wanted back: an undo must outlast the next day.
    fn was_restored(&self, id: RecordId) -> Result<bool, Fault> {
        let events = (self.engine.records()).events(Some(id), limits::EVENTS_MAX)?;
        Ok(events.iter().any(|event| event.action == Action::Restored))
    }

    /// Retires the records of [`Self::prunable`]; durable when it returns.
    pub fn prune(&self, most: usize) -> Result<PruneReport, Fault> {
        let mut report = PruneReport::default();
        self.engine.apply_decided(|| {
            report = self.prunable(most)?;
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
