//! Many examples at once, between two events.
//!
//! An event is whatever else than a step happens at an example: a run begins, an iterate is retained or taken
//! along, training ends. Up to the next one every lane goes over the rows by itself, as its steps ask for nothing but
//! its own iterate; they are those of one example after the other, to the bit.
//!
//! Claims: none of its own; the tests below hold it to one example after the other.

use super::fitting::Fitting;
use super::plan::Placement;
use halfspaces_data::Link;
use halfspaces_linalg::RowsAhead;

/// Several lanes go over this many values in turn, which the nearest cache holds while they do.
const SHARED_VALUES: usize = 2048;

impl<L: Link> Fitting<L> {
    /// Learns from the first of `rows`, and says from how many; none where an event is at the very first, where
    /// it is outside the ball or of another dimension, and where points are lifted: those are taken one by one.
    pub(super) fn take_rows(&mut self, rows: RowsAhead<'_>) -> usize {
        let Placement { scale, lift } = self.placement;
        if lift || rows.dim() != self.dim {
            return 0;
        }
        let scaled = !self.placement.is_unscaled();
        let active = self.lanes.iter().filter(|lane| lane.taken < lane.steps());
        let (lanes, quiet) = active.fold((0, self.quiet_steps()), |(lanes, quiet), lane| {
            (lanes + 1, quiet.min(lane.quiet_steps()))
        });
        let shared = if lanes > 1 { (SHARED_VALUES / rows.dim()).max(1) as u64 } else { u64::MAX };
        let mut rows = rows.at_most(quiet.min(shared));
        for lane in self.lanes.iter_mut().filter(|lane| lane.taken < lane.steps()) {
            let (w, direction) = (&mut lane.w, &lane.direction);
            let taken = if scaled {
                w.descend_rows::<L, true>(direction, lane.step, self.project, scale, rows)
            } else {
                w.descend_rows::<L, false>(direction, lane.step, self.project, 1.0, rows)
            };
            // The first lane ends at a point outside the ball, if there is one; so do the others.
            rows = rows.at_most(taken as u64);
            lane.taken += taken as u64;
            lane.in_run += taken as u64;
        }
        let taken = rows.labels().len();
        self.taken += taken as u64;
        taken
    }

    /// For how many examples no event of the whole fit comes, the last example being one.
    fn quiet_steps(&self) -> u64 {
        let before_the_last = (self.training - self.taken).saturating_sub(1);
        before_the_last.min(self.reservoir.quiet_steps(self.lanes[self.longest].taken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::direction::{Denominator, Direction};
    use crate::fit::iterate::Iterate;
    use crate::test_data::Instance;
    use crate::{GridPerspectron, Margin, Perspectron, Schedule, Selection, Stage};
    use halfspaces_data::LabelledPoints;
    use halfspaces_linalg::{FitError, InputError, Label, Params, PointSet, Points, RowView};
    use std::fmt::Debug;

    /// The stream in memory, in pieces of `most`, beside one example after the other: the same state after each.
    fn agrees<L: Link + Clone + PartialEq + Debug>(
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
                let fresh = grid.check().unwrap().start(d).unwrap();
                assert!(fresh.lanes.len() > 2);
                agrees(&fresh, &points, &labels, most);
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

    #[test]
    fn a_point_outside_the_ball_is_found_where_it_is() {
        let mut values = vec![0.3; 400];
        values[2 * 150] = 3.0;
        let points = Points::new(values, 2).unwrap();
        let labels = [Label::Negative; 200];
        let grid = GridPerspectron::params(Margin::Known(0.2)).excess(0.4).check().unwrap();
        let mut fitting = grid.start(2).unwrap();
        let mut stream = LabelledPoints::new(&points, &labels).unwrap();
        let error = fitting.advance(&mut stream).unwrap_err();
        let outside = |e: &FitError<InputError>| {
            matches!(e, FitError::Example { taken: 150, source: InputError::OutsideBall { .. } })
        };
        assert!(outside(&error), "{error:?}");
        assert_eq!((fitting.taken, stream.remaining()), (150, 49));
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
