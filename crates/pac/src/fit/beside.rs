//! Lanes side by side: a weight of eight lanes in one vector.
//!
//! A lane alone has a chain of additions, a division and a sum over a vector to wait for at every example. Eight of them
//! in the lanes of vectors take as many instructions as one, but for the division. Iterates are those of one lane alone, to
//! the bit: a product has the same running sums, added in the same order. Claims: none of its own.

use super::block_row::BlockRows;
use super::direction::Denominator;
use super::iterate::follow;
use super::on_way::{OnWay, side_by_side};
use halfspaces_data::Link;
use halfspaces_kernels::{BlockLoop, BlockOps, LANES};
use halfspaces_linalg::Label;
use std::f64::consts::FRAC_1_SQRT_2;

/// Sends lanes over rows in the ball, whose squared norms and labels are `facts`.
pub(super) struct Beside<'a, 'l, L> {
    pub(super) lanes: &'a mut [OnWay<'l, L>],
    pub(super) rows: &'a BlockRows,
    pub(super) facts: &'a [(f64, Label)],
    pub(super) project: bool,
}

impl<L: Link> BlockLoop for Beside<'_, '_, L> {
    type Output = ();

    #[inline(always)]
    fn run<B: BlockOps>(self, ops: B) {
        let Beside { lanes, rows, facts, project } = self;
        let mut held = Held::new(rows.width());
        for lanes in lanes.chunks_mut(LANES) {
            let mut at = 0;
            held.clear();
            lanes.iter().enumerate().for_each(|(k, on_way)| held.load(k, on_way));
            while at < facts.len() && lanes.iter().all(|on_way| !on_way.lane.is_done()) {
                for (k, on_way) in lanes.iter_mut().enumerate() {
                    if on_way.quiet_steps() == 0 {
                        held.store(k, on_way);
                        on_way.open();
                        held.load(k, on_way);
                    }
                }
                // At least the step that was begun, also where all iterates are retained.
                let quiet = lanes.iter().map(|on_way| on_way.quiet_steps().max(1)).min();
                let Some(quiet) = quiet else { unreachable!("chunks hold something") };
                let left = facts.len() - at;
                let end = at + usize::try_from(quiet).map_or(left, |quiet| quiet.min(left));
                let taken = held.go(ops, lanes, rows, &facts[at..end], at, project);
                lanes.iter_mut().for_each(|on_way| on_way.count(taken));
                at += taken;
                if at < end {
                    // A product or a step that is not finite is that of the plain rule.
                    let (Some(x), (norm_sq, label)) = (rows.rows(ops).nth(at), facts[at]) else {
                        unreachable!("a fact per row")
                    };
                    for (k, on_way) in lanes.iter_mut().enumerate() {
                        held.store(k, on_way);
                        on_way.take(x, norm_sq, label, project);
                        held.load(k, on_way);
                    }
                    at += 1;
                }
            }
            lanes.iter_mut().enumerate().for_each(|(k, on_way)| held.store(k, on_way));
            side_by_side(lanes, rows.rows(ops).skip(at), &facts[at..], project);
        }
    }
}

/// The iterates of up to [`LANES`] lanes, zeros in place of those missing.
struct Held {
    w: Vec<[f64; LANES]>,
    norms_sq: [f64; LANES],
    ages: [u32; LANES],
}

impl Held {
    fn new(width: usize) -> Held {
        Held { w: vec![[0.0; LANES]; width], norms_sq: [0.0; LANES], ages: [0; LANES] }
    }

    fn clear(&mut self) {
        self.w.fill([0.0; LANES]);
    }

    /// Takes over the iterate of lane `k`.
    fn load<L>(&mut self, k: usize, on_way: &OnWay<'_, L>) {
        let (w, norm_sq, age) = on_way.lane.w.parts();
        (self.norms_sq[k], self.ages[k]) = (norm_sq, age);
        self.w.iter_mut().zip(w).for_each(|(held, w)| held[k] = *w);
    }

    /// Gives it back.
    fn store<L>(&self, k: usize, on_way: &mut OnWay<'_, L>) {
        let w = self.w.iter().map(|held| held[k]);
        on_way.lane.w.set_parts(w, self.norms_sq[k], self.ages[k]);
    }

    /// Learns from rows `first` and on, none of them an event of a lane, up to the first where something is not finite: from how
    /// many.
    #[inline(always)]
    fn go<L: Link, B: BlockOps>(
        &mut self,
        ops: B,
        lanes: &[OnWay<'_, L>],
        rows: &BlockRows,
        facts: &[(f64, Label)],
        first: usize,
        project: bool,
    ) -> usize {
        let (scale, lifted) = rows.placed_by();
        let Held { w, norms_sq, ages } = self;
        let mut steps = [0.0; LANES];
        // D(t) = max(abs(t) + plus, least), whichever of the two it is: 0 changes neither.
        let (mut plus, mut least) = ([0.0; LANES], [1.0; LANES]);
        for (k, on_way) in lanes.iter().enumerate() {
            steps[k] = on_way.lane.step;
            (plus[k], least[k]) = match on_way.lane.direction.denominator {
                Denominator::Plus(padding) => (padding, 0.0),
                Denominator::AtLeast(floor) => (0.0, floor),
            };
        }
        for (index, (norm_sq, label)) in facts.iter().enumerate() {
            let x = rows.blocks(first + index);
            let mut values = ops.dots_beside(x, w);
            values.iter_mut().for_each(|value| *value *= scale);
            if let Some(dim) = lifted {
                for (value, last) in values.iter_mut().zip(w[dim]) {
                    *value = FRAC_1_SQRT_2 * (*value + last);
                }
            }
            let (mut c, mut factors) = ([0.0; LANES], [0.0; LANES]);
            for (k, on_way) in lanes.iter().enumerate() {
                c[k] = on_way.lane.direction.link.clamped(values[k]);
            }
            for k in 0..LANES {
                let denominator = (values[k].abs() + plus[k]).max(least[k]);
                c[k] = steps[k] * ((c[k] - label.as_f64()) / denominator);
            }
            let lift = if lifted.is_some() { FRAC_1_SQRT_2 } else { 1.0 };
            for (factor, c) in factors.iter_mut().zip(c) {
                *factor = scale * (lift * -c);
            }
            if values.iter().chain(&factors).any(|v| !v.is_finite()) {
                return index;
            }
            ops.axpys_beside(&factors, x, w);
            if let Some(dim) = lifted {
                for (w, c) in w[dim].iter_mut().zip(c) {
                    *w += FRAC_1_SQRT_2 * -c;
                }
            }
            if project {
                let mut leave = [false; LANES];
                for k in 0..lanes.len() {
                    leave[k] = follow(&mut norms_sq[k], &mut ages[k], c[k], values[k], *norm_sq);
                }
                if leave.contains(&true) {
                    project_some(ops, w, leave, norms_sq, ages);
                }
            }
        }
        facts.len()
    }
}

/// Iterates that may have left the ball onto it.
#[inline(always)]
fn project_some<B: BlockOps>(
    ops: B,
    w: &mut [[f64; LANES]],
    leave: [bool; LANES],
    norms_sq: &mut [f64; LANES],
    ages: &mut [u32; LANES],
) {
    let found = ops.norms_sq_beside(w);
    let mut factors = [1.0; LANES];
    for k in (0..LANES).filter(|k| leave[*k]) {
        (norms_sq[k], ages[k]) = (found[k], 0);
        if found[k] > 1.0 {
            factors[k] = found[k].sqrt().recip();
            norms_sq[k] = 1.0;
        }
    }
    ops.scale_beside(&factors, w);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::direction::Direction;
    use crate::fit::fitting::Fitting;
    use crate::fit::lane::{Lane, Retention};
    use crate::fit::plan::{Placement, Settings};
    use crate::selection::Elimination;
    use crate::test_data::Instance;
    use halfspaces_linalg::{PointSet, RngStream, Threads, rng_for};

    /// A link that takes a step beyond every number.
    #[derive(Debug, Clone)]
    struct Steep {
        from: f64,
    }

    impl Link for Steep {
        fn value(&self, t: f64) -> f64 {
            if t > self.from { f64::INFINITY } else { 0.5 }
        }

        fn asymmetry(&self) -> f64 {
            0.0
        }

        fn clamped(&self, t: f64) -> f64 {
            self.value(t)
        }
    }

    /// Eleven lanes of both denominators, of different lengths, some of which go beyond every number: iterates and what is
    /// known of their norms are those of one example after the other, to the bit but for which NaN.
    #[test]
    fn lanes_side_by_side_are_lanes_alone() {
        let (points, labels) = Instance::new(9, 0.1, 5).sample(700, 6, |_| 0.2);
        let rows: Vec<_> = points.rows().zip(labels.iter().copied()).collect();
        let mut beyond = 0;
        for (scale, lift, project) in
            [(1.0, false, true), (1.0, true, false), (0.6, false, true), (0.6, true, true)]
        {
            let mut rng = rng_for(RngStream::Caller, 1);
            let mut lanes = Vec::new();
            for k in 0..11u32 {
                let denominator = match k % 2 {
                    0 => Denominator::Plus(0.1 + 0.02 * f64::from(k)),
                    _ => Denominator::AtLeast(0.2),
                };
                let from = if k % 4 == 3 { 0.3 + 0.02 * f64::from(k) } else { f64::INFINITY };
                let direction = Direction { link: Steep { from }, denominator };
                let run_length = 40 + 90 * u64::from(k);
                let retention = Retention::drawn(5, run_length, &mut rng).unwrap();
                let step = 0.01 * f64::from(1 + k % 5);
                lanes.push(Lane::new(direction, step, 1 + u64::from(k % 3), run_length, retention));
            }
            let settings = Settings {
                placement: Placement { scale, lift },
                project,
                elimination: Elimination::Never,
                threads: Threads::ONE,
                seed: 3,
            };
            let fresh = || Fitting::new(9, lanes.clone(), 10, settings, None, 0.1).unwrap();
            let (mut beside, mut alone) = (fresh(), fresh());
            beside.learn_from(&rows).unwrap();
            for (x, y) in &rows {
                alone.observe(*x, *y).unwrap();
            }
            assert_eq!(beside.origins.len(), alone.origins.len());
            let bits = |v: &f64| if v.is_nan() { None } else { Some(v.to_bits()) };
            for (a, b) in beside.lanes.iter().zip(&alone.lanes) {
                let ((a_w, a_norm, a_age), (b_w, b_norm, b_age)) = (a.w.parts(), b.w.parts());
                let (a_w, b_w): (Vec<_>, Vec<_>) =
                    (a_w.iter().map(bits).collect(), b_w.iter().map(bits).collect());
                assert_eq!((a_w, bits(&a_norm), a_age), (b_w, bits(&b_norm), b_age));
                assert_eq!((a.taken, a.in_run), (b.taken, b.in_run));
                beyond += usize::from(a.w.as_slice().iter().any(|v| !v.is_finite()));
            }
        }
        assert!(beyond > 0);
    }
}
