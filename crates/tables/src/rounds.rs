//! The rounds in which candidates are compared, and the rows of each round; part of `TableClassifier`.
//!
//! *Source.* Jamieson and Talwalkar 2016 (successive halving); Maron and Moore 1993 (rounds on parts of the rows).

use std::collections::HashMap;
use std::ops::Range;

/// Number of folds. The labels of each fold are predicted by a fit to the other folds.
const FOLDS: usize = 4;
/// Maximum number of candidates that survive each fold except the last.
const SURVIVORS_AFTER_FOLD: [usize; FOLDS - 1] = [12, 8, 6];
/// Minimum number of rows for a single split, which replaces the folds. A quarter of the rows are then validation rows.
const SINGLE_SPLIT_ROWS: usize = 6000;
/// Maximum number of fit rows, and of validation rows, in the single split.
const MAX_SPLIT_ROWS: usize = 10_000;
/// Number of fit rows of the screening round; the next constant is its number of validation rows. This round comes
/// first if the table has at least [`SCREENING_ROWS`] rows.
const SCREENING_FIT_ROWS: usize = 2000;
const SCREENING_VALIDATION_ROWS: usize = 1000;
const SCREENING_ROWS: usize = SCREENING_FIT_ROWS + SCREENING_VALIDATION_ROWS;
/// Number of families that survive the screening round because of their small errors. The same number of families
/// survive because of their small ranking errors.
const SURVIVORS_AFTER_SCREENING: usize = 2;

/// The upper limit on the survivors of a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Survivors {
    /// This number of candidates: those with the smallest errors.
    Candidates(usize),
    /// This number of families with the smallest errors, and the same number with the smallest ranking errors. With few
    /// rows, errors are a weak criterion, and they are useless if one class is so rare that no candidate predicts it
    /// yet.
    Families(usize),
}

/// A comparison of candidates that are fitted to some rows and validated on others. No group has both fit rows and
/// validation rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Round {
    pub(crate) fit_rows: Vec<usize>,
    pub(crate) validation_rows: Vec<usize>,
    /// Whether the round only selects the survivors. Later rounds use its rows again.
    pub(crate) is_screening: bool,
    /// The limit on the survivors; `None` in the last round, after which no candidate is dropped.
    pub(crate) survivors: Option<Survivors>,
}

impl Round {
    /// The smallest number n such that the first n rows of the table contain all rows of the round.
    pub(crate) fn rows(&self) -> usize {
        let last = self.fit_rows.iter().chain(&self.validation_rows).max();
        last.map_or(0, |last| last + 1)
    }
}

/// The rounds for rows with the given groups. There must be at least two groups. The rows of a group are consecutive,
/// and the groups are in random order.
pub(crate) fn rounds(groups: &[usize]) -> Vec<Round> {
    let n = groups.len();
    let mut rounds = Vec::with_capacity(FOLDS + 1);
    // The first row at or after `row` at which a group starts. If there is no such row, the first row of the last
    // group.
    let is_start = |row: &usize| groups[*row] != groups[*row - 1];
    let start = |row: usize| (row..n).find(is_start).or_else(|| (1..row.min(n)).rfind(is_start));
    let start = |row: usize| start(row).unwrap_or(n);
    let first = start(SCREENING_VALIDATION_ROWS);
    if n >= SCREENING_ROWS {
        rounds.push(Round {
            fit_rows: (first..n).take(SCREENING_FIT_ROWS).collect(),
            validation_rows: (0..first).collect(),
            is_screening: true,
            survivors: Some(Survivors::Families(SURVIVORS_AFTER_SCREENING)),
        });
    }
    if n < SINGLE_SPLIT_ROWS {
        let fold_of = group_folds(groups, FOLDS);
        let folds = fold_of.iter().max().map_or(0, |last| last + 1);
        rounds.extend((0..folds).map(|k| {
            let (fit_rows, validation_rows) = (0..n).partition(|i| fold_of[*i] != k);
            let is_last = k + 1 == folds;
            let survivors = (!is_last).then(|| Survivors::Candidates(SURVIVORS_AFTER_FOLD[k]));
            Round { fit_rows, validation_rows, is_screening: false, survivors }
        }));
    } else {
        let validation = (n / 4).min(MAX_SPLIT_ROWS);
        let second = start(first + SCREENING_FIT_ROWS).max(first);
        let third = start(second + validation.saturating_sub(first)).max(second);
        let most = |rows: Range<usize>, more: Range<usize>| {
            rows.chain(more).take(MAX_SPLIT_ROWS).collect()
        };
        rounds.push(Round {
            fit_rows: most(first..second, third..n),
            validation_rows: most(0..first, second..third),
            is_screening: false,
            survivors: None,
        });
    }
    rounds
}

/// The fold of each row, a number below `count`. All rows of a group are in the same fold.
///
/// Groups are assigned in the order of their first rows. Each group goes to the fold with the fewest rows; ties go to
/// the first such fold. Groups of one row are therefore assigned to the folds in turn. If there are fewer groups than
/// folds, the last folds are empty.
///
/// ```
/// use halfspaces_tables::group_folds;
/// assert_eq!(group_folds(&[7, 8, 9, 7, 8, 7, 4], 2), [0, 1, 1, 0, 1, 0, 0]);
/// assert_eq!(group_folds(&[0, 1, 2, 3, 4], 3), [0, 1, 2, 0, 1]);
/// ```
///
/// # Panics
/// Panics if `count` is 0.
#[must_use]
pub fn group_folds(groups: &[usize], count: usize) -> Vec<usize> {
    assert!(count > 0, "rows cannot be divided among no folds");
    let mut rows_of: HashMap<usize, usize> = HashMap::new();
    groups.iter().for_each(|group| *rows_of.entry(*group).or_default() += 1);
    let mut fold_of: HashMap<usize, usize> = HashMap::with_capacity(rows_of.len());
    let mut rows = vec![0; count];
    let fold = |group: &usize| {
        *fold_of.entry(*group).or_insert_with(|| {
            let Some(least) = (0..count).min_by_key(|fold| rows[*fold]) else {
                unreachable!("there is at least one fold")
            };
            rows[least] += rows_of[group];
            least
        })
    };
    groups.iter().map(fold).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// The fit rows and validation rows together are the first rows of the table.
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
            let rounds = rounds(&(0..n).collect::<Vec<_>>());
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

    /// Each case contains the numbers of all rows, of validation rows and of fit rows.
    #[test]
    fn with_many_rows_a_single_split_follows_the_screening_round() {
        for (n, validation, fitted) in [
            (6000, 1500, 4500),
            (13_333, 3333, 10_000),
            (13_400, 3350, 10_000),
            (90_000, 10_000, 10_000),
        ] {
            let rounds = rounds(&(0..n).collect::<Vec<_>>());
            let [screening, whole] = rounds.as_slice() else { unreachable!("two rounds") };
            assert_screening(screening);
            assert!(!whole.is_screening && whole.survivors.is_none());
            assert_eq!((whole.validation_rows.len(), whole.fit_rows.len()), (validation, fitted));
            assert_first(whole);
            assert!(screening.validation_rows.iter().all(|i| whole.validation_rows.contains(i)));
            assert!(screening.fit_rows.iter().all(|i| whole.fit_rows.contains(i)));
        }
    }

    /// Without groups, the rounds consist of these rows.
    #[test]
    fn rows_without_groups_are_split_at_these_places() {
        let groups: Vec<usize> = (0..13_400).collect();
        let [screening, whole] = &rounds(&groups)[..] else { unreachable!("two rounds") };
        assert!(screening.validation_rows.iter().copied().eq(0..1000));
        assert!(screening.fit_rows.iter().copied().eq(1000..3000));
        assert!(whole.validation_rows.iter().copied().eq((0..1000).chain(3000..5350)));
        assert!(whole.fit_rows.iter().copied().eq((1000..3000).chain(5350..13_350)));
    }

    /// Creates consecutive groups of these sizes.
    fn of_sizes(sizes: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let sizes = sizes.into_iter().enumerate();
        sizes.flat_map(|(group, size)| std::iter::repeat_n(group, size)).collect()
    }

    #[test]
    fn no_group_is_fitted_and_validated() {
        for (groups, size) in [(2, 5), (3, 4), (40, 7), (60, 20), (150, 23), (700, 13), (9, 2000)] {
            // The sizes are from 1 to 2 · size - 1.
            let sizes = (0..groups).map(|group| 1 + group * 7919 % (2 * size - 1));
            let of_row = of_sizes(sizes.clone());
            let n = of_row.len();
            let rounds = rounds(&of_row);
            let mut validated = vec![0; n];
            for round in &rounds {
                let fitted: HashSet<usize> = round.fit_rows.iter().map(|i| of_row[*i]).collect();
                assert!(round.validation_rows.iter().all(|i| !fitted.contains(&of_row[*i])));
                assert!(!fitted.is_empty() && !round.validation_rows.is_empty());
                assert!(round.rows() <= n);
                if round.is_screening {
                    let above = round.validation_rows.len() - 1000;
                    assert!(above < 2 * size && round.fit_rows.len() == 2000, "{groups}");
                } else {
                    round.validation_rows.iter().for_each(|i| validated[*i] += 1);
                }
            }
            let compared = rounds.iter().filter(|round| !round.is_screening).count();
            assert_eq!(compared, if n < 6000 { groups.min(4) } else { 1 });
            if n < 6000 {
                assert!(validated.iter().all(|times| *times == 1));
            } else {
                let [_, whole] = &rounds[..] else { unreachable!("two rounds") };
                let above = whole.validation_rows.len() - n / 4;
                assert!(above < 2 * size + 2 * size, "{groups}: {above}");
                assert_eq!(whole.fit_rows.len(), (n - n / 4 - above).min(10_000));
            }
            let limited = rounds.iter().map(|round| round.survivors.is_some());
            assert!(limited.eq((1..=rounds.len()).map(|round| round < rounds.len())));
        }
    }

    /// Tests groups that are larger than a part of a split. Each case contains the sizes of the groups, and the ends of
    /// the first validation rows, of the first fit rows and of the other validation rows.
    #[test]
    fn large_groups_are_on_one_side() {
        for (sizes, [first, second, third]) in [
            (vec![8000, 500, 500], [8000, 8500, 8500]),
            (vec![500, 500, 8000], [1000, 1000, 1000]),
            (vec![500, 8500], [500, 500, 500]),
            (vec![1000, 1999, 1, 4000, 1000], [1000, 3000, 7000]),
            (vec![999, 2, 2000, 250, 249, 1, 2499], [1001, 3001, 3500]),
            (vec![9000, 1], [9000, 9000, 9000]),
        ] {
            let groups = of_sizes(sizes.clone());
            let n = groups.len();
            let [screening, whole] = &rounds(&groups)[..] else { unreachable!("two rounds") };
            assert!(screening.validation_rows.iter().copied().eq(0..first), "{sizes:?}");
            assert!(screening.fit_rows.iter().copied().eq((first..n).take(2000)), "{sizes:?}");
            let validated = (0..first).chain(second..third);
            assert!(whole.validation_rows.iter().copied().eq(validated), "{sizes:?}");
            assert!(whole.fit_rows.iter().copied().eq((first..second).chain(third..n)));
        }
        // The split has no more rows than it has without groups.
        let [_, whole] = &rounds(&of_sizes([20_000, 20_000]))[..] else { unreachable!() };
        assert!(whole.validation_rows.iter().copied().eq(0..10_000));
        assert!(whole.fit_rows.iter().copied().eq(20_000..30_000));
        assert_eq!(whole.rows(), 30_000);
    }

    #[test]
    fn folds_have_few_rows_more_than_others() {
        let sizes = (0..60).map(|group| 1 + group * 31 % 41);
        let groups = of_sizes(sizes);
        let folds = group_folds(&groups, 5);
        let rows = |fold| folds.iter().filter(|of| **of == fold).count();
        let (least, most) = ((0..5).map(rows).min(), (0..5).map(rows).max());
        assert!(most.unwrap() - least.unwrap() <= 41);
        // The names of the groups and the positions of their rows do not matter.
        let other: Vec<usize> = groups.iter().map(|group| 1000 - group).collect();
        assert_eq!(group_folds(&other, 5), folds);
        assert_eq!(group_folds(&[3, 3, 3, 1, 3, 2], 4), [0, 0, 0, 1, 0, 2]);
        assert_eq!(group_folds(&[3, 3, 3, 1, 3, 2, 4, 4, 5, 6], 3), [0, 0, 0, 1, 0, 2, 1, 1, 2, 2]);
    }
}
