//! Items that need a person's decision; the overview, the inbox and the navigation count the same ones.

use super::RequestContext;
use super::tasks::TaskStatus;
use crate::records_by_id::find_current;
use crate::review_cache::Reviewed;
use heirloom_engine::{Conflict, Engine, Filter};
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::{Fault, Kind, Record, RecordId, limits, mark};
use heirloom_search::recall::review::StaleRecord;
use std::collections::BTreeSet;

/// Maximum number of tasks that are read.
const READ: usize = 200;
/// Maximum number of open errors that are read, newest first.
const ERRORS: usize = 60;
/// Maximum number of findings of a review that are loaded of each kind.
const FINDINGS: usize = 50;

/// Items that need a decision, by kind.
#[derive(Default)]
pub(super) struct PendingItems {
    /// Knowledge that agents proposed, as `heirloom propose` lists it, newest first.
    pub(super) proposals: Vec<Record>,
    pub(super) conflicts: Vec<Conflict>,
    /// Blocked tasks with the reason.
    pub(super) blocked: Vec<(Record, String)>,
    /// Newest open errors.
    pub(super) errors: Vec<Record>,
    /// Number of open errors, at most one page.
    pub(super) errors_count: usize,
    /// Records with nearly the same text, the older first.
    pub(super) pairs: Vec<(Record, Record)>,
    /// Records that name missing files, with the paths.
    pub(super) stale: Vec<(Record, Vec<String>)>,
    /// Records that were in no context for a long time.
    pub(super) unused: Vec<Record>,
    pub(super) reviewed: Reviewed,
}

impl PendingItems {
    /// Loads all items.
    pub(super) fn load(engine: &Engine, context: &RequestContext) -> Result<Self, Fault> {
        let mut items = Self {
            proposals: engine.records().proposals().pending()?,
            conflicts: engine.conflicts().list()?,
            blocked: blocked_tasks(engine)?,
            reviewed: context.reviews.review(engine)?,
            ..Self::default()
        };
        let open = Filter::current(&[Kind::Error], engine.now()).state(ErrorRecord::OPEN);
        items.errors = engine.records().find(&open.clone().limit(ERRORS))?;
        items.errors_count = match items.errors.len() {
            ERRORS => engine
                .records()
                .count(&open.limit(limits::PAGE_RECORDS + 1))?,
            n => n,
        };
        items.add_findings(engine)?;
        Ok(items)
    }

    /// Returns the number of all items.
    pub(super) fn count(&self) -> usize {
        self.proposals.len()
            + self.conflicts.len()
            + self.blocked.len()
            + self.errors_count
            + self.review_count()
    }

    /// Returns the number of findings of the review.
    pub(super) fn review_count(&self) -> usize {
        self.pairs.len() + self.stale.len() + self.unused.len()
    }

    /// Adds the findings of the review that are still current and not marked as useful. A record that waits for one
    /// decision about itself is not listed for another one.
    fn add_findings(&mut self, engine: &Engine) -> Result<(), Fault> {
        let Some(found) = self.reviewed.report.clone() else {
            return Ok(());
        };
        let groups = found.duplicates.iter();
        let mut pairs: Vec<(RecordId, RecordId)> = groups
            .flat_map(|one| one.others.iter().map(|other| (one.keep, *other)))
            .collect();
        pairs.extend(&found.contradictions);
        pairs.truncate(FINDINGS);
        let mut listed: BTreeSet<RecordId> = self.proposals.iter().map(|one| one.id).collect();
        let stale = found.stale.iter().filter(|one| listed.insert(one.id));
        let stale: Vec<&StaleRecord> = stale.take(FINDINGS).collect();
        let unused = found.unused.iter().filter(|id| !listed.contains(*id));
        let unused: Vec<RecordId> = unused.take(FINDINGS).copied().collect();
        let ids = pairs.iter().flat_map(|(a, b)| [*a, *b]);
        let ids = ids
            .chain(stale.iter().map(|one| one.id))
            .chain(unused.iter().copied());
        let mut records = find_current(engine, ids)?;
        let is_useful = |record: &Record| mark::useful_count(&record.attrs) > 0;
        for (a, b) in pairs {
            if let (Some(a), Some(b)) = (records.get(&a), records.get(&b))
                && !(is_useful(a) && is_useful(b))
            {
                let (older, newer) = match a.recorded_at <= b.recorded_at {
                    true => (a, b),
                    false => (b, a),
                };
                self.pairs.push((older.clone(), newer.clone()));
            }
        }
        records.retain(|_, record| !is_useful(record));
        for one in stale {
            let record = records.get(&one.id).cloned();
            self.stale
                .extend(record.map(|record| (record, one.paths.clone())));
        }
        self.unused = (unused.iter())
            .filter_map(|id| records.remove(id))
            .collect();
        Ok(())
    }
}

/// Returns the blocked tasks with the reason, newest first.
fn blocked_tasks(engine: &Engine) -> Result<Vec<(Record, String)>, Fault> {
    let filter = Filter::current(&[Kind::Task], engine.now()).limit(READ);
    let mut blocked = Vec::new();
    for record in engine.records().find(&filter)? {
        if let TaskStatus::Blocked(why) = TaskStatus::without_errors(&record) {
            blocked.push((record, why));
        }
    }
    Ok(blocked)
}
