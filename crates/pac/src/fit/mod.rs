//! A fit in progress and its outcome: what all Perspectrons share.

pub(crate) mod direction;
mod fitting;

pub use direction::{Denominator, Direction, SignLink};
pub(crate) use fitting::{Average, Guarantee, Kept, Lane, Placement, Settings};
pub use fitting::{Fit, Fitting, Origin, Plan, Promise, Stage, Status};
