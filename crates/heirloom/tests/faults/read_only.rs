//! Read-only projects.

use crate::driver::{CallResult, ProjectFixture, finish};
use crate::small_filesystem::SmallFilesystem;
use heirloom_testkit::{Prerequisite, TempProject, require};
use std::fs::Permissions;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

#[track_caller]
fn assert_read_only_reported(result: &CallResult, what: &[&str]) {
    assert_eq!(
        result.code,
        1,
        "{what:?}: {} {}",
        result.text(),
        result.stderr
    );
    let is_reported = result.stderr.contains("read-only") && result.stderr.contains("hint: ");
    assert!(is_reported, "{what:?}: {}", result.stderr);
}

fn assert_readable_and_not_writable(filesystem: &SmallFilesystem) {
    filesystem.remount("ro");
    assert_eq!(filesystem.texts("knowledge"), ["before"]);
    assert!(
        filesystem
            .call(&["context"])
            .expect(0)
            .text()
            .contains("before")
    );
    filesystem
        .call(&["export", "--format", "jsonl", "--all"])
        .expect(0);
    filesystem.call(&["task", "list"]).expect(0);
    filesystem.assert_healthy();
    for args in [
        ["remember", "after"].as_slice(),
        &["task", "set", "7"],
        &["prune", "--apply"],
        &["run", "--iterations", "1", "--", "echo", "x"],
        &["outcome", "--task", "t", "--status", "COMPLETE"],
    ] {
        let result = filesystem.call(args);
        // Without records to prune nothing is written.
        if args[0] != "prune" {
            assert_read_only_reported(&result, args);
        }
    }
    let observe = ["observe"];
    let seen = "HEIRLOOM_MEMORY: KEY_FACT seen\n";
    assert_read_only_reported(&filesystem.feed(&observe, seen), &observe);
    let many = ["remember", "--stdin"];
    assert_read_only_reported(&filesystem.feed(&many, "{\"text\": \"one\"}\n"), &many);
    assert_eq!(filesystem.texts("knowledge"), ["before"]);
    filesystem.remount("rw");
    filesystem.call(&["remember", "after"]).expect(0);
    assert_eq!(filesystem.texts("knowledge"), ["before", "after"]);
    filesystem.assert_healthy();
}

#[test]
fn read_only_folder_can_be_read() {
    let filesystem = require!(Prerequisite::Mount, SmallFilesystem::initialised("8m"));
    filesystem.call(&["remember", "before"]).expect(0);
    assert_readable_and_not_writable(&filesystem);
}

#[test]
fn hooks_in_read_only_folder_answer_and_exit_0() {
    let filesystem = require!(Prerequisite::Mount, SmallFilesystem::initialised("8m"));
    filesystem
        .call(&["remember", "before", "--category", "convention"])
        .expect(0);
    filesystem.remount("ro");
    let hook = |name: &str, more: &str| {
        let event = format!("{{\"session_id\":\"s\"{more}}}");
        let result = filesystem
            .feed(&["hook", "claude-code", name], &event)
            .expect(0);
        assert_eq!(result.stderr, "", "{name}");
        result.text()
    };
    assert!(hook("SessionStart", ",\"source\":\"startup\"").contains("before"));
    for (name, more) in [
        ("UserPromptSubmit", r#","prompt":"mend it""#),
        (
            "PostToolUse",
            r#","tool_name":"Write","tool_input":{"file_path":"a.rs"},"tool_response":{}"#,
        ),
        (
            "PostToolUseFailure",
            r#","tool_name":"Bash","tool_input":{"command":"make"},"error":"no rule""#,
        ),
        (
            "Stop",
            r#","last_assistant_message":"HEIRLOOM_MEMORY: KEY_FACT seen""#,
        ),
        ("SessionEnd", r#","transcript_path":"talk.jsonl""#),
    ] {
        assert_eq!(hook(name, more), "", "{name}");
    }
    filesystem.remount("rw");
    assert_eq!(filesystem.texts("knowledge"), ["before"]);
    filesystem.assert_healthy();
}

#[test]
fn read_only_folder_with_journal_is_read_completely() {
    let filesystem = require!(Prerequisite::Mount, SmallFilesystem::initialised("8m"));
    kill_after_acknowledged_write(&filesystem);
    assert!(
        filesystem
            .names(".heirloom")
            .contains(&"heirloom.db-wal".to_owned())
    );
    assert_readable_and_not_writable(&filesystem);
}

#[test]
fn unreadable_journal_is_reported() {
    let filesystem = require!(Prerequisite::Mount, SmallFilesystem::initialised("8m"));
    kill_after_acknowledged_write(&filesystem);
    std::fs::remove_file(filesystem.path(".heirloom/heirloom.db-shm")).unwrap();
    filesystem.remount("ro");
    let result = filesystem.call(&["list"]).expect(1);
    assert!(result.stderr.contains("heirloom.db"), "{}", result.stderr);
    filesystem.remount("rw");
    assert_eq!(filesystem.texts("knowledge"), ["before"]);
}

#[test]
fn init_in_read_only_folder_is_reported() {
    let filesystem = require!(Prerequisite::Mount, SmallFilesystem::bare("1m"));
    filesystem.remount("ro");
    assert_read_only_reported(&filesystem.call(&["init"]), &["init"]);
}

/// Kills a process after its first acknowledged write, which is then only in the journal.
fn kill_after_acknowledged_write(filesystem: &SmallFilesystem) {
    let mut command = filesystem.heirloom(&["remember", "--stdin"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"{\"text\": \"before\"}\n").unwrap();
    let mut answer = String::new();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    answers.read_line(&mut answer).unwrap();
    assert!(answer.contains("created"), "{answer}");
    // `nsenter` and the shell have been replaced by the program.
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn folder_of_other_user_can_be_read() {
    let fixture = ProjectFixture::plain();
    fixture.call(&["remember", "before"]).expect(0);
    for name in ["", ".heirloom"] {
        set_mode(&fixture.root().join(name), 0o755);
    }
    for name in ["heirloom.db", "config.toml", "store.json"] {
        set_mode(&fixture.root().join(".heirloom").join(name), 0o644);
    }
    let home = TempProject::plain().unwrap();
    set_mode(home.path(), 0o777);
    let as_other_user = |args: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.arg(env!("CARGO_BIN_EXE_heirloom")).args(args);
        for (name, _) in std::env::vars_os() {
            if heirloom_testkit::is_setting_of_machine(&name) {
                command.env_remove(name);
            }
        }
        command
            .current_dir(fixture.root())
            .env("HOME", home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    };
    let can_switch_user = as_other_user(&["--version"]).status();
    let can_switch_user = can_switch_user.is_ok_and(|status| status.success());
    require!(Prerequisite::OtherUser, can_switch_user.then_some(()));
    // Another user did not create this memory.
    finish(as_other_user(&["list"]), |_| {}).expect(4);
    finish(as_other_user(&["trust", "--yes"]), |_| {}).expect(0);
    let listed = finish(as_other_user(&["list"]), |_| {}).expect(0);
    assert!(listed.text().contains("before"), "{}", listed.text());
    finish(as_other_user(&["context"]), |_| {}).expect(0);
    assert_read_only_reported(
        &finish(as_other_user(&["remember", "x"]), |_| {}),
        &["remember"],
    );
    // An unreadable database is not an empty project.
    set_mode(&fixture.root().join(".heirloom/heirloom.db"), 0o600);
    let result = finish(as_other_user(&["list"]), |_| {}).expect(1);
    assert!(result.stderr.contains("heirloom.db"), "{}", result.stderr);
    set_mode(&fixture.root().join(".heirloom"), 0o700);
    let result = finish(as_other_user(&["remember", "x"]), |_| {});
    assert!(result.code != 0, "{}", result.text());
    assert_eq!(fixture.texts("knowledge"), ["before"]);
    fixture.assert_healthy();
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}
