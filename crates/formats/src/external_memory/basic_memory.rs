//! Notes of basic-memory: Markdown with front matter, observations `- [category] text #tag (context)` and relations
//! `- relation [[Target]]`.

use super::original_time::time_of_value;
use super::{ImportedEntry, ImportedMemory, category, front_matter, insert, insert_text, texts};
use heirloom_model::record::Attrs;
use heirloom_model::{Timestamp, text};
use serde_json::json;

/// Relation of a link in a list without a relation of its own, as basic-memory names it.
const DEFAULT_RELATION: &str = "relates_to";
/// Relation of a link in the text of a note, as basic-memory names it.
const TEXT_RELATION: &str = "links_to";
/// Category of a note as a whole.
const NOTE: &str = "note";

/// Parses one note. Its observations and relations are entries, and the rest of its text is one more.
pub fn parse_note(path: &str, text: &str) -> ImportedMemory {
    let read = front_matter::split(text);
    let stem = path.rsplit('/').next().unwrap_or(path);
    let stem = stem.strip_suffix(".md").unwrap_or(stem);
    let title = read.text("title").unwrap_or_else(|| stem.to_owned());
    let permalink = read.text("permalink");
    let at = ["created", "date", "modified"]
        .iter()
        .find_map(|name| time_of_value(read.fields.get(*name)?));
    let note = Note {
        id: permalink.as_deref().unwrap_or(path),
        path,
        title: &title,
        at,
    };
    let mut memory = ImportedMemory::default();
    let mut rest = String::new();
    let mut in_code = false;
    for line in read.body.lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            in_code = !in_code;
        }
        let item = ["- ", "* ", "+ "]
            .iter()
            .find_map(|mark| trimmed.strip_prefix(mark))
            .filter(|_| !in_code)
            .map(str::trim);
        let added = item.is_some_and(|item| {
            note.add_observation(item, &mut memory) || note.add_relation(item, &mut memory)
        });
        if added {
            continue;
        }
        if !in_code {
            note.add_links(line, &mut memory);
        }
        rest.push_str(line);
        rest.push('\n');
    }
    // Old versions write tags with their mark.
    let tags = texts(read.fields.get("tags")).into_iter();
    let tags: Vec<String> = tags
        .map(|tag| tag.trim_start_matches('#').to_owned())
        .collect();
    let type_name = read.text("type");
    note.add_rest(&rest, &tags, type_name.as_deref(), &mut memory);
    memory
}

/// Frame of a note's entries.
struct Note<'t> {
    id: &'t str,
    path: &'t str,
    title: &'t str,
    at: Option<Timestamp>,
}

impl Note<'_> {
    fn entry(&self, part: &str, category: String, text: String) -> ImportedEntry {
        let mut origin = Attrs::new();
        insert(&mut origin, "note", json!(self.title));
        insert(&mut origin, "permalink", json!(self.id));
        insert(&mut origin, "file", json!(self.path));
        ImportedEntry {
            id: format!("{}#{part}", self.id),
            category,
            text,
            at: self.at,
            origin,
            ..ImportedEntry::default()
        }
    }

    /// Adds an observation; returns false for other items.
    fn add_observation(&self, item: &str, memory: &mut ImportedMemory) -> bool {
        let Some((name, content)) = item.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        else {
            return false;
        };
        let (name, content) = (name.trim(), content.trim());
        // Tasks and links are no observations.
        let is_task = matches!(name, "" | "x" | "X" | "-" | "/" | "!");
        if is_task || name.starts_with('[') || content.is_empty() || content.starts_with('(') {
            return false;
        }
        let (content, context) = split_context(content);
        let mut entry = self.entry(
            &format!("[{name}] {content}"),
            category(name),
            format!("{}: {}", self.title, content),
        );
        insert(&mut entry.origin, "tags", json!(tags_of(content)));
        insert_text(&mut entry.origin, "context", context.map(str::to_owned));
        memory.entries.push(entry);
        true
    }

    /// Adds a relation; returns false for other items.
    fn add_relation(&self, item: &str, memory: &mut ImportedMemory) -> bool {
        let Some((before, rest)) = item.split_once("[[") else {
            return false;
        };
        let Some((target, after)) = rest.split_once("]]") else {
            return false;
        };
        let relation = before.trim().trim_matches(['"', '\'']);
        // A sentence with a link in it is text.
        let is_relation = relation.len() <= 60
            && !relation.contains(". ")
            && !relation.ends_with(':')
            && !after.contains("[[");
        if !is_relation {
            return false;
        }
        let relation = match relation {
            "" => DEFAULT_RELATION,
            name => name,
        };
        let (_, context) = split_context(after.trim());
        self.push_relation(relation, target, context, memory)
    }

    /// Adds the links in a line of text as relations.
    fn add_links(&self, line: &str, memory: &mut ImportedMemory) {
        for link in line.split("[[").skip(1) {
            if let Some((target, _)) = link.split_once("]]") {
                self.push_relation(TEXT_RELATION, target, None, memory);
            }
        }
    }

    fn push_relation(
        &self,
        relation: &str,
        target: &str,
        context: Option<&str>,
        memory: &mut ImportedMemory,
    ) -> bool {
        let target = target.split('|').next().unwrap_or(target);
        let parts = [self.title, relation, target].map(|part| text::one_line(part.trim()));
        if parts.iter().any(String::is_empty) {
            return false;
        }
        let line = parts.join(" ");
        let mut entry = self.entry(&format!("{relation} {target}"), "relation".to_owned(), line);
        insert_text(&mut entry.origin, "context", context.map(str::to_owned));
        entry.relation = Some(parts);
        memory.entries.push(entry);
        true
    }

    /// Adds the text of the note without its observations and relations, if it has more than headings.
    fn add_rest(
        &self,
        rest: &str,
        tags: &[String],
        type_name: Option<&str>,
        memory: &mut ImportedMemory,
    ) {
        let is_text = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
        if !rest.lines().any(is_text) {
            return;
        }
        let rest = without_empty_sections(rest);
        let text = match rest.starts_with("# ") {
            true => rest,
            false => format!("# {}\n\n{rest}", self.title),
        };
        let name = type_name.unwrap_or(NOTE);
        let mut entry = self.entry("", category(name), text);
        entry.id = self.id.to_owned();
        insert(&mut entry.origin, "tags", json!(tags));
        memory.entries.push(entry);
    }
}

/// Splits the context in parentheses off the end of an observation.
fn split_context(content: &str) -> (&str, Option<&str>) {
    let inside = content
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once('('))
        .filter(|(before, _)| before.ends_with(' ') || before.is_empty());
    match inside {
        Some((before, context)) => (before.trim_end(), Some(context.trim())),
        None => (content, None),
    }
}

fn tags_of(content: &str) -> Vec<String> {
    let words = content.split_whitespace();
    let tags = words.filter_map(|word| word.strip_prefix('#'));
    let tags = tags.flat_map(|tag| tag.split('#'));
    let tags = tags.filter(|tag| tag.starts_with(char::is_alphanumeric));
    tags.map(str::to_owned).collect()
}

/// Removes headings without text before the next heading of the same or a higher level.
fn without_empty_sections(text: &str) -> String {
    let level = |line: &str| line.bytes().take_while(|byte| *byte == b'#').count();
    let lines: Vec<&str> = text.lines().collect();
    let is_kept = |at: usize, line: &str| {
        let own = level(line);
        if own == 0 {
            return true;
        }
        let after = lines.iter().skip(at + 1);
        let section = after.take_while(|line| level(line) == 0 || level(line) > own);
        section
            .clone()
            .any(|line| level(line) == 0 && !line.trim().is_empty())
    };
    let kept = lines
        .iter()
        .enumerate()
        .filter(|(at, line)| is_kept(*at, line));
    let kept: Vec<&str> = kept.map(|(_, line)| *line).collect();
    kept.join("\n").trim().to_owned()
}
