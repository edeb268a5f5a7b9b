//! Comparison of candidates in rounds, with early elimination; part of `TableClassifier`.
//!
//! *Source.* Maron and Moore 1993 (racing), with the standard error of paired differences instead of Hoeffding's bound;
//! Jamieson and Talwalkar 2016 (an upper limit on the survivors of each round).

use crate::candidate::{ColumnScale, Family, Method};
use crate::report::DroppedCandidate;
use crate::rounds::Survivors;
use crate::scaled_rows::{Features, ScaledRows};
use crate::table::{Comparison, PASSES, Table, near_margin};
use halfspaces_linalg::{InputError, Steps, Threads};
use std::slice;

/// A difference is significant if it exceeds this number of standard errors.
const SIGNIFICANT: f64 = 2.0;
/// Number of passes of the Perspectron in the first round. If the Perspectron is significantly worse than the best
/// candidate after this many passes, the remaining passes would not bring it close to the best.
const FIRST_PASSES: u64 = 1;

/// A family of candidates in the race, with its remaining candidates.
pub(crate) struct RacingFamily<'f> {
    pub(crate) index: usize,
    pub(crate) family: &'f Family,
    /// The features for the next round, if they have already been computed. After the last round, these are the
    /// features of all rows, if they are still in memory.
    pub(crate) features: Option<Features>,
    pub(crate) compared: Vec<Comparison>,
}

impl RacingFamily<'_> {
    /// Compares all candidates in a round.
    fn run(&mut self, table: &Table, scaled: &ScaledRows, round: usize) -> Result<(), InputError> {
        if round == 1 && !table.rounds()[0].is_screening {
            self.rerun_perspectron(table, scaled)?;
        }
        let features = self.take_features(table, scaled, round)?;
        let passes = if round == 0 { FIRST_PASSES } else { PASSES };
        table.compare(self.index, scaled, &features, round, passes, &mut self.compared)?;
        self.store_features(features, table, round);
        Ok(())
    }

    /// Compares the Perspectron again in the first round, this time with all its passes.
    fn rerun_perspectron(&mut self, table: &Table, scaled: &ScaledRows) -> Result<(), InputError> {
        let is_perspectron = |of: &Comparison| of.method == Method::Perspectron;
        if let Some(at) = self.compared.iter().position(is_perspectron) {
            let features = self.take_features(table, scaled, 0)?;
            let compared = slice::from_mut(&mut self.compared[at]);
            table.compare(self.index, scaled, &features, 0, PASSES, compared)?;
            self.store_features(features, table, 0);
        }
        Ok(())
    }

    fn take_features(
        &mut self,
        table: &Table,
        scaled: &ScaledRows,
        round: usize,
    ) -> Result<Features, InputError> {
        match self.features.take() {
            Some(features) => Ok(features),
            None => table.round_features(scaled, self.family, round),
        }
    }

    /// Keeps the features if they are needed again. All folds use the same features, but the screening round uses
    /// different ones.
    fn store_features(&mut self, features: Features, table: &Table, round: usize) {
        let is_last = round + 1 == table.rounds().len();
        let is_needed = if is_last {
            table.has_all_rows(&features)
        } else {
            !table.rounds()[round].is_screening
        };
        if is_needed {
            self.features = Some(features);
        }
    }
}

/// The maximum number of steps of [`race`], computed from the limits on the number of survivors. Each fit row of each
/// candidate in each round is one step.
pub(crate) fn steps_of_race(table: &Table, families: &[Family]) -> u64 {
    let most = most_candidates(table, families);
    table.rounds().iter().zip(most).map(|(round, most)| (round.fit_rows.len() * most) as u64).sum()
}

/// The maximum number of candidates in each round.
fn most_candidates(table: &Table, families: &[Family]) -> Vec<usize> {
    let of_families = families.iter().map(|family| family.methods.len());
    let Some(largest) = of_families.clone().max() else {
        unreachable!("there are families to compare")
    };
    let mut most: usize = of_families.sum();
    let mut each = Vec::with_capacity(table.rounds().len());
    for round in table.rounds() {
        each.push(most);
        most = most.min(match round.survivors {
            Some(Survivors::Candidates(count)) => count,
            // `count` families survive because of their errors, and `count` because of their ranking errors.
            Some(Survivors::Families(count)) => 2 * count * largest,
            None => most,
        });
    }
    each
}

/// Compares all candidates in the first round, and the survivors in each later round. Returns the survivors of the last
/// round and the candidates that were dropped earlier. On return, all steps of [`steps_of_race`] are finished.
pub(crate) fn race<'f, 's>(
    table: &Table,
    families: &'f [Family],
    of_scale: impl Fn(ColumnScale) -> &'s ScaledRows + Sync,
    threads: Threads,
    steps: &Steps,
) -> Result<(Vec<RacingFamily<'f>>, Vec<DroppedCandidate>), InputError> {
    let mut racing = Vec::with_capacity(families.len());
    for (index, family) in families.iter().enumerate() {
        let compared = family.methods.iter().map(|method| Comparison::empty(table, *method));
        let compared = compared.collect::<Result<_, _>>()?;
        racing.push(RacingFamily { index, family, features: None, compared });
    }
    let mut dropped = Vec::new();
    let most = most_candidates(table, families);
    for (index, (round, most)) in table.rounds().iter().zip(most).enumerate() {
        let compared: usize = racing.iter().map(|entry| entry.compared.len()).sum();
        let ran = threads.map_with(
            racing.iter_mut(),
            || (),
            |(), entry| {
                let ran = entry.run(table, of_scale(entry.family.columns), index);
                steps.advance((round.fit_rows.len() * entry.compared.len()) as u64);
                ran
            },
        );
        steps.advance((round.fit_rows.len() * (most - compared)) as u64);
        ran.into_iter().collect::<Result<(), _>>()?;
        if let Some(survivors) = round.survivors {
            eliminate(table, index + 1, survivors, &mut racing, &mut dropped);
        }
    }
    Ok((racing, dropped))
}

/// The results of a candidate after some rounds.
struct Scored {
    /// The index of the candidate's family among the families in the race.
    family: usize,
    method: Method,
    errors: RowErrors,
    ranking_error: f64,
}

/// Drops the candidates that are not among the [`Survivors`]. If the limit is a number of candidates, also drops each
/// candidate whose error is significantly more than [`near_margin`] above the smallest error.
fn eliminate(
    table: &Table,
    rounds: usize,
    survivors: Survivors,
    racing: &mut Vec<RacingFamily<'_>>,
    dropped: &mut Vec<DroppedCandidate>,
) {
    let mut scored = Vec::new();
    for (family, entry) in racing.iter().enumerate() {
        for of in &entry.compared {
            let errors = RowErrors::new(table.row_errors(&of.values, rounds));
            let ranking_error = table.ranking_error(&of.values, rounds);
            scored.push(Scored { family, method: of.method, errors, ranking_error });
        }
    }
    let mut families = Vec::new();
    if let Survivors::Families(count) = survivors {
        scored.sort_by(|a, b| a.ranking_error.total_cmp(&b.ranking_error));
        families = first_families(&scored, count);
    }
    let by_error = |a: &Scored, b: &Scored| a.errors.total.total_cmp(&b.errors.total);
    scored.sort_by(|a, b| by_error(a, b).then(a.ranking_error.total_cmp(&b.ranking_error)));
    if let Survivors::Families(count) = survivors {
        families.extend(first_families(&scored, count));
    }
    let Some(Scored { errors: best, .. }) = scored.first() else {
        unreachable!("the best candidate is never dropped")
    };
    let margin = near_margin(best.total, table.validation_rows().count());
    for (rank, Scored { family, method, errors, .. }) in scored.iter().enumerate() {
        let survives = match survivors {
            Survivors::Candidates(count) => {
                rank < count && !errors.is_significantly_above(best, margin)
            }
            Survivors::Families(_) => families.contains(family),
        };
        if !survives {
            let RacingFamily { family, compared, .. } = &mut racing[*family];
            compared.retain(|of| of.method != *method);
            dropped.push(DroppedCandidate {
                candidate: family.candidate(*method),
                error: errors.total,
                least_error: best.total,
                rows: errors.rows.len(),
            });
        }
    }
    racing.retain(|entry| !entry.compared.is_empty());
}

/// The first `count` distinct families, in the order of their first candidates.
fn first_families(scored: &[Scored], count: usize) -> Vec<usize> {
    let mut families = Vec::new();
    for Scored { family, .. } in scored {
        if families.len() < count && !families.contains(family) {
            families.push(*family);
        }
    }
    families
}

/// The error rate of a candidate and the contribution of each row to it.
struct RowErrors {
    rows: Vec<f64>,
    total: f64,
}

impl RowErrors {
    fn new(rows: Vec<f64>) -> RowErrors {
        // Rounding can make the sum exceed 1.
        RowErrors { total: rows.iter().sum::<f64>().min(1.0), rows }
    }

    /// Whether the error exceeds that of another candidate on the same rows by more than `margin` plus [`SIGNIFICANT`]
    /// standard errors of the difference.
    fn is_significantly_above(&self, other: &RowErrors, margin: f64) -> bool {
        let differences = self.rows.iter().zip(&other.rows).map(|(a, b)| a - b);
        let standard_error = differences.map(|d| d * d).sum::<f64>().sqrt();
        self.total - other.total > margin + SIGNIFICANT * standard_error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::{Space, families};
    use crate::table::{LabelledRows, Member};
    use halfspaces_features::Distance;
    use halfspaces_linalg::{Monitor, Points};
    use std::collections::BTreeSet;

    fn table(classes: &[usize]) -> Table {
        let weight = |i| 1.0 + (i % 3) as f64;
        let labelled = LabelledRows { classes, count: 2, weight: &weight, groups: None };
        Table::new(&labelled, &(0..classes.len()).collect::<Vec<_>>(), 1).unwrap()
    }

    /// At most 10 000 rows are fit rows, and a quarter of the rows are validation rows. If the table has more rows, the
    /// features of the remaining rows have not been computed yet.
    #[test]
    fn features_are_stored_if_they_are_of_all_rows() {
        for (n, stored) in [(40, true), (13_333, true), (13_334, false)] {
            let classes: Vec<usize> = (0..n).map(|i| i % 2).collect();
            let table = table(&classes);
            let values = classes.iter().map(|&class| class as f64 - 0.5).collect();
            let points = Points::new(values, 1).unwrap();
            let columns = ColumnScale::Standardised;
            let scaled = ScaledRows::new(columns, points, table.outputs(), 1).unwrap();
            let methods = vec![Method::Hinge { c: 0.1 }];
            let families = [Family { columns, space: Space::Columns, methods }];
            let (mut racing, dropped) =
                race(&table, &families, |_| &scaled, Threads::ONE, &Steps::plan(0)).unwrap();
            let RacingFamily { family, features, compared, .. } = racing.pop().unwrap();
            assert_eq!((racing.len(), dropped.len()), (0, 0));
            assert_eq!(table.error(&compared[0].values), 0.0);
            assert_eq!(features.is_some(), stored, "{n} rows");
            let members =
                [Member { method: compared[0].method, scale: 1.0, duals: &compared[0].duals }];
            let part = table.part(0, &scaled, family, &members, features).unwrap();
            let again = table.part(0, &scaled, family, &members, None).unwrap();
            assert_eq!(part, again);
        }
    }

    /// Each round has a step for each fit row of each candidate. All are finished at the end, also those of candidates that
    /// were dropped.
    #[test]
    fn all_steps_are_finished() {
        // The first table has four folds, the second a screening round and a single split.
        for n in [400, 6400] {
            let points: Vec<[f64; 2]> = (0..n)
                .map(|i| [(f64::from(i) * 12.9898).sin(), (f64::from(i) * 78.233).cos()])
                .collect();
            let classes: Vec<usize> =
                points.iter().map(|x| usize::from(x[0] + 0.1 * x[1] > 0.0)).collect();
            let table = table(&classes);
            let points = Points::from_rows(&points).unwrap();
            let columns = ColumnScale::Standardised;
            let scaled = ScaledRows::new(columns, points, table.outputs(), 1).unwrap();
            let families = families(true, 2, 1);
            let all: usize = families.iter().map(|family| family.methods.len()).sum();
            let most = families.iter().map(|family| family.methods.len()).max().unwrap();
            let expected = match n {
                400 => 300 * (all + 12 + 8 + 6),
                _ => 2000 * all + 4800 * all.min(4 * most),
            };
            assert!(all > 4 * most);
            let total = steps_of_race(&table, &families);
            assert_eq!(total, expected as u64);
            let monitor = Monitor::default();
            monitor.run(|| {
                let steps = Steps::plan(2 * total);
                race(&table, &families, |_| &scaled, Threads::ONE, &steps).unwrap();
                assert_eq!(monitor.progress(), Some((total, 2 * total)), "{n} rows");
            });
        }
    }

    /// Compares the race with a full comparison of all candidates on all rows, with errors counted in plain loops.
    /// Checks which candidates are dropped and when, and that the elimination does not affect the results of the
    /// survivors. Only narrow kernels can fit a chessboard.
    #[test]
    fn elimination_drops_significantly_worse_and_surplus_candidates_only() {
        let race = |n| assert_race(20 * n, if n % 2 == 0 { 2.0 } else { 3.0 });
        let (worse, surplus): (Vec<_>, Vec<_>) = (36..50).map(race).unzip();
        let after =
            |dropped: Vec<Vec<usize>>| dropped.concat().into_iter().collect::<BTreeSet<_>>();
        assert_eq!((after(worse), after(surplus)), ([1, 2, 3].into(), [1, 2, 3].into()));
    }

    /// Runs a race on a chessboard with `cells` cells per unit. Returns the number of folds after which each candidate
    /// was dropped: first for the significantly worse candidates, then for those beyond the limit on survivors.
    fn assert_race(n: i32, cells: f64) -> (Vec<usize>, Vec<usize>) {
        let points: Vec<[f64; 2]> = (0..n)
            .map(|i| [(f64::from(i) * 12.9898).sin(), (f64::from(i) * 78.233).cos()])
            .collect();
        let inside =
            |x: &[f64; 2]| (cells * x[0]).floor() as i32 % 2 == (cells * x[1]).floor() as i32 % 2;
        let slip = |i: usize| i % 5 == 3;
        let classes: Vec<usize> =
            points.iter().enumerate().map(|(i, x)| usize::from(inside(x) != slip(i))).collect();
        let table = table(&classes);
        let points = Points::from_rows(&points).unwrap();
        let columns = ColumnScale::Standardised;
        let scaled = ScaledRows::new(columns, points, table.outputs(), 1).unwrap();
        // Each candidate has its own family, because within a family a fit starts from the fit for the previous C.
        let mut single = Vec::new();
        for family in families(true, 2, 1).into_iter().filter(|family| family.columns == columns) {
            single.extend(
                family.methods.iter().map(|m| Family { methods: vec![*m], ..family.clone() }),
            );
        }
        let families = single;
        let (racing, dropped) =
            race(&table, &families, |_| &scaled, Threads::ONE, &Steps::plan(0)).unwrap();

        // Compares all candidates in all rounds.
        let mut all = Vec::new();
        for (index, family) in families.iter().enumerate() {
            let mut compared = [Comparison::empty(&table, family.methods[0]).unwrap()];
            let features = table.round_features(&scaled, family, 0).unwrap();
            for split in 0..4 {
                table.compare(index, &scaled, &features, split, PASSES, &mut compared).unwrap();
            }
            if let Some(left) = racing.iter().find(|entry| entry.index == index) {
                assert_eq!(left.compared[0].values, compared[0].values);
                assert_eq!(left.compared[0].duals, compared[0].duals);
            }
            let [compared] = compared;
            all.push((family.candidate(compared.method), compared.values));
        }
        let weight = |i: usize| 1.0 + (i % 3) as f64;
        let wrong = |values: &[f64], i: usize| usize::from(values[i] > 0.0) != classes[i];
        let mut running: Vec<usize> = (0..all.len()).collect();
        let (mut expected, mut worse, mut surplus) = (Vec::new(), Vec::new(), Vec::new());
        for (folds, most) in [(1, 12), (2, 8), (3, 6)] {
            // Row i is in fold i % 4.
            let rows: Vec<usize> = (0..n as usize).filter(|i| i % 4 < folds).collect();
            let total: f64 = rows.iter().map(|i| weight(*i)).sum();
            let error = |values: &[f64]| {
                rows.iter().filter(|i| wrong(values, **i)).map(|i| weight(*i)).sum::<f64>() / total
            };
            // The order of the sum is that of the code under test, because equal errors may be rounded differently in
            // another order.
            let sum = |&j: &usize| table.row_errors(&all[j].1, folds).iter().sum::<f64>();
            let ranking_error = |&j: &usize| table.ranking_error(&all[j].1, folds);
            running.sort_by(|a, b| {
                sum(a).total_cmp(&sum(b)).then(ranking_error(a).total_cmp(&ranking_error(b)))
            });
            let (mut left, best) = (Vec::new(), running[0]);
            let least = error(&all[best].1);
            let near = 2.0 * (least * (1.0 - least) / f64::from(n)).sqrt();
            for (rank, &j) in running.iter().enumerate() {
                let differ =
                    rows.iter().filter(|i| wrong(&all[j].1, **i) != wrong(&all[best].1, **i));
                let chance =
                    2.0 * differ.map(|i| weight(*i) * weight(*i)).sum::<f64>().sqrt() / total;
                if rank >= most {
                    surplus.push(folds);
                } else if error(&all[j].1) - least > near + chance {
                    worse.push(folds);
                } else {
                    left.push(j);
                    continue;
                }
                expected.push((all[j].0, error(&all[j].1), least, rows.len()));
            }
            left.sort_unstable();
            running = left;
        }
        assert_eq!(dropped.len(), expected.len());
        for (found, (candidate, error, least, rows)) in dropped.iter().zip(expected) {
            assert_eq!((found.candidate, found.rows), (candidate, rows));
            assert!((found.error - error).abs() < 1e-12, "{} {error}", found.error);
            assert!((found.least_error - least).abs() < 1e-12, "{} {least}", found.least_error);
        }
        let left: usize = racing.iter().map(|entry| entry.compared.len()).sum();
        assert_eq!(left, running.len());
        assert!(left >= 2);
        (worse, surplus)
    }

    /// Runs a race between the columns (with the hinge loss and the Perspectron) and a narrow kernel, on points in the
    /// plane.
    fn raced(
        n: u32,
        is_positive: fn(&[f64; 2]) -> bool,
    ) -> (Table, ScaledRows, Vec<Family>, Vec<DroppedCandidate>, Vec<Vec<Comparison>>) {
        let row = |i| [(f64::from(i) * 12.9898).sin(), (f64::from(i) * 78.233).cos()];
        let points: Vec<[f64; 2]> = (0..n).map(row).collect();
        let slip = |i: usize| i % 11 == 3;
        let class = |(i, x): (usize, &[f64; 2])| usize::from(is_positive(x) != slip(i));
        let classes: Vec<usize> = points.iter().enumerate().map(class).collect();
        let table = table(&classes);
        let points = Points::from_rows(&points).unwrap();
        let columns = ColumnScale::Standardised;
        let scaled = ScaledRows::new(columns, points, table.outputs(), 1).unwrap();
        let (hinge, narrow) = (Method::Hinge { c: 3.0 }, Distance::SquaredEuclidean);
        let space = Space::Kernel { distance: narrow, width: 0.05 };
        let families = vec![
            Family { columns, space: Space::Columns, methods: vec![hinge, Method::Perspectron] },
            Family { columns, space, methods: vec![hinge] },
        ];
        let (racing, dropped) =
            race(&table, &families, |_| &scaled, Threads::ONE, &Steps::plan(0)).unwrap();
        let left = racing.into_iter().map(|entry| entry.compared).collect();
        (table, scaled, families, dropped, left)
    }

    fn perspectron(table: &Table, scaled: &ScaledRows, passes: u64, rounds: usize) -> Comparison {
        let mut compared = [Comparison::empty(table, Method::Perspectron).unwrap()];
        for round in 0..rounds {
            let methods = vec![Method::Perspectron];
            let family = Family { columns: scaled.columns, space: Space::Columns, methods };
            let features = table.round_features(scaled, &family, round).unwrap();
            table.compare(0, scaled, &features, round, passes, &mut compared).unwrap();
        }
        let [compared] = compared;
        compared
    }

    #[test]
    fn the_perspectron_makes_all_passes_if_it_is_near_the_best() {
        for n in [800, 6000] {
            let (table, scaled, _, dropped, left) = raced(n, |x| x[0] > 0.3 * x[1]);
            assert!(dropped.is_empty());
            let found = &left[0][1];
            assert_eq!(found.method, Method::Perspectron);
            let rounds = table.rounds().len();
            assert_eq!(found.values, perspectron(&table, &scaled, 10, rounds).values);
            assert_ne!(found.values, perspectron(&table, &scaled, 1, rounds).values);
        }
    }

    #[test]
    fn the_perspectron_makes_all_passes_from_the_second_fold_on() {
        let (table, scaled, families, ..) = raced(800, |x| x[0] > 0.3 * x[1]);
        let compared = vec![Comparison::empty(&table, Method::Perspectron).unwrap()];
        let mut entry = RacingFamily { index: 0, family: &families[0], features: None, compared };
        for (round, passes) in [(0, 1), (1, 10), (2, 10)] {
            entry.run(&table, &scaled, round).unwrap();
            let plain = perspectron(&table, &scaled, passes, round + 1);
            assert_eq!(entry.compared[0].values, plain.values, "round {round}");
        }
    }

    /// The screening round only determines which candidates survive.
    #[test]
    fn results_do_not_include_the_screening_round() {
        for (n, rounds, validation_rows) in [(6000, 1..2, 1500), (3000, 1..5, 3000)] {
            let (table, scaled, families, _, left) = raced(n, |x| x[0] > 0.3 * x[1]);
            assert_eq!(table.validation_rows().count(), validation_rows);
            let found = left.iter().flatten().find(|of| of.method == families[1].methods[0]);
            let (found, mut duals) = (found.unwrap(), vec![0.0; n as usize]);
            for round in rounds {
                let mut compared = [Comparison::empty(&table, found.method).unwrap()];
                let features = table.round_features(&scaled, &families[0], round).unwrap();
                table.compare(0, &scaled, &features, round, PASSES, &mut compared).unwrap();
                for &i in &table.rounds()[round].validation_rows {
                    assert_eq!(found.values[i], compared[0].values[i], "{n} rows, row {i}");
                }
                duals.iter_mut().zip(&compared[0].duals[0]).for_each(|(sum, dual)| *sum += dual);
            }
            assert_eq!(found.duals, [duals]);
            // `duals` contains the mean over the fits. As the mean weight is 2 and C is 3, rows of weight 3 are at
            // their bound of 4.5 in all fits.
            let [duals] = found.duals.as_slice() else { unreachable!("two classes") };
            let largest = duals.iter().fold(0.0, |a: f64, b| a.max(*b));
            assert!((largest - 4.5).abs() < 1e-9, "{n} rows: {largest}");
        }
    }

    #[test]
    fn errors_count_the_validation_rows_of_the_rounds_so_far() {
        for (n, counted) in [
            (6000, vec![1000, 1500]),
            (4000, vec![1000, 1000, 2000, 3000, 4000]),
            (800, vec![200, 400, 600, 800]),
        ] {
            let classes: Vec<usize> = (0..n).map(|i| i / 4 % 2).collect();
            let table = table(&classes);
            let values = vec![1.0; n];
            for (rounds, rows) in counted.iter().enumerate() {
                let errors = table.row_errors(&values, rounds + 1);
                assert_eq!(errors.len(), *rows);
                assert!((0.4..0.6).contains(&errors.iter().sum::<f64>()));
            }
        }
    }

    #[test]
    fn a_significantly_worse_perspectron_is_dropped_after_one_pass() {
        let (table, scaled, families, dropped, left) =
            raced(800, |x| (3.0 * x[0]).floor() as i32 % 2 == (3.0 * x[1]).floor() as i32 % 2);
        // The other halfspace over the columns is also dropped.
        assert_eq!((dropped.len(), left.len()), (2, 1));
        let of_columns = families[0].candidate(Method::Perspectron);
        let found = dropped.iter().find(|entry| entry.candidate == of_columns).unwrap();
        let first = RowErrors::new(table.row_errors(&perspectron(&table, &scaled, 1, 1).values, 1));
        assert_eq!((found.error, found.rows), (first.total, 200));
        assert!(found.error > found.least_error + 0.1);
    }

    /// The candidates have the given error counts on forty rows, which are too few for a significant difference. All
    /// candidates rank all other rows correctly.
    #[test]
    fn surplus_candidates_are_dropped() {
        let wrong = [vec![3, 6], vec![1, 7], vec![2, 4, 5, 7]];
        let all = 8;
        for (most, left) in [
            (all, vec![vec![3, 6], vec![1, 7], vec![2, 4, 5, 7]]),
            (7, vec![vec![3, 6], vec![1, 7], vec![2, 4, 5]]),
            (4, vec![vec![3], vec![1], vec![2, 4]]),
            (2, vec![vec![1], vec![2]]),
        ] {
            assert_eq!(left_of(&wrong, Survivors::Candidates(most), |_| 1.0), left);
        }
        for (most, left) in [
            (3, vec![vec![3, 6], vec![1, 7], vec![2, 4, 5, 7]]),
            (2, vec![vec![1, 7], vec![2, 4, 5, 7]]),
            (1, vec![vec![1, 7]]),
        ] {
            assert_eq!(left_of(&wrong, Survivors::Families(most), |_| 1.0), left);
        }
    }

    /// On misclassified rows, the values of one candidate are near 0, and those of the others are far from 0. This
    /// candidate therefore has fewer wrongly ordered pairs than another candidate with equally many errors.
    #[test]
    fn families_survive_by_ranking_error_too() {
        let wrong = [vec![3], vec![1], vec![2], vec![4]];
        let left = |most, best: usize| {
            let size = move |wrong: usize| if wrong == best { 0.1 } else { 3.0 };
            left_of(&wrong, Survivors::Families(most), size)
        };
        assert_eq!(left(1, 4), [vec![1], vec![4]]);
        assert_eq!(left(1, 1), [vec![1]]);
        assert_eq!(left(2, 4), [vec![1], vec![2], vec![4]]);
        // If the limit is a number of candidates, the ranking error only breaks ties between equal errors.
        for (wrong, best, left) in [([2, 3, 2], 2, 2), ([2, 3, 2], 0, 0), ([2, 3, 2], 1, 0)] {
            let sizes = [0, 1, 2].map(|index| if index == best { 0.1 } else { 3.0 });
            let mut sizes = sizes.into_iter();
            let wrong = wrong.map(|wrong| vec![wrong]);
            let found = survivors_of(&wrong, Survivors::Candidates(1), |_| sizes.next().unwrap());
            assert_eq!(found, [(left, vec![2])]);
        }
    }

    fn left_of(
        wrong: &[Vec<usize>],
        left: Survivors,
        size: impl FnMut(usize) -> f64,
    ) -> Vec<Vec<usize>> {
        survivors_of(wrong, left, size).into_iter().map(|(_, wrong)| wrong).collect()
    }

    /// Returns the surviving families and the numbers of errors of their surviving candidates. `wrong` contains the
    /// number of errors of each candidate; the values of misclassified rows have the given size.
    fn survivors_of(
        wrong: &[Vec<usize>],
        left: Survivors,
        mut size: impl FnMut(usize) -> f64,
    ) -> Vec<(usize, Vec<usize>)> {
        let classes: Vec<usize> = (0..40).map(|i| i % 2).collect();
        let labelled = LabelledRows { classes: &classes, count: 2, weight: &|_| 1.0, groups: None };
        let table = Table::new(&labelled, &(0..40).collect::<Vec<_>>(), 1).unwrap();
        let columns = ColumnScale::Standardised;
        let family = |wrong: &Vec<usize>| {
            let methods = wrong.iter().map(|wrong| Method::Hinge { c: *wrong as f64 }).collect();
            Family { columns, space: Space::Columns, methods }
        };
        let families: Vec<Family> = wrong.iter().map(family).collect();
        let mut racing = Vec::new();
        for (index, (family, wrong)) in families.iter().zip(wrong).enumerate() {
            let mut compared = Vec::new();
            for (method, wrong) in family.methods.iter().zip(wrong) {
                let mut of = Comparison::empty(&table, *method).unwrap();
                let size = size(*wrong);
                for (i, value) in of.values.iter_mut().enumerate() {
                    let sign = if classes[i] == 1 { 1.0 } else { -1.0 };
                    *value = if i < *wrong { -size * sign } else { sign };
                }
                compared.push(of);
            }
            racing.push(RacingFamily { index, family, features: None, compared });
        }
        let mut dropped = Vec::new();
        eliminate(&table, 4, left, &mut racing, &mut dropped);
        let wrongs = |entry: &RacingFamily<'_>| {
            let wrongs = entry.compared.iter().map(|of| wrong_of(&table, of)).collect();
            (entry.index, wrongs)
        };
        let left: Vec<(usize, Vec<usize>)> = racing.iter().map(wrongs).collect();
        let all: usize = wrong.iter().map(Vec::len).sum();
        assert_eq!(left.iter().map(|(_, left)| left.len()).sum::<usize>() + dropped.len(), all);
        assert!(dropped.is_sorted_by(|a, b| a.error <= b.error));
        left
    }

    fn wrong_of(table: &Table, of: &Comparison) -> usize {
        (40.0 * table.error(&of.values)).round() as usize
    }

    /// Of 100 rows, one candidate misclassifies 9 and another 25, and both misclassify 4 of them. The standard error of
    /// the difference of 0.16 is √26/100.
    #[test]
    fn significance_by_hand() {
        let errors = |wrong: std::ops::Range<usize>| {
            RowErrors::new((0..100).map(|i| if wrong.contains(&i) { 0.01 } else { 0.0 }).collect())
        };
        let (good, bad) = (errors(0..9), errors(5..30));
        assert!((bad.total - good.total - 0.16).abs() < 1e-12);
        let margin = 0.16 - SIGNIFICANT * 0.26f64.sqrt() / 10.0;
        assert!((margin - 0.058).abs() < 0.001);
        assert!(bad.is_significantly_above(&good, margin - 1e-9));
        assert!(!bad.is_significantly_above(&good, margin + 1e-9));
        assert!(!good.is_significantly_above(&bad, 0.0));
        assert!(!bad.is_significantly_above(&bad, 0.0));
    }

    #[test]
    fn a_family_counts_once() {
        let of = |family| Scored {
            family,
            method: Method::Perspectron,
            errors: RowErrors::new(vec![0.0]),
            ranking_error: 0.0,
        };
        assert_eq!(first_families(&[3, 3, 1, 3, 2].map(of), 2), [3, 1]);
    }
}
