//! Taking records of another store, or of an earlier export, into this one.

use super::Engine;
use heirloom_model::signal::Diagnostic;
use heirloom_model::{ErrorKind, Fault, Merge, Message, Record, Session, limits, text};
use heirloom_store::{Applied, Change, Filter, Order, StoreError, Verdict, When};
use std::collections::{BTreeMap, HashSet};

use super::import_mirror::ImportReport;

/// What an export carried: records with the line that each stood on, and conversations.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Carried {
    /// Records.
    pub records: Vec<(u64, Record)>,
    /// Sessions.
    pub sessions: Vec<Session>,
    /// Messages in order, by the id of their session.
    pub messages: BTreeMap<String, Vec<Message>>,
}

impl Engine {
    /// Takes everything in; what is here already stays as it is. Messages of a session that is neither here
    /// nor carried get a diagnostic.
    pub fn import_all(&self, carried: Carried) -> Result<ImportReport, Fault> {
        let mut report = self.import_records(carried.records)?;
        for mut session in carried.sessions {
            session.project = self.project.clone();
            match self.store.session(&self.project, &session.id) {
                Ok(_) => report.known += 1,
                Err(StoreError::NotFound { .. }) => {
                    self.put_session(&session)?;
                    report.created += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
        for (session, messages) in carried.messages {
            self.import_messages(&session, messages, &mut report)?;
        }
        Ok(report)
    }

    fn import_messages(
        &self,
        session: &str,
        mut messages: Vec<Message>,
        report: &mut ImportReport,
    ) -> Result<(), Fault> {
        let here = match self
            .store
            .messages(&self.project, session, 0, limits::FIND_MAX)
        {
            Ok(here) => here,
            Err(StoreError::NotFound { .. }) => {
                let message = format!(
                    "{} messages of the session `{session}`, which is not here",
                    messages.len()
                );
                report.diagnostics.push(Diagnostic { line: 0, message });
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        let known: HashSet<_> = here.iter().map(|message| message.id).collect();
        let carried = messages.len() as u64;
        messages.retain(|message| !known.contains(&message.id));
        let new = messages.len() as u64;
        (report.created, report.known) = (report.created + new, report.known + carried - new);
        for part in messages.chunks(limits::CHANGES_MAX) {
            self.store.append_messages(&self.project, session, part)?;
        }
        Ok(())
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

    /// Takes `records` in, each with the line that it stood on, whatever project they come from. What is here
    /// already stays as it is, so that the same import twice changes nothing: a known id is left alone, a
    /// taken identity keeps its record. A record that cannot be stored gets a diagnostic.
    ///
    /// Batches are atomic; a failing store ends the import, and the same call again goes on behind it.
    pub fn import_records(&self, records: Vec<(u64, Record)>) -> Result<ImportReport, Fault> {
        self.writable()?;
        let mut report = ImportReport::default();
        let mut changes = Vec::new();
        for (line, mut record) in records {
            match self.get(record.id) {
                Ok(_) => {
                    report.known += 1;
                    continue;
                }
                Err(fault) if fault.kind == ErrorKind::NotFound => {}
                Err(fault) => return Err(fault),
            }
            record.project = self.project.clone();
            let put = Change::Put {
                record: Box::new(record),
                merge: Merge::Keep,
            };
            changes.push((line, put));
            if changes.len() == limits::BATCH_RECORDS {
                self.take_batch(&mut changes, &mut report)?;
            }
        }
        self.take_batch(&mut changes, &mut report)?;
        Ok(report)
    }

    /// Writes what came from these lines as one step; if something of it cannot be stored, one by one.
    pub(super) fn take_batch(
        &self,
        batch: &mut Vec<(u64, Change)>,
        report: &mut ImportReport,
    ) -> Result<(), Fault> {
        let (lines, changes): (Vec<_>, Vec<_>) = std::mem::take(batch).into_iter().unzip();
        match self.apply(&changes) {
            Ok(applied) => report.count(&applied),
            Err(fault) if fault.kind == ErrorKind::Usage => {
                for (line, change) in lines.into_iter().zip(&changes) {
                    match self.apply(std::slice::from_ref(change)) {
                        Ok(applied) => report.count(&applied),
                        Err(fault) if fault.kind == ErrorKind::Usage => {
                            report.diagnostics.push(Diagnostic {
                                line,
                                message: refusal(change, &fault),
                            });
                        }
                        Err(fault) => return Err(fault),
                    }
                }
            }
            Err(fault) => return Err(fault),
        }
        Ok(())
    }

    /// Calls `each` with every record, oldest first: the current ones, or with `past` all of them.
    pub fn export_records(&self, past: bool, each: &mut dyn FnMut(&Record)) -> Result<u64, Fault> {
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
            page.iter().for_each(&mut *each);
            count += page.len() as u64;
            match page.last() {
                Some(last) if page.len() == filter.limit => filter.after = Some(last.id),
                Some(_) | None => return Ok(count),
            }
        }
    }
}

impl ImportReport {
    fn count(&mut self, applied: &[Applied]) {
        for one in applied {
            match one.verdict {
                Verdict::Created | Verdict::Replaced => self.created += 1,
                Verdict::Confirmed
                | Verdict::Unchanged
                | Verdict::Conflict
                | Verdict::Retired
                | Verdict::Restored => self.known += 1,
            }
        }
    }
}

/// Which entry was not taken, and why.
fn refusal(change: &Change, fault: &Fault) -> String {
    let said = match change {
        Change::Put { record, .. } | Change::Revise { record, .. } => record.text.as_str(),
        Change::Retire { .. } | Change::Restore { .. } => "",
    };
    format!("`{}`: {}; skipped", text::excerpt(said, 60), fault.message)
}
