//! Link functions of generalised linear models.
//!
//! Under a GLM with link σ, the flip probability of x is at most (1 - |σ(w* · x)|)/2. The learners that use σ require
//! that it does not decrease, has the sign of its argument and has a known asymmetry τ (CKST24, Definition 2). These
//! properties are proved for each [`StandardLink`]; [`check_link`] tests any other function at many arguments.

use halfspaces_linalg::InputError;
use thiserror::Error;

/// A link σ: \[-1, 1\] -> \[-1, 1\]. The mean label E\[y | x\] of the model has the sign of w* · x, and its absolute
/// value is at least |σ(w* · x)| (CKST24, Definition 2).
///
/// σ is non-decreasing, and sign(t) σ(t) >= 0. As sign(0) = +1 in this project, this condition includes σ(0) >= 0,
/// which CKST24 assumes implicitly.
///
/// ```
/// use halfspaces_data::{Link, check_link};
/// struct Cube;
/// impl Link for Cube {
///     fn value(&self, t: f64) -> f64 {
///         t * t * t
///     }
///     fn asymmetry(&self) -> f64 {
///         0.0
///     }
/// }
/// check_link(&Cube)?;
/// assert_eq!(Cube.clamped(-7.0), -1.0);
/// # Ok::<(), halfspaces_data::LinkError>(())
/// ```
pub trait Link: Send + Sync {
    /// The value σ(t). Callers first clamp t to \[-1, 1\]; see [`Link::clamped`].
    fn value(&self, t: f64) -> f64;

    /// The asymmetry τ: the smallest number with ||σ(t)| - |σ(-t)|| <= τ for every t; 0 for an odd link.
    fn asymmetry(&self) -> f64;

    /// The value of σ after t is clamped to \[-1, 1\], because iterates may leave the unit ball.
    fn clamped(&self, t: f64) -> f64 {
        self.value(t.clamp(-1.0, 1.0))
    }
}

impl<L: Link + ?Sized> Link for &L {
    fn value(&self, t: f64) -> f64 {
        (**self).value(t)
    }

    fn asymmetry(&self) -> f64 {
        (**self).asymmetry()
    }
}

/// The link functions from the literature, with checked parameters.
///
/// ```
/// use halfspaces_data::{Link, StandardLink};
/// let massart = StandardLink::massart(0.2)?;
/// assert_eq!((massart.value(0.5), massart.value(-0.01)), (0.6, -0.6));
/// let skewed = StandardLink::skewed_logistic(4.0, 0.1)?;
/// assert!((skewed.asymmetry() - 0.1).abs() < 1e-12);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Shape", into = "Shape"))]
pub struct StandardLink(Shape);

/// A [`StandardLink`] before its parameters are checked.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Shape {
    TwoRates { positive: f64, negative: f64 },
    Logistic { scale: f64 },
    Clipped { slope: f64 },
    Staircase { levels: u32, top: f64 },
    SkewedLogistic { scale: f64, asymmetry: f64 },
}

impl TryFrom<Shape> for StandardLink {
    type Error = InputError;

    fn try_from(shape: Shape) -> Result<StandardLink, InputError> {
        let rate = |name, value: f64| {
            let inside = (0.0..=0.5).contains(&value);
            InputError::check_parameter(name, value, inside, "between 0 and 1/2")
        };
        let positive = |name, value: f64| {
            let inside = value > 0.0 && value <= MAX_STEEPNESS;
            InputError::check_parameter(name, value, inside, "above 0 and at most 1e150")
        };
        match shape {
            Shape::TwoRates { positive, negative } => {
                rate("noise rate of the positive side", positive)?;
                rate("noise rate of the negative side", negative)?;
            }
            Shape::Logistic { scale } => positive("scale", scale)?,
            Shape::Clipped { slope } => positive("slope", slope)?,
            Shape::Staircase { levels, top } => {
                let some = levels > 0;
                InputError::check_parameter("levels", f64::from(levels), some, "at least 1")?;
                let inside = (0.0..=1.0).contains(&top);
                InputError::check_parameter("top level", top, inside, "between 0 and 1")?;
            }
            Shape::SkewedLogistic { scale, asymmetry } => {
                positive("scale", scale)?;
                let inside = (0.0..1.0).contains(&asymmetry) && asymmetry <= scale.tanh();
                let requirement = "at least 0, below 1 and at most tanh(scale)";
                InputError::check_parameter("asymmetry", asymmetry, inside, requirement)?;
            }
        }
        Ok(StandardLink(shape))
    }
}

impl From<StandardLink> for Shape {
    fn from(link: StandardLink) -> Shape {
        link.0
    }
}

/// Maximum slope and scale, so that products with t in \[-1, 1\] stay finite.
const MAX_STEEPNESS: f64 = 1e150;

impl StandardLink {
    /// Massart noise: σ(t) = (1 - 2η) sign(t), where the rate η = `rate` is in \[0, 1/2\]. Its asymmetry τ is 0.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`].
    pub fn massart(rate: f64) -> Result<Self, InputError> {
        StandardLink::two_rates(rate, rate)
    }

    /// Noise with one rate in \[0, 1/2\] for each side of w*: σ(t) = 1 - 2 `positive` for t >= 0 and -(1 - 2
    /// `negative`) for t < 0. Its asymmetry τ is 2 |`positive` - `negative`|.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`].
    pub fn two_rates(positive: f64, negative: f64) -> Result<Self, InputError> {
        Shape::TwoRates { positive, negative }.try_into()
    }

    /// The logistic link σ(t) = tanh(s t/2), the mean label of logistic regression with weights s w*. The scale s =
    /// `scale` must be positive. The asymmetry τ is 0.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`].
    pub fn logistic(scale: f64) -> Result<Self, InputError> {
        Shape::Logistic { scale }.try_into()
    }

    /// The linear link σ(t) = `slope` t, clipped to \[-1, 1\]. The `slope` must be positive. The asymmetry τ is 0.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`].
    pub fn clipped(slope: f64) -> Result<Self, InputError> {
        Shape::Clipped { slope }.try_into()
    }

    /// A staircase with k = `levels` steps of equal length and height on either side: σ(t) = sign(t) `top` min(1 +
    /// ⌊k|t|⌋, k)/k, where `top` is in \[0, 1\]. The asymmetry τ is 0.
    ///
    /// With one level, the link equals [`StandardLink::massart`] with η = (1 - `top`)/2.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`].
    pub fn staircase(levels: u32, top: f64) -> Result<Self, InputError> {
        Shape::Staircase { levels, top }.try_into()
    }

    /// The logistic link, shifted by b >= 0 towards the positive labels and clamped to 0 where the shift would change
    /// the sign: σ(t) = tanh(s (t + b)/2) for t >= 0, and the minimum of 0 and the same expression for t < 0.
    ///
    /// The asymmetry is largest at t = b, where σ(-b) = 0, so τ = tanh(s b). The argument `asymmetry` is τ, which
    /// determines b. τ must be in \[0, tanh s\] and below 1.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`].
    pub fn skewed_logistic(scale: f64, asymmetry: f64) -> Result<Self, InputError> {
        Shape::SkewedLogistic { scale, asymmetry }.try_into()
    }
}

impl Link for StandardLink {
    fn value(&self, t: f64) -> f64 {
        match self.0 {
            Shape::TwoRates { positive, .. } if t >= 0.0 => 1.0 - 2.0 * positive,
            Shape::TwoRates { negative, .. } => 2.0 * negative - 1.0,
            Shape::Logistic { scale } => (0.5 * scale * t).tanh(),
            Shape::Clipped { slope } => (slope * t).clamp(-1.0, 1.0),
            Shape::Staircase { levels, top } => {
                let levels = f64::from(levels);
                let height = top * (1.0 + (levels * t.abs()).floor()).min(levels) / levels;
                if t >= 0.0 { height } else { -height }
            }
            Shape::SkewedLogistic { scale, asymmetry } => {
                let shifted = (0.5 * (scale * t + asymmetry.atanh())).tanh();
                if t >= 0.0 { shifted } else { shifted.min(0.0) }
            }
        }
    }

    fn asymmetry(&self) -> f64 {
        match self.0 {
            Shape::TwoRates { positive, negative } => 2.0 * (positive - negative).abs(),
            Shape::SkewedLogistic { asymmetry, .. } => asymmetry,
            Shape::Logistic { .. } | Shape::Clipped { .. } | Shape::Staircase { .. } => 0.0,
        }
    }
}

/// The reason why a function is not a link; see [`check_link`].
///
/// ```
/// use halfspaces_data::{Link, LinkError, check_link};
/// /// A function with the wrong sign.
/// struct Backwards;
/// impl Link for Backwards {
///     fn value(&self, margin: f64) -> f64 {
///         -0.5 * margin
///     }
///     fn asymmetry(&self) -> f64 {
///         0.0
///     }
/// }
/// assert!(matches!(check_link(&Backwards), Err(LinkError::WrongSign { .. })));
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LinkError {
    /// A value is NaN or infinite.
    #[error("the link is {value} at {at}; it must be finite")]
    NotFinite {
        /// The argument.
        at: f64,
        /// The value of σ.
        value: f64,
    },
    /// A value lies outside \[-1, 1\].
    #[error("the link is {value} at {at}; it must lie in [-1, 1]")]
    OutsideRange {
        /// The argument.
        at: f64,
        /// The value of σ.
        value: f64,
    },
    /// A value does not have the sign of its argument, or σ(0) < 0.
    #[error(
        "the link is {value} at {at}; it must be at least 0 for arguments >= 0 and at most 0 for arguments < 0"
    )]
    WrongSign {
        /// The argument.
        at: f64,
        /// The value of σ.
        value: f64,
    },
    /// The function decreases.
    #[error("the link decreases between {from} and {to}; it must not decrease")]
    Decreasing {
        /// The smaller argument.
        from: f64,
        /// The larger argument, with the smaller value.
        to: f64,
    },
    /// The stated τ is negative or not finite.
    #[error("the stated asymmetry of the link is {stated}; it must be finite and at least 0")]
    BadAsymmetry {
        /// The stated τ.
        stated: f64,
    },
    /// The asymmetry of the function exceeds its stated τ.
    #[error(
        "|σ(t)| and |σ(-t)| differ by {found} at t = {at}, more than the stated asymmetry {stated}"
    )]
    AsymmetryAboveStated {
        /// The argument t >= 0.
        at: f64,
        /// The difference ||σ(t)| - |σ(-t)||.
        found: f64,
        /// The stated τ.
        stated: f64,
    },
}

/// [`check_link`] probes every multiple of 1/`LINK_PROBE_STEPS` in \[-1, 1\].
pub const LINK_PROBE_STEPS: u32 = 1000;

/// Arguments that [`check_link`] also probes, with both signs, because a link may jump at 0.
pub const LINK_PROBES_NEAR_ZERO: [f64; 6] = [f64::MIN_POSITIVE, 1e-100, 1e-16, 1e-12, 1e-8, 1e-4];

/// Violations of at most this size are accepted as rounding errors of the link.
pub const LINK_TOLERANCE: f64 = 1e-12;

/// Checks that a function is a link and that its asymmetry is as stated.
///
/// The function is evaluated at 0, at the multiples of 1/[`LINK_PROBE_STEPS`] (including ±1) and at
/// ±[`LINK_PROBES_NEAR_ZERO`]. Faults between these arguments are not found.
///
/// # Errors
/// Returns the first fault in increasing order of the argument; the asymmetry is checked last.
///
/// ```
/// use halfspaces_data::{Link, LinkError, check_link};
/// struct Falling;
/// impl Link for Falling {
///     fn value(&self, t: f64) -> f64 {
///         -t
///     }
///     fn asymmetry(&self) -> f64 {
///         0.0
///     }
/// }
/// assert_eq!(check_link(&Falling), Err(LinkError::WrongSign { at: -1.0, value: 1.0 }));
/// ```
pub fn check_link<L: Link + ?Sized>(link: &L) -> Result<(), LinkError> {
    let mut before: Option<(f64, f64)> = None;
    let sizes = probe_sizes();
    let rising = sizes.iter().rev().map(|t| -t).chain([0.0]).chain(sizes.iter().copied());
    for at in rising {
        let value = link.value(at);
        if !value.is_finite() {
            return Err(LinkError::NotFinite { at, value });
        }
        if value.abs() > 1.0 + LINK_TOLERANCE {
            return Err(LinkError::OutsideRange { at, value });
        }
        let signed = if at >= 0.0 { value } else { -value };
        if signed < -LINK_TOLERANCE {
            return Err(LinkError::WrongSign { at, value });
        }
        if let Some((from, lower)) = before
            && value < lower - LINK_TOLERANCE
        {
            return Err(LinkError::Decreasing { from, to: at });
        }
        before = Some((at, value));
    }
    let stated = link.asymmetry();
    if !(stated >= 0.0 && stated.is_finite()) {
        return Err(LinkError::BadAsymmetry { stated });
    }
    for at in sizes {
        let found = (link.value(at).abs() - link.value(-at).abs()).abs();
        if found > stated + LINK_TOLERANCE {
            return Err(LinkError::AsymmetryAboveStated { at, found, stated });
        }
    }
    Ok(())
}

/// The positive probes, in increasing order.
fn probe_sizes() -> Vec<f64> {
    let steps = (1..=LINK_PROBE_STEPS).map(|i| f64::from(i) / f64::from(LINK_PROBE_STEPS));
    LINK_PROBES_NEAR_ZERO.into_iter().chain(steps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A link made of any function and any stated asymmetry.
    struct Made<F>(F, f64);

    impl<F: Fn(f64) -> f64 + Send + Sync> Link for Made<F> {
        fn value(&self, t: f64) -> f64 {
            (self.0)(t)
        }

        fn asymmetry(&self) -> f64 {
            self.1
        }
    }

    fn any_link() -> impl Strategy<Value = StandardLink> {
        prop_oneof![
            (0.0..=0.5, 0.0..=0.5).prop_map(|(p, n)| StandardLink::two_rates(p, n).unwrap()),
            (0.01..1e3).prop_map(|s| StandardLink::logistic(s).unwrap()),
            (0.01..1e3).prop_map(|s| StandardLink::clipped(s).unwrap()),
            (1u32..50, 0.0..=1.0).prop_map(|(k, top)| StandardLink::staircase(k, top).unwrap()),
            (0.05..20.0, 0.0..1.0f64).prop_map(|(s, share)| {
                let tau = (share * f64::tanh(s)).min(0.999_999);
                StandardLink::skewed_logistic(s, tau).unwrap()
            }),
        ]
    }

    proptest! {
        #[test]
        fn standard_links_pass_their_own_check(link in any_link()) {
            prop_assert_eq!(check_link(&link), Ok(()));
        }

        #[test]
        fn the_stated_asymmetry_is_reached(s in 0.1..10.0f64, share in 0.0..0.99f64) {
            let tau = share * s.tanh();
            let link = StandardLink::skewed_logistic(s, tau).unwrap();
            // An argument just beyond the shift b, where the negative side is still 0.
            let b = tau.atanh() / s;
            let found = link.value(b).abs() - link.value(-b).abs();
            prop_assert!((found - tau).abs() < 1e-12);
            if tau > 1e-3 {
                let understated = Made(|t| link.value(t), 0.0);
                let refused = matches!(
                    check_link(&understated),
                    Err(LinkError::AsymmetryAboveStated { .. })
                );
                prop_assert!(refused);
            }
        }
    }

    #[test]
    fn values_by_hand() {
        let stairs = StandardLink::staircase(4, 0.8).unwrap();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-15, "{a} {b}");
        for (t, height) in
            [(0.0, 0.2), (0.24, 0.2), (0.25, 0.4), (0.6, 0.6), (0.75, 0.8), (1.0, 0.8)]
        {
            close(stairs.value(t), height);
            if t > 0.0 {
                close(stairs.value(-t), -height);
            }
        }
        let one = StandardLink::staircase(1, 0.6).unwrap();
        let massart = StandardLink::massart(0.2).unwrap();
        for t in [-1.0, -0.3, -1e-300, -0.0, 0.0, 0.7] {
            close(one.value(t), massart.value(t));
        }
        let logistic = StandardLink::logistic(3.0).unwrap();
        // tanh(s t/2) = 2/(1 + e^-st) - 1.
        close(logistic.value(0.4), 2.0 / (1.0 + (-1.2f64).exp()) - 1.0);
        close(StandardLink::clipped(2.0).unwrap().value(0.3), 0.6);
        assert_eq!(StandardLink::clipped(2.0).unwrap().value(-0.9), -1.0);
        close(StandardLink::two_rates(0.1, 0.3).unwrap().asymmetry(), 0.4);
    }

    #[test]
    fn planted_faults_are_caught() {
        let check = |f: fn(f64) -> f64| check_link(&Made(f, 0.0)).unwrap_err();
        assert!(matches!(check(|t| t.ln()), LinkError::NotFinite { .. }));
        assert!(matches!(check(|t| 1.5 * t), LinkError::OutsideRange { .. }));
        assert!(matches!(check(|t| t + 0.1 - 0.1 * t), LinkError::WrongSign { .. }));
        assert!(matches!(check(|t| t - t.powi(3)), LinkError::Decreasing { .. }));
        // This function is wrong only at 0, because sign(0) = +1.
        let at_zero = check(|t| if t > 0.0 { 0.5 } else { -0.5 });
        assert_eq!(at_zero, LinkError::WrongSign { at: 0.0, value: -0.5 });
        // This function has a peak right next to 0.
        let peak = check(|t| if t.abs() < 1e-15 { t.signum() } else { 0.5 * t.signum() });
        assert!(matches!(peak, LinkError::Decreasing { .. }), "{peak}");
        for tau in [-0.1, f64::NAN, f64::INFINITY] {
            let bad = check_link(&Made(|t| t, tau));
            assert!(matches!(bad, Err(LinkError::BadAsymmetry { .. })));
        }
    }

    #[test]
    fn parameters_are_checked() {
        for bad in [-0.1, 0.6, f64::NAN] {
            assert!(StandardLink::massart(bad).is_err());
            assert!(StandardLink::two_rates(0.1, bad).is_err());
        }
        for bad in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            assert!(StandardLink::logistic(bad).is_err());
            assert!(StandardLink::clipped(bad).is_err());
        }
        assert!(StandardLink::staircase(0, 0.5).is_err());
        assert!(StandardLink::staircase(2, 1.5).is_err());
        // tanh(0.5) = 0.462: the shift would exceed 1.
        assert!(StandardLink::skewed_logistic(0.5, 0.47).is_err());
        assert!(StandardLink::skewed_logistic(100.0, 1.0).is_err());
        assert!(StandardLink::skewed_logistic(0.5, 0.46).is_ok());
    }

    #[test]
    fn a_reference_is_the_same_link() {
        fn parts(link: impl Link) -> (f64, f64, f64) {
            (link.asymmetry(), link.value(0.5), link.clamped(3.0))
        }
        let made = Made(|t: f64| if t < 0.0 { t } else { 0.5 * t }, 0.5);
        assert_eq!(parts(&made), (0.5, 0.25, 0.5));
    }
}
