//! The wiring: loads from the store, asks the pure rooms to compute, stores what they say.

mod artifacts;
mod audit;
mod changes;
mod clean;
mod commands;
mod conflicts;
mod doctor;
mod door;
mod embedding;
mod episodes;
mod errors;
mod foreign;
mod gather;
mod graph;
mod group_files;
mod group_memory;
mod groups;
mod histories;
mod hooks;
mod import_mirror;
mod inbox;
mod inject;
mod marks;
mod mirrored;
mod new_record;
mod observe;
mod outcome;
mod output_files;
mod outputs;
mod pages;
mod paging;
mod prune;
mod purge;
mod recall;
mod receipts;
mod records;
mod review;
mod revise;
mod running;
mod served;
mod sessions;
mod shared;
mod sources;
mod tasks;
mod tokens;
mod transcripts;
mod transfer;
mod tried;
mod user;
mod window;
mod working;
mod workspace;

pub use artifacts::{ArtifactFilter, ArtifactStatus, NewArtifact, Remover, VerifiedArtifact};
pub use changes::Followed;
pub use commands::{CommandBook, CommandFile, CommandSource, Listing, ProgramRun, Rendered};
pub use conflicts::{Conflict, Settled};
pub use doctor::{Check, Doctor, Level, Mended, WentBack};
pub use embedding::{Embedded, Keep};
pub use episodes::{EpisodeFilter, NewEpisode};
pub use errors::{ErrorLogged, ResolvedBefore};
pub use foreign::{Foreign, ForeignPart, ForeignReport, PartReport, RulesFile};
pub use gather::ContextRequest;
pub use groups::{Group, NewNote, Noted};
pub use histories::{HistorySource, SessionSummary};
pub use hooks::{HookCall, HookCalls, HookRequest, Relevant};
pub use inbox::Swept;
pub use inject::Injected;
pub use mirrored::MirrorLoad;
pub use new_record::{NewRecord, Remembered};
pub use observe::{Observation, ObservedSignal, Observer, SignalOutcome};
pub use output_files::OutputFiles;
pub use outputs::{NewOutput, OutputSource, PlanOutput, Tail};
pub use pages::{PageFile, PageSaved, PageText, PagesOf};
pub use paging::Page;
pub use prune::PruneReport;
pub use purge::PurgeReport;
pub use recall::{Arms, Doubles, Reading, RecallRequest, Recalled};
pub use receipts::{ReceiptDiff, ReceiptHead, ReceiptPart, StoredReceipt};
pub use records::Undone;
pub use review::Retire;
pub use revise::{Revised, Revision};
pub use running::{EndReason, IterationReport, RunEvent, RunReport, RunRequest};
pub use served::Served;
pub use sessions::{NewTurn, TurnAdded};
pub use shared::SharedFile;
pub use tasks::{TaskChange, TaskDetails, TaskProgress};
pub use tokens::{NewToken, Token, Tokens, TokensStamp};
pub use transcripts::{
    Reach, TranscriptFate, TranscriptReport, TranscriptStart, TranscriptsReport, TranscriptsRequest,
};
pub use transfer::{Carried, ImportReport};
pub use tried::{Tried, TriedReport};
pub use user::Whose;
pub use window::{
    Expanded, Purse, SessionWindow, Summariser, Whole, WindowPoint, WindowRequest, WindowStory,
    Windowed, WrittenSummary,
};
pub use workspace::{
    MemoryCommand, Shared, SharedOutcome, SyncReport, Workspace, WorkspacePage, Written,
    foreign_workspace,
};

use crate::places::Place;
use crate::redact::Redactor;
use door::Door;
use heirloom_model::{Clock, Embedder, Fault, IdSource, ProjectName, Settings, Timestamp, limits};
use heirloom_store::{Applied, Change, Description, Store, StoreError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Memory of one project: every surface calls this, nothing else calls the store.
///
/// Cheap to share between threads; every method may be called at the same time as any other.
pub struct Engine {
    store: Arc<dyn Store>,
    project: ProjectName,
    root: PathBuf,
    folder: PathBuf,
    settings: Settings,
    redactor: Arc<Redactor>,
    clock: Arc<dyn Clock>,
    ids: IdSource,
    embedder: Option<Box<dyn Embedder>>,
    summariser: Option<Summariser>,
    files: group_files::Cache,
    /// The person's own memory, which contexts carry a section of.
    user: Option<Box<Engine>>,
}

impl Engine {
    /// An engine for the project at `place`. Nothing that it writes reaches `store` before it is redacted.
    ///
    /// Errors: `Usage` for a redaction rule of the settings that cannot be used.
    pub fn new(
        store: Arc<dyn Store>,
        project: ProjectName,
        place: Place,
        settings: Settings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Fault> {
        let redactor = Redactor::new(&settings.redact);
        let redactor = Arc::new(redactor.map_err(|bad| Fault::usage(bad.to_string()))?);
        Ok(Self {
            store: Arc::new(Door::new(store, Arc::clone(&redactor))),
            project,
            root: place.root,
            folder: place.folder,
            settings,
            redactor,
            clock,
            ids: IdSource::default(),
            embedder: None,
            summariser: None,
            files: group_files::Cache::default(),
            user: None,
        })
    }

    /// Another project in the same store, by the same settings. It need not be there: its first write makes it.
    ///
    /// Files (workspace, groups, inbox) are the place's: who asks for another project leaves them alone.
    #[must_use]
    pub fn of_project(&self, project: ProjectName) -> Self {
        Self {
            store: Arc::clone(&self.store),
            project,
            root: self.root.clone(),
            folder: self.folder.clone(),
            settings: self.settings.clone(),
            redactor: Arc::clone(&self.redactor),
            clock: Arc::clone(&self.clock),
            ids: IdSource::default(),
            embedder: None,
            summariser: None,
            files: group_files::Cache::default(),
            user: None,
        }
    }

    /// This engine, with a person's own memory beside it: contexts carry a section of that.
    #[must_use]
    pub fn with_user(mut self, user: Option<Self>) -> Self {
        self.user = user.map(Box::new);
        self
    }

    /// The project's name.
    pub fn project(&self) -> &ProjectName {
        &self.project
    }

    /// The folder that paths are relative to.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder that holds the memory.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The settings it goes by.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The current time by the engine's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// What the store says of itself.
    pub fn describe_store(&self) -> Result<Description, Fault> {
        Ok(self.store.describe()?)
    }

    /// Writes a checked copy of the store to `file`, while others go on writing.
    pub fn backup(&self, file: &Path) -> Result<Description, Fault> {
        Ok(self.store.backup(file)?)
    }

    /// Looks for damage in the store; one line for each finding.
    pub fn check_store(&self) -> Result<Vec<String>, Fault> {
        Ok(self.store.check()?)
    }

    /// Refuses when memory is switched off: writes need it on.
    fn writable(&self) -> Result<(), Fault> {
        if self.settings.enabled {
            return Ok(());
        }
        Err(Fault::refused(format!("memory is switched off for project `{}`", self.project))
            .hint("set `enabled = true` under `[memory]`; `heirloom config memory.enabled --show-origin` says where it is off"))
    }

    /// Writes `changes` as one durable, atomic step.
    fn apply(&self, changes: &[Change]) -> Result<Vec<Applied>, Fault> {
        self.writable()?;
        Ok(self.store.apply(&self.project, changes)?)
    }

    /// Writes what `decide` makes of what is there, in order; decides anew when another process has changed
    /// a record in between. More than one step can hold are several steps, each durable by itself.
    fn apply_decided(
        &self,
        mut decide: impl FnMut() -> Result<Vec<Change>, Fault>,
    ) -> Result<Vec<Applied>, Fault> {
        self.writable()?;
        until_current(|| Ok(self.apply_in_parts(&decide()?)))
    }

    fn apply_in_parts(&self, changes: &[Change]) -> Result<Vec<Applied>, StoreError> {
        let mut applied = Vec::with_capacity(changes.len());
        for part in changes.chunks(limits::CHANGES_MAX) {
            applied.extend(self.store.apply(&self.project, part)?);
        }
        Ok(applied)
    }

    /// Writes one change.
    fn apply_one(&self, change: Change) -> Result<Applied, Fault> {
        let applied = self.apply(&[change])?;
        applied
            .first()
            .copied()
            .ok_or_else(|| Fault::failed("the store did not answer a write"))
    }
}

/// Tries again while another process is faster, so and so often.
fn until_current<T>(
    mut attempt: impl FnMut() -> Result<Result<T, StoreError>, Fault>,
) -> Result<T, Fault> {
    for _ in 1..limits::DECISIONS_MAX {
        match attempt()? {
            Err(StoreError::Stale { .. }) => {}
            answer => return Ok(answer?),
        }
    }
    Ok(attempt()??)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many attempts are made when all but the last of `faster + 1` come too late, and what came of it.
    fn tried(faster: usize) -> (usize, Result<(), Fault>) {
        let mut attempts = 0;
        let done = until_current(|| {
            attempts += 1;
            Ok(if attempts > faster {
                Ok(())
            } else {
                Err(StoreError::Stale {
                    id: heirloom_model::RecordId::MIN,
                    problem: "is already retired".to_owned(),
                })
            })
        });
        (attempts, done)
    }

    #[test]
    fn a_write_is_decided_anew_so_and_so_often() {
        let most = limits::DECISIONS_MAX;
        assert_eq!(tried(0), (1, Ok(())));
        assert_eq!(tried(most - 1), (most, Ok(())));
        let (attempts, done) = tried(most);
        assert_eq!(attempts, most);
        let fault = done.unwrap_err();
        assert!(fault.message.contains("already retired"), "{fault}");
        assert!(fault.hint.is_some());
    }
}
