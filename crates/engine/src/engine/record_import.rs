//! Import of records from another store or an export.

mod dry_run;

use super::Engine;
use super::records::USER;
use heirloom_model::signal::Diagnostic;
use heirloom_model::{
    ErrorKind, Fault, ImportBatch, MergeRule, Message, Record, RecordId, Session, ValidityGap,
    limits, text,
};
use heirloom_store::{AsOf, Change, Filter, Order, StoreError, Verdict};
use std::collections::{BTreeMap, HashSet};

/// Maximum length of an import's source in characters. It fits the byte limit of names in every script.
const SOURCE_CHARS_MAX: usize = 50;

/// Report of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// The import batch, which `undo` reverts as a unit; `None` if nothing was new.
    pub batch: Option<RecordId>,
    /// Records, sessions and messages that are new.
    pub created: u64,
    /// Entries that were stored already.
    pub known: u64,
    /// New entries that contained a secret; `None` if that is not counted.
    pub redacted: Option<u64>,
    /// Entries that could not be imported.
    pub diagnostics: Vec<Diagnostic>,
}

/// Content of an export: records with their line numbers, sessions and messages.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportBundle {
    /// Records.
    pub records: Vec<(u64, Record)>,
    /// Sessions.
    pub sessions: Vec<Session>,
    /// Messages in order, by session id.
    pub messages: BTreeMap<String, Vec<Message>>,
    /// Validity gaps, by record.
    pub validity_gaps: BTreeMap<RecordId, Vec<ValidityGap>>,
}

/// Import of records, mirrors, shared contexts and the files of other tools.
#[derive(Clone, Copy)]
pub struct Imports<'e> {
    pub(super) engine: &'e Engine,
}

impl Imports<'_> {
    /// Imports a bundle as one batch. Entries that are stored already stay unchanged, so a repeated import changes
    /// nothing. Messages of an unknown session, and records that cannot be stored, get a diagnostic.
    ///
    /// `source` names the origin. Each part is a transaction; if one fails, the earlier ones are reverted and the
    /// error reports it.
    pub fn import_bundle(
        &self,
        mut bundle: ImportBundle,
        source: &str,
    ) -> Result<ImportReport, Fault> {
        let mut writer = ImportWriter::new(self.engine, source)?;
        for (line, mut record) in bundle.records {
            record.project = self.engine.project.clone();
            let (id, record) = (record.id, Box::new(record));
            let merge = MergeRule::Keep;
            let put = Change::Put { record, merge };
            // In one transaction with its record: a gap is accepted only from the import that creates the record.
            let gaps = bundle.validity_gaps.remove(&id).unwrap_or_default();
            let gaps = gaps.into_iter();
            let gaps = gaps.map(|gap| Change::ImportValidityGap { id, gap });
            writer.add_all(line, std::iter::once(put).chain(gaps))?;
        }
        for (id, gaps) in bundle.validity_gaps {
            let count = gaps.len();
            writer.diagnose(format!("{count} validity gaps of the unknown record {id}"));
        }
        let mut sessions = HashSet::new();
        for mut session in bundle.sessions {
            session.project = self.engine.project.clone();
            sessions.insert(session.id.clone());
            writer.add(0, Change::ImportSession(Box::new(session)))?;
        }
        for (session, messages) in bundle.messages {
            if !sessions.contains(&session) && !self.has_session(&session)? {
                let count = messages.len();
                writer.diagnose(format!(
                    "{count} messages of the unknown session `{session}`"
                ));
                continue;
            }
            for message in messages {
                writer.add(
                    0,
                    Change::ImportMessage {
                        session: session.clone(),
                        message: Box::new(message),
                    },
                )?;
            }
        }
        writer.end()
    }

    /// Imports everything of `from`, including history, conversations and working memories, as one batch.
    ///
    /// `from` is unchanged. Errors: as for [`Imports::import_bundle`].
    pub fn import_project(&self, from: &Engine) -> Result<ImportReport, Fault> {
        let mut bundle = ImportBundle::default();
        from.imports().export_records(true, &mut |record, gaps| {
            bundle.records.push((0, record.clone()));
            if !gaps.is_empty() {
                bundle.validity_gaps.insert(record.id, gaps.to_vec());
            }
        })?;
        from.imports().export_sessions(&mut |session, messages| {
            if messages.first().is_none_or(|message| message.seq == 0) {
                bundle.sessions.push(session.clone());
            }
            let known = bundle.messages.entry(session.id.clone()).or_default();
            known.extend_from_slice(messages);
        })?;
        let report = self.import_bundle(bundle, &format!("project {}", from.display_name()))?;
        self.engine.sessions().import_working_memories(from)?;
        Ok(report)
    }

    fn has_session(&self, id: &str) -> Result<bool, Fault> {
        match self.engine.store.session(&self.engine.project, id) {
            Ok(_) => Ok(true),
            Err(StoreError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Calls `each` with every session and its messages in order, oldest session first. A long session comes in
    /// several pieces, the first of which begins at message 0.
    pub fn export_sessions(&self, each: &mut dyn FnMut(&Session, &[Message])) -> Result<(), Fault> {
        const PAGE: usize = 1_000;
        let mut sessions =
            self.engine
                .store
                .sessions(&self.engine.project, None, limits::FIND_MAX)?;
        sessions.reverse();
        for session in sessions {
            let mut from = 0;
            loop {
                let page =
                    self.engine
                        .store
                        .messages(&self.engine.project, &session.id, from, PAGE)?;
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

    /// Calls `each` with every record, oldest first: only current ones, or with `past` all of them and their validity
    /// gaps.
    pub fn export_records(
        &self,
        past: bool,
        each: &mut dyn FnMut(&Record, &[ValidityGap]),
    ) -> Result<u64, Fault> {
        let when = if past {
            AsOf::Ever
        } else {
            AsOf::Current(self.engine.now())
        };
        let mut filter = Filter {
            as_of: when,
            order: Order::Oldest,
            limit: 1_000,
            ..Filter::current(&[], self.engine.now())
        };
        let mut count = 0;
        loop {
            let page = self.engine.records().find(&filter)?;
            let mut gaps: BTreeMap<RecordId, Vec<ValidityGap>> = BTreeMap::new();
            if past {
                let ids: Vec<_> = page.iter().map(|record| record.id).collect();
                for (id, gap) in self
                    .engine
                    .store
                    .validity_gaps(&self.engine.project, &ids)?
                {
                    gaps.entry(id).or_default().push(gap);
                }
            }
            // The person's workspace is not part of the project.
            for record in page
                .iter()
                .filter(|record| !self.engine.workspace().is_of_person(record))
            {
                each(record, gaps.get(&record.id).map_or(&[], Vec::as_slice));
            }
            count += page.len() as u64;
            match page.last() {
                Some(last) if page.len() == filter.limit => filter.after = Some(last.id),
                Some(_) | None => return Ok(count),
            }
        }
    }
}

/// Writer of an import: collects changes and stores them in batches.
pub struct ImportWriter<'e> {
    engine: &'e Engine,
    batch: ImportBatch,
    pending: Vec<(u64, Change)>,
    report: ImportReport,
    sessions_count: bool,
    is_reverted: bool,
    /// True if the batch has records that this writer did not write.
    has_other_writes: bool,
    /// Changes in one transaction.
    batch_size: usize,
    /// Identities that would have been imported so far; `Some` in a dry run.
    dry_run_identities: Option<HashSet<String>>,
}

impl<'e> ImportWriter<'e> {
    /// Begins an import from `source`.
    pub fn new(engine: &'e Engine, source: &str) -> Result<Self, Fault> {
        engine.require_memory()?;
        let at = engine.now();
        let batch = ImportBatch {
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
            is_reverted: false,
            has_other_writes: false,
            batch_size: limits::BATCH_RECORDS,
            dry_run_identities: None,
        })
    }

    /// Excludes sessions from the counts, for formats in which the session is only a frame.
    pub fn without_session_counts(self) -> Self {
        Self {
            sessions_count: false,
            ..self
        }
    }

    /// Sets the number of changes in one transaction. Larger batches need fewer syncs for many short entries.
    pub fn with_batch_size(self, batch_size: usize) -> Self {
        Self { batch_size, ..self }
    }

    /// Returns the batch of the import.
    pub fn batch(&self) -> &ImportBatch {
        &self.batch
    }

    /// Continues an earlier import: the writes belong to its batch. Call it before the first write.
    pub fn continue_batch(&mut self, id: RecordId) {
        self.batch.id = id;
    }

    /// Reports that the batch has records that this writer did not write.
    pub fn report_other_writes(&mut self) {
        self.has_other_writes = true;
    }

    /// Returns true for a dry run.
    pub fn is_dry_run(&self) -> bool {
        self.dry_run_identities.is_some()
    }

    /// Counts the entries with secrets in the report.
    pub(super) fn counting_secrets(mut self) -> Self {
        self.report.redacted = Some(0);
        self
    }

    /// Makes this a dry run: nothing is written.
    pub fn into_dry_run(self) -> Self {
        Self {
            dry_run_identities: Some(HashSet::new()),
            ..self
        }
    }

    /// Adds a change that came from this line; 0 if the format has no lines.
    pub fn add(&mut self, line: u64, change: Change) -> Result<(), Fault> {
        self.add_all(line, std::iter::once(change))
    }

    /// Adds changes that are written in one transaction.
    pub(super) fn add_all(
        &mut self,
        line: u64,
        changes: impl Iterator<Item = Change>,
    ) -> Result<(), Fault> {
        self.pending.extend(changes.map(|change| (line, change)));
        if self.pending.len() < self.batch_size {
            return Ok(());
        }
        self.write()
    }

    /// Adds a diagnostic about something that was not imported.
    pub fn diagnose(&mut self, message: String) {
        let line = 0;
        self.report.diagnostics.push(Diagnostic { line, message });
    }

    /// Writes pending changes and returns the report so far.
    pub fn report_so_far(&mut self) -> Result<&ImportReport, Fault> {
        self.write()?;
        Ok(&self.report)
    }

    /// Reverts what was written, after a failure between the parts; the returned fault reports it.
    pub fn abort(&self, fault: Fault) -> Fault {
        match self.is_reverted {
            true => fault,
            false => self.revert(fault),
        }
    }

    /// Writes pending changes and returns the report.
    pub fn end(mut self) -> Result<ImportReport, Fault> {
        self.write()?;
        let has_written = self.report.created > 0 || self.has_other_writes;
        let brought = has_written && self.dry_run_identities.is_none();
        self.report.batch = brought.then_some(self.batch.id);
        Ok(self.report)
    }

    fn write(&mut self) -> Result<(), Fault> {
        let (lines, changes): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.pending).into_iter().unzip();
        self.write_batch(&lines, &changes).map_err(|fault| {
            self.is_reverted = true;
            self.revert(fault)
        })
    }

    /// Writes one batch; if the store refuses it, writes its changes one by one.
    fn write_batch(&mut self, lines: &[u64], changes: &[Change]) -> Result<(), Fault> {
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

    /// Writes changes as one transaction; a dry run only counts the records that they would create.
    pub fn apply(&mut self, changes: &[Change]) -> Result<(), Fault> {
        if self.dry_run_identities.is_some() {
            return self.count_dry_run(changes);
        }
        let begin = Change::BeginBatch(self.batch.clone());
        let all: Vec<_> = std::iter::once(begin)
            .chain(changes.iter().cloned())
            .collect();
        let applied = self.engine.apply(&all)?;
        for (change, applied) in changes.iter().zip(applied.iter().skip(1)) {
            // A gap is a part of its record and not counted.
            let is_frame = matches!(change, Change::ImportSession(_)) && !self.sessions_count;
            if !is_frame && !matches!(change, Change::ImportValidityGap { .. }) {
                let has_secret = self.has_secret(change);
                self.report.count(applied.verdict, has_secret);
            }
        }
        Ok(())
    }

    /// Returns true if a change contains a secret and secrets are counted.
    fn has_secret(&self, change: &Change) -> bool {
        let redactor = &self.engine.redactor;
        let has = |text: &str| self.report.redacted.is_some() && redactor.has_secret(text);
        match change {
            Change::Put { record, .. } => {
                let attrs = record.attrs.values().filter_map(serde_json::Value::as_str);
                has(&record.text) || attrs.into_iter().any(has)
            }
            Change::ImportMessage { message, .. } => has(&message.text),
            Change::Revise { .. }
            | Change::Retire { .. }
            | Change::Restore { .. }
            | Change::ResolveConflict { .. }
            | Change::ReopenConflict { .. }
            | Change::Mark { .. }
            | Change::BeginBatch(_)
            | Change::StoreReceipt(_)
            | Change::ImportSession(_)
            | Change::ImportValidityGap { .. }
            | Change::ToggleBatch { .. } => false,
        }
    }

    /// Reverts the parts that were written before a failure.
    fn revert(&self, fault: Fault) -> Fault {
        let change = Change::ToggleBatch {
            batch: self.batch.id,
            at: self.engine.now(),
            by: USER.to_owned(),
        };
        let hint = match self.engine.records().apply_one(change) {
            Ok(_) => "the import was reverted; repeat it to import everything".to_owned(),
            Err(nothing) if nothing.kind == ErrorKind::NotFound => {
                "nothing was imported; repeat the import".to_owned()
            }
            Err(_) => format!(
                "{} entries were imported: `heirloom undo {}` reverts them, a repeated import continues after them",
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
    /// Counts a new entry.
    fn count_created(&mut self, has_secret: bool) {
        self.created += 1;
        if let Some(redacted) = &mut self.redacted {
            *redacted += u64::from(has_secret);
        }
    }

    fn count(&mut self, verdict: Verdict, has_secret: bool) {
        match verdict {
            Verdict::Created | Verdict::Replaced | Verdict::Restored => {
                self.count_created(has_secret);
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

/// Formats the diagnostic for a refused entry.
fn refusal(change: &Change, fault: &Fault) -> String {
    let text = match change {
        Change::Put { record, .. } | Change::Revise { record, .. } => record.text.as_str(),
        Change::ImportSession(session) => session.id.as_str(),
        Change::ImportMessage { message, .. } => message.text.as_str(),
        Change::Retire { .. }
        | Change::Restore { .. }
        | Change::ResolveConflict { .. }
        | Change::ReopenConflict { .. }
        | Change::Mark { .. }
        | Change::BeginBatch(_)
        | Change::StoreReceipt(_)
        | Change::ImportValidityGap { .. }
        | Change::ToggleBatch { .. } => "",
    };
    format!("`{}`: {}; skipped", text::excerpt(text, 60), fault.message)
}
