use super::*;
use heirloom_model::limits;
use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o777
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn write_atomic_replaces_content_and_leaves_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.json");
    write_atomic(&path, b"one").unwrap();
    write_atomic(&path, b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(names(folder.path()), ["memory.json"]);
}

#[test]
fn write_to_symbolic_link_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let outside = folder.path().join("outside");
    let link = folder.path().join("link");
    write_atomic(&outside, b"theirs").unwrap();
    symlink(&outside, &link).unwrap();
    for refused in [
        write_atomic(&link, b"x"),
        copy_durable(&outside, &link),
        append_synced(&link, b"x"),
    ] {
        assert!(matches!(refused, Err(FsError::Linked { path, .. }) if path == link));
    }
    assert_eq!(fs::read(&outside).unwrap(), b"theirs");
}

#[test]
fn lock_waits_until_timeout_and_move_refuses_existing_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let first = lock(&path, limits::FILE_LOCK_MS).unwrap();
    let second = lock(&path, 20).unwrap_err();
    assert!(second.to_string().contains("over 20 ms"), "{second}");
    drop(first);
    drop(lock(&path, 20).unwrap());
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    write_atomic(&from, b"x").unwrap();
    move_to_free(&from, &to).unwrap();
    assert!(!from.exists());
    write_atomic(&from, b"y").unwrap();
    assert!(move_to_free(&from, &to).is_err());
    assert_eq!(
        (fs::read(&from).unwrap(), fs::read(&to).unwrap()),
        (b"y".to_vec(), b"x".to_vec())
    );
}

#[test]
fn created_folders_are_private_and_append_keeps_content() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("a/b");
    create_dir_private(&folder).unwrap();
    create_dir_private(&folder).unwrap();
    assert_eq!(
        (mode(&folder), mode(&root.path().join("a"))),
        (0o700, 0o700)
    );
    let temporary = temporary_folder("x-", Some(root.path())).unwrap();
    assert_eq!(mode(temporary.path()), 0o700);
    let log = folder.join("log");
    append_synced(&log, b"1\n").unwrap();
    append_synced(&log, b"2\n").unwrap();
    assert_eq!(fs::read(&log).unwrap(), b"1\n2\n");
    assert_eq!(mode(&log), 0o600);
}

#[test]
fn append_follows_replaced_file_and_refuses_links() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("notes");
    append_all_or_nothing(&path, b"1\n").unwrap();
    write_atomic(&root.path().join("new"), b"2\n").unwrap();
    assert!(rename_synced(&root.path().join("new"), &path).unwrap());
    append_all_or_nothing(&path, b"3\n").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"2\n3\n");
    assert!(!rename_synced(&root.path().join("new"), &path).unwrap());
    assert!(
        append_all_or_nothing(root.path(), b"x").is_err(),
        "a folder"
    );
    let link = root.path().join("link");
    symlink(&path, &link).unwrap();
    for refused in [
        append_all_or_nothing(&link, b"x"),
        try_lock(&link).map(drop),
    ] {
        assert!(matches!(refused, Err(FsError::Linked { .. })));
    }
}

#[test]
fn lock_has_one_holder() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("lock");
    let held = lock(&path, 0).unwrap();
    assert!(try_lock(&path).unwrap().is_none());
    drop(held);
    assert!(try_lock(&path).unwrap().is_some());
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn make_private_removes_permissions_of_others() {
    let root = tempfile::tempdir().unwrap();
    let set = |path: &Path, mode| {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    let (folder, file) = (root.path().join("folder"), root.path().join("file"));
    create_dir_private(&folder).unwrap();
    write_atomic(&file, b"x").unwrap();
    for (path, wide, private) in [
        (&folder, 0o755, 0o700),
        (&folder, 0o1777, 0o700),
        (&folder, 0o500, 0o500),
        (&file, 0o644, 0o600),
        (&file, 0o440, 0o400),
        (&file, 0o600, 0o600),
    ] {
        set(path, wide);
        assert_eq!(make_private(path).unwrap(), wide != private);
        assert_eq!(mode(path), private);
    }
    assert!(!make_private(&root.path().join("nothing")).unwrap());
    let link = root.path().join("link");
    symlink(&file, &link).unwrap();
    set(&file, 0o644);
    assert!(matches!(make_private(&link), Err(FsError::Linked { .. })));
    assert_eq!(mode(&file), 0o644);
}

#[test]
fn rename_with_suffix_never_overwrites() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heirloom.db");
    for content in ["1", "2", "3"] {
        write_atomic(&path, content.as_bytes()).unwrap();
        let aside = rename_with_suffix(&path, "damaged-x").unwrap();
        assert_eq!(fs::read_to_string(aside).unwrap(), content);
    }
    assert_eq!(
        names(folder.path()),
        [
            "heirloom.db.damaged-x",
            "heirloom.db.damaged-x-2",
            "heirloom.db.damaged-x-3"
        ]
    );
    assert!(rename_with_suffix(&path, "damaged-x").is_err());
    assert_eq!(names(folder.path()).len(), 3);
}

#[test]
fn io_error_contains_action_and_path() {
    let path = Path::new("/nonexistent-folder/file");
    let error = write_atomic(path, b"").unwrap_err().to_string();
    assert!(error.contains("/nonexistent-folder/file"), "{error}");
    let full = io::Error::from(ErrorKind::StorageFull);
    assert!(matches!(failed("write", path, full), FsError::DiskFull(_)));
}
