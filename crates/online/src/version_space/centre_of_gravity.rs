//! The centre of gravity of the version space, estimated by hit-and-run sampling.
//!
//! [`CentreOfGravity`] keeps a sample of the version space and spreads it by hit-and-run: each point moves in a random
//! direction to a uniformly random point on the chord through it. The directions are random combinations of the
//! differences between points of the sample, so the walk adapts to the shape of the set: a set of width 1e-9 needs no
//! more steps than a ball. If a cut is so deep that no point of the sample survives, the cut is made in steps that each
//! keep a fraction of the sample.
//!
//! Claims: S6, S6b.

use super::hit_and_run::{Mixing, Sample, mean, step_budget, uniform_in_ball};
use super::learner::{Centre, check_cut};
use crate::bounds;
use crate::direction::{origin, rng_for_count};
use crate::streams;
use halfspaces_linalg::{InputError, Threads, kernels, norm, tolerance, zeros};

/// Minimum number of points in the sample.
const MIN_POINTS: usize = 64;
/// Number of points in the sample per dimension.
const POINTS_PER_DIMENSION: usize = 4;
/// Maximum number of sweeps of hit-and-run after a cut. Sweeps are repeated until the sample is independent of its
/// earlier positions.
const MAX_SWEEPS: usize = 12;

/// The centre of gravity of the version space: the mean of a sample of max(64, 4d) points, which hit-and-run spreads
/// again after every cut.
///
/// *Guarantee.* For the exact centre, every cut leaves at most 1 - 1/e of the volume (Grünbaum), and the version space
/// contains a ball of radius γ/(1+γ). The learner therefore makes at most d ln((1+γ)/γ)/ln(e/(e-1)) mistakes. The
/// sampled mean has a sampling error that the proof does not cover, so here the bound is tested, not proved.
///
/// *Cost.* Each cut takes a few sweeps of d + 4 steps, and each step costs O(points · (cuts + d)). A cut takes at most
/// 16384 (d + 4) steps, whatever the labels are. All cuts are kept.
///
/// *When to use it.* To make the fewest mistakes among the centres that have a mistake bound.
/// [`HardMargin`](crate::HardMargin) is deterministic, and faster if there are many cuts.
///
/// *Source.* Kakade §3; Bertsimas and Vempala 2004 for hit-and-run with cuts. Claims: K8, K8e, S9p.
///
/// ```
/// use halfspaces_online::{Centre, CentreOfGravity};
/// let mut centre = CentreOfGravity::new(2, 1)?;
/// centre.cut(&[1.0, 0.0])?;
/// // Half a disc: its centre of gravity is 4/(3π) = 0.424 along the axis.
/// assert!((centre.centre()[0] - 0.424).abs() < 0.15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CentreOfGravity {
    centre: Vec<f64>,
    points: Vec<Vec<f64>>,
    cuts: Vec<Vec<f64>>,
    mixing: Mixing,
    exhausted: bool,
    /// The seed. Every cut draws from its own stream of random numbers.
    seed: u64,
    threads: Threads,
}

impl CentreOfGravity {
    /// The centre of the unit ball of R^`dim`. The samples are drawn from the random streams of `seed`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::TooLarge`].
    pub fn new(dim: usize, seed: u64) -> Result<CentreOfGravity, InputError> {
        let centre = origin(dim)?;
        let mut rng = rng_for_count(streams::CENTRE_OF_GRAVITY, seed, 0);
        let count = MIN_POINTS.max(POINTS_PER_DIMENSION.saturating_mul(dim));
        zeros(count, dim)?;
        let points = (0..count).map(|_| uniform_in_ball(dim, &mut rng)).collect();
        let mixing = Mixing { sweeps: 0, correlation: 0.0 };
        let (cuts, exhausted, threads) = (Vec::new(), false, Threads::ONE);
        Ok(CentreOfGravity { centre, points, cuts, mixing, exhausted, seed, threads })
    }

    /// The centre for given cuts and a given sample. The `points` must lie in the unit ball and satisfy all `cuts`,
    /// which must be unit vectors. Later cuts draw from the random streams of `seed`.
    ///
    /// ```
    /// use halfspaces_online::{Centre, CentreOfGravity};
    /// let cuts = vec![vec![1.0, 0.0]];
    /// let sample = vec![vec![0.5, 0.5], vec![0.25, -0.5]];
    /// let centre = CentreOfGravity::from_sample(sample, cuts.clone(), 1)?;
    /// assert_eq!(centre.centre(), [0.375, 0.0]);
    /// // A point that violates the cut.
    /// assert!(CentreOfGravity::from_sample(vec![vec![-0.5, 0.5]], cuts, 1).is_err());
    /// # Ok::<(), halfspaces_linalg::InputError>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::Empty`] if there are no points; [`InputError::ZeroDimension`], [`InputError::DimensionMismatch`];
    /// [`InputError::ParameterOutOfRange`] for a point outside the ball or a cut that is not a unit vector;
    /// [`InputError::InconsistentState`] for a point that violates a cut.
    pub fn from_sample(
        points: Vec<Vec<f64>>,
        cuts: Vec<Vec<f64>>,
        seed: u64,
    ) -> Result<CentreOfGravity, InputError> {
        /// The tolerance for the rounding errors of a · w if w is in the unit ball.
        const ROUNDING: f64 = 1e-9;
        let dim = points.first().ok_or(InputError::Empty)?.len();
        origin(dim)?;
        cuts.iter().try_for_each(|a| check_cut(dim, a))?;
        for w in &points {
            InputError::check_dim(dim, w.len())?;
            let length = norm(w);
            let inside = length <= 1.0 + tolerance::UNIT_NORM;
            InputError::check_parameter("length of a point", length, inside, "at most 1")?;
            let satisfied = cuts.iter().all(|a| kernels::dot(a, w) >= -ROUNDING);
            InputError::check_state(satisfied, "a point of the sample violates a cut")?;
        }
        let mixing = Mixing { sweeps: 0, correlation: 0.0 };
        let (centre, exhausted, threads) = (mean(&points), false, Threads::ONE);
        Ok(CentreOfGravity { centre, points, cuts, mixing, exhausted, seed, threads })
    }

    /// Sets the number of threads that move the sample. The result does not depend on this number. Default: one.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
        self
    }

    /// Number of sweeps of hit-and-run, of d + 4 steps each, that the last cut took; 0 before the first cut.
    #[must_use]
    pub fn sweeps(&self) -> usize {
        self.mixing.sweeps
    }

    /// The sample.
    pub fn sample(&self) -> impl Iterator<Item = &[f64]> {
        self.points.iter().map(Vec::as_slice)
    }
}

impl Centre for CentreOfGravity {
    fn dim(&self) -> usize {
        self.centre.len()
    }

    fn centre(&self) -> &[f64] {
        &self.centre
    }

    fn cut(&mut self, a: &[f64]) -> Result<(), InputError> {
        check_cut(self.centre.len(), a)?;
        if self.exhausted {
            return Ok(());
        }
        let round = self.cuts.len() as u64 + 1;
        let mut rng = rng_for_count(streams::CENTRE_OF_GRAVITY, self.seed, round);
        self.cuts.push(a.to_vec());
        let mut shape = self.points.clone();
        let cuts: Vec<&[f64]> = self.cuts.iter().map(Vec::as_slice).collect();
        let mut steps_left = step_budget(self.centre.len());
        let mut sample = Sample {
            points: &mut self.points,
            shape: &mut shape,
            cuts: &cuts,
            max_sweeps: MAX_SWEEPS,
            steps_left: &mut steps_left,
            threads: self.threads,
        };
        let Some(mixing) = sample.cut_by_last(&mut rng) else {
            self.exhausted = true;
            return Ok(());
        };
        self.mixing = mixing;
        self.centre = mean(&self.points);
        assert!(self.centre.iter().all(|v| v.is_finite()), "the sample lies in the unit ball");
        Ok(())
    }

    fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    fn mistake_bound(&self, margin: f64) -> Option<f64> {
        Some(bounds::centre_of_gravity_mistakes(self.centre.len(), margin))
    }
}

#[cfg(test)]
mod tests {
    use super::super::hit_and_run::MAX_CORRELATION;
    use super::super::test_runs::{against_the_adversary, contradicted, needle};
    use super::*;
    use crate::{AsGiven, OnlineLearner, VersionSpace, run};
    use halfspaces_data::LabelledPoints;
    use halfspaces_linalg::{
        BooleanConcept, BooleanPoint, Classifier, DecisionList, Label, Literal, PointSet, Points,
        RngStream, rng_for,
    };
    use rand::RngExt;

    #[test]
    fn half_balls_have_their_centre() {
        // E[w_1] over the half ball of R^d is Γ(d/2+1)/(√π Γ((d+3)/2)), which is 4/(3π) for d = 2 and 3/8 for d = 3.
        for (dim, expected) in [(1, 0.5), (2, 4.0 / (3.0 * std::f64::consts::PI)), (3, 0.375)] {
            let mut means = vec![];
            for seed in 0..30 {
                let mut centre = CentreOfGravity::new(dim, seed).unwrap();
                let mut a = vec![0.0; dim];
                a[0] = 1.0;
                centre.cut(&a).unwrap();
                assert!(centre.sample().all(|w| w[0] >= 0.0 && norm(w) <= 1.0 + 1e-12));
                assert!(centre.mixing.correlation <= MAX_CORRELATION);
                means.push(centre.centre()[0]);
            }
            let mean = means.iter().sum::<f64>() / 30.0;
            // The average of 30 means of 64 points has a standard error of about .25/√1920 = .006.
            assert!((mean - expected).abs() < 0.03, "d = {dim}: {mean} against {expected}");
        }
    }

    #[test]
    fn the_sample_stays_in_the_set_and_mistakes_stay_few() {
        for (seed, dim) in [(1, 2), (2, 5), (3, 8)] {
            let (pool, learner, transcript) =
                against_the_adversary(CentreOfGravity::new(dim, seed).unwrap(), seed);
            let bound = learner.centre().mistake_bound(pool.margin()).unwrap();
            assert!(transcript.mistakes() as f64 <= bound, "d = {dim}");
            for w in learner.centre().sample() {
                for round in transcript.rounds().iter().filter(|r| r.is_mistake()) {
                    let x = pool.points().row(round.index).unwrap().as_slice();
                    assert!(round.truth.as_f64() * kernels::dot(w, x) >= -1e-12);
                }
            }
        }
    }

    #[test]
    fn a_margin_of_a_billionth_is_within_reach() {
        let gamma = 1e-9;
        let (points, labels) = needle(gamma);
        let mut learner = VersionSpace::new(CentreOfGravity::new(2, 1).unwrap());
        let mut mistakes = 0;
        for _ in 0..500 {
            let (after, transcript) = run(learner, &points, &labels, AsGiven::new()).unwrap();
            learner = after;
            mistakes += transcript.mistakes();
            if transcript.mistakes() == 0 {
                break;
            }
        }
        assert_eq!(learner.halfspace().unwrap().label_all(&points).unwrap(), labels);
        let bound = learner.centre().mistake_bound(gamma).unwrap();
        // Two deep cuts confine the version space, the second one to a wedge of width 1e-9.
        assert!(mistakes >= 2 && mistakes as f64 <= bound, "{mistakes} of {bound}");
    }

    /// The version spaces of decision lists are millions of times as long as wide. With these seeds, a sample can lose
    /// a direction on the way to a deep cut. Even so, the set must not be mistaken for an empty one.
    #[test]
    fn narrow_sets_are_not_taken_for_empty_ones() {
        for seed in [9, 24, 25, 37] {
            let rules = 20;
            let mut rng = rng_for(RngStream::CALLER, seed);
            let sign =
                |i: usize| if i.is_multiple_of(2) { Label::Positive } else { Label::Negative };
            let literals: Vec<Literal> =
                (0..rules).map(|variable| Literal { variable, positive: rng.random() }).collect();
            let list =
                literals.iter().enumerate().map(|(i, literal)| (*literal, sign(i))).collect();
            let target = DecisionList::new(rules, list, sign(rules)).unwrap();
            // The points reach every rule equally often: the literals before `first` fail, and the rest vary.
            let rows: Vec<Vec<f64>> = (0..60 * (rules + 1))
                .map(|index| {
                    let first = index % (rules + 1);
                    let mut holds = |i: usize| {
                        let coin = rng.random();
                        i == first || (i > first && coin)
                    };
                    let of =
                        |(i, l): (usize, &Literal)| f64::from(u8::from(holds(i) == l.positive));
                    literals.iter().enumerate().map(of).collect()
                })
                .collect();
            let points = Points::from_rows(&rows).unwrap();
            let label = |x| target.label(BooleanPoint::from_row(x).unwrap());
            let labels: Vec<Label> = points.rows().map(label).collect();
            let points = points.lifted().normalised().unwrap();
            let mut learner = VersionSpace::new(CentreOfGravity::new(points.dim(), seed).unwrap());
            loop {
                let before = learner.updates();
                let mut pass = LabelledPoints::new(&points, &labels).unwrap();
                learner.partial_fit(&mut pass, u64::MAX).unwrap();
                if learner.updates() == before {
                    break;
                }
            }
            assert!(!learner.centre().is_exhausted(), "seed {seed}");
            assert_eq!(learner.halfspace().unwrap().label_all(&points).unwrap(), labels);
        }
    }

    #[test]
    fn a_given_sample_is_checked_and_goes_on_as_its_own() {
        let cuts = vec![vec![0.6, 0.8, 0.0], vec![0.0, 0.6, -0.8]];
        let mut whole = CentreOfGravity::new(3, 1).unwrap();
        cuts.iter().for_each(|a| whole.cut(a).unwrap());
        let sample: Vec<Vec<f64>> = whole.sample().map(<[f64]>::to_vec).collect();
        let given = |sample: &[Vec<f64>], cuts: &[Vec<f64>]| {
            CentreOfGravity::from_sample(sample.to_vec(), cuts.to_vec(), 1)
        };
        let mut again = given(&sample, &cuts).unwrap();
        for centre in [&mut whole, &mut again] {
            centre.cut(&[0.0, 0.0, 1.0]).unwrap();
        }
        assert_eq!(again, whole);
        let opposite = vec![vec![-0.6, -0.8, 0.0]];
        assert!(matches!(given(&sample, &opposite), Err(InputError::InconsistentState { .. })));
        assert_eq!(given(&[], &cuts), Err(InputError::Empty));
        assert!(given(&sample, &[vec![0.6, 0.8]]).is_err());
        assert!(given(&sample, &[vec![0.6, 0.0, 0.0]]).is_err());
        assert!(given(&[vec![0.9, 0.9, 0.0]], &[]).is_err());
        assert!(given(&[vec![0.1, 0.1, 0.0], vec![0.1]], &[]).is_err());
    }

    #[test]
    fn contradictions_exhaust_the_set() {
        let learner = contradicted(CentreOfGravity::new(2, 3).unwrap(), 200);
        assert!(learner.centre().is_exhausted());
        assert_eq!(CentreOfGravity::new(0, 1), Err(InputError::ZeroDimension));
        let mut fresh = CentreOfGravity::new(2, 1).unwrap();
        assert_eq!(fresh.cut(&[f64::NAN, 0.0]), Err(InputError::Overflow { row: 0 }));
        assert!(fresh.cut(&[2.0, 0.0]).is_err() && fresh.cut(&[0.0, 0.0]).is_err());
        assert_eq!(fresh, CentreOfGravity::new(2, 1).unwrap());
    }

    /// For a uniform point at distance r from the centre of the ball, r^d is uniform in [0, 1].
    #[test]
    fn the_first_sample_is_uniform_in_the_ball() {
        for dim in [1, 2, 6] {
            let share = |w: &[f64]| norm(w).powi(dim as i32);
            let of_seed = |seed| {
                let centre = CentreOfGravity::new(dim, seed).unwrap();
                centre.sample().map(share).collect::<Vec<f64>>()
            };
            let shares: Vec<f64> = (0..60).flat_map(of_seed).collect();
            let mean = shares.iter().sum::<f64>() / shares.len() as f64;
            // The tolerance is six standard errors, 6/√(12 · 60 · 64).
            assert!((mean - 0.5).abs() < 0.028, "{mean} in dimension {dim}");
        }
    }
}
