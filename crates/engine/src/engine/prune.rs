//! Keeping what is remembered in bounds: entries of a run by their number, episodes and artifacts by their age.
//! What is beyond is retired, nothing is deleted.

use super::Engine;
use heirloom_model::kinds::{CATEGORY_DECISION, Mistake};
use heirloom_model::{Fault, Kind, Record, RecordId, Timestamp};
use heirloom_store::{Change, Filter};

/// Who is named as the one that pruned.
const BY: &str = "prune";

/// What pruning would retire, or has retired.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PruneReport {
    /// Entries (decisions and errors) before.
    pub entries: usize,
    /// Decisions beyond the number.
    pub decisions: Vec<RecordId>,
    /// Errors beyond the number.
    pub errors: Vec<RecordId>,
    /// Episodes that are older than they are kept.
    pub episodes: Vec<RecordId>,
    /// Artifacts that are older than they are kept.
    pub artifacts: Vec<RecordId>,
}

impl Engine {
    /// What lies beyond `max_entries`: the oldest first; of the same age a resolved error before an open one.
    /// Open errors of `task` are never among them. Besides, the episodes and artifacts that are older than the
    /// settings keep them, but no failure of a task without a later success.
    pub fn prunable(&self, task: Option<&str>) -> Result<PruneReport, Fault> {
        let mut report = self.prunable_entries(task)?;
        report.episodes = self.old_episodes()?;
        report.artifacts = self.old_artifacts()?;
        Ok(report)
    }

    fn prunable_entries(&self, task: Option<&str>) -> Result<PruneReport, Fault> {
        let entries = self.entries()?;
        let mut report = PruneReport {
            entries: entries.len(),
            ..PruneReport::default()
        };
        let over = entries.len().saturating_sub(self.settings.max_entries);
        let mut old: Vec<_> = entries
            .iter()
            .filter(|entry| !(is_open(entry) && of_task(entry, task)))
            .collect();
        old.sort_by_key(|entry| (since(entry).as_second(), is_open(entry), entry.id));
        for entry in old.into_iter().take(over) {
            match entry.kind == Kind::Error {
                true => report.errors.push(entry.id),
                false => report.decisions.push(entry.id),
            }
        }
        Ok(report)
    }

    /// Retires what [`Engine::prunable`] names, the oldest first; durable when it returns.
    pub fn prune(&self, task: Option<&str>) -> Result<PruneReport, Fault> {
        self.retire_all(|| self.prunable(task))
    }

    /// Retires entries beyond their number only: what a run does after each iteration.
    pub(super) fn prune_entries(&self, task: Option<&str>) -> Result<PruneReport, Fault> {
        self.retire_all(|| self.prunable_entries(task))
    }

    fn retire_all(
        &self,
        mut choose: impl FnMut() -> Result<PruneReport, Fault>,
    ) -> Result<PruneReport, Fault> {
        let mut report = PruneReport::default();
        self.apply_decided(|| {
            report = choose()?;
            let at = self.now();
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

    /// Current decisions and errors, oldest first.
    pub(super) fn entries(&self) -> Result<Vec<Record>, Fault> {
        let now = self.now();
        let mut entries = self.find(
            &Filter::current(&[Kind::Knowledge], now)
                .category(CATEGORY_DECISION)
                .oldest_first(),
        )?;
        entries.extend(self.find(&Filter::current(&[Kind::Error], now).oldest_first())?);
        entries.sort_by_key(|entry| (since(entry), entry.id));
        Ok(entries)
    }
}

/// When an entry came up: of an error, the first time, not its resolution.
fn since(entry: &Record) -> Timestamp {
    match entry.kind == Kind::Error {
        true => entry.true_from.unwrap_or(entry.recorded_at),
        false => entry.recorded_at,
    }
}

fn is_open(entry: &Record) -> bool {
    entry.kind == Kind::Error && entry.state() == Some(Mistake::OPEN)
}

fn of_task(entry: &Record, task: Option<&str>) -> bool {
    task.is_some() && entry.scope.task.as_deref() == task
}
