//! What went wrong and what worked, and what the agent told in signals.

use super::state::{Open, Wrong};
use super::taker::{Taker, kept_as};
use crate::engine::NewRecord;
use crate::failures::{Failure, failure_text, fixed_text, fixes};
use crate::signals;
use heirloom_model::kinds::{
    CATEGORY_CONVENTION, CATEGORY_DECISION, CATEGORY_FACT, CATEGORY_LEARNING, Mistake,
};
use heirloom_model::limits::HOOK_FAILURES_OPEN_MAX;
use heirloom_model::record::Attrs;
use heirloom_model::signal::{Found, Signal, Verb};
use heirloom_model::{Fault, Kind, KindData, Merge, Record, Timestamp, text};
use heirloom_store::Change;
use serde_json::json;

impl Taker<'_, '_, '_> {
    /// A command worked: what failed in its place is resolved by it.
    pub(super) fn worked(&mut self, command: &str, at: Timestamp) -> Result<(), Fault> {
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
                self.mend(failure, &how, at)?;
                let mut extra = Attrs::new();
                extra.insert("command".to_owned(), json!(failure.command));
                extra.insert(
                    "worked".to_owned(),
                    json!(Failure::new(command, "").command),
                );
                let said = (failure_text(failure), failure.key());
                self.mistake(&open, said, Some(how), extra, at);
            }
        }
        Ok(())
    }

    /// Resolves what a hook saw failing and nobody saw working, if it did not fail again later than this.
    fn mend(&self, failure: &Failure, how: &str, at: Timestamp) -> Result<(), Fault> {
        if self.taking.is_dry() {
            return Ok(());
        }
        let (engine, source) = (self.engine, self.agent.as_str());
        let is_mended = |record: &Record| {
            let last = Mistake::of(record).ok().and_then(|typed| typed.repeated_at);
            record.state() == Some(Mistake::OPEN)
                && last.unwrap_or(record.true_from.unwrap_or(record.recorded_at)) <= at
        };
        if !engine
            .failure_here(failure)?
            .is_some_and(|now| is_mended(&now))
        {
            return Ok(());
        }
        engine.apply_decided(|| {
            let current = engine.failure_here(failure)?.filter(is_mended);
            Ok(current
                .map(|now| engine.resolve_change(&now, how, source))
                .into_iter()
                .collect())
        })?;
        Ok(())
    }

    /// Commands that nobody mended are open errors: the newest of them.
    pub(super) fn settle_commands(&mut self) {
        let open: Vec<Open> = self.state.open.iter().rev().cloned().collect();
        for open in open.iter().take(HOOK_FAILURES_OPEN_MAX) {
            if let Wrong::Command(failure) = &open.what {
                let mut extra = Attrs::new();
                extra.insert("command".to_owned(), json!(failure.command));
                let said = (failure_text(failure), failure.key());
                self.mistake(open, said, None, extra, open.at);
            }
        }
    }

    /// Remembers an error, with how it was mended if it was.
    fn mistake(
        &mut self,
        open: &Open,
        (said, key): (String, String),
        how: Option<String>,
        extra: Attrs,
        at: Timestamp,
    ) {
        let scope = self.scope(open.agent.as_deref());
        let mut record = self
            .engine
            .draft(Kind::Error, &said, scope, self.agent.as_str());
        record.key = Some(key);
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
    pub(super) fn signals(
        &mut self,
        said: &str,
        id: &str,
        at: Timestamp,
        agent: Option<&str>,
    ) -> Result<(), Fault> {
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
            self.signal(&signal, &format!("{id} signal {n}"), at, agent)?;
        }
        Ok(())
    }

    fn signal(
        &mut self,
        signal: &Signal,
        id: &str,
        at: Timestamp,
        agent: Option<&str>,
    ) -> Result<(), Fault> {
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
                Err(_) => return Ok(()),
            },
            Verb::Error => {
                self.state.open(Open {
                    id: id.to_owned(),
                    at,
                    what: Wrong::Signalled(said.to_owned()),
                    agent: agent.map(str::to_owned),
                    changed: Vec::new(),
                });
                return Ok(());
            }
            Verb::ErrorResolved => {
                self.resolved(said, at);
                return Ok(());
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
            | Verb::Status => return Ok(()),
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
            return Ok(());
        };
        let id = self.id("signal", id, at);
        match (kept_as(change, id, at), key) {
            (Some(change), Some(key)) => self.keep_newest(key, change),
            (Some(change), None) => self.hold(change),
            (None, _) => {}
        }
        Ok(())
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
            self.mistake(&open, signalled(error), Some(how), Attrs::new(), at);
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
                self.mistake(&open, signalled(error), None, Attrs::new(), open.at);
            }
        }
    }
}

/// An error that the agent told, and its key.
fn signalled(error: &str) -> (String, String) {
    (error.to_owned(), Mistake::key(error, None, None))
}
