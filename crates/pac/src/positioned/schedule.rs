//! The constants of the theorem on noise without a margin, with one function per constant, and the sizes of the
//! practical schedule. The proof is in docs/theory/massart-without-margin.md.
//!
//! d is the dimension, η the noise rate, ε the excess, δ the failure probability, and λ = η + ε/2. Claims: PM, PMt.

/// The leak λ = η + ε/2: the largest allowed conditional error of a region.
///
/// ```
/// assert_eq!(halfspaces_pac::positioned_leak(0.25, 0.25), 0.375);
/// ```
#[must_use]
pub fn positioned_leak(noise: f64, excess: f64) -> f64 {
    noise + excess / 2.0
}

/// The number N = ⌈(16dλ/ε) ln(4/ε)⌉ of rules. Each rule covers a fraction of at least ε/(16dλ) of the remaining mass,
/// so after N rules a mass of less than ε/4 remains.
///
/// ```
/// // 16·2·0.35/0.5 · ln 8 = 46.58.
/// assert_eq!(halfspaces_pac::positioned_rules(2, 0.1, 0.5), 47);
/// ```
#[must_use]
pub fn positioned_rules(dim: usize, noise: f64, excess: f64) -> u64 {
    let share = excess / (16.0 * dim as f64 * positioned_leak(noise, excess));
    whole((4.0 / excess).ln() / share)
}

/// The failure probability δ' = δ/(5(N+1)) of each event of a round. The events concern the test of the remaining mass,
/// the number of draws, the position, the descent and the choice.
fn positioned_failure(rules: u64, failure: f64) -> f64 {
    failure / (5.0 * (rules as f64 + 1.0))
}

/// The number ⌈(64/ε) ln(1/δ')⌉ of examples for testing whether a fraction larger than [`positioned_stop`] remains.
fn positioned_test(excess: f64, share: f64) -> u64 {
    whole(-64.0 / excess * share.ln())
}

/// The fraction 3ε/8: the run ends once at most this fraction of the test examples is left uncovered by the rules. Then
/// at most ε/2 of the mass remains.
pub(super) fn positioned_stop(excess: f64) -> f64 {
    3.0 * excess / 8.0
}

/// Computes Λ = d ln(2en/d) + D ln(2en/D) + ln(4/δ') with D = d(d+1)/2. This is ln(4M/δ'), where M is a bound on the
/// number of subsets of 2n points that have the form {x in V, (u·xA)² > s‖xA‖²}.
fn complexity(dim: usize, points: f64, share: f64) -> f64 {
    let d = dim as f64;
    let quadrics = d * (d + 1.0) / 2.0;
    let sets = |dimension: f64| dimension * (2.0 * std::f64::consts::E * points / dimension).ln();
    sets(d) + sets(quadrics) + (4.0 / share).ln()
}

/// The number of points to bring into radially isotropic position: the smallest n >= d² with n >= 32dΛ(n). Here Λ = d
/// ln(2en/d) + D ln(2en/D) + ln(4/δ') and D = d(d+1)/2.
///
/// ```
/// use std::f64::consts::E;
/// let n = halfspaces_pac::positioned_points(1, 0.25) as f64;
/// // d = D = 1: n >= 32 (2 ln(2en) + ln 16), which does not hold for n - 1.
/// let least = |n: f64| 32.0 * (2.0 * (2.0 * E * n).ln() + 16f64.ln());
/// assert!(n >= least(n) && n - 1.0 < least(n - 1.0));
/// ```
#[must_use]
pub fn positioned_points(dim: usize, share: f64) -> u64 {
    let enough = |n: f64| n >= 32.0 * dim as f64 * complexity(dim, n, share);
    // The function n - 32dΛ(n) is convex and negative at n = d². Hence there is a single threshold beyond d²: every n
    // between d² and the threshold is too small, and every larger n is large enough. (Far below d², Λ is negative and
    // has no meaning.)
    let mut high = (dim as f64).powi(2).max(1.0);
    while !enough(high) {
        high *= 2.0;
    }
    let mut low = (dim as f64).powi(2).max(1.0);
    while high - low > 1.0 {
        let middle = ((low + high) / 2.0).floor();
        if enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    whole(high)
}

/// The number T = ⌈(16d((1-λ) + √(2 ln(1/δ')))/ε)²⌉ of steps of a descent.
///
/// ```
/// // λ = 1/2 and ln(1/δ') = 2: (16 (1/2 + 2)/ε)².
/// assert_eq!(halfspaces_pac::positioned_steps(1, 0.25, 0.5, (-2.0f64).exp()), 6400);
/// ```
#[must_use]
pub fn positioned_steps(dim: usize, noise: f64, excess: f64, share: f64) -> u64 {
    let spread = 1.0 - positioned_leak(noise, excess) + (-2.0 * share.ln()).sqrt();
    whole((16.0 * dim as f64 * spread / excess).powi(2))
}

/// The step size 1/((1-λ)√T) of the descent.
pub(super) fn positioned_step(noise: f64, excess: f64, steps: u64) -> f64 {
    1.0 / ((1.0 - positioned_leak(noise, excess)) * (steps as f64).sqrt())
}

/// The slack a = ε/(32d): a region becomes a rule if its signed sum is at most -a.
fn positioned_slack(dim: usize, excess: f64) -> f64 {
    excess / (32.0 * dim as f64)
}

/// The number m = ⌈512 d² ln(8/δ')/ε²⌉ of examples for the choice of a region. The signed sums of all regions are then
/// within a = ε/(32d) of their means.
///
/// ```
/// assert_eq!(halfspaces_pac::positioned_choice(2, 0.5, 8.0 * (-3.0f64).exp()), 24576);
/// ```
#[must_use]
pub fn positioned_choice(dim: usize, excess: f64, share: f64) -> u64 {
    whole(512.0 * (dim as f64 / excess).powi(2) * (8.0 / share).ln())
}

/// The number ⌈(8/ε) n⌉ of draws. If a mass of at least ε/4 remains, at least n of these draws fall into it, except
/// with probability e^(-n/4).
fn positioned_draws(excess: f64, examples: u64) -> u64 {
    whole(8.0 / excess * examples as f64)
}

/// The slack 1/√m, which is two standard deviations of the signed sum of m examples. The practical schedule requires
/// the signed sum to be at least this far below 0.
pub(super) fn practical_slack(examples: u64) -> f64 {
    1.0 / (examples as f64).sqrt()
}

fn whole(x: f64) -> u64 {
    x.ceil() as u64
}

/// The schedule of sizes and thresholds for [`PositionedMassart`](crate::PositionedMassart).
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_pac::{PositionedMassart, PositionedSchedule};
/// let params = PositionedMassart::params(0.1).excess(0.4);
/// let theorem = params.schedule(PositionedSchedule::Theorem).check()?.plan(10);
/// let practical = params.check()?.plan(10);
/// assert!(practical.steps * 100 < theorem.steps && practical.choice * 10 < theorem.choice);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PositionedSchedule {
    /// The schedule of the theorem: fresh examples for every step, one descent, and the largest region with a signed
    /// sum of at most -a.
    Theorem,
    /// A schedule with far fewer examples. Each example is used in every round. A round computes several directions,
    /// and chooses the region with the smallest signed sum over all of them. There is no theorem for this schedule: the
    /// bound on the error comes from the held-out errors.
    #[default]
    Practical,
}

/// The sizes of a fit to points in R^d: the number of examples for each step of a round.
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_pac::{PositionedMassart, PositionedSchedule};
/// let params = PositionedMassart::params(0.1).excess(0.5).schedule(PositionedSchedule::Theorem);
/// let plan = params.check()?.plan(2);
/// assert_eq!((plan.rules, plan.slack), (47, 0.0078125));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PositionedPlan {
    /// The maximum number of rules.
    pub rules: u64,
    /// The number of examples in a test of the remaining mass, and in the held-out test at the end.
    pub test: u64,
    /// The number of points brought into radially isotropic position. Under the practical schedule this is an upper
    /// limit.
    pub position: u64,
    /// The number of examples that the descent takes from a stream. Only examples that no rule covers count.
    pub steps: u64,
    /// The number of examples on which regions are compared. Only examples that no rule covers count.
    pub choice: u64,
    /// The maximum number of examples drawn in a round.
    pub draws: u64,
    /// The signed sum of a region must be at least this far below 0.
    pub slack: f64,
}

impl PositionedPlan {
    /// Creates the sizes of the theorem.
    pub(super) fn theorem(dim: usize, noise: f64, excess: f64, failure: f64) -> PositionedPlan {
        let rules = positioned_rules(dim, noise, excess);
        let share = positioned_failure(rules, failure);
        let position = positioned_points(dim, share);
        let steps = positioned_steps(dim, noise, excess, share);
        let choice = positioned_choice(dim, excess, share);
        let examples = position.saturating_add(steps).saturating_add(choice);
        PositionedPlan {
            rules,
            test: positioned_test(excess, share),
            position,
            steps,
            choice,
            draws: positioned_draws(excess, examples),
            slack: positioned_slack(dim, excess),
        }
    }

    /// Creates the sizes of the practical schedule. A direction needs about a hundred examples per dimension. Detecting
    /// a signed sum of η + ε/2 - η = ε/2 takes a few times (2/ε)² examples.
    pub(super) fn practical(dim: usize, excess: f64) -> PositionedPlan {
        let position = 100 * dim as u64 + 1000;
        let steps = 1000 * dim as u64 + 5000;
        let choice = whole(40.0 / excess.powi(2)).saturating_add(1000);
        PositionedPlan {
            rules: 20,
            test: choice,
            position,
            steps,
            choice,
            draws: positioned_draws(excess, (position + steps).saturating_add(choice)),
            slack: practical_slack(choice),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For d = 2, the subspaces have VC dimension 2 and the quadrics have VC dimension 3.
    #[test]
    fn the_complexity_is_that_of_subspaces_and_quadrics() {
        let (n, e) = (1000.0, std::f64::consts::E);
        let expected = 2.0 * (e * n).ln() + 3.0 * (2.0 * e * n / 3.0).ln() + (4.0f64 / 0.01).ln();
        assert!((complexity(2, n, 0.01) - expected).abs() < 1e-9);
    }

    #[test]
    fn constants_by_hand() {
        assert_eq!(positioned_failure(47, 0.048), 0.0002);
        assert_eq!(positioned_test(0.5, (-2.0f64).exp()), 256);
        assert_eq!(positioned_stop(0.5), 0.1875);
        assert_eq!(positioned_step(0.25, 0.5, 100), 0.2);
        assert_eq!(positioned_slack(2, 0.5), 0.0078125);
        assert_eq!(positioned_draws(0.5, 100), 1600);
    }

    #[test]
    fn the_practical_sizes_are_these() {
        let plan = PositionedPlan::practical(10, 0.1);
        assert_eq!((plan.rules, plan.position, plan.steps), (20, 2000, 15_000));
        assert_eq!((plan.choice, plan.test, plan.draws), (5000, 5000, 1_760_000));
        assert_eq!(plan.slack, 1.0 / 5000f64.sqrt());
    }

    /// Checks the chain of inequalities of the proof, with the values of the functions.
    #[test]
    fn the_constants_fit_each_other() {
        for (dim, noise, excess, failure) in
            [(1, 0.0, 0.9, 0.1), (2, 0.1, 0.5, 0.05), (7, 0.3, 0.05, 0.01), (40, 0.45, 0.1, 0.05)]
        {
            let plan = PositionedPlan::theorem(dim, noise, excess, failure);
            let (d, leak) = (dim as f64, positioned_leak(noise, excess));
            // The smallest loss is at most -ε/(8d), and the loss of the descent exceeds it by at most half as much.
            let share = positioned_failure(plan.rules, failure);
            assert!(5.0 * share * (plan.rules as f64 + 1.0) <= failure * (1.0 + 1e-12));
            let log = -share.ln();
            let descent = (1.0 - leak + (2.0 * log).sqrt()) / (plan.steps as f64).sqrt();
            let target = excess / (8.0 * d);
            assert!(descent <= target / 2.0 && descent > 0.49 * target);
            // The Dvoretzky-Kiefer-Wolfowitz inequality, for four tails and two constants.
            let deviation = ((8.0 / share).ln() / (2.0 * plan.choice as f64)).sqrt();
            assert!(deviation <= plan.slack && deviation > 0.99 * plan.slack);
            assert!((2.0 * plan.slack - target / 2.0).abs() < 1e-15);
            // At q = 1/(2d), q - √(4qΛ/n) is at least q/2, and not much more.
            let bracket = complexity(dim, plan.position as f64, share);
            let loss = (4.0 / (2.0 * d) * bracket / plan.position as f64).sqrt();
            assert!(loss <= 1.0 / (4.0 * d) && loss > 0.24 / d);
            // N regions of the smallest fraction leave less than ε/4; N - 1 regions may leave more.
            let left = |rules: u64| (-(rules as f64) * target / (2.0 * leak)).exp();
            assert!(left(plan.rules) <= excess / 4.0 && left(plan.rules - 1) > excess / 4.0);
            // The Chernoff bounds for the two sides of the test. Between ε/4 and ε/2 either outcome is correct.
            let stop = positioned_stop(excess);
            let test = plan.test as f64;
            let few = test * (excess / 2.0) * (1.0 - stop / (excess / 2.0)).powi(2) / 2.0;
            let rise = stop / (excess / 4.0) - 1.0;
            let many = test * (excess / 4.0) * rise.powi(2) / (2.0 + rise);
            assert!(few >= log && many >= log && few < log + 1.0);
            // The Chernoff bound for the draws. The mean number of useful draws is twice the number needed.
            let wanted = (plan.position + plan.steps + plan.choice) as f64;
            assert!(plan.draws as f64 * excess / 4.0 >= 2.0 * wanted && wanted / 4.0 >= log);
            // The error is at most λ inside the regions, and arbitrary on the remaining mass of ε/2.
            assert!(leak + excess / 2.0 <= noise + excess + 1e-15);
        }
    }
}
