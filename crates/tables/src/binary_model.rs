//! The model of a table with labels ±1.

use crate::averaged::Averaged;
use crate::report::TableReport;
#[cfg(feature = "serde")]
use halfspaces_linalg::load_checked;
use halfspaces_linalg::{Classifier, InputError, Label, PointSet, RowView};
use halfspaces_pac::ErrorBound;
use std::ops::Range;

/// The model of a table with labels ±1: a classifier of the original columns, with probabilities, an error bound and a
/// report.
///
/// A decision value is the sum of the values of the chosen halfspaces. Each halfspace is divided by the root mean
/// square of its values on rows that it was not fitted to. Halfspaces over the same features are merged into one.
///
/// *Cost.* One product per row and chosen space: O(s) for columns if the row has s stored coordinates, and O(m(d + 1))
/// for a kernel with m landmarks in d dimensions.
///
/// Claims: PT.
///
/// ```
/// use halfspaces_data::Builtin;
/// use halfspaces_linalg::{FitSample, Params, PointSet};
/// use halfspaces_tables::TableClassifier;
/// let data = Builtin::Wdbc.load()?;
/// let model = TableClassifier::params().check()?.fit(data.points(), data.labels())?;
/// // With probability 95 %, this is a bound on the error on fresh rows, some of whose labels may be wrong.
/// assert!(model.error_bound(0.05)?.value() < 0.3);
/// let first = data.points().row(0).ok_or("no rows")?;
/// assert!(model.probability(first)? > 0.9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BinaryTableModel {
    average: Averaged,
    report: TableReport,
}

#[cfg(feature = "serde")]
load_checked!(BinaryTableModel { average: Averaged, report: TableReport } => BinaryTableModel::checked);

impl BinaryTableModel {
    pub(crate) fn new(average: Averaged, report: TableReport) -> BinaryTableModel {
        BinaryTableModel { average, report }
    }

    #[cfg(feature = "serde")]
    fn checked(average: Averaged, report: TableReport) -> Result<BinaryTableModel, InputError> {
        InputError::check_state(
            average.outputs() == 1,
            "a model of labels ±1 has one decision value",
        )?;
        Ok(BinaryTableModel { average, report })
    }

    /// The report of the fit: the compared candidates, the row counts and the chosen candidates.
    #[must_use]
    pub fn report(&self) -> &TableReport {
        &self.report
    }

    /// An upper bound on the error of the model on fresh rows. The error is measured against the given labels,
    /// including wrong ones. The bound holds with probability at least 1 - `failure` if the rows are independent draws
    /// from one distribution. The bound is exact (Clopper and Pearson): it is computed from the held-out rows, on which
    /// the model does not depend. Returns [`ErrorBound::NoInformation`] if there are no held-out rows.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for a `failure` outside (0, 1).
    pub fn error_bound(&self, failure: f64) -> Result<ErrorBound, InputError> {
        self.report.error_bound(failure)
    }

    /// The probability of label +1, computed from the decision value by a [`Calibration`]. The calibration was fitted
    /// to the values of rows that the halfspaces were not fitted to. The probability refers to the given labels,
    /// including wrong ones, and takes the weights of the fit into account. The probability is 1/2 if the decision
    /// value is 0.
    ///
    /// [`Calibration`]: halfspaces_pac::Calibration
    ///
    /// # Errors
    /// Returns the same errors as [`Classifier::decision_value`].
    pub fn probability<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        Ok(self.average.probabilities(&self.average.row_values(x)?)[1])
    }
}

impl Classifier for BinaryTableModel {
    fn dim(&self) -> usize {
        self.average.dim()
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        Ok(self.average.row_values(x)?[0])
    }

    fn label_rows<P: PointSet>(
        &self,
        points: &P,
        rows: Range<usize>,
    ) -> Result<Vec<Label>, InputError> {
        let classes = self.average.classes_of_rows(points, rows)?;
        let label = |class| if class == 1 { Label::Positive } else { Label::Negative };
        Ok(classes.into_iter().map(label).collect())
    }
}
