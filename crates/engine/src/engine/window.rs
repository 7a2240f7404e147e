//! The window of a conversation: what of a history is sent, and where the rest is kept.

mod files;
mod passed_on;
mod purse;
mod session;
mod told;
mod writing;

pub use purse::Purse;
pub use told::{WindowPoint, WindowStory};
pub use writing::Summariser;

use super::Engine;
use files::Kept;
use heirloom_model::{Fault, limits, text};
use heirloom_store::durable;
use heirloom_window::{Compacted, Conversation, Form, Policy, Report, State};
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::PathBuf;

/// The lock of what windows keep.
const LOCK: &str = "window.lock";

/// A history that shall fit a window.
#[derive(Debug, Clone, Copy)]
pub struct WindowRequest<'a> {
    /// An array of messages, or a whole request body.
    pub history: &'a str,
    /// The provider's form; without one its looks decide.
    pub form: Option<Form>,
    /// The model that it is for, whatever a request body says: prices are looked up by it.
    pub model: Option<&'a str>,
    /// How the window is kept.
    pub policy: &'a Policy,
    /// The session whose conversation it is; it comes into being with it.
    pub session: Option<&'a str>,
    /// The agent that has it: archives are called after it.
    pub agent: Option<&'a str>,
    /// The group whose summary says what this conversation came to; only with a session.
    pub group: Option<&'a str>,
}

/// What is to be sent, and what was kept so that nothing is lost.
#[derive(Debug, Clone)]
pub struct Windowed {
    /// The window, in the shape of the history.
    pub json: String,
    /// What was done.
    pub report: Report,
    /// The form of the history.
    pub form: Form,
    /// Files that were written, in order.
    pub written: Vec<PathBuf>,
    /// What did not go as it was wanted, and is no reason to fail.
    pub notes: Vec<String>,
}

/// Something that a window holds only in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expanded {
    /// Its id.
    pub id: String,
    /// The file that holds it.
    pub file: PathBuf,
    /// All of it.
    pub whole: Whole,
}

/// What a session knows of its windows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionWindow {
    /// Messages of the history whose turns are stored.
    pub messages: usize,
    /// The first message of the input that is not summed up.
    pub boundary: usize,
    /// The ids of texts that were asked for again.
    pub expanded: Vec<String>,
    /// Summaries by a model, oldest first: id, model, when, text.
    pub summaries: Vec<WrittenSummary>,
    /// What its last window left out, oldest first, and the files that hold it; none where they are gone.
    pub archives: Vec<(String, Option<PathBuf>)>,
}

/// A summary that a model wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenSummary {
    /// What it stands for.
    pub id: String,
    /// The model, by the name that it gives itself.
    pub model: String,
    /// When it was asked for.
    pub at: Option<heirloom_model::Timestamp>,
    /// What it says.
    pub text: String,
}

/// What an id of a window stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whole {
    /// The text of an output.
    Text(String),
    /// Messages, each as the JSON that it came as.
    Messages(Vec<String>),
}

impl Engine {
    /// The window of a history. When it returns, whatever the window lacks is on the disk.
    ///
    /// The same history and policy give the same window, whatever is stored, unless a model wrote the summary for a
    /// session: then that session's windows have it from there on. Errors: `Usage` for a history that is
    /// none, with the message's index.
    pub fn compact(&self, request: &WindowRequest<'_>) -> Result<Windowed, Fault> {
        let mut conversation = Conversation::parse(request.history, request.form)?;
        if let Some(model) = request.model {
            conversation.model = Some(model.to_owned());
        }
        let session = request.session.map(|id| self.window_session_id(id));
        let session = session.transpose()?;
        let mut state = match &session {
            Some(id) => self.window_state(id)?,
            None => State::default(),
        };
        let mut made = heirloom_window::compact(&conversation, request.policy, &mut state);
        let mut notes = Vec::new();
        if let Some(id) = &session {
            (made, notes) = self.summed_up(&conversation, request, id, &mut state, made)?;
        }
        let written = self.keep_parts(
            &conversation,
            &made,
            request,
            session.as_deref(),
            &mut notes,
        )?;
        Ok(Windowed {
            json: made.to_json(&conversation),
            report: made.report,
            form: conversation.form,
            written,
            notes,
        })
    }

    /// What a window left out under this id, whole but for secrets. For a session it is remembered that it was asked
    /// for: it is not shortened again.
    ///
    /// Errors: `NotFound`.
    pub fn expand(&self, id: &str, session: Option<&str>) -> Result<Expanded, Fault> {
        let wanted = id.trim();
        let session = session.map(|id| self.window_session_id(id)).transpose()?;
        let found = match Kept::overflow(&self.folder)?.find(wanted)? {
            Some(path) => Expanded {
                id: wanted.to_owned(),
                whole: Whole::Text(files::text_of(&path)?),
                file: path,
            },
            None => self.expand_messages(wanted)?,
        };
        if let Some(session) = &session {
            self.remember_expanded(session, &found.id)?;
        }
        Ok(found)
    }

    /// Keeps an output whole, but for secrets, and says its id and its file.
    pub(super) fn keep_output(&self, tool: &str, whole: &str) -> Result<(String, PathBuf), Fault> {
        self.writable()?;
        let lock = self.window_lock()?;
        let mut kept = Kept::overflow(&self.folder)?;
        let id = text::hash16(whole);
        let path = match kept.find(&id)? {
            Some(path) => path,
            None => kept.write(
                &files::overflow_name(&id, tool),
                self.clean(whole).as_bytes(),
            )?,
        };
        drop(lock);
        Ok((id, path))
    }

    /// What a session knows of its windows; nothing if it had none. Errors: `NotFound` for a session that is none.
    pub fn session_window(&self, session: &str) -> Result<Option<SessionWindow>, Fault> {
        let Some(mut found) = self.window_of(session)? else {
            return Ok(None);
        };
        let mut kept = Kept::archive(&self.folder)?;
        for (id, file) in &mut found.archives {
            let hex = id.strip_prefix(files::ARCHIVE_ID).unwrap_or(id);
            *file = kept.find(hex)?;
        }
        Ok(Some(found))
    }

    /// The files of what windows left out.
    pub(super) fn window_files(&self) -> Result<Vec<PathBuf>, Fault> {
        let mut all = Kept::overflow(&self.folder)?.files()?;
        all.extend(Kept::archive(&self.folder)?.files()?);
        Ok(all)
    }

    fn expand_messages(&self, wanted: &str) -> Result<Expanded, Fault> {
        let hex = wanted.strip_prefix(files::ARCHIVE_ID).unwrap_or(wanted);
        let Some(path) = Kept::archive(&self.folder)?.find(hex)? else {
            let shown = text::excerpt(wanted, 60);
            return Err(Fault::not_found(format!("nothing is kept under `{shown}`"))
                .hint("ids stand in shortened outputs, in summaries, and in the report of `heirloom compact`"));
        };
        let said = files::text_of(&path)?;
        Ok(Expanded {
            id: format!("{}{hex}", files::ARCHIVE_ID),
            whole: Whole::Messages(files::messages_in(&said, &path)?),
            file: path,
        })
    }

    /// Keeps what the window lacks; for a session also its turns.
    fn keep_parts(
        &self,
        conversation: &Conversation,
        made: &Compacted,
        request: &WindowRequest<'_>,
        session: Option<&str>,
        notes: &mut Vec<String>,
    ) -> Result<Vec<PathBuf>, Fault> {
        let lacks = made.report.shortened.iter().any(|one| one.whole.is_some())
            || !made.report.dropped.is_empty();
        if !lacks && session.is_none() {
            return Ok(Vec::new());
        }
        self.writable()?;
        let lock = self.window_lock()?;
        let mut written = Vec::new();
        if lacks {
            self.keep_outputs(conversation, made, &mut written)?;
            self.keep_dropped(conversation, made, request, session, &mut written)?;
        }
        if let Some(session) = session {
            if let Some(summary) = &made.report.summary
                && !self.is_passed_on(session, &summary.id)?
            {
                notes.extend(self.pass_on(made, request, session)?);
            }
            self.keep_turns(conversation, &made.report, request, session)?;
        }
        drop(lock);
        Ok(written)
    }

    /// Keeps other processes from writing what windows keep.
    fn window_lock(&self) -> Result<durable::Lock, Fault> {
        if !self.folder.is_dir() {
            durable::create_dir_private(&self.folder)?;
        }
        Ok(durable::lock(
            &self.folder.join(LOCK),
            limits::FILE_LOCK_MS,
        )?)
    }

    fn keep_outputs(
        &self,
        conversation: &Conversation,
        made: &Compacted,
        written: &mut Vec<PathBuf>,
    ) -> Result<(), Fault> {
        let mut kept = Kept::overflow(&self.folder)?;
        for one in made.overflows(conversation) {
            if kept.has(one.id, one.name)? {
                continue;
            }
            let tool = (made.report.shortened.iter())
                .find(|said| said.id == one.id)
                .map_or("", |said| said.tool.as_str());
            let name = match one.name {
                Some(name) => files::file_name(name).to_owned(),
                None => files::overflow_name(one.id, tool),
            };
            written.push(kept.write(&name, self.clean(one.text).as_bytes())?);
        }
        Ok(())
    }

    fn keep_dropped(
        &self,
        conversation: &Conversation,
        made: &Compacted,
        request: &WindowRequest<'_>,
        session: Option<&str>,
        written: &mut Vec<PathBuf>,
    ) -> Result<(), Fault> {
        if made.report.dropped.is_empty() {
            return Ok(());
        }
        let mut kept = Kept::archive(&self.folder)?;
        let known = session.map(|id| self.window_session(id)).transpose()?;
        let agent = known.flatten().and_then(|session| session.agent);
        let agent = request
            .agent
            .map(|name| self.clean(name).into_owned())
            .or(agent);
        let agent = agent.unwrap_or_else(|| "agent".to_owned());
        for dropped in &made.report.dropped {
            let hex = dropped
                .id
                .strip_prefix(files::ARCHIVE_ID)
                .unwrap_or(&dropped.id);
            if kept.has(hex, None)? {
                continue;
            }
            let head = files::Head {
                id: &dropped.id,
                agent: &agent,
                session,
                form: conversation.form.as_str(),
                at: self.now(),
            };
            let messages = self.clean_messages(&conversation.archive(dropped))?;
            let name = files::archive_name(&head, hex);
            let text = files::archive_json(&head, &messages);
            let (name, bytes) = match self.settings.archive_gzip {
                true => files::packed(&name, &text)?,
                false => (name, text.into_bytes()),
            };
            written.push(kept.write(&name, &bytes)?);
        }
        Ok(())
    }

    /// Messages without their secrets: those without any stay as they are, byte for byte.
    fn clean_messages(&self, array: &str) -> Result<Vec<String>, Fault> {
        let raw: Vec<&RawValue> = serde_json::from_str(array)
            .map_err(|error| Fault::failed(format!("dropped messages are no JSON: {error}")))?;
        Ok(raw
            .into_iter()
            .map(|one| self.clean_message(one.get()))
            .collect())
    }

    fn clean_message(&self, raw: &str) -> String {
        let Ok(mut value) = serde_json::from_str::<Value>(raw) else {
            // Too deep to be looked through: its text is kept instead.
            return Value::String(self.clean(raw).into_owned()).to_string();
        };
        let mut kinds = Vec::new();
        self.redactor.redact_value(&mut value, &mut kinds);
        if kinds.is_empty() {
            raw.to_owned()
        } else {
            value.to_string()
        }
    }
}
