//! Conversations of a ChatGPT export: a tree of messages, of which the branch shown last is read.

use super::original_time::{time_of_number, time_of_value};
use super::{ImportedConversation, ImportedMemory, ImportedTurn, Omissions, insert_text};
use heirloom_model::{Role, limits};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

const OTHER_BRANCHES: &str = "messages of other branches of a conversation";
const HIDDEN: &str = "hidden and system messages";
const NOT_TEXT: &str = "images, files and other parts without text";
const REASONING: &str = "reasoning of the model";
const EMPTY: &str = "conversations without messages";

#[derive(Deserialize)]
struct Conversation {
    #[serde(alias = "conversation_id")]
    id: Option<String>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    create_time: Value,
    #[serde(default)]
    update_time: Value,
    #[serde(default)]
    mapping: HashMap<String, ChatNode>,
    #[serde(default)]
    current_node: Option<String>,
    #[serde(default)]
    default_model_slug: Option<String>,
    #[serde(default)]
    gizmo_id: Option<String>,
}

#[derive(Deserialize)]
struct ChatNode {
    #[serde(default)]
    parent: Option<String>,
    #[serde(default)]
    message: Option<ChatMessage>,
}

#[derive(Deserialize)]
struct ChatMessage {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    author: Author,
    #[serde(default)]
    create_time: Option<f64>,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    recipient: Option<String>,
    #[serde(default)]
    metadata: Value,
}

#[derive(Deserialize, Default)]
struct Author {
    #[serde(default)]
    role: String,
    #[serde(default)]
    name: Option<String>,
}

/// Parses `conversations.json` of an export. Each conversation that cannot be read is a problem; the error is that of a
/// file that is no list.
pub fn parse_conversations(bytes: &[u8]) -> Result<ImportedMemory, String> {
    let list: Vec<&RawValue> = serde_json::from_slice(bytes)
        .map_err(|error| format!("not a list of conversations: {error}"))?;
    let mut memory = ImportedMemory::default();
    for (number, raw) in (1_u64..).zip(list) {
        let parsed = serde_json::from_str::<Value>(raw.get()).and_then(|mut value| {
            // Exports have both names of the id.
            if let Some(fields) = value.as_object_mut()
                && fields.contains_key("id")
            {
                fields.remove("conversation_id");
            }
            Conversation::deserialize(value)
        });
        match parsed {
            Ok(conversation) if conversation.mapping.is_empty() => memory.omissions.add(EMPTY, 1),
            Ok(conversation) => add_conversation(number, conversation, &mut memory),
            Err(error) => memory
                .problems
                .push(format!("conversation {number}: {error}")),
        }
    }
    super::claude_ai::limit_problems(&mut memory.problems, limits::DIAGNOSTICS_MAX);
    Ok(memory)
}

fn add_conversation(number: u64, conversation: Conversation, memory: &mut ImportedMemory) {
    let Some(id) = conversation.id.filter(|id| !id.trim().is_empty()) else {
        let problem = format!("conversation {number} has no id");
        return memory.problems.push(problem);
    };
    let mut imported = ImportedConversation {
        id: format!("chatgpt-{id}"),
        agent: "chatgpt".to_owned(),
        started_at: time_of_value(&conversation.create_time),
        ended_at: time_of_value(&conversation.update_time),
        ..ImportedConversation::default()
    };
    insert_text(&mut imported.attrs, "title", conversation.title);
    insert_text(
        &mut imported.attrs,
        "model",
        conversation.default_model_slug,
    );
    insert_text(&mut imported.attrs, "gizmo", conversation.gizmo_id);
    let branch = current_branch(&conversation.mapping, conversation.current_node.as_deref());
    let shown: HashSet<&str> = branch.iter().copied().collect();
    let others = conversation.mapping.iter().filter(|(id, node)| {
        let text =
            |message: &ChatMessage| turn_of(id, message, &mut Omissions::default()).is_some();
        !shown.contains(id.as_str()) && node.message.as_ref().is_some_and(text)
    });
    memory.omissions.add(OTHER_BRANCHES, others.count() as u64);
    for id in branch {
        let message = conversation
            .mapping
            .get(id)
            .and_then(|node| node.message.as_ref());
        if let Some(turn) = message.and_then(|message| turn_of(id, message, &mut memory.omissions))
        {
            imported.push(turn);
        }
    }
    if imported.turns.is_empty() {
        memory.omissions.add(EMPTY, 1);
    } else {
        memory.conversations.push(imported);
    }
}

/// Returns the nodes from the root to the current node. Without a current node, the longest branch is taken; a cycle
/// ends where it closes.
fn current_branch<'m>(
    mapping: &'m HashMap<String, ChatNode>,
    current: Option<&'m str>,
) -> Vec<&'m str> {
    let known = |id: &str| mapping.get_key_value(id).map(|(id, _)| id.as_str());
    let leaf = current.and_then(known).or_else(|| {
        let parents: HashSet<&str> = mapping
            .values()
            .filter_map(|node| node.parent.as_deref())
            .collect();
        let leaves = mapping.keys().filter(|id| !parents.contains(id.as_str()));
        let time = |id: &&String| {
            let message = mapping.get(*id).and_then(|node| node.message.as_ref());
            message
                .and_then(|message| message.create_time)
                .unwrap_or(0.0)
        };
        let newest = leaves.max_by(|a, b| time(a).total_cmp(&time(b)).then_with(|| a.cmp(b)));
        newest.map(String::as_str)
    });
    let mut seen = HashSet::new();
    let mut branch = Vec::new();
    let mut at = leaf;
    while let Some(id) = at.filter(|id| seen.insert(*id)) {
        branch.push(id);
        let parent = mapping.get(id).and_then(|node| node.parent.as_deref());
        at = parent.and_then(known);
    }
    branch.reverse();
    branch
}

/// Converts a message; counts what it does not convert.
fn turn_of(node: &str, message: &ChatMessage, omissions: &mut Omissions) -> Option<ImportedTurn> {
    let is_hidden =
        message.metadata.get("is_visually_hidden_from_conversation") == Some(&Value::Bool(true));
    let kind = message.content.get("content_type").and_then(Value::as_str);
    let text = text_of(&message.content, omissions);
    if text.trim().is_empty() {
        if matches!(kind, Some("thoughts" | "reasoning_recap")) {
            omissions.add(REASONING, 1);
        }
        return None;
    }
    let recipient = message.recipient.as_deref().filter(|name| *name != "all");
    let (role, sender) = match (message.author.role.as_str(), recipient) {
        ("user", _) => (Role::User, None),
        ("assistant", None) => (Role::Assistant, None),
        ("assistant", Some(tool)) => (Role::ToolCall, Some(tool.to_owned())),
        ("tool", _) => (Role::ToolResult, message.author.name.clone()),
        _ => {
            omissions.add(HIDDEN, 1);
            return None;
        }
    };
    if is_hidden {
        omissions.add(HIDDEN, 1);
        return None;
    }
    Some(ImportedTurn {
        id: message.id.clone().unwrap_or_else(|| node.to_owned()),
        role,
        sender,
        text,
        at: message.create_time.and_then(time_of_number),
    })
}

/// Returns the text of a message's content.
fn text_of(content: &Value, omissions: &mut Omissions) -> String {
    let field = |name: &str| {
        content
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    match content.get("content_type").and_then(Value::as_str) {
        Some("thoughts" | "reasoning_recap") => return String::new(),
        // What the model knows about the person in every conversation; no part of this one.
        Some("user_editable_context" | "model_editable_context") => return String::new(),
        Some(_) | None => {}
    }
    let mut texts: Vec<String> = Vec::new();
    for part in content
        .get("parts")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        match part.as_str().or_else(|| part.get("text")?.as_str()) {
            Some(text) => texts.push(text.trim().to_owned()),
            None => omissions.add(NOT_TEXT, 1),
        }
    }
    for name in ["text", "result"] {
        texts.push(field(name).trim().to_owned());
    }
    texts.retain(|text| !text.is_empty());
    texts.join("\n\n")
}
