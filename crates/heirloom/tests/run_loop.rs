//! `heirloom run`: what passes from one iteration to the next, and how a run ends.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;

use driver::{Desk, finish, strings};

const COUNT: &str = "n";

#[test]
fn the_second_prompt_says_what_the_first_iteration_said() {
    let desk = Desk::plain();
    let (prompts, count) = (desk.aside("prompts"), desk.aside(COUNT));
    let ran = desk
        .run(
            &[
                "--task",
                "42",
                "--type",
                "issue",
                "--phase",
                "TEST",
                "--iterations",
                "2",
            ],
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
    assert_eq!(ran.ending()["reason"], "iteration-limit");
    let noted = desk.noted("prompts");
    let prompts: Vec<_> = noted.split("=== end of prompt\n").collect();
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
- mock the clock

### Key Facts
- the tests need Redis

This is iteration 2. Continue from where you left off.
";
    // The first iteration succeeded, which closes the errors of its task and phase.
    let expected = expected.replace(
        "### Unresolved Errors\n- [Iteration 1, TEST] expected ErrExpired, got nil\n\n",
        "",
    );
    assert!(
        prompts[1].starts_with(&expected),
        "{}\n---\n{expected}",
        prompts[1]
    );
    assert_eq!(prompts[1].matches("## Session Memory").count(), 1);
    // What the event says of the context is what the agent got.
    let second = &ran.named("iteration_started")[1];
    let context = second["context"].as_str().unwrap();
    assert!(prompts[1].starts_with(context));
    assert_eq!(second["context_chars"], context.chars().count());
}

#[test]
fn a_failed_iteration_hands_its_error_on() {
    let desk = Desk::plain();
    let (prompts, count) = (desk.aside("prompts"), desk.aside(COUNT));
    let ran = desk
        .run(
            &["--task", "T1", "--phase", "TEST", "--iterations", "2"],
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
    let noted = desk.noted("prompts");
    let second = noted.split("=== end of prompt\n").nth(1).unwrap();
    assert!(
        second.contains("### Unresolved Errors\n- [Iteration 1, TEST] exit code 7: assertion failed: left == right"),
        "{second}"
    );
    assert_eq!(ran.ending()["reason"], "complete");
    assert_eq!(
        desk.mirror()["errors"][0]["resolution"],
        "succeeded in iteration 2"
    );
}

#[test]
fn numbers_go_on_per_task_over_calls() {
    let desk = Desk::plain();
    let started = |ran: &driver::Ran| -> Vec<u64> {
        let events = ran.named("iteration_started");
        events
            .iter()
            .map(|event| event["iteration"].as_u64().unwrap())
            .collect()
    };
    let run = |task: &str, n: &str| {
        desk.run(
            &["--task", task, "--iterations", n],
            &[
                "--say",
                "HEIRLOOM_MEMORY: STEP_PENDING more",
                "--say",
                "HEIRLOOM_STATUS: PARTIAL half",
            ],
        )
    };
    assert_eq!(started(&run("a", "2")), [1, 2]);
    assert_eq!(started(&run("a", "1")), [3]);
    assert_eq!(started(&run("b", "1")), [1]);
    assert_eq!(started(&run("a", "1")), [4]);
    assert_eq!(desk.mirror()["iteration"], 4);
    // Without a task it is `main`.
    let ran = desk.run(&["--iterations", "1"], &["--say", "hello"]);
    assert_eq!(started(&ran), [1]);
    assert_eq!(ran.ending()["task"], "main");
}

/// Runs with `options` and checks `CODE reason: statuses`.
#[track_caller]
fn ends(options: &[&str], actions: &[&str], expected: &str) {
    let desk = Desk::plain();
    let count = desk.aside(COUNT);
    let counting = ["--count", count.to_str().unwrap()];
    let ran = desk.run(options, &[&counting, actions].concat());
    let ending = ran.ending();
    let statuses: Vec<_> = ending["iterations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["status"].as_str().unwrap())
        .collect();
    let seen = format!(
        "{} {}: {}",
        ran.code,
        ending["reason"].as_str().unwrap(),
        statuses.join(" ")
    );
    assert_eq!(seen, expected, "{}", ran.stderr);
    let last_won = ending["iterations"].as_array().unwrap().last().unwrap()["success"]
        .as_bool()
        .unwrap();
    assert_eq!(ending["success"].as_bool().unwrap(), last_won);
    assert_eq!(ran.code, i32::from(!last_won));
}

#[test]
fn reasons_to_end_and_exit_codes() {
    let pending = ["--say", "HEIRLOOM_MEMORY: STEP_PENDING more"];
    ends(&[], &["--say", "done"], "0 complete: COMPLETE");
    ends(
        &[],
        &["--say", "AGENTIUM_STATUS: COMPLETE all green"],
        "0 complete: COMPLETE",
    );
    // COMPLETE counts even while steps are pending.
    ends(
        &[],
        &[&pending[..], &["--say", "HEIRLOOM_STATUS: COMPLETE"]].concat(),
        "0 complete: COMPLETE",
    );
    ends(
        &["--iterations", "2"],
        &pending,
        "0 iteration-limit: PARTIAL PARTIAL",
    );
    // PARTIAL with nothing pending.
    ends(
        &[],
        &["--say", "HEIRLOOM_STATUS: PARTIAL a bit"],
        "0 nothing-pending: PARTIAL",
    );
    // The pending step of the first iteration is done in the third.
    ends(
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
    // Exit code 1: COMPLETE is not believed.
    ends(
        &["--iterations", "1"],
        &["--say", "HEIRLOOM_STATUS: COMPLETE", "--exit", "1"],
        "1 iteration-limit: FAILED",
    );
    ends(
        &["--iterations", "1"],
        &["--say", "HEIRLOOM_STATUS: FAILED no luck"],
        "1 iteration-limit: FAILED",
    );
    ends(
        &["--iterations", "1"],
        &["--say", "HEIRLOOM_STATUS: BLOCKED no key"],
        "1 iteration-limit: BLOCKED",
    );
    // Three identical failures, though numbers and addresses in them differ.
    ends(
        &[],
        &["--err", "cannot connect", "--exit", "2"],
        "1 stalled: FAILED FAILED FAILED",
    );
    ends(
        &["--until-done"],
        &[
            "--on", "1", "--err", "first", "--on", "2", "--err", "second", "--err", "tail",
            "--exit", "2",
        ],
        "1 stalled: FAILED FAILED FAILED FAILED FAILED",
    );
    // A success between failures begins the count anew; until-done goes beyond the limit.
    ends(
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
fn stall_limit_is_configured() {
    let desk = Desk::plain();
    let ran = desk
        .run(&["--set", "run.stall_limit=2"], &["--exit", "5"])
        .expect(1);
    assert_eq!(ran.ending()["iterations"].as_array().unwrap().len(), 2);
    let ran = desk
        .run(&["--set", "run.iterations=1"], &["--exit", "5"])
        .expect(1);
    assert_eq!(ran.ending()["reason"], "iteration-limit");
}

#[test]
fn without_a_project_nothing_starts() {
    let desk = Desk::bare();
    let ran = desk.run(&[], &["--write", "started"]).expect(3);
    assert!(ran.stderr.contains("heirloom init"), "{}", ran.stderr);
    assert!(!desk.root().join("started").exists());
    let fault: serde_json::Value = serde_json::from_str(ran.stderr.trim()).unwrap();
    assert_eq!(fault["error"]["kind"], "not_found");
}

#[test]
fn wrong_usage_starts_nothing() {
    let desk = Desk::plain();
    for args in [
        &["run"][..],
        &["run", "--iterations", "0", "--", "true"],
        &["run", "--agent", "nobody", "--", "true"],
        &["run", "--task", "", "--", "true"],
        &["run", "--", ""],
    ] {
        let ran = desk.call(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn with_memory_off_the_agent_runs_without_it() {
    let desk = Desk::plain();
    desk.call(&["remember", "tests need Redis"]).expect(0);
    let prompts = desk.aside("prompts");
    let mut command = desk.runner(
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
    let ran = finish(command, |_| {}).expect(1);
    assert_eq!(
        ran.stderr.matches("memory is off").count(),
        1,
        "{}",
        ran.stderr
    );
    assert_eq!(desk.texts("knowledge"), ["tests need Redis"]);
    assert!(!desk.root().join(".heirloom/memory.json").exists());
    let prompts = desk.noted("prompts");
    assert!(!prompts.contains("Redis"), "{prompts}");
    assert_eq!(desk.records("task").len(), 0);
}

#[test]
fn events_are_json_one_a_line() {
    let desk = Desk::plain();
    let ran = desk
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
    let names: Vec<_> = ran
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
        let events = ran.named("output");
        let texts = events.iter().filter(|event| event["stream"] == stream);
        texts.map(|event| event["text"].as_str().unwrap()).collect()
    };
    assert_eq!(
        output("stdout"),
        "words \u{1b}[31mred\u{1b}[0m\nHEIRLOOM_MEMORY: KEY_FACT x\nHEIRLOOM_MEMORY: NONSENSE y\nno feed"
    );
    assert_eq!(output("stderr"), "grumble\n");
    let signal = &ran.named("signal")[0];
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
    let diagnostic = &ran.named("diagnostic")[0];
    assert_eq!(diagnostic["line"], 3);
    assert!(diagnostic["message"].as_str().unwrap().contains("NONSENSE"));
    let ended = &ran.named("iteration_ended")[0];
    assert!(
        ended["duration_ms"].is_u64() && ended["pending"] == 0 && ended["signals"] == 1,
        "{ended}"
    );
    assert_eq!(strings(&ended["files"]), Vec::<&str>::new());
}

#[test]
fn piped_text_is_only_what_the_agent_says() {
    let desk = Desk::plain();
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
    let ran = finish(desk.runner(&["--iterations", "1"], &actions), |_| {}).expect(0);
    assert_eq!(
        ran.text(),
        "first line\nHEIRLOOM_MEMORY: KEY_FACT x\nno feed"
    );
    for talk in [
        "iteration 1",
        "| grumble",
        "KEY_FACT x (created)",
        "ended: the task is complete",
    ] {
        assert!(ran.stderr.contains(talk), "{talk}: {}", ran.stderr);
    }
    assert!(
        !ran.stderr.contains('\u{1b}') && !ran.stderr.contains('\r'),
        "{:?}",
        ran.stderr
    );
}

#[test]
fn piped_text_of_a_json_stream_is_its_words() {
    let desk = Desk::plain();
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
        let mut command = desk.runner(&["--iterations", "1", "--agent", agent], &actions);
        if agent == "codex" {
            command = desk.runner(
                &["--iterations", "1", "--agent", agent],
                &[action, "I looked at it.\nAll is well."],
            );
        }
        let ran = finish(command, |_| {}).expect(0);
        assert_eq!(ran.text(), "I looked at it.\nAll is well.\n", "{agent}");
    }
}
