//! A dead end: an edit that does not help is reverted before the true fix. The next session must be told the true fix.

use heirloom_testkit::{RecordedRequest, Turn};

use super::MemoryFindings;
use super::session::{MemoryProject, PRICING};
use super::told_lines::{fixes, lines};
use crate::agents::hooks::ensure;

/// The test command of the project.
pub(super) const TEST: &str = "PYTHONPATH=src python3 -m unittest discover -s tests";
const WITH_URL: &str =
    "SHOP_DB_URL=sqlite:///:memory: PYTHONPATH=src python3 -m unittest discover -s tests";

const BROKEN: &str = "    return int(cents * (100 - percent) / 100)";
const DEAD_END: &str = "    return int(cents * (100 - percent) / 100 + 0.49)";
const FIXED: &str = "    return (cents * (100 - percent) + 50) // 100";

/// Failures of the two tests, and what fixes each.
const FAILURES: [(&str, &str); 2] = [
    ("KeyError", "SHOP_DB_URL=sqlite:///:memory:"),
    ("499 != 500", "+ 50) // 100"),
];

/// Prompt of the next session.
const QUESTION: &str = "The discount test fails with AssertionError: 499 != 500 and test_connects with KeyError: 'SHOP_DB_URL'. What fixed them?";

/// Runs the session with the dead end and the next one; returns what is wrong.
pub(super) fn drive(
    project: &MemoryProject<'_>,
    findings: &mut MemoryFindings,
) -> Result<Vec<String>, String> {
    run_dead_end(project)?;
    let found = project.answer(&["tried", "add 0.49 before truncating"], "tried")?;
    let has_failed = found["failed"] == true && found.to_string().contains("0.49");
    findings.dead_end_found = Some(has_failed);
    project.restore_files()?;
    let tools = &project.tools;
    let next = project.run_session(
        "next",
        QUESTION,
        vec![
            tools.shell("I run the tests.", TEST),
            Turn::text("They fail as before."),
        ],
    )?;
    let mut wrong = check_told(&next, findings)?;
    if !has_failed {
        wrong.push(format!("`heirloom tried` answers {found}"));
    }
    Ok(wrong)
}

/// Runs the session with the dead end.
pub(super) fn run_dead_end(project: &MemoryProject<'_>) -> Result<(), String> {
    let prompt = "Run the test suite and fix what is broken.";
    project.run_session("dead-end", prompt, turns(project))?;
    ensure(
        project.read(PRICING).contains(FIXED),
        "the session did not fix the file",
    )
}

fn turns(project: &MemoryProject<'_>) -> Vec<Turn> {
    let tools = &project.tools;
    let mut turns = vec![
        tools.shell("I'll run the tests first.", TEST),
        tools.shell("The variable is missing, I set it.", WITH_URL),
    ];
    turns.extend(tools.edit("I add 0.49 before truncating.", PRICING, BROKEN, DEAD_END));
    turns.push(tools.shell("I run the tests again.", WITH_URL));
    turns.push(tools.shell(
        "Adding 0.49 does not work because int() still truncates 499.99 to 499. I'll revert that.",
        &format!("git checkout -- {PRICING}"),
    ));
    turns.extend(tools.edit("I round in integers.", PRICING, BROKEN, FIXED));
    turns.push(tools.shell("I run the tests again.", WITH_URL));
    turns.push(Turn::text(
        "All tests pass. The discount was wrong because int() truncates half cents; adding 50 before the integer \
         division rounds half up.",
    ));
    turns
}

fn check_told(
    requests: &[RecordedRequest],
    findings: &mut MemoryFindings,
) -> Result<Vec<String>, String> {
    let first = requests.first().ok_or("the next session asked nothing")?;
    let mut wrong = Vec::new();
    for (place, told) in [
        ("before the failure", lines(std::slice::from_ref(first))),
        ("in the session", lines(requests)),
    ] {
        for (failure, fix) in FAILURES {
            let is_true =
                |(about, named): &(String, String)| about.contains(failure) && named.contains(fix);
            if !fixes(&told).iter().any(is_true) {
                wrong.push(format!(
                    "{place} `{fix}` is not told as the fix of {failure}"
                ));
            }
        }
    }
    findings.fix_told_true = Some(wrong.is_empty());
    let told = lines(requests);
    let is_false = |(about, named): &(String, String)| {
        let is_dead_end = ["0.49", "git checkout"]
            .iter()
            .any(|part| named.contains(part));
        let of_other = about.contains("499 != 500")
            && !about.contains("KeyError")
            && named.contains("SHOP_DB_URL=")
            || about.contains("KeyError")
                && !about.contains("499 != 500")
                && named.contains("// 100");
        is_dead_end || of_other
    };
    let false_fixes: Vec<_> = fixes(&told).into_iter().filter(is_false).collect();
    findings.dead_end_told = Some(!false_fixes.is_empty());
    wrong.extend(
        false_fixes
            .iter()
            .map(|(about, named)| format!("a false fix is told: {about}{named}")),
    );
    if !wrong.is_empty() {
        wrong.push(format!("told: {:?}", fixes(&told)));
    }
    Ok(wrong)
}
