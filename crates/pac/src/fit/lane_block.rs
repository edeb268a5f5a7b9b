//! Blocks of lanes: the iterates of eight lanes side by side in vectors.
//!
//! For every row, a single lane must wait for a chain of dependent additions, a division and the sum over a vector.
//! Eight lanes, stored in the elements of vectors, need the same number of instructions as one lane, except for the
//! division. Rows and iterates are padded with zeros to a multiple of [`LANES`] coordinates, so that no loop has a
//! remainder. As long as the iterates are finite, they are bitwise equal to those of lanes processed one at a time.

use super::descend::{Iterate, Iterates, TrackedNorms, Update, descend};
use super::lane::LaneCursor;
use super::plan::Placement;
use halfspaces_data::Link;
use halfspaces_kernels::{BlockLoop, BlockOps, LANES};
use halfspaces_linalg::{Label, RowView};
use std::f64::consts::FRAC_1_SQRT_2;

/// The largest dimension at which rows that may be sparse are copied into blocks.
pub(super) const MAX_SPARSE_DIM: usize = 512;

/// Rows padded to whole blocks and stored contiguously. The rows are stored as given; the loops that read them place
/// them in the unit ball.
pub(super) struct PaddedRows {
    values: Vec<[f64; LANES]>,
    dim: usize,
    placement: Placement,
}

impl PaddedRows {
    /// Creates an empty list of rows, which have `dim` coordinates before they are placed.
    pub(super) fn new(dim: usize, placement: Placement) -> PaddedRows {
        PaddedRows { values: Vec::new(), dim, placement }
    }

    /// The number of coordinates of a row after placement and padding.
    fn width(&self) -> usize {
        self.placement.dim_inside(self.dim).next_multiple_of(LANES)
    }

    /// Replaces the rows by copies of `rows`.
    pub(super) fn fill<R: RowView>(&mut self, rows: impl ExactSizeIterator<Item = R>) {
        let width = self.width();
        self.values.clear();
        self.values.resize(rows.len() * width / LANES, [0.0; LANES]);
        for (to, x) in self.values.as_flattened_mut().chunks_exact_mut(width).zip(rows) {
            x.entries().for_each(|(j, v)| to[j] = v);
        }
    }

    /// The padded row with index `row`, before placement.
    #[inline(always)]
    fn row(&self, row: usize) -> &[[f64; LANES]] {
        let blocks = self.width() / LANES;
        &self.values[row * blocks..][..blocks]
    }
}

/// A block of up to [`LANES`] lanes. Each lane must have enough steps left for all of `rows`. `facts` holds the squared
/// norm of each row after placement, and the label of each row.
pub(super) struct LaneBlock<'a, 'l, L> {
    pub(super) lanes: &'a mut [LaneCursor<'l, L>],
    pub(super) rows: &'a PaddedRows,
    pub(super) facts: &'a [(f64, Label)],
    pub(super) project: bool,
}

impl<L: Link> BlockLoop for LaneBlock<'_, '_, L> {
    type Output = ();

    /// Runs the updates between two events of the lanes (the start of a run, or an iterate to store) in one loop.
    #[inline(always)]
    fn run<B: BlockOps>(self, ops: B) {
        let LaneBlock { lanes, rows, facts, project } = self;
        let mut w = PackedIterates::new(ops, rows);
        let mut norms = TrackedNorms::zero();
        for (k, cursor) in lanes.iter().enumerate() {
            w.load(k, &cursor.lane.w, &mut norms);
        }
        let mut at = 0;
        while at < facts.len() {
            for (k, cursor) in lanes.iter_mut().enumerate() {
                if cursor.starts_run() {
                    w.load(k, &Iterate::default(), &mut norms);
                }
                cursor.store_if_due(|| w.lane(k));
            }
            let left = facts.len() - at;
            let quiet = lanes.iter().map(LaneCursor::steps_to_event).min().unwrap_or(u64::MAX);
            let end = at + usize::try_from(quiet).map_or(left, |quiet| quiet.min(left));
            let update = Update::new(lanes.iter().map(|c| (&c.lane.direction, c.lane.step)));
            let placed = (at..end).map(|row| (rows.row(row), facts[row].0, facts[row].1));
            descend::<L, _, _, LANES>(&update, (&mut w, &mut norms), project, placed);
            lanes.iter_mut().for_each(|cursor| cursor.count(end - at));
            at = end;
        }
        for (k, cursor) in lanes.iter_mut().enumerate() {
            cursor.lane.w = Iterate::from_parts(w.lane(k), norms.norms_sq[k], norms.ages[k]);
        }
    }
}

/// The iterates of up to [`LANES`] lanes; unused lanes are zero. `w[j]` holds coordinate j of all lanes.
struct PackedIterates<B> {
    ops: B,
    w: Vec<[f64; LANES]>,
    /// The number of coordinates without padding.
    dim: usize,
    scale: f64,
    /// The index of the constant coordinate, if rows are lifted.
    lifted: Option<usize>,
}

impl<B: BlockOps> PackedIterates<B> {
    #[inline(always)]
    fn new(ops: B, rows: &PaddedRows) -> Self {
        let PaddedRows { dim, placement, .. } = rows;
        let (scale, lifted) = (placement.scaling().unwrap_or(1.0), placement.lift.then_some(*dim));
        let w = vec![[0.0; LANES]; rows.width()];
        PackedIterates { ops, w, dim: placement.dim_inside(*dim), scale, lifted }
    }

    /// Replaces the iterate of lane `k`. Coordinates that `iterate` does not have become 0.
    #[inline(always)]
    fn load(&mut self, k: usize, iterate: &Iterate, norms: &mut TrackedNorms<LANES>) {
        let (w, norm_sq, age) = iterate.parts();
        (norms.norms_sq[k], norms.ages[k]) = (norm_sq, age);
        let padded = w.iter().copied().chain(std::iter::repeat(0.0));
        self.w.iter_mut().zip(padded).for_each(|(packed, w)| packed[k] = w);
    }

    /// Returns a copy of the iterate of lane `k`.
    #[inline(always)]
    fn lane(&self, k: usize) -> Vec<f64> {
        self.w[..self.dim].iter().map(|packed| packed[k]).collect()
    }
}

impl<B: BlockOps> Iterates<&[[f64; LANES]], LANES> for PackedIterates<B> {
    #[inline(always)]
    fn products(&self, x: &[[f64; LANES]]) -> [f64; LANES] {
        let mut values = self.ops.dot_lanes(x, &self.w);
        values.iter_mut().for_each(|value| *value *= self.scale);
        if let Some(constant) = self.lifted {
            for (value, last) in values.iter_mut().zip(self.w[constant]) {
                *value = FRAC_1_SQRT_2 * (*value + last);
            }
        }
        values
    }

    #[inline(always)]
    fn subtract(&mut self, c: &[f64; LANES], x: &[[f64; LANES]]) {
        let lift = if self.lifted.is_some() { FRAC_1_SQRT_2 } else { 1.0 };
        let a = c.map(|c| lift * -c);
        self.ops.axpy_lanes(&a.map(|a| self.scale * a), x, &mut self.w);
        if let Some(constant) = self.lifted {
            self.w[constant].iter_mut().zip(a).for_each(|(w, a)| *w += a);
        }
    }

    #[inline(always)]
    fn norms_sq(&self) -> [f64; LANES] {
        self.ops.norm_sq_lanes(&self.w)
    }

    #[inline(always)]
    fn scale(&mut self, factors: &[f64; LANES]) {
        self.ops.scale_lanes(factors, &mut self.w);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::direction::{Denominator, Direction, SignLink};
    use crate::fit::lane::{Lane, Retention};
    use halfspaces_kernels::run_blocks;
    use halfspaces_linalg::{PointSet, Points, RngStream, SparsePoints, rng_for};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Blocks give the same iterates, tracked norms, events and retained iterates as the processing of one row and
        /// one lane at a time. The test covers one to eight lanes with both denominators, scaled or not, lifted or not,
        /// projected or not, with dense and sparse rows.
        #[test]
        fn blocks_are_lanes_one_at_a_time(
            dim in 1..40usize,
            lanes in 1..=LANES,
            scale in prop_oneof![Just(1.0), 0.1..1.0f64],
            lift in any::<bool>(),
            project in any::<bool>(),
            seed in 0u64..1000,
            values in prop::collection::vec(prop_oneof![3 => 0.1..1.0f64, 1 => -1.0..-0.1f64], 60 * 39),
        ) {
            let placement = Placement { scale, lift };
            let values = values[..60 * dim].iter().map(|v| v / (dim as f64).sqrt()).collect();
            let points = Points::new(values, dim).unwrap();
            let sparse = SparsePoints::from_dense(&points).unwrap();
            let mut rng = rng_for(RngStream::CALLER, seed);
            let label = |i| if (i * 7 + seed as usize) % 5 < 2 { Label::Positive } else { Label::Negative };
            let facts: Vec<_> = points.rows().enumerate()
                .map(|(i, x)| (placement.place(x).norm_sq(), label(i))).collect();
            let mut fresh: Vec<Lane<SignLink>> = (0..lanes).map(|k| {
                let number = 0.1 + 0.02 * k as f64;
                let denominator = if k % 2 == 0 { Denominator::Plus(number) } else { Denominator::AtLeast(number) };
                let direction = Direction { link: SignLink { level: 0.3 + 0.05 * k as f64 }, denominator };
                let run_length = 20 + 7 * k as u64;
                let retention = if k == 5 { Retention::All } else { Retention::drawn(5, 60, &mut rng).unwrap() };
                Lane::new(direction, 0.05 * (1.0 + k as f64), 10, run_length, retention)
            }).collect();
            fresh.iter_mut().for_each(|lane| lane.w = Iterate::zero(placement.dim_inside(dim)).unwrap());

            let mut single = fresh.clone();
            let mut expected = Vec::new();
            for (k, lane) in single.iter_mut().enumerate() {
                let mut cursor = LaneCursor::new(k, lane, None);
                for (x, (norm_sq, y)) in points.rows().zip(&facts) {
                    cursor.learn(placement.place(x), *norm_sq, *y, project);
                }
                expected.push(cursor.retained);
            }
            for is_sparse in [false, true] {
                let mut block = fresh.clone();
                let mut rows = PaddedRows::new(dim, placement);
                let mut cursors: Vec<_> =
                    block.iter_mut().enumerate().map(|(k, lane)| LaneCursor::new(k, lane, None)).collect();
                // No state of the first piece may remain in the second.
                for piece in [0..40, 40..60] {
                    if is_sparse {
                        rows.fill(piece.clone().map(|i| sparse.row(i).unwrap()));
                    } else {
                        rows.fill(piece.clone().map(|i| points.row(i).unwrap()));
                    }
                    run_blocks(LaneBlock { lanes: &mut cursors, rows: &rows, facts: &facts[piece], project });
                }
                let retained: Vec<_> = cursors.into_iter().map(|cursor| cursor.retained).collect();
                prop_assert_eq!(&retained, &expected);
                prop_assert_eq!(&block, &single);
            }
        }
    }
}
