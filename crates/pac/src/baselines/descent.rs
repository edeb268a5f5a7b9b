//! Parameters and results shared by the learners that minimise the LeakyReLU loss: DDK+23, CKMY20 and DGT19.

use super::validation_split::{DEFAULT_SHARE, check_share};
use crate::{ErrorCount, NoiseSetting};
use halfspaces_linalg::{Halfspace, InputError, Termination, classify_by, getters, setters};
use std::marker::PhantomData;

/// The default cap on the steps of [`Ddk`](crate::Ddk), [`Ckmy`](crate::Ckmy) and [`Dgt`](crate::Dgt). It applies even
/// if their theorems need more steps.
const DESCENT_MAX_STEPS: u64 = 100_000;

/// Unchecked parameters of [`Ddk`](crate::Ddk), [`Ckmy`](crate::Ckmy) or [`Dgt`](crate::Dgt).
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_pac::{Ckmy, Ddk, Dgt, DgtParams, NoiseSetting};
/// assert!(Ddk::params(0.2, 0.1).excess(0.05).max_steps(5000).seed(1).check().is_ok());
/// assert!(Ddk::params(0.5, 0.1).check().is_err());
/// // CKMY20 and DGT19 need η + ε below 1/2.
/// assert!(Ckmy::params(0.4, 0.1).check().is_err());
/// assert!(DgtParams::from(NoiseSetting { excess: 0.2, ..NoiseSetting::new(0.2, 0.1) }).check().is_ok());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct DescentParams<L> {
    pub(super) setting: NoiseSetting,
    pub(super) max_steps: u64,
    pub(super) validation_share: f64,
    pub(super) seed: u64,
    learner: PhantomData<L>,
}

impl<L> From<NoiseSetting> for DescentParams<L> {
    /// Ignores the δ of the setting, because the theorems of these learners are about large samples.
    fn from(setting: NoiseSetting) -> Self {
        DescentParams {
            setting,
            max_steps: DESCENT_MAX_STEPS,
            validation_share: DEFAULT_SHARE,
            seed: 0,
            learner: PhantomData,
        }
    }
}

impl<L> DescentParams<L> {
    setters! {
        /// The excess ε, which determines the number of steps. Default: 0.1.
        excess: f64 => setting.excess,

        /// The cap on the number of steps of a descent, at least 1. Default: 100 000.
        max_steps: u64,

        /// The seed for the learner's random numbers. Default: 0.
        seed: u64,
    }

    /// Checks everything except the setting.
    pub(super) fn check_rest(&self) -> Result<(), InputError> {
        let in_range = self.max_steps > 0;
        InputError::check_parameter("max_steps", self.max_steps as f64, in_range, "at least 1")?;
        check_share(self.validation_share)
    }

    /// The termination status of a run that needs `planned` steps according to its theorem. The run is capped if
    /// `max_steps` is smaller.
    pub(super) fn termination(&self, planned: u64) -> Termination {
        if self.max_steps < planned {
            Termination::CapReached { cap: self.max_steps }
        } else {
            Termination::Converged
        }
    }
}

/// The model fitted by [`Ddk`](crate::Ddk) and [`Ckmy`](crate::Ckmy): the iterate with the smallest validation error.
///
/// ```
/// use halfspaces_linalg::{FitSample, Label, Params, Points, Termination};
/// use halfspaces_pac::Ddk;
/// let points = Points::new(vec![0.5, -0.5, 0.8, -0.8], 1)?;
/// let [p, n] = [Label::Positive, Label::Negative];
/// let fit = Ddk::params(0.0, 0.5).max_steps(10).check()?.fit(&points, &[n, p, n, p])?;
/// assert_eq!(fit.validation().errors(), 0);
/// assert_eq!((fit.steps(), fit.termination()), (10, Termination::CapReached { cap: 10 }));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DescentFit {
    pub(super) halfspace: Halfspace,
    pub(super) chosen: u64,
    pub(super) validation: ErrorCount,
    pub(super) steps: u64,
    pub(super) last_loss: f64,
    pub(super) termination: Termination,
}

impl DescentFit {
    getters! {
        /// The iterate with the smallest validation error; ties go to the first.
        halfspace: &Halfspace,

        /// The number of steps before the chosen iterate.
        chosen: u64,

        /// The error of the chosen iterate on the validation part. This error is slightly optimistic, because it was
        /// used to choose the iterate.
        validation: ErrorCount,

        /// The number of steps.
        steps: u64,

        /// The mean LeakyReLU loss of the last iterate. For [`Ddk`](crate::Ddk) this is the mean over the training
        /// part. For [`Ckmy`](crate::Ckmy) it is the mean over the slab with the largest loss.
        last_loss: f64,

        /// How the run ended; see the learner's documentation.
        termination: Termination,
    }
}

classify_by!(DescentFit, halfspace);
