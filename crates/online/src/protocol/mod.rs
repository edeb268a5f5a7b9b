//! The online protocol: learners, orders of points, sessions and transcripts.

mod learner;
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
pub use transcript::{Round, Transcript};
