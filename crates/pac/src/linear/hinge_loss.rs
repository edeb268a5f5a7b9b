//! The hinge loss and its square, for weighted points.

/// The loss of each point, and the effect of this loss on the α of the point.
#[derive(Debug, Clone, Copy)]
pub(super) struct HingeLoss<'a> {
    pub(super) c: f64,
    pub(super) squared: bool,
    pub(super) weights: Option<&'a [f64]>,
}

impl HingeLoss<'_> {
    /// C times the weight of a point.
    #[inline(always)]
    fn weight(&self, index: usize) -> f64 {
        self.weights.map_or(self.c, |weights| self.c * weights[index])
    }

    /// The largest possible α of a point.
    #[inline(always)]
    pub(super) fn most(&self, index: usize) -> f64 {
        if self.squared && self.weight(index) > 0.0 { f64::INFINITY } else { self.weight(index) }
    }

    /// The contribution of the loss to the curvature of -D along the α of a point.
    #[inline(always)]
    pub(super) fn curvature(&self, index: usize) -> f64 {
        if self.squared { 0.5 / self.weight(index).max(f64::MIN_POSITIVE) } else { 0.0 }
    }

    /// The loss of a point whose margin falls short of 1 by `missing`.
    pub(super) fn value(&self, index: usize, missing: f64) -> f64 {
        let missing = missing.max(0.0);
        self.weight(index) * if self.squared { missing * missing } else { missing }
    }
}
