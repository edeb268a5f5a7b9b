//! DGT19: an improper learner for Massart noise, a decision list of halfspaces.
//!
//! λ = η + ε, S the sample. While |S| >= εn: by projected stochastic descent, a unit w with mean
//! LeakyReLU_λ(-y (w · x)) over S at most -γε/2; of all thresholds t with at least a share γε of S in
//! {|w · x| >= t}, the one of least error there, the smallest of equals; emit (w, t), and delete that
//! region from S. What is left gets its commonest label.
//!
//! *Guarantee.* Let ‖x‖ <= 1, |w* · x| >= γ for a unit w*, and labels be flipped with η(x) <= η.
//!
//! - Over any region, w* has mean loss E\[(η(x) - λ)|w* · x|\] <= -γε. T = ⌈16(1-λ)²/(γε)²⌉ descent
//!   steps s = 1/((1-λ)√T) from 0 on examples drawn from S have a mean iterate within γε/4 of the
//!   least loss in expectation, so within γε/2 with probability at least 1/2; up to
//!   [`DGT_ATTEMPTS`] runs are made ([`dgt_steps`], [`dgt_step_size`]). Scaling it to norm 1 can only
//!   lower a negative loss.
//! - If w has loss at most -γε/2 over S, the region emitted errs on less than a share λ of its points.
//!   Proof: with m = |w · x| <= 1 and a = 1\[wrong\] - λ the loss is ∫ E\[a; m >= t\] dt over \[0, 1\];
//!   were E\[a; m >= t\] >= 0 for all t with P\[m >= t\] >= γε, the rest would give at least
//!   -λγε > -γε/2.
//! - So the training error is below λ + ε(1/2 - λ) ([`dgt_training_error`]), after at most
//!   ln(1/ε)/(γε) + 1 rounds ([`dgt_rounds`]).
//!
//! The second holds for any points and labels; the first for a sample on which w* has its loss.
//!
//! *Source.* CKST24, Table 1 (Õ(γ^-3 ε^-5) samples) for \[DGT19\], whose Claim 2.1 it quotes. The
//! loop, λ, the accuracy γε/2 and the mass γε are those of that paper, from memory; the proofs
//! above, the number of steps, the repeated runs and the commonest label as default are ours. The
//! cap on steps is practical. One sample serves every round, where \[DGT19\] draws afresh.

use crate::rivals::ball::{check_sample, project};
use crate::rivals::decision_list::{DecisionListOfHalfspaces, ThresholdRule};
use crate::rivals::leaky_relu::LeakyRelu;
use crate::rivals::problem::{BASELINE_MAX_STEPS, Problem, check_max_steps, leak};
use halfspaces_linalg::{
    Halfspace, InputError, Label, PointSet, RowView, kernels, normalise, zeros,
};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Descent runs a round: each comes to its loss with probability at least 1/2, so all of them miss
/// with probability at most 1/1024.
pub const DGT_ATTEMPTS: u32 = 10;

/// T = ⌈16(1-λ)²/(γε)²⌉ with λ = η + ε, the steps of one descent run.
///
/// ```
/// assert_eq!(halfspaces_pac::dgt_steps(0.25, 1.0, 0.125), 400);
/// ```
#[must_use]
pub fn dgt_steps(noise: f64, margin: f64, accuracy: f64) -> u64 {
    (16.0 * (1.0 - leak(noise, accuracy)).powi(2) / (margin * accuracy).powi(2)).ceil() as u64
}

/// s = 1/((1-λ)√T) with λ = η + ε.
#[must_use]
pub fn dgt_step_size(noise: f64, accuracy: f64, steps: u64) -> f64 {
    1.0 / ((1.0 - leak(noise, accuracy)) * (steps as f64).sqrt())
}

/// ln(1/ε)/(γε) + 1: no run has more rounds, as each leaves at most a share 1 - γε.
#[must_use]
pub fn dgt_rounds(margin: f64, accuracy: f64) -> f64 {
    -accuracy.ln() / (margin * accuracy) + 1.0
}

/// λ + ε(1/2 - λ) with λ = η + ε: the training error is below it where every round came to its loss.
#[must_use]
pub fn dgt_training_error(noise: f64, accuracy: f64) -> f64 {
    let leak = leak(noise, accuracy);
    leak + accuracy * (0.5 - leak)
}

/// How a run ended.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_pac::{Dgt, DgtStatus};
/// // Half of the labels of one point are wrong, whatever is predicted.
/// let points = Points::new(vec![0.5, 0.5], 1)?;
/// let fit = Dgt::params(0.1, 0.5, 0.2).check()?.fit(&points, &[Label::Positive, Label::Negative])?;
/// assert_eq!(fit.status, DgtStatus::LossMissed);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum DgtStatus {
    /// Every round came to a loss of -γε/2: the training error is below [`dgt_training_error`].
    Completed,
    /// Some round did not, and the cap on steps is below T.
    CapReached,
    /// Some round did not in [`DGT_ATTEMPTS`] full runs: the noise is stronger, the margin smaller, or
    /// the sample too small.
    LossMissed,
}

/// One rule of the list as it was found.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_pac::Dgt;
/// // λ = η + ε = 1/4: where w = 1 is right everywhere its mean loss is -λ times the mean of |x|.
/// let points = Points::new(vec![0.5, -0.5, 1.0, -1.0], 1)?;
/// let labels = [Label::Positive, Label::Negative, Label::Positive, Label::Negative];
/// let fit = Dgt::params(0.0, 0.5, 0.25).check()?.fit(&points, &labels)?;
/// assert_eq!((fit.rounds[0].points, fit.rounds[0].errors), (4, 0));
/// assert!((fit.rounds[0].loss + 0.25 * 0.75).abs() < 1e-12);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DgtRound {
    /// Mean loss of w over the points then left.
    pub loss: f64,
    /// Descent runs made.
    pub attempts: u32,
    /// Training points in the region.
    pub points: usize,
    /// How many of them the rule gets wrong.
    pub errors: usize,
}

/// What [`Dgt`] returns.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_pac::{Dgt, DgtStatus};
/// let points = Points::new(vec![0.5, -0.5, 0.8, -0.8], 1)?;
/// let [p, n] = [Label::Positive, Label::Negative];
/// let fit = Dgt::params(0.0, 0.5, 0.1).check()?.fit(&points, &[n, p, n, p])?;
/// // One rule, sign(-x), covers all points without an error.
/// assert_eq!((fit.rounds[0].points, fit.rounds[0].errors), (4, 0));
/// assert_eq!((fit.left, fit.status), (0, DgtStatus::Completed));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DgtFit {
    /// The hypothesis.
    pub list: DecisionListOfHalfspaces,
    /// How each of its rules was found.
    pub rounds: Vec<DgtRound>,
    /// Training points in no region.
    pub left: usize,
    /// Whether every round came to its loss.
    pub status: DgtStatus,
}

/// Parameters of [`Dgt`], not yet checked.
///
/// ```
/// use halfspaces_pac::Dgt;
/// assert!(Dgt::params(0.2, 0.1, 0.1).max_steps(5000).seed(1).check().is_ok());
/// assert!(Dgt::params(0.4, 0.1, 0.1).check().is_err()); // η + ε must stay below 1/2
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct DgtParams(Dgt);

impl DgtParams {
    /// Cap on the steps of one descent run, at least 1; [`BASELINE_MAX_STEPS`] if not set.
    pub fn max_steps(mut self, max_steps: u64) -> Self {
        self.0.max_steps = max_steps;
        self
    }

    /// Seed of the examples drawn; 0 if not set.
    pub fn seed(mut self, seed: u64) -> Self {
        self.0.seed = seed;
        self
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`].
    pub fn check(self) -> Result<Dgt, InputError> {
        self.0.problem.check_with_leak()?;
        check_max_steps(self.0.max_steps)?;
        Ok(self.0)
    }
}

/// The learner with checked parameters.
///
/// ```
/// use halfspaces_linalg::Classifier;
/// use halfspaces_data::{Marginal, MarginBall, random_target};
/// use halfspaces_pac::{Dgt, ErrorCount, dgt_training_error};
/// let target = random_target(3, 1)?;
/// let points = MarginBall::new(&target, 0.3)?.sample(400, 2)?;
/// let labels = target.label_all(&points)?;
/// let fit = Dgt::params(0.0, 0.3, 0.1).check()?.fit(&points, &labels)?;
/// let errors = ErrorCount::count(&fit.list, &points, &labels)?;
/// assert!(errors.rate() < dgt_training_error(0.0, 0.1));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dgt {
    problem: Problem,
    max_steps: u64,
    seed: u64,
}

impl Dgt {
    /// Starts from the `noise` η in [0, 1/2), the `margin` γ in (0, 1] and the `accuracy` ε in
    /// (0, 1) with η + ε < 1/2: the aim is an error of η + 3ε/2.
    pub fn params(noise: f64, margin: f64, accuracy: f64) -> DgtParams {
        let problem = Problem { noise, margin, accuracy };
        DgtParams(Dgt { problem, max_steps: BASELINE_MAX_STEPS, seed: 0 })
    }

    /// Fits labelled points of norm at most 1.
    ///
    /// # Errors
    /// [`InputError::LengthMismatch`], [`InputError::Empty`];
    /// [`InputError::ParameterOutOfRange`] for a point outside the unit ball.
    pub fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<DgtFit, InputError> {
        self.build(points, labels, |_| ())
    }

    /// [`Dgt::fit`], showing every iterate to `see`.
    fn build<P: PointSet>(
        &self,
        points: &P,
        labels: &[Label],
        mut see: impl FnMut(&[f64]),
    ) -> Result<DgtFit, InputError> {
        check_sample(points, labels)?;
        let Problem { noise, margin, accuracy } = self.problem;
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let least_left = accuracy * points.len() as f64;
        let mut region: Vec<(P::Row<'_>, Label)> =
            points.rows().zip(labels.iter().copied()).collect();
        let (mut rules, mut rounds) = (Vec::new(), Vec::new());
        while !region.is_empty() && region.len() as f64 >= least_left {
            let (w, loss, attempts) = self.low_loss(&region, points.dim(), &mut rng, &mut see)?;
            let least = (margin * accuracy * region.len() as f64).ceil() as usize;
            let products: Vec<(f64, Label)> = region.iter().map(|(x, y)| (x.dot(&w), *y)).collect();
            let best = best_threshold(&products, least);
            let rule = ThresholdRule::new(Halfspace::new(w)?, best.threshold)?;
            let mut products = products.into_iter();
            region.retain(|_| products.next().is_some_and(|(v, _)| !rule.covers(v)));
            rounds.push(DgtRound { loss, attempts, points: best.points, errors: best.errors });
            rules.push(rule);
        }
        let positives = region.iter().filter(|(_, y)| *y == Label::Positive).count();
        let default = Label::from_sign(2.0 * positives as f64 - region.len() as f64);
        let list = DecisionListOfHalfspaces::new(points.dim(), rules, default)?;
        let missed = rounds.iter().any(|round| round.loss > self.enough());
        let status = match (missed, self.max_steps < dgt_steps(noise, margin, accuracy)) {
            (false, _) => DgtStatus::Completed,
            (true, true) => DgtStatus::CapReached,
            (true, false) => DgtStatus::LossMissed,
        };
        Ok(DgtFit { list, rounds, left: region.len(), status })
    }

    /// -γε/2, the loss at which a region is sure to be found.
    fn enough(&self) -> f64 {
        -0.5 * self.problem.margin * self.problem.accuracy
    }

    /// Descends until a run comes to [`Dgt::enough`]: the best w, its loss and the runs made.
    fn low_loss<R: RowView>(
        &self,
        region: &[(R, Label)],
        dim: usize,
        rng: &mut ChaCha8Rng,
        see: &mut impl FnMut(&[f64]),
    ) -> Result<(Vec<f64>, f64, u32), InputError> {
        let Problem { noise, accuracy, .. } = self.problem;
        let loss = LeakyRelu::new(leak(noise, accuracy))?;
        let mut lowest = (zeros(1, dim)?, f64::INFINITY);
        for attempt in 1..=DGT_ATTEMPTS {
            let w = self.descend(region, dim, loss, rng, see)?;
            let sum: f64 = region.iter().map(|(x, y)| loss.of_example(x.dot(&w), *y)).sum();
            let mean = sum / region.len() as f64;
            if mean < lowest.1 {
                lowest = (w, mean);
            }
            if lowest.1 <= self.enough() {
                return Ok((lowest.0, lowest.1, attempt));
            }
        }
        Ok((lowest.0, lowest.1, DGT_ATTEMPTS))
    }

    /// One run of projected stochastic descent from 0: its mean iterate, scaled to norm 1.
    fn descend<R: RowView>(
        &self,
        region: &[(R, Label)],
        dim: usize,
        loss: LeakyRelu,
        rng: &mut ChaCha8Rng,
        see: &mut impl FnMut(&[f64]),
    ) -> Result<Vec<f64>, InputError> {
        let Problem { noise, margin, accuracy } = self.problem;
        let steps = dgt_steps(noise, margin, accuracy).min(self.max_steps);
        let step_size = dgt_step_size(noise, accuracy, steps);
        let mut w = zeros(1, dim)?;
        let mut mean = zeros(1, dim)?;
        for _ in 0..steps {
            see(&w);
            kernels::axpy(1.0 / steps as f64, &w, &mut mean);
            let Some((x, y)) = region.get(rng.random_range(0..region.len())) else { break };
            let factor = loss.subgradient_factor(x.dot(&w), *y);
            x.add_scaled_to(-step_size * factor, &mut w);
            project(&mut w);
        }
        // The zero vector, as after a single step, stays as it is.
        let _ = normalise(&mut mean);
        Ok(mean)
    }
}

/// A threshold, and how many points lie beyond it, right or wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Best {
    threshold: f64,
    points: usize,
    errors: usize,
}

/// Of the thresholds with at least `least` points (w · x, y) beyond, |w · x| >= t, the one of least
/// error there, the smallest of equals: one sort, then running counts.
fn best_threshold(products: &[(f64, Label)], least: usize) -> Best {
    let mut by_size: Vec<(f64, bool)> =
        products.iter().map(|(v, y)| (v.abs(), Label::from_sign(*v) != *y)).collect();
    by_size.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let mut best = Best { threshold: 0.0, points: 0, errors: 0 };
    let mut errors = 0;
    for (rank, &(threshold, wrong)) in by_size.iter().enumerate() {
        errors += usize::from(wrong);
        let points = rank + 1;
        let closed = by_size.get(points).is_none_or(|(next, _)| *next < threshold);
        // errors/points <= best, in integers; the first has 0 <= 0.
        let no_worse = errors as u128 * best.points as u128 <= best.errors as u128 * points as u128;
        if closed && points >= least && no_worse {
            best = Best { threshold, points, errors };
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorCount;
    use crate::test_data::{Instance, assert_bad_input, only_far};
    use halfspaces_data::Rotation;
    use halfspaces_linalg::{Classifier, Points, SparsePoints, norm};
    use proptest::prelude::*;

    const N: Label = Label::Negative;
    const P: Label = Label::Positive;

    /// The plain version: every threshold, every point.
    fn plain_best_threshold(products: &[(f64, Label)], least: usize) -> Best {
        let mut best: Option<Best> = None;
        for threshold in products.iter().map(|(v, _)| v.abs()) {
            let beyond = products.iter().filter(|(v, _)| v.abs() >= threshold);
            let points = beyond.clone().count();
            let errors = beyond.filter(|(v, y)| Label::from_sign(*v) != *y).count();
            let key = |b: &Best| (b.errors as f64 / b.points as f64, b.threshold);
            let this = Best { threshold, points, errors };
            if points >= least && best.is_none_or(|b| key(&this) < key(&b)) {
                best = Some(this);
            }
        }
        best.unwrap()
    }

    proptest! {
        #[test]
        fn one_sort_finds_the_best_threshold(
            examples in prop::collection::vec(
                (prop_oneof![-1.0..1.0f64, Just(0.0), Just(0.5), Just(-0.5)], any::<bool>()), 1..60,
            ),
            share in 0.0..1.0f64,
        ) {
            let label = |positive| if positive { P } else { N };
            let products: Vec<(f64, Label)> =
                examples.into_iter().map(|(v, positive)| (v, label(positive))).collect();
            let least = (share * products.len() as f64).ceil() as usize;
            let expected = plain_best_threshold(&products, least);
            prop_assert_eq!(best_threshold(&products, least), expected);
        }

        /// The second part of the guarantee, on any labels whatever.
        #[test]
        fn a_low_loss_gives_a_region_of_small_error(
            products in prop::collection::vec((-1.0..1.0f64, 0.0..1.0f64), 1..80),
            rate in 0.0..0.6f64,
            leak in 0.01..0.49f64,
            mass in 0.001..0.2f64,
        ) {
            // Errors at any distance, often more than a share λ.
            let label = |v: f64, u: f64| if u < rate { Label::from_sign(-v) } else { Label::from_sign(v) };
            let products: Vec<(f64, Label)> =
                products.into_iter().map(|(v, u)| (v, label(v, u))).collect();
            let loss = LeakyRelu::new(leak).unwrap();
            let n = products.len() as f64;
            let mean = products.iter().map(|(v, y)| loss.of_example(*v, *y)).sum::<f64>() / n;
            if mean <= -mass / 2.0 {
                let best = best_threshold(&products, (mass * n).ceil() as usize);
                prop_assert!((best.errors as f64) < leak * best.points as f64);
            }
        }
    }

    #[test]
    fn the_mass_of_a_region_could_hardly_be_larger() {
        // λ = 0.49, γε = 0.1: 105 of 1000 points right at distance 1, the others wrong at 0.
        let example = |i| if i < 105 { (1.0, P) } else { (0.0, N) };
        let products: Vec<(f64, Label)> = (0..1000).map(example).collect();
        let loss = LeakyRelu::new(0.49).unwrap();
        let sum: f64 = products.iter().map(|(v, y)| loss.of_example(*v, *y)).sum();
        assert!(sum / 1000.0 <= -0.1 / 2.0);
        assert_eq!(best_threshold(&products, 100), Best { threshold: 1.0, points: 105, errors: 0 });
        assert_eq!(best_threshold(&products, 106).errors, 895);
    }

    #[test]
    fn thresholds_by_hand() {
        // By size: 0.9 wrong, 0.8 right, 0.5 right twice, 0.1 wrong.
        let products = [(0.5, P), (-0.9, P), (-0.5, N), (0.8, P), (0.1, N)];
        let best = best_threshold(&products, 1);
        assert_eq!(best, Best { threshold: 0.5, points: 4, errors: 1 });
        assert_eq!(best_threshold(&products, 5), Best { threshold: 0.1, points: 5, errors: 2 });
        // Among equal errors the larger region.
        let clean = [(0.5, P), (-0.9, N)];
        assert_eq!(best_threshold(&clean, 1), Best { threshold: 0.5, points: 2, errors: 0 });
    }

    #[test]
    fn constants_by_hand() {
        assert_eq!(dgt_steps(0.25, 0.5, 0.25), 256);
        assert_eq!(dgt_step_size(0.25, 0.25, 16), 0.5);
        assert!((dgt_rounds(0.5, 0.2) - (10.0 * 5.0f64.ln() + 1.0)).abs() < 1e-12);
        assert!((dgt_training_error(0.2, 0.1) - 0.32).abs() < 1e-15);
    }

    /// Regions are disjoint, every count is exact, and the theorem's numbers hold.
    fn assert_accounts(fit: &DgtFit, points: &Points, labels: &[Label], problem: [f64; 3]) {
        let [noise, margin, accuracy] = problem;
        let rounds = &fit.rounds;
        let mut seen = vec![(0, 0); rounds.len()];
        let mut left = 0;
        for (x, y) in points.rows().zip(labels) {
            match fit.list.rule_for(x).unwrap() {
                Some(rule) => {
                    seen[rule].0 += 1;
                    seen[rule].1 += usize::from(fit.list.label(x).unwrap() != *y);
                }
                None => left += 1,
            }
        }
        let stated: Vec<_> = rounds.iter().map(|r| (r.points, r.errors)).collect();
        assert_eq!((seen, left), (stated, fit.left));
        assert!((fit.left as f64) < accuracy * labels.len() as f64);
        assert!(rounds.len() as f64 <= dgt_rounds(margin, accuracy));
        let mut mass = labels.len();
        for round in rounds {
            assert!(round.points as f64 >= margin * accuracy * mass as f64);
            mass -= round.points;
            if round.loss <= -margin * accuracy / 2.0 {
                assert!((round.errors as f64) < leak(noise, accuracy) * round.points as f64);
            }
        }
        assert_eq!(fit.list.rules().len(), rounds.len());
        for rule in fit.list.rules() {
            assert!((norm(rule.halfspace().normal()) - 1.0).abs() < 1e-12);
        }
        if fit.status == DgtStatus::Completed {
            let errors = ErrorCount::count(&fit.list, points, labels).unwrap();
            assert!(errors.rate() < dgt_training_error(noise, accuracy));
        }
    }

    #[test]
    fn massart_noise_is_learnt_to_its_rate() {
        let skewed = Instance::skewed;
        for (noise, seed, from, instance) in [
            (0.0, 1, 0.0, Instance::new(5, 0.2, 1)),
            (0.2, 2, 0.0, Instance::new(5, 0.2, 2)),
            (0.3, 3, 0.4, Instance::new(5, 0.2, 3)),
            (0.2, 4, 0.0, skewed(5, 0.2, 4)),
            (0.3, 5, 0.25, skewed(5, 0.2, 5)),
        ] {
            let flip = only_far(noise, from);
            let (points, labels) = instance.sample(3000, 10 + seed, &flip);
            let learner = Dgt::params(noise, 0.2, 0.1).check().unwrap();
            let mut longest = 0.0f64;
            let fit = learner.build(&points, &labels, |w| longest = longest.max(norm(w))).unwrap();
            assert!(longest <= 1.0 + 1e-12);
            assert_eq!(fit.status, DgtStatus::Completed);
            assert_accounts(&fit, &points, &labels, [noise, 0.2, 0.1]);
            let error = instance.fresh_error(&fit.list, flip);
            assert!(error <= noise + 0.1, "{error}");
        }
    }

    #[test]
    fn labels_of_no_halfspace_are_told() {
        // Coin flips: no w has loss -γε/2 for long, the list is still whole.
        let instance = Instance::new(3, 0.3, 1);
        let (points, labels) = instance.sample(400, 2, |_| 0.5);
        let params = || Dgt::params(0.0, 0.3, 0.1).seed(1);
        let fit = params().max_steps(50).check().unwrap().fit(&points, &labels).unwrap();
        assert_eq!(fit.status, DgtStatus::CapReached);
        assert!(fit.rounds.iter().any(|r| r.attempts == DGT_ATTEMPTS));
        assert_accounts(&fit, &points, &labels, [0.0, 0.3, 0.1]);
        // Points without a direction: one rule with t = 0 takes them all.
        let zero = Points::new(vec![0.0; 8], 2).unwrap();
        let fit = params().max_steps(50).check().unwrap().fit(&zero, &[P, N, P, P]).unwrap();
        assert_eq!((fit.rounds.len(), fit.rounds[0].points, fit.rounds[0].errors), (1, 4, 1));
        assert_eq!((fit.left, fit.status), (0, DgtStatus::CapReached));
        let full = Dgt::params(0.0, 1.0, 0.4).check().unwrap().fit(&zero, &[P, N, P, P]).unwrap();
        assert_eq!(full.status, DgtStatus::LossMissed);
    }

    #[test]
    fn dense_and_sparse_agree_to_the_bit_and_rotation_changes_nothing() {
        let instance = Instance::new(9, 0.2, 4);
        let (points, labels) = instance.sample(300, 5, |_| 0.2);
        let learner = Dgt::params(0.2, 0.2, 0.1).max_steps(500).seed(1).check().unwrap();
        let fit = learner.fit(&points, &labels).unwrap();
        assert_eq!(learner.fit(&points, &labels).unwrap(), fit);
        let sparse = SparsePoints::from_dense(&points).unwrap();
        assert_eq!(learner.fit(&sparse, &labels).unwrap(), fit);
        let rotation = Rotation::random(9, 6).unwrap();
        let turned = learner.fit(&rotation.apply(&points).unwrap(), &labels).unwrap();
        assert_eq!(turned.rounds.len(), fit.rounds.len());
        for (a, b) in turned.list.rules().iter().zip(fit.list.rules()) {
            let expected = rotation.apply_to_halfspace(b.halfspace()).unwrap();
            assert!(a.halfspace().angle_to(&expected).unwrap() < 1e-9);
            assert!((a.threshold() - b.threshold()).abs() < 1e-9);
        }
    }

    #[test]
    fn bad_input_is_typed() {
        let params = || Dgt::params(0.1, 0.2, 0.2).max_steps(5);
        assert!(params().max_steps(0).check().is_err());
        assert!(Dgt::params(0.3, 0.2, 0.2).check().is_err());
        assert!(Dgt::params(0.1, 0.0, 0.2).check().is_err());
        let learner = params().check().unwrap();
        assert_bad_input(|points, labels| learner.fit(points, labels).map(|_| ()));
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_fit_can_be_saved() {
        let (points, labels) = Instance::new(2, 0.3, 4).sample(20, 5, |_| 0.1);
        let learner = Dgt::params(0.1, 0.3, 0.2).max_steps(5).check().unwrap();
        let fit = learner.fit(&points, &labels).unwrap();
        let text = serde_json::to_string(&fit).unwrap();
        assert_eq!(serde_json::from_str::<DgtFit>(&text).unwrap(), fit);
    }
}
