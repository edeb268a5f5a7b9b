//! The plan of a fit, and the placement of points in the unit ball.

use super::direction::Denominator;
use crate::selection::Elimination;
use halfspaces_linalg::{LiftedRow, RowView, ScaledRow, Threads};
use std::f64::consts::FRAC_1_SQRT_2;

/// The plan of a fit: all numbers of the theorem, known before the first example.
///
/// A fit makes one pass over [`Plan::examples`] examples. Training takes O(d) time per example. Comparing candidates
/// takes O(d) time per example for each candidate not yet dropped. A fit stores [`Plan::candidates`] candidates with d
/// numbers each.
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
pub struct Plan {
    /// The number N of independent runs from w = 0.
    pub runs: u64,
    /// The number T of steps per run.
    pub run_length: u64,
    /// The step size λ.
    pub step: f64,
    /// The denominator D of the update.
    pub denominator: Denominator,
    /// The maximum number |H| of iterates that become candidates.
    pub candidates: u64,
    /// The number |T₂| of fresh examples for the validation of candidates.
    pub validation: u64,
}

impl Plan {
    /// The number T₁ = NT of training examples.
    #[must_use]
    pub fn training(&self) -> u64 {
        self.runs.saturating_mul(self.run_length)
    }

    /// The total number T₁ + |T₂| of examples.
    #[must_use]
    pub fn examples(&self) -> u64 {
        self.training().saturating_add(self.validation)
    }
}

/// How points are placed in the unit ball: scaled, and optionally lifted.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Placement {
    /// The factor 1/R, where R is the radius.
    pub scale: f64,
    /// Whether a scaled point x becomes (x, 1)/√2.
    pub lift: bool,
}

impl Placement {
    /// The factor 1/R, or `None` if it is 1.
    pub(super) fn scaling(self) -> Option<f64> {
        ((self.scale - 1.0).abs() >= f64::EPSILON).then_some(self.scale)
    }

    /// Places the point x in the unit ball.
    #[inline(always)]
    pub(super) fn place<R: RowView>(self, x: R) -> PlacedRow<R> {
        PlacedRow { scaled: ScaledRow::new(x, self.scaling().unwrap_or(1.0)), lift: self.lift }
    }

    /// The dimension of placed points, for points of dimension `dim`.
    pub(super) fn dim_inside(self, dim: usize) -> usize {
        dim + usize::from(self.lift)
    }
}

/// A point placed in the unit ball: a scaled row, lifted or not.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedRow<R> {
    scaled: ScaledRow<R>,
    lift: bool,
}

impl<R: RowView> RowView for PlacedRow<R> {
    #[inline(always)]
    fn dim(self) -> usize {
        self.scaled.dim() + usize::from(self.lift)
    }

    #[inline(always)]
    fn dot(self, w: &[f64]) -> f64 {
        if self.lift { LiftedRow::new(self.scaled).dot(w) } else { self.scaled.dot(w) }
    }

    #[inline(always)]
    fn add_scaled_to(self, a: f64, w: &mut [f64]) {
        if self.lift {
            LiftedRow::new(self.scaled).add_scaled_to(a, w);
        } else {
            self.scaled.add_scaled_to(a, w);
        }
    }

    #[inline(always)]
    fn norm_sq(self) -> f64 {
        if self.lift { LiftedRow::new(self.scaled).norm_sq() } else { self.scaled.norm_sq() }
    }

    fn entries(self) -> impl Iterator<Item = (usize, f64)> {
        let factor = if self.lift { FRAC_1_SQRT_2 } else { 1.0 };
        let constant = self.lift.then_some((self.scaled.dim(), FRAC_1_SQRT_2));
        self.scaled.entries().map(move |(j, v)| (j, factor * v)).chain(constant)
    }
}

/// The settings of a fit that do not depend on the schedule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Settings {
    pub placement: Placement,
    pub project: bool,
    pub elimination: Elimination,
    pub threads: Threads,
    pub seed: u64,
}
