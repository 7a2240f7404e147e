//! Endings of iterations, and the open error that each one closes or leaves open: only evidence about the error itself
//! closes it.

#[path = "support/iteration_endings.rs"]
mod iteration_endings;

use heirloom_model::Kind;
use heirloom_model::kinds::ErrorRecord;
use heirloom_store::Filter;
use iteration_endings::{LINT, TASK, TaskMemory, play_endings, runs, says, scope_of};
use serde_json::json;

#[test]
fn errors_are_closed_only_by_evidence_in_sixty_endings() {
    let endings = play_endings();
    let wrong: Vec<String> = (endings.iter())
        .filter(|ending| ending.is_closed != ending.is_evidence)
        .map(|ending| format!("{}: {}", ending.name, ending.attributes))
        .collect();
    assert!(endings.len() >= 60);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn resolution_in_a_run_names_the_change() {
    let memory = TaskMemory::new();
    let text = memory.report(LINT);
    let edited = json!({"type": "tool_use", "id": "e", "name": "Edit", "input": {"file_path": "src/cart.rs"}});
    let edit = [
        json!({"type": "assistant", "message": {"id": "m", "content": [edited]}}),
        json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "e", "content": "ok"}]}}),
    ];
    let mut lines = runs("npm install left-pad", "", false);
    lines.extend(runs("make lint", "", false));
    memory.observe(&scope_of(TASK, 2), &lines);
    assert_eq!(
        memory.error(&text).attr_str("resolution"),
        Some("ran `npm install left-pad`, then it passed")
    );
    // Of two changes, it is not known which one helped.
    let memory = TaskMemory::new();
    let text = memory.report(LINT);
    lines.splice(0..0, edit);
    memory.observe(&scope_of(TASK, 2), &lines);
    assert_eq!(memory.error(&text).attr_str("resolution"), None);
    // Without a change it is no lesson.
    let memory = TaskMemory::new();
    let text = memory.report(LINT);
    memory.observe(&scope_of(TASK, 2), &runs("make lint", "", false));
    let error = memory.error(&text);
    assert_eq!(error.state(), Some(ErrorRecord::RESOLVED));
    assert_eq!(error.attr_str("resolution"), None);
    assert_eq!(
        error.attr_str(ErrorRecord::CLOSED_BY),
        Some(ErrorRecord::PASSED)
    );
}

#[test]
fn reported_error_is_closed_by_the_command_that_named_its_test() {
    let memory = TaskMemory::new();
    let text = "TestTokenExpiry: expected ErrExpired, got nil";
    let other = "TestRefresh: expected 1 call, got 2";
    let output = "--- FAIL: TestTokenExpiry (0.00s)\n    auth_test.go:12: expected ErrExpired, got nil\nFAIL";
    let mut lines = runs("go test ./auth/...", output, true);
    for error in [text, other] {
        lines.push(says(&format!("HEIRLOOM_MEMORY: ERROR {error}")));
    }
    memory.observe(&scope_of(TASK, 1), &lines);
    let passed = "ok  \tshop/auth\t0.01s";
    memory.observe(&scope_of(TASK, 2), &runs("go vet ./auth/...", "", false));
    assert_eq!(memory.error(text).state(), Some(ErrorRecord::OPEN));
    memory.observe(
        &scope_of(TASK, 3),
        &runs("go test ./auth/...", passed, false),
    );
    assert_eq!(memory.error(text).state(), Some(ErrorRecord::RESOLVED));
    assert_eq!(memory.error(other).state(), Some(ErrorRecord::OPEN));
}

#[test]
fn errors_of_different_tests_are_different_errors() {
    let memory = TaskMemory::new();
    let scope = scope_of(TASK, 1);
    for error in [
        "test_1 failed",
        "test_2 failed",
        "test-1 failed",
        "test-2 failed",
        "test 1 failed",
        "test 2 failed",
        "FAILED tests/test_a.py::test_x[1] - boom",
        "FAILED tests/test_a.py::test_x[2] - boom",
    ] {
        memory
            .engine
            .errors()
            .log(error, scope.clone(), "user")
            .unwrap();
    }
    let filter = Filter::current(&[Kind::Error], memory.engine.now());
    assert_eq!(memory.engine.records().find(&filter).unwrap().len(), 8);
    let again = memory.engine.errors();
    let again = again.log("TEST-1 failed.", scope, "user").unwrap();
    assert_eq!(again.applied.verdict.as_str(), "confirmed");
}
