//! Our hooks in Codex's `config.toml`, for those who keep theirs there.

use super::Wish;
use heirloom_engine::hooks::{Host, Wanted, is_ours};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// Whether hooks stand in this file; what Codex itself notes under `hooks` is none.
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

/// The text with our entries, or without. Errors: what is wrong with it, with its line.
pub(super) fn with(text: &str, wish: Wish) -> Result<String, String> {
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| error.to_string().trim().to_owned())?;
    let hooks = document
        .get_mut("hooks")
        .and_then(Item::as_table_like_mut)
        .ok_or("`hooks` is no table")?;
    for wanted in Host::Codex.wanted() {
        let is_whole = hooks
            .get(wanted.event)
            .is_some_and(|item| has(item, wanted));
        if wish == Wish::There && is_whole {
            continue;
        }
        remove(hooks, wanted.event);
        if wish == Wish::There {
            add(hooks, wanted)?;
        }
    }
    Ok(document.to_string())
}

/// The groups of an event, in either form.
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
    command.is_some_and(|command| is_ours(Host::Codex, command))
}

fn is_our_group(group: &dyn TableLike) -> bool {
    let hooks = group.get("hooks").map(groups).unwrap_or_default();
    hooks.into_iter().any(is_our_hook)
}

/// Whether an event has our entry once, as it is to be.
fn has(item: &Item, wanted: &Wanted) -> bool {
    let ours: Vec<_> = groups(item)
        .into_iter()
        .filter(|group| is_our_group(*group))
        .collect();
    let [group] = ours.as_slice() else {
        return false;
    };
    let hooks = group.get("hooks").map(groups).unwrap_or_default();
    let [hook] = hooks.as_slice() else {
        return false;
    };
    group.get("matcher").and_then(Item::as_str) == wanted.matcher
        && hook.get("command").and_then(Item::as_str) == Some(&Host::Codex.command(wanted.event))
        && hook.get("timeout").and_then(Item::as_integer) == Some(i64::from(wanted.timeout))
}

/// Takes our hooks out of an event, and what is empty because of that.
fn remove(hooks: &mut dyn TableLike, event: &str) {
    let Some(item) = hooks.get_mut(event) else {
        return;
    };
    let is_left = match item {
        Item::ArrayOfTables(groups) => {
            groups.retain(|group| keeps(group));
            groups.iter_mut().for_each(|group| strip(group));
            !groups.is_empty()
        }
        Item::Value(Value::Array(groups)) => {
            groups.retain(|group| group.as_inline_table().is_none_or(|group| keeps(group)));
            for group in groups.iter_mut().filter_map(Value::as_inline_table_mut) {
                strip(group);
            }
            !groups.is_empty()
        }
        Item::None | Item::Value(_) | Item::Table(_) => true,
    };
    if !is_left {
        hooks.remove(event);
    }
}

/// Whether a group has something that is not ours, or nothing of ours.
fn keeps(group: &dyn TableLike) -> bool {
    let hooks = group.get("hooks").map(groups).unwrap_or_default();
    !is_our_group(group) || hooks.into_iter().any(|hook| !is_our_hook(hook))
}

fn strip(group: &mut dyn TableLike) {
    match group.get_mut("hooks") {
        Some(Item::ArrayOfTables(hooks)) => hooks.retain(|hook| !is_our_hook(hook)),
        Some(Item::Value(Value::Array(hooks))) => {
            hooks.retain(|hook| hook.as_inline_table().is_none_or(|hook| !is_our_hook(hook)));
        }
        Some(Item::None | Item::Value(_) | Item::Table(_)) | None => {}
    }
}

fn add(hooks: &mut dyn TableLike, wanted: &Wanted) -> Result<(), String> {
    let pairs = [
        ("type", Value::from("command")),
        ("command", Value::from(Host::Codex.command(wanted.event))),
        ("timeout", Value::from(i64::from(wanted.timeout))),
    ];
    if let Some(Item::Value(Value::Array(groups))) = hooks.get_mut(wanted.event) {
        let mut group = InlineTable::new();
        if let Some(matcher) = wanted.matcher {
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
    if let Some(matcher) = wanted.matcher {
        group.insert("matcher", toml_edit::value(matcher));
    }
    group.insert("hooks", Item::ArrayOfTables(inner));
    match hooks.get_mut(wanted.event) {
        Some(Item::ArrayOfTables(groups)) => groups.push(group),
        Some(_) => return Err(format!("`hooks.{}` is no list", wanted.event)),
        None => {
            let mut groups = ArrayOfTables::new();
            groups.push(group);
            hooks.insert(wanted.event, Item::ArrayOfTables(groups));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINE: &str = "# mine\nmodel = \"x\" # kept\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"mine\" # too\n\n[profiles.a]\nmodel = \"y\"\n";

    #[test]
    fn entries_come_and_go_and_comments_stay() {
        assert!(has_hooks(MINE));
        let there = with(MINE, Wish::There).unwrap();
        assert_eq!(with(&there, Wish::There).unwrap(), there);
        for part in [
            "# mine\n",
            "# kept",
            "command = \"mine\" # too",
            "[profiles.a]",
        ] {
            assert!(there.contains(part), "{there}");
        }
        let read: toml::Table = there.parse().unwrap();
        for wanted in Host::Codex.wanted() {
            let groups = read["hooks"][wanted.event].as_array().unwrap();
            let ours = groups.last().unwrap();
            assert_eq!(
                ours["hooks"][0]["command"].as_str().unwrap(),
                Host::Codex.command(wanted.event)
            );
            assert_eq!(
                ours.get("matcher").and_then(|said| said.as_str()),
                wanted.matcher
            );
        }
        assert_eq!(with(&there, Wish::Gone).unwrap(), MINE);
    }

    #[test]
    fn inline_lists_stay_inline() {
        let mine = "hooks.Stop = [{ hooks = [{ type = \"command\", command = \"mine\" }] }]\n";
        let there = with(mine, Wish::There).unwrap();
        assert_eq!(with(&there, Wish::There).unwrap(), there);
        let read: toml::Table = there.parse().unwrap();
        assert_eq!(read["hooks"]["Stop"].as_array().unwrap().len(), 2);
        assert_eq!(with(&there, Wish::Gone).unwrap(), mine);
    }

    #[test]
    fn what_codex_notes_itself_is_no_hook() {
        assert!(!has_hooks("[hooks.state.\"/x\"]\ntrusted_hash = \"y\"\n"));
        assert!(!has_hooks("model = \"x\"\n"));
        assert!(!has_hooks("["));
        assert!(with("[", Wish::There).unwrap_err().contains("line 1"));
    }
}
