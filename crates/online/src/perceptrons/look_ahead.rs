//! One pass over a pool in memory.
//!
//! A learner that only moves after a mistake (or a margin too small) keeps its hypothesis for long
//! stretches. Its values on the next few points, all of the present hypothesis, are computed at once and
//! then compared with the labels. Up to the first label at which the learner would move they are what it
//! would have computed one by one, to the bit; the others are discarded. After a move it goes one by one
//! until it has been right for a while, so that many moves cost no more.
//!
//! Claims: none; the tests below hold it to the rounds of the protocol that K3 plays one by one.

use super::weights::Weights;
use crate::protocol::{OnlineLearner, PartialFitError, Tally};
use halfspaces_linalg::{InputError, Label, PointSet, Points};
use std::convert::Infallible;

/// Rounds without a move after which the learner looks ahead.
const MIN_QUIET_ROUNDS: usize = 16;
/// Values computed at once, at most: few enough that they are used while the processor fetches the next.
const MAX_LOOKAHEAD: usize = 64;

/// [`OnlineLearner::learn_pool`] of a learner that can tell for how many of the next examples it would be
/// right and not move, and takes them as learned.
pub(super) fn learn_pool_ahead<L: OnlineLearner, P: PointSet>(
    learner: &mut L,
    points: &P,
    labels: &[Label],
    skip: impl Fn(&mut L, Ahead) -> usize,
) -> Result<Tally, PartialFitError<Infallible>> {
    InputError::check_len(points.len(), labels.len())?;
    let mut tally = Tally::default();
    let mut values = [0.0; MAX_LOOKAHEAD];
    // The learner has not moved for `quiet` rounds; it looks ahead no further than that.
    let (mut next, mut quiet) = (0, 0);
    while let Some(&truth) = labels.get(next) {
        if let (Some(points), true) = (points.as_dense(), quiet >= MIN_QUIET_ROUNDS) {
            let stretch = quiet.min(MAX_LOOKAHEAD).min(labels.len() - next);
            let labels = &labels[next..next + stretch];
            let ahead = Ahead { points, first: next, labels, values: &mut values[..stretch] };
            let skipped = skip(learner, ahead);
            tally.rounds += skipped as u64;
            next += skipped;
            quiet = if skipped == stretch { quiet + skipped } else { 0 };
            continue;
        }
        let Some(x) = points.row(next) else { unreachable!("there are as many points as labels") };
        let updates = learner.updates();
        tally.record(learner.learn(x, truth), truth)?;
        quiet = if learner.updates() == updates { quiet + 1 } else { 0 };
        next += 1;
    }
    Ok(tally)
}

/// The next examples of a pool, and room for their values.
pub(super) struct Ahead<'a> {
    points: &'a Points,
    first: usize,
    labels: &'a [Label],
    values: &'a mut [f64],
}

impl Ahead<'_> {
    /// How many of them come before the first whose value and label would move a learner with these weights.
    pub(super) fn unchanged_prefix(
        self,
        weights: &Weights,
        stays: impl Fn(f64, Label) -> bool,
    ) -> usize {
        let Ahead { points, first, labels, values } = self;
        // What cannot be computed at once is found out about one by one.
        if points.margins_from(first, weights.as_slice(), values).is_err() {
            return 0;
        }
        let stays = |(value, label): &(&f64, &Label)| value.is_finite() & stays(**value, **label);
        let pairs = values.iter().zip(labels);
        // Nearly always all of them, which is seen without a branch for each.
        if pairs.clone().fold(true, |all, pair| all & stays(&pair)) {
            return labels.len();
        }
        pairs.take_while(stays).count()
    }
}

/// Whether a value's sign is the label: where a perceptron stays.
pub(super) fn right(value: f64, label: Label) -> bool {
    Label::from_sign(value) == label
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aggressiveness, Alma, AveragedPerceptron, PassiveAggressive};
    use crate::{Perceptron, VotedPerceptron};
    use halfspaces_linalg::{FitError, SparsePoints};
    use proptest::prelude::*;
    use std::fmt::Debug;

    /// One round after the other: the pass as the protocol has it.
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
        agrees(&VotedPerceptron::new(d).unwrap(), points, labels)?;
        for kind in [Aggressiveness::Unbounded, Aggressiveness::Capped(0.3)] {
            agrees(&PassiveAggressive::new(d, kind).unwrap(), points, labels)?;
        }
        // One that does not look ahead.
        agrees(&Alma::new(d, 0.5).unwrap(), points, labels)
    }

    proptest! {
        /// Few different points, so that values of exactly 0 occur, and stretches without a move; now and
        /// then one so long that its product overflows, or one of zeros.
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
                // A wrong label now and then.
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
