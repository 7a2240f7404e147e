//! Observer: turns signals in an agent's output into records while it arrives.

mod batch_writer;
mod echo_filter;
mod error_closing;
mod signal_changes;

use crate::failures::{FailedRuns, RecentChanges};
use error_closing::FinishedTool;
use heirloom_agents::StreamFormat;
use heirloom_agents::signals::{self, SignalParser};
use heirloom_agents::streams::{StreamPiece, StreamReader};
use heirloom_engine::Engine;
use heirloom_engine::Redacted;
use heirloom_engine::TASK_MAIN;
use heirloom_model::event_stream::StreamEvent;
use heirloom_model::signal::{Diagnostic, ParserEvent, Signal, SignalVerb};
use heirloom_model::text::counted;
use heirloom_model::{
    AgentStatus, Authority, ErrorKind, Fault, RecordId, Scope, limits, record, text,
};
use heirloom_store::{Change, Verdict};
use std::collections::{HashSet, VecDeque};

/// Outcome of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalOutcome {
    /// A record was written, confirmed or left unchanged.
    Stored {
        /// The record.
        id: RecordId,
        /// Verdict of the store.
        verdict: Verdict,
    },
    /// The same signal occurred before in this iteration.
    Duplicate,
    /// It reports the status of the iteration; nothing is stored.
    Status,
    /// Nothing was stored because this is a dry run.
    DryRun,
    /// It could not be applied; a diagnostic has the reason.
    Refused,
}

impl SignalOutcome {
    /// Returns the name in JSON.
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

/// Signal with its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedSignal {
    /// The signal.
    pub signal: Signal,
    /// The outcome.
    pub outcome: SignalOutcome,
}

/// Signals and diagnostics of an output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observation {
    /// The signals, in order.
    pub signals: Vec<ObservedSignal>,
    /// Signals that could not be read or applied.
    pub diagnostics: Vec<Diagnostic>,
    /// Last status of the agent.
    pub status: Option<AgentStatus>,
    /// Message of the last status.
    pub status_message: Option<String>,
}

/// Part of an output that is not applied yet.
#[derive(Debug)]
enum Unapplied {
    /// A signal, with its index in the observation.
    Signal(usize, Redacted<Signal>),
    /// A tool that ended.
    Tool(FinishedTool),
}

/// Part of an output that is read.
#[derive(Debug)]
enum Found {
    Parsed(ParserEvent),
    Tool(FinishedTool),
}

/// Index of a signal in the observation, and the changes that apply it.
type Pending = (usize, Vec<Redacted<Change>>);

/// Reads an output stream and records its signals; each is durable when `push` returns.
pub struct Observer<'e> {
    engine: &'e Engine,
    scope: Redacted<Scope>,
    /// Scope with the task of signals that need one.
    task_scope: Redacted<Scope>,
    source: Redacted<String>,
    dry_run: bool,
    reader: StreamReader,
    parser: SignalParser,
    seen: HashSet<(SignalVerb, String)>,
    /// Normalised words of each line that was injected into the prompt.
    injected_lines: HashSet<String>,
    /// Signals and tools that are not applied yet, in order.
    waiting: VecDeque<Unapplied>,
    /// Newest changes of the tools.
    changes: RecentChanges,
    failed_runs: FailedRuns,
    pending: Vec<Pending>,
    /// Number of pending entries, from the first, whose transaction failed and may have committed all the same.
    uncertain: usize,
    observation: Observation,
    known_task: bool,
    refusal_count: usize,
    last_refused_line: u64,
}

/// Run loop around an agent program, and the observer of its output.
#[derive(Clone, Copy)]
pub struct Runs<'e> {
    pub(crate) engine: &'e Engine,
}

impl<'e> Runs<'e> {
    /// Creates the service for an engine.
    #[must_use]
    pub fn new(engine: &'e Engine) -> Self {
        Self { engine }
    }
}

impl<'e> Runs<'e> {
    /// Creates an observer of one iteration's output. Signals that need a task use `main` if `scope` has none.
    ///
    /// Errors: `Refused` when memory is off and this is not a dry run.
    pub fn observer(
        &self,
        scope: Scope,
        format: StreamFormat,
        dry_run: bool,
    ) -> Result<Observer<'e>, Fault> {
        if !dry_run {
            self.engine.require_memory()?;
        }
        record::check_scope(&scope).map_err(|bad| Fault::usage(bad.to_string()))?;
        let rules = self.engine.contexts().signal_rules()?;
        let source = Authority::agent_source(scope.agent.as_deref().unwrap_or("agent"));
        let source = self.engine.redaction().redact_text(source);
        let task = scope.task.clone();
        let task_scope = Scope {
            task: Some(task.unwrap_or_else(|| TASK_MAIN.to_owned())),
            ..scope.clone()
        };
        Ok(Observer {
            engine: self.engine,
            source,
            task_scope: self.engine.redaction().redact_scope(task_scope),
            scope: self.engine.redaction().redact_scope(scope),
            dry_run,
            reader: StreamReader::new(format),
            parser: SignalParser::new(rules),
            seen: HashSet::new(),
            injected_lines: HashSet::new(),
            waiting: VecDeque::new(),
            changes: RecentChanges::default(),
            failed_runs: FailedRuns::default(),
            pending: Vec::new(),
            uncertain: 0,
            observation: Observation::default(),
            known_task: false,
            refusal_count: 0,
            last_refused_line: 0,
        })
    }
}

impl Observer<'_> {
    /// Processes the next bytes of the output; `on_piece` gets its text and the events of a JSON stream.
    ///
    /// Errors are the store's. Signals that were not stored stay pending and are tried again, in order, by the next
    /// push and by [`finish`](Self::finish). A failed write that took effect is recognised by its records; a repeated
    /// confirmation may be counted twice.
    pub fn push(
        &mut self,
        bytes: &[u8],
        on_piece: &mut dyn FnMut(&StreamPiece<'_>),
    ) -> Result<(), Fault> {
        let mut found = Vec::new();
        let parser = &mut self.parser;
        self.reader.push(bytes, &mut |piece| {
            take_piece(&piece, parser, &mut found, on_piece)
        });
        self.queue_found(found)
    }

    /// Processes the end of the output; no push may follow.
    ///
    /// Errors: as for [`push`](Self::push); a diagnostic lists signals that were not recorded.
    pub fn finish(&mut self, on_piece: &mut dyn FnMut(&StreamPiece<'_>)) -> Result<(), Fault> {
        let mut found = Vec::new();
        let parser = &mut self.parser;
        self.reader
            .finish(&mut |piece| take_piece(&piece, parser, &mut found, on_piece));
        self.parser
            .finish(&mut |one| found.push(Found::Parsed(one)));
        let result = self.queue_found(found);
        if let Err(fault) = &result {
            let places = self.pending.iter().map(|(place, _)| *place);
            let waiting = self.waiting.iter().filter_map(|one| match one {
                Unapplied::Signal(place, _) => Some(*place),
                Unapplied::Tool(_) => None,
            });
            let places: Vec<_> = places.chain(waiting).collect();
            if let Some(first) = places.first() {
                self.observation.diagnostics.push(Diagnostic {
                    line: self.observation.signals[*first].signal.line,
                    message: format!(
                        "not recorded: {}, {}",
                        counted(places.len(), "signal", "signals"),
                        fault.message
                    ),
                });
            }
        }
        self.report_unlisted_refusals();
        result
    }

    /// Returns the observation.
    pub fn into_observation(self) -> Observation {
        self.observation
    }

    /// Returns the observation so far.
    pub fn observed_so_far(&self) -> &Observation {
        &self.observation
    }

    fn queue_found(&mut self, found: Vec<Found>) -> Result<(), Fault> {
        for one in found {
            match one {
                Found::Parsed(ParserEvent::Signal(signal)) => self.queue_signal(signal),
                // The readers cap their diagnostics, so these are few.
                Found::Parsed(ParserEvent::Diagnostic(diagnostic)) => {
                    self.observation.diagnostics.push(diagnostic)
                }
                Found::Tool(tool) if !self.dry_run => {
                    self.waiting.push_back(Unapplied::Tool(tool));
                }
                Found::Tool(_) => {}
            }
        }
        self.process_waiting()
    }

    /// Applies waiting signals and tools in order, until the store fails.
    fn process_waiting(&mut self) -> Result<(), Fault> {
        while let Some(one) = self.waiting.pop_front() {
            let processed = match &one {
                Unapplied::Signal(place, signal) => self.process_signal(*place, signal),
                // An error that was reported before must be stored to be closed.
                Unapplied::Tool(tool) => self.flush().and_then(|()| self.process_tool(tool)),
            };
            if let Err(fault) = processed {
                self.waiting.push_front(one);
                return Err(fault);
            }
            if self.pending.len() >= limits::BATCH_RECORDS {
                self.flush()?;
            }
        }
        self.flush()
    }

    /// Adds the changes of a signal to the pending ones. Errors are the store's; then nothing was added.
    fn process_signal(&mut self, place: usize, signal: &Redacted<Signal>) -> Result<(), Fault> {
        if let Some(id) = self.echoed_record(signal)? {
            let verdict = Verdict::Unchanged;
            self.observation.signals[place].outcome = SignalOutcome::Stored { id, verdict };
            return Ok(());
        }
        match self.changes_of(signal) {
            Ok(changes) => self.pending.push((place, changes)),
            Err(fault) if fault.kind == ErrorKind::Failed => return Err(fault),
            // The fault concerns this signal and not the store.
            Err(fault) => self.report_refusal(signal.line, refusal_message(signal, &fault)),
        }
        Ok(())
    }

    /// Adds a diagnostic for a signal that could not be applied; beyond the cap it is only counted.
    fn report_refusal(&mut self, line: u64, message: String) {
        self.refusal_count += 1;
        if self.refusal_count <= limits::DIAGNOSTICS_MAX {
            self.observation
                .diagnostics
                .push(Diagnostic { line, message });
        }
        self.last_refused_line = line;
    }

    fn report_unlisted_refusals(&mut self) {
        let unlisted = self.refusal_count.saturating_sub(limits::DIAGNOSTICS_MAX);
        if unlisted > 0 {
            self.observation.diagnostics.push(Diagnostic {
                line: self.last_refused_line,
                message: format!(
                    "{} up to this line could not be applied",
                    counted(unlisted, "more signal", "more signals")
                ),
            });
        }
    }

    fn queue_signal(&mut self, signal: Signal) {
        // Redact first: keys and the set of seen signals are derived from the text.
        let signal = self.engine.redaction().redact_signal(signal);
        let outcome = if signal.verb == SignalVerb::Status {
            let (status, message) = signals::split_status(&signal.text);
            self.observation.status = status.or(self.observation.status);
            self.observation.status_message = Some(message.to_owned()).filter(|m| !m.is_empty());
            SignalOutcome::Status
        } else if !self.seen.insert((signal.verb, signal.text.clone())) {
            SignalOutcome::Duplicate
        } else if self.dry_run {
            SignalOutcome::DryRun
        } else {
            let place = self.observation.signals.len();
            self.waiting
                .push_back(Unapplied::Signal(place, signal.clone()));
            SignalOutcome::Refused
        };
        self.observation.signals.push(ObservedSignal {
            signal: signal.into_inner(),
            outcome,
        });
    }
}

fn refusal_message(signal: &Signal, fault: &Fault) -> String {
    format!(
        "{} {}: {}",
        signal.verb.as_str(),
        text::excerpt(&signal.text, 80),
        fault.message
    )
}

fn take_piece(
    piece: &StreamPiece<'_>,
    parser: &mut SignalParser,
    found: &mut Vec<Found>,
    on_piece: &mut dyn FnMut(&StreamPiece<'_>),
) {
    match piece {
        StreamPiece::Raw(bytes) => {
            parser.push(bytes, &mut |one| found.push(Found::Parsed(one)));
        }
        StreamPiece::Event(StreamEvent::Text { text, line }) => {
            parser.parse_message(text, *line, &mut |one| found.push(Found::Parsed(one)));
        }
        StreamPiece::Event(StreamEvent::Unreadable { line, message }) => {
            found.push(Found::Parsed(ParserEvent::Diagnostic(Diagnostic {
                line: *line,
                message: message.clone(),
            })));
        }
        StreamPiece::Event(StreamEvent::ToolResult {
            failed,
            action: Some(action),
        }) => found.push(Found::Tool(FinishedTool::new(action, *failed))),
        StreamPiece::Event(StreamEvent::FileChanged(path)) => {
            found.push(Found::Tool(FinishedTool::of_file(path)));
        }
        StreamPiece::Event(
            StreamEvent::Finished { .. }
            | StreamEvent::SessionId(_)
            | StreamEvent::ToolCall { .. }
            | StreamEvent::ToolResult { .. }
            | StreamEvent::Usage(_)
            | StreamEvent::Error(_),
        ) => {}
    }
    on_piece(piece);
}

#[cfg(test)]
mod redaction_tests;
