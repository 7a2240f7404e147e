//! Caps at the door: what is too large or too much is refused with the cap, before anything is written.

use crate::project::{Project, string};
use heirloom_model::limits::{
    CONFIG_BYTES_MAX, CONTEXT_BUDGET_CHARS_MAX, CONTEXT_BUDGET_TOKENS_MAX, DIAGNOSTICS_MAX,
    EVENTS_MAX, FILES_PER_OUTCOME_MAX, ID_PREFIX_MIN, IMPORT_BYTES_MAX, ITERATION_TIMEOUT_S_MAX,
    ITERATIONS_MAX, MIRROR_BYTES_MAX, MIRROR_ENTRIES_MAX, PURGE_TEXT_BYTES_MAX, SET_FLAGS_MAX,
    STALL_LIMIT_MAX, STDIN_LINE_BYTES_MAX,
};
use std::fs::File;

/// Makes a file of this size that takes no room.
fn sparse(project: &Project, name: &str, bytes: u64) {
    project.folder.write(name, "").unwrap();
    let file = File::options().write(true).open(project.file(name));
    file.unwrap().set_len(bytes).unwrap();
}

/// The command fails as wrong usage and names the cap.
#[track_caller]
fn refused(project: &Project, args: &[&str], cap: u64) {
    let said = project.expect(args, 2);
    assert!(said.stderr.contains(&cap.to_string()), "{cap}: {said:?}");
}

#[test]
fn a_config_file_has_a_largest_size() {
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
    let said = project.json(&["config", "memory.max_entries"]);
    assert_eq!(said["config"][0]["value"], 7);
    padded(CONFIG_BYTES_MAX + 1);
    refused(&project, &["list"], CONFIG_BYTES_MAX);
}

#[test]
fn an_import_has_a_largest_size() {
    let project = Project::new();
    // A file at the cap would be read: a gigabyte is too much for a test.
    sparse(&project, "large.jsonl", IMPORT_BYTES_MAX + 1);
    refused(
        &project,
        &["import", "jsonl", "large.jsonl"],
        IMPORT_BYTES_MAX,
    );
    sparse(&project, "large.json", IMPORT_BYTES_MAX + 1);
    refused(
        &project,
        &["import", "agentium", "large.json"],
        IMPORT_BYTES_MAX,
    );
    project.ok(&["list"]);
}

#[test]
fn a_mirror_has_a_largest_size() {
    for (bytes, expected) in [
        (MIRROR_BYTES_MAX, "line 1".to_owned()),
        (MIRROR_BYTES_MAX + 1, MIRROR_BYTES_MAX.to_string()),
    ] {
        let project = Project::new();
        sparse(&project, ".heirloom/memory.json", bytes);
        let said = project.ok(&["outcome", "--task", "1", "--status", "PARTIAL"]);
        assert!(said.stderr.contains("corrupt-"), "{said:?}");
        assert!(said.stderr.contains(&expected), "{expected}: {said:?}");
    }
}

#[test]
fn bad_lines_of_an_import_are_counted_beyond_the_first() {
    let project = Project::new();
    let (most, mut lines) = (DIAGNOSTICS_MAX, String::new());
    for _ in 0..DIAGNOSTICS_MAX {
        lines.push_str("x\n");
    }
    let import = |text: &str| {
        project.folder.write("bad.jsonl", text).unwrap();
        let said = project.expect(&["import", "jsonl", "bad.jsonl", "--json"], 1);
        said.json()["diagnostics"].as_array().unwrap().clone()
    };
    assert_eq!(import(&lines).len(), most);
    lines.push_str("x\nx\nx\n");
    let told = import(&lines);
    assert_eq!(told.len(), most + 1);
    let last = string(&told[most]["message"]);
    assert!(last.starts_with("3 more lines were not taken"), "{last}");
}

#[test]
fn a_line_of_standard_input_has_a_longest_length() {
    let project = Project::new();
    // Escapes: many bytes of a line are few of a text.
    let line = |bytes: usize| {
        let (open, end) = ("{\"text\":\"x\",\"rationale\":\"", "\"}");
        let escaped = "\\u0041".repeat((bytes - open.len() - end.len()) / 6);
        let line = format!("{open}{escaped}{end}");
        format!("{line}{}", " ".repeat(bytes - line.len()))
    };
    for ending in ["", "\n", "\r\n"] {
        let input = line(STDIN_LINE_BYTES_MAX) + ending + "\n{\"text\":\"after\"}\n";
        let said = project.input(&["remember", "--stdin"], input.as_bytes());
        assert_eq!(said.code, 0, "{ending:?}: {}", said.stdout);
        let input = line(STDIN_LINE_BYTES_MAX + 1) + ending + "\n{\"text\":\"after\"}\n";
        let said = project.input(&["remember", "--stdin"], input.as_bytes());
        assert_eq!(said.code, 1, "{ending:?}");
        let answers = said.lines();
        let error = string(&answers[0]["error"]);
        assert!(error.contains(&STDIN_LINE_BYTES_MAX.to_string()), "{error}");
        assert_eq!(answers[1]["outcome"], "confirmed");
    }
}

#[test]
fn an_outcome_takes_so_many_files() {
    let project = Project::new();
    let outcome = |count: usize| {
        let mut args: Vec<_> = ["outcome", "--task", "1", "--status", "PARTIAL", "--file"]
            .map(str::to_owned)
            .to_vec();
        args.extend((0..count).map(|n| format!("src/{n}.rs")));
        project.run(&args)
    };
    let said = outcome(FILES_PER_OUTCOME_MAX + 1);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.stderr.contains(&FILES_PER_OUTCOME_MAX.to_string()));
    assert_eq!(project.list("artifact").len(), 0);
    assert_eq!(outcome(FILES_PER_OUTCOME_MAX).code, 0);
    assert_eq!(project.list("artifact").len(), FILES_PER_OUTCOME_MAX);
}

#[test]
fn a_call_takes_so_many_settings() {
    let project = Project::new();
    let list = |count: usize| {
        let mut args = vec!["list"];
        args.extend(std::iter::repeat_n(["--set", "memory.max_entries=7"], count).flatten());
        args
    };
    project.ok(&list(SET_FLAGS_MAX));
    refused(&project, &list(SET_FLAGS_MAX + 1), SET_FLAGS_MAX as u64);
}

#[test]
fn numbers_in_settings_have_bounds() {
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
    ] {
        project.ok(&["context", "--set", &format!("{key}={most}")]);
        let over = format!("{key}={}", most + 1);
        refused(&project, &["context", "--set", &over], most);
    }
    let most = CONTEXT_BUDGET_CHARS_MAX as u64;
    project.ok(&["context", "--budget-chars", &most.to_string()]);
    refused(
        &project,
        &["context", "--budget-chars", &(most + 1).to_string()],
        most,
    );
}

#[test]
fn an_abbreviated_id_has_a_shortest_length() {
    let project = Project::new();
    let id = project.remember("x", &[]).replace('-', "");
    project.ok(&["show", &id[..ID_PREFIX_MIN]]);
    let said = project.expect(&["show", &id[..ID_PREFIX_MIN - 1]], 2);
    assert!(said.stderr.contains("not an id"), "{said:?}");
}

#[test]
fn a_history_tells_so_many_changes() {
    let project = Project::new();
    let id = project.remember("x", &[]);
    let (most, over) = (EVENTS_MAX.to_string(), (EVENTS_MAX + 1).to_string());
    let said = project.json(&["history", "-n", &most]);
    assert_eq!(said["events"].as_array().unwrap().len(), 1);
    refused(&project, &["history", "-n", &over], EVENTS_MAX as u64);

    // Of one record all are told as long as it is no more of them; beyond that it is said.
    let confirm = |times: usize| {
        let said = project.input(
            &["remember", "--stdin"],
            "{\"text\":\"x\"}\n".repeat(times).as_bytes(),
        );
        assert_eq!(said.code, 0, "{}", said.stderr);
    };
    let told = || {
        let said = project.ok(&["history", &id, "--json"]);
        let events = said.json()["events"].as_array().unwrap().len();
        (events, said.stderr)
    };
    confirm(EVENTS_MAX - 1);
    assert_eq!(told(), (EVENTS_MAX, String::new()));
    confirm(2);
    let (events, talk) = told();
    assert_eq!(events, EVENTS_MAX + 1, "with its creation");
    assert!(talk.contains(&format!("the newest {EVENTS_MAX}")), "{talk}");
}

#[test]
fn a_purge_looks_for_so_long_a_text() {
    let project = Project::new();
    let text = "x".repeat(PURGE_TEXT_BYTES_MAX + 1);
    project.remember(&text, &[]);
    let most = PURGE_TEXT_BYTES_MAX as u64;
    refused(&project, &["purge", "--query", &text, "--yes"], most);
    assert_eq!(project.list("knowledge").len(), 1);
    project.ok(&["purge", "--query", &text[1..], "--yes"]);
    assert_eq!(project.list("knowledge").len(), 0);
}
