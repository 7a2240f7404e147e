//! Checks of put and revise, and of the atomicity of a call.

use super::Check;
use super::test_project::{
    TestProject, answer, at, expect, is_invalid, is_not_found, is_stale, ok, put, restore, retire,
    revise,
};
use crate::{Store, Verdict};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Confidence, Kind, KindData, MergeRule, Scope};
use serde_json::json;

pub(super) const CHECKS: &[Check] = &[
    ("a record is read as it was written", comes_back),
    ("records without a key are appended", appended),
    ("a key belongs to its kind and category", identity),
    ("an expired record is replaced", expired_holder),
    ("a revision may change key and category", revision),
    ("a revision cannot take a used key", revision_to_used_key),
    ("a revision needs a current record", revision_of_past),
    ("a call is atomic", all_or_nothing),
    ("later changes see earlier ones", later_see_earlier),
    ("no changes write nothing", no_changes),
    ("an id is written once", id_once),
    (
        "a record written as retired has no identity",
        written_as_past,
    ),
];

fn comes_back(store: &dyn Store) {
    let w = TestProject::new(store);
    let mut record = w.record(Kind::Note, "naïve \"quotes\" 'n 🦀\u{0}\r\n\tend", 1);
    record.key = Some("k:\"1\"; DROP TABLE records--".to_owned());
    record.scope = Scope {
        plan: Some("p".to_owned()),
        group: Some("g".to_owned()),
        session: Some("s".to_owned()),
        task: Some("t".to_owned()),
        agent: Some("a".to_owned()),
        phase: Some("ph".to_owned()),
        iteration: Some(u32::MAX),
    };
    let attrs = json!({
        "category": "Notes 🗒", "n": [1, -2, 0.1, 1e300, u64::MAX, 2.0], "deep": {"null": null, "\u{0}": true}
    });
    record.attrs = attrs.as_object().cloned().unwrap_or_default();
    record.confidence = Confidence::new(0.1).unwrap_or(Confidence::FULL);
    record.tokens = u32::MAX;
    record.true_from = Some(at(-2_000_000_000));
    record.true_to = Some(at(5));
    record.expires_at = Some(at(100));
    w.created(&record);
    assert_eq!(w.get(record.id), record);
    let plain = w.record(Kind::Summary, "", 2);
    w.created(&plain);
    assert_eq!(w.get(plain.id), plain);
    let other = ok(TestProject::of(store, "another").store.projects());
    assert_eq!(other, std::slice::from_ref(&w.project));
}

fn appended(store: &dyn Store) {
    let w = TestProject::new(store);
    for second in 1..4 {
        w.created(&w.record(Kind::Note, "the same", second));
    }
    assert_eq!(w.current(9).len(), 3);
}

fn identity(store: &dyn Store) {
    let w = TestProject::new(store);
    w.created(&w.fact("k", "fact", 1));
    let mut decision = w.fact("k", "decision", 2);
    decision.attrs = Knowledge::with_category("decision").to_attrs();
    w.created(&decision);
    let mut output = w.record(Kind::Output, "output", 3);
    output.key = Some("k".to_owned());
    w.created(&output);
    let mut note = w.record(Kind::Note, "note without a category", 4);
    note.key = Some("k".to_owned());
    w.created(&note);
    note.id = w.id(5);
    note.attrs.insert("category".to_owned(), json!("Notes"));
    w.created(&note);
    w.created(&w.fact("K", "another case is another key", 6));
    assert_eq!(w.current(9).len(), 6);
    let elsewhere = TestProject::of(store, "other");
    elsewhere.created(&elsewhere.fact("k", "fact", 7));
}

fn expired_holder(store: &dyn Store) {
    let w = TestProject::new(store);
    let mut brief = w.fact("k", "for an hour", 1);
    brief.expires_at = Some(at(10));
    w.created(&brief);
    let next = w.fact("k", "from now on", 10);
    assert_eq!(w.put(&next), answer(next.id, Verdict::Created, None));
    assert_eq!(w.current(10), ["from now on"]);
    assert_eq!(w.as_of(9), ["for an hour"]);
    assert_eq!(w.history(next.id), ["for an hour", "from now on"]);
    assert!(w.get(brief.id).retired_at.is_some());
}

fn revision(store: &dyn Store) {
    let w = TestProject::new(store);
    let first = w.fact("k", "one", 1);
    w.created(&first);
    let mut second = w.fact("other", "two", 2);
    second.attrs = Knowledge::with_category("decision").to_attrs();
    let applied = w.change(revise(first.id, &second));
    assert_eq!(
        applied,
        answer(second.id, Verdict::Replaced, Some(first.id))
    );
    assert_eq!(w.current(9), ["two"]);
    assert_eq!(w.history(first.id), ["one", "two"]);
    let old = w.get(first.id);
    assert_eq!(
        (old.retired_at, old.replaced_by),
        (Some(at(2)), Some(second.id))
    );
    // The abandoned key is free again.
    w.created(&w.fact("k", "three", 3));
}

fn revision_to_used_key(store: &dyn Store) {
    let w = TestProject::new(store);
    let (a, b) = (w.fact("a", "a", 1), w.fact("b", "b", 2));
    w.created(&a);
    w.created(&b);
    expect(&w.refused(revise(a.id, &w.fact("b", "c", 3))), is_stale);
    let other_kind = w.record(Kind::Note, "c", 3);
    expect(&w.refused(revise(a.id, &other_kind)), is_invalid);
    assert_eq!((w.get(a.id), w.get(b.id)), (a, b));
}

fn revision_of_past(store: &dyn Store) {
    let w = TestProject::new(store);
    let first = w.fact("k", "one", 1);
    let next = w.fact("k", "two", 3);
    expect(&w.refused(revise(first.id, &next)), is_not_found);
    w.created(&first);
    w.change(retire(first.id, 2));
    expect(&w.refused(revise(first.id, &next)), is_stale);
    let mut brief = w.fact("brief", "one", 1);
    brief.expires_at = Some(at(2));
    w.created(&brief);
    expect(&w.refused(revise(brief.id, &next)), is_stale);
    w.expect_gone(next.id);
}

fn all_or_nothing(store: &dyn Store) {
    let w = TestProject::new(store);
    let old = w.fact("k", "old", 1);
    w.created(&old);
    let changes = [
        put(&w.fact("k", "new", 2), MergeRule::Replace),
        put(&w.fact("fresh", "fresh", 2), MergeRule::Replace),
        retire(w.id(3), 3),
    ];
    match store.apply(&w.project, &changes) {
        Ok(applied) => panic!("the last change has no record: {applied:?}"),
        Err(error) => expect(&error, is_not_found),
    }
    assert_eq!(w.current(9), ["old"]);
    assert_eq!(w.get(old.id), old);
    let fresh = TestProject::of(store, "never written to");
    let changes = [
        put(&fresh.fact("k", "x", 1), MergeRule::Keep),
        retire(w.id(4), 4),
    ];
    assert!(store.apply(&fresh.project, &changes).is_err());
    assert_eq!(ok(store.projects()), std::slice::from_ref(&w.project));
}

fn later_see_earlier(store: &dyn Store) {
    let w = TestProject::new(store);
    let (a, b) = (w.fact("k", "a", 1), w.fact("k", "b", 2));
    let applied = w.apply(&[
        put(&a, MergeRule::Replace),
        put(&b, MergeRule::Replace),
        retire(b.id, 3),
        restore(a.id, 4),
    ]);
    let expected = [
        answer(a.id, Verdict::Created, None),
        answer(b.id, Verdict::Replaced, Some(a.id)),
        answer(b.id, Verdict::Retired, None),
        answer(a.id, Verdict::Restored, None),
    ];
    assert_eq!(applied, expected);
    assert_eq!(w.current(9), ["a"]);
    assert_eq!(w.history(a.id), ["a", "b"], "the chain stays one");
}

fn no_changes(store: &dyn Store) {
    let w = TestProject::new(store);
    assert_eq!(w.apply(&[]), []);
    assert_eq!(ok(store.projects()), []);
}

fn id_once(store: &dyn Store) {
    let w = TestProject::new(store);
    let first = w.fact("k", "one", 1);
    w.created(&first);
    let mut same_id = w.fact("other", "two", 2);
    same_id.id = first.id;
    let error = w.refused(put(&same_id, MergeRule::Replace));
    expect(&error, is_stale);
    assert_eq!(w.get(first.id), first);
    // The same id in another project is a different record.
    let elsewhere = TestProject::of(store, "other");
    same_id.project = elsewhere.project.clone();
    elsewhere.created(&same_id);
}

fn written_as_past(store: &dyn Store) {
    let w = TestProject::new(store);
    let mut past = w.fact("k", "then", 1);
    let current = w.fact("k", "now", 5);
    w.created(&current);
    past.retired_at = Some(at(5));
    past.replaced_by = Some(current.id);
    w.created(&past);
    assert_eq!(w.get(past.id), past);
    assert_eq!(w.current(9), ["now"]);
    assert_eq!(w.as_of(3), ["then"]);
    assert_eq!(w.history(current.id), ["then", "now"]);
    let mut half = w.fact("half", "x", 6);
    half.replaced_by = Some(current.id);
    expect(&w.refused(put(&half, MergeRule::Replace)), is_invalid);
    expect(&w.refused(revise(current.id, &past)), is_invalid);
}
