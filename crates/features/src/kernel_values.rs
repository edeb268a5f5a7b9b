//! A feature map whose features are kernel values.

use crate::FeatureMap;
use crate::radial_kernel::{Centres, RadialKernel};
use halfspaces_linalg::{InputError, PointSet, Points, RowView, load_checked};
use std::ops::Range;

/// A feature map: the features of a point are its kernel values with a fixed set of centres. A kernel expansion Σ c_k
/// K(x, z_k) is a linear function of these features.
///
/// *Cost.* O(m(s + 1)) time per point with s stored coordinates, and O(md) memory, for m centres in d dimensions.
///
/// *When to use it.* Use this map to label points with a model that was learned on [`Nystroem`](crate::Nystroem)
/// features and converted by [`Nystroem::expansion`](crate::Nystroem::expansion). Once the kernel values are known,
/// labelling a point in this way is faster by a factor of m than computing its features. For learning, use the
/// `Nystroem` features themselves, because they are better conditioned.
///
/// ```
/// use halfspaces_features::{FeatureMap, KernelValues, RadialKernel};
/// use halfspaces_linalg::Points;
/// let map = KernelValues::new(Points::new(vec![0.0, 1.0], 1)?, RadialKernel::laplacian(2.0)?)?;
/// let values = map.apply(&Points::new(vec![1.0], 1)?)?;
/// assert!((values.as_slice()[0] - (-0.5f64).exp()).abs() < 1e-15 && values.as_slice()[1] == 1.0);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct KernelValues {
    points: Points,
    kernel: RadialKernel,
    #[cfg_attr(feature = "serde", serde(skip))]
    centres: Centres,
}

load_checked!(KernelValues { points: Points, kernel: RadialKernel } => KernelValues::new);

impl KernelValues {
    /// Creates the map from `points`, which are the centres, one per row.
    ///
    /// # Errors
    /// [`InputError::Empty`] if there are no centres.
    pub fn new(points: Points, kernel: RadialKernel) -> Result<Self, InputError> {
        if points.is_empty() {
            return Err(InputError::Empty);
        }
        let centres = Centres::new(points.as_slice(), points.dim());
        Ok(KernelValues { points, kernel, centres })
    }

    /// The centres, one per row.
    #[must_use]
    pub fn centres(&self) -> &Points {
        &self.points
    }

    /// The kernel whose values are the features.
    #[must_use]
    pub fn kernel(&self) -> RadialKernel {
        self.kernel
    }
}

impl FeatureMap for KernelValues {
    fn input_dim(&self) -> usize {
        self.points.dim()
    }

    fn output_dim(&self) -> usize {
        self.points.len()
    }

    fn map_rows<P: PointSet>(
        &self,
        points: &P,
        rows: Range<usize>,
        out: &mut [f64],
    ) -> Result<(), InputError> {
        self.centres.values_of_rows(self.kernel, points, rows, out)
    }

    fn map_row<R: RowView>(&self, x: R, out: &mut [f64]) -> Result<(), InputError> {
        self.centres.values(self.kernel, x, out)
    }
}
