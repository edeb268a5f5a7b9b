//! Selects the widest vectors of the processor.

use crate::fused::{FusedLoop, Pair};
use crate::vectors::{Kernel, Portable, Vectors};

/// Runs the kernel with the widest vectors of the processor.
#[inline]
pub(crate) fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        use crate::x86::{Avx2, Avx512};
        if let Some(wide) = Avx512::detect() {
            return wide.run(kernel);
        }
        if let Some(wide) = Avx2::detect() {
            return wide.run(kernel);
        }
    }
    kernel.run(Portable)
}

/// Runs [`FusedLoop::run`] with the longest vectors of the processor. A loop that never combines lanes has the same
/// result with vectors of any length.
///
/// ```
/// use halfspaces_kernels::{Fused, FusedLoop, run_fused};
///
/// /// y += a x, each number rounded once.
/// struct AddMultiple<'a>(f64, &'a [f64; 16], &'a mut [f64; 16]);
///
/// impl FusedLoop for AddMultiple<'_> {
///     type Output = ();
///
///     #[inline(always)]
///     fn run<F: Fused>(self, f: F) {
///         let AddMultiple(a, x, y) = self;
///         let a = f.splat(a);
///         for (x, y) in x.chunks_exact(F::LANES).zip(y.chunks_exact_mut(F::LANES)) {
///             f.store(f.mul_add(a, f.load(x), f.load(y)), y);
///         }
///     }
/// }
///
/// let mut y = [1.0; 16];
/// run_fused(AddMultiple(2.0, &[3.0; 16], &mut y));
/// assert_eq!(y, [7.0; 16]);
/// ```
#[inline]
pub fn run_fused<L: FusedLoop>(work: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    {
        use crate::x86::{Avx2Fma, Avx512};
        if let Some(wide) = Avx512::detect() {
            return wide.run_fused(work);
        }
        if let Some(wide) = Avx2Fma::detect() {
            return wide.run_fused(work);
        }
    }
    work.run(Pair)
}

/// The name of the widest vectors that the loops use on this processor: "AVX-512", "AVX2", or "portable" for plain
/// arrays. Results do not depend on the width of the vectors.
///
/// ```
/// assert!(["AVX-512", "AVX2", "portable"].contains(&halfspaces_kernels::vectors()));
/// ```
#[must_use]
pub fn vectors() -> &'static str {
    struct Name;
    impl Kernel for Name {
        type Output = &'static str;

        #[inline(always)]
        fn run<V: Vectors>(self, _: V) -> &'static str {
            V::NAME
        }
    }
    dispatch(Name)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::plain::LANES;
    #[cfg(target_arch = "x86_64")]
    use crate::x86::{Avx2, Avx2Fma, Avx512};
    use proptest::prelude::*;

    /// An instruction set for running a kernel.
    pub(crate) enum Set {
        Portable(Portable),
        #[cfg(target_arch = "x86_64")]
        Avx2(Avx2),
        #[cfg(target_arch = "x86_64")]
        Avx512(Avx512),
        Dispatched,
    }

    impl Set {
        pub(crate) fn run<K: Kernel>(&self, kernel: K) -> K::Output {
            match self {
                Set::Portable(v) => kernel.run(*v),
                #[cfg(target_arch = "x86_64")]
                Set::Avx2(v) => v.run(kernel),
                #[cfg(target_arch = "x86_64")]
                Set::Avx512(v) => v.run(kernel),
                Set::Dispatched => dispatch(kernel),
            }
        }
    }

    /// The results with each instruction set that this processor supports.
    pub(crate) fn on_all<T>(answer: impl Fn(&Set) -> T) -> Vec<T> {
        let mut sets = vec![Set::Portable(Portable), Set::Dispatched];
        #[cfg(target_arch = "x86_64")]
        {
            sets.extend(Avx2::detect().map(Set::Avx2));
            sets.extend(Avx512::detect().map(Set::Avx512));
        }
        sets.iter().map(answer).collect()
    }

    /// The results of a fused loop with each kind of vector that this processor supports.
    pub(crate) fn fused_on_all<L: FusedLoop>(work: impl Fn() -> L) -> Vec<L::Output> {
        let mut answers = vec![work().run(Pair), run_fused(work())];
        #[cfg(target_arch = "x86_64")]
        {
            answers.extend(Avx2Fma::detect().map(|v| v.run_fused(work())));
            answers.extend(Avx512::detect().map(|v| v.run_fused(work())));
        }
        answers
    }

    /// Random numbers, including zeros of both signs.
    pub(crate) fn numbers(count: usize) -> impl Strategy<Value = Vec<f64>> {
        let number = prop_oneof![6 => -1e3..1e3f64, 1 => Just(0.0), 1 => Just(-0.0)];
        prop::collection::vec(number, count)
    }

    /// Partial loads and stores of every length, at every position of a buffer, leave the surrounding values unchanged.
    #[test]
    fn parts_are_read_and_written_to_their_end() {
        struct Copy<'a>(&'a [f64], &'a mut [f64]);
        impl Kernel for Copy<'_> {
            type Output = f64;

            #[inline(always)]
            fn run<V: Vectors>(self, v: V) -> f64 {
                let part = v.load_part(self.0);
                v.store_part(part, self.1);
                v.total(part)
            }
        }
        let from: Vec<f64> = (1..=24).map(f64::from).collect();
        for begin in 0..9 {
            for len in 0..12 {
                let part = &from[begin..begin + len];
                let sum = part.iter().take(LANES).fold(0.0, |sum, v| sum + v);
                for room in 0..12 {
                    let answers = on_all(|set| {
                        let mut to = [-1.0; 24];
                        let total = set.run(Copy(part, &mut to[begin..begin + room]));
                        assert_eq!(total.to_bits(), sum.to_bits());
                        to
                    });
                    for to in answers {
                        for (at, value) in to.iter().enumerate() {
                            let lane = at.checked_sub(begin).filter(|l| *l < room.min(LANES));
                            let expected = lane.map_or(-1.0, |l| *part.get(l).unwrap_or(&0.0));
                            assert_eq!(
                                value.to_bits(),
                                expected.to_bits(),
                                "{begin} {len} {room} {at}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_widest_vectors_are_those_of_the_processor() {
        #[cfg(target_arch = "x86_64")]
        let widest = match (is_x86_feature_detected!("avx2"), is_x86_feature_detected!("avx512f")) {
            (true, true) => "AVX-512",
            (true, false) => "AVX2",
            (false, _) => "portable",
        };
        #[cfg(not(target_arch = "x86_64"))]
        let widest = "portable";
        assert_eq!(vectors(), widest);
    }
}
