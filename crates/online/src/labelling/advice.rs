//! The predictions that a given model contributes to a session. Part of `LabellingSession`. Claims: none.

use super::file::Answer;

/// The predictions of a given model for the points of a pool.
#[derive(Debug, Clone)]
pub(super) struct Advice {
    /// For each point, the predicted class and its probability.
    pub(super) predictions: Vec<(usize, f64)>,
    /// Whether this model, instead of the model of the session, chooses the questions and predicts.
    pub(super) leads: bool,
}

impl Advice {
    /// The number of answers that differ from the prediction.
    pub(super) fn wrong(&self, answers: &[Answer]) -> usize {
        answers.iter().filter(|answer| self.predictions[answer.index].0 != answer.class).count()
    }
}
