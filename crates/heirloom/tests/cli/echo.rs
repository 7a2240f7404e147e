//! What an agent was told and says again is an echo: it confirms nothing and creates nothing.

use crate::project::{Project, string};
use serde_json::Value;

/// What became of the lines of an output.
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

/// A project that knows something of each category, and the file of a context that says so.
fn told() -> Project {
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
fn what_stands_in_the_context_is_an_echo() {
    let project = told();
    let before = project.json(&["list"]);
    let given = ["--context", "context.md"];
    assert_eq!(observe(&project, &given, &ECHOES), ["unchanged"; 5]);
    assert_eq!(
        project.json(&["list"]),
        before,
        "nothing is confirmed or created"
    );
    let news = [
        "KEY_FACT The tests need Redis 7",
        "DECISION mock the clock BECAUSE it drifts",
        "CONVENTION indent = blanks",
    ];
    let became = observe(&project, &given, &news);
    assert_eq!(became, ["created", "confirmed", "conflict"]);
    // Without a context nobody was told anything.
    assert_eq!(observe(&project, &[], &ECHOES[..1]), ["confirmed"]);
}

#[test]
fn what_is_no_longer_current_is_no_echo() {
    let project = told();
    let id = string(&project.list("knowledge")[2]["id"]);
    project.ok(&["forget", &id]);
    let given = ["--context", "context.md"];
    assert_eq!(observe(&project, &given, &ECHOES[..1]), ["created"]);
}

#[test]
fn a_context_that_cannot_be_read_is_said() {
    let project = told();
    let args = ["observe", "--context", "nowhere.md"];
    let said = project.expect(&args, 3);
    assert!(said.stderr.contains("nowhere.md"), "{said:?}");
    let said = project.expect(&["observe", "--context", "."], 1);
    assert!(said.stderr.contains("cannot read the context"), "{said:?}");
}

#[test]
fn a_run_knows_what_it_told() {
    let project = told();
    let id = string(&project.list("knowledge")[2]["id"]);
    let agent = "printf 'HEIRLOOM_MEMORY: KEY_FACT The tests need Redis\\n\
                 HEIRLOOM_MEMORY: KEY_FACT something new\\n'";
    let options = ["run", "--json", "--iterations", "3", "--until-done"];
    let fails = format!("{agent}; exit 1");
    let ran = project.run(&[&options[..], &["--", "sh", "-c", &fails]].concat());
    let became: Vec<_> = ran
        .lines()
        .iter()
        .filter(|event| event["event"] == "signal" || event["type"] == "signal")
        .map(|event| string(&event["outcome"]))
        .collect();
    assert_eq!(
        became,
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
fn whoever_observes_inside_of_a_run_has_its_context() {
    let project = told();
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
