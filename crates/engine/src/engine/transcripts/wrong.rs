//! What went wrong and what worked, and what the agent told in signals.

use super::state::{Open, Wrong};
use super::taker::{Taker, kept_as};
use crate::engine::NewRecord;
use crate::signals;
use crate::transcripts::{Failure, failure_text, fixed_text, fixes};
use heirloom_model::kinds::{
    CATEGORY_CONVENTION, CATEGORY_DECISION, CATEGORY_FACT, CATEGORY_LEARNING, Mistake,
};
use heirloom_model::record::Attrs;
use heirloom_model::signal::{Found, Signal, Verb};
use heirloom_model::{Kind, KindData, Merge, Timestamp, text};
use heirloom_store::Change;
use serde_json::json;

impl Taker<'_, '_, '_> {
    /// A command worked: what failed in its place is resolved by it.
    pub(super) fn worked(&mut self, command: &str, at: Timestamp) {
        let is_fixed = |open: &Open| match &open.what {
            Wrong::Command(failure) => fixes(failure, command),
            Wrong::Signalled(_) => false,
        };
        let (fixed, left): (Vec<Open>, Vec<Open>) = std::mem::take(&mut self.state.open)
            .into_iter()
            .partition(is_fixed);
        self.state.open = left.into();
        for open in fixed {
            if let Wrong::Command(failure) = &open.what {
                let how = fixed_text(failure, command, &open.changed);
                let mut extra = Attrs::new();
                extra.insert("command".to_owned(), json!(failure.command));
                extra.insert(
                    "worked".to_owned(),
                    json!(Failure::new(command, "").command),
                );
                self.mistake(&open, &failure_text(failure), Some(how), extra, at);
            }
        }
    }

    /// Remembers an error, with how it was mended if it was.
    fn mistake(
        &mut self,
        open: &Open,
        said: &str,
        how: Option<String>,
        extra: Attrs,
        at: Timestamp,
    ) {
        let scope = self.scope(open.agent.as_deref());
        let mut record = self
            .engine
            .draft(Kind::Error, said, scope, self.agent.as_str());
        record.key = Some(Mistake::key(said, None, None));
        let mut typed = Mistake::open();
        if how.is_some() {
            typed.state = Mistake::RESOLVED.to_owned();
        }
        typed.resolution = how;
        typed.extra = extra;
        record.attrs = typed.to_attrs();
        record.true_from = Some(open.at);
        let id = self.id("error", &open.id, open.at);
        let record = Box::new(record);
        let merge = Merge::Keep;
        self.hold_as(Change::Put { record, merge }, id, at);
    }

    /// What the agent told in signals that is worth knowing later: knowledge, errors and files. What it told of tasks
    /// and steps is past.
    pub(super) fn signals(&mut self, said: &str, id: &str, at: Timestamp, agent: Option<&str>) {
        let mut found = Vec::new();
        self.parser.message(said, 0, &mut |one| {
            if let Found::Signal(signal) = one {
                found.push(signal);
            }
        });
        for (n, mut signal) in found.into_iter().enumerate() {
            self.engine
                .redactor()
                .redact_in_place(&mut signal.text, &mut Vec::new());
            self.signal(&signal, &format!("{id} signal {n}"), at, agent);
        }
    }

    fn signal(&mut self, signal: &Signal, id: &str, at: Timestamp, agent: Option<&str>) {
        let said = signal.text.trim();
        let (category, said, key, why) = match signal.verb {
            Verb::KeyFact => (CATEGORY_FACT, said, None, None),
            Verb::Learning => (CATEGORY_LEARNING, said, None, None),
            Verb::Decision => {
                let (decision, why) = signals::split_decision(said);
                (CATEGORY_DECISION, decision, None, why)
            }
            Verb::Convention => match signals::split_convention(said) {
                Ok((key, value)) => (CATEGORY_CONVENTION, value, Some(key), None),
                Err(_) => return,
            },
            Verb::Error => {
                self.state.open(Open {
                    id: id.to_owned(),
                    at,
                    what: Wrong::Signalled(said.to_owned()),
                    agent: agent.map(str::to_owned),
                    changed: Vec::new(),
                });
                return;
            }
            Verb::ErrorResolved => {
                return self.resolved(said, at);
            }
            Verb::FileModified => {
                return self.changed(said, at, agent);
            }
            Verb::StepDone
            | Verb::StepPending
            | Verb::Blocked
            | Verb::Unblocked
            | Verb::Forget
            | Verb::EvalFeedback
            | Verb::PhaseResult
            | Verb::FeedbackResponse
            | Verb::Status => return,
        };
        let new = NewRecord {
            text: said.to_owned(),
            category: Some(category.to_owned()),
            key: key.map(str::to_owned),
            rationale: why.map(str::to_owned),
            source: Some(self.agent.as_str().to_owned()),
            scope: self.scope(agent),
            ..NewRecord::default()
        };
        // One that cannot be stored is passed over, as an agent's line that is none.
        let Ok(change) = self.engine.change_of(&new) else {
            return;
        };
        let id = self.id("signal", id, at);
        match (kept_as(change, id, at), key) {
            (Some(change), Some(key)) => self.keep_newest(key, change),
            (Some(change), None) => self.hold(change),
            (None, _) => {}
        }
    }

    /// Of the values of one key the newest is the one that holds.
    fn keep_newest(&mut self, key: &str, change: Change) {
        self.keyed.retain(|(known, _)| known != key);
        self.keyed.push((key.to_owned(), change));
    }

    /// The agent told that an error is resolved: one that it told before.
    fn resolved(&mut self, said: &str, at: Timestamp) {
        let (named, how) = signals::split_decision(said);
        let is_it = |open: &Open| match &open.what {
            Wrong::Signalled(error) => {
                text::signature(error) == text::signature(named)
                    || text::normal(error).contains(&text::normal(named))
            }
            Wrong::Command(_) => false,
        };
        let Some(place) = self.state.open.iter().position(is_it) else {
            return;
        };
        if let Some(open) = self.state.open.remove(place)
            && let Wrong::Signalled(error) = &open.what
        {
            let how = how.unwrap_or("resolved").to_owned();
            self.mistake(&open, error, Some(how), Attrs::new(), at);
        }
    }

    /// Errors that the agent told and nobody resolved are open.
    pub(super) fn settle_signals(&mut self) {
        let all = std::mem::take(&mut self.state.open);
        let (told, left): (Vec<Open>, Vec<Open>) = all
            .into_iter()
            .partition(|open| matches!(open.what, Wrong::Signalled(_)));
        self.state.open = left.into();
        for open in told {
            if let Wrong::Signalled(error) = &open.what {
                self.mistake(&open, error, None, Attrs::new(), open.at);
            }
        }
    }
}
