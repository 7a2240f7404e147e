//! Test project and helpers of the conformance checks.

use crate::{AppliedChange, AsOf, Change, Filter, Store, StoreError, Verdict};
use heirloom_model::kinds::Knowledge;
use heirloom_model::record::Attrs;
use heirloom_model::{
    Confidence, ConflictPolicy, IdSource, Kind, KindData, MergeRule, ProjectName, Record, RecordId,
    Scope, Timestamp, clock,
};

/// Time at which every check begins, microseconds: 2026-05-01T10:00:00Z.
const BEGINNING: i64 = 1_777_629_600_000_000;

/// Author of changes.
pub(super) const BY: &str = "user";

/// Default merge rule for knowledge.
pub(super) const KNOWLEDGE: MergeRule = MergeRule::Knowledge(ConflictPolicy::HigherConfidence);

/// Project in a new store.
pub(super) struct TestProject<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) project: ProjectName,
    ids: IdSource,
}

impl<'a> TestProject<'a> {
    pub(super) fn new(store: &'a dyn Store) -> Self {
        Self::of(store, "github.com/acme/shop")
    }

    pub(super) fn of(store: &'a dyn Store, project: &str) -> Self {
        let Ok(project) = ProjectName::new(project) else {
            panic!("`{project}` is a bad name");
        };
        Self {
            store,
            project,
            ids: IdSource::default(),
        }
    }

    /// Creates a record of `kind` with `text`, written by `user` at `second`.
    pub(super) fn record(&self, kind: Kind, text: &str, second: i64) -> Record {
        Record {
            project: self.project.clone(),
            id: self.ids.next(at(second)),
            kind,
            key: None,
            text: text.to_owned(),
            attrs: Attrs::new(),
            scope: Scope::default(),
            source: "user".to_owned(),
            confidence: Confidence::FULL,
            tokens: 7,
            recorded_at: at(second),
            true_from: None,
            true_to: None,
            retired_at: None,
            replaced_by: None,
            expires_at: None,
        }
    }

    /// Creates a fact with `key`.
    pub(super) fn fact(&self, key: &str, text: &str, second: i64) -> Record {
        Record {
            key: Some(key.to_owned()),
            attrs: Knowledge::with_category("fact").to_attrs(),
            ..self.record(Kind::Knowledge, text, second)
        }
    }

    /// Returns a new id.
    pub(super) fn id(&self, second: i64) -> RecordId {
        self.ids.next(at(second))
    }

    #[track_caller]
    pub(super) fn apply(&self, changes: &[Change]) -> Vec<AppliedChange> {
        ok(self.store.apply(&self.project, changes))
    }

    /// Applies one change, which must succeed.
    #[track_caller]
    pub(super) fn change(&self, change: Change) -> AppliedChange {
        let applied = self.apply(&[change]);
        assert_eq!(applied.len(), 1, "one change has one answer");
        applied[0]
    }

    /// Applies one change, which must be refused.
    #[track_caller]
    pub(super) fn refused(&self, change: Change) -> StoreError {
        match self.store.apply(&self.project, &[change]) {
            Ok(applied) => panic!("this should be refused: {applied:?}"),
            Err(error) => error,
        }
    }

    /// Puts `record` with the merge rule for knowledge.
    #[track_caller]
    pub(super) fn put(&self, record: &Record) -> AppliedChange {
        self.change(put(record, KNOWLEDGE))
    }

    /// Creates `record` and returns its id.
    #[track_caller]
    pub(super) fn created(&self, record: &Record) -> RecordId {
        let applied = self.change(put(record, MergeRule::Replace));
        let expected = answer(record.id, Verdict::Created, None);
        assert_eq!(applied, expected, "`{}` is new", record.text);
        record.id
    }

    #[track_caller]
    pub(super) fn get(&self, id: RecordId) -> Record {
        ok(self.store.get(&self.project, id))
    }

    /// Fails if the record exists.
    #[track_caller]
    pub(super) fn expect_gone(&self, id: RecordId) {
        match self.store.get(&self.project, id) {
            Ok(record) => panic!("it was written: {record:?}"),
            Err(error) => expect(&error, is_not_found),
        }
    }

    #[track_caller]
    pub(super) fn find(&self, filter: &Filter) -> Vec<Record> {
        let found = ok(self.store.find(&self.project, filter));
        let count = ok(self.store.count(&self.project, filter));
        assert_eq!(count, found.len() as u64, "{filter:?}");
        found
    }

    /// Returns the texts that match `filter`.
    #[track_caller]
    pub(super) fn texts(&self, filter: &Filter) -> Vec<String> {
        let found = self.find(filter);
        found.into_iter().map(|record| record.text).collect()
    }

    /// Returns the texts that are current at `second`, oldest first.
    #[track_caller]
    pub(super) fn current(&self, second: i64) -> Vec<String> {
        self.texts(&Filter::current(&[], at(second)).oldest_first())
    }

    /// Returns the texts of an as-of query at `second`, oldest first.
    #[track_caller]
    pub(super) fn as_of(&self, second: i64) -> Vec<String> {
        let filter = Filter::current(&[], at(0)).oldest_first();
        let when = AsOf::Past(at(second));
        self.texts(&Filter {
            as_of: when,
            ..filter
        })
    }

    /// Returns the texts in the history of `id`.
    #[track_caller]
    pub(super) fn history(&self, id: RecordId) -> Vec<String> {
        let chain = ok(self.store.history(&self.project, id));
        chain.into_iter().map(|record| record.text).collect()
    }
}

/// Returns the time `second` seconds after the beginning.
pub(super) fn at(second: i64) -> Timestamp {
    clock::from_micros(BEGINNING + second * 1_000_000)
}

/// Returns the value of a call that must not fail.
#[track_caller]
pub(super) fn ok<T>(result: Result<T, StoreError>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("this should not fail: {error}"),
    }
}

pub(super) fn put(record: &Record, merge: MergeRule) -> Change {
    Change::Put {
        record: Box::new(record.clone()),
        merge,
    }
}

pub(super) fn revise(id: RecordId, record: &Record) -> Change {
    Change::Revise {
        id,
        record: Box::new(record.clone()),
    }
}

pub(super) fn retire(id: RecordId, second: i64) -> Change {
    Change::Retire {
        id,
        at: at(second),
        by: BY.to_owned(),
    }
}

pub(super) fn restore(id: RecordId, second: i64) -> Change {
    Change::Restore {
        id,
        at: at(second),
        by: BY.to_owned(),
    }
}

pub(super) fn answer(id: RecordId, verdict: Verdict, other: Option<RecordId>) -> AppliedChange {
    AppliedChange { id, verdict, other }
}

/// Fails unless `is` accepts the error.
#[track_caller]
pub(super) fn expect(error: &StoreError, is: fn(&StoreError) -> bool) {
    assert!(is(error), "another error was expected than: {error:?}");
}

pub(super) fn is_stale(error: &StoreError) -> bool {
    matches!(error, StoreError::Stale { .. })
}

pub(super) fn is_invalid(error: &StoreError) -> bool {
    matches!(error, StoreError::Invalid(_))
}

pub(super) fn is_not_found(error: &StoreError) -> bool {
    matches!(error, StoreError::NotFound { .. })
}
