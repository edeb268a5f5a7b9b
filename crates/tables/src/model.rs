//! What a fit to a table hands out.

use crate::candidate::{Candidate, ColumnScale, Scale};
use halfspaces_features::{FeatureMap, KernelValues};
use halfspaces_linalg::{
    AffineHalfspace, Classifier, DenseRow, InputError, Label, PointSet, Points, RowView, kernels,
    zeros,
};
use halfspaces_pac::{ErrorBound, ErrorCount};
use std::ops::Range;

/// Rows whose values are computed together; they do not depend on it.
const BLOCK: usize = 256;

/// What a [`TableClassifier`](crate::TableClassifier) returns: a classifier of the columns as given, with
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "RawTableModel"))]
pub struct TableModel {
    standardised: Scale,
    ranked: Scale,
    parts: Vec<Part>,
    /// The slope and offset of the log odds in the decision value.
    log_odds: (f64, f64),
    report: TableReport,
}

/// What a [`TableModel`] looks like before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct RawTableModel {
    standardised: Scale,
    ranked: Scale,
    parts: Vec<Part>,
    log_odds: (f64, f64),
    report: TableReport,
}

#[cfg(feature = "serde")]
impl TryFrom<RawTableModel> for TableModel {
    type Error = InputError;

    fn try_from(raw: RawTableModel) -> Result<Self, InputError> {
        let RawTableModel { standardised, ranked, parts, log_odds, report } = raw;
        InputError::check_dim(standardised.input_dim(), ranked.input_dim())?;
        let scales =
            matches!(standardised, Scale::Standardised(_)) && matches!(ranked, Scale::Ranked(_));
        InputError::check_state(scales, "standardised columns first, ranked ones second")?;
        InputError::check_state(!parts.is_empty(), "a sum of no halfspaces")?;
        for part in &parts {
            let features = match &part.kernel {
                Some(kernel) => {
                    InputError::check_dim(standardised.output_dim(), kernel.input_dim())?;
                    kernel.output_dim()
                }
                None => standardised.output_dim(),
            };
            InputError::check_dim(features, part.halfspace.dim())?;
        }
        let finite = log_odds.0.is_finite() && log_odds.1.is_finite();
        InputError::check_state(finite, "log odds that are not finite")?;
        report.check()?;
        Ok(TableModel { standardised, ranked, parts, log_odds, report })
    }
}

/// A halfspace of columns on one scale, or of their kernel values.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Part {
    pub(crate) columns: ColumnScale,
    pub(crate) kernel: Option<KernelValues>,
    pub(crate) halfspace: AffineHalfspace,
}

/// What a [`TableClassifier`](crate::TableClassifier) compared, on which rows, and what it chose.
///
/// ```
/// use halfspaces_data::Builtin;
/// use halfspaces_linalg::{FitSample, Params};
/// use halfspaces_tables::TableClassifier;
/// let data = Builtin::Ionosphere.load()?;
/// let model = TableClassifier::params().check()?.fit(data.points(), data.labels())?;
/// let report = model.report();
/// assert!(report.compared().len() > 20 && report.chosen().count() >= 1);
/// println!("{} rows compared on, best {}", report.compared_on(), report.compared()[0].candidate);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TableReport {
    pub(crate) compared: Vec<Compared>,
    pub(crate) chosen: usize,
    pub(crate) learned_from: usize,
    pub(crate) compared_on: usize,
    pub(crate) error: f64,
    pub(crate) kept_back: Option<ErrorCount>,
}

/// One candidate and its error on rows it was not fitted to.
///
/// ```
/// use halfspaces_data::Builtin;
/// use halfspaces_linalg::{FitSample, Params};
/// use halfspaces_tables::TableClassifier;
/// let data = Builtin::Ionosphere.load()?;
/// let model = TableClassifier::params().check()?.fit(data.points(), data.labels())?;
/// // Best first.
/// let errors: Vec<f64> = model.report().compared().iter().map(|entry| entry.error).collect();
/// assert!(errors.is_sorted() && errors[0] < 0.15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Compared {
    /// The candidate.
    pub candidate: Candidate,
    /// The share of wrong labels, by weight, among rows it was not fitted to.
    pub error: f64,
}

impl TableReport {
    /// All candidates, by their errors; the first of these are the chosen ones.
    #[must_use]
    pub fn compared(&self) -> &[Compared] {
        &self.compared
    }

    /// The candidates that the model is the sum of.
    pub fn chosen(&self) -> impl Iterator<Item = &Compared> {
        self.compared[..self.chosen].iter()
    }

    /// Rows learned from.
    #[must_use]
    pub fn learned_from(&self) -> usize {
        self.learned_from
    }

    /// Rows on which candidates were compared; each was labelled by fits that had not seen it.
    #[must_use]
    pub fn compared_on(&self) -> usize {
        self.compared_on
    }

    /// The error of the sum of the chosen ones on the rows compared on: near the truth, but these rows had a say in
    /// the choice. [`TableModel::error_bound`] is a bound.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.error
    }

    /// The model's errors on rows that had no part in it; none if none were kept back.
    #[must_use]
    pub fn kept_back(&self) -> Option<ErrorCount> {
        self.kept_back
    }

    #[cfg(feature = "serde")]
    fn check(&self) -> Result<(), InputError> {
        let chosen = self.chosen >= 1 && self.chosen <= self.compared.len();
        InputError::check_state(chosen, "at least one candidate is chosen, of those compared")?;
        let share = |error: f64| (0.0..=1.0).contains(&error);
        let shares = self.compared.iter().all(|entry| share(entry.error)) && share(self.error);
        InputError::check_state(shares, "an error is a share between 0 and 1")?;
        let sorted = self.compared.is_sorted_by(|a, b| a.error <= b.error);
        InputError::check_state(sorted, "candidates are sorted by their errors")
    }
}

impl TableModel {
    pub(crate) fn new(
        standardised: Scale,
        ranked: Scale,
        parts: Vec<Part>,
        log_odds: (f64, f64),
        report: TableReport,
    ) -> TableModel {
        TableModel { standardised, ranked, parts, log_odds, report }
    }

    /// What was compared, on which rows, and what was chosen.
    #[must_use]
    pub fn report(&self) -> &TableReport {
        &self.report
    }

    pub(crate) fn report_mut(&mut self) -> &mut TableReport {
        &mut self.report
    }

    /// The model's error on fresh rows, wrong labels included, is at most this with probability at least 1 - δ, if rows
    /// are independent draws from one law: exact (Clopper and Pearson), from rows that had no part in the model. No information if
    /// no rows were kept back.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for δ outside (0, 1).
    pub fn error_bound(&self, failure: f64) -> Result<ErrorBound, InputError> {
        match self.report.kept_back {
            Some(errors) => errors.error_bound(failure),
            None => Ok(ErrorBound::NoInformation),
        }
    }

    /// The probability of label +1, by Platt's sigmoid of the decision value, fitted to rows that the values' halfspaces had not
    /// seen: of the labels as they are given, wrong ones included.
    ///
    /// It need not be ½ where the decision value is 0: labels heed the weights given to the fit, probabilities do not.
    ///
    /// # Errors
    /// As [`Classifier::decision_value`].
    pub fn probability<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        let (slope, offset) = self.log_odds;
        let log_odds = slope * self.decision_value(x)? + offset;
        Ok(1.0 / (1.0 + (-log_odds).exp()))
    }

    fn scale(&self, columns: ColumnScale) -> &Scale {
        match columns {
            ColumnScale::Standardised => &self.standardised,
            ColumnScale::Ranked => &self.ranked,
        }
    }

    /// The decision values of the points `rows`; a row alone has the same.
    fn values<P: PointSet>(&self, points: &P, rows: Range<usize>) -> Result<Vec<f64>, InputError> {
        let mut sums = zeros(1, rows.len())?;
        for columns in [ColumnScale::Standardised, ColumnScale::Ranked] {
            let parts: Vec<&Part> =
                self.parts.iter().filter(|part| part.columns == columns).collect();
            if parts.is_empty() {
                continue;
            }
            let scale = self.scale(columns);
            let mut scaled = zeros(rows.len(), scale.output_dim())?;
            scale.map_rows(points, rows.clone(), &mut scaled)?;
            let overflow = |error| match error {
                InputError::NonFinite { row, .. } => InputError::Overflow { row: rows.start + row },
                other => other,
            };
            let scaled = Points::new(scaled, scale.output_dim()).map_err(overflow)?;
            for part in parts {
                let mut features = zeros(0, 0)?;
                let features = match &part.kernel {
                    None => scaled.as_slice(),
                    Some(kernel) => {
                        features.resize(rows.len() * kernel.output_dim(), 0.0);
                        let mapped = kernel.map_rows(&scaled, 0..rows.len(), &mut features);
                        mapped.map_err(|error| match error {
                            InputError::Overflow { row } => {
                                InputError::Overflow { row: rows.start + row }
                            }
                            other => other,
                        })?;
                        &features
                    }
                };
                let (w, b) = (part.halfspace.weights(), part.halfspace.bias());
                for (sum, x) in sums.iter_mut().zip(features.chunks_exact(w.len())) {
                    *sum += kernels::dot(x, w) + b;
                }
            }
        }
        match sums.iter().position(|sum| !sum.is_finite()) {
            None => Ok(sums),
            Some(row) => Err(InputError::Overflow { row: rows.start + row }),
        }
    }
}

impl Classifier for TableModel {
    fn dim(&self) -> usize {
        self.standardised.input_dim()
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        InputError::check_dim(self.dim(), x.dim())?;
        let mut dense = zeros(1, self.dim())?;
        x.add_scaled_to(1.0, &mut dense);
        // A row is finite.
        DenseRow::new(&dense)?;
        Ok(self.values(&Points::new(dense, self.dim())?, 0..1)?[0])
    }

    fn label_rows<P: PointSet>(
        &self,
        points: &P,
        rows: Range<usize>,
    ) -> Result<Vec<Label>, InputError> {
        if rows.end > points.len() {
            let index = points.len().max(rows.start);
            return Err(InputError::IndexOutOfRange { index, len: points.len() });
        }
        let mut labels = Vec::with_capacity(rows.len());
        for first in rows.clone().step_by(BLOCK) {
            let values = self.values(points, first..rows.end.min(first + BLOCK))?;
            labels.extend(values.into_iter().map(Label::from_sign));
        }
        Ok(labels)
    }
}
