//! A Gaussian posterior over the weights of a halfspace in feature space.
//! Part of the model of `LabellingSession`. Claims: S10, S10n, S10s, S10c.

use super::change::Change;
use super::features::Features;
use halfspaces_linalg::{InputError, kernels, zeros};

/// The weights of the parts of a combined kernel: the constant, the columns, and one of the kernels or the squares.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blend {
    pub(super) constant: f64,
    pub(super) columns: f64,
    /// The index of the kernel and its weight.
    pub(super) kernel: Option<(usize, f64)>,
}

/// The posterior w ~ N(mean, Σ) for each target. All targets share Σ, because they learn from the same points with the
/// same precisions.
#[derive(Debug, Clone)]
pub(super) struct Gaussian {
    blend: Blend,
    dim: usize,
    covariance: Vec<f64>,
    /// The means of the targets, stored contiguously.
    means: Vec<f64>,
    targets: usize,
}

impl Gaussian {
    /// The prior N(0, I).
    pub(super) fn new(
        blend: Blend,
        features: &Features,
        targets: usize,
    ) -> Result<Self, InputError> {
        let kernel = blend.kernel.map_or(0, |(k, _)| {
            let (begin, end) = features.block(k);
            end - begin
        });
        let dim = features.head() + kernel;
        let mut covariance = zeros(dim, dim)?;
        covariance.iter_mut().step_by(dim + 1).for_each(|v| *v = 1.0);
        Ok(Gaussian { blend, dim, covariance, means: zeros(targets, dim)?, targets })
    }

    /// The prior variance of the part of a point that the landmarks do not represent.
    pub(super) fn unseen(&self, features: &Features, index: usize) -> f64 {
        self.blend.kernel.map_or(0.0, |(k, weight)| weight * features.unseen(index, k))
    }

    /// The feature vector φ of a point.
    fn point(&self, features: &Features, index: usize) -> Vec<f64> {
        let row = features.row(index);
        let (constant, columns) = (self.blend.constant.sqrt(), self.blend.columns.sqrt());
        let mut point = Vec::with_capacity(self.dim);
        point.push(constant * f64::from(row[0]));
        point.extend(row[1..features.head()].iter().map(|v| columns * f64::from(*v)));
        if let Some((k, weight)) = self.blend.kernel {
            let (begin, end) = features.block(k);
            let root = weight.sqrt();
            point.extend(row[begin..end].iter().map(|v| root * f64::from(*v)));
        }
        point
    }

    /// Computes the means of the value of a point and returns its variance.
    pub(super) fn value(&self, features: &Features, index: usize, means: &mut [f64]) -> f64 {
        let point = self.point(features, index);
        for (mean, w) in means.iter_mut().zip(self.means.chunks_exact(self.dim)) {
            *mean = kernels::dot(w, &point);
        }
        let rows = self.covariance.chunks_exact(self.dim);
        rows.zip(&point).map(|(row, v)| v * kernels::dot(row, &point)).sum()
    }

    /// Adds a Gaussian factor with means `aims` at a point. A negative precision removes the factor.
    pub(super) fn update(
        &mut self,
        features: &Features,
        index: usize,
        precision: f64,
        aims: &[f64],
    ) -> Change {
        let point = self.point(features, index);
        let rows = self.covariance.chunks_exact(self.dim);
        let direction: Vec<f64> = rows.map(|row| kernels::dot(row, &point)).collect();
        let shrink = 1.0 / (1.0 / precision + kernels::dot(&direction, &point));
        let mut gains = Vec::with_capacity(self.targets);
        for (mean, aim) in self.means.chunks_exact_mut(self.dim).zip(aims) {
            let gain = (aim - kernels::dot(mean, &point)) * shrink;
            kernels::axpy(gain, &direction, mean);
            gains.push(gain);
        }
        for (row, v) in self.covariance.chunks_exact_mut(self.dim).zip(&direction) {
            kernels::axpy(-shrink * v, &direction, row);
        }
        self.as_change(features, direction, shrink, gains)
    }

    fn as_change(
        &self,
        features: &Features,
        mut direction: Vec<f64>,
        shrink: f64,
        gains: Vec<f64>,
    ) -> Change {
        let kernel = self.blend.kernel.map(|(k, weight)| {
            let mut part = direction.split_off(features.head());
            part.iter_mut().for_each(|v| *v *= weight.sqrt());
            (k, part)
        });
        direction[0] *= self.blend.constant.sqrt();
        direction[1..].iter_mut().for_each(|v| *v *= self.blend.columns.sqrt());
        Change { head: direction, kernel, shrink, gains }
    }
}
