//! Batches: learning from many examples in memory at once.
//!
//! A lane is one sequence of iterates. A single lane learns from dense rows in one loop, which stops at the events of
//! the lane: the start of a run, or an iterate to store. Several lanes are grouped into blocks of eight
//! ([`LaneBlock`]), and the lanes are divided among the threads. Retained iterates become candidates in the same order
//! as if the examples were passed one at a time. Iterates and candidates are bitwise equal to those of
//! [`Fitting::observe`].

use super::fitting::Fitting;
use super::lane::{LaneCursor, Retention};
use super::lane_block::{LaneBlock, MAX_SPARSE_DIM, PaddedRows};
use super::outcome::Origin;
use halfspaces_data::Link;
use halfspaces_kernels::{LANES, run_blocks};
use halfspaces_linalg::{InputError, Label, RowView, RowsAhead, checkpoint};

/// The number of values in a chunk of rows. All lanes learn from a chunk in turn, while the chunk is in the first-level
/// cache.
const CACHED_VALUES: usize = 2048;
/// The number of values in a batch: enough to make the cost of starting threads negligible.
const BATCH_VALUES: usize = 1 << 18;

impl<L: Link> Fitting<L> {
    /// The number of rows to pass to [`Fitting::learn_from`] at once.
    pub(crate) fn batch_rows(&self) -> usize {
        if self.lanes.len() == 1 { usize::MAX } else { (BATCH_VALUES / self.dim).max(1) }
    }

    /// Learns from a prefix of `rows`, and returns the number of rows used. Returns 0 if the first row is outside the
    /// ball or has a different dimension, if all iterates are retained, or if a single lane learns from lifted rows. In
    /// these cases the caller must pass the examples one at a time.
    pub(super) fn learn_ahead(&mut self, rows: RowsAhead<'_>) -> usize {
        let single = self.lanes.len() == 1;
        let retains_all = self.lanes.iter().any(|lane| lane.retention == Retention::All);
        if retains_all || rows.dim() != self.dim || (single && self.placement.lift) {
            return 0;
        }
        let rows = rows.at_most((self.training - self.taken).min(self.batch_rows() as u64));
        if !single {
            return self.learn_in_blocks(&rows.rows().collect::<Vec<_>>(), true).0;
        }
        let (scaling, project) = (self.placement.scaling(), self.project);
        let mut cursor = LaneCursor::new(0, &mut self.lanes[0], Some(&mut self.reservoir));
        let taken = cursor.learn_dense(rows, scaling, project);
        let retained = cursor.retained;
        self.count_training(taken as u64, retained);
        taken
    }

    /// Learns from examples in memory. The number of examples must not exceed the number that the training still needs.
    ///
    /// # Errors
    /// The errors of [`Fitting::observe`]. If an example is outside the ball, the fit has learned from the examples
    /// before it. If an example has the wrong dimension, the fit has learned from no example.
    pub(crate) fn learn_from<R: RowView + Sync>(
        &mut self,
        examples: &[(R, Label)],
    ) -> Result<(), InputError> {
        examples.iter().try_for_each(|(x, _)| InputError::check_dim(self.dim, x.dim()))?;
        match self.learn_in_blocks(examples, false) {
            (_, Some(norm_sq)) => InputError::check_in_ball(norm_sq),
            (_, None) => Ok(()),
        }
    }

    /// Learns from examples of the right dimension, up to the first example outside the ball. Returns the number of
    /// examples used, and the squared norm of the example outside the ball, if there is one. If `dense` is true, no row
    /// is sparse.
    fn learn_in_blocks<R: RowView + Sync>(
        &mut self,
        examples: &[(R, Label)],
        dense: bool,
    ) -> (usize, Option<f64>) {
        let (threads, placement) = (self.selector.threads(), self.placement);
        let norms_sq = threads.map_blocks(examples.len(), BATCH_VALUES / 64, |block| {
            examples[block].iter().map(|(x, _)| placement.place(*x).norm_sq()).collect::<Vec<f64>>()
        });
        let norms_sq = norms_sq.concat();
        let outside = norms_sq.iter().position(|n| InputError::check_in_ball(*n).is_err());
        let inside = outside.unwrap_or(examples.len());
        let mut at = 0;
        while at < inside {
            checkpoint();
            // A piece ends at the step where the next lane ends.
            let left = self.lanes.iter().map(|lane| lane.steps() - lane.taken);
            let left = left.filter(|left| *left > 0).min().unwrap_or(u64::MAX);
            let end =
                usize::try_from(left).map_or(inside, |left| inside.min(at.saturating_add(left)));
            self.learn_piece(&examples[at..end], &norms_sq[at..end], dense);
            at = end;
        }
        (inside, outside.map(|outside| norms_sq[outside]))
    }

    /// Learns from examples in the ball. Every unfinished lane must have at least one step left for each example.
    fn learn_piece<R: RowView + Sync>(
        &mut self,
        examples: &[(R, Label)],
        norms_sq: &[f64],
        dense: bool,
    ) {
        let (dim, placement, project, longest) =
            (self.dim, self.placement, self.project, self.longest);
        let in_blocks = dense || dim <= MAX_SPARSE_DIM;
        let mut reservoir = Some(&mut self.reservoir);
        let unfinished = self.lanes.iter_mut().enumerate().filter(|(_, lane)| !lane.is_done());
        let cursors: Vec<_> = unfinished
            .map(|(index, lane)| {
                let reservoir = if index == longest { reservoir.take() } else { None };
                LaneCursor::new(index, lane, reservoir)
            })
            .collect();
        let threads = self.selector.threads();
        // Neighbouring lanes take about the same time, so they are assigned to different threads.
        let groups = threads.count().min(cursors.len());
        let mut groups = deal(cursors, groups);
        let rows = || PaddedRows::new(dim, placement);
        threads.map_with(groups.iter_mut(), rows, |rows, cursors| {
            let cached = (CACHED_VALUES / dim).max(1);
            for (examples, norms_sq) in examples.chunks(cached).zip(norms_sq.chunks(cached)) {
                let labels = examples.iter().map(|(_, label)| *label);
                if in_blocks {
                    let facts: Vec<_> = norms_sq.iter().copied().zip(labels).collect();
                    rows.fill(examples.iter().map(|(x, _)| *x));
                    for lanes in cursors.chunks_mut(LANES) {
                        run_blocks(LaneBlock { lanes, rows, facts: &facts, project });
                    }
                } else {
                    for ((x, label), norm_sq) in examples.iter().zip(norms_sq) {
                        let x = placement.place(*x);
                        cursors.iter_mut().for_each(|c| c.learn(x, *norm_sq, *label, project));
                    }
                }
            }
        });
        let mut retained: Vec<_> = groups.into_iter().flatten().flat_map(|c| c.retained).collect();
        retained.sort_by_key(|(origin, _): &(Origin, _)| (origin.step, origin.lane));
        self.count_training(examples.len() as u64, retained);
    }
}

/// Distributes items among `groups` groups in turn.
fn deal<T>(items: Vec<T>, groups: usize) -> Vec<Vec<T>> {
    let mut dealt: Vec<Vec<T>> = (0..groups).map(|_| Vec::new()).collect();
    items.into_iter().enumerate().for_each(|(index, item)| dealt[index % groups].push(item));
    dealt
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_data::Instance;
    use crate::{GridPerspectron, Margin, Perspectron, Schedule, Selection, Stage};
    use halfspaces_data::LabelledPoints;
    use halfspaces_linalg::{
        DenseRow, FitError, InputError, Label, Params, PointSet, Points, SparsePoints, Threads,
    };
    use std::fmt::Debug;

    /// Compares a fit that takes batches of `most` examples with a fit that takes one example at a time. Their states
    /// must agree after each batch, for any number of threads.
    fn agrees<L: Link + Clone + PartialEq + Debug>(
        fresh: &Fitting<L>,
        points: &Points,
        labels: &[Label],
        most: u64,
    ) -> Fitting<L> {
        let threaded = fresh.clone().with_threads(Threads::new(3).unwrap());
        let fit = agrees_on_its_threads(&threaded, points, labels, most);
        assert_eq!(agrees_on_its_threads(fresh, points, labels, most), fit);
        fit
    }

    fn agrees_on_its_threads<L: Link + Clone + PartialEq + Debug>(
        fresh: &Fitting<L>,
        points: &Points,
        labels: &[Label],
        most: u64,
    ) -> Fitting<L> {
        let (mut together, mut single) = (fresh.clone(), fresh.clone());
        let mut stream = LabelledPoints::new(points, labels).unwrap();
        let mut examples = points.rows().zip(labels);
        loop {
            let left = stream.remaining();
            let stage = together.advance_by(&mut stream, most);
            let taken = (left - stream.remaining()) as u64;
            for (x, y) in examples.by_ref().take(taken as usize) {
                if let Err(fault) = single.observe(x, *y) {
                    assert_eq!(stage, Err(FitError::at_example(single.taken, fault)));
                }
            }
            assert_eq!(together, single);
            if taken < most && stage.is_ok() {
                return together;
            }
        }
    }

    #[test]
    fn many_at_once_are_one_after_the_other() {
        for d in [1, 3, 8, 20, 67] {
            let (points, labels) = Instance::new(d, 0.2, 1).sample(3000, 2, |_| 0.2);
            let params = Perspectron::params(0.2, 0.2).excess(0.3).failure(0.3);
            for most in [7, 250, u64::MAX] {
                for schedule in [Schedule::Corrected, Schedule::Paper] {
                    let learner = params.schedule(schedule).check().unwrap();
                    let fit = agrees(&learner.start(d).unwrap(), &points, &labels, most);
                    assert_eq!(fit.taken, 3000);
                }
                // Repeats the comparison with a different radius, projections, all iterates, and lifting.
                for params in [
                    params.radius(1.7),
                    params.excess(0.9).project(true),
                    params.selection(Selection::AllIterates),
                    params.lift(true),
                ] {
                    let fresh = params.check().unwrap().start(d).unwrap();
                    agrees(&fresh, &points, &labels, most);
                }
                let grid = GridPerspectron::params(Margin::Known(0.2)).excess(0.4);
                for grid in [grid, grid.lift(true), grid.lift(true).radius(1.7)] {
                    let fresh = grid.check().unwrap().start(d).unwrap();
                    assert!(fresh.lanes.len() > 2);
                    agrees(&fresh, &points, &labels, most);
                }
            }
        }
    }

    /// Compares whole fits, from the first example to the choice.
    #[test]
    fn a_whole_fit_is_the_same() {
        let (points, labels) = Instance::new(4, 0.5, 3).sample(40_000, 4, |_| 0.1);
        let params = Perspectron::params(0.1, 0.5).excess(0.7).failure(0.5);
        for seed in 0..4 {
            let fresh = params.seed(seed).check().unwrap().start(4).unwrap();
            let fit = agrees(&fresh.clone().with_means(), &points, &labels, u64::MAX);
            assert_eq!(fit.stage(), Stage::Complete);
            agrees(&fresh, &points, &labels, 1000);
        }
    }

    /// Compares a fit to examples in memory with a fit that takes one example at a time. The examples come in pieces of
    /// any length, lifted and scaled, sparse and dense, on any number of threads.
    #[test]
    fn examples_in_memory_are_one_after_the_other() {
        let (points, labels) = Instance::new(5, 0.4, 7).sample(6000, 8, |_| 0.1);
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let grid = GridPerspectron::params(Margin::Known(0.4)).excess(0.6);
        let all = grid.selection(Selection::AllIterates);
        for params in [grid, grid.lift(true), grid.radius(1.9), grid.radius(1.9).lift(true), all] {
            let fresh = params.check().unwrap().start(5).unwrap();
            assert!(fresh.lanes.len() > 1);
            // The number of training examples, or the number of points if there are fewer points.
            let n = (fresh.training as usize).min(6000);
            let mut single = fresh.clone();
            for (x, y) in points.rows().zip(&labels).take(n) {
                single.observe(x, *y).unwrap();
            }
            assert!(!single.origins.is_empty());
            for (threads, piece) in [(1, 1), (1, 64), (2, 7), (5, 6000)] {
                let fresh = fresh.clone().with_threads(Threads::new(threads).unwrap());
                let (mut dense_fit, mut sparse_fit) = (fresh.clone(), fresh);
                let rows: Vec<_> = points.rows().zip(labels.iter().copied()).take(n).collect();
                rows.chunks(piece).for_each(|rows| dense_fit.learn_from(rows).unwrap());
                assert_eq!(dense_fit, single);
                let rows: Vec<_> = sparse.rows().zip(labels.iter().copied()).take(n).collect();
                rows.chunks(piece).for_each(|rows| sparse_fit.learn_from(rows).unwrap());
                assert_eq!(sparse_fit, single);
            }
            // Learning ends at a point outside the ball. If one example has a different dimension, the fit learns from
            // no example.
            let far = [9.0, 0.0, 0.0, 0.0, 0.0];
            let mut fit = fresh.clone().with_threads(Threads::new(2).unwrap());
            let mut rows: Vec<_> = points.rows().zip(labels.iter().copied()).take(n).collect();
            rows.insert(17, (DenseRow::new(&far).unwrap(), Label::Positive));
            let outside = fit.learn_from(&rows).unwrap_err();
            assert!(matches!(outside, InputError::OutsideBall { .. }), "{outside}");
            assert_eq!(fit.taken, 17);
            assert!(fit.learn_from(&rows[17..18]).is_err());
            fit.learn_from(&rows[18..]).unwrap();
            assert_eq!(fit, single);
            rows[3].0 = DenseRow::new(&far[..2]).unwrap();
            let other = fit.learn_from(&rows).unwrap_err();
            assert_eq!(other, InputError::DimensionMismatch { expected: 5, found: 2 });
            assert_eq!(fit, single);
        }
    }

    /// Tests rows with dimensions just below and just above [`MAX_SPARSE_DIM`], the largest dimension at which rows
    /// that may be sparse are copied into blocks. It tests both rows that are known to be dense and rows that may be
    /// sparse.
    #[test]
    fn long_rows_are_one_after_the_other() {
        for d in [MAX_SPARSE_DIM - 1, MAX_SPARSE_DIM + 1] {
            let (points, labels) = Instance::new(d, 0.1, 5).sample(60, 6, |_| 0.1);
            let grid = GridPerspectron::params(Margin::Known(0.4)).excess(0.6);
            let rows: Vec<_> = points.rows().zip(labels.iter().copied()).collect();
            for lift in [false, true] {
                let fresh = grid.lift(lift).check().unwrap().start(d).unwrap();
                let fit = agrees(&fresh, &points, &labels, u64::MAX);
                let mut together = fresh.clone();
                together.learn_from(&rows).unwrap();
                assert_eq!(together, fit);
            }
        }
    }

    #[test]
    fn a_point_outside_the_ball_is_found_where_it_is() {
        // There are more rows than fit in a cached chunk.
        let mut values = vec![0.3; 2 * 3000];
        values[2 * 150] = 3.0;
        let points = Points::new(values, 2).unwrap();
        let labels = [Label::Negative; 3000];
        let grid = GridPerspectron::params(Margin::Known(0.2)).excess(0.4).check().unwrap();
        let mut fitting = grid.start(2).unwrap();
        let mut stream = LabelledPoints::new(&points, &labels).unwrap();
        let error = fitting.advance(&mut stream).unwrap_err();
        let outside = |e: &FitError<InputError>| {
            matches!(e, FitError::Example { taken: 150, source: InputError::OutsideBall { .. } })
        };
        assert!(outside(&error), "{error:?}");
        assert_eq!((fitting.taken, stream.remaining()), (150, 2849));
        agrees(&grid.start(2).unwrap(), &points, &labels, 60);
    }
}
