//! What the solvers of convex programs in this crate share.

use halfspaces_linalg::{InputError, Label, PointSet, RowView};

/// How a solver ended.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_pac::{LinearSvm, SolverStatus};
/// let points = Points::from_rows(&[[-1.0], [1.0]])?;
/// let labels = [Label::Negative, Label::Positive];
/// let fit = LinearSvm::params().check()?.fit(&points, &labels)?;
/// assert_eq!(fit.status, SolverStatus::Converged);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SolverStatus {
    /// The accuracy asked for is reached.
    Converged,
    /// The cap on iterations was reached, or rounding allows no further progress. The answer is the
    /// last one, and the certificate beside it says how good that is.
    CapReached,
}

/// One label a point, at least one point, and no row whose squared norm, C times, leaves f64.
pub(crate) fn check_sample<P: PointSet>(
    points: &P,
    labels: &[Label],
    strength: f64,
) -> Result<(), InputError> {
    InputError::check_len(points.len(), labels.len())?;
    if labels.is_empty() {
        return Err(InputError::Empty);
    }
    let mut total = 0.0;
    for (row, x) in points.rows().enumerate() {
        total += strength * (x.norm_sq() + 1.0);
        if !total.is_finite() {
            return Err(InputError::Overflow { row });
        }
    }
    Ok(())
}

/// C, the weight of the loss against ½‖w‖².
pub(crate) fn check_strength(strength: f64) -> Result<(), InputError> {
    let in_range = (1e-12..=1e12).contains(&strength);
    InputError::check_parameter("c", strength, in_range, "between 1e-12 and 1e12")
}

/// Accuracy relative to the scale of the problem.
pub(crate) fn check_tolerance(tolerance: f64) -> Result<(), InputError> {
    let in_range = (1e-13..1.0).contains(&tolerance);
    InputError::check_parameter("tolerance", tolerance, in_range, "at least 1e-13 and below 1")
}

/// A cap on iterations.
pub(crate) fn check_cap(name: &'static str, cap: u64) -> Result<(), InputError> {
    InputError::check_parameter(name, cap as f64, cap > 0, "at least 1")
}
