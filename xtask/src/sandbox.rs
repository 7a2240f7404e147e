//! Temporary project with memory enabled and its own home, for test campaigns.

use crate::cargo;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Name of the project folder inside a sandbox; home and temporary folder are its siblings.
const PROJECT: &str = "project";
/// Variables that redirect git to another repository.
const GIT_VARIABLES: [&str; 3] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"];

/// Builds the release binary and returns its path.
pub(crate) fn build_heirloom() -> Result<PathBuf, String> {
    cargo::run(&mut cargo::command([
        "build",
        "--release",
        "--package",
        "heirloom",
    ]))?;
    Ok(cargo::target_dir()?
        .join("release")
        .join(cargo::exe("heirloom")))
}

/// Folder with a project, a home and a folder for temporary files.
#[derive(Debug, Clone)]
pub(crate) struct Sandbox {
    binary: PathBuf,
    root: PathBuf,
}

impl Sandbox {
    /// Creates a sandbox in `root`, replacing its content, and enables memory.
    pub(crate) fn fresh(binary: &Path, root: &Path) -> Result<Self, String> {
        let desk = Self::create_without_git(binary, root)?;
        desk.init_repository()?;
        // An explicit project name, so that a copy of the folder has the same identity.
        desk.call_ok(&["--project", "campaign", "init"])?;
        let database = desk.memory().join("heirloom.db");
        if !database.is_file() {
            return Err(format!("init made no {}", database.display()));
        }
        Ok(desk)
    }

    fn create_without_git(binary: &Path, root: &Path) -> Result<Self, String> {
        let desk = Self {
            binary: binary.to_owned(),
            root: root.to_owned(),
        };
        desk.remove()?;
        for folder in [desk.project(), desk.home(), desk.temp()] {
            fs::create_dir_all(&folder).map_err(|error| io_error("create", &folder, &error))?;
        }
        Ok(desk)
    }

    /// Initialises a git repository, so that the project is not part of a surrounding one, at whose top
    /// the program would store its memory.
    fn init_repository(&self) -> Result<(), String> {
        let mut git = Command::new("git");
        git.args(["init", "--quiet", "--template=", "--initial-branch", "main"])
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null");
        for name in GIT_VARIABLES {
            git.env_remove(name);
        }
        cargo::run(git.current_dir(self.project()))
    }

    /// Copies the project into a new sandbox in `root`.
    pub(crate) fn copy_to(&self, root: &Path) -> Result<Self, String> {
        let copy = Self::create_without_git(&self.binary, root)?;
        copy_folder(&self.project(), &copy.project())?;
        Ok(copy)
    }

    /// Returns the path of a sibling folder.
    pub(crate) fn sibling_path(&self, name: &str) -> PathBuf {
        let mut root = self.root.clone().into_os_string();
        root.push(format!("-{name}"));
        root.into()
    }

    /// Creates another sandbox next to this one.
    pub(crate) fn create_sibling(&self, name: &str) -> Result<Self, String> {
        Self::fresh(&self.binary, &self.sibling_path(name))
    }

    /// Removes everything.
    pub(crate) fn remove(&self) -> Result<(), String> {
        match fs::remove_dir_all(&self.root) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(io_error("remove", &self.root, &error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// The folder that holds all of it.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The project's folder.
    pub(crate) fn project(&self) -> PathBuf {
        self.root.join(PROJECT)
    }

    /// The folder that holds the project's memory.
    pub(crate) fn memory(&self) -> PathBuf {
        self.project().join(".heirloom")
    }

    /// The folder for temporary files.
    pub(crate) fn temp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Returns a `heirloom` command in the project, without input and without settings of this machine.
    pub(crate) fn heirloom(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(args);
        self.set_environment(&mut command);
        command
    }

    /// As [`Sandbox::heirloom`], as the leader of a new session: the session id identifies its descendants
    /// in any process group.
    pub(crate) fn in_session(&self, args: &[&str]) -> Command {
        let binary = self.binary.to_string_lossy();
        let args = [&[&*binary], args].concat();
        self.command("setsid", &args)
    }

    /// Returns a command for any program, with the environment of [`Sandbox::heirloom`].
    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args);
        self.set_environment(&mut command);
        command
    }

    fn set_environment(&self, command: &mut Command) {
        for (name, _) in std::env::vars_os() {
            if heirloom_testkit::is_setting_of_machine(&name) {
                command.env_remove(name);
            }
        }
        for name in GIT_VARIABLES {
            command.env_remove(name);
        }
        command
            .current_dir(self.project())
            .env("HOME", self.home())
            .env("XDG_CONFIG_HOME", self.home().join("config"))
            .env("XDG_DATA_HOME", self.home().join("data"))
            .env("TMPDIR", self.temp())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    }

    /// Runs a call to its end.
    pub(crate) fn call(&self, args: &[&str]) -> Result<Output, String> {
        self.heirloom(args)
            .output()
            .map_err(|error| io_error("start", &self.binary, &error))
    }

    /// Runs a call that must succeed and returns its standard output.
    pub(crate) fn call_ok(&self, args: &[&str]) -> Result<String, String> {
        let output = self.call(args)?;
        if !output.status.success() {
            return Err(format!(
                "`heirloom {}` ended with {}: {}{}",
                args.join(" "),
                output.status,
                excerpt(&output.stdout),
                excerpt(&output.stderr),
            ));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs a call that must succeed and parses its JSON output.
    pub(crate) fn json(&self, args: &[&str]) -> Result<Value, String> {
        let text = self.call_ok(args)?;
        serde_json::from_str(&text)
            .map_err(|error| format!("`heirloom {}` printed no JSON: {error}", args.join(" ")))
    }

    /// True if the program has this command.
    pub(crate) fn has_command(&self, name: &str) -> Result<bool, String> {
        Ok(self.call(&[name, "--help"])?.status.success())
    }

    /// Writes a file, with the folders above it.
    #[expect(
        clippy::disallowed_methods,
        reason = "a file of a campaign, not of a person"
    )]
    pub(crate) fn write(&self, path: &Path, content: &[u8]) -> Result<(), String> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| io_error("create", parent, &error))?;
        }
        fs::write(path, content).map_err(|error| io_error("write", path, &error))
    }
}

/// Returns the end of an output, for a message.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const CHARS_MAX: usize = 2_000;
    let text = String::from_utf8_lossy(bytes);
    let skip = text.chars().count().saturating_sub(CHARS_MAX);
    text.chars().skip(skip).collect()
}

/// Returns the sorted names in a folder; empty if it does not exist.
pub(crate) fn file_names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Sets the modification time of a file to two days ago.
pub(crate) fn make_old(path: &Path) -> Result<(), String> {
    const AGE: Duration = Duration::from_secs(2 * 24 * 3_600);
    let file = fs::File::options().write(true).open(path);
    file.and_then(|file| {
        let written = file.metadata()?.modified()?;
        file.set_modified(written - AGE)
    })
    .map_err(|error| io_error("age", path, &error))
}

/// Formats an I/O error with the action and the path.
pub(crate) fn io_error(action: &str, path: &Path, error: &std::io::Error) -> String {
    format!("cannot {action} {}: {error}", path.display())
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    for entry in fs::read_dir(from).map_err(|error| io_error("list", from, &error))? {
        let source = entry
            .map_err(|error| io_error("list", from, &error))?
            .path();
        let target = to.join(source.file_name().unwrap_or_default());
        if source.is_dir() {
            fs::create_dir_all(&target).map_err(|error| io_error("create", &target, &error))?;
            let mode = source.metadata().map(|meta| meta.permissions());
            mode.and_then(|mode| fs::set_permissions(&target, mode))
                .map_err(|error| io_error("set the mode of", &target, &error))?;
            copy_folder(&source, &target)?;
        } else {
            fs::copy(&source, &target).map_err(|error| io_error("copy", &source, &error))?;
        }
    }
    Ok(())
}
