//! Predictions for projects that a model did not see.

use super::labelled_features::LabelledQuestion;
use super::logistic::{Model, Observation, fit};
use std::thread;

/// Sort of data whose constant is used. Its reported projects are left out in turn.
const MAIN_SORT: &str = "prompts";
/// Smallest chance in the log loss, so that one record cannot make it infinite.
const CHANCE_MIN: f64 = 1e-6;

/// A question with the probability of each of its records by a model that did not see its project.
#[derive(Debug, Clone)]
pub(crate) struct HeldOutQuestion {
    /// The question.
    pub(crate) question: LabelledQuestion,
    /// Probabilities in the order of its records.
    pub(crate) chances: Vec<f64>,
}

/// Returns the penalty with the smallest log loss on left-out projects, and its predictions.
pub(crate) fn choose_ridge(
    questions: &[LabelledQuestion],
    ridges: &[f64],
) -> Result<(f64, Vec<HeldOutQuestion>), String> {
    let mut best: Option<(f64, f64, Vec<HeldOutQuestion>)> = None;
    println!("| penalty | log loss |\n|---|---|");
    for ridge in ridges {
        let held_out = leave_one_out(questions, *ridge)?;
        let loss = log_loss(&held_out);
        println!("| {ridge} | {loss:.5} |");
        if best.as_ref().is_none_or(|(least, ..)| loss < *least) {
            best = Some((loss, *ridge, held_out));
        }
    }
    println!();
    let (_, ridge, held_out) = best.ok_or("no penalty")?;
    Ok((ridge, held_out))
}

/// Predicts each reported project with a model of all other data.
pub(crate) fn leave_one_out(
    questions: &[LabelledQuestion],
    ridge: f64,
) -> Result<Vec<HeldOutQuestion>, String> {
    let mut groups: Vec<&str> = (questions.iter())
        .filter(|one| one.is_reported)
        .map(|one| one.group.as_str())
        .collect();
    groups.sort_unstable();
    groups.dedup();
    let predict = |group: &str| -> Result<Vec<HeldOutQuestion>, String> {
        let model = fit_all(questions, Some(group), ridge)?;
        let held = questions
            .iter()
            .filter(|one| one.is_reported && one.group == group);
        let one = |question: &LabelledQuestion| HeldOutQuestion {
            chances: (question.records.iter())
                .map(|record| model.probability(&record.features))
                .collect(),
            question: question.clone(),
        };
        Ok(held.map(one).collect())
    };
    let mut all = Vec::new();
    thread::scope(|scope| {
        let running: Vec<_> = (groups.iter())
            .map(|group| scope.spawn(|| predict(group)))
            .collect();
        for one in running {
            all.extend(one.join().map_err(|_| "a fit has failed".to_owned())??);
        }
        Ok(())
    })
    .map(|()| all)
}

/// Returns the mean log loss of all records, nats.
pub(crate) fn log_loss(held_out: &[HeldOutQuestion]) -> f64 {
    let (mut sum, mut count) = (0.0, 0_usize);
    for one in held_out {
        for (record, chance) in one.question.records.iter().zip(&one.chances) {
            let chance = chance.clamp(CHANCE_MIN, 1.0 - CHANCE_MIN);
            sum -= record.label * chance.ln() + (1.0 - record.label) * (1.0 - chance).ln();
            count += 1;
        }
    }
    sum / count.max(1) as f64
}

/// Fits the model to all sorts with equal weight, without one project of the main sort.
///
/// Each other sort has its own constant: the share of questions without an answer in a collection is arbitrary and
/// must not shift the chances that are shown.
pub(crate) fn fit_all(
    questions: &[LabelledQuestion],
    without: Option<&str>,
    ridge: f64,
) -> Result<Model, String> {
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
    let mut model = fit(&observations, ridge)?;
    model
        .coefficients
        .truncate(model.coefficients.len() - others.len());
    Ok(model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::labelled_features::LabelledRecord;

    /// Two projects whose first feature is the label, and a sort of other questions.
    fn questions() -> Vec<LabelledQuestion> {
        let one = |sort: &str, group: &str, n: usize| LabelledQuestion {
            sort: sort.to_owned(),
            group: group.to_owned(),
            style: "task".to_owned(),
            is_answered: n.is_multiple_of(2),
            is_reported: sort == "prompts",
            records: vec![LabelledRecord {
                label: f64::from(u8::from(n.is_multiple_of(2))),
                features: vec![f64::from(u8::from(n.is_multiple_of(2))), (n % 7) as f64],
            }],
        };
        let groups = [("prompts", "a"), ("prompts", "b"), ("commits", "c")];
        let of_group = |(sort, group)| (0..40).map(move |n| one(sort, group, n));
        groups.into_iter().flat_map(of_group).collect()
    }

    #[test]
    fn left_out_projects_are_predicted_once() {
        let held_out = leave_one_out(&questions(), 1.0).unwrap();
        assert_eq!(held_out.len(), 80);
        for one in &held_out {
            assert_eq!(one.question.is_answered, one.chances[0] > 0.5);
        }
    }

    #[test]
    fn penalty_with_smallest_loss_is_chosen() {
        let (ridge, held_out) = choose_ridge(&questions(), &[1_000.0, 1.0]).unwrap();
        assert!((ridge - 1.0).abs() < f64::EPSILON);
        assert!(log_loss(&held_out) < log_loss(&leave_one_out(&questions(), 1_000.0).unwrap()));
        assert!(choose_ridge(&questions(), &[]).is_err());
    }
}
