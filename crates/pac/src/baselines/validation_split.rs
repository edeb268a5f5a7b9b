//! A random split of a sample into a training part and a validation part. The validation part is used to choose among
//! the iterates.

use crate::ErrorCount;
use crate::streams;
use halfspaces_linalg::{Halfspace, InputError, Label, PointSet, RowView, rng_for};
use rand::seq::SliceRandom;

/// The default fraction of the sample that is held out.
pub(super) const DEFAULT_SHARE: f64 = 0.25;

/// Checks that the held-out fraction is above 0 and below 1.
pub(super) fn check_share(share: f64) -> Result<(), InputError> {
    let in_range = share > 0.0 && share < 1.0;
    InputError::check_parameter("validation_share", share, in_range, "above 0 and below 1")
}

/// Labelled points.
pub(super) struct Sample<P> {
    pub(super) points: P,
    pub(super) labels: Vec<Label>,
}

/// Splits a sample into a training part and a validation part, both with at least one point.
pub(super) fn split<P: PointSet>(
    points: &P,
    labels: &[Label],
    share: f64,
    seed: u64,
) -> Result<(Sample<P>, Sample<P>), InputError> {
    let n = labels.len();
    InputError::check_len(points.len(), n)?;
    InputError::check_parameter("number of points", n as f64, n >= 2, "at least 2")?;
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut rng_for(streams::SPLIT, seed));
    let held_out = ((share * n as f64).round() as usize).clamp(1, n - 1);
    let (validation, training) = order.split_at(held_out);
    let part = |indices: &[usize]| -> Result<Sample<P>, InputError> {
        let labels = indices.iter().map(|&i| labels[i]).collect();
        Ok(Sample { points: points.select(indices)?, labels })
    };
    Ok((part(training)?, part(validation)?))
}

/// The iterate with the smallest validation error so far; ties go to the first.
pub(super) struct BestIterate<P> {
    validation: Sample<P>,
    errors: usize,
    step: u64,
    w: Vec<f64>,
}

impl<P: PointSet> BestIterate<P> {
    /// Starts with `w`, the iterate before the first step.
    pub(super) fn new(validation: Sample<P>, w: &[f64]) -> Self {
        let errors = validation.labels.len() + 1;
        let mut best = BestIterate { validation, errors, step: 0, w: w.to_vec() };
        best.offer(0, w);
        best
    }

    /// The number of validation errors of `w`. Counting stops once the count reaches the number of errors of the best
    /// iterate.
    fn errors_of(&self, w: &[f64]) -> usize {
        let Sample { points, labels } = &self.validation;
        let mut errors = 0;
        let mut goes_on = |product: f64, y: Label| {
            errors += usize::from(Label::from_sign(product) != y);
            errors < self.errors
        };
        match points.as_dense() {
            Some(dense) => {
                halfspaces_kernels::products_while(
                    dense.as_slice(),
                    w,
                    #[inline(always)]
                    |i, product| goes_on(product, labels[i]),
                );
            }
            None => {
                for (x, y) in points.rows().zip(labels) {
                    if !goes_on(x.dot(w), *y) {
                        break;
                    }
                }
            }
        }
        errors
    }

    /// Counts the errors of `w`, the iterate after `step` steps, and stores `w` if it has the fewest errors so far.
    pub(super) fn offer(&mut self, step: u64, w: &[f64]) {
        let errors = self.errors_of(w);
        if errors < self.errors {
            (self.errors, self.step) = (errors, step);
            self.w.copy_from_slice(w);
        }
    }

    /// Returns the best iterate, its step and its validation error.
    pub(super) fn finish(self) -> Result<(Halfspace, u64, ErrorCount), InputError> {
        let validation = ErrorCount { errors: self.errors, points: self.validation.labels.len() };
        Ok((Halfspace::new(self.w)?, self.step, validation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::Points;

    #[test]
    fn the_parts_are_disjoint_and_whole() {
        let points = Points::new((0..10).map(f64::from).collect(), 1).unwrap();
        let labels: Vec<Label> = (0..10).map(|i| Label::from_sign(f64::from(i) - 4.5)).collect();
        for (share, held_out) in [(0.001, 1), (0.25, 3), (0.999, 9)] {
            let (training, validation) = split(&points, &labels, share, 7).unwrap();
            assert_eq!(validation.points.len(), held_out);
            let mut all = Vec::new();
            for part in [training, validation] {
                for (x, y) in part.points.rows().zip(part.labels) {
                    assert_eq!(y, Label::from_sign(x.as_slice()[0] - 4.5));
                    all.push(x.as_slice()[0]);
                }
            }
            all.sort_by(f64::total_cmp);
            assert_eq!(all, points.as_slice());
        }
        assert!(split(&points.select(&[0]).unwrap(), &labels[..1], 0.5, 7).is_err());
        assert!(check_share(0.0).is_err() && check_share(1.0).is_err() && check_share(0.5).is_ok());
    }

    #[test]
    fn the_first_of_the_best_is_retained() {
        let points = Points::new(vec![1.0, 0.5, -1.0], 1).unwrap();
        let labels = vec![Label::Negative, Label::Negative, Label::Negative];
        let mut best = BestIterate::new(Sample { points, labels }, &[0.0]);
        for (step, w) in [(1, 1.0), (2, -0.5), (3, -1.0), (4, 0.0)] {
            best.offer(step, &[w]);
        }
        let (halfspace, step, validation) = best.finish().unwrap();
        assert_eq!((halfspace.normal(), step), ([-0.5].as_slice(), 2));
        assert_eq!((validation.errors(), validation.points()), (1, 3));
    }
}
