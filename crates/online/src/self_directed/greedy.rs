//! Whole-pool greedy: always predicts the surest of all remaining points.
//!
//! The learner keeps one hypothesis w, initially y₁x₁, where all points are scaled to norm 1. It predicts the
//! unrevealed point with the largest |w · x|. On a mistake it sets w -= (w · x) x and continues with the rest of the
//! pool.
//!
//! After a mistake with margin t, every remaining point has |w · x| <= t for the old w. The set of candidates therefore
//! shrinks with the angle between w and the target, and the total work is a few passes over the points. With known
//! labels ([`Greedy::simulate`]) nothing needs to be sorted: the next mistake is the wrong prediction with the largest
//! |w · x|, which one scan finds. Dense points are scanned in quantised form (one byte per coordinate) until an eighth
//! of them is left. The remaining points are then copied into contiguous memory. The scans need d + 10 bytes per point
//! in addition to the pool's 8d.
//!
//! Claims: S1, S2, S15, S15v.

use super::screen::{Screen, Settled};
use super::walk::Walk;
use super::{
    AnswerStatus, Pool, SelfDirectedLearner, Unit, decision_value, predict, remove_component,
};
use crate::direction::origin;
use crate::error::OnlineError;
use crate::protocol::{Question, Round};
use halfspaces_linalg::{
    Classifier, Halfspace, InputError, Label, PointSet, RowView, Threads, classify_by, getters,
};

/// The scans switch from the bytes to the exact points once one in `COARSE` rows had to be looked up, or once only one
/// in [`EXACT_SHARE`] points is left.
const COARSE: usize = 4;
/// The remaining points are copied into contiguous memory once only one point in this many is left: the copies then
/// take no more memory than the bytes did.
const EXACT_SHARE: usize = 8;
/// The remaining points are copied again once only one in this many of the most recently copied points is left.
const COPY_SHARE: usize = 4;
/// Number of remaining points that one thread scans at a time.
const POINTS_PER_TASK: usize = 4096;

/// Whole-pool greedy: predicts the unrevealed point with the largest |w · x|/‖x‖ next. On a mistake it removes the
/// component of w along this point.
///
/// *Guarantee.* No mistake bound is proved, because the points that follow a mistake depend on the points before it.
/// Each mistake brings w nearer to the target (tan θ never increases for θ < π/2; DKTZ23 Lemma 2.3). On the sphere, 2 d
/// to 2.5 d mistakes were measured (table s1-sphere), nearly independently of n (claim S1). Algorithm 1 of DKTZ23,
/// whose bound is proved, makes more mistakes.
///
/// *Cost.* Each mistake takes one pass over the remaining points, in O(nd) time. A session needs a few passes in total,
/// and O(n) memory in addition to the pool. With known labels, [`Greedy::simulate`] is even faster.
///
/// *When to use it.* On well-conditioned pools, and if speed matters. On ill-conditioned pools it may fail, as the
/// perceptron does; use [`StrongLearner`](super::StrongLearner) there. The learner does not search for contradictions,
/// so its status is [`AnswerStatus::Consistent`] or [`AnswerStatus::Undecided`].
///
/// *Source.* The update is that of DKTZ23 §2; the single chain over the whole pool is ours. Claims S3 and S4 are lemmas
/// of DKTZ23 about one such update. Claims: S1, S2, S15, S15v.
///
/// ```
/// use halfspaces_linalg::Classifier;
/// use halfspaces_data::{Marginal, UnitSphere, random_target};
/// use halfspaces_online::{Greedy, label_pool};
/// let points = UnitSphere::new(10)?.sample(10_000, 1)?;
/// let target = random_target(10, 2)?;
/// let labels = target.label_all(&points)?;
/// let (learner, transcript) = label_pool(Greedy::new(10)?, &points, &labels)?;
/// assert!(transcript.mistakes() <= 30);
/// assert!(halfspaces_linalg::angle(learner.weights(), target.normal())? < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Greedy {
    /// A unit vector, or zero before the first label.
    weights: Vec<f64>,
    walk: Option<Walk>,
    open: Option<usize>,
}

impl Greedy {
    /// A learner for points of R^`dim`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::TooLarge`].
    pub fn new(dim: usize) -> Result<Greedy, InputError> {
        Ok(Greedy { weights: origin(dim)?, walk: None, open: None })
    }

    /// The unit normal; zero before the first label.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Runs a whole session with known labels at once. The mistakes and the final weights are those of
    /// [`label_pool`](super::label_pool), bit for bit, but each mistake takes only one scan of the remaining points and
    /// nothing is sorted.
    ///
    /// # Errors
    /// The errors of [`label_pool`](super::label_pool).
    ///
    /// ```
    /// use halfspaces_linalg::Classifier;
    /// use halfspaces_data::{Marginal, UnitSphere, random_target};
    /// use halfspaces_online::{Greedy, label_pool};
    /// let points = UnitSphere::new(4)?.sample(500, 1)?;
    /// let labels = random_target(4, 2)?.label_all(&points)?;
    /// let run = Greedy::simulate(&points, &labels)?;
    /// let (learner, transcript) = label_pool(Greedy::new(4)?, &points, &labels)?;
    /// assert_eq!(run.halfspace().normal(), learner.weights());
    /// assert_eq!(run.mistakes().len(), transcript.mistakes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn simulate<P: PointSet>(points: &P, labels: &[Label]) -> Result<GreedyRun, OnlineError> {
        Greedy::simulate_on(points, labels, Threads::ONE)
    }

    /// Like [`Greedy::simulate`], on several threads. The result does not depend on the number of threads.
    ///
    /// # Errors
    /// The errors of [`label_pool`](super::label_pool).
    ///
    /// ```
    /// use halfspaces_linalg::{Classifier, Threads};
    /// use halfspaces_data::{Marginal, UnitSphere, random_target};
    /// use halfspaces_online::Greedy;
    /// let points = UnitSphere::new(4)?.sample(500, 1)?;
    /// let labels = random_target(4, 2)?.label_all(&points)?;
    /// let run = Greedy::simulate_on(&points, &labels, Threads::all())?;
    /// assert_eq!(run, Greedy::simulate(&points, &labels)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn simulate_on<P: PointSet>(
        points: &P,
        labels: &[Label],
        threads: Threads,
    ) -> Result<GreedyRun, OnlineError> {
        InputError::check_len(points.len(), labels.len())?;
        if points.is_empty() {
            return Err(InputError::Empty.into());
        }
        let weights = origin(points.dim())?;
        let mut run = Simulation { points, labels, threads, weights, mistakes: Vec::new() };
        // The first points are predicted with w = 0. Whether the predictions are right or wrong, w is then y x for the
        // last of these points.
        let mut first = 0;
        while first < points.len() && run.weights.iter().all(|w| *w == 0.0) {
            run.ask(first)?;
            first += 1;
        }
        let (left, cuts, scan_bytes) = run.scan_bytes(first)?;
        let exact = run.scan_points(&left, &cuts)?;
        Ok(GreedyRun {
            halfspace: Halfspace::new(run.weights)?,
            mistakes: run.mistakes,
            passes: (scan_bytes + exact) as f64 / points.len() as f64,
        })
    }
}

/// A session with known labels.
struct Simulation<'p, P> {
    points: &'p P,
    labels: &'p [Label],
    threads: Threads,
    weights: Vec<f64>,
    mistakes: Vec<Round>,
}

/// |w · x| and the index of the surest wrong prediction, if there is one. Ties go to the smallest index.
type Worst = Option<(f64, usize)>;

/// The surest wrong prediction over several parts of a pool, given in order.
fn worst_of(parts: impl Iterator<Item = Worst>) -> Worst {
    parts.flatten().reduce(|worst, next| if next.0 > worst.0 { next } else { worst })
}

/// The result of scanning some quantised rows.
#[derive(Clone, Default)]
struct ScanResult {
    worst: Worst,
    /// Number of points that had to be looked up.
    settled: usize,
    error: Option<OnlineError>,
}

/// The points that remain after a mistake: those with |w · x| below `most`, and, among those with |w · x| equal to
/// `most`, the ones after `last`. Surer points were predicted before the mistake, all of them correctly.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Cut {
    pub(super) weights: Vec<f64>,
    pub(super) most: f64,
    pub(super) last: usize,
}

impl Cut {
    pub(super) fn leaves(&self, index: usize, size: f64) -> bool {
        size < self.most || (size <= self.most && index > self.last)
    }
}

impl<'p, P: PointSet> Simulation<'p, P> {
    fn unit(&self, index: usize) -> Result<Unit<P::Row<'p>>, OnlineError> {
        let len = self.points.len();
        let row = self.points.row(index).ok_or(InputError::IndexOutOfRange { index, len })?;
        Ok(Unit::of(row)?)
    }

    /// Predicts a point and learns from its label.
    fn ask(&mut self, index: usize) -> Result<(), OnlineError> {
        let x = self.unit(index)?;
        let prediction = predict(x.margin(&self.weights))?;
        let round = Round { index, prediction, truth: self.labels[index] };
        if round.is_mistake() {
            self.mistakes.push(round);
        }
        remove_component(x, round.truth, &mut self.weights);
        Ok(())
    }

    /// |w · x| if the prediction is wrong and surer than `worst`.
    fn worse(&self, index: usize, value: f64, worst: Worst) -> Option<f64> {
        let wrong = Label::from_sign(value) != self.labels[index];
        (wrong && worst.is_none_or(|(most, _)| value.abs() > most)).then_some(value.abs())
    }

    /// Scans the quantised points until the bytes are too coarse to distinguish the points. Returns the remaining
    /// points (possibly with some that the cuts exclude), the cuts, and the number of rows scanned.
    fn scan_bytes(&mut self, first: usize) -> Result<(Vec<usize>, Vec<Cut>, usize), OnlineError> {
        let (mut cuts, mut scanned) = (Vec::new(), 0);
        let screen = match Screen::pays(self.points) {
            true => Screen::new(self.points, self.labels, first, self.threads)?,
            false => None,
        };
        let Some(mut screen) = screen else {
            return Ok(((first..self.points.len()).collect(), cuts, scanned));
        };
        loop {
            let settle = |found: &mut ScanResult, index: usize| {
                found.settled += 1;
                let x = match self.unit(index) {
                    Ok(x) => x,
                    Err(e) => {
                        found.error = Some(e);
                        return Settled::Out;
                    }
                };
                let Some(size) = self.worse(index, x.margin(&self.weights), found.worst) else {
                    return Settled::NotBetter;
                };
                let left = |cut: &Cut| cut.leaves(index, x.margin(&cut.weights).abs());
                if !cuts.iter().all(left) {
                    return Settled::Out;
                }
                found.worst = Some((size, index));
                Settled::Best(size)
            };
            let mut found = screen.scan(&self.weights, self.threads, ScanResult::default(), settle);
            if let Some(error) = found.iter_mut().find_map(|found| found.error.take()) {
                return Err(error);
            }
            scanned += screen.len();
            // All other parts start from the result of the first one.
            let at_first = found.first().map_or(0, |first| first.settled);
            let settled =
                at_first + found.iter().map(|found| found.settled - at_first).sum::<usize>();
            let worst = worst_of(found.iter().map(|found| found.worst));
            let Some((most, last)) = worst else { return Ok((Vec::new(), cuts, scanned)) };
            cuts.push(Cut { weights: self.weights.clone(), most, last });
            self.ask(last)?;
            screen.drop_beyond(most, self.threads);
            let few = EXACT_SHARE * screen.len() <= self.points.len();
            if few || COARSE * settled > screen.len() {
                return Ok((screen.into_points(), cuts, scanned));
            }
        }
    }

    /// Scans the points themselves until the end of the session. Of the points in `left`, only those that satisfy the
    /// `cuts` remain. Returns the number of points scanned.
    fn scan_points(&mut self, left: &[usize], cuts: &[Cut]) -> Result<usize, OnlineError> {
        let among = |part: &[usize]| self.points.len() * part.len() / left.len();
        let parts = self.threads.map_with(
            left.chunks(POINTS_PER_TASK),
            || (),
            |(), places| Part::new(self.points, places, among(places)),
        );
        let mut parts: Vec<Part<'p, P>> = parts.into_iter().collect::<Result<_, _>>()?;
        let mut cut = Cut { weights: Vec::new(), most: f64::INFINITY, last: 0 };
        let (mut rows, mut scanned) = (left.len(), 0);
        loop {
            // Scanning a few rows takes less time than starting another thread.
            let threads = if rows <= POINTS_PER_TASK { Threads::ONE } else { self.threads };
            let found = threads.map_with(
                parts.iter_mut(),
                || (),
                |(), part| {
                    part.keep(&cut)?;
                    Ok::<_, OnlineError>(self.scan(part, cuts))
                },
            );
            let found: Vec<Worst> = found.into_iter().collect::<Result<_, _>>()?;
            rows = parts.iter().map(|part| part.rows.len()).sum();
            scanned += rows;
            let Some((most, last)) = worst_of(found.into_iter()) else { return Ok(scanned) };
            self.ask(last)?;
            cut = Cut { weights: Vec::new(), most, last };
        }
    }

    /// The most confident wrong prediction in a part. Stores |w · x| in every row, or NaN if one of `cuts` excludes the
    /// row.
    fn scan(&self, part: &mut Part<'_, P>, cuts: &[Cut]) -> Worst {
        let mut worst = None;
        for row in &mut part.rows {
            let x = part.pool.get(row);
            let index = part.pool.index(row.place);
            let value = x.margin(&self.weights);
            row.size = value.abs();
            if let Some(size) = self.worse(index, value, worst) {
                if cuts.iter().all(|cut| cut.leaves(index, x.margin(&cut.weights).abs())) {
                    worst = Some((size, index));
                } else {
                    row.size = f64::NAN;
                }
            }
        }
        worst
    }
}

/// A remaining point.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// The index of the point in the pool, or among the copies.
    place: usize,
    /// 1/‖x‖.
    scale: f64,
    /// |w · x| at the last scan.
    size: f64,
}

/// Remaining points that one thread scans at a time.
struct Part<'p, P> {
    pool: CompactedPool<'p, P>,
    rows: Vec<Row>,
}

impl<'p, P: PointSet> Part<'p, P> {
    /// A part with the points at these indices, selected from `among` points.
    fn new(points: &'p P, places: &[usize], among: usize) -> Result<Part<'p, P>, OnlineError> {
        let row = |place: &usize| Row { place: *place, scale: 0.0, size: 0.0 };
        let rows = places.iter().map(row).collect();
        let mut part = Part { pool: CompactedPool { points, among, copies: None }, rows };
        part.pool.gather(&mut part.rows)?;
        for row in &mut part.rows {
            row.scale = Unit::of(part.pool.get(row).row)?.scale;
        }
        Ok(part)
    }

    /// Keeps the points that remain after a mistake.
    fn keep(&mut self, cut: &Cut) -> Result<(), InputError> {
        self.rows.retain(|row| cut.leaves(self.pool.index(row.place), row.size));
        self.pool.gather(&mut self.rows)
    }
}

/// A pool whose remaining points are copied into contiguous memory once there are few of them, because scattered points
/// are slow to read.
struct CompactedPool<'p, P> {
    points: &'p P,
    /// Number of points, in the pool or among the copies, from which the remaining points were selected.
    among: usize,
    /// The copies and their indices in the pool.
    copies: Option<(P, Vec<usize>)>,
}

impl<P: PointSet> CompactedPool<'_, P> {
    /// The index in the pool of the point at a position.
    fn index(&self, place: usize) -> usize {
        self.copies.as_ref().map_or(place, |(_, indices)| indices[place])
    }

    fn get(&self, row: &Row) -> Unit<P::Row<'_>> {
        let points = self.copies.as_ref().map_or(self.points, |(copies, _)| copies);
        let Some(point) = points.row(row.place) else {
            unreachable!("the remaining rows are rows of the pool")
        };
        Unit { row: point, scale: row.scale }
    }

    /// Copies the remaining rows if there are few of them. The rows then get new positions in the same order.
    fn gather(&mut self, left: &mut [Row]) -> Result<(), InputError> {
        let share = if self.copies.is_some() { COPY_SHARE } else { EXACT_SHARE };
        if left.is_empty() || share * left.len() > self.among {
            return Ok(());
        }
        let points = self.copies.as_ref().map_or(self.points, |(copies, _)| copies);
        let places: Vec<usize> = left.iter().map(|row| row.place).collect();
        let copies = points.select(&places)?;
        let indices = places.iter().map(|place| self.index(*place)).collect();
        left.iter_mut().enumerate().for_each(|(place, row)| row.place = place);
        self.among = left.len();
        self.copies = Some((copies, indices));
        Ok(())
    }
}

/// The result of [`Greedy::simulate`].
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::Greedy;
/// // (1, 0) is predicted +, correctly; (0.8, 0.6) is predicted + too, which is wrong:
/// // w = (1, 0) - 0.8 (0.8, 0.6), with norm 0.6.
/// let points = Points::from_rows(&[[1.0, 0.0], [0.8, 0.6]])?;
/// let run = Greedy::simulate(&points, &[Label::Positive, Label::Negative])?;
/// assert_eq!(run.mistakes().len(), 1);
/// assert!((run.halfspace().normal()[0] - 0.6).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GreedyRun {
    halfspace: Halfspace,
    mistakes: Vec<Round>,
    passes: f64,
}

impl GreedyRun {
    getters! {
        /// The final hypothesis. It is correct on every point that was still unlabelled when the learner reached it.
        halfspace: &Halfspace,

        /// The mistakes in order.
        mistakes: &[Round],

        /// Number of points scanned, quantised or not, divided by the size of the pool.
        passes: f64,
    }
}

impl SelfDirectedLearner for Greedy {
    fn propose<P: PointSet>(
        &mut self,
        pool: &Pool<'_, P>,
    ) -> Result<Option<Question>, OnlineError> {
        InputError::check_dim(self.weights.len(), pool.points().dim())?;
        if self.open.is_none() {
            let walk = self
                .walk
                .get_or_insert_with(|| Walk::new(pool, &self.weights, pool.unrevealed().collect()));
            self.open = walk.next();
        }
        self.open.map(|index| pool.question(index, &self.weights)).transpose()
    }

    fn learn<P: PointSet>(&mut self, pool: &Pool<'_, P>, round: Round) -> Result<(), OnlineError> {
        self.open = None;
        let first = self.weights.iter().all(|w| *w == 0.0);
        if first || round.is_mistake() {
            remove_component(pool.unit(round.index), round.truth, &mut self.weights);
            let left = self.walk.take().map(Walk::into_unvisited);
            self.walk = left.map(|left| Walk::new(pool, &self.weights, left));
        }
        Ok(())
    }

    fn status<P: PointSet>(&self, pool: &Pool<'_, P>) -> AnswerStatus {
        pool.status([&self.weights[..]], false)
    }
}

impl Classifier for Greedy {
    fn dim(&self) -> usize {
        self.weights.len()
    }

    fn decision_value<R: RowView>(&self, x: R) -> Result<f64, InputError> {
        decision_value(&self.weights, x)
    }
}

classify_by!(GreedyRun, halfspace);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::self_directed::label_pool;
    use halfspaces_data::{Clusters, Marginal, StudentT, UnitSphere, random_target};
    use halfspaces_linalg::{Points, SparsePoints, angle};
    use proptest::prelude::*;

    /// Test oracle: sorts all remaining points after every mistake.
    fn literal(points: &Points, labels: &[Label]) -> Vec<usize> {
        let unit: Vec<Vec<f64>> = points
            .rows()
            .map(|x| {
                let norm = x.norm_sq().sqrt();
                x.as_slice().iter().map(|v| v / norm).collect()
            })
            .collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut w: Vec<f64> = unit[0].iter().map(|v| labels[0].as_f64() * v).collect();
        let mut left: Vec<usize> = (1..points.len()).collect();
        let mut mistakes = if labels[0] == Label::Negative { vec![0] } else { vec![] };
        'walk: loop {
            left.sort_by(|i, j| dot(&unit[*j], &w).abs().total_cmp(&dot(&unit[*i], &w).abs()));
            for (place, &i) in left.iter().enumerate() {
                if Label::from_sign(dot(&unit[i], &w)) != labels[i] {
                    let value = dot(&unit[i], &w);
                    w.iter_mut().zip(&unit[i]).for_each(|(w, x)| *w -= value * x);
                    let norm = dot(&w, &w).sqrt();
                    w.iter_mut().for_each(|w| *w /= norm);
                    mistakes.push(i);
                    left.drain(..=place);
                    continue 'walk;
                }
            }
            return mistakes;
        }
    }

    #[test]
    fn it_makes_the_mistakes_of_the_plain_version() {
        for (dim, n, seed) in [(2, 200, 1), (5, 600, 2), (12, 800, 3)] {
            let points = StudentT::new(dim, 2.0, 5.0).unwrap().sample(n, seed).unwrap();
            let labels = random_target(dim, seed + 50).unwrap().label_all(&points).unwrap();
            let run = Greedy::simulate(&points, &labels).unwrap();
            let asked: Vec<usize> = run.mistakes().iter().map(|r| r.index).collect();
            assert_eq!(asked, literal(&points, &labels));
        }
    }

    /// The pools have enough points for rows to be dropped and for the rest to be copied more than once.
    #[test]
    fn bytes_and_copies_change_nothing() {
        for (dim, n, seed) in [(3, 20_000, 1), (17, 20_000, 2), (33, 6000, 3)] {
            let points = UnitSphere::new(dim).unwrap().sample(n, seed).unwrap();
            let labels = random_target(dim, seed + 50).unwrap().label_all(&points).unwrap();
            let (learner, transcript) =
                label_pool(Greedy::new(dim).unwrap(), &points, &labels).unwrap();
            let mistakes: Vec<Round> =
                transcript.rounds().iter().filter(|r| r.is_mistake()).copied().collect();
            let run = Greedy::simulate(&points, &labels).unwrap();
            assert_eq!(run.mistakes(), mistakes);
            assert_eq!(run.halfspace().normal(), learner.weights());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The pools have integer points with duplicates, zero points, ties and points parallel to w. The labels are
        /// separable or random.
        #[test]
        fn at_once_is_one_by_one(
            rows in prop::collection::vec([-2i8..=2, -2i8..=2, -2i8..=2], 1..60),
            separable in any::<bool>(),
            bits in any::<u64>(),
        ) {
            let rows: Vec<[f64; 3]> = rows.into_iter().map(|r| r.map(f64::from)).collect();
            let points = Points::from_rows(&rows).unwrap();
            let labels: Vec<Label> = if separable {
                random_target(3, bits).unwrap().label_all(&points).unwrap()
            } else {
                (0..points.len()).map(|i| Label::from_sign((bits >> (i % 64) & 1) as f64 - 0.5)).collect()
            };
            let (learner, transcript) = label_pool(Greedy::new(3).unwrap(), &points, &labels).unwrap();
            prop_assert_eq!(transcript.len(), points.len());
            let mut asked: Vec<usize> = transcript.rounds().iter().map(|r| r.index).collect();
            let mistakes: Vec<Round> =
                transcript.rounds().iter().filter(|r| r.is_mistake()).copied().collect();
            asked.sort_unstable();
            prop_assert!(asked.into_iter().eq(0..points.len()));
            let sparse = SparsePoints::from_dense(&points).unwrap();
            let (of_sparse, same) = label_pool(Greedy::new(3).unwrap(), &sparse, &labels).unwrap();
            prop_assert_eq!(&transcript, &same);
            prop_assert_eq!(learner.weights(), of_sparse.weights());
            if learner.weights().iter().any(|w| *w != 0.0) {
                let run = Greedy::simulate(&points, &labels).unwrap();
                prop_assert_eq!(run.mistakes(), mistakes);
                prop_assert_eq!(run.halfspace().normal(), learner.weights());
            }
        }
    }

    /// Each point occurs thousands of times, and the first one fills the part that is scanned first. Among equally sure
    /// mistakes, the scan finds the first one, whether it reads bytes or exact points, and on any number of threads.
    #[test]
    fn ties_between_parts_go_to_the_first() {
        let kinds = [[3.0, 0.0, 1.0], [1.0, -2.0, 0.0], [0.0, 1.0, -3.0], [-2.0, 0.0, 1.0]];
        let kinds = [kinds, kinds.map(|[x, y, z]| [y - 1.0, z, x + 2.0])].concat();
        let of = |i: usize| if i < 17_000 { 0 } else { i % kinds.len() };
        let rows: Vec<[f64; 3]> = (0..52_000).map(|i| kinds[of(i)]).collect();
        let points = Points::from_rows(&rows).unwrap();
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let mut tied = 0;
        for seed in 0..2 {
            let labels = random_target(3, seed).unwrap().label_all(&points).unwrap();
            let (_, transcript) = label_pool(Greedy::new(3).unwrap(), &points, &labels).unwrap();
            let mistakes: Vec<Round> =
                transcript.rounds().iter().filter(|r| r.is_mistake()).copied().collect();
            tied += mistakes.iter().filter(|r| r.index >= 17_000).count();
            for threads in [1, 3] {
                let threads = Threads::new(threads).unwrap();
                let run = Greedy::simulate_on(&points, &labels, threads).unwrap();
                assert_eq!(run.mistakes(), mistakes);
                let run = Greedy::simulate_on(&sparse, &labels, threads).unwrap();
                assert_eq!(run.mistakes(), mistakes);
            }
        }
        assert!(tied > 1, "{tied}");
    }

    /// Claim S2: while the angle to the target is acute, no mistake increases this angle.
    #[test]
    fn the_angle_never_rises_once_it_is_acute() {
        for seed in 0..20 {
            let points = UnitSphere::new(6).unwrap().sample(800, seed).unwrap();
            let target = random_target(6, seed + 100).unwrap();
            let labels = target.label_all(&points).unwrap();
            let run = Greedy::simulate(&points, &labels).unwrap();
            let mut w = points.row(0).unwrap().as_slice().to_vec();
            w.iter_mut().for_each(|v| *v *= labels[0].as_f64());
            let mut last = angle(&w, target.normal()).unwrap();
            for round in run.mistakes().iter().filter(|r| r.index != 0) {
                let pool = Pool::new(&points).unwrap();
                remove_component(pool.unit(round.index), round.truth, &mut w);
                let now = angle(&w, target.normal()).unwrap();
                assert!(now <= last + 1e-12 || last > std::f64::consts::FRAC_PI_2);
                last = now;
            }
            assert!(last < 0.3);
        }
    }

    #[test]
    fn clusters_are_labelled_as_well() {
        let points = Clusters::random(8, 10, 0.2, 1).unwrap().sample(2000, 2).unwrap();
        let labels = random_target(8, 3).unwrap().label_all(&points).unwrap();
        let run = Greedy::simulate(&points, &labels).unwrap();
        assert!(run.mistakes().len() < 60, "{}", run.mistakes().len());
    }

    #[test]
    fn bad_input_is_typed() {
        let points = Points::from_rows(&[[1.0, 0.0]]).unwrap();
        let none = Points::new(vec![], 2).unwrap();
        assert_eq!(Greedy::simulate(&none, &[]), Err(InputError::Empty.into()));
        assert!(Greedy::simulate(&points, &[]).is_err());
        assert_eq!(Greedy::new(0).unwrap_err(), InputError::ZeroDimension);
        let one = [Label::Negative];
        assert!(label_pool(Greedy::new(3).unwrap(), &points, &one).is_err());
        let huge = Points::from_rows(&[[1e200, 1.0]]).unwrap();
        assert_eq!(Greedy::simulate(&huge, &one), Err(InputError::Overflow { row: 0 }.into()));
        let tiny = Points::from_rows(&[[1e-200, 0.0]]).unwrap();
        assert_eq!(Greedy::simulate(&tiny, &one), Err(InputError::Underflow { row: 0 }.into()));
        // The edge cases are one dimension, a single point, and a point at 0.
        let run = Greedy::simulate(&Points::from_rows(&[[-3.0]]).unwrap(), &one).unwrap();
        assert_eq!((run.mistakes().len(), run.halfspace().normal()), (1, &[1.0][..]));
    }
}
