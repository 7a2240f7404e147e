//! What words say: a score for every text by the stems of a question that it has.
//!
//! A stem that half of the texts have adds nothing to any score ([`heirloom_index::score`]), and has the longest
//! lists: among many texts it is passed over, like a stop word, unless nothing else of the question is found.

use super::super::failure::Failure;
use super::Index;
use super::kept::{self, Words};
use super::merge::bad_block;
use super::tail::Tail;
use heirloom_index::block::{Block, Posting};
use heirloom_index::code::{self, Codes};
use heirloom_index::score::Weights;
use heirloom_index::words::Term;
use rusqlite::Connection;
use std::hint::black_box;
use std::sync::Mutex;

/// Up to so many texts, no stem is passed over.
const ALL_STEMS_MAX: u32 = 8_192;

/// What the words of a question say.
#[derive(Default)]
pub(super) struct Lexical {
    /// The score of every text; none at all for a question without words.
    pub(super) scores: Vec<f32>,
    /// How many texts have each of the stems.
    pub(super) dfs: Vec<u64>,
}

/// The stems of a project's texts, and what each says.
struct Stems<'a> {
    connection: &'a Connection,
    project: i64,
    index: &'a Index,
    kept: &'a Mutex<Words>,
    codes: Codes,
}

/// What became of one stem.
struct Said {
    df: u64,
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
        // Zeros that are written: memory that is first read and then written costs its page twice.
        let mut scores = Vec::with_capacity(index.texts() as usize);
        scores.resize(index.texts() as usize, black_box(0.0));
        let mut said = Vec::with_capacity(terms.len());
        let passes_over = index.texts() > ALL_STEMS_MAX;
        for (term, fresh) in terms.iter().zip(&tail.postings) {
            said.push(stems.add(*term, fresh, passes_over, &mut scores)?);
        }
        if said.iter().all(|said| said.is_passed_over || said.df == 0) {
            for (term, fresh) in terms.iter().zip(&tail.postings) {
                stems.add(*term, fresh, false, &mut scores)?;
            }
        }
        let dfs = said.iter().map(|said| said.df).collect();
        Ok(Self { scores, dfs })
    }
}

impl Stems<'_> {
    /// Adds to `scores` what a stem says, unless it is passed over.
    fn add(
        &self,
        term: Term,
        fresh: &[Posting],
        passes_over: bool,
        scores: &mut [f32],
    ) -> Result<Said, Failure> {
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
        let read = |bytes| Block::read(bytes).ok_or_else(|| bad_block(format!("of stem {key}")));
        let is_enough = |newest: &[u8]| {
            let newest = Block::read(newest);
            newest.is_some_and(|newest| says_nothing(counts(&newest)))
        };
        let (connection, project) = (self.connection, self.project);
        let blocks = kept::blocks(self.kept, connection, project, self.index, key, is_enough)?;
        let (df, heads) = match blocks.first() {
            Some(newest) => counts(&read(newest)?),
            None => (fresh_df, fresh_heads),
        };
        if says_nothing((df, heads)) {
            return Ok(Said {
                df,
                is_passed_over: true,
            });
        }
        if df > 0 {
            let table = self.codes.table(df, heads);
            for bytes in blocks.iter() {
                read(bytes)?.add(&table, scores);
            }
            add_fresh(fresh, &table, scores);
        }
        Ok(Said {
            df,
            is_passed_over: false,
        })
    }
}

fn add_fresh(fresh: &[Posting], table: &[f32; 256], scores: &mut [f32]) {
    for (ordinal, code) in fresh {
        let score = scores.get_mut(*ordinal as usize);
        if let (Some(score), Some(value)) = (score, table.get(usize::from(*code))) {
            *score += value;
        }
    }
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
