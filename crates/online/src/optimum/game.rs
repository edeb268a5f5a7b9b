//! The values of the games of labelling a small pool.

use super::dichotomies::Dichotomies;
use std::collections::HashMap;

/// A set of dichotomies, one bit for each.
pub(super) type Set = Box<[u64]>;

/// The game of labelling a small pool: a learner predicts the points in turn and learns each label after its
/// prediction. The labels need only agree with some halfspace. The values of the game are the smallest numbers of
/// mistakes that any learner can guarantee, computed exactly; no learner has a better worst case.
///
/// | who chooses the next point | labels | method |
/// |---|---|---|
/// | the learner (self-directed) | an adversary | [`LabellingGame::self_directed`] |
/// | the adversary (worst order; Littlestone's dimension) | the adversary | [`LabellingGame::worst_order`] |
/// | chance | an adversary that sees the order as it comes | [`LabellingGame::random_order`] |
/// | chance | a dichotomy fixed in advance, the worst one | [`LabellingGame::random_order_fixed_target`] |
/// | chance | a dichotomy drawn uniformly | [`LabellingGame::random_order_on_average`] |
/// | the learner | a dichotomy drawn uniformly | [`LabellingGame::self_directed_on_average`] |
///
/// *Algorithm.* Let S be the set of dichotomies that fit the revealed labels, and M(S) the value of the rest of the
/// game. If the learner chooses the point, M(S) = min over x, ŷ of max(M(S_ŷ), 1 + M(S_-ŷ)). The values of the other
/// games satisfy corresponding equations. The value of a subset of S is at most M(S). Suppose that k mistakes are
/// allowed. A question is harmless if k - 1 mistakes suffice after a wrong prediction, so the learner can ask it at
/// once. The solver can therefore decide whether M <= k without trying different orders of the questions. Proofs:
/// docs/theory/optimum.md.
///
/// *Cost.* [`LabellingGame::self_directed`] and [`LabellingGame::worst_order`] take milliseconds for 128 points in
/// d = 2, 40 points in d = 3 and 16 points in d = 4. It takes 20 s to show that 4 mistakes do not suffice for 64 points
/// in d = 3. To compute the other values, the solver visits every set of dichotomies that can remain after some
/// answers. There are quadratically many such sets in d = 2; 12 points in d = 3 take 40 ms.
///
/// *When to use it.* To compare learners on small pools with the optimum.
///
/// *Source.* Littlestone 1988 for the worst order; Goldman and Sloan 1994 for self-directed learning; the solver is
/// ours. Claims: S12, S12l, S12p.
///
/// ```
/// use halfspaces_data::{Gaussian, Marginal};
/// use halfspaces_online::{Dichotomies, LabellingGame};
/// let pool = Gaussian::new(2, 1.0)?.sample(16, 1)?;
/// let game = LabellingGame::new(&Dichotomies::new(&pool)?);
/// // In the plane: the first label, then a threshold.
/// assert_eq!((game.self_directed(), game.worst_order()), (2, 5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct LabellingGame {
    dichotomies: usize,
    /// For each point, the dichotomies that label it +1.
    positive: Vec<Set>,
}

/// The player who chooses the next point in one of the two worst-case games.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chooser {
    Learner,
    Adversary,
}

impl LabellingGame {
    /// The game of a pool.
    #[must_use]
    pub fn new(dichotomies: &Dichotomies) -> LabellingGame {
        let count = dichotomies.len();
        let mut positive: Vec<Set> = Vec::with_capacity(dichotomies.points());
        for point in 0..dichotomies.points() {
            let mut set = vec![0; count.div_ceil(64)].into_boxed_slice();
            for (i, mask) in dichotomies.masks().iter().enumerate() {
                set[i / 64] |= u64::from(mask >> point & 1 == 1) << (i % 64);
            }
            positive.push(set);
        }
        LabellingGame { dichotomies: count, positive }
    }

    /// The number of dichotomies.
    pub(super) fn size(&self) -> usize {
        self.dichotomies
    }

    /// The game for arbitrary labellings, which need not come from halfspaces.
    #[cfg(test)]
    pub(super) fn of_sets(dichotomies: usize, positive: Vec<Set>) -> LabellingGame {
        LabellingGame { dichotomies, positive }
    }

    /// The smallest number of mistakes that a learner can guarantee for any labels if it chooses the order.
    #[must_use]
    pub fn self_directed(&self) -> usize {
        self.value(Chooser::Learner)
    }

    /// The smallest number of mistakes that a learner can guarantee in every order, for any labels: the Littlestone
    /// dimension.
    #[must_use]
    pub fn worst_order(&self) -> usize {
        self.value(Chooser::Adversary)
    }

    /// The smallest expected number of mistakes that a learner can guarantee in random order, against an adversary that
    /// chooses each label when its point comes up.
    #[must_use]
    pub fn random_order(&self) -> f64 {
        self.averaged(&|game, set, below| {
            let choices = game.splits(set).map(|[plus, minus]| {
                let [plus, minus] = [below(plus), below(minus)];
                // The best prediction is the label after which more mistakes may follow.
                plus.max(minus).max(1.0 + plus.min(minus))
            });
            mean(choices)
        })
    }

    /// The smallest expected number of mistakes in random order on a dichotomy drawn uniformly: no learner has a
    /// smaller mean over the dichotomies.
    #[must_use]
    pub fn random_order_on_average(&self) -> f64 {
        self.averaged(&|game, set, below| mean(game.splits(set).map(|two| average(two, below))))
    }

    /// Like [`LabellingGame::random_order_on_average`], for a learner that chooses the order.
    #[must_use]
    pub fn self_directed_on_average(&self) -> f64 {
        self.averaged(&|game, set, below| {
            game.splits(set).map(|two| average(two, below)).fold(f64::INFINITY, f64::min)
        })
    }

    /// The smallest k such that k mistakes suffice.
    fn value(&self, chooser: Chooser) -> usize {
        let mut known = HashMap::new();
        let all = self.all();
        (0..).find(|k| self.suffices(&all, *k, chooser, &mut known)).unwrap_or_else(|| {
            unreachable!("halving makes at most lg of the number of dichotomies mistakes")
        })
    }

    /// Whether `budget` mistakes suffice from here on.
    fn suffices(
        &self,
        set: &Set,
        budget: usize,
        chooser: Chooser,
        known: &mut HashMap<(Set, usize), bool>,
    ) -> bool {
        let size = count(set);
        // Halving predicts by majority vote and makes at most ⌊lg size⌋ mistakes.
        if size < 2 << budget {
            return true;
        }
        if budget == 0 {
            return false;
        }
        if let Some(answer) = known.get(&(set.clone(), budget)) {
            return *answer;
        }
        let answer = match chooser {
            Chooser::Learner => self.learner_finds(set, budget, known),
            Chooser::Adversary => self.no_point_harms(set, budget, known),
        };
        known.insert((set.clone(), budget), answer);
        answer
    }

    /// Decides the self-directed game. Asks each question for which `budget - 1` mistakes suffice after a wrong
    /// prediction, until halving suffices or no such question is left.
    fn learner_finds(
        &self,
        set: &Set,
        budget: usize,
        known: &mut HashMap<(Set, usize), bool>,
    ) -> bool {
        let mut set = set.clone();
        'questions: while count(&set) >= 2 << budget {
            let mut wrong: Vec<Set> = self.splits(&set).flatten().collect();
            // Each dichotomy is identified by the open questions, at most `budget` of them, that the learner gets
            // wrong.
            if count(&set) as f64 > patterns(wrong.len() / 2, budget) {
                return false;
            }
            wrong.sort_by_cached_key(count);
            for side in wrong {
                if self.suffices(&side, budget - 1, Chooser::Learner, known) {
                    set = without(&set, &side);
                    continue 'questions;
                }
            }
            return false;
        }
        true
    }

    /// Decides the game of the worst order: whether every point has a label after which `budget - 1` mistakes suffice.
    /// The learner predicts the other label.
    fn no_point_harms(
        &self,
        set: &Set,
        budget: usize,
        known: &mut HashMap<(Set, usize), bool>,
    ) -> bool {
        let mut splits: Vec<_> = self.splits(set).collect();
        // Try the most even splits first, because they are the most likely to fail.
        splits.sort_by_cached_key(|[plus, minus]| count(plus).abs_diff(count(minus)));
        splits.into_iter().all(|mut two| {
            two.sort_by_cached_key(count);
            two.iter().any(|side| self.suffices(side, budget - 1, Chooser::Adversary, known))
        })
    }

    /// The value of the set of all dichotomies. The value of a single dichotomy is 0; `combine` computes the value of a
    /// larger set from the values of smaller sets.
    fn averaged(&self, combine: &Combine) -> f64 {
        fn visit(
            game: &LabellingGame,
            set: Set,
            known: &mut HashMap<Set, f64>,
            combine: &Combine,
        ) -> f64 {
            if count(&set) == 1 {
                return 0.0;
            }
            if let Some(value) = known.get(&set) {
                return *value;
            }
            let value = combine(game, &set, &mut |below| visit(game, below, known, combine));
            known.insert(set, value);
            value
        }
        visit(self, self.all(), &mut HashMap::new(), combine)
    }

    /// All dichotomies.
    pub(super) fn all(&self) -> Set {
        let words = self.dichotomies.div_ceil(64);
        let word = |i: usize| {
            let left = self.dichotomies - 64 * i;
            if left < 64 { (1 << left) - 1 } else { u64::MAX }
        };
        (0..words).map(word).collect()
    }

    /// For each point that the set leaves open, the dichotomies that label it +1 and those that label it -1.
    pub(super) fn splits<'a>(&'a self, set: &'a Set) -> impl Iterator<Item = [Set; 2]> + 'a {
        self.positive.iter().filter_map(move |positive| {
            let plus: Set = set.iter().zip(positive).map(|(s, p)| s & p).collect();
            let minus = without(set, &plus);
            let open = |side: &Set| side.iter().any(|word| *word != 0);
            (open(&plus) && open(&minus)).then_some([plus, minus])
        })
    }
}

/// A function that computes the value of a set from the values of smaller sets.
type Combine = dyn Fn(&LabellingGame, &Set, &mut dyn FnMut(Set) -> f64) -> f64;

fn count(set: &Set) -> usize {
    set.iter().map(|word| word.count_ones() as usize).sum()
}

fn without(set: &Set, part: &Set) -> Set {
    set.iter().zip(part).map(|(s, p)| s & !p).collect()
}

/// Σ_{i <= mistakes} C(questions, i).
fn patterns(questions: usize, mistakes: usize) -> f64 {
    let (mut sum, mut binomial) = (0.0, 1.0);
    for i in 0..=mistakes.min(questions) {
        sum += binomial;
        binomial *= (questions - i) as f64 / (i + 1) as f64;
    }
    sum
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    assert!(count > 0, "two dichotomies differ at some point");
    sum / f64::from(count)
}

/// The expected number of mistakes on a point and on all later points, for a uniformly drawn dichotomy and the better
/// prediction on this point.
fn average([plus, minus]: [Set; 2], below: &mut dyn FnMut(Set) -> f64) -> f64 {
    let [p, m] = [count(&plus) as f64, count(&minus) as f64];
    (p.min(m) + p * below(plus) + m * below(minus)) / (p + m)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_data::{Clusters, Gaussian, Marginal, UnitSphere};
    use halfspaces_linalg::Points;

    fn game(points: &Points) -> LabellingGame {
        LabellingGame::new(&Dichotomies::new(points).unwrap())
    }

    fn gaussian(points: usize, dim: usize, seed: u64) -> LabellingGame {
        game(&Gaussian::new(dim, 1.0).unwrap().sample(points, seed).unwrap())
    }

    /// Test oracle: computes M(S) from its definition, over every question, prediction and answer.
    fn literal(game: &LabellingGame, set: &Set, chooser: Chooser) -> usize {
        let values = game.splits(set).map(|two| {
            let [plus, minus] = two.map(|side| literal(game, &side, chooser));
            plus.max(1 + minus).min(minus.max(1 + plus))
        });
        match chooser {
            Chooser::Learner => values.min(),
            Chooser::Adversary => values.max(),
        }
        .unwrap_or(0)
    }

    #[test]
    fn the_levels_decide_what_the_definition_says() {
        for (n, d, seeds) in [(5, 2, 3), (6, 3, 3), (5, 4, 2)] {
            for seed in 0..seeds {
                let cube: Vec<_> = (0..n)
                    .map(|i| {
                        (0..d)
                            .map(|j| if (i + 3 * j) % 5 < 2 { 1.0 } else { -1.0 })
                            .collect::<Vec<f64>>()
                    })
                    .collect();
                let sphere = UnitSphere::new(d).unwrap().sample(n, seed).unwrap();
                for game in [game(&sphere), game(&Points::from_rows(&cube).unwrap())] {
                    let all = game.all();
                    assert_eq!(game.self_directed(), literal(&game, &all, Chooser::Learner));
                    assert_eq!(game.worst_order(), literal(&game, &all, Chooser::Adversary));
                }
            }
        }
    }

    /// On a line the first label determines all others. In the plane the first label leaves a threshold among n cells,
    /// which costs one mistake if the learner chooses the order and ⌊lg n⌋ mistakes otherwise.
    #[test]
    fn lines_and_planes_have_the_values_that_are_known() {
        for n in [1, 2, 5] {
            let line = gaussian(n, 1, 1);
            assert_eq!((line.self_directed(), line.worst_order()), (1, 1));
            assert_eq!(line.random_order(), 1.0);
            assert_eq!(line.random_order_on_average(), 0.5);
        }
        for n in [2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128] {
            for seed in 0..2 {
                let plane = gaussian(n, 2, seed);
                assert_eq!(plane.self_directed(), 2);
                assert_eq!(plane.worst_order(), 1 + n.ilog2() as usize, "n = {n}");
            }
        }
    }

    /// Thresholds on a line, -1 below and +1 above. A learner that chooses the order goes up from the smallest point
    /// and predicts -1 until it is wrong, which costs one mistake. In the worst order a threshold costs ⌊lg(n+1)⌋
    /// mistakes, so n = 2^k - 1 points are needed to force k mistakes.
    #[test]
    fn thresholds_of_a_line_cost_one_mistake_who_chooses() {
        for n in [1, 2, 3, 6, 7, 15, 31, 62, 63] {
            // In cell i of the n + 1 cells, points 0 to i - 1 are negative and all others are positive.
            let above = |point: usize| [(1u64 << point << 1) - 1].into();
            let line = LabellingGame::of_sets(n + 1, (0..n).map(above).collect());
            assert_eq!(line.self_directed(), 1);
            assert_eq!(line.worst_order(), (n + 1).ilog2() as usize, "n = {n}");
            // Unlike the worst order, a random order does not prefer the most harmful points.
            assert!(line.random_order() <= line.worst_order() as f64);
        }
    }

    /// Compares the values with those that a program in another language found by plain recursion over sampled
    /// dichotomies.
    #[test]
    fn space_has_the_values_that_were_found_before() {
        let found = |n, d| {
            let games = (0..4).map(|seed| gaussian(n, d, seed));
            games.map(|g| (g.self_directed(), g.worst_order())).collect::<Vec<_>>()
        };
        let within = |values: Vec<(usize, usize)>, own: [usize; 2], worst: [usize; 2]| {
            let inside = |v: usize, [low, high]: [usize; 2]| (low..=high).contains(&v);
            assert!(values.iter().all(|(s, w)| inside(*s, own) && inside(*w, worst)), "{values:?}");
        };
        within(found(6, 3), [3, 4], [4, 5]);
        within(found(8, 3), [3, 4], [5, 6]);
        within(found(10, 3), [3, 4], [5, 6]);
        within(found(12, 3), [4, 4], [6, 6]);
        within(found(6, 4), [4, 4], [5, 5]);
        within(found(8, 4), [4, 5], [6, 6]);
    }

    /// An easier game has no larger value, and an average number of mistakes is at most the guaranteed one.
    #[test]
    fn the_values_are_ordered() {
        for (n, d) in [(8, 2), (12, 2), (7, 3), (8, 3)] {
            let pools = [
                gaussian(n, d, 3),
                game(
                    &Clusters::new(Gaussian::new(d, 1.0).unwrap().sample(3, 5).unwrap(), 0.1)
                        .unwrap()
                        .sample(n, 3)
                        .unwrap(),
                ),
            ];
            for game in pools {
                let [own, worst] = [game.self_directed() as f64, game.worst_order() as f64];
                let (random, average) = (game.random_order(), game.random_order_on_average());
                assert!(own <= random + 1e-12 && random <= worst + 1e-12);
                assert!(average <= random && game.self_directed_on_average() <= average);
                assert!(game.self_directed_on_average() <= own);
            }
        }
    }

    /// Halfspaces produce every labelling of d independent points, so no order reduces the number of mistakes.
    #[test]
    fn independent_points_cost_a_mistake_each() {
        for d in 1..=6 {
            let game = gaussian(d, d, 1);
            assert_eq!((game.self_directed(), game.worst_order()), (d, d));
            assert_eq!(game.random_order(), d as f64);
            assert_eq!(game.self_directed_on_average(), d as f64 / 2.0);
        }
    }

    /// For n points in the plane, the remaining problem after the first label is that of learning a threshold. In
    /// random order, with i cells left and a uniformly random target cell, the expected number of mistakes is a mean
    /// over the i - 1 borders between the cells.
    #[test]
    fn averages_in_the_plane_are_those_of_thresholds() {
        let n = 12;
        let mut mistakes = vec![0.0; n + 1];
        for cells in 2..=n {
            let border = |left: usize| {
                let right = cells - left;
                let wrong = left.min(right) as f64;
                let after = left as f64 * mistakes[left] + right as f64 * mistakes[right];
                (wrong + after) / cells as f64
            };
            mistakes[cells] = (1..cells).map(border).sum::<f64>() / (cells - 1) as f64;
        }
        let plane = gaussian(n, 2, 5);
        assert!((plane.random_order_on_average() - 0.5 - mistakes[n]).abs() < 1e-12);
        // A learner that chooses the order begins at one end: n - 1 of the n cells cost 1 mistake.
        assert!((plane.self_directed_on_average() - 0.5 - (n - 1) as f64 / n as f64).abs() < 1e-12);
    }
}
