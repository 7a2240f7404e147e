//! Group notes: the command `group`, the inbox, and `watch`.

use crate::project::{Project, string};
use heirloom_model::limits;
use serde_json::json;
use std::fs;
use std::process::{Child, Stdio};

fn note_entry(content: &str) -> String {
    format!("## Notes (unknown, 2026-05-01 12:34)\n- {content}\n")
}

fn group_file_text(project: &Project) -> String {
    project
        .folder
        .read(".heirloom/groups/main/MEMORY.md")
        .unwrap_or_default()
}

fn update_request(content: &str) -> String {
    json!({"type": "update_memory", "group": "main", "payload": {"content": content}}).to_string()
}

fn assert_succeeds(child: Child) {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn group_note_is_shown_listed_and_recalled() {
    let mut project = Project::new();
    project.set_clock("2026-05-01T12:34:00Z");
    let noted = project.json(&["group", "note", "main", "the API is slow"]);
    assert_eq!(
        (&noted["outcome"], &noted["group"]),
        (&json!("created"), &json!("main"))
    );
    assert_eq!(group_file_text(&project), note_entry("the API is slow"));
    let hits = project.json(&["recall", "slow API"]);
    assert_eq!(hits["hits"][0]["id"], noted["id"]);
    let listed = project.json(&["group", "list"]);
    assert_eq!(
        listed,
        json!({"groups": [{"name": "main", "files": ["MEMORY.md"]}]})
    );
    let shown = project.ok(&["group", "show"]).stdout;
    assert_eq!(
        shown,
        format!("## Remembered Facts\n{}", note_entry("the API is slow"))
    );
    project.expect(&["group", "note", "main", " "], 4);
    project.expect(&["group", "note", "../x", "x"], 4);
    project.expect(&["group", "note", "", "x"], 4);
    assert_eq!(project.ok(&["group", "show", "other"]).stdout, "");
}

#[test]
fn command_that_opens_the_store_imports_the_inbox() {
    let mut project = Project::new();
    project.set_clock("2026-05-01T12:34:00Z");
    project
        .folder
        .write(".heirloom/inbox/1.json", update_request("dropped"))
        .unwrap();
    project.folder.write(".heirloom/inbox/2.json", "{").unwrap();
    let answer = project.ok(&["status"]);
    assert!(
        answer
            .stderr
            .contains("inbox/failed/2.json: it is not JSON"),
        "{answer:?}"
    );
    assert_eq!(group_file_text(&project), note_entry("dropped"));
    assert!(project.ok(&["recall", "dropped"]).stderr.is_empty());
}

/// Every note is in the store, whatever the person does. It is also in the file once the editor is closed and another
/// note was made.
#[test]
fn concurrent_notes_while_an_editor_saves_are_all_stored() {
    const NOTES: usize = 5;
    let project = Project::new();
    project.ok(&["group", "note", "main", "the first"]);
    let file = project.file(".heirloom/groups/main/MEMORY.md");
    let agents: Vec<_> = (0..20)
        .map(|agent| {
            let program = env!("CARGO_BIN_EXE_heirloom");
            let script = format!(
                "for n in $(seq {NOTES}); do '{program}' group note main \"note $n of {agent}\" --agent {agent} || exit 1; done"
            );
            let mut command = project.command::<&str>(&[]);
            let mut shell = std::process::Command::new("sh");
            shell
                .args(["-c", &script])
                .current_dir(project.path())
                .env_clear()
                .envs(command.env("X", "").get_envs().filter_map(|(k, v)| Some((k, v?))))
                .stdout(Stdio::null())
                .stderr(Stdio::piped());
            shell.spawn().unwrap()
        })
        .collect();
    // An editor reads the file, waits, writes a temporary file and renames it over the original; notes made meanwhile
    // are lost from the file.
    let mut edits = 0;
    while group_file_text(&project).matches("- note ").count() < 60 && edits < 40 {
        let file_text = fs::read_to_string(&file).unwrap();
        let before = file_text.len();
        let mut spins = 0;
        while spins < 200 && fs::read_to_string(&file).unwrap().len() == before {
            spins += 1;
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        edits += 1;
        let temporary = ".heirloom/groups/main/.MEMORY.md.swp";
        let edited = format!("edit {edits}\n{file_text}");
        fs::rename(project.folder.write(temporary, edited).unwrap(), &file).unwrap();
    }
    agents.into_iter().for_each(assert_succeeds);
    project.ok(&["group", "note", "main", "the last"]);
    let notes = project.list("note");
    assert_eq!(notes.len(), 20 * NOTES + 2);
    let text = group_file_text(&project);
    for note in &notes {
        let line = format!("- {}\n", string(&note["text"]));
        assert!(text.contains(&line), "{line} is not in\n{text}");
    }
    assert!(text.contains(&format!("edit {edits}\n")));
}

#[test]
fn watch_imports_dropped_files_and_ends_on_ctrl_c() {
    assert_eq!(1_000 % limits::WATCH_PAUSE_MS, 0);
    let project = Project::new();
    let mut watch = project.command(&["watch"]).spawn().unwrap();
    fs::create_dir_all(project.file(".heirloom/inbox")).unwrap();
    for n in 0..3 {
        let temporary = format!(".heirloom/inbox/{n}.tmp");
        let words = update_request(&format!("dropped {n}"));
        let temporary = project.folder.write(&temporary, words).unwrap();
        let dropped = project.file(&format!(".heirloom/inbox/{n}.json"));
        fs::rename(temporary, dropped).unwrap();
        while !group_file_text(&project).contains(&format!("- dropped {n}\n")) {
            assert!(watch.try_wait().unwrap().is_none());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
    let pid = watch.id().to_string();
    let killed = std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status();
    assert!(killed.unwrap().success());
    let output = watch.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("0.json noted"));
}

#[test]
fn bullet_of_person_in_group_file_is_recalled_once() {
    let project = Project::new();
    project.ok(&["group", "note", "main", "the API is slow before nine"]);
    let path = ".heirloom/groups/main/MEMORY.md";
    let text = fs::read_to_string(project.file(path)).unwrap();
    let longer = format!("{text}\n- the printer jams on Mondays\n");
    project.folder.write(path, longer).unwrap();
    let texts = |question: &str| {
        let hits = project.json(&["recall", question])["hits"].clone();
        let hits = hits.as_array().unwrap().iter();
        hits.map(|hit| (hit["text"].clone(), hit["scope"]["group"].clone()))
            .collect::<Vec<_>>()
    };
    let printer = (json!("the printer jams on Mondays"), json!("main"));
    assert_eq!(texts("when does the printer jam")[0], printer);
    let api = json!("the API is slow before nine");
    let known = texts("is the API slow");
    assert_eq!(known.iter().filter(|(text, _)| *text == api).count(), 1);
    project.folder.write(path, text).unwrap();
    assert!(!texts("when does the printer jam").contains(&printer));
}
