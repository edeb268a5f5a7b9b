//! Linear learners that add points to their weights.

mod alma;
mod averaged_perceptron;
mod batch_perceptron;
mod kernel_perceptron;
mod margin_perceptron;
mod massart;
mod modified_perceptron;
mod passive_aggressive;
mod perceptron;
mod second_order_perceptron;
mod sweep;
mod weights;
mod winnow;

pub use alma::Alma;
pub use averaged_perceptron::{AveragedPerceptron, VotedPerceptron};
pub use batch_perceptron::BatchPerceptron;
pub use kernel_perceptron::{Kernel, KernelPerceptron};
pub use margin_perceptron::MarginPerceptron;
pub use massart::{Horizon, OnlineMassart};
pub use modified_perceptron::ModifiedPerceptron;
pub use passive_aggressive::{Aggressiveness, PassiveAggressive};
pub use perceptron::Perceptron;
pub use second_order_perceptron::SecondOrderPerceptron;
pub use sweep::{BatchFit, BatchParams, BatchStatus, DEFAULT_MAX_UPDATES, Pick};
pub use winnow::Winnow;

pub(crate) use weights::Weights;
