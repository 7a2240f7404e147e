//! Execution of a search: runs the arms and fuses their scores.

use super::candidate_filter::CandidateFilter;
use super::external_vectors::ExternalHeader;
use super::index_state::{self, IndexState, read_state};
use super::lexical_search::LexicalScores;
use super::project_cache::{
    self, OrdinalEntry, OrdinalTable, ProjectCache, read_entries, read_ordinals, read_tail,
};
use super::sentence_search::SentenceScores;
use super::vector_search::{VectorQuery, VectorScores};
use super::writer::RETIRED_BLOCKS;
use crate::relational::row_codec;
use crate::sql::failure::Failure;
use crate::sql::{Connection, QueryBatch};
use crate::{Hit, SearchQuery, SearchResults};
use heirloom_model::{ProjectName, RecordId};
use heirloom_search::index::bm25::{ScoreStats, top_scores};
use heirloom_search::index::vector;
use rusqlite::params;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Weight of the vector score relative to the lexical score.
const VECTOR_WEIGHT: f32 = 1.5;
/// Weight of the score by the sentence transformer, and of its estimate for a text that has no vector of it yet.
const SENTENCE_WEIGHT: f32 = 4.0;
const SENTENCE_ESTIMATE_WEIGHT: f32 = 2.0;
/// Weights of the previous turn, the next turn and the best turn of a conversation in the score of a turn.
const PREVIOUS_TURN_WEIGHT: f32 = 0.2;
const NEXT_TURN_WEIGHT: f32 = 0.3;
const BEST_TURN_WEIGHT: f32 = 0.4;

/// Scores of all arms for every text.
struct ArmScores {
    lexical: Vec<f32>,
    lexical_spread: ScoreStats,
    vectors: VectorScores,
    /// Scores by the sentence transformer, if the question has a vector of it.
    sentence: Option<SentenceScores>,
    ids: Arc<OrdinalTable>,
}

impl ArmScores {
    /// Returns the fused score of a text whose vector score is exact.
    fn score(&self, ordinal: u32) -> f32 {
        let vector = self.vectors.z(ordinal);
        let sentence = self
            .sentence
            .as_ref()
            .map_or(0.0, |sentence| match sentence.z(ordinal) {
                Some(z) => SENTENCE_WEIGHT * z,
                None => SENTENCE_ESTIMATE_WEIGHT * vector,
            });
        self.word_score(ordinal) + VECTOR_WEIGHT * vector + sentence
    }

    /// Returns the part of the fused score from the words.
    fn word_score(&self, ordinal: u32) -> f32 {
        let lexical = self.lexical.get(ordinal as usize);
        lexical.map_or(0.0, |score| self.lexical_spread.z(*score))
    }

    /// Keeps the best `count` candidates; few of those that only one arm found rank.
    fn keep_best(&self, ordinals: &mut Vec<u32>, count: usize) {
        if ordinals.len() > count {
            let score = |ordinal: &u32| (self.score(*ordinal), *ordinal);
            let mut scored: Vec<(f32, u32)> = ordinals.iter().map(score).collect();
            scored.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            ordinals.clear();
            ordinals.extend(scored.iter().take(count).map(|(_, ordinal)| *ordinal));
        }
    }
}

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
    connection.prefetch(|batch| prefetch_state(batch, number, search, cache))?;
    let Some(index) = read_state(connection, number)?.filter(|index| index.texts() > 0) else {
        return Ok(SearchResults::default());
    };
    cache.begin_query(number);
    let terms = search.words.as_ref().map_or(&[][..], |words| &words.terms);
    let pieces = search
        .semantic_text
        .as_deref()
        .map(vector::QueryVector::pieces);
    let pieces = pieces.unwrap_or_default();
    connection
        .prefetch(|batch| prefetch_uncached(batch, number, &index, search, &pieces, cache))?;
    let candidates =
        CandidateFilter::of(connection, project, number, &index, &search.filter, cache)?;
    let tail = read_tail(cache, connection, number, &index, terms, &pieces)?;
    let query = VectorQuery::of(connection, number, &index, search, &pieces, &tail, cache)?;
    let (words, sidecar_scores) =
        query.scan_while(|| LexicalScores::of(connection, number, &index, terms, &tail, cache));
    let LexicalScores { scores, dfs } = words?;
    let vectors = query.finish(connection, number, &index, &tail, sidecar_scores)?;
    let mut arms = ArmScores {
        ids: read_ordinals(cache, connection, number, &index)?,
        lexical_spread: ScoreStats::of(&scores, index.totals.texts),
        lexical: scores,
        vectors,
        sentence: SentenceScores::of(
            connection,
            number,
            &index,
            search.sentence_vector.as_ref(),
            cache,
        )?,
    };
    let found = top_scores(&arms.lexical, search.limit_per_arm, |place| {
        candidates.contains(place_of(place))
    });
    let mut ordinals: Vec<u32> = found
        .into_iter()
        .map(|(place, _)| place_of(place))
        .collect();
    if let Some(sentence) = &arms.sentence {
        ordinals
            .extend(sentence.best(search.limit_per_arm, |ordinal| candidates.contains(ordinal)));
    }
    arms.vectors.make_exact(&ordinals);
    ordinals.extend(
        arms.vectors
            .best(search.limit_per_arm, |ordinal| candidates.contains(ordinal)),
    );
    ordinals.sort_unstable();
    ordinals.dedup();
    arms.keep_best(&mut ordinals, search.limit_per_arm);
    let entries = read_entries(connection, number, &ordinals, &arms.ids)?;
    let mut hits = BTreeMap::new();
    for ordinal in ordinals {
        let entry = match arms
            .ids
            .get(ordinal)
            .or_else(|| entries.get(&ordinal).copied())
        {
            Some(entry) => entry,
            None => OrdinalEntry::read(connection, number, ordinal)?,
        };
        let hit = hit(&arms, ordinal, entry);
        if !(hit.is_turn && search.drops_turns) {
            hits.insert(ordinal, hit);
        }
    }
    add_conversation_scores(connection, number, &mut arms, &candidates, &mut hits)?;
    let mut hits: Vec<(u32, Hit)> = hits.into_iter().collect();
    hits.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then(a.0.cmp(&b.0)));
    hits.truncate(2 * search.limit_per_arm);
    Ok(SearchResults {
        scope_size: candidates.count(&index),
        vectors: arms.vectors.source,
        unembedded: arms.vectors.unembedded,
        dfs,
        hits: hits.into_iter().map(|(_, hit)| hit).collect(),
    })
}

fn place_of(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

fn hit(arms: &ArmScores, ordinal: u32, entry: OrdinalEntry) -> Hit {
    let lexical = arms.lexical.get(ordinal as usize);
    Hit {
        id: entry.id,
        is_turn: entry.is_turn,
        lexical: lexical.copied().unwrap_or(0.0),
        vector: arms.vectors.cosine(ordinal),
        sentence: arms
            .sentence
            .as_ref()
            .and_then(|sentence| sentence.cosine(ordinal)),
        score: arms.score(ordinal),
        word_score: arms.word_score(ordinal),
        conversation: 0.0,
    }
}

/// Adds the queries to a batch that do not depend on the state of the index.
fn prefetch_state(
    batch: &mut QueryBatch<'_>,
    project: i64,
    search: &SearchQuery,
    cache: &ProjectCache,
) -> Result<(), Failure> {
    index_state::prefetch_state(batch, project)?;
    CandidateFilter::prefetch(batch, project, &search.filter, cache)?;
    if search.vector.is_some() || search.sentence_vector.is_some() {
        ExternalHeader::prefetch(batch, project)?;
    }
    if search.vector.is_some() {
        batch.add(RETIRED_BLOCKS, [project])?;
    }
    Ok(())
}

/// Adds the queries to a batch for the rows of this state of the index that are not cached.
fn prefetch_uncached(
    batch: &mut QueryBatch<'_>,
    project: i64,
    index: &IndexState,
    search: &SearchQuery,
    pieces: &[u16],
    cache: &ProjectCache,
) -> Result<(), Failure> {
    if !search.filter.kinds.is_empty() {
        project_cache::prefetch_kinds(cache, batch, project, index)?;
    }
    project_cache::prefetch_tail(cache, batch, project, index)?;
    for term in search.words.iter().flat_map(|words| &words.terms) {
        let key = i64::try_from(term.0).unwrap_or(i64::MAX);
        project_cache::prefetch_blocks(cache, batch, project, index, key)?;
    }
    // With vectors of an external model, the built-in ones are usually not read.
    if !pieces.is_empty() && search.vector.is_none() {
        project_cache::prefetch_vectors(cache, batch, project, index)?;
    }
    project_cache::prefetch_ordinals(cache, batch, project, index)
}

/// Turns of a conversation in order: ordinals and ids.
type Turns = Vec<(u32, RecordId)>;

/// Reads the conversations that contain these turns, in order of their sessions.
fn read_conversations(
    connection: Connection<'_>,
    project: i64,
    turns: &[RecordId],
) -> Result<Vec<Turns>, Failure> {
    let mut conversations: BTreeMap<String, Turns> = BTreeMap::new();
    if connection.is_postgres() {
        let sql = "SELECT session, ordinal, id FROM messages WHERE project = ?1 AND session IN \
             (SELECT session FROM messages WHERE project = ?1 \
              AND id IN (SELECT unhex(value) FROM json_each(?2))) ORDER BY session, seq";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![project, row_codec::id_list(turns)])?;
        while let Some(row) = rows.next()? {
            let turn = (row.get(1)?, RecordId::from_bytes(row.get(2)?));
            conversations.entry(row.get(0)?).or_default().push(turn);
        }
        return Ok(conversations.into_values().collect());
    }
    let sql = "SELECT session FROM messages WHERE project = ?1 AND id = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut sessions: BTreeSet<String> = BTreeSet::new();
    for id in turns {
        let values = params![project, id.as_bytes()];
        sessions.insert(statement.query_row(values, |row| row.get(0))?);
    }
    let sql = "SELECT ordinal, id FROM messages WHERE project = ?1 AND session = ?2 ORDER BY seq";
    let mut statement = connection.prepare_cached(sql)?;
    for session in sessions {
        let turns = statement.query_map(params![project, session], |row| {
            Ok((row.get(0)?, RecordId::from_bytes(row.get(1)?)))
        })?;
        conversations.insert(session, turns);
    }
    Ok(conversations.into_values().collect())
}

/// Adds to every turn of the conversations with a hit the scores of its neighbours and its best turn.
fn add_conversation_scores(
    connection: Connection<'_>,
    project: i64,
    arms: &mut ArmScores,
    candidates: &CandidateFilter,
    hits: &mut BTreeMap<u32, Hit>,
) -> Result<(), Failure> {
    let turns = hits.values().filter(|hit| hit.is_turn).map(|hit| hit.id);
    let turns: Vec<RecordId> = turns.collect();
    if turns.is_empty() {
        return Ok(());
    }
    for turns in read_conversations(connection, project, &turns)? {
        let ordinals: Vec<u32> = turns.iter().map(|(ordinal, _)| *ordinal).collect();
        arms.vectors.make_exact(&ordinals);
        let plain: Vec<f32> = ordinals
            .iter()
            .map(|ordinal| arms.score(*ordinal))
            .collect();
        let boosted = with_neighbours(&plain);
        let best = boosted.iter().copied().fold(f32::MIN, f32::max);
        for (((ordinal, id), plain), boosted) in turns.into_iter().zip(&plain).zip(&boosted) {
            if !candidates.contains(ordinal) {
                continue;
            }
            let score = boosted + BEST_TURN_WEIGHT * best;
            let entry = OrdinalEntry { id, is_turn: true };
            let known = hits.remove(&ordinal);
            let hit = Hit {
                score,
                conversation: score - plain,
                ..known.unwrap_or_else(|| hit(arms, ordinal, entry))
            };
            hits.insert(ordinal, hit);
        }
    }
    Ok(())
}

/// Adds to each score the weighted scores of the previous and the next turn.
fn with_neighbours(plain: &[f32]) -> Vec<f32> {
    let at = |n: Option<usize>| n.and_then(|n| plain.get(n)).copied().unwrap_or(0.0);
    (0..plain.len())
        .map(|n| {
            at(Some(n))
                + PREVIOUS_TURN_WEIGHT * at(n.checked_sub(1))
                + NEXT_TURN_WEIGHT * at(Some(n + 1))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbour_scores_are_added() {
        let boosted = with_neighbours(&[1.0, 0.0, 2.0]);
        assert!((boosted[0] - 1.0).abs() < 1e-6);
        assert!((boosted[1] - 0.8).abs() < 1e-6);
        assert!((boosted[2] - 2.0).abs() < 1e-6);
        assert!(with_neighbours(&[]).is_empty());
    }
}
