//! The decision values of a model that can be exported.

use crate::model::Sums;
use crate::pipeline::Pipeline;
use halfspaces_frame::DataError;

/// The decision values of a model, which is written as `what`.
///
/// # Errors
/// If they are not sums of halfspaces.
pub(super) fn sums_of<'p>(pipeline: &'p Pipeline, what: &str) -> Result<Sums<'p>, DataError> {
    pipeline.model.sums().ok_or_else(|| {
        DataError::user(format!(
            "the learner {} gives a decision list, which cannot be written as {what}; fit with another learner, such as \
             --learner auto",
            pipeline.model.method().name()
        ))
    })
}
