//! Anderson's acceleration of the fixed point.
//!
//! Near a position the fixed point is nearly linear: the error of Q = (AAᵀ)⁻¹, seen from a factor A₀
//! close by, shrinks by one symmetric operator a step. A combination of the last few steps whose
//! residuals nearly cancel then gets much further than each of them, as conjugate gradients do beside
//! a plain iteration: the steps that a given accuracy takes fall by a third to a half. It costs a few
//! k × k matrices and no pass. A proposal far from A₀ is refused, and nothing is trusted to it: the
//! next pass measures what it is worth.
//!
//! *Source.* Anderson 1965; Walker and Ni 2011 (type II).

use crate::dense::{add, inner, inverse_lower_factor, product};
use faer::{Mat, Scale};

/// Maximum number of steps that are combined.
const DEPTH: usize = 5;
/// Share of its length that a difference of residuals must have beyond the span of newer ones.
const INDEPENDENT: f64 = 1e-6;
/// Residual from which the fixed point counts as nearly linear.
pub(crate) const NEAR: f64 = 0.5;
/// How far in Frobenius norm, over √k, Q may be from that of A₀.
const RADIUS: f64 = 0.5;

/// The last few steps, seen from the lower triangle A₀ where they began.
#[derive(Debug)]
pub(crate) struct AndersonAcceleration {
    origin: Mat<f64>,
    /// An upper triangle V with VVᵀ = Q at the present factor.
    root: Mat<f64>,
    /// Q of a step, of trace k, and what the fixed point would add to it; the newest last.
    history: Vec<(Mat<f64>, Mat<f64>)>,
}

impl AndersonAcceleration {
    /// Begins at the factor `origin`.
    pub(crate) fn new(origin: Mat<f64>) -> AndersonAcceleration {
        let root = Mat::identity(origin.nrows(), origin.nrows());
        AndersonAcceleration { origin, root, history: Vec::new() }
    }

    /// ln of how much the condition can differ between two factors near the origin: eigenvalues of Q
    /// there are taken to lie between 1/2 and 3/2, as they do but for a few when k is large.
    pub(crate) fn growth() -> f64 {
        0.5 * 3f64.ln()
    }

    /// The next factor, a lower triangle, given M at the present one; `None` if it would be far from
    /// the origin.
    pub(crate) fn next(&mut self, moment: &Mat<f64>) -> Option<Mat<f64>> {
        let dim = moment.nrows();
        let root = &self.root;
        let image = product(product(root.as_ref(), moment.as_ref()).as_ref(), root.transpose());
        let image = to_trace_of_identity(image);
        let present = to_trace_of_identity(product(root.as_ref(), root.transpose()));
        let residual = &image - &present;
        let mut next = image;

        // Differences of residuals, newest first, made orthogonal; each with what it is the image of.
        let mut basis: Vec<(Mat<f64>, Mat<f64>)> = Vec::new();
        let mut unexplained = residual.clone();
        let mut newer = (&present, &residual);
        for older in self.history.iter().rev() {
            let mut change = newer.1 - &older.1;
            let mut moved = newer.0 - &older.0;
            moved += &change;
            newer = (&older.0, &older.1);
            let length = inner(change.as_ref(), change.as_ref()).sqrt();
            for (unit, image) in &basis {
                let share = inner(unit.as_ref(), change.as_ref());
                add(&mut change, -share, unit);
                add(&mut moved, -share, image);
            }
            let left = inner(change.as_ref(), change.as_ref()).sqrt();
            if left.is_nan() || left <= INDEPENDENT * length {
                break;
            }
            change *= Scale(left.recip());
            moved *= Scale(left.recip());
            let share = inner(unexplained.as_ref(), change.as_ref());
            add(&mut unexplained, -share, &change);
            add(&mut next, -share, &moved);
            basis.push((change, moved));
        }

        self.history.push((present, residual));
        if self.history.len() > DEPTH {
            self.history.remove(0);
        }
        let away = to_trace_of_identity(next.clone()) - Mat::<f64>::identity(dim, dim);
        let near = inner(away.as_ref(), away.as_ref()) <= RADIUS * RADIUS * dim as f64;
        if !near {
            return None;
        }
        // next = VVᵀ, and C = V⁻ᵀ is the lower triangle with CCᵀ = next⁻¹.
        let (upper, lower) = inverse_lower_factor(next.as_ref())?;
        self.root = upper;
        Some(product(self.origin.as_ref(), lower.as_ref()))
    }
}

fn to_trace_of_identity(mut m: Mat<f64>) -> Mat<f64> {
    let dim = m.nrows();
    let trace: f64 = (0..dim).map(|i| m[(i, i)]).sum();
    m *= Scale(dim as f64 / trace);
    m
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::lower_factor;
    use crate::pass::{Pass, Rows};
    use halfspaces_data::{Clusters, Marginal};
    use halfspaces_linalg::Threads;

    /// max |M - I| after each step from the identity.
    fn errors(mixed: bool, steps: usize) -> Vec<f64> {
        let points = Clusters::random(6, 9, 0.3, 1).unwrap().sample(900, 2).unwrap();
        let values = points.as_slice().into();
        let rows = Rows { values, dim: 6, weights: vec![1.0; 900], total: 900.0 };
        let mut pass = Pass::new(&rows, Threads::ONE).unwrap();
        let mut a = Mat::<f64>::identity(6, 6);
        let mut acceleration = None;
        (0..steps)
            .map(|_| {
                let moment = pass.moments(&rows, Some(a.as_ref())).unwrap().moment;
                let error = (&moment - Mat::<f64>::identity(6, 6)).norm_max();
                let next = if mixed && error < NEAR {
                    let acceleration =
                        acceleration.get_or_insert_with(|| AndersonAcceleration::new(a.clone()));
                    acceleration.next(&moment)
                } else {
                    None
                };
                a = next.unwrap_or_else(|| {
                    acceleration = None;
                    let (_, lower) = inverse_lower_factor(moment.as_ref()).unwrap();
                    product(a.as_ref(), lower.as_ref())
                });
                error
            })
            .collect()
    }

    #[test]
    fn mixed_steps_reach_the_same_position_sooner() {
        let count = |errors: Vec<f64>| errors.iter().take_while(|e| **e > 1e-10).count();
        let (plain, mixed) = (count(errors(false, 80)), count(errors(true, 80)));
        assert!(mixed < 80 && 3 * mixed <= 2 * plain, "{mixed} of {plain}");
    }

    #[test]
    fn a_linear_iteration_ends_in_as_many_steps_as_it_has_rates() {
        // M over few directions of one rate: the second step already cancels the first.
        let mut acceleration = AndersonAcceleration::new(Mat::identity(3, 3));
        let target = Mat::from_fn(3, 3, |i, j| {
            f64::from(i == j) + if (i, j) == (0, 0) { 0.02 } else { -0.01 * f64::from(i == j) }
        });
        // Q' - Q = (target - Q)/2 in exact arithmetic; M follows from Q' = V M Vᵀ.
        let mut q = Mat::<f64>::identity(3, 3);
        for _ in 0..2 {
            let half = Mat::from_fn(3, 3, |i, j| 0.5 * (q[(i, j)] + target[(i, j)]));
            let (upper, lower) = inverse_lower_factor(q.as_ref()).unwrap();
            assert!((&product(upper.as_ref(), upper.transpose()) - &q).norm_max() < 1e-14);
            let moment =
                product(product(lower.transpose(), half.as_ref()).as_ref(), lower.as_ref());
            let factor = acceleration.next(&moment).unwrap();
            q = to_trace_of_identity(product(
                acceleration.root.as_ref(),
                acceleration.root.transpose(),
            ));
            assert!(
                (&lower_factor(factor.as_ref()) - &lower_factor(lower_of(&q).as_ref())).norm_max()
                    < 1e-12
            );
        }
        assert!((&q - &target).norm_max() < 1e-12);
    }

    fn lower_of(q: &Mat<f64>) -> Mat<f64> {
        inverse_lower_factor(q.as_ref()).unwrap().1
    }

    #[test]
    fn far_proposals_are_refused() {
        let mut acceleration = AndersonAcceleration::new(Mat::identity(2, 2));
        let far = Mat::from_fn(2, 2, |i, j| if i == j { [1.9, 0.1][i] } else { 0.0 });
        assert!(acceleration.next(&far).is_none());
    }
}
