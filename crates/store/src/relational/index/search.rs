//! Execution of a search: runs the arms, and reads the entries of the best texts.

use super::arm_fusion::ArmScores;
use super::candidate_filter::CandidateFilter;
use super::conversation_scores::add_conversation_scores;
use super::external_vectors::ExternalHeader;
use super::index_state::{self, IndexState, read_state};
use super::lexical_search::LexicalScores;
use super::ordinals::read_id;
use super::project_cache::{self, ProjectCache, read_ids, read_ordinals, read_tail};
use super::sentence_search::SentenceScores;
use super::settled_questions::{SearchedLane, is_settled};
use super::vector_search::VectorQuery;
use super::writer::RETIRED_BLOCKS;
use crate::lane::{Lane, LaneKey};
use crate::relational::{record_query, row_codec};
use crate::sql::failure::Failure;
use crate::sql::{Connection, QueryBatch};
use crate::{SearchQuery, SearchResults};
use heirloom_model::ProjectName;
use heirloom_search::index::bm25::{ScoreStats, top_scores};
use heirloom_search::index::vector;
use std::collections::{BTreeMap, HashMap};

/// Searches the index of a project.
pub(crate) fn search(
    connection: Connection<'_>,
    project: &ProjectName,
    search: &SearchQuery,
    cache: &ProjectCache,
) -> Result<SearchResults, Failure> {
    let Some(number) = row_codec::project(connection, project)? else {
        return Ok(SearchResults::default());
    };
    let lane = LaneKey {
        project: number,
        lane: search.lane,
    };
    connection.prefetch(|batch| prefetch_state(batch, lane, search, cache))?;
    let mut key_matches = Vec::new();
    for filter in &search.key_filters {
        key_matches.extend(record_query::find(connection, project, filter)?);
    }
    let Some(index) = read_state(connection, lane)?.filter(|index| index.texts() > 0) else {
        return Ok(SearchResults {
            key_matches,
            ..SearchResults::default()
        });
    };
    cache.begin_query(lane);
    let terms = search.words.as_ref().map_or(&[][..], |words| &words.terms);
    let pieces = search
        .semantic_text
        .as_deref()
        .map(vector::QueryVector::pieces);
    let pieces = pieces.unwrap_or_default();
    connection.prefetch(|batch| prefetch_uncached(batch, lane, &index, search, &pieces, cache))?;
    let candidates = CandidateFilter::of(connection, project, lane, &index, &search.filter, cache)?;
    let tail = read_tail(cache, connection, lane, &index, terms, &pieces)?;
    let query = VectorQuery::of(connection, lane, &index, search, &pieces, &tail, cache)?;
    let (words, sidecar_scores) =
        query.scan_while(|| LexicalScores::of(connection, lane, &index, terms, &tail, cache));
    let LexicalScores { scores, dfs } = words?;
    let vectors = query.finish(connection, lane, &index, &tail, sidecar_scores)?;
    let mut arms = ArmScores {
        ids: read_ordinals(cache, connection, lane, &index)?,
        lexical_spread: ScoreStats::of(&scores, index.totals.texts),
        lexical: scores,
        vectors,
        sentence: None,
        sentence_estimates: HashMap::new(),
    };
    let mut ordinals = best_of_arms(&mut arms, &candidates, search.limit_per_arm);
    let searched = SearchedLane { project, lane };
    let is_settled = is_settled(connection, searched, search, &arms, &dfs, &ordinals)?;
    let question = search.sentence.as_ref().filter(|_| !is_settled);
    arms.sentence = SentenceScores::of(connection, lane, &index, question, cache)?;
    if let Some(sentence) = &arms.sentence {
        let best = sentence.best(search.limit_per_arm, |ordinal| candidates.contains(ordinal));
        arms.vectors.make_exact(&best);
        ordinals.extend(best);
    }
    ordinals.sort_unstable();
    ordinals.dedup();
    arms.estimate_sentences(&ordinals);
    arms.keep_best(&mut ordinals, search.limit_per_arm);
    let ids = read_ids(connection, lane, &ordinals, &arms.ids)?;
    let mut hits = BTreeMap::new();
    for ordinal in ordinals {
        let id = match arms.ids.get(ordinal).or_else(|| ids.get(&ordinal).copied()) {
            Some(id) => id,
            None => read_id(connection, lane, ordinal)?,
        };
        hits.insert(ordinal, arms.hit(ordinal, id));
    }
    if search.lane == Lane::Archive {
        add_conversation_scores(connection, number, &mut arms, &candidates, &mut hits)?;
    }
    let mut hits: Vec<_> = hits.into_iter().collect();
    hits.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then(a.0.cmp(&b.0)));
    hits.truncate(2 * search.limit_per_arm);
    Ok(SearchResults {
        scope_size: candidates.count(&index),
        vectors: arms.vectors.source,
        unembedded: arms.vectors.unembedded,
        dfs,
        hits: hits.into_iter().map(|(_, hit)| hit).collect(),
        key_matches,
    })
}

/// Returns the best texts by words and by built-in vectors, each once; their scores are exact.
fn best_of_arms(arms: &mut ArmScores, candidates: &CandidateFilter, count: usize) -> Vec<u32> {
    let found = top_scores(&arms.lexical, count, |place| {
        candidates.contains(place_of(place))
    });
    let mut ordinals: Vec<u32> = found
        .into_iter()
        .map(|(place, _)| place_of(place))
        .collect();
    arms.vectors.make_exact(&ordinals);
    let nearest = arms
        .vectors
        .best(count, |ordinal| candidates.contains(ordinal));
    ordinals.extend(nearest);
    ordinals.sort_unstable();
    ordinals.dedup();
    ordinals
}

fn place_of(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// Adds the queries to a batch that do not depend on the state of the index.
fn prefetch_state(
    batch: &mut QueryBatch<'_>,
    lane: LaneKey,
    search: &SearchQuery,
    cache: &ProjectCache,
) -> Result<(), Failure> {
    index_state::prefetch_state(batch, lane)?;
    CandidateFilter::prefetch(batch, lane, &search.filter, cache)?;
    if search.vector.is_some() || search.sentence.is_some() {
        ExternalHeader::prefetch(batch, lane)?;
    }
    if search.vector.is_some() {
        batch.add(RETIRED_BLOCKS, lane.values())?;
    }
    for filter in &search.key_filters {
        record_query::prefetch_find(batch, lane.project, filter)?;
    }
    Ok(())
}

/// Adds the queries to a batch for the rows of this state of the index that are not cached.
fn prefetch_uncached(
    batch: &mut QueryBatch<'_>,
    lane: LaneKey,
    index: &IndexState,
    search: &SearchQuery,
    pieces: &[u16],
    cache: &ProjectCache,
) -> Result<(), Failure> {
    if !search.filter.kinds.is_empty() {
        project_cache::prefetch_kinds(cache, batch, lane, index)?;
    }
    project_cache::prefetch_tail(cache, batch, lane, index)?;
    for term in search.words.iter().flat_map(|words| &words.terms) {
        let key = i64::try_from(term.0).unwrap_or(i64::MAX);
        project_cache::prefetch_blocks(cache, batch, lane, index, key)?;
    }
    // With vectors of an external model, the built-in ones are usually not read.
    if !pieces.is_empty() && search.vector.is_none() {
        project_cache::prefetch_vectors(cache, batch, lane, index)?;
    }
    project_cache::prefetch_ordinals(cache, batch, lane, index)
}
