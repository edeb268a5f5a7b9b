//! Which candidates are dropped while examples come.
//!
//! *Source.* Ours, docs/theory/thinned-selection.md; CKST24 Lemma 4 is `Never`. Claims: P3, P7, P8.

/// Which candidates are dropped before all examples have come.
///
/// ```
/// use halfspaces_linalg::Classifier;
/// use halfspaces_data::{Marginal, UnitSphere, random_target};
/// use halfspaces_pac::{Candidates, Elimination};
/// let points = UnitSphere::new(3)?.sample(2000, 1)?;
/// let labels = random_target(3, 2)?.label_all(&points)?;
/// let pool = UnitSphere::new(3)?.sample(50, 3)?;
/// let chosen = |elimination| Candidates::new(&pool, elimination, 0.1)?.choose(&points, &labels);
/// // Dropping those that cannot win any more does not change which one wins.
/// assert_eq!(chosen(Elimination::Never)?.index, chosen(Elimination::Lossless)?.index);
/// assert!(chosen(Elimination::Statistical)?.remaining <= chosen(Elimination::Lossless)?.remaining);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Elimination {
    /// None.
    Never,
    /// Those that can no longer win: more errors than the best has so far plus the examples to come.
    /// The choice is unchanged.
    Lossless,
    /// Also, after 1, 2, 3, 4, 6, 8, 12, ... examples, those clearly worse than the best: by more than
    /// [`schedule::elimination_gap`](crate::schedule::elimination_gap). The choice may differ, its guarantee does not: the test of the
    /// best candidate against each other one needs half of the failure probability that the uniform
    /// accuracy of all of them does, and dropping takes the other half.
    #[default]
    Statistical,
    /// The leader is a candidate about as good as the best so far. Candidates clearly worse than it are
    /// dropped. A candidate is deferred, that is, not counted while this leader stays, once the leader's true
    /// error is known to exceed the candidate's by less than ε/2, all that the whole sample would show
    /// ([`schedule::CloseEnough`](crate::schedule::CloseEnough)). When every other candidate is dropped or
    /// deferred, the leader is chosen: the same guarantee from fewer examples. When the leader changes, a
    /// deferred candidate is counted on the examples it has missed until the new leader, too, is known to be
    /// close to it. The errors reported are those on the examples counted by then.
    EarlyStop,
}

impl Elimination {
    /// Whether candidates are compared on the examples on which exactly one of them errs.
    pub(super) fn compares(self) -> bool {
        matches!(self, Elimination::Statistical | Elimination::EarlyStop)
    }
}
