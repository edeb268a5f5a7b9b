//! What a theorem says of a fit, also of one that ends early: CKST24 Theorems 3 and 4 and thinned selection, in
//! docs/theory/perspectron-schedules.md and thinned-selection.md. Fits cut short: the section "A fit cut short"
//! of the latter. Claims: none for fits cut short.

use crate::schedule;

/// An error of at most the target level + `excess`, with probability at least 1 - `failure`: of the classifier, or, where a method
/// says so, the average over the iterates of a run. The target level is η for Massart noise, opt_RCN + τ/2 for a link.
///
/// Both numbers are those of the theorem where all its examples were taken. Of a fit cut short the excess
/// is computed for the examples it had, and may be vacuous (1 or more).
///
/// ```
/// use halfspaces_data::{Instance, MarginBall, Rcn, random_target};
/// use halfspaces_linalg::{FitStream, Params};
/// use halfspaces_pac::{Guarantee, Perspectron};
/// let target = random_target(2, 1)?;
/// let instance = Instance::new(MarginBall::new(&target, 0.5)?, target, Rcn::new(0.1)?)?;
/// let learner = Perspectron::params(0.1, 0.5).excess(0.5).failure(0.2).check()?;
/// let fit = learner.fit_stream(&mut instance.stream(2))?;
/// assert_eq!(fit.guarantee(), Some(Guarantee { excess: 0.5, failure: 0.2 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Guarantee {
    /// ε.
    pub excess: f64,
    /// δ.
    pub failure: f64,
}

/// The theorem that a fit is under.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Theorem {
    /// What it says of a fit with all its examples.
    pub guarantee: Guarantee,
    /// What the best candidate's error exceeds the target level by, at most: ε/2 as a rule.
    pub best_candidate: f64,
    /// The choice's share of δ.
    pub choice_failure: f64,
    /// What the average error of the iterates exceeds the target by after t steps.
    pub average: AverageBound,
}

impl Theorem {
    /// What it says of the best of `candidates` candidates on `examples` examples.
    pub(super) fn in_validation(self, candidates: u64, examples: u64) -> Guarantee {
        // Half of the choice's share is the elimination's.
        let share = self.choice_failure / 2.0;
        let accuracy = schedule::validation_accuracy(candidates, examples, share);
        Guarantee { excess: self.best_candidate + 2.0 * accuracy, ..self.guarantee }
    }

    /// What it says of the average error of the first `steps` iterates of one run.
    pub(super) fn in_training(self, steps: u64) -> Option<Guarantee> {
        let excess = self.average.after(steps, self.guarantee.failure)?;
        Some(Guarantee { excess, ..self.guarantee })
    }
}

/// The bound on the average excess of the iterates of one run that is cut short.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum AverageBound {
    /// D = |w·x| + γ.
    Plus {
        noise: f64,
        margin: f64,
        step: f64,
    },
    /// D = max(|w·x|, γ).
    AtLeast {
        noise: f64,
        margin: f64,
        step: f64,
    },
    Glm {
        margin: f64,
        step: f64,
    },
    /// None is proved.
    Unknown,
}

impl AverageBound {
    fn after(self, steps: u64, failure: f64) -> Option<f64> {
        debug_assert!(steps > 0, "a fit without examples has no outcome");
        match self {
            AverageBound::Plus { noise, margin, step } => {
                Some(schedule::average_excess(noise, margin, step, steps, failure))
            }
            AverageBound::AtLeast { noise, margin, step } => {
                Some(schedule::average_excess_max(noise, margin, step, steps, failure))
            }
            AverageBound::Glm { margin, step } => {
                Some(schedule::glm_average_excess(margin, step, steps, failure))
            }
            AverageBound::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    /// 0.1 + 2 √(ln(2 · 10/0.1)/2000): half of the failure of the choice is that of the elimination.
    #[test]
    fn a_choice_cut_short_has_half_of_its_failure() {
        let theorem = Theorem {
            guarantee: Guarantee { excess: 0.2, failure: 0.6 },
            best_candidate: 0.1,
            choice_failure: 0.2,
            average: AverageBound::Unknown,
        };
        // 0.1 + 2 sqrt(ln(2 * 10/0.1)/2000)
        let found = theorem.in_validation(10, 1000);
        assert!((found.excess - 0.202_939_9).abs() < 1e-6, "{found:?}");
        assert_eq!(found.failure, 0.6);
    }
}
