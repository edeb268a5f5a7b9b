//! The greedy learner on points that do not fit on one machine: one scan for the surest rows at a time.
//!
//! A scan is a value ([`SurestScan`]) that is sent to the processes that hold blocks of rows, and the results are joined
//! in any order ([`halfspaces_linalg::Partial`]). The weights of [`Greedy`](super::Greedy) change only with the first
//! answer and with mistakes. Until then, the m surest rows of one scan are the next m questions, in the same order, so
//! m answers take one scan. With known labels, a scan finds the next mistake directly, as in
//! [`Greedy::simulate`](super::Greedy::simulate). Questions, predictions and weights are those of a session in memory,
//! bit for bit.
//!
//! *Source.* That of [`Greedy`](super::Greedy). Claims: none of its own.

use super::greedy::Cut;
use super::{Unit, predict, remove_component};
use crate::direction::origin;
use crate::error::OnlineError;
use crate::protocol::{Question, Round};
use halfspaces_linalg::{
    BLOCK_ROWS, DensePoints, InputError, Label, Partial, PointSet, Points, Sum, Threads, getters,
};
use std::collections::{BTreeSet, VecDeque};

/// A scan for the rows with the largest |w · x|/‖x‖ among those that are not labelled yet.
///
/// ```
/// use halfspaces_linalg::{Points, Threads};
/// use halfspaces_online::{BlocksGreedy, OnlineError};
/// let points = Points::from_rows(&[[1.0, 0.0], [3.0, 4.0]])?;
/// let mut learner = BlocksGreedy::new(2, 10)?;
/// let question = learner.next(|scan| {
///     let partial = scan.partial(0, &points, &[], Threads::ONE)?;
///     Ok::<_, OnlineError>(partial.finish(1).unwrap().unwrap())
/// })?;
/// assert_eq!(question.map(|question| question.index), Some(0));
/// # Ok::<(), OnlineError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SurestScan {
    weights: Vec<f64>,
    count: usize,
    /// The rows that are left out, in ascending order.
    labelled: Vec<usize>,
    /// If cuts are given, the scan considers only wrong predictions, among the rows that all cuts leave.
    cuts: Option<Vec<Cut>>,
}

/// A row that a scan has found.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct SurestRow {
    /// The value |w · x|/‖x‖.
    size: f64,
    index: usize,
    x: Vec<f64>,
    /// The label, if the scan was given labels.
    truth: Option<Label>,
}

/// The surest rows of some blocks, found by a [`SurestScan`].
///
/// ```
/// use halfspaces_linalg::{Points, Threads};
/// use halfspaces_online::{BlocksGreedy, OnlineError};
/// let points = Points::from_rows(&[[2.0], [-1.0]])?;
/// let mut learner = BlocksGreedy::new(1, 1)?;
/// learner.next(|scan| {
///     let found = scan.partial(0, &points, &[], Threads::ONE)?.finish(1).unwrap().unwrap();
///     assert_eq!(found.rows(), 2);
///     Ok::<_, OnlineError>(found)
/// })?;
/// # Ok::<(), OnlineError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SurestRows {
    rows: u64,
    count: usize,
    /// The surest row comes first; ties are broken by index.
    surest: Vec<SurestRow>,
}

impl SurestRows {
    getters! {
        /// The number of rows scanned, including those that are labelled.
        rows: u64,
    }
}

impl Sum for SurestRows {
    fn fits(&self, other: &SurestRows) -> bool {
        self.count == other.count
    }

    fn add(&mut self, later: SurestRows) {
        self.rows += later.rows;
        self.surest.extend(later.surest);
        self.surest.sort_by(|a, b| b.size.total_cmp(&a.size).then(a.index.cmp(&b.index)));
        self.surest.truncate(self.count);
    }
}

impl SurestScan {
    /// The surest rows in the blocks of `points`, whose first row is the first row of block `first`. All blocks must be
    /// complete, except the last one of the whole data set. `labels` are needed by [`BlocksGreedy::simulate`] and must
    /// otherwise be empty.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`], [`InputError::LengthMismatch`]; [`InputError::Overflow`],
    /// [`InputError::Underflow`] for points whose squared norms are outside the range of `f64`.
    pub fn partial(
        &self,
        first: u64,
        points: &DensePoints<'_>,
        labels: &[Label],
        threads: Threads,
    ) -> Result<Partial<SurestRows>, InputError> {
        InputError::check_dim(self.weights.len(), points.dim())?;
        if self.cuts.is_some() || !labels.is_empty() {
            InputError::check_len(points.len(), labels.len())?;
        }
        let offset = first as usize * BLOCK_ROWS;
        let mut buffers = vec![(); Partial::<SurestRows>::groups(first, points.len()).len()];
        threads.sum_blocks(first, points.len(), &mut buffers, |(), block| {
            let rows = block.len() as u64;
            let start = self.labelled.partition_point(|i| *i < offset + block.start);
            let mut labelled = self.labelled[start..].iter().copied().peekable();
            let mut kept: Vec<(f64, usize)> = Vec::new();
            // A row with a value of at most `floor` is not among the surest.
            let mut floor = if self.count == 0 { f64::INFINITY } else { -1.0 };
            for i in block {
                if labelled.next_if_eq(&(offset + i)).is_some() {
                    continue;
                }
                let Some(row) = points.row(i) else { unreachable!("blocks consist of the points") };
                let x = Unit::of(row).map_err(|error| error.at_row(i))?;
                let value = x.margin(&self.weights);
                if !value.is_finite() {
                    return Err(InputError::Overflow { row: i });
                }
                if value.abs() <= floor {
                    continue;
                }
                if let Some(cuts) = &self.cuts {
                    let left = |cut: &Cut| cut.leaves(offset + i, x.margin(&cut.weights).abs());
                    if Label::from_sign(value) == labels[i] || !cuts.iter().all(left) {
                        continue;
                    }
                }
                kept.push((value.abs(), i));
                if kept.len() >= self.count.saturating_mul(2).max(64) {
                    floor = largest(&mut kept, self.count);
                }
            }
            largest(&mut kept, self.count);
            let found = |(size, i): (f64, usize)| SurestRow {
                size,
                index: offset + i,
                x: points.as_slice()[i * points.dim()..(i + 1) * points.dim()].to_vec(),
                truth: labels.get(i).copied(),
            };
            let surest = kept.into_iter().map(found).collect();
            Ok(SurestRows { rows, count: self.count, surest })
        })
    }
}

/// Keeps the `count` largest values, in descending order, with ties broken by index. Returns the smallest value kept.
fn largest(kept: &mut Vec<(f64, usize)>, count: usize) -> f64 {
    kept.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    kept.truncate(count);
    kept.last().map_or(f64::INFINITY, |last| last.0)
}

/// The greedy learner, [`Greedy`](super::Greedy), on points that only scans can reach.
///
/// *What it computes.* The questions, predictions and weights of a [`SelfDirectedSession`](super::SelfDirectedSession)
/// with [`Greedy`](super::Greedy). A scan finds the next `batch` questions. They are asked until the first mistake,
/// after which another scan is made. *Guarantee.* That of [`Greedy`](super::Greedy). *Cost.* One scan for each mistake,
/// and one for each `batch` answers in a row without a mistake. Each scan reads all points once. The labelled rows are
/// sent with each scan, and `batch` rows are received. *When to use it.* For points that do not fit on one machine.
/// *Claims:* none of its own.
///
/// ```
/// use halfspaces_linalg::{Label, Points, Threads};
/// use halfspaces_online::{BlocksGreedy, OnlineError, SurestScan};
/// let points = Points::from_rows(&[[1.0, 0.2], [0.9, -0.3], [-1.0, 0.1]])?;
/// let run = |scan: &SurestScan| {
///     let partial = scan.partial(0, &points, &[], Threads::ONE)?;
///     Ok::<_, OnlineError>(partial.finish(1).unwrap().unwrap())
/// };
/// let mut learner = BlocksGreedy::new(2, 100)?;
/// while let Some(question) = learner.next(run)? {
///     learner.answer(Label::from_sign(points.as_slice()[2 * question.index]))?;
/// }
/// assert_eq!((learner.labelled(), learner.mistakes(), learner.scans()), (3, 0, 2));
/// # Ok::<(), OnlineError>(())
/// ```
#[derive(Debug, Clone)]
pub struct BlocksGreedy {
    /// A unit vector, or zero before the first label.
    weights: Vec<f64>,
    batch: usize,
    /// Number of points; `None` before the first scan.
    rows: Option<u64>,
    labelled: BTreeSet<usize>,
    /// The next questions.
    queue: VecDeque<SurestRow>,
    open: Option<(Points, Question)>,
    mistakes: usize,
    scans: usize,
}

impl BlocksGreedy {
    /// A learner for points of R^`dim`, which asks up to `batch` questions per scan.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::TooLarge`]; [`InputError::ParameterOutOfRange`] if `batch` is 0.
    pub fn new(dim: usize, batch: usize) -> Result<BlocksGreedy, InputError> {
        InputError::check_parameter("batch", batch as f64, batch > 0, "at least 1")?;
        Ok(BlocksGreedy {
            weights: origin(dim)?,
            batch,
            rows: None,
            labelled: BTreeSet::new(),
            queue: VecDeque::new(),
            open: None,
            mistakes: 0,
            scans: 0,
        })
    }

    /// The next question, which stays open until it is answered; `None` if all points are labelled. `scan` runs a scan
    /// over all points, joins the partial results and returns the total.
    ///
    /// # Errors
    /// The errors of `scan`; [`InputError::DimensionMismatch`] if it returns rows of another length.
    #[allow(clippy::should_implement_trait, reason = "fallible, with an answer between calls")]
    pub fn next<E: From<OnlineError>>(
        &mut self,
        scan: impl FnOnce(&SurestScan) -> Result<SurestRows, E>,
    ) -> Result<Option<Question>, E> {
        if let Some((_, question)) = &self.open {
            return Ok(Some(*question));
        }
        if self.queue.is_empty() && self.rows != Some(self.labelled.len() as u64) {
            let labelled = self.labelled.iter().copied().collect();
            let weights = self.weights.clone();
            let found = scan(&SurestScan { weights, count: self.batch, labelled, cuts: None })?;
            self.scans += 1;
            self.rows = Some(found.rows);
            self.queue = found.surest.into();
        }
        let Some(found) = self.queue.pop_front() else { return Ok(None) };
        let open = asked(&found, &self.weights)?;
        let question = open.1;
        self.open = Some(open);
        Ok(Some(question))
    }

    /// Answers the open question with the true label.
    ///
    /// # Errors
    /// [`OnlineError::NoQuestion`].
    pub fn answer(&mut self, truth: Label) -> Result<Round, OnlineError> {
        let (x, Question { index, prediction }) =
            self.open.take().ok_or(OnlineError::NoQuestion)?;
        let round = Round { index, prediction, truth };
        self.labelled.insert(index);
        let first = self.weights.iter().all(|w| *w == 0.0);
        self.mistakes += usize::from(round.is_mistake());
        if first || round.is_mistake() {
            learn(&x, truth, &mut self.weights)?;
            self.queue.clear();
        }
        Ok(round)
    }

    /// The coordinates of the point in question; `None` if no question is open.
    #[must_use]
    pub fn row(&self) -> Option<&[f64]> {
        self.open.as_ref().map(|(x, _)| x.as_slice())
    }

    /// The number of labelled points.
    #[must_use]
    pub fn labelled(&self) -> usize {
        self.labelled.len()
    }

    getters! {
        /// The unit normal; zero before the first label.
        weights: &[f64],

        /// The number of wrong predictions.
        mistakes: usize,

        /// The number of scans.
        scans: usize,
    }

    /// Runs a whole session with known labels, in one scan per mistake. `scan` runs a scan over all points and their
    /// labels. The mistakes and the final weights are those of [`Greedy::simulate`](super::Greedy::simulate).
    ///
    /// # Errors
    /// The errors of `scan`; [`InputError::ZeroDimension`]; [`InputError::Empty`] if there are no points;
    /// [`InputError::LengthMismatch`] if `scan` was given no labels.
    ///
    /// ```
    /// use halfspaces_linalg::{Label, Points, Threads};
    /// use halfspaces_online::{BlocksGreedy, OnlineError};
    /// let points = Points::from_rows(&[[1.0, 0.0], [0.8, 0.6]])?;
    /// let labels = [Label::Positive, Label::Negative];
    /// let run = BlocksGreedy::simulate(2, |scan| {
    ///     let partial = scan.partial(0, &points, &labels, Threads::ONE)?;
    ///     Ok::<_, OnlineError>(partial.finish(1).unwrap().unwrap())
    /// })?;
    /// assert_eq!((run.mistakes().len(), run.scans()), (1, 3));
    /// # Ok::<(), OnlineError>(())
    /// ```
    pub fn simulate<E: From<OnlineError>>(
        dim: usize,
        mut scan: impl FnMut(&SurestScan) -> Result<SurestRows, E>,
    ) -> Result<BlocksGreedyRun, E> {
        let weights = origin(dim).map_err(OnlineError::from)?;
        let mut run = BlocksGreedyRun { weights, mistakes: Vec::new(), scans: 0 };
        let (mut labelled, mut cuts) = (Vec::new(), None);
        loop {
            let weights = run.weights.clone();
            let (before, labelled_rows) = (weights.clone(), labelled.clone());
            let sought = SurestScan { weights, count: 1, labelled: labelled_rows, cuts };
            let mut found = scan(&sought)?;
            cuts = sought.cuts;
            run.scans += 1;
            if found.rows == 0 {
                return Err(OnlineError::from(InputError::Empty).into());
            }
            let Some(row) = found.surest.pop() else { return Ok(run) };
            let (x, Question { index, prediction }) = asked(&row, &run.weights)?;
            let missing = InputError::LengthMismatch { points: found.rows as usize, labels: 0 };
            let truth = row.truth.ok_or(missing).map_err(OnlineError::from)?;
            let round = Round { index, prediction, truth };
            if round.is_mistake() {
                run.mistakes.push(round);
            }
            learn(&x, truth, &mut run.weights)?;
            match &mut cuts {
                Some(cuts) => cuts.push(Cut { weights: before, most: row.size, last: index }),
                None => {
                    // The first rows are predicted with w = 0, in their order.
                    labelled.push(index);
                    cuts = run.weights.iter().any(|w| *w != 0.0).then(Vec::new);
                }
            }
        }
    }
}

/// The result of [`BlocksGreedy::simulate`].
///
/// ```
/// use halfspaces_linalg::{Label, Points, Threads};
/// use halfspaces_online::{BlocksGreedy, OnlineError};
/// let points = Points::from_rows(&[[2.0], [-1.0]])?;
/// let labels = [Label::Negative, Label::Positive];
/// let run = BlocksGreedy::simulate(1, |scan| {
///     let partial = scan.partial(0, &points, &labels, Threads::ONE)?;
///     Ok::<_, OnlineError>(partial.finish(1).unwrap().unwrap())
/// })?;
/// assert_eq!((run.weights(), run.mistakes().len()), (&[-1.0][..], 1));
/// # Ok::<(), OnlineError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BlocksGreedyRun {
    weights: Vec<f64>,
    mistakes: Vec<Round>,
    scans: usize,
}

impl BlocksGreedyRun {
    getters! {
        /// The unit normal of the final hypothesis.
        weights: &[f64],

        /// The mistakes in order.
        mistakes: &[Round],

        /// The number of scans.
        scans: usize,
    }
}

/// The question about a row that a scan has found, with the prediction that the weights `w` make.
fn asked(found: &SurestRow, w: &[f64]) -> Result<(Points, Question), OnlineError> {
    let x = Points::new(found.x.clone(), w.len())?;
    let Some(row) = x.row(0) else { return Err(InputError::Empty.into()) };
    let prediction = predict(Unit::of(row)?.margin(w))?;
    Ok((x, Question { index: found.index, prediction }))
}

fn learn(x: &Points, truth: Label, w: &mut [f64]) -> Result<(), OnlineError> {
    let Some(row) = x.row(0) else { unreachable!("a question is about a row") };
    remove_component(Unit::of(row)?, truth, w);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::self_directed::{Greedy, SelfDirectedSession, label_pool, random_labels};
    use halfspaces_data::{Marginal, UnitSphere, random_target};
    use halfspaces_linalg::Classifier;

    /// Runs a scan on `workers` workers, each of which scans every `workers`th block. The first block is scanned twice.
    fn shared(
        points: &Points,
        labels: &[Label],
        workers: usize,
        scan: &SurestScan,
    ) -> Result<SurestRows, OnlineError> {
        let (n, dim) = (points.len(), points.dim());
        let blocks = n.div_ceil(BLOCK_ROWS);
        let mut all = Partial::default();
        for worker in (0..workers).rev() {
            let again = (worker + 1 == workers).then_some(0);
            for block in (worker..blocks).step_by(workers).chain(again) {
                let rows = block * BLOCK_ROWS..n.min((block + 1) * BLOCK_ROWS);
                let part = points.as_slice()[rows.start * dim..rows.end * dim].to_vec();
                let labels = if labels.is_empty() { &[] } else { &labels[rows] };
                let part = Points::new(part, dim).unwrap();
                all.merge(scan.partial(block as u64, &part, labels, Threads::ONE)?).unwrap();
            }
        }
        Ok(all.finish(blocks as u64).unwrap().unwrap())
    }

    /// Points with ties, zeros and repeated rows.
    fn points(n: usize) -> Points {
        let values = UnitSphere::new(3).unwrap().sample(n, 1).unwrap().into_vec();
        let mut values: Vec<f64> = values.into_iter().map(|v| (4.0 * v).round()).collect();
        values[..3].fill(0.0);
        Points::new(values, 3).unwrap()
    }

    #[test]
    fn questions_and_weights_are_those_of_a_session_in_memory() {
        let n = 2 * BLOCK_ROWS + 50;
        let points = points(n);
        let mut labels = random_target(3, 2).unwrap().label_all(&points).unwrap();
        labels.iter_mut().step_by(5).for_each(|label| *label = -*label);
        for (workers, batch) in [(1, 1), (2, 7), (3, 400)] {
            let mut session = SelfDirectedSession::new(Greedy::new(3).unwrap(), &points).unwrap();
            let mut learner = BlocksGreedy::new(3, batch).unwrap();
            for _ in 0..150 {
                let question = learner.next(|scan| shared(&points, &[], workers, scan)).unwrap();
                assert_eq!(question, session.next().unwrap());
                let question = question.unwrap();
                let row = &points.as_slice()[3 * question.index..3 * question.index + 3];
                assert_eq!(learner.row(), Some(row));
                let round = learner.answer(labels[question.index]).unwrap();
                assert_eq!(round, session.answer(labels[question.index]).unwrap());
                assert_eq!(learner.weights(), session.learner().weights());
            }
            let at_most = 2 + learner.mistakes() + 150 / batch;
            assert!(
                learner.mistakes() > 2 && learner.scans() <= at_most + 1,
                "{}",
                learner.scans()
            );
            assert_eq!(learner.labelled(), 150);
        }
    }

    #[test]
    fn a_session_ends_when_all_points_are_labelled() {
        let points = points(90);
        let labels = random_labels(90, 3);
        let mut learner = BlocksGreedy::new(3, 8).unwrap();
        assert_eq!(learner.answer(Label::Positive), Err(OnlineError::NoQuestion));
        let mut rounds = Vec::new();
        while let Some(question) = learner.next(|scan| shared(&points, &[], 1, scan)).unwrap() {
            rounds.push(learner.answer(labels[question.index]).unwrap());
        }
        let (greedy, transcript) = label_pool(Greedy::new(3).unwrap(), &points, &labels).unwrap();
        assert_eq!((&rounds[..], learner.weights()), (transcript.rounds(), greedy.weights()));
        assert_eq!(learner.mistakes(), transcript.mistakes());
    }

    #[test]
    fn simulations_make_the_mistakes_of_one_in_memory() {
        let points = points(2 * BLOCK_ROWS + 50);
        let truth = random_target(3, 2).unwrap().label_all(&points).unwrap();
        let noise = random_labels(points.len(), 3);
        for labels in [truth, noise[..300].to_vec()] {
            let points = Points::new(points.as_slice()[..3 * labels.len()].to_vec(), 3).unwrap();
            let alone = Greedy::simulate(&points, &labels).unwrap();
            for workers in [1, 3] {
                let run = |scan: &SurestScan| shared(&points, &labels, workers, scan);
                let run = BlocksGreedy::simulate(3, run).unwrap();
                assert_eq!(run.mistakes(), alone.mistakes());
                assert_eq!(run.weights(), alone.halfspace().normal());
                assert!(run.scans() <= run.mistakes().len() + 3);
            }
        }
    }

    #[test]
    fn bad_input_is_typed() {
        assert!(matches!(BlocksGreedy::new(2, 0), Err(InputError::ParameterOutOfRange { .. })));
        assert_eq!(BlocksGreedy::new(0, 1).err(), Some(InputError::ZeroDimension));
        let huge = Points::from_rows(&[[1.0, 0.0], [1e200, 0.0]]).unwrap();
        let mut learner = BlocksGreedy::new(2, 1).unwrap();
        let fault = learner.next(|scan| shared(&huge, &[], 1, scan));
        assert_eq!(fault, Err(InputError::Overflow { row: 1 }.into()));
        let fault = BlocksGreedy::simulate(2, |scan| {
            let points = Points::from_rows(&[[1.0, 0.0]]).unwrap();
            shared(&points, &[], 1, scan)
        });
        assert_eq!(fault, Err(InputError::LengthMismatch { points: 1, labels: 0 }.into()));
    }

    /// Scans for different numbers of rows cannot be added.
    #[test]
    fn only_scans_for_the_same_number_of_rows_fit() {
        let rows = |count| SurestRows { rows: 9, count, surest: Vec::new() };
        assert!(rows(3).fits(&rows(3)) && !rows(3).fits(&rows(4)));
    }
}
