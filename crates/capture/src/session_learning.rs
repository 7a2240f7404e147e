//! Learning from conversations that are in the store.

mod session_judging;

pub use session_judging::JudgedSession;

use crate::Transcripts;
use crate::lessons::{
    ConversationLearner, LearningState, add_repeated_wishes, event_of_turn, result_of_edit,
};
use heirloom_agents::AgentProgram;
use heirloom_agents::transcripts::EventBody;
use heirloom_engine::{
    Coverage, Engine, ImportWriter, LearnedConversation, LessonBatch, LessonEffect, LessonsReport,
    TASK_MAIN, TRANSCRIPT,
};
use heirloom_lessons::{Lesson, Verdict};
use heirloom_model::record::Attrs;
use heirloom_model::{Authority, Fault, Record, RecordId, Role, Session, limits};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// Source of the batch of all conversations.
const BATCH_SOURCE: &str = "lessons of stored conversations";
/// Source of records of conversations without an agent.
const UNKNOWN_AGENT: &str = "agent";

/// Lessons of one stored conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionLessons {
    /// The session.
    pub session: String,
    /// All candidates with the decision on each.
    pub lessons: Vec<Lesson>,
    /// Effect of each lesson on the store, before it was written.
    pub effects: Vec<LessonEffect>,
    /// Records that the conversation does not support any more, or that a model dropped.
    pub retired: Vec<Record>,
    /// Counts of what was stored; empty in a dry run.
    pub report: LessonsReport,
    /// True if lessons were taken from a transcript before that is not found any more. Only those that a person took
    /// back were stored.
    pub lacks_transcript: bool,
}

/// Report of a run over all stored conversations.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LearnAllReport {
    /// Conversations that were read.
    pub sessions: u64,
    /// Conversations that stay as they are, because the transcripts that they were learned from are not found.
    pub lacking: u64,
    /// Lessons that were kept.
    pub lessons: u64,
    /// Changes in the store, at most [`limits::LESSON_CHANGES_SHOWN_MAX`].
    pub changes: Vec<LearnedChange>,
    /// Counts of what was stored; empty in a dry run.
    pub report: LessonsReport,
}

impl LearnAllReport {
    /// Lists changes up to the limit.
    fn list_changes(&mut self, changes: impl Iterator<Item = LearnedChange>) {
        let left = limits::LESSON_CHANGES_SHOWN_MAX.saturating_sub(self.changes.len());
        self.changes.extend(changes.take(left));
    }
}

/// Change of a stored lesson.
#[derive(Debug, Clone, PartialEq)]
pub enum LearnedChange {
    /// It is new.
    Add(Lesson),
    /// The record gets the content of the lesson.
    Change(RecordId, Lesson),
    /// The conversation does not support the record.
    Retire(Box<Record>),
}

/// Learning from conversations that are in the store.
#[derive(Clone, Copy)]
pub struct Learning<'e> {
    engine: &'e Engine,
}

impl<'e> Learning<'e> {
    /// Creates the service for an engine.
    #[must_use]
    pub fn new(engine: &'e Engine) -> Self {
        Self { engine }
    }

    /// Takes the lessons of a stored conversation, and stores them unless it is a dry run. They are taken from the
    /// program's transcript if its file is given and has this session, otherwise from what is stored. Lessons that a
    /// person took back are stored again, because a person asks for them. Stored turns lack the contents of edits, so
    /// they only restore such lessons if the transcript was learned from before. Errors: `NotFound`.
    pub fn learn_session(
        &self,
        id: &str,
        transcript: Option<&Path>,
        dry_run: bool,
    ) -> Result<SessionLessons, Fault> {
        let (session, _) = self.engine.sessions().get(id, Some(1))?;
        let mut state = LearningState::of_session(&session);
        let service = self.engine.sessions().lessons();
        let reverted = service.release_reverted(&mut state.ledger)?;
        let batch = (!dry_run).then_some(LessonBatch::OfSession);
        self.learn_with_state(session, state, reverted, (transcript, batch))
    }

    /// Takes the lessons of a session with this state, and stores them in the batch if one is given. Without the transcript
    /// that was read before only the reverted lessons are stored.
    fn learn_with_state(
        &self,
        mut session: Session,
        mut state: LearningState,
        reverted: BTreeSet<String>,
        (transcript, batch): (Option<&Path>, Option<LessonBatch>),
    ) -> Result<SessionLessons, Fault> {
        let (learner, coverage) = self.learner(&session, &state, transcript)?;
        let coverage = coverage.unwrap_or(Coverage::Only(reverted));
        let lacks_transcript = matches!(coverage, Coverage::Only(_));
        let lessons = lessons_of(self.engine, &session, &learner, &mut state)?;
        let conversation = conversation(self.engine, &session, coverage);
        let service = self.engine.sessions().lessons();
        let effects = service.preview(&conversation, &lessons, &state.ledger)?;
        let retired = service.unsupported(&conversation, &lessons, &state.ledger)?;
        let mut report = LessonsReport::default();
        if let Some(batch) = batch {
            report = service.reconcile(&conversation, &lessons, &mut state.ledger, &batch)?;
            state.put(&mut session.attrs);
            self.engine.sessions().put_session(&session)?;
        }
        Ok(SessionLessons {
            session: session.id,
            lessons,
            effects,
            retired,
            report,
            lacks_transcript,
        })
    }

    /// Returns a learner that has read a session, with the part that it covers: `None` if the transcript that was read
    /// before is not found.
    fn learner(
        &self,
        session: &Session,
        state: &LearningState,
        transcript: Option<&Path>,
    ) -> Result<(ConversationLearner, Option<Coverage>), Fault> {
        let from_file = match (transcript, program_of(session)) {
            (Some(path), Some(program)) => {
                Transcripts::new(self.engine).read_for_learning(program, path, &session.id)?
            }
            _ => None,
        };
        if let Some(learner) = from_file {
            let learner = learner.with_judgement(state.judgement.clone());
            return Ok((learner, Some(Coverage::Everything)));
        }
        let coverage = match (&state.extractor, state.offset) {
            (Some(_), _) => Some(Coverage::Everything),
            (None, 0) => Some(Coverage::StoredTurns),
            (None, _) => None,
        };
        Ok((self.read(session, state)?, coverage))
    }

    /// Takes the lessons of all stored conversations again, oldest first, as one import batch, and retires those that
    /// they do not support any more. `transcript` finds the file of a session. `progress` gets the number of
    /// conversations that were read, and of all.
    pub fn learn_all(
        &self,
        dry_run: bool,
        transcript: &mut dyn FnMut(&Session) -> Option<PathBuf>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<LearnAllReport, Fault> {
        let mut sessions = self.engine.sessions().sessions_of(None, limits::FIND_MAX)?;
        sessions.reverse();
        let batch = ImportWriter::new(self.engine, BATCH_SOURCE)?
            .batch()
            .clone();
        let batch = LessonBatch::Given(batch);
        let count = sessions.len() as u64;
        let mut whole = LearnAllReport::default();
        for (done, session) in (1..).zip(sessions) {
            let path = transcript(&session);
            self.learn_again(session, path.as_deref(), (dry_run, &batch), &mut whole)?;
            progress(done, count);
        }
        Ok(whole)
    }

    /// Takes the lessons of one of several conversations.
    fn learn_again(
        &self,
        mut session: Session,
        transcript: Option<&Path>,
        (dry_run, batch): (bool, &LessonBatch),
        whole: &mut LearnAllReport,
    ) -> Result<(), Fault> {
        let mut state = LearningState::of_session(&session);
        let from_file = match (transcript, program_of(&session)) {
            (Some(path), Some(program)) => {
                Transcripts::new(self.engine).read_for_learning(program, path, &session.id)?
            }
            _ => None,
        };
        let (learner, coverage) = match from_file {
            Some(learner) => {
                // A later turn reads the conversation from its beginning.
                state.extractor = None;
                let learner = learner.with_judgement(state.judgement.clone());
                (learner, Coverage::Everything)
            }
            None if state.offset > 0 => {
                whole.lacking += 1;
                return Ok(());
            }
            None => (self.read(&session, &state)?, Coverage::StoredTurns),
        };
        let lessons = lessons_of(self.engine, &session, &learner, &mut state)?;
        whole.sessions += 1;
        whole.lessons += kept_count(&lessons);
        let conversation = conversation(self.engine, &session, coverage);
        let service = self.engine.sessions().lessons();
        let effects = service.preview(&conversation, &lessons, &state.ledger)?;
        let added = lessons.iter().zip(effects).filter_map(|(lesson, effect)| {
            let lesson = lesson.clone();
            match effect {
                LessonEffect::Create => Some(LearnedChange::Add(lesson)),
                LessonEffect::Change(id) => Some(LearnedChange::Change(id, lesson)),
                LessonEffect::Confirm(_) | LessonEffect::Unchanged | LessonEffect::Declined => None,
            }
        });
        let retired = service.unsupported(&conversation, &lessons, &state.ledger)?;
        let retired = retired.into_iter().map(Box::new).map(LearnedChange::Retire);
        whole.list_changes(added.chain(retired));
        if !dry_run {
            let report = service.reconcile(&conversation, &lessons, &mut state.ledger, batch)?;
            whole.report.add(&report);
            if !state.is_empty() {
                state.put(&mut session.attrs);
                self.engine.sessions().put_session(&session)?;
            }
        }
        Ok(())
    }

    /// Returns a learner that has read the conversation: what the program recorded if hooks keep that, otherwise the
    /// stored turns.
    fn read(&self, session: &Session, state: &LearningState) -> Result<ConversationLearner, Fault> {
        let mut learner = ConversationLearner::new(state.clone())
            .with_project_folder(&project_folder(self.engine, session));
        if learner.resume() {
            return Ok(learner);
        }
        let program = session
            .agent
            .as_deref()
            .and_then(|agent| agent.parse().ok());
        let program = program.unwrap_or(AgentProgram::ClaudeCode);
        let is_transcript = session.attrs.contains_key(TRANSCRIPT);
        let (_, turns) = self.engine.sessions().get(&session.id, None)?;
        let answered: HashSet<String> = turns
            .iter()
            .filter(|turn| turn.role == Role::ToolResult)
            .filter_map(|turn| Some(turn.attrs.get("call")?.as_str()?.to_owned()))
            .collect();
        for event in turns
            .iter()
            .filter_map(|turn| event_of_turn(turn, is_transcript))
        {
            learner.push(self.engine, program, &event);
            let is_answered = match &event.body {
                EventBody::Call { call, .. } => answered.contains(call),
                EventBody::ConversationStart(_)
                | EventBody::Prompt(_)
                | EventBody::AssistantText(_)
                | EventBody::Summary(_)
                | EventBody::Result { .. }
                | EventBody::FileChanged(_)
                | EventBody::AbandonedPrompt(_)
                | EventBody::TokenUsage(_) => true,
            };
            if let Some(result) = result_of_edit(&event).filter(|_| !is_answered) {
                learner.push(self.engine, program, &result);
            }
        }
        Ok(learner)
    }
}

/// Returns the lessons of a conversation, with the wishes that came back in other sessions, which the state keeps.
fn lessons_of(
    engine: &Engine,
    session: &Session,
    learner: &ConversationLearner,
    state: &mut LearningState,
) -> Result<Vec<Lesson>, Fault> {
    let has_no_person = has_no_person(session);
    let mut lessons = learner.lessons(has_no_person, session.ended_at.is_some());
    if !has_no_person {
        state.wishes = add_repeated_wishes(engine, &session.id, learner, &mut lessons)?;
    }
    Ok(lessons)
}

/// Returns the program that recorded a conversation.
fn program_of(session: &Session) -> Option<AgentProgram> {
    session.agent.as_deref()?.parse().ok()
}

/// Returns the folder that paths of a conversation are relative to: the project's root, or the recorded folder of a
/// project that was moved since.
fn project_folder(engine: &Engine, session: &Session) -> PathBuf {
    let recorded = session.attrs.get("cwd").and_then(|folder| folder.as_str());
    let recorded = recorded.map(PathBuf::from);
    recorded
        .filter(|folder| !folder.starts_with(engine.root()))
        .unwrap_or_else(|| engine.root().to_path_buf())
}

/// Returns true for a conversation in which no person spoke: of a subagent, or of a run.
fn has_no_person(session: &Session) -> bool {
    let has = |attrs: &Attrs, name: &str| attrs.contains_key(name);
    has(&session.attrs, "agent_id") || has(&session.attrs, "iteration")
}

fn kept_count(lessons: &[Lesson]) -> u64 {
    let kept = lessons
        .iter()
        .filter(|lesson| lesson.verdict == Verdict::Kept);
    kept.count() as u64
}

fn conversation<'s>(
    engine: &Engine,
    session: &'s Session,
    coverage: Coverage,
) -> LearnedConversation<'s> {
    LearnedConversation {
        session: &session.id,
        source: Authority::agent_source(session.agent.as_deref().unwrap_or(UNKNOWN_AGENT)),
        task: session.task.as_deref().unwrap_or(TASK_MAIN),
        began_at: session.started_at,
        ended_at: session.ended_at.unwrap_or_else(|| engine.now()),
        coverage,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_lessons::{Candidate, LessonContent, SourceKind, Speaker};

    #[test]
    fn changes_are_listed_up_to_the_limit() {
        let lesson = Lesson {
            candidate: Candidate {
                source: SourceKind::Plan,
                speaker: Speaker::Agent,
                content: LessonContent::Steps(Vec::new()),
                worth: 1.0,
                evidence: Vec::new(),
                at: None,
                agent: None,
            },
            verdict: Verdict::Kept,
            opinion: None,
        };
        let change = || LearnedChange::Add(lesson.clone());
        let mut report = LearnAllReport::default();
        report.list_changes((1..limits::LESSON_CHANGES_SHOWN_MAX).map(|_| change()));
        assert_eq!(report.changes.len(), limits::LESSON_CHANGES_SHOWN_MAX - 1);
        report.list_changes([change(), change()].into_iter());
        assert_eq!(report.changes.len(), limits::LESSON_CHANGES_SHOWN_MAX);
    }
}
