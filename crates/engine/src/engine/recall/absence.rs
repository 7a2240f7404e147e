//! Explanation of a record that a query does not return.

use super::query_validation::{parse_query, stems};
use super::{Recall, RecallRequest};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Fault, KindData, ProjectName, Record, RecordId, Timestamp};
use heirloom_search::index::tokenizer::QueryTerms;
use heirloom_search::recall::{QueryFilters, Ranked, is_relevant};
use heirloom_search::relevance::FLOOR;
use heirloom_store::{Filter, StoreError};

/// Number of hits among which an explanation looks for the record.
const SEARCHED_HITS: usize = 200;

/// Reason for which a query does not return a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Absence {
    /// The query returns the record, at this place from 1.
    Listed {
        /// Place among the hits.
        place: usize,
        /// Relevance, 0 to 1; `None` for a query without words.
        relevance: Option<f64>,
    },
    /// The record was retired and has no successor.
    Retired {
        /// Time of the retirement.
        at: Timestamp,
    },
    /// A newer version replaced the record.
    Replaced {
        /// The current version, or the direct successor if none is current.
        by: Box<Record>,
    },
    /// The value of another source won against the record.
    Outvoted {
        /// The value that won.
        by: Box<Record>,
        /// True if the conflict is undecided.
        is_open: bool,
    },
    /// The record has expired.
    Expired {
        /// Time of the expiry.
        at: Timestamp,
    },
    /// Filters of the query exclude the record.
    Filtered {
        /// The filters, as they are written in a query.
        filters: Vec<String>,
    },
    /// The record is less relevant than the floor.
    Weak {
        /// Place among all hits, weak ones included, from 1.
        place: usize,
        /// Relevance, 0 to 1.
        relevance: f64,
    },
    /// The record is relevant, but more hits than were requested are before it.
    BelowLimit {
        /// Place among the relevant hits, from 1.
        place: usize,
        /// Relevance, 0 to 1; `None` for a query without words.
        relevance: Option<f64>,
    },
    /// The record is a near-duplicate of a hit.
    Grouped {
        /// The hit.
        under: Box<Ranked>,
    },
    /// The record has no word of the query, and its meaning is not among the most similar ones.
    NoCommonWord,
    /// The record has words of the query, but this number of hits is before it.
    Outranked {
        /// Number of hits before it.
        before: usize,
    },
}

impl Recall<'_> {
    /// Returns the name of another project of the store that has a record with this id, or a current record with this
    /// key. Looks into the first `most` projects.
    pub fn other_project_with(
        &self,
        given: &str,
        most: usize,
    ) -> Result<Option<ProjectName>, Fault> {
        let id: Option<RecordId> = given.parse().ok();
        let by_key = Filter::current(&[], self.engine.now()).key(given).limit(1);
        let projects = self.engine.records().projects()?.into_iter();
        let others = projects.filter(|name| *name != self.engine.project);
        for project in others.take(most) {
            let is_there = match id {
                Some(id) => match self.engine.store.get(&project, id) {
                    Ok(_) => true,
                    Err(StoreError::NotFound { .. }) => false,
                    Err(error) => return Err(error.into()),
                },
                None => self.engine.store.count(&project, &by_key)? > 0,
            };
            if is_there {
                return Ok(Some(project));
            }
        }
        Ok(None)
    }

    /// Explains why the query of a request does not return a record. The checks are in the order of the search: the
    /// state of the record, the filters, the relevance, the number of hits.
    ///
    /// Errors: those of [`Recall::search`].
    pub fn explain_absence(
        &self,
        request: &RecallRequest,
        record: &Record,
    ) -> Result<Absence, Fault> {
        let question = self.engine.redaction().redact_input(&request.question);
        let mut query = parse_query(&question, request.syntax, self.engine.now())?;
        let filter = self.merged_filter(&mut query, request)?;
        if let Some(past) = self.explain_past(record)? {
            return Ok(past);
        }
        let filters = self.failed_filters(record, &filter, &query.filters)?;
        if !filters.is_empty() {
            return Ok(Absence::Filtered { filters });
        }
        let all = RecallRequest {
            k: Some(SEARCHED_HITS),
            min_relevance: Some(0.0),
            ..request.clone()
        };
        let found = self.search(&all)?;
        let hits = found.hits;
        let floor = match (request.min_relevance, found.is_answered) {
            // No relevance reaches it.
            (None, false) => f64::INFINITY,
            (least, _) => least.unwrap_or(FLOOR),
        };
        if let Some(found) = explain_hit(request, floor, &hits, record) {
            return Ok(found);
        }
        let terms = QueryTerms::of(&query.text).terms;
        let mut own = stems(&record.text);
        own.extend(stems(record.key.as_deref().unwrap_or_default()));
        let has_word = terms.iter().any(|term| own.contains(term));
        Ok(match has_word || terms.is_empty() {
            true => Absence::Outranked { before: hits.len() },
            false => Absence::NoCommonWord,
        })
    }

    /// Explains a record that is not current; `None` for a current one.
    fn explain_past(&self, record: &Record) -> Result<Option<Absence>, Fault> {
        let now = self.engine.now();
        if record.is_current(now) {
            return Ok(None);
        }
        let Some(retired_at) = record.retired_at else {
            let at = record.expires_at.unwrap_or(now);
            return Ok(Some(Absence::Expired { at }));
        };
        let Some(successor) = record.replaced_by else {
            return Ok(Some(Absence::Retired { at: retired_at }));
        };
        let chain = self.engine.records().history(record.id)?;
        let current = chain.iter().find(|one| one.is_current(now));
        let by = match current {
            Some(current) => current.clone(),
            None => self.engine.records().get(successor)?,
        };
        let by = Box::new(by);
        let lost = Knowledge::from_record(record).ok().filter(|k| k.conflict);
        Ok(Some(match lost {
            Some(knowledge) => Absence::Outvoted {
                by,
                is_open: knowledge.arbitrated.is_none(),
            },
            None => Absence::Replaced { by },
        }))
    }

    /// Returns the filters that exclude a current record. The store checks each alone.
    fn failed_filters(
        &self,
        record: &Record,
        filter: &Filter,
        filters: &QueryFilters,
    ) -> Result<Vec<String>, Fault> {
        if !filters.includes_records() {
            return Ok(vec!["kind:message".to_owned()]);
        }
        let mut failed = Vec::new();
        for (name, part) in filter_parts(filter, self.engine.now()) {
            if self.engine.records().count(&part.ids(vec![record.id]))? == 0 {
                failed.push(name);
            }
        }
        Ok(failed)
    }
}

/// Returns each part of a filter as a filter of its own, with its form in a query.
fn filter_parts(filter: &Filter, now: Timestamp) -> Vec<(String, Filter)> {
    let base = || Filter::current(&[], now);
    let mut parts = Vec::new();
    if !filter.kinds.is_empty() {
        let names: Vec<_> = filter.kinds.iter().map(|kind| kind.as_str()).collect();
        let name = format!("kind:{}", names.join(","));
        parts.push((name, Filter::current(&filter.kinds, now)));
    }
    for (at, (name, value)) in filter.scope.names().into_iter().enumerate() {
        let Some(value) = value else { continue };
        let mut part = base();
        if let Some(slot) = part.scope.names_mut().into_iter().nth(at) {
            *slot = Some(value.to_owned());
        }
        parts.push((format!("{name}:{value}"), part));
    }
    if let Some(category) = &filter.category {
        parts.push((format!("category:{category}"), base().category(category)));
    }
    if let Some(key) = &filter.key {
        parts.push((format!("key:{key}"), base().key(key)));
    }
    if let Some(source) = &filter.source {
        let mut part = base();
        part.source = Some(source.clone());
        parts.push((format!("source:{source}"), part));
    }
    if let Some(from) = filter.recorded_from {
        let mut part = base();
        part.recorded_from = Some(from);
        parts.push((format!("after:{from}"), part));
    }
    if let Some(before) = filter.recorded_before {
        let mut part = base();
        part.recorded_before = Some(before);
        parts.push((format!("before:{before}"), part));
    }
    parts
}

/// Explains a record that is among the hits, or is grouped under one; `None` for another one.
fn explain_hit(
    request: &RecallRequest,
    floor: f64,
    hits: &[Ranked],
    record: &Record,
) -> Option<Absence> {
    let is_record = |hit: &Ranked| hit.item.id() == record.id;
    let Some(at) = hits.iter().position(is_record) else {
        let under = hits
            .iter()
            .find(|hit| hit.duplicates.contains(&record.id))?;
        let under = Box::new(under.clone());
        return Some(Absence::Grouped { under });
    };
    let relevance = hits.get(at).and_then(|hit| hit.relevance);
    let mut relevant = hits.iter().filter(|hit| is_relevant(hit, floor));
    let k = request
        .k
        .unwrap_or(heirloom_model::limits::RECALL_HITS_DEFAULT);
    Some(match relevant.position(is_record) {
        Some(at) if at < k => Absence::Listed {
            place: at + 1,
            relevance,
        },
        Some(at) => Absence::BelowLimit {
            place: at + 1,
            relevance,
        },
        None => Absence::Weak {
            place: at + 1,
            relevance: relevance.unwrap_or_default(),
        },
    })
}
