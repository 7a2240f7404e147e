//! Cursor pagination of long lists.

use crate::engine::{Records, Sessions};
use heirloom_model::{Fault, ProjectName, Record, RecordId, Session, limits};
use heirloom_store::Filter;

/// Page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Records of the page, in the requested order.
    pub records: Vec<Record>,
    /// Cursor of the next page: the last id of this one; `None` on the last page.
    pub next: Option<RecordId>,
}

impl Records<'_> {
    /// Returns the first `filter.limit` records after the cursor `filter.after` for which `wanted` returns true.
    ///
    /// The cursor is an id, so records that are added or retired between two calls shift no page.
    pub fn page(
        &self,
        filter: &Filter,
        wanted: Option<&dyn Fn(&Record) -> bool>,
    ) -> Result<Page, Fault> {
        let most = filter.limit.min(limits::FIND_MAX - 1);
        let step = match wanted {
            None => most + 1,
            Some(_) => limits::PAGE_RECORDS.max(most + 1),
        };
        let mut question = filter.clone().limit(step);
        let mut records: Vec<Record> = Vec::new();
        loop {
            let found = self.find(&question)?;
            let is_last = found.len() < step;
            question.after = found.last().map(|last| last.id);
            let keep = found
                .into_iter()
                .filter(|record| wanted.is_none_or(|wanted| wanted(record)));
            records.extend(keep);
            if is_last || records.len() > most {
                break;
            }
        }
        let has_more = records.len() > most;
        records.truncate(most);
        let next = records.last().filter(|_| has_more).map(|last| last.id);
        Ok(Page { records, next })
    }

    /// Returns all projects of the store, by name.
    pub fn projects(&self) -> Result<Vec<ProjectName>, Fault> {
        Ok(self.engine.store.projects()?)
    }
}

impl Sessions<'_> {
    /// Returns at most `limit` messages of a session from position `from` on, in order. Errors: `NotFound`.
    pub fn session_page(
        &self,
        id: &str,
        from: u64,
        limit: usize,
    ) -> Result<(Session, Vec<heirloom_model::Message>), Fault> {
        let session = self.engine.store.session(&self.engine.project, id)?;
        let messages = self
            .engine
            .store
            .messages(&self.engine.project, id, from, limit)?;
        Ok((session, messages))
    }
}
