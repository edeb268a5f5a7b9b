//! Lanes. A lane is a sequence of iterates. Between updates it may have an event: the start of a run, or an iterate to
//! store.

use super::descend::Iterate;
use super::direction::Direction;
use super::outcome::Origin;
use crate::streams;
use halfspaces_data::Link;
use halfspaces_linalg::{InputError, Label, RowView, RowsAhead, ScaledRow, reserve, rng_for};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;

/// One sequence of iterates, with the update w -= λ g(w; x, y). It restarts from 0 after every run.
///
/// The type is aligned so that threads with neighbouring lanes do not write to the same cache line.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(align(128))]
pub(crate) struct Lane<L> {
    pub direction: Direction<L>,
    pub step: f64,
    pub runs: u64,
    pub run_length: u64,
    pub retention: Retention,
    /// The number of updates so far, and the number of updates in the current run.
    pub(super) taken: u64,
    pub(super) in_run: u64,
    pub(super) w: Iterate,
}

impl<L> Lane<L> {
    pub(crate) fn new(
        direction: Direction<L>,
        step: f64,
        runs: u64,
        run_length: u64,
        retention: Retention,
    ) -> Self {
        debug_assert!(run_length > 0, "every schedule has a step");
        let w = Iterate::default();
        Lane { direction, step, runs, run_length, retention, taken: 0, in_run: 0, w }
    }

    pub(super) fn steps(&self) -> u64 {
        self.runs.saturating_mul(self.run_length)
    }

    /// Whether all steps are done.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.taken == self.steps()
    }
}

/// A lane and the iterates that it retains while it learns from some rows.
pub(super) struct LaneCursor<'a, L> {
    pub(super) lane: &'a mut Lane<L>,
    index: usize,
    /// The reservoir; `None` if the reservoir draws from the iterates of another lane.
    reservoir: Option<&'a mut ReservoirIterate>,
    /// The retained candidates, in the order of their steps.
    pub(super) retained: Vec<(Origin, Vec<f64>)>,
}

impl<'a, L: Link> LaneCursor<'a, L> {
    pub(super) fn new(
        index: usize,
        lane: &'a mut Lane<L>,
        reservoir: Option<&'a mut ReservoirIterate>,
    ) -> Self {
        LaneCursor { lane, index, reservoir, retained: Vec::new() }
    }

    /// Starts a new run if the current one is complete. The first iterate of the new run is 0. Returns whether a new
    /// run started.
    #[inline(always)]
    pub(super) fn starts_run(&mut self) -> bool {
        let complete = self.lane.in_run == self.lane.run_length;
        if complete {
            self.lane.in_run = 0;
        }
        complete
    }

    /// Stores the iterate before the next update, if it is a candidate or the next draw of the reservoir.
    #[inline(always)]
    pub(super) fn store_if_due(&mut self, iterate: impl Fn() -> Vec<f64>) {
        let step = self.lane.taken;
        if self.lane.retention.retains(step) {
            self.retained.push((Origin { lane: self.index, step }, iterate()));
        }
        if let Some(reservoir) = self.reservoir.as_mut().filter(|r| r.draw.next == step) {
            reservoir.take(iterate());
        }
    }

    /// The number of updates from now to the next event.
    #[inline]
    pub(super) fn steps_to_event(&self) -> u64 {
        let Lane { retention, taken, in_run, .. } = &*self.lane;
        let to_restart = self.lane.run_length - in_run;
        let to_draw = self.reservoir.as_ref().map_or(u64::MAX, |r| r.draw.next - taken);
        to_restart.min(to_draw).min(retention.steps_to_event(*taken))
    }

    /// Adds `taken` to both counts of updates.
    #[inline(always)]
    pub(super) fn count(&mut self, taken: usize) {
        self.lane.taken += taken as u64;
        self.lane.in_run += taken as u64;
    }

    /// Learns from one row of any type, given its squared norm ‖x‖² <= 1.
    #[inline(always)]
    pub(super) fn learn<X: RowView>(&mut self, x: X, norm_sq: f64, label: Label, project: bool) {
        self.begin_step();
        let Lane { w, direction, step, .. } = &mut *self.lane;
        w.descend_along(direction, *step, project, (x, norm_sq), label);
        self.count(1);
    }

    /// Learns from dense rows in memory, up to the last step of the lane or the first row outside the unit ball.
    /// Returns the number of rows used.
    pub(super) fn learn_dense(
        &mut self,
        mut rows: RowsAhead<'_>,
        scaling: Option<f64>,
        project: bool,
    ) -> usize {
        let before = self.lane.taken;
        let scale = scaling.unwrap_or(1.0);
        rows = rows.at_most(self.lane.steps() - before);
        // A row outside the ball does not cause an event.
        while let Some((first, _)) = rows.rows().next()
            && InputError::check_in_ball(ScaledRow::new(first, scale).norm_sq()).is_ok()
        {
            self.begin_step();
            let quiet = rows.at_most(self.steps_to_event());
            let Lane { w, direction, step, .. } = &mut *self.lane;
            let taken = w.descend_dense(direction, *step, project, scaling, quiet);
            self.count(taken);
            if taken < quiet.labels().len() {
                break;
            }
            rows = rows.skip(taken);
        }
        (self.lane.taken - before) as usize
    }

    #[inline(always)]
    fn begin_step(&mut self) {
        let mut w = std::mem::take(&mut self.lane.w);
        if self.starts_run() {
            w.restart();
        }
        self.store_if_due(|| w.as_slice().to_vec());
        self.lane.w = w;
    }
}

/// Selects which of the iterates w^1, ..., w^T of a lane become candidates.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Retention {
    /// All iterates.
    All,
    /// The iterates before certain updates. The vector `steps` holds the numbers of these updates, counted from 0, in
    /// increasing order. `next` is the index in `steps` of the next iterate to retain.
    Drawn { steps: Vec<u64>, next: usize },
}

impl Retention {
    /// Draws `count` iterates independently and uniformly from 0..`total`. An iterate drawn twice counts as one
    /// candidate.
    ///
    /// # Errors
    /// [`InputError::TooLarge`].
    pub(crate) fn drawn(
        count: u64,
        total: u64,
        rng: &mut ChaCha8Rng,
    ) -> Result<Retention, InputError> {
        // A count beyond `usize` does not fit in memory.
        let mut steps = Vec::new();
        reserve(&mut steps, usize::try_from(count).unwrap_or(usize::MAX))?;
        steps.extend((0..count).map(|_| rng.random_range(0..total)));
        steps.sort_unstable();
        steps.dedup();
        Ok(Retention::Drawn { steps, next: 0 })
    }

    /// The number of candidates among `total` iterates.
    pub(super) fn count(&self, total: u64) -> u64 {
        match self {
            Retention::All => total,
            Retention::Drawn { steps, .. } => steps.len() as u64,
        }
    }

    /// The number of updates from step `t` to the next iterate to retain, not counting the iterate of step `t` itself.
    fn steps_to_event(&self, t: u64) -> u64 {
        match self {
            Retention::All => 1,
            Retention::Drawn { steps, next } => steps.get(*next).map_or(u64::MAX, |step| step - t),
        }
    }

    /// Whether the iterate before example `t` is retained. The values of t must increase from call to call, and must
    /// include the step of every iterate to be retained.
    #[inline(always)]
    fn retains(&mut self, t: u64) -> bool {
        match self {
            Retention::All => true,
            Retention::Drawn { steps, next } => {
                let hit = steps.get(*next) == Some(&t);
                *next += usize::from(hit);
                hit
            }
        }
    }
}

/// A uniformly random iterate among the iterates so far, drawn without knowledge of the number of later iterates
/// (reservoir sampling). After step t, the next draw is at step t/u with u uniform in (0, 1]. The probability that none
/// of the steps t+1, ..., s is drawn is then t/s.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct ReservoirIterate {
    pub(super) w: Vec<f64>,
    pub(super) draw: ReservoirDraw,
}

/// The steps of the current and the next draw of a [`ReservoirIterate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct ReservoirDraw {
    /// The step of the current iterate.
    pub(super) step: u64,
    /// The step of the next draw.
    next: u64,
    draws: u64,
    seed: u64,
}

impl ReservoirDraw {
    fn new(seed: u64) -> ReservoirDraw {
        ReservoirDraw { step: 0, next: 0, draws: 0, seed }
    }

    /// Draws the iterate before step `step`.
    fn take(&mut self, step: u64) {
        self.step = step;
        self.draws += 1;
        let mut rng = rng_for(streams::RESERVOIR_ITERATE, self.seed);
        rng.set_word_pos(u128::from(self.draws) * 16);
        let u = 1.0 - rng.random::<f64>();
        self.next = (((step + 1) as f64 / u).floor() as u64).max(step + 1);
    }

    /// Whether this is the state after `taken` steps.
    #[cfg(feature = "serde")]
    pub(super) fn is_after(&self, taken: u64) -> bool {
        let mut draw = ReservoirDraw::new(self.seed);
        while draw.next < taken {
            draw.take(draw.next);
        }
        draw == *self
    }
}

impl ReservoirIterate {
    pub(super) fn new(seed: u64) -> ReservoirIterate {
        ReservoirIterate { w: Vec::new(), draw: ReservoirDraw::new(seed) }
    }

    /// Stores the iterate of the next draw.
    #[cold]
    fn take(&mut self, w: Vec<f64>) {
        self.w = w;
        self.draw.take(self.draw.next);
    }
}
