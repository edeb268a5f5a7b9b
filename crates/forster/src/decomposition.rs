//! All points brought into position, piece by piece.
//!
//! A fit places the points of one subspace; the points outside are fitted again, until every point is
//! placed: subspaces V1, V2, ... of which V_i holds at least its share of the points that V1 .. V_{i-1}
//! left over (DKTZ23 §3: the order in which the strong learner meets them). Each piece holds at least one
//! point, so there are at most n.

use crate::error::ForsterError;
use crate::forster::Forster;
use crate::report::{Outcome, Position, Reason};
#[cfg(feature = "serde")]
use crate::saved::{ascend_below, ensure};
use halfspaces_linalg::{PointSet, Points, getters, load_checked};

/// How far sums of the same weights in another order may be apart, relative.
#[cfg(feature = "serde")]
const LEFT_ROUNDING: f64 = 1e-9;

/// All points in position, subspace by subspace: from [`Forster::decompose`].
///
/// *What it computes.* Subspaces V1, V2, ... of which V_i holds at least its share of the points that
/// V1 .. V_{i-1} left over, each with a transform of its members. *Guarantee.* Every piece has the
/// certificates of a fit ([`Fit`](crate::Fit)), and every point is in one piece, zero, or left over with a reason.
/// *Cost:* one fit per piece, of which there are at most n; as a rule few. *When to use it:* where a learner
/// needs all points; for the first piece alone [`Forster::fit`] is enough. *Source:* DKTZ23 §3.
///
/// ```
/// use halfspaces_forster::ForsterTransform;
/// use halfspaces_linalg::{Params, Points};
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
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Decomposition {
    pieces: Vec<Position>,
    zero_rows: Vec<usize>,
    unplaced: Vec<usize>,
    reason: Option<Reason>,
}

load_checked!(Decomposition {
    pieces: Vec<Position>,
    zero_rows: Vec<usize>,
    unplaced: Vec<usize>,
    reason: Option<Reason>,
});

#[cfg(feature = "serde")]
impl Decomposition {
    fn check_saved(&self) -> Result<(), ForsterError> {
        // Every point is in one place.
        let members = self.pieces.iter().flat_map(|piece| piece.subspace.members());
        let mut places: Vec<usize> =
            members.chain(&self.zero_rows).chain(&self.unplaced).copied().collect();
        places.sort_unstable();
        let points = places.len();
        let each_once = places.into_iter().eq(0..points);
        ensure(each_once, "some point has no place, or two")?;
        let sorted = ascend_below(&self.zero_rows, points) && ascend_below(&self.unplaced, points);
        ensure(sorted, "zero points or points left are not in order")?;
        let explained = self.reason.is_some() != self.unplaced.is_empty();
        ensure(explained, "points are left without a reason, or none with one")?;
        for piece in &self.pieces {
            ensure(piece.subspace.points() == points, "a piece is of another set of points")?;
            ensure(piece.is_answer(), "a piece is neither heavy nor all that was left")?;
        }
        // Each piece is what the ones before it left over.
        for (before, after) in self.pieces.iter().zip(self.pieces.iter().skip(1)) {
            let (before, after) = (&before.subspace, &after.subspace);
            let left = before.weight() - before.weight_inside();
            let weighs = (after.weight() - left).abs() <= LEFT_ROUNDING * before.weight();
            let fits = before.basis().dim() == after.basis().dim() && weighs;
            ensure(fits, "a piece does not weigh what the one before it left over")?;
        }
        Ok(())
    }
}

impl Decomposition {
    getters! {
        /// The pieces in the order they were found. Members are indices of the original points; weights
        /// and span are those of the points left at the time.
        pieces: &[Position],

        /// Zero points, which have no place.
        zero_rows: &[usize],

        /// Points left when a fit ended unresolved; empty when all are placed.
        unplaced: &[usize],

        /// Why points are left, if any are.
        reason: Option<Reason>,
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

#[cfg(test)]
#[cfg(feature = "serde")]
mod tests {
    use super::*;
    use crate::ForsterTransform;
    use halfspaces_linalg::Params;
    use serde_json::{Value, json};

    #[test]
    fn every_point_has_one_place_in_what_is_loaded() {
        let rows = [[1.0, 1.0], [1.0, 0.0], [2.0, 2.0], [0.0, 0.0], [0.0, 3.0], [5.0, 5.0]];
        let solver = ForsterTransform::params().check().unwrap();
        let parts = solver.decompose(&Points::from_rows(&rows).unwrap()).unwrap();
        let saved = serde_json::to_value(&parts).unwrap();
        assert_eq!(serde_json::from_value::<Decomposition>(saved.clone()).unwrap(), parts);
        assert_eq!(parts.pieces().len(), 2);
        for (place, to) in [
            ("/pieces/0/subspace/members/0", json!(1)),
            ("/pieces/0/subspace/points", json!(7)),
            ("/pieces/1/subspace/members", json!([1, 6])),
            ("/pieces/1/subspace/weight", json!(3.0)),
            ("/zero_rows", json!([])),
            ("/zero_rows", json!([4])),
            ("/unplaced", json!([3])),
            ("/unplaced", json!([6])),
            ("/reason", json!("Stalled")),
            ("/pieces", json!([])),
        ] {
            let mut broken = saved.clone();
            *broken.pointer_mut(place).unwrap() = to.clone();
            assert!(serde_json::from_value::<Decomposition>(broken).is_err(), "{place}: {to}");
        }
        // Pieces in another order are not what was left over.
        let mut swapped = saved.clone();
        swapped["pieces"].as_array_mut().unwrap().swap(0, 1);
        assert!(serde_json::from_value::<Decomposition>(swapped).is_err());
        let mut left = saved;
        (left["unplaced"], left["reason"]) = (json!([6]), Value::Null);
        for piece in [0, 1] {
            left["pieces"][piece]["subspace"]["points"] = json!(7);
        }
        assert!(serde_json::from_value::<Decomposition>(left.clone()).is_err());
        left["reason"] = json!("Stalled");
        assert!(serde_json::from_value::<Decomposition>(left).is_ok());
    }
}
