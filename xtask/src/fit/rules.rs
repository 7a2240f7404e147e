//! `fit rules`: fits the model of lasting rules to labelled sentences and writes its coefficients.
//!
//! The model has the classes of words and their combinations, and words and pairs of words as they are, with a higher
//! penalty. Each project is reported by a model that did not see it, and so is each table; the sentences of `checks` are in
//! no fit.

use super::coefficient_file::checksum;
use super::rule_report::{table, wrong_sentences};
use super::rule_sentences::{LabelledSentence, LabelledTurn, RuleSentences, groups, read};
use super::sparse_logistic::{FeatureRow, SparseModel, fit};
use crate::cargo;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Path of the coefficients.
const COEFFICIENTS: &str = "crates/lessons/src/rule_model/coefficients.rs";
/// Path of the settings that have the threshold.
const SETTINGS: &str = "crates/lessons/data/person_rules.toml";
/// File of the features in the target folder.
const FEATURES: &str = "rule-features.jsonl";
/// Path of the weights of words.
const WORD_WEIGHTS: &str = "crates/lessons/src/rule_model/word_weights.rs";
/// Ridge penalties of a class, and of a word or pair of words.
const CLASS_RIDGE: f64 = 3.0;
const WORD_RIDGE: f64 = 12.0;
/// Least number of sentences of a word that has a weight.
const WORD_SENTENCES_MIN: usize = 6;
/// Least number of projects and tables with such a word: others are names of one project.
const WORD_GROUPS_MIN: usize = 3;
/// Smallest weight of a word that is written.
const WORD_WEIGHT_MIN: f64 = 0.02;
/// Number of words in a line of the generated file.
const WORDS_IN_LINE: usize = 5;
/// Weight of a rule in recorded sessions, which are few.
const RECORDED_RULE_WEIGHT: f64 = 3.0;
/// Weight of a sentence of the table of turns: they are many, in seven languages, and by one author.
const TURN_WEIGHT: f64 = 0.4;
/// Weight of a sentence of developers' prompts, which are many and set no rule. With them, 44 instead of 42 of 73 rules of
/// projects that a model did not see are found, and 25 instead of 44 of 765 other sentences are taken.
const PROMPT_WEIGHT: f64 = 0.5;
/// Options of the command.
const USAGE: &str = "usage: cargo xtask fit rules --data FOLDER [--real-sessions FOLDER] [--check | --show]\n       cargo xtask fit rules FEATURES.jsonl [--check | --show]";

/// Use of the fitted model.
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
    let table = table(&data.turns, &held_out, threshold);
    print!("{}", table.replace("//! ", "").replace("//!", ""));
    if action == Action::Show {
        print!("{}", wrong_sentences(&data, &held_out, threshold));
        return Ok(());
    }
    let model = RuleModel::fit_without(&data, None)?;
    let files = [
        (COEFFICIENTS, render(&data, &model, &table, &bytes)),
        (WORD_WEIGHTS, render_words(&model)),
    ];
    for (path, text) in files {
        if action == Action::Write {
            super::write(path, &text)?;
            continue;
        }
        let present = std::fs::read_to_string(cargo::root().join(path));
        if !present.is_ok_and(|present| present == text) {
            return Err(format!("{path} is not what these features give"));
        }
    }
    Ok(())
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

/// Model of classes, and of words and pairs of words.
struct RuleModel {
    class_count: usize,
    /// Numbers of the words after those of the classes.
    words: BTreeMap<String, usize>,
    model: SparseModel,
}

impl RuleModel {
    /// Fits the model to all turns but those of one group.
    fn fit_without(data: &RuleSentences, without: Option<&str>) -> Result<Self, String> {
        let is_used = |turn: &&LabelledTurn| !turn.is_check() && without != Some(turn.group_name());
        let used: Vec<&LabelledTurn> = data.turns.iter().filter(is_used).collect();
        let mut counts: BTreeMap<&str, (usize, BTreeSet<&str>)> = BTreeMap::new();
        for turn in &used {
            for word in turn.sentences.iter().flat_map(|one| &one.words) {
                let (count, groups) = counts.entry(word).or_default();
                *count += 1;
                groups.insert(turn.group_name());
            }
        }
        let class_count = data.names.len();
        let known = counts.iter().filter(|(_, (count, groups))| {
            *count >= WORD_SENTENCES_MIN && groups.len() >= WORD_GROUPS_MIN
        });
        let mut model = Self {
            class_count,
            words: known
                .enumerate()
                .map(|(at, (word, _))| ((*word).to_owned(), class_count + at))
                .collect(),
            model: SparseModel {
                bias: 0.0,
                coefficients: Vec::new(),
            },
        };
        let mut rows = Vec::new();
        for turn in used {
            for one in &turn.sentences {
                let Some(is_positive) = one.is_rule else {
                    continue;
                };
                rows.push(FeatureRow {
                    features: model.features(one),
                    is_positive,
                    weight: weight(turn, is_positive),
                });
            }
        }
        let mut penalties = vec![CLASS_RIDGE; class_count];
        penalties.resize(class_count + model.words.len(), WORD_RIDGE);
        model.model = fit(&rows, &penalties)?;
        Ok(model)
    }

    /// Returns the numbers of the features of a sentence.
    fn features(&self, sentence: &LabelledSentence) -> Vec<usize> {
        let classes = sentence.features.iter().enumerate();
        let classes = classes.filter(|(_, value)| **value > 0.0);
        let words = sentence.words.iter();
        (classes.map(|(at, _)| at))
            .chain(words.filter_map(|word| self.words.get(word).copied()))
            .collect()
    }

    fn probability(&self, sentence: &LabelledSentence) -> f64 {
        self.model.probability(&self.features(sentence))
    }
}

/// Returns the weight of a sentence in the fit.
fn weight(turn: &LabelledTurn, is_rule: bool) -> f64 {
    match (turn.sort.as_str(), is_rule) {
        ("turns", _) => TURN_WEIGHT,
        ("prompts", _) => PROMPT_WEIGHT,
        ("sessions", true) => RECORDED_RULE_WEIGHT,
        _ => 1.0,
    }
}

/// Returns the probability of each sentence of each turn by a model that did not see its group.
fn held_out(data: &RuleSentences) -> Result<Vec<Vec<f64>>, String> {
    let mut all = vec![Vec::new(); data.turns.len()];
    for name in groups(&data.turns) {
        let model = RuleModel::fit_without(data, Some(name))?;
        let turns = data.turns.iter().zip(&mut all);
        for (turn, chances) in turns.filter(|(turn, _)| turn.group_name() == name) {
            *chances = turn
                .sentences
                .iter()
                .map(|one| model.probability(one))
                .collect();
        }
    }
    Ok(all)
}

/// Returns the text of the coefficients' file.
fn render(data: &RuleSentences, model: &RuleModel, table: &str, bytes: &[u8]) -> String {
    let mut text = format!(
        "//! Coefficients of the model of lasting rules. Generated by `cargo xtask fit rules`; do not edit.\n//!\n{table}//!\n"
    );
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "//! Penalties {CLASS_RIDGE} and {WORD_RIDGE}. FNV-1a of the features: {:016x}.\n\n\
         /// Log odds of a sentence without any feature.\npub(super) const BIAS: f32 = {:.3};\n\
         /// Weights of the features.\n#[rustfmt::skip]\n\
         pub(super) const COEFFICIENTS: &[(&str, f32)] = &[\n",
        checksum(bytes),
        model.model.bias
    );
    for (name, value) in data.names.iter().zip(&model.model.coefficients) {
        let _ = writeln!(text, "    (\"{name}\", {value:.3}),");
    }
    text.push_str("];\n");
    text
}

/// Returns the text of the file with the weights of words.
fn render_words(model: &RuleModel) -> String {
    let mut text = String::from(
        "//! Weights of words and pairs of words in the model of lasting rules. Generated by `cargo xtask fit rules`; do not edit.\n\n\
         /// Weights in the order of the words.\n#[rustfmt::skip]\n\
         pub(super) const WORD_WEIGHTS: &[(&str, f32)] = &[\n",
    );
    let weights = model.model.coefficients.iter().skip(model.class_count);
    // With three places a weight such as 0.318 is refused as a bad 1/π by clippy.
    let kept: Vec<String> = (model.words.keys().zip(weights))
        .filter(|(_, weight)| weight.abs() >= WORD_WEIGHT_MIN)
        .map(|(word, weight)| format!("({word:?}, {weight:.4})"))
        .collect();
    for line in kept.chunks(WORDS_IN_LINE) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    {},", line.join(", "));
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
                     {{\"label\": {is_rule}, \"rule\": null, \"features\": [{is_rule}, {}], \"words\": [\"{}\"], \"text\": \"x\"}}]}}\n",
                    if number == 0 { "negative" } else { "" },
                    u8::from(number % 3 == 0),
                    if is_rule == 0 { "stop it" } else { "we use" }
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
        let model = RuleModel::fit_without(&data, None).unwrap();
        assert!(render_words(&model).contains("(\"stop it\", "));
        let text = render(&data, &model, "//! table\n", b"features");
        assert!(
            text.contains("//! table\n//!\n//! Penalties 3 and 12."),
            "{text}"
        );
        assert!(text.contains("(\"always\", "), "{text}");
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
