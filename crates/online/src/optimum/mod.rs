//! The exact optimum on small pools: every labelling that a halfspace gives, and the values of the games that a
//! learner plays against whoever chooses among them.

mod dichotomies;
mod fixed_target;
mod game;
#[cfg(test)]
mod oracle;

pub use dichotomies::{Dichotomies, DichotomyError, MAX_DICHOTOMIES, MAX_POOL};
pub use game::LabellingGame;
