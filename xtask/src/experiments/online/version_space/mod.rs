//! K8: mistakes of version-space learners against their ln(1/γ) bounds, on decision lists, on real
//! data relabelled by a halfspace, and on a family where the perceptron truly needs about 1/γ².

use crate::Failure;
use crate::experiments::common::{median_text, most, spread_by_x};
use crate::workload::{Inputs, Pool, Workload};
use halfspaces_data::Rotation;
use halfspaces_eval::{
    Axis, ClaimStatement, Colour, Evidence, Experiment, Figure, Layer, Planned, Results, Scale,
    Section, Side, Table, stats,
};
use halfspaces_linalg::{
    BooleanConcept, BooleanPoint, DecisionList, DenseRow, Halfspace, Label, Literal, PointSet,
    Points, norm,
};
use halfspaces_online::{
    Centre, CentreOfGravity, Ellipsoid, HardMargin, OnlineLearner, Perceptron, VersionSpace,
    VolumetricCentre, bounds,
};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

pub(crate) struct VersionSpaceExperiment {
    inputs: Arc<Inputs>,
}

impl VersionSpaceExperiment {
    pub(crate) fn new(inputs: Arc<Inputs>) -> Self {
        VersionSpaceExperiment { inputs }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Family {
    /// Decision lists of r rules over r variables, margin about 2^-r.
    Lists,
    /// Two dimensions, rotated; margin 2^-r.
    Hard,
    /// Two dimensions; points that split the arc of targets evenly until it is 2^-r wide, the label
    /// always against the prediction: every learner errs on every one of them.
    Split,
    /// A data set relabelled by a random halfspace, points nearer to it than 2^-r dropped.
    Real(String),
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Family::Lists => "lists",
            Family::Hard => "hard",
            Family::Split => "even split",
            Family::Real(name) => name,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Learner {
    Perceptron,
    Ellipsoid,
    Volumetric,
    Gravity,
    #[serde(rename = "hard-margin")]
    Margin,
}

const LEARNERS: [(Learner, Colour); 5] = [
    (Learner::Perceptron, Colour::Blue),
    (Learner::Ellipsoid, Colour::Orange),
    (Learner::Volumetric, Colour::Vermilion),
    (Learner::Gravity, Colour::Green),
    (Learner::Margin, Colour::Purple),
];

impl fmt::Display for Learner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Learner::Perceptron => "perceptron",
            Learner::Ellipsoid => "ellipsoid",
            Learner::Volumetric => "volumetric centre",
            Learner::Gravity => "centre of gravity",
            Learner::Margin => "hard margin",
        })
    }
}

/// One trial plays the family at every exponent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    family: Family,
    learner: Learner,
    exponents: Vec<u32>,
}

/// The play at one exponent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Play {
    exponent: u32,
    dim: usize,
    /// Margin of the target on the points asked, scaled to norm 1.
    margin: f64,
    mistakes: u64,
    /// Whether it ended by itself, without mistakes left to make.
    ended: bool,
    /// `None` for a learner without one.
    bound: Option<f64>,
}

impl Play {
    /// Mistakes over their bound.
    fn ratio(&self) -> Option<f64> {
        self.bound.map(|bound| self.mistakes as f64 / bound)
    }
}

pub(crate) type Outcome = Vec<Play>;

/// Rounds without a mistake after which the hard family has nothing more to ask.
const QUIET: u32 = 300;
/// Passes over the points of a decision list at most.
const MAX_PASSES: usize = 20_000;

/// The adaptive family: points (γ, c), each with a random sign, in a random rotation; the target is
/// the first axis. c has the sign against w_2 and the size |w_2| + 0.45, jittered: the perceptron is
/// wrong while γ w_1 < |c w_2|, about 0.4, and w_1 gains γ a mistake, so it makes some 0.4/γ² of
/// them, within its bound of about 1/γ².
fn hard<L: OnlineLearner>(
    learner: &mut L,
    exponent: u32,
    rng: &mut ChaCha8Rng,
) -> Result<(u64, f64, bool), Failure> {
    let gamma = 0.5f64.powi(exponent as i32);
    let axes = Rotation::random_with_rng(2, rng)?
        .apply(&Points::from_rows(&[[1.0, 0.0], [0.0, 1.0]])?)?
        .into_vec();
    let [a, b, c, d] = axes[..] else { return Err("a rotation of the plane".into()) };
    let most = (4.0 / (gamma * gamma)).min(4e6) as u64 + 1000;
    let (mut mistakes, mut quiet, mut margin) = (0, 0, f64::INFINITY);
    loop {
        let jitter: f64 = rng.random();
        // The second coordinate of w is thrown from about ±0.45 to the other side each time.
        let value = learner.predict(DenseRow::new(&[c, d])?)?.value;
        let reach = (value.abs() + 0.45 * (0.9 + 0.2 * jitter)).min((1.0 - gamma * gamma).sqrt());
        let second = -Label::from_sign(value).as_f64() * reach;
        let side = if rng.random::<bool>() { Label::Positive } else { Label::Negative };
        let sign = side.as_f64();
        let x = [sign * (gamma * a + second * c), sign * (gamma * b + second * d)];
        // As the learner sees it: the rotation rounds.
        margin = margin.min(sign * (x[0] * a + x[1] * b) / norm(&x));
        let prediction = learner.observe(DenseRow::new(&x)?, side)?;
        if prediction.is_wrong(side) {
            mistakes += 1;
            quiet = 0;
        } else {
            quiet += 1;
        }
        if quiet >= QUIET || mistakes >= most {
            break;
        }
    }
    Ok((mistakes, margin, quiet >= QUIET))
}

/// The even split: whoever learns is wrong about lg(1/γ) times, and once each label is known the
/// points are gone round as any others. Returns mistakes, the margin of the middle of the arc and
/// whether it ended.
fn split<L: OnlineLearner>(
    learner: &mut L,
    exponent: u32,
    rng: &mut ChaCha8Rng,
) -> Result<(u64, f64, bool), Failure> {
    use std::f64::consts::{PI, TAU};
    // The targets (cos t, sin t) left are those with low < t < high.
    let mut low = rng.random::<f64>() * TAU;
    let mut high = low + PI;
    let (mut rows, mut labels, mut mistakes) = (Vec::new(), Vec::new(), 0);
    while high - low > 2.0 * 0.5f64.powi(exponent as i32) {
        let middle = f64::midpoint(low, high);
        let x = [-middle.sin(), middle.cos()];
        let row = DenseRow::new(&x)?;
        let label = -learner.predict(row)?.label;
        match label {
            Label::Positive => low = middle,
            Label::Negative => high = middle,
        }
        mistakes += u64::from(learner.observe(row, label)?.is_wrong(label));
        rows.push(x);
        labels.push(label);
    }
    let middle = f64::midpoint(low, high);
    let points = Points::from_rows(&rows)?;
    let margin = Halfspace::new(vec![middle.cos(), middle.sin()])?.margin_on(&points, &labels)?;
    let (more, ended) = rounds(learner, &points, &labels)?;
    Ok((mistakes + more, margin, ended))
}

/// A list of `rules` rules over as many variables with random literals and labels that alternate,
/// and points of the cube that reach every rule alike, lifted and normalised.
fn list(rules: u32, rng: &mut ChaCha8Rng) -> Result<(Points, Vec<Label>, f64), Failure> {
    let n = rules as usize;
    let alternating =
        |i: usize| if i.is_multiple_of(2) { Label::Positive } else { Label::Negative };
    let literals: Vec<Literal> =
        (0..n).map(|variable| Literal { variable, positive: rng.random() }).collect();
    let rules = literals.iter().enumerate().map(|(i, literal)| (*literal, alternating(i)));
    let target = DecisionList::new(n, rules.collect(), alternating(n))?;
    let mut rows = Vec::with_capacity(60 * (n + 1));
    let mut labels = Vec::with_capacity(rows.capacity());
    for index in 0..60 * (n + 1) {
        // Literals before `first` fail, `first` holds (unless it is the default), the rest vary.
        let first = index % (n + 1);
        let holds = |i: usize, coin: bool| i == first || (i > first && coin);
        let row: Vec<f64> = literals
            .iter()
            .enumerate()
            .map(|(i, literal)| f64::from(u8::from(holds(i, rng.random()) == literal.positive)))
            .collect();
        labels.push(target.label(BooleanPoint::from_row(DenseRow::new(&row)?)?));
        rows.push(row);
    }
    let points = Points::from_rows(&rows)?.lifted().normalised()?;
    let margin = target.to_halfspace()?.margin_on(&points, &labels)?;
    Ok((points, labels, margin))
}

/// Goes round the points until a pass makes no mistake.
fn rounds<L: OnlineLearner, P: PointSet>(
    learner: &mut L,
    points: &P,
    labels: &[Label],
) -> Result<(u64, bool), Failure> {
    let mut mistakes = 0;
    for _ in 0..MAX_PASSES {
        let before = mistakes;
        for (x, y) in points.rows().zip(labels) {
            mistakes += u64::from(learner.observe(x, *y)?.is_wrong(*y));
        }
        if mistakes == before {
            return Ok((mistakes, true));
        }
    }
    Ok((mistakes, false))
}

impl VersionSpaceExperiment {
    fn play<L: OnlineLearner>(
        &self,
        family: &Family,
        exponent: u32,
        new: impl FnOnce(usize) -> Result<L, Failure>,
        bound: impl Fn(&L, f64) -> Option<f64>,
        rng: &mut ChaCha8Rng,
    ) -> Result<Play, Failure> {
        let (learner, (mistakes, ended), margin) = match family {
            Family::Hard => {
                let mut learner = new(2)?;
                let (mistakes, margin, ended) = hard(&mut learner, exponent, rng)?;
                (learner, (mistakes, ended), margin)
            }
            Family::Split => {
                let mut learner = new(2)?;
                let (mistakes, margin, ended) = split(&mut learner, exponent, rng)?;
                (learner, (mistakes, ended), margin)
            }
            Family::Lists => {
                let (points, labels, margin) = list(exponent, rng)?;
                let mut learner = new(points.dim())?;
                let played = rounds(&mut learner, &points, &labels)?;
                (learner, played, margin)
            }
            Family::Real(name) => {
                let margin = 0.5f64.powi(exponent as i32);
                let workload = Workload::Relabelled { name: name.clone(), margin };
                let (mut learner, played, margin);
                match self.inputs.pool(&workload, rng)? {
                    Pool::Dense(pool) => {
                        learner = new(pool.points.dim())?;
                        played = rounds(&mut learner, &pool.points, &pool.labels)?;
                        margin = pool.margin;
                    }
                    Pool::Sparse(pool) => {
                        learner = new(pool.points.dim())?;
                        played = rounds(&mut learner, &pool.points, &pool.labels)?;
                        margin = pool.margin;
                    }
                }
                (learner, played, margin.ok_or("relabelled data have a margin")?)
            }
        };
        let (dim, bound) = (learner.dim(), bound(&learner, margin));
        Ok(Play { exponent, dim, margin, mistakes, ended, bound })
    }
}

/// The bound that its centre states.
fn stated<C: Centre>(learner: &VersionSpace<C>, margin: f64) -> Option<f64> {
    learner.centre().mistake_bound(margin)
}

impl Experiment for VersionSpaceExperiment {
    type Configuration = Configuration;
    type Outcome = Outcome;

    fn id(&self) -> &'static str {
        "K8"
    }

    fn title(&self) -> &'static str {
        "Version-space learners: ln(1/γ) mistakes where the perceptron makes 1/γ²"
    }

    fn claims(&self) -> Vec<ClaimStatement> {
        vec![
            ClaimStatement {
                id: "K8".into(),
                statement: "On points of norm 1 separated with margin γ, the ellipsoid method makes at most 2d(d+1) ln((1+γ)/γ) mistakes, the volumetric centre at most about 286 d ln(566 d/γ) and the centre of gravity (by hit-and-run) at most d ln((1+γ)/γ)/ln(e/(e-1)), on decision lists, on real data relabelled by a halfspace, on the hard family and on the even split.".into(),
                source: "Kakade §3, Notes21; Vaidya 1996 with constants of ours; the last for the exact centre".into(),
                checks: &[],
            },
            ClaimStatement {
                id: "K8v".into(),
                statement: "There the volumetric centre makes at most d lg(1/γ) + 2 mistakes.".into(),
                source: "ours; measured, not proved".into(),
                checks: &[],
            },
            ClaimStatement {
                id: "K8h".into(),
                statement: "On the hard family the perceptron's mistakes grow at least as γ^-1.8.".into(),
                source: "ours: the family that makes (R/γ)² real".into(),
                checks: &[],
            },
        ]
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let mut plan = Vec::new();
        let real = self.inputs.real().into_iter().map(Family::Real);
        for family in [Family::Lists, Family::Hard, Family::Split].into_iter().chain(real) {
            for (learner, _) in LEARNERS {
                let exponents: Vec<u32> = match (&family, learner) {
                    (Family::Lists, Learner::Perceptron) => {
                        (2..=scale.pick(7, 10, 12)).step_by(2).collect()
                    }
                    (Family::Lists, _) => (2..=scale.pick(6, 14, 20)).step_by(2).collect(),
                    (Family::Hard | Family::Split, Learner::Perceptron) => {
                        (2..=scale.pick(7, 9, 10)).collect()
                    }
                    (Family::Hard | Family::Split, _) => (2..=30).collect(),
                    (Family::Real(_), Learner::Gravity) => scale.pick(vec![], vec![4], vec![4]),
                    (Family::Real(_), _) => scale.pick(vec![4], vec![4, 8], vec![4, 8, 12]),
                };
                let trials = match (&family, learner) {
                    // A sample of hundreds of points in as many dimensions a mistake.
                    (Family::Real(_), Learner::Gravity) => scale.pick(1, 1, 2),
                    _ => scale.pick(3, 8, 20),
                };
                if exponents.is_empty() {
                    continue;
                }
                let configuration = Configuration { family: family.clone(), learner, exponents };
                plan.push(Planned { configuration, trials });
            }
        }
        Ok(plan)
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        let family = &setting.family;
        let seed = rng.random();
        let plays = setting.exponents.iter().map(|&exponent| match setting.learner {
            Learner::Perceptron => {
                let bound =
                    |_: &Perceptron, margin| Some(bounds::perceptron_mistakes(1.0, 1.0, margin));
                self.play(family, exponent, |d| Ok(Perceptron::new(d)?), bound, rng)
            }
            Learner::Ellipsoid => {
                let new = |d| Ok(VersionSpace::new(Ellipsoid::new(d)?));
                self.play(family, exponent, new, stated, rng)
            }
            Learner::Volumetric => {
                let new = |d| Ok(VersionSpace::new(VolumetricCentre::new(d)?));
                self.play(family, exponent, new, stated, rng)
            }
            Learner::Gravity => {
                let new = |d| Ok(VersionSpace::new(CentreOfGravity::new(d, seed)?));
                self.play(family, exponent, new, stated, rng)
            }
            Learner::Margin => {
                let new = |d| Ok(VersionSpace::new(HardMargin::new(d)?));
                self.play(family, exponent, new, stated, rng)
            }
        });
        plays.collect()
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        // The perceptron has K3 for its bound, the hard-margin hypothesis has none.
        let of_centres =
            |c: &Configuration| !matches!(c.learner, Learner::Perceptron | Learner::Margin);
        let planned = results.groups.iter().filter(|g| of_centres(&g.configuration));
        let planned = planned.map(|g| g.planned * g.configuration.exponents.len()).sum();
        let plays = || results.outcomes().filter(|(c, _)| of_centres(c)).flat_map(|(_, o)| o);
        // Within its bound a learner runs out of mistakes; one that does not has broken its promise.
        let ratios: Vec<f64> = plays()
            .map(|p| if p.ended { p.ratio().unwrap_or(f64::INFINITY) } else { f64::INFINITY })
            .collect();
        let within = Evidence::deterministic("mistakes / bound", Side::AtMost, planned, &ratios);

        let volumetric = |c: &Configuration| c.learner == Learner::Volumetric;
        let planned = results.groups.iter().filter(|g| volumetric(&g.configuration));
        let planned = planned.map(|g| g.planned * g.configuration.exponents.len()).sum();
        let measured: Vec<f64> = results
            .outcomes()
            .filter(|(c, _)| volumetric(c))
            .flat_map(|(_, plays)| plays)
            .map(|p| p.mistakes as f64 / (p.dim as f64 * -p.margin.log2() + 2.0))
            .collect();
        let quantity = "mistakes / (d lg(1/γ) + 2)";
        let measured = Evidence::deterministic(quantity, Side::AtMost, planned, &measured);

        let hard = |c: &Configuration| c.family == Family::Hard && c.learner == Learner::Perceptron;
        let planned = results.groups.iter().filter(|g| hard(&g.configuration));
        let planned = planned.map(|g| g.planned).sum();
        let falls: Vec<f64> = results
            .outcomes()
            .filter(|(c, _)| hard(c))
            .filter_map(|(_, plays)| {
                // From 1/γ = 16 on, where constants no longer show.
                let late = plays.iter().filter(|p| p.exponent >= 4);
                let (x, y): (Vec<f64>, Vec<f64>) =
                    late.map(|p| (f64::from(p.exponent), (p.mistakes as f64).log2())).unzip();
                stats::slope(&x, &y).map(|slope| -slope)
            })
            .collect();
        let growth = Evidence::growth("slope of lg mistakes per lg γ", planned, &falls, -1.8);
        for (claim, evidence) in
            Experiment::claims(self).into_iter().zip([within, measured, growth])
        {
            section.judge(claim, evidence);
        }
        section.summary.push("Decision lists of r rules over r variables, with labels that alternate, are played round and round until a pass makes no mistake; the points reach every rule equally often. The hard family lives in a random plane: points of margin γ that throw the second coordinate of w to and fro, adaptively and jittered, until 300 rounds in a row are right. The even split lives in the plane as well: each point halves the arc of targets that are left and its label is against the prediction, so every learner whatever is wrong lg(1/γ) times there; the points are then gone round until a pass makes no mistake. Volumes shrink by a constant factor a mistake, lengths grow by one: that is the whole difference.".into());
        section.figures.push(figure(results, &Family::Hard));
        section.figures.push(figure(results, &Family::Split));
        section.figures.push(figure(results, &Family::Lists));
        section.tables.push(by_exponent(results));
    }
}

fn figure(results: &Results<Configuration, Outcome>, family: &Family) -> Figure {
    let mut layers = Vec::new();
    for (learner, colour) in LEARNERS {
        let plays: Vec<&Play> = results
            .outcomes()
            .filter(|(c, _)| c.family == *family && c.learner == learner)
            .flat_map(|(_, o)| o)
            .collect();
        let nominal = |p: &Play| 2f64.powi(p.exponent as i32);
        let spread = spread_by_x(plays.iter().map(|p| (nominal(p), p.mistakes as f64)).collect());
        let bounds = plays.iter().filter_map(|p| Some((nominal(p), p.bound?)));
        let bound = spread_by_x(bounds.collect());
        let line: Vec<(f64, f64)> = spread.iter().map(|(x, _, m, _)| (*x, *m)).collect();
        let name = learner.to_string();
        layers.push(Layer::Line { name: name.clone(), colour, dashed: false, data: line.clone() });
        layers.push(Layer::Points { name: name.clone(), colour, data: line });
        if !bound.is_empty() {
            layers.push(Layer::Line {
                name: format!("its bound, {name}"),
                colour,
                dashed: true,
                data: bound.iter().map(|(x, _, m, _)| (*x, *m)).collect(),
            });
        }
    }
    let (name, caption, label) = match family {
        Family::Hard => (
            "k8-hard-family",
            "Mistakes on the hard family in the plane as the margin shrinks: medians over trials (solid) and each learner's bound (dashed). The perceptron follows its bound; the version-space learners pay a constant for each halving of γ, down to 2^-30.",
            "1/γ",
        ),
        Family::Split => (
            "k8-even-split",
            "Mistakes on the even split in the plane, where every learner must make lg(1/γ): medians over trials (solid) and each learner's bound (dashed).",
            "1/γ",
        ),
        Family::Lists | Family::Real(_) => (
            "k8-decision-lists",
            "Mistakes on decision lists of r rules, margin about 2^-r, dimension r + 1: medians over trials (solid) and each learner's bound (dashed).",
            "2^r",
        ),
    };
    Figure {
        name: name.into(),
        caption: caption.into(),
        x: Axis::log(label),
        y: Axis::log("mistakes"),
        layers,
    }
}

fn by_exponent(results: &Results<Configuration, Outcome>) -> Table {
    let columns =
        ["family", "learner", "r", "d", "trials", "γ", "mistakes", "most", "bound", "worst ratio"];
    let mut table =
        Table::new("k8-version-space", "Medians over trials; extremes over all", &columns);
    for group in &results.groups {
        for (at, exponent) in group.configuration.exponents.iter().enumerate() {
            let plays: Vec<&Play> = group.outcomes.iter().filter_map(|o| o.get(at)).collect();
            let of = |f: fn(&Play) -> f64| -> Vec<f64> { plays.iter().map(|p| f(p)).collect() };
            let mistakes = of(|p| p.mistakes as f64);
            let bounds: Vec<f64> = plays.iter().filter_map(|p| p.bound).collect();
            let ratios: Vec<f64> = plays.iter().filter_map(|p| p.ratio()).collect();
            table.push(vec![
                group.configuration.family.to_string(),
                group.configuration.learner.to_string(),
                exponent.to_string(),
                plays.first().map(|p| p.dim.to_string()).unwrap_or_default(),
                plays.len().to_string(),
                stats::median(&of(|p| p.margin)).map(|m| format!("{m:.3e}")).unwrap_or_default(),
                median_text(&mistakes, 1),
                format!("{:.0}", most(&mistakes)),
                median_text(&bounds, 1),
                stats::median(&ratios).map(|_| format!("{:.4}", most(&ratios))).unwrap_or_default(),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_eval::{Group, Verdict};
    use rand::SeedableRng;

    fn group(learner: Learner, outcomes: [Outcome; 3]) -> Group<Configuration, Outcome> {
        let exponents = outcomes[0].iter().map(|p| p.exponent).collect();
        let configuration = Configuration { family: Family::Hard, learner, exponents };
        Group { configuration, planned: 3, outcomes: outcomes.into() }
    }

    #[test]
    fn planted_wrong_bounds_are_caught() {
        let play = |exponent: u32, mistakes: u64| Play {
            exponent,
            dim: 2,
            // d lg(1/γ) + 2 = 60.
            margin: 0.5f64.powi(29),
            mistakes,
            ended: true,
            bound: Some(60.0),
        };
        // Three trials that scatter a little, or no mean could be refuted.
        let trials = |power: u32| {
            [0, 1, 2].map(|more| (4..9).map(|e| play(e, (1 << (power * e)) + more)).collect())
        };
        let (square, linear): ([Outcome; 3], [Outcome; 3]) = (trials(2), trials(1));
        let verdicts = |centre: Play, perceptron: &[Outcome; 3]| {
            let groups = vec![
                group(Learner::Volumetric, [0; 3].map(|_| vec![centre.clone()])),
                group(Learner::Perceptron, perceptron.clone()),
            ];
            let mut section = Section::default();
            let experiment = VersionSpaceExperiment::new(Arc::new(Inputs::builtin()));
            experiment.evaluate(&Results { groups }, &mut section);
            section.claims.iter().map(|c| c.verdict).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(play(5, 60), &square), [Verdict::Holds; 3]);
        assert_eq!(verdicts(play(5, 61), &linear), [Verdict::Violated; 3]);
        let endless = Play { ended: false, ..play(5, 1) };
        assert_eq!(verdicts(endless, &square)[0], Verdict::Violated);
    }

    /// Planted wrong claims: real trials judged by a third of the volumetric bound, and by three times
    /// the perceptron's exponent.
    #[test]
    fn real_trials_refute_three_times_too_strong_claims() {
        let experiment = VersionSpaceExperiment::new(Arc::new(Inputs::builtin()));
        let played = |family, learner, exponents| {
            let configuration = Configuration { family, learner, exponents };
            let trial = |seed| {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                experiment.trial(&configuration, &mut rng).unwrap()
            };
            let outcomes = (0..3).map(trial).collect();
            Group { configuration, planned: 3, outcomes }
        };
        let groups = vec![
            played(Family::Split, Learner::Volumetric, vec![10, 20]),
            played(Family::Hard, Learner::Perceptron, (4..=7).collect()),
        ];
        let verdicts = |change: fn(&mut Play)| {
            let mut groups = groups.clone();
            groups.iter_mut().flat_map(|g| &mut g.outcomes).flatten().for_each(change);
            let mut section = Section::default();
            experiment.evaluate(&Results { groups }, &mut section);
            [section.claims[1].verdict, section.claims[2].verdict]
        };
        assert_eq!(verdicts(|_| ()), [Verdict::Holds; 2]);
        // Three times the mistakes; and the same mistakes at margins of the third power.
        let wrong = verdicts(|p| {
            p.mistakes *= 3;
            p.exponent *= 3;
        });
        assert_eq!(wrong, [Verdict::Violated; 2]);
    }

    #[test]
    fn lists_have_the_margin_of_their_length() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for rules in [2, 6, 10] {
            let (points, labels, margin) = list(rules, &mut rng).unwrap();
            let scale = 0.5f64.powi(rules as i32);
            assert!(margin > scale / 20.0 && margin < scale * 2.0, "{rules}: {margin}");
            assert_eq!(points.len(), labels.len());
            assert!(labels.contains(&Label::Negative) && labels.contains(&Label::Positive));
        }
    }
}
