//! Checks of the resolution of conflicts, and of its reversal.

use super::Check;
use super::conflict_scenario::{
    knowledge, knowledge_from, lost_conflicts, open_conflict_filter, put_with_policy, reopen,
    resolve,
};
use super::test_project::{
    BY, TestProject, answer, at, expect, is_not_found, is_stale, ok, restore,
};
use crate::{Filter, Store, Verdict};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Action, ConflictPolicy, KindData, Record, RecordId};

pub(super) const CHECKS: &[Check] = &[
    ("resolution in favour of the winner", resolve_for_winner),
    ("resolution in favour of a loser", resolve_for_loser),
    ("resolution between several values", resolve_between_several),
    ("a resolution is reverted", reopened_conflict),
    ("resolution without an open conflict", no_open_conflict),
    ("as-of queries see a resolution", as_of_resolution),
    (
        "the conflict filter finds open conflicts only",
        open_conflicts,
    ),
];

fn resolve_for_winner(store: &dyn Store) {
    let w = TestProject::new(store);
    let [first, bob, eve] = lost_conflicts(&w);
    assert_eq!(w.texts(&open_conflict_filter()), ["port 81", "port 82"]);
    let applied = w.change(resolve(first.id, 4));
    assert_eq!(applied, answer(first.id, Verdict::Resolved, None));
    assert_eq!(w.get(first.id), first);
    for loser in [bob, eve] {
        let known = knowledge(&w, loser.id);
        assert!(known.conflict, "that it lost stays known");
        assert_eq!(known.arbitrated, Some(at(4)));
    }
    assert!(w.texts(&open_conflict_filter()).is_empty());
    let events = ok(store.events(&w.project, Some(first.id), 9));
    let valid: Vec<_> = events.iter().map(|e| (e.action, &*e.by, e.at)).collect();
    assert_eq!(valid, [(Action::Resolved, BY, at(4))]);
}

fn resolve_for_loser(store: &dyn Store) {
    let w = TestProject::new(store);
    let [first, bob, _] = lost_conflicts(&w);
    let applied = w.change(resolve(bob.id, 4));
    assert_eq!(applied, answer(bob.id, Verdict::Resolved, Some(first.id)));
    let (won, beaten) = (w.get(bob.id), w.get(first.id));
    assert_eq!((won.retired_at, won.replaced_by), (None, None));
    let known = knowledge(&w, bob.id);
    assert_eq!(known.vouched_by.as_deref(), Some(BY));
    assert!(!known.conflict && !known.disputed && known.arbitrated.is_none());
    assert_eq!(
        (beaten.retired_at, beaten.replaced_by),
        (Some(at(4)), Some(bob.id))
    );
    assert!(!knowledge(&w, first.id).conflict, "it is not asked again");
    assert_eq!(w.current(9), ["port 81"]);
    assert!(
        w.texts(&open_conflict_filter()).is_empty(),
        "the other loser is settled too"
    );
}

fn resolve_between_several(store: &dyn Store) {
    let w = TestProject::new(store);
    let [first, bob, eve] = lost_conflicts(&w);
    // The winner's source changes its value; the conflict with the older value stays open.
    let corrected = knowledge_from(&w, "user", "port 8080", 4);
    w.put(&corrected);
    expect(&w.refused(resolve(first.id, 5)), is_stale);
    let applied = w.change(resolve(eve.id, 5));
    assert_eq!(
        applied,
        answer(eve.id, Verdict::Resolved, Some(corrected.id))
    );
    assert_eq!(w.current(9), ["port 82"]);
    assert_eq!(knowledge(&w, bob.id).arbitrated, Some(at(5)));
    // A later conflict is separate.
    let later = knowledge_from(&w, "ann", "port 99", 6);
    w.put(&later);
    expect(&w.refused(resolve(bob.id, 7)), is_stale);
    assert_eq!(w.texts(&open_conflict_filter()).len(), 1);
}

fn reopened_conflict(store: &dyn Store) {
    let w = TestProject::new(store);
    for keep in [0, 1] {
        for policy in [ConflictPolicy::HigherConfidence, ConflictPolicy::Ask] {
            let key = format!("{keep} {policy}");
            let statement = |source, text, second| Record {
                key: Some(key.clone()),
                ..knowledge_from(&w, source, text, second)
            };
            let all = [
                statement("user", "a", 1),
                statement("bob", "b", 2),
                statement("eve", "c", 3),
            ];
            for one in &all {
                put_with_policy(&w, one, policy);
            }
            let state = || all.each_ref().map(|one| w.get(one.id));
            let before = state();
            let (stored, first) = (all[keep].id, all[0].id);
            let other = (keep > 0).then_some(first);
            let resolved = answer(stored, Verdict::Resolved, other);
            assert_eq!(w.change(resolve(stored, 4)), resolved);
            let after = state();
            // Writing the value again does not hide the resolution.
            let again = statement("ann", if keep == 0 { "A" } else { "B" }, 5);
            assert_eq!(w.put(&again).verdict, Verdict::Confirmed);
            let reopened = answer(first, Verdict::Reopened, (keep > 0).then_some(stored));
            assert_eq!(w.change(reopen(stored, 6)), reopened, "{key}");
            for (now, then) in state().iter().zip(&before) {
                let confirmed = now.id == stored;
                assert!(confirmed || now.attrs == then.attrs, "{now:?} {then:?}");
                assert_eq!(now.retired_at.is_some(), then.retired_at.is_some());
                let (now, then) = (Knowledge::from_record(now), Knowledge::from_record(then));
                let marks = |k: Knowledge| (k.conflict, k.arbitrated, k.disputed);
                assert_eq!(now.map(marks), then.map(marks), "{key}");
            }
            expect(&w.refused(reopen(first, 7)), is_stale);
            // It can be resolved again.
            assert_eq!(w.change(resolve(stored, 8)), resolved);
            for (now, then) in state().iter().zip(&after) {
                assert_eq!(now.replaced_by, then.replaced_by);
                assert_eq!(now.retired_at.is_some(), then.retired_at.is_some());
            }
        }
    }
}

fn no_open_conflict(store: &dyn Store) {
    let w = TestProject::new(store);
    let alone = knowledge_from(&w, "user", "port 80", 1);
    w.created(&alone);
    expect(&w.refused(resolve(alone.id, 2)), is_stale);
    expect(&w.refused(reopen(alone.id, 2)), is_stale);
    expect(&w.refused(resolve(w.id(1), 2)), is_not_found);
    expect(&w.refused(reopen(w.id(1), 2)), is_not_found);
    let same = knowledge_from(&w, "user", "port 81", 3);
    w.put(&same);
    expect(&w.refused(resolve(alone.id, 4)), is_stale);
    // A conflict against a retired record cannot be resolved.
    let loser = knowledge_from(&w, "bob", "port 82", 5);
    w.put(&loser);
    w.change(super::test_project::retire(same.id, 6));
    expect(&w.refused(resolve(loser.id, 7)), is_stale);
    w.change(restore(same.id, 8));
    w.change(resolve(loser.id, 9));
    expect(&w.refused(reopen(same.id, 10)), is_stale);
}

fn as_of_resolution(store: &dyn Store) {
    let w = TestProject::new(store);
    let [_, bob, _] = lost_conflicts(&w);
    w.change(resolve(bob.id, 10));
    w.change(reopen(bob.id, 20));
    for (second, text) in [
        (5, "port 80"),
        (10, "port 81"),
        (15, "port 81"),
        (20, "port 80"),
    ] {
        assert_eq!(w.as_of(second), [text], "at {second}");
    }
}

fn open_conflicts(store: &dyn Store) {
    let w = TestProject::new(store);
    let [first, bob, eve] = lost_conflicts(&w);
    let elsewhere = TestProject::of(store, "another");
    lost_conflicts(&elsewhere);
    let found = |filter: &Filter| -> Vec<RecordId> {
        w.find(filter).into_iter().map(|record| record.id).collect()
    };
    assert_eq!(found(&open_conflict_filter()), [bob.id, eve.id]);
    assert_eq!(found(&open_conflict_filter().limit(1)), [bob.id]);
    assert_eq!(
        found(&open_conflict_filter().category("fact")),
        [bob.id, eve.id]
    );
    assert!(found(&open_conflict_filter().category("decision")).is_empty());
    w.change(restore(eve.id, 5));
    assert_eq!(
        found(&open_conflict_filter()),
        [bob.id],
        "whoever brings it back has decided"
    );
    w.change(resolve(eve.id, 6));
    assert!(found(&open_conflict_filter()).is_empty());
    assert!(w.get(first.id).retired_at.is_some());
}
