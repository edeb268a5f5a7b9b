//! From parameters to a learner to a model.

use crate::{Classifier, ExampleStream, InputError, Label, PointSet};
use thiserror::Error;

/// Parameters that are not yet checked. [`Params::check`] turns them into a learner, so a learner
/// with parameters out of range cannot exist.
///
/// ```
/// use halfspaces_linalg::{InputError, Params};
/// struct Rate(f64);
/// #[derive(Debug)]
/// struct Learner(f64);
/// impl Params for Rate {
///     type Learner = Learner;
///     type Error = InputError;
///     fn check(self) -> Result<Learner, InputError> {
///         InputError::check_parameter("rate", self.0, self.0 > 0.0, "above 0")?;
///         Ok(Learner(self.0))
///     }
/// }
/// assert_eq!(Rate(0.5).check()?.0, 0.5);
/// assert_eq!(Rate(-1.0).check().unwrap_err().to_string(), "rate = -1 is out of range; it must be above 0");
/// # Ok::<(), InputError>(())
/// ```
pub trait Params {
    /// What the checked parameters are.
    type Learner;

    /// What can be wrong with them.
    type Error;

    /// The learner, if the parameters are in range.
    ///
    /// # Errors
    /// The first parameter that is out of range, with the range.
    fn check(self) -> Result<Self::Learner, Self::Error>;
}

/// A learner that takes labelled points in memory.
pub trait FitSample {
    /// What it hands out.
    type Model: Classifier;

    /// What can be wrong with the sample.
    type Error: From<InputError>;

    /// Learns from labelled points, dense or sparse.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::LengthMismatch`] (one label per point is needed), and
    /// what the learner says of its own.
    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<Self::Model, Self::Error>;
}

/// A learner that takes labelled examples one at a time, in memory that does not grow with their
/// number.
pub trait FitStream {
    /// What it hands out.
    type Model: Classifier;

    /// Learns from a stream, from as many examples as the learner asks for or until it ends.
    ///
    /// # Errors
    /// [`FitError`]: what is wrong with the stream's next example, or with this learner's taking it.
    fn fit_stream<S: ExampleStream>(
        &self,
        stream: &mut S,
    ) -> Result<Self::Model, FitError<S::Error>>;
}

/// Why a fit from a stream stopped.
///
/// ```
/// use halfspaces_linalg::{FitError, InputError};
/// let fault: FitError<String> =
///     FitError::Example { taken: 7, source: InputError::DimensionMismatch { expected: 2, found: 3 } };
/// assert_eq!(fault.to_string(), "after 7 examples, at the next: expected dimension 2, found 3");
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FitError<E> {
    /// The stream has no next example to offer.
    #[error("after {taken} examples: {source}")]
    Stream {
        /// Examples taken before.
        taken: u64,
        /// What the stream says.
        source: E,
    },
    /// An example cannot be taken.
    #[error("after {taken} examples, at the next: {source}")]
    Example {
        /// Examples taken before.
        taken: u64,
        /// What is wrong with it.
        source: InputError,
    },
    /// The learner cannot be set up or has nothing to return.
    #[error(transparent)]
    Input(InputError),
}

impl<E> From<InputError> for FitError<E> {
    fn from(source: InputError) -> Self {
        FitError::Input(source)
    }
}

impl<E> FitError<E> {
    /// The example after `taken` others cannot be taken: `source` names it as that row.
    pub fn at_example(taken: u64, source: InputError) -> Self {
        FitError::Example { taken, source: source.at_row(taken as usize) }
    }

    /// The same where `before` examples had been taken by earlier fits.
    #[must_use]
    pub fn after(self, before: u64) -> Self {
        match self {
            FitError::Stream { taken, source } => {
                FitError::Stream { taken: before + taken, source }
            }
            FitError::Example { taken, source } => FitError::at_example(before + taken, source),
            FitError::Input(source) => FitError::Input(source),
        }
    }
}
