//! The loop shared by the batch learners: find a violated point, add it, until none is left.

use crate::error::OnlineError;
use crate::scale::check_scale;
use halfspaces_linalg::{Halfspace, InputError, Label, PointSet, RowView, zeros};

/// Update cap of the batch learners unless another is set. Data separable with γ/R above 1e-3 (batch
/// perceptron) or 1.74e-3 (margin perceptron) never reach it.
pub const DEFAULT_MAX_UPDATES: u64 = 1_000_000;

/// Which violated point is taken when there are several. The guarantees hold for every choice.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::{BatchPerceptron, Pick};
/// let points = Points::from_rows(&[[1.0, 0.0], [-0.1, 1.0], [-1.0, 2.0]])?;
/// let labels = [Label::Negative; 3];
/// let fit = |pick| BatchPerceptron::params().pick(pick).check()?.fit(&points, &labels);
/// // w = 0, then (-1, 0), which is wrong about points 1 and 2, by 0.1 and 1.
/// assert_eq!(fit(Pick::First)?.halfspace.normal(), [-0.9, -1.0]);
/// // Point 2 first turns w to (0, -2), which is wrong about point 0 again.
/// assert_eq!(fit(Pick::Worst)?.halfspace.normal(), [-1.0, -2.0]);
/// # Ok::<(), halfspaces_online::OnlineError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Pick {
    /// Go round the points, updating as violations turn up. An update costs the few points up to
    /// the next violation: the fast choice.
    #[default]
    Cyclic,
    /// Start again from the first point after every update: "if there exists i" read literally.
    First,
    /// The point with the least y (w · x); one scan of all points an update.
    Worst,
}

/// How a batch run ended.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::{BatchPerceptron, BatchStatus};
/// // One point, both labels: no halfspace, and no endless loop.
/// let points = Points::from_rows(&[[1.0], [1.0]])?;
/// let labels = [Label::Positive, Label::Negative];
/// let fit = BatchPerceptron::params().max_updates(50).check()?.fit(&points, &labels)?;
/// assert_eq!((fit.status, fit.updates), (BatchStatus::CapReached, 50));
/// # Ok::<(), halfspaces_online::OnlineError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BatchStatus {
    /// No point violates the learner's condition: the guarantee of the output holds.
    Converged,
    /// The cap on updates was reached. The data may be separable with a smaller margin or not at
    /// all; the halfspace returned is the last one and carries no guarantee.
    CapReached,
}

/// What a batch learner returns.
///
/// ```
/// use halfspaces_linalg::{Classifier, Label, Points};
/// use halfspaces_online::{BatchPerceptron, BatchStatus};
/// let points = Points::from_rows(&[[1.0, 2.0], [2.0, -1.0]])?;
/// let labels = [Label::Negative, Label::Positive];
/// let fit = BatchPerceptron::params().check()?.fit(&points, &labels)?;
/// assert_eq!((fit.status, fit.updates), (BatchStatus::Converged, 1));
/// assert_eq!(fit.halfspace.label_all(&points)?, labels);
/// # Ok::<(), halfspaces_online::OnlineError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BatchFit {
    /// The last hypothesis.
    pub halfspace: Halfspace,
    /// How often it was updated.
    pub updates: u64,
    /// Inner products computed, in units of one pass over the points.
    pub passes: f64,
    /// Whether it converged.
    pub status: BatchStatus,
}

/// Parameters of a batch learner `L`, not yet checked: [`BatchParams::check`] gives the learner.
///
/// ```
/// use halfspaces_online::{MarginPerceptron, Pick};
/// let learner = MarginPerceptron::params().pick(Pick::Worst).max_updates(10_000).check()?;
/// assert!(MarginPerceptron::params().max_updates(0).check().is_err());
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct BatchParams<L> {
    sweep: Sweep,
    learner: fn(Sweep) -> L,
}

impl<L> BatchParams<L> {
    /// The defaults.
    pub(crate) fn new(learner: fn(Sweep) -> L) -> Self {
        let sweep = Sweep { max_updates: DEFAULT_MAX_UPDATES, pick: Pick::default() };
        BatchParams { sweep, learner }
    }

    /// Cap on updates, at least 1; [`DEFAULT_MAX_UPDATES`] if not set.
    pub fn max_updates(mut self, max_updates: u64) -> Self {
        self.sweep.max_updates = max_updates;
        self
    }

    /// Which violated point is taken; [`Pick::Cyclic`] if not set.
    pub fn pick(mut self, pick: Pick) -> Self {
        self.sweep.pick = pick;
        self
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for a cap of 0.
    pub fn check(self) -> Result<L, InputError> {
        let cap = self.sweep.max_updates;
        InputError::check_parameter("max_updates", cap as f64, cap > 0, "at least 1")?;
        Ok((self.learner)(self.sweep))
    }
}

/// The loop with its checked parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sweep {
    max_updates: u64,
    pick: Pick,
}

impl Sweep {
    /// Starts from w = 0 and sets w += y x for a point that `violates(w·x, y)`, until there is none
    /// or the cap is reached.
    pub(crate) fn run<P: PointSet>(
        &self,
        points: &P,
        labels: &[Label],
        violates: impl Fn(f64, Label) -> bool,
    ) -> Result<BatchFit, OnlineError> {
        let n = points.len();
        InputError::check_len(n, labels.len())?;
        if n == 0 {
            return Err(InputError::Empty.into());
        }
        for x in points.rows() {
            check_scale(x)?;
        }
        let mut weights = zeros(1, points.dim())?;
        let (mut updates, mut products) = (0, 0u64);
        // Where the walk stands; Worst always walks the whole pool.
        let mut at = 0;
        let status = loop {
            let violated = match self.pick {
                Pick::Cyclic | Pick::First => {
                    let ahead = (at..n).chain(0..at);
                    first_violation(points, labels, &weights, ahead, &violates, &mut products)?
                }
                Pick::Worst => worst_violation(points, labels, &weights, &violates, &mut products)?,
            };
            let Some(i) = violated else { break BatchStatus::Converged };
            if updates == self.max_updates {
                break BatchStatus::CapReached;
            }
            row(points, i)?.add_scaled_to(labels[i].as_f64(), &mut weights);
            updates += 1;
            at = if self.pick == Pick::Cyclic { (i + 1) % n } else { 0 };
        };
        let halfspace = Halfspace::new(weights)?;
        Ok(BatchFit { halfspace, updates, passes: products as f64 / n as f64, status })
    }
}

fn row<P: PointSet>(points: &P, i: usize) -> Result<P::Row<'_>, InputError> {
    points.row(i).ok_or(InputError::IndexOutOfRange { index: i, len: points.len() })
}

fn value<R: RowView>(x: R, weights: &[f64]) -> Result<f64, OnlineError> {
    let value = x.dot(weights);
    if value.is_finite() { Ok(value) } else { Err(OnlineError::Overflow) }
}

/// The first violated point of `walk`.
fn first_violation<P: PointSet>(
    points: &P,
    labels: &[Label],
    weights: &[f64],
    walk: impl Iterator<Item = usize>,
    violates: impl Fn(f64, Label) -> bool,
    products: &mut u64,
) -> Result<Option<usize>, OnlineError> {
    for i in walk {
        *products += 1;
        if violates(value(row(points, i)?, weights)?, labels[i]) {
            return Ok(Some(i));
        }
    }
    Ok(None)
}

/// The violated point with the least y (w · x), the first of equals.
fn worst_violation<P: PointSet>(
    points: &P,
    labels: &[Label],
    weights: &[f64],
    violates: impl Fn(f64, Label) -> bool,
    products: &mut u64,
) -> Result<Option<usize>, OnlineError> {
    let mut worst: Option<(f64, usize)> = None;
    for (i, (x, &y)) in points.rows().zip(labels).enumerate() {
        *products += 1;
        let value = value(x, weights)?;
        let signed = y.as_f64() * value;
        if violates(value, y) && worst.is_none_or(|(least, _)| signed < least) {
            worst = Some((signed, i));
        }
    }
    Ok(worst.map(|(_, i)| i))
}
