//! Lessons of sessions: stores what a conversation teaches, follows its changes, and shows its sources.

mod lesson_drafts;
mod lesson_judge;
mod lesson_ledger;
mod lesson_source;
mod reconciliation;
mod replacement;
mod reversal;
mod review_queue;

pub use lesson_ledger::LessonLedger;
pub use lesson_source::{EvidenceLine, LessonSource};
pub use reconciliation::LessonEffect;

use super::Engine;
use super::records::USER;
use super::sessions::Sessions;
use heirloom_lessons::Lesson;
use heirloom_model::{Fault, ImportBatch, Kind, Record, RecordId, Scope, Timestamp, limits, text};
use heirloom_store::{AppliedChange, AsOf, Change, Filter, Verdict};
use reconciliation::{PlannedChange, Reconciliation};
use std::collections::BTreeSet;

/// Source of an import batch with the lessons of one session, before the session's name.
const BATCH_SOURCE: &str = "lessons of";

/// Conversation whose lessons are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearnedConversation<'c> {
    /// The session.
    pub session: &'c str,
    /// Source of what the agent and its program say: the name of the program.
    pub source: &'c str,
    /// Task of steps and episodes.
    pub task: &'c str,
    /// Time at which the session began.
    pub began_at: Timestamp,
    /// Time of the last event.
    pub ended_at: Timestamp,
    /// Part of the conversation that the lessons come from.
    pub coverage: Coverage,
}

/// Part of a conversation that its lessons come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Coverage {
    /// Everything that the program recorded. Stored lessons of the session that are not found in it are retired.
    Everything,
    /// The stored turns. Lessons that were stored earlier stay as they are.
    StoredTurns,
    /// The stored turns of a conversation that was learned from its transcript. Only the lessons with these identities
    /// are stored.
    Only(BTreeSet<String>),
}

/// Import batch of the records of lessons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LessonBatch {
    /// The batch of the session, which later lessons of the session continue.
    OfSession,
    /// The batch of an import or of a run over several sessions.
    Given(ImportBatch),
}

/// Report of stored lessons.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LessonsReport {
    /// The import batch, which `undo` reverts as a unit; `None` if nothing was written.
    pub batch: Option<RecordId>,
    /// New records.
    pub created: u64,
    /// Records with new content, and records of other sources that a lesson replaced.
    pub changed: u64,
    /// Records of other sources that a lesson confirmed.
    pub confirmed: u64,
    /// Records that are no lessons any more.
    pub retired: u64,
}

impl LessonsReport {
    /// Adds the counts of another report; the batch is the last one.
    pub fn add(&mut self, other: &Self) {
        self.batch = other.batch.or(self.batch);
        self.created += other.created;
        self.changed += other.changed;
        self.confirmed += other.confirmed;
        self.retired += other.retired;
    }

    fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Created | Verdict::Restored => self.created += 1,
            Verdict::Replaced => self.changed += 1,
            Verdict::Confirmed => self.confirmed += 1,
            Verdict::Retired => self.retired += 1,
            Verdict::Conflict
            | Verdict::Unchanged
            | Verdict::Resolved
            | Verdict::Reopened
            | Verdict::Marked => {}
        }
    }
}

/// Lessons of sessions: stores what a conversation teaches, follows its changes, and shows its sources.
#[derive(Clone, Copy)]
pub struct Lessons<'e> {
    pub(super) engine: &'e Engine,
}

impl<'e> Sessions<'e> {
    /// Returns the service for the lessons of sessions.
    pub fn lessons(self) -> Lessons<'e> {
        Lessons {
            engine: self.engine,
        }
    }
}

impl Lessons<'_> {
    /// Makes the stored lessons of a conversation the kept ones of `lessons`: stores new ones, changes or retires
    /// those that it stored earlier, and confirms what is known from elsewhere. Nothing that a person took back is
    /// stored again, and nothing that a person touched is changed. Durable when it returns, as one import batch.
    ///
    /// `ledger` is the ledger of the session, which the caller stores afterwards.
    pub fn reconcile(
        &self,
        conversation: &LearnedConversation<'_>,
        lessons: &[Lesson],
        ledger: &mut LessonLedger,
        batch: &LessonBatch,
    ) -> Result<LessonsReport, Fault> {
        self.engine.require_memory()?;
        let fingerprint = lesson_drafts::fingerprint(lessons);
        if ledger.fingerprint.as_deref() == Some(&fingerprint) {
            return Ok(LessonsReport::default());
        }
        let mut decided = None;
        let applied = self.engine.apply_decided(|| {
            let mut next = ledger.clone();
            let planned =
                Reconciliation::new(self.engine, conversation, &mut next)?.plan(lessons)?;
            let changes: Vec<Change> = planned
                .iter()
                .filter_map(|planned| planned.change.clone())
                .collect();
            let batch = self.import_batch(conversation, &mut next, batch);
            let id = batch.id;
            decided = Some((next, planned, id));
            Ok(match changes.is_empty() {
                true => Vec::new(),
                false => std::iter::once(Change::BeginBatch(batch))
                    .chain(changes)
                    .collect(),
            })
        })?;
        let (mut next, planned, batch) =
            decided.ok_or_else(|| Fault::failed("no lessons were decided"))?;
        for planned in &planned {
            if let (Some(identity), Some(id)) = (&planned.identity, planned.stored) {
                next.insert(identity, id);
            }
        }
        let mut report = LessonsReport::default();
        let results = applied.iter().skip(1);
        let changes = planned.iter().filter(|planned| planned.change.is_some());
        for (planned, applied) in changes.zip(results) {
            report.count(applied.verdict);
            follow(&mut next, planned, applied);
        }
        // Retirements alone are no part of a batch: each is undone by its record.
        if report.created + report.changed + report.confirmed > 0 {
            report.batch = Some(batch);
        }
        next.fingerprint = Some(fingerprint);
        *ledger = next;
        Ok(report)
    }

    /// Removes the lessons that a person reverted from a ledger, so that they can be stored again, and returns their
    /// identities.
    pub fn release_reverted(&self, ledger: &mut LessonLedger) -> Result<BTreeSet<String>, Fault> {
        let ids: Vec<RecordId> = ledger.records().map(|(_, id)| id).collect();
        let mut kept = BTreeSet::new();
        if !ids.is_empty() {
            let filter = Filter {
                as_of: AsOf::Ever,
                ids,
                ..Filter::current(&[], self.engine.now())
            };
            for record in self.engine.records().find(&filter)? {
                if !reversal::is_reverted(self.engine, &record)? {
                    kept.insert(record.id);
                }
            }
        }
        Ok(ledger.release(&kept))
    }

    /// Returns the effect that storing each kept lesson would have, in order, without storing anything.
    pub fn preview(
        &self,
        conversation: &LearnedConversation<'_>,
        lessons: &[Lesson],
        ledger: &LessonLedger,
    ) -> Result<Vec<LessonEffect>, Fault> {
        let mut ledger = ledger.clone();
        let planned = Reconciliation::new(self.engine, conversation, &mut ledger)?.plan(lessons)?;
        let mut effects = vec![LessonEffect::Unchanged; lessons.len()];
        for planned in planned {
            if let Some(effect) = planned.lesson.and_then(|lesson| effects.get_mut(lesson)) {
                *effect = effect.with(planned.effect);
            }
        }
        Ok(effects)
    }

    /// Returns the stored records that [`Self::reconcile`] would retire, without storing anything.
    pub fn unsupported(
        &self,
        conversation: &LearnedConversation<'_>,
        lessons: &[Lesson],
        ledger: &LessonLedger,
    ) -> Result<Vec<Record>, Fault> {
        let mut ledger = ledger.clone();
        let planned = Reconciliation::new(self.engine, conversation, &mut ledger)?.plan(lessons)?;
        let retired = |planned: PlannedChange| match planned.change {
            Some(Change::Retire { id, .. }) => Some(id),
            _ => None,
        };
        let ids: Vec<RecordId> = planned.into_iter().filter_map(retired).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let filter = Filter {
            ids,
            ..Filter::current(&[], self.engine.now())
        };
        self.engine.records().find(&filter)
    }

    /// Returns the current records that a session taught, oldest first.
    pub fn of_session(&self, session: &str) -> Result<Vec<Record>, Fault> {
        let kinds = [Kind::Knowledge, Kind::Error, Kind::Episode, Kind::Step];
        let mut filter = Filter::current(&kinds, self.engine.now())
            .scope(Scope {
                session: Some(session.to_owned()),
                ..Scope::default()
            })
            .oldest_first();
        filter.limit = limits::LESSON_RECORDS_MAX;
        let mut found = self.engine.records().find(&filter)?;
        found.retain(|record| {
            LessonSource::of_record(record).is_some_and(|source| source.session == session)
        });
        Ok(found)
    }

    /// Returns the batch of the changes; a session whose lessons were undone gets a new one. Its id follows from the
    /// session and from the batch before, so that a run after a crash continues the same batch.
    fn import_batch(
        &self,
        conversation: &LearnedConversation<'_>,
        ledger: &mut LessonLedger,
        batch: &LessonBatch,
    ) -> ImportBatch {
        if let LessonBatch::Given(batch) = batch {
            return batch.clone();
        }
        let former = ledger.former_batch.map(|id| id.to_string());
        let project = self.engine.project().as_str();
        let parts = [
            BATCH_SOURCE,
            project,
            conversation.session,
            former.as_deref().unwrap_or_default(),
        ];
        let derived = || RecordId::from_parts(conversation.began_at, &parts);
        let id = *ledger.batch.get_or_insert_with(derived);
        let session = text::excerpt(conversation.session, 36);
        ImportBatch {
            id,
            source: format!("{BATCH_SOURCE} {session}"),
            by: USER.to_owned(),
            at: self.engine.now(),
        }
    }
}

/// Records in the ledger which record has a lesson now.
fn follow(ledger: &mut LessonLedger, planned: &PlannedChange, applied: &AppliedChange) {
    match (&planned.identity, applied.verdict) {
        (Some(identity), Verdict::Retired) => ledger.remove(identity),
        (Some(identity), _) => ledger.insert(identity, applied.id),
        (None, _) => {}
    }
}
