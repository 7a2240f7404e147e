//! Answering a search from the index.

use super::super::codec;
use super::super::failure::Failure;
use super::embedded::{self, Head};
use super::matrix::Matrices;
use super::merge::bad_block;
use super::wanted::Wanted;
use super::{Index, entries, pieces};
use crate::{Found, Hit, Search, VectorsOf};
use heirloom_index::block::Block;
use heirloom_index::pieces::count_in;
use heirloom_index::score::{Spread, Weights, best};
use heirloom_index::vector::AnyQuestion;
use heirloom_index::words::{Question, Term};
use heirloom_index::{code, vector};
use heirloom_model::limits::EMBEDDING_MISSING_ONE_IN;
use heirloom_model::{ProjectName, RecordId};
use rusqlite::{Connection, params};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// What a vector's score counts beside the words'.
const VECTOR: f32 = 1.5;
/// What the turn before and the turn behind add to a turn, and the best turn of its conversation.
const BEFORE: f32 = 0.2;
const BEHIND: f32 = 0.3;
const BEST: f32 = 0.4;

/// What both arms say of every text.
struct Arms {
    lexical: Vec<f32>,
    vector: Vec<f32>,
    lexical_spread: Spread,
    vector_spread: Spread,
    /// Texts without a vector, where not every text has one: their score is the mean, which says nothing.
    lack: Vec<bool>,
}

/// What the vectors of one model say.
struct Near {
    scores: Vec<f32>,
    spread: Spread,
    lack: Vec<bool>,
    by: VectorsOf,
    unembedded: u64,
}

impl Arms {
    fn score(&self, ordinal: u32) -> f32 {
        let part = |scores: &[f32], spread: &Spread| {
            let score = scores.get(ordinal as usize);
            score.map_or(0.0, |score| spread.z(*score))
        };
        part(&self.lexical, &self.lexical_spread) + VECTOR * part(&self.vector, &self.vector_spread)
    }
}

/// The nearest items.
pub(in super::super) fn search(
    connection: &Connection,
    project: &ProjectName,
    search: &Search,
    matrices: &Mutex<Matrices>,
) -> Result<Found, Failure> {
    let Some(number) = codec::project(connection, project)? else {
        return Ok(Found::default());
    };
    let Some(index) = super::of(connection, number)?.filter(|index| index.texts() > 0) else {
        return Ok(Found::default());
    };
    let wanted = Wanted::of(connection, project, number, &index, &search.filter)?;
    let (lexical, dfs) = match &search.words {
        Some(question) => words(connection, number, &index, question)?,
        None => (Vec::new(), Vec::new()),
    };
    let texts = index.totals.texts;
    let Near {
        scores,
        spread,
        lack,
        by,
        unembedded,
    } = near(connection, number, &index, search, matrices)?;
    let arms = Arms {
        lexical_spread: Spread::of(&lexical, texts),
        lexical,
        vector: scores,
        vector_spread: spread,
        lack,
    };
    let mut ordinals: BTreeSet<u32> = BTreeSet::new();
    for (scores, lack) in [(&arms.lexical, &[][..]), (&arms.vector, &arms.lack[..])] {
        let found = best(scores, search.each, |place| {
            lack.get(place) != Some(&true) && wanted.has(place_of(place))
        });
        ordinals.extend(found.into_iter().map(|(place, _)| place_of(place)));
    }
    let mut hits = BTreeMap::new();
    for ordinal in ordinals {
        hits.insert(ordinal, hit(connection, number, &arms, ordinal)?);
    }
    conversations(connection, number, &arms, &wanted, &mut hits)?;
    let mut hits: Vec<(u32, Hit)> = hits.into_iter().collect();
    hits.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then(a.0.cmp(&b.0)));
    hits.truncate(2 * search.each);
    Ok(Found {
        searched: wanted.count(&index),
        vectors: by,
        unembedded,
        dfs,
        hits: hits.into_iter().map(|(_, hit)| hit).collect(),
    })
}

fn place_of(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// The score of every text by its words, and how many texts have each of them.
fn words(
    connection: &Connection,
    project: i64,
    index: &Index,
    question: &Question,
) -> Result<(Vec<f32>, Vec<u64>), Failure> {
    let mut scores = vec![0.0; index.texts() as usize];
    let mut dfs = Vec::with_capacity(question.terms.len());
    let weights = Weights::of(index.totals);
    let tail = tail(connection, project, question)?;
    let sql =
        "SELECT block, data FROM postings WHERE project = ?1 AND term = ?2 ORDER BY block DESC";
    let mut statement = connection.prepare_cached(sql)?;
    for term in &question.terms {
        let fresh = tail.get(term).map_or(&[][..], Vec::as_slice);
        let (mut df, mut head_df) = (fresh.len() as u64, 0);
        head_df += fresh
            .iter()
            .filter(|(_, code)| code::is_in_head(*code))
            .count() as u64;
        let mut table = None;
        let key = i64::try_from(term.0).unwrap_or(i64::MAX);
        let mut rows = statement.query(params![project, key])?;
        while let Some(row) = rows.next()? {
            let bytes = row.get_ref(1)?.as_blob().unwrap_or(&[]);
            let Some(block) = Block::read(bytes) else {
                return Err(bad_block(row.get(0)?));
            };
            // The newest block, which comes first, knows of all before it.
            let table = table.get_or_insert_with(|| {
                df += u64::from(block.df());
                head_df += u64::from(block.head_df());
                code::table(&weights, df, head_df)
            });
            block.add(table, &mut scores);
        }
        dfs.push(df);
        let table = table.unwrap_or_else(|| code::table(&weights, df, head_df));
        for (ordinal, code) in fresh {
            if let (Some(score), Some(value)) = (
                scores.get_mut(*ordinal as usize),
                table.get(usize::from(*code)),
            ) {
                *score += value;
            }
        }
    }
    Ok((scores, dfs))
}

/// How near every text is to the question, by the vectors of one model: of the one that is asked for if nearly
/// every text has one of it, else by the built-in ones, which all have.
fn near(
    connection: &Connection,
    project: i64,
    index: &Index,
    search: &Search,
    matrices: &Mutex<Matrices>,
) -> Result<Near, Failure> {
    let mut unembedded = 0;
    if let Some(asked) = &search.vector {
        let head = Head::read(connection, project, index.generation)?;
        let head = head.filter(|head| head.model == asked.model);
        let (missing, texts) = embedded::missing(connection, project, index, head.as_ref())?;
        unembedded = missing;
        let question = AnyQuestion::of(&asked.numbers);
        let is_whole = missing * EMBEDDING_MISSING_ONE_IN <= texts;
        if let (Some(head), Some(question)) = (head, question)
            && is_whole
            && head.dims == question.dims()
        {
            let mut kept = matrices.lock().unwrap_or_else(PoisonError::into_inner);
            let scores = kept.scores_of_other(connection, project, index, &head, &question)?;
            return Ok(of_model(&scores, missing));
        }
    }
    let scores = match &search.meaning {
        Some(text) => meanings(connection, project, index, text, matrices)?,
        None => Vec::new(),
    };
    Ok(Near {
        spread: Spread::of(&scores, index.totals.texts),
        by: if search.meaning.is_some() {
            VectorsOf::BuiltIn
        } else {
            VectorsOf::Nothing
        },
        scores,
        lack: Vec::new(),
        unembedded,
    })
}

fn of_model(scores: &[Option<f32>], unembedded: u64) -> Near {
    let known: Vec<f32> = scores.iter().flatten().copied().collect();
    let spread = Spread::of(&known, known.len() as u64);
    let scored = scores.iter().map(|score| score.unwrap_or(spread.mean()));
    Near {
        scores: scored.collect(),
        spread,
        lack: scores.iter().map(Option::is_none).collect(),
        by: VectorsOf::Model,
        unembedded,
    }
}

/// The score of every text by its meaning; none if the question has none.
fn meanings(
    connection: &Connection,
    project: i64,
    index: &Index,
    text: &str,
    matrices: &Mutex<Matrices>,
) -> Result<Vec<f32>, Failure> {
    let counts = super::meanings::counts(connection, project)?;
    let mut fresh: BTreeMap<u16, u32> = BTreeMap::new();
    let mut rows = Vec::new();
    {
        let sql = "SELECT pieces, vector FROM tail WHERE project = ?1 ORDER BY ordinal";
        let mut statement = connection.prepare_cached(sql)?;
        let mut tail = statement.query([project])?;
        while let Some(row) = tail.next()? {
            for piece in pieces(row.get_ref(0)?.as_blob().unwrap_or(&[])) {
                *fresh.entry(piece).or_default() += 1;
            }
            rows.extend_from_slice(row.get_ref(1)?.as_blob().unwrap_or(&[]));
        }
    }
    let df = |piece| count_in(&counts, piece) + fresh.get(&piece).copied().unwrap_or(0);
    let Some(question) = vector::Question::of(text, index.texts(), df) else {
        return Ok(Vec::new());
    };
    let mut kept = matrices.lock().unwrap_or_else(PoisonError::into_inner);
    let mut scores = kept.scores(connection, project, index, &question)?;
    question.scores(&rows, &mut scores);
    Ok(scores)
}

/// The postings in the tail of the question's stems.
fn tail(
    connection: &Connection,
    project: i64,
    question: &Question,
) -> Result<BTreeMap<Term, Vec<(u32, u8)>>, Failure> {
    let mut asked = question.terms.clone();
    asked.sort_unstable();
    let mut found: BTreeMap<Term, Vec<(u32, u8)>> = BTreeMap::new();
    let sql = "SELECT ordinal, terms FROM tail WHERE project = ?1 ORDER BY ordinal";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([project])?;
    while let Some(row) = rows.next()? {
        let ordinal: u32 = row.get(0)?;
        for (term, code) in entries(row.get_ref(1)?.as_blob().unwrap_or(&[])) {
            if asked.binary_search(&term).is_ok() {
                found.entry(term).or_default().push((ordinal, code));
            }
        }
    }
    Ok(found)
}

fn hit(connection: &Connection, project: i64, arms: &Arms, ordinal: u32) -> Result<Hit, Failure> {
    let sql = "SELECT id, is_turn FROM ordinals WHERE project = ?1 AND ordinal = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row(params![project, ordinal], |row| {
        Ok((row.get(0)?, row.get(1)?))
    });
    let (id, is_turn): ([u8; 16], bool) = found?;
    let lacks = arms.lack.get(ordinal as usize).copied().unwrap_or(false);
    let at = |scores: &[f32]| scores.get(ordinal as usize).copied().unwrap_or(0.0);
    Ok(Hit {
        id: RecordId::from_bytes(id),
        is_turn,
        lexical: at(&arms.lexical),
        vector: if lacks { 0.0 } else { at(&arms.vector) },
        score: arms.score(ordinal),
        conversation: 0.0,
    })
}

/// Adds to every turn of the conversations that were hit what its neighbours and its best turn say.
fn conversations(
    connection: &Connection,
    project: i64,
    arms: &Arms,
    wanted: &Wanted,
    hits: &mut BTreeMap<u32, Hit>,
) -> Result<(), Failure> {
    let mut sessions: BTreeSet<String> = BTreeSet::new();
    let sql = "SELECT session FROM messages WHERE project = ?1 AND id = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    for hit in hits.values().filter(|hit| hit.is_turn) {
        let values = params![project, hit.id.as_bytes()];
        sessions.insert(statement.query_row(values, |row| row.get(0))?);
    }
    let sql = "SELECT ordinal FROM messages WHERE project = ?1 AND session = ?2 ORDER BY seq";
    let mut statement = connection.prepare_cached(sql)?;
    for session in sessions {
        let turns = statement.query_map(params![project, session], |row| row.get(0))?;
        let turns: Vec<u32> = turns.collect::<Result<_, _>>()?;
        let plain: Vec<f32> = turns.iter().map(|ordinal| arms.score(*ordinal)).collect();
        let near = nearby(&plain);
        let best = near.iter().copied().fold(f32::MIN, f32::max);
        for ((ordinal, plain), near) in turns.iter().zip(&plain).zip(&near) {
            if !wanted.has(*ordinal) {
                continue;
            }
            let score = near + BEST * best;
            let hit = match hits.remove(ordinal) {
                Some(hit) => hit,
                None => hit(connection, project, arms, *ordinal)?,
            };
            let conversation = score - plain;
            hits.insert(
                *ordinal,
                Hit {
                    score,
                    conversation,
                    ..hit
                },
            );
        }
    }
    Ok(())
}

/// Scores of turns with what the turn before and the turn behind add.
fn nearby(plain: &[f32]) -> Vec<f32> {
    let at = |n: Option<usize>| n.and_then(|n| plain.get(n)).copied().unwrap_or(0.0);
    (0..plain.len())
        .map(|n| at(Some(n)) + BEFORE * at(n.checked_sub(1)) + BEHIND * at(Some(n + 1)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_add_to_a_turn() {
        let near = nearby(&[1.0, 0.0, 2.0]);
        assert!((near[0] - 1.0).abs() < 1e-6);
        assert!((near[1] - 0.8).abs() < 1e-6);
        assert!((near[2] - 2.0).abs() < 1e-6);
        assert!(nearby(&[]).is_empty());
    }
}
