//! DDK+23: projected subgradient descent on the LeakyReLU loss, for random classification noise.

use super::descent::{DescentFit, DescentParams};
use super::leaky_relu::LeakyRelu;
use super::unit_ball::{check_sample, project};
use super::validation_split::{BestIterate, split};
use crate::NoiseSetting;
use halfspaces_linalg::{
    FitSample, InputError, Label, Params, PointSet, RowView, checkpoint, kernels, setters, zeros,
};

/// The number T = ⌈16(1-η)²/(γε)²⌉ of steps.
///
/// ```
/// assert_eq!(halfspaces_pac::ddk_steps(0.0, 0.5, 0.5), 256);
/// ```
#[must_use]
pub fn ddk_steps(noise: f64, margin: f64, excess: f64) -> u64 {
    (16.0 * (1.0 - noise).powi(2) / (margin * excess).powi(2)).ceil() as u64
}

/// The step size s = 2/((1-η)√(T+1)), where T is the number of steps.
fn ddk_step_size(noise: f64, steps: u64) -> f64 {
    2.0 / ((1.0 - noise) * (steps as f64 + 1.0).sqrt())
}

/// The bound 2(1-η)/(γ√(T+1)) on the excess error (1-2η)D, averaged over the T + 1 iterates. It does not include the
/// term due to label noise.
#[cfg(test)]
fn ddk_excess(noise: f64, margin: f64, steps: u64) -> f64 {
    2.0 * (1.0 - noise) / (margin * (steps as f64 + 1.0).sqrt())
}

/// Unchecked parameters of [`Ddk`].
pub type DdkParams = DescentParams<Ddk>;

impl DdkParams {
    setters! {
        /// The fraction of the sample that is held out for validation, above 0 and below 1. Default: 1/4.
        validation_share: f64,
    }
}

impl Params for DdkParams {
    type Learner = Ddk;
    type Error = InputError;

    fn check(self) -> Result<Ddk, InputError> {
        self.setting.check()?;
        self.check_rest()?;
        Ok(Ddk(self))
    }
}

/// DDK+23: projected subgradient descent on the LeakyReLU loss, for random classification noise (RCN).
///
/// The run starts at w = 0 and takes T steps. Each step updates w -= s g, where g is the mean of ½((1-2η) sign(w · x) -
/// y) x over the training part, and projects w onto the unit ball. The result is the iterate with the smallest
/// validation error among all T + 1 iterates.
///
/// *Guarantee.* Let ‖x‖ <= 1 and |w* · x| >= γ for a unit vector w*. Let each label be sign(w* · x), flipped with
/// probability exactly η < 1/2. Let D(w) be the fraction of training points on which w disagrees with w*. Then the
/// error of w under fresh labels exceeds η by (1-2η)D. Let z be the mean of ((1-2η) sign(w* · x) - y) x; then E‖z‖² <=
/// 4η(1-η)/n. For every w in the ball, g·(w - w*) >= γ(1-2η)D(w) - ‖z‖, because where w and w* disagree, (w - w*)·x has
/// the sign of w · x and the absolute value |w · x| + |w* · x|. Also ‖g‖ <= 1-η, and the ball has diameter 2. So T + 1
/// iterates with s = 2/((1-η)√(T+1)) have a mean excess (1-2η)D of at most 2(1-η)/(γ√(T+1)) + ‖z‖/γ. The first term is
/// at most ε/2 for T = ⌈16(1-η)²/(γε)²⌉ ([`ddk_steps`]). Under Massart noise there is no guarantee; use
/// [`Perspectron`](crate::Perspectron) instead.
///
/// *Normalisation.* The step size is for the gradient with the factor ½, which has length at most 1-η. Without this
/// factor the gradient is twice as long, and the step size must be half as large.
///
/// *Termination.* The result is `Converged` after all T steps, and `CapReached` if the cap on steps is below T. In the
/// second case, the step size is computed for the actual number of steps, and the bound is 2(1-η)/(γ√(T+1)) with that
/// number in place of T.
///
/// *Cost.* Each step takes O(nd) time on n points; for sparse points, nd is the number of stored values. The memory is
/// O(d), in addition to a copy of the sample.
///
/// *Source.* CKST24, Table 1, names \[DDK+23\] and its sample complexity Õ(1/(γε)²). The implementation uses exactly
/// the T and the step size above. The proof above and the cap are ours. The random projection of \[DDK+23\], which
/// makes the sample complexity independent of d, is available as [`Projected`](crate::Projected). Claims: P10.
///
/// ```
/// use halfspaces_data::{Marginal, MarginBall, random_target};
/// use halfspaces_linalg::{Classifier, FitSample, Params, Termination};
/// use halfspaces_pac::{Ddk, ddk_steps};
/// let target = random_target(3, 1)?;
/// let points = MarginBall::new(&target, 0.3)?.sample(400, 2)?;
/// let labels = target.label_all(&points)?;
/// let params = Ddk::params(0.0, 0.3).excess(0.5);
/// let fit = params.check()?.fit(&points, &labels)?;
/// assert_eq!((fit.steps(), fit.termination()), (ddk_steps(0.0, 0.3, 0.5), Termination::Converged));
/// assert!(fit.validation().rate() <= 0.5);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ddk(DdkParams);

impl Ddk {
    /// Creates parameters for the noise rate `noise`, which is η in [0, 1/2), and the margin `margin`, which is γ in
    /// (0, 1]. The target error is η + ε.
    pub fn params(noise: f64, margin: f64) -> DdkParams {
        NoiseSetting::new(noise, margin).into()
    }

    /// Fits like [`Ddk::fit`], and passes every iterate to `see`.
    fn descend<P: PointSet>(
        &self,
        points: &P,
        labels: &[Label],
        mut see: impl FnMut(&[f64]),
    ) -> Result<DescentFit, InputError> {
        check_sample(points, labels)?;
        let (training, validation) = split(points, labels, self.0.validation_share, self.0.seed)?;
        let (x, y) = (&training.points, &training.labels);
        let NoiseSetting { noise, margin, excess, .. } = self.0.setting;
        let loss = LeakyRelu::new(noise)?;
        let planned = ddk_steps(noise, margin, excess);
        let steps = planned.min(self.0.max_steps);
        let step_size = ddk_step_size(noise, steps);

        let mut w = zeros(1, points.dim())?;
        let mut gradient = zeros(1, points.dim())?;
        let mut best = BestIterate::new(validation, &w);
        see(&w);
        for step in 1..=steps {
            checkpoint();
            let everywhere = |_| true;
            loss.mean_subgradient(x, y, &w, everywhere, &mut gradient);
            kernels::axpy(-step_size, &gradient, &mut w);
            project(&mut w);
            best.offer(step, &w);
            see(&w);
        }
        let last_loss = loss.mean(x.rows().zip(y).map(|(x, y)| (x.dot(&w), *y)));
        let (halfspace, chosen, validation) = best.finish()?;
        let termination = self.0.termination(planned);
        Ok(DescentFit { halfspace, chosen, validation, steps, last_loss, termination })
    }
}

impl FitSample for Ddk {
    type Model = DescentFit;
    type Error = InputError;

    /// Fits a halfspace to labelled points of norm at most 1.
    ///
    /// # Errors
    /// [`InputError::LengthMismatch`], [`InputError::Empty`], [`InputError::OutsideBall`];
    /// [`InputError::ParameterOutOfRange`] for a single point.
    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<DescentFit, InputError> {
        self.descend(points, labels, |_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::validation_split::DEFAULT_SHARE;
    use crate::test_data::{Instance, assert_bad_input};
    use halfspaces_data::Rotation;
    use halfspaces_linalg::{Classifier, Points, SparsePoints, Termination, norm};

    #[test]
    fn constants_by_hand() {
        assert_eq!(ddk_steps(0.5, 1.0, 1.0), 4);
        assert_eq!(ddk_step_size(0.2, 24), 0.5);
        assert_eq!(ddk_excess(0.0, 0.5, 15), 1.0);
        // With T steps, the excess is at most ε/2; with a quarter of these steps it is larger.
        let steps = ddk_steps(0.1, 0.25, 0.25);
        assert!(ddk_excess(0.1, 0.25, steps) <= 0.125);
        assert!(ddk_excess(0.1, 0.25, steps / 4) > 0.125);
    }

    #[test]
    fn steps_worked_by_hand() {
        // Two identical points have the label -1. At w = 0, where the prediction is +1, g = (1-η) x; afterwards g =
        // -(-η) x. With η = 0.2 and 99 steps the step size is 2/(0.8 · 10) = 1/4, so w = -1/5, -1/4, -3/10, ...
        let points = Points::new(vec![1.0, 1.0], 1).unwrap();
        let learner = Ddk::params(0.2, 0.01).excess(0.01).max_steps(99).check().unwrap();
        let mut iterates = Vec::new();
        learner.descend(&points, &[Label::Negative; 2], |w| iterates.push(w[0])).unwrap();
        assert_eq!(iterates.len(), 100);
        for (found, expected) in iterates.iter().zip([0.0, -0.2, -0.25, -0.3]) {
            assert!((found - expected).abs() < 1e-15);
        }
        assert_eq!(iterates[99], -1.0);
    }

    #[test]
    fn the_proof_holds_step_by_step() {
        for (noise, margin, instance) in [
            (0.0, 0.5, Instance::new(5, 0.5, 1)),
            (0.0, 0.2, Instance::skewed(5, 0.2, 1)),
            (0.2, 0.2, Instance::skewed(5, 0.2, 1)),
        ] {
            let (points, labels) = instance.sample(1000, 2, |_| noise);
            let learner =
                Ddk::params(noise, margin).excess(0.01).max_steps(400).seed(3).check().unwrap();
            let mut iterates = Vec::new();
            let fit = learner.descend(&points, &labels, |w| iterates.push(w.to_vec())).unwrap();
            assert_eq!(
                (fit.steps(), fit.termination()),
                (400, Termination::CapReached { cap: 400 })
            );

            let (training, _) = split(&points, &labels, DEFAULT_SHARE, 3).unwrap();
            let (x, y, n) = (&training.points, &training.labels, training.labels.len() as f64);
            let target = instance.target.normal();
            let clean = instance.target.label_all(x).unwrap();
            let mut z = vec![0.0; 5];
            for ((x, y), s) in x.rows().zip(y).zip(&clean) {
                x.add_scaled_to(((1.0 - 2.0 * noise) * s.as_f64() - y.as_f64()) / n, &mut z);
            }
            let against = |g: &[f64], w: &[f64]| kernels::dot(g, w) - kernels::dot(g, target);
            let mut g = vec![0.0; 5];
            let mut excess = 0.0;
            for w in &iterates {
                // The certificate is (1-2η) times the mean of |w·x| + |w*·x| where w and w* disagree, plus the
                // contribution of the noise.
                let (mut sizes, mut share) = (0.0, 0.0);
                for (x, s) in x.rows().zip(&clean) {
                    if Label::from_sign(x.dot(w)) != *s {
                        sizes += (x.dot(w).abs() + x.dot(target).abs()) / n;
                        share += 1.0 / n;
                    }
                }
                let certificate = (1.0 - 2.0 * noise) * sizes + 0.5 * against(&z, w);
                LeakyRelu::new(noise).unwrap().mean_subgradient(x, y, w, |_| true, &mut g);
                assert!((against(&g, w) - certificate).abs() < 1e-12);
                let floor = margin * (1.0 - 2.0 * noise) * share - norm(&z);
                assert!(certificate >= floor - 1e-12);
                excess += (1.0 - 2.0 * noise) * share / iterates.len() as f64;
            }
            assert!(excess <= ddk_excess(noise, margin, 400) + norm(&z) / margin);
        }
    }

    #[test]
    fn random_noise_is_learnt_to_its_rate() {
        for (noise, seed) in [(0.0, 1), (0.2, 2)] {
            let instance = Instance::skewed(5, 0.2, seed);
            let (points, labels) = instance.sample(2000, 10 + seed, |_| noise);
            let params = || Ddk::params(noise, 0.2).excess(0.1);
            let learner = params().max_steps(500).check().unwrap();
            let mut longest = 0.0f64;
            let fit =
                learner.descend(&points, &labels, |w| longest = longest.max(norm(w))).unwrap();
            assert!(longest <= 1.0 + 1e-12);
            let error = instance.fresh_error(fit.halfspace(), |_| noise);
            assert!(error <= noise + 0.1, "{error}");
            assert!(fit.validation().rate() <= noise + 0.1);
            // A single step, along the mean of y x, is not enough.
            let fit = params().max_steps(1).check().unwrap().fit(&points, &labels).unwrap();
            assert!(instance.fresh_error(fit.halfspace(), |_| noise) > noise + 0.1);
        }
    }

    #[test]
    fn dense_and_sparse_agree_to_the_bit_and_rotation_changes_nothing() {
        let instance = Instance::new(9, 0.2, 4);
        let (points, labels) = instance.sample(300, 5, |_| 0.1);
        let learner = Ddk::params(0.1, 0.2).excess(0.2).max_steps(200).seed(1).check().unwrap();
        let fit = learner.fit(&points, &labels).unwrap();
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
        let params = || Ddk::params(0.1, 0.2).excess(0.2).max_steps(5);
        assert!(params().max_steps(0).check().is_err());
        assert!(params().validation_share(1.0).check().is_err());
        assert!(Ddk::params(0.5, 0.2).excess(0.2).check().is_err());
        let learner = params().check().unwrap();
        assert_bad_input(|points, labels| learner.fit(points, labels).map(|_| ()));
        let one = Points::new(vec![1.0], 1).unwrap();
        assert!(learner.fit(&one, &[Label::Positive]).is_err());
    }
}
