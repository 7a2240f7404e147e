//! What was learned before: mistakes with their fixes, strategies that worked; and what memory has for a question.

use super::super::Engine;
use super::super::outcome::SUCCEEDED;
use super::super::recall::{Arms, Reading, RecallRequest};
use super::Asking;
use crate::recall::{Item, Ranked};
use heirloom_model::kinds::{CATEGORY_LEARNING, EpisodeAction, Mistake};
use heirloom_model::section::{Offer, Origin, Section};
use heirloom_model::{Fault, Kind, Record, RecordId, Scope, limits, mark, text};
use heirloom_store::Filter;
use std::collections::HashSet;

impl Engine {
    /// Mistakes with their fixes and strategies that worked: what the task's words find first, then the newest.
    pub(super) fn learned(&self, asking: &Asking<'_>) -> Result<Section, Fault> {
        let most = limits::CONTEXT_LEARNINGS_MAX;
        let pool = limits::CONTEXT_LESSONS_MAX;
        let newest = Filter::current(&[Kind::Error], self.now())
            .state(Mistake::RESOLVED)
            .limit(pool);
        let mut mended = self.find(&newest)?;
        let mut seen: HashSet<RecordId> = asking.said.clone();
        let mut offers = Vec::new();
        for (record, score) in self.found_by_words(asking, &mended)? {
            offers.extend(lesson(&record, &mut seen, Some(score)));
        }
        let told = Filter::current(&[Kind::Knowledge], self.now())
            .category(CATEGORY_LEARNING)
            .limit(most);
        mended.truncate(most);
        for record in [mended, self.find(&told)?].concat() {
            offers.extend(lesson(&record, &mut seen, None));
        }
        offers.truncate(most);
        Ok(Section {
            name: "learnings".to_owned(),
            heading: "Learned before".to_owned(),
            offers,
            ..Section::default()
        })
    }

    /// What the words find among mistakes and strategies: all of them for somebody's question, else the newest, of which
    /// `mended` are the mistakes. Whatever a filter lets through is walked, and who begins a session asks nothing.
    fn found_by_words(
        &self,
        asking: &Asking<'_>,
        mended: &[Record],
    ) -> Result<Vec<(Record, f64)>, Fault> {
        if asking.words.trim().is_empty() {
            return Ok(Vec::new());
        }
        let mut among = Vec::new();
        if asking.request.query.is_none() {
            let tries = Filter::current(&[Kind::Episode], self.now());
            let tries = self.find(&tries.limit(limits::CONTEXT_LESSONS_MAX))?;
            among.extend(mended.iter().chain(&tries).map(|record| record.id));
            if among.is_empty() {
                return Ok(Vec::new());
            }
        }
        let found = self.recall(&RecallRequest {
            question: asking.words.clone(),
            reading: Reading::Words,
            k: Some(2 * limits::CONTEXT_LEARNINGS_MAX),
            // Knowledge is most of what there is.
            kinds: vec![Kind::Error, Kind::Episode],
            among,
            near: Scope {
                task: asking.request.task.clone(),
                ..Scope::default()
            },
            // Whoever waits for a prompt does not wait for vectors to be read.
            arms: Arms::Words,
            ..RecallRequest::default()
        })?;
        let mut records = Vec::with_capacity(found.hits.len());
        for hit in found.hits {
            if let Item::Record(record) = hit.item {
                records.push((*record, hit.parts.total));
            }
        }
        Ok(records)
    }

    /// What memory has for the prompt's own question, best first.
    pub(super) fn recalled_for_prompt(&self, asking: &Asking<'_>) -> Result<Section, Fault> {
        let Some(query) = &asking.request.query else {
            return Ok(Section::default());
        };
        let found = self.recall(&RecallRequest {
            question: query.clone(),
            reading: Reading::Words,
            k: Some(limits::CONTEXT_RECALL_HITS),
            near: Scope {
                task: asking.request.task.clone(),
                ..Scope::default()
            },
            arms: Arms::Words,
            ..RecallRequest::default()
        })?;
        let new = found
            .hits
            .iter()
            .filter(|hit| !asking.said.contains(&hit.item.id()));
        let offer = |hit: &Ranked| Offer {
            origin: match &hit.item {
                Item::Record(record) => Origin::Record(record.id),
                Item::Turn { .. } => Origin::Nowhere,
            },
            text: text::one_line(hit.item.text()),
            score: Some(hit.parts.total),
            ..Offer::default()
        };
        Ok(Section {
            name: "recall".to_owned(),
            heading: "Recalled".to_owned(),
            offers: new.map(offer).collect(),
            notes: found.notes,
            ..Section::default()
        })
    }
}

/// What a record teaches, unless it was said.
fn lesson(record: &Record, seen: &mut HashSet<RecordId>, score: Option<f64>) -> Option<Offer> {
    if mark::is_muted(&record.attrs) || seen.contains(&record.id) {
        return None;
    }
    let words = match record.kind {
        Kind::Error if record.attr_str("state") == Some(Mistake::RESOLVED) => {
            let fix = record.attr_str("resolution")?;
            // Nobody said what helped.
            if fix == SUCCEEDED || fix.starts_with(&format!("{SUCCEEDED} in iteration ")) {
                return None;
            }
            format!("{} → fixed by: {fix}", text::one_line(&record.text))
        }
        Kind::Episode if record.attr_str("action") == Some(EpisodeAction::Completed.as_str()) => {
            format!("worked: {}", record.attr_str("approach")?)
        }
        Kind::Knowledge if record.category() == Some(CATEGORY_LEARNING) => record.text.clone(),
        Kind::Error
        | Kind::Episode
        | Kind::Knowledge
        | Kind::Task
        | Kind::Step
        | Kind::Artifact
        | Kind::Output
        | Kind::Note
        | Kind::Summary => return None,
    };
    seen.insert(record.id);
    Some(Offer {
        origin: Origin::Record(record.id),
        text: text::one_line(&words),
        score,
        frame: None,
    })
}
