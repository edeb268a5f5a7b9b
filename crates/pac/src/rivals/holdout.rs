//! A sample in two random parts: one to descend on, one to choose among the iterates with.

use crate::ErrorCount;

use halfspaces_linalg::{Halfspace, InputError, Label, PointSet, RngStream, RowView, rng_for};
use rand::seq::SliceRandom;

/// Share of the sample that is held out unless told otherwise.
pub(crate) const DEFAULT_SHARE: f64 = 0.25;

/// The share held out lies strictly between 0 and 1.
pub(crate) fn check_share(share: f64) -> Result<(), InputError> {
    let in_range = share > 0.0 && share < 1.0;
    InputError::check_parameter("validation_share", share, in_range, "above 0 and below 1")
}

/// Labelled points.
pub(crate) struct Sample<P> {
    pub(crate) points: P,
    pub(crate) labels: Vec<Label>,
}

/// The parts: training, then validation. Both have at least one point.
pub(crate) fn split<P: PointSet>(
    points: &P,
    labels: &[Label],
    share: f64,
    seed: u64,
) -> Result<(Sample<P>, Sample<P>), InputError> {
    let n = points.len();
    InputError::check_parameter("number of points", n as f64, n >= 2, "at least 2, to split")?;
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut rng_for(RngStream::Split, seed));
    let held_out = ((share * n as f64).round() as usize).clamp(1, n - 1);
    let (validation, training) = order.split_at(held_out);
    let part = |indices: &[usize]| -> Result<Sample<P>, InputError> {
        let labels = indices.iter().filter_map(|&i| labels.get(i).copied()).collect();
        Ok(Sample { points: points.select(indices)?, labels })
    };
    Ok((part(training)?, part(validation)?))
}

/// The iterate of least validation error so far, the first of equals.
pub(crate) struct Best<P> {
    validation: Sample<P>,
    /// Errors, step and weights.
    best: Option<(usize, u64, Vec<f64>)>,
}

impl<P: PointSet> Best<P> {
    pub(crate) fn new(validation: Sample<P>) -> Self {
        Best { validation, best: None }
    }

    /// Counts the errors of `w`, the iterate after `step` steps, and keeps it if it has fewest.
    pub(crate) fn offer(&mut self, step: u64, w: &[f64]) {
        let Sample { points, labels } = &self.validation;
        let wrong = |(x, y): &(P::Row<'_>, &Label)| Label::from_sign(x.dot(w)) != **y;
        let errors = points.rows().zip(labels).filter(wrong).count();
        if self.best.as_ref().is_none_or(|(least, ..)| errors < *least) {
            self.best = Some((errors, step, w.to_vec()));
        }
    }

    /// The iterate kept, its step and its validation error.
    pub(crate) fn take(self) -> Result<(Halfspace, u64, ErrorCount), InputError> {
        let (errors, step, w) = self.best.ok_or(InputError::Empty)?;
        let validation = ErrorCount { errors, points: self.validation.labels.len() };
        Ok((Halfspace::new(w)?, step, validation))
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
    fn the_first_of_the_best_is_kept() {
        let points = Points::new(vec![1.0, 0.5, -1.0], 1).unwrap();
        let labels = vec![Label::Negative, Label::Negative, Label::Negative];
        let mut best = Best::new(Sample { points, labels });
        for (step, w) in [(0, 0.0), (1, 1.0), (2, -0.5), (3, -1.0), (4, 0.0)] {
            best.offer(step, &[w]);
        }
        let (halfspace, step, validation) = best.take().unwrap();
        assert_eq!((halfspace.normal(), step), ([-0.5].as_slice(), 2));
        assert_eq!((validation.errors(), validation.points()), (1, 3));
    }
}
