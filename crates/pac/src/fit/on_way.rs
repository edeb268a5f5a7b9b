//! A lane on its way over rows that lie in memory, and what it leaves behind.
//!
//! Claims: none of its own; the tests of `stretch` and of `beside` hold it to one example after the other.

use super::lane::{Lane, ReservoirIterate};
use halfspaces_data::Link;
use halfspaces_linalg::{InputError, Label, RowView, RowsAhead, kernels};

/// What a lane did with some rows.
pub(super) struct Way {
    /// Steps that the lane had left.
    pub(super) steps_left: u64,
    pub(super) taken: usize,
    /// The iterates retained, with the example each stood before.
    pub(super) retained: Vec<(u64, Vec<f64>)>,
}

/// A lane on its way over some rows.
pub(super) struct OnWay<'a, L> {
    pub(super) lane: &'a mut Lane<L>,
    /// With the lane whose iterates it draws from.
    reservoir: Option<&'a mut ReservoirIterate>,
    /// Weights of an iterate, which may be filled up.
    dim: usize,
    pub(super) way: Way,
}

/// Sends lanes over points in the ball, whose squared norms and labels are `facts`, side by side: none of their steps
/// waits for one of another.
#[inline(always)]
pub(super) fn side_by_side<L: Link, X: RowView>(
    lanes: &mut [OnWay<'_, L>],
    points: impl Iterator<Item = X>,
    facts: &[(f64, Label)],
    project: bool,
) {
    for (x, (norm_sq, label)) in points.zip(facts) {
        for on_way in lanes.iter_mut().filter(|on_way| !on_way.lane.is_done()) {
            on_way.open();
            on_way.take(x, *norm_sq, *label, project);
        }
    }
}

impl<'a, L: Link> OnWay<'a, L> {
    pub(super) fn new(lane: &'a mut Lane<L>, reservoir: Option<&'a mut ReservoirIterate>) -> Self {
        let (steps_left, dim) = (lane.steps() - lane.taken, lane.w.as_slice().len());
        OnWay { lane, reservoir, dim, way: Way { steps_left, taken: 0, retained: Vec::new() } }
    }

    /// Fills the iterate up to `len` weights or cuts it to them, in memory of this thread, away from those of other lanes.
    pub(super) fn resize(&mut self, len: usize) {
        self.lane.w = self.lane.w.resized(len);
    }

    /// Begins a step: the iterate is one of a new run, retained or taken along, where that is due.
    #[inline(always)]
    pub(super) fn open(&mut self) {
        if self.lane.open_step() {
            self.retain();
        }
        if let Some(reservoir) = &mut self.reservoir {
            reservoir.offer(self.lane.taken, &self.lane.w.as_slice()[..self.dim]);
        }
    }

    /// For how many of the coming examples nothing but a step happens.
    #[inline(always)]
    pub(super) fn quiet_steps(&self) -> u64 {
        let of_reservoir = self.reservoir.as_ref().map(|r| r.quiet_steps(self.lane.taken));
        self.lane.quiet_steps().min(of_reservoir.unwrap_or(u64::MAX))
    }

    /// The step that was begun.
    #[inline(always)]
    pub(super) fn take<X: RowView>(&mut self, x: X, norm_sq: f64, label: Label, project: bool) {
        self.lane.take(x, norm_sq, label, project);
        self.way.taken += 1;
    }

    /// So many steps more were taken.
    #[inline(always)]
    pub(super) fn count(&mut self, taken: usize) {
        self.lane.taken += taken as u64;
        self.lane.in_run += taken as u64;
        self.way.taken += taken;
    }

    #[cold]
    fn retain(&mut self) {
        let w = self.lane.w.as_slice()[..self.dim].to_vec();
        self.way.retained.push((self.lane.taken, w));
    }

    /// Learns from `rows`, as many as its steps ask for, up to the first outside the ball.
    pub(super) fn go_over<const SCALED: bool>(
        &mut self,
        project: bool,
        scale: f64,
        rows: RowsAhead<'_>,
    ) {
        let mut rows = rows.at_most(self.lane.steps() - self.lane.taken);
        loop {
            // Nothing begins at a point outside the ball.
            let Some(first) = rows.values().get(..rows.dim()) else { return };
            if InputError::check_in_ball(scale * kernels::norm_sq(first) * scale).is_err() {
                return;
            }
            self.open();
            let quiet = rows.at_most(self.quiet_steps());
            let lane = &mut *self.lane;
            let (w, direction) = (&mut lane.w, &lane.direction);
            let taken = w.descend_rows::<L, SCALED>(direction, lane.step, project, scale, quiet);
            self.count(taken);
            if taken < quiet.labels().len() {
                return;
            }
            rows = rows.skip(taken);
        }
    }
}
