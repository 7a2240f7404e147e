//! A store that fails on purpose, for tests (fault injection).
//!
//! Every method goes through [`FaultyStore::call`] in one line, so that a new method of [`Store`] is counted and can
//! fail from its first day.

use crate::{
    AppliedChange, Change, DeliveryStats, Description, EmbeddingBacklog, Filter, KindCounts,
    PurgeReport, PurgeTarget, RecentReceipts, SearchQuery, SearchResults, Store, StoreError,
    VectorBatch,
};
use heirloom_model::{
    Event, Message, ProjectName, Record, RecordId, Session, Timestamp, ValidityGap,
};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Text in the message of every injected I/O error.
const INJECTED: &str = "injected on purpose";

/// Kind of an injected error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedError {
    /// [`StoreError::DiskFull`].
    DiskFull,
    /// [`StoreError::Io`].
    Io,
    /// [`StoreError::Busy`].
    Busy,
}

/// Fault that is injected into a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedFault {
    /// The call fails without any effect.
    Before(InjectedError),
    /// The call takes effect and fails all the same, so the caller cannot know its outcome.
    After(InjectedError),
    /// The call succeeds, but takes this much longer.
    Delay(Duration),
}

/// Calls that a plan counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedCalls {
    /// Every call.
    All,
    /// Calls that write.
    Writes,
}

/// Plan for fault injection: the fault and the call that it strikes. Failing tests print its `Debug` form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultPlan {
    /// Number of the first counted call that is struck, from 1.
    pub nth: u64,
    /// Calls that are counted.
    pub calls: CountedCalls,
    /// Fault that is injected.
    pub fault: InjectedFault,
    /// True if every later call is struck too, as on a disk that stays full.
    pub lasting: bool,
}

impl FaultPlan {
    /// Creates a plan that strikes the `nth` call of any kind, once.
    pub fn once(nth: u64, fault: InjectedFault) -> Self {
        Self {
            nth,
            calls: CountedCalls::All,
            fault,
            lasting: false,
        }
    }

    /// Counts only calls that write.
    #[must_use]
    pub fn counting_writes(mut self) -> Self {
        self.calls = CountedCalls::Writes;
        self
    }

    /// Strikes every later call too.
    #[must_use]
    pub fn lasting(mut self) -> Self {
        self.lasting = true;
        self
    }
}

/// Access mode of a store method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}
use Access::{Read, Write};
use std::collections::HashMap;

/// Calls since the plan was set.
#[derive(Debug, Default)]
struct CallLog {
    plan: Option<FaultPlan>,
    calls: Vec<&'static str>,
    writes: u64,
    struck: Vec<&'static str>,
}

/// Decorator of a [`Store`] in which calls fail by a plan.
///
/// Without a plan it only counts calls.
pub struct FaultyStore {
    inner: Arc<dyn Store>,
    seen: Mutex<CallLog>,
}

impl FaultyStore {
    /// Wraps `inner`; no call fails until a plan is set.
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self {
            inner,
            seen: Mutex::new(CallLog::default()),
        }
    }

    /// Sets or removes the plan; counting starts again.
    pub fn set_plan(&self, plan: Option<FaultPlan>) {
        *self.lock() = CallLog {
            plan,
            ..CallLog::default()
        };
    }

    /// Returns the names of the methods that were called since the plan was set, in order.
    pub fn calls(&self) -> Vec<&'static str> {
        self.lock().calls.clone()
    }

    /// Returns the number of these calls that write.
    pub fn writes(&self) -> u64 {
        self.lock().writes
    }

    /// Returns the names of the calls that the plan struck, in order.
    pub fn faulted_calls(&self) -> Vec<&'static str> {
        self.lock().struck.clone()
    }

    fn lock(&self) -> MutexGuard<'_, CallLog> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call and returns the fault to inject into it.
    fn count(&self, verb: &'static str, access: Access) -> Option<InjectedFault> {
        let mut seen = self.lock();
        seen.calls.push(verb);
        seen.writes += u64::from(access == Write);
        let plan = seen.plan?;
        let number = match plan.calls {
            CountedCalls::All => seen.calls.len() as u64,
            CountedCalls::Writes if access == Write => seen.writes,
            CountedCalls::Writes => return None,
        };
        if number == plan.nth || (plan.lasting && number > plan.nth) {
            seen.struck.push(verb);
            return Some(plan.fault);
        }
        None
    }

    fn call<T>(
        &self,
        verb: &'static str,
        access: Access,
        carry_out: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self.count(verb, access) {
            None => carry_out(),
            Some(InjectedFault::Before(complaint)) => Err(complaint.error()),
            Some(InjectedFault::After(complaint)) => {
                carry_out().and_then(|_| Err(complaint.error()))
            }
            Some(InjectedFault::Delay(time)) => {
                std::thread::sleep(time);
                carry_out()
            }
        }
    }
}

impl InjectedError {
    fn error(self) -> StoreError {
        match self {
            Self::DiskFull => StoreError::DiskFull(INJECTED.to_owned()),
            Self::Io => StoreError::Io {
                action: "use",
                path: PathBuf::from("faulty.db"),
                source: io::Error::other(INJECTED),
            },
            Self::Busy => StoreError::Busy { waited_ms: 1 },
        }
    }
}

impl Store for FaultyStore {
    fn apply(
        &self,
        project: &ProjectName,
        changes: &[Change],
    ) -> Result<Vec<AppliedChange>, StoreError> {
        self.call("apply", Write, || self.inner.apply(project, changes))
    }

    fn get(&self, project: &ProjectName, id: RecordId) -> Result<Record, StoreError> {
        self.call("get", Read, || self.inner.get(project, id))
    }

    fn ids_with_prefix(
        &self,
        project: &ProjectName,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<RecordId>, StoreError> {
        let inner = || self.inner.ids_with_prefix(project, prefix, limit);
        self.call("ids_with_prefix", Read, inner)
    }

    fn find(&self, project: &ProjectName, filter: &Filter) -> Result<Vec<Record>, StoreError> {
        self.call("find", Read, || self.inner.find(project, filter))
    }

    fn count(&self, project: &ProjectName, filter: &Filter) -> Result<u64, StoreError> {
        self.call("count", Read, || self.inner.count(project, filter))
    }

    fn search(
        &self,
        project: &ProjectName,
        search: &SearchQuery,
    ) -> Result<SearchResults, StoreError> {
        self.call("search", Read, || self.inner.search(project, search))
    }

    fn history(&self, project: &ProjectName, id: RecordId) -> Result<Vec<Record>, StoreError> {
        self.call("history", Read, || self.inner.history(project, id))
    }

    fn counts(&self, project: &ProjectName, now: Timestamp) -> Result<KindCounts, StoreError> {
        self.call("counts", Read, || self.inner.counts(project, now))
    }

    fn projects(&self) -> Result<Vec<ProjectName>, StoreError> {
        self.call("projects", Read, || self.inner.projects())
    }

    fn put_session(&self, session: &Session) -> Result<(), StoreError> {
        self.call("put_session", Write, || self.inner.put_session(session))
    }

    fn session(&self, project: &ProjectName, id: &str) -> Result<Session, StoreError> {
        self.call("session", Read, || self.inner.session(project, id))
    }

    fn sessions(
        &self,
        project: &ProjectName,
        task: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        let inner = || self.inner.sessions(project, task, limit);
        self.call("sessions", Read, inner)
    }

    fn append_messages(
        &self,
        project: &ProjectName,
        session: &str,
        messages: &[Message],
    ) -> Result<u64, StoreError> {
        let inner = || self.inner.append_messages(project, session, messages);
        self.call("append_messages", Write, inner)
    }

    fn messages(
        &self,
        project: &ProjectName,
        session: &str,
        from: u64,
        limit: usize,
    ) -> Result<Vec<Message>, StoreError> {
        let inner = || self.inner.messages(project, session, from, limit);
        self.call("messages", Read, inner)
    }

    fn validity_gaps(
        &self,
        project: &ProjectName,
        ids: &[RecordId],
    ) -> Result<Vec<(RecordId, ValidityGap)>, StoreError> {
        self.call("validity_gaps", Read, || {
            self.inner.validity_gaps(project, ids)
        })
    }

    fn turns(
        &self,
        project: &ProjectName,
        ids: &[RecordId],
    ) -> Result<Vec<(String, Message)>, StoreError> {
        self.call("turns", Read, || self.inner.turns(project, ids))
    }

    fn events(
        &self,
        project: &ProjectName,
        record: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        let inner = || self.inner.events(project, record, limit);
        self.call("events", Read, inner)
    }

    fn delivery_stats(
        &self,
        project: &ProjectName,
        newest: RecentReceipts,
        records: &[RecordId],
    ) -> Result<DeliveryStats, StoreError> {
        self.call("delivery_stats", Read, || {
            self.inner.delivery_stats(project, newest, records)
        })
    }

    fn preview_purge(
        &self,
        project: &ProjectName,
        selection: &PurgeTarget,
    ) -> Result<PurgeReport, StoreError> {
        let inner = || self.inner.preview_purge(project, selection);
        self.call("preview_purge", Read, inner)
    }

    fn purge(
        &self,
        project: &ProjectName,
        selection: &PurgeTarget,
        at: Timestamp,
        by: &str,
    ) -> Result<PurgeReport, StoreError> {
        let inner = || self.inner.purge(project, selection, at, by);
        self.call("purge", Write, inner)
    }

    fn backup(&self, file: &Path) -> Result<Description, StoreError> {
        self.call("backup", Read, || self.inner.backup(file))
    }

    fn embedding_backlog(
        &self,
        project: &ProjectName,
        model: &str,
        limit: usize,
    ) -> Result<EmbeddingBacklog, StoreError> {
        let inner = || self.inner.embedding_backlog(project, model, limit);
        self.call("embedding_backlog", Read, inner)
    }

    fn model_vectors(
        &self,
        project: &ProjectName,
        model: &str,
        records: &[RecordId],
    ) -> Result<HashMap<RecordId, Vec<f32>>, StoreError> {
        self.call("model_vectors", Read, || {
            self.inner.model_vectors(project, model, records)
        })
    }

    fn store_vectors(
        &self,
        project: &ProjectName,
        vectors: &VectorBatch,
    ) -> Result<bool, StoreError> {
        self.call("store_vectors", Write, || {
            self.inner.store_vectors(project, vectors)
        })
    }

    fn shared(&self) -> Option<&dyn crate::SharedStore> {
        self.inner.shared()
    }

    fn describe(&self) -> Result<Description, StoreError> {
        self.call("describe", Read, || self.inner.describe())
    }

    fn check(&self) -> Result<Vec<String>, StoreError> {
        self.call("check", Read, || self.inner.check())
    }
}
