//! Parameters of a labelling session. Part of the model of `LabellingSession`. Claims: S10, S10n, S10s, S10c.

use super::features::KERNELS;
use halfspaces_linalg::{InputError, Params, Threads, setters};

/// Maximum number of `f32` features of a pool, over all kernels. Pools that would exceed this number use fewer
/// landmarks.
const MAX_FEATURES: usize = 30_000_000;
const MIN_LANDMARKS: usize = 40;
/// Maximum number of classes. Each class needs a mean for every point and landmark, and a person cannot tell more
/// classes apart.
const MAX_CLASSES: usize = 1000;

/// The unchecked parameters of a labelling session. `check()` returns the checked parameters, [`Labelling`].
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_online::Labelling;
/// let labelling = Labelling::params(2).seed(7).check()?;
/// assert_eq!(labelling.classes(), 2);
/// assert!(Labelling::params(1).check().is_err());
/// assert!(Labelling::params(1000).check().is_ok() && Labelling::params(1001).check().is_err());
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[must_use]
pub struct LabellingParams {
    classes: usize,
    landmarks: usize,
    seed: u64,
    #[cfg_attr(feature = "serde", serde(skip))]
    threads: Threads,
}

impl LabellingParams {
    setters! {
        /// Maximum number of landmarks of each kernel. Landmarks are points of the pool. Near a landmark, labels may
        /// differ from what the columns predict. Pools of more than 12 500 points use fewer landmarks, so that the
        /// features of the kernels take 120 MB. Default: 400.
        landmarks: usize,

        /// Seed for the choice of landmarks. Default: 0.
        seed: u64,

        /// Threads for the features and for the scan of the pool after each answer. The results do not depend on the
        /// number of threads. Default: one.
        threads: Threads,
    }
}

impl Params for LabellingParams {
    type Learner = Labelling;
    type Error = InputError;

    fn check(self) -> Result<Labelling, InputError> {
        let (classes, landmarks) = (self.classes as f64, self.landmarks as f64);
        let in_range = (2..=MAX_CLASSES).contains(&self.classes);
        InputError::check_parameter("classes", classes, in_range, "from 2 to 1000")?;
        InputError::check_parameter("landmarks", landmarks, self.landmarks >= 1, "at least 1")?;
        Ok(Labelling(self))
    }
}

/// Checked parameters of a labelling session. See [`LabellingSession`](crate::LabellingSession).
///
/// ```
/// use halfspaces_linalg::{Params, Points};
/// use halfspaces_online::Labelling;
/// let points = Points::from_rows(&[[1.0, 0.2], [0.9, -0.3], [-1.0, 0.1]])?;
/// let labelling = Labelling::params(2).check()?;
/// let mut session = labelling.session(&points)?;
/// assert!(session.next().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "LabellingParams", into = "LabellingParams"))]
pub struct Labelling(LabellingParams);

impl TryFrom<LabellingParams> for Labelling {
    type Error = InputError;

    fn try_from(params: LabellingParams) -> Result<Labelling, InputError> {
        params.check()
    }
}

impl From<Labelling> for LabellingParams {
    fn from(labelling: Labelling) -> LabellingParams {
        labelling.0
    }
}

impl Labelling {
    /// Default parameters for the classes 0 to `classes` - 1. There may be at most 1000 classes. Two classes work best.
    pub fn params(classes: usize) -> LabellingParams {
        LabellingParams { classes, landmarks: 400, seed: 0, threads: Threads::ONE }
    }

    /// Number of classes.
    #[must_use]
    pub fn classes(self) -> usize {
        self.0.classes
    }

    pub(super) fn seed(self) -> u64 {
        self.0.seed
    }

    pub(super) fn threads(self) -> Threads {
        self.0.threads
    }

    pub(super) fn landmarks_for(self, points: usize) -> usize {
        let most = (MAX_FEATURES / KERNELS / points.max(1)).max(MIN_LANDMARKS);
        self.0.landmarks.min(most)
    }
}
