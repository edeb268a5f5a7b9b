//! The claims and their evidence.

use super::learners::{kept_margin, learn, theorem};
use super::plots::{figure, learning_table, margins_table};
use super::workload::{Configuration, DELTA, Kind, Outcome, Run, Source};
use crate::experiments::common::*;
use halfspaces_pac::{RandomProjection, projected_margin};
use rand::Rng;

pub(crate) struct ProjectionExperiment;

/// Number of points on which errors are evaluated.
const JUDGED: usize = 1000;

const CLOSER: &str = "changed after a verdict: ε was 0.2 for the sample, and the claim was weak in the ledger of seed 115";

/// The factor by which the null of P12 reduces the dimension m.
const MOST_DIVIDED: usize = 64;

impl Experiment for ProjectionExperiment {
    about! {
        "P12", "Random projection keeps margins, and the Perspectron learns from projected points";
        "P12": "After a random projection to m = ⌈16 ln(4N/δ)/(γ²(1-γ/2))⌉ dimensions and rescaling into the unit ball, N points with margin γ have a margin of at least γ/(2+γ) with probability at least 1 - 3δ/2 (N = 20, γ = 0.5, δ = 0.1)."
            ["Arriaga and Vempala 1999, Corollary 2; CKST24 §1.2; the rescaled form is ours"]
            Proved, null "a projection to m/64 dimensions"
            halfspaces_pac::{RandomProjection, projected_dimension, projected_margin};
        "P12p": "After a random projection to m dimensions, the Perspectron with margin parameter γ/(2+γ) has error at most η + ε with probability at least 1 - δ; η = δ = 0.1. Tested with its theorem's schedule on sparse points (ε = 0.35, γ = 0.8), and on a sample of 400 dense points (ε = 0.1, γ = 0.5; at smoke scale 150 points, γ = 0.8)."
            ["CKST24 §1.2 and Theorem 3 with our constants; proved for the theorem's schedule, measured for the sample"]
            Measured, null "the majority label"
            halfspaces_pac::{RandomProjection, Projected, Perspectron, SamplePerspectron};
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let mut plan = Vec::new();
        let dims = scale.pick(vec![1000], vec![1000, 4000], vec![1000, 4000, 16_000]);
        for kind in [Kind::Dense, Kind::Sparse] {
            for dim in &dims {
                // The cost of sparse points depends only on their number of entries.
                let dim = if kind == Kind::Sparse { 50 * dim } else { *dim };
                for divisor in [1, 4, 16, MOST_DIVIDED] {
                    let (points, margin) = (20, 0.5);
                    let configuration =
                        Configuration::Margins { kind, dim, points, margin, divisor };
                    // With a failure probability of 3δ/2, a verdict needs at least 18 trials without a failure.
                    plan.push(Planned { configuration, trials: scale.pick(19, 30, 200) });
                }
            }
        }
        let noise = 0.1;
        let configuration = Configuration::Learn {
            kind: Kind::Dense,
            run: Run::Sample,
            dim: scale.pick(1000, 2000, 2000),
            points: scale.pick(150, 400, 400),
            margin: scale.pick(0.8, 0.5, 0.5),
            noise,
            // Even the halfspace w* has error η, so at ε = 0.2 its distance from the bound would be a factor of 3.
            excess: 0.1,
        };
        // With a failure probability of δ, a verdict needs at least 29 trials without a failure.
        plan.push(Planned { configuration, trials: scale.pick(4, 30, 120) });
        let (margin, excess) = (0.8, 0.35);
        let examples = theorem(noise, projected_margin(margin), excess, 0)?.plan().examples();
        let configuration = Configuration::Learn {
            kind: Kind::Sparse,
            run: Run::Theorem,
            dim: scale.pick(5000, 20_000, 20_000),
            points: examples as usize,
            margin,
            noise,
            excess,
        };
        plan.push(Planned { configuration, trials: scale.pick(4, 30, 120) });
        Ok(plan)
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        match *setting {
            Configuration::Margins { kind, dim, points, margin, .. } => {
                let source = Source::new(kind, dim, margin, rng)?;
                let projection = RandomProjection::new(dim, setting.projected(), rng.next_u64())?;
                let share = match kind {
                    Kind::Dense => kept_margin(&source.dense(points, rng)?, &source, &projection)?,
                    Kind::Sparse => {
                        kept_margin(&source.sparse(points, rng)?, &source, &projection)?
                    }
                };
                Ok(Outcome::Margins { share })
            }
            Configuration::Learn { kind, dim, points, margin, .. } => {
                let source = Source::new(kind, dim, margin, rng)?;
                let count = points + JUDGED;
                match kind {
                    Kind::Dense => learn(&source.dense(count, rng)?, &source, setting, rng),
                    Kind::Sparse => learn(&source.sparse(count, rng)?, &source, setting, rng),
                }
            }
        }
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let (mut margins, mut learners) = (Vec::new(), Vec::new());
        for group in &results.groups {
            let name = group.configuration.to_string();
            match &group.configuration {
                Configuration::Margins { margin, divisor: 1, .. } => {
                    let least = projected_margin(*margin) / margin;
                    margins.push((name, within_bound(group, 1.5 * DELTA, |o| least / o.share())));
                }
                // These settings are used only in the figure and the table, and by the null.
                Configuration::Margins { .. } => (),
                Configuration::Learn { noise, excess, .. } => {
                    let target = noise + excess;
                    learners.push((name, within_bound(group, DELTA, |o| o.errors().0 / target)));
                }
            }
        }
        let evidence = [margins, learners].map(|judged| Evidence::worst_of(&judged));
        let few = groups_of(
            results,
            |c| matches!(c, Configuration::Margins { divisor, .. } if *divisor == MOST_DIVIDED),
        );
        let few = null_of(
            few,
            |c, o| matches!(c, Configuration::Margins { margin, .. } if o.share() < projected_margin(*margin) / margin),
        );
        let learned = groups_of(results, |c| matches!(c, Configuration::Learn { .. }));
        let constant = null_of(learned, |c, o| match (c, o) {
            (Configuration::Learn { noise, excess, .. }, Outcome::Learn { constant, .. }) => {
                *constant > noise + excess
            }
            _ => unreachable!("an outcome of another part"),
        });
        let [margins, learning] = evidence;
        let learning = learning.with_note(CLOSER);
        let evidence = [(margins, few), (learning, constant)];
        judge_all(section, Experiment::claims(self), evidence);
        section.summary.push("The margins shown are those of the image of w* on the projected points, divided by γ. P12 claims a margin of γ/(2+γ) for the dimension m; smaller dimensions are shown for comparison. The dimension m depends on the number of points and on their margin, but not on d. It is larger than needed: a projection to m/4 dimensions still keeps the margin.".into());
        section.summary.push("Errors are measured on 1000 fresh points and averaged exactly over the labels. On sparse points, which have 14 nonzero entries each, the learner runs with its theorem's schedule. On dense points, it makes one pass over its sample. The same learner without projection is given the same examples.".into());
        section.figures.push(figure(results));
        section.tables.extend([margins_table(results), learning_table(results)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn margins_of(divisor: usize) -> Configuration {
        Configuration::Margins { kind: Kind::Sparse, dim: 3000, points: 20, margin: 0.5, divisor }
    }

    fn outcomes(setting: &Configuration, trials: u64) -> Vec<Outcome> {
        let trial = |seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            ProjectionExperiment.trial(setting, &mut rng).unwrap()
        };
        (0..trials).map(trial).collect()
    }

    fn verdicts(groups: Vec<Group<Configuration, Outcome>>) -> Vec<Verdict> {
        super::verdicts(&ProjectionExperiment, groups)
    }

    /// Projections to the stated dimension satisfy the claim; projections to 1/32 of that dimension violate it.
    #[test]
    fn a_planted_wrong_dimension_is_caught() {
        let verdict = |divisor| {
            let outcomes = outcomes(&margins_of(divisor), 20);
            let planned = outcomes.len();
            verdicts(vec![Group { configuration: margins_of(1), planned, outcomes }])[0]
        };
        assert_eq!(verdict(1), Verdict::Holds);
        assert_eq!(verdict(32), Verdict::Violated);
    }

    /// In one dimension, the image of w* is a sum of four equal numbers with random signs. The sum is 0 with
    /// probability 3/8.
    #[test]
    fn a_target_that_projects_to_zero_keeps_no_margin() {
        let shares: Vec<f64> =
            outcomes(&margins_of(100_000), 40).iter().map(Outcome::share).collect();
        let none = shares.iter().filter(|share| **share == 0.0).count();
        assert!((8..=22).contains(&none), "{none} of 40");
    }

    #[test]
    fn a_learner_that_misses_its_target_violates_the_claim() {
        let configuration = Configuration::Learn {
            kind: Kind::Dense,
            run: Run::Sample,
            dim: 300,
            points: 200,
            margin: 0.6,
            noise: 0.1,
            excess: 0.2,
        };
        let real = outcomes(&configuration, 2);
        for outcome in &real {
            let (projected, plain) = outcome.errors();
            assert!(plain <= 0.3 && projected <= 0.3);
        }
        let verdict = |error: f64| {
            let outcome = Outcome::Learn { projected: error, constant: 0.5, plain: 0.1 };
            let group = Group {
                configuration: configuration.clone(),
                planned: 30,
                outcomes: vec![outcome; 30],
            };
            verdicts(vec![group])[1]
        };
        assert_eq!(verdict(0.29), Verdict::Holds);
        assert_eq!(verdict(0.31), Verdict::Violated);
    }
}
