//! A fit in progress and its outcome, shared by all Perspectrons.
//!
//! The update of CKST24 Algorithm 1 is in `descend.rs`: `Update::coefficients` computes c = λ (σ(w·x) - y)/D(w·x), and
//! w becomes w - c x. Three loops apply this update, with bitwise equal results:
//!
//! | loop | used for |
//! |---|---|
//! | `descend_fused` | one lane and dense rows in memory, the usual case; `halfspaces_kernels::descend` updates w |
//! | `descend` with one lane | sparse, lifted or streamed rows; runs that retain all iterates (`Schedule::Paper`) |
//! | `descend` with eight lanes | several guesses of the noise rate and the margin |
//!
//! A *lane* is a sequence of iterates for one guess of the noise rate and the margin. Between two updates a lane may
//! have an event: the start of a run, or an iterate to store.
//!
//! | file | content |
//! |---|---|
//! | `direction.rs` | σ and D, and the factor of x as a separate function |
//! | `descend.rs` | the update, applied along rows |
//! | `lane.rs` | lanes and their events |
//! | `lane_block.rs` | eight lanes side by side in vectors |
//! | `batch.rs` | many examples in memory at once |
//! | `fitting.rs` | the fit: training, then the choice among candidates |
//! | `plan.rs`, `guarantee.rs`, `outcome.rs` | the plan, the guarantee and the result of a fit |

mod batch;
pub(crate) mod descend;
pub(crate) mod direction;
mod fitting;
mod guarantee;
mod lane;
mod lane_block;
mod outcome;
mod plan;
#[cfg(feature = "serde")]
mod saved;

pub use direction::{Denominator, Direction, SignLink};
pub use fitting::{Fitting, Stage};
pub use guarantee::Guarantee;
pub(crate) use guarantee::{AverageBound, Theorem};
pub(crate) use lane::{Lane, Retention};
pub use outcome::{Fit, Origin};
pub use plan::Plan;
pub(crate) use plan::{Placement, Settings};
