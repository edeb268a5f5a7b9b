//! The default classifier for tables: [`TableClassifier`].

#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod averaged;
mod binary_model;
mod candidate;
mod classifier;
mod discriminant;
mod feature_rows;
mod hinge;
mod learn;
mod many;
mod multiclass_model;
mod parts;
mod race;
mod report;
mod ridge;
mod rounds;
mod scaled_rows;
mod streams;
mod table;
#[cfg(test)]
mod tests;

pub use binary_model::BinaryTableModel;
pub use candidate::{Candidate, ColumnScale, Method, Space};
pub use classifier::{TableClassifier, TableParams};
pub use learn::{MIN_TABLE_ROWS, default_hold_out};
pub use many::has_many_classes;
pub use multiclass_model::MulticlassTableModel;
pub use parts::{TablePart, TableScale};
pub use report::{ComparedCandidate, DroppedCandidate, TableReport};
pub use rounds::group_folds;
pub use table::DEFAULT_MAX_ROWS;
