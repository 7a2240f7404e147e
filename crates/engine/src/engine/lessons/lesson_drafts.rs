//! Drafts: the records that lessons become.

use super::LearnedConversation;
use super::lesson_source::LessonSource;
use crate::engine::{Engine, NewRecord};
use heirloom_lessons::{Candidate, Lesson, LessonContent, Speaker, Verdict};
use heirloom_model::kinds::{Episode, EpisodeAction, ErrorRecord, Knowledge, Step, StepState};
use heirloom_model::{
    Case, CaseState, Fault, Kind, KindData, MergeRule, Record, RecordId, Scope, Timestamp, text,
};
use heirloom_store::Change;
use std::collections::BTreeSet;

/// Source of what a person said.
const PERSON: &str = "user";

/// Record of a lesson, before the comparison with stored records.
#[derive(Debug, Clone)]
pub(super) struct LessonDraft {
    /// Index of the lesson.
    pub(super) lesson: usize,
    /// Identity of the lesson in its session.
    pub(super) identity: String,
    /// The record.
    pub(super) record: Box<Record>,
    /// Rule for a record with the same identity.
    pub(super) merge: MergeRule,
}

/// Returns a hash of the kept lessons.
pub(super) fn fingerprint(lessons: &[Lesson]) -> String {
    let kept: Vec<String> = kept(lessons)
        .map(|(_, candidate)| format!("{:?} {:?}", candidate.speaker, candidate.content))
        .collect();
    text::hash_parts(&kept.iter().map(String::as_str).collect::<Vec<_>>())
}

fn kept(lessons: &[Lesson]) -> impl Iterator<Item = (usize, &Candidate)> {
    let is_kept = |(_, lesson): &(usize, &Lesson)| lesson.verdict == Verdict::Kept;
    let lessons = lessons.iter().enumerate().filter(is_kept);
    lessons.map(|(place, lesson)| (place, &lesson.candidate))
}

/// Writer of drafts for one conversation.
pub(super) struct DraftWriter<'w> {
    engine: &'w Engine,
    conversation: &'w LearnedConversation<'w>,
    now: Timestamp,
}

impl<'w> DraftWriter<'w> {
    pub(super) fn new(engine: &'w Engine, conversation: &'w LearnedConversation<'w>) -> Self {
        let now = engine.now();
        Self {
            engine,
            conversation,
            now,
        }
    }

    /// Returns the drafts of the kept lessons. A lesson that cannot be stored is left out, as an invalid line is.
    pub(super) fn drafts(&self, lessons: &[Lesson]) -> Vec<LessonDraft> {
        let mut drafts: Vec<LessonDraft> = Vec::new();
        for (place, candidate) in kept(lessons) {
            for draft in self.drafts_of(place, candidate) {
                if !drafts.iter().any(|known| known.identity == draft.identity) {
                    drafts.push(draft);
                }
            }
        }
        drafts
    }

    /// Returns the identities of the lessons that a model dropped.
    pub(super) fn dropped_by_model(&self, lessons: &[Lesson]) -> BTreeSet<String> {
        let is_dropped = |(_, lesson): &(usize, &Lesson)| {
            lesson.verdict != Verdict::Kept
                && (lesson.opinion.as_ref()).is_some_and(|opinion| opinion.is_followed)
        };
        let dropped = lessons.iter().enumerate().filter(is_dropped);
        dropped
            .flat_map(|(place, lesson)| self.drafts_of(place, &lesson.candidate))
            .map(|draft| draft.identity)
            .collect()
    }

    fn drafts_of(&self, place: usize, candidate: &Candidate) -> Vec<LessonDraft> {
        let one = |(identity, record, merge): (String, Record, MergeRule)| {
            self.finished(place, candidate, identity, record, merge)
        };
        match &candidate.content {
            LessonContent::Knowledge { .. } => self
                .knowledge(candidate)
                .ok()
                .map(one)
                .into_iter()
                .collect(),
            LessonContent::Error {
                key,
                text,
                resolution,
            } => {
                let parts = self.error(candidate, key, text, resolution.as_deref());
                parts.map(one).into_iter().collect()
            }
            LessonContent::Attempt { .. } => {
                let parts = self.attempt(candidate);
                parts.map(one).into_iter().collect()
            }
            LessonContent::Case { case, state, .. } => {
                vec![one(self.case(candidate, case, *state))]
            }
            LessonContent::Steps(steps) => {
                let steps = steps.iter().filter(|step| !step.text.trim().is_empty());
                let state = |is_done| match is_done {
                    true => StepState::Done,
                    false => StepState::Pending,
                };
                steps
                    .map(|step| one(self.step(candidate, step.text.trim(), state(step.is_done))))
                    .collect()
            }
        }
    }

    fn source(&self, candidate: &Candidate) -> &'w str {
        match candidate.speaker {
            Speaker::Person => PERSON,
            Speaker::Agent | Speaker::Program | Speaker::Unknown => self.conversation.source,
        }
    }

    /// Returns the scope of a record; a task only for records of tasks.
    fn scope(&self, candidate: &Candidate, task: Option<&str>) -> Scope {
        let agent = match candidate.speaker {
            Speaker::Person => None,
            Speaker::Agent | Speaker::Program | Speaker::Unknown => {
                Some(self.conversation.source.to_owned())
            }
        };
        Scope {
            session: Some(self.conversation.session.to_owned()),
            task: task.map(str::to_owned),
            agent: candidate.agent.clone().or(agent),
            ..Scope::default()
        }
    }

    fn knowledge(&self, candidate: &Candidate) -> Result<(String, Record, MergeRule), Fault> {
        let LessonContent::Knowledge {
            category,
            key,
            text,
            rationale,
        } = &candidate.content
        else {
            return Err(Fault::failed("the lesson is no knowledge"));
        };
        let new = NewRecord {
            text: text.clone(),
            category: Some(category.clone()),
            key: key.clone(),
            rationale: rationale.clone(),
            source: Some(self.source(candidate).to_owned()),
            scope: self.scope(candidate, None),
            ..NewRecord::default()
        };
        let Change::Put { record, merge } = self.engine.records().change_of(&new)? else {
            return Err(Fault::failed("new knowledge is not written by a put"));
        };
        let key = record.key.clone().unwrap_or_default();
        let identity = text::hash_parts(&["knowledge", category, &key]);
        Ok((identity, *record, merge))
    }

    fn error(
        &self,
        candidate: &Candidate,
        key: &str,
        error: &str,
        resolution: Option<&str>,
    ) -> Option<(String, Record, MergeRule)> {
        let (key, error) = (key.trim(), error.trim());
        if key.is_empty() || error.is_empty() {
            return None;
        }
        let resolution = resolution.map(str::trim).filter(|text| !text.is_empty());
        let mut record = self.draft(Kind::Error, error, self.scope(candidate, None), candidate);
        record.key = Some(key.to_owned());
        let mut typed = ErrorRecord::open();
        if let Some(command) = failed_command(error) {
            typed.extra.insert("command".to_owned(), command.into());
        }
        if let Some(resolution) = resolution {
            typed.state = ErrorRecord::RESOLVED.to_owned();
            typed.resolution = Some(resolution.to_owned());
            let passed = ErrorRecord::PASSED.into();
            typed
                .extra
                .insert(ErrorRecord::CLOSED_BY.to_owned(), passed);
        }
        record.attrs = typed.to_attrs();
        let identity = text::hash_parts(&["error", key]);
        Some((identity, record, MergeRule::Error))
    }

    /// Returns the episode of a failed attempt.
    fn attempt(&self, candidate: &Candidate) -> Option<(String, Record, MergeRule)> {
        let LessonContent::Attempt {
            approach,
            change,
            reason,
            files,
        } = &candidate.content
        else {
            return None;
        };
        let scope = self.scope(candidate, Some(self.conversation.task));
        let words = match change.is_empty() || change == approach {
            true => approach.clone(),
            false => format!("{approach} ({change})"),
        };
        let mut record = self.draft(Kind::Episode, &words, scope, candidate);
        let episode = Episode {
            approach: Some(approach.clone()),
            outcome: Some(reason.clone()),
            files: files.clone(),
            ..Episode::with_action(EpisodeAction::Failed)
        };
        record.attrs = episode.to_attrs();
        let place = first_event(candidate).unwrap_or(approach);
        let identity = text::hash_parts(&["attempt", place]);
        Some((identity, record, MergeRule::Keep))
    }

    fn case(
        &self,
        candidate: &Candidate,
        case: &Case,
        state: CaseState,
    ) -> (String, Record, MergeRule) {
        let scope = self.scope(candidate, Some(self.conversation.task));
        // The request is a person's, the account of it is not.
        let source = self.conversation.source;
        let record = self.engine.tasks().case_draft(case, state, scope, source);
        let place = first_event(candidate).unwrap_or(&case.asked);
        let identity = text::hash_parts(&["episode", place]);
        (identity, record, MergeRule::Keep)
    }

    fn step(
        &self,
        candidate: &Candidate,
        words: &str,
        state: StepState,
    ) -> (String, Record, MergeRule) {
        let scope = self.scope(candidate, Some(self.conversation.task));
        let key = Step::key(words, scope.task.as_deref());
        let mut record = self.draft(Kind::Step, words, scope, candidate);
        let identity = text::hash_parts(&["step", &key]);
        record.key = Some(key);
        record.attrs = Step::with_state(state).to_attrs();
        (identity, record, MergeRule::Step)
    }

    fn draft(&self, kind: Kind, words: &str, scope: Scope, candidate: &Candidate) -> Record {
        let source = self.source(candidate);
        self.engine.records().draft(kind, words, scope, source)
    }

    /// Completes a record: its source, its time, and an id that a repetition finds.
    fn finished(
        &self,
        lesson: usize,
        candidate: &Candidate,
        identity: String,
        mut record: Record,
        merge: MergeRule,
    ) -> LessonDraft {
        let at = candidate.at.unwrap_or(self.conversation.ended_at);
        record.recorded_at = at.min(self.now);
        let session = self.conversation.session;
        LessonSource::of_candidate(candidate, session, self.now).put(&mut record);
        // A copy of a conversation has the same events, and its lessons the same ids.
        let place = first_event(candidate).unwrap_or(session);
        let content = content_of(&record);
        record.id = RecordId::from_parts(
            record.recorded_at,
            &["lesson", place, &identity, &text::hash16(&content)],
        );
        LessonDraft {
            lesson,
            identity,
            record: Box::new(record),
            merge,
        }
    }
}

/// Returns the command that the text of an error names.
fn failed_command(error: &str) -> Option<&str> {
    let (command, _) = error.strip_prefix('`')?.split_once("` failed")?;
    Some(command)
}

fn first_event(candidate: &Candidate) -> Option<&str> {
    candidate
        .evidence
        .first()
        .map(|evidence| evidence.event.as_str())
}

/// Returns the content of a record in one text; equal contents need no change.
pub(super) fn content_of(record: &Record) -> String {
    let attribute = |name| record.attr_str(name).unwrap_or_default();
    let parts = match record.kind {
        Kind::Knowledge => [attribute("rationale"), "", ""],
        Kind::Error => [attribute("state"), attribute("resolution"), ""],
        Kind::Episode => [
            attribute("approach"),
            attribute("outcome"),
            attribute("action"),
        ],
        Kind::Task | Kind::Step | Kind::Artifact | Kind::Output | Kind::Note | Kind::Summary => {
            [attribute("state"), "", ""]
        }
    };
    format!("{}\n{}", record.text, parts.join("\n"))
}

/// Returns true if the record's key was derived from its text.
pub(super) fn has_derived_key(record: &Record) -> bool {
    let derived = Knowledge::derive_key(&record.text);
    record.key.as_deref() == Some(derived.as_str())
}
