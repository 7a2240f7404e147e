//! Invalid and unusual input of the command line.

use crate::project::{Project, answer, string};
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;

const CAP: usize = 1 << 20;

/// Text with terminal control sequences and a right-to-left override.
const CONTROL_TEXT: &str =
    "red \u{1b}[31mALERT\u{1b}[0m \u{1b}]0;title\u{7} \u{9b}2J \u{202e}abc \u{8}\u{7f} end";

fn is_printable(text: &str) -> bool {
    text.chars()
        .all(|c| (!c.is_control() || matches!(c, '\n' | '\t')) && c != '\u{202e}')
}

#[test]
fn text_at_size_limit_is_stored_and_longer_text_is_refused() {
    let project = Project::new();
    let line = |size: usize| format!("{{\"text\":\"{}\"}}\n", "x".repeat(size));
    let output = project.input(&["remember", "--stdin"], line(CAP).as_bytes());
    assert_eq!(output.code, 0, "{}", output.stderr);
    let id = string(&output.lines()[0]["id"]);
    assert_eq!(
        project.json(&["show", &id])["text"].as_str().unwrap().len(),
        CAP
    );
    assert_eq!(project.ok(&["list"]).stdout.lines().count(), 1);
    assert!(project.ok(&["context"]).stdout.chars().count() <= 3_000);
    let output = project.input(&["remember", "--stdin"], line(CAP + 1).as_bytes());
    assert_eq!(output.code, 1);
    assert_eq!(project.list("knowledge").len(), 1);
}

#[test]
fn long_argument_is_stored_whole() {
    let project = Project::new();
    let text = "wörter ".repeat(12_000);
    let id = project.remember(&text, &[]);
    assert_eq!(project.json(&["show", &id])["text"], text.trim());
}

#[test]
fn remember_with_empty_text_is_refused() {
    let project = Project::new();
    for empty in ["", " ", "\n\t "] {
        let output = project.expect(&["remember", empty], 2);
        assert!(output.stderr.contains("no text"), "{output:?}");
    }
}

#[test]
fn argument_with_invalid_utf_8_is_a_usage_error() {
    let project = Project::new();
    let invalid = OsString::from_vec(b"caf\xe9".to_vec());
    let output = project.expect(&[OsString::from("remember"), invalid], 2);
    assert!(output.stderr.contains("UTF-8"), "{output:?}");
}

#[test]
fn nul_in_json_is_stored_and_escaped_in_output() {
    let project = Project::new();
    let output = project.input(&["remember", "--stdin"], b"{\"text\":\"a\\u0000b\"}\n");
    assert_eq!(output.code, 0, "{output:?}");
    let id = string(&output.lines()[0]["id"]);
    assert_eq!(project.json(&["show", &id])["text"], "a\0b");
    assert!(is_printable(&project.ok(&["show", &id]).stdout));
}

#[test]
fn json_line_with_lone_surrogate_is_stored_with_a_replacement() {
    let project = Project::new();
    let output = project.input(
        &["remember", "--stdin"],
        b"{\"text\":\"a\\ud800b\"}\n{\"text\":\"ok\"}\n",
    );
    assert_eq!(output.code, 0, "{output:?}");
    assert_eq!(output.lines()[0]["outcome"], "created");
    assert!(project.ok(&["list"]).stdout.contains("a\u{fffd}b"));
}

#[test]
fn invalid_scope_names_are_refused() {
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
            let output = project.expect(&["remember", "text", option, wrong], 2);
            let name = option.trim_start_matches('-');
            assert!(output.stderr.contains(name), "{option} {output:?}");
            assert!(is_printable(&output.stderr), "{output:?}");
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
fn text_output_contains_no_control_characters() {
    let project = Project::new();
    let id = project.remember(
        CONTROL_TEXT,
        &["--category", "decision", "--rationale", CONTROL_TEXT],
    );
    project.ok(&[
        "task",
        "set",
        "1",
        "--branch",
        CONTROL_TEXT,
        "--blocked",
        CONTROL_TEXT,
    ]);
    project.ok(&["step", "pending", CONTROL_TEXT, "--task", "1"]);
    project.ok(&["step", "done", &format!("x {CONTROL_TEXT}"), "--task", "1"]);
    project.ok(&["error", "log", CONTROL_TEXT, "--task", "1"]);
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
        &["error", "resolve", "red", "--with", CONTROL_TEXT],
        &["error", "log", CONTROL_TEXT, "--task", "1"],
        &["forget", &id],
        &["undo", &id],
        &["config", "--set", "project.name=\u{1b}[31m"],
        &["list", "--kind", CONTROL_TEXT],
        &["man", CONTROL_TEXT],
        &[CONTROL_TEXT],
        &["list", "--project-dir", CONTROL_TEXT],
    ] {
        let output = project.run(args);
        assert!(is_printable(&output.stdout), "{args:?} {output:?}");
        assert!(is_printable(&output.stderr), "{args:?} {output:?}");
    }
}

#[test]
fn json_output_escapes_control_characters_without_loss() {
    let project = Project::new();
    let id = project.remember(CONTROL_TEXT, &[]);
    for args in [
        &["show", &id, "--json"][..],
        &["list", "--json"],
        &["export"],
        &["export", "--format", "agentium"],
        &["context", "--json"],
    ] {
        let output = project.ok(args);
        assert!(is_printable(&output.stdout), "{args:?} {output:?}");
    }
    assert_eq!(project.json(&["show", &id])["text"], CONTROL_TEXT);
    assert_eq!(project.ok(&["export"]).lines()[0]["text"], CONTROL_TEXT);
    let mirror = project.ok(&["export", "--format", "agentium"]).json();
    assert_eq!(mirror["key_facts"][0], CONTROL_TEXT);
}

#[test]
fn terminal_output_contains_no_stored_escapes() {
    let project = Project::new();
    let id = project.remember(CONTROL_TEXT, &[]);
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
        let output = command.output().expect("`script` of util-linux starts");
        let text = String::from_utf8_lossy(&output.stdout).replace('\r', "");
        assert!(text.contains("ALERT"), "{text}");
        assert!(
            !text.contains("\u{1b}[31m") && !text.contains('\u{9b}') && !text.contains('\u{7}'),
            "{text:?}"
        );
    }
}

#[test]
fn unicode_text_key_and_task_are_stored_unchanged() {
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
fn multi_line_text_is_shown_on_one_line_in_list_and_context() {
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
fn init_over_a_file_in_the_way_fails_with_its_name() {
    let project = Project::uninitialised();
    project
        .folder
        .write(".heirloom", "a file in the way")
        .unwrap();
    let output = project.expect(&["init"], 1);
    assert!(output.stderr.contains(".heirloom"), "{output:?}");
}

#[test]
fn stdin_closed_within_a_line_stores_complete_lines() {
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
