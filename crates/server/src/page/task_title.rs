//! Titles of tasks: the given one, otherwise the first prompt of the first session of the task.

use super::{record_label, session_title};
use heirloom_engine::Engine;
use heirloom_model::{Fault, Record, Session, text};

/// Maximum number of characters of a title.
const TITLE_CHARS: usize = 120;
/// Maximum number of sessions of a task that are searched for the first one.
const SESSIONS: usize = 50;

/// Returns the title of a task with its label, such as `#214 Webhook retries deliver twice`. Without any title it is
/// the type and id, such as `Issue #214`.
pub(in crate::page) fn task_title(engine: &Engine, record: &Record) -> Result<String, Fault> {
    let id = record.key.as_deref().unwrap_or_default();
    let words = match given_title(record) {
        Some(title) => Some(title),
        None => {
            let sessions = engine.sessions().sessions_of(Some(id), SESSIONS)?;
            title_of_session(engine, sessions.last())?
        }
    };
    Ok(labelled_title(record, words.as_deref()))
}

/// Returns the title that a person or a program gave the task.
pub(in crate::page) fn given_title(record: &Record) -> Option<String> {
    let given = record.attr_str("title").map(str::trim)?;
    (!given.is_empty()).then(|| text::excerpt(&text::replace_control_chars(given), TITLE_CHARS))
}

/// Returns the first prompt of the first session of a task as its title.
pub(in crate::page) fn title_of_session(
    engine: &Engine,
    first: Option<&Session>,
) -> Result<Option<String>, Fault> {
    match first {
        Some(session) => session_title::first_prompt(engine, &session.id),
        None => Ok(None),
    }
}

/// Returns a title with the label of its task; without a title the type and id.
pub(in crate::page) fn labelled_title(record: &Record, title: Option<&str>) -> String {
    let id = record.key.as_deref().unwrap_or_default();
    match title {
        // A prompt often begins with the number of its task.
        Some(title) if title.starts_with(&record_label::task_label(id)) => title.to_owned(),
        Some(title) => format!("{} {title}", record_label::task_label(id)),
        None => text::replace_control_chars(&record.text),
    }
}
