//! What a fit has found.

use super::guarantee::Guarantee;
use super::plan::Placement;
use halfspaces_linalg::{
    AffineHalfspace, Classifier, Halfspace, InputError, LiftedRow, RowView, ScaledRow, Termination,
    getters,
};

/// Where a candidate comes from.
///
/// ```
/// use halfspaces_linalg::{FitSample, Label, Params, Points};
/// use halfspaces_pac::{Origin, Perspectron, Selection};
/// // w = 0 is wrong about -1, every later iterate right.
/// let points = Points::new(vec![-1.0; 1000], 1)?;
/// let params = Perspectron::params(0.0, 1.0).excess(0.5).selection(Selection::AllIterates);
/// let fit = params.check()?.fit(&points, &[Label::Negative; 1000])?;
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

/// What a Perspectron has found: a halfspace, how the fit ended, and what is guaranteed of it.
///
/// A [`Classifier`] of points as they were given, whatever radius or lift the learner works with.
///
/// | the examples ended | returned | [`Fit::termination`] | guaranteed |
/// |---|---|---|---|
/// | not before the plan | the candidate with fewest errors | [`Termination::Converged`] | [`Fit::guarantee`]: the theorem |
/// | while candidates were compared | the candidate with fewest errors so far | [`Termination::ExamplesEnded`] | [`Fit::guarantee`], computed for the examples there were |
/// | while training | a random iterate | [`Termination::ExamplesEnded`] | [`Fit::average_guarantee`], of the expected error |
///
/// ```
/// use halfspaces_data::{Instance, MarginBall, Rcn, random_target};
/// use halfspaces_linalg::{FitStream, Params, Termination};
/// use halfspaces_pac::Perspectron;
/// let target = random_target(3, 1)?;
/// let instance = Instance::new(MarginBall::new(&target, 0.3)?, target, Rcn::new(0.1)?)?;
/// let learner = Perspectron::params(0.1, 0.3).excess(0.3).failure(0.1).check()?;
/// let fit = learner.fit_stream(&mut instance.stream(2))?;
/// assert_eq!(fit.termination(), Termination::Converged);
/// assert!(instance.population(1000, 3)?.error(fit.halfspace())?.mean() <= 0.1 + 0.3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Fit {
    pub(super) halfspace: Halfspace,
    pub(super) placement: Placement,
    pub(super) termination: Termination,
    /// Of the average error of the iterates, if the examples ended while training.
    pub(super) guarantee: Option<Guarantee>,
    pub(super) origin: Origin,
    pub(super) candidates: usize,
    pub(super) remaining: usize,
    pub(super) training: u64,
    pub(super) validation: u64,
    pub(super) errors: u64,
}

impl Fit {
    /// The halfspace found: of R^d, or of R^(d+1), for points lifted to (x/R, 1)/√2, where lifting was
    /// asked for.
    #[must_use]
    pub fn halfspace(&self) -> &Halfspace {
        &self.halfspace
    }

    /// The halfspace for points as they were given: sign(v·x + b), with b = 0 where no lifting was asked
    /// for.
    ///
    /// # Errors
    /// [`InputError::NonFinite`] if the radius takes the bias beyond `f64`.
    pub fn affine(&self) -> Result<AffineHalfspace, InputError> {
        let mut weights = self.halfspace.normal().to_vec();
        let mut bias = 0.0;
        if self.placement.lift {
            #[expect(clippy::expect_used, reason = "a fit of lifted points has two coordinates")]
            let last =
                weights.pop().expect("a lifted point has the coordinate 1/√2 beside its own");
            bias = last;
        }
        AffineHalfspace::new(weights, bias / self.placement.scale)
    }

    /// 1/R.
    #[cfg(feature = "serde")]
    pub(crate) fn scale(&self) -> f64 {
        self.placement.scale
    }

    /// The same without a guarantee: of a guess that may be wrong.
    pub(crate) fn without_guarantee(mut self) -> Fit {
        self.guarantee = None;
        self
    }

    /// How it ended: [`Termination::Converged`] if all examples of the plan were taken,
    /// [`Termination::ExamplesEnded`] otherwise.
    #[must_use]
    pub fn termination(&self) -> Termination {
        self.termination
    }

    /// What holds of the halfspace: the theorem after all examples of the plan; ε/2 + 2√(ln(4|H|/δ₂)/(2m))
    /// if only m examples were left to compare candidates on, δ₂ the choice's share of δ. `None` if the
    /// examples ended while training, and where nothing is proved: the constants of CKST24 as printed for
    /// links and for unknown noise, and a fit whose margin was a guess.
    ///
    /// ```
    /// use halfspaces_linalg::{FitSample, Label, Params, Points, Termination};
    /// use halfspaces_pac::Perspectron;
    /// // Two examples are too few for the theorem; a fit says so.
    /// let points = Points::from_rows(&[[1.0], [-1.0]])?;
    /// let learner = Perspectron::params(0.1, 0.9).excess(0.4).check()?;
    /// let fit = learner.fit(&points, &[Label::Positive, Label::Negative])?;
    /// assert_eq!(fit.termination(), Termination::ExamplesEnded);
    /// assert_eq!((fit.training(), fit.validation(), fit.guarantee()), (2, 0, None));
    /// assert!(fit.average_guarantee().is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn guarantee(&self) -> Option<Guarantee> {
        self.guarantee.filter(|_| self.validation > 0)
    }

    /// What holds of the average error of the iterates if the examples ended while training: the expected
    /// error of the random one that is returned. `None` for several runs or guesses.
    #[must_use]
    pub fn average_guarantee(&self) -> Option<Guarantee> {
        self.guarantee.filter(|_| self.validation == 0)
    }

    getters! {
        /// Where the chosen candidate comes from.
        origin: Origin,

        /// Iterates retained as candidates.
        candidates: usize,

        /// Candidates that were never dropped.
        remaining: usize,

        /// Examples learned from.
        training: u64,

        /// Examples the candidates were compared on.
        validation: u64,

        /// Errors of the chosen candidate among them.
        validation_errors: u64 => errors,
    }
}

impl Classifier for Fit {
    fn dim(&self) -> usize {
        self.halfspace.dim() - usize::from(self.placement.lift)
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        let Placement { scale, lift } = self.placement;
        let w = self.halfspace.normal();
        InputError::check_dim(self.dim(), x.dim())?;
        let x = ScaledRow::new(x, scale);
        Ok(if lift { LiftedRow::new(x).dot(w) } else { x.dot(w) })
    }
}
