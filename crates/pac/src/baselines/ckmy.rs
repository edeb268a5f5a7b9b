//! CKMY20: a proper learner for Massart noise, by descent on the slab with the largest loss.

use super::descent::{DescentFit, DescentParams};
use super::leaky_relu::LeakyRelu;
use super::unit_ball::{check_sample, project};
use super::validation_split::{BestIterate, Sample, split};
use crate::NoiseSetting;
use halfspaces_linalg::{
    FitSample, InputError, Label, Params, PointSet, Termination, checkpoint, kernels, margins_into,
    setters, zeros,
};
use std::f64::consts::SQRT_2;

/// The number T = ⌈8(1-λ)²/(γε)²⌉ of steps, with λ = η + ε.
///
/// ```
/// assert_eq!(halfspaces_pac::ckmy_steps(0.25, 1.0, 0.125), 200);
/// ```
#[must_use]
pub fn ckmy_steps(noise: f64, margin: f64, excess: f64) -> u64 {
    (8.0 * (1.0 - (noise + excess)).powi(2) / (margin * excess).powi(2)).ceil() as u64
}

/// The step size s_t = √2/((1-λ)√t) with λ = η + ε, for t = 1, 2, ...
fn ckmy_step_size(noise: f64, excess: f64, step: u64) -> f64 {
    SQRT_2 / ((1.0 - (noise + excess)) * (step as f64).sqrt())
}

/// The bound λ + (1-λ)ε, with λ = η + ε, on the error of a halfspace whose loss is negative on all slabs.
#[cfg(test)]
fn ckmy_error(noise: f64, excess: f64) -> f64 {
    let leak = noise + excess;
    leak + (1.0 - leak) * excess
}

/// Unchecked parameters of [`Ckmy`].
pub type CkmyParams = DescentParams<Ckmy>;

impl CkmyParams {
    setters! {
        /// The fraction of the sample that is held out for validation, above 0 and below 1. Default: 1/4.
        validation_share: f64,
    }
}

impl Params for CkmyParams {
    type Learner = Ckmy;
    type Error = InputError;

    fn check(self) -> Result<Ckmy, InputError> {
        self.setting.check_with_leak()?;
        self.check_rest()?;
        Ok(Ckmy(self))
    }
}

/// CKMY20: a proper learner for Massart noise, by descent on the slab with the largest loss.
///
/// Let λ = η + ε. The run starts at w = 0. Each step considers all slabs {|w · x| <= r} that contain at least a
/// fraction ε of the training part, and selects the slab with the largest mean LeakyReLU_λ(-y (w · x)). If this mean is
/// negative, the run ends. Otherwise the step updates w -= s_t g, where g is the mean subgradient over the slab, and
/// projects w onto the unit ball. The result is the iterate with the smallest validation error.
///
/// *Guarantee.* Let ‖x‖ <= 1 and |w* · x| >= γ for a unit vector w*, and let labels be flipped with probability η(x) <=
/// η.
///
/// - On every slab, the mean loss of w* is E\[(η(x) - λ)|w* · x|\] <= -γε. While the loss of w on the slab is not
///   negative, g·(w - w*) >= γε by convexity, and ‖g‖ <= 1-λ. The ball has diameter 2, so steps s_t = √2/((1-λ)√t) give
///   Σ g·(w - w*) <= 2√2 (1-λ)√T. Hence the run takes at most T = 8(1-λ)²/(γε)² steps ([`ckmy_steps`]).
/// - Once the loss of every slab is negative, the error is at most λ + (1-λ)ε. Proof: let m = |w · x|, let a =
///   1\[wrong\] - λ, and let r0 > 0 be the radius of the smallest slab. The integral of 1/r² over r >= max(m, r0) is
///   min(1/m, 1/r0), so E\[a min(1, m/r0)\] = r0 ∫ E\[a m; m <= r\]/r² dr < 0, and E\[a\] < E\[a (1 - m/r0)⁺\] <= (1-λ)
///   P\[m < r0\] <= (1-λ)ε. (For r0 = 0 the loss is 0, and the run does not end.)
///
/// The second statement holds for any points and labels, in particular for the training part. The first statement holds
/// on the training part if w* has a mean loss of at most -γε on every slab there. The target error is therefore η + 2ε;
/// for a target of η + ε, use ε/2. For a stream, or if there are few examples, use [`Perspectron`](crate::Perspectron),
/// which needs fewer examples.
///
/// *Termination.* The run ends with one of three results:
///
/// - `Converged`: at the last iterate, the loss of every slab is negative, and the training error is below λ + (1-λ)ε.
/// - `AssumptionFailed`: after all T steps, some slab still has a loss of at least 0. Then no unit vector has a loss of
///   at most -γε on every slab that the run selected: the noise is stronger than stated, the margin is smaller than
///   stated, or the sample is too small.
/// - `CapReached`: the cap on steps, which is below T, ended the run.
///
/// *Cost.* Each step takes O(nd + n log n) time on n points. The memory is O(n + d), in addition to a copy of the
/// sample.
///
/// *Source.* CKST24 §1.2 and Table 1 (Õ(γ^-4 ε^-3) samples) for \[CKMY20\]: the LeakyReLU loss is conditioned on a band
/// around w. The following describes FilterTron, the method of \[CKMY20\], from memory. The band is the worst band of
/// mass ε, as in a zero-sum game between a halfspace and a filter. The game is played by projected descent with steps
/// proportional to 1/√t. The leak is λ = η + ε, and there are O(1/(γε)²) steps. The constants, the proofs and the cap
/// are ours. Slabs are compared by their mean losses on one sample, which is used at every step. The random projection
/// that makes the sample complexity independent of d is available as [`Projected`](crate::Projected). Claims: P10.
///
/// ```
/// use halfspaces_data::{Marginal, MarginBall, random_target};
/// use halfspaces_linalg::{Classifier, FitSample, Params, Termination};
/// use halfspaces_pac::Ckmy;
/// let target = random_target(3, 1)?;
/// let points = MarginBall::new(&target, 0.3)?.sample(400, 2)?;
/// let labels = target.label_all(&points)?;
/// let fit = Ckmy::params(0.0, 0.3).check()?.fit(&points, &labels)?;
/// assert_eq!(fit.termination(), Termination::Converged);
/// assert!(fit.validation().rate() <= 0.2);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ckmy(CkmyParams);

impl Ckmy {
    /// Creates parameters for the noise rate `noise`, which is η in [0, 1/2), and the margin `margin`, which is γ in
    /// (0, 1], with η + ε < 1/2. The target error is η + 2ε.
    pub fn params(noise: f64, margin: f64) -> CkmyParams {
        NoiseSetting::new(noise, margin).into()
    }

    /// Fits like [`Ckmy::fit`], and passes every iterate and its slab to `see`.
    fn descend<P: PointSet>(
        &self,
        points: &P,
        labels: &[Label],
        mut see: impl FnMut(&[f64], &Slab),
    ) -> Result<DescentFit, InputError> {
        check_sample(points, labels)?;
        let (training, validation) = split(points, labels, self.0.validation_share, self.0.seed)?;
        let Sample { points: x, labels: y } = &training;
        let NoiseSetting { noise, margin, excess, .. } = self.0.setting;
        let loss = LeakyRelu::new(self.0.setting.leak())?;
        let planned = ckmy_steps(noise, margin, excess);
        let limit = planned.min(self.0.max_steps);
        let min_points = (excess * x.len() as f64).ceil() as usize;

        let mut w = zeros(1, x.dim())?;
        let mut gradient = zeros(1, x.dim())?;
        let mut products = zeros(1, x.len())?;
        let mut best = BestIterate::new(validation, &w);
        let mut steps = 0;
        let (termination, slab) = loop {
            checkpoint();
            margins_into(x, &w, &mut products)?;
            let slab = worst_slab(&products, y, loss, min_points);
            see(&w, &slab);
            if slab.mean_loss < 0.0 {
                break (Termination::Converged, slab);
            }
            if steps == limit {
                let ended = match self.0.termination(planned) {
                    Termination::Converged => Termination::AssumptionFailed,
                    capped => capped,
                };
                break (ended, slab);
            }
            steps += 1;
            let inside = |product: f64| product.abs() <= slab.radius;
            loss.mean_subgradient(x, y, &w, inside, &mut gradient);
            kernels::axpy(-ckmy_step_size(noise, excess, steps), &gradient, &mut w);
            project(&mut w);
            best.offer(steps, &w);
        };
        let (halfspace, chosen, validation) = best.finish()?;
        let last_loss = slab.mean_loss;
        Ok(DescentFit { halfspace, chosen, validation, steps, last_loss, termination })
    }
}

impl FitSample for Ckmy {
    type Model = DescentFit;
    type Error = InputError;

    /// Fits a halfspace to labelled points of norm at most 1.
    ///
    /// # Errors
    /// [`InputError::LengthMismatch`], [`InputError::Empty`], [`InputError::OutsideBall`];
    /// [`InputError::ParameterOutOfRange`] for a single point.
    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<DescentFit, InputError> {
        self.descend(points, labels, |_, _| ())
    }
}

/// The slab of the points with |w · x| <= `radius`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Slab {
    radius: f64,
    mean_loss: f64,
}

/// Finds the slab with the largest mean loss among those with at least `min_points` points. In case of a tie, the
/// smallest slab wins. The points are sorted once by |w · x|, and prefix sums give the means. A slab contains either
/// all points at its radius or none of them.
fn worst_slab(products: &[f64], labels: &[Label], loss: LeakyRelu, min_points: usize) -> Slab {
    let mut by_size: Vec<(f64, f64)> =
        products.iter().zip(labels).map(|(v, y)| (v.abs(), loss.of_example(*v, *y))).collect();
    // A stable sort makes the sums depend only on the sample.
    by_size.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut worst = Slab { radius: 0.0, mean_loss: f64::NEG_INFINITY };
    let mut sum = 0.0;
    for (rank, &(radius, value)) in by_size.iter().enumerate() {
        sum += value;
        let mean_loss = sum / (rank + 1) as f64;
        let closed = by_size.get(rank + 1).is_none_or(|(next, _)| *next > radius);
        if closed && rank + 1 >= min_points && mean_loss > worst.mean_loss {
            worst = Slab { radius, mean_loss };
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorCount;
    use crate::baselines::validation_split::DEFAULT_SHARE;
    use crate::test_data::{Instance, assert_bad_input, only_far};
    use halfspaces_data::Rotation;
    use halfspaces_linalg::{Halfspace, Points, SparsePoints, norm};
    use proptest::prelude::*;

    /// The plain version of `worst_slab`, which visits every point for every radius.
    fn plain_worst_slab(products: &[f64], labels: &[Label], loss: LeakyRelu, least: usize) -> Slab {
        let mut worst = Slab { radius: 0.0, mean_loss: f64::NEG_INFINITY };
        for radius in products.iter().map(|v| v.abs()) {
            let inside = products.iter().zip(labels).filter(|(v, _)| v.abs() <= radius);
            let values: Vec<f64> = inside.map(|(v, y)| loss.of_example(*v, *y)).collect();
            let mean_loss = values.iter().sum::<f64>() / values.len() as f64;
            if values.len() >= least && mean_loss > worst.mean_loss {
                worst = Slab { radius, mean_loss };
            }
        }
        worst
    }

    proptest! {
        #[test]
        fn one_sort_finds_the_worst_slab(
            examples in prop::collection::vec(
                (prop_oneof![-1.0..1.0f64, Just(0.0), Just(0.5), Just(-0.5)], any::<bool>()), 1..60,
            ),
            share in 0.0..1.0f64,
        ) {
            let (products, labels): (Vec<f64>, Vec<Label>) = examples
                .into_iter()
                .map(|(v, positive)| (v, if positive { Label::Positive } else { Label::Negative }))
                .unzip();
            let loss = LeakyRelu::new(0.3).unwrap();
            let least = (share * products.len() as f64).ceil() as usize;
            let slab = worst_slab(&products, &labels, loss, least);
            let plain = plain_worst_slab(&products, &labels, loss, least);
            prop_assert!((slab.mean_loss - plain.mean_loss).abs() < 1e-14);
            let count = products.iter().filter(|v| v.abs() <= slab.radius).count();
            prop_assert!(count >= least);
            // Means that are equal in exact arithmetic may differ by rounding errors.
            let inside = products.iter().zip(&labels).filter(|(v, _)| v.abs() <= slab.radius);
            let sum: f64 = inside.map(|(v, y)| loss.of_example(*v, *y)).sum();
            prop_assert!((sum / count as f64 - plain.mean_loss).abs() < 1e-14);
        }

        /// Checks the second statement of the guarantee for arbitrary labels.
        #[test]
        fn without_a_bad_slab_the_error_is_small(
            examples in prop::collection::vec((0.0..1.0f64, 0.0..1.0f64), 1..80),
            rate in 0.0..0.5f64,
            noise in 0.0..0.3f64,
            excess in 0.01..0.19f64,
        ) {
            let loss = LeakyRelu::new(noise + excess).unwrap();
            let n = examples.len();
            // Errors are more frequent at small products, and the slabs must detect these errors.
            let label = |m: f64, u: f64| Label::from_sign(u - 2.0 * rate * (1.0 - m));
            let (products, labels): (Vec<f64>, Vec<Label>) =
                examples.into_iter().map(|(m, u)| (m, label(m, u))).unzip();
            let least = (excess * n as f64).ceil() as usize;
            let errors = labels.iter().filter(|y| **y == Label::Negative).count();
            if worst_slab(&products, &labels, loss, least).mean_loss < 0.0 {
                prop_assert!((errors as f64) < ckmy_error(noise, excess) * n as f64);
            }
        }
    }

    #[test]
    fn the_error_without_a_bad_slab_is_nearly_reached() {
        // Here ε = 0.1 and λ = 0.3, and there are 1000 points. At distance 0 there is one point fewer than a slab
        // needs, and all of these points are misclassified. The other points are at distance 1, and just under a
        // fraction λ of them are misclassified.
        let loss = LeakyRelu::new(0.3).unwrap();
        let labels = |hidden: usize| {
            let products: Vec<f64> =
                (0..1000).map(|i| if i < hidden { 1e-9 } else { 1.0 }).collect();
            let wrong = hidden + 270;
            let labels =
                (0..1000).map(|i| if i < wrong { Label::Negative } else { Label::Positive });
            (products, labels.collect::<Vec<Label>>(), wrong)
        };
        let (products, some_wrong, errors) = labels(99);
        assert!(worst_slab(&products, &some_wrong, loss, 100).mean_loss < 0.0);
        assert!((errors as f64) < 1000.0 * ckmy_error(0.2, 0.1) && errors == 369);
        let (products, more_wrong, _) = labels(100);
        assert_eq!(worst_slab(&products, &more_wrong, loss, 100).radius, 1e-9);
    }

    #[test]
    fn a_slab_takes_all_points_at_its_radius() {
        let [n, p] = [Label::Negative, Label::Positive];
        let loss = LeakyRelu::new(0.25).unwrap();
        // In the order of the radius, the losses are 0.15 (wrong); then 0.3 (wrong) and -0.1 (right), both at 0.4; then
        // -0.2 (right).
        let (products, labels) = ([0.8, -0.4, 0.2, 0.4], [p, p, n, p]);
        let slab = worst_slab(&products, &labels, loss, 1);
        assert!((slab.radius, (slab.mean_loss - 0.15).abs() < 1e-15) == (0.2, true));
        // With at least two points, the slab contains both points at 0.4, so the mean is 0.35/3.
        let slab = worst_slab(&products, &labels, loss, 2);
        assert!((slab.radius, (slab.mean_loss - 0.35 / 3.0).abs() < 1e-15) == (0.4, true));
    }

    #[test]
    fn constants_by_hand() {
        assert_eq!(ckmy_steps(0.25, 0.5, 0.25), 128);
        assert_eq!(ckmy_step_size(0.25, 0.25, 2), 2.0);
        assert!((ckmy_error(0.3, 0.1) - 0.46).abs() < 1e-15);
    }

    #[test]
    fn what_no_halfspace_explains_is_no_cap() {
        // All points are identical, and any prediction disagrees with half of their labels, so some slab always has a
        // loss of at least 0.
        let points = Points::new(vec![1.0; 40], 1).unwrap();
        let labels: Vec<Label> =
            (0..40).map(|i| Label::from_sign(f64::from(i % 2) - 0.5)).collect();
        let fit = |max_steps| {
            let params = Ckmy::params(0.1, 1.0).excess(0.2).max_steps(max_steps);
            let fit = params.check().unwrap().fit(&points, &labels).unwrap();
            (fit.steps(), fit.termination())
        };
        let planned = ckmy_steps(0.1, 1.0, 0.2);
        assert_eq!(fit(10), (10, Termination::CapReached { cap: 10 }));
        assert_eq!(fit(planned), (planned, Termination::AssumptionFailed));
        assert_eq!(fit(planned + 1), (planned, Termination::AssumptionFailed));
    }

    #[test]
    fn steps_worked_by_hand() {
        // At w = 0 the prediction is +1 and every slab has loss 0, so the run does not stop. There g = 1-λ and the step
        // size is √2/(1-λ), so w becomes -√2, which is projected to -1. At -1 the loss is -λ.
        let points = Points::new(vec![1.0; 4], 1).unwrap();
        let learner = Ckmy::params(0.2, 0.5).excess(0.05).check().unwrap();
        let mut seen = Vec::new();
        let see = |w: &[f64], slab: &Slab| seen.push((w[0], slab.radius, slab.mean_loss));
        let fit = learner.descend(&points, &[Label::Negative; 4], see).unwrap();
        assert_eq!(seen, [(0.0, 0.0, 0.0), (-1.0, 1.0, -0.25)]);
        assert_eq!((fit.steps(), fit.chosen(), fit.termination()), (1, 1, Termination::Converged));
    }

    #[test]
    fn massart_noise_is_learnt_to_its_rate() {
        // The run uses ε = 0.05, for an error of at most η + 0.1.
        let skewed = Instance::skewed;
        for (noise, seed, from, instance) in [
            (0.0, 1, 0.0, skewed(5, 0.2, 1)),
            (0.2, 2, 0.0, Instance::new(5, 0.2, 2)),
            (0.2, 3, 0.0, skewed(5, 0.2, 3)),
            (0.3, 4, 0.25, skewed(5, 0.2, 4)),
        ] {
            let flip = only_far(noise, from);
            let (points, labels) = instance.sample(3000, 10 + seed, &flip);
            let learner = Ckmy::params(noise, 0.2).excess(0.05).max_steps(300).check().unwrap();
            let (training, _) = split(&points, &labels, DEFAULT_SHARE, 0).unwrap();
            let least = (training.labels.len() as f64 / 20.0).ceil() as usize;
            let loss = LeakyRelu::new(noise + 0.05).unwrap();
            let mut longest = 0.0f64;
            let mut last = Vec::new();
            let see = |w: &[f64], slab: &Slab| {
                let values = halfspaces_linalg::margins(&training.points, w).unwrap();
                assert_eq!(*slab, worst_slab(&values, &training.labels, loss, least));
                longest = longest.max(norm(w));
                last = w.to_vec();
            };
            let fit = learner.descend(&points, &labels, see).unwrap();
            assert!(longest <= 1.0 + 1e-12);
            let error = instance.fresh_error(fit.halfspace(), flip);
            assert!(error <= noise + 0.1, "{error}");
            if fit.termination() == Termination::Converged {
                let last = Halfspace::new(last).unwrap();
                let errors = ErrorCount::count(&last, &training.points, &training.labels).unwrap();
                assert!(errors.rate() < ckmy_error(noise, 0.05));
                assert!(fit.last_loss() < 0.0);
            }
        }
    }

    #[test]
    fn a_run_on_clean_labels_ends_within_its_steps() {
        // Without noise, w* has a loss of at most -γε on every slab of the sample itself.
        let instance = Instance::new(4, 0.4, 1);
        let (points, labels) = instance.sample(300, 2, |_| 0.0);
        let learner = Ckmy::params(0.0, 0.4).excess(0.1).check().unwrap();
        let mut progress = Vec::new();
        let mut before: Option<(Vec<f64>, Slab)> = None;
        let see = |w: &[f64], slab: &Slab| {
            if let Some((w, slab)) = before.take() {
                progress.push((w, slab));
            }
            before = Some((w.to_vec(), *slab));
        };
        let fit = learner.descend(&points, &labels, see).unwrap();
        assert_eq!(fit.termination(), Termination::Converged);
        assert!(fit.steps() >= 1 && fit.steps() <= ckmy_steps(0.0, 0.4, 0.1));
        assert_eq!(progress.len() as u64, fit.steps());
        // Every step satisfies g·(w - w*) >= γε.
        let (training, _) = split(&points, &labels, DEFAULT_SHARE, 0).unwrap();
        let loss = LeakyRelu::new(0.1).unwrap();
        let mut g = vec![0.0; 4];
        for (w, slab) in progress {
            let inside = |v: f64| v.abs() <= slab.radius;
            loss.mean_subgradient(&training.points, &training.labels, &w, inside, &mut g);
            let gap = kernels::dot(&g, &w) - kernels::dot(&g, instance.target.normal());
            assert!(gap >= 0.4 * 0.1 - 1e-12, "{gap}");
        }
    }

    #[test]
    fn dense_and_sparse_agree_to_the_bit_and_rotation_changes_nothing() {
        let instance = Instance::new(9, 0.2, 4);
        let (points, labels) = instance.sample(300, 5, |_| 0.1);
        let learner = Ckmy::params(0.1, 0.2).excess(0.05).max_steps(50).seed(1).check().unwrap();
        let fit = learner.fit(&points, &labels).unwrap();
        assert!(fit.steps() > 1);
        assert_eq!(learner.fit(&points, &labels).unwrap(), fit);
        let sparse = SparsePoints::from_dense(&points).unwrap();
        assert_eq!(learner.fit(&sparse, &labels).unwrap(), fit);
        let rotation = Rotation::random(9, 6).unwrap();
        let turned = learner.fit(&rotation.apply(&points).unwrap(), &labels).unwrap();
        assert_eq!((turned.chosen(), turned.validation()), (fit.chosen(), fit.validation()));
        let expected = rotation.apply_to_halfspace(fit.halfspace()).unwrap();
        assert!(turned.halfspace().angle_to(&expected).unwrap() < 1e-9);
    }

    #[test]
    fn bad_input_is_typed() {
        let params = || Ckmy::params(0.1, 0.2).excess(0.2).max_steps(5);
        assert!(params().max_steps(0).check().is_err());
        assert!(params().validation_share(0.0).check().is_err());
        assert!(Ckmy::params(0.3, 0.2).excess(0.2).check().is_err());
        let learner = params().check().unwrap();
        assert_bad_input(|points, labels| learner.fit(points, labels).map(|_| ()));
    }
}
