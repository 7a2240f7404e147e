//! Answering a search from the index.

use super::super::codec;
use super::super::failure::Failure;
use super::Kept;
use super::ids::{Known, Said};
use super::lexical::Lexical;
use super::near::{Asking, Near};
use super::wanted::Wanted;
use crate::{Found, Hit, Search};
use heirloom_index::score::{Spread, best};
use heirloom_index::vector;
use heirloom_model::ProjectName;
use rusqlite::{Connection, params};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};

/// What a vector's score counts beside the words'.
const VECTOR: f32 = 1.5;
/// What the turn before and the turn behind add to a turn, and the best turn of its conversation.
const BEFORE: f32 = 0.2;
const BEHIND: f32 = 0.3;
const BEST: f32 = 0.4;

/// What both arms say of every text.
struct Arms {
    lexical: Vec<f32>,
    lexical_spread: Spread,
    near: Near,
    ids: Arc<Known>,
}

impl Arms {
    /// The score of a text whose nearness is settled.
    fn score(&self, ordinal: u32) -> f32 {
        let lexical = self.lexical.get(ordinal as usize);
        let lexical = lexical.map_or(0.0, |score| self.lexical_spread.z(*score));
        lexical + VECTOR * self.near.z(ordinal)
    }

    /// Leaves the best of candidates that are settled: of both arms together, few of one alone rank.
    fn keep_best(&self, ordinals: &mut Vec<u32>, count: usize) {
        if ordinals.len() > count {
            let better = |a: &u32, b: &u32| {
                let order = self.score(*b).total_cmp(&self.score(*a));
                order.then(a.cmp(b))
            };
            ordinals.select_nth_unstable_by(count, better);
            ordinals.truncate(count);
        }
    }
}

/// The nearest items.
pub(in super::super) fn search(
    connection: &Connection,
    project: &ProjectName,
    search: &Search,
    kept: &Kept,
) -> Result<Found, Failure> {
    let Some(number) = codec::project(connection, project)? else {
        return Ok(Found::default());
    };
    let Some(index) = super::of(connection, number)?.filter(|index| index.texts() > 0) else {
        return Ok(Found::default());
    };
    let wanted = Wanted::of(
        connection,
        project,
        number,
        &index,
        &search.filter,
        &kept.kinds,
    )?;
    let terms = search.words.as_ref().map_or(&[][..], |words| &words.terms);
    let pieces = search.meaning.as_deref().map(vector::Question::pieces);
    let pieces = pieces.unwrap_or_default();
    let locked = || kept.words.lock().unwrap_or_else(PoisonError::into_inner);
    let tail = locked().tail(connection, number, &index, terms, &pieces)?;
    let asking = Asking::of(
        connection,
        number,
        &index,
        search,
        &pieces,
        &tail,
        &kept.matrices,
    )?;
    let (words, known) =
        asking.meanwhile(|| Lexical::of(connection, number, &index, terms, &tail, &kept.words));
    let Lexical { scores, dfs } = words?;
    locked().was_asked(number, &index);
    let near = asking.end(connection, number, &index, &tail, known)?;
    let mut ids = kept.ids.lock().unwrap_or_else(PoisonError::into_inner);
    let known_ids = ids.current(connection, number, &index)?;
    drop(ids);
    let mut arms = Arms {
        ids: known_ids,
        lexical_spread: Spread::of(&scores, index.totals.texts),
        lexical: scores,
        near,
    };
    let found = best(&arms.lexical, search.each, |place| {
        wanted.has(place_of(place))
    });
    let mut ordinals: Vec<u32> = found
        .into_iter()
        .map(|(place, _)| place_of(place))
        .collect();
    arms.near.settle(&ordinals);
    ordinals.extend(arms.near.best(search.each, |ordinal| wanted.has(ordinal)));
    ordinals.sort_unstable();
    ordinals.dedup();
    arms.keep_best(&mut ordinals, search.each);
    let mut hits = BTreeMap::new();
    for ordinal in ordinals {
        hits.insert(ordinal, hit(connection, number, &arms, ordinal)?);
    }
    conversations(connection, number, &mut arms, &wanted, &mut hits)?;
    let mut hits: Vec<(u32, Hit)> = hits.into_iter().collect();
    hits.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then(a.0.cmp(&b.0)));
    hits.truncate(2 * search.each);
    Ok(Found {
        searched: wanted.count(&index),
        vectors: arms.near.by,
        unembedded: arms.near.unembedded,
        dfs,
        hits: hits.into_iter().map(|(_, hit)| hit).collect(),
    })
}

fn place_of(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

fn hit(connection: &Connection, project: i64, arms: &Arms, ordinal: u32) -> Result<Hit, Failure> {
    let known = arms.ids.get(ordinal);
    let said = known.map_or_else(|| Said::read(connection, project, ordinal), Ok)?;
    let lexical = arms.lexical.get(ordinal as usize);
    Ok(Hit {
        id: said.id,
        is_turn: said.is_turn,
        lexical: lexical.copied().unwrap_or(0.0),
        vector: arms.near.cosine(ordinal),
        score: arms.score(ordinal),
        conversation: 0.0,
    })
}

/// Adds to every turn of the conversations that were hit what its neighbours and its best turn say.
fn conversations(
    connection: &Connection,
    project: i64,
    arms: &mut Arms,
    wanted: &Wanted,
    hits: &mut BTreeMap<u32, Hit>,
) -> Result<(), Failure> {
    if !hits.values().any(|hit| hit.is_turn) {
        return Ok(());
    }
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
        arms.near.settle(&turns);
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
