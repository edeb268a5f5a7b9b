//! Experiments: configurations, trials, and the evaluation of their outcomes.

mod any;
mod definition;
mod finding;
#[cfg(test)]
mod planted_faults;
mod results;
mod section;

pub use any::{AnyExperiment, Description, ExperimentError};
pub use definition::Experiment;
pub use finding::Finding;
pub use results::{Group, Planned, Results};
pub use section::Section;
