//! The iteration on one level, over rows that span their space.
//!
//! Each round makes three decisions, each in a separate function: whether the iteration has stalled
//! ([`Iteration::standing`]), whether to search for a heavy subspace ([`Iteration::heavy_subspace`]), and which kind of
//! step comes next ([`Iteration::kind_of_step`]).

use crate::anderson::{self, AndersonAcceleration};
use crate::error::ForsterError;
use crate::heavy::{self, Found, Spectrum};
use crate::iterate::{Iterate, Moved};
use crate::level_passes::LevelPasses;
use crate::newton;
use crate::params::{ForsterParams, Step};
use crate::report::{Level, LevelEnd, Reason};
use crate::survey::Start;
use faer::Mat;
use halfspaces_linalg::checkpoint;
use std::f64::consts::LN_10;
use tracing::debug;

/// The iteration aims for an accuracy of this fraction of δ. The fraction is below 1 because the certificate is summed
/// in a different order.
const AIM: f64 = 0.9;
/// Number of fixed-point steps before the rate of convergence is judged.
const FIRST_STEPS: usize = 2;
/// If the residual after a step exceeds this fraction of the residual before it, only Newton steps are taken from then
/// on.
const SLOW: f64 = 0.6;
/// Width of a gap, in decades, that triggers the first search for heavy subspaces. The next constant is the growth of
/// the gap that triggers the next search.
const FIRST_GAP: f64 = 1.5;
const NEXT_GAP: f64 = 1.0;
/// Number of steps within which the residual must shrink by the factor [`STALLED`] or the condition number must grow by
/// the factor [`GROWN`].
pub(crate) const PATIENCE: usize = 12;
/// The iteration makes progress if the residual falls below this fraction of its value within [`PATIENCE`] steps.
const STALLED: f64 = 0.9;
/// The iteration makes progress towards a heavy subspace if the condition number grows by more than this factor within
/// [`PATIENCE`] steps.
const GROWN: f64 = 10.0;
/// If the condition number is at least this number, rounding could hide a heavy subspace, which must be ruled out
/// before the transform is accepted.
const DOUBTFUL: f64 = 1e8;

/// The end of a level, with its result.
#[derive(Debug)]
pub(crate) enum End {
    Isotropic,
    Heavy(Found),
    Unresolved(Reason),
}

/// Solves one level and returns its report, the final iterate, and the end of the level.
pub(crate) fn solve<P: LevelPasses>(
    params: ForsterParams,
    points: &mut P,
    start: Start,
    depth: usize,
) -> Result<(Level, Iterate, End), ForsterError> {
    let mut iteration = Iteration::new(params, points, start, depth);
    let end = iteration.run()?;
    let Iteration { mut level, iterate, .. } = iteration;
    level.end = match &end {
        End::Isotropic => LevelEnd::Isotropic,
        End::Heavy(found) => LevelEnd::Heavy(found.basis.ncols()),
        End::Unresolved(reason) => LevelEnd::Unresolved(*reason),
    };
    let dim = level.dim;
    debug!(depth, dim, rows = level.rows, ?level.end, level.condition, "level ended");
    Ok((level, iterate, end))
}

/// The state at the start of a round.
#[derive(Debug, Clone, Copy)]
struct Standing {
    /// Whether the points are in radially isotropic position, according to the most recent pass.
    done: bool,
    /// Whether the cap on steps is reached.
    spent: bool,
    /// Whether the residual and the condition number have both stopped changing.
    stalled: bool,
}

/// The kind of the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepKind {
    FixedPoint,
    Accelerated,
    Newton,
}

/// The state when progress was last made.
#[derive(Debug)]
struct Progress {
    step: usize,
    residual: f64,
    condition: f64,
}

impl Progress {
    /// Records the state of a round if the round made progress.
    fn note(&mut self, step: usize, residual: f64, condition: f64) {
        if residual < STALLED * self.residual || condition > GROWN * self.condition {
            *self = Progress { step, residual: residual.min(self.residual), condition };
        }
    }
}

/// The state of the iteration.
struct Iteration<'a, P> {
    params: ForsterParams,
    points: &'a mut P,
    depth: usize,
    /// A lower triangle W such that the rows of XW have about the same second moment in every direction.
    whitening: Mat<f64>,
    iterate: Iterate,
    level: Level,
    /// The most recently computed condition number of B.
    known_condition: f64,
    /// The logarithm of the factor by which the condition number of B may have grown since then.
    drift: f64,
    /// Width, in decades, of the widest gap that has been searched for subspaces.
    tried_gap: f64,
    progress: Progress,
    /// Whether the fixed-point iteration was found to be slow; only Newton steps are taken from then on.
    slow: bool,
    /// Whether the most recent step led to a singular A.
    singular: bool,
    acceleration: Option<AndersonAcceleration>,
}

impl<'a, P: LevelPasses> Iteration<'a, P> {
    fn new(params: ForsterParams, points: &'a mut P, start: Start, depth: usize) -> Self {
        let Start { iterate, whitening } = start;
        let residual = iterate.residual();
        let level = Level {
            rows: points.rows(),
            dim: points.dim(),
            fixed_point_steps: 0,
            newton_steps: 0,
            passes: 1,
            products: 0,
            residuals: vec![residual],
            condition: 1.0,
            end: LevelEnd::Isotropic,
        };
        Iteration {
            params,
            points,
            depth,
            whitening,
            iterate,
            level,
            known_condition: 1.0,
            drift: 0.0,
            tried_gap: FIRST_GAP - NEXT_GAP,
            progress: Progress { step: 0, residual, condition: 1.0 },
            slow: false,
            singular: false,
            acceleration: None,
        }
    }

    fn run(&mut self) -> Result<End, ForsterError> {
        // Rows that are already in radially isotropic position are not changed.
        if self.is_in_position() {
            return Ok(End::Isotropic);
        }
        self.level.passes += 1;
        let identity = Mat::identity(self.level.dim, self.level.dim);
        match Iterate::measure(self.points, &self.whitening, identity)? {
            Some(whitened) => self.iterate = whitened,
            None => return Ok(End::Unresolved(Reason::ConditionCap)),
        }
        self.level.residuals.push(self.iterate.residual());
        self.progress.residual = self.iterate.residual();
        loop {
            checkpoint();
            let standing = self.standing();
            if let Some(end) = self.heavy_subspace(standing)? {
                return Ok(end);
            }
            if standing.done {
                return Ok(End::Isotropic);
            }
            if standing.spent {
                return Ok(End::Unresolved(Reason::IterationCap));
            }
            if standing.stalled {
                return Ok(End::Unresolved(Reason::Stalled));
            }
            self.step()?;
        }
    }

    fn is_in_position(&self) -> bool {
        self.params.accuracy.accepts(self.iterate.extremes, AIM)
    }

    /// First decision: the state of the iteration. The iteration has stalled if neither the residual nor the condition
    /// number has changed for [`PATIENCE`] steps. With [`Step::FixedPoint`], it never counts as stalled.
    fn standing(&mut self) -> Standing {
        self.level.condition = self.known_condition * f64::exp(self.drift);
        let steps = self.level.steps();
        self.progress.note(steps, self.iterate.residual(), self.level.condition);
        Standing {
            done: self.is_in_position(),
            spent: steps >= self.params.max_iterations,
            stalled: self.params.step != Step::FixedPoint && steps >= self.progress.step + PATIENCE,
        }
    }

    /// Second decision: whether to search for a heavy subspace. Returns the end of the level if a heavy subspace is
    /// found or if the condition number is at its cap.
    ///
    /// The spectrum of B is computed when the condition number may have grown by [`NEXT_GAP`] decades, and before the
    /// level ends. The search for subspaces runs when the widest gap has grown by [`NEXT_GAP`] since the last search,
    /// and before the level ends. A subspace with N d = k n is accepted only if rounding ends the level.
    fn heavy_subspace(&mut self, standing: Standing) -> Result<Option<End>, ForsterError> {
        let Standing { done, spent, stalled } = standing;
        let doubtful = done && self.level.condition >= DOUBTFUL;
        if !(self.drift >= NEXT_GAP * LN_10 || spent || stalled || self.singular || doubtful) {
            return Ok(None);
        }
        let spectrum = Spectrum::decompose(self.iterate.b.as_ref())?;
        (self.known_condition, self.drift) = (spectrum.condition(), 0.0);
        self.level.condition = self.known_condition;
        let gap = spectrum.widest_gap();
        let at_cap = self.known_condition >= self.params.max_condition || self.singular;
        if gap >= self.tried_gap + NEXT_GAP || spent || stalled || at_cap || done {
            self.tried_gap = self.tried_gap.max(gap);
            let equality = (at_cap || stalled) && !done;
            let (a, membership) = (self.iterate.a.as_ref(), self.params.membership);
            let found = heavy::find(self.points, a, &spectrum, membership, equality)?;
            let (depth, dim) = (self.depth, self.level.dim);
            debug!(depth, dim, gap, found = found.is_some(), "looked for a heavy subspace");
            if let Some(found) = found {
                return Ok(Some(End::Heavy(found)));
            }
        }
        Ok((at_cap && !done).then_some(End::Unresolved(Reason::ConditionCap)))
    }

    /// Third decision: the kind of the next step.
    fn kind_of_step(&self) -> StepKind {
        match self.params.step {
            Step::FixedPoint => StepKind::FixedPoint,
            Step::Newton => StepKind::Newton,
            Step::Automatic if self.slow => StepKind::Newton,
            Step::Automatic if self.iterate.residual() <= anderson::NEAR => StepKind::Accelerated,
            Step::Automatic => StepKind::FixedPoint,
        }
    }

    /// Takes the next step. If it is rejected, a fixed-point step is taken instead.
    fn step(&mut self) -> Result<(), ForsterError> {
        let (kind, steps) = (self.kind_of_step(), self.level.steps());
        let newton = if kind == StepKind::Newton { self.newton()? } else { None };
        let moved = if newton.is_some() {
            self.level.newton_steps += 1;
            self.acceleration = None;
            newton
        } else {
            let accelerated = if kind == StepKind::Accelerated { self.accelerated() } else { None };
            let (b, growth) = match accelerated {
                Some(next) => next,
                None => {
                    self.acceleration = None;
                    self.iterate.fixed_point()?
                }
            };
            self.level.passes += 1;
            self.level.fixed_point_steps += 1;
            let iterate = Iterate::measure(self.points, &self.whitening, b)?;
            iterate.map(|iterate| (iterate, growth))
        };
        let Some((moved, growth)) = moved else {
            // The next round searches for the heavy subspace that makes A singular, or ends the level.
            self.singular = true;
            return Ok(());
        };
        let residual = moved.residual();
        self.slow |= steps >= FIRST_STEPS && residual > SLOW * self.iterate.residual();
        self.drift += growth;
        self.iterate = moved;
        self.level.residuals.push(residual);
        let (depth, dim, f) = (self.depth, self.level.dim, self.iterate.f);
        debug!(depth, dim, steps, ?kind, residual, f, "step");
        Ok(())
    }

    /// The proposal of Anderson acceleration, with the logarithm of the factor by which the condition number may grow.
    fn accelerated(&mut self) -> Option<(Mat<f64>, f64)> {
        let begun = self.acceleration.is_some();
        let from = self
            .acceleration
            .get_or_insert_with(|| AndersonAcceleration::new(self.iterate.b.clone()));
        let growth = if begun { 0.0 } else { AndersonAcceleration::growth() };
        from.next(&self.iterate.moment).map(|b| (b, growth))
    }

    fn newton(&mut self) -> Result<Moved, ForsterError> {
        self.points.set_units(self.iterate.a.as_ref())?;
        let direction = newton::direction(self.points, &self.iterate.moment)?;
        self.level.products += direction.products;
        let passes = &mut self.level.passes;
        self.iterate.along(&direction, self.points, &self.whitening, passes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_a_smaller_residual_or_a_larger_condition() {
        let mut progress = Progress { step: 0, residual: 1.0, condition: 1.0 };
        let mut seen = |step, residual, condition| {
            progress.note(step, residual, condition);
            (progress.step, progress.residual)
        };
        assert_eq!(seen(1, 0.95, 9.0), (0, 1.0));
        assert_eq!(seen(2, 0.89, 9.0), (2, 0.89));
        // While A degenerates because of a heavy subspace, the residual may grow; progress is measured against its
        // minimum.
        assert_eq!(seen(3, 2.0, 80.0), (2, 0.89));
        assert_eq!(seen(4, 2.0, 91.0), (4, 0.89));
        assert_eq!(seen(5, 0.82, 91.0), (4, 0.89));
    }
}
