//! The parameters of `PositionedMassart`. Claims: PM, PMn, PMt.

use super::schedule::PositionedSchedule;
use crate::NoiseSetting;
use halfspaces_linalg::{Threads, setters};

/// The default fraction of a sample that is held out.
const DEFAULT_HELD_OUT: f64 = 0.15;

/// Unchecked parameters of a [`PositionedMassart`](crate::PositionedMassart).
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_pac::PositionedMassart;
/// let params = PositionedMassart::params(0.3).excess(0.2).failure(0.01).held_out(0.2).seed(7);
/// assert!(params.check().is_ok());
/// // λ = η + ε/2 may not exceed 1/2.
/// assert!(params.excess(0.41).check().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PositionedParams {
    pub(super) noise: f64,
    pub(super) excess: f64,
    pub(super) failure: f64,
    pub(super) schedule: PositionedSchedule,
    pub(super) held_out: f64,
    pub(super) seed: u64,
    pub(super) threads: Threads,
}

impl PositionedParams {
    pub(super) fn new(noise: f64) -> Self {
        PositionedParams {
            noise,
            excess: NoiseSetting::DEFAULT_EXCESS,
            failure: NoiseSetting::DEFAULT_FAILURE,
            schedule: PositionedSchedule::default(),
            held_out: DEFAULT_HELD_OUT,
            seed: 0,
            threads: Threads::ONE,
        }
    }

    setters! {
        /// The excess ε: the target error is η + ε. Default: 0.1.
        excess: f64,

        /// The failure probability δ: an upper bound on the probability that the error is larger than η + ε. Default:
        /// 0.05. The practical schedule does not use it.
        failure: f64,

        /// The schedule of sizes and thresholds. Default: [`PositionedSchedule::Practical`].
        schedule: PositionedSchedule,

        /// The fraction of a sample that is held out for the error bound; 0 disables the hold-out. Default: 0.15. Fits
        /// under the theorem's schedule and fits to a stream ignore this fraction; they hold out the number of examples
        /// that one test uses.
        held_out: f64,

        /// The seed for the split of a sample and for the order of the passes over it. Default: 0.
        seed: u64,

        /// The number of threads for positions, descents and regions. The result does not depend on this number.
        /// Default: one.
        threads: Threads,
    }
}
