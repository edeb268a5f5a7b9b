//! Loops over rows and weight vectors that consist of whole blocks.

use crate::dispatch::dispatch;
use crate::plain::{LANES, SINGLE_LANES};
use crate::vectors::{Blocks, Kernel, Vectors};

/// The operations of a [`BlockLoop`] on rows that consist of whole blocks of [`LANES`] numbers. Without these
/// operations, the compiler would vectorise such loops poorly.
pub trait BlockOps: Copy {
    /// The [`dot`](crate::dot) of two rows. If one row has more blocks than the other, the longer row is truncated.
    fn dot(self, a: &[[f64; LANES]], b: &[[f64; LANES]]) -> f64;

    /// Computes `y += a x`, where the product and the sum are rounded separately. If one row has more blocks than the
    /// other, the longer row is truncated.
    fn axpy(self, a: f64, x: &[[f64; LANES]], y: &mut [[f64; LANES]]);

    /// The product of two single-precision rows. This product has eight times as many running sums as
    /// [`dot`](crate::dot), so it is faster and rounds differently. If one row has more blocks than the other, the
    /// longer row is truncated.
    fn dot_single(self, a: &[[f32; SINGLE_LANES]], b: &[[f32; SINGLE_LANES]]) -> f32;

    /// Computes `y += a x` for single-precision rows, where the product and the sum are rounded separately.
    fn axpy_single(self, a: f32, x: &[[f32; SINGLE_LANES]], y: &mut [[f32; SINGLE_LANES]]);

    /// Like [`BlockOps::dot_single`], but the first row contains integers, which take half the memory.
    fn dot_short(self, a: &[[i16; SINGLE_LANES]], b: &[[f32; SINGLE_LANES]]) -> f32;

    /// Like [`BlockOps::axpy_single`], but the row `x` contains integers.
    fn axpy_short(self, a: f32, x: &[[i16; SINGLE_LANES]], y: &mut [[f32; SINGLE_LANES]]);

    /// The [`BlockOps::dot`] of a row with each of [`LANES`] interleaved vectors: `w` contains the first coordinate of
    /// all vectors, then the second, and so on. The loop takes the same number of instructions per vector as a separate
    /// product, except for the final addition of the running sums.
    fn dot_lanes(self, x: &[[f64; LANES]], w: &[[f64; LANES]]) -> [f64; LANES];

    /// Adds a multiple of the row `x` to each interleaved vector, like [`BlockOps::axpy`]. Each vector has its own
    /// factor.
    fn axpy_lanes(self, a: &[f64; LANES], x: &[[f64; LANES]], w: &mut [[f64; LANES]]);

    /// The [`BlockOps::dot`] of each interleaved vector with itself.
    fn norm_sq_lanes(self, w: &[[f64; LANES]]) -> [f64; LANES];

    /// Multiplies each interleaved vector by its own factor.
    fn scale_lanes(self, a: &[f64; LANES], w: &mut [[f64; LANES]]);
}

impl<V: Vectors> BlockOps for V {
    #[inline(always)]
    fn dot(self, a: &[[f64; LANES]], b: &[[f64; LANES]]) -> f64 {
        let mut sums = self.splat(0.0);
        for (a, b) in a.iter().zip(b) {
            sums = self.add_product(sums, self.load(a), self.load(b));
        }
        self.total(sums)
    }

    #[inline(always)]
    fn axpy(self, a: f64, x: &[[f64; LANES]], y: &mut [[f64; LANES]]) {
        let a = self.splat(a);
        for (x, y) in x.iter().zip(y) {
            self.store(self.add_product(self.load(y), a, self.load(x)), y);
        }
    }

    #[inline(always)]
    fn dot_single(self, a: &[[f32; SINGLE_LANES]], b: &[[f32; SINGLE_LANES]]) -> f32 {
        dot_loaded(self, a, b)
    }

    #[inline(always)]
    fn axpy_single(self, a: f32, x: &[[f32; SINGLE_LANES]], y: &mut [[f32; SINGLE_LANES]]) {
        axpy_loaded(self, a, x, y);
    }

    #[inline(always)]
    fn dot_short(self, a: &[[i16; SINGLE_LANES]], b: &[[f32; SINGLE_LANES]]) -> f32 {
        dot_loaded(self, a, b)
    }

    #[inline(always)]
    fn axpy_short(self, a: f32, x: &[[i16; SINGLE_LANES]], y: &mut [[f32; SINGLE_LANES]]) {
        axpy_loaded(self, a, x, y);
    }

    #[inline(always)]
    fn dot_lanes(self, x: &[[f64; LANES]], w: &[[f64; LANES]]) -> [f64; LANES] {
        let mut sums = [self.splat(0.0); LANES];
        for (x, w) in x.iter().zip(w.as_chunks::<LANES>().0) {
            for ((sum, x), w) in sums.iter_mut().zip(x).zip(w) {
                *sum = self.add_product(*sum, self.splat(*x), self.load(w));
            }
        }
        totals(self, sums)
    }

    #[inline(always)]
    fn axpy_lanes(self, a: &[f64; LANES], x: &[[f64; LANES]], w: &mut [[f64; LANES]]) {
        let a = self.load(a);
        for (x, w) in x.as_flattened().iter().zip(w) {
            self.store(self.add_product(self.load(w), a, self.splat(*x)), w);
        }
    }

    #[inline(always)]
    fn norm_sq_lanes(self, w: &[[f64; LANES]]) -> [f64; LANES] {
        let mut sums = [self.splat(0.0); LANES];
        for w in w.as_chunks::<LANES>().0 {
            for (sum, w) in sums.iter_mut().zip(w) {
                let w = self.load(w);
                *sum = self.add_product(*sum, w, w);
            }
        }
        totals(self, sums)
    }

    #[inline(always)]
    fn scale_lanes(self, a: &[f64; LANES], w: &mut [[f64; LANES]]) {
        let a = self.load(a);
        for w in w {
            self.store(self.mul(self.load(w), a), w);
        }
    }
}

/// [`add_lanes`](crate::plain::add_lanes) for each lane separately.
#[inline(always)]
fn totals<V: Vectors>(v: V, sums: [V::Eight; LANES]) -> [f64; LANES] {
    let [a, b, c, d, e, f, g, h] = sums;
    let [a, b, c, d] = [v.add(a, e), v.add(b, f), v.add(c, g), v.add(d, h)];
    let mut totals = [0.0; LANES];
    v.store(v.add(v.add(a, c), v.add(b, d)), &mut totals);
    totals
}

/// Types that can be loaded as sixteen single-precision numbers.
trait Load {
    fn load<V: Vectors>(&self, v: V) -> V::Sixteen;
}

impl Load for [f32; SINGLE_LANES] {
    #[inline(always)]
    fn load<V: Vectors>(&self, v: V) -> V::Sixteen {
        v.load_single(self)
    }
}

impl Load for [i16; SINGLE_LANES] {
    #[inline(always)]
    fn load<V: Vectors>(&self, v: V) -> V::Sixteen {
        v.load_short(self)
    }
}

#[inline(always)]
fn dot_loaded<V: Vectors, A: Load>(v: V, a: &[A], b: &[[f32; SINGLE_LANES]]) -> f32 {
    let blocks = a.len().min(b.len());
    let (a_fours, a_rest) = a[..blocks].as_chunks::<4>();
    let (b_fours, b_rest) = b[..blocks].as_chunks::<4>();
    let mut sums = [v.splat_single(0.0); 4];
    for (a, b) in a_fours.iter().zip(b_fours) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum = v.add_product_single(*sum, a.load(v), v.load_single(b));
        }
    }
    let [mut sum, s, t, u] = sums;
    for (a, b) in a_rest.iter().zip(b_rest) {
        sum = v.add_product_single(sum, a.load(v), v.load_single(b));
    }
    v.total_single(v.add_single(v.add_single(sum, s), v.add_single(t, u)))
}

#[inline(always)]
fn axpy_loaded<V: Vectors, X: Load>(v: V, a: f32, x: &[X], y: &mut [[f32; SINGLE_LANES]]) {
    let a = v.splat_single(a);
    for (x, y) in x.iter().zip(y) {
        v.store_single(v.add_product_single(v.load_single(y), a, x.load(v)), y);
    }
}

/// A loop over rows that consist of whole blocks; see [`run_blocks`].
pub trait BlockLoop {
    /// The result of the loop.
    type Output;

    /// Runs the loop. This method and every speed-critical function and closure that it calls must be
    /// `#[inline(always)]`: a function that is not inlined is compiled without the vector instructions.
    fn run<B: BlockOps>(self, ops: B) -> Self::Output;
}

/// Runs [`BlockLoop::run`] with the widest vectors of the processor. The result has the same bits on all processors.
///
/// ```
/// use halfspaces_kernels::{BlockLoop, BlockOps, LANES, dot, run_blocks};
///
/// /// Moves w along x until x · w = 1.
/// struct Onto<'a>(&'a [[f64; LANES]], &'a mut [[f64; LANES]]);
///
/// impl BlockLoop for Onto<'_> {
///     type Output = ();
///
///     #[inline(always)]
///     fn run<B: BlockOps>(self, ops: B) {
///         let Onto(x, w) = self;
///         ops.axpy((1.0 - ops.dot(x, w)) / ops.dot(x, x), x, w);
///     }
/// }
///
/// let (x, mut w) = ([[0.5; LANES]; 2], [[0.0; LANES]; 2]);
/// run_blocks(Onto(&x, &mut w));
/// assert_eq!(dot(x.as_flattened(), w.as_flattened()), 1.0);
/// ```
#[inline]
pub fn run_blocks<L: BlockLoop>(work: L) -> L::Output {
    dispatch(Whole(work))
}

struct Whole<L>(L);

impl<L: BlockLoop> Kernel for Whole<L> {
    type Output = L::Output;

    #[inline(always)]
    fn run<V: Vectors>(self, v: V) -> L::Output {
        self.0.run(v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::tests::{numbers, on_all};
    use crate::dot;
    use proptest::prelude::*;

    /// A product, and a step that depends on it.
    struct Step<'a>(&'a [[f64; LANES]], &'a mut [[f64; LANES]]);

    impl BlockLoop for Step<'_> {
        type Output = f64;

        #[inline(always)]
        fn run<B: BlockOps>(self, ops: B) -> f64 {
            let Step(x, w) = self;
            let value = ops.dot(x, w);
            ops.axpy(0.3 * value, x, w);
            value
        }
    }

    /// The single-precision version of [`Step`].
    struct SingleStep<'a>(&'a [[f32; SINGLE_LANES]], &'a mut [[f32; SINGLE_LANES]]);

    impl BlockLoop for SingleStep<'_> {
        type Output = f32;

        #[inline(always)]
        fn run<B: BlockOps>(self, ops: B) -> f32 {
            let SingleStep(x, w) = self;
            let value = ops.dot_single(x, w);
            ops.axpy_single(0.3 * value, x, w);
            value
        }
    }

    /// Computes the products of a row with eight vectors and their squared norms, then makes a step with each vector
    /// and scales it.
    struct LaneStep<'a>(&'a [f64; LANES], &'a [[f64; LANES]], &'a mut [[f64; LANES]]);

    impl BlockLoop for LaneStep<'_> {
        type Output = ([f64; LANES], [f64; LANES]);

        #[inline(always)]
        fn run<B: BlockOps>(self, ops: B) -> Self::Output {
            let LaneStep(a, x, w) = self;
            let found = (ops.dot_lanes(x, w), ops.norm_sq_lanes(w));
            ops.axpy_lanes(a, x, w);
            ops.scale_lanes(a, w);
            found
        }
    }

    /// Same as [`SingleStep`], but with a row of integers.
    struct ShortStep<'a>(&'a [[i16; SINGLE_LANES]], &'a mut [[f32; SINGLE_LANES]]);

    impl BlockLoop for ShortStep<'_> {
        type Output = f32;

        #[inline(always)]
        fn run<B: BlockOps>(self, ops: B) -> f32 {
            let ShortStep(x, w) = self;
            let value = ops.dot_short(x, w);
            ops.axpy_short(0.3 * value, x, w);
            value
        }
    }

    proptest! {
        #[test]
        fn single_precision_is_within_its_rounding(
            (x_len, w_len) in (0..14usize, 0..14usize),
            x in numbers(14 * SINGLE_LANES),
            w in numbers(14 * SINGLE_LANES),
        ) {
            let single = |v: &[f64]| v.iter().map(|v| *v as f32).collect::<Vec<f32>>();
            let (x, w) = (single(&x[..x_len * SINGLE_LANES]), single(&w[..w_len * SINGLE_LANES]));
            let pairs = || x.iter().zip(&w).map(|(x, w)| f64::from(*x) * f64::from(*w));
            let (plain, scale) = (pairs().sum::<f64>(), pairs().map(f64::abs).sum::<f64>());
            let ends = on_all(|set| {
                let mut w = w.as_chunks().0.to_vec();
                let value = set.run(Whole(SingleStep(x.as_chunks().0, &mut w)));
                (value.to_bits(), w.as_flattened().to_vec())
            });
            for (value, end) in &ends {
                prop_assert_eq!(*value, ends[0].0);
                let value = f32::from_bits(*value);
                prop_assert!((f64::from(value) - plain).abs() <= 1e-6 * scale);
                let moved = |(i, w): (usize, &f32)| match x.get(i) {
                    Some(x) => w + 0.3 * value * x,
                    None => *w,
                };
                let expected: Vec<u32> = w.iter().enumerate().map(|w| moved(w).to_bits()).collect();
                prop_assert_eq!(end.iter().map(|w| w.to_bits()).collect::<Vec<_>>(), expected);
            }
        }

        /// Each of eight interleaved vectors gives the same bits as it does separately.
        #[test]
        fn interleaved_vectors_equal_separate_ones(
            (x_len, w_len) in (0..6usize, 0..6usize),
            x in numbers(6 * LANES),
            w in numbers(6 * LANES * LANES),
            a in numbers(LANES),
        ) {
            let x = x[..x_len * LANES].as_chunks().0;
            let w = w[..w_len * LANES * LANES].as_chunks::<LANES>().0;
            let a: [f64; LANES] = *a.first_chunk().unwrap();
            let mut expected = Vec::new();
            for k in 0..LANES {
                let mut alone: Vec<f64> = w.iter().map(|w| w[k]).collect();
                let values = [dot(x.as_flattened(), &alone), dot(&alone, &alone)];
                alone.iter_mut().zip(x.as_flattened()).for_each(|(w, x)| *w += a[k] * x);
                alone.iter_mut().for_each(|w| *w *= a[k]);
                expected.extend(values.iter().chain(&alone).map(|v| v.to_bits()));
            }
            let ends = on_all(|set| {
                let mut moved = w.to_vec();
                let (values, norms_sq) = set.run(Whole(LaneStep(&a, x, &mut moved)));
                let mut found = Vec::new();
                for k in 0..LANES {
                    let moved = moved.iter().map(|w| &w[k]);
                    found.extend([&values[k], &norms_sq[k]].into_iter().chain(moved).map(|v| v.to_bits()));
                }
                found
            });
            prop_assert!(ends.iter().all(|end| *end == expected));
        }

        /// Integers give the same bits as single-precision numbers with the same values.
        #[test]
        fn short_rows_are_single_ones(
            (x_len, w_len) in (0..14usize, 0..14usize),
            x in proptest::collection::vec(any::<i16>(), 14 * SINGLE_LANES),
            w in numbers(14 * SINGLE_LANES),
        ) {
            let x = x[..x_len * SINGLE_LANES].as_chunks().0;
            let single: Vec<f32> = x.as_flattened().iter().map(|x| f32::from(*x)).collect();
            let w: Vec<f32> = w[..w_len * SINGLE_LANES].iter().map(|w| *w as f32).collect();
            let bits = |w: &[[f32; SINGLE_LANES]]| -> Vec<u32> {
                w.as_flattened().iter().map(|w| w.to_bits()).collect()
            };
            let ends = on_all(|set| {
                let (mut a, mut b) = (w.as_chunks().0.to_vec(), w.as_chunks().0.to_vec());
                let value = set.run(Whole(ShortStep(x, &mut a)));
                let expected = set.run(Whole(SingleStep(single.as_chunks().0, &mut b)));
                ((value.to_bits(), bits(&a)), (expected.to_bits(), bits(&b)))
            });
            prop_assert!(ends.iter().all(|(found, expected)| found == expected && *found == ends[0].0));
        }

        #[test]
        fn blocks_round_as_plain_loops(
            (x_len, w_len) in (0..6usize, 0..6usize),
            x in numbers(6 * LANES),
            w in numbers(6 * LANES),
        ) {
            let (x, w) = (&x[..x_len * LANES], &w[..w_len * LANES]);
            let mut expected = w.to_vec();
            let value = dot(x, w);
            expected.iter_mut().zip(x).for_each(|(w, x)| *w += 0.3 * value * x);
            let ends = on_all(|set| {
                let mut w = w.as_chunks().0.to_vec();
                let value = set.run(Whole(Step(x.as_chunks().0, &mut w)));
                (value.to_bits(), w.as_flattened().iter().map(|w| w.to_bits()).collect::<Vec<_>>())
            });
            let bits: Vec<u64> = expected.iter().map(|w| w.to_bits()).collect();
            prop_assert!(ends.iter().all(|end| *end == (value.to_bits(), bits.clone())));
        }
    }
}
