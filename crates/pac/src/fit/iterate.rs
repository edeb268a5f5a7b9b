//! An iterate, its step, and its projection onto the unit ball.

use super::direction::Direction;
use halfspaces_data::Link;
use halfspaces_linalg::{
    DenseRow, InputError, Label, RowView, RowsAhead, ScaledRow, kernels, zeros,
};

/// An iterate w with what is known of its norm.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Iterate {
    w: Vec<f64>,
    /// ‖w‖², followed through updates.
    norm_sq: f64,
    /// Updates since it was computed from w.
    age: u32,
}

/// Updates after which the norm is computed anew: their rounding errors add up to some 1e-12 at most.
const NORM_REFRESH_INTERVAL: u32 = 1024;

/// How far below 1 the norm followed through updates must be for the true one to be below 1.
const NORM_SLACK: f64 = 1e-9;

impl Iterate {
    pub(crate) fn zero(dim: usize) -> Result<Iterate, InputError> {
        Ok(Iterate { w: zeros(1, dim)?, norm_sq: 0.0, age: 0 })
    }

    /// Whether what is known of the norm fits w, of an iterate that is projected.
    #[cfg(feature = "serde")]
    pub(crate) fn is_saved(&self) -> bool {
        self.age < NORM_REFRESH_INTERVAL
            && (self.norm_sq - kernels::norm_sq(&self.w)).abs() <= NORM_SLACK
    }

    pub(crate) fn restart(&mut self) {
        self.w.fill(0.0);
        self.norm_sq = 0.0;
        self.age = 0;
    }

    /// The same with so many weights, those added zero, in memory of its own.
    pub(super) fn resized(&self, len: usize) -> Iterate {
        let mut w = Vec::with_capacity(len);
        w.extend_from_slice(&self.w[..len.min(self.w.len())]);
        w.resize(len, 0.0);
        Iterate { w, ..*self }
    }

    pub(crate) fn as_slice(&self) -> &[f64] {
        &self.w
    }

    /// w, and what is known of its norm: ‖w‖² as followed, and for how many updates.
    pub(super) fn parts(&self) -> (&[f64], f64, u32) {
        (&self.w, self.norm_sq, self.age)
    }

    /// Takes the place of all weights, in their order, and of what is known of their norm.
    pub(super) fn set_parts(&mut self, w: impl Iterator<Item = f64>, norm_sq: f64, age: u32) {
        self.w.iter_mut().zip(w).for_each(|(to, w)| *to = w);
        (self.norm_sq, self.age) = (norm_sq, age);
    }

    /// One step, w -= λ g(w; x, y), then, if asked, onto the unit ball, for x with the given w·x and ‖x‖².
    ///
    /// ‖w‖² is followed, ‖w - cx‖² = ‖w‖² - 2c w·x + c²‖x‖², and computed from w only where it may have
    /// passed 1: the steps are those of the plain rule, to the bit.
    #[inline(always)]
    pub(crate) fn descend<L: Link, R: RowView>(
        &mut self,
        direction: &Direction<L>,
        step: f64,
        project: bool,
        (x, value, norm_sq): (R, f64, f64),
        y: Label,
    ) {
        let c = step * direction.coefficient(value, y);
        x.add_scaled_to(-c, &mut self.w);
        if project && follow(&mut self.norm_sq, &mut self.age, c, value, norm_sq) {
            self.project();
        }
    }

    /// [`Iterate::descend`] along all of `rows`, scaled by `scale` where `SCALED`, up to the first outside the unit
    /// ball: how many were taken.
    pub(crate) fn descend_rows<L: Link, const SCALED: bool>(
        &mut self,
        direction: &Direction<L>,
        step: f64,
        project: bool,
        scale: f64,
        rows: RowsAhead<'_>,
    ) -> usize {
        let (dim, mut taken) = (rows.dim(), 0);
        while taken < rows.labels().len() {
            let (values, labels) = (&rows.values()[taken * dim..], &rows.labels()[taken..]);
            let mut may_have_left = false;
            taken += halfspaces_kernels::descend(
                values,
                &mut self.w,
                #[inline(always)]
                |i, value, norm_sq| {
                    // Projected before the next row.
                    if may_have_left {
                        return None;
                    }
                    let value = if SCALED { scale * value } else { value };
                    let norm_sq = if SCALED { scale * norm_sq * scale } else { norm_sq };
                    let c = step * direction.coefficient(value, labels[i]);
                    let factor = if SCALED { scale * -c } else { -c };
                    if InputError::check_in_ball(norm_sq).is_err() || !factor.is_finite() {
                        return None;
                    }
                    may_have_left =
                        project && follow(&mut self.norm_sq, &mut self.age, c, value, norm_sq);
                    Some(factor)
                },
            );
            if may_have_left {
                self.project();
                continue;
            }
            let (Some(row), Some(y)) =
                (rows.values().get(taken * dim..(taken + 1) * dim), rows.labels().get(taken))
            else {
                break;
            };
            #[expect(clippy::expect_used, reason = "rows ahead hold finite values")]
            let x = ScaledRow::new(DenseRow::new(row).expect("a finite row"), scale);
            // A step that is not finite is that of the plain rule, whatever comes of it.
            let (value, norm_sq) = (x.dot(&self.w), x.norm_sq());
            if InputError::check_in_ball(norm_sq).is_err() {
                break;
            }
            self.descend(direction, step, project, (x, value, norm_sq), *y);
            taken += 1;
        }
        taken
    }

    #[cold]
    fn project(&mut self) {
        self.norm_sq = kernels::norm_sq(&self.w);
        self.age = 0;
        if self.norm_sq > 1.0 {
            let factor = self.norm_sq.sqrt().recip();
            self.w.iter_mut().for_each(|w| *w *= factor);
            self.norm_sq = 1.0;
        }
    }
}

/// Follows ‖w‖² through a step w -= cx: whether it may have passed 1, or is to be computed anew.
#[inline(always)]
pub(super) fn follow(w_norm_sq: &mut f64, age: &mut u32, c: f64, value: f64, norm_sq: f64) -> bool {
    *w_norm_sq += c * (c * norm_sq - 2.0 * value);
    *age += 1;
    // Also where it is NaN.
    *age >= NORM_REFRESH_INTERVAL || w_norm_sq.is_nan() || *w_norm_sq > 1.0 - NORM_SLACK
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::direction::{Denominator, SignLink};
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    fn observe<L: Link>(w: &mut Iterate, g: &Direction<L>, step: f64, x: &[f64], y: Label) {
        let x = DenseRow::new(x).unwrap();
        let (value, norm_sq) = (x.dot(w.as_slice()), x.norm_sq());
        w.descend(g, step, true, (x, value, norm_sq), y);
    }

    #[test]
    fn a_step_worked_by_hand() {
        let direction =
            Direction { link: SignLink { level: 0.5 }, denominator: Denominator::AtLeast(0.25) };
        let x = [0.6, 0.8];
        let mut w = Iterate::zero(2).unwrap();
        // sign(0) = +1: (0.5 - 1)/0.25 = -2.
        observe(&mut w, &direction, 0.25, &x, Label::Positive);
        assert_eq!(w.as_slice(), [0.3, 0.4]);
        // w·x = 0.5: (0.5 + 1)/0.5 = 3.
        observe(&mut w, &direction, 0.25, &x, Label::Negative);
        assert!((w.w[0] + 0.15).abs() < 1e-15 && (w.w[1] + 0.2).abs() < 1e-15);
        // A long step ends on the sphere.
        observe(&mut w, &direction, 10.0, &x, Label::Positive);
        assert!((kernels::norm_sq(&w.w) - 1.0).abs() < 1e-15 && w.w[0] > 0.0);
    }

    /// The norm followed decides as the norm computed at every step.
    #[test]
    fn projection_is_that_of_the_plain_rule() {
        let direction =
            Direction { link: SignLink { level: 0.4 }, denominator: Denominator::AtLeast(0.1) };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for step in [0.003, 0.03, 0.3] {
            let (mut fast, mut plain) = (Iterate::zero(5).unwrap(), vec![0.0; 5]);
            let mut projections = 0;
            for _ in 0..20_000 {
                let mut x: Vec<f64> = (0..5).map(|_| rng.random_range(-0.44..0.44)).collect();
                x[0] = if x[0] > 0.0 { 0.5 } else { -0.5 };
                let noisy = rng.random_bool(0.3);
                let y = Label::from_sign(if noisy { -x[0] } else { x[0] });
                let row = DenseRow::new(&x).unwrap();
                let c = step * direction.coefficient(row.dot(&plain), y);
                row.add_scaled_to(-c, &mut plain);
                let norm_sq = kernels::norm_sq(&plain);
                if norm_sq > 1.0 {
                    let factor = norm_sq.sqrt().recip();
                    plain.iter_mut().for_each(|w| *w *= factor);
                    projections += 1;
                }
                observe(&mut fast, &direction, step, &x, y);
                assert_eq!(fast.as_slice(), plain);
            }
            assert!(projections > 100, "{step}: {projections}");
        }
    }
}
