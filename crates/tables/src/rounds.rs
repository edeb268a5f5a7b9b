//! The rounds in which candidates are compared, and the rows of each round. Part of `TableClassifier`.
//!
//! *Source.* Jamieson and Talwalkar 2016 (successive halving); Maron and Moore 1993 (rounds on parts of the rows).

/// Number of folds. The labels of each fold are predicted by a fit to the other folds.
const FOLDS: usize = 4;
/// Maximum number of candidates that survive each fold except the last.
const SURVIVORS_AFTER_FOLD: [usize; FOLDS - 1] = [12, 8, 6];
/// With at least this number of rows, a single split replaces the folds: a quarter of the rows are validation rows.
const SINGLE_SPLIT_ROWS: usize = 6000;
/// Maximum number of fit rows, and of validation rows, of the single split.
const MAX_SPLIT_ROWS: usize = 10_000;
/// Numbers of fit rows and validation rows of the screening round, which comes first if the table has at least as many
/// rows as both together.
const SCREENING_FIT_ROWS: usize = 2000;
const SCREENING_VALIDATION_ROWS: usize = 1000;
const SCREENING_ROWS: usize = SCREENING_FIT_ROWS + SCREENING_VALIDATION_ROWS;
/// Number of families that survive the screening round because of a small error, and as many because of a small ranking
/// error.
const SURVIVORS_AFTER_SCREENING: usize = 2;

/// The upper limit on the survivors of a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Survivors {
    /// This many candidates with the least errors.
    Candidates(usize),
    /// This many families with the least errors, and this many with the least ranking errors. On few rows, errors are a
    /// weak criterion. They are useless if one class is so rare that no candidate predicts it yet.
    Families(usize),
}

/// A comparison of candidates that are fitted to some rows and validated on others. Together these are the first rows
/// of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Round {
    pub(crate) fit_rows: Vec<usize>,
    pub(crate) validation_rows: Vec<usize>,
    /// Whether the round only selects the survivors. Later rounds use its rows again.
    pub(crate) is_screening: bool,
    /// `None` in the last round, after which no candidate is dropped.
    pub(crate) survivors: Option<Survivors>,
}

impl Round {
    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.fit_rows.len() + self.validation_rows.len()
    }
}

/// The rounds for `n` rows, which must be in random order.
pub(crate) fn rounds(n: usize) -> Vec<Round> {
    let mut rounds = Vec::with_capacity(FOLDS + 1);
    if n >= SCREENING_ROWS {
        rounds.push(Round {
            fit_rows: (SCREENING_VALIDATION_ROWS..SCREENING_ROWS).collect(),
            validation_rows: (0..SCREENING_VALIDATION_ROWS).collect(),
            is_screening: true,
            survivors: Some(Survivors::Families(SURVIVORS_AFTER_SCREENING)),
        });
    }
    if n < SINGLE_SPLIT_ROWS {
        rounds.extend((0..FOLDS).map(|k| {
            let (fit_rows, validation_rows) = (0..n).partition(|i| i % FOLDS != k);
            let survivors = SURVIVORS_AFTER_FOLD.get(k).map(|n| Survivors::Candidates(*n));
            Round { fit_rows, validation_rows, is_screening: false, survivors }
        }));
    } else {
        let validation = (n / 4).min(MAX_SPLIT_ROWS);
        let middle = SCREENING_ROWS + validation - SCREENING_VALIDATION_ROWS;
        let end = n.min(validation + MAX_SPLIT_ROWS);
        rounds.push(Round {
            fit_rows: (SCREENING_VALIDATION_ROWS..SCREENING_ROWS).chain(middle..end).collect(),
            validation_rows: (0..SCREENING_VALIDATION_ROWS).chain(SCREENING_ROWS..middle).collect(),
            is_screening: false,
            survivors: None,
        });
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fit rows and validation rows together are the first rows.
    fn assert_first(round: &Round) {
        let mut all = [round.fit_rows.as_slice(), &round.validation_rows].concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..round.rows()));
    }

    fn assert_screening(round: &Round) {
        assert!(round.is_screening && round.survivors == Some(Survivors::Families(2)));
        assert_eq!((round.validation_rows.len(), round.fit_rows.len()), (1000, 2000));
        assert_first(round);
    }

    #[test]
    fn with_few_rows_each_fold_is_validated_once() {
        for n in [10, 501, 2999, 3000, 5999] {
            let rounds = rounds(n);
            let (screening, folds) = rounds.split_at(usize::from(n >= 3000));
            screening.iter().for_each(assert_screening);
            assert_eq!(folds.len(), 4);
            let survivors = [12, 8, 6].map(|n| Some(Survivors::Candidates(n)));
            for (k, round) in folds.iter().enumerate() {
                assert!(round.validation_rows.iter().all(|i| i % 4 == k) && !round.is_screening);
                assert_eq!(round.rows(), n);
                assert_first(round);
                assert_eq!(round.survivors, survivors.get(k).copied().flatten());
            }
        }
    }

    /// Numbers of rows: all, for validation, fitted to.
    #[test]
    fn with_many_rows_a_single_split_follows_the_screening_round() {
        for (n, validation, fitted) in [
            (6000, 1500, 4500),
            (13_333, 3333, 10_000),
            (13_400, 3350, 10_000),
            (90_000, 10_000, 10_000),
        ] {
            let rounds = rounds(n);
            let [screening, whole] = rounds.as_slice() else { unreachable!("two rounds") };
            assert_screening(screening);
            assert!(!whole.is_screening && whole.survivors.is_none());
            assert_eq!((whole.validation_rows.len(), whole.fit_rows.len()), (validation, fitted));
            assert_first(whole);
            assert!(screening.validation_rows.iter().all(|i| whole.validation_rows.contains(i)));
            assert!(screening.fit_rows.iter().all(|i| whole.fit_rows.contains(i)));
        }
    }
}
