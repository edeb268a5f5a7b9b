//! The decision values of a model, in the form that exports need.

use crate::model::Sums;
use crate::pipeline::Pipeline;
use halfspaces_frame::DataError;

/// Expresses the decision values of a model as sums of halfspaces. `what` names the export format in the error message.
///
/// # Errors
/// Returns an error if the decision values are not sums of halfspaces.
pub(super) fn sums_of<'p>(pipeline: &'p Pipeline, what: &str) -> Result<Sums<'p>, DataError> {
    pipeline.model.sums().ok_or_else(|| {
        DataError::user(format!(
            "the learner {} gives a decision list, which cannot be written as {what}; fit with another learner, such as \
             --learner auto",
            pipeline.model.method().name()
        ))
    })
}
