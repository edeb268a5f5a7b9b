//! Selection of the candidate with the fewest errors on fresh examples.

mod choice;
mod early_stop;
mod elimination;
mod history;
mod mask;
#[cfg(feature = "serde")]
mod saved;
mod screen;
mod selector;

pub use choice::{Candidates, Choice};
pub use elimination::Elimination;
pub(crate) use selector::Selector;
