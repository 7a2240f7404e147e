//! Checks of the memory's folder: permissions, leftover files, links, free space.

use super::{Doctor, HealthCheck, join_findings};
use crate::engine::working_memory_snapshots::WORKING_FOLDER;
use heirloom_fs::durable;
use heirloom_fs::file_metadata;
use heirloom_fs::project_fs;
use heirloom_model::limits;
use heirloom_model::text::EscapedPath;
use heirloom_store::{DATABASE, MARKER};
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Permission bits of group and others.
const OTHERS: u32 = 0o077;
/// Maximum depth of the search for links.
const DEPTH_MAX: usize = 4;

/// Folders below the memory's folder with files that users edit.
const WRITTEN_FOLDERS: [&str; 4] = [
    "workspace",
    "workspace/.learnings",
    "workspace/memory",
    "shared",
];

impl Doctor {
    /// Checks that other users cannot read the memory, and that no link leads out of the folder.
    pub(super) fn permissions(&self) -> HealthCheck {
        let (links, is_whole) = self.links_out();
        let links: Vec<String> = (links.iter())
            .map(|path| format!("{} leads out of the folder", path.to_escaped()))
            .collect();
        if !links.is_empty() {
            return HealthCheck::bad("permissions", join_findings(&links))
                .hint("a symbolic link is not followed; delete it");
        }
        let open: Vec<String> = (self.accessible_files().iter())
            .map(|(path, mode)| format!("{} has mode {mode:o}", path.to_escaped()))
            .collect();
        let folder = &self.place.folder;
        if !open.is_empty() {
            return HealthCheck::bad(
                "permissions",
                format!("others may read: {}", join_findings(&open)),
            )
            .hint("`heirloom doctor --repair` makes them private");
        }
        match mode(folder) {
            Some(mode) if mode & OTHERS != 0 => {
                let message = format!("others may list {} (mode {mode:o})", folder.to_escaped());
                HealthCheck::warn("permissions", message)
                    .hint("`heirloom doctor --repair` makes it private")
            }
            _ if !is_whole => {
                let most = limits::FOLDER_ENTRIES_MAX;
                let message = format!("more than {most} entries in {}", folder.to_escaped());
                HealthCheck::warn(
                    "permissions",
                    format!("{message}; only those were checked for links"),
                )
                .hint("move files that are not Heirloom's out of it")
            }
            _ if !file_metadata::HAS_MODE_BITS => {
                HealthCheck::ok("permissions", "those of the folder that contains it")
            }
            _ => HealthCheck::ok("permissions", "only you may read it"),
        }
    }

    /// Returns Heirloom's files that other users can access, with their mode.
    pub(super) fn accessible_files(&self) -> Vec<(PathBuf, u32)> {
        let mut files: Vec<PathBuf> = entries(&self.place.folder)
            .filter(|path| file_name(path).is_some_and(|name| self.is_heirloom_file(name)))
            .take(limits::FOLDER_ENTRIES_MAX)
            .collect();
        files.extend(self.mirror_file());
        files.extend(self.working_files());
        files.sort();
        files.dedup();
        let open = files.into_iter().filter_map(|path| {
            let found = path.symlink_metadata().ok().filter(Metadata::is_file)?;
            let mode = file_metadata::mode_bits(&found);
            (mode & OTHERS != 0).then_some((path, mode))
        });
        open.collect()
    }

    /// Returns true if other users can list the folder.
    pub(super) fn is_accessible(&self) -> bool {
        mode(&self.place.folder).is_some_and(|mode| mode & OTHERS != 0)
    }

    /// Checks for temporary files of killed writers.
    pub(super) fn leftover_check(&self) -> HealthCheck {
        let left: Vec<String> = (self.leftover_files().iter())
            .map(|path| path.to_escaped())
            .collect();
        if left.is_empty() {
            return HealthCheck::ok("temporary files", "none left over");
        }
        HealthCheck::warn(
            "temporary files",
            format!("left over: {}", join_findings(&left)),
        )
        .hint("`heirloom doctor --repair` removes them")
    }

    /// Returns temporary files that are too old for a running write.
    pub(super) fn leftover_files(&self) -> Vec<PathBuf> {
        let is_left_over = |path: &PathBuf| file_name(path).is_some_and(durable::is_leftover);
        let mut all: Vec<PathBuf> = entries(&self.place.folder)
            .filter(is_left_over)
            .take(limits::FOLDER_ENTRIES_MAX)
            .collect();
        let mirror = self.mirror_file();
        let mirror_folder = mirror.as_ref().and_then(|path| path.parent());
        if let Some(mirror_folder) = mirror_folder.filter(|folder| **folder != self.place.folder) {
            let of_mirror = mirror
                .as_deref()
                .and_then(file_name)
                .map(|name| format!(".{name}."));
            let is_of_mirror = |path: &PathBuf| {
                let begins = |name: &str| of_mirror.as_ref().is_some_and(|of| name.starts_with(of));
                file_name(path).is_some_and(begins)
            };
            let of_mirror = entries(mirror_folder)
                .filter(is_left_over)
                .filter(is_of_mirror);
            all.extend(of_mirror.take(limits::FOLDER_ENTRIES_MAX));
        }
        all.extend(self.working_files().into_iter().filter(is_left_over));
        for below in WRITTEN_FOLDERS {
            let folder = self.place.folder.join(below);
            // Users' files are in these folders too: do not follow links.
            if folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                let left = entries(&folder).filter(is_left_over);
                all.extend(left.take(limits::FOLDER_ENTRIES_MAX));
            }
        }
        let now_s = self.now().as_second();
        all.retain(|path| {
            let found = path.symlink_metadata().ok().filter(Metadata::is_file);
            found.is_some_and(|found| {
                now_s - file_metadata::modified_time(&found).0 > limits::STALE_TEMP_FILE_S_MIN
            })
        });
        all.sort();
        all
    }

    /// Checks the free space for a repair.
    pub(super) fn disk(&self, size_bytes: u64) -> HealthCheck {
        let folder = &self.place.folder;
        let free = match file_metadata::free_bytes(folder) {
            Ok(free) => free,
            Err(error) => {
                return HealthCheck::warn("disk", format!("{}: {error}", folder.to_escaped()));
            }
        };
        let message = format!("{} MB free", free >> 20);
        if is_tight(free, size_bytes) {
            return HealthCheck::warn("disk", message).hint(
                "free some space: a full disk stops writes, and a repair needs room for a copy",
            );
        }
        HealthCheck::ok("disk", message)
    }

    /// Returns symbolic links that lead out of the folder, and true if all entries were visited.
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

    /// Returns the files of stored working memories.
    fn working_files(&self) -> Vec<PathBuf> {
        let folder = self.place.folder.join(WORKING_FOLDER);
        if folder.is_symlink() {
            return Vec::new();
        }
        entries(&folder).take(limits::FOLDER_ENTRIES_MAX).collect()
    }

    /// Returns the configured path of the mirror.
    pub(super) fn mirror_file(&self) -> Option<PathBuf> {
        let configured = &self.settings.mirror_path;
        project_fs::resolve_mirror_path(&self.place.root, &self.place.folder, configured).ok()
    }

    fn is_heirloom_file(&self, name: &str) -> bool {
        let mirror = self.mirror_file();
        let mirror = mirror.as_deref().and_then(file_name);
        name.starts_with(DATABASE)
            || name == MARKER
            || durable::is_leftover(name)
            || mirror.is_some_and(|mirror| name.starts_with(mirror))
    }
}

/// Returns true if a link leads out of `root` or dangles, because its target may appear later.
fn leads_out(link: &Path, root: &Path) -> bool {
    !link
        .canonicalize()
        .is_ok_and(|target| target.starts_with(root))
}

/// Returns true if the free space is too small for a store of this size.
fn is_tight(free_bytes: u64, size_bytes: u64) -> bool {
    let needed = size_bytes.saturating_mul(limits::DISK_FREE_STORES_MIN);
    free_bytes < limits::DISK_FREE_BYTES_MIN.max(needed)
}

/// Lists a folder without order; empty if it cannot be read.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

fn file_name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

fn mode(path: &Path) -> Option<u32> {
    let found = path.metadata().ok()?;
    Some(file_metadata::mode_bits(&found))
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disk_is_tight_below_minimum_or_store_multiple() {
        let least = limits::DISK_FREE_BYTES_MIN;
        let stores = limits::DISK_FREE_STORES_MIN;
        // The absolute minimum decides for a small store, the size of a copy for a large one.
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
