//! Cache of the review and the inbox count of each project: large stores are compared in the background, before a person asks.

use heirloom_engine::Engine;
use heirloom_model::{Fault, Kind, Timestamp, limits};
use heirloom_search::recall::review::ReviewReport;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of entries that are compared while a request waits.
const AT_ONCE: u64 = 1_000;
/// Shortest time between two reviews of one large project.
const PAUSE: Duration = Duration::from_secs(60);
/// Maximum number of projects in the cache.
const PROJECTS: usize = 32;

/// Review of a project.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reviewed {
    /// Findings; `None` while the first review of a large project runs.
    pub(crate) report: Option<Arc<ReviewReport>>,
    /// Number of entries to compare.
    pub(crate) entries: u64,
    /// True if a new review should be started.
    pub(crate) is_due: bool,
}

/// Time of the newest record, and of the newest event.
type Stamp = (Option<Timestamp>, Option<Timestamp>);

/// Cached review of one project.
#[derive(Debug, Default)]
struct CachedReview {
    stamp: Stamp,
    report: Option<Arc<ReviewReport>>,
    started_at: Option<Instant>,
    is_running: bool,
    /// Number of items in the inbox at a stamp.
    inbox: Option<(Stamp, usize)>,
}

/// Cached reviews by project.
#[derive(Debug, Default)]
pub(crate) struct ReviewCache {
    all: Mutex<HashMap<String, CachedReview>>,
}

impl ReviewCache {
    /// Returns the review of the engine's project. A small project is reviewed at once; of a large one the last review
    /// is returned.
    pub(crate) fn review(&self, engine: &Engine) -> Result<Reviewed, Fault> {
        let counts = engine.records().counts()?;
        let compared = counts
            .iter()
            .filter(|(kind, _)| matches!(kind, Kind::Knowledge | Kind::Note));
        let entries: u64 = compared.map(|(_, n)| n).sum();
        let stamp = stamp(engine)?;
        if entries <= AT_ONCE {
            let report = match self.with(engine, |cached| cached.fresh(stamp)) {
                Some(report) => report,
                None => self.run(engine)?,
            };
            return Ok(Reviewed {
                report: Some(report),
                entries,
                is_due: false,
            });
        }
        Ok(self.with(engine, |cached| {
            let is_recent = cached.started_at.is_some_and(|at| at.elapsed() < PAUSE);
            Reviewed {
                report: cached.report.clone(),
                entries: entries.min(limits::REVIEW_RECORDS_MAX as u64),
                is_due: !cached.is_running && cached.fresh(stamp).is_none() && !is_recent,
            }
        }))
    }

    /// Reviews the engine's project and stores the result.
    pub(crate) fn run(&self, engine: &Engine) -> Result<Arc<ReviewReport>, Fault> {
        let stamp = stamp(engine)?;
        let found = engine.conflicts().review();
        self.with(engine, |cached| {
            cached.is_running = false;
            let report = Arc::new(found?);
            cached.stamp = stamp;
            cached.report = Some(Arc::clone(&report));
            cached.inbox = None;
            Ok(report)
        })
    }

    /// Returns the number of items in the inbox, computed again after a change.
    pub(crate) fn count_inbox(
        &self,
        engine: &Engine,
        compute: impl FnOnce() -> Result<usize, Fault>,
    ) -> Result<usize, Fault> {
        let stamp = stamp(engine)?;
        let known = self.with(engine, |cached| cached.inbox.filter(|(at, _)| *at == stamp));
        if let Some((_, count)) = known {
            return Ok(count);
        }
        let count = compute()?;
        self.with(engine, |cached| cached.inbox = Some((stamp, count)));
        Ok(count)
    }

    /// Marks a review as running; false if one runs already.
    pub(crate) fn start(&self, engine: &Engine) -> bool {
        self.with(engine, |cached| {
            let is_first = !cached.is_running;
            cached.is_running = true;
            cached.started_at = Some(Instant::now());
            is_first
        })
    }

    fn with<T>(&self, engine: &Engine, call: impl FnOnce(&mut CachedReview) -> T) -> T {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let project = engine.project().as_str();
        if all.len() >= PROJECTS && !all.contains_key(project) {
            all.retain(|_, cached| cached.is_running);
        }
        call(all.entry(project.to_owned()).or_default())
    }
}

impl CachedReview {
    fn fresh(&self, stamp: Stamp) -> Option<Arc<ReviewReport>> {
        self.report.clone().filter(|_| self.stamp == stamp)
    }
}

fn stamp(engine: &Engine) -> Result<Stamp, Fault> {
    let newest = engine.records().audit(1)?;
    let last_write = engine.records().last_write()?;
    Ok((last_write, newest.first().map(|event| event.at)))
}
