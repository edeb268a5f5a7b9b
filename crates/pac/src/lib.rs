//! Learning halfspaces from random examples.
//!
//! What is here so far is how a classifier is judged: [`ErrorCount`], the empirical 0-1 error that
//! every PAC guarantee speaks of. The learners themselves are not in this crate yet.
//!
//! ```
//! use halfspaces_linalg::{Halfspace, Label, Points};
//! use halfspaces_pac::ErrorCount;
//! let points = Points::from_rows(&[[1.0], [-1.0], [2.0], [-3.0]])?;
//! let labels = [Label::Positive, Label::Positive, Label::Positive, Label::Negative];
//! let errors = ErrorCount::of(&Halfspace::new(vec![1.0])?, &points, &labels)?;
//! assert_eq!((errors.errors(), errors.rate()), (1, 0.25));
//! # Ok::<(), halfspaces_linalg::InputError>(())
//! ```
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod affine;
mod cutting_plane;
mod heuristics;
mod logistic;
mod push_away;
mod random_projection;
mod solver;
mod svm;

pub use affine::AffineHalfspace;
pub use cutting_plane::{
    CutStatus, CuttingPlane, CuttingPlaneFit, CuttingPlaneParams, cutting_plane_batch,
    cutting_plane_rounds, feasible_radius,
};
pub use heuristics::{
    GlmHeuristic, Heuristic, HeuristicError, HeuristicParams, HeuristicRun, HeuristicStatus,
    heuristic_step, heuristic_steps,
};
pub use logistic::{LogisticFit, LogisticParams, LogisticRegression, MAX_CHOLESKY};
pub use push_away::PushAway;
pub use random_projection::{
    Projected, ProjectedFit, RandomProjection, projected_dimension, projected_margin,
};
pub use solver::SolverStatus;
pub use svm::{LinearSvm, SvmFit, SvmParams};

use halfspaces_linalg::{Halfspace, InputError, Label, PointSet};

/// How many labelled points a halfspace gets wrong: its empirical 0-1 error ℓ01.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ErrorCount {
    errors: usize,
    points: usize,
}

impl ErrorCount {
    /// Counts the points whose label differs from `sign(w · x)`.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::LengthMismatch`], [`InputError::DimensionMismatch`].
    pub fn of<P: PointSet>(
        halfspace: &Halfspace,
        points: &P,
        labels: &[Label],
    ) -> Result<ErrorCount, InputError> {
        InputError::check_len(points.len(), labels.len())?;
        if labels.is_empty() {
            return Err(InputError::Empty);
        }
        let predicted = halfspace.label_all(points)?;
        let errors = predicted.iter().zip(labels).filter(|(p, y)| p != y).count();
        Ok(ErrorCount { errors, points: labels.len() })
    }

    /// Number of wrong points.
    #[must_use]
    pub fn errors(self) -> usize {
        self.errors
    }

    /// Number of points.
    #[must_use]
    pub fn points(self) -> usize {
        self.points
    }

    /// Share of wrong points, in [0, 1].
    #[must_use]
    pub fn rate(self) -> f64 {
        self.errors as f64 / self.points as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{Points, SparsePoints};

    #[test]
    fn a_halfspace_and_its_opposite_share_the_points() {
        let points = Points::from_rows(&[[0.5, 1.0], [-2.0, 0.0], [1.0, -1.0]]).unwrap();
        let labels = [Label::Positive, Label::Positive, Label::Negative];
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let count = |w: Vec<f64>| {
            let halfspace = Halfspace::new(w).unwrap();
            let dense = ErrorCount::of(&halfspace, &points, &labels).unwrap();
            assert_eq!(ErrorCount::of(&halfspace, &sparse, &labels).unwrap(), dense);
            dense.errors()
        };
        assert_eq!(count(vec![1.0, 0.0]) + count(vec![-1.0, 0.0]), 3);
        assert_eq!(count(vec![0.0, 0.0]), 1);
    }

    #[test]
    fn bad_input_is_typed() {
        let halfspace = Halfspace::new(vec![1.0]).unwrap();
        let none = Points::new(vec![], 1).unwrap();
        assert_eq!(ErrorCount::of(&halfspace, &none, &[]), Err(InputError::Empty));
        let one = Points::new(vec![1.0], 1).unwrap();
        assert!(ErrorCount::of(&halfspace, &one, &[]).is_err());
        let wide = Points::new(vec![1.0, 1.0], 2).unwrap();
        assert!(ErrorCount::of(&halfspace, &wide, &[Label::Positive]).is_err());
    }
}
