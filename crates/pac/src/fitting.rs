//! A fit in progress: iterate over fresh examples, keep candidates, choose among them on further fresh
//! examples.
//!
//! All Perspectrons share it; they differ in the [`Plan`]. One pass, in memory O(d) plus the kept
//! candidates. A fit takes examples one at a time, so it can be fed from anywhere, stopped, saved
//! (feature `serde`) and continued: the outcome is that of an uninterrupted one.

use crate::affine::AffineHalfspace;
use crate::direction::{Denominator, Direction, descend};
use crate::schedule;
use crate::selection::{Elimination, Selector, check_in_ball};
use halfspaces_data::Link;
use halfspaces_linalg::{
    ExampleStream, Halfspace, InputError, Label, LiftedRow, RowView, ScaledRow, zeros,
};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use thiserror::Error;

/// What a learner will do, before it has seen anything: every number of its theorem.
///
/// ```
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
    /// |H|, candidates kept, at most.
    pub candidates: u64,
    /// |T₂|, fresh examples to choose by.
    pub validation: u64,
}

impl Plan {
    /// T₁ = NT, examples learned from.
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

/// One sequence of iterates: w -= λ g(w; x, y), restarted from 0 after every run.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Lane<L> {
    pub direction: Direction<L>,
    pub step: f64,
    pub runs: u64,
    pub run_length: u64,
    pub kept: Kept,
    /// Examples of its own taken so far, and those of the present run.
    taken: u64,
    in_run: u64,
    w: Vec<f64>,
}

/// Which iterates w^1, ..., w^T of a lane become candidates.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Kept {
    /// All of them.
    All,
    /// Those before example `steps[next]`, ..., counted from 0, increasing.
    Some { steps: Vec<u64>, next: usize },
}

impl Kept {
    /// `count` independent uniform draws from 0..`of`, drawn now, before the run. An iterate drawn twice
    /// is one candidate.
    pub(crate) fn drawn(count: u64, of: u64, rng: &mut ChaCha8Rng) -> Kept {
        let mut steps: Vec<u64> = (0..count).map(|_| rng.random_range(0..of.max(1))).collect();
        steps.sort_unstable();
        steps.dedup();
        Kept::Some { steps, next: 0 }
    }

    fn count(&self, of: u64) -> u64 {
        match self {
            Kept::All => of,
            Kept::Some { steps, .. } => steps.len() as u64,
        }
    }

    /// Whether the iterate before example `t` is kept. Asked once for every t, in order.
    fn takes(&mut self, t: u64) -> bool {
        match self {
            Kept::All => true,
            Kept::Some { steps, next } => {
                let hit = steps.get(*next) == Some(&t);
                *next += usize::from(hit);
                hit
            }
        }
    }
}

impl<L: Link> Lane<L> {
    pub(crate) fn new(
        direction: Direction<L>,
        step: f64,
        runs: u64,
        run_length: u64,
        kept: Kept,
    ) -> Self {
        Lane { direction, step, runs, run_length, kept, taken: 0, in_run: 0, w: Vec::new() }
    }

    fn steps(&self) -> u64 {
        self.runs.saturating_mul(self.run_length)
    }
}

/// Where a fit stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Stage {
    /// Learning: so many of so many examples taken.
    Training {
        /// Examples taken.
        taken: u64,
        /// T₁.
        of: u64,
    },
    /// Choosing among the candidates: so many of so many examples taken.
    Validation {
        /// Examples taken.
        taken: u64,
        /// |T₂|.
        of: u64,
    },
    /// All examples of the plan have been taken.
    Complete,
}

/// A fit in progress.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Label};
/// use halfspaces_pac::{Perspectron, Stage};
/// let learner = Perspectron::params(0.1, 0.9).excess(0.4).check()?;
/// let mut fitting = learner.start(1)?;
/// while fitting.stage() != Stage::Complete {
///     fitting.observe(DenseRow::new(&[1.0])?, Label::Positive)?;
///     fitting.observe(DenseRow::new(&[-1.0])?, Label::Negative)?;
/// }
/// let fit = fitting.finish()?;
/// assert!(fit.halfspace().normal()[0] > 0.0);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fitting<L> {
    lanes: Vec<Lane<L>>,
    placement: Placement,
    project: bool,
    /// Whether the mean of each lane's candidates is a candidate too.
    means: bool,
    /// Dimension of the points as given.
    dim: usize,
    taken: u64,
    /// T₁: examples to learn from.
    training: u64,
    selector: Selector,
    /// For each candidate its lane and the example it stood before.
    origins: Vec<Origin>,
    /// What is returned when training is cut short.
    spare: Spare,
    guarantee: Guarantee,
}

/// A uniformly random iterate of those so far, kept without knowing how many will come: after step t
/// the next is taken at t/u, u uniform in (0, 1], for then none of t+1, ..., s is with probability t/s.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Spare {
    w: Vec<f64>,
    step: u64,
    next: u64,
    draws: u64,
    seed: u64,
}

impl Spare {
    fn new(seed: u64) -> Spare {
        Spare { w: Vec::new(), step: 0, next: 0, draws: 0, seed }
    }

    /// Offers the iterate before example `step`, counted from 0, in order.
    #[inline]
    fn offer(&mut self, step: u64, w: &[f64]) {
        if step == self.next {
            self.take(step, w);
        }
    }

    #[cold]
    fn take(&mut self, step: u64, w: &[f64]) {
        self.w.clear();
        self.w.extend_from_slice(w);
        self.step = step;
        self.draws += 1;
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed ^ SPARE);
        rng.set_stream(self.draws);
        let u = 1.0 - rng.random::<f64>();
        self.next = (((step + 1) as f64 / u).floor() as u64).max(step + 1);
    }
}

/// Sets the spare's generator apart from the one that draws the kept iterates.
const SPARE: u64 = 0x5350_4152_4500_0000;

/// Where a candidate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Origin {
    /// Number of the lane: of the guess of the noise rate or the margin, 0 where there is one.
    pub lane: usize,
    /// Steps made before it, over all runs of the lane.
    pub step: u64,
}

/// What the theorem says of fits that end early.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Guarantee {
    pub excess: f64,
    pub failure: f64,
    /// What the best candidate's error exceeds the target level by, at most: ε/2 as a rule.
    pub best_candidate: f64,
    /// Failure probability of the uniform accuracy of the validation.
    pub validation_failure: f64,
    /// What the average error of the iterates exceeds the target by after t steps.
    pub average: Average,
}

impl Guarantee {
    /// Nothing promised: the sample has the size it has.
    pub(crate) fn none() -> Guarantee {
        Guarantee {
            excess: 1.0,
            failure: 1.0,
            best_candidate: 1.0,
            validation_failure: 1.0,
            average: Average::Unknown,
        }
    }
}

/// The bound on the average excess of the iterates of one run that is cut short.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Average {
    /// D = |w·x| + γ.
    Plus {
        noise: f64,
        margin: f64,
        step: f64,
    },
    /// D = max(|w·x|, γ).
    AtLeast {
        noise: f64,
        margin: f64,
        step: f64,
    },
    Glm {
        margin: f64,
        step: f64,
    },
    /// None is proved.
    Unknown,
}

impl Average {
    fn after(self, steps: u64, failure: f64) -> Option<f64> {
        match self {
            _ if steps == 0 => None,
            Average::Plus { noise, margin, step } => {
                Some(schedule::average_excess(noise, margin, step, steps, failure))
            }
            Average::AtLeast { noise, margin, step } => {
                Some(schedule::average_excess_max(noise, margin, step, steps, failure))
            }
            Average::Glm { margin, step } => {
                Some(schedule::glm_average_excess(margin, step, steps, failure))
            }
            Average::Unknown => None,
        }
    }
}

/// How a fit ended, and what holds of it. The target level is η for Massart noise, opt_RCN + τ/2
/// for a link.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Status {
    /// As planned: error at most the target level + `excess`, with probability at least 1 - `failure`.
    Complete {
        /// ε.
        excess: f64,
        /// δ.
        failure: f64,
    },
    /// The examples ended while candidates were compared. The best one so far is returned: error at
    /// most the target level + `excess`, with probability at least 1 - `failure`.
    EndedInValidation {
        /// Examples compared on.
        examples: u64,
        /// ε/2 + 2√(ln(4|H|/δ₂)/(2m)) after m examples, δ₂ the choice's share of δ; may be vacuous.
        excess: f64,
        /// δ.
        failure: f64,
    },
    /// The examples ended while learning. A random iterate is returned: the average error of all
    /// iterates so far, which is its expected error, is at most the target level + `average_excess`,
    /// with probability at least 1 - `failure`. `None` where nothing is proved (several runs, several
    /// guesses, or the constants as printed).
    EndedInTraining {
        /// Examples learned from.
        examples: u64,
        /// Of the average error of the iterates; may be vacuous.
        average_excess: Option<f64>,
        /// δ.
        failure: f64,
    },
}

/// What a fit has found.
///
/// ```
/// use halfspaces_data::{Instance, MarginBall, Rcn, random_target};
/// use halfspaces_pac::{Perspectron, Status};
/// let target = random_target(3, 1)?;
/// let instance = Instance::new(MarginBall::new(&target, 0.3)?, target, Rcn::new(0.1)?)?;
/// let learner = Perspectron::params(0.1, 0.3).excess(0.3).failure(0.1).check()?;
/// let fit = learner.fit(&mut instance.stream(2))?;
/// assert!(matches!(fit.status(), Status::Complete { .. }));
/// assert!(instance.population(1000, 3)?.error(fit.halfspace())?.mean() <= 0.1 + 0.3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fit {
    halfspace: Halfspace,
    placement: Placement,
    status: Status,
    origin: Origin,
    candidates: usize,
    remaining: usize,
    training: u64,
    validation: u64,
    errors: u64,
}

impl Fit {
    /// The halfspace found: of R^d, or of R^(d+1), for points lifted to (x/R, 1)/√2, where lifting was
    /// asked for.
    #[must_use]
    pub fn halfspace(&self) -> &Halfspace {
        &self.halfspace
    }

    /// Number of coordinates of the points as they were given.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.halfspace.dim() - usize::from(self.placement.lift)
    }

    /// The halfspace for points as they were given: sign(v·x + b), with b = 0 where no lifting was asked
    /// for.
    ///
    /// # Errors
    /// [`InputError::NonFinite`] if the radius takes the bias beyond `f64`.
    pub fn affine(&self) -> Result<AffineHalfspace, InputError> {
        let mut weights = self.halfspace.normal().to_vec();
        let bias = if self.placement.lift { weights.pop().unwrap_or(0.0) } else { 0.0 };
        AffineHalfspace::new(weights, bias / self.placement.scale)
    }

    /// The decision value of a point as given: w·x, or w·(x/R, 1)/√2.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`].
    pub fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        let Placement { scale, lift } = self.placement;
        let w = self.halfspace.normal();
        InputError::check_dim(self.dim(), x.dim())?;
        let x = ScaledRow::new(x, scale);
        Ok(if lift { LiftedRow::new(x).dot(w) } else { x.dot(w) })
    }

    /// The predicted label of a point as given.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`].
    pub fn predict<R: RowView>(&self, x: R) -> Result<Label, InputError> {
        self.decision_value(x).map(Label::of_sign)
    }

    /// How it ended and what is guaranteed.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status
    }

    /// Where the chosen candidate comes from.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Candidates kept.
    #[must_use]
    pub fn candidates(&self) -> usize {
        self.candidates
    }

    /// Candidates that were never dropped.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.remaining
    }

    /// Examples learned from.
    #[must_use]
    pub fn training(&self) -> u64 {
        self.training
    }

    /// Examples the candidates were compared on.
    #[must_use]
    pub fn validation(&self) -> u64 {
        self.validation
    }

    /// Errors of the chosen candidate among them.
    #[must_use]
    pub fn validation_errors(&self) -> u64 {
        self.errors
    }
}

/// Why a fit from a stream stopped.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FitError<E> {
    /// The stream has no next example to offer.
    #[error("after {taken} examples: {source}")]
    Stream {
        /// Examples taken before.
        taken: u64,
        /// What the stream says.
        source: E,
    },
    /// An example cannot be taken.
    #[error("after {taken} examples, at the next: {source}")]
    Example {
        /// Examples taken before.
        taken: u64,
        /// What is wrong with it.
        source: InputError,
    },
    /// The learner cannot be set up or has nothing to return.
    #[error(transparent)]
    Input(InputError),
}

impl<L: Link> Fitting<L> {
    pub(crate) fn new(
        dim: usize,
        mut lanes: Vec<Lane<L>>,
        validation: u64,
        settings: Settings,
        guarantee: Guarantee,
    ) -> Result<Self, InputError> {
        if dim == 0 {
            return Err(InputError::ZeroDimension);
        }
        let Settings { placement, project, elimination, seed } = settings;
        let inside = dim + usize::from(placement.lift);
        let share = guarantee.validation_failure;
        let mut selector = Selector::new(inside, validation, elimination, share);
        for lane in &mut lanes {
            lane.w = zeros(1, inside)?;
            selector.reserve(lane.kept.count(lane.steps()))?;
        }
        let training = lanes.iter().map(Lane::steps).max().unwrap_or(0);
        let origins = Vec::new();
        Ok(Fitting {
            lanes,
            placement,
            project,
            means: false,
            dim,
            taken: 0,
            training,
            selector,
            origins,
            spare: Spare::new(seed),
            guarantee,
        })
    }

    /// Number of coordinates of the points.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Where the fit stands.
    #[must_use]
    pub fn stage(&self) -> Stage {
        let training = self.training;
        if self.taken < training {
            Stage::Training { taken: self.taken, of: training }
        } else if self.selector.seen() < self.selector.planned() {
            Stage::Validation { taken: self.selector.seen(), of: self.selector.planned() }
        } else {
            Stage::Complete
        }
    }

    /// Takes one example; none after the fit is complete.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::ParameterOutOfRange`] for a point outside the
    /// ball of the stated radius, where nothing is guaranteed. The fit is as before.
    pub fn observe<R: RowView>(&mut self, x: R, label: Label) -> Result<Stage, InputError> {
        InputError::check_dim(self.dim, x.dim())?;
        // Points of the unit ball are taken as they are: their products round as everywhere else.
        let Placement { scale, lift } = self.placement;
        match (lift, (scale - 1.0).abs() < f64::EPSILON) {
            (false, true) => self.take(x, label),
            (false, false) => self.take(ScaledRow::new(x, scale), label),
            (true, true) => self.take(LiftedRow::new(x), label),
            (true, false) => self.take(LiftedRow::new(ScaledRow::new(x, scale)), label),
        }
    }

    #[inline]
    fn take<R: RowView>(&mut self, x: R, label: Label) -> Result<Stage, InputError> {
        check_in_ball(x)?;
        if self.taken < self.training {
            for (index, lane) in self.lanes.iter_mut().enumerate() {
                if lane.taken == lane.steps() {
                    continue;
                }
                if lane.in_run == lane.run_length {
                    lane.w.fill(0.0);
                    lane.in_run = 0;
                }
                if lane.kept.takes(lane.taken) {
                    self.selector.offer(&lane.w);
                    self.origins.push(Origin { lane: index, step: lane.taken });
                }
                if index == 0 {
                    self.spare.offer(lane.taken, &lane.w);
                }
                descend(&lane.direction, lane.step, self.project, &mut lane.w, x, label);
                lane.taken += 1;
                lane.in_run += 1;
            }
            self.taken += 1;
            if self.means && self.taken == self.training {
                self.offer_means();
            }
        } else if self.selector.seen() < self.selector.planned() {
            self.selector.observe(x, label);
        }
        Ok(self.stage())
    }

    /// Makes the mean of each lane's candidates a candidate too. No proof asks for it; the choice among
    /// them takes it into account.
    pub(crate) fn with_means(mut self) -> Self {
        self.means = true;
        self
    }

    fn offer_means(&mut self) {
        for (index, lane) in self.lanes.iter().enumerate() {
            let mut mean = lane.w.clone();
            mean.fill(0.0);
            for (w, origin) in self.selector.candidates().zip(&self.origins) {
                if origin.lane == index {
                    mean.iter_mut().zip(w).for_each(|(m, w)| *m += w);
                }
            }
            self.selector.offer(&mean);
            self.origins.push(Origin { lane: index, step: lane.taken });
        }
    }

    /// Takes examples from the stream until the fit is complete or the stream ends.
    ///
    /// # Errors
    /// [`FitError::Stream`], [`FitError::Example`]. Nothing is lost: the fit stands behind the last
    /// good example, and calling again goes on behind the faulty one.
    pub fn advance<S: ExampleStream>(
        &mut self,
        stream: &mut S,
    ) -> Result<Stage, FitError<S::Error>> {
        self.advance_by(stream, u64::MAX)
    }

    /// As [`Fitting::advance`], for at most `most` examples: to save the fit, or show how far it is,
    /// now and then.
    ///
    /// # Errors
    /// As [`Fitting::advance`].
    pub fn advance_by<S: ExampleStream>(
        &mut self,
        stream: &mut S,
        most: u64,
    ) -> Result<Stage, FitError<S::Error>> {
        let mut stage = self.stage();
        for _ in 0..most {
            if stage == Stage::Complete {
                break;
            }
            let taken = self.taken + self.selector.seen();
            match stream.next_row() {
                Err(source) => return Err(FitError::Stream { taken, source }),
                Ok(None) => break,
                Ok(Some((x, label))) => {
                    stage = self
                        .observe(x, label)
                        .map_err(|source| FitError::Example { taken, source })?;
                }
            }
        }
        Ok(stage)
    }

    /// The outcome for the examples taken, as planned or not.
    ///
    /// # Errors
    /// [`InputError::Empty`] if no example was taken.
    pub fn finish(mut self) -> Result<Fit, InputError> {
        if self.taken == 0 {
            return Err(InputError::Empty);
        }
        let Guarantee { excess, failure, best_candidate, validation_failure, average } =
            self.guarantee;
        let examples = self.selector.seen();
        let candidates = self.selector.len();
        let stage = self.stage();
        let best = if examples > 0 { self.selector.best() } else { None };
        let status = match stage {
            Stage::Complete => Status::Complete { excess, failure },
            Stage::Validation { taken, .. } if taken > 0 => {
                // The other half of the failure probability is the elimination's.
                let failure = validation_failure / 2.0;
                let accuracy = schedule::validation_accuracy(candidates as u64, taken, failure);
                let excess = best_candidate + 2.0 * accuracy;
                Status::EndedInValidation { examples: taken, excess, failure }
            }
            _ => {
                let one_run = self.lanes.iter().all(|lane| self.taken <= lane.run_length);
                let average = if one_run { average } else { Average::Unknown };
                let average_excess = average.after(self.taken, failure);
                Status::EndedInTraining { examples: self.taken, average_excess, failure }
            }
        };
        let (w, origin, errors) = match best {
            Some((chosen, errors)) => (
                self.selector.candidate(chosen).map(<[f64]>::to_vec),
                self.origins.get(chosen).copied(),
                errors,
            ),
            None => (Some(self.spare.w), Some(Origin { lane: 0, step: self.spare.step }), 0),
        };
        Ok(Fit {
            halfspace: Halfspace::new(w.unwrap_or_default())?,
            placement: self.placement,
            status,
            origin: origin.unwrap_or_default(),
            candidates,
            remaining: self.selector.alive(),
            training: self.taken,
            validation: examples,
            errors,
        })
    }
}

/// What does not depend on the schedule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Settings {
    pub placement: Placement,
    pub project: bool,
    pub elimination: Elimination,
    pub seed: u64,
}
