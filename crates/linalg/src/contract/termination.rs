//! How a run ended.

/// How a run of a learner or a solver ended. A mathematical outcome is never an error: the run returns its result
/// in all cases, and the termination says whether the guarantee of the learner applies to this result.
///
/// ```
/// use halfspaces_linalg::Termination;
/// assert!(Termination::Converged.is_converged());
/// assert_eq!(Termination::CapReached { cap: 50 }.to_string(), "stopped at the cap of 50");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Termination {
    /// The goal was reached, or all steps required by the theorem were taken. The guarantee of the learner applies.
    Converged,
    /// The cap on steps (updates, passes or rounds, depending on the learner) ended the run.
    CapReached {
        /// The cap.
        cap: u64,
    },
    /// Rounding allows no further progress.
    Stalled,
    /// The stream of examples ended before the run was complete.
    ExamplesEnded,
    /// The run was completed, but the condition of its guarantee is not met. Either the data do not match the
    /// parameters (there is more noise or less margin than stated, or the data are not separable), or the failure event
    /// of probability δ occurred.
    AssumptionFailed,
}

impl Termination {
    /// Whether the guarantee of the learner applies.
    #[must_use]
    pub fn is_converged(self) -> bool {
        self == Termination::Converged
    }
}

impl std::fmt::Display for Termination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Termination::Converged => f.write_str("converged"),
            Termination::CapReached { cap } => write!(f, "stopped at the cap of {cap}"),
            Termination::Stalled => f.write_str("stalled: rounding allows no further progress"),
            Termination::ExamplesEnded => {
                f.write_str("the stream of examples ended before the run was complete")
            }
            Termination::AssumptionFailed => {
                f.write_str("the data do not satisfy the assumptions of the parameters")
            }
        }
    }
}
