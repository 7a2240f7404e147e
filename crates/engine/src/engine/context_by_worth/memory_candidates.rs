//! Memory candidates: the records that Session Memory may show, with their ratings.

use super::WorthBuilder;
use super::record_worth::RecordRater;
use crate::engine::context::item_text::{error_item, fact_item, meaning_item};
use crate::engine::context::{
    ContextRequest, RULE_CATEGORIES, is_eligible, is_standing_rule, outdated_records,
};
use heirloom_model::context::{ContextItem, ErrorItem, MemoryView};
use heirloom_model::kinds::{CATEGORY_DECISION, CATEGORY_LEARNING};
use heirloom_model::rating::{Rating, Tier};
use heirloom_model::{Fault, Kind, Record, RecordId, Scope, limits};
use heirloom_search::recall::{Ranked, RecallItem};
use heirloom_store::Filter;
use std::collections::{BTreeMap, HashSet};

/// Worth of an open error of the task itself.
const OWN_ERROR_WORTH: f64 = 0.5;

/// Records of a section with their ratings, in the order of their ids.
type RatedRecords = BTreeMap<RecordId, (Record, Rating)>;

/// Candidates of Session Memory.
pub(super) struct MemoryCandidates {
    pub(super) view: MemoryView,
    /// Hits that no part of Session Memory has.
    pub(super) rest: Vec<Ranked>,
    /// Records that Session Memory considers.
    pub(super) considered: HashSet<RecordId>,
}

impl WorthBuilder<'_> {
    /// Distributes the hits over the parts of Session Memory and adds the newest records. `tail_chars` is the space
    /// for older facts. Statements that a later or pinned one contradicts, and ended records, are left out.
    pub(super) fn memory_candidates(
        &self,
        mut view: MemoryView,
        pinned: &[Record],
        hits: Vec<Ranked>,
        task: &str,
        rater: &RecordRater,
        tail_chars: usize,
    ) -> Result<MemoryCandidates, Fault> {
        let few = limits::CONTEXT_NEWEST;
        let mut considered: HashSet<RecordId> = considered_records(&view);
        let (mut decisions, mut facts) = (RatedRecords::new(), RatedRecords::new());
        let mut rest = Vec::new();
        for hit in hits {
            if considered.contains(&hit.item.id()) {
                continue;
            }
            match hit.item {
                RecallItem::Record(record) if record.kind == Kind::Knowledge => {
                    considered.insert(record.id);
                    let rating = rater.rate(&record);
                    let of = match record.category() {
                        Some(CATEGORY_DECISION) => &mut decisions,
                        Some(_) | None => &mut facts,
                    };
                    of.insert(record.id, (*record, rating));
                }
                RecallItem::Record(_) | RecallItem::Turn { .. } => rest.push(hit),
            }
        }
        let (newest, more) = self.engine.contexts().newest_knowledge(
            Some(CATEGORY_DECISION),
            self.engine.settings.max_entries.max(few),
        )?;
        view.has_more_decisions = more;
        add_newest(&mut decisions, newest, &mut considered, rater);
        let learnings = self
            .engine
            .contexts()
            .newest_knowledge(Some(CATEGORY_LEARNING), few)?
            .0;
        add_newest(&mut facts, learnings, &mut considered, rater);
        let own = Filter::current(&[Kind::Knowledge], self.engine.now())
            .holds_at(self.engine.now())
            .scope(Scope::of_task(task))
            .except_category(CATEGORY_DECISION)
            .limit(few);
        let mut own = self.engine.records().find(&own)?;
        own.reverse();
        add_newest(&mut facts, own, &mut considered, rater);
        // Without a floor, older facts follow at the end anyway.
        let rules = RULE_CATEGORIES.iter().filter(|_| rater.has_floor());
        for category in rules {
            let most = self.engine.settings.max_entries.max(few);
            let found = self
                .engine
                .contexts()
                .newest_knowledge(Some(*category), most)?;
            let rules = found.0.into_iter().filter(is_standing_rule);
            add_newest(&mut facts, rules.collect(), &mut considered, rater);
        }
        let (newest, more) = match tail_chars {
            0 => self.engine.contexts().newest_knowledge(None, few)?,
            chars => self.engine.contexts().newest_facts(chars)?,
        };
        view.has_more_facts = more;
        add_newest(&mut facts, newest, &mut considered, rater);
        let records = decisions.values().chain(facts.values());
        let outdated = outdated_records(records.map(|(record, _)| record).chain(pinned));
        let records = decisions.values().chain(facts.values());
        let ended = self.ended.among(records.map(|(record, _)| record))?;
        let is_told = |id: &RecordId| !outdated.contains(id) && !ended.contains(id);
        decisions.retain(|id, _| is_told(id));
        facts.retain(|id, _| is_told(id));
        view.decisions = decisions
            .into_values()
            .map(|(record, rating)| ContextItem {
                rating,
                ..meaning_item(&record)
            })
            .collect();
        view.facts = facts.into_values().map(rated_fact).collect();
        Ok(MemoryCandidates {
            view,
            rest,
            considered,
        })
    }
}

/// Adds the newest records: the first ones compete, older ones follow at the end. `newest` is oldest first.
fn add_newest(
    rated: &mut RatedRecords,
    newest: Vec<Record>,
    considered: &mut HashSet<RecordId>,
    rater: &RecordRater,
) {
    for (age, record) in newest.into_iter().rev().enumerate() {
        if !is_eligible(&record) || !considered.insert(record.id) {
            continue;
        }
        let mut rating = rater.rate(&record);
        if age >= limits::CONTEXT_NEWEST {
            rating.tier = Tier::Tail;
        }
        rated.insert(record.id, (record, rating));
    }
}

fn rated_fact((record, rating): (Record, Rating)) -> ContextItem {
    let is_learning = record.category() == Some(CATEGORY_LEARNING);
    ContextItem {
        rating,
        is_learning,
        ..fact_item(record)
    }
}

/// Returns an open error: one of the task itself is included even if it is not relevant to the question.
pub(super) fn rated_error(
    error: Record,
    request: &ContextRequest,
    rater: &RecordRater,
) -> ErrorItem {
    let is_own = request.task.is_some() && error.scope.task == request.task;
    let rating = match is_own {
        true => rater.rate_own(&error, OWN_ERROR_WORTH, Tier::Exempt),
        false => rater.rate(&error),
    };
    ErrorItem {
        rating,
        ..error_item(error)
    }
}

/// Returns the records that the task part and the open errors have.
fn considered_records(view: &MemoryView) -> HashSet<RecordId> {
    let task = view.task.iter().flat_map(|task| {
        let lists = [&task.completed, &task.pending, &task.files];
        lists
            .into_iter()
            .flatten()
            .filter_map(|item| item.id)
            .chain(task.id)
    });
    let lists = [&view.pinned, &view.attempts, &view.artifacts];
    let items = lists.into_iter().flatten().filter_map(|item| item.id);
    let errors = view.errors.iter().filter_map(|error| error.id);
    task.chain(items).chain(errors).collect()
}
