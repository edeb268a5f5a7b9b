//! AVX2 and AVX-512.
//!
//! Only `detect` creates a value of [`Avx2`], [`Avx2Fma`] or [`Avx512`], and only on a processor that supports the
//! instructions. Every method takes such a value, so it may use the instructions. The safety comments below refer to
//! this argument as "the processor supports the instructions".

use crate::cache_level::CacheLevel;
use crate::fused::{Fused, FusedLoop, first, first_mut};
use crate::plain::{LANES, SINGLE_LANES};
use crate::vectors::{Kernel, Vectors};
use std::arch::x86_64::*;

/// Prefetches the cache line that lies `bytes` bytes after the start of `values` into the cache of `level`.
#[inline(always)]
pub(crate) fn prefetch<T>(level: CacheLevel, values: &[T], bytes: usize) {
    let at = values.as_ptr().cast::<i8>().wrapping_add(bytes);
    match level {
        // SAFETY: a prefetch neither reads nor writes and cannot fault at any address; the instruction belongs to SSE,
        // which every x86-64 processor has.
        CacheLevel::First => unsafe { _mm_prefetch::<_MM_HINT_T0>(at) },
        // SAFETY: as above.
        CacheLevel::Second => unsafe { _mm_prefetch::<_MM_HINT_T1>(at) },
    }
}

/// The instructions AVX and AVX2.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(CacheLevel);

impl Avx2 {
    #[inline]
    pub(crate) fn detect() -> Option<Avx2> {
        is_x86_feature_detected!("avx2").then(|| Avx2(CacheLevel::detect()))
    }

    /// Runs the kernel, compiled for AVX and AVX2.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2")]
        fn compiled<K: Kernel>(v: Avx2, kernel: K) -> K::Output {
            kernel.run(v)
        }
        // SAFETY: the processor supports the instructions.
        unsafe { compiled(self, kernel) }
    }

    /// A mask with all ones in the first `len` of four lanes and zeros in the other lanes.
    #[inline(always)]
    fn mask(self, len: usize) -> __m256i {
        const ONES_THEN_ZEROS: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];
        let from = 4 - len.min(4);
        let lanes: &[i64; 4] = match ONES_THEN_ZEROS[from..].first_chunk() {
            Some(lanes) => lanes,
            None => unreachable!("from is at most 4"),
        };
        // SAFETY: the processor supports the instructions, and exactly the 32 bytes of `lanes` are read, at any
        // alignment.
        unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
    }
}

impl Vectors for Avx2 {
    type Eight = [__m256d; 2];

    type Sixteen = [__m256; 2];

    const NAME: &'static str = "AVX2";

    #[inline(always)]
    fn splat(self, value: f64) -> Self::Eight {
        // SAFETY: the processor supports the instructions.
        [unsafe { _mm256_set1_pd(value) }; 2]
    }

    #[inline(always)]
    fn load(self, values: &[f64; LANES]) -> Self::Eight {
        let (low, high) = values.split_at(4);
        // SAFETY: the processor supports the instructions, and exactly the four numbers of `low` are read, at any
        // alignment.
        let a = unsafe { _mm256_loadu_pd(low.as_ptr()) };
        // SAFETY: as above, for `high`.
        let b = unsafe { _mm256_loadu_pd(high.as_ptr()) };
        [a, b]
    }

    #[inline(always)]
    fn load_part(self, values: &[f64]) -> Self::Eight {
        let (low, high) = values.split_at(values.len().min(4));
        [self.load_four(low), self.load_four(high)]
    }

    #[inline(always)]
    fn store(self, [a, b]: Self::Eight, values: &mut [f64; LANES]) {
        let (low, high) = values.split_at_mut(4);
        // SAFETY: the processor supports the instructions, and exactly the four numbers of `low` are written, at any
        // alignment.
        unsafe { _mm256_storeu_pd(low.as_mut_ptr(), a) };
        // SAFETY: as above, for `high`.
        unsafe { _mm256_storeu_pd(high.as_mut_ptr(), b) };
    }

    #[inline(always)]
    fn store_part(self, [a, b]: Self::Eight, values: &mut [f64]) {
        let (low, high) = values.split_at_mut(values.len().min(4));
        self.store_four(a, low);
        self.store_four(b, high);
    }

    #[inline(always)]
    fn add(self, a: Self::Eight, b: Self::Eight) -> Self::Eight {
        // SAFETY: the processor supports the instructions.
        let low = unsafe { _mm256_add_pd(a[0], b[0]) };
        // SAFETY: as above.
        let high = unsafe { _mm256_add_pd(a[1], b[1]) };
        [low, high]
    }

    #[inline(always)]
    fn mul(self, a: Self::Eight, b: Self::Eight) -> Self::Eight {
        // SAFETY: the processor supports the instructions.
        let low = unsafe { _mm256_mul_pd(a[0], b[0]) };
        // SAFETY: as above.
        let high = unsafe { _mm256_mul_pd(a[1], b[1]) };
        [low, high]
    }

    #[inline(always)]
    fn total(self, [low, high]: Self::Eight) -> f64 {
        // SAFETY: the processor supports the instructions.
        self.total_of_four(unsafe { _mm256_add_pd(low, high) })
    }

    #[inline(always)]
    fn splat_single(self, value: f32) -> Self::Sixteen {
        // SAFETY: the processor supports the instructions.
        [unsafe { _mm256_set1_ps(value) }; 2]
    }

    #[inline(always)]
    fn load_single(self, values: &[f32; SINGLE_LANES]) -> Self::Sixteen {
        let (low, high) = values.split_at(LANES);
        // SAFETY: the processor supports the instructions, and exactly the eight numbers of `low` are read, at any
        // alignment.
        let a = unsafe { _mm256_loadu_ps(low.as_ptr()) };
        // SAFETY: as above, for `high`.
        let b = unsafe { _mm256_loadu_ps(high.as_ptr()) };
        [a, b]
    }

    #[inline(always)]
    fn store_single(self, [a, b]: Self::Sixteen, values: &mut [f32; SINGLE_LANES]) {
        let (low, high) = values.split_at_mut(LANES);
        // SAFETY: the processor supports the instructions, and exactly the eight numbers of `low` are written, at any
        // alignment.
        unsafe { _mm256_storeu_ps(low.as_mut_ptr(), a) };
        // SAFETY: as above, for `high`.
        unsafe { _mm256_storeu_ps(high.as_mut_ptr(), b) };
    }

    #[inline(always)]
    fn add_single(self, a: Self::Sixteen, b: Self::Sixteen) -> Self::Sixteen {
        // SAFETY: the processor supports the instructions.
        let low = unsafe { _mm256_add_ps(a[0], b[0]) };
        // SAFETY: as above.
        let high = unsafe { _mm256_add_ps(a[1], b[1]) };
        [low, high]
    }

    #[inline(always)]
    fn mul_single(self, a: Self::Sixteen, b: Self::Sixteen) -> Self::Sixteen {
        // SAFETY: the processor supports the instructions.
        let low = unsafe { _mm256_mul_ps(a[0], b[0]) };
        // SAFETY: as above.
        let high = unsafe { _mm256_mul_ps(a[1], b[1]) };
        [low, high]
    }

    #[inline(always)]
    fn total_single(self, [low, high]: Self::Sixteen) -> f32 {
        // SAFETY: the processor supports the instructions used here and in the next two statements.
        let eight = unsafe { _mm256_add_ps(low, high) };
        // SAFETY: as above.
        let high = unsafe { _mm256_extractf128_ps::<1>(eight) };
        // SAFETY: as above.
        let low = unsafe { _mm256_castps256_ps128(eight) };
        // SAFETY: every x86-64 processor has SSE, whose instructions are used from here to the end of the function.
        let four = unsafe { _mm_add_ps(low, high) };
        // SAFETY: as above.
        let high = unsafe { _mm_movehl_ps(four, four) };
        // SAFETY: as above.
        let two = unsafe { _mm_add_ps(four, high) };
        // SAFETY: as above.
        let odd = unsafe { _mm_shuffle_ps::<1>(two, two) };
        // SAFETY: as above.
        let sum = unsafe { _mm_add_ss(two, odd) };
        // SAFETY: as above.
        unsafe { _mm_cvtss_f32(sum) }
    }

    #[inline(always)]
    fn prefetch(self, values: &[f64], bytes: usize) {
        prefetch(self.0, values, bytes);
    }
}

impl Avx2 {
    #[inline(always)]
    fn load_four(self, values: &[f64]) -> __m256d {
        let mask = self.mask(values.len());
        // SAFETY: the processor supports the instructions. The lanes outside the mask are not read, and the lanes
        // inside it are among the first four numbers of `values`.
        unsafe { _mm256_maskload_pd(values.as_ptr(), mask) }
    }

    #[inline(always)]
    fn store_four(self, four: __m256d, values: &mut [f64]) {
        let mask = self.mask(values.len());
        // SAFETY: the processor supports the instructions. The lanes outside the mask are not written, and the lanes
        // inside it are among the first four numbers of `values`.
        unsafe { _mm256_maskstore_pd(values.as_mut_ptr(), mask, four) }
    }

    /// The sum (0 + 2) + (1 + 3) of the lanes.
    #[inline(always)]
    fn total_of_four(self, four: __m256d) -> f64 {
        // SAFETY: the processor supports the instructions.
        let high = unsafe { _mm256_extractf128_pd::<1>(four) };
        // SAFETY: the processor supports the instructions.
        let low = unsafe { _mm256_castpd256_pd128(four) };
        // SAFETY: every x86-64 processor has SSE2, whose instructions are used from here to the end of the function.
        let two = unsafe { _mm_add_pd(low, high) };
        // SAFETY: as above.
        let odd = unsafe { _mm_unpackhi_pd(two, two) };
        // SAFETY: as above.
        let sum = unsafe { _mm_add_sd(two, odd) };
        // SAFETY: as above.
        unsafe { _mm_cvtsd_f64(sum) }
    }
}

/// The instructions AVX-512F, BW, CD, DQ and VL (x86-64-v4). Every general-purpose processor with AVX-512 built since
/// 2017 supports all of them, and also AVX2.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(Avx2);

impl Avx512 {
    #[inline]
    pub(crate) fn detect() -> Option<Avx512> {
        let all = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        Avx2::detect().filter(|_| all).map(Avx512)
    }

    /// Runs the kernel, compiled for the instructions of [`Avx512`].
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
        fn compiled<K: Kernel>(v: Avx512, kernel: K) -> K::Output {
            kernel.run(v)
        }
        // SAFETY: the processor supports the instructions.
        unsafe { compiled(self, kernel) }
    }
}

/// A mask whose bits are one for the first `len` of eight lanes.
#[inline(always)]
fn mask(len: usize) -> __mmask8 {
    ((1u32 << len.min(LANES)) - 1) as __mmask8
}

impl Vectors for Avx512 {
    type Eight = __m512d;

    type Sixteen = __m512;

    const NAME: &'static str = "AVX-512";

    #[inline(always)]
    fn splat(self, value: f64) -> __m512d {
        // SAFETY: the processor supports the instructions.
        unsafe { _mm512_set1_pd(value) }
    }

    #[inline(always)]
    fn load(self, values: &[f64; LANES]) -> __m512d {
        // SAFETY: the processor supports the instructions, and exactly the eight numbers of `values` are read, at any
        // alignment.
        unsafe { _mm512_loadu_pd(values.as_ptr()) }
    }

    #[inline(always)]
    fn load_part(self, values: &[f64]) -> __m512d {
        // SAFETY: the processor supports the instructions. The lanes outside the mask are not read, and the lanes
        // inside it are among the first eight numbers of `values`.
        unsafe { _mm512_maskz_loadu_pd(mask(values.len()), values.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, eight: __m512d, values: &mut [f64; LANES]) {
        // SAFETY: the processor supports the instructions, and exactly the eight numbers of `values` are written, at
        // any alignment.
        unsafe { _mm512_storeu_pd(values.as_mut_ptr(), eight) }
    }

    #[inline(always)]
    fn store_part(self, eight: __m512d, values: &mut [f64]) {
        // SAFETY: the processor supports the instructions. The lanes outside the mask are not written, and the lanes
        // inside it are among the first eight numbers of `values`.
        unsafe { _mm512_mask_storeu_pd(values.as_mut_ptr(), mask(values.len()), eight) }
    }

    #[inline(always)]
    fn add(self, a: __m512d, b: __m512d) -> __m512d {
        // SAFETY: the processor supports the instructions.
        unsafe { _mm512_add_pd(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: __m512d, b: __m512d) -> __m512d {
        // SAFETY: the processor supports the instructions.
        unsafe { _mm512_mul_pd(a, b) }
    }

    #[inline(always)]
    fn total(self, eight: __m512d) -> f64 {
        // SAFETY: the processor supports the instructions.
        let low = unsafe { _mm512_castpd512_pd256(eight) };
        // SAFETY: the processor supports the instructions.
        let high = unsafe { _mm512_extractf64x4_pd::<1>(eight) };
        self.0.total([low, high])
    }

    #[inline(always)]
    fn splat_single(self, value: f32) -> __m512 {
        // SAFETY: the processor supports the instructions.
        unsafe { _mm512_set1_ps(value) }
    }

    #[inline(always)]
    fn load_single(self, values: &[f32; SINGLE_LANES]) -> __m512 {
        // SAFETY: the processor supports the instructions, and exactly the sixteen numbers of `values` are read, at any
        // alignment.
        unsafe { _mm512_loadu_ps(values.as_ptr()) }
    }

    #[inline(always)]
    fn store_single(self, sixteen: __m512, values: &mut [f32; SINGLE_LANES]) {
        // SAFETY: the processor supports the instructions, and exactly the sixteen numbers of `values` are written, at
        // any alignment.
        unsafe { _mm512_storeu_ps(values.as_mut_ptr(), sixteen) }
    }

    #[inline(always)]
    fn add_single(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: the processor supports the instructions.
        unsafe { _mm512_add_ps(a, b) }
    }

    #[inline(always)]
    fn mul_single(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: the processor supports the instructions.
        unsafe { _mm512_mul_ps(a, b) }
    }

    #[inline(always)]
    fn total_single(self, sixteen: __m512) -> f32 {
        // SAFETY: the processor supports the instructions.
        let low = unsafe { _mm512_castps512_ps256(sixteen) };
        // SAFETY: the processor supports the instructions.
        let high = unsafe { _mm512_extractf32x8_ps::<1>(sixteen) };
        self.0.total_single([low, high])
    }

    #[inline(always)]
    fn prefetch(self, values: &[f64], bytes: usize) {
        self.0.prefetch(values, bytes);
    }
}

impl Avx512 {
    /// Runs the loop, compiled for the instructions of [`Avx512`].
    #[inline]
    pub(crate) fn run_fused<L: FusedLoop>(self, work: L) -> L::Output {
        #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
        fn compiled<L: FusedLoop>(v: Avx512, work: L) -> L::Output {
            work.run(v)
        }
        // SAFETY: the processor supports the instructions.
        unsafe { compiled(self, work) }
    }
}

impl Fused for Avx512 {
    const LANES: usize = 8;
    type Vector = __m512d;

    #[inline(always)]
    fn splat(self, value: f64) -> __m512d {
        Vectors::splat(self, value)
    }

    #[inline(always)]
    fn load(self, values: &[f64]) -> __m512d {
        Vectors::load(self, first(values))
    }

    #[inline(always)]
    fn store(self, vector: __m512d, values: &mut [f64]) {
        Vectors::store(self, vector, first_mut(values));
    }

    #[inline(always)]
    fn add(self, a: __m512d, b: __m512d) -> __m512d {
        Vectors::add(self, a, b)
    }

    #[inline(always)]
    fn mul(self, a: __m512d, b: __m512d) -> __m512d {
        Vectors::mul(self, a, b)
    }

    #[inline(always)]
    fn mul_add(self, a: __m512d, b: __m512d, c: __m512d) -> __m512d {
        // SAFETY: the processor supports the instructions.
        unsafe { _mm512_fmadd_pd(a, b, c) }
    }
}

/// The instructions AVX2 and FMA.
#[derive(Clone, Copy)]
pub(crate) struct Avx2Fma(());

impl Avx2Fma {
    #[inline]
    pub(crate) fn detect() -> Option<Avx2Fma> {
        Avx2::detect().filter(|_| is_x86_feature_detected!("fma")).map(|_| Avx2Fma(()))
    }

    /// Runs the loop, compiled for AVX2 and FMA.
    #[inline]
    pub(crate) fn run_fused<L: FusedLoop>(self, work: L) -> L::Output {
        #[target_feature(enable = "avx2,fma")]
        fn compiled<L: FusedLoop>(v: Avx2Fma, work: L) -> L::Output {
            work.run(v)
        }
        // SAFETY: the processor supports the instructions.
        unsafe { compiled(self, work) }
    }
}

impl Fused for Avx2Fma {
    const LANES: usize = 4;
    type Vector = __m256d;

    #[inline(always)]
    fn splat(self, value: f64) -> __m256d {
        // SAFETY: the processor supports the instructions.
        unsafe { _mm256_set1_pd(value) }
    }

    #[inline(always)]
    fn load(self, values: &[f64]) -> __m256d {
        let four: &[f64; 4] = first(values);
        // SAFETY: the processor supports the instructions, and exactly the numbers of `four` are read, at any
        // alignment.
        unsafe { _mm256_loadu_pd(four.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, vector: __m256d, values: &mut [f64]) {
        let four: &mut [f64; 4] = first_mut(values);
        // SAFETY: the processor supports the instructions, and exactly the numbers of `four` are written, at any
        // alignment.
        unsafe { _mm256_storeu_pd(four.as_mut_ptr(), vector) }
    }

    #[inline(always)]
    fn add(self, a: __m256d, b: __m256d) -> __m256d {
        // SAFETY: the processor supports the instructions.
        unsafe { _mm256_add_pd(a, b) }
    }

    #[inline(always)]
    fn mul(self, a: __m256d, b: __m256d) -> __m256d {
        // SAFETY: the processor supports the instructions.
        unsafe { _mm256_mul_pd(a, b) }
    }

    #[inline(always)]
    fn mul_add(self, a: __m256d, b: __m256d, c: __m256d) -> __m256d {
        // SAFETY: the processor supports the instructions.
        unsafe { _mm256_fmadd_pd(a, b, c) }
    }
}
