//! Parameters, learners and fitting.

use crate::{Classifier, ExampleStream, InputError, Label, PointSet};
use thiserror::Error;

/// Unchecked parameters. [`Params::check`] turns them into a learner, so the parameters of a learner are always in
/// range.
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
    /// The learner with these parameters.
    type Learner;

    /// The error for invalid parameters.
    type Error;

    /// Returns the learner if all parameters are in range.
    ///
    /// # Errors
    /// Returns an error if a parameter is out of range. The error names the first such parameter and its accepted
    /// range.
    fn check(self) -> Result<Self::Learner, Self::Error>;
}

/// A learner that fits a model to labelled points in memory.
pub trait FitSample {
    /// The fitted model.
    type Model: Classifier;

    /// The error for invalid samples.
    type Error: From<InputError>;

    /// Fits a model to labelled points, dense or sparse.
    ///
    /// # Errors
    /// [`InputError::Empty`], [`InputError::LengthMismatch`] (one label per point is required), and errors specific to
    /// the learner.
    fn fit<P: PointSet>(&self, points: &P, labels: &[Label]) -> Result<Self::Model, Self::Error>;
}

/// Fits a model directly from parameters: `params.fit(..)` is short for `params.check()?.fit(..)`.
impl<P> FitSample for P
where
    P: Params + Clone,
    P::Learner: FitSample,
    <P::Learner as FitSample>::Error: From<P::Error>,
{
    type Model = <P::Learner as FitSample>::Model;
    type Error = <P::Learner as FitSample>::Error;

    fn fit<S: PointSet>(&self, points: &S, labels: &[Label]) -> Result<Self::Model, Self::Error> {
        self.clone().check()?.fit(points, labels)
    }
}

/// A learner that reads labelled examples one at a time. Its memory use does not grow with the number of examples.
pub trait FitStream {
    /// The fitted model.
    type Model: Classifier;

    /// Fits a model to examples from a stream. Stops when the learner needs no more examples or when the stream ends.
    ///
    /// # Errors
    /// [`FitError`] if the stream fails, or if the learner cannot use an example.
    fn fit_stream<S: ExampleStream>(
        &self,
        stream: &mut S,
    ) -> Result<Self::Model, FitError<S::Error>>;
}

/// Fits a model directly from parameters: `params.fit_stream(..)` is short for `params.check()?.fit_stream(..)`.
impl<P> FitStream for P
where
    P: Params<Error = InputError> + Clone,
    P::Learner: FitStream,
{
    type Model = <P::Learner as FitStream>::Model;

    fn fit_stream<S: ExampleStream>(
        &self,
        stream: &mut S,
    ) -> Result<Self::Model, FitError<S::Error>> {
        self.clone().check()?.fit_stream(stream)
    }
}

/// The reason why a fit to a stream failed.
///
/// ```
/// use halfspaces_linalg::{FitError, InputError};
/// let fault: FitError<String> =
///     FitError::Example { taken: 7, source: InputError::DimensionMismatch { expected: 2, found: 3 } };
/// assert_eq!(fault.to_string(), "example 8: expected dimension 2, found 3");
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FitError<E> {
    /// The stream failed to provide the next example.
    #[error("after {taken} examples: {source}")]
    Stream {
        /// Number of examples taken before the failure.
        taken: u64,
        /// The error of the stream.
        source: E,
    },
    /// The learner cannot use an example.
    #[error("example {}: {source}", .taken.saturating_add(1))]
    Example {
        /// Number of examples taken before this one.
        taken: u64,
        /// The reason why the learner cannot use the example.
        source: InputError,
    },
    /// The learner cannot be initialised or has no result.
    #[error(transparent)]
    Input(InputError),
}

impl<E> From<InputError> for FitError<E> {
    fn from(source: InputError) -> Self {
        FitError::Input(source)
    }
}

impl<E> FitError<E> {
    /// An error for the example that follows the first `taken` examples. The row number in `source` is set accordingly.
    pub fn at_example(taken: u64, source: InputError) -> Self {
        FitError::Example { taken, source: source.at_row(taken as usize) }
    }

    /// The same error, with the `before` examples of earlier fits added to its example count.
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
