//! Elements such as `<system-reminder>…</system-reminder>` in a text of the user.

use super::marks::HostMark;
use super::slash_command::SlashCommand;

/// Elements with the name and the arguments of a command.
const COMMAND_NAME: &str = "command-name";
const COMMAND_ARGUMENTS: &str = "command-args";
/// Greatest number of bytes of a tag.
const TAG_BYTES_MAX: usize = 600;
/// Smallest number of bytes of the name of an element that is not known: shorter names are those of type parameters and
/// of emphasis.
const UNKNOWN_NAME_BYTES_MIN: usize = 3;
/// Greatest number of elements at the beginning of a text that are moved behind the words.
const LEADING_MAX: usize = 16;

/// A text without the elements of its program.
#[derive(Debug, Default, PartialEq)]
pub(super) struct PlainText {
    /// The rest.
    pub(super) words: String,
    /// The command that the person typed.
    pub(super) command: Option<SlashCommand>,
    /// Texts of others.
    pub(super) pasted: Vec<String>,
}

/// A tag that opens an element.
struct OpeningTag<'t> {
    name: &'t str,
    /// Text after the tag.
    rest: &'t str,
    /// True for `<name/>`.
    is_empty: bool,
}

/// Removes the program's elements. Those in code stay, because a person may ask about them.
pub(super) fn remove_elements(text: &str, marks: &[&HostMark]) -> PlainText {
    let mut found = PlainText::default();
    let mut code = CodeState::default();
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('<') {
        found.words.push_str(before);
        let tail_start = rest.len() - tail.len() - 1;
        let tail = rest.get(tail_start..).unwrap_or_default();
        let next = match code.is_code_at_end(&found.words) {
            true => None,
            false => remove_element(tail, marks, &mut found),
        };
        rest = match next {
            Some(next) => next,
            None => {
                found.words.push('<');
                tail.get(1..).unwrap_or_default()
            }
        };
    }
    found.words.push_str(rest);
    found
}

/// Returns the text after an element or a tag that is not a person's; `None` if the text begins with neither.
fn remove_element<'t>(
    text: &'t str,
    marks: &[&HostMark],
    found: &mut PlainText,
) -> Option<&'t str> {
    let is_words = |name: &str| {
        (marks.iter()).any(|mark| matches!(mark, HostMark::Words(known) if *known == name))
    };
    if let Some(name) = closing_name(text).filter(|name| is_words(name)) {
        return text.get(name.len() + 3..);
    }
    let tag = opening_tag(text)?;
    if is_words(tag.name) {
        return Some(tag.rest);
    }
    let is_host = marks
        .iter()
        .any(|mark| matches!(mark, HostMark::Element(known) if *known == tag.name));
    let is_paste =
        (marks.iter()).any(|mark| matches!(mark, HostMark::Paste(known) if *known == tag.name));
    if is_paste && !tag.is_empty {
        let (content, rest) = split_element(&tag).unwrap_or((tag.rest, ""));
        if !content.trim().is_empty() && found.pasted.len() < LEADING_MAX {
            found.pasted.push(content.to_owned());
        }
        return Some(rest);
    }
    if !is_host && tag.name != COMMAND_NAME && tag.name != COMMAND_ARGUMENTS {
        return None;
    }
    if tag.is_empty {
        return Some(tag.rest);
    }
    let Some((content, rest)) = split_element(&tag) else {
        // A program shortened the text. A person who names the element writes on in the same line.
        let is_first = found.words.trim().is_empty();
        let is_line = found.words.ends_with('\n') && tag.rest.starts_with(['\n', '\r']);
        return (is_host && (is_first || is_line)).then_some("");
    };
    let command = || SlashCommand {
        name: String::new(),
        arguments: String::new(),
    };
    match tag.name {
        COMMAND_NAME => {
            let name = format!("/{}", content.trim().trim_start_matches('/'));
            found.command.get_or_insert_with(command).name = name;
        }
        COMMAND_ARGUMENTS => {
            content
                .trim()
                .clone_into(&mut found.command.get_or_insert_with(command).arguments);
        }
        _ => {}
    }
    Some(rest)
}

/// Splits the elements that are not known off the beginning of a text: the rest, and their contents. An element counts
/// only if it is alone on its line, as in `<notes>…</notes>` and a line break, or if its name is one of a program.
pub(super) fn split_leading_elements(text: &str) -> (String, Vec<&str>) {
    let mut rest = text;
    let mut contents = Vec::new();
    while contents.len() < LEADING_MAX
        && let Some(tag) = opening_tag(rest)
        && tag.name.len() >= UNKNOWN_NAME_BYTES_MIN
        && let Some((content, after)) = split_element(&tag)
    {
        let is_program_name = tag.name.contains(['-', '_']);
        let is_alone = after.is_empty() || after.starts_with(['\n', '\r', '<']);
        if !is_program_name && !is_alone {
            break;
        }
        if !content.trim().is_empty() {
            contents.push(content);
        }
        rest = after.trim_start();
    }
    (rest.to_owned(), contents)
}

/// Reads the tag at the beginning of a text.
fn opening_tag(text: &str) -> Option<OpeningTag<'_>> {
    let after = text.strip_prefix('<')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let length = after.find(|c| !is_name(c))?;
    let name = after
        .get(..length)
        .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))?;
    let tail = after.get(length..)?;
    let head = tail.get(..tail.floor_char_boundary(TAG_BYTES_MAX))?;
    let end = head.find('>')?;
    let attributes = head.get(..end)?;
    let is_tag = attributes.is_empty() || attributes.starts_with([' ', '\n', '\t', '/']);
    is_tag.then_some(OpeningTag {
        name,
        rest: tail.get(end + 1..)?,
        is_empty: attributes.ends_with('/'),
    })
}

/// Returns the name in the closing tag at the beginning of a text.
fn closing_name(text: &str) -> Option<&str> {
    let (name, _) = text.strip_prefix("</")?.split_once('>')?;
    (name.len() < TAG_BYTES_MAX).then_some(name)
}

/// Returns the content of an element and the text after it. An element of the same name inside belongs to the content.
fn split_element<'t>(tag: &OpeningTag<'t>) -> Option<(&'t str, &'t str)> {
    let opening = format!("<{}", tag.name);
    let closing = format!("</{}>", tag.name);
    let mut depth = 0_usize;
    let mut at = 0;
    let mut first = None;
    while let Some(step) = tag.rest.get(at..).and_then(|rest| rest.find(&closing)) {
        let end = at + step;
        first = first.or(Some(end));
        depth += tag
            .rest
            .get(at..end)
            .map_or(0, |part| part.matches(&opening).count());
        if depth == 0 {
            first = Some(end);
            break;
        }
        depth -= 1;
        at = end + closing.len();
    }
    // A tag inside that is never closed is a mention of the element.
    let end = first?;
    Some((tag.rest.get(..end)?, tag.rest.get(end + closing.len()..)?))
}

/// Blocks of code and code spans in a text that grows.
#[derive(Debug, Default)]
struct CodeState {
    /// Number of bytes whose lines are counted.
    read: usize,
    is_block: bool,
}

impl CodeState {
    /// Returns true if what follows the text is code.
    fn is_code_at_end(&mut self, text: &str) -> bool {
        let lines_end = text.rfind('\n').map_or(0, |at| at + 1);
        if let Some(lines) = text.get(self.read..lines_end) {
            let fences = lines
                .lines()
                .filter(|line| line.trim_start().starts_with("```"));
            self.is_block ^= fences.count() % 2 == 1;
            self.read = lines_end;
        }
        let line = text.get(lines_end..).unwrap_or_default();
        self.is_block || line.matches('`').count() % 2 == 1
    }
}
