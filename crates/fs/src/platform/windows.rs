//! File operations of Windows.
//!
//! Files and folders inherit the access list of the folder that contains them. Only a user and the administrators
//! have access to the user's profile folder, so data there is private without further steps; the permission bits of
//! Unix have no counterpart.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::windows::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::{Builder, NamedTempFile};
use winapi_util::sysinfo::{ComputerNameKind, get_computer_name};

/// Files have access lists instead of permission bits.
pub(crate) const HAS_MODE_BITS: bool = false;
/// Opens a symbolic link or junction itself (`FILE_FLAG_OPEN_REPARSE_POINT`).
pub(crate) const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
/// Allows opening of a folder (`FILE_FLAG_BACKUP_SEMANTICS`).
pub(crate) const BACKUP_SEMANTICS: u32 = 0x0200_0000;

/// Intervals of 100 ns from 1601 to 1970.
const INTERVALS_TO_1970: i64 = 116_444_736_000_000_000;
const INTERVALS_PER_SECOND: i64 = 10_000_000;

/// Endings of programs in the order in which a shell tries them. npm installs scripts that end in `.cmd`.
const PROGRAM_ENDINGS: [&str; 4] = ["com", "exe", "bat", "cmd"];

/// Number of times that a rename is tried while another process has the target open.
const RENAME_ATTEMPTS_MAX: u32 = 20;
/// Pause between two attempts.
const RENAME_PAUSE: Duration = Duration::from_millis(10);

/// Does nothing: the access list of the folder applies.
pub(crate) fn set_private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Makes opening not follow a link at the end of the path if `refuses_links` is set. The caller checks the type of the
/// open file.
pub(crate) fn set_guarded(options: &mut OpenOptions, refuses_links: bool) -> &mut OpenOptions {
    match refuses_links {
        true => options.custom_flags(OPEN_REPARSE_POINT),
        false => options,
    }
}

/// Returns false: a link opens as such, and its metadata show its type.
pub(crate) fn is_no_file(_error: &io::Error) -> bool {
    false
}

/// Does nothing: the access list of the folder applies.
pub(crate) fn set_private_folder(builder: &mut DirBuilder) -> &mut DirBuilder {
    builder
}

/// Does nothing: the user's temporary folder is in the profile folder.
pub(crate) fn set_private_temporary(_builder: &mut Builder<'_, '_>) {}

/// Returns zero: there are no permission bits.
pub(crate) fn mode_bits(_found: &Metadata) -> u32 {
    0
}

/// Returns false: there are no permission bits.
pub(crate) fn has_group_or_other_access(_found: &Metadata) -> bool {
    false
}

/// Does nothing: there are no permission bits.
pub(crate) fn remove_group_and_other_access(_path: &Path, _found: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Does nothing: the only permission is the read-only attribute, with which the file could not be renamed.
pub(crate) fn copy_permissions(_file: &File, _found: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Does nothing: NTFS records renames in its own journal, and folders cannot be synced without administrator rights.
pub(crate) fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Renames a temporary file to `path`, replacing an existing file. Waits as [`rename`] does.
pub(crate) fn persist(file: NamedTempFile, path: &Path) -> io::Result<()> {
    let (_file, from) = file.keep().map_err(|error| error.error)?;
    let renamed = rename(&from, path);
    if renamed.is_err() {
        let removed = std::fs::remove_file(&from);
        drop(removed);
    }
    renamed
}

/// Renames a file or folder, replacing an existing file. Virus scanners and indexers open new files for a moment, and
/// an open file cannot be replaced: waits for them up to a fifth of a second.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    for _ in 1..RENAME_ATTEMPTS_MAX {
        match std::fs::rename(from, to) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                std::thread::sleep(RENAME_PAUSE);
            }
            other => return other,
        }
    }
    std::fs::rename(from, to)
}

/// Returns volume and file index of the file at a path: the metadata of the standard library lack them.
pub(crate) fn file_identity(path: &Path, _found: &Metadata) -> Option<(u64, u64)> {
    let mut options = OpenOptions::new();
    // Without any right to the content, so that no other program is disturbed.
    options.access_mode(0).custom_flags(BACKUP_SEMANTICS);
    identity(&options.open(path).ok()?)
}

/// Returns volume and file index of an open file.
pub(crate) fn open_file_identity(file: &File, _found: &Metadata) -> Option<(u64, u64)> {
    identity(file)
}

fn identity(file: &File) -> Option<(u64, u64)> {
    let found = winapi_util::file::information(file).ok()?;
    Some((found.volume_serial_number(), found.file_index()))
}

/// Returns the time of creation, by which a file differs from the one that it replaced.
pub(crate) fn version_number(found: &Metadata) -> u64 {
    found.creation_time()
}

/// Returns the time of the last change of the content: seconds since 1970 and nanoseconds.
pub(crate) fn modified_time(found: &Metadata) -> (i64, i64) {
    let intervals = found.last_write_time().cast_signed() - INTERVALS_TO_1970;
    let seconds = intervals.div_euclid(INTERVALS_PER_SECOND);
    (seconds, intervals.rem_euclid(INTERVALS_PER_SECOND) * 100)
}

/// Returns the time of the last change of the content: the standard library has no time of other changes.
pub(crate) fn changed_time(found: &Metadata) -> (i64, i64) {
    modified_time(found)
}

/// Returns the bytes on the volume of a folder that are free for this user.
pub(crate) fn free_bytes(folder: &Path) -> io::Result<u64> {
    fs4::available_space(folder)
}

/// Fills `bytes` from an offset of the file. Moves the position of the file.
pub(crate) fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let length = match file.seek_read(bytes, offset) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes = bytes.get_mut(length..).unwrap_or_default();
        offset += length as u64;
    }
    Ok(())
}

/// Writes all of `bytes` at an offset of the file. Moves the position of the file.
pub(crate) fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let length = match file.seek_write(bytes, offset) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes = bytes.get(length..).unwrap_or_default();
        offset += length as u64;
    }
    Ok(())
}

/// Returns the file of a program, whose path may lack the ending.
pub(crate) fn program_file(path: &Path) -> Option<PathBuf> {
    if path.extension().is_some() && path.is_file() {
        return Some(path.to_owned());
    }
    let endings = PROGRAM_ENDINGS.iter();
    let mut files = endings.filter_map(|ending| {
        let mut name = path.file_name()?.to_owned();
        name.push(".");
        name.push(ending);
        Some(path.with_file_name(name)).filter(|file| file.is_file())
    });
    files.next()
}

/// Returns the name of this machine as the system has it.
pub(crate) fn raw_host_name() -> String {
    let name = get_computer_name(ComputerNameKind::PhysicalDnsHostname);
    name.unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns `None`: sockets and files are not counted together.
pub(crate) fn raise_open_file_limit() -> Option<usize> {
    None
}

/// Returns the absolute path without links, and without the prefix `\\?\` where it is not needed: with it, `/` does
/// not separate folders, and other programs do not accept the path.
pub(crate) fn canonicalize(path: &Path) -> io::Result<PathBuf> {
    dunce::canonicalize(path)
}

/// Spells the part of a path that exists as on disk: names are found in upper and lower case and by their short form
/// (`PROGRA~1`), but paths are compared as text.
pub(crate) fn with_spelling_of_disk(path: PathBuf) -> PathBuf {
    let found = path.ancestors().find_map(|existing| {
        let real = canonicalize(existing).ok()?;
        Some(real.join(path.strip_prefix(existing).ok()?))
    });
    found.unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positioned_writes_are_read_back() {
        let file = tempfile::tempfile().unwrap();
        write_all_at(&file, b"later", 10).unwrap();
        write_all_at(&file, b"first", 0).unwrap();
        let mut bytes = [0; 5];
        read_exact_at(&file, &mut bytes, 10).unwrap();
        assert_eq!(&bytes, b"later");
        assert!(read_exact_at(&file, &mut bytes, 12).is_err());
    }

    #[test]
    fn spelling_of_disk_resolves_case() {
        let folder = tempfile::tempdir().unwrap();
        let real = canonicalize(folder.path()).unwrap();
        std::fs::create_dir(real.join("Sources")).unwrap();
        let given = real.join("sOURCES").join("new.rs");
        let spelled = with_spelling_of_disk(given);
        assert_eq!(spelled, real.join("Sources").join("new.rs"));
    }
}
