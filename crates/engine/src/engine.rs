//! Service layer: loads records from the store, calls the pure modules, and stores their results.

mod access_tokens;
mod artifacts;
mod audit;
mod bulk_changes;
mod change_feed;
mod conflicts;
mod context;
mod context_by_worth;
mod context_sources;
mod custom_commands;
mod directive_injection;
mod doctor;
mod editable_files;
mod embedding;
mod ended_records;
mod episodes;
mod error_records;
mod error_resolutions;
mod external_import;
mod file_trust;
mod groups;
mod hook_state_folder;
mod inbox;
mod knowledge_graph;
mod lessons;
mod maintenance;
mod markdown_cleanup;
mod marks;
mod mirror_additions;
mod mirror_content;
mod mirror_import;
mod mirror_refresh;
mod mirror_writer;
mod new_record;
mod outcome;
mod output_files;
mod outputs;
mod pagination;
mod project_identity;
mod proposals;
mod prune;
mod purge;
mod recall;
mod receipts;
mod record_creation;
mod record_import;
mod records;
mod redacting_store;
mod redaction;
mod review;
mod revision;
mod sentence_vectors;
mod server_lock;
mod services;
mod session_history;
mod session_history_import;
mod sessions;
mod shared_context_import;
mod similar_attempts;
#[cfg(test)]
mod stored_form_tests;
mod tasks;
mod undo;
mod user_memory;
mod vector_models;
mod window;
mod working_memory_snapshots;
mod workspace;

pub use access_tokens::{NewToken, Token, TokenStamp, Tokens};
pub use artifacts::{
    ArtifactFilter, ArtifactStatus, NewArtifact, Registrar, Remover, VerifiedArtifact,
};
pub use bulk_changes::BulkChange;
pub use change_feed::ChangeCursor;
pub use conflicts::{Conflict, ResolveReport};
pub use context::ContextRequest;
pub use custom_commands::{
    CommandBook, CommandFile, CommandListing, CommandSource, ProgramRun, RenderedCommand,
};
pub use directive_injection::InjectionReport;
pub use doctor::{CheckLevel, Doctor, HealthCheck, RepairReport, RestoreReport};
pub use editable_files::{EditableFile, EditableFolder, EditableText, SaveOutcome};
pub use embedding::{ReembedMode, ReembedReport};
pub use ended_records::EndedRecords;
pub use episodes::{EpisodeFilter, NewEpisode};
pub use error_records::{EarlierResolution, LoggedError, names_error};
pub use external_import::{
    ExternalContent, ExternalImportReport, ExternalPartReport, ExternalSource, RulesFile,
    TableColumns, read_foreign_tables,
};
pub use file_trust::{FileTrust, FileVerdict, set_actor, use_trusted_files};
pub use groups::{Group, NewNote, NoteReport};
pub use hook_state_folder::{HookStateFile, HookStateFolder};
pub use inbox::{SweepReport, count_inbox_files};
pub use mirror_refresh::MirrorRefreshOutcome;
pub use mirror_writer::MirrorLoadOutcome;
pub use new_record::{NewRecord, RememberReport};
pub use output_files::OutputFiles;
pub use outputs::{NewOutput, OutputSource, PlanOutput};
pub use pagination::Page;
pub use project_identity::{CopyDecision, Identity, IdentityState};
pub use proposals::Proposals;
pub use prune::PruneReport;
pub use purge::PurgeOutcome;
pub use recall::{
    Absence, ConversationHits, DedupMode, QuerySyntax, RecallReport, RecallRequest, RetrievalMode,
};
pub use receipts::{ReceiptDiff, ReceiptHead, ReceiptPart, StoredReceipt};
pub use record_import::{ImportBundle, ImportReport};
pub use review::ReviewRetirement;
pub use revision::{Revision, RevisionReport};
pub use sentence_vectors::SentenceCoverage;
pub use server_lock::ServerLock;
pub use session_history::SessionSummary;
pub use session_history_import::HistorySource;
pub use sessions::{NewTurn, TurnAdded};
pub use shared_context_import::SharedFile;
pub use similar_attempts::{SimilarAttempt, SimilarAttemptsReport, is_same_approach};
pub use tasks::{TaskChange, TaskDetails, TaskProgress};
pub use undo::UndoReport;
pub use user_memory::MemoryOwner;
pub use window::{
    ArchivedContent, CompactionResult, ExpandedContent, SessionWindow, SpendLedger, Summariser,
    TimelinePoint, WindowRequest, WindowTimeline, WrittenSummary,
};
pub use workspace::{
    ChangeAuthor, EntryReport, MemoryToolAnswer, MemoryToolCommand, ReviewedFile, ShareOutcome,
    ShareReport, SyncReport, Workspace, WorkspaceEntry, WorkspacePage, read_external_workspace,
};

pub use artifacts::Artifacts;
pub use conflicts::Conflicts;
pub use context::Contexts;
pub use editable_files::ProjectFiles;
pub use error_records::Errors;
pub use groups::Groups;
use heirloom_agents::signals::SignalRules;
use heirloom_fs::project_fs::{ProjectPaths, display_name};
use heirloom_model::{Clock, Fault, IdSource, ProjectName, Settings, Timestamp, limits, text};
use heirloom_redact::Redactor;
use heirloom_store::{AppliedChange, Change, Store, StoreError};
pub use knowledge_graph::Graph;
pub use lessons::{
    Coverage, EvidenceLine, LearnedConversation, LessonBatch, LessonEffect, LessonLedger,
    LessonSource, Lessons, LessonsReport,
};
pub use maintenance::Maintenance;
use mirror_refresh::StaleMirrors;
pub use mirror_writer::Mirror;
pub use outputs::Outputs;
pub use recall::Recall;
pub use record_import::{ImportProgress, ImportProgressSink, ImportWriter, Imports};
pub use records::Records;
use redacting_store::RedactingStore;
pub use redaction::Redaction;
pub use redaction::{Redacted, RedactedTexts};
pub use sessions::Sessions;
pub use sessions::{HOOKED, STARTED_ITERATION, TRANSCRIPT, continue_from};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
pub use tasks::Tasks;
pub use tasks::{TASK_MAIN, named_task};
use vector_models::VectorModels;
pub use window::Windows;
pub use workspace::MemoryTool;
pub use workspace::TeamSharing;
pub use workspace::Workspaces;

/// Placeholder tree of a project without local files: a path below a file, which can never exist.
const NO_TREE: &str = "/dev/null/no-files-here";
/// Folder with the files of projects that have no tree of their own, one folder for each.
const PROJECTS_FOLDER: &str = "projects";

/// Memory of one project. Every surface calls the engine, and only the engine calls the store.
///
/// Cheap to share between threads; all methods may run concurrently.
pub struct Engine {
    store: Arc<RedactingStore>,
    project: ProjectName,
    /// Name of the project for people, if it differs from its identity.
    display_name: Option<String>,
    root: PathBuf,
    folder: PathBuf,
    /// True if the files at `root` and in `folder` belong to this project.
    has_files: bool,
    settings: Settings,
    redactor: Arc<Redactor>,
    clock: Arc<dyn Clock>,
    ids: IdSource,
    models: VectorModels,
    summariser: Option<Summariser>,
    files: groups::GroupFileCache,
    stale_mirrors: Arc<StaleMirrors>,
    /// Memory of the person, which contexts include as a section.
    user: Option<Box<Engine>>,
    /// Receiver of the progress of imports.
    import_progress: Option<ImportProgressSink>,
    /// Rules of signals, built from the settings at their first use.
    signal_rules: OnceLock<SignalRules>,
    /// Trust in the files of the project.
    file_trust: Arc<dyn FileTrust>,
    /// Source of requests that name none: the person, or the agent in whose shell the program runs.
    actor: Arc<str>,
}

impl Engine {
    /// Creates an engine for the project at `place`. Text is redacted before it reaches `store`.
    ///
    /// Errors: `Usage` for an invalid redaction rule in the settings.
    pub fn new(
        store: Arc<dyn Store>,
        project: ProjectName,
        place: ProjectPaths,
        settings: Settings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Fault> {
        let redactor = Redactor::new(&settings.redact);
        let redactor = Arc::new(redactor.map_err(|bad| Fault::usage(bad.to_string()))?);
        let unmirrored = Arc::default();
        Ok(Self {
            store: Arc::new(RedactingStore::new(
                store,
                Arc::clone(&redactor),
                Arc::clone(&unmirrored),
            )),
            stale_mirrors: unmirrored,
            project,
            display_name: None,
            root: place.root,
            folder: place.folder,
            has_files: true,
            settings,
            redactor,
            clock,
            ids: IdSource::default(),
            models: VectorModels::default(),
            summariser: None,
            files: groups::GroupFileCache::default(),
            user: None,
            import_progress: None,
            signal_rules: OnceLock::new(),
            file_trust: Arc::new(file_trust::TrustedFiles),
            actor: Arc::from(records::USER),
        })
    }

    /// Returns an engine for another project of the same store, with the same settings. The project is created by its
    /// first write.
    ///
    /// That engine has no tree: it stores the files that windows leave out in a folder of its own, and refuses
    /// operations on the tree, the workspace, groups and the inbox.
    #[must_use]
    pub fn for_project(&self, project: ProjectName) -> Self {
        let mut settings = self.settings.clone();
        settings.workspace.user_folder = None;
        let own = text::hash16(project.as_str());
        Self {
            store: Arc::clone(&self.store),
            stale_mirrors: Arc::clone(&self.stale_mirrors),
            project,
            display_name: None,
            root: PathBuf::from(NO_TREE),
            folder: self.folder.join(PROJECTS_FOLDER).join(own),
            has_files: false,
            settings,
            redactor: Arc::clone(&self.redactor),
            clock: Arc::clone(&self.clock),
            ids: IdSource::default(),
            models: self.models.without_external(),
            summariser: None,
            files: groups::GroupFileCache::default(),
            user: None,
            import_progress: None,
            signal_rules: OnceLock::new(),
            file_trust: Arc::clone(&self.file_trust),
            actor: Arc::clone(&self.actor),
        }
    }

    /// Returns an engine of the same project over the same store and files, without embedder, model and user memory.
    #[must_use]
    pub fn shared(&self) -> Self {
        Self {
            display_name: self.display_name.clone(),
            root: self.root.clone(),
            folder: self.folder.clone(),
            has_files: self.has_files,
            settings: self.settings.clone(),
            ..self.for_project(self.project.clone())
        }
    }

    /// Returns this engine with the memory of a person; contexts include a section of it.
    #[must_use]
    pub fn with_user(mut self, user: Option<Self>) -> Self {
        self.user = user.map(Box::new);
        self
    }

    /// Returns this engine with `name` as the project's name for people.
    #[must_use]
    pub fn with_display_name(mut self, name: String) -> Self {
        self.display_name = Some(name);
        self
    }

    /// Returns the short name of the project for people: never a path.
    pub fn display_name(&self) -> String {
        let name = self.display_name.clone();
        name.unwrap_or_else(|| display_name(self.project.as_str()))
    }

    /// Returns the project's name.
    pub fn project(&self) -> &ProjectName {
        &self.project
    }

    /// Returns the folder that paths are relative to.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder that contains the memory.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns true if the project's files are available. Without them only the records of the store are.
    pub fn has_files(&self) -> bool {
        self.has_files
    }

    /// Refuses operations on files if the project's files are not available.
    pub fn require_files(&self) -> Result<(), Fault> {
        if self.has_files {
            return Ok(());
        }
        let project = &self.project;
        Err(Fault::refused(format!(
            "the files of project `{project}` are not served here, only its records"
        ))
        .hint("ask a server that was started in its folder: `heirloom serve`"))
    }

    /// Returns the settings of the engine.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the current time of the engine's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Refuses if memory is switched off, because writes need it.
    pub fn require_memory(&self) -> Result<(), Fault> {
        if self.settings.enabled {
            return Ok(());
        }
        Err(Fault::refused(format!("memory is switched off for project `{}`", self.display_name()))
            .hint("set `enabled = true` under `[memory]`; `heirloom config memory.enabled --show-origin` shows where it is set"))
    }

    /// Writes `changes` as one durable, atomic step.
    pub fn apply(&self, changes: &[Change]) -> Result<Vec<AppliedChange>, Fault> {
        self.require_memory()?;
        Ok(self.store.apply(&self.project, changes)?)
    }

    /// Writes the changes that `decide` returns, in order, and calls it again if another process has changed a record
    /// in between (optimistic concurrency). More than `CHANGES_MAX` changes are written in several transactions.
    pub fn apply_decided(
        &self,
        mut decide: impl FnMut() -> Result<Vec<Change>, Fault>,
    ) -> Result<Vec<AppliedChange>, Fault> {
        self.require_memory()?;
        retry_while_stale(|| Ok(apply_in_parts(self, &decide()?)))
    }
}

/// Writes redacted changes as one durable, atomic step.
fn apply_redacted(
    engine: &Engine,
    changes: Vec<Redacted<Change>>,
) -> Result<Vec<AppliedChange>, Fault> {
    engine.require_memory()?;
    Ok(engine.store.apply_redacted(&engine.project, changes)?)
}

/// Writes changes in transactions of at most `CHANGES_MAX`.
fn apply_in_parts(engine: &Engine, changes: &[Change]) -> Result<Vec<AppliedChange>, StoreError> {
    let mut applied = Vec::with_capacity(changes.len());
    for part in changes.chunks(limits::CHANGES_MAX) {
        applied.extend(engine.store.apply(&engine.project, part)?);
    }
    Ok(applied)
}

/// Repeats `attempt` while another process wins the race, at most `MERGE_RETRIES_MAX` times.
fn retry_while_stale<T>(
    mut attempt: impl FnMut() -> Result<Result<T, StoreError>, Fault>,
) -> Result<T, Fault> {
    for _ in 1..limits::MERGE_RETRIES_MAX {
        match attempt()? {
            Err(StoreError::Stale { .. }) => {}
            answer => return Ok(answer?),
        }
    }
    Ok(attempt()??)
}

#[cfg(test)]
mod tests;
