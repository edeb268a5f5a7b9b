//! The model of a table with named classes.

use crate::averaged::Averaged;
use crate::parts::TablePart;
use crate::report::TableReport;
#[cfg(feature = "serde")]
use halfspaces_linalg::load_checked;
use halfspaces_linalg::{ClassModel, InputError, PointSet, RowView, Threads, deciding_class};
use halfspaces_pac::{Calibration, ErrorBound};

/// The model of a table with two or more classes. The classes may have any ordered type, such as numbers, strings or an
/// enum.
///
/// Each class has a sum of halfspaces that separates it from all other classes. All sums use the same features. The
/// model predicts the class with the largest sum; ties go to the first class. With two classes there is only one sum,
/// as in a [`BinaryTableModel`](crate::BinaryTableModel).
///
/// *Cost.* The cost of a [`BinaryTableModel`](crate::BinaryTableModel), plus one product per class and feature.
///
/// Claims: PT, for two classes. The error bound is computed in the same way for any number of classes.
///
/// ```
/// use halfspaces_linalg::{Params, PointSet, Points, Threads};
/// use halfspaces_tables::TableClassifier;
/// // Three intervals of a line; the middle one is not a halfspace.
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
pub struct MulticlassTableModel<C> {
    classes: Vec<C>,
    average: Averaged,
    report: TableReport,
}

#[cfg(feature = "serde")]
load_checked! {
    MulticlassTableModel<C: Ord> {
        classes: Vec<C>, average: Averaged, report: TableReport,
    } => MulticlassTableModel::checked
}

#[cfg(feature = "serde")]
impl<C: Ord> MulticlassTableModel<C> {
    fn checked(
        classes: Vec<C>,
        average: Averaged,
        report: TableReport,
    ) -> Result<MulticlassTableModel<C>, InputError> {
        let outputs = if classes.len() == 2 { 1 } else { classes.len() };
        let requirement = "there is a decision value per class, one for two classes";
        InputError::check_state(average.outputs() == outputs, requirement)?;
        let increasing = classes.is_sorted_by(|a, b| a < b);
        let requirement = "there are two or more different classes, in order";
        InputError::check_state(increasing && classes.len() >= 2, requirement)?;
        Ok(MulticlassTableModel { classes, average, report })
    }
}

impl<C> MulticlassTableModel<C> {
    pub(crate) fn new(
        classes: Vec<C>,
        average: Averaged,
        report: TableReport,
    ) -> MulticlassTableModel<C> {
        MulticlassTableModel { classes, average, report }
    }

    /// The classes, in increasing order.
    #[must_use]
    pub fn classes(&self) -> &[C] {
        &self.classes
    }

    /// The number of columns.
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

    /// The classes of all rows.
    ///
    /// # Errors
    /// Returns the same errors as [`MulticlassTableModel::class`].
    pub fn class_all<P: PointSet>(
        &self,
        points: &P,
        threads: Threads,
    ) -> Result<Vec<&C>, InputError> {
        let classes = self.average.classes(points, threads)?;
        Ok(classes.into_iter().map(|class| &self.classes[class]).collect())
    }

    /// The probability of each class, in the order of [`MulticlassTableModel::classes`], computed from the decision
    /// values by a [`Calibration`]. The calibration was fitted to the values of rows that the halfspaces were not
    /// fitted to. The probabilities refer to the given labels, including wrong ones, and take the weights of the fit
    /// into account. The predicted class is the most probable one.
    ///
    /// [`Calibration`]: halfspaces_pac::Calibration
    ///
    /// # Errors
    /// Returns the same errors as [`MulticlassTableModel::class`].
    pub fn probabilities<R: RowView>(&self, x: R) -> Result<Vec<f64>, InputError> {
        Ok(self.average.probabilities(&self.average.row_values(x)?))
    }

    /// The summands of the decision values.
    pub fn parts(&self) -> impl Iterator<Item = TablePart<'_>> {
        self.average.parts()
    }

    /// The map from decision values to probabilities.
    #[must_use]
    pub fn calibration(&self) -> Calibration {
        self.average.scaling()
    }

    /// The report of the fit: the compared candidates, the row counts and the chosen candidates.
    #[must_use]
    pub fn report(&self) -> &TableReport {
        &self.report
    }

    /// An upper bound on the error on fresh rows; see
    /// [`BinaryTableModel::error_bound`](crate::BinaryTableModel::error_bound).
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for a `failure` outside (0, 1).
    pub fn error_bound(&self, failure: f64) -> Result<ErrorBound, InputError> {
        self.report.error_bound(failure)
    }
}

impl<C> ClassModel for MulticlassTableModel<C> {
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
