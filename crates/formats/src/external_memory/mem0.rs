//! Memories of mem0: its export as JSON, its history database, and the payloads of its local vector stores.
//!
//! A vector store has the current text and the owner of each memory, the history has its changes. Both are joined by
//! the id of the memory.

use super::original_time::{parse_time, time_of_value};
use super::{
    ImportedConversation, ImportedEntry, ImportedMemory, ImportedTurn, category, insert, pickle,
    texts,
};
use heirloom_model::foreign_table::{ForeignRow, ForeignTable, ForeignValue};
use heirloom_model::record::Attrs;
use heirloom_model::{Role, text};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};

/// Names of the text in an export and in a payload.
const TEXT_FIELDS: [&str; 4] = ["memory", "data", "text", "content"];
/// Fields that are stored otherwise, or derived from the text.
const DROPPED: [&str; 12] = [
    "memory",
    "data",
    "text",
    "content",
    "hash",
    "text_lemmatized",
    "id",
    "created_at",
    "agent_id",
    "run_id",
    "score",
    "metadata",
];
/// End of the names of collections with the entities that mem0 finds in memories.
const ENTITIES: &str = "_entities";

/// Tables of the Chroma vector store.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChromaTables {
    /// `collections`.
    pub collections: ForeignTable,
    /// `segments`.
    pub segments: ForeignTable,
    /// `embeddings`.
    pub embeddings: ForeignTable,
    /// `embedding_metadata`.
    pub metadata: ForeignTable,
}

/// Collector of the memories of all files of mem0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mem0Memories {
    memories: BTreeMap<String, Entry>,
    /// Number of memories without an id.
    without_id: u64,
    rest: ImportedMemory,
}

/// One memory: its fields in the vector store or export, and what its history adds.
#[derive(Debug, Clone, Default, PartialEq)]
struct Entry {
    fields: Map<String, Value>,
    created_at: Option<String>,
    former: u64,
    is_deleted: bool,
}

impl Mem0Memories {
    /// Columns of each table of the history database that are read.
    pub const HISTORY_COLUMNS: [(&'static str, &'static [&'static str]); 2] = [
        (
            "history",
            &[
                "id",
                "memory_id",
                "old_memory",
                "prev_value",
                "new_memory",
                "new_value",
                "event",
                "created_at",
                "updated_at",
                "is_deleted",
                "actor_id",
                "role",
            ],
        ),
        (
            "messages",
            &[
                "id",
                "session_scope",
                "role",
                "content",
                "name",
                "created_at",
            ],
        ),
    ];
    /// Columns of the table of Qdrant's local store that are read.
    pub const POINT_COLUMNS: (&'static str, &'static [&'static str]) = ("points", &["id", "point"]);
    /// Columns of each table of Chroma's local store that are read.
    pub const CHROMA_COLUMNS: [(&'static str, &'static [&'static str]); 4] = [
        ("collections", &["id", "name"]),
        ("segments", &["id", "collection"]),
        ("embeddings", &["id", "segment_id", "embedding_id"]),
        (
            "embedding_metadata",
            &[
                "id",
                "key",
                "string_value",
                "int_value",
                "float_value",
                "bool_value",
            ],
        ),
    ];

    /// Adds an export: the answer of `get_all`, a list of memories, or the document store of the FAISS vector store.
    pub fn add_json(&mut self, bytes: &[u8]) -> Result<(), String> {
        let value: Value =
            serde_json::from_slice(bytes).map_err(|error| format!("not JSON: {error}"))?;
        if let Some(Value::Object(documents)) = value.get("docstore") {
            for (id, payload) in documents {
                self.add_payload(id, payload);
            }
            return Ok(());
        }
        let named = ["results", "memories", "data"];
        let list = value
            .as_array()
            .or_else(|| named.iter().find_map(|name| value.get(*name)?.as_array()));
        let list = list.ok_or("it has no list `results` or `memories`")?;
        for memory in list {
            let id = memory.get("id").map(id_text).unwrap_or_default();
            self.add_payload(&id, memory);
        }
        for relation in value
            .get("relations")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            self.add_relation(relation);
        }
        Ok(())
    }

    /// Adds the changes and messages of the history database.
    pub fn add_history(&mut self, history: &ForeignTable, messages: &ForeignTable) {
        for row in history.rows() {
            let Some(id) = row.text("memory_id") else {
                self.rest.omissions.add("changes without a memory", 1);
                continue;
            };
            let entry = self.memories.entry(id).or_default();
            let new = row.text("new_memory").or_else(|| row.text("new_value"));
            let event = row.text("event").unwrap_or_default().to_uppercase();
            entry.created_at = entry.created_at.take().or_else(|| row.text("created_at"));
            entry.is_deleted = event == "DELETE" || row.integer("is_deleted") == Some(1);
            if let Some(new) = new.filter(|_| !entry.is_deleted) {
                let former = entry
                    .fields
                    .insert("history_text".to_owned(), Value::String(new));
                entry.former += u64::from(former.is_some());
            }
            for name in ["actor_id", "role"] {
                if let Some(value) = row.text(name) {
                    entry.fields.entry(name).or_insert(Value::String(value));
                }
            }
        }
        self.add_messages(messages);
    }

    fn add_messages(&mut self, messages: &ForeignTable) {
        let mut places: HashMap<String, usize> = HashMap::new();
        for row in messages.rows() {
            let (Some(scope), Some(content)) = (row.text("session_scope"), row.text("content"))
            else {
                self.rest.omissions.add("messages without text", 1);
                continue;
            };
            let at = row.text("created_at").and_then(|at| parse_time(&at));
            let conversations = &mut self.rest.conversations;
            let place = *places.entry(scope.clone()).or_insert_with(|| {
                conversations.push(ImportedConversation {
                    id: format!("mem0-{}", text::clip(&text::one_line(&scope), 80)),
                    agent: "mem0".to_owned(),
                    started_at: at,
                    ..ImportedConversation::default()
                });
                conversations.len() - 1
            });
            let role = match row.text("role").as_deref() {
                Some("user") => Role::User,
                Some("assistant") => Role::Assistant,
                Some("tool") => Role::ToolResult,
                Some(_) | None => Role::System,
            };
            conversations[place].push(ImportedTurn {
                id: row.text("id").unwrap_or_default(),
                role,
                sender: row.text("name"),
                text: content,
                at,
            });
        }
    }

    /// Adds the points of a collection of Qdrant's local store, which are pickled objects. Nothing in them is executed.
    pub fn add_points(&mut self, collection: &str, points: &ForeignTable) {
        if collection.ends_with(ENTITIES) {
            return self.omit_entities(points.rows.len());
        }
        for row in points.rows() {
            let Some(ForeignValue::Blob(bytes)) = row.get("point") else {
                self.rest.omissions.add("points without content", 1);
                continue;
            };
            match pickle::read(bytes) {
                Ok(point) => {
                    let id = point.get("id").map(id_text).unwrap_or_default();
                    match point.get("payload") {
                        Some(payload) => self.add_payload(&id, payload),
                        None => self.rest.omissions.add("points without payload", 1),
                    }
                }
                Err(problem) => {
                    let id = row.text("id").unwrap_or_default();
                    let id = text::excerpt(&id, 60);
                    self.rest.problems.push(format!("point `{id}`: {problem}"));
                }
            }
        }
    }

    /// Adds the collections of Chroma's local store.
    pub fn add_chroma(&mut self, tables: &ChromaTables) {
        let pairs = |table: &ForeignTable, from: &str, to: &str| -> HashMap<String, String> {
            let pair = |row: ForeignRow<'_>| Some((row.text(from)?, row.text(to)?));
            table.rows().filter_map(pair).collect()
        };
        let names = pairs(&tables.collections, "id", "name");
        let collections = pairs(&tables.segments, "id", "collection");
        let mut payloads: HashMap<String, Map<String, Value>> = HashMap::new();
        for row in tables.metadata.rows() {
            if let (Some(id), Some(key)) = (row.text("id"), row.text("key")) {
                payloads
                    .entry(id)
                    .or_default()
                    .insert(key, chroma_value(row));
            }
        }
        for row in tables.embeddings.rows() {
            let name = row
                .text("segment_id")
                .and_then(|segment| names.get(collections.get(&segment)?));
            if name.is_some_and(|name| name.ends_with(ENTITIES)) {
                self.omit_entities(1);
                continue;
            }
            let payload = row.text("id").and_then(|id| payloads.remove(&id));
            let payload = Value::Object(payload.unwrap_or_default());
            self.add_payload(&row.text("embedding_id").unwrap_or_default(), &payload);
        }
    }

    fn omit_entities(&mut self, count: usize) {
        self.rest
            .omissions
            .add("entities that mem0 found in memories", count as u64);
    }

    fn add_payload(&mut self, id: &str, payload: &Value) {
        let Value::Object(fields) = payload else {
            self.rest.omissions.add("memories without text", 1);
            return;
        };
        let has_text = TEXT_FIELDS
            .iter()
            .any(|name| fields.get(*name).is_some_and(Value::is_string));
        if !has_text {
            self.rest.omissions.add("memories without text", 1);
            return;
        }
        // The number counts over all files: a number in each file would join memories of two exports.
        let id = match id.trim() {
            "" => {
                self.without_id += 1;
                format!("without id {}", self.without_id)
            }
            id => id.to_owned(),
        };
        let entry = self.memories.entry(id).or_default();
        entry.fields.extend(fields.clone());
    }

    fn add_relation(&mut self, relation: &Value) {
        let field = |names: &[&str]| {
            let value = names
                .iter()
                .find_map(|name| relation.get(*name)?.as_str())?;
            Some(text::one_line(value.trim()))
        };
        let parts = [
            field(&["source"]),
            field(&["relationship", "relation"]),
            field(&["destination", "target"]),
        ];
        let [Some(from), Some(name), Some(to)] = parts else {
            return self.rest.omissions.add("incomplete relations", 1);
        };
        self.rest.entries.push(ImportedEntry {
            id: format!("relation {from} {name} {to}"),
            category: "relation".to_owned(),
            text: format!("{from} {name} {to}"),
            relation: Some([from, name, to]),
            ..ImportedEntry::default()
        });
    }

    /// Returns what was read, each memory once.
    pub fn finish(self) -> ImportedMemory {
        let mut memory = self.rest;
        for (id, entry) in self.memories {
            let own = TEXT_FIELDS
                .iter()
                .find_map(|name| entry.fields.get(*name)?.as_str());
            let is_current = own.is_some();
            let recorded = entry.fields.get("history_text").and_then(Value::as_str);
            let words = own
                .or(recorded)
                .map(str::trim)
                .unwrap_or_default()
                .to_owned();
            memory
                .omissions
                .add("former texts of changed memories", entry.former);
            if entry.is_deleted && !is_current {
                memory.omissions.add("deleted memories", 1);
            } else if words.is_empty() {
                memory.omissions.add("memories without text", 1);
            } else {
                memory.entries.push(entry.into_imported(id, words));
            }
        }
        memory
    }
}

impl Entry {
    fn into_imported(self, id: String, words: String) -> ImportedEntry {
        let mut fields = self.fields;
        let metadata = match fields.get("metadata") {
            Some(Value::Object(metadata)) => metadata.clone(),
            _ => Map::new(),
        };
        let created_at = fields.get("created_at").cloned();
        let created_at = created_at.or(self.created_at.map(Value::String));
        let named = |name: &str| {
            let value = fields.get(name).or_else(|| metadata.get(name))?.as_str()?;
            let value = text::one_line(value.trim());
            (!value.is_empty()).then_some(value)
        };
        let categories = texts(
            fields
                .get("categories")
                .or_else(|| metadata.get("categories")),
        );
        let category_name = named("category").or_else(|| categories.first().cloned());
        let (agent, session) = (named("agent_id"), named("run_id"));
        let confidence = metadata
            .get("confidence")
            .or_else(|| fields.get("confidence"));
        let confidence = confidence.and_then(Value::as_f64);
        fields.remove("history_text");
        let mut origin = Attrs::new();
        insert(&mut origin, "id", Value::String(id.clone()));
        for (name, value) in fields.into_iter().chain(metadata) {
            if !DROPPED.contains(&name.as_str()) {
                insert(&mut origin, &name, value);
            }
        }
        ImportedEntry {
            id,
            category: category(&category_name.unwrap_or_default()),
            text: words,
            at: created_at.as_ref().and_then(time_of_value),
            confidence: confidence.filter(|value| (0.0..=1.0).contains(value)),
            agent,
            session,
            relation: None,
            origin,
        }
    }
}

fn id_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.trim().to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// Returns the value of a row of Chroma's metadata, which has one column for each type.
fn chroma_value(row: ForeignRow<'_>) -> Value {
    let number = |column: &str| match row.get(column) {
        Some(ForeignValue::Integer(number)) => Some(Value::from(*number)),
        Some(ForeignValue::Real(number)) => Some(Value::from(*number)),
        _ => None,
    };
    if let Some(text) = row.text("string_value") {
        return Value::String(text);
    }
    if let Some(truth) = row.integer("bool_value") {
        return Value::Bool(truth != 0);
    }
    let value = number("int_value").or_else(|| number("float_value"));
    value.unwrap_or_default()
}
