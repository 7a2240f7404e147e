//! Number of scans of a text, and redaction of changes without a proof.

use crate::engine::{Engine, apply_redacted};
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::{FixedClock, Kind, ProjectName, Record, Scope, Settings};
use heirloom_redact::scan_log;
use heirloom_store::{Change, Filter, SqliteStore};
use std::path::PathBuf;
use std::sync::Arc;

use super::super::NewRecord;

/// Secret in a form that no scanner of this repository's sources recognises.
fn secret() -> String {
    format!("ghp_{}", "a1B2c3D4e5".repeat(4).split_at(36).0)
}

fn engine() -> Engine {
    let root = PathBuf::from("/dev/null/no-files");
    let place = ProjectPaths {
        config: root.join("config.toml"),
        folder: root.clone(),
        root,
    };
    let store = Arc::new(SqliteStore::memory().unwrap());
    let name = ProjectName::new("p").unwrap();
    let clock = Arc::new(FixedClock("2026-05-01T10:00:00Z".parse().unwrap()));
    let settings = Settings {
        enabled: true,
        ..Settings::default()
    };
    Engine::new(store, name, place, settings, clock).unwrap()
}

fn records(engine: &Engine, kind: Kind) -> Vec<Record> {
    let filter = Filter::current(&[kind], engine.now());
    engine.store.find(engine.project(), &filter).unwrap()
}

fn count(scanned: &[String], text: &str) -> usize {
    scanned.iter().filter(|one| *one == text).count()
}

#[test]
fn remembered_text_is_scanned_once_and_kinds_are_reported() {
    let engine = engine();
    let new = |text: &str| NewRecord {
        text: text.to_owned(),
        rationale: Some("the reason of it".to_owned()),
        ..NewRecord::default()
    };
    let scanned =
        scan_log::record(|| drop(engine.records().remember(new("the text of it")).unwrap()));
    assert_eq!(count(&scanned, "the text of it"), 1, "{scanned:?}");
    assert_eq!(count(&scanned, "the reason of it"), 1, "{scanned:?}");
    let remembered = engine
        .records()
        .remember(new(&format!("it is {}", secret())))
        .unwrap();
    assert_eq!(remembered.redacted, ["github-token"]);
}

#[test]
fn change_without_proof_is_redacted_by_store() {
    let (engine, secret) = (engine(), secret());
    let mut record = engine
        .records()
        .draft(Kind::Note, &secret, Scope::default(), &secret);
    record.key = Some(format!("key {secret}"));
    record.scope.task = Some(format!("task {secret}"));
    record
        .attrs
        .insert("category".to_owned(), secret.clone().into());
    let (record, merge) = (Box::new(record), heirloom_model::MergeRule::Replace);
    engine.apply(&[Change::Put { record, merge }]).unwrap();
    let stored = format!("{:?}", records(&engine, Kind::Note));
    assert!(stored.contains("redacted:github-token"), "{stored}");
    assert!(!stored.contains(&secret), "{stored}");
}

#[test]
fn text_that_proof_does_not_cover_is_redacted() {
    let (engine, secret) = (engine(), secret());
    let new = NewRecord {
        text: "a fact".to_owned(),
        ..NewRecord::default()
    };
    let new =
        engine
            .redaction()
            .redact_new_record(new, super::RedactedTexts::NONE, &mut Vec::new());
    let Change::Put { mut record, merge } = engine.records().change_of_redacted(&new).unwrap()
    else {
        panic!("not a new record");
    };
    record
        .attrs
        .insert("rationale".to_owned(), secret.clone().into());
    record.text = format!("a fact {secret}");
    let change = engine
        .redaction()
        .redact_change_of(Change::Put { record, merge }, &new);
    apply_redacted(&engine, vec![change]).unwrap();
    let stored = format!("{:?}", records(&engine, Kind::Knowledge));
    assert!(
        stored.contains("a fact [redacted:github-token]"),
        "{stored}"
    );
    assert!(!stored.contains(&secret), "{stored}");
}

#[test]
fn plan_is_stored_and_found_without_its_stage() {
    let engine = engine();
    let of_plan = |plan: &str| Scope {
        plan: Some(plan.to_owned()),
        ..Scope::default()
    };
    for (kind, plan) in [(Kind::Knowledge, "wip/REQ-1"), (Kind::Output, "done/REQ-1")] {
        let new = NewRecord {
            text: format!("the {} of the plan", kind.as_str()),
            kind: Some(kind),
            source: Some("coder".to_owned()),
            scope: of_plan(plan),
            ..NewRecord::default()
        };
        engine.records().remember(new).unwrap();
        for plan in ["REQ-1", "wip/REQ-1", "other/REQ-1"] {
            let filter = Filter::current(&[kind], engine.now()).scope(of_plan(plan));
            let found = engine.records().find(&filter).unwrap();
            assert_eq!(found.len(), 1, "{plan}");
            assert_eq!(found[0].scope.plan.as_deref(), Some("REQ-1"));
        }
    }
    let output = &records(&engine, Kind::Output)[0];
    let key = heirloom_model::kinds::Output::key("REQ-1", "coder");
    assert_eq!(output.key.as_deref(), Some(key.as_str()));
    let scope = engine.redaction().redact_scope(of_plan("wip/REQ-1"));
    assert_eq!(scope.plan.as_deref(), Some("REQ-1"));
}
