use super::*;
use heirloom_fs::durable;
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::{ErrorKind, FixedClock, ProjectName, Settings, Timestamp};
use heirloom_store::SqliteStore;
use std::sync::Arc;

fn engine(root: &Path) -> Engine {
    let folder = root.join(".heirloom");
    durable::create_dir_private(&folder).unwrap();
    let place = ProjectPaths {
        root: root.to_owned(),
        config: folder.join("config.toml"),
        folder,
    };
    let at: Timestamp = "2026-05-01T10:00:00Z".parse().unwrap();
    Engine::new(
        Arc::new(SqliteStore::create(&root.join("store.db")).unwrap()),
        ProjectName::new("pages").unwrap(),
        place,
        Settings::default(),
        Arc::new(FixedClock(at)),
    )
    .unwrap()
}

#[test]
fn save_requires_current_etag_and_can_be_undone() {
    let root = tempfile::tempdir().unwrap();
    let engine = engine(root.path());
    let group = EditableFolder::Group("delivery".to_owned());
    for (of, name) in [
        (EditableFolder::Workspace, "MEMORY.md"),
        (group, "CLAUDE.md"),
    ] {
        let empty = engine.files().text(&of, name).unwrap();
        assert_eq!(empty.text, "");
        let saved = |text: &str, tag: &str| engine.files().save(&of, name, text, tag).unwrap();
        assert_eq!(saved("one\r\n", &empty.tag), SaveOutcome::Done);
        assert_eq!(saved("one\n", "whatever"), SaveOutcome::Same);
        let now = engine.files().text(&of, name).unwrap();
        assert_eq!(now.text, "one\n");
        assert_eq!(saved("two\n", &empty.tag), SaveOutcome::Stale(now.clone()));
        assert_eq!(saved("two\n", &now.tag), SaveOutcome::Done);
        engine.files().undo_save(&of, name).unwrap();
        assert_eq!(engine.files().text(&of, name).unwrap().text, "one\n");
        engine.files().undo_save(&of, name).unwrap();
        assert_eq!(engine.files().text(&of, name).unwrap().text, "two\n");
    }
}

#[test]
fn files_outside_folder_and_links_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let engine = engine(root.path());
    for name in ["../config.toml", "nothing.md", "", "/etc/passwd"] {
        let fault = engine
            .files()
            .text(&EditableFolder::Workspace, name)
            .unwrap_err();
        assert_eq!(fault.kind, ErrorKind::NotFound, "{name}");
    }
    let bad = EditableFolder::Group("../x".to_owned());
    assert_eq!(
        engine.files().list(&bad).unwrap_err().kind,
        ErrorKind::Refused
    );
    let outside = tempfile::tempdir().unwrap();
    let workspace = root.path().join(".heirloom/workspace");
    std::os::unix::fs::symlink(outside.path(), workspace).unwrap();
    let saved = engine
        .files()
        .save(&EditableFolder::Workspace, "MEMORY.md", "x", "");
    assert_eq!(saved.unwrap_err().kind, ErrorKind::Refused);
    assert!(!outside.path().join("MEMORY.md").exists());
}
