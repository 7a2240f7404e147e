//! The commands `task`, `step` and `outcome`.

use crate::project::{Project, string, texts};
use heirloom_testkit::sh;
use serde_json::{Value, json};

fn step_texts(project: &Project, task: &str) -> (Vec<String>, Vec<String>) {
    let task = project.json(&["task", "show", task]);
    (
        texts(&task["completed_steps"]),
        texts(&task["pending_steps"]),
    )
}

#[test]
fn task_set_keeps_fields_that_are_not_given() {
    let project = Project::new();
    let made = project.json(&sh("task set 42 --type issue --branch fix"));
    assert_eq!(made["outcome"], "created");
    let changed = project.json(&sh("task set 42 --phase TEST --pr 7"));
    assert_eq!(changed["outcome"], "replaced");
    assert_eq!(
        project.json(&sh("task set 42 --pr 7"))["outcome"],
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
fn task_set_blocks_and_unblocks_a_task() {
    let project = Project::new();
    project.ok(&sh("task set 1 --blocked 'no access'"));
    assert_eq!(
        project.json(&["task", "show", "1"])["blocked_reason"],
        "no access"
    );
    let text = project.ok(&["task", "list"]).stdout;
    assert!(text.contains("blocked: no access"), "{text}");
    project.ok(&sh("task set 1 --blocked ''"));
    assert_eq!(
        project.json(&["task", "show", "1"]).get("blocked_reason"),
        None
    );
}

#[test]
fn task_show_of_an_unknown_task_exits_3() {
    let project = Project::new();
    let error = project.expect(&["task", "show", "9", "--json"], 3).error();
    assert_eq!(error["kind"], "not_found");
    assert!(error["hint"].as_str().unwrap().contains("task list"));
    assert_eq!(project.json(&["task", "list"]), json!({"tasks": []}));
}

#[test]
fn task_list_is_newest_first() {
    let project = Project::new();
    for id in ["1", "2", "3"] {
        project.ok(&["task", "set", id]);
    }
    let tasks = project.json(&["task", "list"]);
    assert_eq!(texts(&tasks["tasks"]), ["Task 3", "Task 2", "Task 1"]);
}

#[test]
fn task_done_and_fail_create_an_episode() {
    let project = Project::new();
    project.ok(&sh("task set 1 --blocked why"));
    let output = project.json(&sh("task done 1 --agent a --approach x --outcome y"));
    assert_eq!(
        (&output["id"], &output["state"]),
        (&json!("1"), &json!("done"))
    );
    let episode = project.json(&["show", &string(&output["episode"])]);
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
    let output = project.json(&["task", "fail", "2"]);
    assert_eq!(
        project.json(&["show", &string(&output["episode"])])["action"],
        "failed"
    );
    assert_eq!(project.json(&["task", "show", "2"])["state"], "failed");
}

#[test]
fn step_done_completes_the_pending_step_with_the_same_text() {
    let project = Project::new();
    let step = |state, text| project.json(&["step", state, text, "--task", "1"]);
    assert_eq!(step("pending", "Create the PR")["outcome"], "created");
    assert_eq!(step("pending", "Run tests")["outcome"], "created");
    assert_eq!(step("done", "create  the pr.")["outcome"], "replaced");
    let (done, pending) = step_texts(&project, "1");
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
fn step_pending_after_done_changes_nothing() {
    let project = Project::new();
    let step = |state, text| project.json(&["step", state, text, "--task", "1"]);
    step("done", "Run tests");
    assert_eq!(step("pending", "run tests")["outcome"], "unchanged");
    let (done, pending) = step_texts(&project, "1");
    assert_eq!((done.len(), pending.len()), (1, 0));
}

#[test]
fn same_step_text_in_another_task_is_a_separate_step() {
    let project = Project::new();
    project.ok(&sh("step done 'Run tests' --task 1"));
    let other = project.json(&sh("step pending 'Run tests' --task 2"));
    assert_eq!(other["outcome"], "created");
    assert_eq!(step_texts(&project, "2").1, ["Run tests"]);
}

#[test]
fn steps_are_listed_in_order_of_creation() {
    let project = Project::new();
    for text in ["c", "a", "b"] {
        project.ok(&["step", "pending", text, "--task", "1"]);
    }
    assert_eq!(step_texts(&project, "1").1, ["c", "a", "b"]);
}

#[test]
fn step_without_text_or_task_is_a_usage_error() {
    let project = Project::new();
    project.expect(&sh("step done ' ' --task 1"), 2);
    project.expect(&["step", "done", "x"], 2);
    project.expect(&sh("step maybe x --task 1"), 2);
    project.expect(&sh("step done x --task ''"), 2);
    assert_eq!(project.list("task").len(), 0);
}

#[test]
fn outcome_updates_the_task() {
    let project = Project::new();
    let output = project.json(&sh(
        "outcome --task 42 --phase TEST --iteration 2 --status partial --pr 7 --branch fix \
         --file src/a.rs --file ./src/../src/b.rs",
    ));
    assert_eq!(
        (&output["task"], &output["success"]),
        (&json!("42"), &json!(true))
    );
    let task = project.json(&["task", "show", "42"]);
    assert_eq!(task["phase"], "TEST");
    assert_eq!(task["iteration"], 2);
    assert_eq!(task["pr_number"], 7);
    assert_eq!(task["branch"], "fix");
    assert_eq!(task["state"], "open");
    assert_eq!(texts(&task["files"]), ["src/a.rs", "src/b.rs"]);
    project.ok(&sh("outcome --task 42 --status COMPLETE"));
    assert_eq!(project.json(&["task", "show", "42"])["state"], "done");
}

#[test]
fn outcome_error_opens_one_error_and_success_resolves_none() {
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
    project.ok(&sh("error log elsewhere --task 1 --phase BUILD"));
    project.ok(&sh("error log 'of another task' --task 2 --phase TEST"));
    outcome("3", &["COMPLETE"]);
    let open: Vec<_> = project
        .list("error")
        .into_iter()
        .filter(|e| e["state"] == "open")
        .collect();
    // A success is no evidence about an error.
    assert_eq!(open.len(), 3);
    project.ok(&sh(
        "error resolve 'panic at line 12' --with 'checked the bounds'",
    ));
    let closed: Vec<Value> = project
        .list("error")
        .into_iter()
        .filter(|e| e["state"] == "resolved")
        .collect();
    assert_eq!(closed.len(), 1);
    assert_eq!(closed[0]["resolution"], "checked the bounds");
    assert_eq!(closed[0]["text"], "panic at line 12");
}

#[test]
fn blocked_outcome_sets_the_block_reason_of_the_task() {
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
    project.ok(&sh("outcome --task 1 --status COMPLETE"));
    assert_eq!(
        project.json(&["task", "show", "1"]).get("blocked_reason"),
        None
    );
}

#[test]
fn outcome_writes_error_and_iteration_to_the_mirror() {
    let mut project = Project::new();
    project.set_clock("2026-05-01T10:00:00Z");
    project.ok(&sh("task set 42 --type issue"));
    project.ok(&sh(
        "outcome --task 42 --phase TEST --iteration 3 --status FAILED --error 'it broke'",
    ));
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
fn outcome_with_an_outside_file_is_refused_entirely() {
    let project = Project::new();
    for outside in ["/etc/passwd", "../x", "a/../../x"] {
        let args = [
            "outcome", "--task", "1", "--status", "COMPLETE", "--file", outside,
        ];
        let output = project.expect(&args, 4);
        assert!(output.stderr.contains("outside the project"), "{output:?}");
    }
    assert_eq!(project.list("task").len(), 0);
}

#[test]
fn outcome_with_an_unknown_status_is_refused() {
    let project = Project::new();
    let output = project.expect(&sh("outcome --task 1 --status MAYBE"), 2);
    assert!(
        output
            .stderr
            .contains("COMPLETE, PARTIAL, BLOCKED or FAILED"),
        "{output:?}"
    );
    project.expect(&["outcome", "--status", "FAILED"], 2);
    project.expect(&["outcome", "--task", "1"], 2);
}

/// Agents in several worktrees end iterations concurrently: each decides from its own read which errors to resolve, and
/// another agent may have done so meanwhile.
#[test]
fn concurrent_outcomes_all_succeed() {
    let project = Project::new();
    let lines: String = (0..60)
        .map(|n| format!("{{\"text\":\"decision {n}\",\"category\":\"decision\"}}\n"))
        .collect();
    let output = project.input(&["remember", "--stdin"], lines.as_bytes());
    assert_eq!(output.code, 0);
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
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let decisions = project.json(&["list", "--category", "decision", "--limit", "100"]);
    assert_eq!(decisions["records"].as_array().unwrap().len(), 60);
    assert_eq!(project.json(&["status"])["health"], "ok");
}

#[test]
fn concurrent_resolves_of_one_error_succeed_once() {
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
