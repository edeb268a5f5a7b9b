//! Division of a plan among processes.

use crate::run_info::RunInfo;
use crate::share::Share;
use crate::trial::{Shard, TrialKey, fnv1a};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// The predicted cost of trials, computed from the times that earlier runs recorded.
///
/// If an earlier run of the same experiment timed a configuration, its cost is its mean time. Otherwise, its cost is
/// the mean time of all trials of the experiment, or a given default if none was timed.
///
/// ```
/// use halfspaces_eval::{Costs, TrialKey};
/// let key = |d: u32| TrialKey {
///     experiment: "K3".into(),
///     configuration: serde_json::json!({"d": d}),
///     seed: 1,
///     index: 0,
/// };
/// let mut costs = Costs::default();
/// costs.record(&key(10), 6.0, 3);
/// assert_eq!(costs.of(&key(10), 0.5), 2.0);
/// assert_eq!(costs.of(&key(30), 0.5), 2.0);
/// assert_eq!(Costs::default().of(&key(30), 0.5), 0.5);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Costs {
    /// Seconds and numbers of trials, by experiment and configuration.
    configurations: HashMap<(String, String), (f64, usize)>,
    experiments: HashMap<String, (f64, usize)>,
}

impl Costs {
    /// The costs given by the times that a run recorded.
    #[must_use]
    pub fn of_run(run: &RunInfo) -> Costs {
        let mut costs = Costs::default();
        for experiment in &run.experiments {
            for time in &experiment.configurations {
                costs.add(&experiment.id, &time.configuration, time.seconds, time.trials);
            }
        }
        costs
    }

    /// Adds the time of `trials` trials of a configuration.
    pub fn record(&mut self, key: &TrialKey, seconds: f64, trials: usize) {
        self.add(&key.experiment, &key.configuration_text(), seconds, trials);
    }

    fn add(&mut self, experiment: &str, configuration: &str, seconds: f64, trials: usize) {
        let key = (experiment.to_owned(), configuration.to_owned());
        let all = self.experiments.entry(experiment.to_owned()).or_default();
        for entry in [self.configurations.entry(key).or_default(), all] {
            entry.0 += seconds;
            entry.1 += trials;
        }
    }

    /// The predicted duration of a trial in seconds, or `otherwise` if nothing is known about its experiment.
    #[must_use]
    pub fn of(&self, key: &TrialKey, otherwise: f64) -> f64 {
        let timed = self.configurations.get(&(key.experiment.clone(), key.configuration_text()));
        let known = timed.or_else(|| self.experiments.get(&key.experiment));
        known.filter(|(_, trials)| *trials > 0).map_or(otherwise, |(s, trials)| s / *trials as f64)
    }
}

/// A plan divided among shards whose predicted costs are about equal.
///
/// *Method.* Trials are assigned in order of decreasing cost, each to the shard with the smallest cost so far. Ties are
/// broken by the order of the plan. *Guarantee.* The largest cost of a shard is at most 4/3 of the smallest possible
/// value (Graham 1969). *Cost.* O(n lg n) time.
///
/// ```
/// use halfspaces_eval::{Division, Shard, TrialKey};
/// let trial = |index, cost| {
///     let configuration = serde_json::json!({"d": 10});
///     (TrialKey { experiment: "K3".into(), configuration, seed: 1, index }, cost)
/// };
/// let division = Division::balanced(&[trial(0, 1.0), trial(1, 5.0), trial(2, 2.0), trial(3, 2.0)], 2);
/// assert_eq!(division.costs(), [5.0, 5.0]);
/// let first: Shard = "1/2".parse().unwrap();
/// assert!(division.owns(first, 1) && !division.owns(first, 0));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Division {
    /// The shard of each trial, counted from 1.
    shards: Vec<usize>,
    costs: Vec<f64>,
    id: String,
}

/// A non-negative cost that can be ordered.
#[derive(PartialEq)]
struct Cost(f64);

impl Eq for Cost {}

impl PartialOrd for Cost {
    fn partial_cmp(&self, other: &Cost) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cost {
    fn cmp(&self, other: &Cost) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Division {
    /// Divides trials among `count` shards. Each trial is given with its predicted cost. There must be at least one
    /// shard.
    ///
    /// # Panics
    /// Panics if `count` is 0.
    #[must_use]
    pub fn balanced(trials: &[(TrialKey, f64)], count: usize) -> Division {
        assert!(count > 0, "there is at least one shard");
        let mut order: Vec<(usize, f64)> =
            trials.iter().enumerate().map(|(at, (_, cost))| (at, *cost)).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut least: BinaryHeap<_> =
            (0..count).map(|shard| Reverse((Cost(0.0), shard))).collect();
        let (mut shards, mut costs) = (vec![0; trials.len()], vec![0.0; count]);
        for (trial, cost) in order {
            let Some(Reverse((Cost(so_far), shard))) = least.pop() else {
                unreachable!("every shard is put back")
            };
            shards[trial] = shard + 1;
            costs[shard] = so_far + cost;
            least.push(Reverse((Cost(so_far + cost), shard)));
        }
        let lines = trials.iter().zip(&shards).map(|((key, _), shard)| format!("{shard} {key}\n"));
        let id = format!("{:016x}", fnv1a(lines.collect::<String>().as_bytes()));
        Division { shards, costs, id }
    }

    /// Whether the trial with this ordinal in the plan belongs to `shard`.
    #[must_use]
    pub fn owns(&self, shard: Shard, trial: usize) -> bool {
        self.shards.get(trial) == Some(&shard.part())
    }

    /// The predicted cost of each shard.
    #[must_use]
    pub fn costs(&self) -> &[f64] {
        &self.costs
    }

    /// The [`Share`] of a shard that is not finished yet.
    #[must_use]
    pub fn share(&self, shard: Shard) -> Share {
        Share { shard, division: self.id.clone(), finished: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_info::tests::example;
    use crate::{ConfigurationTime, ExperimentTime};

    fn key(experiment: &str, d: u32) -> TrialKey {
        let configuration = serde_json::json!({"d": d});
        TrialKey { experiment: experiment.into(), configuration, seed: 1, index: 0 }
    }

    fn trials(costs: &[f64]) -> Vec<(TrialKey, f64)> {
        costs.iter().zip(0..).map(|(cost, d)| (key("A", d), *cost)).collect()
    }

    #[test]
    fn every_trial_has_one_shard_and_shards_are_balanced() {
        let costs: Vec<f64> = (0..200).map(|i| f64::from(1 + i * i % 37)).collect();
        for count in [1, 3, 8, 50, 300] {
            let division = Division::balanced(&trials(&costs), count);
            let mut sums = vec![0.0; count];
            for (trial, cost) in costs.iter().enumerate() {
                let owners: Vec<usize> = (1..=count)
                    .filter(|part| {
                        let shard: Shard = format!("{part}/{count}").parse().unwrap();
                        division.owns(shard, trial)
                    })
                    .collect();
                assert_eq!(owners.len(), 1, "{trial}: {owners:?}");
                sums[owners[0] - 1] += cost;
            }
            assert_eq!(sums, division.costs());
            let total: f64 = costs.iter().sum();
            let least = (total / count as f64).max(37.0);
            let largest = sums.into_iter().fold(0.0, f64::max);
            assert!(largest <= 4.0 / 3.0 * least, "{count}: {largest} for {least}");
        }
        assert!(!Division::balanced(&trials(&[1.0]), 1).owns(Shard::WHOLE, 1));
    }

    #[test]
    fn equal_costs_are_dealt_in_turn() {
        let division = Division::balanced(&trials(&[1.0; 7]), 3);
        assert_eq!(division.shards, [1, 2, 3, 1, 2, 3, 1]);
    }

    /// The most expensive trial is assigned first, wherever it is in the plan.
    #[test]
    fn expensive_trials_are_dealt_first() {
        let division = Division::balanced(&trials(&[1.0, 1.0, 2.0]), 2);
        assert_eq!((division.shards, division.costs), (vec![2, 2, 1], vec![2.0, 2.0]));
    }

    #[test]
    fn divisions_differ_by_trials_and_by_shards() {
        let plan = trials(&[1.0, 1.0, 1.0, 5.0]);
        let of = |plan: &[(TrialKey, f64)], count| Division::balanced(plan, count).id;
        assert_eq!(of(&plan, 2), of(&plan.clone(), 2));
        assert_ne!(of(&plan, 2), of(&plan, 3));
        assert_ne!(of(&plan, 2), of(&plan[..3], 2));
        assert_ne!(of(&plan, 2), of(&trials(&[5.0, 1.0, 1.0, 1.0]), 2));
        let mut other_seed = plan.clone();
        other_seed[3].0.seed = 2;
        assert_ne!(of(&plan, 2), of(&other_seed, 2));
    }

    #[test]
    fn recorded_times_predict() {
        let mut run = example();
        let time = |d: u32, seconds, trials| ConfigurationTime {
            configuration: key("A", d).configuration_text(),
            seconds,
            trials,
        };
        let configurations = vec![time(1, 4.0, 2), time(2, 60.0, 6)];
        run.experiments =
            vec![ExperimentTime { id: "A".into(), seconds: 64.0, trials: 8, configurations }];
        let costs = Costs::of_run(&run);
        let predicted = [("A", 1), ("A", 2), ("A", 3), ("B", 1)];
        let predicted = predicted.map(|(id, d)| costs.of(&key(id, d), 0.25));
        assert_eq!(predicted, [2.0, 10.0, 8.0, 0.25]);
    }
}
