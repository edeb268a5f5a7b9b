//! PW: an audit's upper bound on the number of wrong labels, and the audit's ranking compared with the ranking by a
//! classifier that was trained on the labels that it judges.

use crate::experiments::common::*;
use crate::workload::{Inputs, Workload, of_either};
use halfspaces_linalg::{Classifier, FitSample, Label, Params, PointSet, Threads};
use halfspaces_pac::{LabelAudit, LogisticRegression};

/// Largest allowed probability that the bound is exceeded.
const FAILURE: f64 = 0.05;
const FOLDS: usize = 5;
/// Number of rows of a trial.
const ROWS: usize = 500;

pub(crate) struct WrongLabelsExperiment {
    pub(crate) inputs: Arc<Inputs>,
}

/// The labels that may be flipped, independently of each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Display)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Flips {
    #[strum(to_string = "10 % everywhere")]
    Everywhere,
    /// Points beyond the median distance from the halfspace between the class means.
    #[strum(to_string = "25 % of the far half")]
    Far,
    /// Every label is flipped with probability 1/2, so no learner can predict it.
    #[strum(to_string = "coins")]
    Coins,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Configuration {
    #[serde(flatten)]
    workload: Workload,
    flips: Flips,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    rows: usize,
    wrong: usize,
    disagreements: usize,
    bound: usize,
    likely: usize,
    /// Number of wrong labels among the first k rows of the ranking, where k is the number of all wrong labels.
    found: usize,
    /// The same count for the ranking by one fit to all rows, trained on the labels that it judges.
    found_in_sample: usize,
}

impl Outcome {
    fn exceeded(&self) -> bool {
        self.wrong > self.bound
    }

    /// Whether the number of wrong labels exceeds the bound of the null, which is the number of disagreements.
    fn null_exceeded(&self) -> bool {
        self.wrong > self.disagreements
    }

    /// The fraction of the wrong labels that is found; 1 if there are no wrong labels.
    fn share(&self, found: usize) -> f64 {
        if self.wrong == 0 { 1.0 } else { found as f64 / self.wrong as f64 }
    }
}

/// Draws rows without replacement, with their own labels as the truth.
fn sample<P: PointSet>(
    points: &P,
    labels: &[Label],
    rng: &mut ChaCha8Rng,
) -> Result<(P, Vec<Label>), Failure> {
    let rows = rand::seq::index::sample(rng, points.len(), ROWS.min(points.len())).into_vec();
    Ok((points.select(&rows)?, rows.iter().map(|row| labels[*row]).collect()))
}

fn audit<P: PointSet>(
    points: &P,
    truth: &[Label],
    flips: Flips,
    rng: &mut ChaCha8Rng,
) -> Result<Outcome, Failure> {
    let centre = halfspaces_data::centroid_target(points, truth)?;
    let values = halfspaces_linalg::margins(points, centre.normal())?;
    let mut sizes: Vec<f64> = values.iter().map(|v| v.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let median = sizes[sizes.len() / 2];
    let rate = |value: f64| match flips {
        Flips::Everywhere => 0.1,
        Flips::Far => {
            if value.abs() >= median {
                0.25
            } else {
                0.0
            }
        }
        Flips::Coins => 0.5,
    };
    let flipped: Vec<bool> = values.iter().map(|v| rng.random::<f64>() < rate(*v)).collect();
    let given = truth.iter().zip(&flipped);
    let given: Vec<Label> = given.map(|(y, flipped)| if *flipped { -*y } else { *y }).collect();

    let learner = LogisticRegression::params().check()?;
    let audit = LabelAudit::run(&learner, points, &given, FOLDS, rng.random(), Threads::ONE)?;
    let wrong = flipped.iter().filter(|t| **t).count();
    let found = audit.ranking().iter().take(wrong).filter(|s| flipped[s.row]).count();
    let fit = learner.fit(points, &given)?;
    let mut in_sample = Vec::with_capacity(given.len());
    for (row, (x, y)) in points.rows().zip(&given).enumerate() {
        in_sample.push((y.as_f64() * fit.decision_value(x)?, row));
    }
    in_sample.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let found_in_sample = in_sample.iter().take(wrong).filter(|(_, row)| flipped[*row]).count();
    Ok(Outcome {
        rows: given.len(),
        wrong,
        disagreements: audit.folds().iter().map(|fold| fold.errors()).sum(),
        bound: audit.wrong_at_most(FAILURE)?,
        likely: audit.likely_wrong(),
        found,
        found_in_sample,
    })
}

impl Experiment for WrongLabelsExperiment {
    about! {
        "PW", "Wrong labels: an upper bound on their number, and their location";
        "PW": "If labels are wrong independently, each with probability at most 1/2, the number of wrong labels exceeds the audit's bound with probability at most δ = 0.05. The bound sums D + √(2NL) over five folds, with D disagreements, L = ln(5/δ), and N as below."
            ["Hoeffding's inequality; ours, proved in the documentation of wrong_labels_bound"]
            Proved, null "a third of the reported bound, if every label is a coin flip"
            halfspaces_pac::{LabelAudit, wrong_labels_bound};
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let mut plan = Vec::new();
        for name in self.inputs.real() {
            for flips in [Flips::Everywhere, Flips::Far, Flips::Coins] {
                let configuration =
                    Configuration { workload: Workload::Own { name: name.clone() }, flips };
                plan.push(Planned { configuration, trials: scale.pick(8, 40, 200) });
            }
        }
        Ok(plan)
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        of_either!(&self.inputs.pool(&setting.workload, rng)?, pool => {
            let (points, truth) = sample(&pool.points, &pool.labels, rng)?;
            audit(&points, &truth, setting.flips, rng)
        })
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let outcomes = || results.outcomes().map(|(_, o)| o);
        let ratios: Vec<f64> = outcomes().map(|o| o.wrong as f64 / o.bound as f64).collect();
        let coins = results.outcomes().filter(|(c, _)| c.flips == Flips::Coins);
        let (trials, null) = coins.fold((0, 0), |(trials, null), (_, o)| {
            (trials + 1, null + usize::from(o.null_exceeded()))
        });
        let evidence = Evidence::quantile(results.planned(), &ratios, FAILURE).with_note(&format!(
            "the number of disagreements is exceeded in {null} of {trials} trials with coins"
        ));
        let coins = groups_of(results, |c| c.flips == Flips::Coins);
        let third = null_of(coins, |_, o| 3 * o.wrong > o.bound);
        judge_all(section, Experiment::claims(self), [(evidence, third)]);
        section.summary.push("Samples have 500 rows of real data, whose own labels are taken as the truth. Labels are flipped with probability 0.1 everywhere, with probability 0.25 beyond the median distance from the halfspace between the class means, or with probability 1/2 everywhere (coins). PW is judged over all of these trials together. D counts the disagreements of a fold with the classifier trained on the other folds, and N is the smaller of (√(L/2) + √(L/2 + 2D))² and the number of points in the fold. A person reads the ranking from the top. \"Found\" is the fraction of the wrong labels that is among the first k rows, where k is the number of wrong labels; \"found in sample\" is the fraction for one fit to all rows, trained on the labels that it judges. With coins, no ranking finds more than half of the wrong labels on average, and a random ranking finds as many.".into());
        section.tables.push(by_configuration(results));
    }
}

fn by_configuration(results: &Results<Configuration, Outcome>) -> Table {
    table(
        "pw-wrong-labels",
        "Medians over trials of at most 500 rows. The columns \"exceeded\" count trials; \"null exceeded\" means that more labels are wrong than the number of disagreements",
        &results.groups,
        &[
            ("data", &|g| g.configuration.workload.to_string()),
            ("labels turned", &|g| g.configuration.flips.to_string()),
            ("trials", &|g| g.count()),
            ("rows", &|g| g.median(0, |o| o.rows as f64)),
            ("wrong", &|g| g.median(0, |o| o.wrong as f64)),
            ("disagreements", &|g| g.median(0, |o| o.disagreements as f64)),
            ("bound", &|g| g.median(0, |o| o.bound as f64)),
            ("bound exceeded", &|g| g.outcomes.iter().filter(|o| o.exceeded()).count().to_string()),
            ("null exceeded", &|g| {
                g.outcomes.iter().filter(|o| o.null_exceeded()).count().to_string()
            }),
            ("likely wrong", &|g| g.median(0, |o| o.likely as f64)),
            ("found", &|g| g.median(3, |o| o.share(o.found))),
            ("found in sample", &|g| g.median(3, |o| o.share(o.found_in_sample))),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn experiment() -> WrongLabelsExperiment {
        WrongLabelsExperiment { inputs: Arc::new(Inputs::builtin()) }
    }

    fn outcomes(flips: Flips, trials: u64) -> Vec<Outcome> {
        let workload = Workload::Own { name: "wdbc".into() };
        let setting = Configuration { workload, flips };
        let trial = |seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            experiment().trial(&setting, &mut rng).unwrap()
        };
        (0..trials).map(trial).collect()
    }

    /// Real trials, judged by the bound, by the disagreements in its place, and with half of the planned trials
    /// missing.
    #[test]
    fn the_bound_holds_and_the_null_does_not() {
        let workload = Workload::Own { name: "wdbc".into() };
        let configuration = Configuration { workload, flips: Flips::Coins };
        let verdict = |outcomes: Vec<Outcome>, planned: usize| {
            let group = Group { configuration: configuration.clone(), planned, outcomes };
            verdicts(&experiment(), vec![group])[0]
        };
        // Each of a few real trials counts ten times, so that there are as many trials as the plan needs.
        let real: Vec<Outcome> = outcomes(Flips::Coins, 8).into_iter().cycle().take(80).collect();
        assert_eq!(verdict(real.clone(), 80), Verdict::Holds);
        let null = |o: &Outcome| Outcome { bound: o.disagreements, ..o.clone() };
        assert_eq!(verdict(real.iter().map(null).collect(), 80), Verdict::Violated);
        assert_eq!(verdict(real[..40].to_vec(), 80), Verdict::Inconclusive);
    }

    #[test]
    fn the_far_half_is_where_wrong_labels_are_found() {
        let far = outcomes(Flips::Far, 3);
        assert!(far.iter().all(|o| o.rows == 500 && (30..95).contains(&o.wrong)), "{far:?}");
        assert!(far.iter().all(|o| 10 * o.found >= 7 * o.wrong), "{far:?}");
    }
}
