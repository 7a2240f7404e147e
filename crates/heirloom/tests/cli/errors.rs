//! `error`: open, counted, resolved, opened again.

use crate::project::{Project, string};

#[test]
fn the_same_error_is_counted_not_doubled() {
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
fn the_same_text_in_another_task_or_phase_is_another_error() {
    let project = Project::new();
    for scope in [
        &[][..],
        &["--task", "1"],
        &["--task", "2"],
        &["--task", "1", "--phase", "P"],
    ] {
        let said = project.json(&[&["error", "log", "it broke"], scope].concat());
        assert_eq!(said["outcome"], "created", "{scope:?}");
    }
    assert_eq!(project.list("error").len(), 4);
}

#[test]
fn an_error_is_resolved_by_its_id_or_the_beginning_of_it() {
    let project = Project::new();
    for cut in [36, 30] {
        let id = string(&project.json(&["error", "log", &format!("broken {cut}x")])["id"]);
        let said = project.json(&["error", "resolve", &id[..cut], "--with", "mended"]);
        assert_eq!(said["outcome"], "resolved");
        let record = project.json(&["show", &string(&said["id"])]);
        assert_eq!(record["state"], "resolved");
        assert_eq!(record["resolution"], "mended");
    }
}

#[test]
fn an_error_is_resolved_by_a_text_that_it_contains() {
    let project = Project::new();
    project.ok(&["error", "log", "TestTokenExpiry: got nil", "--task", "1"]);
    project.ok(&["error", "log", "cannot connect", "--task", "1"]);
    project.ok(&[
        "error",
        "resolve",
        "tokenexpiry",
        "--with",
        "use a fixed clock",
    ]);
    let open: Vec<_> = project
        .list("error")
        .into_iter()
        .filter(|e| e["state"] == "open")
        .collect();
    assert_eq!(open.len(), 1);
    assert_eq!(open[0]["text"], "cannot connect");
}

#[test]
fn a_text_that_several_contain_names_them_and_ends_with_2() {
    let project = Project::new();
    let mut ids = Vec::new();
    for text in ["cannot open a.rs", "cannot open b.rs"] {
        ids.push(string(&project.json(&["error", "log", text])["id"]));
    }
    let said = project.expect(&["error", "resolve", "cannot open", "--with", "x"], 2);
    for id in &ids {
        assert!(said.stderr.contains(id.as_str()), "{said:?}");
    }
    assert!(said.stderr.contains("cannot open b.rs"), "{said:?}");
    assert!(project.list("error").iter().all(|e| e["state"] == "open"));
}

#[test]
fn the_whole_text_of_one_error_means_that_one() {
    let project = Project::new();
    project.ok(&["error", "log", "cannot open"]);
    project.ok(&["error", "log", "cannot open the door"]);
    project.ok(&["error", "resolve", "Cannot open.", "--with", "x"]);
    let open: Vec<_> = project
        .list("error")
        .into_iter()
        .filter(|e| e["state"] == "open")
        .collect();
    assert_eq!(open[0]["text"], "cannot open the door");
}

#[test]
fn what_matches_nothing_is_not_found() {
    let project = Project::new();
    project.ok(&["error", "log", "cannot open"]);
    let said = project.expect(
        &["error", "resolve", "no such thing", "--with", "x", "--json"],
        3,
    );
    assert_eq!(said.error()["kind"], "not_found");
    let fact = project.remember("a fact", &[]);
    project.expect(&["error", "resolve", &fact, "--with", "x"], 3);
    project.ok(&["error", "resolve", "cannot open", "--with", "x"]);
    project.expect(&["error", "resolve", "cannot open", "--with", "x"], 3);
}

#[test]
fn a_resolution_is_needed() {
    let project = Project::new();
    project.ok(&["error", "log", "cannot open"]);
    project.expect(&["error", "resolve", "cannot open"], 2);
    project.expect(&["error", "resolve", "cannot open", "--with", " "], 2);
    project.expect(&["error", "log", ""], 2);
    // An empty text is contained in every error.
    project.expect(&["error", "resolve", "", "--with", "x"], 2);
    assert_eq!(project.list("error")[0]["state"], "open");
}

#[test]
fn an_error_that_comes_back_tells_how_it_was_resolved() {
    let project = Project::new();
    project.ok(&["error", "log", "panic at line 3", "--task", "1"]);
    project.ok(&["error", "resolve", "panic", "--with", "delete the cache"]);
    let said = project.json(&["error", "log", "panic at line 4", "--task", "1"]);
    assert_eq!(said["resolved_before"]["resolution"], "delete the cache");
    assert_eq!(said["outcome"], "replaced");
    let errors = project.list("error");
    assert_eq!(errors.len(), 1);
    assert_eq!(
        (&errors[0]["state"], &errors[0]["repeats"]),
        (&"open".into(), &1.into())
    );
    project.ok(&["error", "resolve", "panic", "--with", "delete it again"]);
    let text = project
        .ok(&["error", "log", "panic at line 5", "--task", "1"])
        .stdout;
    assert!(text.contains("resolved before: delete it again"), "{text}");
}

#[test]
fn a_resolution_can_be_undone() {
    let project = Project::new();
    project.ok(&["error", "log", "cannot open"]);
    let id = string(&project.json(&["error", "resolve", "cannot", "--with", "x"])["id"]);
    project.ok(&["undo", &id]);
    let errors = project.list("error");
    assert_eq!((errors.len(), &errors[0]["state"]), (1, &"open".into()));
}

#[test]
fn the_same_error_elsewhere_tells_how_it_was_resolved() {
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
    let said = log(
        "\u{1b}[31mCannot open 'lib/b.rs'\u{1b}[0m: no such file (line 12)",
        "2",
    );
    assert_eq!(
        said.get("resolved_before"),
        None,
        "a word more is another error"
    );
    let said = log(
        "\u{1b}[31mCannot open\u{1b}[0m 'lib/b.rs': No such file",
        "2",
    );
    assert_eq!(said["outcome"], "created");
    assert_eq!(said["resolved_before"]["resolution"], "made the folder");
    assert_eq!(said["resolved_before"]["id"], resolved["id"]);
    assert_eq!(
        log("cannot close src/a.rs: no such file", "2").get("resolved_before"),
        None
    );
}
