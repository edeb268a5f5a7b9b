//! K6: the kernel perceptron with the linear kernel makes the same predictions as the perceptron. With any kernel, it
//! makes at most max K(x,x)/γ² mistakes on points that are separable with margin γ in feature space.

use crate::experiments::common::*;
use halfspaces_data::{Builtin, Marginal, UnitSphere, random_target_with_rng};
use halfspaces_linalg::{Classifier, Label, PointSet, Points};
use halfspaces_online::{
    AsGiven, Kernel, KernelPerceptron, Perceptron, RandomOrder, SmallestMarginMistake, bounds, run,
};

pub(crate) struct KernelExperiment;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "part", rename_all = "lowercase")]
pub(crate) enum Configuration {
    /// Integer points in {-3..3}^d labelled by a random halfspace, with a fraction of the labels flipped.
    Integers { dim: usize, points: usize, flipped: f64 },
    /// The one-hot mushroom data with their own labels, in random order.
    Mushroom,
    /// Points labelled by a separator in feature space, Σ a_j φ(z_j) over a few anchors z_j. Points at which the
    /// absolute value of the separator is less than a tenth of its mean are dropped.
    Feature { kernel: &'static str, dim: usize, points: usize, adversarial: bool },
    /// Points so far apart that the matrix of the Gaussian kernel is the identity, all labelled -1. The bound is
    /// attained.
    Identity { points: usize },
}

/// The kernels by name.
const KERNELS: [(&str, Kernel, Colour); 4] = [
    ("linear", Kernel::Linear, Colour::Blue),
    ("quadratic", Kernel::Polynomial { degree: 2 }, Colour::Green),
    ("cubic, inhomogeneous", Kernel::Inhomogeneous { degree: 3 }, Colour::Purple),
    ("gaussian", Kernel::Gaussian { scale: 1.0 }, Colour::Vermilion),
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    rounds: usize,
    mistakes: usize,
    /// Number of rounds in which the perceptron and the linear kernel perceptron differ.
    differing: Option<usize>,
    bound: Option<f64>,
}

impl Outcome {
    fn ratio(&self) -> f64 {
        match (self.differing, self.bound) {
            (Some(0), _) => 0.0,
            (Some(_), _) => f64::INFINITY,
            (None, Some(bound)) => self.mistakes as f64 / bound,
            (None, None) => f64::NAN,
        }
    }
}

/// Runs the learner on points on a line, at multiples of 100. Their kernel values are at most exp(-½ 10⁴), which is 0
/// in `f64`. All labels are -1, and every prediction is the sign of a sum of zeros, which is +1. The learner therefore
/// makes a mistake in every round. The vector Σ_i -φ(x_i)/√n separates the points with margin 1/√n.
fn identity(count: usize) -> Result<Outcome, Failure> {
    let points = Points::new((0..count).map(|i| 100.0 * i as f64).collect(), 1)?;
    let learner = KernelPerceptron::new(1, Kernel::Gaussian { scale: 1.0 })?;
    let (_, transcript) = run(learner, &points, &vec![Label::Negative; count], AsGiven::new())?;
    let margin = 1.0 / (count as f64).sqrt();
    Ok(Outcome {
        rounds: transcript.len(),
        mistakes: transcript.mistakes(),
        differing: None,
        bound: Some(bounds::kernel_perceptron_mistakes(1.0, margin)),
    })
}

/// Runs the perceptron and the linear kernel perceptron on the points in the same order and compares every round.
fn same_game(points: &Points, labels: &[Label], rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
    let (n, d) = (points.len(), points.dim());
    let order = RandomOrder::with_rng(rng);
    let (_, plain) = run(Perceptron::new(d)?, points, labels, order.clone())?;
    let (_, kernel) = run(KernelPerceptron::new(d, Kernel::Linear)?, points, labels, order)?;
    let differ = plain.rounds().iter().zip(kernel.rounds()).filter(|(a, b)| a != b).count();
    let differing = differ + plain.len().abs_diff(kernel.len());
    Ok(Outcome { rounds: n, mistakes: plain.mistakes(), differing: Some(differing), bound: None })
}

fn in_feature_space(
    kernel: Kernel,
    (dim, count): (usize, usize),
    adversarial: bool,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let sphere = UnitSphere::new(dim)?;
    let anchors = sphere.sample_with_rng(6, rng)?;
    let weights: Vec<f64> = (0..anchors.len()).map(|_| rng.random_range(-1.0..1.0)).collect();
    // w* = Σ a_j φ(z_j): w*·φ(x) = Σ a_j K(z_j, x), ‖w*‖² = Σ a_i a_j K(z_i, z_j).
    let value = |x: &[f64]| -> Result<f64, Failure> {
        let mut sum = 0.0;
        for (z, a) in anchors.rows().zip(&weights) {
            sum += a * kernel.value(z, x)?;
        }
        Ok(sum)
    };
    let mut norm_sq = 0.0;
    for (z, a) in anchors.rows().zip(&weights) {
        norm_sq += a * value(z.as_slice())?;
    }
    let all = sphere.sample_with_rng(count, rng)?;
    let values = all.rows().map(|x| value(x.as_slice())).collect::<Result<Vec<_>, _>>()?;
    let typical = values.iter().map(|v| v.abs()).sum::<f64>() / values.len() as f64;
    let far: Vec<usize> = (0..count).filter(|i| values[*i].abs() >= 0.1 * typical).collect();
    let points = all.select(&far)?;
    let labels: Vec<Label> = far.iter().map(|i| Label::from_sign(values[*i])).collect();
    let least = far.iter().map(|i| values[*i].abs()).fold(f64::INFINITY, f64::min);
    let margin = least / norm_sq.sqrt();
    let mut largest = 0.0f64;
    for x in points.rows() {
        largest = largest.max(kernel.value(x, x.as_slice())?);
    }
    let learner = KernelPerceptron::new(dim, kernel)?;
    let (_, transcript) = if adversarial {
        run(learner, &points, &labels, SmallestMarginMistake::new(labels.clone()))?
    } else {
        run(learner, &points, &labels, AsGiven::new())?
    };
    Ok(Outcome {
        rounds: transcript.len(),
        mistakes: transcript.mistakes(),
        differing: None,
        bound: Some(bounds::kernel_perceptron_mistakes(largest, margin)),
    })
}

impl Experiment for KernelExperiment {
    about! {
        "K6", "Kernel perceptron: the same predictions as the perceptron, and a bound in feature space";
        "K6": "On integer data, the kernel perceptron with the linear kernel makes exactly the same predictions as the perceptron. With kernel K, it makes at most max K(x,x)/γ² mistakes on points with margin γ in feature space, in the given order and against K3's adversary."
            ["Notes21, kernel perceptron"]
            Proved, null "the bound divided by 3"
            halfspaces_online::{KernelPerceptron, Kernel, SmallestMarginMistake, bounds::kernel_perceptron_mistakes};
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let trials = scale.pick(3, 20, 50);
        let points = scale.pick(300, 1000, 3000);
        let mut plan = Vec::new();
        let mut add = |configuration| plan.push(Planned { configuration, trials });
        for dim in [2, 10, 30] {
            for flipped in [0.0, 0.2] {
                add(Configuration::Integers { dim, points, flipped });
            }
        }
        add(Configuration::Mushroom);
        for (kernel, ..) in KERNELS {
            for dim in [3, 8] {
                for adversarial in [false, true] {
                    let points = if adversarial { points / 3 } else { points };
                    add(Configuration::Feature { kernel, dim, points, adversarial });
                }
            }
        }
        // This setting is deterministic.
        plan.push(Planned { configuration: Configuration::Identity { points }, trials: 1 });
        Ok(plan)
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        match setting {
            Configuration::Integers { dim, points, flipped } => {
                let values = (0..dim * points).map(|_| f64::from(rng.random_range(-3i8..=3)));
                let points = Points::new(values.collect(), *dim)?;
                let target = random_target_with_rng(*dim, rng)?;
                let mut labels = target.label_all(&points)?;
                for label in &mut labels {
                    if rng.random_bool(*flipped) {
                        *label = -*label;
                    }
                }
                same_game(&points, &labels, rng)
            }
            Configuration::Mushroom => {
                let (points, labels, _) = Builtin::Mushroom.load()?.into_parts();
                same_game(&points, &labels, rng)
            }
            Configuration::Identity { points } => identity(*points),
            Configuration::Feature { kernel: name, dim, points, adversarial } => {
                let known = KERNELS.into_iter().find(|(known, ..)| known == name);
                let (_, kernel, _) = known.ok_or("unknown kernel")?;
                in_feature_space(kernel, (*dim, *points), *adversarial, rng)
            }
        }
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let ratios: Vec<f64> = results.outcomes().map(|(_, o)| o.ratio()).collect();
        let compared =
            || results.outcomes().filter_map(|(_, o)| o.differing.map(|d| (o.rounds, d)));
        let rounds: usize = compared().map(|(rounds, _)| rounds).sum();
        let differing: usize = compared().map(|(_, differing)| differing).sum();
        let evidence =
            Evidence::deterministic("mistakes / bound", Side::AtMost, results.planned(), &ratios)
                .with_note(&format!("{differing} of {rounds} rounds differ from the perceptron's"));
        judge_all(section, Experiment::claims(self), [(evidence, Null::SmallerBound)]);
        section.summary.push("On integer data all sums are exact, so ties are broken in the same way. The perceptron and the linear kernel perceptron get the points in the same random order, on integer points with clean and with flipped labels and on the one-hot mushroom data, and every prediction is compared bit by bit. The kernels are linear, quadratic, inhomogeneous cubic and Gaussian. In feature space, the target is a combination of six anchors, so its norm and its margin are known exactly. On points so far apart that the matrix of the Gaussian kernel is the identity, the bound is attained.".into());
        section.figures.push(mistakes_against_bound(results));
        section.tables.push(by_configuration(results));
    }
}

fn mistakes_against_bound(results: &Results<Configuration, Outcome>) -> Figure {
    let series = KERNELS.map(|(name, _, colour)| {
        let mine = move |c: &Configuration| matches!(c, Configuration::Feature { kernel, .. } if *kernel == name);
        (name.to_owned(), colour, mine)
    });
    Figure {
        name: "k6-mistakes-against-bound".into(),
        title: bound_title(results, "Mistakes of the kernel perceptron", |o| {
            Some((o.bound?, o.mistakes as f64))
        }),
        caption: "Mistakes of the kernel perceptron against its bound in feature space, in the given and in the adversarial order, for d = 3 and 8. There is one marker per setting; it shows the trial closest to its bound. A marker above the dashed line would refute the claim.".into(),
        x: Axis::log("bound max K(x,x)/γ²"),
        y: Axis::log("mistakes"),
        layers: against_bound(results, "bound max K(x,x)/γ²", series, |o| {
            Some((o.bound?, o.mistakes as f64))
        }),
    }
}

fn by_configuration(results: &Results<Configuration, Outcome>) -> Table {
    let data = |configuration: &Configuration| match configuration {
        Configuration::Integers { dim, flipped, .. } => {
            format!("integers d={dim}, {flipped} flipped")
        }
        Configuration::Mushroom => "mushroom, own labels".into(),
        Configuration::Identity { points } => format!("gaussian, {points} points far apart"),
        Configuration::Feature { kernel, dim, adversarial, .. } => {
            format!("{kernel} d={dim}, {}", if *adversarial { "adversarial" } else { "given" })
        }
    };
    // A trial has either a bound in feature space or a number of differing rounds.
    let ratio = |o: &Outcome| o.bound.map(|_| o.ratio());
    let differing =
        |g: &Group<_, Outcome>| -> Option<usize> { g.outcomes.iter().map(|o| o.differing).sum() };
    table(
        "k6-kernel",
        "Medians and extremes over trials",
        &results.groups,
        &[
            ("data", &|g| data(&g.configuration)),
            ("trials", &|g| g.count()),
            ("rounds", &|g| g.median(0, |o| o.rounds as f64)),
            ("mistakes", &|g| g.median(1, |o| o.mistakes as f64)),
            ("bound", &|g| g.median(1, |o| o.bound)),
            ("worst ratio", &|g| g.most(4, ratio)),
            ("rounds that differ", &|g| differing(g).map_or_else(String::new, |d| d.to_string())),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_attained_where_the_kernel_is_the_identity() {
        let outcome = identity(144).unwrap();
        assert_eq!((outcome.mistakes, outcome.bound.map(f64::round)), (144, Some(144.0)));
        assert!((outcome.ratio() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn one_differing_round_or_one_mistake_too_many_violates_the_claim() {
        let verdict = |outcome: Outcome| {
            let group = Group {
                configuration: Configuration::Mushroom,
                planned: 1,
                outcomes: vec![outcome],
            };
            verdicts(&KernelExperiment, vec![group])[0]
        };
        let same = Outcome { rounds: 9, mistakes: 3, differing: Some(0), bound: None };
        assert_eq!(verdict(same.clone()), Verdict::Holds);
        assert_eq!(verdict(Outcome { differing: Some(1), ..same.clone() }), Verdict::Violated);
        let bounded = Outcome { differing: None, bound: Some(3.0), ..same };
        assert_eq!(verdict(bounded.clone()), Verdict::Holds);
        assert_eq!(verdict(Outcome { bound: Some(2.9), ..bounded }), Verdict::Violated);
    }
}
