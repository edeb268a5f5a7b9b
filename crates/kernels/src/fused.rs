//! Loops over vectors of any length, with fused multiply-add.

/// Vectors of `f64` as wide as the registers of the processor. A value of this type proves that the processor supports
/// these vectors.
pub trait Fused: Copy {
    /// Number of lanes of a vector.
    const LANES: usize;
    /// The vector type.
    type Vector: Copy;

    /// A vector with the same number in every lane.
    fn splat(self, value: f64) -> Self::Vector;

    /// Loads the first [`Fused::LANES`] values of `values`.
    ///
    /// # Panics
    /// Panics if there are fewer than [`Fused::LANES`] values.
    fn load(self, values: &[f64]) -> Self::Vector;

    /// Stores the vector in the first [`Fused::LANES`] elements of `values`.
    ///
    /// # Panics
    /// Panics if there are fewer than [`Fused::LANES`] elements.
    fn store(self, vector: Self::Vector, values: &mut [f64]);

    /// a + b, lane by lane.
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// a b, lane by lane.
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// a b + c, lane by lane, rounded once.
    fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
}

/// A loop over vectors of a type that implements [`Fused`]; see [`run_fused`](crate::run_fused).
pub trait FusedLoop {
    /// The result of the loop.
    type Output;

    /// Runs the loop. This method and every speed-critical function and closure that it calls must be
    /// `#[inline(always)]`: a function that is not inlined is compiled without the vector instructions.
    fn run<F: Fused>(self, vectors: F) -> Self::Output;
}

/// Vectors of two numbers. The compiler uses vector instructions if it knows that the processor supports fused
/// multiply-add; otherwise the standard library computes the result with a single rounding, which is slow.
#[derive(Debug, Clone, Copy)]
pub struct Pair;

impl Fused for Pair {
    const LANES: usize = 2;
    type Vector = [f64; 2];

    #[inline(always)]
    fn splat(self, value: f64) -> [f64; 2] {
        [value; 2]
    }

    #[inline(always)]
    fn load(self, values: &[f64]) -> [f64; 2] {
        [values[0], values[1]]
    }

    #[inline(always)]
    fn store(self, vector: [f64; 2], values: &mut [f64]) {
        values[..2].copy_from_slice(&vector);
    }

    #[inline(always)]
    fn add(self, a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
        [a[0] + b[0], a[1] + b[1]]
    }

    #[inline(always)]
    fn mul(self, a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
        [a[0] * b[0], a[1] * b[1]]
    }

    #[inline(always)]
    fn mul_add(self, a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> [f64; 2] {
        [a[0].mul_add(b[0], c[0]), a[1].mul_add(b[1], c[1])]
    }
}

/// The vector at the start of `values`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn first<const N: usize>(values: &[f64]) -> &[f64; N] {
    let Some(first) = values.first_chunk() else {
        unreachable!("the slice has at least as many numbers as the vector has lanes")
    };
    first
}

/// The mutable version of [`first`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn first_mut<const N: usize>(values: &mut [f64]) -> &mut [f64; N] {
    let Some(first) = values.first_chunk_mut() else {
        unreachable!("the slice has at least as many numbers as the vector has lanes")
    };
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::run_fused;
    use crate::dispatch::tests::{fused_on_all, numbers};
    #[cfg(target_arch = "x86_64")]
    use crate::x86::Avx2Fma;
    use proptest::prelude::*;

    /// For each vector of columns, adds 0.5, the current value and Σ a x over all rows x. Then multiplies the current
    /// value by this sum.
    struct Multiples<'a> {
        rows: &'a [f64],
        factors: &'a [f64],
        out: Vec<f64>,
    }

    impl FusedLoop for Multiples<'_> {
        type Output = Vec<f64>;

        #[inline(always)]
        fn run<F: Fused>(mut self, f: F) -> Vec<f64> {
            let width = self.out.len();
            for first in (0..width).step_by(F::LANES) {
                let mut sum = f.splat(0.5);
                for (a, x) in self.factors.iter().zip(self.rows.chunks_exact(width)) {
                    sum = f.mul_add(f.splat(*a), f.load(&x[first..]), sum);
                }
                let out = &mut self.out[first..];
                f.store(f.mul(f.load(out), f.add(f.load(out), sum)), out);
            }
            self.out
        }
    }

    proptest! {
        #[test]
        fn lanes_are_numbers_one_by_one(
            width in (1..6usize).prop_map(|v| 8 * v),
            values in numbers(600),
            factors in numbers(12),
            out in numbers(48),
        ) {
            let (rows, out) = (&values[..], out[..width].to_vec());
            let expected: Vec<u64> = (0..width)
                .map(|j| {
                    let rows = rows.chunks_exact(width);
                    let sum = factors.iter().zip(rows).fold(0.5, |sum, (a, x)| a.mul_add(x[j], sum));
                    (out[j] * (out[j] + sum)).to_bits()
                })
                .collect();
            for answer in fused_on_all(|| Multiples { rows, factors: &factors, out: out.clone() }) {
                let bits: Vec<u64> = answer.iter().map(|v| v.to_bits()).collect();
                prop_assert_eq!(&bits, &expected);
            }
        }
    }

    /// Slices that are too short for a vector are rejected; nothing is read beyond their end.
    #[test]
    fn short_slices_are_refused() {
        struct Short(bool);
        impl FusedLoop for Short {
            type Output = ();

            #[inline(always)]
            fn run<F: Fused>(self, f: F) {
                let mut values = [0.0; 8];
                let short = &mut values[..F::LANES - 1];
                if self.0 {
                    f.store(f.splat(1.0), short);
                } else {
                    std::hint::black_box(f.add(f.load(short), f.splat(1.0)));
                }
            }
        }
        let refuses = |work: fn()| std::panic::catch_unwind(work).is_err();
        assert!(refuses(|| Short(true).run(Pair)) && refuses(|| Short(false).run(Pair)));
        assert!(refuses(|| run_fused(Short(true))) && refuses(|| run_fused(Short(false))));
        #[cfg(target_arch = "x86_64")]
        if Avx2Fma::detect().is_some() {
            let on = |stores| {
                if let Some(v) = Avx2Fma::detect() {
                    v.run_fused(Short(stores));
                }
            };
            assert!(std::panic::catch_unwind(|| on(true)).is_err());
            assert!(std::panic::catch_unwind(|| on(false)).is_err());
        }
    }
}
