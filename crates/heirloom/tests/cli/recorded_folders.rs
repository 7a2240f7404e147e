//! Folders in which conversations were recorded: of other systems, moved, removed, behind links.

use crate::project::{Project, answer, string};
use crate::transcript_fixture::TranscriptFixture;
use heirloom_model::limits;
use heirloom_testkit::TempProject;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Writes a conversation of Claude Code that was recorded in a folder, and returns its path.
fn write_conversation(project: &Project, session: &str, folder: &str) -> String {
    let mut transcript = TranscriptFixture::new(session, Path::new(folder));
    transcript.add_user_message(&format!("words of {session}"));
    let name = format!(".claude/projects/{session}/{session}.jsonl");
    let file = project.home.write(&name, transcript.text()).unwrap();
    file.to_str().unwrap().to_owned()
}

fn created(report: &Value) -> u64 {
    report["created"].as_u64().unwrap()
}

#[test]
fn windows_folder_is_found_in_every_spelling_and_its_files_are_relative() {
    let spellings = [
        r"C:\Users\dev\shop",
        r"c:\users\dev\Shop\",
        "C:/Users/dev/shop",
        "/mnt/c/Users/dev/shop",
        r"\\wsl.localhost\Ubuntu\mnt\c\Users\dev\shop",
    ];
    for (n, root) in spellings.iter().enumerate() {
        let recorded = format!("{root}/packages/api");
        let named = spellings[(n + 1) % spellings.len()];
        let project = Project::new();
        let mut transcript = TranscriptFixture::new("win", Path::new(&recorded));
        transcript.add_user_message("Always run the linter first.");
        let edited = r"C:\Users\dev\shop\packages\api\src\Main.rs";
        transcript.add_tool_call("c", "Write", &json!({"file_path": edited}));
        transcript.add_tool_result("c", "written", false);
        let file = project
            .folder
            .write("win.jsonl", transcript.text())
            .unwrap();
        let file = file.to_str().unwrap();
        assert_eq!(created(&project.json(&["import", "claude", file])), 0);
        let report = project.json(&["import", "claude", file, "--recorded-in", named]);
        assert!(created(&report) > 0, "{recorded} by {named}: {report}");
        let files: Vec<_> = project
            .list("artifact")
            .iter()
            .map(|file| string(&file["text"]))
            .collect();
        assert_eq!(files, ["packages/api/src/Main.rs"], "{recorded} by {named}");
    }
}

#[test]
fn hashed_folder_is_found_by_its_former_path() {
    let old = "/home/dev/old-shop";
    // The SHA-256 of this path.
    let hash = "f7a5de6f54e9eb579b115fde9873a450c839b248a82683fe21a099a4fb8badba";
    let lines = [
        json!({"sessionId": "b14", "projectHash": hash, "startTime": "2026-08-01T10:00:00Z",
            "lastUpdated": "2026-08-01T10:00:00Z", "kind": "main"}),
        json!({"id": "a", "timestamp": "2026-08-01T10:00:01Z", "type": "user",
            "content": [{"text": "always run make lint first"}]}),
    ];
    for (named, count) in [(old, 1), ("/home/dev/old-shop/", 1), ("/home/dev/other", 0)] {
        let project = Project::new();
        let text = lines
            .iter()
            .map(|line| format!("{line}\n"))
            .collect::<String>();
        let file = project.folder.write("session-b14.jsonl", text).unwrap();
        let file = file.to_str().unwrap();
        let report = project.json(&["import", "gemini", file, "--recorded-in", named]);
        assert_eq!(created(&report), count, "{named}: {report}");
    }
}

#[test]
fn conversation_of_a_removed_worktree_belongs_to_the_project_that_was_seen_there() {
    let project = Project::git();
    let side = TempProject::plain().unwrap();
    let [by_command, by_hook, unseen] = ["command", "hook", "unseen"].map(|name| {
        let tree = side.path().join(name);
        let path = tree.to_str().unwrap().to_owned();
        project
            .folder
            .run_git(&["worktree", "add", "-q", &path, "-b", name])
            .unwrap();
        path
    });
    answer(project.command(&["status"]).current_dir(&by_command));
    let event = json!({"session_id": "s", "hook_event_name": "SessionStart", "cwd": by_hook, "source": "startup"});
    project.input(
        &["hook", "claude-code", "SessionStart"],
        event.to_string().as_bytes(),
    );
    for tree in [&by_command, &by_hook, &unseen] {
        project
            .folder
            .run_git(&["worktree", "remove", "--force", tree])
            .unwrap();
    }
    for (session, tree) in [("one", &by_command), ("two", &by_hook), ("three", &unseen)] {
        write_conversation(&project, session, &format!("{tree}/crates"));
    }
    let report = project.json(&["import", "claude", "--all"]);
    assert_eq!(
        (&report["files"], created(&report)),
        (&json!(2), 2),
        "{report}"
    );
    let unseen_folder = format!("{unseen}/crates");
    assert_eq!(
        report["former_folders"],
        json!([{"folder": unseen_folder, "conversations": 1}])
    );
    let told = project.ok(&["import", "claude", "--all"]).stderr;
    assert!(told.contains(&format!("{unseen_folder} (1)")), "{told}");
    assert!(told.contains("--recorded-in"), "{told}");
    // Another project does not get them, wherever it is.
    let other = Project::git();
    let file = project.home.path().join(".claude/projects/one/one.jsonl");
    let report = other.json(&["import", "claude", file.to_str().unwrap()]);
    assert_eq!(created(&report), 0);
    let second = TempProject::git().unwrap();
    let in_second = |args: &[&str]| answer(project.command(args).current_dir(second.path()));
    in_second(&["init"]);
    let report = in_second(&["import", "claude", "--all", "--json"]).json();
    assert_eq!(created(&report), 0, "{report}");
}

#[test]
fn folder_that_belongs_to_another_project_today_is_not_claimed() {
    let project = Project::git();
    let side = TempProject::plain().unwrap();
    let tree = side.path().join("tree");
    let path = tree.to_str().unwrap();
    project
        .folder
        .run_git(&["worktree", "add", "-q", path, "-b", "side"])
        .unwrap();
    answer(project.command(&["status"]).current_dir(&tree));
    project
        .folder
        .run_git(&["worktree", "remove", "--force", path])
        .unwrap();
    fs::create_dir_all(tree.join(".heirloom")).unwrap();
    side.write("tree/.heirloom/config.toml", "").unwrap();
    write_conversation(&project, "one", path);
    let report = project.json(&["import", "claude"]);
    assert_eq!(created(&report), 0, "{report}");
}

#[cfg(unix)]
#[test]
fn conversation_behind_a_removed_link_belongs_to_the_project_that_was_seen_there() {
    let project = Project::new();
    let side = TempProject::plain().unwrap();
    let link = side.path().join("shop");
    std::os::unix::fs::symlink(project.path(), &link).unwrap();
    project.folder.write("src/x", "").unwrap();
    let event = json!({"session_id": "s", "hook_event_name": "SessionStart", "cwd": link.join("src"), "source": "startup"});
    project.input(
        &["hook", "claude-code", "SessionStart"],
        event.to_string().as_bytes(),
    );
    write_conversation(&project, "linked", link.to_str().unwrap());
    fs::remove_file(&link).unwrap();
    let report = project.json(&["import", "claude"]);
    assert_eq!(created(&report), 1, "{report}");
}

#[test]
fn import_names_the_former_folders_with_the_most_conversations() {
    let project = Project::new();
    let folders = limits::FORMER_FOLDERS_SHOWN_MAX + 1;
    for n in 0..folders {
        for more in 0..=n {
            write_conversation(&project, &format!("s{n}-{more}"), &format!("/gone/shop{n}"));
        }
    }
    let report = project.json(&["import", "claude"]);
    let named = report["former_folders"].as_array().unwrap();
    assert_eq!(named.len(), limits::FORMER_FOLDERS_SHOWN_MAX);
    let most = format!("/gone/shop{}", folders - 1);
    assert_eq!(named[0], json!({"folder": most, "conversations": folders}));
    assert!(!named.iter().any(|folder| folder["folder"] == "/gone/shop0"));
}
