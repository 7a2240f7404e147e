//! Maintenance of the store: its folder, description, backups and checks.

use super::Engine;
use heirloom_model::Fault;
use heirloom_store::{Description, SharedStoreStatus};
use std::any::Any;
use std::path::Path;

/// Maintenance of the store: retention, purging, embeddings, backups, tokens and the server lock.
#[derive(Clone, Copy)]
pub struct Maintenance<'e> {
    pub(super) engine: &'e Engine,
}

impl Maintenance<'_> {
    /// Returns the folder that contains the store.
    pub(super) fn store_folder(&self) -> &Path {
        match self.engine.has_files {
            true => &self.engine.folder,
            // `folder` is `PROJECTS_FOLDER` and a folder of the project below it.
            false => self
                .engine
                .folder
                .ancestors()
                .nth(2)
                .unwrap_or(&self.engine.folder),
        }
    }

    /// Returns the store's description of itself.
    pub fn describe_store(&self) -> Result<Description, Fault> {
        Ok(self.engine.store.describe()?)
    }

    /// Returns the state of the store on a database server; `None` for one that this machine alone uses.
    pub fn shared_status(&self) -> Result<Option<SharedStoreStatus>, Fault> {
        let status = self.engine.store.shared().map(|shared| shared.status());
        Ok(status.transpose()?)
    }

    /// Calls `on_change` after every write to a store on a database server, by any machine, until the returned value is
    /// dropped; `None` for another store.
    pub fn watch_changes(
        &self,
        on_change: Box<dyn Fn() + Send>,
    ) -> Option<Box<dyn Any + Send + Sync>> {
        self.engine.store.shared()?.watch_changes(on_change)
    }

    /// Writes a verified copy of the store to `file`, while other writers continue.
    pub fn backup(&self, file: &Path) -> Result<Description, Fault> {
        Ok(self.engine.store.backup(file)?)
    }

    /// Checks the store for damage; returns one line for each finding.
    pub fn check_store(&self) -> Result<Vec<String>, Fault> {
        Ok(self.engine.store.check()?)
    }
}
