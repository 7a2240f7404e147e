//! What holds for every command: no project, memory off, JSON, pipes, the clock.

use crate::project::{Project, answer};
use std::process::Stdio;

/// Every command that needs a project, with arguments that are right.
const NEED_A_PROJECT: &[&[&str]] = &[
    &["status"],
    &["remember", "x"],
    &["list"],
    &["show", "0190"],
    &["forget", "0190"],
    &["undo", "0190"],
    &["history", "0190"],
    &["task", "list"],
    &["task", "show", "1"],
    &["task", "set", "1"],
    &["task", "done", "1"],
    &["task", "fail", "1"],
    &["step", "done", "x", "--task", "1"],
    &["error", "log", "x"],
    &["error", "resolve", "x", "--with", "y"],
    &["outcome", "--task", "1", "--status", "FAILED"],
    &["context"],
    &["observe"],
    &["run", "--", "true"],
    &["export"],
    &["import", "agentium"],
    &["prune"],
];

#[test]
fn without_a_project_commands_end_with_3_and_say_what_to_do() {
    let project = Project::uninitialised();
    for args in NEED_A_PROJECT {
        let said = project.expect(args, 3);
        assert!(said.stderr.contains("heirloom init"), "{args:?} {said:?}");
        assert_eq!(said.stdout, "", "{args:?}");
    }
    assert!(!project.file(".heirloom").exists());
}

#[test]
fn with_json_an_error_is_an_object_on_standard_error() {
    let project = Project::uninitialised();
    let error = project.expect(&["list", "--json"], 3).error();
    assert_eq!(error["kind"], "not_found");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("no Heirloom project")
    );
    assert!(error["hint"].as_str().unwrap().contains("heirloom init"));
}

#[test]
fn wrong_arguments_are_an_object_too_with_json() {
    let project = Project::new();
    let said = project.expect(&["list", "--kind", "nonsense", "--json"], 2);
    assert_eq!(said.error()["kind"], "usage");
    let said = project.expect(&["--json", "remember"], 2);
    assert_eq!(said.error()["kind"], "usage");
    assert_eq!(
        project.expect(&["list", "--kind", "nonsense"], 2).stdout,
        ""
    );
    project.expect(&["nonsense"], 2);
    project.expect::<&str>(&[], 2);
}

#[test]
fn memory_off_gives_an_empty_context_and_refuses_writes() {
    let project = Project::new();
    project.remember("a fact", &[]);
    let off = ["--set", "memory.enabled=false"];
    let said = project.ok(&[&["context", "--task", "1"], &off[..]].concat());
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", ""));
    let value = project
        .ok(&[&["context", "--json"], &off[..]].concat())
        .json();
    assert_eq!(value["text"], "");
    for args in [
        &["remember", "x"][..],
        &["task", "set", "1"],
        &["task", "done", "1"],
        &["step", "done", "x", "--task", "1"],
        &["error", "log", "x"],
        &["outcome", "--task", "1", "--status", "FAILED"],
        &["prune", "--apply"],
    ] {
        let said = project.expect(&[args, &off[..]].concat(), 4);
        assert!(said.stderr.contains("enabled = true"), "{said:?}");
        let error = project
            .expect(&[args, &off[..], &["--json"]].concat(), 4)
            .error();
        assert_eq!(error["kind"], "refused");
        assert!(error["hint"].is_string());
    }
    let said = project.input(
        &[&["remember", "--stdin"], &off[..]].concat(),
        b"{\"text\":\"x\"}\n",
    );
    assert_eq!((said.code, said.stdout.as_str()), (4, ""), "{said:?}");
    assert_eq!(project.list("knowledge").len(), 1);
    assert_eq!(project.list("task").len(), 0);
}

#[test]
fn memory_off_forgets_and_undoes_nothing() {
    let project = Project::new();
    let id = project.remember("a fact", &[]);
    let off = "memory.enabled=false";
    project.expect(&["forget", &id, "--set", off], 4);
    project.expect(&["undo", &id, "--set", off], 4);
    assert_eq!(project.list("knowledge").len(), 1);
}

#[test]
fn status_counts_what_is_there() {
    let mut project = Project::new();
    let value = project.json(&["status"]);
    assert_eq!(value["counts"], serde_json::json!({}));
    assert_eq!(value["last_write"], serde_json::Value::Null);
    project.at("2026-05-01T10:00:00.5Z");
    project.remember("a", &[]);
    project.remember("b", &[]);
    project.ok(&["step", "done", "c", "--task", "7"]);
    let value = project.json(&["status"]);
    assert_eq!(value["counts"]["knowledge"], 2);
    assert_eq!(value["counts"]["step"], 1);
    assert_eq!(value["counts"]["task"], 1);
    assert_eq!(value["last_write"], "2026-05-01T10:00:00.5Z");
    assert_eq!(value["health"], "ok");
    assert_eq!(value["enabled"], true);
    assert_eq!(value["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(value["project"], project.path().to_str().unwrap());
    assert!(value["size_bytes"].as_u64().unwrap() > 0);
    assert!(
        value["store"]
            .as_str()
            .unwrap()
            .ends_with(".heirloom/heirloom.db")
    );
    let text = project.ok(&["status"]).stdout;
    assert!(
        text.contains("2 knowledge") && text.contains("health      ok"),
        "{text}"
    );
}

#[test]
fn the_project_s_name_can_be_chosen() {
    let project = Project::uninitialised();
    let value = project.json(&["init", "--project", "acme/api"]);
    assert_eq!(value["project"], "acme/api");
    assert_eq!(project.json(&["status"])["project"], "acme/api");
    project.remember("mine", &[]);
    assert_eq!(
        project.json(&["status", "--project", "other"])["counts"],
        serde_json::json!({})
    );
    project.expect(&["status", "--project", "a\nb"], 2);
    project.expect(&["status", "--project", &"x".repeat(300)], 2);
}

#[test]
fn the_folder_can_be_named_from_elsewhere() {
    let project = Project::new();
    project.remember("here", &[]);
    let elsewhere = Project::uninitialised();
    let folder = project.path().to_str().unwrap();
    assert_eq!(
        elsewhere.json(&["list", "--project-dir", folder])["records"][0]["text"],
        "here"
    );
    let by_variable = answer(
        elsewhere
            .command(&["list"])
            .env("HEIRLOOM_PROJECT_DIR", folder),
    );
    assert!(by_variable.stdout.contains("here"), "{by_variable:?}");
    let said = elsewhere.expect(&["list", "--project-dir", "/nonexistent/folder"], 3);
    assert!(said.stderr.contains("--project-dir"), "{said:?}");
}

#[test]
fn a_project_is_found_from_a_folder_below_it() {
    let project = Project::new();
    project.remember("above", &[]);
    project.folder.write("a/b/c.txt", "").unwrap();
    let said = answer(project.command(&["list"]).current_dir(project.file("a/b")));
    assert!(said.stdout.contains("above"), "{said:?}");
}

#[test]
fn the_clock_can_be_fixed_and_a_wrong_time_is_refused() {
    let mut project = Project::new();
    project.at("2030-01-02T03:04:05Z");
    let id = project.remember("a", &[]);
    let record = project.json(&["show", &id]);
    assert_eq!(record["recorded_at"], "2030-01-02T03:04:05Z");
    project.at("tomorrow");
    let said = project.expect(&["remember", "b"], 2);
    assert!(said.stderr.contains("HEIRLOOM_NOW"), "{said:?}");
}

#[test]
fn a_line_says_what_ran_where_that_is_wanted() {
    let project = Project::new();
    let logged =
        |level: &str, args: &[&str]| answer(project.command(args).env("HEIRLOOM_LOG", level));
    let said = logged("info", &["remember", "the moon is far"]);
    let root = project.path().canonicalize().unwrap();
    let begins = format!("heirloom: remember in {}: exit 0, ", root.display());
    let line = said.stderr.lines().find(|line| line.starts_with(&begins));
    assert!(line.is_some_and(|line| line.ends_with(" ms")), "{said:?}");
    assert!(!said.stderr.contains("moon"), "{said:?}");
    let said = logged("DEBUG", &["show", "0190"]);
    assert!(said.stderr.contains(": exit 3, "), "{said:?}");
    for level in ["", "warn", "off"] {
        assert_eq!(logged(level, &["list"]).stderr, "", "{level}");
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let project = Project::new();
    let lines: Vec<String> = (0..5_000)
        .map(|n| {
            format!("{{\"text\":\"fact number {n}, long enough to fill a pipe's buffer soon\"}}")
        })
        .collect();
    let said = project.input(&["remember", "--stdin"], lines.join("\n").as_bytes());
    assert_eq!(said.code, 0);
    for args in [
        &["list", "-n", "5000"][..],
        &["export"],
        &["list", "--json"],
    ] {
        let mut child = project.command(args).spawn().unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8(ended.stderr).unwrap(), "", "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_a_failure() {
    let project = Project::new();
    project.remember("a", &[]);
    for args in [
        &["list"][..],
        &["export"],
        &["context"],
        &["list", "--json"],
    ] {
        let full = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let said = answer(project.command(args).stdout(Stdio::from(full)));
        assert_eq!(said.code, 1, "{args:?} {said:?}");
        assert!(said.stderr.contains("standard output"), "{args:?} {said:?}");
    }
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let project = Project::uninitialised();
    let commands = [
        "init",
        "status",
        "demo",
        "run",
        "outcome",
        "observe",
        "context",
        "remember",
        "list",
        "show",
        "forget",
        "undo",
        "history",
        "task",
        "step",
        "error",
        "export",
        "import",
        "prune",
        "config",
        "completions",
        "man",
    ];
    let help = project.ok(&["--help"]).stdout;
    let bash = project.ok(&["completions", "bash"]).stdout;
    let page = project.ok(&["man"]).stdout;
    for command in commands {
        assert!(help.contains(&format!("  {command} ")), "{command}");
        assert!(
            bash.contains(&format!("heirloom__{command})")) || bash.contains(command),
            "{command}"
        );
        assert!(page.contains(command), "{command}");
        let own = project.ok(&["man", command]).stdout;
        assert!(
            own.starts_with(".ie") && own.contains(".SH SYNOPSIS"),
            "{command}: {own}"
        );
        let help = project.ok(&[command, "--help"]).stdout;
        assert!(help.contains("Usage: heirloom"), "{command}");
    }
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(
            project
                .ok(&["completions", shell])
                .stdout
                .contains("heirloom"),
            "{shell}"
        );
    }
    project.expect(&["completions", "tcsh"], 2);
    let said = project.expect(&["man", "nonsense"], 2);
    assert!(said.stderr.contains("nonsense"), "{said:?}");
    assert!(
        project
            .ok(&["--version"])
            .stdout
            .contains(env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn the_demo_runs_anywhere_and_leaves_nothing_behind() {
    let project = Project::uninitialised();
    let said = project.ok(&["demo", "--json"]);
    let value = said.lines().pop().unwrap();
    assert_eq!(value["success"], true);
    assert_eq!(value["iterations"], 3);
    let text = project.ok(&["demo"]);
    let whole = text.stdout + &text.stderr;
    for word in ["## Session Memory", "heirloom init", "undo"] {
        assert!(whole.contains(word), "{word}: {whole}");
    }
    assert_eq!(std::fs::read_dir(project.path()).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(project.home.path()).unwrap().count(), 0);
}
