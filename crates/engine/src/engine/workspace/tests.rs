//! Workspace files and their records, with an in-memory store.

use super::*;
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::{FixedClock, Kind, ProjectName, Settings, limits};
use heirloom_store::{Filter, SqliteStore};
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

fn engine() -> (Engine, TempDir) {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join(".heirloom");
    let place = ProjectPaths {
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
    workspace_files::make_folder_of(&path).unwrap();
    durable::write_atomic(&path, text.as_bytes()).unwrap();
}

fn lines(range: std::ops::Range<usize>, end: &str) -> String {
    let line = |n| format!("- the words of entry number {n}, which are many{end}\n");
    range.map(line).collect()
}

#[test]
fn edited_entries_are_paired_up_to_limit() {
    // Largest number whose square is within the limit.
    let most = (1..)
        .take_while(|n| n * n <= limits::WORKSPACE_PAIRS_MAX)
        .last()
        .unwrap();
    for (many, replaced) in [(most, most), (most + 1, 0)] {
        let (engine, _root) = engine();
        page(&engine, "workspace/MEMORY.md", &lines(0..many, ""));
        assert_eq!(engine.workspace().sync().unwrap().created, many);
        page(&engine, "workspace/MEMORY.md", &lines(0..many, " now"));
        let report = engine.workspace().sync().unwrap();
        assert_eq!(
            (report.replaced, report.created, report.retired),
            (replaced, many - replaced, many - replaced)
        );
    }
}

#[test]
fn entries_beyond_limit_are_left_out_with_note() {
    let (engine, _root) = engine();
    let most = limits::WORKSPACE_ITEMS_MAX;
    page(&engine, "workspace/MEMORY.md", &"- x\n".repeat(most));
    let scan = engine.workspace().scan().unwrap();
    assert_eq!((scan.wants.len(), scan.notes.len()), (most, 0));
    page(&engine, "workspace/MEMORY.md", &"- x\n".repeat(most + 1));
    let scan = engine.workspace().scan().unwrap();
    assert_eq!(scan.wants.len(), most);
    assert!(
        scan.notes[0].contains(&most.to_string()),
        "{:?}",
        scan.notes
    );
}

#[test]
fn files_beyond_limit_are_left_out_with_note() {
    let (engine, _root) = engine();
    for n in 0..limits::WORKSPACE_FILES_MAX {
        page(&engine, &format!("shared/c{n}.md"), "");
    }
    assert_eq!(
        engine.workspace().scan().unwrap().notes,
        Vec::<String>::new()
    );
    page(&engine, "shared/one-more.md", "- x\n");
    let scan = engine.workspace().scan().unwrap();
    assert!(
        scan.notes[0].contains(&limits::WORKSPACE_FILES_MAX.to_string()),
        "{:?}",
        scan.notes
    );
}

#[test]
fn prompts_have_no_templates_comments_and_empty_headings() {
    let (engine, _root) = engine();
    for file in FIXED_FILES {
        page(&engine, &format!("workspace/{}", file.path), file.template);
    }
    assert_eq!(engine.workspace().section().offers, Vec::new());
    page(
        &engine,
        "workspace/MEMORY.md",
        "# Memory\n\n<!-- Facts worth keeping, one bullet each. -->\n\n- the port is 80\n\n## Later\n",
    );
    let offers = engine.workspace().section().offers;
    assert_eq!(offers.len(), 1);
    assert!(offers[0].text.contains("# Memory"), "{}", offers[0].text);
    assert!(
        offers[0].text.contains("- the port is 80"),
        "{}",
        offers[0].text
    );
    assert!(
        !offers[0].text.contains("<!--") && !offers[0].text.contains("Later"),
        "{}",
        offers[0].text
    );
}

#[test]
fn headings_are_no_records() {
    let (engine, _root) = engine();
    for file in FIXED_FILES {
        page(&engine, &format!("workspace/{}", file.path), file.template);
    }
    page(
        &engine,
        "workspace/.learnings/ERRORS.md",
        "# Errors\n\n## Deploy\n\nSome prose.\n\n## Tests\n- they need Redis\n",
    );
    engine.workspace().sync().unwrap();
    let filter = Filter::current(&[Kind::Note], engine.now());
    let records = engine.records().find(&filter).unwrap();
    let found: Vec<_> = records
        .iter()
        .map(|one| (one.text.as_str(), one.attr_str("heading")))
        .collect();
    assert_eq!(found, [("they need Redis", Some("Errors / Tests"))]);
}

#[test]
fn notes_of_other_sources_are_not_synced() {
    let (engine, _root) = engine();
    let note = crate::NewRecord {
        text: "mine".to_owned(),
        kind: Some(heirloom_model::Kind::Note),
        category: Some("workspace".to_owned()),
        ..crate::NewRecord::default()
    };
    let id = engine.records().remember(note).unwrap().id;
    page(&engine, "workspace/MEMORY.md", "- x\n");
    assert_eq!(engine.workspace().sync().unwrap().retired, 0);
    assert!(engine.records().get(id).unwrap().retired_at.is_none());
}

#[test]
fn sync_without_changes_writes_no_index() {
    let (engine, root) = engine();
    page(&engine, "workspace/MEMORY.md", "- x\n");
    page(&engine, "workspace/TOOLS.md", "- y\n");
    let target = root.path().join("missing");
    let link = engine.folder.join("workspace/AGENTS.md");
    std::os::unix::fs::symlink(target, link).unwrap();
    let change_time = |name: &str, change: fn(SystemTime, Duration) -> SystemTime| {
        let path = engine.folder.join(name);
        let written = std::fs::metadata(&path).unwrap().modified().unwrap();
        let file = std::fs::File::options().write(true).open(path).unwrap();
        let time = change(written, Duration::from_secs(3_600));
        file.set_modified(time).unwrap();
    };
    change_time("workspace/MEMORY.md", |time, hour| time - hour);
    change_time("workspace/TOOLS.md", |time, hour| time + hour);
    assert_eq!(engine.workspace().sync().unwrap().created, 2);
    let index = engine.folder.join("workspace.index");
    let written = std::fs::metadata(&index).unwrap().ino();
    assert!(!engine.workspace().sync().unwrap().was_scanned);
    assert_eq!(std::fs::metadata(&index).unwrap().ino(), written);
    page(&engine, "workspace/TOOLS.md", "- z\n");
    assert_eq!(engine.workspace().sync().unwrap().replaced, 1);
}

/// A crash leaves the state before the command: the archive is written before the page, and a repeated command does
/// not add its entries again.
#[test]
fn entry_of_a_long_page_is_added_only_after_the_archive() {
    let (engine, _root) = engine();
    let path = "workspace/MEMORY.md";
    let line = |n| format!("- 2020-01-01: entry number {n}, {}\n", "x".repeat(600));
    let text: String = (0..200).map(line).collect();
    page(&engine, path, &text);
    assert_eq!(engine.workspace().sync().unwrap().created, 200);
    let archive = engine.folder.join("workspace/MEMORY.archive.md");
    std::fs::create_dir(&archive).unwrap();
    let refused = engine.workspace().save_fact(Workspace::Project, "a fact");
    assert!(refused.is_err());
    let read = || std::fs::read_to_string(engine.folder.join(path)).unwrap();
    assert_eq!(read(), text);
    std::fs::remove_dir(&archive).unwrap();
    let save = || {
        let report = engine.workspace().save_fact(Workspace::Project, "a fact");
        assert_eq!(report.unwrap().archived.as_deref(), Some(&*archive));
        std::fs::read_to_string(&archive).unwrap()
    };
    let moved = save();
    assert!(read().contains("a fact"));
    let texts = || {
        let filter = Filter::current(&[Kind::Note], engine.now());
        let records = engine.records().find(&filter).unwrap();
        records
            .iter()
            .map(|one| one.text.clone())
            .collect::<BTreeSet<_>>()
    };
    let after = texts();
    assert_eq!(after.len(), 201);
    // As after a crash between the archive and the page: the entries are still those of the page.
    page(&engine, path, &text);
    let report = engine.workspace().sync().unwrap();
    assert!(report.created <= 200, "{report:?}");
    assert_eq!(texts().len(), 200);
    assert_eq!(save(), moved);
    assert_eq!(texts(), after);
}
