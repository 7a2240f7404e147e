//! Markdown pages of agent programs: topic files of Claude Code's memory, Cursor's rules, pages of Codex's memory, and
//! `@` imports of `CLAUDE.md`.

use super::front_matter::{self, FrontMatter};
use super::{ImportedEntry, category, insert, insert_text};
use heirloom_model::record::Attrs;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::json;

/// A page of a program's memory.
#[derive(Debug, Clone, Copy)]
pub struct MemoryPage<'t> {
    /// Path, as it is shown.
    pub path: &'t str,
    /// Text of the file.
    pub text: &'t str,
    /// Category of its entries, unless its front matter or its headings name one.
    pub category: &'t str,
}

/// Content of a page.
#[derive(Debug, Clone, PartialEq)]
pub enum PageRules {
    /// One entry: the page has a name and a description of its own, or no bullets.
    Entry(Box<ImportedEntry>),
    /// A page whose bullets are independent rules: its text with empty lines in place of the front matter, so that
    /// line numbers are kept, and the fields that apply to each rule.
    Rules(String, Attrs),
    /// A page without text.
    Empty,
}

/// Parses a page. A page with a name in its front matter is one entry, as is a page without bullets; others are rules.
pub fn parse_page(page: MemoryPage<'_>) -> PageRules {
    let read = front_matter::split(page.text);
    let body = read.body.trim();
    let is_topic = read.text("name").is_some();
    let description = read
        .text("description")
        .filter(|_| is_topic || !body.is_empty());
    if body.is_empty() && description.is_none() {
        return PageRules::Empty;
    }
    let origin = origin_of(&read, page.path);
    if !is_topic && has_bullets(body) {
        let lines = usize::try_from(read.lines).unwrap_or(0);
        let text = "\n".repeat(lines) + read.body;
        return PageRules::Rules(text, origin);
    }
    let text = match (description, body.is_empty()) {
        (Some(description), true) => description,
        (Some(description), false) if !body.contains(&description) => {
            format!("{description}\n\n{body}")
        }
        (Some(_) | None, _) => body.to_owned(),
    };
    let named = read.text("type").map(|name| category_of_type(&name));
    PageRules::Entry(Box::new(ImportedEntry {
        id: page.path.to_owned(),
        category: named.unwrap_or_else(|| category(page.category)),
        text,
        origin,
        ..ImportedEntry::default()
    }))
}

/// Returns the category of a type of Claude Code's memory: feedback of a person is a convention.
fn category_of_type(name: &str) -> String {
    match name {
        "feedback" => "convention".to_owned(),
        other => category(other),
    }
}

/// Returns the fields that have a meaning outside of the program.
fn origin_of(read: &FrontMatter<'_>, path: &str) -> Attrs {
    let mut origin = Attrs::new();
    insert_text(&mut origin, "file", Some(path.to_owned()));
    for name in ["name", "description", "type", "globs"] {
        insert_text(&mut origin, name, read.text(name));
    }
    for name in ["globs", "tags", "paths", "alwaysApply"] {
        if let Some(value) = read.fields.get(name) {
            insert(&mut origin, name, value.clone());
        }
    }
    origin
}

fn has_bullets(text: &str) -> bool {
    let mut events = Parser::new_ext(text, Options::ENABLE_TABLES);
    events.any(|event| matches!(event, Event::Start(Tag::Item)))
}

/// Returns the paths that a `CLAUDE.md` imports with `@path`, in order; code spans, code blocks and e-mail addresses are
/// no imports.
pub fn imported_paths(text: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut in_code = false;
    let mut add = |text: &str| {
        let words = text.split_whitespace();
        let named =
            words.filter_map(|word| word.trim_start_matches(['(', '"', '\'']).strip_prefix('@'));
        let ends = |c: char| matches!(c, '.' | ',' | ';' | ':' | ')' | '"' | '\'' | '!' | '?');
        let named = named.map(|path| path.trim_end_matches(ends));
        paths.extend(named.filter(|path| is_path(path)).map(str::to_owned));
    };
    // Adjacent text is merged, because Markdown splits paths at characters such as `_`.
    let mut pending = String::new();
    for event in Parser::new(text) {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "only code and text matter, other events end a text"
        )]
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Text(words) if !in_code => {
                pending.push_str(&words);
                continue;
            }
            Event::Code(_) => pending.push('`'),
            _ => {}
        }
        add(&pending);
        pending.clear();
    }
    add(&pending);
    paths
}

fn is_path(name: &str) -> bool {
    let first = name.chars().next();
    let is_start = |c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '~' | '_' | '-');
    first.is_some_and(is_start)
        && !name.contains('@')
        && (name.contains('.') || name.contains('/') || name == "README")
}

impl PageRules {
    /// Returns the fields that a rule of this page carries besides its file.
    pub fn rule_fields(origin: &Attrs) -> Attrs {
        let mut fields = origin.clone();
        fields.remove("file");
        if fields.get("alwaysApply") == Some(&json!(false)) {
            fields.remove("alwaysApply");
        }
        fields
    }
}
