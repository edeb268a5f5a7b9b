//! S6, S6b: lower bounds in random order on the sphere. Every tested mistake-driven learner makes at least 0.5 d
//! ln(n/d) mistakes, and a learner that uses every label makes at least 0.2 d ln(n/d).

use crate::experiments::common::*;
use halfspaces_data::{Marginal, UnitSphere, random_target_with_rng};
use halfspaces_linalg::{Classifier, DenseRow, Label, Points};
use halfspaces_online::{
    Aggressiveness, Alma, BayesPoint, CentreOfGravity, Ellipsoid, HardMargin, Horizon,
    MassartSetting, ModifiedPerceptron, OnlineLearner, OnlineMassart, PassiveAggressive,
    Perceptron, SecondOrderPerceptron, VersionSpace, VersionSpaceGreedy, VolumetricCentre,
    label_pool,
};

pub(crate) struct RandomOrderExperiment;

/// The constant of the lower bound that is tested for mistake-driven learners. DKTZ23 proves that some constant exists.
const SHARE: f64 = 0.5;
/// Smallest number of points per dimension at which the lower bound is tested.
const FROM: usize = 100;
/// The constant of the lower bound for all learners.
const SHARE_OF_ALL: f64 = 0.2;
/// The margin parameter of the online Massart learner, whose noise rate is 0.
const TOLD_MARGIN: f64 = 0.1;

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
    #[strum(to_string = "ellipsoid")]
    Ellipsoid,
    #[strum(to_string = "volumetric centre")]
    Volumetric,
    #[strum(to_string = "hard margin")]
    HardMargin,
    #[strum(to_string = "online Massart, η=0")]
    Massart,
    /// A learner that also updates on correct predictions.
    #[strum(to_string = "Bayes point")]
    BayesPoint,
    /// The null of S6b, a learner that chooses the order of the points.
    #[strum(to_string = "version-space greedy, in its own order")]
    Greedy,
}

impl Learner {
    /// Whether the learner updates on mistakes only.
    fn is_mistake_driven(self) -> bool {
        !matches!(self, Learner::BayesPoint | Learner::Greedy)
    }
}

/// Every learner in random order; those with a colour appear in the figures.
const LEARNERS: [(Learner, Option<Colour>); 11] = [
    (Learner::Perceptron, Some(Colour::Blue)),
    (Learner::Modified, Some(Colour::Sky)),
    (Learner::Aggressive, None),
    (Learner::SecondOrder, Some(Colour::Orange)),
    (Learner::Alma, None),
    (Learner::Gravity, Some(Colour::Green)),
    (Learner::Ellipsoid, None),
    (Learner::Volumetric, None),
    (Learner::HardMargin, Some(Colour::Vermilion)),
    (Learner::Massart, None),
    (Learner::BayesPoint, Some(Colour::Purple)),
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

/// d ln(n/d), the growth rate of the bound.
fn growth(dim: usize, points: usize) -> f64 {
    dim as f64 * (points as f64 / dim as f64).ln()
}

/// Runs a learner on a stream of independent points on the sphere. Such points are in random order.
fn stream<L: OnlineLearner>(
    mut learner: L,
    setting: &Configuration,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let sphere = UnitSphere::new(setting.dim)?;
    let target = random_target_with_rng(setting.dim, rng)?;
    let mut x = vec![0.0; setting.dim];
    let (mut seen, mut mistakes) = (0, 0);
    let mut counts = Vec::with_capacity(setting.checkpoints.len());
    for &checkpoint in &setting.checkpoints {
        while seen < checkpoint {
            sphere.sample_into(rng, &mut x);
            let row = DenseRow::new(&x)?;
            let truth = target.label(row)?;
            // With σ = 0 the modified perceptron abstains only at w·x = 0, which has probability 0.
            let prediction = learner.guess(row)?;
            learner.update(row, prediction, truth)?;
            mistakes += u64::from(prediction.is_wrong(truth));
            seen += 1;
        }
        counts.push(mistakes);
    }
    Ok(counts)
}

impl Experiment for RandomOrderExperiment {
    about! {
        "S6", "In random order, every tested learner makes at least order d ln n mistakes on the sphere";
        "S6": "On n >= 100 d uniform points on the sphere in random order, labelled by a random halfspace, each of ten learners that update only on mistakes makes at least 0.5 d ln(n/d) mistakes in expectation. Tested for d = 3, 10 and, beyond smoke scale, 30; n up to 10^6 (smoke: 10^4, standard: 10^5)."
            ["DKTZ23 §1, random order; the constant is measured; S14 states what is proved for every learner"]
            Measured, null "the Bayes point, which learns from every label, on streams of the same kind"
            halfspaces_online::{Perceptron, ModifiedPerceptron, PassiveAggressive,
                SecondOrderPerceptron, Alma, OnlineMassart, VersionSpace, CentreOfGravity,
                VolumetricCentre, HardMargin},
            halfspaces_linalg::{Ellipsoid};
        "S6b": "On the points of S6 in random order, every learner of S6 and the Bayes point, which learns from every label, makes at least 0.2 d ln(n/d) mistakes in expectation, at every tested n of at least 10 d."
            ["DKTZ23 §1, random order; the constant is measured; S14 and S14o state what is proved"]
            Measured, null "version-space greedy, which chooses the order, on pools of the same kind"
            halfspaces_online::{BayesPoint, VersionSpace, CentreOfGravity};
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let longest = scale.pick(10_000, 100_000, 1_000_000);
        let mut plan = Vec::new();
        for dim in scale.pick(vec![3, 10], vec![3, 10, 30], vec![3, 10, 30]) {
            for (learner, _) in LEARNERS {
                // Learners that take O(d²) time or draw a sample in every round get shorter streams, which are long
                // enough for the figure.
                let last = match learner {
                    Learner::Gravity => scale.pick(1000, 10_000, 100_000),
                    Learner::BayesPoint if dim == 30 => scale.pick(1000, 1000, 10_000),
                    Learner::HardMargin if dim == 30 => scale.pick(1000, 3163, 1_000_000),
                    Learner::BayesPoint => scale.pick(1000, 10_000, 100_000),
                    Learner::SecondOrder => longest.min(100_000),
                    _ => longest,
                };
                // Counts in few dimensions are small and vary most, and the trials are cheap.
                let trials = match dim {
                    3 => scale.pick(60, 60, 200),
                    10 => scale.pick(16, 32, 60),
                    _ if matches!(learner, Learner::Gravity | Learner::BayesPoint) => {
                        scale.pick(4, 6, 12)
                    }
                    _ => scale.pick(6, 12, 20),
                };
                // Checkpoints are half a decade apart and start at 10 d.
                let checkpoints = (2..=12)
                    .map(|half| 10f64.powf(f64::from(half) / 2.0).round() as usize)
                    .filter(|n| (10 * dim..=last).contains(n))
                    .collect();
                let configuration = Configuration { dim, learner, checkpoints };
                plan.push(Planned { configuration, trials });
            }
        }
        // On fewer points, choosing the order does not save enough mistakes to bring the count below the bound.
        for dim in scale.pick(vec![3], vec![3, 10], vec![3, 10]) {
            let (learner, checkpoints) = (Learner::Greedy, vec![100_000]);
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
            Learner::Ellipsoid => stream(VersionSpace::new(Ellipsoid::new(d)?), setting, rng),
            Learner::Volumetric => {
                stream(VersionSpace::new(VolumetricCentre::new(d)?), setting, rng)
            }
            Learner::HardMargin => stream(VersionSpace::new(HardMargin::new(d)?), setting, rng),
            Learner::Massart => {
                let learner = OnlineMassart::new(
                    d,
                    MassartSetting { noise: 0.0, margin: TOLD_MARGIN },
                    Horizon::Anytime,
                )?;
                stream(learner, setting, rng)
            }
            Learner::BayesPoint => stream(BayesPoint::new(d, rng.random())?, setting, rng),
            Learner::Greedy => {
                let target = random_target_with_rng(d, rng)?;
                let all =
                    UnitSphere::new(d)?.sample_with_rng(largest(&setting.checkpoints)?, rng)?;
                let pools = nested(&all, &target, &setting.checkpoints)?;
                let play = |(points, labels): &(Points, Vec<Label>)| -> Result<u64, Failure> {
                    let learner = VersionSpaceGreedy::new(HardMargin::new(d)?);
                    Ok(label_pool(learner, points, labels)?.1.mistakes() as u64)
                };
                pools.iter().map(play).collect()
            }
        }
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let at_least = |share: f64, from: usize, mine: &dyn Fn(Learner) -> bool| {
            let mut judged = Vec::new();
            for group in groups_of(results, |c| mine(c.learner)) {
                let Configuration { dim, learner, checkpoints } = &group.configuration;
                for (at, n) in checkpoints.iter().enumerate().filter(|(_, n)| **n >= from * dim) {
                    let counts = group.outcomes.iter().map(|o| o[at]);
                    let shares: Vec<f64> = counts.map(|m| m as f64 / growth(*dim, *n)).collect();
                    let quantity = "mistakes / (d ln(n/d))";
                    let evidence = Evidence::mean_at_least(quantity, group.planned, &shares, share);
                    judged.push((format!("{learner}, d={dim}, n={n}"), evidence));
                }
            }
            let groups = groups_of(results, |c| mine(c.learner));
            let trials = groups.iter().map(|g| g.outcomes.len()).sum();
            Evidence { trials, ..Evidence::worst_of(&judged) }
        };
        let below = |share: f64, from: usize, learner: Learner| {
            // The claim does not apply to a setting with too few points.
            let reached = |c: &Configuration| c.checkpoints.iter().any(|n| *n >= from * c.dim);
            let groups = groups_of(results, |c| c.learner == learner && reached(c));
            // A null fails in a trial if it makes fewer mistakes than the bound at the largest n.
            null_of(groups, |c, counts| {
                let Some((m, n)) = counts.iter().zip(&c.checkpoints).next_back() else {
                    unreachable!("every setting has checkpoints")
                };
                (*m as f64) < share * growth(c.dim, *n)
            })
        };
        let judged = [
            (
                at_least(SHARE, FROM, &Learner::is_mistake_driven).with_note(
                    "changed: in earlier versions the constant was 0.3, for six of these learners",
                ),
                below(SHARE, FROM, Learner::BayesPoint),
            ),
            (
                at_least(SHARE_OF_ALL, 10, &|learner| learner != Learner::Greedy),
                below(SHARE_OF_ALL, 10, Learner::Greedy),
            ),
        ];
        judge_all(section, Experiment::claims(self), judged);
        section.summary.push("A random order of points on the sphere is a stream of independent points, so one run gives the mistakes at every n. A learner that stops after 1 % of n >= 10^4 d points has therefore made at least 0.5 d ln(0.01 n/d) mistakes: what matters is the number of points that it has seen. The ten learners of S6 are the perceptron, the modified perceptron, the passive-aggressive learner, the second-order perceptron, ALMA, online Massart, and the version-space learners with the centre of gravity, the ellipsoid, the volumetric centre and the hard-margin hypothesis. The bound is tested separately for each learner, dimension and n; the worst case decides. In each trial, one slope of the mistakes against ln n is fitted.".into());
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
    for (learner, colour) in LEARNERS.into_iter().filter_map(|(l, c)| Some((l, c?))) {
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
    for share in [SHARE, SHARE_OF_ALL] {
        let bound = longest.iter().map(|n| (*n as f64, share * growth(dim, *n))).collect();
        layers.push(dashed(&format!("{share} d ln(n/d)"), Colour::Ink, bound));
    }
    Figure {
        name: format!("s6-random-order-d{dim}"),
        title: format!("In random order, mistakes grow at least with ln n (d = {dim})"),
        caption: format!(
            "Mistakes in random order on the sphere of R^{dim}: medians over trials with 10 % and 90 % quantiles, and the tested lower bounds (dashed; the higher one is for mistake-driven learners, the lower one for all learners). The mistakes of the modified perceptron and of the version-space learners grow like ln n, as the bounds do. The updates of the others do not shrink with the angle to the target, and their mistakes grow like a power of n. The table lists every learner."
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
        "Mistakes at the largest n, and their growth",
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
    fn a_learner_below_a_bound_violates_its_claim() {
        let verdict = |learner: Learner, counts: [u64; 3]| {
            let configuration =
                Configuration { dim: 10, learner, checkpoints: vec![100, 1000, 10_000] };
            let one_more = counts.map(|m| m + 1).to_vec();
            let outcomes: Vec<Outcome> = [vec![counts.to_vec(); 3], vec![one_more; 3]].concat();
            let group = Group { configuration, planned: 6, outcomes };
            let found = verdicts(&RandomOrderExperiment, vec![group]);
            [found[0], found[1]]
        };
        use Verdict::{Holds, Violated};
        // d ln(n/d) is 23.03, 46.05 and 69.08. Half of it is 23.03 and 34.54 for n of at least 100 d; a fifth is 4.61,
        // 9.21 and 13.82.
        assert_eq!(verdict(Learner::Perceptron, [5, 24, 35]), [Holds, Holds]);
        assert_eq!(verdict(Learner::Perceptron, [5, 15, 35]), [Violated, Holds]);
        assert_eq!(verdict(Learner::Perceptron, [5, 24, 25]), [Violated, Holds]);
        assert_eq!(verdict(Learner::Perceptron, [0, 24, 35]), [Holds, Violated]);
        assert_eq!(verdict(Learner::Gravity, [5, 24, 8]), [Violated, Violated]);
        // The Bayes point is judged by the lower bound only.
        assert_eq!(verdict(Learner::BayesPoint, [5, 10, 14])[1], Holds);
        assert_eq!(verdict(Learner::BayesPoint, [5, 4, 14])[1], Violated);
    }

    /// A planted wrong claim: real runs of the centre of gravity with a fifth of their mistakes.
    #[test]
    fn a_fifth_of_the_mistakes_is_refuted() {
        let configuration =
            Configuration { dim: 3, learner: Learner::Gravity, checkpoints: vec![300, 1000] };
        let outcomes: Vec<Outcome> = (0..30)
            .map(|seed| {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                RandomOrderExperiment.trial(&configuration, &mut rng).unwrap()
            })
            .collect();
        let verdict = |share: u64| {
            let part = |o: &Outcome| o.iter().map(|m| m / share).collect();
            let outcomes = outcomes.iter().map(part).collect();
            let group = Group { configuration: configuration.clone(), planned: 30, outcomes };
            let found = verdicts(&RandomOrderExperiment, vec![group]);
            [found[0], found[1]]
        };
        assert_eq!(verdict(1), [Verdict::Holds; 2]);
        assert_eq!(verdict(5), [Verdict::Violated; 2]);
    }
}
