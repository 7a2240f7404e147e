//! Memory of a person: an engine with a store of its own, whose records are never written into a project's store.

use super::Engine;
use super::recall::{NOTHING_RELEVANT, RecallReport, RecallRequest};
use crate::engine::Contexts;
use crate::engine::Recall;
use heirloom_model::section::{Offer, Origin, Section};
use heirloom_model::{Fault, Kind, Record, limits, mark};
use heirloom_search::recall::{Ranked, RecallItem, fill_budget_mmr};
use heirloom_store::Filter;

/// Owner of the memory that a hit is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryOwner {
    /// The project.
    Project,
    /// The person.
    User,
}

impl Contexts<'_> {
    /// Returns this memory's section for the prompts of any project: pinned records first, then the newest.
    /// Proposals, and muted, disputed or invalid records are left out.
    pub fn user_section(&self) -> Result<Section, Fault> {
        let now = self.engine.now();
        let filter = Filter {
            holds_at: Some(now),
            ..Filter::current(&[Kind::Knowledge], now).limit(limits::USER_RECORDS_MAX)
        };
        let mut records = self.engine.records().find(&Filter {
            pinned: true,
            ..filter.clone()
        })?;
        for record in self.engine.records().find(&filter)? {
            if !records.iter().any(|known| known.id == record.id) {
                records.push(record);
            }
        }
        records.retain(is_shown);
        records.truncate(limits::USER_RECORDS_MAX);
        let offers = records.into_iter().map(|record| Offer {
            origin: Origin::Record(record.id),
            text: record.text,
            ..Offer::default()
        });
        Ok(Section {
            name: "user".to_owned(),
            heading: "## About the Person".to_owned(),
            offers: offers.collect(),
            ..Section::default()
        })
    }
}

impl Recall<'_> {
    /// Searches as [`Recall::search`] in this memory and in the attached memory of the person.
    pub fn search_all(
        &self,
        request: &RecallRequest,
    ) -> Result<(RecallReport, Vec<MemoryOwner>), Fault> {
        match &self.engine.user {
            Some(user) => self.search_with(user, request),
            None => {
                let recalled = self.search(request)?;
                let owners = vec![MemoryOwner::Project; recalled.hits.len()];
                Ok((recalled, owners))
            }
        }
    }

    /// Searches as [`Recall::search`] in this memory and in a person's; by score, ties in favour of the project. A
    /// failure of the person's memory becomes a note.
    pub fn search_with(
        &self,
        user: &Engine,
        request: &RecallRequest,
    ) -> Result<(RecallReport, Vec<MemoryOwner>), Fault> {
        let mut recalled = self.search(request)?;
        let mut hits: Vec<(Ranked, MemoryOwner)> = recalled
            .hits
            .drain(..)
            .map(|hit| (hit, MemoryOwner::Project))
            .collect();
        match user.recall().search(request) {
            Ok(own) => {
                recalled.took_us += own.took_us;
                recalled.weak += own.weak;
                recalled.is_answered |= own.is_answered;
                recalled.notes.retain(|note| note != NOTHING_RELEVANT);
                let shown = own.hits.into_iter().filter(|hit| match &hit.item {
                    RecallItem::Record(record) => is_shown(record),
                    RecallItem::Turn { .. } => true,
                });
                hits.extend(shown.map(|hit| (hit, MemoryOwner::User)));
                // A person's memory has no conversations.
            }
            Err(fault) => recalled.notes.push(format!(
                "your own memory cannot be searched: {}",
                fault.message
            )),
        }
        hits.sort_by(|(a, whose_a), (b, whose_b)| {
            let by_score = b.breakdown.total.total_cmp(&a.breakdown.total);
            by_score.then_with(|| (whose_a, a.item.id()).cmp(&(whose_b, b.item.id())))
        });
        let k = request.k.unwrap_or(match request.budget_tokens {
            Some(_) => limits::RECALL_HITS_MAX,
            None => limits::RECALL_HITS_DEFAULT,
        });
        hits.truncate(k);
        let owners: std::collections::HashMap<_, _> = hits
            .iter()
            .map(|(hit, owners)| (hit.item.id(), *owners))
            .collect();
        let hits: Vec<Ranked> = hits.into_iter().map(|(hit, _)| hit).collect();
        if hits.is_empty() && recalled.weak > 0 {
            recalled.notes.push(NOTHING_RELEVANT.to_owned());
        }
        recalled.hits = match request.budget_tokens {
            Some(budget) => fill_budget_mmr(hits, budget),
            None => hits,
        };
        let of = |hit: &Ranked| {
            owners
                .get(&hit.item.id())
                .copied()
                .unwrap_or(MemoryOwner::Project)
        };
        let owners = recalled.hits.iter().map(of).collect();
        Ok((recalled, owners))
    }
}

/// Returns true if a record of the person's memory is shown to projects: unless it is muted or a proposal.
fn is_shown(record: &Record) -> bool {
    let muted = record
        .attrs
        .get(mark::MUTED)
        .and_then(serde_json::Value::as_bool);
    muted != Some(true) && !record.is_proposal()
}
