//! The mistake and update bounds of the learners, one function per bound.
//!
//! `radius` is R = max ‖x‖, `margin` is γ = min y (w* · x) for the given target w*, and `target_norm` is ‖w*‖. A bound
//! is infinite if the margin is not positive.
//!
//! Claims: K1, K2, K3, K3n, K4, K4s, K5, K5s, K6, K7, K8, K8v, K10, K11, K12, K13, P9, P9h, P9r, S5x, S9t, S11t, S14,
//! S14o.

use std::f64::consts::{E, LN_2, PI};

/// (a/margin)², or infinity if the margin is not positive.
fn squared_ratio(a: f64, margin: f64) -> f64 {
    if margin > 0.0 { (a / margin).powi(2) } else { f64::INFINITY }
}

/// The mistake bound of the perceptron, for every order of the points: (R‖w*‖/γ)² (Kakade Theorem 4.1; the last line of
/// Notes21 omits the squares).
///
/// ```
/// assert_eq!(halfspaces_online::bounds::perceptron_mistakes(2.0, 1.0, 0.5), 16.0);
/// ```
#[must_use]
pub fn perceptron_mistakes(radius: f64, target_norm: f64, margin: f64) -> f64 {
    squared_ratio(radius * target_norm, margin)
}

/// The mistake bound of the perceptron on data that need not be separable, for one pass in any order. For every unit
/// vector u and every γ > 0, the bound is ((R + D)/γ)² with D² = Σ max(0, γ - y (u · x))² (Freund and Schapire 1999,
/// Theorem 2).
#[must_use]
pub fn perceptron_mistakes_with_deviation(radius: f64, deviation: f64, margin: f64) -> f64 {
    squared_ratio(radius + deviation, margin)
}

/// The update bound of the batch perceptron for a target of norm 1: (R/γ)² (Harvey18 Theorem 1.1, which assumes R = 1).
#[must_use]
pub fn batch_perceptron_updates(radius: f64, margin: f64) -> f64 {
    squared_ratio(radius, margin)
}

/// The update bound of the margin perceptron for a target of norm 1: 3 (R/γ)² (Harvey18 Theorem 2.1, which assumes R =
/// 1).
#[must_use]
pub fn margin_perceptron_updates(radius: f64, margin: f64) -> f64 {
    3.0 * squared_ratio(radius, margin)
}

/// The lower bound γ/3 on the margin of the halfspace that the margin perceptron returns (Harvey18 Theorem 2.1).
#[must_use]
pub fn margin_perceptron_margin(margin: f64) -> f64 {
    margin / 3.0
}

/// The mistake bound of halving, for every order of the points: lg |C| (Kakade Theorem 2.2).
///
/// ```
/// assert_eq!(halfspaces_online::bounds::halving_mistakes(1024.0), 10.0);
/// ```
#[must_use]
pub fn halving_mistakes(class_size: f64) -> f64 {
    class_size.log2()
}

/// The mistake bound of halving on the grid class: d lg(2⌈2R‖w*‖d/γ⌉ + 1) (Kakade Corollary 3.1, corrected: the bound
/// printed there, d lg(⌈4dR‖w*‖/γ⌉ + 1), can be smaller than the lg of the size of the class).
#[must_use]
pub fn grid_halving_mistakes(dim: usize, radius: f64, target_norm: f64, margin: f64) -> f64 {
    let d = dim as f64;
    d * (2.0 * (2.0 * radius * target_norm * d / margin).ceil() + 1.0).log2()
}

/// The mistake bound of the modified perceptron from a start with w0 · w* = α > 0: ⌊2 ln(1/α)/σ²⌋ mistakes, not
/// counting abstentions (Notes21; its bound O(ln d / σ²) is the case α >= 1/√d). The bound is infinite for α <= 0.
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

/// The mistake bound of the kernel perceptron: max K(x,x)/γ², where γ is the margin of a unit separator in feature
/// space (Notes21, derived from the bound of the perceptron).
#[must_use]
pub fn kernel_perceptron_mistakes(largest_kernel: f64, margin: f64) -> f64 {
    squared_ratio(largest_kernel.sqrt(), margin)
}

/// The bound on E\[mistakes\] - ηT for the online Massart learner over T rounds, with the step size chosen for this T:
/// (1-η)√T/γ (CKST24 Lemma 2, summed over an adaptive sequence).
#[must_use]
pub fn massart_excess(rounds: f64, noise: f64, margin: f64) -> f64 {
    if margin > 0.0 { (1.0 - noise) * rounds.sqrt() / margin } else { f64::INFINITY }
}

/// The bound on E\[mistakes\] - ηT for an online Massart learner that does not know T: restarting in epochs of 1, 2, 4,
/// ... rounds multiplies [`massart_excess`] by at most √2/(√2-1). Epoch j has 2^j rounds and adds at most the
/// [`massart_excess`] of 2^j rounds, even if the epoch is cut short. If epoch K is the last, T >= 2^K, so Σ_{j<=K}
/// √2^j <= √2/(√2-1) √T.
#[must_use]
pub fn massart_excess_any_horizon(rounds: f64, noise: f64, margin: f64) -> f64 {
    let root = std::f64::consts::SQRT_2;
    root / (root - 1.0) * massart_excess(rounds, noise, margin)
}

/// The bound on E\[mistakes\] - ηT for an online Massart learner that does not know T, with decreasing steps and no
/// restarts: √2 times [`massart_excess`]. This factor is smaller than the factor √2/(√2-1) of restarting
/// (docs/theory/online-massart.md).
#[must_use]
pub fn massart_excess_anytime(rounds: f64, noise: f64, margin: f64) -> f64 {
    std::f64::consts::SQRT_2 * massart_excess(rounds, noise, margin)
}

/// The deviation bound of the online Massart learner: with probability at least 1 - δ, Σ P\[mistake | past\] exceeds
/// ηT + [`massart_excess`] by at most √(T ln(1/δ)/2)/γ. Given the past and the point, each increment in the proof takes
/// one of two values, which differ by at most 2/γ.
#[must_use]
pub fn massart_deviation(rounds: f64, margin: f64, failure: f64) -> f64 {
    (-0.5 * rounds * failure.ln()).sqrt() / margin
}

/// The parameter ε of the online LeakyReLU learner over T rounds: (1-η)/(T^¼ √γ), but at most ½ - η so that the losses
/// are convex.
#[must_use]
pub fn leaky_relu_accuracy(rounds: f64, noise: f64, margin: f64) -> f64 {
    ((1.0 - noise) / (rounds.sqrt() * margin).sqrt()).min(0.5 - noise)
}

/// The bound on E\[mistakes\] - ηT for the online LeakyReLU learner over T rounds: εT + (1-η-ε)²√T/(εγ), where ε is
/// [`leaky_relu_accuracy`]. If ε is below ½ - η, the bound is at most 2(1-η) T^¾/√γ.
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

/// The number of super-linear decay steps that suffice to reduce ξ from M to e²κ, if each step reduces ξ to at most
/// ξ^(1-ρ) κ^ρ: ⌈ln(½ ln(M/κ))/(-ln(1-ρ))⌉, where ln(M/κ) is `log_excess` (docs/theory/super-linear-convergence.md).
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

/// The smallest T such that T steps contain at least `decays` decays with probability at least 1 - δ. Here δ is
/// `failure`, and each step is a decay with probability at least 2/3 given the past. The condition P\[Bin(T, 2/3) <
/// `decays`\] <= δ is evaluated exactly.
///
/// # Panics
/// Panics if δ is not positive.
///
/// ```
/// use halfspaces_online::bounds::super_linear_steps;
/// // With probability 3^-T, T steps contain no decay.
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

/// P\[Bin(`steps`, 2/3) < `decays`\] for `steps` >= `decays`. The largest term of the sum is computed directly, and the
/// other terms from the ratios of neighbouring terms.
fn fewer_decays(decays: u64, steps: u64) -> f64 {
    let Some(last) = decays.checked_sub(1) else { return 0.0 };
    // The term at `mode` is the largest one.
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

/// An upper bound on the probability that the start of Algorithm 1, computed from 4d points, has tan θ₀ > e - 1. The
/// bound is measured (claim S13), not proved.
pub const CHAIN_START_FAILURE: f64 = 0.02;

/// The mistake bound of Algorithm 1 with k = `buckets` buckets per chain: 4d + 2k + 2E. On `points` uniform points on
/// the sphere of R^`dim`, the number of mistakes exceeds this bound with probability at most δ, where δ is `failure`.
/// The start makes at most 4d mistakes, the two chains together make at most 2k in the buckets, and each chain makes at
/// most E at the end. The bound is infinite if δ is at most twice [`CHAIN_START_FAILURE`], if there are fewer points
/// than buckets, or if there are too few buckets for the decays. Proof: docs/theory/constants-of-dktz23.md.
///
/// ```
/// use halfspaces_online::{ChainLength, bounds};
/// let length = ChainLength::Theory { failure: 0.1 };
/// let mistakes = |points: f64| bounds::two_chains_mistakes(10, points, length.buckets(10, points), 0.1);
/// assert_eq!(mistakes(1e80).round(), 3747.0);
/// // 2 k alone is 2 · 770.
/// assert_eq!(mistakes(1e10).round(), 2538.0);
/// assert_eq!(mistakes(1e3), f64::INFINITY);
/// ```
#[must_use]
pub fn two_chains_mistakes(dim: usize, points: f64, buckets: usize, failure: f64) -> f64 {
    let (d, k) = (dim as f64, buckets as f64);
    let bucketed = points - 4.0 * d;
    let size = (bucketed / (2.0 * k)).floor();
    // Each chain may fail with probability δ/4. The start uses part of the remaining δ/2, and the end of each chain may
    // use half of the rest.
    let (of_chain, of_end) = (failure / 4.0, (0.5 * failure - CHAIN_START_FAILURE) / 2.0);
    // tan θ₀, and ζ = 12π/cos θ₀.
    let start = std::f64::consts::E - 1.0;
    let zeta = 12.0 * PI * start.hypot(1.0);
    if size < 1.0 || of_end <= 0.0 {
        return f64::INFINITY;
    }
    let decays = super_linear_decays((start * size / zeta).ln(), 1.0 / (8.0 * d));
    let early = super_linear_steps(decays, of_chain / 2.0);
    let Some(late) = (buckets as u64).checked_sub(early) else { return f64::INFINITY };
    // The value of N tan θ/π after the early buckets.
    let before = (2f64.exp() * zeta).min(start * size) / PI;
    let expected_at_end = |expected: f64| {
        let missed = (-expected).exp();
        (1..=8).any(|power| {
            let factor = 1.0 - (1.0 - missed) * (1.0 - mean_decay(d, power));
            let log = 2.0 * f64::from(power) * (before / expected).ln() + late as f64 * factor.ln();
            log <= (of_chain / 2.0).ln()
        })
    };
    // The smallest c such that, on average, at most c points of a bucket are misclassified at the end.
    let (mut low, mut high) = (0.0, before);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if expected_at_end(middle) { high = middle } else { low = middle }
    }
    let mean = (0.5 * bucketed).ceil() * high / size;
    let log = -of_end.ln();
    // Bernstein's inequality.
    let end = mean + log / 3.0 + (log * log / 9.0 + 2.0 * mean * log).sqrt();
    4.0 * d + 2.0 * k + 2.0 * end
}

/// E\[(1 - ρ²t²)^j\] with j = `power`, where ρ² has the distribution Beta(1, d/2 - 1) and t is uniform on \[0, 1\].
fn mean_decay(d: f64, power: u32) -> f64 {
    let (mut sum, mut term) = (0.0, 1.0);
    for i in 0..=power {
        sum += term / f64::from(2 * i + 1);
        // The next value of `term` is C(j, i+1) (-1)^(i+1) E[ρ^(2i+2)].
        term *= -f64::from(power - i) / (0.5 * d + f64::from(i));
    }
    sum
}

/// A bound on the mean number of mistakes that the strong learner with random starts makes until at most a fraction ε =
/// `epsilon` of the pool is unlabelled, for any pool in R^`dim`. The bound is ⌈4d ln(1/ε)⌉ times the mean number of
/// mistakes per round in the worst dimension up to d. Proof: docs/theory/constants-of-dktz23.md.
///
/// ```
/// use halfspaces_online::bounds::strong_learner_mistakes;
/// // In one dimension, the failed runs of a round make on average at most half of ⌊4 ln 4⌋ + 1 mistakes.
/// // The last run makes one mistake.
/// assert_eq!(strong_learner_mistakes(1, 0.5), 3.0 * (0.5 * 6.0 + 1.0));
/// assert_eq!(strong_learner_mistakes(4, 0.1).round(), 3160.0);
/// ```
#[must_use]
pub fn strong_learner_mistakes(dim: usize, epsilon: f64) -> f64 {
    let rounds = (4.0 * dim as f64 * -epsilon.ln()).ceil();
    rounds * (1..=dim).map(|k| round_mistakes(k as f64)).fold(0.0, f64::max)
}

/// The bound on the mean number of mistakes of a round in k dimensions. A round has up to (2/g - 3/2) failed runs on
/// average, each with at most ⌊4k ln 4k⌋ + 1 mistakes. The round ends with a run whose start w₀ has α = |w₀·w*| >=
/// 1/(2√k). This run makes at most 8k ln(1/α) + 1 mistakes. Here g is the probability that a pair of starts has such an
/// α.
fn round_mistakes(k: f64) -> f64 {
    let cap = (4.0 * k * (4.0 * k).ln()).floor();
    if k < 2.0 {
        return 0.5 * (cap + 1.0) + 1.0;
    }
    // α = sin φ, where φ has a density proportional to cos^(k-2) φ.
    let least = (0.5 / k.sqrt()).asin();
    let over = |from: f64, of: &dyn Fn(f64) -> f64| {
        let step = (0.5 * PI - from) / f64::from(NODES);
        let at = |i: u32| {
            let angle = from + step * (f64::from(i) + 0.5);
            of(angle) * angle.cos().powf(k - 2.0)
        };
        (0..NODES).map(at).sum::<f64>() * step
    };
    let aligned = over(least, &|_| 1.0);
    let good = aligned / over(0.0, &|_| 1.0);
    let run = 8.0 * k * over(least, &|angle| -angle.sin().ln()) / aligned + 1.0;
    (2.0 / good - 1.5) * (cap + 1.0) + run
}

/// The number of nodes of the midpoint rule in [`round_mistakes`], whose integrands are smooth.
const NODES: u32 = 2000;

/// A lower bound on the expected number of mistakes of any learner in random order: ((d-1)²/(2πe d)) ln(n/d). It holds
/// for d >= 2 and n >= d uniform points on the sphere of R^d that are labelled by a uniformly random halfspace (our
/// result: docs/theory/random-order.md, Theorem 1).
///
/// ```
/// let bound = halfspaces_online::bounds::random_order_mistakes(3e20, 3);
/// assert!((bound - 4.0 / (6.0 * std::f64::consts::PI * std::f64::consts::E) * 1e20f64.ln()).abs() < 1e-12);
/// ```
#[must_use]
pub fn random_order_mistakes(points: f64, dim: usize) -> f64 {
    let d = dim as f64;
    (d - 1.0).powi(2) / (2.0 * PI * E * d) * (points / d).ln()
}

/// The lower and upper bounds, in this order, on the expected number of mistakes of the best learner in random order,
/// divided by ln n. The bounds hold in the limit of large n, for the points of [`random_order_mistakes`]. The lower
/// bound is κ(d-1) with κ = 1/(2 ln 2 + π²/6 - ln² 2) = 0.392, and the upper bound is (d-1)/2 (our result:
/// docs/theory/random-order.md, Theorem 2).
///
/// ```
/// let [least, most] = halfspaces_online::bounds::random_order_rate(3);
/// assert!((least - 0.784_075).abs() < 1e-6 && most == 1.0);
/// ```
#[must_use]
pub fn random_order_rate(dim: usize) -> [f64; 2] {
    let nats_per_mistake = 2.0 * LN_2 + PI * PI / 6.0 - LN_2 * LN_2;
    let d = dim as f64;
    [(d - 1.0) / nats_per_mistake, (d - 1.0) / 2.0]
}

/// The mistake bound of the passive-aggressive learner for a unit separator of margin γ: (R/γ)². If y (u · x) >= 1 on
/// every example for some u, then Σ (hinge loss)² <= (R‖u‖)² (Crammer et al. 2006, Theorem 2), and each mistake has
/// hinge loss at least 1.
#[must_use]
pub fn passive_aggressive_mistakes(radius: f64, margin: f64) -> f64 {
    perceptron_mistakes(radius, 1.0, margin)
}

/// The mistake bound of Winnow with threshold n on a disjunction of k of n variables: 2 + 3k(1 + lg n) (Littlestone
/// 1988, in the form of Blum's notes). Each of the k weights is doubled at most 1 + lg n times. A mistake that doubles
/// weights increases the sum of the weights by less than n, and a mistake that halves weights decreases this sum by at
/// least n/2.
#[must_use]
pub fn winnow_mistakes(relevant: usize, variables: usize) -> f64 {
    2.0 + 3.0 * relevant as f64 * (1.0 + (variables as f64).log2())
}

/// The mistake bound of the second-order perceptron on separable data: (1/γ) √((a + u'Mu) ln det(I + M/a)), where M is
/// the sum of x x' over the mistakes and u is a unit separator of margin γ (Cesa-Bianchi, Conconi and Gentile 2005,
/// Theorem 3.1 for hinge loss 0). `quadratic` is u'Mu, and `log_det` is ln det(I + M/a).
#[must_use]
pub fn second_order_mistakes(a: f64, quadratic: f64, log_det: f64, margin: f64) -> f64 {
    if margin > 0.0 { ((a + quadratic) * log_det).sqrt() / margin } else { f64::INFINITY }
}

/// The bound on the number of corrections of ALMA with p = 2 and parameter α on separable points of norm 1:
/// (2/γ²)(2/α - 1)² + 8/α - 4 (Gentile 2001, Theorem 3).
#[must_use]
pub fn alma_corrections(alpha: f64, margin: f64) -> f64 {
    2.0 * squared_ratio(2.0 / alpha - 1.0, margin) + 8.0 / alpha - 4.0
}

/// The mistake bound of the ellipsoid method as a learner, for points of norm 1: 2d(d+1) ln((1+γ)/γ) (Kakade §3).
#[must_use]
pub fn ellipsoid_mistakes(dim: usize, margin: f64) -> f64 {
    let d = dim as f64;
    2.0 * d * (d + 1.0) * log_inverse_radius(margin)
}

/// The mistake bound of the exact centre of gravity as a learner, for points of norm 1: d ln((1+γ)/γ)/ln(e/(e-1)). Each
/// cut leaves at most 1 - 1/e of the volume (Grünbaum).
#[must_use]
pub fn centre_of_gravity_mistakes(dim: usize, margin: f64) -> f64 {
    dim as f64 * log_inverse_radius(margin) / -(1.0 - (-1.0f64).exp()).ln()
}

/// The leverage below which the volumetric centre drops a constraint.
pub const VOLUMETRIC_LEAST_LEVERAGE: f64 = 1.0 / 400.0;
/// The least increase of the volumetric potential at a mistake.
pub const VOLUMETRIC_RISE: f64 = 0.005;
/// The largest decrease of the volumetric potential when a constraint is dropped.
pub const VOLUMETRIC_FALL: f64 = 0.0015;

/// The mistake bound of the volumetric centre as a learner, for points of norm 1. Let ε =
/// [`VOLUMETRIC_LEAST_LEVERAGE`], a = [`VOLUMETRIC_RISE`] and b = [`VOLUMETRIC_FALL`]. The bound is 1 + (d
/// ln((1+γ)/γ) + d ln(d/ε) - ½ d ln 2 + b(d-1))/(a-b), about 286 d ln(566 d/γ) (after Vaidya 1996, with our constants:
/// `docs/theory/volumetric-centre.md`).
#[must_use]
pub fn volumetric_mistakes(dim: usize, margin: f64) -> f64 {
    let d = dim as f64;
    let most = (d / VOLUMETRIC_LEAST_LEVERAGE).ln() + log_inverse_radius(margin);
    let rise = d * (most - 0.5 * std::f64::consts::LN_2) + VOLUMETRIC_FALL * (d - 1.0);
    1.0 + rise / (VOLUMETRIC_RISE - VOLUMETRIC_FALL)
}

/// -ln(γ/(1+γ)), where γ/(1+γ) is the radius of a ball that the version space always contains.
fn log_inverse_radius(margin: f64) -> f64 {
    if margin > 0.0 { (1.0 + margin).ln() - margin.ln() } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares each bound with a value computed by hand from the statement of its theorem.
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

    /// Compares the bound with values that were computed independently in Python, and checks how the bound depends on
    /// the number of buckets and on the failure probability.
    #[test]
    fn the_mistakes_of_algorithm_1_are_worked_out() {
        for (dim, points, buckets, expected) in [
            (5, 1e4, 284, 836.376),
            (5, 1e5, 310, 981.833),
            (10, 1e20, 936, 2996.450),
            (30, 1e80, 3773, 10_724.692),
        ] {
            let found = two_chains_mistakes(dim, points, buckets, 0.1);
            assert!((found - expected).abs() < 1e-3, "{dim} {points:e}: {found}");
        }
        let of = |buckets, failure| two_chains_mistakes(10, 1e20, buckets, failure);
        assert!(of(936, 0.2) < of(936, 0.1) && of(370, 0.1).is_infinite());
        assert!(of(936, 2.0 * CHAIN_START_FAILURE).is_infinite());
        // With only slightly more buckets than the decays need, up to 12 e²/cos θ₀ = 176.3 points per bucket are still
        // misclassified at the end.
        let left = of(390, 0.1) / (40.0 + 780.0 + 2.0 * 390.0 * 176.3);
        assert!(left > 0.8 && left < 1.05, "{left}");
    }

    /// Compares `mean_decay` with the mean of (1 - ρ²t²)^j over the quantiles of ρ² and of t.
    #[test]
    fn mean_decays_are_those_of_the_law() {
        for d in [3.0, 10.0, 30.0] {
            assert!((mean_decay(d, 1) - (1.0 - 2.0 / (3.0 * d))).abs() < 1e-15);
            for power in [2, 5, 8] {
                let grid = || (0..400).map(|i| (f64::from(i) + 0.5) / 400.0);
                // P[ρ² > s] = (1 - s)^(d/2 - 1).
                let squares = grid().map(|u| 1.0 - u.powf(2.0 / (d - 2.0)));
                let sum: f64 = squares
                    .flat_map(|s| grid().map(move |t| (1.0 - s * t * t).powi(power as i32)))
                    .sum();
                let found = mean_decay(d, power);
                assert!((found - sum / 160_000.0).abs() < 1e-3, "{d} {power}: {found}");
            }
        }
    }

    /// In two dimensions α is the cosine of a uniform angle, so α >= 1/√8 has probability g = 1 - (2/π) asin(1/√8).
    #[test]
    fn rounds_of_the_strong_learner_are_worked_out() {
        let good = 1.0 - 2.0 / PI * 0.5f64.sqrt().mul_add(0.5, 0.0).asin();
        let cap = 16.0;
        let run = round_mistakes(2.0) - (2.0 / good - 1.5) * (cap + 1.0);
        // Computed in Python: the mean of ln(1/α) is 0.295161.
        assert!((run - 1.0 - 16.0 * 0.295_160_67).abs() < 1e-4, "{run}");
        // The mean of ln(1/α), 0.754663, is multiplied by 8 k = 40. The probability g is 0.670180.
        let expected = (2.0 / 0.670_179_97 - 1.5) * 60.0 + 40.0 * 0.754_663_37 + 1.0;
        assert!((round_mistakes(5.0) - expected).abs() < 1e-3);
        // In one dimension, a round has half a failed run on average, with at most ⌊4 ln 4⌋ + 1 = 6 mistakes. The last
        // run makes one mistake.
        assert_eq!(round_mistakes(1.0), 0.5 * 6.0 + 1.0);
        assert!((1..40).all(|k| round_mistakes(f64::from(k)) < round_mistakes(f64::from(k + 1))));
    }

    /// Compares the tail with Σ_{i<S} C(T, i) 2^i / 3^T, computed in integers.
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

    /// The probability agrees with the sum of its terms.
    #[test]
    fn few_decays_are_a_binomial_tail() {
        for steps in 1..20u64 {
            let mut term = (1.0f64 / 3.0).powi(steps as i32);
            let mut sum = 0.0;
            for decays in 0..=steps {
                let found = fewer_decays(decays, steps);
                assert!((found - sum).abs() <= 1e-13, "{decays} of {steps}: {found}, {sum}");
                sum += term;
                term *= 2.0 * (steps - decays) as f64 / (decays + 1) as f64;
            }
        }
    }
}
