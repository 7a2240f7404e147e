//! How a record is named and where it is found, on every page the same.

use super::view::{Html, said};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Kind, Record, text};

/// Characters of a text that a row shows.
const SHOWN_CHARS: usize = 320;
/// Characters of a text that stands for a name.
const NAME_CHARS: usize = 60;

/// The key that somebody gave it, if somebody did.
pub(crate) fn key(record: &Record) -> &str {
    let key = record.key.as_deref().unwrap_or_default();
    let is_given = record.kind == Kind::Knowledge && !Knowledge::is_made_key(key);
    if is_given { key } else { "" }
}

/// What it is called: its key, else the beginning of what it says.
pub(crate) fn name(record: &Record) -> String {
    let key = match record.kind {
        Kind::Task => record.key.as_deref().unwrap_or_default(),
        Kind::Knowledge
        | Kind::Step
        | Kind::Error
        | Kind::Episode
        | Kind::Artifact
        | Kind::Output
        | Kind::Note
        | Kind::Summary => key(record),
    };
    match key {
        "" => text::excerpt(&text::printable(&record.text), NAME_CHARS),
        key if record.kind == Kind::Task => task(key),
        key => text::printable(key),
    }
}

/// What it says, as a row shows it.
pub(crate) fn words(record: &Record) -> Html {
    said(&text::excerpt(&record.text, SHOWN_CHARS))
}

/// Where it is found.
pub(crate) fn href(record: &Record) -> String {
    match (record.kind, record.scope.task.as_deref()) {
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

/// Where a task is found.
pub(crate) fn task_href(task: &str) -> String {
    format!("/tasks/{}", encoded(task))
}

/// Where a session is found.
pub(crate) fn session_href(session: &str) -> String {
    format!("/sessions/{}", encoded(session))
}

/// A task as people say it: `#214`, else its name.
pub(crate) fn task(id: &str) -> String {
    match !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit()) {
        true => format!("#{id}"),
        false => text::printable(id),
    }
}

/// A task by its id and what is known of it: its type, its branch.
pub(crate) fn task_title(record: &Record) -> String {
    let id = record.key.as_deref().unwrap_or_default();
    let title = record.attr_str("title").or(record.attr_str("branch"));
    match title {
        Some(title) => format!("{} {}", task(id), text::printable(title)),
        None => text::printable(&record.text),
    }
}

/// Who said so: `you` for the person.
pub(crate) fn who(source: &str) -> String {
    match source {
        "user" => "you".to_owned(),
        source => text::printable(source.strip_prefix("agent:").unwrap_or(source)),
    }
}

/// The beginning of an id, as people compare it.
pub(crate) fn short_id(id: &str) -> String {
    let most = if id.len() == 36 { 13 } else { 24 };
    text::excerpt(&text::printable(id), most)
}

/// A name as a part of an address.
pub(crate) fn encoded(name: &str) -> String {
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
    fn names_become_addresses() {
        assert_eq!(task_href("a/b?c"), "/tasks/a%2Fb%3Fc");
        assert_eq!(encoded("ü"), "%C3%BC");
        assert_eq!(task("214"), "#214");
        assert_eq!(task("docs"), "docs");
        assert_eq!(who("user"), "you");
    }
}
