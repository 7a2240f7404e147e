//! Retention limits: entries of a run by number, episodes and artifacts by age. Records beyond them are retired,
//! never deleted.

use super::maintenance::Maintenance;
use heirloom_model::kinds::{CATEGORY_DECISION, ErrorRecord};
use heirloom_model::{Fault, Kind, Record, RecordId, Timestamp};
use heirloom_store::{Change, Filter};

/// Source of retirements by pruning.
const BY: &str = "prune";

/// Records to prune, or pruned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PruneReport {
    /// Number of entries (decisions and errors) before.
    pub entries: usize,
    /// Decisions beyond the limit.
    pub decisions: Vec<RecordId>,
    /// Errors beyond the limit.
    pub errors: Vec<RecordId>,
    /// Episodes beyond their retention.
    pub episodes: Vec<RecordId>,
    /// Artifacts beyond their retention.
    pub artifacts: Vec<RecordId>,
}

impl Maintenance<'_> {
    /// Returns the entries beyond `max_entries`: the oldest first; of equal age resolved errors before open ones.
    /// Open errors of `task` are never among them. Also returns episodes and artifacts beyond their retention, except
    /// failures of tasks without a later success.
    pub fn prunable(&self, task: Option<&str>) -> Result<PruneReport, Fault> {
        let mut report = self.prunable_entries(task)?;
        report.episodes = self.engine.tasks().old_episodes()?;
        report.artifacts = self.engine.artifacts().old_artifacts()?;
        Ok(report)
    }

    fn prunable_entries(&self, task: Option<&str>) -> Result<PruneReport, Fault> {
        let entries = self.entries()?;
        let mut report = PruneReport {
            entries: entries.len(),
            ..PruneReport::default()
        };
        let over = entries
            .len()
            .saturating_sub(self.engine.settings.max_entries);
        let mut old: Vec<_> = entries
            .iter()
            .filter(|entry| !(is_open(entry) && is_of_task(entry, task)))
            .collect();
        old.sort_by_key(|entry| (occurred_at(entry).as_second(), is_open(entry), entry.id));
        for entry in old.into_iter().take(over) {
            match entry.kind == Kind::Error {
                true => report.errors.push(entry.id),
                false => report.decisions.push(entry.id),
            }
        }
        Ok(report)
    }

    /// Retires the records of [`Self::prunable`], oldest first; durable when it returns.
    pub fn prune(&self, task: Option<&str>) -> Result<PruneReport, Fault> {
        self.retire_all(|| self.prunable(task))
    }

    /// Retires only entries beyond the limit, as after each iteration of a run.
    pub(super) fn prune_entries(&self, task: Option<&str>) -> Result<PruneReport, Fault> {
        self.retire_all(|| self.prunable_entries(task))
    }

    fn retire_all(
        &self,
        mut choose: impl FnMut() -> Result<PruneReport, Fault>,
    ) -> Result<PruneReport, Fault> {
        let mut report = PruneReport::default();
        self.engine.apply_decided(|| {
            report = choose()?;
            let at = self.engine.now();
            let entries = report.decisions.iter().chain(&report.errors);
            let ids = entries.chain(&report.episodes).chain(&report.artifacts);
            let retire = |&id: &RecordId| Change::Retire {
                id,
                at,
                by: BY.to_owned(),
            };
            Ok(ids.map(retire).collect())
        })?;
        Ok(report)
    }

    /// Returns current decisions and errors, oldest first.
    pub(super) fn entries(&self) -> Result<Vec<Record>, Fault> {
        let now = self.engine.now();
        let mut entries = self.engine.records().find(
            &Filter::current(&[Kind::Knowledge], now)
                .category(CATEGORY_DECISION)
                .oldest_first(),
        )?;
        entries.extend(
            self.engine
                .records()
                .find(&Filter::current(&[Kind::Error], now).oldest_first())?,
        );
        entries.sort_by_key(|entry| (occurred_at(entry), entry.id));
        Ok(entries)
    }
}

/// Returns the time of an entry; for an error its first occurrence, not its resolution.
fn occurred_at(entry: &Record) -> Timestamp {
    match entry.kind == Kind::Error {
        true => entry.true_from.unwrap_or(entry.recorded_at),
        false => entry.recorded_at,
    }
}

fn is_open(entry: &Record) -> bool {
    entry.kind == Kind::Error && entry.state() == Some(ErrorRecord::OPEN)
}

fn is_of_task(entry: &Record, task: Option<&str>) -> bool {
    task.is_some() && entry.scope.task.as_deref() == task
}
