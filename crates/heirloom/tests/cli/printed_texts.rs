//! Printed texts: contexts, results, receipts, reports, hook answers and error messages.

use crate::hooks::{CLAUDE, call, injected_text};
use crate::project::Project;
use crate::snapshot::{Screen, assert_text};
use heirloom_testkit::sh;
use serde_json::json;

/// Creates a project with one record of each kind that a context shows.
fn project_with_records() -> Project {
    let mut project = Project::new();
    project
        .folder
        .write("src/auth.rs", "fn check() {}\n")
        .unwrap();
    let lines = [
        "--project shop remember 'the login module checks session tokens in src/auth.rs'",
        "--project shop remember 'use a fixed clock in tests' --category convention --key clock",
        "--project shop remember 'SQLite for the store' --category decision --rationale 'one file, no server'",
        "--project shop task set 42 --type issue --phase TEST --branch fix",
        "--project shop step done 'write the test' --task 42",
        "--project shop step pending 'mend the clock' --task 42",
        "--project shop error log 'TestTokenExpiry: got nil' --task 42 --phase TEST",
        "--project shop error log 'port 8080 is in use' --task 42",
        "--project shop error resolve 'port 8080' --with 'stop the other server'",
        "--project shop artifact add src/auth.rs --task 42 --type file --description 'the check'",
    ];
    for (minute, line) in lines.into_iter().enumerate() {
        // Records of one instant are listed in the order of their random ids.
        project.set_clock(&format!("2026-05-01T10:{minute:02}:00Z"));
        project.ok(&sh(line));
    }
    project.set_clock("2026-05-01T11:00:00Z");
    project
}

#[test]
fn texts_of_contexts_are_accepted() {
    let project = project_with_records();
    Screen::new(&project)
        .call("--project shop context")
        .call("--project shop context --task 42 --phase TEST --query 'session tokens'")
        .call("--project shop context --task 42 --budget-chars 300 --receipt")
        .assert("context");
}

#[test]
fn texts_of_searches_and_lists_are_accepted() {
    let project = project_with_records();
    Screen::new(&project)
        .call("--project shop recall 'session tokens' -k 2")
        .call("--project shop recall 'session tokens' -k 2 --explain")
        .call("--project shop recall 'xyzzy' --kind artifact --task 7")
        .call("--project shop list")
        .call("--project shop list --kind error")
        .call("--project shop conflicts")
        .assert("recall");
}

#[test]
fn texts_of_receipts_are_accepted() {
    let project = project_with_records();
    project.ok(&sh("--project shop context --task 42 --budget-chars 300"));
    let listed = project.json(&sh("--project shop receipts list"));
    let id = listed["receipts"][0]["id"].as_str().unwrap();
    Screen::new(&project)
        .call("--project shop receipts list")
        .call(&format!("--project shop receipts show {id}"))
        .assert("receipts");
}

#[test]
fn texts_of_reports_are_accepted() {
    let project = project_with_records();
    Screen::new(&project)
        .call("--project shop status")
        .call("--project shop doctor")
        .call("--project shop analytics")
        .call("config memory.max_entries")
        .assert("reports");
}

#[test]
fn texts_of_demo_are_accepted() {
    let project = Project::uninitialised();
    Screen::new(&project)
        .call_without_stderr("demo")
        .assert("demo");
}

#[test]
fn texts_of_hook_answers_are_accepted() {
    let mut project = Project::new();
    project.set_clock("2026-05-01T10:00:00Z");
    let fact = "the login module checks session tokens in src/auth.rs";
    project.ok(&["remember", fact, "--category", "convention"]);
    let mut text = String::new();
    for (host, start, prompt) in [
        (CLAUDE, "SessionStart", "UserPromptSubmit"),
        ("codex", "SessionStart", "UserPromptSubmit"),
        ("gemini", "SessionStart", "BeforeAgent"),
    ] {
        let question = "where does the login module check session tokens?";
        for (name, session, fields) in [
            (start, "a", json!({"source": "startup"})),
            (prompt, "b", json!({"prompt": question})),
        ] {
            let answer = call(&project, host, name, session, fields);
            text += &format!("{host} {name}\n{}\n\n", injected_text(&answer));
        }
    }
    assert_text("hooks", &project, &text);
}

#[test]
fn texts_of_errors_are_accepted() {
    let bare = Project::uninitialised();
    let project = Project::new();
    project.ok(&sh("remember 'a first one'"));
    Screen::new(&bare)
        .call("recall x")
        .call("")
        .call("rember x")
        .assert("errors_without_project");
    Screen::new(&project)
        .call("show 01890a5d")
        .call("forget 01890a5d-ac96-774b-bcce-b302099a8057")
        .call("remember ''")
        .call("remember x --true-from yesterday")
        .call("context --budget-chars 1 --budget-tokens 1")
        .call("recall x --kind thing")
        .call("error resolve unknown --with x")
        .call("outcome --task 1 --status MAYBE")
        .call("import jsonl missing.jsonl")
        .call("restore missing.db")
        .call("config unknown.key")
        .call("--set memory.max_entries=none list")
        .call("receipts show nothing")
        .call("cmd run unknown")
        .input("remember --stdin", b"{\"text\": \"\"}\n{\n")
        .assert("errors");
}
