//! Storage of the content that a window leaves out: tool outputs and messages, redacted.

use super::archive_files::{self, WindowFolder};
use super::{WindowRequest, Windows};
use heirloom_model::{Fault, text};
use heirloom_window::{CompactedWindow, Conversation};
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::PathBuf;

impl Windows<'_> {
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

    /// Stores what the window leaves out; for a session also its turns.
    pub(super) fn store_parts(
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
