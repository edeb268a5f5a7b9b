//! Learns a table with many classes in bounded memory; part of `TableClassifier`.

use crate::averaged::{Averaged, Part};
use crate::candidate::{Family, Method, Scale, many_class_families};
use crate::discriminant::Discriminant;
use crate::report::{ComparedCandidate, TableReport};
use crate::rounds::rounds;
use crate::scaled_rows::{Features, ScaledRows, with_rows};
use crate::table::{DEFAULT_MAX_ROWS, LabelledRows, max_calibration_rows};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use halfspaces_features::{FeatureMap, SingleNystroem};
use halfspaces_linalg::{
    AffineHalfspace, InputError, PointSet, Points, Steps, Threads, checkpoint, deciding_class,
};

/// Maximum number of values, one for each row and class, that a comparison of one-vs-rest candidates stores for each
/// candidate. There are dozens of candidates: 20 000 rows of 1000 classes took 3.7 GB.
const MOST_VALUES: usize = 5_000_000;
/// Number of validation rows whose decision values are in memory at a time.
const BLOCK: usize = 256;

/// Whether a table of `rows` rows and `classes` classes has too many classes to compare one-vs-rest candidates. Such a
/// table has more than five million pairs of a training row and a class. A
/// [`TableClassifier`](crate::TableClassifier) then compares [`Method::Discriminant`]s and stores no value for each
/// pair. Two classes are never too many.
///
/// ```
/// use halfspaces_tables::has_many_classes;
/// assert!(has_many_classes(18_000, 1000) && !has_many_classes(18_000, 100) && !has_many_classes(9_000_000, 2));
/// ```
#[must_use]
pub fn has_many_classes(rows: usize, classes: usize) -> bool {
    classes > 2 && rows.min(DEFAULT_MAX_ROWS).saturating_mul(classes) > MOST_VALUES
}

/// The classes and weights of the training rows, in the order of the rows.
struct ManyClasses {
    classes: Vec<usize>,
    count: usize,
    weights: Vec<f64>,
}

/// A method of a family, with its error on the validation rows and the decision values for the calibration.
struct Compared {
    family: usize,
    method: Method,
    error: f64,
    values: Vec<f64>,
}

impl ManyClasses {
    fn new(labelled: &LabelledRows<'_>, rows: &[usize]) -> Result<ManyClasses, InputError> {
        let weights = labelled.weights(rows)?;
        Ok(ManyClasses {
            classes: rows.iter().map(|&i| labelled.classes[i]).collect(),
            count: labelled.count,
            weights,
        })
    }

    /// Fits the methods of a family to some rows, one halfspace for each class and method.
    fn fit(
        &self,
        features: &Features,
        methods: &[Method],
        rows: &[usize],
    ) -> Result<Vec<Vec<AffineHalfspace>>, InputError> {
        let sums = with_rows!(&features.rows, features => {
            Discriminant::new(features, &self.classes, self.count, &self.weights, rows)
        });
        let solve = |method: &Method| match *method {
            Method::Discriminant { shrinkage } => sums.solve(shrinkage),
            _ => unreachable!("with many classes, all candidates are discriminants"),
        };
        methods.iter().map(solve).collect()
    }

    /// The weighted error rate on some rows, and the decision values of the first `kept` of them.
    fn validate(
        &self,
        features: &Features,
        halfspaces: &[AffineHalfspace],
        rows: &[usize],
        kept: usize,
    ) -> (f64, Vec<f64>) {
        let dim = with_rows!(&features.rows, all => all.dim());
        let weights = Mat::from_fn(dim, self.count, |j, class| halfspaces[class].weights()[j]);
        let (mut wrong, mut total) = (0.0, 0.0);
        let mut values = Vec::new();
        for rows in rows.chunks(BLOCK) {
            checkpoint();
            let points = with_rows!(&features.rows, all => all.columns(rows));
            let mut of_block =
                Mat::from_fn(self.count, rows.len(), |class, _| halfspaces[class].bias());
            let (by_class, points) = (weights.transpose(), points.as_ref());
            matmul(of_block.as_mut(), Accum::Add, by_class, points, 1.0, Par::Seq);
            for (row, of_row) in rows.iter().zip(of_block.col_iter()) {
                let of_row: Vec<f64> = of_row.iter().copied().collect();
                total += self.weights[*row];
                if deciding_class(&of_row) != self.classes[*row] {
                    wrong += self.weights[*row];
                }
                if values.len() < kept * self.count {
                    values.extend(of_row);
                }
            }
        }
        (if wrong > 0.0 { wrong / total } else { 0.0 }, values)
    }

    /// Fits a family to the fit rows, and returns its best method.
    fn compare(
        &self,
        index: usize,
        family: &Family,
        features: &Features,
        split: &Split,
    ) -> Result<(Compared, Vec<ComparedCandidate>), InputError> {
        let fits = self.fit(features, &family.methods, &split.fit_rows)?;
        let mut entries = Vec::with_capacity(fits.len());
        let mut best: Option<Compared> = None;
        for (method, halfspaces) in family.methods.iter().zip(&fits) {
            let rows = &split.validation_rows;
            let (error, values) = self.validate(features, halfspaces, rows, split.calibration);
            entries.push(ComparedCandidate { candidate: family.candidate(*method), error });
            if best.as_ref().is_none_or(|best| error < best.error) {
                best = Some(Compared { family: index, method: *method, error, values });
            }
        }
        let Some(best) = best else { unreachable!("a family has a method") };
        Ok((best, entries))
    }

    /// Fits a method to all rows.
    fn part(
        &self,
        family: &Family,
        method: Method,
        scaled: &ScaledRows,
    ) -> Result<Part, InputError> {
        let n = self.classes.len();
        let features = scaled.features(family, n, false)?;
        let rows: Vec<usize> = (0..n).collect();
        let Some(fitted) = self.fit(&features, &[method], &rows)?.pop() else {
            unreachable!("one method has one fit")
        };
        let map = features.map;
        let expanded = |h: AffineHalfspace| match &map {
            Some(map) => AffineHalfspace::new(map.expansion(h.weights().to_vec()), h.bias()),
            None => Ok(h),
        };
        let halfspaces = fitted.into_iter().map(expanded).collect::<Result<_, _>>()?;
        let kernel = map.map(SingleNystroem::into_kernel_values);
        Ok(Part { columns: family.columns, kernel, halfspaces })
    }
}

/// The rows to which candidates are fitted and on which they are compared.
struct Split {
    fit_rows: Vec<usize>,
    validation_rows: Vec<usize>,
    /// The number of validation rows to which the calibration is fitted.
    calibration: usize,
}

impl Split {
    /// The last round of a comparison: the single split, or the last fold of a small table.
    fn new(groups: &[usize], classes: usize) -> Split {
        let Some(round) = rounds(groups).pop() else { unreachable!("there is at least one round") };
        let calibration = round.validation_rows.len().min(max_calibration_rows(classes));
        Split { fit_rows: round.fit_rows, validation_rows: round.validation_rows, calibration }
    }
}

/// Compares discriminants on one split of the rows, and fits the best one to all rows. `training` contains the `rows`
/// of the table.
pub(crate) fn learn_many<P: PointSet + Sync>(
    training: &P,
    labelled: &LabelledRows<'_>,
    rows: &[usize],
    seed: u64,
    threads: Threads,
) -> Result<(Averaged, TableReport), InputError> {
    let table = ManyClasses::new(labelled, rows)?;
    let split = match labelled.groups {
        Some(groups) => {
            Split::new(&rows.iter().map(|&i| groups[i]).collect::<Vec<_>>(), table.count)
        }
        None => Split::new(&(0..rows.len()).collect::<Vec<_>>(), table.count),
    };
    let families = many_class_families();
    let (mut scales, mut scaled_rows) = (Vec::new(), Vec::<ScaledRows>::new());
    for family in &families {
        if scaled_rows.iter().all(|of| of.columns != family.columns) {
            let scale = Scale::fit(family.columns, training)?;
            let scaled = scale.apply_on(training, threads)?;
            scaled_rows.push(ScaledRows::new(family.columns, scaled, table.count, seed)?);
            scales.push(scale);
        }
    }
    let of_family = |family: &Family| {
        let found = scaled_rows.iter().find(|rows| rows.columns == family.columns);
        let Some(rows) = found else { unreachable!("each scale of a family is fitted") };
        rows
    };
    let last = split.fit_rows.iter().chain(&split.validation_rows).max().map_or(0, |row| row + 1);
    let steps = Steps::plan(families.len() as u64 + 1);
    let compared = threads.map_with(
        families.iter().enumerate(),
        || (),
        |(), (index, family)| {
            let features = of_family(family).features(family, last, false)?;
            let compared = table.compare(index, family, &features, &split);
            steps.advance(1);
            compared
        },
    );
    let mut best: Option<Compared> = None;
    let mut entries = Vec::new();
    for compared in compared {
        let (of_family, of_methods): (Compared, Vec<ComparedCandidate>) = compared?;
        entries.extend(of_methods);
        if best.as_ref().is_none_or(|best| of_family.error < best.error) {
            best = Some(of_family);
        }
    }
    let Some(best) = best else { unreachable!("there are families to compare") };
    // The sort is stable, so the chosen candidate is the first of the candidates with the smallest error.
    entries.sort_by(|a, b| a.error.total_cmp(&b.error));
    let family = &families[best.family];
    let part = table.part(family, best.method, of_family(family))?;
    steps.advance(1);
    let places = &split.validation_rows[..split.calibration];
    let calibrated: Vec<usize> = places.iter().map(|place| rows[*place]).collect();
    let values = Points::new(best.values, table.count)?;
    let calibration = labelled.calibration(&values, &calibrated)?;
    let report = TableReport {
        compared: entries,
        dropped: Vec::new(),
        chosen: 1,
        learned_from: rows.len(),
        compared_on: split.validation_rows.len(),
        calibrated_on: 0,
        error: best.error,
        held_out: None,
    };
    Ok((Averaged::new(scales, vec![part], calibration), report))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Method, TableClassifier};
    use halfspaces_linalg::Params;

    #[test]
    fn at_most_five_million_pairs_are_few() {
        for (rows, classes, expected) in [
            (20_000, 1000, true),
            (20_000, 250, false),
            (20_000, 251, true),
            (10_000_000, 2, false),
            (10_000_000, 125, false),
            (10_000_000, 126, true),
        ] {
            assert_eq!(has_many_classes(rows, classes), expected, "{rows} {classes}");
        }
    }

    /// Points on a grid, one class for each cell. Most cells are between others, so no halfspace of the columns
    /// separates a cell from all others.
    fn grid(rows: usize, classes: usize) -> (Points, Vec<usize>) {
        let side = (classes as f64).sqrt().ceil() as usize;
        let noise = |i: usize, f: f64| 0.2 * ((i as f64) * f).sin();
        let classes: Vec<usize> = (0..rows).map(|i| i % classes).collect();
        let row = |(i, class): (usize, &usize)| {
            [(class % side) as f64 + noise(i, 12.9898), (class / side) as f64 + noise(i, 78.233)]
        };
        let rows: Vec<[f64; 2]> = classes.iter().enumerate().map(row).collect();
        (Points::from_rows(&rows).unwrap(), classes)
    }

    fn fit_many(
        points: &Points,
        classes: &[usize],
        count: usize,
        weight: &dyn Fn(usize) -> f64,
        threads: Threads,
    ) -> (Averaged, TableReport) {
        let labelled = LabelledRows { classes, count, weight, groups: None };
        let rows: Vec<usize> = (0..classes.len()).collect();
        learn_many(points, &labelled, &rows, 1, threads).unwrap()
    }

    #[test]
    fn many_classes_between_others_are_separated() {
        let (points, classes) = grid(1600, 97);
        let (average, report) = fit_many(&points, &classes, 97, &|_| 1.0, Threads::ONE);
        let found = average.classes(&points, Threads::ONE).unwrap();
        assert!(found.iter().zip(&classes).filter(|(a, b)| a != b).count() < 16);
        assert!(report.error() < 0.02, "{}", report.error());
        assert_eq!(report.chosen().count(), 1);
        let is_discriminant =
            |of: &ComparedCandidate| matches!(of.candidate().method(), Method::Discriminant { .. });
        assert!(report.compared().iter().all(is_discriminant));
        // The number of threads does not matter.
        let two = fit_many(&points, &classes, 97, &|_| 1.0, Threads::new(2).unwrap());
        assert_eq!(two, (average, report));
    }

    /// Rows of a heavy class count more often than those of a light class at the same place.
    #[test]
    fn weights_decide_between_overlapping_classes() {
        let rows: Vec<[f64; 2]> = (0..400).map(|i| [f64::from(i % 7), f64::from(i % 5)]).collect();
        let points = Points::from_rows(&rows).unwrap();
        let classes: Vec<usize> = (0..400).map(|i| i / 7 % 3).collect();
        let weight = |i: usize| if i / 7 % 3 == 1 { 9.0 } else { 1.0 };
        let (average, _) = fit_many(&points, &classes, 3, &weight, Threads::ONE);
        let found = average.classes(&points, Threads::ONE).unwrap();
        assert!(found.iter().filter(|class| **class == 1).count() > 380);
    }

    /// The default learner uses discriminants beyond the limit. Some classes have a single row, so the error on
    /// validation rows is large.
    #[test]
    fn the_table_classifier_learns_many_classes() {
        let (points, classes) = grid(3000, 1701);
        let learner = TableClassifier::params().held_out(0.0).check().unwrap();
        let model = learner.fit_classes(&points, &classes).unwrap();
        let best = model.report().compared()[0].candidate().method();
        assert!(matches!(best, Method::Discriminant { .. }), "{best:?}");
        let found = model.class_all(&points, Threads::ONE).unwrap();
        let wrong = found.iter().zip(&classes).filter(|(found, class)| *found != class).count();
        assert!(wrong < 150, "{wrong}");
    }
}
