//! Inbox files and edited workspace files: ingested by commands only after a change, and in servers by a background
//! task, not by requests.

use crate::mcp::Client;
use crate::project::{Project, string};
use heirloom_model::limits;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

const MEMORY: &str = ".heirloom/workspace/MEMORY.md";

/// Returns inode, size and modification time of each file in a folder, and of the folders.
fn file_states(folder: &Path) -> BTreeMap<PathBuf, (u64, u64, SystemTime)> {
    let mut states = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let found = path.symlink_metadata().unwrap();
            // SQLite writes the shared memory of its log for each reader.
            let is_shared_memory = path.to_string_lossy().ends_with("-shm");
            if !is_shared_memory {
                let state = (found.ino(), found.len(), found.modified().unwrap());
                states.insert(path.clone(), state);
            }
            if found.is_dir() {
                folders.push(path);
            }
        }
    }
    states
}

fn write_note(project: &Project, name: &str, text: &str) {
    let note = json!({"type": "update_memory", "payload": {"content": text}});
    let inbox = project.file(".heirloom/inbox");
    let hidden = format!(".heirloom/inbox/.{name}");
    let hidden = project.folder.write(&hidden, note.to_string()).unwrap();
    fs::rename(hidden, inbox.join(name)).unwrap();
}

fn has_hit(answer: &Value, text: &str) -> bool {
    let hits = answer["hits"].as_array().unwrap();
    hits.iter().any(|hit| string(&hit["text"]).contains(text))
}

#[test]
fn recall_without_changed_files_writes_no_file() {
    let project = Project::new();
    project
        .folder
        .write(MEMORY, "- the port is 8080\n")
        .unwrap();
    write_note(&project, "a.json", "the build needs clang");
    assert!(has_hit(&project.json(&["recall", "which port"]), "8080"));
    // The files of `init` may be as new as the index that the first command wrote.
    thread::sleep(Duration::from_millis(100));
    project.json(&["recall", "which port"]);
    let before = file_states(&project.file(".heirloom"));
    assert!(has_hit(
        &project.json(&["recall", "which compiler for the build"]),
        "clang"
    ));
    assert_eq!(file_states(&project.file(".heirloom")), before);
}

#[test]
fn recall_finds_files_changed_just_before() {
    let project = Project::new();
    for n in 0..5 {
        let text = format!("- the zebra number is {n}\n");
        project.folder.write(MEMORY, &text).unwrap();
        write_note(&project, "a.json", &format!("the lion number is {n}"));
        let found = project.json(&["recall", "zebra number"]);
        assert!(has_hit(&found, &format!("zebra number is {n}")), "{found}");
        let found = project.json(&["recall", "lion number"]);
        assert!(has_hit(&found, &format!("lion number is {n}")), "{found}");
    }
}

#[test]
fn recall_request_over_mcp_leaves_files_to_the_background_task() {
    let project = Project::new();
    let mut client = Client::new(&project);
    client.request(
        "tools/call",
        json!({"name": "recall", "arguments": {"query": "a"}}),
    );
    let mut answered_before_ingest = 0;
    for n in 0..10 {
        let name = format!("{n}.json");
        write_note(&project, &name, &format!("the lion number is {n}"));
        let text = format!("- the zebra number is {n}\n");
        project.folder.write(MEMORY, &text).unwrap();
        let question = json!({"query": "which numbers", "k": 100});
        let request = json!({"name": "recall", "arguments": question});
        client.request("tools/call", request.clone());
        let waiting = project.file(&format!(".heirloom/inbox/{name}"));
        answered_before_ingest += usize::from(waiting.exists());
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            let answer = client.request("tools/call", request.clone());
            let found = &answer["structuredContent"];
            let is_found = |word| has_hit(found, &format!("the {word} number is {n}"));
            if is_found("lion") && is_found("zebra") {
                break;
            }
            assert!(Instant::now() < until, "{found}");
            thread::sleep(Duration::from_millis(10));
        }
    }
    // A pass of the background task may coincide with a request, but not each time.
    const { assert!(limits::SERVER_WATCH_PAUSE_MS >= 100) };
    assert!(answered_before_ingest > 0);
    assert_eq!(client.close().1, 0);
}

#[test]
fn invalid_inbox_file_is_reported_to_the_mcp_client_once() {
    let project = Project::new();
    let mut client = Client::new(&project);
    client.request("logging/setLevel", json!({"level": "warning"}));
    client.request(
        "tools/call",
        json!({"name": "recall", "arguments": {"query": "a"}}),
    );
    let note = json!({"type": "no such type"}).to_string();
    let bad = project
        .folder
        .write(".heirloom/inbox/bad.json", note)
        .unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    while bad.exists() || !project.file(".heirloom/inbox/failed/bad.json").exists() {
        assert!(Instant::now() < until);
        thread::sleep(Duration::from_millis(50));
    }
    for _ in 0..20 {
        client.request(
            "tools/call",
            json!({"name": "recall", "arguments": {"query": "a"}}),
        );
        thread::sleep(Duration::from_millis(50));
    }
    let is_warning = |one: &&Value| one.to_string().contains("inbox/failed/bad.json");
    let warnings = client.other_messages.iter().filter(is_warning).count();
    assert_eq!(warnings, 1, "{:?}", client.other_messages);
    assert_eq!(client.close().1, 0);
}
