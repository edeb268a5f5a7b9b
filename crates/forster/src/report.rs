//! What a fit returns: a position with its certificates, how sure it is, and how it was found.
//!
//! Claims: F1.

#[cfg(feature = "serde")]
use crate::error::ForsterError;
use crate::isotropy::Isotropy;
#[cfg(feature = "serde")]
use crate::saved::{ascend_below, ensure};
use crate::subspace::Subspace;
use crate::transform::ForsterTransform;
use halfspaces_linalg::{Termination, getters, load_checked};

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
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Position {
    /// The subspace and the points in it.
    pub subspace: Subspace,
    /// The transform of the subspace.
    pub transform: ForsterTransform,
    /// Eigenvalues of M over the transformed members, computed from the unit vectors that
    /// [`ForsterTransform::apply`] hands out.
    pub certificate: Isotropy,
}

load_checked!(Position { subspace: Subspace, transform: ForsterTransform, certificate: Isotropy });

#[cfg(feature = "serde")]
impl Position {
    fn check_saved(&self) -> Result<(), ForsterError> {
        let same = self.transform.basis() == self.subspace.basis();
        ensure(same, "the transform is not of the subspace")?;
        ensure(!self.subspace.members().is_empty(), "no point is in position")?;
        let possible = self.certificate.is_of_dimension(self.subspace.dim());
        ensure(possible, "the eigenvalues do not have the sum that unit vectors give")
    }

    /// Whether the subspace is the whole span, with all points in it.
    fn is_whole(&self) -> bool {
        let subspace = &self.subspace;
        subspace.dim() == subspace.span_dim() && subspace.smallest_outside().is_none()
    }

    /// Whether the subspace is a proper one and holds at least its share.
    fn is_heavy(&self) -> bool {
        let subspace = &self.subspace;
        subspace.dim() < subspace.span_dim() && (subspace.is_heavy() || subspace.is_boundary())
    }

    /// Whether this can be an answer.
    pub(crate) fn is_answer(&self) -> bool {
        self.is_whole() || self.is_heavy()
    }
}

/// Why a fit ended without an answer.
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "UncheckedOutcome"))]
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

/// What an [`Outcome`] looks like before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
enum UncheckedOutcome {
    RadiallyIsotropic(Position),
    HeavySubspace(Position),
    Unresolved { position: Position, reason: Reason },
}

#[cfg(feature = "serde")]
impl TryFrom<UncheckedOutcome> for Outcome {
    type Error = ForsterError;

    fn try_from(loaded: UncheckedOutcome) -> Result<Outcome, ForsterError> {
        match loaded {
            UncheckedOutcome::RadiallyIsotropic(position) => {
                ensure(position.is_whole(), "points outside are not in position")?;
                Ok(Outcome::RadiallyIsotropic(position))
            }
            UncheckedOutcome::HeavySubspace(position) => {
                ensure(position.is_heavy(), "a subspace with less than its share is not heavy")?;
                Ok(Outcome::HeavySubspace(position))
            }
            UncheckedOutcome::Unresolved { position, reason } => {
                Ok(Outcome::Unresolved { position, reason })
            }
        }
    }
}

/// How one level of a fit ended.
///
/// ```
/// use halfspaces_forster::{ForsterTransform, LevelEnd};
/// use halfspaces_linalg::{Params, Points};
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

impl Level {
    /// Steps of both kinds.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.fixed_point_steps + self.newton_steps
    }

    #[cfg(feature = "serde")]
    fn check_saved(&self) -> Result<(), ForsterError> {
        ensure((1..=self.rows).contains(&self.dim), "the rows of a level do not span it")?;
        // At the start, whitened, and after each step but a last one that led to a singular transform.
        let steps = self.fixed_point_steps.saturating_add(self.newton_steps);
        let measured = self.residuals.len();
        let start_only = measured == 1 && steps == 0;
        let possible = start_only
            || measured == steps.saturating_add(2)
            || measured == steps.saturating_add(1);
        ensure(possible && measured <= self.passes, "a level has residuals without passes")?;
        let finite = self.residuals.iter().all(|r| r.is_finite());
        ensure(finite && self.condition >= 1.0, "a residual or condition is out of range")
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
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Fit {
    pub(crate) outcome: Outcome,
    pub(crate) zero_rows: Vec<usize>,
    pub(crate) distinct: usize,
    pub(crate) levels: Vec<Level>,
}

load_checked!(Fit { outcome: Outcome, zero_rows: Vec<usize>, distinct: usize, levels: Vec<Level> });

#[cfg(feature = "serde")]
impl Fit {
    fn check_saved(&self) -> Result<(), ForsterError> {
        let subspace = &self.position().subspace;
        let (points, zeros) = (subspace.points(), self.zero_rows.len());
        ensure(ascend_below(&self.zero_rows, points), "the zero points are no points in order")?;
        let members = subspace.members();
        let apart = self.zero_rows.iter().all(|zero| members.binary_search(zero).is_err());
        ensure(apart, "a zero point lies in the subspace")?;
        let placed = members.len() + zeros;
        let fits = match subspace.smallest_outside() {
            None => placed == points,
            Some(_) => placed < points,
        };
        ensure(fits, "points inside, outside and zero are not all points")?;
        let possible = (1..=points - zeros).contains(&self.distinct);
        ensure(possible, "there are not so many directions among the points")?;
        self.check_levels()
    }

    fn check_levels(&self) -> Result<(), ForsterError> {
        let (Some(first), Some(last)) = (self.levels.first(), self.levels.last()) else {
            return ensure(false, "a fit has no level");
        };
        let whole = first.rows == self.distinct && first.dim == self.position().subspace.span_dim();
        ensure(whole, "the first level is not that of the span")?;
        for level in &self.levels {
            level.check_saved()?;
        }
        for (outer, inner) in self.levels.iter().zip(self.levels.iter().skip(1)) {
            let LevelEnd::Heavy(dim) = outer.end else {
                return ensure(false, "a level follows one that found no subspace");
            };
            let inside = inner.dim <= dim && dim < outer.dim && inner.rows <= outer.rows;
            ensure(inside, "a level is not inside the one before")?;
        }
        ensure(last.dim == self.position().subspace.dim(), "the last level is not the subspace's")?;
        let expected = match &self.outcome {
            Outcome::Unresolved { reason, .. } if *reason != Reason::CertificateMissed => {
                LevelEnd::Unresolved(*reason)
            }
            _ => LevelEnd::Isotropic,
        };
        ensure(last.end == expected, "the last level ended otherwise than the fit")
    }
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

    /// How the fit ended, in the words that all learners share; [`Outcome`] and [`Reason`] say more. A
    /// transform that degenerates up to its cap on the condition, or whose certificate falls short, has
    /// stalled by rounding.
    #[must_use]
    pub fn termination(&self) -> Termination {
        match &self.outcome {
            Outcome::RadiallyIsotropic(_) | Outcome::HeavySubspace(_) => Termination::Converged,
            Outcome::Unresolved { reason: Reason::IterationCap, .. } => {
                // The level that was cut off made as many steps as it was allowed.
                let last = &self.levels[self.levels.len() - 1];
                Termination::CapReached { cap: last.steps() as u64 }
            }
            Outcome::Unresolved { .. } => Termination::Stalled,
        }
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

    getters! {
        /// Zero points, which were left out.
        zero_rows: &[usize],

        /// Number of distinct directions; exact multiples of a point were merged with it.
        distinct: usize,

        /// The work, level by level.
        levels: &[Level],
    }
}

#[cfg(test)]
#[cfg(feature = "serde")]
mod tests {
    use super::*;
    use halfspaces_linalg::{Params, Points};
    use serde_json::{Value, json};

    fn fit(rows: &[[f64; 2]]) -> Fit {
        let solver = ForsterTransform::params().check().unwrap();
        solver.fit(&Points::from_rows(rows).unwrap()).unwrap()
    }

    /// Three of four points on a line, a zero point, and a repeated one.
    fn heavy() -> Fit {
        fit(&[[2.0, 0.0], [1.0, 0.0], [5.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    }

    /// The saved value with one place changed.
    fn changed(value: &impl serde::Serialize, place: &str, to: Value) -> Value {
        let mut saved = serde_json::to_value(value).unwrap();
        let there = saved.pointer_mut(place).unwrap_or_else(|| panic!("nothing at {place}"));
        assert_ne!(*there, to, "{place}");
        *there = to;
        saved
    }

    #[test]
    fn what_is_saved_loads() {
        let round = fit(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]]);
        let skew = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 0.1], [1.0, 0.2]]).unwrap();
        let capped = ForsterTransform::params().max_iterations(1).check().unwrap();
        let capped = capped.fit(&skew).unwrap();
        assert_eq!(capped.termination(), Termination::CapReached { cap: 1 });
        assert_eq!(heavy().termination(), Termination::Converged);
        for fit in [round, heavy(), capped] {
            let text = serde_json::to_string(&fit).unwrap();
            assert_eq!(serde_json::from_str::<Fit>(&text).unwrap(), fit);
        }
    }

    #[test]
    fn contradictions_are_refused() {
        let fit = heavy();
        assert_eq!((fit.levels.len(), fit.distinct, &fit.zero_rows[..]), (2, 2, &[3][..]));
        for (place, to) in [
            ("/zero_rows/0", json!(7)),
            ("/zero_rows/0", json!(1)),
            ("/zero_rows", json!([3, 3])),
            ("/zero_rows", json!([3, 4])),
            ("/distinct", json!(0)),
            ("/distinct", json!(5)),
            ("/levels", json!([])),
            ("/levels/0/rows", json!(1)),
            ("/levels/0/rows", json!(3)),
            ("/levels/0/dim", json!(1)),
            ("/levels/0/end", json!({ "Heavy": 2 })),
            ("/levels/0/end", json!("Isotropic")),
            ("/levels/0/passes", json!(0)),
            ("/levels/0/newton_steps", json!(99)),
            ("/levels/0/condition", json!(0.5)),
            ("/levels/1/dim", json!(2)),
            ("/levels/1/rows", json!(0)),
            ("/levels/1/end", json!({ "Unresolved": "Stalled" })),
            ("/outcome/HeavySubspace/subspace/members/0", json!(4)),
            ("/outcome/HeavySubspace/certificate/largest", json!(1.5)),
            ("/outcome/HeavySubspace/transform/basis/values", json!([0.0, 1.0])),
            ("/outcome/HeavySubspace/subspace/weight_inside", json!(1.0)),
        ] {
            let broken = changed(&fit, place, to.clone());
            assert!(serde_json::from_value::<Fit>(broken).is_err(), "{place}: {to}");
        }
        // The kind of answer is that which the subspace allows.
        let position = serde_json::to_value(fit.position()).unwrap();
        let load = |outcome: Value| serde_json::from_value::<Outcome>(outcome);
        assert!(load(json!({ "HeavySubspace": position })).is_ok());
        assert!(load(json!({ "RadiallyIsotropic": position })).is_err());
        let round = self::fit(&[[1.0, 0.0], [0.0, 1.0]]);
        let position = serde_json::to_value(round.position()).unwrap();
        assert!(load(json!({ "RadiallyIsotropic": position })).is_ok());
        assert!(load(json!({ "HeavySubspace": position })).is_err());
        // All points in the subspace or zero: one too many or too few is seen.
        for (points, accepted) in [(2, true), (3, false)] {
            let place = "/outcome/RadiallyIsotropic/subspace/points";
            let mut saved = serde_json::to_value(&round).unwrap();
            *saved.pointer_mut(place).unwrap() = json!(points);
            assert_eq!(serde_json::from_value::<Fit>(saved).is_ok(), accepted);
        }
    }
}
