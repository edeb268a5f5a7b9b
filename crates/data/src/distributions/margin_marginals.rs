//! Distributions in the unit ball that have a margin but are hard for learners: they have mass at the margin itself,
//! are ill-conditioned orthogonal to the target, or are stretched along one irrelevant direction.
//!
//! Every point satisfies ‖x‖ <= 1 and |w* · x| >= γ even after rounding: the construction keeps a distance of 1e-12
//! from both bounds.

use super::marginal::{MarginBall, Marginal, check_condition, fill_direction, geometric_axes};
use halfspaces_linalg::{Halfspace, InputError, kernels, normalise};
use rand::{Rng, RngExt};

/// Distance that is kept from ‖x‖² = 1 and from |w* · x| = γ. It is far larger than rounding errors.
const SLACK: f64 = 1e-12;

/// The reflection that maps the first axis to ±w*. Points are generated with w* as the first axis and then reflected in
/// O(d) time.
#[derive(Debug, Clone, PartialEq)]
struct Frame {
    /// Unit normal of the mirror.
    mirror: Vec<f64>,
    /// The first axis is mapped to `side` w*.
    side: f64,
    margin: f64,
}

impl Frame {
    fn new(target: &Halfspace, margin: f64) -> Result<Frame, InputError> {
        let inside = margin > 0.0 && margin <= 0.99;
        InputError::check_parameter("margin", margin, inside, "above 0 and at most 0.99")?;
        let mut mirror = target.clone().normalised()?.into_normal();
        // The sign is chosen so that no cancellation occurs.
        let side = if mirror[0] >= 0.0 { -1.0 } else { 1.0 };
        mirror[0] -= side;
        if !normalise(&mut mirror) {
            return Err(InputError::ZeroVector);
        }
        Ok(Frame { mirror, side, margin })
    }

    fn dim(&self) -> usize {
        self.mirror.len()
    }

    /// Maps `out`, whose entries after the first lie in the unit ball, to a point with signed margin `along`. The
    /// entries after the first are scaled so that the point stays in the unit ball.
    fn place(&self, along: f64, out: &mut [f64]) {
        let along = along.clamp(-(1.0 - SLACK), 1.0 - SLACK);
        let reach = (1.0 - SLACK - along * along).max(0.0).sqrt();
        out.iter_mut().for_each(|v| *v *= reach);
        out[0] = self.side * along;
        let through = kernels::dot(out, &self.mirror);
        kernels::axpy(-2.0 * through, &self.mirror, out);
    }
}

fn random_sign<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    if rng.random() { 1.0 } else { -1.0 }
}

fn check_share(share: f64) -> Result<(), InputError> {
    InputError::check_parameter("share", share, (0.0..=1.0).contains(&share), "between 0 and 1")
}

fn check_plane(dim: usize) -> Result<(), InputError> {
    InputError::check_parameter("dimension", dim as f64, dim >= 2, "at least 2")
}

/// Points on the unit sphere: a given fraction is at the margin, |w* · x| = γ, and the others are far from it, with
/// |w* · x| uniform in \[(1 + γ)/2, 1\]. Both sides of w* are equally likely.
///
/// ```
/// use halfspaces_data::{Marginal, MarginShell, random_target};
/// use halfspaces_linalg::margins;
/// let target = random_target(5, 1)?;
/// let points = MarginShell::new(&target, 0.1, 0.9)?.sample(1000, 2)?;
/// let far = margins(&points, target.normal())?.iter().filter(|t| t.abs() > 0.5).count();
/// assert!((50..150).contains(&far));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MarginShell {
    frame: Frame,
    share: f64,
}

impl MarginShell {
    /// Creates the distribution for `target`, `margin` γ in (0, 0.99], and the fraction `share` in \[0, 1\] of points
    /// at the margin.
    ///
    /// # Errors
    /// [`InputError::ZeroVector`], [`InputError::ParameterOutOfRange`].
    pub fn new(target: &Halfspace, margin: f64, share: f64) -> Result<Self, InputError> {
        check_share(share)?;
        Ok(MarginShell { frame: Frame::new(target, margin)?, share })
    }
}

impl Marginal for MarginShell {
    fn dim(&self) -> usize {
        self.frame.dim()
    }

    fn sample_into<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut [f64]) {
        let out = &mut out[..self.dim()];
        fill_direction(rng, &mut out[1..]);
        let margin = self.frame.margin;
        let near: f64 = rng.random();
        let along = if near < self.share {
            margin + SLACK
        } else {
            rng.random_range(0.5 + 0.5 * margin..1.0)
        };
        self.frame.place(random_sign(rng) * along, out);
    }
}

/// Points with |w* · x| uniform in \[γ, min(2γ, 1)\]. Orthogonal to w*, the points are uniform in the largest ellipsoid
/// that the unit ball allows. Relative to the longest axis, the lengths of its axes decrease geometrically from 1 to
/// 1/`condition`.
///
/// The points therefore extend less far along the relevant direction w* than along the longest axis, by a factor of
/// order 1/γ, and the covariance orthogonal to w* has condition number `condition²`.
///
/// ```
/// use halfspaces_data::{IllConditionedBall, Marginal, random_target};
/// use halfspaces_linalg::PointSet;
/// let target = random_target(6, 1)?;
/// let points = IllConditionedBall::new(&target, 0.05, 1e3)?.sample(100, 2)?;
/// assert!(points.max_norm() <= 1.0);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct IllConditionedBall {
    frame: Frame,
    axes: Vec<f64>,
}

impl IllConditionedBall {
    /// Creates the distribution for a `target` in at least two dimensions, `margin` γ in (0, 0.99], and `condition`
    /// between 1 and 1e150.
    ///
    /// # Errors
    /// [`InputError::ZeroVector`], [`InputError::ParameterOutOfRange`].
    pub fn new(target: &Halfspace, margin: f64, condition: f64) -> Result<Self, InputError> {
        check_plane(target.dim())?;
        check_condition(condition)?;
        let axes = geometric_axes(target.dim() - 1, condition)?;
        Ok(IllConditionedBall { frame: Frame::new(target, margin)?, axes })
    }
}

impl Marginal for IllConditionedBall {
    fn dim(&self) -> usize {
        self.frame.dim()
    }

    fn sample_into<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut [f64]) {
        let out = &mut out[..self.dim()];
        let across = &mut out[1..];
        fill_direction(rng, across);
        let u: f64 = rng.random();
        let radius = u.powf(1.0 / across.len() as f64);
        across.iter_mut().zip(&self.axes).for_each(|(v, axis)| *v *= radius * axis);
        let margin = self.frame.margin;
        let along = rng.random_range(margin..(2.0 * margin).min(1.0)).max(margin + SLACK);
        self.frame.place(random_sign(rng) * along, out);
    }
}

/// A fraction of the points is stretched along one direction s orthogonal to w*: x = ±γ w* ± r √(1 - γ²) s, where all
/// signs are equally likely and r is uniform in \[1/2, 1\]. The other points are distributed as in [`MarginBall`].
///
/// The direction with by far the largest variance is irrelevant to the label.
///
/// ```
/// use halfspaces_data::{Marginal, SpikedBall, random_target};
/// use halfspaces_linalg::margins;
/// let (target, spike) = (random_target(6, 1)?, random_target(6, 2)?);
/// let points = SpikedBall::new(&target, 0.1, &spike, 0.8)?.sample(1000, 3)?;
/// let near = margins(&points, target.normal())?.iter().filter(|t| t.abs() < 0.1001).count();
/// assert!((740..860).contains(&near));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SpikedBall {
    normal: Vec<f64>,
    /// Unit vector orthogonal to the normal.
    spike: Vec<f64>,
    margin: f64,
    share: f64,
    ball: MarginBall,
}

impl SpikedBall {
    /// Creates the distribution for `target`, `margin` γ in (0, 0.99], and the fraction `share` in \[0, 1\] of points
    /// on the spike, which lies along the component of `towards` orthogonal to the target.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::ParameterOutOfRange`];
    /// [`InputError::ZeroVector`] if the target is zero, or `towards` is parallel to it.
    pub fn new(
        target: &Halfspace,
        margin: f64,
        towards: &Halfspace,
        share: f64,
    ) -> Result<Self, InputError> {
        InputError::check_dim(target.dim(), towards.dim())?;
        check_plane(target.dim())?;
        check_share(share)?;
        let inside = margin > 0.0 && margin <= 0.99;
        InputError::check_parameter("margin", margin, inside, "above 0 and at most 0.99")?;
        let normal = target.clone().normalised()?.into_normal();
        let mut spike = towards.clone().normalised()?.into_normal();
        // The orthogonal component of a vector parallel to w* is only a rounding error and counts as zero.
        kernels::axpy(-kernels::dot(&spike, &normal), &normal, &mut spike);
        if kernels::norm_sq(&spike) < SLACK * SLACK || !normalise(&mut spike) {
            return Err(InputError::ZeroVector);
        }
        kernels::axpy(-kernels::dot(&spike, &normal), &normal, &mut spike);
        let ball = MarginBall::new(target, margin + 2.0 * SLACK)?;
        Ok(SpikedBall { normal, spike, margin, share, ball })
    }
}

impl Marginal for SpikedBall {
    fn dim(&self) -> usize {
        self.normal.len()
    }

    fn sample_into<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut [f64]) {
        let out = &mut out[..self.dim()];
        let on_spike: f64 = rng.random();
        if on_spike < self.share {
            let along = self.margin + SLACK;
            let reach = (1.0 - SLACK - along * along).sqrt();
            let stretch: f64 = rng.random_range(0.5..1.0);
            out.fill(0.0);
            kernels::axpy(random_sign(rng) * along, &self.normal, out);
            kernels::axpy(random_sign(rng) * stretch * reach, &self.spike, out);
        } else {
            self.ball.sample_into(rng, out);
            out.iter_mut().for_each(|v| *v *= 1.0 - SLACK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_target;
    use halfspaces_linalg::{Classifier, PointSet, Points, RngStream, margins, rng_for};
    use proptest::prelude::*;

    fn bounds_hold(points: &Points, target: &Halfspace, margin: f64) -> Result<(), TestCaseError> {
        prop_assert!(points.max_norm() <= 1.0);
        let along = margins(points, target.normal()).unwrap();
        prop_assert!(along.iter().all(|t| t.abs() >= margin));
        let positive = along.iter().filter(|t| **t > 0.0).count();
        prop_assert!((60..140).contains(&positive), "{} of 200", positive);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn norms_and_margins_are_bounded_for_every_target(
            dim in 2usize..40,
            axis in any::<Option<bool>>(),
            margin in prop_oneof![Just(1e-9), Just(0.99), 0.001..0.99f64],
            share in 0.0..=1.0f64,
            condition in 1.0..1e6f64,
            seed in 0u64..1000,
        ) {
            // Tests rotated targets, and targets in both directions along the first axis.
            let target = match axis {
                None => random_target(dim, seed).unwrap(),
                Some(positive) => {
                    let mut normal = vec![0.0; dim];
                    normal[0] = if positive { 1.0 } else { -1.0 };
                    Halfspace::new(normal).unwrap()
                }
            };
            let spike = random_target(dim, seed + 1).unwrap();
            let shell = MarginShell::new(&target, margin, share).unwrap();
            bounds_hold(&shell.sample(200, seed).unwrap(), &target, margin)?;
            let ill = IllConditionedBall::new(&target, margin, condition).unwrap();
            bounds_hold(&ill.sample(200, seed).unwrap(), &target, margin)?;
            let spiked = SpikedBall::new(&target, margin, &spike, share).unwrap();
            bounds_hold(&spiked.sample(200, seed).unwrap(), &target, margin)?;
        }
    }

    #[test]
    fn the_shares_are_those_stated() {
        let target = random_target(4, 1).unwrap();
        let points = MarginShell::new(&target, 0.2, 0.75).unwrap().sample(2000, 1).unwrap();
        let along = margins(&points, target.normal()).unwrap();
        let near = along.iter().filter(|t| t.abs() < 0.2 + 1e-9).count();
        assert!((1420..1580).contains(&near));
        assert!(along.iter().all(|t| t.abs() < 0.2 + 1e-9 || t.abs() > 0.6 - 1e-9));
        // All points are on the sphere.
        assert!(points.norms().iter().all(|r| (r - 1.0).abs() < 1e-9));
    }

    #[test]
    fn the_ellipsoid_is_as_ill_conditioned_as_stated() {
        // If w* lies along the first axis, the reflection only flips the sign of the first coordinate.
        let target = Halfspace::new(vec![1.0, 0.0, 0.0]).unwrap();
        let points = IllConditionedBall::new(&target, 0.1, 100.0).unwrap().sample(2000, 1).unwrap();
        let spread = |j: usize| points.rows().map(|x| x.as_slice()[j].powi(2)).sum::<f64>().sqrt();
        let ratio = spread(1) / spread(2);
        assert!((ratio / 100.0 - 1.0).abs() < 0.1, "{ratio}");
        // For a uniform distribution in an ellipse, the mean square along the long axis is a quarter of the maximum.
        let longest = points.rows().map(|x| x.as_slice()[1].abs()).fold(0.0, f64::max);
        let share = spread(1).powi(2) / 2000.0 / longest.powi(2);
        assert!((share - 0.25).abs() < 0.02, "{share}");
        assert!(points.rows().all(|x| x.as_slice()[0].abs() <= 0.2 + 1e-9));
    }

    #[test]
    fn the_spike_tells_nothing_about_the_label() {
        let target = random_target(5, 1).unwrap();
        let spike = random_target(5, 2).unwrap();
        let marginal = SpikedBall::new(&target, 0.1, &spike, 1.0).unwrap();
        let points = marginal.sample(2000, 1).unwrap();
        let labels = target.label_all(&points).unwrap();
        let on_spike = margins(&points, &marginal.spike).unwrap();
        assert!(on_spike.iter().all(|s| s.abs() > 0.49));
        let agree = on_spike.iter().zip(&labels).filter(|(s, y)| **s * y.as_f64() > 0.0).count();
        assert!((900..1100).contains(&agree));
    }

    #[test]
    fn parameters_are_checked() {
        let line = Halfspace::new(vec![1.0]).unwrap();
        let plane = Halfspace::new(vec![1.0, 0.0]).unwrap();
        for margin in [0.0, 0.995, f64::NAN] {
            assert!(MarginShell::new(&plane, margin, 0.5).is_err());
            assert!(IllConditionedBall::new(&plane, margin, 1.0).is_err());
            let other = Halfspace::new(vec![1.0, 1.0]).unwrap();
            assert!(SpikedBall::new(&plane, margin, &other, 0.5).is_err());
        }
        assert!(MarginShell::new(&plane, 0.1, 1.5).is_err());
        assert!(MarginShell::new(&line, 0.1, 0.5).unwrap().sample(10, 1).is_ok());
        assert!(IllConditionedBall::new(&line, 0.1, 1.0).is_err());
        assert!(IllConditionedBall::new(&plane, 0.1, 0.5).is_err());
        assert_eq!(SpikedBall::new(&plane, 0.1, &plane, 0.5), Err(InputError::ZeroVector));
        assert!(SpikedBall::new(&plane, 0.1, &line, 0.5).is_err());
        let none = Halfspace::new(vec![0.0, 0.0]).unwrap();
        assert_eq!(MarginShell::new(&none, 0.1, 0.5), Err(InputError::ZeroVector));
    }

    #[test]
    fn a_short_buffer_stops_every_marginal() {
        use crate::{Clusters, FiniteSupport, Gaussian, StudentT, UnitSphere};
        fn stops<M: Marginal>(marginal: &M) {
            let dim = marginal.dim();
            let mut rng = rng_for(RngStream::CALLER, 1);
            let mut room = vec![0.0; dim + 1];
            marginal.sample_into(&mut rng, &mut room);
            assert!(room[dim] == 0.0 && room.iter().any(|v| *v != 0.0));
            let short = std::panic::AssertUnwindSafe(|| {
                marginal.sample_into(&mut rng, &mut room[..dim - 1]);
            });
            assert!(std::panic::catch_unwind(short).is_err());
        }
        let target = random_target(3, 1).unwrap();
        stops(&UnitSphere::new(3).unwrap());
        stops(&Gaussian::new(3, 2.0).unwrap());
        stops(&StudentT::new(3, 2.0, 2.0).unwrap());
        stops(&MarginBall::new(&target, 0.1).unwrap());
        stops(&Clusters::random(3, 2, 0.1, 1).unwrap());
        stops(&FiniteSupport::new(Points::from_rows(&[[1.0, 2.0, 3.0]]).unwrap(), &[1.0]).unwrap());
        stops(&MarginShell::new(&target, 0.1, 0.5).unwrap());
        stops(&IllConditionedBall::new(&target, 0.1, 2.0).unwrap());
        stops(&SpikedBall::new(&target, 0.1, &random_target(3, 2).unwrap(), 0.5).unwrap());
    }
}
