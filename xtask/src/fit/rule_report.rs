//! Report of the model of lasting rules: what models without a group find in it.

use super::rule_sentences::{LabelledTurn, RuleSentences, groups};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Kind of turns that only look like rules.
const NEGATIVE: &str = "negative";

/// Rules and other sentences of a group, and what models without the group take for rules.
#[derive(Debug, Default)]
struct GroupFigures {
    rules: usize,
    found: usize,
    /// Turns that only look like rules.
    negatives: usize,
    taken_negatives: usize,
    others: usize,
    taken: usize,
}

/// Counts the sentences of a group; a rule with a name may have several.
fn figures(
    turns: &[LabelledTurn],
    held_out: &[Vec<f64>],
    (name, threshold): (&str, f64),
) -> GroupFigures {
    let mut figures = GroupFigures::default();
    let (mut rules, mut found) = (BTreeSet::new(), BTreeSet::new());
    let of_group = turns.iter().zip(held_out).enumerate();
    for (at, (turn, chances)) in of_group.filter(|(_, (turn, _))| turn.group_name() == name) {
        let mut taken = 0;
        for (one, chance) in turn.sentences.iter().zip(chances) {
            let is_taken = *chance >= threshold;
            match one.is_rule {
                None => {}
                Some(false) => {
                    figures.others += 1;
                    taken += usize::from(is_taken);
                }
                Some(true) => {
                    let key = match one.rule.is_empty() {
                        true => format!("{at}"),
                        false => one.rule.clone(),
                    };
                    if is_taken {
                        found.insert(key.clone());
                    }
                    rules.insert(key);
                }
            }
        }
        figures.taken += taken;
        if turn.kind == NEGATIVE {
            figures.negatives += 1;
            figures.taken_negatives += usize::from(taken > 0);
        }
    }
    GroupFigures {
        rules: rules.len(),
        found: found.len(),
        ..figures
    }
}

/// Returns what models without a group find in it, as comments of the generated file.
pub(super) fn table(turns: &[LabelledTurn], held_out: &[Vec<f64>], threshold: f64) -> String {
    let mut text = format!(
        "//! From a probability of {threshold}, by models without the group; `plain` and `unfitted` are in no fit:\n//!\n\
         //! | group | rules | found | turns that look like rules | taken | other sentences | taken |\n\
         //! |---|---|---|---|---|---|---|\n"
    );
    for name in groups(turns) {
        let of_group = figures(turns, held_out, (name, threshold));
        let GroupFigures {
            rules,
            found,
            negatives,
            taken_negatives,
            others,
            taken,
        } = of_group;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "//! | {name} | {rules} | {found} | {negatives} | {taken_negatives} | {others} | {taken} |"
        );
    }
    text
}

/// Returns the sentences that models without their group judge wrongly, with their features.
pub(super) fn wrong_sentences(
    data: &RuleSentences,
    held_out: &[Vec<f64>],
    threshold: f64,
) -> String {
    let mut text = String::new();
    for (turn, chances) in data.turns.iter().zip(held_out) {
        for (one, chance) in turn.sentences.iter().zip(chances) {
            let is_taken = *chance >= threshold;
            if one.is_rule.is_none_or(|is_rule| is_rule == is_taken) {
                continue;
            }
            let names = data.names.iter().zip(&one.features);
            let present: Vec<&str> = names
                .filter(|(_, value)| **value > 0.0)
                .map(|(name, _)| name.as_str())
                .collect();
            let verdict = if is_taken { "taken" } else { "missed" };
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{verdict} {chance:.2} {}: {} [{}]",
                turn.group_name(),
                one.text,
                present.join(" ")
            );
        }
    }
    text
}
