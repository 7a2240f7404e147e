//! Our entries in the settings file of an agent program, which is somebody else's: everything else in it stays as it
//! stands, down to its blanks and comments.

use super::host::{Host, Wanted};
use super::json::{Mistake, Node, Part, parse};

/// Whether a command is one that an installation for `host` wrote, of whatever version and by whatever path.
pub fn is_ours(host: Host, command: &str) -> bool {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    let is_program = program.rsplit('/').next() == Some("heirloom");
    is_program && words.next() == Some("hook") && words.next() == Some(host.as_str())
}

/// The events that have exactly our entry in this text of settings, in the order of [`Host::wanted`].
///
/// Errors: what is wrong with the text, and on which line.
pub fn installed(host: Host, text: &str) -> Result<Vec<&'static str>, Mistake> {
    let root = whole(host, text)?;
    let has = |wanted: &&Wanted| is_whole(host, wanted, &root, text);
    Ok(host
        .wanted()
        .iter()
        .filter(has)
        .map(|one| one.event)
        .collect())
}

/// The text with our entries. Again: the same text.
///
/// Errors: what is wrong with the text, and on which line; then nothing is to be written.
pub fn with_entries(host: Host, text: &str) -> Result<String, Mistake> {
    let mut text = if text.trim_start_matches('\u{feff}').trim().is_empty() {
        "{}\n".to_owned()
    } else {
        text.to_owned()
    };
    for wanted in host.wanted() {
        if is_whole(host, wanted, &whole(host, &text)?, &text) {
            continue;
        }
        while let Some(without) = without_first(host, &text, Some(wanted.event))? {
            text = without;
        }
        text = with_entry(host, &text, wanted)?;
    }
    Ok(text)
}

/// The text without our entries, and without what is empty because of that.
///
/// Errors: what is wrong with the text, and on which line.
pub fn without_entries(host: Host, text: &str) -> Result<String, Mistake> {
    let mut text = text.to_owned();
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Ok(text);
    }
    while let Some(without) = without_first(host, &text, None)? {
        text = without;
    }
    Ok(text)
}

fn whole(host: Host, text: &str) -> Result<Node, Mistake> {
    // Of the three only Gemini CLI reads comments: the others would not read a file with some.
    let root = parse(text, host == Host::Gemini)?;
    match &root.part {
        Part::Object(_) => {}
        Part::Array(_) | Part::Text(_) | Part::Other => {
            return Err(root.mistake(text, "the settings are no object"));
        }
    }
    if let Some(hooks) = root.member("hooks") {
        let Part::Object(events) = &hooks.part else {
            return Err(hooks.mistake(text, "`hooks` is no object"));
        };
        for (name, groups) in events {
            let is_asked = host.event(&name.text).is_some();
            if is_asked && !matches!(groups.part, Part::Array(_)) {
                let said = format!("`hooks.{}` is no list", name.text);
                return Err(groups.mistake(text, &said));
            }
        }
    }
    Ok(root)
}

/// The groups of an event.
fn groups<'n>(root: &'n Node, event: &str) -> &'n [Node] {
    let event = root.member("hooks").and_then(|hooks| hooks.member(event));
    event.map_or(&[], Node::items)
}

/// The commands of a group.
fn commands(group: &Node) -> impl Iterator<Item = &str> {
    let hooks = group.member("hooks").map_or(&[][..], Node::items);
    hooks
        .iter()
        .filter_map(|hook| hook.member("command")?.text())
}

/// Whether an event has our entry once, as it is to be.
fn is_whole(host: Host, wanted: &Wanted, root: &Node, text: &str) -> bool {
    let ours = |group: &&Node| commands(group).any(|command| is_ours(host, command));
    let found: Vec<&Node> = groups(root, wanted.event).iter().filter(ours).collect();
    let [group] = found.as_slice() else {
        return false;
    };
    let hooks = group.member("hooks").map_or(&[][..], Node::items);
    let [hook] = hooks else { return false };
    let is = |name: &str, value: &str| hook.member(name).and_then(Node::text) == Some(value);
    let timeout = hook.member("timeout").map(|node| &text[node.at.clone()]);
    is("type", "command")
        && is("command", &host.command(wanted.event))
        && timeout == Some(wanted.timeout.to_string().as_str())
        && group.member("matcher").and_then(Node::text) == wanted.matcher
}

/// The text with our entry for one event behind everything else that is there.
fn with_entry(host: Host, text: &str, wanted: &Wanted) -> Result<String, Mistake> {
    let root = whole(host, text)?;
    let unit = indent_of(text);
    let entry = entry(host, wanted);
    let Some(hooks) = root.member("hooks") else {
        let value = object(&[(wanted.event, &list(&[&entry]))]);
        return Ok(root.with_last(text, &unit, 1, &member("hooks", &value)));
    };
    match hooks.member(wanted.event) {
        None => {
            let value = member(wanted.event, &list(&[&entry]));
            Ok(hooks.with_last(text, &unit, 2, &value))
        }
        Some(groups) => Ok(groups.with_last(text, &unit, 3, &entry)),
    }
}

/// Our group: JSON in which every level begins a line, indented by tabs.
fn entry(host: Host, wanted: &Wanted) -> String {
    let quoted = |said: &str| serde_json::Value::from(said).to_string();
    let command = quoted(&host.command(wanted.event));
    let timeout = wanted.timeout.to_string();
    let name = quoted("heirloom");
    let kind = quoted("command");
    let mut hook = vec![("type", kind.as_str()), ("command", &command)];
    if host == Host::Gemini {
        hook.insert(0, ("name", &name));
    }
    hook.push(("timeout", &timeout));
    let hooks = list(&[&object(&hook)]);
    match wanted.matcher {
        Some(matcher) => object(&[("matcher", &quoted(matcher)), ("hooks", &hooks)]),
        None => object(&[("hooks", &hooks)]),
    }
}

fn member(name: &str, value: &str) -> String {
    format!("\"{name}\": {value}")
}

fn object(members: &[(&str, &str)]) -> String {
    let members: Vec<String> = members
        .iter()
        .map(|(name, value)| member(name, value))
        .collect();
    let members: Vec<&str> = members.iter().map(String::as_str).collect();
    block('{', '}', &members)
}

fn list(items: &[&str]) -> String {
    block('[', ']', items)
}

fn block(opens: char, closes: char, parts: &[&str]) -> String {
    let parts: Vec<String> = parts
        .iter()
        .map(|part| format!("\n\t{}", part.replace('\n', "\n\t")))
        .collect();
    format!("{opens}{}\n{closes}", parts.join(","))
}

/// What a level is indented by: as the first line that is.
fn indent_of(text: &str) -> String {
    let indented = text.lines().find_map(|line| {
        let blanks = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        (!blanks.is_empty() && blanks.len() < line.len()).then_some(blanks)
    });
    match indented {
        Some(blanks) if blanks.starts_with('\t') => "\t".to_owned(),
        Some(blanks) if blanks.len() <= 8 => blanks.to_owned(),
        Some(_) | None => "  ".to_owned(),
    }
}

/// The text without the first of our entries, of this event or of any; none if there is none.
fn without_first(host: Host, text: &str, event: Option<&str>) -> Result<Option<String>, Mistake> {
    let root = whole(host, text)?;
    let Some(hooks) = root.member("hooks") else {
        return Ok(None);
    };
    let Part::Object(events) = &hooks.part else {
        return Ok(None);
    };
    for (name, groups) in events {
        if event.is_some_and(|event| event != name.text) {
            continue;
        }
        for (n, group) in groups.items().iter().enumerate() {
            let commands = group.member("hooks").map_or(&[][..], Node::items);
            let ours = commands.iter().position(|hook| {
                let command = hook.member("command").and_then(Node::text);
                command.is_some_and(|command| is_ours(host, command))
            });
            let Some(ours) = ours else { continue };
            let without = match group.member("hooks") {
                Some(list) if commands.len() > 1 => list.without(text, ours),
                _ if groups.items().len() > 1 => groups.without(text, n),
                _ if events.len() > 1 => hooks.without_member(text, &name.text),
                _ => root.without_member(text, "hooks"),
            };
            return Ok(Some(without));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAUDE: Host = Host::ClaudeCode;

    fn value(text: &str) -> serde_json::Value {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
    }

    #[test]
    fn entries_come_and_go_and_the_rest_stays_to_the_byte() {
        for text in [
            "{\n  \"model\": \"opus\",\n  \"permissions\": {\"allow\": []}\n}\n",
            "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}\n\t\t]\n\t}\n}",
            "{\"a\":1,\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"mine\"}]}]}}",
            "{\n    \"hooks\": {\n        \"Other\": 3\n    },\n    \"z\": 1.50\n}\n",
        ] {
            let with = with_entries(CLAUDE, text).unwrap();
            let all: Vec<&str> = CLAUDE.wanted().iter().map(|one| one.event).collect();
            assert_eq!(installed(CLAUDE, &with).unwrap(), all);
            assert_eq!(with_entries(CLAUDE, &with).unwrap(), with, "again");
            assert_eq!(without_entries(CLAUDE, &with).unwrap(), text);
            assert_eq!(without_entries(CLAUDE, text).unwrap(), text);
            let (before, after) = (value(text), value(&with));
            assert_eq!(before.get("a"), after.get("a"));
            for (event, groups) in before["hooks"].as_object().into_iter().flatten() {
                for group in groups.as_array().into_iter().flatten() {
                    let kept = after["hooks"][event].as_array().unwrap();
                    assert!(kept.contains(group), "{event}");
                }
            }
        }
    }

    #[test]
    fn a_comment_never_takes_in_what_comes_behind_it() {
        for text in [
            "{\n  // nothing yet\n}\n",
            "{ // one\n \"a\": 1, // two\n \"b\": 2 // three\n}",
            "{\"hooks\": { // ours\n \"Stop\": [ // mine\n {\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}]}}",
            "{\"url\": \"http://x\"}",
        ] {
            let with = with_entries(Host::Gemini, text).unwrap();
            let without = without_entries(Host::Gemini, &with).unwrap();
            assert_eq!(
                installed(Host::Gemini, &without).unwrap(),
                Vec::<&str>::new()
            );
            for comment in [
                "nothing yet",
                "one",
                "two",
                "three",
                "ours",
                "mine",
                "http://x",
            ] {
                assert_eq!(
                    text.contains(comment),
                    without.contains(comment),
                    "{without}"
                );
            }
        }
    }

    #[test]
    fn a_file_of_its_own_looks_as_a_person_would_write_it() {
        let with = with_entries(Host::Codex, "").unwrap();
        assert!(
            with.starts_with(
                "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"heirloom hook codex SessionStart\",\n            \"timeout\": 10\n          }\n        ]\n      }\n    ],\n"
            ),
            "{with}"
        );
        assert!(with.ends_with("    ]\n  }\n}\n"), "{with}");
        assert_eq!(
            value(&without_entries(Host::Codex, &with).unwrap()),
            value("{}")
        );
        assert_eq!(with_entries(Host::Codex, "{}\n").unwrap(), with);
        assert_eq!(with_entries(Host::Codex, "{ }\n").unwrap(), with);
    }

    #[test]
    fn what_another_version_wrote_is_replaced() {
        let old = r#"{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"/usr/bin/heirloom hook claude-code PreToolUse"},{"type":"command","command":"mine"}]}],"Notification":[{"hooks":[{"type":"command","command":"heirloom hook claude-code Notification"}]}]}}"#;
        let with = with_entries(CLAUDE, old).unwrap();
        let read = value(&with);
        let groups = read["hooks"]["PreToolUse"].as_array().unwrap();
        assert_eq!(groups.len(), 2);
        assert_eq!(
            groups[0]["hooks"],
            serde_json::json!([{"type": "command", "command": "mine"}])
        );
        assert_eq!(
            groups[1]["matcher"],
            "Bash|Edit|MultiEdit|Write|NotebookEdit"
        );
        let without = without_entries(CLAUDE, &with).unwrap();
        assert!(!without.contains("heirloom"), "{without}");
        assert!(without.contains("mine"));
        for (host, command, ours) in [
            (CLAUDE, "heirloom hook claude-code X", true),
            (CLAUDE, "heirloom hook codex X", false),
            (CLAUDE, "my-heirloom hook claude-code X", false),
            (CLAUDE, "echo heirloom hook claude-code", false),
        ] {
            assert_eq!(is_ours(host, command), ours, "{command}");
        }
    }

    #[test]
    fn comments_stay_where_the_program_reads_them() {
        let text = "// mine\n{\n  \"a\": 1, // one\n  /* two */\n  \"b\": 2 // last\n}\n// end\n";
        let with = with_entries(Host::Gemini, text).unwrap();
        for part in [
            "// mine\n",
            "\"a\": 1, // one\n  /* two */\n",
            "// last\n",
            "// end\n",
        ] {
            assert!(with.contains(part), "{with}");
        }
        assert_eq!(with_entries(Host::Gemini, &with).unwrap(), with);
        let without = without_entries(Host::Gemini, &with).unwrap();
        assert!(
            without.contains("// last") && !without.contains("heirloom"),
            "{without}"
        );
        let mistake = with_entries(CLAUDE, text).unwrap_err();
        assert_eq!(mistake.line, 1);
        assert!(mistake.message.contains("comment"), "{}", mistake.message);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, line) in [
            ("{\n  \"a\": 1,\n}\n", 3),
            ("{\n  \"a\" 1\n}\n", 2),
            ("[]", 1),
            ("\n\n3", 3),
            ("{\n\"hooks\": []}", 2),
            ("{\"hooks\": {\n\n\"Stop\": {}}}", 3),
            ("{\"a\": \"x", 1),
            ("{} {}", 1),
            ("{\"a\": nul}", 1),
            ("{\"a\": 'x'}", 1),
            ("{\n\"a\": 1,\n\"a\": 2", 3),
        ] {
            let mistake = with_entries(CLAUDE, text).unwrap_err();
            assert_eq!(mistake.line, line, "{text}: {}", mistake.message);
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_stands_there_nothing_is_lost(text in "(\\{|\\}|\\[|\\]|,|:|\"hooks\"|\"Stop\"|\"a\"|1|null|\"command\"|\"heirloom hook gemini X\"| |\n|//x\n|/\\*y\\*/){0,30}") {
            for host in Host::ALL {
                if let Ok(with) = with_entries(host, &text) {
                    proptest::prop_assert_eq!(with_entries(host, &with).unwrap(), with.clone());
                    let all = host.wanted().len();
                    proptest::prop_assert_eq!(installed(host, &with).unwrap().len(), all);
                    let without = without_entries(host, &with).unwrap();
                    proptest::prop_assert!(installed(host, &without).unwrap().is_empty());
                }
            }
        }
    }
}
