//! K4 and K5: the numbers of updates of the batch perceptron and of the margin perceptron, compared with (R/γ)² and
//! 3(R/γ)², for every rule that picks a violated point. The output is checked on every point. K4s and K5s: the two
//! steps of the proofs, checked at every update.

use crate::experiments::common::*;
use crate::workload::{Inputs, Sample, Workload, of_either};
use halfspaces_data::Builtin;
use halfspaces_linalg::{Classifier, FitSample, InputError, Params, PointSet, kernels};
use halfspaces_online::{BatchFit, BatchPerceptron, MarginPerceptron, Pick, bounds};

/// The ratio recorded for a trial that violates the guarantee. It is finite, so that JSON can store it.
const BROKEN: f64 = 1e300;

/// The guarantee of one of the two learners.
struct Guarantee {
    id: &'static str,
    learner: &'static str,
    title: &'static str,
    statement: &'static str,
    source: &'static str,
    checks: &'static [&'static str],
    steps: Steps,
    /// The bound on the number of updates, computed from R and γ.
    bound: fn(f64, f64) -> f64,
    bound_name: &'static str,
    /// Whether the output has a guaranteed margin.
    margin: bool,
    quantity: &'static str,
}

/// The claim about every single update. The proof rests on it.
struct Steps {
    id: &'static str,
    statement: &'static str,
    source: &'static str,
    /// The largest amount that an update may add to ‖w‖², divided by R².
    growth: f64,
}

/// Maximum number of updates of a run that is checked update by update. The check runs the learner once for each
/// update.
const CHECKED: u64 = 60;

const BATCH: Guarantee = Guarantee {
    id: "K4",
    learner: "batch perceptron",
    title: "Batch perceptron: updates until every point is classified correctly",
    statement: "On points of norm at most R that a unit vector w* separates with margin γ, the batch perceptron stops after at most (R/γ)² updates and classifies every point correctly, whether it picks violated points cyclically or always picks the first or the worst.",
    source: "Harvey18 Theorem 1.1",
    checks: checks!(halfspaces_online::{BatchPerceptron, Pick, bounds::batch_perceptron_updates}),
    steps: Steps {
        id: "K4s",
        statement: "In the runs of K4 with at most 60 updates and a known w*, each update of the batch perceptron adds at least γ to w · w* and at most R² to ‖w‖².",
        source: "Harvey18 Claims 1.2 and 1.3, the two steps of Theorem 1.1; Kakade, proof of Theorem 4.1",
        growth: 1.0,
    },
    bound: bounds::batch_perceptron_updates,
    bound_name: "bound (R/γ)²",
    margin: false,
    quantity: "updates / (R/γ)²",
};

const MARGIN: Guarantee = Guarantee {
    id: "K5",
    learner: "margin perceptron",
    title: "Margin perceptron: updates, and the margin it returns",
    statement: "On points of norm at most R that a unit vector w* separates with margin γ, the margin perceptron stops after at most 3(R/γ)² updates and then has margin at least γ/3, whichever violated point it picks. One instance nearly attains both bounds.",
    source: "Harvey18 Theorem 2.1",
    checks: checks!(halfspaces_online::{
        MarginPerceptron, Pick, bounds::margin_perceptron_updates, bounds::margin_perceptron_margin
    }),
    steps: Steps {
        id: "K5s",
        statement: "In the runs of K5 with at most 60 updates and a known w*, each update of the margin perceptron adds at least γ to w · w* and at most 3R² to ‖w‖².",
        source: "Harvey18 Claims 1.2 and 2.2, the two steps of Theorem 2.1",
        growth: 3.0,
    },
    bound: bounds::margin_perceptron_updates,
    bound_name: "bound 3(R/γ)²",
    margin: true,
    quantity: "of updates / 3(R/γ)² and (γ/3) / output margin",
};

pub(crate) struct BatchExperiment {
    guarantee: &'static Guarantee,
    inputs: Arc<Inputs>,
}

impl BatchExperiment {
    pub(crate) fn batch_perceptron(inputs: Arc<Inputs>) -> Self {
        BatchExperiment { guarantee: &BATCH, inputs }
    }

    pub(crate) fn margin_perceptron(inputs: Arc<Inputs>) -> Self {
        BatchExperiment { guarantee: &MARGIN, inputs }
    }

    fn fit<P: PointSet>(&self, sample: &Sample<P>, pick: Pick) -> Result<Outcome, Failure> {
        let Sample { points, labels, radius, .. } = sample;
        let gamma = sample.margin.ok_or("no halfspace is known to separate this pool")?;
        let update_bound = (self.guarantee.bound)(*radius, gamma);
        // A run that reaches this cap refutes the bound.
        let cap = (10.0 * update_bound).min(1e7) as u64 + 10;
        let fit = self.learn(sample, pick, cap)?;
        // If every label is +1, the batch perceptron correctly stays at w = 0, without a margin.
        let output = match fit.halfspace().margin_on(points, labels) {
            Err(InputError::ZeroVector) => 0.0,
            output => output?,
        };
        Ok(Outcome {
            points: points.len(),
            gamma,
            updates: fit.updates(),
            update_bound,
            passes: fit.passes(),
            converged: fit.termination().is_converged(),
            consistent: fit.halfspace().label_all(points)? == *labels,
            margin_share: output / gamma,
            steps: self.steps(sample, pick, fit.updates())?,
        })
    }

    /// Runs the learner for at most `cap` updates.
    fn learn<P: PointSet>(
        &self,
        Sample { points, labels, .. }: &Sample<P>,
        pick: Pick,
        cap: u64,
    ) -> Result<BatchFit, Failure> {
        Ok(if self.guarantee.margin {
            MarginPerceptron::params().max_updates(cap).pick(pick).check()?.fit(points, labels)?
        } else {
            BatchPerceptron::params().max_updates(cap).pick(pick).check()?.fit(points, labels)?
        })
    }

    /// Two maxima over all updates of a run: γ divided by the gain in w · w*, and the growth of ‖w‖² divided by its
    /// bound. `None` if the run has no updates or too many, or if its target is not known.
    fn steps<P: PointSet>(
        &self,
        sample: &Sample<P>,
        pick: Pick,
        updates: u64,
    ) -> Result<Option<[f64; 2]>, Failure> {
        let (Some(target), Some(gamma)) = (&sample.target, sample.margin) else { return Ok(None) };
        if updates == 0 || updates > CHECKED {
            return Ok(None);
        }
        let allowed = self.guarantee.steps.growth * sample.radius * sample.radius;
        let (mut along, mut size, mut worst) = (0.0, 0.0, [0.0f64; 2]);
        for cap in 1..=updates {
            let fit = self.learn(sample, pick, cap)?;
            let w = fit.halfspace().normal();
            let (now, length) = (kernels::dot(w, target.normal()), kernels::norm_sq(w));
            let gain = now - along;
            worst[0] = worst[0].max(if gain > 0.0 { gamma / gain } else { BROKEN });
            worst[1] = worst[1].max((length - size) / allowed);
            (along, size) = (now, length);
        }
        Ok(Some(worst))
    }
}

/// The rules that pick a violated point, by name.
const PICKS: [(&str, Pick, Colour); 3] = [
    ("cyclic", Pick::Cyclic, Colour::Blue),
    ("first", Pick::First, Colour::Green),
    ("worst", Pick::Worst, Colour::Vermilion),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    #[serde(flatten)]
    workload: Workload,
    pick: &'static str,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    points: usize,
    /// γ of the stated separator.
    gamma: f64,
    updates: u64,
    update_bound: f64,
    passes: f64,
    converged: bool,
    consistent: bool,
    /// The margin of the output divided by γ.
    margin_share: f64,
    /// The largest ratios of [`BatchExperiment::steps`].
    steps: Option<[f64; 2]>,
}

impl Outcome {
    fn update_ratio(&self) -> f64 {
        self.updates as f64 / self.update_bound
    }

    /// γ/3 divided by the margin of the output.
    fn margin_ratio(&self) -> f64 {
        let ratio = bounds::margin_perceptron_margin(1.0) / self.margin_share;
        if ratio > 0.0 { ratio } else { BROKEN }
    }

    /// A ratio that is at most 1 if and only if the run satisfied all parts of the guarantee.
    fn ratio(&self, guarantee: &Guarantee) -> f64 {
        if !self.converged || !self.consistent {
            return BROKEN;
        }
        let of_margin = if guarantee.margin { self.margin_ratio() } else { 0.0 };
        self.update_ratio().max(of_margin)
    }
}

impl Experiment for BatchExperiment {
    type Configuration = Configuration;
    type Outcome = Outcome;

    fn id(&self) -> &'static str {
        self.guarantee.id
    }

    fn title(&self) -> &'static str {
        self.guarantee.title
    }

    fn claims(&self) -> Vec<ClaimStatement> {
        let Guarantee { id, statement, source, checks, ref steps, .. } = *self.guarantee;
        let claim = |id: &str, statement: &str, source: &str| ClaimStatement {
            id: id.into(),
            statement: statement.into(),
            source: source.into(),
            kind: ClaimKind::Proved,
            null: "the bound divided by 3".into(),
            checks,
        };
        vec![claim(id, statement, source), claim(steps.id, steps.statement, steps.source)]
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let points = scale.pick(300, 1000, 4000);
        let margins = [0.4, 0.2, 0.1, 0.05, 0.025];
        let mut workloads = Workload::synthetic(points, &margins[..scale.pick(3, 4, 5)], scale);
        for name in self.inputs.real() {
            workloads.push(Workload::Relabelled { name: name.clone(), margin: 0.02 });
            workloads.push(Workload::Centroid { name, margin: 0.02 });
        }
        // This is the only built-in data set whose own labels are separable.
        workloads.push(Workload::Own { name: Builtin::Mushroom.name().into() });
        if self.guarantee.margin {
            let tight = [0.1, 0.05, 0.02].map(|margin| Workload::TightMargin { margin });
            workloads.extend(tight.into_iter().take(scale.pick(1, 2, 3)));
        }
        let trials = scale.pick(3, 20, 50);
        let all = workloads.into_iter().flat_map(|workload| {
            PICKS.map(|(pick, ..)| {
                let configuration = Configuration { workload: workload.clone(), pick };
                Planned { configuration, trials: if workload.is_fixed() { 1 } else { trials } }
            })
        });
        Ok(all.collect())
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        let pool = self.inputs.pool(&setting.workload, rng)?;
        let known = PICKS.into_iter().find(|(known, ..)| *known == setting.pick);
        let (_, pick, _) = known.ok_or("unknown rule for the violated point")?;
        of_either!(&pool, sample => self.fit(sample, pick))
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let Guarantee { quantity, margin, .. } = *self.guarantee;
        let ratios: Vec<f64> = results.outcomes().map(|(_, o)| o.ratio(self.guarantee)).collect();
        let mut evidence =
            Evidence::deterministic(quantity, Side::AtMost, results.planned(), &ratios);
        let kept = results.outcomes().all(|(_, o)| o.consistent && o.converged);
        if kept && !ratios.is_empty() {
            let largest =
                |f: fn(&Outcome) -> f64| results.outcomes().map(|(_, o)| f(o)).fold(0.0, f64::max);
            let (updates, margins) =
                (largest(Outcome::update_ratio), largest(Outcome::margin_ratio));
            evidence = evidence.with_note(&match margin {
                true => format!("largest of each: {updates:.3} and {margins:.3}"),
                false => "every output classifies every point correctly".into(),
            });
        }
        // A run without a known target, or with too many updates, is not checked step by step.
        let steps: Vec<[f64; 2]> = results.outcomes().filter_map(|(_, o)| o.steps).collect();
        let unchecked = results.outcomes().filter(|(_, o)| o.steps.is_none()).count();
        let [gains, growths] = [0, 1].map(|at| steps.iter().map(|s| s[at]).fold(0.0, f64::max));
        let ratios: Vec<f64> = steps.iter().map(|[gain, growth]| gain.max(*growth)).collect();
        let planned = results.planned() - unchecked;
        let quantity = "of γ / gain in w · w* and growth of ‖w‖² / its bound";
        let of_steps = Evidence::deterministic(quantity, Side::AtMost, planned, &ratios);
        let of_steps = of_steps.with_note(&format!("largest of each: {gains:.3} and {growths:.3}"));
        let evidence = [evidence, of_steps].map(|evidence| (evidence, Null::SmallerBound));
        judge_all(section, Experiment::claims(self), evidence);
        section.summary.push("Three rules pick the violated point: the next one in cyclic order, always the first one, or always the worst one. Every trial draws its own pool. R and γ are measured on the points themselves. A run that stops at its cap, or whose output misclassifies a point, counts as an exception. For K5, the instances include points in an order constructed to mislead the learner. On them, the learner makes only about two updates fewer than 3(R/γ)², and its margin is close to γ/3.".into());
        section.figures.push(self.updates_against_bound(results));
        if margin {
            section.figures.push(margins_kept(results));
        }
        section.tables.push(self.by_configuration(results));
    }
}

impl BatchExperiment {
    fn updates_against_bound(&self, results: &Results<Configuration, Outcome>) -> Figure {
        let Guarantee { bound_name: label, learner, .. } = *self.guarantee;
        let series = PICKS.map(|(pick, _, colour)| {
            (format!("{pick} violation"), colour, move |c: &Configuration| c.pick == pick)
        });
        Figure {
            name: format!("{}-updates-against-bound", self.guarantee.id.to_lowercase()),
            title: bound_title(results, &format!("Updates of the {learner}"), |o| {
                Some((o.update_bound, o.updates as f64))
            }),
            caption: "Updates against the bound. There is one marker per kind of data and picking rule; it shows the trial closest to its bound. A marker above the dashed line would refute the claim.".into(),
            x: Axis::log(label),
            y: Axis::log("updates"),
            layers: against_bound(results, label, series, |o| {
                Some((o.update_bound, o.updates as f64))
            }),
        }
    }

    fn by_configuration(&self, results: &Results<Configuration, Outcome>) -> Table {
        let name = format!("{}-batch", self.guarantee.id.to_lowercase());
        table(
            &name,
            "Medians and extremes over trials",
            &results.groups,
            &[
                ("data", &|g| g.configuration.workload.to_string()),
                ("pick", &|g| g.configuration.pick.into()),
                ("trials", &|g| g.count()),
                ("points", &|g| g.median(0, |o| o.points as f64)),
                ("γ", &|g| g.median(4, |o| o.gamma)),
                ("updates", &|g| g.median(1, |o| o.updates as f64)),
                ("most", &|g| g.most(0, |o| o.updates as f64)),
                ("bound", &|g| g.median(1, |o| o.update_bound)),
                ("worst ratio", &|g| g.most(4, Outcome::update_ratio)),
                ("passes", &|g| g.median(1, |o| o.passes)),
                ("least margin / γ", &|g| g.least(4, |o| o.margin_share)),
            ],
        )
    }
}

fn margins_kept(results: &Results<Configuration, Outcome>) -> Figure {
    let gammas: Vec<f64> = results.outcomes().map(|(_, o)| o.gamma).collect();
    let mut layers = bound_line("bound 1/3", &gammas, |_| bounds::margin_perceptron_margin(1.0));
    for (pick, _, colour) in PICKS {
        let mine = groups_of(results, |c| c.pick == pick);
        let shares = mine.iter().flat_map(|g| g.outcomes.iter().map(|o| (o.gamma, o.margin_share)));
        layers.push(points(&format!("{pick} violation"), colour, shares.collect()));
    }
    Figure {
        name: "k5-margins".into(),
        title: "The margin perceptron keeps at least a third of the margin".into(),
        caption: "Margin of the output as a fraction of the stated margin γ, for every trial. A marker below the dashed line would refute the claim. A fraction above 1 means that the stated separator is not the best one.".into(),
        x: Axis::log("stated margin γ"),
        y: Axis::linear("output margin / γ"),
        layers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome() -> Outcome {
        Outcome {
            points: 1,
            gamma: 0.1,
            updates: 50,
            update_bound: 100.0,
            passes: 1.0,
            converged: true,
            consistent: true,
            margin_share: 0.5,
            steps: None,
        }
    }

    /// A gain or a growth beyond its bound violates only the second claim.
    #[test]
    fn a_wrong_step_is_caught() {
        let experiment = BatchExperiment { guarantee: &BATCH, inputs: Arc::new(Inputs::builtin()) };
        let judge = |steps| {
            let workload = Workload::Tight { dim: 3 };
            let configuration = Configuration { workload, pick: "cyclic" };
            let outcomes = vec![Outcome { steps: Some(steps), ..outcome() }];
            verdicts(&experiment, vec![Group { configuration, planned: 1, outcomes }])
        };
        assert_eq!(judge([1.0, 0.9]), [Verdict::Holds; 2]);
        assert_eq!(judge([1.1, 0.9]), [Verdict::Holds, Verdict::Violated]);
        assert_eq!(judge([1.0, 1.1]), [Verdict::Holds, Verdict::Violated]);
    }

    /// Steps of real runs: the bounds of both learners are nearly attained, and a third of each is refuted.
    #[test]
    fn steps_are_those_of_the_learner() {
        for (guarantee, growth) in [(&BATCH, 1.0), (&MARGIN, 0.9)] {
            let experiment = BatchExperiment { guarantee, inputs: Arc::new(Inputs::builtin()) };
            let workload = Workload::Tight { dim: 10 };
            let configuration = Configuration { workload, pick: "first" };
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let outcome = experiment.trial(&configuration, &mut rng).unwrap();
            let [gain, grown] = outcome.steps.unwrap();
            assert!((gain - 1.0).abs() < 1e-9, "{gain}");
            assert!(grown > growth / 3.0 && grown <= 1.0 + 1e-9, "{grown}");
        }
    }

    #[test]
    fn every_broken_guarantee_is_an_exception() {
        assert_eq!(outcome().ratio(&BATCH), 0.5);
        assert!((outcome().ratio(&MARGIN) - 2.0 / 3.0).abs() < 1e-15);
        let thin = Outcome { margin_share: 0.33, ..outcome() };
        assert!(thin.ratio(&MARGIN) > 1.0 && thin.ratio(&BATCH) < 1.0);
        let negative = Outcome { margin_share: -0.1, ..outcome() };
        assert!(negative.ratio(&MARGIN) > 1.0);
        for broken in [
            Outcome { converged: false, ..outcome() },
            Outcome { consistent: false, ..outcome() },
            Outcome { updates: 101, ..outcome() },
        ] {
            assert!(broken.ratio(&BATCH) > 1.0);
            assert!(broken.ratio(&MARGIN) > 1.0);
        }
    }

    /// Both 3 (R/γ)² and γ/3 are attained to within one percent.
    #[test]
    fn both_bounds_of_the_margin_perceptron_are_nearly_attained() {
        let experiment =
            BatchExperiment { guarantee: &MARGIN, inputs: Arc::new(Inputs::builtin()) };
        for (margin, updates) in [(0.1, 298), (0.05, 1198)] {
            let workload = Workload::TightMargin { margin };
            let configuration = Configuration { workload, pick: "cyclic" };
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let outcome = experiment.trial(&configuration, &mut rng).unwrap();
            assert_eq!(outcome.updates, updates);
            assert!(outcome.ratio(&MARGIN) <= 1.0 && outcome.update_ratio() > 0.99);
            assert!(outcome.margin_ratio() > 0.99, "{}", outcome.margin_ratio());
        }
    }

    /// A planted wrong bound: a real trial on the tight instance judged by a third of the bound.
    #[test]
    fn a_third_of_the_bound_is_refuted() {
        for guarantee in [&BATCH, &MARGIN] {
            let experiment = BatchExperiment { guarantee, inputs: Arc::new(Inputs::builtin()) };
            let configuration =
                Configuration { workload: Workload::Tight { dim: 30 }, pick: "cyclic" };
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let outcome = experiment.trial(&configuration, &mut rng).unwrap();
            let verdict = |outcome: Outcome| {
                let configuration = configuration.clone();
                let groups = vec![Group { configuration, planned: 1, outcomes: vec![outcome] }];
                verdicts(&experiment, groups)[0]
            };
            assert_eq!(verdict(outcome.clone()), Verdict::Holds);
            let third = outcome.update_bound / 3.0;
            assert_eq!(
                verdict(Outcome { update_bound: third, ..outcome.clone() }),
                Verdict::Violated
            );
            // The margin perceptron's output refutes a guarantee of three times the margin.
            if guarantee.margin {
                let share = outcome.margin_share / 4.0;
                let thin = Outcome { margin_share: share, ..outcome };
                assert_eq!(verdict(thin), Verdict::Violated);
            }
        }
    }
}
