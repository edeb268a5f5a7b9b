//! The transform x -> Aᵀx/‖Aᵀx‖. It maps points, maps halfspaces in both directions, provides a scatter matrix, and can
//! be saved.
//!
//! Points are rows, so U = XA. On a subspace V with orthonormal basis rows B (k × d), the map is A = BᵀL with a k × k
//! lower triangle L: it projects onto V and then applies L. Halfspaces are transformed together with the points: w̃ =
//! L⁻¹Bw (A⁻¹w if V is the whole space) has sign(w̃·u) = sign(w·x) for x in V, and the inverse map is w = A w̃. In
//! DKTZ23 §3, points are columns, so the maps are x -> Ax and w -> A⁻ᵀw.
//!
//! *Tyler's M-estimator* of scatter is (AAᵀ)⁻¹ up to scale: Σ = (d/n) Σ x xᵀ/(xᵀΣ⁻¹x).
//!
//! Claims: F2, S7, S8.

use crate::dense::{inverse_lower, product};
use crate::error::ForsterError;
use crate::prepare::rescale;
use crate::subspace::check_orthonormal;
use crate::tile::{Factor, UnitProduct, padded, tile_rows};
use faer::{Mat, MatRef};
use halfspaces_linalg::kernels::run_fused;
use halfspaces_linalg::{
    DensePoints, Halfspace, InputError, PointSet, Points, aligned_zeros, zeros,
};

/// The scale of [`ForsterTransform::scatter`]; radially isotropic position determines the scatter matrix only up to a
/// factor.
///
/// ```
/// use halfspaces_forster::{ForsterTransform, Normalisation};
/// use halfspaces_linalg::{Params, Points};
/// let points = Points::from_rows(&[[1.0, 0.0], [0.3, 2.0], [-0.3, 2.0], [1.0, 1.0]])?;
/// let fit = ForsterTransform::params().check()?.fit(&points)?;
/// let scatter = fit.transform().scatter(Normalisation::Trace);
/// assert!((scatter[(0, 0)] + scatter[(1, 1)] - 2.0).abs() < 1e-12);
/// let scatter = fit.transform().scatter(Normalisation::Determinant);
/// let determinant = scatter[(0, 0)] * scatter[(1, 1)] - scatter[(0, 1)].powi(2);
/// assert!((determinant - 1.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Normalisation {
    /// The trace is k, the dimension of the subspace.
    Trace,
    /// The determinant (on the subspace) is 1.
    Determinant,
}

/// A linear map from a subspace V of R^d to R^k, where k = dim V, followed by scaling to norm 1. It brings points into
/// radially isotropic position.
///
/// *What it computes.* The unit vectors u = Aᵀx/‖Aᵀx‖ ([`apply`](Self::apply)); the halfspace of R^k that gives u the
/// label that a halfspace of R^d gives x ([`halfspace_inside`](Self::halfspace_inside), with the inverse
/// [`halfspace_outside`](Self::halfspace_outside)); and Tyler's M-estimator of scatter, (AAᵀ)⁻¹
/// ([`scatter`](Self::scatter)). *Guarantee.* The labels of points of V are preserved, up to rounding. The
/// [`Isotropy`](crate::Isotropy) of a fit measures how isotropic the result is. On elliptical data with arbitrary
/// tails, the error of the scatter decreases like 1/√n. *Cost:* O(n d k) time per application, O(d k) memory. *When not
/// to use it:* for points outside V, because they are projected onto V and their labels may change. *Source:* DKTZ23
/// §3; Tyler 1987. *Claims:* F1, F3, F4.
///
/// ```
/// use halfspaces_linalg::{Classifier, Params};
/// use halfspaces_data::{Gaussian, Marginal, random_target};
/// use halfspaces_forster::{ForsterTransform, Isotropy};
/// let points = Gaussian::new(3, 1000.0)?.sample(400, 1)?;
/// let fit = ForsterTransform::params().check()?.fit(&points)?;
/// let transform = fit.transform();
/// let round = transform.apply(&points)?;
/// assert!(Isotropy::measure(&round)?.holds_within(1e-6));
/// // The transformed halfspace gives the transformed points the labels of the original points.
/// let target = random_target(3, 2)?;
/// let inside = transform.halfspace_inside(&target)?;
/// assert_eq!(inside.label_all(&round)?, target.label_all(&points)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "RawTransform", into = "RawTransform"))]
pub struct ForsterTransform {
    /// The orthonormal rows of B, k × d.
    basis: Points,
    /// The lower triangle L, k × k.
    factor: Mat<f64>,
    inverse: Mat<f64>,
    /// The matrix A = BᵀL, d × k.
    matrix: Mat<f64>,
}

/// The saved form of a [`ForsterTransform`].
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
struct RawTransform {
    basis: Points,
    /// The rows of L, including zeros.
    factor: Vec<f64>,
}

#[cfg(feature = "serde")]
impl From<ForsterTransform> for RawTransform {
    fn from(transform: ForsterTransform) -> RawTransform {
        let factor = transform.factor.row_iter().flat_map(|row| row.iter().copied()).collect();
        RawTransform { basis: transform.basis, factor }
    }
}

#[cfg(feature = "serde")]
impl TryFrom<RawTransform> for ForsterTransform {
    type Error = ForsterError;

    fn try_from(raw: RawTransform) -> Result<ForsterTransform, ForsterError> {
        if raw.basis.is_empty() {
            return Err(InputError::Empty.into());
        }
        let factor = Points::new(raw.factor, raw.basis.len())?;
        InputError::check_dim(raw.basis.len(), factor.len())?;
        ForsterTransform::new(raw.basis, factor.as_mat().to_owned())
    }
}

impl ForsterTransform {
    /// Creates the transform with the given orthonormal rows and lower triangle.
    pub(crate) fn new(basis: Points, factor: Mat<f64>) -> Result<Self, ForsterError> {
        check_orthonormal(&basis)?;
        let k = factor.nrows();
        let triangular = (0..k).all(|i| (i + 1..k).all(|j| factor[(i, j)] == 0.0));
        let invertible = (0..k).all(|i| factor[(i, i)] != 0.0);
        if !triangular || !invertible {
            return Err(ForsterError::Stored {
                what: "the factor is not an invertible lower triangle",
            });
        }
        let inverse = inverse_lower(factor.as_ref());
        let matrix = product(basis.as_mat().transpose(), factor.as_ref());
        if !inverse.is_all_finite() || !matrix.is_all_finite() {
            return Err(ForsterError::Stored { what: "the inverse of the factor overflows" });
        }
        Ok(ForsterTransform { basis, factor, inverse, matrix })
    }

    /// Dimension d of the points.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.basis.dim()
    }

    /// Dimension k of the subspace and of the transformed points.
    #[must_use]
    pub fn inner_dim(&self) -> usize {
        self.basis.len()
    }

    /// Orthonormal rows, k × d, that span the subspace.
    #[must_use]
    pub fn basis(&self) -> &Points {
        &self.basis
    }

    /// The matrix A, d × k. The unit vector u is x A, scaled to norm 1.
    #[must_use]
    pub fn matrix(&self) -> MatRef<'_, f64> {
        self.matrix.as_ref()
    }

    /// Transforms all points: n × d points become n × k unit vectors.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::ZeroRow`] for a point whose projection onto the subspace is
    /// zero; [`InputError::TooLarge`].
    pub fn apply(&self, points: &DensePoints<'_>) -> Result<Points, InputError> {
        InputError::check_dim(self.dim(), points.dim())?;
        let (d, k) = (self.dim(), self.inner_dim());
        let mut out = zeros(points.len(), k)?;
        let (factor, rows) = (self.as_factor(), tile_rows(k));
        let mut tile = aligned_zeros(rows, padded(k))?;
        let blocks = points.as_slice().chunks(rows * d).zip(out.chunks_mut(rows * k));
        for (block, (x, out)) in blocks.enumerate() {
            let u = &mut tile[..x.len() / d * padded(k)];
            unit_tile(&factor, x, u)
                .map_err(|row| InputError::ZeroRow { row: block * rows + row })?;
            for (out, u) in out.chunks_exact_mut(k).zip(u.chunks_exact(padded(k))) {
                out.copy_from_slice(&u[..k]);
            }
        }
        Points::new(out, k)
    }

    /// Transforms one point to a unit vector of length k.
    ///
    /// # Errors
    /// Same as [`ForsterTransform::apply`]; [`InputError::NonFinite`].
    pub fn apply_row(&self, x: &[f64]) -> Result<Vec<f64>, InputError> {
        InputError::check_dim(self.dim(), x.len())?;
        Ok(self.apply(&Points::from_rows(&[x])?)?.into_vec())
    }

    /// The matrix A in the layout used to multiply tiles.
    pub(crate) fn as_factor(&self) -> Factor {
        Factor::new(self.matrix.as_ref())
    }

    /// The halfspace of R^k that gives each transformed point the label that `halfspace` gives the original point in
    /// the subspace: w̃ = L⁻¹Bw. If w is orthogonal to the subspace, the result is zero and labels every point +1.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::NonFinite`] if a coordinate overflows.
    pub fn halfspace_inside(&self, halfspace: &Halfspace) -> Result<Halfspace, InputError> {
        InputError::check_dim(self.dim(), halfspace.dim())?;
        let w = column(halfspace.normal());
        let along = product(self.basis.as_mat(), w.as_ref());
        halfspace_of(product(self.inverse.as_ref(), along.as_ref()))
    }

    /// The halfspace of R^d, with its normal in the subspace, that gives each point the label that `halfspace` gives
    /// the transformed point: w = A w̃.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::NonFinite`] if a coordinate overflows.
    pub fn halfspace_outside(&self, halfspace: &Halfspace) -> Result<Halfspace, InputError> {
        InputError::check_dim(self.inner_dim(), halfspace.dim())?;
        halfspace_of(product(self.matrix.as_ref(), column(halfspace.normal()).as_ref()))
    }

    /// Tyler's scatter (AAᵀ)⁻¹, d × d, scaled by `normalisation`. On a proper subspace it has rank k.
    #[must_use]
    pub fn scatter(&self, normalisation: Normalisation) -> Mat<f64> {
        let k = self.inner_dim();
        let inside = product(self.inverse.transpose(), self.inverse.as_ref());
        let scale = match normalisation {
            Normalisation::Trace => k as f64 / (0..k).map(|i| inside[(i, i)]).sum::<f64>(),
            Normalisation::Determinant => {
                let logs: f64 = (0..k).map(|i| self.factor[(i, i)].abs().ln()).sum();
                (2.0 * logs / k as f64).exp()
            }
        };
        let outer = product(inside.as_ref(), self.basis.as_mat());
        let scatter = product(self.basis.as_mat().transpose(), outer.as_ref());
        // The result is symmetric to the last bit, for every order of summation.
        Mat::from_fn(self.dim(), self.dim(), |i, j| {
            0.5 * scale * (scatter[(i, j)] + scatter[(j, i)])
        })
    }
}

/// Computes the tile of unit rows of XA. The error is the index of a row that vanishes. Rows whose squares overflow or
/// underflow are rescaled first, which does not change any bit of the other rows.
pub(crate) fn unit_tile(factor: &Factor, x: &[f64], u: &mut [f64]) -> Result<(), usize> {
    if run_fused(UnitProduct { x, factor, u }).is_ok() {
        return Ok(());
    }
    let mut x = x.to_vec();
    x.chunks_exact_mut(factor.rows()).for_each(rescale);
    run_fused(UnitProduct { x: &x, factor, u })
}

fn column(values: &[f64]) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(values, values.len(), 1)
}

fn halfspace_of(w: Mat<f64>) -> Result<Halfspace, InputError> {
    Halfspace::new((0..w.nrows()).map(|i| w[(i, 0)]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::lanes_dot;
    use halfspaces_data::{Gaussian, Marginal, Rotation, random_target};
    use halfspaces_linalg::Classifier;

    /// A transform of a k-dimensional subspace of R^d.
    fn example(d: usize, k: usize) -> ForsterTransform {
        let points = Rotation::random(d, 1).unwrap();
        let mut rows = vec![vec![0.0; d]; k];
        rows.iter_mut().enumerate().for_each(|(i, row)| row[i] = 1.0);
        let basis = points.apply(&Points::from_rows(&rows).unwrap()).unwrap();
        let factor = Mat::from_fn(k, k, |i, j| {
            if i == j {
                1.0 + i as f64
            } else if i > j {
                0.3
            } else {
                0.0
            }
        });
        ForsterTransform::new(basis, factor).unwrap()
    }

    #[test]
    fn halfspaces_move_with_the_points() {
        for (d, k) in [(1, 1), (4, 4), (6, 2)] {
            let transform = example(d, k);
            // These points lie in the subspace.
            let inside = Gaussian::new(k, 3.0).unwrap().sample(50, 3).unwrap();
            let points = product(inside.as_mat(), transform.basis().as_mat());
            let values = points.row_iter().flat_map(|r| r.iter().copied()).collect();
            let points = Points::new(values, d).unwrap();
            let unit = transform.apply(&points).unwrap();
            for seed in 0..5 {
                let target = random_target(d, seed).unwrap();
                let labels = target.label_all(&points).unwrap();
                let moved = transform.halfspace_inside(&target).unwrap();
                assert_eq!(moved.label_all(&unit).unwrap(), labels);
                let back = transform.halfspace_outside(&moved).unwrap();
                assert_eq!(back.label_all(&points).unwrap(), labels);
                let there = random_target(k, seed).unwrap();
                let outside = transform.halfspace_outside(&there).unwrap();
                let labels = there.label_all(&unit).unwrap();
                assert_eq!(outside.label_all(&points).unwrap(), labels);
            }
        }
    }

    #[test]
    fn rows_one_by_one_and_all_at_once_are_unit_vectors() {
        let transform = example(5, 3);
        let points = Gaussian::new(5, 1.0).unwrap().sample(9000, 3).unwrap();
        let all = transform.apply(&points).unwrap();
        for (x, u) in points.rows().zip(all.rows()).step_by(997) {
            let one = transform.apply_row(x.as_slice()).unwrap();
            assert!(one.iter().zip(u.as_slice()).all(|(a, b)| (a - b).abs() < 1e-14));
            assert!((lanes_dot(&one, &one) - 1.0).abs() < 1e-14);
            let huge: Vec<f64> = x.as_slice().iter().map(|v| v * 1e150).collect();
            let same = transform.apply_row(&huge).unwrap();
            assert!(one.iter().zip(&same).all(|(a, b)| (a - b).abs() < 1e-14));
        }
        assert!(transform.apply(&Points::new(vec![], 5).unwrap()).unwrap().is_empty());
    }

    #[test]
    fn the_scatter_inverts_the_transform() {
        let transform = example(4, 4);
        let scatter = transform.scatter(Normalisation::Trace);
        let a = transform.matrix();
        let whitened = product(product(a.transpose(), scatter.as_ref()).as_ref(), a);
        for i in 0..4 {
            for j in 0..4 {
                let expected = if i == j { whitened[(0, 0)] } else { 0.0 };
                assert!((whitened[(i, j)] - expected).abs() < 1e-13);
            }
        }
        assert!(((0..4).map(|i| scatter[(i, i)]).sum::<f64>() - 4.0).abs() < 1e-13);
        let unit = transform.scatter(Normalisation::Determinant);
        let (values, _) = crate::dense::eigen(unit.as_ref()).unwrap();
        assert!((values.iter().product::<f64>() - 1.0).abs() < 1e-12);
        // On a subspace, the scatter has rank k and trace k.
        let flat = example(5, 2).scatter(Normalisation::Trace);
        let (values, _) = crate::dense::eigen(flat.as_ref()).unwrap();
        assert!(values[2].abs() < 1e-14 && values[3] > 0.1);
        assert!((values.iter().sum::<f64>() - 2.0).abs() < 1e-13);
    }

    #[test]
    fn bad_input_is_typed() {
        let transform = example(4, 2);
        let mismatch = Err(InputError::DimensionMismatch { expected: 4, found: 1 });
        assert_eq!(transform.apply_row(&[1.0]), mismatch);
        assert_eq!(transform.apply_row(&[0.0; 4]), Err(InputError::ZeroRow { row: 0 }));
        assert!(transform.apply_row(&[f64::NAN, 0.0, 0.0, 0.0]).is_err());
        let wide = random_target(4, 1).unwrap();
        assert!(transform.halfspace_outside(&wide).is_err());
        let singular = Mat::from_fn(2, 2, |i, _| i as f64);
        let basis = transform.basis().clone();
        assert!(matches!(ForsterTransform::new(basis, singular), Err(ForsterError::Stored { .. })));
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_broken_file_is_an_error() {
        let transform = example(4, 2);
        let text = serde_json::to_string(&transform).unwrap();
        assert_eq!(serde_json::from_str::<ForsterTransform>(&text).unwrap(), transform);
        for broken in [
            text.replacen("\"dim\":4", "\"dim\":2", 1),
            text.replacen("\"factor\":[1.0", "\"factor\":[0.0", 1),
            text.replacen("\"factor\":[1.0,0.0", "\"factor\":[1.0,2.0", 1),
            text.replacen("\"factor\":[1.0,", "\"factor\":[", 1),
            text.replacen("\"factor\":[1.0", "\"factor\":[1e-320", 1),
            r#"{"basis":{"values":[],"dim":4},"factor":[]}"#.to_owned(),
        ] {
            assert_ne!(broken, text);
            assert!(serde_json::from_str::<ForsterTransform>(&broken).is_err(), "{broken}");
        }
    }
}
