//! The mistake and update bounds of the learners, one function per bound.
//!
//! `radius` is R = max ‖x‖, `margin` is γ = min y (w* · x) for the given target w*, and `target_norm` is ‖w*‖. If the
//! margin is not positive, a bound is infinite.
//!
//! Claims: K1, K2, K3, K3n, K4, K5, K6, K7, K8, K10, K11, K12, K13, P9, P9h, P9r, S5x.

/// (a/margin)², infinite unless the margin is positive.
fn squared_ratio(a: f64, margin: f64) -> f64 {
    if margin > 0.0 { (a / margin).powi(2) } else { f64::INFINITY }
}

/// Perceptron, every order: mistakes <= (R‖w*‖/γ)² (Kakade Theorem 4.1; the last line of Notes21 omits the squares).
///
/// ```
/// assert_eq!(halfspaces_online::bounds::perceptron_mistakes(2.0, 1.0, 0.5), 16.0);
/// ```
#[must_use]
pub fn perceptron_mistakes(radius: f64, target_norm: f64, margin: f64) -> f64 {
    squared_ratio(radius * target_norm, margin)
}

/// Perceptron on labels that need not be separable, one pass in any order: for every unit `u` and every γ > 0,
/// mistakes <= ((R + D)/γ)² with D² = Σ max(0, γ - y (u · x))² (Freund and Schapire 1999, Theorem 2, which is not one
/// of the five source documents).
#[must_use]
pub fn perceptron_mistakes_with_deviation(radius: f64, deviation: f64, margin: f64) -> f64 {
    squared_ratio(radius + deviation, margin)
}

/// Batch perceptron: updates <= (R/γ)² for a unit target (Harvey18 Theorem 1.1, which has R = 1).
#[must_use]
pub fn batch_perceptron_updates(radius: f64, margin: f64) -> f64 {
    squared_ratio(radius, margin)
}

/// Margin perceptron: updates <= 3 (R/γ)² for a unit target (Harvey18 Theorem 2.1, which has R = 1).
#[must_use]
pub fn margin_perceptron_updates(radius: f64, margin: f64) -> f64 {
    3.0 * squared_ratio(radius, margin)
}

/// Margin perceptron: the returned halfspace has margin >= γ/3 (Harvey18 Theorem 2.1).
#[must_use]
pub fn margin_perceptron_margin(margin: f64) -> f64 {
    margin / 3.0
}

/// Halving, every order: mistakes <= lg |C| (Kakade Theorem 2.2).
///
/// ```
/// assert_eq!(halfspaces_online::bounds::halving_mistakes(1024.0), 10.0);
/// ```
#[must_use]
pub fn halving_mistakes(class_size: f64) -> f64 {
    class_size.log2()
}

/// Halving on the grid class: mistakes <= d lg(2⌈2R‖w*‖d/γ⌉ + 1) (Kakade Corollary 3.1, corrected: the printed d
/// lg(⌈4dR‖w*‖/γ⌉ + 1) can be smaller than lg of the size of the class).
#[must_use]
pub fn grid_halving_mistakes(dim: usize, radius: f64, target_norm: f64, margin: f64) -> f64 {
    let d = dim as f64;
    d * (2.0 * (2.0 * radius * target_norm * d / margin).ceil() + 1.0).log2()
}

/// Modified perceptron from a start with w0 · w* = α > 0: mistakes other than abstentions <= ⌊2 ln(1/α)/σ²⌋ (Notes21;
/// its O(ln d / σ²) is the case α >= 1/√d). Infinite for α <= 0.
///
/// ```
/// use halfspaces_online::bounds::modified_perceptron_mistakes;
/// assert_eq!(modified_perceptron_mistakes(1.0, 0.1), 0.0);
/// assert_eq!(modified_perceptron_mistakes((-1.0f64).exp(), 0.5), 8.0);
/// assert_eq!(modified_perceptron_mistakes(-0.3, 0.1), f64::INFINITY);
/// ```
#[must_use]
pub fn modified_perceptron_mistakes(alpha: f64, sigma: f64) -> f64 {
    if alpha > 0.0 { (-2.0 * alpha.ln() / (sigma * sigma)).max(0.0).floor() } else { f64::INFINITY }
}

/// Kernel perceptron: mistakes <= max K(x,x)/γ², where γ is the margin of a unit separator in feature space (Notes21,
/// from the bound of the perceptron).
#[must_use]
pub fn kernel_perceptron_mistakes(largest_kernel: f64, margin: f64) -> f64 {
    squared_ratio(largest_kernel.sqrt(), margin)
}

/// Online Massart learner over T rounds, with the step for this T: E\[mistakes\] - ηT <= (1-η)√T/γ (CKST24 Lemma 2,
/// summed over an adaptive sequence).
#[must_use]
pub fn massart_excess(rounds: f64, noise: f64, margin: f64) -> f64 {
    if margin > 0.0 { (1.0 - noise) * rounds.sqrt() / margin } else { f64::INFINITY }
}

/// Online Massart learner without knowledge of T: restarting over epochs of 1, 2, 4, ... rounds multiplies
/// [`massart_excess`] by at most √2/(√2-1). Epoch j of 2^j rounds, complete or cut short, costs at most its own
/// [`massart_excess`]. If epoch K is the last, T >= 2^K, so Σ_{j<=K} √2^j <= √2/(√2-1) √T.
#[must_use]
pub fn massart_excess_any_horizon(rounds: f64, noise: f64, margin: f64) -> f64 {
    let root = std::f64::consts::SQRT_2;
    root / (root - 1.0) * massart_excess(rounds, noise, margin)
}

/// Online Massart learner without knowledge of T, with decreasing steps and no restarts: √2 times [`massart_excess`],
/// less than the factor √2/(√2-1) of restarting (docs/theory/online-massart.md).
#[must_use]
pub fn massart_excess_anytime(rounds: f64, noise: f64, margin: f64) -> f64 {
    std::f64::consts::SQRT_2 * massart_excess(rounds, noise, margin)
}

/// Online Massart learner: with probability at least 1 - δ, Σ P\[mistake | past\] exceeds ηT + [`massart_excess`] by at
/// most √(T ln(1/δ)/2)/γ. Given the past and the point, an increment of the proof takes one of two values, which differ
/// by at most 2/γ.
#[must_use]
pub fn massart_deviation(rounds: f64, margin: f64, failure: f64) -> f64 {
    (-0.5 * rounds * failure.ln()).sqrt() / margin
}

/// ε of the online LeakyReLU learner over T rounds: (1-η)/(T^¼ √γ), but at most ½ - η so that its losses are convex.
#[must_use]
pub fn leaky_relu_accuracy(rounds: f64, noise: f64, margin: f64) -> f64 {
    ((1.0 - noise) / (rounds.sqrt() * margin).sqrt()).min(0.5 - noise)
}

/// Online LeakyReLU learner over T rounds: E\[mistakes\] - ηT <= εT + (1-η-ε)²√T/(εγ) with ε of
/// [`leaky_relu_accuracy`]. If ε is below ½ - η, this is at most 2(1-η) T^¾/√γ.
#[must_use]
pub fn leaky_relu_excess(rounds: f64, noise: f64, margin: f64) -> f64 {
    if margin > 0.0 {
        let accuracy = leaky_relu_accuracy(rounds, noise, margin);
        let weight = 1.0 - noise - accuracy;
        accuracy * rounds + weight * weight * rounds.sqrt() / (accuracy * margin)
    } else {
        f64::INFINITY
    }
}

/// Super-linear decay: the number of steps, each with ξ' <= ξ^(1-ρ) κ^ρ, that take ξ from M to e²κ, where ln(M/κ) is
/// `log_excess`: ⌈ln(½ ln(M/κ))/(-ln(1-ρ))⌉ (docs/theory/super-linear-convergence.md).
///
/// ```
/// use halfspaces_online::bounds::super_linear_decays;
/// assert_eq!(super_linear_decays(2.0, 0.1), 0);
/// assert_eq!(super_linear_decays(8.0, 0.5), 2);
/// ```
#[must_use]
pub fn super_linear_decays(log_excess: f64, rho: f64) -> u64 {
    ((0.5 * log_excess).ln() / -(-rho).ln_1p()).max(0.0).ceil() as u64
}

/// The least T for which T steps contain `decays` decays with probability at least 1 - δ, where δ is `failure`, if each
/// step decays with probability at least 2/3 given the past: P\[Bin(T, 2/3) < `decays`\] <= δ, computed exactly.
///
/// # Panics
/// If δ is not above 0.
///
/// ```
/// use halfspaces_online::bounds::super_linear_steps;
/// // T steps contain no decay with probability 3^-T.
/// assert_eq!(super_linear_steps(1, 1.0 / 26.0), 3);
/// assert_eq!((super_linear_steps(1, 1.0 / 28.0), super_linear_steps(0, 0.1)), (4, 0));
/// ```
#[must_use]
pub fn super_linear_steps(decays: u64, failure: f64) -> u64 {
    assert!(failure > 0.0, "the failure probability must be positive");
    let suffices = |steps: u64| fewer_decays(decays, steps) <= failure;
    let mut most = decays;
    while !suffices(most) {
        most *= 2;
    }
    // `most` steps suffice; the answer is at least `least`.
    let mut least = decays;
    while least < most {
        let middle = least + (most - least) / 2;
        if suffices(middle) { most = middle } else { least = middle + 1 }
    }
    most
}

/// P\[Bin(`steps`, 2/3) < `decays`\] for `steps` >= `decays`: the sum of the largest term, computed directly, and the
/// other terms, computed by their ratios to it.
fn fewer_decays(decays: u64, steps: u64) -> f64 {
    let Some(last) = decays.checked_sub(1) else { return 0.0 };
    // The mode has the largest of all terms.
    let mode = last.min(2 * (steps + 1) / 3);
    let left = (steps - mode) as f64;
    let log_binomial: f64 = (1..=mode).map(|j| ((left + j as f64) / j as f64).ln()).sum();
    let largest = (log_binomial + mode as f64 * (2.0f64 / 3.0).ln() - left * 3f64.ln()).exp();
    let mut sum = largest;
    let mut term = largest;
    for i in (1..=mode).rev() {
        term *= i as f64 / (2.0 * (steps - i + 1) as f64);
        sum += term;
    }
    term = largest;
    for i in mode..last {
        term *= 2.0 * (steps - i) as f64 / (i + 1) as f64;
        sum += term;
    }
    sum
}

/// Passive-aggressive: Σ (hinge loss)² <= (R‖u‖)² for any u with y (u · x) >= 1 throughout (Crammer et al. 2006,
/// Theorem 2). A mistake has hinge loss at least 1, so mistakes <= (R/γ)² for a unit separator of margin γ.
#[must_use]
pub fn passive_aggressive_mistakes(radius: f64, margin: f64) -> f64 {
    perceptron_mistakes(radius, 1.0, margin)
}

/// Winnow with threshold n on a disjunction of k of n variables: mistakes <= 2 + 3k(1 + lg n) (Littlestone 1988, in the
/// form of Blum's notes). Each of the k weights is doubled at most 1 + lg n times. A mistake that doubles weights
/// increases their sum by less than n, and one that halves weights decreases it by at least n/2.
#[must_use]
pub fn winnow_mistakes(relevant: usize, variables: usize) -> f64 {
    2.0 + 3.0 * relevant as f64 * (1.0 + (variables as f64).log2())
}

/// Second-order perceptron on separable data: mistakes <= (1/γ) √((a + u'Mu) ln det(I + M/a)), where M is the sum of x
/// x' over the mistakes and u a unit separator of margin γ (Cesa-Bianchi, Conconi and Gentile 2005, Theorem 3.1 without
/// hinge loss). `quadratic` is u'Mu, `log_det` is ln det(I + M/a).
#[must_use]
pub fn second_order_mistakes(a: f64, quadratic: f64, log_det: f64, margin: f64) -> f64 {
    if margin > 0.0 { ((a + quadratic) * log_det).sqrt() / margin } else { f64::INFINITY }
}

/// ALMA with p = 2 and parameter α on separable data of norm 1: corrections
/// <= (2/γ²)(2/α - 1)² + 8/α - 4 (Gentile 2001, Theorem 3).
#[must_use]
pub fn alma_corrections(alpha: f64, margin: f64) -> f64 {
    2.0 * squared_ratio(2.0 / alpha - 1.0, margin) + 8.0 / alpha - 4.0
}

/// Ellipsoid method as a learner, points of norm 1: mistakes <= 2d(d+1) ln((1+γ)/γ) (Kakade §3).
#[must_use]
pub fn ellipsoid_mistakes(dim: usize, margin: f64) -> f64 {
    let d = dim as f64;
    2.0 * d * (d + 1.0) * log_inverse_radius(margin)
}

/// Exact centre of gravity as a learner, points of norm 1: mistakes <= d ln((1+γ)/γ)/ln(e/(e-1)), as each cut leaves at
/// most 1 - 1/e of the volume (Grünbaum).
#[must_use]
pub fn centre_of_gravity_mistakes(dim: usize, margin: f64) -> f64 {
    dim as f64 * log_inverse_radius(margin) / -(1.0 - (-1.0f64).exp()).ln()
}

/// The volumetric centre drops a constraint whose leverage is below this.
pub const VOLUMETRIC_LEAST_LEVERAGE: f64 = 1.0 / 400.0;
/// The least increase of the volumetric potential at a mistake.
pub const VOLUMETRIC_RISE: f64 = 0.005;
/// The largest decrease of the volumetric potential when a constraint is dropped.
pub const VOLUMETRIC_FALL: f64 = 0.0015;

/// Volumetric centre as a learner, points of norm 1. With ε, a, b the three constants above, mistakes <= 1 + (d
/// ln((1+γ)/γ) + d ln(d/ε) - ½ d ln 2 + b(d-1))/(a-b), about 286 d ln(566 d/γ) (after Vaidya 1996, with our constants:
/// `docs/theory/volumetric-centre.md`).
#[must_use]
pub fn volumetric_mistakes(dim: usize, margin: f64) -> f64 {
    let d = dim as f64;
    let most = (d / VOLUMETRIC_LEAST_LEVERAGE).ln() + log_inverse_radius(margin);
    let rise = d * (most - 0.5 * std::f64::consts::LN_2) + VOLUMETRIC_FALL * (d - 1.0);
    1.0 + rise / (VOLUMETRIC_RISE - VOLUMETRIC_FALL)
}

/// -ln of γ/(1+γ), the radius of a ball that the version space always contains.
fn log_inverse_radius(margin: f64) -> f64 {
    if margin > 0.0 { (1.0 + margin).ln() - margin.ln() } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares each constant of a theorem with a value computed by hand from its statement.
    #[test]
    fn constants_are_those_of_the_theorems() {
        assert_eq!(halving_mistakes(1024.0), 10.0);
        assert_eq!(batch_perceptron_updates(2.0, 0.5), 16.0);
        // Harvey18 Theorem 2.1: 3 (R/γ)² updates, a third of the margin.
        assert_eq!(margin_perceptron_updates(2.0, 0.5), 48.0);
        assert_eq!(margin_perceptron_margin(0.75), 0.25);
        // Gentile 2001 Theorem 3: 2 (2/α - 1)²/γ² + 8/α - 4.
        assert_eq!(alma_corrections(1.0, 1.0), 2.0 + 8.0 - 4.0);
        assert_eq!(alma_corrections(0.5, 0.5), 2.0 * 9.0 * 4.0 + 16.0 - 4.0);
        // Littlestone: 2 + 3 k (1 + lg n).
        assert_eq!(winnow_mistakes(2, 8), 26.0);
        assert_eq!(perceptron_mistakes_with_deviation(1.0, 2.0, 0.5), 36.0);
        assert_eq!(kernel_perceptron_mistakes(4.0, 0.5), 16.0);
        assert_eq!(grid_halving_mistakes(2, 1.0, 1.0, 0.5), 2.0 * 17f64.log2());
        assert_eq!(massart_excess(16.0, 0.25, 0.5), 6.0);
        assert_eq!(second_order_mistakes(1.0, 3.0, 4.0, 0.5), 8.0);
        // T = 256, γ = 1/4, η = 1/4: ε = (3/4)/(4 · 1/2) = 3/8, cut to 1/4; 256/4 + (1/2)² 16/(1/16).
        assert_eq!(leaky_relu_accuracy(256.0, 0.25, 0.25), 0.25);
        assert_eq!(leaky_relu_excess(256.0, 0.25, 0.25), 128.0);
        // T = 4096, γ = 1, η = 0: ε = 1/8; 512 + (7/8)² 64 · 8, below 2 T^¾.
        assert_eq!(leaky_relu_excess(4096.0, 0.0, 1.0), 904.0);
        assert_eq!(leaky_relu_excess(16.0, 0.25, 0.0), f64::INFINITY);
        let epochs = massart_excess_any_horizon(16.0, 0.25, 0.5) / 6.0;
        assert!((epochs - 3.414_213_562_373_095).abs() < 1e-12);
        assert!((massart_excess_anytime(16.0, 0.25, 0.5) / 6.0).powi(2) - 2.0 < 1e-12);
        // T = 8, δ = e⁻¹, γ = ½: √4/½.
        assert!((massart_deviation(8.0, 0.5, (-1f64).exp()) - 4.0).abs() < 1e-12);
        let one = (1.5f64 / 0.5).ln();
        assert!((ellipsoid_mistakes(3, 0.5) - 24.0 * one).abs() < 1e-12);
        let centre = centre_of_gravity_mistakes(3, 0.5);
        assert!((centre - 3.0 * one / 0.458_675_145_387_081_9).abs() < 1e-12);
    }

    /// Σ_{i<S} C(T, i) 2^i / 3^T in integers.
    #[test]
    fn the_tail_of_the_decays_is_the_binomial_one() {
        for steps in 1..=30u64 {
            let (mut sum, mut binomial) = (0u128, 1u128);
            for decays in 1..=steps {
                sum += binomial << (decays - 1);
                binomial = binomial * u128::from(steps - decays + 1) / u128::from(decays);
                let exact = sum as f64 / 3f64.powi(steps as i32);
                assert!((fewer_decays(decays, steps) / exact - 1.0).abs() < 1e-12);
            }
        }
        for (decays, failure) in [(1, 0.5), (40, 0.01), (700, 0.05), (2000, 1e-12)] {
            let steps = super_linear_steps(decays, failure);
            assert!(fewer_decays(decays, steps) <= failure);
            assert!(fewer_decays(decays, steps - 1) > failure, "one step fewer is not enough");
        }
    }
}
