//! Failure tracking: commands that failed in a transcript, the evidence that they pass again, and signals of the agent.

use super::import_state::{FailureCause, OpenFailure};
use super::importer::{TranscriptImporter, keep_existing};
use super::learning_mode::LearningMode;
use crate::failures::{PassEvidence, current_failure, failures_with_prefix, folder_of_command};
use heirloom_agents::failures::{Failure, Subject, failure_text};
use heirloom_agents::signals;
use heirloom_engine::{NewRecord, names_error};
use heirloom_model::kinds::{
    CATEGORY_CONVENTION, CATEGORY_DECISION, CATEGORY_FACT, CATEGORY_LEARNING, ErrorRecord,
};
use heirloom_model::limits::HOOK_FAILURES_OPEN_MAX;
use heirloom_model::record::Attrs;
use heirloom_model::signal::{ParserEvent, Signal, SignalVerb};
use heirloom_model::{Fault, Kind, KindData, MergeRule, Record, Timestamp};
use heirloom_store::Change;
use serde_json::json;

impl TranscriptImporter<'_, '_, '_> {
    /// Handles a command that succeeded: failures of the same command are gone. Another command is no evidence, and what
    /// helped is for the lessons to find.
    pub(super) fn handle_success(
        &mut self,
        command: &str,
        output: &str,
        at: Timestamp,
    ) -> Result<(), Fault> {
        let prefix = Subject::Command(command.to_owned()).prefix();
        let is_same = |open: &OpenFailure| match &open.what {
            FailureCause::Command(failure) => failure.prefix == prefix,
            FailureCause::Signalled(_) => false,
        };
        let folder = self.folder.to_string_lossy();
        let folder = folder_of_command(&self.base, Some(&folder), command);
        let evidence = PassEvidence::of_command(command, folder, output, false);
        if !evidence.command_passed() {
            return Ok(());
        }
        count_success(self, &prefix, &evidence, at)?;
        if !self.state.open.iter().any(is_same) {
            return Ok(());
        }
        let (passed, left): (Vec<OpenFailure>, Vec<OpenFailure>) =
            std::mem::take(&mut self.state.open)
                .into_iter()
                .partition(is_same);
        self.state.open = left.into();
        for open in passed {
            if let FailureCause::Command(failure) = &open.what {
                self.close_recorded_failure(failure, at)?;
            }
        }
        Ok(())
    }

    /// Closes the stored error of a failure whose command passed at `at`, as a change of this import, unless it occurred
    /// again since.
    fn close_recorded_failure(&mut self, failure: &Failure, at: Timestamp) -> Result<(), Fault> {
        if self.writer.is_dry_run() {
            return Ok(());
        }
        let (engine, source) = (self.engine, self.agent.as_str());
        let is_gone = |record: &Record| {
            let last = ErrorRecord::from_record(record)
                .ok()
                .and_then(|typed| typed.repeated_at);
            record.state() == Some(ErrorRecord::OPEN)
                && last.unwrap_or(record.true_from.unwrap_or(record.recorded_at)) <= at
        };
        if !current_failure(engine, failure)?.is_some_and(|now| is_gone(&now)) {
            return Ok(());
        }
        let batch = self.writer.batch().clone();
        let applied = engine.apply_decided(|| {
            let current = current_failure(engine, failure)?.filter(is_gone);
            Ok(match current {
                Some(now) => vec![
                    Change::BeginBatch(batch.clone()),
                    engine.errors().pass_change(&now, None, at, source),
                ],
                None => Vec::new(),
            })
        })?;
        if !applied.is_empty() {
            self.writer.report_other_writes();
        }
        Ok(())
    }

    /// Records the newest unresolved command failures as open errors.
    pub(super) fn record_open_commands(&mut self) {
        let open: Vec<OpenFailure> = self.state.open.iter().rev().cloned().collect();
        for open in open.iter().take(HOOK_FAILURES_OPEN_MAX) {
            if let FailureCause::Command(failure) = &open.what {
                let mut extra = Attrs::new();
                extra.insert("command".to_owned(), json!(failure.command));
                let text = (failure_text(failure), failure.key());
                self.record_error(open, text, None, extra, open.at);
            }
        }
    }

    /// Records an error, with its resolution if it has one.
    fn record_error(
        &mut self,
        open: &OpenFailure,
        (text, key): (String, String),
        how: Option<String>,
        extra: Attrs,
        at: Timestamp,
    ) {
        let scope = self.scope(open.agent.as_deref());
        let mut record =
            self.engine
                .records()
                .draft(Kind::Error, &text, scope, self.agent.as_str());
        record.key = Some(key);
        let mut typed = ErrorRecord::open();
        if how.is_some() {
            typed.state = ErrorRecord::RESOLVED.to_owned();
        }
        typed.resolution = how;
        typed.extra = extra;
        record.attrs = typed.to_attrs();
        record.true_from = Some(open.at);
        let id = self.entry_id("error", &open.id, open.at);
        let record = Box::new(record);
        let merge = MergeRule::Keep;
        self.queue_as(Change::Put { record, merge }, id, at);
    }

    /// Processes signals with lasting content: knowledge, errors and files. Signals about tasks and steps are
    /// outdated and ignored.
    pub(super) fn process_signals(
        &mut self,
        text: &str,
        id: &str,
        at: Timestamp,
        agent: Option<&str>,
    ) -> Result<(), Fault> {
        let mut found = Vec::new();
        self.parser.parse_message(text, 0, &mut |one| {
            if let ParserEvent::Signal(signal) = one {
                found.push(signal);
            }
        });
        for (n, mut signal) in found.into_iter().enumerate() {
            self.engine
                .redaction()
                .redactor()
                .redact_in_place(&mut signal.text, &mut Vec::new());
            self.process_signal(&signal, &format!("{id} signal {n}"), at, agent)?;
        }
        Ok(())
    }

    fn process_signal(
        &mut self,
        signal: &Signal,
        id: &str,
        at: Timestamp,
        agent: Option<&str>,
    ) -> Result<(), Fault> {
        let text = signal.text.trim();
        let (category, text, key, why) = match signal.verb {
            SignalVerb::KeyFact => (CATEGORY_FACT, text, None, None),
            SignalVerb::Learning => (CATEGORY_LEARNING, text, None, None),
            SignalVerb::Decision => {
                let (decision, why) = signals::split_decision(text);
                (CATEGORY_DECISION, decision, None, why)
            }
            SignalVerb::Convention => match signals::split_convention(text) {
                Ok((key, value)) => (CATEGORY_CONVENTION, value, Some(key), None),
                Err(_) => return Ok(()),
            },
            SignalVerb::Error => {
                self.state.open(OpenFailure {
                    id: id.to_owned(),
                    at,
                    what: FailureCause::Signalled(text.to_owned()),
                    agent: agent.map(str::to_owned),
                });
                return Ok(());
            }
            SignalVerb::ErrorResolved => {
                self.resolve_signalled_error(text, at);
                return Ok(());
            }
            SignalVerb::FileModified => {
                return self.add_changed_file(text, at, agent);
            }
            SignalVerb::StepDone
            | SignalVerb::StepPending
            | SignalVerb::Blocked
            | SignalVerb::Unblocked
            | SignalVerb::Forget
            | SignalVerb::EvalFeedback
            | SignalVerb::PhaseResult
            | SignalVerb::FeedbackResponse
            | SignalVerb::Status => return Ok(()),
        };
        let new = NewRecord {
            text: text.to_owned(),
            category: Some(category.to_owned()),
            key: key.map(str::to_owned),
            rationale: why.map(str::to_owned),
            source: Some(self.agent.as_str().to_owned()),
            scope: self.scope(agent),
            ..NewRecord::default()
        };
        // A signal that cannot be stored is ignored, like an invalid line.
        let Ok(change) = self.engine.records().change_of(&new) else {
            return Ok(());
        };
        let id = self.entry_id("signal", id, at);
        match (keep_existing(change, id, at), key) {
            (Some(change), Some(key)) => self.keep_newest(key, change),
            (Some(change), None) => self.queue(change),
            (None, _) => {}
        }
        Ok(())
    }

    /// Keeps only the newest value of a key.
    fn keep_newest(&mut self, key: &str, change: Change) {
        self.keyed.retain(|(known, _)| known != key);
        self.keyed.push((key.to_owned(), change));
    }

    /// Resolves an error that the agent reported in a signal before.
    fn resolve_signalled_error(&mut self, text: &str, at: Timestamp) {
        let (named, how) = signals::split_decision(text);
        let is_it = |open: &OpenFailure| match &open.what {
            FailureCause::Signalled(error) => names_error(error, named),
            FailureCause::Command(_) => false,
        };
        let Some(place) = self.state.open.iter().position(is_it) else {
            return;
        };
        if let Some(open) = self.state.open.remove(place)
            && let FailureCause::Signalled(error) = &open.what
        {
            let how = how.unwrap_or("resolved").to_owned();
            self.record_error(&open, signalled(error), Some(how), Attrs::new(), at);
        }
    }

    /// Records unresolved errors from signals as open errors.
    pub(super) fn record_open_signals(&mut self) {
        let all = std::mem::take(&mut self.state.open);
        let (signalled_errors, left): (Vec<OpenFailure>, Vec<OpenFailure>) = all
            .into_iter()
            .partition(|open| matches!(open.what, FailureCause::Signalled(_)));
        self.state.open = left.into();
        for open in signalled_errors {
            if let FailureCause::Signalled(error) = &open.what {
                self.record_error(&open, signalled(error), None, Attrs::new(), open.at);
            }
        }
    }
}

/// Counts a further success of a command for its closed failures without a known fix, as hooks do while a session runs.
fn count_success(
    importer: &mut TranscriptImporter<'_, '_, '_>,
    prefix: &str,
    evidence: &PassEvidence,
    at: Timestamp,
) -> Result<(), Fault> {
    if importer.mode != LearningMode::Import || importer.writer.is_dry_run() {
        return Ok(());
    }
    let (engine, source) = (importer.engine, importer.agent.as_str());
    let counted = || -> Result<Vec<Change>, Fault> {
        let known = failures_with_prefix(engine, prefix.to_owned())?.into_iter();
        let known = known.filter(|one| evidence.closes(one));
        Ok(known
            .filter_map(|one| engine.errors().pass_again_change(&one, at, source))
            .collect())
    };
    if counted()?.is_empty() {
        return Ok(());
    }
    let batch = importer.writer.batch().clone();
    let applied = engine.apply_decided(|| {
        let changes = counted()?;
        let begin = (!changes.is_empty()).then(|| Change::BeginBatch(batch.clone()));
        Ok(begin.into_iter().chain(changes).collect())
    })?;
    if !applied.is_empty() {
        importer.writer.report_other_writes();
    }
    Ok(())
}

/// Returns the text and the key of an error from a signal.
fn signalled(error: &str) -> (String, String) {
    (error.to_owned(), ErrorRecord::key(error, None, None))
}
