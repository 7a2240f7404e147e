//! Two sources say different things of one key: who wins, who decides, and how that is taken back.

use super::Check;
use super::world::{BY, World, answer, at, expect, is_not_found, is_stale, ok, put, restore};
use crate::{Applied, Change, Filter, Store, Verdict, When};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{
    Action, Confidence, ConflictPolicy, KindData, Merge, Record, RecordId, Timestamp,
};

pub(super) const CHECKS: &[Check] = &[
    ("the newest wins where that is the policy", newest),
    ("ask keeps both and disputes the current one", ask),
    ("a dispute goes over to the next value", a_dispute_goes_on),
    ("a person's word makes a proposal more than that", proposals),
    ("other times of validity are another value", validity),
    ("what differs in substance is never merged", substance),
    ("a decision for the winner", settle_for_the_winner),
    ("a decision for a loser", settle_for_a_loser),
    ("a decision between several", settle_between_several),
    ("a decision is taken back", unsettle),
    ("a decision where nothing is open", nothing_open),
    ("a decision has a part in its past", as_of_a_decision),
    ("only open conflicts are found", open_conflicts),
    ("what may be told at a time", holds_at),
    ("keys that begin alike, and sources", prefixes_and_sources),
];

fn said(w: &World<'_>, source: &str, text: &str, second: i64) -> Record {
    Record {
        source: source.to_owned(),
        confidence: Confidence::of_source(source),
        ..w.fact("k", text, second)
    }
}

fn with(w: &World<'_>, record: &Record, policy: ConflictPolicy) -> Applied {
    w.change(put(record, Merge::Knowledge(policy)))
}

fn settle(keep: RecordId, second: i64) -> Change {
    Change::Settle {
        keep,
        at: at(second),
        by: BY.to_owned(),
    }
}

fn unsettle_of(id: RecordId, second: i64) -> Change {
    Change::Unsettle {
        id,
        at: at(second),
        by: BY.to_owned(),
    }
}

fn knowledge(w: &World<'_>, id: RecordId) -> Knowledge {
    match Knowledge::of(&w.get(id)) {
        Ok(knowledge) => knowledge,
        Err(error) => panic!("{error}"),
    }
}

fn open() -> Filter {
    Filter {
        when: When::Ever,
        open_conflict: true,
        ..Filter::current(&[], at(0)).oldest_first()
    }
}

/// `user` says one thing, two agents say others and lose.
fn lost<'a>(w: &World<'a>) -> [Record; 3] {
    let first = said(w, "user", "port 80", 1);
    w.created(&first);
    let others = [said(w, "bob", "port 81", 2), said(w, "eve", "port 82", 3)];
    for other in &others {
        assert_eq!(
            w.put(other),
            answer(other.id, Verdict::Conflict, Some(first.id))
        );
    }
    let [bob, eve] = others;
    [first, bob, eve]
}

fn newest(store: &dyn Store) {
    let w = World::new(store);
    let first = said(&w, "user", "port 80", 1);
    w.created(&first);
    let newer = said(&w, "bob", "port 81", 2);
    let applied = with(&w, &newer, ConflictPolicy::Newest);
    assert_eq!(applied, answer(newer.id, Verdict::Replaced, Some(first.id)));
    assert!(knowledge(&w, first.id).is_open_conflict());
    assert_eq!(w.get(newer.id), newer);
    assert_eq!(w.current(9), ["port 81"]);
}

fn ask(store: &dyn Store) {
    let w = World::new(store);
    let first = said(&w, "bob", "port 80", 1);
    w.created(&first);
    let surer = said(&w, "user", "port 81", 2);
    let applied = with(&w, &surer, ConflictPolicy::Ask);
    assert_eq!(applied, answer(surer.id, Verdict::Conflict, Some(first.id)));
    let holder = knowledge(&w, first.id);
    assert!(holder.disputed && !holder.conflict);
    let waits = knowledge(&w, surer.id);
    assert!(waits.is_open_conflict() && !waits.disputed);
    assert_eq!(w.get(surer.id).retired_at, Some(at(2)));
    assert_eq!(w.current(9), ["port 80"], "it stands there, marked");
    let told = Filter::current(&[], at(9)).holds_at(at(9));
    assert!(w.texts(&told).is_empty(), "neither is told");

    // Saying the same again confirms, and decides nothing.
    let again = said(&w, "eve", "Port 80.", 3);
    let applied = with(&w, &again, ConflictPolicy::Ask);
    assert_eq!(applied, answer(first.id, Verdict::Confirmed, None));
    assert!(knowledge(&w, first.id).disputed);

    let applied = w.change(settle(surer.id, 4));
    assert_eq!(applied, answer(surer.id, Verdict::Resolved, Some(first.id)));
    assert_eq!(w.texts(&told), ["port 81"]);
    assert!(!knowledge(&w, first.id).disputed);
}

fn a_dispute_goes_on(store: &dyn Store) {
    let w = World::new(store);
    let first = said(&w, "bob", "port 80", 1);
    w.created(&first);
    with(&w, &said(&w, "eve", "port 81", 2), ConflictPolicy::Ask);
    let corrected = said(&w, "bob", "port 8080", 3);
    let applied = with(&w, &corrected, ConflictPolicy::Ask);
    assert_eq!(
        applied,
        answer(corrected.id, Verdict::Replaced, Some(first.id))
    );
    assert!(knowledge(&w, corrected.id).disputed);
    // Under another policy somebody wins, and nothing is disputed any more.
    let newest = said(&w, "ann", "port 90", 4);
    with(&w, &newest, ConflictPolicy::Newest);
    let beaten = knowledge(&w, corrected.id);
    assert!(beaten.is_open_conflict() && !beaten.disputed);
    assert!(!knowledge(&w, newest.id).disputed);
    assert_eq!(w.texts(&open()), ["port 81", "port 8080"]);
}

fn proposals(store: &dyn Store) {
    let w = World::new(store);
    let mut first = said(&w, "bob", "use pnpm, not npm", 1);
    let mut typed = Knowledge::of_category("fact");
    typed.proposal = true;
    first.attrs = typed.to_attrs();
    w.created(&first);
    for (source, still) in [("eve", true), ("orchestrator", false), ("bob", false)] {
        let again = said(&w, source, "Use pnpm - not npm!", 2);
        assert_eq!(w.put(&again), answer(first.id, Verdict::Confirmed, None));
        assert_eq!(knowledge(&w, first.id).proposal, still, "{source}");
    }
    let kept = w.get(first.id);
    assert_eq!(kept.confidence, Confidence::FULL, "and it never falls");
    assert_eq!(kept.source, "bob");
    assert_eq!(knowledge(&w, first.id).confirmations, 3);
}

fn validity(store: &dyn Store) {
    let w = World::new(store);
    let first = said(&w, "user", "Mondays are free", 1);
    w.created(&first);
    let mut ends = said(&w, "user", "Mondays are free", 2);
    ends.true_to = Some(at(100));
    assert_eq!(
        w.put(&ends),
        answer(ends.id, Verdict::Replaced, Some(first.id))
    );
    // Said without times, or with the same ones, it is the same.
    for (n, true_to) in [(3, None), (4, Some(at(100)))] {
        let again = Record {
            true_to,
            ..said(&w, "user", "mondays are free", n)
        };
        assert_eq!(w.put(&again), answer(ends.id, Verdict::Confirmed, None));
    }
}

fn substance(store: &dyn Store) {
    let w = World::new(store);
    let mut before = said(&w, "user", "use v1.2", 1);
    w.created(&before);
    for (second, text) in [(2, "use v1-2"), (3, "use v12"), (4, "never use v12")] {
        let other = said(&w, "user", text, second);
        let replaced = answer(other.id, Verdict::Replaced, Some(before.id));
        assert_eq!(w.put(&other), replaced, "{text}");
        before = other;
    }
}

fn settle_for_the_winner(store: &dyn Store) {
    let w = World::new(store);
    let [first, bob, eve] = lost(&w);
    assert_eq!(w.texts(&open()), ["port 81", "port 82"]);
    let applied = w.change(settle(first.id, 4));
    assert_eq!(applied, answer(first.id, Verdict::Resolved, None));
    assert_eq!(w.get(first.id), first);
    for loser in [bob, eve] {
        let known = knowledge(&w, loser.id);
        assert!(known.conflict, "that it lost stays known");
        assert_eq!(known.arbitrated, Some(at(4)));
    }
    assert!(w.texts(&open()).is_empty());
    let events = ok(store.events(&w.project, Some(first.id), 9));
    let told: Vec<_> = events.iter().map(|e| (e.action, &*e.by, e.at)).collect();
    assert_eq!(told, [(Action::Resolved, BY, at(4))]);
}

fn settle_for_a_loser(store: &dyn Store) {
    let w = World::new(store);
    let [first, bob, _] = lost(&w);
    let applied = w.change(settle(bob.id, 4));
    assert_eq!(applied, answer(bob.id, Verdict::Resolved, Some(first.id)));
    let (won, beaten) = (w.get(bob.id), w.get(first.id));
    assert_eq!((won.retired_at, won.replaced_by), (None, None));
    assert_eq!(won.attrs, bob.attrs, "no mark is left");
    assert_eq!(
        (beaten.retired_at, beaten.replaced_by),
        (Some(at(4)), Some(bob.id))
    );
    assert!(
        !knowledge(&w, first.id).conflict,
        "nobody asks about it again"
    );
    assert_eq!(w.current(9), ["port 81"]);
    assert!(
        w.texts(&open()).is_empty(),
        "the other loser is settled too"
    );
}

fn settle_between_several(store: &dyn Store) {
    let w = World::new(store);
    let [first, bob, eve] = lost(&w);
    // The winner's source goes on; what lost against its older value is still open.
    let corrected = said(&w, "user", "port 8080", 4);
    w.put(&corrected);
    expect(&w.refused(settle(first.id, 5)), is_stale);
    let applied = w.change(settle(eve.id, 5));
    assert_eq!(
        applied,
        answer(eve.id, Verdict::Resolved, Some(corrected.id))
    );
    assert_eq!(w.current(9), ["port 82"]);
    assert_eq!(knowledge(&w, bob.id).arbitrated, Some(at(5)));
    // A conflict that comes later is another one.
    let later = said(&w, "ann", "port 99", 6);
    w.put(&later);
    expect(&w.refused(settle(bob.id, 7)), is_stale);
    assert_eq!(w.texts(&open()).len(), 1);
}

fn unsettle(store: &dyn Store) {
    let w = World::new(store);
    for keep in [0, 1] {
        for policy in [ConflictPolicy::HigherConfidence, ConflictPolicy::Ask] {
            let key = format!("{keep} {policy}");
            let say = |source, text, second| Record {
                key: Some(key.clone()),
                ..said(&w, source, text, second)
            };
            let all = [say("user", "a", 1), say("bob", "b", 2), say("eve", "c", 3)];
            for one in &all {
                with(&w, one, policy);
            }
            let state = || all.each_ref().map(|one| w.get(one.id));
            let before = state();
            let (kept, first) = (all[keep].id, all[0].id);
            let other = (keep > 0).then_some(first);
            let resolved = answer(kept, Verdict::Resolved, other);
            assert_eq!(w.change(settle(kept, 4)), resolved);
            let after = state();
            // Saying it again does not hide the decision.
            let again = say("ann", if keep == 0 { "A" } else { "B" }, 5);
            assert_eq!(w.put(&again).verdict, Verdict::Confirmed);
            let reopened = answer(first, Verdict::Reopened, (keep > 0).then_some(kept));
            assert_eq!(w.change(unsettle_of(kept, 6)), reopened, "{key}");
            for (now, then) in state().iter().zip(&before) {
                let confirmed = now.id == kept;
                assert!(confirmed || now.attrs == then.attrs, "{now:?} {then:?}");
                assert_eq!(now.retired_at.is_some(), then.retired_at.is_some());
                let (now, then) = (Knowledge::of(now), Knowledge::of(then));
                let marks = |k: Knowledge| (k.conflict, k.arbitrated, k.disputed);
                assert_eq!(now.map(marks), then.map(marks), "{key}");
            }
            expect(&w.refused(unsettle_of(first, 7)), is_stale);
            // And once more decided.
            assert_eq!(w.change(settle(kept, 8)), resolved);
            for (now, then) in state().iter().zip(&after) {
                assert_eq!(now.replaced_by, then.replaced_by);
                assert_eq!(now.retired_at.is_some(), then.retired_at.is_some());
            }
        }
    }
}

fn nothing_open(store: &dyn Store) {
    let w = World::new(store);
    let alone = said(&w, "user", "port 80", 1);
    w.created(&alone);
    expect(&w.refused(settle(alone.id, 2)), is_stale);
    expect(&w.refused(unsettle_of(alone.id, 2)), is_stale);
    expect(&w.refused(settle(w.id(1), 2)), is_not_found);
    expect(&w.refused(unsettle_of(w.id(1), 2)), is_not_found);
    let same = said(&w, "user", "port 81", 3);
    w.put(&same);
    expect(&w.refused(settle(alone.id, 4)), is_stale);
    // What lost against somebody who is gone has nobody to be decided against.
    let loser = said(&w, "bob", "port 82", 5);
    w.put(&loser);
    w.change(super::world::retire(same.id, 6));
    expect(&w.refused(settle(loser.id, 7)), is_stale);
    w.change(restore(same.id, 8));
    w.change(settle(loser.id, 9));
    expect(&w.refused(unsettle_of(same.id, 10)), is_stale);
}

fn as_of_a_decision(store: &dyn Store) {
    let w = World::new(store);
    let [_, bob, _] = lost(&w);
    w.change(settle(bob.id, 10));
    w.change(unsettle_of(bob.id, 20));
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
    let w = World::new(store);
    let [first, bob, eve] = lost(&w);
    let elsewhere = World::of(store, "another");
    lost(&elsewhere);
    let found = |filter: &Filter| -> Vec<RecordId> {
        w.find(filter).into_iter().map(|record| record.id).collect()
    };
    assert_eq!(found(&open()), [bob.id, eve.id]);
    assert_eq!(found(&open().limit(1)), [bob.id]);
    assert_eq!(found(&open().category("fact")), [bob.id, eve.id]);
    assert!(found(&open().category("decision")).is_empty());
    w.change(restore(eve.id, 5));
    assert_eq!(
        found(&open()),
        [bob.id],
        "whoever brings it back has decided"
    );
    w.change(settle(eve.id, 6));
    assert!(found(&open()).is_empty());
    assert!(w.get(first.id).retired_at.is_some());
}

fn holds_at(store: &dyn Store) {
    let w = World::new(store);
    let of = |key: &str, from: Option<Timestamp>, to: Option<Timestamp>| {
        let record = Record {
            true_from: from,
            true_to: to,
            ..w.fact(key, key, 1)
        };
        w.created(&record);
    };
    of("always", None, None);
    of("from 10", Some(at(10)), None);
    of("to 10", None, Some(at(10)));
    of("from 5 to 15", Some(at(5)), Some(at(15)));
    for (second, expected) in [
        (4, &["always", "to 10"][..]),
        (5, &["always", "to 10", "from 5 to 15"]),
        (10, &["always", "from 10", "from 5 to 15"]),
        (15, &["always", "from 10"]),
    ] {
        let filter = Filter::current(&[], at(20))
            .oldest_first()
            .holds_at(at(second));
        assert_eq!(w.texts(&filter), expected, "at {second}");
    }
}

fn prefixes_and_sources(store: &dyn Store) {
    let w = World::new(store);
    for (second, key) in ["db.host", "db.port", "db", "DB.x", "d%b", "é.1"]
        .iter()
        .enumerate()
    {
        w.created(&w.fact(key, key, i64::try_from(second).unwrap_or(0)));
    }
    let mut theirs = w.fact("db.user", "db.user", 9);
    theirs.source = "bob".to_owned();
    w.created(&theirs);
    let prefix = |prefix: &str| Filter {
        key_prefix: Some(prefix.to_owned()),
        ..Filter::current(&[], at(20)).oldest_first()
    };
    assert_eq!(w.texts(&prefix("db.")), ["db.host", "db.port", "db.user"]);
    assert_eq!(w.texts(&prefix("db")).len(), 4);
    assert_eq!(w.texts(&prefix("é")), ["é.1"]);
    assert_eq!(w.texts(&prefix("%")), Vec::<String>::new());
    assert_eq!(w.texts(&prefix("")).len(), 7);
    let mut both = prefix("db");
    both.source = Some("bob".to_owned());
    assert_eq!(w.texts(&both), ["db.user"]);
    both.key_prefix = None;
    both.source = Some("user".to_owned());
    assert_eq!(w.texts(&both).len(), 6);
}
