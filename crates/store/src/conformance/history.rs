//! Checks of retiring, restoring, chains, and as-of queries.

use super::Check;
use super::test_project::{
    TestProject, answer, at, expect, is_not_found, is_stale, ok, put, restore, retire, revise,
};
use crate::{AsOf, Filter, Store, Verdict};
use heirloom_model::{Kind, MergeRule};

pub(super) const CHECKS: &[Check] = &[
    ("a retired record is not current", retiring),
    ("a restored record is current again", restoring),
    ("restoring toggles between versions", toggling),
    ("a restored record regains its key", restoring_over_a_holder),
    (
        "a restored record ends its chain",
        restoring_past_another_key,
    ),
    ("restoring needs a retired record", restoring_current),
    ("history returns the whole chain", chains),
    ("circular chains end", circles),
    ("as-of queries see the past state", as_of),
    ("an expired record is not current", expiry),
];

fn retiring(store: &dyn Store) {
    let w = TestProject::new(store);
    let record = w.fact("k", "one", 1);
    w.created(&record);
    let applied = w.change(retire(record.id, 2));
    assert_eq!(applied, answer(record.id, Verdict::Retired, None));
    assert_eq!(w.current(9), [""; 0]);
    let past = w.get(record.id);
    assert_eq!((past.retired_at, past.replaced_by), (Some(at(2)), None));
    expect(&w.refused(retire(record.id, 3)), is_stale);
    expect(&w.refused(retire(w.id(4), 3)), is_not_found);
    let elsewhere = TestProject::of(store, "other");
    expect(&elsewhere.refused(retire(record.id, 3)), is_not_found);
    w.created(&w.fact("k", "the key is free", 5));
}

fn restoring(store: &dyn Store) {
    let w = TestProject::new(store);
    let record = w.fact("k", "one", 1);
    w.created(&record);
    w.change(retire(record.id, 2));
    let applied = w.change(restore(record.id, 3));
    assert_eq!(applied, answer(record.id, Verdict::Restored, None));
    assert_eq!(w.get(record.id), record);
    assert_eq!(w.current(9), ["one"]);
    assert_eq!(w.as_of(1), ["one"]);
    assert_eq!(w.as_of(2), [""; 0]);
    assert_eq!(w.as_of(3), ["one"]);
}

fn toggling(store: &dyn Store) {
    let w = TestProject::new(store);
    let (a, b) = (w.fact("k", "a", 1), w.fact("k", "b", 2));
    w.created(&a);
    w.put(&b);
    for round in 0..3 {
        let (undo, redo) = (3 + 2 * round, 4 + 2 * round);
        let applied = w.change(restore(a.id, undo));
        assert_eq!(applied, answer(a.id, Verdict::Restored, Some(b.id)));
        assert_eq!((w.get(a.id), w.current(99)), (a.clone(), vec!["a".into()]));
        assert_eq!(w.get(b.id).replaced_by, Some(a.id));
        let applied = w.change(restore(b.id, redo));
        assert_eq!(applied, answer(b.id, Verdict::Restored, Some(a.id)));
        assert_eq!((w.get(b.id), w.current(99)), (b.clone(), vec!["b".into()]));
        assert_eq!(w.history(a.id), ["a", "b"]);
    }
    for (second, expected) in [(1, "a"), (2, "b"), (3, "a"), (4, "b"), (7, "a"), (8, "b")] {
        assert_eq!(w.as_of(second), [expected], "at {second}");
    }
}

fn restoring_over_a_holder(store: &dyn Store) {
    let w = TestProject::new(store);
    let (a, b) = (w.fact("k", "a", 1), w.fact("k", "b", 3));
    w.created(&a);
    w.change(retire(a.id, 2));
    w.created(&b);
    assert_eq!(w.history(a.id), ["a"], "b did not take the place of a");
    let applied = w.change(restore(a.id, 4));
    assert_eq!(applied, answer(a.id, Verdict::Restored, Some(b.id)));
    assert_eq!(w.current(9), ["a"]);
    assert_eq!(w.history(a.id), ["a", "b"]);
    assert_eq!(
        (w.as_of(1), w.as_of(3)),
        (vec!["a".into()], vec!["b".into()])
    );
}

fn restoring_past_another_key(store: &dyn Store) {
    let w = TestProject::new(store);
    let (a, b) = (w.fact("k", "a", 1), w.fact("k2", "b", 2));
    let c = w.fact("k3", "c", 3);
    w.created(&a);
    w.change(revise(a.id, &b));
    w.change(revise(b.id, &c));
    let held = w.fact("k", "held", 4);
    w.created(&held);
    let applied = w.change(restore(a.id, 5));
    assert_eq!(applied, answer(a.id, Verdict::Restored, Some(c.id)));
    assert_eq!(w.current(9), ["a"], "neither the end nor the holder stays");
    assert_eq!(w.history(b.id), ["a", "b", "c", "held"]);
    let applied = w.change(restore(c.id, 6));
    assert_eq!(applied, answer(c.id, Verdict::Restored, Some(a.id)));
    assert_eq!(w.current(9), ["c"]);
}

fn restoring_current(store: &dyn Store) {
    let w = TestProject::new(store);
    let record = w.fact("k", "one", 1);
    expect(&w.refused(restore(record.id, 2)), is_not_found);
    w.created(&record);
    expect(&w.refused(restore(record.id, 2)), is_stale);
    let mut brief = w.fact("brief", "x", 1);
    brief.expires_at = Some(at(5));
    w.created(&brief);
    w.change(retire(brief.id, 2));
    expect(&w.refused(restore(brief.id, 5)), is_stale);
    w.change(restore(brief.id, 4));
    assert_eq!(w.current(4), ["one", "x"]);
}

fn chains(store: &dyn Store) {
    let w = TestProject::new(store);
    let versions: Vec<_> = (1..6)
        .map(|n| w.fact("k", &format!("version {n}"), n))
        .collect();
    for version in &versions {
        w.change(put(version, MergeRule::Replace));
    }
    w.created(&w.fact("other", "stranger", 7));
    let expected: Vec<String> = versions.iter().map(|v| v.text.clone()).collect();
    for version in &versions {
        assert_eq!(w.history(version.id), expected);
    }
    w.change(retire(versions[4].id, 8));
    assert_eq!(w.history(versions[0].id), expected);
    let unknown = store.history(&w.project, w.id(9));
    expect_missing(unknown.map(drop));
    let elsewhere = TestProject::of(store, "other");
    expect_missing(store.history(&elsewhere.project, versions[0].id).map(drop));
    expect_missing(store.get(&elsewhere.project, versions[0].id).map(drop));
}

fn circles(store: &dyn Store) {
    let w = TestProject::new(store);
    let (mut a, mut b) = (w.fact("k", "a", 1), w.fact("k", "b", 2));
    (a.retired_at, a.replaced_by) = (Some(at(2)), Some(b.id));
    (b.retired_at, b.replaced_by) = (Some(at(3)), Some(a.id));
    w.created(&a);
    w.created(&b);
    assert_eq!(w.history(b.id), ["a", "b"]);
    assert_eq!(w.change(restore(a.id, 4)).verdict, Verdict::Restored);
    assert_eq!(w.history(b.id), ["a", "b"]);
}

fn as_of(store: &dyn Store) {
    let w = TestProject::new(store);
    let (a, b) = (w.fact("k", "a", 10), w.fact("k", "b", 20));
    w.created(&a);
    w.put(&b);
    w.change(retire(b.id, 30));
    w.change(restore(b.id, 40));
    w.created(&w.record(Kind::Note, "note", 50));
    let none: [&str; 0] = [];
    assert_eq!(w.as_of(9), none);
    assert_eq!(w.as_of(10), ["a"]);
    assert_eq!(w.as_of(19), ["a"]);
    assert_eq!(w.as_of(20), ["b"]);
    assert_eq!(w.as_of(30), none);
    assert_eq!(w.as_of(39), none);
    assert_eq!(w.as_of(40), ["b"]);
    assert_eq!(w.as_of(50), ["b", "note"]);
    let notes = Filter {
        as_of: AsOf::Past(at(60)),
        ..Filter::current(&[Kind::Note], at(0))
    };
    assert_eq!(w.texts(&notes), ["note"]);
    let ever = Filter {
        as_of: AsOf::Ever,
        ..Filter::current(&[], at(0))
    };
    assert_eq!(w.texts(&ever), ["note", "b", "a"]);
}

fn expiry(store: &dyn Store) {
    let w = TestProject::new(store);
    let mut brief = w.record(Kind::Note, "brief", 1);
    brief.expires_at = Some(at(10));
    w.created(&brief);
    w.created(&w.record(Kind::Note, "lasting", 2));
    assert_eq!(w.current(9), ["brief", "lasting"]);
    assert_eq!(w.current(10), ["lasting"]);
    assert_eq!(w.as_of(9), ["brief", "lasting"]);
    assert_eq!(w.as_of(10), ["lasting"]);
    assert_eq!(ok(store.counts(&w.project, at(9))), [(Kind::Note, 2)]);
    assert_eq!(ok(store.counts(&w.project, at(10))), [(Kind::Note, 1)]);
    w.change(retire(brief.id, 11));
    assert_eq!(ok(store.counts(&w.project, at(10))), [(Kind::Note, 1)]);
    assert_eq!(w.as_of(9), ["brief", "lasting"]);
}

#[track_caller]
fn expect_missing(result: Result<(), crate::StoreError>) {
    match result {
        Ok(()) => panic!("nothing should be found"),
        Err(error) => expect(&error, is_not_found),
    }
}
