//! The choice among halfspaces from any source.

use super::Elimination;
use super::selector::Selector;
use halfspaces_linalg::{InputError, Label, PointSet, Points, RowView, Threads};

/// Candidate halfspaces. [`Candidates::choose`] finds the candidate with the fewest errors on a sample. Every fit of a
/// Perspectron ends with such a choice. Use this type for halfspaces from other sources, such as several learners.
///
/// *Guarantee.* With |T₂| = ⌈(8/ε²) ln(2K/δ)⌉ independent examples, the error of the chosen halfspace is within ε/2 of
/// the smallest error with probability at least 1 - δ, for every [`Elimination`].
///
/// *Cost.* For K candidates, each example takes at most O(Kd) time. The remaining candidates are multiplied in single
/// precision with blocks of 512 examples. Signs in doubt are computed again in double precision, so the counts are
/// those of a plain loop. The choice stores a second copy of the candidates. Points are copied block by block.
///
/// *Source.* CKST24 Lemma 4. Dropping candidates early is ours; see docs/theory/thinned-selection.md. *Claims:* P8,
/// P14.
///
/// ```
/// use halfspaces_linalg::{Label, Points, Threads};
/// use halfspaces_pac::{Candidates, Elimination};
/// let points = Points::from_rows(&[[0.5, 0.1], [-0.3, 0.2], [0.1, -0.9]])?;
/// let labels = [Label::Positive, Label::Negative, Label::Positive];
/// let halfspaces = Points::from_rows(&[[0.0, 1.0], [2.0, 0.0]])?;
/// let choice = Candidates::new(&halfspaces, Elimination::Lossless, 0.05)?.choose(&points, &labels)?;
/// assert_eq!((choice.index, choice.errors), (1, 0));
/// let candidates = Candidates::new(&halfspaces, Elimination::Lossless, 0.05)?;
/// assert_eq!(candidates.with_threads(Threads::all()).choose(&points, &labels)?, choice);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Candidates<'c> {
    normals: &'c Points,
    elimination: Elimination,
    failure: f64,
    threads: Threads,
}

/// The result of [`Candidates::choose`].
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_pac::{Candidates, Choice, Elimination};
/// let candidates = Points::from_rows(&[[1.0], [-1.0]])?;
/// let points = Points::from_rows(&[[0.5], [1.0], [-0.5]])?;
/// let labels = [Label::Negative, Label::Negative, Label::Negative];
/// let choice = Candidates::new(&candidates, Elimination::Never, 0.1)?.choose(&points, &labels)?;
/// // The second candidate is wrong only about the last point.
/// assert_eq!(choice, Choice { index: 1, errors: 1, examples: 3, remaining: 2 });
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The index of the chosen candidate. Ties go to the first candidate.
    pub index: usize,
    /// The number of errors of the chosen candidate.
    pub errors: u64,
    /// The number of examples on which errors were counted. Only [`Elimination::EarlyStop`] may stop before the last
    /// example.
    pub examples: u64,
    /// The number of candidates that were never dropped.
    pub remaining: usize,
}

impl<'c> Candidates<'c> {
    /// Creates the candidates from the normals of halfspaces. Each row is one normal, which may have any norm.
    /// `failure` is the failure probability δ. Only [`Elimination::Statistical`] and [`Elimination::EarlyStop`] use it.
    ///
    /// # Errors
    /// [`InputError::Empty`]; [`InputError::ParameterOutOfRange`] for δ outside (0, 1).
    pub fn new(
        normals: &'c Points,
        elimination: Elimination,
        failure: f64,
    ) -> Result<Self, InputError> {
        if normals.is_empty() {
            return Err(InputError::Empty);
        }
        let in_range = failure > 0.0 && failure < 1.0;
        InputError::check_parameter("failure", failure, in_range, "above 0 and below 1")?;
        Ok(Candidates { normals, elimination, failure, threads: Threads::ONE })
    }

    /// Sets the number of threads that count errors. The choice does not depend on this number. Default: one.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
        self
    }

    /// Chooses the candidate with the fewest errors on a sample of points in the unit ball.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::LengthMismatch`], [`InputError::Empty`];
    /// [`InputError::OutsideBall`].
    pub fn choose<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<Choice, InputError> {
        InputError::check_dim(self.normals.dim(), points.dim())?;
        InputError::check_len(points.len(), labels.len())?;
        if labels.is_empty() {
            return Err(InputError::Empty);
        }
        let planned = labels.len() as u64;
        let mut selector =
            Selector::new(self.normals.dim(), planned, self.elimination, self.failure)
                .with_candidates(self.normals.as_slice())
                .with_threads(self.threads);
        for (row, (x, label)) in points.rows().zip(labels).enumerate() {
            InputError::check_in_ball(x.norm_sq()).map_err(|error| error.at_row(row))?;
            selector.observe(x, *label);
            if selector.is_over() {
                break;
            }
        }
        let (index, errors) = selector.best();
        Ok(Choice { index, errors, examples: selector.seen(), remaining: selector.alive() })
    }
}
