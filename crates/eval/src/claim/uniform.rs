//! The rule for a distribution that is known exactly.

use super::evidence::{CONFIDENCE, Evidence, REFUTATION_LEVEL, Verdict};

impl Evidence {
    /// Evidence for a claim "the distribution function of these values is within `tolerance` of that of the uniform
    /// distribution on \[0, 1\] everywhere". The values are independent draws, transformed by a known distribution
    /// function. The claim holds if the largest distance found plus the half-width of the 95 % band of Dvoretzky,
    /// Kiefer, Wolfowitz and Massart, √(ln(2/0.05)/(2n)), is at most the tolerance. It is violated if, by the same
    /// inequality, a distance this large has a probability of at most [`REFUTATION_LEVEL`]. It is inconclusive
    /// otherwise, and while values are missing.
    ///
    /// ```
    /// use halfspaces_eval::{Evidence, Verdict};
    /// let values: Vec<f64> = (0..2000).map(|i| (f64::from(i) + 0.5) / 2000.0).collect();
    /// let judge = |values: &[f64]| Evidence::uniform("u", 2000, values, 0.05).verdict;
    /// assert_eq!(judge(&values), Verdict::Holds);
    /// assert_eq!(judge(&values.iter().map(|u| u * u).collect::<Vec<_>>()), Verdict::Violated);
    /// ```
    #[must_use]
    pub fn uniform(quantity: &str, planned: usize, values: &[f64], tolerance: f64) -> Evidence {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len() as f64;
        let off = |(i, u): (usize, &f64)| {
            let off = (u - i as f64 / n).max((i + 1) as f64 / n - u);
            // A value outside [0, 1] has the largest possible distance.
            if (0.0..=1.0).contains(u) { off } else { 1.0 }
        };
        let distance = sorted.iter().enumerate().map(off).fold(0.0, f64::max);
        let band = (-(0.5 * (1.0 - CONFIDENCE)).ln() / (2.0 * n)).sqrt();
        let complete = values.len() >= planned && !values.is_empty();
        let excess = (distance - tolerance).max(0.0);
        let p_value =
            if complete { (2.0 * (-2.0 * n * excess * excess).exp()).min(1.0) } else { 1.0 };
        let verdict = if !complete {
            Verdict::Inconclusive
        } else if p_value <= REFUTATION_LEVEL {
            Verdict::Violated
        } else if distance + band <= tolerance {
            Verdict::Holds
        } else {
            Verdict::Inconclusive
        };
        Evidence {
            verdict,
            trials: values.len(),
            fewest: values.len(),
            quantity: format!(
                "largest distance of {quantity} from its distribution, upper end of the 95 % band"
            ),
            measured: Some(distance + band).filter(|v| v.is_finite()),
            bound: tolerance,
            detail: format!("distance {distance:.4}, {} of {planned} values", values.len()),
            tests: 1,
            p_value,
            // The distribution is known exactly, so the distance itself is only scatter.
            slack: (n > 0.0).then_some(tolerance / (distance + band)),
            far: None,
            claimed_probability: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(n: u32) -> Vec<f64> {
        (0..n).map(|i| (f64::from(i) + 0.5) / f64::from(n)).collect()
    }

    #[test]
    fn the_distance_is_that_of_both_sides() {
        // A single value of 1/2 is at distance 1/2 from the uniform distribution, both just below and just above 1/2.
        let one = Evidence::uniform("u", 1, &[0.5], 0.9);
        let band = (40f64.ln() / 2.0).sqrt();
        assert!((one.measured.unwrap() - 0.5 - band).abs() < 1e-12);
        for (values, distance) in [([0.1, 0.2], 0.8), ([0.8, 0.9], 0.8), ([0.2, f64::NAN], 1.0)] {
            let evidence = Evidence::uniform("u", 2, &values, 0.9);
            assert!(evidence.detail.starts_with(&format!("distance {distance:.4}")));
        }
    }

    #[test]
    fn what_is_near_enough_holds_and_what_is_off_is_refuted() {
        let judge =
            |values: &[f64], tolerance| Evidence::uniform("u", 1000, values, tolerance).verdict;
        // The half-width of the band is 0.0429, and the distance of the grid itself is 0.0005.
        assert_eq!(judge(&grid(1000), 0.044), Verdict::Holds);
        assert_eq!(judge(&grid(1000), 0.042), Verdict::Inconclusive);
        assert_eq!(judge(&grid(999), 0.5), Verdict::Inconclusive);
        assert_eq!(judge(&[], 0.5), Verdict::Inconclusive);
        // The distance is 0.1. The claim is refuted if the distance exceeds the tolerance by at least e = 0.0626, where
        // 2 exp(-2000 e²) = 0.00078.
        let off: Vec<f64> = grid(1000).iter().map(|u| (u - 0.1).max(0.0)).collect();
        assert_eq!(judge(&off, 0.037), Verdict::Violated);
        assert_eq!(judge(&off, 0.04), Verdict::Inconclusive);
        let missing = Evidence::uniform("u", 2000, &off, 0.01);
        assert_eq!((missing.verdict, missing.p_value), (Verdict::Inconclusive, 1.0));
    }
}
