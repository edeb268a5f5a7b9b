//! Rules for dropping candidates before all examples are counted.
//!
//! *Source.* Ours, docs/theory/thinned-selection.md; CKST24 Lemma 4 is `Never`. Claims: P3, P7, P8.

/// The candidates that are dropped before all examples are counted.
///
/// ```
/// use halfspaces_linalg::Classifier;
/// use halfspaces_data::{Marginal, UnitSphere, random_target};
/// use halfspaces_pac::{Candidates, Elimination};
/// let points = UnitSphere::new(3)?.sample(2000, 1)?;
/// let labels = random_target(3, 2)?.label_all(&points)?;
/// let pool = UnitSphere::new(3)?.sample(50, 3)?;
/// let chosen = |elimination| Candidates::new(&pool, elimination, 0.1)?.choose(&points, &labels);
/// // Dropping candidates that can no longer win does not change the choice.
/// assert_eq!(chosen(Elimination::Never)?.index, chosen(Elimination::Lossless)?.index);
/// assert!(chosen(Elimination::Statistical)?.remaining <= chosen(Elimination::Lossless)?.remaining);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Elimination {
    /// No candidate is dropped.
    Never,
    /// Drops candidates that can no longer be chosen: those with more errors than the best candidate has so far plus
    /// the number of examples left. The choice is unchanged.
    Lossless,
    /// Also drops candidates clearly worse than the best, after 1, 2, 3, 4, 6, 8, 12, ... examples: those with more
    /// errors by [`schedule::elimination_gap`](crate::schedule::elimination_gap). The choice may differ, but its
    /// guarantee does not. The test of the best candidate against each other one needs half of the failure probability
    /// of a uniform bound for all candidates; dropping uses the other half.
    #[default]
    Statistical,
    /// Compares candidates with a leader that is about as good as the best so far. Candidates clearly worse than the
    /// leader are dropped. A candidate is deferred, and not counted under this leader, once the leader's true error is
    /// known to exceed the candidate's by less than ε/2, the accuracy of the whole sample
    /// ([`schedule::CloseEnough`](crate::schedule::CloseEnough)). Once every other candidate is dropped or deferred,
    /// the leader is chosen, with the same guarantee from fewer examples. If the leader changes, a deferred candidate
    /// is counted on the examples it missed until the new leader is known to be close to it. The reported errors are
    /// those on the examples counted.
    EarlyStop,
}

impl Elimination {
    /// Whether candidates are compared on the examples on which exactly one of the two errs.
    pub(super) fn compares(self) -> bool {
        matches!(self, Elimination::Statistical | Elimination::EarlyStop)
    }
}
