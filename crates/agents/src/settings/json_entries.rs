//! Our entries in a JSON file that has entries of others: members of an object, or items of a list. The rest of the file
//! stays unchanged, including blanks and comments.

use super::json_editor::{JsonText, items, member, split_byte_order_mark, string};
use super::json_layout::{indent_unit, list_text, member_text, object_text};
use super::{SettingsEditor, SettingsError};
use crate::AgentProgram;
use crate::heirloom_program::is_heirloom;
use jsonc_parser::ast::Value;

/// Entries of a program in a JSON file.
pub(crate) struct JsonEntries {
    /// The program.
    pub(crate) program: AgentProgram,
    /// Content of a file without entries.
    pub(crate) empty_file: &'static str,
    /// True if the program accepts comments and trailing commas; others would reject the file.
    pub(crate) allows_jsonc: bool,
    /// Returns the entries.
    pub(crate) entries: fn(AgentProgram) -> Vec<OwnEntry>,
}

/// One entry of ours.
pub(crate) struct OwnEntry {
    /// Names that lead from the root to the object or list with the entry.
    path: Vec<&'static str>,
    kind: EntryKind,
    /// Value of the entry as JSON, indented by tabs.
    text: String,
}

/// Kind of an entry: where it is, and how it is recognised.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    /// An item of a list, with a hook command.
    Hook,
    /// A member of an object, with the name of our MCP server.
    Server,
}

/// Name of the MCP server in settings.
const SERVER: &str = "heirloom";

impl OwnEntry {
    /// Creates the entry of a hook in the list `hooks.EVENT`, with these members after its command.
    pub(crate) fn hook(
        program: AgentProgram,
        event: &'static str,
        members: &[(&str, &str)],
    ) -> Self {
        let command = quoted(&program.hook_command(event));
        let mut all = vec![("command", command.as_str())];
        all.extend(members);
        Self {
            path: vec!["hooks", event],
            kind: EntryKind::Hook,
            text: object_text(&all),
        }
    }

    /// Creates the entry of the MCP server in the object `servers`.
    pub(crate) fn server(servers: &'static str, members: &[(&str, &str)]) -> Self {
        Self {
            path: vec![servers],
            kind: EntryKind::Server,
            text: object_text(members),
        }
    }

    /// Returns the value as it is compared: without blanks.
    fn value(&self) -> Option<serde_json::Value> {
        serde_json::from_str(&self.text).ok()
    }

    /// Returns the place of our entry in its object or list. A server with our name and another value is a person's.
    fn own_place(&self, program: AgentProgram, settings: &JsonText<'_>) -> Option<usize> {
        let parent = container(&settings.root, &self.path)?;
        match self.kind {
            EntryKind::Hook => items(parent).iter().position(|hook| {
                let command = member(hook, "command").and_then(string);
                command.is_some_and(|command| program.is_hook_command(command))
            }),
            EntryKind::Server => {
                let members = &parent.as_object()?.properties;
                let is_ours = |value| settings.parsed(value) == self.value();
                let is_named = |name: &str| name == SERVER;
                (members.iter()).rposition(|one| is_named(one.name.as_str()) && is_ours(&one.value))
            }
        }
    }

    /// Returns true if nothing has to be added: the entry is current, or a person configured the server.
    fn is_present(&self, program: AgentProgram, settings: &JsonText<'_>) -> bool {
        let Some(parent) = container(&settings.root, &self.path) else {
            return false;
        };
        match self.kind {
            EntryKind::Hook => {
                let is_ours = |hook: &&Value<'_>| {
                    let command = member(hook, "command").and_then(string);
                    command.is_some_and(|command| program.is_hook_command(command))
                };
                let mut ours = items(parent).iter().filter(is_ours);
                let first = ours.next();
                let is_current = first.is_some_and(|hook| settings.parsed(hook) == self.value());
                is_current && ours.next().is_none()
            }
            EntryKind::Server => {
                let members = parent.as_object().map_or(&[][..], |one| &one.properties);
                members.iter().any(|one| runs_server(&one.value))
            }
        }
    }
}

/// Entries of the MCP server for the usual object `mcpServers`.
pub(crate) fn mcp_server_entries(_: AgentProgram) -> Vec<OwnEntry> {
    vec![OwnEntry::server(
        "mcpServers",
        &[("command", "\"heirloom\""), ("args", "[\"mcp\"]")],
    )]
}

impl SettingsEditor for JsonEntries {
    fn add(&self, text: &str) -> Result<String, SettingsError> {
        let (mark, text) = match split_byte_order_mark(text) {
            (_, text) if text.trim().is_empty() => ("", self.empty_file),
            parts => parts,
        };
        let mut text = text.to_owned();
        for entry in (self.entries)(self.program) {
            let settings = self.parse_settings(&text)?;
            if entry.is_present(self.program, &settings) {
                continue;
            }
            while let Some(without) = self.without_entry(&text, &entry, None)? {
                text = without;
            }
            text = self.with_entry(&text, &entry)?;
        }
        Ok(format!("{mark}{text}"))
    }

    fn remove(&self, text: &str, original: Option<&str>) -> Result<String, SettingsError> {
        let (mark, text) = split_byte_order_mark(text);
        let mut text = text.to_owned();
        if !text.trim().is_empty() {
            let original = original.map(|original| split_byte_order_mark(original).1);
            let original = original.and_then(|original| self.parse_settings(original).ok());
            let original = original.as_ref().map(|original| &original.root);
            for entry in (self.entries)(self.program) {
                while let Some(without) = self.without_entry(&text, &entry, original)? {
                    text = without;
                }
            }
        }
        Ok(format!("{mark}{text}"))
    }

    fn installed_events(&self, text: &str) -> Result<Vec<&'static str>, SettingsError> {
        let (_, text) = split_byte_order_mark(text);
        let settings = self.parse_settings(text)?;
        let entries = (self.entries)(self.program).into_iter();
        let hooks = entries.filter(|entry| entry.kind == EntryKind::Hook);
        let current = hooks.filter(|entry| entry.is_present(self.program, &settings));
        Ok(current
            .filter_map(|entry| entry.path.last().copied())
            .collect())
    }

    fn is_empty(&self, text: &str) -> bool {
        let dense = |text: &str| text.split_whitespace().collect::<String>();
        let text = dense(text);
        text == "{}" || text == dense(self.empty_file)
    }
}

impl JsonEntries {
    fn parse_settings<'t>(&self, text: &'t str) -> Result<JsonText<'t>, SettingsError> {
        let settings = JsonText::parse(text, self.allows_jsonc)?;
        let root = &settings.root;
        if root.as_object().is_none() {
            return Err(settings.error(root, "the settings are not an object"));
        }
        for entry in (self.entries)(self.program) {
            let mut value = root;
            for (n, name) in entry.path.iter().enumerate() {
                let Some(next) = member(value, name) else {
                    break;
                };
                value = next;
                let is_list = entry.kind == EntryKind::Hook && n + 1 == entry.path.len();
                let (is_right, shape) = match is_list {
                    true => (value.as_array().is_some(), "a list"),
                    false => (value.as_object().is_some(), "an object"),
                };
                if !is_right {
                    let path = entry.path[..=n].join(".");
                    return Err(settings.error(value, &format!("`{path}` is not {shape}")));
                }
            }
        }
        Ok(settings)
    }

    /// Adds an entry, with the objects and the list that lead to it.
    fn with_entry(&self, text: &str, entry: &OwnEntry) -> Result<String, SettingsError> {
        let settings = self.parse_settings(text)?;
        let unit = indent_unit(text);
        let mut depth = 0;
        let mut parent = &settings.root;
        while let Some(next) = entry.path.get(depth).and_then(|name| member(parent, name)) {
            parent = next;
            depth += 1;
        }
        let missing = &entry.path[depth..];
        let mut part = match (entry.kind, missing.is_empty()) {
            (EntryKind::Hook, true) => entry.text.clone(),
            (EntryKind::Hook, false) => list_text(&[&entry.text]),
            (EntryKind::Server, _) => member_text(SERVER, &entry.text),
        };
        if entry.kind == EntryKind::Server
            && let Some(foreign) = member(parent, SERVER).filter(|_| missing.is_empty())
        {
            let message = format!("another server has the name `{SERVER}`: rename it");
            return Err(settings.error(foreign, &message));
        }
        for (n, name) in missing.iter().enumerate().rev() {
            let is_innermost = n + 1 == missing.len();
            part = match entry.kind {
                EntryKind::Hook if is_innermost => member_text(name, &part),
                EntryKind::Hook | EntryKind::Server => member_text(name, &block_of_member(&part)),
            };
        }
        Ok(settings.with_appended(parent, &unit, depth + 1, &part))
    }

    /// Removes our entry; `None` without one. An object or list that becomes empty is removed too, unless `original` has
    /// it.
    fn without_entry(
        &self,
        text: &str,
        entry: &OwnEntry,
        original: Option<&Value<'_>>,
    ) -> Result<Option<String>, SettingsError> {
        let settings = self.parse_settings(text)?;
        let Some(place) = entry.own_place(self.program, &settings) else {
            return Ok(None);
        };
        let path = &entry.path;
        let is_original = |path: &[&str]| original.and_then(|root| container(root, path)).is_some();
        let count = |path: &[&str]| container(&settings.root, path).map_or(0, count_items);
        let mut depth = path.len();
        while depth > 0 && count(&path[..depth]) == 1 && !is_original(&path[..depth]) {
            depth -= 1;
        }
        let Some(parent) = container(&settings.root, &path[..depth]) else {
            return Ok(None);
        };
        Ok(Some(match path.get(depth) {
            Some(name) => settings.without_member(parent, name),
            None => settings.without_item(parent, place),
        }))
    }
}

/// Returns the text of an object with one member.
fn block_of_member(member: &str) -> String {
    format!("{{\n\t{}\n}}", member.replace('\n', "\n\t"))
}

/// Returns the value at a path of members.
fn container<'v, 't>(root: &'v Value<'t>, path: &[&str]) -> Option<&'v Value<'t>> {
    path.iter()
        .try_fold(root, |value, name| member(value, name))
}

fn count_items(value: &Value<'_>) -> usize {
    match value.as_object() {
        Some(object) => object.properties.len(),
        None => items(value).len(),
    }
}

/// Returns true for a server that runs `heirloom mcp`, under any name and with any further arguments.
fn runs_server(server: &Value<'_>) -> bool {
    let Some(command) = member(server, "command") else {
        return false;
    };
    let mut words: Vec<&str> = match string(command) {
        Some(command) => vec![command],
        None => items(command).iter().filter_map(string).collect(),
    };
    let args = member(server, "args").map_or(&[][..], items);
    words.extend(args.iter().filter_map(string));
    let mut words = words.into_iter();
    let program = words.next().unwrap_or_default();
    is_heirloom(program) && words.next() == Some("mcp")
}

fn quoted(content: &str) -> String {
    serde_json::Value::from(content).to_string()
}
