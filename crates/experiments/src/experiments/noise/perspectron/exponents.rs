//! The exponents with which the learning curves fall.

use super::workload::{CURVE, MARGINS};

/// The exponents p, q in excess = c T^-p γ^-q, fitted to the logarithms by least squares; `None` if an excess is not
/// positive.
pub(super) fn exponents(curves: &[Vec<(u64, f64)>]) -> Option<(f64, f64)> {
    let mut rows = Vec::new();
    for (margin, curve) in MARGINS.iter().zip(curves) {
        for (steps, excess) in curve.iter().filter(|(t, _)| *t >= 1 << CURVE.1) {
            if *excess <= 0.0 {
                return None;
            }
            rows.push([-(*steps as f64).ln(), -margin.ln(), excess.ln()]);
        }
    }
    let mean = |j: usize| rows.iter().filter_map(|r| r.get(j)).sum::<f64>() / rows.len() as f64;
    let means = [mean(0), mean(1), mean(2)];
    let product = |j: usize, k: usize| -> f64 {
        rows.iter().map(|r| (r[j] - means[j]) * (r[k] - means[k])).sum()
    };
    let (tt, tm, mm) = (product(0, 0), product(0, 1), product(1, 1));
    let (te, me) = (product(0, 2), product(1, 2));
    let determinant = tt * mm - tm * tm;
    (determinant > 0.0)
        .then(|| ((te * mm - me * tm) / determinant, (me * tt - te * tm) / determinant))
}

/// The exponents of 1/ε and 1/γ in the number of steps needed, T = (c/ε γ^-q)^(1/p).
pub(super) fn needs(curves: &[Vec<(u64, f64)>]) -> Option<(f64, f64)> {
    let (p, q) = exponents(curves)?;
    (p > 0.0).then(|| (1.0 / p, q / p))
}
