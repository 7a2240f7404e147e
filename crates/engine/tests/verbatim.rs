//! A record that has a short question word for word comes first, however common its words are.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use heirloom_engine::{Engine, NewRecord, QuerySyntax, RecallRequest};
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::{FixedClock, ProjectName, Settings, limits};
use heirloom_store::SqliteStore;
use std::sync::Arc;

const TARGET: &str =
    "After the upgrade the left pane title was cut off in the narrow layout of the report page";

/// Returns an engine with the target and records that have each of its words more often.
fn engine(others: usize) -> (tempfile::TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_owned();
    let place = ProjectPaths {
        folder: root.join(".heirloom"),
        config: root.join(".heirloom/config.toml"),
        root,
    };
    let engine = Engine::new(
        Arc::new(SqliteStore::memory().unwrap()),
        ProjectName::new("p").unwrap(),
        place,
        Settings::default(),
        Arc::new(FixedClock("2026-05-01T10:00:00Z".parse().unwrap())),
    )
    .unwrap();
    let texts = (0..others).map(|n| format!("title pane left left title pane {n}"));
    for text in texts.chain([TARGET.to_owned()]) {
        let new = NewRecord {
            text,
            ..NewRecord::default()
        };
        engine.records().remember(new).unwrap();
    }
    (folder, engine)
}

fn first(engine: &Engine, question: &str, syntax: QuerySyntax) -> String {
    let request = RecallRequest {
        question: question.to_owned(),
        syntax,
        ..RecallRequest::default()
    };
    let report = engine.recall().search(&request).unwrap();
    report.hits[0].item.text().to_owned()
}

#[test]
fn record_with_the_words_in_order_is_the_first() {
    let (_folder, engine) = engine(limits::RECALL_VERBATIM_CANDIDATES - 1);
    for question in ["left pane title", "Left, pane: title?"] {
        assert_eq!(first(&engine, question, QuerySyntax::Question), TARGET);
    }
    // A prompt has other evidence, and its hook no time for a further search.
    assert_ne!(
        first(&engine, "left pane title", QuerySyntax::Words),
        TARGET
    );
}

#[test]
fn record_behind_the_searched_ones_is_not_found() {
    let (_folder, engine) = engine(limits::RECALL_VERBATIM_CANDIDATES);
    assert_ne!(
        first(&engine, "left pane title", QuerySyntax::Question),
        TARGET
    );
}
