//! The result of a fit: a position with its certificates, and a report of how the position was found.
//!
//! Claims: F1.

use crate::isotropy::Isotropy;
use crate::subspace::Subspace;
use crate::transform::ForsterTransform;
use halfspaces_linalg::{Termination, getters};

/// A subspace, a transform of the points in it, and the certificates of both.
///
/// ```
/// use halfspaces_forster::{ForsterTransform, Outcome};
/// use halfspaces_linalg::{Params, Points};
/// let points = Points::from_rows(&[[2.0, 0.0], [1.0, 0.0], [5.0, 0.0], [1.0, 1.0]])?;
/// let fit = ForsterTransform::params().check()?.fit(&points)?;
/// let Outcome::HeavySubspace(position) = fit.outcome() else { panic!() };
/// assert_eq!(position.subspace.members(), [0, 1, 2]); // 3 of 4 points on a line
/// assert!(position.certificate.holds_within(1e-12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Position {
    /// The subspace and the points in it.
    pub subspace: Subspace,
    /// The transform of the subspace.
    pub transform: ForsterTransform,
    /// Eigenvalues of M over the transformed members, computed from the unit vectors that [`ForsterTransform::apply`]
    /// returns.
    pub certificate: Isotropy,
}

/// The reason why a fit ended unresolved.
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_data::{Marginal, StudentT};
/// use halfspaces_forster::{Accuracy, ForsterTransform, Outcome, Reason};
/// let points = StudentT::new(5, 1.0, 1e6)?.sample(500, 1)?;
/// let params = ForsterTransform::params().accuracy(Accuracy::TwoSided(1e-9)).max_iterations(1);
/// let fit = params.check()?.fit(&points)?;
/// assert!(matches!(fit.outcome(), Outcome::Unresolved { reason: Reason::IterationCap, .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The cap on iterations was reached.
    IterationCap,
    /// The cap on the condition number was reached: the transform degenerates, but no subspace within the tolerance
    /// explains this. This happens if points lie near a subspace but outside the tolerance.
    ConditionCap,
    /// Neither the residual nor the condition number changes any more: at this condition number, rounding errors exceed
    /// the requested accuracy.
    Stalled,
    /// The iteration ended successfully. Because of rounding at this condition number, however, the certificate
    /// computed from the original points does not reach the requested accuracy.
    CertificateMissed,
}

/// The outcome of a fit. It is a status, not an error.
///
/// ```
/// use halfspaces_forster::{ForsterTransform, Outcome};
/// use halfspaces_linalg::{Params, Points};
/// let solver = ForsterTransform::params().check()?;
/// let round = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])?;
/// assert!(matches!(solver.fit(&round)?.outcome(), Outcome::RadiallyIsotropic(_)));
/// let line = Points::from_rows(&[[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [1.0, -1.0]])?;
/// let Outcome::HeavySubspace(position) = solver.fit(&line)?.into_outcome() else { panic!() };
/// assert_eq!(position.subspace.members(), [0, 1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The points are in radially isotropic position on their whole span.
    RadiallyIsotropic(Position),
    /// A proper subspace of the span contains at least its share of the points (the fraction k/d if it has k of the d
    /// dimensions), and these points are in radially isotropic position inside it.
    HeavySubspace(Position),
    /// Neither outcome could be certified. The position is the last one reached, with its true certificate. If its
    /// subspace is not the whole span, the subspace is heavy, but the transform inside it does not reach the accuracy.
    Unresolved {
        /// The last position reached.
        position: Position,
        /// The reason why the fit ended.
        reason: Reason,
    },
}

/// How one level of a fit ended.
///
/// ```
/// use halfspaces_forster::{ForsterTransform, LevelEnd};
/// use halfspaces_linalg::{Params, Points};
/// // Three of four points lie on a line; on the second level, they are in radially isotropic position inside it.
/// let line = Points::from_rows(&[[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [1.0, -1.0]])?;
/// let fit = ForsterTransform::params().check()?.fit(&line)?;
/// let ends: Vec<LevelEnd> = fit.levels().iter().map(|level| level.end).collect();
/// assert_eq!(ends, [LevelEnd::Heavy(1), LevelEnd::Isotropic]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelEnd {
    /// The points of the level are in radially isotropic position.
    Isotropic,
    /// There is a heavy subspace of this dimension; the next level works inside it.
    Heavy(usize),
    /// The level ended without an answer.
    Unresolved(Reason),
}

/// The work on one level. The first level is the whole span, and each later level is a heavy subspace of the previous
/// level.
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_data::{Gaussian, Marginal};
/// use halfspaces_forster::ForsterTransform;
/// let points = Gaussian::new(4, 1000.0)?.sample(300, 1)?;
/// let fit = ForsterTransform::params().check()?.fit(&points)?;
/// let level = &fit.levels()[0];
/// assert_eq!((level.rows, level.dim), (300, 4));
/// assert_eq!(level.residuals.last().map(|r| *r <= 0.5), Some(true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Number of distinct directions.
    pub rows: usize,
    /// Dimension k of the level.
    pub dim: usize,
    /// Number of fixed-point steps.
    pub fixed_point_steps: usize,
    /// Number of Newton steps.
    pub newton_steps: usize,
    /// Number of passes over the rows, including those of rejected steps.
    pub passes: usize,
    /// Number of products with the Hessian. Each product costs about one more pass.
    pub products: usize,
    /// The residual max(1 - λmin, λmax - 1) at the start and after each step.
    pub residuals: Vec<f64>,
    /// Upper estimate of the condition number of the transform relative to the first whitening.
    pub condition: f64,
    /// The end of the level.
    pub end: LevelEnd,
}

impl Level {
    /// Number of fixed-point and Newton steps together.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.fixed_point_steps + self.newton_steps
    }
}

/// The result of a fit.
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_data::{Clusters, Marginal};
/// use halfspaces_forster::{ForsterTransform, Outcome};
/// let points = Clusters::random(4, 6, 0.05, 1)?.sample(300, 2)?;
/// let fit = ForsterTransform::params().check()?.fit(&points)?;
/// assert!(matches!(fit.outcome(), Outcome::RadiallyIsotropic(_)));
/// assert!(fit.position().certificate.residual() <= 1e-6);
/// assert!(fit.levels().len() == 1 && fit.zero_rows().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    pub(crate) outcome: Outcome,
    pub(crate) zero_rows: Vec<usize>,
    pub(crate) distinct: usize,
    pub(crate) levels: Vec<Level>,
}

impl Fit {
    /// The outcome.
    #[must_use]
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Consumes the fit and returns its outcome.
    #[must_use]
    pub fn into_outcome(self) -> Outcome {
        self.outcome
    }

    /// Whether the fit ended with an answer.
    #[must_use]
    pub fn is_resolved(&self) -> bool {
        !matches!(self.outcome, Outcome::Unresolved { .. })
    }

    /// How the fit ended, in the terms common to all learners; [`Outcome`] and [`Reason`] give details. If a transform
    /// degenerates until the cap on the condition number is reached, or if its certificate does not reach the accuracy,
    /// the fit counts as stalled by rounding.
    #[must_use]
    pub fn termination(&self) -> Termination {
        match &self.outcome {
            Outcome::RadiallyIsotropic(_) | Outcome::HeavySubspace(_) => Termination::Converged,
            Outcome::Unresolved { reason: Reason::IterationCap, .. } => {
                // The last level reached the cap on steps, so its number of steps is the cap.
                let last = &self.levels[self.levels.len() - 1];
                Termination::CapReached { cap: last.steps() as u64 }
            }
            Outcome::Unresolved { .. } => Termination::Stalled,
        }
    }

    /// The position, for every outcome. Its certificate shows how close the points are to radially isotropic position.
    #[must_use]
    pub fn position(&self) -> &Position {
        match &self.outcome {
            Outcome::RadiallyIsotropic(position)
            | Outcome::HeavySubspace(position)
            | Outcome::Unresolved { position, .. } => position,
        }
    }

    /// The transform of [`Fit::position`].
    #[must_use]
    pub fn transform(&self) -> &ForsterTransform {
        &self.position().transform
    }

    getters! {
        /// Zero points, which the fit omits.
        zero_rows: &[usize],

        /// Number of distinct directions; exact multiples of a point are merged with it.
        distinct: usize,

        /// The work on each level, in order.
        levels: &[Level],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{Params, Points};

    #[test]
    fn the_termination_is_that_of_the_outcome() {
        // Three of four non-zero points are on a line and repeat the same direction. One more point is zero.
        let heavy = [[2.0, 0.0], [1.0, 0.0], [5.0, 0.0], [0.0, 0.0], [1.0, 1.0]];
        let solver = ForsterTransform::params().check().unwrap();
        let fit = solver.fit(&Points::from_rows(&heavy).unwrap()).unwrap();
        assert_eq!(fit.termination(), Termination::Converged);
        assert_eq!((fit.levels.len(), fit.distinct, &fit.zero_rows[..]), (2, 2, &[3][..]));
        let skew = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 0.1], [1.0, 0.2]]).unwrap();
        let capped = ForsterTransform::params().max_iterations(1).check().unwrap();
        let capped = capped.fit(&skew).unwrap();
        assert_eq!(capped.termination(), Termination::CapReached { cap: 1 });
    }
}
