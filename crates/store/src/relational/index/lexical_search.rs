//! Lexical search: BM25 scores of all texts by the stems of a query.
//!
//! A stem that occurs in half of the texts adds nothing to any score ([`heirloom_search::index::bm25`]) and has the longest
//! posting lists. In a large index it is skipped like a stop word, unless no other stem of the query is found.

use super::background_work::run_both;
use super::index_state::IndexState;
use super::project_cache::{Blocks, ProjectCache, read_blocks};
use super::tail::Tail;
use super::tail_merge::bad_block;
use crate::lane::LaneKey;
use crate::sql::Connection;
use crate::sql::failure::Failure;
use heirloom_search::index::bm25::Weights;
use heirloom_search::index::posting_blocks::{Block, Posting};
use heirloom_search::index::posting_code::{self, CodeTables};
use heirloom_search::index::tokenizer::Term;
use std::hint::black_box;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of texts up to which no stem is skipped.
const UNSKIPPED_MAX: u32 = 8_192;
/// Number of postings up to which one thread adds the scores: starting a second one takes longer.
const SINGLE_THREAD_MAX: u64 = 400_000;

/// Result of a lexical search.
#[derive(Default)]
pub(super) struct LexicalScores {
    /// Score of every text; empty for a query without words.
    pub(super) scores: Vec<f32>,
    /// Document frequency of each stem.
    pub(super) dfs: Vec<u64>,
}

/// Reader of posting lists.
struct StemReader<'a> {
    connection: Connection<'a>,
    lane: LaneKey,
    index: &'a IndexState,
    cache: &'a ProjectCache,
    codes: CodeTables,
}

/// Postings of one stem.
struct StemPostings<'a> {
    key: i64,
    /// Merged posting blocks, newest first; possibly incomplete for a skipped stem.
    blocks: Arc<Blocks>,
    tail_postings: &'a [Posting],
    df: u64,
    head_df: u64,
    is_skipped: bool,
}

impl LexicalScores {
    /// Scores all texts by these stems; `tail` has their newest postings.
    pub(super) fn of(
        connection: Connection<'_>,
        lane: LaneKey,
        index: &IndexState,
        terms: &[Term],
        tail: &Tail,
        cache: &ProjectCache,
    ) -> Result<Self, Failure> {
        if terms.is_empty() {
            return Ok(Self::default());
        }
        let stems = StemReader {
            connection,
            lane,
            index,
            cache,
            codes: CodeTables::of(Weights::of(index.totals)),
        };
        let read = |passes_over: bool| -> Result<Vec<StemPostings<'_>>, Failure> {
            let terms = terms.iter().zip(&tail.postings);
            let read =
                terms.map(|(term, tail_postings)| stems.read(*term, tail_postings, passes_over));
            read.collect()
        };
        let mut found = read(index.texts() > UNSKIPPED_MAX)?;
        if found.iter().all(|stem| stem.is_skipped || stem.df == 0) {
            found = read(false)?;
        }
        let dfs = found.iter().map(|stem| stem.df).collect();
        found.retain(|stem| !stem.is_skipped && stem.df > 0);
        let scores = scores(&found, &stems.codes, index.texts())?;
        Ok(Self { scores, dfs })
    }
}

impl StemReader<'_> {
    /// Reads the postings of a stem; only the newest block if the stem is skipped.
    fn read<'t>(
        &self,
        term: Term,
        tail_postings: &'t [Posting],
        passes_over: bool,
    ) -> Result<StemPostings<'t>, Failure> {
        let fresh_heads = tail_postings
            .iter()
            .filter(|(_, code)| posting_code::is_in_head(*code));
        let (fresh_df, fresh_heads) = (tail_postings.len() as u64, fresh_heads.count() as u64);
        // The newest block has the totals of all blocks before it.
        let counts = |newest: &Block<'_>| {
            (
                fresh_df + u64::from(newest.df()),
                fresh_heads + u64::from(newest.head_df()),
            )
        };
        let says_nothing =
            |(df, head_dfs): (u64, u64)| passes_over && self.codes.is_uninformative(df, head_dfs);
        let key = i64::try_from(term.0).unwrap_or(i64::MAX);
        let is_enough = |newest: &[u8]| {
            let newest = Block::read(newest);
            newest.is_some_and(|newest| says_nothing(counts(&newest)))
        };
        let (connection, lane) = (self.connection, self.lane);
        let blocks = read_blocks(self.cache, connection, lane, self.index, key, is_enough)?;
        let (df, head_dfs) = match blocks.first() {
            Some(newest) => counts(&block(newest, key)?),
            None => (fresh_df, fresh_heads),
        };
        Ok(StemPostings {
            key,
            blocks,
            tail_postings,
            df,
            head_df: head_dfs,
            is_skipped: says_nothing((df, head_dfs)),
        })
    }
}

/// Computes the score of every text.
fn scores(stems: &[StemPostings<'_>], codes: &CodeTables, texts: u32) -> Result<Vec<f32>, Failure> {
    // Writing zeros avoids a second page fault: memory that is first read and then written is faulted twice.
    let mut scores = Vec::with_capacity(texts as usize);
    scores.resize(texts as usize, black_box(0.0));
    let postings: u64 = stems.iter().map(|stem| stem.df).sum();
    if postings < SINGLE_THREAD_MAX {
        add_scores(stems, codes, 0, &mut scores)?;
        return Ok(scores);
    }
    let half = texts / 2;
    let (low, high) = scores.split_at_mut(half as usize);
    let high = Mutex::new(high);
    let add_high = || {
        let mut high = high.lock().unwrap_or_else(PoisonError::into_inner);
        add_scores(stems, codes, half, &mut high)
    };
    let (high_added, low_added) = run_both(add_high, || add_scores(stems, codes, 0, low));
    low_added?;
    high_added?;
    Ok(scores)
}

/// Adds to the scores of the texts from `first` on; for each text in the order of the stems.
fn add_scores(
    stems: &[StemPostings<'_>],
    codes: &CodeTables,
    first: u32,
    scores: &mut [f32],
) -> Result<(), Failure> {
    let end = u64::from(first) + scores.len() as u64;
    for stem in stems {
        let table = codes.scores_by_code(stem.df, stem.head_df);
        let behind = stem.blocks.partition_point(|bytes| {
            Block::read(bytes).is_some_and(|block| u64::from(block.first()) >= end)
        });
        for bytes in stem.blocks.iter().skip(behind) {
            let block = block(bytes, stem.key)?;
            if block.last() < first {
                break;
            }
            block.add_scores(&table, first, scores);
        }
        for (ordinal, code) in stem.tail_postings {
            let score = scores.get_mut(ordinal.wrapping_sub(first) as usize);
            if let (Some(score), Some(value)) = (score, table.get(usize::from(*code))) {
                *score += value;
            }
        }
    }
    Ok(())
}

fn block(bytes: &[u8], key: i64) -> Result<Block<'_>, Failure> {
    Block::read(bytes).ok_or_else(|| bad_block(format!("of stem {key}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Filter, Lane, SearchQuery, SqliteStore, Store};
    use heirloom_model::{
        Confidence, IdSource, Kind, MergeRule, ProjectName, Record, Scope, Timestamp,
    };
    use heirloom_search::index::tokenizer::QueryTerms;

    /// Creates a store with `texts` texts: all contain one word, every tenth a second, and one a third.
    fn store(texts: u32) -> (SqliteStore, ProjectName) {
        let store = SqliteStore::memory().unwrap();
        let project = ProjectName::new("p").unwrap();
        let ids = IdSource::default();
        let at = Timestamp::from_second(1_777_629_600).unwrap();
        let changes: Vec<Change> = (0..texts)
            .map(|n| {
                let tenth = if n % 10 == 0 { "tenth" } else { "" };
                let only = if n == 4_321 { "alone" } else { "" };
                let record = Record {
                    project: project.clone(),
                    id: ids.next(at),
                    kind: Kind::Note,
                    key: None,
                    text: format!("everywhere {tenth} {only}"),
                    attrs: serde_json::Map::new(),
                    scope: Scope::default(),
                    source: "user".to_owned(),
                    confidence: Confidence::FULL,
                    tokens: 1,
                    recorded_at: at,
                    true_from: None,
                    true_to: None,
                    retired_at: None,
                    replaced_by: None,
                    expires_at: None,
                };
                Change::Put {
                    record: Box::new(record),
                    merge: MergeRule::Keep,
                }
            })
            .collect();
        for changes in changes.chunks(4_000) {
            store.apply(&project, changes).unwrap();
        }
        (store, project)
    }

    #[test]
    fn ubiquitous_stem_is_skipped_unless_it_is_the_only_one() {
        let (store, project) = store(UNSKIPPED_MAX + 900);
        let all = u64::from(UNSKIPPED_MAX + 900);
        let ask = |question: &str| {
            let search = SearchQuery {
                words: Some(QueryTerms::of(question)),
                semantic_text: None,
                vector: None,
                sentence: None,
                filter: Filter::current(&[], Timestamp::UNIX_EPOCH),
                lane: Lane::Memory,
                key_filters: Vec::new(),
                limit_per_arm: 2_000,
            };
            let found = store.search(&project, &search).unwrap();
            (found.hits.len(), found.dfs)
        };
        // The second and third rounds use cached postings and must return the same.
        for _ in 0..3 {
            assert_eq!(ask("everywhere"), (2_000, vec![all]));
            assert_eq!(ask("everywhere unheard"), (2_000, vec![all, 0]));
            assert_eq!(ask("everywhere alone"), (1, vec![all, 1]));
            assert_eq!(ask("everywhere tenth"), (910, vec![all, 910]));
        }
    }

    #[test]
    fn scores_do_not_depend_on_split() {
        let stem = |key: i64, apart: u32| {
            let texts = (0..5_000).filter(|ordinal| ordinal % apart == 0);
            let postings: Vec<Posting> = texts.map(|at| (at, (at % 251) as u8)).collect();
            let (merged, tail_postings) = postings.split_at(postings.len() - 20);
            let blocks = heirloom_search::index::posting_blocks::append(None, merged);
            let newest_first = blocks.into_iter().rev().map(|(_, bytes)| bytes.into());
            let (df, head_dfs) = (postings.len() as u64, 1);
            (
                key,
                newest_first.collect::<Blocks>(),
                tail_postings.to_vec(),
                df,
                head_dfs,
            )
        };
        let known = [stem(1, 1), stem(2, 3), stem(3, 97)];
        let stems: Vec<StemPostings<'_>> = known
            .iter()
            .map(|(key, blocks, tail_postings, df, head_dfs)| StemPostings {
                key: *key,
                blocks: Arc::new(blocks.clone()),
                tail_postings,
                df: *df,
                head_df: *head_dfs,
                is_skipped: false,
            })
            .collect();
        let totals = heirloom_search::index::bm25::Totals {
            texts: 20_000,
            len: 200_000,
            head_len: 100_000,
        };
        let codes = CodeTables::of(Weights::of(totals));
        let mut whole = vec![0.0; 5_000];
        add_scores(&stems, &codes, 0, &mut whole).unwrap();
        assert!(whole.iter().all(|score| *score > 0.0));
        for half in [0, 1, 97, 440, 2_500, 4_990, 5_000] {
            let mut parts = vec![0.0; 5_000];
            let (low, high) = parts.split_at_mut(half);
            add_scores(&stems, &codes, u32::try_from(half).unwrap(), high).unwrap();
            add_scores(&stems, &codes, 0, low).unwrap();
            assert_eq!(parts, whole, "cut at {half}");
        }
    }

    #[test]
    fn small_index_skips_no_stem() {
        let (store, project) = store(40);
        let search = SearchQuery {
            words: Some(QueryTerms::of("everywhere tenth")),
            semantic_text: None,
            vector: None,
            sentence: None,
            filter: Filter::current(&[], Timestamp::UNIX_EPOCH),
            lane: Lane::Memory,
            key_filters: Vec::new(),
            limit_per_arm: 100,
        };
        assert_eq!(store.search(&project, &search).unwrap().hits.len(), 40);
    }
}
