//! The hard-margin hypothesis: of all unit w that label every mistake right, the one of largest
//! least margin.
//!
//! max t over ‖w‖ <= 1 and a_i · w >= t is a second-order cone program, which an interior-point
//! solver meets to some 1e-8: not enough when the margin itself is 1e-9. So the solution is refined
//! by zooming in: around the present w, the residuals a_i · w are computed afresh and the program is
//! solved again for a correction in a ball a thousand times smaller, until the margin stands clear of
//! the solver's error (iterative refinement of linear programs: Gleixner, Steffy and Wolter 2016).
//! Whether w is consistent is never the solver's word: every a_i · w is computed and compared with 0.
//!
//! *Guarantee.* The margin of the hypothesis on the mistakes is the one stated. No mistake bound in
//! ln(1/γ): consistent hypotheses at the edge of the version space can be cut off one after the
//! other ("linear programming gives log 1/γ" in Notes21 speaks of running time). The hypothesis is the one
//! that a hard-margin support vector machine finds.
//!
//! *Source.* Notes21; the solver is Clarabel (Goulart and Chen 2024).

use super::learner::{Centre, check_cut};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT,
};
use halfspaces_linalg::{InputError, kernels, load_checked, normalise};

/// A margin of so many radii of the ball it was found in stands clear of the solver's error.
const RELIABLE_MARGIN: f64 = 1e-4;
/// How much smaller the next ball is.
const ZOOM_FACTOR: f64 = 1e-3;
/// Radius at which zooming ends: corrections below it are rounding.
const MIN_RADIUS: f64 = 1e-14;
/// Share of the margin that a point may come nearer by and still count as no nearer: the programs are
/// solved to four digits only where the margin is small.
const NEARER: f64 = 0.999;
/// Margin at or below which the order of a sum decides which side a point is on.
const MIN_MARGIN: f64 = 1e-12;
/// What another machine may compute for a margin of unit vectors.
#[cfg(feature = "serde")]
const SAVED_ROUNDING: f64 = 1e-13;
/// Accuracy asked of the solver.
const TOLERANCE: f64 = 1e-9;

/// The hard-margin hypothesis: of all unit w that label every mistake right, the one of largest least
/// margin, as a hard-margin support vector machine finds it.
///
/// *Guarantee.* Every a · w is computed and compared with 0, so [`HardMargin::margin`] holds whatever the
/// solver says; margins down to 1e-9 are met to a relative 1e-2. No mistake bound in ln(1/γ): consistent
/// hypotheses at the edge of the version space can be cut off one after the other.
///
/// *Cost.* A few second-order cone programs over all cuts so far per cut, O(cuts · d²) per iteration of the
/// solver. All cuts are kept.
///
/// *When to use it.* In pools and streams of few mistakes, where it makes fewer than the centres with a
/// bound; against an adversary, use those.
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
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HardMargin {
    centre: Vec<f64>,
    /// The cuts a_i, one after the other.
    cuts: Vec<f64>,
    margin: f64,
}

load_checked!(HardMargin { centre: Vec<f64>, cuts: Vec<f64>, margin: f64 });

#[cfg(feature = "serde")]
impl HardMargin {
    /// Refuses what no cuts can have left behind.
    fn check_saved(&self) -> Result<(), InputError> {
        use halfspaces_linalg::{Halfspace, Points, norm, tolerance};
        let centre = Halfspace::new(self.centre.clone())?.into_normal();
        Points::new(self.cuts.clone(), centre.len())?;
        let unit = |v: &[f64]| (norm(v) - 1.0).abs() <= tolerance::UNIT_NORM;
        let units = self.cuts.chunks_exact(centre.len()).all(unit);
        InputError::check_state(units, "a cut of the hard margin is not a unit vector")?;
        // 0 before the first cut, and where the solver has no answer.
        let fits = norm(&centre) == 0.0 || (unit(&centre) && !self.cuts.is_empty());
        InputError::check_state(fits, "the hard-margin hypothesis is neither 0 nor a unit vector")?;
        let margin = if self.cuts.is_empty() { 1.0 } else { least(&self.residuals(&self.centre)) };
        // On another machine the last digit may differ; what was saved goes on as it would have.
        let same = (self.margin - margin).abs() <= SAVED_ROUNDING;
        InputError::check_state(same, "the hard margin is not that of its hypothesis on its cuts")
    }
}

/// The least of one number or more.
fn least(residuals: &[f64]) -> f64 {
    residuals.iter().copied().fold(f64::INFINITY, f64::min)
}

impl HardMargin {
    /// No cuts yet: the centre is 0.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::TooLarge`].
    pub fn new(dim: usize) -> Result<HardMargin, InputError> {
        if dim == 0 {
            return Err(InputError::ZeroDimension);
        }
        Ok(HardMargin { centre: halfspaces_linalg::zeros(1, dim)?, cuts: Vec::new(), margin: 1.0 })
    }

    /// With all these cuts made at once.
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

    /// The least a · w over the cuts, computed from the hypothesis handed out; 1 before the first.
    /// Positive means consistent; otherwise no consistent hypothesis was found.
    #[must_use]
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// a_i · w for every cut.
    fn residuals(&self, w: &[f64]) -> Vec<f64> {
        self.cuts.chunks_exact(w.len()).map(|a| kernels::dot(a, w)).collect()
    }

    /// max t with r_i/radius + a_i · z >= t over ‖z‖ <= 1; `None` if the solver has no answer.
    fn correction(&self, residuals: &[f64], radius: f64) -> Option<Vec<f64>> {
        let d = self.centre.len();
        // t is at most 1 above the least r/radius, and a · z at least -1: far cuts cannot bind.
        let far = least(residuals) + 2.0 * radius;
        let near = || self.cuts.chunks_exact(d).zip(residuals).filter(|(_, r)| **r <= far);
        let count = near().count();
        // x = (z, t); rows: t - a_i · z + s = r_i/radius with s >= 0, then (1, z) in the cone.
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
                Err(error) => unreachable!("the program is put together to fit: {error}"),
            };
        solver.solve();
        // Whatever the solver thinks of it: the caller keeps what is better.
        let mut solution = std::mem::take(&mut solver.solution.x);
        solution.truncate(d);
        solution.iter().all(|v| v.is_finite()).then_some(solution)
    }

    /// The unit w of largest least margin that was found, and that margin.
    fn best(&self) -> (Vec<f64>, f64) {
        let mut w = vec![0.0; self.centre.len()];
        let mut residuals = self.residuals(&w);
        let mut radius = 1.0;
        // The first solution of radius 1 is where zooming starts from, be it consistent or not.
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
        // Without any answer of the solver the hypothesis is 0, which has every point on its boundary.
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

    /// Whether no consistent hypothesis of a margin above 1e-12 was found.
    fn is_exhausted(&self) -> bool {
        self.margin <= MIN_MARGIN
    }

    /// A point nearer than the present margin makes it smaller.
    fn is_moved_by(&self, margin: f64) -> bool {
        margin < NEARER * self.margin
    }

    /// None is known.
    fn mistake_bound(&self, _: f64) -> Option<f64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AsGiven, OnlineLearner, RandomOrder, SmallestMarginMistake, VersionSpace, run};
    use halfspaces_data::{MarginBall, Marginal, Realizable, Rotation, random_target};
    use halfspaces_linalg::{Classifier, Label, PointSet, Points};

    #[test]
    fn the_margin_is_the_largest() {
        // Against an exhaustive look in the plane, and by its optimality elsewhere: w is a positive
        // combination of the cuts that bind, so no direction improves all of those.
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

    /// Needles of version spaces: thin in one direction, or in all but one.
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
            // Rounding the rotated points moves them by 1e-16, a ten-millionth of the margin.
            assert!(margin > 0.99 * gamma, "{margin} of {gamma}, d = {dim}");
        }
    }

    #[test]
    fn contradictions_are_noticed() {
        let mut learner = VersionSpace::new(HardMargin::new(2).unwrap());
        let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).unwrap();
        let labels = [Label::Positive, Label::Positive, Label::Negative];
        for _ in 0..10 {
            for (x, y) in points.rows().zip(&labels) {
                learner.observe(x, *y).unwrap();
            }
        }
        assert!(learner.centre().is_exhausted());
        assert_eq!(HardMargin::new(0), Err(InputError::ZeroDimension));
        let mut fresh = HardMargin::new(1).unwrap();
        assert_eq!(fresh.cut(&[f64::NAN]), Err(InputError::Overflow { row: 0 }));
        assert!(fresh.cut(&[0.5]).is_err() && fresh.cut(&[0.6, 0.8]).is_err());
        assert_eq!(fresh, HardMargin::new(1).unwrap());
    }

    #[cfg(feature = "serde")]
    #[test]
    fn saved_hypotheses_are_checked_against_their_cuts() {
        use serde_json::{from_value, json, to_value};
        let loads = |value| from_value::<HardMargin>(value).is_ok();
        let mut centre = HardMargin::new(2).unwrap();
        let fresh = to_value(&centre).unwrap();
        for a in [[1.0, 0.0], [0.6, 0.8], [-0.6, 0.8]] {
            assert_eq!(from_value::<HardMargin>(to_value(&centre).unwrap()).unwrap(), centre);
            centre.cut(&a).unwrap();
        }
        let saved = to_value(&centre).unwrap();
        centre.cut(&[0.0, -1.0]).unwrap();
        assert!(centre.is_exhausted());
        assert_eq!(from_value::<HardMargin>(to_value(&centre).unwrap()).unwrap(), centre);
        // The dimension: six numbers are two cuts of three coordinates, too.
        let (w, m) = (saved["centre"].clone(), saved["margin"].as_f64().unwrap());
        let changes = [
            (&saved, json!({"centre": [w[0], w[1], 0.0]})),
            (&saved, json!({"centre": [1.0]})),
            (&saved, json!({"centre": [w[1], w[0]]})),
            (&saved, json!({"centre": [0.5, 0.5]})),
            (&saved, json!({"margin": m + 1e-9})),
            (&saved, json!({"margin": null})),
            (&saved, json!({"cuts": [1.0, 0.0, 0.6, 0.8, -0.8, 0.6]})),
            (&saved, json!({"cuts": [1.0, 0.0, 0.6, 0.8, -0.6]})),
            (&saved, json!({"cuts": [2.0, 0.0, 0.6, 0.8, -0.6, 0.8]})),
            (&fresh, json!({"margin": 0.5})),
            (&fresh, json!({"centre": [0.6, 0.8]})),
            (&fresh, json!({"centre": []})),
        ];
        for (saved, fields) in changes {
            let mut changed = saved.clone();
            for (field, value) in fields.as_object().unwrap() {
                changed[field] = value.clone();
            }
            assert!(!loads(changed), "{fields}");
        }
    }
}
