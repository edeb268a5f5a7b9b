//! The errors of several halfspaces on points distributed over several machines.
//!
//! A [`CandidateErrors`] value is sent to the processes that hold blocks of rows. Each process counts the errors on its
//! blocks, and the counts are joined in any order ([`halfspaces_linalg::Partial`]).

use halfspaces_linalg::{
    AffineHalfspace, Classifier, DensePoints, InputError, Label, Partial, PointSet, Sum, Threads,
};

/// Halfspaces whose errors are to be counted.
///
/// ```
/// use halfspaces_linalg::{AffineHalfspace, Label, Points, Threads};
/// use halfspaces_pac::CandidateErrors;
/// let points = Points::from_rows(&[[1.0], [-1.0], [2.0]])?;
/// let labels = [Label::Positive, Label::Negative, Label::Negative];
/// let halfspace = |w: f64| AffineHalfspace::new(vec![w], 0.0);
/// let candidates = CandidateErrors { candidates: vec![halfspace(-1.0)?, halfspace(1.0)?] };
/// let counts = candidates.partial(0, &points, &labels, Threads::ONE)?.finish(1)?.unwrap();
/// assert_eq!((counts.errors(), counts.best()), (&[2, 1][..], Some(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CandidateErrors {
    /// The candidate halfspaces.
    pub candidates: Vec<AffineHalfspace>,
}

/// The error counts of the candidates on some blocks of rows.
///
/// ```
/// use halfspaces_linalg::{AffineHalfspace, Label, Points, Threads};
/// use halfspaces_pac::CandidateErrors;
/// let candidates = CandidateErrors { candidates: vec![AffineHalfspace::new(vec![1.0], 0.0)?; 2] };
/// let points = Points::from_rows(&[[1.0]])?;
/// let counts = candidates.partial(0, &points, &[Label::Negative], Threads::ONE)?;
/// assert_eq!(counts.finish(1)?.unwrap().best(), Some(0)); // a tie: the first wins
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ErrorCounts {
    rows: u64,
    errors: Vec<u64>,
}

impl ErrorCounts {
    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// For each candidate, the number of rows that it misclassifies.
    #[must_use]
    pub fn errors(&self) -> &[u64] {
        &self.errors
    }

    /// The index of the first candidate with the fewest errors; `None` if there are no candidates.
    #[must_use]
    pub fn best(&self) -> Option<usize> {
        self.errors.iter().zip(0..).min().map(|(_, candidate)| candidate)
    }
}

impl Sum for ErrorCounts {
    fn fits(&self, other: &ErrorCounts) -> bool {
        self.errors.len() == other.errors.len()
    }

    fn add(&mut self, later: ErrorCounts) {
        self.rows += later.rows;
        self.errors.iter_mut().zip(later.errors).for_each(|(sum, more)| *sum += more);
    }
}

impl CandidateErrors {
    /// Counts the errors on consecutive blocks of labelled points. The first point is the first row of block `first`.
    /// Every block must be complete, except for the last block of the whole data set.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::LengthMismatch`].
    pub fn partial(
        &self,
        first: u64,
        points: &DensePoints<'_>,
        labels: &[Label],
        threads: Threads,
    ) -> Result<Partial<ErrorCounts>, InputError> {
        InputError::check_len(points.len(), labels.len())?;
        let mut buffers = vec![(); Partial::<ErrorCounts>::groups(first, labels.len()).len()];
        threads.sum_blocks(first, labels.len(), &mut buffers, |(), block| {
            let wrong = |candidate: &AffineHalfspace| {
                InputError::check_dim(candidate.weights().len(), points.dim())?;
                let predicted = candidate.label_rows(points, block.clone())?;
                let pairs = predicted.iter().zip(&labels[block.clone()]);
                Ok(pairs.filter(|(guess, truth)| guess != truth).count() as u64)
            };
            let errors = self.candidates.iter().map(wrong).collect::<Result<_, InputError>>()?;
            Ok(ErrorCounts { rows: block.len() as u64, errors })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorCount;
    use halfspaces_linalg::BLOCK_ROWS;
    use halfspaces_linalg::Points;

    #[test]
    fn workers_count_what_one_count_counts() {
        let n = 2 * BLOCK_ROWS + 30;
        let (points, labels) = crate::test_data::noisy_with_zeros(n, 3, 1);
        let halfspace = |w: [f64; 3], b| AffineHalfspace::new(w.to_vec(), b).unwrap();
        let candidates = vec![
            halfspace([1.0, 0.0, -1.0], 0.0),
            halfspace([0.0, 1.0, 2.0], 0.5),
            halfspace([0.0, 1.0, 2.0], 0.5),
        ];
        let job = CandidateErrors { candidates };
        let mut all = Partial::default();
        for block in [2, 0, 1] {
            let rows = block * BLOCK_ROWS..n.min((block + 1) * BLOCK_ROWS);
            let values = points.as_slice()[3 * rows.start..3 * rows.end].to_vec();
            let values = Points::new(values, 3).unwrap();
            let part = job.partial(block as u64, &values, &labels[rows], Threads::ONE).unwrap();
            all.merge(part).unwrap();
        }
        let counts = all.finish(3).unwrap().unwrap();
        let alone = |c: &AffineHalfspace| ErrorCount::count(c, &points, &labels).unwrap().errors();
        let expected: Vec<u64> = job.candidates.iter().map(|c| alone(c) as u64).collect();
        assert_eq!((counts.rows(), counts.errors()), (n as u64, &expected[..]));
        let fewest = expected.iter().min().unwrap();
        assert_eq!(counts.best(), expected.iter().position(|errors| errors == fewest));
        let wrong =
            CandidateErrors { candidates: vec![AffineHalfspace::new(vec![1.0], 0.0).unwrap()] };
        assert!(wrong.partial(0, &points, &labels, Threads::ONE).is_err());
    }
}
