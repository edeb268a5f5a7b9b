//! One Gaussian posterior of the model of a pool. Part of the model of `LabellingSession`. Claims: S10, S10n, S10s, S10c.

use super::gaussian::Gaussian;
use super::normal::{Probit, Site};
use super::soft_halfspace::cavity;

/// The likelihood of an answer if there are two classes: the variance of its noise, and the fraction of wrong answers.
pub(super) const ANSWER: Probit = Probit { noise: 0.1, slip: 0.01 };
/// The noise variance of the target values ±1, which are used with more than two classes.
pub(super) const CLASS_NOISE: f64 = 0.2;

/// A Gaussian posterior and its predictions for the pool.
#[derive(Debug, Clone)]
pub(super) struct Component {
    pub(super) posterior: Gaussian,
    pub(super) log_prior: f64,
    /// For each point, the means of its targets (`means`), the variance (`variances`), and the part of the variance
    /// that no answer reduces (`unseen`).
    pub(super) means: Vec<f64>,
    pub(super) variances: Vec<f64>,
    pub(super) unseen: Vec<f32>,
    /// For each point, the precision (`precisions`) and the means (`aims`) of the Gaussian factor of its answer.
    pub(super) precisions: Vec<f64>,
    pub(super) aims: Vec<f64>,
}

/// The target value of a class.
pub(super) fn sign(positive: bool) -> f64 {
    if positive { 1.0 } else { -1.0 }
}

impl Component {
    /// The precision and the means of the Gaussian factor of an answer.
    pub(super) fn factor(&self, index: usize, class: usize, targets: usize) -> (f64, Vec<f64>) {
        if targets > 1 {
            let aims = (0..targets).map(|k| sign(k == class)).collect();
            return (1.0 / (CLASS_NOISE + f64::from(self.unseen[index])), aims);
        }
        let noise = ANSWER.noise + f64::from(self.unseen[index]);
        let probit = Probit { noise, ..ANSWER };
        let site = probit.site(sign(class == 1), self.means[index], self.variances[index]);
        (site.precision, vec![site.shift / site.precision])
    }

    /// The mean and the variance of a target of an answered point, computed without this answer.
    pub(super) fn without(&self, index: usize, target: usize, targets: usize) -> (f64, f64) {
        let (precision, place) = (self.precisions[index], index * targets + target);
        let site = Site { precision, shift: precision * self.aims[place] };
        cavity(self.means[place], self.variances[index], site)
    }

    pub(super) fn total_variance(&self, index: usize, noise: f64) -> f64 {
        self.variances[index] + f64::from(self.unseen[index]) + noise
    }

    /// The z-score of the value of a point, for two classes.
    pub(super) fn score(&self, index: usize) -> f64 {
        self.means[index] / self.total_variance(index, ANSWER.noise).sqrt()
    }
}
