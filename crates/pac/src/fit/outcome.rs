//! The outcome of a fit.

use super::guarantee::Guarantee;
use super::plan::Placement;
use halfspaces_linalg::{
    AffineHalfspace, Classifier, Halfspace, InputError, LiftedRow, RowView, ScaledRow, Termination,
    getters,
};

/// The origin of a candidate: its lane and its step.
///
/// ```
/// use halfspaces_linalg::{FitSample, Label, Params, Points};
/// use halfspaces_pac::{Origin, Perspectron, Selection};
/// // w = 0 is wrong about -1; every later iterate is right.
/// let points = Points::new(vec![-1.0; 1000], 1)?;
/// let params = Perspectron::params(0.0, 1.0).excess(0.5).selection(Selection::AllIterates);
/// let fit = params.check()?.fit(&points, &[Label::Negative; 1000])?;
/// assert_eq!(fit.origin(), Origin { lane: 0, step: 1 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Origin {
    /// The index of the guess of the noise rate and the margin; 0 if there is only one guess.
    pub lane: usize,
    /// The number of updates before the candidate, counted over all runs.
    pub step: u64,
}

/// The outcome of a Perspectron's fit: a halfspace, its guarantee, and how the fit ended.
///
/// A fit is a [`Classifier`] of the original points, for any radius, with or without lifting.
///
/// | the examples ended | returned | [`Fit::termination`] | guarantee |
/// |---|---|---|---|
/// | after the plan was complete | the candidate with the fewest errors | [`Termination::Converged`] | [`Fit::guarantee`]: the theorem |
/// | while candidates were compared | the candidate with the fewest errors so far | [`Termination::ExamplesEnded`] | [`Fit::guarantee`], computed for the examples used |
/// | during training | a random iterate | [`Termination::ExamplesEnded`] | [`Fit::average_guarantee`], on the expected error |
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
    /// A guarantee on the average error of the iterates, if the examples ended during training.
    pub(super) guarantee: Option<Guarantee>,
    pub(super) origin: Origin,
    pub(super) candidates: usize,
    pub(super) remaining: usize,
    pub(super) training: u64,
    pub(super) validation: u64,
    pub(super) errors: u64,
}

impl Fit {
    /// The halfspace in the learner's coordinates: in R^d, or in R^(d+1) if points are lifted to (x/R, 1)/√2.
    #[must_use]
    pub fn halfspace(&self) -> &Halfspace {
        &self.halfspace
    }

    /// The halfspace sign(v·x + b) of the original points. Without lifting, b is 0.
    ///
    /// # Errors
    /// [`InputError::NonFinite`] if the bias overflows because of the radius.
    pub fn affine(&self) -> Result<AffineHalfspace, InputError> {
        let mut weights = self.halfspace.normal().to_vec();
        let mut bias = 0.0;
        if self.placement.lift {
            #[expect(clippy::expect_used, reason = "a fit of lifted points has two coordinates")]
            let last = weights.pop().expect("a lifted point has the additional coordinate 1/√2");
            bias = last;
        }
        AffineHalfspace::new(weights, bias / self.placement.scale)
    }

    /// Removes the guarantee, for a fit whose margin is a guess.
    pub(crate) fn without_guarantee(mut self) -> Fit {
        self.guarantee = None;
        self
    }

    /// How the fit ended: [`Termination::Converged`] if all examples of the plan were used,
    /// [`Termination::ExamplesEnded`] otherwise.
    #[must_use]
    pub fn termination(&self) -> Termination {
        self.termination
    }

    /// The guarantee on the error of the halfspace. If the fit is complete, this is the guarantee of the theorem. With
    /// only m validation examples, the excess is ε/2 + 2√(ln(4|H|/δ₂)/(2m)), where δ₂ is the part of δ reserved for the
    /// choice.
    ///
    /// Returns `None` if the examples ended during training, or if nothing is proved. Nothing is proved for a fit whose
    /// margin is a guess, or for the constants that CKST24 prints for link functions and for an unknown noise rate.
    ///
    /// ```
    /// use halfspaces_linalg::{FitSample, Label, Params, Points, Termination};
    /// use halfspaces_pac::Perspectron;
    /// // Two examples are too few for the theorem, and the fit reports this.
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

    /// The guarantee on the average error of the iterates if the examples ended during training. This average is the
    /// expected error of the random iterate that the fit returns. Returns `None` if there are several runs or guesses.
    #[must_use]
    pub fn average_guarantee(&self) -> Option<Guarantee> {
        self.guarantee.filter(|_| self.validation == 0)
    }

    getters! {
        /// The origin of the chosen candidate.
        origin: Origin,

        /// The number of candidates.
        candidates: usize,

        /// The number of candidates that were never dropped.
        remaining: usize,

        /// The number of training examples used.
        training: u64,

        /// The number of validation examples, on which candidates were compared.
        validation: u64,

        /// The number of errors of the chosen candidate on the validation examples.
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
