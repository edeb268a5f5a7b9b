//! The order of the points: as given, random, or chosen by an adversary.
//!
//! Claims: K1, K2, K3, K3n, K6, K7, K10, K11, K12, K13.

use super::learner::OnlineLearner;
use crate::streams;
use halfspaces_linalg::{InputError, Label, PointSet, rng_for};
use rand::seq::SliceRandom;

/// The order in which a learner is asked about the points of a pool. An order sees the learner and the points; an
/// adversary also knows the labels. The learner sees neither the order nor the labels.
///
/// ```
/// use halfspaces_linalg::{InputError, Label, PointSet, Points};
/// use halfspaces_online::{OnlineLearner, Order, Perceptron, run};
/// /// From the last point to the first.
/// struct Backwards(usize);
/// impl Order for Backwards {
///     fn next<L: OnlineLearner, P: PointSet>(
///         &mut self,
///         _learner: &L,
///         _points: &P,
///     ) -> Result<Option<usize>, InputError> {
///         self.0 = self.0.wrapping_sub(1);
///         Ok((self.0 != usize::MAX).then_some(self.0))
///     }
/// }
/// let points = Points::from_rows(&[[1.0], [2.0], [3.0]])?;
/// let (learner, played) = run(Perceptron::new(1)?, &points, &[Label::Negative; 3], Backwards(3))?;
/// assert_eq!(played.rounds().iter().map(|r| r.index).collect::<Vec<_>>(), [2, 1, 0]);
/// assert_eq!(learner.weights(), [-3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Order {
    /// The next point, or `None` at the end. No point is returned twice.
    ///
    /// # Errors
    /// The errors of the learner, if the order queries it.
    fn next<L: OnlineLearner, P: PointSet>(
        &mut self,
        learner: &L,
        points: &P,
    ) -> Result<Option<usize>, InputError>;
}

/// The order in which the points are given, from first to last.
///
/// ```
/// use halfspaces_linalg::Points;
/// use halfspaces_online::{AsGiven, Order, Perceptron};
/// let (mut order, learner) = (AsGiven::new(), Perceptron::new(1)?);
/// let points = Points::from_rows(&[[1.0], [2.0]])?;
/// assert_eq!(order.next(&learner, &points)?, Some(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct AsGiven {
    next: usize,
}

impl AsGiven {
    /// An order that starts with the first point.
    #[must_use]
    pub fn new() -> AsGiven {
        AsGiven::default()
    }
}

impl Order for AsGiven {
    fn next<L: OnlineLearner, P: PointSet>(
        &mut self,
        _: &L,
        points: &P,
    ) -> Result<Option<usize>, InputError> {
        let index = self.next;
        self.next = index.saturating_add(1);
        Ok((index < points.len()).then_some(index))
    }
}

/// A uniformly random permutation of the points, drawn at the first call.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::{Perceptron, RandomOrder, run};
/// let points = Points::from_rows(&[[1.0], [2.0], [3.0]])?;
/// let (_, transcript) =
///     run(Perceptron::new(1)?, &points, &[Label::Positive; 3], RandomOrder::new(42))?;
/// let mut asked: Vec<usize> = transcript.rounds().iter().map(|r| r.index).collect();
/// asked.sort();
/// assert_eq!(asked, [0, 1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RandomOrder {
    seed: u64,
    /// The remaining part of the permutation; `None` before the permutation is drawn.
    rest: Option<std::vec::IntoIter<usize>>,
}

impl RandomOrder {
    /// The permutation that `seed` determines.
    #[must_use]
    pub fn new(seed: u64) -> RandomOrder {
        RandomOrder { seed, rest: None }
    }

    /// Like [`RandomOrder::new`], with a seed drawn from `rng`.
    #[must_use]
    pub fn with_rng<R: rand::Rng + ?Sized>(rng: &mut R) -> RandomOrder {
        RandomOrder::new(rng.next_u64())
    }
}

impl Order for RandomOrder {
    fn next<L: OnlineLearner, P: PointSet>(
        &mut self,
        _: &L,
        points: &P,
    ) -> Result<Option<usize>, InputError> {
        let rest = self.rest.get_or_insert_with(|| {
            let mut order: Vec<usize> = (0..points.len()).collect();
            order.shuffle(&mut rng_for(streams::ORDER, self.seed));
            order.into_iter()
        });
        Ok(rest.next())
    }
}

/// An adaptive adversary. Before every round it considers the current hypothesis and picks the point with the
/// *smallest* |value| among those that the learner would get wrong, so that each mistake teaches as little as possible.
/// For a linear learner, the smallest |value| is the smallest margin; for halving, it is the most even vote. Points on
/// which the learner is right or abstains come last.
///
/// After each change of the learner, the adversary scans the remaining points once, which takes O(n d) time per
/// mistake.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::{Order, Perceptron, SmallestMarginMistake};
/// let points = Points::from_rows(&[[1.0], [-2.0]])?;
/// let mut adversary = SmallestMarginMistake::new(vec![Label::Positive, Label::Negative]);
/// // w = 0 predicts +1 everywhere: point 1 is the mistake.
/// assert_eq!(adversary.next(&Perceptron::new(1)?, &points)?, Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SmallestMarginMistake {
    labels: Vec<Label>,
    /// Points that the learner has not been asked about yet, in ascending order.
    left: Vec<usize>,
    /// The learner's number of updates at the last scan that found no mistake among `left`.
    clean_at: Option<u64>,
}

impl SmallestMarginMistake {
    /// An adversary that knows the label of every point.
    #[must_use]
    pub fn new(labels: Vec<Label>) -> SmallestMarginMistake {
        let left = (0..labels.len()).collect();
        SmallestMarginMistake { labels, left, clean_at: None }
    }
}

impl Order for SmallestMarginMistake {
    fn next<L: OnlineLearner, P: PointSet>(
        &mut self,
        learner: &L,
        points: &P,
    ) -> Result<Option<usize>, InputError> {
        if self.left.is_empty() {
            return Ok(None);
        }
        if self.clean_at != Some(learner.updates()) {
            let mut worst: Option<(f64, usize)> = None;
            for (at, &index) in self.left.iter().enumerate() {
                let len = points.len();
                let x = points.row(index).ok_or(InputError::IndexOutOfRange { index, len })?;
                let prediction = learner.guess(x).map_err(|error| error.at_row(index))?;
                let margin = prediction.value.abs();
                let smaller = worst.is_none_or(|(least, _)| margin < least);
                if smaller && prediction.is_wrong(self.labels[index]) {
                    worst = Some((margin, at));
                }
            }
            if let Some((_, at)) = worst {
                return Ok(Some(self.left.remove(at)));
            }
            self.clean_at = Some(learner.updates());
        }
        Ok(self.left.pop())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Perceptron, run};
    use halfspaces_linalg::Points;

    #[test]
    fn permutations_are_fair_and_repeatable() {
        let points = Points::from_rows(&[[1.0], [2.0], [3.0]]).unwrap();
        let learner = Perceptron::new(1).unwrap();
        let take = |seed| {
            let mut order = RandomOrder::new(seed);
            std::iter::from_fn(|| order.next(&learner, &points).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(take(5), take(5));
        let mut seen = std::collections::BTreeMap::new();
        for seed in 0..600 {
            *seen.entry(take(seed)).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|count| (60..150).contains(count)));
    }

    #[test]
    fn the_adversary_takes_the_smallest_mistake_then_the_rest() {
        let points = Points::from_rows(&[[1.0], [-3.0], [-2.0], [4.0]]).unwrap();
        let labels = vec![Label::Positive, Label::Negative, Label::Negative, Label::Positive];
        let adversary = SmallestMarginMistake::new(labels.clone());
        let (_, transcript) =
            run(Perceptron::new(1).unwrap(), &points, &labels, adversary).unwrap();
        let asked: Vec<usize> = transcript.rounds().iter().map(|r| r.index).collect();
        // With w = 0, the predictions for points 1 and 2 are wrong, both with value 0, and point 1 is chosen. After
        // that every prediction is right.
        assert_eq!(asked[0], 1);
        assert_eq!(transcript.mistakes(), 1);
        assert_eq!(transcript.len(), 4);
    }

    #[test]
    fn the_smallest_of_the_wrong_margins_comes_first() {
        let mut learner = Perceptron::new(1).unwrap();
        let x = halfspaces_linalg::DenseRow::new(&[1.0]).unwrap();
        learner.observe(x, Label::Negative).unwrap();
        // With w = -1, the values are -3, -0.5, -2 and 4, and the first three predictions are wrong.
        let points = Points::from_rows(&[[3.0], [0.5], [2.0], [-4.0]]).unwrap();
        let mut order = SmallestMarginMistake::new(vec![Label::Positive; 4]);
        let asked: Vec<usize> =
            (0..4).map(|_| order.next(&learner, &points).unwrap().unwrap()).collect();
        assert_eq!(asked, [1, 2, 0, 3]);
    }
}
