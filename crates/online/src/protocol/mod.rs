//! The protocol: who predicts, who asks, and what is written down.

mod learn_pool;
mod learner;
mod order;
mod partial_fit;
mod session;
mod transcript;

pub use learner::{OnlineLearner, Prediction};
pub use order::{AsGiven, Order, RandomOrder, SmallestMarginMistake};
pub use partial_fit::{PartialFitError, Tally};
pub use session::{Question, Session, run};
pub use transcript::{ReplayError, Round, Transcript};

pub(crate) use learn_pool::{looking_ahead, right};
