//! Counts of an online run.

use super::prediction::Prediction;
use halfspaces_linalg::{FitError, InputError, Label};
use thiserror::Error;

/// The counts of a pass over a stream or a pool.
///
/// ```
/// use halfspaces_data::LabelledPoints;
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::{OnlineLearner, Perceptron, Tally};
/// let points = Points::from_rows(&[[1.0], [2.0], [3.0]])?;
/// let mut stream = LabelledPoints::new(&points, &[Label::Negative; 3])?;
/// let mut learner = Perceptron::new(1)?;
/// let tally = learner.partial_fit(&mut stream, 2)?;
/// assert_eq!(tally, Tally { rounds: 2, mistakes: 1, abstentions: 0 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Number of examples learned from.
    pub rounds: u64,
    /// Number of wrong predictions.
    pub mistakes: u64,
    /// Number of abstentions.
    pub abstentions: u64,
}

impl Tally {
    /// Counts the next round, or returns the error that stopped the learner.
    pub(crate) fn record<E>(
        &mut self,
        round: Result<Prediction, InputError>,
        truth: Label,
    ) -> Result<(), PartialFitError<E>> {
        match round {
            Ok(prediction) => {
                self.rounds += 1;
                self.mistakes += u64::from(prediction.is_wrong(truth));
                self.abstentions += u64::from(prediction.abstains);
                Ok(())
            }
            Err(source) => {
                let fault = FitError::at_example(self.rounds, source);
                Err(PartialFitError { tally: *self, fault })
            }
        }
    }
}

/// The error that stopped a learner before the end of a stream or a pool. The learner keeps what it has learned from
/// the earlier examples, which `tally` counts, and another call continues after the faulty example.
///
/// ```
/// use halfspaces_linalg::{DenseRow, ExampleStream, FitError, InputError, Label};
/// use halfspaces_online::{OnlineLearner, Perceptron};
///
/// /// Numbers as points with one coordinate, labelled -1.
/// struct Numbers(Vec<[f64; 1]>, usize);
///
/// impl ExampleStream for Numbers {
///     type Row<'a> = DenseRow<'a>;
///     type Error = InputError;
///
///     fn dim(&self) -> usize {
///         1
///     }
///
///     fn next_row(&mut self) -> Result<Option<(DenseRow<'_>, Label)>, InputError> {
///         self.1 += 1;
///         let row = self.0.get(self.1 - 1);
///         row.map(|x| Ok((DenseRow::new(x)?, Label::Negative))).transpose()
///     }
/// }
///
/// // The second number is NaN. The learner learns from the first; the third comes next.
/// let mut stream = Numbers(vec![[1.0], [f64::NAN], [3.0]], 0);
/// let mut learner = Perceptron::new(1)?;
/// let error = learner.partial_fit(&mut stream, u64::MAX).unwrap_err();
/// assert!(matches!(error.fault, FitError::Stream { taken: 1, .. }));
/// assert_eq!(error.tally.mistakes, 1);
/// assert_eq!(learner.partial_fit(&mut stream, u64::MAX)?.rounds, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{fault}")]
pub struct PartialFitError<E> {
    /// The counts before the error.
    pub tally: Tally,
    /// The error, in the form that [`halfspaces_linalg::FitStream`] uses.
    pub fault: FitError<E>,
}

impl<E> From<InputError> for PartialFitError<E> {
    /// An error that occurred before anything was learned.
    fn from(fault: InputError) -> Self {
        PartialFitError { tally: Tally::default(), fault: FitError::Input(fault) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OnlineLearner, Perceptron};
    use halfspaces_linalg::{DenseRow, ExampleStream};

    /// Rows of a list; an empty row is invalid.
    struct List(std::vec::IntoIter<Vec<f64>>, Vec<f64>);

    impl ExampleStream for List {
        type Row<'a> = DenseRow<'a>;
        type Error = &'static str;

        fn dim(&self) -> usize {
            2
        }

        fn next_row(&mut self) -> Result<Option<(DenseRow<'_>, Label)>, &'static str> {
            let Some(row) = self.0.next() else { return Ok(None) };
            self.1 = row;
            let row = DenseRow::new(&self.1).map_err(|_| "faulty")?;
            Ok(Some((row, Label::Negative)))
        }
    }

    #[test]
    fn an_error_loses_nothing_and_the_stream_goes_on() {
        let rows = vec![
            vec![1.0, 0.0],
            vec![1.0, 0.0],
            vec![f64::NAN, 0.0],
            vec![0.0, 1.0],
            vec![1.0, 1.0, 1.0],
            vec![1.0, 1.0],
        ];
        let mut stream = List(rows.into_iter(), vec![]);
        let mut learner = Perceptron::new(2).unwrap();
        let one = learner.partial_fit(&mut stream, 1).unwrap();
        assert_eq!(one, Tally { rounds: 1, mistakes: 1, abstentions: 0 });
        let tally = Tally { rounds: 1, mistakes: 0, abstentions: 0 };
        let error = learner.partial_fit(&mut stream, u64::MAX).unwrap_err();
        let fault = FitError::Stream { taken: 1, source: "faulty" };
        assert_eq!(error, PartialFitError { tally, fault });
        assert_eq!(error.to_string(), "after 1 examples: faulty");
        let tally = Tally { rounds: 1, mistakes: 1, abstentions: 0 };
        let source = InputError::DimensionMismatch { expected: 2, found: 3 };
        let error = learner.partial_fit(&mut stream, u64::MAX).unwrap_err();
        let fault = FitError::Example { taken: 1, source };
        assert_eq!(error, PartialFitError { tally, fault });
        let last = learner.partial_fit(&mut stream, u64::MAX).unwrap();
        assert_eq!(last, Tally { rounds: 1, mistakes: 0, abstentions: 0 });
        assert_eq!(learner.updates(), 2);
    }

    #[test]
    fn an_abstention_is_no_mistake() {
        let mut learner = crate::ModifiedPerceptron::from_start(vec![1.0, 0.0], 0.5).unwrap();
        let points = halfspaces_linalg::Points::from_rows(&[[0.0, 1.0], [-1.0, 0.0]]).unwrap();
        // The learner abstains on the point orthogonal to its start, and makes a wrong prediction on the point opposite
        // to its start.
        let tally = learner.learn_pool(&points, &[Label::Negative, Label::Positive]).unwrap();
        assert_eq!(tally, Tally { rounds: 2, mistakes: 1, abstentions: 1 });
    }
}
