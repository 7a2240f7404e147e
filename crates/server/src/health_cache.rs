//! Cache of the health checks of each project: they read the whole store, so they run in the background and the page
//! shows the last result.

use heirloom_engine::{CheckLevel, Engine, HealthCheck};
use heirloom_model::{Fault, Timestamp, limits};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of projects in the cache.
const PROJECTS: usize = 32;

/// Facts about a database server: names with values.
pub(crate) type ServerFacts = Vec<(&'static str, String)>;

/// Result of one run of the checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HealthReport {
    /// Checks, the worst first.
    pub(crate) checks: Vec<HealthCheck>,
    /// Facts about a database server that only the checks read.
    pub(crate) server: ServerFacts,
    /// Time at which the run ended.
    pub(crate) at: Timestamp,
    /// Time of the newest record when the run began.
    last_write: Option<Timestamp>,
}

/// State of the checks of one project.
#[derive(Debug, Clone, Default)]
pub(crate) struct HealthState {
    /// Last result; `None` before the first run ended.
    pub(crate) report: Option<Arc<HealthReport>>,
    pub(crate) is_running: bool,
}

impl HealthState {
    /// Returns true if a visit of the page should start a run: there is no result, or it is old.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        !self.is_running
            && (self.report.as_ref())
                .is_none_or(|report| report.age_s(now) >= limits::SERVER_HEALTH_S)
    }
}

impl HealthReport {
    /// Collects the result of a run. An error of the run itself is reported as a failed check.
    pub(crate) fn new(
        checks: Result<Vec<HealthCheck>, Fault>,
        server: ServerFacts,
        at: Timestamp,
        last_write: Option<Timestamp>,
    ) -> Self {
        let mut checks = checks.unwrap_or_else(|fault| {
            vec![HealthCheck {
                name: "checks",
                level: CheckLevel::Bad,
                message: fault.message,
                hint: fault.hint,
            }]
        });
        checks.sort_by_key(|check| std::cmp::Reverse(check.level));
        Self {
            checks,
            server,
            at,
            last_write,
        }
    }

    /// Returns true if the periodic run can be left out: nothing was written since, and the result is younger than a day.
    fn covers(&self, last_write: Option<Timestamp>, now: Timestamp) -> bool {
        self.last_write == last_write && self.age_s(now) < limits::SERVER_HEALTH_IDLE_S
    }

    fn age_s(&self, now: Timestamp) -> u64 {
        // A clock that went back makes the result new.
        u64::try_from(now.duration_since(self.at).as_secs()).unwrap_or(0)
    }
}

/// Cached results by project; `None` is the served project.
#[derive(Debug, Default)]
pub(crate) struct HealthCache {
    all: Mutex<HashMap<Option<String>, HealthState>>,
}

impl HealthCache {
    /// Returns the last result of a project, and whether a run is in progress.
    pub(crate) fn state(&self, project: Option<&str>) -> HealthState {
        self.with(project, |state| state.clone())
    }

    /// Returns true if the periodic run of a project is needed.
    pub(crate) fn needs_periodic_run(
        &self,
        project: Option<&str>,
        engine: &Engine,
    ) -> Result<bool, Fault> {
        let last_write = engine.records().last_write()?;
        let report = self.state(project).report;
        Ok(report.is_none_or(|report| !report.covers(last_write, engine.now())))
    }

    /// Marks a run as started; false if one is in progress.
    pub(crate) fn start(&self, project: Option<&str>) -> bool {
        self.with(project, |state| {
            !std::mem::replace(&mut state.is_running, true)
        })
    }

    /// Ends a run and stores its result; `None` keeps the last one.
    pub(crate) fn finish(&self, project: Option<&str>, report: Option<HealthReport>) {
        self.with(project, |state| {
            state.is_running = false;
            if let Some(report) = report {
                state.report = Some(Arc::new(report));
            }
        });
    }

    fn with<T>(&self, project: Option<&str>, call: impl FnOnce(&mut HealthState) -> T) -> T {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let project = project.map(str::to_owned);
        if all.len() >= PROJECTS && !all.contains_key(&project) {
            all.retain(|_, state| state.is_running);
        }
        call(all.entry(project).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(seconds: u64) -> Timestamp {
        Timestamp::from_second(i64::try_from(seconds).unwrap()).unwrap()
    }

    fn report(at: u64, last_write: u64) -> HealthReport {
        HealthReport::new(Ok(Vec::new()), Vec::new(), time(at), Some(time(last_write)))
    }

    #[test]
    fn one_run_at_a_time_is_started_for_each_project() {
        let cache = HealthCache::default();
        assert!(cache.start(None) && !cache.start(None));
        assert!(cache.start(Some("other")));
        assert!(!cache.state(None).is_due(time(0)));
        cache.finish(None, Some(report(10, 1)));
        let state = cache.state(None);
        assert_eq!(state.report.as_deref(), Some(&report(10, 1)));
        assert!(!state.is_running && cache.start(None));
        // A run that could not begin keeps the last result.
        cache.finish(None, None);
        assert_eq!(cache.state(None).report.as_deref(), Some(&report(10, 1)));
    }

    #[test]
    fn result_is_due_after_an_hour_and_periodically_only_after_a_write_or_a_day() {
        let hour = limits::SERVER_HEALTH_S;
        let state = HealthState {
            report: Some(Arc::new(report(100, 1))),
            is_running: false,
        };
        assert!(HealthState::default().is_due(time(0)));
        assert!(!state.is_due(time(99 + hour)) && state.is_due(time(100 + hour)));
        assert!(!state.is_due(time(0)), "the clock may go back");
        let written = |seconds| Some(time(seconds));
        assert!(report(100, 1).covers(written(1), time(100 + hour)));
        assert!(!report(100, 1).covers(written(2), time(100 + hour)));
        assert!(!report(100, 1).covers(written(1), time(100 + limits::SERVER_HEALTH_IDLE_S)));
    }

    #[test]
    fn failed_run_is_a_failed_check() {
        let fault = Fault::failed("the file is gone").hint("restore it");
        let report = HealthReport::new(Err(fault), Vec::new(), time(1), None);
        let [check] = report.checks.as_slice() else {
            panic!("{report:?}");
        };
        assert_eq!(
            (check.level, check.message.as_str()),
            (CheckLevel::Bad, "the file is gone")
        );
    }
}
