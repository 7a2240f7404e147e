//! `fit relevance`: fits the relevance model to labelled features and writes its coefficients and its plot.

mod curve_plot;
mod labelled_features;
mod logistic;
mod relevance_report;

use crate::cargo;
use labelled_features::{LabelledQuestion, read};
use logistic::{Model, Observation, fit};
use relevance_report::{TellingRates, Thresholds};
use std::fmt::Write;
use std::path::Path;

/// Ridge penalty on standardised features.
const RIDGE: f64 = 3.0;
/// Sort of data whose constant is used and whose projects are left out in turn.
const MAIN_SORT: &str = "prompts";
/// Generated file.
const COEFFICIENTS: &str = "crates/search/src/relevance/coefficients.rs";
/// Plot of the result.
const PLOT: &str = "docs/plots/relevance.svg";

/// Runs `fit relevance FEATURES`.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let [what, file, rest @ ..] = args else {
        return Err("usage: cargo xtask fit relevance FEATURES.jsonl [--check]".to_owned());
    };
    if what != "relevance" {
        return Err(format!("`{what}` cannot be fitted, only `relevance`"));
    }
    let bytes = std::fs::read(file).map_err(|error| format!("cannot read {file}: {error}"))?;
    let data = read(&bytes)?;
    let held_out = leave_one_out(&data.questions)?;
    let thresholds = Thresholds::choose(&held_out);
    let model = fit_all(&data.questions, None)?;
    println!("{}", relevance_report::render(&held_out, &thresholds));
    let text = coefficients(
        &data.names,
        &model,
        &thresholds,
        checksum(&bytes),
        &data.questions,
    );
    if rest.iter().any(|arg| arg == "--check") {
        let present = std::fs::read_to_string(cargo::root().join(COEFFICIENTS));
        return match present.is_ok_and(|present| present == text) {
            true => Ok(()),
            false => Err(format!("{COEFFICIENTS} is not what these features give")),
        };
    }
    write(COEFFICIENTS, &text)?;
    write(PLOT, &curve_plot::svg(&held_out, &thresholds))
}

/// A question with the probability of each of its records by a model that did not see its project.
#[derive(Debug, Clone)]
pub(crate) struct HeldOutQuestion {
    /// The question.
    pub(crate) question: LabelledQuestion,
    /// Probabilities in the order of its records.
    pub(crate) chances: Vec<f64>,
}

/// Predicts each project of the main sort with a model of all other data.
fn leave_one_out(questions: &[LabelledQuestion]) -> Result<Vec<HeldOutQuestion>, String> {
    let mut groups: Vec<&str> = (questions.iter())
        .filter(|one| one.sort == MAIN_SORT)
        .map(|one| one.group.as_str())
        .collect();
    groups.sort_unstable();
    groups.dedup();
    let mut all = Vec::new();
    for group in groups {
        let model = fit_all(questions, Some(group))?;
        let held = questions
            .iter()
            .filter(|one| one.sort == MAIN_SORT && one.group == group);
        all.extend(held.map(|one| {
            HeldOutQuestion {
                chances: (one.records.iter())
                    .map(|record| model.probability(&record.features))
                    .collect(),
                question: one.clone(),
            }
        }));
    }
    Ok(all)
}

/// Fits the model to all sorts with equal weight, without one project of the main sort.
///
/// Each other sort has its own constant: the share of questions without an answer in a collection is arbitrary and
/// must not shift the chances that are shown.
fn fit_all(questions: &[LabelledQuestion], without: Option<&str>) -> Result<Model, String> {
    let is_in =
        |one: &&LabelledQuestion| one.sort != MAIN_SORT || without != Some(one.group.as_str());
    let used: Vec<&LabelledQuestion> = questions.iter().filter(is_in).collect();
    let mut sorts: Vec<&str> = used.iter().map(|one| one.sort.as_str()).collect();
    sorts.sort_unstable();
    sorts.dedup();
    let size = |sort: &str| {
        let of_sort = used.iter().filter(|one| one.sort == sort);
        of_sort.map(|one| one.records.len()).sum::<usize>()
    };
    let total: usize = sorts.iter().map(|sort| size(sort)).sum();
    let others: Vec<&str> = sorts
        .iter()
        .copied()
        .filter(|sort| *sort != MAIN_SORT)
        .collect();
    let mut observations = Vec::with_capacity(total);
    for sort in &sorts {
        let weight = total as f64 / sorts.len() as f64 / size(sort).max(1) as f64;
        for record in used
            .iter()
            .filter(|one| one.sort == *sort)
            .flat_map(|one| &one.records)
        {
            let mut features = record.features.clone();
            features.extend(
                others
                    .iter()
                    .map(|other| f64::from(u8::from(other == sort))),
            );
            observations.push(Observation {
                features,
                label: record.label,
                weight,
            });
        }
    }
    let mut model = fit(&observations, RIDGE)?;
    model
        .coefficients
        .truncate(model.coefficients.len() - others.len());
    Ok(model)
}

/// Returns the generated source file.
fn coefficients(
    names: &[String],
    model: &Model,
    thresholds: &Thresholds,
    checksum: u64,
    questions: &[LabelledQuestion],
) -> String {
    let mut text = String::from(
        "//! Coefficients of the relevance model. Generated by `cargo xtask fit relevance`; do not edit.\n",
    );
    let mut sorts: Vec<&str> = questions.iter().map(|one| one.sort.as_str()).collect();
    sorts.sort_unstable();
    sorts.dedup();
    for sort in sorts {
        let count = questions.iter().filter(|one| one.sort == sort).count();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "//!\n//! Fitted to {count} questions of the sort `{sort}`.\n"
        );
    }
    let _ = write!(
        text,
        "//!\n//! FNV-1a of the features: {checksum:016x}.\n\nuse super::FEATURES;\n\n\
         /// Constant of the model.\npub(super) const BIAS: f64 = {:.6};\n\n\
         /// Coefficient of each feature.\n#[rustfmt::skip]\npub(super) const COEFFICIENTS: [f64; FEATURES] = [\n",
        model.bias
    );
    for (name, value) in names.iter().zip(&model.coefficients) {
        let _ = writeln!(text, "    {value:.6}, // {name}");
    }
    let TellingRates {
        told,
        useful,
        falsely,
        ..
    } = thresholds.rates;
    let _ = write!(
        text,
        "];\n\n/// Relevance from which a record is told unasked: {:.1} % of the answered prompts of a left-out project get a\n\
         /// right record, {:.1} % of the told ones are useful, {:.1} % of the unanswered prompts get one.\n\
         pub(super) const STRONG_MIN: f64 = {:.4};\n\n\
         /// Relevance from which a second or third record is told after a strong one.\n\
         pub(super) const TELL_MORE_MIN: f64 = {:.4};\n\n\
         /// Floor: nine of ten right records among the first ten of recall are above it.\n\
         pub(super) const LIKELY_MIN: f64 = {:.4};\n\n\
         /// Floor of a context: 98 of 100 right records among the first ten of recall are above it.\n\
         pub(super) const CONTEXT_MIN: f64 = {:.5};\n",
        100.0 * told,
        100.0 * useful,
        100.0 * falsely,
        thresholds.strong,
        thresholds.more,
        thresholds.likely,
        thresholds.context
    );
    text
}

/// Returns FNV-1a of the bytes: it detects other data, which is all that it is for.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "a generated file that git tracks, written by a developer"
)]
fn write(path: &str, text: &str) -> Result<(), String> {
    let path = cargo::root().join(Path::new(path));
    std::fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
