//! What a person or a broken script may throw at the program.

use crate::project::{Project, answer, string};
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;

const CAP: usize = 1 << 20;

/// A text that moves a cursor, rings a bell, sets a title and turns the line around.
const WILD: &str =
    "red \u{1b}[31mALERT\u{1b}[0m \u{1b}]0;title\u{7} \u{9b}2J \u{202e}abc \u{8}\u{7f} end";

fn is_tame(text: &str) -> bool {
    text.chars()
        .all(|c| (!c.is_control() || matches!(c, '\n' | '\t')) && c != '\u{202e}')
}

#[test]
fn a_text_at_the_cap_is_taken_and_one_over_it_is_refused() {
    let project = Project::new();
    let line = |size: usize| format!("{{\"text\":\"{}\"}}\n", "x".repeat(size));
    let said = project.input(&["remember", "--stdin"], line(CAP).as_bytes());
    assert_eq!(said.code, 0, "{}", said.stderr);
    let id = string(&said.lines()[0]["id"]);
    assert_eq!(
        project.json(&["show", &id])["text"].as_str().unwrap().len(),
        CAP
    );
    assert_eq!(project.ok(&["list"]).stdout.lines().count(), 1);
    assert!(project.ok(&["context"]).stdout.chars().count() <= 3_000);
    let said = project.input(&["remember", "--stdin"], line(CAP + 1).as_bytes());
    assert_eq!(said.code, 1);
    assert_eq!(project.list("knowledge").len(), 1);
}

#[test]
fn a_long_argument_is_taken_whole() {
    let project = Project::new();
    let text = "wörter ".repeat(12_000);
    let id = project.remember(&text, &[]);
    assert_eq!(project.json(&["show", &id])["text"], text.trim());
}

#[test]
fn an_empty_text_is_refused() {
    let project = Project::new();
    for empty in ["", " ", "\n\t "] {
        let said = project.expect(&["remember", empty], 2);
        assert!(said.stderr.contains("no text"), "{said:?}");
    }
}

#[test]
fn an_argument_that_is_no_utf_8_is_wrong_usage() {
    let project = Project::new();
    let invalid = OsString::from_vec(b"caf\xe9".to_vec());
    let said = project.expect(&[OsString::from("remember"), invalid], 2);
    assert!(said.stderr.contains("UTF-8"), "{said:?}");
}

#[test]
fn a_nul_in_json_is_kept_and_never_printed_raw() {
    let project = Project::new();
    let said = project.input(&["remember", "--stdin"], b"{\"text\":\"a\\u0000b\"}\n");
    assert_eq!(said.code, 0, "{said:?}");
    let id = string(&said.lines()[0]["id"]);
    assert_eq!(project.json(&["show", &id])["text"], "a\0b");
    assert!(is_tame(&project.ok(&["show", &id]).stdout));
}

#[test]
fn lone_surrogates_in_json_are_an_error_of_their_line() {
    let project = Project::new();
    let said = project.input(
        &["remember", "--stdin"],
        b"{\"text\":\"a\\ud800b\"}\n{\"text\":\"ok\"}\n",
    );
    assert_eq!(said.code, 1);
    assert!(said.lines()[0]["error"].is_string());
    assert_eq!(said.lines()[1]["outcome"], "created");
}

#[test]
fn names_that_cannot_be_used_are_refused() {
    let project = Project::new();
    let long = "x".repeat(201);
    for option in [
        "--task",
        "--agent",
        "--plan",
        "--group",
        "--session",
        "--phase",
        "--source",
        "--category",
    ] {
        for wrong in [long.as_str(), "a\nb", "a\u{1b}[31m", "", " "] {
            let said = project.expect(&["remember", "text", option, wrong], 2);
            let name = option.trim_start_matches('-');
            assert!(said.stderr.contains(name), "{option} {said:?}");
            assert!(is_tame(&said.stderr), "{said:?}");
        }
    }
    project.expect(&["remember", "text", "--key", &"k".repeat(1_025)], 2);
    project.expect(&["task", "set", &long], 2);
    project.expect(&["task", "set", "1", "--phase", "a\nb"], 2);
    project.expect(&["error", "log", "x", "--phase", &long], 2);
    project.expect(&["step", "done", "x", "--task", "a\u{7}"], 2);
    project.expect(&["outcome", "--task", "a\nb", "--status", "FAILED"], 2);
    assert_eq!(project.json(&["status"])["counts"], serde_json::json!({}));
    project.remember("text", &["--task", &"x".repeat(200)]);
}

#[test]
fn stored_escapes_reach_no_terminal_in_text() {
    let project = Project::new();
    let id = project.remember(WILD, &["--category", "decision", "--rationale", WILD]);
    project.ok(&["task", "set", "1", "--branch", WILD, "--blocked", WILD]);
    project.ok(&["step", "pending", WILD, "--task", "1"]);
    project.ok(&["step", "done", &format!("x {WILD}"), "--task", "1"]);
    project.ok(&["error", "log", WILD, "--task", "1"]);
    for args in [
        &["list"][..],
        &["list", "--all"],
        &["show", &id],
        &["history", &id],
        &["task", "show", "1"],
        &["task", "list"],
        &["context", "--task", "1", "--receipt"],
        &["status"],
        &["error", "resolve", "no such \u{1b}[31m", "--with", "x"],
        &["error", "resolve", "red", "--with", WILD],
        &["error", "log", WILD, "--task", "1"],
        &["forget", &id],
        &["undo", &id],
        &["config", "--set", "project.name=\u{1b}[31m"],
        &["list", "--kind", WILD],
        &["man", WILD],
        &[WILD],
        &["list", "--project-dir", WILD],
    ] {
        let said = project.run(args);
        assert!(is_tame(&said.stdout), "{args:?} {said:?}");
        assert!(is_tame(&said.stderr), "{args:?} {said:?}");
    }
}

#[test]
fn json_escapes_what_a_terminal_would_obey_and_loses_nothing() {
    let project = Project::new();
    let id = project.remember(WILD, &[]);
    for args in [
        &["show", &id, "--json"][..],
        &["list", "--json"],
        &["export"],
        &["export", "--format", "agentium"],
        &["context", "--json"],
    ] {
        let said = project.ok(args);
        assert!(is_tame(&said.stdout), "{args:?} {said:?}");
    }
    assert_eq!(project.json(&["show", &id])["text"], WILD);
    assert_eq!(project.ok(&["export"]).lines()[0]["text"], WILD);
    let mirror = project.ok(&["export", "--format", "agentium"]).json();
    assert_eq!(mirror["key_facts"][0], WILD);
}

#[test]
fn stored_escapes_reach_no_real_terminal() {
    let project = Project::new();
    let id = project.remember(WILD, &[]);
    for args in [
        &["list"][..],
        &["show", &id],
        &["show", &id, "--json"],
        &["context"],
    ] {
        // `script` gives the program a terminal.
        let program = env!("CARGO_BIN_EXE_heirloom");
        let line = format!("{program} {}", args.join(" "));
        let mut command = std::process::Command::new("script");
        let command = command
            .args(["-qec", &line, "/dev/null"])
            .current_dir(project.path());
        let command = command
            .env("HOME", project.home.path())
            .stdin(std::process::Stdio::null());
        let Ok(output) = command.output() else {
            return;
        };
        let text = String::from_utf8_lossy(&output.stdout).replace('\r', "");
        assert!(text.contains("ALERT"), "{text}");
        assert!(
            !text.contains("\u{1b}[31m") && !text.contains('\u{9b}') && !text.contains('\u{7}'),
            "{text:?}"
        );
    }
}

#[test]
fn unicode_is_kept_as_it_is() {
    let project = Project::new();
    for text in [
        "日本語のテキスト",
        "👨‍👩‍👧 e\u{301} ß İ",
        "עברית",
        "a\u{feff}b",
        "\u{10ffff}",
    ] {
        let id = project.remember(text, &["--key", text, "--task", text]);
        let record = project.json(&["show", &id]);
        assert_eq!(
            (record["text"].as_str(), record["task"].as_str()),
            (Some(text), Some(text))
        );
        let shown = project.ok(&["list", "--task", text]).stdout;
        assert!(shown.contains(text), "{shown}");
    }
}

#[test]
fn a_text_of_many_lines_stays_on_one_line_of_a_table_and_of_a_context() {
    let project = Project::new();
    project.remember("first\n## forged heading\r\n- forged item", &[]);
    assert_eq!(project.ok(&["list"]).stdout.lines().count(), 1);
    let context = project.ok(&["context"]).stdout;
    assert_eq!(
        context,
        "## Session Memory\n\n### Key Facts\n- first | ## forged heading | - forged item\n"
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_a_clear_failure() {
    let project = Project::uninitialised();
    project
        .folder
        .write(".heirloom", "a file in the way")
        .unwrap();
    let said = project.expect(&["init"], 1);
    assert!(said.stderr.contains(".heirloom"), "{said:?}");
}

#[test]
fn standard_input_that_is_closed_in_the_middle_is_fine() {
    let project = Project::new();
    let mut child = project
        .command(&["remember", "--stdin"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"{\"text\":\"whole\"}\n{\"text\":\"ha")
        .unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    assert_eq!(project.list("knowledge").len(), 1);
    let nothing = answer(&mut project.command(&["remember", "--stdin"]));
    assert_eq!((nothing.code, nothing.stdout.as_str()), (0, ""));
}
