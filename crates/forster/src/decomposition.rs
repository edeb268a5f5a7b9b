//! All points brought into position, piece by piece.
//!
//! A fit places the points of one subspace; the points outside are fitted again, until every point is
//! placed: subspaces V1, V2, ... of which V_i holds at least its share of the points that V1 .. V_{i-1}
//! left over (DKTZ23 §3: the order in which the strong learner meets them). Each piece holds at least one
//! point, so there are at most n.

use crate::error::ForsterError;
use crate::forster::Forster;
use crate::report::{Outcome, Position, Reason};
use halfspaces_linalg::{PointSet, Points};

/// Points placed subspace by subspace.
///
/// ```
/// use halfspaces_forster::ForsterTransform;
/// use halfspaces_linalg::Points;
/// // Three points on a line, and what is left spans the plane.
/// let points =
///     Points::from_rows(&[[1.0, 1.0], [1.0, 0.0], [2.0, 2.0], [0.0, 3.0], [5.0, 5.0]])?;
/// let parts = ForsterTransform::params().check()?.decompose(&points)?;
/// assert!(parts.is_complete());
/// assert_eq!(parts.pieces()[0].subspace.members(), [0, 2, 4]);
/// assert_eq!(parts.pieces()[1].subspace.members(), [1, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Decomposition {
    pieces: Vec<Position>,
    zero_rows: Vec<usize>,
    unplaced: Vec<usize>,
    reason: Option<Reason>,
}

impl Decomposition {
    /// The pieces in the order they were found. Members are indices of the original points; weights
    /// and span are those of the points left at the time.
    #[must_use]
    pub fn pieces(&self) -> &[Position] {
        &self.pieces
    }

    /// Zero points, which have no place.
    #[must_use]
    pub fn zero_rows(&self) -> &[usize] {
        &self.zero_rows
    }

    /// Points left when a fit ended unresolved; empty when all are placed.
    #[must_use]
    pub fn unplaced(&self) -> &[usize] {
        &self.unplaced
    }

    /// Why points are left, if any are.
    #[must_use]
    pub fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// Whether every non-zero point is placed.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.unplaced.is_empty()
    }
}

impl Forster {
    /// Places all points, every one counting once.
    ///
    /// # Errors
    /// As [`Forster::fit`].
    pub fn decompose(&self, points: &Points) -> Result<Decomposition, ForsterError> {
        self.decompose_with(points, None)
    }

    /// As [`Forster::decompose`], point i counting `weights[i]` times.
    ///
    /// # Errors
    /// As [`Forster::fit_weighted`].
    pub fn decompose_weighted(
        &self,
        points: &Points,
        weights: &[f64],
    ) -> Result<Decomposition, ForsterError> {
        self.decompose_with(points, Some(weights))
    }

    fn decompose_with(
        &self,
        points: &Points,
        weights: Option<&[f64]>,
    ) -> Result<Decomposition, ForsterError> {
        let mut parts = Decomposition {
            pieces: Vec::new(),
            zero_rows: Vec::new(),
            unplaced: (0..points.len()).collect(),
            reason: None,
        };
        crate::prepare::check_weights(points.len(), weights)?;
        loop {
            let left = &parts.unplaced;
            let rest = points.select(left)?;
            let rest_weights: Option<Vec<f64>> =
                weights.map(|weights| left.iter().map(|i| weights[*i]).collect());
            let fit = self.fit_with(&rest, rest_weights.as_deref())?;
            if parts.pieces.is_empty() {
                parts.zero_rows = fit.zero_rows().to_vec();
            }
            let mut placed: Vec<usize> = fit.zero_rows().iter().map(|i| left[*i]).collect();
            match fit.into_outcome() {
                Outcome::RadiallyIsotropic(mut position) | Outcome::HeavySubspace(mut position) => {
                    position.subspace.rename_members(left);
                    placed.extend_from_slice(position.subspace.members());
                    parts.pieces.push(position);
                }
                Outcome::Unresolved { reason, .. } => parts.reason = Some(reason),
            }
            placed.sort_unstable();
            parts.unplaced.retain(|i| placed.binary_search(i).is_err());
            if parts.unplaced.is_empty() || parts.reason.is_some() {
                return Ok(parts);
            }
        }
    }
}
