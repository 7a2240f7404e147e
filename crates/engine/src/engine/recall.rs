//! Recall: one query over all records, and a second one over the turns of conversations. The store finds candidates, the
//! module `recall` ranks them.

mod absence;
mod candidates;
mod conversations;
mod lane_search;
mod one_hop;
mod query_validation;

use super::Engine;
pub use absence::Absence;
pub use conversations::ConversationHits;
use heirloom_model::{Fault, Kind, RecordId, Scope, Timestamp, text};
use heirloom_search::index::tokenizer::QueryTerms;
use heirloom_search::recall::{
    ParsedQuery, QueryFilters, Ranked, RecallItem, ScoreBreakdown, fill_budget_mmr, retain_relevant,
};
use heirloom_search::relevance::{FLOOR, Question};
use heirloom_store::{AsOf, Filter, Lane, ModelVector, SentenceQuestion};
use lane_search::LaneSearch;
use query_validation::{checked_count, parse_query, without_filters};
use std::time::Instant;

/// Note of an answer without a relevant hit.
pub(super) const NOTHING_RELEVANT: &str = "nothing relevant is remembered";

/// Syntax of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QuerySyntax {
    /// A query by a user: `task:42` is a filter, and an invalid filter is an error.
    #[default]
    Question,
    /// Plain words: prompts, errors and other texts without filters.
    Words,
}

/// Retrieval arms of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RetrievalMode {
    /// Lexical and vector search.
    #[default]
    Both,
    /// Lexical search only.
    Words,
    /// Vector search only.
    Meaning,
}

/// Vectors used for ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VectorSource {
    /// Those of the program: the built-in ones and the sentence transformer's. No service is called.
    Program,
    /// Those of the program, or of the engine's external model if it has one.
    Model,
}

/// Vectors of a query by models. That of the sentence transformer is computed during the search.
#[derive(Debug, Clone, Default)]
struct QueryVectors {
    /// By the external model.
    model: Option<ModelVector>,
    /// By the sentence transformer.
    sentence: Option<SentenceQuestion>,
}

/// Handling of near-duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DedupMode {
    /// They are grouped under the best one.
    #[default]
    Fold,
    /// They stay separate hits.
    Keep,
}

/// Parameters of recall.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecallRequest {
    /// The query.
    pub question: String,
    /// Syntax of the query.
    pub syntax: QuerySyntax,
    /// Maximum hits; by default [`heirloom_model::limits::RECALL_HITS_DEFAULT`], or what fits the budget.
    pub k: Option<usize>,
    /// Maximum tokens of text.
    pub budget_tokens: Option<usize>,
    /// Only these kinds of records, in addition to those in the query; empty means all.
    pub kinds: Vec<Kind>,
    /// Turns of conversations are hits, as with `kind:message` in the query. Without kinds they are the only ones.
    pub turns: bool,
    /// Turns of conversations that the answer has besides its records.
    pub conversations: ConversationHits,
    /// Searches no records.
    pub only_conversations: bool,
    /// Only these records; empty means all.
    pub among: Vec<RecordId>,
    /// Only records in this scope.
    pub scope: Scope,
    /// Scope of the caller: records near it rank higher.
    pub near: Scope,
    /// Searches what was current at this time, instead of now.
    pub as_of: Option<Timestamp>,
    /// Retrieval arms.
    pub mode: RetrievalMode,
    /// Handling of near-duplicates.
    pub dedup: DedupMode,
    /// Relevance from which a hit is returned, 0 to 1; by default the calibrated floor
    /// ([`FLOOR`](heirloom_search::relevance::FLOOR)). 0 returns weak hits too. Filters alone have no relevance.
    pub min_relevance: Option<f64>,
    /// Time at which the caller wants the answer: the question gets no sentence vector if too little time is left.
    pub deadline: Option<Instant>,
}

/// Result of recall.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallReport {
    /// Records, best first; ties in order of age, oldest first. They do not depend on the conversations of the project.
    /// Turns follow if they were requested as a kind.
    pub hits: Vec<Ranked>,
    /// Turns of conversations, best first; their relevance is relative to the conversations.
    pub conversations: Vec<Ranked>,
    /// Number of records that were left out because their relevance is too low.
    pub weak: usize,
    /// False if no record answers the question: then all hits are weak, whatever their relevance.
    pub is_answered: bool,
    /// Notes about the query.
    pub notes: Vec<String>,
    /// Duration in microseconds.
    pub took_us: u64,
}

/// Search in the memory of the project and of the person.
#[derive(Clone, Copy)]
pub struct Recall<'e> {
    pub(super) engine: &'e Engine,
}

impl Recall<'_> {
    /// Searches records and turns for a query, best first.
    ///
    /// Retired and expired records only match as-of queries. Deterministic for the same query and memory. An engine
    /// with a model requests the query's vector from it; if that fails, recall works without it and adds a note.
    /// Errors: `Usage` for an empty or too long query, an invalid filter, or a number over its limit.
    pub fn search(&self, request: &RecallRequest) -> Result<RecallReport, Fault> {
        self.search_with_vectors(request, VectorSource::Model)
    }

    /// Searches as [`Self::search`] without a call of a service.
    pub fn search_locally(&self, request: &RecallRequest) -> Result<RecallReport, Fault> {
        self.search_with_vectors(request, VectorSource::Program)
    }

    /// Searches with the vectors of the program and returns all hits by score, unrated, with the question that rates them.
    /// The relevance model is fitted to the features that these give. Errors: those of [`Self::search`].
    pub fn search_with_question(
        &self,
        request: &RecallRequest,
    ) -> Result<(Vec<Ranked>, Question), Fault> {
        let k = checked_count(request)?;
        let question = self.engine.redaction().redact_input(&request.question);
        let mut query = parse_query(&question, request.syntax, self.engine.now())?;
        let filter = self.merged_filter(&mut query, request)?;
        let vectors =
            self.query_vectors(&query.text, request, VectorSource::Program, &mut Vec::new())?;
        let search = LaneSearch {
            query: &query,
            filter,
            k,
            request,
            vectors,
        };
        self.rank_unrated(search, Lane::Memory, k)
    }

    /// Computes the vectors of a query.
    fn query_vectors(
        &self,
        text: &str,
        request: &RecallRequest,
        source: VectorSource,
        notes: &mut Vec<String>,
    ) -> Result<QueryVectors, Fault> {
        if request.mode == RetrievalMode::Words {
            return Ok(QueryVectors::default());
        }
        Ok(QueryVectors {
            model: match source {
                VectorSource::Model => self.question_vector(text, notes)?,
                VectorSource::Program => None,
            },
            sentence: self.sentence_question(text, request.deadline),
        })
    }

    /// Searches as [`Self::search`], with the given vectors. If nothing matches the filters of the question, they are
    /// searched as words.
    pub(super) fn search_with_vectors(
        &self,
        request: &RecallRequest,
        vectors: VectorSource,
    ) -> Result<RecallReport, Fault> {
        let report = self.search_as_written(request, vectors)?;
        if !report.hits.is_empty() || !report.conversations.is_empty() {
            return Ok(report);
        }
        let Some((words, filters)) = without_filters(request) else {
            return Ok(report);
        };
        let mut found = self.search_as_written(&words, vectors)?;
        if found.hits.is_empty() && found.conversations.is_empty() {
            return Ok(report);
        }
        let note = format!("nothing matches {filters}; searched as words");
        found.notes.insert(0, note);
        Ok(found)
    }

    fn search_as_written(
        &self,
        request: &RecallRequest,
        vectors: VectorSource,
    ) -> Result<RecallReport, Fault> {
        let began = Instant::now();
        let k = checked_count(request)?;
        let question = self.engine.redaction().redact_input(&request.question);
        let mut query = parse_query(&question, request.syntax, self.engine.now())?;
        let filter = self.merged_filter(&mut query, request)?;
        let mut notes = std::mem::take(&mut query.notes);
        if request.as_of.is_some_and(|then| then > self.engine.now()) {
            notes.push("the requested time is in the future: the answer is as of now".to_owned());
        }
        let is_searched = !QueryTerms::of(&query.text).is_empty();
        let mut hits = Vec::new();
        let mut is_answered = true;
        let mut searched = None;
        if query.text.trim().is_empty() {
            if !query.filters.includes_records() {
                notes.push("turns of conversations are found by words: add some words".to_owned());
            }
            hits = self.newest_records(&filter, k, &query.filters)?;
        } else if is_searched {
            // Hooks and contexts have no time for further searches.
            let has_hop = vectors == VectorSource::Model;
            let vectors = self.query_vectors(&query.text, request, vectors, &mut notes)?;
            let search = LaneSearch {
                query: &query,
                filter,
                k,
                request,
                vectors,
            };
            if query.filters.includes_records() && !request.only_conversations {
                (hits, is_answered) = self.rank_query(search.clone(), has_hop)?;
            }
            searched = Some(search);
        } else {
            notes.push("the question has no words to search for".to_owned());
        }
        let weak = match request.min_relevance {
            None if !is_answered => std::mem::take(&mut hits).len(),
            least => retain_relevant(&mut hits, least.unwrap_or(FLOOR)),
        };
        if hits.is_empty() && weak > 0 {
            notes.push(NOTHING_RELEVANT.to_owned());
        }
        let mut conversations = match &searched {
            Some(search) => self.conversation_hits(search, &hits)?,
            None => Vec::new(),
        };
        if query.filters.turns {
            hits.append(&mut conversations);
        }
        if let Some(budget) = request.budget_tokens {
            hits = fill_budget_mmr(hits, budget);
            let used: usize = hits.iter().map(|hit| hit.item.tokens()).sum();
            let left = budget.saturating_sub(used);
            conversations = fill_budget_mmr(conversations, left);
        }
        self.engine
            .workspace()
            .with_lines(hits.iter_mut().filter_map(|hit| match &mut hit.item {
                RecallItem::Record(record) => Some(&mut **record),
                RecallItem::Turn { .. } => None,
            }));
        let took_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        Ok(RecallReport {
            hits,
            conversations,
            weak,
            is_answered,
            notes,
            took_us,
        })
    }

    /// Combines the filters of the request and of the query; kinds and scopes of both are merged.
    fn merged_filter(
        &self,
        query: &mut ParsedQuery,
        request: &RecallRequest,
    ) -> Result<Filter, Fault> {
        let filters = &mut query.filters;
        filters.turns |= request.turns;
        for kind in &request.kinds {
            if !filters.kinds.contains(kind) {
                filters.kinds.push(*kind);
            }
        }
        let given = request.scope.names();
        for (slot, (name, value)) in filters.scope.names_mut().into_iter().zip(given) {
            match (&slot, value) {
                (_, None) => {}
                (Some(in_query), Some(value)) if in_query != value => {
                    return Err(Fault::usage(format!(
                        "{name} `{}` is requested, but the query has {name} `{}`",
                        text::excerpt(value, 60),
                        text::excerpt(in_query, 60)
                    )));
                }
                (_, Some(value)) => *slot = Some(value.to_owned()),
            }
        }
        super::new_record::check_scope(&filters.scope)?;
        let filters = &query.filters;
        Ok(Filter {
            category: filters.category.clone(),
            key: filters.key.clone(),
            scope: filters.scope.clone(),
            source: filters.source.clone(),
            recorded_from: filters.after,
            recorded_before: filters.before,
            ids: request.among.clone(),
            as_of: match request.as_of {
                Some(then) => AsOf::Past(then),
                None => AsOf::Current(self.engine.now()),
            },
            ..Filter::current(&filters.kinds, self.engine.now())
        })
    }

    /// Returns the newest records for a query without words.
    fn newest_records(
        &self,
        filter: &Filter,
        k: usize,
        filters: &QueryFilters,
    ) -> Result<Vec<Ranked>, Fault> {
        if !filters.includes_records() {
            return Ok(Vec::new());
        }
        let found = self.engine.records().find(&filter.clone().limit(k))?;
        let plain = |record| Ranked {
            item: RecallItem::Record(Box::new(record)),
            breakdown: ScoreBreakdown::default(),
            relevance: None,
            duplicates: Vec::new(),
        };
        Ok(found.into_iter().map(plain).collect())
    }
}
