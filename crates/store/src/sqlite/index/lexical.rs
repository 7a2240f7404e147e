//! What words say: a score for every text by the stems of a question that it has.
//!
//! A stem that half of the texts have adds nothing to any score ([`heirloom_index::score`]), and has the longest
//! lists: among many texts it is passed over, like a stop word, unless nothing else of the question is found.

use super::super::failure::Failure;
use super::Index;
use super::kept::{self, Blocks, Words};
use super::merge::bad_block;
use super::tail::Tail;
use heirloom_index::block::{Block, Posting};
use heirloom_index::code::{self, Codes};
use heirloom_index::score::Weights;
use heirloom_index::words::Term;
use rusqlite::Connection;
use std::hint::black_box;
use std::sync::{Arc, Mutex};

/// Up to so many texts, no stem is passed over.
const ALL_STEMS_MAX: u32 = 8_192;
/// So many postings are added up at once: a second thread for half of them takes longer to start.
const TOGETHER_MAX: u64 = 400_000;

/// What the words of a question say.
#[derive(Default)]
pub(super) struct Lexical {
    /// The score of every text; none at all for a question without words.
    pub(super) scores: Vec<f32>,
    /// How many texts have each of the stems.
    pub(super) dfs: Vec<u64>,
}

/// The stems of a project's texts, and where they are read.
struct Stems<'a> {
    connection: &'a Connection,
    project: i64,
    index: &'a Index,
    kept: &'a Mutex<Words>,
    codes: Codes,
}

/// What is known of one stem.
struct Stem<'a> {
    key: i64,
    /// Its postings that are merged, newest first; of a stem that is passed over maybe not all.
    blocks: Arc<Blocks>,
    fresh: &'a [Posting],
    df: u64,
    heads: u64,
    is_passed_over: bool,
}

impl Lexical {
    /// What these stems say, whose newest postings the tail has.
    pub(super) fn of(
        connection: &Connection,
        project: i64,
        index: &Index,
        terms: &[Term],
        tail: &Tail,
        kept: &Mutex<Words>,
    ) -> Result<Self, Failure> {
        if terms.is_empty() {
            return Ok(Self::default());
        }
        let stems = Stems {
            connection,
            project,
            index,
            kept,
            codes: Codes::of(Weights::of(index.totals)),
        };
        let read = |passes_over: bool| -> Result<Vec<Stem<'_>>, Failure> {
            let terms = terms.iter().zip(&tail.postings);
            let read = terms.map(|(term, fresh)| stems.read(*term, fresh, passes_over));
            read.collect()
        };
        let mut found = read(index.texts() > ALL_STEMS_MAX)?;
        if found.iter().all(|stem| stem.is_passed_over || stem.df == 0) {
            found = read(false)?;
        }
        let dfs = found.iter().map(|stem| stem.df).collect();
        found.retain(|stem| !stem.is_passed_over && stem.df > 0);
        let scores = scores(&found, &stems.codes, index.texts())?;
        Ok(Self { scores, dfs })
    }
}

impl Stems<'_> {
    /// Reads what there is of a stem, unless it is passed over.
    fn read<'t>(
        &self,
        term: Term,
        fresh: &'t [Posting],
        passes_over: bool,
    ) -> Result<Stem<'t>, Failure> {
        let fresh_heads = fresh.iter().filter(|(_, code)| code::is_in_head(*code));
        let (fresh_df, fresh_heads) = (fresh.len() as u64, fresh_heads.count() as u64);
        // The newest block, which comes first, knows of all before it.
        let counts = |newest: &Block<'_>| {
            (
                fresh_df + u64::from(newest.df()),
                fresh_heads + u64::from(newest.head_df()),
            )
        };
        let says_nothing =
            |(df, heads): (u64, u64)| passes_over && self.codes.say_nothing(df, heads);
        let key = i64::try_from(term.0).unwrap_or(i64::MAX);
        let is_enough = |newest: &[u8]| {
            let newest = Block::read(newest);
            newest.is_some_and(|newest| says_nothing(counts(&newest)))
        };
        let (connection, project) = (self.connection, self.project);
        let blocks = kept::blocks(self.kept, connection, project, self.index, key, is_enough)?;
        let (df, heads) = match blocks.first() {
            Some(newest) => counts(&block(newest, key)?),
            None => (fresh_df, fresh_heads),
        };
        Ok(Stem {
            key,
            blocks,
            fresh,
            df,
            heads,
            is_passed_over: says_nothing((df, heads)),
        })
    }
}

/// The score of every text, by what these stems say.
fn scores(stems: &[Stem<'_>], codes: &Codes, texts: u32) -> Result<Vec<f32>, Failure> {
    // Zeros that are written: memory that is first read and then written costs its page twice.
    let mut scores = Vec::with_capacity(texts as usize);
    scores.resize(texts as usize, black_box(0.0));
    let postings: u64 = stems.iter().map(|stem| stem.df).sum();
    if postings < TOGETHER_MAX {
        add(stems, codes, 0, &mut scores)?;
        return Ok(scores);
    }
    let half = texts / 2;
    let (low, high) = scores.split_at_mut(half as usize);
    let (low, high) = std::thread::scope(|scope| {
        let high = scope.spawn(|| add(stems, codes, half, high));
        (add(stems, codes, 0, low), high.join())
    });
    low?;
    high.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    Ok(scores)
}

/// Adds to the scores of the texts from `first` on, to each in the order of the stems.
fn add(stems: &[Stem<'_>], codes: &Codes, first: u32, scores: &mut [f32]) -> Result<(), Failure> {
    let end = u64::from(first) + scores.len() as u64;
    for stem in stems {
        let table = codes.table(stem.df, stem.heads);
        let behind = stem.blocks.partition_point(|bytes| {
            Block::read(bytes).is_some_and(|block| u64::from(block.first()) >= end)
        });
        for bytes in stem.blocks.iter().skip(behind) {
            let block = block(bytes, stem.key)?;
            if block.last() < first {
                break;
            }
            block.add(&table, first, scores);
        }
        for (ordinal, code) in stem.fresh {
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
    use crate::{Change, Filter, Search, SqliteStore, Store};
    use heirloom_index::words::Question;
    use heirloom_model::{
        Confidence, IdSource, Kind, Merge, ProjectName, Record, Scope, Timestamp,
    };

    /// So many texts; all have one word, every tenth another, and one a third.
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
                    merge: Merge::Keep,
                }
            })
            .collect();
        for changes in changes.chunks(4_000) {
            store.apply(&project, changes).unwrap();
        }
        (store, project)
    }

    #[test]
    fn a_stem_of_all_texts_is_passed_over_unless_there_is_no_other() {
        let (store, project) = store(ALL_STEMS_MAX + 900);
        let all = u64::from(ALL_STEMS_MAX + 900);
        let ask = |question: &str| {
            let search = Search {
                words: Some(Question::of(question)),
                meaning: None,
                vector: None,
                filter: Filter::current(&[], Timestamp::UNIX_EPOCH),
                each: 2_000,
            };
            let found = store.search(&project, &search).unwrap();
            (found.hits.len(), found.dfs)
        };
        // A process that was asked before keeps postings: it answers the same.
        for _ in 0..3 {
            assert_eq!(ask("everywhere"), (2_000, vec![all]));
            assert_eq!(ask("everywhere unheard"), (2_000, vec![all, 0]));
            assert_eq!(ask("everywhere alone"), (1, vec![all, 1]));
            assert_eq!(ask("everywhere tenth"), (910, vec![all, 910]));
        }
    }

    #[test]
    fn halves_are_the_parts_of_a_whole() {
        let stem = |key: i64, apart: u32| {
            let texts = (0..5_000).filter(|ordinal| ordinal % apart == 0);
            let postings: Vec<Posting> = texts.map(|at| (at, (at % 251) as u8)).collect();
            let (merged, fresh) = postings.split_at(postings.len() - 20);
            let blocks = heirloom_index::block::append(None, merged);
            let newest_first = blocks.into_iter().rev().map(|(_, bytes)| bytes.into());
            let (df, heads) = (postings.len() as u64, 1);
            (
                key,
                newest_first.collect::<Blocks>(),
                fresh.to_vec(),
                df,
                heads,
            )
        };
        let known = [stem(1, 1), stem(2, 3), stem(3, 97)];
        let stems: Vec<Stem<'_>> = known
            .iter()
            .map(|(key, blocks, fresh, df, heads)| Stem {
                key: *key,
                blocks: Arc::new(blocks.clone()),
                fresh,
                df: *df,
                heads: *heads,
                is_passed_over: false,
            })
            .collect();
        let totals = heirloom_index::score::Totals {
            texts: 20_000,
            len: 200_000,
            head_len: 100_000,
        };
        let codes = Codes::of(Weights::of(totals));
        let mut whole = vec![0.0; 5_000];
        add(&stems, &codes, 0, &mut whole).unwrap();
        assert!(whole.iter().all(|score| *score > 0.0));
        for half in [0, 1, 97, 440, 2_500, 4_990, 5_000] {
            let mut parts = vec![0.0; 5_000];
            let (low, high) = parts.split_at_mut(half);
            add(&stems, &codes, u32::try_from(half).unwrap(), high).unwrap();
            add(&stems, &codes, 0, low).unwrap();
            assert_eq!(parts, whole, "cut at {half}");
        }
    }

    #[test]
    fn among_few_texts_no_stem_is_passed_over() {
        let (store, project) = store(40);
        let search = Search {
            words: Some(Question::of("everywhere tenth")),
            meaning: None,
            vector: None,
            filter: Filter::current(&[], Timestamp::UNIX_EPOCH),
            each: 100,
        };
        assert_eq!(store.search(&project, &search).unwrap().hits.len(), 40);
    }
}
