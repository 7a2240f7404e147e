//! A person's own memory beside a project's: an engine over a store of its own, which no project's data leaves from.

use super::Engine;
use super::recall::{RecallRequest, Recalled};
use crate::recall::{Item, Ranked, fill};
use heirloom_model::kinds::Knowledge;
use heirloom_model::section::{Offer, Origin, Section};
use heirloom_model::{Fault, Kind, KindData, Record, limits, mark};
use heirloom_store::Filter;

/// Whose memory a hit is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    /// The project's.
    Project,
    /// The person's own.
    User,
}

impl Engine {
    /// What this memory, a person's own, has for a prompt of any project: pinned first, then the newest. Neither
    /// proposals nor what is muted, disputed or does not hold now.
    pub fn user_section(&self) -> Result<Section, Fault> {
        let now = self.now();
        let filter = Filter {
            holds_at: Some(now),
            ..Filter::current(&[Kind::Knowledge], now).limit(limits::USER_RECORDS_MAX)
        };
        let mut records = self.find(&Filter {
            pinned: true,
            ..filter.clone()
        })?;
        for record in self.find(&filter)? {
            if !records.iter().any(|known| known.id == record.id) {
                records.push(record);
            }
        }
        records.retain(is_told);
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

    /// As [`Engine::recall`], over this memory and the person's own that stands beside it, if there is one.
    pub fn recall_all(&self, request: &RecallRequest) -> Result<(Recalled, Vec<Whose>), Fault> {
        match &self.user {
            Some(user) => self.recall_with(user, request),
            None => {
                let recalled = self.recall(request)?;
                let whose = vec![Whose::Project; recalled.hits.len()];
                Ok((recalled, whose))
            }
        }
    }

    /// As [`Engine::recall`], over this memory and a person's own: by score, the best first; on a tie the project's
    /// first. Whatever is wrong with the person's own memory is a note.
    pub fn recall_with(
        &self,
        user: &Self,
        request: &RecallRequest,
    ) -> Result<(Recalled, Vec<Whose>), Fault> {
        let mut recalled = self.recall(request)?;
        let mut hits: Vec<(Ranked, Whose)> = recalled
            .hits
            .drain(..)
            .map(|hit| (hit, Whose::Project))
            .collect();
        match user.recall(request) {
            Ok(own) => {
                recalled.took_us += own.took_us;
                let told = own.hits.into_iter().filter(|hit| match &hit.item {
                    Item::Record(record) => is_told(record),
                    Item::Turn { .. } => true,
                });
                hits.extend(told.map(|hit| (hit, Whose::User)));
            }
            Err(fault) => recalled.notes.push(format!(
                "your own memory cannot be asked: {}",
                fault.message
            )),
        }
        hits.sort_by(|(a, whose_a), (b, whose_b)| {
            let by_score = b.parts.total.total_cmp(&a.parts.total);
            by_score.then_with(|| (whose_a, a.item.id()).cmp(&(whose_b, b.item.id())))
        });
        let k = request.k.unwrap_or(match request.budget_tokens {
            Some(_) => limits::RECALL_HITS_MAX,
            None => limits::RECALL_HITS_DEFAULT,
        });
        hits.truncate(k);
        let whose: std::collections::HashMap<_, _> = hits
            .iter()
            .map(|(hit, whose)| (hit.item.id(), *whose))
            .collect();
        let hits = hits.into_iter().map(|(hit, _)| hit).collect();
        recalled.hits = match request.budget_tokens {
            Some(budget) => fill(hits, budget),
            None => hits,
        };
        let of = |hit: &Ranked| whose.get(&hit.item.id()).copied().unwrap_or(Whose::Project);
        let whose = recalled.hits.iter().map(of).collect();
        Ok((recalled, whose))
    }
}

/// Whether a record of a person's own memory is told to projects: what an agent proposed is not before it was accepted.
fn is_told(record: &Record) -> bool {
    let muted = record
        .attrs
        .get(mark::MUTED)
        .and_then(serde_json::Value::as_bool);
    muted != Some(true) && !Knowledge::of(record).is_ok_and(|knowledge| knowledge.proposal)
}
