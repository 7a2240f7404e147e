//! Export of Claude.ai: conversations, memories, and projects with their documents.

use super::original_time::time_of_value;
use super::{
    ImportedConversation, ImportedEntry, ImportedMemory, ImportedTurn, insert, insert_text,
};
use heirloom_model::record::Attrs;
use heirloom_model::{Role, limits};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

const EMPTY: &str = "conversations without messages";
const REASONING: &str = "reasoning of the model";
const NOT_TEXT: &str = "images, files and other parts without text";
/// Category of memories and of instructions of projects.
const MEMORY: &str = "memory";

#[derive(Deserialize)]
struct Conversation {
    uuid: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    summary: Option<String>,
    #[serde(default)]
    created_at: Value,
    #[serde(default)]
    updated_at: Value,
    #[serde(default)]
    chat_messages: Vec<ChatMessage>,
}

#[derive(Deserialize)]
struct ChatMessage {
    uuid: String,
    #[serde(default)]
    sender: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    content: Vec<Value>,
    #[serde(default)]
    created_at: Value,
    #[serde(default)]
    attachments: Vec<Value>,
    #[serde(default)]
    files: Vec<Value>,
}

/// Parses `conversations.json` of an export. Each conversation that cannot be read is a problem; the error is that of a
/// file that is no list.
pub fn parse_conversations(bytes: &[u8]) -> Result<ImportedMemory, String> {
    let list: Vec<&RawValue> = serde_json::from_slice(bytes)
        .map_err(|error| format!("not a list of conversations: {error}"))?;
    let mut memory = ImportedMemory::default();
    for (number, raw) in (1_u64..).zip(list) {
        match serde_json::from_str::<Conversation>(raw.get()) {
            Ok(conversation) => add_conversation(conversation, &mut memory),
            Err(error) => memory
                .problems
                .push(format!("conversation {number}: {error}")),
        }
    }
    limit_problems(&mut memory.problems, limits::DIAGNOSTICS_MAX);
    Ok(memory)
}

/// Keeps the first problems and the number of the others.
pub(super) fn limit_problems(problems: &mut Vec<String>, most: usize) {
    let more = problems.len().saturating_sub(most);
    problems.truncate(most);
    if more > 0 {
        problems.push(format!("{more} more parts could not be read"));
    }
}

fn add_conversation(conversation: Conversation, memory: &mut ImportedMemory) {
    let mut imported = ImportedConversation {
        id: format!("claude-ai-{}", conversation.uuid),
        agent: "claude-ai".to_owned(),
        started_at: time_of_value(&conversation.created_at),
        ended_at: time_of_value(&conversation.updated_at),
        ..ImportedConversation::default()
    };
    insert_text(&mut imported.attrs, "title", conversation.name);
    if let Some(summary) = conversation.summary {
        imported.push(ImportedTurn {
            id: "summary".to_owned(),
            role: Role::System,
            sender: None,
            text: summary.trim().to_owned(),
            at: imported.started_at,
        });
    }
    let summaries = imported.turns.len();
    for message in &conversation.chat_messages {
        add_message(message, &mut imported, memory);
    }
    if imported.turns.len() == summaries {
        memory.omissions.add(EMPTY, 1);
    } else {
        memory.conversations.push(imported);
    }
}

/// Adds the text of a message as one turn, and each tool call and result as its own.
fn add_message(
    message: &ChatMessage,
    conversation: &mut ImportedConversation,
    memory: &mut ImportedMemory,
) {
    let role = match message.sender.as_str() {
        "human" | "user" => Role::User,
        _ => Role::Assistant,
    };
    let at = time_of_value(&message.created_at);
    let turn = |number: usize, role, sender, text: String| ImportedTurn {
        id: match number {
            0 => message.uuid.clone(),
            number => format!("{}#{number}", message.uuid),
        },
        role,
        sender,
        text,
        at,
    };
    let mut texts: Vec<String> = Vec::new();
    let mut tools = Vec::new();
    for (number, part) in (1..).zip(&message.content) {
        let field = |name: &str| part.get(name).and_then(Value::as_str).map(str::trim);
        let name = field("name").map(str::to_owned);
        match field("type") {
            Some("text") => texts.extend(field("text").map(str::to_owned)),
            Some("tool_use") => {
                let input = part.get("input").map_or_else(String::new, Value::to_string);
                tools.push(turn(number, Role::ToolCall, name, input));
            }
            Some("tool_result") => {
                let text = super::texts(part.get("content")).join("\n");
                let nested = part.get("content").and_then(Value::as_array);
                let nested = nested.into_iter().flatten();
                let nested = nested.filter_map(|one| one.get("text")?.as_str());
                let text = nested.fold(text, |all, one| format!("{all}\n{one}"));
                tools.push(turn(number, Role::ToolResult, name, text.trim().to_owned()));
            }
            Some("thinking") => memory.omissions.add(REASONING, 1),
            _ => memory.omissions.add(NOT_TEXT, 1),
        }
    }
    texts.retain(|text| !text.is_empty());
    if texts.is_empty() && tools.is_empty() {
        texts.push(message.text.trim().to_owned());
    }
    for attachment in &message.attachments {
        let field = |name: &str| attachment.get(name).and_then(Value::as_str);
        match field("extracted_content").filter(|text| !text.trim().is_empty()) {
            Some(text) => {
                let name = field("file_name").unwrap_or("attachment");
                texts.push(format!("[{name}]\n{}", text.trim()));
            }
            None => memory.omissions.add(NOT_TEXT, 1),
        }
    }
    memory.omissions.add(NOT_TEXT, message.files.len() as u64);
    conversation.push(turn(0, role, None, texts.join("\n\n").trim().to_owned()));
    for tool in tools {
        conversation.push(tool);
    }
}

/// Parses `memories.json`: what Claude remembers of all conversations, and of those of each project.
pub fn parse_memories(bytes: &[u8]) -> Result<ImportedMemory, String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let mut memory = ImportedMemory::default();
    let list = value.as_array();
    let list = list.map_or(std::slice::from_ref(&value), Vec::as_slice);
    for one in list {
        let text = |value: &Value| {
            let text = value.as_str()?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        if let Some(all) = one.get("conversations_memory").and_then(text) {
            memory.add_entry("conversations", MEMORY, all, Attrs::new());
        }
        let projects = one.get("project_memories").and_then(Value::as_object);
        for (project, about) in projects.into_iter().flatten() {
            if let Some(about) = text(about) {
                let mut origin = Map::new();
                insert(&mut origin, "project", json!(project));
                memory.add_entry(&format!("project {project}"), MEMORY, about, origin);
            }
        }
    }
    Ok(memory)
}

/// Parses `projects.json` or the file of one project: instructions and documents.
pub fn parse_projects(bytes: &[u8]) -> Result<ImportedMemory, String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let mut memory = ImportedMemory::default();
    let list = value.as_array();
    let list = list.map_or(std::slice::from_ref(&value), Vec::as_slice);
    for project in list {
        let field = |name: &str| {
            project
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let (uuid, name) = (field("uuid"), field("name"));
        if uuid.is_empty() {
            memory.problems.push("a project has no uuid".to_owned());
            continue;
        }
        let mut origin = Map::new();
        insert(&mut origin, "project", json!(name));
        let parts = ["description", "prompt_template"].map(|part| field(part).trim());
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        if !parts.is_empty() {
            let text = format!("{name}: {}", parts.join("\n\n"));
            let at = project.get("created_at").and_then(time_of_value);
            memory.add_entry(uuid, "project", text, origin.clone()).at = at;
        }
        let docs = project.get("docs").and_then(Value::as_array);
        for doc in docs.into_iter().flatten() {
            let field = |name: &str| doc.get(name).and_then(Value::as_str).unwrap_or_default();
            let content = field("content").trim();
            if content.is_empty() {
                memory.omissions.add("documents without text", 1);
                continue;
            }
            let mut origin = origin.clone();
            insert(&mut origin, "file", json!(field("filename")));
            let text = format!("{}\n\n{content}", field("filename"));
            let at = doc.get("created_at").and_then(time_of_value);
            let id = format!("{uuid} {}", field("uuid"));
            memory
                .add_entry(&id, "document", text.trim().to_owned(), origin)
                .at = at;
        }
    }
    Ok(memory)
}

impl ImportedMemory {
    fn add_entry(
        &mut self,
        id: &str,
        category: &str,
        text: String,
        origin: Attrs,
    ) -> &mut ImportedEntry {
        let at = self.entries.len();
        self.entries.push(ImportedEntry {
            id: id.to_owned(),
            category: category.to_owned(),
            text,
            origin,
            ..ImportedEntry::default()
        });
        &mut self.entries[at]
    }
}
