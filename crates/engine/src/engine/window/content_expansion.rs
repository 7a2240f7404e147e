//! Expansion: the full content that a window left out, by its id.

use super::archive_files::{self, WindowFolder};
use super::{ArchivedContent, ExpandedContent, Windows};
use heirloom_model::{Fault, text};

impl Windows<'_> {
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
}
