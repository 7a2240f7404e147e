//! Pinned records: those that every context of their scope includes.

use super::{Contexts, is_eligible, is_valid_at};
use heirloom_model::{Fault, Kind, Record, limits};
use heirloom_store::Filter;

impl Contexts<'_> {
    /// Returns the pinned records for contexts of `task`: those of the task and those without a task, oldest first.
    /// Muted records and those that are not valid now are left out.
    pub(in crate::engine) fn pinned_records(&self, task: &str) -> Result<Vec<Record>, Fault> {
        let now = self.engine.now();
        let filter = Filter {
            pinned: true,
            ..Filter::current(&[], now).limit(limits::PINNED_MAX)
        };
        let mut found = self.engine.records().find(&filter)?;
        found.retain(|record| {
            let record_task = record.scope.task.as_deref();
            record.kind != Kind::Task
                && record_task.is_none_or(|record_task| record_task == task)
                && is_eligible(record)
                && is_valid_at(record, now)
        });
        found.reverse();
        Ok(found)
    }
}
