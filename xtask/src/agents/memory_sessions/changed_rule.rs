//! Rules that a person replaces on the next day: the session after it must be told the new ones only, and no fix with a
//! value that was replaced.

use heirloom_testkit::Turn;

use super::MemoryFindings;
use super::dead_end::{TEST, run_dead_end};
use super::session::MemoryProject;
use super::told_lines::lines;

/// Prompts with the rules, each in a session of its own.
const PROMPTS: [&str; 3] = [
    "Good. Two rules for this repo: never use floats for money, always integer cents. And always run the tests with \
     SHOP_DB_URL=sqlite:///:memory:, never against the real database.",
    "Change of plan: from now on use Decimal for money, not integer cents.",
    "No, stop running the tests with sqlite. The tests must run with SHOP_DB_URL=postgresql://localhost/shop_test now.",
];

/// Parts of the old rules that no new one has.
const OLD: [&str; 3] = ["always integer cents", "floats for money", "sqlite:///"];

/// Parts of the new rules.
const NEW: [&str; 2] = [
    "use Decimal for money",
    "SHOP_DB_URL=postgresql://localhost/shop_test",
];

/// Prompt of the session after it.
const QUESTION: &str = "Add a function for shipping prices and run the tests.";

/// Runs the sessions; returns what is wrong.
pub(super) fn drive(
    project: &MemoryProject<'_>,
    findings: &mut MemoryFindings,
) -> Result<Vec<String>, String> {
    // What fixed a test is the value that the person replaces later.
    run_dead_end(project)?;
    for (number, prompt) in PROMPTS.iter().enumerate() {
        let name = format!("rule-{}", number + 1);
        project.run_session(&name, prompt, vec![Turn::text("I will do it that way.")])?;
    }
    let turns = vec![
        project.tools.shell("I run the tests.", TEST),
        Turn::text("They fail without a database."),
    ];
    let next = project.run_session("next", QUESTION, turns)?;
    let told = lines(&next);
    let named = |part: &str| told.iter().find(|line| line.contains(part));
    let old: Vec<&String> = OLD.iter().filter_map(|part| named(part)).collect();
    let missing: Vec<&str> = (NEW.into_iter())
        .filter(|part| named(part).is_none())
        .collect();
    findings.old_rule_told = Some(!old.is_empty());
    findings.new_rule_told = Some(missing.is_empty());
    let mut wrong: Vec<String> = old
        .iter()
        .map(|line| format!("an old rule is told: {line}"))
        .collect();
    wrong.extend(missing.iter().map(|part| format!("`{part}` is not told")));
    Ok(wrong)
}
