//! Memories and conversations of other programs, parsed into one form that an import stores.
//!
//! Pure: texts, bytes and tables in, entries, turns and counted omissions out; no input is an error that hides the
//! rest of a file.

mod basic_memory;
mod chat_gpt;
mod claude_ai;
mod claude_mem;
mod front_matter;
mod mem0;
mod memory_page;
mod node_agent;
mod original_time;
mod pickle;

pub use basic_memory::parse_note;
pub use chat_gpt::parse_conversations as parse_chat_gpt;
pub use claude_ai::{parse_conversations as parse_claude_ai, parse_memories, parse_projects};
pub use claude_mem::{ClaudeMemTables, parse_claude_mem};
pub use mem0::{ChromaTables, Mem0Memories};
pub use memory_page::{MemoryPage, PageRules, imported_paths, parse_page};
pub use node_agent::{NodeAgentTables, parse_node_agent};

use heirloom_model::record::Attrs;
use heirloom_model::{Role, Timestamp, text};
use serde_json::Value;
use std::collections::BTreeMap;

/// Maximum length of a category in characters; it fits a name in any alphabet.
const CATEGORY_CHARS: usize = 50;

/// Content of another program's memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportedMemory {
    /// Facts, rules and summaries.
    pub entries: Vec<ImportedEntry>,
    /// Conversations.
    pub conversations: Vec<ImportedConversation>,
    /// Entries that were left out.
    pub omissions: Omissions,
    /// Parts that could not be read.
    pub problems: Vec<String>,
}

/// One fact, rule or summary of another program.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportedEntry {
    /// Id in the other program, or its place; equal ids with equal times are the same entry.
    pub id: String,
    /// Category; `fact` if it is empty.
    pub category: String,
    /// Text.
    pub text: String,
    /// Time of the entry, if the program records one.
    pub at: Option<Timestamp>,
    /// Confidence from 0 to 1, if the program records one.
    pub confidence: Option<f64>,
    /// Agent that wrote the entry.
    pub agent: Option<String>,
    /// Session in which it was written.
    pub session: Option<String>,
    /// Source entity, relation and target entity of a relation.
    pub relation: Option<[String; 3]>,
    /// Other fields, such as tags and the ids of the program.
    pub origin: Attrs,
}

/// A conversation of another program.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportedConversation {
    /// Id of the session; it names the program.
    pub id: String,
    /// Name of the agent.
    pub agent: String,
    /// Time of the start.
    pub started_at: Option<Timestamp>,
    /// Time of the last change.
    pub ended_at: Option<Timestamp>,
    /// Other fields, such as the title.
    pub attrs: Attrs,
    /// Turns, in order.
    pub turns: Vec<ImportedTurn>,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedTurn {
    /// Id in the conversation.
    pub id: String,
    /// Speaker.
    pub role: Role,
    /// Name of the tool or of the speaker.
    pub sender: Option<String>,
    /// Text.
    pub text: String,
    /// Time, if it is recorded and does not change when the program saves again.
    pub at: Option<Timestamp>,
}

/// Numbers of entries that were left out, by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Omissions(BTreeMap<String, u64>);

impl Omissions {
    /// Counts entries that are left out for this reason.
    pub fn add(&mut self, reason: &str, count: u64) {
        if count > 0 {
            *self.0.entry(reason.to_owned()).or_default() += count;
        }
    }

    /// Adds the numbers of other omissions.
    pub fn extend(&mut self, other: Self) {
        for (reason, count) in other.0 {
            self.add(&reason, count);
        }
    }

    /// Returns each reason with its number, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0
            .iter()
            .map(|(reason, count)| (reason.as_str(), *count))
    }
}

impl ImportedMemory {
    /// Adds the content of another part.
    pub fn extend(&mut self, other: Self) {
        self.entries.extend(other.entries);
        self.conversations.extend(other.conversations);
        self.omissions.extend(other.omissions);
        self.problems.extend(other.problems);
    }

    /// Returns true if nothing was read, left out or reported.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl ImportedConversation {
    /// Adds a turn; an empty text is left out.
    fn push(&mut self, turn: ImportedTurn) {
        if !turn.text.trim().is_empty() {
            self.turns.push(turn);
        }
    }
}

/// Normalises a category of another program: one line, lower case, limited.
fn category(name: &str) -> String {
    let line = text::normalize(&text::one_line(name));
    text::clip(&line, CATEGORY_CHARS).trim_end().to_owned()
}

/// Inserts a field unless it is empty.
fn insert(attrs: &mut Attrs, name: &str, value: Value) {
    let is_empty = match &value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    if !is_empty {
        attrs.insert(name.to_owned(), value);
    }
}

/// Inserts a field of text, if there is one.
fn insert_text(attrs: &mut Attrs, name: &str, value: Option<String>) {
    insert(attrs, name, value.map_or(Value::Null, Value::String));
}

/// Returns the texts of a JSON list; a single text is a list of one.
fn texts(value: Option<&Value>) -> Vec<String> {
    let text = |value: &Value| Some(value.as_str()?.trim().to_owned());
    let items = match value {
        Some(Value::Array(items)) => items.iter().filter_map(text).collect(),
        Some(other) => text(other).into_iter().collect(),
        None => Vec::new(),
    };
    let is_filled = |text: &String| !text.is_empty();
    items.into_iter().filter(is_filled).collect()
}

#[cfg(test)]
mod tests;
