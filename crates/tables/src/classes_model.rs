//! What a fit to a table of several classes hands out.

use crate::averaged::Averaged;
use crate::report::TableReport;
#[cfg(feature = "serde")]
use halfspaces_linalg::load_checked;
use halfspaces_linalg::{
    ClassModel, InputError, PointSet, Points, RowView, Threads, deciding_class,
};
use halfspaces_pac::ErrorBound;

/// What a [`TableClassifier`](crate::TableClassifier) returns for labels of several classes, which are whatever the caller
/// calls them: numbers, text, an enum.
///
/// Per class there is a sum of halfspaces "this class, not another", all of the same features; the class of the largest
/// sum is predicted, of equal ones the first. Of two classes there is one sum, as in a [`TableModel`](crate::TableModel).
///
/// *Cost.* As of a [`TableModel`](crate::TableModel), and one product per class and feature.
///
/// Claims: PT, for two classes; the bound on the error is the same for any number.
///
/// ```
/// use halfspaces_linalg::{Params, PointSet, Points, Threads};
/// use halfspaces_tables::TableClassifier;
/// // Three bands of a line; the middle one is no halfspace.
/// let points = Points::new((0..60).map(f64::from).collect(), 1)?;
/// let name = |i| if i < 20 { "low" } else if i < 40 { "middle" } else { "high" };
/// let labels: Vec<&str> = (0..60).map(name).collect();
/// let model = TableClassifier::params().check()?.fit_classes(&points, &labels)?;
/// assert_eq!(model.classes(), ["high", "low", "middle"]);
/// let row = points.row(30).ok_or("no row")?;
/// assert_eq!(*model.class(row)?, "middle");
/// assert!(model.probabilities(row)?[2] > 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TableClassesModel<C> {
    classes: Vec<C>,
    average: Averaged,
    report: TableReport,
}

#[cfg(feature = "serde")]
load_checked! {
    TableClassesModel<C: Ord> {
        classes: Vec<C>, average: Averaged, report: TableReport,
    } => TableClassesModel::checked
}

#[cfg(feature = "serde")]
impl<C: Ord> TableClassesModel<C> {
    fn checked(
        classes: Vec<C>,
        average: Averaged,
        report: TableReport,
    ) -> Result<TableClassesModel<C>, InputError> {
        let sums = if classes.len() == 2 { 1 } else { classes.len() };
        InputError::check_state(average.sums() == sums, "one sum per class, one for two")?;
        let rising = classes.is_sorted_by(|a, b| a < b);
        InputError::check_state(rising && classes.len() >= 2, "two classes or more, in order")?;
        Ok(TableClassesModel { classes, average, report })
    }
}

impl<C> TableClassesModel<C> {
    pub(crate) fn new(
        classes: Vec<C>,
        average: Averaged,
        report: TableReport,
    ) -> TableClassesModel<C> {
        TableClassesModel { classes, average, report }
    }

    /// The classes, in order.
    #[must_use]
    pub fn classes(&self) -> &[C] {
        &self.classes
    }

    /// Number of columns.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.average.dim()
    }

    /// The class of a row.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::Overflow`].
    pub fn class<R: RowView>(&self, x: R) -> Result<&C, InputError> {
        Ok(&self.classes[deciding_class(&self.average.row_values(x)?)])
    }

    /// The class of every row.
    ///
    /// # Errors
    /// As [`TableClassesModel::class`].
    pub fn class_all<P: PointSet>(
        &self,
        points: &P,
        threads: Threads,
    ) -> Result<Vec<&C>, InputError> {
        let classes = self.average.classes(points, threads)?;
        Ok(classes.into_iter().map(|class| &self.classes[class]).collect())
    }

    /// The probability of each class, in their order, by temperature scaling of the sums ([`TemperatureScaling`]), fitted to rows
    /// that their halfspaces had not seen: of the labels as they are given, wrong ones included, and with the weights given to
    /// the fit. The class predicted is the most probable one.
    ///
    /// [`TemperatureScaling`]: halfspaces_pac::TemperatureScaling
    ///
    /// # Errors
    /// As [`TableClassesModel::class`].
    pub fn probabilities<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError> {
        Ok(self.average.probabilities(&self.average.row_values(x)?))
    }

    /// The decision values of every point, a row each: one per class, the largest deciding; of two classes one, whose sign
    /// decides, positive for the second.
    ///
    /// # Errors
    /// As [`TableClassesModel::class`].
    pub fn values_all<P: PointSet>(
        &self,
        points: &P,
        threads: Threads,
    ) -> Result<Points, InputError> {
        self.average.values_all(points, threads)
    }

    /// The class and the probabilities ([`TableClassesModel::probabilities`]) that go with a row of
    /// [`TableClassesModel::values_all`].
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`] for another number of values.
    ///
    /// ```
    /// use halfspaces_linalg::{Params, PointSet, Points, Threads};
    /// use halfspaces_tables::TableClassifier;
    /// let points = Points::new((0..40).map(f64::from).collect(), 1)?;
    /// let labels: Vec<u8> = (0..40).map(|i| i / 10).collect();
    /// let model = TableClassifier::params().check()?.fit_classes(&points, &labels)?;
    /// let values = model.values_all(&points, Threads::ONE)?;
    /// let (row, x) = (values.row(5).ok_or("no row")?, points.row(5).ok_or("no row")?);
    /// let (class, probabilities) = model.judge(row.as_slice())?;
    /// assert_eq!((class, probabilities), (model.class(x)?, model.probabilities(x)?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn judge(&self, values: &[f64]) -> Result<(&C, Vec<f64>), InputError> {
        InputError::check_dim(self.average.sums(), values.len())?;
        Ok((&self.classes[deciding_class(values)], self.average.probabilities(values)))
    }

    /// What was compared, on which rows, and what was chosen.
    #[must_use]
    pub fn report(&self) -> &TableReport {
        &self.report
    }

    /// As [`TableModel::error_bound`](crate::TableModel::error_bound).
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for δ outside (0, 1).
    pub fn error_bound(&self, failure: f64) -> Result<ErrorBound, InputError> {
        self.report.error_bound(failure)
    }
}

impl<C> ClassModel for TableClassesModel<C> {
    fn class_count(&self) -> usize {
        self.classes.len()
    }

    fn point_dim(&self) -> usize {
        self.dim()
    }

    fn class_values<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError> {
        self.average.row_values(x)
    }

    fn class_probabilities(&self, values: &[f64]) -> Option<Vec<f64>> {
        Some(self.average.probabilities(values))
    }

    fn class_values_all<P: PointSet>(
        &self,
        points: &P,
        threads: Threads,
    ) -> Result<Vec<Vec<f64>>, InputError>
    where
        Self: Sync,
    {
        let values = self.average.values_all(points, threads)?;
        Ok(values.rows().map(|row| row.as_slice().to_vec()).collect())
    }
}
