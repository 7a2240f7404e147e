//! The engine of Heirloom: modules without a store, and the [`Engine`] that composes them over a store.
//!
//! The library does not use the environment, the home directory or a terminal.

pub mod analytics;
mod engine;
pub mod working_memory;

pub use engine::EndedRecords;
pub use engine::{
    Absence, ArtifactFilter, ArtifactStatus, BulkChange, CheckLevel, CommandBook, CommandFile,
    CommandListing, CommandSource, Conflict, ContextRequest, ConversationHits, DedupMode, Doctor,
    EarlierResolution, Engine, EpisodeFilter, HealthCheck, ImportBundle, ImportProgress,
    ImportProgressSink, ImportReport, LoggedError, MirrorLoadOutcome, MirrorRefreshOutcome,
    NewArtifact, NewEpisode, NewRecord, NewTurn, ProgramRun, PruneReport, PurgeOutcome,
    QuerySyntax, RecallReport, RecallRequest, ReceiptDiff, ReceiptHead, ReceiptPart, ReembedMode,
    ReembedReport, Registrar, RememberReport, Remover, RenderedCommand, RepairReport,
    ResolveReport, RestoreReport, RetrievalMode, ReviewRetirement, Revision, RevisionReport,
    SharedFile, SimilarAttempt, SimilarAttemptsReport, StoredReceipt, TaskChange, TaskDetails,
    TaskProgress, TurnAdded, UndoReport, VerifiedArtifact, is_same_approach, names_error,
};
pub use engine::{
    ArchivedContent, CompactionResult, ExpandedContent, SessionWindow, SpendLedger, Summariser,
    TimelinePoint, WindowRequest, WindowTimeline, WrittenSummary,
};
pub use engine::{
    Artifacts, Conflicts, Contexts, Errors, Graph, Groups, Imports, Maintenance, MemoryTool,
    Mirror, Outputs, ProjectFiles, Proposals, Recall, Records, Redaction, Sessions, Tasks,
    TeamSharing, Windows, Workspaces,
};
pub use engine::{
    ChangeAuthor, EntryReport, FileTrust, FileVerdict, ReviewedFile, ShareOutcome, ShareReport,
    SyncReport, Workspace, WorkspaceEntry, WorkspacePage, set_actor, use_trusted_files,
};
pub use engine::{
    ChangeCursor, MemoryToolAnswer, MemoryToolCommand, NewToken, Page, SentenceCoverage,
    ServerLock, Token, TokenStamp, Tokens,
};
pub use engine::{CopyDecision, Identity, IdentityState};
pub use engine::{
    Coverage, EvidenceLine, LearnedConversation, LessonBatch, LessonEffect, LessonLedger,
    LessonSource, Lessons, LessonsReport,
};
pub use engine::{EditableFile, EditableFolder, EditableText, SaveOutcome};
pub use engine::{
    ExternalContent, ExternalImportReport, ExternalPartReport, ExternalSource, RulesFile,
    TableColumns, read_external_workspace, read_foreign_tables,
};
pub use engine::{Group, MemoryOwner, NewNote, NoteReport, SweepReport, count_inbox_files};
pub use engine::{
    HOOKED, ImportWriter, Redacted, RedactedTexts, STARTED_ITERATION, TASK_MAIN, TRANSCRIPT,
    continue_from, named_task,
};
pub use engine::{HistorySource, NewOutput, OutputFiles, OutputSource, PlanOutput, SessionSummary};
pub use engine::{HookStateFile, HookStateFolder, InjectionReport};
pub use heirloom_store::SharedStoreStatus;
pub use heirloom_store::{
    AppliedChange, AsOf, Description, Filter, KindCounts, MigrationEvent, Order, ProgressSink,
    PurgeReport, PurgeTarget, RecordUsage, SalvageReport, SkippedRow, Verdict,
};
pub use heirloom_window::{Policy, WireFormat};
