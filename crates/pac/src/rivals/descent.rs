//! What the learners that descend on the LeakyReLU loss share: DDK+23, CKMY20 and DGT19.

use super::validation_split::{DEFAULT_SHARE, check_share};
use crate::saved::CheckSaved;
use crate::{ErrorCount, NoiseSetting};
use halfspaces_linalg::{
    Halfspace, InputError, Termination, classify_by, getters, load_checked, norm, setters,
    tolerance,
};
use std::marker::PhantomData;

/// Default cap on the steps of [`Ddk`](crate::Ddk), [`Ckmy`](crate::Ckmy) and [`Dgt`](crate::Dgt), whatever
/// their theorems ask for.
pub const DESCENT_MAX_STEPS: u64 = 100_000;

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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(bound = ""))]
#[must_use]
pub struct DescentParams<L> {
    pub(super) setting: NoiseSetting,
    pub(super) max_steps: u64,
    pub(super) validation_share: f64,
    pub(super) seed: u64,
    #[cfg_attr(feature = "serde", serde(skip))]
    learner: PhantomData<L>,
}

impl<L> From<NoiseSetting> for DescentParams<L> {
    /// The setting's δ is not used: these theorems speak of large samples.
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
        /// ε: the excess error that the numbers of steps are computed for. Default: 0.1.
        excess: f64 => setting.excess,

        /// Cap on the steps of a descent, at least 1. Default: [`DESCENT_MAX_STEPS`].
        max_steps: u64,

        /// Seed of the learner's draws. Default: 0.
        seed: u64,
    }

    /// What is checked beside the setting.
    pub(super) fn check_rest(&self) -> Result<(), InputError> {
        let in_range = self.max_steps > 0;
        InputError::check_parameter("max_steps", self.max_steps as f64, in_range, "at least 1")?;
        check_share(self.validation_share)
    }

    /// How a complete run of `planned` steps, whose condition is met, is called.
    pub(super) fn termination(&self, planned: u64) -> Termination {
        if self.max_steps < planned {
            Termination::CapReached { cap: self.max_steps }
        } else {
            Termination::Converged
        }
    }
}

/// What [`Ddk`](crate::Ddk) and [`Ckmy`](crate::Ckmy) return: the iterate of least error on the validation part.
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
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DescentFit {
    pub(super) halfspace: Halfspace,
    pub(super) chosen: u64,
    pub(super) validation: ErrorCount,
    pub(super) steps: u64,
    pub(super) last_loss: f64,
    pub(super) termination: Termination,
}

load_checked!(DescentFit {
    halfspace: Halfspace,
    chosen: u64,
    validation: ErrorCount,
    steps: u64,
    last_loss: f64,
    termination: Termination,
});

impl CheckSaved for DescentFit {
    fn check_saved(&self) -> Result<(), InputError> {
        let DescentFit { halfspace, chosen, steps, last_loss, termination, .. } = self;
        let check = InputError::check_state;
        let in_ball = norm(halfspace.normal()) <= 1.0 + tolerance::UNIT_NORM;
        check(in_ball, "every iterate lies in the unit ball")?;
        let zero = halfspace.normal().iter().all(|v| *v == 0.0);
        check((*chosen == 0) == zero, "the iterate of step 0, and it alone, is 0")?;
        check(chosen <= steps, "no iterate comes after the last step")?;
        // LeakyReLU_λ lies between -λ and 1-λ in the unit ball, and λ in [0, 1/2].
        let in_range = (-0.5 - 1e-6..=1.0 + 1e-6).contains(last_loss);
        check(in_range, "a mean loss lies between -1/2 and 1")?;
        let possible = match termination {
            Termination::Converged => true,
            Termination::CapReached { cap } => steps == cap,
            Termination::AssumptionFailed => *last_loss >= 0.0,
            Termination::Stalled | Termination::ExamplesEnded => false,
        };
        check(possible, "this termination does not go with these steps")
    }
}

impl DescentFit {
    getters! {
        /// The iterate of least validation error, the first among equals.
        halfspace: &Halfspace,

        /// How many steps led to it.
        chosen: u64,

        /// Its error on the validation part, a little flattered by the choice.
        validation: ErrorCount,

        /// Steps taken.
        steps: u64,

        /// Mean LeakyReLU loss of the last iterate: over the training part for [`Ddk`](crate::Ddk), over the slab where
        /// it is largest for [`Ckmy`](crate::Ckmy).
        last_loss: f64,

        /// How the run ended; the learner's page says what each end means.
        termination: Termination,
    }
}

classify_by!(DescentFit, halfspace);

#[cfg(test)]
#[cfg(feature = "serde")]
mod tests {
    use super::*;
    use crate::saved::assert_refused;
    use crate::test_data::Instance;
    use crate::{Ckmy, Ddk};
    use halfspaces_linalg::{FitSample, Params};

    #[test]
    fn saved_fits_are_checked() {
        let (points, labels) = Instance::skewed(2, 0.2, 4).sample(200, 5, |_| 0.1);
        let ddk = Ddk::params(0.1, 0.2).excess(0.2).max_steps(5).check().unwrap();
        let ckmy = Ckmy::params(0.1, 0.2).excess(0.2).max_steps(5).check().unwrap();
        for fit in [ddk.fit(&points, &labels).unwrap(), ckmy.fit(&points, &labels).unwrap()] {
            let text = serde_json::to_string(&fit).unwrap();
            assert_eq!(serde_json::from_str::<DescentFit>(&text).unwrap(), fit);
        }
        let state = ddk.fit(&points, &labels).unwrap();
        assert!(state.chosen > 0, "a step helps");
        assert_eq!(state.termination, Termination::CapReached { cap: 5 });
        type Change = fn(&mut DescentFit);
        let changes: [Change; 8] = [
            |s| s.chosen = 6,
            |s| s.chosen = 0,
            |s| s.halfspace = Halfspace::new(vec![0.0, 0.0]).unwrap(),
            |s| s.halfspace = Halfspace::new(vec![1.0, 1.0]).unwrap(),
            |s| s.steps = 4,
            |s| s.last_loss = f64::NAN,
            |s| s.last_loss = 1.1,
            |s| s.termination = Termination::Stalled,
        ];
        assert_refused(&state, changes);
    }
}
