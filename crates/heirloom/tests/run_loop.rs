//! `heirloom run`: memory passed between iterations, and the end of a run.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;

use driver::{ProjectFixture, finish, strings};
use heirloom_testkit::sh;
use serde_json::Value;

const COUNT_FILE: &str = "n";

#[test]
fn second_prompt_contains_memory_of_first_iteration() {
    let fixture = ProjectFixture::plain();
    let (prompts, count) = (
        fixture.outside_path("prompts"),
        fixture.outside_path(COUNT_FILE),
    );
    let result = fixture
        .run(
            &sh("--task 42 --type issue --phase TEST --iterations 2"),
            &[
                "--read-stdin",
                "--count",
                count.to_str().unwrap(),
                "--record",
                prompts.to_str().unwrap(),
                "--on",
                "1",
                "--say",
                "HEIRLOOM_MEMORY: KEY_FACT the tests need Redis",
                "--on",
                "1",
                "--say",
                "- `AGENTIUM_MEMORY: DECISION mock the clock BECAUSE it drifts`",
                "--on",
                "1",
                "--say",
                "HEIRLOOM_MEMORY: STEP_DONE Create branch",
                "--on",
                "1",
                "--say",
                "HEIRLOOM_MEMORY: STEP_PENDING Run full suite",
                "--on",
                "1",
                "--say",
                "HEIRLOOM_MEMORY: ERROR expected ErrExpired, got nil",
                "--on",
                "1",
                "--say",
                "HEIRLOOM_MEMORY: FILE_MODIFIED src/auth.rs",
            ],
        )
        .expect(0);
    assert_eq!(result.ending()["reason"], "iteration-limit");
    let recorded = fixture.read_outside("prompts");
    let prompts: Vec<_> = recorded.split("=== end of prompt\n").collect();
    assert!(!prompts[0].contains("This is iteration"), "{}", prompts[0]);
    assert!(
        !prompts[0].contains("Redis`.") || prompts[0].contains("Example"),
        "{}",
        prompts[0]
    );
    let expected = "## Session Memory

### Task: Issue #42 (Phase: TEST)
Completed: Create branch
Pending: Run full suite
Files modified: src/auth.rs

### Unresolved Errors
- [Iteration 1, TEST] expected ErrExpired, got nil

### Key Decisions
- mock the clock (because it drifts)

### Key Facts
- the tests need Redis

This is iteration 2. Continue from where you left off.
";
    // The success of an iteration is no evidence about the errors that it reported.
    assert!(
        prompts[1].starts_with(expected),
        "{}\n---\n{expected}",
        prompts[1]
    );
    assert_eq!(prompts[1].matches("## Session Memory").count(), 1);
    // The context in the event equals the one in the prompt.
    let second = &result.named("iteration_started")[1];
    let context = second["context"].as_str().unwrap();
    assert!(prompts[1].starts_with(context));
    assert_eq!(second["context_chars"], context.chars().count());
}

#[test]
fn failed_iteration_passes_error_to_next() {
    let fixture = ProjectFixture::plain();
    let (prompts, count) = (
        fixture.outside_path("prompts"),
        fixture.outside_path(COUNT_FILE),
    );
    let result = fixture
        .run(
            &sh("--task T1 --phase TEST --iterations 2"),
            &[
                "--read-env",
                "--count",
                count.to_str().unwrap(),
                "--record",
                prompts.to_str().unwrap(),
                "--on",
                "1",
                "--err",
                "assertion failed: left == right",
                "--on",
                "1",
                "--exit",
                "7",
            ],
        )
        .expect(0);
    let recorded = fixture.read_outside("prompts");
    let second = recorded.split("=== end of prompt\n").nth(1).unwrap();
    assert!(
        second.contains("### Unresolved Errors\n- [Iteration 1, TEST] exit code 7: assertion failed: left == right"),
        "{second}"
    );
    assert_eq!(result.ending()["reason"], "complete");
    assert_eq!(fixture.mirror()["errors"][0]["resolved"], true);
}

#[test]
fn iteration_numbers_continue_per_task() {
    let fixture = ProjectFixture::plain();
    let started = |result: &driver::CallResult| -> Vec<u64> {
        let events = result.named("iteration_started");
        events
            .iter()
            .map(|event| event["iteration"].as_u64().unwrap())
            .collect()
    };
    let run = |task: &str, n: &str| {
        fixture.run(
            &["--task", task, "--iterations", n],
            &sh("--say 'HEIRLOOM_MEMORY: STEP_PENDING more' --say 'HEIRLOOM_STATUS: PARTIAL half'"),
        )
    };
    assert_eq!(started(&run("a", "2")), [1, 2]);
    assert_eq!(started(&run("a", "1")), [3]);
    assert_eq!(started(&run("b", "1")), [1]);
    assert_eq!(started(&run("a", "1")), [4]);
    assert_eq!(fixture.mirror()["iteration"], 4);
    // Work without a task has the name `main`.
    let result = fixture.run(&["--iterations", "1"], &["--say", "hello"]);
    assert_eq!(started(&result), [1]);
    assert_eq!(result.ending()["task"], "main");
}

#[test]
fn run_without_a_task_makes_no_task() {
    let fixture = ProjectFixture::plain();
    let says = "--say 'HEIRLOOM_MEMORY: STEP_PENDING rotate the key' --say 'HEIRLOOM_STATUS: FAILED the key is locked'";
    let options = ["--approach", "Rotate the key by hand", "--iterations", "1"];
    fixture.run(&options, &sh(says));
    let result = fixture.run(&options, &sh(says));
    let started = result.named("iteration_started");
    assert_eq!(started[0]["iteration"], 2);
    assert_eq!(fixture.records("task"), [Value::Null; 0]);
    let context = fixture.call(&["context"]).expect(0).text();
    assert!(
        context.contains("### Progress\nPending: rotate the key\n"),
        "{context}"
    );
    for forbidden in ["### Task", "main"] {
        assert!(!context.contains(forbidden), "{forbidden}: {context}");
    }
    let tried = ["tried", "rotate the key by hand"];
    let tried = fixture.call(&tried).expect(0).text();
    assert!(tried.contains("task -: Rotate the key by hand"), "{tried}");
    assert_eq!(fixture.records("episode").len(), 2);
    assert_eq!(
        fixture.mirror()["tasks"]["main"]["pending_steps"][0],
        "rotate the key"
    );
    // A user names it.
    fixture.run(
        &["--task", "main", "--iterations", "1"],
        &["--say", "hello"],
    );
    assert_eq!(fixture.records("task")[0]["key"], "main");
}

#[test]
fn block_without_a_task_is_kept_until_it_ends() {
    let fixture = ProjectFixture::plain();
    let observe = |line: &str| {
        let text = format!("HEIRLOOM_MEMORY: {line}\n");
        fixture.feed(&["observe"], text.as_bytes()).expect(0);
    };
    observe("UNBLOCKED");
    assert_eq!(fixture.records("task"), [Value::Null; 0]);
    observe("BLOCKED waits for a key");
    let context = fixture.call(&["context"]).expect(0).text();
    assert!(context.contains("Blocked: waits for a key"), "{context}");
    observe("UNBLOCKED");
    let context = fixture.call(&["context"]).expect(0).text();
    assert!(!context.contains("waits for a key"), "{context}");
}

/// Runs with `options` and checks `CODE reason: statuses`.
#[track_caller]
fn assert_run_end(options: &[&str], actions: &[&str], expected: &str) {
    let fixture = ProjectFixture::plain();
    let count = fixture.outside_path(COUNT_FILE);
    let counting = ["--count", count.to_str().unwrap()];
    let result = fixture.run(options, &[&counting, actions].concat());
    let ending = result.ending();
    let statuses: Vec<_> = ending["iterations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["status"].as_str().unwrap())
        .collect();
    let seen = format!(
        "{} {}: {}",
        result.code,
        ending["reason"].as_str().unwrap(),
        statuses.join(" ")
    );
    assert_eq!(seen, expected, "{}", result.stderr);
    let last_won = ending["iterations"].as_array().unwrap().last().unwrap()["success"]
        .as_bool()
        .unwrap();
    assert_eq!(ending["success"].as_bool().unwrap(), last_won);
    assert_eq!(result.code, i32::from(!last_won));
}

#[test]
fn partial_result_is_no_end() {
    assert_run_end(
        &["--iterations", "2"],
        &["--say", "HEIRLOOM_STATUS: PARTIAL a bit"],
        "0 iteration-limit: PARTIAL PARTIAL",
    );
    assert_run_end(
        &["--until-done"],
        &[
            "--on",
            "1",
            "--say",
            "HEIRLOOM_STATUS: PARTIAL a bit",
            "--on",
            "2",
            "--say",
            "HEIRLOOM_STATUS: COMPLETE all",
        ],
        "0 complete: PARTIAL COMPLETE",
    );
}

#[test]
fn run_ends_with_reason_and_exit_code() {
    let pending = ["--say", "HEIRLOOM_MEMORY: STEP_PENDING more"];
    assert_run_end(&[], &["--say", "done"], "0 complete: COMPLETE");
    assert_run_end(
        &[],
        &["--say", "AGENTIUM_STATUS: COMPLETE all green"],
        "0 complete: COMPLETE",
    );
    // COMPLETE counts even with pending steps.
    assert_run_end(
        &[],
        &[&pending[..], &["--say", "HEIRLOOM_STATUS: COMPLETE"]].concat(),
        "0 complete: COMPLETE",
    );
    assert_run_end(
        &["--iterations", "2"],
        &pending,
        "0 iteration-limit: PARTIAL PARTIAL",
    );
    // The third iteration completes the pending step of the first.
    assert_run_end(
        &[],
        &[
            "--on",
            "1",
            "--say",
            "HEIRLOOM_MEMORY: STEP_PENDING Run it all.",
            "--on",
            "3",
            "--say",
            "HEIRLOOM_MEMORY: STEP_DONE  run it  ALL",
        ],
        "0 complete: PARTIAL PARTIAL COMPLETE",
    );
    // COMPLETE with exit code 1 is ignored.
    assert_run_end(
        &["--iterations", "1"],
        &["--say", "HEIRLOOM_STATUS: COMPLETE", "--exit", "1"],
        "1 iteration-limit: FAILED",
    );
    assert_run_end(
        &["--iterations", "1"],
        &["--say", "HEIRLOOM_STATUS: FAILED no luck"],
        "1 iteration-limit: FAILED",
    );
    assert_run_end(
        &["--iterations", "1"],
        &["--say", "HEIRLOOM_STATUS: BLOCKED no key"],
        "1 iteration-limit: BLOCKED",
    );
    // Three identical failures, although numbers and addresses in them differ.
    assert_run_end(
        &[],
        &["--err", "cannot connect", "--exit", "2"],
        "1 stalled: FAILED FAILED FAILED",
    );
    assert_run_end(
        &["--until-done"],
        &[
            "--on", "1", "--err", "first", "--on", "2", "--err", "second", "--err", "tail",
            "--exit", "2",
        ],
        "1 stalled: FAILED FAILED FAILED FAILED FAILED",
    );
    // A success resets the failure count; until-done ignores the iteration limit.
    assert_run_end(
        &["--iterations", "1", "--until-done"],
        &[
            "--say",
            "HEIRLOOM_MEMORY: STEP_PENDING more",
            "--on",
            "3",
            "--exit",
            "0",
            "--on",
            "6",
            "--say",
            "HEIRLOOM_STATUS: COMPLETE",
            "--on",
            "6",
            "--exit",
            "0",
            "--exit",
            "4",
        ],
        "0 complete: FAILED FAILED PARTIAL FAILED FAILED COMPLETE",
    );
}

#[test]
fn stall_limit_is_configurable() {
    let fixture = ProjectFixture::plain();
    let result = fixture
        .run(&["--set", "run.stall_limit=2"], &["--exit", "5"])
        .expect(1);
    assert_eq!(result.ending()["iterations"].as_array().unwrap().len(), 2);
    let result = fixture
        .run(&["--set", "run.iterations=1"], &["--exit", "5"])
        .expect(1);
    assert_eq!(result.ending()["reason"], "iteration-limit");
}

#[test]
fn run_without_project_starts_nothing() {
    let fixture = ProjectFixture::bare();
    let result = fixture.run(&[], &["--write", "started"]).expect(3);
    assert!(result.stderr.contains("heirloom init"), "{}", result.stderr);
    assert!(!fixture.root().join("started").exists());
    let fault: serde_json::Value = serde_json::from_str(result.stderr.trim()).unwrap();
    assert_eq!(fault["error"]["kind"], "not_found");
}

#[test]
fn run_with_invalid_arguments_starts_nothing() {
    let fixture = ProjectFixture::plain();
    for args in [
        &["run"][..],
        &["run", "--iterations", "0", "--", "true"],
        &["run", "--agent", "nobody", "--", "true"],
        &["run", "--task", "", "--", "true"],
        &["run", "--", ""],
    ] {
        let result = fixture.call(args);
        assert_eq!(result.code, 2, "{args:?}: {}", result.stderr);
    }
}

#[test]
fn run_with_memory_disabled_records_nothing() {
    let fixture = ProjectFixture::plain();
    fixture.call(&["remember", "tests need Redis"]).expect(0);
    let prompts = fixture.outside_path("prompts");
    let mut command = fixture.runner(
        &["--iterations", "2"],
        &[
            "--read-stdin",
            "--record",
            prompts.to_str().unwrap(),
            "--say",
            "HEIRLOOM_MEMORY: KEY_FACT new",
            "--exit",
            "1",
        ],
    );
    command.env("HEIRLOOM_MEMORY_ENABLED", "false");
    let result = finish(command, |_| {}).expect(1);
    assert_eq!(
        result.stderr.matches("memory is off").count(),
        1,
        "{}",
        result.stderr
    );
    assert_eq!(fixture.texts("knowledge"), ["tests need Redis"]);
    assert!(!fixture.root().join(".heirloom/memory.json").exists());
    let prompts = fixture.read_outside("prompts");
    assert!(!prompts.contains("Redis"), "{prompts}");
    assert_eq!(fixture.records("task").len(), 0);
}

#[test]
fn run_json_prints_one_event_per_line() {
    let fixture = ProjectFixture::plain();
    let result = fixture
        .run(
            &["--iterations", "1", "--phase", "P"],
            &[
                "--say",
                "words \u{1b}[31mred\u{1b}[0m",
                "--err",
                "grumble",
                "--say",
                "HEIRLOOM_MEMORY: KEY_FACT x",
                "--say",
                "HEIRLOOM_MEMORY: NONSENSE y",
                "--bytes",
                "no feed",
            ],
        )
        .expect(0);
    let names: Vec<_> = result
        .events()
        .iter()
        .map(|event| event["event"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names.first().unwrap(), "iteration_started");
    assert_eq!(names.last().unwrap(), "ended");
    assert_eq!(
        names
            .iter()
            .filter(|name| *name == "iteration_ended")
            .count(),
        1
    );
    let output = |stream: &str| -> String {
        let events = result.named("output");
        let texts = events.iter().filter(|event| event["stream"] == stream);
        texts.map(|event| event["text"].as_str().unwrap()).collect()
    };
    assert_eq!(
        output("stdout"),
        "words \u{1b}[31mred\u{1b}[0m\nHEIRLOOM_MEMORY: KEY_FACT x\nHEIRLOOM_MEMORY: NONSENSE y\nno feed"
    );
    assert_eq!(output("stderr"), "grumble\n");
    let signal = &result.named("signal")[0];
    assert_eq!(
        (
            &signal["verb"],
            &signal["text"],
            &signal["line"],
            &signal["outcome"]
        ),
        (
            &"KEY_FACT".into(),
            &"x".into(),
            &2.into(),
            &"created".into()
        )
    );
    let diagnostic = &result.named("diagnostic")[0];
    assert_eq!(diagnostic["line"], 3);
    assert!(diagnostic["message"].as_str().unwrap().contains("NONSENSE"));
    let ended = &result.named("iteration_ended")[0];
    assert!(
        ended["duration_ms"].is_u64() && ended["pending"] == 0 && ended["signals"] == 1,
        "{ended}"
    );
    assert_eq!(strings(&ended["files"]), Vec::<&str>::new());
}

#[test]
fn run_stdout_has_only_agent_output() {
    let fixture = ProjectFixture::plain();
    let actions = [
        "--say",
        "first line",
        "--err",
        "grumble",
        "--say",
        "HEIRLOOM_MEMORY: KEY_FACT x",
        "--bytes",
        "no feed",
    ];
    let result = finish(fixture.runner(&["--iterations", "1"], &actions), |_| {}).expect(0);
    assert_eq!(
        result.text(),
        "first line\nHEIRLOOM_MEMORY: KEY_FACT x\nno feed"
    );
    for talk in [
        "iteration 1",
        "| grumble",
        "KEY_FACT x (created)",
        "ended: the task is complete",
    ] {
        assert!(result.stderr.contains(talk), "{talk}: {}", result.stderr);
    }
    assert!(
        !result.stderr.contains('\u{1b}') && !result.stderr.contains('\r'),
        "{:?}",
        result.stderr
    );
}

#[test]
fn run_stdout_of_json_stream_has_message_texts() {
    let fixture = ProjectFixture::plain();
    for (agent, action) in [
        ("claude-code", "--claude"),
        ("codex", "--codex"),
        ("gemini", "--gemini"),
        ("command", "--claude"),
    ] {
        let mut actions = vec![action, "I looked at it.\nAll is well."];
        if agent != "command" {
            actions.extend(["-p", "go"]);
        }
        let mut command = fixture.runner(&["--iterations", "1", "--agent", agent], &actions);
        if agent == "codex" {
            command = fixture.runner(
                &["--iterations", "1", "--agent", agent],
                &[action, "I looked at it.\nAll is well."],
            );
        }
        let result = finish(command, |_| {}).expect(0);
        assert_eq!(result.text(), "I looked at it.\nAll is well.\n", "{agent}");
    }
}
