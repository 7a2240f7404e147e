//! Files that commands write: private, atomic and durable.

use heirloom_fs::durable::{self, TempDir};
use heirloom_fs::project_fs::{self, ProjectPaths};
use heirloom_model::Fault;
use heirloom_store::{DATABASE, MARKER};
use std::path::{Path, PathBuf};

/// Returns the folder with a project's memory, without links.
///
/// Errors: `Refused` for a link out of the project.
pub(crate) fn memory_folder(place: &ProjectPaths) -> Result<PathBuf, Fault> {
    project_fs::resolve_memory_folder(place).map_err(|problem| {
        Fault::refused(format!("memory cannot be stored there: {problem}")).hint(
            "it is a link, and nothing is written through links that lead out of a project: remove it and \
             run `heirloom init`, or keep memory outside with `heirloom init --user`",
        )
    })
}

/// Removes other users' permissions on the folder of a project's memory and on the database in it; returns the
/// changed paths.
pub(crate) fn make_memory_private(folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    let names = [DATABASE, "heirloom.db-wal", "heirloom.db-shm", MARKER];
    let mut made = Vec::from_iter(make_private(folder)?);
    for name in names {
        made.extend(make_private(&folder.join(name))?);
    }
    Ok(made)
}

/// Removes other users' permissions on a file or folder; returns the path if they were changed.
pub(crate) fn make_private(path: &Path) -> Result<Option<PathBuf>, Fault> {
    let was_open = durable::make_private(path)?;
    Ok(was_open.then(|| path.to_owned()))
}

/// Writes a file atomically, readable by this user only.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    Ok(durable::write_atomic(path, bytes)?)
}

/// Writes a file of another program atomically: through links, with its existing mode.
pub(crate) fn replace_foreign(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    Ok(durable::replace_foreign(path, bytes)?)
}

/// Copies a file, readable by this user only.
pub(crate) fn copy_file(from: &Path, to: &Path) -> Result<(), Fault> {
    Ok(durable::copy_durable(from, to)?)
}

/// Creates a private temporary folder, deleted when the value is dropped.
pub(crate) fn temporary_folder(prefix: &str) -> Result<TempDir, Fault> {
    Ok(durable::temporary_folder(prefix, None)?)
}

/// Removes a file if it exists.
pub(crate) fn remove_file(path: &Path) -> Result<(), Fault> {
    Ok(durable::remove_if_exists(path)?)
}

/// Creates a private folder.
pub(crate) fn create_folder(path: &Path) -> Result<(), Fault> {
    Ok(durable::create_dir_private(path)?)
}
