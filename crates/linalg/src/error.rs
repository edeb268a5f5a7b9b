//! What can be wrong with an input.

use crate::tolerance;
use thiserror::Error;

/// Bad input. Every variant says where the fault is; the message says what would be accepted.
///
/// A mathematical outcome (not separable, cap reached, ...) is never an `InputError`: it is a
/// status on the result.
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
    #[error("row {row}, column {column} holds {value}; every value must be finite")]
    NonFinite {
        /// Row of the value, from 0 (0 for a single vector).
        row: usize,
        /// Column of the value, from 0.
        column: usize,
        /// The offending value.
        value: f64,
    },
    /// Two things that must live in the same space do not.
    #[error("expected dimension {expected}, found {found}")]
    DimensionMismatch {
        /// The dimension that was required.
        expected: usize,
        /// The dimension that was given.
        found: usize,
    },
    /// Points must have at least one coordinate.
    #[error("dimension 0; points need at least one coordinate")]
    ZeroDimension,
    /// A flat buffer does not split into rows of the stated dimension.
    #[error("a buffer of {len} values does not split into rows of {dim}")]
    RaggedBuffer {
        /// Length of the buffer.
        len: usize,
        /// The stated dimension.
        dim: usize,
    },
    /// One label per point is needed.
    #[error("{points} points but {labels} labels; give one label per point")]
    LengthMismatch {
        /// Number of points.
        points: usize,
        /// Number of labels.
        labels: usize,
    },
    /// At least one point is needed.
    #[error("no points; at least one is needed")]
    Empty,
    /// A direction is needed where the zero vector was given.
    #[error("the zero vector has no direction")]
    ZeroVector,
    /// A direction is needed where a row is zero.
    #[error("row {row} is zero and has no direction; drop it or lift the points")]
    ZeroRow {
        /// The zero row, from 0.
        row: usize,
    },
    /// Squared norms or inner products of these points overflow `f64`.
    #[error("row {row}: a norm or product overflows; rescale points and halfspace first")]
    Overflow {
        /// The row, from 0.
        row: usize,
    },
    /// The squared norm of a point that is not zero falls below the range of `f64`.
    #[error("row {row}: the squared norm underflows; rescale the points first")]
    Underflow {
        /// The row, from 0.
        row: usize,
    },
    /// A point lies outside the unit ball, where the learner guarantees nothing.
    #[error(
        "row {row}: the norm {norm} is above 1; rescale the points, or state their radius where the learner \
         takes one"
    )]
    OutsideBall {
        /// The row, from 0.
        row: usize,
        /// Its norm, after division by the radius that was stated.
        norm: f64,
    },
    /// More values than memory can hold.
    #[error("{values} values do not fit in memory; reduce the number of points or the dimension")]
    TooLarge {
        /// How many were asked for; the largest `usize` if it does not even fit that.
        values: usize,
    },
    /// An index points outside its collection.
    #[error("index {index} is out of range for {len} items")]
    IndexOutOfRange {
        /// The index.
        index: usize,
        /// The number of items.
        len: usize,
    },
    /// Column indices of a sparse row must increase strictly.
    #[error("row {row}: column {column} does not come after the column before it")]
    UnsortedColumns {
        /// The row, from 0.
        row: usize,
        /// The offending column, from 0.
        column: usize,
    },
    /// Row boundaries of a sparse matrix must start at 0, never decrease, and end at the number
    /// of stored values.
    #[error("row boundaries are broken at row {row}")]
    BrokenRowBoundaries {
        /// The first row whose boundary is wrong, from 0.
        row: usize,
    },
    /// A coordinate of a boolean point is neither 0 nor 1.
    #[error("column {column} holds {value}; a boolean point holds 0 and 1 only")]
    NotBoolean {
        /// Column of the value, from 0.
        column: usize,
        /// The offending value.
        value: f64,
    },
    /// A parameter is outside its range.
    #[error("{name} = {value} is out of range; it must be {requirement}")]
    ParameterOutOfRange {
        /// Name of the parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The accepted range, in words.
        requirement: &'static str,
    },
    /// A saved state contradicts itself: it was not saved by the type that is loaded, or changed since.
    #[error("inconsistent saved state: {reason}")]
    InconsistentState {
        /// What does not fit together.
        reason: &'static str,
    },
}

impl InputError {
    /// The same fault, of row `row` where it is an overflow, an underflow or a point outside a ball: what is
    /// computed for one point does not know which.
    #[must_use]
    pub fn at_row(self, row: usize) -> InputError {
        match self {
            InputError::Overflow { .. } => InputError::Overflow { row },
            InputError::Underflow { .. } => InputError::Underflow { row },
            InputError::OutsideBall { norm, .. } => InputError::OutsideBall { row, norm },
            other => other,
        }
    }

    /// `Ok(())` if `found == expected`, else [`InputError::DimensionMismatch`].
    pub fn check_dim(expected: usize, found: usize) -> Result<(), InputError> {
        if expected == found {
            Ok(())
        } else {
            Err(InputError::DimensionMismatch { expected, found })
        }
    }

    /// `Ok(())` if there is one label per point, else [`InputError::LengthMismatch`].
    pub fn check_len(points: usize, labels: usize) -> Result<(), InputError> {
        if points == labels { Ok(()) } else { Err(InputError::LengthMismatch { points, labels }) }
    }

    /// `Ok(())` if `condition` holds, else [`InputError::ParameterOutOfRange`].
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

    /// `Ok(())` if the squared norm of a point is at most 1, up to rounding, else
    /// [`InputError::OutsideBall`].
    #[inline]
    pub fn check_in_ball(norm_sq: f64) -> Result<(), InputError> {
        if norm_sq <= 1.0 + 2.0 * tolerance::UNIT_NORM {
            Ok(())
        } else {
            Err(InputError::OutsideBall { row: 0, norm: norm_sq.sqrt() })
        }
    }

    /// `Ok(())` if `condition` holds, else [`InputError::InconsistentState`].
    pub fn check_state(condition: bool, reason: &'static str) -> Result<(), InputError> {
        if condition { Ok(()) } else { Err(InputError::InconsistentState { reason }) }
    }
}

/// The first non-finite value of `values`, laid out in rows of `dim`, as an error.
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
