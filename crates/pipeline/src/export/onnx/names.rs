//! The names of inputs and outputs.

/// The input matrix of numbers.
pub(super) const MATRIX: &str = "X";
/// The output of predicted classes.
pub(super) const LABEL: &str = "label";
/// The output of probabilities.
pub(super) const PROBABILITIES: &str = "probabilities";
/// The output of decision values, which only models without probabilities have.
pub(super) const VALUES: &str = "values";
