//! Backups of settings files: their names, and the one with the content from before the installation.

use super::read_settings;
use heirloom_model::Timestamp;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The part of a backup's name between that of its file and its time.
const MARK: &str = ".before-heirloom-";

/// State of the hooks in a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BackupState {
    /// No installation: the content from before.
    Original,
    /// A part of an installation or an older version: the backup was made by an update.
    Older,
    /// A complete installation: the backup was made by a removal, and older backups belong to an earlier
    /// installation.
    Installed,
}

/// Builds the name of a new backup that does not exist yet, so that backups of the same second do not overwrite each
/// other.
pub(super) fn new_backup_path(file: &Path, now: Timestamp) -> PathBuf {
    let stamp = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let mut name = file.as_os_str().to_owned();
    name.push(MARK);
    name.push(&stamp);
    let mut number = 1;
    loop {
        let mut numbered = name.clone();
        if number > 1 {
            numbered.push(format!("-{number}"));
        }
        let path = PathBuf::from(numbered);
        if path.symlink_metadata().is_err() {
            return path;
        }
        number += 1;
    }
}

/// Reads the backup with the content from before the installation; `None` if there was no file, or no backup shows
/// it.
pub(super) fn find_original(file: &Path, state: &dyn Fn(&str) -> BackupState) -> Option<String> {
    for path in newest_first(file) {
        let Ok(Some(text)) = read_settings(&path) else {
            continue;
        };
        match state(&text) {
            BackupState::Original => return Some(text),
            BackupState::Older => {}
            BackupState::Installed => return None,
        }
    }
    None
}

/// Lists the backups of a file, the newest first.
fn newest_first(file: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
        return Vec::new();
    };
    let mut begins = OsString::from(name);
    begins.push(MARK);
    let begins = begins.to_string_lossy();
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(String, u32, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name();
            let time = name.to_str()?.strip_prefix(begins.as_ref())?;
            let (stamp, number) = time.split_once('-').unwrap_or((time, "1"));
            Some((stamp.to_owned(), number.parse().ok()?, entry.path()))
        })
        .collect();
    found.sort();
    found.into_iter().rev().map(|(.., path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_backup_path_in_same_second_has_a_number() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.json");
        let now: Timestamp = "2026-05-01T10:00:00Z".parse().unwrap();
        let mut names = Vec::new();
        for n in 1..=11 {
            let name = new_backup_path(&file, now);
            crate::store_access::write_file(&name, n.to_string().as_bytes()).unwrap();
            names.push(name);
        }
        let first = names[0].to_string_lossy().into_owned();
        assert!(first.ends_with("settings.json.before-heirloom-20260501T100000Z"));
        assert!(names[10].to_string_lossy().ends_with("Z-11"));
        names.reverse();
        assert_eq!(newest_first(&file), names);
    }

    #[test]
    fn find_original_ignores_earlier_installation() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.json");
        let state = |text: &str| match text {
            "installed" => BackupState::Installed,
            "older" => BackupState::Older,
            _ => BackupState::Original,
        };
        for (second, text, found) in [
            (0, "first", Some("first")),
            (1, "older", Some("first")),
            (2, "installed", None),
            (3, "second", Some("second")),
        ] {
            let now: Timestamp = format!("2026-05-01T10:00:0{second}Z").parse().unwrap();
            crate::store_access::write_file(&new_backup_path(&file, now), text.as_bytes()).unwrap();
            assert_eq!(find_original(&file, &state).as_deref(), found, "{text}");
        }
    }
}
