//! Several classes over any binary learner.

mod error;
mod one_vs_one;
mod one_vs_rest;
mod scaled;

pub use error::{Against, ClassesError};
pub use one_vs_one::{OneVsOne, OneVsOneModel};
pub use one_vs_rest::{OneVsRest, OneVsRestModel};
