//! S6: on the sphere, every learner in random order makes at least 0.3 d ln(n/d) mistakes.

use crate::experiments::common::*;
use halfspaces_data::{Marginal, UnitSphere, random_target_with_rng};
use halfspaces_linalg::{Classifier, DenseRow, Label, Points};
use halfspaces_online::{
    Aggressiveness, Alma, CentreOfGravity, Greedy, ModifiedPerceptron, OnlineLearner,
    PassiveAggressive, Perceptron, SecondOrderPerceptron, VersionSpace,
};

pub(crate) struct RandomOrderExperiment;

/// The constant of the lower bound as it is tested (DKTZ23 proves some constant).
const SHARE: f64 = 0.3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Display)]
#[serde(rename_all = "lowercase")]
enum Learner {
    #[strum(to_string = "perceptron")]
    Perceptron,
    #[strum(to_string = "modified perceptron, σ=0")]
    Modified,
    #[strum(to_string = "passive-aggressive")]
    Aggressive,
    #[strum(to_string = "second-order perceptron")]
    SecondOrder,
    #[strum(to_string = "ALMA, α=1/2")]
    Alma,
    #[strum(to_string = "centre of gravity")]
    Gravity,
    /// The null, which chooses its order.
    #[strum(to_string = "greedy, in its own order")]
    Greedy,
}

const LEARNERS: [(Learner, Colour); 6] = [
    (Learner::Perceptron, Colour::Blue),
    (Learner::Modified, Colour::Sky),
    (Learner::Aggressive, Colour::Purple),
    (Learner::SecondOrder, Colour::Orange),
    (Learner::Alma, Colour::Vermilion),
    (Learner::Gravity, Colour::Green),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    dim: usize,
    learner: Learner,
    /// Numbers of points at which mistakes are counted.
    checkpoints: Vec<usize>,
}

/// Mistakes at each checkpoint.
pub(crate) type Outcome = Vec<u64>;

/// d ln(n/d), the growth of the bound.
fn growth(dim: usize, points: usize) -> f64 {
    dim as f64 * (points as f64 / dim as f64).ln()
}

/// A random order of points on the sphere is a stream of independent ones.
fn stream<L: OnlineLearner>(
    mut learner: L,
    setting: &Configuration,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let sphere = UnitSphere::new(setting.dim)?;
    let target = random_target_with_rng(setting.dim, rng)?;
    let mut x = vec![0.0; setting.dim];
    let (mut asked, mut mistakes) = (0, 0);
    let mut counts = Vec::with_capacity(setting.checkpoints.len());
    for &checkpoint in &setting.checkpoints {
        while asked < checkpoint {
            sphere.sample_into(rng, &mut x);
            let row = DenseRow::new(&x)?;
            let truth = target.label(row)?;
            // With σ = 0 the modified perceptron abstains at 0 only, which has probability 0.
            let prediction = learner.guess(row)?;
            learner.update(row, prediction, truth)?;
            mistakes += u64::from(prediction.is_wrong(truth));
            asked += 1;
        }
        counts.push(mistakes);
    }
    Ok(counts)
}

impl Experiment for RandomOrderExperiment {
    about! {
        "S6", "Random order: every learner tested makes at least 0.3 d ln(n/d) mistakes on the sphere";
        "S6": "On n uniform points of the sphere in random order, labelled by a uniformly random halfspace, six online learners (perceptron, modified perceptron, passive-aggressive, second-order perceptron, ALMA, centre of gravity) make each at least 0.3 d ln(n/d) mistakes in expectation, at every n tested from 10 d on. So a learner that stops after 1 % of n >= 1000 d points has made 0.3 d ln(0.01 n/d), the logarithm being of the points it has seen."
            ["DKTZ23, random-order lower bound; evidence, not proof, and the constant is ours"]
            Measured, null "greedy, which chooses its order, on pools of the same kind"
            halfspaces_online::{Perceptron, ModifiedPerceptron, PassiveAggressive,
                SecondOrderPerceptron, Alma, VersionSpace, CentreOfGravity};
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let longest = scale.pick(10_000, 1_000_000, 1_000_000);
        let mut plan = Vec::new();
        for dim in scale.pick(vec![3, 10], vec![3, 10, 30], vec![3, 10, 30]) {
            for (learner, _) in LEARNERS {
                // O(d²) or a sample a round: shorter streams, as far as a figure needs.
                let last = match learner {
                    Learner::Gravity => scale.pick(1000, 10_000, 100_000),
                    Learner::SecondOrder => longest.min(100_000),
                    _ => longest,
                };
                // Counts in few dimensions are small and scatter most, and cost least.
                let trials = match dim {
                    3 => scale.pick(60, 100, 200),
                    10 => scale.pick(16, 32, 60),
                    _ if learner == Learner::Gravity => scale.pick(4, 6, 12),
                    _ => scale.pick(6, 12, 20),
                };
                // Half decades from 10 d on.
                let checkpoints = (2..=12)
                    .map(|half| 10f64.powf(f64::from(half) / 2.0).round() as usize)
                    .filter(|n| (10 * dim..=last).contains(n))
                    .collect();
                let configuration = Configuration { dim, learner, checkpoints };
                plan.push(Planned { configuration, trials });
            }
        }
        // On fewer points the bound is below what choosing the order saves.
        for (dim, last) in scale.pick(
            vec![(3, 10_000)],
            vec![(3, 10_000), (10, 100_000)],
            vec![(3, 10_000), (10, 100_000)],
        ) {
            let (learner, checkpoints) = (Learner::Greedy, vec![last]);
            let configuration = Configuration { dim, learner, checkpoints };
            plan.push(Planned { configuration, trials: scale.pick(6, 12, 20) });
        }
        Ok(plan)
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        let d = setting.dim;
        match setting.learner {
            Learner::Perceptron => stream(Perceptron::new(d)?, setting, rng),
            Learner::Modified => {
                let learner = ModifiedPerceptron::with_rng(d, 0.0, rng)?;
                stream(learner, setting, rng)
            }
            Learner::Aggressive => {
                stream(PassiveAggressive::new(d, Aggressiveness::Unbounded)?, setting, rng)
            }
            Learner::SecondOrder => stream(SecondOrderPerceptron::new(d, 1.0)?, setting, rng),
            Learner::Alma => stream(Alma::new(d, 0.5)?, setting, rng),
            Learner::Gravity => {
                let centre = CentreOfGravity::new(d, rng.random())?;
                stream(VersionSpace::new(centre), setting, rng)
            }
            Learner::Greedy => {
                let target = random_target_with_rng(d, rng)?;
                let all =
                    UnitSphere::new(d)?.sample_with_rng(largest(&setting.checkpoints)?, rng)?;
                let pools = nested(&all, &target, &setting.checkpoints)?;
                let play = |(points, labels): &(Points, Vec<Label>)| -> Result<u64, Failure> {
                    Ok(Greedy::simulate(points, labels)?.mistakes.len() as u64)
                };
                pools.iter().map(play).collect()
            }
        }
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let mut judged = Vec::new();
        for group in groups_of(results, |c| c.learner != Learner::Greedy) {
            let Configuration { dim, learner, checkpoints } = &group.configuration;
            for (at, n) in checkpoints.iter().enumerate() {
                let counts = group.outcomes.iter().map(|o| o[at]);
                let missing: Vec<f64> =
                    counts.map(|m| SHARE - m as f64 / growth(*dim, *n)).collect();
                let quantity = "mean of 0.3 - mistakes / (d ln(n/d))";
                let evidence = Evidence::mean(quantity, group.planned, &missing, 0.0);
                judged.push((format!("{learner}, d={dim}, n={n}"), evidence));
            }
        }
        let trials = results.groups.iter().map(|g| g.outcomes.len()).sum();
        let evidence = Evidence { trials, ..Evidence::worst_of(&judged) };
        let chosen = groups_of(results, |c| c.learner == Learner::Greedy);
        let null = null_of(chosen, |c, counts| {
            let mut mistakes = counts.iter().zip(&c.checkpoints);
            mistakes.any(|(m, n)| (*m as f64) < SHARE * growth(c.dim, *n))
        });
        judge_all(section, Experiment::claims(self), [(evidence, null)]);
        section.summary.push("A random order of points on the sphere is a stream of independent points, so one run gives the mistakes at every n, and its first hundredth is the run that stops after 1 % of the points. The bound is tested for each learner, dimension and n apart; the worst decides. One slope per ln n is fitted per trial.".into());
        for dim in [30, 10, 3] {
            if results.groups.iter().any(|g| g.configuration.dim == dim) {
                section.figures.push(figure(results, dim));
            }
        }
        section.tables.push(slopes(results));
    }
}

fn figure(results: &Results<Configuration, Outcome>, dim: usize) -> Figure {
    let mut layers = Vec::new();
    for (learner, colour) in LEARNERS {
        let pairs = results
            .outcomes()
            .filter(|(c, _)| c.dim == dim && c.learner == learner)
            .flat_map(|(c, o)| c.checkpoints.iter().zip(o).map(|(n, m)| (*n as f64, *m as f64)));
        layers.extend(median_curve(&learner.to_string(), colour, pairs.collect()));
    }
    let mut longest: &[usize] = &[];
    for group in groups_of(results, |c| c.dim == dim) {
        if group.configuration.checkpoints.len() > longest.len() {
            longest = &group.configuration.checkpoints;
        }
    }
    let bound = longest.iter().map(|n| (*n as f64, SHARE * growth(dim, *n))).collect();
    layers.push(dashed("0.3 d ln(n/d)", Colour::Ink, bound));
    Figure {
        name: format!("s6-random-order-d{dim}"),
        title: "In random order no learner escapes the logarithm".into(),
        caption: format!(
            "Mistakes in random order on the sphere of R^{dim}, medians over trials with 10 % and 90 % quantiles, and the lower bound that is tested (dashed). The modified perceptron and the centre of gravity grow with ln n as the bound does; the others, whose updates do not shrink with the angle to the target, grow with a power of n."
        ),
        x: Axis::log("points n"),
        y: Axis::log("mistakes"),
        layers,
    }
}

fn slopes(results: &Results<Configuration, Outcome>) -> Table {
    let slopes = |g: &Group<Configuration, Outcome>| {
        let logs: Vec<f64> = g.configuration.checkpoints.iter().map(|n| (*n as f64).ln()).collect();
        let slope = |o: &Outcome| {
            let counts: Vec<f64> = o.iter().map(|m| *m as f64).collect();
            stats::slope(&logs, &counts).map(|s| s / g.configuration.dim as f64)
        };
        mean_cells(&g.values(slope), 3)
    };
    let rows = results.groups.iter().map(|g| (g, slopes(g)));
    table(
        "s6-random-order",
        "Mistakes at the last n, and growth",
        rows,
        &[
            ("d", &|(g, _)| g.configuration.dim.to_string()),
            ("learner", &|(g, _)| g.configuration.learner.to_string()),
            ("trials", &|(g, _)| g.count()),
            ("n up to", &|(g, _)| {
                g.configuration.checkpoints.last().map_or_else(String::new, ToString::to_string)
            }),
            ("mistakes", &|(g, _)| g.median(1, |o| o.last().map(|m| *m as f64))),
            ("slope per ln n / d", &|(_, [slope, _])| slope.clone()),
            ("95 % interval", &|(_, [_, interval])| interval.clone()),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_learner_below_the_bound_violates_the_claim() {
        let configuration = Configuration {
            dim: 10,
            learner: Learner::Perceptron,
            checkpoints: vec![1000, 10_000],
        };
        let verdict = |counts: [u64; 2]| {
            let one_more = vec![counts[0] + 1, counts[1] + 1];
            let outcomes: Vec<Outcome> = [vec![counts.to_vec(); 3], vec![one_more; 3]].concat();
            let group = Group { configuration: configuration.clone(), planned: 6, outcomes };
            verdicts(&RandomOrderExperiment, vec![group])[0]
        };
        // 0.3 · 10 · ln 100 = 13.8 and 0.3 · 10 · ln 1000 = 20.7.
        assert_eq!(verdict([15, 23]), Verdict::Holds);
        assert_eq!(verdict([15, 15]), Verdict::Violated);
        assert_eq!(verdict([5, 23]), Verdict::Violated);
    }
    /// A planted wrong claim: real runs of the centre of gravity, held to three times the bound.
    #[test]
    fn three_times_the_bound_is_refuted() {
        let configuration =
            Configuration { dim: 3, learner: Learner::Gravity, checkpoints: vec![100, 316] };
        let outcomes: Vec<Outcome> = (0..30)
            .map(|seed| {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                RandomOrderExperiment.trial(&configuration, &mut rng).unwrap()
            })
            .collect();
        let verdict = |share: u64| {
            let third = |o: &Outcome| o.iter().map(|m| m / share).collect();
            let outcomes = outcomes.iter().map(third).collect();
            let group = Group { configuration: configuration.clone(), planned: 30, outcomes };
            verdicts(&RandomOrderExperiment, vec![group])[0]
        };
        assert_eq!(verdict(1), Verdict::Holds);
        assert_eq!(verdict(3), Verdict::Violated);
    }
}
