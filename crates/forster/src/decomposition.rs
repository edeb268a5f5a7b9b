//! Decomposition of all points into subspaces. Within each subspace, the points are in radially isotropic position.
//!
//! A fit brings the points of one subspace into radially isotropic position. Another fit follows for the points outside
//! that subspace, and so on until every point has been placed in a subspace. The result is a sequence of subspaces V1,
//! V2, ..., where V_i contains at least its share of the points not in V1 .. V_{i-1}: the fraction k/d if V_i has
//! dimension k and these points span d dimensions (DKTZ23 §3; the strong learner processes the subspaces in this
//! order). Each piece contains at least one point, so there are at most n pieces.

use crate::error::ForsterError;
use crate::forster::Forster;
use crate::report::{Outcome, Position, Reason};
use halfspaces_linalg::{DensePoints, PointSet, getters};

/// All points in radially isotropic position, subspace by subspace; the result of [`Forster::decompose`].
///
/// *What it computes.* Subspaces V1, V2, ..., where V_i contains at least its share of the points not in V1 .. V_{i-1},
/// each with a transform of its members. *Guarantee.* Every piece has the certificates of a fit ([`Fit`](crate::Fit)).
/// Every point is in exactly one piece, is zero, or is unplaced for a stated reason. *Cost:* one fit per piece; at most
/// n pieces, usually few. *When to use it:* if a learner needs all points; if only the first piece is needed, use
/// [`Forster::fit`]. *Source:* DKTZ23 §3.
///
/// ```
/// use halfspaces_forster::ForsterTransform;
/// use halfspaces_linalg::{Params, Points};
/// // Three points lie on a line; the other two do not.
/// let points =
///     Points::from_rows(&[[1.0, 1.0], [1.0, 0.0], [2.0, 2.0], [0.0, 3.0], [5.0, 5.0]])?;
/// let parts = ForsterTransform::params().check()?.decompose(&points)?;
/// assert!(parts.is_complete());
/// assert_eq!(parts.pieces()[0].subspace.members(), [0, 2, 4]);
/// assert_eq!(parts.pieces()[1].subspace.members(), [1, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Decomposition {
    pieces: Vec<Position>,
    zero_rows: Vec<usize>,
    unplaced: Vec<usize>,
    reason: Option<Reason>,
}

impl Decomposition {
    getters! {
        /// The pieces in the order in which they were found. Members are indices of the original points. The weights
        /// and the span of a piece are those of the points that remained when it was found.
        pieces: &[Position],

        /// Zero points, which are not placed.
        zero_rows: &[usize],

        /// Points that remained when a fit ended unresolved; empty if all points are placed.
        unplaced: &[usize],

        /// The reason why points are unplaced; `None` if all points are placed.
        reason: Option<Reason>,
    }

    /// Whether every non-zero point is placed.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.unplaced.is_empty()
    }
}

impl Forster {
    /// Places all points with equal weights.
    ///
    /// # Errors
    /// Same as [`Forster::fit`].
    pub fn decompose(&self, points: &DensePoints<'_>) -> Result<Decomposition, ForsterError> {
        self.decompose_with(points, None)
    }

    /// Like [`Forster::decompose`], but point i has the weight `weights[i]`.
    ///
    /// # Errors
    /// Same as [`Forster::fit_weighted`].
    pub fn decompose_weighted(
        &self,
        points: &DensePoints<'_>,
        weights: &[f64],
    ) -> Result<Decomposition, ForsterError> {
        self.decompose_with(points, Some(weights))
    }

    fn decompose_with(
        &self,
        points: &DensePoints<'_>,
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
            let points_left = points.select(left)?;
            let weights_left: Option<Vec<f64>> =
                weights.map(|weights| left.iter().map(|i| weights[*i]).collect());
            let fit = self.fit_with(&points_left, weights_left.as_deref())?;
            if parts.pieces.is_empty() {
                parts.zero_rows = fit.zero_rows().to_vec();
            }
            let mut placed: Vec<usize> = fit.zero_rows().iter().map(|i| left[*i]).collect();
            match fit.into_outcome() {
                Outcome::RadiallyIsotropic(mut position) | Outcome::HeavySubspace(mut position) => {
                    position.subspace.rename_members(left, points.len());
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
