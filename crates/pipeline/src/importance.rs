//! Permutation importance, which measures how much worse a model becomes when the cells of a column are shuffled among
//! the rows.

use crate::comparison::MeanDifference;
use crate::design::Design;
use crate::model::Decisions;
use crate::pipeline::Pipeline;
use crate::streams;
use halfspaces_frame::DataError;
use halfspaces_linalg::rand::seq::SliceRandom;
use halfspaces_linalg::{PointSet, Points, RowView, SparsePoints, Threads, rng_for, rng_for_round};
use serde::Serialize;
use std::ops::Range;

/// The maximum number of rows on which importance is measured.
const MAX_ROWS: usize = 2000;
/// The maximum number of columns that are measured. If the model has more columns, only those that are non-zero in the
/// largest number of rows are measured.
const MAX_COLUMNS: usize = 200;
/// The number of times each column is shuffled.
const SHUFFLES: u32 = 3;

/// The loss by which importance is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportanceMeasure {
    /// The increase in the log loss. This measure is used if the model has probabilities and the rows have labels. It
    /// also detects changes in a probability that do not change a prediction. Such changes matter for rare classes.
    LogLoss,
    /// The increase in the error rate. This measure is used if the rows have labels but the model has no probabilities.
    Error,
    /// The fraction of predictions that change. This measure is used if the rows have no labels.
    Changed,
}

/// The permutation importance of the columns of a model.
///
/// A column that carries the same information as another column has little importance. The importance depends on the
/// rows on which it is measured, so use rows to which the model was not fitted.
///
/// *Source.* Breiman 2001, Random Forests; Fisher, Rudin and Dominici 2019, for any model and loss.
///
/// ```
/// use halfspaces_frame::{Column, Frame, Values};
/// use halfspaces_linalg::Threads;
/// use halfspaces_pipeline::{FitOptions, Importance, Pipeline, Unseen};
/// let value = |row: usize, by: usize| ((row * by) % 101) as f64;
/// let table = || {
///     let x = Values::numbers((0..200).map(|row| value(row, 37)).collect());
///     let other = Values::numbers((0..200).map(|row| value(row, 11)).collect());
///     let class = Values::texts((0..200).map(|row| u32::from(value(row, 37) > 50.0)).collect(), &["a", "b"]);
///     let column = |name: &str, values| Column { name: name.into(), values };
///     Frame::new("t", vec![column("x", x), column("other", other), column("class", class)])
/// };
/// let (model, _) = Pipeline::fit(table(), &FitOptions::new("class"))?;
/// let truth = model.true_classes(&table(), "class")?.of_row;
/// let design = model.design(&table(), Unseen::Error)?;
/// let found = Importance::measure(&model, &design, Some(&truth), Threads::all())?;
/// let best = &found.of_columns[0];
/// assert!(best.column == "x" && best.increase > 10.0 * best.standard_error);
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Importance {
    /// The loss by which importance is measured.
    pub measure: ImportanceMeasure,
    /// The number of rows used. At most 2000 rows are used, drawn at random.
    pub rows: usize,
    /// The number of times each column was shuffled.
    pub shuffles: u32,
    /// The number of columns of the model. At most 200 of them are measured, namely those that are non-zero in the
    /// largest number of rows.
    pub columns: usize,
    /// The measured columns, starting with the most important one.
    pub of_columns: Vec<ColumnImportance>,
}

/// The importance of one column. See [`Importance`] for an example.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnImportance {
    /// The name of the column.
    pub column: String,
    /// The increase in the loss, averaged over rows and shuffles.
    pub increase: f64,
    /// The standard error of the mean increase, computed from the variation of the increase between the rows.
    pub standard_error: f64,
}

impl Importance {
    /// Measures the importance of each column on the rows of `design`. `truth` contains the true class of each row, or
    /// `None` if the row has a label that the model does not know. For a row with an unknown label, the increase counts
    /// as 0.
    ///
    /// # Errors
    /// Returns the same errors as [`Model::values`](crate::Model::values).
    pub fn measure(
        model: &Pipeline,
        design: &Design,
        truth: Option<&[Option<usize>]>,
        threads: Threads,
    ) -> Result<Importance, DataError> {
        let mut rows: Vec<usize> = (0..design.len()).collect();
        rows.shuffle(&mut rng_for(streams::EXPLAINED_ROWS, 0));
        rows.truncate(MAX_ROWS);
        let design = design.select(&rows)?;
        let before = model.model().decide(&design, threads)?;
        let reference: Vec<Option<usize>> = match truth {
            Some(truth) => rows.iter().map(|row| truth[*row]).collect(),
            None => before.classes.iter().map(|class| Some(*class)).collect(),
        };
        let measure = match (truth, &before.probabilities) {
            (Some(_), Some(_)) => ImportanceMeasure::LogLoss,
            (Some(_), None) => ImportanceMeasure::Error,
            (None, _) => ImportanceMeasure::Changed,
        };
        let losses_before = losses(measure, &before, &reference);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        let mut of_columns = Vec::new();
        for (column, places) in most_used(model, &design) {
            let mut increase = vec![0.0; rows.len()];
            for shuffle in 0..SHUFFLES {
                order.shuffle(&mut rng_for_round(streams::SHUFFLED_COLUMN, 0, shuffle));
                let after = model.model().decide(&shuffled(&design, &order, &places)?, threads)?;
                let losses = losses(measure, &after, &reference);
                for ((sum, after), before) in increase.iter_mut().zip(losses).zip(&losses_before) {
                    *sum += (after - before) / f64::from(SHUFFLES);
                }
            }
            let MeanDifference { mean, standard_error } = MeanDifference::of(&increase);
            of_columns.push(ColumnImportance { column, increase: mean, standard_error });
        }
        of_columns.sort_by(|a, b| b.increase.total_cmp(&a.increase));
        let columns = model.recipe().places().len();
        Ok(Importance { measure, rows: rows.len(), shuffles: SHUFFLES, columns, of_columns })
    }
}

/// The loss of each row. A row without a reference class has loss 0.
fn losses(measure: ImportanceMeasure, found: &Decisions, reference: &[Option<usize>]) -> Vec<f64> {
    let loss = |(row, class): (usize, &Option<usize>)| match (class, &found.probabilities) {
        (None, _) => 0.0,
        (Some(class), Some(of_rows)) if measure == ImportanceMeasure::LogLoss => {
            -of_rows[row][*class].max(f64::EPSILON).ln()
        }
        (Some(class), _) => f64::from(u8::from(found.classes[row] != *class)),
    };
    reference.iter().enumerate().map(loss).collect()
}

/// The columns of a model with their coordinates. If there are more than [`MAX_COLUMNS`] columns, only those that are
/// non-zero in the largest number of rows are returned.
fn most_used(model: &Pipeline, design: &Design) -> Vec<(String, Range<usize>)> {
    let mut places = model.recipe().places();
    if places.len() <= MAX_COLUMNS {
        return places;
    }
    let mut used = vec![0u32; design.dim()];
    match design {
        Design::Dense(points) => count(points, &mut used),
        Design::Sparse(points) => count(points, &mut used),
    }
    let rows = |places: &Range<usize>| used[places.clone()].iter().fold(0, |most, n| most.max(*n));
    places.sort_by_key(|(_, places)| std::cmp::Reverse(rows(places)));
    places.truncate(MAX_COLUMNS);
    places
}

/// Counts the rows in which each coordinate is not 0.
fn count<P: PointSet>(points: &P, used: &mut [u32]) {
    let entries = points.rows().flat_map(RowView::entries);
    entries.filter(|(_, value)| *value != 0.0).for_each(|(at, _)| used[at] += 1);
}

/// Copies the design and replaces the coordinates `places` of each row with those of another row, whose number is in
/// `order`.
fn shuffled(design: &Design, order: &[usize], places: &Range<usize>) -> Result<Design, DataError> {
    Ok(match design {
        Design::Dense(points) => {
            let dim = points.dim();
            let mut values = points.as_slice().to_vec();
            for (to, from) in order.iter().enumerate() {
                let source = &points.as_slice()[from * dim..][places.clone()];
                values[to * dim..][places.clone()].copy_from_slice(source);
            }
            Design::Dense(Points::new(values, dim)?)
        }
        Design::Sparse(points) => {
            let mut mixed = SparsePoints::empty(points.dim())?;
            for (own, other) in points.rows().zip(points.select(order)?.rows()) {
                let mut entries: Vec<(usize, f64)> =
                    own.entries().filter(|(at, _)| !places.contains(at)).collect();
                entries.extend(other.entries().filter(|(at, _)| places.contains(at)));
                entries.sort_unstable_by_key(|(at, _)| *at);
                let (columns, values): (Vec<u32>, Vec<f64>) =
                    entries.into_iter().map(|(at, value)| (at as u32, value)).unzip();
                mixed.push(&columns, &values)?;
            }
            Design::Sparse(mixed)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Coordinates are shuffled in the same way in dense and sparse designs.
    #[test]
    fn dense_and_sparse_designs_are_shuffled_alike() {
        let rows = [[1.0, 0.0, 2.0, 0.0], [0.0, 3.0, 0.0, 4.0], [5.0, 0.0, 6.0, 7.0]];
        let dense = Points::from_rows(&rows).unwrap();
        let sparse = Design::Sparse(SparsePoints::from_dense(&dense).unwrap());
        let order = [2, 0, 1];
        let mixed =
            |design: &Design| shuffled(design, &order, &(1..3)).unwrap().into_dense().unwrap();
        let found = mixed(&Design::Dense(dense));
        let expected = [[1.0, 0.0, 6.0, 0.0], [0.0, 0.0, 2.0, 4.0], [5.0, 3.0, 0.0, 7.0]];
        assert_eq!(found, Points::from_rows(&expected).unwrap());
        assert_eq!(mixed(&sparse), found);
        let mut used = vec![0; 4];
        count(&found, &mut used);
        assert_eq!(used, [2, 1, 2, 2]);
    }

    #[test]
    fn losses_are_those_of_the_measure() {
        let found = Decisions {
            classes: vec![0, 1, 1],
            values: vec![-1.0, 2.0, 3.0],
            probabilities: Some(vec![vec![0.75, 0.25], vec![0.5, 0.5], vec![0.0, 1.0]]),
        };
        let reference = [Some(0), None, Some(0)];
        let of = |measure| losses(measure, &found, &reference);
        let expected = [-0.75f64.ln(), 0.0, 52.0 * 2f64.ln()];
        for (found, expected) in of(ImportanceMeasure::LogLoss).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert_eq!(of(ImportanceMeasure::Error), [0.0, 0.0, 1.0]);
        assert_eq!(of(ImportanceMeasure::Changed), [0.0, 0.0, 1.0]);
        // The variance of 1, 2, 3 and 6 is 14/3, and the variance of their mean is 14/12.
        let found = MeanDifference::of(&[1.0, 2.0, 3.0, 6.0]);
        let error = (14.0f64 / 12.0).sqrt();
        assert!(found.mean == 3.0 && (found.standard_error - error).abs() < 1e-12);
    }
}
