//! Window state of a session: number of stored messages, expanded texts and summaries.

use super::super::new_record::name_fault;
use super::{SessionWindow, WindowRequest, WrittenSummary};
use crate::engine::Windows;
use crate::engine::apply_in_parts;
use heirloom_model::record::{Attrs, check_name};
use heirloom_model::{ErrorKind, Fault, Message, RecordId, Role, Session, Timestamp, limits, text};
use heirloom_store::Change;
use heirloom_window::{CompactionReport, Conversation, MessagePart, WindowState};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Session attribute with the window state.
const ATTR: &str = "window";

/// Window state, as it is stored with its session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct SessionWindowState {
    /// Messages of the history whose turns are stored.
    #[serde(rename = "messages")]
    messages: usize,
    /// Hash of these messages.
    #[serde(rename = "chain")]
    chain: String,
    /// Index of the first message that is not summarised.
    #[serde(rename = "boundary")]
    boundary: usize,
    /// Ids of expanded texts, each with the length of the history at that time.
    #[serde(rename = "expanded")]
    expanded: BTreeMap<String, usize>,
    /// Summaries of its windows, newest last.
    #[serde(rename = "summaries")]
    summaries: Vec<StoredSummary>,
    /// Id of the last published summary.
    #[serde(rename = "passed_on")]
    published: String,
    /// Ids of what its last window left out.
    #[serde(rename = "archives")]
    archives: Vec<String>,
}

/// Summary of a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StoredSummary {
    /// The id.
    #[serde(rename = "id")]
    id: String,
    /// Text by a model; `None` for a summary without one, which is reproducible.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "told")]
    by_model: Option<ModelSummary>,
}

/// Summary that a model wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ModelSummary {
    /// The text.
    #[serde(rename = "text")]
    pub(super) text: String,
    /// Name of the model, as it reports it.
    #[serde(default)]
    #[serde(rename = "model")]
    pub(super) model: String,
    /// Time of the request.
    #[serde(default)]
    #[serde(rename = "at")]
    pub(super) at: Option<Timestamp>,
}

impl SessionWindowState {
    fn has_summary(&self, id: &str) -> bool {
        self.summaries.iter().any(|one| one.id == id)
    }

    /// Adds a summary unless it is known; drops the oldest beyond the limit.
    fn add_summary(&mut self, id: &str, by_model: Option<ModelSummary>) {
        if !self.has_summary(id) {
            let id = id.to_owned();
            self.summaries.push(StoredSummary { id, by_model });
            let over = self
                .summaries
                .len()
                .saturating_sub(limits::MODEL_SUMMARIES_MAX);
            self.summaries.drain(..over);
        }
    }
}

impl Windows<'_> {
    /// Returns the session id as it is stored.
    pub(super) fn window_session_id(&self, id: &str) -> Result<String, Fault> {
        let id = self.engine.redaction().redact_input(id.trim()).into_owned();
        check_name("session", &id).map_err(|bad| name_fault(&bad))?;
        Ok(id)
    }

    /// Returns the compaction state of a session.
    pub(super) fn window_state(&self, id: &str) -> Result<WindowState, Fault> {
        let (_, known) = self.load_window_state(id)?;
        let mut state = WindowState::default();
        state.expanded = known.expanded;
        let by_model = |one: StoredSummary| Some((one.id, one.by_model?.text));
        state.summaries = known.summaries.into_iter().filter_map(by_model).collect();
        Ok(state)
    }

    /// Returns the window state of a session without files; `None` if it has none.
    pub(super) fn window_of(&self, session: &str) -> Result<Option<SessionWindow>, Fault> {
        let id = self.window_session_id(session)?;
        let row = self.engine.store.session(&self.engine.project, &id)?;
        if !row.attrs.contains_key(ATTR) {
            return Ok(None);
        }
        let (_, known) = self.load_window_state(&id)?;
        let written = |one: StoredSummary| {
            let by_model = one.by_model?;
            Some(WrittenSummary {
                id: one.id,
                model: by_model.model,
                at: by_model.at,
                text: by_model.text,
            })
        };
        Ok(Some(SessionWindow {
            messages: known.messages,
            boundary: known.boundary,
            expanded: known.expanded.into_keys().collect(),
            summaries: known.summaries.into_iter().filter_map(written).collect(),
            archives: known.archives.into_iter().map(|id| (id, None)).collect(),
        }))
    }

    /// Returns true if a window of the session had this summary.
    pub(super) fn knows_summary(&self, session: &str, id: &str) -> Result<bool, Fault> {
        Ok(self.load_window_state(session)?.1.has_summary(id))
    }

    /// Returns true if this summary is published.
    pub(super) fn is_published(&self, session: &str, id: &str) -> Result<bool, Fault> {
        Ok(self.load_window_state(session)?.1.published == id)
    }

    /// Stores a model's summary, or its absence. The first process decides for all others.
    pub(super) fn store_summary(
        &self,
        session: &str,
        id: &str,
        by_model: Option<ModelSummary>,
    ) -> Result<(), Fault> {
        let lock = self.window_lock()?;
        let (row, known) = self.load_window_state(session)?;
        let row = row.unwrap_or_else(|| self.empty_session(session));
        let mut now = known.clone();
        now.add_summary(id, by_model);
        self.save_window_state(row, &known, &now)?;
        drop(lock);
        Ok(())
    }

    /// Returns the session, if it is stored.
    pub(super) fn window_session(&self, id: &str) -> Result<Option<Session>, Fault> {
        match self
            .engine
            .store
            .session(&self.engine.project, id)
            .map_err(Fault::from)
        {
            Ok(session) => Ok(Some(session)),
            Err(fault) if fault.kind == ErrorKind::NotFound => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Returns the stored session and its window state.
    fn load_window_state(&self, id: &str) -> Result<(Option<Session>, SessionWindowState), Fault> {
        let session = self.window_session(id)?;
        let known = session.as_ref().and_then(|session| session.attrs.get(ATTR));
        // An unreadable state is treated as empty: it can be recomputed.
        let known = known.and_then(|value| serde_json::from_value(value.clone()).ok());
        Ok((session, known.unwrap_or_default()))
    }

    /// Stores the turns that are missing in the session.
    pub(super) fn store_turns(
        &self,
        conversation: &Conversation,
        report: &CompactionReport,
        request: &WindowRequest<'_>,
        id: &str,
    ) -> Result<(), Fault> {
        let (session, known) = self.load_window_state(id)?;
        let is_new = session.is_none();
        let mut session = session.unwrap_or_else(|| self.empty_session(id));
        if session.agent.is_none() {
            session.agent = request
                .agent
                .map(|name| self.engine.redaction().redact_input(name).into_owned());
        }
        let as_before = known.messages <= conversation.messages.len()
            && chain(conversation, known.messages) == known.chain;
        let from = if as_before { known.messages } else { 0 };
        let mut changes = vec![Change::ImportSession(Box::new(session.clone()))];
        for at in from..conversation.messages.len() {
            changes.extend(self.turn_change(&session, conversation, at));
        }
        if is_new || changes.len() > 1 {
            apply_in_parts(self.engine, &changes)?;
        }
        let mut now = SessionWindowState {
            messages: conversation.messages.len(),
            chain: chain(conversation, conversation.messages.len()),
            boundary: report.boundary,
            ..known.clone()
        };
        let dropped = report.dropped.iter().map(|one| one.id.clone());
        now.archives = dropped.collect();
        let over = now
            .archives
            .len()
            .saturating_sub(limits::WINDOW_ARCHIVES_MAX);
        now.archives.drain(..over);
        if let Some(summary) = &report.summary {
            now.add_summary(&summary.id, None);
            now.published.clone_from(&summary.id);
        }
        self.save_window_state(session, &known, &now)
    }

    /// Marks a text as expanded: from now on it is not shortened.
    pub(super) fn remember_expanded(&self, id: &str, text_id: &str) -> Result<(), Fault> {
        self.engine.require_memory()?;
        let lock = self.window_lock()?;
        let (session, known) = self.load_window_state(id)?;
        let session = session.unwrap_or_else(|| self.empty_session(id));
        let mut now = known.clone();
        now.expanded
            .entry(text_id.to_owned())
            .or_insert(known.messages);
        while now.expanded.len() > limits::WINDOW_EXPANDED_MAX {
            let oldest = now.expanded.iter().min_by_key(|(_, from)| **from);
            let Some(oldest) = oldest.map(|(id, _)| id.clone()) else {
                break;
            };
            now.expanded.remove(&oldest);
        }
        self.save_window_state(session, &known, &now)?;
        drop(lock);
        Ok(())
    }

    fn save_window_state(
        &self,
        mut session: Session,
        before: &SessionWindowState,
        now: &SessionWindowState,
    ) -> Result<(), Fault> {
        if before == now {
            return Ok(());
        }
        let value = serde_json::to_value(now)
            .map_err(|error| Fault::failed(format!("the state of a window: {error}")))?;
        session.attrs.insert(ATTR.to_owned(), value);
        self.engine.sessions().put_session(&session)
    }

    fn empty_session(&self, id: &str) -> Session {
        Session {
            project: self.engine.project.clone(),
            id: id.to_owned(),
            agent: None,
            task: None,
            started_at: self.engine.now(),
            ended_at: None,
            attrs: Attrs::new(),
        }
    }

    /// Returns the turn of a message; `None` for Heirloom's own and for empty ones.
    fn turn_change(
        &self,
        session: &Session,
        conversation: &Conversation,
        at: usize,
    ) -> Option<Change> {
        let message = conversation.messages.get(at)?;
        if message.inserted.is_some() {
            return None;
        }
        let text = message_text(message);
        let text = text.trim_end();
        if text.is_empty() {
            return None;
        }
        let hash: String = message
            .hash
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let when = message
            .time_ms
            .and_then(|ms| Timestamp::from_millisecond(ms).ok());
        let message = Message {
            // A repeated message of a session gets the same id.
            id: RecordId::from_parts(session.started_at, &[&session.id, &at.to_string(), &hash]),
            seq: 0,
            role: role(message),
            sender: None,
            text: text.to_owned(),
            attrs: Attrs::new(),
            tokens: u32::try_from(text::tokens(text)).unwrap_or(u32::MAX),
            at: when.unwrap_or_else(|| self.engine.now()),
        };
        Some(Change::ImportMessage {
            session: session.id.clone(),
            message: Box::new(message),
        })
    }
}

fn role(message: &heirloom_window::ChatMessage) -> Role {
    match message.role {
        heirloom_window::ChatRole::System => Role::System,
        heirloom_window::ChatRole::User => Role::User,
        heirloom_window::ChatRole::Tool => Role::ToolResult,
        heirloom_window::ChatRole::Assistant if message.texts().next().is_none() => Role::ToolCall,
        heirloom_window::ChatRole::Assistant => Role::Assistant,
    }
}

/// Returns the text of a message, including calls and outputs.
fn message_text(message: &heirloom_window::ChatMessage) -> String {
    let mut out = String::new();
    for part in &message.parts {
        let part_text = match part {
            MessagePart::Text { text, .. } => text.clone(),
            MessagePart::Call(call) => format!("{} {}", call.name, call.arguments),
            MessagePart::Output(output) => output.text.clone(),
            MessagePart::Thinking { .. }
            | MessagePart::Image { .. }
            | MessagePart::Unknown { .. } => continue,
        };
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&part_text);
    }
    if out.len() > limits::SESSION_ADD_BYTES_MAX {
        out.truncate(out.floor_char_boundary(limits::SESSION_ADD_BYTES_MAX));
    }
    out
}

/// Returns a hash of the first `count` messages (FNV-1a).
fn chain(conversation: &Conversation, count: usize) -> String {
    let mut sum: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in conversation
        .messages
        .iter()
        .take(count)
        .flat_map(|message| message.hash)
    {
        sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{sum:016x}")
}

#[cfg(test)]
mod stored_form_tests;
