//! The Newton direction of the log-likelihood whose stationary points are the transforms into radially isotropic
//! position.
//!
//! f(A) = (k/W) Σ w ln‖Aᵀx‖² - 2 ln|det A| is convex along A e^(-tS/2) for every symmetric S. Let u be the unit rows of
//! XA and M = (k/W) Σ w u uᵀ at the current A. The slope of f along S is then ⟨I - M, S⟩ and its second derivative is
//! ⟨S, H S⟩, where H S = (MS + SM)/2 - (k/W) Σ w u uᵀ (uᵀSu). Newton's direction solves H S = M - I among symmetric S
//! of trace 0. The conjugate gradient method solves this equation, with one pass over the points per product.
//!
//! If there is a heavy subspace, f decreases without bound and its curvature vanishes. The direction is then truncated
//! to the spectral norm [`CAP`], which still allows a long step.
//!
//! *Source.* Wiesel 2012: the Riemannian form of Tyler's likelihood, and the proof that it is convex. Radially
//! isotropic position is defined as in DKTZ23 §3, which has no Newton step. Correctness does not depend on this
//! direction: every answer is certified from the points (Claims: F1, F2).

use crate::dense::{add, eigen, inner, product};
use crate::error::ForsterError;
use crate::level_passes::LevelPasses;
use faer::Mat;

/// Maximum spectral norm of a direction: one step changes the condition number by at most a factor of e^12.
pub(crate) const CAP: f64 = 12.0;
/// Relative curvature that, because of rounding, cannot be distinguished from zero.
const FLAT: f64 = 1e-14;
/// Maximum number of conjugate-gradient steps; the result of fewer steps is a descent direction too.
const MAX_PRODUCTS: usize = 60;
/// Upper and lower limits of the forcing term. The equation counts as solved when the residual falls to the forcing
/// term times its initial value.
const FORCING: (f64, f64) = (0.1, 1e-3);

/// A direction S with its spectrum.
#[derive(Debug)]
pub(crate) struct Direction {
    /// Eigenvalues of S, ascending, with magnitude at most [`CAP`].
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Mat<f64>,
    /// The slope ⟨I - M, S⟩ of f, which is negative.
    pub(crate) slope: f64,
    /// Number of products with H. Each product takes a pass over the points.
    pub(crate) products: usize,
}

/// Solves H S = M - I over the unit rows that [`LevelPasses::set_units`] has chosen.
pub(crate) fn direction(
    points: &mut impl LevelPasses,
    moment: &Mat<f64>,
) -> Result<Direction, ForsterError> {
    let dim = points.dim();
    let mut residual = Mat::from_fn(dim, dim, |i, j| moment[(i, j)] - f64::from(i == j));
    let target = residual.clone();
    let mut s = Mat::<f64>::zeros(dim, dim);
    let mut step = residual.clone();
    let mut size = inner(residual.as_ref(), residual.as_ref());
    let goal = size * size.sqrt().clamp(FORCING.1, FORCING.0).powi(2);
    let mut products = 0;
    while products < MAX_PRODUCTS && size > goal {
        let ms = product(moment.as_ref(), step.as_ref());
        let fourth = points.fourth_moment(step.as_ref())?;
        products += 1;
        let image = Mat::from_fn(dim, dim, |i, j| 0.5 * (ms[(i, j)] + ms[(j, i)]) - fourth[(i, j)]);
        let curvature = inner(step.as_ref(), image.as_ref());
        let length = inner(step.as_ref(), step.as_ref());
        if curvature <= FLAT * length {
            // Up to rounding, f decreases without bound along `step`.
            add(&mut s, CAP * dim as f64 / length.sqrt(), &step);
            break;
        }
        let share = size / curvature;
        add(&mut s, share, &step);
        add(&mut residual, -share, &image);
        if inner(s.as_ref(), s.as_ref()) > CAP * CAP * dim as f64 {
            break; // The spectral norm exceeds the cap in any case.
        }
        let before = size;
        size = inner(residual.as_ref(), residual.as_ref());
        let mut next = residual.clone();
        add(&mut next, size / before, &step);
        step = next;
    }
    let (mut values, vectors) = eigen(s.as_ref())?;
    let norm = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let cut = if norm > CAP { CAP / norm } else { 1.0 };
    values.iter_mut().for_each(|v| *v *= cut);
    let slope = -cut * inner(target.as_ref(), s.as_ref());
    Ok(Direction { values, vectors, slope, products })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::{lower_factor, spectral};
    use crate::level_passes::InMemory;
    use crate::pass::Rows;
    use halfspaces_data::{Clusters, Marginal};
    use halfspaces_linalg::Threads;

    fn clustered(n: usize, dim: usize) -> Rows<'static> {
        let values = Clusters::random(dim, 7, 0.1, 1).unwrap().sample(n, 2).unwrap().into_vec();
        Rows { values: values.into(), dim, weights: vec![1.0; n], total: n as f64 }
    }

    #[test]
    fn the_direction_solves_newtons_equation_and_f_follows_its_slope() {
        let rows = clustered(200, 5);
        let mut pass = InMemory::new(rows.clone(), Threads::ONE).unwrap();
        let a = Mat::<f64>::identity(5, 5);
        let moments = pass.moments(Some(a.as_ref())).unwrap().unwrap();
        pass.set_units(a.as_ref()).unwrap();
        let found = direction(&mut pass, &moments.moment).unwrap();
        let s = spectral(&found.values, found.vectors.as_ref(), |v| v);
        // H S, computed by its definition, must equal M - I to within the forcing term, and the trace of S must be 0.
        let ms = product(moments.moment.as_ref(), s.as_ref());
        let fourth = pass.fourth_moment(s.as_ref()).unwrap();
        let (mut missed, mut size, mut trace) = (0.0, 0.0, 0.0);
        for i in 0..5 {
            trace += s[(i, i)];
            for j in 0..5 {
                let target = moments.moment[(i, j)] - f64::from(i == j);
                let image = 0.5 * (ms[(i, j)] + ms[(j, i)]) - fourth[(i, j)];
                missed += (image - target) * (image - target);
                size += target * target;
            }
        }
        assert!(missed <= 1.01 * FORCING.0 * FORCING.0 * size, "{missed} of {size}");
        assert!(trace.abs() < 1e-12 && found.slope < 0.0);
        // S has trace 0, so the difference quotient of this f along A e^(-tS/2) at t = 0 is the slope.
        let mut f = |t: f64| {
            let c = spectral(&found.values, found.vectors.as_ref(), |v| (-0.5 * t * v).exp());
            let a = lower_factor(c.as_ref());
            pass.moments(Some(a.as_ref())).unwrap().unwrap().log_norms
        };
        let quotient = (f(1e-5) - f(-1e-5)) / 2e-5;
        assert!((quotient / found.slope - 1.0).abs() < 1e-6, "{quotient} {}", found.slope);
    }

    #[test]
    fn towards_a_heavy_subspace_the_direction_is_cut_to_the_cap() {
        // The points lie in two directions, with two thirds of them in one, so f is linear in the scale between the
        // two.
        let values = vec![1.0, 0.0, 1.0, 0.0, 0.0, 1.0];
        let rows = Rows { values: values.into(), dim: 2, weights: vec![1.0; 3], total: 3.0 };
        let mut pass = InMemory::new(rows.clone(), Threads::ONE).unwrap();
        let moment = pass.moments(None).unwrap().unwrap().moment;
        pass.set_units(Mat::identity(2, 2).as_ref()).unwrap();
        let found = direction(&mut pass, &moment).unwrap();
        assert!((found.values[0] + CAP).abs() < 1e-9 && (found.values[1] - CAP).abs() < 1e-9);
    }
}
