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

mod ball;
mod ckmy;
mod classifier;
mod ddk;
mod decision_list;
mod dgt;
mod direction;
mod fitting;
mod glm_perspectron;
mod grid_perspectron;
mod holdout;
mod leaky_relu;
mod margin_search;
mod perspectron;
mod problem;
pub mod schedule;
mod selection;
#[cfg(test)]
mod test_data;
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

pub use ckmy::{Ckmy, CkmyFit, CkmyParams, CkmyStatus, ckmy_error, ckmy_step_size, ckmy_steps};
pub use classifier::Classifier;
pub use ddk::{Ddk, DdkFit, DdkParams, DdkStatus, ddk_excess, ddk_step_size, ddk_steps};
pub use decision_list::{DecisionListOfHalfspaces, ThresholdRule};
pub use dgt::{
    DGT_ATTEMPTS, Dgt, DgtFit, DgtParams, DgtRound, DgtStatus, dgt_rounds, dgt_step_size,
    dgt_steps, dgt_training_error,
};
pub use direction::{Denominator, Direction, SignLink};
pub use fitting::{Fit, FitError, Fitting, Origin, Plan, Stage, Status};
pub use glm_perspectron::{GlmError, GlmParams, GlmPerspectron, GlmSchedule};
pub use grid_perspectron::{GridParams, GridPerspectron, GridSchedule, Guess, Margin};
pub use leaky_relu::LeakyRelu;
pub use margin_search::{MarginSearch, SearchFit, SearchStatus};
pub use perspectron::{Perspectron, PerspectronParams, Schedule, Selection};
pub use problem::BASELINE_MAX_STEPS;
pub use selection::Elimination;

use halfspaces_linalg::{InputError, Label, PointSet};

/// How many labelled points a classifier gets wrong: its empirical 0-1 error ℓ01.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "RawErrorCount"))]
pub struct ErrorCount {
    errors: usize,
    points: usize,
}

/// What an [`ErrorCount`] looks like before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct RawErrorCount {
    errors: usize,
    points: usize,
}

#[cfg(feature = "serde")]
impl TryFrom<RawErrorCount> for ErrorCount {
    type Error = InputError;

    fn try_from(RawErrorCount { errors, points }: RawErrorCount) -> Result<Self, InputError> {
        if points == 0 {
            return Err(InputError::Empty);
        }
        let in_range = errors <= points;
        InputError::check_parameter("errors", errors as f64, in_range, "at most the points")?;
        Ok(ErrorCount { errors, points })
    }
}

impl ErrorCount {
    /// Counts the points whose label differs from the classifier's.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::LengthMismatch`], [`InputError::DimensionMismatch`].
    pub fn of<C: Classifier, P: PointSet>(
        classifier: &C,
        points: &P,
        labels: &[Label],
    ) -> Result<ErrorCount, InputError> {
        InputError::check_len(points.len(), labels.len())?;
        if labels.is_empty() {
            return Err(InputError::Empty);
        }
        let predicted = classifier.label_all(points)?;
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
    use halfspaces_linalg::{Halfspace, Points, SparsePoints};

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

    #[cfg(feature = "serde")]
    #[test]
    fn saved_counts_are_checked() {
        let count = ErrorCount { errors: 1, points: 3 };
        let text = serde_json::to_string(&count).unwrap();
        assert_eq!(serde_json::from_str::<ErrorCount>(&text).unwrap(), count);
        for bad in [r#"{"errors":4,"points":3}"#, r#"{"errors":0,"points":0}"#] {
            assert!(serde_json::from_str::<ErrorCount>(bad).is_err());
        }
    }
}
