//! Label audits of tables whose rows are divided into parts that several processes hold.
//!
//! The audit is that of [`Audit`](crate::Audit) for a learner without probabilities. Each of its numbers is a sum over
//! rows or the first elements of an order of rows, so it takes three passes over the judged rows
//! ([`PartsPlan::judged`](crate::PartsPlan::judged)): one for the scale of each fold and the mean confidence of each
//! class, one for the labels that are likely wrong, and one for the first rows of the ranking.

use crate::parts::PartsPlan;
use halfspaces_linalg::{DensePoints, InputError, Partial, PointSet, Sum, Threads};
use halfspaces_pac::{class_shifts, wrong_labels_bound};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// One pass of an audit over the judged rows.
///
/// ```
/// use halfspaces_linalg::{InputError, Points, Threads};
/// use halfspaces_pipeline::{AuditPass, PartsAudit};
/// // Row, class, fold, predicted class and confidence.
/// let rows = Points::from_rows(&[[0.0, 0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0, 3.0], [2.0, 1.0, 1.0, 1.0, 2.0]])?;
/// let run = |pass: &AuditPass| {
///     let sums = pass.partial(0, &rows, Threads::ONE)?.finish(1);
///     Ok::<_, InputError>(sums.expect("one block").expect("three rows"))
/// };
/// let found = PartsAudit::run(2, 2, 0.05, 2, run)?;
/// assert_eq!((found.top[0].row, found.top[0].suggested, found.disagreements), (1, 0, 1));
/// # Ok::<(), InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditPass {
    classes: usize,
    /// For each fold, the number by which its confidences are divided. Empty in the first pass.
    scales: Vec<f64>,
    folds: usize,
    /// For each class, the mean confidence in it among the rows with this label, if there are any.
    means: Vec<Option<f64>>,
    /// In the last pass, the agreement at which a label of each class is as likely wrong as right, and the number of
    /// rows to find.
    top: Option<(Vec<f64>, usize)>,
}

/// Sums over the rows with one label in one fold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Cell {
    rows: u64,
    errors: u64,
    /// The sums of the confidences of the predictions that agree with the label, and of the others.
    agreeing: f64,
    opposed: f64,
    /// The number of labels that are likely wrong.
    likely: u64,
    /// The sums of a - 1 and of (a - 1)² over the agreements a of the other labels.
    first: f64,
    second: f64,
}

/// The result of an [`AuditPass`] for some blocks of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditSums {
    /// One cell for each fold and class.
    cells: Vec<Cell>,
    count: usize,
    top: Vec<TopSuspect>,
}

/// A row near the top of the ranking of an audit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TopSuspect {
    /// The row of the table, counted from 0.
    pub row: u64,
    /// The class that is its label.
    pub label: usize,
    /// The class that the classifier predicts.
    pub suggested: usize,
    /// The agreement, as in [`Suspect`](crate::Suspect).
    pub agreement: f64,
    sort_key: f64,
}

impl TopSuspect {
    fn order(&self, other: &TopSuspect) -> Ordering {
        let by_agreement = self.agreement.total_cmp(&other.agreement);
        let by_key = self.sort_key.total_cmp(&other.sort_key);
        by_key.then(by_agreement).then(self.row.cmp(&other.row))
    }
}

impl Sum for AuditSums {
    fn fits(&self, other: &AuditSums) -> bool {
        self.cells.len() == other.cells.len() && self.count == other.count
    }

    fn add(&mut self, later: AuditSums) {
        for (cell, more) in self.cells.iter_mut().zip(later.cells) {
            cell.rows += more.rows;
            cell.errors += more.errors;
            cell.agreeing += more.agreeing;
            cell.opposed += more.opposed;
            cell.likely += more.likely;
            cell.first += more.first;
            cell.second += more.second;
        }
        self.top.extend(later.top);
        self.top.sort_unstable_by(TopSuspect::order);
        self.top.truncate(self.count);
    }
}

impl AuditPass {
    /// The sums over consecutive blocks of judged rows. The first row is the first row of block `first`. All blocks
    /// must be complete, except the last one of all judged rows.
    ///
    /// # Errors
    /// [`InputError::DimensionMismatch`]; [`InputError::ParameterOutOfRange`] for an unknown class or fold.
    pub fn partial(
        &self,
        first: u64,
        rows: &DensePoints<'_>,
        threads: Threads,
    ) -> Result<Partial<AuditSums>, InputError> {
        InputError::check_dim(PartsPlan::JUDGED, rows.dim())?;
        let mut buffers = vec![(); Partial::<AuditSums>::groups(first, rows.len()).len()];
        threads.sum_blocks(first, rows.len(), &mut buffers, |(), block| {
            let count = self.top.as_ref().map_or(0, |(_, count)| *count);
            let cells = vec![Cell::default(); self.folds * self.classes];
            let mut sums = AuditSums { cells, count, top: Vec::new() };
            for row in
                rows.as_slice().chunks_exact(PartsPlan::JUDGED).skip(block.start).take(block.len())
            {
                self.add(row, &mut sums)?;
            }
            sums.top.sort_unstable_by(TopSuspect::order);
            sums.top.truncate(count);
            Ok(sums)
        })
    }

    fn add(&self, row: &[f64], sums: &mut AuditSums) -> Result<(), InputError> {
        let &[number, label, fold, said, confidence] = row else {
            unreachable!("the number of columns was checked")
        };
        let (label, fold, said) = (label as usize, fold as usize, said as usize);
        let known = label < self.classes && said < self.classes;
        InputError::check_parameter("class", label.max(said) as f64, known, "a known class")?;
        InputError::check_parameter("fold", fold as f64, fold < self.folds, "a known fold")?;
        let cell = &mut sums.cells[fold * self.classes + label];
        cell.rows += 1;
        let agrees = label == said;
        cell.errors += u64::from(!agrees);
        if agrees {
            cell.agreeing += confidence
        } else {
            cell.opposed += confidence
        }
        let Some(scale) = self.scales.get(fold) else { return Ok(()) };
        let size = confidence / scale;
        let agreement = if agrees { size } else { -size };
        let suggested = if agreement < 0.0 { said } else { label };
        let is_likely = agreement < 0.0 && self.means[said].is_some_and(|mean| size >= mean);
        if is_likely {
            cell.likely += 1;
        } else {
            cell.first += agreement - 1.0;
            cell.second += (agreement - 1.0) * (agreement - 1.0);
        }
        if let Some((shifts, _)) = &self.top {
            let sort_key = agreement - shifts[label];
            let row = number as u64;
            sums.top.push(TopSuspect { row, label, suggested, agreement, sort_key });
        }
        Ok(())
    }
}

/// The result of an audit of a table in parts.
#[derive(Debug, Clone, PartialEq)]
pub struct PartsAudit {
    /// The first rows of the ranking, starting with the most suspicious one.
    pub top: Vec<TopSuspect>,
    /// The number of audited labels.
    pub rows: u64,
    /// The counts and the bound of [`AuditResult`](crate::AuditResult).
    pub likely: u64,
    /// See [`AuditResult::at_most`](crate::AuditResult::at_most).
    pub at_most: u64,
    /// See [`AuditResult::disagreements`](crate::AuditResult::disagreements).
    pub disagreements: u64,
    /// See [`AuditResult::baseline`](crate::AuditResult::baseline).
    pub baseline: u64,
}

impl PartsAudit {
    /// Audits judged rows with `classes` classes in `folds` folds, and finds the first `count` rows of the ranking.
    /// `run` returns the sums of a pass over all rows. The result is that of [`Audit`](crate::Audit) for a learner
    /// without probabilities, except that each fold has its own scale even if it has fewer than 20 rows.
    ///
    /// *Guarantee.* That of [`Audit`](crate::Audit).
    ///
    /// # Errors
    /// [`InputError::ParameterOutOfRange`] for a `failure` outside (0, 1); the errors of `run`.
    pub fn run<E: From<InputError>>(
        classes: usize,
        folds: usize,
        failure: f64,
        count: usize,
        mut run: impl FnMut(&AuditPass) -> Result<AuditSums, E>,
    ) -> Result<PartsAudit, E> {
        let open = failure > 0.0 && failure < 1.0;
        InputError::check_parameter("failure", failure, open, "in (0, 1)")?;
        let (scales, means) = (Vec::new(), vec![None; classes]);
        let mut pass = AuditPass { classes, scales, folds, means, top: None };
        let cells = run(&pass)?.cells;
        let of_fold = |fold: usize| &cells[fold * classes..][..classes];
        let of_class = |class: usize| cells.iter().skip(class).step_by(classes);
        let is_two = classes == 2;
        let scale = |fold: usize| {
            let (rows, sum) = of_fold(fold).iter().fold((0, 0.0), |(rows, sum), cell| {
                (rows + cell.rows, sum + (cell.agreeing + cell.opposed))
            });
            if is_two && sum > 0.0 { sum / rows as f64 } else { 1.0 }
        };
        pass.scales = (0..folds).map(scale).collect();
        let rows_of = |class: usize| of_class(class).map(|cell| cell.rows).sum::<u64>();
        // With two classes, the confidence in a class is negative if the classifier predicts the other class; with more
        // classes, it is 0.
        let confidence = |(cell, scale): (&Cell, &f64)| {
            (cell.agreeing - if is_two { cell.opposed } else { 0.0 }) / scale
        };
        let mean = |class: usize| {
            let sum: f64 = of_class(class).zip(&pass.scales).map(confidence).sum();
            (rows_of(class) > 0).then(|| sum / rows_of(class) as f64)
        };
        pass.means = (0..classes).map(mean).collect();
        let judged = run(&pass)?.cells;
        let likely_of = |class: usize| {
            judged.iter().skip(class).step_by(classes).map(|cell| cell.likely).sum::<u64>()
        };
        let likely: u64 = (0..classes).map(likely_of).sum();
        let mut shifts = vec![0.0; classes];
        if is_two {
            let (first, second) = judged.iter().fold((0.0, 0.0), |(first, second), cell| {
                (first + cell.first, second + cell.second)
            });
            let right = (rows_of(0) + rows_of(1) - likely) as f64;
            let mean = first / right;
            let variance = second / right - mean * mean;
            let wrong = [0, 1].map(|class| likely_of(class) as usize);
            let rows = [0, 1].map(|class| rows_of(class) as usize);
            shifts = class_shifts(1.0 + mean, variance, wrong, rows).to_vec();
        }
        pass.top = Some((shifts, count));
        let top = run(&pass)?.top;
        let bound = |fold: usize| {
            let (errors, rows) = of_fold(fold).iter().fold((0, 0), |(errors, rows), cell| {
                (errors + cell.errors as usize, rows + cell.rows as usize)
            });
            wrong_labels_bound(errors, rows, failure / folds as f64) as u64
        };
        let disagreements = cells.iter().map(|cell| cell.errors).sum();
        let most = (0..classes).map(rows_of).max().unwrap_or(0);
        let rows: u64 = (0..classes).map(rows_of).sum();
        let baseline = rows - most;
        let likely = if disagreements < baseline { likely } else { 0 };
        let at_most = (0..folds).map(bound).sum();
        Ok(PartsAudit { top, rows, likely, at_most, disagreements, baseline })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{BLOCK_ROWS, Points};

    const FOLDS: usize = 3;

    /// Judged rows with many ties. Some labels of the last class are wrong.
    fn rows(count: usize, classes: usize) -> Vec<[f64; 5]> {
        let row = |i: usize| {
            let label = i * 7919 % classes;
            let is_wrong = i.is_multiple_of(11) || (label + 1 == classes && i.is_multiple_of(5));
            let said = if is_wrong { (label + 1) % classes } else { label };
            let fold = i * 31 % FOLDS;
            let confidence = ((i * 37 % 41) as f64 + 1.0) * (1.0 + fold as f64);
            [3.0 * i as f64, label as f64, fold as f64, said as f64, confidence]
        };
        (0..count).map(row).collect()
    }

    fn total(pass: &AuditPass, rows: &[[f64; 5]], workers: usize) -> AuditSums {
        let blocks = rows.len().div_ceil(BLOCK_ROWS);
        let mut all = Partial::default();
        for worker in (0..workers).rev() {
            for block in (worker..blocks).step_by(workers) {
                let part = &rows[block * BLOCK_ROWS..rows.len().min((block + 1) * BLOCK_ROWS)];
                let points = Points::from_rows(part).unwrap();
                all.merge(pass.partial(block as u64, &points, Threads::ONE).unwrap()).unwrap();
            }
        }
        all.finish(blocks as u64).unwrap().unwrap()
    }

    fn audit(rows: &[[f64; 5]], classes: usize, count: usize, workers: usize) -> PartsAudit {
        let run = |pass: &AuditPass| Ok::<_, InputError>(total(pass, rows, workers));
        PartsAudit::run(classes, FOLDS, 0.05, count, run).unwrap()
    }

    /// The same by the formulas of `LabelAudit` and `Audit`, on all rows at once: the order of the rows, and the number
    /// of labels that are likely wrong.
    fn oracle(rows: &[[f64; 5]], classes: usize) -> (Vec<u64>, usize) {
        let is_two = classes == 2;
        let of_fold = |fold: f64| rows.iter().filter(move |row| row[2].to_bits() == fold.to_bits());
        let scale = |fold: f64| {
            let sum: f64 = of_fold(fold).map(|row| row[4]).sum();
            if is_two { sum / of_fold(fold).count() as f64 } else { 1.0 }
        };
        let agrees = |row: &[f64; 5]| row[1].to_bits() == row[3].to_bits();
        let agreement: Vec<f64> = rows
            .iter()
            .map(|row| if agrees(row) { 1.0 } else { -1.0 } * row[4] / scale(row[2]))
            .collect();
        let mean = |class: usize| {
            let of_class = rows.iter().zip(&agreement).filter(|(row, _)| row[1] as usize == class);
            let values: Vec<f64> =
                of_class.map(|(_, a)| if is_two { *a } else { a.max(0.0) }).collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        let means: Vec<f64> = (0..classes).map(mean).collect();
        let likely: Vec<bool> = rows
            .iter()
            .zip(&agreement)
            .map(|(row, a)| *a < 0.0 && -a >= means[row[3] as usize])
            .collect();
        let mut shifts = vec![0.0; classes];
        if is_two {
            let right: Vec<f64> = agreement
                .iter()
                .zip(&likely)
                .filter(|(_, likely)| !**likely)
                .map(|(a, _)| *a)
                .collect();
            let mean = right.iter().sum::<f64>() / right.len() as f64;
            let variance =
                right.iter().map(|a| (a - mean).powi(2)).sum::<f64>() / right.len() as f64;
            let count = |class: usize, is_likely: bool| {
                let of = rows
                    .iter()
                    .zip(&likely)
                    .filter(|(row, likely)| row[1] as usize == class && (!is_likely || **likely));
                of.count()
            };
            let (wrong, all) = ([0, 1].map(|c| count(c, true)), [0, 1].map(|c| count(c, false)));
            shifts = class_shifts(mean, variance, wrong, all).to_vec();
        }
        let mut order: Vec<usize> = (0..rows.len()).collect();
        let key = |at: usize| agreement[at] - shifts[rows[at][1] as usize];
        // Numbers that differ only by rounding are ties.
        order.sort_by(|a, b| {
            let near = (key(*a) - key(*b)).abs() < 1e-9;
            if near { a.cmp(b) } else { key(*a).total_cmp(&key(*b)) }
        });
        let order = order.into_iter().map(|at| rows[at][0] as u64).collect();
        (order, likely.into_iter().filter(|likely| *likely).count())
    }

    #[test]
    fn workers_find_the_same_bits_and_those_of_the_formulas() {
        for classes in [2, 4] {
            let rows = rows(3 * BLOCK_ROWS + 21, classes);
            let one = audit(&rows, classes, 300, 1);
            assert!([2, 3].into_iter().all(|workers| audit(&rows, classes, 300, workers) == one));
            let (order, likely) = oracle(&rows, classes);
            assert_eq!((one.likely as usize, one.rows as usize), (likely, rows.len()));
            let found: Vec<u64> = one.top.iter().map(|suspect| suspect.row).collect();
            assert_eq!(found, order[..300], "{classes} classes");
            let wrong = |row: &&[f64; 5]| row[1].to_bits() != row[3].to_bits();
            let errors = |fold: usize| {
                rows.iter().filter(wrong).filter(|row| row[2] as usize == fold).count()
            };
            let size = |fold: usize| rows.iter().filter(|row| row[2] as usize == fold).count();
            assert_eq!(one.disagreements as usize, rows.iter().filter(wrong).count());
            let bound: usize = (0..FOLDS)
                .map(|fold| wrong_labels_bound(errors(fold), size(fold), 0.05 / 3.0))
                .sum();
            assert_eq!(one.at_most as usize, bound);
            assert_eq!(one.baseline as usize, rows.len() - rows.len().div_ceil(classes));
            let first = one.top[0];
            assert!(first.agreement < 0.0 && first.suggested != first.label);
            assert_eq!(audit(&rows, classes, 9, 2).top, one.top[..9]);
        }
    }

    #[test]
    fn an_audit_that_is_no_better_than_a_constant_marks_nothing() {
        let mut rows = rows(100, 2);
        rows.iter_mut().for_each(|row| row[3] = 1.0 - row[1]);
        let found = audit(&rows, 2, 5, 1);
        assert_eq!((found.likely, found.disagreements), (0, 100));
        // All confidences are 0, so there is no scale.
        rows.iter_mut().for_each(|row| row[4] = 0.0);
        assert!(audit(&rows, 2, 5, 1).top.iter().all(|suspect| suspect.agreement.abs() <= 0.0));
    }

    #[test]
    fn faults_are_told() {
        let rows = rows(10, 3);
        let run = |pass: &AuditPass| Ok::<_, InputError>(total(pass, &rows, 1));
        assert!(PartsAudit::run(3, FOLDS, 1.0, 5, run).is_err());
        let pass = AuditPass {
            classes: 2,
            scales: Vec::new(),
            folds: FOLDS,
            means: vec![None; 2],
            top: None,
        };
        let points = Points::from_rows(&rows).unwrap();
        assert!(pass.partial(0, &points, Threads::ONE).is_err(), "an unknown class");
        let few = AuditPass { classes: 3, folds: 2, ..pass.clone() };
        assert!(few.partial(0, &points, Threads::ONE).is_err(), "an unknown fold");
        let narrow = Points::from_rows(&[[1.0]]).unwrap();
        assert!(few.partial(0, &narrow, Threads::ONE).is_err());
    }
}
