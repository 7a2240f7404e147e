//! Gate in front of the memory of a project: what a clone brings is not opened before a person trusts it.

use super::database_server::shared_name;
use super::store_opening::open_store;
use super::{CliSession, FoundProject, memory_folder};
use crate::config::{Config, ConfigKey, Layer};
use crate::migration_progress;
use crate::store_access::trust::{Marks, MemoryOrigin, MemoryTrust, ProjectFileTrust};
use heirloom_engine::{Engine, use_trusted_files};
use heirloom_fs::durable;
use heirloom_fs::project_fs::{self, ProjectPaths};
use heirloom_model::Fault;
use heirloom_store::SqliteStore;
use std::sync::Arc;

/// Gate of a session in front of the memories that it may open.
pub(crate) struct MemoryGate<'s> {
    session: &'s CliSession,
}

impl<'s> MemoryGate<'s> {
    /// Creates the gate of a session.
    pub(crate) fn new(session: &'s CliSession) -> Self {
        Self { session }
    }

    /// Returns the trust in the memory of the project.
    pub(crate) fn memory_trust(&self, found: &FoundProject) -> Result<MemoryTrust, Fault> {
        let folder = memory_folder(&found.place)?;
        let server_project = match found.config.text("store.url").is_empty() {
            true => None,
            false => {
                let explicit = found.config.text("project.name");
                Some(shared_name(&found.place, explicit)?.to_string())
            }
        };
        let server_project = server_project.as_deref();
        Ok(MemoryTrust::new(&self.session.env, &folder, server_project))
    }

    /// Returns the trust in the memory at `place`, which is not on a database server.
    pub(super) fn local_memory_trust(&self, place: &ProjectPaths) -> Result<MemoryTrust, Fault> {
        Ok(MemoryTrust::new(
            &self.session.env,
            &memory_folder(place)?,
            None,
        ))
    }

    /// Refuses the memory of the project, unless this installation created it or a person trusts it. On a database
    /// server a folder uses the memory of a project only after a person has joined it.
    pub(crate) fn require_trust(&self, found: &FoundProject) -> Result<MemoryTrust, Fault> {
        let trust = self.memory_trust(found)?;
        let origin = trust.origin();
        if found.config.text("store.url").is_empty() {
            trust.require_own(origin)?;
            return Ok(trust);
        }
        match origin {
            MemoryOrigin::Own => {}
            MemoryOrigin::Tracked => trust.require_own(origin)?,
            // A folder with files of a memory may bring events and notes of a stranger, whatever its name is.
            MemoryOrigin::Absent | MemoryOrigin::Foreign
                if is_named_by_person(&found.config)
                    && (origin == MemoryOrigin::Absent || trust.is_own_folder()) =>
            {
                trust.mark_own(self.session.clock()?.now())?;
            }
            MemoryOrigin::Absent | MemoryOrigin::Foreign => {
                let project = trust.id();
                return Err(Fault::refused(format!(
                    "this folder does not use the memory of `{project}` on the database server yet"
                ))
                .hint("`heirloom init` joins a folder of that project, `heirloom trust` shows what the folder claims"));
            }
        }
        Ok(trust)
    }

    /// Joins the folder of a new project, or one that has used a database of its own: `init` or `transfer` by a person
    /// is enough, unless the folder itself claims another name than that of its remote.
    pub(crate) fn join_project(&self, found: &FoundProject) -> Result<(), Fault> {
        if found.config.text("store.url").is_empty() {
            return Ok(());
        }
        let trust = self.memory_trust(found)?;
        let claims_name = !found.config.text("project.name").is_empty()
            && !is_named_by_person(&found.config)
            && trust.id() != shared_name(&found.place, "")?.to_string();
        let is_ours = match trust.origin() {
            MemoryOrigin::Absent => true,
            MemoryOrigin::Foreign => trust.is_own_folder(),
            MemoryOrigin::Own | MemoryOrigin::Tracked => false,
        };
        if is_ours && !claims_name {
            trust.mark_own(self.session.clock()?.now())?;
        }
        Ok(())
    }

    /// Trusts a copy of a memory of this machine, about which the person decides; another foreign memory stays refused.
    pub(crate) fn trust_copy(&self, found: &FoundProject) -> Result<(), Fault> {
        let trust = self.memory_trust(found)?;
        if trust.origin() == MemoryOrigin::Foreign && trust.is_copy_of_own() {
            trust.mark_own(self.session.clock()?.now())?;
        }
        Ok(())
    }

    /// Makes the engine use only trusted files of its project.
    pub(super) fn with_file_trust(
        &self,
        engine: Engine,
        memory: &MemoryTrust,
    ) -> Result<Engine, Fault> {
        if memory.is_in_data_folder() || self.session.is_demo {
            return Ok(engine);
        }
        Ok(use_trusted_files(
            engine,
            Arc::new(self.project_files(memory)?),
        ))
    }

    /// Opens the store in the folder of a project; a store that is created here is marked as the user's own.
    ///
    /// Errors: `Refused` for a store that did not come from this installation.
    pub(super) fn open_own_store(&self, trust: &MemoryTrust) -> Result<SqliteStore, Fault> {
        let origin = match self.session.is_demo {
            true => MemoryOrigin::Own,
            false => trust.origin(),
        };
        trust.require_own(origin)?;
        let is_new = origin == MemoryOrigin::Absent;
        let now = self.session.clock()?.now();
        if is_new {
            // Before the database: a concurrent process must not take it for a foreign one.
            durable::create_dir_private(trust.folder())?;
            trust.mark_own(now)?;
        }
        let store = open_store(
            trust.folder(),
            &migration_progress::progress_sink(&self.session.out),
        )?;
        if is_new {
            // Now with the id of the store.
            trust.mark_own(now)?;
        }
        Ok(store)
    }

    /// Returns the trust in the files of a project, for decisions about them.
    pub(crate) fn project_files(&self, memory: &MemoryTrust) -> Result<ProjectFileTrust, Fault> {
        Ok(ProjectFileTrust::new(
            Marks::of(&self.session.env),
            memory.id(),
            memory.used_since_ns(),
            self.session.clock()?.now(),
        ))
    }
}

/// Returns true if a person named the project outside of the project's own file.
fn is_named_by_person(config: &Config) -> bool {
    let key = ConfigKey::by_name("project.name");
    let set = key.and_then(|key| config.get(key));
    !config.text("project.name").is_empty()
        && set.is_some_and(|(_, origin)| match origin.layer {
            Layer::User | Layer::Environment | Layer::Flag => true,
            Layer::Default | Layer::Project => false,
        })
}

/// Returns the line for the person about a memory that is not used yet.
pub(crate) fn memory_notice(trust: &MemoryTrust) -> String {
    let size = trust.database_bytes();
    match size {
        Some(bytes) => format!(
            "Heirloom: this folder brings a memory that is not yours ({} KB), and it is not used: `heirloom trust` shows it",
            bytes.div_ceil(1024)
        ),
        None => format!(
            "Heirloom: this folder claims the memory of `{}`, and it is not used yet: `heirloom trust` shows it",
            project_fs::display_name(&trust.id())
        ),
    }
}
