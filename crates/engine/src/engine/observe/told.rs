//! What the agent was told: saying it again is an echo, which neither confirms nor creates anything.

use super::Observer;
use crate::signals;
use heirloom_model::kinds::{CATEGORY_DECISION, Knowledge};
use heirloom_model::signal::{Signal, Verb};
use heirloom_model::{Fault, Kind, KindData, Record, RecordId, likeness};
use heirloom_store::Filter;

impl Observer<'_> {
    /// From now on, knowledge that stands on a line of this context and is current still is an echo.
    pub fn told(&mut self, context: &str) {
        let lines = context.lines().filter(|line| !line.starts_with('#'));
        let said = lines.map(|line| likeness::words(line.strip_prefix("- ").unwrap_or(line)));
        self.told.extend(said.filter(|words| !words.is_empty()));
    }

    /// The current record of which this signal is an echo.
    pub(super) fn echoed(&self, signal: &Signal) -> Result<Option<RecordId>, Fault> {
        if self.told.is_empty() {
            return Ok(None);
        }
        let (said, why) = match signal.verb {
            Verb::KeyFact | Verb::Learning => (signal.text.clone(), None),
            Verb::Decision => {
                let (decision, why) = signals::split_decision(&signal.text);
                (decision.to_owned(), why)
            }
            // A context says it with its key in front.
            Verb::Convention => match signals::split_convention(&signal.text) {
                Ok((key, value)) => (format!("{key}: {value}"), None),
                Err(_) => return Ok(None),
            },
            Verb::StepDone
            | Verb::StepPending
            | Verb::FileModified
            | Verb::Error
            | Verb::ErrorResolved
            | Verb::Blocked
            | Verb::Unblocked
            | Verb::Forget
            | Verb::EvalFeedback
            | Verb::PhaseResult
            | Verb::FeedbackResponse
            | Verb::Status => return Ok(None),
        };
        if !self.told.contains(&likeness::words(&said)) {
            return Ok(None);
        }
        let known = match self.current_like(&Knowledge::key(&said), &said)? {
            Some(known) => Some(known),
            None => match said.split_once(": ") {
                Some((key, value)) => self.current_like(key, value)?,
                None => None,
            },
        };
        // A reason that nobody knows yet is more than an echo.
        let known = known.filter(|known| {
            why.is_none()
                || known.category() != Some(CATEGORY_DECISION)
                || known.attr_str("rationale").is_some()
        });
        Ok(known.map(|known| known.id))
    }

    /// The current knowledge of this key and these words, of whatever category.
    fn current_like(&self, key: &str, said: &str) -> Result<Option<Record>, Fault> {
        let filter = Filter::current(&[Kind::Knowledge], self.engine.now()).key(key);
        let found = self.engine.find(&filter)?;
        let same = |record: &Record| {
            likeness::same_words(&record.text, said)
                && Knowledge::of(record).is_ok_and(|known| !known.disputed)
        };
        Ok(found.into_iter().find(same))
    }
}
