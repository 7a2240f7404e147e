//! A project that may only be read.

use crate::driver::{Desk, Ran, finish};
use crate::room::Room;
use std::fs::Permissions;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

#[track_caller]
fn says_read_only(ran: &Ran, what: &[&str]) {
    assert_eq!(ran.code, 1, "{what:?}: {} {}", ran.text(), ran.stderr);
    let told = ran.stderr.contains("read-only") && ran.stderr.contains("hint: ");
    assert!(told, "{what:?}: {}", ran.stderr);
}

fn reads_and_does_not_write(room: &Room) {
    room.remount("ro");
    assert_eq!(room.texts("knowledge"), ["before"]);
    assert!(room.call(&["context"]).expect(0).text().contains("before"));
    room.call(&["export", "--format", "jsonl", "--all"])
        .expect(0);
    room.call(&["task", "list"]).expect(0);
    room.healthy();
    for args in [
        ["remember", "after"].as_slice(),
        &["task", "set", "7"],
        &["prune", "--apply", "--task", "t"],
        &["run", "--iterations", "1", "--", "echo", "x"],
        &["outcome", "--task", "t", "--status", "COMPLETE"],
    ] {
        let ran = room.call(args);
        // Nothing to prune is nothing to write.
        if args[0] != "prune" {
            says_read_only(&ran, args);
        }
    }
    let observe = ["observe"];
    let seen = "HEIRLOOM_MEMORY: KEY_FACT seen\n";
    says_read_only(&room.feed(&observe, seen), &observe);
    let many = ["remember", "--stdin"];
    says_read_only(&room.feed(&many, "{\"text\": \"one\"}\n"), &many);
    assert_eq!(room.texts("knowledge"), ["before"]);
    room.remount("rw");
    room.call(&["remember", "after"]).expect(0);
    assert_eq!(room.texts("knowledge"), ["before", "after"]);
    room.healthy();
}

#[test]
fn a_read_only_folder_is_read() {
    let Some(room) = Room::of("8m") else { return };
    room.call(&["remember", "before"]).expect(0);
    reads_and_does_not_write(&room);
}

#[test]
fn hooks_in_a_read_only_folder_say_what_is_known_and_stop_nobody() {
    let Some(room) = Room::of("8m") else { return };
    room.call(&["remember", "before"]).expect(0);
    room.remount("ro");
    let hook = |name: &str, more: &str| {
        let event = format!("{{\"session_id\":\"s\"{more}}}");
        let ran = room.feed(&["hook", "claude-code", name], &event).expect(0);
        assert_eq!(ran.stderr, "", "{name}");
        ran.text()
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
    room.remount("rw");
    assert_eq!(room.texts("knowledge"), ["before"]);
    room.healthy();
}

#[test]
fn a_read_only_folder_with_the_journal_of_a_dead_process_is_read_whole() {
    let Some(room) = Room::of("8m") else { return };
    leave_a_journal(&room);
    assert!(
        room.names(".heirloom")
            .contains(&"heirloom.db-wal".to_owned())
    );
    reads_and_does_not_write(&room);
}

#[test]
fn a_journal_that_cannot_be_read_is_said_and_not_left_out() {
    let Some(room) = Room::of("8m") else { return };
    leave_a_journal(&room);
    std::fs::remove_file(room.path(".heirloom/heirloom.db-shm")).unwrap();
    room.remount("ro");
    let ran = room.call(&["list"]).expect(1);
    assert!(ran.stderr.contains("heirloom.db"), "{}", ran.stderr);
    room.remount("rw");
    assert_eq!(room.texts("knowledge"), ["before"]);
}

#[test]
fn init_where_nothing_may_be_written_says_so() {
    let Some(room) = Room::bare("1m") else { return };
    room.remount("ro");
    says_read_only(&room.call(&["init"]), &["init"]);
}

/// Kills a process behind its first acknowledged write, which is in the journal only.
fn leave_a_journal(room: &Room) {
    let mut command = room.heirloom(&["remember", "--stdin"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"{\"text\": \"before\"}\n").unwrap();
    let mut answer = String::new();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    answers.read_line(&mut answer).unwrap();
    assert!(answer.contains("created"), "{answer}");
    // `nsenter` and the shell have both become the program.
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_folder_of_somebody_else_is_read() {
    let desk = Desk::plain();
    desk.call(&["remember", "before"]).expect(0);
    for name in ["", ".heirloom"] {
        open_to_all(&desk.root().join(name), 0o755);
    }
    for name in ["heirloom.db", "config.toml", "store.json"] {
        open_to_all(&desk.root().join(".heirloom").join(name), 0o644);
    }
    let nobody = |args: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.arg(env!("CARGO_BIN_EXE_heirloom")).args(args);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HEIRLOOM_") {
                command.env_remove(name);
            }
        }
        command
            .current_dir(desk.root())
            .env("HOME", "/nonexistent")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    };
    let able = nobody(&["--version"]).status();
    if !able.is_ok_and(|status| status.success()) {
        println!("skipped: no program can be started here as somebody else");
        return;
    }
    let listed = finish(nobody(&["list"]), |_| {}).expect(0);
    assert!(listed.text().contains("before"), "{}", listed.text());
    finish(nobody(&["context"]), |_| {}).expect(0);
    says_read_only(&finish(nobody(&["remember", "x"]), |_| {}), &["remember"]);
    // What nobody may read is no project without memory.
    open_to_all(&desk.root().join(".heirloom/heirloom.db"), 0o600);
    let ran = finish(nobody(&["list"]), |_| {}).expect(1);
    assert!(ran.stderr.contains("heirloom.db"), "{}", ran.stderr);
    open_to_all(&desk.root().join(".heirloom"), 0o700);
    let ran = finish(nobody(&["remember", "x"]), |_| {});
    assert!(ran.code != 0, "{}", ran.text());
    assert_eq!(desk.texts("knowledge"), ["before"]);
    desk.healthy();
}

fn open_to_all(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}
