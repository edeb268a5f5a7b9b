//! The predictions of a given model in a session. Part of `LabellingSession`. Claims: none.

/// The predictions of a given model for the points of a pool.
#[derive(Debug, Clone)]
pub(super) struct Advice {
    /// The class of each point and its probability.
    pub(super) predictions: Vec<(usize, f64)>,
    /// Whether this model has at most as many errors as the session's.
    pub(super) leads: bool,
}
