//! Names and paths of records, the same on every page.

use super::view::{Html, render_text};
pub(crate) use heirloom_engine::named_task;
use heirloom_model::kinds::{EpisodeAction, Knowledge};
use heirloom_model::{Kind, Record, text};

/// Maximum number of characters of a text in a row.
const SHOWN_CHARS: usize = 320;
/// Maximum number of characters of a text that serves as a name.
const NAME_CHARS: usize = 60;
/// Beginning of the name of a failed attempt.
const FAILED_NAME: &str = "Did not help: ";

/// Returns the key if it was given and not derived from the text.
pub(crate) fn given_key(record: &Record) -> &str {
    let key = record.key.as_deref().unwrap_or_default();
    let is_given = record.kind == Kind::Knowledge && !Knowledge::is_derived_key(key);
    if is_given { key } else { "" }
}

/// Returns the name of a record: its key, an attempt with its approach, otherwise the beginning of its text.
pub(crate) fn name(record: &Record) -> String {
    let key = match record.kind {
        Kind::Task => record.key.as_deref().unwrap_or_default(),
        Kind::Episode => record.attr_str("approach").unwrap_or_default(),
        Kind::Knowledge
        | Kind::Step
        | Kind::Error
        | Kind::Artifact
        | Kind::Output
        | Kind::Note
        | Kind::Summary => given_key(record),
    };
    match key {
        "" => text::excerpt(&text::replace_control_chars(&record.text), NAME_CHARS),
        key if record.kind == Kind::Task => task_label(key),
        key if record.kind == Kind::Episode => attempt_name(record, key),
        key => text::replace_control_chars(key),
    }
}

/// Returns the name of an attempt: a failed one is named by its result, because its approach alone reads like advice.
fn attempt_name(record: &Record, approach: &str) -> String {
    let is_failure = record.attr_str("action") == Some(EpisodeAction::Failed.as_str());
    let before = if is_failure { FAILED_NAME } else { "" };
    let most = NAME_CHARS.saturating_sub(before.chars().count());
    let approach = text::excerpt(&text::replace_control_chars(approach), most);
    format!("{before}{approach}")
}

/// Renders the text of a record for a row.
pub(crate) fn text_html(record: &Record) -> Html {
    render_text(&text::excerpt(&record.text, SHOWN_CHARS))
}

/// Returns the path of a record.
pub(crate) fn href(record: &Record) -> String {
    match (record.kind, named_task(record.scope.task.as_deref())) {
        (Kind::Knowledge, _) => format!("/knowledge/{}", record.id),
        (Kind::Task, _) => task_href(record.key.as_deref().unwrap_or_default()),
        (Kind::Step | Kind::Episode | Kind::Artifact | Kind::Error, Some(task)) => task_href(task),
        (
            Kind::Step
            | Kind::Error
            | Kind::Episode
            | Kind::Artifact
            | Kind::Output
            | Kind::Note
            | Kind::Summary,
            _,
        ) => format!("/records/{}", record.id),
    }
}

/// Returns the path of a task.
pub(crate) fn task_href(task: &str) -> String {
    format!("/tasks/{}", percent_encode(task))
}

/// Returns the path of a session.
pub(crate) fn session_href(session: &str) -> String {
    format!("/sessions/{}", percent_encode(session))
}

/// Returns the label of a task: `#214` for a number, otherwise its name.
pub(crate) fn task_label(id: &str) -> String {
    match !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit()) {
        true => format!("#{id}"),
        false => text::replace_control_chars(id),
    }
}

/// Returns the label of a source: `you` for the user.
pub(crate) fn source_label(source: &str) -> String {
    match source {
        "user" => "you".to_owned(),
        source => text::replace_control_chars(source.strip_prefix("agent:").unwrap_or(source)),
    }
}

/// Returns the beginning of an id.
pub(crate) fn short_id(id: &str) -> String {
    let most = if id.len() == 36 { 13 } else { 24 };
    text::excerpt(&text::replace_control_chars(id), most)
}

/// Percent-encodes a name as one path segment.
pub(crate) fn percent_encode(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for b in name.bytes() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(b));
            }
            b => super::view::chart::put(&mut out, format_args!("%{b:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_percent_encoded_in_paths() {
        assert_eq!(task_href("a/b?c"), "/tasks/a%2Fb%3Fc");
        assert_eq!(percent_encode("ü"), "%C3%BC");
        assert_eq!(task_label("214"), "#214");
        assert_eq!(task_label("docs"), "docs");
        assert_eq!(source_label("user"), "you");
    }
}
