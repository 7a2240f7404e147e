//! `heirloom observe`: what each verb does, and what is said when it cannot be done.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;

use driver::Desk;
use serde_json::Value;

/// Observes lines as `agent` at task T; what became of each: `VERB outcome`, then `! LINE message`.
fn observe(desk: &Desk, agent: &str, lines: &[&str]) -> Vec<String> {
    let args = [
        "observe",
        "--json",
        "--task",
        "T",
        "--phase",
        "P",
        "--iteration",
        "2",
        "--agent",
        agent,
    ];
    let text: String = lines
        .iter()
        .map(|line| format!("HEIRLOOM_MEMORY: {line}\n"))
        .collect();
    let said = desk.feed(&args, text.as_bytes()).expect(0).json();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let signals = said["signals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {}", word(&one["verb"]), word(&one["outcome"])));
    let diagnostics = said["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("! {} {}", one["line"], word(&one["message"])));
    signals.chain(diagnostics).collect()
}

#[test]
fn knowledge_is_created_then_confirmed() {
    let desk = Desk::plain();
    assert_eq!(
        observe(
            &desk,
            "a",
            &[
                "KEY_FACT x",
                "LEARNING y",
                "DECISION use z BECAUSE fast",
                "DECISION use w -- small",
                "CONVENTION tests = in tests/"
            ]
        ),
        [
            "KEY_FACT created",
            "LEARNING created",
            "DECISION created",
            "DECISION created",
            "CONVENTION created"
        ]
    );
    let known = desk.records("knowledge");
    let shown: Vec<_> = known
        .iter()
        .map(|one| {
            format!(
                "{}|{}|{}|{}",
                one["category"].as_str().unwrap(),
                one["text"].as_str().unwrap(),
                one["rationale"].as_str().unwrap_or(""),
                one["iteration"]
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "fact|x||2",
            "learning|y||2",
            "decision|use z|fast|2",
            "decision|use w|small|2",
            "convention|in tests/||2"
        ]
    );
    assert_eq!(known[4]["key"], "tests");
    assert_eq!(known[0]["source"], "a");
    assert_eq!(
        observe(&desk, "a", &["KEY_FACT  X. "]),
        ["KEY_FACT confirmed"]
    );
    assert_eq!(desk.records("knowledge").len(), 5);
    assert_eq!(
        desk.records("knowledge")
            .iter()
            .find(|one| one["text"] == "x")
            .unwrap()["confirmations"],
        1
    );
    assert_eq!(
        observe(&desk, "a", &["CONVENTION tests = beside the code"]),
        ["CONVENTION replaced"]
    );
}

#[test]
fn exact_duplicates_in_one_output_count_once() {
    let desk = Desk::plain();
    assert_eq!(
        observe(
            &desk,
            "a",
            &[
                "KEY_FACT x",
                "KEY_FACT x",
                "LEARNING x",
                "ERROR boom",
                "ERROR boom"
            ]
        ),
        [
            "KEY_FACT created",
            "KEY_FACT duplicate",
            "LEARNING created",
            "ERROR created",
            "ERROR duplicate"
        ]
    );
    let facts = desk.records("knowledge");
    assert_eq!(facts[0]["confirmations"], Value::Null);
    assert_eq!(desk.records("error")[0]["repeats"], Value::Null);
}

#[test]
fn steps_complete_each_other() {
    let desk = Desk::plain();
    let state = || -> Vec<String> {
        desk.records("step")
            .iter()
            .map(|one| {
                format!(
                    "{} {}",
                    one["text"].as_str().unwrap(),
                    one["state"].as_str().unwrap()
                )
            })
            .collect()
    };
    observe(
        &desk,
        "a",
        &["STEP_PENDING Run the full suite.", "STEP_PENDING Create PR"],
    );
    observe(
        &desk,
        "a",
        &["STEP_DONE  run the FULL suite", "STEP_PENDING Create PR"],
    );
    assert_eq!(state().len(), 2, "{:?}", state());
    assert!(
        state().iter().any(
            |one| one.to_lowercase().starts_with("run the full suite") && one.ends_with("done")
        ),
        "{:?}",
        state()
    );
    // Done stays done.
    observe(&desk, "a", &["STEP_PENDING run the full suite"]);
    assert_eq!(
        state()
            .iter()
            .filter(|one| one.ends_with("pending"))
            .count(),
        1,
        "{:?}",
        state()
    );
    let task = desk.call(&["task", "show", "T", "--json"]).expect(0).json();
    assert_eq!(task["pending_steps"].as_array().unwrap().len(), 1, "{task}");
    assert_eq!(
        task["completed_steps"].as_array().unwrap().len(),
        1,
        "{task}"
    );
}

#[test]
fn files_stay_inside_the_project() {
    let desk = Desk::plain();
    let inside = format!("FILE_MODIFIED {}/src/b.rs", desk.root().display());
    let said = observe(
        &desk,
        "a",
        &[
            "FILE_MODIFIED ./src/../src/a.rs",
            &inside,
            "FILE_MODIFIED `src/c.rs`",
            "FILE_MODIFIED ../outside",
            "FILE_MODIFIED /etc/passwd",
            "FILE_MODIFIED src/../../x",
            "FILE_MODIFIED ~/x",
            "FILE_MODIFIED .",
        ],
    );
    assert_eq!(
        said[..8]
            .iter()
            .map(|one| one.split(' ').nth(1).unwrap())
            .collect::<Vec<_>>(),
        [
            "created", "created", "created", "refused", "refused", "refused", "refused", "refused"
        ]
    );
    let lines: Vec<_> = said[8..]
        .iter()
        .map(|one| one.split(' ').nth(1).unwrap())
        .collect();
    assert_eq!(lines, ["4", "5", "6", "7", "8"], "{said:?}");
    assert!(said[8].contains("outside the project"), "{said:?}");
    assert_eq!(desk.texts("artifact"), ["src/a.rs", "src/b.rs", "src/c.rs"]);
    assert!(
        desk.records("artifact")
            .iter()
            .all(|one| one["type"] == "file" && one["task"] == "T")
    );
}

#[test]
fn errors_open_count_and_close() {
    let desk = Desk::plain();
    assert_eq!(
        observe(
            &desk,
            "a",
            &["ERROR TestExpiry: expected ErrExpired at x.go:12"]
        ),
        ["ERROR created"]
    );
    let again = observe(
        &desk,
        "a",
        &["ERROR TestExpiry: expected ErrExpired at x.go:99"],
    );
    assert_eq!(
        (again.len(), desk.records("error").len()),
        (1, 1),
        "{again:?}"
    );
    assert_eq!(desk.records("error")[0]["repeats"], 1);
    observe(&desk, "a", &["ERROR network down"]);
    // By a part of its words, with and without how.
    let said = observe(
        &desk,
        "a",
        &[
            "ERROR_RESOLVED TestExpiry -- mocked the clock",
            "ERROR_RESOLVED nothing like it",
        ],
    );
    assert_eq!(said[1], "ERROR_RESOLVED refused");
    assert!(
        said[2].starts_with("! 2 ") && said[2].contains("no open error"),
        "{said:?}"
    );
    observe(&desk, "a", &["ERROR_RESOLVED network down"]);
    let errors = desk.records("error");
    let how: Vec<_> = errors
        .iter()
        .map(|one| one["resolution"].as_str().unwrap_or("open"))
        .collect();
    assert!(
        how.contains(&"mocked the clock") && how.contains(&"resolved in iteration 2"),
        "{how:?}"
    );
    // Two that match: neither is closed, and it is said.
    observe(
        &desk,
        "a",
        &["ERROR disk is full on alpha", "ERROR disk is full on beta"],
    );
    let said = observe(&desk, "a", &["ERROR_RESOLVED disk is full"]);
    assert!(said[1].contains("2 open errors"), "{said:?}");
    // Opened and closed in one output.
    assert_eq!(
        observe(&desk, "a", &["ERROR quick one", "ERROR_RESOLVED quick one"]).len(),
        2
    );
    let open = desk
        .records("error")
        .iter()
        .filter(|one| one["state"] == "open")
        .count();
    assert_eq!(open, 2);
}

#[test]
fn the_same_error_of_another_phase_stays_open() {
    let desk = Desk::plain();
    for phase in ["P", "Q"] {
        desk.feed(
            &["observe", "--task", "T", "--phase", phase],
            b"HEIRLOOM_MEMORY: ERROR boom\n",
        )
        .expect(0);
    }
    assert_eq!(observe(&desk, "a", &["ERROR_RESOLVED boom"]).len(), 1);
    let open: Vec<_> = desk
        .records("error")
        .into_iter()
        .filter(|one| one["state"] == "open")
        .collect();
    assert_eq!((open.len(), &open[0]["phase"]), (1, &"Q".into()));
}

#[test]
fn blocked_and_unblocked() {
    let desk = Desk::plain();
    let reason =
        || desk.call(&["task", "show", "T", "--json"]).expect(0).json()["blocked_reason"].clone();
    observe(&desk, "a", &["BLOCKED no API key"]);
    assert_eq!(reason(), "no API key");
    assert!(
        desk.call(&["context", "--task", "T"])
            .expect(0)
            .text()
            .contains("no API key")
    );
    observe(&desk, "a", &["UNBLOCKED"]);
    assert_ne!(reason(), "no API key");
    assert!(
        !desk
            .call(&["context", "--task", "T"])
            .expect(0)
            .text()
            .contains("no API key")
    );
}

#[test]
fn only_an_agents_own_records_are_forgotten() {
    let desk = Desk::plain();
    observe(&desk, "alice", &["KEY_FACT of alice"]);
    desk.call(&["remember", "of the user"]).expect(0);
    let id = |text: &str| {
        desk.records("knowledge")
            .iter()
            .find(|one| one["text"] == text)
            .unwrap()["id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (hers, users) = (id("of alice"), id("of the user"));
    let said = observe(
        &desk,
        "bob",
        &[
            &format!("FORGET {hers}"),
            &format!("FORGET {users}"),
            "FORGET 00000000-0000-7000-8000-000000000000",
            "FORGET everything",
        ],
    );
    assert!(
        said[..4].iter().all(|one| one == "FORGET refused"),
        "{said:?}"
    );
    assert!(
        said[4].contains("alice") && said[5].contains("user"),
        "{said:?}"
    );
    assert_eq!(desk.texts("knowledge").len(), 2);
    let said = observe(
        &desk,
        "alice",
        &[&format!("FORGET {hers}"), &format!("FORGET {hers} ")],
    );
    assert_eq!(said[0], "FORGET retired");
    assert_eq!(desk.texts("knowledge"), ["of the user"]);
    desk.call(&["undo", &hers]).expect(0);
    assert_eq!(desk.texts("knowledge").len(), 2);
}

#[test]
fn notes_of_a_category() {
    let desk = Desk::plain();
    let said = observe(
        &desk,
        "a",
        &[
            "EVAL_FEEDBACK tighten the loop",
            "PHASE_RESULT planned",
            "FEEDBACK_RESPONSE did so",
        ],
    );
    assert_eq!(
        said,
        [
            "EVAL_FEEDBACK created",
            "PHASE_RESULT created",
            "FEEDBACK_RESPONSE created"
        ]
    );
    let categories: Vec<_> = desk
        .records("note")
        .iter()
        .map(|one| one["category"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        categories,
        ["EVAL_FEEDBACK", "PHASE_RESULT", "FEEDBACK_RESPONSE"]
    );
}

#[test]
fn what_cannot_be_read_is_said_with_its_line() {
    let desk = Desk::plain();
    let long = format!("KEY_FACT {}", "x".repeat(17 << 10));
    let said = observe(
        &desk,
        "a",
        &[
            "NONSENSE x",
            "KEY_FACT",
            "KEY_FACT   ",
            &long,
            "",
            "CONVENTION no equals sign",
            "CONVENTION = x",
            "STEP_DONE",
            "key_fact lower",
            "KEY_FACT good",
        ],
    );
    let signals: Vec<_> = said.iter().filter(|one| !one.starts_with('!')).collect();
    assert!(
        signals.contains(&&"KEY_FACT created".to_owned()),
        "{said:?}"
    );
    let lines: Vec<u64> = said
        .iter()
        .filter(|one| one.starts_with('!'))
        .map(|one| one.split(' ').nth(1).unwrap().parse().unwrap())
        .collect();
    for line in [1, 2, 3, 4, 5, 6, 7, 8] {
        assert!(lines.contains(&line), "line {line}: {said:?}");
    }
    let known = desk.texts("knowledge");
    assert!(
        known.contains(&"good".to_owned()) && known.iter().all(|text| text.len() < 100),
        "{known:?}"
    );
    let about = said.iter().find(|one| one.starts_with("! 1 ")).unwrap();
    assert!(about.contains("NONSENSE"), "{about}");
}

#[test]
fn a_dry_run_stores_nothing() {
    let desk = Desk::plain();
    let text = b"HEIRLOOM_MEMORY: KEY_FACT x\nHEIRLOOM_MEMORY: BLOCKED y\nHEIRLOOM_STATUS: FAILED\nHEIRLOOM_MEMORY: ODD z\n";
    let said = desk
        .feed(&["observe", "--dry-run", "--json", "--task", "T"], text)
        .expect(0)
        .json();
    let outcomes: Vec<_> = said["signals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["dry-run", "dry-run", "status"]);
    assert_eq!(said["diagnostics"].as_array().unwrap().len(), 1);
    let table = desk.feed(&["observe", "--dry-run"], text).expect(0);
    assert!(
        table.text().contains("line 1") && table.text().contains("KEY_FACT"),
        "{}",
        table.text()
    );
    assert!(table.stderr.contains("line 4"), "{}", table.stderr);
    let status = desk.call(&["status", "--json"]).expect(0).json();
    assert_eq!(status["counts"], serde_json::json!({}));
    // Also where memory is off; storing is refused there.
    let off = ["--set", "memory.enabled=false"];
    desk.feed(&[&["observe", "--dry-run"], &off[..]].concat(), text)
        .expect(0);
    let refused = desk
        .feed(&[&["observe"], &off[..]].concat(), text)
        .expect(4);
    assert!(refused.stderr.contains("hint"), "{}", refused.stderr);
}

#[test]
fn without_a_task_steps_belong_to_main() {
    let desk = Desk::plain();
    desk.feed(
        &["observe"],
        b"HEIRLOOM_MEMORY: STEP_PENDING x\nHEIRLOOM_MEMORY: KEY_FACT y\n",
    )
    .expect(0);
    assert_eq!(desk.records("step")[0]["task"], "main");
    assert_eq!(desk.records("knowledge")[0]["task"], Value::Null);
    assert!(
        desk.call(&["context", "--task", "main"])
            .expect(0)
            .text()
            .contains("Pending: x")
    );
}

#[test]
fn prefixes_are_configured() {
    let desk = Desk::plain();
    let set = ["--set", "signals.prefixes=[\"ACME_NOTE\"]"];
    let text = b"ACME_NOTE: KEY_FACT mine\nHEIRLOOM_MEMORY: KEY_FACT theirs\n";
    desk.feed(&[&["observe"], &set[..]].concat(), text)
        .expect(0);
    assert_eq!(desk.texts("knowledge"), ["mine"]);
    let ran = desk
        .call(&[&["run", "--iterations", "1"], &set[..], &["--", "cat"]].concat())
        .expect(0);
    assert!(ran.text().contains("`ACME_NOTE:`"), "{}", ran.text());
}
