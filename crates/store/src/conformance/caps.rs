//! Checks of the caps: the largest allowed size is written, one more is refused.

use super::Check;
use super::conversations::{message, session};
use super::test_project::{BY, KNOWLEDGE, TestProject, at, expect, is_invalid, ok, put};
use crate::{Filter, PurgeTarget, Store, StoreError};
use heirloom_model::record::Attrs;
use heirloom_model::{Kind, MergeRule, Message, Record, Session, limits};
use serde_json::json;

pub(super) const CHECKS: &[Check] = &[
    ("texts, keys and attributes have caps", sizes),
    ("names have caps and no control characters", names),
    ("a write has a cap on its changes", changes),
    ("sessions and messages have caps", conversations),
    ("a query has a cap on its results", answers),
    ("a query has a cap on its events", events),
    ("a purge has caps on its target", purges),
    ("a record belongs to the project it is written to", project),
];

fn sizes(store: &dyn Store) {
    let w = TestProject::new(store);
    let text = |size| w.record(Kind::Note, &"x".repeat(size), 1);
    at_the_cap(&w, limits::RECORD_TEXT_BYTES_MAX, &text);
    let key = |size| Record {
        key: Some("x".repeat(size)),
        ..w.record(Kind::Note, "key", 1)
    };
    at_the_cap(&w, limits::KEY_BYTES_MAX, &key);
    let attrs = |size: usize| {
        let mut record = w.record(Kind::Note, "attrs", 1);
        let around = "{\"a\":\"\"}".len();
        let filling = "x".repeat(size.saturating_sub(around));
        record.attrs.insert("a".to_owned(), json!(filling));
        record
    };
    at_the_cap(&w, limits::ATTRS_BYTES_MAX, &attrs);
}

fn names(store: &dyn Store) {
    let w = TestProject::new(store);
    let name = |size: usize| "x".repeat(size);
    let source = |size| Record {
        source: name(size),
        ..w.record(Kind::Note, "source", 1)
    };
    at_the_cap(&w, limits::NAME_BYTES_MAX, &source);
    let task = |size| {
        let mut record = w.record(Kind::Note, "task", 1);
        record.scope.task = Some(name(size));
        record
    };
    at_the_cap(&w, limits::NAME_BYTES_MAX, &task);
    let category = |size| {
        let mut record = w.record(Kind::Note, "category", 1);
        record
            .attrs
            .insert("category".to_owned(), json!(name(size)));
        record
    };
    at_the_cap(&w, limits::NAME_BYTES_MAX, &category);
    for bad in [json!(""), json!("a\u{1b}b"), json!(7), json!(null)] {
        let mut record = w.record(Kind::Note, "category", 1);
        record.attrs.insert("category".to_owned(), bad);
        expect(&w.refused(put(&record, MergeRule::Replace)), is_invalid);
    }
}

fn changes(store: &dyn Store) {
    let w = TestProject::new(store);
    let mut many: Vec<_> = (0..=limits::CHANGES_MAX)
        .map(|_| put(&w.record(Kind::Note, "x", 1), MergeRule::Replace))
        .collect();
    match store.apply(&w.project, &many) {
        Ok(_) => panic!("too many changes"),
        Err(error) => expect(&error, is_invalid),
    }
    assert!(w.current(9).is_empty());
    many.truncate(limits::CHANGES_MAX);
    assert_eq!(w.apply(&many).len(), limits::CHANGES_MAX);
}

fn conversations(store: &dyn Store) {
    let w = TestProject::new(store);
    let attrs = |size: usize| {
        let filling = "x".repeat(size - "{\"a\":\"\"}".len());
        Attrs::from_iter([("a".to_owned(), json!(filling))])
    };
    let session = |size| Session {
        attrs: attrs(size),
        ..session(&w, "s", None, 1)
    };
    ok(store.put_session(&session(limits::ATTRS_BYTES_MAX)));
    refuse(store.put_session(&session(limits::ATTRS_BYTES_MAX + 1)));
    let append = |turns: &[Message]| store.append_messages(&w.project, "s", turns).map(drop);
    let turn = |size| Message {
        attrs: attrs(size),
        ..message(&w, "x", 2)
    };
    ok(append(&[turn(limits::ATTRS_BYTES_MAX)]));
    refuse(append(&[turn(limits::ATTRS_BYTES_MAX + 1)]));
    let mut many: Vec<_> = (0..=limits::CHANGES_MAX)
        .map(|_| message(&w, "x", 2))
        .collect();
    refuse(append(&many));
    many.truncate(limits::CHANGES_MAX);
    ok(append(&many));
    refuse(
        store
            .messages(&w.project, "s", 0, limits::FIND_MAX + 1)
            .map(drop),
    );
    let here = ok(store.messages(&w.project, "s", 0, limits::FIND_MAX));
    assert_eq!(
        here.len(),
        limits::CHANGES_MAX + 1,
        "nothing of what was refused"
    );
}

fn answers(store: &dyn Store) {
    let w = TestProject::new(store);
    let over = limits::FIND_MAX + 1;
    let filter = Filter::current(&[], at(1));
    assert_eq!(filter.limit, limits::FIND_MAX);
    refuse(store.find(&w.project, &filter.limit(over)).map(drop));
    refuse(store.ids_with_prefix(&w.project, "", over).map(drop));
    refuse(store.sessions(&w.project, None, over).map(drop));
}

fn events(store: &dyn Store) {
    let w = TestProject::new(store);
    let fact = w.fact("k", "x", 1);
    w.created(&fact);
    // A write takes as many confirmations as a query returns events.
    let confirm = |second| put(&w.fact("k", "x", second), KNOWLEDGE);
    let many: Vec<_> = (0..limits::EVENTS_MAX).map(|_| confirm(3)).collect();
    w.change(confirm(2));
    for part in many.chunks(limits::CHANGES_MAX) {
        w.apply(part);
    }
    for record in [None, Some(fact.id)] {
        let told = ok(store.events(&w.project, record, limits::EVENTS_MAX));
        assert_eq!(told.len(), limits::EVENTS_MAX);
        assert!(
            told.iter().all(|event| event.at == at(3)),
            "the newest of them"
        );
        let over = limits::EVENTS_MAX + 1;
        refuse(store.events(&w.project, record, over).map(drop));
    }
}

fn purges(store: &dyn Store) {
    let w = TestProject::new(store);
    let text = "x".repeat(limits::PURGE_TEXT_BYTES_MAX + 1);
    let record = w.created(&w.record(Kind::Note, &text, 1));
    let most = &text[..limits::PURGE_TEXT_BYTES_MAX];
    let ids = |count| PurgeTarget::Records((0..count).map(|_| record).collect());
    for over in [
        PurgeTarget::Containing(text.clone()),
        ids(limits::CHANGES_MAX + 1),
    ] {
        refuse(store.preview_purge(&w.project, &over).map(drop));
        refuse(store.purge(&w.project, &over, at(2), BY).map(drop));
        assert_eq!(w.get(record).text, text, "it is still there");
    }
    for fits in [
        PurgeTarget::Containing(most.to_owned()),
        ids(limits::CHANGES_MAX),
    ] {
        assert_eq!(ok(store.preview_purge(&w.project, &fits)).records, 1);
    }
    let fits = PurgeTarget::Containing(most.to_owned());
    assert_eq!(ok(store.purge(&w.project, &fits, at(2), BY)).records, 1);
    w.expect_gone(record);
}

fn project(store: &dyn Store) {
    let (w, other) = (TestProject::new(store), TestProject::of(store, "other"));
    let strange = other.record(Kind::Note, "x", 1);
    expect(&w.refused(put(&strange, MergeRule::Replace)), is_invalid);
}

#[track_caller]
fn at_the_cap(w: &TestProject<'_>, cap: usize, record: &dyn Fn(usize) -> Record) {
    let largest = record(cap);
    w.created(&largest);
    assert!(w.get(largest.id) == largest, "it comes back whole");
    expect(
        &w.refused(put(&record(cap + 1), MergeRule::Replace)),
        is_invalid,
    );
}

#[track_caller]
fn refuse(result: Result<(), StoreError>) {
    match result {
        Ok(()) => panic!("over a cap"),
        Err(error) => expect(&error, is_invalid),
    }
}
