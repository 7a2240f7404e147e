//! Installation of Heirloom's hooks in the settings of agent programs, without other changes to the files.

mod backups;
mod conversation_copies;
mod diff;
mod hook_call_stats;
mod hook_status;

pub(crate) use conversation_copies::{find_conversation_copies, remove_conversation_copies};
pub(crate) use diff::diff;
pub(crate) use hook_status::HookStatus;

use crate::config::Environment;
use crate::store_access;
use heirloom_agents::settings::{AddedFile, SettingsEditor, SettingsFormat, SettingsPart};
use heirloom_agents::{AgentProgram, ProgramFolder};
use heirloom_fs::{program_file, project_fs};
use heirloom_model::text::EscapedPath;
use heirloom_model::{ErrorKind, Fault, Timestamp, limits};
use std::path::{Path, PathBuf};

/// The sessions that get the hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum InstallScope {
    /// All of this user's.
    User,
    /// All in this project, of every user.
    Project,
}

impl InstallScope {
    /// Returns the scope's name.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// Change to our entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookChange {
    /// Adds missing entries.
    Install,
    /// Removes the entries.
    Remove,
}

/// A settings file before and after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettingsChange {
    /// Part of the installation in the file.
    pub(crate) part: SettingsPart,
    /// The file.
    pub(crate) file: PathBuf,
    /// Content before the change; `None` if the file does not exist.
    pub(crate) before: Option<String>,
    /// Content after the change; `None` if the file is removed.
    pub(crate) after: Option<String>,
    /// Program that needs the hooks too, so that a removal of another one leaves them.
    pub(crate) kept_for: Option<AgentProgram>,
}

impl SettingsChange {
    /// Returns true if the change has an effect.
    pub(crate) fn has_changes(&self) -> bool {
        self.before != self.after
    }

    /// Writes the change, after a backup of the existing file; returns the path of the backup.
    ///
    /// Errors: `Refused` if the file was changed in the meantime; `Failed` if it cannot be written.
    pub(crate) fn write(&self, now: Timestamp) -> Result<Option<PathBuf>, Fault> {
        if read_settings(&self.file)? != self.before {
            return Err(Fault::refused(format!(
                "{} was changed in the meantime",
                self.file.to_escaped()
            ))
            .hint("nothing was written; try again"));
        }
        let mut backup = None;
        if self.before.is_some() {
            let kept = backups::new_backup_path(&self.file, now);
            store_access::copy_file(&self.file, &kept).map_err(read_only)?;
            backup = Some(kept);
        }
        match &self.after {
            Some(text) => {
                if let Some(folder) = self.file.parent().filter(|folder| !folder.is_dir()) {
                    store_access::create_folder(folder).map_err(read_only)?;
                }
                store_access::replace_foreign(&self.file, text.as_bytes()).map_err(read_only)?;
            }
            None => store_access::remove_file(&self.file).map_err(read_only)?,
        }
        Ok(backup)
    }
}

fn read_only(fault: Fault) -> Fault {
    fault.hint("the file is unchanged; check the owner and the permissions of the folder")
}

/// Computes the changes of all files of an installation; the file with the hooks is first.
///
/// Errors: `Refused` for an invalid file, with the line; no file was changed.
pub(crate) fn plan_changes(
    program: AgentProgram,
    scope: InstallScope,
    change: HookChange,
    env: &Environment,
    start: &Path,
) -> Result<Vec<SettingsChange>, Fault> {
    let mut hooks = plan_change(program, scope, change, env, start)?;
    if change == HookChange::Remove
        && let Some(other) = format_of(program)?.shares_hooks_with
        && hooks.has_changes()
        && has_added_files(other, scope, env, start)
    {
        hooks.after.clone_from(&hooks.before);
        hooks.kept_for = Some(other);
    }
    let mut changes = vec![hooks];
    changes.extend(plan_added_files(program, scope, change, env, start)?);
    Ok(changes)
}

/// Returns true if a file of an installation exists besides that with the hooks.
fn has_added_files(
    program: AgentProgram,
    scope: InstallScope,
    env: &Environment,
    start: &Path,
) -> bool {
    let removal = plan_added_files(program, scope, HookChange::Remove, env, start);
    removal.is_ok_and(|changes| changes.iter().any(SettingsChange::has_changes))
}

fn plan_added_files(
    program: AgentProgram,
    scope: InstallScope,
    change: HookChange,
    env: &Environment,
    start: &Path,
) -> Result<Vec<SettingsChange>, Fault> {
    let mut changes = Vec::new();
    for added in format_of(program)?.more_files {
        if let Some(file) = added_file(added, scope, env, start)? {
            let before = read_settings(&file)?;
            changes.push(plan_file_change(
                added.part,
                added.editor,
                file,
                before,
                change,
            )?);
        }
    }
    Ok(changes)
}

/// Returns the path of a further file in a scope; `None` if the program reads none there.
fn added_file(
    added: &AddedFile,
    scope: InstallScope,
    env: &Environment,
    start: &Path,
) -> Result<Option<PathBuf>, Fault> {
    let file = match scope {
        InstallScope::Project => added
            .project_file
            .map(|file| project_root(start).join(file)),
        InstallScope::User => match &added.user_file {
            Some((folder, file)) => Some(user_folder(folder, env)?.join(file)),
            None => None,
        },
    };
    let other = file.as_ref().zip(added.other_name);
    let other = other.map(|(file, name)| file.with_file_name(name));
    Ok(match other {
        Some(other) if !file.as_ref().is_some_and(|file| file.exists()) && other.exists() => {
            Some(other)
        }
        Some(_) | None => file,
    })
}

/// Computes the change of the file with the hooks.
///
/// Errors: `Refused` for an invalid file, with the line; the file stays unchanged.
pub(crate) fn plan_change(
    program: AgentProgram,
    scope: InstallScope,
    change: HookChange,
    env: &Environment,
    start: &Path,
) -> Result<SettingsChange, Fault> {
    let format = format_of(program)?;
    let folder = settings_folder(format, scope, env, start)?;
    if let Some(other) = &format.other_file {
        let file = folder.join(other.file);
        let text = read_settings(&file)?;
        if let Some(text) = text.filter(|text| (other.has_hooks)(text)) {
            let planned =
                plan_file_change(SettingsPart::Hooks, other.editor, file, Some(text), change)?;
            // If hooks were added to this file later, ours are still in the first one.
            if change == HookChange::Install || planned.has_changes() {
                return Ok(planned);
            }
        }
    }
    let file = folder.join(format.file);
    let before = read_settings(&file)?;
    plan_file_change(SettingsPart::Hooks, format.editor, file, before, change)
}

/// Computes the change of a file with this content.
fn plan_file_change(
    part: SettingsPart,
    editor: &dyn SettingsEditor,
    file: PathBuf,
    before: Option<String>,
    change: HookChange,
) -> Result<SettingsChange, Fault> {
    let text = before.as_deref().unwrap_or_default();
    let original = find_original(editor, &file, change);
    let after = match change {
        HookChange::Install => editor.add(text),
        HookChange::Remove => editor.remove(text, original.as_deref()),
    };
    let mut after = after.map_err(|mistake| refused(&file, &mistake.to_string()))?;
    let is_original = original.is_some();
    let install_into = |original: &String| editor.add(original);
    if let Some(original) = original.filter(|one| install_into(one).is_ok_and(|with| with == text))
    {
        after = original;
    }
    // A file that contains only our entries is removed with them.
    let keeps_file = match change {
        HookChange::Install => true,
        HookChange::Remove => {
            let is_unchanged = before.as_deref() == Some(after.as_str());
            is_unchanged || is_original || !editor.is_empty(&after)
        }
    };
    let after = keeps_file
        .then_some(after)
        .filter(|_| before.is_some() || change == HookChange::Install);
    Ok(SettingsChange {
        part,
        file,
        before,
        after,
        kept_for: None,
    })
}

fn format_of(program: AgentProgram) -> Result<&'static SettingsFormat, Fault> {
    let format = program.settings();
    format.ok_or_else(|| Fault::usage(format!("{program} has no hooks")))
}

/// Returns the content of a settings file from before the installation, if it is removed and a backup has it.
fn find_original(editor: &dyn SettingsEditor, file: &Path, change: HookChange) -> Option<String> {
    let state = |text: &str| {
        let is_same = |changed: Option<String>| changed.as_deref() == Some(text);
        if is_same(editor.remove(text, None).ok()) {
            backups::BackupState::Original
        } else if is_same(editor.add(text).ok()) {
            backups::BackupState::Installed
        } else {
            backups::BackupState::Older
        }
    };
    (change == HookChange::Remove).then(|| backups::find_original(file, &state))?
}

fn refused(file: &Path, why: &str) -> Fault {
    Fault::refused(format!("{}, {why}", file.to_escaped()))
        .hint("nothing was written: correct the file first, or add the hooks by hand")
}

/// Returns the folder in which a program looks for the settings of a scope.
fn settings_folder(
    format: &SettingsFormat,
    scope: InstallScope,
    env: &Environment,
    start: &Path,
) -> Result<PathBuf, Fault> {
    match scope {
        InstallScope::Project => Ok(project_root(start).join(format.project_folder)),
        InstallScope::User => user_folder(&format.user_folder, env),
    }
}

fn project_root(start: &Path) -> PathBuf {
    let place = project_fs::find_project(start);
    place
        .unwrap_or_else(|| project_fs::new_project_paths(start))
        .root
}

fn user_folder(folder: &ProgramFolder, env: &Environment) -> Result<PathBuf, Fault> {
    folder.resolve(|name| env.get(name)).ok_or_else(|| {
        Fault::failed("there is no home folder").hint("set HOME, or use --scope project")
    })
}

/// Reads a settings file; `None` if it does not exist.
fn read_settings(file: &Path) -> Result<Option<String>, Fault> {
    let read_error =
        |why: String| Fault::failed(format!("cannot read {}: {why}", file.to_escaped()));
    match file.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if file.is_symlink() {
                return Err(refused(file, "a link to a missing file"));
            }
            return Ok(None);
        }
        Err(error) => return Err(read_error(error.to_string())),
        Ok(found) if !found.is_file() => return Err(refused(file, "which is not a file")),
        Ok(found) if found.len() > limits::HOST_SETTINGS_BYTES_MAX => {
            let max_bytes = limits::HOST_SETTINGS_BYTES_MAX;
            return Err(refused(
                file,
                &format!("which has more than {max_bytes} bytes"),
            ));
        }
        Ok(_) => {}
    }
    let bytes = project_fs::read_bounded_following_links(file, limits::HOST_SETTINGS_BYTES_MAX);
    let bytes = bytes.map_err(|problem| read_error(problem.to_string()))?;
    let text = String::from_utf8(bytes);
    Ok(Some(text.map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        refused(file, &format!("line {line}: it is not UTF-8 text"))
    })?))
}

/// Returns true if a settings file of the program has hooks of ours, for the person or for the project. An unreadable
/// file has none.
pub(crate) fn settings_have_hooks(program: AgentProgram, env: &Environment, start: &Path) -> bool {
    let Some(format) = program.settings() else {
        return false;
    };
    let has_hooks = |folder: &Path, file: &str, editor: &dyn SettingsEditor| {
        let text = read_settings(&folder.join(file)).ok().flatten();
        text.is_some_and(|text| {
            let without = editor.remove(&text, None);
            without.is_ok_and(|without| without != text)
        })
    };
    [InstallScope::User, InstallScope::Project]
        .into_iter()
        .filter_map(|scope| settings_folder(format, scope, env, start).ok())
        .any(|folder| {
            let other = format.other_file.as_ref();
            has_hooks(&folder, format.file, format.editor)
                || other.is_some_and(|other| has_hooks(&folder, other.file, other.editor))
        })
}

/// Hooks of one program in one scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InstalledHooks {
    /// The program.
    pub(crate) program: AgentProgram,
    /// The sessions that have the hooks.
    pub(crate) scope: InstallScope,
    /// The file.
    pub(crate) file: PathBuf,
    /// True if all of our entries exist in their present form.
    pub(crate) is_complete: bool,
}

/// Finds the installed hooks for agents started in `start`, and the files that could not be read.
pub(crate) fn find_installed(
    env: &Environment,
    start: &Path,
) -> (Vec<InstalledHooks>, Vec<String>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for program in AgentProgram::with_settings() {
        for scope in [InstallScope::User, InstallScope::Project] {
            let removal = match plan_changes(program, scope, HookChange::Remove, env, start) {
                Ok(plans) => plans,
                Err(fault) if fault.kind == ErrorKind::Refused => {
                    problems.push(fault.message);
                    continue;
                }
                Err(_) => continue,
            };
            let changed = removal.into_iter().find(SettingsChange::has_changes);
            // An MCP server without hooks may be configured by the program's own command.
            let Some(changed) = changed.filter(|change| change.part == SettingsPart::Hooks) else {
                continue;
            };
            let installation = plan_change(program, scope, HookChange::Install, env, start);
            found.push(InstalledHooks {
                program,
                scope,
                file: changed.file,
                is_complete: installation.is_ok_and(|plan| !plan.has_changes()),
            });
        }
    }
    // If the project is the home folder, both scopes have the same file.
    found.dedup_by(|one, other| one.file == other.file);
    (found, problems)
}

/// Returns true if the program is found in `PATH` under the name that the hooks call.
pub(crate) fn is_on_path(env: &Environment) -> bool {
    let path = env.get("PATH").unwrap_or_default();
    std::env::split_paths(path).any(|folder| program_file(&folder.join("heirloom")).is_some())
}
