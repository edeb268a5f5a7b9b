//! The certificate of radially isotropic position.
//!
//! For points x_1 .. x_n in R^d, none zero, let u_i = x_i/‖x_i‖ and M = (d/n) Σ u_i u_iᵀ. M has
//! trace d; the points are in position exactly when M = I, and in δ-approximate position (δ
//! relative) when every unit v has (1/n) Σ (v·u_i)² >= (1 - δ)/d, that is when λmin(M) >= 1 - δ.
//! Then a 1/(4d) fraction of the points has |v·u_i| >= 1/(2√d) for every unit v, if δ <= 1/2
//! (000 §3, the soft margin).
//!
//! *Source.* 000 §3; the δ there is absolute and equals ours divided by d.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use halfspaces_linalg::{InputError, PointSet, Points};
use thiserror::Error;

/// Why a certificate could not be computed.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum IsotropyError {
    /// The points are unusable.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The eigenvalue iteration did not converge.
    #[error("the eigenvalues of the {dim} × {dim} second-moment matrix did not converge")]
    NoConvergence {
        /// Dimension of the points.
        dim: usize,
    },
}

/// The extreme eigenvalues of M = (d/n) Σ u uᵀ over the normalised points u: 1 and 1 in perfect
/// position.
///
/// ```
/// use halfspaces_forster::Isotropy;
/// use halfspaces_linalg::Points;
/// // An orthogonal pair is in position whatever the lengths; a doubled axis is not.
/// let pair = Points::from_rows(&[[3.0, 4.0], [-40.0, 30.0]])?;
/// assert!(Isotropy::of(&pair)?.holds_within(1e-12));
/// let leaning = Points::from_rows(&[[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])?;
/// assert!((Isotropy::of(&leaning)?.least() - 2.0 / 3.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Isotropy {
    least: f64,
    largest: f64,
}

impl Isotropy {
    /// Computes the certificate from the points themselves: O(n d²).
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::ZeroRow`], [`IsotropyError::NoConvergence`].
    pub fn of(points: &Points) -> Result<Isotropy, IsotropyError> {
        let (n, d) = (points.len(), points.dim());
        if n == 0 {
            return Err(InputError::Empty.into());
        }
        let unit = points.clone().normalised()?;
        let unit = unit.as_mat();
        let mut moment = Mat::zeros(d, d);
        let share = d as f64 / n as f64;
        matmul(moment.as_mut(), Accum::Replace, unit.transpose(), unit, share, Par::Seq);

        let no_vectors = ComputeEigenvectors::No;
        let params = Default::default();
        let scratch = self_adjoint_evd_scratch::<f64>(d, no_vectors, Par::Seq, params);
        let mut values = Diag::zeros(d);
        let mut memory = MemBuffer::new(scratch);
        let stack = MemStack::new(&mut memory);
        self_adjoint_evd(moment.as_ref(), values.as_mut(), None, Par::Seq, stack, params)
            .map_err(|_| IsotropyError::NoConvergence { dim: d })?;
        let values = values.column_vector();
        // M is positive semidefinite with trace d; what rounding leaves beyond that is cut.
        Ok(Isotropy { least: values[0].clamp(0.0, 1.0), largest: values[d - 1].max(1.0) })
    }

    /// λmin(M), in [0, 1].
    #[must_use]
    pub fn least(self) -> f64 {
        self.least
    }

    /// λmax(M), in [1, d].
    #[must_use]
    pub fn largest(self) -> f64 {
        self.largest
    }

    /// Whether the points are in δ-approximate position, δ relative: λmin(M) >= 1 - δ. Eigenvalues are
    /// rounded, so ask for δ of 1e-12 or more.
    #[must_use]
    pub fn holds_within(self, delta: f64) -> bool {
        self.least >= 1.0 - delta
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_data::{Marginal, Rotation, StudentT, UnitSphere};

    #[test]
    fn the_basis_is_in_position_and_a_line_is_not() {
        let basis =
            Points::from_rows(&[[2.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 5.0]]).unwrap();
        let perfect = Isotropy::of(&basis).unwrap();
        assert!((perfect.least() - 1.0).abs() < 1e-14 && (perfect.largest() - 1.0).abs() < 1e-14);
        let line = Points::from_rows(&[[1.0, 1.0], [-3.0, -3.0]]).unwrap();
        let line = Isotropy::of(&line).unwrap();
        assert!(line.least().abs() < 1e-14 && (line.largest() - 2.0).abs() < 1e-14);
    }

    #[test]
    fn rotating_and_rescaling_rows_changes_nothing() {
        let points = StudentT::new(6, 1.0, 50.0).unwrap().sample(500, 1).unwrap();
        let before = Isotropy::of(&points).unwrap();
        let rotated = Rotation::random(6, 2).unwrap().apply(&points).unwrap();
        let normalised = points.normalised().unwrap();
        for other in [rotated, normalised] {
            let after = Isotropy::of(&other).unwrap();
            assert!((before.least() - after.least()).abs() < 1e-12);
            assert!((before.largest() - after.largest()).abs() < 1e-12);
        }
    }

    #[test]
    fn the_extremes_bound_every_direction() {
        let points = UnitSphere::new(4).unwrap().sample(60, 3).unwrap();
        let certificate = Isotropy::of(&points).unwrap();
        let directions = UnitSphere::new(4).unwrap().sample(200, 4).unwrap();
        for v in directions.rows() {
            let values = halfspaces_linalg::margins(&points, v.as_slice()).unwrap();
            let moment = 4.0 / 60.0 * values.iter().map(|t| t * t).sum::<f64>();
            assert!(
                certificate.least() - 1e-12 <= moment && moment <= certificate.largest() + 1e-12
            );
        }
    }

    #[test]
    fn bad_input_is_typed() {
        let none = Points::new(vec![], 2).unwrap();
        assert_eq!(Isotropy::of(&none), Err(InputError::Empty.into()));
        let zero = Points::from_rows(&[[1.0], [0.0]]).unwrap();
        assert_eq!(Isotropy::of(&zero), Err(InputError::ZeroRow { row: 1 }.into()));
    }
}
