//! Restore of a backup in place of the present database.

use super::Doctor;
use heirloom_fs::durable;
use heirloom_model::{ErrorKind, Fault, ProjectName};
use heirloom_store::{RestoreOutcome, SqliteStore, Store, StoreError, StoreMarker};
use std::path::{Path, PathBuf};

/// Report of a restored backup.
#[derive(Debug)]
pub struct RestoreReport {
    /// Outcome for the store.
    pub restored: RestoreOutcome,
    /// The rewritten mirror, if there is one.
    pub mirror: Option<PathBuf>,
    /// Projects in the backup.
    pub projects: Vec<ProjectName>,
}

impl Doctor {
    /// Replaces the database by the backup `from`; the present one is retained.
    pub fn restore(&self, from: &Path) -> Result<RestoreReport, Fault> {
        durable::create_dir_private(&self.place.folder)?;
        let (database, now) = (self.database(), self.now());
        let restored = SqliteStore::restore_with_progress(&database, from, now, &self.progress);
        let restored = restored.map_err(restore_fault)?;
        let projects = SqliteStore::open(&self.database())?.projects()?;
        if !self.marker_path().exists() {
            durable::write_atomic(&self.marker_path(), &StoreMarker::new().to_bytes())?;
        }
        let engine = self.engine()?;
        let mirror = engine
            .map(|engine| engine.mirror().replace("before-restore"))
            .transpose()?;
        Ok(RestoreReport {
            restored,
            mirror: mirror.flatten(),
            projects,
        })
    }
}

/// Adds a hint to a failed restore; the store's own hints are about the present database.
fn restore_fault(error: StoreError) -> Fault {
    let is_newer = matches!(error, StoreError::Newer { .. });
    let fault = Fault::from(error);
    if fault.kind == ErrorKind::Failed && !is_newer {
        return fault
            .hint("nothing was changed; `heirloom doctor` lists the backups next to the store");
    }
    fault
}
