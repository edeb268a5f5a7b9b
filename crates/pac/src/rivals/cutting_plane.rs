//! The certificate of CKST24 as a separation oracle for the ellipsoid method.
//!
//! Keep an ellipsoid, at first the unit ball, and its centre w. A fresh batch gives the empirical error
//! of w and g = mean of (β sign(w · x) - y) x/(|w · x| + γ/2), β = 1 - 2η. If the error is at most
//! η + 3ε/4, return w; else cut off {v : g · (w - v) < 0}. A centre outside the unit ball is cut off by
//! the ball itself, without samples.
//!
//! *Guarantee.* Let ‖x‖ <= 1, |w* · x| >= γ for a unit w*, and each label be sign(w* · x) flipped with
//! probability at most η (Massart noise). Every v in the ball of radius r = γ/(2(1+γ)) around
//! (1-r)w* keeps the labels of w* with |v · x| >= γ/2, so E\[g\] · (w - v) >= 2(ℓ01(w) - η) by CKST24
//! Lemma 2. A batch of n = ⌈64(1-η)²(1+√(2L))²/(γε)²⌉ examples, L = ln(2K/δ), moves g by at most ε/2 and
//! the error by at most ε/4; so, all K rounds together, with probability 1-δ no cut touches that
//! ball. Each cut shrinks the volume by e^(-1/(2(d+1))), and it cannot fall below r^d: within
//! K = ⌊2d(d+1) ln(1/r)⌋ + 1 rounds a centre of error at most η + ε is returned. In d = Õ(1/γ²)
//! dimensions ([`crate::RandomProjection`]) nothing here depends on the original dimension.
//!
//! *Source.* CKST24 §1.2 (the route by cutting planes) and Lemma 2, which has the padding γ and w* alone;
//! the ball, the padding γ/2 and the constants are ours: with B = 4(1-η)/γ bounding each term of g,
//! ‖g - E\[g\]‖ <= B(1+√(2L))/√n with probability 1 - e^-L (McDiarmid), and ‖w - v‖ <= 2.
//! Note that these cuts go through w, not through 0: centres of cones do not apply.

use halfspaces_linalg::{
    Ellipsoid, Halfspace, InputError, Label, PointSet, RowView, norm, tolerance, zeros,
};
use std::ops::Range;

/// r = γ/(2(1+γ)): radius of a ball of vectors that the certificate never cuts off.
#[must_use]
pub fn feasible_radius(margin: f64) -> f64 {
    margin / (2.0 * (1.0 + margin))
}

/// γ/2, the padding of the certificate: what every vector of that ball keeps of the margin.
fn padding(margin: f64) -> f64 {
    margin / 2.0
}

/// K = ⌊2d(d+1) ln(1/r)⌋ + 1: rounds within which the ellipsoid method must have stopped.
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

/// n = ⌈64(1-η)²(1+√(2L))²/(γε)²⌉ with L = ln(2K/δ): examples a round.
#[must_use]
pub fn cutting_plane_batch(
    dim: usize,
    noise: f64,
    margin: f64,
    accuracy: f64,
    delta: f64,
) -> usize {
    let l = (2.0 * cutting_plane_rounds(dim, margin) as f64 / delta).ln();
    let size = 8.0 * (1.0 - noise) * (1.0 + (2.0 * l).sqrt()) / (margin * accuracy);
    (size * size).ceil() as usize
}

/// Parameters of the cutting-plane learner, unchecked.
///
/// ```
/// use halfspaces_pac::CuttingPlane;
/// assert!(CuttingPlane::params(0.1, 0.2, 0.05).delta(0.01).batch(2000).check().is_ok());
/// assert!(CuttingPlane::params(0.5, 0.2, 0.05).check().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct CuttingPlaneParams {
    noise: f64,
    margin: f64,
    accuracy: f64,
    delta: f64,
    batch: Option<usize>,
}

impl CuttingPlaneParams {
    /// δ, the probability with which the guarantee may fail. Default: 0.05.
    pub fn delta(mut self, delta: f64) -> Self {
        self.delta = delta;
        self
    }

    /// Examples a round. Default: [`cutting_plane_batch`]. Fewer void the guarantee.
    pub fn batch(mut self, batch: usize) -> Self {
        self.batch = Some(batch);
        self
    }

    /// The learner, if the parameters are in range.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for η not in [0, 1/2), γ not in (0, 1], ε or δ not in
    /// (0, 1), or a batch of 0.
    pub fn check(self) -> Result<CuttingPlane, InputError> {
        let check = InputError::check_parameter;
        let in_range = (0.0..0.5).contains(&self.noise);
        check("noise", self.noise, in_range, "at least 0 and below 1/2")?;
        let in_range = self.margin > 0.0 && self.margin <= 1.0;
        check("margin", self.margin, in_range, "above 0 and at most 1")?;
        for (name, value) in [("accuracy", self.accuracy), ("delta", self.delta)] {
            check(name, value, value > 0.0 && value < 1.0, "above 0 and below 1")?;
        }
        if let Some(batch) = self.batch {
            check("batch", batch as f64, batch > 0, "at least 1")?;
        }
        Ok(CuttingPlane(self))
    }
}

/// The cutting-plane learner with checked parameters.
///
/// ```
/// use halfspaces_linalg::Classifier;
/// use halfspaces_data::{MarginBall, Marginal, random_target};
/// use halfspaces_pac::{CutStatus, CuttingPlane};
/// let target = random_target(3, 1)?;
/// let points = MarginBall::new(&target, 0.3)?.sample(4000, 2)?;
/// let labels = target.label_all(&points)?;
/// let learner = CuttingPlane::params(0.0, 0.3, 0.1).batch(200).check()?;
/// let fit = learner.fit(&points, &labels)?;
/// assert_eq!(fit.status, CutStatus::Reached);
/// assert!(fit.estimated_error <= 0.075);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CuttingPlane(CuttingPlaneParams);

/// How a run of the cutting-plane learner ended.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_pac::{CutStatus, CuttingPlane};
/// // w = 0 is wrong about the first batch, the centre after the cut right about the second.
/// let learner = CuttingPlane::params(0.0, 0.5, 0.1).batch(2).check()?;
/// let fit = |n| learner.fit(&Points::new(vec![-1.0; n], 1)?, &vec![Label::Negative; n]);
/// assert_eq!(fit(2)?.status, CutStatus::SampleSpent);
/// assert_eq!(fit(4)?.status, CutStatus::Reached);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum CutStatus {
    /// The estimated error is at most η + 3ε/4: the guarantee holds.
    Reached,
    /// The sample has no further batch. The centre of least estimated error is returned.
    SampleSpent,
    /// The ellipsoid has less volume than the ball it must hold, or the certificate is zero: the noise
    /// or the margin is not as stated, or an event of probability δ has happened. The centre of least
    /// estimated error is returned.
    Exhausted,
}

/// What the cutting-plane learner returns.
///
/// ```
/// use halfspaces_data::{Instance, MarginBall, Rcn, random_target};
/// use halfspaces_pac::{CutStatus, CuttingPlane};
/// let target = random_target(2, 1)?;
/// let instance = Instance::new(MarginBall::new(&target, 0.4)?, target, Rcn::new(0.1)?)?;
/// let (points, labels) = instance.sample(20_000, 2)?;
/// let fit = CuttingPlane::params(0.1, 0.4, 0.2).batch(2000).check()?.fit(&points, &labels)?;
/// assert_eq!(fit.status, CutStatus::Reached);
/// assert!(fit.estimated_error <= 0.1 + 0.15 && fit.rounds >= 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CuttingPlaneFit {
    /// The centre returned.
    pub halfspace: Halfspace,
    /// Its error on the batch it was judged by, which it had not seen.
    pub estimated_error: f64,
    /// Batches used.
    pub rounds: u64,
    /// Cuts by the unit ball.
    pub ball_cuts: u64,
    /// How the run ended.
    pub status: CutStatus,
}

impl CuttingPlane {
    /// For noise η, margin γ and accuracy ε; δ = 0.05, batches as the guarantee needs them.
    pub fn params(noise: f64, margin: f64, accuracy: f64) -> CuttingPlaneParams {
        CuttingPlaneParams { noise, margin, accuracy, delta: 0.05, batch: None }
    }

    /// n for points of `dim` coordinates.
    #[must_use]
    pub fn batch_size(&self, dim: usize) -> usize {
        let CuttingPlaneParams { noise, margin, accuracy, delta, batch } = self.0;
        batch.unwrap_or_else(|| cutting_plane_batch(dim, noise, margin, accuracy, delta))
    }

    /// Learns from an i.i.d. sample, one batch of consecutive points a round.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::LengthMismatch`], [`InputError::TooLarge`];
    /// [`InputError::ParameterOutOfRange`] for a point outside the unit ball, or fewer points than
    /// one batch.
    pub fn fit<P: PointSet>(
        &self,
        points: &P,
        labels: &[Label],
    ) -> Result<CuttingPlaneFit, InputError> {
        let CuttingPlaneParams { noise, margin, accuracy, .. } = self.0;
        let batch = self.batch_size(points.dim());
        check_points(points, labels, batch)?;
        let enough = noise + 0.75 * accuracy;
        let least_volume = points.dim() as f64 * feasible_radius(margin).ln();
        let mut ellipsoid = Ellipsoid::new(points.dim())?;
        let (mut rounds, mut ball_cuts) = (0, 0);
        let mut best: Option<(Vec<f64>, f64)> = None;
        let mut start = 0;
        let status = loop {
            let rows = start..start + batch;
            if rows.end > labels.len() {
                break CutStatus::SampleSpent;
            }
            let w = ellipsoid.centre().to_vec();
            let (g, error) = certificate(points, labels, rows, &w, noise, padding(margin))?;
            rounds += 1;
            start += batch;
            if best.as_ref().is_none_or(|(_, least)| error < *least) {
                best = Some((w, error));
            }
            if error <= enough {
                break CutStatus::Reached;
            }
            if !cut(&mut ellipsoid, &g)? {
                break CutStatus::Exhausted;
            }
            match into_ball(&mut ellipsoid, least_volume)? {
                Some(cuts) => ball_cuts += cuts,
                None => break CutStatus::Exhausted,
            }
        };
        let (w, estimated_error) = best.ok_or(InputError::Empty)?;
        let halfspace = Halfspace::new(w)?;
        Ok(CuttingPlaneFit { halfspace, estimated_error, rounds, ball_cuts, status })
    }
}

/// Points in the unit ball, and at least one batch of them.
fn check_points<P: PointSet>(points: &P, labels: &[Label], batch: usize) -> Result<(), InputError> {
    InputError::check_len(points.len(), labels.len())?;
    if labels.is_empty() {
        return Err(InputError::Empty);
    }
    let fits = batch <= labels.len();
    let requirement = "at most the number of points; give more points or a smaller batch";
    InputError::check_parameter("batch", batch as f64, fits, requirement)?;
    let longest = points.max_norm();
    let in_range = longest <= 1.0 + tolerance::UNIT_NORM;
    InputError::check_parameter("norm of a point", longest, in_range, "at most 1; rescale")
}

/// Keeps {v : g · v <= g · w} for the centre w; `false` if g is zero to rounding.
fn cut(ellipsoid: &mut Ellipsoid, g: &[f64]) -> Result<bool, InputError> {
    let inward: Vec<f64> = g.iter().map(|v| -v).collect();
    match ellipsoid.cut(&inward) {
        Ok(()) => Ok(true),
        Err(InputError::ZeroVector | InputError::Overflow { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Cuts by the unit ball until the centre lies in it, where alone the certificate's error is bounded.
/// Returns how often; `None` if the ellipsoid has become smaller than `least_volume` (its ln).
fn into_ball(ellipsoid: &mut Ellipsoid, least_volume: f64) -> Result<Option<u64>, InputError> {
    let mut cuts = 0;
    while ellipsoid.log_volume() >= least_volume {
        let outward = ellipsoid.centre().to_vec();
        if norm(&outward) <= 1.0 {
            return Ok(Some(cuts));
        }
        if !cut(ellipsoid, &outward)? {
            break;
        }
        cuts += 1;
    }
    Ok(None)
}

/// The mean of (β sign(w · x) - y) x/(|w · x| + padding) over some rows, and the share of wrong labels.
fn certificate<P: PointSet>(
    points: &P,
    labels: &[Label],
    rows: Range<usize>,
    w: &[f64],
    noise: f64,
    padding: f64,
) -> Result<(Vec<f64>, f64), InputError> {
    let beta = 1.0 - 2.0 * noise;
    let count = rows.len() as f64;
    let mut g = zeros(1, w.len())?;
    let mut wrong = 0.0;
    for i in rows {
        let out_of_range = InputError::IndexOutOfRange { index: i, len: points.len() };
        let (Some(x), Some(y)) = (points.row(i), labels.get(i)) else { return Err(out_of_range) };
        let value = x.dot(w);
        let predicted = Label::from_sign(value);
        if predicted != *y {
            wrong += 1.0;
        }
        let numerator = beta * predicted.as_f64() - y.as_f64();
        x.add_scaled_to(numerator / (value.abs() + padding), &mut g);
    }
    g.iter_mut().for_each(|v| *v /= count);
    Ok((g, wrong / count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_data::{MarginBall, Marginal, UnitSphere, random_target};
    use halfspaces_linalg::{Classifier, Points, SparsePoints, kernels};
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    /// n examples of random classification noise, and the target.
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

    /// The least over x of E_y[(β sign(w·x) - y)/(|w·x| + padding)] x · (w - v) - 2(P[wrong | x] - η)
    /// at flip rate η, the expectation over y exact: the inequality holds for every single x.
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
        // w = e1, η = 1/4, padding 0.4: the second point ties to +1 and is right, as is the third.
        let (g, error) = certificate(&points, &labels, 0..3, &[1.0, 0.0], 0.25, 0.4).unwrap();
        let expected = [
            (1.5 / 1.0 * 0.6 + 0.5 / 0.9 * -0.5) / 3.0,
            (-0.5 / 0.4 * 0.5 + 0.5 / 0.9 * 0.5) / 3.0,
        ];
        assert!((g[0] - expected[0]).abs() < 1e-15 && (g[1] - expected[1]).abs() < 1e-15);
        assert!((error - 1.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn the_batches_of_the_theorem_reach_the_target_error() {
        let (noise, margin, accuracy) = (0.05, 0.6, 0.5);
        let learner = CuttingPlane::params(noise, margin, accuracy).delta(0.2).check().unwrap();
        let batch = learner.batch_size(2);
        // K = ⌊12 ln(16/3)⌋ + 1 = 21, L = ln 210 = 5.347.
        let size = 8.0 * 0.95 * (1.0 + (2.0 * 210f64.ln()).sqrt()) / 0.3;
        assert_eq!(batch, (size * size).ceil() as usize);
        let (points, labels, target) = noisy(3 * batch, 2, margin, noise, 5);
        let fit = learner.fit(&points, &labels).unwrap();
        assert_eq!(fit.status, CutStatus::Reached);
        let fresh = MarginBall::new(&target, margin).unwrap().sample(5000, 99).unwrap();
        let truth = target.label_all(&fresh).unwrap();
        let learned = fit.halfspace.label_all(&fresh).unwrap();
        let apart = learned.iter().zip(&truth).filter(|(a, b)| a != b).count() as f64 / 5000.0;
        assert!(noise + (1.0 - 2.0 * noise) * apart <= noise + accuracy);
    }

    #[test]
    fn small_batches_learn_in_far_fewer_rounds_than_the_bound() {
        for (seed, dim) in [(1, 2), (2, 4), (3, 6)] {
            let (points, labels, target) = noisy(40_000, dim, 0.25, 0.1, seed);
            let learner = CuttingPlane::params(0.1, 0.25, 0.1).batch(1000).check().unwrap();
            let fit = learner.fit(&points, &labels).unwrap();
            assert_eq!(fit.status, CutStatus::Reached, "d = {dim}");
            assert!(fit.rounds + fit.ball_cuts <= cutting_plane_rounds(dim, 0.25));
            assert!(fit.halfspace.angle_to(&target).unwrap() < 0.5);
            let sparse = SparsePoints::from_dense(&points).unwrap();
            assert_eq!(learner.fit(&sparse, &labels).unwrap(), fit);
        }
    }

    /// The route of CKST24 §1.2: project first, cut there, carry the halfspace back.
    #[test]
    fn through_a_projection_the_dimension_does_not_matter() {
        let (points, labels, target) = noisy(9000, 150, 0.6, 0.05, 7);
        let projection = crate::RandomProjection::new(150, 12, 3).unwrap();
        let learner = CuttingPlane::params(0.05, 0.2, 0.2).batch(300).check().unwrap();
        let inside = |points: &Points, labels: &[Label]| {
            let fit = learner.fit(points, labels)?;
            assert_eq!(fit.status, CutStatus::Reached);
            Ok::<_, InputError>(fit.halfspace)
        };
        let fit = crate::Projected::new(projection, inside).fit(&points, &labels).unwrap();
        let fresh = MarginBall::new(&target, 0.6).unwrap().sample(1000, 99).unwrap();
        let truth = target.label_all(&fresh).unwrap();
        let learned = fit.halfspace.label_all(&fresh).unwrap();
        let apart = learned.iter().zip(&truth).filter(|(a, b)| a != b).count();
        assert!(apart < 200, "{apart}");
    }

    #[test]
    fn labels_without_a_halfspace_exhaust_the_volume() {
        let (points, _, _) = noisy(4000, 2, 0.3, 0.0, 1);
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let coins: Vec<Label> =
            (0..4000).map(|_| Label::from_sign(rng.random::<f64>() - 0.5)).collect();
        let learner = CuttingPlane::params(0.0, 0.3, 0.1).batch(100).check().unwrap();
        let fit = learner.fit(&points, &coins).unwrap();
        assert_eq!(fit.status, CutStatus::Exhausted);
        assert!(fit.rounds + fit.ball_cuts <= cutting_plane_rounds(2, 0.3));
        assert!(fit.estimated_error > 0.3);
        // A sample of two batches ends sooner.
        let points = points.select(&(0..200).collect::<Vec<_>>()).unwrap();
        let fit = learner.fit(&points, &coins[..200]).unwrap();
        assert_eq!((fit.rounds, fit.status), (2, CutStatus::SampleSpent));
    }

    #[test]
    fn bad_input_is_typed() {
        let params = CuttingPlane::params;
        for bad in [
            params(0.5, 0.1, 0.1),
            params(f64::NAN, 0.1, 0.1),
            params(0.1, 0.0, 0.1),
            params(0.1, 1.1, 0.1),
            params(0.1, 0.1, 1.0),
            params(0.1, 0.1, 0.1).delta(0.0),
            params(0.1, 0.1, 0.1).batch(0),
        ] {
            assert!(bad.check().is_err());
        }
        let learner = params(0.1, 0.1, 0.1).batch(2).check().unwrap();
        let none = Points::new(vec![], 2).unwrap();
        assert_eq!(learner.fit(&none, &[]), Err(InputError::Empty));
        let one = Points::from_rows(&[[1.0, 0.0]]).unwrap();
        assert!(learner.fit(&one, &[]).is_err());
        let error = learner.fit(&one, &[Label::Positive]).unwrap_err();
        assert!(matches!(error, InputError::ParameterOutOfRange { name: "batch", .. }));
        let far = Points::from_rows(&[[1.0, 1.0], [0.0, 0.0]]).unwrap();
        assert!(learner.fit(&far, &[Label::Positive; 2]).is_err());
        // Demands beyond memory are refused, not attempted.
        let vast = params(0.1, 1e-12, 1e-12).check().unwrap();
        assert!(vast.fit(&one, &[Label::Positive]).is_err());
    }
}
