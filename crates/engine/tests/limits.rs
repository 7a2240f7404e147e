//! Caps that the engine keeps: at the cap it goes on, one beyond it says so.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

use heirloom_engine::places::Place;
use heirloom_engine::{Carried, ContextRequest, Engine, Filter, NewRecord};
use heirloom_model::limits::{
    BATCH_RECORDS, CHANGES_MAX, CONTEXT_BUDGET_CHARS_MAX, CONTEXT_BUDGET_TOKENS_MAX,
    CONTEXT_CHARS_PER_FACT, CONTEXT_CHARS_PER_SHORT_FACT, CONTEXT_ERRORS_MIN, CONTEXT_FACTS_MAX,
    CONTEXT_FACTS_MIN, CONTEXT_LEARNINGS_MAX, CONTEXT_LESSONS_MAX, CONTEXT_QUESTION_BYTES_MAX,
    CONTEXT_RECALL_HITS, ERRORS_COMPARED_MAX, FILES_PER_OUTCOME_MAX, OUTCOME_TEXT_CHARS_MAX,
    PINNED_MAX,
};
use heirloom_model::{
    AgentStatus, Budget, Confidence, ErrorKind, Fault, FixedClock, IdSource, Kind, Mark, Message,
    Outcome, ProjectName, Record, Role, Scope, Session, Settings, Timestamp,
};
use heirloom_store::{SqliteStore, Store};
use std::path::PathBuf;
use std::sync::Arc;

fn now() -> Timestamp {
    "2026-05-01T10:00:00Z".parse().unwrap()
}

fn project() -> ProjectName {
    ProjectName::new("p").unwrap()
}

/// An engine over a store in memory, and that store.
fn engine() -> (Engine, Arc<SqliteStore>) {
    let store = Arc::new(SqliteStore::memory().unwrap());
    let root = PathBuf::from("/nonexistent-project");
    let place = Place {
        folder: root.join(".heirloom"),
        config: root.join(".heirloom/config.toml"),
        root,
    };
    let engine = Engine::new(
        store.clone(),
        project(),
        place,
        Settings::default(),
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

fn carried(from: usize, to: usize) -> Carried {
    let ids = IdSource::default();
    let records = (from..to).map(|n| (n as u64, record(&ids, format!("fact {n}"))));
    Carried {
        records: records.collect(),
        ..Carried::default()
    }
}

#[track_caller]
fn refused<T>(done: Result<T, Fault>, cap: usize) {
    let Err(fault) = done else {
        panic!("over the cap of {cap}");
    };
    assert_eq!(fault.kind, ErrorKind::Usage);
    assert!(fault.message.contains(&cap.to_string()), "{fault}");
}

#[test]
fn an_outcome_takes_so_many_files() {
    let (engine, _) = engine();
    let scope = Scope {
        task: Some("1".to_owned()),
        ..Scope::default()
    };
    let outcome = |files: usize| {
        let mut outcome = Outcome::of(AgentStatus::Partial);
        outcome.files = (0..files).map(|n| format!("src/{n}.rs")).collect();
        outcome
    };
    let over = outcome(FILES_PER_OUTCOME_MAX + 1);
    refused(
        engine.record_outcome(&scope, &over, "me"),
        FILES_PER_OUTCOME_MAX,
    );
    let of_files = Filter::current(&[Kind::Artifact], now());
    assert_eq!(engine.find(&of_files).unwrap(), [], "nothing of it");
    let most = outcome(FILES_PER_OUTCOME_MAX);
    engine.record_outcome(&scope, &most, "me").unwrap();
    assert_eq!(engine.find(&of_files).unwrap().len(), FILES_PER_OUTCOME_MAX);
}

#[test]
fn a_long_error_of_an_outcome_is_cut_and_marked() {
    let (engine, _) = engine();
    let error = |chars: usize, task: &str| {
        let scope = Scope {
            task: Some(task.to_owned()),
            ..Scope::default()
        };
        let mut outcome = Outcome::of(AgentStatus::Failed);
        outcome.error = Some(format!("<{}>", "é".repeat(chars - 2)));
        engine.record_outcome(&scope, &outcome, "me").unwrap();
        let of_task = Filter {
            scope,
            ..Filter::current(&[Kind::Error], now())
        };
        engine.find(&of_task).unwrap().remove(0).text
    };
    let whole = error(OUTCOME_TEXT_CHARS_MAX, "1");
    assert!(whole.starts_with("<é") && whole.ends_with("é>"));
    let cut = error(OUTCOME_TEXT_CHARS_MAX + 1, "2");
    assert!(cut.starts_with("…é") && cut.ends_with("é>"), "{cut}");
    assert_eq!(cut.chars().count(), OUTCOME_TEXT_CHARS_MAX);
}

#[test]
fn a_context_has_a_largest_budget() {
    let (engine, _) = engine();
    let context = |budget| {
        engine.context(&ContextRequest {
            budget: Some(budget),
            ..ContextRequest::default()
        })
    };
    context(Budget::Chars(CONTEXT_BUDGET_CHARS_MAX)).unwrap();
    context(Budget::Tokens(CONTEXT_BUDGET_TOKENS_MAX)).unwrap();
    refused(
        context(Budget::Chars(CONTEXT_BUDGET_CHARS_MAX + 1)),
        CONTEXT_BUDGET_CHARS_MAX,
    );
    for tokens in [CONTEXT_BUDGET_TOKENS_MAX + 1, usize::MAX] {
        refused(context(Budget::Tokens(tokens)), CONTEXT_BUDGET_CHARS_MAX);
    }
}

#[test]
fn a_context_considers_so_many_facts() {
    let considered = |engine: &Engine, chars: usize| {
        let request = ContextRequest {
            budget: Some(Budget::Chars(chars)),
            ..ContextRequest::default()
        };
        let context = engine.context(&request).unwrap();
        let items = context.sections.iter().map(|s| s.items.len());
        items.sum::<usize>()
    };
    // Short ones, of which many fit.
    let (short, _) = engine();
    short
        .import_all(carried(0, CONTEXT_FACTS_MAX + 1), "a test")
        .unwrap();
    for (budget, expected) in [
        (0, CONTEXT_FACTS_MIN),
        (3_000 * CONTEXT_CHARS_PER_SHORT_FACT, 3_000),
        (3_001 * CONTEXT_CHARS_PER_SHORT_FACT, 3_001),
        (CONTEXT_BUDGET_CHARS_MAX, CONTEXT_FACTS_MAX),
    ] {
        assert_eq!(considered(&short, budget), expected, "{budget} characters");
    }
    let (long, _) = engine();
    let ids = IdSource::default();
    let told = (0..CONTEXT_FACTS_MIN as u64 + 2).map(|n| {
        let text = format!("{n} {}", "x".repeat(CONTEXT_CHARS_PER_FACT));
        (n, record(&ids, text))
    });
    let carried = Carried {
        records: told.collect(),
        ..Carried::default()
    };
    long.import_all(carried, "a test").unwrap();
    for expected in [CONTEXT_FACTS_MIN, CONTEXT_FACTS_MIN + 1] {
        let budget = expected * CONTEXT_CHARS_PER_FACT;
        assert_eq!(considered(&long, budget), expected, "{budget} characters");
    }
}

#[test]
fn batches_end_anywhere() {
    for count in [BATCH_RECORDS - 1, BATCH_RECORDS, BATCH_RECORDS + 1] {
        let (engine, _) = engine();
        let mut carried = carried(0, count);
        // A record that is refused stands at the border, and takes no other with it.
        let border = carried.records.get_mut(BATCH_RECORDS - 2).unwrap();
        border.1.source = "x".repeat(10_000);
        let report = engine.import_all(carried, "a test").unwrap();
        assert_eq!(report.created, count as u64 - 1);
        assert_eq!(report.diagnostics.len(), 1, "{:?}", report.diagnostics);
    }
}

#[test]
fn a_conversation_may_be_longer_than_one_write() {
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
    let carried = Carried {
        sessions: vec![session],
        messages: [("s".to_owned(), turns)].into(),
        ..Carried::default()
    };
    let report = engine.import_all(carried, "a test").unwrap();
    assert_eq!(report.created, CHANGES_MAX as u64 + 2);
    let last = store
        .messages(&project(), "s", CHANGES_MAX as u64, 9)
        .unwrap();
    assert_eq!(last.len(), 1);
    assert_eq!(last[0].text, CHANGES_MAX.to_string());
}

#[test]
fn a_context_considers_so_many_pins() {
    let (engine, _) = engine();
    let ids = IdSource::default();
    let pinned = |n: usize| {
        let mut one = record(&ids, format!("pin {n}"));
        one.attrs = Mark::Pinned(true).laid_over(&one.attrs);
        (n as u64, one)
    };
    let count = || {
        let request = ContextRequest {
            budget: Some(Budget::Chars(100_000)),
            ..ContextRequest::default()
        };
        let context = engine.context(&request).unwrap();
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
        let carried = Carried {
            records,
            ..Carried::default()
        };
        engine.import_all(carried, "test").unwrap();
        assert_eq!(count(), expected);
    }
}

/// Of its own task a context tells errors that no longer are among the newest of all; of no task it does not.
#[test]
fn a_context_considers_so_many_open_errors() {
    let context = |newer: usize, task: Option<&str>| {
        let (engine, _) = engine();
        let old = NewRecord {
            text: "the old one".to_owned(),
            kind: Some(Kind::Error),
            scope: task.map(Scope::of_task).unwrap_or_default(),
            ..NewRecord::default()
        };
        let other = |n: usize| NewRecord {
            text: format!("error of kind {}", "x".repeat(n)),
            scope: Scope::of_task("other"),
            ..old.clone()
        };
        engine.remember(old.clone()).unwrap();
        engine
            .remember_all((1..=newer).map(other).collect())
            .unwrap();
        let request = ContextRequest {
            task: Some("mine".to_owned()),
            ..ContextRequest::default()
        };
        engine
            .context(&request)
            .unwrap()
            .text
            .contains("the old one")
    };
    assert!(context(CONTEXT_ERRORS_MIN - 1, None));
    assert!(!context(CONTEXT_ERRORS_MIN, None));
    assert!(context(CONTEXT_ERRORS_MIN, Some("mine")));
}

#[test]
fn an_error_is_compared_with_so_many_resolved_ones() {
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
        let carried = Carried {
            records: (from..to).map(resolved).collect(),
            ..Carried::default()
        };
        engine.import_all(carried, "test").unwrap();
    };
    let found = |task: &str| {
        let logged = engine
            .log_error("error of kind x, a.rs", Scope::of_task(task), "user")
            .unwrap();
        logged.resolved_before.map(|before| before.resolution)
    };
    take(1, ERRORS_COMPARED_MAX + 1);
    assert_eq!(found("1").as_deref(), Some("1"));
    take(ERRORS_COMPARED_MAX + 1, ERRORS_COMPARED_MAX + 2);
    assert_eq!(found("2"), None, "the oldest is out of reach");
}

/// How many items a source has in the context of a question.
fn items_of(engine: &Engine, source: &str, query: &str) -> usize {
    let request = ContextRequest {
        query: Some(query.to_owned()),
        budget: Some(Budget::Chars(1_000_000)),
        ..ContextRequest::default()
    };
    let context = engine.context(&request).unwrap();
    let found = context.sections.iter().find(|s| s.name == source);
    found.map_or(0, |section| section.items.len())
}

#[test]
fn a_context_considers_so_many_learnings_and_hits() {
    let (engine, _) = engine();
    // Not a word of it is the question's: they come as the newest, and each error has words of its own.
    let word = |n: usize| format!("w{}", "abcdefghij".repeat(n % 7 + 1)) + &"xyz".repeat(n);
    for n in 0..=CONTEXT_LEARNINGS_MAX {
        let error = format!("{} broke {}", word(n), word(n + 1));
        engine.log_error(&error, Scope::default(), "user").unwrap();
        let fix = format!("mend {}", word(n));
        engine.resolve_error(&error, &fix, "user").unwrap();
        assert_eq!(
            items_of(&engine, "learnings", "zebra"),
            (n + 1).min(CONTEXT_LEARNINGS_MAX)
        );
    }
    // Notes: no context tells them by itself.
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
        engine.remember_all(notes).unwrap();
        assert_eq!(items_of(&engine, "recall", "giraffe"), hits);
    }
}

/// Without a question the newest mended errors are looked through for what the open ones say, and no others.
#[test]
fn so_many_mended_errors_are_looked_through_for_open_ones() {
    let (engine, _) = engine();
    let log = |error: &str| {
        engine.log_error(error, Scope::default(), "user").unwrap();
    };
    let mend = |error: &str| {
        log(error);
        engine.resolve_error(error, "feed it", "user").unwrap();
    };
    mend("the giraffe fell over");
    (1..CONTEXT_LESSONS_MAX).for_each(|n| mend(&format!("part {n} is w{}", "xyz".repeat(n))));
    log("the giraffe is hungry");
    let found = || {
        let request = ContextRequest {
            budget: Some(Budget::Chars(1_000_000)),
            ..ContextRequest::default()
        };
        let text = engine.context(&request).unwrap().text;
        text.contains("the giraffe fell over → fixed by: feed it")
    };
    assert!(found());
    mend("one more");
    assert!(!found());
}

/// Longer than memory is asked with is no error: the beginning counts.
#[test]
fn a_long_question_is_asked_by_its_beginning() {
    let (engine, _) = engine();
    engine
        .log_error("the giraffe fell", Scope::default(), "user")
        .unwrap();
    engine.resolve_error("giraffe", "hold it", "user").unwrap();
    for length in [
        CONTEXT_QUESTION_BYTES_MAX - 8,
        CONTEXT_QUESTION_BYTES_MAX,
        10 * CONTEXT_QUESTION_BYTES_MAX,
    ] {
        let query = format!("giraffe {}", "z".repeat(length));
        assert_eq!(items_of(&engine, "learnings", &query), 1);
    }
}
