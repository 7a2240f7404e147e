//! Learning from conversations: their events become lessons, and these become records.

mod conversation_learner;
mod extractor_input;
mod learning_state;
mod repeated_wishes;
mod stored_turns;

pub(crate) use conversation_learner::ConversationLearner;
pub(crate) use extractor_input::extractor_input;
pub(crate) use learning_state::LearningState;
pub(crate) use repeated_wishes::add_repeated_wishes;
pub(crate) use stored_turns::{author_attrs, event_of_turn, result_of_edit};
