//! The ellipsoid method with the certificate of CKST24 as a separation oracle.

use super::unit_ball::{check_point, check_sample};
use crate::NoiseSetting;
use halfspaces_linalg::{
    Ellipsoid, ExampleStream, FitError, FitSample, FitStream, Halfspace, InputError, Label, Params,
    PointSet, RowView, Termination, classify_by, getters, norm, setters, zeros,
};

/// The radius r = γ/(2(1+γ)) of a ball of vectors that the certificate never cuts off.
fn feasible_radius(margin: f64) -> f64 {
    margin / (2.0 * (1.0 + margin))
}

/// The padding γ/2 of the certificate. Every vector in the ball of radius [`feasible_radius`] has at least this margin.
fn padding(margin: f64) -> f64 {
    margin / 2.0
}

/// The maximum number K = ⌊2d(d+1) ln(1/r)⌋ + 1 of rounds of the ellipsoid method.
///
/// ```
/// // r = 1/4: 2 · 2 · 3 · ln 4 = 16.6
/// assert_eq!(halfspaces_pac::cutting_plane_rounds(2, 1.0), 17);
/// ```
#[must_use]
pub fn cutting_plane_rounds(dim: usize, margin: f64) -> u64 {
    let d = dim as f64;
    (2.0 * d * (d + 1.0) * -feasible_radius(margin).ln()).floor() as u64 + 1
}

/// The number n = ⌈64(1-η)²(1+√(2L))²/(γε)²⌉ of examples per round, with L = ln(2K/δ).
#[must_use]
pub fn cutting_plane_batch(dim: usize, setting: &NoiseSetting) -> usize {
    let NoiseSetting { noise, margin, excess, failure } = *setting;
    let l = (2.0 * cutting_plane_rounds(dim, margin) as f64 / failure).ln();
    let size = 8.0 * (1.0 - noise) * (1.0 + (2.0 * l).sqrt()) / (margin * excess);
    (size * size).ceil() as usize
}

/// Unchecked parameters of [`CuttingPlane`].
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_pac::CuttingPlane;
/// assert!(CuttingPlane::params(0.1, 0.2).excess(0.05).failure(0.01).batch(2000).check().is_ok());
/// assert!(CuttingPlane::params(0.5, 0.2).check().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct CuttingPlaneParams {
    setting: NoiseSetting,
    batch: Option<usize>,
}

impl From<NoiseSetting> for CuttingPlaneParams {
    fn from(setting: NoiseSetting) -> Self {
        CuttingPlaneParams { setting, batch: None }
    }
}

impl CuttingPlaneParams {
    setters! {
        /// The excess ε: the target error is η + ε. Default: 0.1.
        excess: f64 => setting.excess,

        /// The failure probability δ: an upper bound on the probability that the error exceeds η + ε. Default: 0.05.
        failure: f64 => setting.failure,

        /// The number of examples per round, at least 1. Default: [`cutting_plane_batch`]. The guarantee does not hold
        /// for smaller batches.
        batch: Some(usize),
    }
}

impl Params for CuttingPlaneParams {
    type Learner = CuttingPlane;
    type Error = InputError;

    fn check(self) -> Result<CuttingPlane, InputError> {
        self.setting.check()?;
        if let Some(batch) = self.batch {
            InputError::check_parameter("batch", batch as f64, batch > 0, "at least 1")?;
        }
        Ok(CuttingPlane(self))
    }
}

/// The ellipsoid method with the certificate of CKST24 as a separation oracle, for Massart noise, in one pass.
///
/// The method maintains an ellipsoid and its centre w. The first ellipsoid is the unit ball. A fresh batch gives two
/// estimates: the empirical error of w, and the mean g of (β sign(w · x) - y) x/(|w · x| + γ/2) with β = 1 - 2η. If the
/// error is at most η + 3ε/4, the method returns w. Otherwise it cuts off {v : g · (w - v) < 0}. If a centre is outside
/// the unit ball, a cut that keeps the whole ball removes this centre. Such a cut needs no examples.
///
/// *Guarantee.* Let ‖x‖ <= 1 and |w* · x| >= γ for a unit vector w*. Let each label be sign(w* · x), flipped with
/// probability at most η (Massart noise). Consider the ball of radius r = γ/(2(1+γ)) around (1-r)w*. Every v in this
/// ball gives the same labels as w* and has |v · x| >= γ/2, so E\[g\] · (w - v) >= 2(ℓ01(w) - η) by CKST24 Lemma 2. A
/// batch of n = ⌈64(1-η)²(1+√(2L))²/(γε)²⌉ examples, with L = ln(2K/δ), estimates E\[g\] to within ε/2 in norm and the
/// error to within ε/4. Hence, with probability 1-δ, no cut of the K rounds touches that ball. Each cut multiplies the
/// volume by at most e^(-1/(2(d+1))), and the volume cannot fall below r^d. Hence, within K = ⌊2d(d+1) ln(1/r)⌋ + 1
/// rounds, the method returns a centre with an error of at most η + ε. After a random projection to d = Õ(1/γ²)
/// dimensions ([`RandomProjection`](crate::RandomProjection)), K and n do not depend on the original dimension.
///
/// *Termination.* The run ends with one of four results:
///
/// - `Converged`: the estimated error is at most η + 3ε/4, and the guarantee holds.
/// - `ExamplesEnded`: there is no further batch.
/// - `AssumptionFailed`: the ellipsoid has less volume than the ball that it must contain, or the certificate is zero.
///   The noise or the margin is then not as stated, or an event of probability at most δ has occurred.
/// - `Stalled`: rounding errors prevented a cut.
///
/// In all cases except the first, the centre with the smallest estimated error is returned.
///
/// *Cost.* Each example takes O(d) time; for sparse points, d is the number of stored values. Each cut takes O(d²)
/// time. The memory is O(d²) for any number of examples.
///
/// *When to use it.* Use this learner for comparisons. [`Perspectron`](crate::Perspectron) needs fewer examples and
/// O(d) time per step.
///
/// *Source.* CKST24 §1.2 (the cutting-plane approach) and Lemma 2, which uses the padding γ and considers only w*. The
/// ball, the padding γ/2 and the constants are ours: B = 4(1-η)/γ bounds each term of g, ‖g - E\[g\]‖ <= B(1+√(2L))/√n
/// with probability 1 - e^-L (McDiarmid), and ‖w - v‖ <= 2. These cuts go through w and not through 0, so methods that
/// use centres of cones do not apply. Claims: P10.
///
/// ```
/// use halfspaces_data::{MarginBall, Marginal, random_target};
/// use halfspaces_linalg::{Classifier, FitSample, Params, Termination};
/// use halfspaces_pac::CuttingPlane;
/// let target = random_target(3, 1)?;
/// let points = MarginBall::new(&target, 0.3)?.sample(4000, 2)?;
/// let labels = target.label_all(&points)?;
/// let fit = CuttingPlane::params(0.0, 0.3).batch(200).check()?.fit(&points, &labels)?;
/// assert_eq!(fit.termination(), Termination::Converged);
/// assert!(fit.estimated_error() <= 0.075);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CuttingPlane(CuttingPlaneParams);

/// The model fitted by [`CuttingPlane`].
///
/// ```
/// use halfspaces_data::{Instance, MarginBall, Rcn, random_target};
/// use halfspaces_linalg::{FitStream, Params, Termination};
/// use halfspaces_pac::CuttingPlane;
/// let target = random_target(2, 1)?;
/// let instance = Instance::new(MarginBall::new(&target, 0.4)?, target, Rcn::new(0.1)?)?;
/// let learner = CuttingPlane::params(0.1, 0.4).excess(0.2).batch(2000).check()?;
/// let fit = learner.fit_stream(&mut instance.stream(2))?;
/// assert_eq!(fit.termination(), Termination::Converged);
/// assert!(fit.estimated_error() <= 0.1 + 0.15 && fit.rounds() >= 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CuttingPlaneFit {
    halfspace: Halfspace,
    estimated_error: f64,
    rounds: u64,
    ball_cuts: u64,
    termination: Termination,
}

impl CuttingPlaneFit {
    getters! {
        /// The returned centre.
        halfspace: &Halfspace,

        /// The error of the returned centre on the batch of its round. This batch did not influence the centre.
        estimated_error: f64,

        /// The number of batches used.
        rounds: u64,

        /// The number of cuts that removed a centre outside the unit ball.
        ball_cuts: u64,

        /// How the run ended; see [`CuttingPlane`].
        termination: Termination,
    }
}

classify_by!(CuttingPlaneFit, halfspace);

impl CuttingPlane {
    /// Creates parameters for the noise rate `noise`, which is η in [0, 1/2), and the margin `margin`, which is γ in
    /// (0, 1]. Defaults: ε = 0.1, δ = 0.05, and batches of the size that the guarantee requires.
    pub fn params(noise: f64, margin: f64) -> CuttingPlaneParams {
        NoiseSetting::new(noise, margin).into()
    }

    /// The number n of examples per round, for points of `dim` coordinates.
    #[must_use]
    pub fn batch_size(&self, dim: usize) -> usize {
        self.0.batch.unwrap_or_else(|| cutting_plane_batch(dim, &self.0.setting))
    }
}

/// A run in progress.
struct Run {
    setting: NoiseSetting,
    batch: usize,
    ellipsoid: Ellipsoid,
    certificate: Certificate,
    rounds: u64,
    ball_cuts: u64,
    /// The centre with the smallest estimated error so far.
    best: Option<(Vec<f64>, f64)>,
}

impl Run {
    fn new(learner: &CuttingPlane, dim: usize) -> Result<Run, InputError> {
        let setting = learner.0.setting;
        Ok(Run {
            setting,
            batch: learner.batch_size(dim),
            ellipsoid: Ellipsoid::new(dim)?,
            certificate: Certificate::new(zeros(1, dim)?, setting.noise, padding(setting.margin))?,
            rounds: 0,
            ball_cuts: 0,
            best: None,
        })
    }

    /// Learns from one example. If this example ends the run, returns how the run ended.
    fn take<R: RowView>(&mut self, x: R, y: Label) -> Result<Option<Termination>, InputError> {
        self.certificate.add(x, y);
        if self.certificate.count < self.batch { Ok(None) } else { self.end_round() }
    }

    /// Evaluates the centre, and cuts it off if its error is too large.
    fn end_round(&mut self) -> Result<Option<Termination>, InputError> {
        let (g, error) = self.certificate.mean();
        self.rounds += 1;
        if self.best.as_ref().is_none_or(|(_, least)| error < *least) {
            self.best = Some((self.certificate.w.clone(), error));
        }
        let NoiseSetting { noise, margin, excess, .. } = self.setting;
        if error <= noise + 0.75 * excess {
            return Ok(Some(Termination::Converged));
        }
        if g.iter().all(|v| *v == 0.0) {
            return Ok(Some(Termination::AssumptionFailed));
        }
        if !cut(&mut self.ellipsoid, &g) {
            return Ok(Some(Termination::Stalled));
        }
        let min_log_volume = g.len() as f64 * feasible_radius(margin).ln();
        // The error of the certificate is bounded only for centres in the unit ball.
        loop {
            if self.ellipsoid.log_volume() < min_log_volume {
                return Ok(Some(Termination::AssumptionFailed));
            }
            let centre = self.ellipsoid.centre().to_vec();
            if norm(&centre) <= 1.0 {
                self.certificate = Certificate::new(centre, noise, padding(margin))?;
                return Ok(None);
            }
            if !cut(&mut self.ellipsoid, &centre) {
                return Ok(Some(Termination::Stalled));
            }
            self.ball_cuts += 1;
        }
    }

    /// Returns the result, or an error if no batch was complete.
    fn finish(self, termination: Termination) -> Result<CuttingPlaneFit, InputError> {
        let Some((w, estimated_error)) = self.best else {
            let requirement =
                "at most the number of examples; pass more examples or a smaller batch";
            let (name, value) = ("batch", self.batch as f64);
            return Err(InputError::ParameterOutOfRange { name, value, requirement });
        };
        let (halfspace, rounds, ball_cuts) = (Halfspace::new(w)?, self.rounds, self.ball_cuts);
        Ok(CuttingPlaneFit { halfspace, estimated_error, rounds, ball_cuts, termination })
    }
}

impl FitSample for CuttingPlane {
    type Model = CuttingPlaneFit;
    type Error = InputError;

    /// Fits a halfspace to an i.i.d. sample in the unit ball. Each round takes a batch of consecutive points.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::LengthMismatch`], [`InputError::TooLarge`], [`InputError::OutsideBall`];
    /// [`InputError::ParameterOutOfRange`] for fewer points than a batch contains.
    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<Self::Model, InputError> {
        check_sample(points, labels)?;
        let mut run = Run::new(self, points.dim())?;
        for (x, y) in points.rows().zip(labels) {
            if let Some(termination) = run.take(x, *y)? {
                return run.finish(termination);
            }
        }
        run.finish(Termination::ExamplesEnded)
    }
}

impl FitStream for CuttingPlane {
    type Model = CuttingPlaneFit;

    /// Fits a halfspace to a stream of i.i.d. examples in the unit ball. The examples of an incomplete last batch are
    /// not used.
    ///
    /// # Errors
    /// [`FitError`]. It contains, for example, [`InputError::OutsideBall`] for a point outside the ball, or
    /// [`InputError::ParameterOutOfRange`] for fewer examples than a batch contains.
    fn fit_stream<S: ExampleStream>(
        &self,
        stream: &mut S,
    ) -> Result<Self::Model, FitError<S::Error>> {
        let mut run = Run::new(self, stream.dim()).map_err(FitError::Input)?;
        let dim = stream.dim();
        for taken in 0.. {
            let at = |source| FitError::at_example(taken, source);
            let next = stream.next_row().map_err(|source| FitError::Stream { taken, source })?;
            let Some((x, y)) = next else { break };
            InputError::check_dim(dim, x.dim()).and_then(|()| check_point(x)).map_err(at)?;
            if let Some(termination) = run.take(x, y).map_err(at)? {
                return run.finish(termination).map_err(FitError::Input);
            }
        }
        run.finish(Termination::ExamplesEnded).map_err(FitError::Input)
    }
}

/// Cuts the ellipsoid to {v : g · v <= g · c}, where c is its centre and g is not 0. Returns `false` if rounding
/// prevents the cut.
fn cut(ellipsoid: &mut Ellipsoid, g: &[f64]) -> bool {
    let inward: Vec<f64> = g.iter().map(|v| -v).collect();
    match ellipsoid.cut(&inward) {
        Ok(()) => true,
        Err(InputError::ZeroVector | InputError::Overflow { .. }) => false,
        Err(fault) => unreachable!("g has the dimension of the centre: {fault}"),
    }
}

/// The mean of (β sign(w · x) - y) x/(|w · x| + padding) over a batch, and the error rate of w on the batch.
struct Certificate {
    w: Vec<f64>,
    beta: f64,
    padding: f64,
    sum: Vec<f64>,
    wrong: f64,
    count: usize,
}

impl Certificate {
    fn new(w: Vec<f64>, noise: f64, padding: f64) -> Result<Certificate, InputError> {
        let sum = zeros(1, w.len())?;
        Ok(Certificate { w, beta: 1.0 - 2.0 * noise, padding, sum, wrong: 0.0, count: 0 })
    }

    fn add<R: RowView>(&mut self, x: R, y: Label) {
        let value = x.dot(&self.w);
        let predicted = Label::from_sign(value);
        if predicted != y {
            self.wrong += 1.0;
        }
        let numerator = self.beta * predicted.as_f64() - y.as_f64();
        x.add_scaled_to(numerator / (value.abs() + self.padding), &mut self.sum);
        self.count += 1;
    }

    /// Returns g and the error rate.
    fn mean(&self) -> (Vec<f64>, f64) {
        let count = self.count as f64;
        (self.sum.iter().map(|v| v / count).collect(), self.wrong / count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_data::{MarginBall, Marginal, UnitSphere, random_target};
    use halfspaces_linalg::{Classifier, Points, SparsePoints, kernels};
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    /// Draws n examples with random classification noise. Returns them and the target.
    fn noisy(
        n: usize,
        dim: usize,
        margin: f64,
        noise: f64,
        seed: u64,
    ) -> (Points, Vec<Label>, Halfspace) {
        let target = random_target(dim, seed).unwrap();
        let points = MarginBall::new(&target, margin).unwrap().sample(n, seed + 1).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(seed + 2);
        let flip = |y: Label, u: f64| if u < noise { -y } else { y };
        let labels = target.label_all(&points).unwrap();
        (points, labels.into_iter().map(|y| flip(y, rng.random())).collect(), target)
    }

    /// The minimum over x of E_y[(β sign(w·x) - y)/(|w·x| + padding)] x · (w - v) - 2(P[wrong | x] - η), if every label
    /// is flipped with probability η. The expectation over y is computed exactly. The inequality holds for every single
    /// x.
    fn slack(
        points: &Points,
        target: &[f64],
        w: &[f64],
        v: &[f64],
        (noise, beta, padding): (f64, f64, f64),
    ) -> f64 {
        let term = |x: &[f64]| {
            let (of_w, of_target) = (kernels::dot(x, w), kernels::dot(x, target));
            let (s, truth) =
                (Label::from_sign(of_w).as_f64(), Label::from_sign(of_target).as_f64());
            let mean_y = (1.0 - 2.0 * noise) * truth;
            let wrong = if s == truth { noise } else { 1.0 - noise };
            let product = of_w - kernels::dot(x, v);
            (beta * s - mean_y) / (of_w.abs() + padding) * product - 2.0 * (wrong - noise)
        };
        points.rows().map(|x| term(x.as_slice())).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn the_certificate_holds_against_the_whole_ball() {
        let (margin, noise) = (0.3, 0.2);
        let radius = feasible_radius(margin);
        let (mut wrong_padding, mut wrong_beta) = (0, 0);
        for seed in 0..40 {
            let (points, _, target) = noisy(40, 4, margin, noise, 10 * seed);
            let unit = |k| UnitSphere::new(4).unwrap().sample(1, 10 * seed + k).unwrap().into_vec();
            let mut v: Vec<f64> = target.normal().iter().map(|t| (1.0 - radius) * t).collect();
            let least = |v: &[f64]| {
                let margins = points.rows().map(|x| kernels::dot(x.as_slice(), v).abs());
                margins.fold(f64::INFINITY, f64::min)
            };
            kernels::axpy(radius, &unit(5), &mut v);
            assert!(least(&v) >= margin / 2.0 - 1e-12 && norm(&v) <= 1.0 + 1e-12);
            let beta = 1.0 - 2.0 * noise;
            for scale in [0.0, 0.01, 0.3, 1.0] {
                for direction in [unit(6), target.normal().to_vec()] {
                    let w: Vec<f64> = direction.iter().map(|x| scale * x).collect();
                    let slack = |beta, padding| {
                        slack(&points, target.normal(), &w, &v, (noise, beta, padding))
                    };
                    assert!(slack(beta, padding(margin)) >= -1e-9);
                    wrong_padding += usize::from(slack(beta, 2.0 * padding(margin)) < -1e-3);
                    wrong_beta += usize::from(slack(1.0, padding(margin)) < -1e-3);
                }
            }
        }
        assert!(wrong_padding > 20 && wrong_beta > 20, "{wrong_padding}, {wrong_beta}");
    }

    #[test]
    fn the_certificate_is_the_mean_written_out() {
        let points = Points::from_rows(&[[0.6, 0.0], [0.0, 0.5], [-0.5, 0.5]]).unwrap();
        let labels = [Label::Negative, Label::Positive, Label::Negative];
        // Here w = e1, η = 1/4, and the padding is 0.4. At the second point w·x is 0, so the prediction is +1, which is
        // right. The prediction for the third point is also right.
        let mut certificate = Certificate::new(vec![1.0, 0.0], 0.25, 0.4).unwrap();
        points.rows().zip(labels).for_each(|(x, y)| certificate.add(x, y));
        let (g, error) = certificate.mean();
        let expected = [
            (1.5 / 1.0 * 0.6 + 0.5 / 0.9 * -0.5) / 3.0,
            (-0.5 / 0.4 * 0.5 + 0.5 / 0.9 * 0.5) / 3.0,
        ];
        assert!((g[0] - expected[0]).abs() < 1e-15 && (g[1] - expected[1]).abs() < 1e-15);
        assert!((error - 1.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn the_batches_of_the_theorem_reach_the_target_error() {
        let (noise, margin, excess) = (0.05, 0.6, 0.5);
        let learner =
            CuttingPlane::params(noise, margin).excess(excess).failure(0.2).check().unwrap();
        let batch = learner.batch_size(2);
        // Here K = ⌊12 ln(16/3)⌋ + 1 = 21 and L = ln 210 = 5.347.
        let size = 8.0 * 0.95 * (1.0 + (2.0 * 210f64.ln()).sqrt()) / 0.3;
        assert_eq!(batch, (size * size).ceil() as usize);
        let (points, labels, target) = noisy(3 * batch, 2, margin, noise, 5);
        let fit = learner.fit(&points, &labels).unwrap();
        assert_eq!(fit.termination(), Termination::Converged);
        let fresh = MarginBall::new(&target, margin).unwrap().sample(5000, 99).unwrap();
        let truth = target.label_all(&fresh).unwrap();
        let learned = fit.halfspace().label_all(&fresh).unwrap();
        let apart = learned.iter().zip(&truth).filter(|(a, b)| a != b).count() as f64 / 5000.0;
        assert!(noise + (1.0 - 2.0 * noise) * apart <= noise + excess);
    }

    #[test]
    fn small_batches_learn_in_far_fewer_rounds_than_the_bound() {
        for (seed, dim) in [(1, 2), (2, 4), (3, 6)] {
            let (points, labels, target) = noisy(40_000, dim, 0.25, 0.1, seed);
            let learner = CuttingPlane::params(0.1, 0.25).excess(0.1).batch(1000).check().unwrap();
            let fit = learner.fit(&points, &labels).unwrap();
            assert_eq!(fit.termination(), Termination::Converged, "d = {dim}");
            assert!(fit.rounds() + fit.ball_cuts() <= cutting_plane_rounds(dim, 0.25));
            assert!(fit.halfspace().angle_to(&target).unwrap() < 0.5);
            let sparse = SparsePoints::from_dense(&points).unwrap();
            assert_eq!(learner.fit(&sparse, &labels).unwrap(), fit);
        }
    }

    /// Follows the approach of CKST24 §1.2: project, cut in the projected space, and map the halfspace back.
    #[test]
    fn through_a_projection_the_dimension_does_not_matter() {
        let (points, labels, target) = noisy(9000, 150, 0.6, 0.05, 7);
        let projection = crate::RandomProjection::new(150, 12, 3).unwrap();
        let learner = CuttingPlane::params(0.05, 0.2).excess(0.2).batch(300).check().unwrap();
        let fit = crate::Projected::new(projection, learner).fit(&points, &labels).unwrap();
        assert_eq!(fit.model().termination(), Termination::Converged);
        let fresh = MarginBall::new(&target, 0.6).unwrap().sample(1000, 99).unwrap();
        let truth = target.label_all(&fresh).unwrap();
        let learned = fit.label_all(&fresh).unwrap();
        let apart = learned.iter().zip(&truth).filter(|(a, b)| a != b).count();
        assert!(apart < 200, "{apart}");
    }

    #[test]
    fn labels_without_a_halfspace_exhaust_the_volume() {
        let (points, _, _) = noisy(4000, 2, 0.3, 0.0, 1);
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let coins: Vec<Label> =
            (0..4000).map(|_| Label::from_sign(rng.random::<f64>() - 0.5)).collect();
        let learner = CuttingPlane::params(0.0, 0.3).excess(0.1).batch(100).check().unwrap();
        let fit = learner.fit(&points, &coins).unwrap();
        assert_eq!(fit.termination(), Termination::AssumptionFailed);
        assert!(fit.rounds() + fit.ball_cuts() <= cutting_plane_rounds(2, 0.3));
        assert!(fit.estimated_error() > 0.3);
        // With a sample of only two batches, the examples end before the volume is exhausted.
        let points = points.select(&(0..200).collect::<Vec<_>>()).unwrap();
        let fit = learner.fit(&points, &coins[..200]).unwrap();
        assert_eq!((fit.rounds(), fit.termination()), (2, Termination::ExamplesEnded));
    }

    #[test]
    fn bad_input_is_typed() {
        let params = CuttingPlane::params;
        for bad in [
            params(0.5, 0.1).excess(0.1),
            params(f64::NAN, 0.1).excess(0.1),
            params(0.1, 0.0).excess(0.1),
            params(0.1, 1.1).excess(0.1),
            params(0.1, 0.1).excess(1.0),
            params(0.1, 0.1).excess(0.1).failure(0.0),
            params(0.1, 0.1).excess(0.1).batch(0),
        ] {
            assert!(bad.check().is_err());
        }
        let learner = params(0.1, 0.1).excess(0.1).batch(2).check().unwrap();
        let none = Points::new(vec![], 2).unwrap();
        assert_eq!(learner.fit(&none, &[]), Err(InputError::Empty));
        let one = Points::from_rows(&[[1.0, 0.0]]).unwrap();
        assert!(learner.fit(&one, &[]).is_err());
        let error = learner.fit(&one, &[Label::Positive]).unwrap_err();
        assert!(matches!(error, InputError::ParameterOutOfRange { name: "batch", .. }));
        let far = Points::from_rows(&[[1.0, 1.0], [0.0, 0.0]]).unwrap();
        assert!(learner.fit(&far, &[Label::Positive; 2]).is_err());
        // Requests for more memory than is available return an error.
        let vast = params(0.1, 1e-12).excess(1e-12).check().unwrap();
        assert!(vast.fit(&one, &[Label::Positive]).is_err());
    }
}
