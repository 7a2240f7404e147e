//! Modes and owners of files, and signals: on other systems than Unix they have no effect.
//!
//! Packages for Windows are made there; all other tasks need Unix.

use std::io;
use std::path::Path;
use std::process::ExitStatus;

/// Sets the mode of a file or folder.
#[cfg(unix)]
pub(crate) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
pub(crate) fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// Creates a folder that only its owner can use.
#[cfg(unix)]
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

/// Returns the signal that ended a process.
#[cfg(unix)]
pub(crate) fn end_signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
pub(crate) fn end_signal(_status: ExitStatus) -> Option<i32> {
    None
}

/// Returns true if the owner of a file is the superuser.
#[cfg(unix)]
pub(crate) fn is_owned_by_superuser(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    path.metadata().is_ok_and(|found| found.uid() == 0)
}

#[cfg(not(unix))]
pub(crate) fn is_owned_by_superuser(_path: &Path) -> bool {
    false
}
