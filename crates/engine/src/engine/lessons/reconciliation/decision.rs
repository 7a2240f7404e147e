//! Decision on a new lesson: what happens to the stored records that it concerns.

use super::{Reconciliation, is_touched_by_person};
use crate::engine::lessons::lesson_drafts::{LessonDraft, content_of, has_derived_key};
use crate::engine::lessons::lesson_source::LessonSource;
use crate::engine::lessons::replacement;
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::record_meaning::known_resolution;
use heirloom_model::similarity::{ComparableText, has_same_words};
use heirloom_model::{Authority, Case, Fault, Kind, KindData, Record, RecordId, Scope, limits};
use heirloom_search::index::tokenizer::QueryTerms;
use heirloom_store::{Filter, Lane, SearchQuery};
use std::collections::HashMap;
use std::time::Duration;

/// Number of similar records that a new lesson is compared with.
const NEIGHBOURS: usize = 8;
/// Number of items of all kinds among which those records are looked for.
const CANDIDATES: usize = 50;

/// Difference of the times of a request in two copies of a conversation, whose ids and first lines have times of their own.
const COPY_TOLERANCE: Duration = Duration::from_secs(2);

/// Words of resolutions that earlier versions wrote without knowing what helped.
const AUTOMATIC: [&str; 2] = ["` worked", "it worked "];

impl Reconciliation<'_> {
    fn current(&self, filter: Filter) -> Result<Option<Record>, Fault> {
        Ok(self.engine.records().find(&filter.limit(1))?.pop())
    }

    pub(super) fn knowledge(&mut self, draft: &LessonDraft) -> Result<Decision, Fault> {
        let record = &draft.record;
        let now = self.engine.now();
        let mut filter = Filter::current(&[Kind::Knowledge], now);
        filter.category = record.category().map(str::to_owned);
        filter.key.clone_from(&record.key);
        if let Some(known) = self.current(filter)? {
            let is_lower = Authority::of_record(record) < Authority::of_record(&known);
            return Ok(match has_same_words(&known.text, &record.text) {
                true => Decision::Confirm(Box::new(known)),
                false if is_lower => Decision::Nothing,
                // Of two lessons the newer one is true.
                false if LessonSource::is_in(&known) => {
                    match known.recorded_at <= record.recorded_at {
                        true => Decision::Revise(Box::new(known)),
                        false => Decision::Nothing,
                    }
                }
                false => Decision::Merge(known.id),
            });
        }
        let near = self.near_knowledge(&record.text)?;
        if has_derived_key(record) {
            let text = ComparableText::from_text(&record.text);
            let same = near.iter().find(|known| {
                has_same_words(&known.text, &record.text)
                    || text.is_near_duplicate(&ComparableText::from_text(&known.text))
            });
            if let Some(known) = same {
                return Ok(Decision::Confirm(Box::new(known.clone())));
            }
        }
        // A conversation that is learned later may be older than what replaced its statements.
        if near
            .iter()
            .any(|known| replacement::is_replaced(record, known))
        {
            return Ok(Decision::Nothing);
        }
        let replaced = near.into_iter().filter(|known| {
            replacement::is_replaced(known, record) && !self.touched.contains(&known.id)
        });
        let mut replaced: Vec<Record> = replaced.collect();
        if replaced.is_empty() {
            return Ok(Decision::Create);
        }
        // One of them has the lesson as its successor, which undo follows.
        let first = replaced.remove(0);
        self.retire_replaced(replaced);
        Ok(Decision::Revise(Box::new(first)))
    }

    /// Returns current knowledge with similar words.
    fn near_knowledge(&self, text: &str) -> Result<Vec<Record>, Fault> {
        let search = SearchQuery {
            words: Some(QueryTerms::of(text)),
            semantic_text: None,
            vector: None,
            sentence: None,
            // Without a filter by kind, which would read the rows of all records in the process of a hook.
            filter: Filter::current(&[], self.engine.now()),
            lane: Lane::Memory,
            key_filters: Vec::new(),
            limit_per_arm: CANDIDATES,
        };
        let found = self.engine.store.search(&self.engine.project, &search)?;
        if found.hits.is_empty() {
            return Ok(Vec::new());
        }
        let ids = found.hits.iter().map(|hit| hit.id).collect();
        let filter = Filter {
            ids,
            ..Filter::current(&[Kind::Knowledge], self.engine.now())
        };
        let records = self.engine.records().find(&filter.limit(CANDIDATES))?;
        let mut records: HashMap<RecordId, Record> =
            (records.into_iter().map(|record| (record.id, record))).collect();
        let nearest = found.hits.iter().filter_map(|hit| records.remove(&hit.id));
        Ok(nearest.take(NEIGHBOURS).collect())
    }

    /// Decides on an error. A resolution that names the change takes the place of one that a hook wrote, never the
    /// other way round.
    pub(super) fn error(&self, draft: &LessonDraft) -> Result<Decision, Fault> {
        let record = &draft.record;
        let mut filter = Filter::current(&[Kind::Error], self.engine.now());
        filter.key.clone_from(&record.key);
        let Some(known) = self.current(filter)? else {
            return Ok(Decision::Create);
        };
        let is_copy =
            known.state() == record.state() && LessonSource::is_of_same_message(&known, record);
        if is_copy || Authority::of_record(record) < Authority::of_record(&known) {
            return Ok(Decision::Nothing);
        }
        let is_resolved = record.state() == Some(ErrorRecord::RESOLVED);
        let is_known_open = known.state() == Some(ErrorRecord::OPEN);
        // An error without the fields of a repetition has not recurred.
        let typed = ErrorRecord::from_record(&known).ok();
        let repeated_at = typed.and_then(|typed| typed.repeated_at);
        let has_recurred = repeated_at.is_some_and(|at| at > self.conversation.ended_at);
        let is_newer = known.recorded_at < record.recorded_at;
        // It occurred or was closed in a later session.
        let is_earlier =
            !is_of_same_session(&known, record) && known.recorded_at > self.conversation.ended_at;
        let names_change = known_resolution(record).is_some();
        let is_known_better = is_earlier && known_resolution(&known).is_some();
        Ok(match (is_resolved, is_known_open) {
            (true, true) if has_recurred || is_earlier => Decision::Nothing,
            (true, true) => Decision::Revise(Box::new(known)),
            (true, false) if !names_change || is_known_better => Decision::Nothing,
            (true, false) if is_automatic_resolution(&known) => Decision::Revise(Box::new(known)),
            (true, false) if LessonSource::is_in(&known) && is_newer => {
                Decision::Revise(Box::new(known))
            }
            // It occurred again after it was resolved.
            (false, false) if is_newer && !is_of_same_session(&known, record) => {
                Decision::Merge(known.id)
            }
            (true | false, true | false) => Decision::Nothing,
        })
    }

    /// A case from the transcript takes the place of the one that a hook stored at the end of the session. A request that
    /// a resumed or forked conversation repeats has one case, that of the conversation that went on longest.
    pub(super) fn episode(&self, draft: &LessonDraft) -> Result<Decision, Fault> {
        if let Some(known) = self.case_of_same_request(&draft.record)? {
            let source = LessonSource::of_record(&known);
            let session = source.map(|source| source.session).unwrap_or_default();
            let session = self.engine.sessions().find(&session)?;
            let ended_at = session.and_then(|session| session.ended_at);
            let is_longer = ended_at.is_none_or(|at| at < self.conversation.ended_at);
            let has_news = content_of(&known) != content_of(&draft.record);
            return Ok(
                match is_longer && has_news && !is_touched_by_person(&known) {
                    true => Decision::Revise(Box::new(known)),
                    false => Decision::Nothing,
                },
            );
        }
        let scope = Scope {
            session: Some(self.conversation.session.to_owned()),
            ..Scope::default()
        };
        let mut filter = Filter::current(&[Kind::Episode], self.engine.now()).scope(scope);
        filter.limit = limits::HOOK_SESSION_ITEMS_MAX;
        let found = self.engine.records().find(&filter)?.into_iter();
        let automatic = found.into_iter().find(|known| {
            !LessonSource::is_in(known)
                && Case::of_record(known).is_some()
                && known.key.is_none()
                && known.source == draft.record.source
                && !self.touched.contains(&known.id)
                && !is_touched_by_person(known)
        });
        Ok(automatic.map_or(Decision::Create, |known| Decision::Revise(Box::new(known))))
    }
}

impl Reconciliation<'_> {
    /// Returns the case of another session about the same request. A copy has the time of the request, or one between the
    /// start of a conversation and the request.
    fn case_of_same_request(&self, record: &Record) -> Result<Option<Record>, Fault> {
        let bounds = [record.recorded_at, self.conversation.began_at];
        let first = bounds.iter().min().copied();
        let last = bounds.iter().max().copied();
        let mut filter = Filter::current(&[Kind::Episode], self.engine.now());
        filter.recorded_from = first.and_then(|at| at.checked_sub(COPY_TOLERANCE).ok());
        filter.recorded_before = last.and_then(|at| at.checked_add(COPY_TOLERANCE).ok());
        let found = self.engine.records().find(&filter)?.into_iter();
        let mut same = found.filter(|known| LessonSource::is_of_same_message(known, record));
        Ok(same.next())
    }
}

/// Decision on a lesson that the session has not stored yet.
pub(super) enum Decision {
    Nothing,
    Create,
    /// The merge rule decides between it and this record.
    Merge(RecordId),
    /// It takes the place of this record.
    Revise(Box<Record>),
    /// It states the same as this record.
    Confirm(Box<Record>),
}

/// Returns true if a program, and no person or agent, wrote the resolution of an error because a command passed later.
fn is_automatic_resolution(record: &Record) -> bool {
    let is_closed_by_pass = record.attr_str(ErrorRecord::CLOSED_BY) == Some(ErrorRecord::PASSED);
    let is_legacy = known_resolution(record)
        .is_none_or(|how| AUTOMATIC.iter().any(|words| how.contains(words)));
    Authority::of_record(record) == Authority::Agent
        && !LessonSource::is_in(record)
        && (is_closed_by_pass || is_legacy)
}

fn is_of_same_session(known: &Record, record: &Record) -> bool {
    known.scope.session.is_some() && known.scope.session == record.scope.session
}
