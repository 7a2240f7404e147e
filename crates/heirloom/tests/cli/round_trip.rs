//! Round trips of memory: JSONL export and import, Agentium's files, the mirror.

use crate::project::{Project, texts};
use heirloom_testkit::sh;
use serde_json::{Value, json};

/// Creates a project with records of every kind that commands write.
fn project_with_all_kinds() -> Project {
    let project = Project::new();
    project.remember("old", &["--key", "k"]);
    project.remember("new", &["--key", "k", "--confidence", "0.7"]);
    project.remember("lost", &sh("--key k --source scout --confidence 0.1"));
    project.remember(
        "Ünïcode 👨‍👩‍👧\nand lines\t\u{7f}\u{9b}\u{202e}\u{0}\u{1b}[31m"
            .replace('\0', "")
            .as_str(),
        &[],
    );
    project.remember(
        "why",
        &sh("--category decision --rationale r --task 1 --iteration 2"),
    );
    project.ok(&["remember", "why", "--category", "decision"]);
    project.ok(&[
        "task", "set", "1", "--type", "issue", "--branch", "b", "--pr", "7",
    ]);
    project.ok(&sh("step pending x --task 1"));
    project.ok(&sh("step done x --task 1"));
    project.ok(&sh("error log 'it broke' --task 1 --phase TEST"));
    project.ok(&sh("error log 'it broke' --task 1 --phase TEST"));
    project.ok(&sh("error resolve 'it broke' --with mended"));
    project.ok(&sh("task done 1 --approach a"));
    let gone = project.remember("forgotten", &[]);
    project.ok(&["forget", &gone]);
    let lapsed = project.remember("was away for a while", &[]);
    for _ in 0..2 {
        project.ok(&["forget", &lapsed]);
        project.ok(&["undo", &lapsed]);
    }
    project
}

/// Returns the exported records without the project, which differs.
fn exported_records(project: &Project, args: &[&str]) -> Vec<Value> {
    let mut exported_records = project.ok(&[&["export"], args].concat()).lines();
    for record in &mut exported_records {
        record.as_object_mut().unwrap().remove("project");
    }
    exported_records
}

#[test]
fn jsonl_import_of_an_export_yields_the_same_records() {
    let source = project_with_all_kinds();
    for args in [&["--format", "jsonl"][..], &["--format", "jsonl", "--all"]] {
        let export = source.ok(&[&["export"], args].concat()).stdout;
        let target = Project::new();
        target.folder.write("in.jsonl", &export).unwrap();
        let output = target.json(&["import", "jsonl", "in.jsonl"]);
        let is_lapse = |line: &&str| line.contains("\"kind\":\"lapse\"");
        let count = export.lines().filter(|line| !is_lapse(line)).count();
        assert!(output["import"].is_string(), "{output}");
        assert_eq!(
            (&output["created"], &output["known"]),
            (&json!(count), &json!(0))
        );
        assert_eq!(output["diagnostics"], json!([]), "{args:?}");
        assert_eq!(
            exported_records(&target, args),
            exported_records(&source, args),
            "{args:?}"
        );
        let again = target.json(&["import", "jsonl", "in.jsonl"]);
        assert_eq!(
            again,
            json!({"created": 0, "known": count, "import": null, "diagnostics": []}),
            "{args:?}"
        );
        assert_eq!(
            exported_records(&target, args),
            exported_records(&source, args),
            "{args:?}"
        );
    }
    assert_eq!(
        // Six retired records and two validity gaps.
        exported_records(&source, &[]).len() + 8,
        exported_records(&source, &["--all"]).len()
    );
}

#[test]
fn export_after_import_is_byte_identical() {
    let source = project_with_all_kinds();
    source.ok(&sh(r#"run --iterations 2 --task 1 -- sh -c "cat >/dev/null; echo said; echo 'HEIRLOOM_MEMORY: KEY_FACT seen by a run'; exit 0""#));
    let odd = r#"{"id":"01890a5d-ac96-774b-bcce-b302099a8057","kind":"note","text":"attributes called as columns","recorded_at":"2026-01-02T03:04:05.123456Z","confidence":0.1234567,"mine":[1,2.5,null,{"b":1,"a":2}],"attrs":{"key":"not the key","attrs":{"text":1},"source":["a"]}}"#;
    source.folder.write("odd.jsonl", odd).unwrap();
    source.ok(&["import", "jsonl", "odd.jsonl"]);
    let all = ["--project", "the-same", "export", "--all"];
    source.ok(&sh("--project the-same import jsonl odd.jsonl"));
    let name = source.json(&["status"])["project"]
        .as_str()
        .unwrap()
        .to_owned();
    let named = ["--project", &name, "export", "--all"];
    for args in [&named[..], &all] {
        let export = source.ok(args).stdout;
        assert!(export.contains("not the key"));
        let target = Project::new();
        target.folder.write("in.jsonl", &export).unwrap();
        target.ok(&["--project", args[1], "import", "jsonl", "in.jsonl"]);
        assert_eq!(target.ok(args).stdout, export);
        target.ok(&["--project", args[1], "import", "jsonl", "in.jsonl"]);
        assert_eq!(target.ok(args).stdout, export, "twice");
    }
    let export = source.ok(&named).stdout;
    for kind in [
        "knowledge",
        "step",
        "task",
        "error",
        "note",
        "session",
        "message",
        "lapse",
    ] {
        assert!(export.contains(&format!("\"kind\":\"{kind}\"")), "{kind}");
    }
}

#[test]
fn history_and_undo_work_on_imported_records() {
    let source = project_with_all_kinds();
    let target = Project::new();
    let export = source.ok(&["export", "--all"]).stdout;
    target.folder.write("in.jsonl", export).unwrap();
    target.ok(&["import", "jsonl", "in.jsonl"]);
    let id = |text: &str| {
        let all = target.json(&["list", "--all"]);
        let found = all["records"]
            .as_array()
            .unwrap()
            .iter()
            .find(|r| r["text"] == text)
            .cloned();
        found.unwrap()["id"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        texts(&target.json(&["history", &id("new")])["records"]),
        ["old", "new", "lost"]
    );
    target.ok(&["undo", &id("new")]);
    assert_eq!(
        target.json(&["show", &id("old")])["retired_at"],
        Value::Null
    );
    target.ok(&["undo", &id("forgotten")]);
}

#[test]
fn import_with_bad_lines_reports_them_and_imports_the_rest() {
    let source = project_with_all_kinds();
    let mut lines: Vec<Value> = source.ok(&["export"]).lines();
    let count = lines.len();
    lines[0]["text"] = "x".repeat((1 << 20) + 1).into();
    lines[1]["task"] = "a\nb".into();
    lines[2]["confidence"] = 7.into();
    let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    text.push_str("nonsense\n[1]\n{\"id\":\"x\"}\n\n");
    let target = Project::new();
    target.folder.write("in.jsonl", text).unwrap();
    let output = target
        .expect(&["import", "jsonl", "in.jsonl", "--json"], 1)
        .json();
    assert_eq!(output["created"], count - 3, "{output}");
    let diagnostics = output["diagnostics"].as_array().unwrap();
    let mut at: Vec<_> = diagnostics
        .iter()
        .map(|d| d["line"].as_u64().unwrap())
        .collect();
    at.sort_unstable();
    let bad = count as u64;
    assert_eq!(at, [1, 2, 3, bad + 1, bad + 2, bad + 3], "{output}");
}

#[test]
fn counts_of_one_are_singular() {
    let project = Project::new();
    project.ok(&sh("remember 'the port is 8080'"));
    let export = project.ok(&sh("export --format jsonl")).stdout;
    let other = Project::new();
    other.folder.write("one.jsonl", export).unwrap();
    let output = other.ok(&sh("import jsonl one.jsonl"));
    assert!(
        (output.stdout).contains("1 record imported, 0 already known"),
        "{output:?}"
    );
    let output = other.ok(&sh("outcome --task 7 --status PARTIAL"));
    assert_eq!(output.stdout, "task 7: PARTIAL (2 records)\n");
    other
        .folder
        .write("bad.jsonl", "{\"text\": \"x\"}\n")
        .unwrap();
    let output = other.expect(&sh("import jsonl bad.jsonl"), 1);
    assert!(
        output.stderr.contains("1 line is not an export"),
        "{output:?}"
    );
    let output = other.ok(&sh("purge --query 8080 --dry-run"));
    assert!(
        output
            .stdout
            .contains("1 record, 0 sessions and 0 messages")
            || output
                .stderr
                .contains("1 record, 0 sessions and 0 messages"),
        "{output:?}"
    );
}

#[test]
fn import_of_an_invalid_source_fails_with_its_exit_code() {
    let project = Project::new();
    project.expect(&["import", "jsonl"], 2);
    project.expect(&["import", "jsonl", "missing.jsonl"], 3);
    project.expect(&["import", "jsonl", "."], 2);
    project.expect(&["import", "nonsense", "x"], 2);
    project.expect(&["import", "agentium"], 3);
    project.folder.write("memory.json", "{ no json").unwrap();
    let output = project.expect(&["import", "agentium", "memory.json"], 1);
    assert!(output.stderr.contains("memory.json: line 1"), "{output:?}");
    project.expect(&["export", "--format", "nonsense"], 2);
}

/// Returns a `memory.json` with every key, and with one entry of some lists twice.
fn agentium_memory() -> Value {
    json!({
        "session_id": "run-17",
        "repository": "acme/api",
        "iteration": 4,
        "tasks": {
            "42": {
                "id": "42", "type": "issue", "phase": "TEST", "branch": "fix", "pr_number": "7",
                "completed_steps": ["a", "b", "a"],
                "pending_steps": ["c", "A."],
                "blocked_reason": "no key",
                "files_modified": ["src/a.rs"]
            },
            "7": {"id": "7", "type": "pr", "phase": "", "completed_steps": []}
        },
        "decisions": [
            {"iteration": 1, "task_id": "42", "description": "use a mock", "rationale": "fast"},
            {"iteration": 2, "task_id": "42", "description": "use a mock"},
            {"iteration": 3, "description": "no task"}
        ],
        "errors": [
            {"iteration": 1, "task_id": "42", "phase": "TEST", "error": "panic at 3", "resolution": "x", "resolved": true},
            {"iteration": 2, "task_id": "42", "phase": "TEST", "error": "panic at 4", "resolved": false},
            {"iteration": 2, "phase": "", "error": "without a task", "resolved": false}
        ],
        "key_facts": ["one", "two", "one"],
        "last_checkpoint": "2026-05-01T10:00:00Z"
    })
}

#[test]
fn agentium_memory_round_trips_without_loss() {
    let mut project = Project::new();
    project
        .folder
        .write(".agentium/memory.json", agentium_memory().to_string())
        .unwrap();
    let output = project.json(&["import", "agentium"]);
    assert_eq!(output["diagnostics"], json!([]));
    project.set_clock("2026-05-01T10:00:00Z");
    let out = project.ok(&["export", "--format", "agentium"]);
    assert_eq!(out.json(), agentium_memory());
    let keys = [
        "session_id",
        "repository",
        "iteration",
        "tasks",
        "decisions",
        "errors",
        "key_facts",
        "last_checkpoint",
    ];
    let places: Vec<_> = keys
        .iter()
        .map(|key| out.stdout.find(&format!("\n  \"{key}\":")).unwrap())
        .collect();
    assert!(places.is_sorted(), "{}", out.stdout);
    let again = project.json(&["import", "agentium"]);
    assert_eq!(again["created"], 0);
    assert_eq!(
        project.ok(&["export", "--format", "agentium"]).json(),
        agentium_memory()
    );
}

#[test]
fn agentium_null_fields_import_as_empty() {
    let project = Project::new();
    let text = json!({
        "session_id": null, "repository": null, "iteration": null,
        "tasks": {"1": {"id": "1", "type": null, "phase": null, "completed_steps": null, "pending_steps": null}},
        "decisions": null, "errors": null, "key_facts": null, "last_checkpoint": null
    });
    project.folder.write("m.json", text.to_string()).unwrap();
    assert_eq!(
        project.json(&["import", "agentium", "m.json"])["diagnostics"],
        json!([])
    );
    let out = project.ok(&["export", "--format", "agentium"]).json();
    assert_eq!(
        out["tasks"]["1"],
        json!({"id": "1", "type": "", "phase": "", "completed_steps": []})
    );
    for list in ["decisions", "errors", "key_facts"] {
        assert_eq!(out[list], json!([]));
    }
}

#[test]
fn agentium_versioned_entries_are_imported() {
    let project = Project::new();
    let text = json!({"version": "1", "entries": [
        {"type": "KEY_FACT", "content": "a fact", "iteration": 1, "task_id": "issue:42", "timestamp": "2026-05-01T10:00:00Z"},
        {"type": "DECISION", "content": "a decision", "iteration": 2, "task_id": "issue:42"},
        {"type": "STEP_DONE", "content": "a step", "iteration": 2, "task_id": "issue:42"}
    ]});
    project.folder.write("m.json", text.to_string()).unwrap();
    project.ok(&["import", "agentium", "m.json"]);
    let out = project.ok(&["export", "--format", "agentium"]).json();
    assert_eq!(out["key_facts"], json!(["a fact"]));
    assert_eq!(out["decisions"][0]["description"], "a decision");
    assert_eq!(out["tasks"]["42"]["completed_steps"], json!(["a step"]));
    assert_eq!(out["tasks"]["42"]["type"], "issue");
}

#[test]
fn agentium_import_skips_oversized_entry_and_keeps_the_rest() {
    let project = Project::new();
    let mut text = agentium_memory();
    text["key_facts"] = json!(["before", "x".repeat((1 << 20) + 1), "after"]);
    text["errors"][0]["phase"] = "a\nb".into();
    project.folder.write("m.json", text.to_string()).unwrap();
    let output = project.json(&["import", "agentium", "m.json"]);
    assert_eq!(
        output["diagnostics"].as_array().unwrap().len(),
        2,
        "{output}"
    );
    let out = project.ok(&["export", "--format", "agentium"]).json();
    assert_eq!(out["key_facts"], json!(["before", "after"]));
    assert_eq!(out["decisions"], agentium_memory()["decisions"]);
    assert_eq!(out["errors"].as_array().unwrap().len(), 2);
}

#[test]
fn agentium_settings_are_written_to_the_project_config() {
    let project = Project::new();
    let yaml = "agent: x\nmemory:\n  enabled: true\n  file_path: .agentium/memory.json\n  max_entries: 30\n  context_budget: 2000\n";
    project.folder.write(".agentium.yaml", yaml).unwrap();
    project
        .folder
        .write(".agentium/memory.json", agentium_memory().to_string())
        .unwrap();
    let output = project.ok(&["import", "agentium"]);
    assert!(output.stderr.contains("max_entries = 30"), "{output:?}");
    let config = project.json(&["config", "memory"]);
    let value = |name: &str| {
        let list = config["config"].as_array().unwrap();
        list.iter().find(|k| k["key"] == name).unwrap()["value"].clone()
    };
    assert_eq!(value("memory.file_path"), ".agentium/memory.json");
    assert_eq!(value("memory.max_entries"), 30);
    assert_eq!(value("memory.context_budget"), 2000);
    assert_eq!(project.list("knowledge").len(), 6);
    let config_text = project.folder.read(".heirloom/config.toml").unwrap();
    assert!(
        config_text.starts_with("# Heirloom in this project."),
        "{config_text}"
    );
}

#[test]
fn unusable_agentium_settings_are_reported_and_not_written() {
    let project = Project::new();
    project
        .folder
        .write(
            ".agentium.yaml",
            "memory:\n  file_path: ../outside.json\n  max_entries: 1000000\n",
        )
        .unwrap();
    let output = project.ok(&["import", "agentium"]);
    assert!(output.stderr.contains("outside the project"), "{output:?}");
    assert!(output.stderr.contains("max_entries"), "{output:?}");
    let output = project.ok(&["config", "memory"]);
    assert_eq!(output.stderr, "");
    assert!(
        !output.stdout.contains("outside.json") && !output.stdout.contains("1000000"),
        "{output:?}"
    );
    project.folder.write(".agentium.yaml", "memory: [").unwrap();
    project.expect(&["import", "agentium"], 1);
}

#[test]
fn init_imports_agentium_memory_only_on_request() {
    let project = Project::uninitialised();
    project
        .folder
        .write(".agentium/memory.json", agentium_memory().to_string())
        .unwrap();
    let output = project.ok(&["init", "--import", "--yes"]);
    assert!(output.stdout.contains("records imported"), "{output:?}");
    assert_eq!(project.list("task").len(), 2);
    let other = Project::uninitialised();
    let output = other.ok(&["init", "--import"]);
    assert!(output.stderr.contains("nothing to import"), "{output:?}");
    let third = Project::uninitialised();
    third
        .folder
        .write(".agentium/memory.json", agentium_memory().to_string())
        .unwrap();
    let output = third.ok(&["init"]);
    assert!(
        output.stderr.contains(".agentium/memory.json"),
        "{output:?}"
    );
    assert!(
        output.stderr.contains("heirloom init --import"),
        "{output:?}"
    );
    assert_eq!(third.list("task").len(), 0);
}

#[test]
fn outcome_imports_an_existing_mirror_before_rewriting_it() {
    let project = Project::new();
    project.configure("file_path = \".agentium/memory.json\"\n");
    let mut existing = agentium_memory();
    existing["extra"] = json!({"of": "another writer", "exact": 12345678901234567890_u64});
    existing["tasks"]["42"]["owner"] = "me".into();
    project
        .folder
        .write(".agentium/memory.json", existing.to_string())
        .unwrap();
    project.ok(&sh(
        "outcome --task 7 --phase P --iteration 5 --status PARTIAL",
    ));
    let mirror: Value =
        serde_json::from_str(&project.folder.read(".agentium/memory.json").unwrap()).unwrap();
    existing["tasks"]["7"]["phase"] = "P".into();
    existing["iteration"] = 5.into();
    existing["last_checkpoint"] = mirror["last_checkpoint"].clone();
    assert_eq!(mirror, existing);
}

#[test]
fn forgotten_record_is_not_imported_again_from_the_mirror() {
    let project = Project::new();
    let fact = project.remember("a fact", &[]);
    let outcome = [
        "outcome",
        "--task",
        "1",
        "--iteration",
        "1",
        "--status",
        "PARTIAL",
    ];
    project.ok(&outcome);
    project.ok(&["forget", &fact]);
    project.ok(&outcome);
    project.ok(&outcome);
    assert_eq!(project.list("knowledge").len(), 0);
}

#[test]
fn outcome_renames_an_unreadable_mirror_and_writes_a_new_one() {
    let mut project = Project::new();
    project.set_clock("2026-05-01T10:00:00Z");
    project
        .folder
        .write(".heirloom/memory.json", "{ broken")
        .unwrap();
    let output = project.ok(&sh("outcome --task 1 --status PARTIAL"));
    assert!(output.stderr.contains("memory.json.corrupt-"), "{output:?}");
    assert_eq!(
        project
            .folder
            .read(".heirloom/memory.json.corrupt-20260501T100000Z")
            .unwrap(),
        "{ broken"
    );
    let mirror = project.folder.read(".heirloom/memory.json").unwrap();
    assert!(serde_json::from_str::<Value>(&mirror).is_ok(), "{mirror}");
}

#[test]
fn jsonl_line_with_required_fields_only_imports_as_fact() {
    let project = Project::new();
    let line = r#"{"id":"01890a5d-ac96-774b-bcce-b302099a8057","kind":"knowledge","text":"bare","recorded_at":"2026-01-01T00:00:00Z"}"#;
    project.folder.write("in.jsonl", line).unwrap();
    project.ok(&["import", "jsonl", "in.jsonl"]);
    assert_eq!(project.list("knowledge")[0]["category"], "fact");
    let mirror = project.ok(&["export", "--format", "agentium"]).json();
    assert_eq!(mirror["key_facts"], json!(["bare"]));
}

/// `export --all` contains the conversations of runs; a second import adds nothing.
#[test]
fn export_all_carries_sessions_and_messages() {
    let from = Project::new();
    from.ok(&sh(
        "run --task 7 --iterations 1 -- echo 'said by the agent'",
    ));
    let lines = from.ok(&["export", "--all"]).stdout;
    let kinds = |kind: &str| {
        lines
            .lines()
            .filter(|l| l.contains(&format!("\"kind\":\"{kind}\"")))
            .count()
    };
    assert_eq!((kinds("session"), kinds("message")), (1, 1), "{lines}");
    assert!(!from.ok(&["export"]).stdout.contains("\"kind\":\"session\""));

    let to = Project::new();
    to.folder.write("memory.jsonl", &lines).unwrap();
    to.ok(&["import", "jsonl", "memory.jsonl"]);
    let again = to.ok(&["export", "--all"]).stdout;
    let rest = |text: &str| -> Vec<String> {
        text.lines()
            .filter(|l| l.contains("\"kind\":\"session\"") || l.contains("\"kind\":\"message\""))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(rest(&again), rest(&lines));
    let twice = to.json(&["import", "jsonl", "memory.jsonl"]);
    assert_eq!(twice["created"], 0, "{twice}");
}
