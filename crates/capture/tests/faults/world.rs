//! A project over a store with fault injection, and a text dump of its content.

use heirloom_engine::{AsOf, Engine, Filter};
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::{
    Clock, EmbedPurpose, Embedder, Fault, ProjectName, Record, RecordId, Settings, Timestamp, clock,
};
use heirloom_store::{FaultyStore, SqliteStore, Store};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Time of an operation's setup: 2026-05-01T10:00:00Z, in seconds.
const BEGINNING: i64 = 1_777_629_600;

/// A clock that the test sets.
#[derive(Debug)]
struct HandClock(AtomicI64);

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        clock::from_micros(self.0.load(Ordering::SeqCst) * 1_000_000)
    }
}

/// An embedder that encodes the length of a text.
struct Lengths;

impl Embedder for Lengths {
    fn model(&self) -> &str {
        "lengths"
    }

    fn embed(&self, texts: &[&str], _: EmbedPurpose) -> Result<Vec<Vec<f32>>, Fault> {
        Ok(texts
            .iter()
            .map(|text| vec![1.0, text.len() as f32])
            .collect())
    }
}

/// A project with its store, clock and folders.
pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) faulty: Arc<FaultyStore>,
    inner: Arc<SqliteStore>,
    hand: Arc<HandClock>,
    /// Records that exist after the setup.
    known: RefCell<BTreeSet<RecordId>>,
    folder: tempfile::TempDir,
}

/// History that is included in a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Past {
    /// All of it.
    Whole,
    /// Without retired records of a reverted import, and without the history that an import brought.
    WithoutReverted,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::beginning(BEGINNING)
    }

    /// Creates a project one day before all others, so that its ids sort first.
    pub(crate) fn one_day_earlier() -> Self {
        Self::beginning(BEGINNING - 86_400)
    }

    fn beginning(second: i64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let inner = Arc::new(SqliteStore::memory().unwrap());
        let faulty = Arc::new(FaultyStore::new(inner.clone()));
        let hand = Arc::new(HandClock(AtomicI64::new(second)));
        let place = ProjectPaths {
            root: folder.path().to_owned(),
            folder: folder.path().join(".heirloom"),
            config: folder.path().join(".heirloom/config.toml"),
        };
        let settings = Settings {
            max_entries: 4,
            ..Settings::default()
        };
        let name = ProjectName::new("p").unwrap();
        let engine = Engine::new(faulty.clone(), name, place, settings, hand.clone()).unwrap();
        let engine = engine.with_embedder(Box::new(Lengths));
        Self {
            engine,
            faulty,
            inner,
            hand,
            known: RefCell::default(),
            folder,
        }
    }

    /// Returns an engine of the project with a sentence transformer.
    pub(crate) fn with_sentence_model(&self) -> Engine {
        self.engine.shared().with_sentence_model(Arc::new(Lengths))
    }

    /// Moves the clock by one minute.
    pub(crate) fn advance_minute(&self) {
        self.hand.0.fetch_add(60, Ordering::SeqCst);
        self.known
            .replace(self.all().iter().map(|record| record.id).collect());
    }

    /// Moves the clock by this number of days.
    pub(crate) fn advance_days(&self, days: i64) {
        self.hand.0.fetch_add(days * 86_400, Ordering::SeqCst);
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the newest record with this text, in any state; without faults.
    pub(crate) fn named(&self, text: &str) -> RecordId {
        let mut all = self.all();
        all.retain(|record| record.text == text);
        all.last()
            .unwrap_or_else(|| panic!("no record has the text `{text}`"))
            .id
    }

    /// Returns the first record ever written, even if it was deleted.
    pub(crate) fn first(&self) -> RecordId {
        let known = self.known.borrow();
        *known.first().unwrap()
    }

    pub(crate) fn all(&self) -> Vec<Record> {
        let ever = Filter {
            as_of: AsOf::Ever,
            ..Filter::current(&[], self.hand.now()).oldest_first()
        };
        self.inner.find(self.engine.project(), &ever).unwrap()
    }

    /// Returns everything in the store as text, including history. Ids are replaced by names, so that equal contents
    /// give equal dumps.
    pub(crate) fn dump(&self, past: Past) -> String {
        let project = self.engine.project();
        let mut all = self.all();
        if past == Past::WithoutReverted {
            let known = self.known.borrow();
            all.retain(|record| record.retired_at.is_none() || known.contains(&record.id));
        }
        let names = names(&all);
        let mut sessions = self.inner.sessions(project, None, 1_000).unwrap();
        sessions.reverse();
        let mut out = String::new();
        for record in &all {
            record_line(&mut out, record, &names);
        }
        for back in [0, 1, 60, 120] {
            let then = clock::from_micros((self.hand.now().as_second() - back) * 1_000_000);
            let filter = Filter {
                as_of: AsOf::Past(then),
                ..Filter::current(&[], then).oldest_first()
            };
            let found = self.inner.find(project, &filter).unwrap();
            let found = found.iter().filter_map(|r| names.get(&r.id));
            let found: Vec<&String> = found.collect();
            writeln!(out, "{back} s ago: {found:?}").unwrap();
        }
        let lack = self.inner.embedding_backlog(project, "lengths", 0).unwrap();
        // A reverted import may be restored with its vectors.
        if past == Past::Whole {
            writeln!(
                out,
                "{} of {} texts lack a vector",
                lack.missing, lack.texts
            )
            .unwrap();
        }
        for (n, session) in sessions.iter().enumerate() {
            let mut line = format!(
                "session {n}: {:?} {:?} {} {:?} {:?}",
                session.agent, session.task, session.started_at, session.ended_at, session.attrs
            );
            for (id, name) in &names {
                line = line.replace(&id.to_string(), name);
            }
            writeln!(out, "{line}").unwrap();
            let turns = self.inner.messages(project, &session.id, 0, 1_000).unwrap();
            out = out.replace(&*self.root().to_string_lossy(), "<root>");
            for turn in turns {
                writeln!(
                    out,
                    "  {} {} {:?} {:?}",
                    turn.seq, turn.role, turn.sender, turn.text
                )
                .unwrap();
            }
            out = out.replace(&session.id, &format!("<session {n}>"));
        }
        out
    }

    /// Returns the content of the mirror, if it exists.
    pub(crate) fn mirror(&self) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join(".heirloom/memory.json")).ok()
    }

    /// Checks the integrity of the store.
    pub(crate) fn check_integrity(&self) {
        assert_eq!(self.inner.check().unwrap(), Vec::<String>::new());
    }
}

fn names(all: &[Record]) -> BTreeMap<RecordId, String> {
    let mut seen = BTreeMap::new();
    let mut name = |record: &Record| {
        let output = format!("{} `{}`", record.kind, record.text);
        let n = seen.entry(output.clone()).or_insert(0);
        *n += 1;
        (record.id, format!("{output} #{n}"))
    };
    all.iter().map(&mut name).collect()
}

fn record_line(out: &mut String, record: &Record, names: &BTreeMap<RecordId, String>) {
    // An import skips records that exist here; references to them are unresolved.
    let name = |id| names.get(&id).map_or("nobody here", String::as_str);
    let by = record.replaced_by.map(name);
    let mut attrs = record.attrs.clone();
    // The duration of a process varies.
    attrs.remove("duration_ms");
    // The entry of a shared file contains an id.
    attrs.remove("entry");
    attrs.remove("digest");
    writeln!(
        out,
        "{}: {:?} {} {} {} {} {} {:?}-{:?} retired {:?} by {by:?} until {:?} {}",
        names[&record.id],
        record.key,
        serde_json::Value::Object(attrs),
        record.source,
        record.confidence.get(),
        record.tokens,
        record.recorded_at,
        record.true_from,
        record.true_to,
        record.retired_at,
        record.expires_at,
        scope(record),
    )
    .unwrap();
}

fn scope(record: &Record) -> String {
    let names = record.scope.names();
    let named: Vec<_> = names
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", value?)))
        .collect();
    format!("{named:?} {:?}", record.scope.iteration)
}
