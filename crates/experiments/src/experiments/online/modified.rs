//! K7: the mistakes of the modified perceptron outside its band, compared with ⌊2 ln(1/α)/σ²⌋, on data without a
//! margin. Its batch form classifies every point outside the band correctly.

use crate::experiments::common::*;
use crate::workload::{Inputs, Sample, Workload, of_either};
use halfspaces_linalg::{FitSample, PointSet, kernels};
use halfspaces_online::{
    BatchModifiedPerceptron, ModifiedPerceptron, OnlineLearner, RandomOrder, SmallestMarginMistake,
    bounds, run,
};

/// Maximum number of rounds for which a small pool is repeated.
const MAX_ROUNDS: f64 = 4000.0;

pub(crate) struct ModifiedExperiment {
    pub(crate) inputs: Arc<Inputs>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    #[serde(flatten)]
    workload: Workload,
    sigma: f64,
    adversarial: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    rounds: usize,
    /// w₀ · w*, made positive by choosing between w₀ and -w₀.
    alpha: f64,
    bound: f64,
    mistakes: usize,
    abstentions: usize,
    batch_updates: u64,
    /// Whether the batch form converged and classifies every point outside the band correctly.
    batch_right: bool,
}

impl Outcome {
    fn ratio(&self) -> f64 {
        if !self.batch_right {
            return f64::INFINITY;
        }
        let most = (self.mistakes as f64).max(self.batch_updates as f64);
        // A run without mistakes satisfies a bound of 0.
        if most == 0.0 { 0.0 } else { most / self.bound }
    }
}

fn play<P: PointSet>(
    sample: &Sample<P>,
    setting: &Configuration,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let sigma = setting.sigma;
    let target = sample.target.as_ref().ok_or("this pool has no target")?.normal();
    let mut start = match setting.workload {
        Workload::TightModified { alpha, .. } => {
            let across = (1.0 - alpha * alpha).sqrt();
            ModifiedPerceptron::from_start(vec![alpha, across, 0.0], sigma)?
        }
        _ => ModifiedPerceptron::with_rng(sample.points.dim(), sigma, rng)?,
    };
    let mut alpha = kernels::dot(start.weights(), target);
    if alpha < 0.0 {
        let flipped = start.weights().iter().map(|w| -w).collect();
        start = ModifiedPerceptron::from_start(flipped, sigma)?;
        alpha = -alpha;
    }
    let bound = bounds::modified_perceptron_mistakes(alpha, sigma);
    let Sample { points, labels, .. } = &sample.repeated((2.0 * bound).min(MAX_ROUNDS) as usize)?;

    let (_, transcript) = if setting.adversarial {
        run(start.clone(), points, labels, SmallestMarginMistake::new(labels.clone()))?
    } else {
        run(start.clone(), points, labels, RandomOrder::with_rng(rng))?
    };
    let batch = BatchModifiedPerceptron::new(start, 10 * bound as u64 + 10)?.fit(points, labels)?;
    let mut batch_right = batch.termination().is_converged();
    for (x, y) in points.rows().zip(labels) {
        batch_right &= !batch.learner().guess(x)?.is_wrong(*y);
    }
    Ok(Outcome {
        rounds: transcript.len(),
        alpha,
        bound,
        mistakes: transcript.mistakes(),
        abstentions: transcript.abstentions(),
        batch_updates: batch.updates(),
        batch_right,
    })
}

impl Experiment for ModifiedExperiment {
    about! {
        "K7", "Modified perceptron: few mistakes without a margin, at the cost of abstentions";
        "K7": "Started from a unit vector w₀ with α = w₀ · w* > 0, the modified perceptron, which abstains where |w · x| <= σ‖w‖‖x‖, makes at most ⌊2 ln(1/α)/σ²⌋ mistakes elsewhere, however small the margin. Its batch form makes at most this number of updates."
            ["Notes21, modified perceptron, with the sign of its update corrected"]
            Proved, null "the bound divided by 3"
            halfspaces_online::{ModifiedPerceptron, BatchModifiedPerceptron, SmallestMarginMistake, bounds::modified_perceptron_mistakes};
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let points = scale.pick(300, 1000, 3000);
        let mut workloads = Vec::new();
        for dim in scale.pick(vec![3, 20], vec![3, 20, 100], vec![3, 20, 100, 300]) {
            workloads.push(Workload::Sphere { dim, points, margin: 0.0 });
            workloads.push(Workload::Clusters { dim, points, margin: 0.0 });
        }
        workloads.push(Workload::StudentT { dim: 10, points, condition: 1e6 });
        for name in self.inputs.real() {
            workloads.push(Workload::Relabelled { name, margin: 0.0 });
        }
        let trials = scale.pick(3, 20, 50);
        let sigmas = scale.pick(vec![0.1], vec![0.05, 0.2], vec![0.02, 0.05, 0.1, 0.2]);
        let mut plan = Vec::new();
        for workload in workloads {
            for &sigma in &sigmas {
                for adversarial in [false, true] {
                    let workload = workload.clone();
                    let configuration = Configuration { workload, sigma, adversarial };
                    plan.push(Planned { configuration, trials });
                }
            }
        }
        for alpha in scale.pick(vec![0.5], vec![0.5, 0.1], vec![0.5, 0.1, 0.01]) {
            for &sigma in &sigmas {
                let workload = Workload::TightModified { alpha, sigma };
                // The batch form goes through the points in their order for both values of `adversarial`.
                let configuration = Configuration { workload, sigma, adversarial: false };
                plan.push(Planned { configuration, trials: 1 });
            }
        }
        Ok(plan)
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        of_either!(&self.inputs.pool(&setting.workload, rng)?, sample => play(sample, setting, rng))
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let ratios: Vec<f64> = results.outcomes().map(|(_, o)| o.ratio()).collect();
        let evidence = Evidence::deterministic(
            "of mistakes and batch updates / bound",
            Side::AtMost,
            results.planned(),
            &ratios,
        )
        .with_note("a batch run with an error outside the band would count as an exception");
        judge_all(section, Experiment::claims(self), [(evidence, Null::SmallerBound)]);
        section.summary.push("No point is dropped, so margins may be as small as rounding errors, or 0. The data include heavy-tailed points with condition number 10⁶. The adversary always presents the misclassified point of smallest margin. The start is a random unit vector or its negative, whichever has α > 0, except on points constructed to mislead the learner; α is measured. The constructed points lie on the boundary of w*, in an order in which the learner makes many mistakes. On them, the batch form reaches the bound to within a fraction of about σ²/2, so the constant of the bound cannot be improved. The number of abstentions has no guarantee; the table shows it.".into());
        section.figures.push(mistakes_against_bound(results));
        section.tables.push(by_configuration(results));
    }
}

fn order(adversarial: bool) -> &'static str {
    if adversarial { "adversarial" } else { "random" }
}

fn mistakes_against_bound(results: &Results<Configuration, Outcome>) -> Figure {
    let orders = [(false, Colour::Green), (true, Colour::Vermilion)];
    let series = orders.map(|(adversarial, colour)| {
        let mine = move |c: &Configuration| c.adversarial == adversarial;
        (format!("{} order", order(adversarial)), colour, mine)
    });
    Figure {
        name: "k7-mistakes-against-bound".into(),
        title: bound_title(results, "Mistakes of the modified perceptron", |o| {
            Some((o.bound, o.mistakes as f64))
        }),
        caption: "Mistakes outside the band against the bound. There is one marker per kind of data, σ and order; it shows the trial closest to its bound. A marker above the dashed line would refute the claim.".into(),
        x: Axis::log("bound ⌊2 ln(1/α)/σ²⌋"),
        y: Axis::log("mistakes"),
        layers: against_bound(results, "bound ⌊2 ln(1/α)/σ²⌋", series, |o| {
            Some((o.bound, o.mistakes as f64))
        }),
    }
}

fn by_configuration(results: &Results<Configuration, Outcome>) -> Table {
    let caption = "Medians and worst ratio over trials";
    table(
        "k7-modified",
        caption,
        &results.groups,
        &[
            ("data", &|g| g.configuration.workload.to_string()),
            ("σ", &|g| g.configuration.sigma.to_string()),
            ("order", &|g| order(g.configuration.adversarial).into()),
            ("trials", &|g| g.count()),
            ("rounds", &|g| g.median(0, |o| o.rounds as f64)),
            ("α", &|g| g.median(3, |o| o.alpha)),
            ("mistakes", &|g| g.median(1, |o| o.mistakes as f64)),
            ("bound", &|g| g.median(0, |o| o.bound)),
            ("worst ratio", &|g| g.most(4, Outcome::ratio)),
            ("abstentions", &|g| g.median(0, |o| o.abstentions as f64)),
            ("batch updates", &|g| g.median(1, |o| o.batch_updates as f64)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_broken_guarantee_violates_the_claim() {
        let experiment = ModifiedExperiment { inputs: Arc::new(Inputs::builtin()) };
        let workload = Workload::Sphere { dim: 2, points: 9, margin: 0.0 };
        let verdict = |outcome: Outcome| {
            let configuration =
                Configuration { workload: workload.clone(), sigma: 0.1, adversarial: false };
            let group = Group { configuration, planned: 1, outcomes: vec![outcome] };
            verdicts(&experiment, vec![group])[0]
        };
        let kept = Outcome {
            rounds: 9,
            alpha: 0.5,
            bound: 138.0,
            mistakes: 138,
            abstentions: 0,
            batch_updates: 100,
            batch_right: true,
        };
        assert_eq!(verdict(kept.clone()), Verdict::Holds);
        assert_eq!(verdict(Outcome { mistakes: 139, ..kept.clone() }), Verdict::Violated);
        assert_eq!(verdict(Outcome { batch_updates: 139, ..kept.clone() }), Verdict::Violated);
        assert_eq!(verdict(Outcome { batch_right: false, ..kept.clone() }), Verdict::Violated);
        assert_eq!(verdict(Outcome { bound: 46.0, ..kept }), Verdict::Violated);
    }

    /// On the points that are constructed against the learner, it attains the bound to within a fraction of σ².
    #[test]
    fn the_bound_is_nearly_attained() {
        let experiment = ModifiedExperiment { inputs: Arc::new(Inputs::builtin()) };
        for (alpha, sigma, updates) in [(0.5, 0.05, 553), (0.1, 0.2, 112)] {
            let workload = Workload::TightModified { alpha, sigma };
            let configuration = Configuration { workload, sigma, adversarial: false };
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let outcome = experiment.trial(&configuration, &mut rng).unwrap();
            assert_eq!((outcome.batch_updates, outcome.alpha), (updates, alpha));
            assert!(outcome.ratio() <= 1.0 && outcome.ratio() > 1.0 - sigma * sigma);
            let group = |outcome: Outcome| Group {
                configuration: configuration.clone(),
                planned: 1,
                outcomes: vec![outcome],
            };
            let verdict = |outcome| verdicts(&experiment, vec![group(outcome)])[0];
            assert_eq!(verdict(outcome.clone()), Verdict::Holds);
            let smaller = Outcome { bound: outcome.bound / 1.1, ..outcome };
            assert_eq!(verdict(smaller), Verdict::Violated);
        }
    }
}
