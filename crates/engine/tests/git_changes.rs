//! Tests of changed files in real git repositories.
#![expect(
    clippy::disallowed_methods,
    reason = "the files of a test are thrown away"
)]
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use heirloom_agents::process::git_state::{
    GitState, changed_files_between, current_branch, read_branch,
};
use std::fs;
use std::path::Path;
use std::process::Command;

fn git(folder: &Path, args: &[&str]) {
    let who = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
    let done = Command::new("git")
        .args(who)
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "git {args:?}: {message}");
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Creates a repository with some committed files.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q", "-b", "trunk"]);
    for name in ["a.txt", "b.txt", "sub/c.txt", "sub/gone.txt"] {
        write(folder.path(), name, "first");
    }
    write(folder.path(), ".gitignore", "ignored*\n");
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-qm", "first"]);
    folder
}

fn check(setup: impl Fn(&Path), work: impl Fn(&Path), expected: &[&str]) {
    let folder = repository();
    setup(folder.path());
    let before = GitState::read(folder.path()).unwrap();
    work(folder.path());
    let after = GitState::read(folder.path()).unwrap();
    assert_eq!(changed_files_between(&before, &after), expected);
}

#[test]
fn changed_files_include_work_tree_changes() {
    check(|_| {}, |_| {}, &[]);
    check(
        |_| {},
        |at| {
            write(at, "a.txt", "second");
            write(at, "new/ünï code.txt", "new");
            write(at, "ignored.log", "no");
            write(at, ".heirloom/heirloom.db", "no");
            fs::remove_file(at.join("sub/gone.txt")).unwrap();
            git(at, &["mv", "b.txt", "moved.txt"]);
        },
        &[
            "a.txt",
            "b.txt",
            "moved.txt",
            "new/ünï code.txt",
            "sub/gone.txt",
        ],
    );
}

#[test]
fn changed_files_include_dirty_files_only_if_rewritten() {
    let dirty = |at: &Path| {
        write(at, "a.txt", "dirty");
        write(at, "b.txt", "dirty");
        write(at, "untracked.txt", "dirty");
    };
    check(dirty, |_| {}, &[]);
    check(dirty, |at| git(at, &["add", "."]), &[]);
    check(dirty, |at| write(at, "b.txt", "dirtier"), &["b.txt"]);
    check(
        dirty,
        |at| git(at, &["checkout", "-q", "a.txt"]),
        &["a.txt"],
    );
    check(
        dirty,
        |at| fs::remove_file(at.join("untracked.txt")).unwrap(),
        &["untracked.txt"],
    );
}

#[test]
fn changed_files_include_committed_files() {
    check(
        |at| write(at, "b.txt", "dirty before"),
        |at| {
            write(at, "a.txt", "second");
            write(at, "sub/new.txt", "new");
            git(at, &["add", "."]);
            git(at, &["commit", "-qm", "second"]);
            write(at, "sub/c.txt", "later");
        },
        &["a.txt", "sub/c.txt", "sub/new.txt"],
    );
}

#[test]
fn changed_files_include_first_commit() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    git(at, &["init", "-q", "-b", "trunk"]);
    let before = GitState::read(at).unwrap();
    assert_eq!(before.branch(), Some("trunk"));
    write(at, "a/b.txt", "first");
    git(at, &["add", "."]);
    git(at, &["commit", "-qm", "first"]);
    let after = GitState::read(at).unwrap();
    assert_eq!(changed_files_between(&before, &after), ["a/b.txt"]);
}

#[test]
fn changed_files_limited_to_project_folder() {
    let folder = repository();
    let sub = folder.path().join("sub");
    let before = GitState::read(&sub).unwrap();
    write(folder.path(), "a.txt", "second");
    write(&sub, "c.txt", "second");
    write(&sub, "d.txt", "committed");
    git(&sub, &["add", "d.txt"]);
    git(&sub, &["commit", "-qm", "second"]);
    let after = GitState::read(&sub).unwrap();
    assert_eq!(changed_files_between(&before, &after), ["c.txt", "d.txt"]);
}

#[test]
fn current_branch_is_found() {
    let folder = repository();
    git(folder.path(), &["checkout", "-qb", "fix/login"]);
    assert_eq!(current_branch(folder.path()).as_deref(), Some("fix/login"));
    let state = GitState::read(folder.path()).unwrap();
    assert_eq!(state.branch(), Some("fix/login"));
    git(folder.path(), &["checkout", "-q", "--detach"]);
    assert_eq!(current_branch(folder.path()), None);
    assert_eq!(GitState::read(folder.path()).unwrap().branch(), None);
}

#[test]
fn read_branch_finds_branch_without_git() {
    let folder = repository();
    git(folder.path(), &["checkout", "-qb", "fix/login"]);
    let below = folder.path().join("src");
    std::fs::create_dir_all(&below).unwrap();
    assert_eq!(read_branch(&below).as_deref(), Some("fix/login"));
    let side = tempfile::tempdir().unwrap();
    let tree = side.path().join("tree");
    git(
        folder.path(),
        &[
            "worktree",
            "add",
            "-q",
            "-b",
            "side",
            tree.to_str().unwrap(),
        ],
    );
    assert_eq!(read_branch(&tree).as_deref(), Some("side"));
    git(folder.path(), &["checkout", "-q", "--detach"]);
    assert_eq!(read_branch(folder.path()), None);
    assert_eq!(read_branch(&folder.path().join("gone")), None);
    assert_eq!(read_branch(std::path::Path::new("/nonexistent")), None);
}

#[test]
fn git_state_without_repository_is_none() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(GitState::read(folder.path()), None);
    assert_eq!(current_branch(folder.path()), None);
    assert_eq!(GitState::read(&folder.path().join("gone")), None);
}
