//! Questions that words and built-in vectors settle without the sentence transformer, which takes most of the time of a
//! search.

use super::arm_fusion::ArmScores;
use super::ordinals::read_id;
use crate::SearchQuery;
use crate::lane::{Lane, LaneKey};
use crate::relational::record_query;
use crate::sql::Connection;
use crate::sql::failure::Failure;
use heirloom_model::{Kind, ProjectName};

/// Score of a text, and its lead over the next one, with which sentence vectors would hardly change the order.
const LEADER_SCORE: f32 = 12.0;
const LEADER_LEAD: f32 = 3.0;
/// Kinds of records that state something. The others also repeat requests, so that they fit the same request
/// best without answering it.
const STATING_KINDS: [Kind; 3] = [Kind::Knowledge, Kind::Error, Kind::Note];

/// Lane of a search.
#[derive(Clone, Copy)]
pub(super) struct SearchedLane<'a> {
    pub(super) project: &'a ProjectName,
    pub(super) lane: LaneKey,
}

/// Returns true if a question needs no sentence vector: it is one word that texts have, or one record that states
/// something fits far better than every other text.
///
/// `dfs` are the document frequencies of the question's terms, empty if words are not searched; `ordinals` are the
/// candidates of both arms, each once.
pub(super) fn is_settled(
    connection: Connection<'_>,
    searched: SearchedLane<'_>,
    search: &SearchQuery,
    arms: &ArmScores,
    dfs: &[u64],
    ordinals: &[u32],
) -> Result<bool, Failure> {
    let Some(question) = search.sentence.as_ref().filter(|_| !dfs.is_empty()) else {
        return Ok(false);
    };
    if question.word_count() == 1 && dfs.iter().all(|df| *df > 0) {
        return Ok(true);
    }
    let leader = leader(arms, ordinals).filter(|_| searched.lane.lane == Lane::Memory);
    let Some(leader) = leader else {
        return Ok(false);
    };
    let id = match arms.ids.get(leader) {
        Some(id) => id,
        None => read_id(connection, searched.lane, leader)?,
    };
    let filter = search.filter.clone().ids(vec![id]).limit(1);
    let found = record_query::find(connection, searched.project, &filter)?;
    let states = |kind| STATING_KINDS.contains(&kind);
    Ok(found.first().is_some_and(|record| states(record.kind)))
}

/// Returns the text that is far better than all others.
fn leader(arms: &ArmScores, ordinals: &[u32]) -> Option<u32> {
    let (mut best, mut best_score, mut second_score) = (None, 0.0_f32, 0.0_f32);
    for ordinal in ordinals.iter().copied() {
        let score = arms.score(ordinal);
        if score > best_score {
            (best, best_score, second_score) = (Some(ordinal), score, best_score);
        } else if score > second_score {
            second_score = score;
        }
    }
    best.filter(|_| best_score >= LEADER_SCORE && best_score - second_score >= LEADER_LEAD)
}
