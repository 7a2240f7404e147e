//! State of one call of the program: project, settings and opened stores.
//!
//! The only module of the command line that depends on the store.

mod bench_store;
mod database_server;
mod engine_opening;
mod memory_trust;
mod pending_files;
mod private_files;
mod project_folders;
pub(crate) mod project_identity;
mod store_opening;
mod transfer_store;
pub(crate) mod trust;
mod user_store;
mod waiting_events;

pub(crate) use bench_store::BenchStore;
pub(crate) use database_server::fleet_status;
pub(crate) use heirloom_store::{FleetStatus, ProjectTransfer};
pub(crate) use memory_trust::{MemoryGate, memory_notice};
pub(crate) use private_files::{
    copy_file, create_folder, make_memory_private, make_private, memory_folder, remove_file,
    replace_foreign, temporary_folder, write_file,
};
pub(crate) use project_folders::ProjectFolders;
pub(crate) use transfer_store::{TransferRequest, is_foreign_source, refuse_password, transfer};
pub(crate) use user_store::{Adopted, LostStore};
pub(crate) use waiting_events::{deliver_events, store_event, store_event_if_offline};

use crate::config::{Config, Environment};
use crate::embedder;
use crate::migration_progress;
use crate::shared_options::GlobalOptions;
use crate::terminal_output::Output;
use crate::terminal_output::terminal_features::TerminalFeatures;
use database_server::{ServerStore, server_store};
use heirloom_engine::{CheckLevel, Doctor, Engine};
use heirloom_fs::project_fs::{self, ProjectPaths};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Clock, Fault, FixedClock, SystemClock, text};
use heirloom_store::Store;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// State of one call of the program, from which commands get their memory, environment and output.
pub(crate) struct CliSession {
    global: GlobalOptions,
    /// The project, if it is fixed instead of searched.
    place: Option<ProjectPaths>,
    /// True for latency-critical processes, which skip the WAL checkpoint when they close the store.
    is_short_lived: bool,
    /// True for the example memory of `demo`.
    is_demo: bool,
    /// True if no person reads standard error.
    suppresses_questions: bool,
    clap_command: fn() -> clap::Command,
    /// The environment.
    pub(crate) env: Environment,
    /// Standard output and standard error.
    pub(crate) out: Output,
    /// Store on a database server, opened once for all memories of the process.
    server_store: ServerStore,
    /// The memory that was opened last; its mirror is updated after the command.
    opened: Option<Engine>,
}

/// A project with its settings.
pub(crate) struct FoundProject {
    /// Root of the project, and the folder with its memory.
    pub(crate) place: ProjectPaths,
    /// Settings of the project.
    pub(crate) config: Config,
    /// The user's own workspace.
    pub(crate) user_workspace: Option<PathBuf>,
}

impl CliSession {
    /// Creates the state from the global options and the environment; `clap_command` describes the whole command
    /// line.
    pub(crate) fn new(global: &GlobalOptions, clap_command: fn() -> clap::Command) -> Self {
        let mut global = global.clone();
        if let Some(name) = &global.project {
            global.set.push(format!("project.name={name}"));
        }
        if let Some(address) = &global.store {
            global.set.push(format!("store.url={address}"));
        }
        let env = Environment::read();
        let features = TerminalFeatures::detect(|name| env.get(name));
        Self {
            out: Output::new(global.json, features),
            opened: None,
            env,
            global,
            place: None,
            is_short_lived: false,
            is_demo: false,
            suppresses_questions: false,
            server_store: ServerStore::default(),
            clap_command,
        }
    }

    /// Marks the process as latency-critical: deferrable store maintenance is left to other processes.
    pub(crate) fn set_short_lived(&mut self) {
        self.is_short_lived = true;
    }

    /// Disables questions and identity notices: an agent program started the process, or the answers go to clients.
    pub(crate) fn suppress_questions(&mut self) {
        self.suppresses_questions = true;
    }

    /// Creates a copy with the same options, for another thread or request.
    pub(crate) fn fork(&self) -> Self {
        Self {
            global: self.global.clone(),
            place: self.place.clone(),
            is_short_lived: self.is_short_lived,
            is_demo: self.is_demo,
            suppresses_questions: self.suppresses_questions,
            server_store: self.server_store.clone(),
            clap_command: self.clap_command,
            env: self.env.clone(),
            out: Output::new(self.global.json, TerminalFeatures::default()),
            opened: None,
        }
    }

    /// Returns true if the folder to start from was named explicitly.
    pub(crate) fn has_explicit_folder(&self) -> bool {
        self.global.project_dir.is_some() || self.env.get("HEIRLOOM_PROJECT_DIR").is_some()
    }

    /// Starts in this folder, unless another one was named explicitly.
    pub(crate) fn start_in_folder(&mut self, folder: Option<&Path>) {
        let folder = folder
            .map(Path::to_owned)
            .filter(|folder| folder.is_absolute());
        if !self.has_explicit_folder() && folder.as_ref().is_some_and(|folder| folder.is_dir()) {
            self.global.project_dir = folder;
        }
    }

    /// Starts in this folder, even if another one was named.
    pub(crate) fn start_at_folder(&mut self, folder: &Path) {
        self.global.project_dir = Some(folder.to_owned());
        self.place = None;
    }

    /// Uses the memory in `root` itself, even in a worktree that shares the memory of another folder.
    pub(crate) fn use_own_memory_of(&mut self, root: &Path) -> Result<(), Fault> {
        self.start_at_folder(root);
        let root = self.start_folder()?;
        let folder = root.join(project_fs::HEIRLOOM_FOLDER);
        self.place = Some(ProjectPaths {
            config: folder.join(project_fs::CONFIG_FILE),
            folder,
            root,
        });
        Ok(())
    }

    /// Returns the project around the start folder, if it exists.
    pub(crate) fn project_place(&self) -> Option<ProjectPaths> {
        self.place().ok()
    }

    /// Returns the project that was named by `--project`.
    pub(crate) fn named_project(&self) -> Option<String> {
        self.global.project.clone()
    }

    /// Returns the definition of the whole command line, for completions and manual pages.
    pub(crate) fn clap_command(&self) -> clap::Command {
        (self.clap_command)()
    }

    /// Returns the folder to start from: `--project-dir`, `HEIRLOOM_PROJECT_DIR`, else the current one.
    pub(crate) fn start_folder(&self) -> Result<PathBuf, Fault> {
        let given = self.global.project_dir.clone();
        let start = given.or_else(|| self.env.get("HEIRLOOM_PROJECT_DIR").map(PathBuf::from));
        let start = match start {
            Some(dir) => dir,
            None => std::env::current_dir().map_err(|error| {
                Fault::failed(format!("the current folder cannot be read: {error}"))
            })?,
        };
        project_fs::canonicalize(&start).map_err(|error| {
            Fault::not_found(format!(
                "cannot open the folder {}: {error}",
                start.to_escaped()
            ))
            .hint("check --project-dir or HEIRLOOM_PROJECT_DIR")
        })
    }

    /// Returns the clock: the system's, or a fixed one set by `HEIRLOOM_NOW`.
    pub(crate) fn clock(&self) -> Result<Arc<dyn Clock>, Fault> {
        let Some(now) = self.env.get("HEIRLOOM_NOW") else {
            return Ok(Arc::new(SystemClock));
        };
        let fixed = now.parse().map_err(|error| {
            Fault::usage(format!(
                "HEIRLOOM_NOW=`{}`: {error}",
                text::excerpt(now, 60)
            ))
        })?;
        Ok(Arc::new(FixedClock(fixed)))
    }

    /// Loads the settings without those of a project.
    pub(crate) fn config_without_project(&self) -> Result<Config, Fault> {
        Config::load(&self.env, None, &self.global.set)
    }

    /// Finds the project around the start folder, or its memory in the user's data folder, and prints config
    /// warnings.
    ///
    /// Errors: `NotFound` with the hint to run `heirloom init`.
    pub(crate) fn find_project(&mut self) -> Result<FoundProject, Fault> {
        let found = self.load_project(self.place()?)?;
        for warning in &found.config.warnings {
            self.out
                .talk(&format!("heirloom: {}: {}", warning.place, warning.message));
        }
        Ok(found)
    }

    /// Loads the settings of the project at a place.
    pub(crate) fn load_project(&self, place: ProjectPaths) -> Result<FoundProject, Fault> {
        let config = Config::load(&self.env, Some(&place.config), &self.global.set)?;
        let configured = config.text("workspace.user_folder");
        let user_workspace = self.env.user_workspace(configured);
        Ok(FoundProject {
            place,
            config,
            user_workspace,
        })
    }

    fn place(&self) -> Result<ProjectPaths, Fault> {
        if let Some(place) = &self.place {
            return Ok(place.clone());
        }
        let start = self.start_folder()?;
        match find_folder_project(&self.env, &start) {
            Some(place) => Ok(place),
            None => self.user_stores().find_user_place(&start),
        }
    }

    /// Creates the doctor, which examines the memory without opening the store, even with broken settings.
    pub(crate) fn doctor(&self) -> Result<Doctor, Fault> {
        let place = self.place()?;
        let mut findings = Vec::new();
        let is_on_server = Config::load(&self.env, Some(&place.config), &self.global.set)
            .is_ok_and(|config| !config.text("store.url").is_empty());
        if !is_on_server {
            let trust = MemoryGate::new(self).local_memory_trust(&place)?;
            trust.require_own(trust.origin())?;
        }
        let config = match Config::load(&self.env, Some(&place.config), &self.global.set) {
            Ok(config) => config,
            Err(fault) => {
                findings.push((CheckLevel::Bad, fault.message));
                Config::defaults()?
            }
        };
        let warnings = config.warnings.iter();
        let warnings = warnings.map(|warning| format!("{}: {}", warning.place, warning.message));
        findings.extend(warnings.map(|message| (CheckLevel::Warn, message)));
        let project = self.name_from_outside(&place, config.text("project.name"));
        if let Err(fault) = &project {
            findings.push((CheckLevel::Bad, fault.message.clone()));
        }
        Ok(Doctor {
            place,
            project: project.ok(),
            settings: config.settings(),
            clock: self.clock()?,
            model: embedder::model_name(&config),
            sentence_model: embedder::sentence_model(&config).map(|model| model.model().to_owned()),
            server: server_store(self, &config)
                .map(|store| store.map(|store| store as Arc<dyn Store>))
                .transpose(),
            config: findings,
            progress: migration_progress::progress_sink(&self.out),
        })
    }
}

/// Returns the project in a folder around `start`, without those in the user's data folder. The memory of the home folder
/// is not that of every folder in it.
pub(crate) fn find_folder_project(env: &Environment, start: &Path) -> Option<ProjectPaths> {
    let home = env.get("HOME").map(Path::new);
    let home = home.and_then(|home| project_fs::canonicalize(home).ok());
    let is_home_above = |root: &Path| home.as_deref() == Some(root) && start != root;
    project_fs::find_project(start).filter(|place| !is_home_above(&place.root))
}
