//! Sharing records with a team, through files that git carries.

use super::Engine;
use super::files::{Corner, Root};
use super::team_sync::TEAM;
use crate::workspace::{self, TeamEntry, TeamPage};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Fault, Kind, KindData, Record, RecordId, text};
use heirloom_store::{Change, durable};

/// What became of a record that was to be shared, or to be shared no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedOutcome {
    /// The file has it now.
    Shared,
    /// The file has it no longer.
    Unshared,
    /// The file was like that already.
    Unchanged,
}

impl SharedOutcome {
    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Unshared => "unshared",
            Self::Unchanged => "unchanged",
        }
    }
}

/// A record and its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    /// The entry's id: that of the record when it was first shared.
    pub id: RecordId,
    /// The file, as it is told.
    pub file: String,
    /// What became of it.
    pub outcome: SharedOutcome,
}

/// What git does where two branches add lines: it keeps both.
const ATTRIBUTES: &str = "*.md merge=union\n";

impl Engine {
    /// Writes knowledge as entries into the team's files, where git carries it to the others; without secrets.
    ///
    /// Each is durable by itself; once more changes nothing. Errors: `Usage` for what is no knowledge or not current;
    /// `Refused` where memory is kept outside of the project, or the file is not to be written.
    pub fn share(&self, ids: &[RecordId]) -> Result<Vec<Shared>, Fault> {
        self.writable()?;
        let root = self.team_root()?;
        let records = ids.iter().map(|id| self.shareable(*id));
        let records: Vec<Record> = records.collect::<Result<_, _>>()?;
        let lock = self.workspace_lock()?;
        let attributes = root.target(".gitattributes")?;
        if attributes.symlink_metadata().is_err() {
            super::files::make_folder_of(&attributes)?;
            durable::write_atomic(&attributes, ATTRIBUTES.as_bytes())?;
        }
        let mut done = Vec::new();
        for record in &records {
            done.push(self.share_one(&root, record)?);
        }
        drop(lock);
        self.sync_workspace()?;
        Ok(done)
    }

    /// Takes the entries of records out of the team's files; what they say stays in this memory, as the person's.
    ///
    /// Errors: `NotFound` for what is not shared.
    pub fn unshare(&self, ids: &[RecordId]) -> Result<Vec<Shared>, Fault> {
        self.writable()?;
        self.sync_workspace()?;
        let root = self.team_root()?;
        let lock = self.workspace_lock()?;
        let mut done = Vec::new();
        for id in ids {
            done.push(self.unshare_one(&root, *id)?);
        }
        drop(lock);
        self.sync_workspace()?;
        Ok(done)
    }

    fn team_root(&self) -> Result<Root, Fault> {
        let is_inside = self
            .folder
            .file_name()
            .is_some_and(|name| name == crate::places::OWN_FOLDER);
        let root = Root::of(self, Corner::Team).filter(|_| is_inside);
        root.ok_or_else(|| {
            Fault::refused(
                "the memory of this project is kept outside of it, where git does not see it",
            )
            .hint("`heirloom init` without --user keeps it in the project")
        })
    }

    fn shareable(&self, id: RecordId) -> Result<Record, Fault> {
        let chain = self.history(id)?;
        let current = chain
            .into_iter()
            .rfind(|record| record.is_current(self.now()));
        let record = current.ok_or_else(|| Fault::usage(format!("record {id} is not current")))?;
        if record.kind != Kind::Knowledge {
            let kind = record.kind;
            return Err(
                Fault::usage(format!("record {id} is a {kind}; only knowledge is shared"))
                    .hint("`heirloom remember` keeps what it says as a fact"),
            );
        }
        Ok(record)
    }

    fn share_one(&self, root: &Root, record: &Record) -> Result<Shared, Fault> {
        let category = record.category().unwrap_or_default().to_owned();
        let file = workspace::file_of(&category).ok_or_else(|| {
            let category = text::excerpt(&category, 60);
            Fault::usage(format!(
                "the category `{category}` is too long for the name of a file"
            ))
        })?;
        let id = entry_of(record).unwrap_or(record.id);
        let knowledge = Knowledge::of(record).ok();
        let key = record
            .key
            .clone()
            .filter(|key| *key != Knowledge::key(&record.text));
        let clean = |said: String| self.clean(&said).into_owned();
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
            let with = TeamPage::with(page, &category, &entry);
            (with != page).then_some(with)
        })?;
        Ok(Shared {
            id,
            file: root.shown(&file),
            outcome: match changed {
                Some(()) => SharedOutcome::Shared,
                None => SharedOutcome::Unchanged,
            },
        })
    }

    fn unshare_one(&self, root: &Root, id: RecordId) -> Result<Shared, Fault> {
        let chain = self.history(id)?;
        let entry = chain.iter().rev().find_map(entry_of).unwrap_or(id);
        let tracked = chain.iter().rfind(|record| record.is_current(self.now()));
        let files = root.files().0;
        let has = |file: &&String| {
            let page = root.read(file).ok().flatten();
            page.is_some_and(|page| TeamPage::without(&page.text, entry).is_some())
        };
        let file = files.iter().find(has);
        let tracked = tracked.filter(|record| record.source == TEAM && entry_of(record).is_some());
        if file.is_none() && tracked.is_none() {
            return Err(Fault::not_found(format!("record {id} is not shared"))
                .hint("`heirloom list --source team` shows what is"));
        }
        // First the record, so that what it says is kept when the entry goes.
        if let Some(record) = tracked {
            self.apply_one(Change::Revise {
                id: record.id,
                record: Box::new(self.kept(record)),
            })?;
        }
        if let Some(file) = file {
            root.change(file, "", |page| TeamPage::without(page, entry))?;
        }
        Ok(Shared {
            id: entry,
            file: file.map_or_else(String::new, |file| root.shown(file)),
            outcome: SharedOutcome::Unshared,
        })
    }

    /// The record as one that no file has.
    fn kept(&self, record: &Record) -> Record {
        let mut kept = self.draft(
            record.kind,
            &record.text,
            record.scope.clone(),
            super::super::records::USER,
        );
        kept.key.clone_from(&record.key);
        kept.attrs = record.attrs.clone();
        for name in ["file", "line", "entry", "digest", "by"] {
            kept.attrs.remove(name);
        }
        kept
    }
}

/// The id of the entry that a record is.
fn entry_of(record: &Record) -> Option<RecordId> {
    record.attr_str("entry")?.parse().ok()
}
