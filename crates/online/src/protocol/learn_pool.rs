//! One pass over a pool in memory.
//!
//! A learner that only moves after a mistake (or a margin too small) stays where it is for long
//! stretches: its values on the next few points, all of the present hypothesis, are computed at once,
//! and only then held against the labels. Up to the first label at which the learner would move they
//! are what it would have computed one by one, to the bit; the others are thrown away. After a move
//! it goes one by one until it has been right for a while, so that many moves cost no more.

use super::learner::OnlineLearner;
use super::partial_fit::{PartialFitError, Tally};
use crate::perceptrons::Weights;
use halfspaces_linalg::{InputError, Label, PointSet, Points};

/// So many rounds in a row without a move promise some more.
const CALM: usize = 16;
/// So many values are computed at once, at most: so few that what is done with them is done while the
/// processor fetches the next.
const FAR: usize = 64;

/// One by one. See [`OnlineLearner::learn_pool`].
pub(crate) fn one_by_one<L: OnlineLearner, P: PointSet>(
    learner: &mut L,
    points: &P,
    labels: &[Label],
) -> Result<Tally, PartialFitError<InputError>> {
    // A learner that never looks ahead.
    looking_ahead(learner, points, labels, |_, _| 0)
}

/// With a learner that can tell for how many of the next examples it would predict rightly and not move,
/// and takes them as learned.
pub(crate) fn looking_ahead<L: OnlineLearner, P: PointSet>(
    learner: &mut L,
    points: &P,
    labels: &[Label],
    skip: impl Fn(&mut L, Ahead) -> usize,
) -> Result<Tally, PartialFitError<InputError>> {
    let mut tally = Tally::default();
    let stream = |source| PartialFitError::Stream { tally: Tally::default(), source };
    InputError::check_len(points.len(), labels.len()).map_err(stream)?;
    let mut values = [0.0; FAR];
    // For how many examples the learner has stayed; as far it looks ahead.
    let (mut next, mut calm) = (0, 0);
    while let Some(&truth) = labels.get(next) {
        if let (Some(points), true) = (points.as_dense(), calm >= CALM) {
            let stretch = calm.min(FAR).min(labels.len() - next);
            let labels = &labels[next..next + stretch];
            let ahead = Ahead { points, first: next, labels, values: &mut values[..stretch] };
            let skipped = skip(learner, ahead);
            tally.rounds += skipped as u64;
            next += skipped;
            calm = if skipped == stretch { calm + skipped } else { 0 };
            continue;
        }
        let Some(x) = points.row(next) else { break };
        let updates = learner.updates();
        match learner.learn(x, truth) {
            Ok(prediction) => tally.count(prediction, truth),
            Err(source) => return Err(PartialFitError::Learner { tally, source }),
        }
        calm = if learner.updates() == updates { calm + 1 } else { 0 };
        next += 1;
    }
    Ok(tally)
}

/// The next examples of a pool, and room for their values.
pub(crate) struct Ahead<'a> {
    points: &'a Points,
    first: usize,
    labels: &'a [Label],
    values: &'a mut [f64],
}

impl Ahead<'_> {
    /// How many of them come before the first whose value and label would move a learner with these weights.
    pub(crate) fn staying(self, weights: &Weights, stays: impl Fn(f64, Label) -> bool) -> usize {
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
pub(crate) fn right(value: f64, label: Label) -> bool {
    Label::from_sign(value) == label
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aggressiveness, Alma, AveragedPerceptron, OnlineError, PassiveAggressive};
    use crate::{Perceptron, VotedPerceptron};
    use halfspaces_linalg::SparsePoints;
    use proptest::prelude::*;
    use std::fmt::Debug;

    /// What `partial_fit` of a stream does: the pass as the protocol has it.
    fn literal<L: OnlineLearner, P: PointSet>(
        learner: &mut L,
        points: &P,
        labels: &[Label],
    ) -> (Tally, Option<OnlineError>) {
        let mut tally = Tally::default();
        for (x, y) in points.rows().zip(labels) {
            match learner.observe(x, *y) {
                Ok(prediction) => tally.count(prediction, *y),
                Err(error) => return (tally, Some(error)),
            }
        }
        (tally, None)
    }

    fn agrees<L: OnlineLearner + Clone + PartialEq + Debug>(
        fresh: &L,
        points: &Points,
        labels: &[Label],
    ) -> Result<(), TestCaseError> {
        let (mut expected, mut dense, mut sparse) = (fresh.clone(), fresh.clone(), fresh.clone());
        for _ in 0..3 {
            let (tally, error) = literal(&mut expected, points, labels);
            let answer = match error {
                None => Ok(tally),
                Some(source) => Err(PartialFitError::Learner { tally, source }),
            };
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
    fn an_overflow_in_a_calm_stretch_is_found_where_it_is() {
        let mut values = vec![1.0; 200];
        values[150] = 1e200;
        let points = Points::new(values, 1).unwrap();
        let mut learner = Perceptron::new(1).unwrap();
        let x = halfspaces_linalg::DenseRow::new(&[1e150]).unwrap();
        learner.observe(x, Label::Negative).unwrap();
        let error = learner.clone().learn_pool(&points, &[Label::Negative; 200]).unwrap_err();
        let tally = Tally { rounds: 150, mistakes: 0, abstentions: 0 };
        let source = OnlineError::Overflow;
        assert_eq!(error, PartialFitError::Learner { tally, source });
        let refused = learner.learn_pool(&points, &[Label::Negative; 3]).unwrap_err();
        assert!(matches!(refused, PartialFitError::Stream { .. }));
    }
}
