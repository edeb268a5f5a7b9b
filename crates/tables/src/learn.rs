//! Learns an average of halfspaces from a table; part of `TableClassifier`.

use crate::averaged::{Averaged, Part};
use crate::candidate::{Candidate, ColumnScale, Scale, column_scales, families};
use crate::many::{has_many_classes, learn_many};
use crate::race::{race, steps_of_race};
use crate::report::{ComparedCandidate, TableReport};
use crate::scaled_rows::ScaledRows;
use crate::streams;
use crate::table::{Comparison, LabelledRows, Member, Table, max_calibration_rows};
use halfspaces_features::FeatureMap;
use halfspaces_linalg::{InputError, PointSet, Steps, Threads, rng_for};
use halfspaces_pac::ErrorCount;
use rand::Rng;
use rand::seq::SliceRandom;
use std::collections::HashMap;

/// Minimum number of rows of a table that have positive weight.
pub const MIN_TABLE_ROWS: usize = 10;
/// With at least this number of rows, the default hold-out is a tenth of the rows, limited by the next two constants.
const LARGE_TABLE_ROWS: usize = 5000;
const MIN_HOLD_OUT_LARGE: usize = 1500;
const MAX_HOLD_OUT: usize = 20_000;
/// The rows beyond the maximum number of training rows calibrate the probabilities if there are at least as many as the
/// first number; at most the second number of them are used.
const SPARE_ROWS: [usize; 2] = [1000, 20_000];

/// The default number of held-out rows. With fewer than 5000 `rows`, it is a twentieth of the rows. Otherwise it is a
/// tenth, but at least 1500 and at most 20 000.
///
/// ```
/// use halfspaces_tables::default_hold_out;
/// assert_eq!([100, 5000, 30_000, 1_000_000].map(default_hold_out), [5, 1500, 3000, 20_000]);
/// ```
#[must_use]
pub fn default_hold_out(rows: usize) -> usize {
    match rows {
        _ if rows < LARGE_TABLE_ROWS => rows / 20,
        _ => (rows / 10).clamp(MIN_HOLD_OUT_LARGE, MAX_HOLD_OUT),
    }
}

/// The settings for a fit.
pub(crate) struct Plan {
    /// The fraction of held-out rows; `None` for the default hold-out.
    pub(crate) held_out: Option<f64>,
    pub(crate) max_rows: usize,
    pub(crate) threads: Threads,
    pub(crate) seed: u64,
}

impl Plan {
    /// The number of held-out rows among `n`.
    fn held_out(&self, n: usize) -> usize {
        let rows = match self.held_out {
            Some(fraction) => (fraction * n as f64).round() as usize,
            None => default_hold_out(n),
        };
        rows.min(n - MIN_TABLE_ROWS)
    }
}

/// A candidate that was compared on all validation rows.
struct FinalCandidate {
    family: usize,
    candidate: Candidate,
    error: f64,
    compared: Comparison,
}

/// Compares the candidates on a table, fits an average of the best ones to all training rows, and counts its errors on
/// the held-out rows.
pub(crate) fn learn<P: PointSet>(
    points: &P,
    labelled: &LabelledRows<'_>,
    plan: &Plan,
) -> Result<(Averaged, TableReport), InputError> {
    let Plan { max_rows, threads, seed, .. } = *plan;
    if labelled.classes.is_empty() {
        return Err(InputError::Empty);
    }
    let has_weight = |i: &usize| (labelled.weight)(*i) > 0.0;
    let mut order: Vec<usize> = (0..labelled.classes.len()).filter(has_weight).collect();
    let n = order.len();
    let enough = n >= MIN_TABLE_ROWS;
    let requirement = "at least 10, without the rows of weight 0";
    InputError::check_parameter("number of rows", n as f64, enough, requirement)?;
    let mut rng = rng_for(streams::TABLE_ROWS, seed);
    order.shuffle(&mut rng);
    let (held_out, rows) = order.split_at_mut(plan.held_out(n));
    let most = rows.len().min(max_rows);
    let (rows, spare) = rows.split_at_mut(most);
    include_all_classes(rows, spare, labelled);
    let most = SPARE_ROWS[1].min(max_calibration_rows(labelled.count));
    let spare = &spare[..spare.len().min(most)];
    if let Some(groups) = labelled.groups {
        bring_together(rows, groups, &mut rng)?;
    }

    let training = points.select(rows)?;
    let (mut average, mut report) = if has_many_classes(rows.len(), labelled.count) {
        learn_many(&training, labelled, rows, seed, threads)?
    } else {
        average_of_best(training, labelled, rows, seed, threads)?
    };
    // The average was fitted to more rows than the candidates that were compared, so its values are a better basis for
    // the calibration. A group can have both training rows and spare rows.
    if spare.len() >= SPARE_ROWS[0] && labelled.groups.is_none() {
        let values = average.values_all(&points.select(spare)?, threads)?;
        average = average.with_scaling(labelled.calibration(&values, spare)?);
        report.calibrated_on = spare.len();
    }
    if !held_out.is_empty() {
        let found = average.classes(&points.select(held_out)?, threads)?;
        let wrong =
            found.iter().zip(&*held_out).filter(|(y, i)| **y != labelled.classes[**i]).count();
        report.held_out = Some(ErrorCount::new(wrong, held_out.len())?);
    }
    Ok((average, report))
}

/// Swaps rows between `rows` and `spare` so that `rows` contains every class that occurs in `spare`.
fn include_all_classes(rows: &mut [usize], spare: &mut [usize], labelled: &LabelledRows<'_>) {
    let mut counts = vec![0_usize; labelled.count];
    rows.iter().for_each(|row| counts[labelled.classes[*row]] += 1);
    for other in spare {
        let class = labelled.classes[*other];
        if counts[class] > 0 {
            continue;
        }
        let frequent = (0..labelled.count).filter(|class| counts[*class] > 1);
        // Without a class of two rows, there are more classes than rows.
        let Some(most) = frequent.max_by_key(|class| counts[*class]) else { return };
        let place = rows.iter().rposition(|row| labelled.classes[*row] == most);
        let Some(place) = place else { unreachable!("the rows of the class were counted") };
        std::mem::swap(&mut rows[place], other);
        (counts[class], counts[most]) = (1, counts[most] - 1);
    }
}

/// Compares one-vs-rest candidates, and fits an average of the best ones to all rows. `training` contains the `rows` of
/// the table.
fn average_of_best<P: PointSet>(
    training: P,
    labelled: &LabelledRows<'_>,
    rows: &[usize],
    seed: u64,
    threads: Threads,
) -> Result<(Averaged, TableReport), InputError> {
    let dim = training.dim();
    let table = Table::new(labelled, rows, seed)?;
    let (mut scales, mut scaled_rows) = (Vec::new(), Vec::new());
    for &columns in column_scales(dim) {
        let scale = Scale::fit(columns, &training)?;
        let scaled = scale.apply_on(&training, threads)?;
        scaled_rows.push(ScaledRows::new(columns, scaled, table.outputs(), seed)?);
        scales.push(scale);
    }
    drop(training);
    let of_scale = |columns: ColumnScale| {
        let found = scaled_rows.iter().find(|rows: &&ScaledRows| rows.columns == columns);
        let Some(rows) = found else { unreachable!("a family has one of the scales of the table") };
        rows
    };

    let families = families(!table.is_uniform(), dim, table.outputs());
    // All final fits together count as one step per row.
    let steps = Steps::plan(steps_of_race(&table, &families) + rows.len() as u64);
    let (racing, dropped) = race(&table, &families, of_scale, threads, &steps)?;
    let mut finalists = Vec::new();
    let mut features = Vec::with_capacity(racing.len());
    for entry in racing {
        features.push((entry.index, entry.features));
        for compared in entry.compared {
            let candidate = entry.family.candidate(compared.method);
            let error = table.error(&compared.values);
            finalists.push(FinalCandidate { family: entry.index, candidate, error, compared });
        }
    }
    // The sort is stable, so the order of candidates with equal errors is kept.
    finalists.sort_by(|a, b| a.error.total_cmp(&b.error));
    let entry = |f: &FinalCandidate| ComparedCandidate { candidate: f.candidate, error: f.error };
    let compared: Vec<ComparedCandidate> = finalists.iter().map(entry).collect();
    let errors: Vec<f64> = finalists.iter().map(|f| f.error).collect();
    finalists.truncate(table.near_best(&errors));
    let mut sum = table.zero_values()?;
    let mut scales_of_values = Vec::with_capacity(finalists.len());
    for f in &finalists {
        let scale = table.root_mean_square(&f.compared.values);
        sum.iter_mut().zip(&f.compared.values).for_each(|(sum, v)| *sum += v / scale);
        scales_of_values.push(scale);
    }

    // Frees the features that no chosen candidate needs.
    let is_used = |family: usize| finalists.iter().any(|f| f.family == family);
    features.retain(|(family, _)| is_used(*family));
    let steps_of_part = (rows.len() / features.len()) as u64;
    let parts = threads.map_with(
        features.into_iter(),
        || (),
        |(), (family, features)| {
            let mut members = Vec::new();
            for (f, scale) in finalists.iter().zip(&scales_of_values) {
                if f.family == family {
                    let (method, duals) = (f.candidate.method, &f.compared.duals);
                    members.push(Member { method, scale: *scale, duals });
                }
            }
            let space = &families[family];
            let part = table.part(family, of_scale(space.columns), space, &members, features);
            steps.advance(steps_of_part);
            part
        },
    );
    let parts = parts.into_iter().collect::<Result<Vec<Part>, InputError>>()?;
    let report = TableReport {
        compared,
        dropped,
        chosen: finalists.len(),
        learned_from: rows.len(),
        compared_on: table.validation_rows().count(),
        calibrated_on: 0,
        error: table.error(&sum),
        held_out: None,
    };
    Ok((Averaged::new(scales, parts, table.calibration(&sum)?), report))
}

/// Sorts rows by group, with the groups in random order. The rows of a group keep their order.
fn bring_together(
    rows: &mut [usize],
    groups: &[usize],
    rng: &mut impl Rng,
) -> Result<(), InputError> {
    let mut names: Vec<usize> = rows.iter().map(|row| groups[*row]).collect();
    names.sort_unstable();
    names.dedup();
    let enough = names.len() >= 2;
    let requirement = "at least 2, without the rows of weight 0";
    InputError::check_parameter("number of groups", names.len() as f64, enough, requirement)?;
    names.shuffle(rng);
    let places: HashMap<usize, usize> = names.into_iter().zip(0..).collect();
    rows.sort_by_key(|row| places[&groups[*row]]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_the_table_is_learned() {
        let exchanged = |classes: &[usize], learned: usize| {
            let labelled = LabelledRows { classes, count: 4, weight: &|_| 1.0, groups: None };
            let mut rows: Vec<usize> = (0..classes.len()).collect();
            let (learned, spare) = rows.split_at_mut(learned);
            include_all_classes(learned, spare, &labelled);
            (learned.to_vec(), spare.to_vec())
        };
        // The rows 5 and 7, of classes 2 and 3, replace the last rows of class 1, the most frequent one.
        let found = exchanged(&[1, 0, 1, 1, 0, 2, 1, 3, 2], 5);
        assert_eq!(found, (vec![0, 1, 7, 5, 4], vec![3, 6, 2, 8]));
        // Nothing changes if no class is absent, or if every learned row has a class of its own.
        assert_eq!(exchanged(&[0, 1, 2, 3, 0, 1], 4), (vec![0, 1, 2, 3], vec![4, 5]));
        assert_eq!(exchanged(&[0, 1, 2, 3], 2), (vec![0, 1], vec![2, 3]));
    }

    #[test]
    fn rows_of_a_group_are_brought_together_in_random_order_of_groups() {
        let groups: Vec<usize> = (0..90).map(|row| row * 7 % 30).collect();
        let mut orders = Vec::new();
        for seed in [1, 2] {
            let mut rows: Vec<usize> = (0..90).rev().collect();
            bring_together(&mut rows, &groups, &mut rng_for(streams::TABLE_ROWS, seed)).unwrap();
            let order: Vec<usize> = rows.chunks(3).map(|rows| groups[rows[0]]).collect();
            for rows in rows.chunks(3) {
                assert!(rows.iter().all(|row| groups[*row] == groups[rows[0]]));
                assert!(rows.is_sorted_by(|a, b| a > b));
            }
            assert!(!order.is_sorted());
            orders.push(order);
        }
        assert_ne!(orders[0], orders[1]);
    }
}
