//! Temporary store for measurements.

use super::CliSession;
use super::private_files::temporary_folder;
use crate::config::Config;
use heirloom_engine::Engine;
use heirloom_fs::durable::TempDir;
use heirloom_fs::project_fs::{self, ProjectPaths};
use heirloom_model::{Clock, Fault, ProjectName};
use heirloom_store::{DATABASE, SqliteStore};
use std::sync::Arc;

/// Temporary store for measurements, deleted when the value is dropped.
pub(crate) struct BenchStore {
    store: Arc<SqliteStore>,
    clock: Arc<dyn Clock>,
    folder: TempDir,
}

impl BenchStore {
    /// Creates an empty store in a temporary folder.
    pub(crate) fn new(session: &CliSession) -> Result<Self, Fault> {
        let folder = temporary_folder("heirloom-bench-")?;
        let store = SqliteStore::create(&folder.path().join(DATABASE))?;
        Ok(Self {
            store: Arc::new(store),
            clock: session.clock()?,
            folder,
        })
    }

    /// Opens a project in the store, with the default settings.
    pub(crate) fn engine(&self, project: &str) -> Result<Engine, Fault> {
        let root = self.folder.path().to_owned();
        let place = ProjectPaths {
            config: root.join(project_fs::CONFIG_FILE),
            folder: root.clone(),
            root,
        };
        let project = ProjectName::new(project).map_err(|bad| Fault::usage(bad.to_string()))?;
        let settings = heirloom_model::Settings {
            enabled: true,
            ..Config::defaults()?.settings()
        };
        Engine::new(
            self.store.clone(),
            project,
            place,
            settings,
            self.clock.clone(),
        )
    }
}
