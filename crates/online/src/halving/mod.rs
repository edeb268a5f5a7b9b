//! Halving over finite classes.

mod boolean;
mod finite;
mod grid;
mod halfspaces;
mod learner;

pub use boolean::BooleanClass;
pub use finite::{ClassError, FiniteClass, MAX_CLASS};
pub use grid::GridClass;
pub use halfspaces::HalfspaceClass;
pub use learner::Halving;
