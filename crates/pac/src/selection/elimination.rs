//! Rules for dropping candidates before all examples are used.
//!
//! *Source.* `Never` is CKST24 Lemma 4. The other rules are ours; see docs/theory/thinned-selection.md. Claims: P3, P7,
//! P8.

/// The rule that selects the candidates to drop before all examples are used.
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
    /// Drops no candidate.
    Never,
    /// Drops candidates that can no longer be chosen. Such a candidate has more errors than the best candidate would
    /// have if it erred on all remaining examples. The choice is unchanged.
    Lossless,
    /// Also drops candidates that are clearly worse than the best candidate, after 1, 2, 3, 4, 6, 8, 12, ... examples.
    /// A candidate is clearly worse if its number of errors exceeds that of the best candidate by more than
    /// [`schedule::elimination_gap`](crate::schedule::elimination_gap). The choice may change, but its guarantee stays
    /// the same. The guarantee compares the best candidate with each of the others. The comparison uses half of the
    /// failure probability of a uniform bound for all candidates, and dropping uses the other half.
    #[default]
    Statistical,
    /// Compares candidates with a leader that is about as good as the best candidate so far. Candidates that are
    /// clearly worse than the leader are dropped. A candidate is deferred once a test
    /// ([`schedule::CloseEnough`](crate::schedule::CloseEnough)) shows that the true error of the leader is less than
    /// the true error of this candidate plus ε/2. Here ε/2 is the accuracy of the choice on the whole sample. The
    /// errors of a deferred candidate are not counted under this leader. Once every other candidate is dropped or
    /// deferred, the leader is chosen. The guarantee is the same, but fewer examples are needed. If the leader changes,
    /// the errors of each deferred candidate are counted on the examples that it missed, until the new leader is known
    /// to be close to this candidate. The reported errors are those on the examples that were used.
    EarlyStop,
}

impl Elimination {
    /// Whether the rule compares two candidates on the examples on which exactly one of them errs.
    pub(super) fn compares(self) -> bool {
        matches!(self, Elimination::Statistical | Elimination::EarlyStop)
    }
}
