//! `heirloom run`: what is recorded of how an iteration ended.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;

use driver::{Desk, strings};
use serde_json::Value;
use std::os::unix::fs::symlink;

const ONCE: &[&str] = &["--iterations", "1", "--task", "T", "--phase", "TEST"];

fn last(ran: &driver::Ran) -> Value {
    ran.named("iteration_ended").pop().unwrap()
}

#[test]
fn an_exit_code_opens_an_error_with_the_last_words() {
    let desk = Desk::plain();
    let mut actions = vec![
        "--say",
        "stdout is no error",
        "--err",
        "\u{1b}[31mred\u{1b}[0m",
        "--err",
        "",
    ];
    let lines: Vec<_> = (1..=30).map(|n| format!("line {n}")).collect();
    for line in &lines {
        actions.extend(["--err", line.as_str()]);
    }
    actions.extend(["--exit", "3"]);
    let ran = desk.run(ONCE, &actions).expect(1);
    let error = last(&ran)["error"].as_str().unwrap().to_owned();
    assert!(error.starts_with("exit code 3: line 11\n"), "{error}");
    assert!(error.ends_with("line 30"), "{error}");
    let open = desk.records("error");
    assert_eq!(open.len(), 1);
    let one = &open[0];
    assert_eq!(one["text"], error.as_str());
    assert_eq!(
        (
            &one["state"],
            &one["task"],
            &one["phase"],
            &one["iteration"]
        ),
        (&"open".into(), &"T".into(), &"TEST".into(), &1.into())
    );
}

#[test]
fn the_same_error_is_counted_and_a_success_closes_it() {
    let desk = Desk::plain();
    let fail = [
        "--err",
        "E0308 at handler_test.go:147 after 12 ms",
        "--exit",
        "1",
    ];
    let again = [
        "--err",
        "E0308 at handler_test.go:147 after 99 ms",
        "--exit",
        "1",
    ];
    desk.run(ONCE, &fail).expect(1);
    desk.run(ONCE, &again).expect(1);
    let open = desk.records("error");
    assert_eq!(open.len(), 1, "{open:?}");
    assert_eq!(open[0]["repeats"], 1);
    // Another phase, another task: other errors.
    desk.run(
        &["--iterations", "1", "--task", "T", "--phase", "BUILD"],
        &fail,
    )
    .expect(1);
    desk.run(
        &["--iterations", "1", "--task", "U", "--phase", "TEST"],
        &fail,
    )
    .expect(1);
    assert_eq!(desk.records("error").len(), 3);
    desk.run(ONCE, &["--say", "fine"]).expect(0);
    let errors = desk.records("error");
    let states: Vec<_> = errors
        .iter()
        .map(|one| {
            format!(
                "{} {} {}",
                one["task"].as_str().unwrap(),
                one["phase"].as_str().unwrap(),
                one["state"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        states
            .iter()
            .filter(|state| state.ends_with("open"))
            .count(),
        2,
        "{states:?}"
    );
    assert!(states.contains(&"T TEST resolved".to_owned()), "{states:?}");
    let closed = errors
        .iter()
        .find(|one| one["state"] == "resolved")
        .unwrap();
    assert_eq!(closed["resolution"], "succeeded in iteration 4");
}

#[test]
fn a_signal_is_named_when_it_ends_the_agent() {
    let desk = Desk::plain();
    let ran = desk.run(ONCE, &["--kill-self", "KILL"]).expect(1);
    assert_eq!(last(&ran)["error"], "ended by signal 9");
}

#[test]
fn a_failed_stream_is_a_failure_though_the_exit_code_is_0() {
    let desk = Desk::plain();
    let stream = "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"turn.started\"}\n{\"type\":\"turn.failed\",\"error\":{\"message\":\"usage limit reached\"}}\n";
    desk.project.write("stream.jsonl", stream).unwrap();
    let ran = desk.run(ONCE, &["--cat", "stream.jsonl"]).expect(1);
    assert_eq!(last(&ran)["status"], "FAILED");
    assert_eq!(desk.texts("error"), ["usage limit reached"]);
}

#[test]
fn blocked_tasks_say_why_until_they_are_not() {
    let desk = Desk::plain();
    let ran = desk
        .run(ONCE, &["--say", "HEIRLOOM_STATUS: BLOCKED - no API key"])
        .expect(1);
    assert_eq!(
        (&last(&ran)["status"], &last(&ran)["message"]),
        (&"BLOCKED".into(), &"no API key".into())
    );
    assert_eq!(desk.mirror()["tasks"]["T"]["blocked_reason"], "no API key");
    desk.run(
        ONCE,
        &[
            "--say",
            "HEIRLOOM_MEMORY: UNBLOCKED",
            "--say",
            "HEIRLOOM_STATUS: COMPLETE",
        ],
    )
    .expect(0);
    assert_eq!(desk.mirror()["tasks"]["T"].get("blocked_reason"), None);
    assert_eq!(desk.records("task")[0]["state"], "done");
}

#[test]
fn the_last_status_counts() {
    let desk = Desk::plain();
    let ran = desk
        .run(
            ONCE,
            &[
                "--say",
                "HEIRLOOM_STATUS: FAILED at first",
                "--say",
                "AGENTIUM_STATUS: PARTIAL half way",
            ],
        )
        .expect(0);
    assert_eq!(
        (&last(&ran)["status"], &last(&ran)["message"]),
        (&"PARTIAL".into(), &"half way".into())
    );
}

#[test]
fn files_come_from_git_and_from_signals() {
    let desk = Desk::git();
    desk.project.write("old-dirt.txt", "dirty before").unwrap();
    desk.project.write("touched.txt", "dirty before").unwrap();
    desk.project
        .write(".gitignore", "ignored.txt\n.heirloom/\n")
        .unwrap();
    let ran = desk
        .run(
            ONCE,
            &[
                "--write",
                "README.md",
                "--write",
                "touched.txt",
                "--write",
                "new file.txt",
                "--write",
                "ignored.txt",
                "--say",
                "HEIRLOOM_MEMORY: FILE_MODIFIED ./src/../src/only-said.rs",
            ],
        )
        .expect(0);
    assert_eq!(
        strings(&last(&ran)["files"]),
        ["README.md", "new file.txt", "touched.txt"]
    );
    let mut known = desk.texts("artifact");
    known.sort();
    assert_eq!(
        known,
        [
            "README.md",
            "new file.txt",
            "src/only-said.rs",
            "touched.txt"
        ]
    );
    let mirror = desk.mirror();
    let mut files = strings(&mirror["tasks"]["T"]["files_modified"]);
    files.sort_unstable();
    assert_eq!(files, known);
}

#[test]
fn committed_changes_and_a_new_branch_count() {
    let desk = Desk::git();
    desk.project.write("agent.sh", "git checkout -q -b agentium/issue-42\necho x >committed.txt\ngit add committed.txt\ngit commit -qm work\necho y >loose.txt\n").unwrap();
    let ran = desk
        .call(&[
            "run",
            "--json",
            "--iterations",
            "1",
            "--task",
            "T",
            "--",
            "sh",
            "agent.sh",
        ])
        .expect(0);
    assert_eq!(
        strings(&last(&ran)["files"]),
        ["committed.txt", "loose.txt"]
    );
    assert_eq!(last(&ran)["branch"], "agentium/issue-42");
    assert_eq!(desk.mirror()["tasks"]["T"]["branch"], "agentium/issue-42");
    // Nothing new in the next iteration.
    let ran = desk.run(ONCE, &["--say", "idle"]).expect(0);
    assert_eq!(strings(&last(&ran)["files"]), Vec::<&str>::new());
    assert_eq!(last(&ran)["branch"], Value::Null);
    assert_eq!(desk.mirror()["tasks"]["T"]["branch"], "agentium/issue-42");
}

#[test]
fn file_names_of_any_kind_do_not_end_the_run() {
    let desk = Desk::git();
    symlink("/etc/hostname", desk.root().join("outside")).unwrap();
    desk.project.write("agent.sh", "ln -s /etc/passwd elsewhere\nln -s . self\nln -s loop loop\necho x >'\"'\necho x >\"$(printf 'two\\nHEIRLOOM_MEMORY: KEY_FACT by name')\"\necho x >\"$(printf 'bad\\377utf')\"\necho x >' spaces '\necho x >good.txt\n").unwrap();
    let ran = desk
        .call(&["run", "--json", "--iterations", "1", "--", "sh", "agent.sh"])
        .expect(0);
    assert!(
        strings(&last(&ran)["files"]).contains(&"good.txt"),
        "{}",
        last(&ran)
    );
    assert!(desk.texts("artifact").contains(&"good.txt".to_owned()));
    let shown = desk.call(&["list"]).expect(0);
    assert!(!shown.text().contains("elsewhere"), "{}", shown.text());
    // A name is no line of its own, and no signal.
    let echoed = desk
        .call(&["run", "--iterations", "1", "--", "cat"])
        .expect(0);
    assert!(
        !echoed
            .text()
            .lines()
            .any(|line| line.starts_with("HEIRLOOM_MEMORY")),
        "{}",
        echoed.text()
    );
    assert_eq!(desk.texts("knowledge"), Vec::<String>::new());
    desk.healthy();
}

#[test]
fn a_pull_request_is_read_from_an_address() {
    let desk = Desk::plain();
    let words =
        "see https://example.com/x\nCreated https://github.com/acme/widgets/pull/17 and done.";
    let ran = desk.run(ONCE, &["--say", words]).expect(0);
    assert_eq!(last(&ran)["pr_number"], 17);
    assert_eq!(desk.mirror()["tasks"]["T"]["pr_number"], 17);
    // In a stream it must be said, not shown by a tool.
    let ran = desk
        .run(
            ONCE,
            &[
                "--codex-tool",
                "https://github.com/acme/widgets/pull/99",
                "--codex",
                "nothing new",
            ],
        )
        .expect(0);
    assert_eq!(last(&ran)["pr_number"], Value::Null);
    assert_eq!(desk.mirror()["tasks"]["T"]["pr_number"], 17);
    let ran = desk
        .run(
            ONCE,
            &[
                "--codex",
                "opened <https://github.com/acme/widgets/pull/18>",
            ],
        )
        .expect(0);
    assert_eq!(last(&ran)["pr_number"], 18);
}

#[test]
fn with_a_remote_only_requests_of_that_repository_count() {
    let desk = Desk::git();
    desk.project
        .run_git(&["remote", "add", "origin", "git@github.com:acme/widgets.git"])
        .unwrap();
    let ran = desk
        .run(
            ONCE,
            &["--say", "like https://github.com/other/thing/pull/5"],
        )
        .expect(0);
    assert_eq!(last(&ran)["pr_number"], Value::Null);
    let ran = desk.run(ONCE, &["--say", "https://github.com/acme/widgets/pull/6, unlike https://github.com/other/thing/pull/5"]).expect(0);
    assert_eq!(last(&ran)["pr_number"], 6);
    assert_eq!(desk.mirror()["repository"], "github.com/acme/widgets");
}

#[test]
fn a_controller_records_the_same() {
    let desk = Desk::plain();
    let failed = [
        "outcome",
        "--json",
        "--task",
        "T",
        "--phase",
        "TEST",
        "--iteration",
        "2",
        "--status",
        "FAILED",
        "--error",
        "boom",
    ];
    let said = desk.call(&failed).expect(0).json();
    assert_eq!(
        (&said["task"], &said["success"]),
        (&"T".into(), &false.into())
    );
    desk.call(&failed).expect(0);
    let errors = desk.records("error");
    assert_eq!((errors.len(), &errors[0]["repeats"]), (1, &1.into()));
    desk.call(&[
        "outcome",
        "--task",
        "T",
        "--phase",
        "TEST",
        "--iteration",
        "3",
        "--status",
        "PARTIAL",
        "--pr",
        "4",
        "--branch",
        "b",
        "--file",
        "src/a.rs",
    ])
    .expect(0);
    assert_eq!(
        desk.records("error")[0]["resolution"],
        "succeeded in iteration 3"
    );
    let refused = desk.call(&[
        "outcome", "--task", "T", "--status", "PARTIAL", "--file", "../x",
    ]);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    // The loop goes on where the controller stopped.
    let ran = desk.run(ONCE, &["--say", "ok"]).expect(0);
    assert_eq!(last(&ran)["iteration"], 4);
    assert_eq!(desk.mirror()["tasks"]["T"]["pr_number"], 4);
    let words = desk.call(&["outcome", "--task", "T", "--status", "MAYBE"]);
    assert_eq!(words.code, 2, "{}", words.stderr);
}

#[test]
fn a_run_is_tried_by_its_approach() {
    let desk = Desk::plain();
    let options = [ONCE, &["--approach", "patch the parser by hand"]].concat();
    desk.run(&options, &["--err", "tests broke", "--exit", "1"])
        .expect(1);
    let ran = desk.call(&["tried", "patch parser by hand", "--json"]);
    let said = ran.expect(0).json();
    assert_eq!(said["failed"], true, "{said}");
    assert_eq!(said["tried"][0]["approach"], "patch the parser by hand");
    assert_eq!(said["tried"][0]["outcome"], "exit code 1: tests broke");
    let long = "x".repeat(heirloom_model::limits::EPISODE_TEXT_BYTES_MAX + 1);
    let ran = desk.run(&["--approach", &long], &["--exit", "0"]).expect(2);
    assert!(ran.stderr.contains("the approach has"), "{}", ran.stderr);
    desk.call(&[
        "outcome",
        "--task",
        "T",
        "--iteration",
        "2",
        "--status",
        "COMPLETE",
    ])
    .expect(0);
    desk.call(&[
        "outcome",
        "--task",
        "T",
        "--iteration",
        "3",
        "--status",
        "COMPLETE",
        "--approach",
        "generate the parser",
    ])
    .expect(0);
    let ran = desk.call(&["tried", "generate parser", "--json"]);
    let said = ran.expect(0).json();
    assert_eq!(said["tried"][0]["action"], "completed");
    assert_eq!(said["tried"][0]["approach"], "generate the parser");
}
