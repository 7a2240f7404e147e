//! From an agent's output to records, as it arrives.

use super::Engine;
use super::tasks::{TASK_MAIN, TaskChange};
use crate::places;
use crate::signals::{self, SignalParser, SignalRules};
use crate::streams::{Piece, StreamReader};
use heirloom_model::kinds::{
    CATEGORY_CONVENTION, CATEGORY_DECISION, CATEGORY_FACT, CATEGORY_LEARNING, StepState,
};
use heirloom_model::signal::{Diagnostic, Found, Signal, Verb};
use heirloom_model::stream::{StreamEvent, StreamFormat};
use heirloom_model::{AgentStatus, Fault, Kind, RecordId, Scope, limits, text};
use heirloom_store::{Applied, Change, Verdict};
use std::collections::HashSet;

use super::new_record::NewRecord;

/// What became of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalOutcome {
    /// A record was written, confirmed or left as it is.
    Stored {
        /// The record.
        id: RecordId,
        /// What the store did.
        verdict: Verdict,
    },
    /// The same signal was seen before in this iteration.
    Duplicate,
    /// It says how the iteration stands; nothing is stored.
    Status,
    /// Nothing was stored because nothing was asked to be.
    DryRun,
    /// It could not be carried out; a diagnostic says why.
    Refused,
}

impl SignalOutcome {
    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stored { verdict, .. } => verdict.as_str(),
            Self::Duplicate => "duplicate",
            Self::Status => "status",
            Self::DryRun => "dry-run",
            Self::Refused => "refused",
        }
    }
}

/// A signal and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedSignal {
    /// The signal.
    pub signal: Signal,
    /// What became of it.
    pub outcome: SignalOutcome,
}

/// What an output said, and what could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observation {
    /// The signals, in order.
    pub signals: Vec<ObservedSignal>,
    /// What could not be read or carried out.
    pub diagnostics: Vec<Diagnostic>,
    /// The last status that the agent gave.
    pub status: Option<AgentStatus>,
    /// The words of its last status signal.
    pub status_message: Option<String>,
}

/// Reads one output stream and records its signals: each is durable when `push` returns.
pub struct Observer<'e> {
    engine: &'e Engine,
    scope: Scope,
    source: String,
    dry_run: bool,
    reader: StreamReader,
    parser: SignalParser,
    seen: HashSet<(Verb, String)>,
    pending: Vec<(usize, Vec<Change>)>,
    observation: Observation,
    known_task: bool,
}

impl Engine {
    /// The prefixes that begin signal and status lines.
    pub(super) fn signal_rules(&self) -> Result<SignalRules, Fault> {
        SignalRules::new(
            &self.settings.memory_prefixes,
            &self.settings.status_prefixes,
        )
        .map_err(|error| {
            Fault::usage(error.to_string())
                .hint("see `signals.prefixes` and `signals.status_prefixes` in `heirloom config`")
        })
    }

    /// An observer of one iteration's output. Signals that need a task go to `main` if `scope` names none.
    ///
    /// Errors: `Refused` when memory is off and this is no dry run.
    pub fn observer(
        &self,
        scope: Scope,
        format: StreamFormat,
        dry_run: bool,
    ) -> Result<Observer<'_>, Fault> {
        if !dry_run {
            self.writable()?;
        }
        super::new_record::check_scope(&scope)?;
        let rules = self.signal_rules()?;
        Ok(Observer {
            engine: self,
            source: scope.agent.clone().unwrap_or_else(|| "agent".to_owned()),
            scope,
            dry_run,
            reader: StreamReader::new(format),
            parser: SignalParser::new(&rules),
            seen: HashSet::new(),
            pending: Vec::new(),
            observation: Observation::default(),
            known_task: false,
        })
    }
}

impl Observer<'_> {
    /// Reads the next bytes of the output; `on_piece` sees its words, and what a JSON stream says.
    ///
    /// Errors are the store's: what was found before the error is recorded.
    pub fn push(
        &mut self,
        bytes: &[u8],
        on_piece: &mut dyn FnMut(&Piece<'_>),
    ) -> Result<(), Fault> {
        let mut found = Vec::new();
        let parser = &mut self.parser;
        self.reader.push(bytes, &mut |piece| {
            take_piece(&piece, parser, &mut found, on_piece)
        });
        self.take(found)
    }

    /// Reads to the end of the output and returns what was found.
    pub fn finish(mut self, on_piece: &mut dyn FnMut(&Piece<'_>)) -> Result<Observation, Fault> {
        let mut found = Vec::new();
        let parser = &mut self.parser;
        self.reader
            .finish(&mut |piece| take_piece(&piece, parser, &mut found, on_piece));
        self.parser.finish(&mut |one| found.push(one));
        self.take(found)?;
        Ok(self.observation)
    }

    /// What was found so far.
    pub fn so_far(&self) -> &Observation {
        &self.observation
    }

    fn take(&mut self, found: Vec<Found>) -> Result<(), Fault> {
        for one in found {
            match one {
                Found::Signal(signal) => self.signal(signal)?,
                Found::Diagnostic(diagnostic) => self.complain(diagnostic.line, diagnostic.message),
            }
            if self.pending.len() >= limits::BATCH_RECORDS {
                self.flush()?;
            }
        }
        self.flush()
    }

    fn complain(&mut self, line: u64, message: String) {
        if self.observation.diagnostics.len() < limits::DIAGNOSTICS_MAX {
            self.observation
                .diagnostics
                .push(Diagnostic { line, message });
        }
    }

    fn signal(&mut self, signal: Signal) -> Result<(), Fault> {
        let place = self.observation.signals.len();
        let outcome = if signal.verb == Verb::Status {
            let (status, message) = signals::split_status(&signal.text);
            self.observation.status = status.or(self.observation.status);
            self.observation.status_message = Some(message.to_owned()).filter(|m| !m.is_empty());
            SignalOutcome::Status
        } else if !self.seen.insert((signal.verb, signal.text.clone())) {
            SignalOutcome::Duplicate
        } else if self.dry_run {
            SignalOutcome::DryRun
        } else {
            match self.changes(&signal) {
                Ok(changes) => self.pending.push((place, changes)),
                Err(fault) => self.complain(signal.line, complaint(&signal, &fault)),
            }
            SignalOutcome::Refused
        };
        self.observation
            .signals
            .push(ObservedSignal { signal, outcome });
        Ok(())
    }

    /// Writes what is pending as one step; if the store refuses it, one by one, so that one bad signal
    /// takes no other with it.
    fn flush(&mut self) -> Result<(), Fault> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Ok(());
        }
        let all: Vec<_> = pending
            .iter()
            .flat_map(|(_, changes)| changes.iter().cloned())
            .collect();
        if let Ok(applied) = self.engine.apply(&all) {
            let mut answers = applied.into_iter();
            for (place, changes) in &pending {
                let last = answers.by_ref().take(changes.len()).last();
                self.settle(*place, last);
            }
            return Ok(());
        }
        let mut failed = None;
        for (place, changes) in pending {
            match self.engine.apply(&changes) {
                Ok(applied) => self.settle(place, applied.last().copied()),
                Err(fault) => {
                    let signal = self.observation.signals[place].signal.clone();
                    self.complain(signal.line, complaint(&signal, &fault));
                    failed = (fault.kind == heirloom_model::ErrorKind::Failed)
                        .then_some(fault)
                        .or(failed);
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn settle(&mut self, place: usize, answer: Option<Applied>) {
        if let (Some(observed), Some(applied)) = (self.observation.signals.get_mut(place), answer) {
            observed.outcome = SignalOutcome::Stored {
                id: applied.id,
                verdict: applied.verdict,
            };
        }
    }

    /// The changes that carry a signal out; the last one is the signal's own.
    fn changes(&mut self, signal: &Signal) -> Result<Vec<Change>, Fault> {
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
        if std::mem::replace(&mut self.known_task, true) {
            return Ok(vec![change]);
        }
        let said = TaskChange {
            phase: self.scope.phase.clone(),
            ..TaskChange::default()
        };
        Ok(vec![
            self.engine.task_change(&task, &said, &self.source)?,
            change,
        ])
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
        let task = self.scope.task.as_deref();
        let (named, how) = match self.engine.open_error_named(said, task) {
            Ok(id) => (id, None),
            Err(fault) => {
                let (error, how) = signals::split_decision(said);
                let Some(how) = how else { return Err(fault) };
                (self.engine.open_error_named(error, task)?, Some(how))
            }
        };
        let resolution = match (how, self.scope.iteration) {
            (Some(how), _) => how.to_owned(),
            (None, Some(n)) => format!("resolved in iteration {n}"),
            (None, None) => "resolved".to_owned(),
        };
        self.engine
            .resolve_change(&self.engine.get(named)?, &resolution, &self.source)
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
        })
    }
}

fn complaint(signal: &Signal, fault: &Fault) -> String {
    format!(
        "{} {}: {}",
        signal.verb.as_str(),
        text::excerpt(&signal.text, 80),
        fault.message
    )
}

fn take_piece(
    piece: &Piece<'_>,
    parser: &mut SignalParser,
    found: &mut Vec<Found>,
    on_piece: &mut dyn FnMut(&Piece<'_>),
) {
    match piece {
        Piece::Raw(bytes) => parser.push(bytes, &mut |one| found.push(one)),
        Piece::Event(StreamEvent::Text { text, line }) => {
            parser.message(text, *line, &mut |one| found.push(one));
        }
        Piece::Event(StreamEvent::Finished {
            text: Some(text), ..
        }) => parser.message(text, 0, &mut |one| found.push(one)),
        Piece::Event(StreamEvent::Unreadable { line, message }) => {
            found.push(Found::Diagnostic(Diagnostic {
                line: *line,
                message: message.clone(),
            }));
        }
        Piece::Event(
            StreamEvent::Finished { text: None, .. }
            | StreamEvent::SessionId(_)
            | StreamEvent::ToolCall { .. }
            | StreamEvent::ToolResult { .. }
            | StreamEvent::FileChanged(_)
            | StreamEvent::Usage(_)
            | StreamEvent::Error(_),
        ) => {}
    }
    on_piece(piece);
}
