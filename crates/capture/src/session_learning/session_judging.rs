//! Judgement of a session's lessons by the configured model.

use super::{Learning, SessionLessons, has_no_person, program_of};
use crate::lessons::{LearningState, event_of_turn, extractor_input};
use heirloom_agents::AgentProgram;
use heirloom_agents::transcripts::{EventBody, TurnAuthor};
use heirloom_engine::{ImportWriter, LessonBatch, TRANSCRIPT};
use heirloom_lessons::{JudgeRequest, PersonTurn};
use heirloom_model::{Fault, Message, Role, Session, text};
use std::collections::BTreeSet;
use std::path::Path;

/// Source of a batch with the decisions of a model, before the session's name.
const BATCH_SOURCE: &str = "model's verdicts on lessons of";
/// Longest name of a session in the source of a batch, characters.
const SESSION_CHARS_MAX: usize = 36;

/// Result of a judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedSession {
    /// Model that judged.
    pub model: String,
    /// Number of candidates with a verdict.
    pub verdicts: u64,
    /// Number of further texts of the person.
    pub spans: u64,
}

impl Learning<'_> {
    /// Lets the configured model judge the candidates of a stored session, and keeps the judgement with the session. It takes
    /// effect when lessons are taken the next time. `None` if there is nothing that was not judged already, or if the
    /// transcript that the lessons were taken from is not found.
    ///
    /// Errors: `NotFound`, and those of the model, after which everything is as before.
    pub fn judge_session(
        &self,
        id: &str,
        transcript: Option<&Path>,
    ) -> Result<Option<JudgedSession>, Fault> {
        let (session, turns) = self.engine.sessions().get(id, None)?;
        let mut state = LearningState::of_session(&session);
        let former = state.judgement.take();
        let (learner, Some(_)) = self.learner(&session, &state, transcript)? else {
            return Ok(None);
        };
        let lessons = learner.lessons(has_no_person(&session), session.ended_at.is_some());
        let request = JudgeRequest::new(&lessons, self.person_turns(&session, &turns));
        let is_known = former.is_some_and(|former| former.request == request.fingerprint());
        if request.is_empty() || is_known {
            return Ok(None);
        }
        let judgement = self.engine.sessions().lessons().judge(&request)?;
        let judged = JudgedSession {
            model: judgement.model.clone(),
            verdicts: judgement.verdicts.len() as u64,
            spans: judgement.spans.len() as u64,
        };
        // A hook may have stored the session while the model worked.
        let (mut session, _) = self.engine.sessions().get(id, Some(1))?;
        let mut state = LearningState::of_session(&session);
        state.judgement = Some(judgement);
        state.put(&mut session.attrs);
        self.engine.sessions().put_session(&session)?;
        Ok(Some(judged))
    }

    /// Makes the stored lessons those of the judgement, as an import batch of its own. Lessons that a person took back stay
    /// so. Errors: `NotFound`.
    pub fn apply_judgement(
        &self,
        id: &str,
        transcript: Option<&Path>,
    ) -> Result<SessionLessons, Fault> {
        let (session, _) = self.engine.sessions().get(id, Some(1))?;
        let state = LearningState::of_session(&session);
        let name = text::excerpt(id, SESSION_CHARS_MAX);
        let writer = ImportWriter::new(self.engine, &format!("{BATCH_SOURCE} {name}"))?;
        let batch = LessonBatch::Given(writer.batch().clone());
        self.learn_with_state(session, state, BTreeSet::new(), (transcript, Some(batch)))
    }

    /// Returns what the person said in a session.
    fn person_turns(&self, session: &Session, turns: &[Message]) -> Vec<PersonTurn> {
        if has_no_person(session) {
            return Vec::new();
        }
        let program = program_of(session).unwrap_or(AgentProgram::ClaudeCode);
        let is_transcript = session.attrs.contains_key(TRANSCRIPT);
        let events = turns
            .iter()
            .filter(|turn| turn.role == Role::User)
            .filter_map(|turn| event_of_turn(turn, is_transcript))
            .filter(|event| event.agent.is_none() && event.author == TurnAuthor::Person);
        events
            .filter_map(|event| extractor_input(self.engine, program, &event))
            .filter_map(|event| {
                let EventBody::Prompt(text) = event.body else {
                    return None;
                };
                Some(PersonTurn {
                    event: event.id,
                    at: event.at,
                    text,
                })
            })
            .collect()
    }
}
