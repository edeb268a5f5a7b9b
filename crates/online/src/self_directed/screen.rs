//! Points quantised to one byte per coordinate, scanned to find the surest wrong prediction.
//!
//! A unit point u is approximated by r q, where q is rounded to integers of absolute value at most 127 and
//! r = max |u_j| / 127. Then u = r q + e with ‖e‖ <= κ r, where κ is the computed maximum of ‖e‖/r. For every unit
//! vector w:
//!
//!   |w · u - r (w · q)| <= κ r.
//!
//! The product r (w · q) is computed in single precision. Whatever the order of summation, this adds at most (d + 16)
//! 2^-23 (1 + κ max r) to the difference. If the value of a point is below the best value so far by more than this
//! total difference, the point is not better. For the few other points, the values are computed from the points
//! themselves, so the results are bitwise equal to those of a scan of the unquantised points.
//!
//! A row takes an eighth of the memory of its point. Rows are stored contiguously in chunks. Compacting a chunk drops
//! its rows that can no longer matter.
//!
//! *Source.* Ours, for [`Greedy::simulate`](crate::Greedy::simulate); the screen changes neither its labels nor its
//! mistakes. Claims: none of its own.

use super::Unit;
use crate::error::OnlineError;
use faer::traits::pulp::{Arch, Simd, WithSimd};
use halfspaces_linalg::kernels::{Wide, run_wide};
use halfspaces_linalg::{Label, PointSet, RowView, Threads};

/// Number of coordinates processed at once.
const LANES: usize = 16;
/// Number of rows after which the best value is updated.
const BLOCK: usize = 256;
/// Number of rows that one thread processes at a time, a multiple of [`BLOCK`] below 2^16. This number influences which
/// rows are settled; the number of threads does not.
const ROWS_PER_CHUNK: usize = 64 * BLOCK;
/// The largest integer in a row.
const LARGEST: f32 = 127.0;
/// 1.5 · 2^23: adding this constant to a small number leaves the number, rounded to an integer, in the low bits.
const SHIFTER: f32 = 12_582_912.0;
/// The rows of a chunk are compacted once one in this many can be dropped.
const COMPACT_SHARE: usize = 4;
/// Number of points whose entries are inspected to see whether rows are mostly zeros.
const SAMPLE: usize = 64;

/// The points of a pool, beginning with a given one, quantised to bytes, with their labels.
#[derive(Debug)]
pub(super) struct Screen {
    dim: usize,
    chunks: Vec<Chunk>,
    /// κ.
    coarseness: f32,
    /// The additional difference due to single precision.
    rounding: f32,
}

/// Rows that one thread processes at a time.
#[derive(Debug)]
struct Chunk {
    /// The point index of the first row of this chunk when the chunk was created.
    first: usize,
    /// The rows q.
    bytes: Vec<i8>,
    /// -y r, so that wrong predictions have positive values; NaN for a row that is excluded.
    steps: Vec<f32>,
    /// A lower bound on |w · u| for the most recent w, as a [`level`].
    sure: Vec<u8>,
    /// The offset of the point of each row from the first point; `None` until some rows have been dropped.
    places: Option<Vec<u16>>,
}

/// The input for computing the values of rows.
struct Scale {
    w: Vec<f32>,
    /// The last coordinates of w, which do not fill all lanes, preceded by zeros.
    tail: [f32; LANES],
    coarseness: f32,
    rounding: f32,
}

impl Screen {
    /// Whether the bytes take less memory than the points. They do not if most entries are zeros that a sparse form
    /// omits.
    pub(super) fn pays<P: PointSet>(points: &P) -> bool {
        let stored: usize = points.rows().take(SAMPLE).map(|x| x.entries().count()).sum();
        2 * stored >= points.dim() * points.len().min(SAMPLE)
    }

    /// Quantises the points, beginning with point `first`. Returns `None` if there is not enough memory.
    pub(super) fn new<P: PointSet>(
        points: &P,
        labels: &[Label],
        first: usize,
        threads: Threads,
    ) -> Result<Option<Screen>, OnlineError> {
        let dim = points.dim();
        let padded = dim.next_multiple_of(LANES);
        let rows = (first..points.len()).step_by(ROWS_PER_CHUNK);
        let drawn = threads.map_with(
            rows,
            || (vec![0.0; padded], vec![0; padded]),
            |workspace, first| Chunk::new(points, labels, first, workspace),
        );
        let mut chunks = Vec::with_capacity(drawn.len());
        let (mut error_sq, mut longest) = (0.0f32, 0.0f32);
        for of_chunk in drawn {
            let Some((chunk, error, step)) = of_chunk? else { return Ok(None) };
            error_sq = error_sq.max(error);
            longest = longest.max(step);
            chunks.push(chunk);
        }
        let rounding = (dim as f32 + 16.0) * f32::EPSILON;
        let coarseness = error_sq.sqrt() * (1.0 + rounding);
        let rounding = rounding * (1.0 + coarseness * longest);
        Ok(Some(Screen { dim, chunks, coarseness, rounding }))
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.chunks.iter().map(Chunk::len).sum()
    }

    /// The points of the rows, in ascending order.
    pub(super) fn into_points(self) -> Vec<usize> {
        let mut points = Vec::with_capacity(self.len());
        for chunk in &self.chunks {
            let left = (0..chunk.len()).filter(|row| !chunk.steps[*row].is_nan());
            points.extend(left.map(|row| chunk.point(row)));
        }
        points
    }

    /// Computes the value of every row for the unit vector `w`. Calls `settle`, in ascending order, for the points
    /// whose predictions may be wrong by at least the largest amount that `settle` has returned so far. The first chunk
    /// starts with `found`, and all other chunks start with the result of the first. Returns the results of all chunks
    /// in order.
    pub(super) fn scan<F: Clone + Send + Sync>(
        &mut self,
        w: &[f64],
        threads: Threads,
        found: F,
        settle: impl Fn(&mut F, usize) -> Settled + Sync,
    ) -> Vec<F> {
        let Screen { dim, coarseness, rounding, .. } = *self;
        let w: Vec<f32> = w.iter().map(|v| *v as f32).collect();
        let mut tail = [0.0; LANES];
        let rest = dim % LANES;
        tail[LANES - rest..].copy_from_slice(&w[dim - rest..]);
        let by = Scale { w, tail, coarseness, rounding };
        let Some((head, others)) = self.chunks.split_first_mut() else { return Vec::new() };
        let (found, least) = head.scan(&by, 0.0, found, &settle);
        let others = threads.map_with(
            others.iter_mut(),
            || (),
            |(), chunk| chunk.scan(&by, least, found.clone(), &settle).0,
        );
        std::iter::once(found).chain(others).collect()
    }

    /// Drops the rows whose |w · u| for the most recent w is certainly larger than `most`, if there are many of them.
    pub(super) fn drop_beyond(&mut self, most: f64, threads: Threads) {
        // `most` is rounded up, because a level covers all larger values below the next level.
        let most = level(most as f32 * (1.0 + f32::EPSILON));
        let dim = self.dim;
        threads.map_with(self.chunks.iter_mut(), || (), |(), chunk| chunk.drop_beyond(most, dim));
    }
}

impl Chunk {
    /// Quantises points, beginning with point `first`. Returns the chunk, the largest (‖e‖/r)² and the largest r, or
    /// `None` if there is not enough memory.
    fn new<P: PointSet>(
        points: &P,
        labels: &[Label],
        first: usize,
        (unit, q): &mut (Vec<f64>, Vec<i8>),
    ) -> Result<Option<(Chunk, f32, f32)>, OnlineError> {
        let rows = ROWS_PER_CHUNK.min(points.len() - first);
        let (Ok(mut bytes), Ok(mut steps), Ok(mut sure)) =
            (reserve(rows.saturating_mul(points.dim())), reserve(rows), reserve(rows))
        else {
            return Ok(None);
        };
        let (mut error_sq, mut longest) = (0.0f32, 0.0f32);
        for (index, &label) in (first..).zip(&labels[first..first + rows]) {
            let Some(x) = points.row(index) else {
                unreachable!("there is one row for each point from the first on")
            };
            unit.fill(0.0);
            Unit::of(x)?.add_to(1.0, unit);
            let (step, error) = run_wide(Quantise { unit, q });
            bytes.extend_from_slice(&q[..points.dim()]);
            steps.push(if label == Label::Positive { -step } else { step });
            error_sq = error_sq.max(error);
            longest = longest.max(step);
        }
        sure.resize(rows, 0);
        let chunk = Chunk { first, bytes, steps, sure, places: None };
        Ok(Some((chunk, error_sq, longest)))
    }

    fn len(&self) -> usize {
        self.steps.len()
    }

    /// The index in the pool of the point that is stored in a row of the chunk.
    fn point(&self, row: usize) -> usize {
        self.first + self.places.as_ref().map_or(row, |places| usize::from(places[row]))
    }

    /// Scans the rows of the chunk, starting with `found` and the largest amount so far. Returns the updated result and
    /// amount.
    fn scan<F>(
        &mut self,
        by: &Scale,
        mut least: f32,
        mut found: F,
        settle: &impl Fn(&mut F, usize) -> Settled,
    ) -> (F, f32) {
        let arch = Arch::new();
        let mut values = [0.0; BLOCK];
        for from in (0..self.len()).step_by(BLOCK) {
            let to = self.len().min(from + BLOCK);
            let largest = arch.dispatch(Value {
                rows: &self.bytes[from * by.w.len()..to * by.w.len()],
                steps: &self.steps[from..to],
                by,
                values: &mut values,
                sure: &mut self.sure[from..to],
            });
            if largest + by.rounding < least {
                continue;
            }
            for (row, value) in (from..to).zip(values) {
                let reach = by.coarseness * self.steps[row].abs() + by.rounding;
                if value + reach >= least {
                    match settle(&mut found, self.point(row)) {
                        Settled::Best(amount) => least = amount as f32,
                        Settled::NotBetter => {}
                        Settled::Out => self.steps[row] = f32::NAN,
                    }
                }
            }
        }
        (found, least)
    }

    /// Drops the rows that are excluded or whose lower bound has a level above `most`, if there are many of them.
    fn drop_beyond(&mut self, most: u8, dim: usize) {
        let stays = |(sure, step): (&u8, &f32)| *sure <= most && !step.is_nan();
        let rows = || self.sure.iter().zip(&self.steps);
        let kept = rows().filter(|row| stays(*row)).count();
        if COMPACT_SHARE * (self.len() - kept) < self.len() {
            return;
        }
        let mut left = Vec::with_capacity(kept);
        left.extend((0..).zip(rows()).filter(|(_, row)| stays(*row)).map(|(row, _)| row));
        let place = |row: &usize| match u16::try_from(self.point(*row) - self.first) {
            Ok(place) => place,
            Err(_) => unreachable!("a chunk has fewer than 2^16 rows"),
        };
        self.places = Some(left.iter().map(place).collect());
        for (to, row) in left.iter().enumerate() {
            self.bytes.copy_within(row * dim..(row + 1) * dim, to * dim);
            self.steps[to] = self.steps[*row];
        }
        self.bytes.truncate(kept * dim);
        self.bytes.shrink_to_fit();
        self.steps.truncate(kept);
        self.sure.truncate(kept);
    }
}

/// Encodes a number in [0, 2) in one byte, monotonically and with a relative accuracy of a sixteenth: four bits of its
/// exponent and the four bits after the leading one. Numbers below 2^-15 have level 0, and NaN has the highest level.
#[inline(always)]
fn level(value: f32) -> u8 {
    const LEAST: f32 = 1.0 / (1u32 << 15) as f32;
    const SHIFT: u32 = f32::MANTISSA_DIGITS - 1 - 4;
    // Comparisons with NaN are false.
    let value = if value < LEAST { LEAST } else { value };
    ((value.to_bits() >> SHIFT) - (LEAST.to_bits() >> SHIFT)).min(255) as u8
}

/// The exact result for a point that was looked up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Settled {
    /// The prediction is wrong by this amount, the largest so far.
    Best(f64),
    /// The point is not better than the best so far.
    NotBetter,
    /// The point cannot matter in any later scan.
    Out,
}

fn reserve<T>(len: usize) -> Result<Vec<T>, std::collections::TryReserveError> {
    let mut values = Vec::new();
    values.try_reserve_exact(len)?;
    Ok(values)
}

/// Rounds a unit point, padded with zeros, to integers. Returns r and (‖e‖/r)².
struct Quantise<'a> {
    unit: &'a [f64],
    q: &'a mut [i8],
}

impl Wide for Quantise<'_> {
    type Output = (f32, f32);

    #[inline(always)]
    fn run(self) -> (f32, f32) {
        let (blocks, _) = self.unit.as_chunks::<LANES>();
        let larger = |a: f32, b: f32| if a > b { a } else { b };
        let mut most = [0.0; LANES];
        for u in blocks {
            for (most, u) in most.iter_mut().zip(u) {
                *most = larger((*u as f32).abs(), *most);
            }
        }
        let most = most.into_iter().fold(0.0, larger);
        let per_unit = if most > 0.0 { LARGEST / most } else { 0.0 };
        let mut errors = [0.0; LANES];
        for (u, q) in blocks.iter().zip(self.q.as_chunks_mut::<LANES>().0) {
            let exact = u.map(|u| u as f32 * per_unit);
            let shifted = exact.map(|v| v + SHIFTER);
            *q = shifted.map(|v| v.to_bits() as i8);
            for ((error, exact), shifted) in errors.iter_mut().zip(exact).zip(shifted) {
                let e = exact - (shifted - SHIFTER);
                *error += e * e;
            }
        }
        (most / LARGEST, errors.into_iter().sum())
    }
}

/// Computes the value -y r (w · q) and a lower bound on |w · u| for each row of a block. Returns the largest sum of a
/// value and its κ r.
struct Value<'a> {
    rows: &'a [i8],
    steps: &'a [f32],
    by: &'a Scale,
    values: &'a mut [f32],
    sure: &'a mut [u8],
}

impl WithSimd for Value<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        let Value { rows, steps, by, values, sure } = self;
        let Scale { w, tail, coarseness, rounding } = by;
        let mut largest = f32::NEG_INFINITY;
        for ((q, step), value) in rows.chunks_exact(w.len()).zip(steps).zip(&mut *values) {
            *value = step * dot(simd, q, w, tail);
            let reach = *value + coarseness * step.abs();
            largest = if reach > largest { reach } else { largest };
        }
        for ((sure, value), step) in sure.iter_mut().zip(values).zip(steps) {
            *sure = level(value.abs() - coarseness * step.abs() - rounding);
        }
        largest
    }
}

/// w · q.
#[inline(always)]
fn dot<S: Simd>(simd: S, q: &[i8], w: &[f32], tail: &[f32; LANES]) -> f32 {
    let add = |sum: S::f32s, q: &[i8; LANES], w: &[f32; LANES]| {
        let q = q.map(f32::from);
        let pairs = S::as_simd_f32s(&q).0.iter().zip(S::as_simd_f32s(w).0);
        pairs.fold(sum, |sum, (q, w)| simd.mul_add_e_f32s(*q, *w, sum))
    };
    let (blocks, rest) = q.as_chunks::<LANES>();
    let blocks = blocks.iter().zip(w.as_chunks::<LANES>().0);
    let mut sum = blocks.fold(simd.splat_f32s(0.0), |sum, (q, w)| add(sum, q, w));
    if !rest.is_empty() {
        // The last lanes overlap earlier ones, which are multiplied by zeros.
        let mut short = [0; LANES];
        let last = q.last_chunk::<LANES>().unwrap_or_else(|| {
            short[LANES - rest.len()..].copy_from_slice(rest);
            &short
        });
        sum = add(sum, last, tail);
    }
    simd.reduce_sum_f32s(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_data::{Marginal, StudentT, UnitSphere, random_target};
    use halfspaces_linalg::{Classifier, Points, SparsePoints};
    use proptest::prelude::*;

    /// Random points, including a zero point and a point on an axis, and a unit vector w.
    fn drawn(dim: usize, heavy: bool, seed: u64) -> (Points, Vec<Label>, Vec<f64>) {
        let sphere = UnitSphere::new(dim).unwrap();
        let drawn = match heavy {
            true => StudentT::new(dim, 1.0, 1e3).unwrap().sample(300, seed),
            false => sphere.sample(300, seed),
        };
        let mut values = drawn.unwrap().into_vec();
        values[..2 * dim].fill(0.0);
        values[dim] = -7.5;
        let points = Points::new(values, dim).unwrap();
        let labels = random_target(dim, seed).unwrap().label_all(&points).unwrap();
        let w = sphere.sample(1, seed + 1).unwrap().into_vec();
        (points, labels, w)
    }

    /// The rows of a pool that is small enough to be one chunk.
    fn rows(screen: &Screen) -> &Chunk {
        assert_eq!(screen.chunks.len(), 1);
        &screen.chunks[0]
    }

    /// The values of all rows.
    fn values(screen: &Screen, w: &[f64]) -> Vec<f32> {
        let (w, dim) = (w.iter().map(|v| *v as f32).collect::<Vec<f32>>(), screen.dim);
        let plain = |q: &[i8]| q.iter().zip(&w).map(|(q, w)| f32::from(*q) * w).sum::<f32>();
        rows(screen)
            .bytes
            .chunks(dim)
            .zip(&rows(screen).steps)
            .map(|(q, step)| step * plain(q))
            .collect()
    }

    fn exact(points: &Points, i: usize, w: &[f64]) -> f64 {
        Unit::of(points.row(i).unwrap()).unwrap().margin(w)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn values_differ_by_no_more_than_stated(
            dim in 1usize..70,
            heavy in any::<bool>(),
            seed in 0u64..1000,
        ) {
            let (points, labels, w) = drawn(dim, heavy, seed);
            let mut screen = Screen::new(&points, &labels, 0, Threads::ONE).unwrap().unwrap();
            screen.scan(&w, Threads::ONE, (), |(), _| Settled::NotBetter);
            let values = values(&screen, &w);
            let mut beyond_rounding = 0;
            for (i, label) in labels.iter().enumerate() {
                let exact = exact(&points, i, &w);
                prop_assert!(rows(&screen).sure[i] <= level(exact.abs() as f32));
                let difference = f64::from(values[i]) + label.as_f64() * exact;
                let stated = screen.coarseness * rows(&screen).steps[i].abs() + screen.rounding;
                prop_assert!(difference.abs() <= f64::from(stated), "{i}: {difference} {stated}");
                beyond_rounding += usize::from(difference.abs() > f64::from(screen.rounding));
            }
            // The bound does not hold without κ r.
            prop_assert!(dim == 1 || heavy || beyond_rounding > 0);
        }

        #[test]
        fn the_worst_is_found_and_only_what_is_beyond_is_dropped(
            dim in 1usize..40,
            heavy in any::<bool>(),
            seed in 0u64..1000,
            most in 0.0..0.3f64,
        ) {
            let (points, labels, w) = drawn(dim, heavy, seed);
            let amounts: Vec<f64> =
                (3..300).map(|i| -labels[i].as_f64() * exact(&points, i, &w)).collect();
            let worst = amounts.iter().copied().fold(0.0, f64::max);
            let mut screen = Screen::new(&points, &labels, 3, Threads::ONE).unwrap().unwrap();
            let found = screen.scan(&w, Threads::ONE, 0.0, |found, i| {
                if amounts[i - 3] > *found {
                    *found = amounts[i - 3];
                    return Settled::Best(*found);
                }
                Settled::NotBetter
            });
            prop_assert_eq!(found, [worst]);
            let mut dropped = false;
            for most in [most, most / 2.0] {
                screen.scan(&w, Threads::ONE, (), |(), _| Settled::NotBetter);
                // With a slack of twice the error of the bytes, these rows are certainly beyond `most`.
                let values = values(&screen, &w);
                let slack = |row: usize| 2.0 * (screen.coarseness * rows(&screen).steps[row].abs());
                let certain = (0..screen.len()).filter(|row| {
                    let sure = values[*row].abs() - slack(*row) - 2.0 * screen.rounding;
                    // Every level except the lowest has a relative width of at most a sixteenth.
                    sure > 1.0625 * most.max(2e-5) as f32
                });
                let before = screen.len();
                let many = before > 0 && COMPACT_SHARE * certain.count() >= before;
                screen.drop_beyond(most, Threads::ONE);
                prop_assert!(!many || screen.len() < before);
                dropped |= screen.len() < before;
            }
            // On the sphere many rows are far from any boundary.
            prop_assert!(dropped || heavy || most > 0.1 || dim > 20);
            let bytes = rows(&screen).bytes.len();
            prop_assert_eq!(bytes, screen.len() * dim);
            let left = screen.into_points();
            for (i, amount) in (3..300).zip(&amounts) {
                prop_assert!(amount.abs() > most / 2.0 || left.contains(&i));
            }
        }
    }

    #[test]
    fn levels_rise_with_the_number() {
        let numbers: Vec<f32> = (0..4000).map(|i| 1.01f32.powi(-i)).collect();
        for pair in numbers.windows(2) {
            assert!(level(pair[0]) >= level(pair[1]));
            let apart = level(pair[0]) > level(0.94 * pair[0]);
            assert!(apart || pair[0] < 2f32.powi(-14), "{}", pair[0]);
        }
        assert_eq!((level(-0.5), level(0.0), level(f32::NAN)), (0, 0, 255));
        assert!(level(1.0) < 255 && level(1.99) == 255);
    }

    #[test]
    fn a_point_that_is_out_is_not_shown_again() {
        let (points, labels, w) = drawn(5, false, 1);
        let mut screen = Screen::new(&points, &labels, 0, Threads::ONE).unwrap().unwrap();
        let shown = screen.scan(&w, Threads::ONE, Vec::new(), |shown, i| {
            shown.push(i);
            Settled::Out
        });
        let shown = shown.concat();
        screen.scan(&w, Threads::ONE, (), |(), i| {
            assert!(!shown.contains(&i));
            Settled::NotBetter
        });
        assert!(!shown.is_empty());
        assert!(screen.into_points().iter().all(|i| !shown.contains(i)));
    }

    #[test]
    fn sparse_points_are_not_worth_it() {
        let dense = Points::from_rows(&[[1.0, 2.0, 0.0], [1.0, 0.0, 3.0]]).unwrap();
        assert!(Screen::pays(&dense));
        let hot = Points::from_rows(&[[1.0, 0.0, 0.0], [0.0, 0.0, 3.0]]).unwrap();
        assert!(!Screen::pays(&SparsePoints::from_dense(&hot).unwrap()));
    }
}
