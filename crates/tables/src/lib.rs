//! A default classifier for people's tables: [`TableClassifier`].
//!
//! It compares halfspaces of columns and of kernel features, fitted in several ways, by their errors on labels that may be
//! wrong, averages the near-best, and says how often the result will err, with an exact bound from rows that had
//! no part in it. Models ([`TableModel`]) label and give probabilities; reports ([`TableReport`]) say what was compared. Labels
//! are ±1, or any number of classes by name ([`TableClassesModel`]).
//!
//! ```
//! use halfspaces_data::Builtin;
//! use halfspaces_linalg::{FitSample, Params, Threads};
//! use halfspaces_tables::TableClassifier;
//! let data = Builtin::Wdbc.load()?;
//! let learner = TableClassifier::params().threads(Threads::all()).check()?;
//! let model = learner.fit(data.points(), data.labels())?;
//! for entry in model.report().chosen() {
//!     println!("{:.1} % wrong: {}", 100.0 * entry.error, entry.candidate);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod averaged;
mod candidate;
mod classes_model;
mod classifier;
mod feature_rows;
mod hinge;
mod landmark_features;
mod learn;
mod model;
mod pivoted_cholesky;
mod race;
mod report;
mod rounds;
mod single_kernel;
mod table;
#[cfg(test)]
mod tests;

pub use candidate::{Candidate, ColumnScale, Method, Space};
pub use classes_model::TableClassesModel;
pub use classifier::{DEFAULT_MAX_ROWS, TableClassifier, TableParams};
pub use learn::MIN_TABLE_ROWS;
pub use model::TableModel;
pub use report::{Compared, Dropped, TableReport};
