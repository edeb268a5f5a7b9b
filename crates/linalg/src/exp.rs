//! e^-t for t >= 0, written so that compilers vectorise it.
//!
//! Let r = k ln 2 - t, where k is the integer for which |r| <= ln 2 / 2 (Cody and Waite: ln 2 is split into two parts
//! so that k times the first part is exact). Then e^-t = 2^-k e^r. A polynomial gives e^r, and 2^-k is built from its
//! bits. There is no branch, no table and no fused multiply-add, so a loop over [`exp_neg`] gives the same bits at
//! every vector width, on every machine.

/// Larger arguments are clamped to this value, because e^-746 is below half the smallest positive number.
const CUT: f64 = 746.0;
/// 1.5 · 2^52. Adding it to a small number leaves that number, rounded to an integer, in the low bits.
const SHIFTER: f64 = 6_755_399_441_055_744.0;
/// The first 32 bits of ln 2.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
/// ln 2 - [`LN_2_HIGH`].
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// 2^64.
const TWO_64: f64 = 18_446_744_073_709_551_616.0;

/// The coefficients c_k of (e^r - 1 - r)/r² = Σ c_k r^k, interpolated at the ten Chebyshev points between -ln 2 / 2 and
/// ln 2 / 2. With these coefficients, the error of e^r is at most 0.08 units in the last place.
const COEFFICIENTS: [f64; 10] = [
    0.500_000_000_000_000_1,
    0.166_666_666_666_666_69,
    0.041_666_666_666_624_164,
    0.008_333_333_333_330_065,
    0.001_388_888_891_719_671_9,
    0.000_198_412_698_630_405_45,
    2.480_152_132_236_844_8e-5,
    2.755_726_848_030_983_7e-6,
    2.762_007_588_010_038_5e-7,
    2.510_037_583_265_122e-8,
];

/// Computes Σ c_k r^k in groups of two and four terms (Estrin's scheme), so that the chain of dependent operations is
/// half as long as in Horner's scheme.
#[inline(always)]
fn polynomial(c: &[f64; 10], r: f64) -> f64 {
    let r2 = r * r;
    let r4 = r2 * r2;
    let two = |k: usize| c[k] + c[k + 1] * r;
    let four = |k: usize| two(k) + two(k + 2) * r2;
    four(0) + (four(4) + two(8) * r4) * r4
}

/// Computes e^-t for t >= 0, with an error of at most one unit in the last place. The result is exactly 1 at 0. For
/// large t, it underflows gradually to 0, the result at infinity. NaN gives NaN. Negative t are not supported: the
/// result is correct only down to -600.
///
/// ```
/// use halfspaces_linalg::exp_neg;
/// assert_eq!(exp_neg(0.0), 1.0);
/// assert_eq!(exp_neg(f64::INFINITY), 0.0);
/// assert!((exp_neg(1.0) * std::f64::consts::E - 1.0).abs() < 1e-15);
/// ```
#[inline(always)]
#[must_use]
pub fn exp_neg(t: f64) -> f64 {
    // Comparisons with NaN are false, so NaN passes through.
    let t = if t > CUT { CUT } else { t };
    let shifted = t * std::f64::consts::LOG2_E + SHIFTER;
    let k = shifted - SHIFTER;
    let high = k * LN_2_HIGH - t;
    let low = k * LN_2_LOW;
    let r = high + low;
    let e_r = 1.0 + (high + (polynomial(&COEFFICIENTS, r) * (r * r) + low));
    // The low bits of `shifted` contain k, and the shift drops the others. 2^(64 - k) is always a normal floating-point
    // number.
    let power = f64::from_bits(u64::wrapping_sub(1023 + 64, shifted.to_bits()) << 52);
    e_r * power * (1.0 / TWO_64)
}

/// The single-precision version of [`CUT`]: e^-104 is below half the smallest positive number.
const SINGLE_CUT: f32 = 104.0;
/// 1.5 · 2^23.
const SINGLE_SHIFTER: f32 = 12_582_912.0;
/// The first 15 bits of ln 2.
const SINGLE_LN_2_HIGH: f32 = 0.693_145_75;
/// ln 2 - [`SINGLE_LN_2_HIGH`].
const SINGLE_LN_2_LOW: f32 = 1.428_606_8e-6;
/// The single-precision version of [`COEFFICIENTS`], interpolated at five points. The error of e^r is at most 0.1 units
/// in the last place.
const SINGLE_COEFFICIENTS: [f32; 5] =
    [0.5, 0.166_665_77, 0.041_666_556, 0.008_363_173, 0.001_392_617_6];

/// The single-precision version of [`exp_neg`], with an error of at most one unit in the last place. For negative t it
/// is correct only down to -60.
///
/// ```
/// use halfspaces_linalg::exp_neg_single;
/// assert_eq!(exp_neg_single(0.0), 1.0);
/// assert_eq!(exp_neg_single(f32::INFINITY), 0.0);
/// assert!((exp_neg_single(1.0) * std::f32::consts::E - 1.0).abs() < 1e-7);
/// ```
#[inline(always)]
#[must_use]
pub fn exp_neg_single(t: f32) -> f32 {
    let t = if t > SINGLE_CUT { SINGLE_CUT } else { t };
    let shifted = t * std::f32::consts::LOG2_E + SINGLE_SHIFTER;
    let k = shifted - SINGLE_SHIFTER;
    let high = k * SINGLE_LN_2_HIGH - t;
    let low = k * SINGLE_LN_2_LOW;
    let r = high + low;
    let r2 = r * r;
    let [a, b, c, d, e] = SINGLE_COEFFICIENTS;
    let polynomial = (a + b * r) + ((c + d * r) + e * r2) * r2;
    let e_r = 1.0 + (high + (polynomial * r2 + low));
    // 2^(64 - k) is always a normal floating-point number. The final factor 2^-64 then gives 2^-k.
    let power = f32::from_bits(u32::wrapping_sub(127 + 64, shifted.to_bits()) << 23);
    e_r * power * (1.0 / TWO_64 as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Distance from the rounded double-precision exponential, counted in representable numbers.
    fn single_steps(t: f32) -> u32 {
        exp_neg_single(t).to_bits().abs_diff((exp_neg(f64::from(t)) as f32).to_bits())
    }

    /// Tests every seventh single-precision number between 2^-26 and 105, the midpoints between integer multiples of
    /// ln 2, and the extreme arguments.
    #[test]
    fn single_precision_agrees_with_double() {
        let (mut last, mut rounded_otherwise, mut count) = (1.0, 0u32, 0u32);
        for bits in (f32::exp2(-26.0).to_bits()..=105f32.to_bits()).step_by(7) {
            let t = f32::from_bits(bits);
            let value = exp_neg_single(t);
            assert!(single_steps(t) <= 1, "{t}");
            assert!(value <= last, "{t}");
            last = value;
            rounded_otherwise += single_steps(t);
            count += 1;
        }
        assert!(rounded_otherwise < count / 10, "{rounded_otherwise} of {count}");
        for k in 0..150u8 {
            let middle = (f32::from(k) + 0.5) * std::f32::consts::LN_2;
            for t in [middle.next_down(), middle, middle.next_up()] {
                assert!(single_steps(t) <= 1, "{t}");
            }
        }
        assert_eq!((exp_neg_single(0.0), exp_neg_single(-0.0)), (1.0, 1.0));
        for t in [104.0, 1e3, f32::MAX, f32::INFINITY] {
            assert_eq!(exp_neg_single(t).to_bits(), 0, "{t}");
        }
        assert!(exp_neg_single(f32::NAN).is_nan());
    }

    /// Distance from the exponential of the standard library, counted in representable numbers. The standard library
    /// itself is within one representable number of the true value.
    fn steps_from_std(t: f64) -> u64 {
        exp_neg(t).to_bits().abs_diff((-t).exp().to_bits())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn agrees_with_std(t in 0.0..760.0f64, exponent in -60i32..=0) {
            prop_assert!(steps_from_std(t) <= 1, "{t}");
            let small = t * f64::from(exponent).exp2();
            prop_assert!(steps_from_std(small) <= 1, "{small}");
        }

        #[test]
        fn falls_between_any_two_points_apart(t in 0.0..750.0f64, step in 1e-15..1.0f64) {
            prop_assert!(exp_neg(t + step * t.max(1.0)) <= exp_neg(t));
        }
    }

    #[test]
    fn agrees_with_std_and_falls_on_a_grid() {
        let mut last = 1.0;
        for i in 0..3_000_000u32 {
            let t = f64::from(i) / 4000.0;
            assert!(steps_from_std(t) <= 1, "{t}");
            assert!(exp_neg(t) <= last, "{t}");
            last = exp_neg(t);
        }
    }

    #[test]
    fn the_ends_of_the_range() {
        assert_eq!(exp_neg(0.0), 1.0);
        assert_eq!(exp_neg(-0.0), 1.0);
        assert_eq!(exp_neg(f64::MIN_POSITIVE), 1.0);
        for t in [746.0, 1e3, 1e300, f64::MAX, f64::INFINITY] {
            assert_eq!(exp_neg(t).to_bits(), 0, "{t}");
        }
        // 745.13 gives the smallest positive number, and 745.14 gives 0.
        assert_eq!(exp_neg(745.13).to_bits(), 1);
        assert_eq!(exp_neg(745.14), 0.0);
        assert!(exp_neg(f64::NAN).is_nan());
    }

    #[test]
    fn every_boundary_of_the_reduction() {
        for k in 0..1077u32 {
            let middle = (f64::from(k) + 0.5) * std::f64::consts::LN_2;
            for t in [middle.next_down(), middle, middle.next_up()] {
                assert!(steps_from_std(t) <= 1, "{t}");
            }
        }
    }
}
