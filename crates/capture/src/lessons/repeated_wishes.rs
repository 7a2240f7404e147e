//! Wishes of a person that came back in other sessions, and so are preferences.

use super::{ConversationLearner, LearningState};
use heirloom_engine::Engine;
use heirloom_lessons::{Lesson, Verdict, Wish, repeated_wishes};
use heirloom_model::Fault;
use heirloom_model::limits::WISH_SESSIONS_COMPARED_MAX;

/// Adds the wishes of a session that came back in other sessions to its lessons. Returns all of its wishes, with which
/// later sessions are compared.
pub(crate) fn add_repeated_wishes(
    engine: &Engine,
    session: &str,
    learner: &ConversationLearner,
    lessons: &mut Vec<Lesson>,
) -> Result<Vec<Wish>, Fault> {
    let mut own = learner.wishes().to_vec();
    if own.is_empty() {
        return Ok(own);
    }
    let sessions = engine
        .sessions()
        .sessions_of(None, WISH_SESSIONS_COMPARED_MAX)?;
    let others = sessions.iter().filter(|other| other.id != session);
    let others: Vec<Vec<Wish>> = others
        .map(LearningState::wishes_of)
        .filter(|wishes| !wishes.is_empty())
        .collect();
    let found = repeated_wishes(&mut own, &others);
    lessons.extend(found.into_iter().map(|candidate| Lesson {
        candidate,
        verdict: Verdict::Kept,
        opinion: None,
    }));
    Ok(own)
}
