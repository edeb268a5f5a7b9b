//! The halving algorithm over finite classes.

mod boolean;
mod finite;
mod grid;
mod halfspaces;
mod learner;

pub use boolean::BooleanClass;
pub use finite::FiniteClass;
pub use grid::GridClass;
pub use halfspaces::HalfspaceClass;
pub use learner::Halving;
