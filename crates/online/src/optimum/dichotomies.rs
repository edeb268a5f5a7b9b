//! All labellings of a small pool by halfspaces.

use crate::error::OnlineError;
use crate::limits::{MAX_DICHOTOMIES, MAX_POOL};
use halfspaces_linalg::{Halfspace, InputError, Label, PointSet, Points, kernels, norm};
use std::collections::HashMap;

/// The value of |w · x|/(‖w‖‖x‖) above which rounding cannot change the sign of w · x.
const MIN_CERTAIN_SINE: f64 = 1e-11;

/// A point restricted to a hyperplane is set to 0 if its norm is at most this fraction of its original norm: such a
/// point was parallel to the normal of the hyperplane.
const MAX_PARALLEL_SHARE: f64 = 1e-12;

/// All labellings of a pool by halfspaces w · x > 0 through the origin with no point on the boundary, each with a
/// halfspace that produces it.
///
/// *Algorithm.* Points are added one at a time. The hyperplane of a new point splits the cells of the current
/// arrangement that it meets. The split cells correspond to the cells of the earlier points restricted to this
/// hyperplane, whose dimension is lower by one. In general position there are 2 Σ_{i<d} C(n-1, i) cells (Cover 1965).
/// Each listed labelling comes with a halfspace that produces it, and the algorithm checks that rounding cannot have
/// changed any of its signs. In general position, the number of labellings shows that none is missing.
///
/// *Cost.* The time is O(n² d) times the number of dichotomies. There may be at most [`MAX_POOL`] points and
/// [`MAX_DICHOTOMIES`] dichotomies.
///
/// *When to use it.* For exact values on small pools ([`LabellingGame`](crate::LabellingGame)), for the worst case of a
/// learner (run the learner on each labelling), and for halving, which makes at most d lg n mistakes with
/// [`HalfspaceClass`](crate::HalfspaceClass), for any margin. For affine halfspaces, append a coordinate 1 to each
/// point.
///
/// *Source.* Cover 1965 for the count; the algorithm is folklore. Claims: S12, K9.
///
/// ```
/// use halfspaces_linalg::Points;
/// use halfspaces_online::Dichotomies;
/// let pool = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])?;
/// let dichotomies = Dichotomies::new(&pool)?;
/// assert_eq!(dichotomies.len(), 6); // of 8: all except + + - and - - +
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dichotomies {
    points: usize,
    /// One mask for each dichotomy, in ascending order. Bit i is set if point i is labelled +1.
    masks: Vec<u128>,
    /// For each dichotomy, the normal of a halfspace that produces it.
    normals: Vec<Vec<f64>>,
}

impl Dichotomies {
    /// Lists the dichotomies of a pool. Repeated and parallel points are allowed.
    ///
    /// # Errors
    /// [`OnlineError::TooManyPoints`], [`OnlineError::TooManyDichotomies`], [`OnlineError::Unresolved`];
    /// [`InputError::Empty`], [`InputError::ZeroRow`], and [`InputError::Underflow`] or [`InputError::Overflow`] if the
    /// square of a norm is outside the range of `f64`.
    pub fn new(points: &Points) -> Result<Dichotomies, OnlineError> {
        if points.is_empty() {
            return Err(InputError::Empty.into());
        }
        if points.len() > MAX_POOL {
            return Err(OnlineError::TooManyPoints { points: points.len() });
        }
        let most = Dichotomies::in_general_position(points.len(), points.dim());
        if most > MAX_DICHOTOMIES as f64 {
            return Err(OnlineError::TooManyDichotomies { dichotomies: most });
        }
        let mut rows = Vec::with_capacity(points.len());
        for (i, x) in points.rows().enumerate() {
            let x = x.as_slice().to_vec();
            let length = norm(&x);
            if length == 0.0 {
                return Err(InputError::ZeroRow { row: i }.into());
            }
            if !(length * length).is_normal() {
                let row = i;
                let small = length < 1.0;
                let fault = if small {
                    InputError::Underflow { row }
                } else {
                    InputError::Overflow { row }
                };
                return Err(fault.into());
            }
            rows.push(x);
        }
        let mut listed = Vec::new();
        for w in cells(&rows, points.dim())? {
            listed.push((certain_mask(&rows, &w)?, w));
        }
        listed.sort_unstable_by_key(|(mask, _)| *mask);
        assert!(listed.windows(2).all(|two| two[0].0 < two[1].0), "each cell is listed once");
        let (masks, normals) = listed.into_iter().unzip();
        Ok(Dichotomies { points: points.len(), masks, normals })
    }

    /// The number of dichotomies of n points in general position in R^d: 2 Σ_{i<d} C(n-1, i). No n points have more
    /// dichotomies.
    ///
    /// ```
    /// use halfspaces_online::Dichotomies;
    /// assert_eq!(Dichotomies::in_general_position(12, 2), 24.0);
    /// assert_eq!(Dichotomies::in_general_position(12, 3), 134.0);
    /// ```
    #[must_use]
    pub fn in_general_position(points: usize, dim: usize) -> f64 {
        let (mut sum, mut binomial) = (0.0, 1.0);
        for i in 0..dim.min(points) {
            sum += binomial;
            binomial *= (points - 1 - i) as f64 / (i + 1) as f64;
        }
        2.0 * sum
    }

    /// The number of dichotomies.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "every pool has a dichotomy")]
    pub fn len(&self) -> usize {
        self.masks.len()
    }

    /// Number of points of the pool.
    #[must_use]
    pub fn points(&self) -> usize {
        self.points
    }

    /// The labels of each dichotomy, one per point. The order depends only on the labels.
    pub fn labels(&self) -> impl ExactSizeIterator<Item = Vec<Label>> {
        self.masks.iter().map(|mask| {
            let label = |i| if mask >> i & 1 == 1 { Label::Positive } else { Label::Negative };
            (0..self.points).map(label).collect()
        })
    }

    /// A halfspace for each dichotomy, in the same order.
    ///
    /// # Errors
    /// No error occurs for listed dichotomies.
    pub fn halfspaces(&self) -> Result<Vec<Halfspace>, InputError> {
        self.normals.iter().map(|w| Halfspace::new(w.clone())).collect()
    }

    /// One mask for each dichotomy. Bit i is set if point i is labelled +1.
    pub(super) fn masks(&self) -> &[u128] {
        &self.masks
    }
}

/// A mask of the rows on the positive side of w. Rounding errors are ignored.
fn mask(rows: &[Vec<f64>], w: &[f64]) -> u128 {
    let positive = rows.iter().enumerate().filter(|(_, x)| kernels::dot(x, w) > 0.0);
    positive.fold(0, |mask, (i, _)| mask | 1u128 << i)
}

/// Like [`mask`], but returns an error if rounding might change a sign.
fn certain_mask(rows: &[Vec<f64>], w: &[f64]) -> Result<u128, OnlineError> {
    let length = norm(w);
    for (row, x) in rows.iter().enumerate() {
        if kernels::dot(x, w).abs() <= MIN_CERTAIN_SINE * length * norm(x) {
            return Err(OnlineError::Unresolved { row });
        }
    }
    Ok(mask(rows, w))
}

/// A vector in each cell of the arrangement of the hyperplanes x · w = 0 in R^d. Rows that are 0 are ignored.
fn cells(rows: &[Vec<f64>], dim: usize) -> Result<Vec<Vec<f64>>, OnlineError> {
    let mut cells = HashMap::from([(0u128, vec![0.0; dim])]);
    // The rows so far, without parallel copies, and their indices.
    let (mut distinct, mut places): (Vec<Vec<f64>>, Vec<usize>) = Default::default();
    for (row, x) in rows.iter().enumerate().filter(|(_, x)| x.iter().any(|v| *v != 0.0)) {
        let unresolved = OnlineError::Unresolved { row };
        let plane = Hyperplane::new(x);
        let restricted: Vec<Vec<f64>> =
            distinct.iter().map(|other| plane.restrict(other)).collect();
        if restricted.iter().any(|other| other.iter().all(|v| *v == 0.0)) {
            continue;
        }
        let within = self::cells(&restricted, dim - 1).map_err(|fault| match fault {
            OnlineError::Unresolved { row } => OnlineError::Unresolved { row: places[row] },
            other => other,
        })?;
        let expected = cells.len() + within.len();
        let mut next = HashMap::with_capacity(expected);
        for within in within {
            let on = plane.lift(&within);
            if cells.remove(&mask(&distinct, &on)).is_none() {
                return Err(unresolved);
            }
            for side in [1.0, -1.0] {
                let w = plane.next_to(&on, side, &distinct);
                next.insert(mask(&distinct, &w) | u128::from(side > 0.0) << distinct.len(), w);
            }
        }
        distinct.push(x.clone());
        places.push(row);
        // The other cells do not meet the hyperplane, so their vectors are already on the right side.
        for w in cells.into_values() {
            if kernels::dot(x, &w).abs() <= MIN_CERTAIN_SINE * norm(x) * norm(&w) {
                return Err(unresolved);
            }
            next.insert(mask(&distinct, &w), w);
        }
        if next.len() != expected {
            return Err(unresolved);
        }
        cells = next;
    }
    // Sort the cells, because a hash map has no defined order.
    let mut cells: Vec<_> = cells.into_iter().collect();
    cells.sort_unstable_by_key(|(mask, _)| *mask);
    Ok(cells.into_iter().map(|(_, w)| w).collect())
}

/// The vectors orthogonal to a normal. A vector is represented by all its coordinates except the one where the normal
/// is largest.
struct Hyperplane<'a> {
    normal: &'a [f64],
    pivot: usize,
}

impl Hyperplane<'_> {
    fn new(normal: &[f64]) -> Hyperplane<'_> {
        let larger = |best: usize, i: usize| {
            if normal[i].abs() > normal[best].abs() { i } else { best }
        };
        Hyperplane { normal, pivot: (0..normal.len()).fold(0, larger) }
    }

    /// The functional w -> x · w on the hyperplane. It is 0 if x is parallel to the normal.
    fn restrict(&self, x: &[f64]) -> Vec<f64> {
        let ratio = x[self.pivot] / self.normal[self.pivot];
        let mut rest: Vec<f64> = x.iter().zip(self.normal).map(|(x, a)| x - ratio * a).collect();
        rest.remove(self.pivot);
        if norm(&rest) <= MAX_PARALLEL_SHARE * norm(x) {
            rest.fill(0.0);
        }
        rest
    }

    /// The vector of the hyperplane with the given coordinates, scaled to norm 1 unless it is 0.
    fn lift(&self, within: &[f64]) -> Vec<f64> {
        let mut w = within.to_vec();
        w.insert(self.pivot, 0.0);
        w[self.pivot] = -kernels::dot(&w, self.normal) / self.normal[self.pivot];
        let length = norm(&w);
        if length > 0.0 {
            w.iter_mut().for_each(|v| *v /= length);
        }
        w
    }

    /// A vector next to `on`, close enough that both are on the same side of the hyperplane of each row of `others`.
    fn next_to(&self, on: &[f64], side: f64, others: &[Vec<f64>]) -> Vec<f64> {
        let length = norm(self.normal);
        let step = |x: &Vec<f64>| {
            let across = kernels::dot(x, self.normal).abs() / length;
            if across > 0.0 { 0.5 * kernels::dot(x, on).abs() / across } else { f64::INFINITY }
        };
        let step = others.iter().map(step).fold(1.0, f64::min);
        let mut w = on.to_vec();
        kernels::axpy(side * step / length, self.normal, &mut w);
        w
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_data::{Gaussian, Marginal, StudentT, UnitSphere};
    use halfspaces_linalg::Classifier;

    fn list(points: &Points) -> Dichotomies {
        Dichotomies::new(points).unwrap()
    }

    #[test]
    fn points_in_general_position_have_as_many_as_cover_counts() {
        for (n, d) in [(1, 1), (1, 3), (2, 3), (40, 2), (128, 2), (12, 3), (30, 3), (12, 4), (9, 5)]
        {
            for seed in 0..3 {
                let expected = Dichotomies::in_general_position(n, d) as usize;
                assert_eq!(
                    list(&Gaussian::new(d, 1.0).unwrap().sample(n, seed).unwrap()).len(),
                    expected
                );
                let heavy = StudentT::new(d, 1.0, 1.0).unwrap().sample(n, seed).unwrap();
                assert_eq!(list(&heavy).len(), expected, "n = {n}, d = {d}");
            }
        }
    }

    /// The labels of many random halfspaces are all listed, and each listed halfspace produces its listed labels.
    #[test]
    fn no_labelling_is_missing_and_each_has_its_halfspace() {
        let points = Gaussian::new(3, 1.0).unwrap().sample(9, 4).unwrap();
        let listed = list(&points);
        let labels: Vec<_> = listed.labels().collect();
        for (w, labels) in listed.halfspaces().unwrap().iter().zip(&labels) {
            assert_eq!(w.label_all(&points).unwrap(), *labels);
        }
        for w in UnitSphere::new(3).unwrap().sample(5000, 5).unwrap().rows() {
            let w = Halfspace::new(w.as_slice().to_vec()).unwrap();
            assert!(labels.contains(&w.label_all(&points).unwrap()));
        }
    }

    /// There are 4, 14, 104 and 1882 threshold functions of n = 1, 2, 3 and 4 variables (Muroga 1971). Kakade's printed
    /// bound 2^(n²) requires n >= 2.
    #[test]
    fn the_cube_has_as_many_threshold_functions_as_are_known() {
        for (n, known) in [(1, 4), (2, 14), (3, 104), (4, 1882)] {
            let corner = |bits: usize| {
                let coordinates = (0..n).map(|i| (bits >> i & 1) as f64);
                coordinates.chain([1.0]).collect::<Vec<f64>>()
            };
            let corners: Vec<_> = (0..1usize << n).map(corner).collect();
            let count = list(&Points::from_rows(&corners).unwrap()).len();
            assert_eq!(count, known, "n = {n}");
            assert_eq!(count <= 1 << (n * n), n >= 2);
        }
    }

    #[test]
    fn parallel_points_share_a_hyperplane() {
        let points =
            Points::from_rows(&[[1.0, 0.5], [-2.0, -1.0], [1.0, 0.5], [0.1, 1.0]]).unwrap();
        let listed = list(&points);
        assert_eq!(listed.len(), 4);
        for labels in listed.labels() {
            assert!(labels[0] == labels[2] && labels[0] != labels[1]);
        }
    }

    #[test]
    fn what_cannot_be_listed_is_refused() {
        let fault = |rows: &[[f64; 2]]| Dichotomies::new(&Points::from_rows(rows).unwrap());
        let zero = fault(&[[1.0, 0.0], [0.0, 0.0]]).unwrap_err();
        assert_eq!(zero, OnlineError::Input(InputError::ZeroRow { row: 1 }));
        let huge = fault(&[[1e200, 0.0]]).unwrap_err();
        assert_eq!(huge, OnlineError::Input(InputError::Overflow { row: 0 }));
        let tiny = fault(&[[1e-200, 0.0]]).unwrap_err();
        assert_eq!(tiny, OnlineError::Input(InputError::Underflow { row: 0 }));
        let close = fault(&[[1.0, 0.0], [1.0, 1e-11]]).unwrap_err();
        assert!(matches!(close, OnlineError::Unresolved { .. }), "{close}");
        assert_eq!(list(&Points::from_rows(&[[1.0, 0.0], [1.0, 1e-9]]).unwrap()).len(), 4);
        let many = Gaussian::new(6, 1.0).unwrap().sample(30, 1).unwrap();
        let many = Dichotomies::new(&many).unwrap_err();
        assert!(matches!(many, OnlineError::TooManyDichotomies { .. }));
        let none = Gaussian::new(2, 1.0).unwrap().sample(0, 1).unwrap();
        assert_eq!(Dichotomies::new(&none).unwrap_err(), InputError::Empty.into());
    }
}
