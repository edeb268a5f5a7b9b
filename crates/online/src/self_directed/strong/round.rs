//! The work on what was unlabelled when a round began: points in position, and runs of the weak learner on
//! them, one start after the other. *Source.* DKTZ23 §3, weak learner; [`WeakRun`](crate::WeakRun) is the same loop written
//! plainly, which S8 and S8f measure; a test holds both to the same updates. Claims: S9, S9g, S9r.

use super::RoundTally;
use halfspaces_forster::ForsterTransform;
use halfspaces_linalg::{
    DescendingMargins, Label, PointSet, Points, RowView, kernels, norm, normalise, tolerance,
};

/// Where a run starts.
#[derive(Debug, Clone)]
pub(super) struct Attempt {
    /// Unit; zero for the walk that predicts +1, empty for y u of the first point asked.
    pub(super) w: Vec<f64>,
    /// Updates it may make.
    pub(super) most: usize,
    /// Whether w is what was known before, which is then kept outside V.
    pub(super) known: bool,
}

/// What a run of a round is at.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// Unit, in V; zero for the walk that predicts +1, and until a run from the first point has it.
    pub(super) w: Vec<f64>,
    pub(super) from_first: bool,
    pub(super) most: usize,
    pub(super) known: bool,
    pub(super) walk: DescendingMargins,
    /// Points passed on this walk.
    pub(super) passed: usize,
    pub(super) updates: usize,
}

/// Points in position.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) transform: ForsterTransform,
    /// Index in the pool of each transformed point.
    pub(super) members: Vec<usize>,
    /// U, unit rows.
    pub(super) inside: Points,
    /// Whether V is less than what the unlabelled points spanned.
    pub(super) heavy: bool,
}

/// The work on what was unlabelled at its start.
#[derive(Debug, Clone)]
pub(super) struct RoundState {
    pub(super) placed: Placed,
    pub(super) run: Run,
    /// Starts still to be tried, the last first.
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

/// All of U by decreasing |w · u|.
fn walk(inside: &Points, w: &[f64]) -> DescendingMargins {
    inside.rows().map(|u| u.dot(w)).collect()
}

/// What comes after a point was walked.
pub(super) enum Next {
    Walk,
    /// A walk has passed its share of the points.
    Succeeded,
    /// Every start has failed.
    Failed,
}

impl RoundState {
    /// w · u for the run's w and the point u at `place`.
    pub(super) fn value(&self, place: usize) -> f64 {
        kernels::dot(self.inside_row(place), &self.run.w)
    }

    /// The truth about the point at `place` is `truth`, and the run's w says `value`.
    pub(super) fn pass(
        &mut self,
        place: usize,
        value: f64,
        truth: Label,
        tally: &mut RoundTally,
    ) -> Next {
        if self.run.from_first {
            let w = self.inside_row(place).iter().map(|v| truth.as_f64() * v).collect();
            let (most, known) = (self.run.most, self.run.known);
            self.run = Run::new(&self.placed.inside, Attempt { w, most, known });
            return Next::Walk;
        }
        self.run.passed += 1;
        if Label::from_sign(value) == truth {
            return Next::Walk;
        }
        // A mistake ends the walk.
        let k = self.placed.transform.inner_dim();
        if 4 * k * self.run.passed >= self.placed.inside.len() {
            tally.successes += 1;
            self.learn(place, value);
            return Next::Succeeded;
        }
        let more = !self.run.is_zero() && self.run.updates < self.run.most;
        if more && self.learn(place, value) {
            self.run.updates += 1;
            self.run.passed = 0;
            self.run.walk = walk(&self.placed.inside, &self.run.w);
            return Next::Walk;
        }
        // The walk with w = 0 was a look, not a run.
        tally.failures += usize::from(!self.run.is_zero());
        match self.starts.pop() {
            Some(start) => {
                self.run = Run::new(&self.placed.inside, start);
                Next::Walk
            }
            None => {
                tally.failed_rounds += 1;
                Next::Failed
            }
        }
    }

    fn inside_row(&self, place: usize) -> &[f64] {
        let Some(u) = self.placed.inside.row(place) else {
            unreachable!("walks are of points in U")
        };
        u.as_slice()
    }

    /// w -= (w · u) u; `false`, and w kept, if that leaves nothing.
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
