//! The command `artifact`.

use crate::project::{Project, string, texts};
use heirloom_testkit::sh;
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, symlink};

fn add(project: &Project, path: &str, options: &[&str]) -> Value {
    let all = ["artifact", "add", path, "--task", "1", "--agent", "codex"];
    project.json(&[&all[..], options].concat())
}

fn write(project: &Project, name: &str, text: &str) {
    project.folder.write(name, text).unwrap();
}

fn statuses(project: &Project, options: &[&str]) -> Vec<String> {
    let found = project.json(&[&["artifact", "verify"], options].concat());
    let found = found["artifacts"].as_array().unwrap();
    let line = |one: &Value| format!("{} {}", string(&one["path"]), string(&one["status"]));
    found.iter().map(line).collect()
}

#[test]
fn artifact_add_stores_size_and_checksum() {
    let project = Project::new();
    write(&project, "a_test.rs", "abc");
    let options = ["--type", "test", "--description", "the proof"];
    let made = add(&project, "./a_test.rs", &options);
    assert_eq!(made["outcome"], "created");
    assert_eq!(add(&project, "a_test.rs", &options)["outcome"], "unchanged");
    let listed = project.json(&["artifact", "list"]);
    let one = &listed["artifacts"][0];
    for (name, value) in [
        ("id", made["id"].clone()),
        ("kind", json!("artifact")),
        ("task", json!("1")),
        ("agent", json!("codex")),
        ("type", json!("test")),
        ("path", json!("a_test.rs")),
        ("description", json!("the proof")),
        ("size_bytes", json!(3)),
        (
            "checksum",
            json!("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ),
    ] {
        assert_eq!(one[name], value, "{name}");
    }
    assert_eq!(project.list("task").len(), 1, "an unknown task is created");
    let text = project.ok(&["artifact", "list"]).stdout;
    assert!(
        text.contains("a_test.rs") && text.contains("the proof"),
        "{text}"
    );
    write(&project, "a_test.rs", "abcd");
    assert_eq!(add(&project, "a_test.rs", &options)["outcome"], "replaced");
}

#[test]
fn artifact_verify_reports_the_status_of_each_file() {
    let project = Project::new();
    for (name, kind) in [("same", "file"), ("changed", "patch"), ("gone", "config")] {
        write(&project, name, name);
        add(&project, name, &["--type", kind]);
    }
    project.ok(&[
        "outcome", "--task", "1", "--status", "PARTIAL", "--file", "modified",
    ]);
    let strict = |code: i32| {
        project.expect(&["artifact", "verify", "--strict"], code);
    };
    assert_eq!(
        statuses(&project, &[]),
        [
            "modified unknown",
            "gone unchanged",
            "changed unchanged",
            "same unchanged"
        ]
    );
    strict(0);
    write(&project, "changed", "CHANGED");
    std::fs::remove_file(project.file("gone")).unwrap();
    assert_eq!(
        statuses(&project, &["--task", "1"]),
        [
            "modified unknown",
            "gone missing",
            "changed changed",
            "same unchanged"
        ]
    );
    assert_eq!(
        statuses(&project, &["--type", "patch"]),
        ["changed changed"]
    );
    assert_eq!(statuses(&project, &["--task", "2"]), Vec::<String>::new());
    strict(1);
    project.expect(&["artifact", "verify"], 0);
    project.expect(&sh("artifact verify --strict --type file"), 0);
    let text = project.ok(&["artifact", "verify"]).stdout;
    assert!(text.contains("missing"), "{text}");
}

#[test]
fn artifact_add_of_an_invalid_path_is_refused() {
    let project = Project::new();
    write(&project, "a", "x");
    symlink("/etc", project.file("out")).unwrap();
    std::fs::create_dir(project.file("folder")).unwrap();
    let check = |path: &str, code: i32| {
        project.expect(&["artifact", "add", path, "--task", "1"], code);
    };
    check("../a", 4);
    check("/etc/hostname", 4);
    check("out/hostname", 4);
    check("folder", 2);
    check("nothing", 3);
    check("", 4);
    // Files that Heirloom and git keep for themselves, also by a link.
    write(&project, ".heirloom/tokens.json", "[]");
    symlink(project.file(".heirloom"), project.file("link")).unwrap();
    for path in ["tokens.json", "heirloom.db", "config.toml", "memory.json"] {
        check(&format!(".heirloom/{path}"), 4);
        check(&format!("link/{path}"), 4);
    }
    check(".git/config", 4);
    write(&project, "secret", "x");
    let locked = std::fs::Permissions::from_mode(0o0);
    std::fs::set_permissions(project.file("secret"), locked).unwrap();
    // Root can read the file in spite of its mode.
    if std::fs::read(project.file("secret")).is_err() {
        check("secret", 1);
    }
    project.expect(&["artifact", "add", "a"], 2);
    project.expect(&sh("artifact add a --task 1 --type thing"), 2);
    assert_eq!(project.list("artifact").len(), 0);
    assert_eq!(project.list("task").len(), 0);
    let inside = project.file("a").canonicalize().unwrap();
    add(&project, inside.to_str().unwrap(), &[]);
    assert_eq!(
        texts(&project.json(&["artifact", "list"])["artifacts"]),
        ["a"]
    );
}

#[test]
fn artifact_remove_checks_the_agent_and_keeps_the_file() {
    let project = Project::new();
    write(&project, "a", "x");
    let id = string(&add(&project, "a", &[])["id"]);
    let remove = |options: &[&str], code: i32| {
        project.expect(
            &[&["artifact", "remove", &id, "--json"], options].concat(),
            code,
        )
    };
    let refused = remove(&["--agent", "claude"], 4).error();
    assert!(string(&refused["message"]).contains("codex"), "{refused}");
    remove(&["--as", "agent"], 2);
    remove(&["--as", "user", "--agent", "codex"], 2);
    for who in [
        &["--agent", "codex"][..],
        &["--as", "orchestrator"],
        &["--as", "user"],
        &[],
    ] {
        assert_eq!(remove(who, 0).json()["outcome"], "retired");
        assert_eq!(project.list("artifact").len(), 0);
        assert!(project.file("a").exists());
        remove(who, 1);
        project.ok(&["undo", &id]);
    }
    let event = project.json(&["history", &id]);
    assert!(
        event["events"]
            .as_array()
            .unwrap()
            .iter()
            .any(|e| e["by"] == "orchestrator")
    );
    project.expect(&["artifact", "remove", "ffffffff"], 3);
}
