//! Eight numbers at once, in whatever registers there are.

use crate::plain::{LANES, SINGLE_LANES, add_lanes};

/// How far ahead of the row at hand rows are fetched. From memory, passes are equally fast from 2 to 8 KB; from the
/// last cache, faster the further.
pub(crate) const AHEAD_BYTES: usize = 3072;

/// A set of instructions: whoever holds a value of it knows that the processor has them.
pub(crate) trait Vectors: Copy {
    /// [`LANES`] numbers.
    type Eight: Copy;

    /// [`SINGLE_LANES`] numbers of single precision.
    type Sixteen: Copy;

    const NAME: &'static str;

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

    fn splat_single(self, value: f32) -> Self::Sixteen;

    fn load_single(self, values: &[f32; SINGLE_LANES]) -> Self::Sixteen;

    /// Whole numbers, as they are.
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

    /// All lanes added: halves to halves, until one is left.
    fn total_single(self, sixteen: Self::Sixteen) -> f32;

    /// Asks for the cache line `bytes` behind the first of `values`, which need not be theirs.
    fn fetch(self, values: &[f64], bytes: usize);
}

/// A loop to be compiled for every set of instructions.
pub(crate) trait Kernel {
    type Output;

    /// Always inline, with all it calls, closures too: what is not inlined is compiled without the instructions, and
    /// several times as slow. `cargo xtask instructions` shows it.
    fn run<V: Vectors>(self, v: V) -> Self::Output;
}

/// Arrays, which the compiler puts into the vectors that every processor of the kind has.
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
    fn fetch(self, _: &[f64], _: usize) {}
}

/// What the loops are made of.
pub(crate) trait Blocks: Vectors {
    /// Up to `BLOCKS * LANES` numbers, the last block filled up with zeros.
    #[inline(always)]
    fn hold<const BLOCKS: usize>(self, values: &[f64]) -> [Self::Eight; BLOCKS] {
        let (whole, rest) = values.split_at(LANES * (BLOCKS - 1));
        let whole = whole.as_chunks().0;
        let mut held = [self.load_part(rest); BLOCKS];
        for (eight, block) in held.iter_mut().zip(whole) {
            *eight = self.load(block);
        }
        held
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

    /// The same in single precision.
    #[inline(always)]
    fn add_product_single(
        self,
        sum: Self::Sixteen,
        a: Self::Sixteen,
        b: Self::Sixteen,
    ) -> Self::Sixteen {
        self.add_single(sum, self.mul_single(a, b))
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
