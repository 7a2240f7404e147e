//! Changes of several records in one transaction.

use super::records::USER;
use crate::engine::Records;
use crate::engine::revision::Revision;
use heirloom_model::{Fault, Kind, Mark, Record, RecordId, limits};
use heirloom_store::{Change, Filter};

/// Change that is applied to several records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BulkChange {
    /// Retires the records.
    Retire,
    /// Sets a mark on the records.
    Mark(Mark),
    /// Moves knowledge to a category; other kinds are left as they are.
    Move(String),
}

impl Records<'_> {
    /// Applies a change to those of the records `ids` that are current and that it changes, in one transaction and in
    /// the name of `by`. Returns the id of each changed record, which `undo` reverts.
    ///
    /// Errors: `Usage` for an invalid category, or for more than [`limits::BULK_CHANGES_MAX`] records; `Refused` when memory is off.
    pub fn change_all(
        &self,
        ids: &[RecordId],
        change: &BulkChange,
        by: &str,
    ) -> Result<Vec<RecordId>, Fault> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        if ids.len() > limits::BULK_CHANGES_MAX {
            let most = limits::BULK_CHANGES_MAX;
            return Err(Fault::usage(format!(
                "more than {most} entries are selected"
            )));
        }
        let applied = self.engine.apply_decided(|| {
            let current = Filter::current(&[], self.engine.now());
            let known = self.find(&current.ids(ids.to_vec()).limit(ids.len()))?;
            let changes = known
                .iter()
                .map(|record| self.bulk_change(record, change, by));
            Ok(changes
                .collect::<Result<Vec<_>, _>>()?
                .into_iter()
                .flatten()
                .collect())
        })?;
        Ok(applied.iter().map(|one| one.id).collect())
    }

    /// Returns the change of one record; `None` if it already has the result.
    fn bulk_change(
        &self,
        record: &Record,
        change: &BulkChange,
        by: &str,
    ) -> Result<Option<Change>, Fault> {
        let (id, at, by) = (record.id, self.engine.now(), by.to_owned());
        Ok(match change {
            BulkChange::Retire => Some(Change::Retire { id, at, by }),
            BulkChange::Mark(mark) => {
                let mark = *mark;
                let is_new = mark.apply_to(&record.attrs) != record.attrs;
                is_new.then_some(Change::Mark { id, mark, at, by })
            }
            BulkChange::Move(category) => {
                let is_moved =
                    record.kind == Kind::Knowledge && record.category() != Some(category.as_str());
                if !is_moved {
                    return Ok(None);
                }
                let revision = Revision {
                    text: record.text.clone(),
                    category: Some(category.clone()),
                    confidence: Some(record.confidence.get()),
                    true_from: record.true_from,
                };
                let record = Box::new(self.revised_record(record, &revision, USER)?);
                Some(Change::Revise { id, record })
            }
        })
    }
}
