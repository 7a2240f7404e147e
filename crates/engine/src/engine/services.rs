//! Accessors of the engine's services.

use super::{
    Artifacts, Conflicts, Contexts, Engine, Errors, Graph, Groups, Imports, Maintenance,
    MemoryTool, Mirror, Outputs, ProjectFiles, Recall, Records, Redaction, Sessions, Tasks,
    TeamSharing, Windows, Workspaces,
};

impl Engine {
    /// Records of every kind: writes, reads, past versions, undo, marks and the audit log.
    pub fn records(&self) -> Records<'_> {
        Records { engine: self }
    }

    /// Redaction of everything that is stored or sent.
    pub fn redaction(&self) -> Redaction<'_> {
        Redaction { engine: self }
    }

    /// Conflicts between records, and the review of records that may be obsolete.
    pub fn conflicts(&self) -> Conflicts<'_> {
        Conflicts { engine: self }
    }

    /// Maintenance of the store: retention, purging, embeddings, backups, tokens and the server lock.
    pub fn maintenance(&self) -> Maintenance<'_> {
        Maintenance { engine: self }
    }

    /// Tasks with their steps, iterations, outcomes and episodes.
    pub fn tasks(&self) -> Tasks<'_> {
        Tasks { engine: self }
    }

    /// Errors that agents and people logged, and their resolutions.
    pub fn errors(&self) -> Errors<'_> {
        Errors { engine: self }
    }

    /// Files that agents registered as results of a task.
    pub fn artifacts(&self) -> Artifacts<'_> {
        Artifacts { engine: self }
    }

    /// Search in the memory of the project and of the person.
    pub fn recall(&self) -> Recall<'_> {
        Recall { engine: self }
    }

    /// Assembly of contexts, injection of files, and receipts of what was sent.
    pub fn contexts(&self) -> Contexts<'_> {
        Contexts { engine: self }
    }

    /// Outputs of the agents of a plan, as records and as files.
    pub fn outputs(&self) -> Outputs<'_> {
        Outputs { engine: self }
    }

    /// Sessions with their messages, their summaries and snapshots of working memory.
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions { engine: self }
    }

    /// Import of records, mirrors, shared contexts and the files of other tools.
    pub fn imports(&self) -> Imports<'_> {
        Imports { engine: self }
    }

    /// Mirror file of a project: written after changes, and imported when another program has changed it.
    pub fn mirror(&self) -> Mirror<'_> {
        Mirror { engine: self }
    }

    /// Workspace files of the project and of the person, synchronised with records.
    pub fn workspace(&self) -> Workspaces<'_> {
        Workspaces { engine: self }
    }

    /// Records that a team shares through files in its repository.
    pub fn team(&self) -> TeamSharing<'_> {
        TeamSharing { engine: self }
    }

    /// File commands of the memory tool of a model, executed on workspace files.
    pub fn memory_tool(&self) -> MemoryTool<'_> {
        MemoryTool { engine: self }
    }

    /// Files with the notes of groups of agents.
    pub fn groups(&self) -> Groups<'_> {
        Groups { engine: self }
    }

    /// Windows over long conversations: compaction, expansion, summaries.
    pub fn window(&self) -> Windows<'_> {
        Windows { engine: self }
    }

    /// Knowledge graph of entities, relations and observations, stored as facts.
    pub fn graph(&self) -> Graph<'_> {
        Graph { engine: self }
    }

    /// Files of the project that people edit on the page, and the inbox.
    pub fn files(&self) -> ProjectFiles<'_> {
        ProjectFiles { engine: self }
    }
}
