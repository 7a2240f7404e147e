//! Eligible records: the open errors, facts and decisions that compete for a prompt.

use super::Contexts;
use crate::engine::EndedRecords;
use heirloom_model::kinds::{CATEGORY_DECISION, ErrorRecord};
use heirloom_model::record_meaning::is_exit_status;
use heirloom_model::{Fault, Kind, Record, Scope, Timestamp, limits, mark, text};
use heirloom_store::Filter;
use std::cmp::Reverse;

impl Contexts<'_> {
    /// Returns the newest open errors that pass `is_shown`, oldest first: of all tasks, or of `task` together with
    /// those without a task. Errors that are only an exit status, and ended ones, are left out. Reads only a limited number of records.
    pub(in crate::engine) fn newest_open_errors(
        &self,
        task: Option<&str>,
        limit: usize,
        is_shown: &dyn Fn(&Record) -> bool,
        ended: &EndedRecords<'_>,
    ) -> Result<Vec<Record>, Fault> {
        let newest = Filter::current(&[Kind::Error], self.engine.now())
            .state(ErrorRecord::OPEN)
            .limit(limit.max(limits::CONTEXT_ERRORS_MIN));
        let mut errors = match task {
            None => self.engine.records().find(&newest)?,
            Some(task) => {
                let without_task = Filter {
                    no_task: true,
                    ..newest.clone()
                };
                let of_task = newest.scope(Scope::of_task(task));
                let mut errors = self.engine.records().find(&without_task)?;
                errors.extend(self.engine.records().find(&of_task)?);
                errors.sort_by_key(|error| Reverse(error.id));
                errors
            }
        };
        errors.retain(|error| is_shown(error) && !is_exit_status(&error.text));
        let ended = ended.among(&errors)?;
        errors.retain(|error| !ended.contains(&error.id));
        errors.truncate(limit);
        errors.reverse();
        Ok(errors)
    }

    /// Returns the newest facts that may fit into `chars`, and true if there are more. First reads as many as usually
    /// fit, and more only if these are short.
    pub(in crate::engine) fn newest_facts(
        &self,
        chars: usize,
    ) -> Result<(Vec<Record>, bool), Fault> {
        let within = |each: usize| {
            (chars / each).clamp(limits::CONTEXT_FACTS_MIN, limits::CONTEXT_FACTS_MAX)
        };
        let (facts, go_on) = self.newest_knowledge(None, within(limits::CONTEXT_CHARS_PER_FACT))?;
        let known: usize = facts.iter().map(|fact| text::chars(&fact.text)).sum();
        let most = within(limits::CONTEXT_CHARS_PER_SHORT_FACT);
        if !go_on || known >= chars || facts.len() >= most {
            return Ok((facts, go_on));
        }
        self.newest_knowledge(None, most)
    }

    /// Returns the newest knowledge of a category, or of all except decisions, that is valid now and undisputed;
    /// oldest first. Also returns true if there is more than `limit`.
    pub(in crate::engine) fn newest_knowledge(
        &self,
        category: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<Record>, bool), Fault> {
        let now = self.engine.now();
        let filter = Filter::current(&[Kind::Knowledge], now)
            .holds_at(now)
            .limit(limit + 1);
        let filter = match category {
            Some(category) => filter.category(category),
            None => filter.except_category(CATEGORY_DECISION),
        };
        let mut found = self.engine.records().find(&filter)?;
        // A program may have stored thousands of values after the last fact.
        if found.iter().any(Record::is_bookkeeping) {
            let is_knowledge = |record: &Record| !record.is_bookkeeping();
            found = (self.engine.records().page(&filter, Some(&is_knowledge))?).records;
        }
        let goes_on = found.len() > limit;
        found.truncate(limit);
        found.reverse();
        Ok((found, goes_on))
    }
}

/// Returns true if the record may be in a prompt: a person has not muted it, and it is no bookkeeping of a program.
pub(in crate::engine) fn is_eligible(record: &Record) -> bool {
    !mark::is_muted(&record.attrs) && !record.is_bookkeeping()
}

/// Returns true if the record is valid at `now`.
pub(in crate::engine) fn is_valid_at(record: &Record, now: Timestamp) -> bool {
    record.true_from.is_none_or(|from| from <= now) && record.true_to.is_none_or(|to| to > now)
}
