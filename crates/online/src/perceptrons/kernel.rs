//! Kernels of the kernel perceptron.
//!
//! Claims: K6.

use halfspaces_features::RadialKernel;
use halfspaces_linalg::kernels::Wide;
use halfspaces_linalg::{InputError, RowView, kernels};

/// A kernel K(x, z). Every variant is positive semidefinite, that is, an inner product in a feature space, as the
/// mistake bound requires. The powers of x · z and of 1 + x · z are products of kernels (Schur), and the Gaussian is a
/// limit of sums of such products. A Gaussian with a negative scale is not positive semidefinite and is rejected. Other
/// kernels are not supported.
///
/// ```
/// use halfspaces_linalg::DenseRow;
/// use halfspaces_online::Kernel;
/// let value = |kernel: Kernel| kernel.value(DenseRow::new(&[1.0, 2.0])?, &[1.0, 1.0]);
/// assert_eq!(value(Kernel::Linear)?, 3.0);
/// assert_eq!(value(Kernel::Polynomial { degree: 2 })?, 9.0);
/// assert_eq!(value(Kernel::Inhomogeneous { degree: 2 })?, 16.0);
/// assert!((value(Kernel::Gaussian { scale: 2.0 })? - (-0.5f64).exp()).abs() < 1e-15);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Kernel {
    /// x · z.
    Linear,
    /// (x · z)^degree.
    Polynomial {
        /// The degree, between 1 and 1000.
        degree: u32,
    },
    /// (1 + x · z)^degree.
    Inhomogeneous {
        /// The degree, between 1 and 1000.
        degree: u32,
    },
    /// exp(-‖x - z‖²/scale).
    Gaussian {
        /// The scale, which must be positive.
        #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::saved::positive"))]
        scale: f64,
    },
}

impl Kernel {
    pub(super) fn check(self) -> Result<(), InputError> {
        match self {
            Kernel::Linear => Ok(()),
            Kernel::Polynomial { degree } | Kernel::Inhomogeneous { degree } => {
                let in_range = (1..=1000).contains(&degree);
                InputError::check_parameter("degree", degree.into(), in_range, "between 1 and 1000")
            }
            Kernel::Gaussian { scale } => RadialKernel::gaussian(scale).map(|_| ()),
        }
    }

    /// Replaces each product x · z by K(x, z); `norms_sq` contains ‖z‖² for each z.
    #[inline(always)]
    fn replace_products(self, products: &mut [f64], x_sq: f64, norms_sq: &[f64]) {
        match self {
            Kernel::Linear => {}
            Kernel::Polynomial { degree } => {
                for product in products {
                    *product = product.powi(degree as i32);
                }
            }
            Kernel::Inhomogeneous { degree } => {
                for product in products {
                    *product = (1.0 + *product).powi(degree as i32);
                }
            }
            Kernel::Gaussian { scale } => {
                let Ok(kernel) = RadialKernel::gaussian(scale) else {
                    unreachable!("the scale was checked by the constructor")
                };
                // A NaN caused by an overflow of the norms stays NaN.
                kernel.replace_sums(products, x_sq, norms_sq);
            }
        }
    }

    /// K(x, z).
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::ParameterOutOfRange`] for a degree or a scale out of range.
    pub fn value<R: RowView>(self, x: R, z: &[f64]) -> Result<f64, InputError> {
        self.check()?;
        InputError::check_dim(x.dim(), z.len())?;
        let mut value = [x.dot(z)];
        self.replace_products(&mut value, x.norm_sq(), &[kernels::norm_sq(z)]);
        Ok(value[0])
    }
}

/// Computes Σ y_i K(x_i, x) from the products x_i · x and overwrites them. As a [`Wide`] computation it is compiled for
/// the vector instructions of the processor. The instructions do not change the result, because no multiplication is
/// fused with an addition.
pub(super) struct SignedSum<'a> {
    pub(super) kernel: Kernel,
    pub(super) products: &'a mut [f64],
    pub(super) x_sq: f64,
    pub(super) norms_sq: &'a [f64],
    pub(super) signs: &'a [f64],
}

impl Wide for SignedSum<'_> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        self.kernel.replace_products(self.products, self.x_sq, self.norms_sq);
        kernels::dot(self.signs, self.products)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::DenseRow;
    use halfspaces_linalg::kernels::run_wide;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn vector_instructions_do_not_change_the_sum(
            terms in prop::collection::vec((-40.0..40.0f64, 0.0..900.0f64, any::<bool>()), 0..70),
            x_sq in 0.0..900.0f64,
        ) {
            let signs: Vec<f64> = terms.iter().map(|t| if t.2 { 1.0 } else { -1.0 }).collect();
            let norms_sq: Vec<f64> = terms.iter().map(|t| t.1).collect();
            let products: Vec<f64> = terms.iter().map(|t| t.0).collect();
            for kernel in [Kernel::Gaussian { scale: 1.5 }, Kernel::Inhomogeneous { degree: 3 }] {
                let (mut wide, mut plain) = (products.clone(), products.clone());
                let (norms_sq, signs) = (&norms_sq, &signs);
                let sum = |products| SignedSum { kernel, products, x_sq, norms_sq, signs };
                let of_wide = run_wide(sum(&mut wide));
                prop_assert_eq!(of_wide.to_bits(), sum(&mut plain).run().to_bits());
                prop_assert_eq!(wide, plain);
            }
        }
    }

    #[test]
    fn the_gaussian_kernel_is_the_exponential_at_every_scale() {
        let (x, z) = (DenseRow::new(&[1.0, 2.0]).unwrap(), [0.5, 2.5]);
        for scale in [1e-3, 0.02, 0.5, 3.0, 1e6, f64::MAX] {
            let value = Kernel::Gaussian { scale }.value(x, &z).unwrap();
            let plain = (-0.5 / scale).exp();
            assert!((value - plain).abs() <= 1e-12 * plain, "{scale}");
        }
        for scale in [5e-324, 1e-310, 1.0, f64::MAX] {
            assert_eq!(Kernel::Gaussian { scale }.value(x, &[1.0, 2.0]).unwrap(), 1.0);
        }
    }

    /// Σ a_i a_j K(x_i, x_j) is a squared length in feature space, so no weights make it negative.
    #[test]
    fn kernels_are_positive_semidefinite() {
        use faer::{Mat, Side};
        use halfspaces_data::{Gaussian, Marginal};
        use halfspaces_linalg::PointSet;
        let points = Gaussian::new(3, 1.0).unwrap().sample(14, 1).unwrap();
        let gram = |value: &dyn Fn(&[f64], &[f64]) -> f64| {
            let rows: Vec<&[f64]> = points.rows().map(|x| x.as_slice()).collect();
            let gram = Mat::from_fn(14, 14, |i, j| value(rows[i], rows[j]));
            let values = gram.self_adjoint_eigenvalues(Side::Lower).unwrap();
            (values[0], values[13])
        };
        for kernel in [
            Kernel::Linear,
            Kernel::Polynomial { degree: 3 },
            Kernel::Inhomogeneous { degree: 2 },
            Kernel::Gaussian { scale: 0.7 },
        ] {
            let of = |x: &[f64], z: &[f64]| kernel.value(DenseRow::new(x).unwrap(), z).unwrap();
            let (least, largest) = gram(&of);
            assert!(least >= -1e-12 * largest, "{kernel:?}: {least} {largest}");
        }
        // exp(+‖x - z‖²) is not positive semidefinite and is rejected.
        let growing = |x: &[f64], z: &[f64]| {
            x.iter().zip(z).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().exp()
        };
        assert!(gram(&growing).0 < -1.0);
        let refused =
            Kernel::Gaussian { scale: -1.0 }.value(DenseRow::new(&[1.0]).unwrap(), &[0.0]);
        assert!(matches!(refused, Err(InputError::ParameterOutOfRange { .. })));
    }

    #[test]
    fn degrees_out_of_range_are_refused() {
        let x = DenseRow::new(&[2.0]).unwrap();
        for degree in [0, 1001, u32::MAX] {
            assert!(Kernel::Polynomial { degree }.value(x, &[1.0]).is_err());
        }
        assert_eq!(Kernel::Polynomial { degree: 3 }.value(x, &[1.0]).unwrap(), 8.0);
    }
}
