//! Logistic regression on features that a row has or has not, of which there are many: one coefficient after the other by
//! Newton's method, with a ridge penalty for each. Deterministic.

/// A labelled row.
#[derive(Debug, Clone)]
pub(super) struct FeatureRow {
    /// Numbers of the features that it has.
    pub(super) features: Vec<usize>,
    pub(super) is_positive: bool,
    pub(super) weight: f64,
}

/// Fitted model.
#[derive(Debug, Clone)]
pub(super) struct SparseModel {
    /// Constant.
    pub(super) bias: f64,
    /// One coefficient for each feature.
    pub(super) coefficients: Vec<f64>,
}

/// Largest number of rounds through all coefficients.
const ROUNDS_MAX: usize = 3000;
/// Largest change of a coefficient in a round at which the fit is done.
const TOLERANCE: f64 = 1e-6;
/// Largest change of a coefficient at once; a longer step may overshoot.
const STEP_MAX: f64 = 1.0;

impl SparseModel {
    /// Returns the probability of a row with these features.
    pub(super) fn probability(&self, features: &[usize]) -> f64 {
        let weights = features
            .iter()
            .filter_map(|one| self.coefficients.get(*one));
        sigmoid(self.bias + weights.sum::<f64>())
    }
}

/// Fits a model; `penalties` has the penalty of each feature.
///
/// Errors: no rows, or a feature without a penalty.
pub(super) fn fit(rows: &[FeatureRow], penalties: &[f64]) -> Result<SparseModel, String> {
    if rows.is_empty() {
        return Err("no rows".to_owned());
    }
    let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); penalties.len()];
    for (number, row) in rows.iter().enumerate() {
        for feature in &row.features {
            let list = rows_of.get_mut(*feature);
            list.ok_or("a feature without a penalty")?.push(number);
        }
    }
    let all: Vec<usize> = (0..rows.len()).collect();
    let mut odds = vec![0.0; rows.len()];
    let mut model = SparseModel {
        bias: 0.0,
        coefficients: vec![0.0; penalties.len()],
    };
    for _ in 0..ROUNDS_MAX {
        let mut largest = improve(&mut model.bias, 0.0, &all, rows, &mut odds).abs();
        let coefficients = model.coefficients.iter_mut().zip(penalties).zip(&rows_of);
        for ((coefficient, penalty), of_feature) in coefficients {
            let step = improve(coefficient, *penalty, of_feature, rows, &mut odds);
            largest = largest.max(step.abs());
        }
        if largest < TOLERANCE {
            break;
        }
    }
    Ok(model)
}

/// Makes one Newton step of a coefficient and returns it.
fn improve(
    coefficient: &mut f64,
    penalty: f64,
    of_feature: &[usize],
    rows: &[FeatureRow],
    odds: &mut [f64],
) -> f64 {
    let (mut slope, mut curve) = (penalty * *coefficient, penalty);
    for at in of_feature {
        let row = &rows[*at];
        let chance = sigmoid(odds[*at]);
        slope += row.weight * (chance - f64::from(u8::from(row.is_positive)));
        curve += row.weight * chance * (1.0 - chance);
    }
    if curve <= 0.0 {
        return 0.0;
    }
    let step = (-slope / curve).clamp(-STEP_MAX, STEP_MAX);
    *coefficient += step;
    for at in of_feature {
        odds[*at] += step;
    }
    step
}

fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of rows with the first feature 3 of 4 are positive, of others 1 of 4; the second feature is rare and always
    /// positive.
    fn rows() -> Vec<FeatureRow> {
        let row = |number: usize| {
            let is_first = number.is_multiple_of(2);
            let mut features = vec![0; usize::from(is_first)];
            features.extend(vec![1; usize::from(number == 0)]);
            FeatureRow {
                features,
                is_positive: (number / 2) % 4 != if is_first { 3 } else { 0 }
                    && (is_first || (number / 2) % 4 == 1),
                weight: 1.0,
            }
        };
        (0..400).map(row).collect()
    }

    #[test]
    fn coefficients_are_log_odds() {
        let model = fit(&rows(), &[1e-6, 1000.0]).unwrap();
        assert!((model.probability(&[0]) - 0.75).abs() < 0.01, "{model:?}");
        assert!((model.probability(&[]) - 0.25).abs() < 0.01, "{model:?}");
        assert!(model.coefficients[1].abs() < 0.01);
    }

    #[test]
    fn penalty_shrinks_rare_features() {
        let weak = fit(&rows(), &[1.0, 0.1]).unwrap();
        let strong = fit(&rows(), &[1.0, 3.0]).unwrap();
        assert!(strong.coefficients[1] < weak.coefficients[1] / 2.0);
        assert!(fit(&[], &[1.0]).is_err());
        assert!(fit(&rows(), &[1.0]).is_err());
    }
}
