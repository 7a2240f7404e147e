//! Data that programs store for themselves: it is in no context.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use heirloom_engine::{ContextRequest, Engine, NewRecord, NewTurn};
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::settings::ContextSelection;
use heirloom_model::{FixedClock, ProjectName, Role, Settings};
use heirloom_store::{Filter, SqliteStore};
use std::path::Path;
use std::sync::Arc;

fn engine(root: &Path, selection: ContextSelection) -> Engine {
    let place = ProjectPaths {
        folder: root.join(".heirloom"),
        config: root.join(".heirloom/config.toml"),
        root: root.to_owned(),
    };
    Engine::new(
        Arc::new(SqliteStore::memory().unwrap()),
        ProjectName::new("p").unwrap(),
        place,
        Settings {
            context_selection: selection,
            ..Settings::default()
        },
        Arc::new(FixedClock("2026-05-01T10:00:00Z".parse().unwrap())),
    )
    .unwrap()
}

fn remember(engine: &Engine, text: &str, category: &str, machine: bool) {
    let new = NewRecord {
        text: text.to_owned(),
        category: Some(category.to_owned()),
        machine,
        ..NewRecord::default()
    };
    engine.records().remember(new).unwrap();
}

fn add_turn(engine: &Engine, text: &str, machine: bool) {
    let turn = NewTurn {
        role: Role::System,
        sender: None,
        task: None,
        agent: None,
        text: text.to_owned(),
        machine,
    };
    engine.sessions().add_turn("talk", &turn).unwrap();
}

#[test]
fn bookkeeping_is_in_no_context() {
    for selection in [ContextSelection::Worth, ContextSelection::Priority] {
        let root = tempfile::tempdir().unwrap();
        let engine = engine(root.path(), selection);
        remember(&engine, "the harbour office closes at noon", "fact", false);
        // More of it than a context considers of the newest records.
        for n in 0..300 {
            let value = format!(r#"{{"harbour": {n}, "office": "visited"}}"#);
            remember(&engine, &value, "langgraph", true);
        }
        remember(&engine, r#"{"harbour": "learned"}"#, "learning", true);
        add_turn(&engine, r#"{"removed": {"harbour": 3}}"#, true);
        add_turn(&engine, "we moved the harbour office", false);
        for query in [
            None,
            Some("when does the harbour office close"),
            Some("removed"),
        ] {
            let request = ContextRequest {
                query: query.map(str::to_owned),
                session: Some("talk".to_owned()),
                ..ContextRequest::default()
            };
            let context = engine.contexts().build(&request).unwrap();
            assert!(!context.text.contains('{'), "{query:?}: {}", context.text);
            assert!(
                query == Some("removed") || context.text.contains("closes at noon"),
                "{query:?}: {}",
                context.text
            );
        }
        // It is stored, and found by its category.
        let stored = Filter::current(&[heirloom_model::Kind::Knowledge], engine.now());
        let stored = engine
            .records()
            .find(&stored.category("langgraph"))
            .unwrap();
        assert!(!stored.is_empty() && stored.iter().all(|one| one.is_bookkeeping()));
    }
}
