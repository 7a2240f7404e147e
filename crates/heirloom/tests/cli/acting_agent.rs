//! Authority of the command line in the shell of an agent.

use crate::project::{Answer, Project, answer, string};
use serde_json::Value;

/// Variables of agent programs, with the source of what their agents store.
const SHELLS: [(&str, &str); 8] = [
    ("CLAUDECODE", "claude-code"),
    ("CODEX_THREAD_ID", "codex"),
    ("CODEX_SANDBOX", "codex"),
    ("GEMINI_CLI", "gemini"),
    ("OPENCODE", "opencode"),
    ("COPILOT_CLI", "copilot"),
    ("CURSOR_AGENT", "cursor"),
    ("HEIRLOOM_ITERATION", "agent"),
];

fn run_as_agent(project: &Project, variable: &str, args: &[&str]) -> Answer {
    answer(project.command(args).env(variable, "1"))
}

fn convention(project: &Project) -> Value {
    project.json(&["list", "--category", "convention"])["records"][0].clone()
}

#[test]
fn agent_in_a_shell_does_not_replace_the_value_of_its_person() {
    for (variable, source) in SHELLS {
        let project = Project::new();
        let tabs = [
            "remember",
            "Indent with tabs",
            "--category",
            "convention",
            "--key",
            "indent",
        ];
        project.ok(&tabs);
        let spaces = [
            "remember",
            "Indent with 3 spaces",
            "--category",
            "convention",
            "--key",
            "indent",
        ];
        run_as_agent(&project, variable, &spaces);
        assert_eq!(
            convention(&project)["text"],
            "Indent with tabs",
            "{variable}"
        );
        let other = run_as_agent(
            &project,
            variable,
            &["remember", "the port is 80", "--json"],
        );
        let id = string(&other.json()["id"]);
        assert_eq!(project.json(&["show", &id])["source"], source, "{variable}");
    }
}

#[test]
fn what_only_a_person_may_do_is_refused_in_the_shell_of_an_agent() {
    let project = Project::new();
    project.ok(&["remember", "Indent with tabs", "--category", "convention"]);
    let id = string(&convention(&project)["id"]);
    let command = "description = \"greets\"\ntemplate = \"hi\"\n";
    project
        .folder
        .write(".heirloom/commands/hi.toml", command)
        .unwrap();
    for args in [
        &["forget", &id][..],
        &["undo", &id],
        &["pin", &id],
        &["mute", &id],
        &["accept", &id],
        &["reject", &id],
        &["share", &id],
        &["resolve", &id, "--keep", &id, "--as", "user"],
        &["purge", "--query", "tabs", "--yes"],
        &["review", "--apply"],
        &["prune", "--apply"],
        &["cmd", "trust", "hi", "--yes"],
        &["token", "create", "--role", "admin"],
        &["remember", "x", "--source", "user"],
    ] {
        let refused = run_as_agent(&project, "CLAUDECODE", args);
        assert_eq!(refused.code, 4, "{args:?} {refused:?}");
        assert!(refused.stderr.contains("claude-code"), "{refused:?}");
    }
    assert_eq!(convention(&project)["text"], "Indent with tabs");
    // Reading and the agent's own notes are as before.
    for args in [
        &["recall", "tabs"][..],
        &["context"],
        &["error", "log", "boom"],
    ] {
        let done = run_as_agent(&project, "CLAUDECODE", args);
        assert_eq!(done.code, 0, "{args:?} {done:?}");
    }
}

#[test]
fn agent_cannot_trust_what_a_clone_brings() {
    let project = Project::new();
    std::fs::remove_dir_all(project.home.path().join(".local")).unwrap();
    let refused = run_as_agent(&project, "CLAUDECODE", &["trust", "--yes"]);
    assert_eq!(refused.code, 4, "{refused:?}");
    project.expect(&["list"], 4);
    project.ok(&["trust", "--yes"]);
    project.ok(&["list"]);
}
