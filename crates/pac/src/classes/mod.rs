//! Several classes with any binary learner.

mod error;
mod one_vs_rest;
mod scaled;

pub use error::ClassesError;
pub use one_vs_rest::{OneVsRest, OneVsRestModel};
