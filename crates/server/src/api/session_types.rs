//! JSON of conversations and their turns.

use heirloom_model::{Message, Session};
use serde::Serialize;
use utoipa::ToSchema;

/// A conversation.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SessionInfo {
    pub(super) id: String,
    pub(super) project: String,
    pub(super) agent_id: Option<String>,
    pub(super) task_id: Option<String>,
    #[schema(format = DateTime)]
    pub(super) started_at: String,
    #[schema(format = DateTime)]
    pub(super) ended_at: Option<String>,
}

pub(super) fn session_info(session: &Session) -> SessionInfo {
    SessionInfo {
        id: session.id.clone(),
        project: session.project.as_str().to_owned(),
        agent_id: session.agent.clone(),
        task_id: session.task.clone(),
        started_at: session.started_at.to_string(),
        ended_at: session.ended_at.map(|at| at.to_string()),
    }
}

/// A turn of a conversation.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct MessageInfo {
    pub(super) id: String,
    pub(super) session_id: String,
    /// Position, from 0.
    pub(super) seq: u64,
    /// user, assistant, system, tool_call or tool_result.
    pub(super) role: String,
    pub(super) sender: Option<String>,
    pub(super) text: String,
    pub(super) tokens: u32,
    #[schema(format = DateTime)]
    pub(super) created_at: String,
}

pub(super) fn message_info(session: &str, message: &Message) -> MessageInfo {
    MessageInfo {
        id: message.id.to_string(),
        session_id: session.to_owned(),
        seq: message.seq,
        role: message.role.as_str().to_owned(),
        sender: message.sender.clone(),
        text: message.text.clone(),
        tokens: message.tokens,
        created_at: message.at.to_string(),
    }
}
