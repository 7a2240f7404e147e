//! What each verb asks for, as changes to the store.

use super::Observer;
use crate::engine::new_record::NewRecord;
use crate::engine::tasks::{TASK_MAIN, TaskChange};
use crate::places;
use crate::signals;
use heirloom_model::kinds::{
    CATEGORY_CONVENTION, CATEGORY_DECISION, CATEGORY_FACT, CATEGORY_LEARNING, Mistake, StepState,
};
use heirloom_model::signal::{Signal, Verb};
use heirloom_model::{ErrorKind, Fault, Kind, RecordId, Scope};
use heirloom_store::Change;

impl Observer<'_> {
    /// The changes that carry a signal out; the last one is the signal's own.
    pub(super) fn changes(&mut self, signal: &Signal) -> Result<Vec<Change>, Fault> {
        let said = signal.text.as_str();
        let change = match signal.verb {
            Verb::KeyFact => self.knowledge(CATEGORY_FACT, said, None, None)?,
            Verb::Learning => self.knowledge(CATEGORY_LEARNING, said, None, None)?,
            Verb::Decision => {
                let (decision, why) = signals::split_decision(said);
                self.knowledge(CATEGORY_DECISION, decision, None, why)?
            }
            Verb::Convention => {
                let (key, value) = signals::split_convention(said).map_err(Fault::usage)?;
                self.knowledge(CATEGORY_CONVENTION, value, Some(key), None)?
            }
            Verb::StepDone => {
                return self.in_task(|o, scope| {
                    o.engine
                        .step_change(said, StepState::Done, scope, &o.source)
                });
            }
            Verb::StepPending => {
                return self.in_task(|o, scope| {
                    o.engine
                        .step_change(said, StepState::Pending, scope, &o.source)
                });
            }
            Verb::FileModified => {
                let inside = places::normalise_inside(self.engine.root(), said)
                    .map_err(|problem| Fault::refused(problem.to_string()))?;
                return self
                    .in_task(|o, scope| Ok(o.engine.file_change(&inside, scope, &o.source)));
            }
            Verb::Error => {
                let change = self
                    .engine
                    .error_change(said, self.scope.clone(), &self.source)?;
                return if self.scope.task.is_some() {
                    self.in_task(|_, _| Ok(change))
                } else {
                    Ok(vec![change])
                };
            }
            Verb::ErrorResolved => self.resolve(said)?,
            Verb::Blocked => self.blocked(said)?,
            Verb::Unblocked => self.blocked("")?,
            Verb::Forget => self.forget(said)?,
            Verb::EvalFeedback | Verb::PhaseResult | Verb::FeedbackResponse => {
                let mut note = self.new_record(said);
                note.kind = Some(Kind::Note);
                note.category = Some(signal.verb.as_str().to_owned());
                self.engine.change_of(&note)?
            }
            Verb::Status => return Ok(Vec::new()),
        };
        Ok(vec![change])
    }

    fn new_record(&self, said: &str) -> NewRecord {
        NewRecord {
            text: said.to_owned(),
            source: Some(self.source.clone()),
            scope: self.scope.clone(),
            ..NewRecord::default()
        }
    }

    fn knowledge(
        &self,
        category: &str,
        said: &str,
        key: Option<&str>,
        why: Option<&str>,
    ) -> Result<Change, Fault> {
        self.engine.change_of(&NewRecord {
            category: Some(category.to_owned()),
            key: key.map(str::to_owned),
            rationale: why.map(str::to_owned),
            ..self.new_record(said)
        })
    }

    /// A change that belongs to a task, behind the one that makes the task known (once an observer).
    fn in_task(
        &mut self,
        make: impl FnOnce(&Self, Scope) -> Result<Change, Fault>,
    ) -> Result<Vec<Change>, Fault> {
        let task = self.task();
        let change = make(
            self,
            Scope {
                task: Some(task.clone()),
                ..self.scope.clone()
            },
        )?;
        if self.known_task {
            return Ok(vec![change]);
        }
        let said = TaskChange {
            phase: self.scope.phase.clone(),
            ..TaskChange::default()
        };
        let known = self.engine.task_change(&task, &said, &self.source)?;
        self.known_task = true;
        Ok(vec![known, change])
    }

    fn task(&self) -> String {
        self.scope
            .task
            .clone()
            .unwrap_or_else(|| TASK_MAIN.to_owned())
    }

    fn blocked(&mut self, why: &str) -> Result<Change, Fault> {
        let said = TaskChange {
            blocked_reason: Some(why.to_owned()),
            ..TaskChange::default()
        };
        self.engine.task_change(&self.task(), &said, &self.source)
    }

    /// `ERROR_RESOLVED error`, or `ERROR_RESOLVED error -- how`.
    fn resolve(&mut self, said: &str) -> Result<Change, Fault> {
        self.flush()?;
        let (named, how) = match self.open_error(said) {
            Ok(id) => (id, None),
            Err(fault) if fault.kind == ErrorKind::Failed => return Err(fault),
            Err(fault) => {
                let (error, how) = signals::split_decision(said);
                let Some(how) = how else { return Err(fault) };
                (self.open_error(error)?, Some(how))
            }
        };
        let resolution = match (how, self.scope.iteration) {
            (Some(how), _) => how.to_owned(),
            (None, Some(n)) => format!("resolved in iteration {n}"),
            (None, None) => "resolved".to_owned(),
        };
        let error = self.engine.get(named)?;
        Ok(self
            .engine
            .resolve_change(&error, &resolution, &self.source))
    }

    /// The open error that an agent means: the one of its own task and phase before any other.
    fn open_error(&self, said: &str) -> Result<RecordId, Fault> {
        // By its key first: reading every open error for every signal would take minutes for thousands.
        match self.engine.error_like(said, &self.scope)? {
            Some(error) if error.state() == Some(Mistake::OPEN) => Ok(error.id),
            Some(_) | None => {
                let task = self.scope.task.as_deref();
                self.engine.open_error_named(said, task)
            }
        }
    }

    fn forget(&mut self, said: &str) -> Result<Change, Fault> {
        self.flush()?;
        let id = self.engine.resolve_id(said)?;
        let record = self.engine.get(id)?;
        if record.source != self.source {
            return Err(Fault::refused(format!(
                "record {id} was written by `{}`, not by `{}`",
                record.source, self.source
            )));
        }
        Ok(Change::Retire {
            id,
            at: self.engine.now(),
            by: self.source.clone(),
        })
    }
}
