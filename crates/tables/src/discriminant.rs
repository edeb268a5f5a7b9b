//! Linear discriminants of many classes that share a covariance; part of `TableClassifier`.

use crate::feature_rows::{Entry, FeatureRows};
use crate::ridge::solve_with_diagonal;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, Par};
use halfspaces_linalg::{AffineHalfspace, InputError, checkpoint};

/// Number of rows whose products are added together.
const BLOCK: usize = 256;
/// The total weight of a class without rows. Its prior is then small but positive.
const NO_ROWS: f64 = 0.5;
/// The share of the variance between the classes that is added to the variance within the classes, so that the matrix
/// is invertible even if all rows of each class are equal.
const SHARE_OF_TOTAL: f64 = 1e-6;

/// Linear discriminant analysis with a ridge. The value of class c at x is
/// μᶜᵀ(S + λvI)⁻¹(x - μ) - ½ μᶜᵀ(S + λvI)⁻¹μᶜ + ln πᶜ. Here μ is the mean of all rows, μᶜ is the difference between the
/// mean of the class and μ, S is the covariance within the classes, v is the mean of the diagonal of S, πᶜ is the share
/// of the class, and λ is the shrinkage.
///
/// *Guarantee.* If each class has a normal distribution with the covariance S, the class with the largest value is the
/// most probable one (λ = 0, means and covariance known).
///
/// *Cost.* For n rows of m features and k classes, the sums take O(nm²) time, once for all values of λ. Each λ takes
/// O(m³ + m²k) time. The memory is O(m² + mk). Nothing is stored for each pair of a row and a class.
///
/// *Source.* Fisher 1936; Friedman 1989 (the ridge).
pub(crate) struct Discriminant {
    /// The lower triangle of the covariance within the classes.
    within: Mat<f64>,
    /// The variance of the features within the classes, plus a small share of the variance between the classes,
    /// averaged over the features.
    spread: f64,
    /// The differences between the means of the classes and the mean of all rows, one column for each class.
    means: Mat<f64>,
    centre: Vec<f64>,
    /// The logarithm of the share of each class.
    log_priors: Vec<f64>,
}

impl Discriminant {
    /// Sums up the `rows` of `features`; their `classes` are numbers below `count`.
    pub(crate) fn new<T: Entry>(
        features: &FeatureRows<T>,
        classes: &[usize],
        count: usize,
        weights: &[f64],
        rows: &[usize],
    ) -> Discriminant {
        let (dim, unit) = (features.dim(), f64::from(T::UNIT));
        let stored = |row: usize| features.row(row).as_flattened()[..dim].iter();
        let mut totals = vec![0.0; count];
        let mut means = Mat::<f64>::zeros(dim, count);
        for &row in rows {
            let (class, weight) = (classes[row], weights[row]);
            totals[class] += weight;
            let mean = means.col_mut(class).iter_mut();
            mean.zip(stored(row)).for_each(|(sum, x)| *sum += weight * unit * (*x).into());
        }
        let all = totals.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let mut centre = vec![0.0; dim];
        for (mean, total) in means.col_iter_mut().zip(&totals) {
            for (sum, centre) in mean.iter_mut().zip(&mut centre) {
                *centre += *sum / all;
                *sum = if *total > 0.0 { *sum / total } else { 0.0 };
            }
        }
        let mut within = Mat::<f64>::zeros(dim, dim);
        for rows in rows.chunks(BLOCK) {
            checkpoint();
            let mut centred = features.columns(rows);
            for (&row, column) in rows.iter().zip(centred.col_iter_mut()) {
                let root = (weights[row] / all).sqrt();
                let cells = column.iter_mut().zip(means.col(classes[row]).iter());
                cells.for_each(|(x, mean)| *x = root * (*x - mean));
            }
            let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
            let (x, xt) = (centred.as_ref(), centred.transpose());
            triangular::matmul(
                within.as_mut(),
                lower,
                Accum::Add,
                x,
                full,
                xt,
                full,
                1.0,
                Par::Seq,
            );
        }
        let mut between = 0.0;
        for (mean, total) in means.col_iter_mut().zip(&totals) {
            for (mean, centre) in mean.iter_mut().zip(&centre) {
                // A class without rows is at the centre.
                *mean = if *total > 0.0 { *mean - centre } else { 0.0 };
                between += total / all * *mean * *mean;
            }
        }
        let trace: f64 = (0..dim).map(|j| within[(j, j)]).sum();
        let spread = (trace + SHARE_OF_TOTAL * between) / dim as f64;
        let log_priors = totals.iter().map(|total| (total.max(NO_ROWS) / all).ln()).collect();
        let spread = if spread > 0.0 { spread } else { 1.0 };
        Discriminant { within, spread, means, centre, log_priors }
    }

    /// The discriminant of each class for a shrinkage λ, which must be positive.
    pub(crate) fn solve(&self, shrinkage: f64) -> Result<Vec<AffineHalfspace>, InputError> {
        let solutions = solve_with_diagonal(&self.within, shrinkage * self.spread, &self.means);
        let halfspace = |class: usize| {
            let weights: Vec<f64> = solutions.col(class).iter().copied().collect();
            let product = |of: &mut dyn Iterator<Item = f64>| -> f64 {
                of.zip(&weights).map(|(x, w)| x * w).sum()
            };
            let own = product(&mut self.means.col(class).iter().copied());
            let centre = product(&mut self.centre.iter().copied());
            let bias = self.log_priors[class] - 0.5 * own - centre;
            AffineHalfspace::new(weights, bias)
        };
        (0..self.means.ncols()).map(halfspace).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: &[[f32; 2]]) -> FeatureRows<f32> {
        let features = FeatureRows::new(values.len(), 2, |rows, out| {
            for (i, out) in rows.zip(out.chunks_exact_mut(halfspaces_kernels::SINGLE_LANES)) {
                out[..2].copy_from_slice(&values[i]);
            }
            Ok(())
        });
        features.unwrap().unwrap()
    }

    /// Computed by hand. The means are (1, 0), (-1, 0) and (0, 2), so the mean of all rows is (0, 2/3). Each row differs
    /// from the mean of its class by (0, ±1) or (±1, 0), so the covariance is diag(1/3, 2/3) and v = 1/2.
    #[test]
    fn discriminants_by_hand() {
        let values = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, 2.0], [-1.0, 2.0]];
        let classes = [0, 0, 1, 1, 2, 2];
        let all: Vec<usize> = (0..6).collect();
        let found = Discriminant::new(&rows(&values), &classes, 4, &[1.0; 6], &all);
        let lambda = 0.5;
        let inverse = [1.0 / (1.0 / 3.0 + 0.25), 1.0 / (2.0 / 3.0 + 0.25)];
        let means = [[1.0, -2.0 / 3.0], [-1.0, -2.0 / 3.0], [0.0, 4.0 / 3.0]];
        let solved = found.solve(lambda).unwrap();
        for (h, mean) in solved.iter().zip(means) {
            let weights = [mean[0] * inverse[0], mean[1] * inverse[1]];
            let own = mean[0] * weights[0] + mean[1] * weights[1];
            let bias = (1.0f64 / 3.0).ln() - 0.5 * own - weights[1] * 2.0 / 3.0;
            assert!((h.weights()[0] - weights[0]).abs() < 1e-5, "{h:?}");
            assert!((h.weights()[1] - weights[1]).abs() < 1e-5, "{h:?}");
            assert!((h.bias() - bias).abs() < 1e-5, "{h:?} {bias}");
        }
        // A class without rows has a small prior.
        assert_eq!(solved[3].weights(), [0.0, 0.0]);
        assert!((solved[3].bias() - (0.5f64 / 6.0).ln()).abs() < 1e-12);
    }

    /// Rows of weight 2 count twice, and equal rows of a class leave the matrix regular.
    #[test]
    fn weights_count_and_equal_rows_are_regular() {
        let values = [[0.0, 1.0], [0.0, 1.0], [2.0, 0.0], [2.0, 0.0], [5.0, 5.0]];
        let features = rows(&values);
        let classes = [0, 0, 1, 1, 2];
        let twice = Discriminant::new(&features, &classes, 3, &[1.0; 5], &[0, 1, 2, 3, 4]);
        let weighted =
            Discriminant::new(&features, &classes, 3, &[2.0, 0.0, 2.0, 0.0, 1.0], &[0, 2, 4]);
        for (a, b) in twice.solve(0.1).unwrap().iter().zip(weighted.solve(0.1).unwrap()) {
            assert!((a.bias() - b.bias()).abs() <= 1e-9 * a.bias().abs(), "{a:?} {b:?}");
        }
        let nothing = Discriminant::new(&rows(&[[1.0, 1.0]; 2]), &[0, 1], 2, &[1.0; 2], &[0, 1]);
        assert!(nothing.solve(0.1).is_ok());
    }
}
