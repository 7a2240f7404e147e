//! Checks of marks, and of filters by ids, source and time.

use super::Check;
use super::test_project::{
    BY, TestProject, answer, at, expect, is_not_found, is_stale, ok, retire,
};
use crate::{AsOf, Change, Filter, Store, Verdict};
use heirloom_model::record::Attrs;
use heirloom_model::{Action, Kind, Mark, Message, RecordId, Role, Session, mark};

pub(super) const CHECKS: &[Check] = &[
    ("a mark changes the record in place", in_place),
    ("a mark creates an event and is counted", mark_events),
    ("only current records are marked", only_current),
    ("a successor keeps the pin", inherited),
    ("pinned records are found", pinned),
    ("filters by ids, source and time", narrowing),
    ("turns are found by their ids", turns),
];

fn mark_change(id: RecordId, mark: Mark, second: i64) -> Change {
    Change::Mark {
        id,
        mark,
        at: at(second),
        by: BY.to_owned(),
    }
}

fn in_place(store: &dyn Store) {
    let w = TestProject::new(store);
    let record = w.fact("k", "one", 1);
    w.created(&record);
    for (mark, verdict) in [
        (Mark::Pinned(false), Verdict::Unchanged),
        (Mark::Pinned(true), Verdict::Marked),
        (Mark::Pinned(true), Verdict::Unchanged),
        (Mark::Muted(true), Verdict::Marked),
        (Mark::Useful(true), Verdict::Marked),
    ] {
        let applied = w.change(mark_change(record.id, mark, 2));
        assert_eq!(applied, answer(record.id, verdict, None), "{mark:?}");
    }
    let marked = w.get(record.id);
    assert!(mark::is_pinned(&marked.attrs) && mark::is_muted(&marked.attrs));
    assert_eq!(mark::useful_count(&marked.attrs), 1);
    for mark in [Mark::Pinned(false), Mark::Muted(false), Mark::Useful(false)] {
        w.change(mark_change(record.id, mark, 3));
    }
    assert_eq!(w.get(record.id), record);
    assert_eq!(w.history(record.id), ["one"]);
}

fn mark_events(store: &dyn Store) {
    let w = TestProject::new(store);
    let id = w.created(&w.fact("k", "one", 5));
    w.change(mark_change(id, Mark::Pinned(true), 6));
    w.change(mark_change(id, Mark::Pinned(true), 7));
    w.change(mark_change(id, Mark::Useful(false), 3));
    let events = ok(store.events(&w.project, Some(id), 9));
    let mut mark_events: Vec<_> = events
        .iter()
        .map(|event| (event.at, event.action, event.detail.as_deref()))
        .collect();
    mark_events.reverse();
    let expected = [
        (at(5), Action::Marked, Some("not useful")),
        (at(6), Action::Marked, Some("pinned")),
    ];
    assert_eq!(mark_events, expected);
}

fn only_current(store: &dyn Store) {
    let w = TestProject::new(store);
    let mut brief = w.fact("k", "brief", 1);
    brief.expires_at = Some(at(5));
    w.created(&brief);
    expect(
        &w.refused(mark_change(brief.id, Mark::Pinned(true), 5)),
        is_stale,
    );
    w.change(mark_change(brief.id, Mark::Pinned(true), 4));
    w.change(retire(brief.id, 4));
    expect(
        &w.refused(mark_change(brief.id, Mark::Muted(true), 4)),
        is_stale,
    );
    expect(
        &w.refused(mark_change(w.id(9), Mark::Muted(true), 4)),
        is_not_found,
    );
}

fn inherited(store: &dyn Store) {
    let w = TestProject::new(store);
    let (old, new) = (w.fact("k", "old", 1), w.fact("k", "new", 3));
    w.created(&old);
    w.change(mark_change(old.id, Mark::Pinned(true), 2));
    w.change(mark_change(old.id, Mark::Useful(true), 2));
    assert_eq!(w.put(&new).verdict, Verdict::Replaced);
    let attrs = w.get(new.id).attrs;
    assert!(mark::is_pinned(&attrs));
    assert_eq!(mark::useful_count(&attrs), 0);
    assert_eq!(mark::useful_count(&w.get(old.id).attrs), 1);
}

fn pinned(store: &dyn Store) {
    let w = TestProject::new(store);
    let (note, fact) = (w.record(Kind::Note, "note", 1), w.fact("k", "fact", 2));
    for record in [&note, &fact, &w.fact("l", "other", 3)] {
        w.created(record);
    }
    let filter = Filter {
        pinned: true,
        ..Filter::current(&[], at(9))
    };
    assert!(w.texts(&filter).is_empty());
    w.change(mark_change(note.id, Mark::Pinned(true), 4));
    w.change(mark_change(fact.id, Mark::Pinned(true), 4));
    assert_eq!(w.texts(&filter), ["fact", "note"]);
    assert_eq!(w.texts(&filter.clone().oldest_first().limit(1)), ["note"]);
    let facts = Filter {
        kinds: vec![Kind::Knowledge],
        ..filter.clone()
    };
    assert_eq!(w.texts(&facts), ["fact"]);
    w.change(retire(fact.id, 5));
    w.change(mark_change(note.id, Mark::Pinned(false), 5));
    assert!(w.texts(&filter).is_empty());
}

fn narrowing(store: &dyn Store) {
    let w = TestProject::new(store);
    let one = w.record(Kind::Note, "one", 1);
    let mut bob = w.record(Kind::Note, "bob", 2);
    bob.source = "bob".to_owned();
    let three = w.fact("k", "three", 3);
    for record in [&one, &bob, &three] {
        w.created(record);
    }
    let all = || Filter::current(&[], at(9)).oldest_first();
    let ids = |ids: &[RecordId]| w.texts(&all().ids(ids.to_vec()));
    assert_eq!(ids(&[three.id, one.id, w.id(4), one.id]), ["one", "three"]);
    assert_eq!(ids(&[w.id(4)]), [""; 0]);
    assert_eq!(ids(&[]), ["one", "bob", "three"]);
    let knowledge = Filter {
        kinds: vec![Kind::Knowledge],
        ..all().ids(vec![three.id, one.id])
    };
    assert_eq!(w.texts(&knowledge), ["three"]);
    let past = Filter {
        as_of: AsOf::Past(at(1)),
        ..all().ids(vec![three.id, one.id])
    };
    assert_eq!(w.texts(&past), ["one"]);
    let elsewhere = TestProject::of(store, "other");
    assert!(elsewhere.find(&all().ids(vec![one.id])).is_empty());
    let by_bob = Filter {
        source: Some("bob".to_owned()),
        ..all()
    };
    assert_eq!(w.texts(&by_bob), ["bob"]);
    let between = |from: i64, before: i64| {
        w.texts(&Filter {
            recorded_from: Some(at(from)),
            recorded_before: Some(at(before)),
            ..all()
        })
    };
    assert_eq!(between(2, 3), ["bob"]);
    assert_eq!(between(1, 4), ["one", "bob", "three"]);
    assert_eq!(between(3, 3), [""; 0]);
}

fn turns(store: &dyn Store) {
    let w = TestProject::new(store);
    let session = |id: &str| Session {
        project: w.project.clone(),
        id: id.to_owned(),
        agent: None,
        task: None,
        started_at: at(1),
        ended_at: None,
        attrs: Attrs::new(),
    };
    let turn = |text: &str, second| Message {
        id: w.id(second),
        seq: 0,
        role: Role::User,
        sender: Some("ada".to_owned()),
        text: text.to_owned(),
        attrs: Attrs::new(),
        tokens: 1,
        at: at(second),
    };
    let (first, second, third) = (turn("first", 1), turn("second", 2), turn("third", 3));
    for id in ["s", "t"] {
        ok(store.put_session(&session(id)));
    }
    ok(store.append_messages(&w.project, "s", &[third.clone(), first.clone()]));
    ok(store.append_messages(&w.project, "t", std::slice::from_ref(&second)));
    let found = |ids: &[RecordId]| ok(store.turns(&w.project, ids));
    let (s, t) = (
        |m, seq| ("s".to_owned(), Message { seq, ..m }),
        "t".to_owned(),
    );
    assert_eq!(
        found(&[third.id, second.id, first.id, w.id(9)]),
        [s(first.clone(), 1), (t, second), s(third, 0)]
    );
    assert_eq!(found(&[]), []);
    let elsewhere = TestProject::of(store, "other");
    assert_eq!(ok(store.turns(&elsewhere.project, &[first.id])), []);
}
