//! Tests of hook entries in JSON files.

use super::{add_hook_entries, installed_events, remove_hook_entries};
use crate::AgentProgram;

const CLAUDE: AgentProgram = AgentProgram::ClaudeCode;
/// Programs with hook entries in a JSON file.
const JSON: [AgentProgram; 3] = [CLAUDE, AgentProgram::Codex, AgentProgram::Gemini];

fn value(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

#[test]
fn add_then_remove_hook_entries_restores_text() {
    for text in [
        "{\n  \"model\": \"opus\",\n  \"permissions\": {\"allow\": []}\n}\n",
        "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}\n\t\t]\n\t}\n}",
        "{\"a\":1,\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"mine\"}]}]}}",
        "{\n    \"hooks\": {\n        \"Other\": 3\n    },\n    \"z\": 1.50\n}\n",
    ] {
        let with = add_hook_entries(CLAUDE, text).unwrap();
        let all: Vec<&str> = CLAUDE.hook_specs().iter().map(|one| one.event).collect();
        assert_eq!(installed_events(CLAUDE, &with).unwrap(), all);
        assert_eq!(add_hook_entries(CLAUDE, &with).unwrap(), with, "again");
        assert_eq!(remove_hook_entries(CLAUDE, &with, None).unwrap(), text);
        assert_eq!(remove_hook_entries(CLAUDE, text, None).unwrap(), text);
        let (before, after) = (value(text), value(&with));
        assert_eq!(before.get("a"), after.get("a"));
        for (event, groups) in before["hooks"].as_object().into_iter().flatten() {
            for group in groups.as_array().into_iter().flatten() {
                let remaining = after["hooks"][event].as_array().unwrap();
                assert!(remaining.contains(group), "{event}");
            }
        }
    }
}

#[test]
fn add_hook_entries_keeps_comments_separate() {
    for text in [
        "{\n  // nothing yet\n}\n",
        "{ // one\n \"a\": 1, // two\n \"b\": 2 // three\n}",
        "{\"hooks\": { // ours\n \"Stop\": [ // mine\n {\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}]}}",
        "{\"url\": \"http://x\"}",
    ] {
        let with = add_hook_entries(AgentProgram::Gemini, text).unwrap();
        let without = remove_hook_entries(AgentProgram::Gemini, &with, None).unwrap();
        assert_eq!(
            installed_events(AgentProgram::Gemini, &without).unwrap(),
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
fn add_hook_entries_to_empty_file_is_well_formatted() {
    let with = add_hook_entries(AgentProgram::Codex, "").unwrap();
    assert!(
        with.starts_with(
            "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"/bin/sh -c 'exec 2>/dev/null; heirloom hook codex SessionStart || cat >/dev/null; exit 0'\",\n            \"timeout\": 10\n          }\n        ]\n      }\n    ],\n"
        ),
        "{with}"
    );
    assert!(with.ends_with("    ]\n  }\n}\n"), "{with}");
    assert_eq!(
        value(&remove_hook_entries(AgentProgram::Codex, &with, None).unwrap()),
        value("{}")
    );
    assert_eq!(add_hook_entries(AgentProgram::Codex, "{}\n").unwrap(), with);
    assert_eq!(
        add_hook_entries(AgentProgram::Codex, "{ }\n").unwrap(),
        with
    );
}

#[test]
fn add_hook_entries_replaces_entries_of_other_versions() {
    let old = r#"{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"/usr/bin/heirloom hook claude-code PreToolUse"},{"type":"command","command":"mine"}]}],"Notification":[{"hooks":[{"type":"command","command":"heirloom hook claude-code Notification"}]}]}}"#;
    let with = add_hook_entries(CLAUDE, old).unwrap();
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
    let without = remove_hook_entries(CLAUDE, &with, None).unwrap();
    assert!(!without.contains("heirloom"), "{without}");
    assert!(without.contains("mine"));
}

#[test]
fn add_hook_entries_updates_old_command_in_place() {
    let mine =
        r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"mine"}]}]},"z":1}"#;
    for program in JSON {
        let new = add_hook_entries(program, mine).unwrap();
        let mut old = new.clone();
        for spec in program.hook_specs() {
            let command = format!("heirloom hook {} {}", program.as_str(), spec.event);
            old = old.replace(&program.hook_command(spec.event), &command);
        }
        assert_ne!(old, new);
        assert_eq!(installed_events(program, &old).unwrap(), Vec::<&str>::new());
        assert_eq!(add_hook_entries(program, &old).unwrap(), new);
        for text in [&old, &new] {
            assert_eq!(remove_hook_entries(program, text, None).unwrap(), mine);
        }
    }
}

#[test]
fn remove_hook_entries_keeps_empty_lists_of_original() {
    for (original, left) in [
        ("{\"hooks\": {}}", "{\"hooks\": {}}"),
        (
            "{\"hooks\": {\"SessionStart\": []}}",
            "{\"hooks\": {\"SessionStart\": []}}",
        ),
        (
            "{\"hooks\": {\"SessionEnd\": []}, \"a\": 1}",
            "{\"hooks\": {\"SessionEnd\": []}, \"a\": 1}",
        ),
        ("{\"a\": 1}", "{\"a\": 1}"),
    ] {
        for program in JSON {
            let with = add_hook_entries(program, original).unwrap();
            let without = remove_hook_entries(program, &with, Some(original)).unwrap();
            assert_eq!(value(&without), value(left), "{without}");
        }
    }
}

#[test]
fn add_hook_entries_keeps_trailing_comma_in_jsonc() {
    for text in [
        "{\n  \"a\": 1,\n}\n",
        "{\"a\": 1,}",
        "{\"a\": [1, 2,], /* one */ }",
        "{\"hooks\": {\"SessionStart\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\",},],},],},}",
        "{\"a\": 1, // one\n  // two\n}",
        "{\"a\": 1 /* one */, /* two */ \n}",
        "{\"url\": \"http://x\" }",
        "{\r\n\t\"a\": 1 // one \r\n}\r\n",
    ] {
        let with = add_hook_entries(AgentProgram::Gemini, text).unwrap();
        assert_eq!(
            installed_events(AgentProgram::Gemini, &with).unwrap().len(),
            AgentProgram::Gemini.hook_specs().len()
        );
        assert_eq!(
            add_hook_entries(AgentProgram::Gemini, &with).unwrap(),
            with,
            "again"
        );
        let without = remove_hook_entries(AgentProgram::Gemini, &with, Some(text)).unwrap();
        assert_eq!(without, text);
        if text.contains(",}") {
            assert!(add_hook_entries(CLAUDE, text).is_err());
        }
    }
    for odd in ["{,}", "{\"a\": [,]}", "{\"a\": 1,,}", "{\"a\": [1,,]}"] {
        assert!(
            add_hook_entries(AgentProgram::Gemini, odd).is_err(),
            "{odd}"
        );
    }
}

#[test]
fn add_hook_entries_uses_line_endings_of_file() {
    for text in [
        "{\r\n  \"a\": 1\r\n}\r\n",
        "{\r\n  \"hooks\": {\r\n    \"SessionStart\": []\r\n  }\r\n}",
    ] {
        for program in JSON {
            let with = add_hook_entries(program, text).unwrap();
            assert!(with.lines().count() > 20);
            assert!(!with.replace("\r\n", "").contains('\n'), "{with:?}");
            assert_eq!(add_hook_entries(program, &with).unwrap(), with);
            let without = remove_hook_entries(program, &with, Some(text)).unwrap();
            assert_eq!(value(&without), value(text));
            assert!(!without.replace("\r\n", "").contains('\n'), "{without:?}");
        }
    }
    let with = add_hook_entries(CLAUDE, "{\n  \"a\": 1\n}\n").unwrap();
    assert!(!with.contains('\r'));
}

#[test]
fn add_hook_entries_keeps_comments_in_jsonc() {
    let text = "// mine\n{\n  \"a\": 1, // one\n  /* two */\n  \"b\": 2 // last\n}\n// end\n";
    let with = add_hook_entries(AgentProgram::Gemini, text).unwrap();
    for part in [
        "// mine\n",
        "\"a\": 1, // one\n  /* two */\n",
        "// last\n",
        "// end\n",
    ] {
        assert!(with.contains(part), "{with}");
    }
    assert_eq!(add_hook_entries(AgentProgram::Gemini, &with).unwrap(), with);
    let without = remove_hook_entries(AgentProgram::Gemini, &with, None).unwrap();
    assert!(
        without.contains("// last") && !without.contains("heirloom"),
        "{without}"
    );
    let mistake = add_hook_entries(CLAUDE, text).unwrap_err();
    assert_eq!(mistake.line, 1);
    assert!(mistake.message.contains("comment"), "{}", mistake.message);
}

#[test]
fn add_hook_entries_invalid_settings_reports_line() {
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
        ("{\n\"a\": \"x\ty\"}", 2),
        ("{\n\"a\": \"x\ny\"}", 2),
        ("{\n\u{a0}}", 2),
    ] {
        let mistake = add_hook_entries(CLAUDE, text).unwrap_err();
        assert_eq!(mistake.line, line, "{text}: {}", mistake.message);
    }
    // The parser ends a comment at a lone carriage return, and Gemini CLI does not.
    let text = "{\n// one\r\"a\": 1\n}";
    let mistake = add_hook_entries(AgentProgram::Gemini, text).unwrap_err();
    assert_eq!(mistake.line, 2, "{}", mistake.message);
    let deep = format!("{{\"a\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let mistake = add_hook_entries(CLAUDE, &deep).unwrap_err();
    assert!(mistake.message.contains("depth"), "{}", mistake.message);
}

#[test]
fn remove_hook_entries_keeps_comments_on_line_of_entry() {
    let text = "{\"hooks\": {\"SessionEnd\": [\n  {\"hooks\": [\"http://x\"]}, // one\n  /* two */ OURS /* three */, // four\n  3 // five\n]}}\n";
    let command = r#"{"hooks": [{"command": "heirloom hook gemini SessionEnd"}]}"#;
    for (from, to, left) in [
        (
            "OURS",
            command,
            "// one\n  /* two */ /* three */ // four\n  3 // five\n",
        ),
        (
            "OURS /* three */, // four\n  3 // five",
            &format!("{command} // four"),
            "{\"hooks\": [\"http://x\"]} // one\n  /* two */ // four\n]",
        ),
        (
            "{\"hooks\": [\"http://x\"]}, // one\n  /* two */ OURS /* three */, // four\n",
            &format!("{command} // four\n ,"),
            "[\n   // four\n3 // five\n]",
        ),
        (
            "{\"hooks\": [\"http://x\"]}, // one\n  /* two */ OURS /* three */, // four\n  3 // five",
            &format!("{command} /* three */, // four"),
            "[ /* three */// four\n]",
        ),
    ] {
        let with = text.replace(from, to);
        let original = Some("{\"hooks\": {\"SessionEnd\": []}}");
        let without = remove_hook_entries(AgentProgram::Gemini, &with, original).unwrap();
        assert!(without.contains(left), "{without}");
    }
}

#[test]
fn an_empty_file_gets_every_event_of_the_program_or_of_the_one_with_the_same_hooks() {
    for program in AgentProgram::ALL {
        let other = program
            .settings()
            .and_then(|format| format.shares_hooks_with);
        let specs = match program.hook_specs() {
            [] => other.map_or(&[][..], AgentProgram::hook_specs),
            own => own,
        };
        let with = add_hook_entries(program, "").unwrap();
        assert_eq!(add_hook_entries(program, &with).unwrap(), with);
        let events = installed_events(program, &with).unwrap();
        let expected: Vec<&str> = specs.iter().map(|spec| spec.event).collect();
        assert_eq!(events, expected, "{}", program.as_str());
        let without = remove_hook_entries(program, &with, None).unwrap();
        assert!(installed_events(program, &without).unwrap().is_empty());
    }
}

proptest::proptest! {
    #[test]
    fn add_then_remove_hook_entries_succeeds_on_any_valid_text(text in "(\\{|\\}|\\[|\\]|,|:|\"hooks\"|\"Stop\"|\"a\"|1|null|\"command\"|\"heirloom hook gemini X\"| |\n|//x\n|/\\*y\\*/){0,30}") {
        for program in JSON {
            if let Ok(with) = add_hook_entries(program, &text) {
                proptest::prop_assert_eq!(add_hook_entries(program, &with).unwrap(), with.clone());
                let all = program.hook_specs().len();
                proptest::prop_assert_eq!(installed_events(program, &with).unwrap().len(), all);
                let without = remove_hook_entries(program, &with, None).unwrap();
                proptest::prop_assert!(installed_events(program, &without).unwrap().is_empty());
            }
        }
    }
}
