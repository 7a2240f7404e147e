//! Conversations of the Node agent in `.ai-agent-chat.sqlite`, in both of its schemas.
//!
//! The agent deletes and inserts all messages of a conversation when it saves, so their ids and times change; the time
//! of the session and the words do not.

use super::original_time::parse_time;
use super::{ImportedConversation, ImportedMemory, ImportedTurn, insert_text};
use heirloom_model::foreign_table::{ForeignRow, ForeignTable};
use heirloom_model::{Role, text};
use serde_json::Value;
use std::collections::HashMap;

/// Tables of the database.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeAgentTables {
    /// `agents`.
    pub agents: ForeignTable,
    /// `chat_sessions`.
    pub sessions: ForeignTable,
    /// `chat`.
    pub messages: ForeignTable,
    /// `tool_executions`.
    pub executions: ForeignTable,
    /// `chat_history` of old versions: one list of messages for each agent.
    pub histories: ForeignTable,
}

impl NodeAgentTables {
    /// Columns of each table that are read.
    pub const COLUMNS: [(&'static str, &'static [&'static str]); 5] = [
        ("agents", &["agent_id", "agent_name"]),
        ("chat_sessions", &["id", "agent_id", "created_at"]),
        (
            "chat",
            &[
                "id",
                "session_id",
                "role",
                "content",
                "tool_calls",
                "tool_call_id",
                "name",
            ],
        ),
        ("tool_executions", &["id", "session_id"]),
        ("chat_history", &["agent_id", "messages"]),
    ];
}

/// Converts the tables into conversations.
pub fn parse_node_agent(tables: &NodeAgentTables) -> ImportedMemory {
    let mut memory = ImportedMemory::default();
    let agents: HashMap<String, String> = tables
        .agents
        .rows()
        .filter_map(|row| Some((row.text("agent_id")?, row.text("agent_name")?)))
        .collect();
    let mut messages: HashMap<String, Vec<SourceMessage>> = HashMap::new();
    for row in tables.messages.rows() {
        if let (Some(session), Some(message)) = (row.text("session_id"), SourceMessage::of_row(row))
        {
            messages.entry(session).or_default().push(message);
        }
    }
    for row in tables.sessions.rows() {
        let Some(id) = row.text("id") else { continue };
        let agent = row.text("agent_id").unwrap_or_default();
        let mut conversation = new_conversation(&id, &agent, agents.get(&agent));
        conversation.started_at = row.text("created_at").and_then(|at| parse_time(&at));
        add_messages(
            messages.remove(&id).unwrap_or_default(),
            conversation,
            &mut memory,
        );
    }
    let lost: usize = messages.values().map(Vec::len).sum();
    memory
        .omissions
        .add("messages of deleted conversations", lost as u64);
    for row in tables.histories.rows() {
        let Some(agent) = row.text("agent_id") else {
            continue;
        };
        let Some(Value::Array(list)) = row.json("messages") else {
            memory.problems.push(format!(
                "the history of the agent `{agent}` is not a list of messages"
            ));
            continue;
        };
        let list = list.iter().map(SourceMessage::of_json).collect();
        let conversation = new_conversation(&format!("history-{agent}"), &agent, None);
        add_messages(list, conversation, &mut memory);
    }
    let outputs = tables.executions.rows.len() as u64;
    memory.omissions.add(
        "full outputs of tools, whose previews are in the messages",
        outputs,
    );
    memory
}

fn new_conversation(id: &str, agent: &str, name: Option<&String>) -> ImportedConversation {
    let mut conversation = ImportedConversation {
        id: format!("ai-agent-chat-{id}"),
        agent: match agent.trim() {
            "" => "ai-agent-chat".to_owned(),
            agent => agent.to_owned(),
        },
        ..ImportedConversation::default()
    };
    insert_text(&mut conversation.attrs, "agent_name", name.cloned());
    conversation
}

#[derive(Default)]
struct SourceMessage {
    role: String,
    content: String,
    tool_calls: Option<Value>,
    name: Option<String>,
}

impl SourceMessage {
    fn of_row(row: ForeignRow<'_>) -> Option<Self> {
        Some(Self {
            role: row.text("role")?,
            content: row.text("content").unwrap_or_default(),
            tool_calls: row.json("tool_calls"),
            name: row.text("name"),
        })
    }

    fn of_json(value: &Value) -> Self {
        let field = |name: &str| {
            value
                .get(name)
                .and_then(Value::as_str)
                .map(|text| text.trim().to_owned())
        };
        Self {
            role: field("role").unwrap_or_default(),
            content: field("content").unwrap_or_default(),
            tool_calls: value.get("tool_calls").cloned(),
            name: field("name"),
        }
    }

    /// Returns the turns of the message: its text, and each tool call.
    fn turns(self) -> Vec<(Role, Option<String>, String)> {
        let role = match self.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::ToolResult,
            _ => Role::System,
        };
        let sender = match role {
            Role::ToolResult => self.name,
            Role::User | Role::Assistant | Role::System | Role::ToolCall => None,
        };
        let mut turns = vec![(role, sender, self.content)];
        for call in self.tool_calls.iter().filter_map(Value::as_array).flatten() {
            let function = call.get("function").unwrap_or(call);
            let field = |name: &str| function.get(name).and_then(Value::as_str);
            let arguments = field("arguments").unwrap_or_default().to_owned();
            turns.push((Role::ToolCall, field("name").map(str::to_owned), arguments));
        }
        turns
    }
}

fn add_messages(
    messages: Vec<SourceMessage>,
    mut conversation: ImportedConversation,
    memory: &mut ImportedMemory,
) {
    // Equal turns of one conversation are distinguished by their number.
    let mut seen: HashMap<String, u64> = HashMap::new();
    for message in messages {
        if message.role == "system" {
            memory.omissions.add("system prompts", 1);
            continue;
        }
        let turns = message.turns();
        if turns.iter().all(|(_, _, text)| text.is_empty()) {
            memory.omissions.add("messages without text", 1);
        }
        for (role, sender, content) in turns {
            let name = sender.as_deref().unwrap_or_default();
            let words = text::hash_parts(&[role.as_str(), name, &content]);
            let count = seen.entry(words.clone()).or_default();
            *count += 1;
            conversation.push(ImportedTurn {
                id: format!("{words} {count}"),
                role,
                sender,
                text: content,
                at: conversation.started_at,
            });
        }
    }
    if !conversation.turns.is_empty() {
        memory.conversations.push(conversation);
    }
}
