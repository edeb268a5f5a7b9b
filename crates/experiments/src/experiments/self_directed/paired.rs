//! S9p: how many more mistakes the strong learner of DKTZ23 makes on a larger pool, compared with the centre of gravity
//! on the same points in random order.

use super::strong::{Kind, draw, strong};
use crate::experiments::common::*;
use crate::workload::Inputs;
use halfspaces_online::{CentreOfGravity, Perceptron, Start, VersionSpace, label_pool};

pub(crate) struct PairedGrowthExperiment {
    pub(crate) inputs: Arc<Inputs>,
}

/// Fraction of a pool that the strong learner may leave unlabelled.
const EPSILON: f64 = 0.1;
/// The reason why no measured value approaches the bound.
const COUNTS_FALL: &str = "as the bound is 0 and the counts fall while the pool grows";
/// A change to the claim.
const NOTHING_ADDED: &str = "changed: earlier versions allowed half as many additional mistakes as the centre of gravity makes; in the run with seed 20261205 no count came near that, so the claim is judged on other seeds only";

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    kind: Kind,
    dim: usize,
    /// Sizes of the two pools. The smaller pool consists of the first points of the larger one.
    sizes: [usize; 2],
}

/// Mistakes on the smaller and on the larger pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    strong: [usize; 2],
    gravity: [usize; 2],
    perceptron: [usize; 2],
}

impl Configuration {
    /// Number of mistakes that a doubling of the pool adds, divided by d.
    fn growth(&self, [few, many]: [usize; 2]) -> f64 {
        let doublings = (self.sizes[1] as f64 / self.sizes[0] as f64).log2();
        (many as f64 - few as f64) / doublings / self.dim as f64
    }
}

impl Experiment for PairedGrowthExperiment {
    about! {
        "S9p", "The strong learner of DKTZ23 makes no more mistakes on a larger pool";
        "S9p": "If a pool grows from n = 40 d² to 320 d² distinct points, the number of mistakes of the strong learner with random starts does not grow in expectation. Tested on three kinds of data, with d = 5 and, at full scale, also d = 8."
            ["DKTZ23 Theorem 3.1, boosting: its bound does not depend on n; that the counts do not grow is measured"]
            Measured, null "the perceptron in random order in place of the strong learner"
            halfspaces_online::{StrongLearner, Start};
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let planned = |(dim, kind): (usize, Kind)| Planned {
            configuration: Configuration { kind, dim, sizes: [40, 320].map(|n| n * dim * dim) },
            trials: scale.pick(24, 250, 600),
        };
        let dims = scale.pick(vec![5], vec![5], vec![5, 8]);
        let kinds = [Kind::StudentT, Kind::Sphere, Kind::Heavy];
        let settings = dims.into_iter().flat_map(|dim| kinds.clone().map(|kind| (dim, kind)));
        Ok(settings.map(planned).collect())
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        let Configuration { kind, dim, sizes } = setting;
        let (all, target) = draw(&self.inputs, kind, *dim, sizes[1], rng)?;
        let mut outcome = Outcome { strong: [0; 2], gravity: [0; 2], perceptron: [0; 2] };
        for (at, (points, labels)) in nested(&all, &target, sizes)?.into_iter().enumerate() {
            let learner = strong(*dim, EPSILON, Start::Random, rng.random())?;
            outcome.strong[at] = label_pool(learner, &points, &labels)?.1.mistakes();
            let centre = CentreOfGravity::new(*dim, rng.random())?;
            outcome.gravity[at] = mistakes(&mut VersionSpace::new(centre), &points, &labels)?;
            outcome.perceptron[at] = mistakes(&mut Perceptron::new(*dim)?, &points, &labels)?;
        }
        Ok(outcome)
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let mut judged = Vec::new();
        for group in &results.groups {
            let setting = &group.configuration;
            let values = group.values(|o| Some(setting.growth(o.strong)));
            let quantity = "mistakes / d per doubling of n";
            let evidence = Evidence::growth(quantity, group.planned, &values, 0.0);
            judged.push((format!("{}, d={}", setting.kind, setting.dim), evidence));
        }
        let of_perceptron = null_of(&results.groups, |c, o| c.growth(o.perceptron) > 0.0);
        let judged = Evidence::worst_of(&judged).with_note(NOTHING_ADDED).far_because(COUNTS_FALL);
        let evidence = [(judged, of_perceptron)];
        judge_all(section, Experiment::claims(self), evidence);
        section.summary.push("A learner in random order makes more mistakes with every doubling of the pool. A learner that chooses the order need not. The data are Student-t points with condition number 10^6, points on the sphere, and points with a heavy subspace; ε = 0.1, and the centre of gravity is estimated by hit-and-run. Pools with repeated points are left out, because the counts of both learners stop growing there. On the cube with few copies of each corner, on wdbc and on mushroom, the strong learner's count does grow (table s9-growth).".into());
        section.tables.push(by_kind(results));
    }
}

fn by_kind(results: &Results<Configuration, Outcome>) -> Table {
    type Row<'a> = &'a Group<Configuration, Outcome>;
    let growth = |row: &Row<'_>, of: fn(&Outcome) -> [usize; 2]| {
        mean_text(&row.values(|o| Some(row.configuration.growth(of(o)))), 3)
    };
    let interval = |row: &Row<'_>, of: fn(&Outcome) -> [usize; 2]| {
        mean_cells(&row.values(|o| Some(row.configuration.growth(of(o)))), 3)[1].clone()
    };
    table(
        "s9-paired",
        "Additional mistakes per doubling of the pool, divided by d; means over trials",
        &results.groups,
        &[
            ("data", &|row: &Row<'_>| row.configuration.kind.to_string()),
            ("d", &|row| row.configuration.dim.to_string()),
            ("trials", &|row| row.count()),
            ("n", &|row| row.configuration.sizes.map(|n| n.to_string()).join(" to ")),
            ("strong learner, random starts, ε=0.1", &|row| growth(row, |o| o.strong)),
            ("95 % interval", &|row| interval(row, |o| o.strong)),
            ("centre of gravity, random order", &|row| growth(row, |o| o.gravity)),
            ("perceptron, random order", &|row| growth(row, |o| o.perceptron)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn experiment() -> PairedGrowthExperiment {
        PairedGrowthExperiment { inputs: Arc::new(Inputs::builtin()) }
    }

    /// Three doublings in four dimensions, so that 12 additional mistakes are a growth of 1.
    fn setting() -> Configuration {
        Configuration { kind: Kind::Sphere, dim: 4, sizes: [100, 800] }
    }

    #[test]
    fn growth_is_worked_by_hand() {
        assert_eq!(setting().growth([20, 32]), 1.0);
    }

    #[test]
    fn growth_violates_the_claim() {
        let verdict = |strong: usize, perceptron: usize| {
            let outcome = |more: usize| Outcome {
                strong: [20, strong + more],
                gravity: [10, 34],
                perceptron: [30, perceptron],
            };
            let outcomes: Vec<Outcome> = (0..8).map(|i| outcome(i % 2)).collect();
            let group = Group { configuration: setting(), planned: 8, outcomes };
            let mut section = Section::default();
            experiment().evaluate(&Results { groups: vec![group] }, &mut section);
            section.claims[0].verdict
        };
        assert_eq!(verdict(17, 60), Verdict::Holds);
        assert_eq!(verdict(24, 60), Verdict::Violated);
        // The counts of the perceptron do not grow.
        assert_eq!(verdict(17, 30), Verdict::Weak);
    }

    /// Judges real runs after replacing the strong learner's counts with those of the centre of gravity.
    #[test]
    fn a_learner_in_random_order_is_refuted() {
        let configuration = Configuration { kind: Kind::Sphere, dim: 5, sizes: [1000, 8000] };
        let trial = |seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            experiment().trial(&configuration, &mut rng).unwrap()
        };
        let outcomes: Vec<Outcome> = (0..120).map(trial).collect();
        let verdict = |of: fn(Outcome) -> Outcome| {
            let outcomes = outcomes.iter().cloned().map(of).collect();
            let group = Group { configuration: configuration.clone(), planned: 120, outcomes };
            verdicts(&experiment(), vec![group])[0]
        };
        assert_eq!(verdict(|o| o), Verdict::Holds);
        assert_eq!(verdict(|o| Outcome { strong: o.gravity, ..o }), Verdict::Violated);
    }
}
