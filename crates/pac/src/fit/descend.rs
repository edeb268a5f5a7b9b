//! The update of CKST24 Algorithm 1, applied along rows.
//!
//! [`descend`] is the plain loop over rows. It updates K iterates at once: one vector for rows of any type
//! ([`Iterate`]), or eight lanes side by side in vectors ([`PackedIterates`](super::lane_block::PackedIterates)).
//! [`Iterate::descend_dense`] is the same update in a fused kernel, for one lane and dense rows in memory. All three
//! give bitwise equal results; the tests compare them with each other and with the plain rule.
//!
//! Each update of w also updates the squared norm, using ‖w - cx‖² = ‖w‖² - 2c w·x + c²‖x‖². The norm is computed from
//! w only if it may exceed 1, or after 1024 updates. The projections are the same as those of the plain rule.

use super::direction::{Denominator, Direction};
use halfspaces_data::Link;
use halfspaces_linalg::{DenseRow, InputError, Label, RowView, RowsAhead, kernels, zeros};

/// The number of updates after which a tracked norm is computed again. The rounding errors of this many updates add up
/// to at most about 1e-12.
const NORM_REFRESH_INTERVAL: u32 = 1024;

/// The amount by which a tracked norm must be below 1 to guarantee that the true norm is below 1.
const NORM_SLACK: f64 = 1e-9;

/// The constants of the update of K lanes.
pub(super) struct Update<'a, L, const K: usize> {
    links: [&'a L; K],
    steps: [f64; K],
    // D(t) = max(abs(t) + padding, floor). `Denominator::Plus` has floor 0, `Denominator::AtLeast` has padding 0.
    paddings: [f64; K],
    floors: [f64; K],
}

impl<'a, L: Link, const K: usize> Update<'a, L, K> {
    /// Creates the update of up to K lanes with the given directions and step sizes λ. Unused lanes take steps of
    /// length 0.
    pub(super) fn new(lanes: impl IntoIterator<Item = (&'a Direction<L>, f64)>) -> Self {
        let mut lanes = lanes.into_iter().peekable();
        let Some((first, _)) = lanes.peek() else { unreachable!("a block has at least one lane") };
        let links = [&first.link; K];
        let mut update = Update { links, steps: [0.0; K], paddings: [0.0; K], floors: [1.0; K] };
        for (k, (direction, step)) in lanes.enumerate() {
            (update.links[k], update.steps[k]) = (&direction.link, step);
            (update.paddings[k], update.floors[k]) = match direction.denominator {
                Denominator::Plus(padding) => (padding, 0.0),
                Denominator::AtLeast(floor) => (0.0, floor),
            };
        }
        update
    }

    /// Computes the coefficients c of the updates w -= c x, at the decision values w·x. The coefficient of a lane is λ
    /// times [`Direction::coefficient`]. The loop has a form that the compiler vectorises.
    #[inline(always)]
    fn coefficients(&self, values: &[f64; K], y: Label) -> [f64; K] {
        let mut c = [0.0; K];
        for k in 0..K {
            c[k] = self.links[k].clamped(values[k]);
        }
        for k in 0..K {
            let denominator = (values[k].abs() + self.paddings[k]).max(self.floors[k]);
            c[k] = self.steps[k] * ((c[k] - y.as_f64()) / denominator);
        }
        c
    }
}

/// The iterates of K lanes, with the operations that an update along a row `X` needs.
pub(super) trait Iterates<X, const K: usize> {
    /// Returns w·x for each lane.
    fn products(&self, x: X) -> [f64; K];

    /// Subtracts c x from w in each lane.
    fn subtract(&mut self, c: &[f64; K], x: X);

    /// Returns ‖w‖² for each lane.
    fn norms_sq(&self) -> [f64; K];

    /// Multiplies w by its factor in each lane.
    fn scale(&mut self, factors: &[f64; K]);
}

/// Updates the iterates `w` along `rows`. Each row is given as (x, ‖x‖², y) with ‖x‖ <= 1. If `project` is true, the
/// iterates are projected onto the unit ball after each update.
#[inline(always)]
pub(super) fn descend<L: Link, X: Copy, W: Iterates<X, K> + ?Sized, const K: usize>(
    update: &Update<'_, L, K>,
    (w, norms): (&mut W, &mut TrackedNorms<K>),
    project: bool,
    rows: impl Iterator<Item = (X, f64, Label)>,
) {
    for (x, x_norm_sq, y) in rows {
        let values = w.products(x);
        // CKST24 Algorithm 1: w -= λ (σ(w·x) - y)/D(w·x) x, with σ(t) = β sign(t).
        let c = update.coefficients(&values, y);
        w.subtract(&c, x);
        if project {
            let may_be_outside = norms.follow(&c, &values, x_norm_sq);
            if may_be_outside.contains(&true) {
                norms.project(w, may_be_outside);
            }
        }
    }
}

/// The squared norms ‖w‖² of K iterates, tracked through their updates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TrackedNorms<const K: usize> {
    pub(super) norms_sq: [f64; K],
    /// For each norm, the number of updates since it was computed from w.
    pub(super) ages: [u32; K],
}

impl<const K: usize> TrackedNorms<K> {
    pub(super) fn zero() -> Self {
        TrackedNorms { norms_sq: [0.0; K], ages: [0; K] }
    }

    /// Tracks the norms through the updates w -= c x. Returns, for each lane, whether w may have left the ball or the
    /// norm must be computed again.
    #[inline(always)]
    fn follow(&mut self, c: &[f64; K], values: &[f64; K], x_norm_sq: f64) -> [bool; K] {
        let mut may_be_outside = [false; K];
        for k in 0..K {
            self.norms_sq[k] += c[k] * (c[k] * x_norm_sq - 2.0 * values[k]);
            self.ages[k] += 1;
            // A norm that is NaN counts as outside the ball.
            may_be_outside[k] = self.ages[k] >= NORM_REFRESH_INTERVAL
                || self.norms_sq[k].is_nan()
                || self.norms_sq[k] > 1.0 - NORM_SLACK;
        }
        may_be_outside
    }

    /// Computes the norms of the lanes marked in `due` from their iterates, and projects these iterates onto the ball.
    #[inline(always)]
    fn project<X, W: Iterates<X, K> + ?Sized>(&mut self, w: &mut W, due: [bool; K]) {
        let found = w.norms_sq();
        let mut factors = [1.0; K];
        for k in (0..K).filter(|k| due[*k]) {
            (self.norms_sq[k], self.ages[k]) = (found[k], 0);
            if found[k] > 1.0 {
                factors[k] = found[k].sqrt().recip();
                self.norms_sq[k] = 1.0;
            }
        }
        w.scale(&factors);
    }
}

/// An iterate w and its tracked norm.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Iterate {
    w: Vec<f64>,
    /// The squared norm ‖w‖², tracked through updates.
    norm_sq: f64,
    /// The number of updates since ‖w‖² was computed from w.
    age: u32,
}

impl<X: RowView> Iterates<X, 1> for [f64] {
    #[inline(always)]
    fn products(&self, x: X) -> [f64; 1] {
        [x.dot(self)]
    }

    #[inline(always)]
    fn subtract(&mut self, [c]: &[f64; 1], x: X) {
        x.add_scaled_to(-c, self);
    }

    fn norms_sq(&self) -> [f64; 1] {
        [kernels::norm_sq(self)]
    }

    fn scale(&mut self, [factor]: &[f64; 1]) {
        self.iter_mut().for_each(|w| *w *= factor);
    }
}

impl Iterate {
    pub(crate) fn zero(dim: usize) -> Result<Iterate, InputError> {
        Ok(Iterate { w: zeros(1, dim)?, norm_sq: 0.0, age: 0 })
    }

    /// Whether the tracked norm is consistent with w, for an iterate that is projected.
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

    pub(crate) fn as_slice(&self) -> &[f64] {
        &self.w
    }

    /// Returns w, its tracked squared norm, and the number of updates since that norm was computed from w.
    pub(super) fn parts(&self) -> (&[f64], f64, u32) {
        (&self.w, self.norm_sq, self.age)
    }

    /// Creates an iterate from its [`Iterate::parts`].
    pub(super) fn from_parts(w: Vec<f64>, norm_sq: f64, age: u32) -> Iterate {
        Iterate { w, norm_sq, age }
    }

    /// Makes one update along x. The squared norm ‖x‖² is given.
    #[inline(always)]
    pub(crate) fn descend_along<L: Link, X: RowView>(
        &mut self,
        direction: &Direction<L>,
        step: f64,
        project: bool,
        (x, norm_sq): (X, f64),
        y: Label,
    ) {
        let update = Update::<L, 1>::new([(direction, step)]);
        let mut norms = TrackedNorms { norms_sq: [self.norm_sq], ages: [self.age] };
        let row = std::iter::once((x, norm_sq, y));
        descend(&update, (self.w.as_mut_slice(), &mut norms), project, row);
        ([self.norm_sq], [self.age]) = (norms.norms_sq, norms.ages);
    }

    /// Updates w along dense rows in memory, up to the first row outside the unit ball. If there is a scaling factor,
    /// each row is multiplied by it. Returns the number of rows used.
    ///
    /// This is [`descend`] for one lane in a fused kernel, which computes w·x and ‖x‖² in one pass over a row and keeps
    /// short iterates in registers.
    pub(super) fn descend_dense<L: Link>(
        &mut self,
        direction: &Direction<L>,
        step: f64,
        project: bool,
        scaling: Option<f64>,
        rows: RowsAhead<'_>,
    ) -> usize {
        match scaling {
            // A multiplication by 1 would delay every row, because each row waits for the product of the previous row.
            None => self.descend_fused(direction, step, project, |v| v, rows),
            Some(scale) => self.descend_fused(direction, step, project, |v| scale * v, rows),
        }
    }

    #[inline(always)]
    fn descend_fused<L: Link>(
        &mut self,
        direction: &Direction<L>,
        step: f64,
        project: bool,
        scaled: impl Fn(f64) -> f64,
        rows: RowsAhead<'_>,
    ) -> usize {
        let update = Update::<L, 1>::new([(direction, step)]);
        let mut norms = TrackedNorms { norms_sq: [self.norm_sq], ages: [self.age] };
        let (dim, mut taken) = (rows.dim(), 0);
        while taken < rows.labels().len() {
            let (values, labels) = (&rows.values()[taken * dim..], &rows.labels()[taken..]);
            let mut may_be_outside = [false];
            let fused = halfspaces_kernels::descend(
                values,
                &mut self.w,
                #[inline(always)]
                |i, value, norm_sq| {
                    let norm_sq = scaled(scaled(norm_sq));
                    // The iterate must be projected before the next row.
                    if may_be_outside[0] || InputError::check_in_ball(norm_sq).is_err() {
                        return None;
                    }
                    let values = [scaled(value)];
                    // CKST24 Algorithm 1: w -= λ (σ(w·x) - y)/D(w·x) x. The kernel adds `factor` times the row.
                    let c = update.coefficients(&values, labels[i]);
                    let factor = scaled(-c[0]);
                    if project && factor.is_finite() {
                        may_be_outside = norms.follow(&c, &values, norm_sq);
                    }
                    Some(factor)
                },
            );
            taken += fused;
            if may_be_outside[0] {
                norms.project::<DenseRow<'_>, _>(self.w.as_mut_slice(), may_be_outside);
            } else if fused < labels.len() {
                break;
            }
        }
        ([self.norm_sq], [self.age]) = (norms.norms_sq, norms.ages);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::direction::SignLink;
    use halfspaces_linalg::DenseRow;
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn a_step_worked_by_hand() {
        let direction =
            Direction { link: SignLink { level: 0.5 }, denominator: Denominator::AtLeast(0.25) };
        let x = [0.6, 0.8];
        let row = DenseRow::new(&x).unwrap();
        let mut w = Iterate::zero(2).unwrap();
        // Since sign(0) = +1, the coefficient is (0.5 - 1)/0.25 = -2.
        w.descend_along(&direction, 0.25, true, (row, 1.0), Label::Positive);
        assert_eq!(w.as_slice(), [0.3, 0.4]);
        // For w·x = 0.5, the coefficient is (0.5 + 1)/0.5 = 3.
        w.descend_along(&direction, 0.25, true, (row, 1.0), Label::Negative);
        assert!((w.w[0] + 0.15).abs() < 1e-15 && (w.w[1] + 0.2).abs() < 1e-15);
        // A long step ends on the sphere.
        w.descend_along(&direction, 10.0, true, (row, 1.0), Label::Positive);
        assert!((kernels::norm_sq(&w.w) - 1.0).abs() < 1e-15 && w.w[0] > 0.0);
    }

    /// Compares the updates with the update of CKST24 Algorithm 1, followed by a projection onto the unit ball in every
    /// step. The printed algorithm has no projection.
    #[test]
    fn updates_are_those_of_the_plain_rule() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for denominator in [Denominator::AtLeast(0.1), Denominator::Plus(0.1)] {
            let direction = Direction { link: SignLink { level: 0.4 }, denominator };
            let mut projections = 0;
            for step in [0.003, 0.03, 0.3] {
                let (mut fast, mut plain) = (Iterate::zero(5).unwrap(), vec![0.0; 5]);
                for _ in 0..20_000 {
                    let mut x: Vec<f64> = (0..5).map(|_| rng.random_range(-0.44..0.44)).collect();
                    x[0] = if x[0] > 0.0 { 0.5 } else { -0.5 };
                    let noisy = rng.random_bool(0.3);
                    let y = Label::from_sign(if noisy { -x[0] } else { x[0] });
                    let row = DenseRow::new(&x).unwrap();
                    let c = step * direction.coefficient(row.dot(&plain), y);
                    plain.iter_mut().zip(&x).for_each(|(w, x)| *w -= c * x);
                    let norm_sq = kernels::norm_sq(&plain);
                    if norm_sq > 1.0 {
                        let factor = norm_sq.sqrt().recip();
                        plain.iter_mut().for_each(|w| *w *= factor);
                        projections += 1;
                    }
                    fast.descend_along(&direction, step, true, (row, row.norm_sq()), y);
                    assert_eq!(fast.as_slice(), plain);
                }
            }
            assert!(projections > 100, "{denominator:?}: {projections}");
        }
    }
}
