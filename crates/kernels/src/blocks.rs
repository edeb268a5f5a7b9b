//! Loops over rows and weights that fill whole blocks.

use crate::dispatch::dispatch;
use crate::plain::LANES;
use crate::vectors::{Blocks, Kernel, Vectors};

/// What a [`BlockLoop`] may do with rows of whole blocks of [`LANES`] numbers, which the compiler would take apart.
pub trait BlockOps: Copy {
    /// [`dot`](crate::dot) of two rows. Where one has more blocks it is cut.
    fn dot(self, a: &[[f64; LANES]], b: &[[f64; LANES]]) -> f64;

    /// `y += a x`, rounded twice. Where one has more blocks it is cut.
    fn axpy(self, a: f64, x: &[[f64; LANES]], y: &mut [[f64; LANES]]);

    /// The product of a row of single precision with weights of double precision: of four times as many running sums as
    /// [`dot`](crate::dot), so sooner, and rounded otherwise. Where one has more blocks it is cut.
    fn dot_single(self, x: &[[f32; LANES]], w: &[[f64; LANES]]) -> f64;

    /// `w += a x` for such a row and such weights, rounded twice. Where one has more blocks it is cut.
    fn axpy_single(self, a: f64, x: &[[f32; LANES]], w: &mut [[f64; LANES]]);
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
    fn dot_single(self, x: &[[f32; LANES]], w: &[[f64; LANES]]) -> f64 {
        let blocks = x.len().min(w.len());
        let (x_fours, x_rest) = x[..blocks].as_chunks::<4>();
        let (w_fours, w_rest) = w[..blocks].as_chunks::<4>();
        let mut sums = [self.splat(0.0); 4];
        for (x, w) in x_fours.iter().zip(w_fours) {
            for ((sum, x), w) in sums.iter_mut().zip(x).zip(w) {
                *sum = self.add_product(*sum, self.widen(x), self.load(w));
            }
        }
        let [mut sum, b, c, d] = sums;
        for (x, w) in x_rest.iter().zip(w_rest) {
            sum = self.add_product(sum, self.widen(x), self.load(w));
        }
        self.total(self.add(self.add(sum, b), self.add(c, d)))
    }

    #[inline(always)]
    fn axpy_single(self, a: f64, x: &[[f32; LANES]], w: &mut [[f64; LANES]]) {
        let a = self.splat(a);
        for (x, w) in x.iter().zip(w) {
            self.store(self.add_product(self.load(w), a, self.widen(x)), w);
        }
    }
}

/// A loop over rows of whole blocks: see [`run_blocks`].
pub trait BlockLoop {
    /// What comes out.
    type Output;

    /// The loop. `#[inline(always)]`, and all that it calls and that counts, closures too: what is not inlined is
    /// compiled without the instructions.
    fn run<B: BlockOps>(self, ops: B) -> Self::Output;
}

/// [`BlockLoop::run`] with the widest vectors that the processor has: they change no bit of the result.
///
/// ```
/// use halfspaces_kernels::{BlockLoop, BlockOps, LANES, dot, run_blocks};
///
/// /// w moved along x until x · w = 1.
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

    /// The same of a row of single precision.
    struct SingleStep<'a>(&'a [[f32; LANES]], &'a mut [[f64; LANES]]);

    impl BlockLoop for SingleStep<'_> {
        type Output = f64;

        #[inline(always)]
        fn run<B: BlockOps>(self, ops: B) -> f64 {
            let SingleStep(x, w) = self;
            let value = ops.dot_single(x, w);
            ops.axpy_single(0.3 * value, x, w);
            value
        }
    }

    proptest! {
        #[test]
        fn rows_of_single_precision_are_those_of_double_precision(
            (x_len, w_len) in (0..14usize, 0..14usize),
            x in numbers(14 * LANES),
            w in numbers(14 * LANES),
        ) {
            let x: Vec<f32> = x[..x_len * LANES].iter().map(|x| *x as f32).collect();
            let w = &w[..w_len * LANES];
            let pairs = || x.iter().map(|x| f64::from(*x)).zip(w);
            let scale: f64 = pairs().map(|(x, w)| (x * w).abs()).sum();
            let plain: f64 = pairs().map(|(x, w)| x * w).sum();
            let ends = on_all(|set| {
                let mut w = w.as_chunks().0.to_vec();
                let value = set.run(Whole(SingleStep(x.as_chunks().0, &mut w)));
                (value.to_bits(), w.as_flattened().to_vec())
            });
            for (value, end) in &ends {
                prop_assert_eq!(*value, ends[0].0);
                let value = f64::from_bits(*value);
                prop_assert!((value - plain).abs() <= 1e-14 * scale);
                let moved = |(i, w): (usize, &f64)| match x.get(i) {
                    Some(x) => w + 0.3 * value * f64::from(*x),
                    None => *w,
                };
                let expected: Vec<u64> = w.iter().enumerate().map(|w| moved(w).to_bits()).collect();
                prop_assert_eq!(end.iter().map(|w| w.to_bits()).collect::<Vec<_>>(), expected);
            }
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
