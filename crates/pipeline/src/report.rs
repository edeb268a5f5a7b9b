//! The report of a fit, with counts of rows and measured errors.

use crate::holdout::SplitBy;
use crate::plan::Findings;
use crate::rate::Rate;
use halfspaces_frame::DataError;
use halfspaces_pac::ErrorCount;
use serde::{Deserialize, Serialize};

/// The number of rows of a class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassCount {
    /// The name of the class.
    pub name: String,
    /// The number of rows of the class.
    pub rows: usize,
}

impl ClassCount {
    /// The error rate of always predicting the most common class.
    pub(crate) fn commonest_error(classes: &[ClassCount]) -> f64 {
        let most = classes.iter().map(|class| class.rows).max().unwrap_or(0);
        let all: usize = classes.iter().map(|class| class.rows).sum();
        1.0 - most as f64 / all.max(1) as f64
    }
}

/// The report of a fit, stored in the model.
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
    /// The number of rows of the table.
    pub rows: u64,
    /// The number of sampled rows from which the columns, the classes and the error were determined, if the table was
    /// read in chunks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sampled: Option<u64>,
    /// The number of rows to which the model was fitted.
    pub learned_from: u64,
    /// The number of rows of each class.
    pub classes: Vec<ClassCount>,
    /// The error rate of always predicting the most common class.
    pub commonest_error: f64,
    /// The rule by which held-out rows were chosen.
    #[serde(skip_serializing_if = "SplitBy::is_random", default)]
    pub split: SplitBy,
    /// The errors on held-out rows. These rows were used only to measure the error and for calibration.
    pub(crate) held_out: Option<ErrorCount>,
    /// The seed for all random choices.
    pub seed: u64,
    /// Facts that the learner reported.
    pub findings: Findings,
}

impl Report {
    /// The held-out error with its exact confidence interval, or `None` if no rows were held out.
    ///
    /// # Errors
    /// Returns an error if the stored counts are inconsistent. This cannot happen in a fitted or loaded report.
    pub fn held_out(&self) -> Result<Option<Rate>, DataError> {
        self.held_out.map(|count| Rate::new(count.errors(), count.points())).transpose()
    }
}
