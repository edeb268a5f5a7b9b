//! Online learners of halfspaces, and the protocol in which their mistakes are counted.
//!
//! A learner ([`OnlineLearner`]) predicts the label of a point and is then told the truth. It never
//! holds labels: in a [`Session`] a point is asked, predicted, and only then revealed, by a person
//! or by a program; [`run`] is the loop over known labels. Who chooses the points is an [`Order`]:
//! [`AsGiven`], [`RandomOrder`], or the adaptive adversary [`SmallestMarginMistake`].
//!
//! | learner | guarantee | source |
//! |---|---|---|
//! | [`Perceptron`] | mistakes <= (R‖w*‖/γ)², every order | 001 Thm 4.1; 002; 004 |
//! | [`BatchPerceptron`] | updates <= (R/γ)², then consistent | 002 Thm 1.1 |
//! | [`MarginPerceptron`] | updates <= 3(R/γ)², then margin >= γ/3 | 002 Thm 2.1 |
//!
//! The bounds are functions in [`bounds`].
//!
//! ```
//! use halfspaces_data::{MarginBall, Marginal, random_target};
//! use halfspaces_online::{Perceptron, RandomOrder, bounds, run};
//!
//! let target = random_target(10, 1)?;
//! let points = MarginBall::new(&target, 0.1)?.sample(2000, 2)?;
//! let labels = target.label_all(&points)?;
//!
//! let (_, transcript) = run(Perceptron::new(10)?, &points, &labels, RandomOrder::new(2000, 3))?;
//! assert!(transcript.mistakes() as f64 <= bounds::perceptron_mistakes(1.0, 1.0, 0.1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod batch_perceptron;
pub mod bounds;
mod error;
mod learner;
mod margin_perceptron;
mod order;
mod perceptron;
mod session;
mod sweep;
mod transcript;

pub use batch_perceptron::BatchPerceptron;
pub use error::OnlineError;
pub use learner::{OnlineLearner, Prediction};
pub use margin_perceptron::MarginPerceptron;
pub use order::{AsGiven, Order, RandomOrder, SmallestMarginMistake};
pub use perceptron::Perceptron;
pub use session::{Question, Session, run};
pub use sweep::{BatchFit, BatchParams, BatchStatus, DEFAULT_MAX_UPDATES, Pick};
pub use transcript::{ReplayError, Round, Transcript};
