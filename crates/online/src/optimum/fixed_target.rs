//! Random order with a target that is fixed before the order is drawn.

use super::game::{LabellingGame, Set};
use std::collections::HashMap;

/// The step size of the multiplicative weights, multiplied by the square root of the round number. It affects the speed
/// at which the two bounds converge, but not their validity.
const STEP: f64 = 0.5;

/// A set of dichotomies that remain after some answers. The list contains the parts of a set before the set itself.
struct Left {
    /// For each open point, the parts of the set that label it +1 and -1.
    splits: Vec<[Part; 2]>,
}

struct Part {
    dichotomies: Vec<usize>,
    /// The position of the part in the list; `None` for a single dichotomy.
    at: Option<usize>,
}

impl LabellingGame {
    /// A lower and an upper bound on the value of the game in random order: the smallest expected number of mistakes
    /// that a randomised learner can guarantee for every target that is fixed before the order is drawn. More `rounds`
    /// bring the bounds closer together, at a rate of 1/√rounds or faster; at least one round is always run.
    ///
    /// *Algorithm.* The value is the largest b(μ) over priors μ, where b(μ) is the number of mistakes of the best
    /// learner on a target drawn from μ. The value is therefore at least b(μ) for any prior μ, and at most the number
    /// of mistakes of any learner on its worst target. In each round, the best learner for a prior is found by
    /// recursion over the sets of dichotomies that can remain after some answers. Then the prior gives more weight to
    /// the targets on which this learner makes more mistakes (multiplicative weights). The first number is the largest
    /// b(μ). The second is the number of mistakes, on the worst target, of a learner that draws one of the rounds at
    /// random and predicts like the best learner of that round. The two numbers are computed independently.
    ///
    /// The memory and the time per round grow with the number of sets of dichotomies that can remain after some
    /// answers.
    #[must_use]
    pub fn random_order_fixed_target(&self, rounds: usize) -> [f64; 2] {
        let mut left = Vec::new();
        self.visit(self.all(), &mut HashMap::new(), &mut left);
        let size = self.size();
        let mut prior = vec![1.0 / size as f64; size];
        let mut paid = vec![0.0; size];
        let (mut least, mut most) = (0.0f64, f64::INFINITY);
        for round in 1..=rounds.max(1) {
            let cost = best_learner(&left, &prior);
            least = least.max(cost.iter().zip(&prior).map(|(c, p)| c * p).sum());
            paid.iter_mut().zip(&cost).for_each(|(paid, cost)| *paid += cost);
            let worst = paid.iter().copied().fold(0.0, f64::max);
            most = most.min(worst / round as f64);
            let step = STEP / (round as f64).sqrt();
            let weights = paid.iter().map(|paid| (step * (paid - worst)).exp());
            prior = weights.collect();
            let sum: f64 = prior.iter().sum();
            prior.iter_mut().for_each(|p| *p /= sum);
        }
        [least, most]
    }

    /// Lists all subsets of a set of dichotomies that can remain after some answers. The parts of a set come before the
    /// set itself. Returns the position of the set, or `None` for a single dichotomy.
    fn visit(
        &self,
        set: Set,
        known: &mut HashMap<Set, usize>,
        left: &mut Vec<Left>,
    ) -> Option<usize> {
        if let Some(at) = known.get(&set) {
            return Some(*at);
        }
        let mut part = |set: Set| {
            let bit = |i: &usize| set[i / 64] >> (i % 64) & 1 == 1;
            let dichotomies = (0..self.size()).filter(bit).collect();
            Part { dichotomies, at: self.visit(set, known, left) }
        };
        let splits: Vec<[Part; 2]> = self.splits(&set).map(|two| two.map(&mut part)).collect();
        if splits.is_empty() {
            return None;
        }
        known.insert(set, left.len());
        left.push(Left { splits });
        Some(left.len() - 1)
    }
}

/// For each target, the number of mistakes of the best learner for a prior. On each point this learner predicts the
/// label of the part with more weight, or flips a coin if both parts have the same weight.
fn best_learner(left: &[Left], prior: &[f64]) -> Vec<f64> {
    let mut costs: Vec<Vec<f64>> = Vec::with_capacity(left.len());
    for Left { splits } in left {
        let mut cost = vec![0.0; prior.len()];
        for two in splits {
            let [plus, minus] =
                [0, 1].map(|i| two[i].dichotomies.iter().map(|t| prior[*t]).sum::<f64>());
            let plus_is_wrong = if plus < minus {
                1.0
            } else if plus > minus {
                0.0
            } else {
                0.5
            };
            for (part, wrong) in two.iter().zip([plus_is_wrong, 1.0 - plus_is_wrong]) {
                let after = part.at.map(|at| &costs[at]);
                for t in &part.dichotomies {
                    cost[*t] += wrong + after.map_or(0.0, |after| after[*t]);
                }
            }
        }
        let open = splits.len() as f64;
        cost.iter_mut().for_each(|c| *c /= open);
        costs.push(cost);
    }
    // If only one dichotomy is left, no mistake is made.
    costs.pop().unwrap_or_else(|| vec![0.0; prior.len()])
}

#[cfg(test)]
mod tests {
    use super::super::dichotomies::Dichotomies;
    use super::*;
    use halfspaces_data::{Gaussian, Marginal};

    fn gaussian(points: usize, dim: usize, seed: u64) -> LabellingGame {
        let pool = Gaussian::new(dim, 1.0).unwrap().sample(points, seed).unwrap();
        LabellingGame::new(&Dichotomies::new(&pool).unwrap())
    }

    /// In the plane, all dichotomies are alike up to rotations of the pool. No prior is therefore worse than the
    /// uniform one. The best learner for the uniform prior makes the same number of mistakes on each dichotomy, so one
    /// round is enough.
    #[test]
    fn in_the_plane_the_uniform_prior_is_the_worst() {
        for (n, seed) in [(1, 1), (2, 1), (5, 1), (8, 1), (8, 2)] {
            let game = gaussian(n, 2, seed);
            let [least, most] = game.random_order_fixed_target(1);
            let uniform = game.random_order_on_average();
            assert!((least - uniform).abs() < 1e-12 && (most - uniform).abs() < 1e-12);
            assert!(most <= game.random_order() + 1e-12);
        }
        // Another program found this value by linear programming.
        assert!((gaussian(8, 2, 1).random_order_fixed_target(1)[0] - 1.676).abs() < 1e-3);
        assert_eq!(gaussian(3, 1, 1).random_order_fixed_target(1), [0.5, 0.5]);
    }

    #[test]
    fn the_two_ends_meet() {
        for (n, dim) in [(6, 3), (6, 4)] {
            let game = gaussian(n, dim, 1);
            let [first, early] = game.random_order_fixed_target(1);
            let [least, most] = game.random_order_fixed_target(200);
            let uniform = game.random_order_on_average();
            assert!((first - uniform).abs() < 1e-12 && early > 1.02 * uniform);
            assert!(least >= uniform - 1e-12 && least <= most && most < 1.002 * least);
            assert!(most <= game.random_order());
        }
    }

    /// If all labellings of four points except two are possible, the uniform prior is not the worst one.
    #[test]
    fn another_prior_may_be_worse_than_the_uniform_one() {
        let masks: Vec<u64> = (0..16).filter(|mask| ![1, 2].contains(mask)).collect();
        let positive = |point: usize| {
            let set = masks.iter().enumerate().map(|(i, mask)| (mask >> point & 1) << i);
            [set.sum::<u64>()].into()
        };
        let game = LabellingGame::of_sets(masks.len(), (0..4).map(positive).collect());
        let [least, most] = game.random_order_fixed_target(3000);
        let uniform = game.random_order_on_average();
        assert!((uniform - 25.0 / 14.0).abs() < 1e-12);
        assert!(
            least > uniform + 0.002 && least <= most && most < uniform + 0.03,
            "{least} {most}"
        );
    }
}
