//! Conversation scores: the neighbours and the best turn of a conversation raise the score of a turn.

use super::arm_fusion::ArmScores;
use super::candidate_filter::CandidateFilter;
use crate::Hit;
use crate::relational::row_codec;
use crate::sql::Connection;
use crate::sql::failure::Failure;
use heirloom_model::RecordId;
use rusqlite::params;
use std::collections::{BTreeMap, BTreeSet};

/// Weights of the previous turn, the next turn and the best turn of a conversation in the score of a turn.
const PREVIOUS_TURN_WEIGHT: f32 = 0.2;
const NEXT_TURN_WEIGHT: f32 = 0.3;
const BEST_TURN_WEIGHT: f32 = 0.4;

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
pub(super) fn add_conversation_scores(
    connection: Connection<'_>,
    project: i64,
    arms: &mut ArmScores,
    candidates: &CandidateFilter,
    hits: &mut BTreeMap<u32, Hit>,
) -> Result<(), Failure> {
    let turns: Vec<RecordId> = hits.values().map(|hit| hit.id).collect();
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
            let known = hits.remove(&ordinal);
            let hit = Hit {
                score,
                conversation: score - plain,
                ..known.unwrap_or_else(|| arms.hit(ordinal, id))
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
