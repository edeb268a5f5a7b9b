//! The claims and their evidence.

use super::learners::label_pools;
use super::plots::{by_learner, figure};
use super::workload::{Configuration, Learner, Outcome, slope};
use crate::experiments::common::*;

pub(crate) struct SphereExperiment;

/// Upper bound on the additional mistakes per dimension that the greedy learner makes each time n grows by a factor of
/// e.
const FLAT: f64 = 0.18;

/// Number of points on which Algorithm 1 is compared with its update in random order.
const PAIRED_POINTS: usize = 1_000_000;

/// Upper bound on the mistakes per dimension of the sampled greedy learner on `SAMPLED_POINTS` points.
const SAMPLED: f64 = 1.6;

const SAMPLED_POINTS: usize = 100_000;

/// Whether S1p applies to these pools.
fn is_paired(setting: &Configuration) -> bool {
    setting.dim >= 10 && setting.sizes.last() == Some(&PAIRED_POINTS)
}

/// Whether S1v applies to these pools.
fn is_sampled(setting: &Configuration) -> bool {
    setting.dim >= 10
        && setting.most_sampled >= SAMPLED_POINTS
        && setting.sizes.contains(&SAMPLED_POINTS)
}

/// Changes made after verdicts.
const CHANGED: &str = "changed after verdicts: the statistic is now the relative difference (whose sign is reversed at n = 10^5), and more pools are drawn";

impl Experiment for SphereExperiment {
    about! {
        "S1", "Self-directed learning on the sphere: choosing the order removes the growth in n";
        "S1": "On n uniform points on the sphere, the greedy learner (surest point first) makes at most 0.18 d more mistakes in expectation each time n grows by a factor of e. Tested for d = 3, 10 and, beyond smoke scale, 30; fitted from n = 10^3 to 10^6 (smoke scale: 10^4; huge scale, d < 30: 10^8)."
            ["ours, after DKTZ23 Theorem 2.1; measured, not proved"]
            Measured, null "the update rule of Algorithm 1 on the same pools in random order"
            halfspaces_online::{Greedy};
        "S1p": "On 10^6 uniform points on the sphere (d = 10 and 30; not at smoke scale), Algorithm 1 with k = ⌈c d lnln n⌉ buckets per chain, c = 2 and 4, makes fewer mistakes than its update rule on the same points in random order: the ratio of counts is below 1 in expectation."
            ["DKTZ23 Theorem 2.1, compared with its lower bound for random order"]
            Measured, null "the perceptron on the same pools in random order"
            halfspaces_online::{TwoChains};
        "S2": "If the angle θ between w and the target is below π/2, the update w -= (w · x) x on a mistake reduces tan²θ to at most (1 - r²) tan²θ, where r = |w · x|/(‖w‖ sin θ). Checked at every mistake of the greedy learner in S1."
            ["DKTZ23 equation (2), and so Lemma 2.3, monotonicity"]
            Proved, null "the bound divided by 3"
            halfspaces_online::{Greedy};
        "S1v": "The sampled greedy learner, which scores points with a random sample of the version space, labels 10^5 uniform points on the sphere with at most 1.6 d mistakes in expectation: d = 10 and, at full scale, also 30. Not tested at smoke scale."
            ["ours; measured, not proved; the constant was chosen from pools with other seeds"]
            Measured, null "the update rule of Algorithm 1 on the same pools in random order"
            halfspaces_online::{SampledGreedy};
    }

    fn plan(&self, scale: Scale) -> Result<Vec<Planned<Configuration>>, Failure> {
        let sizes = |dim: usize| -> Vec<usize> {
            let most = scale.pick(4, 6, 6);
            // The pools with d = 30 also serve as pairs for S1p.
            let most = if dim < 30 { scale.or_huge(most, 8) } else { most };
            (3..=most).map(|e| 10usize.pow(e)).collect()
        };
        let plan = [3, 10, 30].into_iter().filter(|dim| scale != Scale::Smoke || *dim < 30);
        let plan = plan.map(|dim| Planned {
            configuration: Configuration {
                dim,
                sizes: sizes(dim),
                most_centres: match dim {
                    30 => scale.pick(10_000, 1000, 100_000),
                    _ => scale.pick(10_000, 10_000, 100_000),
                },
                most_sampled: match dim {
                    30 => scale.pick(1000, 1000, 100_000),
                    _ => scale.pick(10_000, 10_000, 100_000),
                },
                most_gravity: scale.pick(1000, 1000, 100_000),
            },
            trials: match dim {
                3 => scale.pick(40, 20, 40),
                10 => scale.pick(24, 12, 20),
                _ => scale.pick(4, 12, 30),
            },
        });
        let mut plan: Vec<_> = plan.collect();
        if scale != Scale::Smoke {
            // Sampled greedy is the only expensive learner that runs on these pools. The pools narrow its confidence
            // interval.
            let sizes = vec![SAMPLED_POINTS];
            let (most_centres, most_sampled, most_gravity) = (0, SAMPLED_POINTS, 0);
            let configuration =
                Configuration { dim: 10, sizes, most_centres, most_sampled, most_gravity };
            plan.push(Planned { configuration, trials: scale.pick(0, 40, 60) });
            // These pools serve only as pairs for S1p, whose difference is small in d = 10.
            let sizes = vec![PAIRED_POINTS];
            let (most_centres, most_sampled, most_gravity) = (0, 0, 0);
            let configuration =
                Configuration { dim: 10, sizes, most_centres, most_sampled, most_gravity };
            plan.push(Planned { configuration, trials: scale.pick(0, 48, 120) });
        }
        Ok(plan)
    }

    fn trial(&self, setting: &Configuration, rng: &mut ChaCha8Rng) -> Result<Outcome, Failure> {
        label_pools(setting, rng)
    }

    fn evaluate(&self, results: &Results<Configuration, Outcome>, section: &mut Section) {
        let mut growth = Vec::new();
        for group in results.groups.iter().filter(|g| g.configuration.sizes.len() > 1) {
            let dim = group.configuration.dim;
            let slopes = group.values(|o| slope(o, Learner::Greedy, dim));
            let quantity = "slope of (mistakes / d) against ln n";
            let evidence = Evidence::growth(quantity, group.planned, &slopes, FLAT);
            growth.push((format!("d={dim}"), evidence));
        }
        let mut paired = Vec::new();
        let mut sampled = Vec::new();
        for dim in [10, 30] {
            // On fewer points, constant terms hide the gain.
            let groups = groups_of(results, |c| c.dim == dim && is_paired(c));
            for learner in [Learner::Chains2, Learner::Chains4] {
                let relative = |o: &Outcome| {
                    let random = o.last(Learner::RandomOrder)?;
                    Some(o.last(learner)? / random)
                };
                let outcomes = groups.iter().flat_map(|g| &g.outcomes);
                let ratios: Vec<f64> = outcomes.filter_map(relative).collect();
                let planned = planned(&groups);
                if planned > 0 {
                    let quantity = "mistakes / mistakes in random order";
                    let evidence = Evidence::mean(quantity, planned, &ratios, 1.0);
                    paired.push((format!("{learner}, d={dim}"), evidence));
                }
            }
            let groups = groups_of(results, |c| c.dim == dim && is_sampled(c));
            let counts: Vec<f64> = groups
                .iter()
                .flat_map(|g| &g.outcomes)
                .flat_map(|o| o.of(Learner::Sampled).filter(|(n, _)| *n == SAMPLED_POINTS))
                .map(|(_, mistakes)| mistakes as f64 / dim as f64)
                .collect();
            let planned = planned(&groups);
            if planned > 0 {
                let evidence = Evidence::mean("mistakes / d", planned, &counts, SAMPLED);
                sampled.push((format!("d={dim}"), evidence));
            }
        }
        let acute: usize = results.outcomes().map(|(_, o)| o.acute).sum();
        let ratios: Vec<f64> = results.outcomes().map(|(_, o)| o.rise).collect();
        let quantity = "(tan²θ after + r² tan²θ) / tan²θ";
        let rises = Evidence::deterministic(quantity, Side::AtMost, results.planned(), &ratios)
            .with_note(&format!("{acute} mistakes of the greedy learner"));
        let several = || results.groups.iter().filter(|g| g.configuration.sizes.len() > 1);
        let random_grows = null_of(several(), |c, o| {
            slope(o, Learner::RandomOrder, c.dim).is_some_and(|slope| slope > FLAT)
        });
        let compared = groups_of(results, is_paired);
        let perceptron = null_of(compared, |_, o| {
            let of =
                |learner| o.last(learner).unwrap_or_else(|| unreachable!("every pool has both"));
            of(Learner::Perceptron) >= of(Learner::RandomOrder)
        });
        let at_most = |o: &Outcome, most: f64| {
            let counts = o.of(Learner::RandomOrder).filter(|(n, _)| *n == SAMPLED_POINTS);
            counts.into_iter().all(|(_, mistakes)| mistakes as f64 <= most)
        };
        let large = groups_of(results, is_sampled);
        let random_order = null_of(large, |c, o| !at_most(o, SAMPLED * c.dim as f64));
        let evidence = [
            (Evidence::worst_of(&growth), random_grows),
            (Evidence::worst_of(&paired).with_note(CHANGED), perceptron),
            (rises, Null::SmallerBound),
            (Evidence::worst_of(&sampled), random_order),
        ];
        judge_all(section, Experiment::claims(self), evidence);
        section.summary.push("One trial draws a target and a pool of uniform points, and every learner labels the first 10^3, 10^4, ... points of the pool. Greedy and its version-space variants always predict the remaining point of largest |w · x|. Algorithm 1 does so within random buckets, which its proof needs and which cost mistakes at these n: it makes fewer mistakes than its update rule in random order, but more than greedy. One slope is fitted per trial. The last column of the table is only for information.".into());
        for group in results.groups.iter().filter(|g| g.configuration.sizes.len() > 1) {
            section.figures.push(figure(results, group.configuration.dim));
        }
        section.tables.push(by_learner(results));
    }
}

#[cfg(test)]
mod tests {
    use super::super::workload::Count;
    use super::*;

    #[test]
    fn planted_wrong_outcomes_are_caught() {
        let configuration = Configuration {
            dim: 10,
            sizes: vec![1000, SAMPLED_POINTS, PAIRED_POINTS],
            most_centres: 0,
            most_sampled: SAMPLED_POINTS,
            most_gravity: 0,
        };
        let outcome = |greedy: usize, random: usize, rise: f64, jitter: usize| {
            let count = |learner, points, mistakes| Count { learner, points, mistakes };
            let counts = vec![
                count(Learner::Sampled, SAMPLED_POINTS, greedy / 3 + jitter),
                count(Learner::Greedy, 1000, 20),
                count(Learner::Greedy, PAIRED_POINTS, greedy + jitter),
                count(Learner::RandomOrder, 1000, 50),
                count(Learner::RandomOrder, SAMPLED_POINTS, 100),
                count(Learner::RandomOrder, 10_000, random + jitter),
                count(Learner::Perceptron, 10_000, 500),
                count(Learner::Chains2, 10_000, 90),
                count(Learner::Chains4, 10_000, 95),
            ];
            Outcome { counts, rise, acute: 5, passes: 3.0 }
        };
        let verdicts = |greedy, random, rise| {
            let outcomes: Vec<Outcome> =
                (0..6).map(|jitter| outcome(greedy, random, rise, jitter)).collect();
            let group = Group { configuration: configuration.clone(), planned: 6, outcomes };
            super::verdicts(&SphereExperiment, vec![group])
        };
        assert_eq!(verdicts(27, 150, 1.0), [Verdict::Holds; 4]);
        assert_eq!(verdicts(60, 70, 1.01), [Verdict::Violated; 4]);
        // A growth of 17 to 22 mistakes, divided by ln 1000 and by ten dimensions, is 0.25 to 0.32.
        assert_eq!(verdicts(37, 150, 1.0)[0], Verdict::Violated);
    }
}
