//! The iteration on one level: rows that span their space.
//!
//! Three decisions a round, each in a function of its own: does it stand still
//! ([`Iteration::standing`]), is it time to look for a heavy subspace
//! ([`Iteration::heavy_subspace`]), and which step comes next ([`Iteration::kind_of_step`]).

use crate::anderson::{self, AndersonAcceleration};
use crate::error::ForsterError;
use crate::heavy::{self, Found, Spectrum};
use crate::iterate::{Iterate, Moved};
use crate::newton;
use crate::params::{ForsterParams, Step};
use crate::pass::{Pass, Rows};
use crate::report::{Level, LevelEnd, Reason};
use crate::survey::Start;
use faer::Mat;
use halfspaces_linalg::{InputError, zeros};
use std::f64::consts::LN_10;
use tracing::debug;

/// Share of δ that the iteration aims at: the certificate is summed in another order.
const AIM: f64 = 0.9;
/// Steps of the fixed point before its rate is judged.
const FIRST_STEPS: usize = 2;
/// A residual that shrinks by less than this factor a step calls for Newton.
const SLOW: f64 = 0.6;
/// Decades of a gap from which heavy subspaces are looked for, and by which it must grow between tries.
const FIRST_GAP: f64 = 1.5;
const NEXT_GAP: f64 = 1.0;
/// Steps within which the residual must shrink by [`STALLED`] or the condition grow by [`GROWN`].
pub(crate) const PATIENCE: usize = 12;
/// Factor by which the residual shrinks in that many steps at least where there is progress.
const STALLED: f64 = 0.9;
/// Factor by which the condition grows in that many steps at least on the way to a heavy subspace.
const GROWN: f64 = 10.0;
/// Condition from which rounding could hide a heavy subspace: it is ruled out before acceptance.
const DOUBTFUL: f64 = 1e8;

/// How a level ended, with what it found.
#[derive(Debug)]
pub(crate) enum End {
    Isotropic,
    Heavy(Found),
    Unresolved(Reason),
}

/// One level from its start: the account of it, the last A, and how it ended.
pub(crate) fn solve(
    params: ForsterParams,
    rows: &Rows<'_>,
    start: Start,
    depth: usize,
) -> Result<(Level, Mat<f64>, End), ForsterError> {
    let mut iteration = Iteration::new(params, rows, start, depth);
    let end = iteration.run()?;
    let Iteration { mut level, iterate, .. } = iteration;
    level.end = match &end {
        End::Isotropic => LevelEnd::Isotropic,
        End::Heavy(found) => LevelEnd::Heavy(found.basis.ncols()),
        End::Unresolved(reason) => LevelEnd::Unresolved(*reason),
    };
    let dim = level.dim;
    debug!(depth, dim, rows = rows.len(), ?level.end, level.condition, "level ended");
    Ok((level, iterate.a, end))
}

/// What a round begins with.
#[derive(Debug, Clone, Copy)]
struct Standing {
    /// In position, as far as this pass tells.
    done: bool,
    /// At the cap on steps.
    spent: bool,
    /// Neither the residual nor the condition moves any more.
    stalled: bool,
}

/// Which step comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepKind {
    FixedPoint,
    Accelerated,
    Newton,
}

/// Where progress was last seen.
#[derive(Debug)]
struct Progress {
    step: usize,
    residual: f64,
    condition: f64,
}

impl Progress {
    /// Takes note of a round.
    fn note(&mut self, step: usize, residual: f64, condition: f64) {
        if residual < STALLED * self.residual || condition > GROWN * self.condition {
            *self = Progress { step, residual: residual.min(self.residual), condition };
        }
    }
}

/// All that changes from round to round.
struct Iteration<'a> {
    params: ForsterParams,
    rows: &'a Rows<'a>,
    depth: usize,
    pass: Pass,
    /// A lower triangle W for which the rows of XW have about the same second moment everywhere.
    whitening: Mat<f64>,
    iterate: Iterate,
    /// The unit rows of XA: a buffer made at its first use.
    unit: Vec<f64>,
    level: Level,
    /// The condition of B when it was last computed.
    known_condition: f64,
    /// ln of how much it may have grown since.
    drift: f64,
    /// Decades of the widest gap in which subspaces were looked for.
    tried_gap: f64,
    progress: Progress,
    /// The fixed point has been found slow: Newton from now on.
    slow: bool,
    /// The last step led to a singular A.
    singular: bool,
    acceleration: Option<AndersonAcceleration>,
}

impl<'a> Iteration<'a> {
    fn new(params: ForsterParams, rows: &'a Rows<'a>, start: Start, depth: usize) -> Self {
        let Start { pass, iterate, whitening } = start;
        let residual = iterate.residual();
        let level = Level {
            rows: rows.len(),
            dim: rows.dim,
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
            rows,
            depth,
            pass,
            whitening,
            iterate,
            unit: Vec::new(),
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
        // Rows that are in position as they are stay as they are.
        if self.is_in_position() {
            return Ok(End::Isotropic);
        }
        self.level.passes += 1;
        let identity = Mat::identity(self.rows.dim, self.rows.dim);
        match Iterate::measure(&mut self.pass, self.rows, &self.whitening, identity)? {
            Some(whitened) => self.iterate = whitened,
            None => return Ok(End::Unresolved(Reason::ConditionCap)),
        }
        self.level.residuals.push(self.iterate.residual());
        self.progress.residual = self.iterate.residual();
        loop {
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

    /// First decision: where the iteration stands. It has stalled where, for [`PATIENCE`] steps,
    /// neither the residual nor the condition has moved; the fixed point alone is given its time.
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

    /// Second decision: whether to look for a heavy subspace; the end of the level if there is one, or
    /// if the condition is at its cap.
    ///
    /// The spectrum of B is computed once the condition may have grown by [`NEXT_GAP`] decades, and
    /// before the level ends; subspaces are looked for where a gap has grown as much, and before the
    /// level ends. Equality is accepted only where rounding ends it.
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
            self.fill_unit()?;
            let equality = (at_cap || stalled) && !done;
            let membership = self.params.membership;
            let found = heavy::find(self.rows, &self.unit, &spectrum, membership, equality)?;
            let (depth, dim) = (self.depth, self.rows.dim);
            debug!(depth, dim, gap, found = found.is_some(), "looked for a heavy subspace");
            if let Some(found) = found {
                return Ok(Some(End::Heavy(found)));
            }
        }
        Ok((at_cap && !done).then_some(End::Unresolved(Reason::ConditionCap)))
    }

    /// Third decision: which step comes next.
    fn kind_of_step(&self) -> StepKind {
        match self.params.step {
            Step::FixedPoint => StepKind::FixedPoint,
            Step::Newton => StepKind::Newton,
            Step::Automatic if self.slow => StepKind::Newton,
            Step::Automatic if self.iterate.residual() <= anderson::NEAR => StepKind::Accelerated,
            Step::Automatic => StepKind::FixedPoint,
        }
    }

    /// The next step, the fixed point in place of one that is refused.
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
            let iterate = Iterate::measure(&mut self.pass, self.rows, &self.whitening, b)?;
            iterate.map(|iterate| (iterate, growth))
        };
        let Some((moved, growth)) = moved else {
            // The next round looks for the subspace that explains it, or ends.
            self.singular = true;
            return Ok(());
        };
        let residual = moved.residual();
        self.slow |= steps >= FIRST_STEPS && residual > SLOW * self.iterate.residual();
        self.drift += growth;
        self.iterate = moved;
        self.level.residuals.push(residual);
        let (depth, dim, f) = (self.depth, self.rows.dim, self.iterate.f);
        debug!(depth, dim, steps, ?kind, residual, f, "step");
        Ok(())
    }

    /// What Anderson's method proposes, with ln of how much the condition may grow.
    fn accelerated(&mut self) -> Option<(Mat<f64>, f64)> {
        let begun = self.acceleration.is_some();
        let from = self
            .acceleration
            .get_or_insert_with(|| AndersonAcceleration::new(self.iterate.b.clone()));
        let growth = if begun { 0.0 } else { AndersonAcceleration::growth() };
        from.next(&self.iterate.moment).map(|b| (b, growth))
    }

    fn newton(&mut self) -> Result<Moved, ForsterError> {
        self.fill_unit()?;
        let (pass, rows) = (&mut self.pass, self.rows);
        let direction = newton::direction(pass, rows, &self.unit, &self.iterate.moment)?;
        self.level.products += direction.products;
        self.iterate.along(&direction, pass, rows, &self.whitening, &mut self.level.passes)
    }

    /// The unit rows of XA into their buffer.
    fn fill_unit(&mut self) -> Result<(), InputError> {
        if self.unit.is_empty() {
            self.unit = zeros(self.rows.len(), self.rows.dim)?;
        }
        self.pass.unit_rows(self.rows, self.iterate.a.as_ref(), &mut self.unit);
        Ok(())
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
        // On the way to a subspace the residual may grow; the least of them stays the measure.
        assert_eq!(seen(3, 2.0, 80.0), (2, 0.89));
        assert_eq!(seen(4, 2.0, 91.0), (4, 0.89));
        assert_eq!(seen(5, 0.82, 91.0), (4, 0.89));
    }
}
