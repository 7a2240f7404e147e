//! State of one call of the program: project, settings and opened stores.
//!
//! The only module of the command line that depends on the store.

mod pending_files;
pub(crate) mod project_identity;
mod user_store;

pub(crate) use user_store::{Adopted, LostStore};

use crate::config::{Config, Environment};
use crate::embedder;
use crate::migration_progress;
use crate::shared_options::GlobalOptions;
use crate::summary_writer;
use crate::terminal_output::Output;
use heirloom_engine::{CheckLevel, Doctor, Engine, MirrorRefreshOutcome};
use heirloom_fs::durable::{self, TempDir};
use heirloom_fs::project_fs::{self, ProjectPaths};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Clock, Fault, FixedClock, ProjectName, SystemClock, text};
use heirloom_store::{DATABASE, MARKER, MARKER_TEXT, ProgressSink, SqliteStore};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folder name of the user's own memory, and the project name in its store.
const USER: &str = "user";

/// State of one call of the program, from which commands get their memory, environment and output.
pub(crate) struct CliSession {
    global: GlobalOptions,
    /// The project, if it is fixed instead of searched.
    place: Option<ProjectPaths>,
    /// True for latency-critical processes, which skip the WAL checkpoint when they close the store.
    is_short_lived: bool,
    /// True if no person reads standard error.
    suppresses_questions: bool,
    clap_command: fn() -> clap::Command,
    /// The environment.
    pub(crate) env: Environment,
    /// Standard output and standard error.
    pub(crate) out: Output,
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
        let env = Environment::read();
        let can_rewrite_line = env.get("TERM").is_some_and(|term| term != "dumb");
        Self {
            out: Output::new(global.json, can_rewrite_line),
            opened: None,
            env,
            global,
            place: None,
            is_short_lived: false,
            suppresses_questions: false,
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
            suppresses_questions: self.suppresses_questions,
            clap_command: self.clap_command,
            env: self.env.clone(),
            out: Output::new(self.global.json, false),
            opened: None,
        }
    }

    /// Returns true if the folder to start from was named explicitly.
    pub(crate) fn has_explicit_folder(&self) -> bool {
        self.global.project_dir.is_some() || self.env.get("HEIRLOOM_PROJECT_DIR").is_some()
    }

    /// Starts in this folder, unless another one was named explicitly.
    pub(crate) fn start_in_folder(&mut self, folder: Option<&str>) {
        let folder = folder
            .map(PathBuf::from)
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
        start.canonicalize().map_err(|error| {
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
        match project_fs::find_project(&start) {
            Some(place) => Ok(place),
            None => self.user_stores().find_user_place(&start),
        }
    }

    /// Creates the doctor, which examines the memory without opening the store, even with broken settings.
    pub(crate) fn doctor(&self) -> Result<Doctor, Fault> {
        let place = self.place()?;
        let mut findings = Vec::new();
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
            config: findings,
            progress: migration_progress::progress_sink(&self.out),
        })
    }

    /// Finds the project, opens its memory and ingests pending files.
    pub(crate) fn open(&mut self) -> Result<Engine, Fault> {
        let found = self.find_project()?;
        let engine = self.engine(&found)?;
        self.ingest_pending(&engine);
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
        match summary_writer::summariser(config, &self.env) {
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
        Engine::new(Arc::new(store), project, place, settings, self.clock()?)
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

    fn open_engine(
        &mut self,
        found: &FoundProject,
        clock: Arc<dyn Clock>,
    ) -> Result<Engine, Fault> {
        let mut place = found.place.clone();
        place.folder = memory_folder(&place)?;
        let mut store = open_store(&place.folder, &migration_progress::progress_sink(&self.out))?;
        if self.is_short_lived {
            store = store.with_short_lived_mode();
        }
        let named = self.name_project(&store, found)?;
        let mut settings = found.config.settings();
        settings
            .workspace
            .user_folder
            .clone_from(&found.user_workspace);
        let engine = Engine::new(Arc::new(store), named.project, place, settings, clock)?;
        let engine = match named.display_name {
            Some(name) => engine.with_display_name(name),
            None => engine,
        };
        self.opened = Some(engine.shared());
        Ok(engine)
    }

    /// Updates the mirror if the command changed its content. Failures are only reported: the store has the data.
    pub(crate) fn update_mirror(&mut self) {
        let Some(engine) = self.opened.take() else {
            return;
        };
        match engine.mirror().refresh() {
            Ok(MirrorRefreshOutcome::Nothing | MirrorRefreshOutcome::Written(_)) => {}
            Ok(MirrorRefreshOutcome::SetAside { path, problem }) => {
                let mirror = &engine.settings().mirror_path;
                let aside = path.to_escaped();
                self.out.talk(&format!(
                    "heirloom: {mirror} cannot be read: {problem}; it was set aside as {aside} and rewritten"
                ));
            }
            Err(fault) => {
                let message = format!("heirloom: the mirror was not rewritten: {}", fault.message);
                self.out.talk(&message);
            }
        }
    }
}

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

fn open_store(folder: &Path, progress_sink: &ProgressSink) -> Result<SqliteStore, Fault> {
    let database = folder.join(DATABASE);
    let marker = folder.join(MARKER);
    if marker.is_symlink() {
        return Err(Fault::refused(format!(
            "{} is a symbolic link, and links are not followed",
            marker.to_escaped()
        ))
        .hint("remove the link; its target was not touched"));
    }
    if path_exists(&database)? || path_exists(&marker)? {
        let store = SqliteStore::open_with_progress(&database, progress_sink)
            .map_err(|error| explain_missing_store(error.into(), &marker))?;
        if !marker.exists() {
            // Recreate the marker (best effort): without it a later loss of the database would look like a fresh
            // project.
            let marked = durable::write_atomic(&marker, MARKER_TEXT);
            drop(marked);
        }
        return Ok(store);
    }
    let store = SqliteStore::create(&database)?;
    durable::write_atomic(&marker, MARKER_TEXT)?;
    Ok(store)
}

/// Returns true if the path exists, even as a dangling link. A folder that cannot be searched is an error, not a
/// missing database.
fn path_exists(path: &Path) -> Result<bool, Fault> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(
            Fault::failed(format!("cannot access {}: {error}", path.to_escaped()))
                .hint("check the folder, its owner and its permissions"),
        ),
    }
}

fn explain_missing_store(fault: Fault, marker: &Path) -> Fault {
    if fault.kind != heirloom_model::ErrorKind::NotFound {
        return fault;
    }
    let hint = format!(
        "a database existed here and is missing: `heirloom restore FILE` puts a backup in its place, or delete {} to begin with an empty memory",
        marker.to_escaped()
    );
    Fault {
        hint: Some(hint),
        ..fault
    }
}

/// Returns the folder with a project's memory, without links.
///
/// Errors: `Refused` for a link out of the project.
pub(crate) fn memory_folder(place: &ProjectPaths) -> Result<PathBuf, Fault> {
    project_fs::resolve_memory_folder(place).map_err(|problem| {
        Fault::refused(format!("memory cannot be stored there: {problem}")).hint(
            "it is a link, and nothing is written through links that lead out of a project: remove it and \
             run `heirloom init`, or keep memory outside with `heirloom init --user`",
        )
    })
}

/// Removes other users' permissions on the folder of a project's memory and on the database in it; returns the
/// changed paths.
pub(crate) fn make_memory_private(folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    let names = [DATABASE, "heirloom.db-wal", "heirloom.db-shm", MARKER];
    let mut made = Vec::from_iter(make_private(folder)?);
    for name in names {
        made.extend(make_private(&folder.join(name))?);
    }
    Ok(made)
}

/// Removes other users' permissions on a file or folder; returns the path if they were changed.
pub(crate) fn make_private(path: &Path) -> Result<Option<PathBuf>, Fault> {
    let was_open = durable::make_private(path)?;
    Ok(was_open.then(|| path.to_owned()))
}

/// Writes a file atomically, readable by this user only.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    Ok(durable::write_atomic(path, bytes)?)
}

/// Writes a file of another program atomically: through links, with its existing mode.
pub(crate) fn replace_foreign(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    Ok(durable::replace_foreign(path, bytes)?)
}

/// Copies a file, readable by this user only.
pub(crate) fn copy_file(from: &Path, to: &Path) -> Result<(), Fault> {
    Ok(durable::copy_durable(from, to)?)
}

/// Creates a private temporary folder, deleted when the value is dropped.
pub(crate) fn temporary_folder(prefix: &str) -> Result<TempDir, Fault> {
    Ok(durable::temporary_folder(prefix, None)?)
}

/// Removes a file if it exists.
pub(crate) fn remove_file(path: &Path) -> Result<(), Fault> {
    Ok(durable::remove_if_exists(path)?)
}

/// Creates a private folder.
pub(crate) fn create_folder(path: &Path) -> Result<(), Fault> {
    Ok(durable::create_dir_private(path)?)
}

/// Returns the folder of the user's own memory.
fn user_folder(env: &Environment) -> Option<PathBuf> {
    Some(env.data_dir()?.join(USER))
}
