//! What the checks write and ask.

use crate::{Applied, Change, Filter, Store, StoreError, Verdict, When};
use heirloom_model::kinds::Knowledge;
use heirloom_model::record::Attrs;
use heirloom_model::{
    Confidence, ConflictPolicy, IdSource, Kind, KindData, Merge, ProjectName, Record, RecordId,
    Scope, Timestamp, clock,
};

/// Microseconds of the moment at which every check begins: 2026-05-01T10:00:00Z.
const BEGINNING: i64 = 1_777_629_600_000_000;

/// Who retires and restores.
pub(super) const BY: &str = "user";

/// The rule for knowledge where nothing else is said.
pub(super) const KNOWLEDGE: Merge = Merge::Knowledge(ConflictPolicy::HigherConfidence);

/// A project in a fresh store.
pub(super) struct World<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) project: ProjectName,
    ids: IdSource,
}

impl<'a> World<'a> {
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

    /// A record of `kind` that says `text`, written by `user` at `second`.
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

    /// A fact under `key`.
    pub(super) fn fact(&self, key: &str, text: &str, second: i64) -> Record {
        Record {
            key: Some(key.to_owned()),
            attrs: Knowledge::of_category("fact").to_attrs(),
            ..self.record(Kind::Knowledge, text, second)
        }
    }

    /// Another id that no record has.
    pub(super) fn id(&self, second: i64) -> RecordId {
        self.ids.next(at(second))
    }

    #[track_caller]
    pub(super) fn apply(&self, changes: &[Change]) -> Vec<Applied> {
        ok(self.store.apply(&self.project, changes))
    }

    /// One change that must be carried out.
    #[track_caller]
    pub(super) fn change(&self, change: Change) -> Applied {
        let applied = self.apply(&[change]);
        assert_eq!(applied.len(), 1, "one change has one answer");
        applied[0]
    }

    /// One change that must be refused.
    #[track_caller]
    pub(super) fn refused(&self, change: Change) -> StoreError {
        match self.store.apply(&self.project, &[change]) {
            Ok(applied) => panic!("this should be refused: {applied:?}"),
            Err(error) => error,
        }
    }

    /// Puts `record` by the rule for knowledge.
    #[track_caller]
    pub(super) fn put(&self, record: &Record) -> Applied {
        self.change(put(record, KNOWLEDGE))
    }

    /// Creates `record` and returns its id.
    #[track_caller]
    pub(super) fn created(&self, record: &Record) -> RecordId {
        let applied = self.change(put(record, Merge::Replace));
        let expected = answer(record.id, Verdict::Created, None);
        assert_eq!(applied, expected, "`{}` is new", record.text);
        record.id
    }

    #[track_caller]
    pub(super) fn get(&self, id: RecordId) -> Record {
        ok(self.store.get(&self.project, id))
    }

    /// Fails if the record was written after all.
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

    /// The texts that `filter` finds.
    #[track_caller]
    pub(super) fn texts(&self, filter: &Filter) -> Vec<String> {
        let found = self.find(filter);
        found.into_iter().map(|record| record.text).collect()
    }

    /// The texts that are current at `second`, oldest first.
    #[track_caller]
    pub(super) fn current(&self, second: i64) -> Vec<String> {
        self.texts(&Filter::current(&[], at(second)).oldest_first())
    }

    /// The texts that were current at `second`, oldest first.
    #[track_caller]
    pub(super) fn as_of(&self, second: i64) -> Vec<String> {
        let filter = Filter::current(&[], at(0)).oldest_first();
        let when = When::AsOf(at(second));
        self.texts(&Filter { when, ..filter })
    }

    /// The texts in the history of `id`.
    #[track_caller]
    pub(super) fn history(&self, id: RecordId) -> Vec<String> {
        let chain = ok(self.store.history(&self.project, id));
        chain.into_iter().map(|record| record.text).collect()
    }
}

/// `second` seconds after the beginning.
pub(super) fn at(second: i64) -> Timestamp {
    clock::from_micros(BEGINNING + second * 1_000_000)
}

/// What a call that must not fail returned.
#[track_caller]
pub(super) fn ok<T>(result: Result<T, StoreError>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("this should not fail: {error}"),
    }
}

pub(super) fn put(record: &Record, merge: Merge) -> Change {
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

pub(super) fn answer(id: RecordId, verdict: Verdict, other: Option<RecordId>) -> Applied {
    Applied { id, verdict, other }
}

/// Fails unless `error` is of the variant that `is` knows.
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
