//! Where a summary goes besides its window, and what a session knows of its windows.

use super::{GOAL, LOW, Project, chat, good, with_service};
use heirloom_model::limits;
use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::process::Command;

const WHO: [&str; 8] = [
    "--session",
    "s",
    "--target-tokens",
    "9000",
    "--agent",
    "coder",
    "--group",
    "mine",
];

/// The records of summaries, those that were replaced included.
fn summaries(project: &Project) -> Vec<Value> {
    let listed = project.json(&["list", "--kind", "summary", "--all"]);
    listed["records"].as_array().unwrap().clone()
}

fn log(project: &Project) -> String {
    let folder = project.file(".heirloom/workspace/memory");
    let read = |entry: fs::DirEntry| fs::read_to_string(entry.path()).unwrap();
    fs::read_dir(folder)
        .unwrap()
        .map(|one| read(one.unwrap()))
        .collect()
}

#[test]
fn a_summary_is_a_record_a_line_of_the_log_and_the_group_s() {
    let mut project = Project::new();
    project.at("2026-05-01T10:00:00Z");
    let all = chat(60);
    project.compact(&WHO, &all[..20]);
    assert!(summaries(&project).is_empty());
    assert!(!project.file(".heirloom/groups").exists());
    project.compact(&WHO, &all);
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
        "a record is no window"
    );
    assert_eq!(
        (&record["session"], &record["agent"], &record["group"]),
        (&json!("s"), &json!("coder"), &json!("mine"))
    );
    assert!(
        log(&project).contains("Conversation s was summed up."),
        "{}",
        log(&project)
    );
    assert!(log(&project).contains("Goal: find out why the deploy"));
    let group = project.file(".heirloom/groups/mine/summary.md");
    let said = fs::read_to_string(&group).unwrap();
    assert!(said.starts_with("<!-- conversation s -->\n") && said.contains("## Task state"));
    // The same once more writes nothing: not one byte of the log, of the group, and no record.
    let before = (summaries(&project), log(&project), said);
    project.at("2026-05-02T10:00:00Z");
    project.compact(&WHO, &all);
    let after = (
        summaries(&project),
        log(&project),
        fs::read_to_string(&group).unwrap(),
    );
    assert_eq!(before, after);
    // The next step takes the place of the record; what people wrote in the group's file stays.
    let ours = format!("# Ours\n{}", after.2);
    project
        .folder
        .write(".heirloom/groups/mine/summary.md", ours)
        .unwrap();
    project.compact(&WHO, &chat(140));
    let said = fs::read_to_string(&group).unwrap();
    assert!(said.starts_with("# Ours\n") && said.matches("<!-- conversation").count() == 1);
    assert_ne!(format!("# Ours\n{}", after.2), said);
    let current = project.json(&["list", "--kind", "summary"]);
    assert_eq!(current["records"].as_array().unwrap().len(), 1);
    let shown = project.json(&["session", "show", "s", "-n", "1"]);
    assert_eq!(shown["agent"], "coder");
}

#[test]
fn what_files_refuse_is_told_and_the_window_is_there() {
    let project = Project::new();
    let args = [&LOW[..], &["--group", "../out"]].concat();
    let answer = project.compact(&args, &chat(60));
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
    let answer = project.compact(&LOW, &chat(60));
    assert!(answer.stderr.contains("not in today's log"), "{answer:?}");
}

#[test]
fn an_export_knows_windows_and_archives() {
    let (project, _service) = with_service(vec![good()], "");
    let all = chat(60);
    project.expect(&["session", "export", "s", "--windows"], 3);
    project.compact(&WHO, &all);
    let known = project.json(&["session", "export", "s", "--windows"]);
    assert_eq!(known["messages"], all.len());
    assert!(known["boundary"].as_u64() > Some(0), "{known}");
    assert_eq!(known["summaries"][0]["model"], "claude-sonnet-4-5");
    let archives = known["archives"].as_array().unwrap();
    assert!(!archives.is_empty() && archives.len() < limits::WINDOW_ARCHIVES_MAX);
    // All that was said is in those files and behind the boundary, without this program.
    let mut said: Vec<Value> = all[..1].to_vec();
    for one in archives {
        let file = one["file"].as_str().unwrap();
        assert!(file.contains("/archive/coder_"), "{file}");
        let text = fs::read_to_string(file).unwrap();
        let whole: Value = serde_json::from_str(&text).unwrap();
        said.extend(whole["messages"].as_array().unwrap().iter().cloned());
    }
    let boundary = usize::try_from(known["boundary"].as_u64().unwrap()).unwrap();
    said.extend(all[boundary..].iter().cloned());
    assert_eq!(said, all);
    project.input(
        &["session", "add", "--session", "t", "--role", "user"],
        b"hello",
    );
    project.expect(&["session", "export", "t", "--windows"], 3);
    project.ok(&["session", "export", "s"]);
}

#[test]
fn archives_can_be_packed_and_gzip_reads_them() {
    let project = Project::new();
    let all = chat(60);
    let args = [&WHO[..], &["--set", "archive.compress=gzip"]].concat();
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
    // Plain or packed, it is kept once.
    project.compact(&WHO, &all);
    assert_eq!(
        project.json(&["session", "export", "s", "--windows"]),
        known
    );
    let purged = project.json(&["purge", "--free", "--copies", "--yes"]);
    assert_eq!(purged["copies"], json!([]));
    project.expect(&["expand", id], 3);
}
