//! `heirloom run` and `memory.json`: what is written, what is taken in, and what is set aside.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;

use driver::{Desk, strings};
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, symlink};

const MIRROR: &str = ".heirloom/memory.json";

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

/// The names in the project's own folder.
fn listed(desk: &Desk) -> Vec<String> {
    let entries = std::fs::read_dir(desk.root().join(".heirloom")).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn it_has_exactly_the_keys_of_the_format() {
    let desk = Desk::plain();
    desk.run(
        &["--task", "7", "--iterations", "1"],
        &["--say", "HEIRLOOM_MEMORY: DECISION plain", "--exit", "1"],
    )
    .expect(1);
    let mirror = desk.mirror();
    let mut top = keys(&mirror);
    top.sort_unstable();
    assert_eq!(
        top,
        [
            "decisions",
            "errors",
            "iteration",
            "key_facts",
            "last_checkpoint",
            "repository",
            "session_id",
            "tasks"
        ]
    );
    // What may be left out is left out when it is empty, and nothing else.
    let mut task = keys(&mirror["tasks"]["7"]);
    task.sort_unstable();
    assert_eq!(task, ["completed_steps", "id", "phase", "type"]);
    let mut decision = keys(&mirror["decisions"][0]);
    decision.sort_unstable();
    assert_eq!(decision, ["description", "iteration", "task_id"]);
    let mut error = keys(&mirror["errors"][0]);
    error.sort_unstable();
    assert_eq!(
        error,
        ["error", "iteration", "phase", "resolved", "task_id"]
    );
    assert_eq!(mirror["key_facts"], json!([]));

    desk.run(
        &[
            "--task",
            "7",
            "--type",
            "pr",
            "--phase",
            "REVIEW",
            "--iterations",
            "1",
        ],
        &[
            "--say",
            "HEIRLOOM_MEMORY: DECISION other -- why",
            "--say",
            "HEIRLOOM_MEMORY: STEP_DONE a",
            "--say",
            "HEIRLOOM_MEMORY: STEP_PENDING b",
            "--say",
            "HEIRLOOM_MEMORY: FILE_MODIFIED c.rs",
            "--say",
            "HEIRLOOM_MEMORY: ERROR wrong",
            "--say",
            "HEIRLOOM_MEMORY: KEY_FACT fact",
            "--say",
            "https://github.com/a/b/pull/3",
            "--say",
            "HEIRLOOM_STATUS: BLOCKED key",
        ],
    )
    .expect(1);
    let mirror = desk.mirror();
    assert_eq!(
        mirror["tasks"]["7"],
        json!({"id": "7", "type": "pr", "phase": "REVIEW", "pr_number": 3, "completed_steps": ["a"], "pending_steps": ["b"], "blocked_reason": "key", "files_modified": ["c.rs"]})
    );
    assert_eq!(
        mirror["decisions"][1],
        json!({"iteration": 2, "task_id": "7", "description": "other", "rationale": "why"})
    );
    assert_eq!(mirror["iteration"], 2);
    assert!(mirror["last_checkpoint"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn it_is_written_after_every_iteration_private_and_whole() {
    let desk = Desk::plain();
    // The agent keeps hold of the file that is there when it starts: it is replaced, not overwritten.
    let script = "ln .heirloom/memory.json seen.$HEIRLOOM_ITERATION 2>/dev/null; echo HEIRLOOM_MEMORY: KEY_FACT fact $HEIRLOOM_ITERATION; echo HEIRLOOM_MEMORY: STEP_PENDING more";
    desk.call(&["run", "--iterations", "3", "--", "sh", "-c", script])
        .expect(0);
    assert!(!desk.root().join("seen.1").exists());
    for (n, facts) in [(2, vec!["fact 1"]), (3, vec!["fact 1", "fact 2"])] {
        let seen: Value =
            serde_json::from_str(&desk.project.read(&format!("seen.{n}")).unwrap()).unwrap();
        assert_eq!(strings(&seen["key_facts"]), facts);
        assert_eq!(seen["iteration"], n - 1);
    }
    let meta = std::fs::metadata(desk.root().join(MIRROR)).unwrap();
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    assert!(
        !listed(&desk).iter().any(|name| name.ends_with(".tmp")),
        "{:?}",
        listed(&desk)
    );
}

#[test]
fn an_existing_one_is_taken_in_once() {
    let desk = Desk::plain();
    let old = json!({
        "session_id": "old-session", "repository": "acme/widgets", "iteration": 4,
        "tasks": {"42": {"id": "42", "type": "issue", "phase": "TEST", "branch": "b", "pr_number": 9, "completed_steps": ["Create branch"], "pending_steps": ["Run it"], "files_modified": ["a.go"]}},
        "decisions": [{"iteration": 1, "task_id": "42", "description": "mock", "rationale": "clock"}],
        "errors": [{"iteration": 2, "task_id": "42", "phase": "TEST", "error": "boom", "resolved": false}],
        "key_facts": null,
        "last_checkpoint": "2024-01-01T00:00:00Z"
    });
    desk.project.write(MIRROR, old.to_string()).unwrap();
    let run = [
        "--task",
        "42",
        "--type",
        "issue",
        "--phase",
        "BUILD",
        "--iterations",
        "1",
    ];
    let ran = desk
        .run(&run, &["--say", "HEIRLOOM_MEMORY: KEY_FACT new"])
        .expect(0);
    let taken = &ran.named("mirror")[0];
    assert_eq!(taken["outcome"], "imported");
    assert_eq!(taken["created"], 6, "{taken}");
    let context = ran.named("iteration_started")[0]["context"]
        .as_str()
        .unwrap()
        .to_owned();
    for part in [
        "Branch: b",
        "Completed: Create branch",
        "Pending: Run it",
        "Files modified: a.go",
        "[Iteration 2, TEST] boom",
        "- mock",
    ] {
        assert!(context.contains(part), "{part}: {context}");
    }
    let new = desk.mirror();
    assert_eq!(new["tasks"]["42"]["pr_number"], 9);
    assert_eq!(new["decisions"][0], old["decisions"][0]);
    assert_eq!(new["errors"][0], old["errors"][0]);
    assert_eq!(new["repository"], "acme/widgets");
    assert_eq!(strings(&new["key_facts"]), ["new"]);
    // The second run does not take in its own.
    let ran = desk.run(&run, &["--say", "ok"]).expect(0);
    assert_eq!(ran.named("mirror").len(), 0);
    assert_eq!(desk.texts("knowledge"), ["mock", "new"]);
}

#[test]
fn a_corrupt_one_is_set_aside_and_the_run_goes_on() {
    for junk in [
        &b"{\"session_id\": \"x\", \"tasks\": {"[..],
        b"\xff\xfe\x00",
        b"[1, 2",
        b"",
    ] {
        let desk = Desk::plain();
        desk.project.write(MIRROR, junk).unwrap();
        let ran = desk
            .run(
                &["--iterations", "1"],
                &["--say", "HEIRLOOM_MEMORY: KEY_FACT still here"],
            )
            .expect(0);
        let kept: Vec<_> = listed(&desk)
            .into_iter()
            .filter(|name| name.starts_with("memory.json.corrupt-"))
            .collect();
        let events = ran.named("mirror");
        assert_eq!(events.len(), 1, "{junk:?}: {}", ran.text());
        assert_eq!(events[0]["outcome"], "set-aside");
        assert_eq!(kept.len(), 1, "{junk:?}");
        assert!(events[0]["path"].as_str().unwrap().ends_with(&kept[0]));
        assert_eq!(
            std::fs::read(desk.root().join(".heirloom").join(&kept[0])).unwrap(),
            junk
        );
        assert_eq!(strings(&desk.mirror()["key_facts"]), ["still here"]);
    }
}

#[test]
fn one_that_breaks_later_is_rebuilt_from_the_store() {
    let desk = Desk::plain();
    desk.run(
        &["--iterations", "1"],
        &["--say", "HEIRLOOM_MEMORY: KEY_FACT first"],
    )
    .expect(0);
    desk.project.write(MIRROR, "garbage").unwrap();
    let ran = desk
        .call(&[
            "run",
            "--iterations",
            "1",
            "--",
            "echo",
            "HEIRLOOM_MEMORY: KEY_FACT second",
        ])
        .expect(0);
    assert!(
        ran.stderr.contains("memory.json.corrupt-"),
        "{}",
        ran.stderr
    );
    assert_eq!(strings(&desk.mirror()["key_facts"]), ["first", "second"]);
    // The agent breaks it in the middle of a run: the next save does not lose it.
    desk.call(&[
        "run",
        "--iterations",
        "1",
        "--",
        "sh",
        "-c",
        "echo junk >.heirloom/memory.json",
    ])
    .expect(0);
    assert_eq!(strings(&desk.mirror()["key_facts"]), ["first", "second"]);
}

#[test]
fn it_may_be_anywhere_inside_the_project() {
    let desk = Desk::plain();
    desk.project
        .write(
            ".heirloom/config.toml",
            "[memory]\nenabled = true\nfile_path = \".agentium/memory.json\"\n",
        )
        .unwrap();
    desk.run(
        &["--iterations", "1"],
        &["--say", "HEIRLOOM_MEMORY: KEY_FACT x"],
    )
    .expect(0);
    assert!(!desk.root().join(MIRROR).exists());
    let mirror: Value =
        serde_json::from_str(&desk.project.read(".agentium/memory.json").unwrap()).unwrap();
    assert_eq!(strings(&mirror["key_facts"]), ["x"]);
    for outside in ["../memory.json", "/tmp/memory.json", "~/memory.json", ""] {
        let ran = desk.run(
            &["--set", &format!("memory.file_path={outside}")],
            &["--write", "started"],
        );
        assert_eq!(ran.code, 2, "{outside}: {}", ran.stderr);
        assert!(!desk.root().join("started").exists());
    }
}

#[test]
fn a_link_in_its_place_is_not_followed() {
    let desk = Desk::plain();
    let target = desk.aside("precious");
    desk.run(
        &["--iterations", "1"],
        &["--say", "HEIRLOOM_MEMORY: KEY_FACT x"],
    )
    .expect(0);
    std::fs::rename(desk.root().join(MIRROR), &target).unwrap();
    let before = std::fs::read(&target).unwrap();
    symlink(&target, desk.root().join(MIRROR)).unwrap();
    let ran = desk.run(
        &["--iterations", "1"],
        &["--say", "HEIRLOOM_MEMORY: KEY_FACT y"],
    );
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("a link that leads out"),
        "{}",
        ran.stderr
    );
    assert_eq!(std::fs::read(&target).unwrap(), before);
    // The agent was not started in vain, and what was recorded stays recorded.
    assert_eq!(desk.texts("knowledge"), ["x"]);
}

#[test]
fn beyond_max_entries_the_oldest_go_and_are_not_deleted() {
    let desk = Desk::plain();
    let say = |n: u32| format!("HEIRLOOM_MEMORY: DECISION number {n}");
    let lines: Vec<_> = (1..=8).map(say).collect();
    let actions: Vec<_> = lines
        .iter()
        .flat_map(|line| ["--say", line.as_str()])
        .collect();
    desk.run(
        &["--iterations", "1", "--set", "memory.max_entries=3"],
        &actions,
    )
    .expect(0);
    let kept: Vec<_> = desk.mirror()["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["description"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kept, ["number 6", "number 7", "number 8"]);
    let all = desk
        .call(&["list", "--json", "--all", "--category", "decision"])
        .expect(0)
        .json();
    assert_eq!(all["records"].as_array().unwrap().len(), 8);
}

#[test]
fn foreign_fields_survive() {
    let desk = Desk::plain();
    let old = json!({"session_id": "s", "repository": "r", "iteration": 1, "tasks": {}, "decisions": [], "errors": [], "key_facts": ["a"], "last_checkpoint": "2024-01-01T00:00:00Z", "extra_of_somebody": {"deep": [1, 2.5, "x"]}});
    desk.project.write(MIRROR, old.to_string()).unwrap();
    desk.run(&["--iterations", "1"], &["--say", "hi"]).expect(0);
    assert_eq!(desk.mirror()["extra_of_somebody"], old["extra_of_somebody"]);
}

#[test]
fn the_later_form_of_agentium_is_taken_in() {
    let desk = Desk::plain();
    let later = json!({"version": "1", "entries": [{"type": "KEY_FACT", "content": "tests need Redis", "iteration": 1, "task_id": "42", "timestamp": "2024-01-01T00:00:00Z"}]});
    desk.project.write(MIRROR, later.to_string()).unwrap();
    let ran = desk.run(&["--iterations", "1"], &["--say", "hi"]).expect(0);
    assert_eq!(ran.named("mirror")[0]["outcome"], "imported");
    assert_eq!(strings(&desk.mirror()["key_facts"]), ["tests need Redis"]);
}
