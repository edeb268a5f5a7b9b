//! The experiments of the suite, and their selection by id.

use crate::Failure;
use crate::console::say;
use crate::experiments::*;
use crate::workload::Inputs;
use halfspaces_eval::{AnyExperiment, Description, Scale};
use std::process::ExitCode;
use std::sync::Arc;

/// Every experiment, in the order of the ledger.
pub(crate) fn all(inputs: &Arc<Inputs>) -> Vec<Box<dyn AnyExperiment>> {
    vec![
        Box::new(HalvingExperiment),
        Box::new(PerceptronExperiment { inputs: inputs.clone() }),
        Box::new(BatchExperiment::batch_perceptron(inputs.clone())),
        Box::new(BatchExperiment::margin_perceptron(inputs.clone())),
        Box::new(KernelExperiment),
        Box::new(ModifiedExperiment { inputs: inputs.clone() }),
        Box::new(VersionSpaceExperiment { inputs: inputs.clone() }),
        Box::new(OtherBoundsExperiment { inputs: inputs.clone() }),
        Box::new(SphereExperiment),
        Box::new(MarginsExperiment),
        Box::new(ProcessExperiment),
        Box::new(StartExperiment),
        Box::new(StrongExperiment { inputs: inputs.clone() }),
        Box::new(PairedGrowthExperiment { inputs: inputs.clone() }),
        Box::new(StrongCostExperiment { inputs: inputs.clone() }),
        Box::new(RandomOrderExperiment),
        Box::new(BestRandomExperiment),
        Box::new(HugePoolsExperiment),
        Box::new(GreedyInLawExperiment),
        Box::new(OptimumExperiment),
        Box::new(RealPoolsExperiment::new(inputs.clone())),
        Box::new(ForsterExperiment { inputs: inputs.clone() }),
        Box::new(StepsExperiment),
        Box::new(CertificateExperiment),
        Box::new(PerspectronExperiment),
        Box::new(GlmExperiment),
        Box::new(MisspecifiedExperiment),
        Box::new(MassartExperiment),
        Box::new(MassartRivalsExperiment),
        Box::new(Table1Experiment),
        Box::new(HardExperiment),
        Box::new(SelectionExperiment),
        Box::new(RealNoiseExperiment::new(inputs.clone())),
        Box::new(TablesExperiment),
        Box::new(WrongLabelsExperiment { inputs: inputs.clone() }),
        Box::new(PushAwayExperiment),
        Box::new(ProjectionExperiment),
        Box::new(PositionedExperiment { inputs: inputs.clone() }),
    ]
}

/// Seconds that each experiment takes on two cores at smoke, standard and full scale, for the estimate of the remaining
/// time. Only their proportions matter, since a run adjusts the values to its measured speed.
const COSTS: [(&str, [f64; 3]); 38] = [
    ("K1", [0.4, 4.9, 163.0]),
    ("K3", [0.5, 5.6, 31.0]),
    ("K4", [0.3, 1.7, 7.0]),
    ("K5", [0.6, 6.8, 25.0]),
    ("K6", [0.1, 1.0, 10.4]),
    ("K7", [0.1, 4.8, 115.0]),
    ("K8", [0.8, 12.3, 180.0]),
    ("K10", [0.1, 13.9, 157.0]),
    ("S1", [3.8, 71.2, 519.0]),
    ("S3", [0.7, 4.1, 10.0]),
    ("S5", [0.4, 2.8, 6.4]),
    ("S13", [0.1, 0.1, 1.1]),
    ("S9", [1.8, 51.9, 1428.0]),
    ("S9p", [0.5, 5.1, 84.0]),
    ("S9c", [0.1, 11.2, 252.0]),
    ("S6", [1.2, 21.5, 226.0]),
    ("S14", [0.1, 0.2, 1.5]),
    ("S11", [1.7, 11.7, 400.0]),
    ("S15", [1.1, 10.8, 77.0]),
    ("S12", [0.3, 6.9, 119.0]),
    ("S10", [4.6, 41.6, 256.0]),
    ("F1", [0.7, 15.5, 45.0]),
    ("F4", [0.1, 1.4, 11.7]),
    ("P1", [0.6, 2.4, 16.9]),
    ("P3", [7.9, 53.8, 605.0]),
    ("P7", [9.8, 11.4, 210.0]),
    ("P15", [1.5, 16.9, 67.0]),
    ("P9", [1.9, 6.3, 50.0]),
    ("P9r", [0.2, 2.3, 25.0]),
    ("P10", [0.3, 35.5, 187.0]),
    ("P13", [2.3, 21.8, 183.0]),
    ("P14", [0.2, 0.8, 4.9]),
    ("PR", [0.9, 23.6, 342.0]),
    ("PT", [0.3, 3.9, 30.0]),
    ("PW", [0.2, 1.3, 4.6]),
    ("P11", [1.9, 5.6, 26.0]),
    ("P12", [1.5, 19.3, 120.0]),
    ("PM", [1.1, 16.2, 102.0]),
];

/// Seconds on two cores at huge scale, for the experiments that are larger there than at full scale. The values are
/// extrapolated from the growth of the running times with the size.
const HUGE_COSTS: [(&str, f64); 2] = [("S1", 60_000.0), ("P10", 30_000.0)];

/// The cost of an experiment at a scale in seconds, from [`COSTS`] and [`HUGE_COSTS`].
pub(crate) fn cost(id: &str, scale: Scale) -> f64 {
    let known = COSTS.iter().find(|(known, _)| *known == id);
    let Some((_, [smoke, standard, full])) = known else {
        unreachable!("every experiment of the suite has a cost: {id}")
    };
    let larger = HUGE_COSTS.iter().find(|(known, _)| *known == id).map_or(*full, |(_, cost)| *cost);
    scale.or_huge(scale.pick(*smoke, *standard, *full), larger)
}

/// The experiments selected by their ids or by the ids of their claims; all experiments if `only` is empty.
pub(crate) fn chosen(
    inputs: &Arc<Inputs>,
    only: &[String],
) -> Result<Vec<Box<dyn AnyExperiment>>, Failure> {
    let named: Vec<&str> = only.iter().flat_map(|ids| listed(ids)).collect();
    let suite: Vec<_> = all(inputs).into_iter().map(|e| (e.describe(), e)).collect();
    let names = |about: &Description, id: &str| {
        about.id.eq_ignore_ascii_case(id)
            || about.claims.iter().any(|claim| claim.id.eq_ignore_ascii_case(id))
    };
    let unknown = named.iter().find(|id| !suite.iter().any(|(about, _)| names(about, id)));
    let fault = match (unknown, only.is_empty() || !named.is_empty()) {
        (Some(id), _) => format!("--only {id}: no such experiment or claim"),
        (None, false) => "--only: expected at least one experiment or claim".into(),
        (None, true) => {
            let wanted =
                |about: &Description| only.is_empty() || named.iter().any(|id| names(about, id));
            return Ok(suite.into_iter().filter(|(a, _)| wanted(a)).map(|(_, e)| e).collect());
        }
    };
    // The id of an experiment may be that of its first claim.
    let ids = suite.iter().flat_map(|(about, _)| {
        let claims = about.claims.iter().map(|claim| claim.id.as_str());
        std::iter::once(about.id).chain(claims.filter(|id| *id != about.id))
    });
    Err(format!("{fault}; use one of {}", ids.collect::<Vec<_>>().join(", ")).into())
}

/// The names in a list separated by commas or spaces.
pub(crate) fn listed(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ' ']).filter(|name| !name.is_empty())
}

/// Prints the experiments, their claims and the number of trials at each scale.
pub(crate) fn list() -> Result<ExitCode, Failure> {
    let mut text = String::new();
    for experiment in all(&Arc::new(Inputs::builtin())) {
        let about = experiment.describe();
        text.push_str(&format!("{}  {}\n", about.id, about.title));
        for claim in about.claims {
            let line = format!("    {:<4} {} [{}]\n", claim.id, claim.statement, claim.source);
            text.push_str(&line);
        }
        let mut counts = Vec::new();
        for scale in Scale::ALL {
            counts.push(format!("{scale} {}", experiment.keys(scale, 1)?.len()));
        }
        text.push_str(&format!("    trials: {}\n", counts.join(", ")));
    }
    say(&text)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_eval::{Claim, MAX_SAMPLED_CLAIMS, TrialKey, TrialStore, Verdict};
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    /// Largest cost at smoke scale, in seconds, of an experiment that this test runs.
    const QUICK: f64 = 0.15;

    #[test]
    fn every_experiment_has_a_cost() {
        let suite = all(&Arc::new(Inputs::builtin()));
        assert_eq!(suite.len(), COSTS.len());
        for experiment in &suite {
            let id = experiment.describe().id;
            let costs = Scale::ALL.map(|scale| cost(id, scale));
            assert!(costs[0] > 0.0 && costs.is_sorted(), "{id}: {costs:?}");
        }
    }

    /// The number of words in a text, not counting formulas.
    fn words(text: &str) -> usize {
        let word = |token: &&str| {
            let token: String = token.chars().filter(|c| !"-'’".contains(*c)).collect();
            let token = token.trim_matches(|c: char| ".,;:()".contains(c));
            let letters = token.chars().all(|c| c.is_ascii_alphabetic());
            letters && (token.len() > 1 || token.eq_ignore_ascii_case("a"))
        };
        text.split_whitespace().filter(word).count()
    }

    #[test]
    fn statements_have_at_most_forty_words() {
        assert_eq!(words("At n >= 4 points (of R^d), a self-directed w makes lg n mistakes."), 8);
        for experiment in all(&Arc::new(Inputs::builtin())) {
            for claim in experiment.describe().claims {
                let count = words(&claim.statement);
                assert!(count <= 40, "{}: {count} words in \"{}\"", claim.id, claim.statement);
            }
        }
    }

    /// The number of claims whose verdict depends on chance is at most the number for which the significance level of a
    /// refutation is chosen.
    #[test]
    fn at_most_the_allowed_number_of_claims_rest_on_chance() {
        let store = TrialStore::read(&[]).unwrap();
        let (mut ids, mut sampled) = (BTreeSet::new(), 0);
        for experiment in all(&Arc::new(Inputs::builtin())) {
            let section = experiment.section(Scale::Full, 1, &store).unwrap();
            assert_eq!(section.claims.len(), experiment.describe().claims.len());
            for claim in section.claims {
                assert!(ids.insert(claim.id.clone()), "two claims have the id {}", claim.id);
                assert!(!claim.null.is_empty(), "{} has no null", claim.id);
                sampled += usize::from(claim.tests > 0);
            }
        }
        assert!(sampled > 20 && sampled <= MAX_SAMPLED_CLAIMS, "{sampled}");
    }

    /// A planned trial that is missing may have failed. If a trial of a setting is missing, no claim that depends on
    /// the setting holds.
    #[test]
    fn a_missing_trial_is_noticed() {
        let open = |claim: &Claim| claim.verdict == Verdict::Inconclusive;
        let mut tried = 0;
        for experiment in all(&Arc::new(Inputs::builtin())) {
            let id = experiment.describe().id;
            let empty = TrialStore::read(&[]).unwrap();
            let section = experiment.section(Scale::Smoke, 1, &empty).unwrap();
            assert!(section.claims.iter().all(open), "{id}: a claim that needs no trial");
            if cost(id, Scale::Smoke) > QUICK {
                continue;
            }
            let keys = experiment.keys(Scale::Smoke, 1).unwrap();
            let all = Mutex::new(empty);
            experiment.run(Scale::Smoke, 1, &|_| true, &all, &|_| ()).unwrap();
            let all = all.into_inner().unwrap();
            let of_all = experiment.section(Scale::Smoke, 1, &all).unwrap();
            let last = |k: &TrialKey| {
                keys.iter().rfind(|other| other.configuration == k.configuration) == Some(k)
            };
            for missing in keys.iter().filter(|k| last(k)) {
                let mut store = TrialStore::read(&[]).unwrap();
                for key in keys.iter().filter(|key| *key != missing) {
                    store.append(key, all.get(key).unwrap().clone()).unwrap();
                }
                let section = experiment.section(Scale::Smoke, 1, &store).unwrap();
                let noticed = section.claims.iter().any(open);
                assert!(noticed || of_all.claims.iter().all(open), "not noticed: {missing}");
                tried += 1;
            }
        }
        assert!(tried > 20, "{tried}");
    }
}
