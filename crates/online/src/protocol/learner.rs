//! What every online learner is.

use super::learn_pool::one_by_one;
use super::partial_fit::{PartialFitError, Tally, partial_fit};
use crate::error::OnlineError;
use halfspaces_linalg::{ExampleStream, InputError, Label, PointSet, RowView};

/// A predicted label and the value whose sign it is; or an abstention.
///
/// ```
/// use halfspaces_linalg::Label;
/// use halfspaces_online::Prediction;
/// let p = Prediction::from_value(-0.25);
/// assert_eq!((p.label, p.value), (Label::Negative, -0.25));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Prediction {
    /// `sign(value)`.
    pub label: Label,
    /// The learner's decision value, `w · x` for a linear learner; its size is the confidence.
    pub value: f64,
    /// Whether the learner declines to commit itself to the label. An abstention is never a
    /// mistake; runs count abstentions apart.
    pub abstains: bool,
}

impl Prediction {
    /// The prediction `sign(value)`.
    #[inline]
    #[must_use]
    pub fn from_value(value: f64) -> Prediction {
        Prediction { label: Label::from_sign(value), value, abstains: false }
    }

    /// Whether the learner committed itself to another label.
    #[inline]
    #[must_use]
    pub fn is_wrong(&self, truth: Label) -> bool {
        !self.abstains && self.label != truth
    }
}

/// A learner that predicts one point at a time and is told the truth after each prediction.
///
/// The label reaches it in [`OnlineLearner::update`] only, together with the prediction it already
/// made: a learner cannot see a label before it predicts.
///
/// ```
/// use halfspaces_linalg::{DenseRow, InputError, Label, RowView};
/// use halfspaces_online::{OnlineError, OnlineLearner, Prediction};
/// /// Says what was true the last time.
/// struct Echo(Label);
/// impl OnlineLearner for Echo {
///     fn dim(&self) -> usize {
///         1
///     }
///     fn predict<R: RowView>(&self, x: R) -> Result<Prediction, OnlineError> {
///         InputError::check_dim(1, x.dim())?;
///         Ok(Prediction::from_value(self.0.as_f64()))
///     }
///     fn update<R: RowView>(&mut self, _: R, _: Prediction, truth: Label) -> Result<bool, OnlineError> {
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
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait OnlineLearner {
    /// Number of coordinates of the points it takes.
    fn dim(&self) -> usize;

    /// Predicts the label of `x`.
    ///
    /// # Errors
    /// [`halfspaces_linalg::InputError::DimensionMismatch`]; [`OnlineError::Overflow`].
    fn predict<R: RowView>(&self, x: R) -> Result<Prediction, OnlineError>;

    /// Learns the truth about `x`, of which `prediction` is this learner's present prediction.
    /// Returns whether the hypothesis changed.
    ///
    /// # Errors
    /// As [`OnlineLearner::predict`].
    fn update<R: RowView>(
        &mut self,
        x: R,
        prediction: Prediction,
        truth: Label,
    ) -> Result<bool, OnlineError>;

    /// How often the hypothesis has changed so far.
    fn updates(&self) -> u64;

    /// Predicts `x`, then learns its label: one round, for streams.
    ///
    /// # Errors
    /// As [`OnlineLearner::predict`].
    fn observe<R: RowView>(&mut self, x: R, truth: Label) -> Result<Prediction, OnlineError> {
        let prediction = self.predict(x)?;
        self.update(x, prediction, truth)?;
        Ok(prediction)
    }

    /// As [`OnlineLearner::observe`] where only the label predicted matters: the value told may be any of its
    /// sign. The hypothesis is the same to the bit.
    ///
    /// # Errors
    /// As [`OnlineLearner::predict`].
    fn learn<R: RowView>(&mut self, x: R, truth: Label) -> Result<Prediction, OnlineError> {
        self.observe(x, truth)
    }

    /// Learns from at most `most` examples of a stream, one pass, in memory for one example: files
    /// larger than memory, dense or sparse. Call again to go on; save the learner in between.
    ///
    /// ```
    /// use halfspaces_data::read::{LibsvmOptions, LibsvmSchema, LibsvmStream};
    /// use halfspaces_online::{OnlineLearner, Perceptron};
    /// let schema = LibsvmSchema::declared(&LibsvmOptions::new().dim(2))?;
    /// let mut stream = LibsvmStream::new(&b"-1 1:1\n+1 2:1\n-1 1:3\n"[..], "examples", schema);
    /// let tally = Perceptron::new(2)?.partial_fit(&mut stream, u64::MAX)?;
    /// assert_eq!((tally.rounds, tally.mistakes), (3, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PartialFitError`]: what is wrong with the stream's next example, or with this learner's
    /// taking it; all examples before are learned.
    fn partial_fit<S: ExampleStream>(
        &mut self,
        stream: &mut S,
        most: u64,
    ) -> Result<Tally, PartialFitError<S::Error>>
    where
        Self: Sized,
    {
        partial_fit(self, stream, most)
    }

    /// Learns from a pool in memory, one pass in the order given: the mistakes and the hypothesis are those of
    /// [`OnlineLearner::observe`] one by one, to the bit. The fastest way through dense points for the
    /// learners that seldom move.
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
    /// [`PartialFitError::Stream`] of [`InputError::LengthMismatch`], before anything is learned;
    /// [`PartialFitError::Learner`] at an example that this learner cannot take, all before learned.
    fn learn_pool<P: PointSet>(
        &mut self,
        points: &P,
        labels: &[Label],
    ) -> Result<Tally, PartialFitError<InputError>>
    where
        Self: Sized,
    {
        one_by_one(self, points, labels)
    }
}
