//! The solver: brings points into radially isotropic position, or finds the subspace that prevents it.
//!
//! Let d be the dimension of the span of the n points. The solver searches for a linear map A such that the vectors
//! u_i = Aᵀx_i/‖Aᵀx_i‖ have M = (d/n) Σ u_i u_iᵀ ≈ I. Such an A exists, for every accuracy, if and only if no proper
//! subspace of the span contains more than the fraction k/d of the points, where k is the dimension of the subspace.
//! Otherwise the solver returns such a subspace with a transform inside it (DKTZ23 §3; Diakonikolas, Tzamos and Kane
//! 2023). AAᵀ is the inverse of Tyler's M-estimator of scatter.
//!
//! The iteration proceeds in levels: first on the span, then inside each heavy subspace that it finds. On each level:
//!
//! ```text
//! A <- a whitening of the rows
//! repeat
//!     U <- XA with unit rows,  M <- (k/W) Σ w u uᵀ             (one pass)
//!     in radially isotropic position?                           return A
//!     a gap among the singular values of A has opened?          try the subspaces at the gap
//!     A <- A C, CCᵀ = M⁻¹                                       (fixed point; near a position several
//!                                                                steps combined), or where that is slow
//!     A <- A e^(-tS/2), S the Newton direction, t by halving    (Newton)
//! ```
//!
//! The fixed-point steps and the Newton steps decrease f(A) = (k/W) Σ w ln‖Aᵀx‖² - 2 ln|det A|. The factor A is stored,
//! never AAᵀ, whose condition number is the square of that of A.
//!
//! A subspace with exactly its share of the points (N d = k n if it contains N of n points) is returned as the answer
//! only if rounding ends the iteration. This happens at the cap on the condition number, or if neither the residual nor
//! the condition number has changed for [`PATIENCE`](crate::level::PATIENCE) steps. For ill-conditioned points, the
//! second case occurs long before the cap is reached. Such a subspace is never returned at the cap on steps, because
//! more steps might still bring the points into position on the whole span. It is never returned at an intermediate
//! step either: if another subspace contains all other points, some transform brings the points into position exactly.
//! Whenever such a subspace is returned, the answer is correct: membership is certified, and the equality holds
//! exactly, in integers (DKTZ23 §3 requires no more).
//!
//! *Guarantee.* There is no bound on the number of steps, but the result is fully guaranteed. Both outcomes are
//! returned only with certificates recomputed from the original points ([`crate::Subspace`], [`crate::Isotropy`]).
//! Every other result is [`Outcome::Unresolved`]. On elliptical data the fixed-point iteration contracts by about
//! 2/(d+2) per step, and acceleration nearly doubles that rate. If N d = k n, only Newton steps make progress.
//!
//! *Claims.* F1, F2, F3, S7.

use crate::dense::rows_of;
use crate::descent::{Descent, descend};
use crate::error::ForsterError;
use crate::isotropy::Isotropy;
use crate::level_passes::InMemory;
use crate::params::{Accuracy, CONDITION_RANGE, ForsterParams, MEMBERSHIP_RANGE, MIN_DELTA};
use crate::pass::Rows;
use crate::prepare::Prepared;
use crate::report::{Fit, Outcome, Position, Reason};
use crate::search::Narrowing;
use crate::subspace::Subspace;
use crate::survey::span_of_few;
use crate::transform::ForsterTransform;
use halfspaces_linalg::{DensePoints, InputError, Params};

impl Params for ForsterParams {
    type Learner = Forster;
    type Error = InputError;

    /// Returns the solver if all parameters are in range.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] if δ is not in [1e-11, 1), the membership tolerance is not in [1e-12, 1e-8],
    /// the maximum number of steps is 0, or the cap on the condition number is not in [1e3, 1e15].
    fn check(self) -> Result<Forster, InputError> {
        let check = InputError::check_parameter;
        let delta = self.accuracy.delta();
        check("delta", delta, (MIN_DELTA..1.0).contains(&delta), "at least 1e-11 and below 1")?;
        let in_range = MEMBERSHIP_RANGE.contains(&self.membership);
        check("membership", self.membership, in_range, "between 1e-12 and 1e-8")?;
        let steps = self.max_iterations as f64;
        check("max_iterations", steps, self.max_iterations > 0, "at least 1")?;
        let in_range = CONDITION_RANGE.contains(&self.max_condition);
        check("max_condition", self.max_condition, in_range, "between 1e3 and 1e15")?;
        Ok(Forster(self))
    }
}

impl ForsterTransform {
    /// The default parameters of the solver: two-sided accuracy 1e-6, membership tolerance 1e-10, automatic choice of
    /// steps, one thread.
    #[must_use]
    pub fn params() -> ForsterParams {
        ForsterParams::default()
    }
}

/// The solver: brings points into radially isotropic position, or finds the subspace that prevents it. Create it with
/// [`ForsterTransform::params`] and [`Params::check`].
///
/// *What it computes.* A linear map A such that the unit vectors u = Aᵀx/‖Aᵀx‖ have M = (d/n) Σ u uᵀ ≈ I within the
/// requested [`Accuracy`](crate::Accuracy). No such A exists if a proper subspace of the span contains more than its
/// share of the points (k/d of them for a subspace of k of the d dimensions). The result is then that subspace, with a
/// map A for the points inside it.
///
/// *Guarantee.* The guarantee concerns the result, not the number of steps. The members of a subspace, the inequality
/// that they satisfy and the eigenvalues are recomputed from the original points. A result that does not meet the
/// accuracy is [`Outcome::Unresolved`]. With accuracy δ <= 1/2, at least 1/(4d) of the points have |v·u| >= 1/(2√d) for
/// every unit v (DKTZ23 §3). Results do not depend on the number of threads.
///
/// *Cost.* A pass over the points takes O(n d²) time, about as much as one XᵀX, and reads each point once. A
/// fixed-point step takes one pass, and a Newton step takes up to 60. For points that are Gaussian, heavy-tailed or in
/// clusters, a fit takes about 4 to 8 passes for δ = 1e-6. The fit stores O(d²) numbers. The fit also stores the unit
/// rows (n d numbers) once it takes Newton steps, and a copy of the points if some are repeated, are zero, or have
/// lengths outside [1e-100, 1e100].
///
/// *When to use it.* Use the solver before a learner that needs margins, to make ill-conditioned points isotropic; to
/// compute a scatter matrix of heavy-tailed points; or to detect that many points lie in a subspace. *When not to use
/// it.* Points that lie near a subspace, but beyond the tolerance, need a transform whose condition number is the
/// inverse of their distance from the subspace, so the fit ends unresolved. For sparse points in many dimensions, the
/// solver needs too much memory, because it stores d² numbers.
///
/// *Source.* DKTZ23 §3; Tyler 1987; Diakonikolas, Tzamos and Kane 2023. *Claims:* F1, F2, F3 (scatter), S7 (margins).
///
/// ```
/// use halfspaces_forster::{Accuracy, ForsterTransform, Outcome};
/// use halfspaces_linalg::{Params, Points};
/// let solver = ForsterTransform::params().accuracy(Accuracy::TwoSided(1e-9)).check()?;
/// let points = Points::from_rows(&[[1e9, 1.0], [1e9, 2.0], [1e9, 4.0]])?;
/// let fit = solver.fit(&points)?;
/// let Outcome::RadiallyIsotropic(position) = fit.outcome() else { panic!() };
/// assert!(position.certificate.residual() <= 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forster(ForsterParams);

impl Forster {
    /// The parameters.
    #[must_use]
    pub fn params(&self) -> ForsterParams {
        self.0
    }

    /// Brings n × d `points` into radially isotropic position, with equal weights.
    ///
    /// # Errors
    /// [`ForsterError::Input`] if there are no points or too many to copy; [`ForsterError::NoDirection`] if all points
    /// are zero; [`ForsterError::NoConvergence`].
    pub fn fit(&self, points: &DensePoints<'_>) -> Result<Fit, ForsterError> {
        self.fit_with(points, None)
    }

    /// Same as [`Forster::fit`], but point i has the weight `weights[i]`. Integer weights are equivalent to repeated
    /// points.
    ///
    /// # Errors
    /// Same as [`Forster::fit`]; [`ForsterError::WeightCount`]; [`ForsterError::Weight`] for a weight outside [1e-100,
    /// 1e100].
    pub fn fit_weighted(
        &self,
        points: &DensePoints<'_>,
        weights: &[f64],
    ) -> Result<Fit, ForsterError> {
        self.fit_with(points, Some(weights))
    }

    pub(crate) fn fit_with(
        &self,
        points: &DensePoints<'_>,
        weights: Option<&[f64]>,
    ) -> Result<Fit, ForsterError> {
        let threads = self.0.threads;
        let prepared = Prepared::new(points, weights, threads)?;
        let zero_rows = prepared.zero_rows();
        let Prepared { mut rows, row_of } = prepared;
        let distinct = rows.len();
        let mut basis = None;
        if distinct < rows.dim {
            let span = span_of_few(&rows)?;
            let to = Narrowing { basis: rows_of(span.as_ref())?, tolerance: None };
            let values = to.apply(&rows.values)?.1;
            rows = Rows { values: values.into(), dim: span.ncols(), ..rows };
            basis = Some(span);
        }
        let mut level = InMemory::new(rows, threads)?;
        let Descent { levels, transform, reason, .. } = descend(self.0, &mut level, basis)?;
        // The first level is on the whole span.
        let span_dim = levels[0].dim;
        let (basis, tolerance) = (transform.basis().clone(), self.0.membership);
        let subspace = Subspace::certify_on(points, weights, basis, span_dim, tolerance, threads)?;
        let members = subspace.members();
        let certificate =
            Isotropy::measure_transformed(&transform, points, members, weights, threads)?;

        // Whether the certificate and the search found the same members.
        let mut inside = vec![false; distinct];
        level.held().iter().for_each(|i| inside[*i] = true);
        let expected = row_of.iter().zip(0..).filter(|(row, _)| row.is_some_and(|r| inside[r]));
        let agree = expected.map(|(_, i)| i).eq(subspace.members().iter().copied());
        let position = Position { subspace, transform, certificate };
        let outcome = judge(position, reason, agree, self.0.accuracy);
        Ok(Fit { outcome, zero_rows, distinct, levels })
    }
}

/// The outcome that the certificates allow at the end of the search. `agree` says whether the certificate and the
/// search found the same members.
fn judge(position: Position, reason: Option<Reason>, agree: bool, accuracy: Accuracy) -> Outcome {
    let Position { subspace, certificate, .. } = &position;
    let whole = subspace.dim() == subspace.span_dim();
    let heavy = subspace.is_heavy() || subspace.is_boundary();
    let sound = agree && accuracy.is_reached_by(*certificate) && (heavy || whole);
    match unresolved(reason, sound) {
        Some(reason) => Outcome::Unresolved { position, reason },
        None if whole => Outcome::RadiallyIsotropic(position),
        None => Outcome::HeavySubspace(position),
    }
}

/// The reason why a fit is unresolved, if it is. `reason` is that of the last level, and `sound` says whether all
/// certificates hold.
pub(crate) fn unresolved(reason: Option<Reason>, sound: bool) -> Option<Reason> {
    reason.or((!sound).then_some(Reason::CertificateMissed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use halfspaces_linalg::{Points, Threads};

    /// The outcome for three points on an axis and one point off it. The three points are in radially isotropic
    /// position on the axis.
    fn axis(accuracy: Accuracy, agree: bool, reason: Option<Reason>) -> Outcome {
        let rows = [[1.0, 0.0], [2.0, 0.0], [-1.0, 0.0], [1.0, 1.0]];
        let fit = ForsterTransform::params().check().unwrap();
        let fit = fit.fit(&Points::from_rows(&rows).unwrap()).unwrap();
        judge(fit.position().clone(), reason, agree, accuracy)
    }

    /// The position of points in the plane, for the subspace spanned by the rows of `basis` and with the identity as
    /// the transform.
    fn unchanged(points: &DensePoints<'_>, basis: &[[f64; 2]]) -> Position {
        let (k, basis) = (basis.len(), Points::from_rows(basis).unwrap());
        let transform = ForsterTransform::new(basis.clone(), Mat::identity(k, k)).unwrap();
        let subspace = Subspace::certify(points, None, basis, 2, 1e-10).unwrap();
        let members = subspace.members();
        let certificate =
            Isotropy::measure_transformed(&transform, points, members, None, Threads::ONE).unwrap();
        Position { subspace, transform, certificate }
    }

    #[test]
    fn an_answer_needs_every_certificate() {
        let accuracy = Accuracy::TwoSided(1e-9);
        let missed = |outcome: Outcome| {
            matches!(outcome, Outcome::Unresolved { reason: Reason::CertificateMissed, .. })
        };
        assert!(matches!(axis(accuracy, true, None), Outcome::HeavySubspace(_)));
        assert!(missed(axis(accuracy, false, None)));
        let spent = axis(accuracy, true, Some(Reason::IterationCap));
        assert!(matches!(spent, Outcome::Unresolved { reason: Reason::IterationCap, .. }));

        // A line that contains one of three points is not heavy, so it is not an answer for the plane.
        let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).unwrap();
        let position = unchanged(&points, &[[1.0, 0.0]]);
        assert!(missed(judge(position, None, true, accuracy)));

        // These points are in radially isotropic position on the plane, but less accurately than requested.
        let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 0.1], [0.1, 1.0]]).unwrap();
        let position = unchanged(&points, &[[1.0, 0.0], [0.0, 1.0]]);
        let residual = position.certificate.residual();
        assert!(missed(judge(position.clone(), None, true, Accuracy::TwoSided(0.99 * residual))));
        let reached = judge(position, None, true, Accuracy::TwoSided(1.01 * residual));
        assert!(matches!(reached, Outcome::RadiallyIsotropic(_)));
    }
}
