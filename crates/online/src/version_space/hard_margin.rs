//! The hard-margin hypothesis: the unit w with the largest minimum margin among those that label every mistake
//! correctly.
//!
//! Maximising t subject to ‖w‖ <= 1 and a_i · w >= t is a second-order cone program. An interior-point solver solves it
//! with an accuracy of about 1e-8, which is not enough if the margin itself is 1e-9. The solution is therefore refined
//! by zooming in (iterative refinement of linear programs: Gleixner, Steffy and Wolter 2016). The residuals a_i · w are
//! recomputed around the current w, and the program is solved for a correction in a ball a thousand times smaller,
//! until the margin is well above the solver's error. Consistency never relies on the solver: every a_i · w is computed
//! and compared with 0.

use super::learner::{Centre, check_cut};
use crate::direction::origin;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT,
};
use halfspaces_linalg::{InputError, kernels, normalise};

/// A margin is well above the solver's error if it is at least this multiple of the radius of the ball of the
/// correction.
const RELIABLE_MARGIN: f64 = 1e-4;
/// The ratio of the radius of a ball to the radius of the previous one.
const ZOOM_FACTOR: f64 = 1e-3;
/// Zooming ends at this radius, because smaller corrections are rounding errors.
const MIN_RADIUS: f64 = 1e-14;
/// A point counts as nearer to the boundary than the margin only if its distance is below this fraction of the margin.
/// The reason is that the programs are solved to only four digits if the margin is small.
const NEARER: f64 = 0.999;
/// If the margin is at most this value, the order of summation may decide on which side a point lies.
const MIN_MARGIN: f64 = 1e-12;
/// Tolerance of the solver.
const TOLERANCE: f64 = 1e-9;

/// The hard-margin hypothesis: the unit w with the largest minimum margin among those that label every mistake
/// correctly, as found by a hard-margin support vector machine.
///
/// *Guarantee.* Every a · w is computed and compared with 0, so [`HardMargin::margin`] is correct whatever the solver
/// reports. Margins down to 1e-9 are reached to within a relative error of 1e-2. There is no mistake bound in ln(1/γ),
/// because consistent hypotheses at the edge of the version space can be cut off one at a time. The remark "linear
/// programming gives log 1/γ" in Notes21 is about running time.
///
/// *Cost.* Each cut solves a few second-order cone programs over all cuts so far, at a cost of O(cuts · d²) per
/// iteration of the solver. All cuts are kept.
///
/// *When to use it.* On pools and streams with few mistakes, where this centre makes fewer mistakes than the centres
/// with a bound. Against an adversary, use a centre with a bound.
///
/// *Source.* Notes21; the solver is Clarabel (Goulart and Chen 2024). Claims: K8e, S6; compared in K8 and S1.
///
/// ```
/// use halfspaces_online::{Centre, HardMargin};
/// let mut centre = HardMargin::new(2)?;
/// centre.cut(&[0.6, 0.8])?;
/// centre.cut(&[0.6, -0.8])?;
/// assert!((centre.margin() - 0.6).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HardMargin {
    centre: Vec<f64>,
    /// The cuts a_i, stored contiguously.
    cuts: Vec<f64>,
    margin: f64,
}

/// The smallest number in a non-empty list.
fn least(residuals: &[f64]) -> f64 {
    residuals.iter().copied().fold(f64::INFINITY, f64::min)
}

impl HardMargin {
    /// Starts without cuts; the centre is 0.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::TooLarge`].
    pub fn new(dim: usize) -> Result<HardMargin, InputError> {
        Ok(HardMargin { centre: origin(dim)?, cuts: Vec::new(), margin: 1.0 })
    }

    /// The centre after all of these cuts are made at once.
    pub(crate) fn from_cuts<'a>(
        dim: usize,
        cuts: impl Iterator<Item = &'a [f64]>,
    ) -> Result<HardMargin, InputError> {
        let mut centre = HardMargin::new(dim)?;
        cuts.for_each(|a| centre.cuts.extend(a));
        if !centre.cuts.is_empty() {
            (centre.centre, centre.margin) = centre.best();
        }
        Ok(centre)
    }

    /// The smallest a · w over the cuts, computed from the returned hypothesis; 1 before the first cut. If this margin
    /// is positive, the hypothesis is consistent; otherwise no consistent hypothesis was found.
    #[must_use]
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// a_i · w for every cut.
    fn residuals(&self, w: &[f64]) -> Vec<f64> {
        self.cuts.chunks_exact(w.len()).map(|a| kernels::dot(a, w)).collect()
    }

    /// The z with ‖z‖ <= 1 that maximises the smallest r_i/radius + a_i · z. Returns `None` if the solver finds no
    /// solution.
    fn correction(&self, residuals: &[f64], radius: f64) -> Option<Vec<f64>> {
        let d = self.centre.len();
        // The optimal t is at most 1 above the smallest r/radius, and a · z is at least -1, so distant cuts cannot
        // bind.
        let far = least(residuals) + 2.0 * radius;
        let near = || self.cuts.chunks_exact(d).zip(residuals).filter(|(_, r)| **r <= far);
        let count = near().count();
        // The variables are x = (z, t). The rows are t - a_i · z + s = r_i/radius with s >= 0, followed by (1, z) in
        // the cone.
        let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for j in 0..d {
            rows.extend((0..count).chain([count + 1 + j]));
            values.extend(near().map(|(a, _)| -a[j]).chain([-1.0]));
            starts.push(rows.len());
        }
        rows.extend(0..count);
        values.extend(std::iter::repeat_n(1.0, count));
        starts.push(rows.len());
        let constraints = CscMatrix::new(count + 1 + d, d + 1, starts, rows, values);
        let mut offsets: Vec<f64> = near().map(|(_, r)| r / radius).chain([1.0]).collect();
        offsets.resize(count + 1 + d, 0.0);
        let mut objective = vec![0.0; d];
        objective.push(-1.0);

        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: TOLERANCE,
            tol_gap_rel: TOLERANCE,
            tol_feas: TOLERANCE,
            max_threads: 1,
            ..DefaultSettings::default()
        };
        let cones = [NonnegativeConeT(count), SecondOrderConeT(d + 1)];
        let none = CscMatrix::zeros((d + 1, d + 1));
        let mut solver =
            match DefaultSolver::new(&none, &objective, &constraints, &offsets, &cones, settings) {
                Ok(solver) => solver,
                Err(error) => unreachable!("the program has consistent dimensions: {error}"),
            };
        solver.solve();
        // Whatever the solver's status, the caller keeps the better solution.
        let mut solution = std::mem::take(&mut solver.solution.x);
        solution.truncate(d);
        solution.iter().all(|v| v.is_finite()).then_some(solution)
    }

    /// The best unit w found, and its minimum margin.
    fn best(&self) -> (Vec<f64>, f64) {
        let mut w = vec![0.0; self.centre.len()];
        let mut residuals = self.residuals(&w);
        let mut radius = 1.0;
        // Zooming starts from the solution for radius 1, whether it is consistent or not.
        let mut margin = f64::NEG_INFINITY;
        while radius > MIN_RADIUS {
            let Some(z) = self.correction(&residuals, radius) else { break };
            let mut moved = w.clone();
            kernels::axpy(radius, &z, &mut moved);
            if normalise(&mut moved) {
                let new = self.residuals(&moved);
                if least(&new) > margin {
                    (margin, residuals, w) = (least(&new), new, moved);
                }
            }
            if margin >= RELIABLE_MARGIN * radius {
                break;
            }
            radius *= ZOOM_FACTOR;
        }
        // If the solver never finds a solution, the hypothesis is 0, and every point is on its boundary.
        (w, if margin.is_finite() { margin } else { 0.0 })
    }
}

impl Centre for HardMargin {
    fn dim(&self) -> usize {
        self.centre.len()
    }

    fn centre(&self) -> &[f64] {
        &self.centre
    }

    fn cut(&mut self, a: &[f64]) -> Result<(), InputError> {
        check_cut(self.centre.len(), a)?;
        self.cuts.extend(a);
        (self.centre, self.margin) = self.best();
        Ok(())
    }

    /// Whether no consistent hypothesis with a margin above 1e-12 was found.
    fn is_exhausted(&self) -> bool {
        self.margin <= MIN_MARGIN
    }

    /// A point that is nearer to the boundary than the current margin reduces the margin.
    fn is_moved_by(&self, margin: f64) -> bool {
        margin < NEARER * self.margin
    }

    /// Always returns `None`, because no bound is known.
    fn mistake_bound(&self, _: f64) -> Option<f64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_runs::contradicted;
    use super::*;
    use crate::{AsGiven, RandomOrder, SmallestMarginMistake, VersionSpace, run};
    use halfspaces_data::{MarginBall, Marginal, Realizable, Rotation, random_target};
    use halfspaces_linalg::{Classifier, Label, PointSet, Points};

    #[test]
    fn the_margin_is_the_largest() {
        // In the plane, the result is compared with an exhaustive search. In higher dimensions, its optimality is
        // checked: w is a positive combination of the binding cuts, so no direction improves all of them.
        for seed in 0..20 {
            let target = random_target(2, seed).unwrap();
            let points = MarginBall::new(&target, 0.05).unwrap().sample(12, seed + 50).unwrap();
            let points = points.normalised().unwrap();
            let mut centre = HardMargin::new(2).unwrap();
            for x in points.rows() {
                let y = target.label(x).unwrap().as_f64();
                let a: Vec<f64> = x.as_slice().iter().map(|v| y * v).collect();
                centre.cut(&a).unwrap();
            }
            let best = (0..100_000)
                .map(|k| f64::from(k) * std::f64::consts::TAU / 1e5)
                .map(|t| {
                    let residuals = centre.residuals(&[t.cos(), t.sin()]);
                    residuals.into_iter().fold(f64::INFINITY, f64::min)
                })
                .fold(f64::NEG_INFINITY, f64::max);
            assert!((centre.margin() - best).abs() < 1e-4, "{} {best}", centre.margin());
            assert!(centre.margin() >= best - 1e-7);
        }
    }

    #[test]
    fn it_labels_its_mistakes_right_and_a_pool_in_the_end() {
        for (seed, dim) in [(1, 1), (2, 2), (3, 5), (4, 12)] {
            let target = random_target(dim, seed).unwrap();
            let ball = MarginBall::new(&target, 0.02).unwrap().sample(400, seed + 9).unwrap();
            let pool = Realizable::new(ball.normalised().unwrap(), target).unwrap();
            let labels = pool.labels();
            for adversarial in [false, true] {
                let learner = VersionSpace::new(HardMargin::new(dim).unwrap());
                let (learner, transcript) = if adversarial {
                    let order = SmallestMarginMistake::new(labels.to_vec());
                    run(learner, pool.points(), labels, order).unwrap()
                } else {
                    run(learner, pool.points(), labels, RandomOrder::new(seed)).unwrap()
                };
                let centre = learner.centre();
                assert!(centre.margin() >= pool.margin() * 0.999, "d = {dim}");
                assert!(centre.residuals(&centre.centre).iter().all(|r| *r >= centre.margin()));
                assert_eq!(centre.mistake_bound(0.1), None);
                assert!(transcript.mistakes() < 100);
            }
        }
    }

    /// The version spaces are thin in one direction, or in all directions but one.
    #[test]
    fn a_margin_of_a_billionth_is_within_reach() {
        let gamma = 1e-9;
        for (dim, thin) in [(2, 1), (6, 1), (6, 5)] {
            let mut rows = vec![];
            for j in 1..=thin {
                for sign in [1.0, -1.0] {
                    let mut row = vec![0.0; dim];
                    (row[0], row[j]) = (gamma, sign);
                    rows.push(row);
                }
            }
            let points = Points::from_rows(&rows).unwrap().normalised().unwrap();
            let points = Rotation::random(dim, 5).unwrap().apply(&points).unwrap();
            let labels = vec![Label::Negative; points.len()];
            let mut learner = VersionSpace::new(HardMargin::new(dim).unwrap());
            for _ in 0..20 {
                learner = run(learner, &points, &labels, AsGiven::new()).unwrap().0;
            }
            assert_eq!(learner.halfspace().unwrap().label_all(&points).unwrap(), labels);
            let margin = learner.centre().margin();
            // Rounding moves the rotated points by 1e-16, a ten-millionth of the margin.
            assert!(margin > 0.99 * gamma, "{margin} of {gamma}, d = {dim}");
        }
    }

    #[test]
    fn contradictions_are_noticed() {
        let learner = contradicted(HardMargin::new(2).unwrap(), 10);
        assert!(learner.centre().is_exhausted());
        assert_eq!(HardMargin::new(0), Err(InputError::ZeroDimension));
        let mut fresh = HardMargin::new(1).unwrap();
        assert_eq!(fresh.cut(&[f64::NAN]), Err(InputError::Overflow { row: 0 }));
        assert!(fresh.cut(&[0.5]).is_err() && fresh.cut(&[0.6, 0.8]).is_err());
        assert_eq!(fresh, HardMargin::new(1).unwrap());
    }

    /// The second cut binds although its slack is larger than the radius: max over z of min(z₁, 1.5 - z₁) is 0.75.
    #[test]
    fn distant_cuts_can_bind() {
        let mut learner = HardMargin::new(2).unwrap();
        learner.cuts = vec![1.0, 0.0, -1.0, 0.0];
        for radius in [1.0, 0.01] {
            let solution = learner.correction(&[0.0, 1.5 * radius], radius).unwrap();
            assert!((solution[0] - 0.75).abs() < 1e-6, "{solution:?} at radius {radius}");
        }
    }
}
