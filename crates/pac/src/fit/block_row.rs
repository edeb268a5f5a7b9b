//! Points in whole blocks of numbers, for lanes that go over them side by side.
//!
//! Rows and iterates are filled up with zeros to a multiple of [`LANES`], so that no loop has a rest, which the compiler
//! would put through memory. What fills them up changes no product and no step: both are, to the bit, those of
//! [`ScaledRow`](halfspaces_linalg::ScaledRow) and [`LiftedRow`](halfspaces_linalg::LiftedRow), which the tests hold
//! them to.

use super::plan::Placement;
use halfspaces_kernels::{BlockOps, LANES};
use halfspaces_linalg::{RowView, kernels};
use std::f64::consts::FRAC_1_SQRT_2;

/// Coordinates up to which rows that may be sparse are copied into blocks: longer ones may hold few of theirs.
pub(super) const MOST_COORDINATES: usize = 512;

/// Rows in blocks, one behind the other, to be placed in the same way.
pub(super) struct BlockRows {
    values: Vec<[f64; LANES]>,
    dim: usize,
    placement: Placement,
}

impl BlockRows {
    /// None yet, of `dim` coordinates.
    pub(super) fn new(dim: usize, placement: Placement) -> BlockRows {
        BlockRows { values: Vec::new(), dim, placement }
    }

    /// Weights of an iterate beside them.
    pub(super) fn width(&self) -> usize {
        self.placement.dim_inside(self.dim).next_multiple_of(LANES)
    }

    /// Copies of `rows` in place of those there were.
    pub(super) fn fill<R: RowView>(&mut self, rows: impl ExactSizeIterator<Item = R>) {
        let width = self.width();
        self.values.clear();
        self.values.resize(rows.len() * width / LANES, [0.0; LANES]);
        for (to, x) in self.values.as_flattened_mut().chunks_exact_mut(width).zip(rows) {
            x.entries().for_each(|(j, v)| to[j] = v);
        }
    }

    /// What a row is scaled by, and the coordinate of the constant if there is one.
    pub(super) fn placed_by(&self) -> (f64, Option<usize>) {
        let Placement { scale, lift } = self.placement;
        (if self.placement.is_unscaled() { 1.0 } else { scale }, lift.then_some(self.dim))
    }

    /// A row before it is placed, filled up.
    #[inline(always)]
    pub(super) fn blocks(&self, row: usize) -> &[[f64; LANES]] {
        let blocks = self.width() / LANES;
        &self.values[row * blocks..][..blocks]
    }

    /// The rows, placed.
    #[inline(always)]
    pub(super) fn rows<B: BlockOps>(&self, ops: B) -> impl Iterator<Item = BlockRow<'_, B>> {
        let (dim, (scale, lifted)) = (self.dim, self.placed_by());
        let lift = lifted.is_some();
        let row = move |blocks| BlockRow { ops, blocks, dim, scale, lift };
        self.values.chunks_exact(self.width() / LANES).map(row)
    }
}

/// A point, placed. The iterates it meets are as long as its blocks.
#[derive(Clone, Copy)]
pub(super) struct BlockRow<'a, B> {
    ops: B,
    blocks: &'a [[f64; LANES]],
    dim: usize,
    scale: f64,
    lift: bool,
}

impl<B> BlockRow<'_, B> {
    fn values(&self) -> &[f64] {
        &self.blocks.as_flattened()[..self.dim]
    }

    /// The product with weights that are not all finite, which what fills up a row would turn into NaN.
    #[cold]
    fn plain_dot(&self, w: &[f64]) -> f64 {
        kernels::dot(self.values(), w)
    }

    #[cold]
    fn plain_axpy(&self, a: f64, w: &mut [f64]) {
        kernels::axpy(a, self.values(), w);
    }
}

// Inlined always: the loop around it is compiled for the widest vectors.
impl<B: BlockOps> RowView for BlockRow<'_, B> {
    #[inline(always)]
    fn dim(self) -> usize {
        self.dim + usize::from(self.lift)
    }

    #[inline(always)]
    fn dot(self, w: &[f64]) -> f64 {
        let value = self.scale * self.ops.dot(self.blocks, w.as_chunks().0);
        if !self.lift {
            return value;
        }
        // The weight of the constant lies where the row was filled up.
        let last = w[self.dim];
        let value = if last.is_finite() { value } else { self.scale * self.plain_dot(w) };
        FRAC_1_SQRT_2 * (value + last)
    }

    #[inline(always)]
    fn add_scaled_to(self, a: f64, w: &mut [f64]) {
        let a = if self.lift { FRAC_1_SQRT_2 * a } else { a };
        let factor = self.scale * a;
        if factor.is_finite() {
            self.ops.axpy(factor, self.blocks, w.as_chunks_mut().0);
        } else {
            self.plain_axpy(factor, w);
        }
        if self.lift {
            w[self.dim] += a;
        }
    }

    #[inline(always)]
    fn norm_sq(self) -> f64 {
        let norm_sq = self.scale * kernels::norm_sq(self.values()) * self.scale;
        if self.lift { 0.5 * (norm_sq + 1.0) } else { norm_sq }
    }

    fn entries(self) -> impl Iterator<Item = (usize, f64)> {
        let BlockRow { blocks, dim, scale, lift, .. } = self;
        let factor = if lift { FRAC_1_SQRT_2 } else { 1.0 };
        let placed = blocks.as_flattened().iter().take(dim).map(move |v| factor * (scale * v));
        placed.chain(lift.then_some(factor)).enumerate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_kernels::{BlockLoop, run_blocks};
    use halfspaces_linalg::{LiftedRow, PointSet, Points, ScaledRow, SparsePoints};
    use proptest::prelude::*;

    /// Products of rows with an iterate, which takes a step along each.
    struct Steps<'a> {
        rows: &'a BlockRows,
        factor: f64,
        w: Vec<f64>,
    }

    impl BlockLoop for Steps<'_> {
        type Output = (Vec<f64>, Vec<f64>);

        #[inline(always)]
        fn run<B: BlockOps>(mut self, ops: B) -> (Vec<f64>, Vec<f64>) {
            let values = self.rows.rows(ops).map(|x| step(x, self.factor, &mut self.w)).collect();
            (values, self.w)
        }
    }

    fn step<R: RowView>(x: R, factor: f64, w: &mut [f64]) -> f64 {
        let value = x.dot(w);
        x.add_scaled_to(factor, w);
        value
    }

    fn bits(values: &[f64]) -> Vec<Option<u64>> {
        values.iter().map(|v| if v.is_nan() { None } else { Some(v.to_bits()) }).collect()
    }

    /// Dimension, squared norm and entries.
    fn facts<R: RowView>(x: R) -> (usize, u64, Vec<(usize, f64)>) {
        (x.dim(), x.norm_sq().to_bits(), x.entries().collect())
    }

    struct Described<'a>(&'a BlockRows);

    impl BlockLoop for Described<'_> {
        type Output = Vec<(usize, u64, Vec<(usize, f64)>)>;

        fn run<B: BlockOps>(self, ops: B) -> Self::Output {
            self.0.rows(ops).map(facts).collect()
        }
    }

    proptest! {
        /// Also where weights or steps are not finite.
        #[test]
        fn rows_in_blocks_are_the_placed_rows(
            dim in 1..40usize,
            scale in prop_oneof![Just(1.0), 0.1..1.0f64],
            lift in any::<bool>(),
            values in prop::collection::vec(prop_oneof![3 => 0.1..3.0f64, 1 => -3.0..-0.1f64], 3 * 39),
            mut w in prop::collection::vec(-3.0..3.0f64, 40),
            infinite in prop::option::weighted(0.2, 0..40usize),
            factor in prop_oneof![6 => -2.0..2.0f64, 1 => Just(f64::INFINITY), 1 => Just(f64::NAN)],
        ) {
            if let Some(at) = infinite {
                w[at] = f64::NEG_INFINITY;
            }
            let placement = Placement { scale, lift };
            w.truncate(placement.dim_inside(dim));
            let points = Points::new(values[..3 * dim].to_vec(), dim).unwrap();
            let mut rows = BlockRows::new(dim, placement);
            // What stood there before leaves nothing behind.
            rows.fill(points.rows().chain(points.rows()).collect::<Vec<_>>().into_iter());
            rows.fill(points.rows().collect::<Vec<_>>().into_iter());

            let (mut moved, mut expected, mut described) = (w.clone(), Vec::new(), Vec::new());
            for x in points.rows().map(|x| ScaledRow::new(x, scale)) {
                if lift {
                    expected.push(step(LiftedRow::new(x), factor, &mut moved));
                    described.push(facts(LiftedRow::new(x)));
                } else {
                    expected.push(step(x, factor, &mut moved));
                    described.push(facts(x));
                }
            }
            let len = w.len();
            w.resize(rows.width(), 0.0);
            let (found, end) = run_blocks(Steps { rows: &rows, factor, w: w.clone() });
            prop_assert_eq!(bits(&found), bits(&expected));
            prop_assert_eq!(bits(&end[..len]), bits(&moved));
            prop_assert!(end[len..].iter().all(|v| v.to_bits() == 0));
            for (found, plain) in run_blocks(Described(&rows)).iter().zip(&described) {
                prop_assert_eq!((found.0, found.1, found.2.len()), (plain.0, plain.1, plain.2.len()));
                for ((i, v), (j, u)) in found.2.iter().zip(&plain.2) {
                    prop_assert!(i == j && (v - u).abs() <= 1e-15 * u.abs());
                }
            }

            let sparse = SparsePoints::from_dense(&points).unwrap();
            rows.fill(sparse.rows().collect::<Vec<_>>().into_iter());
            let (found, _) = run_blocks(Steps { rows: &rows, factor, w });
            prop_assert_eq!(bits(&found), bits(&expected));
        }
    }
}
