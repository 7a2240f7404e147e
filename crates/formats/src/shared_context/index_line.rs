//! Index line of a file: a summary in a prompt, while the text is only loaded on request.

use super::bullets::ParsedPage;
use heirloom_model::limits::SHARED_SUMMARY_CHARS_MAX;
use heirloom_model::text;

/// Summary of a shared context file in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexLine {
    /// Path as given.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// Summary on one line; empty if the file has no summary.
    pub summary: String,
}

/// Returns the index line of the file at `path` with this text.
///
/// Its summary is that of `<!-- summary: … -->`, else `summary`, `description` or `title` of the front matter, else
/// the first heading, else the first paragraph.
pub fn index_line(path: &str, text: &str) -> IndexLine {
    let page = ParsedPage::read(text);
    let front = ["summary", "description", "title"]
        .into_iter()
        .find_map(|name| front_value(&page.front, name));
    let summary = [page.summary, front, page.title, page.first_words];
    let summary = summary
        .into_iter()
        .flatten()
        .find(|summary| !summary.trim().is_empty());
    let summary = text::excerpt(&summary.unwrap_or_default(), SHARED_SUMMARY_CHARS_MAX);
    IndexLine {
        path: path.to_owned(),
        size: text.len() as u64,
        summary,
    }
}

/// Returns the value of a key of the front matter, if it is on the line of the key.
///
/// This is not a YAML parser: only plain and quoted values on one line are useful here.
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
