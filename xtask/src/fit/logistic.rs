//! Logistic regression: Newton's method with a ridge penalty. Deterministic, no randomness.

/// One labelled observation.
#[derive(Debug, Clone)]
pub(crate) struct Observation {
    /// Features, without the constant.
    pub(crate) features: Vec<f64>,
    /// Label, 0 to 1; between them for a record that is harmless and mildly useful.
    pub(crate) label: f64,
    /// Weight.
    pub(crate) weight: f64,
}

/// Fitted model on the scale of the features as they are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Model {
    /// Constant.
    pub(crate) bias: f64,
    /// One coefficient for each feature.
    pub(crate) coefficients: Vec<f64>,
}

impl Model {
    /// Returns the probability of a positive label.
    pub(crate) fn probability(&self, features: &[f64]) -> f64 {
        let products = self.coefficients.iter().zip(features);
        sigmoid(self.bias + products.map(|(one, value)| one * value).sum::<f64>())
    }
}

/// Largest number of Newton steps; ten are usual.
const STEPS_MAX: usize = 100;
/// Change of the coefficients at which the fit is done.
const TOLERANCE: f64 = 1e-10;

/// Fits a model. The penalty applies to the coefficients of standardised features and not to the constant.
///
/// Errors: no observations, or a system of equations without a solution.
pub(crate) fn fit(observations: &[Observation], ridge: f64) -> Result<Model, String> {
    let count = observations
        .first()
        .ok_or("no observations")?
        .features
        .len();
    let scale = Scale::of(observations, count);
    let rows: Vec<Vec<f64>> = observations
        .iter()
        .map(|one| scale.row(&one.features))
        .collect();
    let mut beta = vec![0.0; count + 1];
    for _ in 0..STEPS_MAX {
        let mut gradient = vec![0.0; count + 1];
        let mut hessian = vec![vec![0.0; count + 1]; count + 1];
        for (row, one) in rows.iter().zip(observations) {
            let chance = sigmoid(row.iter().zip(&beta).map(|(a, b)| a * b).sum());
            let curve = one.weight * chance * (1.0 - chance);
            for (i, a) in row.iter().enumerate() {
                gradient[i] += one.weight * (one.label - chance) * a;
                for (j, b) in row.iter().enumerate().take(i + 1) {
                    hessian[i][j] += curve * a * b;
                }
            }
        }
        for i in 0..=count {
            let (above, below) = hessian.split_at_mut(i + 1);
            for (mirrored, row) in above[i].iter_mut().skip(i + 1).zip(below.iter()) {
                *mirrored = row[i];
            }
            if i > 0 {
                gradient[i] -= ridge * beta[i];
                hessian[i][i] += ridge;
            }
        }
        let step = solve(hessian, gradient)?;
        let largest = step.iter().fold(0.0_f64, |most, one| most.max(one.abs()));
        // A long step may overshoot where the curve is flat.
        let damping = if largest > 5.0 { 5.0 / largest } else { 1.0 };
        for (one, change) in beta.iter_mut().zip(&step) {
            *one += damping * change;
        }
        if largest < TOLERANCE {
            break;
        }
    }
    Ok(scale.model(&beta))
}

/// Mean and deviation of each feature.
struct Scale {
    means: Vec<f64>,
    deviations: Vec<f64>,
}

impl Scale {
    fn of(observations: &[Observation], count: usize) -> Self {
        let all: f64 = observations.iter().map(|one| one.weight).sum();
        let mean = |value: &dyn Fn(&Observation) -> f64| {
            observations
                .iter()
                .map(|one| one.weight * value(one))
                .sum::<f64>()
                / all
        };
        let means: Vec<f64> = (0..count).map(|at| mean(&|one| one.features[at])).collect();
        let deviations = (0..count).map(|at| {
            let deviation = mean(&|one| (one.features[at] - means[at]).powi(2)).sqrt();
            if deviation > 1e-12 { deviation } else { 1.0 }
        });
        Self {
            deviations: deviations.collect(),
            means: means.clone(),
        }
    }

    /// Returns the standardised features after a constant of 1.
    fn row(&self, features: &[f64]) -> Vec<f64> {
        let scaled = features.iter().zip(self.means.iter().zip(&self.deviations));
        std::iter::once(1.0)
            .chain(scaled.map(|(value, (mean, deviation))| (value - mean) / deviation))
            .collect()
    }

    /// Returns the model for features that are not standardised.
    fn model(&self, beta: &[f64]) -> Model {
        let coefficients: Vec<f64> = beta[1..]
            .iter()
            .zip(&self.deviations)
            .map(|(b, d)| b / d)
            .collect();
        let shift: f64 = coefficients
            .iter()
            .zip(&self.means)
            .map(|(b, m)| b * m)
            .sum();
        Model {
            bias: beta[0] - shift,
            coefficients,
        }
    }
}

fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

/// Solves a system of linear equations by Gaussian elimination with pivots.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Result<Vec<f64>, String> {
    let size = right.len();
    for column in 0..size {
        let pivot = (column..size)
            .max_by(|a, b| {
                matrix[*a][column]
                    .abs()
                    .total_cmp(&matrix[*b][column].abs())
            })
            .unwrap_or(column);
        if matrix[pivot][column].abs() < 1e-12 {
            return Err(
                "the features depend on each other: the equations have no solution".to_owned(),
            );
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        for row in column + 1..size {
            let factor = matrix[row][column] / matrix[column][column];
            let (above, below) = matrix.split_at_mut(row);
            for (value, pivot) in below[0].iter_mut().zip(&above[column]).skip(column) {
                *value -= factor * pivot;
            }
            right[row] -= factor * right[column];
        }
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|at| matrix[row][at] * right[at]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    Ok(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observations(model: &Model) -> Vec<Observation> {
        let points = (0..40).flat_map(|a| {
            (0..40).map(move |b| vec![f64::from(a) / 10.0, f64::from(b) / 4.0 + 3.0])
        });
        let one = |features: Vec<f64>| Observation {
            label: model.probability(&features),
            features,
            weight: 1.0,
        };
        points.map(one).collect()
    }

    #[test]
    fn fit_recovers_model_of_its_labels() {
        let model = Model {
            bias: -4.0,
            coefficients: vec![1.5, 0.25],
        };
        let found = fit(&observations(&model), 0.0).unwrap();
        assert!((found.bias - model.bias).abs() < 1e-6, "{found:?}");
        for (one, other) in found.coefficients.iter().zip(&model.coefficients) {
            assert!((one - other).abs() < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn ridge_shrinks_coefficients() {
        let model = Model {
            bias: -4.0,
            coefficients: vec![1.5, 0.25],
        };
        let plain = fit(&observations(&model), 0.0).unwrap();
        let shrunk = fit(&observations(&model), 500.0).unwrap();
        assert!(shrunk.coefficients[0] < plain.coefficients[0] / 2.0);
    }

    #[test]
    fn same_feature_twice_needs_ridge() {
        let mut all = observations(&Model {
            bias: -1.0,
            coefficients: vec![1.0, 0.0],
        });
        for one in &mut all {
            one.features[1] = one.features[0];
        }
        assert!(fit(&all, 0.0).is_err());
        assert!(fit(&all, 1.0).is_ok());
        assert!(fit(&[], 1.0).is_err());
    }
}
