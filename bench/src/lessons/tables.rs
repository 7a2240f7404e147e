//! Constructed tables of the tests: people's turns, failures with their changes, and endings of iterations.

#[path = "../../../crates/lessons/tests/support/fail_edit_pass.rs"]
pub(super) mod fail_edit_pass;
#[path = "../../../crates/capture/tests/support/iteration_endings.rs"]
mod iteration_endings;
#[path = "../../../crates/lessons/tests/support/user_turns.rs"]
pub(super) mod user_turns;

use crate::results;
use fail_edit_pass::{PairVerdict, check_pairs};
use iteration_endings::play_endings;
use user_turns::{RuleCounts, measure_turns};

/// Measures all tables.
pub(super) fn measure() {
    measure_rules();
    measure_resolutions();
    measure_endings();
}

fn measure_rules() {
    let turns = measure_turns();
    let mut counts = RuleCounts::default();
    for turn in &turns {
        counts.add(turn);
        if turn.sets_rule && turn.right == 0 {
            println!("  rule not found, {}: {}", turn.language, turn.text);
        }
        for rule in &turn.wrong {
            println!("  false rule, {}: {} {rule}", turn.language, turn.text);
        }
    }
    let name = format!("people's rules in {} turns", turns.len());
    let value = |id, what: &str, share: f64| {
        results::value(id, &format!("{name}, {what}"), "%", 100.0 * share);
    };
    value("lessons.rules_precision", "precision", counts.precision());
    value("lessons.rules_recall", "recall", counts.recall());
}

fn measure_resolutions() {
    let (mut lessons, mut unnamed, mut claims) = (0_u32, 0_u32, 0_u32);
    for pair in check_pairs() {
        lessons += u32::from(pair.is_lesson);
        let problem = match pair.verdict {
            PairVerdict::Right => continue,
            PairVerdict::FalseClaim => {
                claims += 1;
                "false claim"
            }
            PairVerdict::Unnamed => {
                unnamed += 1;
                "change not named"
            }
        };
        println!("  {problem}, {}: {:?}", pair.name, pair.texts);
    }
    let named = f64::from(lessons - unnamed) / f64::from(lessons.max(1));
    let name = format!("resolutions that name the change, {lessons} pairs");
    results::value("lessons.changes_named", &name, "%", 100.0 * named);
    let name = "pairs with a claim that the edit contradicts";
    results::value("lessons.false_claims", name, "pairs", f64::from(claims));
}

fn measure_endings() {
    let endings = play_endings();
    let (mut unproven, mut missed) = (0_u32, 0_u32);
    for ending in &endings {
        if ending.is_closed == ending.is_evidence {
            continue;
        }
        unproven += u32::from(ending.is_closed);
        missed += u32::from(!ending.is_closed);
        println!("  wrong state, {}: {}", ending.name, ending.attributes);
    }
    let count = endings.len();
    let name = format!("errors closed without evidence, {count} endings");
    results::value(
        "lessons.unproven_closings",
        &name,
        "errors",
        unproven.into(),
    );
    let name = format!("errors left open despite evidence, {count} endings");
    results::value("lessons.missed_closings", &name, "errors", missed.into());
}
