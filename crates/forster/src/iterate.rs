//! The state of the iteration on a level, and the steps to the next state.

use crate::dense::{
    eigen, eigenvalues, extremes, inverse_lower_factor, lower_factor, product, scale_to_unit,
    spectral,
};
use crate::error::ForsterError;
use crate::level_passes::LevelPasses;
use crate::newton::{CAP, Direction};
use crate::pass::Moments;
use faer::{Mat, MatRef};

/// Minimum λmin(M) for which the Cholesky factor replaces the symmetric root.
const DEFINITE: f64 = 1e-4;
/// Fraction of the decrease predicted by the slope that a Newton step must achieve (Armijo's rule).
const SUFFICIENT: f64 = 1e-4;
/// A Newton step that multiplies the residual by at most this factor is accepted regardless of f: near the end, f
/// changes by less than its rounding error.
const CLEARLY_SMALLER: f64 = 0.6;
/// Number of halvings of a Newton step before a fixed-point step replaces it.
const MAX_HALVINGS: usize = 12;

/// A transform with the measurements of a pass.
#[derive(Debug)]
pub(crate) struct Iterate {
    /// The lower triangular factor B relative to the first whitening W: A = WB.
    pub(crate) b: Mat<f64>,
    /// The lower triangular A.
    pub(crate) a: Mat<f64>,
    /// The value f(A), up to a constant.
    pub(crate) f: f64,
    pub(crate) moment: Mat<f64>,
    /// The extreme eigenvalues of M.
    pub(crate) extremes: (f64, f64),
}

/// An iterate, and the logarithm of the factor by which the condition number may have grown; `None` if A is numerically
/// singular.
pub(crate) type Moved = Option<(Iterate, f64)>;

impl Iterate {
    /// The iterate of the unchanged rows.
    pub(crate) fn identity(dim: usize, moments: Moments, values: &[f64]) -> Iterate {
        let b = Mat::identity(dim, dim);
        let (f, moment) = (moments.log_norms, moments.moment);
        Iterate { a: b.clone(), b, f, moment, extremes: extremes(values) }
    }

    /// Measures A = WB with one pass; `None` if A is numerically singular.
    pub(crate) fn measure(
        points: &mut impl LevelPasses,
        whitening: &Mat<f64>,
        mut b: Mat<f64>,
    ) -> Result<Option<Iterate>, ForsterError> {
        scale_to_unit(&mut b);
        let mut a = product(whitening.as_ref(), b.as_ref());
        scale_to_unit(&mut a);
        let Some(moments) = points.moments(Some(a.as_ref()))? else { return Ok(None) };
        let log_det: f64 = (0..points.dim()).map(|i| a[(i, i)].abs().ln()).sum();
        let f = moments.log_norms - 2.0 * log_det;
        if !f.is_finite() {
            return Ok(None);
        }
        let values = eigenvalues(moments.moment.as_ref())?;
        Ok(Some(Iterate { b, a, f, moment: moments.moment, extremes: extremes(&values) }))
    }

    /// The residual max(1 - λmin(M), λmax(M) - 1).
    pub(crate) fn residual(&self) -> f64 {
        let (least, largest) = self.extremes;
        (1.0 - least).max(largest - 1.0)
    }

    /// The product B C for some C with CCᵀ = M⁻¹, and the logarithm of the condition number of C. [`CAP`] limits the
    /// eigenvalues of C.
    pub(crate) fn fixed_point(&self) -> Result<(Mat<f64>, f64), ForsterError> {
        let (least, largest) = self.extremes;
        let root = |value: f64| value.max((-CAP).exp()).sqrt().recip();
        let growth = root(least).ln() - root(largest).ln();
        let factors = inverse_lower_factor(self.moment.as_ref());
        if let (true, Some((_, c))) = (least >= DEFINITE, factors) {
            return Ok((product(self.b.as_ref(), c.as_ref()), growth));
        }
        let (values, vectors) = eigen(self.moment.as_ref())?;
        let c = spectral(&values, vectors.as_ref(), root);
        Ok((self.moved(c.as_ref()), growth))
    }

    /// Takes the step A <- A e^(-tS/2) for the largest t = 1, 1/2, ... that decreases f enough, or that makes the
    /// residual clearly smaller ([`CLEARLY_SMALLER`]). Returns `None` if there is no such t. `passes` is incremented
    /// for every t that is tried.
    pub(crate) fn along(
        &self,
        direction: &Direction,
        points: &mut impl LevelPasses,
        whitening: &Mat<f64>,
        passes: &mut usize,
    ) -> Result<Moved, ForsterError> {
        let mut t = 1.0;
        for _ in 0..MAX_HALVINGS {
            let root = |v: f64| (-0.5 * t * v).exp();
            let c = spectral(&direction.values, direction.vectors.as_ref(), root);
            let moved = Iterate::measure(points, whitening, self.moved(c.as_ref()))?;
            *passes += 1;
            if let Some(moved) = moved {
                let enough = moved.f <= self.f + SUFFICIENT * t * direction.slope;
                if enough || moved.residual() <= CLEARLY_SMALLER * self.residual() {
                    let (least, most) = extremes(&direction.values);
                    return Ok(Some((moved, 0.5 * t * (most - least))));
                }
            }
            t *= 0.5;
        }
        Ok(None)
    }

    /// The product B C as a lower triangle.
    fn moved(&self, c: MatRef<'_, f64>) -> Mat<f64> {
        lower_factor(product(self.b.as_ref(), c).as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level_passes::InMemory;
    use crate::newton::direction;
    use crate::pass::Rows;
    use halfspaces_data::{Clusters, Marginal};
    use halfspaces_linalg::Threads;

    /// A step that is sixteen times too long is halved until f decreases enough. Each trial takes a pass.
    #[test]
    fn a_step_too_long_is_halved() {
        let values = Clusters::random(5, 7, 0.1, 1).unwrap().sample(200, 2).unwrap().into_vec();
        let rows = Rows { values: values.into(), dim: 5, weights: vec![1.0; 200], total: 200.0 };
        let mut pass = InMemory::new(rows.clone(), Threads::ONE).unwrap();
        let one = Mat::<f64>::identity(5, 5);
        let start = Iterate::measure(&mut pass, &one, one.clone()).unwrap().unwrap();
        pass.set_units(one.as_ref()).unwrap();
        let mut towards = direction(&mut pass, &start.moment).unwrap();
        let mut passes = 0;
        let newton = start.along(&towards, &mut pass, &one, &mut passes).unwrap();
        let (newton, length) = newton.unwrap();
        assert!(newton.f < start.f && passes > 0);
        let (least, most) = extremes(&towards.values);
        let taken = 0.5f64.powi(passes as i32 - 1);
        assert!((length - 0.5 * taken * (most - least)).abs() < 1e-9 * length);
        let before = passes;
        towards.values.iter_mut().for_each(|v| *v *= 16.0);
        towards.slope *= 16.0;
        passes = 0;
        let halved = start.along(&towards, &mut pass, &one, &mut passes).unwrap();
        let (halved, halved_length) = halved.unwrap();
        // Four more halvings reach the same iterate.
        assert_eq!(passes, before + 4);
        assert!((halved_length - length).abs() < 1e-9 * length);
        assert!((halved.f - newton.f).abs() < 1e-9 * newton.f.abs());
    }
}
