//! Files of a workspace and what becomes of them, over a store in memory.

use super::*;
use crate::places::Place;
use heirloom_model::{FixedClock, ProjectName, Settings};
use heirloom_store::SqliteStore;
use std::sync::Arc;
use tempfile::TempDir;

fn engine() -> (Engine, TempDir) {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join(".heirloom");
    let place = Place {
        root: root.path().to_owned(),
        config: folder.join("config.toml"),
        folder,
    };
    let store = Arc::new(SqliteStore::memory().unwrap());
    let name = ProjectName::new("p").unwrap();
    let clock = Arc::new(FixedClock("2026-05-01T10:00:00Z".parse().unwrap()));
    let engine = Engine::new(store, name, place, Settings::default(), clock).unwrap();
    (engine, root)
}

fn page(engine: &Engine, path: &str, text: &str) {
    let path = engine.folder.join(path);
    files::make_folder_of(&path).unwrap();
    durable::write_atomic(&path, text.as_bytes()).unwrap();
}

fn lines(range: std::ops::Range<usize>, end: &str) -> String {
    let line = |n| format!("- the words of entry number {n}, which are many{end}\n");
    range.map(line).collect()
}

#[test]
fn so_many_edits_are_looked_at() {
    // As many as their square.
    let most = (1..)
        .take_while(|n| n * n <= limits::WORKSPACE_PAIRS_MAX)
        .last()
        .unwrap();
    for (many, replaced) in [(most, most), (most + 1, 0)] {
        let (engine, _root) = engine();
        page(&engine, "workspace/MEMORY.md", &lines(0..many, ""));
        assert_eq!(engine.sync_workspace().unwrap().created, many);
        page(&engine, "workspace/MEMORY.md", &lines(0..many, " now"));
        let report = engine.sync_workspace().unwrap();
        assert_eq!(
            (report.replaced, report.created, report.retired),
            (replaced, many - replaced, many - replaced)
        );
    }
}

#[test]
fn so_many_entries_are_records() {
    let (engine, _root) = engine();
    let most = limits::WORKSPACE_ITEMS_MAX;
    page(&engine, "workspace/MEMORY.md", &"- x\n".repeat(most));
    let scanned = engine.scan();
    assert_eq!((scanned.wants.len(), scanned.notes.len()), (most, 0));
    page(&engine, "workspace/MEMORY.md", &"- x\n".repeat(most + 1));
    let scanned = engine.scan();
    assert_eq!(scanned.wants.len(), most);
    assert!(
        scanned.notes[0].contains(&most.to_string()),
        "{:?}",
        scanned.notes
    );
}

#[test]
fn so_many_files_are_looked_at() {
    let (engine, _root) = engine();
    for n in 0..limits::WORKSPACE_FILES_MAX {
        page(&engine, &format!("shared/c{n}.md"), "");
    }
    assert_eq!(engine.scan().notes, Vec::<String>::new());
    page(&engine, "shared/one-more.md", "- x\n");
    let scanned = engine.scan();
    assert!(
        scanned.notes[0].contains(&limits::WORKSPACE_FILES_MAX.to_string()),
        "{:?}",
        scanned.notes
    );
}

#[test]
fn forms_say_nothing() {
    for page in PAGES {
        assert!(says_nothing(page.template), "{}", page.path);
    }
    assert!(says_nothing("# a\n<!-- b\n- c\n-->\n## d <!-- e -->\n"));
    assert!(!says_nothing("<!-- a --> b\n"));
    assert!(!says_nothing("# a\n<!-- b -->\n- c\n"));
}

#[test]
fn what_others_call_so_is_left_alone() {
    let (engine, _root) = engine();
    let note = crate::NewRecord {
        text: "mine".to_owned(),
        kind: Some(heirloom_model::Kind::Note),
        category: Some("workspace".to_owned()),
        ..crate::NewRecord::default()
    };
    let id = engine.remember(note).unwrap().id;
    page(&engine, "workspace/MEMORY.md", "- x\n");
    assert_eq!(engine.sync_workspace().unwrap().retired, 0);
    assert!(engine.get(id).unwrap().retired_at.is_none());
}
