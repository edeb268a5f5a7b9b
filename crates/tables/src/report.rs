//! The report of a fit to a table.

use crate::candidate::Candidate;
use halfspaces_linalg::InputError;
use halfspaces_linalg::getters;
#[cfg(feature = "serde")]
use halfspaces_linalg::load_checked;
use halfspaces_pac::{ErrorBound, ErrorCount};

/// The candidates that a [`TableClassifier`](crate::TableClassifier) compared, the row counts, and the candidates that
/// it chose.
///
/// ```
/// use halfspaces_data::Builtin;
/// use halfspaces_linalg::{FitSample, Params};
/// use halfspaces_tables::TableClassifier;
/// let data = Builtin::Ionosphere.load()?;
/// let model = TableClassifier::params().check()?.fit(data.points(), data.labels())?;
/// let report = model.report();
/// assert_eq!(report.compared().len() + report.dropped().len(), 29);
/// println!("best on {} rows: {}", report.compared_on(), report.compared()[0].candidate());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TableReport {
    pub(crate) compared: Vec<ComparedCandidate>,
    pub(crate) dropped: Vec<DroppedCandidate>,
    pub(crate) chosen: usize,
    pub(crate) learned_from: usize,
    pub(crate) compared_on: usize,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_zero"))]
    pub(crate) calibrated_on: usize,
    pub(crate) error: f64,
    #[cfg_attr(feature = "serde", serde(rename = "kept_back"))]
    pub(crate) held_out: Option<ErrorCount>,
}

#[cfg(feature = "serde")]
load_checked!(TableReport {
    compared: Vec<ComparedCandidate>,
    #[serde(default)]
    dropped: Vec<DroppedCandidate>,
    chosen: usize,
    learned_from: usize,
    compared_on: usize,
    #[serde(default)]
    calibrated_on: usize,
    error: f64,
    #[serde(rename = "kept_back")]
    held_out: Option<ErrorCount>,
});

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A candidate and its error on rows that it was not fitted to.
///
/// ```
/// use halfspaces_data::Builtin;
/// use halfspaces_linalg::{FitSample, Params};
/// use halfspaces_tables::TableClassifier;
/// let data = Builtin::Ionosphere.load()?;
/// let model = TableClassifier::params().check()?.fit(data.points(), data.labels())?;
/// // Best first.
/// let errors: Vec<f64> = model.report().compared().iter().map(|entry| entry.error()).collect();
/// assert!(errors.is_sorted() && errors[0] < 0.15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ComparedCandidate {
    pub(crate) candidate: Candidate,
    pub(crate) error: f64,
}

impl ComparedCandidate {
    getters! {
        /// The candidate.
        candidate: Candidate,

        /// The weighted fraction of wrong predictions among the rows that the candidate was not fitted to.
        error: f64,
    }
}

/// A candidate that was dropped after a round on some of the rows. Either its error exceeded that of the best candidate
/// by more than two standard errors of the difference plus the margin within which candidates are averaged, or the
/// limit on the survivors of the round excluded it.
///
/// ```
/// use halfspaces_data::Builtin;
/// use halfspaces_linalg::{FitSample, Params};
/// use halfspaces_tables::TableClassifier;
/// let data = Builtin::Ionosphere.load()?;
/// let model = TableClassifier::params().check()?.fit(data.points(), data.labels())?;
/// for entry in model.report().dropped() {
///     assert!(entry.error() >= entry.least_error() && entry.rows() <= model.report().compared_on());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DroppedCandidate {
    pub(crate) candidate: Candidate,
    pub(crate) error: f64,
    pub(crate) least_error: f64,
    pub(crate) rows: usize,
}

impl DroppedCandidate {
    getters! {
        /// The candidate.
        candidate: Candidate,

        /// The weighted fraction of wrong predictions among the rows on which the candidate was compared.
        error: f64,

        /// The smallest error of all candidates on these rows.
        least_error: f64,

        /// The number of these rows.
        rows: usize,
    }
}

impl TableReport {
    /// The candidates that were compared on all validation rows, in increasing order of their errors. The chosen
    /// candidates come first.
    #[must_use]
    pub fn compared(&self) -> &[ComparedCandidate] {
        &self.compared
    }

    /// The candidates that were dropped before the last round, in the order in which they were dropped.
    #[must_use]
    pub fn dropped(&self) -> &[DroppedCandidate] {
        &self.dropped
    }

    /// The candidates that the model averages.
    pub fn chosen(&self) -> impl Iterator<Item = &ComparedCandidate> {
        self.compared[..self.chosen].iter()
    }

    getters! {
        /// The number of training rows.
        learned_from: usize,

        /// The number of validation rows, on which the candidates were compared. The label of each of these rows was
        /// predicted by a fit that had not used the row.
        compared_on: usize,

        /// The number of rows that were used only to calibrate the probabilities, and were neither training rows nor
        /// held out. It is 0 if fewer than 1000 rows exceeded the maximum number of training rows, or if the rows have
        /// groups. In these cases, the validation rows calibrated the probabilities.
        calibrated_on: usize,

        /// The error of the average of the chosen candidates on the validation rows. This error is close to the error
        /// on fresh rows but slightly optimistic, because the candidates were chosen on the same rows.
        /// [`BinaryTableModel::error_bound`](crate::BinaryTableModel::error_bound) is an upper bound.
        error: f64,

        /// The errors of the model on the held-out rows, on which the model does not depend; `None` if there are no
        /// held-out rows.
        held_out: Option<ErrorCount>,
    }

    pub(crate) fn error_bound(&self, failure: f64) -> Result<ErrorBound, InputError> {
        match self.held_out {
            Some(errors) => errors.error_bound(failure),
            None => Ok(ErrorBound::NoInformation),
        }
    }

    #[cfg(feature = "serde")]
    fn check_saved(&self) -> Result<(), InputError> {
        let chosen = self.chosen >= 1 && self.chosen <= self.compared.len();
        InputError::check_state(
            chosen,
            "at least one candidate is chosen, and all chosen ones were compared",
        )?;
        let in_range = |error: f64| (0.0..=1.0).contains(&error);
        let errors = self.compared.iter().all(|entry| in_range(entry.error));
        InputError::check_state(errors && in_range(self.error), "errors are between 0 and 1")?;
        let sorted = self.compared.is_sorted_by(|a, b| a.error <= b.error);
        InputError::check_state(sorted, "candidates are sorted by error")?;
        let dropped = self.dropped.iter().all(|entry| {
            (1..=self.compared_on).contains(&entry.rows)
                && in_range(entry.error)
                && in_range(entry.least_error)
                && entry.error >= entry.least_error
        });
        let requirement =
            "the error of a dropped candidate is at least the least error on its validation rows";
        InputError::check_state(dropped, requirement)
    }
}
