//! Layered settings.

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
fn later_config_layer_wins_and_reports_its_origin() {
    let project = Project::new();
    let key = "memory.max_entries";
    let args = ["config", "--json"];
    let output = setting(&project.ok(&args), key);
    assert_eq!(
        (&output["value"], &output["origin"]),
        (&50.into(), &"default".into())
    );
    let user = project
        .home
        .write(
            ".config/heirloom/config.toml",
            "[memory]\nmax_entries = 1\n",
        )
        .unwrap();
    let output = setting(&project.ok(&args), key);
    assert_eq!(
        (&output["value"], &output["origin"]),
        (&1.into(), &"user".into())
    );
    assert_eq!(output["place"], user.to_str().unwrap());
    project.configure("max_entries = 2\n");
    let output = setting(&project.ok(&args), key);
    assert_eq!(
        (&output["value"], &output["origin"]),
        (&2.into(), &"project".into())
    );
    assert_eq!(
        output["place"],
        project.file(".heirloom/config.toml").to_str().unwrap()
    );
    let output = answer(
        project
            .command(&args)
            .env("HEIRLOOM_MEMORY_MAX_ENTRIES", "3"),
    );
    let one = setting(&output, key);
    assert_eq!(
        (&one["value"], &one["origin"]),
        (&3.into(), &"environment".into())
    );
    assert_eq!(one["place"], "HEIRLOOM_MEMORY_MAX_ENTRIES");
    let mut command = project.command(&["config", "--json", "--set", "memory.max_entries=4"]);
    let output = setting(
        &answer(command.env("HEIRLOOM_MEMORY_MAX_ENTRIES", "3")),
        key,
    );
    assert_eq!(
        (&output["value"], &output["origin"]),
        (&4.into(), &"flag".into())
    );
}

#[test]
fn config_show_origin_prints_the_origin_of_each_key() {
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
        line("run.iterations").contains("  flag: --set run.iterations  "),
        "{text}"
    );
    assert!(line("run.iterations").ends_with("  3"), "{text}");
    assert!(line("memory.max_entries").contains("  default  "), "{text}");
    assert!(line("memory.enabled").contains("project: "), "{text}");
    assert!(!project.ok(&["config", "memory"]).stdout.contains("default"));
}

#[test]
fn environment_variable_changes_command_behaviour() {
    let project = Project::new();
    for text in ["a", "b", "c"] {
        project.remember(text, &["--category", "decision"]);
    }
    let mut command = project.command(&["export", "--format", "agentium"]);
    let output = answer(command.env("HEIRLOOM_MEMORY_MAX_ENTRIES", "1"));
    let mirror: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(mirror["decisions"].as_array().unwrap().len(), 1);
    let output = answer(
        project
            .command(&["remember", "x"])
            .env("HEIRLOOM_MEMORY_ENABLED", "off"),
    );
    assert_eq!(output.code, 4);
}

#[test]
fn invalid_environment_variable_is_reported_and_ignored() {
    let project = Project::new();
    let output = answer(
        project
            .command(&["config", "--json"])
            .env("HEIRLOOM_MEMORY_MAX_ENTRIES", "many"),
    );
    assert_eq!(output.code, 0);
    assert_eq!(setting(&output, "memory.max_entries")["value"], 50);
    assert_eq!(
        output.json()["warnings"][0]["place"],
        "HEIRLOOM_MEMORY_MAX_ENTRIES"
    );
}

#[test]
fn invalid_project_toml_fails_with_its_line() {
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
        let output = project.expect(args, 2);
        assert!(
            output.stderr.contains("config.toml:5:"),
            "{args:?} {output:?}"
        );
    }
    let error = project.expect(&["list", "--json"], 2).error();
    assert_eq!(error["kind"], "usage");
}

#[test]
fn invalid_user_toml_fails_with_its_file() {
    let project = Project::new();
    let file = project.home.write("mine.toml", "\n\n[memory\n").unwrap();
    let output = answer(project.command(&["list"]).env("HEIRLOOM_CONFIG", &file));
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("mine.toml:3:"), "{output:?}");
    project.home.write("latin.toml", b"# caf\xe9\n").unwrap();
    let output = answer(
        project
            .command(&["list"])
            .env("HEIRLOOM_CONFIG", project.home.path().join("latin.toml")),
    );
    assert_eq!(output.code, 2, "{output:?}");
}

#[test]
fn project_config_cannot_set_the_run_command() {
    let project = Project::new();
    project.configure("[run]\ncommand = [\"touch\", \"evil\"]\n");
    let output = project.ok(&["config", "run.command", "--json"]);
    assert_eq!(
        setting(&output, "run.command")["value"],
        serde_json::json!([])
    );
    assert!(
        output.stderr.contains("not taken from a project's file"),
        "{output:?}"
    );
    let output = project.run(&["run", "--iterations", "1"]);
    assert_ne!(output.code, 0, "{output:?}");
    assert!(!project.file("evil").exists());
}

#[test]
fn unknown_and_invalid_keys_warn_and_commands_succeed() {
    let project = Project::new();
    project.configure("max_entires = 3\nmax_entries = \"many\"\ncontext_budget = -1\n");
    let output = project.ok(&["list"]);
    for word in ["max_entires", "max_entries", "context_budget"] {
        assert!(output.stderr.contains(word), "{output:?}");
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
fn invalid_set_flag_is_refused() {
    let project = Project::new();
    for wrong in [
        "nonsense",
        "memory.nonsense=1",
        "memory.max_entries=many",
        "memory.max_entries=-1",
        "memory.enabled=2",
    ] {
        let output = project.expect(&["list", "--set", wrong], 2);
        assert!(output.stderr.contains("--set"), "{output:?}");
    }
}

#[test]
fn config_key_prefix_filters_and_unknown_key_exits_3() {
    let project = Project::uninitialised();
    let output = project.json(&["config", "memory"]);
    assert!(
        output["config"]
            .as_array()
            .unwrap()
            .iter()
            .all(|k| k["key"].as_str().unwrap().starts_with("memory."))
    );
    project.expect(&["config", "nonsense"], 3);
}

#[test]
fn mirror_path_outside_the_project_is_refused_before_any_write() {
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
        let output = project.expect(&args, 2);
        assert!(output.stderr.contains("memory.file_path"), "{output:?}");
    }
    assert_eq!(project.list("error").len(), 0);
}

#[test]
fn mirror_path_inside_the_project_is_written() {
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
fn mirror_path_through_an_outside_link_is_refused() {
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
