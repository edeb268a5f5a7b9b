//! The choice among candidates by their errors on fresh examples.

mod selector;

pub use selector::{Candidates, Choice, Elimination};
pub(crate) use selector::{Selector, check_in_ball};
