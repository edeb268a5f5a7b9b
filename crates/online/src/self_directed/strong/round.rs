//! A round of the strong learner: points in radially isotropic position, and runs of the weak learner on them from a
//! list of starts.
//!
//! *Source.* DKTZ23 §3, weak learner. [`WeakRun`](crate::WeakRun) is the plain version of the same loop and the subject
//! of claims S8 and S8f; a test checks that both make the same updates. Claims: S9, S9g, S9r.

use super::RoundTally;
use halfspaces_forster::ForsterTransform;
use halfspaces_linalg::{
    DescendingMargins, Label, PointSet, Points, RowView, kernels, norm, normalise, tolerance,
};

/// A start of a run.
#[derive(Debug, Clone)]
pub(super) struct Attempt {
    /// A unit vector; zero for the walk that predicts +1; empty if the start is y u of the first point asked about.
    pub(super) w: Vec<f64>,
    /// Maximum number of updates.
    pub(super) most: usize,
    /// Whether w is the current hypothesis, which is then kept outside V.
    pub(super) known: bool,
}

/// The current state of a run within a round.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// A unit vector in V; zero for the walk that predicts +1, and for a run from the first point until the label of
    /// this point is revealed.
    pub(super) w: Vec<f64>,
    pub(super) from_first: bool,
    pub(super) most: usize,
    pub(super) known: bool,
    pub(super) walk: DescendingMargins,
    /// Number of points passed in this walk.
    pub(super) passed: usize,
    pub(super) updates: usize,
}

/// Points in radially isotropic position.
#[derive(Debug, Clone)]
pub(super) struct PositionedPoints {
    pub(super) transform: ForsterTransform,
    /// The index in the pool of each transformed point.
    pub(super) members: Vec<usize>,
    /// U, as unit rows.
    pub(super) inside: Points,
    /// Whether V is smaller than the span of the unlabelled points.
    pub(super) heavy: bool,
}

/// A round in progress.
#[derive(Debug, Clone)]
pub(super) struct RoundState {
    pub(super) placed: PositionedPoints,
    pub(super) run: Run,
    /// The starts still to be tried, in reverse order.
    pub(super) starts: Vec<Attempt>,
}

impl Run {
    pub(super) fn new(inside: &Points, attempt: Attempt) -> Run {
        let Attempt { mut w, most, known } = attempt;
        let from_first = w.is_empty();
        w.resize(inside.dim(), 0.0);
        let walk = walk(inside, &w);
        Run { w, from_first, most, known, walk, passed: 0, updates: 0 }
    }

    fn is_zero(&self) -> bool {
        self.w.iter().all(|v| *v == 0.0)
    }
}

/// A walk over all of U in order of decreasing |w · u|.
fn walk(inside: &Points, w: &[f64]) -> DescendingMargins {
    inside.rows().map(|u| u.dot(w)).collect()
}

/// The state of the round after a point was passed.
pub(super) enum RoundStatus {
    /// The current run continues.
    Walking,
    /// A walk has passed the required fraction of the points.
    Succeeded,
    /// Every start has failed.
    Failed,
}

impl RoundState {
    /// w · u for the run's w and the point u at `place`.
    pub(super) fn value(&self, place: usize) -> f64 {
        kernels::dot(self.inside_row(place), &self.run.w)
    }

    /// Learns that the point at `place` has label `truth`; `value` is the product of the run's w with this point.
    pub(super) fn pass(
        &mut self,
        place: usize,
        value: f64,
        truth: Label,
        tally: &mut RoundTally,
    ) -> RoundStatus {
        if self.run.from_first {
            let w = self.inside_row(place).iter().map(|v| truth.as_f64() * v).collect();
            let (most, known) = (self.run.most, self.run.known);
            self.run = Run::new(&self.placed.inside, Attempt { w, most, known });
            return RoundStatus::Walking;
        }
        self.run.passed += 1;
        if Label::from_sign(value) == truth {
            return RoundStatus::Walking;
        }
        // A mistake ends the walk.
        let k = self.placed.transform.inner_dim();
        if 4 * k * self.run.passed >= self.placed.inside.len() {
            tally.successes += 1;
            self.learn(place, value);
            return RoundStatus::Succeeded;
        }
        let more = !self.run.is_zero() && self.run.updates < self.run.most;
        if more && self.learn(place, value) {
            self.run.updates += 1;
            self.run.passed = 0;
            self.run.walk = walk(&self.placed.inside, &self.run.w);
            return RoundStatus::Walking;
        }
        // The walk with w = 0 was a probe, not a run.
        tally.failures += usize::from(!self.run.is_zero());
        match self.starts.pop() {
            Some(start) => {
                self.run = Run::new(&self.placed.inside, start);
                RoundStatus::Walking
            }
            None => {
                tally.failed_rounds += 1;
                RoundStatus::Failed
            }
        }
    }

    fn inside_row(&self, place: usize) -> &[f64] {
        let Some(u) = self.placed.inside.row(place) else {
            unreachable!("the walk visits points of U only")
        };
        u.as_slice()
    }

    /// Sets w -= (w · u) u. Returns `false` and keeps w if nothing would be left of it.
    fn learn(&mut self, place: usize, value: f64) -> bool {
        let mut w = self.run.w.clone();
        kernels::axpy(-value, self.inside_row(place), &mut w);
        let fine = norm(&w) > tolerance::VANISHED && normalise(&mut w);
        if fine {
            self.run.w = w;
        }
        fine
    }
}
