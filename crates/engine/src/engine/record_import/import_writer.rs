//! Import writer: stores the changes of an import in batches, which a failure reverts.

use super::{ImportProgress, ImportReport};
use crate::engine::Engine;
use crate::engine::records::USER;
use heirloom_model::signal::Diagnostic;
use heirloom_model::text::counted;
use heirloom_model::{ErrorKind, Fault, ImportBatch, RecordId, limits, text};
use heirloom_store::{Change, Verdict};
use std::collections::HashSet;

/// Maximum length of an import's source in characters. It fits the byte limit of names in every script.
const SOURCE_CHARS_MAX: usize = 50;

/// Writer of an import: collects changes and stores them in batches.
pub struct ImportWriter<'e> {
    pub(super) engine: &'e Engine,
    batch: ImportBatch,
    pending: Vec<(u64, Change)>,
    pub(super) report: ImportReport,
    pub(super) sessions_count: bool,
    is_reverted: bool,
    /// True if the batch has the writes of earlier imports, which a failure leaves in place.
    is_continued: bool,
    /// True if the batch has records that this writer did not write.
    has_other_writes: bool,
    /// Changes in one transaction.
    batch_size: usize,
    progress: ImportProgress,
    /// Identities that would have been imported so far; `Some` in a dry run.
    pub(super) dry_run_identities: Option<HashSet<String>>,
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
            is_continued: false,
            has_other_writes: false,
            batch_size: limits::BATCH_RECORDS,
            progress: ImportProgress::default(),
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

    /// Continues an import that is repeated until it is complete: the writes belong to its batch, and a failure reverts
    /// nothing. Call it before the first write.
    pub fn continue_batch(&mut self, id: RecordId) {
        self.batch.id = id;
        self.is_continued = true;
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
    pub(in crate::engine) fn counting_secrets(mut self) -> Self {
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
    pub(in crate::engine) fn add_all(
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

    /// Announces entries to the receiver of the progress.
    pub(in crate::engine) fn expect(&mut self, entries: usize) {
        self.progress.expect(entries);
        self.report_progress();
    }

    fn report_progress(&self) {
        if let Some(sink) = &self.engine.import_progress {
            sink.report(self.progress);
        }
    }

    /// Adds a diagnostic about something that was not imported.
    pub fn diagnose(&mut self, message: String) {
        let line = 0;
        self.report.diagnostics.push(Diagnostic { line, message });
    }

    /// Counts entries that were left out on purpose.
    pub(in crate::engine) fn omit(&mut self, reason: &str, count: u64) {
        let omissions = &mut self.report.omissions;
        match omissions.iter_mut().find(|(known, _)| known == reason) {
            Some((_, known)) => *known += count,
            None => omissions.push((reason.to_owned(), count)),
        }
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
        })?;
        // A gap is a part of its record and not counted.
        let is_entry = |change: &&Change| !matches!(change, Change::ImportValidityGap { .. });
        self.progress
            .advance(changes.iter().filter(is_entry).count());
        self.report_progress();
        Ok(())
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
    pub(super) fn has_secret(&self, change: &Change) -> bool {
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
        if self.is_continued {
            let hint = "what was written stays; the next import continues after it";
            return fault.hint(hint);
        }
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
                "{} imported: `heirloom undo {}` reverts the import, a repeated import continues it",
                counted(self.report.created, "entry was", "entries were"),
                self.batch.id
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
    pub(super) fn count_created(&mut self, has_secret: bool) {
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
