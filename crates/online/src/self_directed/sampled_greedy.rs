//! Sampled greedy: predicts the surest point according to a sample of the version space.
//!
//! The learner keeps a sample of all w in the unit ball that label every revealed point correctly, and spreads it by
//! hit-and-run. The score of a point x is |E u·x| / sd(u·x), where the vectors u = w/‖w‖ are the directions of the
//! sample. The learner predicts the point with the largest score, and the predicted label is the sign of E u·x. If u·x
//! were normally distributed, this would be the point on whose label most of the version space agrees. Every label cuts
//! the sample. After a mistake, or once half of the sample has been cut off, the sample is refilled and spread over the
//! new set, and the remaining points are ranked again.
//!
//! The distance of a point of the sample from the mean is measured in standard deviations. A revealed point whose score
//! is far larger than all these distances is forgotten, because it does not cut the remaining set. Among the other
//! revealed points, the walk uses those with the smallest scores as constraints, and adds any that a point of the
//! sample turns out to violate.
//!
//! *Bounded work.* An answer takes at most 16384 (d + 4) steps of hit-and-run, whatever the labels are. If no halfspace
//! fits the labels, detecting this takes less than an eighth of these steps, and happens only once.

use super::walk::Walk;
use super::{AnswerStatus, Pool, SelfDirectedLearner, decision_value};
use crate::direction::{origin, rng_for_count};
use crate::error::OnlineError;
use crate::protocol::{Question, Round};
use crate::streams;
use crate::version_space::{Sample, mean, step_budget, uniform_in_ball};
use halfspaces_linalg::{
    Classifier, InputError, PointSet, RowView, Threads, getters, kernels, norm, normalise, zeros,
};
use rand::rngs::ChaCha8Rng;

/// The part of the sample size that does not depend on the dimension.
const MIN_POINTS: usize = 80;
/// Number of additional points in the sample per dimension.
const POINTS_PER_DIMENSION: usize = 2;
/// Number of revealed points per dimension that constrain the walk: those with the smallest scores.
const CUTS_PER_DIMENSION: usize = 20;
/// Maximum number of rounds of hit-and-run steps. Rounds are repeated until the sample is independent of its earlier
/// positions.
const MAX_SWEEPS: usize = 6;
/// Number of points of the pool that one thread ranks at a time.
const POINTS_PER_TASK: usize = 1024;
/// A revealed point is forgotten if its score exceeds the largest score of a sample point by more than this factor. A
/// score is a distance from the mean in standard deviations.
const FORGET_BEYOND: f64 = 1.5;

/// The vector y x of a revealed point, scaled to norm 1, and the score of the point.
#[derive(Debug, Clone)]
struct Cut {
    a: Vec<f64>,
    score: f64,
}

/// Greedy with a hit-and-run sample of the version space, the set of all consistent halfspaces: predicts the point on
/// whose label most of the sample agrees.
///
/// *Guarantee.* There is none. The learner is a heuristic. It computes the moments from a finite sample, whose
/// correlation with its earlier positions may be as large as 0.3. On 10^5 points on the sphere it made 1.50 d mistakes
/// in d = 10 (30 pools, standard error 0.03 d) and 1.42 d mistakes in d = 30 (4 pools, standard error 0.02 d). There
/// [`VersionSpaceGreedy`](super::VersionSpaceGreedy) makes 1.6 d to 1.7 d mistakes.
///
/// *Cost.* The sample has 80 + 2d points, and about 20 d revealed points are constraints of the walk. A score costs
/// O(d²) per point of the pool, so a ranking costs O(n d²). The pool is ranked after each mistake and whenever half of
/// the sample has been cut off. An answer takes at most 16384 (d + 4) steps of hit-and-run, whatever the labels are. If
/// these do not suffice, or no halfspace fits, the status is [`AnswerStatus::NoHalfspaceFound`] and the ranking no
/// longer changes.
///
/// *When to use it.* If mistakes are expensive and the data are well-conditioned.
///
/// *Source.* Ours, after Kakade §3 (halving with volume instead of counting). Claims: S1v, S12l.
///
/// ```
/// use halfspaces_linalg::Classifier;
/// use halfspaces_data::{Marginal, UnitSphere, random_target};
/// use halfspaces_online::{SampledGreedy, label_pool};
/// let points = UnitSphere::new(5)?.sample(2000, 1)?;
/// let labels = random_target(5, 2)?.label_all(&points)?;
/// let (learner, transcript) = label_pool(SampledGreedy::new(5, 3)?, &points, &labels)?;
/// assert_eq!(transcript.len(), 2000);
/// assert!(transcript.mistakes() <= 12);
/// // Every halfspace of the sample labels all points correctly.
/// for w in learner.sample() {
///     assert!(halfspaces_linalg::Halfspace::new(w.to_vec())?.label_all(&points)? == labels);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SampledGreedy {
    /// The seed. Every sample is drawn from its own stream of random numbers.
    seed: u64,
    size: usize,
    /// The sample after it was last spread (`shape`), and those of its points that satisfy all later cuts (`points`).
    shape: Vec<Vec<f64>>,
    points: Vec<Vec<f64>>,
    /// Revealed points multiplied by their labels and scaled to norm 1, with their most recent scores. Those in `cuts`
    /// constrain the walk, and those in `waiting` may have to constrain it later.
    cuts: Vec<Cut>,
    waiting: Vec<Cut>,
    /// E u (`centre`), and rows r with Σ (r·x)² = Var(u·x) (`spread`). All of them are zero before the first label.
    centre: Vec<f64>,
    spread: Vec<Vec<f64>>,
    /// Distance of the farthest point of the sample from the mean, in standard deviations.
    farthest: f64,
    resamples: u64,
    steps: u64,
    exhausted: bool,
    walk: Option<Walk>,
    open: Option<usize>,
    threads: Threads,
}

impl SampledGreedy {
    /// A learner for points of R^`dim`. The samples are drawn from the random streams of `seed`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::TooLarge`].
    pub fn new(dim: usize, seed: u64) -> Result<SampledGreedy, InputError> {
        let centre = origin(dim)?;
        let size = POINTS_PER_DIMENSION.saturating_mul(dim).saturating_add(MIN_POINTS);
        zeros(size, dim)?;
        let mut rng = rng_for_count(streams::SAMPLED_GREEDY, seed, 0);
        let points: Vec<_> = (0..size).map(|_| uniform_in_ball(dim, &mut rng)).collect();
        Ok(SampledGreedy {
            seed,
            size,
            shape: points.clone(),
            points,
            cuts: Vec::new(),
            waiting: Vec::new(),
            farthest: 0.0,
            centre,
            spread: Vec::new(),
            resamples: 0,
            steps: 0,
            exhausted: false,
            walk: None,
            open: None,
            threads: Threads::ONE,
        })
    }

    /// Sets the number of threads that move the sample and rank the pool. The results do not depend on this number.
    /// Default: one.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
        self
    }

    /// The mean direction of the sample, which is the hypothesis; zero before the first label.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.centre
    }

    /// The points of the sample that satisfy all cuts.
    pub fn sample(&self) -> impl Iterator<Item = &[f64]> {
        self.points.iter().map(Vec::as_slice)
    }

    getters! {
        /// The number of times the sample was refilled and spread.
        resamples: u64,

        /// Number of hit-and-run steps so far; each step moves the whole sample.
        steps: u64,

        /// Whether the version space is numerically a ray or empty, as happens with contradictory labels. If so, the
        /// ranking no longer changes.
        is_exhausted: bool => exhausted,
    }

    /// The score beyond which a revealed point is forgotten.
    fn reach(&self) -> f64 {
        if self.resamples == 0 { f64::INFINITY } else { FORGET_BEYOND * self.farthest }
    }

    /// The score of a point of the pool.
    fn score_of<P: PointSet>(&self, pool: &Pool<'_, P>, index: usize) -> f64 {
        let margin = |w: &Vec<f64>| pool.margin(index, w);
        score(margin(&self.centre), self.spread.iter().map(margin))
    }

    /// Computes the mean and the spread of the directions of the sample.
    fn measure(&mut self) {
        let mut directions = self.points.clone();
        for u in &mut directions {
            // A point at 0 has no direction and stays at 0.
            let _ = normalise(u);
        }
        self.centre = mean(&directions);
        // Orthogonalise the columns of the differences one after the other. No covariance matrix is computed, because
        // its squares would lose the narrow directions.
        let share = 1.0 / (directions.len() as f64 - 1.0).sqrt();
        let dim = self.centre.len();
        let mut columns: Vec<Vec<f64>> = (0..dim)
            .map(|j| directions.iter().map(|u| share * (u[j] - self.centre[j])).collect())
            .collect();
        self.spread = vec![vec![0.0; dim]; dim];
        for j in 0..dim {
            let (done, following) = columns.split_at_mut(j + 1);
            let q = &mut done[j];
            self.spread[j][j] = norm(q);
            if !normalise(q) {
                // The sample has no spread in this direction.
                continue;
            }
            for (k, column) in following.iter_mut().enumerate() {
                let along = kernels::dot(q, column);
                self.spread[j][j + 1 + k] = along;
                kernels::axpy(-along, q, column);
            }
        }
        let far = |s: usize| columns.iter().map(|q| q[s] * q[s]).sum::<f64>();
        self.farthest = (0..directions.len()).map(far).fold(0.0, f64::max).sqrt() / share;
    }

    /// Applies the last cut to the sample. Returns `false` if too little of the sample is left, or if the steps do not
    /// suffice.
    fn cut_by_last(&mut self, steps_left: &mut usize, rng: &mut ChaCha8Rng) -> bool {
        let cuts: Vec<&[f64]> = self.cuts.iter().map(|cut| cut.a.as_slice()).collect();
        let (points, shape) = (&mut self.points, &mut self.shape);
        let (max_sweeps, threads) = (MAX_SWEEPS, self.threads);
        let mut sample = Sample { points, shape, cuts: &cuts, max_sweeps, steps_left, threads };
        sample.cut_by_last(rng).is_some()
    }

    /// Splits the revealed points by their scores into those that constrain the walk and those that may have to
    /// constrain it later.
    fn select_cuts(&mut self) {
        let mut all = std::mem::take(&mut self.cuts);
        all.append(&mut self.waiting);
        let reach = self.reach();
        all.retain(|cut| cut.score <= reach);
        let most = CUTS_PER_DIMENSION * self.centre.len();
        if all.len() > most {
            all.select_nth_unstable_by(most, |x, y| x.score.total_cmp(&y.score));
            self.waiting = all.split_off(most);
        }
        self.cuts = all;
    }

    /// Refills the sample and spreads it over the set that a new cut leaves.
    fn resample(&mut self, cut: Cut) {
        let budget = step_budget(self.centre.len());
        let mut steps_left = budget;
        self.exhausted = !self.resample_within(cut, &mut steps_left);
        self.steps += (budget - steps_left) as u64;
    }

    /// Does the work of [`SampledGreedy::resample`] within the remaining steps. Returns `false` if too little of the
    /// set is left, or if the steps do not suffice.
    fn resample_within(&mut self, cut: Cut, steps_left: &mut usize) -> bool {
        self.select_cuts();
        self.resamples += 1;
        let mut rng = rng_for_count(streams::SAMPLED_GREEDY, self.seed, self.resamples);
        self.cuts.push(cut);
        let before = self.points.clone();
        // Each iteration turns at least one waiting point into a constraint.
        loop {
            if !self.cut_by_last(steps_left, &mut rng) {
                return false;
            }
            self.measure();
            for cut in self.cuts.iter_mut().chain(&mut self.waiting) {
                let spread = self.spread.iter().map(|r| kernels::dot(r, &cut.a));
                cut.score = score(kernels::dot(&self.centre, &cut.a), spread);
            }
            // Check whether some point of the sample violates a waiting constraint.
            let (points, farthest) = (&self.points, self.farthest);
            let forbids = |cut: &mut Cut| {
                cut.score <= farthest && points.iter().any(|w| kernels::dot(w, &cut.a) <= 0.0)
            };
            let forbidding: Vec<Cut> = self.waiting.extract_if(.., forbids).collect();
            let alive = |w: &Vec<f64>| forbidding.iter().all(|c| kernels::dot(w, &c.a) > 0.0);
            let alive = self.points.iter().filter(|w| alive(w)).count();
            let done = 2 * alive >= self.size;
            if alive > 0 {
                self.points.retain(|w| forbidding.iter().all(|c| kernels::dot(w, &c.a) > 0.0));
            } else {
                self.points.clone_from(&before);
            }
            // The new cut stays last.
            let new = self.cuts.len() - 1;
            self.cuts.splice(new..new, forbidding);
            if done {
                return true;
            }
        }
    }
}

/// The score E u·x / sd(u·x), computed from E u·x and from r·x for the rows r.
fn score(value: f64, spread: impl Iterator<Item = f64>) -> f64 {
    value / (spread.map(|v| v * v).sum::<f64>().sqrt() + f64::MIN_POSITIVE)
}

impl SelfDirectedLearner for SampledGreedy {
    fn propose<P: PointSet>(
        &mut self,
        pool: &Pool<'_, P>,
    ) -> Result<Option<Question>, OnlineError> {
        InputError::check_dim(self.centre.len(), pool.points().dim())?;
        if self.open.is_none() {
            let mut walk = match self.walk.take() {
                Some(walk) => walk,
                None => {
                    let members: Vec<usize> = pool.unrevealed().collect();
                    let scores = self.threads.map_with(
                        members.chunks(POINTS_PER_TASK),
                        || (),
                        |(), some| {
                            let scores = some.iter().map(|i| self.score_of(pool, *i));
                            scores.collect::<Vec<f64>>()
                        },
                    );
                    Walk::from_margins(&scores.concat(), members)
                }
            };
            self.open = walk.next();
            self.walk = Some(walk);
        }
        self.open.map(|index| pool.question(index, &self.centre)).transpose()
    }

    fn learn<P: PointSet>(&mut self, pool: &Pool<'_, P>, round: Round) -> Result<(), OnlineError> {
        self.open = None;
        // A point x = 0 makes no cut.
        if self.exhausted || pool.is_zero(round.index) {
            return Ok(());
        }
        let mut a = vec![0.0; self.centre.len()];
        pool.add_unit(round.index, round.truth.as_f64(), &mut a);
        let score = round.truth.as_f64() * self.score_of(pool, round.index);
        let cut = Cut { a, score };
        let alive = |w: &&Vec<f64>| kernels::dot(w, &cut.a) > 0.0;
        let count = self.points.iter().filter(alive).count();
        if self.resamples == 0 || round.is_mistake() || 2 * count < self.size {
            self.resample(cut);
            if !self.exhausted {
                self.walk = None;
            }
        } else if count < self.points.len() {
            self.points.retain(|w| kernels::dot(w, &cut.a) > 0.0);
            self.cuts.push(cut);
        } else if score <= self.reach() {
            self.waiting.push(cut);
        }
        Ok(())
    }

    /// The learner searches for consistent halfspaces whenever it refills the sample. If a later answer contradicts an
    /// answer that was forgotten because its score was too large, the mean direction of the sample no longer fits the
    /// forgotten answer.
    fn status<P: PointSet>(&self, pool: &Pool<'_, P>) -> AnswerStatus {
        pool.status([&self.centre[..]], self.resamples > 0)
    }
}

impl Classifier for SampledGreedy {
    fn dim(&self) -> usize {
        self.centre.len()
    }

    /// w · x for the mean direction w of the sample.
    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        decision_value(&self.centre, x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::self_directed::{SelfDirectedSession, label_pool};
    use halfspaces_data::{Marginal, UnitSphere, random_target};
    use halfspaces_linalg::{Label, Points, SparsePoints};

    /// After the first label, every point of the sample fits all revealed labels at all times.
    #[test]
    fn the_sample_knows_everything_revealed() {
        for (dim, n, seed) in [(2, 300, 1), (5, 1500, 2), (12, 600, 3)] {
            let points = UnitSphere::new(dim).unwrap().sample(n, seed).unwrap();
            let labels = random_target(dim, seed + 9).unwrap().label_all(&points).unwrap();
            let learner = SampledGreedy::new(dim, seed).unwrap();
            let mut session = SelfDirectedSession::new(learner, &points).unwrap();
            let mut resamples = 0;
            while let Some(question) = session.next().unwrap() {
                session.answer(labels[question.index]).unwrap();
                let learner = session.learner();
                assert!(!learner.is_exhausted());
                if learner.resamples() > resamples || session.pool().left() == 0 {
                    resamples = learner.resamples();
                    for w in learner.sample() {
                        assert!(norm(w) <= 1.0 + 1e-12);
                        let wrong = session
                            .pool()
                            .revealed()
                            .filter(|(i, y)| y.as_f64() * session.pool().margin(*i, w) < -1e-12);
                        assert_eq!(wrong.count(), 0);
                    }
                }
            }
            assert!(session.progress().mistakes <= 2 * dim + 4);
        }
    }

    /// Tests a correct prediction that leaves exactly half of the sample, and one that leaves one point fewer.
    #[test]
    fn less_than_half_of_the_sample_is_drawn_anew() {
        let learn = |learner: &mut SampledGreedy, x: [f64; 2], prediction: f64| {
            let points = Points::from_rows(&[x]).unwrap();
            let prediction = crate::Prediction::from_value(prediction);
            let round = Round { index: 0, prediction, truth: Label::Positive };
            learner.learn(&Pool::new(&points).unwrap(), round).unwrap();
        };
        let mut learner = SampledGreedy::new(2, 1).unwrap();
        learn(&mut learner, [1.0, 0.0], -1.0);
        let half = learner.size / 2;
        assert_eq!((learner.size % 2, learner.points.len()), (0, learner.size));
        // Every w has w₁ >= 0, so its angle is between -π/2 and π/2. A positive label of the point at the angle m + π/2
        // keeps those w whose angles are larger than m.
        let mut angles: Vec<f64> = learner.points.iter().map(|w| w[1].atan2(w[0])).collect();
        angles.sort_by(f64::total_cmp);
        for (left, drawn) in [(half, 0), (half - 1, 1)] {
            let mut learner = learner.clone();
            let at = learner.size - left;
            let middle = 0.5 * (angles[at - 1] + angles[at]);
            let before = learner.resamples();
            learn(&mut learner, [-middle.sin(), middle.cos()], 1.0);
            assert_eq!(learner.resamples() - before, drawn, "{left} left");
        }
    }

    /// Labels that are not revealed have no influence on the questions.
    #[test]
    fn only_revealed_labels_are_used() {
        let points = UnitSphere::new(4).unwrap().sample(400, 1).unwrap();
        let labels = random_target(4, 2).unwrap().label_all(&points).unwrap();
        let play = |labels: &[Label]| {
            let learner = SampledGreedy::new(4, 3).unwrap();
            label_pool(learner, &points, labels).unwrap().1
        };
        let whole = play(&labels);
        for at in [1, 50, 200] {
            let mut other = labels.clone();
            for round in &whole.rounds()[at..] {
                other[round.index] = -other[round.index];
            }
            let changed = play(&other);
            assert_eq!(changed.rounds()[..at], whole.rounds()[..at]);
            let asked = changed.rounds()[at];
            assert_eq!(asked.prediction, whole.rounds()[at].prediction);
            assert_eq!(asked.index, whole.rounds()[at].index);
        }
    }

    #[test]
    fn sparse_points_are_asked_alike() {
        let points = UnitSphere::new(6).unwrap().sample(500, 4).unwrap();
        let labels = random_target(6, 5).unwrap().label_all(&points).unwrap();
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let play = SampledGreedy::new(6, 1).unwrap();
        let (of_dense, dense) = label_pool(play.clone(), &points, &labels).unwrap();
        let (of_sparse, sparse) = label_pool(play, &sparse, &labels).unwrap();
        assert_eq!(dense, sparse);
        assert_eq!(of_dense.weights(), of_sparse.weights());
    }

    /// After rotations by right angles (coordinates permuted, signs changed), the mean number of mistakes is the same
    /// up to sampling error.
    #[test]
    fn rotations_do_not_matter() {
        let (mut plain, mut turned) = (0, 0);
        for seed in 0..12 {
            let points = UnitSphere::new(5).unwrap().sample(600, seed).unwrap();
            let labels = random_target(5, seed + 50).unwrap().label_all(&points).unwrap();
            let (s, c) = 0.7f64.sin_cos();
            let turn =
                |x: &[f64]| vec![-x[3], c * x[0] - s * x[1], x[4], s * x[0] + c * x[1], -x[2]];
            let rows: Vec<Vec<f64>> = points.as_slice().chunks_exact(5).map(turn).collect();
            let rotated = Points::from_rows(&rows).unwrap();
            let count = |points: &Points| {
                let learner = SampledGreedy::new(5, seed).unwrap();
                label_pool(learner, points, &labels).unwrap().1.mistakes()
            };
            plain += count(&points);
            turned += count(&rotated);
        }
        // The standard error of each mean of 12 runs is about 0.5.
        assert!(plain.abs_diff(turned) <= 12 * 2, "{plain} and {turned}");
        assert!(plain + turned <= 24 * 9, "{plain} and {turned}");
    }

    /// Compares the spread and the centre with moments that are computed directly.
    #[test]
    fn scores_are_those_of_the_sample() {
        let points = UnitSphere::new(3).unwrap().sample(200, 7).unwrap();
        let labels = random_target(3, 8).unwrap().label_all(&points).unwrap();
        let learner = SampledGreedy::new(3, 1).unwrap();
        let mut session = SelfDirectedSession::new(learner, &points).unwrap();
        for _ in 0..3 {
            let question = session.next().unwrap().unwrap();
            session.answer(labels[question.index]).unwrap();
        }
        let mut learner = session.learner().clone();
        learner.measure();
        let margins: Vec<f64> =
            learner.sample().map(|w| session.pool().margin(9, w) / norm(w)).collect();
        let count = margins.len() as f64;
        let mean = margins.iter().sum::<f64>() / count;
        let variance = margins.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let score = learner.score_of(session.pool(), 9);
        assert!((score - mean / variance.sqrt()).abs() < 1e-9 * score.abs());
    }

    #[test]
    fn no_dimension_is_an_error() {
        assert_eq!(SampledGreedy::new(0, 1).unwrap_err(), InputError::ZeroDimension);
    }
}
