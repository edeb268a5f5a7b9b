//! P5 and P7: the GLM Perspectron with the constants of CKST24 Theorem 4, corrected, and with ours, on
//! random models and on models searched to be hard; and whether the padding matters to the learner.

use crate::Failure;
use crate::experiments::common::{median_text, most, spread_by_x};
use crate::experiments::noise::planar::{Planar, descend, genes};
use halfspaces_data::{
    GlmNoise, Instance, Link, MarginBall, Population, Region, StandardLink, random_target_with_rng,
};
use halfspaces_eval::{
    Axis, ClaimStatement, Colour, Evidence, Experiment, Figure, Layer, Planned, Results, Scale,
    Section, Side, Table,
};
use halfspaces_linalg::{ExampleStream, Halfspace, RowView, kernels};
use halfspaces_pac::{
    Denominator, Direction, Elimination, GlmParams, GlmPerspectron, GlmSchedule, Selection,
    schedule,
};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::fmt;

pub(crate) struct GlmExperiment;

/// δ of every fit.
const FAILURE: f64 = 0.1;
const DIM: usize = 5;
/// Points a random model is judged on; their labels are judged exactly.
const JUDGED: usize = 3000;
/// Moves of the search for a hard model, and steps of the flow that rates each.
const MOVES: usize = 300;
const FLOW: u64 = 1000;

/// Whose constants, and which iterates are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Rule {
    /// As printed, all iterates.
    Paper,
    /// CKST24 with α = ε/(4-ε) and T = 1024/(ε⁴γ²), all iterates, none dropped early.
    Corrected,
    /// D = max(|w·x|, γ/2), T = 64/(εγ)², all iterates.
    Ours,
    /// D = max(|w·x|, γ/2), one run, thinned.
    Thinned,
}

const RULES: [(Rule, Colour); 4] = [
    (Rule::Paper, Colour::Vermilion),
    (Rule::Corrected, Colour::Orange),
    (Rule::Ours, Colour::Blue),
    (Rule::Thinned, Colour::Green),
];

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Rule::Paper => "CKST24 as printed",
            Rule::Corrected => "CKST24 corrected",
            Rule::Ours => "ours, all iterates",
            Rule::Thinned => "ours, thinned",
        })
    }
}

/// Where the model comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Source {
    /// Uniform points of R^5 beyond the margin, a random link, noise in a random region.
    Random,
    /// Three points of the plane, searched for the largest error of the flow of D = max(|w·x|, γ/2).
    Searched,
    /// The two points on which larger paddings turn the certificate round.
    Pair,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Source::Random => "random",
            Source::Searched => "searched",
            Source::Pair => "two points",
        })
    }
}

/// What is divided by, in multiples of γ; for the question whether the padding matters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Padding {
    /// max(|w·x|, cγ).
    Floor(f64),
    /// |w·x| + cγ.
    Sum(f64),
}

const PADDINGS: [(Padding, Colour); 5] = [
    (Padding::Floor(0.5), Colour::Blue),
    (Padding::Sum(0.5), Colour::Purple),
    (Padding::Floor(1.0), Colour::Green),
    (Padding::Sum(1.0), Colour::Orange),
    (Padding::Floor(2.0), Colour::Vermilion),
];

impl Padding {
    fn denominator(self, margin: f64) -> Denominator {
        match self {
            Padding::Floor(share) => Denominator::AtLeast(share * margin),
            Padding::Sum(share) => Denominator::Plus(share * margin),
        }
    }
}

impl fmt::Display for Padding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Padding::Floor(share) => write!(f, "max(a, {share} γ)"),
            Padding::Sum(share) => write!(f, "a + {share} γ"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Task {
    /// A whole fit, judged.
    Fit { rule: Rule, source: Source },
    /// The iterates of one run on a searched model.
    Curve { rule: Rule },
    /// Runs of rising length on the trap.
    Trap { padding: Padding, longest: u64 },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    task: Task,
    /// ε.
    excess: f64,
    /// γ.
    margin: f64,
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Configuration { task, excess, margin } = self;
        match task {
            Task::Fit { rule, source } => write!(f, "{rule}, {source}")?,
            Task::Curve { rule } => write!(f, "{rule}, curve")?,
            Task::Trap { padding, .. } => write!(f, "{padding}, trap")?,
        }
        write!(f, ", ε={excess} γ={margin}")
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// ℓ01 - (opt_RCN + τ/2) of what was learned.
    excess: f64,
    /// Examples used.
    examples: u64,
    /// (examples, average excess of the iterates so far, or of a run that long).
    curve: Vec<(u64, f64)>,
}

fn params<L: Link + Clone>(setting: &Configuration, rule: Rule, link: L) -> GlmParams<L> {
    let Configuration { excess, margin, .. } = *setting;
    // Inner products round: a margin the points surely have.
    let params = GlmPerspectron::params(link, margin * (1.0 - 1e-9));
    let params = params.excess(excess).failure(FAILURE);
    match rule {
        Rule::Paper => params.schedule(GlmSchedule::Paper),
        Rule::Corrected => params.schedule(GlmSchedule::Corrected).elimination(Elimination::Never),
        Rule::Ours => params.selection(Selection::AllIterates),
        Rule::Thinned => params,
    }
}

type RandomInstance = Instance<MarginBall, GlmNoise<StandardLink>>;

enum Model {
    Random(RandomInstance, Population),
    Plane(Planar),
}

impl Model {
    fn draw(source: Source, margin: f64, rng: &mut ChaCha8Rng) -> Result<Model, Failure> {
        match source {
            Source::Random => {
                let link = match rng.random_range(0..4) {
                    0 => StandardLink::logistic(2.0 + 8.0 * rng.random::<f64>())?,
                    1 => StandardLink::staircase(rng.random_range(2..10), 0.9)?,
                    2 => StandardLink::two_rates(0.1, 0.3)?,
                    _ => StandardLink::skewed_logistic(5.0, 0.2)?,
                };
                let other = random_target_with_rng(DIM, rng)?;
                let region = match rng.random_range(0..4) {
                    0 => Region::Everywhere,
                    1 => Region::Far((1.0 + margin) / 2.0),
                    2 => Region::Side(other),
                    _ => Region::Disagreement(other),
                };
                Model::random(link, region, DIM, margin, rng)
            }
            Source::Searched => {
                let denominator = Denominator::AtLeast(margin / 2.0);
                let (_, best) = descend(genes(3), MOVES, rng, |numbers| {
                    -Planar::decode(margin, numbers).mean_run(denominator, FLOW)
                });
                Ok(Model::Plane(Planar::decode(margin, &best)))
            }
            Source::Pair => Ok(Model::Plane(Planar::two_points(margin, 0.0))),
        }
    }

    fn random(
        link: StandardLink,
        region: Region,
        dim: usize,
        margin: f64,
        rng: &mut ChaCha8Rng,
    ) -> Result<Model, Failure> {
        let target = random_target_with_rng(dim, rng)?;
        let noise = GlmNoise::new(link)?.within(region)?;
        let instance = Instance::new(MarginBall::new(&target, margin)?, target, noise)?;
        let population = instance.population(JUDGED, rng.random())?;
        Ok(Model::Random(instance, population))
    }

    /// ℓ01 - (opt_RCN + τ/2), with exact labels.
    fn excess(&self, w: &[f64]) -> Result<f64, Failure> {
        match self {
            Model::Random(instance, population) => {
                let link = instance.noise().link();
                let level = population.opt_rcn(link).mean() + link.asymmetry() / 2.0;
                Ok(population.error(&Halfspace::new(w.to_vec())?)?.mean() - level)
            }
            Model::Plane(planar) => match w {
                [along, across] => Ok(planar.excess([*along, *across])),
                _ => Err("w does not lie in the plane".into()),
            },
        }
    }

    /// What is learned, and the examples it took.
    fn fit(
        &self,
        setting: &Configuration,
        rule: Rule,
        rng: &mut ChaCha8Rng,
    ) -> Result<(Vec<f64>, u64), Failure> {
        let seed = rng.random();
        let fit = match self {
            Model::Random(instance, _) => {
                let learner = params(setting, rule, *instance.noise().link()).seed(seed).check()?;
                learner.fit(&mut instance.stream_with_rng(rng))?
            }
            Model::Plane(planar) => {
                let learner = params(setting, rule, planar.link).seed(seed).check()?;
                learner.fit(&mut planar.stream(rng))?
            }
        };
        Ok((fit.halfspace().normal().to_vec(), fit.training() + fit.validation()))
    }
}

/// `steps` steps from w = 0, projected onto the unit ball; `see` gets t and w^{t+1}, from t = 0 on.
fn walk<L: Link, S: ExampleStream>(
    direction: &Direction<L>,
    step: f64,
    steps: u64,
    stream: &mut S,
    mut see: impl FnMut(u64, &[f64]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut w = vec![0.0; stream.dim()];
    see(0, &w)?;
    for t in 1..=steps {
        let next = stream.next_row().map_err(|_| "the stream failed")?;
        let (x, y) = next.ok_or("the stream ended")?;
        x.add_scaled_to(-step * direction.coefficient(x.dot(&w), y), &mut w);
        let norm = kernels::norm_sq(&w).sqrt();
        if norm > 1.0 {
            w.iter_mut().for_each(|v| *v /= norm);
        }
        see(t, &w)?;
    }
    Ok(())
}

fn curve(setting: &Configuration, rule: Rule, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
    let Model::Plane(planar) = Model::draw(Source::Searched, setting.margin, rng)? else {
        return Err("not in the plane".into());
    };
    let plan = params(setting, rule, planar.link).check()?.plan();
    let direction = Direction { link: planar.link, denominator: plan.denominator };
    let (mut curve, mut sum) = (Vec::new(), 0.0);
    walk(&direction, plan.step, plan.run_length, &mut planar.stream(rng), |t, w| {
        if t > 0 && (t.is_power_of_two() || t == plan.run_length) {
            curve.push((t, sum / t as f64));
        }
        if let [along, across] = w {
            sum += planar.excess([*along, *across]);
        }
        Ok(())
    })?;
    let excess = curve.last().map_or(f64::INFINITY, |(_, excess)| *excess);
    Ok(Outcome { excess, examples: plan.run_length, curve })
}

fn trap(padding: Padding, longest: u64, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
    let planar = Planar::trap();
    let denominator = padding.denominator(planar.margin);
    let direction = Direction { link: planar.link, denominator };
    let (mut curve, mut steps) = (Vec::new(), 1000);
    while steps <= longest {
        let step = denominator.least() / (2.0 * (steps as f64).sqrt());
        let mut sum = 0.0;
        walk(&direction, step, steps, &mut planar.stream(rng), |t, w| {
            if let ([along, across], true) = (w, t < steps) {
                sum += planar.excess([*along, *across]);
            }
            Ok(())
        })?;
        curve.push((steps, sum / steps as f64));
        steps *= 10;
    }
    let excess = curve.last().map_or(f64::INFINITY, |(_, excess)| *excess);
    Ok(Outcome { excess, examples: longest, curve })
}

impl Experiment for GlmExperiment {
    type Configuration = Configuration;
    type Outcome = Outcome;

    fn id(&self) -> &'static str {
        "P7"
    }

    fn title(&self) -> &'static str {
        "Generalised linear models: the constants of CKST24, corrected, and none of its padding loss"
    }

    fn claims(&self) -> Vec<ClaimStatement> {
        vec![
            ClaimStatement {
                id: "P5".into(),
                statement: "With α = ε/(4-ε), T = 1024/(ε⁴γ²) steps a run and all iterates of all runs compared, the GLM Perspectron has error at most opt_RCN + τ/2 + ε with probability 1 - δ.".into(),
                source: "CKST24 Theorem 4, constants corrected".into(),
                checks: &[],
            },
            ClaimStatement {
                id: "P7".into(),
                statement: "With D = max(|w·x|, γ/2) it does at T = 64/(εγ)² a run, all iterates compared, and in one run of 16(2+(2+γ)√(2 ln(3/δ)))²/(εγ)² with a few iterates compared: on random models, on models searched to be hard and on the two points that larger paddings fail on.".into(),
                source: "ours, docs/theory/glm-without-padding-loss.md and thinned-selection.md".into(),
                checks: &[],
            },
            ClaimStatement {
                id: "P7t".into(),
                statement: "Without the padding a run takes 16/ε² times fewer examples than with the corrected constants of CKST24, exactly.".into(),
                source: "ours, docs/theory/glm-without-padding-loss.md".into(),
                checks: &[],
            },
        ]
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        use Source::{Pair, Random, Searched};
        let mut plan = Vec::new();
        let mut add = |task, excess, margin, trials| {
            plan.push(Planned { configuration: Configuration { task, excess, margin }, trials });
        };
        // 29 trials without a failure are the least that can show δ = 0.1.
        let trials = scale.pick(30, 30, 100);
        let corrected =
            scale.pick(vec![(0.7, 0.7)], vec![(0.5, 0.5)], vec![(0.5, 0.5), (0.4, 0.5)]);
        for (excess, margin) in corrected {
            add(Task::Fit { rule: Rule::Corrected, source: Random }, excess, margin, trials);
        }
        let ours = scale.pick(
            vec![(Random, 0.5, 0.5), (Searched, 0.5, 0.5)],
            vec![(Random, 0.3, 0.3), (Searched, 0.3, 0.3), (Pair, 0.3, 0.1)],
            vec![
                (Random, 0.3, 0.3),
                (Random, 0.2, 0.2),
                (Searched, 0.3, 0.3),
                (Searched, 0.3, 0.1),
                (Pair, 0.3, 0.1),
            ],
        );
        for (source, excess, margin) in ours {
            for rule in [Rule::Ours, Rule::Thinned] {
                add(Task::Fit { rule, source }, excess, margin, trials);
            }
        }
        let (excess, margin) = scale.pick((0.7, 0.3), (0.5, 0.1), (0.5, 0.1));
        for (rule, _) in RULES {
            add(Task::Curve { rule }, excess, margin, scale.pick(3, 7, 15));
        }
        let longest = scale.pick(10_000, 1_000_000, 10_000_000);
        for (padding, _) in PADDINGS {
            add(Task::Trap { padding, longest }, 0.1, 0.1, scale.pick(2, 3, 9));
        }
        Ok(plan)
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        match setting.task {
            Task::Fit { rule, source } => {
                let model = Model::draw(source, setting.margin, rng)?;
                let (w, examples) = model.fit(setting, rule, rng)?;
                Ok(Outcome { excess: model.excess(&w)?, examples, curve: Vec::new() })
            }
            Task::Curve { rule } => curve(setting, rule, rng),
            Task::Trap { padding, longest } => trap(padding, longest, rng),
        }
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let judged = |mine: fn(Rule) -> bool| {
            let groups = results
                .groups
                .iter()
                .filter(|g| matches!(g.configuration.task, Task::Fit { rule, .. } if mine(rule)));
            let each: Vec<(String, Evidence)> = groups
                .map(|g| {
                    let limit = g.configuration.excess;
                    let failures = g.outcomes.iter().filter(|o| o.excess > limit).count();
                    let evidence =
                        Evidence::probability(g.planned, failures, g.outcomes.len(), FAILURE);
                    (g.configuration.to_string(), evidence)
                })
                .collect();
            Evidence::worst_of(&each)
        };
        let corrected = judged(|rule| rule == Rule::Corrected);
        let ours = judged(|rule| matches!(rule, Rule::Ours | Rule::Thinned));
        let evidence = [corrected, ours, saving(16.0)];
        for (claim, evidence) in Experiment::claims(self).into_iter().zip(evidence) {
            section.judge(claim, evidence);
        }
        section.summary.push("Errors are exact over the labels, and over the points too for models in the plane. The hard models are three points of the plane with masses, noise and link searched so that the noiseless learner with our denominator errs longest.".into());
        section.summary.push("All schedules end far below their targets, and their curves fall at much the same pace even on the hard models, each curve being a median over models of its own. What the maximum gains is in the guarantee, which lets a run be 16/ε² times shorter, not in what is measured here.".into());
        section.summary.push(TRAP_STORY.into());
        section.figures.push(curves(results));
        section.figures.push(traps(results));
        section.tables.push(by_configuration(results));
    }
}

const TRAP_STORY: &str = "Does the padding matter to the learner, and not only to its proof? A search over few points of the plane, made once beside this suite and short, found a model on which the learner with max(a, 2γ) stays above opt_RCN however long it runs, while γ/2 leads below it: the trap, three points with noise of rate at most 0.3, run here. For max(a, γ), a + γ/2 and a + γ, whose certificates fail as well, it found no such model, which does not show that there is none: for them only the proof is known to need the smaller padding.";

/// (corrected T)/(our T) over `factor`/ε², where both are whole numbers; and the inverse, so that
/// neither side may miss it.
fn saving(factor: f64) -> Evidence {
    let mut ratios = Vec::new();
    for excess in [0.5, 0.25, 0.125] {
        for margin in [1.0, 0.5, 0.25, 0.125] {
            let corrected = schedule::glm_corrected_run_length(excess, margin) as f64;
            let ours = schedule::glm_run_length(excess, margin) as f64;
            let ratio = corrected / ours * excess * excess / factor;
            ratios.extend([ratio, 1.0 / ratio]);
        }
    }
    let quantity = "T of CKST24 corrected / our T / (16/ε²), or its inverse";
    Evidence::deterministic(quantity, Side::AtMost, ratios.len(), &ratios)
}

/// The medians of the curves of the configurations that `mine` accepts.
fn median_curve(
    results: &Results<Configuration, Outcome>,
    mine: impl Fn(&Task) -> bool,
) -> Vec<(f64, f64)> {
    let pairs = results
        .outcomes()
        .filter(|(c, _)| mine(&c.task))
        .flat_map(|(_, o)| o.curve.iter().map(|(x, y)| (*x as f64, *y)))
        .collect();
    spread_by_x(pairs).iter().map(|(x, _, median, _)| (*x, *median)).collect()
}

fn curves(results: &Results<Configuration, Outcome>) -> Figure {
    let mut layers = Vec::new();
    for (rule, colour) in RULES {
        let data = median_curve(results, |task| *task == Task::Curve { rule });
        let name = rule.to_string();
        let line = data.clone();
        layers.push(Layer::Line { name: name.clone(), colour, dashed: false, data: line });
        layers.push(Layer::Points { name, colour, data });
    }
    Figure {
        name: "p7-curves".into(),
        caption: "Average error of the iterates so far above opt_RCN + τ/2, against examples, each schedule with its own step and to the end of its own run: medians over models of three points searched to be hard, γ = 0.1, ε = 0.5 (smoke: 0.3 and 0.7). All fall at much the same pace; ours may stop sooner than CKST24 corrected. An error at or below the target is drawn at the lower edge.".into(),
        x: Axis::log("examples"),
        y: Axis::log("average error - target"),
        layers,
    }
}

fn traps(results: &Results<Configuration, Outcome>) -> Figure {
    let mut layers = Vec::new();
    for (padding, colour) in PADDINGS {
        let data = median_curve(
            results,
            |task| matches!(task, Task::Trap { padding: mine, .. } if *mine == padding),
        );
        let name = format!("D = {padding}");
        let line = data.clone();
        layers.push(Layer::Line { name: name.clone(), colour, dashed: false, data: line });
        layers.push(Layer::Points { name, colour, data });
    }
    Figure {
        name: "p7-padding".into(),
        caption: TRAP_CAPTION.into(),
        x: Axis::log("steps of the run"),
        y: Axis::linear("average error of the iterates - opt_RCN"),
        layers,
    }
}

const TRAP_CAPTION: &str = "Average error of the iterates above opt_RCN on the trap, three points of the plane with γ = 0.1, against the length of the run, each denominator with the step of its own norm bound: medians. With max(a, 2γ) a longer run does not help; below 0 the noise is less than its limit.";

fn by_configuration(results: &Results<Configuration, Outcome>) -> Table {
    let columns = [
        "learner",
        "model",
        "ε",
        "γ",
        "trials",
        "failures",
        "error - target, median",
        "largest",
        "examples",
    ];
    let title = "Fits judged: the target is opt_RCN + τ/2, a failure is more than ε above it";
    let mut table = Table::new("p7-fits", title, &columns);
    for group in &results.groups {
        let Configuration { task: Task::Fit { rule, source }, excess, margin } =
            &group.configuration
        else {
            continue;
        };
        let measured: Vec<f64> = group.outcomes.iter().map(|o| o.excess).collect();
        let largest = measured.iter().copied().reduce(f64::max);
        let examples: Vec<f64> = group.outcomes.iter().map(|o| o.examples as f64).collect();
        table.push(vec![
            rule.to_string(),
            source.to_string(),
            excess.to_string(),
            margin.to_string(),
            measured.len().to_string(),
            measured.iter().filter(|m| *m > excess).count().to_string(),
            median_text(&measured, 4),
            largest.map(|v| format!("{v:.4}")).unwrap_or_default(),
            format!("{:.0}", most(&examples)),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_eval::{Group, Verdict};
    use rand::SeedableRng;

    /// Fits of both learners hold; what they found turned round is caught, on either claim.
    #[test]
    fn planted_wrong_halfspaces_are_caught() {
        for (rule, excess, margin, claim) in [
            (Rule::Corrected, 0.4, 0.9, 0),
            (Rule::Ours, 0.4, 0.4, 1),
            (Rule::Thinned, 0.4, 0.4, 1),
        ] {
            let task = Task::Fit { rule, source: Source::Random };
            let configuration = Configuration { task, excess, margin };
            // The constants of the corrected schedule are dear: fewer steps do for this test.
            let learnt_by = if rule == Rule::Corrected { Rule::Paper } else { rule };
            let (mut good, mut bad) = (Vec::new(), Vec::new());
            for seed in 0..30 {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let link = StandardLink::logistic(8.0).unwrap();
                let model = Model::random(link, Region::Everywhere, 3, margin, &mut rng).unwrap();
                let (w, examples) = model.fit(&configuration, learnt_by, &mut rng).unwrap();
                let turned: Vec<f64> = w.iter().map(|v| -v).collect();
                for (outcomes, w) in [(&mut good, w), (&mut bad, turned)] {
                    let excess = model.excess(&w).unwrap();
                    outcomes.push(Outcome { excess, examples, curve: Vec::new() });
                }
            }
            let verdict = |outcomes| {
                let group = Group { configuration: configuration.clone(), planned: 30, outcomes };
                let mut section = Section::default();
                GlmExperiment.evaluate(&Results { groups: vec![group] }, &mut section);
                section.claims[claim].verdict
            };
            assert_eq!(verdict(good), Verdict::Holds, "{rule}");
            assert_eq!(verdict(bad), Verdict::Violated, "{rule}");
        }
    }

    #[test]
    fn a_wrong_saving_is_caught() {
        assert_eq!(saving(16.0).verdict, Verdict::Holds);
        assert_eq!(saving(8.0).verdict, Verdict::Violated);
        assert_eq!(saving(32.0).verdict, Verdict::Violated);
    }

    /// The learner's own loop and the one the curves are drawn with make the same steps.
    #[test]
    fn the_walk_is_the_learner() {
        let setting =
            Configuration { task: Task::Curve { rule: Rule::Ours }, excess: 0.5, margin: 0.5 };
        let planar = Planar::two_points(0.3, 0.0);
        let learner = params(&setting, Rule::Ours, planar.link).check().unwrap();
        let plan = learner.plan();
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let fit = learner.fit(&mut planar.stream(&mut rng)).unwrap();
        let chosen = fit.origin().step;
        // The runs before the chosen one use up their examples.
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut stream = planar.stream(&mut rng);
        for _ in 0..chosen / plan.run_length * plan.run_length {
            stream.next_row().unwrap();
        }
        let direction = Direction { link: planar.link, denominator: plan.denominator };
        let mut found = Vec::new();
        walk(&direction, plan.step, plan.run_length, &mut stream, |t, w| {
            if t == chosen % plan.run_length {
                found = w.to_vec();
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(found, fit.halfspace().normal());
    }
}
