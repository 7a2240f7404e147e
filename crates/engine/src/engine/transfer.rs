//! Taking records of another store, or of an earlier export, into this one.

use super::Engine;
use heirloom_model::signal::Diagnostic;
use heirloom_model::{ErrorKind, Fault, Merge, Record, limits, text};
use heirloom_store::{Applied, Change, Filter, Order, Verdict, When};

use super::import_mirror::ImportReport;

impl Engine {
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
