//! One line that stands for a file: what it is about, while its text is only loaded on request.

use super::bullets::Page;
use heirloom_model::limits::SHARED_SUMMARY_CHARS_MAX;
use heirloom_model::text;

/// A file of shared context in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexLine {
    /// Its path, as it was given.
    pub path: String,
    /// Its size, bytes.
    pub size: u64,
    /// What it is about, on one line; empty if nothing says so.
    pub summary: String,
}

/// What stands for the file at `path` with this text.
///
/// Its summary is that of `<!-- summary: … -->`, else `summary`, `description` or `title` of the front matter, else
/// the first heading, else the first paragraph.
pub fn index_line(path: &str, text: &str) -> IndexLine {
    let page = Page::read(text);
    let front = ["summary", "description", "title"]
        .into_iter()
        .find_map(|name| front_value(&page.front, name));
    let said = [page.summary, front, page.title, page.first_words];
    let said = said
        .into_iter()
        .flatten()
        .find(|said| !said.trim().is_empty());
    let summary = text::excerpt(&said.unwrap_or_default(), SHARED_SUMMARY_CHARS_MAX);
    IndexLine {
        path: path.to_owned(),
        size: text.len() as u64,
        summary,
    }
}

/// The value of a key of the front matter, if it stands on the key's line.
///
/// Not a YAML parser: only plain and quoted values on one line are of use here.
fn front_value(front: &str, name: &str) -> Option<String> {
    let value = front.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.trim_end()
            .eq_ignore_ascii_case(name)
            .then_some(value.trim())
    })?;
    let quoted = ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let value = quoted.unwrap_or(value).trim();
    let is_block = matches!(
        value.chars().next(),
        None | Some('|' | '>' | '[' | '{' | '&' | '*')
    );
    (quoted.is_some() || !is_block)
        .then(|| value.to_owned())
        .filter(|value| !value.is_empty())
}
