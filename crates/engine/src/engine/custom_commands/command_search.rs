//! Discovery of command files in a folder.
//!
//! A folder of a project comes with its clone, so links that lead out of the project are not followed. The person's
//! folder may consist of links.

use super::{CommandFile, CommandSource};
use heirloom_fs::project_fs::{self, read_bounded};
use heirloom_model::text::EscapedPath;
use heirloom_model::{limits, text};
use heirloom_prompt::custom_commands::{CommandDefinition, check_name, command_name};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Search for commands in one folder.
pub(super) struct CommandSearch {
    source: CommandSource,
    /// Folder that links must stay in; `None` means no limit.
    fence: Option<PathBuf>,
    /// Visited folders, without links.
    entered: BTreeSet<PathBuf>,
    files: usize,
    pub(super) found: Vec<CommandFile>,
    pub(super) left_out: Vec<String>,
}

impl CommandSearch {
    /// Finds the commands in `folder`, which may be missing.
    pub(super) fn in_folder(source: CommandSource, folder: &Path, root: &Path) -> Self {
        let root = project_fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let mut walk = Self {
            source,
            fence: source.is_foreign().then_some(root),
            entered: BTreeSet::new(),
            files: 0,
            found: Vec::new(),
            left_out: Vec::new(),
        };
        if fs::symlink_metadata(folder).is_ok()
            && let Some(real) = walk.real(folder)
            && real.is_dir()
        {
            walk.enter(&real, &[]);
        }
        walk
    }

    fn leave_out(&mut self, path: &Path, why: &str) {
        if self.left_out.len() < limits::DIAGNOSTICS_MAX {
            self.left_out.push(format!("{}: {why}", path.to_escaped()));
        }
    }

    /// Resolves links; `None`, with an entry in `left_out`, if the path is dangling or leads out of the project.
    fn real(&mut self, path: &Path) -> Option<PathBuf> {
        match project_fs::canonicalize(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.leave_out(path, "it is a link that leads nowhere");
            }
            Err(error) => self.leave_out(path, &format!("it cannot be followed: {error}")),
            Ok(real) => match &self.fence {
                Some(fence) if !real.starts_with(fence) => {
                    self.leave_out(path, "it is a link that leads out of the project");
                }
                Some(_) | None => return Some(real),
            },
        }
        None
    }

    fn enter(&mut self, folder: &Path, names: &[String]) {
        if !self.entered.insert(folder.to_owned()) {
            return self.leave_out(
                folder,
                "it was read already: several links lead to it, or a cycle",
            );
        }
        if names.len() >= limits::COMMAND_FOLDER_DEPTH_MAX {
            let most = limits::COMMAND_FOLDER_DEPTH_MAX;
            return self.leave_out(
                folder,
                &format!("it is nested more than {most} folders deep"),
            );
        }
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.leave_out(folder, &format!("it cannot be read: {error}")),
        };
        // Limits the time in a huge folder.
        let entries = entries.flatten().take(limits::COMMAND_FILES_MAX * 10);
        let mut entries: Vec<OsString> = entries.map(|entry| entry.file_name()).collect();
        entries.sort();
        for name in entries {
            let path = folder.join(&name);
            match name.to_str() {
                Some(name) if name.starts_with('.') => {}
                Some(name) => self.look_at(&path, name, names),
                None => self.leave_out(&path, "its name is not UTF-8"),
            }
        }
    }

    fn look_at(&mut self, path: &Path, name: &str, names: &[String]) {
        let stem = name.strip_suffix(".toml");
        let Ok(meta) = fs::symlink_metadata(path) else {
            return;
        };
        if stem.is_none() && meta.is_file() {
            return;
        }
        let Some(real) = self.real(path) else { return };
        if real.is_dir() {
            let names: Vec<_> = names.iter().cloned().chain([name.to_owned()]).collect();
            self.enter(&real, &names);
        } else if let Some(stem) = stem {
            self.files += 1;
            let most = limits::COMMAND_FILES_MAX;
            if self.files <= most {
                self.take(&real, stem, names);
            } else if self.files == most + 1 {
                self.leave_out(path, &format!("only {most} files are read"));
            }
        }
    }

    fn take(&mut self, path: &Path, stem: &str, folders: &[String]) {
        let bytes = match read_bounded(path, limits::COMMAND_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(problem) => return self.leave_out(path, &problem.to_string()),
        };
        let sha256 = Sha256::digest(&bytes);
        let sha256 = sha256.iter().map(|byte| format!("{byte:02x}")).collect();
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                return self.leave_out(path, &format!("it is not UTF-8 at byte {at}"));
            }
        };
        let (definition, mut problems) = CommandDefinition::parse(&text);
        let mut name = command_name(folders, stem, definition.name.as_deref());
        if let Err(wrong) = check_name(&name) {
            problems.push(wrong);
            // The invalid name is still shown in lists.
            name = text::excerpt(&name, 80);
        }
        self.found.push(CommandFile {
            name,
            source: self.source,
            path: path.to_owned(),
            text,
            sha256,
            definition,
            problems,
            hidden: false,
        });
    }
}
