//! Candidates of a recall: the items of the hits, and the records that are found by their key.

use super::query_validation::{query_keys, turn_fits};
use crate::engine::Recall;
use heirloom_model::{Fault, Record, RecordId, limits};
use heirloom_search::recall::{Candidate, ParsedQuery, RecallItem, VerbatimQuery};
use heirloom_store::{AsOf, Filter, Hit, Lane, SearchQuery};
use std::collections::{HashMap, HashSet};

impl Recall<'_> {
    /// Adds the records that have the query word for word and that no arm found: the words of `the state of` are common, so
    /// these records are far behind.
    pub(super) fn add_verbatim_matches(
        &self,
        query: &VerbatimQuery,
        search: &SearchQuery,
        candidates: &mut Vec<Candidate>,
    ) -> Result<(), Fault> {
        let further = SearchQuery {
            semantic_text: None,
            vector: None,
            sentence: None,
            key_filters: Vec::new(),
            limit_per_arm: limits::RECALL_VERBATIM_CANDIDATES,
            ..search.clone()
        };
        let found = self.engine.store.search(&self.engine.project, &further)?;
        let known: HashSet<RecordId> = candidates.iter().map(|one| one.item.id()).collect();
        let mut hits = found.hits;
        hits.retain(|hit| !known.contains(&hit.id));
        let loaded = self.load_candidates(&hits, &search.filter, Lane::Memory)?;
        candidates.extend(
            loaded
                .into_iter()
                .filter(|one| query.is_in(one.item.text())),
        );
        Ok(())
    }

    /// Loads the items of the hits in order. Items that were retired since the search, or do not pass the filters,
    /// are dropped.
    pub(super) fn load_candidates(
        &self,
        hits: &[Hit],
        filter: &Filter,
        lane: Lane,
    ) -> Result<Vec<Candidate>, Fault> {
        if hits.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<RecordId> = hits.iter().map(|hit| hit.id).collect();
        let mut items: HashMap<RecordId, RecallItem> = HashMap::new();
        match lane {
            Lane::Memory => {
                let limit = ids.len();
                let found = filter.clone().ids(ids).limit(limit);
                for record in self.engine.records().find(&found)? {
                    items.insert(record.id, RecallItem::Record(Box::new(record)));
                }
            }
            Lane::Archive => {
                for (session, message) in self.engine.store.turns(&self.engine.project, &ids)? {
                    let message = Box::new(message);
                    let turn = RecallItem::Turn { session, message };
                    if turn_fits(&turn, filter) {
                        items.insert(turn.id(), turn);
                    }
                }
            }
        }
        let with_item = |hit: &Hit| {
            let item = items.remove(&hit.id)?;
            Some(Candidate { item, hit: *hit })
        };
        Ok(hits.iter().filter_map(with_item).collect())
    }
}

/// Returns the filters for the records whose key is the query, or one of its words that looks like a name.
pub(super) fn key_filters(query: &ParsedQuery, filter: &Filter) -> Vec<Filter> {
    let is_searched = matches!(filter.as_of, AsOf::Current(_)) && filter.key.is_none();
    if !is_searched || !query.filters.includes_records() {
        return Vec::new();
    }
    let keys = query_keys(&query.text).into_iter();
    keys.map(|key| filter.clone().key(key).limit(limits::RECALL_HITS_DEFAULT))
        .collect()
}

/// Adds the records that were found by their key to the candidates.
pub(super) fn add_key_matches(records: Vec<Record>, hits: &[Hit], candidates: &mut Vec<Candidate>) {
    let mut known: HashSet<RecordId> = candidates.iter().map(|one| one.item.id()).collect();
    let least = hits.iter().map(|hit| hit.score).fold(0.0, f32::min);
    for record in records {
        if !known.insert(record.id) {
            continue;
        }
        let hit = Hit {
            id: record.id,
            lexical: 0.0,
            vector: 0.0,
            sentence: None,
            score: least,
            word_score: 0.0,
            conversation: 0.0,
        };
        let item = RecallItem::Record(Box::new(record));
        candidates.push(Candidate { item, hit });
    }
}
