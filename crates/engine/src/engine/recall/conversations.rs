//! Turns of conversations in an answer, apart from its records.

use super::Recall;
use super::lane_search::LaneSearch;
use crate::engine::lessons::LessonSource;
use heirloom_model::{Fault, limits};
use heirloom_search::recall::{Ranked, RecallItem, rate_hits, retain_relevant};
use heirloom_search::relevance::FLOOR;
use heirloom_store::Lane;
use std::collections::HashSet;

/// Turns of conversations that an answer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConversationHits {
    /// None; conversations are not searched.
    #[default]
    Nothing,
    /// The best turn of each of a few conversations.
    Best,
    /// All turns that were found, up to the number of hits.
    All,
}

impl Recall<'_> {
    /// Searches the turns of conversations, best first. Those that a lesson among `records` was taken from are left out,
    /// because `heirloom show --source` prints them with it; as a requested kind all are hits.
    pub(super) fn conversation_hits(
        &self,
        search: &LaneSearch<'_>,
        records: &[Ranked],
    ) -> Result<Vec<Ranked>, Fault> {
        let filters = &search.query.filters;
        // `kind:message` in the query.
        let wanted = match filters.turns {
            true => ConversationHits::All,
            false => search.request.conversations,
        };
        if wanted == ConversationHits::Nothing || !filters.includes_turns() {
            return Ok(Vec::new());
        }
        let mut filter = search.filter.clone();
        // Of `kind:fact,message` the kinds are those of the records.
        filter.kinds.clear();
        let search = LaneSearch {
            filter,
            ..search.clone()
        };
        let (is_comparable, floor) = (search.is_comparable(), search.request.min_relevance);
        let most = search.k;
        let (mut turns, question) = self.rank_unrated(search, Lane::Archive, most)?;
        let is_answered = !is_comparable || rate_hits(&question, &mut turns);
        match floor {
            None if !is_answered => turns.clear(),
            least => drop(retain_relevant(&mut turns, least.unwrap_or(FLOOR))),
        }
        if !filters.turns {
            remove_sources(records, &mut turns);
        }
        if wanted == ConversationHits::Best {
            keep_best_turns(&mut turns);
        }
        Ok(turns)
    }
}

/// Removes the turns from which a lesson among the records was taken.
fn remove_sources(records: &[Ranked], turns: &mut Vec<Ranked>) {
    let lessons = records.iter().filter_map(Ranked::record);
    let sources: HashSet<String> = lessons
        .filter_map(LessonSource::of_record)
        .flat_map(|source| source.evidence)
        .map(|line| line.message)
        .collect();
    turns.retain(|hit| !sources.contains(&hit.item.id().to_string()));
}

/// Keeps the first turn of each of the first conversations.
fn keep_best_turns(turns: &mut Vec<Ranked>) {
    let mut sessions = HashSet::new();
    turns.retain(|hit| match &hit.item {
        RecallItem::Turn { session, .. } => sessions.insert(session.clone()),
        RecallItem::Record(_) => false,
    });
    turns.truncate(limits::RECALL_CONVERSATIONS);
}
