//! Candidates compared round by round: those that fall behind do not see the end. Part of `TableClassifier`.
//!
//! *Source.* Maron and Moore 1993 (racing), by the deviation of paired errors instead of Hoeffding's bound; Jamieson and
//! Talwalkar 2016 (no more than so many are left after a round).

use crate::candidate::{ColumnScale, Family, Method};
use crate::report::Dropped;
use crate::rounds::Left;
use crate::table::{Comparison, Features, PASSES, Scaled, Table, near};
use halfspaces_linalg::{InputError, Threads};
use std::slice;

/// How many standard errors are no chance.
const BEYOND_CHANCE: f64 = 2.0;
/// Passes of the Perspectron at first. If it is behind with these, all of them do not bring it near the best.
const FIRST_PASSES: u64 = 1;

/// Candidates that share their features, as far as they are still compared.
pub(crate) struct Entrant<'f> {
    pub(crate) index: usize,
    pub(crate) family: &'f Family,
    /// None before they are needed, when they are not needed any more, and in the end if they are not those of all rows.
    pub(crate) features: Option<Features>,
    pub(crate) compared: Vec<Comparison>,
}

impl Entrant<'_> {
    /// Compares all in a round.
    fn run(&mut self, table: &Table, scaled: &Scaled, round: usize) -> Result<(), InputError> {
        if round == 1 && !table.rounds()[0].rough {
            self.run_in_full(table, scaled)?;
        }
        let features = self.take_features(table, scaled, round)?;
        let passes = if round == 0 { FIRST_PASSES } else { PASSES };
        table.compare(self.index, scaled, &features, round, passes, &mut self.compared)?;
        self.keep(features, table, round);
        Ok(())
    }

    /// Compares the Perspectron in the first round once more, with all its passes.
    fn run_in_full(&mut self, table: &Table, scaled: &Scaled) -> Result<(), InputError> {
        let is_perspectron = |of: &Comparison| of.method == Method::Perspectron;
        if let Some(at) = self.compared.iter().position(is_perspectron) {
            let features = self.take_features(table, scaled, 0)?;
            let compared = slice::from_mut(&mut self.compared[at]);
            table.compare(self.index, scaled, &features, 0, PASSES, compared)?;
            self.keep(features, table, 0);
        }
        Ok(())
    }

    fn take_features(
        &mut self,
        table: &Table,
        scaled: &Scaled,
        round: usize,
    ) -> Result<Features, InputError> {
        match self.features.take() {
            Some(features) => Ok(features),
            None => table.features_compared(scaled, self.family.space, round),
        }
    }

    /// Folds have the same features, a rough round has its own.
    fn keep(&mut self, features: Features, table: &Table, round: usize) {
        let at_end = round + 1 == table.rounds().len();
        let is_needed =
            if at_end { table.are_all(&features) } else { !table.rounds()[round].rough };
        if is_needed {
            self.features = Some(features);
        }
    }
}

/// All candidates after the first round, then, round by round, those that may still be near the best.
pub(crate) fn race<'f, 's>(
    table: &Table,
    families: &'f [Family],
    of_scale: impl Fn(ColumnScale) -> &'s Scaled + Sync,
    threads: Threads,
) -> Result<(Vec<Entrant<'f>>, Vec<Dropped>), InputError> {
    let mut entrants = Vec::with_capacity(families.len());
    for (index, family) in families.iter().enumerate() {
        let compared = family.methods.iter().map(|method| table.nothing_yet(*method));
        let compared = compared.collect::<Result<_, _>>()?;
        entrants.push(Entrant { index, family, features: None, compared });
    }
    let mut dropped = Vec::new();
    for (index, round) in table.rounds().iter().enumerate() {
        let ran = threads.map_with(
            entrants.iter_mut(),
            || (),
            |(), entrant| entrant.run(table, of_scale(entrant.family.columns), index),
        );
        ran.into_iter().collect::<Result<(), _>>()?;
        if let Some(left) = round.left {
            drop_some(table, index + 1, left, &mut entrants, &mut dropped);
        }
    }
    Ok((entrants, dropped))
}

/// A candidate as the first rounds have it.
struct Judged {
    entrant: usize,
    method: Method,
    counted: Counted,
    disorder: f64,
}

/// Drops candidates that are not among those [`Left`]; and where that is by candidates, those whose error is above the least by
/// more than what is near it in the end, and that beyond chance.
fn drop_some(
    table: &Table,
    rounds: usize,
    left: Left,
    entrants: &mut Vec<Entrant<'_>>,
    dropped: &mut Vec<Dropped>,
) {
    let mut judged = Vec::new();
    for (index, entrant) in entrants.iter().enumerate() {
        for of in &entrant.compared {
            let counted = Counted::new(table.shares(&of.values, rounds));
            let disorder = table.disorder(&of.values, rounds);
            judged.push(Judged { entrant: index, method: of.method, counted, disorder });
        }
    }
    let mut families = Vec::new();
    if let Left::Families(most) = left {
        judged.sort_by(|a, b| a.disorder.total_cmp(&b.disorder));
        families = first_families(&judged, most);
    }
    let by_error = |a: &Judged, b: &Judged| a.counted.error.total_cmp(&b.counted.error);
    judged.sort_by(|a, b| by_error(a, b).then(a.disorder.total_cmp(&b.disorder)));
    if let Left::Families(most) = left {
        families.extend(first_families(&judged, most));
    }
    let Some(Judged { counted: least, .. }) = judged.first() else {
        unreachable!("the best is never dropped")
    };
    let most = near(least.error, table.compared_rows().count());
    for (rank, Judged { entrant, method, counted, .. }) in judged.iter().enumerate() {
        let is_left = match left {
            Left::Candidates(candidates) => rank < candidates && !counted.is_behind(least, most),
            Left::Families(_) => families.contains(entrant),
        };
        if !is_left {
            let Entrant { family, compared, .. } = &mut entrants[*entrant];
            compared.retain(|of| of.method != *method);
            let candidate = family.candidate(*method);
            let (error, least_error) = (counted.error, least.error);
            dropped.push(Dropped { candidate, error, least_error, rows: counted.shares.len() });
        }
    }
    entrants.retain(|entrant| !entrant.compared.is_empty());
}

/// The entrants of the first candidates, as many as are asked for.
fn first_families(judged: &[Judged], most: usize) -> Vec<usize> {
    let mut families = Vec::new();
    for Judged { entrant, .. } in judged {
        if families.len() < most && !families.contains(entrant) {
            families.push(*entrant);
        }
    }
    families
}

/// The error of a candidate, and what each row adds to it.
struct Counted {
    shares: Vec<f64>,
    error: f64,
}

impl Counted {
    fn new(shares: Vec<f64>) -> Counted {
        // Rounded, shares may be more than 1 together.
        Counted { error: shares.iter().sum::<f64>().min(1.0), shares }
    }

    /// Whether the error is above that of another on the same rows by more than `most`, and that beyond chance.
    fn is_behind(&self, other: &Counted, most: f64) -> bool {
        let differences = self.shares.iter().zip(&other.shares).map(|(a, b)| a - b);
        let deviation = differences.map(|d| d * d).sum::<f64>().sqrt();
        self.error - other.error > most + BEYOND_CHANCE * deviation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::{Space, families};
    use crate::table::{Given, Member};
    use halfspaces_features::Distance;
    use halfspaces_linalg::Points;
    use std::collections::BTreeSet;

    fn table(classes: &[usize]) -> Table {
        let given = Given { classes, count: 2, weight: &|i| 1.0 + (i % 3) as f64 };
        Table::new(&given, &(0..classes.len()).collect::<Vec<_>>(), 1).unwrap()
    }

    /// 10 000 rows are fitted to and a quarter compared on: of more rows those left over have no features yet.
    #[test]
    fn features_are_kept_where_they_are_of_all_rows() {
        for (n, kept) in [(40, true), (13_333, true), (13_334, false)] {
            let classes: Vec<usize> = (0..n).map(|i| i % 2).collect();
            let table = table(&classes);
            let values = classes.iter().map(|&class| class as f64 - 0.5).collect();
            let points = Points::new(values, 1).unwrap();
            let columns = ColumnScale::Standardised;
            let scaled = Scaled::new(columns, points, &table).unwrap();
            let methods = vec![Method::Hinge { c: 0.1 }];
            let families = [Family { columns, space: Space::Columns, methods }];
            let (mut entrants, dropped) =
                race(&table, &families, |_| &scaled, Threads::ONE).unwrap();
            let Entrant { family, features, compared, .. } = entrants.pop().unwrap();
            assert_eq!((entrants.len(), dropped.len()), (0, 0));
            assert_eq!(table.error(&compared[0].values), 0.0);
            assert_eq!(features.is_some(), kept, "{n} rows");
            let members =
                [Member { method: compared[0].method, deviation: 1.0, duals: &compared[0].duals }];
            let part = table.part(0, &scaled, family, &members, features).unwrap();
            let again = table.part(0, &scaled, family, &members, None).unwrap();
            assert_eq!(part, again);
        }
    }

    /// Beside all candidates compared on all rows, errors counted in plain loops: who is dropped, when, and that what is left
    /// is as it would have been. Nothing but narrow kernels explains a chessboard.
    #[test]
    fn those_dropped_are_behind_or_too_many_and_others_do_not_notice() {
        let race = |n| assert_race(20 * n, if n % 2 == 0 { 2.0 } else { 3.0 });
        let (behind, too_many): (Vec<_>, Vec<_>) = (36..50).map(race).unzip();
        let after =
            |dropped: Vec<Vec<usize>>| dropped.concat().into_iter().collect::<BTreeSet<_>>();
        assert_eq!((after(behind), after(too_many)), ([1, 2, 3].into(), [1, 2, 3].into()));
    }

    /// After how many folds each of those that were behind was dropped, and of those that were too many; of a chessboard with so
    /// many cells to a unit.
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
        let scaled = Scaled::new(columns, points, &table).unwrap();
        // Each by itself: a fit for one C begins with that for the one before.
        let mut alone = Vec::new();
        for family in families(true, 1).into_iter().filter(|family| family.columns == columns) {
            alone.extend(
                family.methods.iter().map(|m| Family { methods: vec![*m], ..family.clone() }),
            );
        }
        let families = alone;
        let (entrants, dropped) = race(&table, &families, |_| &scaled, Threads::ONE).unwrap();

        // All, to the end; per candidate whether each row's class is wrong.
        let mut all = Vec::new();
        for (index, family) in families.iter().enumerate() {
            let mut compared = [table.nothing_yet(family.methods[0]).unwrap()];
            let features = table.features_compared(&scaled, family.space, 0).unwrap();
            for split in 0..4 {
                table.compare(index, &scaled, &features, split, PASSES, &mut compared).unwrap();
            }
            if let Some(left) = entrants.iter().find(|entrant| entrant.index == index) {
                assert_eq!(left.compared[0].values, compared[0].values);
                assert_eq!(left.compared[0].duals, compared[0].duals);
            }
            let [compared] = compared;
            all.push((family.candidate(compared.method), compared.values));
        }
        let weight = |i: usize| 1.0 + (i % 3) as f64;
        // Of the rows of the first folds in order: i % 4 is the fold.
        let wrong = |values: &[f64], i: usize| usize::from(values[i] > 0.0) != classes[i];
        let mut running: Vec<usize> = (0..all.len()).collect();
        let (mut expected, mut behind, mut too_many) = (Vec::new(), Vec::new(), Vec::new());
        for (folds, most) in [(1, 12), (2, 8), (3, 6)] {
            let rows: Vec<usize> = (0..n as usize).filter(|i| i % 4 < folds).collect();
            let total: f64 = rows.iter().map(|i| weight(*i)).sum();
            let error = |values: &[f64]| {
                rows.iter().filter(|i| wrong(values, **i)).map(|i| weight(*i)).sum::<f64>() / total
            };
            // By sums that are rounded alike, as equal errors need not be equal else.
            let sum = |&j: &usize| table.shares(&all[j].1, folds).iter().sum::<f64>();
            let disorder = |&j: &usize| table.disorder(&all[j].1, folds);
            running.sort_by(|a, b| {
                sum(a).total_cmp(&sum(b)).then(disorder(a).total_cmp(&disorder(b)))
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
                    too_many.push(folds);
                } else if error(&all[j].1) - least > near + chance {
                    behind.push(folds);
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
        let left: usize = entrants.iter().map(|entrant| entrant.compared.len()).sum();
        assert_eq!(left, running.len());
        assert!(left >= 2);
        (behind, too_many)
    }

    /// Columns, with the hinge loss and the Perspectron, and a narrow kernel: points of the plane, and whether a row is positive.
    fn raced(
        n: u32,
        is_positive: fn(&[f64; 2]) -> bool,
    ) -> (Table, Scaled, Vec<Family>, Vec<Dropped>, Vec<Vec<Comparison>>) {
        let row = |i| [(f64::from(i) * 12.9898).sin(), (f64::from(i) * 78.233).cos()];
        let points: Vec<[f64; 2]> = (0..n).map(row).collect();
        let slip = |i: usize| i % 11 == 3;
        let class = |(i, x): (usize, &[f64; 2])| usize::from(is_positive(x) != slip(i));
        let classes: Vec<usize> = points.iter().enumerate().map(class).collect();
        let table = table(&classes);
        let points = Points::from_rows(&points).unwrap();
        let columns = ColumnScale::Standardised;
        let scaled = Scaled::new(columns, points, &table).unwrap();
        let (hinge, narrow) = (Method::Hinge { c: 3.0 }, Distance::SquaredEuclidean);
        let space = Space::Kernel { distance: narrow, width: 0.05 };
        let families = vec![
            Family { columns, space: Space::Columns, methods: vec![hinge, Method::Perspectron] },
            Family { columns, space, methods: vec![hinge] },
        ];
        let (entrants, dropped) = race(&table, &families, |_| &scaled, Threads::ONE).unwrap();
        let left = entrants.into_iter().map(|entrant| entrant.compared).collect();
        (table, scaled, families, dropped, left)
    }

    fn perspectron(table: &Table, scaled: &Scaled, passes: u64, rounds: usize) -> Comparison {
        let mut compared = [table.nothing_yet(Method::Perspectron).unwrap()];
        for round in 0..rounds {
            let features = table.features_compared(scaled, Space::Columns, round).unwrap();
            table.compare(0, scaled, &features, round, passes, &mut compared).unwrap();
        }
        let [compared] = compared;
        compared
    }

    #[test]
    fn the_perspectron_has_all_its_passes_where_one_is_near_the_best() {
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
    fn the_perspectron_has_all_its_passes_by_the_second_fold() {
        let (table, scaled, families, ..) = raced(800, |x| x[0] > 0.3 * x[1]);
        let compared = vec![table.nothing_yet(Method::Perspectron).unwrap()];
        let mut entrant = Entrant { index: 0, family: &families[0], features: None, compared };
        for (round, passes) in [(0, 1), (1, 10), (2, 10)] {
            entrant.run(&table, &scaled, round).unwrap();
            let plain = perspectron(&table, &scaled, passes, round + 1);
            assert_eq!(entrant.compared[0].values, plain.values, "round {round}");
        }
    }

    /// Of a rough round nothing is left but who was dropped.
    #[test]
    fn what_is_compared_by_is_not_of_a_rough_round() {
        for (n, rounds, compared_on) in [(6000, 1..2, 1500), (3000, 1..5, 3000)] {
            let (table, scaled, families, _, left) = raced(n, |x| x[0] > 0.3 * x[1]);
            assert_eq!(table.compared_rows().count(), compared_on);
            let found = left.iter().flatten().find(|of| of.method == families[1].methods[0]);
            let (found, mut duals) = (found.unwrap(), vec![0.0; n as usize]);
            for round in rounds {
                let mut compared = [table.nothing_yet(found.method).unwrap()];
                let features = table.features_compared(&scaled, families[0].space, round).unwrap();
                table.compare(0, &scaled, &features, round, PASSES, &mut compared).unwrap();
                for &i in &table.rounds()[round].compare_on {
                    assert_eq!(found.values[i], compared[0].values[i], "{n} rows, row {i}");
                }
                duals.iter_mut().zip(&compared[0].duals[0]).for_each(|(sum, dual)| *sum += dual);
            }
            assert_eq!(found.duals, [duals]);
            // The mean over fits: at their bound in all of them are rows of weight 3 of 2 in the mean, and C is 3.
            let [duals] = found.duals.as_slice() else { unreachable!("two classes") };
            let most = duals.iter().fold(0.0, |a: f64, b| a.max(*b));
            assert!((most - 4.5).abs() < 1e-9, "{n} rows: {most}");
        }
    }

    #[test]
    fn errors_are_counted_on_the_rows_of_the_rounds_so_far() {
        for (n, counted) in [
            (6000, vec![1000, 1500]),
            (4000, vec![1000, 1000, 2000, 3000, 4000]),
            (800, vec![200, 400, 600, 800]),
        ] {
            let classes: Vec<usize> = (0..n).map(|i| i / 4 % 2).collect();
            let table = table(&classes);
            let values = vec![1.0; n];
            for (rounds, rows) in counted.iter().enumerate() {
                let shares = table.shares(&values, rounds + 1);
                assert_eq!(shares.len(), *rows);
                assert!((0.4..0.6).contains(&shares.iter().sum::<f64>()));
            }
        }
    }

    #[test]
    fn the_perspectron_is_dropped_after_a_pass_where_that_is_behind() {
        let (table, scaled, families, dropped, left) =
            raced(800, |x| (3.0 * x[0]).floor() as i32 % 2 == (3.0 * x[1]).floor() as i32 % 2);
        // The other halfspace of the columns, too.
        assert_eq!((dropped.len(), left.len()), (2, 1));
        let of_columns = families[0].candidate(Method::Perspectron);
        let found = dropped.iter().find(|entry| entry.candidate == of_columns).unwrap();
        let first = Counted::new(table.shares(&perspectron(&table, &scaled, 1, 1).values, 1));
        assert_eq!((found.error, found.rows), (first.error, 200));
        assert!(found.error > found.least_error + 0.1);
    }

    /// Candidates that err on so many rows of forty, too few to be behind, and put all others in order.
    #[test]
    fn those_that_are_not_among_the_best_are_dropped() {
        let wrong = [vec![3, 6], vec![1, 7], vec![2, 4, 5, 7]];
        let all = 8;
        for (most, left) in [
            (all, vec![vec![3, 6], vec![1, 7], vec![2, 4, 5, 7]]),
            (7, vec![vec![3, 6], vec![1, 7], vec![2, 4, 5]]),
            (4, vec![vec![3], vec![1], vec![2, 4]]),
            (2, vec![vec![1], vec![2]]),
        ] {
            assert_eq!(left_of(&wrong, Left::Candidates(most), |_| 1.0), left);
        }
        for (most, left) in [
            (3, vec![vec![3, 6], vec![1, 7], vec![2, 4, 5, 7]]),
            (2, vec![vec![1, 7], vec![2, 4, 5, 7]]),
            (1, vec![vec![1, 7]]),
        ] {
            assert_eq!(left_of(&wrong, Left::Families(most), |_| 1.0), left);
        }
    }

    /// Where one candidate errs its values are near 0, others' are far from it: as many errors, but fewer pairs in the wrong
    /// order.
    #[test]
    fn families_are_left_by_disorder_too() {
        let wrong = [vec![3], vec![1], vec![2], vec![4]];
        let left = |most, best: usize| {
            let size = move |wrong: usize| if wrong == best { 0.1 } else { 3.0 };
            left_of(&wrong, Left::Families(most), size)
        };
        assert_eq!(left(1, 4), [vec![1], vec![4]]);
        assert_eq!(left(1, 1), [vec![1]]);
        assert_eq!(left(2, 4), [vec![1], vec![2], vec![4]]);
        // Of candidates it decides between equal errors alone.
        for (wrong, best, left) in [([2, 3, 2], 2, 2), ([2, 3, 2], 0, 0), ([2, 3, 2], 1, 0)] {
            let sizes = [0, 1, 2].map(|index| if index == best { 0.1 } else { 3.0 });
            let mut sizes = sizes.into_iter();
            let wrong = wrong.map(|wrong| vec![wrong]);
            let found = judged_left(&wrong, Left::Candidates(1), |_| sizes.next().unwrap());
            assert_eq!(found, [(left, vec![2])]);
        }
    }

    fn left_of(
        wrong: &[Vec<usize>],
        left: Left,
        size: impl FnMut(usize) -> f64,
    ) -> Vec<Vec<usize>> {
        judged_left(wrong, left, size).into_iter().map(|(_, wrong)| wrong).collect()
    }

    /// Families left and how many rows their candidates left are wrong on, of candidates that are wrong on as many, by the
    /// size given.
    fn judged_left(
        wrong: &[Vec<usize>],
        left: Left,
        mut size: impl FnMut(usize) -> f64,
    ) -> Vec<(usize, Vec<usize>)> {
        let classes: Vec<usize> = (0..40).map(|i| i % 2).collect();
        let given = Given { classes: &classes, count: 2, weight: &|_| 1.0 };
        let table = Table::new(&given, &(0..40).collect::<Vec<_>>(), 1).unwrap();
        let columns = ColumnScale::Standardised;
        let family = |wrong: &Vec<usize>| {
            let methods = wrong.iter().map(|wrong| Method::Hinge { c: *wrong as f64 }).collect();
            Family { columns, space: Space::Columns, methods }
        };
        let families: Vec<Family> = wrong.iter().map(family).collect();
        let mut entrants = Vec::new();
        for (index, (family, wrong)) in families.iter().zip(wrong).enumerate() {
            let mut compared = Vec::new();
            for (method, wrong) in family.methods.iter().zip(wrong) {
                let mut of = table.nothing_yet(*method).unwrap();
                let size = size(*wrong);
                for (i, value) in of.values.iter_mut().enumerate() {
                    let sign = if classes[i] == 1 { 1.0 } else { -1.0 };
                    *value = if i < *wrong { -size * sign } else { sign };
                }
                compared.push(of);
            }
            entrants.push(Entrant { index, family, features: None, compared });
        }
        let mut dropped = Vec::new();
        drop_some(&table, 4, left, &mut entrants, &mut dropped);
        let wrongs = |entrant: &Entrant<'_>| {
            let wrongs = entrant.compared.iter().map(|of| wrong_of(&table, of)).collect();
            (entrant.index, wrongs)
        };
        let left: Vec<(usize, Vec<usize>)> = entrants.iter().map(wrongs).collect();
        let all: usize = wrong.iter().map(Vec::len).sum();
        assert_eq!(left.iter().map(|(_, left)| left.len()).sum::<usize>() + dropped.len(), all);
        assert!(dropped.is_sorted_by(|a, b| a.error <= b.error));
        left
    }

    fn wrong_of(table: &Table, of: &Comparison) -> usize {
        (40.0 * table.error(&of.values)).round() as usize
    }

    /// Of 100 rows 9 are wrong of one and 25 of another, 4 of both: the difference of 0.16 has a deviation of √26/100.
    #[test]
    fn behind_is_worked_by_hand() {
        let shares = |wrong: std::ops::Range<usize>| {
            Counted::new((0..100).map(|i| if wrong.contains(&i) { 0.01 } else { 0.0 }).collect())
        };
        let (good, bad) = (shares(0..9), shares(5..30));
        assert!((bad.error - good.error - 0.16).abs() < 1e-12);
        let slack = 0.16 - BEYOND_CHANCE * 0.26f64.sqrt() / 10.0;
        assert!((slack - 0.058).abs() < 0.001);
        assert!(bad.is_behind(&good, slack - 1e-9) && !bad.is_behind(&good, slack + 1e-9));
        assert!(!good.is_behind(&bad, 0.0) && !bad.is_behind(&bad, 0.0));
    }

    #[test]
    fn a_family_counts_once() {
        let of = |entrant| Judged {
            entrant,
            method: Method::Perspectron,
            counted: Counted::new(vec![0.0]),
            disorder: 0.0,
        };
        assert_eq!(first_families(&[3, 3, 1, 3, 2].map(of), 2), [3, 1]);
    }
}
