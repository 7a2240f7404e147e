//! Stored forms of this crate, compared with golden files: attributes of records, cases, and the spend ledger.

use crate::kinds::{
    Artifact, Episode, ErrorRecord, KindData, Knowledge, Note, Output, Step, StepState, Summary,
    Task, TaskState,
};
use crate::record::Attrs;
use crate::spend_meter::DailySpend;
use crate::{Case, CaseState, Kind, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;

fn at(time: &str) -> Option<Timestamp> {
    Some(time.parse().unwrap())
}

fn word(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn extra() -> Attrs {
    [("from_a_newer_version".to_owned(), json!(1))]
        .into_iter()
        .collect()
}

/// Checks that `value` is written as the golden file has it under `name`, and is read from there.
fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(
    golden: &Value,
    name: &str,
    value: &T,
) {
    assert_eq!(serde_json::to_value(value).unwrap(), golden[name], "{name}");
    let read: T = serde_json::from_value(golden[name].clone()).unwrap();
    assert_eq!(read, *value, "{name}");
}

#[test]
fn record_attributes_match_golden_file() {
    let golden: Value = serde_json::from_str(include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/stored_forms/record_attributes.json"
    )))
    .unwrap();
    let knowledge = Knowledge {
        category: "decision".to_owned(),
        rationale: word("it is slow"),
        confirmations: 2,
        confirmed_at: at("2026-05-01T10:00:00Z"),
        proposal: true,
        conflict: true,
        arbitrated: at("2026-05-02T10:00:00Z"),
        disputed: true,
        vouched_by: word("user"),
        extra: extra(),
    };
    let task = Task {
        task_type: word("issue"),
        title: word("Log in with a key"),
        branch: word("login"),
        pr_number: Some(7),
        blocked_reason: word("no key"),
        state: Some(TaskState::Done),
        extra: extra(),
    };
    let step = Step {
        state: StepState::Pending,
        extra: extra(),
    };
    let error = ErrorRecord {
        state: ErrorRecord::RESOLVED.to_owned(),
        resolution: word("another port"),
        repeats: 3,
        repeated_at: at("2026-05-03T10:00:00Z"),
        extra: extra(),
    };
    let episode = Episode {
        action: "completed".to_owned(),
        approach: word("test first"),
        outcome: word("all tests pass"),
        files: vec!["src/cart.rs".to_owned()],
        symbols: vec!["round_price".to_owned()],
        duration_ms: Some(1_500),
        tokens_in: Some(10),
        tokens_out: Some(20),
        extra: extra(),
    };
    let artifact = Artifact {
        artifact_type: "patch".to_owned(),
        path: "a.patch".to_owned(),
        description: word("the fix"),
        size_bytes: Some(99),
        checksum: word("00ff"),
        extra: extra(),
    };
    let output = Output {
        metadata: extra(),
        full: word("all of it"),
        left_out_bytes: 5,
        file: extra(),
        extra: extra(),
    };
    let note = Note {
        category: "PHASE_RESULT".to_owned(),
        extra: extra(),
    };
    let summary = Summary { extra: extra() };
    check(&golden, Knowledge::KIND.as_str(), &knowledge);
    check(&golden, Task::KIND.as_str(), &task);
    check(&golden, Step::KIND.as_str(), &step);
    check(&golden, ErrorRecord::KIND.as_str(), &error);
    check(&golden, Episode::KIND.as_str(), &episode);
    check(&golden, Artifact::KIND.as_str(), &artifact);
    check(&golden, Output::KIND.as_str(), &output);
    check(&golden, Note::KIND.as_str(), &note);
    check(&golden, Summary::KIND.as_str(), &summary);
    assert_eq!(golden.as_object().unwrap().len(), Kind::ALL.len());
}

#[test]
fn states_have_fixed_words() {
    let word = |value: Value| value.as_str().unwrap().to_owned();
    let of_task = |state: TaskState| word(serde_json::to_value(state).unwrap());
    assert_eq!(of_task(TaskState::Open), "open");
    assert_eq!(of_task(TaskState::Done), "done");
    assert_eq!(of_task(TaskState::Failed), "failed");
    let of_step = |state: StepState| word(serde_json::to_value(state).unwrap());
    assert_eq!(of_step(StepState::Pending), "pending");
    assert_eq!(of_step(StepState::Done), "done");
    let of_case = |state: CaseState| word(serde_json::to_value(state).unwrap());
    assert_eq!(of_case(CaseState::Done), "done");
    assert_eq!(of_case(CaseState::Failed), "failed");
    assert_eq!(of_case(CaseState::Unknown), "unknown");
}

#[test]
fn case_matches_golden_file() {
    let golden: Value = serde_json::from_str(include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/stored_forms/case.json"
    )))
    .unwrap();
    let case = Case {
        title: "Round the discounts".to_owned(),
        asked: "Round the discounts half up".to_owned(),
        did: "edited src/cart.rs".to_owned(),
        failed: "`cargo test` failed: left 1, right 2".to_owned(),
        result: "All tests pass.".to_owned(),
        files: vec!["src/cart.rs".to_owned()],
        symbols: vec!["round_price".to_owned()],
    };
    check(&golden, "case", &case);
}

#[test]
fn spend_ledger_matches_golden_file() {
    let golden: Value = serde_json::from_str(include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/stored_forms/spend_ledger.json"
    )))
    .unwrap();
    let spent = DailySpend {
        day: Some("2026-05-01".parse().unwrap()),
        calls: 4,
        failures: 1,
        input_tokens: 1_000,
        cached_tokens: 400,
        output_tokens: 200,
        cost_micros: 1_234,
    };
    check(&golden, "spent", &spent);
}
