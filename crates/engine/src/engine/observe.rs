//! From an agent's output to records, as it arrives.

mod acting;
mod told;
mod writing;

use super::Engine;
use crate::signals::{self, SignalParser, SignalRules};
use crate::streams::{Piece, StreamReader};
use heirloom_model::signal::{Diagnostic, Found, Signal, Verb};
use heirloom_model::stream::{StreamEvent, StreamFormat};
use heirloom_model::{AgentStatus, ErrorKind, Fault, RecordId, Scope, limits, text};
use heirloom_store::{Change, Verdict};
use std::collections::{HashSet, VecDeque};

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

/// A signal's place among the observed ones, and the changes that carry it out.
type Pending = (usize, Vec<Change>);

/// Reads one output stream and records its signals: each is durable when `push` returns.
pub struct Observer<'e> {
    engine: &'e Engine,
    scope: Scope,
    source: String,
    dry_run: bool,
    reader: StreamReader,
    parser: SignalParser,
    seen: HashSet<(Verb, String)>,
    /// The words of each line that the agent was told.
    told: HashSet<String>,
    /// Places of the signals that are still to be carried out.
    waiting: VecDeque<usize>,
    pending: Vec<Pending>,
    /// How many of them, from the first, were written as one step that failed.
    doubtful: usize,
    observation: Observation,
    known_task: bool,
    complaints: usize,
    complained_line: u64,
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
            told: HashSet::new(),
            waiting: VecDeque::new(),
            pending: Vec::new(),
            doubtful: 0,
            observation: Observation::default(),
            known_task: false,
            complaints: 0,
            complained_line: 0,
        })
    }
}

impl Observer<'_> {
    /// Reads the next bytes of the output; `on_piece` sees its words, and what a JSON stream says.
    ///
    /// Errors are the store's. Signals that it did not take are kept and tried again, in order, by the next
    /// push and by [`finish`](Self::finish). A write that failed and took effect all the same is recognised
    /// by its records; one that only counted what was known may count it once more.
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

    /// Reads to the end of the output; nothing may be pushed afterwards.
    ///
    /// Errors as for [`push`](Self::push); what is not recorded then is told in a diagnostic.
    pub fn finish(&mut self, on_piece: &mut dyn FnMut(&Piece<'_>)) -> Result<(), Fault> {
        let mut found = Vec::new();
        let parser = &mut self.parser;
        self.reader
            .finish(&mut |piece| take_piece(&piece, parser, &mut found, on_piece));
        self.parser.finish(&mut |one| found.push(one));
        let taken = self.take(found);
        if let Err(fault) = &taken {
            let places = self.pending.iter().map(|(place, _)| *place);
            let places: Vec<_> = places.chain(self.waiting.iter().copied()).collect();
            if let Some(first) = places.first() {
                self.observation.diagnostics.push(Diagnostic {
                    line: self.observation.signals[*first].signal.line,
                    message: format!("not recorded: {} signals, {}", places.len(), fault.message),
                });
            }
        }
        self.tell_rest();
        taken
    }

    /// Everything that was found.
    pub fn into_observation(self) -> Observation {
        self.observation
    }

    /// What was found so far.
    pub fn so_far(&self) -> &Observation {
        &self.observation
    }

    fn take(&mut self, found: Vec<Found>) -> Result<(), Fault> {
        for one in found {
            match one {
                Found::Signal(signal) => self.signal(signal),
                // The readers count beyond their own caps, so these are few.
                Found::Diagnostic(diagnostic) => self.observation.diagnostics.push(diagnostic),
            }
        }
        self.carry_out()
    }

    /// Carries out what waits, in order, to the first failure of the store.
    fn carry_out(&mut self) -> Result<(), Fault> {
        while let Some(&place) = self.waiting.front() {
            let signal = self.observation.signals[place].signal.clone();
            if let Some(id) = self.echoed(&signal)? {
                let verdict = Verdict::Unchanged;
                self.observation.signals[place].outcome = SignalOutcome::Stored { id, verdict };
                self.waiting.pop_front();
                continue;
            }
            match self.changes(&signal) {
                Ok(changes) => self.pending.push((place, changes)),
                Err(fault) if fault.kind == ErrorKind::Failed => return Err(fault),
                // It is about the signal, not about the store.
                Err(fault) => self.complain(signal.line, complaint(&signal, &fault)),
            }
            self.waiting.pop_front();
            if self.pending.len() >= limits::BATCH_RECORDS {
                self.flush()?;
            }
        }
        self.flush()
    }

    /// Says why a signal could not be carried out; beyond the cap it is counted.
    fn complain(&mut self, line: u64, message: String) {
        self.complaints += 1;
        if self.complaints <= limits::DIAGNOSTICS_MAX {
            self.observation
                .diagnostics
                .push(Diagnostic { line, message });
        }
        self.complained_line = line;
    }

    fn tell_rest(&mut self) {
        let untold = self.complaints.saturating_sub(limits::DIAGNOSTICS_MAX);
        if untold > 0 {
            self.observation.diagnostics.push(Diagnostic {
                line: self.complained_line,
                message: format!("{untold} more signals, to this line, could not be carried out"),
            });
        }
    }

    fn signal(&mut self, mut signal: Signal) {
        // Before anything is made of it: keys, and the memory of what was seen.
        let redactor = self.engine.redactor();
        redactor.redact_in_place(&mut signal.text, &mut Vec::new());
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
            self.waiting.push_back(self.observation.signals.len());
            SignalOutcome::Refused
        };
        self.observation
            .signals
            .push(ObservedSignal { signal, outcome });
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
        Piece::Event(StreamEvent::Unreadable { line, message }) => {
            found.push(Found::Diagnostic(Diagnostic {
                line: *line,
                message: message.clone(),
            }));
        }
        Piece::Event(
            StreamEvent::Finished { .. }
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
