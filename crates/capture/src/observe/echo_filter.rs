//! Echo filter: a signal that only repeats injected text neither confirms nor creates a record.

use super::Observer;
use heirloom_agents::signals;
use heirloom_model::kinds::{CATEGORY_DECISION, Knowledge};
use heirloom_model::signal::{Signal, SignalVerb};
use heirloom_model::{Fault, Kind, KindData, Record, RecordId, similarity};
use heirloom_store::Filter;

/// Returns what a line may state: the line, without the date or the source in parentheses at its end, and without the
/// category before it. `- fact: the port is 80 (from ann, 2026-05-01)` states `the port is 80`.
fn statements(line: &str) -> Vec<&str> {
    let mut all = vec![line];
    if let Some((text, _)) = line.rsplit_once(" (").filter(|_| line.ends_with(')')) {
        all.push(text);
        all.extend(text.split_once(": ").map(|(_, statement)| statement));
    }
    all
}

impl Observer<'_> {
    /// Marks the lines of a context as injected. Signals that repeat their knowledge are echoes while it is current.
    pub fn add_injected_text(&mut self, context: &str) {
        let lines = context.lines().filter(|line| !line.starts_with('#'));
        let texts = lines.flat_map(|line| statements(line.strip_prefix("- ").unwrap_or(line)));
        let texts = texts.map(similarity::words);
        self.injected_lines
            .extend(texts.filter(|words| !words.is_empty()));
    }

    /// Returns the current record that a signal repeats.
    pub(super) fn echoed_record(&self, signal: &Signal) -> Result<Option<RecordId>, Fault> {
        if self.injected_lines.is_empty() {
            return Ok(None);
        }
        let (text, reason) = match signal.verb {
            SignalVerb::KeyFact | SignalVerb::Learning => (signal.text.clone(), None),
            SignalVerb::Decision => {
                let (decision, reason) = signals::split_decision(&signal.text);
                (decision.to_owned(), reason)
            }
            // A context shows a convention with its key.
            SignalVerb::Convention => match signals::split_convention(&signal.text) {
                Ok((key, value)) => (format!("{key}: {value}"), None),
                Err(_) => return Ok(None),
            },
            SignalVerb::StepDone
            | SignalVerb::StepPending
            | SignalVerb::FileModified
            | SignalVerb::Error
            | SignalVerb::ErrorResolved
            | SignalVerb::Blocked
            | SignalVerb::Unblocked
            | SignalVerb::Forget
            | SignalVerb::EvalFeedback
            | SignalVerb::PhaseResult
            | SignalVerb::FeedbackResponse
            | SignalVerb::Status => return Ok(None),
        };
        if !self.injected_lines.contains(&similarity::words(&text)) {
            return Ok(None);
        }
        let known = match self.current_like(&Knowledge::derive_key(&text), &text)? {
            Some(known) => Some(known),
            None => match text.split_once(": ") {
                Some((key, value)) => self.current_like(key, value)?,
                None => None,
            },
        };
        // A new reason makes a signal more than an echo.
        let known = known.filter(|known| {
            reason.is_none()
                || known.category() != Some(CATEGORY_DECISION)
                || known.attr_str("rationale").is_some()
        });
        Ok(known.map(|known| known.id))
    }

    /// Returns the current knowledge with this key and text, of any category.
    fn current_like(&self, key: &str, text: &str) -> Result<Option<Record>, Fault> {
        let filter = Filter::current(&[Kind::Knowledge], self.engine.now()).key(key);
        let found = self.engine.records().find(&filter)?;
        let same = |record: &Record| {
            similarity::has_same_words(&record.text, text)
                && Knowledge::from_record(record).is_ok_and(|known| !known.disputed)
        };
        Ok(found.into_iter().find(same))
    }
}
