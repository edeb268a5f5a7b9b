//! Explains the prediction for one row by the contribution of each column.

use crate::comparison::MeanDifference;
use crate::design::Design;
use crate::pipeline::Pipeline;
use crate::streams;
use halfspaces_frame::DataError;
use halfspaces_linalg::rand::seq::SliceRandom;
use halfspaces_linalg::{
    PointSet, Points, RowView, SparsePoints, Threads, deciding_class, rng_for,
};
use serde::Serialize;

/// The maximum number of rows with which a row is compared.
const MAX_ROWS: usize = 100;
/// The maximum number of columns with a separate contribution. For sparse rows, this is the maximum number of stored
/// coordinates.
const MAX_PARTS: usize = 200;

/// The contribution of each column to the prediction of one row.
///
/// The row is compared with other rows. If some of its columns are replaced by those of another row, the prediction
/// changes. The contribution of a column is its Shapley value: the change when the column is replaced, averaged over
/// all other rows and over all orders in which the columns can be replaced. The contributions and `baseline` add up to
/// `result`. If rows are sparse, each coordinate that is not zero in the row counts as a column.
///
/// *Guarantee.* The sum is exact up to rounding. Each contribution is an unbiased estimate from at most 100 other rows.
/// For each of these rows, two orders are used: a random order and its reverse. For the rows used, the estimate is
/// exact if `result` is a linear function of the coordinates.
///
/// *Caution.* A contribution describes the model and not the cause of the class. Replacing columns can create rows that
/// do not occur in practice.
///
/// *Source.* Shapley 1953; Štrumbelj and Kononenko 2014 for predictions.
///
/// ```
/// use halfspaces_frame::{Column, Frame, Values};
/// use halfspaces_linalg::Threads;
/// use halfspaces_pipeline::{FitOptions, Pipeline, RowExplanation, Unseen};
/// let value = |row: usize, by: usize| ((row * by) % 101) as f64;
/// let column = |name: &str, values| Column { name: name.into(), values };
/// let class = Values::texts((0..200).map(|row| u32::from(value(row, 37) > 50.0)).collect(), &["a", "b"]);
/// let table = Frame::new("t", vec![
///     column("x", Values::numbers((0..200).map(|row| value(row, 37)).collect())),
///     column("other", Values::numbers((0..200).map(|row| value(row, 11)).collect())),
///     column("class", class),
/// ]);
/// let (model, _) = Pipeline::fit(table.clone(), &FitOptions::new("class"))?;
/// let design = model.design(&table, Unseen::Error)?;
/// let found = RowExplanation::of(&model, &design, 0, Threads::all())?;
/// assert_eq!((found.class, found.of_columns[0].column.as_str()), (0, "x"));
/// let sum: f64 = found.of_columns.iter().map(|of| of.contribution).sum();
/// assert!((found.baseline + sum - found.result).abs() < 1e-9);
/// # Ok::<(), halfspaces_frame::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowExplanation {
    /// The number of the row, counted from 0.
    pub row: usize,
    /// The index of the predicted class.
    pub class: usize,
    /// Whether `result`, `baseline` and the contributions measure the probability of the predicted class. Otherwise,
    /// they measure the decision value of the predicted class minus that of the best other class.
    pub is_probability: bool,
    /// The quantity that is explained for this row, which is a probability or a decision value.
    pub result: f64,
    /// The mean of the explained quantity over the other rows.
    pub baseline: f64,
    /// The number of other rows that were used. At most 100 rows are used, drawn at random.
    pub compared_with: usize,
    /// The columns, sorted by the magnitude of their contributions, largest first.
    pub of_columns: Vec<Contribution>,
    /// The sum of the contributions of the columns that are not in `of_columns`, or `None` if there are no such
    /// columns. If there are more than 200 columns, the columns in which the row differs the least from the mean are
    /// not in `of_columns`. Sparse coordinates that are zero in the row are not in `of_columns` either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<MeanDifference>,
}

/// The contribution of a column to a prediction. See [`RowExplanation`] for an example.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contribution {
    /// The name of the column, or of the coordinate if rows are sparse.
    pub column: String,
    /// The contribution of the column.
    pub contribution: f64,
    /// The standard error of the contribution, computed from its variation across the other rows.
    pub standard_error: f64,
}

/// The coordinates in which two rows can differ, each as a tuple (coordinate, index of its part, value in the explained
/// row, value in the other row).
type Pairs = Vec<(usize, usize, f64, f64)>;

impl RowExplanation {
    /// Explains the prediction of `model` for row `row` of `design` by comparing this row with other rows of `design`.
    ///
    /// # Errors
    /// [`InputError::IndexOutOfRange`](halfspaces_linalg::InputError::IndexOutOfRange) if there is no row `row`; an
    /// error if there is no other row; the errors of [`Model::values`](crate::Model::values).
    pub fn of(
        model: &Pipeline,
        design: &Design,
        row: usize,
        threads: Threads,
    ) -> Result<RowExplanation, DataError> {
        let own = design.select(&[row])?;
        let mut rows: Vec<usize> = (0..design.len()).filter(|other| *other != row).collect();
        let mut rng = rng_for(streams::COMPARED_ROWS, row as u64);
        rows.shuffle(&mut rng);
        rows.truncate(MAX_ROWS);
        if rows.is_empty() {
            return Err(DataError::user(
                "a row is explained by comparison with others, but the table has no other row",
            ));
        }
        let others = design.select(&rows)?;
        let class = model.model().decide(&own, threads)?.classes[0];
        let parts = Parts::new(model, &own, &others);
        let mut order: Vec<usize> = (0..parts.count()).collect();
        let mut of_parts = vec![Vec::with_capacity(rows.len()); parts.count()];
        let (mut result, mut sum) = (0.0, 0.0);
        for other in 0..rows.len() {
            let pairs = parts.pairs(&entries(&own, 0), &entries(&others, other));
            order.shuffle(&mut rng);
            let mut changes = vec![0.0; parts.count()];
            for _ in 0..2 {
                let path = path(&own, &pairs, &order)?;
                let numbers = explained(model, &path, class, threads)?;
                for (step, part) in order.iter().enumerate() {
                    changes[*part] += 0.5 * (numbers[step + 1] - numbers[step]);
                }
                (result, sum) = (numbers[order.len()], sum + 0.5 * numbers[0]);
                order.reverse();
            }
            of_parts.iter_mut().zip(changes).for_each(|(of_part, change)| of_part.push(change));
        }
        let mut of_parts: Vec<MeanDifference> =
            of_parts.iter().map(|changes| MeanDifference::of(changes)).collect();
        let others = parts.has_rest.then(|| of_parts.pop()).flatten();
        let column = |(column, of): (String, MeanDifference)| Contribution {
            column,
            contribution: of.mean,
            standard_error: of.standard_error,
        };
        let mut of_columns: Vec<Contribution> =
            parts.names.into_iter().zip(of_parts).map(column).collect();
        of_columns.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()));
        Ok(RowExplanation {
            row,
            class,
            is_probability: model.model().has_probabilities(),
            result,
            baseline: sum / rows.len() as f64,
            compared_with: rows.len(),
            of_columns,
            others,
        })
    }
}

/// The quantity that is explained, for each row of `design`: the probability or the decision value for `class`.
fn explained(
    model: &Pipeline,
    design: &Design,
    class: usize,
    threads: Threads,
) -> Result<Vec<f64>, DataError> {
    if let Some(of_rows) = model.model().decide(design, threads)?.probabilities {
        return Ok(of_rows.iter().map(|of_classes| of_classes[class]).collect());
    }
    let lead = |values: &Vec<f64>| match values[..] {
        [value] => {
            if class == 1 {
                value
            } else {
                -value
            }
        }
        _ => {
            let mut others = values.clone();
            others.remove(class);
            values[class] - others[deciding_class(&others)]
        }
    };
    Ok(model.model().values(design, threads)?.iter().map(lead).collect())
}

/// A partition of the coordinates into parts, each of which is replaced as a whole.
struct Parts {
    names: Vec<String>,
    /// The index of the part to which each coordinate belongs.
    of_coordinate: Vec<usize>,
    /// Whether there is a last part, without a name, that contains the remaining coordinates.
    has_rest: bool,
}

impl Parts {
    /// Creates one part for each column, or for each sparse coordinate that is not zero in the row `own`. If there are
    /// more than [`MAX_PARTS`], the parts in which `own` differs the most from the mean of the other rows are kept.
    fn new(model: &Pipeline, own: &Design, others: &Design) -> Parts {
        let recipe = model.recipe();
        let mut difference = vec![0.0; own.dim()];
        entries(own, 0).iter().for_each(|(at, value)| difference[*at] = *value);
        let share = 1.0 / others.len() as f64;
        for other in 0..others.len() {
            entries(others, other).iter().for_each(|(at, v)| difference[*at] -= share * v);
        }
        let mut parts: Vec<(String, Vec<usize>)> = match own {
            Design::Dense(_) => {
                recipe.places().into_iter().map(|(name, places)| (name, places.collect())).collect()
            }
            Design::Sparse(_) => {
                let names = recipe.coordinates();
                entries(own, 0).iter().map(|(at, _)| (names[*at].clone(), vec![*at])).collect()
            }
        };
        if parts.len() > MAX_PARTS {
            let size = |of: &(String, Vec<usize>)| {
                of.1.iter().map(|at| difference[*at].abs()).fold(0.0, f64::max)
            };
            parts.sort_by(|a, b| size(b).total_cmp(&size(a)));
            parts.truncate(MAX_PARTS);
        }
        let mut of_coordinate = vec![parts.len(); own.dim()];
        for (part, (_, coordinates)) in parts.iter().enumerate() {
            coordinates.iter().for_each(|at| of_coordinate[*at] = part);
        }
        let has_rest = of_coordinate.contains(&parts.len());
        Parts { names: parts.into_iter().map(|(name, _)| name).collect(), of_coordinate, has_rest }
    }

    fn count(&self) -> usize {
        self.names.len() + usize::from(self.has_rest)
    }

    /// The coordinates that are stored in at least one of the two rows.
    fn pairs(&self, own: &[(usize, f64)], other: &[(usize, f64)]) -> Pairs {
        let mut pairs = Vec::with_capacity(own.len() + other.len());
        let (mut a, mut b) = (own.iter().peekable(), other.iter().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (None, None) => return pairs,
                (Some((at, _)), None) | (None, Some((at, _))) => *at,
                (Some((i, _)), Some((j, _))) => *i.min(j),
            };
            let own = a.next_if(|(at, _)| *at == next).map_or(0.0, |(_, value)| *value);
            let other = b.next_if(|(at, _)| *at == next).map_or(0.0, |(_, value)| *value);
            pairs.push((next, self.of_coordinate[next], own, other));
        }
    }
}

/// The stored coordinates of a row, in ascending order.
fn entries(design: &Design, row: usize) -> Vec<(usize, f64)> {
    let entries = match design {
        Design::Dense(points) => points.row(row).map(|row| row.entries().collect()),
        Design::Sparse(points) => points.row(row).map(|row| row.entries().collect()),
    };
    let Some(entries) = entries else { unreachable!("the row is in the design") };
    entries
}

/// The sequence of rows that starts with the other row and ends with the explained row. Each step replaces one part, in
/// the given order.
fn path(own: &Design, pairs: &Pairs, order: &[usize]) -> Result<Design, DataError> {
    let mut step_of = vec![0; order.len()];
    order.iter().enumerate().for_each(|(step, part)| step_of[*part] = step);
    let value = |step: usize, (_, part, own, other): &(usize, usize, f64, f64)| {
        if step_of[*part] < step { *own } else { *other }
    };
    let dim = own.dim();
    Ok(match own {
        Design::Dense(_) => {
            let mut values = vec![0.0; (order.len() + 1) * dim];
            for step in 0..=order.len() {
                pairs.iter().for_each(|pair| values[step * dim + pair.0] = value(step, pair));
            }
            Design::Dense(Points::new(values, dim)?)
        }
        Design::Sparse(_) => {
            let mut points = SparsePoints::empty(dim)?;
            for step in 0..=order.len() {
                let (columns, values): (Vec<u32>, Vec<f64>) = pairs
                    .iter()
                    .map(|pair| (pair.0 as u32, value(step, pair)))
                    .filter(|(_, value)| *value != 0.0)
                    .unzip();
                points.push(&columns, &values)?;
            }
            Design::Sparse(points)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FitOptions, Method, Model, Plan, Unseen};
    use halfspaces_frame::{Column, Frame, Values};

    fn number(row: usize, column: usize) -> f64 {
        ((row * 37 + column * 11) * (row + column + 1) % 101) as f64
    }

    /// A table of numbers. Rows whose first two numbers lie inside a circle have the class `p`.
    fn ring(rows: usize, columns: usize) -> Frame {
        let column = |at: usize| Column {
            name: format!("x{at}"),
            values: Values::numbers((0..rows).map(|row| number(row, at)).collect()),
        };
        let inside = |row| (number(row, 0) - 50.0).hypot(number(row, 1) - 50.0) < 40.0;
        let class = (0..rows).map(|row| u32::from(inside(row))).collect();
        let mut all: Vec<Column> = (0..columns).map(column).collect();
        all.push(Column { name: "y".into(), values: Values::texts(class, &["n", "p"]) });
        Frame::new("t", all)
    }

    fn model(frame: &Frame, method: Method) -> (Pipeline, Design) {
        let options = FitOptions { plan: Plan::new(method), ..FitOptions::new("y") };
        let (model, _) = Pipeline::fit(frame.clone(), &options).unwrap();
        let design = model.design(frame, Unseen::Error).unwrap();
        (model, design)
    }

    fn with(design: &Design, row: usize, changes: &[(usize, f64)]) -> Vec<f64> {
        let mut own: Vec<f64> = entries(design, row).iter().map(|(_, value)| *value).collect();
        changes.iter().for_each(|(at, value)| own[*at] = *value);
        own
    }

    /// The explained quantity at each of the given points.
    fn numbers(model: &Pipeline, points: Vec<Vec<f64>>, class: usize) -> Vec<f64> {
        let design = Design::Dense(Points::from_rows(&points).unwrap());
        explained(model, &design, class, Threads::ONE).unwrap()
    }

    fn sum(found: &RowExplanation) -> f64 {
        let others = found.others.map_or(0.0, |others| others.mean);
        found.baseline + others + found.of_columns.iter().map(|of| of.contribution).sum::<f64>()
    }

    fn contribution(found: &RowExplanation, column: &str) -> f64 {
        found.of_columns.iter().find(|of| of.column == column).unwrap().contribution
    }

    /// For a linear model, the contribution of a column is the mean change when only this column is replaced,
    /// regardless of the other columns.
    #[test]
    fn contributions_of_a_linear_model_are_exact() {
        let frame = ring(40, 4);
        let (mut model, design) = model(&frame, Method::Perceptron);
        let truth = model.true_classes(&frame, "y").unwrap().of_row;
        let classes: Vec<usize> = truth.into_iter().flatten().collect();
        // Without a calibration, the model has only decision values.
        (model.model, _) =
            Model::fit(&Plan::new(Method::Perceptron), &design, &classes, None, None).unwrap();
        for row in [0, 7] {
            let found = RowExplanation::of(&model, &design, row, Threads::ONE).unwrap();
            assert!(found.compared_with == 39 && !found.is_probability && found.result > 0.0);
            assert!((sum(&found) - found.result).abs() < 1e-9 && found.others.is_none());
            for at in 0..4 {
                let replaced = (0..40).filter(|other| *other != row);
                let replaced = replaced.map(|other| with(&design, row, &[(at, number(other, at))]));
                let found_numbers = numbers(&model, replaced.collect(), found.class);
                let expected = found.result - found_numbers.iter().sum::<f64>() / 39.0;
                let found = contribution(&found, &format!("x{at}"));
                assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
        }
    }

    /// With two columns, an order and its reverse are the only possible orders, so the contributions are exact for any
    /// model.
    #[test]
    fn contributions_of_two_columns_are_exact() {
        let frame = ring(400, 2);
        let (model, design) = model(&frame, Method::Auto);
        let row = 11;
        let found = RowExplanation::of(&model, &design, row, Threads::ONE).unwrap();
        assert!(found.is_probability && found.compared_with == 100);
        assert!((sum(&found) - found.result).abs() < 1e-9);
        // Draw the same rows as the explanation does.
        let mut rows: Vec<usize> = (0..400).filter(|other| *other != row).collect();
        rows.shuffle(&mut rng_for(streams::COMPARED_ROWS, row as u64));
        rows.truncate(100);
        let mean = |changes: &dyn Fn(usize) -> Vec<(usize, f64)>| {
            let points = rows.iter().map(|other| with(&design, row, &changes(*other))).collect();
            numbers(&model, points, found.class).iter().sum::<f64>() / 100.0
        };
        let first = mean(&|other| vec![(0, number(other, 0))]);
        let second = mean(&|other| vec![(1, number(other, 1))]);
        let both = mean(&|other| vec![(0, number(other, 0)), (1, number(other, 1))]);
        assert!((found.baseline - both).abs() < 1e-9);
        let expected = 0.5 * (found.result - first + second - both);
        assert!((contribution(&found, "x0") - expected).abs() < 1e-9);
        assert!((first - second).abs() > 0.01, "the columns differ, {first} {second}");
    }

    /// If there are more than 200 columns, only those in which the row differs the most have a separate contribution.
    #[test]
    fn the_columns_that_differ_least_are_one_part() {
        for columns in [200, 203] {
            let (model, design) = model(&ring(20, columns), Method::Perceptron);
            let found = RowExplanation::of(&model, &design, 3, Threads::ONE).unwrap();
            assert_eq!((found.of_columns.len(), found.others.is_some()), (200, columns > 200));
            assert!((sum(&found) - found.result).abs() < 1e-9);
            let difference = |at: usize| {
                let mean = (0..20).filter(|row| *row != 3).map(|row| number(row, at)).sum::<f64>();
                (number(3, at) - mean / 19.0).abs()
            };
            let named = &|at: &usize| {
                let name = format!("x{at}");
                found.of_columns.iter().any(|of| of.column == name)
            };
            let of = |is_named: bool| (0..columns).filter(move |at| named(at) == is_named);
            let least = of(true).map(difference).fold(f64::INFINITY, f64::min);
            let rest = of(false).map(difference).fold(0.0, f64::max);
            assert!(least >= rest - 1e-12, "{least} {rest}");
        }
    }

    /// The words of a text have separate contributions, and all words that it lacks form one part.
    #[test]
    fn words_have_contributions() {
        let text = |row: u32| {
            let verdict = if row.is_multiple_of(2) { "good" } else { "bad" };
            format!("the film number {} was {verdict} for us", row * 37 % 101)
        };
        let texts: Vec<String> = (0..200).map(text).collect();
        let names: Vec<&str> = texts.iter().map(String::as_str).collect();
        let frame = Frame::new(
            "t",
            vec![
                Column { name: "text".into(), values: Values::texts((0..200).collect(), &names) },
                Column {
                    name: "y".into(),
                    values: Values::texts((0..200).map(|row| row % 2).collect(), &["good", "bad"]),
                },
            ],
        );
        let (model, design) = model(&frame, Method::Auto);
        assert!(matches!(design, Design::Sparse(_)));
        let found = RowExplanation::of(&model, &design, 4, Threads::ONE).unwrap();
        assert!((sum(&found) - found.result).abs() < 1e-9 && found.is_probability);
        let best = &found.of_columns[0];
        assert!(best.column.contains("good") && best.contribution > 3.0 * best.standard_error);
        assert!(found.others.is_some_and(|others| others.mean > 0.0), "it lacks the word bad");
    }

    #[test]
    fn a_row_needs_another_one() {
        let frame = ring(40, 2);
        let (model, design) = model(&frame, Method::Perceptron);
        let alone = design.select(&[0]).unwrap();
        assert!(RowExplanation::of(&model, &alone, 0, Threads::ONE).is_err());
        assert!(RowExplanation::of(&model, &design, 40, Threads::ONE).is_err());
    }
}
