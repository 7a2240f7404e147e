//! Hook entries in the settings file of an agent program. The rest of the file stays unchanged, including blanks and
//! comments.

use super::json_editor::{JsonText, items, member, split_byte_order_mark, string};
use super::json_layout::{indent_unit, list_text, member_text, object_text};
use super::{SettingsEditor, SettingsError};
use crate::AgentProgram;
use crate::hooks::HookSpec;
use jsonc_parser::ast::Value;

/// Hook entries of a program in a JSON file.
pub(crate) struct HookEntries {
    /// The program.
    pub(crate) program: AgentProgram,
    /// True if the program accepts comments and trailing commas; others would reject the file.
    pub(crate) allows_jsonc: bool,
    /// True if an entry has a name.
    pub(crate) names_hooks: bool,
}

impl SettingsEditor for HookEntries {
    /// Returns the events whose entry in the settings is current, in the order of [`AgentProgram::hook_specs`].
    ///
    /// Fails with the error in the text and its line.
    fn installed_events(&self, text: &str) -> Result<Vec<&'static str>, SettingsError> {
        let (_, text) = split_byte_order_mark(text);
        let settings = self.parse_settings(text)?;
        let has = |spec: &&HookSpec| self.has_current_entry(spec, &settings.root);
        Ok(self
            .program
            .hook_specs()
            .iter()
            .filter(has)
            .map(|one| one.event)
            .collect())
    }

    /// Returns the settings with our entries added or updated; idempotent.
    ///
    /// Fails with the error in the text and its line; the file must not be written then.
    fn add(&self, text: &str) -> Result<String, SettingsError> {
        let (mark, text) = match split_byte_order_mark(text) {
            (_, text) if text.trim().is_empty() => ("", "{}\n"),
            parts => parts,
        };
        let mut text = text.to_owned();
        for spec in self.program.hook_specs() {
            let settings = self.parse_settings(&text)?;
            if self.has_current_entry(spec, &settings.root) {
                continue;
            }
            if let Some(updated) = self.with_updated_command(&settings, spec)? {
                text = updated;
                continue;
            }
            while let Some(without) = self.without_first_entry(&text, Some(spec.event), None)? {
                text = without;
            }
            text = self.with_entry(&text, spec)?;
        }
        Ok(format!("{mark}{text}"))
    }

    /// Returns the settings without our entries. Lists and objects that become empty are removed, unless `original`, the
    /// text before the installation, has them.
    ///
    /// Fails with the error in the text and its line.
    fn remove(&self, text: &str, original: Option<&str>) -> Result<String, SettingsError> {
        let (mark, text) = split_byte_order_mark(text);
        let mut text = text.to_owned();
        if !text.trim().is_empty() {
            let original = original.map(|original| split_byte_order_mark(original).1);
            let original = original.and_then(|original| self.parse_settings(original).ok());
            let original = original.as_ref().map(|original| &original.root);
            while let Some(without) = self.without_first_entry(&text, None, original)? {
                text = without;
            }
        }
        Ok(format!("{mark}{text}"))
    }
}

impl HookEntries {
    fn parse_settings<'t>(&self, text: &'t str) -> Result<JsonText<'t>, SettingsError> {
        let settings = JsonText::parse(text, self.allows_jsonc)?;
        let root = &settings.root;
        if root.as_object().is_none() {
            return Err(settings.error(root, "the settings are not an object"));
        }
        if let Some(hooks) = member(root, "hooks") {
            let Some(events) = hooks.as_object() else {
                return Err(settings.error(hooks, "`hooks` is not an object"));
            };
            for event in &events.properties {
                let name = event.name.as_str();
                if self.program.hook_spec(name).is_some() && event.value.as_array().is_none() {
                    let content = format!("`hooks.{name}` is not a list");
                    return Err(settings.error(&event.value, &content));
                }
            }
        }
        Ok(settings)
    }

    /// Returns true for a hook with a command of ours.
    fn is_own_hook(&self, hook: &Value<'_>) -> bool {
        let command = member(hook, "command").and_then(string);
        command.is_some_and(|command| self.program.is_hook_command(command))
    }

    /// Returns true if an event has our current entry exactly once.
    fn has_current_entry(&self, spec: &HookSpec, root: &Value<'_>) -> bool {
        let ours = |group: &&Value<'_>| hooks(group).iter().any(|hook| self.is_own_hook(hook));
        let mut found = groups(root, spec.event).iter().filter(ours);
        let (Some(group), None) = (found.next(), found.next()) else {
            return false;
        };
        let [hook] = hooks(group) else { return false };
        let is = |name: &str, value: &str| member(hook, name).and_then(string) == Some(value);
        let timeout = member(hook, "timeout").and_then(Value::as_number_lit);
        is("type", "command")
            && is("command", &self.program.hook_command(spec.event))
            && timeout.is_some_and(|timeout| timeout.value == spec.timeout.to_string())
            && member(group, "matcher").and_then(string) == spec.matcher
    }

    /// Replaces the command of our entry in place, if an older version's entry differs only in the command. Otherwise
    /// returns `None`.
    fn with_updated_command(
        &self,
        settings: &JsonText<'_>,
        spec: &HookSpec,
    ) -> Result<Option<String>, SettingsError> {
        let groups = groups(&settings.root, spec.event).iter();
        let ours = groups.flat_map(hooks).find(|hook| self.is_own_hook(hook));
        let Some(old) = ours.and_then(|hook| member(hook, "command")) else {
            return Ok(None);
        };
        let command = serde_json::Value::from(self.program.hook_command(spec.event)).to_string();
        let updated = settings.with_replaced(old, &command);
        let is_done = self.has_current_entry(spec, &self.parse_settings(&updated)?.root);
        Ok(is_done.then_some(updated))
    }

    /// Appends our entry for one event.
    fn with_entry(&self, text: &str, spec: &HookSpec) -> Result<String, SettingsError> {
        let settings = self.parse_settings(text)?;
        let unit = indent_unit(text);
        let entry = entry_text(self, spec);
        let Some(hooks) = member(&settings.root, "hooks") else {
            let value = object_text(&[(spec.event, &list_text(&[&entry]))]);
            let value = member_text("hooks", &value);
            return Ok(settings.with_appended(&settings.root, &unit, 1, &value));
        };
        match member(hooks, spec.event) {
            None => {
                let value = member_text(spec.event, &list_text(&[&entry]));
                Ok(settings.with_appended(hooks, &unit, 2, &value))
            }
            Some(groups) => Ok(settings.with_appended(groups, &unit, 3, &entry)),
        }
    }

    /// Removes the first of our entries, of this event or of any; `None` without one. A list or object that
    /// `original` has stays even if it is empty.
    fn without_first_entry(
        &self,
        text: &str,
        event: Option<&str>,
        original: Option<&Value<'_>>,
    ) -> Result<Option<String>, SettingsError> {
        let settings = self.parse_settings(text)?;
        let original_hooks = original.and_then(|root| member(root, "hooks"));
        let has_list =
            |event: &str| original_hooks.is_some_and(|hooks| member(hooks, event).is_some());
        let Some(events) = member(&settings.root, "hooks") else {
            return Ok(None);
        };
        let properties = events.as_object().map_or(&[][..], |one| &one.properties);
        for property in properties {
            let name = property.name.as_str();
            if event.is_some_and(|event| event != name) {
                continue;
            }
            let groups = items(&property.value);
            for (n, group) in groups.iter().enumerate() {
                let ours = hooks(group).iter().position(|hook| self.is_own_hook(hook));
                let Some(ours) = ours else { continue };
                let without = match member(group, "hooks") {
                    Some(list) if items(list).len() > 1 => settings.without_item(list, ours),
                    _ if groups.len() > 1 || has_list(name) => {
                        settings.without_item(&property.value, n)
                    }
                    _ if properties.len() > 1 || original_hooks.is_some() => {
                        settings.without_member(events, name)
                    }
                    _ => settings.without_member(&settings.root, "hooks"),
                };
                return Ok(Some(without));
            }
        }
        Ok(None)
    }
}

/// Returns our group as JSON, one line for each element, indented by tabs.
fn entry_text(entries: &HookEntries, spec: &HookSpec) -> String {
    let quoted = |content: &str| serde_json::Value::from(content).to_string();
    let command = quoted(&entries.program.hook_command(spec.event));
    let timeout = spec.timeout.to_string();
    let name = quoted("heirloom");
    let kind = quoted("command");
    let mut hook = vec![("type", kind.as_str()), ("command", &command)];
    if entries.names_hooks {
        hook.insert(0, ("name", &name));
    }
    hook.push(("timeout", &timeout));
    let hooks = list_text(&[&object_text(&hook)]);
    match spec.matcher {
        Some(matcher) => object_text(&[("matcher", &quoted(matcher)), ("hooks", &hooks)]),
        None => object_text(&[("hooks", &hooks)]),
    }
}

/// Returns the groups of an event.
fn groups<'v, 't>(root: &'v Value<'t>, event: &str) -> &'v [Value<'t>] {
    let event = member(root, "hooks").and_then(|hooks| member(hooks, event));
    event.map_or(&[], items)
}

/// Returns the hooks of a group.
fn hooks<'v, 't>(group: &'v Value<'t>) -> &'v [Value<'t>] {
    member(group, "hooks").map_or(&[], items)
}
