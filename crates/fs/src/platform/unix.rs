//! File operations of Unix.

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Files have permission bits.
pub(crate) const HAS_MODE_BITS: bool = true;
/// Mode of every file that is created here: readable by its owner only.
const FILE_MODE: u32 = 0o600;
/// Mode of every folder that is created here.
const FOLDER_MODE: u32 = 0o700;

/// Restricts a file that `options` create to its owner.
pub(crate) fn set_private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(FILE_MODE)
}

/// Makes opening not block on a pipe, not take a terminal as the controlling one, and not follow a link at the end
/// of the path if `refuses_links` is set.
pub(crate) fn set_guarded(options: &mut OpenOptions, refuses_links: bool) -> &mut OpenOptions {
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    if refuses_links {
        flags |= OFlags::NOFOLLOW;
    }
    options.custom_flags(flags.bits().cast_signed())
}

/// Returns true for the error of opening a link or a socket.
pub(crate) fn is_no_file(error: &io::Error) -> bool {
    let no_file = [Errno::LOOP, Errno::NXIO].map(Errno::raw_os_error);
    error
        .raw_os_error()
        .is_some_and(|raw| no_file.contains(&raw))
}

/// Restricts the folders that `builder` creates to their owner.
pub(crate) fn set_private_folder(builder: &mut DirBuilder) -> &mut DirBuilder {
    builder.mode(FOLDER_MODE)
}

/// Restricts a temporary folder to its owner. Without an explicit mode, the umask alone decides who may put files
/// there.
pub(crate) fn set_private_temporary(builder: &mut Builder<'_, '_>) {
    builder.permissions(Permissions::from_mode(FOLDER_MODE));
}

/// Returns the permission bits.
pub(crate) fn mode_bits(found: &Metadata) -> u32 {
    found.permissions().mode() & 0o7777
}

/// Returns true if the permission bits grant something that [`remove_group_and_other_access`] removes.
pub(crate) fn has_group_or_other_access(found: &Metadata) -> bool {
    mode_bits(found) & !FOLDER_MODE != 0
}

/// Removes all permissions of group and others.
pub(crate) fn remove_group_and_other_access(path: &Path, found: &Metadata) -> io::Result<()> {
    std::fs::set_permissions(path, Permissions::from_mode(mode_bits(found) & FOLDER_MODE))
}

/// Gives an open file the mode of an existing one.
pub(crate) fn copy_permissions(file: &File, found: &Metadata) -> io::Result<()> {
    file.set_permissions(found.permissions())
}

/// Syncs a folder.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder).and_then(|folder| folder.sync_all())
}

/// Renames a temporary file to `path`, replacing an existing file.
pub(crate) fn persist(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Renames a file or folder, replacing an existing file.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)
}

/// Returns device and inode of the file at a path with this metadata.
pub(crate) fn file_identity(_path: &Path, found: &Metadata) -> Option<(u64, u64)> {
    Some((found.dev(), found.ino()))
}

/// Returns device and inode of an open file with this metadata.
pub(crate) fn open_file_identity(_file: &File, found: &Metadata) -> Option<(u64, u64)> {
    Some((found.dev(), found.ino()))
}

/// Returns the inode.
pub(crate) fn version_number(found: &Metadata) -> u64 {
    found.ino()
}

/// Returns the time of the last change of the content: seconds since 1970 and nanoseconds.
pub(crate) fn modified_time(found: &Metadata) -> (i64, i64) {
    (found.mtime(), found.mtime_nsec())
}

/// Returns the time of the last change of content or metadata: seconds since 1970 and nanoseconds.
pub(crate) fn changed_time(found: &Metadata) -> (i64, i64) {
    (found.ctime(), found.ctime_nsec())
}

/// Returns the bytes on the file system of a folder that are free for this user.
pub(crate) fn free_bytes(folder: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(folder)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Fills `bytes` from an offset of the file.
pub(crate) fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(bytes, offset)
}

/// Writes all of `bytes` at an offset of the file.
pub(crate) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

/// Returns the file of a program.
pub(crate) fn program_file(path: &Path) -> Option<PathBuf> {
    path.is_file().then(|| path.to_owned())
}

/// Returns the name of this machine as the system has it.
pub(crate) fn raw_host_name() -> String {
    let system = rustix::system::uname();
    system.nodename().to_string_lossy().into_owned()
}

/// Raises the soft limit of open files to the hard one.
pub(crate) fn raise_open_file_limit() -> Option<usize> {
    let mut limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    if limit.current != limit.maximum && setrlimit(Resource::Nofile, raised).is_ok() {
        limit = getrlimit(Resource::Nofile);
    }
    let files = limit.current?;
    Some(usize::try_from(files).unwrap_or(usize::MAX))
}

/// Returns the absolute path without symbolic links. Errors: those of [`std::fs::canonicalize`].
pub(crate) fn canonicalize(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

/// Returns a path whose links are resolved as it is: its spelling is that of the disk.
pub(crate) fn with_spelling_of_disk(path: PathBuf) -> PathBuf {
    path
}
