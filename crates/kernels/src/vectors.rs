//! Vectors of eight numbers, stored in the registers that the processor provides.

use crate::plain::{LANES, SINGLE_LANES, add_lanes};

/// The distance, in bytes, between the current row and the row that is prefetched. For data in main memory, passes are
/// equally fast for distances of 2 to 8 KB. For data in the last-level cache, larger distances are faster.
pub(crate) const AHEAD_BYTES: usize = 3072;

/// An instruction set. A value of this type proves that the processor supports it.
pub(crate) trait Vectors: Copy {
    /// A vector of [`LANES`] numbers.
    type Eight: Copy;

    /// A vector of [`SINGLE_LANES`] single-precision numbers.
    type Sixteen: Copy;

    const NAME: &'static str;

    /// A vector with the same number in every lane.
    fn splat(self, value: f64) -> Self::Eight;

    fn load(self, values: &[f64; LANES]) -> Self::Eight;

    /// Loads the first [`LANES`] numbers of `values`, padded with zeros if there are fewer.
    fn load_part(self, values: &[f64]) -> Self::Eight;

    fn store(self, eight: Self::Eight, values: &mut [f64; LANES]);

    /// Stores the first `values.len()` lanes.
    fn store_part(self, eight: Self::Eight, values: &mut [f64]);

    fn add(self, a: Self::Eight, b: Self::Eight) -> Self::Eight;

    fn mul(self, a: Self::Eight, b: Self::Eight) -> Self::Eight;

    /// The sum of all lanes, added in the order of [`add_lanes`].
    fn total(self, eight: Self::Eight) -> f64;

    fn splat_single(self, value: f32) -> Self::Sixteen;

    fn load_single(self, values: &[f32; SINGLE_LANES]) -> Self::Sixteen;

    /// Loads integers, converted to single precision.
    #[inline(always)]
    fn load_short(self, values: &[i16; SINGLE_LANES]) -> Self::Sixteen {
        let mut single = [0.0; SINGLE_LANES];
        for (to, from) in single.iter_mut().zip(values) {
            *to = f32::from(*from);
        }
        self.load_single(&single)
    }

    fn store_single(self, sixteen: Self::Sixteen, values: &mut [f32; SINGLE_LANES]);

    fn add_single(self, a: Self::Sixteen, b: Self::Sixteen) -> Self::Sixteen;

    fn mul_single(self, a: Self::Sixteen, b: Self::Sixteen) -> Self::Sixteen;

    /// The sum of all lanes: the upper half is added to the lower half until one lane is left.
    fn total_single(self, sixteen: Self::Sixteen) -> f32;

    /// Prefetches the cache line that lies `bytes` bytes after the start of `values`; the line need not belong to
    /// `values`.
    fn prefetch(self, values: &[f64], bytes: usize);
}

/// A loop that is compiled for every instruction set.
pub(crate) trait Kernel {
    type Output;

    /// Runs the loop. This method must be inlined with all functions and closures that it calls: a function that is not
    /// inlined is compiled without the vector instructions and is several times slower. `cargo xtask instructions`
    /// detects this.
    fn run<V: Vectors>(self, v: V) -> Self::Output;
}

/// Plain arrays. The compiler puts them into the vector registers that every processor of the architecture has.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Vectors for Portable {
    type Eight = [f64; LANES];

    type Sixteen = [f32; SINGLE_LANES];

    const NAME: &'static str = "portable";

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
        for (to, from) in eight.iter_mut().zip(values) {
            *to = *from;
        }
        eight
    }

    #[inline(always)]
    fn store(self, eight: Self::Eight, values: &mut [f64; LANES]) {
        *values = eight;
    }

    #[inline(always)]
    fn store_part(self, eight: Self::Eight, values: &mut [f64]) {
        for (to, from) in values.iter_mut().zip(eight) {
            *to = from;
        }
    }

    #[inline(always)]
    fn add(self, a: Self::Eight, b: Self::Eight) -> Self::Eight {
        let mut sums = a;
        for (s, b) in sums.iter_mut().zip(b) {
            *s += b;
        }
        sums
    }

    #[inline(always)]
    fn mul(self, a: Self::Eight, b: Self::Eight) -> Self::Eight {
        let mut products = a;
        for (p, b) in products.iter_mut().zip(b) {
            *p *= b;
        }
        products
    }

    #[inline(always)]
    fn total(self, eight: Self::Eight) -> f64 {
        add_lanes(eight)
    }

    #[inline(always)]
    fn splat_single(self, value: f32) -> Self::Sixteen {
        [value; SINGLE_LANES]
    }

    #[inline(always)]
    fn load_single(self, values: &[f32; SINGLE_LANES]) -> Self::Sixteen {
        *values
    }

    #[inline(always)]
    fn store_single(self, sixteen: Self::Sixteen, values: &mut [f32; SINGLE_LANES]) {
        *values = sixteen;
    }

    #[inline(always)]
    fn add_single(self, a: Self::Sixteen, b: Self::Sixteen) -> Self::Sixteen {
        let mut sums = a;
        for (s, b) in sums.iter_mut().zip(b) {
            *s += b;
        }
        sums
    }

    #[inline(always)]
    fn mul_single(self, a: Self::Sixteen, b: Self::Sixteen) -> Self::Sixteen {
        let mut products = a;
        for (p, b) in products.iter_mut().zip(b) {
            *p *= b;
        }
        products
    }

    #[inline(always)]
    fn total_single(self, mut sixteen: Self::Sixteen) -> f32 {
        let mut half = SINGLE_LANES / 2;
        while half > 0 {
            for lane in 0..half {
                sixteen[lane] += sixteen[lane + half];
            }
            half /= 2;
        }
        sixteen[0]
    }

    #[inline(always)]
    fn prefetch(self, _: &[f64], _: usize) {}
}

/// Operations from which the loops are built.
pub(crate) trait Blocks: Vectors {
    /// Loads up to `BLOCKS * LANES` numbers; the last block is padded with zeros.
    #[inline(always)]
    fn hold<const BLOCKS: usize>(self, values: &[f64]) -> [Self::Eight; BLOCKS] {
        let (whole, rest) = values.split_at(LANES * (BLOCKS - 1));
        let whole = whole.as_chunks().0;
        let mut blocks = [self.load_part(rest); BLOCKS];
        for (eight, block) in blocks.iter_mut().zip(whole) {
            *eight = self.load(block);
        }
        blocks
    }

    /// Stores blocks that were loaded by [`Blocks::hold`].
    #[inline(always)]
    fn release<const BLOCKS: usize>(self, blocks: [Self::Eight; BLOCKS], values: &mut [f64]) {
        let (whole, rest) = values.split_at_mut(LANES * (BLOCKS - 1));
        for (eight, block) in blocks.iter().zip(whole.as_chunks_mut().0) {
            self.store(*eight, block);
        }
        self.store_part(blocks[BLOCKS - 1], rest);
    }

    /// Prefetches memory of the size of one row, ahead of `row`.
    #[inline(always)]
    fn prefetch_row_ahead<const BLOCKS: usize>(self, row: &[f64]) {
        for block in 0..BLOCKS {
            self.prefetch(row, AHEAD_BYTES + block * size_of::<[f64; LANES]>());
        }
    }

    /// `sum + a b` lane by lane, rounded twice.
    #[inline(always)]
    fn add_product(self, sum: Self::Eight, a: Self::Eight, b: Self::Eight) -> Self::Eight {
        self.add(sum, self.mul(a, b))
    }

    /// The single-precision version of [`Blocks::add_product`].
    #[inline(always)]
    fn add_product_single(
        self,
        sum: Self::Sixteen,
        a: Self::Sixteen,
        b: Self::Sixteen,
    ) -> Self::Sixteen {
        self.add_single(sum, self.mul_single(a, b))
    }

    /// The inner product of loaded blocks. Padding zeros add products ± 0, which change no running sum because no sum
    /// is -0.
    #[inline(always)]
    fn dot_of_blocks<const BLOCKS: usize>(
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

    /// Loads `block` and prefetches the block that lies [`AHEAD_BYTES`] bytes after it.
    #[inline(always)]
    fn load_and_prefetch(self, block: &[f64; LANES]) -> Self::Eight {
        self.prefetch(block, AHEAD_BYTES);
        self.load(block)
    }

    /// Loads the remainder of a row, which follows its whole blocks. Prefetches in the same way as
    /// [`Blocks::load_and_prefetch`].
    #[inline(always)]
    fn load_part_and_prefetch(self, rest: &[f64]) -> Self::Eight {
        self.prefetch(rest, AHEAD_BYTES);
        self.load_part(rest)
    }
}

impl<V: Vectors> Blocks for V {}

/// Runs `$in_registers::<V, BLOCKS>` if a row of `$dim` coordinates has at most eight blocks, so that w stays in
/// registers. Otherwise runs `$in_memory`.
macro_rules! by_blocks {
    ($dim:expr, $in_registers:ident, $in_memory:ident, $($argument:expr),*) => {
        match $dim.div_ceil(LANES) {
            1 => $in_registers::<V, _, 1>($($argument),*),
            2 => $in_registers::<V, _, 2>($($argument),*),
            3 => $in_registers::<V, _, 3>($($argument),*),
            4 => $in_registers::<V, _, 4>($($argument),*),
            5 => $in_registers::<V, _, 5>($($argument),*),
            6 => $in_registers::<V, _, 6>($($argument),*),
            7 => $in_registers::<V, _, 7>($($argument),*),
            8 => $in_registers::<V, _, 8>($($argument),*),
            _ => $in_memory::<V, _>($($argument),*),
        }
    };
}
pub(crate) use by_blocks;
