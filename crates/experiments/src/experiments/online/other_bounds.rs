//! K10 to K13: the passive-aggressive learner, Winnow, ALMA and the second-order perceptron, compared with the bounds
//! of their sources. For each bound, some instance nearly attains it.

use crate::experiments::common::*;
use crate::workload::{Inputs, Sample, Workload, of_either};
use halfspaces_linalg::{DenseRow, Label, PointSet, Points, RowView};
use halfspaces_online::{
    Aggressiveness, Alma, AsGiven, OnlineLearner, PassiveAggressive, RandomOrder,
    SecondOrderPerceptron, SmallestMarginMistake, Transcript, Winnow, bounds, run,
};

/// Number of passes over a pool in the given order.
const PASSES: usize = 3;

/// Probability that a variable of a random point for Winnow is true.
const TRUE_SHARE: f64 = 0.1;

pub(crate) struct OtherBoundsExperiment {
    pub(crate) inputs: Arc<Inputs>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Display)]
#[serde(tag = "learner", rename_all = "kebab-case")]
enum Learner {
    #[strum(to_string = "passive-aggressive")]
    Aggressive,
    #[strum(to_string = "Winnow")]
    Winnow,
    #[strum(to_string = "ALMA, α={alpha}")]
    Alma { alpha: f64 },
    #[strum(to_string = "second-order perceptron, a={a}")]
    SecondOrder { a: f64 },
}

impl Learner {
    /// The index of the claim about this learner.
    fn claim(self) -> usize {
        match self {
            Learner::Aggressive => 0,
            Learner::Winnow => 1,
            Learner::Alma { .. } => 2,
            Learner::SecondOrder { .. } => 3,
        }
    }
}

/// The name and the colour of the learner of each claim.
const SERIES: [(&str, Colour); 4] = [
    ("passive-aggressive", Colour::Blue),
    ("Winnow", Colour::Orange),
    ("ALMA", Colour::Green),
    ("second-order perceptron", Colour::Vermilion),
];

#[derive(Debug, Clone, PartialEq, Serialize, Display)]
#[serde(untagged)]
enum Data {
    #[strum(to_string = "{0}")]
    Pool(Workload),
    /// Points in the cube, labelled by the disjunction of the first variables.
    #[strum(to_string = "{relevant} of {variables} variables")]
    Disjunction { relevant: usize, variables: usize },
}

/// How the next point is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "lowercase")]
enum Nature {
    /// In the order of the pool.
    #[strum(to_string = "given order")]
    Given,
    #[strum(to_string = "random order")]
    Random,
    /// The misclassified point with the smallest margin.
    #[strum(to_string = "adversary")]
    Adversarial,
    /// Each point is constructed from the current weights of Winnow.
    #[strum(to_string = "made for the learner")]
    Made,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    #[serde(flatten)]
    learner: Learner,
    #[serde(flatten)]
    data: Data,
    nature: Nature,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    mistakes: usize,
    /// The quantity that the bound limits: squared losses, mistakes or corrections.
    counted: f64,
    bound: f64,
    /// The guaranteed margin divided by the final margin; 0 for learners without such a guarantee.
    margin_ratio: f64,
}

impl Outcome {
    fn ratio(&self) -> f64 {
        // If there are no mistakes, the bound of the second-order perceptron is 0 as well.
        let counted = if self.counted == 0.0 { 0.0 } else { self.counted / self.bound };
        counted.max(self.margin_ratio)
    }
}

/// Runs a learner on a pool in the order that `nature` chooses.
fn ordered<L: OnlineLearner, P: PointSet>(
    learner: L,
    sample: &Sample<P>,
    nature: Nature,
    rng: &mut ChaCha8Rng,
) -> Result<(L, Transcript), Failure> {
    let Sample { points, labels, .. } = sample;
    Ok(match nature {
        Nature::Given => {
            let again = sample.repeated(PASSES * points.len())?;
            run(learner, &again.points, &again.labels, AsGiven::new())?
        }
        Nature::Random => run(learner, points, labels, RandomOrder::with_rng(rng))?,
        Nature::Adversarial => {
            run(learner, points, labels, SmallestMarginMistake::new(labels.clone()))?
        }
        Nature::Made => unreachable!("points are made for Winnow only"),
    })
}

fn play<P: PointSet>(
    sample: &Sample<P>,
    setting: &Configuration,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let Sample { points, labels, radius, .. } = sample;
    let target = sample.target.as_ref().ok_or("this pool has no target")?.normal();
    let margin = sample.margin.ok_or("no halfspace is known to separate this pool")?;
    let (dim, nature) = (points.dim(), setting.nature);
    match setting.learner {
        Learner::Aggressive => {
            let learner = PassiveAggressive::new(dim, Aggressiveness::Unbounded)?;
            let (_, played) = ordered(learner, sample, nature, rng)?;
            let losses = played.rounds().iter().map(|round| {
                (1.0 - round.truth.as_f64() * round.prediction.value).max(0.0).powi(2)
            });
            let losses: f64 = losses.sum();
            Ok(Outcome {
                mistakes: played.mistakes(),
                // A mistake has a loss of at least 1, so the sum of the losses is at least the number of mistakes.
                counted: losses.max(played.mistakes() as f64),
                bound: bounds::passive_aggressive_mistakes(*radius, margin),
                margin_ratio: 0.0,
            })
        }
        Learner::Alma { alpha } => {
            let (mut learner, played) = ordered(Alma::new(dim, alpha)?, sample, nature, rng)?;
            let mut mistakes = played.mistakes();
            // The margin on the points scaled to norm 1.
            let far = |x: P::Row<'_>| x.dot(target).abs() / x.norm_sq().sqrt();
            let margin = points.rows().map(far).fold(f64::INFINITY, f64::min);
            let bound = bounds::alma_corrections(alpha, margin);
            // Continues until no correction is due. A count far above the bound refutes the bound.
            let mut before = u64::MAX;
            while learner.updates() != before && learner.updates() as f64 <= 2.0 * bound {
                before = learner.updates();
                for (x, y) in points.rows().zip(labels) {
                    mistakes += usize::from(learner.observe(x, *y)?.is_wrong(*y));
                }
            }
            let weights = learner.weights();
            let length = halfspaces_linalg::norm(weights);
            let signed = points
                .rows()
                .zip(labels)
                .map(|(x, y)| y.as_f64() * x.dot(weights) / x.norm_sq().sqrt() / length);
            let promised = (1.0 - alpha) * margin;
            let least = signed.fold(f64::INFINITY, f64::min);
            Ok(Outcome {
                mistakes,
                counted: learner.updates() as f64,
                bound,
                margin_ratio: if least > 0.0 { promised / least } else { f64::MAX },
            })
        }
        Learner::SecondOrder { a } => {
            let learner = SecondOrderPerceptron::new(dim, a)?;
            let (learner, played) = match nature {
                Nature::Given => run(learner, points, labels, AsGiven::new())?,
                _ => ordered(learner, sample, nature, rng)?,
            };
            let mut quadratic = 0.0;
            for round in played.rounds().iter().filter(|r| r.prediction.is_wrong(r.truth)) {
                let x = points.row(round.index).ok_or("a round refers to no point of the pool")?;
                quadratic += x.dot(target).powi(2);
            }
            Ok(Outcome {
                mistakes: played.mistakes(),
                counted: played.mistakes() as f64,
                bound: bounds::second_order_mistakes(a, quadratic, learner.log_det(), margin),
                margin_ratio: 0.0,
            })
        }
        Learner::Winnow => unreachable!("Winnow learns disjunctions"),
    }
}

fn play_winnow(
    relevant: usize,
    variables: usize,
    nature: Nature,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let learner = Winnow::new(variables)?;
    let mistakes = if nature == Nature::Made {
        against_winnow(learner, relevant)?
    } else {
        let truth = |row: &[f64]| {
            let label = row.iter().take(relevant).any(|v| *v > 0.0);
            if label { Label::Positive } else { Label::Negative }
        };
        let rows: Vec<Vec<f64>> = (0..10 * variables)
            .map(|_| {
                (0..variables).map(|_| f64::from(u8::from(rng.random_bool(TRUE_SHARE)))).collect()
            })
            .collect();
        let labels: Vec<Label> = rows.iter().map(|row| truth(row)).collect();
        let points = Points::from_rows(&rows)?;
        let (_, played) = match nature {
            Nature::Adversarial => {
                run(learner, &points, &labels, SmallestMarginMistake::new(labels.clone()))?
            }
            _ => run(learner, &points, &labels, AsGiven::new())?,
        };
        played.mistakes()
    };
    let bound = bounds::winnow_mistakes(relevant, variables);
    Ok(Outcome { mistakes, counted: mistakes as f64, bound, margin_ratio: 0.0 })
}

/// Runs Winnow on points that are constructed from its current weights so that every prediction is wrong.
///
/// While the weights of the irrelevant variables sum to at least the threshold n, the label of the point is -1, and its
/// true variables are the heaviest irrelevant ones. It uses as few of them as are needed for their total weight to
/// reach n. The demotion halves these weights and removes about n/2. Otherwise the true variables are the lightest
/// relevant variable and irrelevant variables whose weights bring the sum to just below n, and the label is +1. The
/// promotion adds about n. One promotion therefore offsets two demotions, as in the proof of the bound.
fn against_winnow(mut learner: Winnow, relevant: usize) -> Result<usize, Failure> {
    let variables = learner.weights().len();
    let threshold = variables as f64;
    let mut mistakes = 0;
    loop {
        let weights = learner.weights();
        let mut rest: Vec<usize> = (relevant..variables).collect();
        rest.sort_by(|i, j| weights[*j].total_cmp(&weights[*i]));
        let mut x = vec![0.0; variables];
        let truth = if rest.iter().map(|i| weights[*i]).sum::<f64>() >= threshold {
            let mut sum = 0.0;
            for i in rest {
                if sum < threshold {
                    (x[i], sum) = (1.0, sum + weights[i]);
                }
            }
            Label::Negative
        } else {
            let lightest = (0..relevant).min_by(|i, j| weights[*i].total_cmp(&weights[*j]));
            let lightest = lightest.ok_or("a disjunction without variables")?;
            let mut sum = weights[lightest];
            if sum >= threshold {
                return Ok(mistakes);
            }
            x[lightest] = 1.0;
            for i in rest {
                if sum + weights[i] < threshold {
                    (x[i], sum) = (1.0, sum + weights[i]);
                }
            }
            Label::Positive
        };
        if !learner.observe(DenseRow::new(&x)?, truth)?.is_wrong(truth) {
            return Err(
                "Winnow correctly classified a point that was constructed to mislead it".into()
            );
        }
        mistakes += 1;
    }
}

impl Experiment for OtherBoundsExperiment {
    about! {
        "K10", "Passive-aggressive, Winnow, ALMA, second-order perceptron: each within the bound of its source";
        "K10": "On points of norm at most R that a unit vector separates with margin γ, the passive-aggressive learner's sum of squared hinge losses and number of mistakes are at most (R/γ)²: in given order (three passes) and in K3's other orders."
            ["Crammer et al. 2006, Theorem 2"]
            Proved, null "the bound divided by 3"
            halfspaces_online::{PassiveAggressive, SmallestMarginMistake, bounds::passive_aggressive_mistakes};
        "K11": "On points of {0,1}^n labelled by a monotone disjunction of k variables, Winnow with threshold n and factor 2 makes at most 2 + 3k(1 + lg n) mistakes: on random points and against two adversaries, one of which reaches half of the bound."
            ["Littlestone 1988, in the form with threshold n and factor 2"]
            Proved, null "the bound divided by 3"
            halfspaces_online::{Winnow, SmallestMarginMistake, bounds::winnow_mistakes};
        "K12": "On points of norm 1 that a unit vector separates with margin γ, ALMA makes at most (2/γ²)(2/α-1)² + 8/α - 4 corrections, in the orders of K10 followed by passes until no correction is due, and ends with margin at least (1-α)γ."
            ["Gentile 2001, Theorem 3"]
            Proved, null "the bound divided by 3"
            halfspaces_online::{Alma, SmallestMarginMistake, bounds::alma_corrections};
        "K13": "On points that a unit vector u separates with margin γ, the second-order perceptron makes at most (1/γ)√((a + u'Mu) ln det(I + M/a)) mistakes in one pass in each of the orders of K10, where M is the sum of x x' over the mistakes."
            ["Cesa-Bianchi, Conconi and Gentile 2005, Theorem 3.1"]
            Proved, null "the bound divided by 3"
            halfspaces_online::{SecondOrderPerceptron, SmallestMarginMistake, bounds::second_order_mistakes};
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let points = scale.pick(150, 500, 2000);
        let mut workloads = Workload::synthetic(points, &[0.4, 0.1], scale);
        let real = if scale == Scale::Smoke { vec![] } else { self.inputs.real() };
        workloads.extend(real.into_iter().map(|name| Workload::Relabelled { name, margin: 0.02 }));
        let trials = scale.pick(2, 5, 20);
        let mut plan = Vec::new();
        let mut add = |learner, data, nature, trials| {
            plan.push(Planned { configuration: Configuration { learner, data, nature }, trials });
        };
        for workload in workloads {
            for learner in [
                Learner::Aggressive,
                Learner::Alma { alpha: 0.5 },
                Learner::Alma { alpha: 0.2 },
                Learner::SecondOrder { a: 1.0 },
            ] {
                for nature in [Nature::Given, Nature::Random, Nature::Adversarial] {
                    // In every round, the adversary reads all remaining points.
                    let slow = matches!(workload, Workload::Relabelled { .. });
                    if nature == Nature::Adversarial && slow {
                        continue;
                    }
                    let trials = if workload.is_fixed() {
                        1
                    } else if slow {
                        scale.pick(0, 2, 20)
                    } else {
                        trials
                    };
                    add(learner, Data::Pool(workload.clone()), nature, trials);
                }
            }
        }
        for variables in scale.pick(vec![64], vec![64, 256], vec![64, 256, 1024]) {
            for relevant in [1, 3] {
                for nature in [Nature::Random, Nature::Adversarial, Nature::Made] {
                    let trials = if nature == Nature::Made { 1 } else { trials };
                    add(Learner::Winnow, Data::Disjunction { relevant, variables }, nature, trials);
                }
            }
        }
        Ok(plan)
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        match &setting.data {
            Data::Pool(workload) => {
                of_either!(&self.inputs.pool(workload, rng)?, sample => play(sample, setting, rng))
            }
            Data::Disjunction { relevant, variables } => {
                play_winnow(*relevant, *variables, setting.nature, rng)
            }
        }
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let judged = |claim: usize, quantity: &str| {
            let mine = groups_of(results, |c| c.learner.claim() == claim);
            let ratios: Vec<f64> = mine.iter().flat_map(|g| g.values(Outcome::ratio)).collect();
            let evidence = Evidence::deterministic(quantity, Side::AtMost, planned(&mine), &ratios);
            (evidence, Null::SmallerBound)
        };
        let evidence = [
            judged(0, "of squared losses and mistakes / (R/γ)²"),
            judged(1, "mistakes / bound"),
            judged(2, "of corrections / bound and guaranteed margin / output margin"),
            judged(3, "mistakes / bound"),
        ];
        judge_all(section, Experiment::claims(self), evidence);
        section.summary.push("Three of the learners run on the pools of K3 to K5. One of these pools is the negative basis, on which every order leads to d corrections. So the bound of the passive-aggressive learner is attained, and that of the second-order perceptron up to a factor of √(2 ln 2) = 1.18. Winnow learns disjunctions of a few out of many variables. Its strongest opponent constructs each point from the current weights: a promotion of one relevant variable promotes as many irrelevant ones as possible, and two demotions undo these promotions.".into());
        section.figures.push(counted_against_bound(results));
        section.tables.push(by_configuration(results));
    }
}

fn counted_against_bound(results: &Results<Configuration, Outcome>) -> Figure {
    // Logarithmic axes cannot show a trial without mistakes.
    let pair = |o: &Outcome| (o.counted > 0.0).then_some((o.bound, o.counted));
    let series = [0, 1, 2, 3].map(|claim| {
        let (name, colour) = SERIES[claim];
        (name.to_owned(), colour, move |c: &Configuration| c.learner.claim() == claim)
    });
    Figure {
        name: "k10-counted-against-bound".into(),
        title: bound_title(results, "Mistakes, losses and corrections", pair),
        caption: "Mistakes (Winnow, second-order perceptron), squared losses (passive-aggressive) and corrections (ALMA) against the bound. There is one marker per kind of data, order and learner; it shows the trial closest to its bound. A marker above the dashed line would refute a claim.".into(),
        x: Axis::log("bound"),
        y: Axis::log("mistakes, losses or corrections"),
        layers: against_bound(results, "bound", series, pair),
    }
}

fn by_configuration(results: &Results<Configuration, Outcome>) -> Table {
    let caption = "Medians and worst ratio over trials";
    table(
        "k10-other-bounds",
        caption,
        &results.groups,
        &[
            ("learner", &|g| g.configuration.learner.to_string()),
            ("data", &|g| g.configuration.data.to_string()),
            ("order", &|g| g.configuration.nature.to_string()),
            ("trials", &|g| g.count()),
            ("mistakes", &|g| g.median(1, |o| o.mistakes as f64)),
            ("counted", &|g| g.median(1, |o| o.counted)),
            ("bound", &|g| g.median(1, |o| o.bound)),
            ("worst ratio", &|g| g.most(4, Outcome::ratio)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Real trials on the instances that nearly attain the bounds. Each bound holds, and each trial refutes a bound
    /// reduced by more than the slack.
    #[test]
    fn the_bounds_are_nearly_attained() {
        let experiment = OtherBoundsExperiment { inputs: Arc::new(Inputs::builtin()) };
        let tight = || Data::Pool(Workload::Tight { dim: 25 });
        let disjunction = Data::Disjunction { relevant: 1, variables: 64 };
        for (learner, data, nature, counted, share) in [
            (Learner::Aggressive, tight(), Nature::Given, 25.0, 0.999),
            (Learner::Winnow, disjunction, Nature::Made, 16.0, 0.69),
            (Learner::Alma { alpha: 0.5 }, tight(), Nature::Given, 304.0, 0.65),
            (Learner::SecondOrder { a: 1.0 }, tight(), Nature::Given, 25.0, 0.84),
        ] {
            let configuration = Configuration { learner, data, nature };
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let outcome = experiment.trial(&configuration, &mut rng).unwrap();
            assert_eq!(outcome.counted, counted, "{learner}");
            assert!(outcome.ratio() > share && outcome.ratio() <= 1.0 + 1e-9, "{learner}");
            let verdict = |outcome: Outcome| {
                let configuration = configuration.clone();
                let group = Group { configuration, planned: 1, outcomes: vec![outcome] };
                verdicts(&experiment, vec![group])[learner.claim()]
            };
            assert_eq!(verdict(outcome.clone()), Verdict::Holds);
            let smaller = Outcome { bound: outcome.bound * 0.99 * share, ..outcome.clone() };
            assert_eq!(verdict(smaller), Verdict::Violated);
            let thin = Outcome { margin_ratio: 1.01, ..outcome };
            assert_eq!(verdict(thin), Verdict::Violated);
        }
    }

    #[test]
    fn other_orders_are_within_the_bounds_too() {
        let experiment = OtherBoundsExperiment { inputs: Arc::new(Inputs::builtin()) };
        let ball = || Data::Pool(Workload::Ball { dim: 5, points: 60, margin: 0.1 });
        let disjunction = || Data::Disjunction { relevant: 3, variables: 32 };
        for learner in [Learner::Aggressive, Learner::Winnow, Learner::Alma { alpha: 0.5 }] {
            for nature in [Nature::Random, Nature::Adversarial] {
                let data = if learner == Learner::Winnow { disjunction() } else { ball() };
                let configuration = Configuration { learner, data, nature };
                let mut rng = ChaCha8Rng::seed_from_u64(1);
                let outcome = experiment.trial(&configuration, &mut rng).unwrap();
                assert!(outcome.mistakes > 0 && outcome.ratio() <= 1.0, "{learner}: {outcome:?}");
            }
        }
    }
}
