//! Settings in layers.

use crate::project::{Answer, Project, answer};
use serde_json::Value;

fn setting(answer: &Answer, key: &str) -> Value {
    let json = answer.json();
    let list = json["config"].as_array().unwrap();
    list.iter()
        .find(|one| one["key"] == key)
        .unwrap_or_else(|| panic!("{key}: {json}"))
        .clone()
}

#[test]
fn later_layers_win_and_say_where_they_are() {
    let project = Project::new();
    let key = "memory.max_entries";
    let args = ["config", "--json"];
    let said = setting(&project.ok(&args), key);
    assert_eq!(
        (&said["value"], &said["origin"]),
        (&50.into(), &"default".into())
    );
    let user = project
        .home
        .write(
            ".config/heirloom/config.toml",
            "[memory]\nmax_entries = 1\n",
        )
        .unwrap();
    let said = setting(&project.ok(&args), key);
    assert_eq!(
        (&said["value"], &said["origin"]),
        (&1.into(), &"user".into())
    );
    assert_eq!(said["place"], user.to_str().unwrap());
    project.configure("max_entries = 2\n");
    let said = setting(&project.ok(&args), key);
    assert_eq!(
        (&said["value"], &said["origin"]),
        (&2.into(), &"project".into())
    );
    assert_eq!(
        said["place"],
        project.file(".heirloom/config.toml").to_str().unwrap()
    );
    let said = answer(
        project
            .command(&args)
            .env("HEIRLOOM_MEMORY_MAX_ENTRIES", "3"),
    );
    let one = setting(&said, key);
    assert_eq!(
        (&one["value"], &one["origin"]),
        (&3.into(), &"environment".into())
    );
    assert_eq!(one["place"], "HEIRLOOM_MEMORY_MAX_ENTRIES");
    let mut command = project.command(&["config", "--json", "--set", "memory.max_entries=4"]);
    let said = setting(
        &answer(command.env("HEIRLOOM_MEMORY_MAX_ENTRIES", "3")),
        key,
    );
    assert_eq!(
        (&said["value"], &said["origin"]),
        (&4.into(), &"flag".into())
    );
}

#[test]
fn the_origin_is_shown_as_text_too() {
    let project = Project::new();
    let text = project
        .ok(&["config", "--show-origin", "--set", "run.iterations=3"])
        .stdout;
    let line = |key: &str| {
        text.lines()
            .find(|l| l.starts_with(key))
            .unwrap()
            .to_owned()
    };
    assert!(
        line("run.iterations").ends_with("flag: --set run.iterations"),
        "{text}"
    );
    assert!(line("memory.max_entries").ends_with("default"), "{text}");
    assert!(line("memory.enabled").contains("project: "), "{text}");
    assert!(!project.ok(&["config", "memory"]).stdout.contains("default"));
}

#[test]
fn a_variable_really_counts() {
    let project = Project::new();
    for text in ["a", "b", "c"] {
        project.remember(text, &["--category", "decision"]);
    }
    let mut command = project.command(&["prune", "--json"]);
    let said = answer(command.env("HEIRLOOM_MEMORY_MAX_ENTRIES", "1")).json();
    assert_eq!(said["decisions"], 2);
    let said = answer(
        project
            .command(&["remember", "x"])
            .env("HEIRLOOM_MEMORY_ENABLED", "off"),
    );
    assert_eq!(said.code, 4);
}

#[test]
fn a_wrong_variable_is_told_and_not_used() {
    let project = Project::new();
    let said = answer(
        project
            .command(&["config", "--json"])
            .env("HEIRLOOM_MEMORY_MAX_ENTRIES", "many"),
    );
    assert_eq!(said.code, 0);
    assert_eq!(setting(&said, "memory.max_entries")["value"], 50);
    assert_eq!(
        said.json()["warnings"][0]["place"],
        "HEIRLOOM_MEMORY_MAX_ENTRIES"
    );
}

#[test]
fn bad_toml_names_its_line() {
    let project = Project::new();
    project.configure("this is = = no toml\n");
    for args in [
        &["config"][..],
        &["list"],
        &["remember", "x"],
        &["context"],
        &["init"],
        &["status"],
    ] {
        let said = project.expect(args, 2);
        assert!(said.stderr.contains("config.toml:5:"), "{args:?} {said:?}");
    }
    let error = project.expect(&["list", "--json"], 2).error();
    assert_eq!(error["kind"], "usage");
}

#[test]
fn bad_toml_of_the_user_names_its_file() {
    let project = Project::new();
    let file = project.home.write("mine.toml", "\n\n[memory\n").unwrap();
    let said = answer(project.command(&["list"]).env("HEIRLOOM_CONFIG", &file));
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("mine.toml:3:"), "{said:?}");
    project.home.write("latin.toml", b"# caf\xe9\n").unwrap();
    let said = answer(
        project
            .command(&["list"])
            .env("HEIRLOOM_CONFIG", project.home.path().join("latin.toml")),
    );
    assert_eq!(said.code, 2, "{said:?}");
}

#[test]
fn a_project_cannot_say_what_is_run() {
    let project = Project::new();
    project.configure("[run]\ncommand = [\"touch\", \"evil\"]\n");
    let said = project.ok(&["config", "run.command", "--json"]);
    assert_eq!(
        setting(&said, "run.command")["value"],
        serde_json::json!([])
    );
    assert!(
        said.stderr.contains("not taken from a project's file"),
        "{said:?}"
    );
    let said = project.run(&["run", "--iterations", "1"]);
    assert_ne!(said.code, 0, "{said:?}");
    assert!(!project.file("evil").exists());
}

#[test]
fn unknown_and_wrong_keys_are_told_and_lock_nobody_out() {
    let project = Project::new();
    project.configure("max_entires = 3\nmax_entries = \"many\"\ncontext_budget = -1\n");
    let said = project.ok(&["list"]);
    for word in ["max_entires", "max_entries", "context_budget"] {
        assert!(said.stderr.contains(word), "{said:?}");
    }
    assert_eq!(
        project.json(&["config"])["warnings"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

#[test]
fn a_wrong_flag_is_refused() {
    let project = Project::new();
    for wrong in [
        "nonsense",
        "memory.nonsense=1",
        "memory.max_entries=many",
        "memory.max_entries=-1",
        "memory.enabled=2",
    ] {
        let said = project.expect(&["list", "--set", wrong], 2);
        assert!(said.stderr.contains("--set"), "{said:?}");
    }
}

#[test]
fn keys_can_be_chosen_and_an_unknown_one_is_not_found() {
    let project = Project::uninitialised();
    let said = project.json(&["config", "memory"]);
    assert!(
        said["config"]
            .as_array()
            .unwrap()
            .iter()
            .all(|k| k["key"].as_str().unwrap().starts_with("memory."))
    );
    project.expect(&["config", "nonsense"], 3);
}

#[test]
fn a_mirror_outside_the_project_is_refused_before_anything_is_recorded() {
    let project = Project::new();
    for outside in [
        "/etc/memory.json",
        "../memory.json",
        ".heirloom/../../memory.json",
        "",
    ] {
        let set = format!("memory.file_path={outside}");
        let args = [
            "outcome", "--task", "1", "--status", "FAILED", "--error", "e", "--set", &set,
        ];
        let said = project.expect(&args, 2);
        assert!(said.stderr.contains("memory.file_path"), "{said:?}");
    }
    assert_eq!(project.list("error").len(), 0);
}

#[test]
fn a_mirror_inside_the_project_is_written_there() {
    let project = Project::new();
    for inside in [
        "state/memory.json",
        ".agentium/memory.json",
        ".heirloom/deep/memory.json",
    ] {
        let set = format!("memory.file_path={inside}");
        project.ok(&[
            "outcome", "--task", "1", "--status", "PARTIAL", "--set", &set,
        ]);
        assert!(project.file(inside).is_file(), "{inside}");
    }
}

#[test]
fn a_mirror_through_a_link_to_outside_is_refused() {
    let project = Project::new();
    std::os::unix::fs::symlink(project.home.path(), project.file("out")).unwrap();
    let set = "memory.file_path=out/memory.json";
    project.expect(
        &[
            "outcome", "--task", "1", "--status", "PARTIAL", "--set", set,
        ],
        2,
    );
    assert!(!project.home.path().join("memory.json").exists());
}
