//! The normal distribution. Part of the model of `LabellingSession`. Claims: S10, S10n, S10s, S10c.

use halfspaces_linalg::exp_neg;
use std::f64::consts::{PI, SQRT_2};

/// The coefficients of the Chebyshev approximation of ln(erfc(x)/t) + x² as a polynomial in t = 1/(1 + x/2) (Press et
/// al. 1992, `erfcc`).
const ERFC: [f64; 10] = [
    -1.265_512_23,
    1.000_023_68,
    0.374_091_96,
    0.096_784_18,
    -0.186_288_06,
    0.278_868_07,
    -1.135_203_98,
    1.488_515_87,
    -0.822_152_23,
    0.170_872_77,
];

/// P(N > z) for a standard normal N and z >= 0, with a relative error below 1.2e-7.
#[inline(always)]
pub(super) fn upper_tail(z: f64) -> f64 {
    let x = z / SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * x);
    let polynomial = ERFC.iter().rev().fold(0.0, |sum, c| sum * t + c);
    // The exponent is at most 0, up to the error of the approximation.
    0.5 * t * exp_neg((x * x - polynomial).max(0.0))
}

/// P(N <= z).
#[inline(always)]
pub(super) fn cumulative(z: f64) -> f64 {
    if z >= 0.0 { 1.0 - upper_tail(z) } else { upper_tail(-z) }
}

/// The density of the standard normal distribution at z.
pub(super) fn density(z: f64) -> f64 {
    exp_neg(0.5 * z * z) / (2.0 * PI).sqrt()
}

/// A probit likelihood that allows for wrong answers: with probability `slip` an answer is wrong, regardless of the
/// value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Probit {
    /// Variance of the noise.
    pub(super) noise: f64,
    /// The fraction of wrong answers.
    pub(super) slip: f64,
}

/// A Gaussian factor that replaces the likelihood of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Site {
    pub(super) precision: f64,
    /// The precision multiplied by the mean.
    pub(super) shift: f64,
}

impl Site {
    /// The factor of a point without an answer.
    pub(super) const NONE: Site = Site { precision: 0.0, shift: 0.0 };

    /// This factor divided by `other`.
    pub(super) fn less(self, other: Site) -> Site {
        Site { precision: self.precision - other.precision, shift: self.shift - other.shift }
    }
}

impl Probit {
    /// The Gaussian factor of an answer with sign `y`, for a value with the given mean and variance. The product of the
    /// factor and the Gaussian with this mean and variance has the moments of the value given the answer.
    pub(super) fn site(self, y: f64, mean: f64, variance: f64) -> Site {
        /// A second derivative below `MIN_CURVATURE` is replaced by `MIN_CURVATURE`, because the answer is then
        /// uninformative. A factor removes at most the fraction `MAX_SHARE` of the variance.
        const MIN_CURVATURE: f64 = 1e-12;
        const MAX_SHARE: f64 = 1.0 - 1e-9;
        let total = variance + self.noise;
        let root = total.sqrt();
        let z = y * mean / root;
        let sure = 1.0 - 2.0 * self.slip;
        // If the slip probability is 0, the ratio stays finite as long as the tail is positive.
        let likelihood = (self.slip + sure * cumulative(z)).max(f64::MIN_POSITIVE);
        let ratio = sure * density(z) / likelihood;
        let slope = y * ratio / root;
        let curvature = (ratio * (ratio + z) / total).max(MIN_CURVATURE);
        let rest = 1.0 - (curvature * variance).min(MAX_SHARE);
        Site { precision: curvature / rest, shift: (slope + mean * curvature) / rest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_the_tables() {
        for (z, tail) in
            [(0.0, 0.5), (1.0, 0.158_655_253_9), (3.0, 1.349_898_03e-3), (6.0, 9.865_876_45e-10)]
        {
            assert!((upper_tail(z) / tail - 1.0).abs() < 2e-7, "{z}");
            assert!(
                (cumulative(-z) / tail - 1.0).abs() < 2e-7
                    && (cumulative(z) + tail - 1.0).abs() < 1e-7
            );
        }
        assert_eq!(upper_tail(1e3), 0.0);
    }

    /// Compares the moments with those of the tilted normal distribution, computed as sums over a fine grid.
    #[test]
    fn sites_match_moments() {
        for (mean, variance, noise, slip) in [
            (0.3, 0.5, 0.1, 0.0),
            (-1.0, 0.2, 1e-3, 0.01),
            (-2.0, 0.1, 0.1, 0.05),
            (0.0, 2.0, 0.3, 0.01),
        ] {
            let probit = Probit { noise, slip };
            let y = 1.0;
            let site = probit.site(y, mean, variance);
            let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
            for k in -60_000..=60_000 {
                let t = f64::from(k) * 1e-4;
                let f = mean + t * variance.sqrt() * 1.5;
                let likelihood = slip + (1.0 - 2.0 * slip) * cumulative(f / noise.sqrt());
                let weight = likelihood * density(t * 1.5);
                mass += weight;
                first += weight * f;
                second += weight * f * f;
            }
            let exact = first / mass;
            let spread = second / mass - exact * exact;
            let precision = 1.0 / variance + site.precision;
            let moment = (mean / variance + site.shift) / precision;
            assert!((moment - exact).abs() < 1e-4, "{moment} {exact}");
            // A variance that would grow is limited to the variance of the prior.
            assert!((1.0 / precision - spread.min(variance)).abs() < 1e-3, "{precision} {spread}");
        }
    }

    #[test]
    fn a_slip_far_on_the_other_side_is_ignored() {
        let surprised = |z| Probit { noise: 1e-4, slip: 0.01 }.site(-1.0, z, 1.0);
        assert!(surprised(6.0).shift.abs() < 1e-4);
        assert!(surprised(0.5).shift.abs() > 0.1);
    }
}
