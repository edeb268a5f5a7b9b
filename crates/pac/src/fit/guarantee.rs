//! The guarantee of a fit, including one that ends early.
//!
//! *Source.* The guarantees of complete fits come from CKST24 Theorems 3 and 4 and from thinned selection; see
//! docs/theory/perspectron-schedules.md and docs/theory/thinned-selection.md. The guarantees of fits that end early
//! come from the section "A fit cut short" of docs/theory/thinned-selection.md. Claims: none for fits that end early.

use crate::schedule;

/// A guarantee that the error is at most the target level plus `excess`, with probability at least 1 - `failure`.
///
/// The error is that of the classifier, unless the method that returns the guarantee states that it is the average
/// error of the iterates of a run. The target level is η for Massart noise and opt_RCN + τ/2 for a link function. If
/// the fit used all examples of its plan, `excess` and `failure` are those of the theorem. Otherwise the excess is
/// computed for the number of examples used; it may be vacuous (1 or more).
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
    /// The excess ε.
    pub excess: f64,
    /// The failure probability δ.
    pub failure: f64,
}

/// The theorem that applies to a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Theorem {
    /// The guarantee of a complete fit.
    pub guarantee: Guarantee,
    /// A bound on the excess error of the best candidate, usually ε/2.
    pub best_candidate: f64,
    /// The part of δ reserved for the choice among the candidates.
    pub choice_failure: f64,
    /// The bound on the average excess error of the iterates after t steps.
    pub average: AverageBound,
}

impl Theorem {
    /// The guarantee for the best of `candidates` candidates, compared on `examples` examples.
    pub(super) fn in_validation(self, candidates: u64, examples: u64) -> Guarantee {
        // The elimination uses the other half of the part of δ that is reserved for the choice.
        let share = self.choice_failure / 2.0;
        let accuracy = schedule::validation_accuracy(candidates, examples, share);
        Guarantee { excess: self.best_candidate + 2.0 * accuracy, ..self.guarantee }
    }

    /// The guarantee for the average error of the first `steps` iterates of one run. Returns `None` if no bound is
    /// proved.
    pub(super) fn in_training(self, steps: u64) -> Option<Guarantee> {
        let excess = self.average.after(steps, self.guarantee.failure)?;
        Some(Guarantee { excess, ..self.guarantee })
    }
}

/// A bound on the average excess error of the iterates of one run that ends early.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum AverageBound {
    /// The bound for the denominator D = |w·x| + γ.
    Plus {
        noise: f64,
        margin: f64,
        step: f64,
    },
    /// The bound for the denominator D = max(|w·x|, γ).
    AtLeast {
        noise: f64,
        margin: f64,
        step: f64,
    },
    Glm {
        margin: f64,
        step: f64,
    },
    /// No bound is proved.
    Unknown,
}

impl AverageBound {
    fn after(self, steps: u64, failure: f64) -> Option<f64> {
        debug_assert!(steps > 0, "a fit needs at least one example");
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
    #[test]
    fn a_choice_cut_short_has_half_of_its_failure() {
        let theorem = Theorem {
            guarantee: Guarantee { excess: 0.2, failure: 0.6 },
            best_candidate: 0.1,
            choice_failure: 0.2,
            average: AverageBound::Unknown,
        };
        // The excess is 0.1 + 2 √(ln(2 · 10/0.1)/2000). The elimination uses the other half of the failure probability.
        let found = theorem.in_validation(10, 1000);
        assert!((found.excess - 0.202_939_9).abs() < 1e-6, "{found:?}");
        assert_eq!(found.failure, 0.6);
    }
}
