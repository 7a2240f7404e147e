//! `heirloom run` and `memory.json`: its content, its import, and unreadable files.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;

use driver::{ProjectFixture, strings};
use heirloom_testkit::sh;
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, symlink};

const MIRROR: &str = ".heirloom/memory.json";

fn object_keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

/// Returns the names in the project's memory folder.
fn memory_folder_names(fixture: &ProjectFixture) -> Vec<String> {
    let entries = std::fs::read_dir(fixture.root().join(".heirloom")).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn mirror_has_exactly_the_format_keys() {
    let fixture = ProjectFixture::plain();
    fixture
        .run(
            &["--task", "7", "--iterations", "1"],
            &sh("--say 'HEIRLOOM_MEMORY: DECISION plain' --err broken --exit 1"),
        )
        .expect(1);
    let mirror = fixture.mirror();
    let mut top = object_keys(&mirror);
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
    // Only optional fields are left out when they are empty.
    let mut task = object_keys(&mirror["tasks"]["7"]);
    task.sort_unstable();
    assert_eq!(task, ["completed_steps", "id", "phase", "type"]);
    let mut decision = object_keys(&mirror["decisions"][0]);
    decision.sort_unstable();
    assert_eq!(decision, ["description", "iteration", "task_id"]);
    let mut error = object_keys(&mirror["errors"][0]);
    error.sort_unstable();
    assert_eq!(
        error,
        ["error", "iteration", "phase", "resolved", "task_id"]
    );
    assert_eq!(mirror["key_facts"], json!([]));

    fixture
        .run(
            &sh("--task 7 --type pr --phase REVIEW --iterations 1"),
            &sh("--say 'HEIRLOOM_MEMORY: DECISION other -- why' --say 'HEIRLOOM_MEMORY: STEP_DONE a' \
                 --say 'HEIRLOOM_MEMORY: STEP_PENDING b' --say 'HEIRLOOM_MEMORY: FILE_MODIFIED c.rs' \
                 --say 'HEIRLOOM_MEMORY: ERROR wrong' --say 'HEIRLOOM_MEMORY: KEY_FACT fact' --say \
                 https://github.com/a/b/pull/3 --say 'HEIRLOOM_STATUS: BLOCKED key'"),
        )
        .expect(1);
    let mirror = fixture.mirror();
    assert_eq!(
        mirror["tasks"]["7"],
        json!({"id": "7", "type": "pr", "phase": "REVIEW", "pr_number": "3", "completed_steps": ["a"], "pending_steps": ["b"], "blocked_reason": "key", "files_modified": ["c.rs"]})
    );
    assert_eq!(
        mirror["decisions"][1],
        json!({"iteration": 2, "task_id": "7", "description": "other", "rationale": "why"})
    );
    assert_eq!(mirror["iteration"], 2);
    assert!(mirror["last_checkpoint"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn mirror_is_replaced_atomically_after_each_iteration() {
    let fixture = ProjectFixture::plain();
    // The agent links the file that exists at its start: it must be replaced, not overwritten.
    let script = "ln .heirloom/memory.json seen.$HEIRLOOM_ITERATION 2>/dev/null; echo HEIRLOOM_MEMORY: KEY_FACT fact $HEIRLOOM_ITERATION; echo HEIRLOOM_MEMORY: STEP_PENDING more";
    fixture
        .call(&["run", "--iterations", "3", "--", "sh", "-c", script])
        .expect(0);
    assert!(!fixture.root().join("seen.1").exists());
    for (n, facts) in [(2, vec!["fact 1"]), (3, vec!["fact 1", "fact 2"])] {
        let seen: Value =
            serde_json::from_str(&fixture.project.read(&format!("seen.{n}")).unwrap()).unwrap();
        assert_eq!(strings(&seen["key_facts"]), facts);
        assert_eq!(seen["iteration"], n - 1);
    }
    let meta = std::fs::metadata(fixture.root().join(MIRROR)).unwrap();
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    assert!(
        !memory_folder_names(&fixture)
            .iter()
            .any(|name| name.ends_with(".tmp")),
        "{:?}",
        memory_folder_names(&fixture)
    );
}

#[test]
fn existing_mirror_is_imported_once() {
    let fixture = ProjectFixture::plain();
    let old = json!({
        "session_id": "old-session", "repository": "acme/widgets", "iteration": 4,
        "tasks": {"42": {"id": "42", "type": "issue", "phase": "TEST", "branch": "b", "pr_number": 9, "completed_steps": ["Create branch"], "pending_steps": ["Run it"], "files_modified": ["a.go"]}},
        "decisions": [{"iteration": 1, "task_id": "42", "description": "mock", "rationale": "clock"}],
        "errors": [{"iteration": 2, "task_id": "42", "phase": "TEST", "error": "boom", "resolved": false}],
        "key_facts": null,
        "last_checkpoint": "2024-01-01T00:00:00Z"
    });
    fixture.project.write(MIRROR, old.to_string()).unwrap();
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
    let result = fixture
        .run(&run, &["--say", "HEIRLOOM_MEMORY: KEY_FACT new"])
        .expect(0);
    let import_event = &result.named("mirror")[0];
    assert_eq!(import_event["outcome"], "imported");
    assert_eq!(import_event["created"], 6, "{import_event}");
    let context = result.named("iteration_started")[0]["context"]
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
    let new = fixture.mirror();
    assert_eq!(new["tasks"]["42"]["pr_number"], 9);
    assert_eq!(new["decisions"][0], old["decisions"][0]);
    assert_eq!(new["errors"][0], old["errors"][0]);
    assert_eq!(new["repository"], "acme/widgets");
    assert_eq!(strings(&new["key_facts"]), ["new"]);
    // The second run does not import the mirror written by the first.
    let result = fixture.run(&run, &["--say", "ok"]).expect(0);
    assert_eq!(result.named("mirror").len(), 0);
    assert_eq!(fixture.texts("knowledge"), ["mock", "new"]);
}

#[test]
fn corrupt_mirror_is_set_aside_and_run_continues() {
    for junk in [
        &b"{\"session_id\": \"x\", \"tasks\": {"[..],
        b"\xff\xfe\x00",
        b"[1, 2",
        b"",
    ] {
        let fixture = ProjectFixture::plain();
        fixture.project.write(MIRROR, junk).unwrap();
        let result = fixture
            .run(
                &["--iterations", "1"],
                &["--say", "HEIRLOOM_MEMORY: KEY_FACT still here"],
            )
            .expect(0);
        let kept: Vec<_> = memory_folder_names(&fixture)
            .into_iter()
            .filter(|name| name.starts_with("memory.json.corrupt-"))
            .collect();
        let events = result.named("mirror");
        assert_eq!(events.len(), 1, "{junk:?}: {}", result.text());
        assert_eq!(events[0]["outcome"], "set-aside");
        assert_eq!(kept.len(), 1, "{junk:?}");
        assert!(events[0]["path"].as_str().unwrap().ends_with(&kept[0]));
        assert_eq!(
            std::fs::read(fixture.root().join(".heirloom").join(&kept[0])).unwrap(),
            junk
        );
        assert_eq!(strings(&fixture.mirror()["key_facts"]), ["still here"]);
    }
}

#[test]
fn corrupted_mirror_is_rebuilt_from_store() {
    let fixture = ProjectFixture::plain();
    fixture
        .run(
            &["--iterations", "1"],
            &["--say", "HEIRLOOM_MEMORY: KEY_FACT first"],
        )
        .expect(0);
    fixture.project.write(MIRROR, "garbage").unwrap();
    let result = fixture
        .call(&sh(
            "run --iterations 1 -- echo 'HEIRLOOM_MEMORY: KEY_FACT second'",
        ))
        .expect(0);
    assert!(
        result.stderr.contains("memory.json.corrupt-"),
        "{}",
        result.stderr
    );
    assert_eq!(strings(&fixture.mirror()["key_facts"]), ["first", "second"]);
    // The agent corrupts the file during a run: the next save restores it.
    fixture
        .call(&sh(
            "run --iterations 1 -- sh -c 'echo junk >.heirloom/memory.json'",
        ))
        .expect(0);
    assert_eq!(strings(&fixture.mirror()["key_facts"]), ["first", "second"]);
}

#[test]
fn mirror_path_must_be_inside_project() {
    let fixture = ProjectFixture::plain();
    fixture
        .project
        .write(
            ".heirloom/config.toml",
            "[memory]\nenabled = true\nfile_path = \".agentium/memory.json\"\n",
        )
        .unwrap();
    fixture
        .run(
            &["--iterations", "1"],
            &["--say", "HEIRLOOM_MEMORY: KEY_FACT x"],
        )
        .expect(0);
    assert!(!fixture.root().join(MIRROR).exists());
    let mirror: Value =
        serde_json::from_str(&fixture.project.read(".agentium/memory.json").unwrap()).unwrap();
    assert_eq!(strings(&mirror["key_facts"]), ["x"]);
    for outside in ["../memory.json", "/tmp/memory.json", "~/memory.json", ""] {
        let result = fixture.run(
            &["--set", &format!("memory.file_path={outside}")],
            &["--write", "started"],
        );
        assert_eq!(result.code, 2, "{outside}: {}", result.stderr);
        assert!(!fixture.root().join("started").exists());
    }
}

#[test]
fn mirror_link_is_not_followed() {
    let fixture = ProjectFixture::plain();
    let target = fixture.outside_path("precious");
    fixture
        .run(
            &["--iterations", "1"],
            &["--say", "HEIRLOOM_MEMORY: KEY_FACT x"],
        )
        .expect(0);
    std::fs::rename(fixture.root().join(MIRROR), &target).unwrap();
    let before = std::fs::read(&target).unwrap();
    symlink(&target, fixture.root().join(MIRROR)).unwrap();
    let result = fixture.run(
        &["--iterations", "1"],
        &["--say", "HEIRLOOM_MEMORY: KEY_FACT y"],
    );
    assert_eq!(result.code, 4, "{}", result.stderr);
    assert!(
        result.stderr.contains("a link that leads out"),
        "{}",
        result.stderr
    );
    assert_eq!(std::fs::read(&target).unwrap(), before);
    // The records of the run stay stored.
    assert_eq!(fixture.texts("knowledge"), ["x"]);
}

#[test]
fn mirror_holds_the_newest_entries() {
    let fixture = ProjectFixture::plain();
    let say = |n: u32| format!("HEIRLOOM_MEMORY: DECISION number {n}");
    let lines: Vec<_> = (1..=8).map(say).collect();
    let actions: Vec<_> = lines
        .iter()
        .flat_map(|line| ["--say", line.as_str()])
        .collect();
    fixture
        .run(
            &["--iterations", "1", "--set", "memory.max_entries=3"],
            &actions,
        )
        .expect(0);
    let kept: Vec<_> = fixture.mirror()["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["description"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kept, ["number 6", "number 7", "number 8"]);
    let all = fixture
        .call(&sh("list --json --all --category decision"))
        .expect(0)
        .json();
    assert_eq!(all["records"].as_array().unwrap().len(), 8);
}

#[test]
fn mirror_unknown_fields_are_kept() {
    let fixture = ProjectFixture::plain();
    let old = json!({"session_id": "s", "repository": "r", "iteration": 1, "tasks": {}, "decisions": [], "errors": [], "key_facts": ["a"], "last_checkpoint": "2024-01-01T00:00:00Z", "extra_of_somebody": {"deep": [1, 2.5, "x"]}});
    fixture.project.write(MIRROR, old.to_string()).unwrap();
    fixture
        .run(&["--iterations", "1"], &["--say", "hi"])
        .expect(0);
    assert_eq!(
        fixture.mirror()["extra_of_somebody"],
        old["extra_of_somebody"]
    );
}

#[test]
fn mirror_in_entries_format_is_imported() {
    let fixture = ProjectFixture::plain();
    let later = json!({"version": "1", "entries": [{"type": "KEY_FACT", "content": "tests need Redis", "iteration": 1, "task_id": "42", "timestamp": "2024-01-01T00:00:00Z"}]});
    fixture.project.write(MIRROR, later.to_string()).unwrap();
    let result = fixture
        .run(&["--iterations", "1"], &["--say", "hi"])
        .expect(0);
    assert_eq!(result.named("mirror")[0]["outcome"], "imported");
    assert_eq!(
        strings(&fixture.mirror()["key_facts"]),
        ["tests need Redis"]
    );
}

#[test]
fn write_outside_run_updates_existing_mirror() {
    let fixture = ProjectFixture::plain();
    // No mirror is created if it does not exist.
    fixture.call(&["remember", "before"]).expect(0);
    assert!(!fixture.root().join(MIRROR).exists());
    fixture
        .run(&["--task", "7", "--iterations", "1"], &["--say", "hi"])
        .expect(0);
    let first = fixture.mirror();
    fixture
        .call(&["remember", "the deploy needs a VPN"])
        .expect(0);
    assert_eq!(
        strings(&fixture.mirror()["key_facts"]),
        ["before", "the deploy needs a VPN"]
    );
    fixture
        .call(&sh("step pending 'write tests' --task 7"))
        .expect(0);
    fixture.call(&sh("error log 'E1 boom' --task 7")).expect(0);
    fixture
        .call(&sh("task set 7 --branch fix --pr 12"))
        .expect(0);
    fixture
        .feed(
            &["observe", "--task", "7"],
            b"HEIRLOOM_MEMORY: STEP_DONE write tests\nHEIRLOOM_MEMORY: DECISION mock the clock\n",
        )
        .expect(0);
    let mirror = fixture.mirror();
    let task = &mirror["tasks"]["7"];
    assert_eq!(strings(&task["completed_steps"]), ["write tests"]);
    assert_eq!(task["pending_steps"], Value::Null);
    assert_eq!(
        (&task["branch"], &task["pr_number"]),
        (&json!("fix"), &json!("12"))
    );
    assert_eq!(mirror["errors"][0]["error"], "E1 boom");
    assert_eq!(mirror["decisions"][0]["description"], "mock the clock");
    assert_eq!(mirror["session_id"], first["session_id"]);
    // A write that does not change its content leaves the file unchanged.
    let bytes = std::fs::read(fixture.root().join(MIRROR)).unwrap();
    fixture
        .call(&["remember", "the deploy needs a VPN"])
        .expect(0);
    fixture.call(&["session", "show", "nobody"]);
    assert_eq!(std::fs::read(fixture.root().join(MIRROR)).unwrap(), bytes);
    let id = fixture.records("knowledge")[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    fixture.call(&["forget", &id]).expect(0);
    assert_ne!(std::fs::read(fixture.root().join(MIRROR)).unwrap(), bytes);
}

#[test]
fn stdin_batch_updates_mirror() {
    let fixture = ProjectFixture::plain();
    fixture
        .run(&["--iterations", "1"], &["--say", "hi"])
        .expect(0);
    let lines: String = (0..500)
        .map(|n| format!("{{\"text\": \"fact {n}\"}}\n"))
        .collect();
    fixture
        .feed(&["remember", "--stdin"], lines.as_bytes())
        .expect(0);
    assert_eq!(strings(&fixture.mirror()["key_facts"]).len(), 500);
}

#[test]
fn write_outside_run_repairs_corrupt_mirror() {
    for call in [
        &["remember", "after"][..],
        &["step", "done", "after", "--task", "7"],
        &["task", "set", "7", "--branch", "b"],
    ] {
        let fixture = ProjectFixture::plain();
        fixture
            .run(
                &["--iterations", "1"],
                &["--say", "HEIRLOOM_MEMORY: KEY_FACT first"],
            )
            .expect(0);
        fixture.project.write(MIRROR, "garbage").unwrap();
        let result = fixture.call(call).expect(0);
        assert!(
            result.stderr.contains("set aside as"),
            "{call:?}: {}",
            result.stderr
        );
        let kept = memory_folder_names(&fixture);
        let kept = kept
            .iter()
            .find(|name| name.starts_with("memory.json.corrupt-"));
        assert_eq!(
            std::fs::read(fixture.root().join(".heirloom").join(kept.unwrap())).unwrap(),
            b"garbage"
        );
        assert_eq!(fixture.mirror()["key_facts"][0], "first");
    }
}

#[test]
fn write_outside_run_leaves_foreign_mirror_and_link() {
    let fixture = ProjectFixture::plain();
    let foreign = json!({"session_id": "theirs", "repository": "a/b", "iteration": 1, "tasks": {}, "decisions": [], "errors": [], "key_facts": ["theirs"], "last_checkpoint": "2024-01-01T00:00:00Z"}).to_string();
    fixture.project.write(MIRROR, &foreign).unwrap();
    fixture.call(&["remember", "mine"]).expect(0);
    assert_eq!(fixture.project.read(MIRROR).unwrap(), foreign);
    std::fs::remove_file(fixture.root().join(MIRROR)).unwrap();
    symlink("/etc/hostname", fixture.root().join(MIRROR)).unwrap();
    let result = fixture.call(&["remember", "more"]).expect(0);
    assert!(
        result.stderr.contains("the mirror was not rewritten"),
        "{}",
        result.stderr
    );
    assert_eq!(fixture.texts("knowledge"), ["mine", "more"]);
}

#[test]
fn pr_number_keeps_its_json_type() {
    for (before, after) in [("5", json!(6)), ("\"5\"", json!("6"))] {
        let fixture = ProjectFixture::plain();
        let old = format!(
            "{{\"session_id\":\"s\",\"tasks\":{{\"7\":{{\"id\":\"7\",\"type\":\"pr\",\"pr_number\":{before}}}}}}}"
        );
        fixture.project.write(MIRROR, old).unwrap();
        fixture
            .call(&sh("outcome --task 7 --status PARTIAL --pr 6"))
            .expect(0);
        assert_eq!(
            fixture.mirror()["tasks"]["7"]["pr_number"],
            after,
            "{before}"
        );
    }
}

#[test]
fn failure_without_output_opens_no_error() {
    let fixture = ProjectFixture::plain();
    fixture
        .call(&sh("run --iterations 1 -- sh -c 'exit 3'"))
        .expect(1);
    assert_eq!(fixture.records("error").len(), 0);
    let episodes = fixture.records("episode");
    assert_eq!(episodes[0]["outcome"], "exit code 3", "{episodes:?}");
    fixture
        .call(&sh("run --iterations 1 -- sh -c 'echo no key >&2; exit 3'"))
        .expect(1);
    assert_eq!(fixture.texts("error"), ["exit code 3: no key"]);
}
