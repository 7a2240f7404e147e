//! Mapping from signals to changes of the store.

use super::Observer;
use heirloom_agents::signals;
use heirloom_engine::NewRecord;
use heirloom_engine::{Redacted, RedactedTexts};
use heirloom_engine::{TASK_MAIN, TaskChange, named_task};
use heirloom_fs::project_fs;
use heirloom_model::kinds::{
    CATEGORY_CONVENTION, CATEGORY_DECISION, CATEGORY_FACT, CATEGORY_LEARNING, ErrorRecord,
    StepState,
};
use heirloom_model::signal::{Signal, SignalVerb};
use heirloom_model::{Authority, ErrorKind, Fault, Kind, RecordId};
use heirloom_store::Change;

impl Observer<'_> {
    /// Returns the changes of a signal; the last one is its main change.
    pub(super) fn changes_of(
        &mut self,
        signal: &Redacted<Signal>,
    ) -> Result<Vec<Redacted<Change>>, Fault> {
        let text = signal.text.as_str();
        let change = match signal.verb {
            SignalVerb::KeyFact => self.knowledge(signal, CATEGORY_FACT, text, None, None)?,
            SignalVerb::Learning => self.knowledge(signal, CATEGORY_LEARNING, text, None, None)?,
            SignalVerb::Decision => {
                let (decision, why) = signals::split_decision(text);
                self.knowledge(signal, CATEGORY_DECISION, decision, None, why)?
            }
            SignalVerb::Convention => {
                let (key, value) = signals::split_convention(text).map_err(Fault::usage)?;
                self.knowledge(signal, CATEGORY_CONVENTION, value, Some(key), None)?
            }
            SignalVerb::StepDone | SignalVerb::StepPending => {
                let state = if signal.verb == SignalVerb::StepDone {
                    StepState::Done
                } else {
                    StepState::Pending
                };
                let (scope, source) = (self.task_scope.clone(), &*self.source);
                let step =
                    (self.engine)
                        .tasks()
                        .step_change(signal.text(), state, scope, source)?;
                return self.in_task(self.redact_change(step, signal));
            }
            SignalVerb::FileModified => {
                let inside = project_fs::normalise_project_path(self.engine.root(), text)
                    .map_err(|problem| Fault::refused(problem.to_string()))?;
                let known = self.known_texts(signal);
                let path = self.engine.redaction().redact_text_except(&inside, &known);
                let (scope, source) = (self.task_scope.clone(), &*self.source);
                let file = self
                    .engine
                    .tasks()
                    .file_change(path.as_text(), scope, source);
                let known = known.with_text(path.as_text());
                return self.in_task(self.engine.redaction().redact_change(file, &known));
            }
            SignalVerb::Error => {
                let (scope, source) = (self.scope.clone(), &*self.source);
                let mut error = self
                    .engine
                    .errors()
                    .error_change(signal.text(), scope, source)?;
                if let Change::Put { record, .. } = &mut error {
                    self.failed_runs.mark_error(record);
                }
                let error = self.redact_change(error, signal);
                return match self.scope.task {
                    Some(_) => self.in_task(error),
                    None => Ok(vec![error]),
                };
            }
            SignalVerb::ErrorResolved => {
                let resolved = self.resolve(text)?;
                self.redact_change(resolved, signal)
            }
            SignalVerb::Blocked => self.redact_change(self.block_change(text)?, signal),
            SignalVerb::Unblocked if self.engine.tasks().task_record(&self.task())?.is_none() => {
                return Ok(Vec::new());
            }
            SignalVerb::Unblocked => self.redact_change(self.block_change("")?, signal),
            SignalVerb::Forget => {
                let retired = self.forget(text)?;
                self.redact_change(retired, signal)
            }
            SignalVerb::EvalFeedback | SignalVerb::PhaseResult | SignalVerb::FeedbackResponse => {
                let mut note = self.new_record(text);
                note.kind = Some(Kind::Note);
                note.category = Some(signal.verb.as_str().to_owned());
                self.redacted_change_of(note, signal)?
            }
            SignalVerb::Status => return Ok(Vec::new()),
        };
        Ok(vec![change])
    }

    /// Returns the texts that were redacted before the changes of a signal are built.
    fn known_texts<'t>(&'t self, signal: &'t Redacted<Signal>) -> RedactedTexts<'t> {
        RedactedTexts::default()
            .with_text(signal.text())
            .with_text(self.source.as_text())
            .with_scope(&self.task_scope)
    }

    fn redact_change(&self, change: Change, signal: &Redacted<Signal>) -> Redacted<Change> {
        self.engine
            .redaction()
            .redact_change(change, &self.known_texts(signal))
    }

    fn redacted_change_of(
        &self,
        new: NewRecord,
        signal: &Redacted<Signal>,
    ) -> Result<Redacted<Change>, Fault> {
        let known = self.known_texts(signal);
        self.engine
            .records()
            .redacted_change_of(new, &known, &mut Vec::new())
    }

    fn new_record(&self, text: &str) -> NewRecord {
        NewRecord {
            text: text.to_owned(),
            source: Some(self.source.to_string()),
            scope: self.scope.clone().into_inner(),
            ..NewRecord::default()
        }
    }

    fn knowledge(
        &self,
        signal: &Redacted<Signal>,
        category: &str,
        text: &str,
        key: Option<&str>,
        why: Option<&str>,
    ) -> Result<Redacted<Change>, Fault> {
        let new = NewRecord {
            category: Some(category.to_owned()),
            key: key.map(str::to_owned),
            rationale: why.map(str::to_owned),
            ..self.new_record(text)
        };
        self.redacted_change_of(new, signal)
    }

    /// Returns a change that belongs to a task; the first time after the change that creates a named task.
    fn in_task(&mut self, change: Redacted<Change>) -> Result<Vec<Redacted<Change>>, Fault> {
        if self.known_task || named_task(Some(&self.task())).is_none() {
            return Ok(vec![change]);
        }
        let task_change = TaskChange {
            phase: self.scope.phase.clone(),
            ..TaskChange::default()
        };
        let task = (self.engine)
            .tasks()
            .task_change(&self.task(), &task_change, &self.source)?;
        let known = RedactedTexts::default()
            .with_text(self.source.as_text())
            .with_scope(&self.task_scope);
        let task = self.engine.redaction().redact_change(task, &known);
        self.known_task = true;
        Ok(vec![task, change])
    }

    fn task(&self) -> String {
        let task = self.task_scope.task.clone();
        task.unwrap_or_else(|| TASK_MAIN.to_owned())
    }

    fn block_change(&self, why: &str) -> Result<Change, Fault> {
        let change = TaskChange {
            blocked_reason: Some(why.to_owned()),
            ..TaskChange::default()
        };
        self.engine
            .tasks()
            .task_change(&self.task(), &change, &self.source)
    }

    /// Handles `ERROR_RESOLVED error` and `ERROR_RESOLVED error -- how`.
    fn resolve(&mut self, text: &str) -> Result<Change, Fault> {
        self.flush()?;
        let (named, how) = match self.open_error(text) {
            Ok(id) => (id, None),
            Err(fault) if fault.kind == ErrorKind::Failed => return Err(fault),
            Err(fault) => {
                let (error, how) = signals::split_decision(text);
                let Some(how) = how else { return Err(fault) };
                (self.open_error(error)?, Some(how))
            }
        };
        let resolution = match (how, self.scope.iteration) {
            (Some(how), _) => how.to_owned(),
            (None, Some(n)) => format!("resolved in iteration {n}"),
            (None, None) => "resolved".to_owned(),
        };
        let error = self.engine.records().get(named)?;
        Ok(self
            .engine
            .errors()
            .resolve_change(&error, &resolution, &self.source))
    }

    /// Finds the open error that an agent means: first in its own task and phase.
    fn open_error(&self, text: &str) -> Result<RecordId, Fault> {
        // First by key: reading all open errors for each signal would take minutes with thousands of them.
        match self.engine.errors().error_like(text, &self.scope)? {
            Some(error) if error.state() == Some(ErrorRecord::OPEN) => Ok(error.id),
            Some(_) | None => {
                let task = self.scope.task.as_deref();
                self.engine.errors().open_error_named(text, task)
            }
        }
    }

    fn forget(&mut self, text: &str) -> Result<Change, Fault> {
        self.flush()?;
        let id = self.engine.records().resolve_id(text)?;
        let record = self.engine.records().get(id)?;
        if record.source != *self.source || Authority::of_record(&record) > Authority::Agent {
            return Err(Fault::refused(format!(
                "record {id} was written by `{}`, not by `{}`",
                record.source, *self.source
            )));
        }
        Ok(Change::Retire {
            id,
            at: self.engine.now(),
            by: self.source.to_string(),
        })
    }
}
