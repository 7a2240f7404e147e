//! Context windows of conversations: compaction of a history, and storage of what it leaves out.

mod archive_files;
mod model_summary;
mod spend_ledger;
mod summary_publishing;
mod window_state;
mod window_timeline;

pub use model_summary::Summariser;
pub use spend_ledger::SpendLedger;
pub use window_timeline::{TimelinePoint, WindowTimeline};

use super::Engine;
use archive_files::WindowFolder;
use heirloom_fs::durable;
use heirloom_model::{Fault, limits, text};
use heirloom_window::{
    CompactedWindow, CompactionReport, Conversation, Policy, WindowState, WireFormat,
};
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::PathBuf;

/// Lock of the window files.
const LOCK: &str = "window.lock";

/// History that should fit into a window.
#[derive(Debug, Clone, Copy)]
pub struct WindowRequest<'a> {
    /// An array of messages, or a complete request body.
    pub history: &'a str,
    /// The provider's wire format; detected by default.
    pub form: Option<WireFormat>,
    /// Model for price lookups; takes precedence over the one in a request body.
    pub model: Option<&'a str>,
    /// Compaction policy.
    pub policy: &'a Policy,
    /// Session of the conversation; created if it is missing.
    pub session: Option<&'a str>,
    /// Name of the agent, for file names of archives.
    pub agent: Option<&'a str>,
    /// Group whose summary gets this conversation's summary; only with a session.
    pub group: Option<&'a str>,
}

/// Result of a compaction.
#[derive(Debug, Clone)]
pub struct CompactionResult {
    /// The window, in the wire format of the history.
    pub json: String,
    /// Report of the changes.
    pub report: CompactionReport,
    /// Wire format of the history.
    pub form: WireFormat,
    /// Written files, in order.
    pub written: Vec<PathBuf>,
    /// Problems that did not fail the compaction.
    pub notes: Vec<String>,
}

/// Full content of something that a window has only in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpandedContent {
    /// The id.
    pub id: String,
    /// File with the content.
    pub file: PathBuf,
    /// The full content.
    pub content: ArchivedContent,
}

/// Window state of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionWindow {
    /// Messages of the history whose turns are stored.
    pub messages: usize,
    /// Index of the first message that is not summarised.
    pub boundary: usize,
    /// Ids of expanded texts.
    pub expanded: Vec<String>,
    /// Summaries by a model, oldest first.
    pub summaries: Vec<WrittenSummary>,
    /// Ids of the parts that the last window left out, oldest first, with their files; `None` for a missing file.
    pub archives: Vec<(String, Option<PathBuf>)>,
}

/// Summary that a model wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenSummary {
    /// Id of the summary.
    pub id: String,
    /// Name of the model, as it reports it.
    pub model: String,
    /// Time of the request.
    pub at: Option<heirloom_model::Timestamp>,
    /// Text of the summary.
    pub text: String,
}

/// Content behind an id in a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArchivedContent {
    /// Text of a tool output.
    Text(String),
    /// Messages, each as its original JSON.
    Messages(Vec<String>),
}

/// Windows over long conversations: compaction, expansion, summaries.
#[derive(Clone, Copy)]
pub struct Windows<'e> {
    pub(super) engine: &'e Engine,
}

impl Windows<'_> {
    /// Compacts a history into a window. When this returns, everything that the window leaves out is on disk.
    ///
    /// The result depends only on history and policy, unless a model has summarised this session: its later windows
    /// contain that summary. Errors: `Usage` for an invalid history, with the index of the message.
    pub fn compact(&self, request: &WindowRequest<'_>) -> Result<CompactionResult, Fault> {
        let mut conversation = Conversation::parse(request.history, request.form)?;
        if let Some(model) = request.model {
            conversation.model = Some(model.to_owned());
        }
        let session = request.session.map(|id| self.window_session_id(id));
        let session = session.transpose()?;
        let mut state = match &session {
            Some(id) => self.window_state(id)?,
            None => WindowState::default(),
        };
        let mut made = heirloom_window::compact(&conversation, request.policy, &mut state);
        let mut notes = Vec::new();
        if let Some(id) = &session {
            (made, notes) =
                self.summarize_with_model(&conversation, request, id, &mut state, made)?;
        }
        let written = self.store_parts(
            &conversation,
            &made,
            request,
            session.as_deref(),
            &mut notes,
        )?;
        Ok(CompactionResult {
            json: made.to_json(&conversation),
            report: made.report,
            form: conversation.format,
            written,
            notes,
        })
    }

    /// Returns the full, redacted content that a window left out under this id. With a session the text is marked as
    /// expanded and not shortened again.
    ///
    /// Errors: `NotFound`.
    pub fn expand(&self, id: &str, session: Option<&str>) -> Result<ExpandedContent, Fault> {
        let wanted = id.trim();
        let session = session.map(|id| self.window_session_id(id)).transpose()?;
        let found = match WindowFolder::overflow(&self.engine.folder)?.find(wanted)? {
            Some(path) => ExpandedContent {
                id: wanted.to_owned(),
                content: ArchivedContent::Text(archive_files::read_text(&path)?),
                file: path,
            },
            None => self.expand_messages(wanted)?,
        };
        if let Some(session) = &session {
            self.remember_expanded(session, &found.id)?;
        }
        Ok(found)
    }

    /// Stores a full, redacted output; returns its id and file.
    pub fn store_output(&self, tool: &str, whole: &str) -> Result<(String, PathBuf), Fault> {
        self.engine.require_memory()?;
        let lock = self.window_lock()?;
        let mut folder = WindowFolder::overflow(&self.engine.folder)?;
        let id = text::hash16(whole);
        let path = match folder.find(&id)? {
            Some(path) => path,
            None => folder.write(
                &archive_files::overflow_name(&id, tool),
                self.engine.redaction().redact_input(whole).as_bytes(),
            )?,
        };
        drop(lock);
        Ok((id, path))
    }

    /// Returns the window state of a session; `None` if it has none. Errors: `NotFound` for an unknown session.
    pub fn session(&self, session: &str) -> Result<Option<SessionWindow>, Fault> {
        let Some(mut found) = self.window_of(session)? else {
            return Ok(None);
        };
        let mut folder = WindowFolder::archive(&self.engine.folder)?;
        for (id, file) in &mut found.archives {
            let hex = id.strip_prefix(archive_files::ARCHIVE_ID).unwrap_or(id);
            *file = folder.find(hex)?;
        }
        Ok(Some(found))
    }

    /// Lists the files of what windows left out.
    pub(super) fn window_files(&self) -> Result<Vec<PathBuf>, Fault> {
        let mut all = WindowFolder::overflow(&self.engine.folder)?.files()?;
        all.extend(WindowFolder::archive(&self.engine.folder)?.files()?);
        Ok(all)
    }

    fn expand_messages(&self, wanted: &str) -> Result<ExpandedContent, Fault> {
        let hex = wanted
            .strip_prefix(archive_files::ARCHIVE_ID)
            .unwrap_or(wanted);
        let Some(path) = WindowFolder::archive(&self.engine.folder)?.find(hex)? else {
            let shown = text::excerpt(wanted, 60);
            return Err(
                Fault::not_found(format!("nothing is stored under `{shown}`")).hint(
                    "ids are in shortened outputs, summaries, and the report of `heirloom compact`",
                ),
            );
        };
        let text = archive_files::read_text(&path)?;
        Ok(ExpandedContent {
            id: format!("{}{hex}", archive_files::ARCHIVE_ID),
            content: ArchivedContent::Messages(archive_files::parse_messages(&text, &path)?),
            file: path,
        })
    }

    /// Stores what the window leaves out; for a session also its turns.
    fn store_parts(
        &self,
        conversation: &Conversation,
        made: &CompactedWindow,
        request: &WindowRequest<'_>,
        session: Option<&str>,
        notes: &mut Vec<String>,
    ) -> Result<Vec<PathBuf>, Fault> {
        let lacks = made
            .report
            .shortened
            .iter()
            .any(|one| one.full_text_at.is_some())
            || !made.report.dropped.is_empty();
        if !lacks && session.is_none() {
            return Ok(Vec::new());
        }
        self.engine.require_memory()?;
        let lock = self.window_lock()?;
        let mut written = Vec::new();
        if lacks {
            self.store_outputs(conversation, made, &mut written)?;
            self.store_dropped(conversation, made, request, session, &mut written)?;
        }
        if let Some(session) = session {
            if let Some(summary) = &made.report.summary
                && !self.is_published(session, &summary.id)?
            {
                notes.extend(self.publish_summary(made, request, session)?);
            }
            self.store_turns(conversation, &made.report, request, session)?;
        }
        drop(lock);
        Ok(written)
    }

    /// Locks the window files against other processes.
    fn window_lock(&self) -> Result<durable::Lock, Fault> {
        if !self.engine.folder.is_dir() {
            durable::create_dir_private(&self.engine.folder)?;
        }
        Ok(durable::lock(
            &self.engine.folder.join(LOCK),
            limits::FILE_LOCK_MS,
        )?)
    }

    fn store_outputs(
        &self,
        conversation: &Conversation,
        made: &CompactedWindow,
        written: &mut Vec<PathBuf>,
    ) -> Result<(), Fault> {
        let mut folder = WindowFolder::overflow(&self.engine.folder)?;
        for one in made.overflows(conversation) {
            if folder.has(one.id, one.name)? {
                continue;
            }
            let tool = (made.report.shortened.iter())
                .find(|shortened| shortened.id == one.id)
                .map_or("", |shortened| shortened.tool.as_str());
            let name = match one.name {
                Some(name) => archive_files::file_name(name).to_owned(),
                None => archive_files::overflow_name(one.id, tool),
            };
            written.push(folder.write(
                &name,
                self.engine.redaction().redact_input(one.text).as_bytes(),
            )?);
        }
        Ok(())
    }

    fn store_dropped(
        &self,
        conversation: &Conversation,
        made: &CompactedWindow,
        request: &WindowRequest<'_>,
        session: Option<&str>,
        written: &mut Vec<PathBuf>,
    ) -> Result<(), Fault> {
        if made.report.dropped.is_empty() {
            return Ok(());
        }
        let mut folder = WindowFolder::archive(&self.engine.folder)?;
        let known = session.map(|id| self.window_session(id)).transpose()?;
        let agent = known.flatten().and_then(|session| session.agent);
        let agent = request
            .agent
            .map(|name| self.engine.redaction().redact_input(name).into_owned())
            .or(agent);
        let agent = agent.unwrap_or_else(|| "agent".to_owned());
        for dropped in &made.report.dropped {
            let hex = dropped
                .id
                .strip_prefix(archive_files::ARCHIVE_ID)
                .unwrap_or(&dropped.id);
            if folder.has(hex, None)? {
                continue;
            }
            let head = archive_files::ArchiveHeader {
                id: &dropped.id,
                agent: &agent,
                session,
                form: conversation.format.as_str(),
                at: self.engine.now(),
            };
            let messages = self.redact_messages(&conversation.archive(dropped))?;
            let name = archive_files::archive_name(&head, hex);
            let text = archive_files::archive_json(&head, &messages);
            let (name, bytes) = match self.engine.settings.archive_gzip {
                true => archive_files::compress(&name, &text)?,
                false => (name, text.into_bytes()),
            };
            written.push(folder.write(&name, &bytes)?);
        }
        Ok(())
    }

    /// Redacts messages; messages without secrets stay unchanged, byte for byte.
    fn redact_messages(&self, array: &str) -> Result<Vec<String>, Fault> {
        let raw: Vec<&RawValue> = serde_json::from_str(array).map_err(|error| {
            Fault::failed(format!("dropped messages are not valid JSON: {error}"))
        })?;
        Ok(raw
            .into_iter()
            .map(|one| self.redact_message(one.get()))
            .collect())
    }

    fn redact_message(&self, raw: &str) -> String {
        let Ok(mut value) = serde_json::from_str::<Value>(raw) else {
            // The JSON is nested too deeply to be redacted; its redacted text is stored instead.
            return Value::String(self.engine.redaction().redact_input(raw).into_owned())
                .to_string();
        };
        let mut kinds = Vec::new();
        self.engine.redactor.redact_value(&mut value, &mut kinds);
        if kinds.is_empty() {
            raw.to_owned()
        } else {
            value.to_string()
        }
    }
}
