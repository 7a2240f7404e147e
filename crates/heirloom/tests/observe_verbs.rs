//! `heirloom observe`: effect of each verb, and diagnostics for refused ones.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

#[expect(dead_code, reason = "each test file uses a part of the driver")]
#[path = "support/driver.rs"]
mod driver;

use driver::ProjectFixture;
use heirloom_testkit::sh;
use serde_json::Value;

/// Observes lines as `agent` at task T; returns the outcomes `VERB outcome`, then `! LINE message`.
fn observe(fixture: &ProjectFixture, agent: &str, lines: &[&str]) -> Vec<String> {
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
    let findings = fixture.feed(&args, text.as_bytes()).expect(0).json();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let signals = findings["signals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {}", word(&one["verb"]), word(&one["outcome"])));
    let diagnostics = findings["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("! {} {}", one["line"], word(&one["message"])));
    signals.chain(diagnostics).collect()
}

#[test]
fn knowledge_verbs_create_then_confirm() {
    let fixture = ProjectFixture::plain();
    assert_eq!(
        observe(
            &fixture,
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
    let known = fixture.records("knowledge");
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
        observe(&fixture, "a", &["KEY_FACT  X. "]),
        ["KEY_FACT confirmed"]
    );
    assert_eq!(fixture.records("knowledge").len(), 5);
    assert_eq!(
        fixture
            .records("knowledge")
            .iter()
            .find(|one| one["text"] == "x")
            .unwrap()["confirmations"],
        1
    );
    assert_eq!(
        observe(&fixture, "a", &["CONVENTION tests = beside the code"]),
        ["CONVENTION replaced"]
    );
}

#[test]
fn observe_exact_duplicates_count_once() {
    let fixture = ProjectFixture::plain();
    assert_eq!(
        observe(
            &fixture,
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
    let facts = fixture.records("knowledge");
    assert_eq!(facts[0]["confirmations"], Value::Null);
    assert_eq!(fixture.records("error")[0]["repeats"], Value::Null);
}

#[test]
fn step_done_completes_pending_step() {
    let fixture = ProjectFixture::plain();
    let state = || -> Vec<String> {
        fixture
            .records("step")
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
        &fixture,
        "a",
        &["STEP_PENDING Run the full suite.", "STEP_PENDING Create PR"],
    );
    observe(
        &fixture,
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
    // A completed step stays completed.
    observe(&fixture, "a", &["STEP_PENDING run the full suite"]);
    assert_eq!(
        state()
            .iter()
            .filter(|one| one.ends_with("pending"))
            .count(),
        1,
        "{:?}",
        state()
    );
    let task = fixture
        .call(&["task", "show", "T", "--json"])
        .expect(0)
        .json();
    assert_eq!(task["pending_steps"].as_array().unwrap().len(), 1, "{task}");
    assert_eq!(
        task["completed_steps"].as_array().unwrap().len(),
        1,
        "{task}"
    );
}

#[test]
fn file_modified_outside_project_is_refused() {
    let fixture = ProjectFixture::plain();
    let inside = format!("FILE_MODIFIED {}/src/b.rs", fixture.root().display());
    let findings = observe(
        &fixture,
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
        findings[..8]
            .iter()
            .map(|one| one.split(' ').nth(1).unwrap())
            .collect::<Vec<_>>(),
        [
            "created", "created", "created", "refused", "refused", "refused", "refused", "refused"
        ]
    );
    let lines: Vec<_> = findings[8..]
        .iter()
        .map(|one| one.split(' ').nth(1).unwrap())
        .collect();
    assert_eq!(lines, ["4", "5", "6", "7", "8"], "{findings:?}");
    assert!(findings[8].contains("outside the project"), "{findings:?}");
    assert_eq!(
        fixture.texts("artifact"),
        ["src/a.rs", "src/b.rs", "src/c.rs"]
    );
    assert!(
        fixture
            .records("artifact")
            .iter()
            .all(|one| one["type"] == "file" && one["task"] == "T")
    );
}

#[test]
fn error_verbs_open_count_and_resolve() {
    let fixture = ProjectFixture::plain();
    assert_eq!(
        observe(
            &fixture,
            "a",
            &["ERROR TestExpiry: expected ErrExpired at x.go:12"]
        ),
        ["ERROR created"]
    );
    let again = observe(
        &fixture,
        "a",
        &["ERROR TestExpiry: expected ErrExpired at x.go:99"],
    );
    assert_eq!(
        (again.len(), fixture.records("error").len()),
        (1, 1),
        "{again:?}"
    );
    assert_eq!(fixture.records("error")[0]["repeats"], 1);
    observe(&fixture, "a", &["ERROR network down"]);
    // Resolved by a part of its text, with and without a resolution.
    let findings = observe(
        &fixture,
        "a",
        &[
            "ERROR_RESOLVED TestExpiry -- mocked the clock",
            "ERROR_RESOLVED nothing like it",
        ],
    );
    assert_eq!(findings[1], "ERROR_RESOLVED refused");
    assert!(
        findings[2].starts_with("! 2 ") && findings[2].contains("no open error"),
        "{findings:?}"
    );
    observe(&fixture, "a", &["ERROR_RESOLVED network down"]);
    let errors = fixture.records("error");
    let resolutions: Vec<_> = errors
        .iter()
        .map(|one| one["resolution"].as_str().unwrap_or("open"))
        .collect();
    assert!(
        resolutions.contains(&"mocked the clock")
            && resolutions.contains(&"resolved in iteration 2"),
        "{resolutions:?}"
    );
    // An ambiguous text resolves neither error, and is reported.
    observe(
        &fixture,
        "a",
        &["ERROR disk is full on alpha", "ERROR disk is full on beta"],
    );
    let findings = observe(&fixture, "a", &["ERROR_RESOLVED disk is full"]);
    assert!(findings[1].contains("2 open errors"), "{findings:?}");
    // Opened and resolved in one output.
    assert_eq!(
        observe(
            &fixture,
            "a",
            &["ERROR quick one", "ERROR_RESOLVED quick one"]
        )
        .len(),
        2
    );
    let open = fixture
        .records("error")
        .iter()
        .filter(|one| one["state"] == "open")
        .count();
    assert_eq!(open, 2);
}

#[test]
fn error_resolved_leaves_other_phase_open() {
    let fixture = ProjectFixture::plain();
    for phase in ["P", "Q"] {
        fixture
            .feed(
                &["observe", "--task", "T", "--phase", phase],
                b"HEIRLOOM_MEMORY: ERROR boom\n",
            )
            .expect(0);
    }
    assert_eq!(observe(&fixture, "a", &["ERROR_RESOLVED boom"]).len(), 1);
    let open: Vec<_> = fixture
        .records("error")
        .into_iter()
        .filter(|one| one["state"] == "open")
        .collect();
    assert_eq!((open.len(), &open[0]["phase"]), (1, &"Q".into()));
}

#[test]
fn blocked_and_unblocked_change_the_task() {
    let fixture = ProjectFixture::plain();
    let reason = || {
        fixture
            .call(&["task", "show", "T", "--json"])
            .expect(0)
            .json()["blocked_reason"]
            .clone()
    };
    observe(&fixture, "a", &["BLOCKED no API key"]);
    assert_eq!(reason(), "no API key");
    assert!(
        fixture
            .call(&["context", "--task", "T"])
            .expect(0)
            .text()
            .contains("no API key")
    );
    observe(&fixture, "a", &["UNBLOCKED"]);
    assert_ne!(reason(), "no API key");
    assert!(
        !fixture
            .call(&["context", "--task", "T"])
            .expect(0)
            .text()
            .contains("no API key")
    );
}

#[test]
fn forget_of_foreign_record_is_refused() {
    let fixture = ProjectFixture::plain();
    observe(&fixture, "alice", &["KEY_FACT of alice"]);
    fixture.call(&["remember", "of the user"]).expect(0);
    let id = |text: &str| {
        fixture
            .records("knowledge")
            .iter()
            .find(|one| one["text"] == text)
            .unwrap()["id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (of_alice, of_user) = (id("of alice"), id("of the user"));
    let findings = observe(
        &fixture,
        "bob",
        &[
            &format!("FORGET {of_alice}"),
            &format!("FORGET {of_user}"),
            "FORGET 00000000-0000-7000-8000-000000000000",
            "FORGET everything",
        ],
    );
    assert!(
        findings[..4].iter().all(|one| one == "FORGET refused"),
        "{findings:?}"
    );
    assert!(
        findings[4].contains("alice") && findings[5].contains("user"),
        "{findings:?}"
    );
    assert_eq!(fixture.texts("knowledge").len(), 2);
    let findings = observe(
        &fixture,
        "alice",
        &[
            &format!("FORGET {of_alice}"),
            &format!("FORGET {of_alice} "),
        ],
    );
    assert_eq!(findings[0], "FORGET retired");
    assert_eq!(fixture.texts("knowledge"), ["of the user"]);
    fixture.call(&["undo", &of_alice]).expect(0);
    assert_eq!(fixture.texts("knowledge").len(), 2);
}

#[test]
fn note_verbs_create_notes_with_category() {
    let fixture = ProjectFixture::plain();
    let findings = observe(
        &fixture,
        "a",
        &[
            "EVAL_FEEDBACK tighten the loop",
            "PHASE_RESULT planned",
            "FEEDBACK_RESPONSE did so",
        ],
    );
    assert_eq!(
        findings,
        [
            "EVAL_FEEDBACK created",
            "PHASE_RESULT created",
            "FEEDBACK_RESPONSE created"
        ]
    );
    let categories: Vec<_> = fixture
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
fn invalid_signals_are_reported_with_line() {
    let fixture = ProjectFixture::plain();
    let long = format!("KEY_FACT {}", "x".repeat(17 << 10));
    let findings = observe(
        &fixture,
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
    let signals: Vec<_> = findings
        .iter()
        .filter(|one| !one.starts_with('!'))
        .collect();
    assert!(
        signals.contains(&&"KEY_FACT created".to_owned()),
        "{findings:?}"
    );
    let lines: Vec<u64> = findings
        .iter()
        .filter(|one| one.starts_with('!'))
        .map(|one| one.split(' ').nth(1).unwrap().parse().unwrap())
        .collect();
    for line in [1, 2, 3, 4, 5, 6, 7, 8] {
        assert!(lines.contains(&line), "line {line}: {findings:?}");
    }
    let known = fixture.texts("knowledge");
    assert!(
        known.contains(&"good".to_owned()) && known.iter().all(|text| text.len() < 100),
        "{known:?}"
    );
    let about = findings.iter().find(|one| one.starts_with("! 1 ")).unwrap();
    assert!(about.contains("NONSENSE"), "{about}");
}

#[test]
fn observe_dry_run_stores_nothing() {
    let fixture = ProjectFixture::plain();
    let text = b"HEIRLOOM_MEMORY: KEY_FACT x\nHEIRLOOM_MEMORY: BLOCKED y\nHEIRLOOM_STATUS: FAILED\nHEIRLOOM_MEMORY: ODD z\n";
    let findings = fixture
        .feed(&sh("observe --dry-run --json --task T"), text)
        .expect(0)
        .json();
    let outcomes: Vec<_> = findings["signals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["dry-run", "dry-run", "status"]);
    assert_eq!(findings["diagnostics"].as_array().unwrap().len(), 1);
    let table = fixture.feed(&["observe", "--dry-run"], text).expect(0);
    assert!(
        table.text().contains("line 1") && table.text().contains("KEY_FACT"),
        "{}",
        table.text()
    );
    assert!(table.stderr.contains("line 4"), "{}", table.stderr);
    let status = fixture.call(&["status", "--json"]).expect(0).json();
    assert_eq!(status["counts"], serde_json::json!({}));
    // A dry run also works with memory disabled, where storing is refused.
    let off = ["--set", "memory.enabled=false"];
    fixture
        .feed(&[&["observe", "--dry-run"], &off[..]].concat(), text)
        .expect(0);
    let refused = fixture
        .feed(&[&["observe"], &off[..]].concat(), text)
        .expect(4);
    assert!(refused.stderr.contains("hint"), "{}", refused.stderr);
}

#[test]
fn steps_without_task_belong_to_main() {
    let fixture = ProjectFixture::plain();
    fixture
        .feed(
            &["observe"],
            b"HEIRLOOM_MEMORY: STEP_PENDING x\nHEIRLOOM_MEMORY: KEY_FACT y\n",
        )
        .expect(0);
    assert_eq!(fixture.records("step")[0]["task"], "main");
    assert_eq!(fixture.records("knowledge")[0]["task"], Value::Null);
    assert!(
        fixture
            .call(&["context", "--task", "main"])
            .expect(0)
            .text()
            .contains("Pending: x")
    );
}

#[test]
fn signal_prefixes_are_configurable() {
    let fixture = ProjectFixture::plain();
    let set = ["--set", "signals.prefixes=[\"ACME_NOTE\"]"];
    let text = b"ACME_NOTE: KEY_FACT mine\nHEIRLOOM_MEMORY: KEY_FACT theirs\n";
    fixture
        .feed(&[&["observe"], &set[..]].concat(), text)
        .expect(0);
    assert_eq!(fixture.texts("knowledge"), ["mine"]);
    let result = fixture
        .call(&[&["run", "--iterations", "1"], &set[..], &["--", "cat"]].concat())
        .expect(0);
    assert!(result.text().contains("`ACME_NOTE:`"), "{}", result.text());
}
