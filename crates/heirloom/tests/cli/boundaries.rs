//! Placements of a project: nested repositories, the home folder, folders that an agent enters.
#![expect(
    clippy::disallowed_methods,
    reason = "folders as other programs make them"
)]

use crate::hooks::{CLAUDE, call_raw};
use crate::project::{Answer, Project, answer};
use heirloom_model::limits;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

fn run_in(project: &Project, folder: &Path, args: &[&str]) -> Answer {
    answer(project.command(args).current_dir(folder))
}

fn make_repository(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let made = Command::new("git")
        .args(["init", "-q"])
        .current_dir(folder)
        .status();
    assert!(made.unwrap().success());
}

#[test]
fn repository_in_a_folder_of_clones_has_no_memory_of_another_one() {
    let project = Project::new();
    project.ok(&["remember", "the payroll key rotates on Mondays"]);
    let inner = project.file("inner");
    make_repository(&inner);
    let listed = run_in(&project, &inner, &["list"]);
    assert_eq!(listed.code, 3, "{listed:?}");
    assert!(listed.stderr.contains("heirloom init"), "{listed:?}");
    let made = run_in(&project, &inner, &["init"]);
    assert_eq!(made.code, 0, "{made:?}");
    assert!(inner.join(".heirloom/heirloom.db").exists());
    let found = run_in(&project, &inner, &["recall", "payroll"]);
    assert!(!found.stdout.contains("Mondays"), "{found:?}");
}

#[test]
fn memory_of_the_home_folder_is_used_only_there() {
    let project = Project::uninitialised();
    let home = project.home.path().to_owned();
    assert_eq!(run_in(&project, &home, &["init"]).code, 0);
    assert_eq!(
        run_in(&project, &home, &["remember", "of the home folder"]).code,
        0
    );
    let below = home.join("code/app");
    fs::create_dir_all(&below).unwrap();
    assert_eq!(run_in(&project, &below, &["list"]).code, 3);
    assert_eq!(run_in(&project, &below, &["init"]).code, 0);
    let listed = run_in(&project, &below, &["list"]);
    assert!(!listed.stdout.contains("of the home folder"), "{listed:?}");
}

#[test]
fn unreadable_config_is_an_error_and_not_absent() {
    let project = Project::new();
    let inner = project.file("inner");
    make_repository(&inner);
    fs::create_dir(inner.join(".heirloom")).unwrap();
    // A folder in place of the file cannot be read by anyone, also not by root.
    fs::write(inner.join(".heirloom/config.toml"), [0xff, 0xfe, 0x00]).unwrap();
    let listed = run_in(&project, &inner, &["list"]);
    assert_ne!(listed.code, 0, "{listed:?}");
    assert!(listed.stderr.contains("config.toml"), "{listed:?}");
}

/// Sends an event whose agent is in `folder`.
fn call_in(project: &Project, name: &str, folder: &Path, mut event: Value) {
    event["session_id"] = json!("s1");
    event["cwd"] = json!(folder);
    call_raw(project, CLAUDE, name, event.to_string().as_bytes());
}

#[test]
fn events_belong_to_the_project_in_which_the_session_began() {
    let project = Project::new();
    let (plain, other) = (
        project.home.path().join("plain"),
        project.home.path().join("other"),
    );
    for folder in [&plain, &other] {
        fs::create_dir_all(folder).unwrap();
    }
    assert_eq!(run_in(&project, &other, &["init"]).code, 0);
    let started = json!({"source": "startup"});
    call_in(&project, "SessionStart", project.path(), started);
    for (number, folder) in [&plain, &other].into_iter().enumerate() {
        let failed = json!({
            "tool_name": "Bash",
            "tool_input": {"command": format!("make test{number}")},
            "error": format!("Exit code 2\nFAILED case{number}"),
        });
        call_in(&project, "PostToolUseFailure", folder, failed);
    }
    let errors = project.ok(&["list", "--kind", "error"]).stdout;
    assert!(
        errors.contains("test0") && errors.contains("test1"),
        "{errors}"
    );
    let errors = run_in(&project, &other, &["list", "--kind", "error"]);
    assert!(!errors.stdout.contains("test1"), "{errors:?}");
    call_in(&project, "SessionEnd", &other, json!({"reason": "exit"}));
    let records = project.home.path().join(".local/share/heirloom/sessions");
    assert_eq!(fs::read_dir(&records).unwrap().count(), 0);

    // Sessions that never end do not accumulate.
    for number in 0..=limits::HOOK_SESSION_FOLDERS_MAX {
        fs::write(records.join(number.to_string()), "/").unwrap();
    }
    call_in(
        &project,
        "SessionStart",
        project.path(),
        json!({"source": "startup"}),
    );
    let left = fs::read_dir(&records).unwrap().count();
    assert_eq!(left, limits::HOOK_SESSION_FOLDERS_MAX);
}

#[test]
fn full_inbox_delays_no_command() {
    let project = Project::new();
    let inbox = project.file(".heirloom/inbox");
    fs::create_dir_all(&inbox).unwrap();
    let note = r#"{"type": "update_memory", "group": "main", "payload": {"content": "x"}}"#;
    for number in 0..limits::INBOX_LISTED_MAX + 500 {
        fs::write(inbox.join(format!("{number}.json")), note).unwrap();
    }
    let status = project.json(&["status"]);
    // Each command takes some files in, in bounded time, and leaves the rest.
    let waiting = status["inbox_waiting"].as_u64().unwrap();
    assert_eq!(waiting, limits::INBOX_LISTED_MAX as u64, "{status}");
    const { assert!(limits::INBOX_COMMAND_MS < limits::INBOX_WATCH_MS) };
    let listed = project.ok(&["list"]);
    assert!(listed.stderr.contains("wait in the inbox"), "{listed:?}");
}
