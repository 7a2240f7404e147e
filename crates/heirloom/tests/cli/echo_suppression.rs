//! Echo suppression: a signal that repeats the delivered context confirms nothing and creates nothing.

use crate::project::{Project, string};
use serde_json::Value;

/// Returns the outcome of each observed signal.
fn outcomes(observed: &Value) -> Vec<String> {
    let signals = observed["signals"].as_array().unwrap();
    signals.iter().map(|one| string(&one["outcome"])).collect()
}

fn observe(project: &Project, options: &[&str], lines: &[&str]) -> Vec<String> {
    let output: String = lines
        .iter()
        .map(|line| format!("HEIRLOOM_MEMORY: {line}\n"))
        .collect();
    let args = [&["observe", "--agent", "bob", "--json"], options].concat();
    let answer = project.input(&args, output.as_bytes());
    assert_eq!(answer.code, 0, "{answer:?}");
    outcomes(&answer.json())
}

/// Creates a project with knowledge of several categories, and a file with its context.
fn project_with_context() -> Project {
    let project = Project::new();
    project.remember("The tests need Redis", &[]);
    project.remember("mock the clock", &["--category", "decision"]);
    project.remember("tabs", &["--category", "convention", "--key", "indent"]);
    let context = project.ok(&["context"]).stdout;
    project.folder.write("context.md", context).unwrap();
    project
}

const ECHOES: [&str; 5] = [
    "KEY_FACT The tests need Redis",
    "LEARNING the tests need redis.",
    "DECISION Mock the clock!",
    "CONVENTION indent = tabs",
    "KEY_FACT indent: tabs",
];

#[test]
fn signals_repeating_the_context_change_nothing() {
    let project = project_with_context();
    let before = project.json(&["list"]);
    let context_args = ["--context", "context.md"];
    assert_eq!(observe(&project, &context_args, &ECHOES), ["unchanged"; 5]);
    assert_eq!(
        project.json(&["list"]),
        before,
        "nothing is confirmed or created"
    );
    let changed = [
        "KEY_FACT The tests need Redis 7",
        "DECISION mock the clock BECAUSE it drifts",
        "CONVENTION indent = blanks",
    ];
    let observed = observe(&project, &context_args, &changed);
    assert_eq!(observed, ["created", "confirmed", "conflict"]);
    // Without a context the same signal is a confirmation.
    assert_eq!(observe(&project, &[], &ECHOES[..1]), ["confirmed"]);
}

#[test]
fn signal_repeating_a_forgotten_record_is_created() {
    let project = project_with_context();
    let id = string(&project.list("knowledge")[2]["id"]);
    project.ok(&["forget", &id]);
    let context_args = ["--context", "context.md"];
    assert_eq!(observe(&project, &context_args, &ECHOES[..1]), ["created"]);
}

#[test]
fn unreadable_context_file_fails_observe_with_its_name() {
    let project = project_with_context();
    let args = ["observe", "--context", "nowhere.md"];
    let output = project.expect(&args, 3);
    assert!(output.stderr.contains("nowhere.md"), "{output:?}");
    let output = project.expect(&["observe", "--context", "."], 1);
    assert!(
        output.stderr.contains("cannot read the context"),
        "{output:?}"
    );
}

#[test]
fn signals_repeating_the_context_of_a_run_are_unchanged() {
    let project = project_with_context();
    let id = string(&project.list("knowledge")[2]["id"]);
    let agent = "printf 'HEIRLOOM_MEMORY: KEY_FACT The tests need Redis\\n\
                 HEIRLOOM_MEMORY: KEY_FACT something new\\n'";
    let options = ["run", "--json", "--iterations", "3", "--until-done"];
    let fails = format!("{agent}; exit 1");
    let ran = project.run(&[&options[..], &["--", "sh", "-c", &fails]].concat());
    let observed: Vec<_> = ran
        .lines()
        .iter()
        .filter(|event| event["event"] == "signal" || event["type"] == "signal")
        .map(|event| string(&event["outcome"]))
        .collect();
    assert_eq!(
        observed,
        [
            "unchanged",
            "created",
            "unchanged",
            "unchanged",
            "unchanged",
            "unchanged"
        ],
        "{ran:?}"
    );
    assert_eq!(project.json(&["show", &id]).get("confirmations"), None);
}

#[test]
fn observe_inside_a_run_uses_the_context_of_the_run() {
    let project = project_with_context();
    let bin = env!("CARGO_BIN_EXE_heirloom");
    let agent = format!(
        "echo 'HEIRLOOM_MEMORY: KEY_FACT The tests need Redis' | {bin} observe --json > seen.json"
    );
    project.ok(&["run", "--iterations", "1", "--", "sh", "-c", &agent]);
    let seen = project.folder.read("seen.json").unwrap();
    assert_eq!(
        outcomes(&serde_json::from_str(&seen).unwrap()),
        ["unchanged"]
    );
}
