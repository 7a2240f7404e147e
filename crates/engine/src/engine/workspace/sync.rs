//! Sync of workspace files into records.

use super::diff::{self, WORKSPACE};
use super::file_changes::record_actor;
use super::scanned_entries::{FileEntry, FileScan};
use super::workspace_files::{WorkspaceKind, WorkspaceRoot};
use crate::engine::Workspaces;
use heirloom_formats::shared_context;
use heirloom_formats::workspace::{self, EntryLocation, FileStamp, TeamFile, WorkspaceIndex};
use heirloom_fs::durable::{self, Lock};
use heirloom_fs::project_fs::{self, FileStat};
use heirloom_model::{Fault, limits, text};
use heirloom_store::{DATABASE, Verdict};
use std::collections::HashMap;
use std::path::PathBuf;

/// Report of a sync of the workspaces' and the team's files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncReport {
    /// True if a file had changed, so that the files were read.
    pub was_scanned: bool,
    /// New or restored entries.
    pub created: usize,
    /// Edited entries.
    pub replaced: usize,
    /// Removed entries.
    pub retired: usize,
    /// Messages about parts that were not read.
    pub notes: Vec<String>,
}

/// Index of the files, next to the database.
const INDEX: &str = "workspace.index";
/// Resolution of modification times in nanoseconds: a file that was written this shortly before it was read may have
/// been written again with the same time.
const TIME_RESOLUTION_NS: u64 = 50_000_000;

impl Workspaces<'_> {
    /// Brings the records in line with the files of the workspaces and of the team if one of them has changed: an
    /// edited entry replaces its record, a deleted one retires it, a moved one keeps it.
    ///
    /// Without changes it only compares file metadata. Runs as one transaction, and not at all when memory is off. A
    /// record that a person retired stays retired, even if the file still has the entry.
    pub fn sync(&self) -> Result<SyncReport, Fault> {
        if !self.engine.has_files || !self.engine.settings.enabled || self.is_up_to_date() {
            return Ok(SyncReport::default());
        }
        let lock = self.lock()?;
        // The previous holder of the lock may have synced.
        if self.is_up_to_date() {
            return Ok(SyncReport::default());
        }
        self.sync_files(WORKSPACE, lock)
    }

    /// Syncs after a file change by `by`, which the records' history then names. Needs the lock under which the file
    /// was changed: a sync of the file watcher in between would not name `by`.
    pub(super) fn sync_after(&self, by: &str, lock: Lock) -> Result<SyncReport, Fault> {
        if !self.engine.has_files || !self.engine.settings.enabled || self.is_up_to_date() {
            return Ok(SyncReport::default());
        }
        self.sync_files(&record_actor(by), lock)
    }

    /// Syncs regardless of the file metadata.
    pub fn resync(&self) -> Result<SyncReport, Fault> {
        self.engine.require_files()?;
        self.engine.require_memory()?;
        self.sync_files(WORKSPACE, self.lock()?)
    }

    fn sync_files(&self, by: &str, lock: Lock) -> Result<SyncReport, Fault> {
        self.archive_logs()?;
        let known = self.index(WorkspaceIndex::parse).unwrap_or_default();
        let mut scan = self.scan()?;
        for (digest, place) in &known.places {
            if scan.unread.contains(&place.file) {
                scan.wants.push(FileEntry::unreadable(digest, place));
            }
        }
        let mut report = SyncReport {
            was_scanned: true,
            ..SyncReport::default()
        };
        let applied = self.engine.apply_decided(|| {
            let mut changes = diff::changes(self.engine, &scan, by)?;
            changes.extend(self.engine.team().team_changes(&mut scan)?);
            Ok(changes)
        })?;
        for one in applied {
            match one.verdict {
                Verdict::Created | Verdict::Restored => report.created += 1,
                Verdict::Replaced => report.replaced += 1,
                Verdict::Retired => report.retired += 1,
                Verdict::Confirmed
                | Verdict::Conflict
                | Verdict::Unchanged
                | Verdict::Resolved
                | Verdict::Reopened
                | Verdict::Marked => {}
            }
        }
        self.store_index(&scan)?;
        report.notes = scan.notes;
        drop(lock);
        Ok(report)
    }

    fn archive_logs(&self) -> Result<(), Fault> {
        for kind in [WorkspaceKind::User, WorkspaceKind::Project] {
            if let Some(root) =
                WorkspaceRoot::open(self.engine, kind).filter(WorkspaceRoot::is_there)
            {
                root.archive_days(self.today(), self.engine.settings.workspace.days)?;
            }
        }
        Ok(())
    }

    /// Returns true if no file has changed since it was last read.
    fn is_up_to_date(&self) -> bool {
        let at = project_fs::file_stat(&self.index_path()).map(|stat| stat.modified_ns);
        let index = self.index(WorkspaceIndex::head).unwrap_or_default();
        let store = self.database_number();
        let mut seen = 0;
        for root in self.roots() {
            for file in root.files().0 {
                let stat = root.stat(&file).map(stat_tuple);
                let Some(known) = index.files.get(&root.shown(&file)) else {
                    if stat.is_none() {
                        // A link to a missing file: a sync does not list it either.
                        continue;
                    }
                    return false;
                };
                // A time in the future counts as old too: another write would change it.
                let is_old = at.is_some_and(|at| known.0.abs_diff(at) > TIME_RESOLUTION_NS);
                if stat.unwrap_or_default() != *known || !is_old {
                    return false;
                }
                seen += 1;
            }
        }
        // Without files and index nothing was read before.
        seen == index.files.len() && (at.is_none() || index.store == store)
    }

    fn roots(&self) -> impl Iterator<Item = WorkspaceRoot> {
        let corners = [
            WorkspaceKind::User,
            WorkspaceKind::Project,
            WorkspaceKind::Groups,
            WorkspaceKind::Team,
        ];
        let roots = corners
            .into_iter()
            .filter_map(|kind| WorkspaceRoot::open(self.engine, kind));
        roots.filter(WorkspaceRoot::is_there)
    }

    /// Reads all files. Errors: those of the store, from which the notes of agents in a group's file are read.
    pub(super) fn scan(&self) -> Result<FileScan, Fault> {
        let mut scan = FileScan::default();
        let mut seen: HashMap<String, u32> = HashMap::new();
        for root in self.roots() {
            let (files, notes) = root.files();
            scan.notes.extend(notes);
            for path in files {
                let shown = root.shown(&path);
                let page = match root.read(&path) {
                    Ok(Some(page)) => page,
                    Ok(None) => continue,
                    Err(problem) => {
                        scan.notes.push(format!("{shown}: {problem}"));
                        let stat = root.stat(&path).map_or((0, 0, 0), stat_tuple);
                        scan.files.insert(shown.clone(), stat);
                        scan.unread.insert(shown);
                        continue;
                    }
                };
                scan.files.insert(shown.clone(), stat_tuple(page.stat));
                match root.kind {
                    WorkspaceKind::Team => {
                        let read = TeamFile::parse(&page.text);
                        let notes = read.notes.iter().map(|note| format!("{shown}: {note}"));
                        scan.notes.extend(notes);
                        scan.add_team(self.engine, &path, &shown, read);
                    }
                    WorkspaceKind::Groups => {
                        let group = path.split('/').next().unwrap_or_default();
                        let text = self.engine.groups().without_notes(group, &page.text)?;
                        self.scan_page((&shown, Some(group)), &text, &mut seen, &mut scan);
                    }
                    WorkspaceKind::User | WorkspaceKind::Project => {
                        let text = match workspace::archived_path(&path) {
                            Some(current) => root.without_entries_of(&current, &page.text),
                            None => page.text,
                        };
                        self.scan_page((&shown, None), &text, &mut seen, &mut scan);
                    }
                }
            }
        }
        Ok(scan)
    }

    /// Adds the entries of a page: its bullets. A heading is part of the entries below it and none by itself.
    fn scan_page(
        &self,
        (shown, group): (&str, Option<&str>),
        page: &str,
        seen: &mut HashMap<String, u32>,
        scan: &mut FileScan,
    ) {
        for item in shared_context::outline(page) {
            if scan.wants.len() >= limits::WORKSPACE_ITEMS_MAX {
                let note = format!(
                    "{shown}: more than {} entries; the others are not stored",
                    limits::WORKSPACE_ITEMS_MAX
                );
                scan.notes.push(note);
                return;
            }
            let words = self.engine.redaction().redact_input(&item.text);
            let words = text::clip(&words, limits::RECORD_TEXT_BYTES_MAX / 4)
                .trim()
                .to_owned();
            let heading = self
                .engine
                .redaction()
                .redact_input(&item.path.join(" / "))
                .into_owned();
            let digest = match group {
                Some(group) => text::hash_parts(&["group", group, &heading, &words]),
                None => text::hash_parts(&["bullet", &heading, &words]),
            };
            let n = seen.entry(digest.clone()).or_insert(0);
            *n += 1;
            let digest = if *n == 1 {
                digest
            } else {
                format!("{digest}-{n}")
            };
            scan.wants.push(FileEntry {
                digest,
                place: EntryLocation {
                    file: shown.to_owned(),
                    line: item.line,
                },
                heading,
                words,
                group: group.map(str::to_owned),
                is_unreadable: false,
            });
        }
    }

    fn store_index(&self, scan: &FileScan) -> Result<(), Fault> {
        let places = scan
            .wants
            .iter()
            .map(|entry| (entry.digest.clone(), entry.place.clone()));
        let teams = scan
            .teams
            .iter()
            .map(|team_entry| (team_entry.digest.clone(), team_entry.place.clone()));
        let index = WorkspaceIndex {
            store: self.database_number(),
            files: scan.files.clone(),
            places: places.chain(teams).collect(),
        };
        let path = self.index_path();
        if index.files.is_empty() {
            durable::remove_if_exists(&path)?;
            return Ok(());
        }
        Ok(durable::write_atomic(&path, index.render().as_bytes())?)
    }

    fn index_path(&self) -> PathBuf {
        self.engine.folder.join(INDEX)
    }

    /// Reads the index of the files with `read`.
    pub(super) fn index(&self, read: fn(&str) -> Option<WorkspaceIndex>) -> Option<WorkspaceIndex> {
        let most = limits::WORKSPACE_INDEX_BYTES_MAX;
        let file = project_fs::read_text(&self.engine.folder, INDEX, most).ok()?;
        read(&file.text)
    }

    /// Returns a number that differs for another database at the same path.
    fn database_number(&self) -> u64 {
        let found = project_fs::file_stat(&self.engine.folder.join(DATABASE));
        // The inode of a deleted file is reused, so the time of creation is added.
        found.map_or(0, |stat| stat.inode ^ stat.born_ns.rotate_left(24))
    }
}

fn stat_tuple(stat: FileStat) -> FileStamp {
    (stat.modified_ns, stat.size_bytes, stat.inode)
}
