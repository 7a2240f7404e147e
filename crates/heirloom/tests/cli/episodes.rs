//! Episodes: `episode`, ends of tasks and iterations, retention, and their section of a context.

use crate::project::{Project, string, texts};
use heirloom_model::limits::RETENTION_DAYS_MAX;
use heirloom_testkit::sh;
use serde_json::{Value, json};

fn log_episode(project: &Project, task: &str, agent: &str, action: &str, approach: &str) -> Value {
    project.json(&sh(&format!(
        "episode log --task {task} --agent '{agent}' --action '{action}' --approach \
         '{approach}'"
    )))
}

fn listed_texts(project: &Project, options: &[&str]) -> Vec<String> {
    let all = [&["episode", "list"], options].concat();
    texts(&project.json(&all)["episodes"])
}

#[test]
fn episode_log_stores_every_field() {
    let project = Project::new();
    let made = project.json(&sh(
        "episode log --task 42 --agent codex --action failed --approach 'mock the clock' \
         --outcome 'still red' --duration-ms 1200 --tokens-in 500 --tokens-out 70",
    ));
    assert_eq!(made["outcome"], "created");
    let all = project.json(&["episode", "list"]);
    let one = &all["episodes"][0];
    assert_eq!(one["id"], made["id"]);
    for (name, value) in [
        ("kind", json!("episode")),
        ("task", json!("42")),
        ("agent", json!("codex")),
        ("source", json!("codex")),
        ("confidence", json!(0.8)),
        ("action", json!("failed")),
        ("approach", json!("mock the clock")),
        ("outcome", json!("still red")),
        ("duration_ms", json!(1200)),
        ("tokens_in", json!(500)),
        ("tokens_out", json!(70)),
        ("text", json!("mock the clock: still red")),
    ] {
        assert_eq!(one[name], value, "{name}");
    }
    let task = project.json(&["task", "show", "42"]);
    assert_eq!(task["text"], "Task 42", "an unknown task is created");
    assert_eq!(task.get("state"), None, "and has no state");
    let again = log_episode(&project, "42", "codex", "failed", "mock the clock");
    assert_ne!(again["id"], made["id"], "each attempt is a record");
    project.ok(&["undo", &string(&again["id"])]);
    assert_eq!(listed_texts(&project, &[]), ["mock the clock: still red"]);
}

#[test]
fn episode_list_filters_newest_first() {
    let mut project = Project::new();
    for (second, task, agent, action) in [
        (1, "1", "a", "attempted"),
        (2, "1", "b", "failed"),
        (3, "2", "a", "completed"),
        (4, "1", "a", "retried"),
    ] {
        project.set_clock(&format!("2026-05-01T10:00:0{second}Z"));
        log_episode(&project, task, agent, action, &second.to_string());
    }
    let check =
        |options: &[&str], expect: &[&str]| assert_eq!(listed_texts(&project, options), expect);
    check(&[], &["4", "3", "2", "1"]);
    check(&["--task", "1"], &["4", "2", "1"]);
    check(&["--agent", "a"], &["4", "3", "1"]);
    check(&["--action", "failed"], &["2"]);
    check(&["--action", "FAILED", "--agent", "a"], &[]);
    check(&["-n", "2"], &["4", "3"]);
    check(&["-n", "0"], &[]);
    check(
        &[
            "--since",
            "2026-05-01T10:00:02Z",
            "--until",
            "2026-05-01T10:00:03Z",
        ],
        &["3", "2"],
    );
    let text = project.ok(&["episode", "list"]).stdout;
    assert!(text.contains("retried") && text.contains('b'), "{text}");
}

#[test]
fn invalid_episode_arguments_are_usage_errors() {
    let project = Project::new();
    let log_args = ["episode", "log", "--task", "1", "--action"];
    for rest in [
        vec!["tried"],
        vec![""],
        vec!["failed", "--duration-ms", "-1"],
        vec!["failed", "--tokens-in", "many"],
        vec!["failed", "--agent", ""],
        vec!["failed", "--task", "2"],
        vec!["failed", "--agent", "a\nb"],
    ] {
        project.expect(&[log_args.as_slice(), &rest].concat(), 2);
    }
    project.expect(&["episode", "log", "--action", "failed"], 2);
    project.expect(&["episode", "list", "--since", "yesterday"], 2);
    project.expect(&["episode"], 2);
    assert_eq!(project.list("episode").len(), 0);
    assert_eq!(project.list("task").len(), 0);
    let off = ["--set", "memory.enabled=false", "--approach", "x"];
    project.expect(&[&log_args[..], &["failed"], &off].concat(), 4);
}

#[test]
fn task_end_and_iteration_outcome_create_episodes() {
    let project = Project::new();
    let done = project.json(&sh("task done 7 --agent a --approach 'by hand'"));
    let shown = project.json(&["show", &string(&done["episode"])]);
    assert_eq!(shown["action"], "completed");
    assert_eq!(shown["approach"], "by hand");
    project.ok(&sh("task fail 8 --outcome 'no idea' --approach ' '"));
    let outcome = [
        "outcome",
        "--task",
        "9",
        "--iteration",
        "1",
        "--agent",
        "a",
        "--status",
    ];
    for _ in 0..2 {
        project.ok(&[&outcome[..], &["BLOCKED", "--message", "no key"]].concat());
    }
    assert_eq!(
        listed_texts(&project, &[]),
        ["iteration 1 of 9 failed: no key", "no idea", "by hand"]
    );
    project.ok(&[&outcome[..], &["COMPLETE"]].concat());
    assert_eq!(
        listed_texts(&project, &["--task", "9"]),
        ["iteration 1 of 9 completed"]
    );
    assert_eq!(project.list("episode").len(), 3);
}

#[test]
fn context_lists_tried_approaches_and_artifacts() {
    let mut project = Project::new();
    let mut second = 0;
    let mut at = |project: &mut Project| {
        second += 1;
        project.set_clock(&format!("2026-05-01T10:00:{second:02}Z"));
    };
    for (action, approach) in [
        ("failed", "mock the clock"),
        ("completed", "freeze it"),
        ("failed", "Mock the  clock."),
        ("attempted", "guess"),
        ("failed", "sleep"),
        ("failed", "retry it"),
        ("completed", "retry it"),
    ] {
        at(&mut project);
        log_episode(&project, "42", "codex", action, approach);
    }
    at(&mut project);
    project.ok(&sh("task fail 42 --outcome 'out of time'"));
    at(&mut project);
    project.ok(&sh(
        "outcome --task 42 --iteration 1 --status FAILED --error 'it broke' --file a.rs",
    ));
    for (path, kind) in [
        ("a_test.rs", "test"),
        ("a.rs", "file"),
        ("notes.md", "document"),
    ] {
        at(&mut project);
        project.folder.write(path, path).unwrap();
        project.ok(&["artifact", "add", path, "--task", "42", "--type", kind]);
    }
    at(&mut project);
    let described = [
        "artifact", "add", "notes.md", "--task", "42", "--type", "document",
    ];
    project.ok(&[&described[..], &["--description", "why\n## it broke"]].concat());
    let expect = "\
## Session Memory

### Task: Task 42
Files modified: a.rs

### Unresolved Errors
- [Iteration 1] it broke

### Tried Before
- Failed: out of time
- Failed: sleep
- Failed 2 times: Mock the  clock.
- Worked after a failure: retry it
- Worked: freeze it

### Artifacts
- notes.md (document): why | ## it broke
- a_test.rs (test)
"
    .replace("  clock", " clock");
    let context = ["context", "--task", "42"];
    assert_eq!(project.ok(&context).stdout, expect);
    let receipt = project.json(&[&context[..], &["--budget-chars", "300"]].concat());
    let sections = receipt["sections"].as_array().unwrap();
    let tried = sections
        .iter()
        .find(|s| s["name"] == "Tried Before")
        .unwrap();
    let items = tried["items"].as_array().unwrap();
    assert_eq!(items.len(), 5);
    assert_eq!(items[0]["included"], true);
    assert!(items[0]["id"].is_string());
    assert_eq!(sections.last().unwrap()["name"], "Artifacts");
    let cut = receipt["text"].as_str().unwrap();
    assert!(
        cut.chars().count() <= 300 && cut.contains(" more "),
        "{cut}"
    );
    assert!(
        !project
            .ok(&["context", "--task", "43"])
            .stdout
            .contains("Tried")
    );
    let mirror = std::fs::read_to_string(project.file(".heirloom/memory.json")).unwrap();
    assert!(
        mirror.contains("a.rs") && !mirror.contains("notes.md"),
        "{mirror}"
    );
}

#[test]
fn prune_retires_old_episodes_except_failures_without_success() {
    let mut project = Project::new();
    project.set_clock("2026-03-01T10:00:00Z");
    log_episode(&project, "1", "a", "failed", "a lesson");
    log_episode(&project, "2", "a", "failed", "made up for");
    project.set_clock("2026-03-01T11:00:00Z");
    log_episode(&project, "2", "a", "completed", "worked");
    project.set_clock("2026-04-30T11:00:00Z");
    log_episode(&project, "3", "a", "completed", "lately");
    let counts = project.json(&["prune"]);
    assert_eq!(
        (&counts["applied"], &counts["episodes"]),
        (&json!(false), &json!(2))
    );
    assert_eq!(listed_texts(&project, &[]).len(), 4);
    let text = project.ok(&["prune"]).stdout;
    assert!(text.contains("would retire 2 episodes"), "{text}");
    let days = |days: u32| format!("retention.episodes_days={days}");
    let longer = ["prune", "--apply", "--set", "retention.episodes_days=0"];
    assert_eq!(project.json(&longer)["episodes"], 0);
    project.expect(&["prune", "--set", "retention.episodes_days=-1"], 2);
    project.expect(&["prune", "--set", &days(RETENTION_DAYS_MAX + 1)], 2);
    project.ok(&["prune", "--set", &days(RETENTION_DAYS_MAX)]);
    assert_eq!(project.json(&["prune", "--apply"])["episodes"], 2);
    assert_eq!(listed_texts(&project, &[]), ["lately", "a lesson"]);
    assert_eq!(project.json(&["prune", "--apply"])["episodes"], 0);
}
