//! Records and conversations are searched apart: what a project has said changes no answer about what it knows.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use heirloom_engine::{
    ContextRequest, ConversationHits, Engine, NewRecord, NewTurn, QuerySyntax, RecallReport,
    RecallRequest,
};
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::{Budget, FixedClock, ProjectName, Role, Settings, limits};
use heirloom_store::SqliteStore;
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

const FACTS: [&str; 8] = [
    "Tests: `cargo nextest run`, never `cargo test`",
    "The staging database is read-only on Fridays",
    "Invoices are rounded half up, in integer cents",
    "The parser fails on tabs",
    "Deploys need a token from the vault",
    "The frontend builds with pnpm and Node 20",
    "Feature flags are in config/flags.yaml",
    "Sessions expire after thirty minutes",
];
const QUESTIONS: [&str; 5] = [
    "how do I run the tests",
    "why does the deploy fail",
    "where are the feature flags",
    "which package manager builds the frontend",
    "what is the capital of France",
];

fn engine(root: &Path) -> Engine {
    let place = ProjectPaths {
        folder: root.join(".heirloom"),
        config: root.join(".heirloom/config.toml"),
        root: root.to_owned(),
    };
    let engine = Engine::new(
        Arc::new(SqliteStore::memory().unwrap()),
        ProjectName::new("p").unwrap(),
        place,
        Settings::default(),
        Arc::new(FixedClock("2026-05-01T10:00:00Z".parse().unwrap())),
    );
    let engine = engine.unwrap();
    for text in FACTS {
        let new = NewRecord {
            text: text.to_owned(),
            ..NewRecord::default()
        };
        engine.records().remember(new).unwrap();
    }
    engine
}

fn add_turn(engine: &Engine, session: &str, role: Role, text: &str) {
    let turn = NewTurn {
        role,
        sender: None,
        task: None,
        agent: None,
        text: text.to_owned(),
        machine: false,
    };
    engine.sessions().add_turn(session, &turn).unwrap();
}

fn ask(engine: &Engine, question: &str, conversations: ConversationHits) -> RecallReport {
    let request = RecallRequest {
        question: question.to_owned(),
        syntax: QuerySyntax::Words,
        conversations,
        ..RecallRequest::default()
    };
    let report = engine.recall().search(&request).unwrap();
    RecallReport {
        took_us: 0,
        ..report
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn conversations_change_no_answer_of_memory(
        turns in prop::collection::vec(("[a-z]{2,9}", 0..FACTS.len(), any::<bool>()), 1..40),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path());
        let answers = |engine: &Engine| -> Vec<RecallReport> {
            let asked = QUESTIONS.iter();
            asked.map(|question| ask(engine, question, ConversationHits::Nothing)).collect()
        };
        let before = answers(&engine);
        for (word, fact, is_copy) in &turns {
            let text = match is_copy {
                true => FACTS[*fact].to_owned(),
                false => format!("Now run all the tests of the {word} deploy"),
            };
            add_turn(&engine, word, Role::User, &text);
        }
        prop_assert_eq!(answers(&engine), before);
    }
}

#[test]
fn answer_has_records_and_the_best_turn_of_three_conversations() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    for session in ["a", "b", "c", "d"] {
        add_turn(
            &engine,
            session,
            Role::User,
            "the parser of the tests breaks on tabs",
        );
        add_turn(
            &engine,
            session,
            Role::Assistant,
            "Let me look at the parser and its tabs.",
        );
        add_turn(
            &engine,
            session,
            Role::Assistant,
            "The parser counts a tab as one column.",
        );
    }
    let found = ask(
        &engine,
        "why does the parser break on tabs",
        ConversationHits::Best,
    );
    assert_eq!(found.hits[0].item.text(), "The parser fails on tabs");
    assert_eq!(
        found.conversations.len(),
        limits::RECALL_CONVERSATIONS,
        "{found:?}"
    );
    let texts: Vec<&str> = found
        .conversations
        .iter()
        .map(|hit| hit.item.text())
        .collect();
    assert!(
        texts.iter().all(|text| !text.starts_with("Let me")),
        "{texts:?}"
    );
    // The question itself is no answer to it.
    add_turn(
        &engine,
        "e",
        Role::User,
        "Why does the parser break on tabs?",
    );
    let all = ask(
        &engine,
        "why does the parser break on tabs",
        ConversationHits::All,
    );
    let mut turns = all.conversations.iter().map(|hit| hit.item.text());
    assert!(turns.all(|text| text != "Why does the parser break on tabs?"));
}

#[test]
fn context_takes_turns_only_if_no_record_answers() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path());
    let context = |query: &str| {
        let request = ContextRequest {
            query: Some(query.to_owned()),
            budget: Some(Budget::Chars(1_000)),
            ..ContextRequest::default()
        };
        engine.contexts().build(&request).unwrap().text
    };
    add_turn(
        &engine,
        "a",
        Role::User,
        "the parser of invoices breaks on tabs, I have seen it",
    );
    assert!(!context("why does the parser break on tabs").contains("I have seen it"));
}
