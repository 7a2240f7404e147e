//! Context windows of conversations: compaction of a history, and storage of what it leaves out.

mod archive_files;
mod content_expansion;
mod dropped_content;
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
use heirloom_model::{Fault, limits};
use heirloom_window::{CompactionReport, Conversation, Policy, WindowState, WireFormat};
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
        let mut made = heirloom_window::compact_filtered(
            &conversation,
            request.policy,
            &mut state,
            &self.engine.redaction(),
        );
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
}
