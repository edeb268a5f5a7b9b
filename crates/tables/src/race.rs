//! Candidates compared fold by fold: those that fall behind do not see the end. Part of `TableClassifier`.
//!
//! *Source.* Maron and Moore 1993 (racing), by the deviation of paired errors instead of Hoeffding's bound.

use crate::candidate::{ColumnScale, Family, Method};
use crate::report::Dropped;
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
    /// Compares all on a fold.
    fn run(&mut self, table: &Table, scaled: &Scaled, split: usize) -> Result<(), InputError> {
        if split == 1 {
            self.run_in_full(table, scaled)?;
        }
        let features = self.take_features(table, scaled)?;
        let passes = if split == 0 { FIRST_PASSES } else { PASSES };
        table.compare(self.index, scaled, &features, split, passes, &mut self.compared)?;
        self.keep(features, table, split);
        Ok(())
    }

    /// Compares the Perspectron on the first fold once more, with all its passes.
    fn run_in_full(&mut self, table: &Table, scaled: &Scaled) -> Result<(), InputError> {
        let is_perspectron = |of: &Comparison| of.method == Method::Perspectron;
        if let Some(at) = self.compared.iter().position(is_perspectron) {
            let features = self.take_features(table, scaled)?;
            let compared = slice::from_mut(&mut self.compared[at]);
            table.compare(self.index, scaled, &features, 0, PASSES, compared)?;
            self.keep(features, table, 0);
        }
        Ok(())
    }

    fn take_features(&mut self, table: &Table, scaled: &Scaled) -> Result<Features, InputError> {
        match self.features.take() {
            Some(features) => Ok(features),
            None => table.features_compared(scaled, self.family.space),
        }
    }

    fn keep(&mut self, features: Features, table: &Table, split: usize) {
        let at_end = split + 1 == table.splits();
        if !at_end || table.are_all(&features) {
            self.features = Some(features);
        }
    }
}

/// All candidates after the first fold, then, fold by fold, those that may still be near the best.
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
    for split in 0..table.splits() {
        let ran = threads.map_with(
            entrants.iter_mut(),
            || (),
            |(), entrant| entrant.run(table, of_scale(entrant.family.columns), split),
        );
        ran.into_iter().collect::<Result<(), _>>()?;
        if split == 0 || split + 1 < table.splits() {
            drop_behind(table, split + 1, &mut entrants, &mut dropped);
        }
    }
    if table.splits() == 1 {
        for entrant in &mut entrants {
            entrant.run_in_full(table, of_scale(entrant.family.columns))?;
        }
    }
    Ok((entrants, dropped))
}

/// Drops candidates whose error in the first folds is above the least by more than what is near it in the end, and that
/// beyond chance. Those compared on all rows in full stay, whatever their errors.
fn drop_behind(
    table: &Table,
    folds: usize,
    entrants: &mut Vec<Entrant<'_>>,
    dropped: &mut Vec<Dropped>,
) {
    let counts = |of: &Comparison| Counted::new(table.shares(&of.values, folds));
    let all = entrants.iter().flat_map(|entrant| &entrant.compared);
    let least = all.map(counts).min_by(|a, b| a.error.total_cmp(&b.error));
    let Some(least) = least else { unreachable!("the best is never dropped") };
    let most = near(least.error, table.compared_rows().count());
    for entrant in entrants.iter_mut() {
        let family = entrant.family;
        entrant.compared.retain(|of| {
            let counted = counts(of);
            let in_full = folds == table.splits() && of.method != Method::Perspectron;
            let behind = !in_full && counted.is_behind(&least, most);
            if behind {
                let candidate = family.candidate(of.method);
                let (error, least_error) = (counted.error, least.error);
                dropped.push(Dropped { candidate, error, least_error, rows: counted.shares.len() });
            }
            !behind
        });
    }
    entrants.retain(|entrant| !entrant.compared.is_empty());
}

/// The error of a candidate, and what each row adds to it.
struct Counted {
    shares: Vec<f64>,
    error: f64,
}

impl Counted {
    fn new(shares: Vec<f64>) -> Counted {
        Counted { error: shares.iter().sum(), shares }
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
    fn those_dropped_are_behind_and_others_do_not_notice() {
        let dropped_after: Vec<usize> = (34..44).flat_map(|n| assert_race(20 * n)).collect();
        for folds in 1..4 {
            assert!(dropped_after.contains(&folds), "none after {folds}");
        }
    }

    /// After how many folds each of those dropped was.
    fn assert_race(n: i32) -> Vec<usize> {
        let points: Vec<[f64; 2]> = (0..n)
            .map(|i| [(f64::from(i) * 12.9898).sin(), (f64::from(i) * 78.233).cos()])
            .collect();
        let inside =
            |x: &[f64; 2]| (3.0 * x[0]).floor() as i32 % 2 == (3.0 * x[1]).floor() as i32 % 2;
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
            let features = table.features_compared(&scaled, family.space).unwrap();
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
        let mut expected = Vec::new();
        for folds in 1..4 {
            let rows: Vec<usize> = (0..n as usize).filter(|i| i % 4 < folds).collect();
            let total: f64 = rows.iter().map(|i| weight(*i)).sum();
            let error = |values: &[f64]| {
                rows.iter().filter(|i| wrong(values, **i)).map(|i| weight(*i)).sum::<f64>() / total
            };
            let by_error =
                |a: &&usize, b: &&usize| error(&all[**a].1).total_cmp(&error(&all[**b].1));
            let best = *running.iter().min_by(by_error).unwrap();
            let least = error(&all[best].1);
            let near = 2.0 * (least * (1.0 - least) / f64::from(n)).sqrt();
            running.retain(|&j| {
                let differ =
                    rows.iter().filter(|i| wrong(&all[j].1, **i) != wrong(&all[best].1, **i));
                let chance =
                    2.0 * differ.map(|i| weight(*i) * weight(*i)).sum::<f64>().sqrt() / total;
                let behind = error(&all[j].1) - least > near + chance;
                if behind {
                    expected.push((all[j].0, error(&all[j].1), least, rows.len()));
                }
                !behind
            });
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
        dropped.iter().map(|entry| 4 * entry.rows / n as usize).collect()
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

    fn perspectron(table: &Table, scaled: &Scaled, passes: u64) -> Comparison {
        let mut compared = [table.nothing_yet(Method::Perspectron).unwrap()];
        let features = table.features_compared(scaled, Space::Columns).unwrap();
        for split in 0..table.splits() {
            table.compare(0, scaled, &features, split, passes, &mut compared).unwrap();
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
            assert_eq!(found.values, perspectron(&table, &scaled, 10).values);
            assert_ne!(found.values, perspectron(&table, &scaled, 1).values);
        }
    }

    /// With several folds other halfspaces of the columns are dropped, too; else they have been compared on all rows already.
    #[test]
    fn the_perspectron_is_dropped_after_a_pass_where_that_is_behind() {
        for (n, rows, others) in [(800, 200, 1), (6000, 1500, 0)] {
            let (table, scaled, families, dropped, left) =
                raced(n, |x| (3.0 * x[0]).floor() as i32 % 2 == (3.0 * x[1]).floor() as i32 % 2);
            assert_eq!(dropped.len(), 1 + others, "{n}");
            let found = &dropped[others];
            assert_eq!(found.candidate, families[0].candidate(Method::Perspectron));
            let first = Counted::new(table.shares(&perspectron(&table, &scaled, 1).values, 1));
            assert_eq!((found.error, found.rows), (first.error, rows));
            assert!(found.error > found.least_error + 0.1);
            assert_eq!(left.iter().map(Vec::len).sum::<usize>(), 2 - others);
        }
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
}
