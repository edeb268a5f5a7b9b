//! Online learners: halving, the perceptrons and version-space learners.

mod batch;
mod halving;
mod kernel;
mod modified;
mod other_bounds;
mod perceptron;
mod version_space;

pub(crate) use batch::BatchExperiment;
pub(crate) use halving::HalvingExperiment;
pub(crate) use kernel::KernelExperiment;
pub(crate) use modified::ModifiedExperiment;
pub(crate) use other_bounds::OtherBoundsExperiment;
pub(crate) use perceptron::PerceptronExperiment;
pub(crate) use version_space::VersionSpaceExperiment;
