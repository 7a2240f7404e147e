//! Repairing, and going back to a backup.

use super::Doctor;
use crate::engine::mirrored::MirrorState;
use heirloom_model::{ErrorKind, Fault, ProjectName};
use heirloom_store::{
    MARKER_TEXT, Repaired, Restored, Salvaged, SqliteStore, Store, StoreError, durable,
};
use std::path::{Path, PathBuf};

/// What a repair did.
#[derive(Debug, Default)]
pub struct Mended {
    /// What was done, one line each.
    pub done: Vec<String>,
    /// What could not be done.
    pub failed: Vec<Fault>,
    /// What was recovered, if the database was damaged.
    pub salvaged: Option<Salvaged>,
    /// Where the damaged database is kept, journal included.
    pub kept: Vec<PathBuf>,
}

/// What going back to a backup did.
#[derive(Debug)]
pub struct WentBack {
    /// What became of the store.
    pub restored: Restored,
    /// The mirror, if there is one: it was written anew.
    pub mirror: Option<PathBuf>,
    /// The projects that the backup holds something of.
    pub projects: Vec<ProjectName>,
}

impl Doctor {
    /// Repairs what can be repaired. Never makes an empty database where one is missing or cannot be read.
    pub fn repair(&self) -> Mended {
        let mut mended = Mended::default();
        self.make_private(&mut mended);
        self.remove_left_overs(&mut mended);
        let is_sound = self.repair_store(&mut mended);
        if self.database().exists() && !self.marker_path().exists() {
            let said = format!("wrote {}", self.marker_path().display());
            let written = durable::write_atomic(&self.marker_path(), MARKER_TEXT);
            note(&mut mended, written.map(|()| said).map_err(Fault::from));
        }
        match SqliteStore::remove_old_copies(&self.database(), self.now()) {
            Ok(removed) => {
                let lines = removed
                    .iter()
                    .map(|path| format!("removed the old copy {}", path.display()));
                mended.done.extend(lines);
            }
            Err(error) => mended.failed.push(error.into()),
        }
        if is_sound {
            match self.repair_mirror(mended.salvaged.is_some()) {
                Ok(done) => mended.done.extend(done),
                Err(fault) => mended.failed.push(fault),
            }
        }
        mended
    }

    /// Puts the content of the backup `from` in the place of what is here, which is kept.
    pub fn restore(&self, from: &Path) -> Result<WentBack, Fault> {
        durable::create_dir_private(&self.place.folder)?;
        let (database, now) = (self.database(), self.now());
        let restored = SqliteStore::restore_telling(&database, from, now, &self.teller);
        let restored = restored.map_err(hinted)?;
        let projects = SqliteStore::open(&self.database())?.projects()?;
        if !self.marker_path().exists() {
            durable::write_atomic(&self.marker_path(), MARKER_TEXT)?;
        }
        let engine = self.engine()?;
        let mirror = engine
            .map(|engine| engine.rewrite_mirror("before-restore"))
            .transpose()?;
        Ok(WentBack {
            restored,
            mirror: mirror.flatten(),
            projects,
        })
    }

    fn make_private(&self, mended: &mut Mended) {
        let folder = self.is_open().then(|| self.place.folder.clone());
        let files = self.open_files().into_iter().map(|(path, _)| path);
        for path in files.chain(folder) {
            let said = format!("made {} private", path.display());
            let made = durable::make_private(&path);
            note(mended, made.map(|_| said).map_err(Fault::from));
        }
    }

    fn remove_left_overs(&self, mended: &mut Mended) {
        for path in self.left_over_files() {
            let said = format!("removed {}", path.display());
            let removed = durable::remove_if_there(&path);
            note(mended, removed.map(|()| said).map_err(Fault::from));
        }
    }

    /// Repairs the database; whether it is sound now.
    fn repair_store(&self, mended: &mut Mended) -> bool {
        let database = self.database();
        if !database.exists() {
            // A missing one is the person's to decide about; `examine` says how.
            return false;
        }
        match SqliteStore::repair(&database, self.project.as_ref(), self.now()) {
            Ok(Repaired::Sound) => true,
            Ok(Repaired::Reindexed) => {
                mended.done.push("built the indexes anew".to_owned());
                true
            }
            Ok(Repaired::Recovered { kept, salvaged }) => {
                for path in &kept {
                    mended
                        .done
                        .push(format!("kept the damaged {}", path.display()));
                }
                mended.done.push(told(&salvaged));
                mended.kept = kept;
                mended.salvaged = Some(salvaged);
                true
            }
            Err(error @ StoreError::Damaged { .. }) => {
                let fault = Fault::from(error).hint(
                    "nothing was changed; `heirloom restore FILE` goes back to a backup, which sets the damaged file aside",
                );
                mended.failed.push(fault);
                false
            }
            Err(error) => {
                mended.failed.push(error.into());
                false
            }
        }
    }

    fn repair_mirror(&self, is_new_store: bool) -> Result<Vec<String>, Fault> {
        let Some(engine) = self.engine()? else {
            return Ok(Vec::new());
        };
        let mut done = Vec::new();
        match engine.mirror_state()? {
            MirrorState::Unreadable(_) => {
                let aside = engine.set_mirror_aside("corrupt")?;
                done.push(format!(
                    "set the unreadable mirror aside as {}",
                    aside.display()
                ));
                let path = engine.write_mirror()?;
                done.push(format!("wrote {} from the store", path.display()));
            }
            MirrorState::Different | MirrorState::Older if is_new_store => {
                let path = engine.rewrite_mirror("before-repair")?;
                done.extend(path.map(|path| format!("wrote {} from the store", path.display())));
            }
            MirrorState::Different => {
                let path = engine.write_mirror()?;
                done.push(format!("wrote {} from the store", path.display()));
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

/// What was wrong with a restore; the hints of an open store are about the one that is here.
fn hinted(error: StoreError) -> Fault {
    let is_newer = matches!(error, StoreError::Newer { .. });
    let fault = Fault::from(error);
    if fault.kind == ErrorKind::Failed && !is_newer {
        return fault
            .hint("nothing was changed; `heirloom doctor` lists the copies beside the store");
    }
    fault
}

fn note(mended: &mut Mended, outcome: Result<String, Fault>) {
    match outcome {
        Ok(said) => mended.done.push(said),
        Err(fault) => mended.failed.push(fault),
    }
}

/// What was recovered, and what could not be.
fn told(salvaged: &Salvaged) -> String {
    let mut said = format!(
        "recovered {} records, {} sessions and {} messages",
        salvaged.of("records"),
        salvaged.of("sessions"),
        salvaged.of("messages")
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
            salvaged.sessions_made,
            "sessions are known by their messages only",
        ),
        (
            salvaged.rows_left_out,
            "rows belong to lost ones and were left out",
        ),
    ];
    for (count, what) in parts.into_iter().filter(|(count, _)| *count > 0) {
        said.push_str(&format!("; {count} {what}"));
    }
    if !salvaged.renamed.is_empty() {
        let names = salvaged.renamed.join(", ");
        said.push_str(&format!("; projects without a name are now called {names}"));
    }
    said
}
