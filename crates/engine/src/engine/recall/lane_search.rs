//! Search of one lane: candidates of the store, ranked and rated.

use super::candidates::{add_key_matches, key_filters};
use super::query_validation::{candidate_count, stems};
use super::{DedupMode, QuerySyntax, QueryVectors, Recall, RecallRequest, RetrievalMode};
use heirloom_model::case::Case;
use heirloom_model::similarity::EchoedQuestion;
use heirloom_model::{Fault, Kind};
use heirloom_search::index::tokenizer::QueryTerms;
use heirloom_search::recall::{
    ParsedQuery, RankContext, Ranked, RecallItem, VerbatimQuery, deduplicate, is_no_answer, rank,
    rate_and_order,
};
use heirloom_search::relevance::Question;
use heirloom_store::{Filter, Lane, SearchQuery};

impl Recall<'_> {
    /// Ranks and rates the records; returns true with them if one answers the question.
    pub(super) fn rank_query(
        &self,
        search: LaneSearch<'_>,
        has_hop: bool,
    ) -> Result<(Vec<Ranked>, bool), Fault> {
        let is_comparable = search.is_comparable();
        let (query, k, request) = (search.query, search.k, search.request);
        let hop_filter = search.filter.clone();
        let considered = match is_comparable {
            true => candidate_count(k),
            false => k,
        };
        let (mut ranked, question) = self.rank_unrated(search, Lane::Memory, considered)?;
        let mut is_answered = true;
        if is_comparable {
            is_answered = rate_and_order(&question, &mut ranked, k);
            if has_hop {
                self.add_one_hop(query, &hop_filter, k, request, &question, &mut ranked)?;
            }
        }
        Ok((ranked, is_answered))
    }

    /// Ranks the candidates of one lane without their relevance, and returns the first `most` with the question that
    /// rates them.
    pub(super) fn rank_unrated(
        &self,
        search: LaneSearch<'_>,
        lane: Lane,
        most: usize,
    ) -> Result<(Vec<Ranked>, Question), Fault> {
        let (query, k, request) = (search.query, search.k, search.request);
        let question = QueryTerms::of(&query.text);
        let key_filters = match lane {
            Lane::Memory => key_filters(query, &search.filter),
            Lane::Archive => Vec::new(),
        };
        let search = SearchQuery {
            words: (request.mode != RetrievalMode::Meaning).then(|| question.clone()),
            semantic_text: (request.mode != RetrievalMode::Words).then(|| query.text.clone()),
            vector: search.vectors.model,
            key_filters,
            filter: search.filter,
            lane,
            limit_per_arm: candidate_count(k),
            sentence: search.vectors.sentence,
        };
        let found = self.engine.store.search(&self.engine.project, &search)?;
        let mut candidates = self.load_candidates(&found.hits, &search.filter, lane)?;
        add_key_matches(found.key_matches, &found.hits, &mut candidates);
        let verbatim = match (request.syntax, lane, &search.words) {
            (QuerySyntax::Question, Lane::Memory, Some(_)) => VerbatimQuery::new(&query.text),
            (QuerySyntax::Question | QuerySyntax::Words, Lane::Memory | Lane::Archive, _) => None,
        };
        if let Some(verbatim) = &verbatim {
            self.add_verbatim_matches(verbatim, &search, &mut candidates)?;
        }
        let stems = |text: &str| stems(text);
        let asking = RankContext {
            query,
            scope: &request.near,
            now: self.engine.now(),
            terms: &question.terms,
            pairs: &question.pairs,
            dfs: &found.dfs,
            searched: found.scope_size,
            verbatim: verbatim.as_ref(),
            stems: &stems,
        };
        let asked = EchoedQuestion::new(&query.text);
        let is_named = !search.filter.kinds.is_empty() || search.filter.key.is_some();
        candidates.retain(|one| {
            let item = &one.item;
            // Who asks for attempts wants the equal one first.
            let is_new = is_named || !(is_bookkeeping(item) || repeats_request(&asked, item));
            is_new && !is_no_answer(item)
        });
        let mut ranked = rank(&asking, candidates);
        match request.dedup {
            DedupMode::Fold => ranked = deduplicate(ranked, most),
            DedupMode::Keep => ranked.truncate(most),
        }
        let rated = Question::new(&query.text, &question.terms, &found.dfs, found.scope_size);
        let asked_at = request.as_of.unwrap_or_else(|| self.engine.now());
        let rated = rated.with_lines_of(&request.question).asked_at(asked_at);
        Ok((ranked, rated))
    }
}

/// Search of one lane.
#[derive(Debug, Clone)]
pub(super) struct LaneSearch<'r> {
    /// The query.
    pub(super) query: &'r ParsedQuery,
    /// Filter of the records.
    pub(super) filter: Filter,
    /// Maximum number of hits.
    pub(super) k: usize,
    /// The request.
    pub(super) request: &'r RecallRequest,
    /// Vectors of the query.
    pub(super) vectors: QueryVectors,
}

impl LaneSearch<'_> {
    /// Returns true if hits can be rated: relevance is calibrated for the arms of the program, not for external models.
    pub(super) fn is_comparable(&self) -> bool {
        self.request.mode == RetrievalMode::Both && self.vectors.model.is_none()
    }
}

/// Returns true for data that a program stores for itself.
fn is_bookkeeping(item: &RecallItem) -> bool {
    match item {
        RecallItem::Record(record) => record.is_bookkeeping(),
        RecallItem::Turn { message, .. } => message.is_bookkeeping(),
    }
}

/// Returns true for a turn, or an attempt, that only repeats the question. A case of the same request says what was done
/// then, and other records are statements: "the deploy needs a token" answers "does the deploy need a token?".
fn repeats_request(asked: &EchoedQuestion, item: &RecallItem) -> bool {
    match item {
        RecallItem::Turn { message, .. } => asked.is_repeated_by(&message.text),
        RecallItem::Record(record) => {
            let is_request = record.kind == Kind::Episode
                && Case::of_record(record).is_none_or(|case| case.did.is_empty());
            is_request && asked.is_repeated_by(&record.text)
        }
    }
}
