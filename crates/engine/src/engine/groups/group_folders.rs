//! Folders of groups: the list of groups, and the check that no folder is a link.

use super::{GROUPS, Group, Groups, MEMORY, PERSONAS, SUMMARY};
use heirloom_formats::group;
use heirloom_model::Fault;
use heirloom_model::text::EscapedPath;
use heirloom_store::StoreError;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

impl Groups<'_> {
    /// Lists the groups with a folder, by name.
    pub fn list(&self) -> Result<Vec<Group>, Fault> {
        let folder = self.engine.folder.join(GROUPS);
        refuse_link(&folder)?;
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                let place = folder.to_escaped();
                return Err(Fault::failed(format!("cannot list {place}: {error}")));
            }
        };
        let mut groups: Vec<_> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_ok_and(|sort| sort.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| group::check_group_name(name).is_ok())
            .map(|name| {
                let is_there = |file: &&str| folder.join(&name).join(file).is_file();
                let files = [PERSONAS[1], MEMORY, SUMMARY].into_iter();
                let files = files.filter(is_there).collect();
                Group { name, files }
            })
            .collect();
        groups.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(groups)
    }

    /// Returns the folder of a group. Errors: `Refused` if it is a link.
    pub(super) fn group_folder(&self, group: &str) -> Result<PathBuf, Fault> {
        self.engine.require_files()?;
        let groups = self.engine.folder.join(GROUPS);
        let folder = groups.join(group);
        refuse_link(&groups)?;
        refuse_link(&folder)?;
        Ok(folder)
    }
}

/// Refuses a symbolic link.
pub(super) fn refuse_link(path: &Path) -> Result<(), Fault> {
    if path.is_symlink() {
        return Err(StoreError::Linked {
            action: "use the folder",
            path: path.to_owned(),
        }
        .into());
    }
    Ok(())
}
