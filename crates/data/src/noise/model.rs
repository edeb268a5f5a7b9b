//! Label noise: the probability that the label of a point is flipped.
//!
//! The models are those of CKST24 §1. [`Rcn`] has the same probability η everywhere. [`Massart`] allows any η(x) in
//! \[0, η\], chosen by an adversary. [`GlmNoise`] allows at most (1 - |σ(w* · x)|)/2 for a link σ. Under the first two
//! models, some halfspace has error at most η. Under the last one, some halfspace has error at most opt_RCN = E\[(1 -
//! |σ(w* · x)|)/2\].

use super::link::{Link, LinkError, check_link};
use halfspaces_linalg::{
    Classifier, Halfspace, InputError, Label, PointSet, Points, RowView, kernels,
};

/// A noise model, which flips the label sign(w* · x) of x with probability η(x), independently for every example.
///
/// ```
/// use halfspaces_data::NoiseModel;
/// /// Noise that decreases with the distance from the boundary.
/// struct Fading;
/// impl NoiseModel for Fading {
///     fn flip_probability(&self, _: &[f64], margin: f64) -> f64 {
///         0.4 * (1.0 - margin.abs()).max(0.0)
///     }
///     fn rate(&self) -> f64 {
///         0.4
///     }
/// }
/// assert_eq!(Fading.flip_probability(&[0.0, 1.0], -0.5), 0.2);
/// ```
pub trait NoiseModel {
    /// The flip probability η(x), given x and its signed margin w* · x.
    fn flip_probability(&self, x: &[f64], margin: f64) -> f64;

    /// The rate η, an upper bound on all flip probabilities.
    fn rate(&self) -> f64;

    /// The required dimension of the points; `None` if any dimension is valid.
    fn dim(&self) -> Option<usize> {
        None
    }
}

impl<N: NoiseModel + ?Sized> NoiseModel for &N {
    fn flip_probability(&self, x: &[f64], margin: f64) -> f64 {
        (**self).flip_probability(x, margin)
    }

    fn rate(&self) -> f64 {
        (**self).rate()
    }

    fn dim(&self) -> Option<usize> {
        (**self).dim()
    }
}

impl<N: NoiseModel + ?Sized> NoiseModel for Box<N> {
    fn flip_probability(&self, x: &[f64], margin: f64) -> f64 {
        (**self).flip_probability(x, margin)
    }

    fn rate(&self) -> f64 {
        (**self).rate()
    }

    fn dim(&self) -> Option<usize> {
        (**self).dim()
    }
}

fn check_rate(rate: f64) -> Result<(), InputError> {
    let inside = (0.0..0.5).contains(&rate);
    InputError::check_parameter("noise rate", rate, inside, "at least 0 and below 1/2")
}

/// The flip probability η(x), or an error unless it is between 0 and the stated rate.
pub(crate) fn checked_flip_probability<N: NoiseModel + ?Sized>(
    noise: &N,
    x: &[f64],
    margin: f64,
) -> Result<f64, InputError> {
    let p = noise.flip_probability(x, margin);
    let inside = p >= 0.0 && p <= noise.rate() && p <= 1.0;
    let requirement = "between 0 and the rate of its noise model";
    InputError::check_parameter("flip probability", p, inside, requirement)?;
    Ok(p)
}

/// Random classification noise: every label is flipped with the same probability η.
///
/// ```
/// use halfspaces_data::{NoiseModel, Rcn};
/// assert_eq!(Rcn::new(0.2)?.flip_probability(&[1.0], -0.3), 0.2);
/// assert!(Rcn::new(0.5).is_err());
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rcn {
    rate: f64,
}

impl Rcn {
    /// Creates the noise of rate η in [0, 1/2).
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`].
    pub fn new(rate: f64) -> Result<Self, InputError> {
        check_rate(rate)?;
        Ok(Rcn { rate })
    }
}

impl NoiseModel for Rcn {
    fn flip_probability(&self, _: &[f64], _: f64) -> f64 {
        self.rate
    }

    fn rate(&self) -> f64 {
        self.rate
    }
}

/// The part of the domain in which a noise model acts; no label outside it is flipped.
///
/// ```
/// use halfspaces_data::Region;
/// use halfspaces_linalg::Halfspace;
/// let upper = Region::Side(Halfspace::new(vec![0.0, 1.0])?);
/// assert!(upper.contains(&[0.6, 0.1], 0.6) && !upper.contains(&[0.6, -0.1], 0.6));
/// // Margins are w* · x with |w*| = 1; here w* is the first axis.
/// assert!(Region::Far(0.5).contains(&[-0.6, 0.0], -0.6));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Region {
    /// The whole domain.
    Everywhere,
    /// The half of the domain with u · x >= 0, where u is the normal of the given halfspace.
    Side(Halfspace),
    /// Points with |w* · x| at least the threshold, whose labels would otherwise be the most certain.
    Far(f64),
    /// Points with |w* · x| at most the threshold.
    Near(f64),
    /// Points that w* and the given competitor v label differently. Noise of a given rate helps v most in this region,
    /// because v then errs on a fraction 1 - η of the labels in the region and nowhere else. Use -v for the region
    /// where w* and v agree.
    Disagreement(Halfspace),
}

impl Region {
    /// Whether x, with the signed margin w* · x, is in the region.
    #[must_use]
    pub fn contains(&self, x: &[f64], margin: f64) -> bool {
        match self {
            Region::Everywhere => true,
            Region::Side(u) => kernels::dot(u.normal(), x) >= 0.0,
            Region::Far(threshold) => margin.abs() >= *threshold,
            Region::Near(threshold) => margin.abs() <= *threshold,
            Region::Disagreement(v) => {
                Label::from_sign(kernels::dot(v.normal(), x)) != Label::from_sign(margin)
            }
        }
    }

    fn check(&self) -> Result<(), InputError> {
        match self {
            Region::Far(threshold) | Region::Near(threshold) => {
                let inside = *threshold >= 0.0 && threshold.is_finite();
                InputError::check_parameter("threshold", *threshold, inside, "finite, at least 0")
            }
            Region::Everywhere | Region::Side(_) | Region::Disagreement(_) => Ok(()),
        }
    }

    fn dim(&self) -> Option<usize> {
        match self {
            Region::Side(u) | Region::Disagreement(u) => Some(u.dim()),
            Region::Everywhere | Region::Far(_) | Region::Near(_) => None,
        }
    }
}

/// Massart noise: η(x) = η in a region chosen by the adversary and 0 elsewhere.
///
/// Values strictly between 0 and η never give an adversary a larger error, because the error of a classifier is linear
/// in every η(x).
///
/// ```
/// use halfspaces_data::{Massart, NoiseModel, Region};
/// let noise = Massart::new(0.3, Region::Far(0.5))?;
/// assert_eq!(noise.flip_probability(&[0.9, 0.1], 0.9), 0.3);
/// assert_eq!(noise.flip_probability(&[0.1, 0.9], 0.1), 0.0);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Massart {
    rate: f64,
    region: Region,
}

/// Angles by which [`Massart::against_least_squares`] first rotates w* to obtain competitors.
const START_ANGLES: [f64; 4] = [0.4, 0.8, 1.2, std::f64::consts::FRAC_PI_2];

/// Number of times that [`Massart::against_least_squares`] chooses new noise in response to a fit.
const ROUNDS: usize = 4;

impl Massart {
    /// Creates the noise of rate η in [0, 1/2) that flips in `region`.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] if the rate or the threshold of the region is out of range.
    pub fn new(rate: f64, region: Region) -> Result<Self, InputError> {
        check_rate(rate)?;
        region.check()?;
        Ok(Massart { rate, region })
    }

    /// An adaptive adversary: it knows w* and a sample of the marginal, and searches for the competitor v whose
    /// [`Region::Disagreement`] gives least squares the largest error.
    ///
    /// From each of the starting `directions` (only their components orthogonal to w* are used), the adversary rotates
    /// w* by a few angles and creates the noise that favours the rotated halfspace. It then fits a halfspace to the
    /// noisy mean labels by least squares, creates the noise that favours the fit, and repeats. Of all the noise models
    /// tried, the adversary keeps the one whose fit has the largest excess error over w*. This is a local search; other
    /// noise may be worse.
    ///
    /// # Errors
    /// [`InputError::Empty`] without points or directions, [`InputError::DimensionMismatch`],
    /// [`InputError::ZeroVector`] for a zero target, [`InputError::Overflow`], and the errors of [`Massart::new`].
    ///
    /// ```
    /// use halfspaces_data::{Instance, MarginBall, Marginal, Massart, UnitSphere, random_target};
    /// let target = random_target(4, 1)?;
    /// let ball = MarginBall::new(&target, 0.1)?;
    /// let guesses = UnitSphere::new(4)?.sample(3, 2)?;
    /// let noise = Massart::against_least_squares(0.3, &ball.sample(500, 3)?, &target, &guesses)?;
    /// let instance = Instance::new(ball, target, noise)?;
    /// assert!(instance.population(500, 4)?.opt().mean() <= 0.3);
    /// # Ok::<(), halfspaces_linalg::InputError>(())
    /// ```
    pub fn against_least_squares(
        rate: f64,
        points: &Points,
        target: &Halfspace,
        directions: &Points,
    ) -> Result<Self, InputError> {
        check_rate(rate)?;
        if points.is_empty() || directions.is_empty() {
            return Err(InputError::Empty);
        }
        InputError::check_dim(points.dim(), directions.dim())?;
        let target = target.clone().normalised()?;
        let truth = target.label_all(points)?;
        let mut worst: Option<(f64, Massart)> = None;
        for direction in directions.rows() {
            let mut across = direction.as_slice().to_vec();
            kernels::axpy(-direction.dot(target.normal()), target.normal(), &mut across);
            if !halfspaces_linalg::normalise(&mut across) {
                continue;
            }
            for angle in START_ANGLES {
                let mut v: Vec<f64> = target.normal().iter().map(|w| w * angle.cos()).collect();
                kernels::axpy(angle.sin(), &across, &mut v);
                for _ in 0..ROUNDS {
                    let competitor = Halfspace::new(v)?;
                    let favoured = competitor.label_all(points)?;
                    // η(x) = η where the competitor and w* disagree, so the mean label shrinks to 1 - 2η there.
                    let flips = favoured.iter().zip(&truth).map(|(v, y)| v != y);
                    let means = flips
                        .zip(&truth)
                        .map(|(flip, y)| y.as_f64() * if flip { 1.0 - 2.0 * rate } else { 1.0 });
                    let means: Vec<f64> = means.collect();
                    v = least_squares(points, &means)?;
                    let fitted = Halfspace::new(v.clone())?.label_all(points)?;
                    let excess = excess_under(&means, &fitted);
                    if worst.as_ref().is_none_or(|(most, _)| excess > *most) {
                        let region = Region::Disagreement(competitor);
                        worst = Some((excess, Massart { rate, region }));
                    }
                }
            }
        }
        worst.map(|(_, noise)| noise).ok_or(InputError::ZeroVector)
    }

    /// The region in which labels are flipped.
    #[must_use]
    pub fn region(&self) -> &Region {
        &self.region
    }
}

/// The ℓ01 error of the predictions minus that of the true labels. This is the mean over the points of 1 - 2η(x) (the
/// absolute value of the mean label) where the prediction is wrong, and of 0 elsewhere.
fn excess_under(means: &[f64], predictions: &[Label]) -> f64 {
    let wrong = means.iter().zip(predictions).filter(|(m, p)| p.as_f64() * **m < 0.0);
    wrong.map(|(m, _)| m.abs()).sum::<f64>() / means.len().max(1) as f64
}

/// The w that minimises the mean of (w · x - y)², computed by conjugate gradients on the normal equations. In exact
/// arithmetic, the method needs at most d iterations. No matrix is stored or inverted.
fn least_squares(points: &Points, values: &[f64]) -> Result<Vec<f64>, InputError> {
    let dim = points.dim();
    let mut w = vec![0.0; dim];
    let mut residual = vec![0.0; dim];
    points.rows().zip(values).for_each(|(x, y)| x.add_scaled_to(*y, &mut residual));
    let mut step = residual.clone();
    let mut size = kernels::norm_sq(&residual);
    let small = size * 1e-24;
    for _ in 0..2 * dim {
        let mut image = vec![0.0; dim];
        points.rows().for_each(|x| x.add_scaled_to(x.dot(&step), &mut image));
        let curvature = kernels::dot(&step, &image);
        if size <= small || curvature <= 0.0 {
            break;
        }
        let length = size / curvature;
        kernels::axpy(length, &step, &mut w);
        kernels::axpy(-length, &image, &mut residual);
        let left = kernels::norm_sq(&residual);
        step.iter_mut().zip(&residual).for_each(|(s, r)| *s = r + left / size * *s);
        size = left;
    }
    if w.iter().all(|v| v.is_finite()) { Ok(w) } else { Err(InputError::Overflow { row: 0 }) }
}

impl NoiseModel for Massart {
    fn flip_probability(&self, x: &[f64], margin: f64) -> f64 {
        if self.region.contains(x, margin) { self.rate } else { 0.0 }
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn dim(&self) -> Option<usize> {
        self.region.dim()
    }
}

/// The noise of a generalised linear model: η(x) = (1 - |σ(w* · x)|)/2, the maximum that its link allows.
/// [`GlmNoise::within`] sets η(x) to 0 outside a region, which the definition permits.
///
/// ```
/// use halfspaces_data::{GlmNoise, NoiseModel, Region, StandardLink};
/// let noise = GlmNoise::new(StandardLink::clipped(1.0)?)?;
/// assert_eq!(noise.flip_probability(&[0.5], -0.5), 0.25);
/// assert_eq!(noise.rate(), 0.5); // labels on the boundary are pure noise
/// let far = noise.with_margin(0.2)?;
/// assert_eq!(far.rate(), 0.4);
/// assert_eq!(far.within(Region::Near(0.4))?.flip_probability(&[0.5], -0.5), 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GlmNoise<L> {
    link: L,
    region: Region,
    rate: f64,
}

/// The positive argument closest to 0: the smallest positive normal floating-point number.
const NEXT_TO_ZERO: f64 = f64::MIN_POSITIVE;

impl<L: Link> GlmNoise<L> {
    /// Creates the noise of the given link.
    ///
    /// # Errors
    /// [`LinkError`] if the function is not a link; see [`check_link`].
    pub fn new(link: L) -> Result<Self, LinkError> {
        check_link(&link)?;
        let rate = full_noise(&link, 0.0)
            .max(full_noise(&link, NEXT_TO_ZERO))
            .max(full_noise(&link, -NEXT_TO_ZERO));
        Ok(GlmNoise { link, region: Region::Everywhere, rate })
    }

    /// States that |w* · x| >= `margin`, where `margin` is in \[0, 1\]. The rate is then the flip probability at
    /// ±`margin`. If a point is closer to the boundary, for example because of rounding, its flip probability is
    /// limited to that rate.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`].
    pub fn with_margin(self, margin: f64) -> Result<Self, InputError> {
        let inside = (0.0..=1.0).contains(&margin);
        InputError::check_parameter("margin", margin, inside, "between 0 and 1")?;
        let nearest = margin.max(NEXT_TO_ZERO);
        let rate = full_noise(&self.link, nearest).max(full_noise(&self.link, -nearest));
        Ok(GlmNoise { rate: rate.min(self.rate), ..self })
    }

    /// Restricts flips to `region`.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] if the threshold of the region is out of range.
    pub fn within(self, region: Region) -> Result<Self, InputError> {
        region.check()?;
        Ok(GlmNoise { region, ..self })
    }

    /// The link σ.
    pub fn link(&self) -> &L {
        &self.link
    }
}

/// The maximum flip probability (1 - |σ(t)|)/2, with t clamped to \[-1, 1\]. The result is in \[0, 1/2\] for any
/// rounding of σ.
pub(crate) fn full_noise<L: Link + ?Sized>(link: &L, t: f64) -> f64 {
    (0.5 * (1.0 - link.clamped(t).abs())).clamp(0.0, 0.5)
}

impl<L: Link> NoiseModel for GlmNoise<L> {
    fn flip_probability(&self, x: &[f64], margin: f64) -> f64 {
        if self.region.contains(x, margin) {
            full_noise(&self.link, margin).min(self.rate)
        } else {
            0.0
        }
    }

    fn rate(&self) -> f64 {
        self.rate
    }

    fn dim(&self) -> Option<usize> {
        self.region.dim()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Instance, MarginBall, MarginShell, Marginal, Population, UnitSphere, random_target,
    };

    /// Mean labels (1 - 2η(x)) sign(w* · x).
    fn mean_labels(population: &Population) -> Vec<f64> {
        let flips = population.flip_probabilities().iter();
        population.truth().zip(flips).map(|(y, p)| y.as_f64() * (1.0 - 2.0 * p)).collect()
    }

    #[test]
    fn least_squares_leaves_a_residual_across_the_points() {
        let points = crate::Gaussian::new(6, 30.0).unwrap().sample(40, 1).unwrap();
        let values: Vec<f64> = (0..40).map(|i| f64::from(i % 7) - 2.0).collect();
        let w = least_squares(&points, &values).unwrap();
        let mut left = vec![0.0; 6];
        for (x, y) in points.rows().zip(&values) {
            x.add_scaled_to(y - x.dot(&w), &mut left);
        }
        assert!(left.iter().all(|v| v.abs() < 1e-9), "{left:?}");
        // Points in a plane do not affect the component of w orthogonal to the plane, which stays 0.
        let flat = Points::from_rows(&[[1.0, 2.0, 0.0], [2.0, -1.0, 0.0]]).unwrap();
        let w = least_squares(&flat, &[5.0, 0.0]).unwrap();
        assert!(w.iter().zip([1.0, 2.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn disagreement_helps_the_competitor_most() {
        let target = random_target(4, 1).unwrap();
        let v = random_target(4, 2).unwrap();
        let ball = MarginBall::new(&target, 0.1).unwrap();
        let error = |region| {
            let noise = Massart::new(0.3, region).unwrap();
            let instance = Instance::new(ball.clone(), target.clone(), noise).unwrap();
            instance.population(2000, 3).unwrap().error(&v).unwrap().mean()
        };
        let helped = error(Region::Disagreement(v.clone()));
        let opposite = Halfspace::new(v.normal().iter().map(|x| -x).collect()).unwrap();
        let clean = error(Region::Far(2.0));
        // v errs on the fraction 1 - η of the labels in the region of disagreement, instead of on all of them.
        assert!((helped - 0.7 * clean).abs() < 1e-12);
        let side = random_target(4, 5).unwrap();
        for region in [
            Region::Everywhere,
            Region::Far(0.3),
            Region::Near(0.3),
            Region::Side(side),
            Region::Disagreement(opposite),
        ] {
            assert!(error(region.clone()) > helped, "{region:?}");
        }
    }

    #[test]
    fn the_adaptive_adversary_beats_constant_noise() {
        let target = random_target(3, 1).unwrap();
        for (margin, share) in [(0.1, 0.8), (0.05, 0.9)] {
            let marginal = MarginShell::new(&target, margin, share).unwrap();
            let sample = marginal.sample(1000, 2).unwrap();
            let guesses = UnitSphere::new(3).unwrap().sample(4, 3).unwrap();
            let adaptive = Massart::against_least_squares(0.4, &sample, &target, &guesses).unwrap();
            let fitted_excess = |noise: &Massart| {
                let fresh = marginal.sample(4000, 4).unwrap();
                let population = Population::new(fresh, &target, noise).unwrap();
                let fit = least_squares(population.points(), &mean_labels(&population)).unwrap();
                population.excess(&Halfspace::new(fit).unwrap()).unwrap().mean()
            };
            let constant = fitted_excess(&Massart::new(0.4, Region::Everywhere).unwrap());
            let worst = fitted_excess(&adaptive);
            assert!(worst > constant + 0.05, "γ = {margin}: {worst} against {constant}");
        }
    }

    #[test]
    fn parameters_are_checked() {
        for rate in [-0.1, 0.5, f64::NAN] {
            assert!(Rcn::new(rate).is_err());
            assert!(Massart::new(rate, Region::Everywhere).is_err());
        }
        for threshold in [-0.1, f64::INFINITY, f64::NAN] {
            assert!(Massart::new(0.1, Region::Far(threshold)).is_err());
            assert!(Massart::new(0.1, Region::Near(threshold)).is_err());
        }
        let target = random_target(2, 1).unwrap();
        let none = Points::new(vec![], 2).unwrap();
        let one = Points::from_rows(&[[0.3, 0.4]]).unwrap();
        let zero = Points::from_rows(&[[0.0, 0.0]]).unwrap();
        let line = Points::new(vec![1.0], 1).unwrap();
        let against = |points, directions| {
            Massart::against_least_squares(0.1, points, &target, directions).unwrap_err()
        };
        assert_eq!(against(&none, &one), InputError::Empty);
        assert_eq!(against(&one, &none), InputError::Empty);
        assert_eq!(against(&one, &zero), InputError::ZeroVector);
        assert!(matches!(against(&one, &line), InputError::DimensionMismatch { .. }));
    }

    #[test]
    fn a_link_that_is_none_makes_no_noise() {
        struct Falling;
        impl Link for Falling {
            fn value(&self, t: f64) -> f64 {
                -t
            }
            fn asymmetry(&self) -> f64 {
                0.0
            }
        }
        assert!(matches!(GlmNoise::new(Falling), Err(LinkError::WrongSign { .. })));
    }

    /// The rate is the larger of the rates on the two sides.
    #[test]
    fn the_rate_beyond_a_margin_is_that_of_either_side() {
        for (positive, negative) in [(0.1, 0.3), (0.3, 0.1)] {
            let link = crate::StandardLink::two_rates(positive, negative).unwrap();
            let noise = GlmNoise::new(link).unwrap().with_margin(0.2).unwrap();
            assert!((noise.rate() - 0.3).abs() < 1e-12, "{}", noise.rate());
            let flips = [0.5, -0.5].map(|margin| noise.flip_probability(&[], margin));
            assert!((flips[0] - positive).abs() < 1e-12 && (flips[1] - negative).abs() < 1e-12);
        }
    }

    #[test]
    fn far_and_near_share_their_threshold() {
        let far = |margin| Region::Far(0.5).contains(&[], margin);
        let near = |margin| Region::Near(0.5).contains(&[], margin);
        assert!(far(0.5) && far(-0.5) && !far(0.49));
        assert!(near(0.5) && near(-0.5) && !near(0.51));
    }

    /// Given several directions, the adversary chooses the most harmful one.
    #[test]
    fn more_directions_harm_as_much_as_the_worst_of_them() {
        let target = random_target(3, 1).unwrap();
        let marginal = MarginShell::new(&target, 0.1, 0.8).unwrap();
        let sample = marginal.sample(500, 2).unwrap();
        let guesses = UnitSphere::new(3).unwrap().sample(4, 3).unwrap();
        let harm = |directions: &Points| {
            let noise = Massart::against_least_squares(0.4, &sample, &target, directions).unwrap();
            let population = Population::new(sample.clone(), &target, &noise).unwrap();
            let fit = least_squares(&sample, &mean_labels(&population)).unwrap();
            population.excess(&Halfspace::new(fit).unwrap()).unwrap().mean()
        };
        let each = (0..4).map(|i| harm(&guesses.select(&[i]).unwrap()));
        let worst = each.fold(0.0, f64::max);
        assert!(worst > 0.0 && (harm(&guesses) - worst).abs() < 1e-12, "{worst}");
    }

    /// The first competitors (the target rotated towards each direction by each angle) do no more harm than the noise
    /// that is kept.
    #[test]
    fn the_adversary_harms_no_less_than_where_it_starts() {
        for seed in 1..5 {
            let target = random_target(3, seed).unwrap();
            let sample = MarginShell::new(&target, 0.1, 0.8).unwrap().sample(500, 2).unwrap();
            let guesses = UnitSphere::new(3).unwrap().sample(4, 3).unwrap();
            let harm = |noise: &Massart| {
                let population = Population::new(sample.clone(), &target, noise).unwrap();
                let fit = least_squares(&sample, &mean_labels(&population)).unwrap();
                population.excess(&Halfspace::new(fit).unwrap()).unwrap().mean()
            };
            let kept = Massart::against_least_squares(0.2, &sample, &target, &guesses).unwrap();
            for guess in guesses.rows() {
                let mut across = guess.as_slice().to_vec();
                kernels::axpy(-guess.dot(target.normal()), target.normal(), &mut across);
                assert!(halfspaces_linalg::normalise(&mut across));
                for angle in START_ANGLES {
                    let mut v: Vec<f64> = target.normal().iter().map(|w| w * angle.cos()).collect();
                    kernels::axpy(angle.sin(), &across, &mut v);
                    let start = Region::Disagreement(Halfspace::new(v).unwrap());
                    let start = Massart::new(0.2, start).unwrap();
                    assert!(harm(&kept) >= harm(&start) - 1e-12, "target {seed}, angle {angle}");
                }
            }
        }
    }
}
