//! Table of placements: in each folder, commands and hooks use the same memory, or none.
#![expect(
    clippy::disallowed_methods,
    reason = "folders as other programs make them"
)]

use crate::hooks::{CLAUDE, call_raw};
use crate::project::{Project, answer};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders below one root; the home folder of the person is another one.
struct Places {
    project: Project,
}

impl Places {
    fn new() -> Self {
        Self {
            project: Project::uninitialised(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.project.file(name)
    }

    fn folder(&self, name: &str) -> PathBuf {
        let folder = self.path(name);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn git(&self, folder: &str, args: &[&str]) {
        let done = Command::new("git")
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .args(["-c", "user.name=a", "-c", "user.email=a@b.c"])
            .args(["-c", "protocol.file.allow=always"])
            .args(args)
            .current_dir(self.folder(folder))
            .output()
            .unwrap();
        assert!(done.status.success(), "git {args:?}: {done:?}");
    }

    /// Creates a repository with one commit.
    fn repository(&self, name: &str) {
        self.git(name, &["init", "-q"]);
        fs::write(self.path(name).join("a.txt"), "a").unwrap();
        self.git(name, &["add", "-A"]);
        self.git(name, &["commit", "-q", "-m", "a"]);
    }

    fn init(&self, name: &str) {
        let folder = self.folder(name);
        let made = answer(self.project.command(&["init"]).current_dir(folder));
        assert_eq!(made.code, 0, "{name}: {made:?}");
    }

    fn text_of(&self, folder: &Path) -> String {
        let args = ["list", "--kind", "knowledge,error"];
        answer(self.project.command(&args).current_dir(folder)).stdout
    }

    /// Stores a fact by a command and an error by a hook in `folder`; both are then in the memory of `owner`, or in none.
    fn check(&self, row: &str, folder: &Path, owner: Option<&str>) {
        let fact = format!("a fact of {row}");
        let stored = answer((self.project.command(&["remember", &fact])).current_dir(folder));
        let expected = if owner.is_some() { 0 } else { 3 };
        assert_eq!(stored.code, expected, "{row}: {stored:?}");
        let failed = json!({
            "session_id": format!("session of {row}"),
            "cwd": folder,
            "tool_name": "Bash",
            "tool_input": {"command": format!("make '{row}'")},
            "error": "Exit code 2",
        });
        call_raw(
            &self.project,
            CLAUDE,
            "PostToolUseFailure",
            failed.to_string().as_bytes(),
        );
        let Some(owner) = owner else {
            return;
        };
        let known = self.text_of(&self.path(owner));
        assert!(known.contains(&fact), "{row}: {known}");
        assert!(known.contains(&format!("make '{row}'")), "{row}: {known}");
    }
}

#[test]
fn commands_and_hooks_find_the_same_memory_in_every_placement() {
    let places = Places::new();
    places.repository("shop");
    places.init("shop");
    // Independent repositories inside of a project, with and without a memory.
    places.repository("shop/vendor/tool");
    places.repository("shop/vendor/own");
    places.init("shop/vendor/own");
    // A submodule is a part of its project; its git directory is that of the project.
    places.repository("library");
    let library = places.path("library");
    let add = ["submodule", "add", "-q", library.to_str().unwrap(), "lib"];
    places.git("shop", &add);
    // A worktree outside of the project's folder.
    places.git("shop", &["worktree", "add", "-q", "../shop-fix"]);
    // A bare repository with worktrees.
    places.git("", &["clone", "-q", "--bare", "library", "bare/tool.git"]);
    places.git("bare/tool.git", &["worktree", "add", "-q", "../main"]);
    places.git("bare/tool.git", &["worktree", "add", "-q", "../fix"]);
    places.init("bare/main");
    // Links to a project, and from a project to a folder outside.
    symlink(places.path("shop"), places.path("linked")).unwrap();
    places.folder("plain/docs");
    symlink(places.path("plain"), places.path("shop/linked-out")).unwrap();
    // A folder without git below another one.
    places.init("notes");
    places.folder("shop/src/deep");
    places.folder("notes/2026/may");

    let rows = [
        ("root", "shop", Some("shop")),
        ("subfolder", "shop/src/deep", Some("shop")),
        ("nested repository", "shop/vendor/tool", None),
        (
            "nested repository with a memory",
            "shop/vendor/own",
            Some("shop/vendor/own"),
        ),
        ("submodule", "shop/lib", Some("shop")),
        ("worktree", "shop-fix", Some("shop")),
        (
            "worktree of a bare repository",
            "bare/main",
            Some("bare/main"),
        ),
        ("other worktree of it", "bare/fix", Some("bare/main")),
        ("link to a project", "linked/src", Some("shop")),
        ("link out of a project", "shop/linked-out/docs", None),
        ("folder without git", "notes/2026/may", Some("notes")),
        ("unrelated folder", "plain", None),
    ];
    for (row, folder, owner) in rows {
        let folder = places.path(folder);
        if !folder.exists() {
            fs::create_dir_all(&folder).unwrap();
        }
        places.check(row, &folder, owner);
    }
    // No memory has what belongs to another one.
    for (owner, count) in [
        ("shop", 10),
        ("shop/vendor/own", 2),
        ("bare/main", 4),
        ("notes", 2),
    ] {
        let known = places.text_of(&places.path(owner));
        assert_eq!(known.lines().count(), count, "{owner}: {known}");
    }

    // Moved and renamed.
    fs::rename(places.path("notes"), places.path("moved-notes")).unwrap();
    places.check(
        "moved",
        &places.path("moved-notes/2026"),
        Some("moved-notes"),
    );
    fs::remove_file(places.path("linked")).unwrap();
    places.check(
        "after its link is gone",
        &places.path("shop/src"),
        Some("shop"),
    );
    places.git("shop", &["worktree", "remove", "--force", "../shop-fix"]);
    let known = places.text_of(&places.path("shop"));
    assert!(known.contains("a fact of worktree"), "{known}");
}

#[test]
fn folder_of_another_system_in_an_event_is_that_of_the_process() {
    let places = Places::new();
    places.init("shop");
    let folders = [
        "C:\\Users\\dev\\shop",
        "C:/Users/dev/shop",
        "/mnt/c/Users/dev/shop",
        "\\\\wsl$\\Debian\\shop",
    ];
    for (number, folder) in folders.iter().enumerate() {
        let failed = json!({
            "session_id": format!("s{number}"),
            "cwd": folder,
            "tool_name": "Bash",
            "tool_input": {"command": format!("make test{number}")},
            "error": "Exit code 2",
        });
        let event = places.path("event.json");
        fs::write(&event, failed.to_string()).unwrap();
        let mut command = (places.project).command(&["hook", CLAUDE, "PostToolUseFailure"]);
        command.current_dir(places.path("shop"));
        let done = answer(command.stdin(fs::File::open(&event).unwrap()));
        assert_eq!(done.code, 0, "{folder}: {done:?}");
        let known = places.text_of(&places.path("shop"));
        assert!(
            known.contains(&format!("make test{number}")),
            "{folder}: {known}"
        );
    }
}
