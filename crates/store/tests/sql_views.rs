//! Views for people who open the database, and the size of the database.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_model::kinds::{
    Artifact, Episode, ErrorRecord, Knowledge, Note, Output, Step, StepState, Summary, Task,
};
use heirloom_model::record::Attrs;
use heirloom_model::{
    Confidence, IdSource, Kind, KindData, MergeRule, ProjectName, Record, Scope, Timestamp, text,
};
use heirloom_store::{Change, SqliteStore, Store};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::path::Path;

fn now() -> Timestamp {
    "2026-05-01T10:00:00.25Z".parse().unwrap()
}

fn record(ids: &IdSource, kind: Kind, attrs: Attrs) -> Record {
    Record {
        project: ProjectName::new("github.com/acme/shop").unwrap(),
        id: ids.next(now()),
        kind,
        key: None,
        text: format!("a {kind}"),
        attrs,
        scope: Scope::of_task("42"),
        source: "claude".to_owned(),
        confidence: Confidence::AGENT,
        tokens: 3,
        recorded_at: now(),
        true_from: Some("1969-07-20T20:17:40Z".parse().unwrap()),
        true_to: None,
        retired_at: None,
        replaced_by: None,
        expires_at: None,
    }
}

fn write(store: &SqliteStore, records: Vec<Record>) {
    let project = records[0].project.clone();
    let changes: Vec<Change> = (records.into_iter())
        .map(|record| Change::Put {
            record: Box::new(record),
            merge: MergeRule::Replace,
        })
        .collect();
    store.apply(&project, &changes).unwrap();
}

/// Reads the columns of a view, and its rows as text.
fn view(path: &Path, name: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let connection = Connection::open(path).unwrap();
    let mut statement = connection
        .prepare(&format!("SELECT * FROM {name}"))
        .unwrap();
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let width = columns.len();
    let rows = statement.query_map([], |row| {
        (0..width)
            .map(|i| {
                let value: rusqlite::types::Value = row.get(i)?;
                Ok(match value {
                    rusqlite::types::Value::Null => "-".to_owned(),
                    rusqlite::types::Value::Integer(n) => n.to_string(),
                    rusqlite::types::Value::Real(n) => n.to_string(),
                    rusqlite::types::Value::Text(text) => text,
                    rusqlite::types::Value::Blob(_) => "a blob".to_owned(),
                })
            })
            .collect()
    });
    let rows = rows.unwrap().collect::<Result<_, _>>().unwrap();
    (columns, rows)
}

/// Returns every kind with all of its attributes.
fn full() -> [(&'static str, Kind, Attrs); 9] {
    let some = |text: &str| Some(text.to_owned());
    let knowledge = Knowledge {
        rationale: some("because"),
        confirmations: 2,
        confirmed_at: Some(now()),
        proposal: true,
        conflict: true,
        arbitrated: Some(now()),
        disputed: true,
        ..Knowledge::with_category("decision")
    };
    let task = Task {
        task_type: some("issue"),
        branch: some("fix"),
        pr_number: Some(7),
        blocked_reason: some("waiting"),
        state: Some(heirloom_model::kinds::TaskState::Open),
        ..Task::default()
    };
    let mistake = ErrorRecord {
        resolution: some("mended"),
        repeats: 2,
        repeated_at: Some(now()),
        ..ErrorRecord::open()
    };
    let episode = Episode {
        files: Vec::new(),
        symbols: Vec::new(),
        action: "failed".to_owned(),
        approach: some("brute force"),
        outcome: some("timeout"),
        duration_ms: Some(5),
        tokens_in: Some(6),
        tokens_out: Some(7),
        extra: Attrs::new(),
    };
    let artifact = Artifact {
        description: some("the parser"),
        size_bytes: Some(9),
        checksum: some("abc"),
        ..Artifact::file("src/a.rs")
    };
    let metadata = Attrs::from_iter([("n".to_owned(), 1.into())]);
    let output = Output {
        metadata,
        ..Output::default()
    };
    let note = Note {
        category: "Notes".to_owned(),
        extra: Attrs::new(),
    };
    [
        ("knowledge", Kind::Knowledge, knowledge.to_attrs()),
        ("tasks", Kind::Task, task.to_attrs()),
        (
            "steps",
            Kind::Step,
            Step::with_state(StepState::Done).to_attrs(),
        ),
        ("errors", Kind::Error, mistake.to_attrs()),
        ("episodes", Kind::Episode, episode.to_attrs()),
        ("artifacts", Kind::Artifact, artifact.to_attrs()),
        ("outputs", Kind::Output, output.to_attrs()),
        ("notes", Kind::Note, note.to_attrs()),
        ("summaries", Kind::Summary, Summary::default().to_attrs()),
    ]
}

#[test]
fn every_kind_has_a_view_with_all_attributes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heirloom.db");
    let store = SqliteStore::create(&path).unwrap();
    let ids = IdSource::default();
    let kinds = full();
    assert_eq!(kinds.each_ref().map(|(_, kind, _)| *kind), Kind::ALL);
    for (name, kind, attrs) in kinds {
        let written = record(&ids, kind, attrs.clone());
        let mut past = record(&ids, kind, attrs.clone());
        past.retired_at = Some(now());
        let mut expired = record(&ids, kind, attrs.clone());
        expired.expires_at = Some("2020-01-01T00:00:00Z".parse().unwrap());
        let id = written.id.to_string();
        write(&store, vec![written, past, expired]);

        let (columns, rows) = view(&path, name);
        let unique: BTreeSet<&String> = columns.iter().collect();
        assert_eq!(unique.len(), columns.len(), "{name}: {columns:?}");
        assert_eq!(rows.len(), 1, "{name} shows what is current");
        let value = |column: &str| {
            let place = columns.iter().position(|name| name == column);
            rows[0][place.unwrap_or_else(|| panic!("{name} has no `{column}`: {columns:?}"))]
                .as_str()
        };
        assert_eq!(value("project"), "github.com/acme/shop");
        assert_eq!(value("id"), id);
        assert_eq!(value("text"), format!("a {kind}"));
        assert_eq!(value("task"), "42");
        assert_eq!(value("recorded_at"), "2026-05-01T10:00:00.250Z");
        assert_eq!(value("true_from"), "1969-07-20T20:17:40.000Z");
        for (attr, expected) in &attrs {
            let expected = match (expected.as_str(), expected.as_bool()) {
                (Some(text), _) => text.to_owned(),
                (_, Some(yes)) => u8::from(yes).to_string(),
                (None, None) => expected.to_string(),
            };
            assert_eq!(value(attr), expected, "{name}.{attr}");
        }
    }
    let (columns, rows) = view(&path, "records_all");
    assert!(columns.contains(&"is_current".to_owned()));
    assert_eq!(rows.len(), 27);
}

#[test]
fn size_of_100_000_records_is_within_limits() {
    // A tenth of them is enough, because pages fill evenly.
    const RECORDS: usize = 10_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heirloom.db");
    let store = SqliteStore::create(&path).unwrap();
    let ids = IdSource::default();
    let records = (0..RECORDS).map(|n| {
        let words = format!("{n} The build of this crate needs --locked, the registry is frozen. ");
        let words = words.repeat(2)[..120].to_owned();
        let mut knowledge = Knowledge::with_category("fact");
        knowledge.proposal = true;
        let mut record = record(&ids, Kind::Knowledge, knowledge.to_attrs());
        record.key = Some(text::hash16(&words));
        record.text = words;
        record.scope.agent = Some("claude".to_owned());
        record.scope.iteration = Some(3);
        record.true_from = None;
        record
    });
    for batch in records.collect::<Vec<_>>().chunks(1_000) {
        write(&store, batch.to_vec());
    }
    drop(store);
    let bytes_each = || path.metadata().unwrap().len() / u64::try_from(RECORDS).unwrap();
    let with_index = bytes_each();
    assert!(with_index <= 900, "{with_index} bytes a record");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "UPDATE records SET ordinal = NULL; DELETE FROM ordinals; DELETE FROM postings;
             DELETE FROM tail; DELETE FROM vectors; DELETE FROM piece_counts; VACUUM;",
        )
        .unwrap();
    drop(connection);
    let alone = bytes_each();
    println!("{alone} bytes a record, {with_index} with the index");
    assert!(alone <= 460, "{alone} bytes a record");
}
