//! DGT19: an improper learner for Massart noise, a decision list of halfspaces.

use super::decision_list::{DecisionListOfHalfspaces, ThresholdRule};
use super::descent::DescentParams;
use super::leaky_relu::LeakyRelu;
use super::unit_ball::{check_sample, project};
use crate::NoiseSetting;
use crate::saved::CheckSaved;
use halfspaces_linalg::{
    FitSample, Halfspace, InputError, Label, Params, PointSet, RngStream, RowView, Termination,
    classify_by, getters, kernels, load_checked, load_params, normalise, rng_for, zeros,
};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;

/// Descent runs per round: each comes to its loss with probability at least 1/2, so all of them miss
/// with probability at most 1/1024.
pub const DGT_ATTEMPTS: u32 = 10;

/// T = ⌈16(1-λ)²/(γε)²⌉ with λ = η + ε, the steps of one descent run.
///
/// ```
/// assert_eq!(halfspaces_pac::dgt_steps(0.25, 1.0, 0.125), 400);
/// ```
#[must_use]
pub fn dgt_steps(noise: f64, margin: f64, excess: f64) -> u64 {
    (16.0 * (1.0 - (noise + excess)).powi(2) / (margin * excess).powi(2)).ceil() as u64
}

/// s = 1/((1-λ)√T) with λ = η + ε.
#[must_use]
pub fn dgt_step_size(noise: f64, excess: f64, steps: u64) -> f64 {
    1.0 / ((1.0 - (noise + excess)) * (steps as f64).sqrt())
}

/// ln(1/ε)/(γε) + 1: no run has more rounds, as each leaves at most a share 1 - γε.
#[must_use]
pub fn dgt_rounds(margin: f64, excess: f64) -> f64 {
    -excess.ln() / (margin * excess) + 1.0
}

/// λ + ε(1/2 - λ) with λ = η + ε: the training error is below it where every round came to its loss.
#[must_use]
pub fn dgt_training_error(noise: f64, excess: f64) -> f64 {
    let leak = noise + excess;
    leak + excess * (0.5 - leak)
}

/// How one rule of the list was found.
///
/// ```
/// use halfspaces_linalg::{FitSample, Label, Params, Points};
/// use halfspaces_pac::Dgt;
/// // λ = η + ε = 1/4: where w = 1 is right everywhere its mean loss is -λ times the mean of |x|.
/// let points = Points::new(vec![0.5, -0.5, 1.0, -1.0], 1)?;
/// let labels = [Label::Positive, Label::Negative, Label::Positive, Label::Negative];
/// let fit = Dgt::params(0.0, 0.5).excess(0.25).check()?.fit(&points, &labels)?;
/// let round = &fit.rounds()[0];
/// assert_eq!((round.points, round.errors), (4, 0));
/// assert!((round.loss + 0.25 * 0.75).abs() < 1e-12);
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

/// What [`Dgt`] returns: a decision list, and how each rule was found.
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
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DgtFit {
    list: DecisionListOfHalfspaces,
    rounds: Vec<DgtRound>,
    uncovered: usize,
    termination: Termination,
}

load_checked!(DgtFit {
    list: DecisionListOfHalfspaces,
    rounds: Vec<DgtRound>,
    uncovered: usize,
    termination: Termination,
});

impl CheckSaved for DgtFit {
    fn check_saved(&self) -> Result<(), InputError> {
        let DgtFit { list, rounds, uncovered, termination } = self;
        let check = InputError::check_state;
        check(list.rules().len() == rounds.len(), "one round per rule")?;
        let counted =
            |r: &DgtRound| r.errors <= r.points && (1..=DGT_ATTEMPTS).contains(&r.attempts);
        check(
            rounds.iter().all(counted),
            "a round has no more errors than points, and 1 to 10 attempts",
        )?;
        let finite = |r: &DgtRound| r.loss.is_finite();
        check(rounds.iter().all(finite), "every loss is a number")?;
        let total = rounds.iter().map(|r| r.points).try_fold(*uncovered, usize::checked_add);
        check(
            total.is_some_and(|n| n > 0),
            "at least one training point, and no more than memory holds",
        )?;
        let low = rounds.iter().all(|r| r.loss <= 0.0);
        let gave_up = rounds.iter().any(|r| r.attempts == DGT_ATTEMPTS);
        let possible = match termination {
            Termination::Converged => low,
            Termination::CapReached { cap } => *cap > 0 && gave_up,
            Termination::AssumptionFailed => gave_up,
            Termination::Stalled | Termination::ExamplesEnded => false,
        };
        check(possible, "this termination does not go with these rounds")
    }
}

impl DgtFit {
    getters! {
        /// The decision list: what is learned.
        list: &DecisionListOfHalfspaces,

        /// How each of its rules was found.
        rounds: &[DgtRound],

        /// Training points that no rule covers: the default label answers there.
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

/// DGT19: an improper learner for Massart noise, a decision list of halfspaces.
///
/// λ = η + ε, S the sample. While |S| >= εn: by projected stochastic descent, a unit w with mean
/// LeakyReLU_λ(-y (w · x)) over S at most -γε/2; of all thresholds t with at least a share γε of S in
/// {|w · x| >= t}, the one of least error there, the smallest among equals; emit (w, t), and delete that
/// region from S. What is left gets its commonest label.
///
/// *Guarantee.* Let ‖x‖ <= 1, |w* · x| >= γ for a unit w*, and labels be flipped with η(x) <= η.
///
/// - Over any region, w* has mean loss E\[(η(x) - λ)|w* · x|\] <= -γε. T = ⌈16(1-λ)²/(γε)²⌉ descent
///   steps s = 1/((1-λ)√T) from 0 on examples drawn from S have a mean iterate within γε/4 of the
///   least loss in expectation, so within γε/2 with probability at least 1/2; up to
///   [`DGT_ATTEMPTS`] runs are made ([`dgt_steps`], [`dgt_step_size`]). Scaling it to norm 1 can only
///   lower a negative loss.
/// - If w has loss at most -γε/2 over S, the region emitted errs on less than a share λ of its points.
///   Proof: with m = |w · x| <= 1 and a = 1\[wrong\] - λ the loss is ∫ E\[a; m >= t\] dt over \[0, 1\];
///   were E\[a; m >= t\] >= 0 for all t with P\[m >= t\] >= γε, the rest would give at least
///   -λγε > -γε/2.
/// - So the training error is below λ + ε(1/2 - λ) ([`dgt_training_error`]), after at most
///   ln(1/ε)/(γε) + 1 rounds ([`dgt_rounds`]).
///
/// The second holds for any points and labels; the first for a sample on which w* has its loss. Where a
/// halfspace is wanted, or few examples are at hand, use [`Perspectron`](crate::Perspectron) or [`Ckmy`](crate::Ckmy).
///
/// *Ends.* `Converged`: every round came to a loss of -γε/2, and the training error is below
/// [`dgt_training_error`]. `AssumptionFailed`: some round did not in [`DGT_ATTEMPTS`] full runs: the noise is
/// stronger, the margin smaller, or the sample too small. `CapReached`: some round did not, and the cap on
/// the steps of a descent is below T. Either way the list is whole.
///
/// *Cost.* O(T d) per descent (stored values, for sparse points) and O(nd + n log n) per round; O(n + d)
/// memory beside the list.
///
/// *Source.* CKST24, Table 1 (Õ(γ^-3 ε^-5) samples) for \[DGT19\], whose Claim 2.1 it quotes. The
/// loop, λ, the accuracy γε/2 and the mass γε are those of that paper, from memory; the proofs
/// above, the number of steps, the repeated runs, the cap and the commonest label as default are ours. One
/// sample serves every round, where \[DGT19\] draws afresh. Claims: P10, P10o.
///
/// ```
/// use halfspaces_data::{Marginal, MarginBall, random_target};
/// use halfspaces_linalg::{Classifier, FitSample, Params};
/// use halfspaces_pac::{Dgt, ErrorCount, dgt_training_error};
/// let target = random_target(3, 1)?;
/// let points = MarginBall::new(&target, 0.3)?.sample(400, 2)?;
/// let labels = target.label_all(&points)?;
/// let fit = Dgt::params(0.0, 0.3).check()?.fit(&points, &labels)?;
/// let errors = ErrorCount::count(&fit, &points, &labels)?;
/// assert!(errors.rate() < dgt_training_error(0.0, 0.1));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Dgt(DgtParams);

load_params!(Dgt: DgtParams);

impl Dgt {
    /// Starts from the `noise` η in [0, 1/2) and the `margin` γ in (0, 1], with η + ε < 1/2: the aim is
    /// an error of η + 3ε/2.
    pub fn params(noise: f64, margin: f64) -> DgtParams {
        NoiseSetting::new(noise, margin).into()
    }

    /// [`Dgt::fit`], showing every iterate to `see`.
    fn build<P: PointSet>(
        &self,
        points: &P,
        labels: &[Label],
        mut see: impl FnMut(&[f64]),
    ) -> Result<DgtFit, InputError> {
        check_sample(points, labels)?;
        let NoiseSetting { noise, margin, excess, .. } = self.0.setting;
        let mut rng = rng_for(RngStream::DgtDescent, self.0.seed);
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
        let fit = DgtFit { list, rounds, uncovered: region.len(), termination };
        Ok(fit.assured("a run counts its rounds and their points"))
    }

    /// -γε/2, the loss at which a region is sure to be found.
    fn target_loss(&self) -> f64 {
        -0.5 * self.0.setting.margin * self.0.setting.excess
    }

    /// Descends until a run comes to [`Dgt::target_loss`]: the best w, its loss and the runs made.
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

    /// One run of projected stochastic descent from 0: its mean iterate, scaled to norm 1.
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
        for _ in 0..steps {
            see(&w);
            kernels::axpy(1.0 / steps as f64, &w, &mut mean);
            let (x, y) = &region[rng.random_range(0..region.len())];
            let factor = loss.subgradient_factor(x.dot(&w), *y);
            x.add_scaled_to(-step_size * factor, &mut w);
            project(&mut w);
        }
        // The zero vector, as after a single step, stays as it is.
        let _ = normalise(&mut mean);
        Ok(mean)
    }
}

impl FitSample for Dgt {
    type Model = DgtFit;
    type Error = InputError;

    /// Fits labelled points of norm at most 1.
    ///
    /// # Errors
    /// [`InputError::LengthMismatch`], [`InputError::Empty`];
    /// [`InputError::OutsideBall`].
    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<DgtFit, InputError> {
        self.build(points, labels, |_| ())
    }
}

/// A threshold, and how many points lie beyond it, right or wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Best {
    threshold: f64,
    points: usize,
    errors: usize,
}

/// Of the thresholds with at least `min_points` points (w · x, y) beyond, |w · x| >= t, the one of least
/// error there, the smallest among equals: one sort, then running counts.
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
        // errors/points <= best, in integers; the first has 0 <= 0.
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
        // Coin flips: no w has loss -γε/2 for long, the list is still whole.
        let instance = Instance::new(3, 0.3, 1);
        let (points, labels) = instance.sample(400, 2, |_| 0.5);
        let params = || Dgt::params(0.0, 0.3).excess(0.1).seed(1);
        let fit = params().max_steps(50).check().unwrap().fit(&points, &labels).unwrap();
        assert_eq!(fit.termination(), Termination::CapReached { cap: 50 });
        assert!(fit.rounds().iter().any(|r| r.attempts == DGT_ATTEMPTS));
        assert_accounts(&fit, &points, &labels, [0.0, 0.3, 0.1]);
        // Points without a direction: one rule with t = 0 takes them all.
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

    #[cfg(feature = "serde")]
    #[test]
    fn saved_fits_are_checked() {
        let (points, labels) = Instance::new(2, 0.3, 4).sample(60, 5, |_| 0.0);
        let learner = Dgt::params(0.1, 0.3).excess(0.2).check().unwrap();
        let fit = learner.fit(&points, &labels).unwrap();
        assert_eq!(fit.termination(), Termination::Converged);
        let text = serde_json::to_string(&fit).unwrap();
        assert_eq!(serde_json::from_str::<DgtFit>(&text).unwrap(), fit);
        type Change = fn(&mut DgtFit);
        let changes: [Change; 9] = [
            |s| {
                s.rounds.iter_mut().for_each(|r| (r.points, r.errors) = (0, 0));
                s.uncovered = 0;
            },
            |s| s.rounds.clear(),
            |s| s.rounds[0].errors = s.rounds[0].points + 1,
            |s| s.rounds[0].attempts = 0,
            |s| s.rounds[0].attempts = DGT_ATTEMPTS + 1,
            |s| s.rounds[0].loss = f64::NAN,
            |s| s.rounds[0].loss = 0.1,
            |s| s.uncovered = usize::MAX,
            |s| s.termination = Termination::ExamplesEnded,
        ];
        crate::saved::assert_refused(&fit, changes);
    }
}
