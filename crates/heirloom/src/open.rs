//! From what was typed to an engine: where the project is, its settings, its store.
//!
//! The only file of the command line that knows the store.

use crate::config::{Config, Environment};
use crate::embedder;
use crate::options::Global;
use crate::output::Output;
use crate::upgrade;
use crate::writer;
use heirloom_engine::places::{self, Place};
use heirloom_engine::{Doctor, Engine, Level};
use heirloom_model::{Clock, Fault, FixedClock, ProjectName, SystemClock, text};
use heirloom_store::durable::{self, TempDir};
use heirloom_store::{DATABASE, MARKER, MARKER_TEXT, SqliteStore, Teller};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder of a person's own memory, and the project in its store.
const USER: &str = "user";

/// One call of the program.
pub(crate) struct Session {
    global: Global,
    /// The project, where it need not be looked for.
    place: Option<Place>,
    /// Whether a short journal stays behind: for those that somebody waits for.
    leaves_journal: bool,
    program: fn() -> clap::Command,
    /// The environment.
    pub(crate) env: Environment,
    /// Where answers go.
    pub(crate) out: Output,
}

/// A project that was found.
pub(crate) struct Found {
    /// Its root, and the folder that holds its memory.
    pub(crate) place: Place,
    /// Its settings.
    pub(crate) config: Config,
    /// The person's own workspace.
    pub(crate) user_workspace: Option<PathBuf>,
}

impl Session {
    /// Reads the environment; nothing else happens yet. `program` describes the whole command line.
    pub(crate) fn begin(global: &Global, program: fn() -> clap::Command) -> Self {
        let mut global = global.clone();
        if let Some(name) = &global.project {
            global.set.push(format!("project.name={name}"));
        }
        let env = Environment::read();
        let moves = env.get("TERM").is_some_and(|term| term != "dumb");
        Self {
            out: Output::new(global.json, moves),
            env,
            global,
            place: None,
            leaves_journal: false,
            program,
        }
    }

    /// Whoever calls this waits for the process: it leaves to others what may be done later.
    pub(crate) fn is_waited_for(&mut self) {
        self.leaves_journal = true;
    }

    /// Another one with what was typed: for a thread of its own.
    pub(crate) fn again(&self) -> Self {
        Self {
            global: self.global.clone(),
            place: self.place.clone(),
            leaves_journal: self.leaves_journal,
            program: self.program,
            env: self.env.clone(),
            out: Output::new(self.global.json, false),
        }
    }

    /// Whether a folder was named to start from.
    pub(crate) fn is_place_named(&self) -> bool {
        self.global.project_dir.is_some() || self.env.get("HEIRLOOM_PROJECT_DIR").is_some()
    }

    /// Starts in this folder unless another one was named.
    pub(crate) fn begin_in(&mut self, folder: Option<&str>) {
        let folder = folder
            .map(PathBuf::from)
            .filter(|folder| folder.is_absolute());
        if !self.is_place_named() && folder.as_ref().is_some_and(|folder| folder.is_dir()) {
            self.global.project_dir = folder;
        }
    }

    /// Starts in this folder, whatever else was named.
    pub(crate) fn begin_at(&mut self, folder: &Path) {
        self.global.project_dir = Some(folder.to_owned());
        self.place = None;
    }

    /// Is about the project whose memory lies in `root` itself, even in a worktree that shares another one.
    pub(crate) fn begin_apart(&mut self, root: &Path) -> Result<(), Fault> {
        self.begin_at(root);
        let root = self.start()?;
        let folder = root.join(places::OWN_FOLDER);
        self.place = Some(Place {
            config: folder.join(places::CONFIG_FILE),
            folder,
            root,
        });
        Ok(())
    }

    /// The project around the start folder, if there is one.
    pub(crate) fn hook_place(&self) -> Option<Place> {
        self.place().ok()
    }

    /// The project that was named for this call, if one was.
    pub(crate) fn named_project(&self) -> Option<String> {
        self.global.project.clone()
    }

    /// The whole command line, for completions and manual pages.
    pub(crate) fn program(&self) -> clap::Command {
        (self.program)()
    }

    /// The folder to start from: `--project-dir`, `HEIRLOOM_PROJECT_DIR`, else the current one.
    pub(crate) fn start(&self) -> Result<PathBuf, Fault> {
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
                start.display()
            ))
            .hint("check --project-dir or HEIRLOOM_PROJECT_DIR")
        })
    }

    /// The clock: the system's, or the one that `HEIRLOOM_NOW` fixes.
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

    /// Settings without a project.
    pub(crate) fn bare_config(&self) -> Result<Config, Fault> {
        Config::load(&self.env, None, &self.global.set)
    }

    /// The project around the start folder, or kept for it in the user's data folder.
    ///
    /// Errors: `NotFound` with the hint to run `heirloom init`.
    pub(crate) fn find(&mut self) -> Result<Found, Fault> {
        let found = self.found_at(self.place()?)?;
        for warning in &found.config.warnings {
            self.out
                .talk(&format!("heirloom: {}: {}", warning.place, warning.message));
        }
        Ok(found)
    }

    /// The project at a place, with its settings.
    pub(crate) fn found_at(&self, place: Place) -> Result<Found, Fault> {
        let config = Config::load(&self.env, Some(&place.config), &self.global.set)?;
        let configured = config.text("workspace.user_folder");
        let user_workspace = self.env.user_workspace(configured);
        Ok(Found {
            place,
            config,
            user_workspace,
        })
    }

    fn place(&self) -> Result<Place, Fault> {
        if let Some(place) = &self.place {
            return Ok(place.clone());
        }
        let start = self.start()?;
        match places::find_root(&start) {
            Some(place) => Ok(place),
            None => self.find_user_place(&start),
        }
    }

    /// What looks at the project's memory from outside, whatever state that and its settings are in.
    pub(crate) fn doctor(&self) -> Result<Doctor, Fault> {
        let place = self.place()?;
        let mut findings = Vec::new();
        let config = match Config::load(&self.env, Some(&place.config), &self.global.set) {
            Ok(config) => config,
            Err(fault) => {
                findings.push((Level::Bad, fault.message));
                Config::defaults()?
            }
        };
        let warned = config.warnings.iter();
        let warned = warned.map(|warning| format!("{}: {}", warning.place, warning.message));
        findings.extend(warned.map(|said| (Level::Warn, said)));
        let name = places::project_name(&place.root, Some(config.text("project.name")));
        let project = ProjectName::new(&name);
        if let Err(error) = &project {
            findings.push((Level::Bad, error.to_string()));
        }
        Ok(Doctor {
            place,
            project: project.ok(),
            settings: config.settings(),
            clock: self.clock()?,
            model: embedder::model_name(&config),
            config: findings,
            teller: upgrade::teller(&self.out),
        })
    }

    fn find_user_place(&self, start: &Path) -> Result<Place, Fault> {
        let mut places = start
            .ancestors()
            .filter_map(|folder| self.user_place(&places::new_place(folder).root));
        places.find(|place| place.config.is_file()).ok_or_else(|| {
            Fault::not_found(format!(
                "no Heirloom project in {} or above it",
                start.display()
            ))
            .hint("run `heirloom init` in the project's folder")
        })
    }

    /// Where `init --user` keeps the memory of the project in `root`: in the user's data folder, by its name.
    pub(crate) fn user_place(&self, root: &Path) -> Option<Place> {
        let name = places::project_name(root, None);
        let readable: String = name
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "._-".contains(c) {
                    c
                } else {
                    '-'
                }
            })
            .collect();
        let folder = format!(
            "{}-{}",
            text::clip_start(&readable, 80).trim_start_matches(['.', '-']),
            text::hash16(&name)
        );
        let folder = self.env.data_dir()?.join(folder);
        Some(Place {
            root: root.to_owned(),
            config: folder.join(places::CONFIG_FILE),
            folder,
        })
    }

    /// Finds the project and opens its memory.
    pub(crate) fn open(&mut self) -> Result<Engine, Fault> {
        let found = self.find()?;
        let engine = self.engine(&found)?;
        self.take_in(&engine);
        Ok(engine)
    }

    /// As [`Session::open`], for whoever takes in by itself what waits in the inbox and in files.
    pub(crate) fn open_to_watch(&mut self) -> Result<Engine, Fault> {
        let found = self.find()?;
        self.engine(&found)
    }

    /// Takes in what agents dropped and what people wrote since the last command.
    pub(crate) fn take_in(&mut self, engine: &Engine) {
        self.sweep(engine);
        self.sync(engine);
    }

    /// Takes in what people changed in their workspace files since the last command. What goes wrong with these is no
    /// reason not to do what was asked for.
    fn sync(&mut self, engine: &Engine) {
        match engine.sync_workspace() {
            Ok(report) => {
                (report.notes.iter()).for_each(|note| self.out.talk(&format!("heirloom: {note}")))
            }
            Err(fault) => {
                let said = format!("heirloom: workspace files were not read: {}", fault.message);
                self.out.talk(&said);
            }
        }
    }

    /// As [`Session::open`], with what the settings want vectors to be made by. Only for commands that may wait
    /// for it: nothing that hooks call.
    ///
    /// Settings of it that cannot be used are no reason not to open the memory: they are told.
    pub(crate) fn open_with_embedder(&mut self) -> Result<Engine, Fault> {
        let found = self.find()?;
        let engine = self.engine(&found)?;
        self.take_in(&engine);
        Ok(self.with_embedder(engine, &found))
    }

    /// `engine` with what the settings want vectors to be made by, if that can be used.
    pub(crate) fn with_embedder(&mut self, engine: Engine, found: &Found) -> Engine {
        match embedder::of(&found.config, &self.env) {
            Ok(Some(embedder)) => engine.with_embedder(embedder),
            Ok(None) => engine,
            Err(fault) => {
                let said = format!("heirloom: the built-in vectors rank: {}", fault.message);
                self.out.talk(&said);
                engine
            }
        }
    }

    /// `engine` with what the settings want summaries to be written by, if that can be used.
    pub(crate) fn with_summariser(&mut self, engine: Engine, config: &Config) -> Engine {
        match writer::summariser(config, &self.env) {
            Ok(Some(summariser)) => engine.with_summariser(summariser),
            Ok(None) => engine,
            Err(fault) => {
                let said = fault.message;
                (self.out).talk(&format!(
                    "heirloom: summaries are made without a model: {said}"
                ));
                engine
            }
        }
    }

    /// The memory that a command is about: the person's own, or that of the project.
    pub(crate) fn open_of(&mut self, of_user: bool) -> Result<Engine, Fault> {
        if !of_user {
            return self.open();
        }
        if !self.has_user_memory() {
            return Err(Fault::not_found("nothing of your own is remembered yet")
                .hint("heirloom remember --user \"TEXT\""));
        }
        self.user_engine()
    }

    /// The person's own memory, if there is some. One that cannot be opened is told and is no reason to fail.
    pub(crate) fn user_memory(&mut self) -> Option<Engine> {
        if !self.has_user_memory() {
            return None;
        }
        match self.user_engine() {
            Ok(engine) => Some(engine),
            Err(fault) => {
                let said = format!("heirloom: your own memory is left out: {}", fault.message);
                self.out.talk(&said);
                None
            }
        }
    }

    /// Whether the person has a memory of their own. Nothing is made to find that out.
    pub(crate) fn has_user_memory(&self) -> bool {
        let folder = self.user_folder();
        folder.is_some_and(|folder| {
            [DATABASE, MARKER]
                .iter()
                .any(|name| folder.join(name).symlink_metadata().is_ok())
        })
    }

    /// The person's own memory, made if it is missing: a store below their data folder that no project exports.
    pub(crate) fn user_engine(&self) -> Result<Engine, Fault> {
        let folder = self.user_folder().ok_or_else(|| {
            Fault::failed("there is no folder for your own memory")
                .hint("set HOME or XDG_DATA_HOME")
        })?;
        durable::create_dir_private(&folder)?;
        let store = open_store(&folder, &upgrade::teller(&self.out))?;
        let project = ProjectName::new(USER).map_err(|error| Fault::failed(error.to_string()))?;
        let config = self.bare_config()?;
        // A person's own memory is not switched on in a project.
        let settings = heirloom_model::Settings {
            enabled: true,
            ..config.settings()
        };
        let place = Place {
            root: folder.clone(),
            config: folder.join(places::CONFIG_FILE),
            folder,
        };
        Engine::new(Arc::new(store), project, place, settings, self.clock()?)
    }

    fn user_folder(&self) -> Option<PathBuf> {
        Some(self.env.data_dir()?.join(USER))
    }

    /// Takes what agents dropped into the inbox of a project. What goes wrong is told: the command has its own work.
    fn sweep(&mut self, engine: &Engine) {
        match engine.sweep_inbox() {
            Ok(swept) => {
                for (name, why) in swept.failed {
                    self.out
                        .talk(&format!("heirloom: inbox/failed/{name}: {why}"));
                }
            }
            Err(fault) => {
                let said = format!("heirloom: the inbox has to wait: {}", fault.message);
                self.out.talk(&said);
            }
        }
    }

    /// The memory of the demo's project in `root`, by its own settings only.
    pub(crate) fn demo_engine(&mut self, root: &Path) -> Result<Engine, Fault> {
        let folder = root.join(places::OWN_FOLDER);
        let place = Place {
            root: root.to_owned(),
            config: folder.join(places::CONFIG_FILE),
            folder,
        };
        let config = Config::load(&Environment::default(), Some(&place.config), &[])?;
        self.engine(&Found {
            place,
            config,
            user_workspace: None,
        })
    }

    /// Opens the memory of a project that was found.
    ///
    /// Errors: `NotFound` when a database that was made here is gone; it is never replaced by an empty one.
    /// `Refused` for links that lead out of the project.
    pub(crate) fn engine(&mut self, found: &Found) -> Result<Engine, Fault> {
        let clock = self.clock()?;
        self.engine_by(found, clock)
    }

    /// The same by this clock: for a story that is told as if it took a week.
    pub(crate) fn story_engine(&mut self, clock: Arc<dyn Clock>) -> Result<Engine, Fault> {
        let found = self.find()?;
        self.engine_by(&found, clock)
    }

    fn engine_by(&mut self, found: &Found, clock: Arc<dyn Clock>) -> Result<Engine, Fault> {
        let mut place = found.place.clone();
        place.folder = memory_folder(&place)?;
        let mut store = open_store(&place.folder, &upgrade::teller(&self.out))?;
        if self.leaves_journal {
            store = store.leaving_short_journal();
        }
        let name = places::project_name(&found.place.root, Some(found.config.text("project.name")));
        let project = ProjectName::new(&name).map_err(|error| {
            Fault::usage(error.to_string())
                .hint("set `name` under `[project]`, or give --project NAME")
        })?;
        let mut settings = found.config.settings();
        settings
            .workspace
            .user_folder
            .clone_from(&found.user_workspace);
        Engine::new(Arc::new(store), project, place, settings, clock)
    }
}

/// A store of its own for measurements, gone with the value.
pub(crate) struct Bench {
    store: Arc<SqliteStore>,
    clock: Arc<dyn Clock>,
    folder: TempDir,
}

impl Bench {
    /// An empty store in a temporary folder.
    pub(crate) fn new(session: &Session) -> Result<Self, Fault> {
        let folder = temporary_folder("heirloom-bench-")?;
        let store = SqliteStore::create(&folder.path().join(DATABASE))?;
        Ok(Self {
            store: Arc::new(store),
            clock: session.clock()?,
            folder,
        })
    }

    /// A project in it, with the settings that everybody has.
    pub(crate) fn engine(&self, project: &str) -> Result<Engine, Fault> {
        let root = self.folder.path().to_owned();
        let place = Place {
            config: root.join(places::CONFIG_FILE),
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

fn open_store(folder: &Path, teller: &Teller) -> Result<SqliteStore, Fault> {
    let database = folder.join(DATABASE);
    let marker = folder.join(MARKER);
    if marker.is_symlink() {
        return Err(Fault::refused(format!(
            "{} is a symbolic link, and links are not followed",
            marker.display()
        ))
        .hint("remove the link; what it leads to was not touched"));
    }
    if is_there(&database)? || is_there(&marker)? {
        let store = SqliteStore::open_telling(&database, teller)
            .map_err(|error| missing_store(error.into(), &marker))?;
        if !marker.exists() {
            // Whoever made the database died before its marker was written. Without one a database that is
            // lost later would be taken for one that never was; where it cannot be written none is lost.
            let marked = durable::write_atomic(&marker, MARKER_TEXT);
            drop(marked);
        }
        return Ok(store);
    }
    let store = SqliteStore::create(&database)?;
    durable::write_atomic(&marker, MARKER_TEXT)?;
    Ok(store)
}

/// Whether something has this name, be it a link that leads nowhere. A folder that cannot be searched is no folder without a database.
fn is_there(path: &Path) -> Result<bool, Fault> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(
            Fault::failed(format!("cannot look at {}: {error}", path.display()))
                .hint("check the folder, its owner and its permissions"),
        ),
    }
}

fn missing_store(fault: Fault, marker: &Path) -> Fault {
    if fault.kind != heirloom_model::ErrorKind::NotFound {
        return fault;
    }
    let hint = format!(
        "a database was made here before and is gone: `heirloom restore FILE` puts a backup in its place, or delete {} to begin with an empty memory",
        marker.display()
    );
    Fault {
        hint: Some(hint),
        ..fault
    }
}

/// The folder that holds a project's memory, without links. Errors: `Refused` for one that is a link out of
/// the project.
pub(crate) fn memory_folder(place: &Place) -> Result<PathBuf, Fault> {
    places::memory_folder(place).map_err(|problem| {
        Fault::refused(format!("memory cannot be kept there: {problem}")).hint(
            "it is a link, and nothing is written through links that lead out of a project: remove it and \
             run `heirloom init`, or keep memory outside with `heirloom init --user`",
        )
    })
}

/// Takes away what others may do with the folder of a project's memory and with the database in it; says
/// which of them were open to others.
pub(crate) fn make_memory_private(folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    let names = [DATABASE, "heirloom.db-wal", "heirloom.db-shm", MARKER];
    let mut made = Vec::from_iter(make_private(folder)?);
    for name in names {
        made.extend(make_private(&folder.join(name))?);
    }
    Ok(made)
}

/// Takes away what others may do with a file or folder; the path if there was anything to take.
pub(crate) fn make_private(path: &Path) -> Result<Option<PathBuf>, Fault> {
    let was_open = durable::make_private(path)?;
    Ok(was_open.then(|| path.to_owned()))
}

/// Writes a file whole or not at all, for this person only.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    Ok(durable::write_atomic(path, bytes)?)
}

/// Writes a file of another program whole or not at all: through links, with the mode that it has.
pub(crate) fn replace_foreign(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    Ok(durable::replace_foreign(path, bytes)?)
}

/// Copies a file, for this person only.
pub(crate) fn copy_file(from: &Path, to: &Path) -> Result<(), Fault> {
    Ok(durable::copy_durable(from, to)?)
}

/// A folder for this person only, gone with the value.
pub(crate) fn temporary_folder(prefix: &str) -> Result<TempDir, Fault> {
    Ok(durable::temporary_folder(prefix, None)?)
}

/// Removes a file if it is there.
pub(crate) fn remove_file(path: &Path) -> Result<(), Fault> {
    Ok(durable::remove_if_there(path)?)
}

/// Creates a folder for this person only.
pub(crate) fn create_folder(path: &Path) -> Result<(), Fault> {
    Ok(durable::create_dir_private(path)?)
}
