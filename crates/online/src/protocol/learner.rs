//! What every online learner is.

use super::prediction::Prediction;
use super::tally::{PartialFitError, Tally};
use halfspaces_linalg::{
    Classifier, ExampleStream, FitError, InputError, Label, PointSet, RowView,
};
use std::convert::Infallible;

/// A learner that guesses the label of one point at a time and is told the truth after each guess.
///
/// The label reaches it in [`OnlineLearner::update`] only, together with the guess it already made: a
/// learner cannot see a label before it guesses. Mistake bounds count wrong guesses.
///
/// Its state is a [`Classifier`] at any time: what it would hand out if learning ended now. For most
/// learners that labels points as [`OnlineLearner::guess`] does. It does not where a learner's best
/// hypothesis is not the one its mistake bound speaks of: an averaged perceptron guesses with its present
/// weights and classifies with their mean. Hence the two names: `guess` belongs to the protocol,
/// [`Classifier::label`] to everything else.
///
/// ```
/// use halfspaces_linalg::{Classifier, DenseRow, InputError, Label, RowView};
/// use halfspaces_online::{OnlineLearner, Prediction};
/// /// Says what was true the last time.
/// struct Echo(Label);
/// impl Classifier for Echo {
///     fn dim(&self) -> usize {
///         1
///     }
///     fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
///         InputError::check_dim(1, x.dim())?;
///         Ok(self.0.as_f64())
///     }
/// }
/// impl OnlineLearner for Echo {
///     fn update<R: RowView>(&mut self, _: R, _: Prediction, truth: Label) -> Result<bool, InputError> {
///         Ok(std::mem::replace(&mut self.0, truth) != truth)
///     }
///     fn updates(&self) -> u64 {
///         0
///     }
/// }
/// let mut echo = Echo(Label::Positive);
/// let x = DenseRow::new(&[7.0])?;
/// assert!(echo.observe(x, Label::Negative)?.is_wrong(Label::Negative));
/// assert!(!echo.observe(x, Label::Negative)?.is_wrong(Label::Negative));
/// assert_eq!(echo.label(x)?, Label::Negative);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait OnlineLearner: Classifier {
    /// The learner's guess in the next round of the protocol, if `x` is the point asked. To label points
    /// with what has been learned, use [`Classifier::label`].
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::Overflow`]; what else the learner refuses.
    #[inline]
    fn guess<R: RowView>(&self, x: R) -> Result<Prediction, InputError> {
        self.decision_value(x).map(Prediction::from_value)
    }

    /// Learns the truth about `x`, of which `prediction` is this learner's present guess. Returns
    /// whether the hypothesis changed.
    ///
    /// # Errors
    /// As [`OnlineLearner::guess`]; the learner is then as before.
    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, InputError>;

    /// How often the hypothesis has changed so far.
    fn updates(&self) -> u64;

    /// Guesses the label of `x`, then learns it: one round.
    ///
    /// # Errors
    /// As [`OnlineLearner::guess`].
    fn observe<R: RowView>(&mut self, x: R, truth: Label) -> Result<Prediction, InputError> {
        let prediction = self.guess(x)?;
        self.update(x, prediction, truth)?;
        Ok(prediction)
    }

    /// As [`OnlineLearner::observe`] where only the label guessed matters: the value returned may be any
    /// of its sign. The hypothesis is the same to the bit.
    ///
    /// # Errors
    /// As [`OnlineLearner::guess`].
    fn learn<R: RowView>(&mut self, x: R, truth: Label) -> Result<Prediction, InputError> {
        self.observe(x, truth)
    }

    /// Learns from at most `most` examples of a stream, in one pass and in memory for one example: files
    /// larger than memory, dense or sparse. Call again to go on; save the learner in between.
    ///
    /// ```
    /// use halfspaces_data::LabelledPoints;
    /// use halfspaces_linalg::{Label, Points};
    /// use halfspaces_online::{OnlineLearner, Perceptron};
    /// let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [3.0, 0.0]])?;
    /// let labels = [Label::Negative, Label::Positive, Label::Negative];
    /// let mut stream = LabelledPoints::new(&points, &labels)?;
    /// let tally = Perceptron::new(2)?.partial_fit(&mut stream, u64::MAX)?;
    /// assert_eq!((tally.rounds, tally.mistakes), (3, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PartialFitError`]: what is wrong with the stream's next example, or with this learner's
    /// taking it; all examples before are learned. Calling again goes on after the faulty example.
    fn partial_fit<S: ExampleStream>(
        &mut self,
        stream: &mut S,
        most: u64,
    ) -> Result<Tally, PartialFitError<S::Error>>
    where
        Self: Sized,
    {
        let mut tally = Tally::default();
        while tally.rounds < most {
            match stream.next_row() {
                Ok(Some((x, truth))) => tally.record(self.learn(x, truth), truth)?,
                Ok(None) => break,
                Err(source) => {
                    let fault = FitError::Stream { taken: tally.rounds, source };
                    return Err(PartialFitError { tally, fault });
                }
            }
        }
        Ok(tally)
    }

    /// Learns from a pool in memory, in one pass and in the order given: the mistakes and the hypothesis
    /// are those of [`OnlineLearner::observe`] one by one, to the bit. The fastest way through dense
    /// points for the learners that seldom move.
    ///
    /// ```
    /// use halfspaces_linalg::{Label, Points};
    /// use halfspaces_online::{OnlineLearner, Perceptron};
    /// let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [2.0, 3.0]])?;
    /// let tally = Perceptron::new(2)?.learn_pool(&points, &[Label::Negative; 3])?;
    /// assert_eq!((tally.rounds, tally.mistakes), (3, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FitError::Input`] of [`InputError::LengthMismatch`], before anything is learned;
    /// [`FitError::Example`] at an example that this learner cannot take, all before learned.
    fn learn_pool<P: PointSet>(
        &mut self,
        points: &P,
        labels: &[Label],
    ) -> Result<Tally, PartialFitError<Infallible>>
    where
        Self: Sized,
    {
        InputError::check_len(points.len(), labels.len())?;
        let mut tally = Tally::default();
        for (x, &truth) in points.rows().zip(labels) {
            tally.record(self.learn(x, truth), truth)?;
        }
        Ok(tally)
    }
}
