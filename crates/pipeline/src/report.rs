//! The report of a fit: how many rows did what, and which errors were measured.

use crate::plan::Findings;
use crate::rate::Rate;
use halfspaces_frame::DataError;
use halfspaces_pac::ErrorCount;
use serde::{Deserialize, Serialize};

/// Number of rows of a class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassCount {
    /// The class.
    pub name: String,
    /// Its rows.
    pub rows: usize,
}

/// The report of a fit, kept in the model.
///
/// ```
/// let mut report = halfspaces_pipeline::Report::default();
/// report.commonest_error = 0.4;
/// assert!(report.held_out()?.is_none());
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// Rows of the table.
    pub rows: u64,
    /// Rows of a table read in parts on which columns, classes and error were measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sampled: Option<u64>,
    /// Rows learned from.
    pub learned_from: u64,
    /// Rows of each class.
    pub classes: Vec<ClassCount>,
    /// The error of always predicting the commonest class.
    pub commonest_error: f64,
    /// Errors on rows held out, which had no part in the model but in its calibration.
    pub(crate) held_out: Option<ErrorCount>,
    /// Seed of every random choice.
    pub seed: u64,
    /// Facts that the learner reports.
    pub findings: Findings,
}

impl Report {
    /// The error on rows held out, with its exact interval; `None` if none were held out.
    ///
    /// # Errors
    /// None for a report of this library.
    pub fn held_out(&self) -> Result<Option<Rate>, DataError> {
        self.held_out.map(|count| Rate::new(count.errors(), count.points())).transpose()
    }
}
