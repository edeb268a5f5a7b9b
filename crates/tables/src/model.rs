//! What a fit to a table of two classes hands out.

use crate::averaged::Averaged;
use crate::report::TableReport;
#[cfg(feature = "serde")]
use halfspaces_linalg::load_checked;
use halfspaces_linalg::{Classifier, InputError, Label, PointSet, RowView};
use halfspaces_pac::ErrorBound;
use std::ops::Range;

/// What a [`TableClassifier`](crate::TableClassifier) returns for labels ±1: a classifier of the columns as given, with
/// probabilities, a bound on its error, and a report of what was compared.
///
/// A decision value is a sum over the chosen halfspaces, each divided by the deviation of its own values on rows it was
/// not fitted to; halfspaces of the same features are one.
///
/// *Cost.* Per row a product per chosen space: of columns O(s) for s stored coordinates, of a kernel O(m(d + 1)) for m
/// landmarks.
///
/// Claims: PT.
///
/// ```
/// use halfspaces_data::Builtin;
/// use halfspaces_linalg::{FitSample, Params, PointSet};
/// use halfspaces_tables::TableClassifier;
/// let data = Builtin::Wdbc.load()?;
/// let model = TableClassifier::params().check()?.fit(data.points(), data.labels())?;
/// // The error on labels like these, right or wrong, with probability 95 %.
/// assert!(model.error_bound(0.05)?.value() < 0.3);
/// let first = data.points().row(0).ok_or("no rows")?;
/// assert!(model.probability(first)? > 0.9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TableModel {
    average: Averaged,
    report: TableReport,
}

#[cfg(feature = "serde")]
load_checked!(TableModel { average: Averaged, report: TableReport } => TableModel::checked);

impl TableModel {
    pub(crate) fn new(average: Averaged, report: TableReport) -> TableModel {
        TableModel { average, report }
    }

    #[cfg(feature = "serde")]
    fn checked(average: Averaged, report: TableReport) -> Result<TableModel, InputError> {
        InputError::check_state(average.sums() == 1, "one sum decides between two labels")?;
        Ok(TableModel { average, report })
    }

    /// What was compared, on which rows, and what was chosen.
    #[must_use]
    pub fn report(&self) -> &TableReport {
        &self.report
    }

    /// The model's error on fresh rows, wrong labels included, is at most this with probability at least 1 - δ, if rows
    /// are independent draws from one law: exact (Clopper and Pearson), from rows that had no part in the model. No information if
    /// no rows were kept back.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for δ outside (0, 1).
    pub fn error_bound(&self, failure: f64) -> Result<ErrorBound, InputError> {
        self.report.error_bound(failure)
    }

    /// The probability of label +1, by temperature scaling of the decision value ([`TemperatureScaling`]), fitted to rows that the
    /// values' halfspaces had not seen: of the labels as they are given, wrong ones included, and with the weights given to the
    /// fit. It is ½ where the decision value is 0.
    ///
    /// [`TemperatureScaling`]: halfspaces_pac::TemperatureScaling
    ///
    /// # Errors
    /// As [`Classifier::decision_value`].
    pub fn probability<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        Ok(self.average.probabilities(&self.average.row_values(x)?)[1])
    }
}

impl Classifier for TableModel {
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
