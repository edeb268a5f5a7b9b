//! Eight numbers at once, in whatever registers there are.

use crate::plain::{LANES, add_lanes};

/// How far ahead of the row at hand rows are fetched. From memory, passes are equally fast from 2 to 8 KB; from the
/// last cache, faster the further.
const AHEAD_BYTES: usize = 8192;

/// A set of instructions: whoever holds a value of it knows that the processor has them.
pub(crate) trait Vectors: Copy {
    /// [`LANES`] numbers.
    type Eight: Copy;

    /// The same number in every lane.
    fn splat(self, value: f64) -> Self::Eight;

    fn load(self, values: &[f64; LANES]) -> Self::Eight;

    /// The first [`LANES`] of `values`, zeros where there are fewer.
    fn load_part(self, values: &[f64]) -> Self::Eight;

    fn store(self, eight: Self::Eight, values: &mut [f64; LANES]);

    /// As many as `values` has room for.
    fn store_part(self, eight: Self::Eight, values: &mut [f64]);

    fn add(self, a: Self::Eight, b: Self::Eight) -> Self::Eight;

    fn mul(self, a: Self::Eight, b: Self::Eight) -> Self::Eight;

    /// All lanes added, in the order of [`add_lanes`].
    fn total(self, eight: Self::Eight) -> f64;

    /// Asks for the cache line `bytes` behind the first of `values`, which need not be theirs.
    fn fetch(self, values: &[f64], bytes: usize);
}

/// A loop to be compiled for every set of instructions.
pub(crate) trait Kernel {
    type Output;

    /// Always inline, with all it calls: what is not inlined is compiled without the instructions.
    fn run<V: Vectors>(self, v: V) -> Self::Output;
}

/// Runs the kernel with the widest vectors that the processor has.
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

/// Arrays, which the compiler puts into the vectors that every processor of the kind has.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Vectors for Portable {
    type Eight = [f64; LANES];

    #[inline(always)]
    fn splat(self, value: f64) -> Self::Eight {
        [value; LANES]
    }

    #[inline(always)]
    fn load(self, values: &[f64; LANES]) -> Self::Eight {
        *values
    }

    #[inline(always)]
    fn load_part(self, values: &[f64]) -> Self::Eight {
        let mut eight = [0.0; LANES];
        eight.iter_mut().zip(values).for_each(|(to, from)| *to = *from);
        eight
    }

    #[inline(always)]
    fn store(self, eight: Self::Eight, values: &mut [f64; LANES]) {
        *values = eight;
    }

    #[inline(always)]
    fn store_part(self, eight: Self::Eight, values: &mut [f64]) {
        values.iter_mut().zip(eight).for_each(|(to, from)| *to = from);
    }

    #[inline(always)]
    fn add(self, a: Self::Eight, b: Self::Eight) -> Self::Eight {
        std::array::from_fn(|lane| a[lane] + b[lane])
    }

    #[inline(always)]
    fn mul(self, a: Self::Eight, b: Self::Eight) -> Self::Eight {
        std::array::from_fn(|lane| a[lane] * b[lane])
    }

    #[inline(always)]
    fn total(self, eight: Self::Eight) -> f64 {
        add_lanes(eight)
    }

    #[inline(always)]
    fn fetch(self, _: &[f64], _: usize) {}
}

/// What the loops are made of.
pub(crate) trait Blocks: Vectors {
    /// Up to `BLOCKS * LANES` numbers, the last block filled up with zeros.
    #[inline(always)]
    fn hold<const BLOCKS: usize>(self, values: &[f64]) -> [Self::Eight; BLOCKS] {
        let (whole, rest) = values.split_at(LANES * (BLOCKS - 1));
        let whole = whole.as_chunks().0;
        std::array::from_fn(|i| match whole.get(i) {
            Some(block) => self.load(block),
            None => self.load_part(rest),
        })
    }

    /// [`Blocks::hold`] backwards.
    #[inline(always)]
    fn release<const BLOCKS: usize>(self, held: [Self::Eight; BLOCKS], values: &mut [f64]) {
        let (whole, rest) = values.split_at_mut(LANES * (BLOCKS - 1));
        for (eight, block) in held.iter().zip(whole.as_chunks_mut().0) {
            self.store(*eight, block);
        }
        self.store_part(held[BLOCKS - 1], rest);
    }

    /// Asks for a row's worth of memory ahead of `row`.
    #[inline(always)]
    fn fetch_ahead<const BLOCKS: usize>(self, row: &[f64]) {
        for block in 0..BLOCKS {
            self.fetch(row, AHEAD_BYTES + block * size_of::<[f64; LANES]>());
        }
    }

    /// `sum + a b` lane by lane, rounded twice.
    #[inline(always)]
    fn add_product(self, sum: Self::Eight, a: Self::Eight, b: Self::Eight) -> Self::Eight {
        self.add(sum, self.mul(a, b))
    }

    /// The inner product of what is held: adding the product ± 0 of zeros that fill a block changes no running
    /// sum, as none is -0.
    #[inline(always)]
    fn held_dot<const BLOCKS: usize>(
        self,
        a: &[Self::Eight; BLOCKS],
        b: &[Self::Eight; BLOCKS],
    ) -> f64 {
        let mut sums = self.splat(0.0);
        for (a, b) in a.iter().zip(b) {
            sums = self.add_product(sums, *a, *b);
        }
        self.total(sums)
    }

    /// The block that begins `block`, with the one [`AHEAD_BYTES`] behind it asked for.
    #[inline(always)]
    fn load_and_fetch(self, block: &[f64; LANES]) -> Self::Eight {
        self.fetch(block, AHEAD_BYTES);
        self.load(block)
    }

    /// The same of what is left of a row behind its whole blocks.
    #[inline(always)]
    fn load_part_and_fetch(self, rest: &[f64]) -> Self::Eight {
        self.fetch(rest, AHEAD_BYTES);
        self.load_part(rest)
    }
}

impl<V: Vectors> Blocks for V {}

/// Runs `$held::<V, BLOCKS>` where a row of `$dim` coordinates has at most eight blocks, so that w stays in
/// registers, else `$long`.
macro_rules! by_blocks {
    ($dim:expr, $held:ident, $long:ident, $($argument:expr),*) => {
        match $dim.div_ceil(LANES) {
            1 => $held::<V, _, 1>($($argument),*),
            2 => $held::<V, _, 2>($($argument),*),
            3 => $held::<V, _, 3>($($argument),*),
            4 => $held::<V, _, 4>($($argument),*),
            5 => $held::<V, _, 5>($($argument),*),
            6 => $held::<V, _, 6>($($argument),*),
            7 => $held::<V, _, 7>($($argument),*),
            8 => $held::<V, _, 8>($($argument),*),
            _ => $long::<V, _>($($argument),*),
        }
    };
}
pub(crate) use by_blocks;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    #[cfg(target_arch = "x86_64")]
    use crate::x86::{Avx2, Avx512};
    use proptest::prelude::*;

    /// A set of instructions to run a kernel with.
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

    /// The answers with each set that this processor has.
    pub(crate) fn on_all<T>(answer: impl Fn(&Set) -> T) -> Vec<T> {
        let mut sets = vec![Set::Portable(Portable), Set::Dispatched];
        #[cfg(target_arch = "x86_64")]
        {
            sets.extend(Avx2::detect().map(Set::Avx2));
            sets.extend(Avx512::detect().map(Set::Avx512));
        }
        sets.iter().map(answer).collect()
    }

    /// Numbers among which there are zeros of both signs.
    pub(crate) fn numbers(count: usize) -> impl Strategy<Value = Vec<f64>> {
        let number = prop_oneof![6 => -1e3..1e3f64, 1 => Just(0.0), 1 => Just(-0.0)];
        prop::collection::vec(number, count)
    }

    /// Parts of every length, at every place of a buffer, leave what stands around them alone.
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
}
