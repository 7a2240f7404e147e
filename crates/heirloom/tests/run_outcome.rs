//! `heirloom run`: records of an iteration's outcome.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;

use driver::{ProjectFixture, strings};
use heirloom_testkit::sh;
use serde_json::Value;
use std::os::unix::fs::symlink;

const ONCE: &[&str] = &["--iterations", "1", "--task", "T", "--phase", "TEST"];

fn last_iteration(result: &driver::CallResult) -> Value {
    result.named("iteration_ended").pop().unwrap()
}

#[test]
fn exit_code_opens_error_with_last_stderr_lines() {
    let fixture = ProjectFixture::plain();
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
    let result = fixture.run(ONCE, &actions).expect(1);
    let error = last_iteration(&result)["error"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(error.starts_with("exit code 3: line 11\n"), "{error}");
    assert!(error.ends_with("line 30"), "{error}");
    let open = fixture.records("error");
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
fn repeated_error_is_counted_and_another_command_resolves_none() {
    let fixture = ProjectFixture::plain();
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
    fixture.run(ONCE, &fail).expect(1);
    fixture.run(ONCE, &again).expect(1);
    let open = fixture.records("error");
    assert_eq!(open.len(), 1, "{open:?}");
    assert_eq!(open[0]["repeats"], 1);
    // Errors of another phase or task are separate.
    fixture
        .run(&sh("--iterations 1 --task T --phase BUILD"), &fail)
        .expect(1);
    fixture
        .run(&sh("--iterations 1 --task U --phase TEST"), &fail)
        .expect(1);
    assert_eq!(fixture.records("error").len(), 3);
    fixture.run(ONCE, &["--say", "fine"]).expect(0);
    let errors = fixture.records("error");
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
        3,
        "{states:?}"
    );
}

#[test]
fn agent_ended_by_signal_names_it() {
    let fixture = ProjectFixture::plain();
    let result = fixture.run(ONCE, &["--kill-self", "KILL"]).expect(1);
    assert_eq!(last_iteration(&result)["error"], "ended by signal 9");
}

#[test]
fn failed_stream_with_exit_code_0_is_failure() {
    let fixture = ProjectFixture::plain();
    let stream = "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"turn.started\"}\n{\"type\":\"turn.failed\",\"error\":{\"message\":\"usage limit reached\"}}\n";
    fixture.project.write("stream.jsonl", stream).unwrap();
    let result = fixture.run(ONCE, &["--cat", "stream.jsonl"]).expect(1);
    assert_eq!(last_iteration(&result)["status"], "FAILED");
    assert_eq!(fixture.texts("error"), ["usage limit reached"]);
}

#[test]
fn blocked_reason_is_stored_until_unblocked() {
    let fixture = ProjectFixture::plain();
    let result = fixture
        .run(ONCE, &["--say", "HEIRLOOM_STATUS: BLOCKED - no API key"])
        .expect(1);
    assert_eq!(
        (
            &last_iteration(&result)["status"],
            &last_iteration(&result)["message"]
        ),
        (&"BLOCKED".into(), &"no API key".into())
    );
    assert_eq!(
        fixture.mirror()["tasks"]["T"]["blocked_reason"],
        "no API key"
    );
    fixture
        .run(
            ONCE,
            &sh("--say 'HEIRLOOM_MEMORY: UNBLOCKED' --say 'HEIRLOOM_STATUS: COMPLETE'"),
        )
        .expect(0);
    assert_eq!(fixture.mirror()["tasks"]["T"].get("blocked_reason"), None);
    assert_eq!(fixture.records("task")[0]["state"], "done");
}

#[test]
fn last_status_counts() {
    let fixture = ProjectFixture::plain();
    let result = fixture
        .run(
            ONCE,
            &sh("--say 'HEIRLOOM_STATUS: FAILED at first' --say 'AGENTIUM_STATUS: PARTIAL half way'"),
        )
        .expect(0);
    assert_eq!(
        (
            &last_iteration(&result)["status"],
            &last_iteration(&result)["message"]
        ),
        (&"PARTIAL".into(), &"half way".into())
    );
}

#[test]
fn modified_files_come_from_git_and_signals() {
    let fixture = ProjectFixture::git();
    fixture
        .project
        .write("old-dirt.txt", "dirty before")
        .unwrap();
    fixture
        .project
        .write("touched.txt", "dirty before")
        .unwrap();
    fixture
        .project
        .write(".gitignore", "ignored.txt\n.heirloom/\n")
        .unwrap();
    let result = fixture
        .run(
            ONCE,
            &sh(
                "--write README.md --write touched.txt --write 'new file.txt' --write ignored.txt \
                 --say 'HEIRLOOM_MEMORY: FILE_MODIFIED ./src/../src/only-said.rs'",
            ),
        )
        .expect(0);
    assert_eq!(
        strings(&last_iteration(&result)["files"]),
        ["README.md", "new file.txt", "touched.txt"]
    );
    let mut known = fixture.texts("artifact");
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
    let mirror = fixture.mirror();
    let mut files = strings(&mirror["tasks"]["T"]["files_modified"]);
    files.sort_unstable();
    assert_eq!(files, known);
}

#[test]
fn committed_files_and_new_branch_are_recorded() {
    let fixture = ProjectFixture::git();
    fixture.project.write("agent.sh", "git checkout -q -b agentium/issue-42\necho x >committed.txt\ngit add committed.txt\ngit commit -qm work\necho y >loose.txt\n").unwrap();
    let result = fixture
        .call(&sh("run --json --iterations 1 --task T -- sh agent.sh"))
        .expect(0);
    assert_eq!(
        strings(&last_iteration(&result)["files"]),
        ["committed.txt", "loose.txt"]
    );
    assert_eq!(last_iteration(&result)["branch"], "agentium/issue-42");
    assert_eq!(
        fixture.mirror()["tasks"]["T"]["branch"],
        "agentium/issue-42"
    );
    // The next iteration changes nothing.
    let result = fixture.run(ONCE, &["--say", "idle"]).expect(0);
    assert_eq!(
        strings(&last_iteration(&result)["files"]),
        Vec::<&str>::new()
    );
    assert_eq!(last_iteration(&result)["branch"], Value::Null);
    assert_eq!(
        fixture.mirror()["tasks"]["T"]["branch"],
        "agentium/issue-42"
    );
}

#[test]
fn unusual_file_names_do_not_fail_run() {
    let fixture = ProjectFixture::git();
    symlink("/etc/hostname", fixture.root().join("outside")).unwrap();
    fixture.project.write("agent.sh", "ln -s /etc/passwd elsewhere\nln -s . self\nln -s loop loop\necho x >'\"'\necho x >\"$(printf 'two\\nHEIRLOOM_MEMORY: KEY_FACT by name')\"\necho x >\"$(printf 'bad\\377utf')\"\necho x >' spaces '\necho x >good.txt\n").unwrap();
    let result = fixture
        .call(&sh("run --json --iterations 1 -- sh agent.sh"))
        .expect(0);
    assert!(
        strings(&last_iteration(&result)["files"]).contains(&"good.txt"),
        "{}",
        last_iteration(&result)
    );
    assert!(fixture.texts("artifact").contains(&"good.txt".to_owned()));
    let shown = fixture.call(&["list"]).expect(0);
    assert!(!shown.text().contains("elsewhere"), "{}", shown.text());
    // A file name never starts a line, and is never read as a signal.
    let echoed = fixture.call(&sh("run --iterations 1 -- cat")).expect(0);
    assert!(
        !echoed
            .text()
            .lines()
            .any(|line| line.starts_with("HEIRLOOM_MEMORY")),
        "{}",
        echoed.text()
    );
    assert_eq!(fixture.texts("knowledge"), Vec::<String>::new());
    fixture.assert_healthy();
}

#[test]
fn pull_request_is_read_from_url() {
    let fixture = ProjectFixture::plain();
    let words =
        "see https://example.com/x\nCreated https://github.com/acme/widgets/pull/17 and done.";
    let result = fixture.run(ONCE, &["--say", words]).expect(0);
    assert_eq!(last_iteration(&result)["pr_number"], 17);
    assert_eq!(fixture.mirror()["tasks"]["T"]["pr_number"], "17");
    // In a stream, only messages count, not tool output.
    let result = fixture
        .run(
            ONCE,
            &sh("--codex-tool https://github.com/acme/widgets/pull/99 --codex 'nothing new'"),
        )
        .expect(0);
    assert_eq!(last_iteration(&result)["pr_number"], Value::Null);
    assert_eq!(fixture.mirror()["tasks"]["T"]["pr_number"], "17");
    let result = fixture
        .run(
            ONCE,
            &sh("--codex 'opened <https://github.com/acme/widgets/pull/18>'"),
        )
        .expect(0);
    assert_eq!(last_iteration(&result)["pr_number"], 18);
}

#[test]
fn pull_request_of_other_repository_is_ignored() {
    let fixture = ProjectFixture::git();
    fixture
        .project
        .run_git(&["remote", "add", "origin", "git@github.com:acme/widgets.git"])
        .unwrap();
    let result = fixture
        .run(
            ONCE,
            &["--say", "like https://github.com/other/thing/pull/5"],
        )
        .expect(0);
    assert_eq!(last_iteration(&result)["pr_number"], Value::Null);
    let result = fixture.run(ONCE, &["--say", "https://github.com/acme/widgets/pull/6, unlike https://github.com/other/thing/pull/5"]).expect(0);
    assert_eq!(last_iteration(&result)["pr_number"], 6);
    assert_eq!(fixture.mirror()["repository"], "github.com/acme/widgets");
}

#[test]
fn outcome_command_records_like_run() {
    let fixture = ProjectFixture::plain();
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
    let report = fixture.call(&failed).expect(0).json();
    assert_eq!(
        (&report["task"], &report["success"]),
        (&"T".into(), &false.into())
    );
    fixture.call(&failed).expect(0);
    let errors = fixture.records("error");
    assert_eq!((errors.len(), &errors[0]["repeats"]), (1, &1.into()));
    fixture
        .call(&sh(
            "outcome --task T --phase TEST --iteration 3 --status PARTIAL --pr 4 --branch b \
             --file src/a.rs",
        ))
        .expect(0);
    assert_eq!(fixture.records("error")[0]["state"], "open");
    let refused = fixture.call(&[
        "outcome", "--task", "T", "--status", "PARTIAL", "--file", "../x",
    ]);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    // The loop continues after the controller's iterations.
    let result = fixture.run(ONCE, &["--say", "ok"]).expect(0);
    assert_eq!(last_iteration(&result)["iteration"], 4);
    assert_eq!(fixture.mirror()["tasks"]["T"]["pr_number"], "4");
    let words = fixture.call(&sh("outcome --task T --status MAYBE"));
    assert_eq!(words.code, 2, "{}", words.stderr);
}

#[test]
fn tried_finds_run_by_approach() {
    let fixture = ProjectFixture::plain();
    let options = [ONCE, &["--approach", "patch the parser by hand"]].concat();
    fixture
        .run(&options, &["--err", "tests broke", "--exit", "1"])
        .expect(1);
    let result = fixture.call(&["tried", "patch parser by hand", "--json"]);
    let report = result.expect(0).json();
    assert_eq!(report["failed"], true, "{report}");
    assert_eq!(report["tried"][0]["approach"], "patch the parser by hand");
    assert_eq!(report["tried"][0]["outcome"], "exit code 1: tests broke");
    let long = "x".repeat(heirloom_model::limits::EPISODE_TEXT_BYTES_MAX + 1);
    let result = fixture
        .run(&["--approach", &long], &["--exit", "0"])
        .expect(2);
    assert!(
        result.stderr.contains("the approach has"),
        "{}",
        result.stderr
    );
    fixture
        .call(&sh("outcome --task T --iteration 2 --status COMPLETE"))
        .expect(0);
    fixture
        .call(&sh(
            "outcome --task T --iteration 3 --status COMPLETE --approach 'generate the parser'",
        ))
        .expect(0);
    let result = fixture.call(&["tried", "generate parser", "--json"]);
    let report = result.expect(0).json();
    assert_eq!(report["tried"][0]["action"], "completed");
    assert_eq!(report["tried"][0]["approach"], "generate the parser");
}
