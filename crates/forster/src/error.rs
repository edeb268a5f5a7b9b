//! The error of a fit.

use halfspaces_linalg::InputError;
use thiserror::Error;

/// Invalid input, or a failure of the numerical library to converge. A mathematical outcome is never an error; see
/// [`crate::Outcome`].
///
/// ```
/// use halfspaces_forster::{ForsterError, ForsterTransform};
/// use halfspaces_linalg::{Params, Points};
/// let zeros = Points::from_rows(&[[0.0, 0.0]])?;
/// let solver = ForsterTransform::params().check()?;
/// assert_eq!(solver.fit(&zeros), Err(ForsterError::NoDirection { points: 1 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ForsterError {
    /// Points, halfspaces or parameters are invalid.
    #[error(transparent)]
    Input(#[from] InputError),
    /// All points are zero, so none has a direction.
    #[error("all {points} points are zero; at least one must be non-zero")]
    NoDirection {
        /// Number of points.
        points: usize,
    },
    /// The number of weights differs from the number of points.
    #[error("{points} points but {weights} weights; give one weight per point")]
    WeightCount {
        /// Number of points.
        points: usize,
        /// Number of weights.
        weights: usize,
    },
    /// A weight is not positive, or too large or too small to be summed with the others.
    #[error("the weight of row {row} is {weight}; weights must be between 1e-100 and 1e100")]
    Weight {
        /// The row, counted from 0.
        row: usize,
        /// The weight of the row.
        weight: f64,
    },
    /// A pass over the blocks failed.
    #[error("a pass over the blocks of points failed")]
    PassFailed,
    /// Two passes over the blocks counted different numbers of rows.
    #[error(
        "the first pass counted {expected} rows that are not zero, a later one {found}; the points must not change"
    )]
    RowsChanged {
        /// Number of rows that the first pass counted.
        expected: u64,
        /// Number of rows that a later pass counted.
        found: u64,
    },
    /// Eigenvalues or singular values did not converge.
    #[error("the eigenvalues or singular values of a {dim} × {dim} matrix did not converge")]
    NoConvergence {
        /// Size of the matrix.
        dim: usize,
    },
    /// A basis or a stored transform is inconsistent.
    #[error("inconsistent transform: {what}")]
    Stored {
        /// The inconsistency found.
        what: &'static str,
    },
}
