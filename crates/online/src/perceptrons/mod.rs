//! Linear learners whose updates add points to the weights.

mod alma;
mod arow;
mod averaged_perceptron;
mod batch;
mod batch_perceptron;
mod kernel;
mod kernel_perceptron;
mod leaky_relu;
mod look_ahead;
mod margin_perceptron;
mod massart;
mod modified_perceptron;
mod passive_aggressive;
mod perceptron;
mod second_order_perceptron;
mod sharded_perceptron;
mod weights;
mod winnow;

pub use alma::Alma;
pub use arow::Arow;
pub use averaged_perceptron::AveragedPerceptron;
pub use batch::{BatchFit, BatchParams, DEFAULT_MAX_UPDATES, Pick};
pub use batch_perceptron::BatchPerceptron;
pub use kernel::Kernel;
pub use kernel_perceptron::KernelPerceptron;
pub use leaky_relu::OnlineLeakyRelu;
pub use margin_perceptron::MarginPerceptron;
pub use massart::{Horizon, MassartSetting, OnlineMassart};
pub use modified_perceptron::{BatchModifiedFit, BatchModifiedPerceptron, ModifiedPerceptron};
pub use passive_aggressive::{Aggressiveness, PassiveAggressive};
pub use perceptron::Perceptron;
pub use second_order_perceptron::SecondOrderPerceptron;
pub use sharded_perceptron::{EpochPass, EpochSum, ShardedFit, ShardedPerceptron};
pub use winnow::Winnow;
