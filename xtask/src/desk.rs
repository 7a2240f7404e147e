//! A project folder with memory switched on, and the program in it, for the campaigns.

use crate::cargo;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// The project's folder inside a desk; beside it lie its home and its temporary files.
const PROJECT: &str = "project";
/// What would make git look at another repository than the one in the folder.
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

/// One folder that holds a project, a home and a folder for temporary files, all its own.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    binary: PathBuf,
    root: PathBuf,
}

impl Desk {
    /// A fresh desk in `root`, whatever was there before; memory is switched on.
    pub(crate) fn fresh(binary: &Path, root: &Path) -> Result<Self, String> {
        let desk = Self::bare(binary, root)?;
        desk.own_repository()?;
        // A name of its own: a copy of the folder has the same.
        desk.done(&["--project", "campaign", "init"])?;
        let database = desk.memory().join("heirloom.db");
        if !database.is_file() {
            return Err(format!("init made no {}", database.display()));
        }
        Ok(desk)
    }

    fn bare(binary: &Path, root: &Path) -> Result<Self, String> {
        let desk = Self {
            binary: binary.to_owned(),
            root: root.to_owned(),
        };
        desk.remove()?;
        for folder in [desk.project(), desk.home(), desk.temp()] {
            fs::create_dir_all(&folder).map_err(|error| about("create", &folder, &error))?;
        }
        Ok(desk)
    }

    /// Makes the project a repository of its own, so that it is no part of the one that it lies in: there
    /// the program would keep its memory at the top.
    fn own_repository(&self) -> Result<(), String> {
        let mut git = Command::new("git");
        git.args(["init", "--quiet", "--template=", "--initial-branch", "main"])
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null");
        for name in GIT_VARIABLES {
            git.env_remove(name);
        }
        cargo::run(git.current_dir(self.project()))
    }

    /// A copy of the project of this one, in `root`.
    pub(crate) fn copy_to(&self, root: &Path) -> Result<Self, String> {
        let copy = Self::bare(&self.binary, root)?;
        copy_folder(&self.project(), &copy.project())?;
        Ok(copy)
    }

    /// A folder beside this desk's.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        let mut root = self.root.clone().into_os_string();
        root.push(format!("-{name}"));
        root.into()
    }

    /// Another fresh desk, beside this one.
    pub(crate) fn sibling(&self, name: &str) -> Result<Self, String> {
        Self::fresh(&self.binary, &self.beside(name))
    }

    /// Removes everything.
    pub(crate) fn remove(&self) -> Result<(), String> {
        match fs::remove_dir_all(&self.root) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(about("remove", &self.root, &error))
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

    /// The program in the project, reading nothing, with nothing of this machine's settings.
    pub(crate) fn heirloom(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(args);
        self.at_home(&mut command);
        command
    }

    /// The program as [`Desk::heirloom`], as the leader of a session of its own: its descendants can be
    /// told by the session, whatever process group they are in.
    pub(crate) fn in_session(&self, args: &[&str]) -> Command {
        let binary = self.binary.to_string_lossy();
        let args = [&[&*binary], args].concat();
        self.through("setsid", &args)
    }

    /// Any program in the project, as [`Desk::heirloom`].
    pub(crate) fn through(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args);
        self.at_home(&mut command);
        command
    }

    fn at_home(&self, command: &mut Command) {
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HEIRLOOM_") {
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

    /// One call to its end.
    pub(crate) fn call(&self, args: &[&str]) -> Result<Output, String> {
        self.heirloom(args)
            .output()
            .map_err(|error| about("start", &self.binary, &error))
    }

    /// Standard output of a call that must end well.
    pub(crate) fn done(&self, args: &[&str]) -> Result<String, String> {
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

    /// The JSON that a call prints, which must end well.
    pub(crate) fn json(&self, args: &[&str]) -> Result<Value, String> {
        let text = self.done(args)?;
        serde_json::from_str(&text)
            .map_err(|error| format!("`heirloom {}` printed no JSON: {error}", args.join(" ")))
    }

    /// Whether the program has this command.
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
            fs::create_dir_all(parent).map_err(|error| about("create", parent, &error))?;
        }
        fs::write(path, content).map_err(|error| about("write", path, &error))
    }
}

/// The end of what was printed, for a message.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const CHARS_MAX: usize = 2_000;
    let text = String::from_utf8_lossy(bytes);
    let skip = text.chars().count().saturating_sub(CHARS_MAX);
    text.chars().skip(skip).collect()
}

/// The names in a folder, sorted; none if it is not there.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Makes a file look as if it had been written two days ago.
pub(crate) fn age(path: &Path) -> Result<(), String> {
    const AGE: Duration = Duration::from_secs(2 * 24 * 3_600);
    let file = fs::File::options().write(true).open(path);
    file.and_then(|file| {
        let written = file.metadata()?.modified()?;
        file.set_modified(written - AGE)
    })
    .map_err(|error| about("age", path, &error))
}

/// What could not be done with a path.
pub(crate) fn about(action: &str, path: &Path, error: &std::io::Error) -> String {
    format!("cannot {action} {}: {error}", path.display())
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    for entry in fs::read_dir(from).map_err(|error| about("list", from, &error))? {
        let source = entry.map_err(|error| about("list", from, &error))?.path();
        let target = to.join(source.file_name().unwrap_or_default());
        if source.is_dir() {
            fs::create_dir_all(&target).map_err(|error| about("create", &target, &error))?;
            let mode = source.metadata().map(|meta| meta.permissions());
            mode.and_then(|mode| fs::set_permissions(&target, mode))
                .map_err(|error| about("set the mode of", &target, &error))?;
            copy_folder(&source, &target)?;
        } else {
            fs::copy(&source, &target).map_err(|error| about("copy", &source, &error))?;
        }
    }
    Ok(())
}
