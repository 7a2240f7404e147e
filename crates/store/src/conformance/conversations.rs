//! Checks of sessions and messages.

use super::Check;
use super::test_project::{TestProject, at, expect, is_invalid, is_not_found, is_stale, ok};
use crate::{Store, StoreError};
use heirloom_model::record::Attrs;
use heirloom_model::{Message, Role, Session, limits};
use serde_json::json;

pub(super) const CHECKS: &[Check] = &[
    ("a session is read as it was written", comes_back),
    ("sessions are newest first", newest_first),
    ("messages keep their order", messages),
    ("messages need their session", unknown_session),
    ("a message is written once", once),
    ("large turns and unusual names are stored", large),
];

pub(super) fn session(w: &TestProject<'_>, id: &str, task: Option<&str>, second: i64) -> Session {
    Session {
        project: w.project.clone(),
        id: id.to_owned(),
        agent: None,
        task: task.map(str::to_owned),
        started_at: at(second),
        ended_at: None,
        attrs: Attrs::new(),
    }
}

pub(super) fn message(w: &TestProject<'_>, text: &str, second: i64) -> Message {
    Message {
        id: w.id(second),
        seq: 999,
        role: Role::User,
        sender: None,
        text: text.to_owned(),
        attrs: Attrs::new(),
        tokens: 3,
        at: at(second),
    }
}

fn comes_back(store: &dyn Store) {
    let w = TestProject::new(store);
    let mut written = session(&w, "s-1", Some("42"), 1);
    ok(store.put_session(&written));
    assert_eq!(ok(store.session(&w.project, "s-1")), written);
    ok(store.append_messages(&w.project, "s-1", &[message(&w, "hello", 2)]));
    written.agent = Some("claude".to_owned());
    written.ended_at = Some(at(9));
    written
        .attrs
        .insert("model".to_owned(), json!({"name": "x"}));
    ok(store.put_session(&written));
    assert_eq!(ok(store.session(&w.project, "s-1")), written);
    let kept = ok(store.messages(&w.project, "s-1", 0, 9));
    assert_eq!(kept.len(), 1, "its messages stay");
    assert_eq!(ok(store.projects()), std::slice::from_ref(&w.project));
}

fn newest_first(store: &dyn Store) {
    let w = TestProject::new(store);
    for (id, task, second) in [("b", Some("42"), 2), ("c", None, 3), ("a", Some("42"), 1)] {
        ok(store.put_session(&session(&w, id, task, second)));
    }
    let ids = |task, limit| -> Vec<String> {
        let found = ok(store.sessions(&w.project, task, limit));
        found.into_iter().map(|session| session.id).collect()
    };
    assert_eq!(ids(None, 9), ["c", "b", "a"]);
    assert_eq!(ids(None, 2), ["c", "b"]);
    assert_eq!(ids(Some("42"), 9), ["b", "a"]);
    assert!(ids(Some("7"), 9).is_empty());
    let elsewhere = TestProject::of(store, "other");
    assert!(ok(store.sessions(&elsewhere.project, None, 9)).is_empty());
}

fn messages(store: &dyn Store) {
    let w = TestProject::new(store);
    ok(store.put_session(&session(&w, "s", None, 1)));
    ok(store.put_session(&session(&w, "t", None, 1)));
    let append = |id: &str, texts: &[&str]| {
        let turns: Vec<_> = texts.iter().map(|text| message(&w, text, 2)).collect();
        ok(store.append_messages(&w.project, id, &turns))
    };
    assert_eq!(append("s", &[]), 0);
    assert_eq!(append("s", &["a", "b"]), 0);
    assert_eq!(append("t", &["x"]), 0);
    assert_eq!(append("s", &["c"]), 2);
    assert_eq!(append("s", &[]), 3);
    let texts = |from, limit| -> Vec<(u64, String)> {
        let found = ok(store.messages(&w.project, "s", from, limit));
        found.into_iter().map(|m| (m.seq, m.text)).collect()
    };
    let turn = |seq: u64, text: &str| (seq, text.to_owned());
    assert_eq!(texts(0, 9), [turn(0, "a"), turn(1, "b"), turn(2, "c")]);
    assert_eq!(texts(1, 1), [turn(1, "b")]);
    assert!(texts(3, 9).is_empty());
    assert!(texts(u64::MAX, 9).is_empty());
    assert!(texts(0, 0).is_empty());
}

fn unknown_session(store: &dyn Store) {
    let w = TestProject::new(store);
    ok(store.put_session(&session(&w, "s", None, 1)));
    let turn = [message(&w, "a", 1)];
    let elsewhere = TestProject::of(store, "other");
    missing(store.session(&w.project, "t").map(drop));
    missing(store.session(&elsewhere.project, "s").map(drop));
    missing(store.messages(&w.project, "t", 0, 9).map(drop));
    missing(store.append_messages(&w.project, "t", &turn).map(drop));
    missing(store.append_messages(&w.project, "t", &[]).map(drop));
    missing(
        store
            .append_messages(&elsewhere.project, "s", &turn)
            .map(drop),
    );
}

fn once(store: &dyn Store) {
    let w = TestProject::new(store);
    ok(store.put_session(&session(&w, "s", None, 1)));
    let turn = message(&w, "a", 1);
    ok(store.append_messages(&w.project, "s", std::slice::from_ref(&turn)));
    let again = [message(&w, "b", 2), turn];
    match store.append_messages(&w.project, "s", &again) {
        Ok(place) => panic!("the same turn twice, at {place}"),
        Err(error) => expect(&error, is_stale),
    }
    assert_eq!(ok(store.messages(&w.project, "s", 0, 9)).len(), 1);
}

fn large(store: &dyn Store) {
    let w = TestProject::new(store);
    let id = "it's 🦀 \"s\"";
    ok(store.put_session(&session(&w, id, Some("ü"), 1)));
    let turns: Vec<Message> = (Role::ALL.iter().zip(0..))
        .map(|(role, seq)| Message {
            seq,
            role: *role,
            sender: Some("bob \"b\"".to_owned()),
            attrs: json!({"id": [1, {"x": 0.25}]})
                .as_object()
                .cloned()
                .unwrap_or_default(),
            ..message(&w, &"long\u{0} 🦀 ".repeat(300_000), 2)
        })
        .collect();
    ok(store.append_messages(&w.project, id, &turns));
    assert!(ok(store.messages(&w.project, id, 0, 9)) == turns);
    let long = "x".repeat(limits::NAME_BYTES_MAX + 1);
    for bad in ["", " ", "a\nb", &long] {
        match store.put_session(&session(&w, bad, None, 1)) {
            Ok(()) => panic!("`{bad}` is no name"),
            Err(error) => expect(&error, is_invalid),
        }
    }
}

#[track_caller]
fn missing(result: Result<(), StoreError>) {
    match result {
        Ok(()) => panic!("there is no such session"),
        Err(error) => expect(&error, is_not_found),
    }
}
