//! Echoes in a context: texts that only repeat the question or the prompt to which the context is added.

use super::ContextRequest;
use heirloom_model::Kind;
use heirloom_model::record_meaning::record_meaning;
use heirloom_model::section::Section;
use heirloom_model::similarity::EchoedQuestion;
use heirloom_search::recall::RecallItem;

/// The question and the prompt of a context. A run stores its prompt as a turn in each iteration, and these turns are
/// the best matches for the same prompt in the next one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::engine) struct Echoes {
    questions: Vec<EchoedQuestion>,
}

impl Echoes {
    /// Returns the echoes of a request. A question that is derived from the task or the session has none: a pending
    /// step is no repetition of itself.
    pub(in crate::engine) fn of_request(request: &ContextRequest) -> Self {
        let asked = [&request.query, &request.prompt];
        Self {
            questions: (asked.into_iter().flatten())
                .map(|question| EchoedQuestion::new(question))
                .collect(),
        }
    }

    /// Returns the echoes of a question.
    pub(in crate::engine) fn of_question(question: &str) -> Self {
        Self {
            questions: vec![EchoedQuestion::new(question)],
        }
    }

    /// Returns true if a text only repeats the question or the prompt.
    pub(in crate::engine) fn has(&self, text: &str) -> bool {
        (self.questions.iter()).any(|question| question.is_repeated_by(text))
    }

    /// Returns true if a turn or an attempt only repeats them. What a person or an agent stored as knowledge is an
    /// answer even in the words of the question.
    pub(in crate::engine) fn has_hit(&self, item: &RecallItem) -> bool {
        match item {
            RecallItem::Turn { message, .. } => self.has(&message.text),
            RecallItem::Record(record) => {
                record.kind == Kind::Episode && self.has(&record_meaning(record))
            }
        }
    }

    /// Removes the offers that only repeat them.
    pub(in crate::engine) fn remove_from(&self, mut section: Section) -> Section {
        section.offers.retain(|offer| !self.has(&offer.text));
        section
    }
}
