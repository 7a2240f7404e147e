//! Purge: permanent deletion from the store, the mirror, and on request from copies.

use super::hook_state_folder::HookStateFolder;
use super::records::USER;
use crate::engine::Maintenance;
use heirloom_fs::durable;
use heirloom_model::Fault;
use heirloom_model::text::EscapedPath;
use heirloom_store::{PurgeReport, PurgeTarget, StoreError};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Deleted data, or data to delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeOutcome {
    /// Deleted data of the store.
    pub purged: PurgeReport,
    /// True if the mirror was rewritten.
    pub mirror_rewritten: bool,
    /// Number of stored working memories that were deleted too.
    pub working_memories: usize,
    /// Copies of the database and set-aside mirrors, which may contain the data too.
    pub copies: Vec<PathBuf>,
}

impl Maintenance<'_> {
    /// Returns what [`Self::purge`] would delete; changes nothing.
    pub fn purgeable(&self, selection: &PurgeTarget) -> Result<PurgeOutcome, Fault> {
        let working = self.engine.sessions().purgeable_working(selection)?;
        let mut files = self.engine.workspace().purgeable_file_history(selection)?;
        files.extend(working.iter().cloned());
        Ok(PurgeOutcome {
            purged: or_nothing(
                self.engine
                    .store
                    .preview_purge(&self.engine.project, selection),
                &files,
            )?,
            mirror_rewritten: false,
            working_memories: working.len(),
            copies: self.copies()?,
        })
    }

    /// Permanently deletes the records of `selection`, and rewrites an existing mirror. Allowed while memory is
    /// switched off.
    pub fn purge(&self, selection: &PurgeTarget) -> Result<PurgeOutcome, Fault> {
        // What another program added to the mirror is deleted too if it is selected, and else not lost by the rewrite.
        self.engine.mirror().take_in()?;
        let working = self.engine.sessions().purgeable_working(selection)?;
        let purged =
            self.engine
                .store
                .purge(&self.engine.project, selection, self.engine.now(), USER);
        let mut files = self.engine.workspace().purgeable_file_history(selection)?;
        files.extend(working.iter().cloned());
        let purged = or_nothing(purged, &files)?;
        for file in &files {
            durable::remove_if_exists(file)?;
        }
        HookStateFolder::in_memory(&self.engine.folder).remove_states();
        Ok(PurgeOutcome {
            purged,
            mirror_rewritten: self.engine.mirror().regenerate()?,
            working_memories: working.len(),
            copies: self.copies()?,
        })
    }

    /// Deletes the copies of the database, set-aside mirrors and window files; returns their paths.
    pub fn remove_copies(&self) -> Result<Vec<PathBuf>, Fault> {
        let copies = self.copies()?;
        for copy in &copies {
            durable::remove_if_exists(copy)?;
        }
        Ok(copies)
    }

    /// Lists files with former content of the database and the mirror, and window files, by name.
    fn copies(&self) -> Result<Vec<PathBuf>, Fault> {
        let mut copies = files_with_prefix(self.store_folder(), OsStr::new("heirloom.db"))?;
        copies.extend(self.engine.window().window_files()?);
        if !self.engine.has_files {
            copies.sort();
            return Ok(copies);
        }
        let mirror = self.engine.mirror().path()?;
        if let (Some(folder), Some(name)) = (mirror.parent(), mirror.file_name()) {
            copies.extend(files_with_prefix(folder, name)?);
        }
        copies.sort();
        Ok(copies)
    }
}

/// Accepts an unknown session if working memories of it exist: the store knows no session that only has those.
fn or_nothing(
    purged: Result<PurgeReport, StoreError>,
    working: &[PathBuf],
) -> Result<PurgeReport, Fault> {
    match purged {
        Err(StoreError::NotFound { .. }) if !working.is_empty() => Ok(PurgeReport::default()),
        // An interrupted purge may have deleted the records but not rewritten the mirror.
        Err(error @ StoreError::NotFound { .. }) => Err(Fault::from(error)
            .hint("after an interrupted purge, `heirloom purge --free` completes it")),
        purged => Ok(purged?),
    }
}

/// Lists the files in `folder` whose name is `name`, a dot and more.
fn files_with_prefix(folder: &Path, name: &OsStr) -> Result<Vec<PathBuf>, Fault> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            let place = folder.to_escaped();
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
