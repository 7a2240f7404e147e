//! Taking records of another store, or of an earlier export, into this one.

use super::Engine;
use heirloom_model::{ErrorKind, Fault, Merge, Record, limits};
use heirloom_store::{Change, Filter, Order, Verdict, When};

use super::import_mirror::ImportReport;

impl Engine {
    /// Takes `records` in, whatever project they come from. What is here already stays as it is, so that
    /// the same import twice changes nothing: a known id is left alone, a taken identity keeps its record.
    ///
    /// Batches are atomic; the first that fails ends the import, and the same call again goes on behind it.
    pub fn import_records(&self, records: Vec<Record>) -> Result<ImportReport, Fault> {
        self.writable()?;
        let mut report = ImportReport::default();
        let mut changes = Vec::new();
        for mut record in records {
            match self.get(record.id) {
                Ok(_) => {
                    report.known += 1;
                    continue;
                }
                Err(fault) if fault.kind == ErrorKind::NotFound => {}
                Err(fault) => return Err(fault),
            }
            record.project = self.project.clone();
            changes.push(Change::Put {
                record: Box::new(record),
                merge: Merge::Keep,
            });
            if changes.len() == limits::BATCH_RECORDS {
                self.take_batch(&mut changes, &mut report)?;
            }
        }
        self.take_batch(&mut changes, &mut report)?;
        Ok(report)
    }

    pub(super) fn take_batch(
        &self,
        changes: &mut Vec<Change>,
        report: &mut ImportReport,
    ) -> Result<(), Fault> {
        for applied in self.apply(&std::mem::take(changes))? {
            match applied.verdict {
                Verdict::Created | Verdict::Replaced => report.created += 1,
                Verdict::Confirmed
                | Verdict::Unchanged
                | Verdict::Conflict
                | Verdict::Retired
                | Verdict::Restored => report.known += 1,
            }
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
