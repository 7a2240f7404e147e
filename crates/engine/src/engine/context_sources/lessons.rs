//! Learned lessons: resolved errors, successful strategies, and results for a query.

use super::super::context::is_eligible;
use super::super::recall::{QuerySyntax, RecallRequest, RetrievalMode};
use super::SourceInput;
use crate::engine::Contexts;
use heirloom_model::kinds::{CATEGORY_LEARNING, EpisodeAction, ErrorRecord};
use heirloom_model::record_meaning::{known_resolution, record_meaning};
use heirloom_model::section::{Offer, Origin, Section};
use heirloom_model::{Fault, Kind, Record, RecordId, Scope, limits, text};
use heirloom_search::recall::{Ranked, RecallItem};
use heirloom_store::Filter;
use std::borrow::Cow;
use std::collections::HashSet;

impl Contexts<'_> {
    /// Returns resolved errors and successful strategies: those that match the task's words first, then the newest.
    pub(super) fn learned_section(&self, input: &SourceInput<'_>) -> Result<Section, Fault> {
        let most = limits::CONTEXT_LEARNINGS_MAX;
        // A search for an explicit query considers all records, so that few of the newest are enough.
        let pool = match input.request.query {
            Some(_) => 2 * most,
            None => limits::CONTEXT_LESSONS_MAX,
        };
        let newest = Filter::current(&[Kind::Error], self.engine.now())
            .state(ErrorRecord::RESOLVED)
            .limit(pool);
        let mut resolved = self.engine.records().find(&newest)?;
        let mut seen: HashSet<RecordId> = input.shown.clone();
        let mut offers = Vec::new();
        for (record, score) in self.search_lessons(input, &resolved)? {
            offers.extend(lesson(&record, &mut seen, Some(score)));
        }
        let learnings = Filter::current(&[Kind::Knowledge], self.engine.now())
            .category(CATEGORY_LEARNING)
            .limit(most);
        // Without a known fix it is no lesson.
        resolved.retain(|record| known_resolution(record).is_some());
        resolved.truncate(most);
        let mut learnings = self.engine.records().find(&learnings)?;
        let ended = input.ended.among(&learnings)?;
        learnings.retain(|record| !ended.contains(&record.id));
        for record in resolved.iter().chain(&learnings) {
            offers.extend(lesson(record, &mut seen, None));
        }
        offers.truncate(most);
        Ok(Section {
            name: "learnings".to_owned(),
            heading: "Learned before".to_owned(),
            offers,
            ..Section::default()
        })
    }

    /// Searches resolved errors and episodes: all of them for an explicit query, otherwise only the newest, because a
    /// filter visits every record that it admits.
    fn search_lessons(
        &self,
        input: &SourceInput<'_>,
        resolved: &[Record],
    ) -> Result<Vec<(Record, f64)>, Fault> {
        if input.words.trim().is_empty() {
            return Ok(Vec::new());
        }
        let mut among = Vec::new();
        if input.request.query.is_none() {
            let tries = Filter::current(&[Kind::Episode], self.engine.now());
            let tries = self
                .engine
                .records()
                .find(&tries.limit(limits::CONTEXT_LESSONS_MAX))?;
            among.extend(resolved.iter().chain(&tries).map(|record| record.id));
            if among.is_empty() {
                return Ok(Vec::new());
            }
        }
        let found = self.engine.recall().search(&RecallRequest {
            question: input.words.clone(),
            syntax: QuerySyntax::Words,
            k: Some(2 * limits::CONTEXT_LEARNINGS_MAX),
            // Knowledge, most of the records, is excluded.
            kinds: vec![Kind::Error, Kind::Episode],
            among,
            near: Scope {
                task: input.request.task.clone(),
                ..Scope::default()
            },
            // Vectors would have to be read first, which delays a prompt.
            mode: RetrievalMode::Words,
            min_relevance: Some(0.0),
            ..RecallRequest::default()
        })?;
        let mut records = Vec::with_capacity(found.hits.len());
        for hit in found.hits {
            if let RecallItem::Record(record) = hit.item {
                records.push((*record, hit.breakdown.total));
            }
        }
        Ok(records)
    }

    /// Returns the results for the prompt's query, best first.
    pub(super) fn recalled_for_prompt(&self, input: &SourceInput<'_>) -> Result<Section, Fault> {
        let Some(query) = &input.request.query else {
            return Ok(Section::default());
        };
        let found = self.engine.recall().search(&RecallRequest {
            question: query.clone(),
            syntax: QuerySyntax::Words,
            k: Some(limits::CONTEXT_RECALL_HITS),
            near: Scope {
                task: input.request.task.clone(),
                ..Scope::default()
            },
            mode: RetrievalMode::Words,
            min_relevance: Some(0.0),
            ..RecallRequest::default()
        })?;
        let records = found.hits.iter().filter_map(|hit| match &hit.item {
            RecallItem::Record(record) => Some(&**record),
            RecallItem::Turn { .. } => None,
        });
        let ended = input.ended.among(records)?;
        let new = found
            .hits
            .iter()
            .filter(|hit| !input.shown.contains(&hit.item.id()))
            .filter(|hit| !ended.contains(&hit.item.id()))
            .filter(|hit| !input.echoes.has_hit(&hit.item))
            .filter(|hit| match &hit.item {
                RecallItem::Record(record) => !record.is_bookkeeping(),
                RecallItem::Turn { message, .. } => !message.is_bookkeeping(),
            });
        Ok(Section {
            name: "recall".to_owned(),
            heading: "Recalled".to_owned(),
            offers: new.map(recall_offer).collect(),
            notes: found.notes,
            ..Section::default()
        })
    }
}

/// Returns the offer of a hit with its whole meaning.
pub(in crate::engine) fn recall_offer(hit: &Ranked) -> Offer {
    let (origin, meaning) = match &hit.item {
        RecallItem::Record(record) => (Origin::Record(record.id), record_meaning(record)),
        RecallItem::Turn { message, .. } => (Origin::Unspecified, Cow::Borrowed(&*message.text)),
    };
    Offer {
        origin,
        text: text::one_line(&meaning),
        score: Some(hit.breakdown.total),
        ..Offer::default()
    }
}

/// Returns the lesson of a record, unless it was shown already.
pub(in crate::engine) fn lesson(
    record: &Record,
    seen: &mut HashSet<RecordId>,
    score: Option<f64>,
) -> Option<Offer> {
    if !is_eligible(record) || seen.contains(&record.id) {
        return None;
    }
    let words = match record.kind {
        Kind::Error if record.attr_str("state") == Some(ErrorRecord::RESOLVED) => {
            let fix = known_resolution(record)?;
            format!("{} → fixed by: {fix}", text::one_line(&record.text))
        }
        Kind::Episode if record.attr_str("action") == Some(EpisodeAction::Completed.as_str()) => {
            format!("worked: {}", record.attr_str("approach")?)
        }
        Kind::Knowledge if record.category() == Some(CATEGORY_LEARNING) => record.text.clone(),
        Kind::Error
        | Kind::Episode
        | Kind::Knowledge
        | Kind::Task
        | Kind::Step
        | Kind::Artifact
        | Kind::Output
        | Kind::Note
        | Kind::Summary => return None,
    };
    seen.insert(record.id);
    Some(Offer {
        origin: Origin::Record(record.id),
        text: text::one_line(&words),
        score,
        frame: None,
        ..Offer::default()
    })
}
