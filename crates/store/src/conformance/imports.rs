//! Checks of import batches, audit events and purges.

use super::Check;
use super::test_project::{
    BY, TestProject, answer, at, expect, is_invalid, is_not_found, ok, put, restore, retire,
};
use crate::{Change, PurgeReport, PurgeTarget, Store, StoreError, Verdict};
use heirloom_model::record::Attrs;
use heirloom_model::{
    Action, ImportBatch, Kind, MergeRule, Message, RecordId, Role, Session, ValidityGap, limits,
};

pub(super) const CHECKS: &[Check] = &[
    (
        "an import is reverted and restored as a whole",
        revert_and_restore,
    ),
    ("reverting an import keeps later changes", changed_since),
    (
        "reverting an import restores the records that it replaced",
        replaced_by_import,
    ),
    (
        "a repeated import changes nothing, and restores a reverted one",
        repeated_import,
    ),
    (
        "an import adds validity gaps to its own records only",
        validity_gaps_of_import,
    ),
    ("an empty import creates no batch", empty_import),
    (
        "events contain the author of retiring, restoring and confirming",
        event_list,
    ),
    (
        "a purge deletes a chain and the references to it",
        purged_chain,
    ),
    ("a purge by text finds it in every column", purged_text),
    ("a purge of a session deletes its turns", purged_session),
    ("a purge of a project leaves the others", purged_project),
];

fn batch(w: &TestProject<'_>, second: i64) -> ImportBatch {
    ImportBatch {
        id: w.id(second),
        source: "jsonl memory.jsonl".to_owned(),
        by: BY.to_owned(),
        at: at(second),
    }
}

fn reverse(batch: &ImportBatch, second: i64) -> Change {
    Change::ToggleBatch {
        batch: batch.id,
        at: at(second),
        by: BY.to_owned(),
    }
}

fn session(w: &TestProject<'_>, id: &str) -> Session {
    Session {
        project: w.project.clone(),
        id: id.to_owned(),
        agent: None,
        task: None,
        started_at: at(0),
        ended_at: None,
        attrs: Attrs::new(),
    }
}

fn message(w: &TestProject<'_>, text: &str) -> Message {
    Message {
        id: w.id(1),
        seq: 0,
        role: Role::User,
        sender: None,
        text: text.to_owned(),
        attrs: Attrs::new(),
        tokens: 1,
        at: at(1),
    }
}

fn take(session: &str, message: &Message) -> Change {
    Change::ImportMessage {
        session: session.to_owned(),
        message: Box::new(message.clone()),
    }
}

fn revert_and_restore(store: &dyn Store) {
    let w = TestProject::new(store);
    let batch = batch(&w, 1);
    let turn = message(&w, "hello");
    w.apply(&[
        Change::BeginBatch(batch.clone()),
        put(&w.fact("a", "one", 1), MergeRule::Keep),
        put(&w.fact("b", "two", 1), MergeRule::Keep),
        Change::ImportSession(Box::new(session(&w, "s"))),
        take("s", &turn),
    ]);
    w.created(&w.fact("c", "mine", 2));
    let applied = w.change(reverse(&batch, 3));
    assert_eq!(applied, answer(batch.id, Verdict::Retired, None));
    assert_eq!(w.current(3), ["mine"]);
    assert!(ok(store.sessions(&w.project, None, 9)).is_empty());
    assert_eq!(w.as_of(2).len(), 3, "the past stays");
    let applied = w.change(reverse(&batch, 4));
    assert_eq!(applied.verdict, Verdict::Restored);
    assert_eq!(w.current(4), ["one", "two", "mine"]);
    assert_eq!(ok(store.messages(&w.project, "s", 0, 9))[0].text, "hello");
    let unknown = ImportBatch {
        id: w.id(5),
        ..batch
    };
    expect(&w.refused(reverse(&unknown, 5)), is_not_found);
}

fn replaced_by_import(store: &dyn Store) {
    let w = TestProject::new(store);
    let batch = batch(&w, 2);
    w.created(&w.fact("a", "mine", 1));
    w.created(&w.fact("b", "ours", 1));
    let run = |fact: &str, value: &str, second: i64| {
        w.apply(&[
            Change::BeginBatch(batch.clone()),
            put(&w.fact(fact, value, second), MergeRule::Replace),
        ]);
    };
    run("a", "theirs", 2);
    run("a", "theirs again", 3);
    run("b", "other", 3);
    w.put(&w.fact("b", "newest", 4));
    assert_eq!(w.current(4), ["theirs again", "newest"]);
    for round in [5, 7] {
        w.change(reverse(&batch, round));
        assert_eq!(w.current(round), ["mine", "newest"], "round {round}");
        w.change(reverse(&batch, round + 1));
        assert_eq!(w.current(round + 1), ["theirs again", "newest"]);
    }
    w.change(reverse(&batch, 9));
    w.put(&w.fact("a", "changed", 10));
    w.change(reverse(&batch, 11));
    assert_eq!(w.current(11), ["newest", "changed"], "a used identity");
}

fn changed_since(store: &dyn Store) {
    let w = TestProject::new(store);
    let batch = batch(&w, 1);
    let turn = message(&w, "theirs");
    w.apply(&[
        Change::BeginBatch(batch.clone()),
        put(&w.fact("a", "theirs", 1), MergeRule::Keep),
        put(&w.fact("b", "kept", 1), MergeRule::Keep),
        Change::ImportSession(Box::new(session(&w, "s"))),
        take("s", &turn),
    ]);
    w.put(&w.fact("a", "mine", 2));
    ok(store.append_messages(&w.project, "s", &[message(&w, "mine")]));
    w.change(reverse(&batch, 3));
    assert_eq!(w.current(3), ["mine"], "a successor stays");
    let said = ok(store.messages(&w.project, "s", 0, 9));
    assert_eq!(said.len(), 1, "a session that went on stays");
    w.put(&w.fact("b", "other", 4));
    w.change(reverse(&batch, 5));
    assert_eq!(
        w.current(5),
        ["mine", "other"],
        "a used identity is not restored"
    );
    assert_eq!(ok(store.messages(&w.project, "s", 0, 9)).len(), 2);
}

fn repeated_import(store: &dyn Store) {
    let w = TestProject::new(store);
    let first = batch(&w, 1);
    let turn = message(&w, "hello");
    let changes = |batch: &ImportBatch| {
        vec![
            Change::BeginBatch(batch.clone()),
            put(&w.fact("a", "one", 1), MergeRule::Keep),
            Change::ImportSession(Box::new(session(&w, "s"))),
            take("s", &turn),
        ]
    };
    let import = changes(&first);
    let again = |batch: &ImportBatch| {
        let mut again = import.clone();
        again[0] = Change::BeginBatch(batch.clone());
        w.apply(&again)[1..]
            .iter()
            .map(|applied| applied.verdict)
            .collect::<Vec<_>>()
    };
    w.apply(&import);
    assert_eq!(again(&batch(&w, 2)), [Verdict::Unchanged; 3]);
    w.change(reverse(&first, 3));
    let second = batch(&w, 4);
    assert_eq!(again(&second), [Verdict::Restored; 3]);
    assert_eq!(w.current(4), ["one"]);
    assert_eq!(ok(store.messages(&w.project, "s", 0, 9)).len(), 1);
    w.change(reverse(&second, 5));
    assert!(
        w.current(5).is_empty(),
        "restored entries belong to the second import"
    );
    assert!(ok(store.sessions(&w.project, None, 9)).is_empty());
    let third = batch(&w, 6);
    assert_eq!(again(&third), [Verdict::Restored; 3]);
    assert_eq!(again(&batch(&w, 7)), [Verdict::Unchanged; 3]);
}

fn validity_gaps_of_import(store: &dyn Store) {
    let w = TestProject::new(store);
    let mine = w.created(&w.fact("a", "mine", 1));
    w.change(retire(mine, 2));
    w.change(restore(mine, 3));
    let gap_between = |from: i64, to: i64| ValidityGap {
        retired_at: at(from),
        restored_at: at(to),
    };
    let theirs = w.fact("b", "theirs", 1);
    let take = |id, from, to| Change::ImportValidityGap {
        id,
        gap: gap_between(from, to),
    };
    let import = |second| {
        vec![
            Change::BeginBatch(batch(&w, second)),
            put(&theirs, MergeRule::Keep),
            take(theirs.id, 4, 5),
            take(theirs.id, 2, 3),
            take(mine, 4, 5),
            take(w.id(9), 4, 5),
        ]
    };
    let verdicts = |changes: &[Change]| -> Vec<_> {
        let applied = w.apply(changes);
        applied[1..].iter().map(|one| one.verdict).collect()
    };
    use Verdict::{Created, Unchanged};
    let first = [Created, Created, Created, Unchanged, Unchanged];
    assert_eq!(verdicts(&import(6)), first);
    let known = || ok(store.validity_gaps(&w.project, &[theirs.id, mine, w.id(9)]));
    let expected = [
        (mine, gap_between(2, 3)),
        (theirs.id, gap_between(2, 3)),
        (theirs.id, gap_between(4, 5)),
    ];
    assert_eq!(known(), expected);
    assert_eq!((w.as_of(2), w.as_of(4)), (vec![], vec!["mine".to_owned()]));
    assert_eq!(verdicts(&import(7)), [Unchanged; 5], "the same again");
    let mut later = import(8);
    later[2] = take(theirs.id, 6, 7);
    assert_eq!(
        verdicts(&later),
        [Unchanged; 5],
        "existing records are unchanged"
    );
    assert_eq!(known(), expected);
    expect(&w.refused(take(mine, 5, 4)), is_invalid);
    assert_eq!(w.change(take(mine, 4, 5)).verdict, Unchanged, "no import");
    let elsewhere = TestProject::of(store, "elsewhere");
    assert_eq!(ok(store.validity_gaps(&elsewhere.project, &[mine])), []);
    let many = vec![mine; limits::CHANGES_MAX + 1];
    assert!(store.validity_gaps(&w.project, &many).is_err());
}

fn empty_import(store: &dyn Store) {
    let w = TestProject::new(store);
    let batch = batch(&w, 1);
    w.apply(&[Change::BeginBatch(batch.clone())]);
    expect(&w.refused(reverse(&batch, 2)), is_not_found);
    let lost = take("nowhere", &message(&w, "x"));
    expect(&w.refused(lost), is_not_found);
}

fn event_list(store: &dyn Store) {
    let w = TestProject::new(store);
    let id = w.created(&w.fact("a", "one", 1));
    w.put(&w.fact("a", "one", 2));
    w.change(retire(id, 3));
    w.change(restore(id, 4));
    let of_record = ok(store.events(&w.project, Some(id), 9));
    let actions: Vec<_> = of_record.iter().map(|event| event.action).collect();
    let newest_first = [Action::Restored, Action::Retired, Action::Confirmed];
    assert_eq!(actions, newest_first);
    assert!(of_record.iter().all(|event| event.by == BY));
    assert_eq!(of_record[1].at, at(3));
    let import = batch(&w, 5);
    w.apply(&[
        Change::BeginBatch(import.clone()),
        put(&w.fact("b", "two", 5), MergeRule::Keep),
    ]);
    w.change(reverse(&import, 6));
    let all = ok(store.events(&w.project, None, 2));
    let batches: Vec<_> = all
        .iter()
        .map(|event| (event.action, event.batch))
        .collect();
    let expected = [Action::Reversed, Action::Imported].map(|action| (action, Some(import.id)));
    assert_eq!(batches, expected);
    let other = TestProject::of(store, "elsewhere");
    assert!(ok(store.events(&other.project, None, 9)).is_empty());
}

fn assert_purged(w: &TestProject<'_>, selection: &PurgeTarget, expected: (u64, u64, u64)) {
    let expected = PurgeReport {
        records: expected.0,
        sessions: expected.1,
        messages: expected.2,
        residue: false,
    };
    assert_eq!(ok(w.store.preview_purge(&w.project, selection)), expected);
    assert_eq!(
        ok(w.store.purge(&w.project, selection, at(99), BY)),
        expected
    );
}

fn purged_chain(store: &dyn Store) {
    let w = TestProject::new(store);
    let first = w.created(&w.fact("a", "one", 1));
    let second = w.put(&w.fact("a", "two", 2)).id;
    let kept = w.created(&w.fact("b", "kept", 3));
    w.change(retire(second, 4));
    w.change(restore(second, 5));
    assert_purged(&w, &PurgeTarget::Records(vec![first]), (2, 0, 0));
    w.expect_gone(first);
    w.expect_gone(second);
    assert_eq!(w.get(kept).text, "kept");
    let events = ok(store.events(&w.project, None, 9));
    assert_eq!(events.len(), 1, "only the purge has an event: {events:?}");
    assert_eq!(events[0].action, Action::Purged);
    let unknown = PurgeTarget::Records(vec![w.id(9)]);
    match store.preview_purge(&w.project, &unknown) {
        Err(error) => expect(&error, is_not_found),
        Ok(purged) => panic!("an unknown id was found: {purged:?}"),
    }
}

fn purged_text(store: &dyn Store) {
    let w = TestProject::new(store);
    let mut by_key = w.fact("the HUNTER2 key", "x", 1);
    by_key.attrs.insert("rationale".to_owned(), "no".into());
    let mut by_attrs = w.fact("b", "y", 1);
    (by_attrs.attrs).insert("rationale".to_owned(), "said \"Hunter2\"".into());
    let kept = w.created(&w.fact("c", "hunter", 1));
    let old = w.created(&w.fact("d", "Hunter2", 1));
    let new = w.put(&w.fact("d", "changed", 2)).id;
    for record in [&by_key, &by_attrs] {
        w.created(record);
    }
    ok(store.put_session(&session(&w, "s")));
    let turns = [message(&w, "it is hunter2"), message(&w, "fine")];
    ok(store.append_messages(&w.project, "s", &turns));
    assert_purged(
        &w,
        &PurgeTarget::Containing("hunter2".to_owned()),
        (3, 0, 1),
    );
    w.expect_gone(old);
    assert_eq!(
        w.get(new).text,
        "changed",
        "its successor has no reference to it"
    );
    assert_eq!(w.get(kept).text, "hunter");
    let said = ok(store.messages(&w.project, "s", 0, 9));
    let texts: Vec<_> = said.iter().map(|turn| turn.text.as_str()).collect();
    assert_eq!(texts, ["[purged]", "fine"], "the places stay");
    let empty = PurgeTarget::Containing("  ".to_owned());
    let refused = store.purge(&w.project, &empty, at(99), BY);
    assert!(
        matches!(refused, Err(StoreError::Invalid(_))),
        "{refused:?}"
    );
}

fn purged_session(store: &dyn Store) {
    let w = TestProject::new(store);
    for id in ["s", "t"] {
        ok(store.put_session(&session(&w, id)));
        ok(store.append_messages(&w.project, id, &[message(&w, id)]));
    }
    let mut note = w.record(Kind::Note, "of s", 1);
    note.scope.session = Some("s".to_owned());
    w.created(&note);
    w.created(&w.fact("a", "of none", 1));
    assert_purged(&w, &PurgeTarget::Session("s".to_owned()), (1, 1, 1));
    assert_eq!(w.current(2), ["of none"]);
    assert_eq!(ok(store.sessions(&w.project, None, 9)).len(), 1);
    let unknown = PurgeTarget::Session("u".to_owned());
    match store.purge(&w.project, &unknown, at(99), BY) {
        Err(error) => expect(&error, is_not_found),
        Ok(purged) => panic!("an unknown session was found: {purged:?}"),
    }
}

fn purged_project(store: &dyn Store) {
    let (w, other) = (TestProject::new(store), TestProject::of(store, "other"));
    let id: RecordId = w.created(&w.fact("a", "one", 1));
    w.change(retire(id, 2));
    other.created(&other.fact("a", "theirs", 1));
    ok(store.put_session(&session(&w, "s")));
    assert_purged(&w, &PurgeTarget::Project, (1, 1, 0));
    assert_eq!(ok(store.projects()), std::slice::from_ref(&other.project));
    assert_eq!(other.current(2), ["theirs"]);
    assert_purged(&w, &PurgeTarget::Project, (0, 0, 0));
}
