//! Model-based test: random changes give the same results as a simple list.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use heirloom_model::kinds::{Knowledge, Step, StepState};
use heirloom_model::merge::{self, MergeDecision};
use heirloom_model::{
    Authority, Confidence, ConflictPolicy, IdSource, Kind, KindData, MergeRule, ProjectName,
    Record, RecordId, Scope, Timestamp, clock,
};
use heirloom_store::{AsOf, Change, Filter, Order, SqliteStore, Store};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

const BEGINNING: i64 = 1_777_629_600_000_000;

fn at(second: i64) -> Timestamp {
    clock::from_micros(BEGINNING + second * 1_000_000)
}

/// Random action; indices are taken modulo the number of items.
#[derive(Debug, Clone)]
enum Operation {
    Put(Draft, MergeRule),
    Revise(usize, Draft),
    Retire(usize),
    Restore(usize),
    Resolve(usize),
}

#[derive(Debug, Clone)]
struct Draft {
    kind: Kind,
    key: Option<u8>,
    category: u8,
    done: bool,
    text: u8,
    task: Option<u8>,
    trusted: bool,
    expires_in: Option<i64>,
}

fn draft() -> impl Strategy<Value = Draft> {
    let kind = prop_oneof![Just(Kind::Knowledge), Just(Kind::Step), Just(Kind::Note)];
    let parts = (
        kind,
        proptest::option::weighted(0.8, 0..3_u8),
        0..2_u8,
        any::<bool>(),
        0..3_u8,
        proptest::option::of(0..2_u8),
        any::<bool>(),
        proptest::option::weighted(0.2, 1..6_i64),
    );
    parts.prop_map(
        |(kind, key, category, done, text, task, trusted, expires_in)| Draft {
            kind,
            key,
            category,
            done,
            text,
            task,
            trusted,
            expires_in,
        },
    )
}

fn operation() -> impl Strategy<Value = Operation> {
    let rule = prop_oneof![
        Just(MergeRule::Replace),
        Just(MergeRule::Keep),
        Just(MergeRule::Knowledge(ConflictPolicy::HigherConfidence)),
        Just(MergeRule::Knowledge(ConflictPolicy::Newest)),
        Just(MergeRule::Knowledge(ConflictPolicy::Ask)),
        Just(MergeRule::Step),
    ];
    prop_oneof![
        6 => (draft(), rule).prop_map(|(draft, rule)| Operation::Put(draft, rule)),
        2 => (any::<usize>(), draft()).prop_map(|(i, draft)| Operation::Revise(i, draft)),
        2 => any::<usize>().prop_map(Operation::Retire),
        3 => any::<usize>().prop_map(Operation::Restore),
        2 => any::<usize>().prop_map(Operation::Resolve),
    ]
}

/// Seconds by which the clock advances or goes back.
fn tick() -> impl Strategy<Value = i64> {
    prop_oneof![5 => Just(1), 2 => Just(0), 1 => -10..0_i64]
}

/// Reference model: every record with its validity gaps.
#[derive(Default)]
struct Oracle {
    entries: Vec<(Record, Vec<(Timestamp, Timestamp)>)>,
    /// Retirements, restorations and resolutions, each with its record and time.
    events: Vec<(RecordId, Timestamp)>,
}

impl Oracle {
    fn record(&mut self, id: RecordId) -> &mut Record {
        let found = self.entries.iter_mut().find(|(record, _)| record.id == id);
        &mut found.unwrap().0
    }

    fn holder(&self, of: &Record) -> Option<Record> {
        let same = |r: &Record| {
            r.key.is_some()
                && r.retired_at.is_none()
                && (r.kind, &r.key, r.category()) == (of.kind, &of.key, of.category())
        };
        let found = self.entries.iter().find(|(record, _)| same(record));
        found.map(|(record, _)| record.clone())
    }

    fn add(&mut self, record: Record) {
        self.entries.push((record, Vec::new()));
    }

    fn retire(&mut self, id: RecordId, at: Timestamp, by: Option<RecordId>) {
        let record = self.record(id);
        record.retired_at = Some(at);
        record.replaced_by = by;
    }

    /// Applies a change; returns false if it must be refused.
    fn change(&mut self, change: &Change) -> bool {
        match change {
            Change::Put { record, merge } => self.put(record, *merge),
            Change::Revise { id, record } => return self.revise(*id, record),
            Change::Retire { id, at, .. } => {
                if self.record(*id).retired_at.is_some() {
                    return false;
                }
                let at = self.record(*id).recorded_at.max(*at);
                self.retire(*id, at, None);
                self.events.push((*id, at));
            }
            Change::Restore { id, at, .. } => {
                let done = self.restore(*id, *at);
                if done {
                    let (_, lapses) = self.entries.iter().find(|(r, _)| r.id == *id).unwrap();
                    self.events.push((*id, lapses.last().unwrap().1));
                }
                return done;
            }
            Change::ResolveConflict { keep, at, by } => return self.resolve(*keep, *at, by),
            Change::ReopenConflict { .. } => panic!("the conformance suite tests reopening"),
            Change::Mark { .. }
            | Change::BeginBatch(_)
            | Change::ImportSession(_)
            | Change::StoreReceipt(_)
            | Change::ImportValidityGap { .. }
            | Change::ImportMessage { .. }
            | Change::ToggleBatch { .. } => {
                panic!("imports and marks are tested by the conformance suite")
            }
        }
        true
    }

    fn put(&mut self, record: &Record, rule: MergeRule) {
        let Some(holder) = self.holder(record) else {
            return self.add(record.clone());
        };
        let record = &recorded_after(record, &holder);
        if !holder.is_current(record.recorded_at) {
            self.retire(holder.id, record.recorded_at, Some(record.id));
            return self.add(record.clone());
        }
        match merge::decide(rule, &holder, record.clone()) {
            MergeDecision::Keep => {}
            MergeDecision::Confirm(confirmed) => *self.record(holder.id) = *confirmed,
            MergeDecision::Replace { winner, loser } => {
                *self.record(holder.id) = *loser;
                self.retire(holder.id, winner.recorded_at, Some(winner.id));
                self.add(*winner);
            }
            MergeDecision::StoreRetired(loser) => self.lose(*loser, holder.id),
            MergeDecision::Dispute {
                holder: disputed,
                loser,
            } => {
                *self.record(holder.id) = *disputed;
                self.lose(*loser, holder.id);
            }
        }
    }

    fn lose(&mut self, mut loser: Record, winner: RecordId) {
        loser.retired_at = Some(loser.recorded_at);
        loser.replaced_by = Some(winner);
        self.add(loser);
    }

    fn resolve(&mut self, keep: RecordId, at: Timestamp, by: &str) -> bool {
        let stored = self.record(keep).clone();
        let current = self.chain_end(&stored);
        let entries: Vec<_> = self.entries.iter().map(|(r, _)| r.clone()).collect();
        let open: Vec<_> = entries
            .into_iter()
            .filter(|r| is_open(r) && self.chain_end(r).id == current.id)
            .collect();
        let mut holder = Knowledge::from_record(&current).ok();
        let was_disputed = holder.as_ref().is_some_and(|known| known.disputed);
        let has_part = current.id == keep || open.iter().any(|loser| loser.id == keep);
        if !current.is_current(at.max(current.recorded_at))
            || !has_part
            || (open.is_empty() && !was_disputed)
        {
            return false;
        }
        let last = self.events.iter().filter(|(id, _)| *id == keep);
        let last = last.map(|(_, at)| *at).max();
        let ends = open.iter().filter_map(|loser| loser.retired_at);
        let at = ends
            .chain(last)
            .fold(at.max(current.recorded_at), Timestamp::max);
        if stored.retired_at.is_some() && stored.expires_at.is_some_and(|chain_end| chain_end <= at)
        {
            return false;
        }
        for loser in open.iter().filter(|loser| loser.id != keep) {
            let mut known = Knowledge::from_record(loser).unwrap();
            known.arbitrated = Some(at);
            self.record(loser.id).attrs = known.to_attrs();
        }
        if let Some(known) = &mut holder {
            known.disputed = false;
            self.record(current.id).attrs = known.to_attrs();
        }
        let done = stored.retired_at.is_none() || self.restore(keep, at);
        self.events.push((keep, at));
        assert!(done, "nothing of these expires");
        let winner = self.record(keep);
        if Authority::of_source(by) > Authority::of_record(winner) {
            let mut known = Knowledge::from_record(winner).unwrap();
            known.vouched_by = Some(by.to_owned());
            winner.attrs = known.to_attrs();
        }
        true
    }

    /// Returns the last successor of `record`, or itself.
    fn chain_end(&self, record: &Record) -> Record {
        let mut chain_end = record.clone();
        while let Some(next) = chain_end.replaced_by {
            let found = self.entries.iter().find(|(record, _)| record.id == next);
            chain_end = found.unwrap().0.clone();
        }
        chain_end
    }

    fn revise(&mut self, id: RecordId, new: &Record) -> bool {
        let old = self.record(id).clone();
        let new = &recorded_after(new, &old);
        let holder = self.holder(new).filter(|holder| holder.id != id);
        let taken = (holder.as_ref()).is_some_and(|holder| holder.is_current(new.recorded_at));
        if !old.is_current(new.recorded_at) || old.kind != new.kind || taken {
            return false;
        }
        for retired in [Some(old), holder].into_iter().flatten() {
            let at = new.recorded_at.max(retired.recorded_at);
            self.retire(retired.id, at, Some(new.id));
        }
        self.add(new.clone());
        true
    }

    fn restore(&mut self, id: RecordId, at: Timestamp) -> bool {
        let record = self.record(id).clone();
        let Some(retired_at) = record.retired_at else {
            return false;
        };
        if record.expires_at.is_some_and(|chain_end| chain_end <= at) {
            return false;
        }
        let at = at.max(retired_at);
        let mut chain_end = record.replaced_by;
        while let Some(next) = chain_end.and_then(|chain_end| self.record(chain_end).replaced_by) {
            chain_end = Some(next);
        }
        let holder = self.holder(&record).map(|holder| holder.id);
        for other in [chain_end, holder].into_iter().flatten() {
            let recorded_at = self.record(other).recorded_at;
            let when = self.record(other).retired_at.unwrap_or(at.max(recorded_at));
            self.retire(other, when, Some(id));
        }
        let attrs = merge::restored_attrs(&record);
        let found = self.entries.iter_mut().find(|(record, _)| record.id == id);
        let (record, lapses) = found.unwrap();
        (record.retired_at, record.replaced_by, record.attrs) = (None, None, attrs);
        lapses.push((retired_at, at));
        true
    }

    fn find(&self, filter: &Filter) -> Vec<Record> {
        let visible = |record: &Record, lapses: &[(Timestamp, Timestamp)]| match filter.as_of {
            AsOf::Current(now) => record.is_current(now),
            AsOf::Ever => true,
            AsOf::Past(then) => {
                record.recorded_at <= then
                    && record.retired_at.is_none_or(|chain_end| chain_end > then)
                    && record.expires_at.is_none_or(|chain_end| chain_end > then)
                    && !(lapses.iter()).any(|(from, to)| *from <= then && then < *to)
            }
        };
        let named = |asked: Option<&str>, has: Option<&str>| asked.is_none() || asked == has;
        let mut found: Vec<Record> = self
            .entries
            .iter()
            .filter(|(record, lapses)| visible(record, lapses))
            .map(|(record, _)| record.clone())
            .filter(|r| filter.kinds.is_empty() || filter.kinds.contains(&r.kind))
            .filter(|r| named(filter.category.as_deref(), r.category()))
            .filter(|r| {
                filter.except_category.is_none()
                    || filter.except_category.as_deref() != r.category()
            })
            .filter(|r| named(filter.state.as_deref(), r.state()))
            .filter(|r| named(filter.key.as_deref(), r.key.as_deref()))
            .filter(|r| named(filter.source.as_deref(), Some(&r.source)))
            .filter(|r| begins(filter.key_prefix.as_deref(), r.key.as_deref()))
            .filter(|r| filter.holds_at.is_none_or(|time| holds(r, time)))
            .filter(|r| !filter.open_conflict || is_open(r))
            .filter(|r| filter.scope.covers(&r.scope))
            .collect();
        found.sort_by_key(|record| record.id);
        if filter.order == Order::Newest {
            found.reverse();
        }
        if let Some(after) = filter.after {
            found.retain(|record| match filter.order {
                Order::Newest => record.id < after,
                Order::Oldest => record.id > after,
            });
        }
        found.truncate(filter.limit);
        found
    }
}

fn begins(prefix: Option<&str>, key: Option<&str>) -> bool {
    prefix.is_none_or(|prefix| key.is_some_and(|key| key.starts_with(prefix)))
}

fn holds(record: &Record, time: Timestamp) -> bool {
    record.true_from.is_none_or(|from| from <= time)
        && record.true_to.is_none_or(|to| to > time)
        && record.attrs.get("disputed").is_none()
}

fn is_open(record: &Record) -> bool {
    record.retired_at.is_some()
        && Knowledge::from_record(record).is_ok_and(|known| known.is_open_conflict())
}

/// Returns the new record with a time after that of the current one, whatever its clock.
fn recorded_after(new: &Record, met: &Record) -> Record {
    let recorded_at = if new.recorded_at < met.recorded_at {
        clock::from_micros(met.recorded_at.as_microsecond() + 1)
    } else {
        new.recorded_at
    };
    Record {
        recorded_at,
        ..new.clone()
    }
}

fn record(project: &ProjectName, ids: &IdSource, draft: &Draft, now: i64) -> Record {
    let category = ["fact", "decision"][usize::from(draft.category)];
    let state = if draft.done {
        StepState::Done
    } else {
        StepState::Pending
    };
    let attrs = if draft.kind == Kind::Step {
        Step::with_state(state).to_attrs()
    } else {
        Knowledge::with_category(category).to_attrs()
    };
    let source = if draft.trusted { "user" } else { "bob" };
    Record {
        project: project.clone(),
        id: ids.next(at(now)),
        kind: draft.kind,
        key: draft.key.map(|key| format!("k{key}")),
        text: format!("text {}", draft.text),
        attrs,
        scope: draft
            .task
            .map_or_else(Scope::default, |task| Scope::of_task(&task.to_string())),
        source: source.to_owned(),
        confidence: Confidence::of_source(source),
        tokens: 2,
        recorded_at: at(now),
        true_from: (draft.text == 1).then(|| at(now + 2)),
        true_to: (draft.text == 2).then(|| at(now + 2)),
        retired_at: None,
        replaced_by: None,
        expires_at: draft.expires_in.map(|seconds| at(now + seconds)),
    }
}

/// Returns filters of every form at this time.
fn filters(now: i64, middle: Option<RecordId>) -> Vec<Filter> {
    let base = Filter::current(&[], at(now));
    let narrowed = [
        base.clone(),
        Filter::current(&[Kind::Knowledge], at(now)),
        Filter::current(&[Kind::Note, Kind::Step], at(now)).oldest_first(),
        base.clone().category("decision"),
        base.clone().except_category("decision"),
        Filter::current(&[Kind::Knowledge], at(now)).except_category("fact"),
        Filter::current(&[Kind::Note], at(now)).category("fact"),
        base.clone().state("pending").oldest_first(),
        base.clone().key("k1"),
        base.clone().key("k1").category("fact"),
        base.clone().holds_at(at(now)),
        Filter::current(&[Kind::Knowledge], at(now)).holds_at(at(now + 2)),
        Filter {
            key_prefix: Some("k".to_owned()),
            source: Some("bob".to_owned()),
            ..base.clone()
        },
        Filter {
            key_prefix: Some("k2".to_owned()),
            ..Filter::current(&[Kind::Knowledge, Kind::Step], at(now)).oldest_first()
        },
        Filter {
            open_conflict: true,
            ..base.clone()
        },
        base.clone().scope(Scope::of_task("1")),
        Filter::current(&[Kind::Step], at(now))
            .scope(Scope::of_task("0"))
            .state("done"),
        Filter {
            after: middle,
            ..base.clone().limit(3)
        },
        Filter {
            after: middle,
            ..base.oldest_first().limit(3)
        },
    ];
    let whens = [
        AsOf::Current(at(now)),
        AsOf::Past(at(now)),
        AsOf::Past(at(now / 2)),
        AsOf::Ever,
    ];
    (narrowed.iter())
        .flat_map(|filter| {
            whens.map(|when| Filter {
                as_of: when,
                ..filter.clone()
            })
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_changes_match_reference_model(operations in proptest::collection::vec((operation(), tick()), 1..40)) {
        let store = SqliteStore::memory().unwrap();
        let project = ProjectName::new("p").unwrap();
        let mut oracle = Oracle::default();
        let mut now = 20;
        for (operation, ticks) in &operations {
            now += ticks;
            // Each action is a process of its own: its ids are independent of earlier ones.
            let ids = IdSource::default();
            let known = |i: usize| {
                let count = oracle.entries.len();
                (count > 0).then(|| oracle.entries[i % count].0.id)
            };
            let change = match operation {
                Operation::Put(draft, merge) => Some(Change::Put {
                    record: Box::new(record(&project, &ids, draft, now)),
                    merge: *merge,
                }),
                Operation::Revise(i, draft) => known(*i).map(|id| Change::Revise {
                    id,
                    record: Box::new(record(&project, &ids, draft, now)),
                }),
                Operation::Retire(i) => known(*i).map(|id| Change::Retire { id, at: at(now), by: "user".to_owned() }),
                Operation::Resolve(i) => known(*i).map(|keep| Change::ResolveConflict { keep, at: at(now), by: "user".to_owned() }),
                Operation::Restore(i) => known(*i).map(|id| Change::Restore { id, at: at(now), by: "user".to_owned() }),
            };
            let Some(change) = change else { continue };
            let accepted = store.apply(&project, std::slice::from_ref(&change)).is_ok();
            prop_assert_eq!(accepted, oracle.change(&change), "{:?}", change);
        }
        let middle = oracle.entries.get(oracle.entries.len() / 2).map(|(record, _)| record.id);
        for filter in filters(now, middle) {
            let found = store.find(&project, &filter).unwrap();
            prop_assert_eq!(found, oracle.find(&filter), "{:?}", filter);
        }
        let mut current = std::collections::BTreeMap::new();
        for (record, _) in &oracle.entries {
            prop_assert!(record.retired_at.is_none_or(|chain_end| chain_end >= record.recorded_at));
        }
        for record in oracle.find(&Filter::current(&[], at(now))) {
            *current.entry(record.kind).or_insert(0) += 1;
        }
        let counts: Vec<(Kind, u64)> = current.into_iter().collect();
        prop_assert_eq!(store.counts(&project, at(now)).unwrap(), counts);
        prop_assert_eq!(store.check().unwrap(), Vec::<String>::new());
    }
}
