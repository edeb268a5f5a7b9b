//! The parameters, the result and the main loop of the batch learners. The loop finds a violated point, adds it to the
//! weights, and repeats until no point is violated.
//!
//! Claims: K4, K4s, K5, K5s.

use crate::scale::check_scale;
use halfspaces_linalg::kernels::{Wide, run_wide};
use halfspaces_linalg::{
    Halfspace, InputError, Label, Params, PointSet, RowView, Termination, checkpoint, classify_by,
    getters, setters, zeros,
};

/// Default cap on the updates of a batch learner. The cap is never reached on data that are separable with γ/R above
/// 1e-3 (batch perceptron) or 1.74e-3 (margin perceptron).
pub const DEFAULT_MAX_UPDATES: u64 = 1_000_000;

/// The rule for picking one of several violated points. The guarantees hold for every rule.
///
/// ```
/// use halfspaces_linalg::{FitSample, Label, Params, Points};
/// use halfspaces_online::{BatchPerceptron, Pick};
/// let points = Points::from_rows(&[[1.0, 0.0], [-0.1, 1.0], [-1.0, 2.0]])?;
/// let labels = [Label::Negative; 3];
/// let fit = |pick| BatchPerceptron::params().pick(pick).check()?.fit(&points, &labels);
/// // w = 0, then (-1, 0). Now points 1 and 2 are violated, by 0.1 and 1.
/// assert_eq!(fit(Pick::First)?.halfspace().normal(), [-0.9, -1.0]);
/// // Point 2 first turns w to (0, -2), which violates point 0 again.
/// assert_eq!(fit(Pick::Worst)?.halfspace().normal(), [-1.0, -2.0]);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pick {
    /// Cycle through the points and update at each violation. Each update visits only the points up to the next
    /// violation, so this is the fast rule.
    #[default]
    Cyclic,
    /// Start again from the first point after every update. This is the literal reading of "if there exists i".
    First,
    /// Update at the point with the smallest y (w · x). Each update costs one scan of all points.
    Worst,
}

/// The result of [`crate::BatchPerceptron`] and [`crate::MarginPerceptron`]: the last halfspace and the reason why the
/// run ended.
///
/// ```
/// use halfspaces_linalg::{Classifier, FitSample, Label, Params, Points, Termination};
/// use halfspaces_online::BatchPerceptron;
/// let points = Points::from_rows(&[[1.0, 2.0], [2.0, -1.0]])?;
/// let labels = [Label::Negative, Label::Positive];
/// let fit = BatchPerceptron::params().check()?.fit(&points, &labels)?;
/// assert_eq!((fit.termination(), fit.updates()), (Termination::Converged, 1));
/// assert_eq!(fit.label_all(&points)?, labels);
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BatchFit {
    halfspace: Halfspace,
    updates: u64,
    passes: f64,
    termination: Termination,
}

impl BatchFit {
    getters! {
        /// The last hypothesis.
        halfspace: &Halfspace,

        /// Number of updates.
        updates: u64,

        /// Number of passes over the points: the number of inner products computed, divided by the number of points.
        passes: f64,

        /// `Converged`: no point violates the learner's condition, so the guarantee holds. `CapReached`: the cap on
        /// updates was reached; the points may be separable with a smaller margin or not at all. `Stalled`: the
        /// violated points are so short compared with w that adding them changes no digit of w; a zero point always has
        /// this effect.
        termination: Termination,
    }
}

classify_by!(BatchFit, halfspace);

/// The unchecked parameters of a batch learner `L`; [`Params::check`] returns the learner.
///
/// ```
/// use halfspaces_linalg::Params;
/// use halfspaces_online::{MarginPerceptron, Pick};
/// let learner = MarginPerceptron::params().pick(Pick::Worst).max_updates(10_000).check()?;
/// assert!(MarginPerceptron::params().max_updates(0).check().is_err());
/// # Ok::<(), halfspaces_linalg::InputError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct BatchParams<L> {
    max_updates: u64,
    pick: Pick,
    learner: fn(UpdateLoop) -> L,
}

impl<L> BatchParams<L> {
    /// The default parameters.
    pub(super) fn new(learner: fn(UpdateLoop) -> L) -> Self {
        BatchParams { max_updates: DEFAULT_MAX_UPDATES, pick: Pick::default(), learner }
    }

    setters! {
        /// Cap on the number of updates, at least 1. Default: [`DEFAULT_MAX_UPDATES`].
        max_updates: u64,

        /// The rule that picks a violated point. Default: [`Pick::Cyclic`].
        pick: Pick,
    }
}

impl<L> Params for BatchParams<L> {
    type Learner = L;
    type Error = InputError;

    fn check(self) -> Result<L, InputError> {
        let BatchParams { max_updates, pick, learner } = self;
        check_max_updates(max_updates)?;
        Ok(learner(UpdateLoop { max_updates, pick }))
    }
}

pub(super) fn check_max_updates(cap: u64) -> Result<(), InputError> {
    InputError::check_parameter("max_updates", cap as f64, cap > 0, "at least 1")
}

/// Checks that there is one label per point and at least one point.
pub(super) fn check_sample<P: PointSet>(points: &P, labels: &[Label]) -> Result<(), InputError> {
    InputError::check_len(points.len(), labels.len())?;
    if labels.is_empty() { Err(InputError::Empty) } else { Ok(()) }
}

/// The main loop with its checked parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UpdateLoop {
    max_updates: u64,
    pick: Pick,
}

impl UpdateLoop {
    /// Starts from w = 0 and repeatedly sets w += y x for a violated point, that is, a point where `violates(w·x, y)`
    /// is true. Stops when no point is violated, when no update changes w, or when the cap is reached.
    pub(super) fn run<P: PointSet>(
        &self,
        points: &P,
        labels: &[Label],
        violates: impl Fn(f64, Label) -> bool,
    ) -> Result<BatchFit, InputError> {
        check_sample(points, labels)?;
        for (row, x) in points.rows().enumerate() {
            check_scale(x).map_err(|error| error.at_row(row))?;
        }
        let n = points.len();
        let mut weights = zeros(1, points.dim())?;
        let (mut updates, mut products) = (0, 0u64);
        // The position in the pool from which the next search starts; `Worst` always scans the whole pool.
        let mut at = 0;
        // The point at which w last stopped changing. If the search returns to this point without a change, w never
        // changes again.
        let mut still_since = None;
        let termination = loop {
            checkpoint();
            let violated = match self.pick {
                Pick::Cyclic | Pick::First => {
                    let ahead = (at..n).chain(0..at);
                    first_violation(points, labels, &weights, ahead, &violates, &mut products)?
                }
                Pick::Worst => worst_violation(points, labels, &weights, &violates, &mut products)?,
            };
            let Some(i) = violated else { break Termination::Converged };
            if still_since == Some(i) {
                break Termination::Stalled;
            }
            if updates == self.max_updates {
                break Termination::CapReached { cap: self.max_updates };
            }
            let (x, sign) = (row(points, i), labels[i].as_f64());
            if moves(x, sign, &weights) {
                still_since = None;
            } else {
                still_since = still_since.or(Some(i));
            }
            x.add_scaled_to(sign, &mut weights);
            updates += 1;
            at = if self.pick == Pick::Cyclic { (i + 1) % n } else { 0 };
        };
        let halfspace = Halfspace::new(weights)?;
        Ok(BatchFit { halfspace, updates, passes: products as f64 / n as f64, termination })
    }
}

/// Whether w + y x differs from w. Usually the first coordinate already differs.
#[allow(clippy::float_cmp, reason = "a stall is a sum that rounds back to the same number")]
fn moves<R: RowView>(x: R, sign: f64, weights: &[f64]) -> bool {
    x.entries().any(|(j, v)| weights[j] + sign * v != weights[j])
}

fn row<P: PointSet>(points: &P, i: usize) -> P::Row<'_> {
    let Some(x) = points.row(i) else { unreachable!("the walk visits points of the pool only") };
    x
}

fn value<R: RowView>(i: usize, x: R, weights: &[f64]) -> Result<f64, InputError> {
    let value = x.dot(weights);
    if value.is_finite() { Ok(value) } else { Err(InputError::Overflow { row: i }) }
}

/// The first violated point of `walk`.
fn first_violation<P: PointSet>(
    points: &P,
    labels: &[Label],
    weights: &[f64],
    walk: impl Iterator<Item = usize>,
    violates: impl Fn(f64, Label) -> bool,
    products: &mut u64,
) -> Result<Option<usize>, InputError> {
    for i in walk {
        *products += 1;
        if violates(value(i, row(points, i), weights)?, labels[i]) {
            return Ok(Some(i));
        }
    }
    Ok(None)
}

/// Number of points whose values are computed together.
const BLOCK: usize = 1024;

/// The input of one pass over the values of a block.
struct Survey<'a> {
    values: &'a [f64],
    labels: &'a [Label],
    least: Option<f64>,
}

struct Surveyed {
    /// Whether every value is finite.
    finite: bool,
    /// Whether some y (w · x) is below the smallest value of the earlier blocks.
    less: bool,
}

impl Wide for Survey<'_> {
    type Output = Surveyed;

    #[inline(always)]
    fn run(self) -> Surveyed {
        let least = self.least.unwrap_or(f64::NEG_INFINITY);
        let (mut finite, mut less) = (true, false);
        for (value, y) in self.values.iter().zip(self.labels) {
            finite &= value.is_finite();
            less |= y.as_f64() * value < least;
        }
        Surveyed { finite, less }
    }
}

/// Returns the violated point with the smallest y (w · x). Ties go to the first point.
fn worst_violation<P: PointSet>(
    points: &P,
    labels: &[Label],
    weights: &[f64],
    violates: impl Fn(f64, Label) -> bool,
    products: &mut u64,
) -> Result<Option<usize>, InputError> {
    let mut worst: Option<(f64, usize)> = None;
    let mut room = [0.0; BLOCK];
    for (block, labels) in labels.chunks(BLOCK).enumerate() {
        let first = block * BLOCK;
        let values = &mut room[..labels.len()];
        match points.as_dense() {
            Some(points) => points.margins_from(first, weights, values)?,
            None => {
                for (i, value) in values.iter_mut().enumerate() {
                    *value = row(points, first + i).dot(weights);
                }
            }
        }
        *products += labels.len() as u64;
        let seen = run_wide(Survey { values, labels, least: worst.map(|(least, _)| least) });
        if !seen.finite {
            let finite = values.iter().take_while(|value| value.is_finite()).count();
            return Err(InputError::Overflow { row: first + finite });
        }
        let pairs = || values.iter().copied().zip(labels.iter().copied());
        // Usually the branch-free survey shows that no point of the block is worse than the worst point so far.
        let may_be_worst = match worst {
            Some(_) => seen.less,
            None => pairs().fold(false, |any, (value, y)| any | violates(value, y)),
        };
        if may_be_worst {
            for (i, (value, y)) in pairs().enumerate() {
                let signed = y.as_f64() * value;
                if violates(value, y) && worst.is_none_or(|(least, _)| signed < least) {
                    worst = Some((signed, first + i));
                }
            }
        }
    }
    Ok(worst.map(|(_, i)| i))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BatchPerceptron, MarginPerceptron};
    use halfspaces_linalg::{FitSample, Points, SparsePoints};
    use proptest::prelude::*;

    const PICKS: [Pick; 3] = [Pick::Cyclic, Pick::First, Pick::Worst];

    /// All points of the first block are equal, and so are all points of the second block. The worst point is therefore
    /// the first point of the second block if this block is worse, and the first point of all otherwise.
    #[test]
    fn the_worst_point_may_be_in_any_block() {
        for (later, expected) in [(2.0, BLOCK), (1.0, 0), (0.5, 0)] {
            let mut values = vec![1.0; BLOCK];
            values.resize(2 * BLOCK, later);
            let points = Points::new(values, 1).unwrap();
            let labels = vec![Label::Positive; 2 * BLOCK];
            let wrong = |value: f64, y: Label| Label::from_sign(value) != y;
            let mut products = 0;
            let found = worst_violation(&points, &labels, &[-1.0], wrong, &mut products);
            assert_eq!((found, products), (Ok(Some(expected)), 2 * BLOCK as u64));
        }
    }

    /// 1 added to -1e17 is -1e17: the run must stop instead of reaching the cap.
    #[test]
    fn a_stall_by_rounding_is_no_cap() {
        let points = Points::from_rows(&[[1e17], [1.0], [2.0]]).unwrap();
        let labels = [Label::Negative, Label::Positive, Label::Positive];
        for pick in PICKS {
            let learner = BatchPerceptron::params().pick(pick).check().unwrap();
            let fit = learner.fit(&points, &labels).unwrap();
            assert_eq!(fit.termination(), Termination::Stalled, "{pick:?}");
            assert_eq!(fit.halfspace().normal(), [-1e17]);
            assert!(fit.updates() <= 4);
            let learner = MarginPerceptron::params().pick(pick).check().unwrap();
            assert_eq!(learner.fit(&points, &labels).unwrap().termination(), Termination::Stalled);
        }
    }

    /// A point that does not change w now may change it after other updates. The run must not report a stall before it
    /// has tried all points.
    #[test]
    fn what_only_pauses_is_no_stall() {
        // Adding (7, -5) to (-1e17, -1e17) changes nothing, and this point is classified correctly once the third point
        // has been added.
        let points = Points::from_rows(&[[1e17, 1e17], [7.0, -5.0], [-1e17, 0.0]]).unwrap();
        let labels = [Label::Negative, Label::Positive, Label::Negative];
        let learner = BatchPerceptron::params().max_updates(1000).check().unwrap();
        let fit = learner.fit(&points, &labels).unwrap();
        assert_eq!(fit.termination(), Termination::Converged);
        assert_eq!(fit.halfspace().normal(), [1e17, -2e17]);
    }

    /// Test oracle: scans one point at a time.
    fn plain_worst(points: &Points, labels: &[Label], w: &[f64], least: f64) -> Option<usize> {
        let mut worst: Option<(f64, usize)> = None;
        for (i, (x, y)) in points.rows().zip(labels).enumerate() {
            let signed = y.as_f64() * x.dot(w);
            if signed <= least && worst.is_none_or(|(worst, _)| signed < worst) {
                worst = Some((signed, i));
            }
        }
        worst.map(|(_, i)| i)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The points have few distinct values, so that ties occur, and fill several blocks.
        #[test]
        fn the_worst_point_is_that_of_a_plain_scan(
            rows in prop::collection::vec((-3i8..=3, -3i8..=3, any::<bool>()), 1..3000),
            w in (-2i8..=2, -2i8..=2),
            least in -9i8..=3,
        ) {
            let values = rows.iter().flat_map(|(a, b, _)| [f64::from(*a), f64::from(*b)]).collect();
            let points = Points::new(values, 2).unwrap();
            let label = |positive| if positive { Label::Positive } else { Label::Negative };
            let labels: Vec<Label> = rows.iter().map(|(.., positive)| label(*positive)).collect();
            let (w, least) = ([f64::from(w.0), f64::from(w.1)], f64::from(least));
            let violates = |value: f64, y: Label| y.as_f64() * value <= least;
            let mut products = 0;
            let found = worst_violation(&points, &labels, &w, violates, &mut products).unwrap();
            prop_assert_eq!(found, plain_worst(&points, &labels, &w, least));
            prop_assert_eq!(products, rows.len() as u64);
            let sparse = SparsePoints::from_dense(&points).unwrap();
            let same = worst_violation(&sparse, &labels, &w, violates, &mut products).unwrap();
            prop_assert_eq!(same, found);
        }
    }

    /// The error names the row of the first product that overflows, whichever block this row is in.
    #[test]
    fn the_row_that_overflows_is_named() {
        for at in [0, 5, BLOCK - 1, BLOCK, 2 * BLOCK + 7] {
            let mut values = vec![1.0; 2 * BLOCK + 9];
            (values[at], values[2 * BLOCK + 8]) = (1e300, 1e300);
            let points = Points::new(values, 1).unwrap();
            let labels = vec![Label::Positive; points.len()];
            let found = worst_violation(&points, &labels, &[1e10], |_, _| false, &mut 0);
            assert_eq!(found, Err(InputError::Overflow { row: at }));
        }
    }
}
