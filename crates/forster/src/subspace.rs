//! The certificate of a subspace: which points lie in it, how surely, and whether it is heavy.
//!
//! For n non-zero points whose span has dimension d, a subspace of dimension k with N of them in it
//! is *heavy* when N d > k n. Then the points cannot be brought into radially isotropic position:
//! λmax(M) >= dN/(kn) and λmin(M) <= (1 - N/n)/(1 - k/d) for every transform. With N d = k n they
//! can only if another subspace holds all the rest, and approached otherwise (DKTZ23 §3).
//!
//! All numbers are computed here from the points as given: membership is ‖x - Px‖ <= tol ‖x‖ for the
//! orthogonal projection P, and the inequality is decided in integers (with weights, N and n are
//! sums of weights, and sums within 1e-12 of equality count as equal).

use crate::error::ForsterError;
use halfspaces_linalg::{InputError, PointSet, Points, kernels, norm, normalise, zeros};
use std::cmp::Ordering;

/// Relative difference of two sums of weights that their rounding explains.
const WEIGHT_ROUNDING: f64 = 1e-12;
/// How far the inner products of a basis may be from 0 and 1.
pub(crate) const ORTHONORMAL: f64 = 1e-9;
/// Largest integer up to which `f64` counts exactly.
const EXACT_INTEGERS: f64 = 9_007_199_254_740_992.0;

/// A subspace of R^d with the points that lie in it.
///
/// ```
/// use halfspaces_forster::Subspace;
/// use halfspaces_linalg::Points;
/// let points = Points::from_rows(&[[5.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])?;
/// let axis = Points::from_rows(&[[1.0, 0.0]])?;
/// let certificate = Subspace::certify(&points, None, axis, 2, 1e-10)?;
/// assert_eq!(certificate.members(), [0, 1]);
/// assert!(certificate.is_heavy()); // 2 of 3 points in 1 of 2 dimensions
/// assert_eq!((certificate.largest_inside(), certificate.smallest_outside()), (0.0, Some(1.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "RawSubspace"))]
pub struct Subspace {
    basis: Points,
    span_dim: usize,
    members: Vec<usize>,
    largest_inside: f64,
    smallest_outside: Option<f64>,
    weight_inside: f64,
    weight: f64,
}

/// What a [`Subspace`] looks like before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct RawSubspace {
    basis: Points,
    span_dim: usize,
    members: Vec<usize>,
    largest_inside: f64,
    smallest_outside: Option<f64>,
    weight_inside: f64,
    weight: f64,
}

#[cfg(feature = "serde")]
impl TryFrom<RawSubspace> for Subspace {
    type Error = ForsterError;

    fn try_from(raw: RawSubspace) -> Result<Subspace, ForsterError> {
        let RawSubspace { basis, span_dim, members, weight_inside, weight, .. } = raw;
        check_orthonormal(&basis)?;
        let broken = |what| Err(ForsterError::Stored { what });
        if span_dim < basis.len() || span_dim > basis.dim() {
            return broken("the span's dimension does not lie between subspace and space");
        }
        if !members.is_sorted_by(|a, b| a < b) {
            return broken("the members are not in order");
        }
        let residuals = [raw.largest_inside, raw.smallest_outside.unwrap_or(0.0)];
        if residuals.iter().any(|r| !(0.0..=1.0 + ORTHONORMAL).contains(r)) {
            return broken("a residual is not between 0 and 1");
        }
        if !(0.0 < weight_inside && weight_inside <= weight && weight.is_finite()) {
            return broken("the weights inside and in all are not in order");
        }
        let (largest_inside, smallest_outside) = (raw.largest_inside, raw.smallest_outside);
        let weights = (weight_inside, weight);
        Ok(Subspace {
            basis,
            span_dim,
            members,
            largest_inside,
            smallest_outside,
            weight_inside: weights.0,
            weight: weights.1,
        })
    }
}

/// `Ok` if the rows are orthonormal within 1e-9.
pub(crate) fn check_orthonormal(basis: &Points) -> Result<(), ForsterError> {
    if basis.is_empty() || basis.len() > basis.dim() {
        return Err(ForsterError::Stored { what: "a basis has no rows or more rows than columns" });
    }
    for (i, a) in basis.rows().enumerate() {
        for (j, b) in basis.rows().enumerate().take(i + 1) {
            let expected = if i == j { 1.0 } else { 0.0 };
            let product = kernels::dot(a.as_slice(), b.as_slice());
            // A product that overflows is refused with the rest.
            let off = (product - expected).abs();
            if off.is_nan() || off > ORTHONORMAL {
                return Err(ForsterError::Stored { what: "a basis is not orthonormal" });
            }
        }
    }
    Ok(())
}

/// How N d compares with k n, in integers where both weights are integers.
pub(crate) fn compare_mass(inside: f64, k: usize, total: f64, d: usize) -> Ordering {
    let integer = |w: f64| w.fract() == 0.0 && w <= EXACT_INTEGERS;
    if integer(inside) && integer(total) {
        return (inside as u128 * d as u128).cmp(&(total as u128 * k as u128));
    }
    let (left, right) = (inside * d as f64, total * k as f64);
    if (left - right).abs() <= WEIGHT_ROUNDING * left.max(right) {
        Ordering::Equal
    } else {
        left.total_cmp(&right)
    }
}

impl Subspace {
    /// Computes the certificate of the subspace spanned by the orthonormal rows of `basis` for
    /// n × d `points`, whose span is stated to have dimension `span_dim`. Zero points count neither
    /// inside nor outside. `tolerance` is the residual ‖x - Px‖/‖x‖ up to which x is a member.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`ForsterError::WeightCount`], [`ForsterError::Weight`],
    /// [`ForsterError::NoDirection`]; [`ForsterError::Stored`] for a basis that is not orthonormal;
    /// [`InputError::ParameterOutOfRange`] for a `span_dim` not between its rows and d, or a
    /// tolerance not in [0, 1).
    pub fn certify(
        points: &Points,
        weights: Option<&[f64]>,
        basis: Points,
        span_dim: usize,
        tolerance: f64,
    ) -> Result<Subspace, ForsterError> {
        InputError::check_dim(points.dim(), basis.dim())?;
        crate::prepare::check_weights(points.len(), weights)?;
        check_orthonormal(&basis)?;
        let in_range = (basis.len()..=basis.dim()).contains(&span_dim);
        let between = "between the rows and the columns of the basis";
        InputError::check_parameter("span_dim", span_dim as f64, in_range, between)?;
        let in_range = (0.0..1.0).contains(&tolerance);
        InputError::check_parameter("tolerance", tolerance, in_range, "at least 0 and below 1")?;

        let mut certificate = Subspace {
            basis,
            span_dim,
            members: Vec::new(),
            largest_inside: 0.0,
            smallest_outside: None,
            weight_inside: 0.0,
            weight: 0.0,
        };
        let (mut unit, mut rest) = (zeros(1, points.dim())?, zeros(1, points.dim())?);
        for (i, x) in points.rows().enumerate() {
            let residual = certificate.residual(x.as_slice(), &mut unit, &mut rest);
            let Some(residual) = residual else { continue };
            let weight = weights.and_then(|w| w.get(i)).copied().unwrap_or(1.0);
            certificate.weight += weight;
            if residual <= tolerance {
                certificate.members.push(i);
                certificate.weight_inside += weight;
                certificate.largest_inside = certificate.largest_inside.max(residual);
            } else {
                let smallest = certificate.smallest_outside.unwrap_or(f64::INFINITY);
                certificate.smallest_outside = Some(smallest.min(residual));
            }
        }
        if certificate.weight == 0.0 {
            return Err(ForsterError::NoDirection { points: points.len() });
        }
        Ok(certificate)
    }

    /// ‖x - Px‖/‖x‖, or `None` for a zero x; `unit` and `rest` are scratch of the length of x. The
    /// whole space has no outside.
    fn residual(&self, x: &[f64], unit: &mut [f64], rest: &mut [f64]) -> Option<f64> {
        if self.basis.len() == self.basis.dim() {
            return x.iter().any(|v| *v != 0.0).then_some(0.0);
        }
        unit.copy_from_slice(x);
        if !normalise(unit) {
            return None;
        }
        rest.copy_from_slice(unit);
        for v in self.basis.rows() {
            kernels::axpy(-kernels::dot(v.as_slice(), unit), v.as_slice(), rest);
        }
        Some(norm(rest).min(1.0))
    }

    /// k × d orthonormal rows that span the subspace.
    #[must_use]
    pub fn basis(&self) -> &Points {
        &self.basis
    }

    /// k.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.basis.len()
    }

    /// Dimension d of the span of all points, which the inequality speaks of.
    #[must_use]
    pub fn span_dim(&self) -> usize {
        self.span_dim
    }

    /// The points inside, by increasing index.
    #[must_use]
    pub fn members(&self) -> &[usize] {
        &self.members
    }

    /// Largest residual ‖x - Px‖/‖x‖ of a member; 0 without members.
    #[must_use]
    pub fn largest_inside(&self) -> f64 {
        self.largest_inside
    }

    /// Smallest residual of a point outside; `None` when there is none.
    #[must_use]
    pub fn smallest_outside(&self) -> Option<f64> {
        self.smallest_outside
    }

    /// N: how many points are inside, or their weight.
    #[must_use]
    pub fn weight_inside(&self) -> f64 {
        self.weight_inside
    }

    /// n: how many points there are, zeros not counted, or their weight.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Whether N d > k n: the points cannot be brought into position on their whole span.
    #[must_use]
    pub fn is_heavy(&self) -> bool {
        self.compare() == Ordering::Greater
    }

    /// Whether N d = k n with k < d: the boundary, where position may exist only in the limit.
    #[must_use]
    pub fn is_boundary(&self) -> bool {
        self.dim() < self.span_dim && self.compare() == Ordering::Equal
    }

    /// N/n - k/d.
    #[must_use]
    pub fn excess(&self) -> f64 {
        self.weight_inside / self.weight - self.dim() as f64 / self.span_dim as f64
    }

    /// Members as indices into a larger set of points: member i becomes `names[i]`, ascending.
    pub(crate) fn rename_members(&mut self, names: &[usize]) {
        self.members.iter_mut().for_each(|i| *i = names[*i]);
    }

    fn compare(&self) -> Ordering {
        compare_mass(self.weight_inside, self.dim(), self.weight, self.span_dim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_data::{Gaussian, Marginal, Rotation};

    #[test]
    fn the_inequality_is_decided_exactly() {
        assert_eq!(compare_mass(2.0, 2, 3.0, 3), Ordering::Equal);
        // One point more or less in 2^53.
        assert_eq!(compare_mass(3e15 + 1.0, 1, 6e15, 2), Ordering::Greater);
        assert_eq!(compare_mass(3e15 - 1.0, 1, 6e15, 2), Ordering::Less);
        // Sums of weights that are equal but for rounding.
        let third = 0.1 + 0.2;
        assert_eq!(compare_mass(third, 1, 0.6, 2), Ordering::Equal);
        assert_eq!(compare_mass(0.3001, 1, 0.6, 2), Ordering::Greater);
    }

    #[test]
    fn residuals_are_distances_of_unit_vectors() {
        // A plane in R^4 turned at random; points at stated angles from it.
        let rotation = Rotation::random(4, 1).unwrap();
        let angles = [0.0f64, 1e-12, 1e-9, 0.1, 1.0];
        let rows: Vec<[f64; 4]> =
            angles.iter().map(|a| [1e120 * a.cos(), 0.0, 1e120 * a.sin(), 0.0]).collect();
        let points = rotation.apply(&Points::from_rows(&rows).unwrap()).unwrap();
        let plane = Points::from_rows(&[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]).unwrap();
        let plane = rotation.apply(&plane).unwrap();
        let certify = |tol| Subspace::certify(&points, None, plane.clone(), 4, tol).unwrap();
        let loose = certify(1e-8);
        assert_eq!(loose.members(), [0, 1, 2]);
        assert!((loose.largest_inside() / 1e-9 - 1.0).abs() < 1e-5);
        assert!((loose.smallest_outside().unwrap() - 0.1f64.sin()).abs() < 1e-12);
        assert_eq!(certify(1e-10).members(), [0, 1]);
        assert!(!certify(1e-10).is_heavy() && !certify(1e-10).is_boundary());
        assert!((loose.excess() - 0.1).abs() < 1e-15);
    }

    #[test]
    fn bad_input_is_typed() {
        let points = Gaussian::new(3, 1.0).unwrap().sample(5, 1).unwrap();
        let e1 = || Points::from_rows(&[[1.0, 0.0, 0.0]]).unwrap();
        let certify = |basis, span, tol| Subspace::certify(&points, None, basis, span, tol);
        assert!(matches!(certify(e1(), 4, 0.1), Err(ForsterError::Input(_))));
        assert!(matches!(certify(e1(), 0, 0.1), Err(ForsterError::Input(_))));
        assert!(matches!(certify(e1(), 3, f64::NAN), Err(ForsterError::Input(_))));
        let long = Points::from_rows(&[[1e200, 0.0, 1e200]]).unwrap();
        assert!(matches!(certify(long, 3, 0.1), Err(ForsterError::Stored { .. })));
        let flat = Points::from_rows(&[[1.0, 0.0]]).unwrap();
        assert!(matches!(certify(flat, 2, 0.1), Err(ForsterError::Input(_))));
        let zero = Points::from_rows(&[[0.0; 3]]).unwrap();
        let none = Subspace::certify(&zero, None, e1(), 3, 0.1);
        assert_eq!(none, Err(ForsterError::NoDirection { points: 1 }));
    }
}
