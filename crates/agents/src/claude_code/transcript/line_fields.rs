//! Fields of the lines of a transcript of Claude Code.

use crate::json_fields::Field;
use serde::Deserialize;

/// A line of a transcript.
#[derive(Deserialize)]
pub(super) struct ClaudeLine<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Field<'a>,
    #[serde(borrow)]
    pub(super) uuid: Field<'a>,
    #[serde(borrow, rename = "parentUuid")]
    pub(super) parent: Field<'a>,
    #[serde(borrow, rename = "logicalParentUuid")]
    pub(super) logical_parent: Field<'a>,
    #[serde(borrow, rename = "sessionId")]
    pub(super) session: Field<'a>,
    #[serde(borrow, rename = "agentId")]
    pub(super) agent: Field<'a>,
    #[serde(borrow, rename = "isSidechain")]
    pub(super) aside: Field<'a>,
    #[serde(borrow, rename = "isMeta")]
    pub(super) meta: Field<'a>,
    #[serde(borrow, rename = "isCompactSummary")]
    pub(super) summary: Field<'a>,
    #[serde(borrow, rename = "isVisibleInTranscriptOnly")]
    pub(super) transcript_only: Field<'a>,
    #[serde(borrow)]
    pub(super) origin: Field<'a>,
    #[serde(borrow, rename = "userType")]
    pub(super) user_type: Field<'a>,
    #[serde(borrow)]
    pub(super) entrypoint: Field<'a>,
    #[serde(borrow, rename = "isApiErrorMessage")]
    pub(super) api_error: Field<'a>,
    #[serde(borrow)]
    pub(super) cwd: Field<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Field<'a>,
    #[serde(borrow)]
    pub(super) message: Field<'a>,
    #[serde(borrow)]
    pub(super) attachment: Field<'a>,
    #[serde(borrow, rename = "toolUseResult")]
    pub(super) tool_use_result: Field<'a>,
    #[serde(borrow, rename = "forkedFrom")]
    pub(super) forked_from: Field<'a>,
}

/// The line from which a fork copied a line.
#[derive(Deserialize)]
pub(super) struct ForkedFrom<'a> {
    #[serde(borrow, rename = "messageUuid")]
    pub(super) message: Field<'a>,
}

/// A line that changes the queue of prompts.
#[derive(Deserialize)]
pub(super) struct QueueLine<'a> {
    #[serde(borrow)]
    pub(super) operation: Field<'a>,
    #[serde(borrow, rename = "commandMode")]
    pub(super) command_mode: Field<'a>,
    #[serde(borrow)]
    pub(super) origin: Field<'a>,
    #[serde(borrow)]
    pub(super) timestamp: Field<'a>,
    #[serde(borrow)]
    pub(super) content: Field<'a>,
}

/// An attachment of the running turn.
#[derive(Deserialize)]
pub(super) struct Attachment<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Field<'a>,
    #[serde(borrow)]
    pub(super) prompt: Field<'a>,
    #[serde(borrow, rename = "commandMode")]
    pub(super) command_mode: Field<'a>,
    #[serde(borrow)]
    pub(super) origin: Field<'a>,
    #[serde(borrow, rename = "isMeta")]
    pub(super) meta: Field<'a>,
}

/// Origin of a message.
#[derive(Deserialize)]
pub(super) struct Origin<'a> {
    #[serde(borrow)]
    pub(super) kind: Field<'a>,
    #[serde(borrow, rename = "type")]
    pub(super) type_name: Field<'a>,
}

/// The message of a line.
#[derive(Deserialize)]
pub(super) struct ClaudeMessage<'a> {
    #[serde(borrow)]
    pub(super) id: Field<'a>,
    #[serde(borrow)]
    pub(super) role: Field<'a>,
    #[serde(borrow)]
    pub(super) model: Field<'a>,
    #[serde(borrow)]
    pub(super) content: Field<'a>,
    #[serde(borrow)]
    pub(super) usage: Field<'a>,
}

/// A part of a message.
#[derive(Deserialize)]
pub(super) struct ContentBlock<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Field<'a>,
    #[serde(borrow)]
    pub(super) text: Field<'a>,
    #[serde(borrow)]
    pub(super) id: Field<'a>,
    #[serde(borrow)]
    pub(super) name: Field<'a>,
    #[serde(borrow)]
    pub(super) input: Field<'a>,
    #[serde(borrow)]
    pub(super) tool_use_id: Field<'a>,
    #[serde(borrow)]
    pub(super) content: Field<'a>,
    #[serde(borrow)]
    pub(super) is_error: Field<'a>,
}

/// The input of a tool that changes files or runs commands.
#[derive(Deserialize)]
pub(super) struct ToolInput<'a> {
    #[serde(borrow)]
    pub(super) command: Field<'a>,
    #[serde(borrow)]
    pub(super) file_path: Field<'a>,
    #[serde(borrow)]
    pub(super) notebook_path: Field<'a>,
    #[serde(borrow)]
    pub(super) old_string: Field<'a>,
    #[serde(borrow)]
    pub(super) new_string: Field<'a>,
    #[serde(borrow)]
    pub(super) content: Field<'a>,
    #[serde(borrow)]
    pub(super) new_source: Field<'a>,
    #[serde(borrow)]
    pub(super) edits: Field<'a>,
    #[serde(borrow)]
    pub(super) todos: Field<'a>,
}

/// One of several edits of a call.
#[derive(Deserialize)]
pub(super) struct EditInput<'a> {
    #[serde(borrow)]
    pub(super) old_string: Field<'a>,
    #[serde(borrow)]
    pub(super) new_string: Field<'a>,
}

/// The input of a tool that changes the task list.
#[derive(Deserialize)]
pub(super) struct TaskInput<'a> {
    #[serde(borrow, rename = "taskId")]
    pub(super) task_id: Field<'a>,
    #[serde(borrow)]
    pub(super) subject: Field<'a>,
    #[serde(borrow)]
    pub(super) status: Field<'a>,
}

/// Tokens of a message.
#[derive(Deserialize)]
pub(super) struct ClaudeUsage<'a> {
    #[serde(borrow)]
    pub(super) input_tokens: Field<'a>,
    #[serde(borrow)]
    pub(super) cache_creation_input_tokens: Field<'a>,
    #[serde(borrow)]
    pub(super) cache_read_input_tokens: Field<'a>,
    #[serde(borrow)]
    pub(super) output_tokens: Field<'a>,
}
