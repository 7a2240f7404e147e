//! Behaviour that all commands share: no project, memory off, JSON, pipes, the clock.

use crate::project::{Project, answer};
use heirloom_testkit::sh;
use std::process::Stdio;

/// Every command that needs a project, with valid arguments.
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
fn commands_without_project_exit_3_with_init_hint() {
    let project = Project::uninitialised();
    for args in NEED_A_PROJECT {
        let output = project.expect(args, 3);
        assert!(
            output.stderr.contains("heirloom init"),
            "{args:?} {output:?}"
        );
        assert_eq!(output.stdout, "", "{args:?}");
    }
    assert!(!project.file(".heirloom").exists());
}

#[test]
fn json_error_is_an_object_on_stderr() {
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
fn json_usage_error_is_an_object_on_stderr() {
    let project = Project::new();
    let output = project.expect(&["list", "--kind", "nonsense", "--json"], 2);
    assert_eq!(output.error()["kind"], "usage");
    let output = project.expect(&["--json", "remember"], 2);
    assert_eq!(output.error()["kind"], "usage");
    assert_eq!(
        project.expect(&["list", "--kind", "nonsense"], 2).stdout,
        ""
    );
    project.expect(&["nonsense"], 2);
    project.expect::<&str>(&[], 2);
}

#[test]
fn disabled_memory_gives_empty_context_and_refuses_writes() {
    let project = Project::new();
    project.remember("a fact", &[]);
    let off = ["--set", "memory.enabled=false"];
    let output = project.ok(&[&["context", "--task", "1"], &off[..]].concat());
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""));
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
        let output = project.expect(&[args, &off[..]].concat(), 4);
        assert!(output.stderr.contains("enabled = true"), "{output:?}");
        let error = project
            .expect(&[args, &off[..], &["--json"]].concat(), 4)
            .error();
        assert_eq!(error["kind"], "refused");
        assert!(error["hint"].is_string());
    }
    let output = project.input(
        &[&["remember", "--stdin"], &off[..]].concat(),
        b"{\"text\":\"x\"}\n",
    );
    assert_eq!((output.code, output.stdout.as_str()), (4, ""), "{output:?}");
    assert_eq!(project.list("knowledge").len(), 1);
    assert_eq!(project.list("task").len(), 0);
}

#[test]
fn disabled_memory_refuses_forget_and_undo() {
    let project = Project::new();
    let id = project.remember("a fact", &[]);
    let off = "memory.enabled=false";
    project.expect(&["forget", &id, "--set", off], 4);
    project.expect(&["undo", &id, "--set", off], 4);
    assert_eq!(project.list("knowledge").len(), 1);
}

#[test]
fn status_reports_counts_size_and_last_write() {
    let mut project = Project::new();
    let value = project.json(&["status"]);
    assert_eq!(value["counts"], serde_json::json!({}));
    assert_eq!(value["last_write"], serde_json::Value::Null);
    project.set_clock("2026-05-01T10:00:00.5Z");
    project.remember("a", &[]);
    project.remember("b", &[]);
    project.ok(&sh("step done c --task 7"));
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
fn init_project_option_sets_the_project_name() {
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
fn project_dir_option_and_variable_select_the_folder() {
    let project = Project::new();
    project.remember("here", &[]);
    let elsewhere = Project::uninitialised();
    let folder = project.path().to_str().unwrap();
    elsewhere.ok(&["trust", "--yes", "--project-dir", folder]);
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
    let output = elsewhere.expect(&["list", "--project-dir", "/nonexistent/folder"], 3);
    assert!(output.stderr.contains("--project-dir"), "{output:?}");
}

#[test]
fn project_is_found_from_a_subfolder() {
    let project = Project::new();
    project.remember("above", &[]);
    project.folder.write("a/b/c.txt", "").unwrap();
    let output = answer(project.command(&["list"]).current_dir(project.file("a/b")));
    assert!(output.stdout.contains("above"), "{output:?}");
}

#[test]
fn heirloom_now_sets_the_clock_and_invalid_time_is_refused() {
    let mut project = Project::new();
    project.set_clock("2030-01-02T03:04:05Z");
    let id = project.remember("a", &[]);
    let record = project.json(&["show", &id]);
    assert_eq!(record["recorded_at"], "2030-01-02T03:04:05Z");
    project.set_clock("tomorrow");
    let output = project.expect(&["remember", "b"], 2);
    assert!(output.stderr.contains("HEIRLOOM_NOW"), "{output:?}");
}

#[test]
fn heirloom_log_info_logs_command_and_exit_code() {
    let project = Project::new();
    let logged =
        |level: &str, args: &[&str]| answer(project.command(args).env("HEIRLOOM_LOG", level));
    let output = logged("info", &["remember", "the moon is far"]);
    let root = project.path().canonicalize().unwrap();
    let begins = format!("heirloom: remember in {}: exit 0, ", root.display());
    let line = output.stderr.lines().find(|line| line.starts_with(&begins));
    assert!(line.is_some_and(|line| line.ends_with(" ms")), "{output:?}");
    assert!(!output.stderr.contains("moon"), "{output:?}");
    let output = logged("DEBUG", &["show", "0190"]);
    assert!(output.stderr.contains(": exit 3, "), "{output:?}");
    for level in ["", "warn", "off"] {
        assert_eq!(logged(level, &["list"]).stderr, "", "{level}");
    }
}

#[test]
fn closed_output_pipe_exits_0() {
    let project = Project::new();
    let lines: Vec<String> = (0..5_000)
        .map(|n| {
            format!("{{\"text\":\"fact number {n}, long enough to fill a pipe's buffer soon\"}}")
        })
        .collect();
    let output = project.input(&["remember", "--stdin"], lines.join("\n").as_bytes());
    assert_eq!(output.code, 0);
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
fn full_disk_at_stdout_exits_1() {
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
        let output = answer(project.command(args).stdout(Stdio::from(full)));
        assert_eq!(output.code, 1, "{args:?} {output:?}");
        assert!(
            output.stderr.contains("standard output"),
            "{args:?} {output:?}"
        );
    }
}

#[test]
fn completions_and_man_pages_cover_every_command() {
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
    let output = project.expect(&["man", "nonsense"], 2);
    assert!(output.stderr.contains("nonsense"), "{output:?}");
    assert!(
        project
            .ok(&["--version"])
            .stdout
            .contains(env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn demo_outside_a_project_succeeds_and_leaves_no_files() {
    let project = Project::uninitialised();
    let output = project.ok(&["demo", "--json"]);
    let value = output.lines().pop().unwrap();
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

/// On Windows no shell is in `PATH`.
#[test]
fn demo_needs_no_other_program() {
    let project = Project::uninitialised();
    let output = answer(project.command(&["demo"]).env("PATH", project.path()));
    assert_eq!(output.code, 0, "{output:?}");
    assert!(
        output.stdout.contains("config.ini is accepted"),
        "{output:?}"
    );
}

#[test]
fn demo_tells_old_fact_and_says_why() {
    let project = Project::uninitialised();
    let text = project.ok(&["demo"]);
    let whole = text.stdout + &text.stderr;
    let (_, after) = whole.split_once("A fact is five months old").unwrap();
    let told = "│ - The staging database accepts only TLS connections";
    assert!(after.contains(told), "{after}");
    let receipt = after
        .lines()
        .find(|line| line.starts_with("The receipt: "))
        .unwrap();
    assert!(
        receipt.contains("best of its source, ") && receipt.contains("% relevant, 150 days old"),
        "{receipt}"
    );
    let output = project.ok(&["demo", "--json"]);
    assert_eq!(output.lines().pop().unwrap()["old_fact_told"], true);
}

#[test]
fn record_is_found_by_unique_id_suffix() {
    let project = Project::new();
    let ids: Vec<String> = (0..6)
        .map(|n| project.remember(&format!("fact {n}"), &[]))
        .collect();
    for id in &ids {
        let end = &id[id.len() - 8..];
        assert_eq!(project.json(&["show", end])["id"], **id);
        assert_eq!(project.json(&["show", &format!("…{end}")])["id"], **id);
    }
    // The ids begin with a timestamp, so ids of one minute have the same prefix.
    let output = project.expect(&["show", &ids[0][..8]], 2);
    assert!(output.stderr.contains("fits several ids"), "{output:?}");
    assert!(
        output.stderr.contains("the last eight characters"),
        "{output:?}"
    );
    for (n, id) in ids.iter().enumerate() {
        assert!(
            output.stderr.contains(&format!("  {id}  fact {n}\n")),
            "{output:?}"
        );
    }
    project.expect(&["show", "ffffffff"], 3);
}

#[test]
fn list_shows_convention_with_its_key() {
    let project = Project::new();
    project.remember("tabs", &["--category", "convention", "--key", "indent"]);
    project.remember("a fact without a key", &[]);
    let output = project.ok(&["list"]);
    assert!(
        output.stdout.contains("  convention  indent  tabs"),
        "{output:?}"
    );
    assert!(
        output.stdout.contains("  a fact without a key"),
        "{output:?}"
    );
}

#[test]
fn import_of_remember_lines_suggests_remember_stdin() {
    let project = Project::new();
    let lines = "{\"text\": \"one\"}\n".repeat(1_000);
    project.folder.write("facts.jsonl", lines).unwrap();
    let output = project.expect(&["import", "jsonl", "facts.jsonl"], 1);
    let first = output.stderr.lines().next().unwrap();
    assert!(first.contains("heirloom remember --stdin"), "{first}");
}
