//! A fit in progress. It updates iterates on fresh examples, keeps candidates, and compares the candidates on further
//! fresh examples.
//!
//! All Perspectrons share this code; they differ in their [`Plan`](super::Plan). A fit makes one pass over the
//! examples. It needs O(d) memory, plus the memory for the candidates.

use super::descend::Iterate;
use super::guarantee::Theorem;
use super::lane::{Lane, LaneCursor, ReservoirIterate};
use super::outcome::{Fit, Origin};
use super::plan::{Placement, Settings};
use crate::selection::Selector;
use halfspaces_data::Link;
use halfspaces_linalg::kernels::{Wide, run_wide};
use halfspaces_linalg::{
    ExampleStream, FitError, Halfspace, InputError, Label, RowView, ScaledRow, Termination,
    Threads, checkpoint, checkpoint_at, norm,
};

/// The stage of a fit.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Label, Params};
/// use halfspaces_pac::{Perspectron, Stage};
/// let mut fitting = Perspectron::params(0.1, 0.9).excess(0.4).check()?.start(1)?;
/// assert!(matches!(fitting.stage(), Stage::Training { taken: 0, .. }));
/// let stage = fitting.observe(DenseRow::new(&[1.0])?, Label::Positive)?;
/// assert!(matches!(stage, Stage::Training { taken: 1, .. }));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The fit is learning from examples.
    Training {
        /// The number of training examples used so far.
        taken: u64,
        /// The number T₁ of training examples needed.
        total: u64,
    },
    /// The fit is comparing candidates.
    Validation {
        /// The number of examples used so far to compare candidates.
        taken: u64,
        /// The number |T₂| of examples needed to compare candidates.
        total: u64,
    },
    /// All examples of the plan have been used.
    Complete,
}

/// A fit in progress. It takes examples one at a time, and can be cloned, saved (feature `serde`) and continued; the
/// outcome is bitwise equal to that of an uninterrupted fit.
///
/// Use this type if the examples are not an [`ExampleStream`], or to stop, save or monitor a long fit. Otherwise call
/// `fit_stream`, which performs the whole fit in one call. The learner's [`Plan`](crate::Plan) determines the time and
/// the memory of a fit. A saved state that no sequence of examples can produce is rejected when it is loaded, as far as
/// recomputation can detect this.
///
/// ```
/// use halfspaces_linalg::{DenseRow, Label, Params};
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
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Fitting<L> {
    pub(super) lanes: Vec<Lane<L>>,
    pub(super) placement: Placement,
    pub(super) project: bool,
    /// Whether the mean of each lane's candidates is also a candidate.
    pub(super) means: bool,
    /// Whether validation points may lie outside the ball.
    pub(super) clip: bool,
    /// The lane with the most steps; the reservoir draws from its iterates.
    pub(super) longest: usize,
    /// The dimension of the original points.
    pub(super) dim: usize,
    pub(super) taken: u64,
    /// The number T₁ of training examples.
    pub(super) training: u64,
    pub(super) selector: Selector<'static>,
    /// The lane and the step of each candidate.
    pub(super) origins: Vec<Origin>,
    /// The iterate that is returned if the examples end during training.
    pub(super) reservoir: ReservoirIterate,
    pub(super) theorem: Option<Theorem>,
}

/// The norm of a point whose squared norm may overflow.
#[cold]
fn far_norm<R: RowView>(x: R) -> f64 {
    norm(&x.entries().map(|(_, v)| v).collect::<Vec<_>>())
}

impl<L: Link> Fitting<L> {
    pub(crate) fn new(
        dim: usize,
        mut lanes: Vec<Lane<L>>,
        validation: u64,
        settings: Settings,
        theorem: Option<Theorem>,
        choice_failure: f64,
    ) -> Result<Self, InputError> {
        if dim == 0 {
            return Err(InputError::ZeroDimension);
        }
        let Settings { placement, project, elimination, threads, seed } = settings;
        let inside = placement.dim_inside(dim);
        let selector = Selector::new(inside, validation, elimination, choice_failure);
        let mut selector = selector.with_threads(threads);
        for lane in &mut lanes {
            lane.w = Iterate::zero(inside)?;
        }
        let candidates = lanes.iter().map(|lane| lane.retention.count(lane.steps()));
        selector.reserve(candidates.fold(lanes.len() as u64, u64::saturating_add))?;
        let (longest, training) = longest(&lanes);
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
            origins: Vec::new(),
            reservoir: ReservoirIterate::new(seed),
            theorem,
        })
    }

    /// The number of coordinates of the points.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The current stage.
    #[must_use]
    pub fn stage(&self) -> Stage {
        let training = self.training;
        if self.taken < training {
            Stage::Training { taken: self.taken, total: training }
        } else if !self.selector.is_over() {
            Stage::Validation { taken: self.selector.seen(), total: self.selector.planned() }
        } else {
            Stage::Complete
        }
    }

    /// Processes one example. If the fit is complete, the example is ignored.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::OutsideBall`] for a point outside the ball of the stated
    /// radius, where the guarantee does not hold. After an error the fit is unchanged.
    pub fn observe<R: RowView>(&mut self, x: R, label: Label) -> Result<Stage, InputError> {
        self.place_and_take(x, label)
    }

    #[inline(always)]
    fn place_and_take<R: RowView>(&mut self, x: R, label: Label) -> Result<Stage, InputError> {
        InputError::check_dim(self.dim, x.dim())?;
        let x = self.placement.place(x);
        if self.taken < self.training {
            let norm_sq = x.norm_sq();
            InputError::check_in_ball(norm_sq)?;
            let mut retained = Vec::new();
            for (index, lane) in self.lanes.iter_mut().enumerate() {
                // Lanes with fewer steps end before the longest lane.
                if lane.is_done() {
                    continue;
                }
                let reservoir =
                    if index == self.longest { Some(&mut self.reservoir) } else { None };
                let mut cursor = LaneCursor::new(index, lane, reservoir);
                cursor.learn(x, norm_sq, label, self.project);
                retained.append(&mut cursor.retained);
            }
            self.count_training(1, retained);
        } else if !self.selector.is_over() {
            let norm_sq = x.norm_sq();
            if self.clip && norm_sq > 1.0 {
                // Every candidate gives the point the label of its projection onto the sphere.
                let norm = if norm_sq.is_finite() { norm_sq.sqrt() } else { far_norm(x) };
                InputError::check_parameter("norm of the point", norm, norm.is_finite(), "finite")?;
                self.selector.observe(ScaledRow::new(x, norm.recip()), label);
            } else {
                InputError::check_in_ball(norm_sq)?;
                self.selector.observe(x, label);
            }
        }
        Ok(self.stage())
    }

    /// Counts `taken` training examples, and adds the iterates retained on these examples to the candidates.
    #[inline(always)]
    pub(super) fn count_training(&mut self, taken: u64, retained: Vec<(Origin, Vec<f64>)>) {
        for (origin, w) in retained {
            self.selector.offer(&w);
            self.origins.push(origin);
        }
        self.taken += taken;
        if self.means && self.taken == self.training {
            self.offer_means();
        }
    }

    /// Sets the number of threads. The outcome does not depend on this number. A loaded fit continues on one thread.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.selector = self.selector.with_threads(threads);
        self
    }

    /// Adds the mean of each lane's candidates to the candidates. This is a heuristic. The guarantee of the choice
    /// holds if the means are counted as candidates.
    pub(crate) fn with_means(mut self) -> Self {
        self.means = true;
        self
    }

    /// Projects points outside the ball onto the sphere while candidates are compared. Use this if the training must
    /// not depend on the norms of the held-out points.
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
    /// [`FitError::Stream`], [`FitError::Example`]. The fit keeps what it learned before the faulty example. The next
    /// call of this method continues after that example.
    pub fn advance<S: ExampleStream>(
        &mut self,
        stream: &mut S,
    ) -> Result<Stage, FitError<S::Error>> {
        self.advance_by(stream, u64::MAX)
    }

    /// Like [`Fitting::advance`], but takes at most `most` examples from the stream. Use this method to save the fit or
    /// to report progress from time to time.
    ///
    /// # Errors
    /// The errors of [`Fitting::advance`].
    pub fn advance_by<S: ExampleStream>(
        &mut self,
        stream: &mut S,
        most: u64,
    ) -> Result<Stage, FitError<S::Error>> {
        run_wide(Advance { fitting: self, stream, most })
    }

    /// Takes examples until the fit is complete or the stream ends, and returns the outcome.
    pub(crate) fn fit<S: ExampleStream>(
        mut self,
        stream: &mut S,
    ) -> Result<Fit, FitError<S::Error>> {
        self.advance(stream)?;
        self.finish().map_err(FitError::Input)
    }

    /// Returns the outcome for the examples used so far, whether or not the fit is complete.
    ///
    /// # Errors
    /// [`InputError::Empty`] if no example was used; [`InputError::NonFinite`] if a link function with values outside
    /// \[-1, 1\] made the weights overflow.
    pub fn finish(mut self) -> Result<Fit, InputError> {
        if self.taken == 0 {
            return Err(InputError::Empty);
        }
        let validation = self.selector.seen();
        let candidates = self.selector.len();
        let complete = self.stage() == Stage::Complete;
        let termination =
            if complete { Termination::Converged } else { Termination::ExamplesEnded };
        let one_run = self.lanes.iter().all(|lane| self.taken <= lane.run_length);
        let guarantee = self.theorem.and_then(|theorem| match validation {
            _ if complete => Some(theorem.guarantee),
            0 if one_run => theorem.in_training(self.taken),
            0 => None,
            examples => Some(theorem.in_validation(candidates as u64, examples)),
        });
        let (w, origin, errors) = if validation > 0 {
            let (chosen, errors) = self.selector.best();
            (self.selector.candidate(chosen).to_vec(), self.origins[chosen], errors)
        } else {
            let step = self.reservoir.draw.step;
            (self.reservoir.w, Origin { lane: self.longest, step }, 0)
        };
        Ok(Fit {
            halfspace: Halfspace::new(w)?,
            placement: self.placement,
            termination,
            guarantee,
            origin,
            candidates,
            remaining: self.selector.alive(),
            training: self.taken,
            validation,
            errors,
        })
    }
}

/// Returns the index of the lane with the most steps, and its number of steps. Ties go to the first lane.
pub(super) fn longest<L>(lanes: &[Lane<L>]) -> (usize, u64) {
    let steps = lanes.iter().map(Lane::steps).enumerate();
    let longest = steps.rev().max_by_key(|(_, steps)| *steps);
    #[expect(clippy::expect_used, reason = "every learner has a guess")]
    longest.expect("a fit has at least one lane")
}

/// The loop over a stream, compiled for the vector instructions available at run time. No multiplication is fused with
/// an addition, so the result does not depend on these instructions.
struct Advance<'a, L, S> {
    fitting: &'a mut Fitting<L>,
    stream: &'a mut S,
    most: u64,
}

impl<L: Link, S: ExampleStream> Wide for Advance<'_, L, S> {
    type Output = Result<Stage, FitError<S::Error>>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Advance { fitting, stream, most } = self;
        let (mut stage, mut left) = (fitting.stage(), most);
        while left > 0 && stage != Stage::Complete {
            checkpoint_at(left as usize);
            if let (Stage::Training { .. }, Some(rows)) = (stage, stream.rows_ahead()) {
                let rows = rows.at_most(left);
                let together = fitting.learn_ahead(rows);
                stream.skip(together);
                left -= together as u64;
                if together > 0 {
                    checkpoint();
                    stage = fitting.stage();
                    continue;
                }
            }
            let taken = fitting.taken + fitting.selector.seen();
            match stream.next_row() {
                Err(source) => return Err(FitError::Stream { taken, source }),
                Ok(None) => break,
                Ok(Some((x, label))) => {
                    x.prefetch_ahead();
                    left -= 1;
                    stage = fitting
                        .place_and_take(x, label)
                        .map_err(|source| FitError::at_example(taken, source))?;
                }
            }
        }
        Ok(stage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Perspectron, Selection};
    use halfspaces_data::{LabelledPoints, MarginBall, Marginal, random_target};
    use halfspaces_linalg::{Classifier, Params};

    #[test]
    fn the_last_candidate_is_the_mean_of_the_others() {
        let params = Perspectron::params(0.1, 0.5).excess(0.8).failure(0.9);
        let learner = params.selection(Selection::AllIterates).check().unwrap();
        let target = random_target(3, 1).unwrap();
        let points = MarginBall::new(&target, 0.5).unwrap().sample(4000, 2).unwrap();
        let labels = target.label_all(&points).unwrap();
        let mut fitting = learner.start(3).unwrap().with_means();
        let stage = fitting.advance(&mut LabelledPoints::new(&points, &labels).unwrap()).unwrap();
        assert_eq!(stage, Stage::Complete);
        let last = fitting.selector.len() - 1;
        assert!(last > 10);
        // The candidate is the sum of the others. Any positive multiple of the mean is the same halfspace.
        for j in 0..3 {
            let sum: f64 = (0..last).map(|c| fitting.selector.candidate(c)[j]).sum();
            assert!((fitting.selector.candidate(last)[j] - sum).abs() < 1e-9);
        }
    }

    #[test]
    fn the_theorem_of_the_average_is_about_one_run() {
        let params = Perspectron::params(0.1, 0.5).excess(0.8).failure(0.1);
        let learner = params.selection(Selection::AllIterates).check().unwrap();
        let plan = learner.plan();
        assert!(plan.runs > 1);
        for (more, averaged) in [(0, true), (1, false)] {
            let n = plan.run_length as usize + more;
            let points = halfspaces_linalg::Points::from_rows(&vec![[0.9]; n]).unwrap();
            let labels = vec![Label::Positive; n];
            let mut fitting = learner.start(1).unwrap();
            fitting.advance(&mut LabelledPoints::new(&points, &labels).unwrap()).unwrap();
            let fit = fitting.finish().unwrap();
            assert_eq!((fit.average_guarantee().is_some(), fit.guarantee()), (averaged, None));
        }
    }

    #[test]
    fn every_lane_has_the_mean_of_its_own_candidates() {
        let params = crate::GridPerspectron::params(crate::Margin::Known(0.5)).excess(0.8);
        let learner = params.failure(0.9).selection(Selection::Thinned).check().unwrap();
        let n = learner.training() as usize;
        let points = halfspaces_linalg::Points::from_rows(&vec![[0.9]; n]).unwrap();
        let labels = vec![Label::Positive; n];
        let mut fitting = learner.start(1).unwrap().with_means();
        fitting.advance(&mut LabelledPoints::new(&points, &labels).unwrap()).unwrap();
        let lanes = fitting.lanes.len();
        let first = fitting.selector.len() - lanes;
        assert!(lanes > 1 && first > lanes);
        for lane in 0..lanes {
            let own = (0..first).filter(|c| fitting.origins[*c].lane == lane);
            let sum: f64 = own.map(|c| fitting.selector.candidate(c)[0]).sum();
            assert!((fitting.selector.candidate(first + lane)[0] - sum).abs() < 1e-9, "{lane}");
        }
    }

    /// The step size is γ/(2(1-η)√T), for η = 1/2, 1/4, 0 and T = 256, 576, 1024.
    #[test]
    fn every_guess_has_the_step_of_its_noise_rate() {
        let params = crate::GridPerspectron::params(crate::Margin::Known(0.5)).excess(0.5);
        let learner = params.failure(0.25).selection(Selection::AllIterates).check().unwrap();
        let fitting = learner.start(1).unwrap();
        let found: Vec<(u64, f64)> =
            fitting.lanes.iter().map(|lane| (lane.run_length, 1.0 / lane.step)).collect();
        let expected = [(256, 32.0), (576, 72.0), (1024, 128.0)];
        for ((length, inverse), (expected_length, expected)) in found.into_iter().zip(expected) {
            assert_eq!(length, expected_length);
            assert!((inverse - expected).abs() < 1e-9, "{inverse}");
        }
    }
}
