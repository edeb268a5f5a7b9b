//! S15, S15v: the greedy learner on whole pools of up to 10^80 points.

use super::greedy::{GreedyRun, drawn, real};
use super::play::{chains, start};
use super::workload::{SHORT, power};
use crate::experiments::common::*;

pub(crate) struct GreedyInLawExperiment;

/// The numbers of points, as powers of ten. Claims are not judged at the first two numbers.
const SIZES: [i32; 8] = [4, 6, 10, 16, 20, 30, 50, 80];
const JUDGED: usize = 2;

/// The claimed range of the mistakes of greedy, in units of d lnln n.
const RANGE: [f64; 2] = [0.85, 1.1];

/// A change made after a result on a development seed.
const REPLACED: &str = "changed on development seeds: the first version claimed at most 4 d mistakes, which runs on 10^80 points refuted; the second claimed 0.9 to 1.1 times d lnln n, which a smoke run could not decide";
const WIDER: &str = "changed on a development seed: the first version allowed 2 %, which a smoke run could not decide";

/// Largest allowed difference between the means of simulated and real runs: relative for mistakes, absolute for ln sin
/// θ.
const AGREE: [f64; 2] = [0.03, 0.25];

/// Number of simulated runs for each run on points.
const DRAWN_PER_REAL: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Configuration {
    /// Simulated runs of the greedy learner and of Algorithm 1 at every size.
    Drawn { dim: usize },
    /// A run of the greedy learner on points, compared with simulated runs.
    Real { dim: usize, points: usize },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// The run of the greedy learner and the mistakes of Algorithm 1 at each of [`SIZES`].
    Drawn(Vec<(GreedyRun, f64)>),
    /// The run on points, the simulated runs, and the runs simulated with a tenth of the points.
    Real(GreedyRun, Vec<GreedyRun>, Vec<GreedyRun>),
}

fn at(outcome: &Outcome, size: usize) -> (GreedyRun, f64) {
    of_part!(outcome, Outcome::Drawn(runs) => runs[size])
}

/// The mean over the simulated runs minus the value of the real run, for the mistakes (relative to that mean) and for
/// ln sin θ. There is one such pair for the runs simulated with all points, and one for those simulated with a tenth of
/// the points.
fn differences(outcome: &Outcome) -> [[f64; 2]; 2] {
    let (run, all, tenth) = of_part!(outcome, Outcome::Real(run, all, tenth) => (run, all, tenth));
    [all, tenth].map(|drawn| {
        let mean =
            |of: &dyn Fn(&GreedyRun) -> f64| drawn.iter().map(of).sum::<f64>() / drawn.len() as f64;
        let mistakes = mean(&|r| r.mistakes as f64);
        [(mistakes - run.mistakes as f64) / mistakes, mean(&|r| r.log_sin) - run.log_sin]
    })
}

/// The slack of a difference of means, as a multiple of the quantity compared (the number of mistakes, or sin θ).
fn slack(part: usize, difference: f64) -> f64 {
    match part {
        0 => (1.0 + AGREE[0]) / (1.0 + difference),
        _ => (AGREE[1] - difference).exp(),
    }
}

impl Experiment for GreedyInLawExperiment {
    about! {
        "S15", "Greedy on pools of up to 10^80 points, without buckets";
        "S15": "Simulated from its exact distribution, the greedy learner on the whole pool makes between 0.85 d lnln n and 1.1 d lnln n mistakes in expectation on n = 10^10 to 10^80 uniform points on the sphere, for d = 10 and 30."
            ["ours: docs/theory/algorithm-1-in-law.md; the distribution is proved, the numbers are measured"]
            Measured, null "Algorithm 1 at the same n";
        "S15v": "Runs of the greedy learner simulated from their exact distribution agree with runs on actual points: mean mistakes to within 3 %, mean ln sin θ at the end to within 0.25. Tested at n = 10^4 (d = 5); beyond smoke scale also at n = 10^4 (d = 30) and 10^5 (d = 10)."
            ["ours: docs/theory/algorithm-1-in-law.md"]
            Proved, null "runs simulated with a tenth of the points"
            halfspaces_online::{Greedy};
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let mut plan = Vec::new();
        for dim in [10, 30] {
            let configuration = Configuration::Drawn { dim };
            plan.push(Planned { configuration, trials: scale.pick(20, 40, 64) });
        }
        let real = [
            (5, 10_000, [700, 2500, 20_000]),
            (30, 10_000, [0, 300, 2000]),
            (10, 100_000, [0, 250, 2000]),
        ];
        for (dim, points, [smoke, standard, full]) in real {
            let trials = scale.pick(smoke, standard, full);
            if trials > 0 {
                plan.push(Planned { configuration: Configuration::Real { dim, points }, trials });
            }
        }
        Ok(plan)
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        match *setting {
            Configuration::Drawn { dim } => {
                let mut runs = Vec::with_capacity(SIZES.len());
                for e in SIZES {
                    let n = power(e);
                    let algorithm_1 = chains(start(dim, rng)?, n, dim, SHORT, rng).total();
                    runs.push((drawn(n, dim, rng)?, algorithm_1));
                }
                Ok(Outcome::Drawn(runs))
            }
            Configuration::Real { dim, points } => {
                let run = real(points, dim, rng)?;
                let mut of = |points: f64| -> Result<Vec<GreedyRun>, Failure> {
                    (0..DRAWN_PER_REAL).map(|_| drawn(points, dim, rng)).collect()
                };
                let points = points as f64;
                Ok(Outcome::Real(run, of(points)?, of(points / 10.0)?))
            }
        }
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let (mut few, mut agree) = (Vec::new(), Vec::new());
        let (mut rival, mut off) = (Vec::new(), Vec::new());
        for group in &results.groups {
            match group.configuration {
                Configuration::Drawn { dim } => {
                    let d = dim as f64;
                    for (size, e) in SIZES.iter().enumerate().skip(JUDGED) {
                        let unit = d * power(*e).ln().ln();
                        let [least, most] = RANGE;
                        for (sign, limit) in [(-1.0, -least), (1.0, most)] {
                            let values = group
                                .values(|o| sign * at(o, size).0.mistakes as f64 / unit - limit);
                            let quantity = "mistakes / (d lnln n), beyond the range";
                            let share = |o: &Outcome| {
                                at(o, size).0.mistakes as f64 / unit / (sign * limit).abs()
                            };
                            let slack =
                                stats::mean(&group.values(share)).map(|share| share.powf(-sign));
                            let evidence = Evidence::mean(quantity, group.planned, &values, 0.0)
                                .with_slack(slack);
                            few.push((format!("d={dim}, n=10^{e}"), evidence));
                        }
                        let others = group.outcomes.iter().map(|o| at(o, size).1 / unit);
                        rival.extend(others.map(|share| !(least..=most).contains(&share)));
                    }
                }
                Configuration::Real { dim, points } => {
                    for (part, name) in ["mistakes", "ln sin θ"].iter().enumerate() {
                        for (sign, word) in [(1.0, "more"), (-1.0, "less")] {
                            let values = group.values(|o| sign * differences(o)[0][part]);
                            let quantity = format!("{name}, {word} than in real runs");
                            let slack = stats::mean(&values).map(|mean| slack(part, mean));
                            let evidence =
                                Evidence::mean(&quantity, group.planned, &values, AGREE[part])
                                    .with_slack(slack);
                            agree.push((format!("{name}, {word}, d={dim}, n={points}"), evidence));
                        }
                        // The bounds are on means, so each pair of a setting and a quantity is one case.
                        let tenth = stats::mean(&group.values(|o| differences(o)[1][part]));
                        off.push(tenth.is_some_and(|mean| mean.abs() > AGREE[part]));
                    }
                }
            }
        }
        let evidence = [
            (Evidence::worst_of(&few).with_note(REPLACED), Null::of_cases(rival)),
            (Evidence::worst_of(&agree).with_note(WIDER), Null::of_cases(off)),
        ];
        judge_all(section, Experiment::claims(self), evidence);
        section.summary.push("After a mistake, greedy knows about the remaining points only that they are less sure than the misclassified one. They form a Poisson process on the part of the sphere that lies in all slabs; each mistake adds one slab. So the hypothesis, the target and the slabs form a Markov chain, which is simulated for any number of points. The column \"excluded\" gives the number of sampled points per mistake that a slab excluded: the cost of the method.".into());
        for dim in [30, 10] {
            section.figures.push(figure(results, dim));
        }
        section.tables.push(by_size(results));
        section.tables.push(agreement(results));
    }
}

fn figure(results: &Results<Configuration, Outcome>, dim: usize) -> Figure {
    let d = dim as f64;
    let mut layers = Vec::new();
    for group in groups_of(results, |c| *c == Configuration::Drawn { dim }) {
        let values = |of: &dyn Fn((GreedyRun, f64)) -> f64| {
            let points = SIZES.iter().enumerate();
            points.map(|(i, e)| (power(*e), group.values(|o| of(at(o, i)) / d))).collect::<Vec<_>>()
        };
        layers.extend(mean_curve("Algorithm 1", Colour::Blue, values(&|(_, other)| other)));
        let greedy = values(&|(run, _)| run.mistakes as f64);
        layers.extend(mean_curve("greedy on the whole pool", Colour::Green, greedy));
    }
    let loglog = SIZES.map(|e| (power(e), power(e).ln().ln())).to_vec();
    layers.push(dashed("lnln n", Colour::Ink, loglog));
    Figure {
        name: format!("s15-greedy-d{dim}"),
        title: format!("The greedy learner makes about d lnln n mistakes (d = {dim})"),
        caption: format!(
            "Mistakes per dimension until n uniform points on the sphere in R^{dim} are labelled, for n from 10^4 to 10^80. Means with 95 % intervals over runs simulated from their exact distribution. The curve of Algorithm 1 is an upper bound. There is a proof for Algorithm 1, but none for greedy, which has no buckets."
        ),
        x: Axis::log("points n"),
        y: Axis::linear("mistakes / d"),
        layers,
    }
}

fn by_size(results: &Results<Configuration, Outcome>) -> Table {
    type Row<'a> = (&'a Group<Configuration, Outcome>, usize, usize);
    let mut rows: Vec<Row<'_>> = Vec::new();
    for group in &results.groups {
        if let Configuration::Drawn { dim } = group.configuration {
            rows.extend((0..SIZES.len()).map(|size| (group, dim, size)));
        }
    }
    let mean = |(group, _, size): &Row<'_>, digits, of: &dyn Fn((GreedyRun, f64)) -> f64| {
        mean_text(&group.values(|o| of(at(o, *size))), digits)
    };
    table(
        "s15-greedy",
        "Mean mistakes on n points, and the number of points per mistake that slabs excluded",
        rows,
        &[
            ("d", &|(_, d, _)| d.to_string()),
            ("n", &|(_, _, size)| format!("10^{}", SIZES[*size])),
            ("trials", &|(g, _, _)| g.count()),
            ("greedy", &|r| mean(r, 1, &|(run, _)| run.mistakes as f64)),
            ("greedy / (d lnln n)", &|r| {
                let unit = r.1 as f64 * power(SIZES[r.2]).ln().ln();
                mean(r, 3, &|(run, _)| run.mistakes as f64 / unit)
            }),
            ("Algorithm 1, at most", &|r| mean(r, 1, &|(_, other)| other)),
            ("ln sin θ at the end", &|r| mean(r, 2, &|(run, _)| run.log_sin)),
            ("excluded", &|r| mean(r, 2, &|(run, _)| run.excluded)),
        ],
    )
}

fn agreement(results: &Results<Configuration, Outcome>) -> Table {
    let mut rows = Vec::new();
    for group in &results.groups {
        if let Configuration::Real { dim, points } = group.configuration {
            rows.push((group, dim, points));
        }
    }
    let real = |o: &Outcome| of_part!(o, Outcome::Real(run, ..) => *run);
    let difference = |g: &Group<Configuration, Outcome>, part: usize| {
        mean_cells(&g.values(|o| differences(o)[0][part]), 4)[1].clone()
    };
    table(
        "s15-agreement",
        "Greedy simulated and run on points: means, and 95 % intervals of the differences",
        rows,
        &[
            ("d", &|(_, d, _)| d.to_string()),
            ("n", &|(_, _, n)| n.to_string()),
            ("trials", &|(g, _, _)| g.count()),
            ("mistakes, real", &|(g, _, _)| mean_text(&g.values(|o| real(o).mistakes as f64), 2)),
            ("relative difference", &|(g, _, _)| difference(g, 0)),
            ("ln sin θ, real", &|(g, _, _)| mean_text(&g.values(|o| real(o).log_sin), 3)),
            ("difference", &|(g, _, _)| difference(g, 1)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_wrong_outcomes_are_caught() {
        let judge = |share: f64, off: f64| {
            let run = |mistakes: f64, log_sin: f64| GreedyRun {
                mistakes: mistakes as u64,
                log_sin,
                excluded: 0.0,
            };
            let jittered = |make: &dyn Fn(f64) -> Outcome| {
                (0..8).map(|i| make(f64::from(i))).collect::<Vec<_>>()
            };
            let drawn = jittered(&|i| {
                let of = |e: &i32| {
                    let unit = 1000.0 * power(*e).ln().ln();
                    (run(share * unit + i, -5.0), 5.0 * unit)
                };
                Outcome::Drawn(SIZES.iter().map(of).collect())
            });
            let real = jittered(&|i| {
                let off = off + 0.001 * i;
                let all = vec![run(1e4 * (1.0 + off), -5.0 + off); 2];
                Outcome::Real(run(1e4, -5.0), all, vec![run(9000.0, -4.0); 2])
            });
            let group = |configuration, outcomes| Group { configuration, planned: 8, outcomes };
            verdicts(
                &GreedyInLawExperiment,
                vec![
                    group(Configuration::Drawn { dim: 1000 }, drawn),
                    group(Configuration::Real { dim: 5, points: 1000 }, real),
                ],
            )
        };
        let [holds, violated] = [Verdict::Holds, Verdict::Violated];
        assert_eq!(judge(1.0, 0.0), [holds; 2]);
        assert_eq!(judge(1.15, 0.0), [violated, holds]);
        assert_eq!(judge(0.8, 0.0), [violated, holds]);
        assert_eq!(judge(1.0, 0.05), [holds, violated]);
        assert_eq!(judge(1.0, -0.05), [holds, violated]);
    }
}
