//! Parameters of the solver: accuracy, kind of steps, and caps.
//!
//! Claims: F1, F2, F3, F4, S7, S8.

use crate::isotropy::Isotropy;
use halfspaces_linalg::{Threads, setters};

/// Minimum δ; the rounding error of certificates is about 1e-14.
pub(crate) const MIN_DELTA: f64 = 1e-11;
/// Range of the membership tolerance: above rounding errors, but too small to hide a genuine direction.
pub(crate) const MEMBERSHIP_RANGE: std::ops::RangeInclusive<f64> = 1e-12..=1e-8;
/// Range of the cap on the condition number.
pub(crate) const CONDITION_RANGE: std::ops::RangeInclusive<f64> = 1e3..=1e15;

/// The accuracy of a radially isotropic position. With M = (d/n) Σ u uᵀ over the transformed points u, scaled to norm
/// 1, δ bounds the distance of the eigenvalues of M from 1.
///
/// δ is relative: it is d times the absolute δ of DKTZ23 §3. One-sided accuracy with δ = 1/2 takes the fewest steps and
/// is sufficient for a learner: every unit v then has |v·u| >= 1/(2√d) for at least 1/(4d) of the points. A scatter
/// matrix needs two-sided accuracy and a small δ.
///
/// ```
/// use halfspaces_forster::{Accuracy, Isotropy};
/// use halfspaces_linalg::Points;
/// // Three of four points on one axis: the eigenvalues are 1/2 and 3/2.
/// let certificate = Isotropy::measure(&Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]])?)?;
/// assert!(Accuracy::OneSided(0.5).is_reached_by(certificate));
/// assert!(Accuracy::TwoSided(0.5).is_reached_by(certificate));
/// assert!(!Accuracy::OneSided(0.4).is_reached_by(certificate));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Accuracy {
    /// The bound λmin(M) >= 1 - δ, which with δ = 1/2 is sufficient for the weak learner of DKTZ23 §3.
    OneSided(f64),
    /// The bounds λmin(M) >= 1 - δ and λmax(M) <= 1 + δ.
    TwoSided(f64),
}

impl Accuracy {
    /// The value of δ.
    #[must_use]
    pub fn delta(self) -> f64 {
        match self {
            Accuracy::OneSided(delta) | Accuracy::TwoSided(delta) => delta,
        }
    }

    /// Whether a certificate reaches this accuracy.
    #[must_use]
    pub fn is_reached_by(self, certificate: Isotropy) -> bool {
        self.accepts((certificate.least(), certificate.largest()), 1.0)
    }

    /// Whether the extreme eigenvalues of M are accurate to within the fraction `share` of δ.
    pub(crate) fn accepts(self, (least, largest): (f64, f64), share: f64) -> bool {
        match self {
            Accuracy::OneSided(delta) => least >= 1.0 - share * delta,
            Accuracy::TwoSided(delta) => {
                least >= 1.0 - share * delta && largest <= 1.0 + share * delta
            }
        }
    }
}

/// The method that improves the transform A in each step. If you are unsure, use the default.
///
/// ```
/// use halfspaces_data::{Gaussian, Marginal};
/// use halfspaces_forster::{ForsterTransform, Step};
/// use halfspaces_linalg::Params;
/// let points = Gaussian::new(3, 100.0)?.sample(200, 1)?;
/// let steps = |step| -> Result<(usize, usize), Box<dyn std::error::Error>> {
///     let fit = ForsterTransform::params().step(step).check()?.fit(&points)?;
///     assert!(fit.is_resolved());
///     let level = &fit.levels()[0];
///     Ok((level.fixed_point_steps, level.newton_steps))
/// };
/// assert_eq!(steps(Step::FixedPoint)?.1, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Step {
    /// Fixed-point steps, with Anderson acceleration once the residual is below 1/2. If the residual after a step
    /// exceeds 0.6 times the residual before it, only Newton steps are taken from then on.
    #[default]
    Automatic,
    /// Always fixed-point steps A <- A M^(-1/2), up to rotation. Each step takes one pass, and the rate of convergence
    /// is about 2/(d+2) on elliptical data.
    FixedPoint,
    /// Always damped Newton steps, with up to 60 passes per step. If no step along the Newton direction is accepted, a
    /// fixed-point step is taken instead.
    Newton,
}

/// Unchecked parameters of the solver [`Forster`](crate::Forster), from
/// [`ForsterTransform::params`](crate::ForsterTransform::params).
///
/// ```
/// use halfspaces_forster::{Accuracy, ForsterTransform, Step};
/// use halfspaces_linalg::Params;
/// let params = ForsterTransform::params()
///     .accuracy(Accuracy::OneSided(0.5))
///     .step(Step::FixedPoint)
///     .max_iterations(500);
/// assert!(params.check().is_ok());
/// assert!(ForsterTransform::params().accuracy(Accuracy::TwoSided(0.0)).check().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ForsterParams {
    pub(crate) accuracy: Accuracy,
    pub(crate) membership: f64,
    pub(crate) step: Step,
    pub(crate) max_iterations: usize,
    pub(crate) max_condition: f64,
    pub(crate) threads: Threads,
}

impl Default for ForsterParams {
    fn default() -> Self {
        ForsterParams {
            accuracy: Accuracy::TwoSided(1e-6),
            membership: 1e-10,
            step: Step::Automatic,
            max_iterations: 200,
            max_condition: 1e13,
            threads: Threads::ONE,
        }
    }
}

impl ForsterParams {
    setters! {
        /// Accuracy, with δ at least 1e-11 and below 1. Default: two-sided 1e-6.
        accuracy: Accuracy,

        /// Maximum residual ‖x - Px‖/‖x‖ of a point x in a subspace, between 1e-12 and 1e-8. Default: 1e-10.
        membership: f64,

        /// Kind of step. Default: automatic.
        step: Step,

        /// Maximum number of steps on one level. Default: 200.
        max_iterations: usize,

        /// Condition number of A, relative to the first whitening, at which the iteration stops. It must be between 1e3
        /// and 1e15. Default: 1e13.
        max_condition: f64,

        /// Number of threads for the passes over the points. Results do not depend on this number, not even in the last
        /// bit. Default: one.
        threads: Threads,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ForsterTransform;
    use halfspaces_linalg::{InputError, Params, Points};

    /// For these ten points on the axes, M = diag(1.2, 0.9, 0.9).
    #[test]
    fn both_sides_count_and_only_where_asked_for() {
        let mut values = vec![0.0; 30];
        for (i, row) in values.chunks_exact_mut(3).enumerate() {
            row[[0, 0, 0, 0, 1, 1, 1, 2, 2, 2][i]] = 1.0;
        }
        let certificate = Isotropy::measure(&Points::new(values, 3).unwrap()).unwrap();
        let reached = |accuracy: Accuracy| accuracy.is_reached_by(certificate);
        assert!(reached(Accuracy::TwoSided(0.2001)) && !reached(Accuracy::TwoSided(0.1999)));
        assert!(reached(Accuracy::OneSided(0.1001)) && !reached(Accuracy::OneSided(0.0999)));
        // With the fraction 0.9 of δ, eigenvalues from 1 - 0.09 to 1 + 0.09 are accepted.
        let accepts = |extremes| Accuracy::TwoSided(0.1).accepts(extremes, 0.9);
        assert!(accepts((0.911, 1.089)) && !accepts((0.909, 1.089)) && !accepts((0.911, 1.091)));
    }

    #[test]
    fn the_ends_of_every_range() {
        let params = ForsterTransform::params;
        let refused = |params: ForsterParams| match params.check() {
            Ok(_) => None,
            Err(InputError::ParameterOutOfRange { name, .. }) => Some(name),
            Err(other) => panic!("{other}"),
        };
        for accuracy in [Accuracy::OneSided as fn(f64) -> Accuracy, Accuracy::TwoSided] {
            for (delta, expected) in
                [(1e-11, None), (0.99e-11, Some("delta")), (0.999, None), (1.0, Some("delta"))]
            {
                assert_eq!(refused(params().accuracy(accuracy(delta))), expected, "{delta}");
            }
            assert_eq!(refused(params().accuracy(accuracy(f64::NAN))), Some("delta"));
        }
        for (least, largest, name) in [(1e-12, 1e-8, "membership"), (1e3, 1e15, "max_condition")] {
            let set = |value| match name {
                "membership" => params().membership(value),
                _ => params().max_condition(value),
            };
            assert_eq!((refused(set(least)), refused(set(largest))), (None, None));
            for value in [0.99 * least, 1.01 * largest, f64::NAN] {
                assert_eq!(refused(set(value)), Some(name), "{value}");
            }
        }
        assert_eq!(refused(params().max_iterations(0)), Some("max_iterations"));
        assert_eq!(refused(params().max_iterations(1)), None);
    }
}
