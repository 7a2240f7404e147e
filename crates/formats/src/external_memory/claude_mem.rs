//! Database of claude-mem: observations, summaries of sessions, and prompts.

use super::original_time::{parse_time, time_of_number};
use super::{
    ImportedConversation, ImportedEntry, ImportedMemory, ImportedTurn, category, insert,
    insert_text, texts,
};
use heirloom_model::foreign_table::{ForeignRow, ForeignTable};
use heirloom_model::record::Attrs;
use heirloom_model::{Role, Timestamp};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};

/// Name of the program, as agents are named.
const PROGRAM: &str = "claude-mem";

/// Tables of the database.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClaudeMemTables {
    /// `sdk_sessions`.
    pub sessions: ForeignTable,
    /// `observations`.
    pub observations: ForeignTable,
    /// `session_summaries`.
    pub summaries: ForeignTable,
    /// `user_prompts`.
    pub prompts: ForeignTable,
}

impl ClaudeMemTables {
    /// Columns of each table that are read.
    pub const COLUMNS: [(&'static str, &'static [&'static str]); 4] = [
        (
            "sdk_sessions",
            &[
                "id",
                "content_session_id",
                "memory_session_id",
                "project",
                "platform_source",
                "started_at",
                "started_at_epoch",
                "completed_at_epoch",
                "custom_title",
            ],
        ),
        (
            "observations",
            &[
                "id",
                "memory_session_id",
                "project",
                "merged_into_project",
                "text",
                "type",
                "title",
                "subtitle",
                "facts",
                "narrative",
                "concepts",
                "files_read",
                "files_modified",
                "prompt_number",
                "created_at",
                "created_at_epoch",
            ],
        ),
        (
            "session_summaries",
            &[
                "id",
                "memory_session_id",
                "project",
                "merged_into_project",
                "request",
                "investigated",
                "learned",
                "completed",
                "next_steps",
                "notes",
                "files_read",
                "files_edited",
                "created_at",
                "created_at_epoch",
            ],
        ),
        (
            "user_prompts",
            &[
                "id",
                "session_db_id",
                "content_session_id",
                "prompt_number",
                "prompt_text",
                "created_at",
                "created_at_epoch",
            ],
        ),
    ];
}

/// A session of claude-mem.
struct SourceSession {
    content_id: String,
    project: String,
    started_at: Option<Timestamp>,
    ended_at: Option<Timestamp>,
    title: Option<String>,
    platform: Option<String>,
}

/// Converts the tables. With `project`, entries of other projects are left out: the database has those of all projects,
/// under the names of their folders.
pub fn parse_claude_mem(tables: &ClaudeMemTables, project: Option<&str>) -> ImportedMemory {
    let mut memory = ImportedMemory::default();
    let sessions: Vec<SourceSession> = tables.sessions.rows().filter_map(read_session).collect();
    let places = sessions.iter().enumerate();
    let by_content_id: HashMap<&str, usize> = places
        .map(|(at, session)| (session.content_id.as_str(), at))
        .collect();
    let by_memory_id: HashMap<String, usize> = tables
        .sessions
        .rows()
        .filter_map(|row| {
            let content = row.text("content_session_id")?;
            let at = *by_content_id.get(content.as_str())?;
            Some((row.text("memory_session_id")?, at))
        })
        .collect();
    let mut filter = ProjectFilter {
        wanted: project,
        skipped: 0,
        others: BTreeSet::new(),
    };
    for row in tables.observations.rows() {
        if filter.accepts(row) {
            let session = session_of(row, &by_memory_id, &sessions);
            add_observation(row, session, &mut memory);
        }
    }
    for row in tables.summaries.rows() {
        if filter.accepts(row) {
            let session = session_of(row, &by_memory_id, &sessions);
            add_summary(row, session, &mut memory);
        }
    }
    let find = |content_id: &str| sessions.get(*by_content_id.get(content_id)?);
    add_prompts(&tables.prompts, find, &mut filter, &mut memory);
    let names: Vec<_> = filter.others.iter().take(3).map(String::as_str).collect();
    let reason = format!("entries of other projects, such as {}", names.join(", "));
    memory.omissions.add(&reason, filter.skipped);
    memory
}

struct ProjectFilter<'p> {
    wanted: Option<&'p str>,
    skipped: u64,
    others: BTreeSet<String>,
}

impl ProjectFilter<'_> {
    fn accepts(&mut self, row: ForeignRow<'_>) -> bool {
        let merged = row.text("merged_into_project");
        self.accepts_name(&merged.or_else(|| row.text("project")).unwrap_or_default())
    }

    fn accepts_name(&mut self, name: &str) -> bool {
        // Worktrees are named `repository/worktree`.
        let is = |wanted: &str| name == wanted || name.split('/').next() == Some(wanted);
        let accepted = self.wanted.is_none_or(is);
        if !accepted {
            self.skipped += 1;
            self.others.insert(name.to_owned());
        }
        accepted
    }
}

fn read_session(row: ForeignRow<'_>) -> Option<SourceSession> {
    Some(SourceSession {
        content_id: row.text("content_session_id")?,
        project: row.text("project").unwrap_or_default(),
        started_at: time_of(row, "started_at"),
        ended_at: epoch(row, "completed_at_epoch"),
        title: row.text("custom_title"),
        platform: row.text("platform_source"),
    })
}

fn epoch(row: ForeignRow<'_>, column: &str) -> Option<Timestamp> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "milliseconds of any real date fit"
    )]
    time_of_number(row.integer(column)? as f64)
}

fn time_of(row: ForeignRow<'_>, column: &str) -> Option<Timestamp> {
    epoch(row, &format!("{column}_epoch")).or_else(|| parse_time(&row.text(column)?))
}

fn session_of<'s>(
    row: ForeignRow<'_>,
    by_memory_id: &HashMap<String, usize>,
    sessions: &'s [SourceSession],
) -> Option<&'s SourceSession> {
    sessions.get(*by_memory_id.get(&row.text("memory_session_id")?)?)
}

fn session_id(content_id: &str) -> String {
    format!("{PROGRAM}-{content_id}")
}

fn add_observation(
    row: ForeignRow<'_>,
    session: Option<&SourceSession>,
    memory: &mut ImportedMemory,
) {
    let parts = ["title", "subtitle", "narrative", "text"].map(|name| row.text(name));
    let [title, subtitle, narrative, text] = parts;
    let mut lines: Vec<String> = title.into_iter().chain(subtitle).collect();
    // Old versions have one text, new ones a narrative and facts.
    lines.extend(narrative.or(text));
    let facts = texts(row.json("facts").as_ref());
    lines.extend(facts.iter().map(|fact| format!("- {fact}")));
    if lines.is_empty() {
        return memory.omissions.add("observations without text", 1);
    }
    let mut origin = origin_of(row, session);
    let concepts = texts(row.json("concepts").as_ref());
    insert(&mut origin, "tags", json!(concepts));
    let name = row.text("type").unwrap_or_default();
    memory.entries.push(ImportedEntry {
        id: format!("observation {}", row.text("id").unwrap_or_default()),
        category: category(&name),
        text: lines.join("\n"),
        at: time_of(row, "created_at"),
        session: session.map(|session| session_id(&session.content_id)),
        origin,
        ..ImportedEntry::default()
    });
}

fn add_summary(row: ForeignRow<'_>, session: Option<&SourceSession>, memory: &mut ImportedMemory) {
    let part = |name: &str, column: &str| Some(format!("{name}: {}", row.text(column)?));
    let parts = [
        part("Request", "request"),
        part("Investigated", "investigated"),
        part("Learned", "learned"),
        part("Completed", "completed"),
        part("Next steps", "next_steps"),
        part("Notes", "notes"),
    ];
    let lines: Vec<String> = parts.into_iter().flatten().collect();
    if lines.is_empty() {
        return memory.omissions.add("summaries without text", 1);
    }
    memory.entries.push(ImportedEntry {
        id: format!("summary {}", row.text("id").unwrap_or_default()),
        category: "session summary".to_owned(),
        text: lines.join("\n"),
        at: time_of(row, "created_at"),
        session: session.map(|session| session_id(&session.content_id)),
        origin: origin_of(row, session),
        ..ImportedEntry::default()
    });
}

fn origin_of(row: ForeignRow<'_>, session: Option<&SourceSession>) -> Attrs {
    let mut origin = Attrs::new();
    insert_text(&mut origin, "id", row.text("id"));
    insert_text(&mut origin, "project", row.text("project"));
    let content_id = session.map(|session| session.content_id.clone());
    insert_text(&mut origin, "session", content_id);
    for name in ["files_read", "files_modified", "files_edited"] {
        let files = texts(row.json(name).as_ref());
        insert(&mut origin, name, json!(files));
    }
    if let Some(number) = row.integer("prompt_number") {
        insert(&mut origin, "prompt_number", Value::from(number));
    }
    origin
}

/// Adds the prompts as conversations, one for each session.
fn add_prompts<'s>(
    prompts: &ForeignTable,
    find: impl Fn(&str) -> Option<&'s SourceSession>,
    filter: &mut ProjectFilter<'_>,
    memory: &mut ImportedMemory,
) {
    let mut places: HashMap<String, usize> = HashMap::new();
    for row in prompts.rows() {
        let (Some(content_id), Some(text)) =
            (row.text("content_session_id"), row.text("prompt_text"))
        else {
            memory.omissions.add("prompts without session or text", 1);
            continue;
        };
        let session = find(&content_id);
        let project = session.map_or("", |session| session.project.as_str());
        if !filter.accepts_name(project) {
            continue;
        }
        let at = time_of(row, "created_at");
        let place = *places.entry(content_id.clone()).or_insert_with(|| {
            let started_at = session.and_then(|session| session.started_at).or(at);
            memory
                .conversations
                .push(new_conversation(&content_id, session, started_at));
            memory.conversations.len() - 1
        });
        let number = row.text("prompt_number").or_else(|| row.text("id"));
        memory.conversations[place].push(ImportedTurn {
            id: format!("prompt {}", number.unwrap_or_default()),
            role: Role::User,
            sender: None,
            text,
            at,
        });
    }
}

fn new_conversation(
    content_id: &str,
    session: Option<&SourceSession>,
    started_at: Option<Timestamp>,
) -> ImportedConversation {
    let mut attrs = Attrs::new();
    insert(&mut attrs, "session", json!(content_id));
    if let Some(session) = session {
        insert(&mut attrs, "project", json!(session.project));
        insert_text(&mut attrs, "title", session.title.clone());
        insert_text(&mut attrs, "platform", session.platform.clone());
    }
    ImportedConversation {
        id: session_id(content_id),
        agent: PROGRAM.to_owned(),
        started_at,
        ended_at: session.and_then(|session| session.ended_at),
        attrs,
        turns: Vec::new(),
    }
}
