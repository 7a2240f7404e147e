//! Stored forms that other processes and later versions read, compared with golden files.

use crate::working_memory::WorkingMemory;
use heirloom_formats::knowledge_graph::{Fact, GRAPH_ATTR, Relation};
use heirloom_formats::mirror::{
    self, MirrorDecision, MirrorErrorItem, MirrorFile, MirrorTask, PrNumber,
};
use heirloom_formats::workspace::{EntryLocation, TeamEntry, TeamFile, WorkspaceIndex};
use heirloom_model::record::Attrs;
use heirloom_model::{RecordId, Timestamp};
use serde_json::{Value, json};

fn at(time: &str) -> Timestamp {
    time.parse().unwrap()
}

fn extra(name: &str) -> Attrs {
    [(name.to_owned(), json!(1))].into_iter().collect()
}

#[test]
fn mirror_matches_golden_file() {
    const GOLDEN: &str = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/stored_forms/memory.json"
    ));
    let full = MirrorFile {
        session_id: "s1".to_owned(),
        repository: "host/owner/name".to_owned(),
        iteration: 3,
        tasks: [(
            "42".to_owned(),
            MirrorTask {
                id: "42".to_owned(),
                task_type: "issue".to_owned(),
                phase: "TESTING".to_owned(),
                branch: "login".to_owned(),
                pr_number: Some(PrNumber::Number(7)),
                completed_steps: vec!["write it".to_owned()],
                pending_steps: vec!["test it".to_owned()],
                blocked_reason: "no key".to_owned(),
                files_modified: vec!["src/login.rs".to_owned()],
                extra: extra("task_extra"),
            },
        )]
        .into(),
        decisions: vec![MirrorDecision {
            iteration: 1,
            task_id: "42".to_owned(),
            description: "use argon2".to_owned(),
            rationale: "it is slow".to_owned(),
            extra: extra("decision_extra"),
        }],
        errors: vec![MirrorErrorItem {
            iteration: 2,
            task_id: "42".to_owned(),
            phase: "TESTING".to_owned(),
            error: "the port is taken".to_owned(),
            resolution: "another port".to_owned(),
            resolved: true,
            extra: extra("error_extra"),
        }],
        key_facts: vec!["the port is 8080".to_owned()],
        last_checkpoint: "2026-05-01T10:00:00Z".to_owned(),
        extra: extra("file_extra"),
    };
    assert_eq!(mirror::parse(GOLDEN.as_bytes()).unwrap().file, full);
    assert_eq!(String::from_utf8(mirror::to_json(&full)).unwrap(), GOLDEN);
}

#[test]
fn graph_facts_match_golden_file() {
    const GOLDEN: &str = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/stored_forms/graph_facts.json"
    ));
    let word = str::to_owned;
    let facts = [
        Fact::Observation {
            entity: word("Ada"),
            entity_type: word("person"),
            observation: word("likes tea"),
        },
        Fact::Entity {
            entity: word("Bob"),
            entity_type: word("person"),
        },
        Fact::Relation(Relation {
            from: word("Ada"),
            to: word("Bob"),
            relation_type: word("knows"),
        }),
    ];
    let values: Vec<Value> = serde_json::from_str(GOLDEN).unwrap();
    let attrs = |value: Value| {
        [(GRAPH_ATTR.to_owned(), value)]
            .into_iter()
            .collect::<Attrs>()
    };
    let read: Vec<_> = values
        .iter()
        .map(|value| Fact::from_attrs(&attrs(value.clone())))
        .collect();
    assert_eq!(read, facts.clone().map(Some));
    assert_eq!(facts.map(|fact| fact.to_value()).to_vec(), values);
    assert_eq!(GRAPH_ATTR, "graph");
}

#[test]
fn workspace_index_matches_golden_file() {
    const GOLDEN: &str = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/stored_forms/workspace_index.txt"
    ));
    let index = WorkspaceIndex {
        store: 77,
        files: [("MEMORY.md".to_owned(), (1_777_000_000_000_000_000, 120, 9))].into(),
        places: [(
            "0011223344556677".to_owned(),
            EntryLocation {
                file: "MEMORY.md".to_owned(),
                line: 3,
            },
        )]
        .into(),
    };
    assert_eq!(WorkspaceIndex::parse(GOLDEN).unwrap(), index);
    assert_eq!(index.render(), GOLDEN);
}

#[test]
fn team_entry_matches_golden_file() {
    const GOLDEN: &str = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/stored_forms/team_page.md"
    ));
    let entry = TeamEntry {
        id: Some(RecordId::from_bytes([1; 16])),
        line: 3,
        text: "Use argon2".to_owned(),
        key: Some("hashing".to_owned()),
        why: Some("it is slow".to_owned()),
    };
    assert_eq!(
        TeamFile::parse(GOLDEN).entries,
        std::slice::from_ref(&entry)
    );
    assert_eq!(TeamFile::upsert_entry("", "decision", &entry), GOLDEN);
}

#[test]
fn working_memory_matches_golden_file() {
    const GOLDEN: &str = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/stored_forms/working_memory.json"
    ));
    let time = at("2026-05-01T10:00:00Z");
    let mut memory = WorkingMemory::new("coder", "s1", time).unwrap();
    memory.set_plan(Some("write the test first"), time).unwrap();
    memory.add_constraint("no network", time).unwrap();
    memory
        .set_context("file", json!({"path": "a.rs"}), time)
        .unwrap();
    memory.add_note("look at line 3", time).unwrap();
    assert_eq!(WorkingMemory::restore(GOLDEN.as_bytes()).unwrap(), memory);
    let written: Value = serde_json::from_slice(&memory.snapshot().unwrap()).unwrap();
    assert_eq!(written, serde_json::from_str::<Value>(GOLDEN).unwrap());
}
