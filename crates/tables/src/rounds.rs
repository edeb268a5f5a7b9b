//! The rows on which candidates are compared, round by round. Part of `TableClassifier`.
//!
//! *Source.* Jamieson and Talwalkar 2016 (some are left after each round), Maron and Moore 1993 (the rounds are parts of the
//! rows).

/// Parts of the rows, each labelled by fits to the others.
const FOLDS: usize = 4;
/// Candidates left after each of them but the last.
const LEFT_AFTER_FOLD: [usize; FOLDS - 1] = [12, 8, 6];
/// From so many rows on candidates are compared on a quarter of them only, and no more rows than these are fitted to
/// or compared on.
const MANY_ROWS: usize = 6000;
const MAX_COMPARED: usize = 10_000;
/// Before that, candidates are compared roughly: fitted to some rows, compared on others; those of so many families are left.
const ROUGHLY_FITTED: usize = 2000;
const ROUGHLY_COMPARED: usize = 1000;
const FAMILIES_AFTER_ROUGH: usize = 3;

/// How many are left after a round at most: the best of all candidates, of the families that have the best.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Left {
    pub(crate) candidates: usize,
    pub(crate) families: usize,
}

/// A comparison of candidates by fits to some rows on others, which are the first rows together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Round {
    pub(crate) fit_to: Vec<usize>,
    pub(crate) compare_on: Vec<usize>,
    /// Whether it says no more than who is left: the rows are among those of the round after it.
    pub(crate) rough: bool,
    /// Of the last one all are.
    pub(crate) left: Option<Left>,
}

impl Round {
    /// How many rows it has.
    pub(crate) fn rows(&self) -> usize {
        self.fit_to.len() + self.compare_on.len()
    }
}

/// The rounds for `n` rows, which stand in random order already.
pub(crate) fn rounds(n: usize) -> Vec<Round> {
    if n < MANY_ROWS {
        let fold = |k| {
            let (fit_to, compare_on) = (0..n).partition(|i| i % FOLDS != k);
            let left = |&candidates| Left { candidates, families: usize::MAX };
            Round { fit_to, compare_on, rough: false, left: LEFT_AFTER_FOLD.get(k).map(left) }
        };
        return (0..FOLDS).map(fold).collect();
    }
    let roughly = ROUGHLY_COMPARED + ROUGHLY_FITTED;
    let rough = Round {
        fit_to: (ROUGHLY_COMPARED..roughly).collect(),
        compare_on: (0..ROUGHLY_COMPARED).collect(),
        rough: true,
        left: Some(Left { candidates: usize::MAX, families: FAMILIES_AFTER_ROUGH }),
    };
    let held_out = (n / 4).min(MAX_COMPARED);
    let end = n.min(held_out + MAX_COMPARED);
    let middle = roughly + held_out - ROUGHLY_COMPARED;
    let whole = Round {
        fit_to: (ROUGHLY_COMPARED..roughly).chain(middle..end).collect(),
        compare_on: (0..ROUGHLY_COMPARED).chain(roughly..middle).collect(),
        rough: false,
        left: None,
    };
    vec![rough, whole]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_few_rows_each_fold_is_compared_on_once() {
        for n in [10, 501, 5999] {
            let rounds = rounds(n);
            assert_eq!(rounds.len(), 4);
            for (k, round) in rounds.iter().enumerate() {
                assert!(round.compare_on.iter().all(|i| i % 4 == k) && !round.rough);
                let mut all = [round.fit_to.as_slice(), &round.compare_on].concat();
                all.sort_unstable();
                assert!(all.iter().copied().eq(0..n) && round.rows() == n);
            }
            for (round, most) in rounds.iter().zip([Some(12), Some(8), Some(6), None]) {
                let left = most.map(|candidates| Left { candidates, families: usize::MAX });
                assert_eq!(round.left, left);
            }
        }
    }

    /// Rows: of the whole round, held out and fitted to.
    #[test]
    fn of_many_rows_a_quarter_is_held_out_after_a_rough_round() {
        for (n, held_out, fitted) in [
            (6000, 1500, 4500),
            (13_333, 3333, 10_000),
            (13_400, 3350, 10_000),
            (90_000, 10_000, 10_000),
        ] {
            let rounds = rounds(n);
            let [rough, whole] = rounds.as_slice() else { unreachable!("two rounds") };
            assert!(rough.rough && !whole.rough);
            let left = Left { candidates: usize::MAX, families: 3 };
            assert_eq!((rough.left, whole.left), (Some(left), None));
            assert_eq!((rough.compare_on.len(), rough.fit_to.len()), (1000, 2000));
            assert_eq!((whole.compare_on.len(), whole.fit_to.len()), (held_out, fitted));
            for round in [rough, whole] {
                let mut all = [round.fit_to.as_slice(), &round.compare_on].concat();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..round.rows()));
            }
            assert!(rough.compare_on.iter().all(|i| whole.compare_on.contains(i)));
            assert!(rough.fit_to.iter().all(|i| whole.fit_to.contains(i)));
        }
    }
}
