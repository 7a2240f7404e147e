//! `task`, `step` and `outcome`.

use crate::project::{Project, string, texts};
use serde_json::{Value, json};

fn steps(project: &Project, task: &str) -> (Vec<String>, Vec<String>) {
    let task = project.json(&["task", "show", task]);
    (
        texts(&task["completed_steps"]),
        texts(&task["pending_steps"]),
    )
}

#[test]
fn what_is_not_said_of_a_task_stays() {
    let project = Project::new();
    let made = project.json(&["task", "set", "42", "--type", "issue", "--branch", "fix"]);
    assert_eq!(made["outcome"], "created");
    let changed = project.json(&["task", "set", "42", "--phase", "TEST", "--pr", "7"]);
    assert_eq!(changed["outcome"], "replaced");
    assert_eq!(
        project.json(&["task", "set", "42", "--pr", "7"])["outcome"],
        "unchanged"
    );
    let task = project.json(&["task", "show", "42"]);
    assert_eq!(task["key"], "42");
    assert_eq!(task["text"], "Issue #42");
    assert_eq!(task["type"], "issue");
    assert_eq!(task["branch"], "fix");
    assert_eq!(task["phase"], "TEST");
    assert_eq!(task["pr_number"], 7);
    assert_eq!(project.list("task").len(), 1);
}

#[test]
fn a_task_can_be_blocked_and_unblocked() {
    let project = Project::new();
    project.ok(&["task", "set", "1", "--blocked", "no access"]);
    assert_eq!(
        project.json(&["task", "show", "1"])["blocked_reason"],
        "no access"
    );
    let text = project.ok(&["task", "list"]).stdout;
    assert!(text.contains("blocked: no access"), "{text}");
    project.ok(&["task", "set", "1", "--blocked", ""]);
    assert_eq!(
        project.json(&["task", "show", "1"]).get("blocked_reason"),
        None
    );
}

#[test]
fn a_task_that_nobody_knows_is_not_found() {
    let project = Project::new();
    let error = project.expect(&["task", "show", "9", "--json"], 3).error();
    assert_eq!(error["kind"], "not_found");
    assert!(error["hint"].as_str().unwrap().contains("task list"));
    assert_eq!(project.json(&["task", "list"]), json!({"tasks": []}));
}

#[test]
fn tasks_are_listed_newest_first() {
    let project = Project::new();
    for id in ["1", "2", "3"] {
        project.ok(&["task", "set", id]);
    }
    let tasks = project.json(&["task", "list"]);
    assert_eq!(texts(&tasks["tasks"]), ["Task 3", "Task 2", "Task 1"]);
}

#[test]
fn the_end_of_a_task_writes_an_episode() {
    let project = Project::new();
    project.ok(&["task", "set", "1", "--blocked", "why"]);
    let said = project.json(&[
        "task",
        "done",
        "1",
        "--agent",
        "a",
        "--approach",
        "x",
        "--outcome",
        "y",
    ]);
    assert_eq!((&said["id"], &said["state"]), (&json!("1"), &json!("done")));
    let episode = project.json(&["show", &string(&said["episode"])]);
    assert_eq!(episode["kind"], "episode");
    assert_eq!(episode["action"], "completed");
    assert_eq!(episode["approach"], "x");
    assert_eq!(episode["outcome"], "y");
    assert_eq!(
        (&episode["task"], &episode["agent"]),
        (&json!("1"), &json!("a"))
    );
    let task = project.json(&["task", "show", "1"]);
    assert_eq!(task["state"], "done");
    assert_eq!(task.get("blocked_reason"), None);
    let said = project.json(&["task", "fail", "2"]);
    assert_eq!(
        project.json(&["show", &string(&said["episode"])])["action"],
        "failed"
    );
    assert_eq!(project.json(&["task", "show", "2"])["state"], "failed");
}

#[test]
fn done_completes_the_pending_step_with_the_same_words() {
    let project = Project::new();
    let step = |state, words| project.json(&["step", state, words, "--task", "1"]);
    assert_eq!(step("pending", "Create the PR")["outcome"], "created");
    assert_eq!(step("pending", "Run tests")["outcome"], "created");
    assert_eq!(step("done", "create  the pr.")["outcome"], "replaced");
    let (done, pending) = steps(&project, "1");
    assert_eq!(
        (done, pending),
        (
            vec!["create  the pr.".to_owned()],
            vec!["Run tests".to_owned()]
        )
    );
    assert_eq!(project.list("step").len(), 2);
}

#[test]
fn pending_after_done_stays_done() {
    let project = Project::new();
    let step = |state, words| project.json(&["step", state, words, "--task", "1"]);
    step("done", "Run tests");
    assert_eq!(step("pending", "run tests")["outcome"], "unchanged");
    let (done, pending) = steps(&project, "1");
    assert_eq!((done.len(), pending.len()), (1, 0));
}

#[test]
fn the_same_words_are_another_step_in_another_task() {
    let project = Project::new();
    project.ok(&["step", "done", "Run tests", "--task", "1"]);
    let other = project.json(&["step", "pending", "Run tests", "--task", "2"]);
    assert_eq!(other["outcome"], "created");
    assert_eq!(steps(&project, "2").1, ["Run tests"]);
}

#[test]
fn steps_keep_the_order_in_which_they_were_said() {
    let project = Project::new();
    for words in ["c", "a", "b"] {
        project.ok(&["step", "pending", words, "--task", "1"]);
    }
    assert_eq!(steps(&project, "1").1, ["c", "a", "b"]);
}

#[test]
fn a_step_needs_words_and_a_task() {
    let project = Project::new();
    project.expect(&["step", "done", " ", "--task", "1"], 2);
    project.expect(&["step", "done", "x"], 2);
    project.expect(&["step", "maybe", "x", "--task", "1"], 2);
    project.expect(&["step", "done", "x", "--task", ""], 2);
    assert_eq!(project.list("task").len(), 0);
}

#[test]
fn an_outcome_moves_the_task_on() {
    let project = Project::new();
    let said = project.json(&[
        "outcome",
        "--task",
        "42",
        "--phase",
        "TEST",
        "--iteration",
        "2",
        "--status",
        "partial",
        "--pr",
        "7",
        "--branch",
        "fix",
        "--file",
        "src/a.rs",
        "--file",
        "./src/../src/b.rs",
    ]);
    assert_eq!(
        (&said["task"], &said["success"]),
        (&json!("42"), &json!(true))
    );
    let task = project.json(&["task", "show", "42"]);
    assert_eq!(task["phase"], "TEST");
    assert_eq!(task["iteration"], 2);
    assert_eq!(task["pr_number"], 7);
    assert_eq!(task["branch"], "fix");
    assert_eq!(task["state"], "open");
    assert_eq!(texts(&task["files"]), ["src/a.rs", "src/b.rs"]);
    project.ok(&["outcome", "--task", "42", "--status", "COMPLETE"]);
    assert_eq!(project.json(&["task", "show", "42"])["state"], "done");
}

#[test]
fn an_outcome_s_error_opens_one_error_and_a_success_closes_it() {
    let project = Project::new();
    let outcome = |n: &str, rest: &[&str]| {
        let args = [
            "outcome",
            "--task",
            "1",
            "--phase",
            "TEST",
            "--iteration",
            n,
            "--status",
        ];
        project.json(&[&args[..], rest].concat())
    };
    assert_eq!(
        outcome("1", &["FAILED", "--error", "panic at line 12"])["success"],
        false
    );
    outcome("2", &["FAILED", "--error", "panic at line 14"]);
    let errors = project.list("error");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0]["repeats"], 1);
    assert_eq!(errors[0]["iteration"], 1);
    project.ok(&[
        "error",
        "log",
        "elsewhere",
        "--task",
        "1",
        "--phase",
        "BUILD",
    ]);
    project.ok(&[
        "error",
        "log",
        "of another task",
        "--task",
        "2",
        "--phase",
        "TEST",
    ]);
    outcome("3", &["COMPLETE"]);
    let open: Vec<_> = project
        .list("error")
        .into_iter()
        .filter(|e| e["state"] == "open")
        .collect();
    assert_eq!(open.len(), 2);
    let closed: Vec<Value> = project
        .list("error")
        .into_iter()
        .filter(|e| e["state"] == "resolved")
        .collect();
    assert_eq!(closed.len(), 1);
    assert_eq!(closed[0]["resolution"], "succeeded in iteration 3");
    assert_eq!(closed[0]["text"], "panic at line 12");
}

#[test]
fn an_outcome_blocks_a_task_with_its_message() {
    let project = Project::new();
    let blocked = [
        "outcome",
        "--task",
        "1",
        "--status",
        "BLOCKED",
        "--message",
        "no key",
    ];
    assert_eq!(project.json(&blocked)["success"], false);
    assert_eq!(
        project.json(&["task", "show", "1"])["blocked_reason"],
        "no key"
    );
    project.ok(&["outcome", "--task", "1", "--status", "COMPLETE"]);
    assert_eq!(
        project.json(&["task", "show", "1"]).get("blocked_reason"),
        None
    );
}

#[test]
fn an_outcome_writes_the_mirror() {
    let mut project = Project::new();
    project.at("2026-05-01T10:00:00Z");
    project.ok(&["task", "set", "42", "--type", "issue"]);
    project.ok(&[
        "outcome",
        "--task",
        "42",
        "--phase",
        "TEST",
        "--iteration",
        "3",
        "--status",
        "FAILED",
        "--error",
        "it broke",
    ]);
    let mirror: Value =
        serde_json::from_str(&project.folder.read(".heirloom/memory.json").unwrap()).unwrap();
    assert_eq!(mirror["tasks"]["42"]["phase"], "TEST");
    assert_eq!(mirror["tasks"]["42"]["type"], "issue");
    assert_eq!(
        mirror["errors"],
        json!([{"iteration": 3, "task_id": "42", "phase": "TEST", "error": "it broke", "resolved": false}])
    );
    assert_eq!(mirror["iteration"], 3);
    assert_ne!(mirror["session_id"], "");
    assert_eq!(mirror["last_checkpoint"], "2026-05-01T10:00:00Z");
    assert_eq!(mirror["decisions"], json!([]));
    assert_eq!(mirror["key_facts"], json!([]));
}

#[test]
fn a_file_outside_the_project_refuses_the_outcome_whole() {
    let project = Project::new();
    for outside in ["/etc/passwd", "../x", "a/../../x"] {
        let args = [
            "outcome", "--task", "1", "--status", "COMPLETE", "--file", outside,
        ];
        let said = project.expect(&args, 4);
        assert!(said.stderr.contains("outside the project"), "{said:?}");
    }
    assert_eq!(project.list("task").len(), 0);
}

#[test]
fn a_status_that_nobody_knows_is_refused() {
    let project = Project::new();
    let said = project.expect(&["outcome", "--task", "1", "--status", "MAYBE"], 2);
    assert!(
        said.stderr.contains("COMPLETE, PARTIAL, BLOCKED or FAILED"),
        "{said:?}"
    );
    project.expect(&["outcome", "--status", "FAILED"], 2);
    project.expect(&["outcome", "--task", "1"], 2);
}

/// Agents in several worktrees end their iterations at the same time: each decides from what it read which
/// records to prune and which errors to close, and another may have done so meanwhile.
#[test]
fn outcomes_at_the_same_time_all_succeed() {
    let project = Project::new();
    let lines: String = (0..60)
        .map(|n| format!("{{\"text\":\"decision {n}\",\"category\":\"decision\"}}\n"))
        .collect();
    let said = project.input(&["remember", "--stdin"], lines.as_bytes());
    assert_eq!(said.code, 0);
    for n in 0..6 {
        let error = format!("broken {}", "x".repeat(n));
        project.ok(&["error", "log", &error, "--task", "1", "--phase", "P"]);
    }
    let children: Vec<_> = (0..24)
        .map(|n| {
            let status = if n % 3 == 0 { "FAILED" } else { "COMPLETE" };
            let error = format!("error {}", "y".repeat(n));
            let mut args = vec!["outcome", "--task", "1", "--phase", "P", "--status", status];
            if status == "FAILED" {
                args.extend(["--error", &error]);
            }
            project.command(&args).spawn().unwrap()
        })
        .collect();
    for child in children {
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
    }
    let entries = project.json(&["prune"])["entries"].as_u64().unwrap();
    assert!(entries <= 50 + 8, "{entries}");
    assert_eq!(project.json(&["status"])["health"], "ok");
}

#[test]
fn an_error_that_two_resolve_at_once_is_resolved_once() {
    let project = Project::new();
    project.ok(&["error", "log", "cannot open"]);
    let children: Vec<_> = (0..8)
        .map(|_| {
            let args = ["error", "resolve", "cannot", "--with", "mended"];
            project.command(&args).spawn().unwrap()
        })
        .collect();
    let codes: Vec<_> = children
        .into_iter()
        .map(|child| child.wait_with_output().unwrap().status.code().unwrap())
        .collect();
    let done = codes.iter().filter(|code| **code == 0).count();
    let gone = codes.iter().filter(|code| **code == 3).count();
    assert_eq!((done, gone), (1, 7), "{codes:?}");
}
