//! Checks of the merge rules for a new record with the identity of a current one.

use super::Check;
use super::test_project::{TestProject, answer, at, put, restore};
use crate::{Store, Verdict};
use heirloom_model::kinds::{ErrorRecord, Knowledge, Step, StepState, Task};
use heirloom_model::{Confidence, Kind, KindData, MergeRule};

pub(super) const CHECKS: &[Check] = &[
    ("the same text confirms", same_words_confirm),
    ("the same source replaces", same_source_replaces),
    ("the higher confidence wins a conflict", conflict),
    ("a tie goes to the newer", tie),
    ("a key in another case is the same key", key_in_another_case),
    ("keep leaves the current record", keep),
    ("replace leaves an equal record", replace),
    ("steps complete and never go back", steps),
    ("errors are counted and reopened", errors),
    ("tasks are merged", tasks),
];

fn same_words_confirm(store: &dyn Store) {
    let w = TestProject::new(store);
    let mut first = w.fact("k", "Use pnpm.", 1);
    first.confidence = Confidence::AGENT;
    w.created(&first);
    let again = w.fact("k", "  use pnpm", 2);
    assert_eq!(w.put(&again), answer(first.id, Verdict::Confirmed, None));
    let stored = w.get(first.id);
    assert_eq!(stored.text, "Use pnpm.");
    assert_eq!(stored.confidence, Confidence::FULL);
    let known = Knowledge::from_record(&stored).map(|k| (k.confirmations, k.confirmed_at));
    assert_eq!(known, Ok((1, Some(at(2)))));
    assert_eq!(w.current(9).len(), 1);
    w.expect_gone(again.id);
}

fn same_source_replaces(store: &dyn Store) {
    let w = TestProject::new(store);
    let (first, second) = (w.fact("k", "port 80", 1), w.fact("k", "port 81", 2));
    w.created(&first);
    let applied = w.put(&second);
    assert_eq!(
        applied,
        answer(second.id, Verdict::Replaced, Some(first.id))
    );
    let old = w.get(first.id);
    assert_eq!(
        (old.retired_at, old.replaced_by),
        (Some(at(2)), Some(second.id))
    );
    assert_eq!(w.get(second.id), second);
    assert_eq!(w.current(9), ["port 81"]);
}

fn conflict(store: &dyn Store) {
    let w = TestProject::new(store);
    let first = w.fact("k", "port 80", 1);
    w.created(&first);
    let mut weaker = w.fact("k", "port 81", 2);
    weaker.source = "bob".to_owned();
    weaker.confidence = Confidence::AGENT;
    let applied = w.put(&weaker);
    assert_eq!(
        applied,
        answer(weaker.id, Verdict::Conflict, Some(first.id))
    );
    let lost = w.get(weaker.id);
    assert_eq!(
        (lost.retired_at, lost.replaced_by),
        (Some(at(2)), Some(first.id))
    );
    assert_eq!(Knowledge::from_record(&lost).map(|k| k.conflict), Ok(true));
    assert_eq!(w.get(first.id), first);
    assert_eq!(w.current(9), ["port 80"]);
    assert_eq!(w.as_of(2), ["port 80"], "a loser was never current");
    assert_eq!(w.history(first.id), ["port 80", "port 81"]);

    // Restoring the loser resolves the conflict.
    let applied = w.change(restore(weaker.id, 3));
    assert_eq!(
        applied,
        answer(weaker.id, Verdict::Restored, Some(first.id))
    );
    let won = w.get(weaker.id);
    assert_eq!(Knowledge::from_record(&won).map(|k| k.conflict), Ok(false));
    assert_eq!(w.current(9), ["port 81"]);
    assert_eq!(w.as_of(2), ["port 80"]);
}

fn tie(store: &dyn Store) {
    let w = TestProject::new(store);
    let mut first = w.fact("k", "port 80", 1);
    first.source = "ann".to_owned();
    w.created(&first);
    let mut newer = w.fact("k", "port 81", 2);
    newer.source = "bob".to_owned();
    assert_eq!(
        w.put(&newer),
        answer(newer.id, Verdict::Replaced, Some(first.id))
    );
    let lost = Knowledge::from_record(&w.get(first.id)).map(|k| k.conflict);
    assert_eq!(lost, Ok(true));
    let stored = Knowledge::from_record(&w.get(newer.id)).map(|k| k.conflict);
    assert_eq!(stored, Ok(false));
}

fn key_in_another_case(store: &dyn Store) {
    let w = TestProject::new(store);
    for (n, (known, other)) in [
        ("indent", "INDENT"),
        ("Indent Width", "indent width"),
        ("ci.Timeout", "CI.timeout"),
        ("größe", "GRÖSSE".replace("SS", "ß").as_str()),
        ("a", "A"),
    ]
    .into_iter()
    .enumerate()
    {
        let known = format!("{n} {known}");
        let first = w.fact(&known, &format!("value {n} of the person"), 1);
        w.created(&first);
        let mut agent = w.fact(&format!("{n} {other}"), &format!("other value {n}"), 2);
        agent.source = "bob".to_owned();
        agent.confidence = Confidence::AGENT;
        let lost = answer(agent.id, Verdict::Conflict, Some(first.id));
        assert_eq!(w.put(&agent), lost, "{known}");
        assert_eq!(w.get(agent.id).key.as_deref(), Some(known.as_str()));
        // The person's next value has the key as it was first written.
        let later = w.fact(&format!("{n} {other}"), &format!("later value {n}"), 3);
        let replaced = answer(later.id, Verdict::Replaced, Some(first.id));
        assert_eq!(w.put(&later), replaced, "{known}");
        assert_eq!(w.get(later.id).key.as_deref(), Some(known.as_str()));
    }
    assert_eq!(w.current(9).len(), 5);
    // Another key stays another one.
    w.created(&w.fact("0 indents", "x", 4));
    assert_eq!(w.current(9).len(), 6);
}

fn keep(store: &dyn Store) {
    let w = TestProject::new(store);
    let (first, second) = (w.fact("k", "one", 1), w.fact("k", "two", 2));
    w.created(&first);
    let applied = w.change(put(&second, MergeRule::Keep));
    assert_eq!(applied, answer(first.id, Verdict::Unchanged, None));
    assert_eq!(w.get(first.id), first);
    w.expect_gone(second.id);
}

fn replace(store: &dyn Store) {
    let w = TestProject::new(store);
    let (first, same) = (w.fact("k", "one", 1), w.fact("k", "one", 2));
    w.created(&first);
    let applied = w.change(put(&same, MergeRule::Replace));
    assert_eq!(applied, answer(first.id, Verdict::Unchanged, None));
    let other = w.fact("k", "One", 3);
    let applied = w.change(put(&other, MergeRule::Replace));
    assert_eq!(applied, answer(other.id, Verdict::Replaced, Some(first.id)));
}

fn steps(store: &dyn Store) {
    let w = TestProject::new(store);
    let step = |state, second| {
        let mut step = w.record(Kind::Step, "write tests", second);
        step.key = Some(Step::key("write tests", None));
        step.attrs = Step::with_state(state).to_attrs();
        step
    };
    let pending = step(StepState::Pending, 1);
    let done = step(StepState::Done, 3);
    let rule = MergeRule::Step;
    assert_eq!(w.change(put(&pending, rule)).verdict, Verdict::Created);
    let again = w.change(put(&step(StepState::Pending, 2), rule));
    assert_eq!(again, answer(pending.id, Verdict::Unchanged, None));
    let completed = w.change(put(&done, rule));
    assert_eq!(
        completed,
        answer(done.id, Verdict::Replaced, Some(pending.id))
    );
    let back = w.change(put(&step(StepState::Pending, 4), rule));
    assert_eq!(back, answer(done.id, Verdict::Unchanged, None));
}

fn errors(store: &dyn Store) {
    let w = TestProject::new(store);
    let error = |state: &str, second| {
        let mut error = w.record(Kind::Error, "E0502", second);
        error.key = Some("e".to_owned());
        let state = state.to_owned();
        error.attrs = ErrorRecord {
            state,
            ..ErrorRecord::open()
        }
        .to_attrs();
        error
    };
    let open = error(ErrorRecord::OPEN, 1);
    let rule = MergeRule::Error;
    w.change(put(&open, rule));
    let counted = w.change(put(&error(ErrorRecord::OPEN, 2), rule));
    assert_eq!(counted, answer(open.id, Verdict::Confirmed, None));
    let repeats = ErrorRecord::from_record(&w.get(open.id)).map(|m| (m.repeats, m.repeated_at));
    assert_eq!(repeats, Ok((1, Some(at(2)))));
    let resolved = error(ErrorRecord::RESOLVED, 3);
    let applied = w.change(put(&resolved, rule));
    assert_eq!(
        applied,
        answer(resolved.id, Verdict::Replaced, Some(open.id))
    );
    let anew = error(ErrorRecord::OPEN, 4);
    let applied = w.change(put(&anew, rule));
    assert_eq!(
        applied,
        answer(anew.id, Verdict::Replaced, Some(resolved.id))
    );
    let repeats = ErrorRecord::from_record(&w.get(anew.id)).map(|m| m.repeats);
    assert_eq!(repeats, Ok(2));
}

fn tasks(store: &dyn Store) {
    let w = TestProject::new(store);
    let task = |attrs: Task, phase: Option<&str>, second| {
        let mut task = w.record(Kind::Task, "Mend the login", second);
        task.key = Some("42".to_owned());
        task.scope.phase = phase.map(str::to_owned);
        task.attrs = attrs.to_attrs();
        task
    };
    let branch = Task {
        branch: Some("fix".to_owned()),
        ..Task::default()
    };
    let (first, second) = (
        task(Task::default(), Some("build"), 1),
        task(branch, None, 2),
    );
    w.change(put(&first, MergeRule::Task));
    let applied = w.change(put(&second, MergeRule::Task));
    assert_eq!(
        applied,
        answer(second.id, Verdict::Replaced, Some(first.id))
    );
    let merged = w.get(second.id);
    assert_eq!(merged.scope.phase.as_deref(), Some("build"));
    assert_eq!(
        Task::from_record(&merged).map(|t| t.branch),
        Ok(Some("fix".to_owned()))
    );
    let applied = w.change(put(
        &task(Task::default(), Some("build"), 3),
        MergeRule::Task,
    ));
    assert_eq!(applied, answer(second.id, Verdict::Unchanged, None));
}
