//! Fits models to tables and applies them to new rows.

#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

mod audit;
mod audit_table;
mod class_noise;
mod comparison;
mod contribution;
mod costs;
mod design;
mod evaluation;
mod examples;
mod export;
mod file;
mod fit;
mod guesses;
mod holdout;
mod importance;
mod label_file;
mod large;
mod late;
mod model;
mod moved_rows;
mod near_duplicates;
mod parts;
mod parts_audit;
mod pipeline;
mod plan;
mod rate;
mod recipe;
mod repeated_values;
mod report;
mod same_rows;
mod streams;
mod tally;
#[cfg(test)]
mod tests;
mod validation;

pub use audit::{Audit, AuditResult, Suspect};
pub use audit_table::AuditTable;
pub use comparison::{Comparison, MeanDifference};
pub use contribution::{Contribution, RowExplanation};
pub use costs::Costs;
pub use design::{Design, DesignRows};
pub use evaluation::{Calibration, ClassRates, Coverage, Evaluation, ProbabilityScores};
pub use examples::{Examples, LabelledTable};
pub use export::ExportFormat;
pub use fit::FitOptions;
pub use guesses::{check_no_guesses, is_guess};
pub use holdout::{SplitBy, split};
pub use importance::{ColumnImportance, Importance, ImportanceMeasure};
pub use label_file::{JoinedTable, LabelFile, rows_by_ids};
pub use model::{Batch, Decisions, Model};
pub use moved_rows::check_same_order;
pub use near_duplicates::contradictions;
pub use parts::{PartsPlan, Survey};
pub use parts_audit::{AuditPass, AuditSums, PartsAudit, TopSuspect};
pub use pipeline::{Pipeline, TrueClasses};
pub use plan::{Findings, LeftOut, Method, Plan};
pub use rate::{CONFIDENCE, Rate, percents};
pub use recipe::{Recipe, RecipeOptions, TextParts, Unseen};
pub use report::{ClassCount, Report};
pub use same_rows::{SameRows, check_row_column, check_same_rows};
