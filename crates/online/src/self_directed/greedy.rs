//! Whole-pool greedy: always predict the surest point of all that is left.
//!
//! One hypothesis w, at first y₁x₁ (points scaled to norm 1). Predict the unrevealed point of largest
//! |w · x|; on a mistake set w -= (w · x) x and go on over the rest of the pool.
//!
//! *Guarantee.* None is proved: the points met after a mistake depend on those before. Each mistake
//! brings w nearer (tan θ never rises for θ < π/2; DKTZ23 Lemma 2.3). Measured on the sphere: 2 to 2.5 d
//! mistakes (table s1-sphere), nearly flat in n (claim S1), fewer than Algorithm 1 of DKTZ23, which has the proof. On
//! ill-conditioned data it can fail like the perceptron does: use the Forster transform there.
//!
//! *Source.* The update is that of DKTZ23 §2; the single chain over the whole pool is ours. The claims S3 and S4
//! are DKTZ23's lemmas about one such step.
//!
//! After a mistake of margin t every point left has |w · x| <= t for the old w: the pool shrinks with
//! the angle, and the work adds up to a few passes over the points. Against known labels
//! ([`Greedy::simulate`]) nothing needs to be ordered: the next mistake is the wrong prediction of
//! largest |w · x|, found by one scan. Dense points are scanned in bytes until an eighth is left, then
//! copied together; room for d + 10 bytes per point is taken beside the pool's 8d.
//!
//! Claims: S1, S2.

use super::screen::{Screen, Settled};
use super::walk::Walk;
use super::{AnswerStatus, Pool, SelfDirectedLearner, Unit, decision_value, predict, project};
use crate::error::OnlineError;
use crate::protocol::{Question, Round};
use halfspaces_linalg::{
    Classifier, Halfspace, InputError, Label, PointSet, RowView, Threads, classify_by, zeros,
};

/// Points themselves are scanned once one in so many had to be looked up, and from when one in
/// [`EXACT_SHARE`] is left.
const COARSE: usize = 4;
/// The points left are copied together when they are one in so many: copies then take no more room than
/// the bytes did.
const EXACT_SHARE: usize = 8;
/// They are again when one in so many copies is left.
const COPY_SHARE: usize = 4;
/// Points left that one thread scans at a time.
const STRETCH: usize = 4096;

/// Whole-pool greedy: predicts the unrevealed point of largest |w · x|/‖x‖ next, and projects it out of w
/// at a mistake.
///
/// *Guarantee.* None is proved. 2 to 2.5 d mistakes on the sphere, measured, nearly flat in n.
///
/// *Cost.* After a mistake one pass over what is left, O(nd), in all a few passes; O(n) memory beside the pool.
/// With known labels [`Greedy::simulate`] is faster still.
///
/// *When to use it.* On well-conditioned pools, and where speed matters. On ill-conditioned ones it may fail as
/// the perceptron does: use [`StrongLearner`](super::StrongLearner) there. It does not look for contradictions:
/// its status is [`AnswerStatus::Consistent`] or [`AnswerStatus::Undecided`].
///
/// *Source.* The update is that of DKTZ23 §2, the single chain over the whole pool ours. Claims: S1, S2.
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
    /// Unit, or zero before the first label.
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
        Ok(Greedy { weights: start(dim)?, walk: None, open: None })
    }

    /// The unit normal, zero before the first label.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Plays a whole session against known labels at once: the mistakes and the final weights are
    /// those of [`label_pool`](super::label_pool), to the bit, found by scanning what is left of the
    /// pool once for each mistake, without ordering it.
    ///
    /// # Errors
    /// As [`label_pool`](super::label_pool).
    ///
    /// ```
    /// use halfspaces_linalg::Classifier;
    /// use halfspaces_data::{Marginal, UnitSphere, random_target};
    /// use halfspaces_online::{Greedy, label_pool};
    /// let points = UnitSphere::new(4)?.sample(500, 1)?;
    /// let labels = random_target(4, 2)?.label_all(&points)?;
    /// let run = Greedy::simulate(&points, &labels)?;
    /// let (learner, transcript) = label_pool(Greedy::new(4)?, &points, &labels)?;
    /// assert_eq!(run.halfspace.normal(), learner.weights());
    /// assert_eq!(run.mistakes.len(), transcript.mistakes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn simulate<P: PointSet>(points: &P, labels: &[Label]) -> Result<GreedyRun, OnlineError> {
        Greedy::simulate_on(points, labels, Threads::ONE)
    }

    /// [`Greedy::simulate`] on several threads, on which nothing of the run depends.
    ///
    /// # Errors
    /// As [`label_pool`](super::label_pool).
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
        let weights = start(points.dim())?;
        let mut run = Bulk { points, labels, threads, weights, mistakes: Vec::new() };
        // The first points are asked with w = 0; right or wrong, w is then y x of the last of them.
        let mut first = 0;
        while first < points.len() && run.weights.iter().all(|w| *w == 0.0) {
            run.ask(first)?;
            first += 1;
        }
        let (left, cuts, in_bytes) = run.in_bytes(first)?;
        let exact = run.by_the_points(&left, &cuts)?;
        Ok(GreedyRun {
            halfspace: Halfspace::new(run.weights)?,
            mistakes: run.mistakes,
            passes: (in_bytes + exact) as f64 / points.len() as f64,
        })
    }
}

/// A session against known labels.
struct Bulk<'p, P> {
    points: &'p P,
    labels: &'p [Label],
    threads: Threads,
    weights: Vec<f64>,
    mistakes: Vec<Round>,
}

/// Of the surest wrong predictions, |w · x| and the point; among equals the smallest index.
type Worst = Option<(f64, usize)>;

/// The worst of parts of a pool, in order.
fn worst_of(parts: impl Iterator<Item = Worst>) -> Worst {
    parts.flatten().reduce(|worst, next| if next.0 > worst.0 { next } else { worst })
}

/// What the scan of some rows in bytes found.
#[derive(Clone, Default)]
struct Found {
    worst: Worst,
    /// Points looked at themselves.
    settled: usize,
    error: Option<OnlineError>,
}

/// What a mistake leaves: the points with |w · x| below `most`, and of those at it the ones after `last`.
/// Surer points were predicted before it, rightly.
struct Cut {
    weights: Vec<f64>,
    most: f64,
    last: usize,
}

impl Cut {
    fn leaves(&self, index: usize, size: f64) -> bool {
        size < self.most || (size <= self.most && index > self.last)
    }
}

impl<'p, P: PointSet> Bulk<'p, P> {
    fn unit(&self, index: usize) -> Result<Unit<P::Row<'p>>, OnlineError> {
        let len = self.points.len();
        let row = self.points.row(index).ok_or(InputError::IndexOutOfRange { index, len })?;
        Unit::of(row)
    }

    /// Predicts a point and learns.
    fn ask(&mut self, index: usize) -> Result<(), OnlineError> {
        let x = self.unit(index)?;
        let prediction = predict(x.margin(&self.weights))?;
        let round = Round { index, prediction, truth: self.labels[index] };
        if round.is_mistake() {
            self.mistakes.push(round);
        }
        project(x, round.truth, &mut self.weights);
        Ok(())
    }

    /// |w · x| if it is a wrong prediction, and the most so far.
    fn worse(&self, index: usize, value: f64, worst: Worst) -> Option<f64> {
        let wrong = Label::from_sign(value) != self.labels[index];
        (wrong && worst.is_none_or(|(most, _)| value.abs() > most)).then_some(value.abs())
    }

    /// Goes on until bytes are too coarse to tell the points apart: the points left, among others that
    /// the cuts exclude, and the number of rows scanned.
    fn in_bytes(&mut self, first: usize) -> Result<(Vec<usize>, Vec<Cut>, usize), OnlineError> {
        let (mut cuts, mut scanned) = (Vec::new(), 0);
        let screen = match Screen::pays(self.points) {
            true => Screen::new(self.points, self.labels, first, self.threads)?,
            false => None,
        };
        let Some(mut screen) = screen else {
            return Ok(((first..self.points.len()).collect(), cuts, scanned));
        };
        loop {
            let settle = |found: &mut Found, index: usize| {
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
            let mut found = screen.scan(&self.weights, self.threads, Found::default(), settle);
            if let Some(error) = found.iter_mut().find_map(|found| found.error.take()) {
                return Err(error);
            }
            scanned += screen.len();
            // All others go on from the first.
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

    /// Goes on to the end over the points `left` of which `cuts` leave some: the number scanned.
    fn by_the_points(&mut self, left: &[usize], cuts: &[Cut]) -> Result<usize, OnlineError> {
        let among = |part: &[usize]| self.points.len() * part.len() / left.len();
        let parts = self.threads.map_with(
            left.chunks(STRETCH),
            || (),
            |(), places| Part::new(self.points, places, among(places)),
        );
        let mut parts: Vec<Part<'p, P>> = parts.into_iter().collect::<Result<_, _>>()?;
        let mut cut = Cut { weights: Vec::new(), most: f64::INFINITY, last: 0 };
        let (mut rows, mut scanned) = (left.len(), 0);
        loop {
            // A few rows are scanned before another thread has begun.
            let threads = if rows <= STRETCH { Threads::ONE } else { self.threads };
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

    /// The worst of a part; every row gets its |w · x|, NaN where one of `cuts` excludes it.
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

/// A point left.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// Its place in the pool, or among the copies.
    place: usize,
    /// 1/‖x‖.
    scale: f64,
    /// |w · x| at the last scan.
    size: f64,
}

/// Points left that one thread scans at a time.
struct Part<'p, P> {
    pool: Gathered<'p, P>,
    rows: Vec<Row>,
}

impl<'p, P: PointSet> Part<'p, P> {
    /// The points at some of `among` places.
    fn new(points: &'p P, places: &[usize], among: usize) -> Result<Part<'p, P>, OnlineError> {
        let row = |place: &usize| Row { place: *place, scale: 0.0, size: 0.0 };
        let rows = places.iter().map(row).collect();
        let mut part = Part { pool: Gathered { points, among, copies: None }, rows };
        part.pool.gather(&mut part.rows)?;
        for row in &mut part.rows {
            row.scale = Unit::of(part.pool.get(row).row)?.scale;
        }
        Ok(part)
    }

    /// Keeps what a mistake leaves.
    fn keep(&mut self, cut: &Cut) -> Result<(), InputError> {
        self.rows.retain(|row| cut.leaves(self.pool.index(row.place), row.size));
        self.pool.gather(&mut self.rows)
    }
}

/// A pool, of which the points left are copied side by side once they are few: points far from one
/// another are slow to read.
struct Gathered<'p, P> {
    points: &'p P,
    /// Points among which those left lie.
    among: usize,
    /// Copies and their indices in the pool.
    copies: Option<(P, Vec<usize>)>,
}

impl<P: PointSet> Gathered<'_, P> {
    /// The point at a place.
    fn index(&self, place: usize) -> usize {
        self.copies.as_ref().map_or(place, |(_, indices)| indices[place])
    }

    fn get(&self, row: &Row) -> Unit<P::Row<'_>> {
        let points = self.copies.as_ref().map_or(self.points, |(copies, _)| copies);
        let Some(point) = points.row(row.place) else { unreachable!("rows left are in the pool") };
        Unit { row: point, scale: row.scale }
    }

    /// Copies the rows left if they are few, which gives them new places in the same order.
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

/// What [`Greedy::simulate`] found.
///
/// ```
/// use halfspaces_linalg::{Label, Points};
/// use halfspaces_online::Greedy;
/// // (1, 0) is predicted + and is; (0.8, 0.6) then as well and is not: w = (1, 0) - 0.8 (0.8, 0.6), of
/// // norm 0.6.
/// let points = Points::from_rows(&[[1.0, 0.0], [0.8, 0.6]])?;
/// let run = Greedy::simulate(&points, &[Label::Positive, Label::Negative])?;
/// assert_eq!(run.mistakes.len(), 1);
/// assert!((run.halfspace.normal()[0] - 0.6).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GreedyRun {
    /// The final hypothesis, which labels every point right that was left when it was reached.
    pub halfspace: Halfspace,
    /// The mistakes in their order.
    pub mistakes: Vec<Round>,
    /// Points scanned, in bytes or as they are, over the size of the pool.
    pub passes: f64,
}

fn start(dim: usize) -> Result<Vec<f64>, InputError> {
    if dim == 0 {
        return Err(InputError::ZeroDimension);
    }
    zeros(1, dim)
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
            project(pool.unit(round.index), round.truth, &mut self.weights);
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

    /// The plain version: sort everything after every mistake.
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
            let asked: Vec<usize> = run.mistakes.iter().map(|r| r.index).collect();
            assert_eq!(asked, literal(&points, &labels));
        }
    }

    /// Enough points for rows to be dropped and the rest to be copied, more than once.
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
            assert_eq!(run.mistakes, mistakes);
            assert_eq!(run.halfspace.normal(), learner.weights());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Integer points: duplicates, zero points, ties, points parallel to w; labels of all kinds.
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
                prop_assert_eq!(run.mistakes, mistakes);
                prop_assert_eq!(run.halfspace.normal(), learner.weights());
            }
        }
    }

    /// Each point thousands of times, the first so often that no other is in the part that is scanned first: of equally
    /// sure mistakes the first is made, in bytes and among the points themselves, on any number of threads.
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
                assert_eq!(run.mistakes, mistakes);
                let run = Greedy::simulate_on(&sparse, &labels, threads).unwrap();
                assert_eq!(run.mistakes, mistakes);
            }
        }
        assert!(tied > 1, "{tied}");
    }

    /// S2: while the angle to the target is acute, no mistake raises it.
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
            for round in run.mistakes.iter().filter(|r| r.index != 0) {
                let pool = Pool::new(&points).unwrap();
                project(pool.unit(round.index), round.truth, &mut w);
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
        assert!(run.mistakes.len() < 60, "{}", run.mistakes.len());
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
        // One dimension, one point, a point at 0.
        let run = Greedy::simulate(&Points::from_rows(&[[-3.0]]).unwrap(), &one).unwrap();
        assert_eq!((run.mistakes.len(), run.halfspace.normal()), (1, &[1.0][..]));
    }
}
