//! What an answer does to every point. Part of `SurestFirst`. Claims: S10, S10n, S10s, S10c.

/// What an answer about a point x does to the points of a pool: for φ · Σφ_x = c the variance falls by `shrink` c²,
/// and each mean moves by its `gain` times c.
#[derive(Debug, Clone)]
pub(super) struct Change {
    /// Σφ_x as a direction of the stored rows: of their head, and of a kernel's features.
    pub(super) head: Vec<f64>,
    pub(super) kernel: Option<(usize, Vec<f64>)>,
    pub(super) shrink: f64,
    pub(super) gains: Vec<f64>,
}
