//! Weak, strong and perfect learners for arbitrary pools, built from a Forster transform, walks and boosting.
//!
//! A *round* labels a fraction of the remaining points. Let X be the unlabelled points. The Forster transform finds a
//! subspace V of dimension k that contains at least |X| k/d of them. It brings the points of X in V, called U, into
//! radially isotropic position there. A *run* starts from a random unit w, walks over U in order of decreasing |w · u|
//! until the first mistake, sets w -= (w · u) u, and walks again. Once a walk has passed |U|/(4k) points, the run has
//! succeeded. Points revealed earlier in the round stay in U: a walk passes them too, and if one of them is predicted
//! incorrectly, the run makes an update that costs no mistake. A run that has not succeeded after ⌊4k ln 4k⌋ updates
//! and one more walk has failed. The next run starts from -w, and the run after that from a new w. The next round
//! begins with the points that are still unlabelled.
//!
//! *Guarantee.* If some halfspace labels all points strictly correctly, a run succeeds whenever w₀ · w* >= 1/(2√k) for
//! the unit normal w* inside V. The reason is that in radially isotropic position at least |U|/(4k) points have a
//! margin of at least 1/(2√k) for every w. A pair (w₀, -w₀) of random starts therefore succeeds with probability at
//! least 0.617 (claim S8f). A round labels a fraction 1/(4d), and ⌈4d ln(1/ε)⌉ rounds label a fraction 1 - ε. In these
//! rounds, the learner makes Õ(d² ln(d/(εδ))) mistakes with probability 1 - δ, for any n (DKTZ23 Theorem 3.1, claim
//! S9). With ε < 1/n, this is a perfect learner with Õ(d² ln n) mistakes.
//!
//! *Source.* DKTZ23 §3 (Algorithms 2 and 4, boosting). Two details are corrected: the cap and the failure probability
//! of a round, which is δ/R if there are R rounds. The printed cap 5k ln k is large enough for the proof only if k >=
//! 256, and it is 0 for k = 1 ([`Cap::Paper`]). The following additions are ours. A failed run is retried from -w₀ on
//! the same U, which needs no new randomness. The first runs start from the halfspace w of the previous round and from
//! -w, and are capped at 4 updates and then at 2k ([`Start::Warm`]). If V is a proper subspace, w* may vanish on it, so
//! one walk uses w = 0, which predicts +1. V and its radially isotropic position are reused in the next round while the
//! remaining points are still in position and numerous enough. With warm starts, about 2.2 mistakes per dimension were
//! measured on the sphere, and 1 to 3 elsewhere. On the data of claim S9g, these numbers do not depend on n. Random
//! starts made several times as many mistakes. A new V may contain directions about which nothing is known yet. In
//! these directions, w is equally likely to point towards w* or away from it, and the first few updates settle which.

mod options;
mod round;

pub use options::{Cap, Goal, RoundTally, Start};

use super::{AnswerStatus, Pool, SelfDirectedLearner, decision_value};
use crate::direction::{origin, random_unit, rng_for_count};
use crate::error::OnlineError;
use crate::protocol::{Prediction, Question, Round};
use crate::streams;
use halfspaces_forster::{Accuracy, ForsterTransform, Isotropy};
use halfspaces_linalg::{
    Classifier, Halfspace, InputError, Label, Params, PointSet, Points, RowView, getters, kernels,
    norm, normalise, setters, zeros,
};
use round::{Attempt, PositionedPoints, RoundState, RoundStatus, Run};
use tracing::debug;

/// Relative accuracy of the radially isotropic position: the proof of the soft margin needs λmin >= 1/2.
const POSITION: f64 = 0.5;
/// Number of updates per dimension after which a run from a warm start is abandoned. The run needs about one update per
/// dimension if the start is good.
const WARM_UPDATES: usize = 2;
/// Maximum number of updates of a probe, which is the first, short run from a warm start or from its opposite. In a new
/// subspace, either of the two may be on the side of w*. The start on that side then needs a few updates; the other
/// start would use up all of [`WARM_UPDATES`].
const PROBE_UPDATES: usize = 4;
/// Upper bound on the probability that a pair of runs fails: 1 - 0.617.
const PAIR_FAILURE: f64 = 0.383;

/// The boosted weak learner of DKTZ23 §3: labels any pool that a halfspace explains, however ill-conditioned. The
/// learner walks over points that a Forster transform has brought into radially isotropic position.
///
/// *Guarantee.* If some halfspace labels all points strictly correctly, [`Goal::Strong`] labels all but a fraction ε
/// and makes Õ(d² ln(d/(εδ))) mistakes, with probability 1 - δ and for any n. [`Goal::Perfect`] labels every point and
/// makes Õ(d² ln n) mistakes. With [`Start::Warm`], the default, 1 d to 3 d mistakes were measured, independently of n.
///
/// *Cost.* Each round computes a Forster transform, in O(nd²) time per iteration, unless the remaining points are still
/// in radially isotropic position. Each mistake takes a walk in O(|U| (d + lg |U|)) time. The learner needs O(nd)
/// memory in addition to the pool. An answer takes at most (2p + 5)(⌊4k ln 4k⌋ + 1) walks and one transform, whatever
/// the labels are. Here p = ⌈ln(R/δ)/0.96⌉ is the number of pairs of starts, and R = ⌈4d ln(1/ε)⌉ is the number of
/// rounds.
///
/// *When to use it.* If a halfspace is known to fit and nothing else is known. On well-conditioned data,
/// [`Greedy`](super::Greedy) is faster and [`VersionSpaceGreedy`](super::VersionSpaceGreedy) makes fewer mistakes.
///
/// *Labels that no halfspace fits.* [`RoundTally::failed_rounds`] counts the rounds in which every start failed. After
/// such a round the status is [`AnswerStatus::NoHalfspaceFound`], unless the hypothesis fits all answers.
///
/// *Source.* DKTZ23 §3 (Algorithms 2 and 4, boosting), with corrections (see [`Cap`]). Claims: S8, S8f, S9, S9d, S9g,
/// S9m, S9p, S9r, S9t.
///
/// ```
/// use halfspaces_linalg::Classifier;
/// use halfspaces_data::{Marginal, StudentT, random_target};
/// use halfspaces_online::{Goal, StrongLearner, label_pool};
/// // Ill-conditioned, with heavy tails and almost no margin.
/// let points = StudentT::new(5, 1.0, 1e6)?.sample(2000, 1)?;
/// let labels = random_target(5, 2)?.label_all(&points)?;
/// let learner = StrongLearner::new(5, Goal::Perfect, 0.05, 3)?;
/// let (_, transcript) = label_pool(learner, &points, &labels)?;
/// assert_eq!(transcript.len(), 2000);
/// assert!(transcript.mistakes() < 120);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct StrongLearner {
    dim: usize,
    goal: Goal,
    failure: f64,
    start: Start,
    /// The seed. Every round draws from its own stream of random numbers.
    seed: u64,
    round: Option<RoundState>,
    /// The set U of the previous round.
    before: Option<PositionedPoints>,
    /// The point of the open question: its index in U, and its index in the pool.
    open: Option<(usize, usize)>,
    /// The current hypothesis for points of the pool; zero before the first label.
    reached: Vec<f64>,
    tally: RoundTally,
}

impl StrongLearner {
    /// A learner for points of R^`dim` with failure probability δ = `failure` and random starts from `seed`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::ParameterOutOfRange`] if ε or δ is not in (0, 1).
    pub fn new(dim: usize, goal: Goal, failure: f64, seed: u64) -> Result<Self, InputError> {
        let reached = origin(dim)?;
        let inside = |v: f64| v > 0.0 && v < 1.0;
        InputError::check_parameter("failure", failure, inside(failure), "above 0 and below 1")?;
        if let Goal::Strong { epsilon } = goal {
            let fine = inside(epsilon);
            InputError::check_parameter("epsilon", epsilon, fine, "above 0 and below 1")?;
        }
        Ok(StrongLearner {
            dim,
            goal,
            failure,
            start: Start::default(),
            seed,
            round: None,
            before: None,
            open: None,
            reached,
            tally: RoundTally::default(),
        })
    }

    /// The learner for a pool about which nothing is known: it labels every point, with δ = 0.01, and each round starts
    /// from the result of the previous one. On spheres, on clusters, and on ill-conditioned and one-hot data, it makes
    /// one to three mistakes per dimension (measured). On data where [`Greedy`](super::Greedy) does well, the two
    /// learners make about the same number of mistakes.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::TooLarge`].
    pub fn recommended(dim: usize, seed: u64) -> Result<Self, InputError> {
        StrongLearner::new(dim, Goal::Perfect, 0.01, seed)
    }

    setters! {
        /// Sets the starts of the runs. Default: [`Start::Warm`].
        with_start: Start => start,
    }

    getters! {
        /// Counts of the rounds so far.
        tally: RoundTally,

        /// The hypothesis of the last run, as a normal for points of the pool (inside the subspace of its round, if
        /// this subspace was proper). It is zero before the first run.
        weights: &[f64] => reached,
    }

    /// The number of points that may stay unlabelled.
    fn allowed_unlabelled(&self, points: usize) -> usize {
        match self.goal {
            Goal::Strong { epsilon } => (epsilon * points as f64).floor() as usize,
            Goal::Weak | Goal::Perfect => 0,
        }
    }

    /// The number of pairs of runs in a round, large enough for all rounds to succeed with probability 1 - δ.
    fn pairs(&self, points: usize) -> usize {
        let rounds = match self.goal {
            Goal::Weak => 1.0,
            Goal::Strong { epsilon } => (4.0 * self.dim as f64 * -epsilon.ln()).ceil(),
            Goal::Perfect => (4.0 * self.dim as f64 * (points as f64 + 1.0).ln()).ceil(),
        };
        ((rounds.max(1.0) / self.failure).ln() / -PAIR_FAILURE.ln()).ceil() as usize
    }

    /// The remaining points of the previous round, if they are still in radially isotropic position and are still a
    /// large enough fraction of all remaining points. Removing points seldom violates either condition.
    fn still_in_position<P: PointSet>(
        &mut self,
        pool: &Pool<'_, P>,
    ) -> Result<Option<PositionedPoints>, OnlineError> {
        let Some(PositionedPoints { transform, members, inside, heavy }) = self.before.take()
        else {
            return Ok(None);
        };
        let unlabelled = |place: &usize| pool.label(members[*place]).is_none();
        let places: Vec<usize> = (0..members.len()).filter(unlabelled).collect();
        let left = pool.unrevealed().filter(|i| !pool.is_zero(*i)).count();
        let share = places.len() * self.dim >= transform.inner_dim() * left;
        if places.is_empty() || !share {
            return Ok(None);
        }
        let inside = inside.select(&places)?;
        if !Accuracy::OneSided(POSITION).is_reached_by(Isotropy::measure(&inside)?) {
            return Ok(None);
        }
        let members = places.iter().map(|place| members[*place]).collect();
        Ok(Some(PositionedPoints { transform, members, inside, heavy }))
    }

    /// Brings the remaining points into radially isotropic position with a new transform.
    fn place<P: PointSet>(&mut self, pool: &Pool<'_, P>) -> Result<PositionedPoints, OnlineError> {
        let left: Vec<usize> = pool.unrevealed().filter(|i| !pool.is_zero(*i)).collect();
        let mut rows = zeros(left.len(), self.dim)?;
        for (i, row) in left.iter().zip(rows.chunks_exact_mut(self.dim)) {
            pool.add_unit(*i, 1.0, row);
        }
        let points = Points::new(rows, self.dim)?;
        let accuracy = Accuracy::OneSided(POSITION);
        let fit = ForsterTransform::params().accuracy(accuracy).check()?.fit(&points)?;
        let position = fit.position();
        let (subspace, transform) = (&position.subspace, position.transform.clone());
        let inside = transform.apply(&points.select(subspace.members())?)?;
        let members = subspace.members().iter().map(|member| left[*member]).collect();
        let heavy = subspace.dim() < subspace.span_dim();
        self.tally.uncertified += usize::from(!accuracy.is_reached_by(position.certificate));
        Ok(PositionedPoints { transform, members, inside, heavy })
    }

    /// Brings the remaining points into radially isotropic position and lists the starts.
    fn begin<P: PointSet>(&mut self, pool: &Pool<'_, P>) -> Result<(), OnlineError> {
        let placed = match self.still_in_position(pool)? {
            Some(placed) => placed,
            None => self.place(pool)?,
        };
        let transform = &placed.transform;
        let k = transform.inner_dim();
        // If the remaining points do not span the space, w* may vanish on their subspace.
        let proper = k < self.dim;
        self.tally.rounds += 1;
        self.tally.heavy += usize::from(placed.heavy);
        debug!(round = self.tally.rounds, k, members = placed.members.len(), "round");

        let mut rng = rng_for_count(streams::STRONG_STARTS, self.seed, self.tally.rounds as u64);
        let from = |w: Vec<f64>, most| Attempt { w, most, known: false };
        let cap = Cap::Corrected.updates(k);
        let mut starts = Vec::new();
        for _ in 0..self.pairs(pool.points().len()) {
            let w = random_unit(k, &mut rng);
            starts.extend([from(w.iter().map(|v| -v).collect(), cap), from(w, cap)]);
        }
        if proper {
            starts.push(from(vec![0.0; k], 0));
        }
        if self.start == Start::Warm {
            let reached = transform.halfspace_inside(&Halfspace::new(self.reached.clone())?)?;
            let mut w = reached.into_normal();
            if normalise(&mut w) {
                // If w is on the wrong side of w*, -w is on the right side. The points revealed by a probe cost no
                // mistake when the start of the probe is tried again.
                let opposite: Vec<f64> = w.iter().map(|v| -v).collect();
                for most in [WARM_UPDATES * k, PROBE_UPDATES.min(WARM_UPDATES * k)] {
                    starts.push(from(opposite.clone(), most));
                    starts.push(Attempt { w: w.clone(), most, known: true });
                }
            } else {
                // y u of the first point is on the side of w*; half of the random starts are not.
                starts.push(Attempt { w: Vec::new(), most: WARM_UPDATES * k, known: true });
            }
        }
        let Some(first) = starts.pop() else {
            unreachable!("there is at least one pair of starts")
        };
        let run = Run::new(&placed.inside, first);
        self.round = Some(RoundState { placed, run, starts });
        Ok(())
    }
}

impl StrongLearner {
    fn after(&mut self, next: RoundStatus) -> Result<(), OnlineError> {
        match next {
            RoundStatus::Walking => Ok(()),
            RoundStatus::Succeeded | RoundStatus::Failed => self.end(),
        }
    }

    /// Updates the hypothesis after a round: inside the subspace V it becomes the last w, scaled to the length that the
    /// hypothesis had there. The round says nothing about directions outside V, so the hypothesis is kept there.
    fn end(&mut self) -> Result<(), OnlineError> {
        let Some(round) = self.round.take() else { unreachable!("a round is in progress") };
        // If w failed in V, it is not worth keeping outside V.
        if self.start == Start::Warm && !round.run.known {
            self.reached.fill(0.0);
        }
        let inside = Halfspace::new(round.run.w)?;
        let mut new = round.placed.transform.halfspace_outside(&inside)?.into_normal();
        if !normalise(&mut new) {
            // The walk with w = 0 was correct: nothing is known about V except that all labels are +1.
            return Ok(());
        }
        let mut along = vec![0.0; self.dim];
        for b in round.placed.transform.basis().rows() {
            kernels::axpy(b.dot(&self.reached), b.as_slice(), &mut along);
        }
        kernels::axpy(-1.0, &along, &mut self.reached);
        let length = norm(&along);
        self.before = Some(round.placed);
        kernels::axpy(if length > 0.0 { length } else { 1.0 }, &new, &mut self.reached);
        if !normalise(&mut self.reached) {
            self.reached = new;
        }
        Ok(())
    }
}

impl SelfDirectedLearner for StrongLearner {
    fn propose<P: PointSet>(
        &mut self,
        pool: &Pool<'_, P>,
    ) -> Result<Option<Question>, OnlineError> {
        InputError::check_dim(self.dim, pool.points().dim())?;
        loop {
            if let (Some((place, index)), Some(round)) = (self.open, &self.round) {
                let prediction = Prediction::from_value(round.value(place));
                return Ok(Some(Question { index, prediction }));
            }
            let Some(round) = &mut self.round else {
                let done = self.goal == Goal::Weak && self.tally.rounds > 0;
                if done || pool.left() <= self.allowed_unlabelled(pool.points().len()) {
                    return Ok(None);
                }
                // Points x = 0 are labelled +1 by the tie rule and have no direction.
                if let Some(zero) = pool.unrevealed().find(|i| pool.is_zero(*i)) {
                    return pool.question(zero, &self.reached).map(Some);
                }
                self.begin(pool)?;
                continue;
            };
            // Walk to the next unrevealed point. On the way, the run learns from revealed points, which costs no
            // mistake.
            match round.run.walk.next() {
                Some(place) => {
                    let index = round.placed.members[place];
                    match pool.label(index) {
                        None => self.open = Some((place, index)),
                        Some(truth) => {
                            let value = round.value(place);
                            let wrong = Label::from_sign(value) != truth;
                            self.tally.free_updates += usize::from(wrong);
                            let next = round.pass(place, value, truth, &mut self.tally);
                            self.after(next)?;
                        }
                    }
                }
                // All of U is labelled correctly.
                None => {
                    self.tally.successes += 1;
                    self.end()?;
                }
            }
        }
    }

    fn learn<P: PointSet>(&mut self, _: &Pool<'_, P>, answer: Round) -> Result<(), OnlineError> {
        let (Some((place, _)), Some(round)) = (self.open.take(), &mut self.round) else {
            // The question was about a point x = 0, which teaches nothing.
            return Ok(());
        };
        let value = answer.prediction.value;
        let next = round.pass(place, value, answer.truth, &mut self.tally);
        self.after(next)
    }

    fn status<P: PointSet>(&self, pool: &Pool<'_, P>) -> AnswerStatus {
        pool.status([&self.reached[..]], self.tally.failed_rounds > 0)
    }
}

impl Classifier for StrongLearner {
    fn dim(&self) -> usize {
        self.dim
    }

    /// w · x for the hypothesis w of the last round; 0 before the first round has ended.
    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        decision_value(&self.reached, x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::self_directed::{SelfDirectedSession, WeakRun, label_pool};
    use halfspaces_data::{Builtin, Clusters, Marginal, StudentT, UnitSphere, random_target};
    use proptest::prelude::*;

    /// Four points of a plane in R⁴ that are in radially isotropic position in this plane.
    const PLANE: [[f64; 4]; 4] =
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [1.0, -1.0, 0.0, 0.0]];

    /// The first run of a round makes the same updates as the plain weak learner.
    #[test]
    fn a_round_is_a_run_of_the_weak_learner() {
        for seed in 0..20 {
            let points = Clusters::random(6, 8, 0.1, seed).unwrap().sample(500, seed).unwrap();
            let labels = random_target(6, seed + 50).unwrap().label_all(&points).unwrap();
            let learner = StrongLearner::new(6, Goal::Weak, 0.1, seed).unwrap();
            let learner = learner.with_start(Start::Random);
            let mut session = SelfDirectedSession::new(learner, &points).unwrap();
            session.next().unwrap();
            let round = session.learner().round.clone().unwrap();
            assert_eq!(round.placed.members.len(), 500);
            let plain =
                WeakRun::simulate(&round.placed.inside, &labels, round.run.w, Cap::Corrected)
                    .unwrap();
            while let Some(question) = session.next().unwrap() {
                session.answer(labels[question.index]).unwrap();
            }
            let tally = session.learner().tally();
            if plain.succeeded() {
                assert_eq!((tally.successes, tally.failures), (1, 0));
                let mistakes = plain.updates() + usize::from(plain.passed() < 500);
                assert_eq!(session.progress().mistakes + tally.free_updates, mistakes);
                // The points of the last walk and those of earlier walks are revealed.
                assert!(session.progress().labelled >= plain.passed());
            }
        }
    }

    #[test]
    fn ill_conditioned_data_cost_a_few_mistakes() {
        let points = StudentT::new(5, 1.0, 1e6).unwrap().sample(20_000, 1).unwrap();
        let labels = random_target(5, 2).unwrap().label_all(&points).unwrap();
        for (start, most) in [(Start::Random, 150), (Start::Warm, 30)] {
            let learner = StrongLearner::new(5, Goal::Perfect, 0.05, 3).unwrap().with_start(start);
            let (learner, transcript) = label_pool(learner, &points, &labels).unwrap();
            assert_eq!(transcript.len(), points.len());
            assert!(transcript.mistakes() <= most, "{start:?}: {}", transcript.mistakes());
            let tally = learner.tally();
            assert_eq!((tally.successes, tally.uncertified), (tally.rounds, 0));
        }
    }

    #[test]
    fn one_hot_data_go_by_their_subspaces() {
        let data = Builtin::Mushroom.load().unwrap();
        let rows: Vec<usize> = (0..400).map(|i| 14 * i).collect();
        let points = data.points().select(&rows).unwrap();
        let labels: Vec<Label> = rows.iter().map(|i| data.labels()[*i]).collect();
        let learner = StrongLearner::new(points.dim(), Goal::Perfect, 0.05, 1).unwrap();
        let (learner, transcript) =
            label_pool(learner.with_start(Start::Warm), &points, &labels).unwrap();
        assert_eq!(transcript.len(), 400);
        assert!(learner.tally().heavy > 0);
        assert!(transcript.mistakes() < 100, "{}", transcript.mistakes());
    }

    /// U is large enough and in radially isotropic position in every round, even if it was kept from an earlier round.
    #[test]
    fn subspaces_kept_still_hold_their_share() {
        let data = Builtin::Mushroom.load().unwrap();
        let rows: Vec<usize> = (0..300).map(|i| 18 * i).collect();
        let points = data.points().select(&rows).unwrap();
        let labels = random_target(points.dim(), 3).unwrap().label_all(&points).unwrap();
        let learner = StrongLearner::recommended(points.dim(), 1).unwrap();
        let mut session = SelfDirectedSession::new(learner, &points).unwrap();
        let (mut rounds, mut kept) = (0, 0);
        while let Some(question) = session.next().unwrap() {
            let tally = session.learner().tally();
            if tally.rounds > rounds {
                let placed = session.learner().round.clone().unwrap().placed;
                let (k, left) = (placed.transform.inner_dim(), session.pool().left());
                assert!(placed.members.len() * points.dim() >= k * left);
                assert!(placed.members.iter().all(|i| session.pool().label(*i).is_none()));
                let isotropy = Isotropy::measure(&placed.inside).unwrap();
                assert!(Accuracy::OneSided(POSITION).is_reached_by(isotropy));
                kept += usize::from(placed.heavy && placed.members.len() < left);
                rounds = tally.rounds;
            }
            session.answer(labels[question.index]).unwrap();
        }
        assert!(kept > 0 && session.learner().tally().uncertified == 0);
    }

    /// Random starts come in pairs ±w, one of which has w · w* >= 0. So do warm starts.
    #[test]
    fn starts_come_in_opposite_pairs() {
        let points = UnitSphere::new(7).unwrap().sample(300, 1).unwrap();
        for (start, known) in [(Start::Random, 0), (Start::Warm, 4)] {
            let mut learner =
                StrongLearner::new(7, Goal::Perfect, 0.05, 3).unwrap().with_start(start);
            learner.reached = random_target(7, 5).unwrap().into_normal();
            let mut session = SelfDirectedSession::new(learner, &points).unwrap();
            session.next().unwrap().unwrap();
            let learner = session.learner();
            let RoundState { run, starts, .. } = learner.round.clone().unwrap();
            let mut all: Vec<Vec<f64>> = starts.into_iter().map(|attempt| attempt.w).collect();
            all.push(run.w);
            // The starts tried first are at the end of the list.
            assert_eq!(all.len(), 2 * learner.pairs(300) + known);
            for pair in all.chunks_exact(2) {
                assert!((norm(&pair[1]) - 1.0).abs() < 1e-12);
                assert!(pair[0].iter().zip(&pair[1]).all(|(a, b)| *a == -*b));
            }
        }
    }

    /// With random labels, an answer makes at most the stated number of updates on points already revealed, and the
    /// status reports the failure.
    #[test]
    fn labels_of_no_halfspace_are_answered_in_bounded_time() {
        for (dim, n) in [(2, 400), (5, 1500)] {
            let points = UnitSphere::new(dim).unwrap().sample(n, 1).unwrap();
            let labels = crate::self_directed::random_labels(n, 2);
            let learner = StrongLearner::new(dim, Goal::Perfect, 0.1, 3).unwrap();
            let most = (2 * learner.pairs(n) + 5) * (Cap::Corrected.updates(dim) + 1);
            let mut session = SelfDirectedSession::new(learner, &points).unwrap();
            let mut updates = 0;
            let mut failed = false;
            while let Some(question) = session.next().unwrap() {
                let tally = session.learner().tally();
                assert!(tally.free_updates - updates <= most);
                updates = tally.free_updates;
                failed |= tally.failed_rounds > 0;
                let status = session.status();
                assert!(
                    !failed || status != AnswerStatus::Undecided,
                    "a failed round shows in the status"
                );
                session.answer(labels[question.index]).unwrap();
            }
            assert!(failed && session.status() == AnswerStatus::NoHalfspaceFound, "d = {dim}");
        }
        // If the labels are those of a halfspace, no round fails.
        let points = UnitSphere::new(4).unwrap().sample(800, 4).unwrap();
        let labels = random_target(4, 5).unwrap().label_all(&points).unwrap();
        let (learner, _) =
            label_pool(StrongLearner::recommended(4, 6).unwrap(), &points, &labels).unwrap();
        assert_eq!(learner.tally().failed_rounds, 0);
    }

    /// The warm start is the opposite of w*: after a probe and one more mistake, -w is right.
    #[test]
    fn what_was_known_may_be_on_the_wrong_side() {
        let points = UnitSphere::new(12).unwrap().sample(2000, 1).unwrap();
        let target = random_target(12, 2).unwrap();
        let labels = target.label_all(&points).unwrap();
        let mut learner = StrongLearner::new(12, Goal::Perfect, 0.05, 3).unwrap();
        learner.reached = target.normal().iter().map(|v| -v).collect();
        let (learner, transcript) = label_pool(learner, &points, &labels).unwrap();
        assert_eq!(transcript.mistakes(), PROBE_UPDATES + 1);
        assert_eq!(learner.tally().failures, 1);
    }

    /// If all starts are bad, the warm starts cost at most 4k + 2 mistakes, including the probes.
    #[test]
    fn warm_starts_cost_what_is_stated() {
        let (k, n) = (4, 4000);
        let points = UnitSphere::new(k).unwrap().sample(n, 1).unwrap();
        // Labels that no halfspace approximates.
        let labels: Vec<Label> =
            (0..n).map(|i| Label::from_sign((i * i % 7) as f64 - 3.0)).collect();
        let mut learner = StrongLearner::new(k, Goal::Perfect, 0.05, 3).unwrap();
        learner.reached = vec![1.0, 0.0, 0.0, 0.0];
        let mut session = SelfDirectedSession::new(learner, &points).unwrap();
        while session.learner().tally().failures < 4 {
            let question = session.next().unwrap().unwrap();
            assert_eq!(session.learner().tally().rounds, 1);
            session.answer(labels[question.index]).unwrap();
        }
        let mistakes = session.progress().mistakes;
        assert!(mistakes <= 4 * k + 2 && mistakes > 2 * PROBE_UPDATES + 2, "{mistakes}");
        assert!(session.learner().tally().free_updates >= 2 * PROBE_UPDATES);
    }

    #[test]
    fn goals_are_reached_and_not_overshot() {
        let points = UnitSphere::new(4).unwrap().sample(1000, 5).unwrap();
        let labels = random_target(4, 6).unwrap().label_all(&points).unwrap();
        let labelled = |goal| {
            let learner = StrongLearner::new(4, goal, 0.1, 7).unwrap();
            label_pool(learner, &points, &labels).unwrap().1.len()
        };
        assert!(labelled(Goal::Weak) >= 1000 / 16);
        assert!((900..1000).contains(&labelled(Goal::Strong { epsilon: 0.1 })));
        assert_eq!(labelled(Goal::Perfect), 1000);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// The pools are small and have integer points; they may be separable or not. Every point is asked about once,
        /// every session ends, and a session resumed half-way ends in the same way.
        #[test]
        fn any_pool_comes_to_its_end(
            rows in prop::collection::vec([-2i8..=2, -2i8..=2, -2i8..=2], 1..40),
            bits in any::<u64>(),
            separable in any::<bool>(),
            warm in any::<bool>(),
        ) {
            let rows: Vec<[f64; 3]> = rows.into_iter().map(|r| r.map(f64::from)).collect();
            let points = Points::from_rows(&rows).unwrap();
            let labels: Vec<Label> = if separable {
                random_target(3, bits).unwrap().label_all(&points).unwrap()
            } else {
                (0..points.len())
                    .map(|i| Label::from_sign((bits >> (i % 64) & 1) as f64 - 0.5))
                    .collect()
            };
            let start = if warm { Start::Warm } else { Start::Random };
            let learner =
                StrongLearner::new(3, Goal::Perfect, 0.1, bits).unwrap().with_start(start);
            let (_, whole) = label_pool(learner.clone(), &points, &labels).unwrap();
            let mut asked: Vec<usize> = whole.rounds().iter().map(|r| r.index).collect();
            asked.sort_unstable();
            prop_assert!(asked.into_iter().eq(0..points.len()));
            let half: Vec<(usize, Label)> =
                whole.rounds().iter().take(points.len() / 2).map(|r| (r.index, r.truth)).collect();
            let mut later = SelfDirectedSession::resume(learner, &points, &half).unwrap();
            while let Some(question) = later.next().unwrap() {
                later.answer(labels[question.index]).unwrap();
            }
            prop_assert_eq!(later.transcript(), &whole);
        }
    }

    #[test]
    fn bad_parameters_are_typed() {
        assert_eq!(
            StrongLearner::new(0, Goal::Weak, 0.1, 1).unwrap_err(),
            InputError::ZeroDimension
        );
        assert!(StrongLearner::new(2, Goal::Weak, 0.0, 1).is_err());
        assert!(StrongLearner::new(2, Goal::Weak, f64::NAN, 1).is_err());
        assert!(StrongLearner::new(2, Goal::Strong { epsilon: 1.0 }, 0.1, 1).is_err());
        let zeros = Points::from_rows(&[[0.0, 0.0], [0.0, 0.0]]).unwrap();
        let learner = StrongLearner::new(2, Goal::Perfect, 0.1, 1).unwrap();
        let labels = [Label::Positive, Label::Negative];
        assert_eq!(label_pool(learner, &zeros, &labels).unwrap().1.mistakes(), 1);
    }

    /// The number of pairs is ln(rounds/δ)/-ln(PAIR_FAILURE), rounded up; the number of points that may stay unlabelled
    /// is rounded down.
    #[test]
    fn pairs_and_points_spared_by_hand() {
        let pairs = |goal, n| StrongLearner::new(4, goal, 0.1, 7).unwrap().pairs(n);
        assert_eq!(pairs(Goal::Weak, 1000), 3);
        assert_eq!(pairs(Goal::Strong { epsilon: 0.1 }, 1000), 7);
        assert_eq!(pairs(Goal::Perfect, 1000), 8);
        let allowed_unlabelled = |e, n| {
            StrongLearner::new(4, Goal::Strong { epsilon: e }, 0.1, 7)
                .unwrap()
                .allowed_unlabelled(n)
        };
        assert_eq!((allowed_unlabelled(0.15, 10), allowed_unlabelled(0.1, 5)), (1, 0));
    }

    /// A plane of R⁴ that contains four of eight points contains a fraction k/d of them. A plane that contains four of
    /// nine points does not.
    #[test]
    fn a_subspace_is_kept_while_it_holds_its_share() {
        let off = |i: usize| [1.0, 0.5, i as f64, 2.0];
        let mut learner = StrongLearner::new(4, Goal::Perfect, 0.1, 7).unwrap();
        let four = Points::from_rows(&PLANE).unwrap();
        let placed = learner.place(&Pool::new(&four).unwrap()).unwrap();
        assert_eq!((placed.transform.inner_dim(), placed.members.len()), (2, 4));
        for (others, kept) in [(4, true), (5, false)] {
            let rows: Vec<[f64; 4]> = PLANE.into_iter().chain((0..others).map(off)).collect();
            let points = Points::from_rows(&rows).unwrap();
            learner.before = Some(placed.clone());
            let still = learner.still_in_position(&Pool::new(&points).unwrap()).unwrap();
            assert_eq!(still.is_some(), kept, "{others}");
        }
    }

    /// Outside its subspace, a hypothesis that was right inside the subspace is kept, and one that failed there is
    /// dropped.
    #[test]
    fn what_failed_inside_is_not_kept_outside() {
        let four = Points::from_rows(&PLANE).unwrap();
        for (known, outside) in [(true, 0.8), (false, 0.0)] {
            let mut learner = StrongLearner::new(4, Goal::Perfect, 0.1, 7).unwrap();
            let placed = learner.place(&Pool::new(&four).unwrap()).unwrap();
            learner.reached = vec![0.6, 0.0, 0.8, 0.0];
            let run = Run::new(&placed.inside, Attempt { w: vec![1.0, 0.0], most: 0, known });
            learner.round = Some(RoundState { placed, run, starts: Vec::new() });
            learner.end().unwrap();
            assert!((learner.reached[2] - outside).abs() < 1e-9, "{known}: {:?}", learner.reached);
            assert!((norm(&learner.reached) - 1.0).abs() < 1e-9);
        }
    }

    /// If no halfspace fits the labels, the only round fails.
    #[test]
    fn a_weak_learner_ends_after_its_round() {
        let points = UnitSphere::new(2).unwrap().sample(400, 1).unwrap();
        let labels = crate::self_directed::random_labels(400, 2);
        let learner = StrongLearner::new(2, Goal::Weak, 0.1, 3).unwrap();
        let (learner, transcript) = label_pool(learner, &points, &labels).unwrap();
        let tally = learner.tally();
        assert_eq!(
            (tally.rounds, tally.successes, tally.failed_rounds),
            (1, 0, 1),
            "{}",
            transcript.len()
        );
    }

    /// Five points of R² on a line. The line is their span, so it does not count as a heavy subspace.
    fn on_a_line() -> Points {
        Points::from_rows(&[1.0, 2.0, 3.0, 4.0, 5.0].map(|v| [v, 0.0])).unwrap()
    }

    #[test]
    fn the_span_of_what_is_left_is_no_heavy_subspace() {
        let mut learner = StrongLearner::new(2, Goal::Perfect, 0.1, 7).unwrap();
        let placed = learner.place(&Pool::new(&on_a_line()).unwrap()).unwrap();
        assert_eq!((placed.transform.inner_dim(), placed.heavy), (1, false));
    }

    /// w* may vanish on the line, so predicting +1 everywhere is tried first. A mistake then ends only a probe, not a
    /// run.
    #[test]
    fn where_the_rest_does_not_span_the_space_all_positive_is_tried() {
        let points = on_a_line();
        let learner = StrongLearner::new(2, Goal::Perfect, 0.1, 7).unwrap();
        let learner = learner.with_start(Start::Random);
        let mut session = SelfDirectedSession::new(learner, &points).unwrap();
        assert_eq!(session.next().unwrap().unwrap().prediction.value, 0.0);
        session.answer(Label::Negative).unwrap();
        assert_eq!(session.learner().tally().failures, 0);
    }
}
