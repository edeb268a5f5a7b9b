//! Learning from a stream: one pass, in memory for the learner and one example.
//!
//! A file larger than memory is learned from as the readers yield it; the mistakes are counted on
//! the way (each prediction is made before its label is shown). What was learned before an error
//! stays learned: save the learner, mend the input, go on.

use super::learner::{OnlineLearner, Prediction};
use crate::error::OnlineError;
use halfspaces_linalg::{ExampleStream, Label};
use thiserror::Error;

/// What happened over a stretch of a stream.
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tally {
    /// Examples learned from.
    pub rounds: u64,
    /// Wrong predictions.
    pub mistakes: u64,
    /// Abstentions.
    pub abstentions: u64,
}

impl Tally {
    pub(crate) fn count(&mut self, prediction: Prediction, truth: Label) {
        self.rounds += 1;
        self.mistakes += u64::from(prediction.is_wrong(truth));
        self.abstentions += u64::from(prediction.abstains);
    }
}

/// Why a stream was left before its end. The learner is as after the examples of `tally`.
///
/// ```
/// use halfspaces_data::read::{LibsvmOptions, LibsvmSchema, LibsvmStream};
/// use halfspaces_online::{OnlineLearner, PartialFitError, Perceptron};
/// let schema = LibsvmSchema::declared(&LibsvmOptions::new().dim(2))?;
/// let mut stream = LibsvmStream::new(&b"-1 1:1\n+1 2:x\n-1 1:3\n"[..], "examples", schema);
/// let mut learner = Perceptron::new(2)?;
/// // The second line is faulty; the first is learned, and the third is next.
/// let Err(PartialFitError::Stream { tally, .. }) = learner.partial_fit(&mut stream, u64::MAX) else { panic!() };
/// assert_eq!(tally.rounds, 1);
/// assert_eq!(learner.partial_fit(&mut stream, u64::MAX)?.rounds, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PartialFitError<E> {
    /// The stream has no next example to offer. It stands behind the faulty one: calling again goes on
    /// after it.
    #[error("after {} examples: {source}", tally.rounds)]
    Stream {
        /// What was done before.
        tally: Tally,
        /// What the stream says.
        source: E,
    },
    /// The learner cannot take the example, which is passed over: calling again goes on after it.
    #[error("after {} examples, at the next: {source}", tally.rounds)]
    Learner {
        /// What was done before.
        tally: Tally,
        /// What the learner says.
        source: OnlineError,
    },
}

/// Learns from at most `most` examples of `stream`: one pass, O(d) memory. See
/// [`OnlineLearner::partial_fit`].
pub(crate) fn partial_fit<L: OnlineLearner, S: ExampleStream>(
    learner: &mut L,
    stream: &mut S,
    most: u64,
) -> Result<Tally, PartialFitError<S::Error>> {
    let mut tally = Tally::default();
    while tally.rounds < most {
        let (x, truth) = match stream.next_row() {
            Ok(Some(example)) => example,
            Ok(None) => break,
            Err(source) => return Err(PartialFitError::Stream { tally, source }),
        };
        match learner.learn(x, truth) {
            Ok(prediction) => tally.count(prediction, truth),
            Err(source) => return Err(PartialFitError::Learner { tally, source }),
        }
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Perceptron;
    use halfspaces_linalg::{DenseRow, InputError};

    /// Rows of a list; an empty one is faulty.
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
        assert_eq!(error, PartialFitError::Stream { tally, source: "faulty" });
        assert_eq!(error.to_string(), "after 1 examples: faulty");
        let tally = Tally { rounds: 1, mistakes: 1, abstentions: 0 };
        let source = InputError::DimensionMismatch { expected: 2, found: 3 }.into();
        let error = learner.partial_fit(&mut stream, u64::MAX).unwrap_err();
        assert_eq!(error, PartialFitError::Learner { tally, source });
        let last = learner.partial_fit(&mut stream, u64::MAX).unwrap();
        assert_eq!(last, Tally { rounds: 1, mistakes: 0, abstentions: 0 });
        assert_eq!(learner.updates(), 2);
    }
}
