//! A project over a store that fails by plan, and everything that is in it as lines of text.

use heirloom_engine::places::Place;
use heirloom_engine::{Engine, Filter, When};
use heirloom_model::{
    Clock, Embedder, Fault, ProjectName, Purpose, Record, RecordId, Settings, Timestamp, clock,
};
use heirloom_store::{FaultyStore, SqliteStore, Store};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// When the setup of an operation happens: 2026-05-01T10:00:00Z, in seconds.
const BEGINNING: i64 = 1_777_629_600;

/// A clock that a test moves.
#[derive(Debug)]
struct HandClock(AtomicI64);

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        clock::from_micros(self.0.load(Ordering::SeqCst) * 1_000_000)
    }
}

/// A model that knows how long a text is.
struct Lengths;

impl Embedder for Lengths {
    fn model(&self) -> &str {
        "lengths"
    }

    fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>, Fault> {
        Ok(texts
            .iter()
            .map(|text| vec![1.0, text.len() as f32])
            .collect())
    }
}

/// One project.
pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) faulty: Arc<FaultyStore>,
    inner: Arc<SqliteStore>,
    hand: Arc<HandClock>,
    /// What was there when the setup was over.
    known: RefCell<BTreeSet<RecordId>>,
    folder: tempfile::TempDir,
}

/// What of the past counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Past {
    /// All of it.
    Whole,
    /// What came and is retired is the trace of an import that was taken back, or a past that it brought.
    WithoutTakenBack,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::beginning(BEGINNING)
    }

    /// A project a day before every other, so that its ids come before all of theirs.
    pub(crate) fn the_day_before() -> Self {
        Self::beginning(BEGINNING - 86_400)
    }

    fn beginning(second: i64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let inner = Arc::new(SqliteStore::memory().unwrap());
        let faulty = Arc::new(FaultyStore::new(inner.clone()));
        let hand = Arc::new(HandClock(AtomicI64::new(second)));
        let place = Place {
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

    /// What comes now comes a minute later.
    pub(crate) fn later(&self) {
        self.hand.0.fetch_add(60, Ordering::SeqCst);
        self.known
            .replace(self.all().iter().map(|record| record.id).collect());
    }

    /// What comes now comes so many days later.
    pub(crate) fn days_later(&self, days: i64) {
        self.hand.0.fetch_add(days * 86_400, Ordering::SeqCst);
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The newest record that says `text`, whatever became of it; no faults reach this question.
    pub(crate) fn named(&self, text: &str) -> RecordId {
        let mut all = self.all();
        all.retain(|record| record.text == text);
        all.last()
            .unwrap_or_else(|| panic!("no record says `{text}`"))
            .id
    }

    /// The first record that ever was, be it deleted since.
    pub(crate) fn first(&self) -> RecordId {
        let known = self.known.borrow();
        *known.first().unwrap()
    }

    pub(crate) fn all(&self) -> Vec<Record> {
        let ever = Filter {
            when: When::Ever,
            ..Filter::current(&[], self.hand.now()).oldest_first()
        };
        self.inner.find(self.engine.project(), &ever).unwrap()
    }

    /// Everything that the store holds, past included. Ids are named by what they belong to, so that two
    /// worlds in which the same happened give the same lines.
    pub(crate) fn dump(&self, past: Past) -> String {
        let project = self.engine.project();
        let mut all = self.all();
        if past == Past::WithoutTakenBack {
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
                when: When::AsOf(then),
                ..Filter::current(&[], then).oldest_first()
            };
            let found = self.inner.find(project, &filter).unwrap();
            let found = found.iter().filter_map(|r| names.get(&r.id));
            let found: Vec<&String> = found.collect();
            writeln!(out, "{back} s ago: {found:?}").unwrap();
        }
        let lack = self.inner.unembedded(project, "lengths", 0).unwrap();
        // An import that was taken back may come back with the vectors that it had.
        if past == Past::Whole {
            writeln!(
                out,
                "{} of {} texts lack a vector",
                lack.missing, lack.texts
            )
            .unwrap();
        }
        for (n, session) in sessions.iter().enumerate() {
            writeln!(
                out,
                "session {n}: {:?} {:?} {} {:?} {:?}",
                session.agent, session.task, session.started_at, session.ended_at, session.attrs
            )
            .unwrap();
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

    /// What the mirror says, if there is one.
    pub(crate) fn mirror(&self) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join(".heirloom/memory.json")).ok()
    }

    /// Fails if the store is damaged.
    pub(crate) fn sound(&self) {
        assert_eq!(self.inner.check().unwrap(), Vec::<String>::new());
    }
}

fn names(all: &[Record]) -> BTreeMap<RecordId, String> {
    let mut seen = BTreeMap::new();
    let mut name = |record: &Record| {
        let said = format!("{} `{}`", record.kind, record.text);
        let n = seen.entry(said.clone()).or_insert(0);
        *n += 1;
        (record.id, format!("{said} #{n}"))
    };
    all.iter().map(&mut name).collect()
}

fn record_line(out: &mut String, record: &Record, names: &BTreeMap<RecordId, String>) {
    // An import leaves out what has another record here; who points there points nowhere.
    let name = |id| names.get(&id).map_or("nobody here", String::as_str);
    let by = record.replaced_by.map(name);
    let mut attrs = record.attrs.clone();
    // How long a process ran is never the same twice.
    attrs.remove("duration_ms");
    // Of an entry that is shared these are made of an id.
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
