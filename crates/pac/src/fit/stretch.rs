//! Many examples at once.
//!
//! A lane's steps ask for nothing but its own iterate. One lane alone goes over the rows in one loop between two of its
//! events (a run begins, an iterate is retained or taken along). Several lanes take each row side by side, eight in the
//! lanes of vectors (`beside`); several threads have a part of the lanes each.
//! What lanes retain on the way becomes candidates in the order of one example after the other. Iterates and
//! candidates are those of one example after the other, to the bit.
//!
//! Claims: none of its own; the tests below hold it to one example after the other.

use super::beside::Beside;
use super::block_row::{BlockRows, MOST_COORDINATES};
use super::fitting::Fitting;
use super::lane::Retention;
use super::on_way::{OnWay, Way, side_by_side};
use super::outcome::Origin;
use super::plan::Placement;
use halfspaces_data::Link;
use halfspaces_kernels::run_blocks;
use halfspaces_linalg::{InputError, Label, LiftedRow, RowView, RowsAhead, ScaledRow};

/// Rows of about so many values are placed at a time: they stay in the nearest cache while lanes take them.
const SHARED_VALUES: usize = 2048;
/// Values taken together: enough for the start of threads not to count.
const VALUES_TOGETHER: usize = 1 << 18;

impl<L: Link> Fitting<L> {
    /// How many rows are taken together.
    pub(crate) fn rows_together(&self) -> usize {
        if self.lanes.len() == 1 { usize::MAX } else { (VALUES_TOGETHER / self.dim).max(1) }
    }

    /// Learns from the first of `rows`, and says from how many; none where the next example is the last one to learn
    /// from, where a row is outside the ball or of another dimension, and where a single lane's points are lifted or all
    /// iterates retained: those are taken one by one.
    pub(super) fn take_rows(&mut self, rows: RowsAhead<'_>) -> usize {
        let Placement { scale, lift } = self.placement;
        let alone = self.lanes.len() == 1;
        let retains_all = self.lanes.iter().any(|lane| lane.retention == Retention::All);
        if retains_all || rows.dim() != self.dim || (lift && alone) {
            return 0;
        }
        // After the last there are means to be offered.
        let before_the_last = (self.training - self.taken).saturating_sub(1);
        let rows = rows.at_most(before_the_last.min(self.rows_together() as u64));
        if !alone {
            return self.go_side_by_side(&rows.rows().collect::<Vec<_>>(), true).0;
        }
        let mut ways = Vec::with_capacity(1);
        for lane in &mut self.lanes {
            let mut on_way = OnWay::new(lane, Some(&mut self.reservoir));
            match self.placement.is_unscaled() {
                true => on_way.go_over::<false>(self.project, 1.0, rows),
                false => on_way.go_over::<true>(self.project, scale, rows),
            }
            ways.push(on_way.way);
        }
        self.offer(ways)
    }

    /// Learns from examples in memory as one after the other would; they are no more than are left to learn from.
    ///
    /// # Errors
    /// As [`Fitting::observe`]; those before the faulty one are learned from.
    pub(crate) fn learn_from<R: RowView + Sync>(
        &mut self,
        examples: &[(R, Label)],
    ) -> Result<(), InputError> {
        examples.iter().try_for_each(|(x, _)| InputError::check_dim(self.dim, x.dim()))?;
        let Some((last, examples)) = examples.split_last() else { return Ok(()) };
        if let (_, Some(norm_sq)) = self.go_side_by_side(examples, false) {
            return InputError::check_in_ball(norm_sq);
        }
        // One by one: training may end with it.
        self.observe(last.0, last.1).map(|_| ())
    }

    /// Learns from examples of the right dimension, all of them known to be dense or not, up to the first outside the
    /// ball: how many they were, and its squared norm.
    fn go_side_by_side<R: RowView + Sync>(
        &mut self,
        examples: &[(R, Label)],
        dense: bool,
    ) -> (usize, Option<f64>) {
        let Placement { scale, lift } = self.placement;
        match (lift, self.placement.is_unscaled()) {
            (false, true) => self.go_placed(examples, dense, |x| x),
            (false, false) => self.go_placed(examples, dense, |x| ScaledRow::new(x, scale)),
            (true, true) => self.go_placed(examples, dense, LiftedRow::new),
            (true, false) => {
                self.go_placed(examples, dense, |x| LiftedRow::new(ScaledRow::new(x, scale)))
            }
        }
    }

    fn go_placed<R: RowView + Sync, X: RowView>(
        &mut self,
        examples: &[(R, Label)],
        dense: bool,
        place: impl Fn(R) -> X + Sync,
    ) -> (usize, Option<f64>) {
        let threads = self.selector.threads();
        let norms_sq = threads.map_blocks(examples.len(), VALUES_TOGETHER / 64, |block| {
            examples[block].iter().map(|(x, _)| place(*x).norm_sq()).collect::<Vec<f64>>()
        });
        let norms_sq = norms_sq.concat();
        let outside = norms_sq.iter().position(|n| InputError::check_in_ball(*n).is_err());
        let inside = outside.unwrap_or(examples.len());
        let (dim, placement, project) = (self.dim, self.placement, self.project);
        let dim_inside = placement.dim_inside(dim);
        let groups = threads.count().min(self.lanes.len());
        let block = (SHARED_VALUES / dim).max(1);
        let (longest, mut reservoir) = (self.longest, Some(&mut self.reservoir));
        let on_way = |(index, lane): (usize, _)| {
            OnWay::new(lane, if index == longest { reservoir.take() } else { None })
        };
        // Dealt out in turn: lanes beside each other take about as long, those that are projected longer.
        let mut lanes = deal(self.lanes.iter_mut().enumerate().map(on_way), groups);
        let rows = || BlockRows::new(dim, placement);
        threads.map_with(lanes.iter_mut(), rows, |rows, lanes| {
            let in_blocks = dense || dim <= MOST_COORDINATES;
            let width = if in_blocks { rows.width() } else { dim_inside };
            lanes.iter_mut().for_each(|on_way| on_way.resize(width));
            let parts = examples[..inside].chunks(block).zip(norms_sq.chunks(block));
            for (examples, norms_sq) in parts {
                let labels = examples.iter().map(|(_, label)| *label);
                let facts: Vec<(f64, Label)> = norms_sq.iter().copied().zip(labels).collect();
                let (points, facts) = (examples.iter().map(|(x, _)| *x), facts.as_slice());
                if in_blocks {
                    rows.fill(points);
                    run_blocks(Beside { lanes, rows, facts, project });
                } else {
                    side_by_side(lanes, points.map(&place), facts, project);
                }
            }
            lanes.iter_mut().for_each(|on_way| on_way.resize(dim_inside));
        });
        let ways = gather(lanes).map(|on_way| on_way.way).collect();
        (self.offer(ways), outside.map(|outside| norms_sq[outside]))
    }

    /// Offers what lanes retained on their ways over the same rows: how many were taken.
    fn offer(&mut self, ways: Vec<Way>) -> usize {
        let Some(taken) = ways.iter().map(|way| way.taken).max() else {
            unreachable!("a fit has at least one lane")
        };
        // Points outside the ball are so for every lane.
        let all = ways.iter().all(|way| way.taken as u64 == (taken as u64).min(way.steps_left));
        assert!(all, "a lane ends with its steps, or with the others");
        self.taken += taken as u64;
        let retained = ways.into_iter().enumerate().flat_map(|(lane, way)| {
            way.retained.into_iter().map(move |(step, w)| (Origin { lane, step }, w))
        });
        let mut retained: Vec<_> = retained.collect();
        retained.sort_by_key(|(origin, _)| (origin.step, origin.lane));
        for (origin, w) in retained {
            self.selector.offer(&w);
            self.origins.push(origin);
        }
        taken
    }
}

/// Items in `groups` groups, each next one to the next group.
fn deal<T>(items: impl Iterator<Item = T>, groups: usize) -> Vec<Vec<T>> {
    let mut dealt: Vec<Vec<T>> = (0..groups).map(|_| Vec::new()).collect();
    items.enumerate().for_each(|(index, item)| dealt[index % groups].push(item));
    dealt
}

/// The items that were dealt out, in their order.
fn gather<T>(dealt: Vec<Vec<T>>) -> impl Iterator<Item = T> {
    let mut groups: Vec<_> = dealt.into_iter().map(Vec::into_iter).collect();
    let count = groups.len();
    (0..).map_while(move |index| groups[index % count].next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::direction::{Denominator, Direction};
    use crate::fit::iterate::Iterate;
    use crate::test_data::Instance;
    use crate::{GridPerspectron, Margin, Perspectron, Schedule, Selection, Stage};
    use halfspaces_data::LabelledPoints;
    use halfspaces_linalg::{
        DenseRow, FitError, InputError, Label, Params, PointSet, Points, RowView, SparsePoints,
        Threads,
    };
    use std::fmt::Debug;

    /// The stream in memory, in pieces of `most`, beside one example after the other: the same state after each, on
    /// any number of threads.
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
    fn items_dealt_out_are_gathered_in_order() {
        for (count, groups) in [(1, 1), (5, 2), (6, 3), (54, 5)] {
            let dealt = deal(0..count, groups);
            let sizes: Vec<usize> = dealt.iter().map(Vec::len).collect();
            assert_eq!(sizes.len(), groups);
            assert!(
                sizes.iter().all(|size| *size == count / groups || *size == count.div_ceil(groups))
            );
            assert_eq!(gather(dealt).collect::<Vec<_>>(), (0..count).collect::<Vec<_>>());
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
                // Off the unit ball and on its sphere, all iterates, and several lanes.
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

    /// From the first example to the last, which are different learners' events, and on to the choice.
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

    /// In memory, in pieces of any length, lifted and scaled, sparse and dense, on any number of threads.
    #[test]
    fn examples_in_memory_are_one_after_the_other() {
        let (points, labels) = Instance::new(5, 0.4, 7).sample(6000, 8, |_| 0.1);
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let grid = GridPerspectron::params(Margin::Known(0.4)).excess(0.6);
        let all = grid.selection(Selection::AllIterates);
        for params in [grid, grid.lift(true), grid.radius(1.9), grid.radius(1.9).lift(true), all] {
            let fresh = params.check().unwrap().start(5).unwrap();
            assert!(fresh.lanes.len() > 1);
            // To the last one to learn from, where there are so few.
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
            // Up to a point outside the ball, wherever it stands; none is learned from one of another dimension.
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

    /// In blocks where they are known to be dense, as they are where they may be sparse.
    #[test]
    fn long_rows_are_one_after_the_other() {
        for d in [MOST_COORDINATES - 1, MOST_COORDINATES + 1] {
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
        // More rows than lanes go over in turn.
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

    /// A link that takes a step beyond every number.
    #[derive(Debug, Clone, PartialEq)]
    struct Steep;

    impl Link for Steep {
        fn value(&self, t: f64) -> f64 {
            if t > 0.5 { f64::INFINITY } else { 0.5 }
        }

        fn asymmetry(&self) -> f64 {
            0.0
        }
    }

    #[test]
    fn a_step_that_is_not_finite_is_that_of_the_plain_rule() {
        let direction = Direction { link: Steep, denominator: Denominator::Plus(0.1) };
        let (points, labels) = Instance::new(5, 0.1, 5).sample(400, 6, |_| 0.1);
        for project in [true, false] {
            let (mut together, mut single) = (Iterate::zero(5).unwrap(), Iterate::zero(5).unwrap());
            let rows = RowsAhead::new(&points, &labels, 0);
            let taken = together.descend_rows::<_, false>(&direction, 0.3, project, 1.0, rows);
            assert_eq!(taken, 400);
            for (x, y) in points.rows().zip(&labels) {
                let row = (x, x.dot(single.as_slice()), x.norm_sq());
                single.descend(&direction, 0.3, project, row, *y);
            }
            let bits = |v: &f64| if v.is_nan() { None } else { Some(v.to_bits()) };
            let bits = |w: &Iterate| w.as_slice().iter().map(bits).collect::<Vec<_>>();
            assert_eq!(bits(&together), bits(&single));
            assert!(single.as_slice().iter().any(|v| !v.is_finite()));
        }
    }
}
