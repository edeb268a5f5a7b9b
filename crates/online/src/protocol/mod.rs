//! The protocol: who predicts, who asks, and what is written down.

mod learner;
mod on_features;
mod order;
mod prediction;
mod session;
mod tally;
mod transcript;

pub use learner::OnlineLearner;
pub use order::{AsGiven, Order, RandomOrder, SmallestMarginMistake};
pub use prediction::Prediction;
pub use session::{Question, Session, run};
pub use tally::{PartialFitError, Tally};
pub use transcript::{ReplayError, Round, Transcript};
