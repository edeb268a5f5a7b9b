//! The effect of an answer on every point. Part of the model of `LabellingSession`. Claims: S10, S10n, S10s, S10c.

/// The effect of an answer about a point x on the points of a pool. For a point with features φ, let c = φ · Σφ_x. The
/// variance of this point decreases by `shrink` c², and its mean for each target changes by the gain of that target
/// times c.
#[derive(Debug, Clone)]
pub(super) struct Change {
    /// Σφ_x in the layout of the stored rows: the part for the head (`head`), and the part for the features of one
    /// kernel (`kernel`).
    pub(super) head: Vec<f64>,
    pub(super) kernel: Option<(usize, Vec<f64>)>,
    pub(super) shrink: f64,
    pub(super) gains: Vec<f64>,
}
