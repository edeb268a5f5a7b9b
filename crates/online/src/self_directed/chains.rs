//! Algorithm 1 of 000: two chains of hypotheses over random buckets.
//!
//! Learn w₀ at a constant angle to w* from a few points kept apart. Split the rest of the pool at
//! random into 2k buckets. A chain w runs through buckets 1..k, a chain v through k+1..2k: in a bucket,
//! predict the points by decreasing |w · x| until the first mistake x, set w -= (w · x) x and leave the
//! bucket (a bucket without mistake leaves w as it is). At the end w labels what is left of the second
//! half, v what is left of the first: points that had no part in making it.
//!
//! *Guarantee.* For n points uniform on the sphere, O(d lnln n ln(1/δ)) mistakes with probability
//! 1 - δ (000 Theorem 2.1); at most 2k on the chains, always. At reachable n the constants hide the
//! gain: [`Greedy`](super::Greedy) makes fewer mistakes and has no proof.
//!
//! *Source.* 000 §2, whose printed k = n/(2T) is the size of a bucket. The number of buckets is set
//! by [`ChainLength`]; the start by the sum of y x over 4d points, of angle tan θ₀ about √(π/8)
//! (000's appendix learns it with O(d) mistakes as well).

use super::walk::Walk;
use super::{Pool, SelfDirectedLearner, project};
use crate::error::OnlineError;
use crate::session::Question;
use crate::transcript::Round;
use halfspaces_linalg::{InputError, PointSet, normalise, zeros};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

/// Points, for each dimension, of which the start is made.
const START_POINTS: usize = 4;

/// How many buckets each chain runs through.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ChainLength {
    /// ⌈c d lnln n⌉. About 2 is best on the sphere.
    Practical {
        /// c > 0.
        factor: f64,
    },
    /// ⌈24 d max(lnln n, 0) + 4.5 ln(4/δ)⌉, for which the theorem is proved once the start is at
    /// tan θ₀ <= e - 1; the logarithm of δ is additive.
    Theory {
        /// Failure probability δ in (0, 1).
        delta: f64,
    },
    /// As given.
    Fixed(usize),
}

impl ChainLength {
    /// k, for n points in d dimensions.
    fn buckets(self, dim: usize, points: usize) -> usize {
        let (d, growth) = (dim as f64, (points as f64).ln().ln().max(0.0));
        // A NaN, for n = 1, becomes 0.
        match self {
            ChainLength::Practical { factor } => (factor * d * growth).ceil() as usize,
            ChainLength::Theory { delta } => {
                (24.0 * d * growth + 4.5 * (4.0 / delta).ln()).ceil() as usize
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
            ChainLength::Theory { delta } => {
                let fine = delta > 0.0 && delta < 1.0;
                InputError::check_parameter("delta", delta, fine, "above 0 and below 1")
            }
            ChainLength::Fixed(buckets) => {
                InputError::check_parameter("buckets", buckets as f64, buckets > 0, "at least 1")
            }
        }
    }
}

/// What is being done.
#[derive(Debug, Clone)]
enum Phase {
    /// The first points, in this order, the last first.
    Start(Vec<usize>),
    /// The bucket walked; buckets below k belong to chain w.
    Bucket(usize, Walk),
    /// What is left, each with the chain that labels it, the last first.
    Finish(Vec<(usize, usize)>),
}

/// Algorithm 1 of 000.
///
/// ```
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
    /// w and v; both w₀ during the start.
    chains: [Vec<f64>; 2],
    /// Random, of sizes that differ by one at most; each ascending.
    buckets: Vec<Vec<usize>>,
    phase: Option<Phase>,
    open: Option<usize>,
    chain_mistakes: usize,
}

impl TwoChains {
    /// A learner for points of R^`dim` that draws its buckets from `seed`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::ParameterOutOfRange`].
    pub fn new(dim: usize, length: ChainLength, seed: u64) -> Result<TwoChains, InputError> {
        if dim == 0 {
            return Err(InputError::ZeroDimension);
        }
        length.check()?;
        let chains = [zeros(1, dim)?, zeros(1, dim)?];
        let (buckets, phase, open) = (Vec::new(), None, None);
        Ok(TwoChains { length, seed, chains, buckets, phase, open, chain_mistakes: 0 })
    }

    /// k, the buckets of each chain; 0 before the first question.
    #[must_use]
    pub fn chain_length(&self) -> usize {
        self.buckets.len() / 2
    }

    /// Mistakes made in buckets so far: at most 2k.
    #[must_use]
    pub fn chain_mistakes(&self) -> usize {
        self.chain_mistakes
    }

    /// The hypotheses w and v.
    #[must_use]
    pub fn weights(&self) -> [&[f64]; 2] {
        self.chains.each_ref().map(Vec::as_slice)
    }

    /// Splits the pool into the start and 2k buckets, as many as there are points for.
    fn split<P: PointSet>(&mut self, pool: &Pool<'_, P>) -> Phase {
        let d = self.chains[0].len();
        let mut order: Vec<usize> = pool.unrevealed().collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(self.seed));
        let n = order.len();
        let rest = order.split_off(START_POINTS.saturating_mul(d).min(n));
        let count = (2 * self.length.buckets(d, n).min(n)).min(2 * (rest.len() / 2).max(1));
        let ends = |b: usize| b * rest.len() / count;
        self.buckets = (0..count).map(|b| rest[ends(b)..ends(b + 1)].to_vec()).collect();
        self.buckets.iter_mut().for_each(|bucket| bucket.sort_unstable());
        order.reverse();
        Phase::Start(order)
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
                // Each chain labels what is left of the other's buckets.
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

impl SelfDirectedLearner for TwoChains {
    fn propose<P: PointSet>(
        &mut self,
        pool: &Pool<'_, P>,
    ) -> Result<Option<Question>, OnlineError> {
        InputError::check_dim(self.chains[0].len(), pool.points().dim())?;
        let mut phase = match self.phase.take() {
            Some(phase) => phase,
            None => self.split(pool),
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
                    // A sum of 0 stays one: the first mistake then sets the direction.
                    let _ = normalise(&mut self.chains[0]);
                    self.chains[1] = self.chains[0].clone();
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
                    if let Some(x) = pool.unit(round.index) {
                        project(x, round.truth, &mut self.chains[chain]);
                    }
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
            None => {}
        }
        Ok(())
    }
}
