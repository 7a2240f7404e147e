//! `fit relevance` fits the relevance model to labelled features and writes its coefficients and its plots; `fit cases`
//! does so for the relevance of cases, and `fit rules` for the model of lasting rules.
//!
//! The penalty is chosen by the log loss on left-out projects, the thresholds by their margins to the required rates.

mod cases;
mod coefficient_file;
mod curve_plot;
mod held_out;
mod labelled_features;
mod logistic;
mod relevance_report;
mod rule_report;
mod rule_sentences;
mod rules;
mod sparse_logistic;
mod thresholds;

use crate::cargo;
use coefficient_file::{COEFFICIENTS, SENTENCE_COEFFICIENTS, has_sentences, read_thresholds};
use held_out::{fit_all, leave_one_out, log_loss};
use labelled_features::read;
use std::path::Path;
use thresholds::Thresholds;

/// Ridge penalties on standardised features that are tried, weakest first.
const RIDGES: [f64; 6] = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0];
/// Generated files of a model.
struct ModelFiles {
    coefficients: &'static str,
    /// Plot of the reliability.
    reliability: &'static str,
    /// Plot of told against falsely told prompts.
    tradeoff: &'static str,
}

/// Files of the model without the sentence transformer.
const PLAIN_MODEL: ModelFiles = ModelFiles {
    coefficients: COEFFICIENTS,
    reliability: "docs/plots/relevance.svg",
    tradeoff: "docs/plots/prompts-tradeoff.svg",
};

/// Files of the model with the sentence transformer.
const SENTENCE_MODEL: ModelFiles = ModelFiles {
    coefficients: SENTENCE_COEFFICIENTS,
    reliability: "docs/plots/relevance-sentences.svg",
    tradeoff: "docs/plots/prompts-tradeoff-sentences.svg",
};
/// Usage line.
const USAGE: &str = "usage: cargo xtask fit relevance FEATURES.jsonl [--check | --ablation]\n       cargo xtask fit cases FEATURES.jsonl [--check]\n       cargo xtask fit rules --data FOLDER [--check]";

/// Runs `fit relevance FEATURES` or `fit cases FEATURES`: writes the coefficients and the plots, or with `--check` compares the coefficients
/// with the written ones. With `--ablation` it only prints the log loss without each feature.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let (file, option) = match args {
        [what, rest @ ..] if what == "rules" => return rules::run(rest),
        [what, file] if what == "cases" => return cases::run(file, false),
        [what, file, option] if what == "cases" && option == "--check" => {
            return cases::run(file, true);
        }
        [what, file] if what == "relevance" => (file, None),
        [what, file, option] if what == "relevance" => (file, Some(option.as_str())),
        _ => return Err(USAGE.to_owned()),
    };
    let bytes = std::fs::read(file).map_err(|error| format!("cannot read {file}: {error}"))?;
    let data = read(&bytes)?;
    let (ridge, held_out) = held_out::choose_ridge(&data.questions, &RIDGES)?;
    match option {
        None | Some("--check") => {}
        Some("--ablation") => return print_ablation(&data, ridge, log_loss(&held_out)),
        Some(other) => return Err(format!("{other}? {USAGE}")),
    }
    let files = match has_sentences(&data) {
        true => SENTENCE_MODEL,
        false => PLAIN_MODEL,
    };
    let path = files.coefficients;
    // Both models are calibrated, so that one set of thresholds serves both.
    let thresholds = match has_sentences(&data) {
        true => Thresholds::choose(&held_out).with_telling(&held_out, known_thresholds()?),
        false => Thresholds::choose(&held_out),
    };
    println!("{}", relevance_report::render(&held_out, &thresholds));
    let text = coefficient_file::render(
        &data,
        &fit_all(&data.questions, None, ridge)?,
        ridge,
        &thresholds,
        &bytes,
    );
    if option.is_some() {
        let present = std::fs::read_to_string(cargo::root().join(path));
        return match present.is_ok_and(|present| present == text) {
            true => Ok(()),
            false => Err(format!("{path} is not what these features give")),
        };
    }
    write(path, &text)?;
    write(files.reliability, &curve_plot::reliability_svg(&held_out))?;
    write(
        files.tradeoff,
        &curve_plot::tradeoff_svg(&held_out, &thresholds),
    )
}

/// Returns the thresholds of telling of the model without the sentence transformer.
fn known_thresholds() -> Result<(f64, f64), String> {
    let text = std::fs::read_to_string(cargo::root().join(COEFFICIENTS));
    let text = text.map_err(|error| format!("{COEFFICIENTS}: {error}"))?;
    read_thresholds(&text).ok_or_else(|| format!("{COEFFICIENTS} has no thresholds"))
}

/// Prints the log loss on left-out projects without each feature; a feature that lowers it helps.
fn print_ablation(
    data: &labelled_features::LabelledFeatures,
    ridge: f64,
    whole: f64,
) -> Result<(), String> {
    println!("| without | log loss | more |\n|---|---|---|\n| nothing | {whole:.5} | |");
    for (at, name) in data.names.iter().enumerate() {
        let mut questions = data.questions.clone();
        let records = questions.iter_mut().flat_map(|one| &mut one.records);
        records.for_each(|record| {
            record.features.remove(at);
        });
        let loss = log_loss(&leave_one_out(&questions, ridge)?);
        println!("| {name} | {loss:.5} | {:+.5} |", loss - whole);
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a generated file that git tracks, written by a developer"
)]
fn write(path: &str, text: &str) -> Result<(), String> {
    let path = cargo::root().join(Path::new(path));
    std::fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
