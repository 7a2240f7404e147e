//! Tests of changed minds: what happens to stored statements when a later one replaces them, with a real store.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_engine::{
    ContextRequest, Coverage, Engine, LearnedConversation, LessonBatch, LessonLedger, NewRecord,
};
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_lessons::{Candidate, Lesson, LessonContent, SourceKind, Speaker, Verdict};
use heirloom_model::{FixedClock, Kind, Mark, ProjectName, Record, RecordId, Settings, Timestamp};
use heirloom_store::{Filter, SqliteStore};
use std::sync::Arc;

const INTEGER_CENTS: &str = "Never use floats for money, always integer cents.";
const SQLITE: &str =
    "Always run the tests with SHOP_DB_URL=sqlite:///:memory:, never against the real database.";
const DECIMAL: &str = "Change of plan: from now on use Decimal for money, not integer cents.";
const NO_SQLITE: &str = "No, stop running the tests with sqlite.";
const POSTGRES: &str = "The tests must run with SHOP_DB_URL=postgresql://localhost/shop_test now.";

struct Memory {
    engine: Engine,
    _folder: tempfile::TempDir,
}

impl Memory {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let paths = ProjectPaths {
            root: folder.path().to_owned(),
            folder: folder.path().join(".heirloom"),
            config: folder.path().join(".heirloom/config.toml"),
        };
        let engine = Engine::new(
            Arc::new(SqliteStore::memory().unwrap()),
            ProjectName::new("p").unwrap(),
            paths,
            Settings::default(),
            Arc::new(FixedClock(time("2026-06-01T00:00:00Z"))),
        );
        Self {
            engine: engine.unwrap(),
            _folder: folder,
        }
    }

    /// Stores the lessons of a session, each at a time.
    fn learn(&self, session: &str, lessons: &[(&str, Speaker, &str)]) -> Option<RecordId> {
        let at = lessons.iter().map(|(at, _, _)| time(at));
        let ended_at = at.max().unwrap();
        let conversation = LearnedConversation {
            session,
            source: "claude-code",
            task: "main",
            began_at: ended_at,
            ended_at,
            coverage: Coverage::StoredTurns,
        };
        let lessons: Vec<Lesson> = lessons
            .iter()
            .map(|(at, speaker, text)| lesson(time(at), *speaker, text))
            .collect();
        let mut ledger = LessonLedger::default();
        let service = self.engine.sessions().lessons();
        let report = service
            .reconcile(
                &conversation,
                &lessons,
                &mut ledger,
                &LessonBatch::OfSession,
            )
            .unwrap();
        report.batch
    }

    fn say(&self, session: &str, at: &str, text: &str) -> Option<RecordId> {
        self.learn(session, &[(at, Speaker::Person, text)])
    }

    fn current(&self) -> Vec<Record> {
        let filter = Filter::current(&[Kind::Knowledge], self.engine.now()).oldest_first();
        self.engine.records().find(&filter).unwrap()
    }

    fn texts(&self) -> Vec<String> {
        self.current()
            .into_iter()
            .map(|record| record.text)
            .collect()
    }

    fn context(&self) -> String {
        let request = ContextRequest::default();
        self.engine.contexts().build(&request).unwrap().text
    }
}

fn time(at: &str) -> Timestamp {
    at.parse().unwrap()
}

fn lesson(at: Timestamp, speaker: Speaker, text: &str) -> Lesson {
    Lesson {
        candidate: Candidate {
            source: SourceKind::PersonRule,
            speaker,
            content: LessonContent::Knowledge {
                category: "convention".to_owned(),
                key: None,
                text: text.to_owned(),
                rationale: None,
            },
            worth: 0.9,
            evidence: Vec::new(),
            at: Some(at),
            agent: None,
        },
        verdict: Verdict::Kept,
        opinion: None,
    }
}

const DAY_1: &str = "2026-05-01T10:00:00Z";
const DAY_2: &str = "2026-05-02T10:00:00Z";
const DAY_4: &str = "2026-05-04T10:00:00Z";
const DAY_4_LATER: &str = "2026-05-04T11:00:00Z";

#[test]
fn later_rules_replace_earlier_ones_until_undone() {
    let memory = Memory::new();
    let person = Speaker::Person;
    memory.learn(
        "s1",
        &[(DAY_1, person, INTEGER_CENTS), (DAY_1, person, SQLITE)],
    );
    assert_eq!(memory.texts().len(), 2);
    let old = memory.current();
    let batch = memory.learn(
        "s4",
        &[
            (DAY_4, person, DECIMAL),
            (DAY_4_LATER, person, NO_SQLITE),
            (DAY_4_LATER, person, POSTGRES),
        ],
    );
    let mut texts = memory.texts();
    texts.sort();
    assert_eq!(texts, [DECIMAL, NO_SQLITE, POSTGRES]);
    let context = memory.context();
    assert!(
        !context.contains("always integer cents") && !context.contains("sqlite:///"),
        "{context}"
    );
    assert!(
        context.contains("Decimal") && context.contains("postgresql://"),
        "{context}"
    );
    for known in old {
        let known = memory.engine.records().get(known.id).unwrap();
        assert!(
            known.retired_at.is_some() && known.replaced_by.is_some(),
            "{known:?}"
        );
        assert_eq!(memory.engine.records().history(known.id).unwrap().len(), 2);
    }
    memory.engine.records().undo(batch.unwrap()).unwrap();
    let mut texts = memory.texts();
    texts.sort();
    assert_eq!(texts, [SQLITE, INTEGER_CENTS]);
}

#[test]
fn change_within_one_session_leaves_the_last_rule() {
    let memory = Memory::new();
    let person = Speaker::Person;
    memory.learn(
        "s",
        &[(DAY_1, person, INTEGER_CENTS), (DAY_2, person, DECIMAL)],
    );
    assert_eq!(memory.texts(), [DECIMAL]);
}

#[test]
fn conversation_that_is_learned_later_brings_no_outdated_rule_back() {
    let memory = Memory::new();
    memory.say("s4", DAY_4, DECIMAL);
    memory.say("s1", DAY_1, INTEGER_CENTS);
    assert_eq!(memory.texts(), [DECIMAL]);
}

#[test]
fn opposite_rule_in_another_language_is_no_confirmation() {
    let memory = Memory::new();
    memory.say(
        "s1",
        DAY_1,
        "Bitte immer die Migrationen vor dem Deploy von Hand ausführen.",
    );
    let later = "Bitte nicht immer die Migrationen vor dem Deploy von Hand ausführen.";
    memory.say("s2", DAY_2, later);
    assert_eq!(memory.texts(), [later]);
    assert!(!memory.current()[0].attrs.contains_key("confirmations"));
}

#[test]
fn agent_replaces_no_rule_of_a_person() {
    let memory = Memory::new();
    memory.say("s1", DAY_1, "This service uses loguru.");
    let commit = "Migrate from loguru to stdlib logging";
    memory.learn("s2", &[(DAY_2, Speaker::Program, commit)]);
    assert_eq!(memory.texts().len(), 2);
    // The pair is a question, and only the person's side is told.
    let review = memory.engine.conflicts().review().unwrap();
    assert_eq!(review.contradictions.len(), 1, "{review:?}");
    let context = memory.context();
    assert!(
        context.contains("uses loguru") && !context.contains("Migrate"),
        "{context}"
    );

    let memory = Memory::new();
    memory.learn(
        "s1",
        &[(DAY_1, Speaker::Agent, "This service uses loguru.")],
    );
    memory.learn("s2", &[(DAY_2, Speaker::Program, commit)]);
    assert_eq!(memory.texts(), [commit]);
}

#[test]
fn pinned_and_keyed_statements_stay_and_are_not_told_with_their_opposite() {
    let memory = Memory::new();
    let keyed = NewRecord {
        text: INTEGER_CENTS.to_owned(),
        category: Some("convention".to_owned()),
        key: Some("money".to_owned()),
        ..NewRecord::default()
    };
    memory.engine.records().remember(keyed).unwrap();
    memory.say("s1", "2026-06-01T00:00:00Z", DECIMAL);
    assert_eq!(memory.texts().len(), 2);
    let context = memory.context();
    assert_eq!(context.matches("integer cents").count(), 1, "{context}");
    assert_eq!(
        memory
            .engine
            .conflicts()
            .review()
            .unwrap()
            .contradictions
            .len(),
        1
    );

    let memory = Memory::new();
    memory.say("s1", DAY_1, SQLITE);
    let pinned = memory.current()[0].id;
    memory
        .engine
        .records()
        .mark(pinned, Mark::Pinned(true))
        .unwrap();
    memory.say("s2", DAY_2, POSTGRES);
    assert_eq!(memory.texts().len(), 2);
    let context = memory.context();
    assert!(
        context.contains("sqlite:///") && !context.contains("postgresql://"),
        "{context}"
    );
}

#[test]
fn uncertain_contradiction_is_a_question() {
    let memory = Memory::new();
    let (sqlite, postgres) = (
        "Run the tests with DB_URL=sqlite.",
        "Run the tests with DB_URL=postgres.",
    );
    memory.say("s1", DAY_1, sqlite);
    memory.say("s2", DAY_2, postgres);
    assert_eq!(memory.texts(), [sqlite, postgres]);
    assert_eq!(
        memory
            .engine
            .conflicts()
            .review()
            .unwrap()
            .contradictions
            .len(),
        1
    );
    let context = memory.context();
    assert!(
        context.contains(postgres) && !context.contains(sqlite),
        "{context}"
    );
}

#[test]
fn facts_that_differ_in_code_are_two_and_forms_of_characters_are_one() {
    for (one, other, count) in [
        (
            "Use ./run.sh -v to print the version",
            "Use ./run.sh -V to print the version",
            2,
        ),
        ("call user.save", "call user.save!", 2),
        ("the env is PATH", "the env is Path", 2),
        ("Run the tests.", "run the tests", 1),
        (
            "the café parser is slow",
            "the cafe\u{301} parser is slow",
            1,
        ),
    ] {
        let memory = Memory::new();
        for text in [one, other] {
            let new = NewRecord {
                text: text.to_owned(),
                ..NewRecord::default()
            };
            memory.engine.records().remember(new).unwrap();
        }
        assert_eq!(memory.texts().len(), count, "{one}");
    }
    let memory = Memory::new();
    for key in ["café", "cafe\u{301}"] {
        let new = NewRecord {
            text: "a fact".to_owned(),
            key: Some(key.to_owned()),
            ..NewRecord::default()
        };
        memory.engine.records().remember(new).unwrap();
    }
    assert_eq!(memory.current().len(), 1);
    let filter = Filter::current(&[], memory.engine.now()).key("cafe\u{301}");
    assert_eq!(memory.engine.records().find(&filter).unwrap().len(), 1);
}
