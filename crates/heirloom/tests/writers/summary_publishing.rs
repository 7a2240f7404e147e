//! Publication of summaries, and the windows of a session.

use super::{GOAL, LOW_TARGET, Project, conversation, project_with_service, summary_reply};
use heirloom_model::limits;
use heirloom_testkit::sh;
use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::process::Command;

const SESSION_OPTIONS: [&str; 8] = [
    "--session",
    "s",
    "--target-tokens",
    "9000",
    "--agent",
    "coder",
    "--group",
    "mine",
];

/// Returns the summary records, including replaced ones.
fn summaries(project: &Project) -> Vec<Value> {
    let listed = project.json(&["list", "--kind", "summary", "--all"]);
    listed["records"].as_array().unwrap().clone()
}

fn daily_log(project: &Project) -> String {
    let folder = project.file(".heirloom/workspace/memory");
    let read = |entry: fs::DirEntry| fs::read_to_string(entry.path()).unwrap();
    fs::read_dir(folder)
        .unwrap()
        .map(|one| read(one.unwrap()))
        .collect()
}

#[test]
fn summary_is_published_to_record_daily_log_and_group() {
    let mut project = Project::new();
    project.set_clock("2026-05-01T10:00:00Z");
    let all = conversation(60);
    project.compact(&SESSION_OPTIONS, &all[..20]);
    assert!(summaries(&project).is_empty());
    assert!(!project.file(".heirloom/groups").exists());
    project.compact(&SESSION_OPTIONS, &all);
    let [record] = &summaries(&project)[..] else {
        panic!("{:?}", summaries(&project));
    };
    let text = record["text"].as_str().unwrap();
    assert!(
        text.contains("## Task state") && text.contains(GOAL),
        "{text}"
    );
    assert!(
        !text.contains("CONVERSATION SUMMARY"),
        "a record has no window header"
    );
    assert_eq!(
        (&record["session"], &record["agent"], &record["group"]),
        (&json!("s"), &json!("coder"), &json!("mine"))
    );
    assert!(
        daily_log(&project).contains("Conversation s was summed up."),
        "{}",
        daily_log(&project)
    );
    assert!(daily_log(&project).contains("Goal: find out why the deploy"));
    let group = project.file(".heirloom/groups/mine/summary.md");
    let group_summary = fs::read_to_string(&group).unwrap();
    assert!(
        group_summary.starts_with("<!-- conversation s -->\n")
            && group_summary.contains("## Task state")
    );
    // Repeating the call writes nothing: no byte of the log or the group's file, and no record.
    let before = (summaries(&project), daily_log(&project), group_summary);
    project.set_clock("2026-05-02T10:00:00Z");
    project.compact(&SESSION_OPTIONS, &all);
    let after = (
        summaries(&project),
        daily_log(&project),
        fs::read_to_string(&group).unwrap(),
    );
    assert_eq!(before, after);
    // The next summary replaces the record; text of people in the group's file stays.
    let ours = format!("# Ours\n{}", after.2);
    project
        .folder
        .write(".heirloom/groups/mine/summary.md", ours)
        .unwrap();
    project.compact(&SESSION_OPTIONS, &conversation(140));
    let group_summary = fs::read_to_string(&group).unwrap();
    assert!(
        group_summary.starts_with("# Ours\n")
            && group_summary.matches("<!-- conversation").count() == 1
    );
    assert_ne!(format!("# Ours\n{}", after.2), group_summary);
    let current = project.json(&["list", "--kind", "summary"]);
    assert_eq!(current["records"].as_array().unwrap().len(), 1);
    let shown = project.json(&sh("session show s -n 1"));
    assert_eq!(shown["agent"], "coder");
}

#[test]
fn failed_publication_is_reported_and_window_is_printed() {
    let project = Project::new();
    let args = [&LOW_TARGET[..], &["--group", "../out"]].concat();
    let answer = project.compact(&args, &conversation(60));
    assert!(
        answer.stderr.contains("not in that of the group"),
        "{answer:?}"
    );
    assert!(answer.stdout.contains("CONVERSATION SUMMARY"));
    project.expect(&["compact", "--group", "mine"], 2);
    let project = Project::new();
    let memory = project.file(".heirloom/workspace/memory");
    fs::create_dir_all(memory.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(project.home.path(), &memory).unwrap();
    let answer = project.compact(&LOW_TARGET, &conversation(60));
    assert!(answer.stderr.contains("not in today's log"), "{answer:?}");
}

#[test]
fn session_export_lists_windows_and_archives() {
    let (project, _service) = project_with_service(vec![summary_reply()], "");
    let all = conversation(60);
    project.expect(&["session", "export", "s", "--windows"], 3);
    project.compact(&SESSION_OPTIONS, &all);
    let known = project.json(&["session", "export", "s", "--windows"]);
    assert_eq!(known["messages"], all.len());
    assert!(known["boundary"].as_u64() > Some(0), "{known}");
    assert_eq!(known["summaries"][0]["model"], "claude-sonnet-4-5");
    let archives = known["archives"].as_array().unwrap();
    assert!(!archives.is_empty() && archives.len() < limits::WINDOW_ARCHIVES_MAX);
    // The archives and the messages after the boundary contain the complete conversation, readable without Heirloom.
    let mut messages_seen: Vec<Value> = all[..1].to_vec();
    for one in archives {
        let file = one["file"].as_str().unwrap();
        assert!(file.contains("/archive/coder_"), "{file}");
        let text = fs::read_to_string(file).unwrap();
        let whole: Value = serde_json::from_str(&text).unwrap();
        messages_seen.extend(whole["messages"].as_array().unwrap().iter().cloned());
    }
    let boundary = usize::try_from(known["boundary"].as_u64().unwrap()).unwrap();
    messages_seen.extend(all[boundary..].iter().cloned());
    assert_eq!(messages_seen, all);
    project.input(&sh("session add --session t --role user"), b"hello");
    project.expect(&["session", "export", "t", "--windows"], 3);
    project.ok(&["session", "export", "s"]);
}

#[test]
fn archives_can_be_compressed_with_gzip() {
    let project = Project::new();
    let all = conversation(60);
    let args = [&SESSION_OPTIONS[..], &["--set", "archive.compress=gzip"]].concat();
    project.compact(&args, &all);
    let known = project.json(&["session", "export", "s", "--windows"]);
    let archive = &known["archives"][0];
    let file = archive["file"].as_str().unwrap();
    assert!(file.ends_with(".json.gz"), "{file}");
    let mut bytes = Vec::new();
    fs::File::open(file)
        .unwrap()
        .read_to_end(&mut bytes)
        .unwrap();
    assert_eq!(bytes[..2], [0x1f, 0x8b]);
    let id = archive["id"].as_str().unwrap();
    let expanded = project.json(&["expand", id]);
    let messages = expanded["messages"].as_array().unwrap();
    assert_eq!(messages[..], all[1..=messages.len()]);
    if let Ok(out) = Command::new("gzip").args(["-dc", file]).output() {
        let whole: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(whole["messages"], expanded["messages"]);
    }
    // Compressed or not, an archive is stored once.
    project.compact(&SESSION_OPTIONS, &all);
    assert_eq!(
        project.json(&["session", "export", "s", "--windows"]),
        known
    );
    let purged = project.json(&["purge", "--free", "--copies", "--yes"]);
    assert_eq!(purged["copies"], json!([]));
    project.expect(&["expand", id], 3);
}
