//! Random rotations, used to test rotation invariance and to rotate axis-aligned constructions.

use super::marginal::{Gaussian, Marginal};
use crate::streams;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, Par};
use halfspaces_linalg::{
    Halfspace, InputError, PointSet, Points, RowView, kernels, normalise, rng_for, zeros,
};
use rand::Rng;

/// An orthogonal map of R^d.
///
/// ```
/// use halfspaces_data::{Gaussian, Marginal, Rotation};
/// use halfspaces_linalg::PointSet;
/// let points = Gaussian::new(4, 1.0)?.sample(10, 1)?;
/// let rotated = Rotation::random(4, 2)?.apply(&points)?;
/// for (a, b) in points.norms().iter().zip(rotated.norms()) {
///     assert!((a - b).abs() < 1e-14);
/// }
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Rotation {
    /// The orthonormal rows of a matrix Q; a row `x` is mapped to `x Q`.
    matrix: Points,
}

impl Rotation {
    /// Draws from the Haar measure on the orthogonal group with the random stream of `seed`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`].
    pub fn random(dim: usize, seed: u64) -> Result<Rotation, InputError> {
        Rotation::random_with_rng(dim, &mut rng_for(streams::ROTATION, seed))
    }

    /// Same as [`Rotation::random`], with the caller's random number generator.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`].
    pub fn random_with_rng<R: Rng + ?Sized>(dim: usize, rng: &mut R) -> Result<Self, InputError> {
        // Returns an error early if the matrix does not fit in memory.
        zeros(dim, dim)?;
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(dim);
        let gaussian = Gaussian::new(dim, 1.0)?;
        while rows.len() < dim {
            // Gram-Schmidt on independent Gaussian rows gives the Haar measure; a second pass restores the precision
            // lost to cancellation.
            let mut row = vec![0.0; dim];
            gaussian.sample_into(rng, &mut row);
            for _ in 0..2 {
                for other in &rows {
                    kernels::axpy(-kernels::dot(&row, other), other, &mut row);
                }
            }
            if normalise(&mut row) {
                rows.push(row);
            }
        }
        Ok(Rotation { matrix: Points::from_rows(&rows)? })
    }

    /// Rotates every point.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`].
    pub fn apply(&self, points: &Points) -> Result<Points, InputError> {
        let (n, d) = (points.len(), points.dim());
        InputError::check_dim(self.matrix.dim(), d)?;
        let mut values = zeros(n, d)?;
        matmul(
            MatMut::from_row_major_slice_mut(&mut values, n, d),
            Accum::Replace,
            points.as_mat(),
            self.matrix.as_mat(),
            1.0,
            Par::Seq,
        );
        Points::new(values, d)
    }

    /// The rotated halfspace. It gives the rotated points the same labels that the original halfspace gives the
    /// original points.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`].
    pub fn apply_to_halfspace(&self, halfspace: &Halfspace) -> Result<Halfspace, InputError> {
        let normal = self.apply(&Points::from_rows(&[halfspace.normal()])?)?;
        let mut rotated = vec![0.0; halfspace.dim()];
        normal.rows().for_each(|x| x.add_scaled_to(1.0, &mut rotated));
        Halfspace::new(rotated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_target;
    use halfspaces_linalg::margins;

    #[test]
    fn inner_products_survive() {
        let points = Gaussian::new(6, 10.0).unwrap().sample(20, 1).unwrap();
        let target = random_target(6, 2).unwrap();
        let rotation = Rotation::random(6, 3).unwrap();
        let turned = rotation.apply(&points).unwrap();
        let turned_target = rotation.apply_to_halfspace(&target).unwrap();
        let before = margins(&points, target.normal()).unwrap();
        let after = margins(&turned, turned_target.normal()).unwrap();
        for (a, b) in before.iter().zip(&after) {
            assert!((a - b).abs() < 1e-13);
        }
        assert!(turned != points);
        assert!(rotation.apply(&Points::new(vec![1.0], 1).unwrap()).is_err());
    }

    #[test]
    fn both_determinants_occur_in_one_dimension() {
        // In one dimension, the rotation is ±1 with equal probability under the Haar measure.
        let one = Points::new(vec![1.0], 1).unwrap();
        let turned = (0..40).filter(|seed| {
            Rotation::random(1, *seed).unwrap().apply(&one).unwrap().as_slice()[0] < 0.0
        });
        assert!((8..32).contains(&turned.count()));
    }
}
