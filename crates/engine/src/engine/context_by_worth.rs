//! Context by worth: candidates from recall, the task, pins and the newest records, each with a rating.

mod memory_candidates;
mod question;
mod record_worth;

use super::Engine;
use super::context::{
    ContextRequest, Echoes, is_eligible, is_valid_at,
    item_text::{error_item, fact_item},
    past_attempts, task_view,
};
use crate::engine::context_sources::{self, SourceInput, lesson, recall_offer};
use crate::engine::directive_injection::InjectionReport;
use crate::engine::recall::{ConversationHits, DedupMode, QuerySyntax, RecallRequest};
use crate::engine::tasks::TASK_MAIN;
use crate::engine::{Contexts, EndedRecords};
use heirloom_model::context::{Context, MemoryView};
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::rating::{Rating, Tier};
use heirloom_model::section::{Origin, Section, SourceRow, StandingRank};
use heirloom_model::{Budget, Fault, Kind, Record, RecordId, Scope, limits, text};
use heirloom_prompt::context::{self, StandingAllowance, WorthInput};
use heirloom_search::recall::{Ranked, RecallItem, is_relevant};
use heirloom_search::relevance::{CONTEXT_FLOOR, FLOOR, TELL_MORE_MIN};
use heirloom_store::Filter;
use memory_candidates::{MemoryCandidates, rated_error};
use question::ContextQuestion;
use record_worth::{RecordRater, source_worth};
use std::collections::HashSet;

/// Conversations have one in this many parts of the budget.
const CONVERSATION_SHARE: usize = 5;

impl Contexts<'_> {
    /// Builds a context by worth. Standing text takes part of an explicit budget and is added to another one.
    pub(super) fn build_by_worth(
        &self,
        request: &ContextRequest,
        injected: Option<&InjectionReport>,
        budget: Budget,
        is_explicit: bool,
        ended: &EndedRecords<'_>,
    ) -> Result<Context, Fault> {
        let builder = WorthBuilder {
            engine: self.engine,
            ended,
        };
        builder.build(request, injected, budget, is_explicit)
    }
}

/// Builder of contexts by worth.
struct WorthBuilder<'e> {
    engine: &'e Engine,
    ended: &'e EndedRecords<'e>,
}

impl WorthBuilder<'_> {
    fn build(
        &self,
        request: &ContextRequest,
        injected: Option<&InjectionReport>,
        budget: Budget,
        has_explicit_budget: bool,
    ) -> Result<Context, Fault> {
        let (mut view, pinned) = self.task_part(request)?;
        let errors = self.open_errors(request, &view)?;
        view.errors = errors.iter().cloned().map(error_item).collect();
        let question = self.question(request, &view)?;
        let mut notes = Vec::new();
        let hits = match &question {
            Some(question) => Some(self.context_hits(question, request, budget, &mut notes)?),
            None => None,
        };
        let task = request.task.as_deref().unwrap_or(TASK_MAIN);
        let is_explicit = question
            .as_ref()
            .is_some_and(|question| question.is_explicit);
        let floor = if is_explicit { CONTEXT_FLOOR } else { 0.0 };
        let rater = RecordRater::new(hits.as_deref(), task, self.engine.now()).with_floor(floor);
        view.errors = errors
            .into_iter()
            .map(|error| rated_error(error, request, &rater))
            .collect();
        let tail_chars = if is_explicit { 0 } else { budget.chars() };
        let mut candidates = self.memory_candidates(
            view,
            &pinned,
            hits.unwrap_or_default(),
            task,
            &rater,
            tail_chars,
        )?;
        if !is_explicit {
            candidates.rest.retain(is_worth_telling);
        }
        let mut sections = self.rated_sections(request, injected, &candidates, &rater);
        if let Some((_, first)) = sections.first_mut() {
            first.notes.extend(notes);
        }
        let prefixes = self.engine.contexts().signal_prefixes();
        let within = budget.chars();
        let standing_chars = self.engine.settings.standing_chars;
        let context = context::render_by_worth(&WorthInput {
            view: &candidates.view,
            sections: &sections,
            budget,
            standing: StandingAllowance {
                chars: match has_explicit_budget {
                    true => standing_chars.min(within / 2),
                    false => standing_chars,
                },
                is_within_budget: has_explicit_budget,
                separate_chars: request.separate_rules.then_some(standing_chars),
            },
            question: question.as_ref().map(|question| question.text.as_str()),
            best_floor: if is_explicit { FLOOR } else { 0.0 },
            floor,
            prefixes: &prefixes,
        });
        Ok(context)
    }

    /// Returns the guaranteed part of Session Memory with the attempts and artifacts of the task, and its pinned
    /// records.
    fn task_part(&self, request: &ContextRequest) -> Result<(MemoryView, Vec<Record>), Fault> {
        let id = request.task.as_deref().unwrap_or(TASK_MAIN);
        let pinned = self.engine.contexts().pinned_records(id)?;
        let (described, files): (Vec<_>, Vec<_>) =
            (self.engine.tasks().artifacts_of(id)?.into_iter())
                .partition(past_attempts::is_described);
        let view = MemoryView {
            task: task_view(self.engine, id, request.phase.as_deref(), files)?,
            pinned: pinned.iter().cloned().map(fact_item).collect(),
            attempts: past_attempts::attempt_items(self.engine, id, &Echoes::of_request(request))?,
            artifacts: past_attempts::artifact_items(&described),
            ..MemoryView::default()
        };
        Ok((view, pinned))
    }

    fn open_errors(
        &self,
        request: &ContextRequest,
        view: &MemoryView,
    ) -> Result<Vec<Record>, Fault> {
        let pins: HashSet<RecordId> = view.pinned.iter().filter_map(|item| item.id).collect();
        let rest = |record: &Record| is_eligible(record) && !pins.contains(&record.id);
        self.engine.contexts().newest_open_errors(
            request.task.as_deref(),
            self.engine.settings.max_entries,
            &rest,
            self.ended,
        )
    }

    /// Returns the hits of the question, best first, without muted, disputed, invalid and ended records.
    fn context_hits(
        &self,
        question: &ContextQuestion,
        request: &ContextRequest,
        budget: Budget,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Ranked>, Fault> {
        let search = RecallRequest {
            question: question.text.clone(),
            syntax: QuerySyntax::Words,
            k: Some(limits::RECALL_POOL_HITS),
            // The selection names duplicates on the receipt.
            dedup: DedupMode::Keep,
            min_relevance: Some(0.0),
            near: Scope {
                task: request.task.clone(),
                ..Scope::default()
            },
            ..RecallRequest::default()
        };
        let found = self.engine.recall().search_locally(&search)?;
        notes.extend(found.notes);
        let mut hits = found.hits;
        hits.retain(|hit| match &hit.item {
            RecallItem::Record(record) => {
                is_eligible(record)
                    && is_valid_at(record, self.engine.now())
                    && !record.attrs.contains_key("disputed")
            }
            RecallItem::Turn { .. } => false,
        });
        let ended = self.ended.among(hits.iter().filter_map(record_of))?;
        hits.retain(|hit| !ended.contains(&hit.item.id()));
        if question.is_explicit && !hits.iter().any(|hit| is_relevant(hit, FLOOR)) {
            hits.extend(self.conversation_hits(search, budget)?);
        }
        let echoes = Echoes::of_request(request);
        hits.retain(|hit| !echoes.has_hit(&hit.item));
        Ok(hits)
    }

    /// Returns the best turn of each of a few conversations, for a question that no record answers. Together they take a
    /// fifth of the budget at most, because what was said is weaker than what was learned.
    fn conversation_hits(
        &self,
        search: RecallRequest,
        budget: Budget,
    ) -> Result<Vec<Ranked>, Fault> {
        let found = self.engine.recall().search_locally(&RecallRequest {
            conversations: ConversationHits::Best,
            only_conversations: true,
            min_relevance: None,
            ..search
        })?;
        let mut hits = found.conversations;
        hits.retain(|hit| match &hit.item {
            RecallItem::Turn { message, .. } => !message.is_bookkeeping(),
            RecallItem::Record(_) => false,
        });
        let most = budget.chars() / CONVERSATION_SHARE / hits.len().max(1);
        for hit in &mut hits {
            if let RecallItem::Turn { message, .. } = &mut hit.item {
                message.text = text::excerpt(&message.text, most);
            }
        }
        Ok(hits)
    }

    /// Collects the sections of the configured sources with ratings. A source that fails contributes only a note.
    fn rated_sections(
        &self,
        request: &ContextRequest,
        injected: Option<&InjectionReport>,
        candidates: &MemoryCandidates,
        rater: &RecordRater,
    ) -> Vec<(SourceRow, Section)> {
        let input = SourceInput::for_worth(
            request,
            injected,
            &candidates.view,
            &candidates.considered,
            self.ended,
        );
        let history = self.rated_history(request);
        let mut sections = (self.engine.contexts()).directive_sections(request, injected);
        for row in &self.engine.settings.sources {
            if row.share_percent == 0 && row.min_chars == 0 {
                continue;
            }
            let found = match row.name.as_str() {
                "learnings" => self
                    .rated_lessons(candidates, rater)
                    .map(|section| vec![section]),
                "history" => history.clone(),
                "recall" => Ok(vec![rest_section(
                    candidates,
                    history.as_deref().unwrap_or_default(),
                )]),
                "workspace" => Ok(vec![self.engine.workspace().section_with_standing()]),
                name => context_sources::sections_of(self.engine, name, &input),
            };
            let found = found.unwrap_or_else(|fault| {
                vec![Section {
                    notes: vec![fault.message],
                    ..Section::default()
                }]
            });
            for mut section in found {
                rate_section(&row.name, &mut section);
                sections.push((row.clone(), section));
            }
        }
        sections
    }

    fn rated_history(&self, request: &ContextRequest) -> Result<Vec<Section>, Fault> {
        match &request.session {
            Some(session) => Ok(vec![self.engine.sessions().history_without(
                &Echoes::of_request(request),
                session,
                None,
            )?]),
            None => Ok(Vec::new()),
        }
    }

    /// Returns resolved errors and successful attempts: those among the hits first, then the newest resolved errors.
    fn rated_lessons(
        &self,
        candidates: &MemoryCandidates,
        rater: &RecordRater,
    ) -> Result<Section, Fault> {
        let most = limits::CONTEXT_LEARNINGS_MAX;
        let newest = Filter::current(&[Kind::Error], self.engine.now())
            .state(ErrorRecord::RESOLVED)
            // Some have no known fix, and are no lessons.
            .limit(3 * most);
        let mut seen = candidates.considered.clone();
        let mut offers = Vec::new();
        let hits = (candidates.rest.iter())
            .filter_map(|hit| Some((record_of(hit)?, Some(hit.breakdown.total))));
        let newest = self.engine.records().find(&newest)?;
        for (record, score) in hits.chain(newest.iter().map(|record| (record, None))) {
            if let Some(mut offer) = lesson(record, &mut seen, score) {
                offer.rating = rater.rate(record);
                offers.push(offer);
            }
        }
        offers.truncate(most);
        Ok(Section {
            name: "learnings".to_owned(),
            heading: "Learned before".to_owned(),
            offers,
            ..Section::default()
        })
    }
}

/// Returns the record of a hit; `None` for a turn.
fn record_of(hit: &Ranked) -> Option<&Record> {
    match &hit.item {
        RecallItem::Record(record) => Some(record),
        RecallItem::Turn { .. } => None,
    }
}

/// Returns true for a hit that is told without being asked for: a relevant record, unless it is an iteration of a
/// run, whose errors and steps are more informative.
fn is_worth_telling(hit: &Ranked) -> bool {
    let is_relevant = hit
        .relevance
        .is_some_and(|relevance| relevance >= TELL_MORE_MIN);
    match &hit.item {
        RecallItem::Record(record) => {
            is_relevant && !(record.kind == Kind::Episode && record.attr_str("approach").is_none())
        }
        RecallItem::Turn { .. } => false,
    }
}

/// Returns the section of the hits that no other part has.
fn rest_section(candidates: &MemoryCandidates, history: &[Section]) -> Section {
    let mut seen = candidates.considered.clone();
    let shown: HashSet<&Origin> = (history.iter())
        .flat_map(|section| section.offers.iter().map(|offer| &offer.origin))
        .collect();
    let rest = candidates.rest.iter().filter(|hit| match &hit.item {
        RecallItem::Record(record) => {
            !matches!(record.kind, Kind::Task | Kind::Step)
                && lesson(record, &mut seen, None).is_none()
        }
        RecallItem::Turn { message, .. } => !shown.contains(&Origin::Record(message.id)),
    });
    let offer = |hit: &Ranked| {
        let mut offer = recall_offer(hit);
        offer.rating = Rating {
            tier: Tier::Competing,
            relevance: hit.relevance,
            worth: hit.relevance.unwrap_or(0.0),
        };
        offer
    };
    Section {
        name: "recall".to_owned(),
        heading: "Recalled".to_owned(),
        offers: rest.map(offer).collect(),
        ..Section::default()
    }
}

/// Sets the ratings of a source that is not compared with the question, and the ranks of standing texts.
fn rate_section(row: &str, section: &mut Section) {
    if section.name == "group" {
        for offer in &mut section.offers {
            offer.standing = Some(StandingRank::Persona);
        }
        return;
    }
    if matches!(row, "learnings" | "recall" | "history") {
        return;
    }
    let (mut worth, factor) = source_worth(row);
    for offer in &mut section.offers {
        offer.rating = Rating {
            tier: Tier::Competing,
            relevance: None,
            worth,
        };
        worth *= factor;
    }
}
