//! Checks of conflicts between sources: decisions of a merge.

use super::Check;
use super::conflict_scenario::{
    confident_knowledge, knowledge, knowledge_from, open_conflict_filter, put_with_policy, reopen,
    resolve,
};
use super::test_project::{TestProject, answer, at};
use crate::{Filter, Store, Verdict};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Confidence, ConflictPolicy, Kind, KindData, Record};

pub(super) const CHECKS: &[Check] = &[
    ("policy `newest` prefers the newest value", newest),
    (
        "a higher authority is never replaced",
        higher_authority_stays,
    ),
    (
        "a higher authority replaces a lower one",
        higher_authority_wins,
    ),
    (
        "a value that a person resolved for stays",
        decided_value_stays,
    ),
    ("a value that a person accepted stays", accepted_value_stays),
    (
        "a lower authority confirms and changes nothing",
        lower_authority_confirms,
    ),
    ("ask keeps both and disputes the current one", ask),
    (
        "a dispute moves to the next value",
        dispute_moves_to_next_value,
    ),
    ("a person's confirmation accepts a proposal", proposals),
    ("different times of validity are a conflict", validity),
    (
        "values that differ in substance are never merged",
        substance,
    ),
];

/// Pairs of a lower and a higher authority.
const PAIRS: [(&str, &str); 5] = [
    ("bob", "user"),
    ("bob", "orchestrator"),
    ("bob", "team"),
    ("orchestrator", "user"),
    ("team", "user"),
];

fn newest(store: &dyn Store) {
    let w = TestProject::new(store);
    let first = knowledge_from(&w, "eve", "port 80", 1);
    w.created(&first);
    let newer = knowledge_from(&w, "bob", "port 81", 2);
    let applied = put_with_policy(&w, &newer, ConflictPolicy::Newest);
    assert_eq!(applied, answer(newer.id, Verdict::Replaced, Some(first.id)));
    assert!(knowledge(&w, first.id).is_open_conflict());
    assert_eq!(w.get(newer.id), newer);
    assert_eq!(w.current(9), ["port 81"]);
}

fn higher_authority_stays(store: &dyn Store) {
    for policy in ConflictPolicy::ALL {
        for (n, (lower, higher)) in PAIRS.into_iter().enumerate() {
            let w = TestProject::of(store, &format!("stays-{policy}-{n}"));
            let mut first = knowledge_from(&w, higher, "port 80", 1);
            first.confidence = Confidence::AGENT;
            w.created(&first);
            let other = confident_knowledge(&w, lower, "port 81", 2);
            let applied = put_with_policy(&w, &other, policy);
            let lost_conflicts = answer(other.id, Verdict::Conflict, Some(first.id));
            assert_eq!(applied, lost_conflicts, "{policy} {lower} {higher}");
            assert_eq!(w.current(9), ["port 80"]);
            assert_eq!(w.get(first.id).confidence, Confidence::AGENT);
            assert!(knowledge(&w, other.id).is_open_conflict());
            assert!(!knowledge(&w, first.id).disputed, "{policy}");
        }
    }
}

fn higher_authority_wins(store: &dyn Store) {
    for policy in ConflictPolicy::ALL {
        for (n, (lower, higher)) in PAIRS.into_iter().enumerate() {
            let w = TestProject::of(store, &format!("wins-{policy}-{n}"));
            let first = confident_knowledge(&w, lower, "port 80", 1);
            w.created(&first);
            let mut better = knowledge_from(&w, higher, "port 81", 2);
            better.confidence = Confidence::AGENT;
            let applied = put_with_policy(&w, &better, policy);
            let won = answer(better.id, Verdict::Replaced, Some(first.id));
            assert_eq!(applied, won, "{policy} {lower} {higher}");
            assert!(!knowledge(&w, better.id).disputed);
            assert!(knowledge(&w, first.id).is_open_conflict());
        }
    }
}

fn accepted_value_stays(store: &dyn Store) {
    let w = TestProject::new(store);
    let first = confident_knowledge(&w, "bob", "port 80", 1);
    w.created(&first);
    w.put(&knowledge_from(&w, "user", "Port 80", 2));
    assert_eq!(knowledge(&w, first.id).vouched_by.as_deref(), Some("user"));
    // Not even its own source replaces it now.
    for (n, source) in ["bob", "eve", "orchestrator"].into_iter().enumerate() {
        let other = confident_knowledge(&w, source, &format!("port 8{}", n + 1), 3);
        let lost_conflicts = answer(other.id, Verdict::Conflict, Some(first.id));
        assert_eq!(w.put(&other), lost_conflicts, "{source}");
    }
    let corrected = knowledge_from(&w, "user", "port 90", 4);
    let won = answer(corrected.id, Verdict::Replaced, Some(first.id));
    assert_eq!(w.put(&corrected), won);
}

fn lower_authority_confirms(store: &dyn Store) {
    let w = TestProject::new(store);
    let mut first = knowledge_from(&w, "user", "port 80", 1);
    first.confidence = Confidence::AGENT;
    w.created(&first);
    let mut again = confident_knowledge(&w, "bob", "Port 80", 2);
    let mut typed = Knowledge::with_category("fact");
    typed.rationale = Some("because bob wants it".to_owned());
    again.attrs = typed.to_attrs();
    assert_eq!(w.put(&again), answer(first.id, Verdict::Confirmed, None));
    let stored = knowledge(&w, first.id);
    assert_eq!((stored.confirmations, stored.rationale), (1, None));
    assert_eq!(stored.vouched_by, None);
    assert_eq!(w.get(first.id).confidence, Confidence::AGENT);
}

fn ask(store: &dyn Store) {
    let w = TestProject::new(store);
    let first = knowledge_from(&w, "bob", "port 80", 1);
    w.created(&first);
    let mut surer = knowledge_from(&w, "ann", "port 81", 2);
    surer.confidence = Confidence::FULL;
    let applied = put_with_policy(&w, &surer, ConflictPolicy::Ask);
    assert_eq!(applied, answer(surer.id, Verdict::Conflict, Some(first.id)));
    let holder = knowledge(&w, first.id);
    assert!(holder.disputed && !holder.conflict);
    let waits = knowledge(&w, surer.id);
    assert!(waits.is_open_conflict() && !waits.disputed);
    assert_eq!(w.get(surer.id).retired_at, Some(at(2)));
    assert_eq!(w.current(9), ["port 80"], "it stands there, marked");
    let valid = Filter::current(&[], at(9)).holds_at(at(9));
    assert!(w.texts(&valid).is_empty(), "neither is valid");

    // Writing the same value again confirms, and resolves nothing.
    let again = knowledge_from(&w, "eve", "Port 80.", 3);
    let applied = put_with_policy(&w, &again, ConflictPolicy::Ask);
    assert_eq!(applied, answer(first.id, Verdict::Confirmed, None));
    assert!(knowledge(&w, first.id).disputed);

    let applied = w.change(resolve(surer.id, 4));
    assert_eq!(applied, answer(surer.id, Verdict::Resolved, Some(first.id)));
    assert_eq!(w.texts(&valid), ["port 81"]);
    assert!(!knowledge(&w, first.id).disputed);
}

fn dispute_moves_to_next_value(store: &dyn Store) {
    let w = TestProject::new(store);
    let first = knowledge_from(&w, "bob", "port 80", 1);
    w.created(&first);
    put_with_policy(
        &w,
        &knowledge_from(&w, "eve", "port 81", 2),
        ConflictPolicy::Ask,
    );
    let corrected = knowledge_from(&w, "bob", "port 8080", 3);
    let applied = put_with_policy(&w, &corrected, ConflictPolicy::Ask);
    assert_eq!(
        applied,
        answer(corrected.id, Verdict::Replaced, Some(first.id))
    );
    assert!(knowledge(&w, corrected.id).disputed);
    // Another policy picks a winner, and the dispute ends.
    let newest = knowledge_from(&w, "ann", "port 90", 4);
    put_with_policy(&w, &newest, ConflictPolicy::Newest);
    let beaten = knowledge(&w, corrected.id);
    assert!(beaten.is_open_conflict() && !beaten.disputed);
    assert!(!knowledge(&w, newest.id).disputed);
    assert_eq!(w.texts(&open_conflict_filter()), ["port 81", "port 8080"]);
}

fn proposals(store: &dyn Store) {
    let w = TestProject::new(store);
    let mut first = knowledge_from(&w, "bob", "use pnpm, not npm", 1);
    let mut typed = Knowledge::with_category("fact");
    typed.proposal = true;
    first.attrs = typed.to_attrs();
    w.created(&first);
    w.created(&w.fact("other", "not a proposal", 1));
    let waiting = Filter {
        proposal: true,
        ..Filter::current(&[Kind::Knowledge], at(9))
    };
    assert_eq!(w.texts(&waiting), ["use pnpm, not npm"]);
    for (source, still) in [("eve", true), ("orchestrator", false), ("bob", false)] {
        let again = knowledge_from(&w, source, "Use pnpm - not npm!", 2);
        assert_eq!(w.put(&again), answer(first.id, Verdict::Confirmed, None));
        assert_eq!(knowledge(&w, first.id).proposal, still, "{source}");
        assert_eq!(w.texts(&waiting).len(), usize::from(still), "{source}");
    }
    let stored = w.get(first.id);
    assert_eq!(stored.confidence, Confidence::FULL, "and it never falls");
    assert_eq!(stored.source, "bob");
    assert_eq!(knowledge(&w, first.id).confirmations, 3);
}

fn validity(store: &dyn Store) {
    let w = TestProject::new(store);
    let first = knowledge_from(&w, "user", "Mondays are free", 1);
    w.created(&first);
    let mut ends = knowledge_from(&w, "user", "Mondays are free", 2);
    ends.true_to = Some(at(100));
    assert_eq!(
        w.put(&ends),
        answer(ends.id, Verdict::Replaced, Some(first.id))
    );
    // Without times of validity, or with equal ones, the value is the same.
    for (n, true_to) in [(3, None), (4, Some(at(100)))] {
        let again = Record {
            true_to,
            ..knowledge_from(&w, "user", "mondays are free", n)
        };
        assert_eq!(w.put(&again), answer(ends.id, Verdict::Confirmed, None));
    }
}

fn substance(store: &dyn Store) {
    let w = TestProject::new(store);
    let mut before = knowledge_from(&w, "user", "use v1.2", 1);
    w.created(&before);
    for (second, text) in [(2, "use v1-2"), (3, "use v12"), (4, "never use v12")] {
        let other = knowledge_from(&w, "user", text, second);
        let replaced = answer(other.id, Verdict::Replaced, Some(before.id));
        assert_eq!(w.put(&other), replaced, "{text}");
        before = other;
    }
}

fn decided_value_stays(store: &dyn Store) {
    let w = TestProject::new(store);
    w.created(&knowledge_from(&w, "user", "port 80", 1));
    let lost_conflicts = knowledge_from(&w, "bob", "port 81", 2);
    w.put(&lost_conflicts);
    w.change(resolve(lost_conflicts.id, 3));
    assert_eq!(
        knowledge(&w, lost_conflicts.id).vouched_by.as_deref(),
        Some("user")
    );
    for (n, source) in ["bob", "eve"].into_iter().enumerate() {
        let again = confident_knowledge(&w, source, "port 82", 4 + n as i64);
        assert_eq!(w.put(&again).verdict, Verdict::Conflict, "{source}");
    }
    assert_eq!(w.current(9), ["port 81"]);
    w.change(reopen(lost_conflicts.id, 6));
    assert_eq!(knowledge(&w, lost_conflicts.id).vouched_by, None);
    assert_eq!(w.current(9), ["port 80"]);
}
