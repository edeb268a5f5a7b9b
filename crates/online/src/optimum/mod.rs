//! The exact optimum on small pools: lists all labellings by halfspaces and computes the values of the games between a
//! learner and an adversary.

mod dichotomies;
mod fixed_target;
mod game;
#[cfg(test)]
mod oracle;

pub use dichotomies::Dichotomies;
pub use game::LabellingGame;
