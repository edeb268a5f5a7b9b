//! The objective of logistic regression and its first two derivatives.
//!
//! This file is a part of [`LogisticRegression`](crate::LogisticRegression). Claims: none of its own.

use super::regularised_loss::Problem;
use halfspaces_linalg::{PointSet, RowView, kernels};
use std::ops::Range;

/// The objective f, its gradient and its curvatures at one point v.
pub(super) struct Expansion {
    pub(super) objective: f64,
    pub(super) gradient: Vec<f64>,
    /// For every point, C p (1 - p) times its weight. The Hessian is I (with the entry 0 for b) plus the sum of these
    /// numbers times (x,1)(x,1)'.
    pub(super) curvatures: Vec<f64>,
}

/// The loss and the probabilities at a margin m. They have full relative accuracy even for large |m|.
pub(super) struct Logistic {
    /// The loss ln(1 + e^-m).
    pub(super) loss: f64,
    /// The probability p = 1/(1 + e^m) of the wrong label.
    pub(super) wrong: f64,
    /// The probability 1 - p of the right label.
    pub(super) right: f64,
}

impl Logistic {
    pub(super) fn of(m: f64) -> Logistic {
        let e = (-m.abs()).exp();
        let [near, far] = [(1.0 + e).recip(), e / (1.0 + e)];
        if m > 0.0 {
            Logistic { loss: e.ln_1p(), wrong: far, right: near }
        } else {
            Logistic { loss: e.ln_1p() - m, wrong: near, right: far }
        }
    }
}

impl<P: PointSet> Problem<'_, P> {
    pub(super) fn expand(&self, v: &[f64]) -> Expansion {
        let gradient = self.penalised(v);
        let penalty = 0.5 * kernels::norm_sq(&gradient);
        let (gradient, parts) = self
            .over(self.parts(), gradient, |part, gradient| self.add_gradient_of(part, v, gradient));
        let (losses, curvatures): (Vec<f64>, Vec<Vec<f64>>) = parts.into_iter().unzip();
        let objective = penalty + self.c * losses.iter().sum::<f64>();
        Expansion { objective, gradient, curvatures: curvatures.concat() }
    }

    /// Adds the gradient of C times the loss, summed over the points of a part, to `gradient`. Returns the loss
    /// (without the factor C) and the curvatures of these points.
    pub(super) fn add_gradient_of(
        &self,
        part: Range<usize>,
        v: &[f64],
        gradient: &mut [f64],
    ) -> (f64, Vec<f64>) {
        let mut factors = vec![0.0; part.len()];
        self.values_of(part.clone(), v, &mut factors);
        let mut curvatures = Vec::with_capacity(part.len());
        let mut loss = 0.0;
        for (i, value) in part.clone().zip(&mut factors) {
            let (y, weight) = (self.labels[i].as_f64(), self.weight(i));
            let logistic = Logistic::of(y * *value);
            loss += weight * logistic.loss;
            curvatures.push(self.c * weight * logistic.wrong * logistic.right);
            *value = -self.c * weight * logistic.wrong * y;
        }
        self.add_scaled_of(part, &factors, gradient);
        (loss, curvatures)
    }

    /// Computes the product H u, where H is the Hessian.
    pub(super) fn hessian_times(&self, here: &Expansion, u: &[f64]) -> Vec<f64> {
        let (out, _) = self.over(self.parts(), self.penalised(u), |part, out| {
            let mut factors = vec![0.0; part.len()];
            self.values_of(part.clone(), u, &mut factors);
            let curvatures = &here.curvatures[part.clone()];
            factors.iter_mut().zip(curvatures).for_each(|(value, s)| *value *= s);
            self.add_scaled_of(part, &factors, out);
        });
        out
    }

    /// The diagonal of the Hessian, which is the preconditioner of the conjugate gradients.
    pub(super) fn hessian_diagonal(&self, here: &Expansion) -> Vec<f64> {
        let mut diagonal = self.penalised(&vec![1.0; self.unknowns()]);
        for (x, s) in self.points.rows().zip(&here.curvatures) {
            for (j, x_j) in x.entries() {
                diagonal[j] += s * x_j * x_j;
            }
        }
        if self.intercept {
            diagonal[self.points.dim()] =
                here.curvatures.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        }
        diagonal
    }
}
