//! Sharing of records with a team through files in git.

use super::Engine;
use super::workspace_files::{WorkspaceKind, WorkspaceRoot};
use heirloom_formats::workspace::{self, TeamEntry, TeamFile};
use heirloom_fs::durable;
use heirloom_model::kinds::Knowledge;
use heirloom_model::record::SOURCE_TEAM;
use heirloom_model::{Fault, Kind, KindData, Record, RecordId, text};
use heirloom_store::Change;

/// Outcome of sharing or unsharing a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShareOutcome {
    /// The entry was written.
    Shared,
    /// The entry was removed.
    Unshared,
    /// Nothing to change.
    Unchanged,
}

impl ShareOutcome {
    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Unshared => "unshared",
            Self::Unchanged => "unchanged",
        }
    }
}

/// Record with its entry in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareReport {
    /// Id of the entry: that of the record when it was first shared.
    pub id: RecordId,
    /// Path of the file, as it is shown.
    pub file: String,
    /// The outcome.
    pub outcome: ShareOutcome,
}

/// Git attributes: keep the lines of both sides in a merge.
const ATTRIBUTES: &str = "*.md merge=union\n";

/// Records that a team shares through files in its repository.
#[derive(Clone, Copy)]
pub struct TeamSharing<'e> {
    pub(in crate::engine) engine: &'e Engine,
}

impl TeamSharing<'_> {
    /// Writes redacted knowledge as entries into the team's files, which git distributes.
    ///
    /// Each file is durable by itself; a repeated call changes nothing. Errors: `Usage` for records of another kind
    /// or not current ones; `Refused` if the memory is outside of the project, or the file cannot be written.
    pub fn share(&self, ids: &[RecordId]) -> Result<Vec<ShareReport>, Fault> {
        self.engine.require_memory()?;
        let root = self.team_root()?;
        let records = ids.iter().map(|id| self.shareable(*id));
        let records: Vec<Record> = records.collect::<Result<_, _>>()?;
        let lock = self.engine.workspace().lock()?;
        let attributes = root.target(".gitattributes")?;
        if attributes.symlink_metadata().is_err() {
            super::workspace_files::make_folder_of(&attributes)?;
            durable::write_atomic(&attributes, ATTRIBUTES.as_bytes())?;
        }
        let mut done = Vec::new();
        for record in &records {
            done.push(self.share_one(&root, record)?);
        }
        drop(lock);
        self.engine.workspace().sync()?;
        Ok(done)
    }

    /// Removes the entries of records from the team's files; the records stay, as the user's.
    ///
    /// Errors: `NotFound` for a record that is not shared.
    pub fn unshare(&self, ids: &[RecordId]) -> Result<Vec<ShareReport>, Fault> {
        self.engine.require_memory()?;
        self.engine.workspace().sync()?;
        let root = self.team_root()?;
        let lock = self.engine.workspace().lock()?;
        let mut done = Vec::new();
        for id in ids {
            done.push(self.unshare_one(&root, *id)?);
        }
        drop(lock);
        self.engine.workspace().sync()?;
        Ok(done)
    }

    fn team_root(&self) -> Result<WorkspaceRoot, Fault> {
        self.engine.require_files()?;
        let is_inside = self
            .engine
            .folder
            .file_name()
            .is_some_and(|name| name == heirloom_fs::project_fs::HEIRLOOM_FOLDER);
        let root = WorkspaceRoot::open(self.engine, WorkspaceKind::Team).filter(|_| is_inside);
        root.ok_or_else(|| {
            Fault::refused(
                "the memory of this project is stored outside of it, where git does not track it",
            )
            .hint("`heirloom init` without --user stores it in the project")
        })
    }

    fn shareable(&self, id: RecordId) -> Result<Record, Fault> {
        let chain = self.engine.records().history(id)?;
        let current = chain
            .into_iter()
            .rfind(|record| record.is_current(self.engine.now()));
        let record = current.ok_or_else(|| Fault::usage(format!("record {id} is not current")))?;
        if record.kind != Kind::Knowledge {
            let kind = record.kind;
            return Err(
                Fault::usage(format!("record {id} is a {kind}; only knowledge is shared"))
                    .hint("store its text as a fact with `heirloom remember`"),
            );
        }
        Ok(record)
    }

    fn share_one(&self, root: &WorkspaceRoot, record: &Record) -> Result<ShareReport, Fault> {
        let category = record.category().unwrap_or_default().to_owned();
        let file = workspace::category_file_name(&category).ok_or_else(|| {
            let category = text::excerpt(&category, 60);
            Fault::usage(format!(
                "the category `{category}` is too long for the name of a file"
            ))
        })?;
        let id = entry_of(record).unwrap_or(record.id);
        let knowledge = Knowledge::from_record(record).ok();
        let key = record
            .key
            .clone()
            .filter(|key| *key != Knowledge::derive_key(&record.text));
        let clean = |text: String| self.engine.redaction().redact_input(&text).into_owned();
        let entry = TeamEntry {
            id: Some(id),
            line: 0,
            text: clean(record.text.clone()),
            key: key.map(clean),
            why: knowledge
                .and_then(|knowledge| knowledge.rationale)
                .map(clean),
        };
        let changed = root.change(&file, "", |page| {
            let with = TeamFile::upsert_entry(page, &category, &entry);
            (with != page).then_some(with)
        })?;
        Ok(ShareReport {
            id,
            file: root.shown(&file),
            outcome: match changed {
                Some(()) => ShareOutcome::Shared,
                None => ShareOutcome::Unchanged,
            },
        })
    }

    fn unshare_one(&self, root: &WorkspaceRoot, id: RecordId) -> Result<ShareReport, Fault> {
        let chain = self.engine.records().history(id)?;
        let entry = chain.iter().rev().find_map(entry_of).unwrap_or(id);
        let tracked = chain
            .iter()
            .rfind(|record| record.is_current(self.engine.now()));
        let files = root.files().0;
        let has = |file: &&String| {
            let page = root.read(file).ok().flatten();
            page.is_some_and(|page| TeamFile::remove_entry(&page.text, entry).is_some())
        };
        let file = files.iter().find(has);
        let tracked =
            tracked.filter(|record| record.source == SOURCE_TEAM && entry_of(record).is_some());
        if file.is_none() && tracked.is_none() {
            return Err(Fault::not_found(format!("record {id} is not shared"))
                .hint("`heirloom list --source team` lists shared records"));
        }
        // First the record, so that it is not retired with its entry.
        if let Some(record) = tracked {
            self.engine.records().apply_one(Change::Revise {
                id: record.id,
                record: Box::new(self.detached(record)),
            })?;
        }
        if let Some(file) = file {
            root.change(file, "", |page| TeamFile::remove_entry(page, entry))?;
        }
        Ok(ShareReport {
            id: entry,
            file: file.map_or_else(String::new, |file| root.shown(file)),
            outcome: ShareOutcome::Unshared,
        })
    }

    /// Returns a copy of the record without its reference to a file.
    fn detached(&self, record: &Record) -> Record {
        let mut detached = self.engine.records().draft(
            record.kind,
            &record.text,
            record.scope.clone(),
            super::super::records::USER,
        );
        detached.key.clone_from(&record.key);
        detached.attrs = record.attrs.clone();
        for name in ["file", "line", "entry", "digest", "by"] {
            detached.attrs.remove(name);
        }
        detached
    }
}

/// Returns the id of a record's entry.
fn entry_of(record: &Record) -> Option<RecordId> {
    record.attr_str("entry")?.parse().ok()
}
