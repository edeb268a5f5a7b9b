//! A class given as a list of halfspaces.
//!
//! Claims: K1, K9.

use super::finite::{FiniteClass, positive_of};
use halfspaces_linalg::{Halfspace, InputError, RowView, kernels};

/// A list of halfspaces of the same dimension.
///
/// ```
/// use halfspaces_linalg::Halfspace;
/// use halfspaces_online::{FiniteClass, HalfspaceClass};
/// let class = HalfspaceClass::new(vec![Halfspace::new(vec![1.0])?, Halfspace::new(vec![-1.0])?])?;
/// assert_eq!((class.len(), class.dim(), class.hypotheses().len()), (2, 1, 2));
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HalfspaceClass {
    /// At least one halfspace.
    hypotheses: Vec<Halfspace>,
}

impl HalfspaceClass {
    /// A class of the given halfspaces. There must be at least one.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::DimensionMismatch`].
    pub fn new(hypotheses: Vec<Halfspace>) -> Result<Self, InputError> {
        let dim = hypotheses.first().ok_or(InputError::Empty)?.dim();
        hypotheses.iter().try_for_each(|h| InputError::check_dim(dim, h.dim()))?;
        Ok(HalfspaceClass { hypotheses })
    }

    /// The hypotheses.
    #[must_use]
    pub fn hypotheses(&self) -> &[Halfspace] {
        &self.hypotheses
    }
}

pub(super) fn dense<R: RowView>(x: R) -> Vec<f64> {
    let mut values = vec![0.0; x.dim()];
    x.add_scaled_to(1.0, &mut values);
    values
}

impl FiniteClass for HalfspaceClass {
    type Prepared = Vec<f64>;

    fn len(&self) -> usize {
        self.hypotheses.len()
    }

    fn dim(&self) -> usize {
        self.hypotheses[0].dim()
    }

    fn prepare<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError> {
        Ok(dense(x))
    }

    fn positive(&self, block: usize, alive: u64, x: &Vec<f64>) -> u64 {
        positive_of(block, alive, |i| kernels::dot(self.hypotheses[i].normal(), x) >= 0.0)
    }
}
