//! DGT19: an improper learner for Massart noise, which returns a decision list of halfspaces.

use super::decision_list::{DecisionListOfHalfspaces, ThresholdRule};
use super::descent::DescentParams;
use super::leaky_relu::LeakyRelu;
use super::unit_ball::{check_sample, project};
use crate::NoiseSetting;
use crate::streams;
use halfspaces_linalg::{
    FitSample, Halfspace, InputError, Label, Params, PointSet, RowView, Termination, checkpoint_at,
    classify_by, getters, kernels, normalise, rng_for, zeros,
};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;

/// The maximum number of descent runs per round. Each run reaches its target loss with probability at least 1/2, so all
/// runs fail with probability at most 1/1024.
const DGT_ATTEMPTS: u32 = 10;

/// The number T = ⌈16(1-λ)²/(γε)²⌉ of steps of one descent run, with λ = η + ε.
fn dgt_steps(noise: f64, margin: f64, excess: f64) -> u64 {
    (16.0 * (1.0 - (noise + excess)).powi(2) / (margin * excess).powi(2)).ceil() as u64
}

/// The step size s = 1/((1-λ)√T) with λ = η + ε.
fn dgt_step_size(noise: f64, excess: f64, steps: u64) -> f64 {
    1.0 / ((1.0 - (noise + excess)) * (steps as f64).sqrt())
}

/// The bound ln(1/ε)/(γε) + 1 on the number of rounds. Each round leaves at most a fraction 1 - γε of the points.
#[must_use]
pub fn dgt_rounds(margin: f64, excess: f64) -> f64 {
    -excess.ln() / (margin * excess) + 1.0
}

/// The bound λ + ε(1/2 - λ), with λ = η + ε, on the training error if every round reached its target loss.
#[cfg(test)]
fn dgt_training_error(noise: f64, excess: f64) -> f64 {
    let leak = noise + excess;
    leak + excess * (0.5 - leak)
}

/// The round of [`Dgt`] that found a rule of the list.
///
/// ```
/// use halfspaces_linalg::{FitSample, Label, Params, Points};
/// use halfspaces_pac::Dgt;
/// // λ = η + ε = 1/4: w = 1 makes no error, so its mean loss is -λ times the mean of |x|.
/// let points = Points::new(vec![0.5, -0.5, 1.0, -1.0], 1)?;
/// let labels = [Label::Positive, Label::Negative, Label::Positive, Label::Negative];
/// let fit = Dgt::params(0.0, 0.5).excess(0.25).check()?.fit(&points, &labels)?;
/// let round = &fit.rounds()[0];
/// assert_eq!((round.points, round.errors), (4, 0));
/// assert!((round.loss + 0.25 * 0.75).abs() < 1e-12);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DgtRound {
    /// The mean loss of w over the points that remained in this round.
    pub loss: f64,
    /// The number of descent runs.
    pub attempts: u32,
    /// The number of training points in the region of the rule.
    pub points: usize,
    /// The number of these points that the rule misclassifies.
    pub errors: usize,
}

/// The model fitted by [`Dgt`]: a decision list, with the round that found each rule.
///
/// ```
/// use halfspaces_linalg::{Classifier, FitSample, Label, Params, Points, Termination};
/// use halfspaces_pac::Dgt;
/// let points = Points::new(vec![0.5, -0.5, 0.8, -0.8], 1)?;
/// let [p, n] = [Label::Positive, Label::Negative];
/// let fit = Dgt::params(0.0, 0.5).check()?.fit(&points, &[n, p, n, p])?;
/// // One rule, sign(-x), covers all points without an error.
/// assert_eq!((fit.list().rules().len(), fit.rounds()[0].errors, fit.uncovered()), (1, 0, 0));
/// assert_eq!(fit.label_all(&points)?, [n, p, n, p]);
/// assert_eq!(fit.termination(), Termination::Converged);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DgtFit {
    list: DecisionListOfHalfspaces,
    rounds: Vec<DgtRound>,
    uncovered: usize,
    termination: Termination,
}

impl DgtFit {
    getters! {
        /// The decision list.
        list: &DecisionListOfHalfspaces,

        /// For each rule, the round that found it.
        rounds: &[DgtRound],

        /// The number of training points that no rule covers; they get the default label.
        uncovered: usize,

        /// How the run ended; see [`Dgt`].
        termination: Termination,
    }
}

classify_by!(DgtFit, list);

/// Unchecked parameters of [`Dgt`].
pub type DgtParams = DescentParams<Dgt>;

impl Params for DgtParams {
    type Learner = Dgt;
    type Error = InputError;

    fn check(self) -> Result<Dgt, InputError> {
        self.setting.check_with_leak()?;
        self.check_rest()?;
        Ok(Dgt(self))
    }
}

/// DGT19: an improper learner for Massart noise, which returns a decision list of halfspaces.
///
/// Let λ = η + ε, and let S be the sample of n points. Rounds are repeated while |S| >= εn. In each round, projected
/// stochastic subgradient descent finds a unit vector w with a mean LeakyReLU_λ(-y (w · x)) over S of at most -γε/2.
/// The round considers all thresholds t for which {|w · x| >= t} contains at least a fraction γε of S. It chooses the t
/// with the smallest error in this region; ties go to the smallest t. The rule (w, t) is added to the list, and its
/// region is removed from S. The points that remain at the end get the label that is most frequent among them.
///
/// *Guarantee.* Let ‖x‖ <= 1 and |w* · x| >= γ for a unit vector w*, and let labels be flipped with probability η(x) <=
/// η.
///
/// - Over any region, the mean loss of w* is E\[(η(x) - λ)|w* · x|\] <= -γε. A descent starts at 0 and takes T =
///   ⌈16(1-λ)²/(γε)²⌉ steps of size s = 1/((1-λ)√T) on examples drawn from S. In expectation, the loss of its mean
///   iterate is within γε/4 of the smallest loss, so it is within γε/2 with probability at least 1/2. Up to ten runs
///   are made. Scaling the mean iterate to norm 1 can only lower a negative loss.
/// - If the mean loss of w over S is at most -γε/2, the rule errs on less than a fraction λ of its region. Proof: let
///   m = |w · x| <= 1 and a = 1\[wrong\] - λ. Then the loss is ∫ E\[a; m >= t\] dt over \[0, 1\]. If E\[a; m >= t\]
///   were at least 0 for all t with P\[m >= t\] >= γε, the rest of the integral would contribute at least -λγε > -γε/2.
/// - So the training error is below λ + ε(1/2 - λ), after at most ln(1/ε)/(γε) + 1 rounds ([`dgt_rounds`]).
///
/// The second statement holds for any points and labels. The first statement holds for a sample on which w* has a mean
/// loss of at most -γε over every region. If you need a halfspace, or have few examples, use
/// [`Perspectron`](crate::Perspectron) or [`Ckmy`](crate::Ckmy).
///
/// *Termination.* The run ends with one of three results. In every case, the list labels every point.
///
/// - `Converged`: every round reached a loss of -γε/2, and the training error is below λ + ε(1/2 - λ).
/// - `AssumptionFailed`: some round did not reach this loss in ten full runs. The noise is stronger than stated, the
///   margin is smaller than stated, or the sample is too small.
/// - `CapReached`: some round did not reach this loss, and the cap on the steps of a descent is below T.
///
/// *Cost.* Each descent takes O(T d) time; for sparse points, d is the number of stored values. Each round takes O(nd +
/// n log n) time. The memory is O(n + d), in addition to the list.
///
/// *Source.* CKST24, Table 1 (Õ(γ^-3 ε^-5) samples) for \[DGT19\]; CKST24 also quotes Claim 2.1 of \[DGT19\]. The loop,
/// λ, the accuracy γε/2 and the mass γε are those of \[DGT19\], from memory. The proofs above, the number of steps, the
/// repeated runs, the cap and the use of the most frequent label as the default are ours. All rounds use one sample,
/// whereas \[DGT19\] draws fresh examples. Claims: P10, P10o.
///
/// ```
/// use halfspaces_data::{Marginal, MarginBall, random_target};
/// use halfspaces_linalg::{Classifier, FitSample, Params};
/// use halfspaces_pac::{Dgt, ErrorCount};
/// let target = random_target(3, 1)?;
/// let points = MarginBall::new(&target, 0.3)?.sample(400, 2)?;
/// let labels = target.label_all(&points)?;
/// let fit = Dgt::params(0.0, 0.3).check()?.fit(&points, &labels)?;
/// let errors = ErrorCount::count(&fit, &points, &labels)?;
/// assert!(errors.rate() < 0.1 + 0.1 * (0.5 - 0.1)); // λ + ε(1/2 - λ)
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dgt(DgtParams);

impl Dgt {
    /// Creates parameters for the noise rate `noise`, which is η in [0, 1/2), and the margin `margin`, which is γ in
    /// (0, 1], with η + ε < 1/2. The target error is η + 3ε/2.
    pub fn params(noise: f64, margin: f64) -> DgtParams {
        NoiseSetting::new(noise, margin).into()
    }

    /// Fits like [`Dgt::fit`], and passes every iterate to `see`.
    fn build<P: PointSet>(
        &self,
        points: &P,
        labels: &[Label],
        mut see: impl FnMut(&[f64]),
    ) -> Result<DgtFit, InputError> {
        check_sample(points, labels)?;
        let NoiseSetting { noise, margin, excess, .. } = self.0.setting;
        let mut rng = rng_for(streams::DGT_DESCENT, self.0.seed);
        let min_left = excess * points.len() as f64;
        let mut region: Vec<(P::Row<'_>, Label)> =
            points.rows().zip(labels.iter().copied()).collect();
        let (mut rules, mut rounds) = (Vec::new(), Vec::new());
        while !region.is_empty() && region.len() as f64 >= min_left {
            let (w, loss, attempts) = self.low_loss(&region, points.dim(), &mut rng, &mut see)?;
            let min_points = (margin * excess * region.len() as f64).ceil() as usize;
            let products: Vec<(f64, Label)> = region.iter().map(|(x, y)| (x.dot(&w), *y)).collect();
            let best = best_threshold(&products, min_points);
            let rule = ThresholdRule::new(Halfspace::new(w)?, best.threshold)?;
            let uncovered =
                region.into_iter().zip(&products).filter(|(_, (v, _))| !rule.covers(*v));
            region = uncovered.map(|(example, _)| example).collect();
            rounds.push(DgtRound { loss, attempts, points: best.points, errors: best.errors });
            rules.push(rule);
        }
        let positives = region.iter().filter(|(_, y)| *y == Label::Positive).count();
        let default = Label::from_sign(2.0 * positives as f64 - region.len() as f64);
        let list = DecisionListOfHalfspaces::new(points.dim(), rules, default)?;
        let missed = rounds.iter().any(|round| round.loss > self.target_loss());
        let termination = match self.0.termination(dgt_steps(noise, margin, excess)) {
            _ if !missed => Termination::Converged,
            Termination::Converged => Termination::AssumptionFailed,
            capped => capped,
        };
        Ok(DgtFit { list, rounds, uncovered: region.len(), termination })
    }

    /// The target loss -γε/2. At this loss, a rule with a small error exists.
    fn target_loss(&self) -> f64 {
        -0.5 * self.0.setting.margin * self.0.setting.excess
    }

    /// Repeats the descent until a run reaches [`Dgt::target_loss`]. Returns the best w, its loss and the number of
    /// runs.
    fn low_loss<R: RowView>(
        &self,
        region: &[(R, Label)],
        dim: usize,
        rng: &mut ChaCha8Rng,
        see: &mut impl FnMut(&[f64]),
    ) -> Result<(Vec<f64>, f64, u32), InputError> {
        let loss = LeakyRelu::new(self.0.setting.leak())?;
        let mut lowest = (zeros(1, dim)?, f64::INFINITY);
        for attempt in 1..=DGT_ATTEMPTS {
            let w = self.descend(region, dim, loss, rng, see)?;
            let mean = loss.mean(region.iter().map(|(x, y)| (x.dot(&w), *y)));
            if mean < lowest.1 {
                lowest = (w, mean);
            }
            if lowest.1 <= self.target_loss() {
                return Ok((lowest.0, lowest.1, attempt));
            }
        }
        Ok((lowest.0, lowest.1, DGT_ATTEMPTS))
    }

    /// Runs projected stochastic subgradient descent from 0. Returns the mean iterate, scaled to norm 1.
    fn descend<R: RowView>(
        &self,
        region: &[(R, Label)],
        dim: usize,
        loss: LeakyRelu,
        rng: &mut ChaCha8Rng,
        see: &mut impl FnMut(&[f64]),
    ) -> Result<Vec<f64>, InputError> {
        let NoiseSetting { noise, margin, excess, .. } = self.0.setting;
        let steps = dgt_steps(noise, margin, excess).min(self.0.max_steps);
        let step_size = dgt_step_size(noise, excess, steps);
        let mut w = zeros(1, dim)?;
        let mut mean = zeros(1, dim)?;
        for step in 0..steps {
            checkpoint_at(step as usize);
            see(&w);
            kernels::axpy(1.0 / steps as f64, &w, &mut mean);
            let (x, y) = &region[rng.random_range(0..region.len())];
            let factor = loss.subgradient_factor(x.dot(&w), *y);
            x.add_scaled_to(-step_size * factor, &mut w);
            project(&mut w);
        }
        // If the mean is zero, as after a single step, it is left unchanged.
        let _ = normalise(&mut mean);
        Ok(mean)
    }
}

impl FitSample for Dgt {
    type Model = DgtFit;
    type Error = InputError;

    /// Fits a decision list to labelled points of norm at most 1.
    ///
    /// # Errors
    /// [`InputError::LengthMismatch`], [`InputError::Empty`], [`InputError::OutsideBall`].
    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<DgtFit, InputError> {
        self.build(points, labels, |_| ())
    }
}

/// A threshold, with the numbers of points and errors at or beyond it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Best {
    threshold: f64,
    points: usize,
    errors: usize,
}

/// Finds the threshold t with the smallest error rate on the points (w · x, y) with |w · x| >= t, among the thresholds
/// with at least `min_points` such points. Ties go to the smallest t. The function sorts the points once, and then
/// updates running counts.
fn best_threshold(products: &[(f64, Label)], min_points: usize) -> Best {
    let mut by_size: Vec<(f64, bool)> =
        products.iter().map(|(v, y)| (v.abs(), Label::from_sign(*v) != *y)).collect();
    by_size.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let mut best = Best { threshold: 0.0, points: 0, errors: 0 };
    let mut errors = 0;
    for (rank, &(threshold, wrong)) in by_size.iter().enumerate() {
        errors += usize::from(wrong);
        let points = rank + 1;
        let closed = by_size.get(points).is_none_or(|(next, _)| *next < threshold);
        // Compares the ratios errors/points in integers. For the first threshold, the comparison is 0 <= 0.
        let no_worse = errors as u128 * best.points as u128 <= best.errors as u128 * points as u128;
        if closed && points >= min_points && no_worse {
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

    /// The plain version of `best_threshold`, which visits every point for every threshold.
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

        /// Checks the second statement of the guarantee for arbitrary labels.
        #[test]
        fn a_low_loss_gives_a_region_of_small_error(
            products in prop::collection::vec((-1.0..1.0f64, 0.0..1.0f64), 1..80),
            rate in 0.0..0.6f64,
            leak in 0.01..0.49f64,
            mass in 0.001..0.2f64,
        ) {
            // There are errors at any distance, often on more than a fraction λ of the points.
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
        // Let λ = 0.49 and γε = 0.1. Of 1000 points, 105 are at distance 1 and classified correctly; the others are at
        // distance 0 and misclassified.
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
        // In decreasing order of |w · x|, the predictions are wrong at 0.9, right at 0.8 and at both points with 0.5,
        // and wrong at 0.1.
        let products = [(0.5, P), (-0.9, P), (-0.5, N), (0.8, P), (0.1, N)];
        let best = best_threshold(&products, 1);
        assert_eq!(best, Best { threshold: 0.5, points: 4, errors: 1 });
        assert_eq!(best_threshold(&products, 5), Best { threshold: 0.1, points: 5, errors: 2 });
        // If the error rates are equal, the larger region is chosen.
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

    /// Checks that regions are disjoint, that counts are exact, and that the bounds of the theorem hold.
    fn assert_accounts(fit: &DgtFit, points: &Points, labels: &[Label], problem: [f64; 3]) {
        let [noise, margin, excess] = problem;
        let rounds = fit.rounds();
        let mut seen = vec![(0, 0); rounds.len()];
        let mut left = 0;
        for (x, y) in points.rows().zip(labels) {
            match fit.list().rule_for(x).unwrap() {
                Some(rule) => {
                    seen[rule].0 += 1;
                    seen[rule].1 += usize::from(fit.list().label(x).unwrap() != *y);
                }
                None => left += 1,
            }
        }
        let stated: Vec<_> = rounds.iter().map(|r| (r.points, r.errors)).collect();
        assert_eq!((seen, left), (stated, fit.uncovered()));
        assert!((fit.uncovered() as f64) < excess * labels.len() as f64);
        assert!(rounds.len() as f64 <= dgt_rounds(margin, excess));
        let mut mass = labels.len();
        for round in rounds {
            assert!(round.points as f64 >= margin * excess * mass as f64);
            mass -= round.points;
            if round.loss <= -margin * excess / 2.0 {
                assert!((round.errors as f64) < (noise + excess) * round.points as f64);
            }
        }
        assert_eq!(fit.list().rules().len(), rounds.len());
        for rule in fit.list().rules() {
            assert!((norm(rule.halfspace().normal()) - 1.0).abs() < 1e-12);
        }
        if fit.termination() == Termination::Converged {
            let errors = ErrorCount::count(fit.list(), points, labels).unwrap();
            assert!(errors.rate() < dgt_training_error(noise, excess));
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
            let learner = Dgt::params(noise, 0.2).excess(0.1).check().unwrap();
            let mut longest = 0.0f64;
            let fit = learner.build(&points, &labels, |w| longest = longest.max(norm(w))).unwrap();
            assert!(longest <= 1.0 + 1e-12);
            assert_eq!(fit.termination(), Termination::Converged);
            assert_accounts(&fit, &points, &labels, [noise, 0.2, 0.1]);
            let error = instance.fresh_error(fit.list(), flip);
            assert!(error <= noise + 0.1, "{error}");
        }
    }

    #[test]
    fn labels_of_no_halfspace_are_told() {
        // With random labels, there is a round in which no w has a loss of -γε/2. The list is complete nevertheless.
        let instance = Instance::new(3, 0.3, 1);
        let (points, labels) = instance.sample(400, 2, |_| 0.5);
        let params = || Dgt::params(0.0, 0.3).excess(0.1).seed(1);
        let fit = params().max_steps(50).check().unwrap().fit(&points, &labels).unwrap();
        assert_eq!(fit.termination(), Termination::CapReached { cap: 50 });
        assert!(fit.rounds().iter().any(|r| r.attempts == DGT_ATTEMPTS));
        assert_accounts(&fit, &points, &labels, [0.0, 0.3, 0.1]);
        // If all points are at the origin, one rule with t = 0 covers all of them.
        let zero = Points::new(vec![0.0; 8], 2).unwrap();
        let fit = params().max_steps(50).check().unwrap().fit(&zero, &[P, N, P, P]).unwrap();
        assert_eq!((fit.rounds().len(), fit.rounds()[0].points, fit.rounds()[0].errors), (1, 4, 1));
        assert_eq!((fit.uncovered(), fit.termination()), (0, Termination::CapReached { cap: 50 }));
        let full =
            Dgt::params(0.0, 1.0).excess(0.4).check().unwrap().fit(&zero, &[P, N, P, P]).unwrap();
        assert_eq!(full.termination(), Termination::AssumptionFailed);
    }

    #[test]
    fn dense_and_sparse_agree_to_the_bit_and_rotation_changes_nothing() {
        let instance = Instance::new(9, 0.2, 4);
        let (points, labels) = instance.sample(300, 5, |_| 0.2);
        let learner = Dgt::params(0.2, 0.2).excess(0.1).max_steps(500).seed(1).check().unwrap();
        let fit = learner.fit(&points, &labels).unwrap();
        assert_eq!(learner.fit(&points, &labels).unwrap(), fit);
        let sparse = SparsePoints::from_dense(&points).unwrap();
        assert_eq!(learner.fit(&sparse, &labels).unwrap(), fit);
        let rotation = Rotation::random(9, 6).unwrap();
        let turned = learner.fit(&rotation.apply(&points).unwrap(), &labels).unwrap();
        assert_eq!(turned.rounds().len(), fit.rounds().len());
        for (a, b) in turned.list().rules().iter().zip(fit.list().rules()) {
            let expected = rotation.apply_to_halfspace(b.halfspace()).unwrap();
            assert!(a.halfspace().angle_to(&expected).unwrap() < 1e-9);
            assert!((a.threshold() - b.threshold()).abs() < 1e-9);
        }
    }

    #[test]
    fn bad_input_is_typed() {
        let params = || Dgt::params(0.1, 0.2).excess(0.2).max_steps(5);
        assert!(params().max_steps(0).check().is_err());
        assert!(Dgt::params(0.3, 0.2).excess(0.2).check().is_err());
        assert!(Dgt::params(0.1, 0.0).excess(0.2).check().is_err());
        let learner = params().check().unwrap();
        assert_bad_input(|points, labels| learner.fit(points, labels).map(|_| ()));
    }

    /// At a mean loss of -γε/2 some rule has a small error.
    #[test]
    fn the_target_loss_is_half_the_margin_times_the_excess() {
        let learner = Dgt::params(0.1, 0.5).excess(0.2).check().unwrap();
        assert!((learner.target_loss() + 0.05).abs() < 1e-15);
    }
}
