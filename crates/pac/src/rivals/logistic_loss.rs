//! The objective of logistic regression to second order.
//!
//! Sums over points are those of parts, one after the other, so that they do not depend on the threads.
//! Part of [`LogisticRegression`](crate::LogisticRegression). Claims: none of its own.

use halfspaces_linalg::{InputError, Label, PointSet, RowView, Threads, kernels, zeros};
use std::ops::Range;

/// Sums over points are those of at most so many parts of at least so many points, one after the other; threads take
/// parts.
const MOST_PARTS: usize = 16;
pub(super) const LEAST_PART: usize = 8192;

/// The objective f over v = (w, b), or v = w without an intercept.
pub(super) struct Problem<'a, P> {
    pub(super) points: &'a P,
    pub(super) labels: &'a [Label],
    pub(super) c: f64,
    pub(super) intercept: bool,
    pub(super) threads: Threads,
}

/// f to second order at one v.
pub(super) struct Expansion {
    pub(super) objective: f64,
    pub(super) gradient: Vec<f64>,
    /// C p (1 - p) of every point: the Hessian is I (without b) plus their sum times (x,1)(x,1)'.
    pub(super) curvatures: Vec<f64>,
}

/// What one margin m adds, to full relative accuracy at both ends.
pub(super) struct Logistic {
    /// ln(1 + e^-m).
    pub(super) loss: f64,
    /// p = 1/(1 + e^m).
    pub(super) wrong: f64,
    /// 1 - p.
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
    pub(super) fn unknowns(&self) -> usize {
        self.points.dim() + usize::from(self.intercept)
    }

    /// b, 0 without an intercept.
    pub(super) fn bias(&self, v: &[f64]) -> f64 {
        if self.intercept { v[self.points.dim()] } else { 0.0 }
    }

    /// Ranges of points over which sums are taken by themselves.
    fn parts(&self) -> impl ExactSizeIterator<Item = Range<usize>> + Send + use<P> {
        let n = self.labels.len();
        let size = n.div_ceil(MOST_PARTS).max(LEAST_PART);
        (0..n.div_ceil(size)).map(move |part| part * size..n.min((part + 1) * size))
    }

    fn row(&self, index: usize) -> P::Row<'_> {
        match self.points.row(index) {
            Some(x) => x,
            None => unreachable!("there is a label for each point"),
        }
    }

    /// w · x + b for some points.
    fn values_of(&self, part: Range<usize>, v: &[f64]) -> Vec<f64> {
        let (d, bias) = (self.points.dim(), self.bias(v));
        let mut values = match self.points.as_dense() {
            Some(dense) => {
                let mut values = vec![0.0; part.len()];
                let rows = &dense.as_slice()[part.start * d..];
                halfspaces_kernels::products(rows, &v[..d], &mut values);
                values
            }
            None => part.map(|index| self.row(index).dot(v)).collect(),
        };
        values.iter_mut().for_each(|value| *value += bias);
        values
    }

    /// out += Σ factor (x, 1), over some points, one factor for each.
    fn add_scaled_of(&self, part: Range<usize>, factors: &[f64], out: &mut [f64]) {
        let d = self.points.dim();
        match self.points.as_dense() {
            Some(dense) => {
                let rows = &dense.as_slice()[part.start * d..];
                halfspaces_kernels::add_rows(rows, d, factors, &mut out[..d]);
            }
            None => {
                for (index, factor) in part.zip(factors) {
                    self.row(index).add_scaled_to(*factor, out);
                }
            }
        }
        if self.intercept {
            factors.iter().for_each(|factor| out[d] += factor);
        }
    }

    /// What `work` makes of every part and of zeros to add to, the first of `start`; what was added, and the rest.
    fn over_parts<T: Send>(
        &self,
        start: Vec<f64>,
        work: impl Fn(Range<usize>, &mut [f64]) -> T + Sync,
    ) -> (Vec<f64>, Vec<T>) {
        let len = start.len();
        let mut starts = Some(start).into_iter();
        let parts = self.parts().map(move |part| (part, starts.next()));
        let done = self.threads.map_with(
            parts,
            || (),
            |(), (part, start)| {
                let mut out = start.unwrap_or_else(|| vec![0.0; len]);
                let rest = work(part, &mut out);
                (out, rest)
            },
        );
        let (sums, rest): (Vec<Vec<f64>>, Vec<T>) = done.into_iter().unzip();
        let join = |mut sum: Vec<f64>, next: Vec<f64>| {
            sum.iter_mut().zip(next).for_each(|(s, n)| *s += n);
            sum
        };
        let Some(sum) = sums.into_iter().reduce(join) else { unreachable!("a sample has points") };
        (sum, rest)
    }

    /// v with the intercept's entry zero: what the penalty sees.
    pub(super) fn penalised(&self, v: &[f64]) -> Vec<f64> {
        let mut w = v.to_vec();
        if self.intercept {
            w[self.points.dim()] = 0.0;
        }
        w
    }

    /// C Σ ‖(x, 1)‖.
    pub(super) fn gradient_scale(&self) -> f64 {
        let one = if self.intercept { 1.0 } else { 0.0 };
        self.c * self.points.rows().map(|x| (x.norm_sq() + one).sqrt()).sum::<f64>()
    }

    pub(super) fn expand(&self, v: &[f64]) -> Expansion {
        let gradient = self.penalised(v);
        let penalty = 0.5 * kernels::norm_sq(&gradient);
        let (gradient, parts) = self.over_parts(gradient, |part, gradient| {
            let mut factors = self.values_of(part.clone(), v);
            let mut curvatures = Vec::with_capacity(part.len());
            let mut loss = 0.0;
            for (value, y) in factors.iter_mut().zip(&self.labels[part.clone()]) {
                let logistic = Logistic::of(y.as_f64() * *value);
                loss += logistic.loss;
                curvatures.push(self.c * logistic.wrong * logistic.right);
                *value = -self.c * logistic.wrong * y.as_f64();
            }
            self.add_scaled_of(part, &factors, gradient);
            (loss, curvatures)
        });
        let (losses, curvatures): (Vec<f64>, Vec<Vec<f64>>) = parts.into_iter().unzip();
        let objective = penalty + self.c * losses.iter().sum::<f64>();
        Expansion { objective, gradient, curvatures: curvatures.concat() }
    }

    /// The Hessian but for the penalty's share: the lower triangle by rows.
    ///
    /// # Errors
    /// [`InputError::TooLarge`].
    pub(super) fn hessian(&self, here: &Expansion) -> Result<Vec<f64>, InputError> {
        let (k, d) = (self.unknowns(), self.points.dim());
        let (hessian, _) = self.over_parts(zeros(k, k)?, |part, hessian| {
            let curvatures = &here.curvatures[part.clone()];
            match self.points.as_dense() {
                Some(dense) => {
                    let rows = &dense.as_slice()[part.start * d..part.end * d];
                    halfspaces_kernels::add_outer(rows, d, curvatures, hessian, k);
                }
                None => {
                    for (index, s) in part.clone().zip(curvatures) {
                        let x = self.row(index);
                        for (j, x_j) in x.entries() {
                            x.add_scaled_to(s * x_j, &mut hessian[j * k..=j * k + j]);
                        }
                    }
                }
            }
            if self.intercept {
                self.add_scaled_of(part, curvatures, &mut hessian[d * k..]);
            }
        });
        Ok(hessian)
    }

    /// H u.
    pub(super) fn hessian_times(&self, here: &Expansion, u: &[f64]) -> Vec<f64> {
        let (out, _) = self.over_parts(self.penalised(u), |part, out| {
            let mut factors = self.values_of(part.clone(), u);
            let curvatures = &here.curvatures[part.clone()];
            factors.iter_mut().zip(curvatures).for_each(|(value, s)| *value *= s);
            self.add_scaled_of(part, &factors, out);
        });
        out
    }

    /// The diagonal of H, by which conjugate gradients are scaled.
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
