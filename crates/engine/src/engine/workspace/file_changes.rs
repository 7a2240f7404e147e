//! File changes of the workspace by agents, with undo: each is a retired record with the file's name and the location
//! of its former state.

use super::change_author::{ChangeAuthor, add_author};
use super::diff::{self, FOLLOWS};
use super::workspace_files::{WorkspaceKind, WorkspaceRoot, make_folder_of, refused};
use crate::engine::Workspaces;
use crate::engine::undo::UndoReport;
use heirloom_fs::durable;
use heirloom_model::record::Attrs;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Action, Authority, Fault, Kind, Record, RecordId, Scope, limits, text};
use heirloom_store::{AsOf, Change, Filter, PurgeTarget};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// Category of these records.
const CATEGORY: &str = "workspace-file";
/// Folder of deleted files, from which people can restore them.
pub(super) const TRASH: &str = ".trash";
/// Folder of former texts in the workspace; its files are named after their records.
pub(super) const HISTORY: &str = ".history";
/// Files that define an agent's identity and duties: agents may not write or move them.
const PERSONAS: [&str; 5] = ["SOUL.md", "AGENTS.md", "AGENT.md", "CLAUDE.md", "GEMINI.md"];

/// Kind of a file change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileAction {
    /// The text was changed.
    Edited,
    /// The file was created.
    Created,
    /// The file was moved to the trash.
    Deleted,
    /// The file was renamed.
    Renamed,
}

impl FileAction {
    const ALL: [Self; 4] = [Self::Edited, Self::Created, Self::Deleted, Self::Renamed];

    fn as_str(self) -> &'static str {
        match self {
            Self::Edited => "edited",
            Self::Created => "created",
            Self::Deleted => "deleted",
            Self::Renamed => "renamed",
        }
    }
}

/// Result of a file change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeResult<'t> {
    /// The file has this text.
    Text(&'t str),
    /// The file has this name.
    NewName(&'t str),
    /// The file is in the trash.
    Deleted,
}

/// File change as recorded; paths are relative to the workspace.
pub(super) struct FileChange {
    id: RecordId,
    action: FileAction,
    pub(super) file: String,
    /// Path of the former state, or of the changed state after an undo.
    former: String,
}

impl FileChange {
    pub(super) fn from_record(record: &Record) -> Option<Self> {
        if record.kind != Kind::Note || record.category() != Some(CATEGORY) {
            return None;
        }
        let action = record.attr_str("deed")?;
        Some(Self {
            id: record.id,
            action: FileAction::ALL
                .into_iter()
                .find(|known| known.as_str() == action)?,
            former: former_state_path(record, record.attr_str("file")?, record.attr_str("to")),
            file: record.attr_str("file")?.to_owned(),
        })
    }

    /// Returns true if the change affects this file, or a folder of it.
    fn is_of(&self, file: &str) -> bool {
        let rest = file.strip_prefix(&self.file);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Returns the path of a file's former state: its new name, the trash, or the folder of former texts.
fn former_state_path(record: &Record, file: &str, to: Option<&str>) -> String {
    let id = record.id;
    match (to, record.attr_str("deed")) {
        (Some(to), _) => to.to_owned(),
        (None, Some("deleted")) => format!("{TRASH}/{}-{id}", file.replace('/', "-")),
        (None, _) => format!("{HISTORY}/{id}"),
    }
}

impl Workspaces<'_> {
    /// Records a change before it is made, and saves the former text of an edited file; needs the lock. Returns the
    /// id for `undo`, and the path to which the caller moves a deleted file.
    pub(super) fn record_file_change(
        &self,
        root: &WorkspaceRoot,
        (action, file): (FileAction, &str),
        result: ChangeResult<'_>,
        by: ChangeAuthor<'_>,
    ) -> Result<(RecordId, String), Fault> {
        let to = match result {
            ChangeResult::NewName(to) => Some(to),
            ChangeResult::Text(_) | ChangeResult::Deleted => None,
        };
        let shown = self
            .engine
            .redaction()
            .redact_input(&root.shown(file))
            .into_owned();
        let words = format!("{} {shown}", action.as_str());
        let mut record =
            self.engine
                .records()
                .draft(Kind::Note, &words, Scope::default(), by.source);
        let mut attrs = Attrs::new();
        let fields = [
            ("category", CATEGORY),
            ("deed", action.as_str()),
            ("file", file),
        ];
        for (name, value) in fields.into_iter().chain(to.map(|to| ("to", to))) {
            attrs.insert(name.to_owned(), json!(value));
        }
        let text = match result {
            ChangeResult::Text(text) => Some(text),
            ChangeResult::NewName(_) | ChangeResult::Deleted => None,
        };
        add_author(self.engine, &mut attrs, by.holder, text);
        record.attrs = attrs;
        let former = former_state_path(&record, file, to);
        if action == FileAction::Edited {
            let target = root.target(&former)?;
            make_folder_of(&target)?;
            let found = root.read(file);
            let found = found.map_err(|problem| refused(&root.shown(file), &problem))?;
            let text = found.map(|file| file.text).unwrap_or_default();
            durable::write_atomic(&target, text.as_bytes())?;
        }
        delete_oldest(&root.folder.join(HISTORY))?;
        // Retired from the beginning, so that lists, contexts and recall never contain it.
        record.retired_at = Some(record.recorded_at);
        let put = Change::Put {
            record: Box::new(record),
            merge: heirloom_model::MergeRule::Replace,
        };
        Ok((self.engine.records().apply_one(put)?.id, former))
    }

    /// Undoes or redoes a file change; `None` for other records.
    pub(in crate::engine) fn undo_file_change(
        &self,
        record: &Record,
        by: &str,
    ) -> Result<Option<UndoReport>, Fault> {
        let change = match FileChange::from_record(record) {
            Some(change) => change,
            None => match self.file_change_of_entry(record)? {
                Some(change) => change,
                None => return Ok(None),
            },
        };
        self.undo_change(&change, by, |_| Ok(())).map(Some)
    }

    /// Undoes or redoes a file change if `check` accepts the present state of the workspace.
    pub(super) fn undo_change(
        &self,
        change: &FileChange,
        by: &str,
        check: impl FnOnce(&WorkspaceRoot) -> Result<(), Fault>,
    ) -> Result<UndoReport, Fault> {
        self.engine.require_memory()?;
        self.engine.require_files()?;
        let root = WorkspaceRoot::open(self.engine, WorkspaceKind::Project)
            .ok_or_else(|| Fault::failed("the project has no folder"))?;
        for file in [&change.file, &change.former] {
            guard_personas(&root.target(file)?, by)?;
        }
        let was_undone = self
            .engine
            .records()
            .events(Some(change.id), limits::EVENTS_MAX)?
            .iter()
            .any(|event| event.action == Action::Restored);
        let lock = self.lock()?;
        check(&root)?;
        swap_state(&root, change, was_undone)?;
        let (id, at) = (change.id, self.engine.now());
        let restored = Change::Restore {
            id,
            at,
            by: by.to_owned(),
        };
        let retired = Change::Retire {
            id,
            at,
            by: by.to_owned(),
        };
        if let Err(fault) = self.engine.apply(&[restored, retired]) {
            // If the store fails, the file must stay unchanged.
            swap_state(&root, change, true)?;
            return Err(fault);
        }
        drop(lock);
        self.sync()?;
        Ok(UndoReport::Restored { id, retired: None })
    }

    /// Returns the file change that caused the retirement of an entry.
    fn file_change_of_entry(&self, record: &Record) -> Result<Option<FileChange>, Fault> {
        let Some(ended) = record.retired_at.filter(|_| diff::is_entry(record)) else {
            return Ok(None);
        };
        let events = self
            .engine
            .records()
            .events(Some(record.id), limits::EVENTS_MAX)?;
        let last = events.iter().max_by_key(|event| event.at);
        let by_agent = last
            .is_some_and(|event| event.action == Action::Retired && event.by.starts_with(FOLLOWS));
        let root = WorkspaceRoot::open(self.engine, WorkspaceKind::Project);
        let (Some(root), true) = (root, by_agent) else {
            return Ok(None);
        };
        let file = record.attr_str("file").unwrap_or_default();
        let Some(file) = file.strip_prefix(&root.shown("")) else {
            return Ok(None);
        };
        let mut ever = Filter::current(&[Kind::Note], self.engine.now()).category(CATEGORY);
        ever.as_of = AsOf::Ever;
        let found = self.engine.records().find(&ever)?;
        let before = found.iter().filter(|change| change.recorded_at <= ended);
        let changes = before
            .filter_map(|change| Some((change.recorded_at, FileChange::from_record(change)?)));
        let last = changes
            .filter(|(_, change)| change.is_of(file))
            .max_by_key(|(at, change)| (*at, change.id));
        Ok(last.map(|(_, change)| change))
    }

    /// Lists the former texts of workspace files that a purge of `selection` deletes, by name.
    pub(in crate::engine) fn purgeable_file_history(
        &self,
        selection: &PurgeTarget,
    ) -> Result<Vec<PathBuf>, Fault> {
        let Some(root) = WorkspaceRoot::open(self.engine, WorkspaceKind::Project) else {
            return Ok(Vec::new());
        };
        let mut found = list_files(&root.folder.join(HISTORY))?;
        found.retain(|path| {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or("");
            match selection {
                PurgeTarget::Project => true,
                PurgeTarget::Records(ids) => ids.iter().any(|id| name.starts_with(&id.to_string())),
                PurgeTarget::Containing(wanted) => {
                    // An unreadable file may contain the text.
                    let found = root.read(&format!("{HISTORY}/{name}"));
                    let wanted = wanted.to_lowercase();
                    found.map_or(true, |file| {
                        file.is_some_and(|file| file.text.to_lowercase().contains(&wanted))
                    })
                }
                PurgeTarget::Session(_) => false,
            }
        });
        Ok(found)
    }
}

/// Refuses an agent that would write, move or delete a persona file, or a folder with one.
pub(super) fn guard_personas(target: &Path, by: &str) -> Result<(), Fault> {
    if Authority::of_source(by) > Authority::Agent {
        return Ok(());
    }
    let Some(persona) = persona_in(target, limits::FOLDER_DEPTH_MAX) else {
        return Ok(());
    };
    Err(Fault::refused(format!(
        "{persona} belongs to the people of the project: an agent may not change, rename or delete it"
    ))
    .hint(
        "propose the change to a person instead: `heirloom propose TEXT`, or the tool `remember`, \
         which a person accepts or rejects",
    ))
}

fn persona_in(path: &Path, depth: usize) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    if PERSONAS
        .iter()
        .any(|persona| name.eq_ignore_ascii_case(persona))
    {
        return Some(name);
    }
    let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
    if !is_folder || depth == 0 {
        return None;
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .take(limits::WORKSPACE_FILES_MAX)
        .find_map(|entry| persona_in(&entry.path(), depth - 1))
}

/// Swaps a file with its saved state.
fn swap_state(root: &WorkspaceRoot, change: &FileChange, was_undone: bool) -> Result<(), Fault> {
    let (file, former) = (root.target(&change.file)?, root.target(&change.former)?);
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    let missing_fault = || {
        let shown = root.shown(&change.file);
        Fault::not_found(format!(
            "the state of {shown} before change {} is no longer stored",
            change.id
        ))
        .hint(format!(
            "only the newest {} changes are stored",
            limits::WORKSPACE_HISTORY_FILES
        ))
    };
    match (change.action, is_there(&file), is_there(&former)) {
        (FileAction::Edited, true, true) => swap_texts(root, change),
        (FileAction::Edited, true, false) | (_, false, false) => Err(missing_fault()),
        (_, false, true) => move_file(&former, &file),
        (FileAction::Created, true, false) => move_file(&file, &former),
        (FileAction::Deleted | FileAction::Renamed, true, false) if was_undone => {
            move_file(&file, &former)
        }
        (FileAction::Deleted | FileAction::Renamed | FileAction::Created, true, _) => {
            let shown = root.shown(&change.file);
            Err(
                Fault::refused(format!("{shown} exists and was not replaced"))
                    .hint("move it away, then undo again"),
            )
        }
    }
}

fn move_file(from: &Path, to: &Path) -> Result<(), Fault> {
    make_folder_of(to)?;
    durable::rename_synced(from, to)?;
    Ok(())
}

/// Swaps two texts so that each is in a file at every moment.
fn swap_texts(root: &WorkspaceRoot, change: &FileChange) -> Result<(), Fault> {
    let text = |path: &str| {
        let found = root.read(path);
        let found = found.map_err(|problem| refused(&root.shown(path), &problem))?;
        Ok::<_, Fault>(found.map(|file| file.text).unwrap_or_default())
    };
    let (now, then) = (text(&change.file)?, text(&change.former)?);
    let temporary = root.target(&format!("{}.now", change.former))?;
    durable::write_atomic(&temporary, now.as_bytes())?;
    durable::write_atomic(&root.target(&change.file)?, then.as_bytes())?;
    durable::rename_synced(&temporary, &root.target(&change.former)?)?;
    Ok(())
}

/// Lists the files of a folder by name, which is in order of age.
fn list_files(folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    if folder.is_symlink() {
        return Err(refused(&folder.to_escaped().to_string(), &"it is a link"));
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|sort| sort.is_file()));
    let mut found: Vec<_> = files.map(|entry| entry.path()).collect();
    found.sort();
    Ok(found)
}

/// Deletes the oldest former texts beyond the limits.
fn delete_oldest(folder: &Path) -> Result<(), Fault> {
    let mut bytes = 0;
    for (n, path) in list_files(folder)?.iter().rev().enumerate() {
        bytes += path.symlink_metadata().map_or(0, |found| found.len());
        let is_too_old = n >= limits::WORKSPACE_HISTORY_FILES;
        if is_too_old || bytes > limits::WORKSPACE_HISTORY_BYTES_MAX {
            durable::remove_if_exists(path)?;
        }
    }
    Ok(())
}

/// Returns the actor of record changes that follow from a file change by `by`.
pub(super) fn record_actor(by: &str) -> String {
    match Authority::of_source(by) {
        Authority::Person => diff::WORKSPACE.to_owned(),
        Authority::Agent | Authority::Orchestrator => {
            format!("{FOLLOWS}{}", text::one_line(by))
        }
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "files of tests need no durable writes"
)]
mod tests {
    use super::*;

    #[test]
    fn oldest_former_texts_beyond_limits_are_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let path = |n: usize| folder.path().join(format!("{n:04}"));
        for n in 0..=limits::WORKSPACE_HISTORY_FILES {
            fs::write(path(n), "x").unwrap();
        }
        delete_oldest(folder.path()).unwrap();
        assert!(!path(0).exists(), "the oldest file");
        assert!(path(1).exists() && path(limits::WORKSPACE_HISTORY_FILES).exists());
        let newest = path(limits::WORKSPACE_HISTORY_FILES);
        let large = fs::File::create(&newest).unwrap();
        large.set_len(limits::WORKSPACE_HISTORY_BYTES_MAX).unwrap();
        delete_oldest(folder.path()).unwrap();
        assert_eq!(
            list_files(folder.path()).unwrap(),
            std::slice::from_ref(&newest)
        );
        large
            .set_len(limits::WORKSPACE_HISTORY_BYTES_MAX - 1)
            .unwrap();
        fs::write(path(1), "x").unwrap();
        delete_oldest(folder.path()).unwrap();
        assert!(path(1).exists(), "both fit");
    }

    #[test]
    fn persona_guard_ignores_case_and_searches_folders() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a/b");
        fs::create_dir_all(&below).unwrap();
        let guard = |path: &Path, by| guard_personas(path, by).is_err();
        assert!(!guard(&folder.path().join("a"), "coder"));
        fs::write(below.join("soul.MD"), "x").unwrap();
        assert!(guard(&folder.path().join("a"), "coder"));
        assert!(guard(&folder.path().join("AGENTS.md"), "coder"));
        assert!(!guard(&folder.path().join("AGENTS.md"), "user"));
        assert!(!guard(&folder.path().join("MEMORY.md"), "coder"));
    }
}
