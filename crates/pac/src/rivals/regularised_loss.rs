//! What logistic regression and the support vector machine share: both minimise ½‖w‖² + C Σ loss.

use halfspaces_linalg::{InputError, Label, PointSet, RowView};

/// At least one point, one label per point, and no row whose squared norm, C times, leaves f64. Returns
/// C Σ (‖x‖² + 1).
pub(super) fn check_sample<P: PointSet>(
    points: &P,
    labels: &[Label],
    c: f64,
) -> Result<f64, InputError> {
    InputError::check_len(points.len(), labels.len())?;
    if labels.is_empty() {
        return Err(InputError::Empty);
    }
    let mut total = 0.0;
    for (row, x) in points.rows().enumerate() {
        total += c * (x.norm_sq() + 1.0);
        if !total.is_finite() {
            return Err(InputError::Overflow { row });
        }
    }
    Ok(total)
}

/// C, the weight of the loss against ½‖w‖².
pub(super) fn check_c(c: f64) -> Result<(), InputError> {
    InputError::check_parameter("c", c, (1e-12..=1e12).contains(&c), "between 1e-12 and 1e12")
}

/// Accuracy relative to the scale of the problem.
pub(super) fn check_tolerance(tolerance: f64) -> Result<(), InputError> {
    let in_range = (1e-13..1.0).contains(&tolerance);
    InputError::check_parameter("tolerance", tolerance, in_range, "at least 1e-13 and below 1")
}

/// A cap on steps or passes.
pub(super) fn check_cap(name: &'static str, cap: u64) -> Result<(), InputError> {
    InputError::check_parameter(name, cap as f64, cap > 0, "at least 1")
}
