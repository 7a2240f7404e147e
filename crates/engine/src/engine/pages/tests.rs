use super::*;
use crate::places::Place;
use heirloom_model::{ErrorKind, FixedClock, ProjectName, Settings, Timestamp};
use heirloom_store::SqliteStore;
use heirloom_store::durable;
use std::sync::Arc;

fn engine(root: &Path) -> Engine {
    let folder = root.join(".heirloom");
    durable::create_dir_private(&folder).unwrap();
    let place = Place {
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
fn a_file_is_saved_by_whoever_has_seen_it_and_the_saving_is_taken_back() {
    let root = tempfile::tempdir().unwrap();
    let engine = engine(root.path());
    let group = PagesOf::Group("delivery".to_owned());
    for (of, name) in [(PagesOf::Workspace, "MEMORY.md"), (group, "CLAUDE.md")] {
        let empty = engine.page_text(&of, name).unwrap();
        assert_eq!(empty.text, "");
        let saved = |said: &str, tag: &str| engine.save_page(&of, name, said, tag).unwrap();
        assert_eq!(saved("one\r\n", &empty.tag), PageSaved::Done);
        assert_eq!(saved("one\n", "whatever"), PageSaved::Same);
        let now = engine.page_text(&of, name).unwrap();
        assert_eq!(now.text, "one\n");
        assert_eq!(
            saved("two\n", &empty.tag),
            PageSaved::Overtaken(now.clone())
        );
        assert_eq!(saved("two\n", &now.tag), PageSaved::Done);
        engine.unsave_page(&of, name).unwrap();
        assert_eq!(engine.page_text(&of, name).unwrap().text, "one\n");
        engine.unsave_page(&of, name).unwrap();
        assert_eq!(engine.page_text(&of, name).unwrap().text, "two\n");
    }
}

#[test]
fn only_files_of_the_folder_are_edited_and_no_link_is_followed() {
    let root = tempfile::tempdir().unwrap();
    let engine = engine(root.path());
    for name in ["../config.toml", "nothing.md", "", "/etc/passwd"] {
        let fault = engine.page_text(&PagesOf::Workspace, name).unwrap_err();
        assert_eq!(fault.kind, ErrorKind::NotFound, "{name}");
    }
    let bad = PagesOf::Group("../x".to_owned());
    assert_eq!(engine.pages(&bad).unwrap_err().kind, ErrorKind::Refused);
    let outside = tempfile::tempdir().unwrap();
    let workspace = root.path().join(".heirloom/workspace");
    std::os::unix::fs::symlink(outside.path(), workspace).unwrap();
    let saved = engine.save_page(&PagesOf::Workspace, "MEMORY.md", "x", "");
    assert_eq!(saved.unwrap_err().kind, ErrorKind::Refused);
    assert!(!outside.path().join("MEMORY.md").exists());
}
