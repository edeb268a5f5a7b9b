//! Cross-validation of the linear support vector machine with the squared hinge loss on sparse points. Every row is
//! evaluated by models that were fitted without the fold of the row. All rows of a group are in the same fold.

use super::linear::labels_of;
use crate::class_noise::{Mistaken, mistaken};
use crate::plan::Plan;
use halfspaces_frame::DataError;
use halfspaces_linalg::{
    Classifier, CsrPoints, InputError, Label, Params, PointSet, Points, SparsePoints, Steps,
    deciding_class,
};
use halfspaces_pac::{Calibration, LinearSvm, SvmParams};
use halfspaces_tables::group_folds;
use std::collections::HashSet;
use std::ops::Range;

/// The candidate values of C, for points whose mean squared norm is 1, in the order in which they are tried.
const GRID: [f64; 7] = [0.05, 0.15, 0.4, 1.0, 3.0, 8.0, 20.0];
/// The values of C up to this one are always tried, and among equally good values the largest is used. With few rows,
/// the errors say little about C, and small values often lead to models that predict one class.
const ALWAYS_TRIED: f64 = 1.0;
/// After [`ALWAYS_TRIED`], the search over C stops at the first value that is not better than the best one so far. A
/// value is better if its error is below the smallest error so far by more than this many standard errors of that
/// smallest error.
const BETTER_BY: f64 = 0.1;
/// The number of folds of the cross-validation. If there are fewer groups, each group is a fold.
const FOLDS: usize = 4;
/// The relative accuracy with which the optimum for each C is approximated, and the maximum number of passes.
const TOLERANCE: f64 = 1e-2;
const PASSES: u64 = 32;

/// The rows used for cross-validation, each assigned to a fold.
pub(super) struct Folds<'p> {
    plan: &'p Plan,
    points: SparsePoints,
    classes: Vec<usize>,
    /// The labels of each binary problem, which separates one class from the others.
    labels: Vec<Vec<Label>>,
    weights: Vec<f64>,
    total_weight: f64,
    count: usize,
    fold_of: Vec<usize>,
    /// The number of folds, which is smaller than [`FOLDS`] if there are fewer groups.
    folds: usize,
    /// The mean squared norm of all points.
    unit: f64,
    /// The steps of [`Folds::choose_c`] and of the final fits to all rows. A step is a row to which a model is fitted.
    pub(super) steps: Steps,
}

/// The error of a candidate value of C. For every row, the trial also contains the decision values of the models that
/// were fitted without the fold of the row.
pub(super) struct Trial {
    pub(super) c: f64,
    pub(super) error: f64,
    pub(super) values: Vec<Vec<f64>>,
}

/// The models of all classes, fitted with the row weights `weights`.
#[derive(Debug, Clone)]
struct Part {
    weights: Vec<f64>,
    /// For each binary problem, the dual variables α of the last fit, which are the warm start of the next fit. They
    /// are empty before the first fit.
    starts: Vec<Vec<f64>>,
    /// The decision values of every row. If there are several binary problems, the values of each problem are divided
    /// by their mean absolute value on the training rows.
    values: Vec<Vec<f64>>,
}

impl Part {
    fn new(weights: Vec<f64>, problems: usize) -> Part {
        Part { weights, starts: vec![Vec::new(); problems], values: Vec::new() }
    }
}

impl<'p> Folds<'p> {
    /// Assigns the rows `order` of `points` to folds. The classes are 0, 1, .., `count` - 1. Without groups, the rows
    /// are assigned to the folds in turn. `unit` is the mean squared norm of all points.
    ///
    /// # Errors
    /// Returns an error if the weights of the rows are all 0 or if there are fewer than two groups.
    pub(super) fn new(
        plan: &'p Plan,
        (points, classes, count): (&CsrPoints<'_>, &[usize], usize),
        weights: Option<&[f64]>,
        groups: Option<&[usize]>,
        order: &[usize],
        unit: f64,
    ) -> Result<Folds<'p>, InputError> {
        let classes: Vec<usize> = order.iter().map(|row| classes[*row]).collect();
        let weight_of = |row: &usize| weights.map_or(1.0, |weights| weights[*row]);
        let weights: Vec<f64> = order.iter().map(weight_of).collect();
        let total = weights.iter().sum();
        InputError::check_parameter("sum of weights", total, total > 0.0, "positive")?;
        let group_of = |(place, row): (usize, &usize)| groups.map_or(place, |groups| groups[*row]);
        let groups: Vec<usize> = order.iter().enumerate().map(group_of).collect();
        let found = groups.iter().collect::<HashSet<_>>().len();
        let requirement = "at least 2, without the rows of weight 0";
        InputError::check_parameter("number of groups", found as f64, found >= 2, requirement)?;
        let folds = found.min(FOLDS);
        let fitted = GRID.len() * folds * order.len() + points.len();
        Ok(Folds {
            plan,
            steps: Steps::plan((fitted * targets(count).len()) as u64),
            points: points.select(order)?.into_owned(),
            labels: targets(count).map(|class| labels_of(&classes, class)).collect(),
            classes,
            weights,
            total_weight: total,
            count,
            fold_of: group_folds(&groups, FOLDS),
            folds,
            unit,
        })
    }

    /// Tries the values of C in [`GRID`]. Returns the best trial, and for each trial its error and its C.
    pub(super) fn choose_c(&self) -> Result<(Trial, Vec<(f64, f64)>), DataError> {
        let mut parts: Vec<Part> = (0..self.folds).map(|fold| self.without(&[fold])).collect();
        let mut errors: Vec<(f64, f64)> = Vec::new();
        let mut best: Option<Trial> = None;
        for c in GRID {
            parts = self.fit(c, parts)?;
            let trial = self.judge(c, &parts);
            errors.push((trial.error, c));
            let (error, least) = (trial.error, best.as_ref().map(|best| best.error));
            if least.is_none_or(|least| error <= least) {
                best = Some(trial);
            }
            let is_worse = |least| !is_better(error, least, self.classes.len());
            if c >= ALWAYS_TRIED && least.is_some_and(is_worse) {
                let skipped = GRID.len() - errors.len();
                self.advance(skipped * parts.len() * self.labels.len());
                break;
            }
        }
        let Some(best) = best else { unreachable!("an error is a finite number") };
        Ok((best, errors))
    }

    /// Evaluates the models with this C on every row.
    pub(super) fn with_c(&self, c: f64) -> Result<Trial, DataError> {
        let parts = (0..self.folds).map(|fold| self.without(&[fold])).collect();
        Ok(self.judge(c, &self.fit(c, parts)?))
    }

    /// If the trial `best` shows that a class is often labelled as another, evaluates models that are fitted without
    /// the rows whose label is likely wrong. For each fold, these rows are found using only the labels of the other
    /// folds, so there must be at least three folds. Returns `None` if no class is often labelled as another, or if
    /// there are fewer than three folds.
    pub(super) fn without_mistaken(&self, best: &Trial) -> Result<Option<Trial>, DataError> {
        let folds = self.folds;
        if folds < 3 || self.mistaken(best)?.is_none() {
            return Ok(None);
        }
        // For each fold that is left out, the rows of every other fold are evaluated by a model that was fitted
        // without these two folds.
        let pairs: Vec<[usize; 2]> = (0..folds).flat_map(|b| (0..b).map(move |a| [a, b])).collect();
        let inner = self.fit(best.c, pairs.iter().map(|pair| self.without(pair)).collect())?;
        let values_in = |fold: usize, place: usize| {
            let of_pair =
                |pair: &[usize; 2]| pair.contains(&fold) && pair.contains(&self.fold_of[place]);
            let Some(at) = pairs.iter().position(of_pair) else {
                unreachable!("all pairs are fitted")
            };
            inner[at].values[place].clone()
        };
        let mut parts = Vec::with_capacity(folds);
        for fold in 0..folds {
            let rows: Vec<usize> =
                (0..self.classes.len()).filter(|place| self.fold_of[*place] != fold).collect();
            let values: Vec<Vec<f64>> = rows.iter().map(|place| values_in(fold, *place)).collect();
            let classes: Vec<usize> = rows.iter().map(|place| self.classes[*place]).collect();
            let mut part = self.without(&[fold]);
            for at in mistaken_by(&values, &classes, self.count)?.map_or(Vec::new(), |of| of.rows) {
                part.weights[rows[at]] = 0.0;
            }
            parts.push(part);
        }
        Ok(Some(self.judge(best.c, &self.fit(best.c, parts)?)))
    }

    /// Finds the rows whose label is likely wrong according to a trial.
    pub(super) fn mistaken(&self, trial: &Trial) -> Result<Option<Mistaken>, DataError> {
        Ok(mistaken_by(&trial.values, &self.classes, self.count)?)
    }

    /// Fits the map from the decision values of a trial to probabilities.
    pub(super) fn calibration(&self, trial: &Trial) -> Result<Calibration, InputError> {
        calibration(&trial.values, &self.classes, &self.weights)
    }

    fn advance(&self, fits: usize) {
        self.steps.advance((fits * self.classes.len()) as u64);
    }

    /// Creates the part that gives weight 0 to the rows of the given folds.
    fn without(&self, folds: &[usize]) -> Part {
        let weights = self.weights.iter().enumerate();
        let is_out = |place: usize| folds.contains(&self.fold_of[place]);
        let weights = weights.map(|(place, w)| if is_out(place) { 0.0 } else { *w }).collect();
        Part::new(weights, self.labels.len())
    }

    /// Fits the models of all classes in all parts.
    fn fit(&self, c: f64, parts: Vec<Part>) -> Result<Vec<Part>, DataError> {
        let learner = svm(self.plan, scaled(c, self.unit)).tolerance(TOLERANCE);
        let learner = learner.max_passes(PASSES).check()?;
        let problems = self.labels.len();
        let fit = |job: usize| -> Result<(Vec<f64>, Vec<f64>), InputError> {
            let (part, problem) = (&parts[job / problems], job % problems);
            let start = &part.starts[problem];
            let start = (!start.is_empty()).then_some(&start[..]);
            let (labels, weights) = (&self.labels[problem], Some(&part.weights[..]));
            let fit = learner.fit_with(&self.points, labels, weights, start)?;
            let values = self.points.rows().map(|x| fit.halfspace().decision_value(x));
            self.advance(1);
            Ok((fit.alphas().to_vec(), values.collect::<Result<_, _>>()?))
        };
        let jobs = 0..parts.len() * problems;
        let fits = self.plan.threads.map_with(jobs, || (), |(), job| fit(job));
        let mut fits = fits.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter();
        let next = |part: &Part| {
            let (starts, values): (Vec<_>, Vec<_>) = fits.by_ref().take(problems).unzip();
            let (weights, values) = (part.weights.clone(), by_row(&values, &part.weights));
            Part { weights, starts, values }
        };
        Ok(parts.iter().map(next).collect())
    }

    /// Predicts the class of every row with the part that was fitted without the fold of the row.
    fn judge(&self, c: f64, parts: &[Part]) -> Trial {
        let values = |place: usize| parts[self.fold_of[place]].values[place].clone();
        let values: Vec<Vec<f64>> = (0..self.classes.len()).map(values).collect();
        let rows = values.iter().zip(&self.classes).zip(&self.weights);
        // Adding 0 replaces -0, which is the sum of an empty sequence.
        let wrong = 0.0
            + rows
                .filter(|((values, class), _)| deciding_class(values) != **class)
                .map(|(_, weight)| weight)
                .sum::<f64>();
        Trial { c, error: wrong / self.total_weight, values }
    }
}

/// Rearranges the decision values of each binary problem into the values of each row. If there are several problems,
/// the values of each problem are divided by their mean absolute value on the rows with positive weight.
fn by_row(of_problem: &[Vec<f64>], weights: &[f64]) -> Vec<Vec<f64>> {
    let scale = |values: &Vec<f64>| {
        let fitted = values.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        let (sum, rows) = fitted.fold((0.0, 0), |(sum, rows), (v, _)| (sum + v.abs(), rows + 1));
        if of_problem.len() > 1 && sum > 0.0 { f64::from(rows) / sum } else { 1.0 }
    };
    let scales: Vec<f64> = of_problem.iter().map(scale).collect();
    let row = |at: usize| of_problem.iter().zip(&scales).map(|(of, s)| of[at] * s).collect();
    (0..weights.len()).map(row).collect()
}

/// Finds the rows whose label is likely wrong, given the decision values and the labels of all rows.
fn mistaken_by(
    values: &[Vec<f64>],
    classes: &[usize],
    count: usize,
) -> Result<Option<Mistaken>, InputError> {
    let sums = values.first().map_or(0, Vec::len);
    let (points, weights) = (Points::new(values.concat(), sums)?, vec![1.0; classes.len()]);
    // The thresholds that decide whether a label is likely wrong were chosen for temperature scaling.
    let calibration = Calibration::fit_temperature(&points, classes, &weights, 1.0)?;
    let probabilities: Vec<Vec<f64>> =
        values.iter().map(|values| calibration.probabilities(values)).collect();
    Ok(mistaken(&probabilities, classes, count))
}

fn calibration(
    values: &[Vec<f64>],
    classes: &[usize],
    weights: &[f64],
) -> Result<Calibration, InputError> {
    let sums = values.first().map_or(0, Vec::len);
    Calibration::fit(&Points::new(values.concat(), sums)?, classes, weights, 1.0)
}

/// Whether `error` is smaller than `least`, the smallest error so far, by more than [`BETTER_BY`] standard errors of
/// `least`.
fn is_better(error: f64, least: f64, rows: usize) -> bool {
    error < least - BETTER_BY * (least * (1.0 - least) / rows as f64).sqrt()
}

pub(super) fn svm(plan: &Plan, c: f64) -> SvmParams {
    LinearSvm::params().c(c).squared(true).seed(plan.seed)
}

/// The value of C for points whose mean squared norm is `unit`, given its value `c` for points of mean squared norm 1.
pub(super) fn scaled(c: f64, unit: f64) -> f64 {
    (c / unit).clamp(1e-12, 1e12)
}

/// The classes that are separated from the others. If there are two classes, this is only the second one; otherwise,
/// these are all classes.
pub(super) fn targets(count: usize) -> Range<usize> {
    if count == 2 { 1..2 } else { 0..count }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::plan::Method;
    use halfspaces_linalg::rand::RngExt;
    use halfspaces_linalg::{Monitor, RngStream, rng_for};

    /// Creates points of `count` classes. Each point has an entry that depends on its class and an entry that does not.
    /// Every ninth label is wrong.
    pub(in super::super) fn sample(rows: usize, count: usize) -> (SparsePoints, Vec<usize>) {
        let mut points = SparsePoints::empty(count + 30).unwrap();
        let mut classes = Vec::new();
        for i in 0..rows {
            let class = i * 7 % count;
            let chance = (count + i * i % 29) as u32;
            points.push(&[class as u32, chance], &[0.8, 0.6]).unwrap();
            classes.push(if i % 9 == 4 { (class + 1) % count } else { class });
        }
        (points, classes)
    }

    /// Creates points that resemble texts. Each contains a few words of its class among many words that all classes
    /// share. 40 % of the rows of class 1 have the label 0. Returns the points, the labels and the true classes.
    pub(in super::super) fn mislabelled(
        rows: usize,
        count: usize,
    ) -> (SparsePoints, Vec<usize>, Vec<usize>) {
        let mut chance = rng_for(RngStream::CALLER, 7);
        let mut points = SparsePoints::empty(count * 100 + 500).unwrap();
        let (mut labels, mut truth) = (Vec::new(), Vec::new());
        for row in 0..rows {
            let class = row % count;
            let mut words = std::collections::BTreeSet::new();
            for word in 0..12 {
                words.insert(match word < 5 {
                    true => (class * 100) as u32 + chance.random_range(0..60),
                    false => (count * 100) as u32 + chance.random_range(0..500),
                });
            }
            let words: Vec<u32> = words.into_iter().collect();
            let value = 1.0 / (words.len() as f64).sqrt();
            points.push(&words, &vec![value; words.len()]).unwrap();
            labels.push(if class == 1 && chance.random_bool(0.4) { 0 } else { class });
            truth.push(class);
        }
        (points, labels, truth)
    }

    fn folds<'p>(
        plan: &'p Plan,
        sample: &(SparsePoints, Vec<usize>),
        count: usize,
        weights: Option<&[f64]>,
    ) -> Folds<'p> {
        let order: Vec<usize> = (0..sample.1.len()).collect();
        Folds::new(plan, (&sample.0, &sample.1, count), weights, None, &order, 1.0).unwrap()
    }

    /// The values of a row come from models that were fitted without this row, so its own label and weight do not
    /// change them. The same holds if rows with wrong labels are left out.
    #[test]
    fn no_row_is_judged_by_a_model_that_knows_its_label() {
        let plan = Plan::new(Method::Auto);
        for count in [2, 3] {
            let given = sample(101, count);
            let (best, errors) = folds(&plan, &given, count, None).choose_c().unwrap();
            let wrong = best.values.iter().zip(&given.1);
            let wrong = wrong.filter(|(values, class)| deciding_class(values) != **class).count();
            assert!((best.error - wrong as f64 / 101.0).abs() < 1e-12);
            assert!(errors.contains(&(best.error, best.c)) && wrong < 25, "{wrong}");
            assert_eq!(best.values.len(), 101);
            let (points, labels, _) = mislabelled(601, count);
            let given = (points, labels);
            let of = folds(&plan, &given, count, None);
            let cleaned = of.without_mistaken(&of.with_c(1.0).unwrap()).unwrap().unwrap();
            for row in [0, 5, 50, 99] {
                let mut other = given.clone();
                other.1[row] = (other.1[row] + 1) % count;
                let mut weights = vec![1.0; 601];
                weights[row] = 1.01;
                let changed = folds(&plan, &other, count, Some(&weights));
                let trial = changed.with_c(1.0).unwrap();
                assert_eq!(trial.values[row], of.with_c(1.0).unwrap().values[row], "{count} {row}");
                assert_ne!(trial.values, of.with_c(1.0).unwrap().values);
                let without = changed.without_mistaken(&trial).unwrap().unwrap();
                assert_eq!(without.values[row], cleaned.values[row], "{count} {row}");
                assert_ne!(without.values, cleaned.values);
            }
        }
    }

    /// The labels of a whole group do not change the values of the rows in this group, even if rows with wrong labels
    /// are left out. With two groups there are two folds, and no rows can be left out.
    #[test]
    fn no_row_is_judged_by_a_model_that_knows_a_label_of_its_group() {
        let plan = Plan::new(Method::Auto);
        let order: Vec<usize> = (0..601).rev().collect();
        let (points, labels, _) = mislabelled(601, 2);
        for groups in [2, 3, 40] {
            let group_of: Vec<usize> = (0..601).map(|row| row * row % 97 % groups).collect();
            let of = |labels: &[usize]| {
                let sample = (&points, labels, 2);
                let folds = Folds::new(&plan, sample, None, Some(&group_of), &order, 1.0).unwrap();
                let trial = folds.with_c(1.0).unwrap();
                let cleaned = folds.without_mistaken(&trial).unwrap();
                assert_eq!(folds.folds, groups.min(4));
                (trial.values, cleaned.map(|cleaned| cleaned.values))
            };
            let (values, cleaned) = of(&labels);
            assert_eq!(cleaned.is_some(), groups > 2, "{groups}");
            let turned = group_of.iter().zip(&labels);
            let turned: Vec<usize> =
                turned.map(|(group, label)| if *group == 1 { 1 - label } else { *label }).collect();
            let (other, other_cleaned) = of(&turned);
            for (place, row) in order.iter().enumerate().filter(|(_, row)| group_of[**row] == 1) {
                assert_eq!(values[place], other[place], "{groups}: {row}");
                if let (Some(one), Some(other)) = (&cleaned, &other_cleaned) {
                    assert_eq!(one[place], other[place], "{groups}: {row}");
                }
            }
            assert_ne!(values, other);
        }
        let one = Folds::new(&plan, (&points, &labels, 2), None, Some(&[5; 601]), &order, 1.0);
        let refused = one.err().unwrap().to_string();
        assert!(refused.starts_with("number of groups = 1 is out of range"), "{refused}");
    }

    /// The values of C are about 0.05 · 2.7^k. They are tried in ascending order up to 1, and then until a value does
    /// not improve on the best one so far by more than a tenth of a standard error. The largest of the values with the
    /// smallest error is chosen.
    #[test]
    fn values_of_c_are_tried_in_ascending_order() {
        assert!(GRID.is_sorted_by(|a, b| 2.0 * a < *b && *b < 3.1 * a));
        let plan = Plan::new(Method::Auto);
        let (points, labels, truth) = mislabelled(500, 2);
        let turned: Vec<usize> =
            (0..500).map(|row| truth[row] ^ usize::from(row % 10 < 3)).collect();
        let few = points.select(&(0..60).collect::<Vec<usize>>()).unwrap().into_owned();
        for (sample, count, chosen) in [
            (sample(400, 3), 3, 0.4),
            ((points.clone(), labels), 2, 1.0),
            ((points, turned), 2, 0.15),
            ((few, truth[..60].to_vec()), 2, 20.0),
        ] {
            let rows = sample.1.len();
            let (best, errors) = folds(&plan, &sample, count, None).choose_c().unwrap();
            let least = |place: usize| errors[..place].iter().map(|e| e.0).fold(1.0, f64::min);
            for (place, (error, c)) in errors.iter().enumerate() {
                assert_eq!(*c, GRID[place]);
                let goes_on = place < 3 || is_better(*error, least(place), rows);
                assert_eq!(goes_on, place + 1 < errors.len().min(GRID.len()), "{errors:?}");
            }
            let last = errors.iter().rposition(|(error, _)| *error == least(errors.len()));
            assert_eq!((best.error, best.c), errors[last.unwrap()]);
            assert_eq!(best.c, chosen, "{errors:?}");
        }
        // The standard error of an error of 0.1 on 400 rows is 0.015.
        assert!(is_better(0.0984, 0.1, 400) && !is_better(0.0986, 0.1, 400));
        assert!(!is_better(0.0, 0.0, 400));
    }

    /// With few rows of unequal classes, C is not so small that one class is always predicted.
    #[test]
    fn c_is_rarely_small_if_there_are_few_rows() {
        let plan = Plan::new(Method::Auto);
        let (points, _, truth) = mislabelled(600, 2);
        let mut wrong = 0;
        for draw in 0..20 {
            let rows = (0..600).filter(|row| row % 2 == 0 || row % 3 == 0);
            let rows: Vec<usize> = rows.skip(draw * 16).take(16).collect();
            let classes: Vec<usize> = rows.iter().map(|row| truth[*row]).collect();
            let few = points.select(&rows).unwrap().into_owned();
            let (best, _) = folds(&plan, &(few, classes), 2, None).choose_c().unwrap();
            wrong += usize::from(best.c < ALWAYS_TRIED);
        }
        assert!(wrong <= 5, "{wrong}");
    }

    /// After the choice of C, the only steps left are those of the final fits, one for each row and problem.
    #[test]
    fn values_of_c_that_are_not_tried_count_as_finished_steps() {
        let (plan, monitor) = (Plan::new(Method::Auto), Monitor::default());
        for (count, problems) in [(2, 1), (3, 3)] {
            monitor.run(|| {
                let folds = folds(&plan, &sample(400, count), count, None);
                let planned = (7 * 4 + 1) * 400 * problems;
                assert_eq!(monitor.progress(), Some((0, planned)));
                let (_, errors) = folds.choose_c().unwrap();
                assert!(errors.len() < GRID.len());
                assert_eq!(monitor.progress(), Some((planned - 400 * problems, planned)));
            });
        }
    }

    /// The fits stop early but near the optimum: the values differ from those of an accurate fit without the fold by at
    /// most a tenth of their mean magnitude.
    #[test]
    fn compared_values_are_near_the_optimum() {
        let (plan, given) = (Plan::new(Method::Auto), sample(300, 2));
        let (best, _) = folds(&plan, &given, 2, None).choose_c().unwrap();
        let mut apart = 0.0f64;
        for fold in 0..FOLDS {
            let weights: Vec<f64> =
                (0..300).map(|at| if at % FOLDS == fold { 0.0 } else { 1.0 }).collect();
            let learner = svm(&plan, best.c).tolerance(1e-8).check().unwrap();
            let labels = labels_of(&given.1, 1);
            let fit = learner.fit_with(&given.0, &labels, Some(&weights), None).unwrap();
            for at in (fold..300).step_by(FOLDS) {
                let value = fit.halfspace().decision_value(given.0.row(at).unwrap()).unwrap();
                apart = apart.max((value - best.values[at][0]).abs());
            }
        }
        let mean = best.values.iter().map(|values| values[0].abs()).sum::<f64>() / 300.0;
        assert!(apart < 0.1 * mean, "C {}: {apart} {mean}", best.c);
    }

    /// The values of each of several classes are divided by their mean absolute value on the training rows.
    #[test]
    fn classes_are_compared_on_one_scale() {
        let values = |k: f64| (0..8).map(|i| k * (1.0 + f64::from(i))).collect::<Vec<f64>>();
        let weights = [1.0, 0.0, 2.0, 1.0, 1.0, 0.0, 0.5, 1.0];
        // This is the mean of 1, 3, 4, 5, 7 and 8, the values of the rows with positive weight.
        let mean = 28.0 / 6.0;
        let rows = by_row(&[values(1.0), values(8.0), values(-2.0)], &weights);
        for (row, values) in rows.iter().enumerate() {
            let expected = (1.0 + row as f64) / mean;
            for (value, sign) in values.iter().zip([1.0, 1.0, -1.0]) {
                assert!((value - sign * expected).abs() < 1e-12);
            }
        }
        assert_eq!(by_row(&[values(3.0)], &weights)[1], [6.0]);
    }

    /// The error is the weight of the misclassified rows as a share of the total weight. Each row is classified by the
    /// part that was fitted without its fold. If the values of several classes are equal, the first class is predicted.
    #[test]
    fn rows_are_judged_by_the_part_without_them() {
        let plan = Plan::new(Method::Auto);
        let weights: Vec<f64> = (0..8).map(|row| 1.0 + f64::from(row)).collect();
        let of = folds(&plan, &sample(8, 3), 3, Some(&weights));
        let part = |fold: usize| Part {
            values: (0..8).map(|row| vec![(fold * 10 + row) as f64; 3]).collect(),
            ..of.without(&[fold])
        };
        let parts: Vec<Part> = (0..FOLDS).map(part).collect();
        assert_eq!(parts[1].weights, [1.0, 0.0, 3.0, 4.0, 5.0, 0.0, 7.0, 8.0]);
        let trial = of.judge(1.0, &parts);
        for (row, values) in trial.values.iter().enumerate() {
            assert_eq!(*values, vec![(row % FOLDS * 10 + row) as f64; 3]);
        }
        let wrong = of.classes.iter().zip(&weights).filter(|(class, _)| **class != 0);
        let wrong: f64 = wrong.map(|(_, weight)| weight).sum();
        assert!((trial.error - wrong / 36.0).abs() < 1e-12);
    }
}
