//! Linear learners that add points to their weights.

mod alma;
mod averaged_kernel_perceptron;
mod averaged_perceptron;
mod batch;
mod batch_perceptron;
mod kernel;
mod kernel_perceptron;
mod leaky_relu;
mod look_ahead;
mod margin_perceptron;
mod massart;
mod mistake_driven;
mod modified_perceptron;
mod passive_aggressive;
mod perceptron;
mod second_order_perceptron;
mod voted_perceptron;
mod weights;
mod winnow;

pub use alma::Alma;
pub use averaged_kernel_perceptron::AveragedKernelPerceptron;
pub use averaged_perceptron::AveragedPerceptron;
pub use batch::{BatchFit, BatchParams, DEFAULT_MAX_UPDATES, Pick};
pub use batch_perceptron::BatchPerceptron;
pub use kernel::Kernel;
pub use kernel_perceptron::KernelPerceptron;
pub use leaky_relu::OnlineLeakyRelu;
pub use margin_perceptron::MarginPerceptron;
pub use massart::{Horizon, OnlineMassart};
pub use modified_perceptron::{BatchModifiedFit, BatchModifiedPerceptron, ModifiedPerceptron};
pub use passive_aggressive::{Aggressiveness, PassiveAggressive};
pub use perceptron::Perceptron;
pub use second_order_perceptron::SecondOrderPerceptron;
pub use voted_perceptron::VotedPerceptron;
pub use winnow::Winnow;
