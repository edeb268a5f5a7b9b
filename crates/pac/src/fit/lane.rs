//! Sequences of iterates, and which of them are retained.

use super::direction::Direction;
use super::iterate::Iterate;
use halfspaces_data::Link;
use halfspaces_linalg::{InputError, Label, RngStream, RowView, reserve, rng_for};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;

/// One sequence of iterates: w -= λ g(w; x, y), restarted from 0 after every run.
///
/// Aligned, so that no two lanes that threads go on with side by side write to one cache line.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(align(128))]
pub(crate) struct Lane<L> {
    pub direction: Direction<L>,
    pub step: f64,
    pub runs: u64,
    pub run_length: u64,
    pub retention: Retention,
    /// Examples of its own taken so far, and those of the present run.
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

    /// Whether all its steps are made.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.taken == self.steps()
    }
}

impl<L: Link> Lane<L> {
    /// For how many of the coming examples nothing but a step happens.
    #[inline]
    pub(super) fn quiet_steps(&self) -> u64 {
        let in_run = self.run_length - self.in_run;
        in_run.min(self.retention.quiet_steps(self.taken)).min(self.steps() - self.taken)
    }

    /// The step of one example, of the given ‖x‖².
    #[inline(always)]
    pub(super) fn take<R: RowView>(&mut self, x: R, norm_sq: f64, label: Label, project: bool) {
        let row = (x, x.dot(self.w.as_slice()), norm_sq);
        self.w.descend(&self.direction, self.step, project, row, label);
        self.taken += 1;
        self.in_run += 1;
    }

    /// The iterate that the next example finds, at 0 at the start of a run, and whether it is retained.
    #[inline(always)]
    pub(super) fn open_step(&mut self) -> bool {
        if self.in_run == self.run_length {
            self.w.restart();
            self.in_run = 0;
        }
        self.retention.retains(self.taken)
    }
}

/// Which iterates w^1, ..., w^T of a lane become candidates.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Retention {
    /// All of them.
    All,
    /// Those before example `steps[next]`, ..., counted from 0, increasing.
    Drawn { steps: Vec<u64>, next: usize },
}

impl Retention {
    /// `count` independent uniform draws from 0..`total`, made now, before the run. An iterate drawn twice
    /// is one candidate.
    ///
    /// # Errors
    /// [`InputError::TooLarge`].
    pub(crate) fn drawn(
        count: u64,
        total: u64,
        rng: &mut ChaCha8Rng,
    ) -> Result<Retention, InputError> {
        // A count beyond `usize` is one that does not fit.
        let mut steps = Vec::new();
        reserve(&mut steps, usize::try_from(count).unwrap_or(usize::MAX))?;
        steps.extend((0..count).map(|_| rng.random_range(0..total)));
        steps.sort_unstable();
        steps.dedup();
        Ok(Retention::Drawn { steps, next: 0 })
    }

    /// How many of `total` iterates are retained.
    pub(super) fn count(&self, total: u64) -> u64 {
        match self {
            Retention::All => total,
            Retention::Drawn { steps, .. } => steps.len() as u64,
        }
    }

    /// How many iterates from that before example `t` on are not retained, where all before it were asked about.
    fn quiet_steps(&self, t: u64) -> u64 {
        match self {
            Retention::All => 0,
            Retention::Drawn { steps, next } => steps.get(*next).map_or(u64::MAX, |step| step - t),
        }
    }

    /// Whether the iterate before example `t` is retained. Asked once for every t, in order.
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

/// A uniformly random iterate of those so far, drawn without knowing how many will come: after step t
/// the next is taken at t/u, u uniform in (0, 1], for then none of t+1, ..., s is with probability t/s.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct ReservoirIterate {
    pub(super) w: Vec<f64>,
    pub(super) draw: ReservoirDraw,
}

/// Which iterate a [`ReservoirIterate`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct ReservoirDraw {
    /// The example that the iterate stood before.
    pub(super) step: u64,
    /// The example before which the next is taken.
    next: u64,
    draws: u64,
    seed: u64,
}

impl ReservoirDraw {
    fn new(seed: u64) -> ReservoirDraw {
        ReservoirDraw { step: 0, next: 0, draws: 0, seed }
    }

    /// Takes the iterate before example `step`.
    fn take(&mut self, step: u64) {
        self.step = step;
        self.draws += 1;
        let mut rng = rng_for(RngStream::ReservoirIterate, self.seed);
        rng.set_word_pos(u128::from(self.draws) * 16);
        let u = 1.0 - rng.random::<f64>();
        self.next = (((step + 1) as f64 / u).floor() as u64).max(step + 1);
    }

    /// Whether it is what `taken` examples make it.
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

    /// How many iterates from that before example `step` on are not taken.
    pub(super) fn quiet_steps(&self, step: u64) -> u64 {
        self.draw.next - step
    }

    /// Offers the iterate before example `step`, counted from 0, in order.
    #[inline(always)]
    pub(super) fn offer(&mut self, step: u64, w: &[f64]) {
        if step == self.draw.next {
            self.take(step, w);
        }
    }

    #[cold]
    fn take(&mut self, step: u64, w: &[f64]) {
        self.w.clear();
        self.w.extend_from_slice(w);
        self.draw.take(step);
    }
}
