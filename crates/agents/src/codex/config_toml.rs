//! Hooks in Codex's `config.toml`, for users with hooks there.

use crate::AgentProgram;
use crate::hooks::HookSpec;
use crate::settings::{SettingsEditor, SettingsError};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// Editor of the hooks in `config.toml`.
pub(crate) struct ConfigToml;

impl SettingsEditor for ConfigToml {
    fn add(&self, text: &str) -> Result<String, SettingsError> {
        edit_entries(text, Edit::Install, None).map_err(error)
    }

    fn remove(&self, text: &str, original: Option<&str>) -> Result<String, SettingsError> {
        edit_entries(text, Edit::Remove, original).map_err(error)
    }

    fn installed_events(&self, text: &str) -> Result<Vec<&'static str>, SettingsError> {
        let document: DocumentMut = text.parse().map_err(|why| error(parse_error(&why)))?;
        let hooks = document.get("hooks").and_then(Item::as_table_like);
        let is_current = |spec: &&HookSpec| {
            let item = hooks.and_then(|hooks| hooks.get(spec.event));
            item.is_some_and(|item| has_entry(item, spec))
        };
        let specs = AgentProgram::Codex.hook_specs().iter();
        Ok(specs.filter(is_current).map(|spec| spec.event).collect())
    }
}

/// Change to our entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit {
    /// Adds missing entries.
    Install,
    /// Removes the entries.
    Remove,
}

/// Returns the error for a message that has the line itself.
fn error(message: String) -> SettingsError {
    SettingsError { line: 0, message }
}

fn parse_error(error: &toml_edit::TomlError) -> String {
    error.to_string().trim().to_owned()
}

/// Returns true if the file contains hooks; the state that Codex itself keeps under `hooks` does not count.
pub(super) fn has_hooks(text: &str) -> bool {
    let Ok(document) = text.parse::<DocumentMut>() else {
        return false;
    };
    let hooks = document.get("hooks").and_then(Item::as_table_like);
    hooks.is_some_and(|hooks| {
        let mut items = hooks.iter();
        items.any(|(_, item)| item.is_array_of_tables() || item.is_array())
    })
}

/// Returns the text with or without our entries; empty lists of `original` are kept.
///
/// Errors: the syntax error, with its line.
fn edit_entries(text: &str, change: Edit, original: Option<&str>) -> Result<String, String> {
    if change == Edit::Remove && !has_entries(text) {
        return Ok(text.to_owned());
    }
    let original = original.and_then(|text| text.parse::<DocumentMut>().ok());
    let has_list = |event: &str| {
        let hooks = original.as_ref().and_then(|document| document.get("hooks"));
        hooks.is_some_and(|hooks| hooks.get(event).is_some())
    };
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| parse_error(&error))?;
    let hooks = document
        .get_mut("hooks")
        .and_then(Item::as_table_like_mut)
        .ok_or("`hooks` is not a table")?;
    for spec in AgentProgram::Codex.hook_specs() {
        let is_complete = hooks
            .get(spec.event)
            .is_some_and(|item| has_entry(item, spec));
        if change == Edit::Install && is_complete {
            continue;
        }
        if change == Edit::Install && hooks.get_mut(spec.event).is_some_and(update_command(spec)) {
            continue;
        }
        remove_entries(hooks, spec.event, has_list(spec.event));
        if change == Edit::Install {
            add_entry(hooks, spec)?;
        }
    }
    let changed = document.to_string();
    // The TOML writer always uses `\n`, so restore the line endings of Windows.
    let is_of_windows = text.contains("\r\n") && !text.replace("\r\n", "").contains('\n');
    Ok(match is_of_windows {
        true => changed.replace("\r\n", "\n").replace('\n', "\r\n"),
        false => changed,
    })
}

/// Returns true if the text contains entries of ours, of any version.
fn has_entries(text: &str) -> bool {
    let Ok(document) = text.parse::<DocumentMut>() else {
        return false;
    };
    let hooks = document.get("hooks").and_then(Item::as_table_like);
    hooks.is_some_and(|hooks| {
        let mut events = hooks.iter();
        events.any(|(_, item)| groups(item).into_iter().any(is_our_group))
    })
}

/// Returns the hook groups of an event, in either TOML form.
fn groups(item: &Item) -> Vec<&dyn TableLike> {
    match item {
        Item::ArrayOfTables(groups) => groups.iter().map(|one| one as &dyn TableLike).collect(),
        Item::Value(Value::Array(groups)) => groups
            .iter()
            .filter_map(|one| Some(one.as_inline_table()? as &dyn TableLike))
            .collect(),
        Item::None | Item::Value(_) | Item::Table(_) => Vec::new(),
    }
}

fn is_our_hook(hook: &dyn TableLike) -> bool {
    let command = hook.get("command").and_then(Item::as_str);
    command.is_some_and(|command| AgentProgram::Codex.is_hook_command(command))
}

fn is_our_group(group: &dyn TableLike) -> bool {
    let hooks = group.get("hooks").map(groups).unwrap_or_default();
    hooks.into_iter().any(is_our_hook)
}

/// Returns true if an event has exactly one entry of ours, in its present form.
fn has_entry(item: &Item, spec: &HookSpec) -> bool {
    let our_groups: Vec<_> = groups(item)
        .into_iter()
        .filter(|group| is_our_group(*group))
        .collect();
    let [group] = our_groups.as_slice() else {
        return false;
    };
    let hooks = group.get("hooks").map(groups).unwrap_or_default();
    let [hook] = hooks.as_slice() else {
        return false;
    };
    group.get("matcher").and_then(Item::as_str) == spec.matcher
        && hook.get("command").and_then(Item::as_str)
            == Some(&AgentProgram::Codex.hook_command(spec.event))
        && hook.get("timeout").and_then(Item::as_integer) == Some(i64::from(spec.timeout))
}

/// Replaces the command of our entry if an older version differs only in that; returns true if it did.
fn update_command(spec: &HookSpec) -> impl Fn(&mut Item) -> bool {
    move |item| {
        let mut updated = item.clone();
        let hooks: Vec<&mut Item> = match &mut updated {
            Item::ArrayOfTables(groups) => groups
                .iter_mut()
                .filter_map(|group| group.get_mut("hooks"))
                .collect(),
            Item::None | Item::Value(_) | Item::Table(_) => return false,
        };
        for hooks in hooks {
            let Item::ArrayOfTables(hooks) = hooks else {
                continue;
            };
            for hook in hooks.iter_mut().filter(|hook| is_our_hook(&**hook)) {
                hook["command"] = toml_edit::value(AgentProgram::Codex.hook_command(spec.event));
            }
        }
        let is_done = has_entry(&updated, spec);
        if is_done {
            *item = updated;
        }
        is_done
    }
}

/// Removes our hooks from an event, and groups and lists that become empty.
fn remove_entries(hooks: &mut dyn TableLike, event: &str, keeps_empty_list: bool) {
    let Some(item) = hooks.get_mut(event) else {
        return;
    };
    if !groups(item).into_iter().any(is_our_group) {
        return;
    }
    let has_groups_left = match item {
        Item::ArrayOfTables(groups) => {
            groups.retain(|group| has_foreign_hook(group));
            groups.iter_mut().for_each(|group| strip_our_hooks(group));
            !groups.is_empty()
        }
        Item::Value(Value::Array(groups)) => {
            groups.retain(|group| {
                group
                    .as_inline_table()
                    .is_none_or(|group| has_foreign_hook(group))
            });
            for group in groups.iter_mut().filter_map(Value::as_inline_table_mut) {
                strip_our_hooks(group);
            }
            !groups.is_empty()
        }
        Item::None | Item::Value(_) | Item::Table(_) => true,
    };
    if !has_groups_left && !keeps_empty_list {
        hooks.remove(event);
    }
}

/// Returns true if a group has a hook of others, or no hook of ours.
fn has_foreign_hook(group: &dyn TableLike) -> bool {
    let hooks = group.get("hooks").map(groups).unwrap_or_default();
    !is_our_group(group) || hooks.into_iter().any(|hook| !is_our_hook(hook))
}

fn strip_our_hooks(group: &mut dyn TableLike) {
    match group.get_mut("hooks") {
        Some(Item::ArrayOfTables(hooks)) => hooks.retain(|hook| !is_our_hook(hook)),
        Some(Item::Value(Value::Array(hooks))) => {
            hooks.retain(|hook| hook.as_inline_table().is_none_or(|hook| !is_our_hook(hook)));
        }
        Some(Item::None | Item::Value(_) | Item::Table(_)) | None => {}
    }
}

fn add_entry(hooks: &mut dyn TableLike, spec: &HookSpec) -> Result<(), String> {
    let pairs = [
        ("type", Value::from("command")),
        (
            "command",
            Value::from(AgentProgram::Codex.hook_command(spec.event)),
        ),
        ("timeout", Value::from(i64::from(spec.timeout))),
    ];
    if let Some(Item::Value(Value::Array(groups))) = hooks.get_mut(spec.event) {
        let mut group = InlineTable::new();
        if let Some(matcher) = spec.matcher {
            group.insert("matcher", matcher.into());
        }
        let hook = InlineTable::from_iter(pairs);
        group.insert("hooks", Value::Array(Array::from_iter([hook])));
        groups.push(group);
        return Ok(());
    }
    let mut hook = Table::new();
    for (name, value) in pairs {
        hook.insert(name, toml_edit::value(value));
    }
    let mut inner = ArrayOfTables::new();
    inner.push(hook);
    let mut group = Table::new();
    if let Some(matcher) = spec.matcher {
        group.insert("matcher", toml_edit::value(matcher));
    }
    group.insert("hooks", Item::ArrayOfTables(inner));
    match hooks.get_mut(spec.event) {
        Some(Item::ArrayOfTables(groups)) => groups.push(group),
        Some(_) => return Err(format!("`hooks.{}` is not a list", spec.event)),
        None => {
            let mut groups = ArrayOfTables::new();
            groups.push(group);
            hooks.insert(spec.event, Item::ArrayOfTables(groups));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER_TOML: &str = "# mine\nmodel = \"x\" # kept\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"mine\" # too\n\n[profiles.a]\nmodel = \"y\"\n";

    #[test]
    fn edit_entries_install_and_remove_keeps_comments() {
        assert!(has_hooks(USER_TOML));
        let installed = edit_entries(USER_TOML, Edit::Install, None).unwrap();
        assert_eq!(
            edit_entries(&installed, Edit::Install, None).unwrap(),
            installed
        );
        for part in [
            "# mine\n",
            "# kept",
            "command = \"mine\" # too",
            "[profiles.a]",
        ] {
            assert!(installed.contains(part), "{installed}");
        }
        let read: toml::Table = installed.parse().unwrap();
        for spec in AgentProgram::Codex.hook_specs() {
            let groups = read["hooks"][spec.event].as_array().unwrap();
            let our_groups = groups.last().unwrap();
            assert_eq!(
                our_groups["hooks"][0]["command"].as_str().unwrap(),
                AgentProgram::Codex.hook_command(spec.event)
            );
            assert_eq!(
                our_groups.get("matcher").and_then(|value| value.as_str()),
                spec.matcher
            );
        }
        assert_eq!(
            edit_entries(&installed, Edit::Remove, None).unwrap(),
            USER_TOML
        );
    }

    #[test]
    fn edit_entries_keeps_inline_lists_inline() {
        let user_toml = "hooks.Stop = [{ hooks = [{ type = \"command\", command = \"mine\" }] }]\n";
        let installed = edit_entries(user_toml, Edit::Install, None).unwrap();
        assert_eq!(
            edit_entries(&installed, Edit::Install, None).unwrap(),
            installed
        );
        let read: toml::Table = installed.parse().unwrap();
        assert_eq!(read["hooks"]["Stop"].as_array().unwrap().len(), 2);
        assert_eq!(
            edit_entries(&installed, Edit::Remove, None).unwrap(),
            user_toml
        );
    }

    #[test]
    fn edit_entries_keeps_windows_line_endings() {
        let user_toml = USER_TOML.replace('\n', "\r\n");
        let installed = edit_entries(&user_toml, Edit::Install, None).unwrap();
        assert!(has_entries(&installed) && !has_entries(&user_toml));
        assert!(
            !installed.replace("\r\n", "").contains('\n'),
            "{installed:?}"
        );
        assert_eq!(
            edit_entries(&installed, Edit::Install, None).unwrap(),
            installed
        );
        assert_eq!(
            edit_entries(&installed, Edit::Remove, None).unwrap(),
            user_toml
        );
        assert_eq!(
            edit_entries(&user_toml, Edit::Remove, None).unwrap(),
            user_toml
        );
    }

    #[test]
    fn has_hooks_ignores_codex_state() {
        assert!(!has_hooks("[hooks.state.\"/x\"]\ntrusted_hash = \"y\"\n"));
        assert!(!has_hooks("model = \"x\"\n"));
        assert!(!has_hooks("["));
        assert!(
            edit_entries("[", Edit::Install, None)
                .unwrap_err()
                .contains("line 1")
        );
    }
}
