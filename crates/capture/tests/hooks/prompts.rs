//! Prompts: relevant records are told with their whole meaning, and nothing else is.

use super::HookedProject;
use heirloom_capture::Hooks;
use heirloom_engine::NewRecord;
use heirloom_model::{Scope, limits};

const PARSER: &str = "The tax rules live in services/billing/src/tax_rules.rs and are loaded once";

/// Returns a project with records about several parts of a shop.
fn shop() -> HookedProject {
    let project = HookedProject::new();
    for text in [
        PARSER,
        "Checkout sessions expire after 30 minutes, because payment tokens do",
        "The product images are resized by a worker that reads the queue `images`",
        "Search results are cached in Redis for ten minutes",
        "The nightly export writes CSV with semicolons for the accounting team",
        "Discount codes are case insensitive and trimmed",
    ] {
        project.remember(text);
    }
    project
        .engine
        .records()
        .remember(NewRecord {
            category: Some("decision".to_owned()),
            rationale: Some("MySQL lost rows during the March migration".to_owned()),
            ..super::fact("Orders are stored in Postgres, not MySQL")
        })
        .unwrap();
    let error = "webhook signature mismatch: stripe returned 400 for /payments/webhook";
    let errors = project.engine.errors();
    errors.log(error, Scope::default(), "claude-code").unwrap();
    errors
        .resolve(error, "read the raw body before the JSON parser", "user")
        .unwrap();
    project
}

#[test]
fn prompt_hook_tells_relevant_record() {
    for (prompt, expected) in [
        (
            "where do the tax rules live and when are they loaded?",
            format!("- fact: {PARSER} (from user, "),
        ),
        (
            "should orders be stored in MySQL or in Postgres?",
            "- decision: Orders are stored in Postgres, not MySQL (because MySQL lost rows during the March migration) (from user, ".to_owned(),
        ),
        (
            "I get this again:\nwebhook signature mismatch: stripe returned 400 for /payments/webhook",
            "- error: webhook signature mismatch: stripe returned 400 for /payments/webhook → fixed by: read the raw body before the JSON parser (from ".to_owned(),
        ),
    ] {
        let project = shop();
        let answer = project.prompt(prompt);
        assert!(answer.contains(&expected), "{prompt}: {answer}");
        assert!(answer.starts_with("<heirloom-memory project="), "{answer}");
        assert_eq!(project.prompt(prompt), "", "it was told");
    }
}

#[test]
fn prompt_hook_is_silent_for_path_alone() {
    let project = shop();
    for prompt in [
        "services/billing/src/tax_rules.rs",
        "./services/billing/src/tax_rules.rs",
        "@services/billing/src/tax_rules.rs",
        "services/billing/src/tax_rules.rs:120",
        "services/billing/src",
        "rename the helper in services/billing/src/tax_rules.rs to snake case and format the file",
        "add a license header to services/billing/src/tax_rules.rs",
    ] {
        assert_eq!(project.prompt(prompt), "", "{prompt}");
    }
    // A word in addition to the path is shared.
    let prompt = "which tax rules are loaded in services/billing/src/tax_rules.rs?";
    assert!(project.prompt(prompt).contains(PARSER));
}

#[test]
fn prompt_hook_is_silent_for_unrelated_work() {
    let project = shop();
    for prompt in [
        "add a dark theme to the settings page",
        "write release notes for version 2.4",
        "upgrade eslint to version 9 and fix the warnings",
        "why is the CI pipeline slow on Windows?",
        "thanks, that looks good",
        "continue",
        "git rebase this branch on main",
        "add a unit test for the date picker component",
    ] {
        assert_eq!(project.prompt(prompt), "", "{prompt}");
    }
}

#[test]
fn compaction_makes_records_tellable_again() {
    use heirloom_agents::hooks::HookEventKind;
    use serde_json::json;
    const PROMPT: &str = "where do the tax rules live and when are they loaded?";
    // Gemini CLI and opencode start no session directly after a compaction.
    for host in super::hosts_taking_text(HookEventKind::Prompt) {
        let project = shop();
        let ask = || {
            let event = super::event_of(host, HookEventKind::Prompt);
            project.send(host, event, json!({"prompt": PROMPT}))
        };
        assert!(ask().contains(PARSER), "{host:?}");
        assert_eq!(ask(), "", "{host:?} has it");
        let event = super::event_of(host, HookEventKind::BeforeCompaction);
        assert_eq!(project.send(host, event, json!({"trigger": "auto"})), "");
        assert!(ask().contains(PARSER), "{host:?} lost it");
    }
    // The list that follows has its records.
    let project = shop();
    project.rule(PARSER);
    assert!(project.prompt(PROMPT).contains(PARSER));
    assert!(project.start("compact").contains(PARSER));
    let rest = project.prompt(PROMPT);
    assert!(
        !rest.contains("- convention: "),
        "the new list has it: {rest}"
    );
}

#[test]
fn considered_records_are_limited() {
    let project = HookedProject::new();
    let word = |number: usize| -> String {
        let letter = |of: usize| char::from(b'a' + u8::try_from(of % 20).unwrap());
        (0..4)
            .map(|at| letter(number / 20_usize.pow(at) + 7 * at as usize))
            .collect()
    };
    let considered = |records: usize| {
        for n in 0..records {
            let own: Vec<String> = (0..6).map(|at| word(6 * n + at)).collect();
            project.remember(&format!("zeppelin {}", own.join(" ")));
        }
        let hits = Hooks::new(&project.engine).relevant_hits("which zeppelin is it");
        hits.unwrap().len()
    };
    let most = limits::HOOK_CANDIDATES_MAX;
    assert_eq!(considered(most), most);
    assert_eq!(considered(most + 1), most);
}
