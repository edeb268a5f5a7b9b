//! Products of columns.

use crate::FeatureMap;
use halfspaces_linalg::{InputError, RowView, load_checked};
use std::f64::consts::SQRT_2;

/// Columns of which all products are taken; at this number there are two million.
pub const MAX_POLYNOMIAL_DIM: usize = 2000;

/// All products of two columns: features whose inner product is (1 + x · z)².
///
/// Per column j the squares and √2 times the products with later columns, x_j x_j, √2 x_j x_k for k > j;
/// then √2 x_j for every j; then 1. A halfspace of these is a quadratic threshold function of x.
///
/// *Cost.* (d + 1)(d + 2)/2 features and as much time per point, for a sparse one of s entries s² and the time
/// to write zeros. Above [`MAX_POLYNOMIAL_DIM`] columns it is refused; a
/// [`Nystroem`](crate::Nystroem) or random Fourier map has as many features as one likes.
///
/// *When to use it.* Few columns whose products matter, such as exclusive or, conics, interactions of codes.
///
/// ```
/// use halfspaces_features::{FeatureMap, Polynomial};
/// use halfspaces_linalg::{Points, kernels};
/// let points = Points::from_rows(&[[1.0, 2.0], [-3.0, 0.5]])?;
/// let features = Polynomial::new(2)?.apply(&points)?;
/// let (a, b) = features.as_slice().split_at(6);
/// assert!((kernels::dot(a, b) - (1.0f64 - 3.0 + 1.0).powi(2)).abs() < 1e-12);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Polynomial {
    dim: usize,
}

load_checked!(Polynomial { dim: usize } => Polynomial::new);

impl Polynomial {
    /// Of points of `dim` coordinates.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::ParameterOutOfRange`] above [`MAX_POLYNOMIAL_DIM`].
    pub fn new(dim: usize) -> Result<Self, InputError> {
        if dim == 0 {
            return Err(InputError::ZeroDimension);
        }
        let requirement = "at most 2000 for all products; take random features instead";
        let in_range = dim <= MAX_POLYNOMIAL_DIM;
        InputError::check_parameter("dimension", dim as f64, in_range, requirement)?;
        Ok(Polynomial { dim })
    }
}

impl FeatureMap for Polynomial {
    fn input_dim(&self) -> usize {
        self.dim
    }

    fn output_dim(&self) -> usize {
        (self.dim + 1) * (self.dim + 2) / 2
    }

    fn map_row<R: RowView>(&self, x: R, out: &mut [f64]) -> Result<(), InputError> {
        out.fill(0.0);
        let d = self.dim;
        let (products, rest) = out.split_at_mut(d * (d + 1) / 2);
        for (j, x_j) in x.entries().filter(|(_, v)| v.abs() > 0.0) {
            // Row j of the triangle starts after d + (d - 1) + ... of j rows.
            let start = j * d - j * j.saturating_sub(1) / 2;
            let row = &mut products[start..][..d - j];
            row[0] = x_j * x_j;
            for (k, x_k) in x.entries().filter(|(k, v)| *k > j && v.abs() > 0.0) {
                row[k - j] = SQRT_2 * x_j * x_k;
            }
            rest[j] = SQRT_2 * x_j;
        }
        rest[d] = 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{PointSet, Points, SparsePoints, kernels};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn inner_products_are_the_kernel(x in prop::array::uniform5(-3.0..3.0f64), z in prop::array::uniform5(-3.0..3.0f64)) {
            let points = Points::from_rows(&[x, z]).unwrap();
            let map = Polynomial::new(5).unwrap();
            let features = map.apply(&points).unwrap();
            prop_assert_eq!(features.dim(), 21);
            let (a, b) = features.as_slice().split_at(21);
            let kernel = (1.0 + kernels::dot(&x, &z)).powi(2);
            prop_assert!((kernels::dot(a, b) - kernel).abs() < 1e-9);
        }
    }

    #[test]
    fn values_by_hand_and_sparse_as_dense() {
        let points = Points::from_rows(&[[2.0, 0.0, -1.0], [0.0, 0.0, 0.0]]).unwrap();
        let map = Polynomial::new(3).unwrap();
        let features = map.apply(&points).unwrap();
        let r = SQRT_2;
        let first = [4.0, 0.0, -2.0 * r, 0.0, 0.0, 1.0, 2.0 * r, 0.0, -r, 1.0];
        assert_eq!(features.as_slice()[..10], first);
        assert_eq!(features.as_slice()[10..], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        assert_eq!(map.apply(&SparsePoints::from_dense(&points).unwrap()).unwrap(), features);
    }

    #[test]
    fn bad_input_is_typed() {
        assert_eq!(Polynomial::new(0), Err(InputError::ZeroDimension));
        assert!(Polynomial::new(2000).is_ok() && Polynomial::new(2001).is_err());
        let map = Polynomial::new(1).unwrap();
        let points = Points::new(vec![1.0, 1e200], 1).unwrap();
        assert_eq!(map.apply(&points), Err(InputError::Overflow { row: 1 }));
        assert!(map.apply(&Points::new(vec![1.0, 2.0], 2).unwrap()).is_err());
    }
}
