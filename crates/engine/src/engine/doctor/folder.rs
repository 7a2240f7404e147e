//! The folder of a project's memory: who may read it, what lies around, where links lead, how full it is.

use super::{Check, Doctor, shown};
use crate::engine::working::WORKING_FOLDER;
use crate::places;
use heirloom_model::limits;
use heirloom_store::{DATABASE, MARKER, durable};
use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What others than the owner may do.
const OTHERS: u32 = 0o077;
/// Folders inside the folder that are looked into for links.
const DEPTH_MAX: usize = 4;

/// Folders below that of the memory in which files of people are written.
const WRITTEN_FOLDERS: [&str; 4] = [
    "workspace",
    "workspace/.learnings",
    "workspace/memory",
    "shared",
];

impl Doctor {
    /// Whether anybody else may read what is remembered, and whether links lead out of the folder.
    pub(super) fn permissions(&self) -> Check {
        let (links, is_whole) = self.links_out();
        let links: Vec<String> = (links.iter())
            .map(|path| format!("{} leads out of the folder", path.display()))
            .collect();
        if !links.is_empty() {
            return Check::bad("permissions", shown(&links))
                .hint("a symbolic link is not followed; delete it");
        }
        let open: Vec<String> = (self.open_files().iter())
            .map(|(path, mode)| format!("{} has mode {mode:o}", path.display()))
            .collect();
        let folder = &self.place.folder;
        if !open.is_empty() {
            return Check::bad("permissions", format!("others may read: {}", shown(&open)))
                .hint("`heirloom doctor --repair` makes them private");
        }
        match mode(folder) {
            Some(mode) if mode & OTHERS != 0 => {
                let said = format!("others may look into {} (mode {mode:o})", folder.display());
                Check::warn("permissions", said).hint("`heirloom doctor --repair` makes it private")
            }
            _ if !is_whole => {
                let most = limits::FOLDER_ENTRIES_MAX;
                let said = format!("more than {most} entries in {}", folder.display());
                Check::warn(
                    "permissions",
                    format!("{said}; links were sought in those only"),
                )
                .hint("move out of it what is not Heirloom's")
            }
            _ => Check::ok("permissions", "only you may read it"),
        }
    }

    /// Our files that others may use, with their mode.
    pub(super) fn open_files(&self) -> Vec<(PathBuf, u32)> {
        let mut files: Vec<PathBuf> = entries(&self.place.folder)
            .filter(|path| file_name(path).is_some_and(|name| self.is_ours(name)))
            .take(limits::FOLDER_ENTRIES_MAX)
            .collect();
        files.extend(self.mirror_file());
        files.extend(self.working_files());
        files.sort();
        files.dedup();
        let open = files.into_iter().filter_map(|path| {
            let found = path.symlink_metadata().ok().filter(Metadata::is_file)?;
            let mode = found.permissions().mode() & 0o7777;
            (mode & OTHERS != 0).then_some((path, mode))
        });
        open.collect()
    }

    /// Whether others may look into the folder.
    pub(super) fn is_open(&self) -> bool {
        mode(&self.place.folder).is_some_and(|mode| mode & OTHERS != 0)
    }

    /// Files that a write left behind when it was killed.
    pub(super) fn left_overs(&self) -> Check {
        let left: Vec<String> = (self.left_over_files().iter())
            .map(|path| path.display().to_string())
            .collect();
        if left.is_empty() {
            return Check::ok("temporary files", "none left over");
        }
        Check::warn("temporary files", format!("left over: {}", shown(&left)))
            .hint("`heirloom doctor --repair` removes them")
    }

    /// Temporary files that no running write can be at.
    pub(super) fn left_over_files(&self) -> Vec<PathBuf> {
        let is_left_over = |path: &PathBuf| file_name(path).is_some_and(durable::is_left_over);
        let mut all: Vec<PathBuf> = entries(&self.place.folder)
            .filter(is_left_over)
            .take(limits::FOLDER_ENTRIES_MAX)
            .collect();
        let mirror = self.mirror_file();
        let beside = mirror.as_ref().and_then(|path| path.parent());
        if let Some(beside) = beside.filter(|folder| **folder != self.place.folder) {
            let of_mirror = mirror
                .as_deref()
                .and_then(file_name)
                .map(|name| format!(".{name}."));
            let is_of_mirror = |path: &PathBuf| {
                let begins = |name: &str| of_mirror.as_ref().is_some_and(|of| name.starts_with(of));
                file_name(path).is_some_and(begins)
            };
            let of_mirror = entries(beside).filter(is_left_over).filter(is_of_mirror);
            all.extend(of_mirror.take(limits::FOLDER_ENTRIES_MAX));
        }
        all.extend(self.working_files().into_iter().filter(is_left_over));
        for below in WRITTEN_FOLDERS {
            let folder = self.place.folder.join(below);
            // Beside what people keep: nothing through a link.
            if folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                let left = entries(&folder).filter(is_left_over);
                all.extend(left.take(limits::FOLDER_ENTRIES_MAX));
            }
        }
        let now_s = self.now().as_second();
        all.retain(|path| {
            let found = path.symlink_metadata().ok().filter(Metadata::is_file);
            found.is_some_and(|found| now_s - found.mtime() > limits::LEFT_OVER_S_MIN)
        });
        all.sort();
        all
    }

    /// Whether there is room for what a repair needs.
    pub(super) fn disk(&self, size_bytes: u64) -> Check {
        let folder = &self.place.folder;
        let free = match rustix::fs::statvfs(folder) {
            Ok(found) => found.f_bavail.saturating_mul(found.f_frsize),
            Err(error) => {
                return Check::warn("disk", format!("{}: {error}", folder.display()));
            }
        };
        let said = format!("{} MB free", free >> 20);
        if is_tight(free, size_bytes) {
            return Check::warn("disk", said).hint(
                "free some space: a full disk stops writes, and a repair needs room for a copy",
            );
        }
        Check::ok("disk", said)
    }

    /// Symbolic links in the folder that lead out of it, and whether all of the folder was looked at.
    fn links_out(&self) -> (Vec<PathBuf>, bool) {
        let root = real(&self.place.folder);
        let mut out = Vec::new();
        let mut waiting = vec![(self.place.folder.clone(), 0)];
        let mut left = limits::FOLDER_ENTRIES_MAX;
        let mut is_whole = true;
        while let Some((folder, depth)) = waiting.pop() {
            for path in entries(&folder) {
                if left == 0 {
                    is_whole = false;
                    break;
                }
                left -= 1;
                let Ok(found) = path.symlink_metadata() else {
                    continue;
                };
                if found.is_symlink() && leads_out(&path, &root) {
                    out.push(path);
                } else if found.is_dir() && depth < DEPTH_MAX {
                    waiting.push((path, depth + 1));
                }
            }
        }
        out.sort();
        (out, is_whole)
    }

    /// What is in the folder of kept working memories.
    fn working_files(&self) -> Vec<PathBuf> {
        let folder = self.place.folder.join(WORKING_FOLDER);
        if folder.is_symlink() {
            return Vec::new();
        }
        entries(&folder).take(limits::FOLDER_ENTRIES_MAX).collect()
    }

    /// The mirror, where it is configured.
    pub(super) fn mirror_file(&self) -> Option<PathBuf> {
        let configured = &self.settings.mirror_path;
        places::mirror_path(&self.place.root, &self.place.folder, configured).ok()
    }

    fn is_ours(&self, name: &str) -> bool {
        let mirror = self.mirror_file();
        let mirror = mirror.as_deref().and_then(file_name);
        name.starts_with(DATABASE)
            || name == MARKER
            || durable::is_left_over(name)
            || mirror.is_some_and(|mirror| name.starts_with(mirror))
    }
}

/// Whether a link leads out of `root`; one to nowhere does, for who knows what will be there.
fn leads_out(link: &Path, root: &Path) -> bool {
    !link
        .canonicalize()
        .is_ok_and(|target| target.starts_with(root))
}

/// Whether so much free space is too little for a store of this size.
fn is_tight(free_bytes: u64, size_bytes: u64) -> bool {
    let needed = size_bytes.saturating_mul(limits::DISK_FREE_STORES_MIN);
    free_bytes < limits::DISK_FREE_BYTES_MIN.max(needed)
}

/// What is in a folder, in no order; nothing if it cannot be read.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

fn file_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

fn mode(path: &Path) -> Option<u32> {
    let found = path.metadata().ok()?;
    Some(found.permissions().mode() & 0o7777)
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_tight_below_a_number_of_bytes_and_a_number_of_stores() {
        let least = limits::DISK_FREE_BYTES_MIN;
        let stores = limits::DISK_FREE_STORES_MIN;
        // Of a small store the bytes count, of a large one what a copy of it takes.
        for (size, enough) in [
            (0, least),
            (least / stores, least),
            (least, least * stores),
            (least * 10, least * 10 * stores),
        ] {
            assert!(!is_tight(enough, size), "{size}");
            assert!(is_tight(enough - 1, size), "{size}");
        }
        assert!(is_tight(u64::MAX - 1, u64::MAX), "no overflow");
    }
}
