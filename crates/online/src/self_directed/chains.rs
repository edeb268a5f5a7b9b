//! Algorithm 1 of DKTZ23: two chains of hypotheses over random buckets.
//!
//! First, from a few points, the algorithm learns a vector w₀ whose angle to w* is at most a constant. It splits the
//! rest of the pool at random into 2k buckets. A chain w runs through buckets 1 to k, and a chain v runs through
//! buckets k+1 to 2k. In each bucket, a chain predicts the points in order of decreasing |w · x| until the first
//! mistake x, sets w -= (w · x) x, and leaves the bucket. A bucket without a mistake leaves w unchanged. At the end, w
//! labels the remaining points of the second half of the buckets, and v those of the first half. Each chain thus labels
//! points from which it has not learned.
//!
//! Points count as scaled to norm 1, and w is scaled to norm 1 after each update, which changes no prediction. If w
//! vanishes, it becomes y x (`remove_component` in `mod.rs`).
//!
//! Claims: S1p, S5, S11, S11r, S11t, S11v, S13.

use super::walk::Walk;
use super::{AnswerStatus, Pool, SelfDirectedLearner, predict, remove_component};
use crate::bounds;
use crate::direction::origin;
use crate::error::OnlineError;
use crate::protocol::{Question, Round};
use crate::streams;
use halfspaces_linalg::{InputError, Label, PointSet, RowView, getters, normalise, rng_for};
use rand::seq::SliceRandom;
use std::f64::consts::PI;

/// Number of points per dimension in the start phase.
const START_POINTS: usize = 4;

/// The number of buckets of each chain.
///
/// ```
/// use halfspaces_online::{ChainLength, TwoChains};
/// assert!(TwoChains::new(3, ChainLength::Practical { factor: 2.0 }, 1).is_ok());
/// assert!(TwoChains::new(3, ChainLength::Theory { failure: 0.05 }, 1).is_ok());
/// assert!(TwoChains::new(3, ChainLength::Exact { failure: 0.05 }, 1).is_ok());
/// assert!(TwoChains::new(3, ChainLength::Fixed(0), 1).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ChainLength {
    /// ⌈c d lnln n⌉ buckets. A factor c of about 2 is best on the sphere.
    Practical {
        /// The factor c, which must be positive.
        factor: f64,
    },
    /// ⌈24 d max(lnln n, 0) + 4.5 ln(4/δ)⌉ buckets: enough steps for the theorem if the start has tan θ₀ <= e - 1
    /// (docs/theory/super-linear-convergence.md). The product lnln n · ln(1/δ) in the source is a sum here.
    Theory {
        /// Failure probability δ in (0, 1).
        failure: f64,
    },
    /// The smallest number of steps that the same proof allows, computed by [`bounds::super_linear_steps`]. It is about
    /// half the number given by [`ChainLength::Theory`].
    Exact {
        /// Failure probability δ in (0, 1).
        failure: f64,
    },
    /// The given number of buckets.
    Fixed(usize),
}

impl ChainLength {
    /// The number of buckets k of each chain for `points` points of R^`dim`, at least 1. `points` may be larger than
    /// the size of any pool.
    ///
    /// ```
    /// use halfspaces_online::ChainLength;
    /// // 2 · 10 · lnln 10^80 = 104.3.
    /// assert_eq!(ChainLength::Practical { factor: 2.0 }.buckets(10, 1e80), 105);
    /// ```
    #[must_use]
    pub fn buckets(self, dim: usize, points: f64) -> usize {
        let (d, growth) = (dim as f64, points.ln().ln().max(0.0));
        // A NaN, which occurs for n = 1, becomes 0.
        match self {
            ChainLength::Practical { factor } => (factor * d * growth).ceil() as usize,
            ChainLength::Theory { failure } => {
                (24.0 * d * growth + 4.5 * (4.0 / failure).ln()).ceil() as usize
            }
            ChainLength::Exact { failure } => {
                // ln(M/κ) with M = tan θ₀ = e - 1 and κ = 12π/(n cos θ₀).
                let start = std::f64::consts::E - 1.0;
                let excess = start * points / (12.0 * PI * start.hypot(1.0));
                let decays = bounds::super_linear_decays(excess.ln(), 1.0 / (8.0 * d));
                bounds::super_linear_steps(decays, failure / 4.0) as usize
            }
            ChainLength::Fixed(buckets) => buckets,
        }
        .max(1)
    }

    fn check(self) -> Result<(), InputError> {
        match self {
            ChainLength::Practical { factor } => {
                let fine = factor > 0.0 && factor.is_finite();
                InputError::check_parameter("factor", factor, fine, "positive and finite")
            }
            ChainLength::Theory { failure } | ChainLength::Exact { failure } => {
                let fine = failure > 0.0 && failure < 1.0;
                InputError::check_parameter("failure", failure, fine, "above 0 and below 1")
            }
            ChainLength::Fixed(buckets) => {
                InputError::check_parameter("buckets", buckets as f64, buckets > 0, "at least 1")
            }
        }
    }
}

/// The current phase of the algorithm.
#[derive(Debug, Clone)]
enum Phase {
    /// The remaining points of the start phase, in reverse order.
    Start(Vec<usize>),
    /// The current bucket; buckets below k belong to chain w.
    Bucket(usize, Walk),
    /// The remaining points in reverse order, each with the chain that labels it.
    Finish(Vec<(usize, usize)>),
}

/// Algorithm 1 of DKTZ23: two chains of hypotheses, each of which runs through half of 2k random buckets with at most
/// one mistake per bucket. Each chain then labels the points that the other chain has left unlabelled.
///
/// *Guarantee.* On n uniform points on the sphere, the learner makes O(d lnln n ln(1/δ)) mistakes with probability 1 -
/// δ (DKTZ23 Theorem 2.1). This holds for δ > 0.04, because the start from 4d points has its own failure probability
/// (claim S13). [`bounds::two_chains_mistakes`] computes the bound with its constants. In the buckets, the chains never
/// make more than 2k mistakes. The learner does not search for a consistent halfspace, so its status is
/// [`AnswerStatus::Consistent`] or [`AnswerStatus::Undecided`].
///
/// *Cost.* Each point is read twice, which takes O(nd) time in total, and the points of each bucket are sorted. The
/// learner needs O(n) memory in addition to the pool.
///
/// *When to use it.* If you need the guarantee of the theorem. For pools of practical size, [`Greedy`](super::Greedy)
/// makes fewer mistakes.
///
/// *Source.* DKTZ23 §2; the k = n/(2T) printed there is the size of a bucket. [`ChainLength`] sets the number of
/// buckets. The start is the sum of y x over 4d points. For its angle θ₀ to w*, tan θ₀ is about √(π/8) (the appendix of
/// DKTZ23 also learns its start with O(d) mistakes). Claims: S1p, S11, S11r, S11t, S11v, S13.
///
/// ```
/// use halfspaces_linalg::Classifier;
/// use halfspaces_data::{Marginal, UnitSphere, random_target};
/// use halfspaces_online::{ChainLength, TwoChains, label_pool};
/// let points = UnitSphere::new(5)?.sample(3000, 1)?;
/// let labels = random_target(5, 2)?.label_all(&points)?;
/// let learner = TwoChains::new(5, ChainLength::Practical { factor: 2.0 }, 3)?;
/// let (learner, transcript) = label_pool(learner, &points, &labels)?;
/// assert_eq!(transcript.len(), 3000);
/// assert!(learner.chain_mistakes() <= 2 * learner.chain_length());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct TwoChains {
    length: ChainLength,
    seed: u64,
    /// The hypotheses w and v. Both are w₀ during the start.
    chains: [Vec<f64>; 2],
    /// Random buckets whose sizes differ by at most one. Each bucket is in ascending order.
    buckets: Vec<Vec<usize>>,
    phase: Option<Phase>,
    open: Option<usize>,
    chain_mistakes: usize,
}

impl TwoChains {
    /// A learner for points of R^`dim`, with buckets drawn from `seed`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::ParameterOutOfRange`].
    pub fn new(dim: usize, length: ChainLength, seed: u64) -> Result<TwoChains, InputError> {
        let zero = origin(dim)?;
        length.check()?;
        let chains = [zero.clone(), zero];
        let (buckets, phase, open) = (Vec::new(), None, None);
        Ok(TwoChains { length, seed, chains, buckets, phase, open, chain_mistakes: 0 })
    }

    /// k, the number of buckets of each chain; 0 before the first question.
    #[must_use]
    pub fn chain_length(&self) -> usize {
        self.buckets.len() / 2
    }

    /// Number of mistakes made in buckets so far: at most 2k.
    #[must_use]
    pub fn chain_mistakes(&self) -> usize {
        self.chain_mistakes
    }

    /// The hypotheses w and v.
    #[must_use]
    pub fn weights(&self) -> [&[f64]; 2] {
        self.chains.each_ref().map(Vec::as_slice)
    }

    /// Runs a whole session with known labels at once. The mistakes and the hypotheses are those of
    /// [`label_pool`](super::label_pool), but every point is read only twice and nothing is sorted. Anything learned
    /// before is discarded.
    ///
    /// # Errors
    /// The errors of [`label_pool`](super::label_pool).
    ///
    /// ```
    /// use halfspaces_linalg::Classifier;
    /// use halfspaces_data::{Marginal, UnitSphere, random_target};
    /// use halfspaces_online::{ChainLength, TwoChains, label_pool};
    /// let points = UnitSphere::new(4)?.sample(500, 1)?;
    /// let labels = random_target(4, 2)?.label_all(&points)?;
    /// let learner = TwoChains::new(4, ChainLength::Practical { factor: 2.0 }, 3)?;
    /// let run = learner.clone().simulate(&points, &labels)?;
    /// let (learner, transcript) = label_pool(learner, &points, &labels)?;
    /// assert_eq!(run.weights(), learner.weights());
    /// assert_eq!(run.mistakes().len(), transcript.mistakes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn simulate<P: PointSet>(
        self,
        points: &P,
        labels: &[Label],
    ) -> Result<ChainsRun, OnlineError> {
        InputError::check_len(points.len(), labels.len())?;
        if points.is_empty() {
            return Err(InputError::Empty.into());
        }
        let mut learner = TwoChains::new(self.chains[0].len(), self.length, self.seed)?;
        InputError::check_dim(learner.chains[0].len(), points.dim())?;
        let pool = Pool::new(points)?;
        let mut mistakes = Vec::new();
        let mut order = learner.split(&pool);
        while let Some(index) = order.pop() {
            let Question { index, prediction } = pool.question(index, &learner.chains[0])?;
            let round = Round { index, prediction, truth: labels[index] };
            mistakes.extend(round.is_mistake().then_some(round));
            pool.add_unit(index, round.truth.as_f64(), &mut learner.chains[0]);
        }
        let start_mistakes = mistakes.len();
        learner.chains[1] = learner.first_hypothesis().to_vec();
        // For each point, the bucket that left it unlabelled, or `None`.
        let mut left: Vec<Option<u32>> = vec![None; points.len()];
        for b in 0..learner.buckets.len() {
            let bucket = &learner.buckets[b];
            let chain = learner.chain(b);
            let values = bucket_values(&pool, bucket, &learner.chains[chain])?;
            // The surest wrong prediction. Ties go to the smallest index.
            let mut worst: Option<(usize, f64)> = None;
            for (i, value) in bucket.iter().zip(&values) {
                let wrong = Label::from_sign(*value) != labels[*i];
                if wrong && worst.is_none_or(|(_, most)| value.abs() > most.abs()) {
                    worst = Some((*i, *value));
                }
            }
            // A bucket without a mistake is fully labelled and changes nothing.
            let Some((index, value)) = worst else { continue };
            for (i, less) in bucket.iter().zip(&values) {
                let after = less.abs() < value.abs() || (less.abs() <= value.abs() && *i > index);
                left[*i] = after.then_some(b as u32);
            }
            let round = Round { index, prediction: predict(value)?, truth: labels[index] };
            mistakes.push(round);
            learner.chain_mistakes += 1;
            remove_component(pool.unit(index), round.truth, &mut learner.chains[chain]);
        }
        // Each chain labels the remaining points of the other chain's buckets.
        let mut last = Vec::new();
        for (index, b) in left.into_iter().enumerate() {
            // The other points were labelled in their bucket or at the start.
            let Some(b) = b else { continue };
            let other = &learner.chains[1 - learner.chain(b as usize)];
            let Question { prediction, .. } = pool.question(index, other)?;
            let round = Round { index, prediction, truth: labels[index] };
            last.extend(round.is_mistake().then_some((b, round)));
        }
        last.sort_by_key(|(b, round)| (*b, round.index));
        mistakes.extend(last.into_iter().map(|(_, round)| round));
        let (chain_length, chain_mistakes) = (learner.chain_length(), learner.chain_mistakes);
        let weights = learner.chains;
        Ok(ChainsRun { weights, chain_length, start_mistakes, chain_mistakes, mistakes })
    }

    /// Normalises the sum accumulated in the start phase. If the sum is 0, it stays 0, and the first mistake sets the
    /// direction.
    fn first_hypothesis(&mut self) -> &[f64] {
        let _ = normalise(&mut self.chains[0]);
        &self.chains[0]
    }

    /// Splits the pool into 2k buckets, or fewer if there are too few points. Returns the points of the start phase in
    /// reverse order.
    fn split<P: PointSet>(&mut self, pool: &Pool<'_, P>) -> Vec<usize> {
        let d = self.chains[0].len();
        let mut order: Vec<usize> = pool.unrevealed().collect();
        order.shuffle(&mut rng_for(streams::CHAINS, self.seed));
        let n = order.len();
        let bucketed = order.split_off(START_POINTS.saturating_mul(d).min(n));
        let count =
            (2 * self.length.buckets(d, n as f64).min(n)).min(2 * (bucketed.len() / 2).max(1));
        let ends = |b: usize| b * bucketed.len() / count;
        self.buckets = (0..count).map(|b| bucketed[ends(b)..ends(b + 1)].to_vec()).collect();
        self.buckets.iter_mut().for_each(|bucket| bucket.sort_unstable());
        order.reverse();
        order
    }

    /// The chain that bucket `b` belongs to.
    fn chain(&self, b: usize) -> usize {
        usize::from(b >= self.chain_length())
    }

    fn enter<P: PointSet>(&self, pool: &Pool<'_, P>, b: usize) -> Phase {
        match self.buckets.get(b) {
            Some(bucket) => {
                Phase::Bucket(b, Walk::new(pool, &self.chains[self.chain(b)], bucket.clone()))
            }
            None => {
                // Each chain labels the remaining points of the other chain's buckets.
                let left = (0..self.buckets.len()).rev().flat_map(|b| {
                    let other = 1 - self.chain(b);
                    let left = self.buckets[b].iter().rev().filter(|i| pool.label(**i).is_none());
                    left.map(move |i| (*i, other)).collect::<Vec<_>>()
                });
                Phase::Finish(left.collect())
            }
        }
    }
}

/// The result of [`TwoChains::simulate`].
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::{ChainLength, TwoChains};
/// let points = Points::from_rows(&[[1.0, 0.1], [0.9, -0.2], [-1.0, 0.3]])?;
/// let labels = [Label::Positive, Label::Positive, Label::Negative];
/// let run = TwoChains::new(2, ChainLength::Fixed(1), 1)?.simulate(&points, &labels)?;
/// assert!(run.chain_mistakes() <= 2 * run.chain_length());
/// assert!(run.mistakes().iter().all(|round| round.is_mistake()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ChainsRun {
    weights: [Vec<f64>; 2],
    chain_length: usize,
    start_mistakes: usize,
    chain_mistakes: usize,
    mistakes: Vec<Round>,
}

impl ChainsRun {
    /// The final hypotheses w and v.
    #[must_use]
    pub fn weights(&self) -> [&[f64]; 2] {
        self.weights.each_ref().map(Vec::as_slice)
    }

    getters! {
        /// k, the number of buckets of each chain.
        chain_length: usize,

        /// Number of mistakes on the points of the start.
        start_mistakes: usize,

        /// Number of mistakes in buckets: at most 2k.
        chain_mistakes: usize,

        /// The mistakes in order: first those of the start, then those in the buckets, then those on the points that
        /// each chain leaves to the other.
        mistakes: &[Round],
    }
}

/// w · x/‖x‖ for the points of a bucket, which are first copied into contiguous memory so that they can be read faster.
fn bucket_values<P: PointSet>(
    pool: &Pool<'_, P>,
    bucket: &[usize],
    w: &[f64],
) -> Result<Vec<f64>, OnlineError> {
    let rows = pool.points().select(bucket)?;
    let scales = bucket.iter().map(|i| pool.scale(*i));
    let values: Vec<f64> = rows.rows().zip(scales).map(|(x, scale)| x.dot(w) * scale).collect();
    if values.iter().all(|v| v.is_finite()) {
        Ok(values)
    } else {
        Err(InputError::Overflow { row: 0 }.into())
    }
}

impl SelfDirectedLearner for TwoChains {
    fn propose<P: PointSet>(
        &mut self,
        pool: &Pool<'_, P>,
    ) -> Result<Option<Question>, OnlineError> {
        InputError::check_dim(self.chains[0].len(), pool.points().dim())?;
        let mut phase = match self.phase.take() {
            Some(phase) => phase,
            None => Phase::Start(self.split(pool)),
        };
        let question = loop {
            let (next, chain) = match &mut phase {
                Phase::Start(order) => (order.last().copied(), 0),
                Phase::Bucket(b, walk) => {
                    let next = self.open.or_else(|| walk.next());
                    (next, self.chain(*b))
                }
                Phase::Finish(left) => match left.last() {
                    Some((index, chain)) => (Some(*index), *chain),
                    None => break None,
                },
            };
            if let Some(index) = next {
                self.open = next;
                break Some(pool.question(index, &self.chains[chain])?);
            }
            phase = match phase {
                Phase::Bucket(b, _) => self.enter(pool, b + 1),
                _ => {
                    self.chains[1] = self.first_hypothesis().to_vec();
                    self.enter(pool, 0)
                }
            };
        };
        self.phase = Some(phase);
        Ok(question)
    }

    fn learn<P: PointSet>(&mut self, pool: &Pool<'_, P>, round: Round) -> Result<(), OnlineError> {
        self.open = None;
        match self.phase.take() {
            Some(Phase::Start(mut order)) => {
                order.pop();
                pool.add_unit(round.index, round.truth.as_f64(), &mut self.chains[0]);
                self.phase = Some(Phase::Start(order));
            }
            Some(Phase::Bucket(b, walk)) => {
                let phase = if round.is_mistake() {
                    self.chain_mistakes += 1;
                    let chain = self.chain(b);
                    remove_component(pool.unit(round.index), round.truth, &mut self.chains[chain]);
                    self.enter(pool, b + 1)
                } else {
                    Phase::Bucket(b, walk)
                };
                self.phase = Some(phase);
            }
            Some(Phase::Finish(mut left)) => {
                left.pop();
                self.phase = Some(Phase::Finish(left));
            }
            None => return Err(OnlineError::NoQuestion),
        }
        Ok(())
    }

    /// The answers are consistent if either chain fits all of them.
    fn status<P: PointSet>(&self, pool: &Pool<'_, P>) -> AnswerStatus {
        pool.status(self.weights(), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::self_directed::label_pool;
    use halfspaces_data::random_target;
    use halfspaces_linalg::{Classifier, Points, SparsePoints};
    use proptest::prelude::*;

    /// For n = ⌊e^(e²)⌋ = 1618, lnln n is just below 2.
    #[test]
    fn chain_lengths_are_worked_by_hand() {
        let buckets = |length: ChainLength| length.buckets(3, 1618.0);
        assert_eq!(buckets(ChainLength::Practical { factor: 2.0 }), 12);
        assert_eq!(buckets(ChainLength::Practical { factor: 1.0 }), 6);
        // 144 + 4.5 ln 8 = 153.36.
        assert_eq!(buckets(ChainLength::Theory { failure: 0.5 }), 154);
        assert_eq!(buckets(ChainLength::Fixed(7)), 7);
        // A single point makes one bucket.
        assert_eq!(ChainLength::Practical { factor: 2.0 }.buckets(3, 1.0), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The pools have integer points with duplicates, zero points and ties. The labels are separable or random.
        #[test]
        fn at_once_is_one_by_one(
            rows in prop::collection::vec([-2i8..=2, -2i8..=2, -2i8..=2], 1..120),
            separable in any::<bool>(),
            bits in any::<u64>(),
            chains in 1usize..6,
        ) {
            let rows: Vec<[f64; 3]> = rows.into_iter().map(|r| r.map(f64::from)).collect();
            let points = Points::from_rows(&rows).unwrap();
            let labels: Vec<Label> = if separable {
                random_target(3, bits).unwrap().label_all(&points).unwrap()
            } else {
                (0..rows.len()).map(|i| Label::from_sign((bits >> (i % 64) & 1) as f64 - 0.5)).collect()
            };
            let learner = TwoChains::new(3, ChainLength::Fixed(chains), bits).unwrap();
            let (one, transcript) = label_pool(learner.clone(), &points, &labels).unwrap();
            let mistakes: Vec<Round> =
                transcript.rounds().iter().filter(|r| r.is_mistake()).copied().collect();
            let sparse = SparsePoints::from_dense(&points).unwrap();
            for run in [
                learner.clone().simulate(&points, &labels).unwrap(),
                // Anything learned before has no influence.
                one.clone().simulate(&sparse, &labels).unwrap(),
            ] {
                prop_assert_eq!(&run.mistakes(), &mistakes);
                prop_assert_eq!(run.weights(), one.weights());
                prop_assert_eq!(run.chain_mistakes(), one.chain_mistakes());
                prop_assert_eq!(run.chain_length(), one.chain_length());
                // A bucket ends with its first mistake.
                prop_assert!(run.chain_mistakes() <= 2 * run.chain_length());
            }
        }
    }

    #[test]
    fn bad_input_is_typed() {
        let length = |length| TwoChains::new(2, length, 1);
        for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(length(ChainLength::Practical { factor }).is_err(), "{factor}");
        }
        for failure in [0.0, 1.0, f64::NAN] {
            assert!(length(ChainLength::Theory { failure }).is_err(), "{failure}");
            assert!(length(ChainLength::Exact { failure }).is_err(), "{failure}");
        }
        assert!(length(ChainLength::Fixed(0)).is_err());
        let learner = TwoChains::new(2, ChainLength::Fixed(1), 1).unwrap();
        let points = Points::from_rows(&[[1.0, 0.0, 0.0]]).unwrap();
        assert!(learner.clone().simulate(&points, &[Label::Positive]).is_err());
        assert!(learner.clone().simulate(&points, &[]).is_err());
        let none = Points::new(vec![], 2).unwrap();
        assert_eq!(learner.simulate(&none, &[]).unwrap_err(), InputError::Empty.into());
    }

    /// Compares the numbers of buckets with those computed by hand with exact fractions. The bound is evaluated at δ/4,
    /// not at δ/2.
    #[test]
    fn exact_chains_have_as_many_buckets_as_the_proof_asks() {
        assert_eq!(ChainLength::Exact { failure: 0.1 }.buckets(2, 10_000.0), 32);
        assert_eq!(ChainLength::Exact { failure: 0.01 }.buckets(3, 100_000.0), 64);
    }
}
