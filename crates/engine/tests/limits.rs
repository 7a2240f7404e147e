//! Tests of the engine's limits: at the limit an operation works, beyond it reports so.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use heirloom_engine::{
    ContextRequest, Engine, Filter, ImportBundle, ImportProgressSink, NewRecord,
};
use heirloom_fs::project_fs::ProjectPaths;
use heirloom_model::limits::{
    BATCH_RECORDS, CHANGES_MAX, CONTEXT_BUDGET_CHARS_MAX, CONTEXT_BUDGET_TOKENS_MAX,
    CONTEXT_CHARS_PER_FACT, CONTEXT_CHARS_PER_SHORT_FACT, CONTEXT_ERRORS_MIN, CONTEXT_FACTS_MAX,
    CONTEXT_FACTS_MIN, CONTEXT_LEARNINGS_MAX, CONTEXT_LESSONS_MAX, CONTEXT_QUESTION_BYTES_MAX,
    CONTEXT_RECALL_HITS, ERRORS_COMPARED_MAX, FILES_PER_OUTCOME_MAX, OUTCOME_TEXT_CHARS_MAX,
    PINNED_MAX, TIMELINE_SHORTENED_MAX,
};
use heirloom_model::settings::ContextSelection;
use heirloom_model::{
    AgentStatus, Budget, Confidence, ErrorKind, Fault, FixedClock, IdSource, IterationOutcome,
    Kind, Mark, Message, ProjectName, Record, Role, Scope, Session, Settings, Timestamp,
};
use heirloom_store::{SqliteStore, Store};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

fn now() -> Timestamp {
    "2026-05-01T10:00:00Z".parse().unwrap()
}

fn project() -> ProjectName {
    ProjectName::new("p").unwrap()
}

/// Creates an engine over an in-memory store; returns both.
fn engine() -> (Engine, Arc<SqliteStore>) {
    engine_with(Settings::default())
}

/// Engine whose contexts take the newest records first.
fn priority_engine() -> Engine {
    let (engine, _) = engine_with(Settings {
        context_selection: ContextSelection::Priority,
        ..Settings::default()
    });
    engine
}

fn engine_with(settings: Settings) -> (Engine, Arc<SqliteStore>) {
    let store = Arc::new(SqliteStore::memory().unwrap());
    let root = PathBuf::from("/nonexistent-project");
    let place = ProjectPaths {
        folder: root.join(".heirloom"),
        config: root.join(".heirloom/config.toml"),
        root,
    };
    let engine = Engine::new(
        store.clone(),
        project(),
        place,
        settings,
        Arc::new(FixedClock(now())),
    );
    (engine.unwrap(), store)
}

fn record(ids: &IdSource, text: String) -> Record {
    Record {
        project: project(),
        id: ids.next(now()),
        kind: Kind::Knowledge,
        key: None,
        text,
        attrs: serde_json::Map::from_iter([("category".to_owned(), "fact".into())]),
        scope: Scope::default(),
        source: "user".to_owned(),
        confidence: Confidence::FULL,
        tokens: 1,
        recorded_at: now(),
        true_from: None,
        true_to: None,
        retired_at: None,
        replaced_by: None,
        expires_at: None,
    }
}

fn carried(from: usize, to: usize) -> ImportBundle {
    let ids = IdSource::default();
    let records = (from..to).map(|n| (n as u64, record(&ids, format!("fact {n}"))));
    ImportBundle {
        records: records.collect(),
        ..ImportBundle::default()
    }
}

#[track_caller]
fn assert_rejected<T>(done: Result<T, Fault>, cap: usize) {
    let Err(fault) = done else {
        panic!("over the cap of {cap}");
    };
    assert_eq!(fault.kind, ErrorKind::Usage);
    assert!(fault.message.contains(&cap.to_string()), "{fault}");
}

#[test]
fn outcome_file_limit() {
    let (engine, _) = engine();
    let scope = Scope {
        task: Some("1".to_owned()),
        ..Scope::default()
    };
    let outcome = |files: usize| {
        let mut outcome = IterationOutcome::with_status(AgentStatus::Partial);
        outcome.files = (0..files).map(|n| format!("src/{n}.rs")).collect();
        outcome
    };
    let over = outcome(FILES_PER_OUTCOME_MAX + 1);
    assert_rejected(
        engine.tasks().record_outcome(&scope, &over, "me"),
        FILES_PER_OUTCOME_MAX,
    );
    let of_files = Filter::current(&[Kind::Artifact], now());
    assert_eq!(
        engine.records().find(&of_files).unwrap(),
        [],
        "nothing of it"
    );
    let most = outcome(FILES_PER_OUTCOME_MAX);
    engine.tasks().record_outcome(&scope, &most, "me").unwrap();
    assert_eq!(
        engine.records().find(&of_files).unwrap().len(),
        FILES_PER_OUTCOME_MAX
    );
}

#[test]
fn outcome_long_error_is_truncated_with_mark() {
    let (engine, _) = engine();
    let error = |chars: usize, task: &str| {
        let scope = Scope {
            task: Some(task.to_owned()),
            ..Scope::default()
        };
        let mut outcome = IterationOutcome::with_status(AgentStatus::Failed);
        outcome.error = Some(format!("<{}>", "é".repeat(chars - 2)));
        engine
            .tasks()
            .record_outcome(&scope, &outcome, "me")
            .unwrap();
        let of_task = Filter {
            scope,
            ..Filter::current(&[Kind::Error], now())
        };
        engine.records().find(&of_task).unwrap().remove(0).text
    };
    let whole = error(OUTCOME_TEXT_CHARS_MAX, "1");
    assert!(whole.starts_with("<é") && whole.ends_with("é>"));
    let cut = error(OUTCOME_TEXT_CHARS_MAX + 1, "2");
    assert!(cut.starts_with("…é") && cut.ends_with("é>"), "{cut}");
    assert_eq!(cut.chars().count(), OUTCOME_TEXT_CHARS_MAX);
}

#[test]
fn context_budget_limit() {
    let (engine, _) = engine();
    let context = |budget| {
        engine.contexts().build(&ContextRequest {
            budget: Some(budget),
            ..ContextRequest::default()
        })
    };
    context(Budget::Chars(CONTEXT_BUDGET_CHARS_MAX)).unwrap();
    context(Budget::Tokens(CONTEXT_BUDGET_TOKENS_MAX)).unwrap();
    assert_rejected(
        context(Budget::Chars(CONTEXT_BUDGET_CHARS_MAX + 1)),
        CONTEXT_BUDGET_CHARS_MAX,
    );
    for tokens in [CONTEXT_BUDGET_TOKENS_MAX + 1, usize::MAX] {
        assert_rejected(context(Budget::Tokens(tokens)), CONTEXT_BUDGET_CHARS_MAX);
    }
}

#[test]
fn context_fact_limit() {
    let considered = |engine: &Engine, chars: usize| {
        let request = ContextRequest {
            budget: Some(Budget::Chars(chars)),
            ..ContextRequest::default()
        };
        let context = engine.contexts().build(&request).unwrap();
        let items = context.sections.iter().map(|s| s.items.len());
        items.sum::<usize>()
    };
    // Short facts, of which many fit.
    let short = priority_engine();
    short
        .imports()
        .import_bundle(carried(0, CONTEXT_FACTS_MAX + 1), "a test")
        .unwrap();
    for (budget, expected) in [
        (0, CONTEXT_FACTS_MIN),
        (3_000 * CONTEXT_CHARS_PER_SHORT_FACT, 3_000),
        (3_001 * CONTEXT_CHARS_PER_SHORT_FACT, 3_001),
        (CONTEXT_BUDGET_CHARS_MAX, CONTEXT_FACTS_MAX),
    ] {
        assert_eq!(considered(&short, budget), expected, "{budget} characters");
    }
    let long = priority_engine();
    let ids = IdSource::default();
    let reported = (0..CONTEXT_FACTS_MIN as u64 + 2).map(|n| {
        let text = format!("{n} {}", "x".repeat(CONTEXT_CHARS_PER_FACT));
        (n, record(&ids, text))
    });
    let carried = ImportBundle {
        records: reported.collect(),
        ..ImportBundle::default()
    };
    long.imports().import_bundle(carried, "a test").unwrap();
    for expected in [CONTEXT_FACTS_MIN, CONTEXT_FACTS_MIN + 1] {
        let budget = expected * CONTEXT_CHARS_PER_FACT;
        assert_eq!(considered(&long, budget), expected, "{budget} characters");
    }
}

#[test]
fn import_batches_end_at_any_record() {
    for count in [BATCH_RECORDS - 1, BATCH_RECORDS, BATCH_RECORDS + 1] {
        let (engine, _) = engine();
        let mut carried = carried(0, count);
        // A rejected record at the batch border affects no other record.
        let border = carried.records.get_mut(BATCH_RECORDS - 2).unwrap();
        border.1.source = "x".repeat(10_000);
        let report = engine.imports().import_bundle(carried, "a test").unwrap();
        assert_eq!(report.created, count as u64 - 1);
        assert_eq!(report.diagnostics.len(), 1, "{:?}", report.diagnostics);
    }
}

#[test]
fn import_reports_progress_after_each_batch() {
    let (engine, _folder) = engine();
    let reported = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&reported);
    let sink = ImportProgressSink::new(move |progress| {
        sink.lock().unwrap().push((progress.done, progress.total));
    });
    let engine = sink.attach_to(engine);
    let count = BATCH_RECORDS + 1;
    let carried = carried(0, count);
    (engine.imports().import_bundle(carried.clone(), "a test")).unwrap();
    let (batch, all) = (BATCH_RECORDS as u64, count as u64);
    let expected = [(0, all), (batch, all), (all, all)];
    assert_eq!(*reported.lock().unwrap(), expected);
    reported.lock().unwrap().clear();
    // Entries that are known already count as well.
    engine.imports().import_bundle(carried, "a test").unwrap();
    assert_eq!(*reported.lock().unwrap(), expected);
}

#[test]
fn import_conversation_exceeds_one_write() {
    let (engine, store) = engine();
    let ids = IdSource::default();
    let session = Session {
        project: project(),
        id: "s".to_owned(),
        agent: None,
        task: None,
        started_at: now(),
        ended_at: None,
        attrs: serde_json::Map::new(),
    };
    let turn = |n: usize| Message {
        id: ids.next(now()),
        seq: 0,
        role: Role::User,
        sender: None,
        text: n.to_string(),
        attrs: serde_json::Map::new(),
        tokens: 1,
        at: now(),
    };
    let turns: Vec<_> = (0..=CHANGES_MAX).map(turn).collect();
    let carried = ImportBundle {
        sessions: vec![session],
        messages: [("s".to_owned(), turns)].into(),
        ..ImportBundle::default()
    };
    let report = engine.imports().import_bundle(carried, "a test").unwrap();
    assert_eq!(report.created, CHANGES_MAX as u64 + 2);
    let last = store
        .messages(&project(), "s", CHANGES_MAX as u64, 9)
        .unwrap();
    assert_eq!(last.len(), 1);
    assert_eq!(last[0].text, CHANGES_MAX.to_string());
}

#[test]
fn context_pin_limit() {
    let (engine, _) = engine();
    let ids = IdSource::default();
    let pinned = |n: usize| {
        let mut one = record(&ids, format!("pin {n}"));
        one.attrs = Mark::Pinned(true).apply_to(&one.attrs);
        (n as u64, one)
    };
    let count = || {
        let request = ContextRequest {
            budget: Some(Budget::Chars(100_000)),
            ..ContextRequest::default()
        };
        let context = engine.contexts().build(&request).unwrap();
        let pins = context
            .sections
            .iter()
            .find(|section| section.name == "Pinned");
        pins.unwrap().items.len()
    };
    for (from, to, expected) in [
        (0, PINNED_MAX, PINNED_MAX),
        (PINNED_MAX, PINNED_MAX + 1, PINNED_MAX),
    ] {
        let records = (from..to).map(pinned).collect();
        let carried = ImportBundle {
            records,
            ..ImportBundle::default()
        };
        engine.imports().import_bundle(carried, "test").unwrap();
        assert_eq!(count(), expected);
    }
}

/// A context of a task includes the task's errors even if they are not among the newest of all; a context without a
/// task does not.
#[test]
fn context_open_error_limit() {
    let context = |newer: usize, other_task: Option<&str>| {
        let (engine, _) = engine();
        let old = NewRecord {
            text: "the old one".to_owned(),
            kind: Some(Kind::Error),
            ..NewRecord::default()
        };
        // A bare exit status is read and not shown, so that only the number of errors that are read matters.
        let other = |n: usize| NewRecord {
            text: format!("exit code {n}"),
            scope: Scope {
                task: other_task.map(str::to_owned),
                phase: Some(format!("p{n}")),
                ..Scope::default()
            },
            ..old.clone()
        };
        engine.records().remember(old.clone()).unwrap();
        engine
            .records()
            .remember_all((1..=newer).map(other).collect())
            .unwrap();
        let request = ContextRequest {
            task: Some("mine".to_owned()),
            ..ContextRequest::default()
        };
        engine
            .contexts()
            .build(&request)
            .unwrap()
            .text
            .contains("the old one")
    };
    assert!(context(CONTEXT_ERRORS_MIN - 1, None));
    assert!(!context(CONTEXT_ERRORS_MIN, None));
    assert!(
        context(CONTEXT_ERRORS_MIN, Some("other")),
        "errors of other tasks are not read"
    );
}

#[test]
fn error_resolved_comparison_limit() {
    let (engine, _) = engine();
    let ids = IdSource::default();
    let resolved = |n: usize| {
        let mut one = record(&ids, format!("error of kind {}", "x".repeat(n)));
        one.kind = Kind::Error;
        one.attrs = serde_json::Map::from_iter([
            ("state".to_owned(), "resolved".into()),
            ("resolution".to_owned(), n.to_string().into()),
        ]);
        (n as u64, one)
    };
    let take = |from: usize, to: usize| {
        let carried = ImportBundle {
            records: (from..to).map(resolved).collect(),
            ..ImportBundle::default()
        };
        engine.imports().import_bundle(carried, "test").unwrap();
    };
    let found = |task: &str| {
        let logged = engine
            .errors()
            .log("error of kind x, a.rs", Scope::of_task(task), "user")
            .unwrap();
        logged.resolved_before.map(|before| before.resolution)
    };
    take(1, ERRORS_COMPARED_MAX + 1);
    assert_eq!(found("1").as_deref(), Some("1"));
    take(ERRORS_COMPARED_MAX + 1, ERRORS_COMPARED_MAX + 2);
    assert_eq!(found("2"), None, "the oldest is out of reach");
}

/// Returns the number of a source's items in the context of a query.
fn items_of(engine: &Engine, source: &str, query: &str) -> usize {
    let request = ContextRequest {
        query: Some(query.to_owned()),
        budget: Some(Budget::Chars(1_000_000)),
        ..ContextRequest::default()
    };
    let context = engine.contexts().build(&request).unwrap();
    let found = context.sections.iter().find(|s| s.name == source);
    found.map_or(0, |section| section.items.len())
}

#[test]
fn context_learning_and_hit_limits() {
    let engine = priority_engine();
    // No word of the query: the items are included as the newest, and each error has its own words.
    let word = |n: usize| format!("w{}", "abcdefghij".repeat(n % 7 + 1)) + &"xyz".repeat(n);
    for n in 0..=CONTEXT_LEARNINGS_MAX {
        let error = format!("{} broke {}", word(n), word(n + 1));
        engine
            .errors()
            .log(&error, Scope::default(), "user")
            .unwrap();
        let fix = format!("mend {}", word(n));
        engine.errors().resolve(&error, &fix, "user").unwrap();
        assert_eq!(
            items_of(&engine, "learnings", "zebra"),
            (n + 1).min(CONTEXT_LEARNINGS_MAX)
        );
    }
    // Notes, because contexts do not include them without a query.
    let note = |n: usize| NewRecord {
        text: format!("giraffe {}", word(n)),
        kind: Some(Kind::Note),
        ..NewRecord::default()
    };
    for (count, hits) in [
        (CONTEXT_RECALL_HITS, CONTEXT_RECALL_HITS),
        (1, CONTEXT_RECALL_HITS),
    ] {
        let first = items_of(&engine, "recall", "giraffe");
        let notes = (first..first + count)
            .map(|n| note(n + 7 * first))
            .collect();
        engine.records().remember_all(notes).unwrap();
        assert_eq!(items_of(&engine, "recall", "giraffe"), hits);
    }
}

/// Without a query only the newest resolved errors are compared with the open ones.
#[test]
fn context_resolved_error_limit() {
    let engine = priority_engine();
    let log = |error: &str| {
        engine
            .errors()
            .log(error, Scope::default(), "user")
            .unwrap();
    };
    let mend = |error: &str| {
        log(error);
        engine.errors().resolve(error, "feed it", "user").unwrap();
    };
    mend("the giraffe fell over");
    (1..CONTEXT_LESSONS_MAX).for_each(|n| mend(&format!("part {n} is w{}", "xyz".repeat(n))));
    log("the giraffe is hungry");
    let found = || {
        let request = ContextRequest {
            budget: Some(Budget::Chars(1_000_000)),
            ..ContextRequest::default()
        };
        let text = engine.contexts().build(&request).unwrap().text;
        text.contains("the giraffe fell over → fixed by: feed it")
    };
    assert!(found());
    mend("one more");
    assert!(!found());
}

/// A query over the limit is no error: its beginning is used.
#[test]
fn context_long_query_is_truncated() {
    let (engine, _) = engine();
    engine
        .errors()
        .log("the giraffe fell", Scope::default(), "user")
        .unwrap();
    engine
        .errors()
        .resolve("giraffe", "hold it", "user")
        .unwrap();
    for length in [
        CONTEXT_QUESTION_BYTES_MAX - 8,
        CONTEXT_QUESTION_BYTES_MAX,
        10 * CONTEXT_QUESTION_BYTES_MAX,
    ] {
        let query = format!("giraffe {}", "z".repeat(length));
        assert_eq!(items_of(&engine, "learnings", &query), 1);
    }
}

#[test]
fn timeline_shortened_output_limit() {
    let (engine, _) = engine();
    let ids = IdSource::default();
    let turn = |n: usize, role: Role, text: String| Message {
        id: ids.next(now()),
        seq: n as u64,
        role,
        sender: None,
        tokens: u32::try_from(text.len() / 4).unwrap(),
        text,
        attrs: serde_json::Map::new(),
        at: now(),
    };
    let listed = |calls: usize| {
        let mut turns = vec![turn(0, Role::User, "Find the slow test".to_owned())];
        for n in 0..calls + 20 {
            let output = if n < calls {
                "a line of a log\n"
            } else {
                "done\n"
            };
            let lines = if n < calls { 400 } else { 1 };
            turns.push(turn(2 * n + 1, Role::ToolCall, "shell {}".to_owned()));
            turns.push(turn(2 * n + 2, Role::ToolResult, output.repeat(lines)));
        }
        let timeline = engine.window().timeline(&turns).unwrap().unwrap();
        timeline.shortened.len()
    };
    assert_eq!(
        listed(TIMELINE_SHORTENED_MAX - 1),
        TIMELINE_SHORTENED_MAX - 1
    );
    assert_eq!(listed(TIMELINE_SHORTENED_MAX + 1), TIMELINE_SHORTENED_MAX);
}
