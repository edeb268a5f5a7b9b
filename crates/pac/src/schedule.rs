//! The constants of the Perspectron theorems: one function per constant, with its source.
//!
//! η is the noise rate, β = 1 - 2η, ε the target excess, γ the margin, δ the failure probability, T the length of a
//! run, N the number of runs, and H the set of candidates. The `paper_*` functions give the constants as printed in the
//! papers. The other functions give corrected constants or our own constants. The proofs are in docs/theory.
//!
//! Claims: P1, P2, P3, P4, P4s, P5, P6, P6m, P7, P8, P13s, P14.

/// The number N = ⌈log₂(2/δ)⌉ of independent runs. Each run has a good iterate with probability at least 1/2, so all
/// runs fail with probability at most δ/2 (CKST24 Theorem 3).
#[must_use]
pub fn runs(failure: f64) -> u64 {
    whole((2.0 / failure).log2())
}

/// The number T = ⌈16/(εγ)²⌉ of steps per run, as printed (CKST24 Lemma 3).
#[must_use]
pub fn paper_run_length(excess: f64, margin: f64) -> u64 {
    whole(16.0 / (excess * margin).powi(2))
}

/// The step size λ = γ/(2√T), as printed (CKST24 Lemma 3). T is the length of one run.
#[must_use]
pub fn paper_step(margin: f64, run_length: u64) -> f64 {
    margin / (2.0 * (run_length as f64).sqrt())
}

/// The run length T = ⌈16(1-η)²/(εγ)²⌉. The proof uses |β sign(w·x) - y| <= 2(1-η), where CKST24 Lemma 3 uses the bound
/// 2.
#[must_use]
pub fn run_length(noise: f64, excess: f64, margin: f64) -> u64 {
    whole(16.0 * ((1.0 - noise) / (excess * margin)).powi(2))
}

/// The step size λ = γ/(2(1-η)√T), which makes each step at most 2(1-η)λ/γ long.
#[must_use]
pub fn step(noise: f64, margin: f64, run_length: u64) -> f64 {
    paper_step(margin, run_length) / (1.0 - noise)
}

/// The number |T₂| = ⌈(8/ε²) ln(4|H|/δ)⌉ of fresh examples for validation. With this number, the empirical errors of
/// all candidates are within ε/4 of the true errors, except with probability δ/2 (CKST24 Lemma 4 and Theorem 3).
#[must_use]
pub fn validation(candidates: u64, excess: f64, failure: f64) -> u64 {
    whole(8.0 / excess.powi(2) * (4.0 * candidates as f64 / failure).ln())
}

/// The logarithm L = ln(3/δ): each of the three failure events of the thinned selection gets a third of the failure
/// probability.
fn third(failure: f64) -> f64 {
    (3.0 / failure).ln()
}

/// The run length T = ⌈16(1-η)²(1+√(2L))²/(εγ)²⌉ with L = ln(3/δ). With the denominator |w·x| + γ, the average error of
/// the iterates of one run is then at most η + ε/4, except with probability δ/3 (ours,
/// docs/theory/thinned-selection.md).
#[must_use]
pub fn thinned_run_length(noise: f64, excess: f64, margin: f64, failure: f64) -> u64 {
    let spread = 1.0 + (2.0 * third(failure)).sqrt();
    whole(16.0 * ((1.0 - noise) * spread / (excess * margin)).powi(2))
}

/// The run length T = ⌈16(1-η)²(1+(1+γ)√(2L))²/(εγ)²⌉ with L = ln(3/δ). It replaces [`thinned_run_length`] for the
/// denominator max(|w·x|, γ), for which g·(w - w*) can reach 2(1-η)(1+1/γ) (ours).
#[must_use]
pub fn thinned_run_length_max(noise: f64, excess: f64, margin: f64, failure: f64) -> u64 {
    let spread = 1.0 + (1.0 + margin) * (2.0 * third(failure)).sqrt();
    whole(16.0 * ((1.0 - noise) * spread / (excess * margin)).powi(2))
}

/// The number K = ⌈((4η+2ε)/ε) L⌉ of candidates, with L = ln(3/δ). At least one of K random iterates has an error of at
/// most η + ε/2, except with probability δ/3 (ours). For a link function, η is [`glm_noise_bound`].
#[must_use]
pub fn thinned_candidates(noise: f64, excess: f64, failure: f64) -> u64 {
    whole((4.0 * noise + 2.0 * excess) / excess * third(failure))
}

/// The number |T₂| = ⌈(8/ε²) ln(6K/δ)⌉ of fresh examples for the validation of K candidates. The empirical errors are
/// within ε/4 of the true errors, except with probability δ/3.
#[must_use]
pub fn thinned_validation(candidates: u64, excess: f64, failure: f64) -> u64 {
    whole(8.0 / excess.powi(2) * (6.0 * candidates as f64 / failure).ln())
}

/// The factor α = ε/(2-ε) of the padding αγ, as printed (CKST24 Lemma 6). Claim 1 of CKST24 applies Lemma 6 with ε/2 in
/// place of ε. The lemma does not hold for ε/2 with this α.
#[must_use]
pub fn paper_padding(excess: f64) -> f64 {
    excess / (2.0 - excess)
}

/// The number T = ⌈32/(ε⁴γ²)⌉ of steps per run, as printed (CKST24 Claim 1).
#[must_use]
pub fn glm_paper_run_length(excess: f64, margin: f64) -> u64 {
    whole(32.0 / (excess.powi(4) * margin.powi(2)))
}

/// The step size λ = γε/((2-ε)√(2T)), as printed (CKST24 Claim 1).
#[must_use]
pub fn glm_paper_step(excess: f64, margin: f64, run_length: u64) -> f64 {
    margin * paper_padding(excess) / (2.0 * run_length as f64).sqrt()
}

/// The factor α = ε/(4-ε) of the padding, from Lemma 6 of CKST24 with ε/2 in place of ε. Claim 1 of CKST24 needs this
/// value.
#[must_use]
pub fn padding(excess: f64) -> f64 {
    excess / (4.0 - excess)
}

/// The number T = ⌈1024/(ε⁴γ²)⌉ of steps per run, for which Claim 1 of CKST24 holds with [`padding`].
#[must_use]
pub fn glm_corrected_run_length(excess: f64, margin: f64) -> u64 {
    whole(1024.0 / (excess.powi(4) * margin.powi(2)))
}

/// The step size λ = αγ/(2√T) with [`padding`], which makes each step at most 2λ/(αγ) long.
#[must_use]
pub fn glm_corrected_step(excess: f64, margin: f64, run_length: u64) -> f64 {
    padding(excess) * paper_step(margin, run_length)
}

/// The number T = ⌈64/(γε)²⌉ of steps per run with the denominator max(|w·x|, γ/2). This number avoids the factor ε⁻²
/// that padding would add (ours, docs/theory/glm-without-padding-loss.md).
#[must_use]
pub fn glm_run_length(excess: f64, margin: f64) -> u64 {
    whole(64.0 / (excess * margin).powi(2))
}

/// The step size λ = γ/(4√T) with the denominator max(|w·x|, γ/2), which makes each step at most 4λ/γ long.
#[must_use]
pub fn glm_step(margin: f64, run_length: u64) -> f64 {
    paper_step(margin, run_length) / 2.0
}

/// The run length T = ⌈16(2+(2+γ)√(2L))²/(εγ)²⌉ with L = ln(3/δ): the counterpart of [`thinned_run_length`] for a link
/// function and the denominator max(|w·x|, γ/2) (ours).
#[must_use]
pub fn glm_thinned_run_length(excess: f64, margin: f64, failure: f64) -> u64 {
    let spread = 2.0 + (2.0 + margin) * (2.0 * third(failure)).sqrt();
    whole(16.0 * (spread / (excess * margin)).powi(2))
}

/// The noise bound h = (1 - min(|σ(γ)|, |σ(-γ)|) + τ)/2 of a link function σ with asymmetry τ. It is at least opt_RCN +
/// τ/2.
#[must_use]
pub fn glm_noise_bound(at_margin: f64, at_minus_margin: f64, asymmetry: f64) -> f64 {
    (1.0 - at_margin.abs().min(at_minus_margin.abs()) + asymmetry) / 2.0
}

/// The smallest step ε of a grid of noise rates.
pub const MIN_GRID_STEP: f64 = 1e-4;

/// The grid of the values β̃ = 0, ε, 2ε, ... up to 1, for ε >= [`MIN_GRID_STEP`]. For every β in \[0, 1\], one of these
/// values lies in (β - ε, β] (CKST24 App. A; the printed grid stops at 1/2).
#[must_use]
pub fn noise_grid(excess: f64) -> Vec<f64> {
    // The tolerance absorbs the rounding error if 1/ε is meant to be an integer.
    let steps = (1.0 / excess.max(MIN_GRID_STEP) + 1e-9).floor() as u64;
    (0..=steps).map(|j| (j as f64 * excess).min(1.0)).collect()
}

/// The number |T₂| = ⌈(32/ε²) ln(2|H|/δ')⌉ of fresh examples for validation if the noise rate is unknown. For
/// candidates with an error of at most η + 3ε/4, the empirical errors are within ε/8 of the true errors, except with
/// probability δ' (corrected from CKST24 App. A).
#[must_use]
pub fn grid_validation(candidates: u64, excess: f64, failure: f64) -> u64 {
    whole(32.0 / excess.powi(2) * (2.0 * candidates as f64 / failure).ln())
}

/// The number ⌈(8/ε²) ln(2/δ')⌉ of fresh examples for validation if the margin is unknown. The empirical error of one
/// halfspace is within ε/4 of its true error, except with probability δ'.
#[must_use]
pub fn held_out(excess: f64, failure: f64) -> u64 {
    whole(8.0 / excess.powi(2) * (2.0 / failure).ln())
}

/// The failure probability δ_j = δ/2^(j+1) of guess j = 0, 1, ... of the margin. All δ_j sum to at most δ.
#[must_use]
pub fn guess_failure(failure: f64, guess: u32) -> f64 {
    failure / 2.0 / 2f64.powi(i32::try_from(guess).unwrap_or(i32::MAX))
}

/// A bound on the amount by which the average error of the first t = `steps` iterates of a run exceeds η. It fails with
/// probability at most `failure`. For the denominator |w·x| + γ it is 1/(4λt) + λ(1-η)²/γ² + ((1-η)/γ)√(2
/// ln(1/failure)/t). It holds for runs of any length, including those that end early.
#[must_use]
pub fn average_excess(noise: f64, margin: f64, step: f64, steps: u64, failure: f64) -> f64 {
    let bound = (1.0 - noise) / margin;
    average(bound, bound, step, steps, failure)
}

/// The bound of [`average_excess`] for the denominator max(|w·x|, γ). Here the square root has the factor (1-η)(1+1/γ).
#[must_use]
pub fn average_excess_max(noise: f64, margin: f64, step: f64, steps: u64, failure: f64) -> f64 {
    let bound = (1.0 - noise) / margin;
    average(bound, bound * (1.0 + margin), step, steps, failure)
}

/// The bound of [`average_excess`] for a link function with the denominator max(|w·x|, γ/2): 1/(4λt) + 4λ/γ² + (1 +
/// 2/γ)√(2 ln(1/failure)/t).
#[must_use]
pub fn glm_average_excess(margin: f64, step: f64, steps: u64, failure: f64) -> f64 {
    average(2.0 / margin, 1.0 + 2.0 / margin, step, steps, failure)
}

/// Returns 1/(4λt) + λB² + C√(2 ln(1/failure)/t), the bound for update vectors g with ‖g‖ <= 2B and |g·(w - w*)| <= 2C.
fn average(norm: f64, increment: f64, step: f64, steps: u64, failure: f64) -> f64 {
    let t = steps as f64;
    1.0 / (4.0 * step * t)
        + step * norm * norm
        + increment * (2.0 * (1.0 / failure).ln() / t).sqrt()
}

/// The number J = 2⌈log₂|T₂|⌉. It is at least the number of checks, which are made after m = 1, 2, 3, 4, 6, 8, 12, ...
/// < |T₂| examples (ours, docs/theory/thinned-selection.md).
#[must_use]
pub fn elimination_checks(validation: u64) -> u64 {
    2 * u64::from(64 - (validation.max(2) - 1).leading_zeros())
}

/// The gap √(2n ln(KJ/δ_e)): a candidate is dropped if its number of errors exceeds that of the leader by more than
/// this gap. Here n is the number of examples on which exactly one of the two errs, or an upper bound on that number
/// (ours).
#[must_use]
pub fn elimination_gap(disagreements: u64, candidates: u64, checks: u64, failure: f64) -> f64 {
    let pairs = candidates as f64 * checks as f64;
    (2.0 * disagreements as f64 * (pairs / failure).ln()).sqrt()
}

/// The accuracy √(2 ln(2K/δ)/|T₂|) of a choice among K candidates, capped at 1. It bounds the amount by which the true
/// error of the candidate with the fewest errors on |T₂| fresh examples exceeds the true error of the best candidate.
/// The bound uses half of the failure probability δ. It is ε/2 at |T₂| = ⌈(8/ε²) ln(2K/δ)⌉ (ours,
/// docs/theory/thinned-selection.md).
#[must_use]
pub fn choice_accuracy(candidates: u64, examples: u64, failure: f64) -> f64 {
    (2.0 * (2.0 * candidates as f64 / failure).ln() / examples as f64).sqrt().min(1.0)
}

/// An anytime-valid test for a leader among K candidates. If the leader passes the test against a candidate, the error
/// of the leader is less than the error of this candidate plus e. The failure probability δ covers all times and all
/// candidates.
///
/// For a candidate, let a be its number of errors minus the leader's number of errors. Let n be the number of examples,
/// out of m, on which exactly one of the two errs. If the leader's error exceeds the candidate's error by at least e,
/// then exp(sa)/(cosh(s)ⁿ (1 - e tanh s)ᵐ) is a supermartingale for every s > 0. The test is passed once this process
/// exceeds KG/δ for at least one of the G values of s (ours, docs/theory/thinned-selection.md).
///
/// ```
/// use halfspaces_pac::schedule::CloseEnough;
/// let test = CloseEnough::new(0.05, 1000, 0.01);
/// // If both make the same number of errors, 400 disagreements on 4000 examples are few enough; 4000 are not.
/// assert!(test.is_passed(0, 400, 4000) && !test.is_passed(0, 4000, 4000));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CloseEnough {
    /// The values of s.
    levels: Vec<f64>,
    /// The values of ln cosh s.
    cosh: Vec<f64>,
    /// The values of ln(1 - e tanh s).
    rate: Vec<f64>,
    /// The threshold ln(KG/δ).
    confidence: f64,
}

impl CloseEnough {
    /// Creates the test for e (`accuracy`), K (`candidates`) and δ (`failure`). It uses G = ⌈2 lg(1/e)⌉ + 4 values of
    /// s: e, √2 e, 2e, ..., up to about 3. Suppose that the two candidates disagree on a fraction D of the examples and
    /// have the same error. Then the test passes after m = 2 ln(KG/δ) D/e² examples or a few more, and s = e/D is the
    /// first value that passes. An e outside (0, 1] is replaced by the nearest value inside.
    #[must_use]
    pub fn new(accuracy: f64, candidates: u64, failure: f64) -> Self {
        let accuracy = accuracy.clamp(f64::MIN_POSITIVE, 1.0);
        let count = (2.0 * -accuracy.log2()).ceil().max(0.0) as usize + 4;
        let levels: Vec<f64> = (0..count).map(|g| accuracy * (g as f64 / 2.0).exp2()).collect();
        CloseEnough {
            cosh: levels.iter().map(|s| s.cosh().ln()).collect(),
            rate: levels.iter().map(|s| (-accuracy * s.tanh()).ln_1p()).collect(),
            levels,
            confidence: (candidates as f64 * count as f64 / failure).ln(),
        }
    }

    /// Whether the test is passed after `examples` examples. The candidate must have `ahead` more errors than the
    /// leader, and there must be at most `disagreements` examples on which exactly one of the two errs.
    #[must_use]
    pub fn is_passed(&self, ahead: i64, disagreements: u64, examples: u64) -> bool {
        let (a, n, m) = (ahead as f64, disagreements as f64, examples as f64);
        let levels = self.levels.iter().zip(&self.cosh).zip(&self.rate);
        // Evaluates all values of s, without a branch for each value.
        levels.fold(false, |any, ((s, cosh), rate)| {
            any | (s * a - n * cosh - m * rate >= self.confidence)
        })
    }
}

/// The accuracy √(ln(2|H|/failure)/(2m)): a bound on the difference between the empirical and the true errors of |H| =
/// `candidates` candidates on m = `examples` fresh examples. It fails with probability at most `failure` (Hoeffding).
#[must_use]
pub fn validation_accuracy(candidates: u64, examples: u64, failure: f64) -> f64 {
    ((2.0 * candidates as f64 / failure).ln() / (2.0 * examples as f64)).sqrt()
}

/// Returns the smallest integer that is at least `x` and at least 1, or the largest `u64` if that integer is too large.
/// If `x` is above an integer only by a rounding error, that integer is returned.
fn whole(x: f64) -> u64 {
    ((x * (1.0 - 4.0 * f64::EPSILON)).ceil() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the loss due to padding, a run is 16/ε² times shorter. This factor is exact if neither length is
    /// rounded.
    #[test]
    fn no_padding_loss_saves_its_factor() {
        for excess in [0.5, 0.25, 0.125] {
            for margin in [1.0, 0.5, 0.25, 0.125] {
                let corrected = glm_corrected_run_length(excess, margin) as f64;
                let ours = glm_run_length(excess, margin) as f64;
                assert_eq!(corrected / ours, 16.0 / (excess * excess), "ε {excess}, γ {margin}");
            }
        }
    }
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    /// Values computed by hand.
    #[test]
    fn values() {
        assert_eq!(runs(0.1), 5); // lg 20 = 4.32
        assert_eq!(paper_run_length(0.2, 0.2), 10_000);
        assert_eq!(run_length(0.2, 0.2, 0.2), 6400);
        assert_eq!(step(0.5, 0.2, 100), 0.02);
        assert_eq!(runs(0.1) * paper_run_length(0.2, 0.2), 50_000);
        // 200 ln(2 000 000) = 200 * 14.5087
        assert_eq!(validation(50_000, 0.2, 0.1), 2902);
        assert_eq!(glm_paper_run_length(0.5, 0.5), 2048);
        assert_eq!(glm_corrected_run_length(0.4, 0.5), 160_000);
        assert_eq!(glm_run_length(0.5, 0.5), 1024);
        assert_eq!(noise_grid(0.25), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(noise_grid(0.1).len(), 11);
        assert_eq!(glm_noise_bound(0.5, -0.4, 0.1), 0.35);
    }

    /// One thinned run may need more examples than N ordinary runs.
    #[test]
    fn thinned_constants() {
        let one = thinned_run_length(0.2, 0.2, 0.2, 0.1);
        assert!((83_000..83_600).contains(&one), "{one}");
        assert_eq!(thinned_candidates(0.2, 0.2, 0.1), 21); // 6 ln 30 = 20.4
        assert_eq!(guess_failure(0.1, 0), 0.05);
        assert_eq!(thinned_validation(21, 0.2, 0.1), 1428);
        assert_eq!((elimination_checks(1428), elimination_checks(1024)), (22, 20));
        assert_eq!((elimination_checks(0), elimination_checks(u64::MAX)), (2, 128));
        assert_eq!(noise_grid(0.0).len(), 10_001);
    }

    /// The expected values are computed by hand: ln(2K/δ) = ln 200 = 5.2983 for K = 10, δ = 0.1, and ln(KJ/δ') = ln
    /// 4000 = 8.2940.
    #[test]
    fn constants_of_the_choice() {
        let near = |value: f64, expected: f64| {
            assert!((value / expected - 1.0).abs() < 1e-4, "{value} {expected}");
        };
        // With ⌈(8/ε²) ln(2K/δ)⌉ = ⌈1059.7⌉ examples at ε = 0.2, the choice is within ε/2 of the best candidate.
        near(choice_accuracy(10, 1060, 0.1), 0.099_984);
        assert_eq!(choice_accuracy(10, 1, 0.1), 1.0);
        // The expected value is √(ln(2K/δ)/(2m)).
        near(validation_accuracy(10, 1060, 0.1), 0.049_992);
        // The expected value is √(2 · 100 · ln 4000).
        near(elimination_gap(100, 10, 20, 0.05), 40.7285);
        assert_eq!(held_out(0.2, 0.1), 600); // 200 ln 20 = 599.1
        assert_eq!(grid_validation(10, 0.2, 0.1), 4239); // 800 ln 200 = 4238.7
    }

    /// At the planned length, the bound on the average excess of a run is ε/4, for each of the three denominators.
    #[test]
    fn lengths_meet_their_target() {
        let (noise, excess, margin, failure) = (0.3, 0.1, 0.2, 0.05);
        let t = thinned_run_length(noise, excess, margin, failure);
        let average = average_excess(noise, margin, step(noise, margin, t), t, failure / 3.0);
        assert!(average <= excess / 4.0 && average > 0.24 * excess, "{average}");
        let t = thinned_run_length_max(noise, excess, margin, failure);
        let average = average_excess_max(noise, margin, step(noise, margin, t), t, failure / 3.0);
        assert!(average <= excess / 4.0 && average > 0.24 * excess, "{average}");
        let t = glm_thinned_run_length(excess, margin, failure);
        let average = glm_average_excess(margin, glm_step(margin, t), t, failure / 3.0);
        assert!(average <= excess / 4.0 && average > 0.24 * excess, "{average}");
    }

    /// Some grid value lies in (β - ε, β] for every β.
    #[test]
    fn grids_leave_no_gap() {
        for excess in [0.03, 0.1, 0.25, 0.3, 0.5] {
            let grid = noise_grid(excess);
            for i in 0..=1000 {
                let beta = f64::from(i) / 1000.0;
                let near = grid.iter().any(|b| *b <= beta + 1e-12 && *b > beta - excess - 1e-12);
                assert!(near, "{excess} {beta}");
            }
        }
    }

    /// The process is a supermartingale. Let X be 1 with probability p and -1 with probability q. For all p and q with
    /// p - q >= e, the mean of exp(-sX)/cosh(s)^|X| is at most 1 - e tanh s, with equality at p - q = e.
    #[test]
    fn close_enough_bets_at_fair_odds() {
        for e in [0.01, 0.1, 0.5, 1.0] {
            let CloseEnough { levels, cosh, rate, .. } = CloseEnough::new(e, 1, 0.5);
            for ((s, cosh), rate) in levels.into_iter().zip(cosh).zip(rate) {
                for q in [0.0, 0.1, 0.3, (1.0 - e) / 2.0] {
                    for more in [0.0, 0.05, 0.2] {
                        let p = q + e + more;
                        if q < 0.0 || p + q > 1.0 {
                            continue;
                        }
                        let mean = 1.0 - p - q + p * (-s - cosh).exp() + q * (s - cosh).exp();
                        assert!(mean <= rate.exp() * (1.0 + 1e-12), "{e} {s} {p} {q}");
                        assert!(more > 0.0 || mean > rate.exp() * (1.0 - 1e-12), "{e} {s} {p} {q}");
                    }
                }
            }
        }
    }

    #[test]
    fn close_enough_takes_any_number() {
        for e in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
            assert!(!CloseEnough::new(e, 10, 0.1).is_passed(0, 1000, 1000), "{e}");
        }
        for e in [2.0, f64::INFINITY] {
            assert_eq!(CloseEnough::new(e, 10, 0.1), CloseEnough::new(1.0, 10, 0.1));
        }
    }

    /// In at most the stated fraction of the runs, a leader that is worse by e passes at least one of 4000 tests. A
    /// leader that is as good as the candidate passes the test early enough.
    #[test]
    fn close_enough_errs_as_seldom_as_stated() {
        let (e, apart, failure) = (0.1, 0.3, 0.1);
        let test = CloseEnough::new(e, 1, failure);
        let passes = |worse: f64, most: u64, seed: u64| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let (mut ahead, mut n) = (0i64, 0);
            (1..=most).any(|m| {
                if rng.random_bool(apart) {
                    n += 1;
                    ahead += if rng.random_bool((1.0 - worse / apart) / 2.0) { 1 } else { -1 };
                }
                test.is_passed(ahead, n, m)
            })
        };
        let failures = (0..400).filter(|seed| passes(e, 4000, *seed)).count();
        assert!(failures <= 40, "{failures}");
        // The expected number of examples is 2 ln(G/δ) D/e² = 288 if both errors are the same; the rest is a tolerance
        // for chance.
        assert!((0..400).filter(|seed| passes(0.0, 1200, *seed)).count() >= 390);
    }

    /// In floating-point arithmetic, 1/(1/93) is less than 93.
    #[test]
    fn a_grid_of_a_whole_number_of_steps_ends_at_one() {
        for steps in [93, 99, 186] {
            let grid = noise_grid(1.0 / f64::from(steps));
            assert_eq!((grid.len(), grid.last()), (steps as usize + 1, Some(&1.0)));
        }
    }
}
