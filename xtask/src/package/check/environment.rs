//! Empty environments: a home, a project, and only the programs that a person needs to install a package.

use crate::sandbox::{excerpt, io_error};
use crate::unix_files::set_mode;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

/// Home in every environment, from its root.
const HOME: &str = "home/person";
/// The project in it.
const PROJECT: &str = "project";
/// User in a changed root, who is not the superuser.
const USER: &str = "1000:1000";
/// A call that takes longer is ended.
const CALL_S_MAX: &str = "300";
/// A script that changes the folder and runs a command: `chroot` has no option for a folder.
const IN_FOLDER: &str = "cd \"$0\" && exec \"$@\"";

/// One environment.
#[derive(Debug)]
pub(super) struct Environment {
    root: PathBuf,
    /// Folders of programs.
    path: String,
    /// Variables of the installer.
    variables: Vec<(String, String)>,
    is_root_changed: bool,
}

impl Environment {
    /// Makes an environment with programs of this machine, replacing an earlier one.
    pub(super) fn on_this_machine(root: &Path, path: &str) -> Result<Self, String> {
        remove(root)?;
        Self::create(root, path, false)
    }

    /// Makes an environment in which the folder is the root of the file system.
    pub(super) fn with_changed_root(root: &Path, path: &str) -> Result<Self, String> {
        let environment = Self::create(root, path, true)?;
        let temporary = root.join("tmp");
        fs::create_dir_all(&temporary).map_err(|error| io_error("create", &temporary, &error))?;
        set_mode(&temporary, 0o1777)
            .map_err(|error| io_error("set the mode of", &temporary, &error))?;
        create_null_device(root)?;
        let owned = Command::new("chown")
            .args(["-R", USER])
            .arg(root.join(HOME))
            .status();
        match owned.is_ok_and(|status| status.success()) {
            true => Ok(environment),
            false => Err("changing the root needs the superuser".to_owned()),
        }
    }

    fn create(root: &Path, path: &str, is_root_changed: bool) -> Result<Self, String> {
        let project = root.join(HOME).join(PROJECT);
        fs::create_dir_all(&project).map_err(|error| io_error("create", &project, &error))?;
        Ok(Self {
            root: root.to_path_buf(),
            path: path.to_owned(),
            variables: Vec::new(),
            is_root_changed,
        })
    }

    /// Sets a variable for all calls.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// Folder of the home, on this machine.
    pub(super) fn home(&self) -> PathBuf {
        self.root.join(HOME)
    }

    /// Returns a command in the project; its output is captured.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        self.command_of_user(words, true)
    }

    fn command_of_user(&self, words: &[&str], is_person: bool) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=10", CALL_S_MAX]).env_clear();
        let base = match self.is_root_changed {
            true => PathBuf::from("/"),
            false => self.root.clone(),
        };
        let home = base.join(HOME);
        if self.is_root_changed {
            // The full path: PATH is that of the environment.
            command.arg("/usr/sbin/chroot");
            if is_person {
                command.arg(format!("--userspec={USER}"));
            }
            command.arg(&self.root).args(["/bin/sh", "-c", IN_FOLDER]);
            command.arg(home.join(PROJECT));
        } else {
            command.current_dir(home.join(PROJECT));
        }
        command
            .args(words)
            .env("HOME", &home)
            .env("PATH", &self.path)
            .env("LANG", "C.UTF-8")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command that must succeed; returns its output and its time in seconds.
    pub(super) fn run(&self, words: &[&str]) -> Result<(String, f64), String> {
        finish(words, &mut self.command(words))
    }

    /// As [`Environment::run`], as the superuser.
    pub(super) fn run_as_superuser(&self, words: &[&str]) -> Result<(String, f64), String> {
        finish(words, &mut self.command_of_user(words, false))
    }

    /// Runs a command that must fail; returns its messages.
    pub(super) fn run_failing(&self, words: &[&str]) -> Result<String, String> {
        let output = start(words, &mut self.command(words))?;
        match output.status.success() {
            true => Err(format!("`{}` succeeded, it must fail", words.join(" "))),
            false => Ok(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// Returns all files and links below the root, without those below the given folders.
    pub(super) fn files_without(&self, folders: &[&str]) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open = vec![self.root.clone()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let name = path.strip_prefix(&self.root).unwrap_or(&path);
                if folders.iter().any(|folder| name.starts_with(folder)) {
                    continue;
                }
                match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    true => open.push(path),
                    false => {
                        found.insert(name.to_string_lossy().into_owned());
                    }
                }
            }
        }
        found
    }
}

/// Creates `/dev/null` in a root; a file where devices cannot be made.
fn create_null_device(root: &Path) -> Result<(), String> {
    let path = root.join("dev/null");
    let folder = root.join("dev");
    fs::create_dir_all(&folder).map_err(|error| io_error("create", &folder, &error))?;
    let made = Command::new("mknod")
        .args(["-m", "666"])
        .arg(&path)
        .args(["c", "1", "3"])
        .stderr(Stdio::null())
        .status();
    if made.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    crate::package::archive::write(&path, b"")?;
    set_mode(&path, 0o666).map_err(|error| io_error("set the mode of", &path, &error))
}

/// Removes a folder with its content.
pub(super) fn remove(folder: &Path) -> Result<(), String> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(io_error("remove", folder, &error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn start(words: &[&str], command: &mut Command) -> Result<Output, String> {
    let name = words.join(" ");
    command
        .output()
        .map_err(|error| format!("cannot start `{name}`: {error}"))
}

fn finish(words: &[&str], command: &mut Command) -> Result<(String, f64), String> {
    let started = Instant::now();
    let output = start(words, command)?;
    let elapsed_s = started.elapsed().as_secs_f64();
    if !output.status.success() {
        return Err(format!(
            "`{}` ended with {}: {}{}",
            words.join(" "),
            output.status,
            excerpt(&output.stdout),
            excerpt(&output.stderr)
        ));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok((text, elapsed_s))
}
