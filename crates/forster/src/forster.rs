//! The solver: brings points into radially isotropic position, or finds the subspace that forbids it.
//!
//! Wanted is a linear A such that u_i = Aᵀx_i/‖Aᵀx_i‖ have M = (d/n) Σ u_i u_iᵀ ≈ I. It exists, for
//! every accuracy, exactly when no proper subspace of dimension k of the span (dimension d) holds more
//! than a k/d fraction of the points; otherwise such a subspace is returned with a transform inside it
//! (DKTZ23 §3; Diakonikolas, Tzamos and Kane 2023; A is the root of Tyler's M-estimator).
//!
//! On each level (the span; then, inside, each heavy subspace found):
//!
//! ```text
//! A <- a whitening of the rows
//! repeat
//!     U <- XA with unit rows,  M <- (k/W) Σ w u uᵀ             (one pass)
//!     in position?                                              return A
//!     a gap among the singular values of A has opened?          try the subspaces it points to
//!     A <- A C, CCᵀ = M⁻¹                                       (fixed point; near a position several
//!                                                                steps combined), or where that is slow
//!     A <- A e^(-tS/2), S the Newton direction, t by halving    (Newton)
//! ```
//!
//! The fixed point and Newton lower f(A) = (k/W) Σ w ln‖Aᵀx‖² - 2 ln|det A|. The factor A is kept, never AAᵀ, whose
//! condition is the square.
//!
//! A subspace with exactly its share, N d = k n, is an answer only where rounding ends the iteration: at
//! the cap on the condition, or where for [`PATIENCE`](crate::level::PATIENCE) steps neither the
//! residual nor the condition has moved, which on ill-conditioned points happens long before the cap.
//! Never at the cap on steps, where more of them might still reach position on the whole span, and
//! never on the way, where a complement that holds all other points may make position exact. The answer
//! is true whenever it is given: membership is certified and the equality is one of integers (DKTZ23 §3
//! asks for no more).
//!
//! *Guarantee.* None on the number of steps, all on the result: both kinds of outcome are returned
//! only with certificates recomputed from the points as given ([`crate::Subspace`],
//! [`crate::Isotropy`]), and whatever cannot be certified is [`Outcome::Unresolved`]. On elliptical
//! data the fixed point contracts by about 2/(d+2) a step, and acceleration doubles that rate or nearly so;
//! on the exact boundary only Newton's steps get anywhere.
//!
//! *Claims.* F1, F2, F3, S7.

use crate::error::ForsterError;
use crate::isotropy::Isotropy;
use crate::level::{self, End};
use crate::params::{Accuracy, CONDITION_RANGE, ForsterParams, MEMBERSHIP_RANGE, MIN_DELTA};
use crate::prepare::Prepared;
use crate::report::{Fit, Outcome, Position, Reason};
use crate::subspace::Subspace;
use crate::survey::{Survey, composed, project, survey};
use crate::transform::ForsterTransform;
use faer::{Mat, MatRef};
use halfspaces_linalg::{InputError, Params, Points, load_params};

impl Params for ForsterParams {
    type Learner = Forster;
    type Error = InputError;

    /// The solver, if the parameters are in range.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for δ not in [1e-11, 1), a membership tolerance not in
    /// [1e-12, 1e-8], no iterations, or a condition not in [1e3, 1e15].
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
    /// Parameters of the solver, at their defaults: two-sided accuracy 1e-6, membership tolerance 1e-10,
    /// automatic steps, one thread.
    #[must_use]
    pub fn params() -> ForsterParams {
        ForsterParams::default()
    }
}

/// The solver: brings points into radially isotropic position, or finds the subspace that forbids it.
/// Made by [`ForsterTransform::params`] and [`Params::check`].
///
/// *What it computes.* A linear A for which the unit vectors u = Aᵀx/‖Aᵀx‖ have
/// M = (d/n) Σ u uᵀ ≈ I within the [`Accuracy`](crate::Accuracy) asked for; where a proper subspace of the
/// span holds so much more than its share of the points, k/d of them in k of d dimensions, that no such A exists,
/// that subspace is returned with an A for the points inside it.
///
/// *Guarantee.* On the result, not on the number of steps: members, inequality and eigenvalues are
/// recomputed from the points as given, and what falls short is
/// [`Outcome::Unresolved`]. With accuracy δ <= 1/2, 1/(4d) of the points
/// have |v·u| >= 1/(2√d) for every unit v (DKTZ23 §3). Results do not depend on threads.
///
/// *Cost.* A pass over the points is O(n d²), about that of one XᵀX, and reads each point once; a fixed-point
/// step is one pass, a Newton step up to 60. Points that are Gaussian, heavy-tailed or
/// in clusters take some 4 to 8 passes for δ = 1e-6. Memory: the unit rows (n d numbers) once subspaces are looked for or Newton steps
/// are made, a copy of the points where some are repeated, zero or of lengths beyond 1e±100, and O(d²).
///
/// *When to use it.* To make ill-conditioned points round before a learner that needs margins; as a
/// scatter matrix of heavy-tailed points; to find that many points lie in a subspace. *When not:*
/// points that lie near a subspace, but beyond the tolerance, need a transform of condition one over their
/// distance, and end unresolved; sparse points of many dimensions (d² numbers are kept).
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
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Forster(ForsterParams);

load_params!(Forster: ForsterParams);

impl Forster {
    /// The parameters.
    #[must_use]
    pub fn params(&self) -> ForsterParams {
        self.0
    }

    /// Brings n × d `points` into position, every point counting once.
    ///
    /// # Errors
    /// [`ForsterError::Input`] for no points or too many to copy; [`ForsterError::NoDirection`] if all
    /// are zero; [`ForsterError::NoConvergence`].
    pub fn fit(&self, points: &Points) -> Result<Fit, ForsterError> {
        self.fit_with(points, None)
    }

    /// As [`Forster::fit`], point i counting `weights[i]` times: whole weights mean the same as
    /// repeated points.
    ///
    /// # Errors
    /// As [`Forster::fit`]; [`ForsterError::WeightCount`]; [`ForsterError::Weight`] for one outside
    /// [1e-100, 1e100].
    pub fn fit_weighted(&self, points: &Points, weights: &[f64]) -> Result<Fit, ForsterError> {
        self.fit_with(points, Some(weights))
    }

    pub(crate) fn fit_with(
        &self,
        points: &Points,
        weights: Option<&[f64]>,
    ) -> Result<Fit, ForsterError> {
        let threads = self.0.threads;
        let prepared = Prepared::new(points, weights, threads)?;
        let zero_rows = prepared.zero_rows();
        let Prepared { mut rows, row_of } = prepared;
        let distinct = rows.len();
        // Which distinct rows the present level holds, and an orthonormal basis of its space.
        let mut held: Vec<usize> = (0..distinct).collect();
        let mut basis: Option<Mat<f64>> = None;
        let mut levels = Vec::new();

        let (factor, reason) = loop {
            let start = match survey(self.0, &rows)? {
                Survey::Spanning(start) => start,
                Survey::Within(span) => {
                    rows = project(&rows, None, span.as_ref())?;
                    basis = Some(composed(basis, span));
                    continue;
                }
            };
            let (level, factor, end) = level::solve(self.0, &rows, *start, levels.len())?;
            levels.push(level);
            match end {
                End::Isotropic => break (factor, None),
                End::Unresolved(reason) => break (factor, Some(reason)),
                End::Heavy(found) => {
                    rows = project(&rows, Some(&found.members), found.basis.as_ref())?;
                    held = found.members.iter().map(|i| held[*i]).collect();
                    basis = Some(composed(basis, found.basis));
                }
            }
        };

        let basis = match basis {
            Some(basis) => rows_of(basis.transpose())?,
            None => rows_of(Mat::<f64>::identity(rows.dim, rows.dim).as_ref())?,
        };
        let transform = ForsterTransform::new(basis.clone(), factor)?;
        // The first level is that of the span.
        let span_dim = levels[0].dim;
        let tolerance = self.0.membership;
        let subspace = Subspace::certify_on(points, weights, basis, span_dim, tolerance, threads)?;
        let members = subspace.members();
        let certificate =
            Isotropy::measure_transformed(&transform, points, members, weights, threads)?;

        // The same members by the certificate as by the search?
        let mut inside = vec![false; distinct];
        held.iter().for_each(|i| inside[*i] = true);
        let expected = row_of.iter().zip(0..).filter(|(row, _)| row.is_some_and(|r| inside[r]));
        let agree = expected.map(|(_, i)| i).eq(subspace.members().iter().copied());
        let position = Position { subspace, transform, certificate };
        let outcome = judge(position, reason, agree, self.0.accuracy);
        Ok(Fit { outcome, zero_rows, distinct, levels })
    }
}

/// What the certificates make of the end of the search; `agree`: certificate and search have the same
/// members.
fn judge(position: Position, reason: Option<Reason>, agree: bool, accuracy: Accuracy) -> Outcome {
    let Position { subspace, certificate, .. } = &position;
    let whole = subspace.dim() == subspace.span_dim();
    let heavy = subspace.is_heavy() || subspace.is_boundary();
    let sound = agree && accuracy.is_reached_by(*certificate) && (heavy || whole);
    match reason {
        Some(reason) => Outcome::Unresolved { position, reason },
        None if !sound => Outcome::Unresolved { position, reason: Reason::CertificateMissed },
        None if whole => Outcome::RadiallyIsotropic(position),
        None => Outcome::HeavySubspace(position),
    }
}

fn rows_of(m: MatRef<'_, f64>) -> Result<Points, InputError> {
    Points::new(m.row_iter().flat_map(|row| row.iter().copied()).collect(), m.ncols())
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::Threads;

    /// Three points on an axis and one off it: in position on the axis.
    fn axis(accuracy: Accuracy, agree: bool, reason: Option<Reason>) -> Outcome {
        let rows = [[1.0, 0.0], [2.0, 0.0], [-1.0, 0.0], [1.0, 1.0]];
        let fit = ForsterTransform::params().check().unwrap();
        let fit = fit.fit(&Points::from_rows(&rows).unwrap()).unwrap();
        judge(fit.position().clone(), reason, agree, accuracy)
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

        // A line with one point of three is not heavy, and no answer for the plane.
        let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).unwrap();
        let basis = Points::from_rows(&[[1.0, 0.0]]).unwrap();
        let transform = ForsterTransform::new(basis.clone(), Mat::identity(1, 1)).unwrap();
        let subspace = Subspace::certify(&points, None, basis, 2, 1e-10).unwrap();
        let certificate = Isotropy::measure_transformed(
            &transform,
            &points,
            subspace.members(),
            None,
            Threads::ONE,
        )
        .unwrap();
        assert!(missed(judge(Position { subspace, transform, certificate }, None, true, accuracy)));

        // Position on the plane, but not as exact as asked for.
        let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 0.1], [0.1, 1.0]]).unwrap();
        let basis = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        let transform = ForsterTransform::new(basis.clone(), Mat::identity(2, 2)).unwrap();
        let subspace = Subspace::certify(&points, None, basis, 2, 1e-10).unwrap();
        let certificate = Isotropy::measure_transformed(
            &transform,
            &points,
            subspace.members(),
            None,
            Threads::ONE,
        )
        .unwrap();
        let position = Position { subspace, transform, certificate };
        let residual = certificate.residual();
        assert!(missed(judge(position.clone(), None, true, Accuracy::TwoSided(0.99 * residual))));
        let reached = judge(position, None, true, Accuracy::TwoSided(1.01 * residual));
        assert!(matches!(reached, Outcome::RadiallyIsotropic(_)));
    }
}
