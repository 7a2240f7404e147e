//! Learning from conversations: their events become lessons, and these become records.

mod conversation_learner;
mod event_input;
mod learning;
mod learning_state;
mod stored_turns;

pub(crate) use conversation_learner::ConversationLearner;
pub use learning::{LearnAllReport, Learning, SessionLessons};
pub(crate) use learning_state::LearningState;
