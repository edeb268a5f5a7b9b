//! P12: random projection keeps margins, and the Perspectron behind it reaches η + ε in dimensions
//! far above those it works in.

use crate::Failure;
use crate::experiments::common::median_text;
use halfspaces_data::{LabelledPoints, MarginBall, Marginal, flip_labels, random_target_with_rng};
use halfspaces_eval::{
    Axis, ClaimStatement, Colour, Evidence, Experiment, Figure, Group, Layer, Planned, Results,
    Scale, Section, Table, stats,
};
use halfspaces_linalg::{Classifier, Halfspace, Label, PointSet, Points, SparsePoints};
use halfspaces_pac::{
    Margin, Perspectron, Projected, RandomProjection, SamplePerspectron, projected_dimension,
    projected_margin,
};
use rand::rngs::ChaCha8Rng;
use rand::seq::index;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use std::fmt;

pub(crate) struct ProjectionExperiment;

/// δ of both claims.
const DELTA: f64 = 0.1;
/// Of the failure probability of the learner its projection may use 3δ/2 for this δ, half of it.
const DELTA_PROJECTION: f64 = DELTA / 3.0;
const DELTA_LEARNER: f64 = DELTA / 2.0;
/// Entries of a sparse point besides that of the target.
const NONZEROS: usize = 10;
/// Points on which errors are judged.
const JUDGED: usize = 1000;

/// Points with a margin, by how they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// In the unit ball, |w*·x| >= γ, w* random.
    Dense,
    /// |w*·x| = γ for w* = (1, ..., 1)/2 on four coordinates, and ten others at random.
    Sparse,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Dense => "dense",
            Kind::Sparse => "sparse",
        })
    }
}

/// What is run behind the projection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Run {
    /// The theorem's schedule, on as many examples as it asks for.
    Theorem,
    /// One pass over a sample, fewer examples.
    Sample,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "part", rename_all = "lowercase")]
pub(crate) enum Configuration {
    /// One projection of some points, to the stated dimension over `divisor`.
    Margins { kind: Kind, dim: usize, points: usize, margin: f64, divisor: usize },
    /// A learner with and without projection.
    Learn { kind: Kind, run: Run, dim: usize, points: usize, margin: f64, noise: f64, excess: f64 },
}

impl Configuration {
    /// m.
    fn projected(&self) -> usize {
        match self {
            Configuration::Margins { points, margin, divisor, .. } => {
                (projected_dimension(*points, *margin, DELTA) / divisor).max(1)
            }
            Configuration::Learn { points, margin, .. } => {
                projected_dimension(*points, *margin, DELTA_PROJECTION)
            }
        }
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let m = self.projected();
        match self {
            Configuration::Margins { kind, dim, points, margin, .. } => {
                write!(f, "{kind} d={dim} N={points} γ={margin} m={m}")
            }
            Configuration::Learn { kind, dim, points, margin, .. } => {
                write!(f, "{kind} d={dim} n={points} γ={margin} m={m}")
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "part", rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// Least margin of the image of w* on the projected points, over γ.
    Margins { share: f64 },
    /// Errors with and without projection, exact over the labels.
    Learn { projected: f64, plain: f64 },
}

/// Points of one of the kinds, all with one target.
struct Source {
    target: Halfspace,
    ball: MarginBall,
    margin: f64,
}

impl Source {
    fn new(kind: Kind, dim: usize, margin: f64, rng: &mut ChaCha8Rng) -> Result<Source, Failure> {
        let target = match kind {
            Kind::Dense => random_target_with_rng(dim, rng)?,
            Kind::Sparse => {
                let mut normal = vec![0.0; dim];
                normal.iter_mut().take(4).for_each(|w| *w = 0.5);
                Halfspace::new(normal)?
            }
        };
        let ball = MarginBall::new(&target, margin)?;
        Ok(Source { target, ball, margin })
    }

    fn dense(&self, n: usize, rng: &mut ChaCha8Rng) -> Result<Points, Failure> {
        Ok(self.ball.sample_with_rng(n, rng)?)
    }

    /// Unit vectors ±γ w* + √(1-γ²) u, u of ten entries ±1/√10 elsewhere.
    fn sparse(&self, n: usize, rng: &mut ChaCha8Rng) -> Result<SparsePoints, Failure> {
        let dim = self.target.dim();
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let across = ((1.0 - self.margin * self.margin) / NONZEROS as f64).sqrt();
        // Kept inside the ball and off the margin by more than rounding.
        let across = across * (1.0 - 1e-9);
        let sign = |rng: &mut ChaCha8Rng, v: f64| if rng.random() { v } else { -v };
        for _ in 0..n {
            let along = sign(rng, 0.5 * self.margin);
            let mut others: Vec<usize> =
                index::sample(rng, dim - 4, NONZEROS).into_iter().map(|j| j + 4).collect();
            others.sort_unstable();
            columns.extend(0..4);
            values.extend([along; 4]);
            for j in others {
                columns.push(u32::try_from(j)?);
                values.push(sign(rng, across));
            }
            starts.push(columns.len());
        }
        Ok(SparsePoints::new(starts, columns, values, dim)?)
    }
}

/// Least margin of the image of w* on the projected points, over γ.
fn kept_margin<P: PointSet>(
    points: &P,
    source: &Source,
    projection: &RandomProjection,
) -> Result<f64, Failure> {
    let labels = source.target.label_all(points)?;
    let normal = source.target.normal().to_vec();
    // A margin does not see the length of the image.
    let image = projection.apply(&Points::new(normal, source.target.dim())?)?;
    let image = Halfspace::new(image.into_vec())?;
    Ok(image.margin_on(&projection.apply(points)?, &labels)? / source.margin)
}

/// What is learned on the first examples with labels flipped with probability `noise`, and how often
/// it is wrong on the points after them: 1 - η where it differs from w*, else η.
fn learn<P: PointSet>(
    all: &P,
    source: &Source,
    setting: &Configuration,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let Configuration::Learn { run, points: n, margin, noise, excess, .. } = *setting else {
        return Err("no such part".into());
    };
    let rows: Vec<usize> = (0..all.len()).collect();
    let (training, judged) = (all.select(&rows[..n])?, all.select(&rows[n..])?);
    let truth = source.target.label_all(&training)?;
    let labels = flip_labels(&truth, &vec![noise; n], &mut *rng)?;
    let seed: u64 = rng.random();
    let error = |halfspace: &Halfspace| -> Result<f64, Failure> {
        let (right, found) = (source.target.label_all(&judged)?, halfspace.label_all(&judged)?);
        let wrong = right.iter().zip(&found).filter(|(a, b)| a != b).count() as f64;
        Ok(noise + (1.0 - 2.0 * noise) * wrong / judged.len() as f64)
    };
    let projection =
        RandomProjection::for_margin(all.dim(), n, margin, DELTA_PROJECTION, rng.random())?;
    let behind = Projected::new(projection, |points: &Points, labels: &[Label]| {
        perspectron(points, labels, run, noise, projected_margin(margin), excess, seed)
    });
    let projected = error(&behind.fit(&training, &labels)?.halfspace)?;
    let plain = perspectron(&training, &labels, run, noise, margin, excess, seed)?;
    Ok(Outcome::Learn { projected, plain: error(&plain)? })
}

fn perspectron<P: PointSet>(
    points: &P,
    labels: &[Label],
    run: Run,
    noise: f64,
    margin: f64,
    excess: f64,
    seed: u64,
) -> Result<Halfspace, Failure> {
    match run {
        Run::Theorem => {
            let mut stream = LabelledPoints::new(points, labels)?;
            let learner = theorem(noise, margin, excess, seed)?;
            Ok(learner.fit(&mut stream)?.halfspace().clone())
        }
        Run::Sample => {
            let margin = Margin::Known(margin);
            let params = SamplePerspectron::params().noise(noise).margin(margin);
            let learner = params.lift(false).seed(seed).check()?;
            Ok(learner.fit(points, labels)?.classifier().linear().clone())
        }
    }
}

fn theorem(noise: f64, margin: f64, excess: f64, seed: u64) -> Result<Perspectron, Failure> {
    let params = Perspectron::params(noise, margin).excess(excess).failure(DELTA_LEARNER);
    Ok(params.seed(seed).check()?)
}

impl Experiment for ProjectionExperiment {
    type Configuration = Configuration;
    type Outcome = Outcome;

    fn id(&self) -> &'static str {
        "P12"
    }

    fn title(&self) -> &'static str {
        "Random projection: margins survive it, and so does learning"
    }

    fn claims(&self) -> Vec<ClaimStatement> {
        vec![
            ClaimStatement {
                id: "P12".into(),
                statement: "Projected to m = ⌈16 ln(4N/δ)/(γ²(1-γ/2))⌉ dimensions and put into the unit ball, N points with margin γ keep a margin of γ/(2+γ), with probability at least 1 - 3δ/2 (δ = 0.1).".into(),
                source: "Arriaga and Vempala 1999, Corollary 2; CKST24 §1.2; the rescaled form is ours".into(),
                checks: &[],
            },
            ClaimStatement {
                id: "P12p".into(),
                statement: "The Perspectron behind the projection, with the margin γ/(2+γ), comes to an error of at most η + ε with probability at least 1 - δ (δ = 0.1), in as few dimensions as m: by its theorem's schedule on sparse points, and on dense ones already with a sample of a few hundred.".into(),
                source: "CKST24 §1.2 and Theorem 3 with our constants; on the small sample an observation".into(),
                checks: &[],
            },
        ]
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let mut plan = Vec::new();
        let dims = scale.pick(vec![1000], vec![1000, 4000], vec![1000, 4000, 16_000]);
        for kind in [Kind::Dense, Kind::Sparse] {
            for dim in &dims {
                // Sparse points cost by their entries only.
                let dim = if kind == Kind::Sparse { 50 * dim } else { *dim };
                for divisor in [1, 4, 16, 64] {
                    let (points, margin) = (20, 0.5);
                    let configuration =
                        Configuration::Margins { kind, dim, points, margin, divisor };
                    // 18 without failure are the least for 3δ/2.
                    plan.push(Planned { configuration, trials: scale.pick(19, 40, 200) });
                }
            }
        }
        let noise = 0.1;
        let configuration = Configuration::Learn {
            kind: Kind::Dense,
            run: Run::Sample,
            dim: scale.pick(1000, 2000, 2000),
            points: scale.pick(150, 400, 400),
            margin: scale.pick(0.8, 0.5, 0.5),
            noise,
            excess: 0.2,
        };
        // 29 without failure are the least for δ.
        plan.push(Planned { configuration, trials: scale.pick(4, 30, 120) });
        let (margin, excess) = (0.8, 0.4);
        let examples = theorem(noise, projected_margin(margin), excess, 0)?.plan().examples();
        let configuration = Configuration::Learn {
            kind: Kind::Sparse,
            run: Run::Theorem,
            dim: scale.pick(5000, 20_000, 20_000),
            points: examples as usize,
            margin,
            noise,
            excess,
        };
        plan.push(Planned { configuration, trials: scale.pick(4, 30, 120) });
        Ok(plan)
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        match *setting {
            Configuration::Margins { kind, dim, points, margin, .. } => {
                let source = Source::new(kind, dim, margin, rng)?;
                let projection = RandomProjection::new(dim, setting.projected(), rng.next_u64())?;
                let share = match kind {
                    Kind::Dense => kept_margin(&source.dense(points, rng)?, &source, &projection)?,
                    Kind::Sparse => {
                        kept_margin(&source.sparse(points, rng)?, &source, &projection)?
                    }
                };
                Ok(Outcome::Margins { share })
            }
            Configuration::Learn { kind, dim, points, margin, .. } => {
                let source = Source::new(kind, dim, margin, rng)?;
                let count = points + JUDGED;
                match kind {
                    Kind::Dense => learn(&source.dense(count, rng)?, &source, setting, rng),
                    Kind::Sparse => learn(&source.sparse(count, rng)?, &source, setting, rng),
                }
            }
        }
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let (mut margins, mut learners) = (Vec::new(), Vec::new());
        for group in &results.groups {
            let name = group.configuration.to_string();
            let of = |failures: usize, delta: f64| {
                Evidence::probability(group.planned, failures, group.outcomes.len(), delta)
            };
            match &group.configuration {
                Configuration::Margins { margin, divisor: 1, .. } => {
                    let least = projected_margin(*margin) / margin;
                    let lost = shares(group).into_iter().filter(|s| *s < least).count();
                    margins.push((name, of(lost, 1.5 * DELTA)));
                }
                // Shown, not claimed.
                Configuration::Margins { .. } => (),
                Configuration::Learn { noise, excess, .. } => {
                    let (behind, _) = errors(group);
                    let missed = behind.into_iter().filter(|e| *e > noise + excess).count();
                    learners.push((name, of(missed, DELTA)));
                }
            }
        }
        for (claim, judged) in Experiment::claims(self).into_iter().zip([margins, learners]) {
            section.judge(claim, Evidence::worst_of(&judged));
        }
        section.summary.push("Margins are those of the image of w* on the projected points, divided by γ; the claim is γ/(2+γ), and smaller dimensions are shown beside. The dimension m knows only the number of points and their margin, not d. It is generous: a quarter of it still keeps the margin.".into());
        section.summary.push("Errors are exact over the labels, on 1000 fresh points. On sparse points, of 14 entries each, the learner runs its theorem's schedule; on dense ones it makes one pass over its sample. The same learner without projection gets the same examples.".into());
        section.figures.push(figure(results));
        let (margins, learners) = tables(results);
        section.tables.push(margins);
        section.tables.push(learners);
    }
}

fn shares(group: &Group<Configuration, Outcome>) -> Vec<f64> {
    let share = |o: &Outcome| match o {
        Outcome::Margins { share } => Some(*share),
        Outcome::Learn { .. } => None,
    };
    group.outcomes.iter().filter_map(share).collect()
}

/// With and without projection.
fn errors(group: &Group<Configuration, Outcome>) -> (Vec<f64>, Vec<f64>) {
    let pair = |o: &Outcome| match o {
        Outcome::Learn { projected, plain } => Some((*projected, *plain)),
        Outcome::Margins { .. } => None,
    };
    group.outcomes.iter().filter_map(pair).unzip()
}

fn figure(results: &Results<Configuration, Outcome>) -> Figure {
    let mut series: Vec<(String, Kind, usize)> = Vec::new();
    for group in &results.groups {
        if let Configuration::Margins { kind, dim, .. } = group.configuration {
            let name = format!("{kind}, d = {dim}");
            if !series.iter().any(|(other, ..)| *other == name) {
                series.push((name, kind, dim));
            }
        }
    }
    let colours = [
        Colour::Blue,
        Colour::Sky,
        Colour::Purple,
        Colour::Orange,
        Colour::Vermilion,
        Colour::Green,
    ];
    let mut layers = Vec::new();
    let mut level = None;
    for ((name, kind, dim), colour) in series.into_iter().zip(colours) {
        let mut data = Vec::new();
        for group in &results.groups {
            let Configuration::Margins { kind: k, dim: d, margin, .. } = group.configuration else {
                continue;
            };
            if (k, d) == (kind, dim) {
                level = Some(projected_margin(margin) / margin);
                let least = stats::quantile(&shares(group), DELTA);
                data.extend(least.map(|share| (group.configuration.projected() as f64, share)));
            }
        }
        layers.push(Layer::Line { name: name.clone(), colour, dashed: false, data: data.clone() });
        layers.push(Layer::Points { name, colour, data });
    }
    let dims: Vec<f64> = results
        .groups
        .iter()
        .filter(|g| matches!(g.configuration, Configuration::Margins { .. }))
        .map(|g| g.configuration.projected() as f64)
        .collect();
    if let Some(level) = level {
        layers.extend(crate::experiments::common::bound_line(
            "γ/(2+γ), claimed at the largest m",
            &dims,
            |_| level,
        ));
    }
    Figure {
        name: "p12-margins".into(),
        caption: "Least margin over γ = 0.5 after projection of 20 points to m dimensions, 10 % quantile over projections, and the margin claimed for the largest m shown (dashed). It is kept in far fewer dimensions than claimed; a negative one means that some point changed sides.".into(),
        x: Axis::log("dimension m"),
        y: Axis::linear("margin kept / γ"),
        layers,
    }
}

fn tables(results: &Results<Configuration, Outcome>) -> (Table, Table) {
    let columns = ["points", "d", "N", "γ", "m", "trials", "margin kept / γ", "least", "lost"];
    let mut margins = Table::new(
        "p12-margins",
        "Margins after projection: median and least over projections; lost where below γ/(2+γ). The claim is about the largest m of each d",
        &columns,
    );
    let columns = [
        "points",
        "run",
        "d",
        "examples",
        "γ",
        "η + ε",
        "m",
        "trials",
        "error",
        "worst",
        "error without projection",
    ];
    let mut learners = Table::new(
        "p12-learning",
        "The Perspectron behind a random projection and without it: median and worst error",
        &columns,
    );
    for group in &results.groups {
        let (m, trials) = (group.configuration.projected(), group.outcomes.len().to_string());
        match &group.configuration {
            Configuration::Margins { kind, dim, points, margin, .. } => {
                let shares = shares(group);
                let level = projected_margin(*margin) / margin;
                let least = shares.iter().copied().reduce(f64::min);
                margins.push(vec![
                    kind.to_string(),
                    dim.to_string(),
                    points.to_string(),
                    margin.to_string(),
                    m.to_string(),
                    trials,
                    median_text(&shares, 3),
                    least.map(|v| format!("{v:.3}")).unwrap_or_default(),
                    shares.iter().filter(|s| **s < level).count().to_string(),
                ]);
            }
            Configuration::Learn { kind, run, dim, points, margin, noise, excess } => {
                let (behind, plain) = errors(group);
                let worst = behind.iter().copied().reduce(f64::max);
                learners.push(vec![
                    kind.to_string(),
                    if *run == Run::Theorem { "theorem" } else { "one pass" }.into(),
                    dim.to_string(),
                    points.to_string(),
                    margin.to_string(),
                    format!("{:.1}", noise + excess),
                    m.to_string(),
                    trials,
                    median_text(&behind, 3),
                    worst.map(|v| format!("{v:.3}")).unwrap_or_default(),
                    median_text(&plain, 3),
                ]);
            }
        }
    }
    (margins, learners)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_eval::Verdict;
    use halfspaces_linalg::margins;
    use rand::SeedableRng;

    fn margins_of(divisor: usize) -> Configuration {
        Configuration::Margins { kind: Kind::Sparse, dim: 3000, points: 20, margin: 0.5, divisor }
    }

    fn outcomes(setting: &Configuration, trials: u64) -> Vec<Outcome> {
        let trial = |seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            ProjectionExperiment.trial(setting, &mut rng).unwrap()
        };
        (0..trials).map(trial).collect()
    }

    fn verdicts(groups: Vec<Group<Configuration, Outcome>>) -> Vec<Verdict> {
        let mut section = Section::default();
        ProjectionExperiment.evaluate(&Results { groups }, &mut section);
        section.claims.iter().map(|c| c.verdict).collect()
    }

    /// Projections to the stated dimension, and to a 32nd of it passed off as that.
    #[test]
    fn a_planted_wrong_dimension_is_caught() {
        let verdict = |divisor| {
            let outcomes = outcomes(&margins_of(divisor), 20);
            let planned = outcomes.len();
            verdicts(vec![Group { configuration: margins_of(1), planned, outcomes }])[0]
        };
        assert_eq!(verdict(1), Verdict::Holds);
        assert_eq!(verdict(32), Verdict::Violated);
    }

    #[test]
    fn a_learner_that_misses_its_target_violates_the_claim() {
        let configuration = Configuration::Learn {
            kind: Kind::Dense,
            run: Run::Sample,
            dim: 300,
            points: 200,
            margin: 0.6,
            noise: 0.1,
            excess: 0.2,
        };
        let real = outcomes(&configuration, 2);
        for outcome in &real {
            let Outcome::Learn { projected, plain } = outcome else { panic!() };
            assert!(*plain <= 0.3 && *projected <= 0.3);
        }
        let verdict = |error: f64| {
            let outcome = Outcome::Learn { projected: error, plain: 0.1 };
            let group = Group {
                configuration: configuration.clone(),
                planned: 30,
                outcomes: vec![outcome; 30],
            };
            verdicts(vec![group])[1]
        };
        assert_eq!(verdict(0.29), Verdict::Holds);
        assert_eq!(verdict(0.31), Verdict::Violated);
    }

    #[test]
    fn sparse_points_have_their_margin() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let source = Source::new(Kind::Sparse, 50, 0.8, &mut rng).unwrap();
        let points = source.sparse(30, &mut rng).unwrap();
        let margins = margins(&points, source.target.normal()).unwrap();
        assert!(margins.iter().all(|m| (m.abs() - 0.8).abs() < 1e-12));
        assert!(points.max_norm() <= 1.0 && points.max_norm() > 0.999);
        assert!(margins.iter().any(|m| *m > 0.0) && margins.iter().any(|m| *m < 0.0));
    }
}
