//! The centre of gravity of the version space, by hit-and-run.
//!
//! Keep a sample of the version space, spread by hit-and-run: from each point, go in a random
//! direction to a uniform point of the chord. Directions are random combinations of the sample's own
//! differences, so the walk does not mind how thin the set is, and a set 1e-9 wide is walked like a
//! round one. A cut too deep for the sample (no point survives) is made in steps that each keep a
//! share of it.
//!
//! *Guarantee.* For the exact centre, every cut leaves at most 1 - 1/e of the volume (Grünbaum), and
//! the version space holds a ball of radius γ/(1+γ): at most d ln((1+γ)/γ)/ln(e/(e-1)) mistakes.
//! The sampled mean is that centre up to its sampling error, of which the proof knows nothing: the
//! bound is a yardstick here, tested and not proved. [`MixingDiagnostics`] reports how well the sample
//! has mixed after the last cut.
//!
//! *Source.* Kakade §3; Bertsimas and Vempala 2004 for hit-and-run with cuts.
//!
//! Claims: S6, S6b.

use super::hit_and_run::{MixingDiagnostics, Sample, mean, step_budget, uniform_in_ball};
use super::learner::{Centre, check_cut};
use crate::bounds;
use crate::direction::rng_for_count;
use halfspaces_linalg::{InputError, RngStream, Threads, load_checked, zeros};

/// Points of the sample at least.
const MIN_POINTS: usize = 64;
/// Points of the sample per dimension.
const POINTS_PER_DIMENSION: usize = 4;
/// A sweep of hit-and-run steps is repeated until the sample is independent of where it was, at most so
/// often.
const MAX_SWEEPS: usize = 12;

/// The centre of gravity of the version space: the mean of a sample of it, max(64, 4d) points that
/// hit-and-run spreads anew after every cut.
///
/// *Guarantee.* For the exact centre every cut leaves at most 1 - 1/e of the volume (Grünbaum): at most
/// d ln((1+γ)/γ)/ln(e/(e-1)) mistakes. The sampled mean is that centre up to a sampling error of which the
/// proof knows nothing; the bound is tested here, not proved.
///
/// *Cost.* A sweep of d + 4 steps, each O(points · (cuts + d)), and a few sweeps per cut; at most
/// 16384 (d + 4) steps per cut, whatever the labels. All cuts are kept.
///
/// *When to use it.* For the fewest mistakes among the centres with a bound. [`HardMargin`](crate::HardMargin)
/// is deterministic and faster where there are many cuts.
///
/// *Source.* Kakade §3; Bertsimas and Vempala 2004 for hit-and-run with cuts. Claims: K8, K8e, S9p.
///
/// ```
/// use halfspaces_online::{Centre, CentreOfGravity};
/// let mut centre = CentreOfGravity::new(2, 1)?;
/// centre.cut(&[1.0, 0.0])?;
/// // Half a disc: its centre of gravity is 4/(3π) = 0.424 along the axis.
/// assert!((centre.centre()[0] - 0.424).abs() < 0.15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CentreOfGravity {
    centre: Vec<f64>,
    points: Vec<Vec<f64>>,
    cuts: Vec<Vec<f64>>,
    mixing: MixingDiagnostics,
    exhausted: bool,
    /// Every cut draws from a stream of its own, so a saved centre goes on as it would have.
    seed: u64,
    #[cfg_attr(feature = "serde", serde(skip))]
    threads: Threads,
}

load_checked!(CentreOfGravity {
    centre: Vec<f64>,
    points: Vec<Vec<f64>>,
    cuts: Vec<Vec<f64>>,
    mixing: MixingDiagnostics,
    exhausted: bool,
    seed: u64,
    #[serde(skip)]
    threads: Threads,
});

#[cfg(feature = "serde")]
impl CentreOfGravity {
    /// Refuses what no cuts can have left behind.
    fn check_saved(&self) -> Result<(), InputError> {
        use halfspaces_linalg::{Halfspace, Points, kernels, norm, tolerance};
        /// What rounding, here or on another machine, changes about a number of the unit ball.
        const ROUNDING: f64 = 1e-9;
        let CentreOfGravity { centre, points, cuts, mixing, exhausted, seed, .. } = self;
        let dim = Halfspace::new(centre.clone())?.dim();
        let fresh = CentreOfGravity::new(dim, *seed)?;
        InputError::check_len(fresh.points.len(), points.len())?;
        for row in points.iter().chain(cuts) {
            InputError::check_dim(dim, row.len())?;
            Points::new(row.clone(), dim)?;
            // All are of the unit ball, up to rounding.
            let length = norm(row);
            let inside = length <= 1.0 + tolerance::UNIT_NORM;
            InputError::check_parameter("length of a row", length, inside, "at most 1")?;
        }
        // The cut that left nothing moved neither the sample nor the centre.
        let Some(made) = cuts.len().checked_sub(usize::from(*exhausted)) else {
            return Err(InputError::InconsistentState {
                reason: "a version space is exhausted without a cut",
            });
        };
        let near = |x: &[f64], y: &[f64]| x.iter().zip(y).all(|(x, y)| (x - y).abs() <= ROUNDING);
        let (sample, expected) = match made {
            0 => (&fresh.points, vec![0.0; dim]),
            _ => (points, mean(points)),
        };
        let same = points.iter().zip(sample).all(|(x, y)| near(x, y));
        InputError::check_state(same, "the sample without cuts is not that of its seed")?;
        InputError::check_state(near(centre, &expected), "the centre is not the sample's mean")?;
        let keeps = |a: &Vec<f64>| points.iter().all(|w| kernels::dot(a, w) >= -ROUNDING);
        let inside = cuts[..made].iter().all(keeps);
        InputError::check_state(inside, "a point of the sample lies outside a cut")?;
        let mixed = mixing.sweeps <= MAX_SWEEPS
            && mixing.correlation.abs() <= 1.0 + ROUNDING
            && mixing.survivors > 0.0
            && mixing.survivors <= 1.0;
        InputError::check_state(mixed, "no walk mixes like this")
    }
}

impl CentreOfGravity {
    /// The unit ball of R^`dim`, sampled with the streams of `seed`.
    ///
    /// # Errors
    /// [`InputError::ZeroDimension`]; [`InputError::TooLarge`].
    pub fn new(dim: usize, seed: u64) -> Result<CentreOfGravity, InputError> {
        if dim == 0 {
            return Err(InputError::ZeroDimension);
        }
        let mut rng = rng_for_count(RngStream::CentreOfGravity, seed, 0);
        let count = MIN_POINTS.max(POINTS_PER_DIMENSION.saturating_mul(dim));
        zeros(count, dim)?;
        let points = (0..count).map(|_| uniform_in_ball(dim, &mut rng)).collect();
        let mixing = MixingDiagnostics::UNCUT;
        let (centre, cuts) = (vec![0.0; dim], Vec::new());
        let (exhausted, threads) = (false, Threads::ONE);
        Ok(CentreOfGravity { centre, points, cuts, mixing, exhausted, seed, threads })
    }

    /// On how many threads the sample walks; it does not depend on them. Default: one, also of a centre that was saved
    /// and loaded.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
        self
    }

    /// How well the sample has mixed after the last cut.
    #[must_use]
    pub fn mixing(&self) -> MixingDiagnostics {
        self.mixing
    }

    /// The sample.
    pub fn sample(&self) -> impl Iterator<Item = &[f64]> {
        self.points.iter().map(Vec::as_slice)
    }
}

impl Centre for CentreOfGravity {
    fn dim(&self) -> usize {
        self.centre.len()
    }

    fn centre(&self) -> &[f64] {
        &self.centre
    }

    fn cut(&mut self, a: &[f64]) -> Result<(), InputError> {
        check_cut(self.centre.len(), a)?;
        if self.exhausted {
            return Ok(());
        }
        let round = self.cuts.len() as u64 + 1;
        let mut rng = rng_for_count(RngStream::CentreOfGravity, self.seed, round);
        self.cuts.push(a.to_vec());
        let mut shape = self.points.clone();
        let cuts: Vec<&[f64]> = self.cuts.iter().map(Vec::as_slice).collect();
        let mut steps_left = step_budget(self.centre.len());
        let mut sample = Sample {
            points: &mut self.points,
            shape: &mut shape,
            cuts: &cuts,
            max_sweeps: MAX_SWEEPS,
            steps_left: &mut steps_left,
            threads: self.threads,
        };
        let Some(mixing) = sample.cut_by_last(&mut rng) else {
            self.exhausted = true;
            return Ok(());
        };
        self.mixing = mixing;
        self.centre = mean(&self.points);
        assert!(self.centre.iter().all(|v| v.is_finite()), "the sample lies in the unit ball");
        Ok(())
    }

    fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    fn mistake_bound(&self, margin: f64) -> Option<f64> {
        Some(bounds::centre_of_gravity_mistakes(self.centre.len(), margin))
    }
}

#[cfg(test)]
mod tests {
    use super::super::hit_and_run::MAX_CORRELATION;
    use super::*;
    use crate::{AsGiven, OnlineLearner, SmallestMarginMistake, VersionSpace, run};
    use halfspaces_data::{LabelledPoints, MarginBall, Marginal, Realizable, random_target};
    use halfspaces_linalg::{
        BooleanConcept, BooleanPoint, Classifier, DecisionList, Label, Literal, PointSet, Points,
        kernels, norm, rng_for,
    };
    use rand::RngExt;

    #[test]
    fn half_balls_have_their_centre() {
        // E[w_1] over the half ball of R^d: Γ(d/2+1)/(√π Γ((d+3)/2)); d = 2: 4/(3π), d = 3: 3/8.
        for (dim, expected) in [(1, 0.5), (2, 4.0 / (3.0 * std::f64::consts::PI)), (3, 0.375)] {
            let mut means = vec![];
            for seed in 0..30 {
                let mut centre = CentreOfGravity::new(dim, seed).unwrap();
                let mut a = vec![0.0; dim];
                a[0] = 1.0;
                centre.cut(&a).unwrap();
                assert!(centre.sample().all(|w| w[0] >= 0.0 && norm(w) <= 1.0 + 1e-12));
                assert!(centre.mixing().correlation <= MAX_CORRELATION);
                means.push(centre.centre()[0]);
            }
            let mean = means.iter().sum::<f64>() / 30.0;
            // 30 means of 64 points: standard error about .25/√1920 = .006.
            assert!((mean - expected).abs() < 0.03, "d = {dim}: {mean} against {expected}");
        }
    }

    #[test]
    fn the_sample_stays_in_the_set_and_mistakes_stay_few() {
        for (seed, dim) in [(1, 2), (2, 5), (3, 8)] {
            let target = random_target(dim, seed).unwrap();
            let ball = MarginBall::new(&target, 0.02).unwrap().sample(400, seed + 9).unwrap();
            let pool = Realizable::new(ball.normalised().unwrap(), target).unwrap();
            let learner = VersionSpace::new(CentreOfGravity::new(dim, seed).unwrap());
            let adversary = SmallestMarginMistake::new(pool.labels().to_vec());
            let (learner, transcript) =
                run(learner, pool.points(), pool.labels(), adversary).unwrap();
            let bound = learner.centre().mistake_bound(pool.margin()).unwrap();
            assert!(transcript.mistakes() as f64 <= bound, "d = {dim}");
            for w in learner.centre().sample() {
                for round in transcript.rounds().iter().filter(|r| r.is_mistake()) {
                    let x = pool.points().row(round.index).unwrap().as_slice();
                    assert!(round.truth.as_f64() * kernels::dot(w, x) >= -1e-12);
                }
            }
        }
    }

    #[test]
    fn a_margin_of_a_billionth_is_within_reach() {
        let gamma = 1e-9;
        let points =
            Points::from_rows(&[[gamma, 1.0], [gamma, -1.0]]).unwrap().normalised().unwrap();
        let labels = [Label::Negative; 2];
        let mut learner = VersionSpace::new(CentreOfGravity::new(2, 1).unwrap());
        let mut mistakes = 0;
        for _ in 0..500 {
            let (after, transcript) = run(learner, &points, &labels, AsGiven::new()).unwrap();
            learner = after;
            mistakes += transcript.mistakes();
            if transcript.mistakes() == 0 {
                break;
            }
        }
        assert_eq!(learner.halfspace().unwrap().label_all(&points).unwrap(), labels);
        let bound = learner.centre().mistake_bound(gamma).unwrap();
        // Two deep cuts pin it down, the second to a wedge 1e-9 wide.
        assert!(mistakes >= 2 && mistakes as f64 <= bound, "{mistakes} of {bound}");
    }

    /// Decision lists, whose version spaces are millions of times longer than wide: on the way to a deep
    /// cut samples of these seeds lost a direction, and the set counted as empty.
    #[test]
    fn narrow_sets_are_not_taken_for_empty_ones() {
        for seed in [9, 24, 25, 37] {
            let rules = 20;
            let mut rng = rng_for(RngStream::Caller, seed);
            let sign =
                |i: usize| if i.is_multiple_of(2) { Label::Positive } else { Label::Negative };
            let literals: Vec<Literal> =
                (0..rules).map(|variable| Literal { variable, positive: rng.random() }).collect();
            let list =
                literals.iter().enumerate().map(|(i, literal)| (*literal, sign(i))).collect();
            let target = DecisionList::new(rules, list, sign(rules)).unwrap();
            // Points that reach every rule alike: literals before `first` fail, the rest vary.
            let rows: Vec<Vec<f64>> = (0..60 * (rules + 1))
                .map(|index| {
                    let first = index % (rules + 1);
                    let mut holds = |i: usize| {
                        let coin = rng.random();
                        i == first || (i > first && coin)
                    };
                    let of =
                        |(i, l): (usize, &Literal)| f64::from(u8::from(holds(i) == l.positive));
                    literals.iter().enumerate().map(of).collect()
                })
                .collect();
            let points = Points::from_rows(&rows).unwrap();
            let label = |x| target.label(BooleanPoint::from_row(x).unwrap());
            let labels: Vec<Label> = points.rows().map(label).collect();
            let points = points.lifted().normalised().unwrap();
            let mut learner = VersionSpace::new(CentreOfGravity::new(points.dim(), seed).unwrap());
            loop {
                let before = learner.updates();
                let mut pass = LabelledPoints::new(&points, &labels).unwrap();
                learner.partial_fit(&mut pass, u64::MAX).unwrap();
                if learner.updates() == before {
                    break;
                }
            }
            assert!(!learner.centre().is_exhausted(), "seed {seed}");
            assert_eq!(learner.halfspace().unwrap().label_all(&points).unwrap(), labels);
        }
    }

    #[test]
    fn contradictions_exhaust_the_set() {
        let mut learner = VersionSpace::new(CentreOfGravity::new(2, 3).unwrap());
        let points = Points::from_rows(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).unwrap();
        let labels = [Label::Positive, Label::Positive, Label::Negative];
        for _ in 0..200 {
            for (x, y) in points.rows().zip(&labels) {
                learner.observe(x, *y).unwrap();
            }
        }
        assert!(learner.centre().is_exhausted());
        assert_eq!(CentreOfGravity::new(0, 1), Err(InputError::ZeroDimension));
        let mut fresh = CentreOfGravity::new(2, 1).unwrap();
        assert_eq!(fresh.cut(&[f64::NAN, 0.0]), Err(InputError::Overflow { row: 0 }));
        assert!(fresh.cut(&[2.0, 0.0]).is_err() && fresh.cut(&[0.0, 0.0]).is_err());
        assert_eq!(fresh, CentreOfGravity::new(2, 1).unwrap());
    }

    #[cfg(feature = "serde")]
    #[test]
    fn saved_samples_are_checked_against_themselves() {
        use serde_json::{from_value, json, to_value};
        let loads = |value| from_value::<CentreOfGravity>(value).is_ok();
        let mut centre = CentreOfGravity::new(3, 1).unwrap();
        let fresh = to_value(&centre).unwrap();
        assert!(loads(fresh.clone()));
        for a in [[0.6, 0.8, 0.0], [0.0, 0.6, -0.8]] {
            centre.cut(&a).unwrap();
            assert!(loads(to_value(&centre).unwrap()));
        }
        let cut = to_value(&centre).unwrap();
        let mut empty = centre.clone();
        empty.cut(&[-0.6, -0.8, 0.0]).unwrap();
        assert!(empty.is_exhausted() && loads(to_value(&empty).unwrap()));
        let changes = [
            (&fresh, "/exhausted", json!(true)),
            (&fresh, "/seed", json!(2)),
            (&fresh, "/centre/0", json!(0.1)),
            (&cut, "/centre/0", json!(0.0)),
            (&cut, "/centre", json!([0.1, 0.2])),
            (&cut, "/points/5", json!([-0.3, -0.4, 0.0])),
            (&cut, "/cuts/0", json!([-0.6, -0.8, 0.0])),
            (&cut, "/cuts/0", json!([0.6, 0.8])),
            (&cut, "/mixing/correlation", json!(2.0)),
            (&cut, "/mixing/survivors", json!(0.0)),
            (&cut, "/mixing/sweeps", json!(13)),
        ];
        for (saved, place, value) in changes {
            let mut changed = saved.clone();
            *changed.pointer_mut(place).unwrap() = value.clone();
            assert!(!loads(changed), "{place}: {value}");
        }
    }
}
