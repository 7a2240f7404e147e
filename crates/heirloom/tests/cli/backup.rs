//! The commands `backup` and `restore`.

use crate::project::{Project, mode, string};
use heirloom_testkit::sh;
use std::fs;

fn facts(project: &Project) -> Vec<String> {
    let list = project.list("knowledge");
    list.iter().map(|record| string(&record["text"])).collect()
}

#[test]
fn restore_replaces_the_store_and_retains_the_previous_one() {
    let project = Project::new();
    project.remember("one", &[]);
    let output = project.json(&["backup", "copy.db"]);
    assert_eq!(output["file"], "copy.db");
    assert!(output["size_bytes"].as_u64().unwrap() > 0);
    assert_eq!(
        output["schema_version"],
        project.json(&["status"])["schema_version"]
    );
    assert_eq!(mode(&project.file("copy.db")), 0o600);
    project.remember("two", &[]);
    let text = project.ok(&["backup", "copy-2.db"]).stdout;
    assert!(text.contains("copy-2.db"), "{text}");

    let output = project.json(&["restore", "copy.db"]);
    assert_eq!(output["records"], 1);
    assert_eq!(output["was_damaged"], false);
    assert_eq!(facts(&project), ["one"]);
    let previous = string(&output["previous"]);
    assert!(
        previous.contains("heirloom.db.before-restore-"),
        "{previous}"
    );
    assert_eq!(mode(previous.as_ref()), 0o600);
    let answer = project.ok(&["restore", &previous]);
    assert!(
        answer.stderr.contains("restores the previous state"),
        "{answer:?}"
    );
    assert_eq!(facts(&project), ["two", "one"]);
}

#[test]
fn backup_onto_a_foreign_file_is_refused() {
    let project = Project::new();
    project.remember("one", &[]);
    project.folder.write("thesis.txt", "years of work").unwrap();
    for place in [
        "thesis.txt",
        ".heirloom/heirloom.db",
        ".heirloom/heirloom.db-wal",
    ] {
        let answer = project.expect(&["backup", place, "--json"], 4);
        let output = string(&answer.error()["message"]);
        assert!(output.contains(place), "{output}");
    }
    assert_eq!(project.folder.read("thesis.txt").unwrap(), "years of work");
    assert_eq!(facts(&project), ["one"]);
    project.expect(&["backup", "no/such/folder/copy.db"], 1);
}

#[test]
fn restore_from_an_invalid_file_changes_nothing() {
    let project = Project::new();
    project.remember("one", &[]);
    project.folder.write("thesis.txt", "years of work").unwrap();
    let answer = project.expect(&["restore", "thesis.txt", "--json"], 1);
    let output = string(&answer.error()["message"]);
    assert!(output.contains("thesis.txt"), "{output}");
    project.expect(&["restore", "missing.db"], 3);
    project.expect(&["restore", ".heirloom/heirloom.db"], 4);
    project.ok(&["backup", "newer.db"]);
    let connection = fs::read(project.file("newer.db")).unwrap();
    let mut bytes = connection;
    // The schema version in the header.
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::remove_file(project.file("newer.db")).unwrap();
    project.folder.write("newer.db", &bytes).unwrap();
    let answer = project.expect(&["restore", "newer.db", "--json"], 1);
    let output = string(&answer.error()["message"]);
    assert!(
        output.contains("99") && output.contains("newer.db"),
        "{output}"
    );
    assert_eq!(facts(&project), ["one"]);
    let names = fs::read_dir(project.file(".heirloom")).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        names
            .iter()
            .all(|name| !name.to_string_lossy().contains("before-restore"))
    );
}

#[test]
fn restore_recreates_a_missing_store() {
    let project = Project::new();
    project.remember("one", &[]);
    project.ok(&["backup", "copy.db"]);
    fs::remove_file(project.file(".heirloom/heirloom.db")).unwrap();
    let answer = project.expect(&["list", "--json"], 3);
    assert!(string(&answer.error()["hint"]).contains("heirloom restore FILE"));
    let output = project.json(&["restore", "copy.db"]);
    assert_eq!(output["previous"], serde_json::Value::Null);
    assert_eq!(facts(&project), ["one"]);
    // The folder may be a fresh clone's, with the config only.
    for name in ["heirloom.db", "store.json"] {
        fs::remove_file(project.file(".heirloom").join(name)).unwrap();
    }
    project.ok(&["restore", "copy.db"]);
    assert_eq!(facts(&project), ["one"]);
    assert!(project.file(".heirloom/store.json").exists());
}

#[test]
fn restore_rewrites_the_mirror() {
    let project = Project::new();
    project.ok(&sh("outcome --task 7 --status PARTIAL"));
    project.ok(&sh(
        r#"run --iterations 1 -- sh -c "echo 'HEIRLOOM_MEMORY: KEY_FACT one'""#,
    ));
    project.ok(&["backup", "copy.db"]);
    project.ok(&sh(
        r#"run --iterations 1 -- sh -c "echo 'HEIRLOOM_MEMORY: KEY_FACT two'""#,
    ));
    let mirror = || project.folder.read(".heirloom/memory.json").unwrap();
    assert!(mirror().contains("\"two\""), "{}", mirror());
    let output = project.json(&["restore", "copy.db"]);
    assert!(string(&output["mirror"]).ends_with("memory.json"));
    assert!(
        mirror().contains("\"one\"") && !mirror().contains("\"two\""),
        "{}",
        mirror()
    );
    project.ok(&["doctor"]);
}
