//! Limits of the command line: larger input is refused with the limit, before anything is written.

use crate::project::{Project, string};
use heirloom_model::limits::{
    CONFIG_BYTES_MAX, CONTEXT_BUDGET_CHARS_MAX, CONTEXT_BUDGET_TOKENS_MAX, DIAGNOSTICS_MAX,
    EVENTS_MAX, FILES_PER_OUTCOME_MAX, HOOK_ANCHOR_EVERY_MAX, ID_PREFIX_MIN, IMPORT_BYTES_MAX,
    ITERATION_TIMEOUT_S_MAX, ITERATIONS_MAX, MIRROR_BYTES_MAX, MIRROR_ENTRIES_MAX,
    PURGE_TEXT_BYTES_MAX, SET_FLAGS_MAX, STALL_LIMIT_MAX, STDIN_LINE_BYTES_MAX,
};
use heirloom_testkit::sh;
use std::fs::File;

/// Creates a sparse file of this size.
fn write_sparse(project: &Project, name: &str, bytes: u64) {
    project.folder.write(name, "").unwrap();
    let file = File::options().write(true).open(project.file(name));
    file.unwrap().set_len(bytes).unwrap();
}

/// Runs a command, which must be a usage error that names the limit.
#[track_caller]
fn assert_refused(project: &Project, args: &[&str], cap: u64) {
    let output = project.expect(args, 2);
    assert!(
        output.stderr.contains(&cap.to_string()),
        "{cap}: {output:?}"
    );
}

#[test]
fn config_file_over_size_limit_is_refused() {
    let project = Project::new();
    let padded = |bytes: u64| {
        let text = "[memory]\nenabled = true\nmax_entries = 7\n#";
        let padding = "x".repeat(bytes as usize - text.len());
        let path = ".heirloom/config.toml";
        project
            .folder
            .write(path, format!("{text}{padding}"))
            .unwrap();
    };
    padded(CONFIG_BYTES_MAX);
    let output = project.json(&["config", "memory.max_entries"]);
    assert_eq!(output["config"][0]["value"], 7);
    padded(CONFIG_BYTES_MAX + 1);
    assert_refused(&project, &["list"], CONFIG_BYTES_MAX);
}

#[test]
fn import_file_over_size_limit_is_refused() {
    let project = Project::new();
    // A file at the limit would be read, and a gigabyte is too much for a test.
    write_sparse(&project, "large.jsonl", IMPORT_BYTES_MAX + 1);
    assert_refused(
        &project,
        &["import", "jsonl", "large.jsonl"],
        IMPORT_BYTES_MAX,
    );
    write_sparse(&project, "large.json", IMPORT_BYTES_MAX + 1);
    assert_refused(
        &project,
        &["import", "agentium", "large.json"],
        IMPORT_BYTES_MAX,
    );
    project.ok(&["list"]);
}

#[test]
fn mirror_over_size_limit_is_reported_with_the_limit() {
    for (bytes, expected) in [
        (MIRROR_BYTES_MAX, "line 1".to_owned()),
        (MIRROR_BYTES_MAX + 1, MIRROR_BYTES_MAX.to_string()),
    ] {
        let project = Project::new();
        write_sparse(&project, ".heirloom/memory.json", bytes);
        let output = project.ok(&sh("outcome --task 1 --status PARTIAL"));
        assert!(output.stderr.contains("corrupt-"), "{output:?}");
        assert!(output.stderr.contains(&expected), "{expected}: {output:?}");
    }
}

#[test]
fn import_diagnostics_over_the_limit_are_counted() {
    let project = Project::new();
    let (most, mut lines) = (DIAGNOSTICS_MAX, String::new());
    for _ in 0..DIAGNOSTICS_MAX {
        lines.push_str("x\n");
    }
    let import = |text: &str| {
        project.folder.write("bad.jsonl", text).unwrap();
        let output = project.expect(&["import", "jsonl", "bad.jsonl", "--json"], 1);
        output.json()["diagnostics"].as_array().unwrap().clone()
    };
    assert_eq!(import(&lines).len(), most);
    lines.push_str("x\nx\nx\n");
    let diagnostics = import(&lines);
    assert_eq!(diagnostics.len(), most + 1);
    let last = string(&diagnostics[most]["message"]);
    assert!(last.starts_with("3 more lines were not imported"), "{last}");
}

#[test]
fn stdin_line_over_length_limit_fails_alone() {
    let project = Project::new();
    // Escapes: a long line has a short text.
    let line = |bytes: usize| {
        let (open, end) = ("{\"text\":\"x\",\"rationale\":\"", "\"}");
        let escaped = "\\u0041".repeat((bytes - open.len() - end.len()) / 6);
        let line = format!("{open}{escaped}{end}");
        format!("{line}{}", " ".repeat(bytes - line.len()))
    };
    for ending in ["", "\n", "\r\n"] {
        let input = line(STDIN_LINE_BYTES_MAX) + ending + "\n{\"text\":\"after\"}\n";
        let output = project.input(&["remember", "--stdin"], input.as_bytes());
        assert_eq!(output.code, 0, "{ending:?}: {}", output.stdout);
        let input = line(STDIN_LINE_BYTES_MAX + 1) + ending + "\n{\"text\":\"after\"}\n";
        let output = project.input(&["remember", "--stdin"], input.as_bytes());
        assert_eq!(output.code, 1, "{ending:?}");
        let answers = output.lines();
        let error = string(&answers[0]["error"]);
        assert!(error.contains(&STDIN_LINE_BYTES_MAX.to_string()), "{error}");
        assert_eq!(answers[1]["outcome"], "confirmed");
    }
}

#[test]
fn outcome_with_files_over_the_limit_is_refused() {
    let project = Project::new();
    let outcome = |count: usize| {
        let mut args: Vec<_> = ["outcome", "--task", "1", "--status", "PARTIAL", "--file"]
            .map(str::to_owned)
            .to_vec();
        args.extend((0..count).map(|n| format!("src/{n}.rs")));
        project.run(&args)
    };
    let output = outcome(FILES_PER_OUTCOME_MAX + 1);
    assert_eq!(output.code, 2, "{output:?}");
    assert!(output.stderr.contains(&FILES_PER_OUTCOME_MAX.to_string()));
    assert_eq!(project.list("artifact").len(), 0);
    assert_eq!(outcome(FILES_PER_OUTCOME_MAX).code, 0);
    assert_eq!(project.list("artifact").len(), FILES_PER_OUTCOME_MAX);
}

#[test]
fn set_flags_over_the_limit_are_refused() {
    let project = Project::new();
    let list = |count: usize| {
        let mut args = vec!["list"];
        args.extend(std::iter::repeat_n(["--set", "memory.max_entries=7"], count).flatten());
        args
    };
    project.ok(&list(SET_FLAGS_MAX));
    assert_refused(&project, &list(SET_FLAGS_MAX + 1), SET_FLAGS_MAX as u64);
}

#[test]
fn numeric_settings_over_their_bounds_are_refused() {
    let project = Project::new();
    for (key, most) in [
        ("memory.max_entries", MIRROR_ENTRIES_MAX as u64),
        ("memory.context_budget", CONTEXT_BUDGET_CHARS_MAX as u64),
        (
            "memory.context_budget_tokens",
            CONTEXT_BUDGET_TOKENS_MAX as u64,
        ),
        ("run.iterations", ITERATIONS_MAX.into()),
        ("run.stall_limit", STALL_LIMIT_MAX.into()),
        ("run.timeout_s", ITERATION_TIMEOUT_S_MAX),
        ("hooks.anchor_every", HOOK_ANCHOR_EVERY_MAX.into()),
    ] {
        project.ok(&["context", "--set", &format!("{key}={most}")]);
        let over = format!("{key}={}", most + 1);
        assert_refused(&project, &["context", "--set", &over], most);
    }
    let most = CONTEXT_BUDGET_CHARS_MAX as u64;
    project.ok(&["context", "--budget-chars", &most.to_string()]);
    assert_refused(
        &project,
        &["context", "--budget-chars", &(most + 1).to_string()],
        most,
    );
}

#[test]
fn id_prefix_under_minimum_length_is_refused() {
    let project = Project::new();
    let id = project.remember("x", &[]).replace('-', "");
    project.ok(&["show", &id[..ID_PREFIX_MIN]]);
    let output = project.expect(&["show", &id[..ID_PREFIX_MIN - 1]], 2);
    assert!(output.stderr.contains("not an id"), "{output:?}");
}

#[test]
fn history_over_the_event_limit_is_cut_with_a_note() {
    let project = Project::new();
    let id = project.remember("x", &[]);
    let (most, over) = (EVENTS_MAX.to_string(), (EVENTS_MAX + 1).to_string());
    let output = project.json(&["history", "-n", &most]);
    assert_eq!(output["events"].as_array().unwrap().len(), 1);
    assert_refused(&project, &["history", "-n", &over], EVENTS_MAX as u64);

    // All changes of one record are listed up to the limit; beyond it a note names the limit.
    let confirm = |times: usize| {
        let output = project.input(
            &["remember", "--stdin"],
            "{\"text\":\"x\"}\n".repeat(times).as_bytes(),
        );
        assert_eq!(output.code, 0, "{}", output.stderr);
    };
    let history = || {
        let output = project.ok(&["history", &id, "--json"]);
        let events = output.json()["events"].as_array().unwrap().len();
        (events, output.stderr)
    };
    confirm(EVENTS_MAX - 1);
    assert_eq!(history(), (EVENTS_MAX, String::new()));
    confirm(2);
    let (events, note) = history();
    assert_eq!(events, EVENTS_MAX + 1, "with its creation");
    assert!(note.contains(&format!("the newest {EVENTS_MAX}")), "{note}");
}

#[test]
fn purge_query_over_length_limit_is_refused() {
    let project = Project::new();
    let text = "x".repeat(PURGE_TEXT_BYTES_MAX + 1);
    project.remember(&text, &[]);
    let most = PURGE_TEXT_BYTES_MAX as u64;
    assert_refused(&project, &["purge", "--query", &text, "--yes"], most);
    assert_eq!(project.list("knowledge").len(), 1);
    project.ok(&["purge", "--query", &text[1..], "--yes"]);
    assert_eq!(project.list("knowledge").len(), 0);
}
