//! A fit in progress and its outcome: what all Perspectrons share.

mod beside;
mod block_row;
pub(crate) mod direction;
mod fitting;
mod guarantee;
pub(crate) mod iterate;
mod lane;
mod on_way;
mod outcome;
mod plan;
#[cfg(feature = "serde")]
mod saved;
mod stretch;

pub use direction::{Denominator, Direction, SignLink};
pub use fitting::{Fitting, Stage};
pub use guarantee::Guarantee;
pub(crate) use guarantee::{AverageBound, Theorem};
pub(crate) use lane::{Lane, Retention};
pub use outcome::{Fit, Origin};
pub use plan::Plan;
pub(crate) use plan::{Placement, Settings};
