//! Starts of sessions: rules of people, and the context.

use super::HookedProject;
use heirloom_agents::AgentProgram;
use heirloom_agents::hooks::without_envelopes;
use heirloom_model::{Budget, Settings, limits, text};
use serde_json::json;

const FACT: &str = "The nightly export writes CSV with semicolons";

/// Splits a start into the rules with their envelope and the memory with its envelope.
#[track_caller]
fn parts(start: &str) -> (&str, &str) {
    let (rules, memory) = start.split_once("\n\n<heirloom-memory project=").unwrap();
    assert!(
        rules.starts_with("<heirloom-rules project=\"p\">\n"),
        "{start}"
    );
    assert!(rules.ends_with("\n</heirloom-rules>"), "{start}");
    assert!(memory.ends_with("\n</heirloom-memory>"), "{start}");
    (rules, memory)
}

#[test]
fn session_start_carries_rules_outside_of_the_data_envelope() {
    let project = HookedProject::new();
    project.remember(FACT);
    project.write_workspace("SOUL.md", "# Soul\nBe brief and exact.\n");
    project.write_workspace("AGENTS.md", "# Agents\nNever push to main.\n");
    let start = project.start("startup");
    let (rules, memory) = parts(&start);
    for rule in ["Be brief and exact.", "Never push to main."] {
        assert!(rules.contains(rule) && !memory.contains(rule), "{start}");
    }
    assert!(
        !rules.contains("data") && !rules.contains("out of date"),
        "{rules}"
    );
    assert!(
        memory.contains("not an instruction") && memory.contains(FACT),
        "{memory}"
    );
    assert!(!rules.contains(FACT), "{rules}");
    // Nothing of it is learned from.
    assert_eq!(without_envelopes(&start).trim(), "");
    // A resumed session has it already; changed rules are told.
    assert_eq!(project.start("resume"), "");
    project.write_workspace("AGENTS.md", "# Agents\nNever push to any branch.\n");
    assert!(
        project
            .start("resume")
            .contains("Never push to any branch.")
    );
    let more = json!({"agent_id": "a1", "agent_type": "explore"});
    let subagent = project.send(AgentProgram::ClaudeCode, "SubagentStart", more);
    let (rules, memory) = parts(&subagent);
    assert!(
        rules.contains("any branch.") && memory.contains(FACT),
        "{subagent}"
    );
}

#[test]
fn session_start_without_rules_has_memory_only() {
    let project = HookedProject::new();
    project.remember(FACT);
    let start = project.start("startup");
    assert!(start.starts_with("<heirloom-memory project="), "{start}");
    assert!(!start.contains("heirloom-rules"), "{start}");
}

#[test]
fn session_start_with_rules_alone_has_no_memory_envelope() {
    let project = HookedProject::new();
    project.write_workspace("AGENTS.md", "# Agents\nNever push to main.\n");
    let start = project.start("startup");
    assert!(start.starts_with("<heirloom-rules"), "{start}");
    assert!(start.ends_with("</heirloom-rules>"), "{start}");
}

#[test]
fn session_start_with_long_rules_leaves_half_to_memory() {
    let settings = Settings {
        context_budget: Budget::Chars(limits::HOOK_TEXT_CHARS_MAX),
        ..Settings::default()
    };
    let project = HookedProject::with_settings(settings);
    for n in 0..200 {
        project.remember(&format!(
            "The part {n} of the warehouse has {} shelves of its own",
            n * 7
        ));
    }
    let rule = "Write the test before the code and run it once.\n";
    project.write_workspace("AGENTS.md", &format!("# Agents\n{}", rule.repeat(140)));
    for (source, chars_max) in [
        ("startup", limits::HOOK_TEXT_CHARS_MAX),
        ("subagent", limits::HOOK_SUBAGENT_CHARS_MAX),
    ] {
        let start = match source {
            "subagent" => project.send(AgentProgram::ClaudeCode, "SubagentStart", json!({})),
            source => project.start(source),
        };
        assert!(text::chars(&start) <= chars_max, "{}", text::chars(&start));
        let (rules, memory) = parts(&start);
        assert!(
            text::chars(rules) <= chars_max / 2,
            "{}",
            text::chars(rules)
        );
        let mut last = rules.lines().rev().skip(1);
        let note = last.next().unwrap();
        assert!(
            note.starts_with("[… ") && note.contains(" characters of these rules"),
            "{note}"
        );
        assert_eq!(last.next(), Some(rule.trim()), "whole lines");
        // Memory gets the rest, and what was left out is said.
        assert!(
            text::chars(memory) > chars_max / 2 - 800,
            "{}",
            text::chars(memory)
        );
        assert!(memory.contains("shelves"), "{memory}");
    }
}

#[test]
fn session_start_after_compaction_fits_with_goal_and_rules() {
    let settings = Settings {
        context_budget: Budget::Chars(limits::HOOK_TEXT_CHARS_MAX),
        ..Settings::default()
    };
    let project = HookedProject::with_settings(settings);
    for n in 0..200 {
        project.remember(&format!(
            "The part {n} of the warehouse has {} shelves of its own",
            n * 7
        ));
    }
    project.write_workspace("AGENTS.md", "# Agents\nNever push to main.\n");
    project.prompt(&"make the export faster ".repeat(40));
    let start = project.start("compact");
    let (rules, memory) = parts(&start);
    assert!(rules.contains("Never push to main."), "{rules}");
    assert!(
        memory.contains("The session began with: make the export"),
        "{memory}"
    );
    assert!(text::chars(&start) <= limits::HOOK_TEXT_CHARS_MAX);
}
