//! `fit rules`: fits the model of lasting rules to labelled sentences and writes its coefficients.
//!
//! The penalty is on the coefficients as they are, because the features are words that a sentence has or has not: a rare one
//! must not get a large coefficient. Each project is reported by a model that did not see it; both tables are left out
//! in the same way.

use super::coefficient_file::checksum;
use super::logistic::{Model, Observation, fit_as_is};
use super::rule_sentences::{LabelledTurn, RuleSentences, read};
use crate::cargo;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Path of the coefficients.
const COEFFICIENTS: &str = "crates/lessons/src/rule_model/coefficients.rs";
/// Path of the settings that have the threshold.
const SETTINGS: &str = "crates/lessons/data/person_rules.toml";
/// File of the features in the target folder.
const FEATURES: &str = "rule-features.jsonl";
/// Ridge penalty.
const RIDGE: f64 = 3.0;
/// Weight of a rule in recorded sessions, which are few.
const RECORDED_RULE_WEIGHT: f64 = 3.0;
/// Weight of a sentence of the table of turns: they are many, in seven languages, and by one author.
const TURN_WEIGHT: f64 = 0.4;
/// Kind of turns that only look like rules.
const NEGATIVE: &str = "negative";
/// Options of the command.
const USAGE: &str = "usage: cargo xtask fit rules --data FOLDER [--real-sessions FOLDER] [--check | --show]\n       cargo xtask fit rules FEATURES.jsonl [--check | --show]";

/// What is done with the fitted model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Write,
    /// Compares the coefficients with the written ones.
    Check,
    /// Prints the sentences that a model without their project judges wrongly.
    Show,
}

/// Runs `fit rules`: computes the features, unless a file of them is named, and writes the coefficients.
pub(super) fn run(args: &[String]) -> Result<(), String> {
    let (sources, action) = match args {
        [sources @ .., last] if last == "--check" => (sources, Action::Check),
        [sources @ .., last] if last == "--show" => (sources, Action::Show),
        sources => (sources, Action::Write),
    };
    let file = match sources {
        [file] if !file.starts_with('-') => file.clone(),
        [option, _] | [option, _, _, _] if option == "--data" => computed_features(sources)?,
        _ => return Err(USAGE.to_owned()),
    };
    let bytes = std::fs::read(&file).map_err(|error| format!("cannot read {file}: {error}"))?;
    let data = read(&bytes)?;
    let threshold = threshold()?;
    let held_out = held_out(&data)?;
    print!("{}", table(&data.turns, &held_out, threshold));
    if action == Action::Show {
        print!("{}", wrong_sentences(&data, &held_out, threshold));
        return Ok(());
    }
    let text = render(&data, &fit_without(&data.turns, None)?, &bytes);
    if action == Action::Write {
        return super::write(COEFFICIENTS, &text);
    }
    let present = std::fs::read_to_string(cargo::root().join(COEFFICIENTS));
    match present.is_ok_and(|present| present == text) {
        true => Ok(()),
        false => Err(format!("{COEFFICIENTS} is not what these features give")),
    }
}

/// Writes the features into the target folder, with the sentences of the data folder, and returns their file.
fn computed_features(sources: &[String]) -> Result<String, String> {
    let file = cargo::target_dir()?.join(FEATURES);
    let mut command = cargo::command(["run", "--quiet", "-p", "heirloom-bench", "--"]);
    command.args(["--only", "rule-features"]).args(sources);
    cargo::run(command.arg("--out").arg(&file))?;
    Ok(file.to_string_lossy().into_owned())
}

/// Reads the threshold of a rule.
fn threshold() -> Result<f64, String> {
    let text = std::fs::read_to_string(cargo::root().join(SETTINGS));
    let text = text.map_err(|error| format!("{SETTINGS}: {error}"))?;
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix("threshold = ")?.trim().parse().ok());
    value.ok_or_else(|| format!("{SETTINGS} has no threshold"))
}

/// Returns the project of a turn, or the table of which it is.
fn group(turn: &LabelledTurn) -> &str {
    match turn.is_recorded() {
        true => &turn.group,
        false => &turn.sort,
    }
}

/// Fits the model to all turns but those of one group.
fn fit_without(turns: &[LabelledTurn], without: Option<&str>) -> Result<Model, String> {
    let mut observations = Vec::new();
    for turn in turns.iter().filter(|turn| without != Some(group(turn))) {
        let table_weight = match turn.sort.as_str() {
            "turns" => TURN_WEIGHT,
            _ => 1.0,
        };
        for one in &turn.sentences {
            let Some(is_rule) = one.is_rule else { continue };
            observations.push(Observation {
                features: one.features.clone(),
                label: f64::from(u8::from(is_rule)),
                weight: match is_rule && turn.is_recorded() {
                    true => RECORDED_RULE_WEIGHT,
                    false => table_weight,
                },
            });
        }
    }
    fit_as_is(&observations, RIDGE)
}

/// Returns the probability of each sentence of each turn by a model that did not see its group.
fn held_out(data: &RuleSentences) -> Result<Vec<Vec<f64>>, String> {
    let mut all = vec![Vec::new(); data.turns.len()];
    for name in groups(&data.turns) {
        let model = fit_without(&data.turns, Some(name))?;
        let turns = data.turns.iter().zip(&mut all);
        for (turn, chances) in turns.filter(|(turn, _)| group(turn) == name) {
            let sentences = turn.sentences.iter();
            *chances = sentences
                .map(|one| model.probability(&one.features))
                .collect();
        }
    }
    Ok(all)
}

/// Returns the groups: projects first, then tables.
fn groups(turns: &[LabelledTurn]) -> Vec<&str> {
    let of = |is_recorded: bool| -> BTreeSet<&str> {
        let turns = turns
            .iter()
            .filter(|turn| turn.is_recorded() == is_recorded);
        turns.map(group).collect()
    };
    of(true).into_iter().chain(of(false)).collect()
}

/// Returns what models without a group find in it.
fn table(turns: &[LabelledTurn], held_out: &[Vec<f64>], threshold: f64) -> String {
    let mut text = format!(
        "From a probability of {threshold}, by models without the group:\n\n\
         | group | rules | found | turns that look like rules | taken | other sentences | taken |\n|---|---|---|---|---|---|---|\n"
    );
    for name in groups(turns) {
        let (mut rules, mut found) = (BTreeSet::new(), BTreeSet::new());
        let [mut negatives, mut taken_negatives, mut others, mut taken] = [0_usize; 4];
        let of_group = turns.iter().zip(held_out).enumerate();
        for (at, (turn, chances)) in of_group.filter(|(_, (turn, _))| group(turn) == name) {
            let sentences = || turn.sentences.iter().zip(chances);
            for (one, chance) in sentences().filter(|(one, _)| one.is_rule == Some(true)) {
                // A rule with a name may have several sentences.
                let key = match one.rule.is_empty() {
                    true => format!("{at}"),
                    false => one.rule.clone(),
                };
                if *chance >= threshold {
                    found.insert(key.clone());
                }
                rules.insert(key);
            }
            let others_of_turn = || sentences().filter(|(one, _)| one.is_rule == Some(false));
            let taken_of_turn = others_of_turn()
                .filter(|(_, chance)| **chance >= threshold)
                .count();
            others += others_of_turn().count();
            taken += taken_of_turn;
            if turn.kind == NEGATIVE {
                negatives += 1;
                taken_negatives += usize::from(taken_of_turn > 0);
            }
        }
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {negatives} | {taken_negatives} | {others} | {taken} |",
            rules.len(),
            found.len()
        );
    }
    text
}

/// Returns the sentences that models without their group judge wrongly, with their features.
fn wrong_sentences(data: &RuleSentences, held_out: &[Vec<f64>], threshold: f64) -> String {
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
                group(turn),
                one.text,
                present.join(" ")
            );
        }
    }
    text
}

/// Returns the text of the coefficients' file.
fn render(data: &RuleSentences, model: &Model, bytes: &[u8]) -> String {
    let mut text = String::from(
        "//! Coefficients of the model of lasting rules. Generated by `cargo xtask fit rules`; do not edit.\n//!\n",
    );
    for name in groups(&data.turns) {
        let of_group = || data.turns.iter().filter(|turn| group(turn) == name);
        let labels = || of_group().flat_map(|turn| &turn.sentences);
        let known = labels().filter(|one| one.is_rule.is_some()).count();
        let rules = labels().filter(|one| one.is_rule == Some(true)).count();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "//! Fitted to {known} sentences of {name}, {rules} of them rules.\n//!"
        );
    }
    let _ = write!(
        text,
        "//! Penalty {RIDGE}. FNV-1a of the features: {:016x}.\n\n\
         /// Log odds of a sentence without any feature.\npub(super) const BIAS: f32 = {:.3};\n\
         /// Weights of the features, in the order of their names.\n#[rustfmt::skip]\n\
         pub(super) const COEFFICIENTS: [f32; super::FEATURE_COUNT] = [\n",
        checksum(bytes),
        model.bias
    );
    for (name, value) in data.names.iter().zip(&model.coefficients) {
        let _ = writeln!(text, "    {value:.3}, // {name}");
    }
    text.push_str("];\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rules are the sentences with the first feature, in two projects and a table.
    fn sentences() -> RuleSentences {
        let mut text = String::from("{\"features\": [\"always\", \"long\"]}\n");
        for (sort, group) in [("sessions", "a"), ("sessions", "b"), ("turns", "en")] {
            for number in 0..30 {
                let is_rule = number % 2;
                let line = format!(
                    "{{\"sort\": \"{sort}\", \"group\": \"{group}\", \"kind\": \"{}\", \"sentences\": [\
                     {{\"label\": {is_rule}, \"rule\": null, \"features\": [{is_rule}, {}], \"text\": \"x\"}}]}}\n",
                    if number == 0 { NEGATIVE } else { "" },
                    u8::from(number % 3 == 0)
                );
                text.push_str(&line);
            }
        }
        read(text.as_bytes()).unwrap()
    }

    #[test]
    fn groups_are_judged_by_models_without_them() {
        let data = sentences();
        let chances = held_out(&data).unwrap();
        let text = table(&data.turns, &chances, 0.5);
        assert!(text.contains("| a | 15 | 15 | 1 | 0 | 15 | 0 |"), "{text}");
        assert!(text.contains("| turns | 15 | 15 |"), "{text}");
        assert_eq!(wrong_sentences(&data, &chances, 0.5), "");
        assert!(wrong_sentences(&data, &chances, 1.1).contains("missed"));
    }

    #[test]
    fn file_names_groups_and_coefficients() {
        let data = sentences();
        let text = render(&data, &fit_without(&data.turns, None).unwrap(), b"features");
        assert!(
            text.contains("Fitted to 30 sentences of b, 15 of them rules."),
            "{text}"
        );
        assert!(text.contains(", // always\n"), "{text}");
        assert!((0.1..0.9).contains(&threshold().unwrap()));
    }

    #[test]
    fn arguments_are_checked() {
        let run_with = |args: &[&str]| run(&args.iter().map(|&one| one.into()).collect::<Vec<_>>());
        assert!(run_with(&[]).unwrap_err().contains("usage"));
        assert!(run_with(&["--check"]).unwrap_err().contains("usage"));
        assert!(run_with(&["missing.jsonl", "--show"]).is_err());
    }
}
