//! The default learner for sparse points: the linear support vector machine with the squared hinge loss. Its parameter
//! C is chosen by cross-validation against the given labels, so noisy labels lead to a small C.

use super::binary::{BinaryLearner, BinaryModel};
use super::folds::{Folds, scaled, svm, targets};
use super::linear::{Fitted, labels_of};
use crate::class_noise::Mistaken;
use crate::plan::{Findings, LeftOut, Method, Plan};
use crate::streams;
use halfspaces_frame::DataError;
use halfspaces_linalg::rand::seq::SliceRandom;
use halfspaces_linalg::{Classifier, CsrPoints, InputError, Params, PointSet, rng_for};
use halfspaces_pac::{Calibration, LogOdds, OneVsRestModel};

/// The maximum number of rows used for cross-validation.
const MAX_ROWS: usize = 6000;
/// The maximum number of coordinates that [`Method::Massart`] supports.
const MAX_MASSART: usize = 1000;
/// The relative accuracy with which the optimum is approximated on sparse points. A closer approximation does not
/// reduce the error.
const SPARSE_TOLERANCE: f64 = 3e-3;

/// A model fitted to all rows, with the calibration and the findings of the cross-validation.
pub(super) struct Chosen {
    pub(super) fitted: Fitted,
    pub(super) calibration: Calibration,
    pub(super) findings: Findings,
}

/// Chooses C by cross-validation and fits the final model to all rows. If a class is often labelled as another, models
/// that are fitted without the rows whose label is likely wrong are also cross-validated. If their error is smaller,
/// these rows are left out of the final fit. If there are only two groups, leaving out rows is not tried.
pub(super) fn choose(
    plan: &Plan,
    points: &CsrPoints<'_>,
    classes: &[usize],
    weights: Option<&[f64]>,
    groups: Option<&[usize]>,
) -> Result<Chosen, DataError> {
    let count = classes.iter().max().map_or(0, |last| last + 1);
    let unit = mean_square(points);
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.shuffle(&mut rng_for(streams::SPARSE_ROWS, plan.seed));
    if let Some(weights) = weights {
        InputError::check_len(classes.len(), weights.len())?;
        order.retain(|row| weights[*row] != 0.0);
    }
    let sample = (points, classes, count);
    let folds = |rows: usize| Folds::new(plan, sample, weights, groups, &order[..rows], unit);
    let compared_on = order.len().min(MAX_ROWS);
    let compared = folds(compared_on)?;
    let (mut best, errors) = compared.choose_c()?;
    // Of equally good values of C, the largest is chosen, so it comes first.
    let mut tried: Vec<_> = errors.iter().rev().map(|(error, c)| (*error, name(*c))).collect();
    let mut mistaken: Option<Mistaken> = None;
    if let Some(without) = compared.without_mistaken(&best)? {
        tried.push((without.error, name(without.c) + ", without labels that are likely wrong"));
        if without.error < best.error {
            mistaken = if compared_on < order.len() {
                let all = folds(order.len())?;
                all.mistaken(&all.with_c(best.c)?)?
            } else {
                compared.mistaken(&best)?
            };
            best = without;
        }
    }
    tried.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut weights = weights.map(<[f64]>::to_vec);
    if let Some(mistaken) = &mistaken {
        let weights = weights.get_or_insert_with(|| vec![1.0; classes.len()]);
        mistaken.rows.iter().for_each(|place| weights[order[*place]] = 0.0);
    }
    let learner = svm(plan, scaled(best.c, unit)).tolerance(SPARSE_TOLERANCE).check()?;
    let fit = |class| {
        let labels = labels_of(classes, class);
        let fit = learner.fit_with(points, &labels, weights.as_deref(), None);
        compared.steps.advance(points.len() as u64);
        fit
    };
    let fits = plan.threads.map_with(targets(count), || (), |(), class| fit(class));
    let models = fits.into_iter().map(|fit| Ok(BinaryModel::of_svm(&fit?)));
    let models = models.collect::<Result<Vec<_>, InputError>>()?;
    let left_out =
        mistaken.map(|of| LeftOut { label: of.label, class: of.class, rows: of.rows.len() });
    let findings = Findings {
        ended: models.iter().find_map(|model| model.findings().ended),
        compared: tried,
        chosen: 1,
        compared_on,
        learned_from: (order.len() - left_out.map_or(0, |of| of.rows)) as u64,
        left_out,
        cross_validated: Some(best.error),
        ..Findings::default()
    };
    let calibration = compared.calibration(&best)?;
    Ok(Chosen { fitted: joined(models, points, weights.as_deref())?, calibration, findings })
}

/// Combines binary models. There is one model for two classes, and one model per class otherwise. If there are several
/// classes, the values of each class are divided by their mean absolute value on the rows of positive weight, as in the
/// cross-validation. The thresholds for leaving out rows were chosen for such values.
fn joined(
    mut models: Vec<BinaryModel>,
    points: &CsrPoints<'_>,
    weights: Option<&[f64]>,
) -> Result<Fitted, InputError> {
    if models.len() == 1 {
        return Ok(Fitted::Two(models.remove(0)));
    }
    let part = |model: BinaryModel| {
        let is_fitted = |row: &usize| weights.is_none_or(|weights| weights[*row] > 0.0);
        let fitted = points.rows().enumerate().filter(|(row, _)| is_fitted(row));
        let (mut sum, mut rows) = (0.0, 0.0);
        for (_, x) in fitted {
            sum += model.decision_value(x)?.abs();
            rows += 1.0;
        }
        let slope = if sum > 0.0 { rows / sum } else { 1.0 };
        Ok((model, LogOdds::new(slope, 0.0)?))
    };
    let parts = models.into_iter().map(part).collect::<Result<_, InputError>>()?;
    Ok(Fitted::Several(OneVsRestModel::of_parts(parts)?))
}

fn name(c: f64) -> String {
    format!("svm with squared hinge loss and C {c}, sparse columns as they are")
}

/// The mean squared norm of the points, or 1 if this mean is 0 or overflows. To compensate for multiplying all points
/// by s, divide C by s².
fn mean_square(points: &CsrPoints<'_>) -> f64 {
    let squares: f64 = points.norms().iter().map(|norm| norm * norm).sum();
    let mean = squares / points.len() as f64;
    if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
}

impl BinaryLearner {
    /// Creates a learner for sparse points, which are not standardised. The parameter C of the plan refers to points of
    /// mean squared norm 1.
    ///
    /// # Errors
    /// Returns an error if there are too many coordinates for the radially isotropic position of [`Method::Massart`].
    pub(super) fn for_sparse(
        plan: &Plan,
        points: &CsrPoints<'_>,
    ) -> Result<BinaryLearner, DataError> {
        check_massart(plan.method, points.dim())?;
        let c = scaled(plan.c.unwrap_or(1.0), mean_square(points));
        BinaryLearner::with_tolerance(&Plan { c: Some(c), ..*plan }, SPARSE_TOLERANCE)
    }
}

/// Checks that [`Method::Massart`] can learn from this many coordinates.
///
/// # Errors
/// Returns an error if there are too many coordinates.
pub(super) fn check_massart(method: Method, dim: usize) -> Result<(), DataError> {
    if method != Method::Massart || dim <= MAX_MASSART {
        return Ok(());
    }
    Err(DataError::user(format!(
        "--learner massart: it computes with matrices of {dim} x {dim} numbers, and {MAX_MASSART} x {MAX_MASSART} is the \
         limit; use --learner perspectron, which needs no matrix (but its guarantee requires a margin), or --learner auto"
    )))
}

#[cfg(test)]
mod tests {
    use super::super::folds::tests::{mislabelled, sample};
    use super::*;
    use halfspaces_linalg::SparsePoints;

    /// C refers to points of mean squared norm 1, and at most 6000 rows are used to compare values of C.
    #[test]
    fn the_scale_of_points_does_not_matter() {
        let (points, classes) = sample(6050, 2);
        let mut large = SparsePoints::empty(32).unwrap();
        for x in points.rows() {
            let values: Vec<f64> = x.values().iter().map(|v| v * 1024.0).collect();
            large.push(x.columns(), &values).unwrap();
        }
        let plan = Plan::new(Method::Auto);
        let fit = |points: &SparsePoints| choose(&plan, points, &classes, None, None).unwrap();
        let (one, other) = (fit(&points), fit(&large));
        assert_eq!(one.findings, other.findings);
        assert_eq!((one.findings.compared_on, one.findings.learned_from), (6000, 6050));
        // The intercept is penalised and does not scale with the points, so a few predictions may differ.
        let values = |chosen: &Chosen, points: &SparsePoints| {
            chosen.fitted.values(points, plan.threads).unwrap()
        };
        let pairs = values(&one, &points).into_iter().zip(values(&other, &large));
        let differ = pairs.filter(|(a, b)| (a[0] > 0.0) != (b[0] > 0.0)).count();
        assert!(differ < 60, "{differ}");
    }

    /// The values of several classes are scaled as if rows of weight 0 did not exist.
    #[test]
    fn rows_of_weight_0_do_not_scale_values() {
        let (points, classes) = sample(300, 3);
        let plan = Plan::new(Method::Auto);
        let fit = |class| {
            let learner = svm(&plan, 1.0).check().unwrap();
            let labels = labels_of(&classes, class);
            BinaryModel::of_svm(&learner.fit_with(&points, &labels, None, None).unwrap())
        };
        let models: Vec<BinaryModel> = (0..3).map(fit).collect();
        let weights: Vec<f64> = classes.iter().map(|class| [0.0, 2.0, 0.5][*class]).collect();
        let rows: Vec<usize> = (0..300).filter(|row| classes[*row] > 0).collect();
        let part = points.select(&rows).unwrap();
        let weighted = joined(models.clone(), &points, Some(&weights)).unwrap();
        assert_eq!(weighted, joined(models.clone(), &part, None).unwrap());
        assert_ne!(weighted, joined(models, &points, None).unwrap());
    }

    /// 40 % of the rows of a class are labelled as another class, and there are more rows than are used for
    /// cross-validation. Most of the mislabelled rows, and only a few other rows, are left out. The model then predicts
    /// the true classes.
    #[test]
    fn rows_of_a_class_that_is_often_labelled_as_another_are_left_out() {
        for count in [2, 3] {
            let (points, labels, truth) = mislabelled(6600, count);
            let turned = labels.iter().zip(&truth).filter(|(label, class)| label != class).count();
            let plan = Plan::new(Method::Auto);
            let chosen = choose(&plan, &points, &labels, None, None).unwrap();
            let left_out = chosen.findings.left_out.unwrap();
            assert_eq!((left_out.label, left_out.class), (0, 1), "{count}");
            assert!(
                2 * left_out.rows > turned && 10 * left_out.rows < 11 * turned,
                "{left_out:?} {turned}"
            );
            assert_eq!(chosen.findings.learned_from, (6600 - left_out.rows) as u64);
            assert_eq!(chosen.findings.cross_validated, Some(chosen.findings.compared[0].0));
            assert!(chosen.findings.compared[0].1.ends_with("likely wrong"));
            let values = chosen.fitted.values(&points, plan.threads).unwrap();
            let class = |values: &Vec<f64>| halfspaces_linalg::deciding_class(values);
            let wrong = values.iter().zip(&truth).filter(|(v, truth)| class(v) != **truth).count();
            let clean = choose(&plan, &points, &truth, None, None).unwrap();
            assert!(clean.findings.left_out.is_none());
            let values = clean.fitted.values(&points, plan.threads).unwrap();
            let least = values.iter().zip(&truth).filter(|(v, truth)| class(v) != **truth).count();
            assert!(wrong < least + 200, "{count}: {wrong} {least}");
        }
    }

    /// If the models predict every class correctly with and without the suspicious rows, no rows are left out.
    #[test]
    fn rows_stay_if_the_error_is_the_same() {
        let (points, mut labels) = sample(900, 3);
        for (row, (label, x)) in labels.iter_mut().zip(points.rows()).enumerate() {
            let class = x.columns()[0] as usize;
            *label = if class == 1 && row % 5 < 2 { 0 } else { class };
        }
        let chosen = choose(&Plan::new(Method::Auto), &points, &labels, None, None).unwrap();
        let [first, second] = &chosen.findings.compared[..2] else { unreachable!() };
        assert!(chosen.findings.compared.iter().any(|(_, name)| name.ends_with("likely wrong")));
        assert_eq!((first.0, chosen.findings.left_out), (second.0, None));
    }

    /// The first of the compared values is the one that is used, even if others have the same error.
    #[test]
    fn the_chosen_c_comes_first() {
        let (points, classes) = sample(400, 3);
        let chosen = choose(&Plan::new(Method::Auto), &points, &classes, None, None).unwrap();
        let [first, second, ..] = &chosen.findings.compared[..] else { unreachable!() };
        assert_eq!(first.0, second.0);
        assert_eq!((&*first.1, &*second.1), (&*name(0.15), &*name(0.05)));
    }

    #[test]
    fn massart_has_a_limit() {
        assert!(check_massart(Method::Massart, 1000).is_ok());
        assert!(check_massart(Method::Massart, 1001).is_err());
        assert!(check_massart(Method::Perspectron, 100_000).is_ok());
    }
}
