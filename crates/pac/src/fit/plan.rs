//! What a fit will do, and where it does it.

use super::direction::Denominator;
use crate::selection::Elimination;
use halfspaces_linalg::Threads;

/// What a learner will do, before it has seen anything: every number of its theorem.
///
/// One pass over [`Plan::examples`] examples, O(d) time each while training; while choosing, O(d) time per
/// example and candidate not yet dropped; memory for [`Plan::candidates`] candidates of d numbers.
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_pac::Perspectron;
/// let learner = Perspectron::params(0.2, 0.1).excess(0.1).failure(0.05).check()?;
/// let plan = learner.plan();
/// assert_eq!(plan.runs, 1); // thinned selection
/// assert!(plan.examples() > 1_000_000 && plan.candidates < 50);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Plan {
    /// N, independent runs from w = 0.
    pub runs: u64,
    /// T, steps of each.
    pub run_length: u64,
    /// λ.
    pub step: f64,
    /// D.
    pub denominator: Denominator,
    /// |H|, iterates retained as candidates, at most.
    pub candidates: u64,
    /// |T₂|, fresh examples to choose by.
    pub validation: u64,
}

impl Plan {
    /// T₁ = NT, examples to learn from.
    #[must_use]
    pub fn training(&self) -> u64 {
        self.runs.saturating_mul(self.run_length)
    }

    /// All examples needed, T₁ + |T₂|.
    #[must_use]
    pub fn examples(&self) -> u64 {
        self.training().saturating_add(self.validation)
    }
}

/// How the points of a problem become points of the unit ball.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Placement {
    /// 1/R.
    pub scale: f64,
    /// x -> (x, 1)/√2 after scaling.
    pub lift: bool,
}

impl Placement {
    /// Whether points are taken as long as they are: their products round as everywhere else.
    pub(super) fn is_unscaled(self) -> bool {
        (self.scale - 1.0).abs() < f64::EPSILON
    }

    /// The dimension learned in, for points of dimension `dim`.
    pub(super) fn dim_inside(self, dim: usize) -> usize {
        dim + usize::from(self.lift)
    }
}

/// What does not depend on the schedule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Settings {
    pub placement: Placement,
    pub project: bool,
    pub elimination: Elimination,
    pub threads: Threads,
    pub seed: u64,
}
