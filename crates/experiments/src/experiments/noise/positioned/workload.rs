//! Points without a margin: ill-conditioned points with heavy tails, chains of a decision list, a heavy subspace, and
//! raw columns of real data.

use super::learners::{LEARNERS, Training};
use crate::experiments::common::*;
use crate::workload::Inputs;
use halfspaces_data::{Marginal, Rotation, StudentT, random_target_with_rng};
use halfspaces_features::{FeatureMap, ZScore};
use halfspaces_linalg::{
    Classifier, FitSample, FitStream, Halfspace, Label, Params, PointSet, Points, margins,
};
use halfspaces_pac::{LogisticRegression, PositionedMassart, PositionedSchedule, positioned_leak};

/// Number of points on which a classifier is evaluated.
const JUDGED: usize = 4000;
/// ε of the comparison.
pub(super) const EXCESS: f64 = 0.05;
/// δ of the theorem's schedule.
pub(super) const FAILURE: f64 = 0.05;

/// The distribution of the points.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Ground {
    /// Points of a Student-t distribution with one degree of freedom, stretched to an ellipsoid with this condition
    /// number and randomly rotated. The target is drawn uniformly before the points are stretched.
    StudentT { dim: usize, condition: f64 },
    /// Points with coordinates 0 and 1, labelled by a decision list of `dim` - 1 rules. Every rule is equally likely to
    /// be the first that applies; later variables are random bits. Labels alternate and weights are powers of 2, so the
    /// margin is of order 2^-dim.
    Chain { dim: usize },
    /// 70 % of the points lie in a subspace of dimension 3. All points are stretched to an ellipsoid with condition
    /// number 1e6 and randomly rotated.
    Heavy { dim: usize },
    /// Raw rows of a data set, drawn with replacement and extended by a coordinate 1. Labels are those of a halfspace
    /// fitted to the standardised rows.
    Real { name: String },
}

/// The labels that may be flipped, each with probability η.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Noise {
    Everywhere,
    /// The half of the points that lie farther from the target's boundary.
    Far,
    /// The points of that half on the positive side.
    Side,
}

pub(super) const NOISES: [Noise; 3] = [Noise::Everywhere, Noise::Far, Noise::Side];

impl fmt::Display for Ground {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ground::StudentT { dim, condition } => {
                write!(f, "Student-t, condition {condition:e}, d = {dim}")
            }
            Ground::Chain { dim } => write!(f, "decision list, d = {dim}"),
            Ground::Heavy { dim } => write!(f, "heavy subspace, d = {dim}"),
            Ground::Real { name } => write!(f, "{name}, raw columns"),
        }
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Noise::Everywhere => "everywhere",
            Noise::Far => "far",
            Noise::Side => "far, one side",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Configuration {
    /// The practical schedule and its rivals on one sample.
    Compare { ground: Ground, noise: Noise, rate: f64, points: usize },
    /// The theorem's own schedule on Student-t points with this condition number.
    Theorem { dim: usize, condition: f64, rate: f64, excess: f64 },
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Configuration::Compare { ground, noise, rate, .. } => {
                write!(f, "{ground}, η={rate} {noise}")
            }
            Configuration::Theorem { dim, condition, rate, excess } => {
                write!(f, "theorem, d={dim} condition {condition:e} η={rate} ε={excess}")
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// The errors of [`LEARNERS`], in that order, and of the target, all including label noise; the number of rules of
    /// the positioned list, whether its fit converged, and the error bound that it reports at δ.
    Compare { errors: Vec<f64>, least: f64, rules: usize, converged: bool, bound: f64 },
    /// The error, the largest conditional error of a rule divided by λ, whether the fit converged within N rules, and
    /// the number of examples used.
    Theorem { error: f64, worst_rule: f64, kept: bool, taken: u64 },
}

/// Points, the labels of the target, and the flip probabilities.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) points: Points,
    truth: Vec<Label>,
    flips: Vec<f64>,
}

impl Drawn {
    /// ℓ01 of `labels`, averaged exactly over the label noise.
    fn error(&self, labels: &[Label]) -> f64 {
        let each = labels.iter().zip(&self.truth).zip(&self.flips);
        let sum: f64 = each.map(|((y, truth), p)| if y == truth { *p } else { 1.0 - p }).sum();
        sum / self.flips.len() as f64
    }

    pub(super) fn noisy(&self, rng: &mut ChaCha8Rng) -> Vec<Label> {
        let coin = |(y, p): (&Label, &f64)| if rng.random::<f64>() < *p { -*y } else { *y };
        self.truth.iter().zip(&self.flips).map(coin).collect()
    }

    fn select(&self, rows: &[usize]) -> Result<Drawn, Failure> {
        Ok(Drawn {
            points: self.points.select(rows)?,
            truth: rows.iter().map(|&i| self.truth[i]).collect(),
            flips: rows.iter().map(|&i| self.flips[i]).collect(),
        })
    }
}

/// The map x -> x S R, where S is diagonal with entries from 1 to the condition number and R is a rotation. If w is
/// mapped to (S⁻¹w) R, then w·x is preserved.
struct Stretch {
    axes: Vec<f64>,
    rotation: Rotation,
}

impl Stretch {
    fn new(dim: usize, condition: f64, rng: &mut ChaCha8Rng) -> Result<Stretch, Failure> {
        let last = (dim.max(2) - 1) as f64;
        let axes = (0..dim).map(|j| condition.powf(j as f64 / last)).collect();
        Ok(Stretch { axes, rotation: Rotation::random_with_rng(dim, rng)? })
    }

    fn apply(&self, points: &Points) -> Result<Points, Failure> {
        let stretched = points.as_slice().chunks_exact(self.axes.len());
        let values = stretched.flat_map(|x| x.iter().zip(&self.axes).map(|(v, s)| v * s));
        Ok(self.rotation.apply(&Points::new(values.collect(), self.axes.len())?)?)
    }
}

/// The median of |w*·x|, from the margins of an independent sample.
fn middle(margins: &[f64]) -> Result<f64, Failure> {
    let sizes: Vec<f64> = margins.iter().map(|m| m.abs()).collect();
    Ok(stats::median(&sizes).ok_or("a sample without points")?)
}

impl Noise {
    fn flips(self, margins: &[f64], rate: f64, middle: f64) -> Vec<f64> {
        let hit = |m: &f64| match self {
            Noise::Everywhere => true,
            Noise::Far => m.abs() >= middle,
            Noise::Side => *m >= middle,
        };
        margins.iter().map(|m| if hit(m) { rate } else { 0.0 }).collect()
    }
}

/// Draws a training sample and an independent sample for evaluation.
pub(super) fn draw(
    inputs: &Inputs,
    ground: &Ground,
    noise: Noise,
    rate: f64,
    n: usize,
    rng: &mut ChaCha8Rng,
) -> Result<(Drawn, Drawn), Failure> {
    let all = n + JUDGED;
    // The points that the learners see, and w*·x, which stretching does not change.
    let (points, margins) = match ground {
        Ground::StudentT { dim, condition } => {
            let round = StudentT::new(*dim, 1.0, 1.0)?.sample_with_rng(all, rng)?;
            let target = random_target_with_rng(*dim, rng)?;
            let margins = margins(&round, target.normal())?;
            (Stretch::new(*dim, *condition, rng)?.apply(&round)?, margins)
        }
        Ground::Chain { dim } => chain(*dim, all, rng)?,
        Ground::Heavy { dim } => {
            let mut values = StudentT::new(*dim, 1.0, 1.0)?.sample_with_rng(all, rng)?.into_vec();
            for x in values.chunks_exact_mut(*dim) {
                if rng.random::<f64>() < 0.7 {
                    // The subspace is spanned by the first, the middle and the last axis, so that it is as
                    // ill-conditioned as the whole space.
                    let kept = |j: usize| [0, dim / 2, dim - 1].contains(&j);
                    x.iter_mut().enumerate().filter(|(j, _)| !kept(*j)).for_each(|(_, v)| *v = 0.0);
                }
            }
            let round = Points::new(values, *dim)?;
            let target = random_target_with_rng(*dim, rng)?;
            let margins = margins(&round, target.normal())?;
            (Stretch::new(*dim, 1e6, rng)?.apply(&round)?, margins)
        }
        Ground::Real { name } => {
            let whole = real(inputs, name, noise, rate)?;
            let rows: Vec<usize> = (0..n).map(|_| rng.random_range(0..whole.flips.len())).collect();
            return Ok((whole.select(&rows)?, whole));
        }
    };
    let middle = middle(&margins[n..])?;
    let truth = margins.iter().map(|m| Label::from_sign(*m)).collect();
    let drawn = Drawn { flips: noise.flips(&margins, rate, middle), points, truth };
    let part = |rows: std::ops::Range<usize>| drawn.select(&rows.collect::<Vec<_>>());
    Ok((part(0..n)?, part(n..all)?))
}

/// Draws points of the chain, with w*·x.
fn chain(dim: usize, n: usize, rng: &mut ChaCha8Rng) -> Result<(Points, Vec<f64>), Failure> {
    let rules = dim - 1;
    let normal = (0..dim).map(|j| {
        let size = 2f64.powi((rules - j) as i32);
        if j % 2 == 0 { size } else { -size }
    });
    let target = Halfspace::new(normal.collect())?;
    let mut values = Vec::with_capacity(n * dim);
    for _ in 0..n {
        let first = rng.random_range(0..rules);
        for j in 0..rules {
            let on = j == first || (j > first && rng.random_bool(0.5));
            values.push(f64::from(u8::from(on)));
        }
        values.push(1.0);
    }
    let points = Points::new(values, dim)?;
    let margins = margins(&points, target.normal())?;
    Ok((points, margins))
}

/// All rows of a data set, extended by a coordinate 1 and labelled by a halfspace fitted to the standardised rows.
fn real(inputs: &Inputs, name: &str, noise: Noise, rate: f64) -> Result<Drawn, Failure> {
    let (points, labels, _) = inputs.as_given(name)?.into_parts();
    let points = points.to_dense()?;
    let standard = ZScore::fit(&points)?.apply(&points)?.lifted();
    let fit = LogisticRegression::params().c(1.0).intercept(false).tolerance(1e-6);
    let fit = fit.check()?.fit(&standard, &labels)?;
    let margins = margins(&standard, fit.halfspace().linear().normal())?;
    let middle = middle(&margins)?;
    let raw = points.rows().flat_map(|x| [x.as_slice(), &[1.0]].concat()).collect();
    Ok(Drawn {
        points: Points::new(raw, points.dim() + 1)?,
        truth: margins.iter().map(|m| Label::from_sign(*m)).collect(),
        flips: noise.flips(&margins, rate, middle),
    })
}

/// Runs all learners on one sample.
pub(super) fn compare(
    inputs: &Inputs,
    ground: &Ground,
    noise: Noise,
    rate: f64,
    n: usize,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let (drawn, judged) = draw(inputs, ground, noise, rate, n, rng)?;
    let labels = drawn.noisy(rng);
    let training = Training { points: drawn.points, labels, noise: rate, seed: rng.random() };
    let learner = PositionedMassart::params(rate).excess(EXCESS).seed(training.seed).check()?;
    let fit = learner.fit(&training.points, &training.labels)?;
    let mut errors = vec![judged.error(&fit.label_all(&judged.points)?)];
    for entry in &LEARNERS[1..] {
        errors.push(judged.error(&(entry.labels)(&training, &judged.points)?));
    }
    Ok(Outcome::Compare {
        errors,
        least: judged.error(&judged.truth),
        rules: fit.list().rules().len(),
        converged: fit.termination().is_converged(),
        bound: fit.error_bound(FAILURE)?.value(),
    })
}

/// Runs the theorem's schedule once and evaluates it on fresh points.
pub(super) fn theorem(
    dim: usize,
    condition: f64,
    rate: f64,
    excess: f64,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let stretch = Stretch::new(dim, condition, rng)?;
    let target = random_target_with_rng(dim, rng)?;
    let cauchy = StudentT::new(dim, 1.0, 1.0)?;
    let learner = PositionedMassart::params(rate).excess(excess).failure(FAILURE);
    let learner = learner.schedule(PositionedSchedule::Theorem).check()?;
    let mut stream = super::learners::BlockStream::new(
        |rng: &mut ChaCha8Rng| -> Result<(Points, Vec<Label>), Failure> {
            let round = cauchy.sample_with_rng(4096, rng)?;
            let clean = target.label_all(&round)?;
            let noisy = clean.into_iter().map(|y| if rng.random_bool(rate) { -y } else { y });
            let noisy = noisy.collect();
            Ok((stretch.apply(&round)?, noisy))
        },
        dim,
        rng,
    );
    let fit = learner.fit_stream(&mut stream).map_err(|error| error.to_string())?;
    let round = cauchy.sample_with_rng(JUDGED, rng)?;
    let truth = target.label_all(&round)?;
    let flips = vec![rate; truth.len()];
    let judged = Drawn { points: stretch.apply(&round)?, truth, flips };
    let labels = fit.label_all(&judged.points)?;
    // The conditional error of each rule, averaged exactly over the label noise.
    let mut inside = vec![(0.0, 0.0); fit.list().rules().len()];
    for (i, x) in judged.points.rows().enumerate() {
        if let Some(rule) = fit.list().rule_for(x)? {
            let wrong = if labels[i] == judged.truth[i] { rate } else { 1.0 - rate };
            inside[rule] = (inside[rule].0 + wrong, inside[rule].1 + 1.0);
        }
    }
    let leak = positioned_leak(rate, excess);
    let shares = inside.iter().filter(|(_, n)| *n > 0.0).map(|(wrong, n)| wrong / n / leak);
    let plan = learner.plan(dim);
    let kept = fit.termination().is_converged() && fit.list().rules().len() as u64 <= plan.rules;
    let worst_rule = shares.fold(0.0, f64::max);
    Ok(Outcome::Theorem { error: judged.error(&labels), worst_rule, kept, taken: fit.taken() })
}
