//! The summands of a model, for programs that export the model to another format.

use halfspaces_features::{KernelValues, Ranks, ZScore};
use halfspaces_linalg::AffineHalfspace;

/// The scale of the columns of a [`TablePart`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TableScale<'m> {
    /// Columns that are shifted and then divided.
    Standard(&'m ZScore),
    /// Columns replaced by their ranks.
    Ranks(&'m Ranks),
}

/// A summand of the decision values of a model. The columns are scaled and, if there is a kernel, mapped to kernel
/// values. The halfspace of each output then adds its value w · x + b to the output.
///
/// ```
/// use halfspaces_features::FeatureMap;
/// use halfspaces_linalg::{ClassModel, Params, PointSet, Points, kernels};
/// use halfspaces_tables::{TableClassifier, TableScale};
/// let points = Points::new((0..40).map(f64::from).collect(), 1)?;
/// let labels: Vec<bool> = (0..40).map(|i| i > 20).collect();
/// let model = TableClassifier::params().check()?.fit_classes(&points, &labels)?;
/// let mut value = 0.0;
/// for part in model.parts() {
///     let scaled = match part.scale {
///         TableScale::Standard(scale) => scale.apply(&points)?,
///         TableScale::Ranks(ranks) => ranks.apply(&points)?,
///     };
///     let features = match part.kernel {
///         Some(kernel) => kernel.apply(&scaled)?,
///         None => scaled,
///     };
///     let first = &features.as_slice()[..features.dim()];
///     value += kernels::dot(first, part.halfspaces[0].weights()) + part.halfspaces[0].bias();
/// }
/// let expected = model.class_values(points.row(0).ok_or("no row")?)?[0];
/// assert!((value - expected).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TablePart<'m> {
    /// The scale of the columns.
    pub scale: TableScale<'m>,
    /// The kernel; `None` for halfspaces of the scaled columns.
    pub kernel: Option<&'m KernelValues>,
    /// One halfspace for each output: one for two classes, otherwise one for each class.
    pub halfspaces: &'m [AffineHalfspace],
}
