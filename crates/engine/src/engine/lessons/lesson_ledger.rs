//! Ledger of a session's lessons: which record has which lesson, and which lessons a person took back.

use heirloom_model::{RecordId, limits};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Ledger of a session's lessons, stored with the session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LessonLedger {
    /// The record of each lesson, by the identity of the lesson.
    records: BTreeMap<String, RecordId>,
    /// Identities of lessons that a person took back.
    declined: BTreeSet<String>,
    /// Import batch of the session's lessons.
    pub(super) batch: Option<RecordId>,
    /// Batch before it, whose lessons were undone.
    pub(super) former_batch: Option<RecordId>,
    /// Hash of the lessons that were reconciled last.
    pub(super) fingerprint: Option<String>,
}

impl LessonLedger {
    /// Reads a ledger; an empty one if the value is invalid.
    pub fn from_value(value: &Value) -> Self {
        let id = |value: &Value| value.as_str()?.parse().ok();
        let records = value["records"].as_object().into_iter().flatten();
        let declined = value["declined"].as_array().into_iter().flatten();
        Self {
            records: records
                .filter_map(|(identity, record)| Some((identity.clone(), id(record)?)))
                .collect(),
            declined: declined
                .filter_map(|identity| Some(identity.as_str()?.to_owned()))
                .collect(),
            batch: id(&value["batch"]),
            former_batch: id(&value["former_batch"]),
            fingerprint: value["fingerprint"].as_str().map(str::to_owned),
        }
    }

    /// Returns the stored form.
    pub fn to_value(&self) -> Value {
        let records: BTreeMap<_, _> = (self.records.iter())
            .map(|(identity, id)| (identity, id.to_string()))
            .collect();
        json!({
            "records": records,
            "declined": self.declined,
            "batch": self.batch.map(|id| id.to_string()),
            "former_batch": self.former_batch.map(|id| id.to_string()),
            "fingerprint": self.fingerprint,
        })
    }

    /// Returns true if the session taught nothing so far.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.declined.is_empty()
    }

    /// Removes the lessons that a person took back, for a person who wants them again, and returns their identities.
    /// `kept` are the records that were not reverted.
    pub(super) fn release(&mut self, kept: &BTreeSet<RecordId>) -> BTreeSet<String> {
        let gone: Vec<String> = (self.records.iter())
            .filter(|(_, id)| !kept.contains(id))
            .map(|(identity, _)| identity.clone())
            .collect();
        for identity in &gone {
            self.decline(identity);
        }
        let released: BTreeSet<String> = std::mem::take(&mut self.declined)
            .into_iter()
            .chain(gone)
            .collect();
        self.fingerprint = None;
        released
    }

    pub(super) fn records(&self) -> impl Iterator<Item = (&String, RecordId)> {
        self.records.iter().map(|(identity, id)| (identity, *id))
    }

    pub(super) fn insert(&mut self, identity: &str, id: RecordId) {
        if self.records.len() < limits::LESSON_LEDGER_MAX || self.records.contains_key(identity) {
            self.records.insert(identity.to_owned(), id);
        }
    }

    pub(super) fn remove(&mut self, identity: &str) {
        self.records.remove(identity);
    }

    pub(super) fn is_declined(&self, identity: &str) -> bool {
        self.declined.contains(identity)
    }

    /// Records that a person took a lesson back. Further lessons come in a batch of their own, because the former one
    /// may be reverted.
    pub(super) fn decline(&mut self, identity: &str) {
        self.records.remove(identity);
        self.former_batch = self.batch.take().or(self.former_batch);
        if self.declined.len() < limits::LESSON_LEDGER_MAX {
            self.declined.insert(identity.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ledger_stops_at_maximum() {
        let mut ledger = LessonLedger::default();
        let id = RecordId::min_at(heirloom_model::Timestamp::UNIX_EPOCH);
        for n in 0..=limits::LESSON_LEDGER_MAX {
            ledger.insert(&format!("lesson {n}"), id);
        }
        assert_eq!(ledger.records.len(), limits::LESSON_LEDGER_MAX);
        assert_eq!(LessonLedger::from_value(&ledger.to_value()), ledger);
    }
}
