//! The certificate of a subspace: which points lie in it, how clearly, and whether it is heavy.
//!
//! For n non-zero points whose span has dimension d, a subspace of dimension k that contains N of them is *heavy* if N
//! d > k n. Then the points cannot be brought into radially isotropic position: λmax(M) >= dN/(kn) and λmin(M) <= (1 -
//! N/n)/(1 - k/d) for every transform. If N d = k n, the position can be reached exactly only if another subspace
//! contains all the other points; otherwise it can only be approached (DKTZ23 §3).
//!
//! All numbers are computed from the original points: x is a member if ‖x - Px‖ <= tol ‖x‖ for the orthogonal
//! projection P, and the inequality is decided in integers. With weights, N and n are sums of weights, and sums whose
//! relative difference is at most 1e-12 count as equal.

use crate::error::ForsterError;
use halfspaces_linalg::{
    DensePoints, InputError, PointSet, Points, Threads, getters, kernels, norm, normalise,
};
use std::cmp::Ordering;

/// Number of points per task.
const BLOCK: usize = 4096;
/// Maximum relative difference between two sums of weights that may be due to rounding alone.
const WEIGHT_ROUNDING: f64 = 1e-12;
/// Maximum deviation of the inner products of a basis from 0 and 1.
pub(crate) const ORTHONORMAL: f64 = 1e-9;
/// Integers up to this value are exact in `f64`.
const EXACT_INTEGERS: f64 = 9_007_199_254_740_992.0;

/// The certificate of a subspace: which points lie in it, how clearly, and whether it is heavy.
///
/// *What it computes.* The members, with ‖x - Px‖ <= tol ‖x‖ for the orthogonal projection P; the largest residual of a
/// member and the smallest residual of a point outside; and whether N d > k n, where N of n non-zero points lie in k of
/// the d dimensions of their span. The comparison is made in integers or, with weights, on sums of weights, which count
/// as equal if their relative difference is at most 1e-12. *Guarantee.* If the subspace is heavy, λmax(M) >= dN/(kn)
/// and λmin(M) <= (1 - N/n)/(1 - k/d) for every transform, so radially isotropic position is impossible (DKTZ23 §3).
/// `span_dim` is taken as given, not recomputed. *Cost:* O(n d k) time. *When to use it:* to check a subspace, however
/// it was found; [`Forster::fit`](crate::Forster::fit) finds one. *Claims:* F1, F2.
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
pub struct Subspace {
    basis: Points,
    span_dim: usize,
    /// Number of points, including zeros and non-members.
    points: usize,
    members: Vec<usize>,
    largest_inside: f64,
    smallest_outside: Option<f64>,
    weight_inside: f64,
    weight: f64,
}

/// Checks that the rows are orthonormal within 1e-9.
pub(crate) fn check_orthonormal(basis: &Points) -> Result<(), ForsterError> {
    if basis.is_empty() || basis.len() > basis.dim() {
        return Err(ForsterError::Stored {
            what: "the basis has no rows or more rows than columns",
        });
    }
    for (i, a) in basis.rows().enumerate() {
        for (j, b) in basis.rows().enumerate().take(i + 1) {
            let expected = if i == j { 1.0 } else { 0.0 };
            let product = kernels::dot(a.as_slice(), b.as_slice());
            // A product that overflows is rejected too.
            let off = (product - expected).abs();
            if off.is_nan() || off > ORTHONORMAL {
                return Err(ForsterError::Stored { what: "the basis is not orthonormal" });
            }
        }
    }
    Ok(())
}

/// Compares N d with k n, in integers if both weights are integers.
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

/// The relative residual ‖x - Px‖/‖x‖ of x, for the projection P onto the span of the orthonormal rows of `basis`, or
/// `None` for a zero x. `unit` and `outside` are scratch space of the length of x. For the whole space the residual is 0.
pub(crate) fn residual(
    basis: &Points,
    x: &[f64],
    unit: &mut [f64],
    outside: &mut [f64],
) -> Option<f64> {
    if basis.len() == basis.dim() {
        return x.iter().any(|v| *v != 0.0).then_some(0.0);
    }
    unit.copy_from_slice(x);
    if !normalise(unit) {
        return None;
    }
    outside.copy_from_slice(unit);
    for v in basis.rows() {
        kernels::axpy(-kernels::dot(v.as_slice(), unit), v.as_slice(), outside);
    }
    Some(norm(outside).min(1.0))
}

impl Subspace {
    /// Computes the certificate of the subspace spanned by the orthonormal rows of `basis` for n × d `points`, whose
    /// span is stated to have dimension `span_dim`. Zero points count neither as inside nor as outside. `tolerance` is
    /// the maximum residual ‖x - Px‖/‖x‖ of a member x.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`ForsterError::WeightCount`], [`ForsterError::Weight`],
    /// [`ForsterError::NoDirection`]; [`ForsterError::Stored`] for a basis that is not orthonormal;
    /// [`InputError::ParameterOutOfRange`] for a `span_dim` that is not between the number of rows of the basis and d,
    /// or a tolerance outside [0, 1).
    pub fn certify(
        points: &DensePoints<'_>,
        weights: Option<&[f64]>,
        basis: Points,
        span_dim: usize,
        tolerance: f64,
    ) -> Result<Subspace, ForsterError> {
        Subspace::certify_on(points, weights, basis, span_dim, tolerance, Threads::ONE)
    }

    /// Same as [`Subspace::certify`], on several threads. The result does not depend on their number.
    pub(crate) fn certify_on(
        points: &DensePoints<'_>,
        weights: Option<&[f64]>,
        basis: Points,
        span_dim: usize,
        tolerance: f64,
        threads: Threads,
    ) -> Result<Subspace, ForsterError> {
        InputError::check_dim(points.dim(), basis.dim())?;
        crate::prepare::check_weights(points.len(), weights)?;
        check_orthonormal(&basis)?;
        let in_range = (basis.len()..=basis.dim()).contains(&span_dim);
        let between = "between the numbers of rows and columns of the basis";
        InputError::check_parameter("span_dim", span_dim as f64, in_range, between)?;
        let in_range = (0.0..1.0).contains(&tolerance);
        InputError::check_parameter("tolerance", tolerance, in_range, "at least 0 and below 1")?;

        let mut certificate = Subspace {
            basis,
            span_dim,
            points: points.len(),
            members: Vec::new(),
            largest_inside: 0.0,
            smallest_outside: None,
            weight_inside: 0.0,
            weight: 0.0,
        };
        let blocks = threads.map_with(
            points.as_slice().chunks(BLOCK * points.dim()),
            || (vec![0.0; points.dim()], vec![0.0; points.dim()]),
            |(unit, outside), rows| -> Vec<Option<f64>> {
                let rows = rows.chunks_exact(points.dim());
                rows.map(|x| residual(&certificate.basis, x, unit, outside)).collect()
            },
        );
        for (i, residual) in blocks.into_iter().flatten().enumerate() {
            // Zero points have no direction.
            let Some(residual) = residual else { continue };
            let weight = weights.map_or(1.0, |weights| weights[i]);
            certificate.weight += weight;
            if residual <= tolerance {
                certificate.members.push(i);
                certificate.weight_inside += weight;
                certificate.largest_inside = certificate.largest_inside.max(residual);
            } else {
                let smallest = certificate.smallest_outside;
                certificate.smallest_outside = Some(smallest.map_or(residual, |s| s.min(residual)));
            }
        }
        if certificate.weight == 0.0 {
            return Err(ForsterError::NoDirection { points: points.len() });
        }
        Ok(certificate)
    }

    /// Orthonormal rows, k × d, that span the subspace.
    #[must_use]
    pub fn basis(&self) -> &Points {
        &self.basis
    }

    /// Dimension k of the subspace.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.basis.len()
    }

    getters! {
        /// Dimension d of the span of all points, used in the inequality.
        span_dim: usize,

        /// Number of points that were checked, including zero points.
        points: usize,

        /// Indices of the points inside, in ascending order.
        members: &[usize],

        /// Largest residual ‖x - Px‖/‖x‖ of a member; 0 if there are no members.
        largest_inside: f64,

        /// Smallest residual of a point outside the subspace; `None` if there is no such point.
        smallest_outside: Option<f64>,

        /// The number N of points inside, or the sum of their weights.
        weight_inside: f64,

        /// The number n of non-zero points, or the sum of their weights.
        weight: f64,
    }

    /// Whether N d > k n, so that the points cannot be brought into radially isotropic position on their whole span.
    #[must_use]
    pub fn is_heavy(&self) -> bool {
        self.compare() == Ordering::Greater
    }

    /// Whether N d = k n with k < d. In this boundary case, radially isotropic position may be reached only in the
    /// limit.
    #[must_use]
    pub fn is_boundary(&self) -> bool {
        self.dim() < self.span_dim && self.compare() == Ordering::Equal
    }

    /// The excess N/n - k/d.
    #[must_use]
    pub fn excess(&self) -> f64 {
        self.weight_inside / self.weight - self.dim() as f64 / self.span_dim as f64
    }

    /// Replaces member i by `names[i]`, its index among all `points` points. The `names` must be in ascending order.
    pub(crate) fn rename_members(&mut self, names: &[usize], points: usize) {
        self.members.iter_mut().for_each(|i| *i = names[*i]);
        self.points = points;
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
        // A difference of one point counts even among 6e15 points, because the numbers are below 2^53.
        assert_eq!(compare_mass(3e15 + 1.0, 1, 6e15, 2), Ordering::Greater);
        assert_eq!(compare_mass(3e15 - 1.0, 1, 6e15, 2), Ordering::Less);
        // These sums of weights are equal up to rounding.
        let third = 0.1 + 0.2;
        assert_eq!(compare_mass(third, 1, 0.6, 2), Ordering::Equal);
        assert_eq!(compare_mass(0.3001, 1, 0.6, 2), Ordering::Greater);
        for (share, expected) in [(0.9e-12, Ordering::Equal), (1.1e-12, Ordering::Greater)] {
            assert_eq!(compare_mass(0.25 * (1.0 + share), 2, 0.5, 4), expected, "{share}");
        }
        assert_eq!(compare_mass(0.25 * (1.0 - 1.1e-12), 2, 0.5, 4), Ordering::Less);
    }

    #[test]
    fn bases_are_orthonormal_within_rounding() {
        let tilted = |off: f64| Points::from_rows(&[[1.0, 0.0], [off, 1.0]]).unwrap();
        assert!(check_orthonormal(&tilted(0.9e-9)).is_ok());
        assert!(check_orthonormal(&tilted(1.1e-9)).is_err());
        let long = |off: f64| Points::from_rows(&[[1.0 + 0.5 * off, 0.0]]).unwrap();
        assert!(
            check_orthonormal(&long(0.9e-9)).is_ok() && check_orthonormal(&long(-0.9e-9)).is_ok()
        );
        assert!(
            check_orthonormal(&long(1.1e-9)).is_err() && check_orthonormal(&long(-1.1e-9)).is_err()
        );
    }

    #[test]
    fn residuals_are_distances_of_unit_vectors() {
        // The subspace is a randomly rotated plane in R^4, and the points are at given angles to it.
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

    /// 3/4 of the points lie in one of the two dimensions that they span.
    #[test]
    fn the_excess_is_over_the_share_of_the_span() {
        let row = |i: usize| if i < 3 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
        let points = Points::from_rows(&[0, 1, 2, 3].map(row)).unwrap();
        let axis = Points::from_rows(&[[1.0, 0.0, 0.0]]).unwrap();
        let line = Subspace::certify(&points, None, axis, 2, 1e-10).unwrap();
        assert_eq!(line.excess(), 0.25);
    }

    #[test]
    fn the_whole_span_is_no_boundary() {
        let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        let plane = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        let whole = Subspace::certify(&points, None, plane, 2, 1e-10).unwrap();
        assert!(!whole.is_boundary() && !whole.is_heavy());
        let axis = Points::from_rows(&[[1.0, 0.0]]).unwrap();
        assert!(Subspace::certify(&points, None, axis, 2, 1e-10).unwrap().is_boundary());
    }

    #[test]
    fn a_tolerance_is_reached_at_its_value() {
        let points = Points::from_rows(&[[2.0, 0.0], [0.0, 1.0]]).unwrap();
        let axis = Points::from_rows(&[[1.0, 0.0]]).unwrap();
        let exact = Subspace::certify(&points, None, axis, 2, 0.0).unwrap();
        assert_eq!((exact.members(), exact.largest_inside()), (&[0][..], 0.0));
    }
}
