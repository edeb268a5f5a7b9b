//! The exact distribution of the misclassified point with the largest margin. Proofs: docs/theory/largest-margin.md.

use super::workload::Configuration;
use std::f64::consts::PI;

/// Number of nodes of the midpoint rule. The integrands are smooth in s.
const NODES: u32 = 800;

/// Integrates (1 - (m sin θ/sin tθ)²)^`power` sin^-`weight`(tθ) over t from t₀ to `end`, with the substitution t = t₀ +
/// (1 - t₀) s². At t₀, a point with r = 1 has margin m sin θ.
fn integral(setting: &Configuration, m: f64, end: f64, power: f64, weight: i32) -> f64 {
    let theta = setting.angle;
    let start = (m * theta.sin()).min(1.0).asin() / theta;
    let room = 1.0 - start;
    if room <= 0.0 || end <= start {
        // No point has a margin above sin θ, and a point with margin m sin θ has t >= t₀.
        return 0.0;
    }
    let last = ((end - start) / room).clamp(0.0, 1.0).sqrt();
    let node = |i: u32| {
        let s = last * (f64::from(i) + 0.5) / f64::from(NODES);
        let past = room * s * s;
        let sin = ((start + past) * theta).sin();
        // sin²(tθ) - sin²(t₀θ) = sin((t - t₀)θ) sin((t + t₀)θ).
        let share = (past * theta).sin() * ((2.0 * start + past) * theta).sin() / (sin * sin);
        // sin tθ/sin θ is of order 1.
        share.max(0.0).powf(power) * (sin / theta.sin()).powi(-weight) * 2.0 * room * s
    };
    (0..NODES).map(node).sum::<f64>() * last / f64::from(NODES)
}

/// p(m): the probability that a point is misclassified with |w · x| > m sin θ.
fn tail(setting: &Configuration, m: f64) -> f64 {
    setting.angle / PI * integral(setting, m, 1.0, 0.5 * setting.dim as f64 - 1.0, 0)
}

/// P[the largest margin is at most m sin θ | some point is misclassified].
pub(super) fn largest(setting: &Configuration, m: f64) -> f64 {
    let n = setting.points as f64;
    let below = (n * (-tail(setting, m)).ln_1p()).exp();
    let none = (n * (-setting.angle / PI).ln_1p()).exp();
    ((below - none) / (1.0 - none)).clamp(0.0, 1.0)
}

/// P[the position of the point in the wedge is at most t | its margin is m sin θ].
pub(super) fn place(setting: &Configuration, m: f64, t: f64) -> f64 {
    let power = 0.5 * setting.dim as f64 - 2.0;
    let up_to = |end: f64| integral(setting, m, end, power, 2);
    (up_to(t) / up_to(1.0)).clamp(0.0, 1.0)
}

/// The `share` quantile of the largest margin divided by sin θ.
pub(super) fn quantile(setting: &Configuration, share: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        let below = (setting.points as f64 * (-tail(setting, middle)).ln_1p()).exp();
        if below < share { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For d = 4, there are closed forms: E[1 - (a/sin tθ)²] = (1 - t₀) - a² (cot t₀θ - cot θ)/θ with a = m sin θ, and
    /// the position has a density proportional to sin⁻².
    #[test]
    fn four_dimensions_are_done_by_hand() {
        for (angle, m) in [(1.2f64, 0.3f64), (0.3, 0.9), (1e-4, 0.01), (0.5, 0.9999)] {
            let setting = Configuration { dim: 4, points: 1000, angle };
            let a = m * angle.sin();
            let start = a.asin();
            let cot = |angle: f64| 1.0 / angle.tan();
            let expected = 1.0 - start / angle - a * a * (cot(start) - cot(angle)) / angle;
            let found = tail(&setting, m) * PI / angle;
            assert!((found - expected).abs() < 1e-5 * (1.0 - m), "{angle} {m}: {found} {expected}");
            let t = 0.3 * start / angle + 0.7;
            let expected = (cot(start) - cot(t * angle)) / (cot(start) - cot(angle));
            assert!((place(&setting, m, t) - expected).abs() < 1e-5);
        }
    }

    #[test]
    fn the_laws_begin_and_end_where_they_should() {
        for dim in [3, 10, 30] {
            let setting = Configuration { dim, points: 500, angle: 0.7 };
            assert!(largest(&setting, 1e-6) < 1e-3 && largest(&setting, 1.0) > 1.0 - 1e-12);
            assert_eq!((place(&setting, 0.4, 0.0), place(&setting, 0.4, 1.0)), (0.0, 1.0));
            let third = quantile(&setting, 1.0 / 3.0);
            assert!((largest(&setting, third) - 1.0 / 3.0).abs() < 1e-9);
        }
    }
}
