//! Number of scans of an observed text, and redaction in every record that comes from it.

use crate::Runs;
use heirloom_agents::StreamFormat;
use heirloom_engine::Engine;
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::{FixedClock, Kind, ProjectName, Record, Scope, Settings};
use heirloom_redact::scan_log;
use heirloom_store::{Filter, SqliteStore};
use std::path::PathBuf;
use std::sync::Arc;

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
    engine.records().find(&filter).unwrap()
}

/// Observes an agent's output, and returns the texts that were scanned.
fn scanned_by_observing(engine: &Engine, output: &str) -> Vec<String> {
    scan_log::record(|| {
        let scope = Scope {
            session: Some("session-one".to_owned()),
            agent: Some("agent-one".to_owned()),
            ..Scope::default()
        };
        let mut observer = Runs::new(engine)
            .observer(scope, StreamFormat::Text, false)
            .unwrap();
        observer.push(output.as_bytes(), &mut |_| {}).unwrap();
        observer.finish(&mut |_| {}).unwrap();
    })
}

fn count(scanned: &[String], text: &str) -> usize {
    scanned.iter().filter(|one| *one == text).count()
}

#[test]
fn observed_signal_is_scanned_once() {
    let lines = [
        ("KEY_FACT", "the tests need a running database"),
        ("LEARNING", "run the migration twice"),
        ("STEP_DONE", "wrote the parser"),
        ("STEP_PENDING", "write the printer"),
        ("FILE_MODIFIED", "src/parser.rs"),
        ("ERROR", "the linker was killed"),
        ("BLOCKED", "the key is missing"),
        ("PHASE_RESULT", "the first phase is complete"),
    ];
    for (verb, text) in lines {
        let engine = engine();
        let scanned = scanned_by_observing(&engine, &format!("HEIRLOOM_MEMORY: {verb} {text}\n"));
        assert_eq!(count(&scanned, text), 1, "{verb}: {scanned:?}");
    }
}

#[test]
fn parts_of_observed_signal_are_scanned_once() {
    let engine = engine();
    let output = "HEIRLOOM_MEMORY: DECISION use one table -- joins were slow\n\
                  HEIRLOOM_MEMORY: CONVENTION indent = four blanks\n";
    let scanned = scanned_by_observing(&engine, output);
    for text in [
        "use one table -- joins were slow",
        "use one table",
        "joins were slow",
        "indent = four blanks",
        "indent",
        "four blanks",
    ] {
        assert_eq!(count(&scanned, text), 1, "{text}: {scanned:?}");
    }
}

#[test]
fn names_of_observer_are_scanned_once_for_all_signals() {
    let engine = engine();
    let output: String = (0..20)
        .map(|n| format!("HEIRLOOM_MEMORY: KEY_FACT fact number {n}\n"))
        .collect();
    let scanned = scanned_by_observing(&engine, &output);
    // Once in the scope, and once in the scope of signals that need a task.
    assert_eq!(count(&scanned, "session-one"), 2, "{scanned:?}");
    assert_eq!(records(&engine, Kind::Knowledge).len(), 20);
}

#[test]
fn observed_secret_is_redacted_in_every_stored_text() {
    let (engine, secret) = (engine(), secret());
    let output = format!(
        "HEIRLOOM_MEMORY: KEY_FACT the fact {secret} is here\n\
         HEIRLOOM_MEMORY: DECISION take {secret} -- because of {secret}\n\
         HEIRLOOM_MEMORY: STEP_DONE set {secret}\n\
         HEIRLOOM_MEMORY: ERROR wrong {secret}\n\
         HEIRLOOM_MEMORY: FILE_MODIFIED src/{secret}.rs\n\
         HEIRLOOM_MEMORY: BLOCKED no {secret}\n"
    );
    scanned_by_observing(&engine, &output);
    let kinds = [
        Kind::Knowledge,
        Kind::Step,
        Kind::Error,
        Kind::Artifact,
        Kind::Task,
    ];
    for kind in kinds {
        let found = records(&engine, kind);
        assert!(!found.is_empty(), "{kind}");
        for record in found {
            let stored = format!("{record:?}");
            assert!(!stored.contains(&secret), "{stored}");
        }
    }
}
