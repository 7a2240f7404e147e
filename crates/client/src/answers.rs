//! Answers of the API.
//!
//! Times are texts in the form of RFC 3339. Words such as a kind, a state or an action are texts too, so that a client
//! reads the words of a newer server. Unknown fields are ignored.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

macro_rules! answers {
    ($(
        $(#[$meta:meta])*
        $name:ident {
            $($(#[$field_meta:meta])* $field:ident: $type:ty,)*
        }
    )*) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, PartialEq, Deserialize)]
            #[non_exhaustive]
            pub struct $name {
                $($(#[$field_meta])* pub $field: $type,)*
            }
        )*
    };
}

answers! {
    /// Outcome of a write.
    Outcome {
        /// The record that was created, confirmed or changed.
        id: String,
        /// created, confirmed, replaced, conflict, unchanged, retired, restored, resolved, reopened or marked.
        outcome: String,
        /// The record that it replaced, or that lost a conflict to it.
        replaced: Option<String>,
        /// The winner, if this record lost a conflict.
        winner: Option<String>,
        /// Kinds of removed secrets, one for each.
        #[serde(default)]
        redacted: Vec<String>,
    }

    /// Record of any kind.
    Record {
        /// Id.
        id: String,
        /// knowledge, task, step, error, episode, artifact, output, note or summary.
        kind: String,
        /// Project.
        project: String,
        /// Text.
        text: String,
        /// Key of knowledge.
        key: Option<String>,
        /// Source.
        source: String,
        /// Confidence of the source, from 0 to 1.
        confidence: f64,
        /// Number of tokens of the text.
        tokens: u64,
        /// Time of creation.
        created_at: String,
        /// Time at which it was retired.
        retired_at: Option<String>,
        /// The record that replaced it.
        replaced_by: Option<String>,
        /// Start of validity.
        true_from: Option<String>,
        /// End of validity.
        true_to: Option<String>,
        /// Attributes of its kind.
        attrs: Map<String, Value>,
        /// Task.
        task_id: Option<String>,
        /// Agent.
        agent_id: Option<String>,
        /// Conversation.
        session_id: Option<String>,
        /// Phase of the task.
        phase: Option<String>,
        /// Plan.
        plan: Option<String>,
        /// Group.
        group: Option<String>,
        /// Iteration of the run.
        iteration: Option<u64>,
    }

    /// Answer of a recall. A loop over it yields its hits.
    RecallResponse {
        /// Hits, best first.
        hits: Vec<Hit>,
        /// Number of hits that were left out because their relevance is too low.
        weak: u64,
        /// Duration in microseconds.
        took_us: u64,
        /// Remarks about the query.
        notes: Vec<String>,
    }

    /// Hit of a recall.
    Hit {
        /// Id of the record.
        id: String,
        /// Kind of the record; `message` for a turn of a conversation.
        kind: String,
        /// Text.
        text: String,
        /// Text with the fix of an error, the reason of a decision or the outcome of an episode, if it has one.
        meaning: Option<String>,
        /// Category of knowledge.
        category: Option<String>,
        /// Key of knowledge.
        key: Option<String>,
        /// Source.
        source: String,
        /// Task.
        task_id: Option<String>,
        /// Agent.
        agent_id: Option<String>,
        /// Conversation.
        session_id: Option<String>,
        /// Time of creation.
        created_at: String,
        /// Score, by which the hits are ordered.
        score: f64,
        /// Calibrated chance that it is about the query, 0 to 1; missing if the query has only filters.
        relevance: Option<f64>,
        /// Grade of the relevance: strong, likely or weak.
        grade: Option<String>,
        /// Parts of its score, by name.
        parts: Option<Map<String, Value>>,
        /// Ids of near-duplicates, grouped under this hit.
        #[serde(default)]
        folded: Vec<String>,
    }

    /// Context of a prompt. Its displayed form is its text.
    Context {
        /// Text, with which a prompt begins.
        text: String,
        /// Number of characters.
        chars: u64,
        /// Number of tokens.
        tokens: u64,
        /// Sections with their items.
        sections: Vec<ContextSection>,
        /// Remarks.
        notes: Vec<String>,
        /// Id of the receipt; missing for a context without text.
        receipt: Option<String>,
    }

    /// Section of a context.
    ContextSection {
        /// Name.
        name: String,
        /// Number of characters.
        chars: u64,
        /// Items, included or not.
        items: Vec<ContextItem>,
    }

    /// Item that was included in a context or left out.
    ContextItem {
        /// Id of the record.
        id: Option<String>,
        /// File that contains it.
        file: Option<String>,
        /// Text.
        text: String,
        /// Number of characters.
        chars: u64,
        /// Number of tokens.
        tokens: u64,
        /// True if it is in the context.
        included: bool,
        /// Reason for inclusion or omission.
        reason: String,
        /// Calibrated relevance to the question, 0 to 1, if it was compared.
        relevance: Option<f64>,
        /// Score.
        score: Option<f64>,
        /// Worth in the selection, if it competed.
        worth: Option<f64>,
    }

    /// Knowledge.
    Knowledge {
        /// Id.
        id: String,
        /// Project.
        project: String,
        /// Category.
        category: String,
        /// Key.
        key: Option<String>,
        /// Value.
        value: String,
        /// Reason of a decision.
        rationale: Option<String>,
        /// Source of the value.
        source: String,
        /// Confidence of the source, from 0 to 1.
        confidence: f64,
        /// Number of confirmations.
        confirmations: u64,
        /// True for a value that an agent proposed.
        proposal: bool,
        /// True if sources disagree and the conflict is not resolved.
        disputed: bool,
        /// True if a person pinned it.
        pinned: bool,
        /// True if a person muted it.
        muted: bool,
        /// Time of creation.
        created_at: String,
        /// Time of the last write or confirmation.
        updated_at: String,
        /// Task.
        task_id: Option<String>,
        /// Agent.
        agent_id: Option<String>,
    }

    /// Key with different values and no decision.
    Conflict {
        /// Id of the winner.
        id: String,
        /// Category.
        category: String,
        /// Key.
        key: Option<String>,
        /// True if neither value is used until the conflict is resolved.
        disputed: bool,
        /// Winner.
        winner: Knowledge,
        /// Other values, newest first.
        losers: Vec<Knowledge>,
    }

    /// Change of memory in the audit trail.
    Change {
        /// Time.
        at: String,
        /// created, replaced, conflict, confirmed, retired, restored, resolved, reopened, imported, reversed, purged, marked.
        action: String,
        /// Actor.
        by: String,
        /// The record.
        id: Option<String>,
        /// The other record involved.
        other: Option<String>,
        /// The import batch.
        import: Option<String>,
        /// Details.
        detail: Option<String>,
    }

    /// Versions and events of a record.
    RecordHistory {
        /// Versions, oldest first.
        records: Vec<Record>,
        /// Events, oldest first.
        events: Vec<Change>,
    }

    /// Similar past attempts.
    SimilarAttempts {
        /// Attempts, most similar first.
        items: Vec<Attempt>,
        /// True if a similar approach has failed.
        failed: bool,
    }

    /// Attempt at a task.
    Attempt {
        /// Id of the episode.
        id: String,
        /// Project.
        project: String,
        /// Task.
        task_id: Option<String>,
        /// Agent.
        agent_id: Option<String>,
        /// attempted, completed, failed or retried.
        action: Option<String>,
        /// Approach.
        approach: Option<String>,
        /// Outcome.
        outcome: Option<String>,
        /// Phase of the task.
        phase: Option<String>,
        /// Iteration of the run.
        iteration: Option<u64>,
        /// Duration in milliseconds.
        duration_ms: Option<u64>,
        /// Tokens that were read.
        tokens_in: Option<u64>,
        /// Tokens that were written.
        tokens_out: Option<u64>,
        /// Source.
        source: String,
        /// Time of creation.
        created_at: String,
        /// Score, by which the attempts are ordered.
        score: f64,
    }

    /// Logged error.
    LoggedError {
        /// The record.
        id: String,
        /// created or confirmed.
        outcome: String,
        /// Kinds of removed secrets, one for each.
        #[serde(default)]
        redacted: Vec<String>,
        /// Fix of the same error in the past.
        resolved_before: Option<PastResolution>,
    }

    /// Fix of an error in the past.
    PastResolution {
        /// The record of the error.
        id: String,
        /// The fix.
        resolution: String,
    }

    /// Task in a list.
    TaskSummary {
        /// Id of the task, as people and agents use it.
        task_id: String,
        /// Id of the record.
        id: String,
        /// Project.
        project: String,
        /// Given title, otherwise its type and id.
        title: String,
        /// open, done or failed.
        state: String,
        /// issue, pr, or any other word.
        r#type: Option<String>,
        /// Branch.
        branch: Option<String>,
        /// Phase.
        phase: Option<String>,
        /// Iteration of the run.
        iteration: Option<u64>,
        /// Number of the pull request.
        pr_number: Option<u64>,
        /// Reason why it is blocked.
        blocked_reason: Option<String>,
        /// Source.
        source: String,
        /// Time of the last change.
        updated_at: String,
    }

    /// Task with its steps, files and open errors.
    TaskDetails {
        /// Id of the task, as people and agents use it.
        task_id: String,
        /// Id of the record.
        id: String,
        /// Project.
        project: String,
        /// Given title, otherwise its type and id.
        title: String,
        /// open, done or failed.
        state: String,
        /// issue, pr, or any other word.
        r#type: Option<String>,
        /// Branch.
        branch: Option<String>,
        /// Phase.
        phase: Option<String>,
        /// Iteration of the run.
        iteration: Option<u64>,
        /// Number of the pull request.
        pr_number: Option<u64>,
        /// Reason why it is blocked.
        blocked_reason: Option<String>,
        /// Source.
        source: String,
        /// Time of the last change.
        updated_at: String,
        /// Completed steps.
        completed_steps: Vec<Record>,
        /// Pending steps.
        pending_steps: Vec<Record>,
        /// Files.
        files: Vec<Record>,
        /// Open errors.
        open_errors: Vec<Record>,
    }

    /// Result of the end of a task.
    EndedTask {
        /// Id of the task.
        task_id: String,
        /// done or failed.
        state: String,
        /// Id of the logged episode.
        episode: String,
    }

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

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl IntoIterator for RecallResponse {
    type Item = Hit;
    type IntoIter = std::vec::IntoIter<Hit>;

    fn into_iter(self) -> Self::IntoIter {
        self.hits.into_iter()
    }
}

impl<'a> IntoIterator for &'a RecallResponse {
    type Item = &'a Hit;
    type IntoIter = std::slice::Iter<'a, Hit>;

    fn into_iter(self) -> Self::IntoIter {
        self.hits.iter()
    }
}
