//! How a run ended.

/// How a run of a learner or a solver ended. A mathematical outcome is never an error: the result is
/// returned either way, and this says what it is worth.
///
/// ```
/// use halfspaces_linalg::Termination;
/// assert!(Termination::Converged.is_converged());
/// assert_eq!(Termination::CapReached { cap: 50 }.to_string(), "stopped at the cap of 50");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Termination {
    /// What the learner looks for is reached, or all steps that its theorem asks for were made: its
    /// guarantee holds.
    Converged,
    /// The cap on steps (updates, passes, rounds: the learner says which) ended the run first.
    CapReached {
        /// The cap.
        cap: u64,
    },
    /// Rounding allows no further progress; more steps would change nothing.
    Stalled,
    /// The examples ended before the run did.
    ExamplesEnded,
    /// The run is complete and its condition is not met: the data are not as the parameters say (more
    /// noise, less margin, not separable), or the event of probability δ has happened.
    AssumptionFailed,
}

impl Termination {
    /// Whether the guarantee of the learner holds.
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
            Termination::Stalled => f.write_str("stalled by rounding"),
            Termination::ExamplesEnded => f.write_str("the examples ended first"),
            Termination::AssumptionFailed => {
                f.write_str("the data are not as the parameters assume")
            }
        }
    }
}
