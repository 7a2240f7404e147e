//! `fit cases`: fits the relevance of cases, from the log odds of their text, their age and their length, and writes its
//! coefficients.
//!
//! Each project has its own constant, because the share of earlier sessions that edited the same files differs: it depends
//! on how much of a project's work was recorded. The model's constant is their mean, weighted by answered prompts. The
//! table shows each project as predicted by a model that did not see it.

use super::coefficient_file::checksum;
use super::labelled_features::{self, LabelledQuestion};
use super::logistic::{Model, Observation, fit};
use crate::cargo;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Path of the coefficients.
const COEFFICIENTS: &str = "crates/search/src/relevance/case_coefficients.rs";
/// Ridge penalty, small: there are three features.
const RIDGE: f64 = 1.0;
/// Features, in the order of the file.
const FEATURES: [&str; 3] = ["text", "age", "length"];

/// Runs `fit cases FEATURES [--check]`: writes the coefficients, or compares them with the written ones.
pub(super) fn run(file: &str, is_check: bool) -> Result<(), String> {
    let bytes = std::fs::read(file).map_err(|error| format!("cannot read {file}: {error}"))?;
    let data = labelled_features::read(&bytes)?;
    if data.names != FEATURES {
        return Err(format!(
            "{file} has other features than {}: write it with `heirloom-bench --only relevance-features-cases`",
            FEATURES.join(", ")
        ));
    }
    print!("{}", table(&data.questions)?);
    let text = render(&data.questions, &bytes)?;
    match is_check {
        false => super::write(COEFFICIENTS, &text),
        true => {
            let present = std::fs::read_to_string(cargo::root().join(COEFFICIENTS));
            match present.is_ok_and(|present| present == text) {
                true => Ok(()),
                false => Err(format!("{COEFFICIENTS} is not what these features give")),
            }
        }
    }
}

/// Fits the model to all projects but one. A project without an answered prompt is no evidence.
fn fit_without(questions: &[LabelledQuestion], without: Option<&str>) -> Result<Model, String> {
    let mut answered: BTreeMap<&str, usize> = BTreeMap::new();
    for one in questions.iter().filter(|one| one.is_answered) {
        if without != Some(one.group.as_str()) {
            *answered.entry(one.group.as_str()).or_default() += 1;
        }
    }
    // The first project has the constant of the fit, the others a difference to it.
    let others: Vec<&str> = answered.keys().copied().skip(1).collect();
    let used = (questions.iter()).filter(|one| answered.contains_key(one.group.as_str()));
    let mut observations = Vec::new();
    for question in used {
        let constants = others.iter().map(|other| *other == question.group);
        let constants: Vec<f64> = constants.map(|own| f64::from(u8::from(own))).collect();
        observations.extend(question.records.iter().map(|record| Observation {
            features: [record.features.as_slice(), &constants].concat(),
            label: record.label,
            weight: 1.0,
        }));
    }
    let mut model = fit(&observations, RIDGE)?;
    let differences = model.coefficients.split_off(FEATURES.len());
    let all: usize = answered.values().sum();
    let shares = answered.values().skip(1);
    let mean = shares.zip(differences);
    model.bias += mean
        .map(|(count, one)| one * *count as f64 / all as f64)
        .sum::<f64>();
    Ok(model)
}

/// Returns how well a model that did not see a project orders the cases of its prompts.
fn table(questions: &[LabelledQuestion]) -> Result<String, String> {
    let mut groups: Vec<&str> = questions.iter().map(|one| one.group.as_str()).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut text = String::from(
        "| project | prompts | with a case of the same files | right before wrong cases | by text alone |\n\
         |---|---|---|---|---|\n",
    );
    for group in groups {
        let model = fit_without(questions, Some(group))?;
        let of_group: Vec<&LabelledQuestion> =
            questions.iter().filter(|one| one.group == group).collect();
        let both = ordered_share(&of_group, &|features| model.probability(features));
        let by_text = ordered_share(&of_group, &|features| {
            features.first().copied().unwrap_or_default()
        });
        let percent = |share: Option<f64>| {
            share.map_or("–".to_owned(), |share| format!("{:.0} %", 100.0 * share))
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {group} | {} | {} | {} | {} |",
            of_group.len(),
            of_group.iter().filter(|one| one.is_answered).count(),
            percent(both),
            percent(by_text)
        );
    }
    Ok(text)
}

/// Returns the share of pairs of a right and a wrong case of one prompt in which the right one has more; `None` without
/// a pair. Each prompt counts once.
fn ordered_share(questions: &[&LabelledQuestion], value: &dyn Fn(&[f64]) -> f64) -> Option<f64> {
    let share = |question: &&LabelledQuestion| {
        let (mut ordered, mut pairs) = (0.0, 0_u32);
        let of = |is_right: bool| {
            let records = question.records.iter();
            records.filter(move |one| (one.label > 0.0) == is_right)
        };
        for right in of(true) {
            for wrong in of(false) {
                let difference = value(&right.features) - value(&wrong.features);
                ordered += match difference.total_cmp(&0.0) {
                    Ordering::Greater => 1.0,
                    Ordering::Equal => 0.5,
                    Ordering::Less => 0.0,
                };
                pairs += 1;
            }
        }
        (pairs > 0).then(|| ordered / f64::from(pairs))
    };
    let shares: Vec<f64> = questions.iter().filter_map(share).collect();
    let sum: f64 = shares.iter().sum();
    (!shares.is_empty()).then(|| sum / shares.len() as f64)
}

/// Returns the text of the coefficients' file.
fn render(questions: &[LabelledQuestion], bytes: &[u8]) -> Result<String, String> {
    let model = fit_without(questions, None)?;
    let [text, age, length] = model.coefficients.as_slice() else {
        return Err("the model has other features".to_owned());
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for one in questions {
        *counts.entry(one.group.as_str()).or_default() += 1;
    }
    counts.retain(|name, _| {
        let mut of_project = questions.iter().filter(|one| one.group == *name);
        of_project.any(|one| one.is_answered)
    });
    let projects: Vec<String> = (counts.iter())
        .map(|(name, count)| format!("//! Fitted to {count} prompts of {name}.\n//!\n"))
        .collect();
    Ok(format!(
        "//! Coefficients of the relevance of cases. Generated by `cargo xtask fit cases`; do not edit.\n//!\n{}\
         //! Penalty {RIDGE}. FNV-1a of the features: {:016x}.\n\n\
         /// Constant of the model.\npub(super) const BIAS: f64 = {:.6};\n\
         /// Coefficient of the log odds of the text.\npub(super) const TEXT: f64 = {text:.6};\n\
         /// Coefficients of the age, ln(1 + hours), and of the length, ln(1 + bytes).\n\
         pub(super) const COEFFICIENTS: [f64; 2] = [{age:.6}, {length:.6}];\n",
        projects.concat(),
        checksum(bytes),
        model.bias,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::labelled_features::LabelledRecord;

    fn question(group: &str, records: &[(f64, f64)]) -> LabelledQuestion {
        let record = |(label, text): &(f64, f64)| LabelledRecord {
            label: *label,
            features: vec![*text, 1.0, 6.0],
        };
        LabelledQuestion {
            sort: "prompts".to_owned(),
            group: group.to_owned(),
            style: "edit".to_owned(),
            is_answered: records.iter().any(|(label, _)| *label > 0.0),
            is_reported: true,
            records: records.iter().map(record).collect(),
        }
    }

    #[test]
    fn projects_have_their_own_constants() {
        // In both projects the text decides, but in the second one records are right from another value on.
        let around = |group: &str, middle: f64| {
            let records = [
                (1.0, middle + 1.0),
                (0.0, middle - 1.0),
                (1.0, middle),
                (0.0, middle),
            ];
            question(group, &records)
        };
        let mut all: Vec<LabelledQuestion> = (0..30).map(|_| around("a", 0.0)).collect();
        let alone = fit_without(&all, None).unwrap();
        all.extend((0..30).map(|_| around("b", 6.0)));
        let both = fit_without(&all, None).unwrap();
        let mut pooled = all.clone();
        pooled.iter_mut().for_each(|one| one.group = "a".to_owned());
        let pooled = fit_without(&pooled, None).unwrap();
        assert!(
            pooled.coefficients[0] < 0.5 * both.coefficients[0],
            "{pooled:?} {both:?}"
        );
        assert_eq!(both.coefficients.len(), FEATURES.len());
        let left_out = fit_without(&all, Some("b")).unwrap();
        assert!((left_out.coefficients[0] - alone.coefficients[0]).abs() < 1e-9);
        assert!(fit_without(&all[..30], Some("a")).is_err());
    }

    #[test]
    fn file_names_projects_and_coefficients() {
        let all = [
            question("a", &[(1.0, 2.0), (0.0, -2.0)]),
            question("b", &[(1.0, 1.0), (0.0, 0.0)]),
        ];
        let text = render(&all, b"features").unwrap();
        assert!(text.contains("Fitted to 1 prompts of a."), "{text}");
        assert!(text.contains("const COEFFICIENTS: [f64; 2] = "), "{text}");
        let table = table(&all).unwrap();
        assert!(table.contains("| b | 1 | 1 | 100 % | 100 % |"), "{table}");
    }
}
