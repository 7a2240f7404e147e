//! Long lists in parts, for whoever asks from far away.

use super::Engine;
use heirloom_model::{Fault, ProjectName, Record, RecordId, Session, limits};
use heirloom_store::Filter;

/// A part of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// What is in it, in the order that was asked for.
    pub records: Vec<Record>,
    /// What the next part begins behind; `None` if this was the last one.
    pub next: Option<RecordId>,
}

impl Engine {
    /// The first `filter.limit` records behind `filter.after` that `wanted` wants, or all that there are.
    ///
    /// A record that comes or goes between two parts moves no other one.
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

    /// Every project of the store, by name.
    pub fn projects(&self) -> Result<Vec<ProjectName>, Fault> {
        Ok(self.store.projects()?)
    }

    /// The messages of a session from place `from` on, in order, at most `limit`. Errors: `NotFound`.
    pub fn session_page(
        &self,
        id: &str,
        from: u64,
        limit: usize,
    ) -> Result<(Session, Vec<heirloom_model::Message>), Fault> {
        let session = self.store.session(&self.project, id)?;
        let messages = self.store.messages(&self.project, id, from, limit)?;
        Ok((session, messages))
    }
}
