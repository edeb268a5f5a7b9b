//! Errors for invalid input.

use crate::tolerance;
use thiserror::Error;

/// Invalid input. Each variant locates the fault, and its message says which input is accepted.
///
/// A mathematical outcome (not separable, cap reached, ...) is never an `InputError`; it is a status of the result.
///
/// ```
/// use halfspaces_linalg::{InputError, Points};
/// let fault = Points::from_rows(&[[1.0, 2.0], [3.0, f64::INFINITY]]);
/// assert_eq!(fault, Err(InputError::NonFinite { row: 1, column: 1, value: f64::INFINITY }));
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum InputError {
    /// A value is NaN or infinite.
    #[error("row {row}, column {column} is {value}; all values must be finite")]
    NonFinite {
        /// Row of the value, counted from 0 (0 for a single vector).
        row: usize,
        /// Column of the value, counted from 0.
        column: usize,
        /// The offending value.
        value: f64,
    },
    /// Two objects must have the same dimension, but their dimensions differ.
    #[error("expected dimension {expected}, found {found}")]
    DimensionMismatch {
        /// The required dimension.
        expected: usize,
        /// The dimension found.
        found: usize,
    },
    /// The points have no coordinates.
    #[error("dimension 0; points need at least one coordinate")]
    ZeroDimension,
    /// The length of a flat buffer is not a multiple of the dimension.
    #[error("a buffer of {len} values cannot be split into rows of {dim}")]
    RaggedBuffer {
        /// Length of the buffer.
        len: usize,
        /// The stated dimension.
        dim: usize,
    },
    /// The number of labels differs from the number of points.
    #[error("{points} points but {labels} labels; give one label per point")]
    LengthMismatch {
        /// Number of points.
        points: usize,
        /// Number of labels.
        labels: usize,
    },
    /// There are no points.
    #[error("no points; at least one is required")]
    Empty,
    /// A vector that must have a direction is zero.
    #[error("the zero vector has no direction")]
    ZeroVector,
    /// A row that must have a direction is zero.
    #[error("row {row} is zero and has no direction; drop it or lift the points")]
    ZeroRow {
        /// The zero row, counted from 0.
        row: usize,
    },
    /// Squared norms or inner products of these points overflow `f64`.
    #[error(
        "row {row}: a norm or an inner product overflows; rescale the points and the halfspace"
    )]
    Overflow {
        /// The row, counted from 0.
        row: usize,
    },
    /// The squared norm of a non-zero point underflows `f64`.
    #[error("row {row}: the squared norm underflows; rescale the points")]
    Underflow {
        /// The row, counted from 0.
        row: usize,
    },
    /// A point lies outside the unit ball, where the guarantee of the learner does not apply.
    #[error(
        "row {row}: the norm {norm} is above 1; rescale the points, or state their radius if the learner \
         has a parameter for it"
    )]
    OutsideBall {
        /// The row, counted from 0.
        row: usize,
        /// The norm of the point, divided by the given radius.
        norm: f64,
    },
    /// The values do not fit in memory.
    #[error("{values} values do not fit in memory; reduce the number of points or the dimension")]
    TooLarge {
        /// Number of values requested, or `usize::MAX` if the number exceeds it.
        values: usize,
    },
    /// An index is out of range.
    #[error("index {index} is out of range for {len} items")]
    IndexOutOfRange {
        /// The index.
        index: usize,
        /// The number of items.
        len: usize,
    },
    /// The column indices of a sparse row do not increase strictly.
    #[error(
        "row {row}: column {column} is not greater than the preceding one; columns must increase"
    )]
    UnsortedColumns {
        /// The row, counted from 0.
        row: usize,
        /// The offending column, counted from 0.
        column: usize,
    },
    /// The row boundaries of a sparse matrix decrease, start at a number other than 0, or end at a number other than
    /// the number of stored values.
    #[error(
        "the row boundaries are invalid at row {row}; they must start at 0, not decrease, and end at the number \
         of stored values"
    )]
    BrokenRowBoundaries {
        /// The first row whose boundary is wrong, counted from 0.
        row: usize,
    },
    /// A coordinate of a boolean point is neither 0 nor 1.
    #[error("column {column} is {value}; the coordinates of a boolean point must be 0 or 1")]
    NotBoolean {
        /// Column of the value, counted from 0.
        column: usize,
        /// The offending value.
        value: f64,
    },
    /// A parameter is outside its range.
    #[error("{name} = {value} is out of range; it must be {requirement}")]
    ParameterOutOfRange {
        /// Name of the parameter.
        name: &'static str,
        /// Value of the parameter.
        value: f64,
        /// The accepted range in words, which completes the phrase "it must be ...".
        requirement: &'static str,
    },
    /// A saved state is inconsistent: it was saved by a different type, or was changed after it was saved.
    #[error("inconsistent saved state: {reason}")]
    InconsistentState {
        /// The contradiction found.
        reason: &'static str,
    },
}

impl InputError {
    /// Sets the row in an error about an overflow, an underflow or a point outside the ball; other errors are
    /// unchanged. Errors of a computation on a single point do not include its row number.
    #[must_use]
    pub fn at_row(self, row: usize) -> InputError {
        match self {
            InputError::Overflow { .. } => InputError::Overflow { row },
            InputError::Underflow { .. } => InputError::Underflow { row },
            InputError::OutsideBall { norm, .. } => InputError::OutsideBall { row, norm },
            other => other,
        }
    }

    /// Returns `Ok(())` if `found == expected`, otherwise [`InputError::DimensionMismatch`].
    pub fn check_dim(expected: usize, found: usize) -> Result<(), InputError> {
        if expected == found {
            Ok(())
        } else {
            Err(InputError::DimensionMismatch { expected, found })
        }
    }

    /// Returns `Ok(())` if there is one label per point, otherwise [`InputError::LengthMismatch`].
    pub fn check_len(points: usize, labels: usize) -> Result<(), InputError> {
        if points == labels { Ok(()) } else { Err(InputError::LengthMismatch { points, labels }) }
    }

    /// Returns `Ok(())` if `condition` is true, otherwise [`InputError::ParameterOutOfRange`].
    pub fn check_parameter(
        name: &'static str,
        value: f64,
        condition: bool,
        requirement: &'static str,
    ) -> Result<(), InputError> {
        if condition {
            Ok(())
        } else {
            Err(InputError::ParameterOutOfRange { name, value, requirement })
        }
    }

    /// Returns `Ok(())` if the squared norm of a point is at most 1, up to rounding, otherwise
    /// [`InputError::OutsideBall`].
    #[inline]
    pub fn check_in_ball(norm_sq: f64) -> Result<(), InputError> {
        if norm_sq <= 1.0 + 2.0 * tolerance::UNIT_NORM {
            Ok(())
        } else {
            Err(InputError::OutsideBall { row: 0, norm: norm_sq.sqrt() })
        }
    }

    /// Returns `Ok(())` if `condition` is true, otherwise [`InputError::InconsistentState`].
    pub fn check_state(condition: bool, reason: &'static str) -> Result<(), InputError> {
        if condition { Ok(()) } else { Err(InputError::InconsistentState { reason }) }
    }
}

/// Checks that all `values` are finite; the error contains the first value that is not, with its row and column for
/// rows of length `dim`.
pub(crate) fn check_finite(values: &[f64], dim: usize) -> Result<(), InputError> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(at) => {
            Err(InputError::NonFinite { row: at / dim, column: at % dim, value: values[at] })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn the_ball_is_closed_but_for_rounding() {
        assert!(InputError::check_in_ball(1.0 + 1e-9).is_ok());
        let error = InputError::check_in_ball(1.0 + 1e-8).unwrap_err();
        assert!(matches!(error, InputError::OutsideBall { row: 0, .. }));
    }
}
