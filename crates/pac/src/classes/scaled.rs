//! Binary classifiers with values in units of their mean absolute value, so that classifiers can be compared.

use crate::mean_size::mean_size;
use halfspaces_linalg::{Classifier, InputError, PointSet, RowView};

/// A classifier and the mean absolute value of its values on the training points, or 1 if all of them are 0.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Scaled<M> {
    pub(super) model: M,
    pub(super) scale: f64,
}

impl<M: Classifier> Scaled<M> {
    pub(super) fn new<P: PointSet>(model: M, points: &P) -> Result<Self, InputError> {
        let mut values = Vec::with_capacity(points.len());
        for (row, x) in points.rows().enumerate() {
            values.push(model.decision_value(x).map_err(|error| error.at_row(row))?);
        }
        Ok(Scaled { model, scale: mean_size(&values) })
    }

    /// The value of `x`, divided by the mean absolute value.
    pub(super) fn value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        let value = self.model.decision_value(x)? / self.scale;
        if value.is_finite() { Ok(value) } else { Err(InputError::Overflow { row: 0 }) }
    }

    /// Checks saved models, at least one: their dimensions must agree, and their scales must be positive and finite.
    #[cfg(feature = "serde")]
    pub(super) fn check_saved(all: &[Self]) -> Result<(), InputError> {
        for scaled in all {
            InputError::check_dim(all[0].model.dim(), scaled.model.dim())?;
            let possible = scaled.scale > 0.0 && scaled.scale.is_finite();
            InputError::check_parameter("scale", scaled.scale, possible, "positive and finite")?;
        }
        Ok(())
    }
}
