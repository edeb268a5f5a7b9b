//! Vaidya's volumetric centre of the version space, with cuts that can be dropped.
//!
//! [`VolumetricCentre`] keeps a polytope {w : a_i · w >= b_i} around the version space and starts with the cube \[-1,
//! 1\]^d. Let s_i = a_i · w - b_i be the slacks and H(w) = Σ a_i a_i'/s_i². The volumetric centre of the polytope
//! minimises V(w) = ½ ln det H(w), which is minus the log volume of the Dikin ellipsoid around w. A mistake adds a
//! constraint. Afterwards, a constraint whose leverage σ_i = a_i'H⁻¹a_i/s_i² at the centre is below ε = 1/400 is
//! dropped, so at most 400 d are kept.
//!
//! *Guarantee.* A mistake increases min V by at least 0.005, and dropping a constraint decreases it by at most 0.0015.
//! There are at most d - 1 more drops than mistakes, and min V stays below d ln(400 d/r) while the polytope contains a
//! ball of radius r = γ/(1+γ). This gives O(d ln(d/γ)) mistakes, with the constants of [`bounds::volumetric_mistakes`].
//! `docs/theory/volumetric-centre.md` proves the two bounds 0.005 and 0.0015; the measured changes are about a hundred
//! times larger. An analytic centre that never drops a cut has no such bound.
//!
//! *Source.* Kakade §3, Notes21; Vaidya 1996; the constants are ours. All quantities are expressed in coordinates z
//! with w = c + Tz, in which H(c) is the identity and every slack is 1. H itself is never stored: its condition number
//! is 1e18 at γ = 1e-9.
//!
//! Claims: K8v, S6.

use super::learner::{Centre, check_cut};
use crate::bounds;
use crate::direction::origin;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::prelude::ReborrowMut;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use halfspaces_linalg::{InputError, kernels, norm, zeros};

/// The slack of a newly added cut, in radii of the Dikin ellipsoid. A deeper cut is made in steps.
const ENTRY_SLACK: f64 = 0.2;
/// Newton's method ends when the decrement is at most this value. The distance of V from its minimum is then at most
/// the square of the decrement.
const MIN_DECREMENT: f64 = 1e-9;
/// The decrement below which a full step needs no line search, because Newton's method converges quadratically.
const QUADRATIC_REGION: f64 = 1e-3;
/// Maximum number of Newton steps; usually 5 to 15 steps suffice.
const MAX_NEWTON_STEPS: usize = 200;
/// Mean radius below which the polytope is numerically a point.
const MIN_RADIUS: f64 = 1e-13;
/// If the Dikin ellipsoid is narrower than this in the direction of a cut, a step no longer moves the centre; the
/// polytope is then at most 400 d times as wide as the ellipsoid.
const MIN_WIDTH: f64 = 1e-16;

/// Vaidya's volumetric centre of a polytope around the version space; cuts are dropped once they have little influence.
///
/// *Guarantee.* The learner makes at most 1 + (d ln((1+γ)/γ) + d ln(400 d) - ½ d ln 2 + 0.0015(d-1))/0.0035 mistakes
/// ([`bounds::volumetric_mistakes`]), which is O(d ln(d/γ)). This is the only deterministic centre here with a bound
/// that is nearly linear in d. In practice, the number of mistakes is hundreds of times smaller than this bound.
///
/// *Cost.* Each cut takes 5 to 15 Newton steps of O(m²d + md²) time for m constraints, and O(md) memory. Here m is at
/// most 400 d, and in practice a few times d. A deep cut is added in at most about 10^4 d stages, because each stage
/// increases the potential.
///
/// *When to use it.* Against an adversary, or if the number of mistakes must be bounded. In practice
/// [`CentreOfGravity`](crate::CentreOfGravity) makes fewer mistakes, and the ellipsoid costs less per cut.
///
/// *Source.* Kakade §3, Notes21; Vaidya 1996; the constants and the proof are ours
/// (`docs/theory/volumetric-centre.md`). Claims: K8e, K8v.
///
/// ```
/// use halfspaces_online::{Centre, VolumetricCentre};
/// let mut centre = VolumetricCentre::new(2)?;
/// centre.cut(&[1.0, 0.0])?;
/// // Half a square, [0, 1] by [-1, 1], with a redundant constraint at -1.
/// assert!((centre.centre()[0] - 0.45).abs() < 0.1 && centre.centre()[1].abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct VolumetricCentre {
    centre: Vec<f64>,
    /// The matrix T, row by row.
    transform: Vec<f64>,
    /// The constraints 1 + q_i · z >= 0, with the q_i stored contiguously.
    constraints: Vec<f64>,
    /// V at the centre, which is -ln |det T|.
    potential: f64,
    exhausted: bool,
}

impl VolumetricCentre {
    /// The centre of the cube \[-1, 1\]^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::TooLarge`].
    pub fn new(dim: usize) -> Result<VolumetricCentre, InputError> {
        let centre = origin(dim)?;
        // All slacks are 1, so H(0) = 2I, T = I/√2 and q = ±e_j/√2.
        let side = std::f64::consts::FRAC_1_SQRT_2;
        let mut transform = zeros(dim, dim)?;
        transform.iter_mut().step_by(dim + 1).for_each(|v| *v = side);
        let mut constraints = transform.clone();
        constraints.extend(transform.iter().map(|v| -v));
        let potential = 0.5 * dim as f64 * std::f64::consts::LN_2;
        Ok(VolumetricCentre { centre, transform, constraints, potential, exhausted: false })
    }

    /// V at the centre, which is the minimum of V over the polytope. The volume of the polytope, relative to the unit
    /// ball, is at most m^d e^-V for m constraints.
    #[must_use]
    pub fn potential(&self) -> f64 {
        self.potential
    }

    /// Current number of constraints.
    fn constraints(&self) -> usize {
        self.constraints.len() / self.centre.len()
    }

    /// The natural logarithm of an upper bound on the volume of the polytope, relative to the unit ball.
    fn log_volume_bound(&self) -> f64 {
        self.centre.len() as f64 * (self.constraints() as f64).ln() - self.potential
    }

    /// Adds a · w >= 0 and moves to the new centre. The constraint is first added as a · w >= b with a smaller b, which
    /// is then increased to 0 in steps that keep the centre inside.
    fn add_constraint(&mut self, a: &[f64]) -> Result<(), InputError> {
        let d = self.centre.len();
        let others = self.constraints.len();
        while !self.exhausted {
            // With g = T'a, a · w = a · c + g · z.
            let mut g = vec![0.0; d];
            for (row, a_i) in self.transform.chunks_exact(d).zip(a) {
                kernels::axpy(*a_i, row, &mut g);
            }
            let (value, width) = (kernels::dot(a, &self.centre), norm(&g));
            if !(value.is_finite() && width.is_finite()) {
                return Err(InputError::Overflow { row: 0 });
            }
            let slack = value.max(ENTRY_SLACK * width);
            self.exhausted =
                width < MIN_WIDTH || self.log_volume_bound() < d as f64 * MIN_RADIUS.ln();
            self.constraints.truncate(others);
            self.constraints.extend(g.iter().map(|v| v / slack));
            self.recentre()?;
            if value >= ENTRY_SLACK * width {
                break;
            }
        }
        Ok(())
    }

    /// Drops every constraint with a leverage below ε, starting with the smallest leverage.
    fn drop_constraints(&mut self) -> Result<(), InputError> {
        let d = self.centre.len();
        // At the centre H is the identity, so σ_i = ‖q_i‖².
        let leverages = |c: &[f64]| c.chunks_exact(d).map(kernels::norm_sq).collect::<Vec<f64>>();
        while self.constraints() > d + 1 {
            let leverages = leverages(&self.constraints);
            let least = leverages.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
            match least {
                Some((i, leverage)) if *leverage < bounds::VOLUMETRIC_LEAST_LEVERAGE => {
                    self.constraints.drain(i * d..(i + 1) * d);
                    self.recentre()?;
                }
                _ => break,
            }
        }
        Ok(())
    }

    /// Moves to the centre by Newton's method, updating the coordinates at every step.
    fn recentre(&mut self) -> Result<(), InputError> {
        for _ in 0..MAX_NEWTON_STEPS {
            self.whiten()?;
            let (step, decrement) = self.newton_step()?;
            if decrement <= MIN_DECREMENT {
                break;
            }
            // Stay inside, and require that V decreases by at least a tenth of what the slope predicts.
            let reach = self.rates(&step).fold(0.0, |most: f64, rate| most.max(-rate));
            let mut length = if reach > 0.9 { 0.9 / reach } else { 1.0 };
            if decrement > QUADRATIC_REGION {
                let promised = 0.1 * decrement * decrement;
                while self.rise(&step, length)? > -promised * length && length > 1e-6 {
                    length *= 0.5;
                }
            }
            self.advance(&step, length);
        }
        self.whiten()
    }

    /// Updates the coordinates so that H at the centre is the identity.
    fn whiten(&mut self) -> Result<(), InputError> {
        let d = self.centre.len();
        let m = self.constraints();
        let mut h = Mat::zeros(d, d);
        let q = MatRef::from_row_major_slice(&self.constraints, m, d);
        matmul(h.as_mut(), Accum::Replace, q.transpose(), q, 1.0, Par::Seq);
        cholesky(h.as_mut())?;
        // With H = LL', the new coordinates z' satisfy z = L⁻ᵀ z', so T' = TL⁻ᵀ and q' = L⁻¹q.
        let q = MatMut::from_row_major_slice_mut(&mut self.constraints, m, d);
        solve_lower_triangular_in_place(h.as_ref(), q.transpose_mut(), Par::Seq);
        let t = MatMut::from_row_major_slice_mut(&mut self.transform, d, d);
        solve_lower_triangular_in_place(h.as_ref(), t.transpose_mut(), Par::Seq);
        self.potential += (0..d).map(|j| h[(j, j)].ln()).sum::<f64>();
        Ok(())
    }

    /// Newton's step -(∇²V)⁻¹∇V in z and its decrement √(∇V'(∇²V)⁻¹∇V), in whitened coordinates: ∇V = -Σ σ_i q_i and
    /// ∇²V = Q'(3Σ - 2 P∘P)Q with P = QQ', Σ = diag σ.
    fn newton_step(&self) -> Result<(Vec<f64>, f64), InputError> {
        let d = self.centre.len();
        let m = self.constraints();
        let q = MatRef::from_row_major_slice(&self.constraints, m, d);
        let mut p = Mat::zeros(m, m);
        matmul(p.as_mut(), Accum::Replace, q, q.transpose(), 1.0, Par::Seq);
        let mut step = vec![0.0; d];
        for (i, row) in self.constraints.chunks_exact(d).enumerate() {
            kernels::axpy(p[(i, i)], row, &mut step);
        }
        let gradient: Vec<f64> = step.iter().map(|v| -v).collect();
        for j in 0..m {
            let leverage = p[(j, j)];
            p.col_mut(j).iter_mut().for_each(|v| *v = -2.0 * *v * *v);
            p[(j, j)] += 3.0 * leverage;
        }
        let mut pq = Mat::zeros(m, d);
        matmul(pq.as_mut(), Accum::Replace, p.as_ref(), q, 1.0, Par::Seq);
        let mut hessian = Mat::zeros(d, d);
        matmul(hessian.as_mut(), Accum::Replace, q.transpose(), pq.as_ref(), 1.0, Par::Seq);
        cholesky(hessian.as_mut())?;
        let mut column = MatMut::from_column_major_slice_mut(&mut step, d, 1);
        solve_lower_triangular_in_place(hessian.as_ref(), column.rb_mut(), Par::Seq);
        solve_upper_triangular_in_place(hessian.transpose(), column, Par::Seq);
        let decrement = -kernels::dot(&gradient, &step);
        if decrement.is_finite() {
            Ok((step, decrement.max(0.0).sqrt()))
        } else {
            Err(InputError::Overflow { row: 0 })
        }
    }

    /// q_i · step, the rate at which each slack grows.
    fn rates<'a>(&'a self, step: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        self.constraints.chunks_exact(step.len()).map(|q| kernels::dot(q, step))
    }

    /// The increase of V after a move by `length` times `step`, in whitened coordinates.
    fn rise(&self, step: &[f64], length: f64) -> Result<f64, InputError> {
        let mut moved = self.clone();
        moved.advance(step, length);
        moved.whiten()?;
        Ok(moved.potential - self.potential)
    }

    /// Moves the centre by `length` times `step`. The slacks become 1 + length q_i · step and are scaled back to 1.
    fn advance(&mut self, step: &[f64], length: f64) {
        let d = step.len();
        let scaled: Vec<f64> = step.iter().map(|v| length * v).collect();
        for q in self.constraints.chunks_exact_mut(d) {
            let slack = 1.0 + kernels::dot(q, &scaled);
            q.iter_mut().for_each(|v| *v /= slack);
        }
        for (row, c) in self.transform.chunks_exact(d).zip(&mut self.centre) {
            *c += kernels::dot(row, &scaled);
        }
    }
}

/// Replaces the lower triangle of a positive definite matrix by its Cholesky factor L.
fn cholesky(matrix: MatMut<'_, f64>) -> Result<(), InputError> {
    let params = Default::default();
    let scratch = cholesky_in_place_scratch::<f64>(matrix.nrows(), Par::Seq, params);
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    match cholesky_in_place(matrix, Default::default(), Par::Seq, stack, params) {
        Ok(_) => Ok(()),
        Err(_) => Err(InputError::Overflow { row: 0 }),
    }
}

impl Centre for VolumetricCentre {
    fn dim(&self) -> usize {
        self.centre.len()
    }

    fn centre(&self) -> &[f64] {
        &self.centre
    }

    fn cut(&mut self, a: &[f64]) -> Result<(), InputError> {
        check_cut(self.centre.len(), a)?;
        let mut next = self.clone();
        next.add_constraint(a)?;
        if !next.exhausted {
            next.drop_constraints()?;
        }
        *self = next;
        Ok(())
    }

    fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    fn mistake_bound(&self, margin: f64) -> Option<f64> {
        Some(bounds::volumetric_mistakes(self.centre.len(), margin))
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_runs::{against_the_adversary, contradicted, needle};
    use super::*;
    use crate::{AsGiven, OnlineLearner, VersionSpace, run};
    use halfspaces_data::random_target;
    use halfspaces_linalg::{Classifier, normalise};

    /// Test oracle: computes V and its gradient at w from the constraints a · w >= b.
    fn potential(constraints: &[(Vec<f64>, f64)], w: &[f64]) -> (f64, Vec<f64>) {
        let d = w.len();
        let scaled: Vec<Vec<f64>> = constraints
            .iter()
            .map(|(a, b)| {
                let slack = kernels::dot(a, w) - b;
                assert!(slack > 0.0);
                a.iter().map(|v| v / slack).collect()
            })
            .collect();
        let h = Mat::from_fn(d, d, |j, k| scaled.iter().map(|q| q[j] * q[k]).sum::<f64>());
        let mut l = h.clone();
        cholesky(l.as_mut()).unwrap();
        let mut gradient = vec![0.0; d];
        for q in &scaled {
            let mut solved = q.clone();
            let mut column = MatMut::from_column_major_slice_mut(&mut solved, d, 1);
            solve_lower_triangular_in_place(l.as_ref(), column.rb_mut(), Par::Seq);
            kernels::axpy(-kernels::norm_sq(&solved), q, &mut gradient);
        }
        ((0..d).map(|j| l[(j, j)].ln()).sum(), gradient)
    }

    fn cube_constraints(dim: usize) -> Vec<(Vec<f64>, f64)> {
        let axis =
            |j: usize, sign: f64| (0..dim).map(|k| if k == j { sign } else { 0.0 }).collect();
        (0..2 * dim).map(|i| (axis(i / 2, if i % 2 == 0 { 1.0 } else { -1.0 }), -1.0)).collect()
    }

    #[test]
    fn a_small_set_is_not_taken_for_empty() {
        let target = random_target(6, 1).unwrap().into_normal();
        let mut centre = VolumetricCentre::new(6).unwrap();
        for k in 0..400 {
            // The cuts are orthogonal to the target up to 1e-7, and the centre lies on their wrong side.
            let mut a = random_target(6, 10 + k).unwrap().into_normal();
            kernels::axpy(-kernels::dot(&a, &target), &target, &mut a);
            let sign = -kernels::dot(&a, centre.centre()).signum();
            a.iter_mut().for_each(|v| *v *= sign);
            kernels::axpy(1e-7, &target, &mut a);
            assert!(normalise(&mut a));
            centre.cut(&a).unwrap();
        }
        let volume = centre.log_volume_bound();
        assert!(!centre.is_exhausted() && volume < -40.0, "{volume}");
    }

    #[test]
    fn the_centre_is_stationary_and_the_potential_its_own() {
        for (dim, seed) in [(2, 1), (5, 2), (9, 3)] {
            let mut centre = VolumetricCentre::new(dim).unwrap();
            let mut constraints = cube_constraints(dim);
            let target = random_target(dim, seed).unwrap().into_normal();
            for k in 0..3 * dim as u64 {
                let mut a = random_target(dim, 100 * seed + k).unwrap().into_normal();
                if kernels::dot(&a, &target) < 0.0 {
                    a.iter_mut().for_each(|v| *v = -*v);
                }
                let before = centre.potential();
                centre.cut(&a).unwrap();
                constraints.push((a, 0.0));
                if centre.constraints() < constraints.len() {
                    // A constraint was dropped, so the list here no longer describes the polytope.
                    assert!(k >= dim as u64, "a constraint was dropped too early");
                    break;
                }
                let (value, gradient) = potential(&constraints, centre.centre());
                assert!((value - centre.potential()).abs() < 1e-9 * (1.0 + value.abs()));
                // ‖T'∇V‖ is the size of the gradient in radii of the Dikin ellipsoid.
                let mut white = vec![0.0; dim];
                for (row, v) in centre.transform.chunks_exact(dim).zip(&gradient) {
                    kernels::axpy(*v, row, &mut white);
                }
                assert!(norm(&white) < 1e-7, "{}", norm(&white));
                assert!(value > before, "a constraint can only raise V");
            }
        }
    }

    /// Every mistake increases the potential by at least the amount that the bound assumes, and dropping a constraint
    /// decreases it by at most the amount that the bound assumes.
    #[test]
    fn mistakes_pay_and_drops_are_cheap() {
        let (dim, mut dropped) = (2, 0);
        let mut centre = VolumetricCentre::new(dim).unwrap();
        let target = [0.6, 0.8];
        for k in 0..450 {
            // The target satisfies all cuts. Some of them pass through the centre, so that mistakes keep occurring.
            let c = centre.centre();
            let mut a = if k % 15 == 1 {
                vec![-c[1], c[0]]
            } else {
                random_target(dim, k).unwrap().into_normal()
            };
            assert!(normalise(&mut a));
            if kernels::dot(&a, &target) < 0.0 {
                a.iter_mut().for_each(|v| *v = -*v);
            }
            let mistake = kernels::dot(&a, c) <= 1e-15;
            let before = centre.potential();
            centre.add_constraint(&a).unwrap();
            let rise = centre.potential() - before;
            assert!(rise >= if mistake { bounds::VOLUMETRIC_RISE } else { 0.0 });
            let kept = centre.constraints();
            let before = centre.potential();
            centre.drop_constraints().unwrap();
            let drops = kept - centre.constraints();
            assert!(before - centre.potential() <= bounds::VOLUMETRIC_FALL * drops as f64 + 1e-9);
            dropped += drops;
            // After the drops, every constraint has a leverage of at least ε at the next mistake.
            let least =
                centre.constraints.chunks_exact(dim).map(kernels::norm_sq).fold(1.0, f64::min);
            assert!(least >= bounds::VOLUMETRIC_LEAST_LEVERAGE);
        }
        assert!(dropped > 5, "{dropped} dropped");
    }

    /// Computes the two constants from the one-variable functions at the end of their proofs.
    #[test]
    fn the_constants_follow_from_their_proofs() {
        let least = bounds::VOLUMETRIC_LEAST_LEVERAGE;
        // ∫ (1-t) κ dt, the curvature of V in the norm of Q on the way to a point at distance u, with slacks that
        // change by at most r.
        let curvature = |r: f64, u: f64| {
            let c = 3.0 / (1.0 - r).powi(4);
            let at = |t: f64| {
                (1.0 - t) / ((1.0 + 2.0 * t * u + c * (t * u).powi(2)) * (1.0 + t * r).powi(4))
            };
            // This is a lower sum, because the integrand decreases.
            (1..=2000).map(|k| at(f64::from(k) / 2000.0)).sum::<f64>() / 2000.0
        };
        let steps = 4000;
        // The cut has a slack of 8.27 radii, and the region has r = 0.4.
        let (eta, r) = (8.27f64, 0.4f64);
        let reach = r * (2.0 * least.sqrt() - least).sqrt();
        let quadratic = curvature(r, reach);
        let c = 3.0 / (1.0 - r).powi(4);
        let rise = |low: f64, high: f64| {
            let tau =
                1.0 / ((1.0 + 2.0 * high + c * high * high) * (eta + high / least.sqrt()).powi(2));
            quadratic * low * low + 0.5 * tau.ln_1p()
        };
        assert!(rise(reach, reach) > 0.5 * (1.0 / (eta * eta)).ln_1p(), "the minimum is inside");
        for k in 0..steps {
            let at = |k: i32| reach * f64::from(k) / f64::from(steps);
            assert!(rise(at(k), at(k + 1)) >= bounds::VOLUMETRIC_RISE);
        }
        // A constraint of leverage m <= ε is dropped, and the region has r = 0.1.
        let r = 0.1;
        for j in 0..200 {
            let m = least * 10f64.powf(-f64::from(j) / 20.0);
            let to_slack = (2.0 * m.sqrt() - m).sqrt();
            let reach = r * to_slack;
            let quadratic = curvature(r, reach);
            let fall = |low: f64, high: f64| {
                let leverage = m * (1.0 + high).powi(2) / (1.0 - high / to_slack).powi(2);
                quadratic * low * low + 0.5 * (-leverage).ln_1p()
            };
            assert!(fall(reach, reach) > 0.5 * (-m).ln_1p(), "the minimum is inside");
            for k in 0..steps {
                let at = |k: i32| reach * f64::from(k) / f64::from(steps);
                assert!(fall(at(k), at(k + 1)) >= -bounds::VOLUMETRIC_FALL);
            }
        }
    }

    /// Computes the bound from its parts: the largest increase of the potential from the cube to a polytope around a
    /// ball of radius r, and the largest decrease from dropping constraints.
    #[test]
    fn the_bound_counts_from_the_potential_of_the_cube() {
        for (dim, margin) in [(1, 0.5), (2, 1.0), (3, 0.01), (30, 1e-6)] {
            let d = dim as f64;
            let cube = VolumetricCentre::new(dim).unwrap().potential();
            let (plain, _) = potential(&cube_constraints(dim), &vec![0.0; dim]);
            assert!((cube - plain).abs() < 1e-12 * (1.0 + plain));
            let radius = margin / (1.0 + margin);
            let end = d * (400.0 * d / radius).ln();
            let expected = 1.0 + (end - cube + 0.0015 * (d - 1.0)) / (0.005 - 0.0015);
            let bound = bounds::volumetric_mistakes(dim, margin);
            assert!((bound - expected).abs() < 1e-9 * expected, "{bound} is not {expected}");
        }
        // For d = 1, γ = 1/2 and r = 1/3, the increase is ln 1200 - ½ ln 2.
        let by_hand = 1.0 + (7.090_076_835_776_092 - 0.346_573_590_279_973) / 0.0035;
        assert!((bounds::volumetric_mistakes(1, 0.5) - by_hand).abs() < 1e-6);
    }

    #[test]
    fn mistakes_keep_the_bound_and_the_target_stays_inside() {
        for (seed, dim) in [(1, 1), (2, 2), (3, 5), (4, 8)] {
            let (pool, learner, transcript) =
                against_the_adversary(VolumetricCentre::new(dim).unwrap(), seed);
            // The number of mistakes stays far below the bound: a few for each dimension and each halving of the
            // margin.
            let few = 2.0 * dim as f64 * (1.0 / pool.margin()).log2() + 2.0;
            assert!((transcript.mistakes() as f64) < few, "d = {dim}: {}", transcript.mistakes());
            let r = pool.margin() / (1.0 + pool.margin());
            assert!(learner.centre().log_volume_bound() > dim as f64 * r.ln());
            assert!(!learner.centre().is_exhausted());
        }
    }

    #[test]
    fn a_margin_of_a_billionth_is_within_reach() {
        let gamma = 1e-9;
        let (points, labels) = needle(gamma);
        let mut learner = VersionSpace::new(VolumetricCentre::new(2).unwrap());
        for _ in 0..100 {
            learner = run(learner, &points, &labels, AsGiven::new()).unwrap().0;
        }
        assert_eq!(learner.halfspace().unwrap().label_all(&points).unwrap(), labels);
        assert!(!learner.centre().is_exhausted() && learner.updates() >= 2);
        let w = learner.centre().centre();
        assert!(w[0] < 0.0 && w[1].abs() < gamma);
    }

    #[test]
    fn contradictions_exhaust_the_set() {
        let learner = contradicted(VolumetricCentre::new(2).unwrap(), 200);
        assert!(learner.centre().is_exhausted());
        assert_eq!(VolumetricCentre::new(0), Err(InputError::ZeroDimension));
    }
}
