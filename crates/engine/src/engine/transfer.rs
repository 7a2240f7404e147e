//! Taking records of another store, or of an earlier export, into this one.

mod dry;

use super::Engine;
use super::records::USER;
use heirloom_model::signal::Diagnostic;
use heirloom_model::{
    Batch, ErrorKind, Fault, Lapse, Merge, Message, Record, RecordId, Session, limits, text,
};
use heirloom_store::{Change, Filter, Order, StoreError, Verdict, When};
use std::collections::{BTreeMap, HashSet};

/// Longest name of an import's source, characters: it fits a name whatever alphabet it is in.
const SOURCE_CHARS_MAX: usize = 50;

/// What an import brought.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// The import, which `undo` takes back as one; none if it brought nothing.
    pub batch: Option<RecordId>,
    /// Records, sessions and messages that are new.
    pub created: u64,
    /// Entries that were here already.
    pub known: u64,
    /// How many of the new ones had a secret; `None` where that is not counted.
    pub redacted: Option<u64>,
    /// What could not be read.
    pub diagnostics: Vec<Diagnostic>,
}

/// What an export carried: records with the line that each stood on, and conversations.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Carried {
    /// Records.
    pub records: Vec<(u64, Record)>,
    /// Sessions.
    pub sessions: Vec<Session>,
    /// Messages in order, by the id of their session.
    pub messages: BTreeMap<String, Vec<Message>>,
    /// Times during which records were not current, by the record.
    pub lapses: BTreeMap<RecordId, Vec<Lapse>>,
}

impl Engine {
    /// Takes everything in as one import; what is here already stays as it is, so that the same import twice
    /// changes nothing. Messages of a session that is neither here nor carried, and records that cannot be
    /// stored, get a diagnostic.
    ///
    /// `source` says where it comes from. Written in parts, each durable; when one fails, those before it are
    /// taken back and the error says so.
    pub fn import_all(&self, mut carried: Carried, source: &str) -> Result<ImportReport, Fault> {
        let mut taking = Taking::new(self, source)?;
        for (line, mut record) in carried.records {
            record.project = self.project.clone();
            let (id, record) = (record.id, Box::new(record));
            let merge = Merge::Keep;
            let put = Change::Put { record, merge };
            // In one step with their record: a lapse is taken from the import that brings the record.
            let lapses = carried.lapses.remove(&id).unwrap_or_default();
            let lapses = lapses.into_iter();
            let lapses = lapses.map(|lapse| Change::TakeLapse { id, lapse });
            taking.add_all(line, std::iter::once(put).chain(lapses))?;
        }
        for (id, lapses) in carried.lapses {
            let count = lapses.len();
            taking.diagnose(format!(
                "{count} lapses of the record {id}, which is not carried"
            ));
        }
        let mut sessions = HashSet::new();
        for mut session in carried.sessions {
            session.project = self.project.clone();
            sessions.insert(session.id.clone());
            taking.add(0, Change::TakeSession(Box::new(session)))?;
        }
        for (session, messages) in carried.messages {
            if !sessions.contains(&session) && !self.has_session(&session)? {
                let count = messages.len();
                taking.diagnose(format!(
                    "{count} messages of the session `{session}`, which is not here"
                ));
                continue;
            }
            for message in messages {
                taking.add(
                    0,
                    Change::TakeMessage {
                        session: session.clone(),
                        message: Box::new(message),
                    },
                )?;
            }
        }
        taking.end()
    }

    fn has_session(&self, id: &str) -> Result<bool, Fault> {
        match self.store.session(&self.project, id) {
            Ok(_) => Ok(true),
            Err(StoreError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Calls `each` with every session and its messages in order, oldest session first; a long session comes
    /// in several pieces, the first of which begins at message 0.
    pub fn export_sessions(&self, each: &mut dyn FnMut(&Session, &[Message])) -> Result<(), Fault> {
        const PAGE: usize = 1_000;
        let mut sessions = self.store.sessions(&self.project, None, limits::FIND_MAX)?;
        sessions.reverse();
        for session in sessions {
            let mut from = 0;
            loop {
                let page = self
                    .store
                    .messages(&self.project, &session.id, from, PAGE)?;
                if from == 0 || !page.is_empty() {
                    each(&session, &page);
                }
                if page.len() < PAGE {
                    break;
                }
                from += PAGE as u64;
            }
        }
        Ok(())
    }

    /// Calls `each` with every record, oldest first: the current ones, or with `past` all of them and the times
    /// during which each was not current.
    pub fn export_records(
        &self,
        past: bool,
        each: &mut dyn FnMut(&Record, &[Lapse]),
    ) -> Result<u64, Fault> {
        let when = if past {
            When::Ever
        } else {
            When::Current(self.now())
        };
        let mut filter = Filter {
            when,
            order: Order::Oldest,
            limit: 1_000,
            ..Filter::current(&[], self.now())
        };
        let mut count = 0;
        loop {
            let page = self.find(&filter)?;
            let mut lapses: BTreeMap<RecordId, Vec<Lapse>> = BTreeMap::new();
            if past {
                let ids: Vec<_> = page.iter().map(|record| record.id).collect();
                for (id, lapse) in self.store.lapses(&self.project, &ids)? {
                    lapses.entry(id).or_default().push(lapse);
                }
            }
            // The person's own workspace is no part of the project.
            for record in page.iter().filter(|record| !self.is_of_person(record)) {
                each(record, lapses.get(&record.id).map_or(&[], Vec::as_slice));
            }
            count += page.len() as u64;
            match page.last() {
                Some(last) if page.len() == filter.limit => filter.after = Some(last.id),
                Some(_) | None => return Ok(count),
            }
        }
    }
}

/// An import on its way into the store.
pub(super) struct Taking<'e> {
    engine: &'e Engine,
    batch: Batch,
    pending: Vec<(u64, Change)>,
    report: ImportReport,
    sessions_count: bool,
    given_up: bool,
    /// How many changes are written in one step.
    part: usize,
    /// What it would have brought so far, if it only says what would come.
    dry: Option<HashSet<String>>,
}

impl<'e> Taking<'e> {
    /// Begins an import from `source`.
    pub(super) fn new(engine: &'e Engine, source: &str) -> Result<Self, Fault> {
        engine.writable()?;
        let at = engine.now();
        let batch = Batch {
            id: engine.ids.next(at),
            source: text::excerpt(source, SOURCE_CHARS_MAX),
            by: USER.to_owned(),
            at,
        };
        Ok(Self {
            engine,
            batch,
            pending: Vec::new(),
            report: ImportReport::default(),
            sessions_count: true,
            given_up: false,
            part: limits::BATCH_RECORDS,
            dry: None,
        })
    }

    /// The same, but a session is no entry of its own: the form has one as its frame.
    pub(super) fn in_a_session(self) -> Self {
        Self {
            sessions_count: false,
            ..self
        }
    }

    /// The same, written in steps of so many changes: what is short and comes in hundred thousands waits less for the
    /// disk.
    pub(super) fn in_parts_of(self, part: usize) -> Self {
        Self { part, ..self }
    }

    /// Whether it only says what would come.
    pub(super) fn is_dry(&self) -> bool {
        self.dry.is_some()
    }

    /// The same, and the report says how many entries had a secret.
    pub(super) fn counting_secrets(mut self) -> Self {
        self.report.redacted = Some(0);
        self
    }

    /// The same, but nothing is written: the report says what would come.
    pub(super) fn dry(self) -> Self {
        Self {
            dry: Some(HashSet::new()),
            ..self
        }
    }

    /// Adds a change that came from this line; 0 if the form has none.
    pub(super) fn add(&mut self, line: u64, change: Change) -> Result<(), Fault> {
        self.add_all(line, std::iter::once(change))
    }

    /// Adds changes that are written in one step.
    pub(super) fn add_all(
        &mut self,
        line: u64,
        changes: impl Iterator<Item = Change>,
    ) -> Result<(), Fault> {
        self.pending.extend(changes.map(|change| (line, change)));
        if self.pending.len() < self.part {
            return Ok(());
        }
        self.write()
    }

    /// Says what could not be taken in.
    pub(super) fn diagnose(&mut self, message: String) {
        let line = 0;
        self.report.diagnostics.push(Diagnostic { line, message });
    }

    /// What it has brought so far: all that was added is written.
    pub(super) fn so_far(&mut self) -> Result<&ImportReport, Fault> {
        self.write()?;
        Ok(&self.report)
    }

    /// Takes back what was written, because of a failure between the parts; the fault says so.
    pub(super) fn abandon(&self, fault: Fault) -> Fault {
        match self.given_up {
            true => fault,
            false => self.give_up(fault),
        }
    }

    /// Writes what is left and returns the report.
    pub(super) fn end(mut self) -> Result<ImportReport, Fault> {
        self.write()?;
        let brought = self.report.created > 0 && self.dry.is_none();
        self.report.batch = brought.then_some(self.batch.id);
        Ok(self.report)
    }

    fn write(&mut self) -> Result<(), Fault> {
        let (lines, changes): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.pending).into_iter().unzip();
        self.part(&lines, &changes).map_err(|fault| {
            self.given_up = true;
            self.give_up(fault)
        })
    }

    /// Writes what came from these lines as one step; if something of it cannot be stored, one by one.
    fn part(&mut self, lines: &[u64], changes: &[Change]) -> Result<(), Fault> {
        match self.apply(changes) {
            Err(fault) if fault.kind == ErrorKind::Usage => {}
            other => return other,
        }
        for (&line, change) in lines.iter().zip(changes) {
            match self.apply(std::slice::from_ref(change)) {
                Err(fault) if fault.kind == ErrorKind::Usage => {
                    let message = refusal(change, &fault);
                    self.report.diagnostics.push(Diagnostic { line, message });
                }
                other => other?,
            }
        }
        Ok(())
    }

    fn apply(&mut self, changes: &[Change]) -> Result<(), Fault> {
        if self.dry.is_some() {
            return self.look(changes);
        }
        let begin = Change::Begin(self.batch.clone());
        let all: Vec<_> = std::iter::once(begin)
            .chain(changes.iter().cloned())
            .collect();
        let applied = self.engine.apply(&all)?;
        for (change, applied) in changes.iter().zip(applied.iter().skip(1)) {
            // A lapse is a part of its record.
            let is_frame = matches!(change, Change::TakeSession(_)) && !self.sessions_count;
            if !is_frame && !matches!(change, Change::TakeLapse { .. }) {
                let has_secret = self.has_secret(change);
                self.report.count(applied.verdict, has_secret);
            }
        }
        Ok(())
    }

    /// Whether a change has a secret, if that is counted.
    fn has_secret(&self, change: &Change) -> bool {
        let redactor = &self.engine.redactor;
        let has = |text: &str| self.report.redacted.is_some() && redactor.has_secret(text);
        match change {
            Change::Put { record, .. } => {
                let attrs = record.attrs.values().filter_map(serde_json::Value::as_str);
                has(&record.text) || attrs.into_iter().any(has)
            }
            Change::TakeMessage { message, .. } => has(&message.text),
            Change::Revise { .. }
            | Change::Retire { .. }
            | Change::Restore { .. }
            | Change::Settle { .. }
            | Change::Unsettle { .. }
            | Change::Mark { .. }
            | Change::Begin(_)
            | Change::Keep(_)
            | Change::TakeSession(_)
            | Change::TakeLapse { .. }
            | Change::Reverse { .. } => false,
        }
    }

    /// Takes back what the parts before a failure brought.
    fn give_up(&self, fault: Fault) -> Fault {
        let change = Change::Reverse {
            batch: self.batch.id,
            at: self.engine.now(),
            by: USER.to_owned(),
        };
        let hint = match self.engine.apply_one(change) {
            Ok(_) => {
                "nothing of the import is left in the memory; the same import again takes it in"
                    .to_owned()
            }
            Err(nothing) if nothing.kind == ErrorKind::NotFound => {
                "nothing was taken in; the same import again takes it in".to_owned()
            }
            Err(_) => format!(
                "{} entries were taken in: `heirloom undo {}` takes them back, the same import again goes on behind them",
                self.report.created, self.batch.id
            ),
        };
        Fault {
            hint: Some(hint),
            ..fault
        }
    }
}

impl ImportReport {
    /// Counts an entry that is new.
    fn bring(&mut self, has_secret: bool) {
        self.created += 1;
        if let Some(redacted) = &mut self.redacted {
            *redacted += u64::from(has_secret);
        }
    }

    fn count(&mut self, verdict: Verdict, has_secret: bool) {
        match verdict {
            Verdict::Created | Verdict::Replaced | Verdict::Restored => {
                self.bring(has_secret);
            }
            Verdict::Resolved
            | Verdict::Reopened
            | Verdict::Confirmed
            | Verdict::Unchanged
            | Verdict::Conflict
            | Verdict::Retired
            | Verdict::Marked => self.known += 1,
        }
    }
}

/// Which entry was not taken, and why.
fn refusal(change: &Change, fault: &Fault) -> String {
    let said = match change {
        Change::Put { record, .. } | Change::Revise { record, .. } => record.text.as_str(),
        Change::TakeSession(session) => session.id.as_str(),
        Change::TakeMessage { message, .. } => message.text.as_str(),
        Change::Retire { .. }
        | Change::Restore { .. }
        | Change::Settle { .. }
        | Change::Unsettle { .. }
        | Change::Mark { .. }
        | Change::Begin(_)
        | Change::Keep(_)
        | Change::TakeLapse { .. }
        | Change::Reverse { .. } => "",
    };
    format!("`{}`: {}; skipped", text::excerpt(said, 60), fault.message)
}
