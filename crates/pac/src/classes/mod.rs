//! Classification into several classes with any binary learner.

mod error;
mod log_odds;
mod one_vs_rest;

pub use error::ClassesError;
pub use log_odds::LogOdds;
pub use one_vs_rest::{OneVsRest, OneVsRestModel};
