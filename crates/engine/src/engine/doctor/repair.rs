//! Repair of a memory.

use super::Doctor;
use crate::engine::mirror_writer::MirrorState;
use heirloom_fs::durable;
use heirloom_model::Fault;
use heirloom_model::text::EscapedPath;
use heirloom_model::text::counted;
use heirloom_store::{RepairOutcome, SalvageReport, SqliteStore, StoreError, StoreMarker};
use std::path::PathBuf;

/// Report of a repair.
#[derive(Debug, Default)]
pub struct RepairReport {
    /// Actions, one line each.
    pub done: Vec<String>,
    /// Actions that failed.
    pub failed: Vec<Fault>,
    /// Recovered data, if the database was damaged.
    pub salvaged: Option<SalvageReport>,
    /// Paths of the damaged database and its journal.
    pub kept: Vec<PathBuf>,
}

impl Doctor {
    /// Repairs what can be repaired. Never creates an empty database in place of a missing or unreadable one.
    pub fn repair(&self) -> RepairReport {
        let mut report = RepairReport::default();
        self.make_private(&mut report);
        self.remove_leftovers(&mut report);
        let is_sound = self.repair_store(&mut report);
        if self.database().exists() && !self.marker_path().exists() {
            let message = format!("wrote {}", self.marker_path().to_escaped());
            let written =
                durable::write_atomic(&self.marker_path(), &StoreMarker::new().to_bytes());
            note(&mut report, written.map(|()| message).map_err(Fault::from));
        }
        match SqliteStore::remove_expired_backups(&self.database(), self.now()) {
            Ok(removed) => {
                let lines = removed
                    .iter()
                    .map(|path| format!("removed the old copy {}", path.to_escaped()));
                report.done.extend(lines);
            }
            Err(error) => report.failed.push(error.into()),
        }
        if is_sound {
            match self.repair_mirror(report.salvaged.is_some()) {
                Ok(done) => report.done.extend(done),
                Err(fault) => report.failed.push(fault),
            }
        }
        report
    }

    fn make_private(&self, report: &mut RepairReport) {
        let folder = self.is_accessible().then(|| self.place.folder.clone());
        let files = self.accessible_files().into_iter().map(|(path, _)| path);
        for path in files.chain(folder) {
            let message = format!("made {} private", path.to_escaped());
            let made = durable::make_private(&path);
            note(report, made.map(|_| message).map_err(Fault::from));
        }
    }

    fn remove_leftovers(&self, report: &mut RepairReport) {
        for path in self.leftover_files() {
            let message = format!("removed {}", path.to_escaped());
            let removed = durable::remove_if_exists(&path);
            note(report, removed.map(|()| message).map_err(Fault::from));
        }
    }

    /// Repairs the database; returns true if it is sound now.
    fn repair_store(&self, report: &mut RepairReport) -> bool {
        let database = self.database();
        if !database.exists() {
            // The user decides about a missing database; `examine` has the hint.
            return false;
        }
        match SqliteStore::repair(&database, self.project.as_ref(), self.now()) {
            Ok(RepairOutcome::Sound) => true,
            Ok(RepairOutcome::Reindexed) => {
                report.done.push("rebuilt the indexes".to_owned());
                true
            }
            Ok(RepairOutcome::Recovered {
                retained: kept,
                salvaged,
            }) => {
                for path in &kept {
                    report
                        .done
                        .push(format!("kept the damaged {}", path.to_escaped()));
                }
                report.done.push(describe_salvage(&salvaged));
                report.kept = kept;
                report.salvaged = Some(salvaged);
                true
            }
            Err(error @ StoreError::Damaged { .. }) => {
                let fault = Fault::from(error).hint(
                    "nothing was changed; `heirloom restore FILE` goes back to a backup, which sets the damaged file aside",
                );
                report.failed.push(fault);
                false
            }
            Err(error) => {
                report.failed.push(error.into());
                false
            }
        }
    }

    fn repair_mirror(&self, is_new_store: bool) -> Result<Vec<String>, Fault> {
        let Some(engine) = self.engine()? else {
            return Ok(Vec::new());
        };
        let mut done = Vec::new();
        match engine.mirror().state()? {
            MirrorState::Unreadable(_) => {
                let aside = engine.mirror().set_mirror_aside("corrupt")?;
                done.push(format!(
                    "set the unreadable mirror aside as {}",
                    aside.to_escaped()
                ));
                let path = engine.mirror().write()?;
                done.push(format!("wrote {} from the store", path.to_escaped()));
            }
            MirrorState::Different | MirrorState::Older if is_new_store => {
                let path = engine.mirror().replace("before-repair")?;
                done.extend(path.map(|path| format!("wrote {} from the store", path.to_escaped())));
            }
            MirrorState::Different => {
                let path = engine.mirror().write()?;
                done.push(format!("wrote {} from the store", path.to_escaped()));
            }
            MirrorState::None
            | MirrorState::Same
            | MirrorState::Foreign
            | MirrorState::Older
            | MirrorState::Unknown => {}
        }
        Ok(done)
    }
}

fn note(report: &mut RepairReport, outcome: Result<String, Fault>) {
    match outcome {
        Ok(message) => report.done.push(message),
        Err(fault) => report.failed.push(fault),
    }
}

/// Summarises recovered and lost data.
fn describe_salvage(salvaged: &SalvageReport) -> String {
    let mut summary = format!(
        "recovered {}, {} and {}",
        counted(salvaged.rows_of("records"), "record", "records"),
        counted(salvaged.rows_of("sessions"), "session", "sessions"),
        counted(salvaged.rows_of("messages"), "message", "messages")
    );
    let parts = [
        (salvaged.pages_bad as u64, "pages could not be read"),
        (salvaged.rows_bad as u64, "rows could not be read"),
        (
            salvaged.journal_pages_bad as u64,
            "pages of the journal could not be read",
        ),
        (
            salvaged.retired,
            "records were retired, because a newer one is current",
        ),
        (
            salvaged.sessions_recreated,
            "sessions are known by their messages only",
        ),
        (
            salvaged.rows_skipped,
            "rows were left out, which belong to lost ones or cannot be read later",
        ),
    ];
    for (count, what) in parts.into_iter().filter(|(count, _)| *count > 0) {
        summary.push_str(&format!("; {count} {what}"));
    }
    if !salvaged.journal_pages_lost.is_empty() {
        let pages: Vec<String> = (salvaged.journal_pages_lost.iter())
            .map(|page| format!("page {page}"))
            .collect();
        let pages = super::join_findings(&pages);
        summary.push_str(&format!(
            "; restored to the state before their last write: {pages}"
        ));
    }
    if !salvaged.skipped.is_empty() {
        let rows: Vec<String> = (salvaged.skipped.iter())
            .map(|row| format!("{} {}: {}", row.table, row.id, row.reason))
            .collect();
        summary.push_str(&format!("; not recovered: {}", super::join_findings(&rows)));
    }
    if !salvaged.renamed.is_empty() {
        let names = salvaged.renamed.join(", ");
        summary.push_str(&format!("; projects without a name are now called {names}"));
    }
    summary
}
