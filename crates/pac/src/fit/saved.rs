//! Checks of saved fits: the saved state must be reachable by some sequence of examples.

use super::fitting::{Fitting, longest};
use super::guarantee::{Guarantee, Theorem};

use super::lane::{Lane, ReservoirIterate, Retention};
use super::outcome::{Fit, Origin};
use super::plan::Placement;
use crate::saved::{CheckSaved, saved};
use crate::selection::Selector;
use halfspaces_data::Link;
use halfspaces_linalg::{Halfspace, InputError, Termination, load_checked};

/// The upper limit on counters in saved fits. No run reaches this limit, and no counter below it overflows.
const MAX_SAVED: u64 = 1 << 53;

load_checked!(Fit {
    halfspace: Halfspace,
    placement: Placement,
    termination: Termination,
    guarantee: Option<Guarantee>,
    origin: Origin,
    candidates: usize,
    remaining: usize,
    training: u64,
    validation: u64,
    errors: u64,
});

load_checked!(Fitting<L: Link> {
    lanes: Vec<Lane<L>>,
    placement: Placement,
    project: bool,
    means: bool,
    clip: bool,
    longest: usize,
    dim: usize,
    taken: u64,
    training: u64,
    selector: Selector<'static>,
    origins: Vec<Origin>,
    reservoir: ReservoirIterate,
    theorem: Option<Theorem>,
});

impl CheckSaved for Fit {
    fn check_saved(&self) -> Result<(), InputError> {
        let Fit { halfspace, placement, termination, guarantee, origin, .. } = self;
        let Fit { candidates, remaining, training, validation, errors, .. } = *self;
        placement.check_saved()?;
        let wide = halfspace.dim() > usize::from(placement.lift);
        saved("dimension", halfspace.dim() as f64, wide)?;
        saved("training examples", training as f64, training > 0)?;
        saved("errors", errors as f64, errors <= validation)?;
        saved("step of the candidate", origin.step as f64, origin.step <= training)?;
        let some_left = remaining > 0 || (candidates == 0 && validation == 0);
        let remain = remaining <= candidates && some_left;
        let dropped = validation > 0 || remaining == candidates;
        saved("remaining candidates", remaining as f64, remain && dropped)?;
        let ended = match termination {
            Termination::Converged => validation > 0,
            Termination::ExamplesEnded => true,
            _ => false,
        };
        saved("validation examples", validation as f64, ended)?;
        guarantee.as_ref().map_or(Ok(()), Guarantee::check_saved)
    }
}

impl CheckSaved for Guarantee {
    fn check_saved(&self) -> Result<(), InputError> {
        saved("excess", self.excess, self.excess > 0.0 && self.excess.is_finite())?;
        saved("failure", self.failure, self.failure > 0.0 && self.failure < 1.0)
    }
}

impl CheckSaved for Placement {
    fn check_saved(&self) -> Result<(), InputError> {
        saved("scale", self.scale, self.scale > 0.0 && self.scale.is_finite())
    }
}

impl CheckSaved for Theorem {
    fn check_saved(&self) -> Result<(), InputError> {
        self.guarantee.check_saved()?;
        let Theorem { best_candidate, choice_failure, .. } = *self;
        let least = best_candidate > 0.0 && best_candidate < self.guarantee.excess;
        saved("excess of the best candidate", best_candidate, least)?;
        let share = choice_failure > 0.0 && choice_failure < self.guarantee.failure;
        saved("failure of the choice", choice_failure, share)
    }
}

impl Retention {
    /// Whether this is the state after `taken` of `total` steps.
    fn is_after(&self, taken: u64, total: u64) -> bool {
        match self {
            Retention::All => true,
            Retention::Drawn { steps, next } => {
                steps.is_sorted_by(|a, b| a < b)
                    && steps.last().is_some_and(|last| *last < total)
                    && *next == steps.partition_point(|step| *step < taken)
            }
        }
    }

    /// The number of iterates retained in `taken` steps.
    fn retained(&self, taken: u64) -> u64 {
        match self {
            Retention::All => taken,
            Retention::Drawn { next, .. } => *next as u64,
        }
    }
}

impl<L: Link> Lane<L> {
    /// Checks a lane of a fit that has taken `taken` examples of dimension `dim`.
    fn check_saved(&self, taken: u64, dim: usize, project: bool) -> Result<(), InputError> {
        let Lane { direction, retention, .. } = self;
        let Lane { step, run_length, .. } = *self;
        saved("run length", run_length as f64, run_length > 0)?;
        saved("runs", self.runs as f64, self.runs > 0)?;
        let expected = taken.min(self.steps());
        saved("examples of a lane", self.taken as f64, self.taken == expected)?;
        let in_run = if expected == 0 { 0 } else { (expected - 1) % run_length + 1 };
        saved("examples of a run", self.in_run as f64, self.in_run == in_run)?;
        let length = self.w.as_slice().len();
        saved("length of an iterate", length as f64, length == dim)?;
        let finite = self.w.as_slice().iter().all(|v| v.is_finite());
        InputError::check_state(
            finite && (!project || self.w.is_saved()),
            "an iterate does not match its norm",
        )?;
        saved("step", step, step > 0.0 && step.is_finite())?;
        let floor = direction.denominator.least();
        saved("denominator", floor, floor > 0.0 && floor.is_finite())?;
        for t in [-1.0, 1.0] {
            let value = direction.link.clamped(t);
            saved("value of the link", value, value.abs() <= 1.0)?;
        }
        let steps = self.steps();
        InputError::check_state(
            retention.is_after(expected, steps),
            "the retained iterates do not match the examples taken",
        )
    }
}

impl<L: Link> Fitting<L> {
    /// The origins of all candidates, recomputed from the lanes. Returns `None` if their number differs from the saved
    /// number.
    fn origins_of_lanes(&self) -> Option<Vec<Origin>> {
        let means = self.means && self.taken == self.training;
        let of_lanes = self.lanes.iter().map(|lane| lane.retention.retained(lane.taken));
        let count = of_lanes.fold(0, u64::saturating_add);
        let means = if means { self.lanes.len() } else { 0 };
        if count.saturating_add(means as u64) != self.origins.len() as u64 {
            return None;
        }
        let mut origins = Vec::with_capacity(self.origins.len());
        for (index, lane) in self.lanes.iter().enumerate() {
            let origin = |step| Origin { lane: index, step };
            match &lane.retention {
                Retention::All => origins.extend((0..lane.taken).map(origin)),
                Retention::Drawn { steps, next } => {
                    origins.extend(steps.iter().take(*next).copied().map(origin));
                }
            }
        }
        origins.sort_by_key(|origin| (origin.step, origin.lane));
        let mean = |(lane, of): (usize, &Lane<L>)| Origin { lane, step: of.taken };
        origins.extend(self.lanes.iter().enumerate().take(means).map(mean));
        Some(origins)
    }
}

impl<L: Link> CheckSaved for Fitting<L> {
    fn check_saved(&self) -> Result<(), InputError> {
        let (dim, taken, training) = (self.dim, self.taken, self.training);
        saved("dim", dim as f64, dim > 0 && dim < usize::MAX)?;
        self.placement.check_saved()?;
        let inside = self.placement.dim_inside(dim);
        saved("lanes", 0.0, !self.lanes.is_empty())?;
        for lane in &self.lanes {
            lane.check_saved(taken, inside, self.project)?;
        }
        let (longest, steps) = longest(&self.lanes);
        saved("longest lane", self.longest as f64, self.longest == longest)?;
        saved("training examples", training as f64, training == steps)?;
        saved("examples", taken as f64, taken <= training && taken < MAX_SAVED)?;
        let origins = self.origins_of_lanes().is_some_and(|origins| origins == self.origins);
        let offered = self.origins.len() == self.selector.len();
        saved("origins", self.origins.len() as f64, origins && offered)?;
        let reservoir = &self.reservoir;
        let held = if taken == 0 { 0 } else { inside };
        let finite = reservoir.w.iter().all(|v| v.is_finite());
        let fits = reservoir.w.len() == held && finite && reservoir.draw.is_after(taken);
        saved("reservoir iterate before example", reservoir.draw.step as f64, fits)?;
        let seen = self.selector.seen();
        let waiting = seen == 0 || taken == training;
        saved("validation examples", seen as f64, waiting && seen < MAX_SAVED)?;
        if let Some(theorem) = &self.theorem {
            theorem.check_saved()?;
        }
        self.selector.check_saved(inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::guarantee::AverageBound;

    #[test]
    fn shares_of_a_guarantee_are_smaller_than_it() {
        let of = |best_candidate, choice_failure| Theorem {
            guarantee: Guarantee { excess: 0.1, failure: 0.05 },
            best_candidate,
            choice_failure,
            average: AverageBound::Unknown,
        };
        assert!(of(0.075, 0.025).check_saved().is_ok());
        for wrong in [of(0.1, 0.025), of(0.0, 0.025), of(0.075, 0.05), of(0.075, 0.0)] {
            assert!(wrong.check_saved().is_err(), "{wrong:?}");
        }
    }
}
