//! Answers about sessions, windows, notes, the workspace and the server.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

answers! {
    /// Added turn of a conversation.
    AddedMessage {
        /// Id of the turn.
        id: String,
        /// Conversation.
        session_id: String,
        /// Position, from 0.
        seq: u64,
    }

    /// Turn of a conversation.
    Message {
        /// Id.
        id: String,
        /// Conversation.
        session_id: String,
        /// Position, from 0.
        seq: u64,
        /// user, assistant, system, tool_call or tool_result.
        role: String,
        /// Name of the sender, if the role is not enough.
        sender: Option<String>,
        /// Text.
        text: String,
        /// Number of tokens.
        tokens: u64,
        /// Time of creation.
        created_at: String,
    }

    /// Turn that a search found.
    FoundMessage {
        /// Id.
        id: String,
        /// Conversation.
        session_id: String,
        /// Position, from 0.
        seq: u64,
        /// user, assistant, system, tool_call or tool_result.
        role: String,
        /// Name of the sender, if the role is not enough.
        sender: Option<String>,
        /// Text.
        text: String,
        /// Number of tokens.
        tokens: u64,
        /// Time of creation.
        created_at: String,
        /// Score, by which the turns are ordered.
        score: f64,
    }

    /// Extractive summary of a conversation.
    SessionSummary {
        /// Conversation.
        session_id: String,
        /// Number of summarised interactions.
        interactions: u64,
        /// Number of interactions included in full.
        live: u64,
        /// One line for each recent interaction, oldest first.
        recent: Vec<String>,
        /// Lines for older interactions, oldest first.
        older: Vec<String>,
    }

    /// Conversation that fits a window.
    CompactResponse {
        /// Messages to send, in the format of the request.
        messages: Value,
        /// Report of the compaction.
        report: Map<String, Value>,
        /// Remarks.
        notes: Vec<String>,
    }

    /// Content that a compaction left out.
    ExpandedContent {
        /// Id.
        id: String,
        /// output or messages.
        kind: String,
        /// File that contains it.
        file: String,
        /// Text of an output.
        text: Option<String>,
        /// Messages in the format of their provider.
        messages: Option<Vec<Value>>,
    }

    /// Note.
    Note {
        /// Id.
        id: String,
        /// Project.
        project: String,
        /// Text.
        text: String,
        /// Section of the note.
        category: Option<String>,
        /// File that contains it.
        file: Option<String>,
        /// Group.
        group: Option<String>,
        /// Task.
        task_id: Option<String>,
        /// Agent.
        agent_id: Option<String>,
        /// Source.
        source: String,
        /// Time of creation.
        created_at: String,
    }

    /// Workspace files as prompts contain them.
    WorkspaceSection {
        /// Name.
        name: String,
        /// Heading.
        heading: String,
        /// Items.
        items: Vec<SectionItem>,
        /// Files that could not be read, with the reason.
        notes: Vec<String>,
    }

    /// Item of a workspace file.
    SectionItem {
        /// File.
        file: Option<String>,
        /// Text.
        text: String,
    }

    /// Result of an addition to a workspace file.
    EntryReport {
        /// File.
        file: String,
        /// False if the file already contained the entry.
        added: bool,
        /// Kinds of secrets that were left out.
        redacted: Vec<String>,
        /// Id of the file change for `undo`.
        undo: Option<String>,
    }

    /// Result of a command of the memory tool.
    ToolResult {
        /// Text for the model.
        content: String,
        /// True if the command failed; `content` then contains the reason.
        is_error: bool,
        /// Id of the file change for `undo`.
        undo: Option<String>,
    }

    /// State of the project and its store.
    Status {
        /// Project.
        project: String,
        /// Version of the server.
        version: String,
        /// Version of the database schema.
        schema_version: u64,
        /// Size of the database in bytes.
        size_bytes: u64,
        /// Current records by kind.
        counts: BTreeMap<String, u64>,
        /// Time of the last write.
        last_write: Option<String>,
    }
}
