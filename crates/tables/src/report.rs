//! What a fit to a table compared.

use crate::candidate::Candidate;
use halfspaces_linalg::InputError;
#[cfg(feature = "serde")]
use halfspaces_linalg::load_checked;
use halfspaces_pac::{ErrorBound, ErrorCount};

/// What a [`TableClassifier`](crate::TableClassifier) compared, on which rows, and what it chose.
///
/// ```
/// use halfspaces_data::Builtin;
/// use halfspaces_linalg::{FitSample, Params};
/// use halfspaces_tables::TableClassifier;
/// let data = Builtin::Ionosphere.load()?;
/// let model = TableClassifier::params().check()?.fit(data.points(), data.labels())?;
/// let report = model.report();
/// assert_eq!(report.compared().len() + report.dropped().len(), 29);
/// println!("{} rows compared on, best {}", report.compared_on(), report.compared()[0].candidate);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TableReport {
    pub(crate) compared: Vec<Compared>,
    pub(crate) dropped: Vec<Dropped>,
    pub(crate) chosen: usize,
    pub(crate) learned_from: usize,
    pub(crate) compared_on: usize,
    pub(crate) error: f64,
    pub(crate) kept_back: Option<ErrorCount>,
}

#[cfg(feature = "serde")]
load_checked!(TableReport {
    compared: Vec<Compared>,
    #[serde(default)]
    dropped: Vec<Dropped>,
    chosen: usize,
    learned_from: usize,
    compared_on: usize,
    error: f64,
    kept_back: Option<ErrorCount>,
});

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

/// A candidate that was dropped after a round on some of the rows: worse beyond chance, as on these rows it erred more often than the
/// best by at least two standard errors of that difference more than what is near the best; or not among the best, as no more than so
/// many are left after a round.
///
/// ```
/// use halfspaces_data::Builtin;
/// use halfspaces_linalg::{FitSample, Params};
/// use halfspaces_tables::TableClassifier;
/// let data = Builtin::Ionosphere.load()?;
/// let model = TableClassifier::params().check()?.fit(data.points(), data.labels())?;
/// for entry in model.report().dropped() {
///     assert!(entry.error >= entry.least_error && entry.rows <= model.report().compared_on());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Dropped {
    /// The candidate.
    pub candidate: Candidate,
    /// The share of wrong labels, by weight, among the rows it was compared on.
    pub error: f64,
    /// That of the best of all candidates on these rows.
    pub least_error: f64,
    /// How many rows that were.
    pub rows: usize,
}

impl TableReport {
    /// The candidates compared on all rows, by their errors; the first of these are the chosen ones.
    #[must_use]
    pub fn compared(&self) -> &[Compared] {
        &self.compared
    }

    /// The candidates dropped before, in the order in which they were.
    #[must_use]
    pub fn dropped(&self) -> &[Dropped] {
        &self.dropped
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
    /// the choice. [`TableModel::error_bound`](crate::TableModel::error_bound) is a bound.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.error
    }

    /// The model's errors on rows that had no part in it; none if none were kept back.
    #[must_use]
    pub fn kept_back(&self) -> Option<ErrorCount> {
        self.kept_back
    }

    pub(crate) fn error_bound(&self, failure: f64) -> Result<ErrorBound, InputError> {
        match self.kept_back {
            Some(errors) => errors.error_bound(failure),
            None => Ok(ErrorBound::NoInformation),
        }
    }

    #[cfg(feature = "serde")]
    fn check_saved(&self) -> Result<(), InputError> {
        let chosen = self.chosen >= 1 && self.chosen <= self.compared.len();
        InputError::check_state(chosen, "at least one candidate is chosen, of those compared")?;
        let share = |error: f64| (0.0..=1.0).contains(&error);
        let shares = self.compared.iter().all(|entry| share(entry.error)) && share(self.error);
        InputError::check_state(shares, "an error is a share between 0 and 1")?;
        let sorted = self.compared.is_sorted_by(|a, b| a.error <= b.error);
        InputError::check_state(sorted, "candidates are sorted by their errors")?;
        let mut dropped = self.dropped.iter();
        let dropped = dropped.all(|entry| {
            let rows = entry.rows >= 1 && entry.rows <= self.compared_on;
            rows && share(entry.error)
                && share(entry.least_error)
                && entry.error >= entry.least_error
        });
        InputError::check_state(
            dropped,
            "a candidate is dropped that errs no less than the best, on rows compared on",
        )
    }
}
