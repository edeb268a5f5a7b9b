//! K4 and K5: updates of the batch and the margin perceptron against (R/γ)² and 3(R/γ)², for every
//! way to pick the violated point; what they return is checked point by point.

use crate::Failure;
use crate::experiments::common::{bound_line, claim, judge_all, median_text, most, worst_pair};
use crate::workload::{Inputs, Pool, Sample, Workload};
use halfspaces_data::Builtin;
use halfspaces_eval::{
    Axis, ClaimStatement, Colour, Evidence, Experiment, Figure, Layer, Planned, Results, Scale,
    Section, Side, Table,
};
use halfspaces_linalg::{Classifier, FitSample, InputError, Params, PointSet};
use halfspaces_online::{BatchPerceptron, MarginPerceptron, Pick, bounds};
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A ratio that stands for "the promise was broken altogether" and survives JSON.
const BROKEN: f64 = 1e300;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Learner {
    Batch,
    Margin,
}

pub(crate) struct BatchExperiment {
    learner: Learner,
    inputs: Arc<Inputs>,
}

impl BatchExperiment {
    pub(crate) fn batch_perceptron(inputs: Arc<Inputs>) -> Self {
        BatchExperiment { learner: Learner::Batch, inputs }
    }

    pub(crate) fn margin_perceptron(inputs: Arc<Inputs>) -> Self {
        BatchExperiment { learner: Learner::Margin, inputs }
    }

    fn update_bound(&self, radius: f64, margin: f64) -> f64 {
        match self.learner {
            Learner::Batch => bounds::batch_perceptron_updates(radius, margin),
            Learner::Margin => bounds::margin_perceptron_updates(radius, margin),
        }
    }

    fn fit<P: PointSet>(&self, sample: &Sample<P>, pick: Pick) -> Result<Outcome, Failure> {
        let Sample { points, labels, radius, .. } = sample;
        let gamma = sample.margin.ok_or("no halfspace is known to separate this pool")?;
        let update_bound = self.update_bound(*radius, gamma);
        // Far enough above the bound that reaching the cap refutes it.
        let cap = (10.0 * update_bound).min(1e7) as u64 + 10;
        let fit = match self.learner {
            Learner::Batch => BatchPerceptron::params()
                .max_updates(cap)
                .pick(pick)
                .check()?
                .fit(points, labels)?,
            Learner::Margin => MarginPerceptron::params()
                .max_updates(cap)
                .pick(pick)
                .check()?
                .fit(points, labels)?,
        };
        // Where every label is +1 the batch perceptron is right to stay at w = 0, without margin.
        let output = match fit.halfspace.margin_on(points, labels) {
            Err(InputError::ZeroVector) => 0.0,
            output => output?,
        };
        Ok(Outcome {
            points: points.len(),
            gamma,
            updates: fit.updates,
            update_bound,
            passes: fit.passes,
            converged: fit.termination.is_converged(),
            consistent: fit.halfspace.label_all(points)? == *labels,
            margin_share: output / gamma,
        })
    }
}

const PICKS: [(PickKind, Colour); 3] = [
    (PickKind::Cyclic, Colour::Blue),
    (PickKind::First, Colour::Green),
    (PickKind::Worst, Colour::Vermilion),
];

/// [`Pick`] as part of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PickKind {
    Cyclic,
    First,
    Worst,
}

impl From<PickKind> for Pick {
    fn from(kind: PickKind) -> Pick {
        match kind {
            PickKind::Cyclic => Pick::Cyclic,
            PickKind::First => Pick::First,
            PickKind::Worst => Pick::Worst,
        }
    }
}

impl fmt::Display for PickKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            PickKind::Cyclic => "cyclic",
            PickKind::First => "first",
            PickKind::Worst => "worst",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    #[serde(flatten)]
    workload: Workload,
    pick: PickKind,
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
    /// Output margin / γ.
    margin_share: f64,
}

impl Outcome {
    fn update_ratio(&self) -> f64 {
        self.updates as f64 / self.update_bound
    }

    /// γ/3 over the output margin.
    fn margin_ratio(&self) -> f64 {
        let ratio = bounds::margin_perceptron_margin(1.0) / self.margin_share;
        if ratio > 0.0 { ratio } else { BROKEN }
    }

    /// At most 1 iff every promise of the learner was kept.
    fn ratio(&self, learner: Learner) -> f64 {
        if !self.converged || !self.consistent {
            return BROKEN;
        }
        match learner {
            Learner::Batch => self.update_ratio(),
            Learner::Margin => self.update_ratio().max(self.margin_ratio()),
        }
    }
}

impl Experiment for BatchExperiment {
    type Configuration = Configuration;
    type Outcome = Outcome;

    fn id(&self) -> &'static str {
        match self.learner {
            Learner::Batch => "K4",
            Learner::Margin => "K5",
        }
    }

    fn title(&self) -> &'static str {
        match self.learner {
            Learner::Batch => "Batch perceptron: updates until consistent",
            Learner::Margin => "Margin perceptron: updates, and the margin it returns",
        }
    }

    fn claims(&self) -> Vec<ClaimStatement> {
        let claim = match self.learner {
            Learner::Batch => claim(
                "K4",
                "On points of norm at most R that a unit vector w* separates with margin γ, the batch perceptron stops after at most (R/γ)² updates with every point right, whether it picks the violated points going round, always the first, or always the worst.",
                "Harvey18 Theorem 1.1",
                &[
                    "halfspaces_online::BatchPerceptron",
                    "halfspaces_online::Pick",
                    "halfspaces_online::bounds::batch_perceptron_updates",
                ],
            ),
            Learner::Margin => claim(
                "K5",
                "On points of norm at most R that a unit vector w* separates with margin γ, the margin perceptron stops after at most 3(R/γ)² updates with margin at least γ/3 on every point, whether it picks the violated points going round, always the first, or always the worst.",
                "Harvey18 Theorem 2.1",
                &[
                    "halfspaces_online::MarginPerceptron",
                    "halfspaces_online::Pick",
                    "halfspaces_online::bounds::margin_perceptron_updates",
                    "halfspaces_online::bounds::margin_perceptron_margin",
                ],
            ),
        };
        vec![claim]
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let points = scale.pick(300, 1000, 4000);
        let mut workloads = Vec::new();
        for margin in scale.pick(
            vec![0.4, 0.2, 0.1],
            vec![0.4, 0.2, 0.1, 0.05],
            vec![0.4, 0.2, 0.1, 0.05, 0.025],
        ) {
            workloads.push(Workload::Ball { dim: 20, points, margin });
        }
        for dim in scale.pick(vec![10], vec![3, 10, 30], vec![3, 10, 30, 100]) {
            workloads.push(Workload::Sphere { dim, points, margin: 0.05 });
            workloads.push(Workload::Clusters { dim, points, margin: 0.05 });
        }
        for dim in scale.pick(vec![25], vec![10, 100], vec![10, 100, 1000]) {
            workloads.push(Workload::Tight { dim });
        }
        for name in self.inputs.real() {
            workloads.push(Workload::Relabelled { name: name.clone(), margin: 0.02 });
            workloads.push(Workload::Centroid { name, margin: 0.02 });
        }
        // The one built-in set that a halfspace separates by its own labels.
        workloads.push(Workload::Own { name: Builtin::Mushroom.name().into() });
        let trials = scale.pick(3, 20, 50);
        let all = workloads.into_iter().flat_map(|workload| {
            PICKS.map(|(pick, _)| {
                let fixed = matches!(
                    workload,
                    Workload::Tight { .. } | Workload::Centroid { .. } | Workload::Own { .. }
                );
                let configuration = Configuration { workload: workload.clone(), pick };
                Planned { configuration, trials: if fixed { 1 } else { trials } }
            })
        });
        Ok(all.collect())
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        match &self.inputs.pool(&setting.workload, rng)? {
            Pool::Dense(sample) => self.fit(sample, setting.pick.into()),
            Pool::Sparse(sample) => self.fit(sample, setting.pick.into()),
        }
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let ratios: Vec<f64> = results.outcomes().map(|(_, o)| o.ratio(self.learner)).collect();
        let largest =
            |f: fn(&Outcome) -> f64| results.outcomes().map(|(_, o)| f(o)).fold(0.0, f64::max);
        let updates = largest(Outcome::update_ratio);
        let (quantity, note) = match self.learner {
            Learner::Batch => {
                ("updates / (R/γ)²", "every output labels every point right".to_owned())
            }
            Learner::Margin => (
                "of updates / 3(R/γ)² and (γ/3) / output margin",
                format!("largest of each: {updates:.3} and {:.3}", largest(Outcome::margin_ratio)),
            ),
        };
        let mut evidence =
            Evidence::deterministic(quantity, Side::AtMost, results.planned(), &ratios);
        let kept = results.outcomes().all(|(_, o)| o.consistent && o.converged);
        if kept && !ratios.is_empty() {
            evidence = evidence.with_note(&note);
        }
        judge_all(section, Experiment::claims(self), [evidence]);
        section.summary.push("Three ways to pick the violated point: going round the points, starting again from the first, and taking the worst; every trial draws a pool of its own. R and γ are measured on the points themselves. A run that stops at its cap, or whose output labels any point wrong, counts as an exception.".into());
        section.figures.push(self.against_bound(results));
        if self.learner == Learner::Margin {
            section.figures.push(margins_kept(results));
        }
        section.tables.push(self.by_configuration(results));
    }
}

impl BatchExperiment {
    fn lower_id(&self) -> String {
        Experiment::id(self).to_ascii_lowercase()
    }

    fn against_bound(&self, results: &Results<Configuration, Outcome>) -> Figure {
        let label = match self.learner {
            Learner::Batch => "bound (R/γ)²",
            Learner::Margin => "bound 3(R/γ)²",
        };
        let bounds: Vec<f64> = results.outcomes().map(|(_, o)| o.update_bound).collect();
        let mut layers = bound_line(label, &bounds, |bound| bound);
        for (pick, colour) in PICKS {
            let data = results
                .groups
                .iter()
                .filter(|g| g.configuration.pick == pick)
                .filter_map(|g| {
                    worst_pair(&g.outcomes, |o| Some((o.update_bound, o.updates as f64)))
                })
                .collect();
            layers.push(Layer::Points { name: format!("{pick} violation"), colour, data });
        }
        Figure {
            name: format!("{}-updates-against-bound", self.lower_id()),
            caption: "Updates against the bound, one marker for each kind of data and way to pick: the trial that came closest to its bound. A marker above the dashed line would refute the claim.".into(),
            x: Axis::log(label),
            y: Axis::log("updates"),
            layers,
        }
    }

    fn by_configuration(&self, results: &Results<Configuration, Outcome>) -> Table {
        let columns = [
            "data",
            "pick",
            "trials",
            "points",
            "γ",
            "updates",
            "most",
            "bound",
            "worst ratio",
            "passes",
            "least margin / γ",
        ];
        let name = format!("{}-batch", self.lower_id());
        let mut table = Table::new(&name, "Medians over trials; extremes over all", &columns);
        for group in &results.groups {
            let of =
                |f: fn(&Outcome) -> f64| -> Vec<f64> { group.outcomes.iter().map(f).collect() };
            let least = of(|o| o.margin_share).into_iter().reduce(f64::min);
            table.push(vec![
                group.configuration.workload.to_string(),
                group.configuration.pick.to_string(),
                group.outcomes.len().to_string(),
                median_text(&of(|o| o.points as f64), 0),
                median_text(&of(|o| o.gamma), 4),
                median_text(&of(|o| o.updates as f64), 1),
                format!("{:.0}", most(&of(|o| o.updates as f64))),
                median_text(&of(|o| o.update_bound), 1),
                format!("{:.4}", most(&of(Outcome::update_ratio))),
                median_text(&of(|o| o.passes), 1),
                least.map(|share| format!("{share:.4}")).unwrap_or_default(),
            ]);
        }
        table
    }
}

fn margins_kept(results: &Results<Configuration, Outcome>) -> Figure {
    let gammas: Vec<f64> = results.outcomes().map(|(_, o)| o.gamma).collect();
    let mut layers = bound_line("bound 1/3", &gammas, |_| bounds::margin_perceptron_margin(1.0));
    for (pick, colour) in PICKS {
        let data = results
            .groups
            .iter()
            .filter(|g| g.configuration.pick == pick)
            .flat_map(|g| g.outcomes.iter().map(|o| (o.gamma, o.margin_share)))
            .collect();
        layers.push(Layer::Points { name: format!("{pick} violation"), colour, data });
    }
    Figure {
        name: "k5-margins".into(),
        caption: "Margin of the output as a share of the stated margin γ, every trial. A marker below the dashed line would refute the claim. A share above 1 means that the stated separator is not the best one.".into(),
        x: Axis::log("stated margin γ"),
        y: Axis::linear("output margin / γ"),
        layers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_eval::{Group, Verdict};
    use rand::SeedableRng;

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
        }
    }

    #[test]
    fn every_broken_promise_is_an_exception() {
        assert_eq!(outcome().ratio(Learner::Batch), 0.5);
        assert!((outcome().ratio(Learner::Margin) - 2.0 / 3.0).abs() < 1e-15);
        let thin = Outcome { margin_share: 0.33, ..outcome() };
        assert!(thin.ratio(Learner::Margin) > 1.0 && thin.ratio(Learner::Batch) < 1.0);
        let negative = Outcome { margin_share: -0.1, ..outcome() };
        assert!(negative.ratio(Learner::Margin) > 1.0);
        for broken in [
            Outcome { converged: false, ..outcome() },
            Outcome { consistent: false, ..outcome() },
            Outcome { updates: 101, ..outcome() },
        ] {
            assert!(broken.ratio(Learner::Batch) > 1.0);
            assert!(broken.ratio(Learner::Margin) > 1.0);
        }
    }

    /// A planted wrong bound: a real trial on the tight instance judged by a third of the bound.
    #[test]
    fn a_third_of_the_bound_is_refuted() {
        for (learner, id) in [(Learner::Batch, "K4"), (Learner::Margin, "K5")] {
            let experiment = BatchExperiment { learner, inputs: Arc::new(Inputs::builtin()) };
            let configuration =
                Configuration { workload: Workload::Tight { dim: 30 }, pick: PickKind::Cyclic };
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let outcome = experiment.trial(&configuration, &mut rng).unwrap();
            let verdict = |outcome: Outcome| {
                let configuration = configuration.clone();
                let groups = vec![Group { configuration, planned: 1, outcomes: vec![outcome] }];
                let mut section = Section::default();
                experiment.evaluate(&Results { groups }, &mut section);
                assert_eq!(section.claims[0].id, id);
                section.claims[0].verdict
            };
            assert_eq!(verdict(outcome.clone()), Verdict::Holds);
            let third = outcome.update_bound / 3.0;
            assert_eq!(
                verdict(Outcome { update_bound: third, ..outcome.clone() }),
                Verdict::Violated
            );
            // Three times the margin promised is refuted by the margin perceptron's output.
            if learner == Learner::Margin {
                let share = outcome.margin_share / 4.0;
                let thin = Outcome { margin_share: share, ..outcome };
                assert_eq!(verdict(thin), Verdict::Violated);
            }
        }
    }
}
