//! The trait of online learners.

use super::prediction::Prediction;
use super::tally::{PartialFitError, Tally};
use halfspaces_linalg::{
    Classifier, ExampleStream, FitError, InputError, Label, PointSet, RowView,
};
use std::convert::Infallible;

/// A learner that predicts the label of one point at a time and learns the true label after each prediction.
///
/// A label reaches the learner only in [`OnlineLearner::update`], together with the prediction already made, so a
/// learner cannot see a label before it predicts. Mistake bounds count wrong predictions.
///
/// A learner is also a [`Classifier`]: the model that you would use if learning ended now. Most learners classify a
/// point exactly as [`OnlineLearner::guess`] predicts it. The two differ if a learner's mistake bound does not hold for
/// its best hypothesis: the averaged perceptron predicts with its current weights and classifies with their mean. Use
/// `guess` in the protocol and [`Classifier::label`] everywhere else.
///
/// ```
/// use halfspaces_linalg::{Classifier, DenseRow, InputError, Label, RowView};
/// use halfspaces_online::{OnlineLearner, Prediction};
/// /// Predicts the label of the previous round.
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
    /// The prediction for `x` in the next round of the protocol. To label points with the learned model, use
    /// [`Classifier::label`].
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::Overflow`], and any further errors that the learner documents.
    #[inline]
    fn guess<R: RowView>(&self, x: R) -> Result<Prediction, InputError> {
        self.decision_value(x).map(Prediction::from_value)
    }

    /// Learns the true label of `x`. Returns whether the hypothesis changed.
    ///
    /// `prediction` must be what [`OnlineLearner::guess`] returns for `x` now; [`OnlineLearner::observe`] ensures this.
    /// It is an argument so that w · x is not computed twice. With a different prediction, the learner updates as if it
    /// had made that prediction, and its mistake bound no longer holds.
    ///
    /// # Errors
    /// The errors of [`OnlineLearner::guess`]; the learner is then unchanged.
    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, InputError>;

    /// The number of times the hypothesis has changed.
    fn updates(&self) -> u64;

    /// Plays one round: predicts the label of `x`, then learns the true label.
    ///
    /// # Errors
    /// The errors of [`OnlineLearner::guess`].
    fn observe<R: RowView>(&mut self, x: R, truth: Label) -> Result<Prediction, InputError> {
        let prediction = self.guess(x)?;
        self.update(x, prediction, truth)?;
        Ok(prediction)
    }

    /// Like [`OnlineLearner::observe`], but only the sign of the returned value is guaranteed to be right. This can be
    /// faster. The learned hypothesis is the same, bit for bit.
    ///
    /// # Errors
    /// The errors of [`OnlineLearner::guess`].
    fn learn<R: RowView>(&mut self, x: R, truth: Label) -> Result<Prediction, InputError> {
        self.observe(x, truth)
    }

    /// Learns from at most `most` examples of a dense or sparse stream, in one pass. Only one example is in memory at a
    /// time, so the stream may be a file larger than memory. Call the function again to continue; the learner can be
    /// saved between the calls.
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
    /// [`PartialFitError`] if the stream's next example is invalid or the learner rejects it. The learner has then
    /// learned from all earlier examples, and another call continues after the faulty one.
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

    /// Learns from a pool in memory, in one pass and in the given order. The mistakes and the hypothesis are the same,
    /// bit for bit, as after calling [`OnlineLearner::observe`] for each point. For learners that change rarely, this
    /// is the fastest way to learn from dense points.
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
    /// [`FitError::Input`] with [`InputError::LengthMismatch`] before anything is learned; [`FitError::Example`] at an
    /// example that the learner rejects, after learning from all earlier examples.
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
