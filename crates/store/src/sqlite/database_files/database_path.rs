//! Path of a database file: made absolute, and checked before SQLite opens it.

use crate::StoreError;
use crate::sqlite::database_location::{DatabaseLocation, JOURNAL_SUFFIXES, with_suffix};
use crate::sqlite::error_conversion::damaged;
use heirloom_fs::durable;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Returns the absolute path of a file that may be a database.
///
/// Errors: `Missing`; `Io` for a symbolic link or a folder; `Damaged` if it is empty.
pub(in crate::sqlite) fn existing_path(path: &Path) -> Result<PathBuf, StoreError> {
    let path = absolute_path(path)?;
    durable::refuse_symlink("open", &path)?;
    for suffix in JOURNAL_SUFFIXES {
        durable::refuse_symlink("open", &with_suffix(&path, suffix))?;
    }
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(StoreError::Missing(path)),
        Err(error) => return Err(durable::failed("open", &path, error).into()),
    };
    if metadata.is_dir() {
        let folder = ErrorKind::IsADirectory.into();
        return Err(durable::failed("open", &path, folder).into());
    }
    if metadata.len() == 0 {
        return Err(damaged(
            &DatabaseLocation::File(path),
            "the file is empty".to_owned(),
        ));
    }
    Ok(path)
}

/// Returns the absolute path with the links of its folder resolved. SQLite would read a relative path that begins
/// with `file:` as a URI, and it is configured to follow no link.
pub(in crate::sqlite) fn absolute_path(path: &Path) -> Result<PathBuf, StoreError> {
    let path = std::path::absolute(path).map_err(|error| durable::failed("open", path, error))?;
    let folder = path
        .parent()
        .and_then(|folder| heirloom_fs::canonicalize(folder).ok());
    Ok(match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        (None, _) | (_, None) => path,
    })
}
