//! Tests of ended records: learned records that contexts do not offer any more, with a real store.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_engine::{ContextRequest, EndedRecords, Engine, NewRecord, RecallRequest};
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::context::{Context, InclusionReason};
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::record::Attrs;
use heirloom_model::settings::ContextSelection;
use heirloom_model::{
    Clock, EndReason, Kind, KindData, Mark, MergeRule, ProjectName, Record, RecordId, Scope,
    Session, Settings, Timestamp, limits,
};
use heirloom_search::recall::RecallItem;
use heirloom_store::{Change, SqliteStore};
use serde_json::json;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

const AGENT: &str = "claude-code";
const FAILURE: &str = "`make lint` failed: unknown rule zeppelin";
const DAY: i64 = 86_400;

/// Clock that tests move forward.
#[derive(Debug)]
struct MovedClock(RwLock<Timestamp>);

impl Clock for MovedClock {
    fn now(&self) -> Timestamp {
        *self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Memory {
    engine: Engine,
    clock: Arc<MovedClock>,
    sessions: AtomicI64,
    _folder: tempfile::TempDir,
}

impl Memory {
    fn new() -> Self {
        Self::with_settings(Settings::default())
    }

    fn with_settings(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let paths = ProjectPaths {
            root: folder.path().to_owned(),
            folder: folder.path().join(".heirloom"),
            config: folder.path().join(".heirloom/config.toml"),
        };
        let clock = Arc::new(MovedClock(RwLock::new(
            "2026-06-01T10:00:00Z".parse().unwrap(),
        )));
        let engine = Engine::new(
            Arc::new(SqliteStore::memory().unwrap()),
            ProjectName::new("p").unwrap(),
            paths,
            settings,
            clock.clone(),
        );
        Self {
            engine: engine.unwrap(),
            clock,
            sessions: AtomicI64::new(0),
            _folder: folder,
        }
    }

    fn wait(&self, seconds: i64) {
        let later = self.engine.now() + Duration::from_secs(seconds.try_into().unwrap());
        *self.clock.0.write().unwrap() = later;
    }

    /// Starts a session with these attributes a minute later, and ends the one before; returns its id.
    fn session_with(&self, attrs: Attrs) -> String {
        self.wait(60);
        let before = self.engine.sessions().sessions_of(None, 1).unwrap();
        let is_subagent = attrs.contains_key("parent");
        for mut before in before.into_iter().filter(|_| !is_subagent) {
            before.ended_at = Some(self.engine.now());
            self.engine.sessions().put_session(&before).unwrap();
        }
        let id = format!("s{}", self.sessions.fetch_add(1, Ordering::Relaxed));
        let session = Session {
            project: self.engine.project().clone(),
            id: id.clone(),
            agent: Some(AGENT.to_owned()),
            task: None,
            started_at: self.engine.now(),
            ended_at: None,
            attrs,
        };
        self.engine.sessions().put_session(&session).unwrap();
        self.wait(60);
        id
    }

    fn session(&self) -> String {
        self.session_with(Attrs::new())
    }

    /// Uses the project on each of the next days.
    fn use_days(&self, days: usize) {
        for _ in 0..days {
            self.wait(DAY);
            self.session();
        }
    }

    fn store(&self, record: Record) -> RecordId {
        let change = Change::Put {
            record: Box::new(record),
            merge: MergeRule::Error,
        };
        self.engine.apply(&[change]).unwrap()[0].id
    }

    /// Stores a failure as hooks record it.
    fn fail(&self) -> RecordId {
        self.fail_with(&ErrorRecord::open(), AGENT)
    }

    fn fail_with(&self, typed: &ErrorRecord, source: &str) -> RecordId {
        let records = self.engine.records();
        let mut record = records.draft(Kind::Error, FAILURE, Scope::default(), source);
        record.key = Some("command:0123456789abcdef:0123456789abcdef".to_owned());
        record.attrs = typed.to_attrs();
        self.store(record)
    }

    fn fact(&self, category: &str, text: &str) -> RecordId {
        self.remember(category, text, AGENT, None)
    }

    fn remember(&self, category: &str, text: &str, source: &str, key: Option<&str>) -> RecordId {
        let new = NewRecord {
            text: text.to_owned(),
            category: Some(category.to_owned()),
            source: Some(source.to_owned()),
            key: key.map(str::to_owned),
            ..NewRecord::default()
        };
        self.engine.records().remember(new).unwrap().id
    }

    /// Stores a fact that a session taught; `recorded_at` is the time of the conversation.
    fn learned(
        &self,
        category: &str,
        text: &str,
        session: &str,
        recorded_at: Timestamp,
    ) -> RecordId {
        let records = self.engine.records();
        let mut record = records.draft(Kind::Knowledge, text, Scope::default(), AGENT);
        record.recorded_at = recorded_at;
        record.id = RecordId::from_parts(recorded_at, &[text]);
        let attrs = json!({"category": category, "proposal": true, "lesson": {
            "session": session, "source": "explanation", "speaker": "agent", "worth": 0.5,
            "learned_at": self.engine.now(), "evidence": [],
        }});
        record.attrs = attrs.as_object().unwrap().clone();
        self.store(record)
    }

    fn context(&self) -> Context {
        let request = ContextRequest::default();
        self.engine.contexts().build(&request).unwrap()
    }

    fn is_told(&self, text: &str) -> bool {
        self.context().text.contains(text)
    }

    fn end(&self, id: RecordId) -> Option<EndReason> {
        let record = self.engine.records().get(id).unwrap();
        let ended = EndedRecords::new(&self.engine, None).unwrap();
        ended.reason(&record).unwrap()
    }

    fn is_recalled(&self, id: RecordId, question: &str) -> bool {
        let request = RecallRequest {
            question: question.to_owned(),
            ..RecallRequest::default()
        };
        let found = self.engine.recall().search(&request).unwrap();
        found.hits.iter().any(|hit| match &hit.item {
            RecallItem::Record(record) => record.id == id,
            RecallItem::Turn { .. } => false,
        })
    }
}

fn selections() -> [Settings; 2] {
    [ContextSelection::Worth, ContextSelection::Priority].map(|context_selection| Settings {
        context_selection,
        ..Settings::default()
    })
}

#[test]
fn open_failure_is_told_to_three_later_sessions() {
    for settings in selections() {
        let memory = Memory::with_settings(settings);
        memory.session();
        let id = memory.fail();
        for _ in 0..limits::OPEN_FAILURE_SESSIONS_MAX {
            memory.session();
            assert!(memory.is_told(FAILURE), "{}", memory.context().text);
        }
        // A subagent is no session of its own.
        let mut attrs = Attrs::new();
        attrs.insert("parent".to_owned(), json!("s1"));
        memory.session_with(attrs);
        memory.remember("fact", "The shop sells maps.", "user", None);
        assert!(memory.is_told(FAILURE));
        memory.session();
        let context = memory.context();
        assert!(!context.text.contains(FAILURE), "{}", context.text);
        let ended = context.sections.last().unwrap();
        assert_eq!((ended.name.as_str(), ended.chars), ("Ended", 0));
        let item = &ended.items[0];
        assert_eq!(item.id, Some(id));
        assert_eq!(item.reason, InclusionReason::Ended(EndReason::OldFailure));
        assert_eq!(
            item.reason.text(),
            "ended: no fix is known after 3 sessions"
        );
        assert!(!item.is_included());
        assert!(memory.is_recalled(id, "unknown rule zeppelin"));
        // It occurs again.
        let again = memory.fail();
        assert_eq!((again, memory.end(again)), (id, None));
        assert!(memory.is_told(FAILURE));
    }
}

#[test]
fn failure_ends_as_seen_by_the_session_that_is_told() {
    let memory = Memory::new();
    memory.session();
    let id = memory.fail();
    for _ in 0..limits::OPEN_FAILURE_SESSIONS_MAX {
        memory.session();
    }
    let record = memory.engine.records().get(id).unwrap();
    let reason = |session| {
        let ended = EndedRecords::new(&memory.engine, Some(session)).unwrap();
        ended.reason(&record).unwrap()
    };
    assert_eq!(reason("s3"), None);
    assert_eq!(reason("new"), Some(EndReason::OldFailure));
}

#[test]
fn failure_with_a_fix_of_a_person_or_a_report_does_not_end() {
    let memory = Memory::new();
    let mut reopened = ErrorRecord::open();
    let helped = (ErrorRecord::HELPED.to_owned(), json!("ran `make rules`"));
    reopened.extra.extend([helped]);
    let fixed = memory.fail_with(&reopened, AGENT);
    let errors = memory.engine.errors();
    let report = "the signature of the webhook is wrong";
    let report = errors.log(report, Scope::default(), AGENT).unwrap();
    for _ in 0..5 {
        memory.session();
    }
    for id in [fixed, report.applied.id] {
        assert_eq!(memory.end(id), None);
    }
    let memory = Memory::new();
    let of_person = memory.fail_with(&ErrorRecord::open(), "user");
    let memory_of_pin = Memory::new();
    let pinned = memory_of_pin.fail();
    let mark = Mark::Pinned(true);
    memory_of_pin.engine.records().mark(pinned, mark).unwrap();
    for (memory, id) in [(memory, of_person), (memory_of_pin, pinned)] {
        for _ in 0..5 {
            memory.session();
        }
        assert_eq!(memory.end(id), None);
    }
}

#[test]
fn failure_whose_fix_has_a_replaced_value_ends() {
    let fix = "set `SHOP_DB_URL=sqlite:///:memory:`, then it passed";
    let postgres = "The tests must run with SHOP_DB_URL=postgresql://localhost/shop_test now.";
    let sqlite = "Run the unit tests with SHOP_DB_URL=sqlite:///:memory:.";
    for (rules, source, end) in [
        (&[postgres][..], "user", Some(EndReason::ReplacedFix)),
        // Of two rules one still wants the value.
        (&[postgres, sqlite], "user", None),
        (&[sqlite], "user", None),
        (&[postgres], AGENT, None),
        (&["Stop running the tests with sqlite."], "user", None),
    ] {
        let memory = Memory::new();
        let mut typed = ErrorRecord::open();
        let helped = (ErrorRecord::HELPED.to_owned(), json!(fix));
        typed.extra.extend([helped]);
        let id = memory.fail_with(&typed, AGENT);
        assert_eq!(memory.end(id), None);
        for rule in rules {
            memory.remember("convention", rule, source, None);
        }
        assert_eq!(memory.end(id), end, "{rules:?}");
    }
    let text = EndReason::ReplacedFix.text();
    assert_eq!(
        text,
        "ended: a rule gives the variable of its fix another value"
    );
}

#[test]
fn failure_ends_after_five_successes_of_its_command() {
    let memory = Memory::new();
    let mut id = memory.fail();
    let errors = memory.engine.errors();
    let change = |id: RecordId| {
        let record = memory.engine.records().get(id).unwrap();
        let now = memory.engine.now();
        let again = errors.pass_again_change(&record, now, AGENT);
        (again, errors.pass_change(&record, None, now, AGENT))
    };
    let (again, closed) = change(id);
    assert_eq!(again, None, "an open failure is closed first");
    id = memory.engine.apply(&[closed]).unwrap()[0].id;
    assert_eq!(change(id).0, None, "the same report again is not counted");
    for _ in 1..limits::FAILURE_SUCCESSES_MAX {
        assert_eq!(memory.end(id), None);
        memory.wait(1);
        let again = change(id).0.unwrap();
        id = memory.engine.apply(&[again]).unwrap()[0].id;
    }
    assert_eq!(memory.end(id), Some(EndReason::Contradicted));
    memory.wait(1);
    assert_eq!(change(id).0, None, "it is not counted any more");
    let text = EndReason::Contradicted.text();
    assert_eq!(text, "ended: the command succeeded 5 times since");
    // The next failure is told again.
    memory.wait(60);
    let failed = memory.fail();
    assert_eq!(memory.end(failed), None);
}

#[test]
fn value_of_a_moment_ends_after_thirty_days() {
    const VALUE: &str = "CI run 2048213 passed";
    for settings in selections() {
        let memory = Memory::with_settings(settings);
        let id = memory.fact("fact", VALUE);
        memory.fact("fact", "The dev server listens on port 8080.");
        memory.wait(limits::ONE_OFF_VALUE_DAYS_MAX * DAY);
        assert!(memory.is_told(VALUE));
        memory.wait(1);
        assert!(!memory.is_told(VALUE));
        assert!(memory.is_told("port 8080"));
        assert_eq!(memory.end(id), Some(EndReason::OneOffValue));
        assert!(memory.is_recalled(id, "CI run 2048213"));
        // It is stated again.
        memory.fact("fact", VALUE);
        assert!(memory.is_told(VALUE));
    }
}

#[test]
fn value_of_a_person_with_a_key_or_a_pin_does_not_end() {
    let memory = Memory::new();
    let pinned = memory.fact("fact", "24 tests pass");
    let mark = Mark::Pinned(true);
    memory.engine.records().mark(pinned, mark).unwrap();
    let confirmed = memory.fact("fact", "12 warnings remain");
    memory.remember("fact", "12 warnings remain", "user", None);
    let all = [
        pinned,
        confirmed,
        memory.remember("fact", "CI run 2048213 passed", "user", None),
        memory.remember("fact", "CI run 2048214 passed", AGENT, Some("last run")),
    ];
    memory.wait(400 * DAY);
    for id in all {
        assert_eq!(memory.end(id), None);
    }
}

#[test]
fn unconfirmed_proposal_ends_after_ninety_days_of_use() {
    let memory = Memory::new();
    let text = "The exporter retries with a fixed delay.";
    let ids = ["decision", "learning", "convention"].map(|category| {
        let text = format!("{text} It is a {category}.");
        memory.fact(category, &text)
    });
    let fact = memory.fact("fact", "Orders are stored in Postgres.");
    let useful = memory.fact("learning", "The worker reads the queue of images.");
    let mark = Mark::Useful(true);
    memory.engine.records().mark(useful, mark).unwrap();
    let confirmed = memory.fact("learning", "Discount codes are trimmed first.");
    memory.fact("learning", "Discount codes are trimmed first.");
    // The project is not used for a year.
    memory.wait(365 * DAY);
    memory.use_days(limits::PROPOSAL_USE_DAYS_MAX - 1);
    for id in ids {
        assert_eq!(memory.end(id), None);
    }
    assert!(memory.is_told(text));
    memory.use_days(1);
    for id in ids {
        assert_eq!(memory.end(id), Some(EndReason::UnconfirmedProposal));
    }
    assert!(!memory.is_told(text));
    for id in [fact, useful, confirmed] {
        assert_eq!(memory.end(id), None);
    }
}

#[test]
fn proposal_of_an_old_conversation_is_known_since_it_was_learned() {
    let memory = Memory::new();
    memory.use_days(limits::PROPOSAL_USE_DAYS_MAX + 1);
    let old = "2020-01-01T00:00:00Z".parse().unwrap();
    let id = memory.learned("decision", "Jobs are stored as rows.", "s1", old);
    assert_eq!(memory.end(id), None);
    // Days with a record but without a session count too.
    for day in 0..limits::PROPOSAL_USE_DAYS_MAX {
        assert_eq!(memory.end(id), None);
        memory.wait(DAY);
        memory.remember("fact", &format!("Fact of day {day}"), "user", None);
    }
    memory.wait(1);
    assert_eq!(memory.end(id), Some(EndReason::UnconfirmedProposal));
}

#[test]
fn record_is_unused_after_ninety_days_of_use_since_it_was_stored() {
    let memory = Memory::new();
    let old = "2020-01-01T00:00:00Z".parse().unwrap();
    let id = memory.learned("fact", "Jobs are stored as rows.", "s1", old);
    let unused = || memory.engine.conflicts().review().unwrap().unused;
    assert_eq!(unused(), []);
    memory.wait(365 * DAY);
    memory.use_days(limits::PROPOSAL_USE_DAYS_MAX - 1);
    assert_eq!(unused(), []);
    memory.use_days(1);
    assert_eq!(unused(), [id]);
}

#[test]
fn machine_fact_is_told_on_its_machine() {
    let settings = |home: &str| Settings {
        home: Some(PathBuf::from(home)),
        ..Settings::default()
    };
    for (home, is_told) in [("/home/ann", true), ("/home/ben", false)] {
        let memory = Memory::with_settings(settings(home));
        let mut attrs = Attrs::new();
        attrs.insert("cwd".to_owned(), json!("/home/ann/shop"));
        let session = memory.session_with(attrs);
        let now = memory.engine.now();
        let fact = memory.fact("fact", "The SDK is installed in /home/ann/sdk.");
        let log = memory.learned("fact", "The log is /tmp/build.log.", &session, now);
        for host in [
            "The staging database is db3.internal.example.",
            "The registry is 192.168.1.7:5000.",
            "Deploy with `ssh build@host`.",
        ] {
            let host_fact = memory.learned("fact", host, &session, now);
            let expected = (!is_told).then_some(EndReason::OtherMachine);
            assert_eq!(memory.end(host_fact), expected, "{host}");
            assert_eq!(memory.is_told(host), is_told, "{host}");
        }
        let public = memory.learned("fact", "Packages come from pypi.org.", &session, now);
        assert_eq!(memory.end(public), None);
        let plain = memory.learned("fact", "The log is build.log.", &session, now);
        let said = memory.remember("fact", "My SDK is /home/ann/sdk.", "user", None);
        let expected = (!is_told).then_some(EndReason::OtherMachine);
        assert_eq!((memory.end(fact), memory.end(log)), (expected, expected));
        assert_eq!((memory.end(plain), memory.end(said)), (None, None));
        assert_eq!(memory.is_told("The log is /tmp/build.log."), is_told);
    }
    let memory = Memory::new();
    let fact = memory.fact("fact", "The SDK is installed in /home/ann/sdk.");
    assert_eq!(memory.end(fact), None, "the home folder is not known");
}
