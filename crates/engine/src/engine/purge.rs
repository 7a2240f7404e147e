//! Deleting for good, for privacy: from the store, the mirror, and on request the copies beside them.

use super::Engine;
use super::hooks::forget_all;
use super::records::USER;
use heirloom_model::Fault;
use heirloom_store::{Purged, Selection, StoreError, durable};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What was deleted for good, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeReport {
    /// What the store held of it.
    pub purged: Purged,
    /// Whether the mirror was rewritten.
    pub mirror_rewritten: bool,
    /// Kept working memories that went with it, or would.
    pub working: usize,
    /// Copies of the database and set-aside mirrors, which may hold it too.
    pub copies: Vec<PathBuf>,
}

impl Engine {
    /// What [`Engine::purge`] would delete; changes nothing.
    pub fn purgeable(&self, selection: &Selection) -> Result<PurgeReport, Fault> {
        let working = self.purgeable_working(selection)?;
        Ok(PurgeReport {
            purged: or_nothing(self.store.purgeable(&self.project, selection), &working)?,
            mirror_rewritten: false,
            working: working.len(),
            copies: self.copies()?,
        })
    }

    /// Deletes for good what `selection` names, and rewrites the mirror, if there is one, from what is left.
    /// Allowed while memory is switched off.
    pub fn purge(&self, selection: &Selection) -> Result<PurgeReport, Fault> {
        let working = self.purgeable_working(selection)?;
        let purged = self.store.purge(&self.project, selection, self.now(), USER);
        let purged = or_nothing(purged, &working)?;
        for snapshot in &working {
            durable::remove_if_there(snapshot)?;
        }
        forget_all(&self.folder);
        Ok(PurgeReport {
            purged,
            mirror_rewritten: self.renew_mirror()?,
            working: working.len(),
            copies: self.copies()?,
        })
    }

    /// Deletes the copies of the database, the set-aside mirrors and what windows left out; says which they were.
    pub fn remove_copies(&self) -> Result<Vec<PathBuf>, Fault> {
        let copies = self.copies()?;
        for copy in &copies {
            durable::remove_if_there(copy)?;
        }
        Ok(copies)
    }

    /// Files beside the database and the mirror that hold what those held before, and what windows left out, by name.
    fn copies(&self) -> Result<Vec<PathBuf>, Fault> {
        let mirror = self.mirror_path()?;
        let mut copies = beside(&self.folder, OsStr::new("heirloom.db"))?;
        if let (Some(folder), Some(name)) = (mirror.parent(), mirror.file_name()) {
            copies.extend(beside(folder, name)?);
        }
        copies.extend(self.window_files()?);
        copies.sort();
        Ok(copies)
    }
}

/// A session of which only working memories were kept is not known to the store.
fn or_nothing(purged: Result<Purged, StoreError>, working: &[PathBuf]) -> Result<Purged, Fault> {
    match purged {
        Err(StoreError::NotFound { .. }) if !working.is_empty() => Ok(Purged::default()),
        // One that was interrupted may have deleted it, and not come to the mirror.
        Err(error @ StoreError::NotFound { .. }) => Err(Fault::from(error).hint(
            "after a purge that was interrupted, `heirloom purge --free` does the rest of it",
        )),
        purged => Ok(purged?),
    }
}

/// The files in `folder` that are called `name` with a dot and something behind it.
fn beside(folder: &Path, name: &OsStr) -> Result<Vec<PathBuf>, Fault> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let place = folder.display();
            return Err(Fault::failed(format!("cannot list {place}: {error}")));
        }
    };
    let mut prefix = name.to_os_string();
    prefix.push(".");
    let named = |entry: &std::fs::DirEntry| {
        let starts = (entry.file_name().as_encoded_bytes()).starts_with(prefix.as_encoded_bytes());
        starts && entry.file_type().is_ok_and(|sort| sort.is_file())
    };
    Ok(entries
        .filter_map(Result::ok)
        .filter(named)
        .map(|entry| entry.path())
        .collect())
}
