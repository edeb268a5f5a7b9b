//! The default learner of sparse points: the linear support vector machine with the squared hinge loss. Its C is chosen
//! by cross-validation on the labels as they are, so noisy labels lead to a small C.

use super::binary::{BinaryLearner, BinaryModel};
use super::linear::{Fitted, labels_of};
use crate::plan::{Findings, Method, Plan};
use crate::streams;
use halfspaces_frame::DataError;
use halfspaces_linalg::rand::seq::SliceRandom;
use halfspaces_linalg::{
    Classifier, InputError, Label, Params, PointSet, Points, SparsePoints, deciding_class, rng_for,
};
use halfspaces_pac::{LinearSvm, OneVsRestModel, SvmParams, TemperatureScaling};

/// The values of C, for points of mean square norm 1, in the order in which they are tried.
const GRID: [f64; 7] = [0.05, 0.15, 0.4, 1.0, 3.0, 8.0, 20.0];
/// Larger values of C are no longer tried after one that was not better. A value of C is better if its error is smaller
/// by more than this many standard errors of the error.
const BETTER_BY: f64 = 0.1;
/// The number of folds of the cross-validation.
const FOLDS: usize = 4;
/// The maximum number of rows of the cross-validation.
const MAX_ROWS: usize = 6000;
/// The maximum number of coordinates of [`Method::Massart`].
const MAX_MASSART: usize = 1000;
/// Relative accuracy of the optimum on sparse points. A closer approximation does not reduce the error.
const SPARSE_TOLERANCE: f64 = 3e-3;
/// Relative accuracy of the optimum in the cross-validation, and the maximum number of passes for each C.
const COMPARED_TOLERANCE: f64 = 1e-2;
const COMPARED_PASSES: u64 = 8;

/// A model of all rows, with the calibration and the findings of the cross-validation.
pub(super) struct Chosen {
    pub(super) fitted: Fitted,
    pub(super) calibration: TemperatureScaling,
    pub(super) findings: Findings,
}

/// The rows of the cross-validation, each in fold `place % FOLDS`.
struct Compared {
    points: SparsePoints,
    classes: Vec<usize>,
    weights: Vec<f64>,
    total_weight: f64,
}

/// The error of a value of C, and the decision values of every row in the models without its fold.
struct Trial {
    c: f64,
    error: f64,
    values: Vec<Vec<f64>>,
}

/// Chooses C by cross-validation and fits all rows.
pub(super) fn choose(
    plan: &Plan,
    points: &SparsePoints,
    classes: &[usize],
    weights: Option<&[f64]>,
) -> Result<Chosen, DataError> {
    let count = classes.iter().max().map_or(0, |last| last + 1);
    let unit = mean_square(points);
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.shuffle(&mut rng_for(streams::SPARSE_ROWS, plan.seed));
    order.truncate(MAX_ROWS);
    let weight_of = |row: &usize| weights.map_or(1.0, |weights| weights[*row]);
    let weights_compared: Vec<f64> = order.iter().map(weight_of).collect();
    let compared = Compared {
        points: points.select(&order)?,
        classes: order.iter().map(|row| classes[*row]).collect(),
        total_weight: weights_compared.iter().sum(),
        weights: weights_compared,
    };
    let total = compared.total_weight;
    InputError::check_parameter("sum of weights", total, total > 0.0, "positive")?;
    let (best, errors) = cross_validate(plan, &compared, count, unit)?;
    let learner = svm(plan, scaled(best.c, unit)).tolerance(SPARSE_TOLERANCE).check()?;
    let fit = |class| learner.fit_with(points, &labels_of(classes, class), weights, None);
    let fits = plan.threads.map_with(targets(count), || (), |(), class| fit(class));
    let models = fits.into_iter().map(|fit| Ok(BinaryModel::of_svm(&fit?)));
    let models = models.collect::<Result<Vec<_>, InputError>>()?;
    let findings = Findings {
        ended: models.iter().find_map(|model| model.findings().ended),
        compared: errors.iter().map(|(error, c)| (*error, name(*c))).collect(),
        chosen: 1,
        compared_on: order.len(),
        learned_from: classes.len() as u64,
        cross_validated: Some(best.error),
        ..Findings::default()
    };
    let sums = best.values.first().map_or(0, Vec::len);
    let values = Points::new(best.values.concat(), sums)?;
    let calibration = TemperatureScaling::fit(&values, &compared.classes, &compared.weights, 1.0)?;
    Ok(Chosen { fitted: joined(models, points)?, calibration, findings })
}

/// A binary problem of the cross-validation: a class against the others, fitted without one fold.
struct Job {
    fold: usize,
    class: usize,
    /// The α of the last fit, from which the next one starts; empty before the first.
    start: Vec<f64>,
    /// The decision value of every row.
    values: Vec<f64>,
}

/// Tries the values of C. Returns the best one, and the errors in ascending order, each with its C.
fn cross_validate(
    plan: &Plan,
    compared: &Compared,
    count: usize,
    unit: f64,
) -> Result<(Trial, Vec<(f64, f64)>), DataError> {
    let labels: Vec<Vec<Label>> =
        (0..count).map(|class| labels_of(&compared.classes, class)).collect();
    let without = |fold: usize| -> Vec<f64> {
        let weights = compared.weights.iter().enumerate();
        weights.map(|(place, weight)| if place % FOLDS == fold { 0.0 } else { *weight }).collect()
    };
    let weights: Vec<Vec<f64>> = (0..FOLDS).map(without).collect();
    let mut jobs: Vec<Job> = (0..FOLDS)
        .flat_map(|fold| targets(count).map(move |class| (fold, class)))
        .map(|(fold, class)| Job { fold, class, start: Vec::new(), values: Vec::new() })
        .collect();
    let mut errors: Vec<(f64, f64)> = Vec::new();
    let mut best: Option<Trial> = None;
    for c in GRID {
        let learner = svm(plan, scaled(c, unit)).tolerance(COMPARED_TOLERANCE);
        let learner = learner.max_passes(COMPARED_PASSES).check()?;
        let fit = |job: Job| -> Result<Job, InputError> {
            let start = (!job.start.is_empty()).then_some(&job.start[..]);
            let weights = Some(&weights[job.fold][..]);
            let fit = learner.fit_with(&compared.points, &labels[job.class], weights, start)?;
            let values = compared.points.rows().map(|x| fit.halfspace().decision_value(x));
            let values = values.collect::<Result<_, _>>()?;
            Ok(Job { start: fit.alphas().to_vec(), values, ..job })
        };
        let done = plan.threads.map_with(jobs.into_iter(), || (), |(), job| fit(job));
        jobs = done.into_iter().collect::<Result<_, _>>()?;
        let trial = judge(compared, &jobs, c);
        errors.push((trial.error, c));
        let (error, least) = (trial.error, best.as_ref().map(|best| best.error));
        if least.is_none_or(|least| error < least) {
            best = Some(trial);
        }
        if least.is_some_and(|least| !is_better(error, least, compared.classes.len())) {
            break;
        }
    }
    errors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let Some(best) = best else { unreachable!("an error is a finite number") };
    Ok((best, errors))
}

/// Whether an error is less than the least one so far by more than a share of its standard error.
fn is_better(error: f64, least: f64, rows: usize) -> bool {
    error < least - BETTER_BY * (least * (1.0 - least) / rows as f64).sqrt()
}

/// Decides every row by the models that were fitted without its fold. Values of several classes are divided by their
/// mean size on the rows that the model was fitted to.
fn judge(compared: &Compared, jobs: &[Job], c: f64) -> Trial {
    let scale = |job: &Job| {
        let values = job.values.iter().enumerate();
        let learned = values.filter(|(place, _)| place % FOLDS != job.fold);
        let (sum, rows) = learned.fold((0.0, 0), |(sum, rows), (_, v)| (sum + v.abs(), rows + 1));
        if jobs.len() > FOLDS && sum > 0.0 { f64::from(rows) / sum } else { 1.0 }
    };
    let scales: Vec<f64> = jobs.iter().map(scale).collect();
    let (mut values, mut wrong) = (Vec::with_capacity(compared.classes.len()), 0.0);
    let targets = jobs.len() / FOLDS;
    for (place, (class, weight)) in compared.classes.iter().zip(&compared.weights).enumerate() {
        let of_fold = (place % FOLDS) * targets..(place % FOLDS + 1) * targets;
        let of_row: Vec<f64> = of_fold.map(|job| jobs[job].values[place] * scales[job]).collect();
        wrong += if deciding_class(&of_row) == *class { 0.0 } else { *weight };
        values.push(of_row);
    }
    Trial { c, error: wrong / compared.total_weight, values }
}

fn svm(plan: &Plan, c: f64) -> SvmParams {
    LinearSvm::params().c(c).squared(true).seed(plan.seed)
}

fn scaled(c: f64, unit: f64) -> f64 {
    (c / unit).clamp(1e-12, 1e12)
}

/// One model of two classes, otherwise one model for each class.
fn joined(mut models: Vec<BinaryModel>, points: &SparsePoints) -> Result<Fitted, InputError> {
    Ok(match models.len() {
        1 => Fitted::Two(models.remove(0)),
        _ => Fitted::Several(OneVsRestModel::new(models, points)?),
    })
}

fn name(c: f64) -> String {
    format!("svm with squared hinge loss and C {c}, sparse columns as they are")
}

/// The classes that are learned against the others: the second of two, or all.
fn targets(count: usize) -> std::ops::Range<usize> {
    if count == 2 { 1..2 } else { 0..count }
}

/// The mean square norm; 1 if it is 0 or overflows. Multiplying all points by s is equivalent to dividing C by s².
fn mean_square(points: &SparsePoints) -> f64 {
    let squares: f64 = points.norms().iter().map(|norm| norm * norm).sum();
    let mean = squares / points.len() as f64;
    if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
}

impl BinaryLearner {
    /// A learner of sparse points, which are not standardised. C is given for points of mean square norm 1.
    ///
    /// # Errors
    /// If there are too many coordinates for the radially isotropic position of [`Method::Massart`].
    pub(super) fn for_sparse(
        plan: &Plan,
        points: &SparsePoints,
    ) -> Result<BinaryLearner, DataError> {
        check_massart(plan.method, points.dim())?;
        let c = scaled(plan.c.unwrap_or(1.0), mean_square(points));
        BinaryLearner::with_tolerance(&Plan { c: Some(c), ..*plan }, SPARSE_TOLERANCE)
    }
}

/// Checks that [`Method::Massart`] can learn from this many coordinates.
///
/// # Errors
/// If there are too many.
pub(super) fn check_massart(method: Method, dim: usize) -> Result<(), DataError> {
    if method != Method::Massart || dim <= MAX_MASSART {
        return Ok(());
    }
    Err(DataError::user(format!(
        "--learner massart: it computes with matrices of {dim} x {dim} numbers, and {MAX_MASSART} x {MAX_MASSART} is the \
         limit; use --learner perspectron, whose guarantee needs a margin but no matrix, or --learner auto"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of `count` classes with an entry of their class, an entry of chance, and every ninth label wrong.
    fn compared(rows: usize, count: usize) -> Compared {
        let mut points = SparsePoints::empty(count + 30).unwrap();
        let mut classes = Vec::new();
        for i in 0..rows {
            let class = i * 7 % count;
            let chance = (count + i * i % 29) as u32;
            points.push(&[class as u32, chance], &[0.8, 0.6]).unwrap();
            classes.push(if i % 9 == 4 { (class + 1) % count } else { class });
        }
        let weights = vec![1.0; rows];
        Compared { points, classes, total_weight: rows as f64, weights }
    }

    /// The values of a row come from models without it: its own label and weight do not change them.
    #[test]
    fn no_row_is_judged_by_a_model_that_knows_its_label() {
        for count in [2, 3] {
            let plan = Plan::new(Method::Auto);
            let given = compared(101, count);
            let (best, errors) = cross_validate(&plan, &given, count, 1.0).unwrap();
            assert_eq!(best.values.len(), 101);
            for row in [0, 5, 50, 99] {
                let mut other = compared(101, count);
                other.classes[row] = (other.classes[row] + 1) % count;
                other.weights[row] = 1.01;
                let (changed, _) = cross_validate(&plan, &other, count, 1.0).unwrap();
                assert_eq!(changed.c, best.c);
                assert_eq!(changed.values[row], best.values[row], "{count} {row}");
                assert_ne!(changed.values, best.values);
            }
            let wrong = best.values.iter().zip(&given.classes);
            let wrong = wrong.filter(|(values, class)| deciding_class(values) != **class).count();
            assert!((best.error - wrong as f64 / 101.0).abs() < 1e-12);
            assert_eq!(errors[0], (best.error, best.c));
            assert!(wrong < 25, "{wrong}");
        }
    }

    /// C = 0.05 · about 2.7^k, tried until one is no better than the best by a tenth of a standard error.
    #[test]
    fn values_of_c_are_tried_in_ascending_order_until_one_is_no_better() {
        assert!(GRID.is_sorted_by(|a, b| 2.0 * a < *b && *b < 3.1 * a));
        let (best, mut errors) =
            cross_validate(&Plan::new(Method::Auto), &compared(400, 3), 3, 1.0).unwrap();
        errors.sort_by(|a, b| a.1.total_cmp(&b.1));
        let tried: Vec<f64> = errors.iter().map(|(_, c)| *c).collect();
        assert_eq!(tried, GRID[..tried.len()]);
        let mut least = errors[0].0;
        for (place, (error, _)) in errors.iter().enumerate().skip(1) {
            let is_last = place + 1 == errors.len();
            assert!(is_better(*error, least, 400) != is_last || is_last && place + 1 == GRID.len());
            least = least.min(*error);
        }
        assert!(best.error == least && best.error < 0.2 && errors.len() > 1);
        // The standard error of 0.1 on 400 rows is 0.015.
        assert!(is_better(0.0984, 0.1, 400) && !is_better(0.0986, 0.1, 400));
        assert!(!is_better(0.0, 0.0, 400));
    }

    /// Passes end early, but near the optimum: values are those of an accurate fit without the fold.
    #[test]
    fn compared_values_are_near_the_optimum() {
        let (plan, given) = (Plan::new(Method::Auto), compared(300, 2));
        let (best, _) = cross_validate(&plan, &given, 2, 1.0).unwrap();
        let mut apart = 0.0f64;
        for fold in 0..FOLDS {
            let weights: Vec<f64> =
                (0..300).map(|at| if at % FOLDS == fold { 0.0 } else { 1.0 }).collect();
            let learner = svm(&plan, best.c).tolerance(1e-8).check().unwrap();
            let labels = labels_of(&given.classes, 1);
            let fit = learner.fit_with(&given.points, &labels, Some(&weights), None).unwrap();
            for at in (fold..300).step_by(FOLDS) {
                let value = fit.halfspace().decision_value(given.points.row(at).unwrap()).unwrap();
                apart = apart.max((value - best.values[at][0]).abs());
            }
        }
        assert!(apart < 0.05, "{apart}");
    }

    /// C belongs to points of mean square norm 1, and at most 6000 rows are compared.
    #[test]
    fn the_scale_of_points_does_not_matter() {
        let given = compared(6050, 2);
        let mut large = SparsePoints::empty(32).unwrap();
        for x in given.points.rows() {
            let values: Vec<f64> = x.values().iter().map(|v| v * 1024.0).collect();
            large.push(x.columns(), &values).unwrap();
        }
        let plan = Plan::new(Method::Auto);
        let fit = |points: &SparsePoints| choose(&plan, points, &given.classes, None).unwrap();
        let (one, other) = (fit(&given.points), fit(&large));
        assert_eq!(one.findings, other.findings);
        assert_eq!((one.findings.compared_on, one.findings.learned_from), (6000, 6050));
        // The penalised intercept does not scale with the points.
        let values = |chosen: &Chosen, points: &SparsePoints| {
            chosen.fitted.values(points, plan.threads).unwrap()
        };
        let pairs = values(&one, &given.points).into_iter().zip(values(&other, &large));
        let differ = pairs.filter(|(a, b)| (a[0] > 0.0) != (b[0] > 0.0)).count();
        assert!(differ < 60, "{differ}");
    }

    /// Values of several classes are divided by their mean size on the rows of the other folds.
    #[test]
    fn classes_are_compared_on_one_scale() {
        let values = |k: f64| (0..8).map(|i| k * (1.0 + f64::from(i))).collect::<Vec<f64>>();
        let jobs: Vec<Job> = (0..FOLDS * 3)
            .map(|at| {
                let (fold, class) = (at / 3, at % 3);
                Job { fold, class, start: Vec::new(), values: values([1.0, 8.0, -2.0][class]) }
            })
            .collect();
        let given = Compared { weights: vec![1.0; 8], total_weight: 8.0, ..compared(8, 3) };
        let trial = judge(&given, &jobs, 1.0);
        for (row, values) in trial.values.iter().enumerate() {
            let others = (0..8).filter(|at| at % FOLDS != row % FOLDS);
            let mean = others.map(|at| 1.0 + at as f64).sum::<f64>() / 6.0;
            let expected = (1.0 + row as f64) / mean;
            for (value, sign) in values.iter().zip([1.0, 1.0, -1.0]) {
                assert!((value - sign * expected).abs() < 1e-12);
            }
        }
        // Of equal values the first class wins.
        let wrong = given.classes.iter().filter(|class| **class != 0).count();
        assert!((trial.error - wrong as f64 / 8.0).abs() < 1e-12);
    }

    #[test]
    fn massart_has_a_limit() {
        assert!(check_massart(Method::Massart, 1000).is_ok());
        assert!(check_massart(Method::Massart, 1001).is_err());
        assert!(check_massart(Method::Perspectron, 100_000).is_ok());
    }
}
