//! The command `error`: counting, resolution, reopening.

use crate::project::{Project, string};
use heirloom_testkit::sh;

#[test]
fn repeated_error_is_counted_not_duplicated() {
    let project = Project::new();
    let log = |text| project.json(&["error", "log", text, "--task", "1", "--phase", "TEST"]);
    let first = log("thread 7 panicked at src/a.rs:12:5");
    assert_eq!(first["outcome"], "created");
    let again = log("Thread 9 panicked at src/a.rs:14:5.");
    assert_eq!(again["outcome"], "confirmed");
    assert_eq!(again["id"], first["id"]);
    assert_eq!(again.get("resolved_before"), None);
    let errors = project.list("error");
    assert_eq!(errors.len(), 1);
    assert_eq!(
        (&errors[0]["repeats"], &errors[0]["state"]),
        (&1.into(), &"open".into())
    );
    assert_eq!(
        log("thread 7 panicked at src/b.rs:12:5")["outcome"],
        "created"
    );
}

#[test]
fn same_error_text_in_another_task_or_phase_is_created() {
    let project = Project::new();
    for scope in [
        &[][..],
        &["--task", "1"],
        &["--task", "2"],
        &["--task", "1", "--phase", "P"],
    ] {
        let output = project.json(&[&["error", "log", "it broke"], scope].concat());
        assert_eq!(output["outcome"], "created", "{scope:?}");
    }
    assert_eq!(project.list("error").len(), 4);
}

#[test]
fn error_is_resolved_by_id_or_id_prefix() {
    let project = Project::new();
    for cut in [36, 30] {
        let id = string(&project.json(&["error", "log", &format!("broken {cut}x")])["id"]);
        let output = project.json(&["error", "resolve", &id[..cut], "--with", "mended"]);
        assert_eq!(output["outcome"], "resolved");
        let record = project.json(&["show", &string(&output["id"])]);
        assert_eq!(record["state"], "resolved");
        assert_eq!(record["resolution"], "mended");
    }
}

#[test]
fn error_is_resolved_by_contained_text() {
    let project = Project::new();
    project.ok(&sh("error log 'TestTokenExpiry: got nil' --task 1"));
    project.ok(&sh("error log 'cannot connect' --task 1"));
    project.ok(&sh("error resolve tokenexpiry --with 'use a fixed clock'"));
    let open: Vec<_> = project
        .list("error")
        .into_iter()
        .filter(|e| e["state"] == "open")
        .collect();
    assert_eq!(open.len(), 1);
    assert_eq!(open[0]["text"], "cannot connect");
}

#[test]
fn resolve_with_ambiguous_text_exits_2_and_lists_the_matches() {
    let project = Project::new();
    let mut ids = Vec::new();
    for text in ["cannot open a.rs", "cannot open b.rs"] {
        ids.push(string(&project.json(&["error", "log", text])["id"]));
    }
    let output = project.expect(&sh("error resolve 'cannot open' --with x"), 2);
    for id in &ids {
        assert!(output.stderr.contains(id.as_str()), "{output:?}");
    }
    assert!(output.stderr.contains("cannot open b.rs"), "{output:?}");
    assert!(project.list("error").iter().all(|e| e["state"] == "open"));
}

#[test]
fn resolve_with_a_whole_text_prefers_the_exact_match() {
    let project = Project::new();
    project.ok(&["error", "log", "cannot open"]);
    project.ok(&["error", "log", "cannot open the door"]);
    project.ok(&sh("error resolve 'Cannot open.' --with x"));
    let open: Vec<_> = project
        .list("error")
        .into_iter()
        .filter(|e| e["state"] == "open")
        .collect();
    assert_eq!(open[0]["text"], "cannot open the door");
}

#[test]
fn resolve_without_a_match_exits_3() {
    let project = Project::new();
    project.ok(&["error", "log", "cannot open"]);
    let output = project.expect(&sh("error resolve 'no such thing' --with x --json"), 3);
    assert_eq!(output.error()["kind"], "not_found");
    let fact = project.remember("a fact", &[]);
    project.expect(&["error", "resolve", &fact, "--with", "x"], 3);
    project.ok(&sh("error resolve 'cannot open' --with x"));
    project.expect(&sh("error resolve 'cannot open' --with x"), 3);
}

#[test]
fn resolve_with_empty_arguments_is_a_usage_error() {
    let project = Project::new();
    project.ok(&["error", "log", "cannot open"]);
    project.expect(&["error", "resolve", "cannot open"], 2);
    project.expect(&sh("error resolve 'cannot open' --with ' '"), 2);
    project.expect(&["error", "log", ""], 2);
    // Every error contains the empty text.
    project.expect(&sh("error resolve '' --with x"), 2);
    assert_eq!(project.list("error")[0]["state"], "open");
}

#[test]
fn recurring_error_is_reopened_with_its_earlier_resolution() {
    let project = Project::new();
    project.ok(&sh("error log 'panic at line 3' --task 1"));
    project.ok(&sh("error resolve panic --with 'delete the cache'"));
    let output = project.json(&sh("error log 'panic at line 4' --task 1"));
    assert_eq!(output["resolved_before"]["resolution"], "delete the cache");
    assert_eq!(output["outcome"], "replaced");
    let errors = project.list("error");
    assert_eq!(errors.len(), 1);
    assert_eq!(
        (&errors[0]["state"], &errors[0]["repeats"]),
        (&"open".into(), &1.into())
    );
    for (text, task) in [("panic at line 6", "1"), ("panic at line 7", "2")] {
        let again = project.json(&["error", "log", text, "--task", task]);
        assert_eq!(
            again["resolved_before"], output["resolved_before"],
            "{task}"
        );
    }
    let other = project
        .list("error")
        .into_iter()
        .find(|error| error["task"] == "2");
    project.ok(&["forget", &string(&other.unwrap()["id"])]);
    project.ok(&sh("error resolve panic --with 'delete it again'"));
    let text = project
        .ok(&sh("error log 'panic at line 5' --task 1"))
        .stdout;
    assert!(text.contains("resolved before: delete it again"), "{text}");
}

#[test]
fn undo_of_resolve_reopens_the_error() {
    let project = Project::new();
    project.ok(&["error", "log", "cannot open"]);
    let id = string(&project.json(&sh("error resolve cannot --with x"))["id"]);
    project.ok(&["undo", &id]);
    let errors = project.list("error");
    assert_eq!((errors.len(), &errors[0]["state"]), (1, &"open".into()));
}

#[test]
fn same_error_in_another_task_reports_the_earlier_resolution() {
    let project = Project::new();
    let log = |text: &str, task: &str| project.json(&["error", "log", text, "--task", task]);
    let first = log("cannot open src/a.rs: no such file", "1");
    let resolved = project.json(&[
        "error",
        "resolve",
        &string(&first["id"]),
        "--with",
        "made the folder",
    ]);
    let output = log(
        "\u{1b}[31mCannot open 'lib/b.rs'\u{1b}[0m: no such file (line 12)",
        "2",
    );
    assert_eq!(
        output.get("resolved_before"),
        None,
        "a word more is another error"
    );
    let output = log(
        "\u{1b}[31mCannot open\u{1b}[0m 'lib/b.rs': No such file",
        "2",
    );
    assert_eq!(output["outcome"], "created");
    assert_eq!(output["resolved_before"]["resolution"], "made the folder");
    assert_eq!(output["resolved_before"]["id"], resolved["id"]);
    assert_eq!(
        log("cannot close src/a.rs: no such file", "2").get("resolved_before"),
        None
    );
}

#[test]
fn errors_that_differ_in_a_test_number_are_separate() {
    let project = Project::new();
    for n in 1..=6 {
        project.ok(&[
            "error",
            "log",
            &format!("test_{n} failed: connection refused"),
            "--task",
            "7",
        ]);
    }
    assert_eq!(project.list("error").len(), 6);
    let output = project.ok(&sh(
        "error log 'TEST_3 failed: connection refused.' --task 7",
    ));
    assert!(output.stdout.contains("confirmed"), "{output:?}");
    project.ok(&sh(
        "error resolve 'test_3 failed: connection refused' --with 'started it'",
    ));
    let open = project.list("error");
    let open = open.iter().filter(|error| error["state"] == "open");
    assert_eq!(open.count(), 5);
}
