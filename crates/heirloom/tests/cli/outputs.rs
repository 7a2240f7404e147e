//! `output`, `session summary|search|export`, `import radium|history`, and the asynchronous interface of outputs.

use crate::project::{Project, string};
use heirloom::plan_memory::{PlanFuture, PlanMemory, StoredOutputs};
use heirloom_engine::Engine;
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::limits::{HISTORY_FILE_BYTES_MAX, HISTORY_LIVE_MAX};
use heirloom_model::record::Attrs;
use heirloom_model::{ErrorKind, Fault, ProjectName, Settings, SystemClock};
use heirloom_store::SqliteStore;
use heirloom_testkit::{TempProject, sh};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

const HISTORY: &str = r#"[{"timestamp":1777000000,"goal":"paint the zeppelin","plan":"green","output":"it is green"}]"#;

fn poll_ready<T>(mut answer: PlanFuture<'_, T>) -> Result<T, Fault> {
    match answer
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("an adapter without a runtime waits"),
    }
}

#[test]
fn output_is_stored_shown_and_listed() {
    let project = Project::new();
    let put = ["output", "put", "--plan", "REQ-1", "--agent", "coder"];
    let answer = project.input(
        &[&put[..], &["--meta", "ok=true"]].concat(),
        b"one\ntwo\nthree\n",
    );
    assert_eq!(answer.code, 0, "{answer:?}");
    project.ok(&sh("output put 'tests pass' --plan REQ-1 --agent tester"));
    let get = ["output", "get", "--plan", "REQ-1", "--agent", "coder"];
    let found = project.json(&get);
    assert_eq!(found["content"], "one\ntwo\nthree");
    assert_eq!(found["metadata"], json!({"ok": true}));
    assert!(found["timestamp"].is_i64());
    for option in ["--tail", "--lines"] {
        let tail = project.ok(&[&get[..], &[option, "2"]].concat());
        assert_eq!(tail.stdout, "two\nthree\n");
    }
    let listed = project.json(&["output", "list", "--plan", "REQ-1"]);
    assert_eq!(listed["outputs"].as_array().unwrap().len(), 2);
    project.expect(&sh("output get --plan REQ-1 --agent nobody"), 3);
    project.expect(&sh("output put x --plan REQ-1 --agent ../x"), 4);
    project.expect(
        &[
            "output", "put", "x", "--plan", "REQ-1", "--agent", "x", "--meta", "y",
        ],
        2,
    );
    let empty = project.input(&put, b"");
    assert_eq!(empty.code, 2, "{empty:?}");
}

#[test]
fn stage_plan_name_works_everywhere() {
    let project = Project::new();
    project.ok(&sh(
        "output put 'the zeppelin is green' --plan wip/REQ-9 --agent coder",
    ));
    project.ok(&sh("output put 'no bubbles' --plan REQ-9 --agent tester"));
    for plan in ["wip/REQ-9", "REQ-9", "other/REQ-9", " wip/REQ-9/ "] {
        let found = project.json(&["output", "get", "--plan", plan, "--agent", "coder"]);
        assert_eq!(found["content"], "the zeppelin is green", "{plan}");
        assert_eq!(
            (&found["plan"], &found["stage"]),
            (&json!("REQ-9"), &json!("wip"))
        );
        let listed = project.json(&["output", "list", "--plan", plan]);
        assert_eq!(listed["outputs"].as_array().unwrap().len(), 2, "{plan}");
        let context = project.json(&["context", "--plan", plan, "--agent", "tester"]);
        let text = string(&context["text"]);
        assert!(
            text.contains("[coder]: the zeppelin is green"),
            "{plan}: {text}"
        );
        assert!(text.contains("no bubbles"), "{plan}: {text}");
        let tail = project.ok(&["context", "coder[tail:1]", "--plan", plan]);
        assert!(tail.stdout.contains("the zeppelin is green"), "{plan}");
    }
    // A second output of the same plan replaces the first, however the plan is named.
    project.ok(&sh(
        "output put 'it is red' --plan REQ-9 --stage wip --agent coder",
    ));
    assert_eq!(project.list("output").len(), 2);
    project.expect(
        &sh("output put x --plan wip/REQ-9 --stage done --agent coder"),
        2,
    );
    project.expect(&sh("output put x --plan ../REQ-9 --agent coder"), 4);
    project.expect(&sh("output put x --plan /REQ-9 --agent coder"), 4);
    project.ok(&sh("remember 'hangar doors open at noon' --plan wip/REQ-9"));
    for plan in ["wip/REQ-9", "REQ-9"] {
        let hits = project.json(&["recall", &format!("hangar plan:{plan}")]);
        assert_eq!(hits["hits"][0]["scope"]["plan"], "REQ-9", "{plan}");
    }
    project.ok(&["export", "--format", "radium"]);
    let file = project.file("radium/wip/REQ-9/memory/coder.json");
    let written: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(written["content"], "it is red");
    // A folder that an earlier version wrote for the whole name is the same plan.
    let encoded = "radium/unstaged/old%2FREQ-10/memory/coder.json";
    let output = r#"{"agent_id":"coder","content":"done","timestamp":1777000000}"#;
    project.folder.write(encoded, output).unwrap();
    project.ok(&["import", "radium"]);
    let found = project.json(&sh("output get --plan old/REQ-10 --agent coder"));
    assert_eq!(
        (&found["plan"], &found["stage"]),
        (&json!("REQ-10"), &json!("old"))
    );
}

#[test]
fn radium_files_are_imported_after_a_dry_run_and_exported() {
    let project = Project::new();
    let output = r#"{"agent_id":"coder","content":"done","timestamp":1777000000,"metadata":{}}"#;
    let file = "radium/wip/REQ-7/memory/coder.json";
    let file = project.folder.write(file, output).unwrap();
    let session = ".radium/_internals/sessions/s1/history.json";
    project.folder.write(session, HISTORY).unwrap();
    let dry = project.json(&["import", "radium", "--dry-run"]);
    assert_eq!((&dry["created"], &dry["import"]), (&json!(4), &Value::Null));
    assert_eq!(project.list("output").len(), 0);
    let report = project.json(&["import", "radium"]);
    assert_eq!(report["created"], 4, "{report}");
    assert_eq!(project.json(&["import", "radium"])["known"], 4);
    let found = project.json(&sh("output get --plan REQ-7 --agent coder"));
    assert_eq!(
        (&found["timestamp"], &found["stage"]),
        (&json!(1_777_000_000), &json!("wip"))
    );
    let hits = project.json(&["session", "search", "zeppelin"]);
    assert_eq!(hits["hits"][0]["session"], "s1");
    let summary = project.ok(&["session", "summary", "s1"]).stdout;
    assert_eq!(summary, "- paint the zeppelin → it is green\n");
    let out: Value = project.ok(&["session", "export", "s1"]).json();
    assert_eq!(out, serde_json::from_str::<Value>(HISTORY).unwrap());
    fs::remove_file(&file).unwrap();
    project.ok(&["export", "--format", "radium"]);
    let again: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(again, serde_json::from_str::<Value>(output).unwrap());
    project.ok(&["undo", &string(&report["import"])]);
    assert_eq!(project.list("output").len(), 0);
    project.expect(&["session", "show", "s1"], 3);
}

#[test]
fn history_file_is_imported_and_invalid_one_reported() {
    let project = Project::new();
    project.folder.write("history.json", HISTORY).unwrap();
    project.ok(&sh("import history history.json --session mine"));
    assert_eq!(
        project.json(&["session", "show", "mine"])["messages"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    project.folder.write("half.json", &HISTORY[..40]).unwrap();
    let half = project.json(&sh("import history half.json --session half"));
    assert_eq!(half["created"], 0);
    assert!(string(&half["diagnostics"][0]["message"]).contains("it is not JSON"));
    project.expect(&["import", "history", "nothing.json"], 3);
    project.expect(&["import", "history"], 3);
    project.expect(&["import", "jsonl", "history.json", "--dry-run"], 2);
    let large = project.folder.write("large.json", "").unwrap();
    let large = File::options().write(true).open(large).unwrap();
    large.set_len(HISTORY_FILE_BYTES_MAX + 1).unwrap();
    project.expect(&sh("import history large.json --session large"), 2);
    large.set_len(HISTORY_FILE_BYTES_MAX).unwrap();
    project.ok(&sh("import history large.json --session large"));
}

#[test]
fn live_history_setting_over_its_bound_is_refused() {
    let project = Project::new();
    let set = |n: usize| format!("memory.conversation_history_live={n}");
    project.ok(&["status", "--set", &set(HISTORY_LIVE_MAX)]);
    project.expect(&["status", "--set", &set(HISTORY_LIVE_MAX + 1)], 2);
    project.ok(&sh(
        "status --set memory.conversation_history_token_budget=0",
    ));
}

#[test]
fn plans_root_outside_the_project_is_refused() {
    let project = Project::new();
    project.ok(&sh("output put x --plan REQ-1 --agent a"));
    let export = ["export", "--format", "radium", "--set"];
    for root in [
        "plans.root=../elsewhere",
        "plans.root=.git",
        "plans.root=/tmp",
    ] {
        project.expect(&[&export[..], &[root]].concat(), 4);
    }
    let outside = TempProject::plain().unwrap();
    std::os::unix::fs::symlink(outside.path(), project.file("radium")).unwrap();
    project.expect(&["export", "--format", "radium"], 4);
    std::os::unix::fs::symlink(outside.path(), project.file(".radium")).unwrap();
    project.expect(&["import", "history"], 4);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    project.ok(&[&export[..], &["plans.root=docs/plans"]].concat());
    assert!(
        project
            .file("docs/plans/unstaged/REQ-1/memory/a.json")
            .is_file()
    );
}

#[test]
fn file_and_store_adapters_return_the_same_results() {
    let folder = TempProject::plain().unwrap();
    let place = ProjectPaths {
        root: folder.path().to_owned(),
        folder: folder.path().join(".heirloom"),
        config: folder.path().join(".heirloom/config.toml"),
    };
    let store = Arc::new(SqliteStore::memory().unwrap());
    let name = ProjectName::new("p").unwrap();
    let engine = Engine::new(
        store,
        name,
        place,
        Settings::default(),
        Arc::new(SystemClock),
    );
    let engine = Arc::new(engine.unwrap());
    let files = engine.outputs().output_files("wip", "REQ-1").unwrap();
    let stored = StoredOutputs::new(engine, Some("wip".to_owned()), "REQ-1".to_owned());
    let adapters: [Box<dyn PlanMemory>; 2] = [Box::new(files), Box::new(stored)];
    for adapter in adapters {
        let metadata = Attrs::from_iter([("k".to_owned(), json!(1))]);
        assert_eq!(poll_ready(adapter.get("coder")), Ok(None));
        poll_ready(adapter.store("coder", "one", &Attrs::new())).unwrap();
        poll_ready(adapter.store("a/b", &"x".repeat(3_000), &metadata)).unwrap();
        poll_ready(adapter.store("coder", "two\n", &metadata)).unwrap();
        let found = poll_ready(adapter.get("coder")).unwrap().unwrap();
        assert_eq!(
            (found.content.as_str(), &found.metadata),
            ("two", &metadata)
        );
        assert_eq!(
            poll_ready(adapter.get("a/b"))
                .unwrap()
                .unwrap()
                .content
                .len(),
            2_000
        );
        assert_eq!(poll_ready(adapter.list_agents()).unwrap(), ["a/b", "coder"]);
        let refused = poll_ready(adapter.store("../x", "x", &metadata)).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Refused);
    }
}

#[test]
fn run_keeps_the_output_of_its_agent_in_the_plan() {
    let project = Project::new();
    let run = |agent: &str, words: &str| {
        let mut args = sh("run --iterations 1 --plan now/REQ-6 --invocation");
        args.extend([agent, "--", "echo", words]);
        project.ok(&args);
    };
    run("planner", "first the schema");
    run("coder", "the schema is written");
    run("coder", "the tests pass");
    let get = |agent: &str| {
        let found = project.json(&["output", "get", "--plan", "REQ-6", "--agent", agent]);
        found["content"].as_str().unwrap().to_owned()
    };
    assert_eq!(get("planner"), "first the schema");
    assert_eq!(get("coder"), "the tests pass");
    let context = project.ok(&sh("context reviewer --plan now/REQ-6")).stdout;
    assert!(context.contains("[coder]: the tests pass"), "{context}");
    assert_eq!(project.ok(&sh("run --iterations 1 -- echo x")).code, 0);
    let listed = project.json(&sh("output list"));
    assert_eq!(listed["outputs"].as_array().unwrap().len(), 2, "{listed}");
}

#[test]
fn context_names_an_unknown_plan() {
    let project = Project::new();
    project.ok(&sh("output put 'tests pass' --plan REQ-1 --agent tester"));
    let unknown = project.ok(&sh("context coder --plan REQ-11"));
    assert!(unknown.stderr.contains("`REQ-11`"), "{unknown:?}");
    assert!(unknown.stderr.contains("REQ-1"), "{unknown:?}");
    let known = project.ok(&sh("context coder --plan REQ-1"));
    assert!(!known.stderr.contains("nothing is stored"), "{known:?}");
}

#[test]
fn unknown_project_of_the_command_line_is_named_with_the_known_ones() {
    let project = Project::new();
    project.remember("here", &["--project", "shop"]);
    let misspelt = project.ok(&sh("list --project shpo"));
    assert!(
        misspelt.stderr.contains("no project `shpo`"),
        "{misspelt:?}"
    );
    assert!(misspelt.stderr.contains("it has shop"), "{misspelt:?}");
    let known = project.ok(&sh("list --project shop"));
    assert!(!known.stderr.contains("no project"), "{known:?}");
}
