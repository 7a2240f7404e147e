//! What a session knows of its window: how much of the conversation is stored, and what was asked for again.

use super::super::Engine;
use super::super::new_record::bad_name;
use super::super::outputs::id_of;
use super::{SessionWindow, WindowRequest, WrittenSummary};
use heirloom_model::record::{Attrs, check_name};
use heirloom_model::{ErrorKind, Fault, Message, Role, Session, Timestamp, limits, text};
use heirloom_store::Change;
use heirloom_window::{Conversation, Part, Report, State};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The attribute of a session that holds it.
const ATTR: &str = "window";

/// What is kept of a window beside its session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Known {
    /// Messages of the history whose turns are stored.
    messages: usize,
    /// What those were.
    chain: String,
    /// The first message that was not summarised.
    boundary: usize,
    /// Texts that were asked for again, and how long the history was then.
    expanded: BTreeMap<String, usize>,
    /// Summaries of its windows, the newest last.
    summaries: Vec<Summed>,
    /// The one that others were told of last.
    passed_on: String,
    /// The ids of what its last window left out.
    archives: Vec<String>,
}

/// A summary that a window had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Summed {
    /// The id of what it stands for.
    id: String,
    /// What a model wrote; nothing if it was made without one, which can be done again.
    #[serde(skip_serializing_if = "Option::is_none")]
    told: Option<Told>,
}

/// What a model wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Told {
    /// The text.
    pub(super) text: String,
    /// The model, by the name that it gives itself.
    #[serde(default)]
    pub(super) model: String,
    /// When it was asked for.
    #[serde(default)]
    pub(super) at: Option<Timestamp>,
}

impl Known {
    fn has_summary(&self, id: &str) -> bool {
        self.summaries.iter().any(|one| one.id == id)
    }

    /// Notes a summary; the oldest of too many are forgotten. One that is noted stays.
    fn add_summary(&mut self, id: &str, told: Option<Told>) {
        if !self.has_summary(id) {
            let id = id.to_owned();
            self.summaries.push(Summed { id, told });
            let over = self
                .summaries
                .len()
                .saturating_sub(limits::WINDOW_WRITTEN_MAX);
            self.summaries.drain(..over);
        }
    }
}

impl Engine {
    /// The name of a session as the store has it.
    pub(super) fn window_session_id(&self, id: &str) -> Result<String, Fault> {
        let id = self.clean(id.trim()).into_owned();
        check_name("session", &id).map_err(|bad| bad_name(&bad))?;
        Ok(id)
    }

    /// The state of a session's window.
    pub(super) fn window_state(&self, id: &str) -> Result<State, Fault> {
        let (_, known) = self.window_known(id)?;
        let mut state = State::default();
        state.expanded = known.expanded;
        let told = |one: Summed| Some((one.id, one.told?.text));
        state.summaries = known.summaries.into_iter().filter_map(told).collect();
        Ok(state)
    }

    /// What the session knows of its windows, without the files; nothing if it had none.
    pub(super) fn window_of(&self, session: &str) -> Result<Option<SessionWindow>, Fault> {
        let id = self.window_session_id(session)?;
        let row = self.store.session(&self.project, &id)?;
        if !row.attrs.contains_key(ATTR) {
            return Ok(None);
        }
        let (_, known) = self.window_known(&id)?;
        let written = |one: Summed| {
            let told = one.told?;
            Some(WrittenSummary {
                id: one.id,
                model: told.model,
                at: told.at,
                text: told.text,
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

    /// Whether a window of the session had this summary.
    pub(super) fn knows_summary(&self, session: &str, id: &str) -> Result<bool, Fault> {
        Ok(self.window_known(session)?.1.has_summary(id))
    }

    /// Whether others were told of this summary.
    pub(super) fn is_passed_on(&self, session: &str, id: &str) -> Result<bool, Fault> {
        Ok(self.window_known(session)?.1.passed_on == id)
    }

    /// Keeps what a model wrote, or that it wrote nothing. Whoever comes first decides for all processes.
    pub(super) fn keep_summary(
        &self,
        session: &str,
        id: &str,
        told: Option<Told>,
    ) -> Result<(), Fault> {
        let lock = self.window_lock()?;
        let (row, known) = self.window_known(session)?;
        let row = row.unwrap_or_else(|| self.empty_session(session));
        let mut now = known.clone();
        now.add_summary(id, told);
        self.put_known(row, &known, &now)?;
        drop(lock);
        Ok(())
    }

    /// The session, if it is here.
    pub(super) fn window_session(&self, id: &str) -> Result<Option<Session>, Fault> {
        match self.store.session(&self.project, id).map_err(Fault::from) {
            Ok(session) => Ok(Some(session)),
            Err(fault) if fault.kind == ErrorKind::NotFound => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// The session, if it is here, and what it knows of its window.
    fn window_known(&self, id: &str) -> Result<(Option<Session>, Known), Fault> {
        let session = self.window_session(id)?;
        let known = session.as_ref().and_then(|session| session.attrs.get(ATTR));
        // What somebody else wrote there is as good as nothing: it can be found out again.
        let known = known.and_then(|value| serde_json::from_value(value.clone()).ok());
        Ok((session, known.unwrap_or_default()))
    }

    /// Stores the turns that the session lacks.
    pub(super) fn keep_turns(
        &self,
        conversation: &Conversation,
        report: &Report,
        request: &WindowRequest<'_>,
        id: &str,
    ) -> Result<(), Fault> {
        let (session, known) = self.window_known(id)?;
        let is_new = session.is_none();
        let mut session = session.unwrap_or_else(|| self.empty_session(id));
        if session.agent.is_none() {
            session.agent = request.agent.map(|name| self.clean(name).into_owned());
        }
        let as_before = known.messages <= conversation.messages.len()
            && chain(conversation, known.messages) == known.chain;
        let from = if as_before { known.messages } else { 0 };
        let mut changes = vec![Change::TakeSession(Box::new(session.clone()))];
        for at in from..conversation.messages.len() {
            changes.extend(self.turn(&session, conversation, at));
        }
        if is_new || changes.len() > 1 {
            self.apply_in_parts(&changes)?;
        }
        let mut now = Known {
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
            now.passed_on.clone_from(&summary.id);
        }
        self.put_known(session, &known, &now)
    }

    /// Remembers that a text was asked for again: from here on it is not shortened.
    pub(super) fn remember_expanded(&self, id: &str, text_id: &str) -> Result<(), Fault> {
        self.writable()?;
        let lock = self.window_lock()?;
        let (session, known) = self.window_known(id)?;
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
        self.put_known(session, &known, &now)?;
        drop(lock);
        Ok(())
    }

    fn put_known(&self, mut session: Session, before: &Known, now: &Known) -> Result<(), Fault> {
        if before == now {
            return Ok(());
        }
        let value = serde_json::to_value(now)
            .map_err(|error| Fault::failed(format!("the state of a window: {error}")))?;
        session.attrs.insert(ATTR.to_owned(), value);
        self.put_session(&session)
    }

    fn empty_session(&self, id: &str) -> Session {
        Session {
            project: self.project.clone(),
            id: id.to_owned(),
            agent: None,
            task: None,
            started_at: self.now(),
            ended_at: None,
            attrs: Attrs::new(),
        }
    }

    /// The turn of a message; nothing for what is ours or says nothing.
    fn turn(&self, session: &Session, conversation: &Conversation, at: usize) -> Option<Change> {
        let message = conversation.messages.get(at)?;
        if message.own.is_some() {
            return None;
        }
        let said = said(message);
        let said = said.trim_end();
        if said.is_empty() {
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
            // The same message of the same session is the same turn, however often it comes.
            id: id_of(session.started_at, &[&session.id, &at.to_string(), &hash]),
            seq: 0,
            role: role(message),
            sender: None,
            text: said.to_owned(),
            attrs: Attrs::new(),
            tokens: u32::try_from(text::tokens(said)).unwrap_or(u32::MAX),
            at: when.unwrap_or_else(|| self.now()),
        };
        Some(Change::TakeMessage {
            session: session.id.clone(),
            message: Box::new(message),
        })
    }
}

fn role(message: &heirloom_window::Message) -> Role {
    match message.role {
        heirloom_window::Role::System => Role::System,
        heirloom_window::Role::User => Role::User,
        heirloom_window::Role::Tool => Role::ToolResult,
        heirloom_window::Role::Assistant if message.texts().next().is_none() => Role::ToolCall,
        heirloom_window::Role::Assistant => Role::Assistant,
    }
}

/// What a message says, its calls and outputs included.
fn said(message: &heirloom_window::Message) -> String {
    let mut out = String::new();
    for part in &message.parts {
        let said = match part {
            Part::Text { text, .. } => text.clone(),
            Part::Call(call) => format!("{} {}", call.name, call.arguments),
            Part::Output(output) => output.text.clone(),
            Part::Thinking { .. } | Part::Image { .. } | Part::Unknown { .. } => continue,
        };
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&said);
    }
    if out.len() > limits::SESSION_ADD_BYTES_MAX {
        out.truncate(out.floor_char_boundary(limits::SESSION_ADD_BYTES_MAX));
    }
    out
}

/// What identifies the first messages of a history.
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
