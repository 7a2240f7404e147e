//! Opening of memories: an engine for the project, for the user, or for a demo.

use super::database_server::{server_store, shared_name};
use super::memory_trust::MemoryGate;
use super::private_files::memory_folder;
use super::project_folders::remember_project_folder;
use super::store_opening::open_store;
use super::waiting_events::deliver_events;
use super::{CliSession, FoundProject, pending_files};
use crate::config::{Config, Environment};
use crate::embedder;
use crate::language_model_setup;
use crate::migration_progress;
use crate::terminal_output::Output;
use heirloom_engine::{Engine, MirrorRefreshOutcome, set_actor};
use heirloom_fs::durable;
use heirloom_fs::project_fs::{self, ProjectPaths, display_name};
use heirloom_model::text::{self, EscapedPath, counted};
use heirloom_model::{Clock, Fault, ProjectName};
use heirloom_store::{DATABASE, MARKER, PostgresStore};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of projects in a message.
const PROJECTS_SHOWN: usize = 5;

/// Folder name of the user's own memory, and the project name in its store.
const USER: &str = "user";

/// Links ids in the output to the page of a running server, if the terminal shows links.
fn link_ids(out: &mut Output, engine: &Engine) {
    if out.has_links() {
        // Without an address the ids are plain text.
        out.link_to_page(engine.maintenance().server_address().ok().flatten());
    }
}

impl CliSession {
    /// Finds the project, opens its memory and ingests pending files.
    pub(crate) fn open(&mut self) -> Result<Engine, Fault> {
        let found = self.find_project()?;
        let engine = self.engine(&found)?;
        deliver_events(self, &found);
        self.ingest_pending(&engine);
        link_ids(&mut self.out, &engine);
        Ok(engine)
    }

    /// Opens the project's memory as [`CliSession::open`] does, without ingesting pending files.
    pub(crate) fn open_without_ingest(&mut self) -> Result<Engine, Fault> {
        let found = self.find_project()?;
        self.engine(&found)
    }

    /// Ingests new inbox files of agents and edited workspace files.
    pub(crate) fn ingest_pending(&mut self, engine: &Engine) {
        pending_files::sweep_inbox(engine, &mut self.out);
        pending_files::sync_workspace(engine, &mut self.out);
    }

    /// Opens the project's memory as [`CliSession::open`] does, with the configured embedder. Only for commands that
    /// may wait for an embeddings service, never for hooks.
    ///
    /// Invalid embedder settings are only reported.
    pub(crate) fn open_with_embedder(&mut self) -> Result<Engine, Fault> {
        let found = self.find_project()?;
        let engine = self.engine(&found)?;
        self.ingest_pending(&engine);
        link_ids(&mut self.out, &engine);
        Ok(self.with_embedder(engine, &found))
    }

    /// Adds the configured embedder to `engine`, if it can be used.
    pub(crate) fn with_embedder(&mut self, engine: Engine, found: &FoundProject) -> Engine {
        match embedder::from_config(&found.config, &self.env) {
            Ok(Some(embedder)) => engine.with_embedder(embedder),
            Ok(None) => engine,
            Err(fault) => {
                let message = format!("heirloom: the built-in vectors rank: {}", fault.message);
                self.out.talk(&message);
                engine
            }
        }
    }

    /// Adds the configured writer of summaries to `engine`, if it can be used.
    pub(crate) fn with_summariser(&mut self, engine: Engine, config: &Config) -> Engine {
        match language_model_setup::summariser(config, &self.env) {
            Ok(Some(summariser)) => engine.with_summariser(summariser),
            Ok(None) => engine,
            Err(fault) => {
                let reason = fault.message;
                (self.out).talk(&format!(
                    "heirloom: summaries are made without a model: {reason}"
                ));
                engine
            }
        }
    }

    /// Opens the user's own memory or the project's.
    pub(crate) fn open_memory(&mut self, is_user_memory: bool) -> Result<Engine, Fault> {
        if !is_user_memory {
            return self.open();
        }
        if !self.has_user_memory() {
            return Err(Fault::not_found("your own memory is empty")
                .hint("heirloom remember --user \"TEXT\""));
        }
        self.user_engine()
    }

    /// Opens the user's own memory, if it exists. A failure is only reported.
    pub(crate) fn user_memory(&mut self) -> Option<Engine> {
        if !self.has_user_memory() {
            return None;
        }
        match self.user_engine() {
            Ok(engine) => Some(engine),
            Err(fault) => {
                let message = format!("heirloom: your own memory is not used: {}", fault.message);
                self.out.talk(&message);
                None
            }
        }
    }

    /// Returns true if the user has a memory of their own; creates nothing.
    pub(crate) fn has_user_memory(&self) -> bool {
        let folder = user_folder(&self.env);
        folder.is_some_and(|folder| {
            [DATABASE, MARKER]
                .iter()
                .any(|name| folder.join(name).symlink_metadata().is_ok())
        })
    }

    /// Opens or creates the user's own memory: a store in their data folder, which is not exported with any project.
    pub(crate) fn user_engine(&self) -> Result<Engine, Fault> {
        let folder = user_folder(&self.env).ok_or_else(|| {
            Fault::failed("there is no folder for your own memory")
                .hint("set HOME or XDG_DATA_HOME")
        })?;
        durable::create_dir_private(&folder)?;
        let store = open_store(&folder, &migration_progress::progress_sink(&self.out))?;
        let project = ProjectName::new(USER).map_err(|error| Fault::failed(error.to_string()))?;
        let config = self.config_without_project()?;
        // The user's own memory is always enabled; the switch is for projects.
        let settings = heirloom_model::Settings {
            enabled: true,
            ..config.settings()
        };
        let place = ProjectPaths {
            root: folder.clone(),
            config: folder.join(project_fs::CONFIG_FILE),
            folder,
        };
        let engine = Engine::new(Arc::new(store), project, place, settings, self.clock()?)?;
        let engine = with_acting_agent(engine, &self.env);
        Ok(with_sentence_model(engine, &config))
    }

    /// Opens the memory of a demo in a folder.
    pub(crate) fn demo_engine(
        &mut self,
        root: &Path,
        clock: Arc<dyn Clock>,
    ) -> Result<Engine, Fault> {
        let folder = root.join(project_fs::HEIRLOOM_FOLDER);
        let place = ProjectPaths {
            root: root.to_owned(),
            config: folder.join(project_fs::CONFIG_FILE),
            folder,
        };
        let config = Config::load(&Environment::default(), Some(&place.config), &[])?;
        let found = FoundProject {
            place,
            config,
            user_workspace: None,
        };
        // Its memory is in a temporary folder, and leaves no mark.
        self.is_demo = true;
        self.open_engine(&found, clock)
    }

    /// Opens the memory of a project.
    ///
    /// Errors: `NotFound` if a database existed here before; it is never replaced by an empty one. `Refused` for
    /// links that lead out of the project.
    pub(crate) fn engine(&mut self, found: &FoundProject) -> Result<Engine, Fault> {
        let clock = self.clock()?;
        self.open_engine(found, clock)
    }

    /// Opens the project's memory with another clock, for the example week of the demo.
    pub(crate) fn engine_with_clock(&mut self, clock: Arc<dyn Clock>) -> Result<Engine, Fault> {
        let found = self.find_project()?;
        self.open_engine(&found, clock)
    }

    pub(super) fn open_engine(
        &mut self,
        found: &FoundProject,
        clock: Arc<dyn Clock>,
    ) -> Result<Engine, Fault> {
        let mut place = found.place.clone();
        place.folder = memory_folder(&place)?;
        let gate = MemoryGate::new(self);
        let trust = match found.config.text("store.url").is_empty() {
            // The opening of the store examines it.
            true => gate.memory_trust(found)?,
            false => gate.require_trust(found)?,
        };
        if !self.is_demo {
            remember_project_folder(self, &place);
        }
        let engine = match server_store(self, &found.config)? {
            Some(store) => open_shared_engine(self, store, found, place, clock)?,
            None => {
                let mut store = MemoryGate::new(self).open_own_store(&trust)?;
                if self.is_short_lived {
                    store = store.with_short_lived_mode();
                }
                let named = self.name_project(&store, found)?;
                let settings = settings_of(self, found);
                let engine = Engine::new(Arc::new(store), named.project, place, settings, clock)?;
                match named.display_name {
                    Some(name) => engine.with_display_name(name),
                    None => engine,
                }
            }
        };
        let engine = with_sentence_model(engine, &found.config);
        let engine = MemoryGate::new(self).with_file_trust(engine, &trust)?;
        let engine = with_acting_agent(engine, &self.env);
        self.opened = Some(engine.shared());
        if self.global.project.is_some() && !self.is_short_lived {
            warn_about_unknown_project(&engine, &mut self.out)?;
        }
        Ok(engine)
    }

    /// Finishes a command after its answer: updates the mirror, and computes the sentence vector of a new text.
    pub(crate) fn finish_command(&mut self) {
        let Some(engine) = self.opened.take() else {
            return;
        };
        update_mirror(&engine, &mut self.out);
        if !self.is_short_lived {
            // The text is stored and found by words; a later command or session computes its vector.
            drop(engine.maintenance().embed_after_command());
        }
    }
}

/// Says that the project named on the command line has no records, because its name may be misspelt, and names others.
fn warn_about_unknown_project(engine: &Engine, out: &mut Output) -> Result<(), Fault> {
    let mut known = engine.records().projects()?;
    if known.is_empty() || known.contains(engine.project()) {
        return Ok(());
    }
    let more = known.len().saturating_sub(PROJECTS_SHOWN);
    known.truncate(PROJECTS_SHOWN);
    let known = known.iter().map(|name| display_name(name.as_str()));
    let known: Vec<String> = known.collect();
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    out.talk(&format!(
        "heirloom: this memory has no project `{}` yet; it has {}{more}",
        text::excerpt(engine.project().as_str(), 80),
        known.join(", ")
    ));
    Ok(())
}

/// Opens the project's memory on a database server. The folder of the project has its files as usual, without a database.
fn open_shared_engine(
    session: &mut CliSession,
    store: Arc<PostgresStore>,
    found: &FoundProject,
    place: ProjectPaths,
    clock: Arc<dyn Clock>,
) -> Result<Engine, Fault> {
    let project = shared_name(&place, found.config.text("project.name"))?;
    let settings = settings_of(session, found);
    Engine::new(store, project, place, settings, clock)
}

/// Returns the settings of a project with the folders of the person on this machine.
fn settings_of(session: &CliSession, found: &FoundProject) -> heirloom_model::Settings {
    let mut settings = found.config.settings();
    settings
        .workspace
        .user_folder
        .clone_from(&found.user_workspace);
    settings.home = session.env.get("HOME").map(PathBuf::from);
    settings
}

/// Updates the mirror if the command changed its content. Failures are only reported: the store has the data.
fn update_mirror(engine: &Engine, out: &mut Output) {
    match engine.mirror().refresh() {
        Ok(MirrorRefreshOutcome::Nothing | MirrorRefreshOutcome::Written(_)) => {}
        Ok(MirrorRefreshOutcome::Imported(report)) => {
            let mirror = &engine.settings().mirror_path;
            let entries = counted(report.created, "entry", "entries");
            let undo = report
                .batch
                .map(|id| format!("; heirloom undo {id} reverts it"));
            out.talk(&format!(
                "heirloom: {entries} that another program added to {mirror} imported{}",
                undo.unwrap_or_default()
            ));
        }
        Ok(MirrorRefreshOutcome::SetAside { path, problem }) => {
            let mirror = &engine.settings().mirror_path;
            let aside = path.to_escaped();
            out.talk(&format!(
                "heirloom: {mirror} is not used: {problem}; it was set aside as {aside} and rewritten"
            ));
        }
        Err(fault) => {
            let message = format!("heirloom: the mirror was not rewritten: {}", fault.message);
            out.talk(&message);
        }
    }
}

/// Adds the sentence transformer, unless the settings switch it off.
fn with_sentence_model(engine: Engine, config: &Config) -> Engine {
    match embedder::sentence_model(config) {
        Some(model) => engine.with_sentence_model(model),
        None => engine,
    }
}

/// Makes the agent in whose shell the program runs the source of what is stored.
fn with_acting_agent(engine: Engine, env: &Environment) -> Engine {
    match env.acting_agent() {
        Some(agent) => set_actor(engine, &agent),
        None => engine,
    }
}

/// Returns the folder of the user's own memory.
fn user_folder(env: &Environment) -> Option<PathBuf> {
    Some(env.data_dir()?.join(USER))
}
