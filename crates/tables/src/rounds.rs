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
/// Where there are as many rows, candidates are compared roughly before that: fitted to some rows, compared on others.
const ROUGHLY_FITTED: usize = 2000;
const ROUGHLY_COMPARED: usize = 1000;
const ROUGH: usize = ROUGHLY_COMPARED + ROUGHLY_FITTED;
/// Families left after that by each of two measures.
const LEFT_AFTER_ROUGH: usize = 2;

/// Who is left after a round, at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Left {
    /// As many candidates of least error.
    Candidates(usize),
    /// As many families that have those of least error, and as many that have those of least disorder: of few rows errors say
    /// little, and nothing where one class is so rare that it is not found yet.
    Families(usize),
}

/// A comparison of candidates by fits to some rows on others, which are the first rows together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Round {
    pub(crate) fit_to: Vec<usize>,
    pub(crate) compare_on: Vec<usize>,
    /// Whether it says no more than who is left: the rows are among those of the rounds after it.
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
    let mut rounds = Vec::with_capacity(FOLDS + 1);
    if n >= ROUGH {
        rounds.push(Round {
            fit_to: (ROUGHLY_COMPARED..ROUGH).collect(),
            compare_on: (0..ROUGHLY_COMPARED).collect(),
            rough: true,
            left: Some(Left::Families(LEFT_AFTER_ROUGH)),
        });
    }
    if n < MANY_ROWS {
        rounds.extend((0..FOLDS).map(|k| {
            let (fit_to, compare_on) = (0..n).partition(|i| i % FOLDS != k);
            let left = LEFT_AFTER_FOLD.get(k).map(|most| Left::Candidates(*most));
            Round { fit_to, compare_on, rough: false, left }
        }));
    } else {
        let held_out = (n / 4).min(MAX_COMPARED);
        let middle = ROUGH + held_out - ROUGHLY_COMPARED;
        let end = n.min(held_out + MAX_COMPARED);
        rounds.push(Round {
            fit_to: (ROUGHLY_COMPARED..ROUGH).chain(middle..end).collect(),
            compare_on: (0..ROUGHLY_COMPARED).chain(ROUGH..middle).collect(),
            rough: false,
            left: None,
        });
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fitted to and compared on are the first rows together.
    fn assert_first(round: &Round) {
        let mut all = [round.fit_to.as_slice(), &round.compare_on].concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..round.rows()));
    }

    fn assert_rough(round: &Round) {
        assert!(round.rough && round.left == Some(Left::Families(2)));
        assert_eq!((round.compare_on.len(), round.fit_to.len()), (1000, 2000));
        assert_first(round);
    }

    #[test]
    fn of_few_rows_each_fold_is_compared_on_once() {
        for n in [10, 501, 2999, 3000, 5999] {
            let rounds = rounds(n);
            let (rough, folds) = rounds.split_at(usize::from(n >= 3000));
            rough.iter().for_each(assert_rough);
            assert_eq!(folds.len(), 4);
            let left = [12, 8, 6].map(|most| Some(Left::Candidates(most)));
            for (k, round) in folds.iter().enumerate() {
                assert!(round.compare_on.iter().all(|i| i % 4 == k) && !round.rough);
                assert_eq!(round.rows(), n);
                assert_first(round);
                assert_eq!(round.left, left.get(k).copied().flatten());
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
            assert_rough(rough);
            assert!(!whole.rough && whole.left.is_none());
            assert_eq!((whole.compare_on.len(), whole.fit_to.len()), (held_out, fitted));
            assert_first(whole);
            assert!(rough.compare_on.iter().all(|i| whole.compare_on.contains(i)));
            assert!(rough.fit_to.iter().all(|i| whole.fit_to.contains(i)));
        }
    }
}
