//! Distributions of points.

use crate::streams;
use halfspaces_linalg::{Halfspace, InputError, Points, kernels, normalise, rng_for, zeros};
use rand::{Rng, RngExt};
use rand_distr::{ChiSquared, Distribution, StandardNormal};

/// A distribution of points in R^d, without labels.
///
/// ```
/// use halfspaces_data::{Marginal, UnitSphere};
/// use halfspaces_linalg::PointSet;
/// let points = UnitSphere::new(3)?.sample(100, 1)?;
/// assert_eq!((points.len(), points.dim()), (100, 3));
/// assert_eq!(points, UnitSphere::new(3)?.sample(100, 1)?); // the seed determines the sample
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
pub trait Marginal {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// Draws one point into the first [`Marginal::dim`] entries of `out`.
    ///
    /// # Panics
    /// Panics if `out` is shorter.
    fn sample_into<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut [f64]);

    /// Draws `n` independent points.
    ///
    /// # Errors
    /// [`InputError::TooLarge`]; [`InputError::NonFinite`] if an implementation draws a non-finite value, which the
    /// implementations of this crate never do.
    fn sample_with_rng<R: Rng + ?Sized>(
        &self,
        n: usize,
        rng: &mut R,
    ) -> Result<Points, InputError> {
        let dim = self.dim().max(1);
        let mut values = zeros(n, dim)?;
        for row in values.chunks_exact_mut(dim) {
            self.sample_into(rng, row);
        }
        Points::new(values, dim)
    }

    /// Draws `n` independent points with the random stream of `seed`.
    ///
    /// # Errors
    /// Same as [`Marginal::sample_with_rng`].
    fn sample(&self, n: usize, seed: u64) -> Result<Points, InputError> {
        self.sample_with_rng(n, &mut rng_for(streams::POINTS, seed))
    }
}

impl<M: Marginal + ?Sized> Marginal for &M {
    fn dim(&self) -> usize {
        (**self).dim()
    }

    fn sample_into<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut [f64]) {
        (**self).sample_into(rng, out);
    }
}

fn fill_normal<R: Rng + ?Sized>(rng: &mut R, out: &mut [f64]) {
    for v in out {
        *v = StandardNormal.sample(rng);
    }
}

/// Draws a uniformly random direction. A draw of the zero vector is repeated.
pub(crate) fn fill_direction<R: Rng + ?Sized>(rng: &mut R, out: &mut [f64]) {
    loop {
        fill_normal(rng, out);
        if normalise(out) || out.is_empty() {
            return;
        }
    }
}

/// Axis lengths that decrease geometrically from 1 to `1/condition`.
pub(crate) fn geometric_axes(dim: usize, condition: f64) -> Result<Vec<f64>, InputError> {
    let steps = (dim.max(2) - 1) as f64;
    let mut axes = zeros(1, dim)?;
    for (j, axis) in axes.iter_mut().enumerate() {
        *axis = condition.powf(-(j as f64) / steps);
    }
    Ok(axes)
}

fn check_dim(dim: usize) -> Result<(), InputError> {
    if dim == 0 { Err(InputError::ZeroDimension) } else { Ok(()) }
}

pub(crate) fn check_condition(condition: f64) -> Result<(), InputError> {
    InputError::check_parameter(
        "condition",
        condition,
        (1.0..=1e150).contains(&condition),
        "between 1 and 1e150",
    )
}

/// The uniform distribution on the unit sphere of R^d, for any d >= 1.
///
/// ```
/// use halfspaces_data::{Marginal, UnitSphere};
/// use halfspaces_linalg::PointSet;
/// let points = UnitSphere::new(5)?.sample(10, 0)?;
/// assert!(points.norms().iter().all(|r| (r - 1.0).abs() < 1e-15));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct UnitSphere {
    dim: usize,
}

impl UnitSphere {
    /// Creates the distribution on the sphere in R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`].
    pub fn new(dim: usize) -> Result<Self, InputError> {
        check_dim(dim)?;
        Ok(UnitSphere { dim })
    }
}

impl Marginal for UnitSphere {
    fn dim(&self) -> usize {
        self.dim
    }

    fn sample_into<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut [f64]) {
        let out = &mut out[..self.dim()];
        fill_direction(rng, out);
    }
}

/// A centred Gaussian with independent coordinates. The standard deviations decrease geometrically from 1 to
/// `1/condition`, so the covariance has condition number `condition²`.
///
/// ```
/// use halfspaces_data::{Gaussian, Marginal};
/// let points = Gaussian::new(4, 1.0)?.sample(10, 0)?; // standard normal
/// # assert_eq!(points.as_slice().len(), 40);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Gaussian {
    axes: Vec<f64>,
}

impl Gaussian {
    /// Creates the distribution in R^`dim`, with `condition` between 1 (standard normal) and 1e150.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::ParameterOutOfRange`].
    pub fn new(dim: usize, condition: f64) -> Result<Self, InputError> {
        check_dim(dim)?;
        check_condition(condition)?;
        Ok(Gaussian { axes: geometric_axes(dim, condition)? })
    }
}

impl Marginal for Gaussian {
    fn dim(&self) -> usize {
        self.axes.len()
    }

    fn sample_into<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut [f64]) {
        let out = &mut out[..self.dim()];
        fill_normal(rng, out);
        out.iter_mut().zip(&self.axes).for_each(|(v, a)| *v *= a);
    }
}

/// Multivariate Student-t: a [`Gaussian`] with the given condition number, divided by `sqrt(χ²_ν / ν)` and conditioned
/// on a squared norm within the range of `f64`. Margins become tiny when heavy tails (for ν = 1 there is no mean) are
/// combined with a large condition number.
///
/// ```
/// use halfspaces_data::{Marginal, StudentT};
/// let wild = StudentT::new(5, 1.0, 1e6)?.sample(100, 3)?;
/// # assert_eq!(wild.as_slice().len(), 500);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct StudentT {
    gaussian: Gaussian,
    degrees_of_freedom: f64,
    chi_squared: ChiSquared<f64>,
}

impl StudentT {
    /// Creates the distribution in R^`dim`, with `degrees_of_freedom` ν in [0.1, 1e6]; `condition` is as in
    /// [`Gaussian::new`].
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], [`InputError::ParameterOutOfRange`].
    pub fn new(dim: usize, degrees_of_freedom: f64, condition: f64) -> Result<Self, InputError> {
        let gaussian = Gaussian::new(dim, condition)?;
        let out_of_range = InputError::ParameterOutOfRange {
            name: "degrees_of_freedom",
            value: degrees_of_freedom,
            requirement: "between 0.1 and 1e6",
        };
        if !(0.1..=1e6).contains(&degrees_of_freedom) {
            return Err(out_of_range);
        }
        let chi_squared = ChiSquared::new(degrees_of_freedom).map_err(|_| out_of_range)?;
        Ok(StudentT { gaussian, degrees_of_freedom, chi_squared })
    }
}

impl Marginal for StudentT {
    fn dim(&self) -> usize {
        self.gaussian.dim()
    }

    fn sample_into<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut [f64]) {
        let out = &mut out[..self.dim()];
        // With ν near 0.1, the divisor can underflow to 0, so the draw is repeated until the point and its squares are
        // finite.
        loop {
            self.gaussian.sample_into(rng, out);
            let divisor = (self.chi_squared.sample(rng) / self.degrees_of_freedom).sqrt();
            out.iter_mut().for_each(|v| *v /= divisor);
            if kernels::norm_sq(out).is_finite() {
                return;
            }
        }
    }
}

/// The uniform distribution in the unit ball, conditioned on `|w* · x| >= γ` for a given target `w*`.
///
/// The coordinate along `w*` is sampled directly from its distribution, so a margin that leaves almost no volume (γ
/// near 1, or d large) costs no more than any other. The bound on `|w* · x|` is exact up to rounding (1e-15).
///
/// ```
/// use halfspaces_linalg::Classifier;
/// use halfspaces_data::{Marginal, MarginBall, random_target};
/// let target = random_target(20, 1)?;
/// let points = MarginBall::new(&target, 0.2)?.sample(100, 2)?;
/// let labels = target.label_all(&points)?;
/// assert!(target.margin_on(&points, &labels)? >= 0.2 - 1e-12);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MarginBall {
    /// Unit normal of the target.
    normal: Vec<f64>,
    margin: f64,
}

impl MarginBall {
    /// Creates the distribution in the space of the target, with `margin` γ in [0, 1).
    ///
    /// # Errors
    /// [`InputError::ZeroVector`] for a zero target, [`InputError::ParameterOutOfRange`].
    pub fn new(target: &Halfspace, margin: f64) -> Result<Self, InputError> {
        let in_range = (0.0..1.0).contains(&margin);
        InputError::check_parameter("margin", margin, in_range, "at least 0 and below 1")?;
        Ok(MarginBall { normal: target.clone().normalised()?.into_normal(), margin })
    }

    /// Draws t in [γ, 1] with density proportional to (1 - t²)^a, where a = (d - 1)/2. This is the distribution of the
    /// distance from the boundary.
    fn distance<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let a = (self.normal.len() - 1) as f64 / 2.0;
        let from = self.margin;
        // The log-density is concave, so its tangent at `from` lies above it. Propose t from the truncated exponential
        // distribution given by the tangent, and accept t with a probability equal to the ratio of the densities. If
        // `from` is below the scale 1/√d of the distribution, the tangent at `from` would be nearly flat, so the
        // tangent at that scale is used instead.
        let touch = from.max((2.0 * a + 2.0).sqrt().recip());
        let rate = 2.0 * a * touch / (1.0 - touch * touch);
        let log_density = |t: f64| if a > 0.0 { a * (-t * t).ln_1p() } else { 0.0 };
        let tangent = |t: f64| log_density(touch) - rate * (t - touch);
        loop {
            let u: f64 = rng.random();
            let t = if rate * (1.0 - from) < 1e-9 {
                from + u * (1.0 - from)
            } else {
                // The inverse distribution function of the truncated exponential distribution.
                from - (u * (-rate * (1.0 - from)).exp_m1()).ln_1p() / rate
            };
            let t = t.clamp(from, 1.0);
            let accept: f64 = rng.random();
            if accept.ln() <= log_density(t) - tangent(t) {
                return t;
            }
        }
    }
}

impl Marginal for MarginBall {
    fn dim(&self) -> usize {
        self.normal.len()
    }

    fn sample_into<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut [f64]) {
        let out = &mut out[..self.dim()];
        let along = self.distance(rng);
        let side = if rng.random::<bool>() { 1.0 } else { -1.0 };
        if self.normal.len() == 1 {
            out.fill(side * along * self.normal[0]);
            return;
        }
        // The other coordinates are uniform in the (d-1)-ball of radius sqrt(1 - t²) orthogonal to the normal.
        loop {
            fill_normal(rng, out);
            // The component along the normal is subtracted twice, because cancellation can leave a part of it the first
            // time.
            for _ in 0..2 {
                let component = kernels::dot(out, &self.normal);
                kernels::axpy(-component, &self.normal, out);
            }
            if normalise(out) {
                break;
            }
        }
        let u: f64 = rng.random();
        let reach = (1.0 - along * along).sqrt() * u.powf(1.0 / (self.normal.len() - 1) as f64);
        out.iter_mut().for_each(|v| *v *= reach);
        kernels::axpy(side * along, &self.normal, out);
    }
}

/// A mixture of equally likely Gaussian clusters. Each point is a centre plus `spread` times a standard normal vector.
///
/// ```
/// use halfspaces_data::{Clusters, Marginal};
/// let points = Clusters::random(10, 4, 0.1, 5)?.sample(100, 6)?;
/// # assert_eq!(points.as_slice().len(), 1000);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters {
    centres: Points,
    spread: f64,
}

impl Clusters {
    /// Creates the mixture with the given centres; `spread` is the standard deviation of every coordinate.
    ///
    /// # Errors
    /// [`InputError::Empty`] if there are no centres; [`InputError::ParameterOutOfRange`] if `spread` is not between 0
    /// and 1e150.
    pub fn new(centres: Points, spread: f64) -> Result<Self, InputError> {
        if centres.as_slice().is_empty() {
            return Err(InputError::Empty);
        }
        let in_range = (0.0..=1e150).contains(&spread);
        InputError::check_parameter("spread", spread, in_range, "between 0 and 1e150")?;
        Ok(Clusters { centres, spread })
    }

    /// Creates the mixture with `count` centres drawn uniformly from the unit sphere of R^`dim` with the random stream
    /// of `seed`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`], and the errors of [`Clusters::new`].
    pub fn random(dim: usize, count: usize, spread: f64, seed: u64) -> Result<Self, InputError> {
        let rng = &mut rng_for(streams::CLUSTER_CENTRES, seed);
        Clusters::new(UnitSphere::new(dim)?.sample_with_rng(count, rng)?, spread)
    }
}

impl Marginal for Clusters {
    fn dim(&self) -> usize {
        halfspaces_linalg::PointSet::dim(&self.centres)
    }

    fn sample_into<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut [f64]) {
        let out = &mut out[..self.dim()];
        let dim = self.dim();
        let count = self.centres.as_slice().len() / dim;
        let centre = rng.random_range(0..count) * dim;
        fill_normal(rng, out);
        for (v, c) in out.iter_mut().zip(&self.centres.as_slice()[centre..centre + dim]) {
            *v = c + self.spread * *v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_target;
    use halfspaces_linalg::RngStream;
    use halfspaces_linalg::{PointSet, margins};
    use statrs::distribution::{Beta, ContinuousCDF, Normal};

    /// The largest distance between the empirical and the given distribution function, times √n. Under the null
    /// hypothesis, a value above 1.95 has a probability below 0.001.
    fn kolmogorov(mut sample: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
        sample.sort_by(f64::total_cmp);
        let n = sample.len() as f64;
        let gap = sample.iter().enumerate().map(|(i, x)| {
            let f = cdf(*x);
            (f - i as f64 / n).abs().max(((i + 1) as f64 / n - f).abs())
        });
        gap.fold(0.0, f64::max) * n.sqrt()
    }

    fn column(points: &Points, j: usize) -> Vec<f64> {
        points.rows().map(|x| x.as_slice()[j]).collect()
    }

    #[test]
    fn sphere_coordinates_have_the_beta_law() {
        for dim in [2, 3, 17] {
            let points = UnitSphere::new(dim).unwrap().sample(4000, 11).unwrap();
            let law = Beta::new(0.5, (dim - 1) as f64 / 2.0).unwrap();
            let squares = column(&points, dim - 1).into_iter().map(|v| v * v).collect();
            assert!(kolmogorov(squares, |s| law.cdf(s)) < 1.95, "d = {dim}");
        }
        let line = UnitSphere::new(1).unwrap().sample(50, 1).unwrap();
        assert!(line.as_slice().iter().all(|v| v.abs() == 1.0));
        assert!(line.as_slice().contains(&1.0) && line.as_slice().contains(&-1.0));
    }

    #[test]
    fn gaussian_axes_span_the_condition() {
        let points = Gaussian::new(3, 100.0).unwrap().sample(4000, 5).unwrap();
        for (j, scale) in [(0, 1.0), (1, 0.1), (2, 0.01)] {
            let law = Normal::new(0.0, scale).unwrap();
            assert!(kolmogorov(column(&points, j), |v| law.cdf(v)) < 1.95, "axis {j}");
        }
    }

    #[test]
    fn student_t_coordinates_have_the_t_law() {
        use statrs::distribution::StudentsT;
        let points = StudentT::new(2, 1.0, 10.0).unwrap().sample(4000, 6).unwrap();
        let law = StudentsT::new(0.0, 0.1, 1.0).unwrap();
        assert!(kolmogorov(column(&points, 1), |v| law.cdf(v)) < 1.95);
        // Even with the heaviest tails allowed, all points are finite.
        StudentT::new(2, 0.1, 1e150).unwrap().sample(2000, 6).unwrap();
    }

    #[test]
    fn margin_ball_is_uniform_where_it_lives() {
        for (dim, margin) in [(1, 0.3), (2, 0.0), (3, 0.1), (10, 0.5), (50, 0.02), (200, 0.3)] {
            let target = random_target(dim, 3).unwrap();
            let points = MarginBall::new(&target, margin).unwrap().sample(3000, 4).unwrap();
            assert!(points.max_norm() <= 1.0 + 1e-12);
            let along: Vec<f64> = margins(&points, target.normal()).unwrap();
            assert!(along.iter().all(|t| t.abs() >= margin - 1e-12));
            // For the uniform ball, t² has the distribution Beta(1/2, (d+1)/2), here truncated at γ².
            let law = Beta::new(0.5, (dim + 1) as f64 / 2.0).unwrap();
            let upper = |s: f64| law.sf(s);
            let total = upper(margin * margin);
            let squares = along.iter().map(|t| t * t).collect();
            let distance = kolmogorov(squares, |s| 1.0 - upper(s.min(1.0)) / total);
            assert!(distance < 1.95, "d = {dim}, margin = {margin}: {distance}");
            let positive = along.iter().filter(|t| **t > 0.0).count();
            assert!((1300..1700).contains(&positive));
        }
    }

    #[test]
    fn margin_ball_radii_follow_the_volume() {
        // Orthogonal to the normal, the scaled radius to the power d - 1 is uniform.
        let target = Halfspace::new(vec![0.0, 0.0, 2.0]).unwrap();
        let points = MarginBall::new(&target, 0.25).unwrap().sample(3000, 9).unwrap();
        let powers = points.rows().map(|x| {
            let [a, b, t] = x.as_slice() else { unreachable!() };
            (a * a + b * b) / (1.0 - t * t)
        });
        assert!(kolmogorov(powers.collect(), |v| v) < 1.95);
    }

    #[test]
    fn clusters_sit_around_their_centres() {
        let centres = Points::from_rows(&[[10.0, 0.0], [0.0, -10.0]]).unwrap();
        let points = Clusters::new(centres, 0.1).unwrap().sample(400, 2).unwrap();
        let near = |x: &[f64], c: [f64; 2]| (x[0] - c[0]).hypot(x[1] - c[1]) < 1.0;
        let first = points.rows().filter(|x| near(x.as_slice(), [10.0, 0.0])).count();
        let second = points.rows().filter(|x| near(x.as_slice(), [0.0, -10.0])).count();
        assert_eq!(first + second, 400);
        assert!((140..260).contains(&first));
    }

    #[test]
    fn a_longer_buffer_keeps_its_end() {
        let mut rng = rng_for(RngStream::CALLER, 1);
        let mut long = [7.0; 5];
        UnitSphere::new(3).unwrap().sample_into(&mut rng, &mut long);
        assert!((kernels::norm_sq(&long[..3]) - 1.0).abs() < 1e-12);
        assert_eq!(long[3..], [7.0; 2]);
    }

    #[test]
    fn parameters_are_checked() {
        assert_eq!(UnitSphere::new(0), Err(InputError::ZeroDimension));
        assert!(Gaussian::new(2, 0.5).is_err());
        assert!(Gaussian::new(2, f64::NAN).is_err());
        assert!(StudentT::new(2, 0.0, 1.0).is_err());
        let target = random_target(2, 1).unwrap();
        for margin in [-0.1, 1.0, f64::NAN] {
            assert!(matches!(
                MarginBall::new(&target, margin),
                Err(InputError::ParameterOutOfRange { name: "margin", .. })
            ));
        }
        assert!(Clusters::random(2, 0, 0.1, 1).is_err());
        assert!(Clusters::random(2, 1, f64::INFINITY, 1).is_err());
    }
}
