//! Our hooks in the settings of agent programs: where those are, what changes, and that nothing else does.

mod codex;
mod diff;
mod live;

pub(crate) use diff::diff;
pub(crate) use live::Hooks;

use crate::config::Environment;
use crate::open;
use heirloom_engine::hooks::{self, Host};
use heirloom_engine::places;
use heirloom_model::{ErrorKind, Fault, Timestamp, limits};
use std::path::{Path, PathBuf};

/// Whose sessions have the hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Scope {
    /// All of this person's.
    User,
    /// Those in this project, of everybody who has it.
    Project,
}

impl Scope {
    /// Its name.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// What is to become of our entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// They are to be there.
    There,
    /// They are to be gone.
    Gone,
}

/// A settings file, as it is and as it is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The file.
    pub(crate) file: PathBuf,
    /// What stands in it; none if it is not there.
    pub(crate) before: Option<String>,
    /// What is to stand in it; none if it is to go.
    pub(crate) after: Option<String>,
}

impl Plan {
    /// Whether there is something to do.
    pub(crate) fn changes(&self) -> bool {
        self.before != self.after
    }

    /// Writes it. The file as it was is kept beside it; where that is, if there was one.
    ///
    /// Errors: `Refused` if somebody changed the file meanwhile; `Failed` where it cannot be written.
    pub(crate) fn carry_out(&self, now: Timestamp) -> Result<Option<PathBuf>, Fault> {
        if read(&self.file)? != self.before {
            return Err(
                Fault::refused(format!("{} was changed meanwhile", self.file.display()))
                    .hint("nothing was written; try again"),
            );
        }
        let mut backup = None;
        if self.before.is_some() {
            let stamp = now.strftime("%Y%m%dT%H%M%SZ");
            let mut name = self.file.clone().into_os_string();
            name.push(format!(".before-heirloom-{stamp}"));
            let kept = PathBuf::from(name);
            open::copy_file(&self.file, &kept).map_err(read_only)?;
            backup = Some(kept);
        }
        match &self.after {
            Some(text) => {
                if let Some(folder) = self.file.parent().filter(|folder| !folder.is_dir()) {
                    open::create_folder(folder).map_err(read_only)?;
                }
                open::replace_foreign(&self.file, text.as_bytes()).map_err(read_only)?;
            }
            None => open::remove_file(&self.file).map_err(read_only)?,
        }
        Ok(backup)
    }
}

fn read_only(fault: Fault) -> Fault {
    fault.hint("the file is as it was; look at who owns the folder, and whether it can be written")
}

/// What a settings file is to become.
///
/// Errors: `Refused` for a file with something wrong in it, with the line; it stays as it is.
pub(crate) fn plan(
    host: Host,
    scope: Scope,
    wish: Wish,
    env: &Environment,
    start: &Path,
) -> Result<Plan, Fault> {
    let folder = folder(host, scope, env, start)?;
    let file = settings_file(host, &folder);
    if host == Host::Codex {
        let toml = folder.join("config.toml");
        let text = read(&toml)?;
        // One form a layer: beside hooks in config.toml a file of hooks would be told to be wrong.
        if let Some(text) = text.filter(|text| codex::has_hooks(text)) {
            let after = codex::with(&text, wish).map_err(|why| refused(&toml, &why))?;
            return Ok(Plan {
                file: toml,
                before: Some(text),
                after: Some(after),
            });
        }
    }
    let before = read(&file)?;
    let text = before.as_deref().unwrap_or_default();
    let after = match wish {
        Wish::There => hooks::with_entries(host, text),
        Wish::Gone => hooks::without_entries(host, text),
    };
    let after = after.map_err(|mistake| {
        let why = format!("line {}: {}", mistake.line, mistake.message);
        refused(&file, &why)
    })?;
    // A file that has nothing but what we put there goes with it.
    let is_left = match wish {
        Wish::There => true,
        Wish::Gone => before.as_deref() == Some(after.as_str()) || !is_empty(&after),
    };
    let after = is_left
        .then_some(after)
        .filter(|_| before.is_some() || wish == Wish::There);
    Ok(Plan {
        file,
        before,
        after,
    })
}

fn is_empty(text: &str) -> bool {
    text.chars().filter(|c| !c.is_whitespace()).eq("{}".chars())
}

fn refused(file: &Path, why: &str) -> Fault {
    Fault::refused(format!("{}, {why}", file.display()))
        .hint("nothing was written: mend the file first, or add the hooks by hand")
}

/// Where a program looks for the settings of a scope.
fn folder(host: Host, scope: Scope, env: &Environment, start: &Path) -> Result<PathBuf, Fault> {
    let (name, variable) = match host {
        Host::ClaudeCode => (".claude", Some("CLAUDE_CONFIG_DIR")),
        Host::Codex => (".codex", Some("CODEX_HOME")),
        Host::Gemini => (".gemini", None),
    };
    match scope {
        Scope::Project => {
            let place = places::find_root(start).unwrap_or_else(|| places::new_place(start));
            Ok(place.root.join(name))
        }
        Scope::User => {
            let own = variable.and_then(|name| env.get(name)).map(PathBuf::from);
            let home = || Some(PathBuf::from(env.get("HOME")?).join(name));
            own.or_else(home).ok_or_else(|| {
                Fault::failed("there is no home folder").hint("set HOME, or use --scope project")
            })
        }
    }
}

fn settings_file(host: Host, folder: &Path) -> PathBuf {
    folder.join(match host {
        Host::ClaudeCode | Host::Gemini => "settings.json",
        Host::Codex => "hooks.json",
    })
}

/// The text of a settings file; none if there is none.
fn read(file: &Path) -> Result<Option<String>, Fault> {
    let cannot = |why: String| Fault::failed(format!("cannot read {}: {why}", file.display()));
    match file.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if file.is_symlink() {
                return Err(refused(file, "a link that leads nowhere"));
            }
            return Ok(None);
        }
        Err(error) => return Err(cannot(error.to_string())),
        Ok(found) if !found.is_file() => return Err(refused(file, "which is no file")),
        Ok(found) if found.len() > limits::HOST_SETTINGS_BYTES_MAX => {
            let most = limits::HOST_SETTINGS_BYTES_MAX;
            return Err(refused(file, &format!("which has more than {most} bytes")));
        }
        Ok(_) => {}
    }
    let bytes = std::fs::read(file).map_err(|error| cannot(error.to_string()))?;
    let text = String::from_utf8(bytes);
    Ok(Some(text.map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        refused(file, &format!("line {line}: it is no text in UTF-8"))
    })?))
}

/// How far an installation is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Installed {
    /// The program.
    pub(crate) host: Host,
    /// Whose sessions.
    pub(crate) scope: Scope,
    /// The file.
    pub(crate) file: PathBuf,
    /// Whether all of our entries are there as they are to be.
    pub(crate) is_whole: bool,
}

/// Where hooks are installed for whoever starts agents here, and files that could not be looked into.
pub(crate) fn installed(env: &Environment, start: &Path) -> (Vec<Installed>, Vec<String>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for host in Host::ALL {
        for scope in [Scope::User, Scope::Project] {
            let here = match plan(host, scope, Wish::Gone, env, start) {
                Ok(plan) => plan,
                Err(fault) if fault.kind == ErrorKind::Refused => {
                    problems.push(fault.message);
                    continue;
                }
                Err(_) => continue,
            };
            if !here.changes() {
                continue;
            }
            let whole = plan(host, scope, Wish::There, env, start);
            found.push(Installed {
                host,
                scope,
                file: here.file,
                is_whole: whole.is_ok_and(|plan| !plan.changes()),
            });
        }
    }
    // Where the project is the home folder, both are the same file.
    found.dedup_by(|one, other| one.file == other.file);
    (found, problems)
}

/// Whether the person's shell finds the program under its name, as the hooks call it.
pub(crate) fn is_on_path(env: &Environment) -> bool {
    let path = env.get("PATH").unwrap_or_default();
    std::env::split_paths(path).any(|folder| folder.join("heirloom").is_file())
}
