//! Tests of proposals with a real store.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_engine::{Engine, NewRecord};
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::{ErrorKind, ProjectName, RecordId, Scope, Settings, SystemClock, limits};
use heirloom_store::SqliteStore;
use std::sync::Arc;

fn open_engine() -> (tempfile::TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let paths = ProjectPaths {
        root: folder.path().to_owned(),
        folder: folder.path().join(".heirloom"),
        config: folder.path().join(".heirloom/config.toml"),
    };
    let store = Arc::new(SqliteStore::memory().unwrap());
    let name = ProjectName::new("p").unwrap();
    let settings = Settings::default();
    let engine = Engine::new(store, name, paths, settings, Arc::new(SystemClock)).unwrap();
    (folder, engine)
}

fn propose(engine: &Engine, key: Option<&str>, scope: Scope) -> RecordId {
    let new = NewRecord {
        text: "Prefers small commits, one reason each.".to_owned(),
        category: Some("preference".to_owned()),
        key: key.map(str::to_owned),
        source: Some("agent:codex".to_owned()),
        scope,
        ..NewRecord::default()
    };
    engine.records().remember(new).unwrap().id
}

#[test]
fn accepted_proposal_is_knowledge_of_person_until_undone() {
    let of_session = Scope {
        session: Some("s-1".to_owned()),
        agent: Some("codex".to_owned()),
        ..Scope::default()
    };
    for scope in [Scope::default(), of_session, Scope::of_task("7")] {
        for key in [None, Some("small-commits")] {
            let (_folder, engine) = open_engine();
            let id = propose(&engine, key, scope.clone());
            assert_eq!(engine.records().proposals().pending().unwrap().len(), 1);
            let accepted = engine.records().proposals().accept(id).unwrap();
            assert!(
                engine.records().proposals().pending().unwrap().is_empty(),
                "{scope:?}"
            );
            let again = engine
                .records()
                .proposals()
                .accept(accepted.id)
                .unwrap_err();
            assert_eq!(again.kind, ErrorKind::Usage);
            engine.records().undo(accepted.id).unwrap();
            assert_eq!(
                engine.records().proposals().pending().unwrap().len(),
                1,
                "{scope:?}"
            );
        }
    }
}

#[test]
fn rejected_proposal_is_retired_until_undone() {
    let (_folder, engine) = open_engine();
    let id = propose(&engine, None, Scope::default());
    let retired = engine.records().proposals().reject(id, "user").unwrap();
    assert!(engine.records().proposals().pending().unwrap().is_empty());
    engine.records().undo(retired).unwrap();
    assert_eq!(engine.records().proposals().pending().unwrap().len(), 1);
}

#[test]
fn newest_proposals_are_listed_up_to_the_limit() {
    let (_folder, engine) = open_engine();
    let most = limits::PROPOSALS_LISTED_MAX;
    for number in 0..most {
        propose(&engine, Some(&format!("k{number}")), Scope::default());
    }
    let pending = || engine.records().proposals().pending().unwrap();
    assert_eq!(pending().len(), most);
    let newest = propose(&engine, Some("newest"), Scope::default());
    assert_eq!(pending().len(), most);
    assert_eq!(pending()[0].id, newest);
}
