//! A grid of halfspaces that contains a separator whenever the margin is at least a given value.

use super::finite::{FiniteClass, check_size, positive_of};
use super::halfspaces::dense;
use crate::error::OnlineError;
use halfspaces_linalg::{InputError, RowView};

/// The halfspaces whose normals have coordinates `m s` with the step s = γ/(2Rd) and integers
/// m, |m| <= M = ⌈2R‖w*‖d/γ⌉. If some w* separates points of norm at most R with margin γ, a member of the class
/// separates them with margin γ/2 (Kakade §3). The class has (2M + 1)^d members, none of which is stored.
///
/// Kakade states the size (⌈4dR‖w*‖/γ⌉ + 1)^d, which can be smaller than the true size.
///
/// *Source.* Kakade §3 and Corollary 3.1, corrected. Claims: K2.
///
/// ```
/// use halfspaces_online::{FiniteClass, GridClass, OnlineError};
/// let class = GridClass::new(2, 0.5)?; // M = 8
/// assert_eq!(class.len(), 17 * 17);
/// assert!(matches!(GridClass::new(4, 0.01), Err(OnlineError::ClassTooLarge { .. })));
/// # Ok::<(), OnlineError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GridClass {
    dim: usize,
    /// The largest multiple M.
    most: usize,
    len: usize,
}

impl GridClass {
    /// The class of all normals in R^`dim` whose coordinates are multiples of the step, from -`most` to `most` times
    /// the step.
    fn with_multiples(dim: usize, most: f64) -> Result<GridClass, OnlineError> {
        if dim == 0 {
            return Err(InputError::ZeroDimension.into());
        }
        InputError::check_parameter("largest multiple", most, most >= 1.0, "at least 1")?;
        let size = (2.0 * most + 1.0).powi(dim.min(1000) as i32);
        check_size(size)?;
        Ok(GridClass { dim, most: most as usize, len: size as usize })
    }

    /// The class for points in the unit ball of R^`dim` that some unit w* separates with a margin of at least γ =
    /// `margin`. For other points of norm at most R and another w*, pass γ/(R‖w*‖).
    ///
    /// # Errors
    /// [`OnlineError::ClassTooLarge`], which contains the size of the class; [`InputError::ZeroDimension`];
    /// [`InputError::ParameterOutOfRange`] for a margin that is not positive and finite.
    pub fn new(dim: usize, margin: f64) -> Result<GridClass, OnlineError> {
        let in_range = margin > 0.0 && margin.is_finite();
        InputError::check_parameter("margin", margin, in_range, "positive and finite")?;
        GridClass::with_multiples(dim, (2.0 * dim as f64 / margin).ceil().max(1.0))
    }

    /// The normal of the hypothesis with this index, in multiples of the step.
    #[cfg(test)]
    pub(super) fn multiples(&self, index: usize) -> Vec<f64> {
        let base = 2 * self.most + 1;
        let mut rest = index;
        (0..self.dim)
            .map(|_| {
                let digit = rest % base;
                rest /= base;
                digit as f64 - self.most as f64
            })
            .collect()
    }
}

impl FiniteClass for GridClass {
    type Prepared = Vec<f64>;

    fn len(&self) -> usize {
        self.len
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn prepare<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError> {
        Ok(dense(x))
    }

    fn positive(&self, block: usize, alive: u64, x: &Vec<f64>) -> u64 {
        // All coordinates have the same step, so the product with the multiples has the right sign.
        let (base, most) = (2 * self.most + 1, self.most as f64);
        positive_of(block, alive, |mut index| {
            let mut value = 0.0;
            for v in x {
                value += ((index % base) as f64 - most) * v;
                index /= base;
            }
            value >= 0.0
        })
    }
}
