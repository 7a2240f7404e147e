//! Pinning, muting, and saying whether something helped.

use super::Engine;
use super::records::USER;
use heirloom_model::{Action, Fault, Kind, Mark, Record, RecordId, limits};
use heirloom_store::{Applied, Change, Filter};

impl Engine {
    /// Lays a mark over a current record. `undo` takes it back while nothing else happened to the record.
    ///
    /// Errors: `NotFound`; `Failed` if it is not current.
    pub fn mark(&self, id: RecordId, mark: Mark) -> Result<Applied, Fault> {
        self.mark_for(id, mark, USER)
    }

    /// The same for somebody who is named in the history.
    pub fn mark_for(&self, id: RecordId, mark: Mark, by: &str) -> Result<Applied, Fault> {
        self.apply_one(Change::Mark {
            id,
            mark,
            at: self.now(),
            by: by.to_owned(),
        })
    }

    /// The mark that was the last thing that happened to a current record, if it was one.
    pub(super) fn last_mark(&self, id: RecordId) -> Result<Option<Mark>, Fault> {
        let newest = self.store.events(&self.project, Some(id), 1)?.pop();
        let marked = newest.filter(|event| event.action == Action::Marked);
        Ok(marked.and_then(|event| Mark::named(event.detail.as_deref()?)))
    }

    /// The pinned records that belong into the contexts of `task`: those of the task and those of no task,
    /// oldest first.
    pub(super) fn pinned(&self, task: &str) -> Result<Vec<Record>, Fault> {
        let filter = Filter {
            pinned: true,
            ..Filter::current(&[], self.now()).limit(limits::PINNED_MAX)
        };
        let mut found = self.find(&filter)?;
        found.retain(|record| {
            let theirs = record.scope.task.as_deref();
            record.kind != Kind::Task && theirs.is_none_or(|theirs| theirs == task)
        });
        found.reverse();
        Ok(found)
    }
}
