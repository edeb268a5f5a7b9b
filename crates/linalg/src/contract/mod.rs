//! The traits and types common to all learners of the workspace, and their results.

mod class_model;
mod classifier;
mod fit;
mod monitor;
mod partial;
mod rng_stream;
mod termination;
mod threads;

pub use class_model::{ClassModel, deciding_class};
pub use classifier::Classifier;
pub use fit::{FitError, FitSample, FitStream, Params};
pub use monitor::{Monitor, Steps, checkpoint, checkpoint_at};
pub use partial::{BLOCK_ROWS, MergeError, Partial, Sum};
pub use rng_stream::{RngStream, rng_for, rng_for_round};
pub use termination::Termination;
pub use threads::Threads;
