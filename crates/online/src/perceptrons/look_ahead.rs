//! One pass over a pool in memory, with look-ahead.
//!
//! A learner that changes only after a mistake, or when a margin is too small, keeps its hypothesis for many points in
//! a row. This module computes the values of the next points in one loop and compares each with its label, up to the
//! first point at which the learner would change. The values equal those computed point by point, bit for bit,
//! including the value of the point at which the learner changes. The next point is then processed without look-ahead,
//! so that several changes in a row cost no extra work.
//!
//! Claims: none; the tests below compare the results with those of the point-by-point protocol, which claim K3 uses.

use super::weights::Weights;
use crate::protocol::{OnlineLearner, PartialFitError, Prediction, Tally};
use halfspaces_linalg::{InputError, Label, PointSet, RowView};
use std::convert::Infallible;

/// Implements [`OnlineLearner::learn_pool`] for a learner. The function `skip` returns the number of upcoming examples
/// that leave the learner unchanged, and counts them as learned.
pub(super) fn learn_pool_ahead<L: OnlineLearner, P: PointSet>(
    learner: &mut L,
    points: &P,
    labels: &[Label],
    skip: impl Fn(&mut L, NextExamples) -> Prefix,
) -> Result<Tally, PartialFitError<Infallible>> {
    InputError::check_len(points.len(), labels.len())?;
    let mut tally = Tally::default();
    // `moved` states whether the learner changed in the last round. If the learner changes often, looking ahead does
    // not pay off.
    let (mut next, mut moved) = (0, true);
    while next < labels.len() {
        let mut value = None;
        if let (Some(points), false) = (points.as_dense(), moved) {
            let rows = &points.as_slice()[next * points.dim()..];
            let ahead = NextExamples { rows, dim: points.dim(), labels: &labels[next..] };
            let prefix = skip(learner, ahead);
            tally.rounds += prefix.rounds as u64;
            next += prefix.rounds;
            value = prefix.next_value;
        }
        // The examples skipped by looking ahead may have been the last.
        if next == labels.len() {
            break;
        }
        let truth = labels[next];
        let Some(x) = points.row(next) else { unreachable!("the pool has one label per point") };
        x.prefetch_ahead();
        let updates = learner.updates();
        let round = match value.map(Prediction::from_value) {
            Some(guess) => learner.update(x, guess, truth).map(|_| guess),
            None => learner.learn(x, truth),
        };
        tally.record(round, truth)?;
        moved = learner.updates() != updates;
        next += 1;
    }
    Ok(tally)
}

/// The next examples of a pool: rows of `dim` values, stored contiguously, and their labels.
pub(super) struct NextExamples<'a> {
    rows: &'a [f64],
    dim: usize,
    labels: &'a [Label],
}

/// The next examples that leave a learner unchanged.
#[derive(Default)]
pub(super) struct Prefix {
    pub(super) rounds: usize,
    /// w · x of the first example after the prefix, if this value is finite.
    next_value: Option<f64>,
}

impl NextExamples<'_> {
    /// Counts the examples before the first example that would change a learner with these weights.
    pub(super) fn unchanged_prefix(
        self,
        weights: &Weights,
        stays: impl Fn(f64, Label) -> bool,
    ) -> Prefix {
        let NextExamples { rows, dim, labels } = self;
        let mut prefix = Prefix::default();
        // If the dimensions do not match, the caller continues point by point and reports the error.
        if weights.dim() != dim {
            return prefix;
        }
        prefix.rounds = halfspaces_kernels::products_while(
            rows,
            weights.as_slice(),
            #[inline(always)]
            |i, value| {
                let stays = value.is_finite() & stays(value, labels[i]);
                if !stays {
                    prefix.next_value = if value.is_finite() { Some(value) } else { None };
                }
                stays
            },
        );
        prefix
    }
}

/// Whether the sign of the value equals the label. If it does, a perceptron stays unchanged.
#[inline(always)]
pub(super) fn right(value: f64, label: Label) -> bool {
    Label::from_sign(value) == label
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aggressiveness, Alma, AveragedPerceptron, PassiveAggressive, Perceptron};
    use halfspaces_linalg::{FitError, Points, SparsePoints};
    use proptest::prelude::*;
    use std::fmt::Debug;

    /// Test oracle: plays one round at a time, as in the protocol.
    fn one_by_one<L: OnlineLearner, P: PointSet>(
        learner: &mut L,
        points: &P,
        labels: &[Label],
    ) -> Result<Tally, PartialFitError<Infallible>> {
        let mut tally = Tally::default();
        for (x, y) in points.rows().zip(labels) {
            tally.record(learner.observe(x, *y), *y)?;
        }
        Ok(tally)
    }

    fn agrees<L: OnlineLearner + Clone + PartialEq + Debug>(
        fresh: &L,
        points: &Points,
        labels: &[Label],
    ) -> Result<(), TestCaseError> {
        let (mut expected, mut dense, mut sparse) = (fresh.clone(), fresh.clone(), fresh.clone());
        for _ in 0..3 {
            let answer = one_by_one(&mut expected, points, labels);
            prop_assert_eq!(&dense.learn_pool(points, labels), &answer);
            prop_assert_eq!(&dense, &expected);
            let of_sparse = SparsePoints::from_dense(points).unwrap();
            prop_assert_eq!(&sparse.learn_pool(&of_sparse, labels), &answer);
            prop_assert_eq!(&sparse, &expected);
        }
        Ok(())
    }

    fn all_agree(points: &Points, labels: &[Label]) -> Result<(), TestCaseError> {
        let d = points.dim();
        agrees(&Perceptron::new(d).unwrap(), points, labels)?;
        agrees(&AveragedPerceptron::new(d).unwrap(), points, labels)?;
        for kind in [Aggressiveness::Unbounded, Aggressiveness::Capped(0.3)] {
            agrees(&PassiveAggressive::new(d, kind).unwrap(), points, labels)?;
        }
        // A learner that does not look ahead.
        agrees(&Alma::new(d, 0.5).unwrap(), points, labels)
    }

    proptest! {
        /// The pool has few distinct points, so that values of exactly 0 and stretches without a change occur.
        /// Occasionally it contains a point so long that its product overflows, or a zero point.
        #[test]
        fn a_pass_is_that_of_the_protocol(
            d in 1..20usize,
            kinds in prop::collection::vec((0..6u8, any::<bool>()), 2..5),
            draws in prop::collection::vec((0..100u8, 0..400u16), 0..400),
            far in any::<bool>(),
        ) {
            let mut values = Vec::new();
            let mut labels = Vec::new();
            for (kind, place) in draws {
                let (shape, label) = kinds[usize::from(kind) % kinds.len()];
                let size = if far && place == 0 { 1e200 } else { 1.0 };
                values.extend((0..d).map(|j| size * (((j as u8 + 1) * shape) % 5) as f64 - size));
                // An occasional wrong label.
                labels.push(if label != (place > 390) { Label::Positive } else { Label::Negative });
            }
            all_agree(&Points::new(values, d).unwrap(), &labels)?;
        }
    }

    #[test]
    fn an_overflow_in_a_quiet_stretch_is_found_where_it_is() {
        let mut values = vec![1.0; 200];
        values[150] = 1e200;
        let points = Points::new(values, 1).unwrap();
        let mut learner = Perceptron::new(1).unwrap();
        let x = halfspaces_linalg::DenseRow::new(&[1e150]).unwrap();
        learner.observe(x, Label::Negative).unwrap();
        let error = learner.clone().learn_pool(&points, &[Label::Negative; 200]).unwrap_err();
        let tally = Tally { rounds: 150, mistakes: 0, abstentions: 0 };
        let fault = FitError::Example { taken: 150, source: InputError::Overflow { row: 150 } };
        assert_eq!(error, PartialFitError { tally, fault });
        let refused = learner.learn_pool(&points, &[Label::Negative; 3]).unwrap_err();
        assert!(matches!(refused.fault, FitError::Input(InputError::LengthMismatch { .. })));
    }
}
