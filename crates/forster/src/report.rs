//! What a fit returns: a position with its certificates, how sure it is, and how it was found.

use crate::isotropy::Isotropy;
use crate::subspace::Subspace;
use crate::transform::ForsterTransform;

/// A subspace, a transform of the points in it, and the certificates of both.
///
/// ```
/// use halfspaces_forster::{ForsterTransform, Outcome};
/// use halfspaces_linalg::Points;
/// let points = Points::from_rows(&[[2.0, 0.0], [1.0, 0.0], [5.0, 0.0], [1.0, 1.0]])?;
/// let fit = ForsterTransform::params().check()?.fit(&points)?;
/// let Outcome::HeavySubspace(position) = fit.outcome() else { panic!() };
/// assert_eq!(position.subspace.members(), [0, 1, 2]); // 3 of 4 points on a line
/// assert!(position.certificate.holds_within(1e-12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Position {
    /// The subspace and the points in it.
    pub subspace: Subspace,
    /// The transform of the subspace.
    pub transform: ForsterTransform,
    /// Eigenvalues of M over the transformed members, computed from the unit vectors that
    /// [`ForsterTransform::apply`] hands out.
    pub certificate: Isotropy,
}

/// Why a fit ended without an answer.
///
/// ```
/// use halfspaces_data::{Marginal, StudentT};
/// use halfspaces_forster::{Accuracy, ForsterTransform, Outcome, Reason};
/// let points = StudentT::new(5, 1.0, 1e6)?.sample(500, 1)?;
/// let params = ForsterTransform::params().accuracy(Accuracy::TwoSided(1e-9)).max_iterations(1);
/// let fit = params.check()?.fit(&points)?;
/// assert!(matches!(fit.outcome(), Outcome::Unresolved { reason: Reason::IterationCap, .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Reason {
    /// The cap on iterations was reached.
    IterationCap,
    /// The cap on the condition was reached: the transform degenerates, and no subspace that the
    /// tolerance recognises explains it. Points that lie near a subspace, but not within the
    /// tolerance, look like this.
    ConditionCap,
    /// Neither the residual nor the condition moves any more: rounding at this condition is larger than
    /// the accuracy asked for.
    Stalled,
    /// The iteration ended well, but the certificate computed from the points as given falls short:
    /// rounding at this condition is larger than the accuracy asked for.
    CertificateMissed,
}

/// What a fit found. A status, not an error: all three are answers.
///
/// ```
/// use halfspaces_forster::{ForsterTransform, Outcome};
/// use halfspaces_linalg::Points;
/// let solver = ForsterTransform::params().check()?;
/// let round = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])?;
/// assert!(matches!(solver.fit(&round)?.outcome(), Outcome::RadiallyIsotropic(_)));
/// let line = Points::from_rows(&[[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [1.0, -1.0]])?;
/// let Outcome::HeavySubspace(position) = solver.fit(&line)?.into_outcome() else { panic!() };
/// assert_eq!(position.subspace.members(), [0, 1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Outcome {
    /// The points are in position on their whole span.
    RadiallyIsotropic(Position),
    /// A proper subspace of the span holds at least its share of the points, and they are in position
    /// inside it.
    HeavySubspace(Position),
    /// Neither is certain. The position is the last one reached, with its true certificate: the
    /// subspace, if not the whole span, is heavy, but the transform inside it falls short.
    Unresolved {
        /// The last position.
        position: Position,
        /// What ended the fit.
        reason: Reason,
    },
}

/// How one level of a fit ended.
///
/// ```
/// use halfspaces_forster::{ForsterTransform, LevelEnd};
/// use halfspaces_linalg::Points;
/// // Three of four points on a line: the second level is in position there.
/// let line = Points::from_rows(&[[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [1.0, -1.0]])?;
/// let fit = ForsterTransform::params().check()?.fit(&line)?;
/// let ends: Vec<LevelEnd> = fit.levels().iter().map(|level| level.end).collect();
/// assert_eq!(ends, [LevelEnd::Heavy(1), LevelEnd::Isotropic]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum LevelEnd {
    /// In position.
    Isotropic,
    /// In a heavy subspace of this dimension; the next level works inside it.
    Heavy(usize),
    /// Without an answer.
    Unresolved(Reason),
}

/// The work on one level: the whole span first, then each heavy subspace inside the one before.
///
/// ```
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Level {
    /// Distinct directions.
    pub rows: usize,
    /// Dimension k.
    pub dim: usize,
    /// Fixed-point steps.
    pub fixed_point_steps: usize,
    /// Newton steps.
    pub newton_steps: usize,
    /// Passes over the rows, those of rejected steps included.
    pub passes: usize,
    /// Products with the Hessian, each about one pass more.
    pub products: usize,
    /// max(1 - λmin, λmax - 1) at the start and after each step.
    pub residuals: Vec<f64>,
    /// Upper estimate of the condition of the transform relative to the first whitening.
    pub condition: f64,
    /// How it ended.
    pub end: LevelEnd,
}

/// The result of a fit.
///
/// ```
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fit {
    pub(crate) outcome: Outcome,
    pub(crate) zero_rows: Vec<usize>,
    pub(crate) distinct: usize,
    pub(crate) levels: Vec<Level>,
}

impl Fit {
    /// What was found.
    #[must_use]
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// The outcome, given away.
    #[must_use]
    pub fn into_outcome(self) -> Outcome {
        self.outcome
    }

    /// Whether the fit ended with an answer.
    #[must_use]
    pub fn is_resolved(&self) -> bool {
        !matches!(self.outcome, Outcome::Unresolved { .. })
    }

    /// The position, whatever the outcome; its certificate says how good it is.
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

    /// Zero points, which were left out.
    #[must_use]
    pub fn zero_rows(&self) -> &[usize] {
        &self.zero_rows
    }

    /// Number of distinct directions; exact multiples of a point were merged with it.
    #[must_use]
    pub fn distinct(&self) -> usize {
        self.distinct
    }

    /// The work, level by level.
    #[must_use]
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }
}
