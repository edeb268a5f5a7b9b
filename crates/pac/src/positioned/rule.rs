//! A rule of a positioned decision list: its region, and the labels in the region.
//!
//! *Source.* docs/theory/massart-without-margin.md, "Choice". Claims: PM, PMn, PMt.

use halfspaces_forster::ForsterTransform;
use halfspaces_linalg::{
    Halfspace, InputError, Label, PointSet, RowView, getters, kernels, load_checked, norm,
    normalise,
};

/// The region of a rule within its subspace, and the labels in the region.
///
/// ```
/// use halfspaces_linalg::{Halfspace, Label};
/// use halfspaces_pac::PositionedAnswer;
/// let direction = Halfspace::new(vec![0.6, 0.8])?;
/// let answer = PositionedAnswer::Halfspace { direction, threshold: 0.25 };
/// assert_ne!(answer, PositionedAnswer::Constant(Label::Positive));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum PositionedAnswer {
    /// The label sign(v·f(x)) for points with |v·f(x)| >= t.
    Halfspace {
        /// The direction v, in coordinates of the subspace.
        direction: Halfspace,
        /// The threshold t, which is at least 0.
        threshold: f64,
    },
    /// A constant label on the whole subspace.
    Constant(Label),
}

/// A rule (V, A, v, t). Points x of the subspace V with |v·f(x)| >= t get the label sign(v·f(x)), where f(x) = xA/‖xA‖
/// is the radially isotropic position. A rule may instead give all points of V the same label.
///
/// The point x belongs to V if ‖x - Px‖ <= tol ‖x‖, where P is the orthogonal projection onto V. If V has dimension k,
/// a rule takes O(dk) time per point.
///
/// ```
/// use halfspaces_forster::ForsterTransform;
/// use halfspaces_linalg::{Halfspace, Params, Points};
/// use halfspaces_pac::{PositionedAnswer, PositionedRule};
/// let points = Points::from_rows(&[[1000.0, 1.0], [1000.0, -1.0], [1000.0, 3.0]])?;
/// let transform = ForsterTransform::params().check()?.fit(&points)?.transform().clone();
/// let direction = Halfspace::new(vec![0.0, 1.0])?;
/// let rule = PositionedRule::new(transform, 1e-10, PositionedAnswer::Halfspace { direction, threshold: 0.5 })?;
/// assert_eq!((rule.dim(), rule.inner_dim()), (2, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PositionedRule {
    transform: ForsterTransform,
    membership: f64,
    answer: PositionedAnswer,
    /// The rows of Aᵀ, a k × d matrix.
    #[cfg_attr(feature = "serde", serde(skip))]
    columns: Vec<f64>,
}

load_checked! {
    PositionedRule {
        transform: ForsterTransform,
        membership: f64,
        answer: PositionedAnswer,
    } => PositionedRule::new
}

impl PositionedRule {
    /// Creates a rule from the transform of the subspace, the tolerance for membership in the subspace, and the answer.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`] if the direction and the subspace differ in dimension;
    /// [`InputError::ParameterOutOfRange`] for a tolerance outside [0, 1), or a threshold that is negative or not
    /// finite.
    pub fn new(
        transform: ForsterTransform,
        membership: f64,
        answer: PositionedAnswer,
    ) -> Result<PositionedRule, InputError> {
        let in_range = (0.0..1.0).contains(&membership);
        InputError::check_parameter("membership", membership, in_range, "at least 0, below 1")?;
        if let PositionedAnswer::Halfspace { direction, threshold } = &answer {
            InputError::check_dim(transform.inner_dim(), direction.dim())?;
            let in_range = *threshold >= 0.0 && threshold.is_finite();
            InputError::check_parameter("threshold", *threshold, in_range, "finite, at least 0")?;
        }
        let matrix = transform.matrix();
        let columns = matrix.col_iter().flat_map(|column| column.iter().copied()).collect();
        Ok(PositionedRule { transform, membership, answer, columns })
    }

    /// The dimension d of the points.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.transform.dim()
    }

    /// The dimension k of the subspace.
    #[must_use]
    pub fn inner_dim(&self) -> usize {
        self.transform.inner_dim()
    }

    getters! {
        /// The subspace V and the transform A of its points.
        transform: &ForsterTransform,

        /// The largest value of ‖x - Px‖/‖x‖ at which a point belongs to the subspace.
        membership: f64,

        /// The region in the subspace, and the labels in the region.
        answer: &PositionedAnswer,
    }

    /// Writes f(x) = xA/‖xA‖ into `scratch.placed`. Returns `false` if x is outside the subspace.
    pub(super) fn place(&self, scratch: &mut Scratch) -> bool {
        let (d, k) = (self.dim(), self.inner_dim());
        let Scratch { x, outside, placed } = scratch;
        if k < d {
            outside.clone_from(x);
            for b in self.transform.basis().rows() {
                kernels::axpy(-kernels::dot(outside, b.as_slice()), b.as_slice(), outside);
            }
            if norm(outside) > self.membership * norm(x) {
                return false;
            }
        }
        placed.clear();
        placed.extend(self.columns.chunks_exact(d).map(|column| kernels::dot(x, column)));
        // Vectors of V are not mapped to zero. If the image underflows, later rules decide the label.
        normalise(placed)
    }

    /// The decision value of the point with position `placed`; `None` if the rule does not cover the point.
    fn value_at(&self, placed: &[f64]) -> Option<f64> {
        match &self.answer {
            PositionedAnswer::Halfspace { direction, threshold } => {
                Some(kernels::dot(placed, direction.normal())).filter(|v| v.abs() >= *threshold)
            }
            PositionedAnswer::Constant(label) => Some(label.as_f64()),
        }
    }

    /// The decision value of the point in `scratch`; `None` if the rule does not cover the point.
    pub(super) fn value(&self, scratch: &mut Scratch) -> Option<f64> {
        if self.place(scratch) { self.value_at(&scratch.placed) } else { None }
    }
}

/// A dense, scaled point, and scratch memory for its radially isotropic position.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    /// The point, divided by its largest absolute entry.
    pub(super) x: Vec<f64>,
    outside: Vec<f64>,
    /// The position f(x), written by [`PositionedRule::place`].
    placed: Vec<f64>,
}

impl Scratch {
    /// The position f(x), written by [`PositionedRule::place`].
    pub(super) fn placed(&self) -> &[f64] {
        &self.placed
    }

    /// Loads a point. Returns `false` for the origin, which no rule covers.
    pub(super) fn load<R: RowView>(&mut self, x: R) -> bool {
        self.x.clear();
        self.x.resize(x.dim(), 0.0);
        let mut largest = 0.0f64;
        for (column, value) in x.entries() {
            self.x[column] = value;
            largest = largest.max(value.abs());
        }
        if largest == 0.0 {
            return false;
        }
        self.x.iter_mut().for_each(|v| *v /= largest);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{DenseRow, Params, Points};

    /// A plane of R³ that contains most points. It is not parallel to the axes.
    fn plane() -> ForsterTransform {
        let rows = [
            [1.0, 0.0, 1.0],
            [0.0, 1.0, 0.0],
            [1.0, 1.0, 1.0],
            [1.0, -2.0, 1.0],
            [3.0, 1.0, 3.0],
            [1.0, 0.0, 0.0],
        ];
        let points = Points::from_rows(&rows).unwrap();
        let fit = ForsterTransform::params().check().unwrap().fit(&points).unwrap();
        assert_eq!(fit.position().subspace.members(), [0, 1, 2, 3, 4]);
        fit.transform().clone()
    }

    fn value(rule: &PositionedRule, x: &[f64]) -> Option<f64> {
        let mut scratch = Scratch::default();
        assert!(scratch.load(DenseRow::new(x).unwrap()));
        rule.value(&mut scratch)
    }

    #[test]
    fn a_rule_places_points_as_its_transform_does() {
        let transform = plane();
        let v = vec![0.6, -0.8];
        let answer = |threshold| PositionedAnswer::Halfspace {
            direction: Halfspace::new(v.clone()).unwrap(),
            threshold,
        };
        let x = [2.0, 5.0, 2.0];
        let placed = transform.apply_row(&x).unwrap();
        let expected = kernels::dot(&placed, &v);
        let rule = |t| PositionedRule::new(transform.clone(), 1e-10, answer(t)).unwrap();
        assert!((value(&rule(0.0), &x).unwrap() - expected).abs() < 1e-14);
        // The length of a point does not matter, even if its square overflows.
        for scale in [1e-300, 1e300] {
            let x = x.map(|v| v * scale);
            assert!((value(&rule(0.0), &x).unwrap() - expected).abs() < 1e-14);
        }
        // The region includes its threshold.
        let exact = value(&rule(0.0), &x).unwrap();
        assert_eq!(value(&rule(exact.abs()), &x), Some(exact));
        assert_eq!(value(&rule(exact.abs() * (1.0 + 1e-15)), &x), None);
        // These points are at relative distances 1e-11 and 1e-9 from the plane.
        let off = |by: f64| [1.0 + by, 0.0, 1.0 - by];
        assert!(value(&rule(0.0), &off(1e-11)).is_some());
        assert_eq!(value(&rule(0.0), &off(1e-9)), None);
        let constant = PositionedAnswer::Constant(Label::Negative);
        let constant = PositionedRule::new(transform, 1e-10, constant).unwrap();
        assert_eq!(value(&constant, &x), Some(-1.0));
        assert_eq!(value(&constant, &[1.0, 0.0, 0.0]), None);
    }

    #[test]
    fn the_origin_has_no_place() {
        assert!(!Scratch::default().load(DenseRow::new(&[0.0, 0.0]).unwrap()));
    }

    #[test]
    fn bad_rules_are_refused() {
        let rule = |membership, direction: &[f64], threshold| {
            let direction = Halfspace::new(direction.to_vec()).unwrap();
            let answer = PositionedAnswer::Halfspace { direction, threshold };
            PositionedRule::new(plane(), membership, answer)
        };
        assert!(rule(0.0, &[1.0, 0.0], 0.0).is_ok());
        assert!(rule(1.0, &[1.0, 0.0], 0.0).is_err());
        assert!(rule(-1e-9, &[1.0, 0.0], 0.0).is_err());
        assert!(rule(0.0, &[1.0, 0.0, 0.0], 0.0).is_err());
        for threshold in [-0.1, f64::NAN, f64::INFINITY] {
            assert!(rule(0.0, &[1.0, 0.0], threshold).is_err());
        }
    }
}
