//! `backup` and `restore`.

use crate::project::{Project, mode, string};
use std::fs;

fn facts(project: &Project) -> Vec<String> {
    let list = project.list("knowledge");
    list.iter().map(|record| string(&record["text"])).collect()
}

#[test]
fn a_backup_is_gone_back_to_and_from() {
    let project = Project::new();
    project.remember("one", &[]);
    let said = project.json(&["backup", "copy.db"]);
    assert_eq!(said["file"], "copy.db");
    assert!(said["size_bytes"].as_u64().unwrap() > 0);
    assert_eq!(
        said["schema_version"],
        project.json(&["status"])["schema_version"]
    );
    assert_eq!(mode(&project.file("copy.db")), 0o600);
    project.remember("two", &[]);
    let text = project.ok(&["backup", "copy-2.db"]).stdout;
    assert!(text.contains("copy-2.db"), "{text}");

    let said = project.json(&["restore", "copy.db"]);
    assert_eq!(said["records"], 1);
    assert_eq!(said["was_damaged"], false);
    assert_eq!(facts(&project), ["one"]);
    let previous = string(&said["previous"]);
    assert!(
        previous.contains("heirloom.db.before-restore-"),
        "{previous}"
    );
    assert_eq!(mode(previous.as_ref()), 0o600);
    let answer = project.ok(&["restore", &previous]);
    assert!(answer.stderr.contains("goes back"), "{answer:?}");
    assert_eq!(facts(&project), ["two", "one"]);
}

#[test]
fn a_backup_replaces_nothing_that_is_none() {
    let project = Project::new();
    project.remember("one", &[]);
    project.folder.write("thesis.txt", "years of work").unwrap();
    for place in [
        "thesis.txt",
        ".heirloom/heirloom.db",
        ".heirloom/heirloom.db-wal",
    ] {
        let answer = project.expect(&["backup", place, "--json"], 4);
        let said = string(&answer.error()["message"]);
        assert!(said.contains(place), "{said}");
    }
    assert_eq!(project.folder.read("thesis.txt").unwrap(), "years of work");
    assert_eq!(facts(&project), ["one"]);
    project.expect(&["backup", "no/such/folder/copy.db"], 1);
}

#[test]
fn what_cannot_be_restored_changes_nothing() {
    let project = Project::new();
    project.remember("one", &[]);
    project.folder.write("thesis.txt", "years of work").unwrap();
    let answer = project.expect(&["restore", "thesis.txt", "--json"], 1);
    let said = string(&answer.error()["message"]);
    assert!(said.contains("thesis.txt"), "{said}");
    project.expect(&["restore", "missing.db"], 3);
    project.expect(&["restore", ".heirloom/heirloom.db"], 4);
    project.ok(&["backup", "newer.db"]);
    let connection = fs::read(project.file("newer.db")).unwrap();
    let mut bytes = connection;
    // The version of the schema, in the header.
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::remove_file(project.file("newer.db")).unwrap();
    project.folder.write("newer.db", &bytes).unwrap();
    let answer = project.expect(&["restore", "newer.db", "--json"], 1);
    let said = string(&answer.error()["message"]);
    assert!(said.contains("99") && said.contains("newer.db"), "{said}");
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
fn a_missing_store_comes_back() {
    let project = Project::new();
    project.remember("one", &[]);
    project.ok(&["backup", "copy.db"]);
    fs::remove_file(project.file(".heirloom/heirloom.db")).unwrap();
    let answer = project.expect(&["list", "--json"], 3);
    assert!(string(&answer.error()["hint"]).contains("heirloom restore FILE"));
    let said = project.json(&["restore", "copy.db"]);
    assert_eq!(said["previous"], serde_json::Value::Null);
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
fn the_mirror_goes_back_too() {
    let project = Project::new();
    project.ok(&["outcome", "--task", "7", "--status", "PARTIAL"]);
    project.ok(&[
        "run",
        "--iterations",
        "1",
        "--",
        "sh",
        "-c",
        "echo 'HEIRLOOM_MEMORY: KEY_FACT one'",
    ]);
    project.ok(&["backup", "copy.db"]);
    project.ok(&[
        "run",
        "--iterations",
        "1",
        "--",
        "sh",
        "-c",
        "echo 'HEIRLOOM_MEMORY: KEY_FACT two'",
    ]);
    let mirror = || project.folder.read(".heirloom/memory.json").unwrap();
    assert!(mirror().contains("\"two\""), "{}", mirror());
    let said = project.json(&["restore", "copy.db"]);
    assert!(string(&said["mirror"]).ends_with("memory.json"));
    assert!(
        mirror().contains("\"one\"") && !mirror().contains("\"two\""),
        "{}",
        mirror()
    );
    project.ok(&["doctor"]);
}
