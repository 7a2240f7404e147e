//! Files into records: what people changed since it was last looked at.

use super::Engine;
use super::diff::{self, Want};
use super::files::{Corner, Root};
use crate::places::{self, FileStat};
use crate::shared;
use crate::workspace::{Index, Place, Seen, TeamPage};
use heirloom_model::{Fault, limits, text};
use heirloom_store::{Change, DATABASE, Verdict, durable};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

/// What a look at the files of the workspaces and of the team's memory brought.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncReport {
    /// Whether a file had changed, so that they were read.
    pub looked: bool,
    /// Entries that are new, or back.
    pub created: usize,
    /// Entries that say something else now.
    pub replaced: usize,
    /// Entries that are gone.
    pub retired: usize,
    /// What was not read, and why.
    pub notes: Vec<String>,
}

/// What is known of the files, beside the database.
const INDEX: &str = "workspace.index";
/// A file that was written so shortly before it was read may have been written again in the same moment,
/// nanoseconds.
const SAME_MOMENT_NS: i64 = 50_000_000;

/// What the files say.
#[derive(Default)]
pub(super) struct Scanned {
    pub(super) wants: Vec<Want>,
    pub(super) teams: Vec<super::team_sync::Said>,
    /// Files that could not be read: what is known of them stays.
    pub(super) unread: HashSet<String>,
    files: BTreeMap<String, Seen>,
    pub(super) notes: Vec<String>,
}

impl Engine {
    /// Makes the records what the files of the workspaces and of the team's memory say, if one of them has changed
    /// since: an entry that was edited replaces its record, one that was deleted retires it, one that only moved
    /// stays.
    ///
    /// Cheap where nothing has changed: it looks at the files without reading them. One atomic step. Nothing happens
    /// when memory is off. What a person forgot stays forgotten, though the file still has it.
    pub fn sync_workspace(&self) -> Result<SyncReport, Fault> {
        if !self.settings.enabled || self.is_settled() {
            return Ok(SyncReport::default());
        }
        self.sync_files()
    }

    /// The same, whatever is known of the files.
    pub fn resync_workspace(&self) -> Result<SyncReport, Fault> {
        self.writable()?;
        self.sync_files()
    }

    fn sync_files(&self) -> Result<SyncReport, Fault> {
        let lock = self.workspace_lock()?;
        self.archive_logs()?;
        let known = self.workspace_index(Index::parse).unwrap_or_default();
        let mut scanned = self.scan();
        for (digest, place) in &known.places {
            if scanned.unread.contains(&place.file) {
                scanned.wants.push(Want::kept(digest, place));
            }
        }
        let mut report = SyncReport {
            looked: true,
            ..SyncReport::default()
        };
        let applied = self.apply_decided(|| {
            let mut changes = diff::changes(self, &scanned)?;
            changes.extend(self.team_changes(&mut scanned)?);
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
        self.keep_index(&scanned)?;
        report.notes = scanned.notes;
        drop(lock);
        Ok(report)
    }

    fn archive_logs(&self) -> Result<(), Fault> {
        for corner in [Corner::User, Corner::Project] {
            if let Some(root) = Root::of(self, corner).filter(Root::is_there) {
                root.archive_days(self.today(), self.settings.workspace.days)?;
            }
        }
        Ok(())
    }

    /// Whether no file is another one than when they were last read.
    fn is_settled(&self) -> bool {
        let at = places::stat(&self.index_path()).map(|stat| stat.modified_ns);
        let index = self.workspace_index(Index::head).unwrap_or_default();
        let store = self.store_number();
        let mut seen = 0;
        for root in self.roots() {
            for file in root.files().0 {
                let stat = root.stat(&file).map(seen_of);
                let known = index.files.get(&root.shown(&file));
                let is_old =
                    at.is_some_and(|at| known.is_some_and(|known| known.0 + SAME_MOMENT_NS < at));
                if known.is_none() || stat.as_ref() != known || !is_old {
                    return false;
                }
                seen += 1;
            }
        }
        // With no file and no index nothing was ever read.
        seen == index.files.len() && (at.is_none() || index.store == store)
    }

    fn roots(&self) -> impl Iterator<Item = Root> {
        let corners = [Corner::User, Corner::Project, Corner::Team];
        let roots = corners
            .into_iter()
            .filter_map(|corner| Root::of(self, corner));
        roots.filter(Root::is_there)
    }

    pub(super) fn scan(&self) -> Scanned {
        let mut scanned = Scanned::default();
        let mut seen: HashMap<String, u32> = HashMap::new();
        for root in self.roots() {
            let (files, notes) = root.files();
            scanned.notes.extend(notes);
            for path in files {
                let shown = root.shown(&path);
                let page = match root.read(&path) {
                    Ok(Some(page)) => page,
                    Ok(None) => continue,
                    Err(problem) => {
                        scanned.notes.push(format!("{shown}: {problem}"));
                        let stat = root.stat(&path).map_or((0, 0, 0), seen_of);
                        scanned.files.insert(shown.clone(), stat);
                        scanned.unread.insert(shown);
                        continue;
                    }
                };
                scanned.files.insert(shown.clone(), seen_of(page.stat));
                if root.corner == Corner::Team {
                    let read = TeamPage::parse(&page.text);
                    let notes = read.notes.iter().map(|note| format!("{shown}: {note}"));
                    scanned.notes.extend(notes);
                    scanned.add_team(self, &path, &shown, read);
                } else {
                    self.scan_page(&shown, &page.text, &mut seen, &mut scanned);
                }
            }
        }
        scanned
    }

    fn scan_page(
        &self,
        shown: &str,
        page: &str,
        seen: &mut HashMap<String, u32>,
        scanned: &mut Scanned,
    ) {
        for item in shared::outline(page) {
            if scanned.wants.len() >= limits::WORKSPACE_ITEMS_MAX {
                let note = format!(
                    "{shown}: more than {} entries; the rest is no record",
                    limits::WORKSPACE_ITEMS_MAX
                );
                scanned.notes.push(note);
                return;
            }
            let words = self.clean(&item.text);
            let words = text::clip(&words, limits::RECORD_TEXT_BYTES_MAX / 4)
                .trim()
                .to_owned();
            let heading = self.clean(&item.path.join(" / ")).into_owned();
            let sort = if item.is_heading { "heading" } else { "bullet" };
            let digest = text::hash_parts(&[sort, &heading, &words]);
            let n = seen.entry(digest.clone()).or_insert(0);
            *n += 1;
            let digest = if *n == 1 {
                digest
            } else {
                format!("{digest}-{n}")
            };
            scanned.wants.push(Want {
                digest,
                place: Place {
                    file: shown.to_owned(),
                    line: item.line,
                },
                heading,
                words,
                is_kept: false,
            });
        }
    }

    fn keep_index(&self, scanned: &Scanned) -> Result<(), Fault> {
        let places = scanned
            .wants
            .iter()
            .map(|want| (want.digest.clone(), want.place.clone()));
        let teams = scanned
            .teams
            .iter()
            .map(|said| (said.digest.clone(), said.place.clone()));
        let index = Index {
            store: self.store_number(),
            files: scanned.files.clone(),
            places: places.chain(teams).collect(),
        };
        let path = self.index_path();
        if index.files.is_empty() {
            durable::remove_if_there(&path)?;
            return Ok(());
        }
        Ok(durable::write_atomic(&path, index.render().as_bytes())?)
    }

    fn index_path(&self) -> PathBuf {
        self.folder.join(INDEX)
    }

    /// What is known of the files, read by `read`.
    pub(super) fn workspace_index(&self, read: fn(&str) -> Option<Index>) -> Option<Index> {
        let most = limits::WORKSPACE_INDEX_BYTES_MAX;
        let file = places::read_text(&self.folder, INDEX, most).ok()?;
        read(&file.text)
    }

    /// Tells the database from another in its place.
    fn store_number(&self) -> u64 {
        let found = places::stat(&self.folder.join(DATABASE));
        // The number of a file that is gone is given to the next one.
        found.map_or(0, |stat| stat.inode ^ stat.born_ns.rotate_left(24))
    }
}

fn seen_of(stat: FileStat) -> Seen {
    (stat.modified_ns, stat.size_bytes, stat.inode)
}

/// Retires a record because its entry is gone.
pub(super) fn retire(engine: &Engine, id: heirloom_model::RecordId, by: &str) -> Change {
    Change::Retire {
        id,
        at: engine.now(),
        by: by.to_owned(),
    }
}
