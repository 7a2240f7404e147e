//! Reconciliation: decides which changes make the stored lessons of a conversation the wanted ones.

use super::LearnedConversation;
use super::contradiction;
use super::lesson_drafts::{DraftWriter, LessonDraft, content_of, has_derived_key};
use super::lesson_ledger::LessonLedger;
use super::lesson_source::LessonSource;
use crate::engine::{DedupMode, Engine, NewRecord, QuerySyntax, RecallRequest};
use heirloom_lessons::Lesson;
use heirloom_model::kinds::{ErrorRecord, StepState};
use heirloom_model::record_meaning::known_resolution;
use heirloom_model::similarity::{ComparableText, has_same_words};
use heirloom_model::{Authority, Fault, Kind, KindData, Record, RecordId, Scope, limits, mark};
use heirloom_search::recall::RecallItem;
use heirloom_store::{AsOf, Change, Filter};
use std::collections::{BTreeMap, BTreeSet};

/// Number of similar records that a new lesson is compared with.
const NEIGHBOURS: usize = 8;

/// Words of resolutions that earlier versions wrote without knowing what helped.
const AUTOMATIC: [&str; 2] = ["` worked", "it worked "];

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
}

/// Stored records of the ledger, and the decisions so far.
pub(super) struct Reconciliation<'r> {
    engine: &'r Engine,
    conversation: &'r LearnedConversation<'r>,
    ledger: &'r mut LessonLedger,
    /// Current records of the ledger, by identity.
    present: BTreeMap<String, Record>,
    /// Identities whose record was replaced by a person or another source.
    settled: BTreeSet<String>,
    /// Records that a change of this plan touches.
    touched: BTreeSet<RecordId>,
}

impl<'r> Reconciliation<'r> {
    /// Reads the records of the ledger. One that a person retired is declined.
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
        };
        for (identity, id) in known {
            match stored.remove(&id) {
                Some(record) if record.is_current(engine.now()) => {
                    reconciliation.present.insert(identity, record);
                }
                Some(record) if record.replaced_by.is_some() => {
                    reconciliation.settled.insert(identity);
                }
                Some(_) | None => reconciliation.ledger.decline(&identity),
            }
        }
        Ok(reconciliation)
    }

    /// Returns the decisions on all lessons, and on records that are no lessons any more.
    pub(super) fn plan(mut self, lessons: &[Lesson]) -> Result<Vec<PlannedChange>, Fault> {
        let drafts = DraftWriter::new(self.engine, self.conversation).drafts(lessons);
        let wanted: BTreeSet<&str> = drafts.iter().map(|draft| &*draft.identity).collect();
        let mut planned = Vec::new();
        if self.conversation.is_whole {
            self.retire_unwanted(&wanted, &mut planned);
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
                    change: Some(
                        self.engine
                            .tasks()
                            .known_task(self.conversation.task, self.conversation.source)?,
                    ),
                });
            }
            planned.push(PlannedChange {
                lesson: Some(draft.lesson),
                identity: Some(draft.identity.clone()),
                effect,
                change,
            });
        }
        tasks.extend(planned);
        Ok(tasks)
    }

    fn is_ours(&self, record: &Record) -> bool {
        LessonSource::of_record(record)
            .is_some_and(|source| source.session == self.conversation.session)
    }

    /// Retires records that the conversation does not support any more.
    fn retire_unwanted(&mut self, wanted: &BTreeSet<&str>, planned: &mut Vec<PlannedChange>) {
        for (identity, record) in &self.present {
            if wanted.contains(identity.as_str())
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
        filter.limit = super::RECORDS_READ;
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
            Decision::Create => self.creation(draft)?,
            Decision::Merge(id) => (LessonEffect::Change(id), Some(put(draft))),
            Decision::Revise(known) => {
                self.touched.insert(known.id);
                revision(&known, draft)
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

    fn current(&self, filter: Filter) -> Result<Option<Record>, Fault> {
        Ok(self.engine.records().find(&filter.limit(1))?.pop())
    }

    fn knowledge(&mut self, draft: &LessonDraft) -> Result<Decision, Fault> {
        let record = &draft.record;
        let now = self.engine.now();
        let mut filter = Filter::current(&[Kind::Knowledge], now);
        filter.category = record.category().map(str::to_owned);
        filter.key.clone_from(&record.key);
        if let Some(known) = self.current(filter)? {
            let is_lower = Authority::of_record(record) < Authority::of_record(&known);
            return Ok(match has_same_words(&known.text, &record.text) {
                true => Decision::Confirm(Box::new(known)),
                false if is_lower => Decision::Nothing,
                // Of two lessons the newer one is true.
                false if LessonSource::is_in(&known) => {
                    match known.recorded_at <= record.recorded_at {
                        true => Decision::Revise(Box::new(known)),
                        false => Decision::Nothing,
                    }
                }
                false => Decision::Merge(known.id),
            });
        }
        let near = self.near_knowledge(&record.text)?;
        if has_derived_key(record) {
            let text = ComparableText::from_text(&record.text);
            let same = near.iter().find(|known| {
                has_same_words(&known.text, &record.text)
                    || text.is_near_duplicate(&ComparableText::from_text(&known.text))
            });
            if let Some(known) = same {
                return Ok(Decision::Confirm(Box::new(known.clone())));
            }
        }
        if draft.is_of_person {
            let negated = near
                .into_iter()
                .find(|known| contradiction::is_negated_by(known, record));
            if let Some(known) = negated.filter(|known| !self.touched.contains(&known.id)) {
                return Ok(Decision::Revise(Box::new(known)));
            }
        }
        Ok(Decision::Create)
    }

    /// Returns current knowledge with similar words.
    fn near_knowledge(&self, text: &str) -> Result<Vec<Record>, Fault> {
        let found = self.engine.recall().search_built_in(&RecallRequest {
            question: text.to_owned(),
            syntax: QuerySyntax::Words,
            k: Some(NEIGHBOURS),
            kinds: vec![Kind::Knowledge],
            dedup: DedupMode::Keep,
            min_relevance: Some(0.0),
            ..RecallRequest::default()
        })?;
        let records = found.hits.into_iter().filter_map(|hit| match hit.item {
            RecallItem::Record(record) => Some(*record),
            RecallItem::Turn { .. } => None,
        });
        Ok(records.collect())
    }

    fn error(&self, draft: &LessonDraft) -> Result<Decision, Fault> {
        let record = &draft.record;
        let mut filter = Filter::current(&[Kind::Error], self.engine.now());
        filter.key.clone_from(&record.key);
        let Some(known) = self.current(filter)? else {
            return Ok(Decision::Create);
        };
        let is_resolved = record.state() == Some(ErrorRecord::RESOLVED);
        let is_known_open = known.state() == Some(ErrorRecord::OPEN);
        let typed = ErrorRecord::from_record(&known).ok();
        let repeated_at = typed.and_then(|typed| typed.repeated_at);
        let has_recurred = repeated_at.is_some_and(|at| at > self.conversation.ended_at);
        let is_newer = known.recorded_at < record.recorded_at;
        Ok(match (is_resolved, is_known_open) {
            (true, true) if has_recurred => Decision::Nothing,
            (true, true) => Decision::Revise(Box::new(known)),
            (true, false) if is_automatic_resolution(&known) => Decision::Revise(Box::new(known)),
            (true, false) if LessonSource::is_in(&known) && is_newer => {
                Decision::Revise(Box::new(known))
            }
            // It occurred again after it was resolved.
            (false, false) if is_newer && !is_of_same_session(&known, record) => {
                Decision::Merge(known.id)
            }
            (true | false, true | false) => Decision::Nothing,
        })
    }

    /// An episode takes the place of the counts that a hook wrote at the end of the session.
    fn episode(&self, draft: &LessonDraft) -> Result<Decision, Fault> {
        let scope = Scope {
            session: Some(self.conversation.session.to_owned()),
            ..Scope::default()
        };
        let mut filter = Filter::current(&[Kind::Episode], self.engine.now()).scope(scope);
        filter.limit = limits::HOOK_SESSION_ITEMS_MAX;
        let found = self.engine.records().find(&filter)?.into_iter();
        let automatic = found.into_iter().find(|known| {
            !LessonSource::is_in(known)
                && known.key.is_none()
                && known.source == draft.record.source
                && !self.touched.contains(&known.id)
                && !is_touched_by_person(known)
        });
        Ok(automatic.map_or(Decision::Create, |known| Decision::Revise(Box::new(known))))
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
        self.engine.records().change_of(&new).ok()
    }
}

/// Decision on a lesson that the session has not stored yet.
enum Decision {
    Nothing,
    Create,
    /// The merge rule decides between it and this record.
    Merge(RecordId),
    /// It takes the place of this record.
    Revise(Box<Record>),
    /// It states the same as this record.
    Confirm(Box<Record>),
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

/// Returns true if a person marked or confirmed a record.
fn is_touched_by_person(record: &Record) -> bool {
    let confirmations = record.attrs.get("confirmations");
    mark::is_pinned(&record.attrs)
        || mark::is_muted(&record.attrs)
        || mark::useful_count(&record.attrs) != 0
        || confirmations.is_some_and(|count| count.as_u64() != Some(0))
}

/// Returns true if a program, and no person or agent, wrote the resolution of an error because a command passed later.
fn is_automatic_resolution(record: &Record) -> bool {
    let is_closed_by_pass = record.attr_str(ErrorRecord::CLOSED_BY) == Some(ErrorRecord::PASSED);
    let is_legacy = known_resolution(record)
        .is_none_or(|how| AUTOMATIC.iter().any(|words| how.contains(words)));
    Authority::of_record(record) == Authority::Agent
        && !LessonSource::is_in(record)
        && (is_closed_by_pass || is_legacy)
}

fn is_of_same_session(known: &Record, record: &Record) -> bool {
    known.scope.session.is_some() && known.scope.session == record.scope.session
}
