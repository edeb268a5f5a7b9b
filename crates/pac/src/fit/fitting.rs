//! A fit in progress: iterate over fresh examples, keep candidates, choose among them on further fresh
//! examples.
//!
//! All Perspectrons share it; they differ in the [`Plan`]. One pass, in memory O(d) plus the kept
//! candidates. A fit takes examples one at a time, so it can be fed from anywhere, stopped, saved
//! (feature `serde`) and continued: the outcome is that of an uninterrupted one.

use crate::fit::direction::{Denominator, Direction, Iterate};

use crate::schedule;
use crate::selection::{Elimination, Selector, check_in_ball};
use faer::traits::pulp::{Arch, Simd, WithSimd};
use halfspaces_data::Link;
use halfspaces_linalg::{
    AffineHalfspace, Classifier, ExampleStream, FitError, Halfspace, InputError, Label, LiftedRow,
    RngStream, RowView, ScaledRow, rng_for,
};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;

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
    w: Iterate,
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
    pub(crate) fn drawn(count: u64, of: u64, rng: &mut ChaCha8Rng) -> Result<Kept, InputError> {
        let values = usize::try_from(count).unwrap_or(usize::MAX);
        let mut steps = Vec::new();
        steps.try_reserve_exact(values).map_err(|_| InputError::TooLarge { values })?;
        steps.extend((0..count).map(|_| rng.random_range(0..of.max(1))));
        steps.sort_unstable();
        steps.dedup();
        Ok(Kept::Some { steps, next: 0 })
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
        Lane { direction, step, runs, run_length, kept, taken: 0, in_run: 0, w: Iterate::default() }
    }

    fn steps(&self) -> u64 {
        self.runs.saturating_mul(self.run_length)
    }
}

/// Where a fit stands.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Label};
/// use halfspaces_pac::{Perspectron, Stage};
/// let mut fitting = Perspectron::params(0.1, 0.9).excess(0.4).check()?.start(1)?;
/// assert!(matches!(fitting.stage(), Stage::Training { taken: 0, .. }));
/// let stage = fitting.observe(DenseRow::new(&[1.0])?, Label::Positive)?;
/// assert!(matches!(stage, Stage::Training { taken: 1, .. }));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
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
#[cfg_attr(feature = "serde", serde(try_from = "RawFitting<L>"))]
#[cfg_attr(feature = "serde", serde(bound(deserialize = "L: serde::Deserialize<'de>")))]
pub struct Fitting<L> {
    lanes: Vec<Lane<L>>,
    placement: Placement,
    project: bool,
    /// Whether the mean of each lane's candidates is a candidate too.
    means: bool,
    /// Whether points to choose by may lie outside the ball.
    clip: bool,
    /// The lane the spare follows, that of the longest run.
    longest: usize,
    /// Dimension of the points as given.
    dim: usize,
    taken: u64,
    /// T₁: examples to learn from.
    training: u64,
    selector: Selector<'static>,
    /// For each candidate its lane and the example it stood before.
    origins: Vec<Origin>,
    /// What is returned when training is cut short.
    spare: Spare,
    guarantee: Option<Guarantee>,
}

/// What a [`Fitting`] looks like before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct RawFitting<L> {
    lanes: Vec<Lane<L>>,
    placement: Placement,
    project: bool,
    // Whether the mean of each lane's candidates is a candidate too.
    means: bool,
    // Whether points to choose by may lie outside the ball.
    clip: bool,
    // The lane the spare follows, that of the longest run.
    longest: usize,
    // Dimension of the points as given.
    dim: usize,
    taken: u64,
    // T₁: examples to learn from.
    training: u64,
    selector: Selector<'static>,
    // For each candidate its lane and the example it stood before.
    origins: Vec<Origin>,
    // What is returned when training is cut short.
    spare: Spare,
    guarantee: Option<Guarantee>,
}

#[cfg(feature = "serde")]
impl<L> TryFrom<RawFitting<L>> for Fitting<L> {
    type Error = InputError;

    fn try_from(raw: RawFitting<L>) -> Result<Self, InputError> {
        let RawFitting {
            lanes,
            placement,
            project,
            means,
            clip,
            longest,
            dim,
            taken,
            training,
            selector,
            origins,
            spare,
            guarantee,
        } = raw;
        let fitting = Fitting {
            lanes,
            placement,
            project,
            means,
            clip,
            longest,
            dim,
            taken,
            training,
            selector,
            origins,
            spare,
            guarantee,
        };
        fitting.check_saved()?;
        Ok(fitting)
    }
}

/// Counters of saved fits stay below this, beyond the reach of any run, so that none overflows.
#[cfg(feature = "serde")]
const MAX_SAVED: u64 = 1 << 53;

/// Refuses a saved value that does not fit the others.
#[cfg(feature = "serde")]
fn saved(name: &'static str, value: f64, fits: bool) -> Result<(), InputError> {
    InputError::check_parameter(name, value, fits, "what a fit in progress can hold")
}

#[cfg(feature = "serde")]
impl Kept {
    fn is_saved(&self) -> bool {
        match self {
            Kept::All => true,
            Kept::Some { steps, next } => {
                *next <= steps.len() && steps.windows(2).all(|pair| pair[0] < pair[1])
            }
        }
    }
}

#[cfg(feature = "serde")]
impl<L> Fitting<L> {
    fn check_saved(&self) -> Result<(), InputError> {
        let inside = self.dim.saturating_add(usize::from(self.placement.lift));
        let seen = self.selector.seen();
        saved("dim", self.dim as f64, self.dim > 0)?;
        self.placement.check_saved()?;
        self.selector.check_saved(inside)?;
        let offered = self.origins.len() == self.selector.len();
        saved("origins", self.origins.len() as f64, offered)?;
        let longest = self.longest < self.lanes.len();
        saved("longest", self.longest as f64, longest)?;
        let mut training = 0;
        for lane in &self.lanes {
            let steps = lane.runs.saturating_mul(lane.run_length);
            training = steps.max(training);
            saved("run length", lane.run_length as f64, lane.run_length > 0)?;
            let taken = lane.taken == self.taken.min(steps) && lane.in_run <= lane.run_length;
            saved("examples of a lane", lane.taken as f64, taken)?;
            let sound = lane.w.as_slice().len() == inside;
            saved("length of an iterate", lane.w.as_slice().len() as f64, sound)?;
            let finite = lane.w.as_slice().iter().all(|v| v.is_finite());
            saved("iterate", f64::NAN, finite && (!self.project || lane.w.is_saved()))?;
            saved("step", lane.step, lane.step > 0.0 && lane.step.is_finite())?;
            saved("kept iterates", f64::NAN, lane.kept.is_saved())?;
        }
        let origin = |origin: &Origin| {
            self.lanes.get(origin.lane).is_some_and(|lane| origin.step <= lane.taken)
        };
        saved("origins", f64::NAN, self.origins.iter().all(origin))?;
        saved("examples", self.taken as f64, self.taken <= training && self.taken < MAX_SAVED)?;
        saved("spare draws", self.spare.draws as f64, self.spare.draws < MAX_SAVED)?;
        saved("examples to choose by", seen as f64, seen < MAX_SAVED)?;
        saved("training", self.training as f64, self.training == training)?;
        let waiting = self.taken == training || self.selector.seen() == 0;
        saved("examples to choose by", self.selector.seen() as f64, waiting)?;
        let spare = self.taken == 0 || self.spare.w.len() == inside;
        saved("spare iterate", self.spare.w.len() as f64, spare)
    }
}

impl Placement {
    #[cfg(feature = "serde")]
    fn check_saved(&self) -> Result<(), InputError> {
        saved("scale", self.scale, self.scale > 0.0 && self.scale.is_finite())
    }
}

/// The norm of a point whose square may overflow.
#[cold]
fn far_norm<R: RowView>(x: R) -> f64 {
    halfspaces_linalg::norm(&x.entries().map(|(_, v)| v).collect::<Vec<_>>())
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
        let mut rng = rng_for(RngStream::ReservoirIterate, self.seed);
        rng.set_word_pos(u128::from(self.draws) * 16);
        let u = 1.0 - rng.random::<f64>();
        self.next = (((step + 1) as f64 / u).floor() as u64).max(step + 1);
    }
}

/// Where a candidate comes from.
///
/// ```
/// use halfspaces_data::LabelledPoints;
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_pac::{Origin, Perspectron, Selection};
/// // w = 0 is wrong about -1, every later iterate right.
/// let points = Points::new(vec![-1.0; 1000], 1)?;
/// let params = Perspectron::params(0.0, 1.0).excess(0.5).selection(Selection::AllIterates);
/// let fit = params.check()?.fit(&mut LabelledPoints::new(&points, &[Label::Negative; 1000])?)?;
/// assert_eq!(fit.origin(), Origin { lane: 0, step: 1 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Origin {
    /// Number of the lane: of the guess of the noise rate or the margin, 0 where there is one.
    pub lane: usize,
    /// Steps made before it, over all runs of the lane.
    pub step: u64,
}

/// What the theorem says, also of fits that end early.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Guarantee {
    pub promise: Promise,
    /// What the best candidate's error exceeds the target level by, at most: ε/2 as a rule.
    pub best_candidate: f64,
    /// The choice's share of δ.
    pub choice_failure: f64,
    /// What the average error of the iterates exceeds the target by after t steps.
    pub average: Average,
}

impl Guarantee {
    fn in_validation(self, candidates: u64, examples: u64) -> Promise {
        // Half of the choice's share is the elimination's.
        let share = self.choice_failure / 2.0;
        let accuracy = schedule::validation_accuracy(candidates, examples, share);
        Promise { excess: self.best_candidate + 2.0 * accuracy, ..self.promise }
    }

    fn in_training(self, steps: u64) -> Option<Promise> {
        let excess = self.average.after(steps, self.promise.failure)?;
        Some(Promise { excess, ..self.promise })
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

/// An error of at most the target level + `excess`, with probability at least 1 - `failure`. The target
/// level is η for Massart noise, opt_RCN + τ/2 for a link.
///
/// ```
/// use halfspaces_data::{Instance, MarginBall, Rcn, random_target};
/// use halfspaces_pac::{Perspectron, Promise, Status};
/// let target = random_target(2, 1)?;
/// let instance = Instance::new(MarginBall::new(&target, 0.5)?, target, Rcn::new(0.1)?)?;
/// let learner = Perspectron::params(0.1, 0.5).excess(0.5).failure(0.2).check()?;
/// let fit = learner.fit(&mut instance.stream(2))?;
/// let promise = Some(Promise { excess: 0.5, failure: 0.2 });
/// assert_eq!(fit.status(), Status::Complete { promise });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Promise {
    /// ε.
    pub excess: f64,
    /// δ.
    pub failure: f64,
}

/// How a fit ended, and what holds of it. No promise where nothing is proved: the constants of CKST24 as
/// printed, for links and for unknown noise.
///
/// ```
/// use halfspaces_data::LabelledPoints;
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_pac::{Perspectron, Status};
/// // Two examples are too few for the theorem; a fit says so.
/// let points = Points::from_rows(&[[1.0], [-1.0]])?;
/// let mut stream = LabelledPoints::new(&points, &[Label::Positive, Label::Negative])?;
/// let fit = Perspectron::params(0.1, 0.9).excess(0.4).check()?.fit(&mut stream)?;
/// assert!(matches!(fit.status(), Status::EndedInTraining { examples: 2, .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Status {
    /// As planned.
    Complete {
        /// What holds of the result.
        promise: Option<Promise>,
    },
    /// The examples ended while candidates were compared. The best one so far is returned.
    EndedInValidation {
        /// Examples compared on.
        examples: u64,
        /// What holds of the result: ε/2 + 2√(ln(4|H|/δ₂)/(2m)) after m examples, δ₂ the choice's share
        /// of δ; may be vacuous.
        promise: Option<Promise>,
    },
    /// The examples ended while learning. A random iterate is returned: what is promised is the average
    /// error of all iterates so far, which is its expected error. Nothing for several runs or guesses.
    EndedInTraining {
        /// Examples learned from.
        examples: u64,
        /// Of the average error of the iterates; may be vacuous.
        average: Option<Promise>,
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
#[cfg_attr(feature = "serde", serde(try_from = "RawFit"))]
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

/// What a [`Fit`] looks like before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct RawFit {
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

#[cfg(feature = "serde")]
impl TryFrom<RawFit> for Fit {
    type Error = InputError;

    fn try_from(raw: RawFit) -> Result<Self, InputError> {
        let RawFit {
            halfspace,
            placement,
            status,
            origin,
            candidates,
            remaining,
            training,
            validation,
            errors,
        } = raw;
        placement.check_saved()?;
        let wide = halfspace.dim() > usize::from(placement.lift);
        saved("dimension", halfspace.dim() as f64, wide)?;
        saved("errors", errors as f64, errors <= validation)?;
        Ok(Fit {
            halfspace,
            placement,
            status,
            origin,
            candidates,
            remaining,
            training,
            validation,
            errors,
        })
    }
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

    /// The same without a promise: of a guess that may be wrong.
    pub(crate) fn unpromised(mut self) -> Fit {
        match &mut self.status {
            Status::Complete { promise } | Status::EndedInValidation { promise, .. } => {
                *promise = None;
            }
            Status::EndedInTraining { average, .. } => *average = None,
        }
        self
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

/// Of points as they were given.
impl Classifier for Fit {
    fn dim(&self) -> usize {
        Fit::dim(self)
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        let Placement { scale, lift } = self.placement;
        let w = self.halfspace.normal();
        InputError::check_dim(self.dim(), x.dim())?;
        let x = ScaledRow::new(x, scale);
        Ok(if lift { LiftedRow::new(x).dot(w) } else { x.dot(w) })
    }
}

impl<L: Link> Fitting<L> {
    pub(crate) fn new(
        dim: usize,
        mut lanes: Vec<Lane<L>>,
        validation: u64,
        settings: Settings,
        guarantee: Option<Guarantee>,
        choice_failure: f64,
    ) -> Result<Self, InputError> {
        if dim == 0 {
            return Err(InputError::ZeroDimension);
        }
        let Settings { placement, project, elimination, seed } = settings;
        let inside = dim + usize::from(placement.lift);
        let mut selector = Selector::new(inside, validation, elimination, choice_failure);
        for lane in &mut lanes {
            lane.w = Iterate::zero(inside)?;
        }
        let candidates = lanes.iter().map(|lane| lane.kept.count(lane.steps()));
        selector.reserve(candidates.fold(lanes.len() as u64, u64::saturating_add))?;
        let training = lanes.iter().map(Lane::steps).max().unwrap_or(0);
        let longest = lanes.iter().position(|lane| lane.steps() == training).unwrap_or(0);
        let origins = Vec::new();
        Ok(Fitting {
            lanes,
            placement,
            project,
            means: false,
            clip: false,
            longest,
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
        } else if !self.selector.is_over() {
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
        self.place_and_take(x, label)
    }

    #[inline(always)]
    fn place_and_take<R: RowView>(&mut self, x: R, label: Label) -> Result<Stage, InputError> {
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

    #[inline(always)]
    fn take<R: RowView>(&mut self, x: R, label: Label) -> Result<Stage, InputError> {
        if self.taken < self.training {
            let norm_sq = x.norm_sq();
            check_in_ball(norm_sq)?;
            for (index, lane) in self.lanes.iter_mut().enumerate() {
                if lane.taken == lane.steps() {
                    continue;
                }
                if lane.in_run == lane.run_length {
                    lane.w.restart();
                    lane.in_run = 0;
                }
                if lane.kept.takes(lane.taken) {
                    self.selector.offer(lane.w.as_slice());
                    self.origins.push(Origin { lane: index, step: lane.taken });
                }
                if index == self.longest {
                    self.spare.offer(lane.taken, lane.w.as_slice());
                }
                let row = (x, x.dot(lane.w.as_slice()), norm_sq);
                lane.w.descend(&lane.direction, lane.step, self.project, row, label);
                lane.taken += 1;
                lane.in_run += 1;
            }
            self.taken += 1;
            if self.means && self.taken == self.training {
                self.offer_means();
            }
        } else if !self.selector.is_over() {
            let norm_sq = x.norm_sq();
            if self.clip && norm_sq > 1.0 {
                // Its label by any candidate is that of the point drawn back to the sphere.
                let norm = if norm_sq.is_finite() { norm_sq.sqrt() } else { far_norm(x) };
                InputError::check_parameter("norm of the point", norm, norm.is_finite(), "finite")?;
                self.selector.observe(ScaledRow::new(x, norm.recip()), label);
            } else {
                check_in_ball(norm_sq)?;
                self.selector.observe(x, label);
            }
        }
        Ok(self.stage())
    }

    /// Makes the mean of each lane's candidates a candidate too. No proof asks for it; the choice among
    /// them takes it into account.
    pub(crate) fn with_means(mut self) -> Self {
        self.means = true;
        self
    }

    /// Draws points outside the ball back to the sphere once the candidates stand: their radius may not
    /// be known before.
    pub(crate) fn with_clipping(mut self) -> Self {
        self.clip = true;
        self
    }

    fn offer_means(&mut self) {
        for (index, lane) in self.lanes.iter().enumerate() {
            let mut mean = lane.w.as_slice().to_vec();
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
        Arch::new().dispatch(Advance { fitting: self, stream, most })
    }

    /// The outcome of the whole stream, or of as much of it as the plan asks for.
    pub(crate) fn fit<S: ExampleStream>(
        mut self,
        stream: &mut S,
    ) -> Result<Fit, FitError<S::Error>> {
        self.advance(stream)?;
        self.finish().map_err(FitError::Input)
    }

    /// The outcome for the examples taken, as planned or not.
    ///
    /// # Errors
    /// [`InputError::Empty`] if no example was taken.
    pub fn finish(mut self) -> Result<Fit, InputError> {
        if self.taken == 0 {
            return Err(InputError::Empty);
        }
        let examples = self.selector.seen();
        let candidates = self.selector.len();
        let stage = self.stage();
        let best = if examples > 0 { self.selector.best() } else { None };
        let one_run = self.lanes.iter().all(|lane| self.taken <= lane.run_length);
        let guarantee = self.guarantee;
        let status = match stage {
            Stage::Complete => Status::Complete { promise: guarantee.map(|g| g.promise) },
            Stage::Validation { taken, .. } if taken > 0 => Status::EndedInValidation {
                examples: taken,
                promise: guarantee.map(|g| g.in_validation(candidates as u64, taken)),
            },
            _ => Status::EndedInTraining {
                examples: self.taken,
                average: guarantee.filter(|_| one_run).and_then(|g| g.in_training(self.taken)),
            },
        };
        let (w, origin, errors) = match best {
            Some((chosen, errors)) => (
                self.selector.candidate(chosen).map(<[f64]>::to_vec),
                self.origins.get(chosen).copied(),
                errors,
            ),
            None => {
                (Some(self.spare.w), Some(Origin { lane: self.longest, step: self.spare.step }), 0)
            }
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

/// The loop over a stream, to be compiled for the vector instructions that the processor turns out to
/// have. As no multiplication is fused with an addition, they do not change the result.
struct Advance<'a, L, S> {
    fitting: &'a mut Fitting<L>,
    stream: &'a mut S,
    most: u64,
}

impl<L: Link, S: ExampleStream> WithSimd for Advance<'_, L, S> {
    type Output = Result<Stage, FitError<S::Error>>;

    #[inline(always)]
    fn with_simd<V: Simd>(self, _: V) -> Self::Output {
        let Advance { fitting, stream, most } = self;
        let mut stage = fitting.stage();
        for _ in 0..most {
            if stage == Stage::Complete {
                break;
            }
            let taken = fitting.taken + fitting.selector.seen();
            match stream.next_row() {
                Err(source) => return Err(FitError::Stream { taken, source }),
                Ok(None) => break,
                Ok(Some((x, label))) => {
                    stage = fitting
                        .place_and_take(x, label)
                        .map_err(|source| FitError::Example { taken, source })?;
                }
            }
        }
        Ok(stage)
    }
}
