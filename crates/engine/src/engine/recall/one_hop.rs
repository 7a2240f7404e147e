//! One hop of recall: records that share a rare identifier with a strong hit.
//!
//! The question "which port does the service in `src/a.rs` use?" has words of the record that describes the service.
//! The record with the port has none of them, but the same path.

use super::{DedupMode, Recall, RecallRequest};
use heirloom_model::{Fault, Record, RecordId, limits};
use heirloom_search::index::tokenizer::{QueryTerms, Term};
use heirloom_search::recall::one_hop::{
    Hop, hop_relevance, place_hops, strong_records, text_relevance,
};
use heirloom_search::recall::shared_identifiers::{has_identifier, record_identifiers};
use heirloom_search::recall::{ParsedQuery, Ranked, RecallItem, deduplicate};
use heirloom_search::relevance::Question;
use heirloom_store::{AsOf, Filter, Hit, Lane, SearchQuery, SearchResults};
use std::collections::HashSet;

/// An identifier of a strong hit.
struct Link {
    identifier: String,
    strong: RecordId,
    relevance: f64,
}

impl Recall<'_> {
    /// Adds records that share a rare identifier with a strong hit, and raises those among the hits. `ranked` is rated
    /// and in the order of the score. Without a strong hit that has an identifier, nothing is searched.
    pub(super) fn add_one_hop(
        &self,
        query: &ParsedQuery,
        filter: &Filter,
        k: usize,
        request: &RecallRequest,
        question: &Question,
        ranked: &mut Vec<Ranked>,
    ) -> Result<(), Fault> {
        if k < 2 || !query.filters.includes_records() {
            return Ok(());
        }
        let mut links = links(ranked);
        let words = self.rare_words(&mut links, filter)?;
        if words.is_empty() {
            return Ok(());
        }
        let found = self.search_words(words, filter)?.hits;
        let records = self.linked_records(&links, &found, filter)?;
        let terms = QueryTerms::of(&query.text).terms;
        let hops_of = |link: &Link| -> Vec<Hop> {
            let is_linked = |record: &&Record| {
                record.id != link.strong && has_identifier(record, &link.identifier)
            };
            let linked = records.iter().filter(is_linked);
            linked
                .map(|record| Hop {
                    direct: text_relevance(question, record),
                    relevance: hop_relevance(&terms, &link.identifier, record, link.relevance),
                    strong: link.strong,
                    record: record.clone(),
                })
                .collect()
        };
        if place_hops(ranked, links.iter().flat_map(hops_of).collect()) {
            match request.dedup {
                DedupMode::Fold => *ranked = deduplicate(std::mem::take(ranked), k),
                DedupMode::Keep => ranked.truncate(k),
            }
        }
        Ok(())
    }

    /// Removes the links whose identifier is common, and returns the rare words of the others. A word is rare if at most
    /// [`limits::HOP_TEXTS_MAX`] texts have it; an identifier is as rare as its rarest word.
    fn rare_words(&self, links: &mut Vec<Link>, filter: &Filter) -> Result<QueryTerms, Fault> {
        let mut words = QueryTerms::default();
        if links.is_empty() {
            return Ok(words);
        }
        // One search for all identifiers: only its document frequencies are used. A space ends the words of each.
        let identifiers: Vec<&str> = links.iter().map(|link| link.identifier.as_str()).collect();
        let all = QueryTerms::of(&identifiers.join(" "));
        let dfs = self.search_words(all.clone(), filter)?.dfs;
        let rare = |(term, df): (Term, u64)| (df <= limits::HOP_TEXTS_MAX).then_some(term);
        words.terms = all.terms.into_iter().zip(dfs).filter_map(rare).collect();
        links.retain(|link| {
            let own = QueryTerms::of(&link.identifier).terms;
            own.iter().any(|term| words.terms.contains(term))
        });
        Ok(words)
    }

    /// Searches records by words alone.
    fn search_words(&self, words: QueryTerms, filter: &Filter) -> Result<SearchResults, Fault> {
        let search = SearchQuery {
            words: Some(words),
            semantic_text: None,
            vector: None,
            sentence: None,
            filter: filter.clone(),
            limit_per_arm: limits::HOP_CANDIDATES,
            lane: Lane::Memory,
            key_filters: Vec::new(),
        };
        Ok(self.engine.store.search(&self.engine.project, &search)?)
    }

    /// Loads the records that were found, and those whose key is an identifier. Keys are not part of the index.
    fn linked_records(
        &self,
        links: &[Link],
        found: &[Hit],
        filter: &Filter,
    ) -> Result<Vec<Record>, Fault> {
        let mut seen: HashSet<RecordId> = found.iter().map(|hit| hit.id).collect();
        let loaded = self.load_candidates(found, filter, Lane::Memory)?;
        let of_item = |item: RecallItem| match item {
            RecallItem::Record(record) => Some(*record),
            RecallItem::Turn { .. } => None,
        };
        let items = loaded.into_iter().map(|candidate| candidate.item);
        let mut records: Vec<Record> = items.filter_map(of_item).collect();
        if filter.key.is_none() && matches!(filter.as_of, AsOf::Current(_)) {
            for link in links {
                if link.identifier.len() > limits::KEY_BYTES_MAX {
                    continue;
                }
                let named = filter.clone().key(&link.identifier);
                let named = named.limit(limits::HOP_RECORDS_MAX);
                let named = self.engine.records().find(&named)?;
                records.extend(named.into_iter().filter(|record| seen.insert(record.id)));
            }
        }
        Ok(records)
    }
}

/// Returns the distinct identifiers of the strong hits, in order.
fn links(ranked: &[Ranked]) -> Vec<Link> {
    let mut seen = HashSet::new();
    let of_hit = |(record, relevance): (&Record, f64)| {
        let of_record = |identifier: String| Link {
            identifier,
            strong: record.id,
            relevance,
        };
        record_identifiers(record)
            .into_iter()
            .map(of_record)
            .collect::<Vec<Link>>()
    };
    let links = strong_records(ranked).into_iter().flat_map(of_hit);
    links
        .filter(|link| seen.insert(link.identifier.to_lowercase()))
        .collect()
}
