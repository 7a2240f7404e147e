//! A store that fails on purpose, for the tests of whoever uses one.
//!
//! Every verb goes through [`FaultyStore::call`] in one line, so that a new verb of [`Store`] is counted and
//! can fail from its first day.

use crate::{
    Applied, Change, Counts, Description, Filter, Found, NewVectors, Newest, Purged, Search,
    Selection, Store, StoreError, Told, Unembedded,
};
use heirloom_model::{Event, Lapse, Message, ProjectName, Record, RecordId, Session, Timestamp};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Words that stand in the message of every injected I/O error.
const INJECTED: &str = "injected on purpose";

/// What a failing call says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Complaint {
    /// [`StoreError::DiskFull`].
    DiskFull,
    /// [`StoreError::Io`].
    Io,
    /// [`StoreError::Busy`].
    Busy,
}

/// What happens to the call that a plan names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mishap {
    /// It fails and has done nothing.
    Before(Complaint),
    /// It does what it was asked, and fails all the same: its caller cannot know.
    After(Complaint),
    /// It succeeds, but takes this much longer.
    Delay(Duration),
}

/// Which calls a plan counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    /// Every call.
    All,
    /// Calls that write.
    Writes,
}

/// What goes wrong, and when. Its `Debug` form is what a failing test prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultPlan {
    /// The first of the counted calls to which it happens, from 1.
    pub nth: u64,
    /// Which calls are counted.
    pub calls: Calls,
    /// What happens to it.
    pub mishap: Mishap,
    /// Whether it happens to every later one too, as on a disk that stays full.
    pub lasting: bool,
}

impl FaultPlan {
    /// `mishap` for the `nth` call of any sort, once.
    pub fn once(nth: u64, mishap: Mishap) -> Self {
        Self {
            nth,
            calls: Calls::All,
            mishap,
            lasting: false,
        }
    }

    /// The same for the `nth` write.
    #[must_use]
    pub fn of_writes(mut self) -> Self {
        self.calls = Calls::Writes;
        self
    }

    /// The same for every later call too.
    #[must_use]
    pub fn lasting(mut self) -> Self {
        self.lasting = true;
        self
    }
}

/// Whether a verb changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}
use Access::{Read, Write};

/// What happened since the plan was set.
#[derive(Debug, Default)]
struct Seen {
    plan: Option<FaultPlan>,
    calls: Vec<&'static str>,
    writes: u64,
    struck: Vec<&'static str>,
}

/// A [`Store`] around another one, in which calls fail by a plan.
///
/// Without a plan it is the store that it wraps, and counts.
pub struct FaultyStore {
    inner: Arc<dyn Store>,
    seen: Mutex<Seen>,
}

impl FaultyStore {
    /// Wraps `inner`; nothing fails until a plan is set.
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self {
            inner,
            seen: Mutex::new(Seen::default()),
        }
    }

    /// Goes by `plan` from now on, or by none; counting begins anew.
    pub fn set_plan(&self, plan: Option<FaultPlan>) {
        *self.lock() = Seen {
            plan,
            ..Seen::default()
        };
    }

    /// The names of the verbs that were called since the plan was set, in order.
    pub fn calls(&self) -> Vec<&'static str> {
        self.lock().calls.clone()
    }

    /// How many of these calls were writes.
    pub fn writes(&self) -> u64 {
        self.lock().writes
    }

    /// The verbs to which the plan's mishap happened, in order.
    pub fn struck(&self) -> Vec<&'static str> {
        self.lock().struck.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call and says what is to happen to it.
    fn count(&self, verb: &'static str, access: Access) -> Option<Mishap> {
        let mut seen = self.lock();
        seen.calls.push(verb);
        seen.writes += u64::from(access == Write);
        let plan = seen.plan?;
        let number = match plan.calls {
            Calls::All => seen.calls.len() as u64,
            Calls::Writes if access == Write => seen.writes,
            Calls::Writes => return None,
        };
        if number == plan.nth || (plan.lasting && number > plan.nth) {
            seen.struck.push(verb);
            return Some(plan.mishap);
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
            Some(Mishap::Before(complaint)) => Err(complaint.error()),
            Some(Mishap::After(complaint)) => carry_out().and_then(|_| Err(complaint.error())),
            Some(Mishap::Delay(time)) => {
                std::thread::sleep(time);
                carry_out()
            }
        }
    }
}

impl Complaint {
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
    fn apply(&self, project: &ProjectName, changes: &[Change]) -> Result<Vec<Applied>, StoreError> {
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

    fn search(&self, project: &ProjectName, search: &Search) -> Result<Found, StoreError> {
        self.call("search", Read, || self.inner.search(project, search))
    }

    fn history(&self, project: &ProjectName, id: RecordId) -> Result<Vec<Record>, StoreError> {
        self.call("history", Read, || self.inner.history(project, id))
    }

    fn counts(&self, project: &ProjectName, now: Timestamp) -> Result<Counts, StoreError> {
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

    fn lapses(
        &self,
        project: &ProjectName,
        ids: &[RecordId],
    ) -> Result<Vec<(RecordId, Lapse)>, StoreError> {
        self.call("lapses", Read, || self.inner.lapses(project, ids))
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

    fn told(
        &self,
        project: &ProjectName,
        newest: Newest,
        records: &[RecordId],
    ) -> Result<Told, StoreError> {
        self.call("told", Read, || self.inner.told(project, newest, records))
    }

    fn purgeable(
        &self,
        project: &ProjectName,
        selection: &Selection,
    ) -> Result<Purged, StoreError> {
        let inner = || self.inner.purgeable(project, selection);
        self.call("purgeable", Read, inner)
    }

    fn purge(
        &self,
        project: &ProjectName,
        selection: &Selection,
        at: Timestamp,
        by: &str,
    ) -> Result<Purged, StoreError> {
        let inner = || self.inner.purge(project, selection, at, by);
        self.call("purge", Write, inner)
    }

    fn backup(&self, file: &Path) -> Result<Description, StoreError> {
        self.call("backup", Read, || self.inner.backup(file))
    }

    fn unembedded(
        &self,
        project: &ProjectName,
        model: &str,
        limit: usize,
    ) -> Result<Unembedded, StoreError> {
        let inner = || self.inner.unembedded(project, model, limit);
        self.call("unembedded", Read, inner)
    }

    fn embed(&self, project: &ProjectName, vectors: &NewVectors) -> Result<bool, StoreError> {
        self.call("embed", Write, || self.inner.embed(project, vectors))
    }

    fn describe(&self) -> Result<Description, StoreError> {
        self.call("describe", Read, || self.inner.describe())
    }

    fn check(&self) -> Result<Vec<String>, StoreError> {
        self.call("check", Read, || self.inner.check())
    }
}
