//! Rules that a person replaces: every agent program is told the new one, and not the old one.

use super::HookedProject;
use super::killed_sessions::{PROGRAMS, recording};
use heirloom_agents::AgentProgram;
use heirloom_agents::hooks::{HookEventKind, HookSpec};
use serde_json::json;

fn event(program: AgentProgram, kind: HookEventKind) -> &'static str {
    let is_meant = |spec: &&HookSpec| spec.kind == kind;
    let spec = program.hook_specs().iter().find(is_meant);
    spec.unwrap().event
}

/// Types a prompt in a session of its own.
fn say(project: &HookedProject, session: &str, program: AgentProgram, prompt: &str) {
    let prompts = event(program, HookEventKind::Prompt);
    project.send_in(session, program, prompts, json!({ "prompt": prompt }));
}

#[test]
fn every_program_is_told_the_new_rule_only() {
    for program in PROGRAMS {
        let project = recording();
        say(
            &project,
            "one",
            program,
            "Always run the tests with SHOP_DB_URL=sqlite:///:memory:, never against the real database. Now export the orders.",
        );
        say(
            &project,
            "two",
            program,
            "Change of plan: from now on the tests must run with SHOP_DB_URL=postgresql://localhost/shop_test. Now adapt the scripts.",
        );
        let starts = event(program, HookEventKind::SessionStart);
        let told = project.send_in("three", program, starts, json!({"source": "startup"}));
        assert!(
            told.contains("postgresql://localhost/shop_test"),
            "{program}: {told}"
        );
        assert!(!told.contains("sqlite"), "{program}: {told}");
    }
}

#[test]
fn every_program_is_told_the_rules_of_two_sentences_that_change_a_habit() {
    for program in PROGRAMS {
        let project = recording();
        for (session, prompt) in [
            (
                "one",
                "Good. Two rules for this repo: never use floats for money, always integer cents. And always run the tests with SHOP_DB_URL=sqlite:///:memory:, never against the real database.",
            ),
            (
                "two",
                "Change of plan: from now on use Decimal for money, not integer cents.",
            ),
            (
                "three",
                "No, stop running the tests with sqlite. The tests must run with SHOP_DB_URL=postgresql://localhost/shop_test now.",
            ),
        ] {
            say(&project, session, program, prompt);
        }
        let starts = event(program, HookEventKind::SessionStart);
        let told = project.send_in("four", program, starts, json!({"source": "startup"}));
        for part in [
            "use Decimal for money",
            "SHOP_DB_URL=postgresql://localhost/shop_test",
        ] {
            assert!(told.contains(part), "{program}: {told}");
        }
        for part in ["always integer cents", "sqlite:///"] {
            assert!(!told.contains(part), "{program}: {told}");
        }
    }
}

#[test]
fn fix_with_a_value_that_a_person_replaced_is_not_told() {
    let command = "python3 -m unittest discover -s tests";
    let project = recording();
    let claude = AgentProgram::ClaudeCode;
    project.command("one", command, Some("KeyError: 'SHOP_DB_URL'"));
    let with_url = format!("SHOP_DB_URL=sqlite:///:memory: {command}");
    project.command("one", &with_url, None);
    let start = |session: &str| {
        project.send_in(
            session,
            claude,
            "SessionStart",
            json!({"source": "startup"}),
        )
    };
    start("two");
    assert!(
        project
            .before("two", command)
            .contains("SHOP_DB_URL=sqlite")
    );
    say(
        &project,
        "two",
        claude,
        "No, stop running the tests with sqlite. The tests must run with SHOP_DB_URL=postgresql://localhost/shop_test now.",
    );
    let prompt = "python3 -m unittest discover -s tests fails with KeyError: 'SHOP_DB_URL'";
    let prompt = json!({ "prompt": prompt });
    for told in [
        start("three"),
        project.send_in("three", claude, "UserPromptSubmit", prompt),
        project.before("three", command),
        project.command("three", command, Some("KeyError: 'SHOP_DB_URL'")),
    ] {
        assert!(!told.contains("SHOP_DB_URL=sqlite"), "{told}");
    }
    assert!(start("four").contains("postgresql://localhost/shop_test"));
}

#[test]
fn every_program_is_told_a_rule_that_nothing_replaced() {
    for program in PROGRAMS {
        let project = recording();
        let (money, tests) = (
            "Never use floats for money, always integer cents.",
            "Change of plan: from now on the tests must run with SHOP_DB_URL=postgresql://localhost/shop_test.",
        );
        say(&project, "one", program, money);
        say(&project, "two", program, tests);
        let starts = event(program, HookEventKind::SessionStart);
        let told = project.send_in("three", program, starts, json!({"source": "startup"}));
        for part in ["integer cents", "postgresql://localhost/shop_test"] {
            assert!(told.contains(part), "{program}: {told}");
        }
    }
}
