//! Reconciliation: decides which changes make the stored lessons of a conversation the wanted ones.

mod decision;

use super::lesson_drafts::{DraftWriter, LessonDraft, content_of};
use super::lesson_ledger::LessonLedger;
use super::lesson_source::LessonSource;
use super::{Coverage, LearnedConversation, replacement, reversal};
use crate::engine::{Engine, NewRecord};
use decision::Decision;
use heirloom_lessons::Lesson;
use heirloom_model::kinds::{ErrorRecord, Knowledge, StepState};
use heirloom_model::{Fault, Kind, KindData, Record, RecordId, Scope, limits, mark};
use heirloom_store::{AsOf, Change, Filter};
use std::collections::{BTreeMap, BTreeSet};

/// Effect of a lesson on the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LessonEffect {
    /// A new record.
    Create,
    /// A record gets new content, or is replaced.
    Change(RecordId),
    /// A record of another source is confirmed.
    Confirm(RecordId),
    /// Nothing: it is known, or another source knows better.
    Unchanged,
    /// Nothing, because a person took it back.
    Declined,
}

impl LessonEffect {
    /// Returns the effect of a lesson with several records.
    pub(super) fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unchanged, other) => other,
            (one, _) => one,
        }
    }
}

/// Decision on a lesson or on a stored record.
#[derive(Debug, Clone)]
pub(super) struct PlannedChange {
    /// Index of the lesson; `None` for a record that is no lesson any more.
    pub(super) lesson: Option<usize>,
    /// Identity of the lesson.
    pub(super) identity: Option<String>,
    pub(super) effect: LessonEffect,
    pub(super) change: Option<Change>,
    /// Record that a run stored which ended before it stored the ledger.
    pub(super) stored: Option<RecordId>,
}

/// Stored records of the ledger, and the decisions so far.
pub(super) struct Reconciliation<'r> {
    engine: &'r Engine,
    conversation: &'r LearnedConversation<'r>,
    ledger: &'r mut LessonLedger,
    /// Current records of the ledger, by identity.
    present: BTreeMap<String, Record>,
    /// Identities whose record was replaced by a person or another source, expired, or was retired by a later session.
    settled: BTreeSet<String>,
    /// Records that a change of this plan touches.
    touched: BTreeSet<RecordId>,
    /// Records of a run that ended before it stored the ledger, by identity.
    unlisted: BTreeMap<String, RecordId>,
    /// Identities of lessons that a later one of the conversation replaces.
    outdated: BTreeSet<String>,
    /// Retirements of further records that a lesson replaces.
    retirements: Vec<PlannedChange>,
}

impl<'r> Reconciliation<'r> {
    /// Reads the records of the ledger. A lesson that a person reverted is declined.
    pub(super) fn new(
        engine: &'r Engine,
        conversation: &'r LearnedConversation<'r>,
        ledger: &'r mut LessonLedger,
    ) -> Result<Self, Fault> {
        let known: Vec<(String, RecordId)> = ledger
            .records()
            .map(|(identity, id)| (identity.clone(), id))
            .collect();
        let mut stored = BTreeMap::new();
        if !known.is_empty() {
            let filter = Filter {
                as_of: AsOf::Ever,
                ids: known.iter().map(|(_, id)| *id).collect(),
                ..Filter::current(&[], engine.now())
            };
            for record in engine.records().find(&filter)? {
                stored.insert(record.id, record);
            }
        }
        let mut reconciliation = Self {
            engine,
            conversation,
            ledger,
            present: BTreeMap::new(),
            settled: BTreeSet::new(),
            touched: BTreeSet::new(),
            unlisted: BTreeMap::new(),
            outdated: BTreeSet::new(),
            retirements: Vec::new(),
        };
        for (identity, id) in known {
            match stored.remove(&id) {
                Some(record) if record.is_current(engine.now()) => {
                    reconciliation.present.insert(identity, record);
                }
                // The record that replaced an error may know less: a hook closed it when the command passed.
                Some(record) if record.replaced_by.is_some() && record.kind == Kind::Error => {}
                Some(record) if !reversal::is_reverted(engine, &record)? => {
                    reconciliation.settled.insert(identity);
                }
                Some(_) | None => reconciliation.ledger.decline(&identity),
            }
        }
        Ok(reconciliation)
    }

    /// Returns the decisions on all lessons, and on records that are no lessons any more.
    pub(super) fn plan(mut self, lessons: &[Lesson]) -> Result<Vec<PlannedChange>, Fault> {
        let writer = DraftWriter::new(self.engine, self.conversation);
        let mut drafts = writer.drafts(lessons);
        if let Coverage::Only(identities) = &self.conversation.coverage {
            drafts.retain(|draft| identities.contains(&draft.identity));
        }
        self.find_unlisted(&drafts)?;
        self.outdated = replacement::replaced_drafts(&drafts);
        let wanted: BTreeSet<&str> = drafts.iter().map(|draft| &*draft.identity).collect();
        let mut planned = Vec::new();
        match self.conversation.coverage {
            Coverage::Everything => self.retire_unwanted(&wanted, None, &mut planned),
            // What is missing may be in the part that was not read, but not what a model dropped.
            Coverage::StoredTurns => {
                let dropped = writer.dropped_by_model(lessons);
                self.retire_unwanted(&wanted, Some(&dropped), &mut planned);
            }
            Coverage::Only(_) => {}
        }
        if drafts.iter().any(|draft| draft.record.kind == Kind::Step) {
            self.retire_earlier_plans(&drafts, &mut planned)?;
        }
        let has_task = |draft: &LessonDraft| draft.record.scope.task.is_some();
        let mut tasks = Vec::new();
        for draft in &drafts {
            let (effect, change) = self.decide(draft)?;
            if change.is_some() && has_task(draft) && tasks.is_empty() {
                tasks.push(PlannedChange {
                    lesson: None,
                    identity: None,
                    effect: LessonEffect::Unchanged,
                    change: (self.engine.tasks())
                        .known_task(self.conversation.task, self.conversation.source)?,
                    stored: None,
                });
            }
            planned.push(PlannedChange {
                lesson: Some(draft.lesson),
                identity: Some(draft.identity.clone()),
                effect,
                change,
                stored: self.unlisted.remove(&draft.identity),
            });
        }
        tasks.extend(planned);
        tasks.append(&mut self.retirements);
        Ok(tasks)
    }

    /// Finds the records of lessons that are not in the ledger: a run stored them and ended before it stored the ledger.
    fn find_unlisted(&mut self, drafts: &[LessonDraft]) -> Result<(), Fault> {
        let is_listed = |draft: &&LessonDraft| {
            self.present.contains_key(&draft.identity)
                || self.settled.contains(&draft.identity)
                || self.ledger.is_declined(&draft.identity)
        };
        let others: Vec<&LessonDraft> = drafts.iter().filter(|draft| !is_listed(draft)).collect();
        if others.is_empty() {
            return Ok(());
        }
        let filter = Filter {
            ids: others.iter().map(|draft| draft.record.id).collect(),
            ..Filter::current(&[], self.engine.now())
        };
        let found = self.engine.records().find(&filter)?;
        for record in found {
            if !self.is_ours(&record) {
                continue;
            }
            if let Some(draft) = others.iter().find(|draft| draft.record.id == record.id) {
                self.unlisted.insert(draft.identity.clone(), record.id);
                self.present.insert(draft.identity.clone(), record);
            }
        }
        Ok(())
    }

    fn is_ours(&self, record: &Record) -> bool {
        LessonSource::of_record(record)
            .is_some_and(|source| source.session == self.conversation.session)
    }

    /// Retires records that the conversation does not support any more, of all or of the given lessons.
    fn retire_unwanted(
        &mut self,
        wanted: &BTreeSet<&str>,
        only: Option<&BTreeSet<String>>,
        planned: &mut Vec<PlannedChange>,
    ) {
        for (identity, record) in &self.present {
            if wanted.contains(identity.as_str())
                || only.is_some_and(|only| !only.contains(identity))
                || !self.is_ours(record)
                || is_touched_by_person(record)
            {
                continue;
            }
            self.touched.insert(record.id);
            planned.push(self.retirement(Some(identity.clone()), record.id));
        }
    }

    /// Retires the pending steps of earlier plans: the newest plan of a task replaces them.
    fn retire_earlier_plans(
        &mut self,
        drafts: &[LessonDraft],
        planned: &mut Vec<PlannedChange>,
    ) -> Result<(), Fault> {
        let steps = drafts
            .iter()
            .filter(|draft| draft.record.kind == Kind::Step);
        let keys: BTreeSet<Option<&str>> = steps
            .clone()
            .map(|draft| draft.record.key.as_deref())
            .collect();
        let newest = steps.map(|draft| draft.record.recorded_at).max();
        let mut filter = Filter::current(&[Kind::Step], self.engine.now())
            .state(StepState::Pending.as_str())
            .scope(Scope::of_task(self.conversation.task));
        filter.limit = limits::LESSON_RECORDS_MAX;
        for step in self.engine.records().find(&filter)? {
            let is_of_earlier_plan = LessonSource::is_in(&step)
                && !self.is_ours(&step)
                && newest.is_some_and(|newest| step.recorded_at <= newest);
            if is_of_earlier_plan
                && !keys.contains(&step.key.as_deref())
                && !is_touched_by_person(&step)
            {
                planned.push(self.retirement(None, step.id));
            }
        }
        Ok(())
    }

    /// Retires further records that a lesson replaces.
    fn retire_replaced(&mut self, replaced: Vec<Record>) {
        for record in replaced {
            self.touched.insert(record.id);
            let retirement = self.retirement(None, record.id);
            self.retirements.push(retirement);
        }
    }

    fn retirement(&self, identity: Option<String>, id: RecordId) -> PlannedChange {
        PlannedChange {
            lesson: None,
            identity,
            effect: LessonEffect::Unchanged,
            change: Some(Change::Retire {
                id,
                at: self.engine.now(),
                by: self.conversation.source.to_owned(),
            }),
            stored: None,
        }
    }

    fn decide(&mut self, draft: &LessonDraft) -> Result<(LessonEffect, Option<Change>), Fault> {
        const UNCHANGED: (LessonEffect, Option<Change>) = (LessonEffect::Unchanged, None);
        if self.ledger.is_declined(&draft.identity) {
            return Ok((LessonEffect::Declined, None));
        }
        if self.settled.contains(&draft.identity) {
            return Ok(UNCHANGED);
        }
        if let Some(known) = self.present.get(&draft.identity) {
            let is_same = content_of(known) == content_of(&draft.record);
            return Ok(
                match is_same || !self.is_ours(known) || is_touched_by_person(known) {
                    true => UNCHANGED,
                    false => revision(known, draft),
                },
            );
        }
        if self.outdated.contains(&draft.identity) {
            return Ok(UNCHANGED);
        }
        let decided = match draft.record.kind {
            Kind::Knowledge => self.knowledge(draft)?,
            Kind::Error => self.error(draft)?,
            Kind::Episode => self.episode(draft)?,
            Kind::Task
            | Kind::Step
            | Kind::Artifact
            | Kind::Output
            | Kind::Note
            | Kind::Summary => Decision::Create,
        };
        Ok(match decided {
            Decision::Nothing => UNCHANGED,
            // The message is one of a conversation that this one repeats, so it confirms nothing.
            Decision::Confirm(known) if LessonSource::is_of_same_message(&known, &draft.record) => {
                UNCHANGED
            }
            Decision::Create => self.creation(draft)?,
            Decision::Merge(id) => (LessonEffect::Change(id), Some(put(draft))),
            Decision::Revise(known) => {
                self.touched.insert(known.id);
                revision(&known, draft)
            }
            // A run that ended before it stored the ledger confirmed it.
            Decision::Confirm(known) if is_confirmed_by(&known, draft) => {
                self.unlisted.insert(draft.identity.clone(), known.id);
                UNCHANGED
            }
            Decision::Confirm(known) => match self.touched.insert(known.id) {
                true => (
                    LessonEffect::Confirm(known.id),
                    self.confirmation(&known, draft),
                ),
                // Another lesson of the session states the same.
                false => UNCHANGED,
            },
        })
    }

    /// Returns the change that creates a record, or restores one that an earlier run retired.
    fn creation(&self, draft: &LessonDraft) -> Result<(LessonEffect, Option<Change>), Fault> {
        let id = draft.record.id;
        let filter = Filter {
            as_of: AsOf::Ever,
            ids: vec![id],
            ..Filter::current(&[], self.engine.now())
        };
        Ok(match self.engine.records().find(&filter)?.pop() {
            None => (LessonEffect::Create, Some(put(draft))),
            Some(known) if known.retired_at.is_some() && known.replaced_by.is_none() => {
                let restore = Change::Restore {
                    id,
                    at: self.engine.now(),
                    by: self.conversation.source.to_owned(),
                };
                (LessonEffect::Create, Some(restore))
            }
            // A copy of the conversation taught it.
            Some(_) => (LessonEffect::Unchanged, None),
        })
    }

    /// Returns the change that confirms a record in the name of the lesson's source.
    fn confirmation(&self, known: &Record, draft: &LessonDraft) -> Option<Change> {
        let new = NewRecord {
            text: known.text.clone(),
            category: known.category().map(str::to_owned),
            key: known.key.clone(),
            rationale: draft.record.attr_str("rationale").map(str::to_owned),
            source: Some(draft.record.source.clone()),
            scope: known.scope.clone(),
            ..NewRecord::default()
        };
        let mut change = self.engine.records().change_of(&new).ok()?;
        if let Change::Put { record, .. } = &mut change
            && Knowledge::from_record(known)
                .is_ok_and(|typed| typed.confirmed_at < Some(draft.record.recorded_at))
        {
            // The time of the message, by which a repetition knows its confirmation.
            record.recorded_at = draft.record.recorded_at;
        }
        Some(change)
    }
}

fn put(draft: &LessonDraft) -> Change {
    Change::Put {
        record: draft.record.clone(),
        merge: draft.merge,
    }
}

/// Returns the change that replaces a record by a lesson.
fn revision(known: &Record, draft: &LessonDraft) -> (LessonEffect, Option<Change>) {
    let mut record = draft.record.clone();
    if record.kind == Kind::Error
        && let (Ok(before), Ok(mut now)) = (
            ErrorRecord::from_record(known),
            ErrorRecord::from_record(&record),
        )
    {
        // The occurrences and the scope of the error stay.
        now.repeats = before.repeats;
        now.repeated_at = before.repeated_at;
        for (name, value) in before.extra {
            now.extra.entry(name).or_insert(value);
        }
        record.attrs = now.to_attrs();
        record.scope.clone_from(&known.scope);
        record.true_from = known.true_from.or(Some(known.recorded_at));
    }
    let change = Change::Revise {
        id: known.id,
        record,
    };
    (LessonEffect::Change(known.id), Some(change))
}

/// Returns true if the last confirmation of a record is that of this lesson.
fn is_confirmed_by(known: &Record, draft: &LessonDraft) -> bool {
    Knowledge::from_record(known)
        .is_ok_and(|typed| typed.confirmed_at == Some(draft.record.recorded_at))
}

/// Returns true if a person marked or confirmed a record.
pub(super) fn is_touched_by_person(record: &Record) -> bool {
    let confirmations = record.attrs.get("confirmations");
    mark::is_pinned(&record.attrs)
        || mark::is_muted(&record.attrs)
        || mark::useful_count(&record.attrs) != 0
        || confirmations.is_some_and(|count| count.as_u64() != Some(0))
}
