//! Options and counts of the strong learner.
//!
//! Claims: S8, S9, S9d, S9g, S9m, S9p, S9r, S9t.

/// The part of the pool to be labelled.
///
/// ```
/// use halfspaces_linalg::Classifier;
/// use halfspaces_data::{Marginal, UnitSphere, random_target};
/// use halfspaces_online::{Goal, StrongLearner, label_pool};
/// let points = UnitSphere::new(4)?.sample(500, 1)?;
/// let labels = random_target(4, 2)?.label_all(&points)?;
/// let labelled = |goal| -> Result<usize, Box<dyn std::error::Error>> {
///     Ok(label_pool(StrongLearner::new(4, goal, 0.1, 3)?, &points, &labels)?.1.len())
/// };
/// assert!(labelled(Goal::Weak)? >= 500 / (4 * 4));
/// assert!(labelled(Goal::Strong { epsilon: 0.1 })? >= 450);
/// assert_eq!(labelled(Goal::Perfect)?, 500);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// One round: at least a fraction 1/(4d) of the points.
    Weak,
    /// All but a fraction ε of the points.
    Strong {
        /// ε in (0, 1).
        epsilon: f64,
    },
    /// Every point.
    Perfect,
}

/// The maximum number of updates of a run.
///
/// ```
/// use halfspaces_online::Cap;
/// // ⌊40 ln 40⌋ and 50 ln 10
/// assert_eq!(Cap::Corrected.updates(10), 147);
/// assert_eq!(Cap::Paper.updates(10), 115);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cap {
    /// ⌊4k ln 4k⌋, as the proof requires.
    Corrected,
    /// 5k ln k, as printed in the paper.
    Paper,
}

impl Cap {
    /// The cap in dimension k.
    #[must_use]
    pub fn updates(self, k: usize) -> usize {
        let k = k as f64;
        match self {
            Cap::Corrected => (4.0 * k * (4.0 * k).ln()).floor() as usize,
            Cap::Paper => (5.0 * k * k.ln()).floor() as usize,
        }
    }
}

/// The starts of the runs of a round.
///
/// ```
/// use halfspaces_linalg::Classifier;
/// use halfspaces_data::{Marginal, UnitSphere, random_target};
/// use halfspaces_online::{Start, StrongLearner, label_pool};
/// let points = UnitSphere::new(4)?.sample(500, 1)?;
/// let labels = random_target(4, 2)?.label_all(&points)?;
/// for start in [Start::Warm, Start::Random] {
///     let learner = StrongLearner::recommended(4, 3)?.with_start(start);
///     assert_eq!(label_pool(learner, &points, &labels)?.1.len(), 500);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// Random directions, as in the paper.
    Random,
    /// First the current hypothesis (initially y u of one point) and its opposite, each with a low cap on updates, and
    /// then random directions. All guarantees still hold, with at most 4k + 2 additional mistakes per round; in
    /// experiments, the learner makes far fewer mistakes with this start.
    #[default]
    Warm,
}

/// Counts of the rounds so far.
///
/// ```
/// use halfspaces_linalg::Classifier;
/// use halfspaces_data::{Marginal, UnitSphere, random_target};
/// use halfspaces_online::{StrongLearner, label_pool};
/// let points = UnitSphere::new(4)?.sample(500, 1)?;
/// let labels = random_target(4, 2)?.label_all(&points)?;
/// let (learner, _) = label_pool(StrongLearner::recommended(4, 3)?, &points, &labels)?;
/// let tally = learner.tally();
/// assert!(tally.rounds >= 1 && tally.uncertified == 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RoundTally {
    /// Number of rounds begun.
    pub rounds: usize,
    /// Number of runs that passed |U|/(4k) points in a walk.
    pub successes: usize,
    /// Number of runs that reached their cap or ended at w = 0.
    pub failures: usize,
    /// Number of rounds in which every run failed. If a halfspace fits and the radially isotropic positions are
    /// certified, this number is positive with probability at most δ.
    pub failed_rounds: usize,
    /// Number of rounds on a subspace smaller than the span of the unlabelled points.
    pub heavy: usize,
    /// Number of rounds without a certified radially isotropic position; the guarantee does not cover these rounds.
    pub uncertified: usize,
    /// Number of updates on points already revealed, which cost no mistake.
    pub free_updates: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caps_are_as_stated() {
        // The values of 4k ln 4k and 5k ln k, rounded down.
        assert_eq!([1, 2, 10].map(|k| Cap::Corrected.updates(k)), [5, 16, 147]);
        assert_eq!([1, 2, 10].map(|k| Cap::Paper.updates(k)), [0, 6, 115]);
        // The printed cap is larger if k >= 256.
        assert!(Cap::Paper.updates(255) < Cap::Corrected.updates(255));
        assert!(Cap::Paper.updates(257) >= Cap::Corrected.updates(257));
    }
}
